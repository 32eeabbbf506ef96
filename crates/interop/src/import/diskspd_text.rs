//! DiskSpd's text results.
//!
//! The model: the input parameters, then per time span three tables (all, reads, writes) that end in a
//! `total:` line, then a table of latency percentiles if latency was measured (`-L`). The totals of
//! reads and of writes are the cells. With several targets of one thread each, every target is a cell
//! as well. The table of all is read only if the others are missing. Columns are found by their names.
//! Versions before 2.0.18 name the column `MB/s`, but the unit is MiB/s. Source: ResultParser.cpp of microsoft/diskspd.

use super::kit::*;
use super::parts::PrintedRow;
use super::words::bytes;
use std::collections::HashMap;
use std::rc::Rc;

const COMMAND: &str = "Command Line:{}";
const TABLE: &str = "thread |{}I/O per s{}";
const PATH: &str = "path:{}";
const TIME: &str = "actual test time:{}";
const RUN: [DetailLine; 3] = [
    (&[COMMAND], &[Detail::Procedure]),
    (&["start time:{}"], &[Detail::Date(dates::from_year_first)]),
    (&["duration", "warm up time", "cool down time"], &[Detail::OwnFact]),
];
/// Input parameters of a target.
const TARGET: [DetailLine; 6] = [
    (&[PATH], &[Detail::Target]),
    (&["block size:{}"], &[Detail::BlockBytes(bytes)]),
    (&["using random I/O{}"], &[Detail::Order(|_| Some(false))]),
    (&["using sequential I/O{}", "using interlocked sequential I/O{}"], &[Detail::Order(|_| Some(true))]),
    (
        &["number of outstanding I/O operations per thread", "number of outstanding I/O operations"],
        &[Detail::IoDepth],
    ),
    (&["performing mix test (read/write ratio:{}/{}"], &[Detail::ReadPercent]),
];

pub(super) const IMPORTER: Importer = Importer::of(
    ("DiskSpd text", "DiskSpd", &["diskspd"]),
    Recognizer::Shapes(LineShapes { begins: &[COMMAND], belongs: &[TABLE, TIME] }),
    read,
);

