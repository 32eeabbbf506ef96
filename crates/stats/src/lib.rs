//! Statistics of storage measurements: latency histograms, percentiles, figures and their intervals. Pure
//! functions; nothing here reads a clock or a file.

mod bootstrap;
mod cell;
mod compare;
mod derived;
mod figure;
mod histogram;
mod latency;
mod normal;
mod quantile;
mod rank;
mod stutter;

pub use bootstrap::{Centre, Estimate, ratio_interval};
pub use cell::{
    cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, cell_values, rate_bytes_per_s, rate_iops,
    repetition_latency, repetition_values,
};
pub use compare::{CONFIDENCE, Compared, Sides, Verdict, compare, compare_computed};
pub use derived::{derived_values, figure_in};
pub use figure::{MeanInterval, figure, mean_interval};
pub use histogram::{Histogram, bucket_width_ns};
pub use latency::{merge, percentile_ns};
pub use quantile::{QuantileInterval, quantile_interval};
pub use rank::{RankTest, holm, rank_test};
pub use stutter::{Life, ReadsBesideWrites, Stretch, Stutter, reads_beside_writes, stutter};
