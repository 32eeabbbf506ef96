//! `kurabe doctor`: what this machine allows, the overhead of kurabe itself, and a device file of
//! the computer for models.

use crate::args::{DoctorArgs, Global};
use crate::output::{print_json, print_page, style};
use crate::run::measured_as;
use crate::show::render_doctor;
use kurabe_core::Result;
use kurabe_lab::{MachineFacts, computer_file, wake_time_ns};

/// Runs the command.
///
/// # Errors
/// When standard output cannot be written; with `--computer`, as `kurabe run`.
pub fn doctor(args: &DoctorArgs, global: &Global, command_line: &[String]) -> Result<()> {
    if args.computer {
        let Some(done) = measured_as(&args.path, "quick", global, command_line)? else { return Ok(()) };
        done.outcome?;
        let of_computer = |record| computer_file(&record, wake_time_ns()?);
        let file = done.record.map_or(Ok(String::new()), of_computer)?;
        return print_page(&file);
    }
    // The trial on the path is recorded in the store. Without a store, none is created for it.
    let store = global.store().existing()?;
    let leftovers = store.as_deref().map_or(Ok(Vec::new()), kurabe_lab::recover)?;
    let findings = crate::show::doctor(&MachineFacts::gather(&args.path, store.as_deref())?, &leftovers);
    if global.json { print_json(&findings) } else { print_page(&render_doctor(&findings, &style())) }
}
