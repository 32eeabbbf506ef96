//! Explanation of a run's performance: for each cell its bottleneck with the evidence. For a
//! modelled run, also the time by layer and cause with an explanation. For a real run, also the
//! kernel's trace if there is one.
//!
//! The model: kurabe-explain derives the bottleneck from the record. The accounts of a cell's
//! counted repetitions are added and given per operation, sample or repetition, depending on the
//! cell's figure. Layers are listed from the host down. Causes that are too small to matter share a
//! row. Nothing is guessed: every nanosecond of an operation has a cause, so the rows add up to its
//! time. If there are many cells, each has only one line.

mod account;
mod brief;
mod evidence;
mod movers;
mod sentences;
mod stories;

pub use account::{CauseTime, CellTime, CountOf, Per};
pub(crate) use brief::{how_sure, is_brief};
pub use movers::{card_names, mover_words};

use crate::words::stutter::{reads_beside_words, stutter_words};
use crate::{model, run::figures::Figures, run::times, words};
use kurabe_core::mention::{CELL, WHY};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{ErrorKind, Result, Text, nearest, number, shown, split::KernelSplit, text};
use kurabe_doc::{Column, Cut, Doc, Entry, Fields, Paragraph, Role, Style, Table, TableRow};
use kurabe_explain::{Limit, limits, names_cell};
use kurabe_stats::{ReadsBesideWrites, Stutter, reads_beside_writes, stutter};
use kurabe_study::Mover;
use serde::Serialize;

/// Share below which causes are combined.
const SMALL: f64 = 0.005;

/// Bottleneck and time account of a cell, for scripts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Why {
    /// Id of the run.
    pub run: String,
    /// Number of the cell in the run, from 1.
    pub number: usize,
    /// Name of the cell's step.
    pub label: String,
    /// Name of the cell within its step.
    pub part: String,
    /// The bottleneck.
    pub limit: Limit,
    /// The times by cause, for a modelled run.
    pub time: Option<CellTime>,
    /// Records of the kernel's tracepoints, for a real run that used them.
    pub kernel: Option<KernelSplit>,
    /// Stutter, if kurabe measured it.
    pub stutter: Option<Stutter>,
    /// Effect of writes on the cell's reads, if the run also measured the same reads alone.
    pub reads_beside_writes: Option<ReadsBesideWrites>,
    /// Explanation of the times.
    pub sentences: Vec<Text>,
}

/// Explains the bottleneck and the time of a run's cells. `cell` is the number of a cell, from 1,
/// or words of its name. All cells are explained if it is `None`.
///
/// # Errors
///
/// Returns an error if no cell matches, or if no matching cell of a modelled run has a completed
/// operation.
pub fn explain(record: &RunRecord, cell: Option<&str>) -> Result<Vec<Why>> {
    let cells = choose(record, cell)?;
    let limits = limits(record);
    let of = |number: usize| limits[number - 1].limit.clone();
    let Some(model) = &record.header.model else {
        let why = |(number, cell)| of_real(record, number, cell, of(number));
        return Ok(cells.into_iter().map(why).collect());
    };
    let times = (1..).zip(&record.cells);
    let times: Vec<(&Cell, CellTime)> =
        times.filter_map(|(number, cell)| Some((cell, CellTime::of(number, cell, model)?))).collect();
    let is_chosen = |time: &CellTime| cells.iter().any(|(number, _)| *number == time.number);
    let why = |(cell, time): &(&Cell, CellTime)| {
        let mut sentences = sentences::sentences(time);
        sentences.extend(stories::turns(cell, time, &times));
        sentences.extend(stories::remainder(time));
        Why { time: Some(time.clone()), sentences, ..of_real(record, time.number, cell, of(time.number)) }
    };
    let whys: Vec<Why> = times.iter().filter(|(_, time)| is_chosen(time)).map(why).collect();
    if whys.is_empty() {
        return Err(ErrorKind::NoSuchRun
            .error(text!("no operation of this test completed", "完了した操作がありません"))
            .remedy(text!(
                "choose another test, or let the run finish",
                "別の項目を選ぶか、測定を最後まで実行してください"
            )));
    }
    Ok(whys)
}

/// Explains a cell of a run without a model.
fn of_real(record: &RunRecord, number: usize, cell: &Cell, limit: Limit) -> Why {
    Why {
        run: record.header.id.clone(),
        number,
        label: cell.label.clone(),
        part: cell.part.clone(),
        limit,
        time: None,
        kernel: cell.repetitions.iter().find_map(|repetition| repetition.kernel.clone()),
        stutter: stutter(cell),
        reads_beside_writes: record.cells.iter().find_map(|alone| reads_beside_writes(alone, cell)),
        sentences: Vec::new(),
    }
}

