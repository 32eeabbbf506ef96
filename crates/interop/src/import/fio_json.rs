//! fio's JSON and JSON+ output, of fio 2 and 3.
//!
//! The model: a document is a run, a job in it has up to five directions, and each that did I/O is a cell. `bw` is
//! KiB/s in every version and `bw_bytes` bytes per second; latencies are ns (`clat_ns`) since fio 3 and µs (`clat`)
//! before; `io_bytes` was KiB until `io_kbytes` stood beside it (fio 2.21, commit c12d597a). All rates are means over
//! the run; `bw_min` and the like are of fio's samples, half a second each unless set. The bins of JSON+ are left out:
//! the percentiles are made of them. With `--status-interval` fio writes a document every so often, each cumulative:
//! only the last of a row counts. They are known by their beginning: it is the same for all, while a fio that was started
//! later, and appended to the same file, began after the one before it ended.
//!
//! A cell is called by what its options do, so that it meets the cells of other tools that do the same, and by its job's name
//! where two do the same. Without `group_reporting` each thread of a job has a cell, which is one of them and not the job.

use super::dates;
use super::fio_options::{JobOptions, direction, label, percentile};
use super::json_tree::Json;
use super::parts;
use super::units::{self, Named, ToolUnit, figures_of};
use super::{ImportedRun, ImportedRuns, Importer, Input, Recognizer};
use kurabe_core::environment::{BlockDevice, Environment};
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic as Statistic};
use kurabe_core::record::{Cell, Notice};
use kurabe_core::text;
use std::collections::{HashMap, HashSet};

const KEYS: &[&str] = &["\"fio version\""];
pub(super) const IMPORTER: Importer =
    Importer::of(("fio JSON", "fio", &["fio version", "fio"]), Recognizer::Object(KEYS), read);

/// The directions of a job in fio's order; `mixed` is reads, writes and trims as one.
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// fio's latencies: name, name of what they are of.
const LATENCIES: [(&str, FigureOf); 3] = [
    ("clat", FigureOf::CompletionLatency),
    ("lat", FigureOf::TotalLatency),
    ("slat", FigureOf::SubmissionLatency),
];

/// fio's samples: unit, what they are of, names of their number, mean, lowest, highest and deviation.
const SAMPLES: [(ToolUnit, FigureOf, [&str; 5]); 2] = [
    (units::KIB_PER_S, FigureOf::RateSamples, ["bw_samples", "bw_mean", "bw_min", "bw_max", "bw_dev"]),
    (
        units::IOPS,
        FigureOf::IopsSamples,
        ["iops_samples", "iops_mean", "iops_min", "iops_max", "iops_stddev"],
    ),
];

/// Reads fio's JSON.
fn read(input: &Input<'_>) -> ImportedRuns {
    let mut documents = parts::documents_with(input, "fio", KEYS)?;
    documents.retain(|json| json.get("fio version").is_some());
    let mut runs: Vec<ImportedRun> = Vec::new();
    let mut dropped = 0;
    for at in 0..documents.len() {
        if documents.get(at + 1).is_some_and(|next| continues(&documents[at], next)) {
            dropped += 1;
            continue;
        }
        let document = std::mem::replace(&mut documents[at], Json::Null);
        let mut run = run(input, &document);
        if dropped > 0 {
            run.notices.push(parts::notice(text!(
                "the file holds {dropped} intermediate reports of this run; only the last, which covers all of it, is read",
                "この実行の途中経過が {dropped} 件ありますが、全体を含む最後のものだけを読みました"
            )));
            dropped = 0;
        }
        runs.push(run);
    }
    Ok(runs)
}

/// Jobs of a document; those of several machines stand under another key.
fn jobs(document: &Json) -> &[Json] {
    document.get("jobs").or(document.get("client_stats")).map_or(&[], Json::items)
}

