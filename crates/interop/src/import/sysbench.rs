//! sysbench's `fileio`.
//!
//! The model: the options in sentences, then, in 1.0, `reads/s`, `writes/s` and `fsyncs/s`, the rates
//! in MiB/s, and the latencies of all operations, including fsync, in ms. Reads and writes of a mixed
//! test are its two halves. Versions 0.4 and 0.5 count the operations, and print one total rate (`Mb`
//! are 2^20 bytes), requests per second, and the latency of a request without fsync. Version 1.1 prints
//! operations and rates of each direction in one line. Other tests of sysbench have latencies under the
//! same names, so only the lines of the file test are read, from the options on. Source: sysbench's
//! `sb_fileio.c`, and published results of 1.1.

use super::kit::*;
use super::units::{MIB_PER_S, MILLISECONDS};
use kurabe_core::imported::PrintedStatistic::{Highest, Lowest, Mean, Percentile, Sum};

/// Total amount and rate in 0.4.
const TRANSFERRED: &str = "{}Total transferred {} ({}b/sec)";
/// Lines of the directions and of the fsyncs in 1.1.
const OF_1_1: [(&str, Option<Direction>); 2] =
    [("read:{}IOPS={} {} MiB/s ({} MB/s)", READ), ("write:{}IOPS={} {} MiB/s ({} MB/s)", WRITE)];
const FSYNCS_OF_1_1: &str = "fsync:{}IOPS={}";
/// Line before the options of a test.
const OPTIONS: &str = "Running the test with following options:";
/// Requests per second in 0.4.
const REQUESTS: &str = "{} Requests/sec executed";
const DETAILS: [DetailLine; 4] = [
    (&["sysbench {}"], &[Detail::Version]),
    (&["Block size {}"], &[Detail::BlockBytes(block_bytes)]),
    (&["Doing {} test"], &[Detail::CellProcedure]),
    (&["Number of threads"], &[Detail::Threads]),
];

pub(super) const IMPORTER: Importer = Importer::of(
    ("sysbench fileio", "sysbench", &["sysbench", "fsyncs/s"]),
    Recognizer::Shapes(LineShapes {
        begins: &["sysbench 1.{}", "sysbench 0.{}"],
        belongs: &[
            TRANSFERRED,
            REQUESTS,
            OF_1_1[0].0,
            OF_1_1[1].0,
            FSYNCS_OF_1_1,
            "reads/s:{}",
            "writes/s:{}",
            "fsyncs/s:{}",
            "read, MiB/s:{}",
            "written, MiB/s:{}",
        ],
    }),
    read,
);

/// Cells of 1.0: direction, addition to the label, figures.
const CELLS: [(Option<Direction>, &str, &[FigureName]); 4] = [
    (READ, "", &[(MIB_PER_S, Mean, "read, MiB/s"), (of_time("reads/s"), Mean, "reads/s")]),
    (WRITE, "", &[(MIB_PER_S, Mean, "written, MiB/s"), (of_time("writes/s"), Mean, "writes/s")]),
    (None, " all with fsync", &TIMES),
    (None, " fsync", &[(of_time("fsyncs/s"), Mean, "fsyncs/s")]),
];
const READ: Option<Direction> = Some(Direction::Read);
const WRITE: Option<Direction> = Some(Direction::Write);
/// Times of a test. Version 0.4 has another name for the 95 % time.
const TIMES: [FigureName; 6] = [
    (MILLISECONDS, Mean, "avg"),
    (MILLISECONDS, Lowest, "min"),
    (MILLISECONDS, Highest, "max"),
    (MILLISECONDS, Percentile(95.0), "95th percentile"),
    (MILLISECONDS, Percentile(95.0), "approx.  95 percentile"),
    (units::RUN_SECONDS, Sum, "total time"),
];

const fn of_time(name: &'static str) -> ToolUnit {
    units::unit(name, Quantity::Iops, 1.0)
}

