//! iozone: the report of automatic and single runs, its Excel output (`-R`), and throughput mode (`-t`).
//!
//! The model: a test on a file size with a record size is a cell. Columns of the report may be empty where a test was
//! left out (`-i`), so a number belongs to the header word above whose end it ends. The Excel output holds the same
//! numbers; it is read where the report is missing. A 0 stands for what was not run. A kB is 1024 bytes. With `-O`
//! numbers are operations per second, with `-N` microseconds of an operation. In throughput mode the first figure is
//! the sum that the processes saw. iozone's documentation and its output (3.489).

use super::lab::{self, Unit};
use super::parts;
use super::{ImportedRun, Input, Outcome, dates};
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedStatistic as Statistic, Quantity};
use kurabe_core::record::{Cell, Notice};
use kurabe_core::text;
use kurabe_core::workload::Direction;

/// A test: its name here, which reads and writes of a kind share, its title in the Excel output, its direction, whether
/// offsets ascend.
type Test = (&'static str, &'static str, Direction, Option<bool>);

const READ: Direction = Direction::Read;
const WRITE: Direction = Direction::Write;

/// The tests in the order of the report's columns.
const TESTS: [Test; 13] = [
    ("sequential", "Writer report", WRITE, Some(true)),
    ("sequential again", "Re-writer report", WRITE, Some(true)),
    ("sequential", "Reader report", READ, Some(true)),
    ("sequential again", "Re-Reader report", READ, Some(true)),
    ("random", "Random read report", READ, Some(false)),
    ("random", "Random write report", WRITE, Some(false)),
    ("backward", "Backward read report", READ, None),
    ("record rewrite", "Record rewrite report", WRITE, None),
    ("stride", "Stride read report", READ, None),
    ("stdio", "Fwrite report", WRITE, Some(true)),
    ("stdio again", "Re-Fwrite report", WRITE, Some(true)),
    ("stdio", "Fread report", READ, Some(true)),
    ("stdio again", "Re-Fread report", READ, Some(true)),
];

/// A number of the matrix: test, file and record size in kB, characters.
struct Entry<'a> {
    test: usize,
    file_kb: &'a str,
    record_kb: &'a str,
    printed: &'a str,
}

/// Reads iozone's output.
pub(super) fn read(input: &Input<'_>) -> Outcome {
    let is_banner = |line: &str| {
        let line = line.trim();
        line.starts_with("Iozone: Performance Test") || is_header(line) || line == "\"Writer report\""
    };
    if !input.lines().any(|(_, line)| is_banner(line)) {
        return Outcome::NotMine(text!(
            "it has neither `Iozone: Performance Test` nor the columns `kB reclen write`",
            "`Iozone: Performance Test` も列 `kB reclen write` もありません"
        ));
    }
    let mut origin = origin(input);
    let unit = unit(input);
    let mut entries = report(input);
    if entries.is_empty() {
        entries = excel(input);
    }
    let depth = input.lines().find_map(|(_, line)| line.trim().strip_prefix("Throughput test with "));
    let processes = depth.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    let procedure = origin.procedure.as_deref().map(parts::repeated);
    let mut cells: Vec<Cell> =
        entries.iter().filter_map(|entry| entry_cell(entry, unit, procedure.as_deref())).collect();
    cells.extend(throughput(input, processes, procedure.as_deref()));
    if cells.is_empty() {
        return lab::nothing_measured(input, "iozone");
    }
    for cell in cells.iter_mut().filter_map(|cell| cell.imported.as_mut()) {
        cell.figures.iter_mut().for_each(|figure| lab::mark_binary_unit(figure, "iozone"));
    }
    origin.format = if processes.is_some() { "iozone-throughput" } else { "iozone" }.to_owned();
    Outcome::Runs(vec![ImportedRun {
        origin,
        cells: parts::numbered(cells),
        notices: notices(input),
        ..ImportedRun::default()
    }])
}

fn origin(input: &Input<'_>) -> Origin {
    let after = |key: &str| input.lines().find_map(|(_, line)| line.trim().strip_prefix(key)).map(str::trim);
    let version = after("Version $Revision:").map(|rest| rest.trim_end_matches('$').trim().to_owned());
    let command = after("Command line used:").filter(|command| !command.is_empty());
    let mut words = command.unwrap_or("").split_whitespace().skip_while(|word| *word != "-f");
    Origin {
        tool: "iozone".to_owned(),
        version,
        file: input.name.to_owned(),
        measured_at: after("Run began:").and_then(dates::from_ctime),
        target: words.nth(1).map(str::to_owned),
        procedure: command.map(str::to_owned),
        ..Origin::default()
    }
}

/// The unit of the matrix.
fn unit(input: &Input<'_>) -> Unit {
    let has_line = |words: &str| input.lines().any(|(_, line)| line.trim().starts_with(words));
    if has_line("OPS Mode") {
        lab::unit("ops/s", Quantity::Iops, 1.0)
    } else if has_line("Microseconds/op Mode") {
        lab::unit("us/op", Quantity::Latency, 1e3)
    } else {
        lab::unit("kBytes/sec", Quantity::Rate, 1024.0)
    }
}

