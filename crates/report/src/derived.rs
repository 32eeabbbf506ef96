//! Figures that a profile makes of its cells' figures: scores and ratios, by the profile's formula.

use crate::layout::{display_width, hanging, pad_right, tame, wrap};
use crate::style::{Role, Style};
use crate::sweep;
use kurabe_core::Text;
use kurabe_core::number;
use kurabe_core::profile::Derived;
use kurabe_core::record::RunRecord;
use kurabe_stats::derived_values;

/// A derived figure: its name, its value, and what it means if that is told.
pub(crate) type Value<'a> = (String, f64, Option<&'a Text>);

/// The derived figures of a run that no table holds.
pub(crate) fn values<'a>(record: &'a RunRecord, style: &Style) -> Vec<Value<'a>> {
    let Some(profile) = &record.header.profile else { return Vec::new() };
    if of_steps(record, style).is_some()
        && record.cells.iter().any(|cell| sweep::is_here(cell, &record.cells))
    {
        return Vec::new();
    }
    let mut values = Vec::new();
    for derived in &profile.derived {
        let found = derived_values(profile, &derived.formula, &record.cells);
        let sweep = found.len() > 1;
        for (place, value) in found {
            let step = sweep.then(|| profile.steps[place].label());
            let meaning = derived.meaning.as_ref().filter(|_| !sweep);
            values.push((name(derived, step.as_deref(), style), value, meaning));
        }
    }
    values
}

/// The lines of a run's derived figures.
pub(crate) fn render(record: &RunRecord, style: &Style) -> Vec<String> {
    let values = values(record, style);
    let widest = values.iter().map(|(name, ..)| display_width(name)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (name, value, meaning) in values {
        let figure = style.paint(Role::Strong, &figure_words(value));
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

/// A derived figure: two digits behind the point, or thousands apart.
pub(crate) fn figure_words(value: f64) -> String {
    if value.abs() < 99.995 { format!("{value:.2}") } else { number::whole(value) }
}

/// What the labels of a profile's derived figures have in common, and the figures by the place of their step, if each
/// is made of one step alone and no step has two: then they can stand in that step's line.
pub(crate) fn of_steps(record: &RunRecord, style: &Style) -> Option<(String, Vec<(usize, f64)>)> {
    let profile = record.header.profile.as_ref()?;
    let mut values = Vec::new();
    for derived in &profile.derived {
        let names = derived.formula.names();
        let first = names.first()?;
        if names.iter().any(|name| name.step != first.step) {
            return None;
        }
        values.extend(derived_values(profile, &derived.formula, &record.cells));
    }
    let mut places: Vec<usize> = values.iter().map(|(place, _)| *place).collect();
    places.sort_unstable();
    let twice = places.windows(2).any(|pair| pair[0] == pair[1]);
    let mut labels = profile.derived.iter().map(|derived| tame(derived.label.get(style.lang)));
    let first = labels.next()?;
    let common = labels.fold(first, |common, label| {
        let same = common.split(' ').zip(label.split(' ')).take_while(|(one, other)| one == other);
        same.map(|(word, _)| word).collect::<Vec<_>>().join(" ")
    });
    (!twice && !common.is_empty()).then_some((common, values))
}

fn name(derived: &Derived, step: Option<&str>, style: &Style) -> String {
    let label = tame(derived.label.get(style.lang));
    match step {
        Some(step) => format!("{label} ({}):", tame(step)),
        None => format!("{label}:"),
    }
}
