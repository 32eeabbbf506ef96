//! A line for each cell of each run, with its ratio to the baseline: for spreadsheets and scripts (RFC 4180, CRLF).
//!
//! The model: every line has the same columns, in base units (bytes per second, ns, shares); what is not known is empty,
//! never 0. The baseline's own lines have no ratio. Single repetitions are in `kurabe export --format csv`.

use super::Report;
use super::rows::{CellRow, RunCell};
use kurabe_compare::{CellKey, subject};
use kurabe_core::record::{Measure, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_interop::csv_field;
use kurabe_stats::Verdict;

/// The columns.
const COLUMNS: [&str; 31] = [
    "run_id",
    "baseline_id",
    "measured_at",
    "source",
    "target",
    "device",
    "profile",
    "cell",
    "part",
    "direction",
    "block_bytes",
    "iodepth",
    "threads",
    "measure",
    "repetitions",
    "mean_rate_bytes_per_s",
    "mean_time_ns",
    "half_width_95",
    "latency_ns_p50",
    "latency_ns_p99",
    "latency_ns_p999",
    "latency_ns_max",
    "stalls_per_minute",
    "stalled_share",
    "worst_stall_ns",
    "speed_ratio",
    "speed_ratio_low_95",
    "speed_ratio_high_95",
    "p_value",
    "verdict",
    "labels",
];

impl Report<'_> {
    /// The table.
    pub fn csv(&self) -> String {
        let mut out = COLUMNS.join(",") + "\r\n";
        let rows = self.rows();
        for (place, run) in self.runs.iter().enumerate() {
            for row in &rows {
                let Some(entry) = row.entries[place].as_ref() else { continue };
                let fields: Vec<String> =
                    line(self, run, row, entry).iter().map(|field| csv_field(field)).collect();
                out.push_str(&fields.join(","));
                out.push_str("\r\n");
            }
        }
        out
    }
}

fn line(report: &Report<'_>, run: &RunRecord, row: &CellRow<'_>, entry: &RunCell<'_>) -> [String; 31] {
    let (header, cell, figures) = (&run.header, entry.cell, &entry.figures);
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
    };
    let percentile = |fraction| number(figures.percentile_ns(fraction).map(|ns| ns as f64));
    let mean = kurabe_compare::values(cell);
    let count = mean.len();
    let mean = (count > 0).then(|| mean.iter().sum::<f64>() / count as f64);
    let of = |wanted: bool| number(mean.filter(|_| (row.measure == Measure::Rate) == wanted));
    let (block_bytes, iodepth, threads) = match &row.key {
        CellKey::Io { block_bytes, iodepth, threads, .. } => {
            (block_bytes.to_string(), iodepth.to_string(), threads.to_string())
        }
        CellKey::Named { .. } => Default::default(),
    };
    let source = match (&header.model, &header.origin) {
        (Some(_), _) => "modelled",
        (None, Some(_)) => "imported",
        (None, None) => "measured",
    };
    let measure = match row.measure {
        Measure::Rate => "rate",
        Measure::AccessTime => "access_time",
        Measure::Duration => "duration",
    };
    let stutter = |of: fn(&kurabe_stats::Stutter) -> f64| number(entry.stutter.as_ref().map(of));
    let compared = entry.against.and_then(|against| against.compared.as_ref());
    let labels: Vec<String> = run.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    [
        header.id.clone(),
        report.runs[0].header.id.clone(),
        header.measured_at().to_owned(),
        source.to_owned(),
        header.target_name().to_owned(),
        subject(run).take(report.lang),
        header.profile_name(),
        cell.label.clone(),
        cell.part.clone(),
        cell.direction.map_or("", Direction::word).to_owned(),
        block_bytes,
        iodepth,
        threads,
        measure.to_owned(),
        count.to_string(),
        of(true),
        of(false),
        number(figures.mean.and_then(|mean| mean.half_width)),
        percentile(0.5),
        percentile(0.99),
        percentile(0.999),
        number((figures.latency.count > 0).then_some(figures.latency.max_ns as f64)),
        stutter(|one| one.stalls_per_minute),
        stutter(|one| one.stalled_share),
        stutter(|one| one.worst_ns as f64),
        number(compared.map(|one| one.speed.value)),
        number(compared.map(|one| one.speed.low)),
        number(compared.map(|one| one.speed.high)),
        number(compared.map(|one| one.p_value)),
        compared.map_or("", |one| verdict_word(one.verdict)).to_owned(),
        labels.join(" "),
    ]
}

/// As in JSON.
fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::NotEnough { .. } => "not_enough",
    }
}
