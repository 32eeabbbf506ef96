//! Output of bcc's `biosnoop`: a line for each operation of the block devices, with its latency.
//!
//! The model: the heading names the columns. The fields of a row are parsed from its end, because the
//! name of a program can contain spaces: latency in ms, before it the time in the queue with `-Q`,
//! bytes, sector, direction, device. The reads or writes of a device are a cell. Its figures are
//! percentiles by nearest rank, so that each is the latency of a printed operation. Times are
//! completion times in seconds. The file can also be replayed as a trace. Sources: tools/biosnoop.py
//! and its examples in iovisor/bcc.

use super::kit::*;
use super::{parts, room};

pub(super) const IMPORTER: Importer = Importer::of(
    ("biosnoop text", "biosnoop", &["biosnoop", "LAT(ms)"]),
    Recognizer::Lines(|line| if is_header(line) { LineMark::Begins } else { LineMark::None }),
    read,
);

/// The column of the time in the kernel's queue (`-Q`).
const QUEUED: &str = "QUE(ms)";
/// Percentiles of a cell, in addition to median, minimum and maximum.
const PERCENTS: [f64; 3] = [90.0, 99.0, 99.9];

/// Returns whether a line is biosnoop's heading.
pub(crate) fn is_header(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    words.first() == Some(&"TIME(s)") && has("SECTOR") && has("BYTES") && words.last() == Some(&"LAT(ms)")
}

/// A row: completion time, program, device, letter of the direction, sector, bytes, latency.
#[derive(Debug, PartialEq)]
pub(crate) struct SnoopRow<'a> {
    pub(crate) time: &'a str,
    pub(crate) program: &'a str,
    pub(crate) disk: &'a str,
    pub(crate) letter: &'a str,
    pub(crate) sector: &'a str,
    pub(crate) bytes: &'a str,
    pub(crate) latency: &'a str,
    /// Time in the kernel's queue, with `-Q`.
    pub(crate) queue: Option<&'a str>,
}

impl<'a> SnoopRow<'a> {
    /// Reads a row below a heading with this number of columns. `None` if columns are missing.
    pub(crate) fn read(line: &'a str, columns: usize) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [time, program, .., last_words] = words.as_slice() else { return None };
        let (latency, queued) = (*last_words, columns.saturating_sub(8));
        let end = words.len().checked_sub(1 + queued).filter(|end| *end >= 7)?;
        let [_pid, disk, letter, sector, bytes] = words[end - 5..end] else { return None };
        let is_whole =
            [sector, bytes].iter().all(|word| digits(word)) && matches!(letter, "R" | "W" | "D" | "F");
        let queue = words.get(end).filter(|_| queued == 1).copied();
        let are_times = [*time, latency].iter().chain(&queue).all(|word| number(word).is_some());
        let row = Self { time, program, disk, letter, sector, bytes, latency, queue };
        (is_whole && are_times).then_some(row)
    }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let mut columns = 0;
    let mut rows: Vec<SnoopRow<'_>> = Vec::new();
    for (number, line) in input.lines() {
        if is_header(line) {
            columns = line.split_whitespace().count();
            continue;
        }
        let starts_row = line.split_whitespace().next().is_some_and(|word| words::number(word).is_some());
        match SnoopRow::read(line, columns).filter(|_| columns > 0) {
            Some(row) if room::take(256) => rows.push(row),
            None if starts_row && columns > 0 => return Err(parts::miscounted(input, number).into()),
            _ => {}
        }
    }
    if rows.is_empty() {
        return without_line("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)");
    }
    let groups = parts::grouped(rows.iter().map(|row| ((row.disk, row.letter), row)));
    let cells = groups
        .iter()
        .take_while(|_| !room::is_spent())
        .map(|((disk, letter), rows)| disk_cell(disk, letter, rows));
    let cells = cells.collect();
    let notices = summary(&rows).into_iter().collect();
    Ok(vec![ImportedRun {
        origin: input.origin("biosnoop", "biosnoop"),
        cells,
        notices,
        ..ImportedRun::default()
    }])
}

