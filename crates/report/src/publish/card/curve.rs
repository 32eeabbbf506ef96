//! The curve over the target on a card, with the means at its side.

use super::paper::{Area, Paper, Tone, Type};
use super::table;
use kurabe_chart::{Chart, Theme};
use kurabe_core::{Lang, record::RunRecord};

/// Width of the means.
const SIDE: f64 = 250.0;

pub(super) fn draw(
    paper: &mut Paper,
    run: &RunRecord,
    mut chart: Chart,
    area: Area,
    theme: Theme,
    lang: Lang,
) {
    chart.title.clear();
    chart.notes.clear();
    paper.chart(&chart, Area { width: area.width - SIDE, ..area }, theme);
    let figures = table::main_figures(&table::rows(run, lang), lang);
    let step = (area.height / figures.len().max(1) as f64).min(118.0);
    for (index, (name, figure, more)) in figures.iter().enumerate() {
        let (x, y) = (area.x + area.width - SIDE + 26.0, area.y + 34.0 + index as f64 * step);
        paper.text(x, y, Type::of(16.0).within(SIDE - 26.0), Tone::Quiet, name);
        paper.text(x, y + 36.0, Type::of(32.0).bold().within(SIDE - 26.0), Tone::Plain, figure);
        paper.text(x, y + 58.0, Type::of(13.5).within(SIDE - 26.0), Tone::Quiet, more);
    }
}
