//! What a report says of stalls: of each run the cells in which a person would feel them.

use super::Report;
use super::answer::beside_writes;
use super::rows::CellRow;
use crate::doc::{Doc, Purpose};
use crate::words;
use crate::words::stutter::{longest_operation, smooth_words, stutter_words};
use kurabe_core::record::RunRecord;
use kurabe_core::{Text, number, text};
use kurabe_stats::Stutter;

impl Report<'_> {
    /// Stutter of each run, in sentences.
    pub(super) fn stutter(&self) -> Doc {
        let (mut doc, rows) = (Doc::new(), self.rows());
        let several = self.runs.len() > 1;
        let named = |name: &Text, words: Text| match several {
            true => text!("{name} · {words}", "{name} · {words}"; name, words),
            false => words,
        };
        let beside = |(run, name): (&&RunRecord, &Text)| {
            beside_writes(run).into_iter().map(|words| named(name, words)).collect::<Vec<_>>()
        };
        doc.list(Purpose::Item, self.runs.iter().zip(&self.names).flat_map(beside));
        let (mut felt, mut smooth) = (Vec::new(), 0);
        for (index, name) in self.names.iter().enumerate() {
            for row in &rows {
                let Some(stutter) = row.entries[index].as_ref().and_then(|entry| entry.stutter) else {
                    continue;
                };
                match stutter_words(&stutter) {
                    Some(words) => felt.push(named(name, sentence(row, &words, &stutter))),
                    None => smooth += 1,
                }
            }
        }
        match (felt.is_empty(), smooth) {
            (true, 0) => {
                doc.say(text!(
                    "Not known: no cell was measured over time.",
                    "不明です(時間を追って測った項目がありません)。"
                ));
            }
            (true, _) => {
                doc.say(no_stall(&rows));
            }
            (false, _) => {
                doc.list(Purpose::Item, felt);
                if smooth > 0 {
                    doc.say(text!(
                        "In all other cells no stall was long enough to be felt (0.1 s).",
                        "ほかの項目では、人が気付くほど長い停滞(0.1 秒以上)はありませんでした。"
                    ));
                }
            }
        }
        doc
    }
}

/// `write SEQ 1 MiB: freezes for …`
fn sentence(row: &CellRow<'_>, felt: &Text, stutter: &Stutter) -> Text {
    let cell = &row.name;
    let silence = match stutter.longest_silence_ns {
        0 => Text::default(),
        ns => {
            let ns = number::latency_ns(ns);
            text!("; nothing at all was completed for up to {ns}", "。最長 {ns} の間、何も完了しなかった")
        }
    };
    text!("{cell}: {felt}{silence}", "{cell}: {felt}{silence}"; cell, felt, silence)
}

/// That no stall can be felt, and if so, that operations are slow all the same.
fn no_stall(rows: &[CellRow<'_>]) -> Text {
    let cells = rows.iter().flat_map(|row| row.entries.iter().flatten()).map(|entry| entry.figures.cell);
    longest_operation(cells).map_or_else(
        || {
            text!(
                "No stall that a person would feel (0.1 s or longer) was seen.",
                "人が気付くような停滞(0.1 秒以上)はありませんでした。"
            )
        },
        |longest| words::sentence(&smooth_words(longest)),
    )
}
