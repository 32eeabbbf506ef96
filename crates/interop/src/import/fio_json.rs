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
//! What is made of the jobs is the same for all forms of fio's results (`fio_job`).

use super::fio_job::{JobResult, run_of};
use super::fio_options::{JobOptions, percentile};
use super::json_tree::{Json, JsonError, object, raw_documents, raw_members, tree};
use super::kit::*;
use super::units::Named;
use kurabe_core::environment::{BlockDevice, Environment};
use serde_json::value::RawValue;

const KEYS: &[&str] = &["\"fio version\""];
pub(super) const IMPORTER: Importer =
    Importer::of(("fio JSON", "fio", &["fio version", "fio"]), Recognizer::Object(KEYS), read);

/// What fio writes when it is ended by a signal.
pub(super) const SIGNAL: &str = "fio: terminating on signal {}";

/// A file that holds nothing else, which needs not be taken apart into lines.
pub(super) const FILE: Importer = Importer::of(("fio JSON", "fio", &[]), Recognizer::File, |input| {
    let mut rest = input.text().unwrap_or("").trim();
    while let Some(Ok((_, after))) = object(rest) {
        rest = after.trim_start();
    }
    if rest.is_empty() {
        read(input)
    } else {
        not_mine(text!("it holds other lines", "ほかの行があります"))
    }
});

/// The directions of a job in fio's order; `mixed` is reads, writes and trims as one.
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// fio's latencies: name, name of what they are of.
pub(super) const LATENCIES: [(&str, FigureOf); 3] = [
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

/// A document of fio's, whose jobs are taken apart one after another: thousands of them at once would take the memory of many files.
struct Document<'a> {
    /// All that it holds besides.
    head: Json,
    jobs: Vec<&'a RawValue>,
}

impl<'a> Document<'a> {
    fn of(raw: &'a str) -> Result<Self, String> {
        let mut members = raw_members(raw)?;
        // Those of several machines stand under another key.
        let key =
            ["jobs", "client_stats"].into_iter().find(|key| members.iter().any(|(name, _)| name == key));
        let at = members.iter().position(|(name, _)| Some(name.as_str()) == key);
        let jobs = at.map(|at| members.swap_remove(at).1.get());
        let jobs = jobs.map_or(Ok(Vec::new()), serde_json::from_str).unwrap_or_default();
        let head = members.into_iter().map(|(name, raw)| Ok((name, tree(raw.get(), 1)?)));
        Ok(Self { head: Json::Object(head.collect::<Result<_, String>>()?), jobs })
    }

    fn jobs(&self) -> impl Iterator<Item = Result<Json, String>> {
        self.jobs.iter().map(|raw| tree(raw.get(), 2))
    }
}

