//! A run in one sentence: what this storage is like, what it is not fit for, what held it back, how steady and how sure.
//!
//! The model: every clause is of all cells together. The kind is what `kurabe_study` holds the run against, without cells that
//! memory answered, and without points of a sweep whose working set a drive's memory may hold: they say nothing of a device; uses are those of `kurabe_compare`, each asked of the run alone; what
//! held it back is the limit that most cells of a pattern have. A clause that nothing is known for is left out.

use crate::words::stutter::{longest_operation, smooth_words, stutter_words};
use crate::{compare::recommend::COVERED_ENOUGH, words};
use kurabe_compare::{BrokenLimit, Out, Use, fitness};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{Text, number, shown, text, workload::Direction};
use kurabe_explain::{CellLimit, LimitKind, SweepAxis, limits, swept_axis};
use kurabe_stats::{cell_figure, cell_values, is_from_memory, mean_interval, stutter};
use kurabe_study::catalogue::{Catalogue, DeviceClass};
use kurabe_study::{CellLikeness, Likeness, likeness};
use serde::Serialize;

/// Uses are said to be open to a run only if it was measured for so many: fewer say little of a disk.
const FEWEST_USES: usize = 4;
/// An interval of more than this to either side is too wide to compare by: differences that people tell of are no larger.
const ROUGH: f64 = 0.1;
/// Times that are named of a run that has no rates: the rest is in the table.
const MOST_TIMES: usize = 3;

/// A run in one sentence, and what the sentence is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assessment {
    /// The sentence.
    pub sentence: Text,
    /// The kind of device that it is held against.
    pub likeness: Option<Likeness>,
    /// The uses that it was measured for and that no limit rules out.
    pub fit: Vec<String>,
    /// The uses that it is not fit for, each with the limit that it breaks.
    pub unfit: Vec<Unfit>,
}

/// A use that a run is not fit for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unfit {
    /// The use's name.
    pub name: String,
    /// What it is.
    pub title: Text,
    /// The limit.
    pub out: Out,
}

impl Assessment {
    /// What a run comes to; `None` if nothing of it was measured, or nothing can be said.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let limits = limits(record);
        let span = |cell: &Cell| cell.workload.as_ref().map_or(0, |workload| workload.span_bytes);
        let largest = record.cells.iter().map(span).max().unwrap_or(0);
        let is_of_storage =
            |cell: &Cell| span(cell) == largest || swept_axis(record, cell) != Some(SweepAxis::WorkingSet);
        if record.cells.iter().all(is_of_storage) {
            return Self::by(record, &limits);
        }
        let cells = record.cells.iter().cloned().zip(limits).filter(|(cell, _)| is_of_storage(cell));
        let (cells, limits): (Vec<_>, Vec<_>) = cells.unzip();
        Self::by(&RunRecord { cells, ..record.clone() }, &limits)
    }

    fn by(record: &RunRecord, limits: &[CellLimit]) -> Option<Self> {
        let is_memory = |cell: usize| limits[cell].limit.kind == LimitKind::HostMemory;
        let likeness = likeness(record, Catalogue::built_in(), is_memory);
        let (fit, unfit) = uses(record);
        let clauses = [
            likeness.as_ref().map(like_words).or_else(|| figures(record)),
            use_words(record, &fit, &unfit),
            limit_words(record, limits),
            steadiness(record),
            certainty(record, limits),
        ];
        let is_told = clauses[0].is_some();
        let clauses: Vec<Text> = clauses.into_iter().flatten().collect();
        let sentence = words::sentence(&Text::clauses(clauses));
        is_told.then_some(Self { sentence, likeness, fit, unfit })
    }
}

/// Which work is as fast as such devices are, and which is not, with the figure that is furthest off.
fn like_words(likeness: &Likeness) -> Text {
    let class = words::amid(&likeness.class.name());
    let groups = [
        ((true, Direction::Read), text!("sequential reads", "シーケンシャル読み出し")),
        ((true, Direction::Write), text!("sequential writes", "シーケンシャル書き込み")),
        ((false, Direction::Read), text!("random reads", "ランダム読み出し")),
        ((false, Direction::Write), text!("random writes", "ランダム書き込み")),
    ];
    let furthest = |(group, name)| {
        let of_group = likeness.cells.iter().filter(|cell| (cell.sequential, cell.direction) == group);
        Some((name, of_group.max_by(|a, b| a.distance().abs().total_cmp(&b.distance().abs()))?))
    };
    let measured: Vec<(Text, &CellLikeness)> = groups.into_iter().filter_map(furthest).collect();
    let alike = measured.iter().filter(|(_, cell)| cell.distance() == 0.0).map(|(name, _)| name.clone());
    let off = |sign: f64| {
        let off = measured.iter().filter(|(_, cell)| cell.distance() * sign > 0.0);
        Text::list(off.map(|(name, cell)| {
            let (rate, usual) = (number::rate(cell.bytes_per_s), usual(cell));
            text!("{name} ({rate}; usual {usual})", "{name}({rate}、公表値 {usual})"; name)
        }))
    };
    let (alike, slower, faster) = (Text::list(alike), off(-1.0), off(1.0));
    if slower.is_empty() && faster.is_empty() {
        return text!("as fast as {class}", "{class}並みの速さ"; class);
    }
    // The first clause names the kind.
    let mut clauses = Vec::new();
    if !alike.is_empty() {
        clauses.push(text!("as fast as {class} in {alike}", "{alike}は{class}並み"; class, alike));
    }
    let off = [(text!("slower", "遅い"), slower, "それより"), (text!("faster", "速い"), faster, "")];
    for (how, groups, than) in off.into_iter().filter(|(_, groups, _)| !groups.is_empty()) {
        clauses.push(match clauses.is_empty() {
            true => {
                text!("{how} than {class} in {groups}", "{class}より{how}のは{groups}"; how, class, groups)
            }
            false => text!("{how} in {groups}", "{than}{how}のは{groups}"; how, groups),
        });
    }
    Text::join(clauses, ["; ", "、"])
}

