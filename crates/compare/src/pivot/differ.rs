//! Other differences among the runs of a pivot, and the places with differing runs.
//!
//! For each fact, every place stores the first value and whether there was another one. The keys of
//! the pivot are its subject and not doubts. If a place would combine runs that are not comparable
//! because of a decisive fact, the cells are shown separately instead.

use super::keys::{KeySource, PivotKey, PivotWords, natural};
use super::runs::RunFacts;
use crate::fairness::{Fact, Weight};
use kurabe_core::Text;
use serde::Serialize;

/// A difference among the runs of a pivot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PivotDifference {
    /// Word of the fact.
    pub key: &'static str,
    /// Name of the fact.
    pub name: Text,
    /// Its values.
    pub values: Vec<Text>,
    /// Its weight.
    pub weight: Weight,
    /// Its effect on the figures, if known.
    pub effect: Option<Text>,
    /// Indices of the places that combine runs with different values.
    pub within: Vec<usize>,
}

/// Values of a fact at one place.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Nothing,
    /// One value; `None` means "not recorded".
    One(Option<u32>),
    Several,
}

/// Facts at all places.
pub(super) struct Watch {
    words: PivotWords,
    /// Facts that are not keys of the pivot.
    watched: Vec<Fact>,
    places: Vec<Vec<Seen>>,
    /// For each word, whether a run of the pivot has it.
    met: Vec<bool>,
    /// For each fact, whether a run does not record it.
    untold: Vec<bool>,
}

impl Watch {
    pub(super) fn new(keys: &[PivotKey], word_count: usize, words: PivotWords) -> Self {
        let is_subject = |fact: &Fact| keys.iter().any(|key| key.source == KeySource::Fact(*fact));
        let watched = Fact::all().filter(|fact| !is_subject(fact)).collect();
        let untold = vec![false; Fact::all().count()];
        Self { words, watched, places: Vec::new(), met: vec![false; word_count], untold }
    }

    /// Adds a run to a place.
    pub(super) fn meet(&mut self, place: usize, line: &RunFacts<'_>) {
        if self.places.len() <= place {
            self.places.resize(place + 1, vec![Seen::Nothing; self.untold.len()]);
        }
        for fact in &self.watched {
            let value = line.words[*fact as usize];
            match value {
                // A missing value is a doubt only if the fact is decisive.
                None if fact.weight() != Weight::Decisive => continue,
                None => self.untold[*fact as usize] = true,
                Some(word) => self.met[word as usize] = true,
            }
            let seen = &mut self.places[place][*fact as usize];
            *seen = match *seen {
                Seen::Nothing => Seen::One(value),
                Seen::One(before) if before == value => continue,
                Seen::One(_) | Seen::Several => Seen::Several,
            };
        }
    }

    /// Returns the facts by which cells must be shown separately: decisive ones with more than one
    /// value at a place.
    pub(super) fn apart(&self) -> Vec<Fact> {
        let decides = |fact: &Fact| fact.weight() == Weight::Decisive && !self.within(*fact).is_empty();
        self.watched.iter().copied().filter(decides).collect()
    }

    fn within(&self, fact: Fact) -> Vec<usize> {
        let places = self.places.iter().enumerate();
        places.filter(|(_, facts)| facts[fact as usize] == Seen::Several).map(|(place, _)| place).collect()
    }

    /// Returns a fact that separates runs: its word, its name, and the value of a run.
    pub(super) fn sign(&self, fact: Fact, value: Option<&Text>) -> (&'static str, Text, Text) {
        let value = value.cloned().unwrap_or_else(|| (self.words.value)(None));
        (fact.word(), (self.words.key)(&KeySource::Fact(fact)), value)
    }

    /// Returns all differences, those with the largest weight first. `facts` maps a word to its
    /// fact and value. Places separated by a fact do not combine its values.
    pub(super) fn differences(
        &self,
        apart: &[Fact],
        facts: impl Fn(usize) -> Option<(Fact, Text)>,
    ) -> Vec<PivotDifference> {
        let mut values: Vec<Vec<Text>> = vec![Vec::new(); self.untold.len()];
        for word in (0..self.met.len()).filter(|word| self.met[*word]) {
            if let Some((fact, value)) = facts(word) {
                values[fact as usize].push(value);
            }
        }
        let mut differences: Vec<PivotDifference> = self
            .watched
            .iter()
            .filter_map(|fact| {
                let mut values = std::mem::take(&mut values[*fact as usize]);
                values.sort_by(|a, b| natural(&a.en, &b.en));
                if self.untold[*fact as usize] && !values.is_empty() {
                    values.push((self.words.value)(None));
                }
                (values.len() > 1).then(|| PivotDifference {
                    key: fact.word(),
                    name: (self.words.key)(&KeySource::Fact(*fact)),
                    values,
                    weight: fact.weight(),
                    effect: (self.words.effect)(*fact),
                    within: if apart.contains(fact) { Vec::new() } else { self.within(*fact) },
                })
            })
            .collect();
        differences.sort_by_key(|difference| difference.weight);
        differences
    }
}
