//! fio's text output. The normal output of versions 1 to 3 is read, because people paste it. It rounds
//! figures that the JSON contains exactly, which a notice states. The terse lines, which are made for
//! programs, contain less than the JSON and are refused.
//!
//! The model: one line describes the work of a job, another one begins its result. Below that are the
//! lines of its directions, each followed by its latencies. Before version 3, KB and MB are powers of
//! 1024. The summary of all jobs is read only without them (`fio_groups`). Latencies alone, as people
//! compare them, are a job of an unknown direction. If a job occurs again after the start of another
//! process, each process is a run. If it occurs again with the same process id, the text is of
//! `--status-interval`, and only the last report counts. Source: fio's manual,
//! "Interpreting the output", of 2.2 and 3.33.

use super::fio_groups::{self, Commands, Groups};
use super::fio_job::{JobEntries, JobResult, JobRun, LATENCIES, SIGNAL, intermediate};
use super::fio_options::{JobOptions, percentile};
use super::kit::*;
use super::room;
use kurabe_core::mention::Mention;
use std::collections::HashMap;

const DESCRIPTION: &str = "{}: (g={}): rw={}, bs={}, ioengine={}, iodepth={}";
const RESULT: &str = "{}: (groupid={}, jobs={}): err={}: pid={}";
const SINCE_3: &str = "{}: IOPS={}, BW={} ({})({}/{}msec){}";
const BEFORE_3: &str = "{}: io={}, bw={}, iops={}, runt={}msec";
/// fio's words at the start of these lines.
pub(super) const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];
/// Heading of the latencies of syncs.
const SYNCS: &str = "fsync/fdatasync/sync_file_range:{}";
const SYNC: &str = "sync";
const LATENCY: &str = "{} ({}): min={}, max={}, avg={}, stdev={}";
const PERCENTILES: &str = "{} percentiles ({}):";
/// Direction of latencies in an excerpt without the line of a direction.
const UNKNOWN: &str = "";
/// Without job descriptions, which also precede JSON.
const OF_NORMAL: LineShapes = LineShapes {
    begins: &[],
    belongs: &[
        RESULT,
        SINCE_3,
        BEFORE_3,
        SYNCS,
        fio_groups::SINCE_3,
        fio_groups::BEFORE_3,
        LATENCY,
        PERCENTILES,
    ],
};
const OF_TERSE: LineShapes = LineShapes { begins: &[], belongs: &["3;fio-{}", "4;fio-{}", "5;fio-{}"] };
const IN_FULL: Mention = Mention::Shell("fio --output-format=json --output=result.json");

pub(super) const FORMAT: &str = "fio-text";
pub(super) const NORMAL: Importer =
    Importer::of(("fio's normal text", "fio", &["ioengine="]), Recognizer::Shapes(OF_NORMAL), read);
pub(super) const TERSE: Importer =
    Importer::of(("fio's terse text", "fio", &[";fio-"]), Recognizer::Shapes(OF_TERSE), |input| {
        let own = input.lines().find(|(_, line)| OF_TERSE.mark(line) != LineMark::None);
        let Some((number, _)) = own else { return without_line("3;fio-3.33;NAME;0;0;…") };
        let what = text!("this is fio's terse text", "これは fio の terse 出力です");
        let remedy = text!(
            "make fio write exact figures: {IN_FULL} JOB",
            "fio に値を丸めずに書かせてください: {IN_FULL} ジョブ"
        );
        Err(broken_line(input, number, what).remedy(remedy).into())
    });

