//! Runs in the layouts of fio's results, JSON and terse, for programs that read fio output.
//!
//! The model: a cell is a job, and its repetitions together correspond to one job of fio. kurabe's
//! latency is from submission to completion, which is fio's `lat_ns`. The submission time is not
//! recorded separately, so `slat_ns` is empty and `clat_ns` is the same as `lat_ns`. Values that kurabe
//! does not count (context switches, faults, batch sizes) are 0. Values without a place in fio's layout
//! are under `kurabe`. The layout is that of fio 3.36.

use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::{Cell, Interval, LatencyRecord, Repetition, RunRecord};
use kurabe_core::{shown, workload::OpKind};
use kurabe_fio::WrittenJobs;
use kurabe_stats::percentile_ns;
use serde_json::{Map, Value, json};
use std::ops::Add;

/// fio's default list.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Bounds of fio's three latency distributions, in their units.
const NS_BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// Classes of queue depths.
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Number of percentiles in the terse line, which is the maximum that fio can be configured for.
const TERSE_PERCENTILES: usize = 20;
/// Names of the classes of submission and completion batches.
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
const MS_BOUNDS: [u64; 12] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000, u64::MAX];

/// Returns the jobs of runs.
fn jobs(records: &[RunRecord]) -> impl Iterator<Item = Value> {
    records.iter().flat_map(|record| {
        let direct = is_direct(record);
        record.cells.iter().map(move |cell| job(cell, direct))
    })
}

fn is_direct(record: &RunRecord) -> bool {
    record.header.target.as_ref().is_none_or(|target| target.direct)
}

