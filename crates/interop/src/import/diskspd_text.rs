//! DiskSpd's text results.
//!
//! The model: the input parameters, then per time span three tables (all, reads, writes) that end in a `total:` line,
//! then a table of latency percentiles if latency was measured (`-L`). The totals of reads and of writes are the cells;
//! where there are several targets of one thread each, every target is a cell too. Columns are found by their names.
//! Versions before 2.0.18 name the column `MB/s` and mean MiB/s. ResultParser.cpp of microsoft/diskspd.

use super::parts;
use super::split::LineMark;
use super::units::{self, ToolUnit};
use super::{ImportedRun, ImportedRuns, Importer, Input, dates};
use kurabe_core::imported::{
    FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic, Quantity,
};
use kurabe_core::quantity::parse_bytes;
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;
use std::collections::HashMap;
use std::rc::Rc;

/// A target as the input parameters tell of it.
#[derive(Default)]
struct DiskspdTarget {
    path: String,
    block_bytes: Option<u64>,
    iodepth: Option<u32>,
    sequential: Option<bool>,
    read_percent: Option<f64>,
    threads: Option<u32>,
}

/// A row of a table: the fields under the columns' names.
struct FieldRow {
    name: String,
    columns: Rc<[String]>,
    fields: Vec<String>,
}

/// What is read of a time span.
#[derive(Default)]
struct TimeSpan {
    time: Option<String>,
    threads: Option<u32>,
    rows: Vec<(Direction, FieldRow)>,
    latencies: Vec<(Direction, Statistic, String)>,
}

/// Where in the text a line stands.
enum TextSection {
    Elsewhere,
    Table(Option<Direction>, Rc<[String]>),
    Latencies,
    LatenciesOfOneTarget,
}

pub(super) const IMPORTER: Importer =
    Importer::of_lines(("DiskSpd text", "DiskSpd", &["diskspd"]), line_mark, read);

fn line_mark(line: &str) -> LineMark {
    let words = line.trim();
    match () {
        () if words.starts_with("Command Line:") => LineMark::Begins,
        () if is_table(line) || words.starts_with("actual test time:") => LineMark::Belongs,
        () => LineMark::None,
    }
}

fn is_table(line: &str) -> bool {
    line.trim_start().starts_with("thread |") && line.contains("I/O per s")
}

/// Reads DiskSpd's text.
fn read(input: &Input<'_>) -> ImportedRuns {
    if !input.lines().any(|(_, line)| is_table(line)) {
        return parts::not_mine(text!(
            "no line begins as the table `thread |       bytes     |` does",
            "`thread |       bytes     |` で始まる表がありません"
        ));
    }
    let mut origin = input.origin("DiskSpd", "diskspd-text");
    let mut targets: Vec<DiskspdTarget> = Vec::new();
    let mut spans: Vec<TimeSpan> = Vec::new();
    let mut place = TextSection::Elsewhere;
    let mut section = None;
    for (_, line) in input.lines() {
        parameter(line, &mut origin, &mut targets);
        let words = line.trim();
        if let Some(time) = words.strip_prefix("actual test time:") {
            let time = time.trim().trim_end_matches('s').to_owned();
            spans.push(TimeSpan { time: Some(time), ..TimeSpan::default() });
        }
        if words.starts_with("Totals:") {
            break; // The sum of all time spans.
        }
        let Some(span) = spans.last_mut() else { continue };
        if let Some(count) = words.strip_prefix("thread count:") {
            span.threads = count.trim().parse().ok();
        }
        match words {
            "Total IO" => section = None,
            "Read IO" => section = Some(Direction::Read),
            "Write IO" => section = Some(Direction::Write),
            _ if words.starts_with("Latency distribution:") => place = TextSection::LatenciesOfOneTarget,
            "Total latency distribution:" => place = TextSection::Latencies,
            _ if words.starts_with("%-ile |") && !matches!(place, TextSection::LatenciesOfOneTarget) => {
                place = TextSection::Latencies;
            }
            _ if is_table(line) => {
                place =
                    TextSection::Table(section, line.split('|').map(|name| name.trim().to_owned()).collect());
            }
            _ => row(line, &place, span),
        }
    }
    let mut cells = Vec::new();
    let several = spans.len() > 1;
    let common = described(&targets, &origin);
    for (number, span) in spans.iter().enumerate() {
        let prefix = if several { format!("time span {} ", number + 1) } else { String::new() };
        cells.extend(span_cells(span, &targets, &origin, &common, &prefix));
    }
    let paths: Vec<&str> = targets.iter().map(|target| target.path.as_str()).collect();
    origin.target = (!paths.is_empty()).then(|| paths.join(", "));
    Ok(vec![ImportedRun { origin, cells, ..ImportedRun::default() }])
}