/// Whether `next` is a later report of the same fio: the same jobs, never less done, and begun at the same time.
fn continues(document: &Json, next: &Json) -> bool {
    let (before, after) = (jobs(document), jobs(next));
    if before.is_empty() || before.len() != after.len() {
        return false;
    }
    let more = before.iter().zip(after).all(|(before, after)| {
        let done =
            |job: &Json, word: &str| job.get(word).and_then(|ddir| ddir.count_of("io_bytes")).unwrap_or(0);
        let same = ["jobname", "groupid"].iter().all(|key| before.get(key) == after.get(key))
            && before.get("job options") == after.get("job options");
        same && DIRECTIONS.iter().all(|word| done(before, word) <= done(after, word))
    });
    let (Some(this), Some(next)) = (DocumentTimes::of(document), DocumentTimes::of(next)) else {
        return false;
    };
    more && next.end_ms >= this.end_ms && this.begun_ms().abs_diff(next.begun_ms()) <= this.tolerance_ms()
}

/// When a document was written, and how long its fio had run.
struct DocumentTimes {
    end_ms: u64,
    elapsed_ms: u64,
    /// fio 2 prints whole seconds only.
    has_ms: bool,
}

impl DocumentTimes {
    fn of(document: &Json) -> Option<Self> {
        let elapsed =
            jobs(document).iter().filter_map(|job| job.count_of("elapsed")).max()?.checked_mul(1000)?;
        let runtimes = jobs(document).iter().flat_map(|job| DIRECTIONS.map(|word| job.get(word)));
        let runtime = runtimes.flatten().filter_map(|ddir| ddir.count_of("runtime")).max().unwrap_or(0);
        Some(match document.count_of("timestamp_ms") {
            Some(end_ms) if runtime > 0 => Self { end_ms, elapsed_ms: runtime, has_ms: true },
            _ => Self {
                end_ms: document.count_of("timestamp")?.checked_mul(1000)?,
                elapsed_ms: elapsed,
                has_ms: false,
            },
        })
    }

    fn begun_ms(&self) -> u64 {
        self.end_ms.saturating_sub(self.elapsed_ms)
    }

    /// By how much two beginnings of one fio may differ as printed. A fio that was started when this one had ended began
    /// later by all of this one's time, so half of it tells the two apart.
    fn tolerance_ms(&self) -> u64 {
        /// Two roundings to a second.
        const ROUNDED_MS: u64 = 1000;
        if self.has_ms {
            return (self.elapsed_ms / 2).min(ROUNDED_MS / 2);
        }
        // Seconds are rounded up: of a run of two, one may be true, and another begun right after it looks a second later.
        let least = self.elapsed_ms.saturating_sub(ROUNDED_MS);
        if least / 2 < ROUNDED_MS { 0 } else { ROUNDED_MS }
    }
}

