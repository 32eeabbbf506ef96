//! Why a run took as long as it did: for each cell what bounded it, with the evidence; of a modelled run its time by layer
//! and cause, and what that means in words; of a real run what the kernel tells, if it was asked.
//!
//! The model: the limit is what kurabe-explain makes of the record. The accounts of a cell's counted repetitions are added
//! up and given for one operation, one sample or one repetition, whichever the cell's figure is of. Layers stand from the
//! host down. Causes too small to matter are one row. Nothing is guessed: every nanosecond of an operation has a cause, so
//! the rows add up to its time. Many cells have a line each.

mod account;
mod brief;
mod evidence;
mod sentences;
mod stories;

pub use account::{CauseTime, CellTime, CountOf, Per};
pub(crate) use brief::is_brief;

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::figures::Figures;
use crate::layout::{hanging, page, tame, wrap};
use crate::stutter::{reads_beside_words, stutter_words};
use crate::style::{Role, Style};
use crate::{model, times, words};
use kurabe_core::model::ModelRecord;
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::split::KernelSplit;
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, text};
use kurabe_explain::{Limit, limits};
use kurabe_stats::{ReadsBesideWrites, Stutter, reads_beside_writes, stutter};
use serde::Serialize;

/// Causes with a smaller share are put together.
const SMALL: f64 = 0.005;

/// What bounded a cell and where its time went, for scripts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// Id of the run.
    pub run: String,
    /// Place of the cell in the run, from 1.
    pub number: usize,
    /// Name of the cell's step.
    pub label: String,
    /// Name of the cell within its step.
    pub part: String,
    /// What bounded it.
    pub limit: Limit,
    /// The times by cause, of a modelled run.
    pub time: Option<CellTime>,
    /// What the kernel's tracepoints told, of a real run that asked them.
    pub kernel: Option<KernelSplit>,
    /// How it stuttered, if kurabe measured it.
    pub stutter: Option<Stutter>,
    /// What its reads suffered beside writes, if the run has the same reads alone.
    pub reads_beside_writes: Option<ReadsBesideWrites>,
    /// What the times mean.
    pub sentences: Vec<Text>,
}

/// What bounded a run's cells and where their time went; `wanted` is a cell's number from 1, or words of its name, and all cells if
/// it is not given.
///
/// # Errors
/// When no cell is meant, or a modelled run has none of which an operation was completed.
pub fn explain(record: &RunRecord, wanted: Option<&str>) -> Result<Vec<Why>> {
    let cells = choose(record, wanted)?;
    let limits = limits(record);
    let of = |number: usize| limits[number - 1].limit.clone();
    let Some(model) = &record.header.model else {
        return Ok(cells
            .into_iter()
            .map(|(number, cell)| of_real(record, number, cell, of(number)))
            .collect());
    };
    let times: Vec<(&Cell, CellTime)> = choose(record, None)?
        .into_iter()
        .filter_map(|(number, cell)| Some((cell, CellTime::of(number, cell, model)?)))
        .collect();
    let wanted = |time: &CellTime| cells.iter().any(|(number, _)| *number == time.number);
    let whys: Vec<Why> = times
        .iter()
        .filter(|(_, time)| wanted(time))
        .map(|(cell, time)| {
            let mut sentences = sentences::sentences(time);
            sentences.extend(stories::turns(cell, time, &times));
            sentences.extend(stories::remainder(time));
            Why { time: Some(time.clone()), sentences, ..of_real(record, time.number, cell, of(time.number)) }
        })
        .collect();
    if whys.is_empty() {
        return Err(Error::new(
            ErrorKind::NoSuchRun,
            text!("no operation of this was completed", "完了した操作がありません"),
        )
        .remedy(text!(
            "choose another cell, or let the run go to its end",
            "別の項目を選ぶか、測定を最後まで実行してください"
        )));
    }
    Ok(whys)
}

/// What a run without a model tells of a cell.
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

/// What bounded the cells and where their time went, a screen for each, or a line each where there are many of them;
/// `headline` says what the run stood on.
///
/// # Errors
/// As [`explain`].
pub fn render_why(
    record: &RunRecord,
    headline: &Text,
    wanted: Option<&str>,
    style: &Style,
) -> Result<String> {
    let whys = explain(record, wanted)?;
    let mut lines = head(record, headline, style);
    if is_brief(whys.len()) {
        lines.push(String::new());
        lines.extend(brief::lines(record, &whys, style));
        return Ok(page(&lines));
    }
    for why in &whys {
        lines.push(String::new());
        lines.extend(screen(record, &record.cells[why.number - 1], why, style));
    }
    if let [first, _, ..] = whys.as_slice() {
        let (id, number) = (tame(&record.header.id), first.number);
        let words = text!(
            "one of these alone: kurabe why {id} --cell {number}",
            "1 項目だけ見るには: kurabe why {id} --cell {number}"
        );
        lines.push(String::new());
        lines.extend(
            wrap(words.get(style.lang), style.width).iter().map(|line| style.paint(Role::Quiet, line)),
        );
    }
    Ok(page(&lines))
}