fn read(input: &Input<'_>) -> ImportedRuns {
    let mut text = FioText::default();
    input.lines().for_each(|(_, line)| text.read(line));
    let signal = input.holes(SIGNAL).map(|[number]| number);
    let FioText { jobs, mut processes, groups, commands, .. } = text;
    let mut runs: Vec<(FioProcess<'_>, Vec<JobResult>, Vec<usize>)> = Vec::new();
    if jobs.jobs.iter().all(|job| job.directions.is_empty()) {
        let all = FioProcess::joined(processes);
        runs.extend(groups.runs().into_iter().map(|jobs| (all.clone(), jobs, Vec::new())));
    } else if are_apart(&jobs.jobs, &processes) {
        let TextJobs { mut jobs, commands: mut own, .. } = jobs;
        while let Some(process) = processes.pop() {
            let (jobs, own) = (jobs.split_off(process.first_job), own.split_off(process.first_job));
            runs.extend((!jobs.is_empty()).then_some((process, jobs, own)));
        }
        runs.reverse();
    } else {
        runs.push((FioProcess::joined(processes), jobs.jobs, jobs.commands));
    }
    if runs.is_empty() {
        return without_line("read: IOPS=…, BW=…` or `read : io=…, bw=…");
    }
    let runs = runs.into_iter().map(|(process, jobs, own)| {
        let (mut jobs, own, reports) = last_reports(jobs, own);
        add_options(&mut jobs, process.rate, (&commands, &own));
        let FioProcess { version, measured_at, .. } = process;
        let mut run = run(jobs, signal, Origin { version, measured_at, ..input.origin("fio", FORMAT) });
        run.notices.extend((reports > 0).then(|| intermediate(reports)));
        run
    });
    Ok(runs.collect())
}

/// Returns the jobs without those whose figures a later report includes, the number of commands above each
/// of them, and the number of jobs removed.
fn last_reports(jobs: Vec<JobResult>, own: Vec<usize>) -> (Vec<JobResult>, Vec<usize>, usize) {
    if own.is_empty() {
        return (jobs, own, 0);
    }
    let before = jobs.len();
    let is_report = |(job, _): &(JobResult, usize)| !job.directions.is_empty() || job.error != 0;
    let (jobs, own): (Vec<_>, Vec<_>) = jobs.into_iter().zip(own).filter(is_report).unzip();
    let removed = before - jobs.len();
    (jobs, own, removed)
}

/// A text while it is read.
#[derive(Default)]
struct FioText<'a> {
    described: HashMap<&'a str, JobOptions>,
    jobs: TextJobs<'a>,
    processes: Vec<FioProcess<'a>>,
    ranks: Option<(FigureOf, &'a str)>,
    groups: Groups,
    commands: Commands<'a>,
}

impl<'a> FioText<'a> {
    fn read(&mut self, line: &'a str) {
        self.commands.read(line);
        let (is_command, described) = (self.jobs.command < self.commands.count(), holes(DESCRIPTION, line));
        self.jobs.command = self.commands.count();
        let version = version(line);
        let process = self.process(is_command || described.is_some() || version.is_some());
        process.rate = process.rate.or_else(|| offered(line));
        process.version = process.version.take().or(version);
        if self.groups.read(line) {
            return;
        }
        if let Some([name, _, rw, bs, engine, depth]) = described {
            let sizes = block_sizes(bs);
            let pairs = [("rw", rw), ("bs", &*sizes), ("ioengine", engine), ("iodepth", depth)];
            room::take(1024);
            self.described.insert(name, JobOptions::of_pairs(pairs));
        } else if let Some([name, group, threads, error, process]) = holes(RESULT, line) {
            let mut options = description(&self.described, name);
            options.add("numjobs", threads);
            let (pid, date) = process.split_once(": ").unwrap_or((process, ""));
            let date = dates::from_ctime(date);
            let process = self.process(false);
            process.measured_at = process.measured_at.take().or(date);
            let error = error.parse().unwrap_or(0);
            let entry = [name, group, ""].map(str::to_owned);
            room::take(1024);
            self.jobs.supersede((self.processes.len(), name, group, pid));
            self.jobs.push(JobResult { entry, options, error, ..JobResult::default() });
        } else if let Some((word, figures)) = direction(line) {
            self.jobs.open().directions.push((word, figures));
        } else if fits(SYNCS, line) {
            self.jobs.open();
        } else if let Some([word, unit]) = holes(PERCENTILES, line) {
            self.ranks = latency_of(word).zip(Some(unit));
        } else {
            self.jobs.add_latencies(self.ranks.as_ref(), line);
        }
    }

    /// Returns the process of the next job. `begins` is whether a line begins another one, which it does
    /// below the results of the last one.
    fn process(&mut self, begins: bool) -> &mut FioProcess<'a> {
        let first_job = self.jobs.jobs.len();
        if self.processes.last().is_none_or(|last| begins && last.first_job < first_job) {
            room::take(256);
            self.processes.push(FioProcess { first_job, ..FioProcess::default() });
        }
        let last = self.processes.len() - 1;
        &mut self.processes[last]
    }
}

