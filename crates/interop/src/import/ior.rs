//! IOR's results: JSON (`-O summaryFormat=JSON`), CSV and its usual text.
//!
//! The model: a test's reads or writes are a cell, measured in several repetitions. IOR's own headline is the highest
//! repetition ("Max Write"), so that figure comes first; mean, lowest and deviation follow where the summary has them,
//! and the repetitions are a series. Rates are MiB/s, times seconds. A summary counts operations as transfers of the
//! whole test; a repetition's `iops` are of the transfers alone, opening and closing left out, which is why the two
//! differ. ior-output.c of hpc/ior.

use super::json_tree::Json;
use super::parts::{self, field};
use super::split::LineMark;
use super::units::{self, ToolUnit};
use super::{ImportedRun, ImportedRuns, Importer, Input, dates};
use kurabe_core::imported::{
    ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic, Quantity, SeriesAxis,
};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;
use std::collections::HashMap;

const OPERATIONS: ToolUnit = units::unit("OPs", Quantity::Iops, 1.0);
/// IOR's name for the only test of a file that holds one.
const ONLY_TEST: &str = "test 0";
const WORDS: [(&str, Direction); 2] = [("write", Direction::Write), ("read", Direction::Read)];

const KEYS: &[&str] = &["\"tests\"", "\"bwMiB\""];
pub(super) const JSON: Importer = Importer::of_objects(("IOR JSON", "IOR", &["\"bwMiB\""]), KEYS, read_json);
pub(super) const TEXT: Importer = Importer::of_lines(("IOR text", "IOR", &["IOR-"]), line_mark, read_text);
pub(super) const CSV: Importer = Importer::of_files(("IOR CSV", "IOR", &["bw(MiB/s)"]), read_csv);

fn line_mark(line: &str) -> LineMark {
    if version(line).is_some() { LineMark::Begins } else { LineMark::None }
}

/// The version, if the line is the heading.
fn version(line: &str) -> Option<&str> {
    line.trim().strip_prefix("IOR-")?.split_once(": MPI").map(|(version, _)| version)
}

/// What is known of all cells of a test.
#[derive(Clone, Default)]
struct TestFacts {
    procedure: Option<String>,
    transfer_bytes: Option<u64>,
    tasks: Option<u32>,
    sequential: Option<bool>,
}

/// What is printed of a repetition: unit, name of the series, and names in JSON, the text and CSV.
const REPETITION: [(ToolUnit, &str, [&str; 3]); 4] = [
    (units::MIB_PER_S, "bw", ["bwMiB", "bw(MiB/s)", "bw(MiB/s)"]),
    (units::IOPS, "IOPS", ["iops", "IOPS", "IOPS"]),
    (units::SECONDS, "latency", ["latency", "Latency(s)", "Latency"]),
    (units::RUN_SECONDS, "total", ["totalTime", "total(s)", "total(s)"]),
];
const OF_JSON: usize = 0;
const OF_TEXT: usize = 1;
const OF_CSV: usize = 2;

/// A repetition as printed.
struct PrintedRepetition<'a> {
    word: &'a str,
    /// What `REPETITION` names.
    printed: [Option<&'a str>; REPETITION.len()],
}

impl<'a> PrintedRepetition<'a> {
    fn of(word: &'a str, form: usize, get: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self { word, printed: REPETITION.map(|(_, _, names)| get(names[form])) }
    }
}

/// A summary: unit, statistic, name in JSON, name in the text and how far behind that name's column. Both deviations
/// of the text have the same name; each stands behind its mean.
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

/// Reads IOR's JSON.
fn read_json(input: &Input<'_>) -> ImportedRuns {
    let documents = parts::documents_with(input, "IOR", KEYS)?;
    Ok(documents.iter().map(|document| json_run(input, document)).collect())
}

