//! JSON and JSON+ output of fio 2 and 3.
//!
//! The model: a document is a run. A job in it has up to five directions, and each that did I/O is a
//! cell. `bw` is KiB/s in every version, and `bw_bytes` bytes per second. Latencies are in ns
//! (`clat_ns`) since fio 3, and in µs (`clat`) before. `io_bytes` was in KiB until `io_kbytes` was
//! added (fio 2.21, commit c12d597a). All rates are means over the run; `bw_min` and similar values are
//! of fio's samples, half a second each by default. The bins of JSON+ are ignored, because the
//! percentiles are computed from them. With `--status-interval`, fio writes cumulative documents at
//! intervals, and only the last of a series counts. A series is recognized by its start time, which is
//! the same for all. A fio process that was started later and appended to the same file started after
//! the previous one ended.
//!
//! All formats of fio's results share the conversion of jobs (`fio_job`).

use super::fio_job::{JobEntries, JobResult, JobRun, LATENCIES, SIGNAL, intermediate};
use super::fio_options::{JobOptions, percentile};
use super::json_tree::{Json, JsonError, items, object, parted, raw_documents, tree};
use super::kit::*;
use super::room;
use super::units::Named;
use kurabe_core::environment::{BlockDevice, Environment};

const KEYS: &[&str] = &["\"fio version\""];
pub(super) const IMPORTER: Importer =
    Importer::of(("fio JSON", "fio", &["fio version", "fio"]), Recognizer::Object(KEYS), read);

/// A file that contains only messages besides the JSON, so that it does not have to be split into
/// lines.
pub(super) const FILE: Importer = Importer::of(("fio JSON", "fio", &[]), Recognizer::File, |input| {
    let mut rest = input.text().unwrap_or("");
    let mut others = 0;
    while !rest.is_empty() && others < MESSAGES_LONGEST {
        if let Some(Ok((_, after))) = object(rest) {
            rest = after;
            continue;
        }
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        // Results of other tools, or of fio in another format, are recognized by their lines.
        let is_result = line.contains(['<', '&', '{']) || !super::is_message(line);
        others = if is_result { MESSAGES_LONGEST } else { others + line.trim().len() };
        rest = after;
    }
    if rest.is_empty() && others < MESSAGES_LONGEST {
        read(input)
    } else {
        not_mine(text!("it holds other lines", "ほかの行があります"))
    }
});

/// Maximum length in bytes of the messages around the JSON of a file.
const MESSAGES_LONGEST: usize = 1 << 16;

/// Directions of a job in fio's order. `mixed` is reads, writes and trims together.
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// fio's samples: unit, quantity, and the names of count, mean, minimum, maximum and deviation.
const SAMPLES: [(ToolUnit, FigureOf, [&str; 5]); 2] = [
    (units::KIB_PER_S, FigureOf::RateSamples, ["bw_samples", "bw_mean", "bw_min", "bw_max", "bw_dev"]),
    (
        units::IOPS,
        FigureOf::IopsSamples,
        ["iops_samples", "iops_mean", "iops_min", "iops_max", "iops_stddev"],
    ),
];

/// A document of fio, whose jobs are parsed one after the other. Thousands of parsed jobs would need as
/// much memory as many files.
struct Document<'a> {
    /// Line of the file on which it begins.
    line: usize,
    /// All its values except the jobs.
    head: Json,
    /// The list of jobs as text.
    jobs: &'a str,
}