fn notices(input: &Input<'_>) -> Vec<Notice> {
    let cached = !input.lines().any(|(_, line)| {
        let line = line.trim();
        line.starts_with("O_DIRECT feature enabled") || line.starts_with("Include fsync in write timing")
    });
    let text = text!(
        "iozone ran without direct I/O and without fsync: the page cache may have done the work",
        "iozone はダイレクト I/O も fsync も使っていません。ページキャッシュの速度かもしれません"
    );
    if cached { vec![parts::notice(text)] } else { Vec::new() }
}

fn is_header(line: &str) -> bool {
    line.split_whitespace().take(4).eq(["kB", "reclen", "write", "rewrite"])
        || line.split_whitespace().take(4).eq(["KB", "reclen", "write", "rewrite"])
}

/// Words of a line with the column after their end.
fn words_with_ends(line: &str) -> Vec<(&str, usize)> {
    let start = line.as_ptr() as usize;
    line.split_whitespace().map(|word| (word, word.as_ptr() as usize - start + word.len())).collect()
}

/// Rows of the report.
fn report<'a>(input: &'a Input<'_>) -> Vec<Entry<'a>> {
    let mut ends: Option<Vec<usize>> = None;
    let mut entries = Vec::new();
    for (_, line) in input.lines() {
        if is_header(line) {
            ends = Some(words_with_ends(line).iter().skip(2).map(|(_, end)| *end).collect());
            continue;
        }
        let Some(columns) = ends.as_ref().filter(|columns| columns.len() == TESTS.len()) else { continue };
        let words = words_with_ends(line);
        let [(file_kb, _), (record_kb, _), numbers @ ..] = words.as_slice() else { continue };
        let whole = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        if !words.iter().all(|(word, _)| whole(word)) {
            continue;
        }
        for (place, (printed, end)) in numbers.iter().enumerate() {
            let test = if numbers.len() == TESTS.len() {
                Some(place)
            } else {
                // Header words do not all end where their numbers do, but never far off.
                columns.iter().position(|column| column.abs_diff(*end) <= 2)
            };
            entries.extend(test.map(|test| Entry { test, file_kb, record_kb, printed }));
        }
    }
    entries
}

/// The matrices behind `Excel output is below:`.
fn excel<'a>(input: &'a Input<'_>) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    let mut test = None;
    let mut records: Vec<&str> = Vec::new();
    for (_, line) in input.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let unquoted = |word: &'a str| word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
        if let Some(title) = unquoted(line.trim()).filter(|title| title.ends_with("report")) {
            test = TESTS.iter().position(|(_, name, ..)| *name == title);
            records.clear();
        } else if words.is_empty() {
            test = None;
        } else if records.is_empty() {
            records = words.iter().filter_map(|word| unquoted(word)).collect();
        } else if let (Some(test), Some(file_kb)) = (test, unquoted(words[0])) {
            let pairs = records.iter().zip(&words[1..]);
            entries.extend(pairs.map(|(record_kb, printed)| Entry { test, file_kb, record_kb, printed }));
        }
    }
    entries
}

fn entry_cell(entry: &Entry<'_>, unit: Unit, procedure: Option<&str>) -> Option<Cell> {
    let (name, _, direction, sequential) = TESTS.get(entry.test)?;
    let Entry { file_kb, record_kb, .. } = entry;
    // No size has more digits than 2^64.
    let kib = |words: &str| words.parse::<u64>().ok().filter(|_| words.len() <= 20)?.checked_mul(1024);
    kib(file_kb)?;
    let imported = ImportedCell {
        procedure: procedure.map(str::to_owned),
        runs: Some(1),
        block_bytes: Some(kib(record_kb)?),
        threads: Some(1),
        sequential: *sequential,
        figures: vec![unit.figure(Statistic::Mean, entry.printed).filter(|figure| figure.value > 0.0)?],
        ..ImportedCell::default()
    };
    Some(parts::cell(format!("{name}, file {file_kb} kB, record {record_kb} kB"), Some(*direction), imported))
}

