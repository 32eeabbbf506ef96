//! What else differed among the runs of a pivot, and where runs that differ stand in one place.
//!
//! The model: for each fact every place remembers the first value that it met, and whether it met another. What the pivot
//! is laid out by is its subject and no doubt. Where a place would put together what cannot be put together (a fact that
//! decides), the cells are shown apart instead.

use super::keys::{KeySource, PivotKey, PivotWords, natural};
use super::runs::RunFacts;
use crate::fairness::{Fact, Weight};
use kurabe_core::Text;
use serde::Serialize;

/// Something that differed among the runs of a pivot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PivotDifference {
    /// Its key.
    pub key: &'static str,
    /// What it is.
    pub name: Text,
    /// Its values.
    pub values: Vec<Text>,
    /// What it can do.
    pub weight: Weight,
    /// What it does, where that is known.
    pub effect: Option<Text>,
    /// Places that put runs with different values together, by their numbers.
    pub within: Vec<usize>,
}

/// A fact at one place.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Nothing,
    /// One value; none stands for "not told".
    One(Option<u32>),
    Several,
}

/// The facts of all places.
pub(super) struct Watch {
    words: PivotWords,
    /// Facts that are no subject.
    watched: Vec<Fact>,
    places: Vec<Vec<Seen>>,
    /// For each word whether a run of the pivot has it.
    met: Vec<bool>,
    /// For each fact whether a run does not tell it.
    untold: Vec<bool>,
}

impl Watch {
    pub(super) fn new(keys: &[PivotKey], word_count: usize, words: PivotWords) -> Self {
        let is_subject = |fact: &Fact| keys.iter().any(|key| key.source == KeySource::Fact(*fact));
        let watched = Fact::all().filter(|fact| !is_subject(fact)).collect();
        let untold = vec![false; Fact::all().count()];
        Self { words, watched, places: Vec::new(), met: vec![false; word_count], untold }
    }

    /// A run stands at a place.
    pub(super) fn meet(&mut self, place: usize, line: &RunFacts<'_>) {
        if self.places.len() <= place {
            self.places.resize(place + 1, vec![Seen::Nothing; self.untold.len()]);
        }
        for fact in &self.watched {
            let value = line.words[*fact as usize];
            match value {
                // What a run does not tell is a doubt only where it decides.
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

    /// The facts by which cells must be shown apart: they decide, and a place has more than one value of them.
    pub(super) fn apart(&self) -> Vec<Fact> {
        let decides = |fact: &Fact| fact.weight() == Weight::Decisive && !self.within(*fact).is_empty();
        self.watched.iter().copied().filter(decides).collect()
    }

    fn within(&self, fact: Fact) -> Vec<usize> {
        let places = self.places.iter().enumerate();
        places.filter(|(_, facts)| facts[fact as usize] == Seen::Several).map(|(place, _)| place).collect()
    }

    /// A fact by which runs are shown apart: its word, its name, and the value of a run that has it.
    pub(super) fn sign(&self, fact: Fact, value: Option<&Text>) -> (&'static str, Text, Text) {
        let value = value.cloned().unwrap_or_else(|| (self.words.value)(None));
        (fact.word(), (self.words.key)(&KeySource::Fact(fact)), value)
    }

    /// Everything that differed, the weightiest first. `facts` gives the value of a word and which fact it is of; places
    /// that are shown apart by a fact mix nothing.
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
