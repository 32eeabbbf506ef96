//! elbencho's results: its CSV and JSON of whole phases, and its CSV of live progress.
//!
//! The model: a phase (WRITE, READ, RWMIX30, MKDIRS, …) is a cell; the reads of a mixed phase are a second one, because
//! elbencho prints them apart and the main columns are of the writes alone. "First done" is when the fastest thread was
//! through, "last done" when the slowest was; the figures of "last done" come first, as they cover all of the work.
//! Phases of one command line are a run. CSV files of all versions are read by their column names. elbencho's
//! docs/csv-docs.md and docs/result-columns-explanation.md.

use super::json_tree::Json;
use super::parts::{self, field};
use super::units::{self, ToolUnit, figures_of};
use super::{ImportedRun, ImportedRuns, Importer, Input, dates};
use kurabe_core::imported::{
    FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic, Quantity, SeriesAxis,
};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;
use std::collections::HashMap;

const KEYS: &[&str] = &["\"phase_type\"", "\"last_done\""];
pub(super) const JSON: Importer =
    Importer::of_objects(("elbencho JSON", "elbencho", &["\"phase_type\""]), KEYS, read_json);
pub(super) const CSV: Importer = Importer::of_files(("elbencho CSV", "elbencho", &["elbencho"]), read_csv);
pub(super) const LIVE: Importer =
    Importer::of_files(("elbencho live CSV", "elbencho", &["elbencho"]), read_live);

const ENTRIES_PER_S: ToolUnit = units::unit("entries/s", Quantity::Iops, 1.0);

/// What a phase tells, whatever the file's form.
struct Phase<'a> {
    name: String,
    label: Option<String>,
    date: Option<String>,
    version: Option<String>,
    command: Option<String>,
    block: Option<u64>,
    depth: Option<u32>,
    threads: Option<u32>,
    random: Option<bool>,
    figures: Vec<PrintedFigure>,
    reads: Vec<PrintedFigure>,
    facts: Vec<(&'static str, Option<&'a str>)>,
}

