//! sysstat's iostat: extended (`-x`), plain and short (`-s`) text, and JSON.
//!
//! The model: columns are identified by their names, which changed between versions, not by their
//! positions. `kB` is 1024 bytes, `MB` 1024 of those, and a sector or block 512 bytes, regardless of
//! the disk. `await` is in ms and includes the time in the queue. The device is first or, with `-h` and
//! `--compact`, last. With `--human`, numbers are rounded and end in a letter, which replaces the unit
//! of the column. Each log begins with a line about the system; with `-y`, an additional empty line
//! follows it. If the columns change, another iostat process started. Reports, and the data that they
//! skip: see `reports`. FreeBSD's and Solaris' `iostat -x` have the same form with other names; the tables
//! of other systems are in `bsd_iostat`. Rows and headings that a mail program wrapped are joined until
//! they have all columns. Source: iostat's manual pages, and sysstat's own tests.

use super::json_tree::{Json, JsonError, items, parted, raw_documents, tree};
use super::kit::*;
use super::reports::{self, DeviceReport, First, ReportColumn, ReportRules};
use super::{room, sar, split};
use crate::trace::blkparse::is_excerpt_mark;

const KEYS: &[&str] = &["\"sysstat\"", "\"disk_device\""];
pub(super) const TEXT: Importer =
    Importer::of(("iostat text", "iostat", &["iostat", "avg-cpu"]), Recognizer::Lines(line_mark), read_text);
pub(super) const JSON: Importer =
    Importer::of(("iostat JSON", "iostat", &["\"sysstat\""]), Recognizer::Object(KEYS), read_json);

const REQUESTS_PER_S: ToolUnit = units::unit_for_people("1/s", Quantity::Iops, 1.0);
const QUEUE: ToolUnit = units::unit_for_people("", Quantity::QueueLength, 1.0);
const MILLISECONDS: ToolUnit = units::unit_for_people("ms", Quantity::Latency, 1e6);
const KILOBYTES: ToolUnit = units::unit_for_people("kB/s", Quantity::Rate, 1024.0);
const MEGABYTES: ToolUnit = units::unit_for_people("MB/s", Quantity::Rate, 1_048_576.0);
const SECTORS: ToolUnit = units::unit_for_people("sectors/s", Quantity::Rate, 512.0);
const BLOCKS: ToolUnit = units::unit_for_people("Blk/s", Quantity::Rate, 512.0);
const SIZE_IN_KB: ToolUnit = units::unit_for_people("kB", Quantity::Bytes, 1024.0);
const SIZE_IN_SECTORS: ToolUnit = units::unit_for_people("sectors", Quantity::Bytes, 512.0);
const PERCENT: ToolUnit = units::unit_for_people("%", Quantity::Share, 0.01);

fn line_mark(line: &str) -> LineMark {
    match () {
        () if is_banner(line) => LineMark::Begins,
        () if line.trim().starts_with("avg-cpu:") || Header::read(line).is_some() => LineMark::Belongs,
        () if sar::is_header(line) => LineMark::Belongs,
        () => LineMark::None,
    }
}

/// Returns whether a line is the one about the system: `Linux 5.10.0-8-amd64 (host) 11/21/26 _x86_64_
/// (2 CPU)`.
fn is_banner(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("Linux")
        && words.next().is_some_and(|release| release.starts_with(|c: char| c.is_ascii_digit()))
        && words.next().is_some_and(|host| host.starts_with('('))
}

