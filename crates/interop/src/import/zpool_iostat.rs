//! OpenZFS's `zpool iostat`: text with `-v`, `-l`, `-q`, `-p`, `-T`, and scripted (`-H`).
//!
//! The model: two header lines name the columns, the upper one the groups. A row is a pool or, if
//! indented, a part of one. `K`, `M`, … are powers of 1024. Latencies include their unit, or are in ns
//! with `-p`. `-` is an absent value. Scripted output has no header and no indentation: its columns are
//! identified only by their number, and parts of pools cannot be distinguished from pools. Latencies
//! (`-l`) are averages of the interval. Queues (`-q`) are counts at its end. Reports, and the data that
//! they skip: see `reports`. Source: zpool-iostat(8) and zpool_main.c of openzfs/zfs.

use super::kit::*;
use super::reports::{self, DeviceReport, First, ReportColumn, ReportRules};
use super::split;

const READ: Option<Direction> = Some(Direction::Read);
const WRITE: Option<Direction> = Some(Direction::Write);
const OPERATIONS: ToolUnit = units::unit_of_powers("1/s", Quantity::Iops);
const BANDWIDTH: ToolUnit = units::unit_of_powers("B/s", Quantity::Rate);
/// Maximum number of levels in a pool: mirror, replacing, spare, disk.
const LEVELS_MOST: usize = 8;
const CAPACITY: ToolUnit = units::unit_of_powers("B", Quantity::Bytes);
const QUEUED: ToolUnit = units::unit_of_powers("", Quantity::QueueLength);

