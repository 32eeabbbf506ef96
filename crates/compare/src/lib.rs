//! Runs side by side: which of their cells are the same, by how much they differ, and what else differed.

mod cells;
mod fairness;
mod pair;

pub use cells::{CellKey, values};
pub use fairness::{Difference, KEYS, Weight, differences};
pub use pair::{ComparedCell, Pair, Side, pair};
