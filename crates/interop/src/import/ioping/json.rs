//! The JSON form: a list of requests (`io`), periods and, last, the total (`stat` and `load`). Times are ns.

use super::super::consumer::{self, figure};
use super::super::dates;
use super::super::json_tree::Json;
use super::super::parts::{broken, cell, documents_of, number};
use super::{ImportedRun, Input, Outcome, run, series};
use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity, SeriesAxis};
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};

pub(super) fn read(input: &Input<'_>) -> Outcome {
    let words = input.text().unwrap_or_default();
    if !(words.trim_start().starts_with('[') && words.contains("\"target\"") && words.contains("\"mdev\"")) {
        return Outcome::NotMine(text!(
            "it is no list with the keys `target` and `mdev`",
            "キー `target` と `mdev` を持つリストではありません"
        ));
    }
    read_mine(input, words).map(|run| vec![run]).into()
}

fn read_mine(input: &Input<'_>, words: &str) -> Result<ImportedRun> {
    // The reader of documents takes objects; the list is made the member of one, on the same lines.
    let wrapped = format!("{{\"list\":{words}}}");
    let documents = documents_of(input, &wrapped, "ioping")?;
    let list = documents.first().and_then(|document| document.get("list")).map_or(&[][..], Json::items);
    let total = list.iter().rev().find(|item| item.get("stat").is_some());
    let missing = || broken(text!("{} holds no total", "{} に集計がありません", input.name));
    let total = total.ok_or_else(missing)?;
    let stat = total.get("stat").ok_or_else(missing)?;
    let mut figures = stat_figures(stat).ok_or_else(missing)?;
    if let Some(load) = total.get("load") {
        let load = [("iops", Quantity::Iops, "iops"), ("bps", Quantity::Rate, "bps")].into_iter().filter_map(
            |(key, quantity, unit)| figure(quantity, PrintedStatistic::Mean, load.text_of(key)?, unit, 1.0),
        );
        figures.extend(load.map(|figure| consumer::of(figure, FigureOf::GeneratedLoad)));
    }
    let mut origin = input.origin("ioping", "ioping");
    let target = total.get("target");
    origin.target = target.and_then(|target| target.text_of("path")).map(str::to_owned);
    origin.measured_at =
        list.iter().find_map(|item| item.text_of("localtime")).and_then(dates::from_year_first);
    for key in ["fstype", "device", "device_size"] {
        if let Some(words) = target.and_then(|target| target.text_of(key)) {
            origin.facts.insert(key.to_owned(), words.to_owned());
        }
    }
    let requests: Vec<(&Json, &Json)> =
        list.iter().filter_map(|item| Some((item, item.get("io")?))).collect();
    let imported = ImportedCell {
        procedure: Some("one request after another".to_owned()),
        block_bytes: requests.first().and_then(|(_, io)| io.count_of("size")).filter(|bytes| *bytes > 0),
        figures,
        series: series(SeriesAxis::Time, points(&requests), "time").into_iter().collect(),
        ..ImportedCell::default()
    };
    Ok(run(origin, vec![cell("requests", direction(&requests), imported)]))
}

fn stat_figures(stat: &Json) -> Option<Vec<PrintedFigure>> {
    let mut figures = Vec::new();
    for (key, quantity, statistic, unit) in [
        ("avg", Quantity::Latency, PrintedStatistic::Mean, "ns"),
        ("min", Quantity::Latency, PrintedStatistic::Lowest, "ns"),
        ("max", Quantity::Latency, PrintedStatistic::Highest, "ns"),
        ("mdev", Quantity::Latency, PrintedStatistic::StandardDeviation, "ns"),
        ("iops", Quantity::Iops, PrintedStatistic::Mean, "iops"),
        ("bps", Quantity::Rate, PrintedStatistic::Mean, "bps"),
    ] {
        figures.push(figure(quantity, statistic, stat.text_of(key)?, unit, 1.0)?);
    }
    (figures.first()?.value > 0.0).then_some(figures)
}

fn direction(requests: &[(&Json, &Json)]) -> Option<Direction> {
    let mut operations: Vec<&str> = requests.iter().filter_map(|(_, io)| io.text_of("operation")).collect();
    operations.sort_unstable();
    operations.dedup();
    match operations.as_slice() {
        ["read"] => Some(Direction::Read),
        ["write"] => Some(Direction::Write),
        ["read", "write"] => Some(Direction::Mix),
        _ => None,
    }
}

/// Requests that count, at their time since the first of them.
fn points(requests: &[(&Json, &Json)]) -> Vec<(f64, f64)> {
    let counted = requests.iter().filter(|(_, io)| io.get("ignored") != Some(&Json::Bool(true)));
    let times: Vec<(f64, f64)> = counted
        .filter_map(|(item, io)| Some((number(item.text_of("timestamp")?)?, number(io.text_of("time")?)?)))
        .collect();
    let first = times.first().map_or(0.0, |(at, _)| *at);
    times.into_iter().map(|(at, time)| (((at - first) * 1e9).round(), time)).collect()
}
