//! Derived figures: scores and ratios computed from the figures of cells by the profile's formula.

use crate::run::table::{TableKind, kinds};
use kurabe_core::number::long_time;
use kurabe_core::profile::{Profile, Step};
use kurabe_core::{Text, quantity::format_bytes, record::RunRecord, shown, text};
use kurabe_doc::{Column, Doc, Entry, Role, Table, TableRow};
use kurabe_stats::{DerivedFault, DerivedFigure, derived_figures, derived_values};
use std::collections::BTreeSet;

/// Maximum number of derived figures that are listed one by one.
const FEW: usize = 3;

/// Returns the derived figures of a run whose cells were measured.
pub(crate) fn all(record: &RunRecord) -> Vec<DerivedFigure> {
    let shown = |figure: DerivedFigure| {
        let fault = figure.fault.as_ref().map(fault_words);
        let meaning = match (figure.meaning.clone(), fault) {
            (Some(meaning), Some(fault)) => Some(Text::join([meaning, fault], ["; ", "。"])),
            (meaning, fault) => meaning.or(fault),
        };
        DerivedFigure { name: figure.name.map(shown::line), meaning, ..figure }
    };
    derived_figures(record).into_iter().map(shown).collect()
}

/// Explains why a score is not valid.
fn fault_words(fault: &DerivedFault) -> Text {
    match fault {
        DerivedFault::Missing(cell) => text!(
            "not a valid score: {cell} was not measured",
            "有効なスコアではありません: {cell} を測っていません"
        ),
        DerivedFault::Short(cell, elapsed_ns, least_ns) => {
            let (elapsed, least) = (long_time(*elapsed_ns), long_time(*least_ns));
            text!(
                "not a valid score: {cell} took {elapsed}; the minimum is {least}",
                "有効なスコアではありません: {cell} は {elapsed} で終わりましたが、{least} 以上必要です"
            )
        }
    }
}

/// Returns the derived figures of a run that are in no table.
pub(crate) fn values(record: &RunRecord) -> Vec<DerivedFigure> {
    let in_table = || kinds(&record.cells).contains(&TableKind::Copies);
    if of_steps(record).is_some() && in_table() { Vec::new() } else { all(record) }
}

/// Returns the derived figures of a run with their meanings.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    let row = |DerivedFigure { name, value, meaning, .. }: DerivedFigure| {
        let name = name.map(|name| format!("{name}:"));
        let entries = vec![name.into(), Entry::new(Role::Strong, figure_words(value))];
        TableRow { entries, note: meaning }
    };
    let rows: Vec<TableRow> = values(record).into_iter().map(row).collect();
    if rows.is_empty() {
        return Doc::new();
    }
    Doc::of(Table { gap: 1, ..Table::new([Column::untitled(), Column::untitled()], rows) }).with_gap()
}

/// Returns the derived figures of a run as sentences. A single figure has its meaning, a few are
/// listed by name, and many are given by their lowest and highest values, as in
/// `DelayRatio: 1.02 (16 MiB) to 1.74 (64 KiB).`
pub(crate) fn sentences(record: &RunRecord) -> Vec<Text> {
    let figures = finite(record);
    let profile = record.header.profile.as_ref();
    let meaning = profile.and_then(|profile| profile.derived.first()?.meaning.clone());
    match (figures.as_slice(), meaning) {
        ([], _) => Vec::new(),
        ([DerivedFigure { name, value, .. }], Some(meaning)) => {
            let value = Text::same(figure_words(*value));
            vec![text!("{name}: {value} ({meaning}).", "{name}: {value} ({meaning})。"; name, value, meaning)]
        }
        (few, _) if few.len() <= FEW => {
            let sentence = |DerivedFigure { name, value, .. }: &DerivedFigure| {
                let value = Text::same(figure_words(*value));
                text!("{name}: {value}.", "{name}: {value}。"; name, value)
            };
            few.iter().map(sentence).collect()
        }
        (many, _) => ends(record, many).into_iter().collect(),
    }
}

fn finite(record: &RunRecord) -> Vec<DerivedFigure> {
    all(record).into_iter().filter(|figure| figure.value.is_finite()).collect()
}

