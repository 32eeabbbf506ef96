//! Records as charts: what a run, or several runs side by side, show as pictures.
//!
//! The model: one file per kind of picture. Each takes runs and gives charts, or nothing if the records have no data for
//! it; nothing is guessed, and what was left out or thinned is noted in the chart. Titles say what and of which
//! run; notes say the statistic, the interval and which way is better. How a chart is drawn is kurabe-chart's.

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

pub(crate) use forest::drawn_ratio;
pub use named::{charts_of, forests, further_charts, render_pictures};
pub(crate) use named::{names, no_chart};
pub(crate) use percentiles::latencies_beside;

use crate::words;
use kurabe_chart::{Chart, Plot};
use kurabe_compare::{NAME_LABEL, Pair, names as names_of};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Lang, Text, display::clip, shown, text};

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

/// Lines in one chart, at most: more cannot be told apart.
const MOST_LINES: usize = 8;
/// Columns of a run's name in a chart, at most: a legend holds several.
const MOST_NAME_COLUMNS: usize = 40;

/// A picture of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its kind, stable, for asking for it: one of [`crate::PICTURE_NAMES`]. Several pictures of runs may have the same.
    pub name: &'static str,
    /// What it shows.
    pub chart: Chart,
}

/// The runs and the language.
struct View<'a> {
    runs: &'a [&'a RunRecord],
    /// What the runs are called, in their order.
    names: Vec<String>,
    lang: Lang,
    /// Whether the charts stand on the run's own page, where it is clear which run it is.
    bare: bool,
}

impl<'a> View<'a> {
    fn new(runs: &'a [&'a RunRecord], lang: Lang, bare: bool) -> Self {
        let names = match runs {
            [run] => vec![run.labels.get(NAME_LABEL).map_or_else(|| target(run), |name| shown::line(name))],
            _ => names_of(runs).iter().map(|name| clip(&name.line(lang), MOST_NAME_COLUMNS)).collect(),
        };
        Self { runs, names, lang, bare }
    }

    /// What a run is called.
    fn name(&self, run: &RunRecord) -> &str {
        let index = self.runs.iter().position(|other| std::ptr::eq(*other, run));
        index.and_then(|index| self.names.get(index)).map_or("", String::as_str)
    }

    fn say(&self, text: &Text) -> String {
        text.line(self.lang)
    }

    fn pick(&self, en: &str, ja: &str) -> String {
        self.lang.pick(en, ja).to_owned()
    }

    /// `Throughput: Samsung SSD 980 PRO 1TB · 7kq`: what is shown, and of which runs.
    fn title(&self, what: &str, runs: &[&RunRecord]) -> String {
        match runs {
            _ if self.bare => what.to_owned(),
            [run] => format!("{what}: {}", self.run_name(run)),
            _ => {
                let names: Vec<&str> = runs.iter().map(|run| self.name(run)).collect();
                format!("{what}: {}", names.join(self.lang.pick(", ", "、")))
            }
        }
    }

    /// A picture of these runs, with what they are below it.
    fn picture(
        &self,
        name: &'static str,
        what: &str,
        runs: &[&RunRecord],
        mut notes: Vec<String>,
        plot: Plot,
    ) -> Picture {
        notes.extend(self.provenance(runs));
        Picture { name, chart: Chart { title: self.title(what, runs), notes, plot } }
    }

    /// `Samsung SSD 980 PRO 1TB · 7kq`
    fn run_name(&self, run: &RunRecord) -> String {
        let (id, name) = (shown::line(&run.header.id), self.name(run));
        if name.is_empty() { id } else { format!("{name} · {id}") }
    }

    /// The name of a cell.
    fn cell(&self, cell: &Cell) -> String {
        match cell.imported {
            Some(_) => self.say(&crate::run::imported::name(cell)),
            None => self.say(&words::cell(cell)),
        }
    }

    /// The name of a line: with its run, if there are several.
    fn line(&self, run: &RunRecord, name: &str) -> String {
        if self.runs.len() > 1 { format!("{}: {name}", self.name(run)) } else { name.to_owned() }
    }

    /// What must be said of runs that were not measured here: models and other tools' files.
    fn provenance(&self, runs: &[&RunRecord]) -> Vec<String> {
        runs.iter()
            .filter(|_| !self.bare)
            .filter_map(|run| {
                if let Some(origin) = &run.header.origin {
                    let tool = shown::line(&origin.tool_name());
                    return Some((run, text!("as {tool} printed it", "{tool} の表示値")));
                }
                let changes = run.header.model.as_ref()?.changes().join(", ");
                let words = match changes.is_empty() {
                    true => text!("computed by a model, not measured", "モデルの計算値(実測ではありません)"),
                    false => text!(
                        "computed by a model, not measured; changed in it: {changes}",
                        "モデルの計算値(実測ではありません)。変更したパラメーター: {changes}"
                    ),
                };
                Some((run, words))
            })
            .map(|(run, words)| self.line(run, &self.say(&words)))
            .collect()
    }

    /// The runs in groups that share a chart: all together if their lines can be told apart, else one by one.
    fn groups(&self, lines: impl Fn(&RunRecord) -> usize) -> Vec<&[&RunRecord]> {
        let having: usize = self.runs.iter().map(|run| lines(run)).sum();
        if having <= MOST_LINES { vec![self.runs] } else { self.runs.chunks(1).collect() }
    }
}

/// What a run was measured on, in a few words.
pub(crate) fn target(run: &RunRecord) -> String {
    if let Some(model) = &run.header.model {
        return shown::line(&model.name);
    }
    let devices = &run.header.environment.devices;
    let mut models: Vec<&str> = devices.iter().filter_map(|device| device.model.as_deref()).collect();
    models.dedup();
    if models.is_empty() { shown::line(run.header.target_name()) } else { shown::line(&models.join(" + ")) }
}
