//! Runs in rounds: whether the device came to a steady state, by both criteria, and the course over the rounds.

use crate::layout::{clip, tame};
use crate::pictures::course;
use crate::style::{Role, Style};
use crate::words;
use kurabe_chart::Chart;
use kurabe_core::number;
use kurabe_core::profile::{Rounds, Tracked};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_core::{Text, text};

/// `round 7 of 25: excursion 12 % (limit …)`.
pub(crate) fn round_line(
    index: u32,
    count: u32,
    steady: bool,
    window: Option<(f64, f64)>,
    style: &Style,
) -> String {
    let number = u64::from(index) + 1;
    let round = style.say(&text!("round {number} of at most {count}", "ラウンド {number}(最大 {count})"));
    let state = match (window, steady) {
        (None, _) => style.pick("too few rounds to tell", "判定にはまだ足りません").to_owned(),
        (Some((excursion, slope)), steady) => {
            let verdict = match steady {
                true => style.pick("steady", "定常状態"),
                false => style.pick("not steady yet", "まだ定常ではありません"),
            };
            let figures = style.say(&text!(
                "excursion {excursion:.1} %, slope {slope:.1} %",
                "変動幅 {excursion:.1} %、傾き {slope:.1} %"
            ));
            format!("{verdict} ({figures})")
        }
    };
    clip(&format!("{round}: {state}"), style.width)
}

/// The verdict and the course of each tracked cell; none for a run without rounds.
pub(crate) fn render(record: &RunRecord, style: &Style) -> Vec<String> {
    let Some(rounds) = record.header.profile.as_ref().and_then(|profile| profile.rounds.as_ref()) else {
        return Vec::new();
    };
    rounds
        .tracked_cells
        .iter()
        .filter_map(|tracked| {
            record
                .cells
                .iter()
                .find(|cell| cell.label == tracked.label && cell.direction == Some(tracked.direction))
                .map(|cell| (cell, tracked.direction))
        })
        .flat_map(|(cell, direction)| one(record, cell, direction, rounds, style))
        .collect()
}

fn one(record: &RunRecord, cell: &Cell, direction: Direction, rounds: &Rounds, style: &Style) -> Vec<String> {
    let values: Vec<f64> = cell
        .repetitions
        .iter()
        .filter(|repetition| repetition.kernel.is_none())
        .filter_map(|repetition| rounds.tracked_value(repetition, direction))
        .collect();
    let name = style.say(&words::cell(cell));
    let count = values.len();
    let (excursion_limit, slope_limit, window_length) =
        (rounds.excursion_percent, rounds.slope_percent, rounds.window);
    let (role, sentence) = match rounds.over(&values) {
        None => (
            Role::Warn,
            text!(
                "{name}: {count} rounds, too few to tell a steady state ({window_length} are needed)",
                "{name}: {count} ラウンドでは定常状態を判定できません({window_length} ラウンド必要)"
            ),
        ),
        Some(window) => {
            let (excursion, slope) = (window.excursion_percent, window.slope_percent);
            let average = value(rounds.tracked, window.average);
            let over = text!(
                "over the last {window_length}: average {average}, excursion {excursion:.1} % (limit {excursion_limit} %), slope {slope:.1} % (limit {slope_limit} %)",
                "最後の {window_length} ラウンド: 平均 {average}、変動幅 {excursion:.1} % (上限 {excursion_limit} %)、傾き {slope:.1} % (上限 {slope_limit} %)"
            );
            let (en, ja) = (over.en, over.ja);
            match window.steady {
                true => (
                    Role::Plain,
                    text!(
                        "{name}: steady state reached in round {count}; {en}",
                        "{name}: ラウンド {count} で定常状態に達しました。{ja}"
                    ),
                ),
                false => (
                    Role::Warn,
                    text!(
                        "{name}: no steady state after {count} rounds; {en}",
                        "{name}: {count} ラウンド終えても定常状態に達していません。{ja}"
                    ),
                ),
            }
        }
    };
    let mut lines: Vec<String> = crate::layout::hanging(
        crate::layout::wrap(&style.say(&sentence), style.width.saturating_sub(2)),
        0,
        2,
    )
    .iter()
    .map(|line| style.paint(role, line))
    .collect();
    lines.extend(course(record, cell, style.lang).iter().flat_map(|chart| drawn(chart, style)));
    lines.push(String::new());
    lines
}

/// The chart without its title, which is said above it.
fn drawn(chart: &Chart, style: &Style) -> Vec<String> {
    chart.terminal(style.width, style.color).into_iter().skip(1).collect()
}

fn value(tracked: Tracked, value: f64) -> String {
    match tracked {
        Tracked::Iops => number::iops(value).to_string(),
        Tracked::Rate => number::rate(value).to_string(),
        Tracked::Latency => number::latency(value).to_string(),
    }
}

/// The names of the cells that rounds track, for the description of a profile.
pub(crate) fn tracked_names(rounds: &Rounds) -> Vec<Text> {
    rounds
        .tracked_cells
        .iter()
        .map(|cell| words::directed(Some(cell.direction), tame(&cell.label).into()))
        .collect()
}
