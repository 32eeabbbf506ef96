//! Runs with the contents of their digests.

use crate::digest::{Word, read};
use crate::fairness::{Fact, FactValue};
use crate::key::CellName;
use kurabe_core::digest::{DigestedRun, Digests};
use kurabe_core::{Text, record::RunSummary};

/// A run with its facts.
pub(crate) struct RunFacts<'a> {
    pub(super) run: &'a RunSummary,
    pub(super) digest: &'a DigestedRun,
    /// For each fact, the word with its value.
    pub(super) words: Vec<Option<u32>>,
    texts: &'a DigestWords,
}

/// The words of all digests.
pub(super) struct DigestWords {
    /// Fact and value of a word, if it is a fact.
    pub(super) facts: Vec<Option<(Fact, Text)>>,
    pub(super) cells: Vec<Option<CellName>>,
    /// For each word that is a cell, the first word for the same cell.
    pub(super) same: Vec<usize>,
}

impl RunFacts<'_> {
    /// Returns the number of runs that this one represents.
    pub(super) fn run_count(&self) -> usize {
        self.digest.among.first().map_or(1, |among| among.count as usize)
    }

    pub(super) fn fact(&self, fact: Fact) -> Option<&Text> {
        let word = self.words[fact as usize]?;
        self.texts.facts[word as usize].as_ref().map(|(_, value)| value)
    }
}

impl DigestWords {
    pub(super) fn read(digests: &Digests, value: fn(Option<&FactValue>) -> Text) -> Self {
        let (mut facts, mut cells) = (Vec::new(), Vec::new());
        for word in read(digests) {
            let (fact, cell) = match word {
                Some(Word::Fact(fact, of_run)) => (Some((fact, value(Some(&of_run)))), None),
                Some(Word::Cell(cell)) => (None, Some(cell)),
                Some(Word::Main(..) | Word::History(_)) | None => (None, None),
            };
            facts.push(fact);
            cells.push(cell);
        }
        let mut firsts: Vec<usize> = Vec::new();
        let same = cells
            .iter()
            .enumerate()
            .map(|(place, cell): (usize, &Option<CellName>)| {
                let Some(cell) = cell else { return place };
                let is_same = |first: &usize| cells[*first].as_ref().is_some_and(|other| other.is_same(cell));
                firsts.iter().copied().find(is_same).unwrap_or_else(|| {
                    firsts.push(place);
                    place
                })
            })
            .collect();
        Self { facts, cells, same }
    }

    pub(super) fn line<'a>(&'a self, run: &'a RunSummary, digest: &'a DigestedRun) -> RunFacts<'a> {
        let mut words = vec![None; Fact::all().count()];
        for word in &digest.facts {
            if let Some(Some((fact, _))) = self.facts.get(*word as usize) {
                words[*fact as usize] = Some(*word);
            }
        }
        RunFacts { run, digest, words, texts: self }
    }
}
