//! What a run tells about the storage under it. Every statement names its evidence; where there is none, it says that it
//! does not know.

mod ceiling;
mod cell;
mod figures;

// Sweeps: change points, named.
mod sweep;
pub use sweep::{
    Confidence, CurveUnit, Finding, FindingName, LongWrite, SweepAxis, SweepCurve, SweepPlan, explain_sweep,
    further_steps, swept_axis,
};

// Limits: what bounded each cell.
mod limits;
mod outside;
mod probe;

pub use limits::{
    CellLimit, Limit, LimitKind, Strength, falling_writes, limits, limits_from_outside, names_cell,
};
pub use outside::seen_by_linux;
pub use probe::{PROBE, probe_steps};