impl<'a> Document<'a> {
    fn of((line, raw): (usize, &'a str)) -> Result<Self, JsonError> {
        // Jobs of several machines are under another key.
        let (head, [jobs, of_clients]) =
            parted(raw, ["jobs", "client_stats"]).map_err(|cause| JsonError { line, cause })?;
        Ok(Self { line, head, jobs: jobs.or(of_clients).unwrap_or("") })
    }

    /// Returns the jobs with their zero-based numbers. An element that is not an object is an error.
    fn jobs(&self) -> impl Iterator<Item = Result<(usize, Json), JsonError>> {
        items(self.jobs).enumerate().map(|(number, raw)| {
            let failed = |cause| JsonError { line: self.line, cause };
            match tree(raw).map_err(failed)? {
                job @ Json::Object(_) => Ok((number, job)),
                _ => Err(failed(format!("jobs[{number}] is not an object"))),
            }
        })
    }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let text = parts::text_with(input, KEYS)?;
    let failed = |error| parts::damaged_json(input, "fio", error);
    let own = |raw: &Result<(usize, &str), JsonError>| {
        raw.as_ref().map_or(true, |(_, raw)| KEYS.iter().all(|key| raw.contains(key)))
    };
    let documents = || raw_documents(text).filter(own).map(|raw| Document::of(raw?));
    let mut signal = input.holes(SIGNAL).map(|[number]| number);
    if signal.is_some() {
        // If the file has several runs, it is unknown which one the signal ended.
        let mut begun = 0;
        each_run(documents(), &mut |_, _| {
            begun += 1;
            Ok(())
        })
        .map_err(failed)?;
        signal = signal.filter(|_| begun == 1);
    }
    let mut runs: Vec<ImportedRun> = Vec::new();
    each_run(documents(), &mut |document, dropped| {
        let mut run = run(input, document, signal)?;
        if dropped > 0 {
            run.notices.push(intermediate(dropped));
        }
        // A document without results is not a run. A file of such documents would fill the memory.
        if !run.cells.is_empty() {
            room::take(3 * size_of::<ImportedRun>() + 1024);
            runs.push(run);
        }
        Ok(())
    })
    .map_err(failed)?;
    Ok(runs)
}

/// Passes on the last document of each run, with the number of intermediate reports before it.
fn each_run<'a>(
    documents: impl Iterator<Item = Result<Document<'a>, JsonError>>,
    take: &mut dyn FnMut(&Document<'a>, usize) -> Result<(), JsonError>,
) -> Result<(), JsonError> {
    let (mut last, mut dropped) = (None, 0);
    for document in documents {
        let document = document?;
        if let Some(before) = &last {
            if continues(before, &document) {
                dropped += 1;
            } else {
                take(before, std::mem::take(&mut dropped))?;
            }
        }
        if room::is_spent() {
            return Ok(());
        }
        last = Some(document);
    }
    last.map_or(Ok(()), |last| take(&last, dropped))
}

/// Returns whether `next` is a later report of the same fio process: the same jobs, at least as much
/// work, and the same start time.
fn continues(document: &Document<'_>, next: &Document<'_>) -> bool {
    let done = |job: &Json, word: &str| job.get(word).and_then(|ddir| ddir.count_of("io_bytes")).unwrap_or(0);
    let mut times = [document, next].map(|document| DocumentTimes::begin(&document.head));
    let [mut before, mut after] = [document, next].map(|document| document.jobs().map(Result::ok));
    loop {
        let (before, after) = match (before.next(), after.next()) {
            (Some(Some((_, before))), Some(Some((_, after)))) => (before, after),
            (None, None) => break,
            _ => return false,
        };
        let is_same =
            ["jobname", "groupid", "job options"].iter().all(|key| before.get(key) == after.get(key));
        if !is_same || DIRECTIONS.iter().any(|word| done(&before, word) > done(&after, word)) {
            return false;
        }
        times[0].add(&before);
        times[1].add(&after);
    }
    let [this, next] = times.map(DocumentTimes::end);
    let Some((this, next)) = this.zip(next) else { return false };
    next.end_ms >= this.end_ms && this.begun_ms().abs_diff(next.begun_ms()) <= this.tolerance_ms()
}

/// Values of a job that determine `DocumentTimes`.
struct JobTimes<'j> {
    head: &'j Json,
    elapsed_s: Option<u64>,
    runtime_ms: u64,
}

impl JobTimes<'_> {
    fn add(&mut self, job: &Json) {
        self.elapsed_s = self.elapsed_s.max(job.count_of("elapsed"));
        let runtimes = DIRECTIONS.iter().filter_map(|word| job.get(word)?.count_of("runtime"));
        self.runtime_ms = runtimes.fold(self.runtime_ms, u64::max);
    }
}

/// Time at which a document was written, and the run time of its fio process.
struct DocumentTimes {
    end_ms: u64,
    elapsed_ms: u64,
    /// fio 2 prints only whole seconds.
    has_ms: bool,
}

