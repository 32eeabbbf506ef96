//! Common input of all pictures: the runs, their names, and the language.

use crate::words;
use kurabe_chart::{Chart, Plot};
use kurabe_compare::{NAME_LABEL, names};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Lang, Text, display::clip, shown, text};

/// Maximum number of lines in a chart. More could not be distinguished.
pub(super) const MOST_LINES: usize = 8;
/// Maximum width of a run's name in a chart, in columns. A legend holds several names.
const MOST_NAME_COLUMNS: usize = 40;

/// A picture of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its kind, a stable name that users can select: one of [`crate::PICTURE_NAMES`]. Several
    /// pictures of the same runs can have the same kind.
    pub name: &'static str,
    /// The chart.
    pub chart: Chart,
}

/// The runs and the language.
pub(super) struct View<'a> {
    pub(super) runs: &'a [&'a RunRecord],
    /// Names of the runs, in order.
    pub(super) names: Vec<String>,
    pub(super) lang: Lang,
    /// Whether the charts are on the run's own page, where the run is already named.
    pub(super) bare: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(runs: &'a [&'a RunRecord], lang: Lang, bare: bool) -> Self {
        let names = match runs {
            [run] => vec![run.labels.get(NAME_LABEL).map_or_else(|| target(run), |name| shown::line(name))],
            _ => names(runs).iter().map(|name| clip(&name.line(lang), MOST_NAME_COLUMNS)).collect(),
        };
        Self { runs, names, lang, bare }
    }

    /// Returns the name of a run.
    pub(super) fn name(&self, run: &RunRecord) -> &str {
        let index = self.runs.iter().position(|other| std::ptr::eq(*other, run));
        index.and_then(|index| self.names.get(index)).map_or("", String::as_str)
    }

    pub(super) fn say(&self, text: &Text) -> String {
        text.line(self.lang)
    }

    pub(super) fn pick(&self, en: &str, ja: &str) -> String {
        self.lang.pick(en, ja).to_owned()
    }

    /// Returns the title of a chart, as in `Throughput: Samsung SSD 980 PRO 1TB · 7kq`.
    pub(super) fn title(&self, what: &str, runs: &[&RunRecord]) -> String {
        match runs {
            _ if self.bare => what.to_owned(),
            [run] => format!("{what}: {}", self.run_name(run)),
            _ => {
                let names: Vec<&str> = runs.iter().map(|run| self.name(run)).collect();
                format!("{what}: {}", names.join(self.lang.pick(", ", "、")))
            }
        }
    }

    /// Creates a picture of these runs, with a note on their provenance.
    pub(super) fn picture(
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

    /// Returns the name and id of a run, as in `Samsung SSD 980 PRO 1TB · 7kq`.
    pub(super) fn run_name(&self, run: &RunRecord) -> String {
        let (id, name) = (shown::line(&run.header.id), self.name(run));
        if name.is_empty() { id } else { format!("{name} · {id}") }
    }

    /// Returns the name of a cell.
    pub(super) fn cell(&self, cell: &Cell) -> String {
        match cell.imported {
            Some(_) => self.say(&crate::run::imported::name(cell)),
            None => self.say(&words::cell(cell)),
        }
    }

    /// Returns the name of a line, including the run if there are several.
    pub(super) fn line(&self, run: &RunRecord, name: &str) -> String {
        if self.runs.len() > 1 { format!("{}: {name}", self.name(run)) } else { name.to_owned() }
    }

    /// Returns notes on runs that were not measured by kurabe on a device: models and other tools'
    /// files.
    pub(super) fn provenance(&self, runs: &[&RunRecord]) -> Vec<String> {
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

    /// Groups the runs that share a chart: all together if their lines can be distinguished,
    /// otherwise one by one.
    pub(super) fn groups(&self, lines: impl Fn(&RunRecord) -> usize) -> Vec<&[&RunRecord]> {
        let having: usize = self.runs.iter().map(|run| lines(run)).sum();
        if having <= MOST_LINES { vec![self.runs] } else { self.runs.chunks(1).collect() }
    }
}

/// Returns a short name of the device or model that a run was measured on.
pub(crate) fn target(run: &RunRecord) -> String {
    if let Some(model) = &run.header.model {
        return shown::line(&model.name);
    }
    let devices = &run.header.environment.devices;
    let mut models: Vec<&str> = devices.iter().filter_map(|device| device.model.as_deref()).collect();
    models.dedup();
    if models.is_empty() { shown::line(run.header.target_name()) } else { shown::line(&models.join(" + ")) }
}
