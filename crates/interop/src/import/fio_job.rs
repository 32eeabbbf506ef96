//! Results of the jobs of a fio run, independent of the output format.
//!
//! The model: each direction of a job that did I/O is a cell. Its name describes its options, so that
//! it matches cells of other tools with the same work, and includes the job's name. A run that ended
//! early is marked. Without `group_reporting`, each thread of a job has a cell, which is one of them
//! and not the job.

use super::fio_options::{JobOptions, direction, label};
use super::kit::*;
use super::parts::CELL_COUNTED_BYTES;
use super::room;
use kurabe_core::number::long_time;
use kurabe_core::record::NoticeKind;
use kurabe_fio::beside;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Message of fio when a signal ends it.
pub(super) const SIGNAL: &str = "fio: terminating on signal {}";

/// fio's latencies: name, and the measured span.
pub(super) const LATENCIES: [(&str, FigureOf); 3] = [
    ("clat", FigureOf::CompletionLatency),
    ("lat", FigureOf::TotalLatency),
    ("slat", FigureOf::SubmissionLatency),
];

/// Returns the note on intermediate reports (`--status-interval`) that were not read.
pub(super) fn intermediate(dropped: usize) -> Notice {
    notice(text!(
        "the file contains {dropped} intermediate reports of this run; only the last one, which covers the \
         whole run, was read",
        "この実行の途中経過が {dropped} 件ありますが、全体を含む最後のものだけを読みました"
    ))
}

/// Result of a job.
#[derive(Default)]
pub(super) struct JobResult {
    /// Its name, its group and its machine. Entries for several threads of one job share them;
    /// different jobs do not.
    pub(super) entry: [String; 3],
    pub(super) options: JobOptions,
    /// Number of the error that ended it, or 0.
    pub(super) error: u64,
    /// Figures by fio's word for the direction, or for syncs.
    pub(super) directions: Vec<(&'static str, Vec<PrintedFigure>)>,
    /// Duration of the job.
    pub(super) run_ns: Option<f64>,
}

/// A job that ended at least this much before its time ended early.
const EARLY_NS: f64 = 1e9;

impl JobResult {
    /// Returns the duration and the planned duration, if the job ended early.
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

    /// Returns a note if an error ended the job.
    fn failed(&self) -> Option<Notice> {
        let ([name, ..], number) = (&self.entry, self.error);
        (number != 0).then(|| {
            notice(text!(
                "fio's job `{name}` ended with error {number}; its figures may cover only part of the work",
                "fio のジョブ `{name}` はエラー {number} で終わりました。数値は途中までのものかもしれません"
            ))
        })
    }
}

/// Hashes of the entries of a run's jobs, with the number of occurrences. Thousands of names would need
/// as much memory as the file.
#[derive(Default)]
pub(super) struct JobEntries(HashMap<u64, u32>);

impl JobEntries {
    pub(super) fn add(&mut self, entry: &[String; 3]) {
        *self.0.entry(hash_of(entry)).or_default() += 1;
    }