/// The cells that are meant, with their numbers from 1.
fn choose<'a>(record: &'a RunRecord, wanted: Option<&str>) -> Result<Vec<(usize, &'a Cell)>> {
    let all = || record.cells.iter().enumerate().map(|(index, cell)| (index + 1, cell));
    let Some(wanted) = wanted else { return Ok(all().collect()) };
    if let Ok(number) = wanted.trim().parse::<usize>()
        && let Some(found) = all().find(|(place, _)| *place == number)
    {
        return Ok(vec![found]);
    }
    let words = wanted.trim().to_lowercase();
    let fits = |cell: &Cell| {
        names(cell).iter().any(|name| {
            let name = name.to_lowercase();
            words.split_whitespace().all(|word| name.contains(word))
        })
    };
    let chosen: Vec<_> = all().filter(|(_, cell)| !words.is_empty() && fits(cell)).collect();
    if chosen.is_empty() {
        let count = record.cells.len();
        let known: Vec<String> = record.cells.iter().map(|cell| names(cell)[0].clone()).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let mut remedy = nearest(wanted, &known);
        remedy.en.push_str(&format!("; or its number, 1 to {count}"));
        remedy.ja.push_str(&format!("。1 から {count} の番号でも指定できます"));
        return Err(Error::new(
            ErrorKind::Usage,
            text!("the run has no cell `{wanted}`", "この測定に `{wanted}` という項目はありません"),
        )
        .remedy(remedy));
    }
    Ok(chosen)
}

/// What a cell is called in both languages, and by formulas.
fn names(cell: &Cell) -> [String; 3] {
    let Text { en, ja } = words::cell(cell);
    [en, ja, format!("{} {}", cell.part, cell.label)]
}

/// The run, and its model if it is of one.
fn head(record: &RunRecord, headline: &Text, style: &Style) -> Vec<String> {
    let name = format!("kurabe why {}", tame(&record.header.id));
    let model: Option<&ModelRecord> = record.header.model.as_ref();
    let stood_on = model.map_or_else(|| headline.clone(), model::headline);
    let items: Vec<String> =
        [record.header.target_name(), stood_on.get(style.lang), &record.header.profile_name()]
            .into_iter()
            .filter(|item| !item.is_empty())
            .map(tame)
            .collect();
    let mut lines = vec![style.paint(Role::Strong, &name)];
    let mut flowed = crate::layout::flow(&items, style.width.saturating_sub(2));
    if let Some(model) = model {
        flowed.extend(crate::layout::flow(&model::facts(model, style), style.width.saturating_sub(2)));
    }
    lines.extend(hanging(flowed, 2, 2));
    lines
}

fn screen(record: &RunRecord, cell: &Cell, why: &Why, style: &Style) -> Vec<String> {
    let number = why.number;
    let title = format!("{number}. {}", times::title(cell, style));
    let mut lines = vec![style.paint(Role::Strong, &crate::layout::clip(&title, style.width))];
    let facts =
        crate::layout::flow(&figures(record, cell, why.time.as_ref(), style), style.width.saturating_sub(2));
    lines.extend(hanging(facts, 2, 2));
    lines.extend(evidence::limit(&why.limit, style));
    let felt = why
        .stutter
        .as_ref()
        .and_then(stutter_words)
        .map(|words| Text { en: format!("it {}", words.en), ja: words.ja });
    for told in felt.iter().chain(why.reads_beside_writes.as_ref().map(reads_beside_words).iter()) {
        lines.extend(hanging(wrap(told.get(style.lang), style.width.saturating_sub(4)), 2, 4));
    }
    lines.extend(why.kernel.iter().flat_map(|split| evidence::split(split, bar, style)));
    let Some(time) = &why.time else { return lines };
    lines.extend(table(time, style));
    lines.extend(counted(time, style));
    lines.push(String::new());
    for sentence in &why.sentences {
        lines.extend(hanging(wrap(sentence.get(style.lang), style.width.saturating_sub(4)), 2, 4));
    }
    lines
}

