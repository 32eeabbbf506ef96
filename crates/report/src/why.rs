//! Why a modelled run took as long as it did: for each cell its time by layer and cause, and what that means in words.
//!
//! The model: the accounts of a cell's counted repetitions are added up and given for one operation, one sample or one
//! repetition, whichever the cell's figure is of. Layers stand from the host down. Causes too small to matter are one
//! row. Nothing is guessed: every nanosecond of an operation has a cause, so the rows add up to its time.

mod account;
mod sentences;
mod stories;

pub use account::{CauseTime, CellTime, CountOf, Per};

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::figures::Figures;
use crate::layout::{hanging, page, tame, wrap};
use crate::style::{Role, Style};
use crate::{model, times, words};
use kurabe_core::model::ModelRecord;
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Error, ErrorKind, Lang, Result, Text, nearest, text};
use serde::Serialize;

/// Causes with a smaller share are put together.
const SMALL: f64 = 0.005;

/// Where the time of a cell went, for scripts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// Id of the run.
    pub run: String,
    /// Name of the cell's step.
    pub label: String,
    /// Name of the cell within its step.
    pub part: String,
    /// The times.
    pub time: CellTime,
    /// What they mean.
    pub sentences: Vec<Text>,
}

/// Where the time of a run's cells went; `wanted` is a cell's number from 1, or words of its name, and all cells if
/// it is not given.
///
/// # Errors
/// When the run is not of a model, or no cell is meant.
pub fn explain(record: &RunRecord, wanted: Option<&str>) -> Result<Vec<Why>> {
    let model = model_of(record)?;
    let cells = choose(record, wanted)?;
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
            let (label, part) = (cell.label.clone(), cell.part.clone());
            Why { run: record.header.id.clone(), label, part, time: time.clone(), sentences }
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

/// Where the time went, a screen for each cell.
///
/// # Errors
/// As [`explain`].
pub fn render_why(record: &RunRecord, wanted: Option<&str>, style: &Style) -> Result<String> {
    let (whys, model) = (explain(record, wanted)?, model_of(record)?);
    let mut lines = head(record, model, style);
    for why in &whys {
        lines.push(String::new());
        lines.extend(screen(record, &record.cells[why.time.number - 1], why, style));
    }
    Ok(page(&lines))
}

fn model_of(record: &RunRecord) -> Result<&ModelRecord> {
    record.header.model.as_ref().ok_or_else(|| {
        let (id, name) = (&record.header.id, record.header.profile_name());
        let again = record.header.profile.as_ref().map_or_else(
            || "kurabe run model:NAME".to_owned(),
            |_| format!("kurabe run model:NAME --profile {name}"),
        );
        Error::new(
            ErrorKind::Unsupported,
            text!(
                "run {id} was measured on a real device, which does not tell where its time goes; so far only runs of \
                 models have that",
                "測定 {id} は実機のもので、実機は時間の内訳を教えてくれません。今のところ内訳があるのはモデルの測定だけです"
            ),
        )
        .remedy(text!(
            "run the same on a model of it: {again} (kurabe models lists them)",
            "似たモデルで同じ手順を実行してください: {again} (モデルの一覧は kurabe models)"
        ))
    })
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
    let name = |lang| words::cell(&Style { lang, color: false, width: 80 }, cell);
    [name(Lang::En), name(Lang::Ja), format!("{} {}", cell.part, cell.label)]
}

/// The run and its model.
fn head(record: &RunRecord, model: &ModelRecord, style: &Style) -> Vec<String> {
    let name = format!("kurabe why {}", tame(&record.header.id));
    let items = [
        tame(record.header.target_name()),
        tame(model::headline(model).get(style.lang)),
        tame(&record.header.profile_name()),
    ];
    let mut lines = vec![style.paint(Role::Strong, &name)];
    let flowed = crate::layout::flow(&items, style.width.saturating_sub(2));
    lines.extend(hanging(flowed, 2, 2));
    lines.extend(hanging(
        crate::layout::flow(&model::facts(model, style), style.width.saturating_sub(2)),
        2,
        2,
    ));
    lines
}

fn screen(record: &RunRecord, cell: &Cell, why: &Why, style: &Style) -> Vec<String> {
    let (time, number) = (&why.time, why.time.number);
    let title = format!("{number}. {}", times::title(cell, style));
    let mut lines = vec![style.paint(Role::Strong, &crate::layout::clip(&title, style.width))];
    let facts = crate::layout::flow(&figures(record, cell, time, style), style.width.saturating_sub(2));
    lines.extend(hanging(facts, 2, 2));
    lines.extend(table(time, style));
    lines.extend(counted(time, style));
    lines.push(String::new());
    for sentence in &why.sentences {
        lines.extend(hanging(wrap(sentence.get(style.lang), style.width.saturating_sub(4)), 2, 4));
    }
    lines
}

/// The cell's figure, and the time that is taken apart.
fn figures(record: &RunRecord, cell: &Cell, time: &CellTime, style: &Style) -> Vec<String> {
    let statistic = record.header.profile.as_ref().map_or(Statistic::Mean, |profile| profile.statistic);
    let figures = Figures::of(cell, statistic);
    let mut items: Vec<String> =
        figures.main.map(|main| figures.value(main).to_string()).into_iter().collect();
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
            style.say(&text!("{amount} {name} ({layer})", "{name} {amount} ({layer})"))
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
