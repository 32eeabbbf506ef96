//! iozone output: the report of automatic and single runs, the Excel output (`-R`), and throughput mode
//! (`-t`).
//!
//! The model: a test on a file size with a record size is a cell. Columns of the report can be empty if
//! a test was not selected (`-i`), so a number belongs to the header word at whose end it ends. The
//! Excel output contains the same numbers; it is read if the report is missing. A 0 marks a test that
//! was not run. A kB is 1024 bytes. With `-O`, numbers are operations per second, with `-N`
//! microseconds per operation. In throughput mode, the first figure is the sum over the processes.
//! Source: iozone's documentation and its output (3.489).

use super::kit::*;
use super::room;
use kurabe_core::record::NoticeKind;

/// A test: its name here, which reads and writes of a kind share, its title in the Excel output, its
/// direction, and whether offsets ascend.
type Test = (&'static str, &'static str, Direction, Option<bool>);

const READ: Direction = Direction::Read;
const WRITE: Direction = Direction::Write;

/// Tests in the order of the report's columns.
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

/// Words above the columns of the report.
const COLUMNS: [&str; TESTS.len()] = [
    "write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read", "fwrite", "frewrite",
    "fread", "freread",
];

/// A number of the matrix: test, file and record size in kB, and digits.
struct MatrixCell<'a> {
    test: usize,
    file_kb: &'a str,
    record_kb: &'a str,
    printed: &'a str,
}

/// Lines of throughput mode. The first of them begins a test.
const THROUGHPUT: [(&str, Statistic, FigureOf); 6] = [
    ("Children see throughput for{}={} {}", Statistic::Sum, FigureOf::SumOfProcesses),
    ("Parent sees throughput for{}={} {}", Statistic::Sum, FigureOf::SeenByParent),
    ("Min throughput per process{}={} {}", Statistic::Lowest, FigureOf::EachProcess),
    ("Max throughput per process{}={} {}", Statistic::Highest, FigureOf::EachProcess),
    ("Avg throughput per process{}={} {}", Statistic::Mean, FigureOf::EachProcess),
    ("Min xfer{}={} {}", Statistic::Lowest, FigureOf::EachProcess),
];
const HEADERS: [&str; 2] = ["kB{}reclen{}write{}rewrite{}", "KB{}reclen{}write{}rewrite{}"];
const BEGAN: &str = "Run began:{}";
/// Message of the diagnostic mode.
const INVALID: &str = "Performance measurements are invalid in this mode.";
const SHAPES: LineShapes = LineShapes {
    begins: &["Iozone: Performance Test{}"],
    belongs: &[
        "\"Writer report\"",
        HEADERS[0],
        HEADERS[1],
        BEGAN,
        THROUGHPUT[0].0,
        THROUGHPUT[1].0,
        THROUGHPUT[2].0,
        THROUGHPUT[3].0,
        THROUGHPUT[4].0,
    ],
};
const DETAILS: [DetailLine; 16] = [
    (&["Version $Revision:{}$"], &[Detail::Version]),
    (&["Compiled for {}."], &[Detail::Fact("Compiled for")]),
    (&["Build"], &[Detail::Fact("Build")]),
    (&["File size set to {}"], &[Detail::Fact("File size")]),
    (&["Using minimum file size of {}."], &[Detail::Fact("Minimum file size")]),
    (&["Using maximum file size of {}."], &[Detail::Fact("Maximum file size")]),
    (&["Using Minimum Record Size {}"], &[Detail::Fact("Minimum Record Size")]),
    (&["Using Maximum Record Size {}"], &[Detail::Fact("Maximum Record Size")]),
    (&["Time Resolution = {}."], &[Detail::Fact("Time Resolution")]),
    (&["Processor cache size set to {}."], &[Detail::Fact("Processor cache size")]),
    (&["Processor cache line size set to {}."], &[Detail::Fact("Processor cache line size")]),
    (&["File stride size set to {}."], &[Detail::Fact("File stride size")]),
    (&[BEGAN], &[Detail::Date(dates::from_ctime)]),
    (&["Command line used:{}"], &[Detail::Procedure]),
    (&["Record Size {} kB"], &[Detail::BlockBytes(kib)]),
    (&["Throughput test with {} process{}"], &[Detail::Threads]),
];
/// Units of the numbers of the matrix, by a line about the options.
const MODES: [(&str, ToolUnit); 2] = [
    ("OPS Mode", units::unit("ops/s", Quantity::Iops, 1.0)),
    ("Microseconds/op Mode", units::unit("us/op", Quantity::Latency, 1e3)),
];
const USUAL_UNIT: ToolUnit = units::unit("kBytes/sec", Quantity::Rate, 1024.0);

