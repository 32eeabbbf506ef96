//! `kurabe fio`: runs a fio command line, with everything else that a run records.

use crate::args::{FioArgs, FioRun, Global};
use crate::compare::{compare_runs, load};
use crate::lang::lang;
use crate::output::{outputs, style, write_out};
use crate::run::{measured, print_done, say_how_it_differs, verified};
use kurabe_core::{Result, record::RunRecord};
use kurabe_fio::{FioLine, FioResults, fio_log};
use kurabe_interop::{ExportFormat, export};
use kurabe_lab::output::Output;
use kurabe_report::{Style, headline, render_run};

/// Runs the command.
///
/// # Errors
/// When fio's arguments are invalid or not supported, and as `kurabe run` and `kurabe compare`.
pub fn fio(args: &FioArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let (requests, line) = args.requests()?;
    let is_dry = args.planned.dry_run || line.parse_only;
    requests.first().into_iter().for_each(|run| say_how_it_differs(&run.request, global));
    let mut outputs = outputs(args.force, global);
    let output = outputs.claim_optional(line.output.as_ref())?;
    let claimed = |run: FioRun| {
        let logs = run.logs.into_iter().map(|log| Ok((outputs.claim(&log.file)?, log)));
        Ok((run.request, logs.collect::<Result<Vec<_>>>()?))
    };
    let requests = requests.into_iter().map(claimed).collect::<Result<Vec<_>>>()?;
    // Resolved before measuring, so that `last` means the run before this one.
    let against = args.against.as_ref().map(|name| load(std::slice::from_ref(name), global)).transpose()?;
    let against = against.iter().flatten().next().map(|run| run.header.id.clone());
    let (mut records, mut outcome) = (Vec::new(), Ok(()));
    for (request, logs) in requests {
        let Some(done) = measured(request, None, is_dry, global, command_line)? else { continue };
        let verified = verified(&done, global);
        if !is_written(&line) {
            print_done(&done, global)?;
        }
        if let Some(record) = &done.record {
            let mut logs = logs.into_iter();
            logs.try_for_each(|(output, log)| write_out(&fio_log(&log, &record.cells), Some(output)))?;
        }
        records.extend(done.record);
        outcome = done.outcome.and(verified);
        if outcome.is_err() {
            break;
        }
    }
    print(&records, &line, output)?;
    outcome?;
    match (against, records.last()) {
        (Some(against), Some(record)) => {
            compare_runs(&[against, record.header.id.clone()], &args.judged, &args.fail_on, global)
        }
        _ => Ok(()),
    }
}

/// Returns whether the fio command line names an output file or an output format.
fn is_written(line: &FioLine) -> bool {
    line.results_as.is_some() || line.output.is_some()
}

/// Writes the results to the file and in the format that the fio command line names.
fn print(records: &[RunRecord], line: &FioLine, output: Option<Output>) -> Result<()> {
    if !is_written(line) || records.is_empty() {
        return Ok(());
    }
    let style = Style { color: false, ..style() };
    let words = match line.results_as {
        Some(FioResults::Json) => export(records, ExportFormat::FioJson, lang())?,
        Some(FioResults::Terse) => export(records, ExportFormat::FioTerse, lang())?,
        None => records.iter().map(|record| render_run(record, &headline(&record.header), &style)).collect(),
    };
    write_out(&words, output)
}