/// Writes one document for several runs. Values that appear once come from the first run.
pub(super) fn write(first: &RunRecord, records: &[RunRecord]) -> String {
    let header = &first.header;
    let started = header.measured_at();
    let document = json!({
        "fio version": format!("kurabe-{}", env!("CARGO_PKG_VERSION")),
        "time": shown::line(started),
        "global options": { "direct": u8::from(is_direct(first)).to_string() },
        "kurabe": {
            "run": shown::line(&header.id),
            "origin": if header.model.is_some() { "modelled" } else { "measured" },
            "model": header.model.as_ref().map(|model| shown::line(&model.title.en)),
        },
        "jobs": jobs(records).collect::<Vec<_>>(),
        "disk_util": [],
    });
    // Serializing numbers and strings does not fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// Writes a line for each job as in fio's terse output, version 3.
pub(super) fn terse(records: &[RunRecord]) -> String {
    jobs(records).map(|job| terse_line(&job) + "\n").collect()
}

fn terse_line(job: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let whole = |value: &Value| (value.as_f64().unwrap_or(0.0) as u64).to_string();
    let number = |value: &Value, scale: f64| format!("{:.6}", value.as_f64().unwrap_or(0.0) / scale);
    let tool = format!("kurabe-{}", env!("CARGO_PKG_VERSION"));
    // A semicolon ends a field.
    let name = text(&job["jobname"]).replace(';', ",");
    let mut fields = vec!["3".to_owned(), tool, name, "0".to_owned(), "0".to_owned()];
    for direction in ["read", "write"] {
        let part = &job[direction];
        // Times of this output are in microseconds.
        let times = |key: &str| {
            let micros = |of: &str| (part[key][of].as_u64().unwrap_or(0) / 1000).to_string();
            [micros("min"), micros("max"), number(&part[key]["mean"], 1e3), number(&part[key]["stddev"], 1e3)]
        };
        fields.extend(["io_kbytes", "bw", "iops", "runtime"].map(|key| whole(&part[key])));
        fields.extend(["slat_ns", "clat_ns"].into_iter().flat_map(times));
        for percent in PERCENTILES {
            let name = format!("{percent:.6}");
            let time_ns = part["clat_ns"]["percentile"][&name].as_u64().unwrap_or(0);
            fields.push(format!("{name}%={}", time_ns / 1000));
        }
        fields.extend(["0%=0"; TERSE_PERCENTILES - PERCENTILES.len()].map(str::to_owned));
        fields.extend(times("lat_ns"));
        fields.extend(["bw_min", "bw_max"].map(|key| whole(&part[key])));
        fields.push(number(&part["bw_agg"], 1.0) + "%");
        fields.extend(["bw_mean", "bw_dev"].map(|key| number(&part[key], 1.0)));
    }
    fields.extend(["usr_cpu", "sys_cpu"].map(|key| number(&job[key], 1.0) + "%"));
    fields.extend(["ctx", "majf", "minf"].map(|key| whole(&job[key])));
    let share = |object: &str, key: &str, digits: usize| {
        format!("{:.digits$}%", job[object][key].as_f64().unwrap_or(0.0))
    };
    fields.extend(DEPTHS.map(|key| share("iodepth_level", key, 1)));
    fields.extend(NS_BOUNDS.map(|bound| share("latency_us", &bound.to_string(), 2)));
    fields.extend(MS_BOUNDS.map(|bound| share("latency_ms", &ms_name(bound), 2)));
    fields.join(";")
}

fn job(cell: &Cell, direct: bool) -> Value {
    let name = cell.label.split_once(" · ").map_or(cell.label.as_str(), |(_, job)| job);
    let counted: Vec<&Repetition> = cell.counted().collect();
    let all = |of: &dyn Fn(&Repetition) -> u64| {
        counted.iter().map(|repetition| of(repetition)).fold(0, u64::saturating_add)
    };
    let elapsed_ns = all(&|repetition| repetition.elapsed_ns);
    let cpu = |of: fn(&Repetition) -> u64| 100.0 * all(&of) as f64 / elapsed_ns.max(1) as f64;
    let latencies = |kind: OpKind| {
        LatencyRecord::together(counted.iter().map(|repetition| &repetition.side(kind).latency))
    };
    let sync = latencies(OpKind::Sync);
    let together = LatencyRecord::together(&[OpKind::Read, OpKind::Write, OpKind::Trim].map(latencies));
    let options = cell.workload.as_ref().map(|workload| {
        let sections = WrittenJobs::of(workload, cell.engine.as_ref(), direct).sections;
        let options = sections.into_iter().next().unwrap_or_default();
        options.into_iter().map(|(key, value)| (key.to_owned(), Value::String(value))).collect::<Map<_, _>>()
    });
    let direction = |kind: OpKind, of: fn(&Interval) -> (u64, u32)| {
        let bytes = all(&|repetition| repetition.side(kind).bytes);
        direction(&latencies(kind), bytes, elapsed_ns, &samples(&counted, of))
    };
    let iodepth = cell.workload.as_ref().map_or(1, |workload| workload.iodepth);
    let distribution =
        |unit_ns: u64, from_ns: u64, bounds: &[u64]| shares(&together, unit_ns, from_ns, bounds);
    json!({
        "jobname": shown::line(name),
        "groupid": 0,
        "error": 0,
        "eta": 0,
        "elapsed": elapsed_ns.div_ceil(NS_PER_S),
        "job options": options.unwrap_or_default(),
        "read": direction(OpKind::Read, |interval| (interval.read_bytes, interval.read_operations)),
        "write": direction(OpKind::Write, |interval| (interval.write_bytes, interval.write_operations)),
        "trim": direction(OpKind::Trim, |interval| (interval.trim_bytes, interval.trim_operations)),
        "sync": { "total_ios": sync.count, "lat_ns": latency(&sync, true) },
        "job_runtime": elapsed_ns / 1_000_000,
        "usr_cpu": cpu(|one| one.cpu.user_ns),
        "sys_cpu": cpu(|one| one.cpu.system_ns),
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": depths(iodepth, DEPTHS),
        "iodepth_submit": depths(0, BATCHES),
        "iodepth_complete": depths(0, BATCHES),
        "latency_ns": distribution(1, 0, &NS_BOUNDS),
        "latency_us": distribution(1_000, 1_000, &NS_BOUNDS),
        "latency_ms": distribution(1_000_000, 1_000_000, &MS_BOUNDS),
        "latency_depth": iodepth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    })
}

/// Puts all operations at one depth, as a closed loop does. Depth 0, without counted operations, stays
/// empty.
fn depths(iodepth: u32, names: [&str; 7]) -> Value {
    let class = iodepth.checked_ilog2().map(|class| class.min(6) as usize);
    let share = |(place, name): (usize, &str)| {
        (name.to_owned(), Value::from(if class == Some(place) { 100.0 } else { 0.0 }))
    };
    names.into_iter().enumerate().map(share).collect::<Map<_, _>>().into()
}

/// Returns a direction: totals, and the rates of the intervals.
fn direction(latencies: &LatencyRecord, bytes: u64, elapsed_ns: u64, samples: &[(f64, f64)]) -> Value {
    let seconds = elapsed_ns as f64 / NS_PER_S as f64;
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let (bandwidth, iops): (Vec<f64>, Vec<f64>) = samples.iter().copied().unzip();
    let [(bw_min, bw_max, bw_mean, bw_dev), (iops_min, iops_max, iops_mean, iops_dev)] =
        [spread(&bandwidth), spread(&iops)];
    let had_any = latencies.count > 0;
    json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / 1024,
        "bw_bytes": per_second(bytes) as u64,
        "bw": (per_second(bytes) / 1024.0) as u64,
        "iops": per_second(latencies.count),
        "runtime": if had_any { elapsed_ns / 1_000_000 } else { 0 },
        "total_ios": latencies.count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": latency(&LatencyRecord::default(), false),
        "clat_ns": latency(latencies, true),
        "lat_ns": latency(latencies, true),
        "bw_min": bw_min as u64,
        "bw_max": bw_max as u64,
        "bw_agg": if had_any { 100.0 } else { 0.0 },
        "bw_mean": bw_mean,
        "bw_dev": bw_dev,
        "bw_samples": bandwidth.len(),
        "iops_min": iops_min as u64,
        "iops_max": iops_max as u64,
        "iops_mean": iops_mean,
        "iops_stddev": iops_dev,
        "iops_samples": iops.len(),
    })
}