/// A direction, and the word that distinguishes a cell without one.
type ColumnPart = (Option<Direction>, &'static str);
/// Parts of the columns: reads, writes, discards, flushes, writes and discards (`-s`), and all
/// together.
const PARTS: [ColumnPart; 6] = [
    (Some(Direction::Read), ""),
    (Some(Direction::Write), ""),
    (None, "discard"),
    (None, "flush"),
    (None, "write and discard"),
    (None, ""),
];

/// Supported columns: their unit, and the names of the column of each part.
const COLUMNS: [(ToolUnit, [&str; PARTS.len()]); 10] = [
    (REQUESTS_PER_S, ["r/s rrqm/s", "w/s wrqm/s", "d/s drqm/s", "f/s", "", "tps rqm/s"]),
    (KILOBYTES, ["rkB/s kB_read/s kr/s", "wkB/s kB_wrtn/s kw/s", "dkB/s kB_dscd/s", "", "kB_w+d/s", "kB/s"]),
    (MEGABYTES, ["rMB/s MB_read/s Mr/s", "wMB/s MB_wrtn/s Mw/s", "dMB/s MB_dscd/s", "", "MB_w+d/s", "MB/s"]),
    (SECTORS, ["rsec/s rd_sec/s", "wsec/s wr_sec/s", "", "", "", ""]),
    (BLOCKS, ["Blk_read/s", "Blk_wrtn/s", "Blk_dscd/s", "", "Blk_w+d/s", ""]),
    (MILLISECONDS, ["r_await ms/r", "w_await ms/w", "d_await", "f_await", "", "await ms/t svc_t asvc_t"]),
    (SIZE_IN_KB, ["rareq-sz", "wareq-sz", "dareq-sz", "", "", "areq-sz"]),
    (SIZE_IN_SECTORS, ["", "", "", "", "", "avgrq-sz"]),
    (QUEUE, ["", "", "", "", "", "aqu-sz avgqu-sz qlen actv"]),
    (PERCENT, ["", "", "", "", "", "%util util %b"]),
];

/// Returns a column of iostat by its name. `None` if kurabe does not support it.
fn column(name: &str) -> Option<ReportColumn> {
    let is_of = |names: &&str| !name.is_empty() && names.split(' ').any(|own| own == name);
    COLUMNS.iter().find_map(|(unit, names)| {
        let (direction, part) = PARTS[names.iter().position(is_of)?];
        Some(ReportColumn { name: name.to_owned(), unit: *unit, direction, part })
    })
}

/// Returns the supported columns with their positions.
pub(super) fn columns<'a>(names: impl IntoIterator<Item = &'a str>) -> (Vec<usize>, Vec<ReportColumn>) {
    names.into_iter().enumerate().filter_map(|(at, name)| Some((at, column(name)?))).unzip()
}

/// First columns of other tools.
const FOREIGN: [&str; 2] = ["KB/t", "L(q)"];
/// Rows that a script added below those of the devices.
const SUMMARIES: [&str; 3] = ["sum", "avg", "stddev"];

/// A line with the names of the columns.
#[derive(Clone, Debug, PartialEq)]
struct Header<'a> {
    /// Names of the columns without that of the device.
    names: Vec<&'a str>,
    /// Whether the device follows its numbers.
    device_last: bool,
}

impl<'a> Header<'a> {
    fn read(line: &'a str) -> Option<Self> {
        if !line.contains("/s") {
            return None; // Most lines of most files, at little cost.
        }
        let mut names: Vec<&str> = line.split_whitespace().collect();
        let is_device = |name: &str| {
            column(name).is_none() && name.starts_with(char::is_alphabetic) && !FOREIGN.contains(&name)
        };
        let has_rates = names.contains(&"r/s") && names.contains(&"w/s")
            || names.contains(&"tps")
                && names
                    .iter()
                    .any(|name| name.ends_with("B/s") || name.contains("B_read/s") || *name == "Blk_read/s");
        let device_last =
            names.last().is_some_and(|name| matches!(name.trim_end_matches(':'), "Device" | "device"));
        if !has_rates || !(device_last || is_device(names.first()?)) {
            return None;
        }
        if device_last {
            names.pop();
        } else {
            names.remove(0);
        }
        Some(Self { names, device_last })
    }

    /// Returns device and numbers of a row. `Some(None)` if the line is not a row, `None` if it is
    /// truncated.
    fn row<'l>(&self, line: &'l str) -> Option<Option<(&'l str, Vec<&'l str>)>> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let is_number = |word: &&str| {
            // Printed for a counter that overflowed.
            let is_no_number = ["nan", "-nan", "inf"].contains(word);
            is_no_number || PERCENT.value(word).is_some() || KILOBYTES.value(word).is_some()
        };
        if !words.iter().any(is_number) {
            return Some(None);
        }
        let count = self.names.len();
        if words.len() < count + 1 {
            return None;
        }
        if self.device_last {
            let device = words.pop()?;
            return (words.len() == count && words.iter().all(is_number)).then_some(Some((device, words)));
        }
        let device = words.remove(0).trim_end_matches(':');
        // People who paste a log write remarks after the rows.
        let rest = words.split_off(count);
        let is_whole = words.iter().all(is_number) && !rest.iter().any(is_number);
        is_whole.then_some(Some((device, words)))
    }
}

