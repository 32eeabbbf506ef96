//! Runs side by side: which of their cells are the same, by how much they differ, and what else differed.

mod cells;
mod fairness;
mod history;
mod pair;
mod recommend;
mod turns;
mod uses;

pub use cells::{CellKey, values};
pub use fairness::{Difference, KEYS, Weight, differences};
pub use history::{History, history};
pub use pair::{ComparedCell, Pair, Side, pair};
pub use recommend::{FIRM_SHARE, Out, Part, Recommendation, Standing, recommend};
pub use turns::{Referee, Standings};
pub use uses::{Limit, USES, Use, Work};
