//! Runs in rounds: whether the device reached a steady state by both criteria, and the values over
//! the rounds.

use crate::{publish::pictures::course, words};
use kurabe_chart::Chart;
use kurabe_core::profile::{Rounds, Tracked, TrackedCell};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Text, number, shown, text, workload::Direction};
use kurabe_doc::layout::clip;
use kurabe_doc::{Doc, Paragraph, Role, Style};

/// Returns the line of a round, as in `round 7 of 25: excursion 12 % (limit …)`.
pub fn round_line(index: u32, count: u32, steady: bool, window: Option<(f64, f64)>, style: &Style) -> String {
    let number = u64::from(index) + 1;
    let round = style.say(&text!("round {number} of at most {count}", "ラウンド {number}(最大 {count})"));
    let verdict = match steady {
        true => style.pick("steady", "定常状態"),
        false => style.pick("not steady yet", "まだ定常ではありません"),
    };
    let state = match window {
        None => style.pick("too few rounds to tell", "判定にはまだ足りません").to_owned(),
        Some((excursion, slope)) => style.say(&text!(
            "{verdict} (excursion {excursion:.1} %, slope {slope:.1} %)",
            "{verdict} (変動幅 {excursion:.1} %、傾き {slope:.1} %)"
        )),
    };
    clip(&format!("{round}: {state}"), style.width)
}

/// Returns the verdict and the values over the rounds for each tracked cell. Empty for a run
/// without rounds.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    let rounds = record.header.profile.as_ref().and_then(|profile| profile.rounds.as_ref());
    let Some(rounds) = rounds else { return Doc::new() };
    let courses = rounds.tracked_cells.iter().filter_map(|tracked| {
        let is_tracked =
            |cell: &&Cell| cell.label == tracked.label && cell.direction == Some(tracked.direction);
        Some(one(record, record.cells.iter().find(is_tracked)?, tracked.direction, rounds))
    });
    courses.fold(Doc::new(), Doc::and)
}

fn one(record: &RunRecord, cell: &Cell, direction: Direction, rounds: &Rounds) -> Doc {
    let untraced = cell.repetitions.iter().filter(|repetition| repetition.kernel.is_none());
    let values: Vec<f64> = untraced.filter_map(|one| rounds.tracked_value(one, direction)).collect();
    let (name, count, window_length) = (words::cell(cell), values.len(), rounds.window);
    let (excursion_limit, slope_limit) = (rounds.excursion_percent, rounds.slope_percent);
    let (role, sentence) = match rounds.over(&values) {
        None => {
            let over = text!(
                "{count} rounds, too few to detect a steady state ({window_length} are needed)",
                "{count} ラウンドでは定常状態を判定できません({window_length} ラウンド必要)"
            );
            (Role::Warn, text!("{name}: {over}", "{name}: {over}"; name, over))
        }
        Some(window) => {
            let (excursion, slope) = (window.excursion_percent, window.slope_percent);
            let average = value(rounds.tracked, window.average);
            let over = text!(
                "over the last {window_length}: average {average}, excursion {excursion:.1} % (limit \
                 {excursion_limit} %), slope {slope:.1} % (limit {slope_limit} %)",
                "最後の {window_length} ラウンド: 平均 {average}、変動幅 {excursion:.1} % (上限 {excursion_limit} %)、傾き \
                 {slope:.1} % (上限 {slope_limit} %)"
            );
            let reached = match window.steady {
                true => text!(
                    "steady state reached in round {count}",
                    "ラウンド {count} で定常状態に達しました。"
                ),
                false => text!(
                    "no steady state after {count} rounds",
                    "{count} ラウンド終えても定常状態に達していません。"
                ),
            };
            let role = if window.steady { Role::Plain } else { Role::Warn };
            (role, text!("{name}: {reached}; {over}", "{name}: {reached}{over}"; name, reached, over))
        }
    };
    // The sentence above the chart replaces its title.
    let course = |lang| Some(Chart { title: String::new(), ..course(record, cell, lang)? });
    Doc::of(Paragraph::new(sentence).role(role).indent(0, 2)).chart_of("rounds", course).gap().done()
}

fn value(tracked: Tracked, value: f64) -> String {
    match tracked {
        Tracked::Iops => number::iops(value).to_string(),
        Tracked::Rate => number::rate(value).to_string(),
        Tracked::Latency => number::latency(value).to_string(),
    }
}

/// Returns the names of the tracked cells, for the description of a profile.
pub(crate) fn tracked_names(rounds: &Rounds) -> Vec<Text> {
    let name = |cell: &TrackedCell| words::directed(Some(cell.direction), &shown::line(&cell.label).into());
    rounds.tracked_cells.iter().map(name).collect()
}
