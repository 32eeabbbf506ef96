//! Figures that a profile makes of its cells' figures: scores and ratios, by the profile's formula.
//!
//! The model: a name in a formula is a step's `id`, a part of it, and a unit. A sweep has several steps of one id; its
//! formula is worked out for each of them.

use crate::layout::{display_width, hanging, pad_right, tame, wrap};
use crate::style::{Role, Style};
use kurabe_core::profile::{Derived, Formula, FormulaUnit, Name, Profile, Statistic};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_stats::{cell_figure, cell_iops};

/// The lines of a run's derived figures.
pub(crate) fn render(record: &RunRecord, style: &Style) -> Vec<String> {
    let Some(profile) = &record.header.profile else { return Vec::new() };
    let mut values = Vec::new();
    for derived in &profile.derived {
        for (step, value) in self::values(profile, &derived.formula, &record.cells) {
            let meaning = derived.meaning.as_ref().filter(|_| step.is_none());
            values.push((name(derived, step.as_deref(), style), value, meaning));
        }
    }
    let widest = values.iter().map(|(name, ..)| display_width(name)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (name, value, meaning) in values {
        let digits = if value.abs() < 100.0 { 2 } else { 0 };
        let figure = style.paint(Role::Strong, &format!("{value:.digits$}"));
        lines.push(format!("{} {figure}", pad_right(&name, widest)));
        lines.extend(
            meaning.into_iter().flat_map(|meaning| {
                hanging(wrap(meaning.get(style.lang), style.width.saturating_sub(2)), 2, 2)
            }),
        );
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

fn name(derived: &Derived, step: Option<&str>, style: &Style) -> String {
    let label = tame(derived.label.get(style.lang));
    match step {
        Some(step) => format!("{label} ({}):", tame(step)),
        None => format!("{label}:"),
    }
}

/// The values of a formula: one, or one for each of several steps of the same id, with its label.
pub(crate) fn values(profile: &Profile, formula: &Formula, cells: &[Cell]) -> Vec<(Option<String>, f64)> {
    let names = formula.names();
    let Some(first) = names.first() else { return Vec::new() };
    let same_step = names.iter().all(|name| name.step == first.step);
    let places: Vec<usize> = profile
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.id() == Some(first.step.as_str()))
        .map(|(place, _)| place)
        .collect();
    let sweep = same_step && places.len() > 1;
    places
        .into_iter()
        .take(if sweep { usize::MAX } else { 1 })
        .filter_map(|place| {
            let value = formula.value(&|name| {
                let at = |step: usize| profile.steps[step].id() == Some(name.step.as_str());
                let step = if sweep { Some(place) } else { (0..profile.steps.len()).find(|step| at(*step)) }?;
                let cell =
                    cells.iter().find(|cell| cell.step_index as usize == step && cell.part == name.part)?;
                figure(cell, profile.statistic, name)
            })?;
            Some((sweep.then(|| profile.steps[place].label()), value))
        })
        .collect()
}

/// A cell's figure in a unit; `None` if the cell has none of that kind.
fn figure(cell: &Cell, statistic: Statistic, name: &Name) -> Option<f64> {
    let of = |measures: &[Measure]| {
        measures.contains(&cell.measure).then(|| cell_figure(cell, statistic)).flatten()
    };
    let times = &[Measure::AccessTime, Measure::Duration];
    match name.unit {
        FormulaUnit::MegabytesPerSecond => of(&[Measure::Rate]).map(|rate| rate / 1e6),
        FormulaUnit::MebibytesPerSecond => of(&[Measure::Rate]).map(|rate| rate / 1_048_576.0),
        FormulaUnit::Iops => cell_iops(cell, statistic),
        FormulaUnit::Seconds => of(times).map(|ns| ns / 1e9),
        FormulaUnit::Milliseconds => of(times).map(|ns| ns / 1e6),
    }
}