pub(super) const IMPORTER: Importer =
    Importer::of(("iozone", "iozone", &["iozone"]), Recognizer::Shapes(SHAPES), read);

fn read(input: &Input<'_>) -> ImportedRuns {
    if !input.lines().any(|(_, line)| SHAPES.mark(line) != LineMark::None) {
        return without_line("kB reclen write rewrite …` or `Children see throughput for …");
    }
    if let Some((number, _)) = input.lines().find(|(_, line)| line.trim() == INVALID) {
        let what = text!(
            "iozone verified its data (`-+d`), and says that its figures are invalid in this mode",
            "iozone がデータを検証するモード(`-+d`)で実行されており、測定値は無効と表示されています"
        );
        return Err(broken_line(input, number, what).into());
    }
    let details = RunDetails::of(input, ("iozone", "iozone"), &DETAILS, input.lines());
    let RunDetails { mut origin, setting, .. } = details;
    origin.procedure = origin.procedure.or_else(|| command(input).map(str::to_owned));
    let words = origin.procedure.as_deref().unwrap_or("").split_whitespace();
    origin.target = words.skip_while(|word| *word != "-f").nth(1).map(str::to_owned);
    if setting.threads.is_some() {
        "iozone-throughput".clone_into(&mut origin.format);
    }
    let unit = MODES.into_iter().find(|(words, _)| input.after(words).is_some());
    let unit = unit.map_or(USUAL_UNIT, |(_, unit)| unit);
    let setting = ImportedCell { runs: Some(1), ..setting };
    let MatrixReport { mut entries, is_assumed } = report(input, origin.procedure.as_deref());
    if entries.is_empty() {
        entries = excel(input);
    }
    let mut cells: Vec<Cell> = {
        let entries = entries.iter().take_while(|_| !room::is_spent());
        entries.filter_map(|entry| entry_cell(entry, unit, &setting)).collect()
    };
    cells.extend(throughput(input, &setting));
    for cell in cells.iter_mut().filter_map(|cell| cell.imported.as_mut()) {
        cell.figures.iter_mut().for_each(|figure| units::mark_binary_unit(figure, "iozone"));
    }
    let mut notices = vec![notice(input, origin.procedure.as_deref())];
    if is_assumed {
        notices.push(parts::notice(text!(
            "the columns of the report lost their places, and rows have fewer numbers than columns: they \
             were read from the left, as a run of the first tests (`-i 0 -i 1 -i 2`) prints them",
            "表の桁位置が失われ、列より数値が少ない行があります。最初のテスト(`-i 0 -i 1 -i 2`)の結果として左から順に読みました"
        )));
    }
    Ok(vec![ImportedRun { origin, cells, notices, ..ImportedRun::default() }])
}

/// Returns the command line of a shell, for a text without iozone's own line of it.
fn command<'a>(input: &'a Input<'_>) -> Option<&'a str> {
    input.lines().find_map(|(_, line)| {
        let at = line
            .find("iozone -")
            .filter(|at| *at == 0 || line[..*at].ends_with([' ', '/', '$', '#', '`']))?;
        Some(line[at..].trim_end().trim_end_matches('`'))
    })
}

/// Parses a number of KiB. No size has more digits than 2^64.
fn kib(words: &str) -> Option<u64> {
    words.parse::<u64>().ok().filter(|_| words.len() <= 20)?.checked_mul(1024)
}