fn run(input: &Input<'_>, document: &Json) -> ImportedRun {
    let mut cells: Vec<(&str, Cell)> = Vec::new();
    let mut notices = Vec::new();
    let mut target = None;
    let mut procedures: Vec<String> = Vec::new();
    let mut lines = HashSet::new();
    let mut direct: Vec<Option<String>> = Vec::new();
    let mut apart = 0;
    let mut entries: HashMap<_, usize> = HashMap::new();
    for job in jobs(document) {
        *entries.entry(entry(job)).or_default() += 1;
    }
    for job in jobs(document) {
        let mut options = JobOptions::of(document, job);
        options.threads_apart = entries.get(&entry(job)).is_some_and(|count| *count > 1);
        let group = job_cells(job, &options);
        direct.push(options.direct());
        apart += usize::from(options.threads_apart && !group.is_empty());
        if !group.is_empty() {
            target = target.or_else(|| options.get(&["filename", "directory"]).map(str::to_owned));
            procedures.extend(options.line().filter(|line| lines.insert(line.clone())));
        }
        notices.extend(error_of(job));
        let name = job.text_of("jobname").unwrap_or("");
        cells.extend(group.into_iter().map(|cell| (name, cell)));
    }
    if apart > 0 {
        notices.push(parts::notice(text!(
            "fio ran without `group_reporting`: {apart} of these jobs are single threads of a job, and their sum, which fio \
             did not print, is what the job did",
            "fio は `group_reporting` なしで実行されています。ジョブのうち {apart} 件はそれぞれ 1 スレッド分の値で、ジョブ全体の値(合計)は\
             出力されていません"
        )));
    }
    direct.dedup();
    let direct = if let [direct] = direct.as_slice() { direct.clone() } else { None };
    let version =
        document.text_of("fio version").map(|words| words.strip_prefix("fio-").unwrap_or(words).to_owned());
    let epoch = document.count_of("timestamp").and_then(dates::from_epoch);
    let origin = Origin {
        version,
        measured_at: epoch.or_else(|| document.text_of("time").and_then(dates::from_ctime)),
        target,
        procedure: (!procedures.is_empty()).then(|| procedures.join("\n")),
        facts: direct.map(|direct| ("direct".to_owned(), direct)).into_iter().collect(),
        ..input.origin("fio", "fio-json")
    };
    ImportedRun { origin, environment: environment(document), cells: told_apart(cells), notices }
}

/// What entries of several threads of one job, and of no two jobs, have in common.
fn entry(job: &Json) -> (Option<&str>, Option<&str>, Option<&str>) {
    (job.text_of("jobname"), job.text_of("groupid"), job.text_of("hostname"))
}

/// Cells of several jobs that do the same bear the names of their jobs, too.
fn told_apart(cells: Vec<(&str, Cell)>) -> Vec<Cell> {
    let mut names: HashMap<(String, String), HashSet<&str>> = HashMap::new();
    for (name, cell) in &cells {
        names.entry((cell.label.clone(), cell.part.clone())).or_default().insert(name);
    }
    let named = |(name, mut cell): (&str, Cell)| {
        let several =
            names.get(&(cell.label.clone(), cell.part.clone())).is_some_and(|names| names.len() > 1);
        if several && cell.label != name {
            cell.label = format!("{} {}", cell.label, parts::repeated(name));
        }
        cell
    };
    cells.into_iter().map(named).collect()
}

/// The devices whose counters fio read.
fn environment(document: &Json) -> Environment {
    let disks = document.items_of("disk_util");
    let devices = disks.iter().filter_map(|disk| disk.text_of("name"));
    let devices = devices.map(|name| BlockDevice { name: name.to_owned(), ..BlockDevice::default() });
    Environment { devices: devices.collect(), ..Environment::default() }
}

fn error_of(job: &Json) -> Option<Notice> {
    let number = job.count_of("error").filter(|number| *number != 0)?;
    let name = job.text_of("jobname").unwrap_or("");
    Some(parts::notice(text!(
        "fio's job `{name}` ended with error {number}; its figures may be of a part of the work",
        "fio のジョブ `{name}` はエラー {number} で終わりました。数値は途中までのものかもしれません"
    )))
}

/// A cell for each direction that did I/O, and one of the syncs if there were any.
fn job_cells(job: &Json, options: &JobOptions) -> Vec<Cell> {
    let name = job.text_of("jobname").unwrap_or("");
    let host = job.text_of("hostname").map(|host| format!("{host} ")).unwrap_or_default();
    let mut cells = Vec::new();
    let mut shape = ImportedCell::default();
    options.describe("read", &mut shape);
    let shape = options.shape(&shape);
    let label_of = |word: &str| label(&format!("{host}{}", shape.as_deref().unwrap_or(name)), word);
    for word in DIRECTIONS {
        let Some(ddir) = job.get(word) else { continue };
        let figures = figures(ddir);
        if !ddir.text_of("io_bytes").is_some_and(units::positive) || figures.is_empty() {
            continue;
        }
        let mut imported = ImportedCell { runs: Some(1), figures, ..ImportedCell::default() };
        options.describe(word, &mut imported);
        cells.push(parts::cell(label_of(word), direction(word), imported));
    }
    let syncs = job.get("sync").map(|sync| latency(sync, "lat", &FigureOf::SyncLatency)).unwrap_or_default();
    if !syncs.is_empty() {
        let mut imported = ImportedCell { runs: Some(1), figures: syncs, ..ImportedCell::default() };
        options.describe("sync", &mut imported);
        (imported.block_bytes, imported.sequential, imported.read_percent) = (None, None, None);
        cells.push(parts::cell(label_of("sync"), None, imported));
    }
    cells
}

