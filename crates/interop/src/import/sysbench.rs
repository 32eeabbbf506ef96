//! sysbench's `fileio`.
//!
//! The model: the options in sentences, then, in 1.0, `reads/s`, `writes/s` and `fsyncs/s`, the rates in MiB/s, and the
//! latencies of all operations, fsync included, in ms. Reads and writes of a mixed test are its two halves. 0.4 and 0.5 count
//! the operations, and print one rate of all that was moved (`Mb` are 2^20 bytes), requests per second, and the latency of a
//! request, fsync not included. sysbench's `sb_fileio.c`.

use super::parts;
use super::split::LineMark;
use super::units::{self, ToolUnit};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic, Quantity};
use kurabe_core::quantity::parse_bytes;
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;

pub(super) const IMPORTER: Importer =
    Importer::of_lines(("sysbench fileio", "sysbench", &["sysbench", "fsyncs/s"]), line_mark, read);

const READS: ToolUnit = units::unit("reads/s", Quantity::Iops, 1.0);
const WRITES: ToolUnit = units::unit("writes/s", Quantity::Iops, 1.0);
const REQUESTS: ToolUnit = units::unit("Requests/sec", Quantity::Iops, 1.0);
const SYNCS: ToolUnit = units::unit("fsyncs/s", Quantity::Iops, 1.0);

fn line_mark(line: &str) -> LineMark {
    let line = line.trim();
    match () {
        () if line.starts_with("sysbench 1.") || line.starts_with("sysbench 0.") => LineMark::Begins,
        () if transferred(line).is_some() || requests(line).is_some() => LineMark::Belongs,
        () if ["reads/s:", "writes/s:", "fsyncs/s:", "read, MiB/s:", "written, MiB/s:"]
            .iter()
            .any(|key| line.starts_with(key)) =>
        {
            LineMark::Belongs
        }
        () => LineMark::None,
    }
}

/// Rate and its unit in `Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (5.2007Mb/sec)`.
fn transferred(line: &str) -> Option<(&str, ToolUnit)> {
    let (_, rate) = line.trim().split_once("Total transferred ")?.1.split_once('(')?;
    let rate = rate.strip_suffix("b/sec)")?;
    let power = ["", "K", "M", "G", "T"].iter().rposition(|prefix| rate.ends_with(prefix))?;
    const UNITS: [ToolUnit; 5] = [
        units::unit("b/sec", Quantity::Rate, 1.0),
        units::unit("Kb/sec", Quantity::Rate, 1024.0),
        units::unit("Mb/sec", Quantity::Rate, 1_048_576.0),
        units::unit("Gb/sec", Quantity::Rate, 1_073_741_824.0),
        units::unit("Tb/sec", Quantity::Rate, 1_099_511_627_776.0),
    ];
    Some((rate.trim_end_matches(|c: char| c.is_ascii_alphabetic()), UNITS[power]))
}

/// The number in `332.84 Requests/sec executed`.
fn requests(line: &str) -> Option<&str> {
    line.trim().strip_suffix(" Requests/sec executed")
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let has_total = input.lines().any(|(_, line)| transferred(line).is_some());
    let has_halves = input.value("reads/s").is_some() || input.value("writes/s").is_some();
    let test = FileTest::of(input);
    let cells = match () {
        () if has_halves => halves(input, &test),
        () if has_total => total(input, &test),
        () => {
            return parts::not_mine(text!(
                "no line such as `reads/s: …` of sysbench 1.0, or `Read … Written … Total transferred …` of 0.4",
                "sysbench 1.0 の `reads/s: …` のような行も、0.4 の `Read … Written … Total transferred …` の行もありません"
            ));
        }
    };
    let version = input.lines().find_map(|(_, line)| {
        let version = line.trim().strip_prefix("sysbench ")?.split(' ').next()?.trim_end_matches(':');
        version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
    });
    let origin =
        Origin { version: version.map(str::to_owned), ..input.origin("sysbench", "sysbench-fileio") };
    Ok(vec![ImportedRun { origin, cells, ..ImportedRun::default() }])
}

/// The latencies of a test, with what stands behind the number of 95 %: in 0.4 `approx.`, and the unit behind each.
fn latencies(input: &Input<'_>) -> Vec<PrintedFigure> {
    const LATENCIES: [(ToolUnit, Statistic, &str); 5] = [
        (units::MILLISECONDS, Statistic::Mean, "avg"),
        (units::MILLISECONDS, Statistic::Lowest, "min"),
        (units::MILLISECONDS, Statistic::Highest, "max"),
        (units::MILLISECONDS, Statistic::Percentile(95.0), "95th percentile"),
        (units::MILLISECONDS, Statistic::Percentile(95.0), "approx.  95 percentile"),
    ];
    let value = |key: &str| input.value(key).map(|words| words.strip_suffix("ms").unwrap_or(words));
    units::figures(&LATENCIES, value)
}

/// How long it took in all.
fn time(input: &Input<'_>) -> Option<PrintedFigure> {
    units::RUN_SECONDS.figure(Statistic::Sum, input.value("total time")?.strip_suffix('s')?)
}

/// Cells of 1.0.
fn halves(input: &Input<'_>, test: &FileTest<'_>) -> Vec<Cell> {
    let above_zero = |table: &[(ToolUnit, Statistic, &str)]| {
        let mut figures = units::figures(table, |key| input.value(key));
        figures.retain(|figure| figure.value > 0.0);
        figures
    };
    let of_all = latencies(input).into_iter().chain(time(input)).collect();
    let mean = Statistic::Mean;
    vec![
        test.cell(
            Some(Direction::Read),
            "",
            above_zero(&[(units::MIB_PER_S, mean, "read, MiB/s"), (READS, mean, "reads/s")]),
        ),
        test.cell(
            Some(Direction::Write),
            "",
            above_zero(&[(units::MIB_PER_S, mean, "written, MiB/s"), (WRITES, mean, "writes/s")]),
        ),
        test.cell(None, " all with fsync", of_all),
        test.cell(None, " fsync", above_zero(&[(SYNCS, mean, "fsyncs/s")])),
    ]
}

