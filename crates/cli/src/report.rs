//! `kurabe report`: runs as a page, a text, a table or a picture that can be published.

use crate::args::{Global, ReportArgs};
use crate::compare::load;
use crate::lang::{lang, t};
use crate::output::{self, print, print_json, say};
use kurabe_chart::Theme;
use kurabe_compare::check_about;
use kurabe_core::{Error, ErrorKind, Result, number, record::RunRecord, shown, text, words::Keyword};
use kurabe_lab::files::{Existing, refuse_existing, write};
use kurabe_report::{MadeReport, Report, ReportFormat, ScriptLine};
use kurabe_store::without_paths;
use std::io::Write;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// When there is no such run or format, the file exists, or it cannot be written.
pub fn report(args: &ReportArgs, global: &Global) -> Result<()> {
    check_about(&args.judged.about)?;
    let format = format(args, global)?;
    let existing = Existing::unless(args.force);
    format.check_chart(args.chart.as_deref())?;
    if let Some(path) = file(args) {
        refuse_existing(path, existing)?;
    }
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
    match (file(args), &made) {
        (None, MadeReport::Words(words, _)) => output::write(words),
        (None, MadeReport::Picture(bytes)) => print_bytes(bytes),
        (Some(path), made) => {
            write(path, made.bytes(), existing)?;
            tell_written(path, format, made.bytes().len(), &runs, global)
        }
    }
}

fn file(args: &ReportArgs) -> Option<&Path> {
    args.output.as_deref().filter(|path| *path != Path::new("-"))
}

/// The format that was asked for, or that the file's ending tells; without either Markdown, for scripts JSON.
fn format(args: &ReportArgs, global: &Global) -> Result<ReportFormat> {
    match (args.format, file(args)) {
        (Some(format), _) => Ok(format),
        (None, Some(path)) => ReportFormat::of_file(path),
        (None, None) if global.json => Ok(ReportFormat::Json),
        (None, None) => Ok(ReportFormat::Markdown),
    }
}

/// The runs, the baseline first.
fn in_order(args: &ReportArgs, global: &Global) -> Result<Vec<RunRecord>> {
    let Some(baseline) = &args.baseline else { return load(&args.runs, global) };
    let first = load([baseline], global)?.remove(0);
    let mut runs = load(&args.runs, global)?;
    match runs.iter().position(|run| run.header.id == first.header.id) {
        Some(place) => {
            let baseline = runs.remove(place);
            runs.insert(0, baseline);
        }
        // Naming it once is enough.
        None => runs.insert(0, first),
    }
    Ok(runs)
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    use std::io::IsTerminal;
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return Err(ErrorKind::Usage
            .error(text!("a picture does not go to a terminal", "画像は端末に出せません"))
            .remedy(text!("name a file: -o report.png", "ファイルを指定してください: -o report.png")));
    }
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| Error::os(text!("cannot write to standard output", "標準出力に書けません"), &error))
}

/// Says what was written.
fn tell_written(
    path: &Path,
    format: ReportFormat,
    bytes: usize,
    runs: &[RunRecord],
    global: &Global,
) -> Result<()> {
    let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
    if global.json {
        return print_json(&ScriptLine::Report {
            file: shown::name(path),
            format: format.word(),
            bytes,
            runs: ids,
        });
    }
    if global.quiet {
        return Ok(());
    }
    let size = number::count((bytes as u64).div_ceil(1000));
    print(&format!("{} {} ({size} kB)\n", t("written:", "書き出しました:"), shown::path(path)))
}
