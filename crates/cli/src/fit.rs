//! `kurabe fit`: measures the workloads of a use and compares the results with its limits.

use crate::args::{FitArgs, Global};
use crate::output::{print_json, print_page, style};
use crate::run::measured;
use crate::show::ScriptLine;
use kurabe_compare::{Fit, FitVerdict, Use};
use kurabe_core::Result;
use kurabe_report::{accept_fit, fit_answer, fit_doc};

/// Runs the command.
///
/// # Errors
/// As `kurabe run`; when the target does not suit the use, or the result is unclear.
pub fn fit(args: &FitArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let purpose = Use::load(&args.purpose)?;
    let request = args.request(&purpose)?;
    let Some(done) = measured(request, None, args.planned.dry_run, global, command_line)? else {
        return Ok(());
    };
    let Some(record) = &done.record else { return done.outcome };
    let mut fit = Fit::of_run(record, &purpose, args.count());
    if fit.verdict == FitVerdict::Fit {
        fit.largest_count = args.largest_count(&purpose)?;
    }
    if global.json {
        print_json(&ScriptLine::Fit { run: &done.id, answer: fit_answer(&fit, record), fit: &fit })?;
    } else {
        print_page(&fit_doc(&fit, record).terminal(&style()))?;
    }
    done.outcome.and_then(|()| accept_fit(&fit))
}
