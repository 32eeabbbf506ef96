//! `kurabe fio`: a line of fio's, measured, with all that a run has.

use crate::args::{FioArgs, Global};
use crate::compare::{compare_runs, load};
use crate::lang::lang;
use crate::output::{style, write_out};
use crate::run::{measured, print_done, say_how_it_differs, verified};
use kurabe_core::Result;
use kurabe_interop::export;
use kurabe_lab::files::{Existing, refuse_existing};
use kurabe_lab::{Done, FioLine};
use kurabe_report::{Style, headline, render_run};
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// When fio's words are wrong or cannot be done, and those of a run and of a comparison.
pub fn fio(args: &FioArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let (request, line) = args.request()?;
    let is_dry = args.planned.dry_run || line.parse_only;
    say_how_it_differs(&request, global);
    // Whoever waited an hour is not told then that a name is taken, or that there is none such. `last` is the run before this one.
    if let Some(file) = &line.output {
        refuse_existing(Path::new(file), Existing::Kept)?;
    }
    let against = args.against.as_ref().map(|name| load(std::slice::from_ref(name), global)).transpose()?;
    let against = against.iter().flatten().next().map(|run| run.header.id.clone());
    let Some(done) = measured(request, None, is_dry, global, command_line)? else { return Ok(()) };
    print(&done, &line, global)?;
    let verified = verified(&done, global);
    let compared = match (against.filter(|_| done.outcome.is_ok()), &done.record) {
        (Some(against), Some(record)) => {
            compare_runs(&[against, record.header.id.clone()], &args.judged, &args.fail_on, global)
        }
        _ => Ok(()),
    };
    done.outcome.and(verified).and(compared)
}

/// Prints what was measured, or writes it where and as the line says.
fn print(done: &Done, line: &FioLine, global: &Global) -> Result<()> {
    let Some(record) = done.record.as_ref().filter(|_| line.results_as.is_some() || line.output.is_some())
    else {
        return print_done(done, global);
    };
    let words = match line.results_as {
        Some(format) => export(std::slice::from_ref(record), format, lang())?,
        None => render_run(record, &headline(&record.header), &Style { color: false, ..style() }),
    };
    write_out(&words, line.output.as_deref().map(Path::new))
}
