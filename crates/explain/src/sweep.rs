//! What a sweep shows: where its curves change, each change with a name, the evidence for it, and how sure that is.
//!
//! The model: every axis is a curve, cut where it changes (`kurabe_stats::change_points`). A change is named from what it
//! does to the time of an access, how large it is and on what kind of storage it was seen; names are only given where the
//! other explanations do worse, and otherwise it is "unknown", with what would tell. Every claim is held against the points
//! that are shown, each repetition by itself and what else went on (`checks`) before it is made. Nothing is taken from a model's
//! parameters but what a real run knows of its environment, too: what kind of storage it is, and its link.
//!
//! Not here: what limits a single cell.

mod checks;
mod course;
mod curves;
mod depth;
mod plan;
mod storage;
mod transfer;
mod working_set;

pub use plan::{SweepPlan, further_steps, swept_axis};

use curves::MeasuredCurve;
use kurabe_core::record::RunRecord;
use kurabe_core::workload::Direction;
use kurabe_core::{Text, text};
use serde::{Deserialize, Serialize};
use storage::Storage;

/// What is moved while all else is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepAxis {
    /// The bytes that random access covers.
    WorkingSet,
    /// The bytes of an operation.
    BlockSize,
    /// Operations in flight.
    QueueDepth,
    /// Bytes written so far.
    BytesWritten,
}

impl SweepAxis {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Self; 4] = [Self::WorkingSet, Self::BlockSize, Self::QueueDepth, Self::BytesWritten];

    /// The first part of the `id` of its steps.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::WorkingSet => "span",
            Self::BlockSize => "block",
            Self::QueueDepth => "depth",
            Self::BytesWritten => "written",
        }
    }
}

/// What the values of a curve are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveUnit {
    /// Mean time of an operation in ns.
    TimeNs,
    /// Operations per second.
    OperationsPerS,
    /// Bytes per second.
    BytesPerS,
}

/// What a change, or the whole of a curve, comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingName {
    /// The computer's own memory.
    HostCache,
    /// The memory of a drive.
    DriveCache,
    /// The memory of a RAID controller.
    ControllerCache,
    /// The part of a flash device's mapping table that it holds in memory.
    MappingCache,
    /// Memory, or a log, that takes writes.
    WriteCache,
    /// Flash that is written with one bit per cell.
    SlcCache,
    /// The cable or the bus.
    LinkCeiling,
    /// Parts that work side by side.
    Parallelism,
    /// One operation at a time, whatever is asked for.
    OneAtATime,
    /// A list that is walked from its start.
    ChainWalk,
    /// An arm that moves farther.
    SeekCurve,
    /// The unit in which a device maps or allocates.
    MappingUnit,
    /// The strip of a RAID.
    Strip,
    /// The evidence is not enough.
    Unknown,
}

/// How sure a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Nothing speaks for a name.
    None,
    /// It fits; other explanations do, too.
    Likely,
    /// The other explanations that are known do not fit.
    Firm,
}

/// A change of a curve, or what the whole of it says, with a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The axis.
    pub axis: SweepAxis,
    /// The direction.
    pub direction: Direction,
    /// Whether offsets ascend.
    pub sequential: bool,
    /// The place on the axis (bytes, or operations in flight); none if it is of the whole curve.
    pub x: Option<f64>,
    /// Lower end of where that lies.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The curve before the place, in its unit.
    pub before: f64,
    /// The curve beyond it.
    pub after: f64,
    /// Its name.
    pub name: FindingName,
    /// One sentence.
    pub text: Text,
    /// What speaks for it; of something unknown, what would tell.
    pub evidence: Text,
    /// How sure the name is.
    pub confidence: Confidence,
}

/// A curve with what it shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// All that a sweep shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SweepFindings {
    /// Its curves.
    pub curves: Vec<SweepCurve>,
}

impl SweepFindings {
    /// All findings.
    pub fn all(&self) -> impl Iterator<Item = &Finding> {
        self.curves.iter().flat_map(|curve| &curve.findings)
    }

    /// Whether the run was a sweep.
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty()
    }
}

/// What a run shows that `kurabe sweep` made; nothing of any other run.
pub fn explain_sweep(record: &RunRecord) -> SweepFindings {
    let Some(profile) = record.header.profile.as_ref().filter(|profile| profile.name == "sweep") else {
        return SweepFindings::default();
    };
    let cpus = record.header.environment.machine.cpu_count.unwrap_or(1);
    let measured: Vec<MeasuredCurve> = SweepAxis::ALL
        .into_iter()
        .flat_map(|axis| curves::of_axis(profile, &record.cells, axis, cpus))
        .collect();
    let storage = Storage::of(record).with_rates(&measured);
    SweepFindings { curves: measured.iter().map(|curve| explained(curve, &storage)).collect() }
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
            "fewer than three were measured whole; a longer --time, or a larger --max, gives more",
            "最後まで測れた点が 3 つ未満です。--time か --max を大きくすると増えます"
        ),
    )
}

/// A name with what stands behind it.
struct Named {
    name: FindingName,
    confidence: Confidence,
    text: Text,
    evidence: Text,
}

impl Named {
    /// What is seen and has no name.
    fn unknown(text: Text, evidence: Text) -> Self {
        Self { name: FindingName::Unknown, confidence: Confidence::None, text, evidence }
    }

    /// A name that fits; others do, too.
    fn likely(name: FindingName, text: Text, evidence: Text) -> Self {
        Self { name, confidence: Confidence::Likely, text, evidence }
    }

    /// As a finding of a curve. `place` is where it lies and its interval.
    fn at(
        self,
        measured: &MeasuredCurve,
        place: Option<(f64, f64, f64)>,
        before: f64,
        after: f64,
    ) -> Finding {
        let Self { name, confidence, text, evidence } = self;
        Finding {
            axis: measured.axis,
            direction: measured.direction,
            sequential: measured.sequential,
            x: place.map(|place| place.0),
            low: place.map(|place| place.1),
            high: place.map(|place| place.2),
            before,
            after,
            name,
            text,
            evidence,
            confidence,
        }
    }
}

/// A size as it is told: without figures that the measurement does not bear.
fn size(bytes: f64) -> String {
    let bytes = bytes.max(0.0) as u64;
    // Three binary digits are finer than any interval here.
    let unit = (1u64 << (63 - bytes.max(1).leading_zeros())) / 8;
    kurabe_core::quantity::format_bytes(match unit {
        0 => bytes,
        unit => (bytes + unit / 2) / unit * unit,
    })
}

/// A ratio as it is told: `1.34`, `12`.
pub(crate) fn times(ratio: f64) -> String {
    kurabe_core::number::fixed(ratio, if ratio < 9.95 { 1 } else { 0 })
}