/// Returns the names in a line that continues a wrapped heading.
fn rest_of_header(line: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = line.split_whitespace().collect();
    let is_name = |name: &&str| column(name).is_some() || ["svctm", "%rrqm", "%wrqm"].contains(name);
    (!names.is_empty() && names.iter().all(is_name)).then_some(names)
}

/// The reports of one iostat process.
struct Log<'a> {
    header: Header<'a>,
    /// Number of names in the first line of the heading. Fewer than all if it was wrapped.
    names_in_line: usize,
    /// The positions of the supported columns, and the columns.
    columns: (Vec<usize>, Vec<ReportColumn>),
    reports: Vec<DeviceReport>,
}

impl<'a> Log<'a> {
    /// Returns whether a heading is the one of this log.
    fn has(&self, header: &Header<'a>) -> bool {
        let names = &self.header.names[..self.names_in_line];
        names == header.names && self.header.device_last == header.device_last
    }

    fn is_wrapped(&self) -> bool {
        self.names_in_line < self.header.names.len()
    }

    /// Adds the names in a line after the heading, unless a previous report had them.
    fn extend(&mut self, names: Vec<&'a str>) {
        if !self.is_wrapped() {
            self.header.names.extend(names);
            self.columns = columns(self.header.names.iter().copied());
        }
    }

    /// Adds a line to a wrapped row, and returns whether the row still has too few words.
    fn is_incomplete(&self, row: &mut String, line: &str) -> bool {
        row.push(' ');
        row.push_str(line);
        row.split_whitespace().count() < self.header.names.len() + 1
    }
}

/// The logs of a text while it is read.
#[derive(Default)]
struct Logs<'a> {
    logs: Vec<Log<'a>>,
    /// Time of the next report.
    time: Option<String>,
    /// Whether rows can follow.
    within: bool,
    /// Whether the previous line named columns.
    ends_in_header: bool,
    /// A device whose numbers are on the next line. Version 11 prints it so with `-h`, or if the name is
    /// too long for its column.
    alone: Option<&'a str>,
    /// The start of a row that a mail program wrapped.
    wrapped: String,
    excerpts: usize,
    has_summaries: bool,
}

impl<'a> Logs<'a> {
    /// Reads a line. `None` if it is a truncated row.
    fn read(&mut self, line: &'a str) -> Option<()> {
        let was_header = std::mem::take(&mut self.ends_in_header);
        if let Some(header) = Header::read(line) {
            self.begin(header);
        } else if let (true, Some(names), Some(log)) =
            (was_header, rest_of_header(line), self.logs.last_mut())
        {
            log.extend(names);
        } else if line.trim().is_empty() {
            self.within = false;
        } else if is_excerpt_mark(line) {
            self.excerpts += usize::from(self.within);
        } else if self.within {
            return self.add(line);
        } else if !is_banner(line) {
            self.time = dates::from_numeric(line).filter(|iso| iso.contains('T')).or(self.time.take());
        }
        Some(())
    }

    /// Begins a report, and a log if it has other columns than the last one.
    fn begin(&mut self, header: Header<'a>) {
        if self.logs.last().is_none_or(|log| !log.has(&header)) {
            let columns = columns(header.names.iter().copied());
            room::take(1024 + 512 * header.names.len());
            let names_in_line = header.names.len();
            self.logs.push(Log { header, names_in_line, columns, reports: Vec::new() });
        }
        if let Some(log) = self.logs.last_mut() {
            reports::add_report(&mut log.reports, self.time.take());
        }
        (self.within, self.ends_in_header, self.wrapped) = (true, true, String::new());
    }

