//! IOR's results: JSON (`-O summaryFormat=JSON`), CSV and normal text.
//!
//! The model: the reads or writes of a test are a cell, measured in several repetitions. IOR's own
//! headline is the highest repetition ("Max Write"), so that figure comes first. Mean, minimum and
//! deviation follow if the summary has them, and the repetitions are a series. Rates are in MiB/s,
//! times in seconds. A summary counts operations as transfers of the whole test. The `iops` of a
//! repetition cover only the transfers, without opening and closing, so the two differ. Source:
//! ior-output.c of hpc/ior.

use super::json_tree::{Json, JsonError, items, parted, raw_documents, tree};
use super::kit::*;
use super::parts::PrintedRow;
use super::room;
use std::collections::HashMap;

const OPERATIONS: ToolUnit = units::unit("OPs", Quantity::Iops, 1.0);
/// IOR's name for the test of a file with a single test.
const ONLY_TEST: &str = "test 0";
const WORDS: [(&str, Direction); 2] = [("write", Direction::Write), ("read", Direction::Read)];

const HEADING: &str = "IOR-{}: MPI{}";
const SUMMARY_HEADING: &str = "Operation{}Max(MiB){}Mean(MiB){}";
/// The highest repetition of writes and of reads.
const MAXIMA: [(&str, Direction); 2] = [
    ("Max Write:{} MiB/sec ({} MB/sec)", Direction::Write),
    ("Max Read:{} MiB/sec ({} MB/sec)", Direction::Read),
];
/// Lines above the tables.
const DETAILS: [DetailLine; 7] = [
    (&[HEADING], &[Detail::Version]),
    (&["Began"], &[Detail::Date(dates::from_ctime)]),
    (&["Command line", "Command line used"], &[Detail::Procedure]),
    (&["test filename"], &[Detail::Target]),
    (&["xfersize"], &[Detail::BlockBytes(size_bytes)]),
    (&["tasks"], &[Detail::Threads]),
    (&["ordering in a file"], &[Detail::Order(ordering)]),
];
const KEYS: &[&str] = &["\"tests\"", "\"bwMiB\""];
pub(super) const JSON: Importer =
    Importer::of(("IOR JSON", "IOR", &["\"bwMiB\""]), Recognizer::Object(KEYS), read_json);
pub(super) const TEXT: Importer = Importer::of(
    ("IOR text", "IOR", &["IOR-"]),
    Recognizer::Shapes(LineShapes {
        begins: &[HEADING],
        belongs: &[SUMMARY_HEADING, MAXIMA[0].0, MAXIMA[1].0],
    }),
    read_text,
);
pub(super) const CSV: Importer = Importer::of(("IOR CSV", "IOR", &["bw(MiB/s)"]), Recognizer::File, read_csv);

/// Values printed for a repetition: unit, name of the series, and names in JSON, the text and CSV.
const REPETITION: [(ToolUnit, &str, [&str; 3]); 4] = [
    (units::MIB_PER_S, "bw", ["bwMiB", "bw(MiB/s)", "bw(MiB/s)"]),
    (units::IOPS, "IOPS", ["iops", "IOPS", "IOPS"]),
    (units::SECONDS, "latency", ["latency", "Latency(s)", "Latency"]),
    (units::RUN_SECONDS, "total", ["totalTime", "total(s)", "total(s)"]),
];
/// Bytes per repetition in the lists from which its figures and series are built.
const REPETITION_BYTES: usize = 256;
const OF_JSON: usize = 0;
const OF_TEXT: usize = 1;
const OF_CSV: usize = 2;

/// A repetition as printed: the word of its direction, and the values of `REPETITION`.
type PrintedRepetition<'a> = (&'a str, [Option<&'a str>; REPETITION.len()]);

fn repetition<'a>(form: usize, get: impl Fn(&str) -> Option<&'a str>) -> [Option<&'a str>; REPETITION.len()] {
    REPETITION.map(|(_, _, names)| get(names[form]))
}

