//! A line for each cell of each run, with its ratio to the baseline, for spreadsheets and scripts
//! (RFC 4180, CRLF).
//!
//! The model: every line has the same columns, in base units (bytes per second, ns, shares). An
//! unknown value is empty, never 0. The baseline's own lines have no ratio. Single repetitions are
//! in `kurabe export --format csv`.

use super::Report;
use super::rows::{CellRow, RunCell};
use crate::compare::verdict::verdict_marks;
use crate::words;
use kurabe_compare::{CellKey, subject};
use kurabe_core::record::{Measure, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_interop::{CsvColumn, csv_table};
use kurabe_stats::Compared;

/// A cell of a run.
struct ReportRow<'a> {
    report: &'a Report<'a>,
    run: &'a RunRecord,
    row: &'a CellRow<'a>,
    entry: &'a RunCell<'a>,
}

fn columns<'a>() -> [CsvColumn<ReportRow<'a>>; 32] {
    [
        ("run_id", |line| line.run.header.id.clone()),
        ("baseline_id", |line| line.report.runs[0].header.id.clone()),
        ("measured_at", |line| line.run.header.measured_at().to_owned()),
        ("source", |line| line.source().to_owned()),
        ("target", |line| line.run.header.target_name().to_owned()),
        ("device", |line| subject(line.run).take(line.report.lang)),
        ("profile", |line| line.run.header.profile_name()),
        ("cell", |line| line.entry.figures.cell.label.clone()),
        ("part", |line| line.entry.figures.cell.part.clone()),
        ("direction", |line| line.entry.figures.cell.direction.map_or("", Direction::word).to_owned()),
        ("block_bytes", |line| line.shape(0)),
        ("iodepth", |line| line.shape(1)),
        ("threads", |line| line.shape(2)),
        ("measure", |line| line.row.measure.word().to_owned()),
        ("repetitions", |line| line.entry.compared_values.to_string()),
        ("mean_rate_bytes_per_s", |line| line.mean(&[Measure::Rate])),
        ("mean_time_ns", |line| line.mean(&[Measure::AccessTime, Measure::Duration])),
        ("half_width_95", |line| number(line.entry.figures.mean.and_then(|mean| mean.half_width))),
        ("latency_ns_p50", |line| line.percentile(0.5)),
        ("latency_ns_p99", |line| line.percentile(0.99)),
        ("latency_ns_p999", |line| line.percentile(0.999)),
        ("latency_ns_max", |line| number(line.longest_ns())),
        ("stalls_per_minute", |line| number(line.entry.stutter.map(|stutter| stutter.stalls_per_minute))),
        ("stalled_share", |line| number(line.entry.stutter.map(|stutter| stutter.stalled_share))),
        ("worst_stall_ns", |line| number(line.entry.stutter.map(|stutter| stutter.worst_ns as f64))),
        ("speed_ratio", |line| number(line.compared().map(|compared| compared.speed.value))),
        ("speed_ratio_low_95", |line| number(line.compared().map(|compared| compared.speed.low))),
        ("speed_ratio_high_95", |line| number(line.compared().map(|compared| compared.speed.high))),
        ("p_value", |line| number(line.compared().map(|compared| compared.p_value))),
        ("verdict", |line| line.compared().map_or("", |one| verdict_marks(one.verdict).0).to_owned()),
        ("labels", |line| words::pairs(&line.run.labels).join(" ")),
        ("mean_operations_per_s", |line| line.mean(&[Measure::Operations])),
    ]
}

impl Report<'_> {
    /// Returns the table as CSV.
    pub fn csv(&self) -> String {
        let rows = self.rows();
        let lines = self.runs.iter().enumerate().flat_map(|(index, run)| {
            let line =
                move |row| Some(ReportRow { report: self, run, row, entry: row.entries[index].as_ref()? });
            rows.iter().filter_map(line)
        });
        csv_table(&columns(), lines)
    }
}

impl ReportRow<'_> {
    fn source(&self) -> &'static str {
        match (&self.run.header.model, &self.run.header.origin) {
            (Some(_), _) => "modelled",
            (None, Some(_)) => "imported",
            (None, None) => "measured",
        }
    }

    /// Returns block size in bytes, operations in flight or threads, by index.
    fn shape(&self, index: usize) -> String {
        match self.row.key {
            CellKey::Io { block_bytes, iodepth, threads, .. } => {
                [block_bytes, iodepth.into(), threads.into()][index].to_string()
            }
            CellKey::Named { .. } => String::new(),
        }
    }

    /// Returns the mean by which runs are compared, if the cell has one of these measures.
    fn mean(&self, measures: &[Measure]) -> String {
        number(self.entry.mean.filter(|_| measures.contains(&self.row.measure)))
    }

    fn percentile(&self, fraction: f64) -> String {
        number(self.entry.figures.percentile_ns(fraction).map(|ns| ns as f64))
    }

    fn longest_ns(&self) -> Option<f64> {
        let latency = &self.entry.figures.latency;
        (latency.count > 0).then_some(latency.max_ns as f64)
    }

    fn compared(&self) -> Option<&Compared> {
        self.entry.against?.compared.as_ref()
    }
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}