/// Returns the lines of the file test: from its options, with the line of the version directly above, to
/// those of the next test.
fn lines_of_test<'l>(input: &'l Input<'_>) -> Vec<(usize, &'l str)> {
    /// Lines between the version and the options.
    const BETWEEN: usize = 3;
    let lines: Vec<(usize, &str)> = input.lines().collect();
    let is_figure = |line: &str| fits(TRANSFERRED, line) || is_of_1_0(line) || of_1_1(line).is_some();
    let Some(first) = lines.iter().position(|(_, line)| is_figure(line)) else { return lines };
    let is_start =
        |(_, line): &(usize, &str)| line.trim() == OPTIONS || line.contains("Extra file open flags");
    let Some(mut start) = lines[..first].iter().rposition(is_start) else { return lines };
    if let Some(options) = lines[..start].iter().rposition(|(_, line)| line.trim() == OPTIONS) {
        start = options;
    }
    let above = start.saturating_sub(BETWEEN);
    let version = lines[above..start].iter().rposition(|(_, line)| fits(DETAILS[0].0[0], line));
    start = version.map_or(start, |at| above + at);
    let is_next = |(_, line): &(usize, &str)| line.trim() == OPTIONS || fits(DETAILS[0].0[0], line);
    let end = lines[first..].iter().position(is_next).map_or(lines.len(), |at| first + at);
    lines[start..end].to_vec()
}

fn is_of_1_0(line: &str) -> bool {
    let names = ["reads/s", "writes/s", "read, MiB/s", "written, MiB/s"];
    key_value(line).is_some_and(|(name, _)| names.contains(&name))
}

/// Parses a line of a direction in 1.1: the direction, and its rate and operations if it has any.
fn of_1_1(line: &str) -> Option<(Option<Direction>, Vec<PrintedFigure>)> {
    OF_1_1.iter().find_map(|(shape, direction)| {
        let [_, iops, rate, _] = holes(shape, line)?;
        let iops = of_time("IOPS").figure(Mean, iops)?;
        let figures = [MIB_PER_S.figure(Mean, rate)?, iops];
        Some((*direction, figures.into_iter().filter(|figure| figure.value > 0.0).collect()))
    })
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let lines = lines_of_test(input);
    let input = &input.part(lines.iter().copied());
    let mut details = RunDetails::of(input, ("sysbench", "sysbench-fileio"), &DETAILS, input.lines());
    let setting = &mut details.setting;
    let test = setting.procedure.clone().unwrap_or_default();
    setting.runs = Some(1);
    setting.sequential = match () {
        () if test.starts_with("sequential") => Some(true),
        () if test.starts_with("random") => Some(false),
        () => None,
    };
    let ratio = input.value("Read/Write ratio for combined random IO test").and_then(number);
    setting.read_percent = ratio.filter(|_| test.contains("r/w")).map(|ratio| 100.0 * ratio / (1.0 + ratio));
    let of_new = ["reads/s", "writes/s", "read, MiB/s", "written, MiB/s"];
    let is_new = of_new.iter().any(|name| input.value(name).is_some());
    let cells = match input.holes(TRANSFERRED) {
        _ if is_new => {
            let of = |(direction, what, names): &(_, &str, &[FigureName])| {
                cell(setting, *direction, what, figures(input, names, None))
            };
            CELLS.iter().map(of).collect()
        }
        None if input.lines().any(|(_, line)| of_1_1(line).is_some()) => cells_of_1_1(input, setting),
        Some([_, _, rate]) => {
            vec![cell(setting, direction(&test), "", figures(input, &TIMES, total_rate(rate)))]
        }
        None => return without_line("reads/s: …` or `Read … Written … Total transferred …"),
    };
    Ok(vec![ImportedRun { origin: details.origin, cells, ..ImportedRun::default() }])
}

/// Returns the cells of 1.1: reads, writes, all operations with fsync, and fsyncs.
fn cells_of_1_1(input: &Input<'_>, setting: &ImportedCell) -> Vec<Cell> {
    let directions = input.lines().filter_map(|(_, line)| of_1_1(line));
    let mut cells: Vec<Cell> =
        directions.map(|(direction, figures)| cell(setting, direction, "", figures)).collect();
    cells.push(cell(setting, None, " all with fsync", figures(input, &TIMES, None)));
    let fsyncs = input.holes(FSYNCS_OF_1_1).and_then(|[_, iops]| of_time("IOPS").figure(Mean, iops));
    let fsyncs = fsyncs.into_iter().filter(|figure| figure.value > 0.0).collect();
    cells.push(cell(setting, None, " fsync", fsyncs));
    cells
}

