//! The JSON form: a list of requests (`io`), periods and, last, the total (`stat` and `load`). Times are ns.

use super::super::json_tree::Json;
use super::super::kit::*;
use super::super::parts::documents_of;
use super::{run, series};
use std::collections::HashSet;

pub(super) fn read(input: &Input<'_>) -> ImportedRuns {
    let words = input.text().unwrap_or_default();
    if !(words.trim_start().starts_with('[') && words.contains("\"target\"") && words.contains("\"mdev\"")) {
        return not_mine(text!(
            "it is no list with the keys `target` and `mdev`",
            "キー `target` と `mdev` を持つリストではありません"
        ));
    }
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
        let load = units::figures(&RATES, |key| load.text_of(key)).into_iter();
        figures.extend(load.map(|figure| PrintedFigure { of: Some(FigureOf::GeneratedLoad), ..figure }));
    }
    let mut origin = input.origin("ioping", "ioping");
    let target = total.get("target");
    origin.target = target.and_then(|target| target.text_of("path")).map(str::to_owned);
    origin.measured_at =
        list.iter().find_map(|item| item.text_of("localtime")).and_then(dates::from_year_first);
    for key in ["fstype", "device", "device_size"] {
        if let Some(words) = target.and_then(|target| target.text_of(key)) {
            fact(&mut origin, key, words);
        }
    }
    let requests: Vec<(&Json, &Json)> =
        list.iter().filter_map(|item| Some((item, item.get("io")?))).collect();
    let imported = ImportedCell {
        procedure: Some("one request after another".to_owned()),
        block_bytes: requests.first().and_then(|(_, io)| io.count_of("size")).filter(|bytes| *bytes > 0),
        figures,
        series: series(SeriesAxis::Time, points(&requests)).into_iter().collect(),
        ..ImportedCell::default()
    };
    Ok(vec![run(origin, vec![cell("requests", direction(&requests), imported)])])
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

/// All of them, or none.
fn stat_figures(stat: &Json) -> Option<Vec<PrintedFigure>> {
    let figures = units::figures(&[&TIMES[..], &RATES].concat(), |key| stat.text_of(key));
    (figures.len() == TIMES.len() + RATES.len() && figures[0].value > 0.0).then_some(figures)
}

fn direction(requests: &[(&Json, &Json)]) -> Option<Direction> {
    let operations: HashSet<&str> = requests.iter().filter_map(|(_, io)| io.text_of("operation")).collect();
    let is_known = operations.iter().all(|operation| matches!(*operation, "read" | "write"));
    super::direction(operations.contains("read"), operations.contains("write")).filter(|_| is_known)
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