    /// Adds a row, which can also be a line after the rows. `None` if it is truncated.
    fn add(&mut self, line: &'a str) -> Option<()> {
        let log = self.logs.last_mut()?;
        if !line.trim().contains(char::is_whitespace) && !log.header.device_last && !log.is_wrapped() {
            self.alone = Some(line.trim().trim_end_matches(':'));
            return Some(());
        }
        let mut whole = self.alone.take().map(|device| format!("{device} {line}"));
        if log.is_wrapped() {
            if log.is_incomplete(&mut self.wrapped, line) {
                return Some(());
            }
            whole = Some(std::mem::take(&mut self.wrapped));
        }
        let row = log.header.row(whole.as_deref().unwrap_or(line));
        // The words after wrapped rows can be as many as the columns.
        let row = if log.is_wrapped() { row.or(Some(None)) } else { row };
        match row? {
            None => self.within = false,
            Some((device, _)) if SUMMARIES.contains(&device) => self.has_summaries = true,
            Some((device, fields)) => {
                // A filter such as `grep sda` removed the headings.
                if log.reports.last().is_some_and(|report| report.begins_with(device)) {
                    reports::add_report(&mut log.reports, None);
                }
                let fields = log.columns.0.iter().map(|at| fields[*at]);
                reports::add_row(&mut log.reports, device, fields);
            }
        }
        Some(())
    }

    /// Returns notes on skipped rows.
    fn notices(&self) -> Vec<Notice> {
        let excerpt = (self.excerpts > 0).then(excerpt_notice);
        let summaries = self.has_summaries.then(|| {
            notice(text!(
                "the rows sum, avg and stddev were skipped: a script computed them from other reports",
                "sum・avg・stddev の行は、別の報告からスクリプトが計算したものなので取り込んでいません"
            ))
        });
        excerpt.into_iter().chain(summaries).collect()
    }
}

fn read_text(input: &Input<'_>) -> ImportedRuns {
    let processes = split::at_commands(input, "iostat");
    if processes.is_empty() { read_process(input) } else { reports::each(&processes, read_process) }
}

/// Reads the output of one process, or of several without their commands.
fn read_process(input: &Input<'_>) -> ImportedRuns {
    let banner = input.lines().find(|(_, line)| is_banner(line));
    // iostat and sar begin with the same line.
    if input.lines().any(|(_, line)| sar::is_header(line)) {
        return sar::read(input, banner.and_then(|(_, banner)| date_of_banner(banner)));
    }
    let mut logs = Logs::default();
    for (number, line) in input.lines() {
        if logs.read(line).is_none() {
            return Err(parts::miscounted(input, number).into());
        }
    }
    if logs.ends_in_header
        && let Some(log) = logs.logs.last_mut()
    {
        log.reports.pop(); // Cut off: whether a device was idle is unknown.
    }
    if logs.logs.is_empty() {
        return no_columns();
    }
    let mut origin = input.origin("iostat", "iostat-text");
    origin.measured_at = banner.and_then(|(_, banner)| date_of_banner(banner));
    let first = if leaves_boot_out(input) { First::Interval } else { First::SinceBoot };
    let rules = ReportRules { first, may_omit_idle: true };
    let notices = logs.notices();
    let runs = logs.logs.into_iter().map(|log| {
        let left_out = unread_rates(&log.header.names);
        let mut run = run(origin.clone(), &log.columns.1, log.reports, rules);
        run.notices.extend(left_out);
        run
    });
    let mut runs: Vec<ImportedRun> = runs.collect();
    if let Some(run) = runs.first_mut() {
        run.notices.extend(notices);
    }
    Ok(runs)
}

fn no_columns() -> ImportedRuns {
    not_mine(text!(
        "no line contains iostat's columns `r/s` and `w/s`, or `tps`",
        "iostat の列 `r/s` と `w/s`、または `tps` の行がありません"
    ))
}

fn excerpt_notice() -> Notice {
    notice(text!(
        "a line such as `...` marks skipped rows: devices or reports are missing in this file",
        "`...` のような行は省略の印です。このファイルには欠けているデバイスや区間があります"
    ))
}

/// Returns a notice on rates in columns with unknown names.
fn unread_rates(names: &[&str]) -> Option<Notice> {
    let unread: Vec<&str> =
        names.iter().copied().filter(|name| name.ends_with("/s") && column(name).is_none()).collect();
    let named = unread.join(", ");
    (!unread.is_empty()).then(|| {
        notice(text!(
            "skipped in this file: columns that kurabe does not know: {named}",
            "kurabe が知らない列のため取り込まなかったもの: {named}"
        ))
    })
}

/// Returns the date after the host name.
fn date_of_banner(banner: &str) -> Option<String> {
    let (_, rest) = banner.split_once(')')?;
    dates::from_numeric(rest.split(['_', '(']).next()?)
}

