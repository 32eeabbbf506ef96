//! Figures that a profile makes of its cells' figures: scores and ratios, by the profile's formula.

use crate::layout::{display_width, hanging, pad_right, tame, wrap};
use crate::style::{Role, Style};
use crate::sweep;
use kurabe_core::number;
use kurabe_core::profile::{Derived, Step};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::RunRecord;
use kurabe_core::{Text, text};
use kurabe_stats::derived_values;

/// Up to so many derived figures are told one by one.
const FEW: usize = 3;

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
        let figure = style.paint(Role::Strong, &number::ratio(value));
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

/// The derived figures of a run as sentences: the only one with what it means, a few by their names, and many by their
/// ends, `DelayRatio: 1.02 (16 MiB) to 1.74 (64 KiB).`
pub(crate) fn sentences(record: &RunRecord, style: &Style) -> Vec<String> {
    let found = named(record, style);
    let profile = record.header.profile.as_ref();
    let derived = profile.and_then(|profile| profile.derived.first());
    let meaning = derived.and_then(|derived| derived.meaning.as_ref());
    let sentence = |name: &str, value: f64| {
        let value = number::ratio(value);
        style.say(&text!("{name} {value}.", "{name} {value}。"))
    };
    match (found.as_slice(), meaning) {
        ([], _) => Vec::new(),
        ([(name, value)], Some(meaning)) => {
            let (value, meaning) = (number::ratio(*value), style.say(meaning));
            vec![style.say(&text!("{name} {value} ({meaning}).", "{name} {value} ({meaning})。"))]
        }
        (few, _) if few.len() <= FEW => few.iter().map(|(name, value)| sentence(name, *value)).collect(),
        (many, _) => ends(record, many, style).into_iter().collect(),
    }
}

/// The derived figures of a run with their names, `DelayRatio:`.
fn named(record: &RunRecord, style: &Style) -> Vec<(String, f64)> {
    let Some(profile) = &record.header.profile else { return Vec::new() };
    let mut found: Vec<(String, f64)> = Vec::new();
    for derived in &profile.derived {
        let values = derived_values(profile, &derived.formula, &record.cells);
        let several = values.len() > 1;
        for (place, value) in values.into_iter().filter(|(_, value)| value.is_finite()) {
            let step = several.then(|| profile.steps[place].label());
            found.push((name(derived, step.as_deref(), style), value));
        }
    }
    found
}

/// A few derived figures that both of two runs have, side by side: `DelayRatio: 7kq 1.74, 9mz 1.02.`
pub(crate) fn side_by_side(one: &RunRecord, other: &RunRecord, style: &Style) -> Vec<String> {
    let (first, second) = (named(one, style), named(other, style));
    let (id, other_id) = (&one.header.id, &other.header.id);
    let both = first.iter().filter_map(|(name, value)| {
        let (_, other) = second.iter().find(|(same, _)| same == name)?;
        let (value, other) = (number::ratio(*value), number::ratio(*other));
        Some(style.say(&text!(
            "{name} {id} {value}, {other_id} {other}.",
            "{name} {id} {value}、{other_id} {other}。"
        )))
    });
    both.take(FEW).collect()
}

/// The lowest and the highest of many derived figures.
fn ends(record: &RunRecord, found: &[(String, f64)], style: &Style) -> Option<String> {
    let (common, found) = match of_steps(record, style) {
        Some((common, values)) => {
            let steps = &record.header.profile.as_ref()?.steps;
            let step = |place: usize| match &steps[place] {
                Step::Copy(copy) if copy.label.is_none() => format_bytes(u64::from(copy.chunk_bytes)),
                step => tame(&step.label()),
            };
            (format!("{common}: "), values.into_iter().map(|(place, value)| (step(place), value)).collect())
        }
        None => (String::new(), found.to_vec()),
    };
    let end =
        |(name, value): &(String, f64)| format!("{} ({})", number::ratio(*value), name.trim_end_matches(':'));
    let low = end(found.iter().min_by(|a, b| a.1.total_cmp(&b.1))?);
    let high = end(found.iter().max_by(|a, b| a.1.total_cmp(&b.1))?);
    Some(style.say(&text!("{common}{low} to {high}.", "{common}{low} から {high}。")))
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