/// A summary: unit, statistic, name in JSON, name in the text, and the offset from that column. Both
/// deviations of the text have the same name; each is after its mean.
const SUMMARY: [(ToolUnit, Statistic, &str, (&str, usize)); 9] = [
    (units::MIB_PER_S, Statistic::Highest, "bwMaxMIB", ("Max(MiB)", 0)),
    (units::MIB_PER_S, Statistic::Mean, "bwMeanMIB", ("Mean(MiB)", 0)),
    (units::MIB_PER_S, Statistic::Lowest, "bwMinMIB", ("Min(MiB)", 0)),
    (units::MIB_PER_S, Statistic::StandardDeviation, "bwStdMIB", ("Mean(MiB)", 1)),
    (OPERATIONS, Statistic::Highest, "OPsMax", ("Max(OPs)", 0)),
    (OPERATIONS, Statistic::Mean, "OPsMean", ("Mean(OPs)", 0)),
    (OPERATIONS, Statistic::Lowest, "OPsMin", ("Min(OPs)", 0)),
    (OPERATIONS, Statistic::StandardDeviation, "OPsSD", ("Mean(OPs)", 1)),
    (units::RUN_SECONDS, Statistic::Mean, "MeanTime", ("Mean(s)", 0)),
];

fn read_json(input: &Input<'_>) -> ImportedRuns {
    let text = parts::text_with(input, KEYS)?;
    let mut runs = Vec::new();
    for raw in raw_documents(text) {
        let run = raw.and_then(|(line, raw)| json_run(input, raw).map_err(|cause| JsonError { line, cause }));
        runs.push(run.map_err(|error| parts::damaged_json(input, "IOR", error))?);
        if !room::take(2 * size_of::<ImportedRun>() + 1024) {
            break;
        }
    }
    Ok(runs)
}

/// Returns the run of a document, whose tests are parsed one after the other.
fn json_run(input: &Input<'_>, raw: &str) -> Result<ImportedRun, String> {
    fn given<'a>(json: &'a Json, key: &str) -> Option<&'a str> {
        json.text_of(key).filter(|words| !words.is_empty())
    }
    let (document, [tests, summaries]) = parted(raw, ["tests", "summary"])?;
    let (document, tests) = (&document, tests.unwrap_or(""));
    let several = items(tests).nth(1).is_some();
    let mut by_test: HashMap<(String, Option<u64>), Json> = HashMap::new();
    for raw in items(summaries.unwrap_or("")) {
        if !room::take(1024 + 8 * raw.len()) {
            break;
        }
        let json = tree(raw)?;
        let id = json.count_of("TestID").filter(|_| several);
        by_test.entry((json.text_of("operation").unwrap_or("").to_owned(), id)).or_insert(json);
    }
    let command = given(document, "Command line");
    let mut cells = Vec::new();
    let mut target: Option<String> = None;
    for (number, test) in items(tests).enumerate() {
        if room::is_spent() {
            break;
        }
        let test = tree(test)?;
        let part = |key: &str| test.get(key).unwrap_or(&Json::Null);
        let (parameters, options) = (part("Parameters"), part("Options"));
        target = target.or_else(|| given(parameters, "testFileName").map(str::to_owned));
        let setting = ImportedCell {
            procedure: command.map(repeated),
            block_bytes: parameters.count_of("transferSize"),
            threads: options.count_of("tasks").and_then(|tasks| tasks.try_into().ok()),
            sequential: options.text_of("ordering in a file").and_then(ordering),
            ..ImportedCell::default()
        };
        let results = test.items_of("Results").iter();
        let repetitions: Vec<PrintedRepetition<'_>> = results
            .filter_map(|result| {
                Some((given(result, "access")?, repetition(OF_JSON, |key| given(result, key))))
            })
            .filter(|(_, printed)| printed[0].is_some())
            .collect();
        let id = test.count_of("TestID");
        let label = format!("test {}", id.unwrap_or(number as u64));
        for (word, direction) in WORDS {
            let summary = by_test.get(&(word.to_owned(), id.filter(|_| several)));
            let figures = SUMMARY.iter().filter_map(|(unit, statistic, key, _)| {
                unit.figure(*statistic, summary.and_then(|json| json.text_of(key)))
            });
            cells.push(cell(&label, (word, direction), &setting, figures.collect(), &repetitions));
        }
    }
    let origin = Origin {
        version: given(document, "Version").map(str::to_owned),
        measured_at: document.text_of("Began").and_then(dates::from_ctime),
        target,
        procedure: command.map(str::to_owned),
        ..input.origin("IOR", "ior-json")
    };
    Ok(ImportedRun { origin, cells, ..ImportedRun::default() })
}

