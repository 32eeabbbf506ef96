//! Statistics of storage measurements: latency histograms, percentiles, figures and their intervals. Pure
//! functions; nothing here reads a clock or a file.

mod figure;
mod histogram;
mod latency;

pub use figure::{MeanInterval, figure, mean_interval};
pub use histogram::{Histogram, bucket_width_ns};
pub use latency::{merge, percentile_ns};
