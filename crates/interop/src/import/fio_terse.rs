//! fio's terse output, versions 2 to 5: a line per job, fields between semicolons.
//!
//! The model: a head, then a block of fields per direction, then `…%` of CPU use, by which the blocks' end is known.
//! A block is 41 fields, in version 5 47. Version 3 prints reads and writes, the others trims too; directions reported
//! as one are a single block or, with `unified_rw_reporting=both`, one more. Rates are KiB/s, latencies µs, amounts
//! KiB. fio's HOWTO, section "Terse output", and `show_ddir_status_terse` in stat.c.

use super::fio_options::{
    direction, ended_with_error, is_one_by_one, label, percentile, sequential, size_bytes, spread,
};
use super::shapes::holes;
use super::split::LineMark;
use super::units::{self, ToolUnit, figures_of};
use super::{ImportedRun, ImportedRuns, Importer, Input, parts};
use kurabe_core::environment::{BlockDevice, Environment};
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedStatistic as Statistic};
use kurabe_core::quantity::parse_bytes;
use kurabe_core::record::Cell;
use kurabe_core::text;
use std::collections::{BTreeMap, HashSet};

/// Fields of a direction before those of version 5.
const BLOCK: usize = 41;
/// Fields that version 5 adds to a direction.
const BLOCK_OF_5: usize = 47;
/// Percentiles of a direction.
const PERCENTILES: std::ops::Range<usize> = 12..32;
/// Fields after the directions up to the devices: CPU, depths and latencies in parts.
const AFTER: usize = 5 + 7 + 10 + 12;

/// A line, split.
struct TerseLine<'a> {
    version: u32,
    fio: Option<&'a str>,
    name: &'a str,
    error: &'a str,
    blocks: Vec<&'a [&'a str]>,
    rest: &'a [&'a str],
}

pub(super) const IMPORTER: Importer =
    Importer::of_marked_lines(("fio terse", "fio", &["fio"]), line_mark, read);

fn line_mark(line: &str) -> LineMark {
    let fields: Vec<&str> = line.trim().split(';').take(12).collect();
    if fields.len() > 1 && is_mine(&fields) { LineMark::Belongs } else { LineMark::None }
}

/// Reads fio's terse lines.
fn read(input: &Input<'_>) -> ImportedRuns {
    let mut run = ImportedRun::default();
    let mut patterns: BTreeMap<&str, &str> = BTreeMap::new();
    let mut devices = HashSet::new();
    for (number, text) in input.lines() {
        if let Some([name, _, pattern]) = holes("{}: (g={}): {}", text) {
            patterns.insert(name, pattern);
        }
        let fields: Vec<&str> = text.trim().split(';').collect();
        if !is_mine(&fields) {
            continue;
        }
        let Some(line) = split(&fields) else {
            let what = text!(
                "this line of fio's terse output is cut off",
                "fio の terse 出力のこの行は途中で切れています"
            );
            return parts::broken_at(input, number, what);
        };
        add(&mut run, input, &line, patterns.get(line.name).copied(), &mut devices);
    }
    if run.origin.tool.is_empty() { parts::without_line("3;fio-3.33;NAME;0;0;…") } else { Ok(vec![run]) }
}

/// Versions from 3 on name fio's version; version 2 is known by what follows its name: numbers only.
fn is_mine(fields: &[&str]) -> bool {
    let whole = |field: Option<&&str>| field.is_some_and(|field| field.parse::<u64>().is_ok());
    match fields.first() {
        Some(&"3" | &"4" | &"5") => fields.get(1).is_some_and(|field| field.starts_with("fio-")),
        Some(&"2") => fields.len() > 10 && (2..8).all(|at| whole(fields.get(at))),
        _ => false,
    }
}

