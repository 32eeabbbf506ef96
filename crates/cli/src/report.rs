//! `kurabe report`: runs as a page, a text, a table or a picture that can be published.

use crate::args::{FORMATS, Global, ReportArgs};
use crate::compare::load;
use crate::files::{Existing, refuse_existing, write};
use crate::lang::{lang, t};
use crate::output::{self, print, print_json, say};
use kurabe_compare::check_about;
use kurabe_core::record::RunRecord;
use kurabe_core::shown::Shown;
use kurabe_core::{Error, ErrorKind, Result, nearest, number, shown, text};
use kurabe_report::{PageTheme, Report, png};
use kurabe_store::without_paths;
use kurabe_study::catalogue::Catalogue;
use std::io::Write;
use std::path::Path;

/// Pixels of a picture for one of the drawing.
const PNG_SCALE: f32 = 2.0;

/// Runs the command.
///
/// # Errors
/// When there is no such run or format, the file exists, or it cannot be written.
pub fn report(args: &ReportArgs, global: &Global) -> Result<()> {
    check_about(&args.about)?;
    let format = format(args, global)?;
    let existing = Existing::unless(args.force);
    check_chart(args, format)?;
    if let Some(path) = file(args) {
        refuse_existing(path, existing)?;
    }
    let mut runs = in_order(args, global)?;
    if args.without_paths {
        runs = runs.iter().map(without_paths).collect::<Result<_>>()?;
    }
    let title = args.title.as_deref();
    let report = Report::new(runs.iter().collect(), args.margin, &args.about, title, lang());
    let report = report.beside(&Catalogue::load()?);
    let made = match format {
        "html" => {
            let page = report.html(theme(args), |page_bytes| report.records(page_bytes));
            for left_out in page.left_out.iter().filter(|_| !global.quiet) {
                say(&format!("kurabe: {}", left_out.get(lang())));
            }
            Made::Words(page.html)
        }
        "md" => Made::Words(report.markdown()),
        "csv" => Made::Words(report.csv()),
        "json" => Made::Words(report.json()?),
        format => picture(&report, format, args)?,
    };
    let Some(path) = file(args) else {
        return match made {
            Made::Words(words) => output::write(&Shown::file(&words)),
            Made::Picture(bytes) => print_bytes(&bytes),
        };
    };
    let bytes = match made {
        Made::Words(words) => Shown::file(&words).as_ref().as_bytes().to_vec(),
        Made::Picture(bytes) => bytes,
    };
    write(path, &bytes, existing)?;
    told(path, format, bytes.len(), &runs, global)
}

/// A report in its format.
enum Made {
    Words(String),
    Picture(Vec<u8>),
}

fn file(args: &ReportArgs) -> Option<&Path> {
    args.output.as_deref().filter(|path| *path != Path::new("-"))
}

fn theme(args: &ReportArgs) -> PageTheme {
    PageTheme::named(&args.theme).unwrap_or_default()
}

/// The format that was asked for, or that the file's ending tells; without either Markdown, for scripts JSON.
fn format(args: &ReportArgs, global: &Global) -> Result<&'static str> {
    let known = |word: &str| FORMATS.into_iter().find(|format| *format == word);
    if let Some(format) = args.format.as_deref().and_then(known) {
        return Ok(format);
    }
    let Some(path) = file(args) else { return Ok(if global.json { "json" } else { "md" }) };
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ending = match ending.as_str() {
        "htm" => "html",
        "markdown" => "md",
        other => other,
    };
    known(ending).ok_or_else(|| {
        let file = shown::path(path);
        let mut remedy = nearest(ending, &FORMATS);
        if ending.is_empty() {
            let all = FORMATS.join(", ");
            remedy = text!(
                "end the name in one of these, or give --format: {all}",
                "拡張子を付けるか --format を指定してください: {all}"
            );
        }
        Error::new(
            ErrorKind::Usage,
            text!("the name {file} does not tell a format", "{file} という名前からは形式が分かりません"),
        )
        .remedy(remedy)
    })
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

/// Refuses a chart for a form that is no picture: it would be ignored in silence.
fn check_chart(args: &ReportArgs, format: &str) -> Result<()> {
    if args.chart.is_none() || ["svg", "png"].contains(&format) {
        return Ok(());
    }
    let what = text!(
        "--chart is for svg and png, not for {format}",
        "--chart は svg と png 用で、{format} には使えません"
    );
    Err(Error::new(ErrorKind::Usage, what)
        .remedy(text!("name a picture: -o chart.svg", "画像のファイル名を指定してください: -o chart.svg")))
}

/// The main chart, or the one that was asked for. A PNG has one set of colours.
fn picture(report: &Report<'_>, format: &str, args: &ReportArgs) -> Result<Made> {
    let theme = match (format, theme(args)) {
        ("png", PageTheme::Auto) => PageTheme::Light,
        (_, theme) => theme,
    };
    let svg = report.picture(args.chart.as_deref(), theme)?;
    if format == "svg" { Ok(Made::Words(svg)) } else { png(&svg, PNG_SCALE).map(Made::Picture) }
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    use std::io::IsTerminal;
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return Err(Error::new(
            ErrorKind::Usage,
            text!("a picture does not go to a terminal", "画像は端末に出せません"),
        )
        .remedy(text!("name a file: -o report.png", "ファイルを指定してください: -o report.png")));
    }
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| Error::os(text!("cannot write to standard output", "標準出力に書けません"), &error))
}

/// Says what was written.
fn told(path: &Path, format: &str, bytes: usize, runs: &[RunRecord], global: &Global) -> Result<()> {
    let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
    if global.json {
        return print_json(&serde_json::json!({
            "event": "report", "file": shown::name(path), "format": format, "bytes": bytes, "runs": ids,
        }));
    }
    if global.quiet {
        return Ok(());
    }
    let size = number::count((bytes as u64).div_ceil(1000));
    print(&format!("{} {} ({size} kB)\n", t("written:", "書き出しました:"), shown::path(path)))
}