/// Reads fio's JSON.
fn read(input: &Input<'_>) -> ImportedRuns {
    let raws = raw_documents(parts::text_with(input, KEYS)?);
    let documents = raws.and_then(|raws| {
        let own = raws.into_iter().filter(|(_, raw)| KEYS.iter().all(|key| raw.contains(key)));
        own.map(|(line, raw)| Ok((line, Document::of(raw).map_err(|cause| JsonError { line, cause })?)))
            .collect()
    });
    let documents: Vec<(usize, Document<'_>)> =
        documents.map_err(|error| parts::damaged_json(input, "fio", error))?;
    let mut runs: Vec<ImportedRun> = Vec::new();
    let is_followed =
        |at: usize| documents.get(at + 1).is_some_and(|(_, next)| continues(&documents[at].1, next));
    let last: Vec<bool> = (0..documents.len()).map(|at| !is_followed(at)).collect();
    // Of several runs it is not known which one the signal ended.
    let is_alone = last.iter().filter(|is_last| **is_last).count() == 1;
    let signal = input.holes(SIGNAL).map(|[number]| number).filter(|_| is_alone);
    let mut dropped = 0;
    for ((line, document), is_last) in documents.iter().zip(last) {
        if !is_last {
            dropped += 1;
            continue;
        }
        let failed = |cause| parts::damaged_json(input, "fio", JsonError { line: *line, cause });
        let mut run = run(input, document, signal).map_err(failed)?;
        if dropped > 0 {
            run.notices.push(notice(text!(
                "the file holds {dropped} intermediate reports of this run; only the last, which covers all of it, is read",
                "この実行の途中経過が {dropped} 件ありますが、全体を含む最後のものだけを読みました"
            )));
            dropped = 0;
        }
        runs.push(run);
    }
    Ok(runs)
}

/// Whether `next` is a later report of the same fio: the same jobs, never less done, and begun at the same time.
fn continues(document: &Document<'_>, next: &Document<'_>) -> bool {
    if document.jobs.is_empty() || document.jobs.len() != next.jobs.len() {
        return false;
    }
    let [before, after] = [document, next].map(|one| one.jobs().flatten().collect::<Vec<Json>>());
    let more = before.iter().zip(&after).all(|(before, after)| {
        let done =
            |job: &Json, word: &str| job.get(word).and_then(|ddir| ddir.count_of("io_bytes")).unwrap_or(0);
        let same = ["jobname", "groupid"].iter().all(|key| before.get(key) == after.get(key))
            && before.get("job options") == after.get("job options");
        same && DIRECTIONS.iter().all(|word| done(before, word) <= done(after, word))
    });
    let times = DocumentTimes::of(&document.head, &before).zip(DocumentTimes::of(&next.head, &after));
    let Some((this, next)) = times else { return false };
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
    fn of(document: &Json, jobs: &[Json]) -> Option<Self> {
        let elapsed = jobs.iter().filter_map(|job| job.count_of("elapsed")).max()?.checked_mul(1000)?;
        let runtimes = jobs.iter().flat_map(|job| DIRECTIONS.map(|word| job.get(word)));
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

fn run(input: &Input<'_>, document: &Document<'_>, signal: Option<&str>) -> Result<ImportedRun, String> {
    let head = &document.head;
    let version =
        head.text_of("fio version").map(|words| words.strip_prefix("fio-").unwrap_or(words).to_owned());
    let epoch = head.count_of("timestamp").and_then(dates::from_epoch);
    let origin = Origin {
        version,
        measured_at: epoch.or_else(|| head.text_of("time").and_then(dates::from_ctime)),
        ..input.origin("fio", "fio-json")
    };
    let results = document.jobs().map(|job| Ok(result(head, &job?))).collect::<Result<_, String>>()?;
    Ok(ImportedRun { environment: environment(head), ..run_of(results, signal, origin) })
}

/// The devices whose counters fio read.
fn environment(document: &Json) -> Environment {
    let disks = document.items_of("disk_util");
    let devices = disks.iter().filter_map(|disk| disk.text_of("name"));
    let devices = devices.map(|name| BlockDevice { name: name.to_owned(), ..BlockDevice::default() });
    Environment { devices: devices.collect(), ..Environment::default() }
}

/// What a job came to in each direction in which it did I/O, and of its syncs if there were any.
fn result(document: &Json, job: &Json) -> JobResult {
    let did = |word: &'static str| Some((word, job.get(word)?));
    let moved = |(_, ddir): &(&str, &Json)| ddir.text_of("io_bytes").is_some_and(units::positive);
    let of_directions = DIRECTIONS.into_iter().filter_map(did).filter(moved);
    let syncs = job.get("sync").map(|sync| ("sync", latency(sync, "lat", &FigureOf::SyncLatency)));
    let directions = of_directions.map(|(word, ddir)| (word, figures(ddir))).chain(syncs);
    let run_ms = DIRECTIONS.iter().filter_map(|word| job.get(word)?.count_of("runtime")).max();
    JobResult {
        entry: ["jobname", "groupid", "hostname"].map(|key| job.text_of(key).unwrap_or("").to_owned()),
        options: JobOptions::of(document, job),
        error: job.count_of("error").unwrap_or(0),
        directions: directions.filter(|(_, figures)| !figures.is_empty()).collect(),
        run_ns: run_ms.map(|ms| ms as f64 * 1e6),
    }
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
    let spread = SPREAD.into_iter().zip([mean, low, high, deviation]);
    figures_of(unit, of, spread.chain(besides)).filter(move |_| is_sampled)
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
