//! Latencies of two runs: the percentiles that differ, and in a sentence the rest.
//!
//! The model: a table of all percentiles of all cells would be longer than the table of figures and
//! mostly repeat it. Therefore a percentile has a row only if it differs and the figure of its cell
//! does not differ as much. The others are counted. Separate flushes always have rows.

use crate::compare::verdict::verdict_words;
use crate::compare::{cell_name, columns};
use kurabe_compare::{ABOUT_LATENCY, ComparedCell, ComparedTail, Pair, TAILS, TailOf};
use kurabe_core::{Text, number, record::Measure, text};
use kurabe_doc::{Doc, Entry, Table, TableRow};
use kurabe_stats::{CONFIDENCE, Verdict, fewest_for_quantile};

/// Returns the percentiles of a comparison: those that differ, or all if latency is asked about.
pub(crate) fn doc(pair: &Pair, about: &[String]) -> Doc {
    let is_asked = about.iter().any(|word| word == ABOUT_LATENCY);
    let shown: Vec<_> = if is_asked { all(pair).collect() } else { different(pair).collect() };
    let rows: Vec<TableRow> = shown.into_iter().map(row).collect();
    let flushes: Vec<TableRow> = of(pair, TailOf::Flushes).map(row).collect();
    let rest = if is_asked { lacking(pair) } else { rest(pair) };
    let mut doc = Doc::new();
    if !flushes.is_empty() {
        doc.gap().push(Table::new(columns(text!("flushes", "フラッシュ"), pair), flushes).stacks());
    }
    if rows.is_empty() && rest.is_empty() {
        return doc;
    }
    doc.gap();
    if !rows.is_empty() {
        doc.push(
            Table::new(columns(text!("latency percentiles", "レイテンシのパーセンタイル"), pair), rows)
                .stacks(),
        );
    }
    doc.say_all(rest).done()
}

fn row((cell, tail): (&ComparedCell, &ComparedTail)) -> TableRow {
    let name = cell_name(cell).map(|cell| format!("{cell} {}", name(tail.fraction)));
    let [baseline, other] = [tail.baseline_ns, tail.other_ns].map(|ns| number::latency(ns).into());
    [name.into(), baseline, other, Entry::of(verdict_words(&tail.compared))].into()
}

/// Returns the percentiles that differ, as sentences.
pub(crate) fn sentences(pair: &Pair) -> Vec<Text> {
    let sentence = |(cell, tail): (&ComparedCell, &ComparedTail)| {
        let verdict = verdict_words(&tail.compared).1;
        let [one, two] = [tail.baseline_ns, tail.other_ns].map(|ns| Text::from(number::latency(ns)));
        let (cell, name) = (cell_name(cell), Text::same(name(tail.fraction)));
        let [first, second] = &pair.names;
        text!(
            "{name} of {cell}: {first} {one}, {second} {two}; {second} is {verdict}",
            "{cell} の {name}: {first} {one}、{second} {two}。{second} は{verdict}";
            name, cell, first, one, second, two, verdict
        )
    };
    different(pair).map(sentence).chain(rest(pair)).collect()
}

/// Returns the percentiles that differ from one run to the other, and differently from the figure
/// of their cell.
fn different(pair: &Pair) -> impl Iterator<Item = (&ComparedCell, &ComparedTail)> {
    all(pair).filter(|(cell, tail)| differs(tail) && !as_the_figure(cell, tail, pair.margin))
}

/// Returns the percentiles of reads and writes.
fn all(pair: &Pair) -> impl Iterator<Item = (&ComparedCell, &ComparedTail)> {
    of(pair, TailOf::Operations)
}

fn of(pair: &Pair, tail_of: TailOf) -> impl Iterator<Item = (&ComparedCell, &ComparedTail)> {
    let all = pair.cells.iter().flat_map(|cell| cell.tails.iter().map(move |tail| (cell, tail)));
    all.filter(move |(_, tail)| tail.of == tail_of)
}

fn differs(tail: &ComparedTail) -> bool {
    matches!(tail.compared.verdict, Verdict::Faster | Verdict::Slower)
}