/// A process of fio in a text.
#[derive(Clone, Default)]
struct FioProcess<'a> {
    version: Option<String>,
    measured_at: Option<String>,
    /// The offered rate.
    rate: Option<(&'static str, &'a str)>,
    first_job: usize,
}

impl FioProcess<'_> {
    /// Returns the first known facts of several processes.
    fn joined(processes: Vec<Self>) -> Self {
        processes
            .into_iter()
            .reduce(|one, next| Self {
                version: one.version.or(next.version),
                measured_at: one.measured_at.or(next.measured_at),
                rate: one.rate.or(next.rate),
                first_job: 0,
            })
            .unwrap_or_default()
    }
}

/// Returns whether the processes of a text are separate runs: a job occurs again in another process, or
/// their versions differ. Otherwise they are the steps of one benchmark.
fn are_apart(jobs: &[JobResult], processes: &[FioProcess<'_>]) -> bool {
    let mut versions = processes.iter().filter_map(|process| process.version.as_ref());
    let first = versions.next();
    if versions.any(|version| Some(version) != first) {
        return true;
    }
    let mut of_entry: HashMap<&[String; 3], usize> = HashMap::new();
    jobs.iter().enumerate().any(|(at, job)| {
        let process = processes.partition_point(|process| process.first_job <= at);
        *of_entry.entry(&job.entry).or_insert(process) != process
    })
}

/// Number of fio's process in the text, and name, group and process id of a job.
type JobOfProcess<'a> = (usize, &'a str, &'a str, &'a str);

/// The jobs of a text while it is read.
#[derive(Default)]
struct TextJobs<'a> {
    jobs: Vec<JobResult>,
    /// Place of the last report of each job.
    places: HashMap<JobOfProcess<'a>, usize>,
    /// Number of commands above each job.
    commands: Vec<usize>,
    /// Number of commands so far.
    command: usize,
}

impl<'a> TextJobs<'a> {
    /// Removes the figures of the last report of a job, which the next one includes (`--status-interval`).
    fn supersede(&mut self, job: JobOfProcess<'a>) {
        let (.., pid) = job;
        if digits(pid) && pid != "0" {
            let before = self.places.insert(job, self.jobs.len());
            if let Some(before) = before.and_then(|at| self.jobs.get_mut(at)) {
                (before.directions, before.error) = (Vec::new(), 0);
            }
        }
    }

    fn push(&mut self, job: JobResult) {
        self.jobs.push(job);
        self.commands.push(self.command);
    }

    /// Returns the last job, or the one of an excerpt without the line that begins a job. A command begins
    /// another one.
    fn open(&mut self) -> &mut JobResult {
        if self.commands.last() != Some(&self.command) {
            self.push_excerpt();
        }
        let last = self.jobs.len() - 1;
        &mut self.jobs[last]
    }

    fn push_excerpt(&mut self) {
        room::take(1024);
        // Excerpts are not threads of one job.
        let entry = ["fio".to_owned(), self.jobs.len().to_string(), String::new()];
        self.push(JobResult { entry, ..JobResult::default() });
    }

