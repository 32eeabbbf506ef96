//! The JSON format: a list of requests (`io`), periods and, at the end, the total (`stat` and `load`).
//! Times are in ns.

use super::super::json_tree::{Json, JsonError, items, tree};
use super::super::kit::*;
use super::super::parts::damaged_json;
use super::{run, series};
use serde_json::value::RawValue;

pub(super) fn read(input: &Input<'_>) -> ImportedRuns {
    let words = input.text().unwrap_or_default();
    if !(words.trim_start().starts_with('[') && words.contains("\"target\"") && words.contains("\"mdev\"")) {
        return not_mine(text!(
            "it is not a list with the keys `target` and `mdev`",
            "キー `target` と `mdev` を持つリストではありません"
        ));
    }
    let list = serde_json::from_str::<&RawValue>(words).map(RawValue::get).map_err(|error| {
        damaged_json(input, "ioping", JsonError { line: error.line(), cause: error.to_string() })
    })?;
    let mut requests = PrintedRequests::default();
    let mut total = None;
    for item in items(list) {
        let item = tree(item).map_err(|cause| damaged_json(input, "ioping", JsonError { line: 1, cause }))?;
        requests.add(&item);
        if item.get("stat").is_some() {
            total = Some(item);
        }
    }
    let missing = || broken(text!("{} contains no total", "{} に集計がありません", input.name));
    let total = total.as_ref().ok_or_else(missing)?;
    let stat = total.get("stat").ok_or_else(missing)?;
    let mut figures = stat_figures(stat).ok_or_else(missing)?;
    if let Some(load) = total.get("load") {
        let load = units::figures(&RATES, |key| load.text_of(key)).into_iter();
        figures.extend(load.map(|figure| PrintedFigure { of: Some(FigureOf::GeneratedLoad), ..figure }));
    }
    let mut origin = input.origin("ioping", "ioping");
    let target = total.get("target");
    origin.target = target.and_then(|target| target.text_of("path")).map(str::to_owned);
    origin.measured_at = requests.begun.take();
    for key in ["fstype", "device", "device_size"] {
        if let Some(words) = target.and_then(|target| target.text_of(key)) {
            fact(&mut origin, key, words);
        }
    }
    let direction = super::direction(requests.reads, requests.writes).filter(|_| !requests.others);
    let imported = ImportedCell {
        procedure: Some("one request after another".to_owned()),
        block_bytes: requests.block_bytes.flatten().filter(|bytes| *bytes > 0),
        figures,
        series: series(SeriesAxis::Time, requests.points).into_iter().collect(),
        ..ImportedCell::default()
    };
    Ok(vec![run(origin, vec![cell("requests", direction, imported)])])
}

pub(super) const RATES: [FigureName; 2] = [
    (units::unit("iops", Quantity::Iops, 1.0), Statistic::Mean, "iops"),
    (units::unit("bps", Quantity::Rate, 1.0), Statistic::Mean, "bps"),
];
pub(super) const TIMES: [FigureName; 4] = [
    (units::NANOSECONDS, Statistic::Mean, "avg"),
    (units::NANOSECONDS, Statistic::Lowest, "min"),
    (units::NANOSECONDS, Statistic::Highest, "max"),
    (units::NANOSECONDS, Statistic::StandardDeviation, "mdev"),
];

/// Returns all of the figures, or none.
fn stat_figures(stat: &Json) -> Option<Vec<PrintedFigure>> {
    let figures = units::figures(&[&TIMES[..], &RATES].concat(), |key| stat.text_of(key));
    (figures.len() == TIMES.len() + RATES.len() && figures[0].value > 0.0).then_some(figures)
}

/// Results of the requests in a list.
#[derive(Default)]
struct PrintedRequests {
    /// Start time of the first request that records it.
    begun: Option<String>,
    /// Block size of the first request.
    block_bytes: Option<Option<u64>>,
    reads: bool,
    writes: bool,
    /// Whether there are requests of another kind.
    others: bool,
    /// Time in seconds of the first counted request.
    first: Option<f64>,
    /// Time since then and latency of the counted requests.
    points: Vec<(f64, f64)>,
}

impl PrintedRequests {
    fn add(&mut self, item: &Json) {
        self.begun = self.begun.take().or_else(|| item.text_of("localtime").and_then(dates::from_year_first));
        let Some(io) = item.get("io") else { return };
        self.block_bytes.get_or_insert(io.count_of("size"));
        match io.text_of("operation") {
            Some("read") => self.reads = true,
            Some("write") => self.writes = true,
            Some(_) => self.others = true,
            None => {}
        }
        let point = || Some((number(item.text_of("timestamp")?)?, number(io.text_of("time")?)?));
        if let Some((at, time)) = point().filter(|_| io.get("ignored") != Some(&Json::Bool(true))) {
            let first = *self.first.get_or_insert(at);
            self.points.push((((at - first) * 1e9).round(), time));
        }
    }
}
