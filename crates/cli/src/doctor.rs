//! `kurabe doctor`: what this machine allows, what kurabe itself costs, and the computer as models take it.

use crate::args::{DoctorArgs, Global};
use crate::output::{print_json, print_page, style};
use crate::run::measured_as;
use kurabe_core::Result;
use kurabe_lab::{MachineFacts, computer_file, wake_time_ns};
use kurabe_report::render_doctor;

/// Runs the command.
///
/// # Errors
/// When standard output takes nothing more; as `kurabe run`, if the computer is measured.
pub fn doctor(args: &DoctorArgs, global: &Global, command_line: &[String]) -> Result<()> {
    if args.computer {
        let Some(done) = measured_as(&args.path, "quick", global, command_line)? else { return Ok(()) };
        done.outcome?;
        let of_computer = |record| computer_file(&record, wake_time_ns()?);
        let file = done.record.map_or(Ok(String::new()), of_computer)?;
        return print_page(&file);
    }
    // The trial on the path is noted there; without a store, nothing is made for it.
    let store = global.store().existing()?;
    let leftovers = store.as_deref().map_or(Ok(Vec::new()), kurabe_lab::recover)?;
    let findings = kurabe_report::doctor(&MachineFacts::gather(&args.path, store.as_deref())?, &leftovers);
    if global.json { print_json(&findings) } else { print_page(&render_doctor(&findings, &style())) }
}