/// A line of the input parameters or of the system.
fn parameter(line: &str, origin: &mut Origin, targets: &mut Vec<DiskspdTarget>) {
    let words = line.trim();
    if let Some(command) =
        words.strip_prefix("Command Line:").map(str::trim).filter(|command| !command.is_empty())
    {
        origin.procedure = Some(command.to_owned());
    } else if let Some(time) = words.strip_prefix("start time:") {
        origin.measured_at = dates::from_year_first(time.trim());
    } else if let Some(path) = words.strip_prefix("path:") {
        targets.push(DiskspdTarget {
            path: path.trim().trim_matches('\'').to_owned(),
            ..DiskspdTarget::default()
        });
    }
    for key in ["duration", "warm up time", "cool down time"] {
        if let Some(value) = words.strip_prefix(key).and_then(|rest| rest.strip_prefix(": ")) {
            origin.facts.entry(key.to_owned()).or_insert_with(|| value.to_owned());
        }
    }
    let Some(target) = targets.last_mut() else { return };
    let after = |key: &str| words.strip_prefix(key).map(str::trim);
    if let Some(size) = after("block size:") {
        target.block_bytes = parse_bytes(size).ok();
    } else if words.starts_with("using random I/O") {
        target.sequential = Some(false);
    } else if words.starts_with("using sequential I/O")
        || words.starts_with("using interlocked sequential I/O")
    {
        target.sequential = Some(true);
    } else if let Some(depth) = after("number of outstanding I/O operations per thread:")
        .or(after("number of outstanding I/O operations:"))
    {
        target.iodepth = depth.parse().ok();
    } else if let Some(count) = after("threads per file:") {
        target.threads = count.parse().ok();
    } else if let Some(ratio) = after("performing mix test (read/write ratio:") {
        let reads = ratio.split('/').next().and_then(parts::number);
        target.read_percent = reads.filter(|share| (0.0..=100.0).contains(share));
    }
}

/// A line within a table.
fn row(line: &str, place: &TextSection, span: &mut TimeSpan) {
    match place {
        TextSection::Table(Some(direction), columns) => {
            let mut fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let Some(first) = fields.first().copied() else { return };
            if let Some(bytes) = first.strip_prefix("total:") {
                // The line of totals has no number of a thread, so its first field holds two.
                fields[0] = bytes.trim();
                fields.insert(0, "total");
            } else if first.parse::<u32>().is_err() {
                return;
            }
            let name = fields[0].to_owned();
            let fields = fields.into_iter().map(str::to_owned).collect();
            span.rows.push((*direction, FieldRow { name, columns: Rc::clone(columns), fields }));
        }
        TextSection::Latencies => {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let &[name, read, write, _] = fields.as_slice() else { return };
            let Some(statistic) = percentile(name) else { return };
            span.latencies.push((Direction::Read, statistic, read.to_owned()));
            span.latencies.push((Direction::Write, statistic, write.to_owned()));
        }
        _ => {}
    }
}

/// `min`, `95th`, `4-nines`, `max`.
fn percentile(name: &str) -> Option<Statistic> {
    match name {
        "min" => return Some(Statistic::Lowest),
        "max" => return Some(Statistic::Highest),
        _ => {}
    }
    if let Some(percent) = name.strip_suffix("th") {
        return percent
            .parse()
            .ok()
            .filter(|percent| *percent > 0.0 && *percent < 100.0)
            .map(Statistic::Percentile);
    }
    let nines: usize = name.strip_suffix("-nines")?.parse().ok().filter(|nines| (3..=12).contains(nines))?;
    format!("99.{}", "9".repeat(nines - 2)).parse().ok().map(Statistic::Percentile)
}

