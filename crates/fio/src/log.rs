//! fio's log files, with a line for each interval and direction.
//!
//! The model: the series of a cell is its only data over time, so a line is an interval, as if fio ran
//! with `log_avg_msec` set to the length of the interval: `time in ms, value, direction, 0, 0, 0`. For
//! latency, the maximum of each interval is known (`log_max_value=1`). Repetitions follow one another.

use kurabe_core::output_path::OutputPath;
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::Cell;

/// Quantity of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioLogKind {
    /// Transfer rate in KiB/s.
    Bandwidth,
    /// Operations per second.
    Operations,
    /// Latency in ns.
    Latency,
}

impl FioLogKind {
    /// The options that request each kind, and the names of its files.
    pub(crate) const ALL: [(Self, &'static str, &'static [&'static str]); 3] = [
        (Self::Bandwidth, "write_bw_log", &["bw"]),
        (Self::Operations, "write_iops_log", &["iops"]),
        (Self::Latency, "write_lat_log", &["lat", "clat"]),
    ];
}

/// A log requested by a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioLog {
    /// Logged quantity.
    pub kind: FioLogKind,
    /// Output file.
    pub file: OutputPath,
    /// Index of the job among the steps of the run.
    pub step_index: u32,
}

/// Returns the lines of a log for the cells of its job.
pub fn fio_log(log: &FioLog, cells: &[Cell]) -> String {
    let (mut lines, mut begun_ns) = (String::new(), 0u64);
    let own = cells.iter().filter(|cell| cell.step_index == log.step_index).flat_map(Cell::counted);
    for repetition in own {
        let interval_ns = repetition.series.interval_ns;
        for (interval, count) in repetition.series.intervals.iter().zip(1u64..) {
            let ends_ms = begun_ns.saturating_add(interval_ns.saturating_mul(count)) / 1_000_000;
            for (direction, (bytes, operations, worst_ns)) in [
                (interval.read_bytes, interval.read_operations, interval.read_worst_ns),
                (interval.write_bytes, interval.write_operations, interval.write_worst_ns),
                (interval.trim_bytes, interval.trim_operations, interval.trim_worst_ns),
            ]
            .into_iter()
            .enumerate()
            .filter(|(_, (_, operations, _))| *operations > 0)
            {
                let per_second =
                    |value: u64| u128::from(value) * u128::from(NS_PER_S) / u128::from(interval_ns.max(1));
                let value = match log.kind {
                    FioLogKind::Bandwidth => per_second(bytes / 1024),
                    FioLogKind::Operations => per_second(u64::from(operations)),
                    FioLogKind::Latency => u128::from(worst_ns),
                };
                lines.push_str(&format!("{ends_ms}, {value}, {direction}, 0, 0, 0\n"));
            }
        }
        begun_ns = begun_ns.saturating_add(repetition.elapsed_ns);
    }
    lines
}
