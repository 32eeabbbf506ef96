//! `rados bench` of Ceph.
//!
//! The model: a line for each second, then a summary in sentences, which begins with the time. Its MB are
//! 2^20 bytes (`obj_bencher.cc`), its latencies are in seconds. The rate of a test is the mean over its
//! time; highest and lowest are those of single seconds. The number of operations in flight is in the line
//! `Maintaining 16 concurrent writes`, or in the option `-t` of the command. Only writes have a deviation.
//! Older versions print neither operations per second nor the unit of the latencies. Source: obj_bencher.cc,
//! and published results of Ceph 0.80 to 17.

use super::kit::*;
use super::units::{RUN_SECONDS, SECONDS};
use kurabe_core::imported::PrintedStatistic::{Highest, Lowest, Mean, StandardDeviation, Sum};

/// With `--show-time`, a time precedes this line, but not those below it.
const TIME: &str = "{}Total time run:{}";
const MADE: [(&str, Direction); 2] =
    [("Total writes made:{}", Direction::Write), ("Total reads made:{}", Direction::Read)];
const RATE: &str = "Bandwidth (MB/sec):{}";
const CONCURRENT: &str = "{}Maintaining {} concurrent {}";

pub(super) const IMPORTER: Importer = Importer::of(
    ("rados bench", "rados bench", &["rados bench", "rados"]),
    Recognizer::Shapes(LineShapes {
        begins: &[CONCURRENT],
        belongs: &[TIME, MADE[0].0, MADE[1].0, RATE, "Max latency{}:{}", "Min latency{}:{}"],
    }),
    read,
);

const MEBIBYTES_AS_MB: ToolUnit = units::unit("MB/sec", Quantity::Rate, 1_048_576.0);
const OPERATIONS: ToolUnit = units::unit("1/s", Quantity::Iops, 1.0);
/// Figures of the summary with their names, of which versions have different ones.
const FIGURES: [(&str, ToolUnit, Statistic); 15] = [
    ("Bandwidth (MB/sec)", MEBIBYTES_AS_MB, Mean),
    ("Average IOPS", OPERATIONS, Mean),
    ("Average Latency(s)", SECONDS, Mean),
    ("Average Latency", SECONDS, Mean),
    ("Min latency(s)", SECONDS, Lowest),
    ("Min latency", SECONDS, Lowest),
    ("Max latency(s)", SECONDS, Highest),
    ("Max latency", SECONDS, Highest),
    ("Stddev Latency(s)", SECONDS, StandardDeviation),
    ("Stddev Latency", SECONDS, StandardDeviation),
    ("Max bandwidth (MB/sec)", MEBIBYTES_AS_MB, Highest),
    ("Min bandwidth (MB/sec)", MEBIBYTES_AS_MB, Lowest),
    ("Stddev Bandwidth", MEBIBYTES_AS_MB, StandardDeviation),
    ("Max IOPS", OPERATIONS, Highest),
    ("Min IOPS", OPERATIONS, Lowest),
];

/// A test: its direction, its order of objects, and the cell.
#[derive(Default)]
struct RadosTest {
    direction: Option<Direction>,
    cell: ImportedCell,
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let mut tests: Vec<RadosTest> = Vec::new();
    // Facts about the next test, from the lines before its summary.
    let mut next = ImportedCell::default();
    for (_, line) in input.lines() {
        if let Some([_, count, _]) = holes(CONCURRENT, line) {
            next.iodepth = count.parse().ok();
        } else if let Some((depth, sequential)) = command(line) {
            next.iodepth = depth.or(next.iodepth);
            next.sequential = sequential.or(next.sequential);
        } else if let Some([_, seconds]) = holes(TIME, line) {
            let cell = ImportedCell {
                figures: RUN_SECONDS.figure_of(FigureOf::RunTime, Sum, value(seconds)).into_iter().collect(),
                ..std::mem::take(&mut next)
            };
            tests.push(RadosTest { cell, ..RadosTest::default() });
        } else if let Some(test) = tests.last_mut() {
            test.read(line);
        }
    }
    let cells: Vec<Cell> = tests.into_iter().filter_map(RadosTest::cell).collect();
    if cells.is_empty() {
        return without_line("Bandwidth (MB/sec):     46.5625");
    }
    let notices = vec![notice(text!(
        "rados bench measures a Ceph pool through the network; its MB are 2^20 bytes",
        "rados bench はネットワーク経由で Ceph のプールを測ります。MB は 2^20 バイトです"
    ))];
    Ok(vec![ImportedRun {
        origin: input.origin("rados bench", "rados-bench"),
        cells,
        notices,
        ..ImportedRun::default()
    }])
}

/// Returns the number before a remark.
fn value(words: &str) -> &str {
    words.split_whitespace().next().unwrap_or("")
}

