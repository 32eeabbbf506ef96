//! Selects the engine that measures the storage instead of a detour in the kernel.
//!
//! If an operation can't be started without blocking (tmpfs, zram, some file systems), io_uring
//! passes it to a kernel worker thread, and a latency of 1 µs becomes 80 µs. Before it measures a
//! cell, `auto` therefore times a small number of operations with both engines, one at a time and
//! alternating, with the same kind, block size and target. It also counts the worker threads that
//! io_uring started during the trial.

use crate::drive::device_uring::{WaitMode, check_rings, probe_ring};
use crate::drive::measure::{Engine, Issue, measure};
use crate::target::Target;
pub use kurabe_core::issue::EngineChoice;
use kurabe_core::mention::{BUFFERED, VERIFY};
use kurabe_core::record::LatencyRecord;
use kurabe_core::workload::{End, EndSync, Pattern, SyncRule, Workload};
use kurabe_core::{Error, ErrorKind, Result, Text, number::latency_ns, text, words::Keyword};
use kurabe_program::Stop;
use kurabe_stats::percentile_ns;
use std::collections::HashMap;

/// A selected way to issue operations, with the reason.
#[derive(Clone, Debug)]
pub struct ChosenIssue {
    /// Engine, wait mode and pages.
    pub issue: Issue,
    /// Why it was selected.
    pub reason: Text,
    /// Features that did not work.
    pub fallbacks: Vec<String>,
}

impl ChosenIssue {
    /// Switches to the engine that another target needs, so that all targets are measured in the
    /// same way.
    pub(crate) fn use_threads_as_others(&mut self) {
        if self.issue.engine == Engine::Threads {
            return;
        }
        // pread and pwrite can only sleep.
        self.issue = Issue { engine: Engine::Threads, wait: WaitMode::Sleep, ..self.issue };
        self.reason = text!(
            "pread/pwrite as on the other targets, so that all are measured in the same way",
            "条件を揃えるため、ほかの対象と同じ pread/pwrite を使います"
        );
    }
}

/// Rounds of the comparison.
const ROUNDS: u32 = 3;
const ROUND_OPERATIONS: u64 = 48;
/// Time limit of a round in ns.
const ROUND_TIME_NS: u64 = 40_000_000;
/// io_uring takes a detour if kernel workers were seen, or if in every round its median exceeds
/// that of pread by this factor …
const DETOUR_RATIO: f64 = 3.0;
/// … and by this time in ns.
const DETOUR_NS: u64 = 1_000;

/// Selects engines and caches the results, because cells of one profile need the same ones
/// repeatedly.
#[derive(Default)]
pub struct Chooser {
    /// Results by percentage of reads and block size.
    probes: HashMap<(u8, u32), Probe>,
    /// Why polling is refused, for reads and for writes.
    polling: HashMap<bool, Option<String>>,
}

#[derive(Clone)]
enum Probe {
    NoRing(String),
    Direct { uring_ns: u64, threads_ns: u64 },
    Detour { uring_ns: u64, threads_ns: u64, workers: usize },
}

impl Chooser {
    /// Selects how to issue a workload. `wished` contains the wait mode and the pages that the user
    /// requested; its engine is ignored.
    ///
    /// # Errors
    /// Fails if the target fails during the trial.
    pub fn choose(
        &mut self,
        asked: EngineChoice,
        target: &Target,
        workload: &Workload,
        wished: Issue,
        interrupt: &Stop,
    ) -> Result<ChosenIssue> {
        let by =
            |engine, reason| ChosenIssue { issue: Issue { engine, ..wished }, reason, fallbacks: Vec::new() };
        let mut choice = match asked {
            _ if target.is_verified() => by(
                Engine::Threads,
                text!(
                    "every write is stamped and listed ({VERIFY}), which pread/pwrite does",
                    "書き込みごとに印を付けて記録するため({VERIFY})、pread/pwrite を使います"
                ),
            ),
            _ if workload.trims.is_some() => by(
                Engine::Threads,
                text!(
                    "discards are system calls, one at a time per thread",
                    "破棄(TRIM)はスレッドごとの呼び出しで行います"
                ),
            ),
            _ if workload.sync.page_range_flags.is_some() => by(
                Engine::Threads,
                text!("sync_file_range is a system call", "sync_file_range はシステムコールで行います"),
            ),
            EngineChoice::Fixed(Engine::Mmap) if target.facts().direct => return Err(mapped_directly()),
            EngineChoice::Fixed(engine) => by(engine, text!("asked for", "指定による")),
            EngineChoice::Auto => self.find_out(target, workload, wished, interrupt)?,
        };
        let wait = &mut choice.issue.wait;
        if choice.issue.engine != Engine::Uring && *wait != WaitMode::Sleep {
            choice.fallbacks.push(format!("wait {}: pread and pwrite always sleep", wait.word()));
            *wait = WaitMode::Sleep;
        } else if *wait == WaitMode::Poll
            && let Some(why) = self.refuses_polling(target, workload, wished, interrupt)
        {
            choice.fallbacks.push(format!("wait poll: {why}; spinning instead"));
            *wait = WaitMode::Spin;
        }
        Ok(choice)
    }

