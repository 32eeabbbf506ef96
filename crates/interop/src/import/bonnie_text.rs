//! The table that bonnie++ prints for people, and the CSV line of versions before 1.96.
//!
//! The model: the heading begins with the version and names the groups of tests. A row below it has a
//! name, a size, and a rate with its CPU share for each test; the table of files is below the next
//! heading. Without the tests of single characters (`-f`), a row has two pairs less. Data rates are in
//! KiB/s; version 2.00 prints them with a letter for a power of 1024 instead. `+++++` marks a test that
//! was too short to be measured. Each row of data is a run. Source: bon_time.cpp of bonnie++ 1.03,
//! 1.97 and 2.00.

use super::bonnie::{DATA, TESTS, Test, test_cell};
use super::kit::*;
use super::room;
use std::borrow::Cow;

/// Before it are the words `Version` and the version, which excerpts and the first Bonnie have not.
const DATA_HEADING: &str = "{}------Sequential Output------{}";
/// Heading of the table of files. Version 1.03 prints no version in it; people write the rest of a long
/// name there.
const FILE_HEADING: &str = "{}------Sequential Create------{}";
const TOOL: &str = "bonnie++";
const NO_RATE: &str = "+++++";
const LATENCY: &str = "Latency";
/// Data rates of version 2.00.
const LETTERED: ToolUnit = units::unit_of_small_powers("B/s", Quantity::Rate);

pub(super) const TEXT: Importer = Importer::of(
    ("bonnie++ table", "bonnie++", &["Sequential Output"]),
    Recognizer::Lines(|line| match () {
        () if fits(DATA_HEADING, line) => LineMark::Begins,
        () if fits(FILE_HEADING, line) => LineMark::Belongs,
        () => LineMark::None,
    }),
    read,
);

/// Number of tests of data, and of files.
const DATA_TESTS: usize = 6;
/// Tests of data without those of single characters (`-f`).
const FAST: [usize; 4] = [1, 2, 4, 5];

/// The table to which a row belongs.
#[derive(Clone, Copy, PartialEq)]
enum BonnieTable {
    Data,
    Files,
}

/// A row: its name with the size, and rate and CPU share of each test.
struct BonnieRow<'a> {
    name: Vec<&'a str>,
    pairs: Vec<[&'a str; 2]>,
}

impl<'a> BonnieRow<'a> {
    /// Reads a row of a table, which has six pairs, or four of data.
    fn read(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_rate = |word: &str| word == NO_RATE || DATA.value(word).or(LETTERED.value(word)).is_some();
        // The first Bonnie prints tenths.
        let is_share = |word: &str| word.bytes().all(|byte| byte == b'+') || number(word).is_some();
        let pairs_from = |at: usize| -> Option<Vec<[&'a str; 2]>> {
            let pairs = words.get(at..)?.chunks(2);
            let pairs = pairs.map(|pair| <[&str; 2]>::try_from(pair).ok());
            pairs.map(|pair| pair.filter(|[rate, share]| is_rate(rate) && is_share(share))).collect()
        };
        [DATA_TESTS, FAST.len()].into_iter().find_map(|count| {
            let at = words.len().checked_sub(2 * count)?;
            Some(Self { name: words[..at].to_vec(), pairs: pairs_from(at)? })
        })
    }

    /// Returns the tests of the row with their pairs.
    fn tests(&self, table: BonnieTable) -> Vec<(&'static Test, [&'a str; 2])> {
        let places: Vec<usize> = match table {
            BonnieTable::Data if self.pairs.len() == FAST.len() => FAST.to_vec(),
            BonnieTable::Data => (0..DATA_TESTS).collect(),
            BonnieTable::Files => (DATA_TESTS..TESTS.len()).collect(),
        };
        places.into_iter().map(|place| &TESTS[place]).zip(self.pairs.iter().copied()).collect()
    }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let mut runs: Vec<ImportedRun> = Vec::new();
    let (mut table, mut version, mut copies) = (None, None, None);
    let mut tool = TOOL;
    for (number, line) in whole_rows(input) {
        let line = line.as_ref();
        if let Some([words, _]) = holes(DATA_HEADING, line) {
            (table, version) = (Some(BonnieTable::Data), version_of(words));
            // The heading of the first Bonnie has one more.
            tool = if words.ends_with('-') { "Bonnie" } else { TOOL };
        } else if line.contains("MB/sec") {
            table = None; // A table that a person made under the same heading.
        } else if fits(FILE_HEADING, line) {
            table = Some(BonnieTable::Files);
        } else if let Some([words]) = holes("Concurrency {}", line) {
            copies = words.split_whitespace().next().and_then(|word| word.parse().ok());
        } else if let (Some(words), Some(run)) = (line.trim().strip_prefix(LATENCY), runs.last_mut()) {
            add_latencies(run, table, words);
        } else if let (Some(of_table), Some(row)) = (table, BonnieRow::read(line)) {
            room::take(256);
            let cells = row.tests(of_table).into_iter().map(|(test, pair)| text_cell(test, pair, copies));
            match (of_table, runs.last_mut()) {
                (BonnieTable::Data, _) => {
                    let mut run = ImportedRun { cells: cells.collect(), ..ImportedRun::default() };
                    run.origin = Origin { version: version.clone(), ..input.origin(tool, "bonnie-text") };
                    name(&mut run.origin, &row.name);
                    runs.push(run);
                }
                (BonnieTable::Files, Some(run)) if !has_files(run) => run.cells.extend(cells),
                (BonnieTable::Files, _) => return Err(parts::miscounted(input, number).into()),
            }
        }
    }
    if runs.is_empty() { without_line("Version 1.98 ------Sequential Output------ …") } else { Ok(runs) }
}

