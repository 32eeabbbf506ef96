//! sysbench's `fileio` of 1.0.
//!
//! The model: the options in sentences, then `reads/s`, `writes/s` and `fsyncs/s`, the rates in MiB/s, and the latencies of all
//! operations, fsync included, in ms. Reads and writes of a mixed test are its two halves. sysbench's `sb_fileio.c`.

use super::consumer::key_value;
use super::lab::{self, Unit};
use super::parts;
use super::split::{Claim, Mark};
use super::{ImportedRun, Importer, Input, Outcome};
use kurabe_core::imported::{ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic, Quantity};
use kurabe_core::quantity::{format_bytes, parse_bytes};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;

pub(super) const IMPORTER: Importer = Importer {
    what: "sysbench fileio",
    read,
    claim: Claim::Lines(line_mark),
    names: &["sysbench", "fsyncs/s"],
};

const READS: Unit = lab::unit("reads/s", Quantity::Iops, 1.0);
const WRITES: Unit = lab::unit("writes/s", Quantity::Iops, 1.0);
const SYNCS: Unit = lab::unit("fsyncs/s", Quantity::Iops, 1.0);

fn line_mark(line: &str) -> Mark {
    let line = line.trim();
    match () {
        () if line.starts_with("sysbench 1.") => Mark::Begins,
        () if ["reads/s:", "writes/s:", "fsyncs/s:", "read, MiB/s:", "written, MiB/s:"]
            .iter()
            .any(|key| line.starts_with(key)) =>
        {
            Mark::Belongs
        }
        () => Mark::None,
    }
}

fn read(input: &Input<'_>) -> Outcome {
    let value = |name: &str| {
        let mut pairs = input.lines().filter_map(|(_, line)| key_value(line));
        pairs.find_map(|(key, value)| (key == name).then_some(value))
    };
    if value("reads/s").is_none() && value("writes/s").is_none() {
        return Outcome::NotMine(text!(
            "no line such as `reads/s: …` of sysbench 1.0",
            "sysbench 1.0 の `reads/s: …` のような行がありません"
        ));
    }
    let test = input.lines().find_map(|(_, line)| line.trim().strip_prefix("Doing ")?.strip_suffix(" test"));
    let block = input.lines().find_map(|(_, line)| line.trim().strip_prefix("Block size "));
    let test = FileTest {
        name: test.unwrap_or_default(),
        block_bytes: block.and_then(|words| parse_bytes(words.trim()).ok()),
        threads: value("Number of threads").and_then(|words| words.parse().ok()),
        ratio: value("Read/Write ratio for combined random IO test").and_then(parts::number),
    };
    let figure = |unit: Unit, key: &str, statistic: Statistic| unit.figure(statistic, value(key)?);
    let rate_first = |rate: &str, unit: Unit, key: &str| -> Vec<PrintedFigure> {
        let figures = [figure(lab::MIB_PER_S, rate, Statistic::Mean), figure(unit, key, Statistic::Mean)];
        figures.into_iter().flatten().filter(|figure| figure.value > 0.0).collect()
    };
    let latencies = [
        ("avg", Statistic::Mean),
        ("min", Statistic::Lowest),
        ("max", Statistic::Highest),
        ("95th percentile", Statistic::Percentile(95.0)),
    ];
    let latencies =
        latencies.iter().filter_map(|(key, statistic)| figure(lab::MILLISECONDS, key, *statistic));
    let time = value("total time").and_then(|words| words.strip_suffix('s'));
    let time = time.and_then(|words| lab::RUN_SECONDS.figure(Statistic::Sum, words));
    let syncs = figure(SYNCS, "fsyncs/s", Statistic::Mean).filter(|figure| figure.value > 0.0);
    let cells = [
        test.cell(Some(Direction::Read), "", rate_first("read, MiB/s", READS, "reads/s")),
        test.cell(Some(Direction::Write), "", rate_first("written, MiB/s", WRITES, "writes/s")),
        test.cell(None, " all with fsync", latencies.chain(time).collect()),
        test.cell(None, " fsync", syncs.into_iter().collect()),
    ];
    let cells: Vec<Cell> = cells.into_iter().flatten().collect();
    if cells.is_empty() {
        return lab::nothing_measured(input, "sysbench");
    }
    let version =
        input.lines().find_map(|(_, line)| line.trim().strip_prefix("sysbench ")?.split(' ').next());
    let origin =
        Origin { version: version.map(str::to_owned), ..input.origin("sysbench", "sysbench-fileio") };
    Outcome::Runs(vec![ImportedRun { origin, cells: parts::numbered(cells), ..ImportedRun::default() }])
}

/// What the sentences tell of a test.
struct FileTest<'a> {
    name: &'a str,
    block_bytes: Option<u64>,
    threads: Option<u32>,
    /// Reads for each write of a mixed test.
    ratio: Option<f64>,
}

impl FileTest<'_> {
    fn cell(&self, direction: Option<Direction>, what: &str, figures: Vec<PrintedFigure>) -> Option<Cell> {
        let sequential = match () {
            () if self.name.starts_with("sequential") => Some(true),
            () if self.name.starts_with("random") => Some(false),
            () => None,
        };
        let word = match sequential {
            Some(true) => "SEQ",
            Some(false) => "RND",
            None => "fileio",
        };
        let block = self.block_bytes.map(|bytes| format!(" {}", format_bytes(bytes))).unwrap_or_default();
        let is_mix = self.name.contains("r/w");
        let imported = ImportedCell {
            procedure: (!self.name.is_empty()).then(|| self.name.to_owned()),
            runs: Some(1),
            block_bytes: self.block_bytes,
            threads: self.threads,
            sequential,
            read_percent: self.ratio.filter(|_| is_mix).map(|ratio| 100.0 * ratio / (1.0 + ratio)),
            figures,
            ..ImportedCell::default()
        };
        (!imported.figures.is_empty())
            .then(|| parts::cell(format!("{word}{block}{what}"), direction, imported))
    }
}

#[cfg(test)]
mod tests {
    use super::super::lab::test::*;
    use super::*;

    #[test]
    fn a_mixed_test_has_two_halves() {
        let run = &imported("lab/sysbench-rndrw.txt")[0];
        assert_eq!(run.origin.tool_name(), "sysbench 1.0.20");
        let read = find(run, "RND 16 KiB read");
        assert_figure(&of(read).figures[0], "7.31", "MiB/s", 7.31 * 1_048_576.0);
        assert_figure(figure(read, Quantity::Iops, Statistic::Mean, None), "467.84", "reads/s", 467.84);
        assert_eq!((of(read).read_percent, of(read).threads), (Some(60.0), Some(2)));
        assert_figure(&of(find(run, "RND 16 KiB write")).figures[0], "4.87", "MiB/s", 4.87 * 1_048_576.0);
        let all = find(run, "RND 16 KiB all with fsync");
        assert_figure(&of(all).figures[0], "1.15", "ms", 1.15e6);
        assert_figure(
            figure(all, Quantity::Latency, Statistic::Percentile(95.0), None),
            "4.33",
            "ms",
            4.33e6,
        );
        assert_figure(figure(all, Quantity::Duration, Statistic::Sum, None), "10.0214", "s", 10.0214e9);
        assert_survives_damage("lab/sysbench-rndrw.txt");
    }
}
