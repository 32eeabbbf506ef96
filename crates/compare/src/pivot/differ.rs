//! What else differed among the runs of a pivot, and where runs that differ stand in one place.
//!
//! The model: for each fact every place remembers the first value that it met, and whether it met another. What the pivot
//! is laid out by is its subject and no doubt. Where a place would put together what cannot be put together (a fact that
//! decides), the cells are shown apart instead.

use super::keys::{Source, natural};
use super::{Line, PivotKey};
use crate::fairness::{About, Weight, about_all};
use kurabe_core::{Text, text};
use serde::Serialize;

/// Something that differed among the runs of a pivot.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    about: Vec<About>,
    /// Facts that are no subject.
    watched: Vec<usize>,
    places: Vec<Vec<Seen>>,
    /// For each word whether a run of the pivot has it.
    met: Vec<bool>,
    /// For each fact whether a run does not tell it.
    untold: Vec<bool>,
}

impl Watch {
    pub(super) fn new(keys: &[PivotKey], words: usize) -> Self {
        let about = about_all();
        let is_subject = |place: &usize| keys.iter().any(|key| key.source == Source::Fact(*place));
        let watched = (0..about.len()).filter(|place| !is_subject(place)).collect();
        let untold = vec![false; about.len()];
        Self { about, watched, places: Vec::new(), met: vec![false; words], untold }
    }

    /// A run stands at a place.
    pub(super) fn meet(&mut self, place: usize, line: &Line<'_>) {
        if self.places.len() <= place {
            self.places.resize(place + 1, vec![Seen::Nothing; self.about.len()]);
        }
        for fact in &self.watched {
            let told = line.words[*fact];
            if told.is_none() && self.about[*fact].weight != Weight::Decisive {
                // What a run does not tell is a doubt only where it decides.
                continue;
            }
            match told {
                Some(word) => self.met[word as usize] = true,
                None => self.untold[*fact] = true,
            }
            let seen = &mut self.places[place][*fact];
            *seen = match *seen {
                Seen::Nothing => Seen::One(told),
                Seen::One(before) if before == told => continue,
                Seen::One(_) | Seen::Several => Seen::Several,
            };
        }
    }

    /// The facts by which cells must be shown apart: they decide, and a place has more than one value of them.
    pub(super) fn apart(&self) -> Vec<usize> {
        let decides = |fact: &&usize| self.about[**fact].weight == Weight::Decisive;
        self.watched.iter().filter(decides).copied().filter(|fact| !self.within(*fact).is_empty()).collect()
    }

    fn within(&self, fact: usize) -> Vec<usize> {
        let places = self.places.iter().enumerate();
        places.filter(|(_, facts)| facts[fact] == Seen::Several).map(|(place, _)| place).collect()
    }

    /// What a fact is.
    pub(super) fn about(&self, fact: usize) -> &About {
        &self.about[fact]
    }

    /// Everything that differed, the weightiest first. `facts` gives the value of a word and which fact it is of; places
    /// that are shown apart by a fact mix nothing.
    pub(super) fn differences(
        &self,
        apart: &[usize],
        facts: impl Fn(usize) -> Option<(usize, Text)>,
    ) -> Vec<PivotDifference> {
        let mut values: Vec<Vec<Text>> = vec![Vec::new(); self.about.len()];
        for word in (0..self.met.len()).filter(|word| self.met[*word]) {
            if let Some((fact, value)) = facts(word) {
                values[fact].push(value);
            }
        }
        let mut found: Vec<PivotDifference> = self
            .watched
            .iter()
            .filter_map(|fact| {
                let mut values = std::mem::take(&mut values[*fact]);
                values.sort_by(|a, b| natural(&a.en, &b.en));
                if self.untold[*fact] && !values.is_empty() {
                    values.push(text!("not told", "不明"));
                }
                let about = &self.about[*fact];
                (values.len() > 1).then(|| PivotDifference {
                    key: about.key,
                    name: about.name.clone(),
                    values,
                    weight: about.weight,
                    effect: about.effect.clone(),
                    within: if apart.contains(fact) { Vec::new() } else { self.within(*fact) },
                })
            })
            .collect();
        found.sort_by_key(|difference| difference.weight);
        found
    }
}
