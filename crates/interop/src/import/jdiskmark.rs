//! JDiskMark's exports: JSON, YAML and CSV.
//!
//! The model: JSON and YAML are the same tree (Jackson's, `Exporter.java`): `config`, `driveInfo`, `systemInfo`, and
//! `operations` with `ioMode`, `bandwidth`, `latency`, `iops` and `samples` (`sn`, `bw`, `la`). CSV has the same in
//! lines of comments and a table. MB is 2^20 bytes (`App.java`: `MEGABYTE`), so rates are corrected; latencies are ms
//! per block; means over the samples. A figure that was not had is 0 or -1 there: it is left out. Source:
//! JDiskMark/jdm-java 6e293147 (0.8).

use super::consumer::{self, corrected_rate, figure, mebi_correction};
use super::dates::from_year_first;
use super::json_tree::Json;
use super::parts::{broken, broken_line, cell, documents_of, notice, number, numbered, repeated};
use super::split::Claim;
use super::{ImportedRun, Importer, Input, Outcome, yaml};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{
    Correction, FigureOf, ImportedCell, Origin, PrintedSeries, PrintedStatistic, Quantity, SeriesAxis,
};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_core::{Error, Result, text};
use std::collections::HashMap;

pub(super) const IMPORTER: Importer =
    Importer { what: "JDiskMark JSON, YAML or CSV", read, claim: Claim::File, names: &["JDiskMark"] };

