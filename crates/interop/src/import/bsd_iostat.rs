//! iostat of macOS and the BSDs, and FreeBSD's gstat: tables whose columns have the same names for every
//! device or direction, so that their places count.
//!
//! The model: iostat prints the devices in one line, and `KB/t`, `tps` and `MB/s` below each of them;
//! columns of terminals, processors and load are ignored. The first row covers the time since boot, and
//! each other row is an interval. A KB is 1024 bytes and an MB 1024 of those. gstat repeats a table with
//! a row per device, whose columns are the queue, all operations, and operations, kB and ms of each
//! direction. Sources: iostat.c and gstat.c of FreeBSD, and published results of macOS and FreeBSD.
//! `iostat -x` of FreeBSD and Solaris has named columns (`iostat`).

use super::iostat;
use super::kit::*;
use super::reports::{self, DeviceReport, First, ReportColumn, ReportRules};

const NAMES: &[&str] = &["KB/t", "gstat"];
pub(super) const IMPORTER: Importer = Importer::of(
    ("iostat of macOS or BSD", "iostat", NAMES),
    Recognizer::Lines(|line| match () {
        () if BsdHeader::read(line).is_some() => LineMark::Belongs,
        () if is_gstat_header(line) => LineMark::Belongs,
        () => LineMark::None,
    }),
    read,
);

/// Columns of a device.
const COLUMNS: [(&str, ToolUnit); 3] = [
    ("KB/t", units::unit_for_people("kB", Quantity::Bytes, 1024.0)),
    ("tps", units::unit_for_people("1/s", Quantity::Iops, 1.0)),
    ("MB/s", units::unit_for_people("MB/s", Quantity::Rate, 1_048_576.0)),
];
/// Words in the line of the devices that are not devices.
const NO_DEVICES: [&str; 4] = ["tty", "cpu", "load", "average"];

/// A line with the names of the columns.
#[derive(PartialEq)]
struct BsdHeader {
    /// Place of the first column of each device.
    devices: Vec<usize>,
    count: usize,
}

impl BsdHeader {
    fn read(line: &str) -> Option<Self> {
        if !line.contains("KB/t") {
            return None; // Most lines of most files, at little cost.
        }
        let names: Vec<&str> = line.split_whitespace().collect();
        let begins = |at: &usize| {
            let own = names.get(*at..*at + COLUMNS.len());
            own.is_some_and(|own| {
                own.iter()
                    .zip(COLUMNS)
                    .all(|(name, (column, _))| *name == column || *name == "t/s" && column == "tps")
            })
        };
        let devices: Vec<usize> = (0..names.len()).filter(begins).collect();
        (!devices.is_empty()).then_some(Self { devices, count: names.len() })
    }

    /// Returns the numbers of a row. `None` if the line is not a row.
    fn row<'l>(&self, line: &'l str) -> Option<Vec<&'l str>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words.len() == self.count && words.iter().all(|word| decimal(word).is_some())).then_some(words)
    }
}

/// Columns of gstat before its last column `Name`: name, direction and unit.
const GSTAT: [(&str, Option<Direction>, ToolUnit); 9] = [
    ("L(q)", None, QUEUE),
    ("ops/s", None, REQUESTS_PER_S),
    ("r/s", READ, REQUESTS_PER_S),
    ("kBps", READ, KILOBYTES),
    ("ms/r", READ, MILLISECONDS),
    ("w/s", WRITE, REQUESTS_PER_S),
    ("kBps", WRITE, KILOBYTES),
    ("ms/w", WRITE, MILLISECONDS),
    ("%busy", None, PERCENT),
];
const READ: Option<Direction> = Some(Direction::Read);
const WRITE: Option<Direction> = Some(Direction::Write);
const QUEUE: ToolUnit = units::unit_for_people("", Quantity::QueueLength, 1.0);
const REQUESTS_PER_S: ToolUnit = units::unit_for_people("1/s", Quantity::Iops, 1.0);
const KILOBYTES: ToolUnit = units::unit_for_people("kB/s", Quantity::Rate, 1024.0);
const MILLISECONDS: ToolUnit = units::unit_for_people("ms", Quantity::Latency, 1e6);
const PERCENT: ToolUnit = units::unit_for_people("%", Quantity::Share, 0.01);

fn is_gstat_header(line: &str) -> bool {
    line.contains("L(q)") && line.split_whitespace().last() == Some("Name")
}

/// Places of the supported columns in gstat's heading. Those of deletes have the same names, so each
/// column is the first one after the previous.
fn gstat_places(line: &str) -> Option<Vec<usize>> {
    let names: Vec<&str> = line.split_whitespace().collect();
    let mut next = 0;
    let place = |(name, ..): &(&str, _, _)| {
        let at = next + names.get(next..)?.iter().position(|other| other == name)?;
        next = at + 1;
        Some(at)
    };
    GSTAT.iter().map(place).collect()
}

fn read(input: &Input<'_>) -> ImportedRuns {
    if input.lines().any(|(_, line)| is_gstat_header(line)) {
        return read_gstat(input);
    }
    let mut reports: Vec<DeviceReport> = Vec::new();
    let (mut header, mut devices, mut before): (Option<BsdHeader>, Vec<String>, &str) =
        (None, Vec::new(), "");
    for (_, line) in input.lines() {
        if let Some(next) = BsdHeader::read(line) {
            // Long output repeats its heading.
            if header.as_ref() != Some(&next) {
                devices = names_of(before, next.devices.len());
                header = Some(next);
            }
        } else if let Some((header, row)) =
            header.as_ref().and_then(|header| Some((header, header.row(line)?)))
        {
            reports::add_report(&mut reports, None);
            for (device, at) in devices.iter().zip(&header.devices) {
                reports::add_row(&mut reports, device, (0..COLUMNS.len()).map(|column| row[at + column]));
            }
        }
        if !line.trim().is_empty() {
            before = line;
        }
    }
    let Some(_) = header.filter(|_| !reports.is_empty()) else {
        return without_line("KB/t  tps  MB/s` with a row of numbers below it, such as `24.08   79  1.85");
    };
    let column = |(name, unit): (&str, ToolUnit)| ReportColumn {
        name: name.to_owned(),
        unit,
        direction: None,
        part: "",
    };
    let rules = ReportRules { first: First::SinceBoot, may_omit_idle: false };
    let columns: Vec<ReportColumn> = COLUMNS.into_iter().map(column).collect();
    Ok(vec![iostat::run(input.origin("iostat", "iostat-bsd"), &columns, reports, rules)])
}