/// Returns the lines, each row of numbers with its rest if a mail program wrapped it: the next line, which
/// consists only of numbers.
fn whole_rows<'l>(input: &'l Input<'_>) -> Vec<(usize, Cow<'l, str>)> {
    let is_value = |word: &str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        word.bytes().all(|byte| byte == b'+') || number(digits).is_some()
    };
    let count = |line: &str| line.split_whitespace().rev().take_while(|word| is_value(word)).count();
    let mut rows: Vec<(usize, Cow<'_, str>)> = Vec::new();
    for (number, line) in input.lines() {
        let is_rest = || count(line) == line.split_whitespace().count() && !line.trim().is_empty();
        match rows.last_mut() {
            Some((_, row)) if (1..2 * DATA_TESTS).contains(&count(row)) && is_rest() => {
                let is_latency = row.trim_start().starts_with(LATENCY);
                let most = if is_latency { DATA_TESTS } else { 2 * DATA_TESTS + 1 };
                if count(row) + count(line) <= most {
                    *row = Cow::Owned(format!("{} {}", row.trim_end(), line.trim()));
                    continue;
                }
                rows.push((number, Cow::Borrowed(line)));
            }
            _ => rows.push((number, Cow::Borrowed(line))),
        }
    }
    rows
}

/// Returns the version before the heading, unless a script left its placeholder there.
fn version_of(words: &str) -> Option<String> {
    words
        .split_whitespace()
        .find(|word| *word != "Version")
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
}

/// Stores name and size. A row below another one of the same name can have neither.
fn name(origin: &mut Origin, words: &[&str]) {
    let (size, words) = match words {
        // A long name and the size are one word.
        [.., one] if one.contains(':') && words.len() == 1 => {
            (one.split(':').find(|part| is_size(part)), words)
        }
        [names @ .., size] => (Some(*size), names),
        [] => return,
    };
    if let Some(size) = size {
        fact(origin, "file size", size);
    }
    if !words.is_empty() {
        fact(origin, "name", words.join(" "));
    }
}

fn is_size(word: &str) -> bool {
    word.strip_suffix(['M', 'G']).is_some_and(digits)
}

fn has_files(run: &ImportedRun) -> bool {
    run.cells.iter().any(|cell| TESTS[DATA_TESTS..].iter().any(|test| test.0 == cell.label))
}

fn text_cell(test: &Test, [rate, share]: [&str; 2], copies: Option<u32>) -> Cell {
    let is_lettered = test.1 == DATA && rate.ends_with(|c: char| c.is_ascii_alphabetic());
    let unit = if is_lettered { LETTERED } else { test.1 };
    test_cell(test, unit.figure(Statistic::Mean, rate), Some(share), None, copies)
}

/// Adds the longest latencies to the cells of the last row.
fn add_latencies(run: &mut ImportedRun, table: Option<BonnieTable>, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let is_of_table = |cell: &&mut Cell| {
        let place = TESTS.iter().position(|test| test.0 == cell.label);
        place.is_some_and(|place| (place < DATA_TESTS) == (table == Some(BonnieTable::Data)))
    };
    let cells: Vec<&mut Cell> = run.cells.iter_mut().filter(is_of_table).collect();
    // A test without a latency has no column, so the columns are certain only if each has one.
    if cells.len() != words.len() {
        return;
    }
    for (cell, words) in cells.into_iter().zip(words) {
        let latency = units::time_with_unit(Statistic::Highest, words);
        if let (Some(imported), Some(latency)) = (&mut cell.imported, latency) {
            let after_rate = imported.figures.len().min(1);
            imported.figures.insert(after_rate, latency);
        }
    }
}

/// Number of fields of the CSV line of versions before 1.96.
const OLD_FIELDS: usize = 27;

/// Returns whether these are the fields of the CSV line of versions before 1.96: name, size, six pairs
/// of data, number of files, six pairs of files.
pub(super) fn is_old_line(fields: &[&str]) -> bool {
    let is_rate =
        |at: &usize| fields[*at].is_empty() || fields[*at] == NO_RATE || number(fields[*at]).is_some();
    let is_share = |at: &usize| fields[*at].bytes().all(|byte| byte == b'+') || digits(fields[*at]);
    fields.len() == OLD_FIELDS
        && fields[1].split(':').next().is_some_and(|size| is_size(size) || digits(size))
        && (2..14).step_by(2).chain((15..OLD_FIELDS).step_by(2)).all(|at| is_rate(&at) && is_share(&(at + 1)))
        && (2..14).any(|at| number(fields[at]).is_some())
}

