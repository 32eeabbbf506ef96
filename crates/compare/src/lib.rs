//! Runs side by side: their common cells, how much these differ, and what else differed.

mod digest;
mod fairness;
mod fastest;
mod fit;
mod history;
mod history_key;
mod joined;
mod key;
mod listed;
mod matched;
mod names;
mod pair;
mod pivot;
mod recommend;
mod tails;
mod uses;
mod versus;
mod write_cache;

pub use digest::{DIGESTER, digest};
pub use fairness::{
    ABOUT_LATENCY, Difference, Disturbance, Fact, FactValue, Weight, check_about, differences, facts_of,
};
pub use fastest::{Fastest, fastest};
pub use fit::{
    CacheDoubt, Fit, FitGround, FitVerdict, HostMemory, JudgedLimit, MeasuredLimit, fit_profile, host_memory,
};
pub use history::{History, history, measured_again};
pub use history_key::device_identity;
pub use key::{CellKey, CellName, TargetPart};
pub use kurabe_stats::{FEWEST_BLOCKS, MOST_BLOCKS, alike, compared_values as values};
pub use listed::{FirstFigure, ListedRun, listed};
pub use matched::Alone;
pub use names::{NAME_LABEL, names, subject};
pub use pair::{ComparedCell, Pair, Side, pair, pairs};
pub use pivot::{
    Baseline, Group, KeySource, Pivot, PivotDifference, PivotFigure, PivotKey, PivotPlace, PivotRequest,
    PivotWords, pivot,
};
pub use recommend::{
    BrokenLimit, FIRM_SHARE, Fitness, Out, Recommendation, Standing, UsePart, fitness, recommend,
    recommend_cells,
};
pub use tails::{ComparedTail, TAILS, TailOf};
pub use uses::{Bearable, LeastRate, USES, Use, UseLimit, UseWork};
pub use versus::{CellForecast, InterimResults, Referee};
pub use write_cache::{WriteCaches, cache_bytes, parameter_bytes, within_media_cache, written_bytes};