    fn is_repeated(&self, entry: &[String; 3]) -> bool {
        self.0.get(&hash_of(entry)).is_some_and(|count| *count > 1)
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Number of cells for which a list is allocated before they are read.
const CELLS_RESERVED: usize = 25_000;

/// Makes room for more cells in a list, if the memory limit allows a copy of the list. Returns whether
/// it did.
fn reserve(list: &mut Vec<Cell>, more: usize) -> bool {
    let before = list.capacity();
    let has_room = room::take((before + more) * size_of::<Cell>());
    if has_room {
        list.reserve_exact(more);
        room::give_back(before * size_of::<Cell>());
    }
    has_room
}

/// Number of offered rates that a note lists.
const RATES_NAMED: usize = 4;
/// Number of failed jobs that a note lists. Further ones are only counted.
const FAILED_NAMED: usize = 20;

/// A run built from its jobs one after the other, so that at most one of them is in memory with all its
/// data.
#[derive(Default)]
pub(super) struct JobRun {
    run: ImportedRun,
    entries: JobEntries,
    /// Whether I/O bypassed the page cache, if all jobs so far agree.
    direct: Option<Option<String>>,
    is_direct_mixed: bool,
    /// Whether a job used the page cache without syncing it.
    is_buffered: bool,
    /// Number of jobs that are single threads of a job.
    apart: usize,
    failed: usize,
    /// Offered rates, as options.
    offered: Vec<String>,
    procedures: String,
    /// Hashes of the lines of the procedures.
    lines: HashSet<u64>,
    /// Longest times: of all jobs, of those that ended early, and the planned time of the latter.
    longest_ns: [Option<f64>; 3],
}

impl JobRun {
    /// Starts a run whose jobs have these entries and this number of cells.
    pub(super) fn new(entries: JobEntries, cells: usize) -> Self {
        let mut job_run = Self { entries, ..Self::default() };
        let _has_room = reserve(&mut job_run.run.cells, cells.min(CELLS_RESERVED));
        job_run
    }

    /// Adds a job. Returns whether there is room for more.
    pub(super) fn add(&mut self, mut job: JobResult) -> bool {
        let cut = job.cut_short();
        let times = [job.run_ns, cut.map(|(run_ns, _)| run_ns), cut.map(|(_, asked_ns)| asked_ns)];
        for (longest, time) in self.longest_ns.iter_mut().zip(times) {
            *longest = (*longest).into_iter().chain(time).max_by(f64::total_cmp);
        }
        job.options.threads_apart = self.entries.is_repeated(&job.entry);
        let direct = job.options.direct();
        self.is_direct_mixed |= self.direct.as_ref().is_some_and(|others| *others != direct);
        self.direct.get_or_insert(direct);
        let failed = job.failed();
        self.failed += usize::from(failed.is_some());
        self.run.notices.extend(failed.filter(|_| self.failed <= FAILED_NAMED));
        let cells = job.cells();
        let offered = job.options.offered().filter(|_| !cells.is_empty());
        self.offered
            .extend(offered.filter(|rate| self.offered.len() < RATES_NAMED && !self.offered.contains(rate)));
        if !cells.is_empty() {
            self.is_buffered |= job.options.is_buffered();
            self.apart += usize::from(job.options.threads_apart);
            let target = || job.options.get(&["filename", "directory"]).map(str::to_owned);
            self.run.origin.target = self.run.origin.target.take().or_else(target);
            if let Some(line) = job.options.line().filter(|line| self.lines.insert(hash_of(line))) {
                room::take(2 * line.len());
                if !self.procedures.is_empty() {
                    self.procedures.push('\n');
                }
                self.procedures += &line;
            }
        }
        for cell in cells {
            // The list is counted as a whole.
            room::give_back(CELL_COUNTED_BYTES);
            let list = &mut self.run.cells;
            if list.len() == list.capacity() && !reserve(list, list.len() / 2 + 1) {
                return false;
            }
            list.push(cell);
        }
        !room::is_spent()
    }

    /// Returns the complete run. `signal` is the signal that fio reported.
    pub(super) fn finish(self, signal: Option<&str>, origin: Origin) -> ImportedRun {
        let Self { mut run, apart, failed, .. } = self;
        let ended = ended_early(signal, self.longest_ns);
        run.interrupted = ended.is_some();
        run.notices.splice(..0, ended);
        if let Some(more) = failed.checked_sub(FAILED_NAMED).filter(|more| *more > 0) {
            run.notices.push(notice(text!(
                "{more} more jobs of fio ended with an error",
                "このほかに {more} 件のジョブがエラーで終わりました"
            )));
        }
        if !self.offered.is_empty() {
            let rates = self.offered.join(", ");
            run.notices.push(notice(text!(
                "fio issued operations at a fixed rate ({rates}): the figures show whether the device \
                 kept up, not its maximum",
                "fio は一定の負荷({rates})を与えています。数値はその負荷に追い付けたかどうかを表し、デバイスの上限ではありません"
            )));
        }
        if self.is_buffered {
            run.notices.push(Notice::new(
                NoticeKind::CacheDrop,
                text!(
                    "fio ran without direct I/O (`direct=1`) and without syncing: the page cache may have answered",
                    "fio はダイレクト I/O(`direct=1`)も同期も使っていません。ページキャッシュの速度かもしれません"
                ),
            ));
        }
        if apart > 0 {
            run.notices.push(notice(text!(
                "fio ran without `group_reporting`: {apart} of these jobs are single threads of a job, \
                 and their sum, which fio did not print, is what the job did",
                "fio は `group_reporting` なしで実行されています。ジョブのうち {apart} 件はそれぞれ 1 スレッド分の値で、ジョブ全体の値(合計)は\
                 出力されていません"
            )));
        }
        run.origin = Origin { target: run.origin.target, ..origin };
        if let (Some(Some(direct)), false) = (self.direct, self.is_direct_mixed) {
            fact(&mut run.origin, "direct", direct);
        }
        run.origin.procedure = Some(self.procedures).filter(|lines| !lines.is_empty());
        run
    }
}

/// Returns the cause if a run ended early: a signal, or any other reason for which a job had less time
/// than planned.
fn ended_early(signal: Option<&str>, longest_ns: [Option<f64>; 3]) -> Option<Notice> {
    let words = |ns: f64| long_time((ns / 1e9).round() as u64 * 1_000_000_000);
    let [run, cut, asked] = longest_ns.map(|longest_ns| longest_ns.map(words));
    let run = cut.or(run)?;
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
        "{ended}: the figures cover only that part",
        "{ended}。数値はそこまでのものです"; ended
    )))
}
