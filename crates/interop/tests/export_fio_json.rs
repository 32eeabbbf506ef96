//! fio's layout of results: kurabe reads back what it wrote, and every key that fio writes exists.

use crate::export_support::{cell, record, workload};
use kurabe_core::Lang;
use kurabe_core::imported::{FigureOf, PrintedFigure};
use kurabe_core::record::{Interval, LatencyRecord, OpsRecord, Repetition, RunRecord, Series, TargetKind};
use kurabe_core::{profile::Statistic, workload::Direction};
use kurabe_interop::{ExportFormat, export, import};
use kurabe_testkit::needs::skip;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Returns a second of 1,000 reads of 4 KiB, a hundred of which took 4 ms and the others 1 ms.
fn run() -> RunRecord {
    let latency = LatencyRecord {
        count: 1000,
        min_ns: 1_000_000,
        max_ns: 4_000_000,
        sum_ns: 1_300_000_000,
        buckets: vec![(1_000_000, 900), (3_997_696, 100)],
    };
    let read = OpsRecord { submitted: 1000, completed: 1000, failed: 0, bytes: 4_096_000, latency };
    let interval = Interval { read_bytes: 409_600, read_operations: 100, ..Interval::default() };
    let repetition = Repetition {
        elapsed_ns: 1_000_000_000,
        read,
        series: Series { interval_ns: 100_000_000, intervals: vec![interval; 10] },
        ..Repetition::default()
    };
    let mut reads = cell("RND 4 KiB Q8 T1 · db reads", Direction::Read, workload());
    reads.repetitions = vec![repetition];
    record("/tmp", TargetKind::Directory, Statistic::Mean, vec![reads])
}

fn document() -> (String, Value) {
    let text = export(&[run()], ExportFormat::FioJson, Lang::En).expect("JSON");
    let document = serde_json::from_str(&text).expect("JSON");
    (text, document)
}

#[test]
fn figures_stand_where_readers_of_fio_look() {
    let (_, document) = document();
    let job = &document["jobs"][0];
    assert_eq!((&job["jobname"], &job["job options"]["iodepth"]), (&"db reads".into(), &"1".into()));
    let read = &job["read"];
    assert_eq!(
        (&read["iops"], &read["bw"], &read["io_bytes"]),
        (&1000.0.into(), &4000.into(), &4_096_000.into())
    );
    assert_eq!((&read["lat_ns"]["mean"], &read["clat_ns"]["N"]), (&1_300_000.0.into(), &1000.into()));
    let percentiles = &read["clat_ns"]["percentile"];
    let near = |name: &str| percentiles[name].as_f64().expect("a percentile") / 1e6;
    assert!(
        (near("50.000000") - 1.0).abs() < 0.01 && (near("99.000000") - 4.0).abs() < 0.04,
        "{percentiles}"
    );
    assert_eq!((&read["bw_samples"], &read["bw_mean"]), (&10.into(), &4000.0.into()));
    assert_eq!((&job["latency_ms"]["2"], &job["latency_ms"]["4"]), (&90.0.into(), &10.0.into()));
    assert_eq!(job["write"]["total_ios"], 0);
}

#[test]
fn the_terse_line_has_fios_fields() {
    let line = export(&[run()], ExportFormat::FioTerse, Lang::En).expect("a line");
    let fields: Vec<&str> = line.trim_end().split(';').collect();
    // Scripts read the rates by their positions.
    assert_eq!(
        (fields[2], fields[6], fields[7], fields[47], fields[48]),
        ("db reads", "4000", "1000", "0", "0")
    );
    assert!(fields.iter().any(|field| field.starts_with("50.000000%=100")), "{line}");
    let words =
        ["--name=a", "--rw=randread", "--bs=4k", "--size=1m", "--output-format=terse", "--terse-version=3"];
    let dir = tempfile::tempdir().expect("a directory");
    let Ok(output) = Command::new("fio").args(words).current_dir(dir.path()).output() else {
        return skip("fio is not installed");
    };
    let by_fio = String::from_utf8_lossy(&output.stdout);
    let of_fio: Vec<&str> = by_fio.trim_end().split(';').collect();
    // After them, fio prints statistics of the disks.
    assert!(
        of_fio.len() >= fields.len() && fields.len() == 121,
        "{} of {}: {by_fio}",
        fields.len(),
        of_fio.len()
    );
    assert!(of_fio[17].starts_with("1.000000%=") && fields[17].starts_with("1.000000%="), "{by_fio}");
}

#[test]
fn what_is_written_is_read_again() {
    let (text, _) = document();
    let runs = import("fio.json", text.as_bytes()).expect("fio's JSON");
    let [run] = runs.as_slice() else { panic!("one run") };
    let imported = run.cells[0].imported.as_ref().expect("an imported cell");
    let is_total = |figure: &PrintedFigure| figure.of == Some(FigureOf::TotalLatency);
    assert!(imported.figures.iter().any(is_total), "{imported:?}");
    assert_eq!(run.cells[0].direction, Some(Direction::Read));
}

#[test]
fn every_key_of_fio_is_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let words = ["--name=a", "--rw=randread", "--bs=4k", "--size=1m", "--output-format=json"];
    let Ok(output) = Command::new("fio").args(words).current_dir(dir.path()).output() else {
        return skip("fio is not installed");
    };
    let by_fio: Value = serde_json::from_slice(&output.stdout).expect("fio's JSON");
    let (_, document) = document();
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    for path in
        ["/jobs/0", "/jobs/0/read", "/jobs/0/read/clat_ns", "/jobs/0/latency_us", "/jobs/0/latency_ms"]
    {
        let [fio, own] = [&by_fio, &document].map(|document| keys(document.pointer(path).expect(path)));
        let missing: Vec<&String> = fio.difference(&own).collect();
        assert!(missing.is_empty(), "{path}: {missing:?}");
    }
}