fn split<'a>(fields: &'a [&'a str]) -> Option<TerseLine<'a>> {
    let version: u32 = fields.first()?.parse().ok()?;
    let (fio, head) =
        if version == 2 { (None, &fields[1..]) } else { (fields.get(1).copied(), &fields[2..]) };
    let &[name, _, error, ref fields @ ..] = head else { return None };
    let size = if version == 5 { BLOCK_OF_5 } else { BLOCK };
    let (mut blocks, mut rest) = (Vec::new(), fields);
    while !rest.first()?.ends_with('%') {
        let (block, after) = rest.split_at_checked(size)?;
        blocks.push(block);
        rest = after;
    }
    let rest = rest.get(AFTER..)?;
    (blocks.len() <= 4).then_some(TerseLine { version, fio, name, error, blocks, rest })
}

/// The directions that the blocks of a line are of.
fn directions(line: &TerseLine<'_>) -> &'static [&'static str] {
    match (line.version, line.blocks.len()) {
        (_, 1) => &["mixed"],
        (3, 3) => &["read", "write", "mixed"],
        _ => &["read", "write", "trim", "mixed"],
    }
}

fn add(
    run: &mut ImportedRun,
    input: &Input<'_>,
    line: &TerseLine<'_>,
    pattern: Option<&str>,
    devices_named: &mut HashSet<String>,
) {
    if run.origin.tool.is_empty() {
        run.origin = Origin {
            version: line.fio.map(|fio| fio.strip_prefix("fio-").unwrap_or(fio).to_owned()),
            ..input.origin("fio", &format!("fio-terse-{}", line.version))
        };
    }
    if let Some(number) = line.error.parse::<u64>().ok().filter(|number| *number != 0) {
        run.notices.push(ended_with_error(line.name, number));
    }
    // Devices follow in groups of nine: name, operations, merges, ticks, queue and use.
    for device in line.rest.chunks(9).filter(|group| group.len() == 9 && group[8].ends_with('%')) {
        let Environment { devices, .. } = &mut run.environment;
        if devices_named.insert(device[0].to_owned()) {
            devices.push(BlockDevice { name: device[0].to_owned(), ..BlockDevice::default() });
        }
    }
    for (word, block) in directions(line).iter().zip(&line.blocks) {
        run.cells.extend(cell(line.name, word, block, pattern));
    }
}

/// Figures with a lowest, a highest, a mean and a deviation: the field that is more than 0 if there are any, their fields,
/// their unit, and what they are of.
type Spread = (usize, [usize; 4], ToolUnit, FigureOf);
const COMPLETION: Spread = (10, [8, 9, 10, 11], units::MICROSECONDS, FigureOf::CompletionLatency);
const SPREADS: [Spread; 4] = [
    (34, [32, 33, 34, 35], units::MICROSECONDS, FigureOf::TotalLatency),
    (6, [4, 5, 6, 7], units::MICROSECONDS, FigureOf::SubmissionLatency),
    (37, [36, 37, 39, 40], units::KIB_PER_S, FigureOf::RateSamples),
    // Of version 5.
    (46, [42, 43, 44, 45], units::IOPS, FigureOf::IopsSamples),
];

/// The cell of a block, if it did I/O.
fn cell(name: &str, word: &str, block: &[&str], pattern: Option<&str>) -> Option<Cell> {
    let is_positive = |at: usize| block.get(at).is_some_and(|field| units::positive(field));
    if !is_positive(0) {
        return None;
    }
    let mut figures = Vec::new();
    if is_positive(3) {
        figures.extend(units::KIB_PER_S.figure(Statistic::Mean, block[1]));
        figures.extend(units::IOPS.figure(Statistic::Mean, block[2]));
    }
    let spread_of = |(needed, fields, unit, of): Spread| {
        let named = spread(fields.map(|at| block.get(at).copied()));
        figures_of(unit, of, named).filter(move |_| is_positive(needed))
    };
    figures.extend(spread_of(COMPLETION));
    let percentiles = block[PERCENTILES].iter().filter_map(|field| {
        let (percent, printed) = field.split_once("%=")?;
        Some((percentile(percent)?, Some(printed)))
    });
    figures.extend(figures_of(units::MICROSECONDS, FigureOf::CompletionLatency, percentiles));
    figures.extend(SPREADS.into_iter().flat_map(spread_of));
    figures.extend(units::KIB.figure_of(FigureOf::DataMoved, Statistic::Sum, block[0]));
    figures.extend(units::RUN_MILLISECONDS.figure_of(FigureOf::RunTime, Statistic::Sum, block[3]));
    let option = |key: &str| pattern?.split(", ").find_map(|part| part.strip_prefix(key)).map(str::trim);
    let iodepth = option("iodepth=").and_then(|words| words.parse().ok());
    let imported = ImportedCell {
        procedure: pattern.map(parts::repeated),
        runs: Some(1),
        iodepth: if option("ioengine=").is_some_and(is_one_by_one) { Some(1) } else { iodepth },
        block_bytes: pattern.and_then(|pattern| block_bytes(pattern, word)),
        sequential: option("rw=").and_then(sequential),
        figures,
        ..ImportedCell::default()
    };
    Some(parts::cell(label(name, word), direction(word), imported))
}

/// The block size of a direction in `bs=(R) 4096B-4096B, (W) 1024KiB-1024KiB, (T) …`, or `bs=4K-4K/4K-4K/4K-4K` of version
/// 2; nothing if it is a range.
fn block_bytes(pattern: &str, word: &str) -> Option<u64> {
    let (place, letter) = match word {
        "read" => (0, "(R) "),
        "write" => (1, "(W) "),
        "trim" => (2, "(T) "),
        _ => return None,
    };
    let (_, sizes) = pattern.split_once("bs=")?;
    let range = match sizes.split_once(letter) {
        Some((_, rest)) => rest.split(',').next()?,
        None => sizes.split(", ").next()?.split('/').nth(place)?,
    };
    let (least, most) = range.trim().split_once('-')?;
    // Version 3 prints `64.0KiB`, version 2 `64K`: both are 65 536 bytes.
    let size = if least.ends_with('B') { parse_bytes(least).ok() } else { size_bytes(least, 1024) };
    size.filter(|_| least == most)
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;
    use kurabe_core::imported::Quantity;
    use kurabe_core::workload::Direction;

    #[test]
    fn version_3_with_two_jobs() {
        let run = &imported("lab/fio-terse3.txt")[0];
        assert_eq!(
            (run.origin.tool_name().as_str(), run.origin.format.as_str()),
            ("fio 3.33", "fio-terse-3")
        );
        assert_eq!(run.environment.devices.len(), 1);
        let [read, write] = run.cells.as_slice() else { panic!() };
        assert_eq!((read.label.as_str(), read.direction), ("a", Some(Direction::Read)));
        assert_eq!((write.label.as_str(), write.direction), ("b", Some(Direction::Write)));
        assert_eq!((of(read).sequential, of(read).iodepth), (Some(true), Some(1)));
        assert_figure(&of(read).figures[0], "819200", "KiB/s", 819_200.0 * 1024.0);
        assert_figure(figure(read, Quantity::Iops, Statistic::Mean, None), "12800", "IOPS", 12_800.0);
        let clat = |statistic| figure(read, Quantity::Latency, statistic, Some("completion latency"));
        assert_figure(clat(Statistic::Mean), "33.213309", "us", 33_213.309);
        assert_figure(clat(Statistic::Percentile(99.0)), "501", "us", 501_000.0);
        assert_figure(clat(Statistic::Highest), "4001", "us", 4_001_000.0);
        let total = figure(read, Quantity::Latency, Statistic::StandardDeviation, Some("total latency"));
        assert_figure(total, "266.087663", "us", 266_087.663);
        assert!(!of(read).figures.iter().any(|f| f.of == Some(FigureOf::SubmissionLatency)));
    }

    #[test]
    fn every_version_knows_its_directions() {
        let labels = |file: &str| -> Vec<String> { imported(file)[0].cells.iter().map(name).collect() };
        for version in ["2", "4", "5"] {
            assert_eq!(labels(&format!("lab/fio-terse{version}.txt")), ["t read", "t write"]);
        }
        assert_eq!(labels("lab/fio-terse3-mixed.txt"), ["u mix"]);
        let run = &imported("lab/fio-terse5.txt")[0];
        let samples = |cell, statistic| figure(cell, Quantity::Iops, statistic, Some("IOPS samples"));
        assert_figure(samples(&run.cells[0], Statistic::Mean), "14696.000000", "IOPS", 14_696.0);
        let old = &imported("lab/fio-terse2.txt")[0];
        assert_eq!(old.origin.version, None);
        assert_figure(&of(&old.cells[1]).figures[0], "55512", "KiB/s", 55_512.0 * 1024.0);
        assert_eq!(labels("lab/fio2-terse2.txt"), ["seq write"]);
    }

    #[test]
    fn lines_above_tell_what_the_jobs_did() {
        for (pattern, word, expected) in [
            (
                "rw=read, bs=(R) 1024KiB-1024KiB, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio",
                "read",
                Some(1 << 20),
            ),
            (
                "rw=write, bs=(R) 1024KiB-1024KiB, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio",
                "write",
                Some(4096),
            ),
            ("rw=randrw, bs=4K-4K/64K-64K/4K-4K, ioengine=sync, iodepth=1", "write", Some(65_536)),
            ("rw=randread, bs=(R) 4096B-64.0KiB, (W) 4096B-4096B, (T) 4096B-4096B", "read", None),
            ("rw=randread", "read", None),
        ] {
            assert_eq!(block_bytes(pattern, word), expected, "{pattern}");
        }
        let above = |engine: &str| {
            let line = format!(
                "a: (g=0): rw=read, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, ioengine={engine}, iodepth=32\n"
            );
            let text = String::from_utf8(fixture("lab/fio-terse3.txt")).unwrap();
            let terse: Vec<&str> = text.lines().filter(|line| line.starts_with("3;")).collect();
            let run = super::super::import("a", format!("{line}{}\n", terse.join("\n")).as_bytes())
                .unwrap()
                .remove(0);
            let cell = of(&run.cells[0]).clone();
            (cell.iodepth, cell.block_bytes)
        };
        assert_eq!(above("libaio"), (Some(32), Some(65_536)));
        assert_eq!(above("psync"), (Some(1), Some(65_536)), "an engine without a queue");
    }

    #[test]
    fn a_cut_line_is_told() {
        let bytes = fixture("lab/fio-terse5.txt");
        let error = super::super::import("a", &bytes[..700]).unwrap_err();
        assert!(error.what().en.contains("cut off"), "{error}");
    }
}
