//! What a run was made for, where that is not a rate: the figures that its profile derives, and what reads suffer beside
//! writes. It is told before all else.

use super::Report;
use crate::stutter::{reads_beside, reads_beside_words};
use crate::style::Style;
use crate::{derived, words};
use kurabe_core::record::RunRecord;
use kurabe_core::{Lang, Text, text};

impl Report<'_> {
    /// The main results of the only run, in both languages.
    pub(super) fn main_results(&self) -> Vec<Text> {
        let record = self.runs[0];
        let [en, ja] =
            [Lang::En, Lang::Ja].map(|lang| derived::sentences(record, &Style { lang, ..self.style }));
        let derived = en.into_iter().zip(ja).map(|(en, ja)| Text { en, ja });
        derived.chain(beside_writes(record).into_iter().take(1)).collect()
    }
}

/// What the reads of each mixed cell suffer, the worst first.
pub(super) fn beside_writes(record: &RunRecord) -> Vec<Text> {
    let found = reads_beside(record).into_iter();
    found
        .map(|(cell, beside)| {
            let Text { en, ja } = reads_beside_words(&beside);
            let name = words::label(&Style { lang: Lang::En, color: false, width: 80 }, cell);
            text!("{name}: {en}.", "{name}: {ja}。")
        })
        .collect()
}
