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
    let findings = kurabe_report::doctor(&MachineFacts::gather(&args.path)?);
    if global.json { print_json(&findings) } else { print_page(&render_doctor(&findings, &style())) }
}