/// Checks whether a percentile repeats the figure of its cell: it has the same verdict, and its
/// ratio is within the margin of the figure's ratio.
fn as_the_figure(cell: &ComparedCell, tail: &ComparedTail, margin: f64) -> bool {
    cell.compared.is_some_and(|compared| {
        let apart = (tail.compared.speed.value / compared.speed.value).ln().abs();
        compared.verdict == tail.compared.verdict && apart <= (1.0 + margin).ln()
    })
}

/// Summarizes the percentiles that have no row.
fn rest(pair: &Pair) -> Vec<Text> {
    let count = |counts: &dyn Fn(&ComparedTail) -> bool| all(pair).filter(|(_, tail)| counts(tail)).count();
    let shown = different(pair).count();
    let alike = count(&differs) - shown;
    let same = count(&|tail| tail.compared.verdict == Verdict::Same);
    let open = count(&|tail| matches!(tail.compared.verdict, Verdict::NotEnough { .. }));
    let as_above =
        if alike == 1 { "differs as the figure above does" } else { "differ as the figures above do" };
    let counts = [
        (alike, text!("{alike} {as_above}", "上の値と同程度の差 {alike} 件")),
        (same, text!("{same} without a difference that matters", "問題になる差なし {same} 件")),
        (open, text!("{open} not clear yet", "まだ判断できない {open} 件")),
    ];
    let others: Vec<Text> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    let is_empty = others.is_empty();
    let others = Text::list(others);
    let words = match shown {
        0 => text!("p50, p99 and p99.9: {others}.", "p50、p99、p99.9: {others}。"; others),
        _ => {
            text!("The other p50, p99 and p99.9: {others}.", "そのほかの p50、p99、p99.9: {others}。"; others)
        }
    };
    Some(words).filter(|_| !is_empty).into_iter().chain(lacking(pair)).collect()
}

/// Counts the cells whose percentiles aren't compared, and says how many operations they need.
/// Cells that lack the same percentiles share a sentence. Interleaved runs are skipped because
/// their repetitions are short on purpose.
fn lacking(pair: &Pair) -> Vec<Text> {
    if pair.versus.is_some() {
        return Vec::new();
    }
    let mut counts: Vec<(usize, Vec<f64>)> = Vec::new();
    for fraction in TAILS {
        let lacks = |cell: &&ComparedCell| {
            !cell.tails.iter().any(|tail| tail.of == TailOf::Operations && tail.fraction == fraction)
        };
        let count = pair.cells.iter().filter(|cell| has_operations(cell)).filter(lacks).count();
        match counts.last_mut().filter(|(last, _)| *last == count) {
            Some((_, fractions)) => fractions.push(fraction),
            None => counts.push((count, vec![fraction])),
        }
    }
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.filter_map(|(count, of)| not_compared(count, &of)).collect()
}

fn has_operations(cell: &ComparedCell) -> bool {
    let printed = cell.baseline.printed || cell.other.printed;
    cell.name.measure != Measure::Duration && cell.compared.is_some() && !printed
}

fn not_compared(count: usize, fractions: &[f64]) -> Option<Text> {
    let fewest = number::count(fewest_for_quantile(*fractions.first()?, CONFIDENCE)?);
    let names: Vec<String> = fractions.iter().map(|fraction| name(*fraction)).collect();
    let (are, plural) = (if names.len() == 1 { "is" } else { "are" }, if count == 1 { "" } else { "s" });
    let (en, ja) = (names.join(" and "), names.join(" と "));
    Some(text!(
        "{en} {are} not compared in {count} test{plural}: that takes two repetitions of at least \
         {fewest} operations each.",
        "{ja} を比べていない項目 {count} 件: 1 回あたり {fewest} 操作以上、2 回以上の測定が必要です。"
    ))
}

/// Returns the name of a percentile: `p99`, `p99.9`.
fn name(fraction: f64) -> String {
    let percent = (fraction * 1e4).round() / 1e2;
    format!("p{percent}")
}
