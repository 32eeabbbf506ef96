//! What a sweep shows: where its curves change, each change with a name, the evidence for it, and how sure that is.
//!
//! The model: every axis is a curve, cut where it changes (`kurabe_stats::change_points`). A change is named from what it
//! does to the time of an access, how large it is and on what kind of storage it was seen; names are only given where the
//! other explanations do worse, and otherwise it is "unknown", with what would tell. Every claim is held against the points
//! that are shown, each repetition by itself and what else went on (`checks`) before it is made. Nothing is taken from a model's
//! parameters but what a real run knows of its environment, too: what kind of storage it is, and its link.
//!
//! Not here: what limits a single cell.

mod axis;
mod checks;
mod course;
mod curves;
mod depth;
mod finding;
mod plan;
mod storage;
mod transfer;
mod working_set;

pub use axis::{CurveUnit, SweepAxis};
pub use finding::{Confidence, Finding, FindingName};
pub use plan::{LongWrite, SweepPlan, further_steps, swept_axis};

use curves::MeasuredCurve;
use finding::Named;
use kurabe_core::mention::{MAX, TIME};
use kurabe_core::record::RunRecord;
use kurabe_core::text;
use kurabe_core::workload::Direction;
use serde::Serialize;
use storage::Storage;

/// A curve with what it shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepCurve {
    /// The axis.
    pub axis: SweepAxis,
    /// The direction.
    pub direction: Direction,
    /// Whether offsets ascend.
    pub sequential: bool,
    /// What its values are.
    pub unit: CurveUnit,
    /// Places in ascending order, and the geometric mean of what was seen there.
    pub points: Vec<(f64, f64)>,
    /// The relative error of a point.
    pub error: f64,
    /// What it shows, in ascending order of places; what is of the whole curve comes last.
    pub findings: Vec<Finding>,
}

/// The curves of a run that `kurabe sweep` made, with what they show; none of any other run.
pub fn explain_sweep(record: &RunRecord) -> Vec<SweepCurve> {
    let Some(profile) = record.header.profile.as_ref().filter(|profile| profile.name == "sweep") else {
        return Vec::new();
    };
    let cpus = record.header.environment.machine.cpu_count.unwrap_or(1);
    let measured: Vec<MeasuredCurve> = SweepAxis::ALL
        .into_iter()
        .flat_map(|axis| curves::of_axis(profile, &record.cells, axis, cpus))
        .collect();
    let storage = Storage::of(record).with_rates(&measured);
    measured.iter().map(|curve| explained(curve, &storage)).collect()
}

/// A curve with what it shows, or that there is too little of it to show anything.
fn explained(measured: &MeasuredCurve, storage: &Storage) -> SweepCurve {
    let cut = measured.cut();
    let mut findings = match (measured.axis, &cut) {
        (_, None) => vec![too_little().at(measured, None, 0.0, 0.0)],
        (SweepAxis::WorkingSet, Some(cut)) => working_set::findings(measured, cut, storage),
        (SweepAxis::BlockSize, Some(cut)) => transfer::findings(measured, cut, storage),
        (SweepAxis::QueueDepth, Some(cut)) => depth::findings(measured, cut, storage),
        (SweepAxis::BytesWritten, Some(cut)) => course::findings(measured, cut, storage),
    };
    findings.sort_by(|a, b| a.x.unwrap_or(f64::INFINITY).total_cmp(&b.x.unwrap_or(f64::INFINITY)));
    if let Some(cut) = &cut {
        findings = checks::held(findings, measured, cut);
    }
    let (points, error) = cut.map_or((Vec::new(), 0.0), |cut| (cut.points, cut.error));
    SweepCurve {
        axis: measured.axis,
        direction: measured.direction,
        sequential: measured.sequential,
        unit: measured.unit(),
        points,
        error,
        findings,
    }
}

fn too_little() -> Named {
    Named::unknown(
        text!("too few points for a curve", "点が少なすぎて曲線になりません"),
        text!(
            "fewer than three were measured whole; a longer {TIME}, or a larger {MAX}, gives more",
            "最後まで測れた点が 3 つ未満です。{TIME} か {MAX} を大きくすると増えます"
        ),
    )
}
