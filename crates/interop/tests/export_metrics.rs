//! Figures of a run for programs that monitor them over time.

use crate::export_support::{measured, on_model, printed, record, workload};
use kurabe_core::imported::{PrintedStatistic, Quantity};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{RunRecord, TargetKind};
use kurabe_core::{Lang, workload::Direction};
use kurabe_interop::{ExportFormat, export};
use serde_json::Value;

/// Returns reads of 100 and 140 MB/s, whose best and mean differ; a cell with the same name; and a cell
/// printed by a tool.
fn run() -> RunRecord {
    let reads = |label: &str| {
        measured(label, Direction::Read, workload(), &[(100_000_000, 80_000), (140_000_000, 40_000)])
    };
    let printed = printed(
        "SEQ 1 \"MiB\"",
        Direction::Write,
        &[(Quantity::Rate, PrintedStatistic::Highest, 5e8), (Quantity::Latency, PrintedStatistic::Mean, 2e6)],
    );
    record("/mnt/u\\sb", TargetKind::Directory, Statistic::Best, vec![reads("SEQ"), reads("SEQ"), printed])
}

fn text_of(record: &RunRecord, format: ExportFormat) -> String {
    export(std::slice::from_ref(record), format, Lang::En).expect("a text")
}

fn json_of(format: ExportFormat) -> Value {
    serde_json::from_str(&text_of(&run(), format)).expect("JSON")
}

#[test]
fn openmetrics_has_base_units_and_series_that_stay_the_same_from_run_to_run() {
    let text = text_of(&run(), ExportFormat::OpenMetrics);
    let first =
        r#"{source="measured",target="/mnt/u\\sb",profile="try-out",cell="0",step="SEQ",direction="read"}"#;
    for line in [
        "# TYPE kurabe_rate_bytes_per_second gauge".to_owned(),
        "# UNIT kurabe_rate_bytes_per_second bytes_per_second".to_owned(),
        format!("kurabe_rate_bytes_per_second{first} 140000000"),
        format!("kurabe_rate_mean_bytes_per_second{first} 120000000"),
        format!("kurabe_latency_mean_seconds{first} 0.00004"),
        "# TYPE kurabe_latency_seconds summary".to_owned(),
        r#"kurabe_rate_bytes_per_second{source="imported",target="/mnt/u\\sb",profile="try-out",cell="2",step="SEQ 1 \"MiB\"",direction="write"} 500000000"#.to_owned(),
    ] {
        assert!(text.lines().any(|have| have == line), "{line}\n{text}");
    }
    assert!(text.contains(r#"kurabe_run_info{run="k7","#) && text.ends_with("# EOF\n"), "{text}");
    let of_figures =
        text.lines().filter(|line| !line.starts_with(['#']) && !line.starts_with("kurabe_run_info"));
    assert!(of_figures.clone().count() > 20 && of_figures.clone().all(|line| !line.contains("k7")), "{text}");
    let mut series: Vec<&str> =
        of_figures.filter_map(|line| line.rsplit_once(' ')).map(|(name, _)| name).collect();
    series.sort_unstable();
    let all = series.len();
    series.dedup();
    assert_eq!(series.len(), all, "each series once: {text}");
    let modelled = text_of(&on_model(run()), ExportFormat::OpenMetrics);
    assert!(modelled.contains("{source=\"modelled\",target=\"model:"), "{modelled}");
}

#[test]
fn bencher_gets_the_mean_with_its_bounds_under_names_of_their_own() {
    let json = json_of(ExportFormat::Bencher);
    let names: Vec<&String> = json.as_object().expect("benchmarks").keys().collect();
    assert_eq!(names, ["imported try-out SEQ 1 \"MiB\" write", "try-out SEQ read", "try-out SEQ read #2"]);
    let rate = &json["try-out SEQ read"]["rate-bytes-per-second"];
    let [value, low, high] =
        ["value", "lower_value", "upper_value"].map(|key| rate[key].as_f64().expect("a number"));
    assert!(value == 1.2e8 && low < value && value < high, "{rate}");
    assert_eq!(json["try-out SEQ read"]["latency"]["value"], 40_000.0);
    let printed = &json["imported try-out SEQ 1 \"MiB\" write"]["rate-bytes-per-second"];
    assert_eq!(*printed, serde_json::json!({ "value": 5e8 }), "what a tool printed has no bounds");
}

#[test]
fn github_action_benchmark_gets_rates_and_times_apart() {
    for (format, first, unit, value) in [
        (ExportFormat::GithubBigger, "try-out SEQ read", "MB/s", 120.0),
        (ExportFormat::GithubSmaller, "try-out SEQ read, mean latency", "µs", 40.0),
    ] {
        let json = json_of(format);
        let entries = json.as_array().expect("entries");
        assert_eq!((&entries[0]["name"], &entries[0]["unit"]), (&first.into(), &unit.into()), "{json}");
        assert_eq!(entries[0]["value"], value, "{json}");
        let is_rate = |entry: &Value| ["MB/s", "IOPS"].contains(&entry["unit"].as_str().expect("a unit"));
        assert!(
            entries.iter().all(|entry| is_rate(entry) == (format == ExportFormat::GithubBigger)),
            "{json}"
        );
    }
    let bigger = json_of(ExportFormat::GithubBigger);
    assert!(bigger[0]["range"].as_str().is_some_and(|range| range.starts_with("± ")), "{bigger}");
}
