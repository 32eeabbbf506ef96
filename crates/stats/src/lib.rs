//! Statistics of storage measurements: latency histograms, percentiles, figures and their intervals. Pure
//! functions; nothing here reads a clock or a file.

mod array_life;
mod blocked;
mod bootstrap;
mod cell;
mod cell_figures;
mod change;
mod compare;
mod demerit;
mod derived;
mod figure;
mod firm;
mod flush;
mod forecast;
mod groups;
mod histogram;
mod kendall;
mod latency;
mod normal;
mod quantile;
mod rank;
mod relation;
mod sign_flips;
mod stutter;
mod summary;
mod trend;

pub use array_life::{ArrayLife, unreadable_share};
pub use blocked::{Blocked, Course, EQUAL_BLOCKS, FEWEST_BLOCKS, MOST_BLOCKS, is_look, judge};
pub use bootstrap::{Centre, Estimate, ratio_interval};
pub use cell::{
    CellAccount, alike, cell_account, cell_figure, cell_iops, cell_latency, cell_mean_latency_ns,
    cell_values, compared_values, is_from_memory, rate_bytes_per_s, rate_iops, repetition_latency,
    repetition_value, repetition_values, sampled,
};
pub use cell_figures::{CellFigures, FigureStatistic, run_figures};
pub use change::{
    CHANGE_PRICE, ChangePoint, Curve, CurvePoint, LEAST_ERROR, Piece, Shape, ShapeFamily, change_points,
};
pub use compare::{CONFIDENCE, Compared, Sides, Verdict, compare, compare_computed};
pub use demerit::{Demerit, MeasuredLatencies, demerit};
pub use derived::{DerivedFault, DerivedFigure, derived_figures, derived_values, figure_in};
pub use figure::{MeanInterval, figure, mean, mean_at_least, mean_interval};
pub use firm::draw_log_mean;
pub use flush::{CellFlush, FlushCall, FlushFigures, cell_flush, cell_flush_latency};
pub use forecast::{PILOT_PAIRS, smallest_difference};
pub use groups::{TwoGroups, two_groups};
pub use histogram::{Histogram, bucket_width_ns};
pub use kendall::{Drift, drift};
pub use latency::{operations_over, percentile_ns, since};
pub use quantile::{QuantileInterval, fewest_for_quantile, quantile_interval, quantile_within};
pub use rank::{RankTest, holm, is_tie, rank_test};
pub use relation::{Concordance, FittedLine, concordance, geometric_mean, harmonic_mean, line};
pub use stutter::{Life, LifePart, ReadsBesideWrites, Stutter, reads_beside_writes, stutter};
pub use summary::{Judged, SummarySides, compare_summaries, summary_half_width};
pub use trend::trend;
