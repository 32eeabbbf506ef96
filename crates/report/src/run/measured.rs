//! A run compared with a recorded device: the distance of its latencies from those measured in a
//! trace.

use crate::{Picture, publish::pictures::latencies_beside, words};
use kurabe_core::mention::{COMPARE, MEASURED};
use kurabe_core::record::{Cell, LatencyRecord, RunRecord};
use kurabe_core::{Lang, number, shown, text, workload::Direction};
use kurabe_doc::{Doc, Style, Table};
use kurabe_stats::{MeasuredLatencies, demerit, repetition_latency};
use serde::Serialize;

/// Distance of a run from the measurement, in one direction or overall.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DemeritRow {
    /// The direction. `None` for reads and writes together.
    pub direction: Option<Direction>,
    /// Operations of the trace.
    pub measured_operations: u64,
    /// Operations of the run.
    pub run_operations: u64,
    /// Mean latency of the trace, in ns.
    pub measured_mean_ns: f64,
    /// Mean latency of the run, in ns.
    pub run_mean_ns: f64,
    /// Root mean square of the distance between the two distributions, in ns.
    pub rms_ns: f64,
    /// `rms_ns` as a share of the measured mean.
    pub demerit: f64,
}

fn run_latency(run: &RunRecord, direction: Option<Direction>) -> LatencyRecord {
    let counted = run.cells.iter().flat_map(Cell::counted);
    let all: Vec<LatencyRecord> = counted.map(|one| repetition_latency(one, direction)).collect();
    LatencyRecord::together(&all)
}

/// Computes the distance of a run from the measurement, for the directions that both have.
pub fn demerits(run: &RunRecord, measured: &[MeasuredLatencies]) -> Vec<DemeritRow> {
    let row = |of: &MeasuredLatencies| {
        let latency = run_latency(run, of.direction);
        let apart = demerit(&of.latency, &latency)?;
        Some(DemeritRow {
            direction: of.direction,
            measured_operations: of.latency.count,
            run_operations: latency.count,
            measured_mean_ns: apart.measured_mean_ns,
            run_mean_ns: apart.other_mean_ns,
            rms_ns: apart.rms_ns,
            demerit: apart.share(),
        })
    };
    measured.iter().filter_map(row).collect()
}

/// Renders the comparison of a run with a trace.
pub fn render_demerits(run: &RunRecord, trace: &str, rows: &[DemeritRow], style: &Style) -> String {
    let mut doc = Doc::new();
    let (id, trace) = (shown::line(&run.header.id), shown::line(trace));
    doc.heading(1, format!("{COMPARE} {id} {MEASURED} {trace}"));
    if let Some(all) = rows.first() {
        let (share, distance) = (number::percent(all.demerit), number::latency(all.rms_ns));
        doc.gap().say(text!(
            "The latencies of the run differ from the measured ones by {share} (demerit), {distance} on \
             average",
            "この測定のレイテンシと実測値の隔たり(demerit)は {share} で、平均 {distance} です"
        ));
    }
    let table = Table::of(rows)
        .left(text!("operations", "操作"), |row| {
            row.direction.map_or_else(|| text!("all", "全体"), words::direction)
        })
        .right(text!("measured", "実測数"), |row| number::count(row.measured_operations))
        .right(text!("run", "測定数"), |row| number::count(row.run_operations))
        .right(text!("mean, measured", "平均(実測)"), |row| number::latency(row.measured_mean_ns))
        .right(text!("mean, run", "平均(測定)"), |row| number::latency(row.run_mean_ns))
        .right(text!("distance", "隔たり"), |row| number::latency(row.rms_ns))
        .right(text!("demerit", "demerit"), |row| number::percent(row.demerit));
    doc.gap().push(table.table());
    doc.gap().say(text!(
        "Demerit (Ruemmler and Wilkes 1994): root mean square of the horizontal distance between the \
         two distributions at 10,000 places, over the measured mean. 0 % means the same distribution, \
         in which single requests may still differ.",
        "demerit (Ruemmler・Wilkes 1994)は、2 つの分布の水平距離を 1 万か所で調べた二乗平均平方根を、実測の平均で割ったものです。\
         0 % なら同じ分布です。個々の要求の時間が一致するかは表しません。"
    ));
    doc.terminal(style)
}

/// Draws both distributions.
pub fn demerit_pictures(run: &RunRecord, measured: &[MeasuredLatencies], lang: Lang) -> Vec<Picture> {
    let picture = |of: &MeasuredLatencies| {
        latencies_beside(run, &run_latency(run, of.direction), &of.latency, of.direction, lang)
    };
    measured.iter().filter_map(picture).collect()
}