/// Renders the bottleneck and the time of the cells, each in full, or in a line each if there are
/// many. `headline` describes the test environment.
///
/// # Errors
///
/// As [`explain`].
pub fn render_why(
    record: &RunRecord,
    headline: &Text,
    cell: Option<&str>,
    movers: &[Mover],
    style: &Style,
) -> Result<String> {
    let whys = explain(record, cell)?;
    let mut doc = head(record, headline);
    if is_brief(whys.len()) {
        doc.gap().append(brief::doc(record, &whys)).append(movers::doc(movers));
        return Ok(doc.terminal(style));
    }
    for why in &whys {
        doc.gap().append(screen(record, &record.cells[why.number - 1], why));
    }
    doc.append(movers::doc(movers));
    if let [first, _, ..] = whys.as_slice() {
        let (id, number) = (shown::line(&record.header.id), first.number);
        let words = text!(
            "a single test: {WHY} {id} {CELL} {number}",
            "1 項目だけ見るには: {WHY} {id} {CELL} {number}"
        );
        doc.gap().push(Paragraph::new(words).role(Role::Quiet));
    }
    Ok(doc.terminal(style))
}

/// Returns the cells that match a selector, with their numbers from 1.
fn choose<'a>(record: &'a RunRecord, selector: Option<&str>) -> Result<Vec<(usize, &'a Cell)>> {
    let all = || (1..).zip(&record.cells);
    let Some(selector) = selector else { return Ok(all().collect()) };
    if let Ok(number) = selector.trim().parse::<usize>()
        && let Some(cell) = all().find(|(place, _)| *place == number)
    {
        return Ok(vec![cell]);
    }
    let fits = |cell: &Cell| names(cell).iter().any(|name| names_cell(selector, name));
    let chosen: Vec<_> = all().filter(|(_, cell)| fits(cell)).collect();
    if chosen.is_empty() {
        let count = record.cells.len();
        let labels: Vec<String> = record.cells.iter().map(|cell| names(cell)[0].clone()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let number = text!("or its number, 1 to {count}", "1 から {count} の番号でも指定できます");
        let remedy = Text::clauses([nearest(selector, &labels), number]);
        return Err(ErrorKind::Usage
            .error(text!(
                "the run has no test `{selector}`",
                "この測定に `{selector}` という項目はありません"
            ))
            .remedy(remedy));
    }
    Ok(chosen)
}

/// Returns the names of a cell in both languages, and as used in formulas.
fn names(cell: &Cell) -> [String; 3] {
    let Text { en, ja, .. } = words::cell(cell);
    [en, ja, format!("{} {}", cell.part, cell.label)]
}

/// Returns the run, with its model if it has one.
fn head(record: &RunRecord, headline: &Text) -> Doc {
    let header = &record.header;
    let stood_on =
        header.model.as_ref().map_or_else(|| headline.clone(), |model| model::title_line(header, model));
    let mut items = vec![Text::same(header.target_name()), stood_on, header.profile_name().into()];
    items.retain(|item| !item.is_empty());
    let items = items.iter().map(|item| item.map(shown::line)).collect();
    Doc::new()
        .heading(1, format!("{WHY} {}", shown::line(&header.id)))
        .push(Paragraph::flow(items).indent(2, 2))
        .push_all(header.model.as_ref().map(|model| Paragraph::flow(model::facts(model)).indent(2, 2)))
        .done()
}

fn screen(record: &RunRecord, cell: &Cell, why: &Why) -> Doc {
    let (mut doc, number) = (Doc::new(), why.number);
    doc.heading(3, times::title(cell).map(|title| format!("{number}. {title}")));
    doc.push(Paragraph::flow(figures(record, cell, why.time.as_ref())).indent(2, 2));
    doc.append(evidence::limit(&why.limit));
    let felt = why.stutter.as_ref().and_then(stutter_words);
    let felt = felt.map(|felt| text!("it {felt}", "{felt}"; felt));
    let beside = why.reads_beside_writes.as_ref().map(reads_beside_words);
    doc.push_all(felt.into_iter().chain(beside).map(sentence));
    doc.append(why.kernel.iter().map(evidence::split).fold(Doc::new(), Doc::and));
    let Some(time) = &why.time else { return doc };
    doc.push(table(time)).push_all(counted(time)).gap();
    doc.push_all(why.sentences.iter().cloned().map(sentence)).done()
}

fn sentence(words: Text) -> Paragraph {
    Paragraph::new(words).indent(2, 4)
}

/// Returns the cell's figure, and the time that the account breaks down.
fn figures(record: &RunRecord, cell: &Cell, time: Option<&CellTime>) -> Vec<Text> {
    let statistic = record.header.statistic();
    let figures = Figures::of(cell, statistic);
    let mut items: Vec<Text> = figures.main_figure().map(Text::from).into_iter().collect();
    let Some(time) = time else {
        let operations = number::count(figures.latency.count);
        let mean = figures.latency.mean_ns().filter(|_| cell.measure.higher_is_better()).map(number::latency);
        items.extend(mean.map(|mean| {
            text!(
                "{operations} operations, {mean} each on average",
                "{operations} 操作、1 つあたり平均 {mean}"
            )
        }));
        return items;
    };
    let (count, each) = (number::count(time.count), number::latency(time.each_ns));
    let plural = if time.count == 1 { "" } else { "s" };
    let average = text!("{each} each on average", "1 つあたり平均 {each}");
    items.extend(match time.per {
        Per::Operation => [text!("{count} operation{plural}", "{count} 操作"), average],
        Per::Sample => [text!("{count} sample{plural}", "{count} サンプル"), average],
        Per::Repetition => [
            text!("{count} repetition{plural}", "{count} 回"),
            text!("{each} in operations each, on average", "1 回あたり操作に平均 {each}"),
        ],
    });
    items
}

fn per_word(per: Per) -> Text {
    match per {
        Per::Operation => text!("per operation", "1 操作あたり"),
        Per::Sample => text!("per sample", "1 サンプルあたり"),
        Per::Repetition => text!("per repetition", "1 回あたり"),
    }
}

fn table(time: &CellTime) -> Table {
    let columns = [
        Column::left(text!("layer", "層")),
        Column::left(text!("where the time went", "時間の行き先")).cut(Cut::Wrap),
        Column::right(per_word(time.per)),
        Column::right(text!("share", "割合")),
        Column::untitled().cut(Cut::Drop),
    ];
    let row = |layer: &str, name: Text, ns: f64, share: f64, role: Role| -> TableRow {
        [
            Entry::new(Role::Quiet, shown::line(layer)),
            Entry::new(role, name.map(shown::line)),
            Entry::new(role, number::latency(ns)),
            Entry::new(role, number::percent(share)),
            Entry::bar(share, 4, (10, 30)),
        ]
        .into()
    };
    let by_weight = time.by_weight();
    let (shown, small): (Vec<&CauseTime>, Vec<&CauseTime>) =
        time.causes.iter().partition(|cause| cause.share >= SMALL);
    let mut before = "";
    let mut rows = Vec::new();
    for cause in shown {
        let layer = if before == cause.layer { "" } else { cause.layer.as_str() };
        before = &cause.layer;
        let role = if by_weight[0].is_same(cause) { Role::Strong } else { Role::Plain };
        rows.push(row(layer, cause.name.clone(), cause.each_ns, cause.share, role));
    }
    if !small.is_empty() {
        let count = small.len();
        let plural = if count == 1 { "" } else { "s" };
        let name = text!("{count} smaller cause{plural}", "ほかの小さな要因 {count} 個");
        let (ns, share) =
            small.iter().fold((0.0, 0.0), |(ns, share), cause| (ns + cause.each_ns, share + cause.share));
        rows.push(row("", name, ns, share, Role::Quiet));
    }
    let (all, whole) = (text!("in all", "合計"), number::latency(time.each_ns));
    rows.push([Entry::default(), all.into(), whole.into(), Text::same("100 %").into()].into());
    Table::new(columns, rows).indent(2)
}

/// Returns the counters of the layers.
fn counted(time: &CellTime) -> Option<Fields> {
    let item = |count: &CountOf| {
        let (layer, amount) = (shown::line(&count.layer), amount(count.each));
        // The names are plural, so the count follows: "reads from drives: 1".
        count.name.map(|name| format!("{}: {amount} ({layer})", shown::line(name)))
    };
    let items: Vec<Text> = time.counts.iter().filter(|count| count.count > 0).map(item).collect();
    (!items.is_empty()).then(|| Fields::from(vec![(per_word(time.per), items)]))
}

/// Formats a mean count with its meaningful digits.
fn amount(each: f64) -> String {
    match each {
        each if each >= 99.95 || (each >= 1.0 && each.fract() == 0.0) => number::whole(each),
        each if each >= 9.995 => format!("{each:.1}"),
        each if each >= 0.01 => format!("{each:.2}"),
        _ => "<0.01".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keep_the_digits_that_mean_something() {
        for (each, shown) in
            [(80.0, "80"), (64.72, "64.7"), (0.33, "0.33"), (1234.5, "1,234"), (0.001, "<0.01")]
        {
            assert_eq!(amount(each), shown);
        }
    }
}
