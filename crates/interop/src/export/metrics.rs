//! Figures of a run for monitoring over time: OpenMetrics, Bencher, github-action-benchmark.
//!
//! The model: a series is named after properties that stay the same from run to run (profile, step,
//! direction), never after the run's id, which appears once separately. Each format has its own units:
//! OpenMetrics base units, Bencher nanoseconds, a chart human-readable units. If a format has bounds,
//! its value is the mean to which they belong.

use super::facts::{source, tool};
use kurabe_core::{record::RunRecord, shown, workload::Direction};
use kurabe_stats::{CellFigures, run_figures};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A metric family of OpenMetrics: name, description, and its samples with the labels that distinguish
/// them.
type Family = (&'static str, &'static str, fn(&CellFigures<'_>) -> Vec<(&'static str, Option<f64>)>);

/// Percentiles are a summary. All other families are gauges.
const PERCENTILES: &str = "kurabe_latency_seconds";
const FLUSH_PERCENTILES: &str = "kurabe_flush_seconds";

const FAMILIES: [Family; 14] = [
    ("kurabe_rate_bytes_per_second", "The figure of a test, by the profile's statistic.", |cell| {
        vec![("", cell.rate_bytes_per_s)]
    }),
    ("kurabe_rate_mean_bytes_per_second", "The mean over the repetitions.", |cell| {
        vec![("", cell.rate_mean_bytes_per_s)]
    }),
    ("kurabe_rate_interval_bytes_per_second", "The 95 % interval of the mean.", |cell| {
        bounds(cell.rate_interval_bytes_per_s)
    }),
    ("kurabe_rate_operations_per_second", "Operations, by the profile's statistic.", |cell| {
        vec![("", cell.rate_iops)]
    }),
    ("kurabe_time_seconds", "The access time or duration of a test, by the profile's statistic.", |cell| {
        vec![("", seconds(cell.time_ns))]
    }),
    ("kurabe_time_mean_seconds", "The mean over the repetitions.", |cell| {
        vec![("", seconds(cell.time_mean_ns))]
    }),
    ("kurabe_time_interval_seconds", "The 95 % interval of the mean.", |cell| {
        bounds(cell.time_interval_ns.map(|bounds| bounds.map(|ns| ns / 1e9)))
    }),
    ("kurabe_latency_mean_seconds", "The mean latency of an operation.", |cell| {
        vec![("", seconds(cell.latency_mean_ns))]
    }),
    (PERCENTILES, "Percentiles of the latency of all operations.", |cell| {
        vec![
            ("quantile=\"0.5\"", seconds(cell.latency_p50_ns)),
            ("quantile=\"0.9\"", seconds(cell.latency_p90_ns)),
            ("quantile=\"0.99\"", seconds(cell.latency_p99_ns)),
            ("quantile=\"0.999\"", seconds(cell.latency_p99_9_ns)),
            ("quantile=\"0.9999\"", seconds(cell.latency_p99_99_ns)),
        ]
    }),
    ("kurabe_latency_maximum_seconds", "The slowest operation.", |cell| {
        vec![("", seconds(cell.latency_maximum_ns))]
    }),
    (
        "kurabe_flush_mean_seconds",
        "The mean latency of a flush (fsync, fdatasync) between the writes.",
        |cell| vec![("", seconds(cell.flush.map(|flush| flush.mean_ns)))],
    ),
    (FLUSH_PERCENTILES, "Percentiles of the latency of the flushes.", |cell| {
        vec![
            ("quantile=\"0.5\"", seconds(cell.flush.map(|flush| flush.p50_ns))),
            ("quantile=\"0.99\"", seconds(cell.flush.map(|flush| flush.p99_ns))),
        ]
    }),
    ("kurabe_flush_time_ratio", "The flushes' share of the time of all operations.", |cell| {
        vec![("", cell.flush.and_then(|flush| flush.share))]
    }),
    ("kurabe_failed_operations", "Operations that failed.", |cell| {
        vec![("", Some(cell.failed_operations as f64))]
    }),
];

fn seconds(ns: Option<f64>) -> Option<f64> {
    ns.map(|ns| ns / 1e9)
}

fn bounds(interval: Option<[f64; 2]>) -> Vec<(&'static str, Option<f64>)> {
    let [low, high] = interval.map_or([None; 2], |bounds| bounds.map(Some));
    vec![("bound=\"low\"", low), ("bound=\"high\"", high)]
}

/// Writes OpenMetrics text that older parsers of Prometheus also read.
///
/// Source: <https://prometheus.io/docs/specs/om/open_metrics_spec/>.
pub(super) fn openmetrics(record: &RunRecord) -> String {
    let (header, figures) = (&record.header, run_figures(record));
    let profile = profile_name(record);
    let run = [
        ("run", header.id.as_str()),
        ("started_at", header.measured_at()),
        ("source", source(record, None)),
        ("target", header.target_name()),
        ("profile", profile),
        ("tool", &tool(record)),
    ];
    // Prometheus' own text format does not have the type `info`, so node_exporter does not support it
    // either.
    let mut out = String::from(
        "# TYPE kurabe_run_info gauge\n# HELP kurabe_run_info The run that the figures are of.\n",
    );
    out += &format!("kurabe_run_info{{{}}} 1\n", labels(&run));
    for (name, help, samples) in FAMILIES {
        let kind = if [PERCENTILES, FLUSH_PERCENTILES].contains(&name) { "summary" } else { "gauge" };
        let mut lines = String::new();
        for cell in &figures {
            let place = cell.cell_index.to_string();
            let direction = cell.direction.map_or("", Direction::word);
            let cell_labels = labels(&[
                ("source", source(record, record.cells.get(cell.cell_index))),
                ("target", header.target_name()),
                ("profile", profile),
                ("cell", &place),
                ("step", cell.label),
                ("part", own_part(cell)),
                ("direction", direction),
            ]);
            for (own, value) in samples(cell) {
                let Some(value) = value.filter(|value| value.is_finite()) else { continue };
                let comma = if own.is_empty() { "" } else { "," };
                lines += &format!("{name}{{{cell_labels}{comma}{own}}} {value}\n");
            }
        }
        if !lines.is_empty() {
            let units = ["bytes_per_second", "operations_per_second", "seconds"];
            let unit = units.iter().find(|unit| name.ends_with(*unit));
            let unit = unit.map_or(String::new(), |unit| format!("# UNIT {name} {unit}\n"));
            out += &format!("# TYPE {name} {kind}\n{unit}# HELP {name} {help}\n{lines}");
        }
    }
    out + "# EOF\n"
}