/// What the forms of a phase call its figures.
struct Form {
    /// Rates, of the first and of the last thread that was done.
    rates: [(ToolUnit, &'static str); 3],
    latencies: [(&'static str, FigureOf); 2],
    /// Amounts, when the last thread was done.
    amounts: [(ToolUnit, &'static str); 2],
    time: &'static str,
    /// What is printed for random offsets.
    yes: &'static str,
}

const OF_CSV: Form = Form {
    rates: [(units::MIB_PER_S, "MiB/s"), (units::IOPS, "IOPS"), (ENTRIES_PER_S, "entries/s")],
    latencies: [("IO lat us", FigureOf::OperationLatency), ("Ent lat us", FigureOf::EntryLatency)],
    amounts: [(units::MIB, "MiB"), (units::COUNT, "entries")],
    time: "time ms",
    yes: "1",
};
const OF_JSON: Form = Form {
    rates: [(units::BYTES_PER_S, "bytes/s"), (units::IOPS, "iops"), (ENTRIES_PER_S, "entries/s")],
    latencies: [("IO", FigureOf::OperationLatency), ("entries", FigureOf::EntryLatency)],
    amounts: [(units::BYTES, "bytes"), (units::COUNT, "entries")],
    time: "elapsed_time_ms",
    yes: "true",
};
/// Moments of a phase, as its CSV calls them.
const MOMENTS: [(&str, FigureOf); 2] = [("last", FigureOf::LastDone), ("first", FigureOf::FirstDone)];

impl Form {
    /// The figures of a phase or of its reads, by `printed`, which is told a name and a moment or statistic.
    fn figures<'a>(&self, printed: &dyn Fn(&str, &str) -> Option<&'a str>) -> Vec<PrintedFigure> {
        let mut figures = Vec::new();
        for (moment, of) in MOMENTS {
            let rates = self.rates.iter();
            figures.extend(rates.filter_map(|(unit, name)| {
                unit.figure_of(of.clone(), Statistic::Mean, printed(name, moment))
            }));
        }
        for (name, of) in &self.latencies {
            let named = [
                (Statistic::Mean, printed(name, "avg")),
                (Statistic::Lowest, printed(name, "min")),
                (Statistic::Highest, printed(name, "max")),
            ];
            figures.extend(figures_of(units::MICROSECONDS, of.clone(), named));
        }
        figures.extend(self.amounts.iter().filter_map(|(unit, name)| {
            unit.figure_of(FigureOf::LastDone, Statistic::Sum, printed(name, "last"))
        }));
        figures
    }

    /// A phase, by `of_all` and `of_reads` as for `figures`, and by `get`, which knows the columns of the CSV.
    fn phase<'a>(
        &self,
        of_all: &dyn Fn(&str, &str) -> Option<&'a str>,
        of_reads: &dyn Fn(&str, &str) -> Option<&'a str>,
        get: &dyn Fn(&str) -> Option<&'a str>,
        facts: Vec<(&'static str, Option<&'a str>)>,
    ) -> Phase<'a> {
        let mut figures = self.figures(of_all);
        for (moment, of) in MOMENTS {
            let time = of_all(self.time, moment).filter(|printed| units::positive(printed));
            figures.extend(units::RUN_MILLISECONDS.figure_of(of, Statistic::Sum, time));
        }
        let owned = |key: &str| get(key).map(str::to_owned);
        let count = |key: &str| get(key).and_then(|words| words.parse().ok());
        Phase {
            name: owned("operation").unwrap_or_default(),
            label: owned("label"),
            date: get("ISO date").and_then(dates::from_iso),
            version: owned("version"),
            command: owned("command"),
            block: get("block size").and_then(|words| words.parse().ok()).filter(|size| *size > 0),
            depth: count("IO depth"),
            threads: count("threads"),
            random: get("random").map(|word| word == self.yes),
            figures,
            reads: self.figures(of_reads),
            facts,
        }
    }
}

/// What is told of a run besides, by the columns of the CSV.
const FACTS: [&str; 5] = ["path type", "paths", "hosts", "file size", "direct IO"];

/// Reads the CSV of phases.
fn read_csv(input: &Input<'_>) -> ImportedRuns {
    let mut lines = input.lines();
    let header =
        lines.by_ref().find(|(_, line)| line.starts_with("ISO date,") && line.contains(",operation,"));
    let Some((_, header)) = header else {
        return parts::not_mine(text!(
            "no line holds the column names `ISO date,…,operation,…`",
            "列名 `ISO date,…,operation,…` の行がありません"
        ));
    };
    let header: Vec<&str> = header.split(',').collect();
    let mut runs = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("ISO date,"))
    {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != header.len() {
            let (count, expected) = (fields.len(), header.len());
            let what = text!(
                "elbencho's row has {count} fields; its header has {expected}",
                "elbencho のこの行は {count} 列ですが、見出しは {expected} 列です"
            );
            return parts::broken_at(input, number, what);
        }
        let get = |key: &str| field(&header, &fields, key).map(str::trim).filter(|field| !field.is_empty());
        let phase = OF_CSV.phase(
            &|name, moment| get(&format!("{name} [{moment}]")),
            &|name, moment| get(&format!("rwmix read {name} [{moment}]")),
            &get,
            FACTS.map(|key| (key, get(key))).to_vec(),
        );
        add(&mut runs, input, "elbencho-csv", phase);
    }
    Ok(runs)
}

/// Reads the JSON of phases, a document per line.
fn read_json(input: &Input<'_>) -> ImportedRuns {
    let documents = parts::documents_with(input, "elbencho", KEYS)?;
    let mut runs = Vec::new();
    for document in documents.iter().filter(|document| document.get("phase_type").is_some()) {
        add(&mut runs, input, "elbencho-json", json_phase(document));
    }
    Ok(runs)
}

fn json_phase(document: &Json) -> Phase<'_> {
    let printed = |part: Option<&str>, name: &str, moment: &str| {
        let done = document.get(if moment == "first" { "first_done" } else { "last_done" })?;
        let within = |json| part.map_or(Some(json), |part| Json::get(json, part));
        match moment {
            "first" | "last" => within(done)?.text_of(name),
            statistic => within(done.get("latency")?.get(name)?)?.text_of(&format!("{statistic}_us")),
        }
    };
    let config = |key: &str| document.get("config")?.text_of(&key.to_lowercase().replace(' ', "_"));
    let get = |key: &str| {
        let words = match key {
            "operation" => document.text_of("phase_type"),
            "label" => document.text_of(key),
            "ISO date" => document.text_of("iso_start_date"),
            "random" => config("random offsets"),
            key => config(key),
        };
        words.map(str::trim).filter(|words| !words.is_empty())
    };
    OF_JSON.phase(
        &|name, moment| printed(None, name, moment),
        &|name, moment| printed(Some("rwmix_read"), name, moment),
        &get,
        FACTS.map(|key| (key, config(key))).to_vec(),
    )
}

/// Adds a phase to the run of its command line, or begins one.
fn add(runs: &mut Vec<ImportedRun>, input: &Input<'_>, format: &str, phase: Phase<'_>) {
    let same = runs.last().is_some_and(|run| {
        run.origin.procedure == phase.command
            && run.origin.version == phase.version
            && run.origin.facts.get("label") == phase.label.as_ref()
    });
    if !same {
        let facts =
            phase.facts.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value)?.to_owned())));
        let label = phase.label.clone().map(|label| ("label".to_owned(), label));
        let origin = Origin {
            version: phase.version.clone(),
            measured_at: phase.date.clone(),
            // No target: the paths are the last words of the command line, but so may be a flag's value.
            procedure: phase.command.clone(),
            facts: facts.chain(label).collect(),
            ..input.origin("elbencho", format)
        };
        runs.push(ImportedRun { origin, ..ImportedRun::default() });
    }
    if let Some(run) = runs.last_mut() {
        run.cells.extend(cells(phase));
    }
}

