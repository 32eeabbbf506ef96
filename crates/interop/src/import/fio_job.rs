//! What the jobs of a run of fio came to, whichever of its forms tells it.
//!
//! The model: each direction of a job that did I/O is a cell. It is called by what its options do, so that it meets the cells of
//! other tools that do the same, with its job's name beside. A run that ended before its time says so. Without
//! `group_reporting` each thread of a job has a cell, which is one of them and not the job.

use super::fio_options::{JobOptions, direction, label};
use super::kit::*;
use crate::job::beside;
use kurabe_core::number::long_time;
use std::collections::{HashMap, HashSet};

/// What a job came to.
#[derive(Default)]
pub(super) struct JobResult {
    /// Its name, its group and its machine, which entries of several threads of one job, and of no two jobs, have in common.
    pub(super) entry: [String; 3],
    pub(super) options: JobOptions,
    /// The number of the error that ended it, or 0.
    pub(super) error: u64,
    /// Figures by fio's word for the direction, or for syncs.
    pub(super) directions: Vec<(&'static str, Vec<PrintedFigure>)>,
    /// How long it ran.
    pub(super) run_ns: Option<f64>,
}

/// Jobs that ended this much before their time was over did so by themselves.
const EARLY_NS: f64 = 1e9;

impl JobResult {
    /// How long it ran and how long it was to run, if it ended before.
    fn cut_short(&self) -> Option<(f64, f64)> {
        let (run_ns, asked_ns) = (self.run_ns?, self.options.asked_ns()? as f64);
        (run_ns + EARLY_NS < asked_ns).then_some((run_ns, asked_ns))
    }

    fn cells(&mut self) -> Vec<Cell> {
        let mut shape = ImportedCell::default();
        self.options.describe("read", &mut shape);
        let [name, _, host] = &self.entry;
        let work = self.options.shape(&shape).unwrap_or_else(|| name.clone());
        let work = format!("{host} {work}").trim_start().to_owned();
        let directions = std::mem::take(&mut self.directions).into_iter();
        let cell = |(word, figures)| {
            let word = self.options.true_direction(word);
            let mut imported = ImportedCell { runs: Some(1), figures, ..ImportedCell::default() };
            self.options.describe(word, &mut imported);
            if word == "sync" {
                (imported.block_bytes, imported.sequential, imported.read_percent) = (None, None, None);
            }
            let label = beside(&label(&work, word), &repeated(name), direction(word));
            cell(label, direction(word), imported)
        };
        directions.map(cell).collect()
    }

    /// That an error ended it.
    fn failed(&self) -> Option<Notice> {
        let ([name, ..], number) = (&self.entry, self.error);
        (number != 0).then(|| {
            notice(text!(
                "fio's job `{name}` ended with error {number}; its figures may be of a part of the work",
                "fio のジョブ `{name}` はエラー {number} で終わりました。数値は途中までのものかもしれません"
            ))
        })
    }
}

/// The run of these jobs; `signal` is that of which fio wrote.
pub(super) fn run_of(mut jobs: Vec<JobResult>, signal: Option<&str>, origin: Origin) -> ImportedRun {
    let mut entries: HashMap<[String; 3], usize> = HashMap::new();
    jobs.iter().for_each(|job| *entries.entry(job.entry.clone()).or_default() += 1);
    let mut run = ImportedRun { origin, ..ImportedRun::default() };
    let mut direct: Vec<Option<String>> = Vec::new();
    let (mut cells, mut apart) = (Vec::new(), 0);
    let mut procedures: Vec<String> = Vec::new();
    let ended = ended_early(signal, &jobs);
    run.interrupted = ended.is_some();
    run.notices.extend(ended);
    for job in &mut jobs {
        job.options.threads_apart = entries.get(&job.entry).is_some_and(|count| *count > 1);
        direct.push(job.options.direct());
        run.notices.extend(job.failed());
        let of_job = job.cells();
        if !of_job.is_empty() {
            apart += usize::from(job.options.threads_apart);
            let target = || job.options.get(&["filename", "directory"]).map(str::to_owned);
            run.origin.target = run.origin.target.take().or_else(target);
            procedures.extend(job.options.line());
        }
        cells.extend(of_job);
    }
    if apart > 0 {
        run.notices.push(notice(text!(
            "fio ran without `group_reporting`: {apart} of these jobs are single threads of a job, and their sum, which fio \
             did not print, is what the job did",
            "fio は `group_reporting` なしで実行されています。ジョブのうち {apart} 件はそれぞれ 1 スレッド分の値で、ジョブ全体の値(合計)は\
             出力されていません"
        )));
    }
    direct.dedup();
    if let [Some(direct)] = direct.as_slice() {
        fact(&mut run.origin, "direct", direct.clone());
    }
    let mut lines = HashSet::new();
    procedures.retain(|line| lines.insert(line.clone()));
    run.origin.procedure = (!procedures.is_empty()).then(|| procedures.join("\n"));
    ImportedRun { cells, ..run }
}

/// What ended a run before its time: a signal, or whatever left a job less time than it was given.
fn ended_early(signal: Option<&str>, jobs: &[JobResult]) -> Option<Notice> {
    let longest = |times: &dyn Fn(&JobResult) -> Option<f64>| {
        let longest_ns = jobs.iter().filter_map(times).max_by(f64::total_cmp)?;
        Some(long_time((longest_ns / 1e9).round() as u64 * 1_000_000_000))
    };
    let cut = longest(&|job| job.cut_short().map(|(run_ns, _)| run_ns));
    let asked = longest(&|job| job.cut_short().map(|(_, asked_ns)| asked_ns));
    let run = cut.or_else(|| longest(&|job| job.run_ns))?;
    let after = match &asked {
        Some(asked) => text!("after {run} of {asked}", "{asked} のうち {run} の時点"),
        None => text!("after {run}", "{run} の時点"),
    };
    let ended = match signal {
        Some(number) => text!(
            "fio was ended by signal {number} {after}",
            "fio は{after}でシグナル {number} により終了しました"; after
        ),
        None => {
            asked?;
            text!("fio ended {after}", "fio は{after}で終了しました"; after)
        }
    };
    Some(notice(text!(
        "{ended}: the figures are of that part",
        "{ended}。数値はそこまでのものです"; ended
    )))
}