/// Returns whether iostat was started with `-y`, which omits the report since boot. Its command line
/// shows it, or an additional empty line after the one about the system, in place of the report.
fn leaves_boot_out(input: &Input<'_>) -> bool {
    let mut after_banner = None;
    for (_, line) in input.lines() {
        if reports::omits_boot(line) {
            return true;
        }
        match &mut after_banner {
            _ if is_banner(line) => after_banner = Some(0),
            Some(empty) if line.trim().is_empty() => *empty += 1,
            Some(empty) => return *empty > 1,
            None if Header::read(line).is_some() => return false,
            None => {}
        }
    }
    false
}

fn read_json(input: &Input<'_>) -> ImportedRuns {
    let text = parts::text_with(input, KEYS)?;
    let mut runs = Vec::new();
    for raw in raw_documents(text) {
        let run = raw.and_then(|(line, raw)| json_run(input, raw).map_err(|cause| JsonError { line, cause }));
        runs.extend(run.map_err(|error| parts::damaged_json(input, "iostat", error))?);
        if room::is_spent() {
            break;
        }
    }
    Ok(runs)
}

/// Returns the run of a document, whose reports are parsed one after the other.
fn json_run(input: &Input<'_>, raw: &str) -> Result<Option<ImportedRun>, String> {
    let (_, [Some(sysstat)]) = parted(raw, ["sysstat"])? else { return Ok(None) };
    let hosts = if sysstat.starts_with('{') { parted(sysstat, ["hosts"])?.1[0] } else { None };
    let host = hosts.and_then(|hosts| items(hosts).next()).filter(|host| host.starts_with('{'));
    let Some(host) = host else { return Ok(None) };
    let (host, [statistics]) = parted(host, ["statistics"])?;
    let statistics = statistics.unwrap_or("");
    let mut names = Vec::new();
    let mut reports: Vec<DeviceReport> = Vec::new();
    for report in items(statistics) {
        let report = tree(report)?;
        let disks = report.items_of("disk");
        if names.is_empty() {
            let first = disks.first().map_or(&[][..], Json::members);
            names = columns(first.iter().map(|(name, _)| name.as_str())).1;
        }
        let time = report.text_of("timestamp").and_then(dates::from_numeric);
        reports::add_report(&mut reports, time.filter(|iso| iso.contains('T')));
        for disk in disks {
            let field = |name: &str| disk.text_of(name).unwrap_or("");
            let fields = names.iter().map(|column| field(&column.name));
            reports::add_row(&mut reports, field("disk_device").trim(), fields);
        }
        if room::is_spent() {
            break;
        }
    }
    let mut origin = input.origin("iostat", "iostat-json");
    origin.measured_at = host.text_of("date").and_then(dates::from_numeric);
    let rules = ReportRules { first: First::SinceBoot, may_omit_idle: true };
    Ok(Some(run(origin, &names, reports, rules)))
}