/// The band of a cell: `310.0 – 560.0 MB/s`.
fn usual(cell: &CellLikeness) -> String {
    let [low, high] = [cell.band.low_bytes_per_s, cell.band.high_bytes_per_s].map(number::rate);
    if low == high { low.to_string() } else { format!("{} – {high}", low.number) }
}

/// What devices of a kind do in a cell.
pub fn usual_words(class: DeviceClass, cell: &CellLikeness) -> Text {
    let (class, usual) = (class.name(), usual(cell));
    text!("{class}: {usual}", "{class}: {usual}"; class)
}

/// The best rate of each direction; of a run without rates its first other figures.
fn figures(record: &RunRecord) -> Option<Text> {
    let statistic = record.header.statistic();
    let figure = |cell| Some((cell, cell_figure(cell, statistic).filter(|value| *value > 0.0)?));
    let cells: Vec<(&Cell, f64)> = record.cells.iter().filter_map(figure).collect();
    let best = |direction: Direction| {
        let is_meant = |cell: &Cell| cell.measure == Measure::Rate && cell.direction == Some(direction);
        let rates = cells.iter().filter(|(cell, _)| is_meant(cell));
        let (cell, rate) = rates.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((is_from_memory(cell, record.header.model.as_ref()), number::rate(*rate)))
    };
    let times = || {
        let times = cells.iter().filter(|(cell, _)| cell.measure != Measure::Rate).take(MOST_TIMES);
        times.map(|(cell, value)| {
            let (name, value) = (words::cell(cell), Text::from(number::measured(cell.measure, *value)));
            match cell.measure {
                Measure::Operations => text!("{name} at {value}", "{name}は {value}"; name, value),
                _ => text!("{name} takes {value}", "{name}は {value}"; name, value),
            }
        })
    };
    let clauses: Vec<Text> = match (best(Direction::Read), best(Direction::Write)) {
        (None, None) => times().collect(),
        (read, write) => words::present([
            read.map(|(from_memory, read)| match from_memory {
                true => text!("reads from memory at up to {read}", "メモリーからの読み出しは最大 {read}"),
                false => text!("reads at up to {read}", "読み出しは最大 {read}"),
            }),
            write.map(|(from_memory, write)| match from_memory {
                true => text!("writes into memory at up to {write}", "メモリーへの書き込みは最大 {write}"),
                false => text!("writes at up to {write}", "書き込みは最大 {write}"),
            }),
        ]),
    };
    (!clauses.is_empty()).then(|| Text::list(clauses))
}

/// The uses that a run was measured for: those that nothing rules out, and those that something does.
fn uses(record: &RunRecord) -> (Vec<String>, Vec<Unfit>) {
    let (mut fit, mut unfit) = (Vec::new(), Vec::new());
    for (Use { name, title, .. }, covered, out) in fitness(record, Use::built_in()) {
        match out {
            Some(out) => unfit.push(Unfit { name: name.clone(), title: title.clone(), out }),
            None if covered >= COVERED_ENOUGH => fit.push(name.clone()),
            None => {}
        }
    }
    (fit, unfit)
}

/// What a run is not fit for; that it is fit for all uses is said only of who was measured for enough of them, stalls included.
fn use_words(record: &RunRecord, fit: &[String], unfit: &[Unfit]) -> Option<Text> {
    let of = |is_stall: bool| {
        let is_meant = move |one: &&Unfit| matches!(one.out.broken, BrokenLimit::Stall { .. }) == is_stall;
        Text::list(unfit.iter().filter(is_meant).map(|one| one.title.clone()))
    };
    let (stalls, slow) = (of(true), of(false));
    let mut clauses = Vec::new();
    if !slow.is_empty() {
        clauses.push(text!("too slow for {slow}", "{slow}には遅すぎる"; slow));
    }
    if !stalls.is_empty() {
        clauses.push(text!("stalls too long for {stalls}", "{stalls}には停滞が長すぎる"; stalls));
    }
    let is_timed = record.cells.iter().any(|cell| cell.imported.is_none());
    if clauses.is_empty() && is_timed && fit.len() >= FEWEST_USES {
        clauses.push(text!("no use is ruled out", "不向きな用途は見当たらない"));
    }
    (!clauses.is_empty()).then(|| Text::join(clauses, [", ", "、"]))
}

