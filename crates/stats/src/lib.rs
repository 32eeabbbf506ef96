//! Statistics of storage measurements: latency histograms, percentiles, figures and their intervals. Pure
//! functions; nothing here reads a clock or a file.

mod cell;
mod derived;
mod figure;
mod histogram;
mod latency;

pub use cell::{
    cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, cell_values, rate_bytes_per_s, rate_iops,
    repetition_latency, repetition_values,
};
pub use derived::{derived_values, figure_in};
pub use figure::{MeanInterval, figure, mean_interval};
pub use histogram::{Histogram, bucket_width_ns};
pub use latency::{merge, percentile_ns};
