//! `kurabe report`: runs as a page, a text, a table or a picture that can be published.

use crate::args::{FORMATS, Global, ReportArgs};
use crate::charts::no_chart;
use crate::compare::{check_about, load};
use crate::files::{Existing, refuse_existing, write};
use crate::lang::{lang, t};
use crate::output::{print, print_json, say};
use kurabe_compare::Pair;
use kurabe_core::record::{LatencyRecord, Notice, NoticeKind, RunRecord};
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, number, text};
use kurabe_report::{Embedded, MOST_PAGE_BYTES, PageTheme, ROOM_BEHIND_BYTES, Report, spoken_json};
use kurabe_store::{ExportedRun, REPORT_VERSION, export_bundle, export_packed_bundle};
use serde::Serialize;
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
    let runs = in_order(args, global)?;
    let title = args.title.as_deref();
    let report = Report::new(runs.iter().collect(), args.margin, &args.about, title, lang());
    let (bytes, left_out) = match format {
        "html" => page(&report, &runs, theme(args)),
        "md" => (report.markdown().into_bytes(), Vec::new()),
        "csv" => (report.csv().into_bytes(), Vec::new()),
        "json" => (json(&report, &runs)?.into_bytes(), Vec::new()),
        picture => (self::picture(&report, picture, args, &runs)?, Vec::new()),
    };
    for left_out in left_out.iter().filter(|_| !global.quiet) {
        say(&format!("kurabe: {}", left_out.get(lang())));
    }
    let Some(path) = file(args) else {
        return match String::from_utf8(bytes) {
            Ok(words) => print(&words),
            Err(picture) => print_bytes(&picture.into_bytes()),
        };
    };
    write(path, &bytes, existing)?;
    told(path, format, bytes.len(), &runs, global)
}

fn file(args: &ReportArgs) -> Option<&Path> {
    args.output.as_deref().filter(|path| *path != Path::new("-"))
}

fn theme(args: &ReportArgs) -> PageTheme {
    match args.theme.as_str() {
        "light" => PageTheme::Light,
        "dark" => PageTheme::Dark,
        _ => PageTheme::Auto,
    }
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
        let file = path.display();
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

/// The page with the records in it, as far as they fit, and what was left out.
fn page(report: &Report<'_>, runs: &[RunRecord], theme: PageTheme) -> (Vec<u8>, Vec<Text>) {
    let page = report.html(theme, |page_bytes| {
        records(runs, MOST_PAGE_BYTES.saturating_sub(page_bytes + ROOM_BEHIND_BYTES))
    });
    (page.html.into_bytes(), page.left_out)
}

/// The records as JSON that is no longer than this: as they are; packed; without what is longest; none.
fn records(runs: &[RunRecord], most_bytes: usize) -> Embedded {
    let whole = export_bundle(runs.to_vec());
    if whole.len() <= most_bytes {
        return Embedded { json: whole, left_out: None };
    }
    let packed = export_packed_bundle(runs.to_vec());
    if packed.len() <= most_bytes {
        return Embedded { json: packed, left_out: None };
    }
    let most = number::fixed(MOST_PAGE_BYTES as f64 / 1e6, 0);
    let thinner = [
        (text!("time series", "時系列"), false),
        (text!("time series, stalls and latencies", "時系列、停滞、レイテンシ"), true),
    ];
    for (Text { en, ja }, latencies_too) in thinner {
        let said = Text {
            en: format!(
                "the {en} of the records were left out of this report to keep it below {most} MB; `kurabe export RUN` has them"
            ),
            ja: format!(
                "レポートを {most} MB 以下に収めるため、測定記録の{ja}を省きました。`kurabe export RUN` にはすべて入っています"
            ),
        };
        let thin = runs.iter().map(|run| thinned(run, latencies_too, &said)).collect();
        let json = export_packed_bundle(thin);
        if json.len() <= most_bytes {
            return Embedded { json, left_out: Some(said) };
        }
    }
    let said = text!(
        "the records were left out of this report to keep it below {most} MB; `kurabe export RUN` has them",
        "レポートを {most} MB 以下に収めるため、測定記録を省きました。`kurabe export RUN` で書き出せます"
    );
    Embedded { json: String::new(), left_out: Some(said) }
}

/// A record without what makes it large. It says so, wherever it is taken in again.
fn thinned(run: &RunRecord, latencies_too: bool, said: &Text) -> RunRecord {
    let mut run = run.clone();
    for cell in &mut run.cells {
        for repetition in &mut cell.repetitions {
            repetition.series.intervals.clear();
            if latencies_too {
                repetition.stalls.clear();
                for operations in [&mut repetition.read, &mut repetition.write, &mut repetition.sync] {
                    operations.latency = LatencyRecord::default();
                }
            }
        }
        if let Some(imported) = &mut cell.imported
            && !imported.figures.is_empty()
        {
            imported.series.clear();
        }
    }
    run.notices.push(Notice { kind: NoticeKind::Other, text: said.clone() });
    run
}

/// Answer, comparisons and records, in the form that is read back.
fn json(report: &Report<'_>, runs: &[RunRecord]) -> Result<String> {
    #[derive(Serialize)]
    struct Reported {
        kurabe_report: u32,
        title: String,
        answer: Text,
        comparisons: Vec<serde_json::Value>,
        runs: Vec<ExportedRun>,
    }
    let spoken = |pair: &Pair| spoken_json(pair, "/differences", &pair.differences);
    let reported = Reported {
        kurabe_report: REPORT_VERSION,
        title: report.title().take(lang()),
        answer: report.answer(),
        comparisons: report.pairs().iter().map(spoken).collect::<Result<_>>()?,
        runs: runs.iter().cloned().map(ExportedRun::from).collect(),
    };
    let mut words = serde_json::to_string(&reported).map_err(|error| {
        Error::new(ErrorKind::Internal, text!("cannot write JSON", "JSON を書けません")).because(error)
    })?;
    words.push('\n');
    Ok(words)
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
fn picture(report: &Report<'_>, format: &str, args: &ReportArgs, runs: &[RunRecord]) -> Result<Vec<u8>> {
    let theme = theme(args);
    let theme = if format == "png" && theme == PageTheme::Auto { PageTheme::Light } else { theme };
    let wanted = args.chart.as_deref();
    let svg = report.picture(wanted, theme).ok_or_else(|| {
        let names = report.picture_names();
        if let Some(wanted) = wanted.filter(|_| !names.is_empty()) {
            let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
            return no_chart(wanted, &names, &ids);
        }
        Error::new(
            ErrorKind::Unsupported,
            text!("these runs hold nothing that can be drawn", "これらの測定には図にできる値がありません"),
        )
        .remedy(text!("write it as .html or .md", ".html か .md で書き出してください"))
    })?;
    if format == "svg" {
        return Ok(svg.into_bytes());
    }
    kurabe_chart::png(&svg, PNG_SCALE).map_err(|error| {
        Error::new(ErrorKind::Internal, text!("cannot draw the picture", "画像を描けません")).because(error)
    })
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
            "event": "report", "file": path.display().to_string(), "format": format, "bytes": bytes, "runs": ids,
        }));
    }
    if global.quiet {
        return Ok(());
    }
    let size = number::count((bytes as u64).div_ceil(1000));
    print(&format!("{} {} ({size} kB)\n", t("written:", "書き出しました:"), path.display()))
}