pub(super) fn run(
    origin: Origin,
    columns: &[ReportColumn],
    reports: Vec<DeviceReport>,
    rules: ReportRules,
) -> ImportedRun {
    let is_rounded = |word: &str| word.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%');
    let tool = origin.tool.clone();
    let rounded = reports.iter().flat_map(|report| &report.rows).any(|row| row.fields().any(is_rounded));
    let mut run = reports::run(origin, columns, reports, rules);
    if rounded {
        run.notices.push(notice(text!(
            "iostat printed human-readable output (`-h`, `--human`): its rates are rounded to one decimal place",
            "人が読むための出力(`-h`、`--human`)です。速度は小数第 1 位に丸められています"
        )));
    }
    let cells = run.cells.iter_mut().filter_map(|cell| cell.imported.as_mut());
    for figure in cells.flat_map(|cell| &mut cell.figures) {
        units::mark_binary_unit(figure, &tool);
    }
    run
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;
    use kurabe_core::imported::{PrintedStatistic as Statistic, SeriesAxis};

    #[test]
    fn the_report_since_boot_is_left_out() {
        let run = &imported("lab/iostat-x.txt")[0];
        assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21"));
        assert!(run.notices[0].text.en.contains("since boot"));
        let labels: Vec<_> = run.cells.iter().map(|cell| (cell.label.as_str(), cell.direction)).collect();
        let (read, write) = (Some(Direction::Read), Some(Direction::Write));
        let expected =
            [("vda", read), ("vda", write), ("vda discard", None), ("vda flush", None), ("vda all", None)];
        assert_eq!(labels, expected);
        let write = find(run, "vda write");
        let rate = |statistic| figure(write, Quantity::Rate, statistic, Some("wkB/s"));
        assert_figure(rate(Statistic::Highest), "65548.00", "kB/s", 65_548.0 * 1024.0);
        assert_eq!(rate(Statistic::Highest).correction.as_ref().map(|c| c.factor), Some(1.024));
        assert_figure(rate(Statistic::Lowest), "0.00", "kB/s", 0.0);
        let waited = figure(write, Quantity::Latency, Statistic::Highest, Some("w_await"));
        assert_figure(waited, "15.40", "ms", 15.4e6);
        let series = of(write).series.iter().find(|series| series.name == "w/s").unwrap();
        assert_eq!(
            (series.axis, series.points.as_slice()),
            (SeriesAxis::Number, &[(0.0, 0.0), (1.0, 20.0)][..])
        );
        let all = find(run, "vda all");
        assert_figure(
            figure(all, Quantity::QueueLength, Statistic::Highest, Some("aqu-sz")),
            "0.31",
            "",
            0.31,
        );
        assert_figure(figure(all, Quantity::Share, Statistic::Highest, Some("%util")), "2.00", "%", 0.02);
    }

    #[test]
    fn printed_times_are_the_axis() {
        for name in ["lab/iostat-xt.txt", "lab/iostat-t.json"] {
            let run = &imported(name)[0];
            assert!(run.origin.measured_at.as_deref().unwrap().starts_with("2026-11-21T13:23:4"), "{name}");
        }
        let run = &imported("lab/iostat-xt.txt")[0];
        let series = &of(find(run, "vda read")).series[0];
        assert_eq!((series.axis, series.points.len()), (SeriesAxis::Time, 2));
        assert_eq!((series.points[0], series.points[1].0), ((0.0, 356.44 * 1024.0), 1e9));
    }

    #[test]
    fn json_short_plain_and_old_forms() {
        let json = &imported("lab/iostat.json")[0];
        let waited = figure(find(json, "vda write"), Quantity::Latency, Statistic::Highest, Some("w_await"));
        assert_figure(waited, "0.35", "ms", 350_000.0);
        // Of a report since boot and one of an interval, only the interval is the figure.
        let short = &imported("lab/iostat-xs.txt")[0];
        assert_figure(&of(find(short, "vda all")).figures[0], "0.00", "kB/s", 0.0);
        let two = &imported("lab/iostat-xm-two.txt")[0];
        assert_figure(&of(find(two, "vda read")).figures[0], "0.00", "MB/s", 0.0);
        let plain = &imported("lab/iostat-plain.txt")[0];
        assert_eq!(of(find(plain, "vda read")).figures[0].of, Some("kB_read/s".to_owned().into()));
        let old = &imported("lab/iostat-10-single.txt")[0];
        assert!(old.notices[0].text.en.contains("single report"));
        let all = find(old, "sda all");
        assert_figure(
            figure(all, Quantity::Bytes, Statistic::Mean, Some("avgrq-sz")),
            "27.56",
            "sectors",
            27.56 * 512.0,
        );
        assert_figure(figure(all, Quantity::Latency, Statistic::Mean, Some("await")), "2.75", "ms", 2.75e6);
    }

    #[test]
    fn output_for_people_keeps_its_units() {
        let text = "Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n     tps      kB/s    rqm/s   await  areq-sz  \
                    aqu-sz  %util Device\n  309.04     15.3M    37.13    0.34    50.7k    0.11   2.2% vda\n";
        let run = &super::super::import("a", text.as_bytes()).unwrap()[0];
        let all = find(run, "vda all");
        assert_figure(&of(all).figures[0], "15.3", "MB/s", 15.3 * 1_048_576.0);
        assert_figure(figure(all, Quantity::Share, Statistic::Mean, Some("%util")), "2.2", "%", 0.022);
        assert_figure(figure(all, Quantity::Iops, Statistic::Mean, Some("tps")), "309.04", "1/s", 309.04);
        assert!(run.notices.iter().any(|notice| notice.text.en.contains("rounded")));
        let wrapped = text.replace("%util Device\n", "%util\n").replace("     tps", "Device:     tps");
        let wrapped = wrapped
            .replace("  309.04", "vda\n        309.04")
            .replace(" vda\n\n", "\n")
            .replace("2.2% vda", "2.2%");
        let run_of_11 = &super::super::import("a", wrapped.as_bytes()).unwrap()[0];
        assert_eq!(of(find(run_of_11, "vda all")).figures, of(all).figures);
        let human = "Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n\
                     Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
                     sda               8,59       222,1k         1,5M       1,5G     400,9M\n";
        let run = &super::super::import("a", human.as_bytes()).unwrap()[0];
        assert_figure(&of(find(run, "sda read")).figures[0], "222,1", "kB/s", 222.1 * 1024.0);
        assert_figure(&of(find(run, "sda write")).figures[0], "1,5", "MB/s", 1.5 * 1_048_576.0);
        assert_figure(&of(find(run, "sda all")).figures[0], "8,59", "1/s", 8.59);
    }

    /// Returns three reports of one disk, after their lines about the system.
    fn log(banner: &str, rates: [&str; 3]) -> String {
        let report = |rate: &&str| format!("Device r/s w/s rkB/s wkB/s\nsda 1.00 2.00 {rate} 4.00\n\n");
        format!("{banner}\n\n{}", rates.iter().map(report).collect::<String>())
    }

    #[test]
    fn two_logs_are_two_runs_and_each_leaves_its_time_since_boot_out() {
        let banner = "Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)";
        let text = log(banner, ["900.00", "10.00", "20.00"]) + &log(banner, ["901.00", "30.00", "40.00"]);
        let rates = |text: &str| -> Vec<Vec<f64>> {
            let runs = super::super::import("a", text.as_bytes()).unwrap();
            let points =
                |run| of(find(run, "sda read")).series[0].points.iter().map(|(_, rate)| rate / 1024.0);
            runs.iter().map(|run| points(run).collect()).collect()
        };
        assert_eq!(rates(&text), [[10.0, 20.0], [30.0, 40.0]]);
        let with_y = log(&format!("{banner}\n"), ["900.00", "10.00", "20.00"]);
        assert_eq!(
            rates(&with_y),
            [[900.0, 10.0, 20.0]],
            "an empty line more: the report since boot was left out"
        );
        let command = format!("$ iostat -xky 1 3\n{}", log(banner, ["900.00", "10.00", "20.00"]));
        assert_eq!(rates(&command), [[900.0, 10.0, 20.0]]);
        let other = text.replacen(
            "r/s w/s rkB/s wkB/s\nsda 1.00 2.00 901",
            "r/s w/s rMB/s wMB/s\nsda 1.00 2.00 901",
            1,
        );
        assert_eq!(
            super::super::import("a", other.as_bytes()).unwrap().len(),
            3,
            "other columns, another iostat"
        );
    }

    #[test]
    fn a_quoted_part_with_remarks_is_read() {
        let text = "> iostat 30 says that the disk is busy:\n\
                    > Device:        tps   Blk_read/s   Blk_wrtn/s   Blk_read   Blk_wrtn\n\
                    > dev8-0      406.46      6285.98      2083.54     108056      35816  (root/swap)\n\
                    > dev8-1      103.49      1149.51       916.35      19760      15752\n\
                    > and it stays so.\n";
        let run = &super::super::import("a", text.as_bytes()).unwrap()[0];
        assert_figure(&of(find(run, "dev8-0 read")).figures[0], "6285.98", "Blk/s", 6285.98 * 512.0);
        assert_figure(&of(find(run, "dev8-1 write")).figures[0], "916.35", "Blk/s", 916.35 * 512.0);
        assert_figure(&of(find(run, "dev8-0 all")).figures[0], "406.46", "1/s", 406.46);
        let cut = text.replace("406.46      6285.98", "6285.98");
        assert!(super::super::import("a", cut.as_bytes()).is_err(), "a row with a number less");
    }

    #[test]
    fn each_document_of_a_file_is_a_run() {
        let one = String::from_utf8(fixture("lab/iostat.json")).unwrap();
        assert_eq!(super::super::import("a", format!("{one}\n{one}").as_bytes()).unwrap().len(), 2);
        let words: Vec<&str> = one.split_whitespace().collect();
        let compact = super::super::import("a", words.concat().as_bytes()).unwrap();
        assert_eq!(compact[0].cells, super::super::import("a", one.as_bytes()).unwrap()[0].cells);
    }
}