    /// Adds the latencies of the last direction, or of syncs, from a line below it.
    fn add_latencies(&mut self, ranks: Option<&(FigureOf, &str)>, line: &str) {
        let of = holes::<6>(LATENCY, line).and_then(|[word, ..]| latency_of(word));
        let is_row = || ranks.is_some() && line.trim().starts_with('|') && line.contains("th=[");
        if of.is_none() && !is_row() {
            return;
        }
        let is_repeated = |(_, figures): &(&str, Vec<PrintedFigure>)| {
            let mut means = figures.iter().filter(|figure| figure.statistic == Statistic::Mean);
            of.is_some() && means.any(|figure| figure.of == of)
        };
        let is_sync = of == Some(FigureOf::SyncLatency);
        let last = self.jobs.last().and_then(|job| job.directions.last());
        // In prose, the latencies of another run follow without the line of their direction.
        if !is_sync && last.is_some_and(is_repeated) {
            self.push_excerpt();
        }
        let directions = &mut self.open().directions;
        if directions.is_empty() && !is_sync {
            directions.push((UNKNOWN, Vec::new()));
        }
        add_latencies(directions, ranks, line);
    }
}

/// Returns the described options of a job. A script may have printed words before the description.
fn description(described: &HashMap<&str, JobOptions>, name: &str) -> JobOptions {
    let is_of = |key: &&&str| key.strip_suffix(name).is_some_and(|rest| rest.ends_with(['=', '-', ' ']));
    let key = described.get_key_value(name).map(|(key, _)| key).or_else(|| {
        let mut own = described.keys().filter(is_of);
        own.next().filter(|_| own.next().is_none())
    });
    key.and_then(|key| described.get(key)).cloned().unwrap_or_default()
}