fn read(input: &Input<'_>) -> Outcome {
    let Some(words) = input.text() else {
        return Outcome::NotMine(text!("it is no text", "テキストではありません"));
    };
    let read = if words.starts_with("# JDiskMark ") {
        from_csv(input)
    } else if !(words.contains("\"operations\"") && words.contains("\"blockOrder\"") || yaml_keys(words)) {
        return Outcome::NotMine(text!(
            "neither the keys `operations` and `blockOrder` nor a first line `# JDiskMark` are there",
            "キー `operations` と `blockOrder` も、先頭の行 `# JDiskMark` もありません"
        ));
    } else {
        tree(input, words).and_then(|tree| from_tree(input, &tree))
    };
    read.map(|run| vec![run]).into()
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

fn correction() -> Correction {
    mebi_correction(text!("JDiskMark's MB is 2^20 bytes", "JDiskMark の MB は 2^20 バイトです"))
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
    let notices = vec![notice(text!(
        "JDiskMark prints MiB/s as MB/s; its rates are multiplied by 1.048576",
        "JDiskMark は MiB/s を MB/s と表示します。速度は 1.048576 倍に補正しました"
    ))];
    Ok(ImportedRun { origin, environment, cells: numbered(cells), notices })
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
                origin.facts.insert((*key).to_owned(), words);
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

fn direction(words: &str) -> Option<Direction> {
    match words {
        "READ" => Some(Direction::Read),
        "WRITE" => Some(Direction::Write),
        _ => None,
    }
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
    let direction = direction(mode).ok_or_else(|| damaged("ioMode", mode))?;
    let order = operation.text_of("blockOrder");
    let sequential = match order {
        Some("SEQUENTIAL") => Some(true),
        Some("RANDOM") => Some(false),
        _ => None,
    };
    let block_bytes = operation.count_of("blockSize").filter(|bytes| *bytes > 0);
    let rate = had(operation, "bandwidth")?
        .and_then(|words| corrected_rate(PrintedStatistic::Mean, words, "MB/s", &correction()));
    let iops = had(operation, "iops")?
        .and_then(|words| figure(Quantity::Iops, PrintedStatistic::Mean, words, "IOPS", 1.0));
    let latency = had(operation, "latency")?
        .and_then(|words| figure(Quantity::Latency, PrintedStatistic::Mean, words, "ms", 1e6))
        .map(|figure| consumer::of(figure, FigureOf::BlockTime));
    let Some(rate) = rate else { return Ok(None) };
    let imported = ImportedCell {
        procedure: Some(procedure(operation, mode)),
        block_bytes,
        threads,
        sequential,
        figures: std::iter::once(rate).chain(iops).chain(latency).collect(),
        series: series(operation)?,
        ..ImportedCell::default()
    };
    Ok(Some(cell(label(sequential, block_bytes, threads), Some(direction), imported)))
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

fn label(sequential: Option<bool>, block_bytes: Option<u64>, threads: Option<u32>) -> String {
    let mut label = match sequential {
        Some(true) => "SEQ",
        Some(false) => "RND",
        None => "blocks",
    }
    .to_owned();
    if let Some(bytes) = block_bytes {
        label += &format!(" {}", kurabe_core::quantity::format_bytes(bytes));
    }
    if let Some(threads) = threads {
        label += &format!(" T{threads}");
    }
    label
}

/// Rate and latency of the samples, by their number.
fn series(operation: &Json) -> Result<Vec<PrintedSeries>> {
    let samples = operation.get("samples").map_or(&[][..], Json::items);
    let mut series = Vec::new();
    for (key, quantity, unit, factor) in
        [("bw", Quantity::Rate, "MB/s", consumer::MEBI), ("la", Quantity::Latency, "ms", 1e6)]
    {
        let mut points = Vec::new();
        for sample in samples {
            if let (Some(at), Some(words)) = (sample.text_of("sn").and_then(number), had(sample, key)?) {
                points.push((at, number(words).unwrap_or_default() * factor));
            }
        }
        series.extend(series_of(key, quantity, unit, points));
    }
    Ok(series)
}

/// A series, its axis from 0; none without points.
fn series_of(
    name: &str,
    quantity: Quantity,
    unit: &str,
    mut points: Vec<(f64, f64)>,
) -> Option<PrintedSeries> {
    let first = points.iter().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
    for point in &mut points {
        point.0 -= first;
    }
    points.retain(|(at, value)| at.is_finite() && value.is_finite());
    (!points.is_empty()).then(|| PrintedSeries {
        quantity,
        name: name.to_owned(),
        unit_printed: unit.to_owned(),
        axis: SeriesAxis::Number,
        points,
    })
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
            origin.facts.insert(key.to_owned(), value.to_owned());
        }
    }
    let mut table = Table::read(input, &rows)?;
    let mut cells = Vec::new();
    for (line, mode, figures) in &results {
        let cell = csv_cell(&origin, mode, figures, &mut table).ok_or_else(|| {
            broken_line(input, *line, text!("the result line cannot be read", "結果の行を読めません"))
        })?;
        cells.push(cell);
    }
    run(origin, Environment::default(), cells)
}

/// `bw 523.45 MB/s, lat 0.06 ms, iops 16750`; the point may be a comma, as Java's locale has it.
fn csv_cell(origin: &Origin, mode: &str, figures: &str, table: &mut Table) -> Option<Cell> {
    let mode = mode.to_ascii_uppercase();
    let direction = direction(&mode)?;
    let (rate, rest) = figures.strip_prefix("bw ")?.split_once(" MB/s, lat ")?;
    let (latency, iops) = rest.split_once(" ms, iops ")?;
    let local = |quantity, words: &str, unit, factor| {
        let mut figure = figure(quantity, PrintedStatistic::Mean, &words.replace(',', "."), unit, factor)?;
        words.clone_into(&mut figure.printed);
        (figure.value > 0.0).then_some(figure)
    };
    let mut rate = local(Quantity::Rate, rate, "MB/s", consumer::MEBI)?;
    rate.correction = Some(correction());
    let latency =
        local(Quantity::Latency, latency, "ms", 1e6).map(|figure| consumer::of(figure, FigureOf::BlockTime));
    let iops = local(Quantity::Iops, iops.trim(), "IOPS", 1.0);
    let fact = |key: &str| origin.facts.get(key).map(String::as_str);
    let sequential = match fact("Order")? {
        "Sequential" => Some(true),
        "Random" => Some(false),
        _ => None,
    };
    let block_bytes = fact("BlockSize").and_then(|words| words.parse().ok()).filter(|bytes| *bytes > 0);
    let threads = fact("Threads").and_then(|words| words.parse().ok());
    // The samples of a mode belong to the first result of it.
    let rows = table.rows.remove(&mode).unwrap_or_default();
    let points = |of: fn(&Row) -> Option<f64>, factor: f64| -> Vec<(f64, f64)> {
        rows.iter().filter_map(|row| Some((row.number, of(row)? * factor))).collect()
    };
    let imported = ImportedCell {
        procedure: Some(repeated(&format!("{mode} {}", fact("Order")?))),
        block_bytes,
        threads,
        sequential,
        figures: std::iter::once(rate).chain(iops).chain(latency).collect(),
        series: series_of("bw", Quantity::Rate, "MB/s", points(|row| row.rate, consumer::MEBI))
            .into_iter()
            .chain(series_of("la", Quantity::Latency, "ms", points(|row| row.latency, 1e6)))
            .collect(),
        ..ImportedCell::default()
    };
    Some(cell(label(sequential, block_bytes, threads), Some(direction), imported))
}

/// The samples of a CSV by their modes.
struct Table {
    rows: HashMap<String, Vec<Row>>,
}

struct Row {
    number: f64,
    rate: Option<f64>,
    latency: Option<f64>,
}

impl Table {
    fn read(input: &Input<'_>, lines: &[(usize, &str)]) -> Result<Self> {
        let mut lines = lines.iter().filter(|(_, line)| !line.trim().is_empty());
        let Some((_, heading)) = lines.next() else { return Ok(Self { rows: HashMap::new() }) };
        let column = |name: &str| heading.split(',').position(|field| field.trim_matches('"') == name);
        let (at, mode, rate, latency) = (column("sn"), column("ioMode"), column("bw"), column("la"));
        let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
        for (line, words) in lines {
            let fields: Vec<&str> = words.split(',').map(|field| field.trim_matches('"')).collect();
            let field = |column: Option<usize>| column.and_then(|at| fields.get(at).copied());
            let (Some(at), Some(mode)) = (field(at).and_then(number), field(mode)) else {
                return Err(broken_line(
                    input,
                    *line,
                    text!("the sample cannot be read", "測定点の行を読めません"),
                ));
            };
            let (rate, latency) = (field(rate).and_then(number), field(latency).and_then(number));
            rows.entry(mode.to_owned()).or_default().push(Row { number: at, rate, latency });
        }
        Ok(Self { rows })
    }
}
