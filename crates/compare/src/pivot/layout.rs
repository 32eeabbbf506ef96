//! The table of a pivot: rows, columns, the runs at each place, and the figures of each cell there.

use super::differ::Watch;
use super::keys::{KeySource, is_meant, natural};
use super::runs::{DigestWords, RunFacts};
use super::sums::{Gathered, is_nothing};
use super::{Baseline, Group, PivotFigure, PivotKey, PivotPlace, PivotWords, unknown_value};
use crate::fairness::Fact;
use kurabe_core::mention::{BASELINE, CELL, LABEL};
use kurabe_core::{ErrorKind, Result, Text, digest::Summary, text};
use kurabe_stats::{SummarySides, compare_summaries};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Runs at their places.
pub(super) struct PivotLayout<'a> {
    pub(super) rows: Vec<Vec<Text>>,
    pub(super) columns: Vec<Text>,
    pub(super) places: Vec<PivotPlace>,
    /// Runs with the index of their place.
    pub(super) placed: Vec<(usize, RunFacts<'a>)>,
    /// For each key, the number of runs that lack it.
    pub(super) lacking: Vec<usize>,
    pub(super) watch: Watch,
    words: PivotWords,
}

impl<'a> PivotLayout<'a> {
    pub(super) fn new(
        keys: &[PivotKey],
        lines: Vec<RunFacts<'a>>,
        word_count: usize,
        words: PivotWords,
    ) -> Result<Self> {
        let mut layout = Self {
            rows: Vec::new(),
            columns: Vec::new(),
            places: Vec::new(),
            placed: Vec::new(),
            lacking: vec![0; keys.len()],
            watch: Watch::new(keys, word_count, words),
            words,
        };
        let mut place_of: HashMap<Vec<String>, usize> = HashMap::new();
        for line in lines {
            let mut values = Vec::new();
            for (key, lacking) in keys.iter().zip(&mut layout.lacking) {
                match key.value(&line) {
                    Some(value) => values.push(value),
                    None => *lacking += line.run_count(),
                }
            }
            if values.len() < keys.len() {
                continue;
            }
            let names = values.iter().map(|value| value.en.clone()).collect();
            let place = *place_of.entry(names).or_insert_with(|| layout.add_place(values));
            layout.watch.meet(place, &line);
            layout.places[place].runs.push(line.run.id.clone());
            layout.placed.push((place, line));
        }
        if layout.placed.is_empty() {
            let names: Vec<&str> = keys.iter().map(|key| key.key.as_str()).collect();
            let names = names.join(", ");
            return Err(ErrorKind::NoSuchRun
                .error(text!("no run records {names}", "{names} が分かる測定はありません"))
                .remedy(text!(
                    "label the runs yourself (`{LABEL} RUN firmware=1.2`) and use that label as the key",
                    "自分でラベルを付け(`{LABEL} 測定 firmware=1.2`)、そのラベルで並べることもできます"
                )));
        }
        Ok(layout)
    }

    fn add_place(&mut self, mut values: Vec<Text>) -> usize {
        let column = values.pop().map_or(0, |value| position_or_push(&mut self.columns, value));
        let row = position_or_push(&mut self.rows, values);
        self.places.push(PivotPlace { row, column, runs: Vec::new() });
        self.places.len() - 1
    }