/// Returns a notice whether the figures may be those of the page cache, from the options that iozone
/// prints and from its command line: `-I` bypasses it, with `-e` writes include their fsync, with `-o`
/// they are synchronous.
fn notice(input: &Input<'_>, command: Option<&str>) -> Notice {
    let has = |words: &str| input.after(words).is_some();
    let given = |letter: char| command.is_some_and(|command| has_option(command, letter));
    let direct = has("O_DIRECT feature enabled") || given('I');
    let synced = has("Include fsync in write timing") || has("SYNC Mode") || given('e') || given('o');
    let is_seen = has("O_DIRECT feature enabled") || has("Command line used:");
    let text = match (direct, synced) {
        (true, _) if !is_seen => text!(
            "iozone was started with direct I/O (`-I`), but the text does not show whether the system \
             supported it; without direct I/O, reads come from the page cache",
            "iozone にはダイレクト I/O(`-I`)が指定されていますが、実際に使われたかどうかは本文にありません。使われていなければ\
             読み出しはページキャッシュの速度です"
        ),
        (true, true) => text!(
            "iozone used direct I/O (`-I`) and synced its writes (`-e` or `-o`)",
            "iozone はダイレクト I/O(`-I`)を使い、書き込みを同期しています(`-e` または `-o`)"
        ),
        (true, false) => {
            text!("iozone used direct I/O (`-I`)", "iozone はダイレクト I/O(`-I`)を使っています")
        }
        (false, true) => text!(
            "iozone synced its writes (`-e` or `-o`) but used no direct I/O: its reads may come from the page cache",
            "iozone は書き込みを同期していますが(`-e` または `-o`)、ダイレクト I/O は使っていません。読み出しはページキャッシュの\
             速度かもしれません"
        ),
        (false, false) if command.is_none() && !has("Output is in") => text!(
            "whether iozone used direct I/O is not in the text; without it, the figures may be those of the page cache",
            "iozone がダイレクト I/O を使ったかどうかは本文にありません。使っていなければページキャッシュの速度かもしれません"
        ),
        (false, false) => text!(
            "iozone ran without direct I/O and without fsync: the figures may be those of the page cache",
            "iozone はダイレクト I/O も fsync も使っていません。ページキャッシュの速度かもしれません"
        ),
    };
    let kind = if direct { NoticeKind::Other } else { NoticeKind::CacheDrop };
    Notice::new(kind, text)
}

/// Returns whether a command line has an option of one letter, alone (`-e`) or among others (`-ecI`). A
/// letter that takes a value consumes the rest.
fn has_option(command: &str, letter: char) -> bool {
    const WITH_VALUE: &str = "bBdfFgHijJklLmMnOPqQrRsStTuUVxXYy+";
    let words = command.split_whitespace().filter_map(|word| word.strip_prefix('-'));
    words.into_iter().any(|word| {
        let end = word.find(|c| WITH_VALUE.contains(c) && c != letter).unwrap_or(word.len());
        word[..end].contains(letter)
    })
}

/// Returns the words of a line with the column after their end.
fn words_with_ends(line: &str) -> Vec<(&str, usize)> {
    let start = line.as_ptr() as usize;
    line.split_whitespace().map(|word| (word, word.as_ptr() as usize - start + word.len())).collect()
}

/// The rows of the report.
#[derive(Default)]
struct MatrixReport<'a> {
    entries: Vec<MatrixCell<'a>>,
    /// Whether the tests of some numbers were assumed.
    is_assumed: bool,
}

/// Returns whether the columns of a line are separated by single spaces, so that they lost their places.
fn is_collapsed(line: &str) -> bool {
    !line.trim().contains("  ")
}

/// Columns of the tests that `-i` selects.
const SELECTED: [&[usize]; 8] = [&[0, 1], &[2, 3], &[4, 5], &[6], &[7], &[8], &[9, 10], &[11, 12]];

