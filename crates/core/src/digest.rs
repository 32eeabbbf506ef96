//! What is asked across many runs, kept small: of each run its facts and the figure of each cell, without repetitions,
//! histograms or series.
//!
//! The model: a digest is made from a record by one function and never by hand, so it can be thrown away and made again.
//! Facts and names of cells repeat from run to run, so they are words that are kept once and named by number. What a word
//! says is between those who make digests and those who read them; whoever keeps them needs not know.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The digest of a run, as it is made from its record.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RunDigest {
    /// What the run tells of itself.
    pub facts: Vec<String>,
    /// Its cells with what they came to.
    pub figures: Vec<(String, Summary)>,
}

/// Values in three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Their arithmetic mean, in the base unit of what they are.
    pub mean: f64,
    /// Their sample standard deviation; 0 for a single value.
    pub deviation: f64,
    /// How many they are.
    pub count: u32,
}

impl Summary {
    /// The summary of values; `None` if there are none or one is not finite.
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
    /// The words; one that nobody uses is empty.
    pub words: Vec<String>,
    /// The runs, by their ids.
    pub runs: Vec<DigestedRun>,
    /// Ids of the runs whose records cannot be read.
    pub unreadable: Vec<String>,
}

impl Digests {
    /// The runs by their ids.
    pub fn by_id(&self) -> HashMap<&str, &DigestedRun> {
        self.runs.iter().map(|run| (run.id.as_str(), run)).collect()
    }
}

/// A run among many.
#[derive(Clone, Debug, PartialEq)]
pub struct DigestedRun {
    /// Its id.
    pub id: String,
    /// Places of its facts among the words.
    pub facts: Vec<u32>,
    /// Its cells: places of their names among the words, and their summaries.
    pub figures: Vec<(u32, Summary)>,
    /// If it stands for several runs that are alike: of each cell the means of all of them.
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
