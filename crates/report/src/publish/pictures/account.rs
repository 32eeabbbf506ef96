//! Time account of a modelled run: for each cell a bar of causes, as in `kurabe why`.
//!
//! The model: the causes that took the most time over all cells are separate parts, in the order of
//! the layers from the host down. The others form one part at the end. Nothing is left out, so
//! every bar is full.

use super::{Picture, View};
use crate::run::why::{CauseTime, CellTime, explain};
use kurabe_chart::{Axis, Plot, Scale, ShareRow, Shares, Unit};
use kurabe_core::{number, record::RunRecord, shown};

/// Maximum number of causes with a separate part.
const MOST_PARTS: usize = 7;

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    view.runs.iter().filter_map(|run| of_run(run, view)).collect()
}

fn of_run(run: &RunRecord, view: &View<'_>) -> Option<Picture> {
    run.header.model.as_ref()?;
    // A run without a completed operation has no account, and therefore no picture.
    let times: Vec<CellTime> = explain(run, None).ok()?.into_iter().filter_map(|why| why.time).collect();
    let parts = parts(&times);
    let row = |time: &CellTime| {
        let of = |part: &&CauseTime| {
            let fits = time.causes.iter().filter(|one| one.is_same(part));
            fits.map(|one| one.each_ns).sum::<f64>()
        };
        let mut values: Vec<f64> = parts.iter().map(of).collect();
        let rest = time.each_ns - values.iter().sum::<f64>();
        values.push(if rest > time.each_ns * 1e-9 { rest } else { 0.0 });
        let cell = view.cell(&run.cells[time.number - 1]);
        ShareRow { label: format!("{cell} ({})", number::latency(time.each_ns)), values }
    };
    let mut rows: Vec<ShareRow> = times.iter().map(row).collect();
    let name = |cause: &&CauseTime| {
        format!("{}: {}", shown::line(&cause.layer), shown::line(cause.name.get(view.lang)))
    };
    let mut names: Vec<String> = parts.iter().map(name).collect();
    match rows.iter().any(|row| row.values.last() > Some(&0.0)) {
        true => names.push(view.pick("other causes", "その他")),
        false => rows.iter_mut().for_each(|row| row.values.truncate(parts.len())),
    }
    let what = view.pick("Where the time went", "時間の内訳");
    let how = view.pick(
        "each bar is the whole time of one operation, sample or repetition, with its length beside the name",
        "棒の全長は 1 操作(サンプル、回)の時間全体。その長さは名前の横に示す",
    );
    let axis = Axis::new(view.pick("share of the time", "時間の割合"), Unit::Latency, Scale::Linear);
    let plot = Plot::Shares(Shares { parts: names, rows, axis });
    Some(view.picture("time-account", &what, &[run], vec![how], plot))
}

/// Returns the causes with the largest shares over all cells, in the order of the layers.
fn parts(times: &[CellTime]) -> Vec<&CauseTime> {
    let mut all: Vec<(&CauseTime, f64)> = Vec::new();
    for cause in times.iter().flat_map(|time| &time.causes) {
        match all.iter_mut().find(|(other, _)| other.is_same(cause)) {
            Some((_, share)) => *share += cause.share,
            None => all.push((cause, cause.share)),
        }
    }
    let mut weights: Vec<f64> = all.iter().map(|(_, share)| *share).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let least = weights.get(MOST_PARTS - 1).copied().unwrap_or(0.0);
    // The layers in the order of the cells, from the host down.
    let order = |layer: &str| all.iter().position(|(other, _)| other.layer == layer);
    let mut largest: Vec<_> = all.iter().filter(|(_, share)| *share >= least).collect();
    largest.sort_by_key(|(cause, _)| order(&cause.layer));
    largest.into_iter().take(MOST_PARTS).map(|(cause, _)| *cause).collect()
}