    /// Sorts rows and columns by their values.
    pub(super) fn sort(&mut self, keys: &[PivotKey]) {
        let by_value = |a: &Text, b: &Text| natural(&a.en, &b.en);
        // Runs are ordered by their time, not by their ids.
        if keys.last().is_none_or(|key| key.source != KeySource::Run) {
            let order = sorted(&mut self.columns, by_value);
            self.places.iter_mut().for_each(|place| place.column = order[place.column]);
        }
        let order = sorted(&mut self.rows, |a, b| {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| by_value(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        self.places.iter_mut().for_each(|place| place.row = order[place.row]);
    }

    /// Returns the value of a key at a place.
    fn value(&self, place: &PivotPlace, key_index: usize) -> &Text {
        self.rows[place.row].get(key_index).unwrap_or(&self.columns[place.column])
    }

    pub(super) fn baseline(&self, keys: &[PivotKey], words: &str) -> Result<Baseline> {
        let (named, value) = match words.split_once('=') {
            Some((key, value)) if keys.iter().any(|one| one.is_called(key)) => (Some(key), value),
            _ => (None, words),
        };
        let candidates: Vec<usize> =
            (0..keys.len()).filter(|index| named.is_none_or(|name| keys[*index].is_called(name))).collect();
        let mut values: Vec<String> = Vec::new();
        let mut baselines: Vec<Baseline> = Vec::new();
        for place in &self.places {
            for index in &candidates {
                let own = self.value(place, *index);
                let baseline = Baseline { key_index: *index, value: own.clone() };
                if is_meant(own, value) {
                    if !baselines.contains(&baseline) {
                        baselines.push(baseline);
                    }
                } else if !values.contains(&own.en) {
                    values.push(own.en.clone());
                }
            }
        }
        match baselines.len() {
            1 => Ok(baselines.remove(0)),
            0 => Err(unknown_value(
                text!(
                    "{BASELINE} {words}: no run in the table has this value",
                    "{BASELINE} {words}: この値の測定がありません"
                ),
                value,
                &mut values,
            )),
            _ => {
                let key = &keys[baselines[0].key_index].key;
                Err(ErrorKind::Usage
                    .error(text!(
                        "{BASELINE} {words}: more than one key has this value",
                        "{BASELINE} {words}: この値は複数のキーにあります"
                    ))
                    .remedy(text!(
                        "name the key as well: {BASELINE} {key}={value}",
                        "キーも書いてください: {BASELINE} {key}={value}"
                    )))
            }
        }
    }

    /// Returns the cells with their figures.
    pub(super) fn groups(
        &self,
        words: &DigestWords,
        apart: &[Fact],
        cell: Option<&str>,
    ) -> Result<Vec<Group>> {
        let mut gathered: Vec<Gathered<'_>> = Vec::new();
        let mut group_of: HashMap<(usize, Vec<Option<u32>>), usize> = HashMap::new();
        for (place, line) in &self.placed {
            let signs: Vec<Option<u32>> = apart.iter().map(|fact| line.words[*fact as usize]).collect();
            for (cell_index, (word, _)) in line.digest.figures.iter().enumerate() {
                let word = *word as usize;
                let Some(Some(name)) = words.cells.get(word) else { continue };
                let group = *group_of.entry((words.same[word], signs.clone())).or_insert_with(|| {
                    gathered.push(Gathered { name, line, sums: HashMap::new() });
                    gathered.len() - 1
                });
                gathered[group].sums.entry(*place).or_default().add(cell_index, line);
            }
        }
        let named = |group: &Gathered<'_>| (self.words.cell)(group.name);
        let names: Vec<String> = gathered.iter().map(|group| named(group).en).collect();
        let groups: Vec<Group> = gathered
            .into_iter()
            .filter(|group| cell.is_none_or(|words| has_words(&named(group), words)))
            .map(|group| group.finish(&self.watch, apart))
            .collect();
        match cell {
            Some(cell) if groups.is_empty() => {
                let message = text!(
                    "{CELL} {cell}: these runs have no such test",
                    "{CELL} {cell}: この項目はありません"
                );
                let mut names = names;
                names.dedup();
                Err(unknown_value(message, cell, &mut names))
            }
            _ => Ok(groups),
        }
    }

    /// Compares every figure with its baseline.
    pub(super) fn compare(&self, groups: &mut [Group], baseline: &Baseline, margin: f64) {
        let of_place = self.places_of_baseline(baseline);
        let mut sides = Vec::new();
        let mut whose = Vec::new();
        for (group_index, group) in groups.iter().enumerate() {
            for (index, figure) in group.figures.iter().enumerate() {
                let base = of_place[figure.place].filter(|place| *place != figure.place);
                // Figures are sorted by place.
                let base = base.and_then(|base| {
                    let position = group.figures.binary_search_by_key(&base, |other| other.place).ok()?;
                    group.figures.get(position)
                });
                let Some(base) = base else { continue };
                sides.push(sides_of(base, figure, group.cell.measure.higher_is_better()));
                whose.push((group_index, index));
            }
        }
        for ((group, figure), judged) in whose.into_iter().zip(compare_summaries(&sides, margin)) {
            groups[group].figures[figure].compared = judged;
        }
    }

    /// Returns, for each place, the one with the baseline's value and otherwise equal values.
    fn places_of_baseline(&self, baseline: &Baseline) -> Vec<Option<usize>> {
        let values = |place: &PivotPlace| -> Vec<String> {
            (0..=self.rows[place.row].len()).map(|key| self.value(place, key).en.clone()).collect()
        };
        let number_of: HashMap<Vec<String>, usize> =
            self.places.iter().enumerate().map(|(number, place)| (values(place), number)).collect();
        let base_values = |place: &PivotPlace| {
            let mut values = values(place);
            values[baseline.key_index].clone_from(&baseline.value.en);
            values
        };
        self.places.iter().map(|place| number_of.get(&base_values(place)).copied()).collect()
    }
}

/// Returns whether a name contains all words, ignoring order and case, in either language.
fn has_words(name: &Text, words: &str) -> bool {
    let name = format!("{} {}", name.en, name.ja).to_lowercase();
    words.to_lowercase().split_whitespace().all(|word| name.contains(word))
}

/// Returns the values of a figure and of its baseline. If both are single runs, their repetitions
/// are the unit. If only one is, its spread among runs is unknown, unless it is a model with equal
/// repetitions. Two identical runs of a model are equal.
fn sides_of(base: &PivotFigure, other: &PivotFigure, higher_is_better: bool) -> SummarySides {
    let single = base.run_count == 1 && other.run_count == 1;
    let figures =
        |figure: &PivotFigure| (figure.modelled, figure.repetition_count, figure.mean, figure.deviation);
    let alike = single && figures(base) == figures(other);
    let repeats = |figure: &PivotFigure| {
        let several = figure.repetition_count.is_some_and(|count| count > 1);
        figure.modelled && (alike || several && is_nothing(figure.deviation, figure.mean))
    };
    let computed = [base, other].into_iter().all(|figure| figure.run_count > 1 || repeats(figure));
    let summary = |figure: &PivotFigure| {
        let count = figure.repetition_count.filter(|_| single).unwrap_or(figure.run_count);
        let has_spread = count > 1 && !(figure.run_count == 1 && repeats(figure));
        Summary { mean: figure.mean, deviation: if has_spread { figure.deviation } else { 0.0 }, count }
    };
    SummarySides { baseline: summary(base), other: summary(other), higher_is_better, computed }
}

fn position_or_push<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|other| *other == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// Sorts a list, and returns the new index of each element.
fn sorted<T>(list: &mut Vec<T>, order: impl Fn(&T, &T) -> Ordering) -> Vec<usize> {
    let mut numbered: Vec<(usize, T)> = std::mem::take(list).into_iter().enumerate().collect();
    numbered.sort_by(|(_, a), (_, b)| order(a, b));
    let mut places = vec![0; numbered.len()];
    for (new, (old, value)) in numbered.into_iter().enumerate() {
        places[old] = new;
        list.push(value);
    }
    places
}