fn json_run(input: &Input<'_>, document: &Json) -> ImportedRun {
    fn given<'a>(json: &'a Json, key: &str) -> Option<&'a str> {
        json.text_of(key).filter(|words| !words.is_empty())
    }
    let tests = document.get("tests").map_or(&[][..], Json::items);
    let summaries = document.get("summary").map_or(&[][..], Json::items);
    let mut by_test: HashMap<(&str, Option<u64>), &Json> = HashMap::new();
    for json in summaries {
        let id = json.count_of("TestID").filter(|_| tests.len() > 1);
        by_test.entry((json.text_of("operation").unwrap_or(""), id)).or_insert(json);
    }
    let mut cells = Vec::new();
    let mut target = None;
    for (number, test) in tests.iter().enumerate() {
        let part = |key: &str| test.get(key).unwrap_or(&Json::Null);
        let (parameters, options) = (part("Parameters"), part("Options"));
        target = target.or_else(|| given(parameters, "testFileName"));
        let setting = TestFacts {
            procedure: given(document, "Command line").map(parts::repeated),
            transfer_bytes: parameters.count_of("transferSize"),
            tasks: options.count_of("tasks").and_then(|tasks| tasks.try_into().ok()),
            sequential: options.text_of("ordering in a file").and_then(ordering),
        };
        let results = test.get("Results").map_or(&[][..], Json::items).iter();
        let repetitions: Vec<PrintedRepetition<'_>> = results
            .filter_map(|result| {
                Some(PrintedRepetition::of(given(result, "access")?, OF_JSON, |key| given(result, key)))
            })
            .filter(|repetition| repetition.printed[0].is_some())
            .collect();
        let id = test.count_of("TestID");
        let label = format!("test {}", id.unwrap_or(number as u64));
        for (word, direction) in WORDS {
            let summary = by_test.get(&(word, id.filter(|_| tests.len() > 1)));
            let figures = SUMMARY.iter().filter_map(|(unit, statistic, key, _)| {
                unit.figure(*statistic, summary.and_then(|json| json.text_of(key)))
            });
            cells.push(cell(&label, (word, direction), &setting, figures.collect(), &repetitions));
        }
    }
    let origin = Origin {
        version: given(document, "Version").map(str::to_owned),
        measured_at: document.text_of("Began").and_then(dates::from_ctime),
        target: target.map(str::to_owned),
        procedure: given(document, "Command line").map(str::to_owned),
        ..input.origin("IOR", "ior-json")
    };
    ImportedRun { origin, cells, ..ImportedRun::default() }
}

fn ordering(words: &str) -> Option<bool> {
    match words {
        "sequential" => Some(true),
        "random" => Some(false),
        _ => None,
    }
}

/// The cell of a test's reads or writes: the summary, or without one the highest repetition, and the repetitions.
fn cell(
    label: &str,
    (word, direction): (&str, Direction),
    setting: &TestFacts,
    summary: Vec<PrintedFigure>,
    repetitions: &[PrintedRepetition<'_>],
) -> Cell {
    let mine: Vec<_> =
        repetitions.iter().filter(|repetition| repetition.word == word).map(|one| one.printed).collect();
    let mut imported = ImportedCell {
        procedure: setting.procedure.clone(),
        runs: u32::try_from(mine.len()).ok().filter(|runs| *runs > 0),
        block_bytes: setting.transfer_bytes,
        threads: setting.tasks,
        sequential: setting.sequential,
        figures: summary,
        ..ImportedCell::default()
    };
    if imported.figures.is_empty() {
        let rates = mine.iter().filter_map(|[rate, ..]| units::MIB_PER_S.figure(Statistic::Highest, *rate));
        imported.figures.extend(rates.max_by(|a, b| a.value.total_cmp(&b.value)));
    }
    let kept = imported.figures.len();
    for (place, (unit, name, _)) in REPETITION.iter().enumerate() {
        // Times of less than IOR prints are 0, and a time of 0 is none.
        let is_time = matches!(unit.quantity, Quantity::Latency | Quantity::Duration);
        let points = mine.iter().enumerate().filter_map(|(number, printed)| {
            let printed = printed[place].filter(|words| !is_time || units::positive(words))?;
            Some((number as f64, printed.to_owned()))
        });
        let points: Vec<(f64, String)> = points.collect();
        if points.len() > 1 {
            units::add_intervals(&mut imported, *unit, name, SeriesAxis::Number, &points);
        }
    }
    imported.figures.truncate(kept); // The summary tells of the repetitions already, or the highest does.
    parts::cell(label, Some(direction), imported)
}

/// Reads IOR's text.
fn read_text(input: &Input<'_>) -> ImportedRuns {
    let after = |key: &str| {
        let lines = input.lines().filter_map(|(_, line)| parts::key_value(line));
        lines.into_iter().find(|(name, value)| *name == key && !value.is_empty()).map(|(_, value)| value)
    };
    let Some(version) = input.lines().find_map(|(_, line)| version(line)) else {
        return parts::not_mine(text!(
            "no line begins as `IOR-4.0.0: MPI Coordinated Test` does",
            "`IOR-4.0.0: MPI Coordinated Test` のように始まる行がありません"
        ));
    };
    let setting = TestFacts {
        procedure: after("Command line").or_else(|| after("Command line used")).map(parts::repeated),
        transfer_bytes: after("xfersize").and_then(size_bytes),
        tasks: after("tasks").and_then(|tasks| tasks.parse().ok()),
        sequential: after("ordering in a file").and_then(ordering),
    };
    let repetitions = table(input);
    let summaries = summaries(input);
    let mut cells = Vec::new();
    for of in WORDS {
        let mine: Vec<&SummaryRow> = summaries.iter().filter(|summary| summary.word == of.0).collect();
        match mine.as_slice() {
            [] => cells.push(cell(ONLY_TEST, of, &setting, Vec::new(), &repetitions)),
            [one] => {
                let setting = TestFacts {
                    transfer_bytes: setting.transfer_bytes.or(one.transfer_bytes),
                    tasks: setting.tasks.or(one.tasks),
                    ..setting.clone()
                };
                cells.push(cell(ONLY_TEST, of, &setting, one.figures.clone(), &repetitions));
            }
            // Several tests: their options and repetitions cannot be told apart by line alone, their summaries can.
            several => {
                for (number, summary) in several.iter().enumerate() {
                    let alone = TestFacts {
                        procedure: setting.procedure.clone(),
                        transfer_bytes: summary.transfer_bytes,
                        tasks: summary.tasks,
                        sequential: None,
                    };
                    let label = format!("test {number}");
                    cells.push(cell(&label, of, &alone, summary.figures.clone(), &[]));
                }
            }
        }
    }
    let origin = Origin {
        version: Some(version.to_owned()),
        measured_at: after("Began").and_then(|_| {
            let (_, line) = input.lines().find(|(_, line)| line.trim().starts_with("Began"))?;
            dates::from_ctime(line.split_once(':')?.1)
        }),
        target: after("test filename").map(str::to_owned),
        procedure: setting.procedure.clone(),
        ..input.origin("IOR", "ior-text")
    };
    Ok(vec![ImportedRun { origin, cells, ..ImportedRun::default() }])
}

/// `262144 bytes`, `2 MiB`.
fn size_bytes(words: &str) -> Option<u64> {
    match words.strip_suffix(" bytes") {
        Some(bytes) => bytes.trim().parse().ok(),
        None => kurabe_core::quantity::parse_bytes(words).ok(),
    }
}

/// The rows under `access    bw(MiB/s)`, by the names of their columns.
fn table<'a>(input: &'a Input<'_>) -> Vec<PrintedRepetition<'a>> {
    let mut columns: Vec<&str> = Vec::new();
    let mut repetitions = Vec::new();
    for (_, line) in input.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"access") && line.contains("bw(MiB/s)") {
            columns = words;
        } else if words.len() == columns.len() && matches!(words.first(), Some(&"write" | &"read")) {
            repetitions.push(PrintedRepetition::of(words[0], OF_TEXT, |name| field(&columns, &words, name)));
        }
    }
    repetitions
}