impl DocumentTimes {
    fn begin(head: &Json) -> JobTimes<'_> {
        JobTimes { head, elapsed_s: None, runtime_ms: 0 }
    }

    fn end(JobTimes { head, elapsed_s, runtime_ms }: JobTimes<'_>) -> Option<Self> {
        let elapsed_ms = elapsed_s?.checked_mul(1000)?;
        Some(match head.count_of("timestamp_ms") {
            Some(end_ms) if runtime_ms > 0 => Self { end_ms, elapsed_ms: runtime_ms, has_ms: true },
            _ => Self { end_ms: head.count_of("timestamp")?.checked_mul(1000)?, elapsed_ms, has_ms: false },
        })
    }

    fn begun_ms(&self) -> u64 {
        self.end_ms.saturating_sub(self.elapsed_ms)
    }

    /// Maximum difference between two start times of one fio process as printed. A process that started
    /// after the end of this one started later by all of this one's time, so half of that time
    /// separates the two.
    fn tolerance_ms(&self) -> u64 {
        /// Two roundings to a second.
        const ROUNDED_MS: u64 = 1000;
        if self.has_ms {
            return (self.elapsed_ms / 2).min(ROUNDED_MS / 2);
        }
        // Seconds are rounded up: a run of two seconds may have lasted one, and a process started right
        // after it appears a second later.
        let least = self.elapsed_ms.saturating_sub(ROUNDED_MS);
        if least / 2 < ROUNDED_MS { 0 } else { ROUNDED_MS }
    }
}

fn run(input: &Input<'_>, document: &Document<'_>, signal: Option<&str>) -> Result<ImportedRun, JsonError> {
    let head = &document.head;
    let version =
        head.text_of("fio version").map(|words| words.strip_prefix("fio-").unwrap_or(words).to_owned());
    let epoch = head.count_of("timestamp").and_then(dates::from_epoch);
    let origin = Origin {
        version,
        measured_at: epoch.or_else(|| head.text_of("time").and_then(dates::from_ctime)),
        ..input.origin("fio", "fio-json")
    };
    let (mut entries, mut cells) = (JobEntries::default(), 0);
    for job in document.jobs() {
        let (_, job) = job?;
        entries.add(&entry(&job));
        let did = |word: &&&str| {
            job.get(word).and_then(|ddir| ddir.text_of("io_bytes")).is_some_and(units::positive)
        };
        cells += DIRECTIONS.iter().filter(did).count() + usize::from(job.get("sync").is_some());
    }
    let mut job_run = JobRun::new(entries, cells);
    for job in document.jobs() {
        let (number, job) = job?;
        let result = result(head, &job)
            .map_err(|cause| JsonError { line: document.line, cause: format!("jobs[{number}].{cause}") })?;
        if !job_run.add(result) {
            break;
        }
    }
    Ok(ImportedRun { environment: environment(head), ..job_run.finish(signal, origin) })
}

/// Values that identify the job of an entry: its name, its group and its machine.
const ENTRY: [&str; 3] = ["jobname", "groupid", "hostname"];

fn entry(job: &Json) -> [String; 3] {
    ENTRY.map(|key| repeated(job.text_of(key).unwrap_or("")))
}

/// Returns the devices whose counters fio read.
fn environment(document: &Json) -> Environment {
    let disks = document.items_of("disk_util");
    let devices = disks.iter().filter_map(|disk| disk.text_of("name"));
    let devices = devices.map(|name| BlockDevice { name: name.to_owned(), ..BlockDevice::default() });
    Environment { devices: devices.collect(), ..Environment::default() }
}

/// Returns the result of a job in each direction in which it did I/O, and of its syncs if it has any.
fn result(document: &Json, job: &Json) -> Result<JobResult, String> {
    let mut directions = Vec::new();
    for word in DIRECTIONS {
        let Some(ddir) = job.get(word) else { continue };
        check_numbers(ddir).map_err(|cause| format!("{word}.{cause}"))?;
        if ddir.text_of("io_bytes").is_some_and(units::positive) {
            directions.push((word, figures(ddir)));
        }
    }
    if let Some(sync) = job.get("sync") {
        check_numbers(sync).map_err(|cause| format!("sync.{cause}"))?;
        directions.push(("sync", latency(sync, "lat", &FigureOf::SyncLatency)));
    }
    directions.retain(|(_, figures)| !figures.is_empty());
    let run_ms = DIRECTIONS.iter().filter_map(|word| job.get(word)?.count_of("runtime")).max();
    Ok(JobResult {
        entry: entry(job),
        options: JobOptions::of(document, job),
        error: job.count_of("error").unwrap_or(0),
        directions,
        run_ns: run_ms.map(|ms| ms as f64 * 1e6),
    })
}

