//! A cell in a few figures, as a tile of a page shows it.

use crate::run::figures::Figures;
use kurabe_core::number::{self, Figure};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure};

/// The figures of a cell, each as it is written; what the cell has not is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    /// The figure that the table of the run shows: a rate or a time.
    pub main: Option<Figure>,
    /// A rate in GB/s (10^9 bytes).
    pub gigabytes: Option<Figure>,
    /// The mean latency in µs.
    pub microseconds: Option<Figure>,
    /// Operations per second.
    pub iops: Option<Figure>,
    /// The mean latency.
    pub mean_latency: Option<Figure>,
    /// The latency that 99 of 100 operations stay below.
    pub p99_latency: Option<Figure>,
    /// `±0.4 %`, if there is an interval of the mean.
    pub interval: Option<String>,
}

impl Tile {
    /// That of a cell, whose repetitions are told by this statistic.
    pub fn of(cell: &Cell, statistic: Statistic) -> Self {
        let figures = Figures::of(cell, statistic);
        let of_rates = figures.measure == Measure::Rate;
        Self {
            main: figures.main.map(|value| figures.value(value)),
            gigabytes: figures.main.filter(|_| of_rates).map(|value| in_unit(value / 1e9, 3, "GB/s")),
            microseconds: figures.mean_latency_ns.filter(|_| of_rates).map(|ns| in_unit(ns / 1e3, 1, "µs")),
            iops: figures.rate_iops.filter(|_| of_rates).map(number::iops),
            mean_latency: figures.mean_latency_ns.filter(|_| of_rates).map(number::latency),
            p99_latency: figures
                .percentile_ns(0.99)
                .filter(|_| of_rates)
                .map(|ns| number::latency(ns as f64)),
            interval: figures.interval(),
        }
    }
}

fn in_unit(value: f64, digits: usize, unit: &'static str) -> Figure {
    Figure { number: number::fixed(value, digits), unit }
}
