//! Heat maps: throughput over block size and queue depth, of a run whose cells span both.

use super::shapes::{CellShape, distinct, families, fill_plane, shapes};
use super::sweep::{axis_words, order_word};
use super::{Picture, View};
use crate::run::figures::Figures;
use kurabe_chart::{Axis, Heat, Plot, Scale, Unit};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{number, quantity::format_bytes, text};
use kurabe_explain::SweepAxis;

const PLANE: [SweepAxis; 2] = [SweepAxis::BlockSize, SweepAxis::QueueDepth];

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    let of_run = |run: &&RunRecord| {
        let mut cells = shapes(run);
        cells.retain(|(cell, _)| cell.measure == Measure::Rate);
        families(&cells, &PLANE).iter().filter_map(|family| one(run, family, view)).collect::<Vec<_>>()
    };
    view.runs.iter().flat_map(of_run).collect()
}

/// Draws the map of cells that differ only in these two parameters, if most of it was measured.
fn one(run: &RunRecord, family: &[(&Cell, CellShape)], view: &View<'_>) -> Option<Picture> {
    let [blocks, depths] = PLANE.map(|axis| distinct(family, axis));
    if !fill_plane(family, PLANE[0], PLANE[1]) {
        return None;
    }
    let value = |block: u64, depth: u64| {
        let (cell, _) = family
            .iter()
            .find(|(_, shape)| shape.get(PLANE[0]) == Some(block) && shape.get(PLANE[1]) == Some(depth))?;
        Figures::of(cell, run.header.statistic()).drawn()
    };
    let (cell, shape) = &family[0];
    let direction = view.say(&crate::words::of_direction(cell.direction));
    let order = order_word(shape.rest.order, view);
    let what = view.say(&text!("Throughput, {order} {direction}", "速度({order}{direction})"));
    let how = view.say(&crate::words::statistic(run.header.statistic()));
    let [x_label, y_label] = PLANE.map(|axis| axis_words(axis, view));
    let row = |depth: &u64| blocks.iter().map(|block| value(*block, *depth)).collect();
    let plot = Plot::Heat(Heat {
        x_label,
        columns: blocks.iter().map(|bytes| format_bytes(*bytes)).collect(),
        y_label,
        rows: depths.iter().map(|depth| number::count(*depth)).collect(),
        values: depths.iter().map(row).collect(),
        axis: Axis::new(view.pick("Throughput", "速度"), Unit::Rate, Scale::Log),
    });
    let notes = vec![[how, view.pick("darker is faster", "濃いほど速い")].join(" · ")];
    Some(view.picture("heat", &what, &[run], notes, plot))
}