/// Groups of the upper header line: name, lower names with their directions, unit.
type HeaderGroup = (&'static str, &'static [(&'static str, Option<Direction>)], ToolUnit);

const PAIR: &[(&str, Option<Direction>)] = &[("read", READ), ("write", WRITE)];
const GROUPS: [HeaderGroup; 17] = [
    ("capacity", &[("alloc", None), ("free", None)], CAPACITY),
    ("operations", PAIR, OPERATIONS),
    ("bandwidth", PAIR, BANDWIDTH),
    ("total_wait", PAIR, units::TIMES),
    ("disk_wait", PAIR, units::TIMES),
    ("syncq_wait", PAIR, units::TIMES),
    ("asyncq_wait", PAIR, units::TIMES),
    ("scrub", &[("wait", None)], units::TIMES),
    ("trim", &[("wait", None)], units::TIMES),
    ("rebuild", &[("wait", None)], units::TIMES),
    ("syncq_read", &[("pend", READ), ("activ", READ)], QUEUED),
    ("syncq_write", &[("pend", WRITE), ("activ", WRITE)], QUEUED),
    ("asyncq_read", &[("pend", READ), ("activ", READ)], QUEUED),
    ("asyncq_write", &[("pend", WRITE), ("activ", WRITE)], QUEUED),
    ("scrubq_read", &[("pend", None), ("activ", None)], QUEUED),
    ("trimq_write", &[("pend", None), ("activ", None)], QUEUED),
    ("rebuildq_write", &[("pend", None), ("activ", None)], QUEUED),
];

const RULES: ReportRules = ReportRules { first: First::SinceBoot, may_omit_idle: false };

/// Returns the columns of groups in their order. `None` if a group is unknown.
fn columns(groups: &[&str]) -> Option<Vec<ReportColumn>> {
    let mut columns = Vec::new();
    for name in groups {
        let (group, lower, unit) = GROUPS.iter().find(|(group, ..)| group == name)?;
        columns.extend(lower.iter().map(|(lower, direction)| ReportColumn {
            name: format!("{group} {lower}"),
            unit: *unit,
            direction: *direction,
            part: "",
        }));
    }
    Some(columns)
}

pub(super) const TEXT: Importer = Importer::of(
    ("zpool iostat text", "zpool iostat", &["zpool iostat"]),
    Recognizer::Lines(line_mark),
    read_text,
);
pub(super) const SCRIPTED: Importer =
    Importer::of(("zpool iostat -H", "zpool iostat", &[]), Recognizer::File, read_scripted);

fn line_mark(line: &str) -> LineMark {
    if is_top(line) { LineMark::Belongs } else { LineMark::None }
}

fn is_top(line: &str) -> bool {
    top(line).is_some()
}

/// Returns the groups of the upper header line. A shell prompt and command can precede them on the same
/// line.
fn top(line: &str) -> Option<&str> {
    let groups = &line[line.find("capacity")?..];
    groups.split_whitespace().take(3).eq(["capacity", "operations", "bandwidth"]).then_some(groups)
}

/// Reads text with a header.
fn read_text(input: &Input<'_>) -> ImportedRuns {
    let processes = split::at_commands(input, "zpool iostat");
    if processes.is_empty() { read_process(input) } else { reports::each(&processes, read_process) }
}

fn read_process(input: &Input<'_>) -> ImportedRuns {
    let Some((number, top)) = input.lines().find_map(|(number, line)| Some((number, top(line)?))) else {
        return without_line("capacity operations bandwidth");
    };
    // Scripts of `-c` add columns after the known ones, without a group.
    let Some(columns) = columns(&top.split_whitespace().collect::<Vec<_>>()) else {
        let what =
            text!("one of these groups of columns is unknown", "この列グループに知らないものがあります");
        return parts::broken_at(input, number, what);
    };
    let mut reports: Vec<DeviceReport> = vec![DeviceReport::default()];
    let mut path: Vec<String> = Vec::new();
    let (mut after_header, mut after_blank) = (false, false);
    let blanks = |line: &str| line.len() - line.trim_start().len();
    // A quoted text can be indented as a whole.
    let mut margin = 0;
    for (number, line) in input.lines() {
        if let Some(time) = stamp(line) {
            reports::add_report(&mut reports, Some(time));
            continue;
        }
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else {
            after_blank = true;
            continue;
        };
        let after_blank = std::mem::take(&mut after_blank);
        if is_top(line) {
            after_header = true;
            continue;
        }
        let fields: Vec<&str> = words.collect();
        let is_lower = matches!(name, "pool" | "vdev") && fields.contains(&"read");
        // A page can have put a fence between the lines of the header.
        after_header |= is_lower;
        if is_lower || name.starts_with("--") || !after_header {
            margin = blanks(line);
            continue;
        }
        let is_value = |field: &&str| *field == "-" || field.starts_with(|c: char| c.is_ascii_digit());
        let is_row = fields.len() >= columns.len() && fields[..columns.len()].iter().all(is_value);
        if !fields.iter().any(is_value) || !is_row && after_blank {
            after_header = false; // Words that follow the table.
            continue;
        }
        if fields.len() < columns.len() {
            return Err(parts::miscounted(input, number).into());
        }
        // Pools have few levels. More of them indicate damage.
        path.truncate((blanks(line).saturating_sub(margin) / 2).min(LEVELS_MOST));
        path.push(name.to_owned());
        for fields in glued(name, &fields, columns.len()) {
            add(&mut reports, &path.join("/"), fields);
        }
    }
    let origin = input.origin("zpool iostat", "zpool-iostat-text");
    let omits_boot = input.lines().any(|(_, line)| reports::omits_boot(line));
    let first = if omits_boot { First::Interval } else { First::SinceBoot };
    Ok(vec![run(origin, &columns, reports, ReportRules { first, ..RULES })])
}

/// Returns the fields of each row in a line. Rows of the same pool can have lost the line ends between them.
fn glued<'f, 'a>(name: &str, fields: &'f [&'a str], count: usize) -> Vec<&'f [&'a str]> {
    let rows = || fields.chunks(count + 1);
    let last = |row: &[&str]| row.len() == count || row.get(count) == Some(&name);
    match (fields.len() + 1).is_multiple_of(count + 1) && rows().all(last) {
        true => rows().map(|row| &row[..count]).collect(),
        false => vec![fields],
    }
}

fn run(
    origin: Origin,
    columns: &[ReportColumn],
    reports: Vec<DeviceReport>,
    rules: ReportRules,
) -> ImportedRun {
    let has_letter = |field: &str| field.ends_with(['K', 'M', 'G', 'T', 'P', 'E']);
    let rounded = reports.iter().flat_map(|report| &report.rows).any(|row| row.fields().any(has_letter));
    let mut run = reports::run(origin, columns, reports, rules);
    if rounded {
        run.notices.push(notice(text!(
            "zpool iostat's K, M and G are powers of 1024, and its figures are rounded to three digits",
            "zpool iostat の K、M、G は 1024 の累乗で、値は 3 桁に丸められています"
        )));
    }
    run
}

/// Adds a row. If the first device of a report occurs again, it begins the next report.
fn add(reports: &mut Vec<DeviceReport>, device: &str, fields: &[&str]) {
    let again = |report: &DeviceReport| report.rows.first().is_some_and(|row| &*row.device == device);
    if reports.last().is_none_or(again) {
        reports::add_report(reports, None);
    }
    reports::add_row(reports, device, fields.iter().copied());
}

/// Parses a line of `-T d` or `-T u`.
fn stamp(line: &str) -> Option<String> {
    let line = line.trim();
    let epoch = line.len() >= 9 && digits(line);
    if epoch { line.parse().ok().and_then(dates::from_epoch) } else { dates::from_ctime(line) }
}

fn read_scripted(input: &Input<'_>) -> ImportedRuns {
    let not_mine = |line: usize| {
        not_mine(text!(
            "line {line} is not a name and six numbers between tabs",
            "{line} 行目がタブ区切りの名前と 6 つの数値ではありません"
        ))
    };
    let mut reports: Vec<DeviceReport> = Vec::new();
    let mut count = None;
    let mut timed = false;
    for (number, line) in input.lines().filter(|(_, line)| !line.trim().is_empty()) {
        if let Some(time) = stamp(line) {
            reports::add_report(&mut reports, Some(time));
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, numbers @ ..] = fields.as_slice() else { return not_mine(number) };
        let fits = |at: usize, field: &str| {
            field == "-" || CAPACITY.value(field).is_some() || at >= 6 && units::TIMES.value(field).is_some()
        };
        let same = *count.get_or_insert(numbers.len()) == numbers.len();
        let fit = numbers.iter().enumerate().all(|(at, field)| fits(at, field));
        if name.trim().is_empty() || numbers.len() < 6 || !same || !fit {
            return not_mine(number);
        }
        timed |= numbers[6..].iter().any(|field| field.ends_with('s'));
        add(&mut reports, name, numbers);
    }
    let Some(count) = count else { return not_mine(1) };
    // `-l` adds 9 columns in OpenZFS 0.7, 10 since 0.8, 11 since 2.1. In 0.7, `-q` also adds 10, but
    // they contain no times.
    let latencies = match count - 6 {
        9 => 9,
        10 if timed => 10,
        11 => 11,
        _ => 0,
    };
    let count = if latencies > 0 { latencies - 1 } else { 3 };
    let groups: Vec<&str> = GROUPS[..count].iter().map(|(name, ..)| *name).collect();
    let origin = input.origin("zpool iostat", "zpool-iostat-scripted");
    Ok(vec![run(origin, &columns(&groups).unwrap_or_default(), reports, RULES)])
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;
    use kurabe_core::imported::{PrintedStatistic as Statistic, SeriesAxis};

    #[test]
    fn verbose_text_with_latencies_and_times() {
        let run = &imported("lab/zpool-iostat-vl.txt")[0];
        assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21T13:23:28Z"));
        let read = find(run, "tank/mirror-0/sda read");
        let rate = |statistic| figure(read, Quantity::Rate, statistic, Some("bandwidth read"));
        assert_figure(rate(Statistic::Highest), "24.5M", "B/s", 24.5 * 1_048_576.0);
        assert_figure(rate(Statistic::Median), "12.2M", "B/s", 12.2 * 1_048_576.0);
        let waited = figure(read, Quantity::Latency, Statistic::Lowest, Some("disk_wait read"));
        assert_figure(waited, "498us", "", 498_000.0);
        let series = &of(read).series[0];
        assert_eq!((series.axis, series.points.len(), series.points[1].0), (SeriesAxis::Time, 2, 5e9));
        assert!(
            !of(read).figures.iter().any(|f| f.of == Some("syncq_wait read".to_owned().into())),
            "`-` is nothing"
        );
        let pool = find(run, "tank all");
        assert_eq!(figure(pool, Quantity::Bytes, Statistic::Median, Some("capacity alloc")).printed, "1.25T");
        assert!(run.notices[0].text.en.contains("since boot"));
    }

    #[test]
    fn plain_exact_and_scripted_reports() {
        let plain = &imported("lab/zpool-iostat.txt")[0];
        let write = find(plain, "rpool write");
        assert_eq!(of(write).series[0].points, [(0.0, 2.5 * 1_048_576.0), (1.0, 0.0)]);
        let exact = &imported("lab/zpool-iostat-p.txt")[0];
        assert_figure(&of(find(exact, "rpool read")).figures[0], "262144", "B/s", 262_144.0);
        assert!(exact.notices[0].text.en.contains("single report"));
        let scripted = &imported("lab/zpool-iostat-Hl.tsv")[0];
        let waited = figure(
            find(scripted, "tank write"),
            Quantity::Latency,
            Statistic::Mean,
            Some("total_wait write"),
        );
        assert_figure(waited, "2ms", "", 2e6);
        assert_eq!(of(find(scripted, "tank write")).figures[0].printed, "48.0M");
        let rebuilt =
            figure(find(scripted, "tank all"), Quantity::Latency, Statistic::Mean, Some("rebuild wait"));
        assert_figure(rebuilt, "7ms", "", 7e6);
    }
}