/// Adds the options of each command line to its only job. If several jobs are below a command, it is unknown
/// to which of them they belong. `own` has the number of commands above each job.
fn add_options(
    jobs: &mut [JobResult],
    rate: Option<(&'static str, &str)>,
    (commands, own): (&Commands<'_>, &[usize]),
) {
    for (job, number) in jobs.iter_mut().zip(own).filter(|_| commands.count() > 1) {
        let is_only = own.iter().filter(|other| *other == number).count() == 1;
        let options = number.checked_sub(1).filter(|_| is_only).map(|place| commands.options_of(place));
        add_missing(job, options.unwrap_or_default());
    }
    let [job] = jobs else { return };
    job.options.are_all |= commands.is_of_one_job();
    add_missing(job, rate.into_iter().chain(commands.options()));
}

/// Adds the options that a job does not have yet.
fn add_missing<'o>(job: &mut JobResult, options: impl IntoIterator<Item = (&'static str, &'o str)>) {
    for (name, value) in options {
        if job.options.get(&[name]).is_none() {
            job.options.add(name, value);
        }
    }
}

fn run(mut jobs: Vec<JobResult>, signal: Option<&str>, origin: Origin) -> ImportedRun {
    jobs.iter_mut().for_each(finish);
    let mut entries = JobEntries::default();
    jobs.iter().for_each(|job| entries.add(&job.entry));
    let mut job_run = JobRun::new(entries, 0);
    let _has_room = jobs.into_iter().all(|job| job_run.add(job));
    let mut run = job_run.finish(signal, origin);
    run.notices.push(notice(text!(
        "fio's text output rounds its figures; {IN_FULL} writes exact figures",
        "fio のテキスト出力は値を丸めています。丸めない値は {IN_FULL} で出力できます"
    )));
    run
}

/// Returns the version in a line such as `fio-3.20-90-g5bd52`. A job can be named `fio-4k`, but other
/// words follow its name.
fn version(line: &str) -> Option<String> {
    let version = line.trim().strip_prefix("fio-").filter(|rest| !rest.contains(char::is_whitespace))?;
    let number = version.split_once('-').map_or(version, |(number, _)| number);
    let is_number =
        number.contains('.') && number.split('.').all(|part| digits(part) || part.starts_with("rc"));
    is_number.then(|| version.to_owned())
}

/// Returns the offered rate, from a command line (`fio … --rate_iops=300`) or from the progress line,
/// which has `0-300 IOPS` or `CR=300/0 IOPS` after the number of jobs. The rate applies even if other options of the
/// command are unknown.
fn offered(line: &str) -> Option<(&'static str, &str)> {
    if let Some([_, _, rate, _]) = holes("Jobs: {} (f={}), 0-{} IOPS:{}", line) {
        return Some(("rate_iops", rate)).filter(|_| digits(rate));
    }
    if let Some([_, _, rate, _, _]) = holes("Jobs: {} (f={}), CR={}/{} IOPS:{}", line) {
        return Some(("rate_iops", rate)).filter(|_| units::positive(rate));
    }
    let words = || line.split_whitespace();
    words().find(|word| *word == "fio" || word.ends_with("/fio"))?;
    let value = |name: &str| {
        let own = words().filter_map(|word| word.trim_start_matches('-').strip_prefix(name));
        own.filter_map(|word| word.strip_prefix('=')).next()
    };
    ["rate_iops", "rate"].into_iter().find_map(|name| Some((name, value(name)?)))
}

/// Converts `4K-4K/8K-8K/4K-4K` or `(R) 4096B-4096B, (W) 8.0KiB-8.0KiB` to the value of the option.
/// Empty if one is a range.
fn block_sizes(words: &str) -> String {
    let sizes = words.split(['/', ',']).map(|range| {
        let range = range.trim_start_matches(|c: char| " (RWT)".contains(c));
        let (size, _) = range.split_once('-').filter(|(low, high)| low == high)?;
        Some(format!("{:.0}", value(size, 1024.0)?.0))
    });
    sizes.collect::<Option<Vec<_>>>().unwrap_or_default().join(",")
}

/// Parses the line of a direction: fio's word for it, and the figures.
fn direction(line: &str) -> Option<(&'static str, Vec<PrintedFigure>)> {
    let since_3 = holes(SINCE_3, line)
        .map(|[word, iops, rate, _, data, time_ms, _]| (word, data, rate, iops, time_ms, 1000.0));
    let before_3 = || {
        holes(BEFORE_3, line)
            .map(|[word, data, rate, iops, time_ms]| (word, data, rate, iops, time_ms, 1024.0))
    };
    let (word, data, rate, iops, time_ms, thousand) = since_3.or_else(before_3)?;
    let word = DIRECTIONS.into_iter().find(|direction| *direction == word)?;
    let sized = |quantity, statistic, words, thousand| {
        let (value, number, unit) = value(words, thousand)?;
        figure_of_value(quantity, statistic, value, number, unit)
    };
    let mut rate = sized(Quantity::Rate, Statistic::Mean, rate, thousand);
    if thousand == 1024.0 {
        rate.iter_mut().for_each(|rate| units::mark_binary_unit(rate, "fio 2"));
    }
    let iops = value(iops, 1000.0)
        .and_then(|(value, ..)| figure_of_value(Quantity::Iops, Statistic::Mean, value, iops, "IOPS"));
    let mut data = sized(Quantity::Bytes, Statistic::Sum, data, thousand)
        .map(|data| PrintedFigure { of: Some(FigureOf::DataMoved), ..data });
    if thousand == 1024.0 {
        data.iter_mut().for_each(|data| units::mark_binary_unit(data, "fio 2"));
    }
    let time = units::RUN_MILLISECONDS.figure_of(FigureOf::RunTime, Statistic::Sum, time_ms);
    Some((word, [rate, iops, data, time].into_iter().flatten().collect()))
}

/// Parses `48.1MiB/s`, `1024.0MB`, `12.3k`: the value, its digits, and the rest.
pub(super) fn value(words: &str, thousand: f64) -> Option<(f64, &str, &str)> {
    let end = words.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(words.len());
    let (number, unit) = words.split_at(end);
    let prefix = unit.split(['i', 'B']).next().unwrap_or("");
    let base = if unit.contains('i') { 1024.0 } else { thousand };
    Some((words::number(number)? * power(base, &["", "k K", "M", "G", "T", "P"], prefix)?, number, unit))
}

fn latency_of(word: &str) -> Option<FigureOf> {
    let syncs = (word == SYNC).then_some(FigureOf::SyncLatency);
    LATENCIES.into_iter().find(|(name, _)| *name == word).map(|(_, of)| of).or(syncs)
}

/// Returns a latency in a unit such as `usec`.
fn latency(of: &FigureOf, unit: &str, statistic: Statistic, words: &str) -> Option<PrintedFigure> {
    let ns = power(1000.0, &["nsec", "usec", "msec", "sec"], unit)?;
    let figure = figure_of_value(Quantity::Latency, statistic, value(words, 1000.0)?.0 * ns, words, unit)?;
    Some(PrintedFigure { of: Some(of.clone()), ..figure })
}

/// Adds the latencies of a direction, or of syncs, from a line below it.
fn add_latencies(
    directions: &mut Vec<(&'static str, Vec<PrintedFigure>)>,
    ranks: Option<&(FigureOf, &str)>,
    line: &str,
) {
    if let Some([word, unit, low, high, mean, deviation]) = holes(LATENCY, line) {
        if word == SYNC {
            directions.push((SYNC, Vec::new()));
        }
        let Some((of, (_, figures))) = latency_of(word).zip(directions.last_mut()) else { return };
        let spread = SPREAD.into_iter().zip([mean, low, high, deviation]);
        figures.extend(spread.filter_map(|(statistic, words)| latency(&of, unit, statistic, words)));
    } else if let (Some((of, unit)), Some(row)) = (ranks, line.trim().strip_prefix('|'))
        && let Some((_, figures)) = directions.last_mut()
    {
        let of_rank = |entry: &str| {
            let [rank, words] = holes("{}th=[{}]", entry)?;
            latency(of, unit, percentile(rank)?, words)
        };
        figures.extend(row.split(',').filter_map(of_rank));
    }
}

/// Completes a job after its directions. The latency that people compare comes first, as in the JSON.
fn finish(job: &mut JobResult) {
    let first = |word: &str, quantity| {
        let (_, figures) = job.directions.iter().find(|(direction, _)| *direction == word)?;
        figures.iter().find(|figure| figure.quantity == quantity).map(|figure| figure.value)
    };
    let operations = first("read", Quantity::Iops).zip(first("write", Quantity::Iops));
    // The requested share is unknown.
    job.options.read_percent = operations.map(|(reads, writes)| 100.0 * reads / (reads + writes));
    let times_ns = DIRECTIONS.iter().filter_map(|word| first(word, Quantity::Duration));
    job.run_ns = times_ns.max_by(f64::total_cmp);
    for (_, figures) in &mut job.directions {
        figures.sort_by_key(|figure| match figure.quantity {
            Quantity::Rate | Quantity::Iops => 0,
            Quantity::Latency => {
                1 + LATENCIES.iter().position(|(_, of)| figure.of.as_ref() == Some(of)).unwrap_or(0)
            }
            _ => 1 + LATENCIES.len(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;
    use super::*;
    use kurabe_core::Lang;

    const FIO_2: &str = "db: (g=0): rw=randrw, bs=4K-4K/8K-8K/4K-4K, ioengine=libaio, iodepth=32
fio-2.2.10
Starting 4 processes

db: (groupid=0, jobs=4): err= 0: pid=4231: Tue Mar  1 10:20:30 2016
  read : io=1024.0MB, bw=8192.5KB/s, iops=2048, runt=128000msec
    slat (usec): min=3, max=200, avg= 5.12, stdev=10.01
    clat (msec): min=5, max=30, avg=15.60, stdev= 2.01
     lat (msec): min=5, max=31, avg=15.65, stdev= 2.01
    clat percentiles (usec):
     |  1.00th=[ 9000],  5.00th=[11000], 10.00th=[12000], 20.00th=[13000],
     | 99.90th=[28000]
    bw (KB  /s): min=500000, max=540000, per=100.00%, avg=523000.00, stdev=1000.00
  write: io=10752MB, bw=86016KB/s, iops=10752, runt=128000msec
    clat (usec): min=30, max=13600, avg=45.12, stdev=10.01
  cpu          : usr=0.10%, sys=2.50%, ctx=1030, majf=0, minf=2060
";

    #[test]
    fn the_text_of_fio_2_is_read() {
        let run = import("a.txt", FIO_2.as_bytes()).unwrap().remove(0);
        assert_eq!(run.origin.tool_name(), "fio 2.2.10");
        assert_eq!(run.origin.measured_at.as_deref(), Some("2016-03-01T10:20:30"));
        let read = find(&run, "RND 4 KiB Q32 T4 16 % read · db read");
        let printed = of(read);
        assert_eq!((printed.block_bytes, printed.iodepth, printed.threads), (Some(4096), Some(32), Some(4)));
        assert_figure(&printed.figures[0], "8192.5", "KB/s", 8192.5 * 1024.0);
        assert_eq!(printed.figures[0].correction.as_ref().map(|correction| correction.factor), Some(1.024));
        assert_eq!(printed.figures[1].value, 2048.0);
        let clat = |statistic| figure(read, Quantity::Latency, statistic, Some("completion latency"));
        assert_eq!(&printed.figures[2], clat(Statistic::Mean));
        assert_figure(clat(Statistic::Mean), "15.60", "msec", 15.6e6);
        assert_figure(clat(Statistic::Percentile(99.9)), "28000", "usec", 28e6);
        let moved = figure(read, Quantity::Bytes, Statistic::Sum, Some("data moved"));
        assert_figure(moved, "1024.0", "MB", 1_073_741_824.0);
        assert_eq!(of(&run.cells[1]).block_bytes, Some(8192));
        assert!(run.notices[0].text.en.contains("rounds its figures"), "{:?}", run.notices);
        assert_eq!(run.origin.facts.get("direct"), None, "the text does not tell");
    }

    #[test]
    fn the_text_of_fio_3_is_read() {
        let text = "fio: terminating on signal 2
r: (g=0): rw=randread, bs=(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB, ioengine=psync, iodepth=8
r: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 13:23:23 2026
   read: IOPS=12.3k, BW=192MiB/s (201MB/s)(11.2GiB/60001msec); 0 zone resets
    clat (nsec): min=1200, max=13.6k, avg=4512.12, stdev=10.01
  fsync/fdatasync/sync_file_range:
    sync (usec): min=30, max=200, avg=45.12, stdev=10.01
";
        let run = import("a.txt", text.as_bytes()).unwrap().remove(0);
        let read = find(&run, "RND 16 KiB Q1 T1 · r read");
        assert_figure(&of(read).figures[0], "192", "MiB/s", 192.0 * 1_048_576.0);
        assert_figure(&of(read).figures[1], "12.3k", "IOPS", 12_300.0);
        let highest = figure(read, Quantity::Latency, Statistic::Highest, Some("completion latency"));
        assert_figure(highest, "13.6k", "nsec", 13_600.0);
        let syncs = find(&run, "RND 16 KiB Q1 T1 sync · r");
        assert_eq!(of(syncs).figures[0].of, Some(FigureOf::SyncLatency));
        assert!(
            run.interrupted && run.notices[0].text.en.contains("signal 2 after 1 min: "),
            "{:?}",
            run.notices
        );
    }

    #[test]
    fn the_terse_text_is_refused_with_the_remedy() {
        let text = "3;fio-3.33;a;0;0;819200;819200;12800;1000;0;0;0.000000;0.000000\n";
        let error = import("a.txt", text.as_bytes()).unwrap_err();
        assert!(error.what().en.contains("fio's terse text"), "{error}");
        assert!(error.render(Lang::En).contains("--output-format=json"), "{error}");
    }
}
