//! JDiskMark's exports: JSON, YAML and CSV.
//!
//! The model: JSON and YAML are the same tree (Jackson's, `Exporter.java`): `config`, `driveInfo`, `systemInfo`, and
//! `operations` with `ioMode`, `bandwidth`, `latency`, `iops` and `samples` (`sn`, `bw`, `la`). CSV has the same in
//! lines of comments and a table. MB is 2^20 bytes (`App.java`: `MEGABYTE`), so rates are corrected; latencies are ms
//! per block; means over the samples. A figure that was not had is 0 or -1 there: it is left out. Source:
//! JDiskMark/jdm-java 6e293147 (0.8).

use super::dates::from_year_first;
use super::json_tree::Json;
use super::parts::{
    self, broken, broken_line, cell, direction_of, documents_of, fact, field, not_mine, number, repeated,
};
use super::units::{self, ToolUnit, binary, corrected};
use super::{ImportedRun, ImportedRuns, Importer, Input, yaml};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{
    FigureOf, ImportedCell, Origin, PrintedFigure, PrintedSeries, PrintedStatistic, Quantity, SeriesAxis,
};
use kurabe_core::record::Cell;
use kurabe_core::{Error, Result, text};
use std::collections::HashMap;

pub(super) const IMPORTER: Importer =
    Importer::of_files(("JDiskMark JSON, YAML or CSV", "JDiskMark", &["JDiskMark"]), read);

const MB_PER_S: ToolUnit = units::unit("MB/s", Quantity::Rate, 1_048_576.0);
/// Words for reads and writes.
const MODES: [&str; 2] = ["READ", "WRITE"];
/// Series of samples: name in the file, unit.
const SERIES: [(&str, ToolUnit); 2] = [("bw", MB_PER_S), ("la", units::MILLISECONDS)];

fn read(input: &Input<'_>) -> ImportedRuns {
    let Some(words) = input.text() else {
        return not_mine(text!("it is no text", "テキストではありません"));
    };
    let run = if words.starts_with("# JDiskMark ") {
        from_csv(input)?
    } else if !(words.contains("\"operations\"") && words.contains("\"blockOrder\"") || yaml_keys(words)) {
        return not_mine(text!(
            "neither the keys `operations` and `blockOrder` nor a first line `# JDiskMark` are there",
            "キー `operations` と `blockOrder` も、先頭の行 `# JDiskMark` もありません"
        ));
    } else {
        from_tree(input, &tree(input, words)?)?
    };
    Ok(vec![run])
}

fn yaml_keys(words: &str) -> bool {
    let key = |name: &str| words.lines().any(|line| line.trim_start().starts_with(name));
    words.lines().any(|line| line == "operations:") && key("blockOrder:") && key("config:")
}

fn tree(input: &Input<'_>, words: &str) -> Result<Json> {
    if yaml_keys(words) && !words.trim_start().starts_with('{') {
        return yaml::parse(words).map_err(|line| {
            broken_line(input, line, text!("the YAML cannot be read here", "ここの YAML を読めません"))
        });
    }
    documents_of(input, words, "JDiskMark")?
        .into_iter()
        .next()
        .ok_or_else(|| broken(text!("{} holds no JSON object", "{} に JSON がありません", input.name)))
}

fn corrected_rate(figure: PrintedFigure) -> PrintedFigure {
    let reason = text!("JDiskMark's MB is 2^20 bytes", "JDiskMark の MB は 2^20 バイトです");
    corrected(figure, binary("MiB/s", reason))
}

/// A run with all that is not of a cell.
fn run(origin: Origin, environment: Environment, cells: Vec<Cell>) -> Result<ImportedRun> {
    if cells.is_empty() {
        return Err(broken(text!(
            "{} holds no finished operation",
            "{} に完了した測定がありません",
            origin.file
        )));
    }
    let notices = vec![units::prints_mebibytes("JDiskMark", "MB/s")];
    Ok(ImportedRun { origin, environment, cells, notices })
}