/// The cell's figure, and the time that is taken apart.
fn figures(record: &RunRecord, cell: &Cell, time: Option<&CellTime>, style: &Style) -> Vec<String> {
    let statistic = record.header.profile.as_ref().map_or(Statistic::Mean, |profile| profile.statistic);
    let figures = Figures::of(cell, statistic);
    let mut items: Vec<String> =
        figures.main.map(|main| figures.value(main).to_string()).into_iter().collect();
    let Some(time) = time else {
        let operations = number::count(figures.latency.count);
        let mean =
            figures.latency.mean_ns().filter(|_| figures.measure == Measure::Rate).map(number::latency);
        items.extend(mean.map(|mean| {
            style.say(&text!(
                "{operations} operations, {mean} each on average",
                "{operations} 操作、1 つあたり平均 {mean}"
            ))
        }));
        return items;
    };
    let (count, each) = (number::count(time.count), number::latency(time.each_ns));
    let plural = if time.count == 1 { "" } else { "s" };
    items.push(style.say(&match time.per {
        Per::Operation => text!("{count} operation{plural}", "{count} 操作"),
        Per::Sample => text!("{count} sample{plural}", "{count} サンプル"),
        Per::Repetition => text!("{count} repetition{plural}", "{count} 回"),
    }));
    items.push(style.say(&match time.per {
        Per::Repetition => {
            text!("{each} in operations each, on average", "1 回あたり操作に平均 {each}")
        }
        _ => text!("{each} each on average", "1 つあたり平均 {each}"),
    }));
    items
}

fn per_word(per: Per, style: &Style) -> &'static str {
    match per {
        Per::Operation => style.lang.pick("per operation", "1 操作あたり"),
        Per::Sample => style.lang.pick("per sample", "1 サンプルあたり"),
        Per::Repetition => style.lang.pick("per repetition", "1 回あたり"),
    }
}

fn table(time: &CellTime, style: &Style) -> Vec<String> {
    let heads = [
        Column::left(style.pick("layer", "層")),
        Column::left(style.pick("where the time went", "時間の行き先")).cut(Cut::Wrap),
        Column::right(per_word(time.per, style)),
        Column::right(style.pick("share", "割合")),
        Column::left("").cut(Cut::Drop),
    ];
    let bar_columns = (style.width / 4).clamp(10, 30);
    let row = |layer: &str, name: &str, ns: f64, share: f64, role: Role| -> Vec<Entry> {
        vec![
            (Role::Quiet, tame(layer)),
            (role, tame(name)),
            (role, number::latency(ns).to_string()),
            (role, number::percent(share)),
            (Role::Course, bar(share, bar_columns)),
        ]
    };
    let largest = time.by_weight().first().map(|cause| (cause.layer.clone(), cause.cause.clone()));
    let (shown, small): (Vec<&CauseTime>, Vec<&CauseTime>) =
        time.causes.iter().partition(|cause| cause.share >= SMALL);
    let mut before = "";
    let mut rows = Vec::new();
    for cause in shown {
        let layer = if before == cause.layer { "" } else { cause.layer.as_str() };
        before = &cause.layer;
        let most = largest.as_ref().is_some_and(|(layer, key)| *layer == cause.layer && *key == cause.cause);
        let role = if most { Role::Strong } else { Role::Plain };
        rows.push(row(layer, cause.name.get(style.lang), cause.each_ns, cause.share, role));
    }
    if !small.is_empty() {
        let count = small.len();
        let plural = if count == 1 { "" } else { "s" };
        let name = style.say(&text!("{count} smaller cause{plural}", "ほかの小さな要因 {count} 個"));
        let (ns, share) =
            small.iter().fold((0.0, 0.0), |(ns, share), cause| (ns + cause.each_ns, share + cause.share));
        rows.push(row("", &name, ns, share, Role::Quiet));
    }
    rows.push(vec![
        plain(""),
        plain(style.pick("in all", "合計")),
        plain(number::latency(time.each_ns).to_string()),
        plain("100 %"),
    ]);
    columns::render(&heads, &rows, 2, style)
}

/// A share as a bar, to an eighth of a column.
fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    // What is there at all is seen.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

fn counted(time: &CellTime, style: &Style) -> Vec<String> {
    let items: Vec<String> = time
        .counts
        .iter()
        .filter(|count| count.count > 0)
        .map(|count| {
            let (name, layer) = (tame(count.name.get(style.lang)), tame(&count.layer));
            let amount = amount(count.each);
            // Names are plurals, so a count stands behind them: "reads from drives: 1".
            style.say(&text!("{name}: {amount} ({layer})", "{name}: {amount} ({layer})"))
        })
        .collect();
    if items.is_empty() {
        return Vec::new();
    }
    let fields = [(per_word(time.per, style).to_owned(), items)];
    columns::fields(&fields, 2, columns::key_width(&fields), style)
}

/// A mean count with the digits that mean something.
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
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0, 10), "██████████");
        assert_eq!(bar(0.5, 10), "█████");
        assert_eq!(bar(0.06, 10), "▋");
        assert_eq!(bar(0.000_1, 10), "▏");
        assert_eq!(bar(0.0, 10), "");
    }

    #[test]
    fn counts_keep_the_digits_that_mean_something() {
        for (each, shown) in
            [(80.0, "80"), (64.72, "64.7"), (0.33, "0.33"), (1234.5, "1 234"), (0.001, "<0.01")]
        {
            assert_eq!(amount(each), shown);
        }
    }
}