/// Parses `16KiB`, or `16Kb` of 0.4.
fn block_bytes(words: &str) -> Option<u64> {
    words::binary_bytes(&words.replace('b', "B"))
}

/// Parses `random r/w`, `random read`, `sequential write`, `sequential rewrite (1)`.
fn direction(test: &str) -> Option<Direction> {
    let words = [("r/w", Direction::Mix), ("write", Direction::Write), ("read", Direction::Read)];
    words.into_iter().find(|(word, _)| test.contains(word)).map(|(_, direction)| direction)
}

/// Parses the total rate: `5.2007M`.
fn total_rate(rate: &str) -> Option<PrintedFigure> {
    let printed = rate.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let prefix = &rate[printed.len()..];
    let factor = power(1024.0, &["", "K", "M", "G", "T"], prefix)?;
    units::figure(Quantity::Rate, Mean, printed, &format!("{prefix}b/sec"), factor)
}

/// Returns figures by their names, after the rate of 0.4 and its requests. Rates of 0 are ignored.
fn figures(input: &Input<'_>, names: &[FigureName], rate: Option<PrintedFigure>) -> Vec<PrintedFigure> {
    let value = |name: &str| {
        let words = input.value(name)?;
        Some(words.strip_suffix("ms").or(words.strip_suffix('s')).unwrap_or(words))
    };
    let requests = input.holes(REQUESTS).filter(|_| rate.is_some()).map(|[requests]| requests);
    let requests = of_time("Requests/sec").figure(Mean, requests);
    let figures = rate.into_iter().chain(requests).chain(units::figures(names, value));
    let is_time = |quantity| matches!(quantity, Quantity::Latency | Quantity::Duration);
    figures.filter(|figure| figure.value > 0.0 || is_time(figure.quantity)).collect()
}

fn cell(
    setting: &ImportedCell,
    direction: Option<Direction>,
    what: &str,
    figures: Vec<PrintedFigure>,
) -> Cell {
    let shape = parts::shape(setting.sequential, "fileio", setting.block_bytes, None, None);
    parts::cell(shape + what, direction, ImportedCell { figures, ..setting.clone() })
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
        assert_figure(figure(read, Quantity::Iops, Mean, None), "467.84", "reads/s", 467.84);
        assert_eq!((of(read).read_percent, of(read).threads), (Some(60.0), Some(2)));
        assert_figure(&of(find(run, "RND 16 KiB write")).figures[0], "4.87", "MiB/s", 4.87 * 1_048_576.0);
        let all = find(run, "RND 16 KiB all with fsync");
        assert_figure(&of(all).figures[0], "1.15", "ms", 1.15e6);
        assert_figure(figure(all, Quantity::Latency, Percentile(95.0), None), "4.33", "ms", 4.33e6);
        assert_figure(figure(all, Quantity::Duration, Sum, None), "10.0214", "s", 10.0214e9);
    }

    /// Returns the output of 0.4. The test and the line of the amounts vary.
    fn text_of_old(test: &str, amounts: &str) -> String {
        format!(
            "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\n\
             Running the test with following options:\n\
             Number of threads: 8\n\nExtra file open flags: 0\n128 files, 16Mb each\n2Gb total file size\n\
             Block size 16Kb\n\
             Read/Write ratio for combined random IO test: 1.50\nUsing synchronous I/O mode\nDoing {test} test\n\
             Threads started!\nDone.\n\nOperations performed:  6000 Read, 4000 Write, 12800 Other = 22800 \
             Total\n{amounts}\n  \
             1920.25 Requests/sec executed\n\n\
             Test execution summary:\n    total time:                          5.2077s\n    \
             total number of events:              10000\n    per-request statistics:\n         \
             min:                                  0.02ms\n         avg:                                  \
             2.12ms\n         \
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
        assert_figure(figure(Quantity::Iops, Mean), "1920.25", "Requests/sec", 1920.25);
        assert_figure(figure(Quantity::Latency, Mean), "2.12", "ms", 2.12e6);
        assert_figure(figure(Quantity::Latency, Percentile(95.0)), "9.25", "ms", 9.25e6);
        assert_figure(figure(Quantity::Duration, Sum), "5.2077", "s", 5.2077e9);
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