fn from_tree(input: &Input<'_>, tree: &Json) -> Result<ImportedRun> {
    let empty = Json::Null;
    let part = |key: &str| tree.get(key).unwrap_or(&empty);
    let (config, drive, system) = (part("config"), part("driveInfo"), part("systemInfo"));
    let owned =
        |words: Option<&str>| words.map(str::trim).filter(|words| !words.is_empty()).map(str::to_owned);
    let mut origin = input.origin("JDiskMark", "jdiskmark");
    origin.version = owned(config.text_of("appVersion"));
    origin.measured_at = tree.text_of("startTimeString").and_then(from_year_first);
    origin.target = owned(drive.text_of("driveModel")).or_else(|| owned(config.text_of("testDir")));
    origin.procedure = owned(config.text_of("profile"));
    for (of, keys) in [
        (config, &["profile", "benchmarkType", "numBlocks", "numSamples", "ioEngine", "sectorAlignment"][..]),
        (drive, &["driveModel", "partitionId", "percentUsed", "usedGb", "totalGb"][..]),
        (system, &["arch", "jdk"][..]),
    ] {
        for key in keys {
            if let Some(words) = owned(of.text_of(key)) {
                fact(&mut origin, key, words);
            }
        }
    }
    let mut environment = Environment::default();
    environment.machine.os = owned(system.text_of("os"));
    environment.machine.cpu_model = owned(system.text_of("processorName"));
    let threads = config.count_of("numThreads").and_then(|threads| u32::try_from(threads).ok());
    let mut cells = Vec::new();
    for operation in part("operations").items() {
        cells.extend(operation_cell(operation, threads)?);
    }
    run(origin, environment, cells)
}

fn damaged(key: &str, words: &str) -> Error {
    broken(text!("`{key}` is `{words}`, which cannot be read", "`{key}` の値 `{words}` を読めません"))
}

/// A figure's characters, unless they stand for a figure that was not had.
fn had<'a>(of: &'a Json, key: &str) -> Result<Option<&'a str>> {
    let Some(words) = of.text_of(key) else { return Ok(None) };
    match number(words) {
        Some(value) => Ok((value > 0.0).then_some(words)),
        None if words.starts_with("-1") => Ok(None),
        None => Err(damaged(key, words)),
    }
}

fn operation_cell(operation: &Json, threads: Option<u32>) -> Result<Option<Cell>> {
    let mode = operation.text_of("ioMode").unwrap_or_default();
    let direction = direction_of(mode, MODES).ok_or_else(|| damaged("ioMode", mode))?;
    let order = operation.text_of("blockOrder");
    let sequential = match order {
        Some("SEQUENTIAL") => Some(true),
        Some("RANDOM") => Some(false),
        _ => None,
    };
    let block_bytes = operation.count_of("blockSize").filter(|bytes| *bytes > 0);
    let mean = PrintedStatistic::Mean;
    let rate = MB_PER_S.figure(mean, had(operation, "bandwidth")?);
    let iops = units::IOPS.figure(mean, had(operation, "iops")?);
    let latency = units::MILLISECONDS.figure_of(FigureOf::BlockTime, mean, had(operation, "latency")?);
    let Some(rate) = rate else { return Ok(None) };
    let imported = ImportedCell {
        procedure: Some(procedure(operation, mode)),
        block_bytes,
        threads,
        sequential,
        figures: std::iter::once(corrected_rate(rate)).chain(iops).chain(latency).collect(),
        series: series(operation)?,
        ..ImportedCell::default()
    };
    Ok(Some(cell(label(&imported), Some(direction), imported)))
}

/// `READ SEQUENTIAL, 50 samples of 32 blocks`, as far as it is told.
fn procedure(operation: &Json, mode: &str) -> String {
    let mut words = mode.to_owned();
    if let Some(order) = operation.text_of("blockOrder") {
        words += &format!(" {order}");
    }
    if let (Some(samples), Some(blocks)) = (operation.text_of("numSamples"), operation.text_of("numBlocks")) {
        words += &format!(", {samples} samples of {blocks} blocks");
    }
    words
}

fn label(cell: &ImportedCell) -> String {
    parts::shape(cell.sequential, "blocks", cell.block_bytes, None, cell.threads)
}

/// Rate and latency of the samples, by their number.
fn series(operation: &Json) -> Result<Vec<PrintedSeries>> {
    let samples = operation.get("samples").map_or(&[][..], Json::items);
    let mut series = Vec::new();
    for (key, unit) in SERIES {
        let mut points = Vec::new();
        for sample in samples {
            if let (Some(at), Some(words)) = (sample.text_of("sn").and_then(number), had(sample, key)?) {
                points.extend(unit.value(words).map(|value| (at, value)));
            }
        }
        series.extend(series_of(key, unit, points));
    }
    Ok(series)
}

/// A series, its axis from 0; none without points.
fn series_of(name: &str, unit: ToolUnit, mut points: Vec<(f64, f64)>) -> Option<PrintedSeries> {
    let first = points.iter().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
    for point in &mut points {
        point.0 -= first;
    }
    units::series(unit.quantity, name, unit.name, SeriesAxis::Number, points)
}

