//! What a run tells about the storage under it. Every statement names its evidence; where there is none, it says that it
//! does not know.

// Sweeps: change points, named.

// Limits: what bounded each cell.
mod limits;

pub use limits::{CellLimit, Limit, LimitKind, Strength, limits, limits_from_outside};