/// Cells of throughput mode: a sum and the spread over the processes.
fn throughput(input: &Input<'_>, processes: Option<u32>, procedure: Option<&str>) -> Vec<Cell> {
    let record = input.lines().find_map(|(_, line)| line.trim().strip_prefix("Record Size "));
    let record =
        record.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024));
    let mut cells: Vec<Cell> = Vec::new();
    for (_, line) in input.lines() {
        let Some((words, number)) = line.split_once('=') else { continue };
        let mut number = number.split_whitespace();
        let (printed, unit) = (number.next().unwrap_or(""), number.next().unwrap_or(""));
        let unit = match unit {
            "kB/sec" | "KB/sec" => lab::unit("kB/sec", Quantity::Rate, 1024.0),
            "ops/sec" => lab::unit("ops/sec", Quantity::Iops, 1.0),
            _ => continue,
        };
        let words = words.trim();
        if let Some(rest) = words.strip_prefix("Children see throughput for") {
            let who = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim();
            let (direction, sequential) = of_children(who);
            let figures = unit.figure_of(FigureOf::SumOfProcesses, Statistic::Sum, printed);
            let imported = ImportedCell {
                procedure: procedure.map(str::to_owned),
                runs: Some(1),
                block_bytes: record,
                threads: processes,
                sequential,
                figures: figures.into_iter().filter(|figure| figure.value > 0.0).collect(),
                ..ImportedCell::default()
            };
            cells.push(parts::cell(who, direction, imported));
            continue;
        }
        let (statistic, what) = match words.split_whitespace().next() {
            Some("Parent") => (Statistic::Sum, FigureOf::SeenByParent),
            Some("Min") => (Statistic::Lowest, FigureOf::EachProcess),
            Some("Max") => (Statistic::Highest, FigureOf::EachProcess),
            Some("Avg") => (Statistic::Mean, FigureOf::EachProcess),
            _ => continue,
        };
        if let Some(cell) =
            cells.last_mut().and_then(|cell| cell.imported.as_mut()).filter(|cell| !cell.figures.is_empty())
        {
            cell.figures.extend(unit.figure_of(what, statistic, printed));
        }
    }
    cells.retain(|cell| cell.imported.as_ref().is_some_and(|imported| !imported.figures.is_empty()));
    cells
}

/// What `initial writers`, `random readers` and the like do.
fn of_children(who: &str) -> (Option<Direction>, Option<bool>) {
    let direction = match () {
        () if who.contains("mixed") => Some(Direction::Mix),
        () if who.contains("writer") => Some(WRITE),
        () if who.contains("reader") => Some(READ),
        () => None,
    };
    let sequential = match () {
        () if who.contains("random") => Some(false),
        () if ["mixed", "reverse", "stride"].iter().any(|word| who.contains(word)) => None,
        () => direction.map(|_| true),
    };
    (direction, sequential)
}

#[cfg(test)]
mod tests {
    use super::super::lab::test::*;
    use super::*;

    #[test]
    fn a_matrix_of_sizes() {
        let run = &imported("lab/iozone.txt")[0];
        assert_eq!(run.origin.tool_name(), "iozone 3.489");
        assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21T13:23:56"));
        assert_eq!(run.origin.target.as_deref(), Some("./ioz.tst"));
        assert_eq!(run.cells.len(), 6 * 9);
        assert!(run.notices[0].text.en.contains("page cache"));
        let cell = find(run, "random, file 128 kB, record 8 kB write");
        assert_eq!((cell.direction, of(cell).sequential), (Some(WRITE), Some(false)));
        assert_eq!(of(cell).block_bytes, Some(8192));
        assert_figure(&of(cell).figures[0], "4934216", "kBytes/sec", 4_934_216.0 * 1024.0);
        assert_eq!(of(cell).figures[0].correction.as_ref().map(|c| c.factor), Some(1.024));
    }

    #[test]
    fn the_excel_output_alone_reads_the_same() {
        let text = String::from_utf8(fixture("lab/iozone.txt")).unwrap();
        let excel = &text[text.find("\"Writer report\"").unwrap()..];
        let runs = super::super::import("a.txt", excel.as_bytes()).unwrap();
        let of_report = &imported("lab/iozone.txt")[0];
        assert_eq!(runs[0].cells.len(), of_report.cells.len());
        for cell in &runs[0].cells {
            assert_eq!(of(cell).figures, of(find(of_report, &name(cell))).figures);
        }
    }

    #[test]
    fn empty_columns_are_tests_that_were_left_out() {
        let run = &imported("lab/iozone-ops.txt")[0];
        let rates: Vec<_> = run
            .cells
            .iter()
            .map(|c| (c.label.split(',').next().unwrap(), c.part.as_str(), of(c).figures[0].value))
            .collect();
        let expected = [
            ("sequential", "write", 52_625.0),
            ("sequential again", "write", 180_777.0),
            ("random", "read", 262_942.0),
            ("random", "write", 148_726.0),
            ("stride", "read", 336_853.0),
        ];
        assert_eq!(rates, expected);
        assert_eq!(of(&run.cells[0]).figures[0].unit_printed, "ops/s");
    }

    #[test]
    fn throughput_mode_adds_up_processes() {
        let run = &imported("lab/iozone-throughput.txt")[0];
        let writers = find(run, "initial writers");
        assert_eq!((of(writers).threads, of(writers).block_bytes), (Some(2), Some(65_536)));
        assert_figure(&of(writers).figures[0], "3048658.50", "kB/sec", 3_048_658.5 * 1024.0);
        let mean = figure(find(run, "re-readers"), Quantity::Rate, Statistic::Mean, Some("per process"));
        assert_figure(mean, "5066731.00", "kB/sec", 5_066_731.0 * 1024.0);
        assert_eq!(run.cells.len(), 4);
        for name in ["iozone.txt", "iozone-ops.txt", "iozone-throughput.txt"] {
            assert_survives_damage(&format!("lab/{name}"));
        }
    }
}