/// Data read from a time span.
#[derive(Default)]
struct TimeSpan<'a> {
    time: &'a str,
    threads: Option<u32>,
    rows: Vec<(Option<Direction>, PrintedRow<'a>)>,
    latencies: Vec<(Direction, Statistic, &'a str)>,
}

/// Section of the text that contains a line.
enum TextSection<'a> {
    Elsewhere,
    /// `None` for reads and writes together.
    Table(Option<Direction>, Rc<[&'a str]>),
    Latencies,
    LatenciesOfOneTarget,
}

fn read(input: &Input<'_>) -> ImportedRuns {
    if !input.lines().any(|(_, line)| fits(TABLE, line)) {
        return without_line("thread |       bytes     |     I/Os     |   … I/O per s |");
    }
    let RunDetails { mut origin, setting, .. } =
        RunDetails::of(input, ("DiskSpd", "diskspd-text"), &RUN, input.lines());
    let setting = ImportedCell { runs: Some(1), ..setting };
    let mut targets: Vec<RunDetails> = Vec::new();
    for (_, line) in input.lines() {
        if fits(PATH, line) {
            targets.push(RunDetails { setting: setting.clone(), ..RunDetails::default() });
        }
        if let Some(target) = targets.last_mut() {
            target.read(&TARGET, line);
        }
    }
    let targets: Vec<(String, ImportedCell)> = targets
        .into_iter()
        .map(|target| {
            (target.origin.target.unwrap_or_default().trim_matches('\'').to_owned(), target.setting)
        })
        .collect();
    let spans = spans(input);
    let mut cells = Vec::new();
    for (number, span) in spans.iter().enumerate() {
        let prefix = if spans.len() > 1 { format!("time span {} ", number + 1) } else { String::new() };
        cells.extend(span_cells(span, &targets, &setting, &prefix));
    }
    let paths: Vec<&str> = targets.iter().map(|(path, _)| path.as_str()).collect();
    origin.target = (!paths.is_empty()).then(|| paths.join(", "));
    Ok(vec![ImportedRun { origin, cells, ..ImportedRun::default() }])
}

fn spans<'a>(input: &'a Input<'_>) -> Vec<TimeSpan<'a>> {
    let mut spans: Vec<TimeSpan<'a>> = Vec::new();
    let (mut section, mut direction) = (TextSection::Elsewhere, None);
    // The totals are the sum of all time spans.
    for (_, line) in input.lines().take_while(|(_, line)| !fits("Totals:{}", line)) {
        if let Some([time]) = holes(TIME, line) {
            spans.push(TimeSpan { time: time.trim_end_matches('s'), ..TimeSpan::default() });
        }
        let is_table = || matches!(line.trim(), "Total IO" | "Read IO" | "Write IO") || fits(TABLE, line);
        if spans.is_empty() && is_table() {
            spans.push(TimeSpan::default()); // An excerpt.
        }
        let Some(span) = spans.last_mut() else { continue };
        if let Some([threads]) = holes("thread count:{}", line) {
            span.threads = threads.parse().ok();
        }
        match line.trim() {
            "Total IO" => direction = None,
            "Read IO" => direction = Some(Direction::Read),
            "Write IO" => direction = Some(Direction::Write),
            words if words.starts_with("Latency distribution:") => {
                section = TextSection::LatenciesOfOneTarget;
            }
            "Total latency distribution:" => section = TextSection::Latencies,
            words if words.starts_with("%-ile |") => {
                if !matches!(section, TextSection::LatenciesOfOneTarget) {
                    section = TextSection::Latencies;
                }
            }
            _ if fits(TABLE, line) => section = TextSection::Table(direction, split(line).into()),
            _ => row(line, &section, span),
        }
    }
    spans
}

fn split(line: &str) -> Vec<&str> {
    line.split('|').map(str::trim).collect()
}

/// Reads a line of a table.
fn row<'a>(line: &'a str, section: &TextSection<'a>, span: &mut TimeSpan<'a>) {
    let mut fields = split(line);
    match section {
        TextSection::Table(direction, columns) => {
            if let Some(bytes) = fields[0].strip_prefix("total:") {
                // The line of totals has no thread number, so its first field contains two.
                fields.splice(..1, ["total", bytes.trim()]);
            } else if fields[0].parse::<u32>().is_err() {
                return;
            }
            span.rows.push((*direction, PrintedRow { columns: Rc::clone(columns), fields }));
        }
        TextSection::Latencies => {
            let &[name, read, write, _] = fields.as_slice() else { return };
            let Some(statistic) = percentile(name) else { return };
            span.latencies.extend([(Direction::Read, statistic, read), (Direction::Write, statistic, write)]);
        }
        _ => {}
    }
}

/// Parses `min`, `95th`, `4-nines`, `max`.
fn percentile(name: &str) -> Option<Statistic> {
    if let Some(percent) = name.strip_suffix("th") {
        let percent = percent.parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0);
        return percent.map(Statistic::Percentile);
    }
    match name.strip_suffix("-nines") {
        Some(nines) => {
            let nines: usize = nines.parse().ok().filter(|nines| (3..=12).contains(nines))?;
            format!("99.{}", "9".repeat(nines - 2)).parse().ok().map(Statistic::Percentile)
        }
        None if name == "min" => Some(Statistic::Lowest),
        None => (name == "max").then_some(Statistic::Highest),
    }
}

fn span_cells(
    span: &TimeSpan<'_>,
    targets: &[(String, ImportedCell)],
    setting: &ImportedCell,
    prefix: &str,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    let rows_of = |direction| span.rows.iter().filter(move |(of, _)| *of == direction).map(|(_, row)| row);
    for direction in [Direction::Read, Direction::Write] {
        let rows = || rows_of(Some(direction));
        let total = rows().find(|row| row.fields[0] == "total").map(row_figures);
        let Some(mut figures) = total.filter(|figures| !figures.is_empty()) else { continue };
        let latencies = span.latencies.iter().filter(|(of, ..)| *of == direction);
        figures.extend(
            latencies.filter_map(|(_, statistic, printed)| units::MILLISECONDS.figure(*statistic, *printed)),
        );
        figures.extend(units::RUN_SECONDS.figure_of(FigureOf::TestTime, Statistic::Sum, span.time));
        let imported = ImportedCell { threads: span.threads, figures, ..common(targets, setting) };
        cells.push(cell(format!("{prefix}total"), Some(direction), imported));
        // The values of several threads of one target would have to be added, and DiskSpd does not
        // print their sum.
        let alone = || rows().filter(|row| row.fields[0] != "total");
        if targets.len() < 2 || alone().count() != targets.len() {
            continue;
        }
        let mut files: HashMap<&str, &PrintedRow<'_>> = HashMap::new();
        for row in alone() {
            let file = row.get("file").and_then(|file| file.split(" (").next());
            files.entry(file.unwrap_or("")).or_insert(row);
        }
        for (path, setting) in targets {
            let figures = files.get(path.as_str()).map(|row| row_figures(row)).unwrap_or_default();
            let imported = ImportedCell { threads: Some(1), figures, ..setting.clone() };
            cells.push(cell(format!("{prefix}{path}"), Some(direction), imported));
        }
    }
    if cells.is_empty() {
        // An excerpt without the tables of reads and of writes.
        let total = rows_of(None).find(|row| row.fields[0] == "total").map(row_figures);
        let imported = ImportedCell {
            threads: span.threads,
            figures: total.unwrap_or_default(),
            ..common(targets, setting)
        };
        cells.push(cell(format!("{prefix}total"), None, imported));
    }
    cells
}

