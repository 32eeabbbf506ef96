//! Selection of pictures by name.

use super::{PICTURE_NAMES, Picture, View, forest, pictures};
use crate::compare::answer;
use kurabe_compare::Pair;
use kurabe_core::mention::{CHART, SHOW};
use kurabe_core::{Error, ErrorKind, Lang, Result, Text, nearest, record::RunRecord, text};
use kurabe_doc::Style;

/// The name that selects all charts.
const ALL: &str = "all";

/// Number of charts shown by default.
const MAIN_COUNT: usize = 3;

/// The kinds of charts by importance. The first kind that a run has shows its main purpose.
const BY_WEIGHT: [&str; PICTURE_NAMES.len()] = [
    "sweep",
    "sweep-latency",
    "heat",
    "positions",
    "rounds",
    "forest",
    "rates",
    "durations",
    "access-times",
    "time-account",
    "series",
    "percentiles",
    "distance",
    "temperature",
    "iops",
];

/// Returns the charts of a run: the three most important ones, each of a different kind, or all, or
/// those with the given name.
///
/// # Errors
///
/// Returns an error if there is nothing to draw, or no chart with this name.
pub fn charts_of(run: &RunRecord, name: Option<&str>, lang: Lang) -> Result<Vec<Picture>> {
    let mut all = pictures(&[run], None, lang);
    let names = names(&all);
    let id = &run.header.id;
    if names.is_empty() {
        return Err(ErrorKind::Unsupported
            .error(text!("run {id} has nothing to draw", "測定 {id} にはグラフにできるデータがありません"))
            .remedy(text!("`{SHOW} {id}` shows what it has", "内容は `{SHOW} {id}` で確認できます")));
    }
    let Some(name) = name else { return Ok(main_charts(all)) };
    if name != ALL {
        all.retain(|picture| picture.name == name);
        if all.is_empty() {
            return Err(no_chart(name, &names, &[run]));
        }
    }
    Ok(all)
}

/// Returns the kinds of these pictures, in order.
pub(crate) fn names(pictures: &[Picture]) -> Vec<&'static str> {
    let mut names: Vec<&str> = pictures.iter().map(|picture| picture.name).collect();
    names.dedup();
    names
}

fn main_charts(mut charts: Vec<Picture>) -> Vec<Picture> {
    let weight = |picture: &Picture| BY_WEIGHT.iter().position(|name| *name == picture.name);
    // The sort is stable, so the first picture of each kind stays.
    charts.sort_by_key(weight);
    charts.dedup_by_key(|picture| picture.name);
    charts.truncate(MAIN_COUNT);
    charts
}

/// Says which other charts a run has in addition to its main charts. `None` if there are no others.
pub fn further_charts(run: &RunRecord, lang: Lang) -> Option<Text> {
    let all = pictures(&[run], None, lang);
    let (count, names) = (all.len(), names(&all).join(", "));
    (count > MAIN_COUNT).then_some(text!(
        "{count} charts in all: {CHART} all, or by name: {names}",
        "グラフは全部で {count} 枚: {CHART} all、または名前で: {names}"
    ))
}

/// Draws the ratios of comparisons, one picture per pair. The first of `runs` is the baseline of
/// all pairs.
///
/// # Errors
///
/// Returns an error if two runs have no common cell.
pub fn forests(pairs: &[Pair], runs: &[&RunRecord], lang: Lang) -> Result<Vec<Picture>> {
    let drawn = pairs.iter().zip(&runs[1..]).map(|(pair, other)| {
        forest::picture(pair, &View::new(&[runs[0], other], lang, false)).ok_or_else(|| {
            ErrorKind::Usage
                .error(answer(pair))
                .remedy(text!("measure both with one profile", "両方を同じプロファイルで測ってください"))
        })
    });
    drawn.collect()
}

/// Renders pictures in block characters, one below the other.
pub fn render_pictures(pictures: &[Picture], style: &Style) -> String {
    let drawn =
        pictures.iter().map(|picture| picture.chart.terminal(style.width, style.color).join("\n") + "\n");
    drawn.collect::<Vec<_>>().join("\n")
}

/// Returns the error for runs that have no chart with this name, with the available names.
pub(crate) fn no_chart(name: &str, names: &[&str], runs: &[&RunRecord]) -> Error {
    let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
    let (has, ids) = (names.join(", "), ids.join(", "));
    let (runs_have, remedy) = match runs.len() {
        1 => (format!("run {ids} has"), text!("this run has: {has}", "この測定で描けるグラフ: {has}")),
        _ => (
            format!("the runs {ids} have"),
            text!("these runs have: {has}", "これらの測定で描けるグラフ: {has}"),
        ),
    };
    if !PICTURE_NAMES.contains(&name) {
        let what = text!("there is no chart `{name}`", "`{name}` というグラフはありません");
        return ErrorKind::Usage.error(what).remedy(Text::clauses([nearest(name, names), remedy]));
    }
    let what = text!(
        "{runs_have} no data for the chart `{name}`",
        "測定 {ids} には `{name}` のグラフに必要なデータがありません"
    );
    ErrorKind::Usage.error(what).remedy(remedy)
}