/// Returns the run of the CSV line of versions before 1.96.
pub(super) fn old_run(input: &Input<'_>, fields: &[&str]) -> ImportedRun {
    let mut origin = input.origin("bonnie++", "bonnie-csv-1.03");
    for (key, at) in [("name", 0), ("file size", 1), ("files (units of 1024)", 14)] {
        if !fields[at].is_empty() {
            fact(&mut origin, key, fields[at]);
        }
    }
    let place = |at: usize| if at < DATA_TESTS { 2 + 2 * at } else { 15 + 2 * (at - DATA_TESTS) };
    let cells = TESTS.iter().enumerate().map(|(at, test)| {
        let rate = test.1.figure(Statistic::Mean, fields[place(at)]);
        test_cell(test, rate, Some(fields[place(at) + 1]), None, None)
    });
    ImportedRun { origin, cells: cells.collect(), ..ImportedRun::default() }
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;
    use super::*;

    const TABLE: &str = "\
Version  1.96       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
disk         32080M  1148  98 126598  11 74273   9  5334 100 229733  15 311.6 160
Latency             15865us     554ms     483ms    4473us     434ms    2480us
Version  1.96       ------Sequential Create------ --------Random Create--------
disk                -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16 23322  22 +++++ +++ 24000  16 +++++ +++ +++++ +++ 15523  92
Latency              1343us     243us     243us     343us       9us     222us
";

    #[test]
    fn both_tables_of_a_run_are_read() {
        let run = &import("a.txt", TABLE.as_bytes()).unwrap()[0];
        assert_eq!(run.origin.tool_name(), "bonnie++ 1.96");
        assert_eq!(run.origin.facts.get("file size").map(String::as_str), Some("32080M"));
        assert_eq!(run.origin.facts.get("name").map(String::as_str), Some("disk"));
        let block = find(run, "put_block");
        assert_figure(&of(block).figures[0], "126598", "K/s", 126_598.0 * 1024.0);
        assert_figure(figure(block, Quantity::Latency, Statistic::Highest, None), "554", "ms", 554e6);
        assert_figure(&of(find(run, "seeks")).figures[0], "311.6", "seeks/s", 311.6);
        assert_figure(&of(find(run, "seq_create")).figures[0], "23322", "files/s", 23_322.0);
        assert_eq!(of(find(run, "ran_stat")).figures[0].quantity, Quantity::Latency, "too short to measure");
    }

    #[test]
    fn fast_rows_letters_and_several_rows_are_read() {
        let heading: String = TABLE.lines().take(3).map(|line| format!("{line}\n")).collect();
        let fast = "64G:4k::65536                 15.8m  19 60.5m  26            218m  31 279.1  13\n";
        let run = &import("a.txt", format!("{heading}{fast}").as_bytes()).unwrap()[0];
        let labels: Vec<&str> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
        assert_eq!(labels, ["put_block", "rewrite", "get_block", "seeks"]);
        let block = &of(find(run, "put_block")).figures[0];
        assert!(
            (block.value / (15.8 * 1_048_576.0) - 1.0).abs() < 1e-9 && block.printed == "15.8m",
            "{block:?}"
        );
        assert_eq!(run.origin.facts.get("file size").map(String::as_str), Some("64G"));
        let rows = "> compiled in  15872M 38366 71  65602  22 18348   4 53276 84  57947   7 905.4   2\n\
                    > module       15872M 51246 96 204914  70 57236  14 59779 96 264171  33 923.0   2\n";
        let runs = import("a.txt", format!("{heading}{rows}").as_bytes()).unwrap();
        let rates: Vec<&str> =
            runs.iter().map(|run| of(find(run, "get_block")).figures[0].printed.as_str()).collect();
        assert_eq!(rates, ["57947", "264171"]);
        assert_eq!(runs[0].origin.facts.get("name").map(String::as_str), Some("compiled in"));
    }

    #[test]
    fn the_csv_line_of_old_versions_is_read() {
        let line = "box,2G,10862,91,63699,27,29931,12,11483,91,83455,22,196.7,0,16,2693,67,+++++,+++,3467,37,2948,\
                    47,+++++,+++,3131,38\n";
        let run = &import("a.csv", line.as_bytes()).unwrap()[0];
        assert_figure(&of(find(run, "get_block")).figures[0], "83455", "K/s", 83_455.0 * 1024.0);
        assert_figure(&of(find(run, "ran_del")).figures[0], "3131", "files/s", 3131.0);
        assert!(import("a.csv", line.replace(",47,", ",x,").as_bytes()).is_err());
    }
}