/// Returns the first few derived figures that both runs have, side by side, as in
/// `DelayRatio: hdd 1.74, ssd 1.02.`
pub(crate) fn side_by_side(one: &RunRecord, other: &RunRecord, names: &[Text]) -> Vec<Text> {
    let (first, second) = (finite(one), finite(other));
    let [run, other_run] = names else { return Vec::new() };
    let both = first.iter().filter_map(|DerivedFigure { name, value, .. }| {
        let other = second.iter().find(|other| other.name == *name)?;
        let [value, other] = [*value, other.value].map(|value| Text::same(figure_words(value)));
        Some(text!(
            "{name}: {run} {value}, {other_run} {other}.",
            "{name}: {run} {value}、{other_run} {other}。";
            name, run, value, other_run, other
        ))
    });
    both.take(FEW).collect()
}

/// Returns the chunk size of a step, or its label if it has one.
pub(crate) fn step_name(profile: &Profile, step: usize) -> String {
    match profile.steps.get(step) {
        Some(Step::Copy(copy)) if copy.label.is_none() => format_bytes(u64::from(copy.chunk_bytes)),
        Some(step) => shown::line(&step.label()),
        None => (step + 1).to_string(),
    }
}

/// Returns the lowest and the highest of many derived figures.
fn ends(record: &RunRecord, figures: &[DerivedFigure]) -> Option<Text> {
    let common = of_steps(record).map(|(common, _)| common);
    let profile = record.header.profile.as_ref()?;
    let end = |figure: &DerivedFigure| {
        let name = match common {
            Some(_) => Text::same(step_name(profile, figure.step)),
            None => figure.name.clone(),
        };
        let value = Text::same(figure_words(figure.value));
        text!("{value} ({name})", "{value} ({name})"; value, name)
    };
    let low = end(figures.iter().min_by(|a, b| a.value.total_cmp(&b.value))?);
    let high = end(figures.iter().max_by(|a, b| a.value.total_cmp(&b.value))?);
    let common = common.as_ref().map(|common| common.map(|common| format!("{common}: "))).unwrap_or_default();
    Some(text!("{common}{low} to {high}.", "{common}{low} から {high}。"; common, low, high))
}

pub(crate) use kurabe_core::number::ratio as figure_words;

/// Returns the common part of the derived figures' labels, and the figures by step index.
///
/// Returns `None` unless each figure is computed from a single step and each step has at most one.
/// Only then can a figure be shown in its step's line.
pub(crate) fn of_steps(record: &RunRecord) -> Option<(Text, Vec<(usize, f64)>)> {
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
    let places: BTreeSet<usize> = values.iter().map(|(index, _)| *index).collect();
    let twice = places.len() < values.len();
    let labels = |of: fn(&Text) -> &str| {
        let mut labels = profile.derived.iter().map(|derived| shown::line(of(&derived.label)));
        let first = labels.next()?;
        Some(labels.fold(first, |common, label| {
            let same = common.split(' ').zip(label.split(' ')).take_while(|(one, other)| one == other);
            same.map(|(word, _)| word).collect::<Vec<_>>().join(" ")
        }))
    };
    let common = Text::of(labels(|label| &label.en)?, labels(|label| &label.ja)?);
    (!twice && !common.is_empty()).then_some((common, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::profile::{Derived, Formula};
    use kurabe_testkit::ssd;

    #[test]
    fn a_score_says_what_it_lacks() {
        let scored = |change: &dyn Fn(&mut RunRecord), least_ns: u64| {
            let mut record = ssd::run();
            let profile = record.header.profile.as_mut().unwrap();
            *profile = profile.clone().with_step_names();
            profile.derived = vec![Derived {
                label: Text::same("score"),
                formula: Formula::parse("geomean(step1.write.MB_per_s, step1.read.MB_per_s)").unwrap(),
                meaning: None,
                least_write_ns: Some(least_ns),
            }];
            change(&mut record);
            all(&record).remove(0)
        };
        let valid = scored(&|_| {}, 1);
        assert_eq!((valid.name.en.as_str(), valid.fault), ("score", None));
        let short = scored(&|_| {}, u64::MAX);
        assert!(
            matches!(&short.fault, Some(DerivedFault::Short(cell, ..)) if cell == "step1 write"),
            "{:?}",
            short.fault
        );
        assert_eq!((short.name.en.as_str(), short.value), ("score [INVALID]", valid.value));
        assert!(short.meaning.unwrap().en.contains("the minimum is"));
        let missing = scored(&|record| record.cells.retain(|cell| cell.part != "read"), 1);
        assert_eq!(missing.fault, Some(DerivedFault::Missing("step1 read".to_owned())));
        assert!(missing.value.is_nan());
    }
}