/// Returns the figures of a row; none if it has no operations.
fn row_figures(row: &PrintedRow<'_>) -> Vec<PrintedFigure> {
    if !row.get("I/Os").is_some_and(units::positive) {
        return Vec::new();
    }
    let mut figures = units::figures(&COLUMNS, |name| row.get(name));
    for figure in figures.iter_mut().filter(|figure| figure.unit_printed == "MB/s") {
        let reason = text!(
            "this version of DiskSpd counts 1048576 bytes as an MB",
            "この版の DiskSpd は 1048576 バイトを 1 MB と数えます"
        );
        figure.correction = Some(Box::new(units::binary("MiB/s", reason)));
    }
    figures
}

const OPERATIONS: ToolUnit = units::unit("I/O per s", Quantity::Iops, 1.0);
/// Columns of a row.
const COLUMNS: [FigureName; 8] = [
    (units::MIB_PER_S, Statistic::Mean, "MiB/s"),
    (units::unit("MB/s", Quantity::Rate, 1_048_576.0), Statistic::Mean, "MB/s"),
    (OPERATIONS, Statistic::Mean, "I/O per s"),
    (units::MILLISECONDS, Statistic::Mean, "AvgLat"),
    (units::MILLISECONDS, Statistic::StandardDeviation, "LatStdDev"),
    (OPERATIONS, Statistic::StandardDeviation, "IopsStdDev"),
    (units::BYTES, Statistic::Sum, "bytes"),
    (units::COUNT, Statistic::Sum, "I/Os"),
];

/// Returns the input parameters that all targets share.
fn common(targets: &[(String, ImportedCell)], setting: &ImportedCell) -> ImportedCell {
    fn keep_alike<T: PartialEq>(kept: &mut Option<T>, other: &Option<T>) {
        *kept = kept.take().filter(|kept| Some(kept) == other.as_ref());
    }
    let mut common = targets.first().map_or(setting, |(_, first)| first).clone();
    for (_, target) in targets {
        keep_alike(&mut common.block_bytes, &target.block_bytes);
        keep_alike(&mut common.iodepth, &target.iodepth);
        keep_alike(&mut common.sequential, &target.sequential);
        keep_alike(&mut common.read_percent, &target.read_percent);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn totals_and_percentiles_of_reads_and_writes() {
        let run = &imported("lab/diskspd.txt")[0];
        assert_eq!(run.origin.measured_at.as_deref(), Some("2024-06-14T13:49:12Z"));
        assert_eq!(run.origin.target.as_deref(), Some("testfile.dat"));
        let [read, write] = run.cells.as_slice() else { panic!() };
        let setting = of(read);
        assert_eq!((setting.block_bytes, setting.iodepth, setting.threads), (Some(65_536), Some(8), Some(2)));
        assert_eq!((setting.sequential, setting.read_percent), (Some(false), Some(70.0)));
        assert_figure(&setting.figures[0], "105.00", "MiB/s", 105.0 * 1_048_576.0);
        assert_figure(&setting.figures[1], "1680.00", "I/O per s", 1680.0);
        let latency = |cell, statistic| figure(cell, Quantity::Latency, statistic, None);
        assert_figure(latency(read, Statistic::Mean), "4.125", "ms", 4_125_000.0);
        assert_figure(latency(read, Statistic::StandardDeviation), "1.500", "ms", 1_500_000.0);
        assert_figure(latency(write, Statistic::Percentile(99.9)), "24.000", "ms", 24_000_000.0);
        assert_figure(latency(write, Statistic::Percentile(99.99)), "36.500", "ms", 36_500_000.0);
        assert_figure(latency(write, Statistic::Highest), "48.250", "ms", 48_250_000.0);
        let spread = figure(read, Quantity::Iops, Statistic::StandardDeviation, None);
        assert_figure(spread, "80.00", "I/O per s", 80.0);
    }

    #[test]
    fn old_versions_say_mb_and_targets_stand_apart() {
        let run = &imported("lab/diskspd-2.0.17-two-targets.txt")[0];
        let labels: Vec<_> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
        assert_eq!(labels, ["total", "a.dat", "b.dat"], "nothing was written");
        let first = &of(&run.cells[0]).figures[0];
        assert_figure(first, "300.00", "MB/s", 300.0 * 1_048_576.0);
        assert_eq!(first.correction.as_ref().map(|c| c.factor), Some(1.048_576));
        assert_figure(&of(&run.cells[2]).figures[0], "100.00", "MB/s", 100.0 * 1_048_576.0);
        assert_eq!(of(&run.cells[1]).block_bytes, Some(65_536));
        assert_eq!(of(&run.cells[1]).sequential, Some(true));
    }
}