/// Returns KiB/s and operations per second of each complete interval with activity.
fn samples(counted: &[&Repetition], of: fn(&Interval) -> (u64, u32)) -> Vec<(f64, f64)> {
    let of_repetition = |repetition: &&Repetition| {
        let per_second = NS_PER_S as f64 / repetition.series.interval_ns.max(1) as f64;
        let intervals = repetition.series.intervals.iter().map(of).filter(|(bytes, _)| *bytes > 0);
        let rates = intervals.map(move |(bytes, operations)| {
            (bytes as f64 / 1024.0 * per_second, f64::from(operations) * per_second)
        });
        rates.collect::<Vec<_>>()
    };
    counted.iter().flat_map(of_repetition).collect()
}

/// Returns minimum, maximum, mean and standard deviation.
fn spread(values: &[f64]) -> (f64, f64, f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0, 0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    let (least, most) = (f64::min, f64::max);
    (
        values.iter().copied().fold(f64::INFINITY, least),
        values.iter().copied().fold(0.0, most),
        mean,
        variance.sqrt(),
    )
}

fn latency(latencies: &LatencyRecord, with_percentiles: bool) -> Value {
    let mean = latencies.mean_ns().unwrap_or(0.0);
    let squares =
        latencies.buckets.iter().map(|(start_ns, count)| (*start_ns as f64 - mean).powi(2) * *count as f64);
    // `sum` would return a negative zero for an empty list.
    let deviation = (squares.fold(0.0, Add::add) / latencies.count.max(1) as f64).sqrt();
    let mut value = json!({
        "min": latencies.min_ns,
        "max": latencies.max_ns,
        "mean": mean,
        "stddev": deviation,
        "N": latencies.count,
    });
    if with_percentiles && latencies.count > 0 {
        let percentile = |percent: f64| {
            let time_ns = percentile_ns(latencies, percent / 100.0).unwrap_or(0);
            (format!("{percent:.6}"), Value::from(time_ns))
        };
        value["percentile"] = PERCENTILES.map(percentile).into_iter().collect::<Map<_, _>>().into();
    }
    value
}

/// Returns the name of a latency class. The last one has no upper bound.
fn ms_name(bound: u64) -> String {
    if bound == u64::MAX { ">=2000".to_owned() } else { bound.to_string() }
}

/// Returns the share, in percent, of the latencies between consecutive bounds, starting at a given
/// time.
fn shares(latencies: &LatencyRecord, unit_ns: u64, from_ns: u64, bounds: &[u64]) -> Value {
    let mut below_ns = from_ns;
    let share = |bound: &u64| {
        let up_to_ns = bound.saturating_mul(unit_ns);
        let lies = |(start_ns, _): &&(u64, u64)| (below_ns..up_to_ns).contains(start_ns);
        let counts = latencies.buckets.iter().filter(lies).map(|(_, count)| *count);
        let count = counts.fold(0, u64::saturating_add);
        below_ns = up_to_ns;
        (ms_name(*bound), Value::from(100.0 * count as f64 / latencies.count.max(1) as f64))
    };
    bounds.iter().map(share).collect::<Map<_, _>>().into()
}