fn ordering(words: &str) -> Option<bool> {
    match words {
        "sequential" => Some(true),
        "random" => Some(false),
        _ => None,
    }
}

/// Returns the cell of a test's reads or writes: the summary, or the highest repetition without one,
/// and the repetitions.
fn cell(
    label: &str,
    (word, direction): (&str, Direction),
    setting: &ImportedCell,
    summary: Vec<PrintedFigure>,
    repetitions: &[PrintedRepetition<'_>],
) -> Cell {
    let mine: Vec<_> = repetitions.iter().filter(|(of, _)| *of == word).map(|(_, printed)| printed).collect();
    let runs = u32::try_from(mine.len()).ok().filter(|runs| *runs > 0);
    // A task waits for each of its transfers.
    let mut imported = ImportedCell { runs, iodepth: Some(1), figures: summary, ..setting.clone() };
    if imported.figures.is_empty() {
        let rates = mine.iter().filter_map(|[rate, ..]| units::MIB_PER_S.figure(Statistic::Highest, *rate));
        imported.figures.extend(rates.max_by(|a, b| a.value.total_cmp(&b.value)));
    }
    let kept = imported.figures.len();
    for (place, (unit, name, _)) in REPETITION.iter().enumerate() {
        // Times too short for IOR's format are printed as 0, which is not a valid time.
        let is_time = matches!(unit.quantity, Quantity::Latency | Quantity::Duration);
        let points = mine.iter().enumerate().filter_map(|(number, printed)| {
            let printed = printed[place].filter(|words| !is_time || units::positive(words))?;
            Some((number as f64, printed))
        });
        let points: Vec<(f64, &str)> = points.collect();
        if points.len() > 1 {
            units::add_intervals(&mut imported, *unit, name, SeriesAxis::Number, &points);
        }
    }
    imported.figures.truncate(kept); // The summary tells of the repetitions already, or the highest does.
    parts::cell(label, Some(direction), imported)
}

fn read_text(input: &Input<'_>) -> ImportedRuns {
    let begins = [HEADING, SUMMARY_HEADING, MAXIMA[0].0, MAXIMA[1].0];
    if !input.lines().any(|(_, line)| begins.iter().any(|shape| fits(shape, line))) {
        return without_line("IOR-4.0.0: MPI Coordinated Test of Parallel I/O");
    }
    let details = RunDetails::of(input, ("IOR", "ior-text"), &DETAILS, input.lines());
    let setting = &details.setting;
    let is_result = |row: &PrintedRow<'_>| matches!(row.fields[0], "write" | "read");
    let repetitions = rows(input, &["access", "bw(MiB/s)"]).into_iter().filter(is_result);
    let repetitions: Vec<_> =
        repetitions.map(|row| (row.fields[0], repetition(OF_TEXT, |name| row.get(name)))).collect();
    let summaries = rows(input, &["Operation", "Max(MiB)"]);
    let mut cells = Vec::new();
    for of in WORDS {
        let mine: Vec<_> = summaries.iter().filter(|row| row.fields[0] == of.0).collect();
        if mine.is_empty() {
            let is_alone = repetitions.iter().all(|(word, _)| *word != of.0);
            let highest = maximum(input, of.1).filter(|_| is_alone).into_iter().collect();
            cells.push(cell(ONLY_TEST, of, setting, highest, &repetitions));
        }
        for (number, row) in mine.iter().enumerate() {
            // Options and repetitions of several tests cannot be assigned by their lines, but summaries
            // can.
            let (of_all, repetitions) = match mine.len() {
                1 => (setting.clone(), &repetitions[..]),
                _ => (
                    ImportedCell { procedure: setting.procedure.clone(), ..ImportedCell::default() },
                    &[][..],
                ),
            };
            let given = |name: &str| row.get(name).and_then(|words| words.parse::<u64>().ok());
            let tasks = || given("#Tasks").and_then(|tasks| tasks.try_into().ok());
            let setting = ImportedCell {
                block_bytes: of_all.block_bytes.or_else(|| given("xsize")),
                threads: of_all.threads.or_else(tasks),
                ..of_all
            };
            cells.push(cell(&format!("test {number}"), of, &setting, summary(row), repetitions));
        }
    }
    Ok(vec![ImportedRun { origin: details.origin, cells, ..ImportedRun::default() }])
}

/// Returns the highest repetition, which an excerpt can contain without the tables.
fn maximum(input: &Input<'_>, direction: Direction) -> Option<PrintedFigure> {
    let shape = MAXIMA.iter().find(|(_, of)| *of == direction)?.0;
    let [rate, _] = input.holes(shape)?;
    units::MIB_PER_S.figure(Statistic::Highest, rate).filter(|rate| rate.value > 0.0)
}

/// Returns the figures of a row of the summary, by the names of its columns. Versions before 3.3 have
/// no columns of operations.
fn summary(row: &PrintedRow<'_>) -> Vec<PrintedFigure> {
    let figures = SUMMARY.iter().filter_map(|(unit, statistic, _, (name, behind))| {
        unit.figure(*statistic, parts::field(&row.columns, row.fields.get(*behind..)?, name))
    });
    figures.collect()
}

/// Parses `262144 bytes`, `2 MiB`.
fn size_bytes(words: &str) -> Option<u64> {
    match words.strip_suffix(" bytes") {
        Some(bytes) => bytes.trim().parse().ok(),
        None => words::bytes(words),
    }
}

/// The rows of as many words as the header has that begins with these.
fn rows<'a>(input: &'a Input<'_>, header: &[&str]) -> Vec<PrintedRow<'a>> {
    let lines = input.lines().map(|(_, line)| line.split_whitespace().collect::<Vec<_>>());
    let mut lines = lines.skip_while(|words| !words.starts_with(header));
    let Some(columns) = lines.next() else { return Vec::new() };
    let columns: std::rc::Rc<[&str]> = columns.into();
    let rows = lines.filter(|words| words.len() == columns.len());
    let rows = rows.take_while(|words| room::take(64 + 2 * size_of_val(&**words)));
    rows.map(|fields| PrintedRow { columns: columns.clone(), fields }).collect()
}

/// Reads IOR's CSV: repetitions alone, without any setting but sizes and tasks.
fn read_csv(input: &Input<'_>) -> ImportedRuns {
    let Some(rows) = parts::csv_rows(input, |line| line.starts_with("access,bw(MiB/s),")) else {
        return without_line("access,bw(MiB/s),…");
    };
    let mut setting = ImportedCell::default();
    let mut repetitions = Vec::new();
    for (number, row) in rows {
        if !row.is_whole() {
            return Err(parts::miscounted(input, number).into());
        }
        let bytes = row.get("xfer(KiB)").and_then(|words| units::KIB.value(words));
        setting.block_bytes = bytes.map(|bytes| bytes as u64);
        setting.threads = row.get("numTasks").and_then(|tasks| tasks.parse().ok());
        room::take(3 * size_of::<PrintedRepetition<'_>>() + REPETITION_BYTES);
        repetitions.push((row.fields[0], repetition(OF_CSV, |name| row.get(name))));
    }
    let cells = WORDS.map(|of| cell(ONLY_TEST, of, &setting, Vec::new(), &repetitions)).to_vec();
    Ok(vec![ImportedRun { origin: input.origin("IOR", "ior-csv"), cells, ..ImportedRun::default() }])
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn json_has_a_summary_and_repetitions() {
        let run = &imported("lab/ior.json")[0];
        assert_eq!(run.origin.tool_name(), "IOR 4.1.0+dev");
        assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21T13:23:38"));
        assert_eq!(run.origin.target.as_deref(), Some("ior.tst"));
        let [write, read] = run.cells.as_slice() else { panic!() };
        assert_eq!((write.label.as_str(), read.direction), ("test 0", Some(Direction::Read)));
        let printed = of(write);
        assert_eq!((printed.runs, printed.block_bytes, printed.threads), (Some(3), Some(262_144), Some(1)));
        assert_eq!(printed.sequential, Some(true));
        assert_figure(&printed.figures[0], "3943.8684", "MiB/s", 3943.8684 * 1_048_576.0);
        assert_eq!(printed.figures[0].statistic, Statistic::Highest);
        let mean = figure(write, Quantity::Rate, Statistic::Mean, None);
        assert_figure(mean, "3667.7477", "MiB/s", 3667.7477 * 1_048_576.0);
        let spread = figure(read, Quantity::Iops, Statistic::StandardDeviation, None);
        assert_figure(spread, "6417.7288", "OPs", 6417.7288);
        let rates: Vec<f64> = printed.series[0].points.iter().map(|(_, rate)| rate / 1_048_576.0).collect();
        assert_eq!(rates, [3220.195, 3943.8684, 3839.1799]);
        let names: Vec<_> = of(read).series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["bw", "IOPS", "total"], "latencies of 0.0000 are none");
    }

    #[test]
    fn text_and_csv() {
        let run = &imported("lab/ior.txt")[0];
        assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21T13:23:39"));
        let printed = of(find(run, "test 0 read"));
        assert_eq!(
            (printed.runs, printed.block_bytes, printed.sequential),
            (Some(2), Some(262_144), Some(false))
        );
        assert_figure(&printed.figures[0], "20213.51", "MiB/s", 20213.51 * 1_048_576.0);
        let latency = printed.series.iter().find(|series| series.name == "latency").unwrap();
        assert_eq!(latency.points, [(0.0, 0.000_013 * 1e9), (1.0, 0.000_012 * 1e9)]);
        let deviation = figure(find(run, "test 0 read"), Quantity::Iops, Statistic::StandardDeviation, None);
        assert_figure(deviation, "3391.23", "OPs", 3391.23);
        let old = &imported("lab/ior-3.0.txt")[0];
        let printed = of(find(old, "test 0 write"));
        assert_eq!((printed.runs, printed.block_bytes, printed.threads), (Some(1), Some(1 << 20), Some(4)));
        assert_figure(&printed.figures[0], "512.50", "MiB/s", 512.5 * 1_048_576.0);
        let time = figure(find(old, "test 0 write"), Quantity::Duration, Statistic::Mean, None);
        assert_figure(time, "0.49951", "s", 0.49951e9);
        let csv = &imported("lab/ior.csv")[0];
        let printed = of(find(csv, "test 0 write"));
        assert_eq!((printed.runs, printed.block_bytes, printed.threads), (Some(2), Some(262_144), Some(1)));
        assert_figure(&printed.figures[0], "3983.1947", "MiB/s", 3983.1947 * 1_048_576.0);
    }
}