/// Returns median, longest, shortest and percentiles of printed times by nearest rank, so that each is
/// one of them.
fn ranked<'p>(printed: impl Iterator<Item = &'p str>) -> Vec<(Statistic, &'p str)> {
    let mut sorted: Vec<(f64, &str)> =
        printed.filter_map(|words| Some((units::MILLISECONDS.value(words)?, words))).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at_rank = |percent: f64| {
        let rank = (percent / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted.get(rank - 1).map(|(_, printed)| *printed)
    };
    // A percentile needs a minimum number of operations.
    let shown = PERCENTS.iter().filter(|percent| sorted.len() as f64 * (100.0 - **percent) >= 100.0);
    let ranks = [(Statistic::Median, 50.0), (Statistic::Highest, 100.0), (Statistic::Lowest, 0.0)];
    let ranks = ranks.into_iter().chain(shown.map(|percent| (Statistic::Percentile(*percent), *percent)));
    ranks.filter_map(|(statistic, percent)| Some((statistic, at_rank(percent)?))).collect()
}

fn disk_cell(disk: &str, letter: &str, rows: &[&SnoopRow<'_>]) -> Cell {
    let direction = match letter {
        "R" => Some(Direction::Read),
        "W" => Some(Direction::Write),
        _ => None,
    };
    let latencies = ranked(rows.iter().map(|row| row.latency));
    let latencies = latencies
        .into_iter()
        .filter_map(|(statistic, printed)| units::MILLISECONDS.figure(statistic, printed));
    let queued = ranked(rows.iter().filter_map(|row| row.queue));
    let queued = figures_of(
        units::MILLISECONDS,
        QUEUED.to_owned().into(),
        queued.into_iter().map(|(statistic, printed)| (statistic, Some(printed))),
    );
    let figures = latencies.chain(queued);
    let start = rows.first().and_then(|row| number(row.time)).unwrap_or(0.0);
    let points = rows.iter().filter_map(|row| {
        let at = ((number(row.time)? - start) * 1e9).max(0.0);
        Some((at, units::MILLISECONDS.value(row.latency)?)).filter(|_| at.is_finite())
    });
    let imported = ImportedCell {
        figures: figures.collect(),
        series: units::series(Quantity::Latency, "LAT", "ms", SeriesAxis::Time, points.collect())
            .into_iter()
            .collect(),
        ..ImportedCell::default()
    };
    let label = match letter {
        "D" => format!("{disk} discard"),
        "F" => format!("{disk} flush"),
        _ => disk.to_owned(),
    };
    cell(label, direction, imported)
}

/// Returns a note with the summary of all operations.
fn summary(rows: &[SnoopRow<'_>]) -> Option<Notice> {
    let value = |row: &SnoopRow<'_>| number(row.latency);
    let total: f64 = rows.iter().filter_map(value).sum();
    let longest = rows.iter().max_by(|a, b| value(a).unwrap_or(0.0).total_cmp(&value(b).unwrap_or(0.0)))?;
    let (first, last) = (number(rows.first()?.time)?, number(rows.last()?.time)?);
    let (count, mean, span) = (rows.len(), total / rows.len() as f64, (last - first).max(0.0));
    let SnoopRow { program, latency, .. } = longest;
    Some(notice(text!(
        "{count} operations in {span:.2} s; their mean latency, computed from the lines, is {mean:.3} ms, \
         and the longest took {latency} ms ({program})",
        "{span:.2} 秒間に {count} 件。各行から計算した平均は {mean:.3} ms、最長は {latency} ms({program})です"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_from_its_end() {
        let row =
            SnoopRow::read("0.000771    my prog  22177  nvme1n1 W 41963894   3072      0.11    0.47", 9)
                .unwrap();
        assert_eq!((row.disk, row.sector, row.bytes, row.latency), ("nvme1n1", "41963894", "3072", "0.47"));
        assert_eq!(row.queue, Some("0.11"));
        let junk = "0.000000    ^A              0       ^A         R 38654705664 1718091776138654.71";
        assert_eq!(SnoopRow::read(junk, 8), None);
        assert_eq!(SnoopRow::read("", 8), None);
    }
}