/// Returns labels without empty ones.
fn labels(labels: &[(&str, &str)]) -> String {
    let quoted = |value: &str| shown::line(value).replace('\\', "\\\\").replace('"', "\\\"");
    let labels = labels.iter().filter(|(_, value)| !value.is_empty());
    labels.map(|(name, value)| format!("{name}=\"{}\"", quoted(value))).collect::<Vec<_>>().join(",")
}

/// Returns the part of a step, if the direction does not determine it.
fn own_part<'a>(cell: &CellFigures<'a>) -> &'a str {
    if cell.part == cell.direction.map_or("", Direction::word) { "" } else { cell.part }
}

fn profile_name(record: &RunRecord) -> &str {
    record.header.profile.as_ref().map_or("", |profile| &profile.name)
}

/// Returns the cells with unique names: profile, step, part, direction, and the index in the run if
/// these are not unique.
fn named_cells(record: &RunRecord) -> Vec<(String, CellFigures<'_>)> {
    let mut names = BTreeSet::new();
    let mut cells = Vec::new();
    for cell in run_figures(record) {
        let direction = cell.direction.map_or("", Direction::word);
        // A model is named and marked as a model. The name of a measured target contains no path of
        // this machine.
        let origin = match source(record, record.cells.get(cell.cell_index)) {
            "modelled" => [record.header.target_name(), "modelled"],
            "measured" => [""; 2],
            other => [other, ""],
        };
        let words = [profile_name(record), cell.label, own_part(&cell), direction];
        let words: Vec<&str> = origin.into_iter().chain(words).filter(|word| !word.is_empty()).collect();
        let mut name = shown::line(&words.join(" "));
        if !names.insert(name.clone()) {
            name += &format!(" #{}", cell.cell_index + 1);
        }
        cells.push((name, cell));
    }
    cells
}

/// Writes the JSON format of Bencher.
///
/// Source: <https://bencher.dev/docs/reference/bencher-metric-format>. `latency` in ns and `throughput`
/// in operations per second are built-in measures of Bencher.
pub(super) fn bencher(record: &RunRecord) -> String {
    let measure = |value: Option<f64>, interval: Option<[f64; 2]>| {
        let value = value.filter(|value| value.is_finite())?;
        Some(match interval {
            Some([low, high]) => json!({ "value": value, "lower_value": low, "upper_value": high }),
            None => json!({ "value": value }),
        })
    };
    let of_cell = |cell: &CellFigures<'_>| {
        let rate = cell.rate_mean_bytes_per_s.or(cell.rate_bytes_per_s);
        let measures = [
            ("rate-bytes-per-second", measure(rate, cell.rate_interval_bytes_per_s)),
            ("throughput", measure(cell.rate_iops, None)),
            ("time-nanoseconds", measure(cell.time_mean_ns.or(cell.time_ns), cell.time_interval_ns)),
            ("latency", measure(cell.latency_mean_ns, None)),
            ("latency-p99-nanoseconds", measure(cell.latency_p99_ns, None)),
        ];
        measures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    };
    let cells = named_cells(record).into_iter().map(|(name, cell)| (name, Value::Object(of_cell(&cell))));
    format!("{:#}\n", Value::Object(cells.collect::<Map<_, _>>()))
}

/// Writes the JSON format of github-action-benchmark, for figures where higher is better
/// (`customBiggerIsBetter`) or lower is better.
///
/// Source: <https://github.com/benchmark-action/github-action-benchmark>, "Custom benchmarks".
pub(super) fn github(record: &RunRecord, bigger_is_better: bool) -> String {
    let mut entries = Vec::new();
    let mut entry = |name: String, unit: &str, value: Option<f64>, interval: Option<[f64; 2]>| {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let mut entry = json!({ "name": name, "unit": unit, "value": value });
        if let Some([low, high]) = interval {
            entry["range"] = format!("± {:.6}", (high - low) / 2.0).into();
        }
        entries.push(entry);
    };
    let (mega, micro) = (|per_s: f64| per_s / 1e6, |ns: f64| ns / 1e3);
    for (name, cell) in named_cells(record) {
        if bigger_is_better {
            let rate = cell.rate_mean_bytes_per_s.or(cell.rate_bytes_per_s);
            let interval = cell.rate_interval_bytes_per_s.map(|bounds| bounds.map(mega));
            entry(name.clone(), "MB/s", rate.map(mega), interval);
            entry(format!("{name}, operations"), "IOPS", cell.rate_iops, None);
        } else {
            let interval = cell.time_interval_ns.map(|bounds| bounds.map(micro));
            entry(name.clone(), "µs", cell.time_mean_ns.or(cell.time_ns).map(micro), interval);
            entry(format!("{name}, mean latency"), "µs", cell.latency_mean_ns.map(micro), None);
            entry(format!("{name}, p99 latency"), "µs", cell.latency_p99_ns.map(micro), None);
        }
    }
    format!("{:#}\n", Value::Array(entries))
}
