//! Charts of the records of one run, or of several runs side by side.
//!
//! The model: one file per kind of picture. Each takes runs and returns charts, or nothing if the
//! records have no data for it. Nothing is guessed, and the chart notes what was left out or
//! thinned. The title says what is shown of which run. The notes give the statistic, the interval,
//! and which direction is better. kurabe-chart draws the charts.
//!
//! # To add a picture
//!
//! - Write a file here that takes runs and returns charts, or nothing if the records have no data for it. Add
//!   its name to `PICTURE_NAMES` and a call to `pictures`.
//! - If no plot of `chart/plot.rs` is suitable, add a variant there, and a file each in `svg` and `terminal`.
//! - Check the PNG in colour and in greyscale. Describe the picture in docs/reports.md.

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
mod temperature;
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

/// The kinds of pictures, in the order in which they are returned.
pub const PICTURE_NAMES: [&str; 15] = [
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
    "temperature",
    "time-account",
];

/// Returns all pictures that can be drawn of the runs, in the order of [`PICTURE_NAMES`], with the
/// forest plot if `pair` is given.
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
    all.extend(temperature::pictures(view));
    all.extend(account::pictures(view));
    all
}

/// Returns the pictures of one run without the run's name, which its card already shows.
pub(crate) fn own_pictures(run: &RunRecord, lang: Lang) -> Vec<Picture> {
    draw_all(&View::new(&[run], lang, true), None)
}

/// Returns the curves over the target of one run without the run's name, which its page already
/// shows.
pub(crate) fn curves(run: &RunRecord, lang: Lang) -> Vec<Chart> {
    positions::pictures(&View::new(&[run], lang, true)).into_iter().map(|picture| picture.chart).collect()
}

/// Returns the curves over the target of several runs in one chart, without the names of the runs.
pub(crate) fn curves_together(runs: &[&RunRecord], lang: Lang) -> Option<Chart> {
    positions::over_the_target(&View::new(runs, lang, true))
}

/// Returns the time account of a modelled run, without the run's name.
pub(crate) fn account_of(run: &RunRecord, lang: Lang) -> Option<Chart> {
    account::pictures(&View::new(&[run], lang, true)).pop().map(|picture| picture.chart)
}

/// Returns the values of a cell over the rounds. `None` if the run's profile does not track the
/// cell.
pub(crate) fn course(run: &RunRecord, cell: &Cell, lang: Lang) -> Option<Chart> {
    rounds::picture(run, cell, &View::new(&[run], lang, true)).map(|picture| picture.chart)
}
