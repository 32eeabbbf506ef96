//! elbencho's results: CSV and JSON of complete phases, and CSV of live progress.
//!
//! The model: a phase (WRITE, READ, RWMIX30, MKDIRS, …) is a cell. The reads of a mixed phase are a
//! second cell, because elbencho prints them separately and the main columns contain only the writes.
//! "First done" is the time when the fastest thread finished, "last done" when the slowest did. The
//! figures of "last done" come first, because they cover all of the work. Phases of one command line
//! are a run. CSV files of all versions are read by their column names. Sources: elbencho's
//! docs/csv-docs.md and docs/result-columns-explanation.md.

use super::json_tree::Json;
use super::kit::*;
use super::parts::PrintedRow;
use super::room;

const KEYS: &[&str] = &["\"phase_type\"", "\"last_done\""];
pub(super) const JSON: Importer =
    Importer::of(("elbencho JSON", "elbencho", &["\"phase_type\""]), Recognizer::Object(KEYS), read_json);
pub(super) const CSV: Importer =
    Importer::of(("elbencho CSV", "elbencho", &["elbencho"]), Recognizer::File, read_csv);
pub(super) const LIVE: Importer =
    Importer::of(("elbencho live CSV", "elbencho", &["elbencho"]), Recognizer::File, read_live);

const ENTRIES_PER_S: ToolUnit = units::unit("entries/s", Quantity::Iops, 1.0);

