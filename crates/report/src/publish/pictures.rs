//! Records as charts: what a run, or several runs side by side, show as pictures.
//!
//! The model: one file per kind of picture. Each takes runs and gives charts, or nothing if the records have no data for
//! it; nothing is guessed, and what was left out or thinned is noted in the chart. Titles say what and of which
//! run; notes say the statistic, the interval and which way is better. How a chart is drawn is kurabe-chart's.
//!
//! # To add a picture
//!
//! - Write a file here that takes runs and returns charts, or nothing if the records have no data for it. Add its name to
//!   `PICTURE_NAMES` and its call to `pictures`.
//! - Only if no plot of `chart/plot.rs` fits: add a variant there, a file in `svg` and one in `terminal`.
//! - Look at the PNG, also in grey. Describe it in docs/reports.md.

mod account;
mod bars;
mod forest;
mod heat;
mod named;
mod percentiles;
mod positions;
mod rounds;
mod series;
mod shapes;
mod sweep;
mod view;

pub(crate) use forest::drawn_ratio;
pub use named::{charts_of, forests, further_charts, render_pictures};
pub(crate) use named::{names, no_chart};
pub(crate) use percentiles::latencies_beside;
pub use view::Picture;
pub(crate) use view::target;

use kurabe_chart::Chart;
use kurabe_compare::Pair;
use kurabe_core::Lang;
use kurabe_core::record::{Cell, RunRecord};
use view::View;

/// The kinds of pictures, in the order in which they are given.
pub const PICTURE_NAMES: [&str; 14] = [
    "rates",
    "iops",
    "access-times",
    "durations",
    "forest",
    "heat",
    "sweep",
    "sweep-latency",
    "positions",
    "distance",
    "percentiles",
    "series",
    "rounds",
    "time-account",
];

/// Everything that can be drawn of the runs, in the order of [`PICTURE_NAMES`]; the forest plot if they are a pair.
pub fn pictures(runs: &[&RunRecord], pair: Option<&Pair>, lang: Lang) -> Vec<Picture> {
    draw_all(&View::new(runs, lang, false), pair)
}

fn draw_all(view: &View<'_>, pair: Option<&Pair>) -> Vec<Picture> {
    let swept = [heat::pictures(view), sweep::pictures(view)].concat();
    let mut all = bars::pictures(view, !swept.is_empty());
    all.extend(pair.and_then(|pair| forest::picture(pair, view)));
    all.extend(swept);
    all.extend(positions::pictures(view));
    all.extend(percentiles::pictures(view));
    all.extend(series::pictures(view));
    all.extend(rounds::pictures(view));
    all.extend(account::pictures(view));
    all
}

/// The pictures of one run without words on which run: they stand on its own card.
pub(crate) fn own_pictures(run: &RunRecord, lang: Lang) -> Vec<Picture> {
    draw_all(&View::new(&[run], lang, true), None)
}

/// The curves over the target of one run, without words on which run: they stand on its own page.
pub(crate) fn curves(run: &RunRecord, lang: Lang) -> Vec<Chart> {
    positions::pictures(&View::new(&[run], lang, true)).into_iter().map(|picture| picture.chart).collect()
}

/// The curves over the target of runs, all in one drawing, without words on which runs.
pub(crate) fn curves_together(runs: &[&RunRecord], lang: Lang) -> Option<Chart> {
    positions::over_the_target(&View::new(runs, lang, true))
}

/// Where the time of a modelled run went, without words on which run.
pub(crate) fn account_of(run: &RunRecord, lang: Lang) -> Option<Chart> {
    account::pictures(&View::new(&[run], lang, true)).pop().map(|picture| picture.chart)
}

/// The course over rounds of a cell of one run; nothing if its profile does not track it.
pub(crate) fn course(run: &RunRecord, cell: &Cell, lang: Lang) -> Option<Chart> {
    rounds::picture(run, cell, &View::new(&[run], lang, true)).map(|picture| picture.chart)
}