    /// Determines the engine that measures the storage.
    fn find_out(
        &mut self,
        target: &Target,
        workload: &Workload,
        wished: Issue,
        interrupt: &Stop,
    ) -> Result<ChosenIssue> {
        let key = (workload.read_percent, workload.largest_block_bytes());
        let probe = match self.probes.get(&key) {
            Some(probe) => probe.clone(),
            None => {
                let probe = try_both(target, workload, wished, interrupt)?;
                self.probes.insert(key, probe.clone());
                probe
            }
        };
        let one_at_a_time = workload.iodepth == 1 && wished.wait == WaitMode::Sleep;
        let probe = match probe {
            Probe::Direct { .. } if !one_at_a_time => {
                match check_rings(workload.threads as usize, workload.iodepth as usize) {
                    Ok(()) => probe,
                    Err(error) => Probe::NoRing(error.to_string()),
                }
            }
            probe => probe,
        };
        let (engine, reason) = match &probe {
            Probe::NoRing(why) => {
                (Engine::Threads, text!("io_uring is not available: {why}", "io_uring が使えません: {why}"))
            }
            Probe::Detour { uring_ns, threads_ns, workers } => {
                (Engine::Threads, tell_detour(*uring_ns, *threads_ns, *workers))
            }
            Probe::Direct { uring_ns, threads_ns } => {
                let (uring, threads) = (latency_ns(*uring_ns), latency_ns(*threads_ns));
                if one_at_a_time {
                    let reason = text!(
                        "one operation in flight: pread/pwrite has the least overhead ({threads}; io_uring {uring})",
                        "同時に 1 操作なら pread/pwrite のオーバーヘッドが最小です({threads}。io_uring は {uring})"
                    );
                    (Engine::Threads, reason)
                } else {
                    let reason = text!(
                        "io_uring issues operations directly, without kernel workers ({uring}; pread/pwrite {threads})",
                        "io_uring がカーネルワーカーを経由せずに発行します({uring}。pread/pwrite は {threads})"
                    );
                    (Engine::Uring, reason)
                }
            }
        };
        let fallbacks = match probe {
            Probe::NoRing(why) => vec![format!("uring: {why}")],
            Probe::Direct { .. } | Probe::Detour { .. } => Vec::new(),
        };
        Ok(ChosenIssue { issue: Issue { engine, ..wished }, reason, fallbacks })
    }

    /// Returns why the kernel can't poll this target for this workload. `None` if it can.
    fn refuses_polling(
        &mut self,
        target: &Target,
        workload: &Workload,
        wished: Issue,
        interrupt: &Stop,
    ) -> Option<String> {
        if !target.facts().direct {
            return Some("only direct I/O can be polled".to_owned());
        }
        if workload.writes()
            && workload.sync != (SyncRule { every_writes: None, at_end: EndSync::None, ..workload.sync })
        {
            return Some("a fsync cannot be polled".to_owned());
        }
        let writes = workload.writes();
        if let Some(refusal) = self.polling.get(&writes) {
            return refusal.clone();
        }
        let open = || target.open_lane(writes, workload.sync);
        let issue = Issue { engine: Engine::Uring, wait: WaitMode::Poll, ..wished };
        let tried = measure(&open, &trial_of(workload, 0), issue, interrupt, &mut |_, _, _| {});
        let refusal = tried.err().map(|error| error.cause().unwrap_or("refused").to_owned());
        self.polling.insert(writes, refusal.clone());
        refusal
    }
}