fn cells(phase: Phase<'_>) -> Vec<Cell> {
    let mixed = !phase.reads.is_empty();
    let read_percent = phase
        .name
        .strip_prefix("RWMIX")
        .and_then(parts::number)
        .filter(|share| (0.0..=100.0).contains(share));
    let kind = phase.name.split('+').next().unwrap_or("");
    let moves_data = phase.figures.iter().any(|figure| figure.quantity == Quantity::Rate);
    let mut cells = Vec::new();
    let parts = [(phase.figures, if mixed { " write" } else { "" }), (phase.reads, " read")];
    for (figures, suffix) in parts {
        let direction = match (kind, suffix) {
            (_, " read") | ("READ", _) => Some(Direction::Read),
            (_, " write") | ("WRITE", _) => Some(Direction::Write),
            _ => None,
        };
        let imported = ImportedCell {
            procedure: phase.command.as_deref().map(parts::repeated),
            runs: Some(1),
            block_bytes: phase.block.filter(|_| moves_data),
            iodepth: phase.depth.filter(|_| moves_data),
            threads: phase.threads,
            sequential: phase.random.filter(|_| moves_data).map(|random| !random),
            read_percent: read_percent.filter(|_| mixed),
            figures,
            ..ImportedCell::default()
        };
        cells.push(parts::cell(phase.name.clone(), direction, imported));
    }
    cells
}

/// Columns of the live CSV that become series: name, kurabe's unit.
const LIVE_COLUMNS: [(&str, ToolUnit); 5] = [
    ("MiB/s", units::MIB_PER_S),
    ("IOPS", units::IOPS),
    ("Entries/s", ENTRIES_PER_S),
    ("Lat IO us", units::MICROSECONDS),
    ("Lat Ent us", units::MICROSECONDS),
];