/// Returns the devices in the line above the heading. If their number is another one, they are numbered.
fn names_of(line: &str, count: usize) -> Vec<String> {
    let words = line.split_whitespace().filter(|word| !NO_DEVICES.contains(word));
    let names: Vec<String> = words.map(str::to_owned).collect();
    if names.len() == count {
        return names;
    }
    (1..=count).map(|number| format!("device {number}")).collect()
}

fn read_gstat(input: &Input<'_>) -> ImportedRuns {
    let mut reports: Vec<DeviceReport> = Vec::new();
    let mut places: Option<(Vec<usize>, usize)> = None;
    for (number, line) in input.lines() {
        if is_gstat_header(line) {
            let count = line.split_whitespace().count();
            places = gstat_places(line).map(|places| (places, count));
            reports::add_report(&mut reports, None);
        } else if let (Some((places, count)), Some((fields, device))) = (&places, row_of_gstat(line)) {
            if fields.len() + 1 != *count {
                return Err(parts::miscounted(input, number).into());
            }
            reports::add_row(&mut reports, device, places.iter().map(|at| fields[*at]));
        }
    }
    let mut columns: Vec<ReportColumn> = Vec::new();
    for (name, direction, unit) in GSTAT {
        columns.push(ReportColumn { name: name.to_owned(), unit, direction, part: "" });
    }
    let rules = ReportRules { first: First::Interval, may_omit_idle: false };
    Ok(vec![iostat::run(input.origin("gstat", "gstat"), &columns, reports, rules)])
}

/// Returns the numbers of a row of gstat and its device, which follows a bar where the terminal has
/// colours.
fn row_of_gstat(line: &str) -> Option<(Vec<&str>, &str)> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let device = words.pop()?.trim_start_matches('|');
    let last = words.last_mut()?;
    *last = last.trim_end_matches('|');
    words.retain(|word| !word.is_empty());
    let is_row = words.len() > 2 && words.iter().all(|word| decimal(word).is_some());
    (is_row && !device.is_empty()).then_some((words, device))
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;
    use super::*;

    const MACOS: &str = "\
            disk0               disk4       cpu    load average
   KB/t  tps  MB/s     KB/t  tps  MB/s  us sy id   1m   5m   15m
  24.08   79  1.85   240.24    0  0.00  13  6 81  2.14 2.18 2.08
   4.00    1  0.00     0.00    0  0.00   5  3 92  2.14 2.18 2.08
  14.30  222  3.10     0.00    0  0.00   3  4 93  1.97 2.15 2.07
";

    #[test]
    fn each_device_has_its_own_columns() {
        let run = &import("a.txt", MACOS.as_bytes()).unwrap()[0];
        let labels: Vec<&str> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
        assert_eq!(labels, ["disk0 all", "disk4 all"]);
        let disk = find(run, "disk0 all");
        let rate = figure(disk, Quantity::Rate, Statistic::Highest, Some("MB/s"));
        assert_figure(rate, "3.10", "MB/s", 3.1 * 1_048_576.0);
        let operations = figure(disk, Quantity::Iops, Statistic::Lowest, Some("tps"));
        assert_figure(operations, "1", "1/s", 1.0);
        assert!(run.notices[0].text.en.contains("since boot"), "{:?}", run.notices);
        let other = figure(find(run, "disk4 all"), Quantity::Iops, Statistic::Highest, Some("tps"));
        assert_eq!(other.value, 0.0);
        // With terminals, and without the line of the devices.
        let freebsd =
            " tin  tout  KB/t   tps  MB/s  us ni sy in id\n   0     5 22.10    12  0.26   1  0  1  0 98\n";
        let run = &import("a.txt", freebsd.as_bytes()).unwrap()[0];
        let only = find(run, "device 1 all");
        assert_figure(figure(only, Quantity::Iops, Statistic::Mean, Some("tps")), "12", "1/s", 12.0);
    }

    #[test]
    fn gstat_has_directions() {
        let text = "dT: 1.002s  w: 1.000s\n \
                    L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name\n    \
                    0      0      0      0    0.0      0      0    0.0    0.0| cd0\n    \
                    1    132    120  15360    7.9     12   1536    1.1   95.3| ada0\n";
        let run = &import("a.txt", text.as_bytes()).unwrap()[0];
        assert_eq!(run.origin.tool, "gstat");
        let read = figure(find(run, "ada0 read"), Quantity::Rate, Statistic::Mean, Some("kBps"));
        assert_figure(read, "15360", "kB/s", 15_360.0 * 1024.0);
        let write = figure(find(run, "ada0 write"), Quantity::Latency, Statistic::Mean, Some("ms/w"));
        assert_figure(write, "1.1", "ms", 1.1e6);
        let busy = figure(find(run, "ada0 all"), Quantity::Share, Statistic::Mean, Some("%busy"));
        assert_figure(busy, "95.3", "%", 0.953);
        assert!(import("a.txt", text.replace(" 120 ", " ").as_bytes()).is_err(), "a number less");
    }
}
