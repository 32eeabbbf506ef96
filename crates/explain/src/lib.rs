//! Conclusions about storage from runs. Every statement names its evidence. Without evidence, the
//! answer is that the cause is unknown.

mod ceiling;
mod cell;
mod figures;

// Sweeps: named change points.
mod sweep;
pub use sweep::{
    Confidence, CurveUnit, Finding, FindingName, LongWrite, SweepAxis, SweepCurve, SweepPlan, explain_sweep,
    further_steps, swept_axis,
};

// Limits: the bottleneck of each cell.
mod limits;
mod outside;
mod probe;

pub use limits::{
    CellLimit, CountedCauses, Limit, LimitKind, Strength, counted_causes, falling_writes, limits,
    limits_from_outside, names_cell,
};
pub use outside::seen_by_linux;
pub use probe::{PROBE, probe_steps};
