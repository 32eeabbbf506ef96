//! `kurabe doctor`: what this machine allows, and what kurabe itself costs.

use crate::args::{DoctorArgs, Global};
use crate::output::{print_json, print_page, style};
use kurabe_core::Result;
use kurabe_lab::MachineFacts;
use kurabe_report::render_doctor;

/// Runs the command.
///
/// # Errors
/// When standard output takes nothing more.
pub fn doctor(args: &DoctorArgs, global: &Global) -> Result<()> {
    // The trial on the path is noted there; without a store, nothing is made for it.
    let store = global.store().existing()?;
    let leftovers = store.as_deref().map_or(Ok(Vec::new()), kurabe_lab::recover)?;
    let findings = kurabe_report::doctor(&MachineFacts::gather(&args.path, store.as_deref())?, &leftovers);
    if global.json { print_json(&findings) } else { print_page(&render_doctor(&findings, &style())) }
}