/// Parses `rados bench -p rbd 10 rand -t 32`: the number of operations in flight, and whether objects are
/// read in their order.
fn command(line: &str) -> Option<(Option<u32>, Option<bool>)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "rados" || word.ends_with("/rados"))?;
    let words = words[at..].contains(&"bench").then(|| &words[at..])?;
    let depth = words.iter().skip_while(|word| **word != "-t").nth(1).and_then(|word| word.parse().ok());
    let order = words.iter().find_map(|word| match *word {
        "seq" => Some(true),
        "rand" => Some(false),
        _ => None,
    });
    Some((depth, order))
}

impl RadosTest {
    fn read(&mut self, line: &str) {
        if let Some((_, direction)) = MADE.iter().find(|(shape, _)| fits(shape, line)) {
            self.direction = Some(*direction);
        }
        let Some((name, words)) = key_value(line) else { return };
        if matches!(name, "Write size" | "Read size") {
            self.cell.block_bytes = value(words).parse().ok().filter(|bytes| *bytes > 0);
        }
        let own = FIGURES.iter().find(|(own, ..)| *own == name);
        let figure = own.and_then(|(_, unit, statistic)| unit.figure(*statistic, value(words)));
        let is_new = |figure: &PrintedFigure| {
            !self.cell.figures.iter().any(|own| {
                (own.quantity, own.statistic) == (figure.quantity, figure.statistic) && own.of.is_none()
            })
        };
        // Some versions print a minimum of operations below zero.
        let is_possible = |figure: &PrintedFigure| figure.quantity.is_possible(figure.value);
        if let Some(figure) = figure.filter(is_possible).filter(is_new) {
            self.cell.figures.push(figure);
        }
    }

    /// Returns the cell, whose rate is the first figure.
    fn cell(mut self) -> Option<Cell> {
        let of = |figure: &PrintedFigure| {
            FIGURES
                .iter()
                .position(|(_, unit, statistic)| {
                    (unit.quantity, *statistic) == (figure.quantity, figure.statistic)
                })
                .unwrap_or(FIGURES.len())
        };
        self.cell.figures.sort_by_key(of);
        self.cell.figures.iter_mut().for_each(|figure| units::mark_binary_unit(figure, "rados bench"));
        self.cell.figures.first().filter(|figure| figure.quantity == Quantity::Rate)?;
        let ImportedCell { sequential, block_bytes, iodepth, .. } = self.cell;
        let label = parts::shape(sequential, "rados", block_bytes, iodepth, None);
        Some(cell(label, self.direction, self.cell))
    }
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn each_test_is_a_cell() {
        let text = "$ rados bench -p testbench 10 write --no-cleanup\nhints = 1\n\
            Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds\n \
            sec Cur ops started finished avg MB/s cur MB/s last lat(s) avg lat(s)\n 1 16 18 2 7.99976 8 0.7 0.6\n\
            Total time run: 10.6523\nTotal writes made: 124\nWrite size: 4194304\nObject size: 4194304\n\
            Bandwidth (MB/sec): 46.5625\nStddev Bandwidth: 20.2254\nMax bandwidth (MB/sec): 72\n\
            Min bandwidth (MB/sec): 8\nAverage IOPS: 11\nAverage Latency(s): 1.3707\nMax latency(s): 2.64427\n\
            Min latency(s): 0.539447\n\
            $ rados bench -p testbench 10 rand -t 32\nTotal time run: 4.45077\nTotal reads made: 124\n\
            Read size: 4194304\nBandwidth (MB/sec): 111.441\nAverage Latency: 0.567093\n";
        let runs = import("a.txt", text.as_bytes()).unwrap();
        let write = find(&runs[0], "rados 4 MiB Q16 write");
        assert_figure(&of(write).figures[0], "46.5625", "MB/sec", 46.5625 * 1_048_576.0);
        assert_figure(figure(write, Quantity::Latency, Mean, None), "1.3707", "s", 1.3707e9);
        assert_figure(figure(write, Quantity::Rate, Lowest, None), "8", "MB/sec", 8.0 * 1_048_576.0);
        assert_figure(figure(write, Quantity::Iops, Mean, None), "11", "1/s", 11.0);
        let read = find(&runs[0], "RND 4 MiB Q32 read");
        assert_figure(&of(read).figures[0], "111.441", "MB/sec", 111.441 * 1_048_576.0);
        assert_figure(figure(read, Quantity::Latency, Mean, None), "0.567093", "s", 0.567_093e9);
        let cut = text.replace("Bandwidth (MB/sec): 46.5625\n", "");
        assert_eq!(import("a.txt", cut.as_bytes()).unwrap()[0].cells.len(), 1);
    }
}