fn mapped_directly() -> Error {
    ErrorKind::Usage
        .error(text!("mmap uses the page cache", "mmap はページキャッシュを通ります"))
        .remedy(text!("add {BUFFERED}", "{BUFFERED} を付けてください"))
}

fn tell_detour(uring_ns: u64, threads_ns: u64, workers: usize) -> Text {
    let (uring, threads) = (latency_ns(uring_ns), latency_ns(threads_ns));
    if workers == 0 {
        return text!(
            "io_uring is slower here: {uring} per operation, {threads} with pread/pwrite",
            "ここでは io_uring のほうが遅くなります(1 操作 {uring}、pread/pwrite なら {threads})"
        );
    }
    text!(
        "io_uring passes operations to kernel workers here ({workers} seen): {uring} per operation, \
         {threads} with pread/pwrite",
        "ここでは io_uring が操作をカーネルワーカーに回します({workers} 本を確認。1 操作 {uring}、pread/pwrite なら {threads})"
    )
}

/// Times operations one at a time with both engines, alternating.
fn try_both(target: &Target, workload: &Workload, issue: Issue, interrupt: &Stop) -> Result<Probe> {
    if let Err(error) = probe_ring() {
        return Ok(Probe::NoRing(error.cause().unwrap_or("not available").to_owned()));
    }
    let mut latencies = [Vec::new(), Vec::new()];
    let (mut workers, mut slow_rounds) = (0, 0);
    for round in 0..ROUNDS {
        let trial = trial_of(workload, round);
        let mut medians = [0, 0];
        for (index, engine) in [Engine::Uring, Engine::Threads].into_iter().enumerate() {
            let open = || target.open_for(workload);
            let issue = Issue { engine, wait: WaitMode::Sleep, ..issue };
            let measured = measure(&open, &trial, issue, interrupt, &mut |_, _, _| {})?;
            workers = workers.max(measured.facts.workers);
            let latency =
                LatencyRecord::together([&measured.recorded.read.latency, &measured.recorded.write.latency]);
            medians[index] = percentile_ns(&latency, 0.5).unwrap_or(0);
            latencies[index].push(latency);
        }
        let [uring_ns, threads_ns] = medians;
        let slow = uring_ns as f64 > DETOUR_RATIO * threads_ns as f64 && uring_ns > threads_ns + DETOUR_NS;
        slow_rounds += u32::from(slow);
    }
    let [uring_ns, threads_ns] = latencies
        .each_ref()
        .map(|records| percentile_ns(&LatencyRecord::together(records), 0.5).unwrap_or(0));
    let detour = workers > 0 || slow_rounds == ROUNDS;
    Ok(if detour {
        Probe::Detour { uring_ns, threads_ns, workers }
    } else {
        Probe::Direct { uring_ns, threads_ns }
    })
}

/// Returns the workload reduced to a small number of operations with their own offsets.
fn trial_of(workload: &Workload, round: u32) -> Workload {
    // Rewrites after reads are omitted, because a trial of a read workload must not write.
    Workload {
        data: workload.data,
        seed: workload.seed ^ (0x7472_6961_6c00 + u64::from(round)),
        ..Workload::plain(Pattern::Random, workload.largest_block_bytes(), workload.span_bytes).with(
            |access| {
                access.block_sizes = workload.block_sizes.clone();
                access.write_block_sizes = workload.write_block_sizes.clone();
                access.read_percent = workload.read_percent;
                access.offset_bytes = workload.offset_bytes;
                access.processors = workload.processors.clone();
                access.end = End {
                    time_ns: Some(ROUND_TIME_NS),
                    bytes: Some(ROUND_OPERATIONS * u64::from(workload.largest_block_bytes())),
                    ..End::default()
                };
                access.sync = SyncRule { every_writes: None, at_end: EndSync::None, ..workload.sync };
            },
        )
    }
}