/// A row under `Operation   Max(MiB)`.
struct SummaryRow<'a> {
    word: &'a str,
    figures: Vec<PrintedFigure>,
    transfer_bytes: Option<u64>,
    tasks: Option<u32>,
}

/// The summary of all tests, by the names of its columns: before 3.3 it had none of operations.
fn summaries<'a>(input: &'a Input<'_>) -> Vec<SummaryRow<'a>> {
    let mut lines = input.lines().map(|(_, line)| line.split_whitespace().collect::<Vec<_>>());
    let Some(header) = lines.by_ref().find(|words| words.starts_with(&["Operation", "Max(MiB)"])) else {
        return Vec::new();
    };
    let rows = lines.filter(|words| words.len() == header.len());
    rows.map(|words| {
        let figures = SUMMARY.iter().filter_map(|(unit, statistic, _, (name, behind))| {
            unit.figure(*statistic, field(&header, words.get(*behind..)?, name))
        });
        SummaryRow {
            word: words[0],
            figures: figures.collect(),
            transfer_bytes: field(&header, &words, "xsize").and_then(|size| size.parse().ok()),
            tasks: field(&header, &words, "#Tasks").and_then(|tasks| tasks.parse().ok()),
        }
    })
    .collect()
}

/// Reads IOR's CSV: repetitions alone, without any setting but sizes and tasks.
fn read_csv(input: &Input<'_>) -> ImportedRuns {
    let mut lines = input.lines();
    let Some((_, header)) = lines.by_ref().find(|(_, line)| line.starts_with("access,bw(MiB/s),")) else {
        return parts::not_mine(text!(
            "no line begins with the column names `access,bw(MiB/s),`",
            "列名 `access,bw(MiB/s),` で始まる行がありません"
        ));
    };
    let columns: Vec<&str> = header.split(',').collect();
    let mut setting = TestFacts::default();
    let mut repetitions = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != columns.len() {
            return Err(parts::miscounted(input, number).into());
        }
        let get = |name: &str| field(&columns, &fields, name);
        setting.transfer_bytes =
            get("xfer(KiB)").and_then(|words| units::KIB.value(words)).map(|bytes| bytes as u64);
        setting.tasks = get("numTasks").and_then(|tasks| tasks.parse().ok());
        repetitions.push(PrintedRepetition::of(fields[0], OF_CSV, get));
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

    #[test]
    fn damage_is_survived() {
        for name in ["ior.json", "ior.txt", "ior.csv"] {
            assert_survives_damage(&format!("lab/{name}"));
        }
    }
}
