//! What of a run is asked across runs: its facts, and what each of its cells came to.
//!
//! The model: a digest is made of the record by [`digest`] alone, with the same facts and the same values by which two runs
//! are compared, so that a pivot and `compare` cannot differ. Its words are JSON, read back once for all runs.

use crate::cells::{CellKey, values};
use crate::fairness::facts_of;
use kurabe_core::Text;
use kurabe_core::digest::{Digests, RunDigest, Summary};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::workload::Direction;
use serde::{Deserialize, Serialize};

/// The version of [`digest`]: raise it whenever the same record gives another digest, and the kept ones are made again.
pub const DIGEST_VERSION: u32 = 1;

/// A cell without its figures: what it is, and what it is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellName {
    /// What it is.
    pub key: CellKey,
    /// The step's name.
    pub label: String,
    /// The part of the step.
    pub part: String,
    /// Direction.
    pub direction: Option<Direction>,
    /// What its figure tells.
    pub measure: Measure,
}

/// A word of a digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    /// A key of `KEYS` and its value.
    Fact(String, Text),
    /// A cell.
    Cell(CellName),
}

impl CellName {
    /// The name of a cell.
    pub fn of(cell: &Cell) -> Self {
        Self {
            key: CellKey::of(cell),
            label: cell.label.clone(),
            part: cell.part.clone(),
            direction: cell.direction,
            measure: cell.measure,
        }
    }

    /// Whether it is the same cell, whatever it is called.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key == other.key && self.measure == other.measure
    }
}

/// The digest of a run.
pub fn digest(run: &RunRecord) -> RunDigest {
    RunDigest {
        facts: facts_of(run)
            .into_iter()
            .filter_map(|(key, value)| word(&Word::Fact(key.to_owned(), value)))
            .collect(),
        figures: run
            .cells
            .iter()
            .filter_map(|cell| Some((word(&Word::Cell(CellName::of(cell)))?, Summary::of(&values(cell))?)))
            .collect(),
    }
}

/// The word as it is kept. Words have string keys only, so that this is always JSON.
fn word(word: &Word) -> Option<String> {
    serde_json::to_string(word).ok()
}

/// The words of many digests, read; none where a word is of no use to this kurabe.
pub(crate) fn read(digests: &Digests) -> Vec<Option<Word>> {
    digests.words.iter().map(|word| serde_json::from_str(word).ok()).collect()
}
