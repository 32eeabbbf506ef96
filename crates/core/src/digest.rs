//! Compact summaries of runs for queries over many of them: each run's facts and the figure of each
//! cell, without repetitions, histograms or series.
//!
//! A digest is computed from a record by a single function and never edited, so it can be deleted
//! and computed again. Facts and cell names repeat from run to run, so they are stored once as
//! words and referenced by number. Only the code that creates and reads digests knows the meaning
//! of a word. The store does not.

use crate::record::RunRecord;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The function that computes digests. A store receives it when it is opened.
#[derive(Clone, Copy, Debug)]
pub struct Digester {
    /// Version of the function. Digests stored by another version are computed again.
    pub version: u32,
    /// Returns the digest of a record.
    pub digest: fn(&RunRecord) -> RunDigest,
}

/// The digest of a run, as computed from its record.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RunDigest {
    /// The run's facts, encoded as words.
    pub facts: Vec<String>,
    /// The names of its cells with their summaries.
    pub figures: Vec<(String, Summary)>,
}

/// Summary statistics of a set of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Arithmetic mean, in the base unit of the values.
    pub mean: f64,
    /// Sample standard deviation. 0 for a single value.
    pub deviation: f64,
    /// Number of values.
    pub count: u32,
}

impl Summary {
    /// Computes the summary. Returns `None` if there are no values or one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
        (mean.is_finite() && deviation.is_finite()).then_some(Self {
            mean,
            deviation,
            count: values.len() as u32,
        })
    }
}

/// The digests of many runs.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Digests {
    /// The shared words. A word that is not used is empty.
    pub words: Vec<String>,
    /// The runs with their ids.
    pub runs: Vec<DigestedRun>,
    /// Ids of the runs whose records can't be read.
    pub unreadable: Vec<String>,
}

impl Digests {
    /// Returns the runs indexed by id.
    pub fn by_id(&self) -> HashMap<&str, &DigestedRun> {
        self.runs.iter().map(|run| (run.id.as_str(), run)).collect()
    }
}

/// The digest of one run, with references to the shared words.
#[derive(Clone, Debug, PartialEq)]
pub struct DigestedRun {
    /// The run's id.
    pub id: String,
    /// Indexes of its facts in the list of words.
    pub facts: Vec<u32>,
    /// Its cells: indexes of their names in the list of words, and their summaries.
    pub figures: Vec<(u32, Summary)>,
    /// If the digest represents several equivalent runs: for each cell, a summary of the means of
    /// all runs.
    pub among: Vec<Summary>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_three_numbers() {
        let summary = Summary::of(&[2.0, 4.0, 9.0]).unwrap();
        assert_eq!((summary.mean, summary.count), (5.0, 3));
        // numpy.std([2, 4, 9], ddof=1)
        assert!((summary.deviation - 3.605_551_275_463_989).abs() < 1e-12);
        assert_eq!(Summary::of(&[7.0]), Some(Summary { mean: 7.0, deviation: 0.0, count: 1 }));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[f64::MAX, f64::MAX]), None);
    }
}