/// The cell of 0.4: all that was moved.
fn total(input: &Input<'_>, test: &FileTest<'_>) -> Vec<Cell> {
    let rate = input.lines().find_map(|(_, line)| transferred(line));
    let rate = rate.and_then(|(printed, unit)| unit.figure(Statistic::Mean, printed));
    let iops = REQUESTS.figure(Statistic::Mean, input.lines().find_map(|(_, line)| requests(line)));
    let figures = rate.into_iter().chain(iops).filter(|figure| figure.value > 0.0);
    let figures: Vec<PrintedFigure> = figures.chain(latencies(input)).chain(time(input)).collect();
    vec![test.cell(test.direction(), "", figures)]
}

/// What the sentences tell of a test.
struct FileTest<'a> {
    name: &'a str,
    block_bytes: Option<u64>,
    threads: Option<u32>,
    /// Reads for each write of a mixed test.
    ratio: Option<f64>,
}

impl<'a> FileTest<'a> {
    fn of(input: &'a Input<'_>) -> Self {
        let block = input.after("Block size ").map(|words| words.replace("b", "B"));
        Self {
            name: input.after("Doing ").and_then(|words| words.strip_suffix(" test")).unwrap_or_default(),
            // 0.4 writes `16Kb` for 16 KiB.
            block_bytes: block
                .and_then(|words| parse_bytes(&words.replace("KB", "KiB").replace("MB", "MiB")).ok()),
            threads: input.value("Number of threads").and_then(|words| words.parse().ok()),
            ratio: input.value("Read/Write ratio for combined random IO test").and_then(parts::number),
        }
    }

    /// `random r/w`, `random read`, `sequential write`, `sequential rewrite (1)`.
    fn direction(&self) -> Option<Direction> {
        match () {
            () if self.name.contains("r/w") => Some(Direction::Mix),
            () if self.name.contains("write") => Some(Direction::Write),
            () if self.name.contains("read") => Some(Direction::Read),
            () => None,
        }
    }

    fn cell(&self, direction: Option<Direction>, what: &str, figures: Vec<PrintedFigure>) -> Cell {
        let sequential = match () {
            () if self.name.starts_with("sequential") => Some(true),
            () if self.name.starts_with("random") => Some(false),
            () => None,
        };
        let shape = parts::shape(sequential, "fileio", self.block_bytes, None, None);
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
        parts::cell(shape + what, direction, imported)
    }
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
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

    /// What 0.4 prints; the test and the line of the amounts differ.
    fn text_of_old(test: &str, amounts: &str) -> String {
        format!(
            "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nRunning the test with following options:\n\
             Number of threads: 8\n\nExtra file open flags: 0\n128 files, 16Mb each\n2Gb total file size\nBlock size 16Kb\n\
             Read/Write ratio for combined random IO test: 1.50\nUsing synchronous I/O mode\nDoing {test} test\n\
             Threads started!\nDone.\n\nOperations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total\n{amounts}\n  \
             1920.25 Requests/sec executed\n\nTest execution summary:\n    total time:                          5.2077s\n    \
             total number of events:              10000\n    per-request statistics:\n         \
             min:                                  0.02ms\n         avg:                                  2.12ms\n         \
             max:                                 97.50ms\n         approx.  95 percentile:               9.25ms\n"
        )
    }

    #[test]
    fn the_old_form_has_one_rate_of_all() {
        let amounts = "Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (30.004Mb/sec)";
        let run = &super::super::import("a.txt", text_of_old("random r/w", amounts).as_bytes()).unwrap()[0];
        assert_eq!((run.origin.tool_name().as_str(), run.cells.len()), ("sysbench 0.4.12", 1));
        let all = find(run, "RND 16 KiB mix");
        assert_figure(&of(all).figures[0], "30.004", "Mb/sec", 30.004 * 1_048_576.0);
        let figure = |quantity, statistic| figure(all, quantity, statistic, None);
        assert_figure(figure(Quantity::Iops, Statistic::Mean), "1920.25", "Requests/sec", 1920.25);
        assert_figure(figure(Quantity::Latency, Statistic::Mean), "2.12", "ms", 2.12e6);
        assert_figure(figure(Quantity::Latency, Statistic::Percentile(95.0)), "9.25", "ms", 9.25e6);
        assert_figure(figure(Quantity::Duration, Statistic::Sum), "5.2077", "s", 5.2077e9);
        assert_eq!(
            (of(all).read_percent, of(all).threads, of(all).block_bytes),
            (Some(60.0), Some(8), Some(16_384))
        );
        for (test, amounts, label, unit, value) in [
            (
                "sequential write (creation)",
                "Read 0b  Written 2Gb  Total transferred 2Gb  (1.5Gb/sec)",
                "SEQ 16 KiB write",
                "Gb/sec",
                1.5 * 1_073_741_824.0,
            ),
            (
                "random read",
                "Read 156.25Mb  Written 0b  Total transferred 156.25Mb  (812.5Kb/sec)",
                "RND 16 KiB read",
                "Kb/sec",
                812.5 * 1024.0,
            ),
        ] {
            let run = &super::super::import("a.txt", text_of_old(test, amounts).as_bytes()).unwrap()[0];
            let figure = &of(find(run, label)).figures[0];
            assert_eq!((figure.unit_printed.as_str(), figure.value), (unit, value));
            assert_eq!(of(find(run, label)).read_percent, None);
        }
    }
}
