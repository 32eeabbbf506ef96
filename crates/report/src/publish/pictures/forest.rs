//! The forest plot: the speed ratio of two runs, cell by cell, with the interval that decides the
//! verdict.

use super::{Picture, View};
use crate::compare::{cell_name, verdict};
use kurabe_chart::{Chart, Forest, ForestRow, Plot, RatioVerdict};
use kurabe_compare::{ComparedCell, Pair};
use kurabe_core::{Text, number, shown, text};
use kurabe_stats::{Estimate, Verdict};

pub(super) fn picture(pair: &Pair, view: &View<'_>) -> Option<Picture> {
    let row = |cell: &ComparedCell| ForestRow {
        label: view.say(&cell_name(cell)),
        ratio: cell.compared.as_ref().and_then(|compared| drawn_ratio(&compared.speed)),
        outcome: match cell.compared.as_ref().map(|compared| compared.verdict) {
            Some(Verdict::Faster) => RatioVerdict::Better,
            Some(Verdict::Slower) => RatioVerdict::Worse,
            Some(Verdict::Same) => RatioVerdict::Same,
            Some(Verdict::NotEnough { .. }) | None => RatioVerdict::Open,
        },
        words: view.say(&verdict(cell).1),
    };
    let rows: Vec<ForestRow> = pair.cells.iter().map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let [baseline, other] = &pair.names.clone().map(|name| name.map(shown::line));
    let margin = Text::same(number::percent(pair.margin));
    let axis =
        text!("speed of {other}, {baseline} = 1", "{baseline} を 1 とした {other} の速さ"; other, baseline);
    let how = text!(
        "dot: how many times as fast; line: its 95 % interval, corrected for the number of tests; band: ±{margin}, \
         which does not matter; right of 1: {other} is faster",
        "点: 速さの比、線: 95 % 信頼区間(項目数で補正)、帯: 問題にしない ±{margin}。1 より右なら {other} が速い";
        margin, other
    );
    let title = text!("{other} against {baseline}", "{other} と {baseline}(基準)の比較"; other, baseline);
    let chart = Chart {
        title: view.say(&title),
        notes: [vec![view.say(&how)], view.provenance(view.runs)].concat(),
        plot: Plot::Forest(Forest { axis_label: view.say(&axis), rows, margin: pair.margin }),
    };
    Some(Picture { name: "forest", chart })
}

/// Limit of an interval. With few, widely scattered repetitions, its ends can be arbitrarily far
/// away.
const FARTHEST: f64 = 1e3;

/// Returns the ratio with its interval. The interval has no width for single figures, whose spread
/// is unknown.
pub(crate) fn drawn_ratio(speed: &Estimate) -> Option<(f64, f64, f64)> {
    let Estimate { value, low, high } = *speed;
    if !value.is_finite() || value <= 0.0 {
        return None;
    }
    let is_finite = low.is_finite() && high.is_finite();
    let (low, high) = (low.max(value.min(1.0 / FARTHEST)), high.min(value.max(FARTHEST)));
    Some(if is_finite { (value, low, high) } else { (value, value, value) })
}
