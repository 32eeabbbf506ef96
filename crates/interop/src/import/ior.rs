//! IOR's results: JSON (`-O summaryFormat=JSON`), CSV and its usual text.
//!
//! The model: a test's reads or writes are a cell, measured in several repetitions. IOR's own headline is the highest
//! repetition ("Max Write"), so that figure comes first; mean, lowest and deviation follow where the summary has them,
//! and the repetitions are a series. Rates are MiB/s, times seconds. A summary counts operations as transfers of the
//! whole test; a repetition's `iops` are of the transfers alone, opening and closing left out, which is why the two
//! differ. ior-output.c of hpc/ior.

use super::json_tree::Json;
use super::lab::{self, Unit};
use super::parts;
use super::split::{Claim, Mark};
use super::{ImportedRun, Importer, Input, Outcome, dates};
use kurabe_core::imported::{
    ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic, Quantity, SeriesAxis,
};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;
use std::collections::HashMap;

const OPERATIONS: Unit = lab::unit("OPs", Quantity::Iops, 1.0);
/// IOR's name for the only test of a file that holds one.
const ONLY_TEST: &str = "test 0";
const WORDS: [(&str, Direction); 2] = [("write", Direction::Write), ("read", Direction::Read)];

pub(super) const JSON: Importer = Importer {
    what: "IOR JSON",
    read: read_json,
    claim: Claim::Object(&["\"tests\"", "\"bwMiB\""]),
    names: &["\"bwMiB\""],
};
pub(super) const TEXT: Importer =
    Importer { what: "IOR text", read: read_text, claim: Claim::Lines(line_mark), names: &["IOR-"] };

fn line_mark(line: &str) -> Mark {
    if version(line).is_some() { Mark::Begins } else { Mark::None }
}

/// The version, if the line is the heading.
fn version(line: &str) -> Option<&str> {
    line.trim().strip_prefix("IOR-")?.split_once(": MPI").map(|(version, _)| version)
}

/// What is known of all cells of a test.
#[derive(Clone, Default)]
struct Setting {
    procedure: Option<String>,
    transfer_bytes: Option<u64>,
    tasks: Option<u32>,
    sequential: Option<bool>,
}

/// A repetition as printed.
#[derive(Clone, Default)]
struct Repetition {
    word: String,
    rate: String,
    iops: Option<String>,
    latency: Option<String>,
    total: Option<String>,
}

/// Reads IOR's JSON.
pub(super) fn read_json(input: &Input<'_>) -> Outcome {
    let text = input.text().unwrap_or("");
    if !(text.contains("\"tests\"") && text.contains("\"bwMiB\"")) {
        return Outcome::NotMine(text!(
            "it has no keys `tests` and `bwMiB`",
            "`tests` と `bwMiB` というキーがありません"
        ));
    }
    let documents = match parts::documents_of(input, text, "IOR") {
        Ok(documents) => documents,
        Err(error) => return Outcome::Broken(error),
    };
    let runs = documents.iter().map(|document| json_run(input, document)).filter(|run| !run.cells.is_empty());
    let runs: Vec<ImportedRun> = runs.collect();
    if runs.is_empty() { lab::nothing_measured(input, "IOR") } else { Outcome::Runs(runs) }
}

fn json_run(input: &Input<'_>, document: &Json) -> ImportedRun {
    let owned =
        |json: &Json, key: &str| json.text_of(key).map(str::to_owned).filter(|words| !words.is_empty());
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
        let null = Json::Null;
        let (parameters, options) =
            (test.get("Parameters").unwrap_or(&null), test.get("Options").unwrap_or(&null));
        target = target.or_else(|| owned(parameters, "testFileName"));
        let setting = Setting {
            procedure: owned(document, "Command line").as_deref().map(parts::repeated),
            transfer_bytes: parameters.count_of("transferSize"),
            tasks: options.count_of("tasks").and_then(|tasks| tasks.try_into().ok()),
            sequential: options.text_of("ordering in a file").and_then(ordering),
        };
        let results = test.get("Results").map_or(&[][..], Json::items);
        let repetitions: Vec<Repetition> = results
            .iter()
            .filter_map(|result| {
                Some(Repetition {
                    word: owned(result, "access")?,
                    rate: owned(result, "bwMiB")?,
                    iops: owned(result, "iops"),
                    latency: owned(result, "latency"),
                    total: owned(result, "totalTime"),
                })
            })
            .collect();
        let id = test.count_of("TestID");
        let label = format!("test {}", id.unwrap_or(number as u64));
        for (word, direction) in WORDS {
            let summary = by_test.get(&(word, id.filter(|_| tests.len() > 1)));
            let summary = summary.map(|json| json_summary(json)).unwrap_or_default();
            cells.extend(cell(&label, (word, direction), &setting, summary, &repetitions));
        }
    }
    let origin = Origin {
        version: owned(document, "Version"),
        measured_at: document.text_of("Began").and_then(dates::from_ctime),
        target,
        procedure: owned(document, "Command line"),
        ..input.origin("IOR", "ior-json")
    };
    ImportedRun { origin, cells: parts::numbered(cells), ..ImportedRun::default() }
}