/// Reads the CSV of live progress: the totals of a phase as series, with the median, highest and lowest interval.
fn read_live(input: &Input<'_>) -> ImportedRuns {
    let mut lines = input.lines();
    let header =
        lines.by_ref().find(|(_, line)| line.starts_with("ISO Date,") && line.contains(",RuntimeMS,"));
    let Some((_, header)) = header else {
        return parts::not_mine(text!(
            "no line holds the column names `ISO Date,…,RuntimeMS,…`",
            "列名 `ISO Date,…,RuntimeMS,…` の行がありません"
        ));
    };
    let header: Vec<&str> = header.split(',').collect();
    let mut origin = input.origin("elbencho", "elbencho-live-csv");
    let mut phases: Vec<LivePhase> = Vec::new();
    let mut places: HashMap<[&str; 3], usize> = HashMap::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("ISO Date,"))
    {
        let fields: Vec<&str> = line.split(',').collect();
        let get = |key: &str| field(&header, &fields, key);
        let time_ns = get("RuntimeMS").and_then(|time| units::RUN_MILLISECONDS.value(time));
        let (Some(phase), Some(time_ns), Some(rank)) = (get("Phase"), time_ns, get("Rank")) else {
            return parts::broken_at(
                input,
                number,
                text!("this row is cut off", "この行は途中で切れています"),
            );
        };
        // Rows of single threads hold no rates.
        if rank != "Total" {
            continue;
        }
        origin.measured_at = origin.measured_at.or_else(|| get("ISO Date").and_then(dates::from_iso));
        let words = [get("Label").unwrap_or(""), phase, get("MixType").unwrap_or("")];
        let at = *places.entry(words).or_insert_with(|| {
            let direction = live_direction(phase, words[2]);
            // The kind of a mix is the direction of its cell.
            let named = if direction.is_some() { &words[..2] } else { &words[..] };
            let name = named.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            phases.push(LivePhase { name, direction, ..LivePhase::default() });
            phases.len() - 1
        });
        for ((column, _), points) in LIVE_COLUMNS.iter().zip(&mut phases[at].columns) {
            points.extend(get(column).map(|printed| (time_ns, printed.trim().to_owned())));
        }
    }
    let cells = phases.iter().map(live_cell).collect();
    let notices = vec![parts::notice(units::of_intervals())];
    Ok(vec![ImportedRun { origin, cells, notices, ..ImportedRun::default() }])
}

/// A phase of the live CSV: the columns of `LIVE_COLUMNS` over time.
#[derive(Default)]
struct LivePhase {
    name: String,
    direction: Option<Direction>,
    columns: [Vec<(f64, String)>; LIVE_COLUMNS.len()],
}

fn live_direction(phase: &str, mix: &str) -> Option<Direction> {
    match (phase.split('+').next().unwrap_or(""), mix) {
        (_, "Read") | ("READ", "") => Some(Direction::Read),
        (_, "Write") | ("WRITE", "") => Some(Direction::Write),
        _ => None,
    }
}

