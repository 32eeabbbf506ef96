//! The summary in a few sentences, before any table: the result of one run, or the comparison of
//! several.
//!
//! The model: for one run, the profile's derived figures if they are its purpose, the sentence that
//! begins every output, and the effect of writes on reads. For two runs, the count of verdicts and
//! the largest difference with a clear verdict. For more runs, the fastest one, and those that are
//! faster or slower than the baseline. The summary contains nothing that isn't in the table.
//!
//! This file also has the report's section on stalls: for each run, the cells with perceptible
//! stalls.

use super::Report;
use super::rows::CellRow;
use crate::compare::answer;
use crate::compare::facts::Spoken;
use crate::compare::verdict::{fastest_words, verdict_words};
use crate::run::derived;
use crate::words;
use crate::words::stutter::{
    longest_operation_ns, reads_beside, reads_beside_words, smooth_words, stutter_words,
};
use kurabe_compare::{Pair, Weight};
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_core::{Text, number, text};
use kurabe_doc::{Doc, Purpose};
use kurabe_stats::{Compared, Stutter, Verdict};

impl Report<'_> {
    /// Returns the summary: sentences as one text, most important first.
    pub fn answer(&self) -> Text {
        Text::sentences(self.sentences())
    }

    /// Returns the sentences of the summary, most important first.
    pub fn sentences(&self) -> Vec<Text> {
        match self.pairs.as_slice() {
            [] => self.of_one(),
            [_] => self.of_two(),
            pairs => {
                let fastest = self.fastest.iter().map(|fastest| fastest_words(fastest, &self.names));
                fastest.chain([of_many(&self.names[0], pairs)]).collect()
            }
        }
    }

    fn of_one(&self) -> Vec<Text> {
        let record = self.runs[0];
        let mut sentences = derived::sentences(record);
        sentences.extend(self.summary.iter().map(|summary| summary.sentence.clone()));
        sentences.extend(beside_writes(record).into_iter().next());
        if sentences.is_empty() {
            sentences.push(text!("Nothing was measured.", "測定された項目はありません。"));
        }
        if record.status != RunStatus::Complete {
            sentences.push(text!("The run stopped before its end.", "この測定は途中で終わっています。"));
        }
        sentences
    }

    fn of_two(&self) -> Vec<Text> {
        let pair = &self.pairs[0];
        let mut sentences = derived::side_by_side(self.runs[0], self.runs[1], &self.names);
        sentences.extend(self.runs.iter().zip(&self.names).filter_map(|(run, name)| {
            let words = beside_writes(run).into_iter().next()?;
            Some(text!("{name} · {words}", "{name} · {words}"; name, words))
        }));
        sentences.push(answer(pair));
        sentences.extend(largest(&self.rows()));
        let doubts = pair.differences.iter().filter(|difference| difference.weight == Weight::Decisive);
        let decisive: Vec<Text> = doubts.map(|difference| Spoken::from(difference).name).collect();
        if !decisive.is_empty() {
            let decisive = Text::list(decisive);
            sentences.push(text!(
                "Caution: they also differ in properties that can make figures incomparable: {decisive}.",
                "ただし、比較そのものを損なうおそれのある違いがあります: {decisive}。";
                decisive
            ));
        }
        sentences
    }

    /// Describes the stutter of each run.
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
        let rest = match (felt.is_empty(), smooth) {
            (true, 0) => Some(text!(
                "Unknown: no test was measured over time.",
                "不明です(時間を追って測った項目がありません)。"
            )),
            (true, _) => Some(no_stall(&rows)),
            (false, 0) => None,
            (false, _) => Some(text!(
                "In all other tests, no pause was long enough to be noticed (0.1 s).",
                "ほかの項目では、人が気付くほど長い停滞(0.1 秒以上)はありませんでした。"
            )),
        };
        doc.list(Purpose::Item, felt).say_all(rest).done()
    }
}

/// Describes the effect of writes on the reads of each mixed cell, the largest effect first.
pub(super) fn beside_writes(record: &RunRecord) -> Vec<Text> {
    let sentence = |(cell, beside)| {
        let (name, words) = (Text::same(words::label(cell).en), reads_beside_words(&beside));
        text!("{name}: {words}.", "{name}: {words}。"; name, words)
    };
    reads_beside(record).into_iter().map(sentence).collect()
}