/// What held sequential and random work back, where most cells of the pattern say the same.
fn limit_words(record: &RunRecord, limits: &[CellLimit]) -> Option<Text> {
    let of_pattern = |is_sequential: bool| {
        let cells = record.cells.iter().zip(limits).filter(|(cell, one)| {
            let pattern = cell.workload.as_ref().map(|workload| workload.pattern);
            let is_meant = pattern.is_some_and(|pattern| pattern.is_sequential() == is_sequential);
            is_meant && !doubts(one) && one.limit.kind != LimitKind::Unknown
        });
        let names: Vec<Text> = cells.map(|(_, one)| one.limit.name()).collect();
        let count = |name: &Text| names.iter().filter(|other| *other == name).count();
        // Of limits that as many cells have the first: cells of a profile go from the usual to the special.
        names.iter().rev().max_by_key(|name| count(name)).cloned()
    };
    match (of_pattern(true), of_pattern(false)) {
        (Some(one), Some(other)) if one == other => {
            Some(text!("held back by {one}", "ボトルネックは{one}"; one))
        }
        (Some(sequential), Some(random)) => Some(text!(
            "sequential work is held back by {sequential}, random work by {random}",
            "ボトルネックはシーケンシャルが{sequential}、ランダムが{random}"; sequential, random
        )),
        (Some(sequential), None) => Some(text!(
            "sequential work is held back by {sequential}",
            "シーケンシャルのボトルネックは{sequential}"; sequential
        )),
        (None, Some(random)) => {
            Some(text!("random work is held back by {random}", "ランダムのボトルネックは{random}"; random))
        }
        (None, None) => None,
    }
}

/// Whether a limit says that the figure is not the storage's.
fn doubts(limit: &CellLimit) -> bool {
    matches!(limit.limit.kind, LimitKind::OtherWork | LimitKind::Generator)
}

/// The worst stutter, or the longest operation; nothing of runs that cannot tell.
fn steadiness(record: &RunRecord) -> Option<Text> {
    let timed =
        |cell: &&Cell| cell.imported.is_none() && cell.measure == Measure::Rate && cell.workload.is_some();
    let measured: Vec<_> =
        record.cells.iter().filter(timed).filter_map(|cell| Some((cell, stutter(cell)?))).collect();
    let felt = measured.iter().filter_map(|(cell, one)| Some((*cell, one.worst_ns, stutter_words(one)?)));
    let felt: Vec<(&Cell, u64, Text)> = felt.collect();
    let Some((cell, _, felt_as)) = felt.iter().max_by_key(|(_, worst_ns, _)| *worst_ns) else {
        return longest_operation(measured.iter().map(|(cell, _)| *cell)).map(smooth_words);
    };
    let name = words::amid(&words::cell(cell));
    Some(match felt.len() - 1 {
        0 => text!("{name} {felt_as}", "{name}で{felt_as}"; name, felt_as),
        others => text!(
            "{name} {felt_as}, and {others} more cells stall",
            "{name}で{felt_as}、停滞した項目はほかに {others} 個"; name, felt_as
        ),
    })
}

/// How far the figures can be trusted.
fn certainty(record: &RunRecord, limits: &[CellLimit]) -> Option<Text> {
    if let Some(origin) = &record.header.origin {
        let tool = shown::line(&origin.tool);
        return Some(text!("as {tool} printed it", "{tool} の表示値による"));
    }
    if record.header.model.is_some() {
        return Some(text!("computed by a model, not measured", "モデルの計算値(実測ではない)"));
    }
    let (doubtful, cells) = (limits.iter().filter(|limit| doubts(limit)).count(), limits.len());
    if doubtful > 0 {
        return Some(text!(
            "{doubtful} of {cells} cells in doubt because something else was the limit",
            "{cells} 項目中 {doubtful} 項目は、ストレージ以外が上限で不確か"
        ));
    }
    let width = |cell| {
        let mean = mean_interval(&cell_values(cell))?;
        Some((cell, mean.half_width? / mean.mean)).filter(|(_, width)| width.is_finite())
    };
    let (cell, widest) = record.cells.iter().filter_map(width).max_by(|one, two| one.1.total_cmp(&two.1))?;
    let width = number::percent(widest);
    if widest > ROUGH {
        let name = words::cell(cell);
        return Some(
            text!("rough: {name} is known to ±{width} only", "{name}は ±{width} までしか分からない粗い値"; name),
        );
    }
    Some(text!("every figure is sure to ±{width} or better", "どの値も ±{width} 以内で確か"))
}
