//! What a run was made for, where that is not a rate: the figures that its profile derives, and what reads suffer beside
//! writes. It is told before all else.

use super::Report;
use crate::run::derived;
use crate::words;
use crate::words::stutter::{reads_beside, reads_beside_words};
use kurabe_core::record::RunRecord;
use kurabe_core::{Text, text};

impl Report<'_> {
    /// The main results of the only run, or of both.
    pub(super) fn main_results(&self) -> Vec<Text> {
        let derived = match self.runs.as_slice() {
            [one, other] => derived::side_by_side(one, other, &self.names),
            [one, ..] => derived::sentences(one),
            [] => Vec::new(),
        };
        let several = self.runs.len() > 1;
        let worst = self.runs.iter().zip(&self.names).filter_map(|(run, name)| {
            let words = beside_writes(run).into_iter().next()?;
            Some(if several { text!("{name} · {words}", "{name} · {words}"; name, words) } else { words })
        });
        derived.into_iter().chain(worst).collect()
    }
}

/// What the reads of each mixed cell suffer, the worst first.
pub(super) fn beside_writes(record: &RunRecord) -> Vec<Text> {
    reads_beside(record)
        .into_iter()
        .map(|(cell, beside)| {
            let (name, words) = (Text::same(words::label(cell).en), reads_beside_words(&beside));
            text!("{name}: {words}.", "{name}: {words}。"; name, words)
        })
        .collect()
}
