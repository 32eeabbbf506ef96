//! CSV of bonnie++, formats 1.96 to 2.00. Older lines: see `bonnie_text`.
//!
//! The model: a line is a run on one file system, with fields at fixed positions. Format 1.98, which
//! bonnie++ 2.00 writes, has two fields more than 1.96 and 1.97: the number of seeks and of seekers.
//! Data rates are in KiB/s, rates of seeks and files per second. Latencies are the longest of any
//! operation and include their unit. `+++++` marks a test that was too short to be measured; its figure
//! is absent. The seek test reads, and writes one block in ten back. Source: bon_csv2html(1) and
//! bon_time.cpp of bonnie++.

use super::bonnie_text::{is_old_line, old_run};
use super::kit::*;

const FILES_PER_S: ToolUnit = units::unit("files/s", Quantity::Iops, 1.0);
const SEEKS_PER_S: ToolUnit = units::unit("seeks/s", Quantity::Iops, 1.0);
pub(super) const DATA: ToolUnit = units::unit("K/s", Quantity::Rate, 1024.0);

/// A test of bonnie++: name, unit, direction, whether offsets ascend, and the position of its rate
/// after the first rate.
pub(super) type Test = (&'static str, ToolUnit, Option<Direction>, Option<bool>, usize);

/// Tests in the order of their latencies. The first six use one large file.
pub(super) const TESTS: [Test; 12] = [
    ("putc", DATA, Some(Direction::Write), Some(true), 0),
    ("put_block", DATA, Some(Direction::Write), Some(true), 2),
    ("rewrite", DATA, Some(Direction::Mix), Some(true), 4),
    ("getc", DATA, Some(Direction::Read), Some(true), 6),
    ("get_block", DATA, Some(Direction::Read), Some(true), 8),
    ("seeks", SEEKS_PER_S, Some(Direction::Mix), Some(false), 10),
    ("seq_create", FILES_PER_S, None, None, 17),
    ("seq_stat", FILES_PER_S, None, None, 19),
    ("seq_del", FILES_PER_S, None, None, 21),
    ("ran_create", FILES_PER_S, None, None, 23),
    ("ran_stat", FILES_PER_S, None, None, 25),
    ("ran_del", FILES_PER_S, None, None, 27),
];
/// Position of the first latency after the first rate.
const LATENCIES: usize = 29;

pub(super) const IMPORTER: Importer =
    Importer::of(("bonnie++ CSV", "bonnie++", &["bonnie", "bonnie++"]), Recognizer::Lines(line_mark), read);

fn line_mark(line: &str) -> LineMark {
    let has_fields = line.matches(',').take(20).count() == 20;
    if has_fields && (is_mine(&fields(line)) || is_old_line(&fields(line))) {
        LineMark::Belongs
    } else {
        LineMark::None
    }
}

fn fields(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

/// Returns whether a line looks like one of bonnie++: format and version, then a name and a number of
/// copies.
fn is_mine(fields: &[&str]) -> bool {
    let version = |field: &str| {
        field.split_once('.').is_some_and(|(major, minor)| {
            matches!(major, "1" | "2") && minor.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    fields.len() > 20 && version(fields[0]) && version(fields[1]) && fields[3].parse::<u32>().is_ok()
}

/// Reads bonnie++'s CSV.
fn read(input: &Input<'_>) -> ImportedRuns {
    let mut runs = Vec::new();
    for (number, line) in input.lines() {
        let fields = fields(line);
        if is_old_line(&fields) {
            runs.push(old_run(input, &fields));
            continue;
        }
        if !is_mine(&fields) {
            continue;
        }
        let format = fields[0];
        let first = match format {
            "1.96" | "1.97" => 7,
            "1.98" | "2.00" | "2.00a" => 9,
            _ => {
                let what =
                    text!("format {format} of bonnie++ is unknown", "bonnie++ の形式 {format} は知りません");
                return parts::broken_at(input, number, what);
            }
        };
        // With `-n 0`, some versions omit the fields of files, but never those of data.
        if fields.len() < first + 12 {
            let what = text!("this line of bonnie++ is cut off", "bonnie++ のこの行は途中で切れています");
            return parts::broken_at(input, number, what);
        }
        runs.push(run(input, &fields, first));
    }
    if runs.is_empty() { without_line("1.98,2.00a,NAME,1,…") } else { Ok(runs) }
}

/// Returns a run. `first` is the position of the first rate.
fn run(input: &Input<'_>, fields: &[&str], first: usize) -> ImportedRun {
    let get = |at: usize| fields.get(at).copied().filter(|field| !field.is_empty());
    let seeks = if first == 9 { &[("seeks", 7), ("seekers", 8)][..] } else { &[] };
    let of_files = [("files (units of 1024)", first + 12), ("largest file", first + 13)];
    let named = [("name", 2), ("seed", 4), ("file size", 5), ("chunk size", 6)];
    let facts = named.iter().chain(&of_files).chain(seeks);
    let facts = facts.filter_map(|(key, at)| Some(((*key).to_owned(), get(*at)?.to_owned())));
    let origin = Origin {
        version: Some(fields[1].to_owned()),
        facts: facts.collect(),
        ..input.origin("bonnie++", &format!("bonnie-csv-{}", fields[0]))
    };
    let copies = fields[3].parse().ok();
    let cells = TESTS.iter().enumerate().map(|(place, test)| {
        let rate = first + test.4;
        cell(test, [get(rate), get(rate + 1), get(first + LATENCIES + place)], copies)
    });
    ImportedRun { origin, cells: cells.collect(), ..ImportedRun::default() }
}

fn cell(test: &Test, [rate, cpu, latency]: [Option<&str>; 3], copies: Option<u32>) -> Cell {
    let rate = test.1.figure(Statistic::Mean, rate);
    let latency = latency.and_then(|words| units::time_with_unit(Statistic::Highest, words));
    test_cell(test, rate, cpu, latency, copies)
}

/// Returns the cell of a test.
pub(super) fn test_cell(
    (name, _, direction, sequential, _): &Test,
    rate: Option<PrintedFigure>,
    cpu: Option<&str>,
    latency: Option<PrintedFigure>,
    copies: Option<u32>,
) -> Cell {
    let cpu = units::PERCENT.figure_of(FigureOf::from("CPU".to_owned()), Statistic::Mean, cpu);
    let imported = ImportedCell {
        procedure: Some((*name).to_owned()),
        runs: Some(1),
        threads: copies.filter(|_| *name != "seeks"),
        sequential: *sequential,
        figures: [rate, latency, cpu].into_iter().flatten().collect(),
        ..ImportedCell::default()
    };
    parts::cell(*name, *direction, imported)
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
    }

    #[test]
    fn an_unknown_format_is_told() {
        let line = String::from_utf8(fixture("lab/bonnie-1.98.csv")).unwrap().replacen("1.98", "2.71", 1);
        let error = super::super::import("a.csv", line.as_bytes()).unwrap_err();
        assert!(error.what().en.contains("format 2.71"));
    }
}