fn json_summary(json: &Json) -> Vec<PrintedFigure> {
    let figures = [
        (lab::MIB_PER_S, Statistic::Highest, "bwMaxMIB"),
        (lab::MIB_PER_S, Statistic::Mean, "bwMeanMIB"),
        (lab::MIB_PER_S, Statistic::Lowest, "bwMinMIB"),
        (lab::MIB_PER_S, Statistic::StandardDeviation, "bwStdMIB"),
        (OPERATIONS, Statistic::Highest, "OPsMax"),
        (OPERATIONS, Statistic::Mean, "OPsMean"),
        (OPERATIONS, Statistic::Lowest, "OPsMin"),
        (OPERATIONS, Statistic::StandardDeviation, "OPsSD"),
        (lab::RUN_SECONDS, Statistic::Mean, "MeanTime"),
    ];
    figures.iter().filter_map(|(unit, statistic, key)| unit.figure(*statistic, json.text_of(key)?)).collect()
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
    setting: &Setting,
    summary: Vec<PrintedFigure>,
    repetitions: &[Repetition],
) -> Option<Cell> {
    let mine: Vec<&Repetition> = repetitions.iter().filter(|repetition| repetition.word == word).collect();
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
        let rates =
            mine.iter().filter_map(|repetition| lab::MIB_PER_S.figure(Statistic::Highest, &repetition.rate));
        imported.figures.extend(rates.max_by(|a, b| a.value.total_cmp(&b.value)));
    }
    let mut series = |unit: Unit, name: &str, of: &dyn Fn(&Repetition) -> Option<String>| {
        let points: Vec<(f64, String)> =
            mine.iter().enumerate().filter_map(|(number, mine)| Some((number as f64, of(mine)?))).collect();
        let kept = imported.figures.len();
        if points.len() > 1 {
            lab::add_intervals(&mut imported, unit, name, SeriesAxis::Number, &points);
            imported.figures.truncate(kept); // The summary tells of them already, or the highest does.
        }
    };
    series(lab::MIB_PER_S, "bw", &|repetition| Some(repetition.rate.clone()));
    series(lab::IOPS, "IOPS", &|repetition| repetition.iops.clone());
    // Times of less than IOR prints are 0, and a time of 0 is none.
    let some_time = |words: &Option<String>| words.clone().filter(|words| lab::positive(words));
    series(lab::SECONDS, "latency", &|repetition| some_time(&repetition.latency));
    series(lab::RUN_SECONDS, "total", &|repetition| some_time(&repetition.total));
    (!imported.figures.is_empty()).then(|| parts::cell(label, Some(direction), imported))
}