/// Returns the columns of the tests that a command selects (`-i 0 -i 2`, `-i0`). Empty if it selects
/// none.
fn selected(command: &str) -> Vec<usize> {
    let mut words = command.split_whitespace();
    let mut columns = Vec::new();
    while let Some(word) = words.next() {
        let number = match word.strip_prefix("-i") {
            Some("") => words.next(),
            number => number,
        };
        let tests = number.and_then(|number| SELECTED.get(number.parse::<usize>().ok()?));
        columns.extend(tests.into_iter().copied().flatten());
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Returns the rows of the report.
fn report<'a>(input: &'a Input<'_>, command: Option<&str>) -> MatrixReport<'a> {
    let mut columns: Vec<usize> = Vec::new();
    let mut report = MatrixReport::default();
    let selected = command.map(selected).unwrap_or_default();
    let mut is_header_collapsed = false;
    for (_, line) in input.lines() {
        let words = words_with_ends(line);
        if HEADERS.iter().any(|shape| fits(shape, line)) {
            let names = words.iter().skip(2);
            let are_known = names.clone().zip(COLUMNS).all(|((name, _), own)| *name == own);
            columns = names.filter(|_| are_known).map(|(_, end)| *end).collect();
            is_header_collapsed = is_collapsed(line);
            continue;
        }
        // Builds without stdio tests print nine columns, and runs of few tests may print only theirs.
        let is_table = (1..=TESTS.len()).contains(&columns.len());
        let [(file_kb, _), (record_kb, _), numbers @ ..] = words.as_slice() else { continue };
        if !is_table || !words.iter().all(|(word, _)| digits(word)) {
            continue;
        }
        let has_lost_places = is_header_collapsed || is_collapsed(line);
        let is_whole = numbers.len() == columns.len();
        report.is_assumed |= has_lost_places && !is_whole && selected.len() != numbers.len();
        for (place, (printed, end)) in numbers.iter().enumerate() {
            // Header words do not all end where their numbers do, but near it.
            let below = || columns.iter().position(|column| column.abs_diff(*end) <= 2);
            let test = match has_lost_places {
                _ if is_whole => Some(place),
                true if selected.len() == numbers.len() => Some(selected[place]),
                true => Some(place).filter(|place| *place < columns.len()),
                false => below(),
            };
            room::take(3 * size_of::<MatrixCell<'_>>());
            report.entries.extend(test.map(|test| MatrixCell { test, file_kb, record_kb, printed }));
        }
    }
    report
}

/// Returns the matrices after `Excel output is below:`.
fn excel<'a>(input: &'a Input<'_>) -> Vec<MatrixCell<'a>> {
    let mut entries = Vec::new();
    let mut test = None;
    let mut records: Vec<&str> = Vec::new();
    let unquoted = |word: &'a str| word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    for (_, line) in input.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(title) = unquoted(line.trim()).filter(|title| title.ends_with("report")) {
            test = TESTS.iter().position(|(_, name, ..)| *name == title);
            records.clear();
        } else if words.is_empty() {
            test = None;
        } else if records.is_empty() {
            records = words.iter().filter_map(|word| unquoted(word)).collect();
        } else if let (Some(test), Some(file_kb)) = (test, unquoted(words[0])) {
            for (record_kb, printed) in records.iter().zip(&words[1..]) {
                room::take(3 * size_of::<MatrixCell<'_>>());
                entries.push(MatrixCell { test, file_kb, record_kb, printed });
            }
        }
    }
    entries
}

fn entry_cell(entry: &MatrixCell<'_>, unit: ToolUnit, setting: &ImportedCell) -> Option<Cell> {
    let (name, _, direction, sequential) = TESTS.get(entry.test)?;
    let MatrixCell { file_kb, record_kb, .. } = entry;
    kib(file_kb)?;
    let imported = ImportedCell {
        block_bytes: Some(kib(record_kb)?),
        threads: Some(1),
        sequential: *sequential,
        figures: vec![unit.figure(Statistic::Mean, entry.printed).filter(|figure| figure.value > 0.0)?],
        ..setting.clone()
    };
    Some(cell(format!("{name}, file {file_kb} kB, record {record_kb} kB"), Some(*direction), imported))
}

/// Returns the cells of throughput mode: a sum and the spread over the processes.
fn throughput(input: &Input<'_>, setting: &ImportedCell) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for (_, line) in input.lines() {
        let of_line = |(shape, statistic, of): &(&str, _, FigureOf)| {
            Some((holes::<3>(shape, line)?, *statistic, of.clone()))
        };
        let Some(([who, printed, unit], statistic, of)) = THROUGHPUT.iter().find_map(of_line) else {
            continue;
        };
        let unit = match unit {
            "kB/sec" | "KB/sec" => units::unit("kB/sec", Quantity::Rate, 1024.0),
            "ops/sec" => units::unit("ops/sec", Quantity::Iops, 1.0),
            "kB" => units::unit("kB", Quantity::Bytes, 1024.0),
            _ => continue,
        };
        let is_first = of == FigureOf::SumOfProcesses;
        let figure = unit.figure_of(of, statistic, printed);
        if is_first {
            let who = who.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
            let (direction, sequential) = of_children(who);
            let figures = figure.into_iter().filter(|figure| figure.value > 0.0).collect();
            cells.push(cell(who, direction, ImportedCell { sequential, figures, ..setting.clone() }));
        } else if let Some(cell) = cells.last_mut().and_then(|cell| cell.imported.as_mut())
            && !cell.figures.is_empty()
        {
            cell.figures.extend(figure);
        }
    }
    cells
}

/// Returns direction and order of `initial writers`, `random readers` and similar words.
fn of_children(who: &str) -> (Option<Direction>, Option<bool>) {
    let has = |word: &&str| who.contains(word);
    let directions = [("mixed", Direction::Mix), ("writer", WRITE), ("reader", READ)];
    let direction = directions.into_iter().find(|(word, _)| has(word)).map(|(_, direction)| direction);
    let is_unknown = ["mixed", "reverse", "stride"].iter().any(has);
    let ascends = direction.filter(|_| !is_unknown).map(|_| true);
    (direction, if has(&"random") { Some(false) } else { ascends })
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
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
    fn what_its_options_say_of_the_page_cache() {
        let text = String::from_utf8(fixture("lab/iozone.txt")).unwrap();
        let remark = |command: &str| {
            let lines = text.lines().map(|line| match line.trim().starts_with("Command line used:") {
                true => format!("\tCommand line used: {command}"),
                false => line.to_owned(),
            });
            let text: Vec<String> = lines.collect();
            let run = super::super::import("a.txt", text.join("\n").as_bytes()).unwrap().remove(0);
            run.notices[0].text.en.clone()
        };
        assert!(remark("iozone -a").contains("without direct I/O and without fsync"));
        assert!(remark("iozone -e -I -a").contains("used direct I/O (`-I`) and synced"));
        assert!(remark("iozone -i0 -i2 -f /mnt/Ie -ecp -K").contains("synced its writes (`-e` or `-o`) but"));
        assert!(remark("iozone -azI").contains("used direct I/O (`-I`)"));
        assert!(remark("iozone -i 0 -s 4m -r 4k -fIe").contains("without direct I/O and without fsync"));
    }

    #[test]
    fn a_pasted_part_is_read() {
        let text = "> \tCommand line used: iozone -r 1m -s 128m -t 4 -i 0\n\
                    > \tThroughput test with 4 processes\n\
                    > \tChildren see throughput for  4 initial writers \t=  138676.27 kB/sec\n\
                    > \tMin throughput per process \t\t\t=       0.00 kB/sec \n\
                    > \tAvg throughput per process \t\t\t=   34669.07 kB/sec\n";
        let run = &super::super::import("a.txt", text.as_bytes()).unwrap()[0];
        let writers = find(run, "initial writers");
        assert_eq!((writers.direction, of(writers).threads), (Some(WRITE), Some(4)));
        assert_figure(&of(writers).figures[0], "138676.27", "kB/sec", 138_676.27 * 1024.0);
        let lowest = figure(writers, Quantity::Rate, Statistic::Lowest, Some("per process"));
        assert_figure(lowest, "0.00", "kB/sec", 0.0);
        let table = "<pre>
              kB  reclen   write rewrite    read    reread    read   write    read  rewrite     read
         1048576       4   81747   35641    73644    73894    2770     805   40026    29575     7645
</pre>";
        let run = &super::super::import("a.html", table.as_bytes()).unwrap()[0];
        let random = find(run, "random, file 1048576 kB, record 4 kB read");
        assert_figure(&of(random).figures[0], "2770", "kBytes/sec", 2770.0 * 1024.0);
        assert_eq!((run.cells.len(), of(random).block_bytes), (9, Some(4096)));
        assert!(run.notices[0].text.en.contains("not in the text"));
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
        let least = figure(find(run, "rewriters"), Quantity::Bytes, Statistic::Lowest, Some("per process"));
        assert_figure(least, "448.00", "kB", 448.0 * 1024.0);
    }

    #[test]
    fn what_it_tells_of_its_run_is_kept() {
        let facts = |name: &str| imported(name).remove(0).origin.facts;
        let throughput = facts("lab/iozone-throughput.txt");
        let expected = [
            ("Build", "linux-AMD64"),
            ("Compiled for", "64 bit mode"),
            ("File size", "1024 kB"),
            ("File stride size", "17 * record size"),
            ("Processor cache line size", "32 bytes"),
            ("Processor cache size", "1024 kBytes"),
            ("Time Resolution", "0.000001 seconds"),
        ];
        assert_eq!(throughput, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(facts("lab/iozone.txt")["Maximum file size"], "256 kilobytes");
    }
}