/// The comments of a CSV, and its table.
fn from_csv(input: &Input<'_>) -> Result<ImportedRun> {
    let mut origin = input.origin("JDiskMark", "jdiskmark-csv");
    let (mut results, mut rows) = (Vec::new(), Vec::new());
    for (line, words) in input.lines() {
        let Some(comment) = words.strip_prefix('#') else {
            rows.push((line, words));
            continue;
        };
        let comment = comment.trim();
        if let Some(rest) = comment.strip_prefix("JDiskMark ") {
            origin.version = rest.split_whitespace().next().map(str::to_owned);
        } else if let Some((mode, figures)) = comment.split_once(" Result: ") {
            results.push((line, mode.to_owned(), figures.to_owned()));
        } else if let Some((key, value)) = comment.split_once(": ") {
            match key {
                "Date" => origin.measured_at = from_year_first(value),
                "Model" => origin.target = Some(value.to_owned()),
                "Profile" => origin.procedure = Some(value.to_owned()),
                _ => {}
            }
            fact(&mut origin, key, value);
        }
    }
    let mut samples = samples(input, &rows)?;
    let mut cells = Vec::new();
    for (line, mode, figures) in &results {
        let cell = csv_cell(&origin, mode, figures, &mut samples).ok_or_else(|| {
            broken_line(input, *line, text!("the result line cannot be read", "結果の行を読めません"))
        })?;
        cells.push(cell);
    }
    run(origin, Environment::default(), cells)
}

/// Samples of a mode: their numbers, and what `SERIES` names.
type Samples<'a> = Vec<(f64, [Option<&'a str>; SERIES.len()])>;

/// `bw 523.45 MB/s, lat 0.06 ms, iops 16750`; the point may be a comma, as Java's locale has it.
fn csv_cell(
    origin: &Origin,
    mode: &str,
    figures: &str,
    samples: &mut HashMap<&str, Samples<'_>>,
) -> Option<Cell> {
    let mode = mode.to_ascii_uppercase();
    let direction = direction_of(&mode, MODES)?;
    let (rate, rest) = figures.strip_prefix("bw ")?.split_once(" MB/s, lat ")?;
    let (latency, iops) = rest.split_once(" ms, iops ")?;
    let local = |unit: ToolUnit, words: &str| {
        let figure = unit.figure(PrintedStatistic::Mean, words.replace(',', ".").as_str())?;
        (figure.value > 0.0).then(|| PrintedFigure { printed: words.to_owned(), ..figure })
    };
    let rate = corrected_rate(local(MB_PER_S, rate)?);
    let latency = local(units::MILLISECONDS, latency).map(|figure| units::of(figure, FigureOf::BlockTime));
    let iops = local(units::IOPS, iops.trim());
    let fact = |key: &str| origin.facts.get(key).map(String::as_str);
    let order = fact("Order")?;
    // The samples of a mode belong to the first result of it.
    let samples = samples.remove(mode.as_str()).unwrap_or_default();
    let series = SERIES.iter().enumerate().filter_map(|(place, (name, unit))| {
        let points = samples.iter().filter_map(|(at, fields)| Some((*at, unit.value(fields[place]?)?)));
        series_of(name, *unit, points.collect())
    });
    let imported = ImportedCell {
        procedure: Some(repeated(&format!("{mode} {order}"))),
        block_bytes: fact("BlockSize").and_then(|words| words.parse().ok()).filter(|bytes| *bytes > 0),
        threads: fact("Threads").and_then(|words| words.parse().ok()),
        sequential: match order {
            "Sequential" => Some(true),
            "Random" => Some(false),
            _ => None,
        },
        figures: std::iter::once(rate).chain(iops).chain(latency).collect(),
        series: series.collect(),
        ..ImportedCell::default()
    };
    Some(cell(label(&imported), Some(direction), imported))
}

/// The samples of a CSV by their modes.
fn samples<'a>(input: &Input<'_>, lines: &[(usize, &'a str)]) -> Result<HashMap<&'a str, Samples<'a>>> {
    let mut lines = lines.iter().filter(|(_, line)| !line.trim().is_empty());
    let mut samples: HashMap<&str, Samples<'_>> = HashMap::new();
    let split =
        |line: &'a str| -> Vec<&'a str> { line.split(',').map(|field| field.trim_matches('"')).collect() };
    let Some((_, heading)) = lines.next() else { return Ok(samples) };
    let columns = split(heading);
    for (line, words) in lines {
        let fields = split(words);
        let get = |name: &str| field(&columns, &fields, name);
        let (Some(at), Some(mode)) = (get("sn").and_then(number), get("ioMode")) else {
            let what = text!("the sample cannot be read", "測定点の行を読めません");
            return Err(broken_line(input, *line, what));
        };
        samples.entry(mode).or_default().push((at, SERIES.map(|(name, _)| get(name))));
    }
    Ok(samples)
}
