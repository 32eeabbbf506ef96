//! bonnie++'s CSV, formats 1.96 to 2.00, and the older one of 1.03.
//!
//! The model: a line is a run on one file system, its fields known by their places. Format 1.98, which bonnie++ 2.00
//! writes, has two fields more than 1.96 and 1.97: the number of seeks and of seekers. Rates of data are KiB/s,
//! of seeks and files per second; latencies are the longest of any operation and carry their unit. `+++++` stands for
//! a test that was over too soon to be measured: such a figure is absent. Seeks read, and write one block in ten back.
//! The line of 1.03 names neither its format nor its version, and has no latencies: it is known by the number and kinds of
//! its 27 fields. bon_csv2html(1) and bon_time.cpp of bonnie++, and bonnie.8 of 1.03.

use super::parts;
use super::split::LineMark;
use super::units::{self, ToolUnit};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{
    FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic, Quantity,
};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;

const FILES_PER_S: ToolUnit = units::unit("files/s", Quantity::Iops, 1.0);
const SEEKS_PER_S: ToolUnit = units::unit("seeks/s", Quantity::Iops, 1.0);
const DATA: ToolUnit = units::unit("K/s", Quantity::Rate, 1024.0);

/// A test of bonnie++: name, unit, direction, whether offsets ascend.
type Test = (&'static str, ToolUnit, Option<Direction>, Option<bool>);

/// The tests in the order of their latencies; the first six are of one large file.
const TESTS: [Test; 12] = [
    ("putc", DATA, Some(Direction::Write), Some(true)),
    ("put_block", DATA, Some(Direction::Write), Some(true)),
    ("rewrite", DATA, Some(Direction::Mix), Some(true)),
    ("getc", DATA, Some(Direction::Read), Some(true)),
    ("get_block", DATA, Some(Direction::Read), Some(true)),
    ("seeks", SEEKS_PER_S, Some(Direction::Mix), Some(false)),
    ("seq_create", FILES_PER_S, None, None),
    ("seq_stat", FILES_PER_S, None, None),
    ("seq_del", FILES_PER_S, None, None),
    ("ran_create", FILES_PER_S, None, None),
    ("ran_stat", FILES_PER_S, None, None),
    ("ran_del", FILES_PER_S, None, None),
];

pub(super) const IMPORTER: Importer =
    Importer::of_lines(("bonnie++ CSV", "bonnie++", &["bonnie"]), line_mark, read);

fn line_mark(line: &str) -> LineMark {
    if line.matches(',').take(20).count() < 20 {
        return LineMark::None;
    }
    let fields: Vec<&str> = line.split(',').map(str::trim).take(64).collect();
    if is_mine(&fields) || is_of_1_03(&fields) { LineMark::Belongs } else { LineMark::None }
}

/// Where the fields of a format stand.
struct FieldIndices {
    /// The size of the large file.
    size: usize,
    /// The first test's rate.
    data: usize,
    /// The first rate of files.
    files: usize,
    /// The first latency, if the format has any.
    latencies: Option<usize>,
}

const OF_1_03: FieldIndices = FieldIndices { size: 1, data: 2, files: 15, latencies: None };

fn places(format: &str) -> Option<FieldIndices> {
    match format {
        "1.96" | "1.97" => Some(FieldIndices { size: 5, data: 7, files: 24, latencies: Some(36) }),
        "1.98" | "2.00" | "2.00a" => Some(FieldIndices { size: 5, data: 9, files: 26, latencies: Some(38) }),
        _ => None,
    }
}

/// Whether a line looks like one of bonnie++: format and version, then name, a number of copies.
fn is_mine(fields: &[&str]) -> bool {
    let version = |field: &str| {
        field.split_once('.').is_some_and(|(major, minor)| {
            matches!(major, "1" | "2") && minor.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    fields.len() > 20 && version(fields[0]) && version(fields[1]) && fields[3].parse::<u32>().is_ok()
}

/// Whether a line is one of 1.03: name, size, and pairs of a rate and a share of the CPU with the number of files between.
fn is_of_1_03(fields: &[&str]) -> bool {
    if fields.len() != 27 || fields[0].is_empty() {
        return false;
    }
    let size = fields[1].split(':').next().unwrap_or("");
    let count = size.trim_end_matches(['K', 'M', 'G', 'T']);
    let is_size = parts::digits(count) && count.len() < size.len();
    let is_rate = |field: &&str| {
        field.is_empty() || field.bytes().all(|byte| byte == b'+') || parts::number(field).is_some()
    };
    is_size && fields[2..14].iter().all(is_rate) && fields[15..].iter().all(is_rate)
}

/// Reads bonnie++'s CSV.
fn read(input: &Input<'_>) -> ImportedRuns {
    let mut runs = Vec::new();
    for (number, line) in input.lines() {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if is_of_1_03(&fields) {
            runs.push(run(input, &fields, &OF_1_03, "1.03"));
            continue;
        }
        if line.starts_with('#') || !is_mine(&fields) {
            continue;
        }
        let Some(places) = places(fields[0]) else {
            let format = fields[0];
            let what =
                text!("format {format} of bonnie++ is unknown", "bonnie++ の形式 {format} は知りません");
            return parts::broken_at(input, number, what);
        };
        // With `-n 0` some versions leave the fields of files out, but never those of data.
        if fields.len() < places.data + 12 {
            let what = text!("this line of bonnie++ is cut off", "bonnie++ のこの行は途中で切れています");
            return parts::broken_at(input, number, what);
        }
        runs.push(run(input, &fields, &places, fields[0]));
    }
    if runs.is_empty() {
        return parts::not_mine(text!(
            "no line begins as `1.98,2.00a,name,1,` does",
            "`1.98,2.00a,名前,1,` のように始まる行がありません"
        ));
    }
    Ok(runs)
}

fn run(input: &Input<'_>, fields: &[&str], places: &FieldIndices, format: &str) -> ImportedRun {
    let is_old = places.latencies.is_none();
    let get = |at: usize| fields.get(at).copied().filter(|field| !field.is_empty());
    let named: [(&str, Option<usize>); 8] = [
        ("name", Some(if is_old { 0 } else { 2 })),
        ("seed", (!is_old).then_some(4)),
        ("file size", Some(places.size)),
        ("chunk size", (!is_old).then_some(6)),
        ("seeks", (places.data == 9).then_some(7)),
        ("seekers", (places.data == 9).then_some(8)),
        ("files (units of 1024)", Some(if is_old { places.files - 1 } else { places.files - 5 })),
        ("largest file", (!is_old).then(|| places.files - 4)),
    ];
    let facts = named.iter().filter_map(|(key, at)| Some(((*key).to_owned(), get((*at)?)?.to_owned())));
    let origin = Origin {
        version: Some(if is_old { format } else { fields[1] }.to_owned()),
        facts: facts.collect(),
        ..input.origin("bonnie++", &format!("bonnie-csv-{format}"))
    };
    let copies: Option<u32> = fields[3].parse().ok().filter(|_| !is_old);
    let cells = TESTS.iter().enumerate().map(|(at, test)| {
        let place = if at < 6 { places.data + 2 * at } else { places.files + 2 * (at - 6) };
        let latency = places.latencies.and_then(|first| get(first + at));
        cell(test, [get(place), get(place + 1), latency], copies)
    });
    ImportedRun { origin, cells: cells.collect(), ..ImportedRun::default() }
}

fn cell(
    (name, unit, direction, sequential): &Test,
    [rate, cpu, latency]: [Option<&str>; 3],
    copies: Option<u32>,
) -> Cell {
    let rate = unit.figure(Statistic::Mean, rate);
    let cpu = units::PERCENT.figure_of(FigureOf::from("CPU".to_owned()), Statistic::Mean, cpu);
    let figures = [rate, latency.and_then(latency_figure), cpu];
    let imported = ImportedCell {
        procedure: Some((*name).to_owned()),
        runs: Some(1),
        threads: copies.filter(|_| *name != "seeks"),
        sequential: *sequential,
        figures: figures.into_iter().flatten().collect(),
        ..ImportedCell::default()
    };
    parts::cell(*name, *direction, imported)
}

/// `7278us`, `123ms`, `101s`.
fn latency_figure(words: &str) -> Option<PrintedFigure> {
    let digits = words.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &words[digits.len()..] {
        "us" => units::MICROSECONDS,
        "ms" => units::MILLISECONDS,
        "s" => units::SECONDS,
        _ => return None,
    };
    unit.figure(Statistic::Highest, digits)
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn what_was_too_fast_is_absent() {
        let run = &imported("lab/bonnie-1.98.csv")[0];
        assert_eq!(run.origin.tool_name(), "bonnie++ 2.00a");
        assert_eq!(run.origin.facts.get("file size").map(String::as_str), Some("64M"));
        let putc = find(run, "putc");
        assert_figure(&of(putc).figures[0], "1333", "K/s", 1333.0 * 1024.0);
        assert_figure(figure(putc, Quantity::Latency, Statistic::Highest, None), "7278", "us", 7_278_000.0);
        assert_figure(figure(putc, Quantity::Share, Statistic::Mean, Some("CPU")), "99", "%", 0.99);
        let block = of(find(run, "put_block"));
        assert_eq!(block.figures.len(), 1, "`+++++` is neither a rate nor zero");
        assert_figure(&block.figures[0], "4117", "us", 4_117_000.0);
        let created = find(run, "ran_create");
        assert_eq!((created.direction, of(created).figures[0].printed.as_str()), (None, "958"));
    }

    #[test]
    fn older_formats_have_no_seekers() {
        let run = &imported("lab/bonnie-1.96.csv")[0];
        assert_eq!((run.origin.tool_name().as_str(), run.cells.len()), ("bonnie++ 1.96", 12));
        assert_figure(&of(find(run, "putc")).figures[0], "473", "K/s", 473.0 * 1024.0);
        assert_figure(&of(find(run, "get_block")).figures[0], "232101", "K/s", 232_101.0 * 1024.0);
        let seeks = find(run, "seeks");
        assert_figure(&of(seeks).figures[0], "412.5", "seeks/s", 412.5);
        assert_eq!((seeks.direction, of(seeks).sequential), (Some(Direction::Mix), Some(false)));
        assert_figure(figure(seeks, Quantity::Latency, Statistic::Highest, None), "358", "ms", 358e6);
        assert_figure(&of(find(run, "ran_del")).figures[0], "15250", "files/s", 15_250.0);
        assert_figure(
            figure(find(run, "ran_del"), Quantity::Latency, Statistic::Highest, None),
            "101",
            "s",
            101e9,
        );
        let again = &imported("lab/bonnie-1.97.csv")[0];
        assert_eq!(of(find(again, "rewrite")).figures[0].printed, "61250");
    }

    #[test]
    fn fast_mode_leaves_tests_out() {
        let run = &imported("lab/bonnie-fast.csv")[0];
        let labels: Vec<_> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
        assert_eq!(labels, ["put_block", "rewrite", "get_block", "seeks"]);
        assert_figure(&of(find(run, "put_block")).figures[0], "364339", "K/s", 364_339.0 * 1024.0);
        for name in ["bonnie-1.98.csv", "bonnie-1.96.csv", "bonnie-fast.csv"] {
            assert_survives_damage(&format!("lab/{name}"));
        }
    }

    #[test]
    fn a_line_of_1_03_is_read() {
        let line = "nas1,16G,41230,93,102394,31,48221,12,43110,88,131072,14,231.7,1,16,3204,14,+++++,+++,2817,9,3301,15,+++++,+++,2644,10";
        let run = &super::super::import("old.csv", format!("bonnie++ 1.03\n{line}\n").as_bytes()).unwrap()[0];
        assert_eq!(
            (run.origin.tool_name().as_str(), run.origin.format.as_str()),
            ("bonnie++ 1.03", "bonnie-csv-1.03")
        );
        assert_eq!(run.origin.facts.get("file size").map(String::as_str), Some("16G"));
        let block = find(run, "put_block write");
        assert_figure(&of(block).figures[0], "102394", "K/s", 102_394.0 * 1024.0);
        assert_figure(figure(block, Quantity::Share, Statistic::Mean, Some("CPU")), "31", "%", 0.31);
        assert_figure(&of(find(run, "seeks")).figures[0], "231.7", "seeks/s", 231.7);
        assert_figure(&of(find(run, "ran_del")).figures[0], "2644", "files/s", 2644.0);
        assert_eq!(run.cells.len(), 10, "what was too fast is absent");
        let fewer = line.replacen(",+++++", "", 1);
        assert!(super::super::import("old.csv", fewer.as_bytes()).is_err());
    }

    #[test]
    fn an_unknown_format_is_told() {
        let line = String::from_utf8(fixture("lab/bonnie-1.98.csv")).unwrap().replacen("1.98", "2.71", 1);
        let error = super::super::import("a.csv", line.as_bytes()).unwrap_err();
        assert!(error.what().en.contains("format 2.71"));
    }
}