/// Figures of a direction: the rate, operations, latencies, the samples' spread, and the totals.
fn figures(ddir: &Json) -> Vec<PrintedFigure> {
    let mut figures = Vec::new();
    // A run too short for fio's clock of milliseconds has a runtime of 0 and rates of 0, which are no rates.
    if ddir.text_of("runtime").is_some_and(units::positive) {
        let rate = match ddir.text_of("bw_bytes") {
            Some(printed) => units::BYTES_PER_S.figure(Statistic::Mean, printed),
            None => units::KIB_PER_S.figure(Statistic::Mean, ddir.text_of("bw")),
        };
        figures.extend(rate);
        figures.extend(units::IOPS.figure(Statistic::Mean, ddir.text_of("iops")));
    }
    for (key, of) in LATENCIES {
        figures.append(&mut latency(ddir, key, &of));
    }
    for (unit, of, names) in SAMPLES {
        figures.extend(sampled(unit, of, names.map(|key| ddir.text_of(key)), Vec::new()));
    }
    let data = if ddir.get("io_kbytes").is_some() { units::BYTES } else { units::KIB };
    for (unit, key, of) in [
        (data, "io_bytes", FigureOf::DataMoved),
        (units::COUNT, "total_ios", FigureOf::Operations),
        (units::RUN_MILLISECONDS, "runtime", FigureOf::RunTime),
    ] {
        let printed = ddir.text_of(key).filter(|printed| units::positive(printed));
        figures.extend(unit.figure_of(of, Statistic::Sum, printed));
    }
    figures
}

/// What was sampled: number, mean, lowest, highest and deviation, and what is told of it besides; nothing if it was not.
fn sampled<'a>(
    unit: ToolUnit,
    of: FigureOf,
    [count, mean, low, high, deviation]: [Option<&'a str>; 5],
    besides: Vec<Named<'a>>,
) -> impl Iterator<Item = PrintedFigure> + 'a {
    // fio 2 does not tell the number; a highest of nothing means none.
    let is_sampled = count.or(high).is_some_and(units::positive);
    let spread = [
        (Statistic::Mean, mean),
        (Statistic::Lowest, low),
        (Statistic::Highest, high),
        (Statistic::StandardDeviation, deviation),
    ];
    figures_of(unit, of, spread.into_iter().chain(besides)).filter(move |_| is_sampled)
}

/// A latency in all its statistics; none if nothing was sampled.
fn latency(ddir: &Json, key: &str, of: &FigureOf) -> Vec<PrintedFigure> {
    let in_ns = ddir.get(&format!("{key}_ns")).map(|summary| (summary, units::NANOSECONDS));
    let Some((summary, unit)) = in_ns.or(ddir.get(key).map(|summary| (summary, units::MICROSECONDS))) else {
        return Vec::new();
    };
    let percentiles = summary.get("percentile").map_or(&[][..], Json::members).iter();
    // fio 2 fills its list of twenty with `0.00`.
    let percentiles = percentiles.filter_map(|(percent, value)| Some((percentile(percent)?, value.text())));
    let spread = ["N", "mean", "min", "max", "stddev"].map(|key| summary.text_of(key));
    sampled(unit, of.clone(), spread, percentiles.collect()).collect()
}

#[cfg(test)]
#[path = "fio_json_tests.rs"]
mod tests;