/// Reads IOR's text.
pub(super) fn read_text(input: &Input<'_>) -> Outcome {
    let after = |key: &str| {
        input.lines().find_map(|(_, line)| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
        })
    };
    let Some(version) = input.lines().find_map(|(_, line)| version(line)) else {
        return Outcome::NotMine(text!(
            "no line begins as `IOR-4.0.0: MPI Coordinated Test` does",
            "`IOR-4.0.0: MPI Coordinated Test` のように始まる行がありません"
        ));
    };
    let setting = Setting {
        procedure: after("Command line").or_else(|| after("Command line used")).map(parts::repeated),
        transfer_bytes: after("xfersize").and_then(size_bytes),
        tasks: after("tasks").and_then(|tasks| tasks.parse().ok()),
        sequential: after("ordering in a file").and_then(ordering),
    };
    let repetitions: Vec<Repetition> = table(input);
    let summaries = summaries(input);
    let mut cells = Vec::new();
    for (word, direction) in WORDS {
        let mine: Vec<&Summary> = summaries.iter().filter(|summary| summary.word == word).collect();
        match mine.as_slice() {
            [] => cells.extend(cell(ONLY_TEST, (word, direction), &setting, Vec::new(), &repetitions)),
            [one] => {
                let setting = Setting {
                    transfer_bytes: setting.transfer_bytes.or(one.transfer_bytes),
                    tasks: setting.tasks.or(one.tasks),
                    ..setting.clone()
                };
                cells.extend(cell(ONLY_TEST, (word, direction), &setting, one.figures.clone(), &repetitions));
            }
            // Several tests: their options and repetitions cannot be told apart by line alone, their summaries can.
            several => {
                for (number, summary) in several.iter().enumerate() {
                    let alone = Setting {
                        procedure: setting.procedure.clone(),
                        transfer_bytes: summary.transfer_bytes,
                        tasks: summary.tasks,
                        sequential: None,
                    };
                    let label = format!("test {number}");
                    cells.extend(cell(&label, (word, direction), &alone, summary.figures.clone(), &[]));
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
    finish(input, origin, cells)
}

fn finish(input: &Input<'_>, origin: Origin, cells: Vec<Cell>) -> Outcome {
    if cells.is_empty() {
        return lab::nothing_measured(input, "IOR");
    }
    Outcome::Runs(vec![ImportedRun { origin, cells: parts::numbered(cells), ..ImportedRun::default() }])
}

/// `262144 bytes`, `2 MiB`.
fn size_bytes(words: &str) -> Option<u64> {
    match words.strip_suffix(" bytes") {
        Some(bytes) => bytes.trim().parse().ok(),
        None => kurabe_core::quantity::parse_bytes(words).ok(),
    }
}

/// The rows under `access    bw(MiB/s)`, by the names of their columns.
fn table(input: &Input<'_>) -> Vec<Repetition> {
    let mut columns: Vec<&str> = Vec::new();
    let mut repetitions = Vec::new();
    for (_, line) in input.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"access") && line.contains("bw(MiB/s)") {
            columns = words;
        } else if words.len() == columns.len() && matches!(words.first(), Some(&"write" | &"read")) {
            let get =
                |name: &str| columns.iter().position(|column| *column == name).map(|at| words[at].to_owned());
            repetitions.push(Repetition {
                word: words[0].to_owned(),
                rate: get("bw(MiB/s)").unwrap_or_default(),
                iops: get("IOPS"),
                latency: get("Latency(s)"),
                total: get("total(s)"),
            });
        }
    }
    repetitions
}

/// A row under `Operation   Max(MiB)`.
struct Summary {
    word: String,
    figures: Vec<PrintedFigure>,
    transfer_bytes: Option<u64>,
    tasks: Option<u32>,
}

/// The summary of all tests, by the names of its columns: before 3.3 it had none of operations.
fn summaries(input: &Input<'_>) -> Vec<Summary> {
    let mut lines = input.lines().map(|(_, line)| line.split_whitespace().collect::<Vec<_>>());
    let Some(header) = lines.by_ref().find(|words| words.starts_with(&["Operation", "Max(MiB)"])) else {
        return Vec::new();
    };
    let rows = lines.filter(|words| words.len() == header.len());
    rows.map(|words| {
        let at = |name: &str| header.iter().position(|column| *column == name);
        let get = |name: &str| at(name).map(|place| words[place]);
        // Both deviations have the same name; each stands behind its mean.
        let behind = |name: &str| words.get(at(name)? + 1).copied();
        let figures = [
            (lab::MIB_PER_S, Statistic::Highest, get("Max(MiB)")),
            (lab::MIB_PER_S, Statistic::Mean, get("Mean(MiB)")),
            (lab::MIB_PER_S, Statistic::Lowest, get("Min(MiB)")),
            (lab::MIB_PER_S, Statistic::StandardDeviation, behind("Mean(MiB)")),
            (OPERATIONS, Statistic::Highest, get("Max(OPs)")),
            (OPERATIONS, Statistic::Mean, get("Mean(OPs)")),
            (OPERATIONS, Statistic::Lowest, get("Min(OPs)")),
            (OPERATIONS, Statistic::StandardDeviation, behind("Mean(OPs)")),
            (lab::RUN_SECONDS, Statistic::Mean, get("Mean(s)")),
        ];
        Summary {
            word: words[0].to_owned(),
            figures: figures
                .iter()
                .filter_map(|(unit, statistic, printed)| unit.figure(*statistic, (*printed)?))
                .collect(),
            transfer_bytes: get("xsize").and_then(|size| size.parse().ok()),
            tasks: get("#Tasks").and_then(|tasks| tasks.parse().ok()),
        }
    })
    .collect()
}

/// Reads IOR's CSV: repetitions alone, without any setting but sizes and tasks.
pub(super) fn read_csv(input: &Input<'_>) -> Outcome {
    let Some((header_line, header)) = input.lines().find(|(_, line)| line.starts_with("access,bw(MiB/s),"))
    else {
        return Outcome::NotMine(text!(
            "no line begins with the column names `access,bw(MiB/s),`",
            "列名 `access,bw(MiB/s),` で始まる行がありません"
        ));
    };
    let columns: Vec<&str> = header.split(',').collect();
    let mut setting = Setting::default();
    let mut repetitions = Vec::new();
    for (number, line) in
        input.lines().filter(|(number, line)| *number > header_line && !line.trim().is_empty())
    {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != columns.len() {
            let what =
                text!("this row has not the columns of its header", "この行の列数が見出しと合いません");
            return lab::broken(input, number, what);
        }
        let get =
            |name: &str| columns.iter().position(|column| *column == name).map(|at| fields[at].to_owned());
        setting.transfer_bytes =
            get("xfer(KiB)").and_then(|words| lab::KIB.value(&words)).map(|bytes| bytes as u64);
        setting.tasks = get("numTasks").and_then(|tasks| tasks.parse().ok());
        repetitions.push(Repetition {
            word: fields[0].to_owned(),
            rate: get("bw(MiB/s)").unwrap_or_default(),
            iops: get("IOPS"),
            latency: get("Latency"),
            total: get("total(s)"),
        });
    }
    let cells = WORDS.iter().filter_map(|(word, direction)| {
        cell(ONLY_TEST, (word, *direction), &setting, Vec::new(), &repetitions)
    });
    let origin = input.origin("IOR", "ior-csv");
    finish(input, origin, cells.collect())
}

#[cfg(test)]
mod tests {
    use super::super::lab::test::*;
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
