//! Findings of a sweep: where its curves change, each change with a name, the evidence and the
//! confidence.
//!
//! Every axis is a curve, split at its change points (`kurabe_stats::change_points`). A change is
//! named by its effect on the access time, its size and the kind of storage. A name is given only
//! if other explanations fit worse; otherwise it is "unknown", with a suggestion for a further
//! measurement. Before a claim is made, it is checked against the displayed points, each repetition
//! separately, and other work (`checks`). From a model, only facts are used that a real run knows
//! from its environment: the kind of storage, and its link.
//!
//! Not here: the limit of a single cell.

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

/// A curve with its findings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepCurve {
    /// The axis.
    pub axis: SweepAxis,
    /// The direction.
    pub direction: Direction,
    /// Whether offsets are sequential.
    pub sequential: bool,
    /// Unit of its values.
    pub unit: CurveUnit,
    /// Positions on the axis in ascending order, with the geometric mean of the values there.
    pub points: Vec<(f64, f64)>,
    /// Relative error of a point.
    pub error: f64,
    /// Findings in ascending order of position; findings about the whole curve come last.
    pub findings: Vec<Finding>,
}

/// Returns the curves of a run by `kurabe sweep`, with their findings. Returns none for any other
/// run.
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

/// Returns a curve with its findings, or with the finding that there are too few points.
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
            "fewer than three were measured completely; use a longer {TIME} or a larger {MAX}",
            "最後まで測れた点が 3 つ未満です。{TIME} か {MAX} を大きくすると増えます"
        ),
    )
}