/// Describes the largest difference with a clear verdict.
fn largest(rows: &[CellRow<'_>]) -> Option<Text> {
    let compared = rows.iter().filter_map(|row| Some((&row.name, row.compared(1)?)));
    let sure = |(_, one): &(&Text, &Compared)| matches!(one.verdict, Verdict::Faster | Verdict::Slower);
    let weight = |one: &Compared| one.speed.value.ln().abs();
    let mut cells: Vec<(&Text, &Compared)> = compared.filter(sure).collect();
    cells.sort_by(|(_, one), (_, two)| weight(two).total_cmp(&weight(one)));
    let (name, compared) = cells.first().filter(|_| cells.len() > 1)?;
    let words = verdict_words(compared).1;
    Some(text!(
        "The largest difference is in {name}: {words}.",
        "最も差が大きいのは「{name}」({words})。";
        name, words
    ))
}

/// Maximum number of runs with the same outcome that are named. The others are counted.
const NAMED: usize = 4;

/// Groups the runs by their outcome compared with the baseline: only faster cells, only slower
/// ones, both, no difference, or not clear yet.
fn of_many(baseline: &Text, pairs: &[Pair]) -> Text {
    let outcome = |pair: &Pair| {
        let verdicts: Vec<Verdict> =
            pair.cells.iter().filter_map(|cell| Some(cell.compared.as_ref()?.verdict)).collect();
        let any = |verdict: Verdict| verdicts.contains(&verdict);
        match (any(Verdict::Faster), any(Verdict::Slower)) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) if !verdicts.is_empty() && verdicts.iter().all(|one| *one == Verdict::Same) => 3,
            (false, false) => 4,
        }
    };
    let kinds = [
        text!("faster in some tests and slower in none", "速い(遅い項目なし)"),
        text!("slower in some tests and faster in none", "遅い(速い項目なし)"),
        text!("faster in some tests and slower in others", "項目により速くも遅くもある"),
        text!("not measurably different in any test", "有意な差なし"),
        text!("not clear yet", "まだ判断できない"),
    ];
    let groups = kinds.into_iter().enumerate().filter_map(|(index, kind)| {
        let runs: Vec<&Text> =
            pairs.iter().filter(|pair| outcome(pair) == index).map(|pair| &pair.names[1]).collect();
        let more = runs.len().saturating_sub(NAMED);
        let mut names: Vec<Text> = runs.into_iter().take(NAMED).cloned().collect();
        names.extend((more > 0).then(|| text!("{more} more", "ほか {more} 件")));
        let names = Text::list(names);
        (!names.is_empty()).then(|| text!("{kind}: {names}", "{kind}: {names}"; kind, names))
    });
    let groups = Text::join(groups, ["; ", "。"]);
    text!(
        "Compared with {baseline}: {groups}.",
        "基準 {baseline} との比較です。{groups}。";
        baseline, groups
    )
}

/// Describes the stutter of a cell, as in `write SEQ 1 MiB: freezes for …`.
fn sentence(row: &CellRow<'_>, felt: &Text, stutter: &Stutter) -> Text {
    let cell = &row.name;
    let silence = match stutter.longest_silence_ns {
        0 => Text::default(),
        ns => {
            let ns = number::latency_ns(ns);
            text!("; no operation completed for up to {ns}", "。最長 {ns} の間、何も完了しなかった")
        }
    };
    text!("{cell}: {felt}{silence}", "{cell}: {felt}{silence}"; cell, felt, silence)
}

/// Says that no stall is perceptible, and mentions the slowest operation if operations are slow
/// nevertheless.
fn no_stall(rows: &[CellRow<'_>]) -> Text {
    let cells = rows.iter().flat_map(|row| row.entries.iter().flatten()).map(|entry| entry.figures.cell);
    longest_operation_ns(cells).map_or_else(
        || {
            text!(
                "There was no noticeable pause (0.1 s or longer).",
                "人が気付くような停滞(0.1 秒以上)はありませんでした。"
            )
        },
        |longest| words::sentence(&smooth_words(longest)),
    )
}
