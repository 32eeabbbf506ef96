//! `kurabe report`: runs as a page, a text, a table or a picture to publish.

use crate::args::{Global, ReportArgs};
use crate::compare::load;
use crate::lang::{lang, t};
use crate::output::{self, outputs, print, print_json, say, write_bytes};
use crate::show::ScriptLine;
use kurabe_chart::Theme;
use kurabe_compare::check_about;
use kurabe_core::output_path::OutputPath;
use kurabe_core::{Result, number, record::RunRecord, words::Keyword};
use kurabe_report::{MadeReport, Report, ReportFormat};
use kurabe_store::without_paths;

/// Runs the command.
///
/// # Errors
/// When a run or the format does not exist, the file already exists, or it cannot be written.
pub fn report(args: &ReportArgs, global: &Global) -> Result<()> {
    check_about(&args.judged.about)?;
    let format = format(args, global)?;
    format.check_chart(args.chart.as_deref())?;
    let output = outputs(args.force, global).claim_optional(args.output.as_ref())?;
    let mut runs = in_order(args, global)?;
    if args.without_paths {
        runs = runs.iter().map(without_paths).collect::<Result<_>>()?;
    }
    let title = args.title.as_deref();
    let report = Report::new(runs.iter().collect(), args.judged.margin, &args.judged.about, title, lang());
    let theme = Theme::of_word(&args.theme).unwrap_or_default();
    let made = report.made(format, theme, args.chart.as_deref())?;
    if let MadeReport::Words(_, left_out) = &made {
        for left_out in left_out.iter().filter(|_| !global.quiet) {
            say(&format!("kurabe: {}", left_out.get(lang())));
        }
    }
    match (output.filter(|output| !output.is_stdout()), &args.output, &made) {
        (Some(output), Some(path), made) => {
            output.write(made.bytes())?;
            tell_written(path, format, made.bytes().len(), &runs, global)
        }
        (_, _, MadeReport::Words(words, _)) => output::write(words),
        (_, _, MadeReport::Picture(bytes)) => write_bytes(bytes),
    }
}

/// Returns the requested format, else that of the file's extension. Without either, it is Markdown,
/// or JSON with `--json`.
fn format(args: &ReportArgs, global: &Global) -> Result<ReportFormat> {
    match (args.format, args.output.as_ref().and_then(OutputPath::file)) {
        (Some(format), _) => Ok(format),
        (None, Some(path)) => ReportFormat::of_file(path),
        (None, None) if global.json => Ok(ReportFormat::Json),
        (None, None) => Ok(ReportFormat::Markdown),
    }
}

/// Loads the runs, the baseline first.
fn in_order(args: &ReportArgs, global: &Global) -> Result<Vec<RunRecord>> {
    let Some(baseline) = &args.baseline else { return load(&args.runs, global) };
    let first = load([baseline], global)?.remove(0);
    let mut runs = load(&args.runs, global)?;
    match runs.iter().position(|run| run.header.id == first.header.id) {
        Some(place) => {
            let baseline = runs.remove(place);
            runs.insert(0, baseline);
        }
        // The baseline need not be named again in the list of runs.
        None => runs.insert(0, first),
    }
    Ok(runs)
}

/// Reports the file that was written.
pub(crate) fn tell_written(
    path: &OutputPath,
    format: ReportFormat,
    bytes: usize,
    runs: &[RunRecord],
    global: &Global,
) -> Result<()> {
    let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
    if global.json {
        return print_json(&ScriptLine::Report {
            file: path.name(),
            format: format.word(),
            bytes,
            runs: ids,
        });
    }
    if global.quiet {
        return Ok(());
    }
    let size = number::count((bytes as u64).div_ceil(1000));
    print(&format!("{} {path} ({size} kB)\n", t("written:", "書き出しました:")))
}
