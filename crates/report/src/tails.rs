//! The slowest operations of two runs: the percentiles that differ, and in a sentence the rest.
//!
//! The model: a table of all percentiles of all cells would be longer than that of the figures and mostly say "no
//! difference"; so what differs has a row, and the others are counted.

use crate::columns::{self, Column, Cut, plain};
use crate::compare::cell_name;
use crate::layout::wrap;
use crate::style::{Role, Style};
use crate::verdict::verdict_words;
use kurabe_compare::{ComparedCell, ComparedTail, Pair, TAILS};
use kurabe_core::number;
use kurabe_core::record::Measure;
use kurabe_core::{Text, text};
use kurabe_stats::{CONFIDENCE, Verdict, fewest_for_quantile};

/// The tails of a comparison on a page of text; nothing where no cell has any.
pub(crate) fn lines(pair: &Pair, style: &Style) -> Vec<String> {
    let rows: Vec<Vec<(Role, String)>> = different(pair)
        .map(|(cell, tail)| {
            let (role, words) = verdict_words(&tail.compared, tail.count);
            vec![
                plain(format!("{} {}", cell_name(cell, style), name(tail.fraction))),
                plain(number::latency(tail.baseline_ns).to_string()),
                plain(number::latency(tail.other_ns).to_string()),
                (role, style.say(&words)),
            ]
        })
        .collect();
    let rest = rest(pair);
    if rows.is_empty() && rest.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    if !rows.is_empty() {
        let other = &pair.other;
        let heads = [
            Column::left(style.pick("slowest operations", "遅い操作")),
            Column::right(&pair.baseline),
            Column::right(&pair.other),
            Column::left(&style.say(&text!("{other} is", "{other} は"))).cut(Cut::Wrap),
        ];
        lines.extend(columns::render(&heads, &rows, 0, style));
    }
    lines.extend(rest.iter().flat_map(|words| wrap(&style.say(words), style.width)));
    lines
}

/// The same in sentences.
pub(crate) fn sentences(pair: &Pair, style: &Style) -> Vec<String> {
    let told = different(pair).map(|(cell, tail)| {
        let words = verdict_words(&tail.compared, tail.count).1;
        let [one, two] = [tail.baseline_ns, tail.other_ns].map(|ns| number::latency(ns).to_string());
        let (cell, name) = (cell_name(cell, style), name(tail.fraction));
        let (first, second) = (&pair.baseline, &pair.other);
        style.say(&Text {
            en: format!("{name} of {cell}: {first} {one}, {second} {two}; {second} is {}", words.en),
            ja: format!("{cell} の {name}: {first} {one}、{second} {two}。{second} は{}", words.ja),
        })
    });
    told.chain(rest(pair).iter().map(|words| style.say(words))).collect()
}

/// The tails that differ.
fn different(pair: &Pair) -> impl Iterator<Item = (&ComparedCell, &ComparedTail)> {
    let all = pair.cells.iter().flat_map(|cell| cell.tails.iter().map(move |tail| (cell, tail)));
    all.filter(|(_, tail)| matches!(tail.compared.verdict, Verdict::Faster | Verdict::Slower))
}

/// What there is to say of all others.
fn rest(pair: &Pair) -> Vec<Text> {
    let all = || pair.cells.iter().flat_map(|cell| &cell.tails);
    let different = different(pair).count();
    let same = all().filter(|tail| tail.compared.verdict == Verdict::Same).count();
    let open = all().count() - different - same;
    let (en, ja) = if different > 0 {
        ("The other p99 and p99.9:", "そのほかの p99 と p99.9:")
    } else {
        ("p99 and p99.9:", "p99 と p99.9:")
    };
    let told = match (same, open) {
        (0, 0) => None,
        (same, 0) => {
            Some(text!("{en} {same} without a difference that matters.", "{ja} 問題になる差なし {same} 件。"))
        }
        (0, open) => Some(text!("{en} {open} not clear yet.", "{ja} まだ判断できない {open} 件。")),
        (same, open) => Some(text!(
            "{en} {same} without a difference that matters, {open} not clear yet.",
            "{ja} 問題になる差なし {same} 件、まだ判断できない {open} 件。"
        )),
    };
    told.into_iter().chain(lacking(pair)).collect()
}

/// In how many cells percentiles are not compared, and what that would take; what lacks in the same cells in one sentence.
fn lacking(pair: &Pair) -> Vec<Text> {
    let mut found: Vec<(usize, Vec<f64>)> = Vec::new();
    for fraction in TAILS {
        let count = pair.cells.iter().filter(|cell| has_operations(cell) && lacks(cell, fraction)).count();
        match found.last_mut().filter(|(known, _)| *known == count) {
            Some((_, fractions)) => fractions.push(fraction),
            None => found.push((count, vec![fraction])),
        }
    }
    found
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .filter_map(|(count, of)| not_compared(count, &of))
        .collect()
}

fn has_operations(cell: &ComparedCell) -> bool {
    let printed = cell.baseline.printed || cell.other.printed;
    cell.measure != Measure::Duration && cell.compared.is_some() && !printed
}

fn lacks(cell: &ComparedCell, fraction: f64) -> bool {
    !cell.tails.iter().any(|tail| tail.fraction == fraction)
}

fn not_compared(count: usize, fractions: &[f64]) -> Option<Text> {
    let fewest = number::count(fewest_for_quantile(*fractions.first()?, CONFIDENCE)?);
    let names: Vec<String> = fractions.iter().map(|fraction| name(*fraction)).collect();
    let (are, plural) = (if names.len() == 1 { "is" } else { "are" }, if count == 1 { "" } else { "s" });
    let (en, ja) = (names.join(" and "), names.join(" と "));
    Some(text!(
        "{en} {are} not compared in {count} cell{plural}: that takes two repetitions of at least {fewest} operations each.",
        "{ja} を比べていない項目 {count} 件: 1 回あたり {fewest} 操作以上、2 回以上の測定が必要です。"
    ))
}

/// `p99`, `p99.9`
fn name(fraction: f64) -> String {
    let percent = (fraction * 1e4).round() / 1e2;
    format!("p{percent}")
}