/// Keys of a direction whose values become figures, with their units.
const NUMBERS: [(&str, ToolUnit); 6] = [
    ("bw_bytes", units::BYTES_PER_S),
    ("bw", units::KIB_PER_S),
    ("iops", units::IOPS),
    ("io_bytes", units::BYTES),
    ("total_ios", units::COUNT),
    ("runtime", units::RUN_MILLISECONDS),
];

/// Checks that every value of a direction that becomes a figure is possible for storage. The error
/// begins with its key.
fn check_numbers(ddir: &Json) -> Result<(), String> {
    let check = |json: &Json, key: &str, unit: ToolUnit| match json.get(key) {
        Some(value) => check_number(value, unit).map_err(|cause| format!("{key} {cause}")),
        None => Ok(()),
    };
    for (key, unit) in NUMBERS {
        check(ddir, key, unit)?;
    }
    for (unit, _, names) in SAMPLES {
        let [count, names @ ..] = names;
        check(ddir, count, units::COUNT)?;
        for name in names {
            ddir.get(name).map_or(Ok(()), |value| {
                check_statistic(value, unit).map_err(|cause| format!("{name} {cause}"))
            })?;
        }
    }
    for name in ["clat", "lat", "slat"] {
        for (key, unit) in
            [(format!("{name}_ns"), units::NANOSECONDS), (name.to_owned(), units::MICROSECONDS)]
        {
            let Some(summary) = ddir.get(&key) else { continue };
            let within = |cause| format!("{key}.{cause}");
            check(summary, "N", units::COUNT).map_err(within)?;
            check_latency(summary, unit).map_err(within)?;
        }
    }
    Ok(())
}

/// Checks that the statistics of a latency are numbers. Impossible ones are not an error: the latency
/// is removed together with its percentiles, and the other figures of the job are kept.
fn check_latency(summary: &Json, unit: ToolUnit) -> Result<(), String> {
    let check = |value: &Json| check_statistic(value, unit);
    for name in ["mean", "min", "max", "stddev"] {
        if let Some(value) = summary.get(name) {
            check(value).map_err(|cause| format!("{name} {cause}"))?;
        }
    }
    let percentiles = summary.get("percentile").map_or(&[][..], Json::members).iter();
    for (percent, value) in percentiles.filter(|(percent, _)| percentile(percent).is_some()) {
        check(value).map_err(|cause| format!("percentile[\"{percent}\"] {cause}"))?;
    }
    Ok(())
}

/// Checks that a statistic of samples is a number, though it may be an impossible one.
fn check_statistic(value: &Json, unit: ToolUnit) -> Result<(), String> {
    match value {
        Json::Number(printed) | Json::Text(printed)
            if unit.value(printed).or(units::impossible(printed)).is_some() =>
        {
            Ok(())
        }
        _ => check_number(value, unit),
    }
}

/// Checks that a value is possible for a unit. fio prints numbers, and `null` if the value is unknown.
fn check_number(value: &Json, unit: ToolUnit) -> Result<(), String> {
    match value {
        Json::Null => Ok(()),
        Json::Number(printed) | Json::Text(printed) => match unit.value(printed) {
            Some(value) if unit.quantity.is_possible(value) => Ok(()),
            Some(_) => Err(format!("is {}, which is impossible for any storage", repeated(printed))),
            None => Err(format!("is {}, which is not a number of 0 or more", repeated(printed))),
        },
        _ => Err("is not a number".to_owned()),
    }
}

/// Returns the figures of a direction: rate, operations, latencies, spread of the samples, and totals.
fn figures(ddir: &Json) -> Vec<PrintedFigure> {
    let mut figures = Vec::new();
    // A run too short for fio's millisecond clock has a runtime of 0 and rates of 0, which are not
    // measured rates.
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

/// Returns the statistics of a sampled quantity: count, mean, minimum, maximum and deviation. Empty if
/// it was not sampled.
fn sampled<'a>(
    unit: ToolUnit,
    of: FigureOf,
    [count, mean, low, high, deviation]: [Option<&'a str>; 5],
    besides: Vec<Named<'a>>,
) -> impl Iterator<Item = PrintedFigure> + 'a {
    // fio 2 does not print the count. A maximum of 0 means that there are no samples.
    let is_sampled = count.or(high).is_some_and(units::positive);
    let spread = SPREAD.into_iter().zip([mean, low, high, deviation]);
    figures_of(unit, of, spread.chain(besides)).filter(move |_| is_sampled)
}

/// Returns a latency in all its statistics; none if it was not sampled.
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