fn live_cell(phase: &LivePhase) -> Cell {
    let mut imported = ImportedCell { runs: Some(1), ..ImportedCell::default() };
    for ((column, unit), points) in LIVE_COLUMNS.iter().zip(&phase.columns) {
        // elbencho prints 0 in the columns that a phase does not have.
        if points.iter().any(|(_, printed)| units::positive(printed)) {
            units::add_intervals(&mut imported, *unit, column, SeriesAxis::Time, points);
        }
    }
    parts::cell(&phase.name, phase.direction, imported)
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;

    const LAST: &str = "last done";
    const FIRST: &str = "first done";

    #[test]
    fn csv_and_json_of_the_same_phases_agree() {
        let (csv, json) = (imported("lab/elbencho.csv"), imported("lab/elbencho.json"));
        assert_eq!((csv.len(), json.len()), (3, 3), "three command lines");
        for (a, b) in csv.iter().zip(&json) {
            let labels = |run: &ImportedRun| -> Vec<_> {
                run.cells.iter().map(|cell| (cell.label.clone(), cell.direction)).collect()
            };
            assert_eq!(labels(a), labels(b));
            assert_eq!(a.origin.measured_at, b.origin.measured_at);
            assert_eq!(a.origin.procedure, b.origin.procedure);
        }
        let run = &csv[0];
        assert_eq!(run.origin.tool_name(), "elbencho 3.1-10");
        assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21T13:39:07.497+00:00"));
        let write = find(run, "WRITE");
        assert_eq!(write.direction, Some(Direction::Write));
        let printed = of(write);
        assert_eq!(
            (printed.block_bytes, printed.iodepth, printed.threads),
            (Some(131_072), Some(1), Some(2))
        );
        assert_eq!(printed.sequential, Some(true));
        assert_figure(&printed.figures[0], "2006", "MiB/s", 2006.0 * 1_048_576.0);
        let rate = |cell, of| figure(cell, Quantity::Rate, Statistic::Mean, Some(of));
        assert_figure(rate(write, FIRST), "2116", "MiB/s", 2116.0 * 1_048_576.0);
        assert_figure(rate(find(&json[0], "WRITE"), LAST), "2104253856", "B/s", 2_104_253_856.0);
        let latency = figure(write, Quantity::Latency, Statistic::Highest, Some("operation latency"));
        assert_figure(latency, "242", "us", 242_000.0);
    }

    #[test]
    fn a_mix_is_two_cells_and_directories_have_entries() {
        for name in ["lab/elbencho.csv", "lab/elbencho.json"] {
            let runs = imported(name);
            let [write, read] = runs[1].cells.as_slice() else { panic!() };
            assert_eq!((write.label.as_str(), read.label.as_str()), ("RWMIX30", "RWMIX30"));
            assert_eq!((of(read).read_percent, of(read).sequential), (Some(30.0), Some(false)));
            assert_eq!(figure(read, Quantity::Iops, Statistic::Mean, Some(LAST)).printed, "163826");
            assert_eq!(
                figure(write, Quantity::Latency, Statistic::Mean, Some("operation latency")).printed,
                "16"
            );
            let stat = find(&runs[2], "STAT");
            assert_eq!((stat.direction, of(stat).block_bytes), (None, None));
            assert_figure(&of(stat).figures[0], "64102", "entries/s", 64_102.0);
        }
    }

    #[test]
    fn live_progress_becomes_series() {
        let run = &imported("lab/elbencho-live.csv")[0];
        let [write, read] = run.cells.as_slice() else { panic!() };
        assert_eq!((write.label.as_str(), read.direction), ("mixed RWMIX30", Some(Direction::Read)));
        let rates = &of(write).series[0];
        assert_eq!((rates.name.as_str(), rates.axis), ("MiB/s", SeriesAxis::Time));
        let mib = 1_048_576.0;
        let points =
            [(0.0, 1350.0), (197e6, 1425.0), (397e6, 1401.0), (598e6, 1236.0)].map(|(t, v)| (t, v * mib));
        assert_eq!(rates.points, points);
        assert_figure(&of(write).figures[0], "1350", "MiB/s", 1350.0 * mib);
        assert_eq!(of(write).figures[0].statistic, Statistic::Median);
        assert!(!of(write).series.iter().any(|series| series.name == "Entries/s"));
    }

    #[test]
    fn a_cut_row_is_told() {
        let bytes = fixture("lab/elbencho.csv");
        let error = super::super::import("a.csv", &bytes[..1500]).unwrap_err();
        assert!(error.place().is_some(), "{error}");
        for name in ["elbencho.csv", "elbencho.json", "elbencho-live.csv"] {
            assert_survives_damage(&format!("lab/{name}"));
        }
    }
}