fn span_cells(
    span: &TimeSpan,
    targets: &[DiskspdTarget],
    origin: &Origin,
    common: &ImportedCell,
    prefix: &str,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for direction in [Direction::Read, Direction::Write] {
        let rows = || span.rows.iter().filter(|(of, _)| *of == direction).map(|(_, row)| row);
        let Some(total) = rows().find(|row| row.name == "total") else { continue };
        let mut figures = row_figures(total);
        if figures.is_empty() {
            continue;
        }
        let latencies = span.latencies.iter().filter(|(of, ..)| *of == direction);
        figures.extend(
            latencies.filter_map(|(_, statistic, printed)| {
                units::MILLISECONDS.figure(*statistic, printed.as_str())
            }),
        );
        let time = span.time.as_deref();
        figures.extend(units::RUN_SECONDS.figure_of(FigureOf::TestTime, Statistic::Sum, time));
        let imported = ImportedCell { threads: span.threads, figures, ..common.clone() };
        cells.push(parts::cell(format!("{prefix}total"), Some(direction), imported));
        // Several threads of one target would have to be added up, and no such sum is printed.
        let alone = || rows().filter(|row| row.name != "total");
        if targets.len() < 2 || alone().count() != targets.len() {
            continue;
        }
        let mut files: HashMap<&str, &FieldRow> = HashMap::new();
        for row in alone() {
            let file = field(row, "file").and_then(|file| file.split(" (").next());
            files.entry(file.unwrap_or("")).or_insert(row);
        }
        for target in targets {
            let figures = files.get(target.path.as_str()).map(|row| row_figures(row)).unwrap_or_default();
            let setting = described(std::slice::from_ref(target), origin);
            let imported = ImportedCell { threads: Some(1), figures, ..setting };
            cells.push(parts::cell(format!("{prefix}{}", target.path), Some(direction), imported));
        }
    }
    cells
}

fn field<'a>(row: &'a FieldRow, name: &str) -> Option<&'a str> {
    let at = row.columns.iter().position(|column| column == name)?;
    row.fields.get(at).map(String::as_str)
}

/// Figures of a row; none if it did no operations.
fn row_figures(row: &FieldRow) -> Vec<PrintedFigure> {
    if !field(row, "I/Os").is_some_and(units::positive) {
        return Vec::new();
    }
    let rate = match field(row, "MiB/s") {
        Some(printed) => units::MIB_PER_S.figure(Statistic::Mean, printed),
        None => OLD_RATE.figure(Statistic::Mean, field(row, "MB/s")).map(|figure| {
            let reason = text!(
                "this version of DiskSpd counts 1048576 bytes as an MB",
                "この版の DiskSpd は 1048576 バイトを 1 MB と数えます"
            );
            units::corrected(figure, units::binary("MiB/s", reason))
        }),
    };
    rate.into_iter().chain(units::figures(&COLUMNS, |name| field(row, name))).collect()
}

const OLD_RATE: ToolUnit = units::unit("MB/s", Quantity::Rate, 1_048_576.0);
const OPERATIONS: ToolUnit = units::unit("I/O per s", Quantity::Iops, 1.0);
/// The columns of a row besides that of its rate.
const COLUMNS: [(ToolUnit, Statistic, &str); 6] = [
    (OPERATIONS, Statistic::Mean, "I/O per s"),
    (units::MILLISECONDS, Statistic::Mean, "AvgLat"),
    (units::MILLISECONDS, Statistic::StandardDeviation, "LatStdDev"),
    (OPERATIONS, Statistic::StandardDeviation, "IopsStdDev"),
    (units::BYTES, Statistic::Sum, "bytes"),
    (units::COUNT, Statistic::Sum, "I/Os"),
];

/// What the input parameters tell of the targets where they are alike.
fn described(targets: &[DiskspdTarget], origin: &Origin) -> ImportedCell {
    fn common<T: PartialEq + Copy>(
        targets: &[DiskspdTarget],
        of: impl Fn(&DiskspdTarget) -> Option<T>,
    ) -> Option<T> {
        let first = of(targets.first()?);
        if targets.iter().all(|target| of(target) == first) { first } else { None }
    }
    ImportedCell {
        procedure: origin.procedure.as_deref().map(parts::repeated),
        runs: Some(1),
        block_bytes: common(targets, |target| target.block_bytes),
        iodepth: common(targets, |target| target.iodepth),
        sequential: common(targets, |target| target.sequential),
        read_percent: common(targets, |target| target.read_percent),
        ..ImportedCell::default()
    }
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

    #[test]
    fn damage_is_survived() {
        assert_survives_damage("lab/diskspd.txt");
        assert_survives_damage("lab/diskspd-2.0.17-two-targets.txt");
    }
}