/// Names of figures in an output format of a phase.
struct Form {
    /// Rates, when the first and the last thread finished.
    rates: [(ToolUnit, &'static str); 3],
    latencies: [(&'static str, FigureOf); 2],
    /// Amounts, when the last thread finished.
    amounts: [(ToolUnit, &'static str); 2],
    time: &'static str,
    /// Word that is printed for random offsets.
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
/// Moments of a phase, as its CSV names them.
const MOMENTS: [(&str, FigureOf); 2] = [("last", FigureOf::LastDone), ("first", FigureOf::FirstDone)];

/// Returns the value printed under a name, for a moment or in a statistic.
type PrintedBy<'p, 'a> = &'p dyn Fn(&str, &str) -> Option<&'a str>;

impl Form {
    /// Returns the figures of a phase or of its reads. `printed` receives a name, and a moment or
    /// statistic.
    fn figures(&self, printed: PrintedBy<'_, '_>) -> Vec<PrintedFigure> {
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

    /// Adds a phase to the run of its command line, or starts a run. `of_all` and `of_reads` are as in
    /// `figures`, and `get` returns columns of the CSV.
    fn add<'a>(
        &self,
        runs: &mut Vec<ImportedRun>,
        origin: Origin,
        [of_all, of_reads]: [PrintedBy<'_, 'a>; 2],
        get: &dyn Fn(&str) -> Option<&'a str>,
    ) {
        let (mut figures, reads) = (self.figures(of_all), self.figures(of_reads));
        for (moment, of) in MOMENTS {
            let time = of_all(self.time, moment).filter(|printed| units::positive(printed));
            figures.extend(units::RUN_MILLISECONDS.figure_of(of, Statistic::Sum, time));
        }
        let owned = |key: &str| get(key).map(str::to_owned);
        let count = |key: &str| get(key).and_then(|words| words.parse().ok());
        let facts = FACTS.iter().filter_map(|key| Some(((*key).to_owned(), owned(key)?)));
        let origin = Origin {
            version: owned("version"),
            measured_at: get("ISO date").and_then(dates::from_iso),
            // The target is unknown: the paths are the last words of the command line, but the value of
            // an option can be there as well.
            procedure: owned("command"),
            facts: facts.collect(),
            ..origin
        };
        let setting = ImportedCell {
            procedure: get("command").map(repeated),
            runs: Some(1),
            block_bytes: get("block size").and_then(|words| words.parse().ok()).filter(|size| *size > 0),
            iodepth: count("IO depth"),
            threads: count("threads"),
            sequential: get("random").map(|word| word != self.yes),
            ..ImportedCell::default()
        };
        let key = |origin: &Origin| {
            (origin.procedure.clone(), origin.version.clone(), origin.facts.get("label").cloned())
        };
        if runs.last().is_none_or(|run| key(&run.origin) != key(&origin)) {
            room::take(3 * size_of::<ImportedRun>() + 4 * size_of::<Cell>());
            runs.push(ImportedRun { origin, ..ImportedRun::default() });
        }
        if let Some(run) = runs.last_mut() {
            run.cells.extend(cells(get("operation").unwrap_or_default(), setting, figures, reads));
        }
    }
}

/// Other facts about a run, by the columns of the CSV.
const FACTS: [&str; 6] = ["path type", "paths", "hosts", "file size", "direct IO", "label"];

/// Reads the CSV of phases.
fn read_csv(input: &Input<'_>) -> ImportedRuns {
    let is_header = |line: &str| line.starts_with("ISO date,") && line.contains(",operation,");
    let Some(rows) = parts::csv_rows(input, is_header) else {
        return without_line("ISO date,…,operation,…");
    };
    let mut runs = Vec::new();
    for (number, row) in rows {
        if !row.is_whole() {
            return Err(parts::miscounted(input, number).into());
        }
        let get = |key: &str| row.get(key).map(str::trim).filter(|field| !field.is_empty());
        let of_all = |name: &str, moment: &str| get(&format!("{name} [{moment}]"));
        let of_reads = |name: &str, moment: &str| get(&format!("rwmix read {name} [{moment}]"));
        OF_CSV.add(&mut runs, input.origin("elbencho", "elbencho-csv"), [&of_all, &of_reads], &get);
    }
    Ok(runs)
}

/// Reads the JSON of phases, a document per line.
fn read_json(input: &Input<'_>) -> ImportedRuns {
    let documents = parts::documents_with(input, "elbencho", KEYS)?;
    let mut runs = Vec::new();
    for document in documents {
        let document = document?;
        if document.get("phase_type").is_some() {
            add_json(&mut runs, input, &document);
        }
    }
    Ok(runs)
}

fn add_json(runs: &mut Vec<ImportedRun>, input: &Input<'_>, document: &Json) {
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
    let of_all = |name: &str, moment: &str| printed(None, name, moment);
    let of_reads = |name: &str, moment: &str| printed(Some("rwmix_read"), name, moment);
    OF_JSON.add(runs, input.origin("elbencho", "elbencho-json"), [&of_all, &of_reads], &get);
}

/// Returns the cells of a phase: of all its work, and of the reads if they are printed separately.
fn cells(
    name: &str,
    mut setting: ImportedCell,
    figures: Vec<PrintedFigure>,
    reads: Vec<PrintedFigure>,
) -> [Cell; 2] {
    let mixed = !reads.is_empty();
    let read_percent = name.strip_prefix("RWMIX").and_then(number);
    setting.read_percent = read_percent.filter(|share| mixed && (0.0..=100.0).contains(share));
    if !figures.iter().any(|figure| figure.quantity == Quantity::Rate) {
        (setting.block_bytes, setting.iodepth, setting.sequential) = (None, None, None);
    }
    let writes = direction(name, if mixed { "Write" } else { "" });
    [(figures, writes), (reads, Some(Direction::Read))]
        .map(|(figures, direction)| cell(name, direction, ImportedCell { figures, ..setting.clone() }))
}

/// Returns the direction of a phase, or of a half of it.
fn direction(phase: &str, half: &str) -> Option<Direction> {
    match (phase.split('+').next().unwrap_or(""), half) {
        (_, "Read") | ("READ", "") => Some(Direction::Read),
        (_, "Write") | ("WRITE", "") => Some(Direction::Write),
        _ => None,
    }
}

/// Columns of the live CSV that become series: name, kurabe's unit.
const LIVE_COLUMNS: [(&str, ToolUnit); 5] = [
    ("MiB/s", units::MIB_PER_S),
    ("IOPS", units::IOPS),
    ("Entries/s", ENTRIES_PER_S),
    ("Lat IO us", units::MICROSECONDS),
    ("Lat Ent us", units::MICROSECONDS),
];

/// Reads the CSV of live progress: the totals of a phase as series, with the median, highest and lowest
/// interval.
fn read_live(input: &Input<'_>) -> ImportedRuns {
    let is_header = |line: &str| line.starts_with("ISO Date,") && line.contains(",RuntimeMS,");
    let Some(rows) = parts::csv_rows(input, is_header) else {
        return without_line("ISO Date,…,RuntimeMS,…");
    };
    let mut origin = input.origin("elbencho", "elbencho-live-csv");
    let mut totals = Vec::new();
    for (number, row) in rows {
        let time_ns = row.get("RuntimeMS").and_then(|time| units::RUN_MILLISECONDS.value(time));
        let (Some(phase), Some(time_ns), Some(rank)) = (row.get("Phase"), time_ns, row.get("Rank")) else {
            return Err(parts::miscounted(input, number).into());
        };
        // Rows of single threads contain no rates.
        if rank == "Total" {
            origin.measured_at = origin.measured_at.or_else(|| row.get("ISO Date").and_then(dates::from_iso));
            let words = [row.get("Label").unwrap_or(""), phase, row.get("MixType").unwrap_or("")];
            room::take(4 * (size_of::<(f64, PrintedRow<'_>)>() + row.fields.len() * size_of::<&str>()));
            totals.push((words, (time_ns, row)));
        }
    }
    let phases = parts::grouped(totals);
    let cells = phases.iter().map(|(words, rows)| live_cell(words, rows)).collect();
    let notices = vec![notice(units::of_intervals())];
    Ok(vec![ImportedRun { origin, cells, notices, ..ImportedRun::default() }])
}

/// Returns the cell of a phase: its label, name and kind of mix, and its totals over time.
fn live_cell(words: &[&str; 3], rows: &[(f64, PrintedRow<'_>)]) -> Cell {
    let direction = direction(words[1], words[2]);
    // The kind of a mix is the direction of its cell.
    let named = if direction.is_some() { &words[..2] } else { &words[..] };
    let name: Vec<&str> = named.iter().copied().filter(|word| !word.is_empty()).collect();
    let mut imported = ImportedCell { runs: Some(1), ..ImportedCell::default() };
    for (column, unit) in LIVE_COLUMNS {
        let points = rows.iter().filter_map(|(time_ns, row)| Some((*time_ns, row.get(column)?.trim())));
        let points: Vec<(f64, &str)> = points.collect();
        // elbencho prints 0 in the columns that a phase does not have.
        if points.iter().any(|(_, printed)| units::positive(printed)) {
            units::add_intervals(&mut imported, unit, column, SeriesAxis::Time, &points);
        }
    }
    cell(name.join(" "), direction, imported)
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
    }
}
