//! One repetition of a workload, or of several concurrent ones, on a real target with all their
//! threads.
//!
//! With io_uring, each thread of the workload is one operating-system thread, with a ring as deep
//! as the queue. With pread/pwrite, there are as many operating-system threads as operations in
//! flight, and those that form one thread's queue share its generator. Rings, buffers and data are
//! prepared before the start. All threads start together, also those of concurrent workloads.
//!
//! # To add an engine
//!
//! - Write `device_NAME.rs` with a `Device` and a `Buffer`. Errors of operations are completions;
//!   errors of the device are `Err`.
//! - Add a variant of `Engine`, its arm here, its keyword in `cli/args/run.rs`, its name in
//!   `report`, and whether `auto` may select it (`steps/choose.rs`).
//! - Describe it in docs/record.md and in a line of `kurabe doctor`, and test it on a real file.

use crate::clock::{monotonic_ns, sleep_until};
use crate::context::IntervalListener;
use crate::drive::buffer::{Arena, Pages};
use crate::drive::content::Content;
use crate::drive::device_threads::ThreadsDevice;
use crate::drive::device_uring::{Ring, RingFacts, WaitMode};
use crate::drive::driver::{Plan, ThreadOutcome, drive, filled_buffers};
use crate::drive::every_operation::{MOST_OPERATIONS, Noting, Room, ThreadNotes};
use crate::drive::recorder::Recorder;
use crate::drive::source::{Generator, Source};
use crate::{drive::gate::Gate, platform, target::Opened};
use kurabe_core::device::Device;
pub use kurabe_core::issue::Engine;
use kurabe_core::issue::{EngineChoice, RecordedEngine};
use kurabe_core::mention::{ENGINE, IODEPTH, THREADS};
use kurabe_core::record::{CpuUse, EngineRecord, Interval, Repetition};
use kurabe_core::workload::{EndSync, Processors, Workload};
use kurabe_core::{Error, ErrorKind, Result, Text, text, words::RecordedWord};
use kurabe_program::Stop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// Maximum number of operating-system threads of a repetition.
const MOST_LANES: u32 = 2048;
/// Stack size of such a thread, in bytes.
const LANE_STACK_BYTES: usize = 512 << 10;
/// Interval at which the interrupt is checked and progress is reported.
const TICK: Duration = Duration::from_millis(100);

/// The CPU time of the process at a start time.
pub(crate) struct CpuWatch((u64, u64));

impl CpuWatch {
    pub(crate) fn start() -> Self {
        Self(platform::cpu_times_ns())
    }

    /// Returns the CPU time used since the start.
    pub(crate) fn used(&self) -> CpuUse {
        let ((user_ns, system_ns), before) = (platform::cpu_times_ns(), self.0);
        CpuUse { user_ns: user_ns.saturating_sub(before.0), system_ns: system_ns.saturating_sub(before.1) }
    }
}

impl RingFacts {
    /// Returns the facts for ordinary system calls, which always sleep, with these pages for the
    /// buffers.
    pub(crate) fn of_calls(features: Vec<String>, pages: Pages) -> Self {
        Self { features, fallbacks: Vec::new(), wait: WaitMode::Sleep, pages, workers: 0 }
    }

    /// Returns the facts for a [`ThreadsDevice`] with requested and actual pages.
    pub(crate) fn of_threads(asked: Pages, got: Pages) -> Self {
        let mut facts = Self::of_calls(vec!["pread-pwrite".to_owned()], asked);
        facts.took_pages(got);
        facts
    }

    /// Converts the facts into a record.
    pub(crate) fn record(
        self,
        engine: Engine,
        asked: EngineChoice,
        reason: Text,
        issuing_threads: u32,
    ) -> EngineRecord {
        EngineRecord {
            name: RecordedWord::Known(RecordedEngine::Real(engine)),
            asked: RecordedWord::Known(asked),
            reason,
            features: self.features,
            fallbacks: self.fallbacks,
            wait: RecordedWord::Known(self.wait),
            pages: RecordedWord::Known(self.pages),
            issuing_threads,
        }
    }
}

/// How operations are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The engine.
    pub engine: Engine,
    /// How completions are awaited.
    pub wait: WaitMode,
    /// Pages that back the buffers.
    pub pages: Pages,
}

/// The result of one repetition.
#[derive(Debug)]
pub struct MeasuredRepetition {
    /// The recorded operations, with the CPU time of the process.
    pub recorded: Repetition,
    /// The properties of the engine.
    pub facts: RingFacts,
    /// Number of operating-system threads that issued operations.
    pub issuing_threads: u32,
    /// When the first of them started, on the monotonic clock, without its start delay.
    pub begun_ns: u64,
    /// CPU time of those threads, in ns.
    thread_cpu_ns: u64,
    /// Every operation by issuing thread, if they are listed.
    pub(crate) notes: Vec<ThreadNotes>,
}

/// The work of one operating-system thread.
struct Lane<'a, S> {
    job: usize,
    source: &'a Mutex<S>,
    number: u64,
}

impl<'a, S> Lane<'a, S> {
    /// Locks the source once instead of for every operation, because no other lane uses it.
    fn own_source(&self) -> MutexGuard<'a, S> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the concurrent jobs: its sources (one per thread), its workload, and how it is issued.
pub(crate) struct LaneGroup<S> {
    pub(crate) sources: Vec<S>,
    pub(crate) workload: Workload,
    pub(crate) issue: Issue,
}

/// Runs a workload once. `open` opens the target separately for every thread. `live` is called
/// about ten times a second with the time since the start, the operations since the last call, and
/// the length of that interval.
///
/// # Errors
/// Fails if the engine is not available or the target fails.
pub fn measure(
    open: &(dyn Fn() -> Result<Opened> + Sync),
    workload: &Workload,
    issue: Issue,
    interrupt: &Stop,
    live: IntervalListener<'_>,
) -> Result<MeasuredRepetition> {
    let job = LaneGroup { sources: Generator::for_threads(workload), workload: workload.clone(), issue };
    let mut measured = measure_groups(&|_| open(), vec![job], false, interrupt, live, &|| Ok(0))?;
    measured.pop().ok_or_else(no_threads)
}

/// Runs all jobs once, concurrently, and returns their results in order. `lists` enables recording
/// of every operation. `meet` returns the start time, once all threads are ready.
///
/// # Errors
/// Fails if an engine is not available or the target fails. Returns the errors of `meet`.
pub(crate) fn measure_groups<S: Source + Send>(
    open: &(dyn Fn(&Workload) -> Result<Opened> + Sync),
    jobs: Vec<LaneGroup<S>>,
    lists: bool,
    interrupt: &Stop,
    live: IntervalListener<'_>,
    meet: &dyn Fn() -> Result<u64>,
) -> Result<Vec<MeasuredRepetition>> {
    check_lanes(&jobs)?;
    let (gate, stop) = (Gate::default(), Stop::default());
    let (sender, receiver) = channel();
    let room = lists.then(|| Room::for_operations(MOST_OPERATIONS));
    let (mut shared, mut sources): (Vec<SharedByLanes<'_>>, Vec<(usize, Mutex<S>)>) = Default::default();
    for (index, LaneGroup { sources: of_job, workload, issue }) in jobs.into_iter().enumerate() {
        let (room, begun_ns) = (room.as_ref(), AtomicU64::new(u64::MAX));
        shared.push(SharedByLanes { open, workload, issue, room, gate: &gate, stop: &stop, begun_ns });
        sources.extend(of_job.into_iter().map(|source| (index, Mutex::new(source))));
    }
    let mut lanes: Vec<Lane<'_, S>> = Vec::new();
    for (job, source) in &sources {
        for _ in 0..lanes_per_thread(shared[*job].issue, &shared[*job].workload) {
            lanes.push(Lane { job: *job, source, number: lanes.len() as u64 });
        }
    }

    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(lanes.len());
        let mut refused = None;
        for lane in lanes {
            let (job, work, sender) = (lane.job, &shared[lane.job], sender.clone());
            let thread =
                std::thread::Builder::new().stack_size(LANE_STACK_BYTES).name("kurabe-io".to_owned());
            match thread.spawn_scoped(scope, move || work.run(&lane, sender)) {
                Ok(handle) => threads.push((job, handle)),
                Err(error) => {
                    refused = Some(Error::no_thread(&error));
                    stop.ask();
                    break;
                }
            }
        }
        drop(sender);
        let mut cpu = CpuWatch::start();
        gate.open(threads.len(), || {
            let begins = if stop.is_asked() { Ok(0) } else { meet() };
            cpu = CpuWatch::start();
            begins.unwrap_or_else(|error| {
                refused = Some(error);
                stop.ask();
                0
            })
        });
        watch(&receiver, interrupt, &stop, live);
        let mut ended: Vec<Vec<LaneEnd>> = shared.iter().map(|_| Vec::new()).collect();
        threads.into_iter().for_each(|(job, handle)| ended[job].push(join(handle)));
        let cpu = cpu.used();
        if let Some(error) = refused {
            return Err(error);
        }
        let mut measured = Vec::with_capacity(ended.len());
        for (lanes, work) in ended.into_iter().zip(&shared) {
            let begun_ns = work.begun_ns.load(Ordering::Relaxed).saturating_sub(work.workload.start_delay_ns);
            measured.push(MeasuredRepetition { begun_ns, ..together(lanes, end_sync(&work.workload))? });
        }
        share_time(&mut measured, cpu);
        Ok(measured)
    })
}

/// Returns the number of operating-system threads per thread of a workload.
fn lanes_per_thread(issue: Issue, workload: &Workload) -> u32 {
    if issue.engine == Engine::Uring { 1 } else { workload.iodepth }
}

/// Returns whether an fsync follows at the end of a workload.
fn end_sync(workload: &Workload) -> EndSync {
    if workload.writes() { workload.sync.at_end } else { EndSync::None }
}

/// Rejects jobs that need too many operating-system threads.
fn check_lanes<S>(jobs: &[LaneGroup<S>]) -> Result<()> {
    let lane_count = jobs.iter().fold(0u32, |count, job| {
        let of_job = lanes_per_thread(job.issue, &job.workload).saturating_mul(job.sources.len() as u32);
        count.saturating_add(of_job)
    });
    if lane_count > MOST_LANES { Err(too_many_lanes(lane_count)) } else { Ok(()) }
}

/// Divides the CPU time among the jobs. Only the total of the process, including kernel workers, is
/// known, so it is divided in proportion to the jobs' own thread times.
fn share_time(measured: &mut [MeasuredRepetition], cpu: CpuUse) {
    let whole_ns: u64 = measured.iter().map(|job| job.thread_cpu_ns).sum();
    for job in measured {
        let share = job.thread_cpu_ns.max(1) as f64 / whole_ns.max(1) as f64;
        let part = |time_ns: u64| (time_ns as f64 * share) as u64;
        job.recorded.cpu = CpuUse { user_ns: part(cpu.user_ns), system_ns: part(cpu.system_ns) };
    }
}

/// Merges the results of all lanes. The CPU time is not known here.
fn together(ended: Vec<LaneEnd>, end_sync: EndSync) -> Result<MeasuredRepetition> {
    let issuing_threads = ended.len() as u32;
    let mut recorders = Vec::with_capacity(ended.len());
    let mut outcomes = Vec::with_capacity(ended.len());
    let (mut notes, mut thread_cpu_ns) = (Vec::new(), 0);
    let mut facts: Option<RingFacts> = None;
    for lane in ended {
        let (recorder, outcome, lane_facts, lane_notes, cpu_ns) = lane?;
        thread_cpu_ns += cpu_ns;
        recorders.push(recorder);
        notes.push(lane_notes);
        outcomes.push(outcome.part(end_sync == EndSync::Timed));
        let workers = facts.map_or(0, |facts| facts.workers).max(lane_facts.workers);
        facts = Some(RingFacts { workers, ..lane_facts });
    }
    let facts = facts.ok_or_else(no_threads)?;
    let mut recorded = Recorder::merge(&recorders);
    outcomes.iter().for_each(|outcome| recorded.merge(outcome));
    Ok(MeasuredRepetition { recorded, facts, issuing_threads, begun_ns: 0, thread_cpu_ns, notes })
}

/// Data that all lanes of a job share.
struct SharedByLanes<'a> {
    open: &'a (dyn Fn(&Workload) -> Result<Opened> + Sync),
    workload: Workload,
    issue: Issue,
    /// Room for every operation, if they are listed.
    room: Option<&'a Room>,
    gate: &'a Gate,
    stop: &'a Stop,
    /// When the first thread started, in ns.
    begun_ns: AtomicU64,
}

type LaneEnd = Result<(Recorder, ThreadOutcome, RingFacts, ThreadNotes, u64)>;

impl SharedByLanes<'_> {
    fn run<S: Source + Send>(&self, lane: &Lane<'_, S>, live: Sender<(usize, Interval)>) -> LaneEnd {
        let size = self.workload.largest_block_bytes() as usize;
        let Issue { engine, wait, pages } = self.issue;
        match engine {
            Engine::Uring => {
                let depth = self.workload.iodepth as usize;
                let mut ring;
                let opened = match self.opened(lane.number).and_then(|opened| {
                    debug_assert!(opened.stamping.is_none(), "writes are stamped by the other engine");
                    Ring::open(opened.file, depth, size, pages, wait)
                }) {
                    Ok((open_ring, mut facts)) => {
                        ring = open_ring.flushing(self.workload.sync.data_only);
                        Ok((ring.device(&mut facts), facts))
                    }
                    Err(error) => Err(error),
                };
                let mut source = lane.own_source();
                self.drive_lane(opened, &mut *source, lane.number, live)
            }
            Engine::Threads | Engine::Mmap => {
                let mut arena;
                let prepared = self.opened(lane.number);
                let opened = match prepared.and_then(|opened| Ok((opened, Arena::new(1, size, pages)?))) {
                    Ok((opened, (mapped, got))) => {
                        arena = mapped;
                        self.calls_device(ThreadsDevice::new(opened, &mut arena), got)
                    }
                    Err(error) => Err(error),
                };
                if self.workload.iodepth > 1 {
                    return self.drive_lane(opened, &mut &*lane.source, lane.number, live);
                }
                let mut source = lane.own_source();
                self.drive_lane(opened, &mut *source, lane.number, live)
            }
        }
    }

    /// Returns a device for system calls, or for a mapping of the file, with its facts. The buffer
    /// has pages of the kind `got`.
    fn calls_device<'a>(
        &self,
        device: ThreadsDevice<'a>,
        got: Pages,
    ) -> Result<(ThreadsDevice<'a>, RingFacts)> {
        let facts = RingFacts::of_threads(self.issue.pages, got);
        if self.issue.engine == Engine::Threads {
            return Ok((device, facts));
        }
        let device = device.mapped(self.workload.writes(), self.workload.sync.o_sync)?;
        Ok((device, RingFacts { features: vec!["mapping".to_owned()], ..facts }))
    }

    /// Opens the target for a lane, and pins the thread to its processors.
    fn opened(&self, lane_number: u64) -> Result<Opened> {
        if let Some(Processors { numbers, one_each }) = &self.workload.processors {
            let one = lane_number as usize % numbers.len().max(1);
            let own = if *one_each { &numbers[one..=one] } else { numbers };
            platform::run_on(own).map_err(|error| {
                Error::os(text!("cannot run on CPUs {own:?}", "CPU {own:?} で動かせません"), &error)
                    .remedy(text!("choose CPUs of this machine", "このマシンの CPU を選んでください"))
            })?;
        }
        (self.open)(&self.workload)
    }

    fn drive_lane<D: Device>(
        &self,
        opened: Result<(D, RingFacts)>,
        source: &mut impl Source,
        number: u64,
        live: Sender<(usize, Interval)>,
    ) -> LaneEnd {
        let mut content = Content::new(self.workload.data, self.workload.seed, number);
        let mut recorder = Recorder::new(Some(live)).placing(self.workload.iodepth as usize);
        let prepared = opened.map(|(mut device, facts)| {
            let buffers = filled_buffers(&mut device, &mut content);
            (device, buffers, facts)
        });
        if prepared.is_err() {
            self.stop.ask();
        }
        let gate_ns = self.gate.wait();
        let (mut device, buffers, mut facts) = prepared?;
        self.wait_for_start(gate_ns);
        self.begun_ns.fetch_min(monotonic_ns(), Ordering::Relaxed);
        let lanes = lanes_per_thread(self.issue, &self.workload).saturating_mul(self.workload.threads);
        let plan = Plan::of(&self.workload, lanes);
        let (mut notes, stop) = (Ok(ThreadNotes::new()), self.stop);
        let driven = match (self.room, source.plain()) {
            (None, Some(mut source)) => {
                drive(&mut device, buffers, &mut source, &mut content, &plan, &mut recorder, stop)
            }
            (None, None) => drive(&mut device, buffers, source, &mut content, &plan, &mut recorder, stop),
            (Some(room), _) => {
                let mut noting = Noting::new(&mut recorder, room, buffers.len(), stop);
                let driven = drive(&mut device, buffers, source, &mut content, &plan, &mut noting, stop);
                notes = noting.into_notes();
                driven
            }
        };
        if driven.is_err() {
            self.stop.ask();
        }
        recorder.hang_up();
        if self.issue.engine == Engine::Uring {
            facts.workers = platform::uring_worker_count();
        }
        Ok((recorder, driven?, facts, notes?, platform::thread_cpu_ns()))
    }

    /// Sleeps until the job starts, unless it is stopped earlier.
    fn wait_for_start(&self, gate_ns: u64) {
        let begins_ns = monotonic_ns().max(gate_ns).saturating_add(self.workload.start_delay_ns);
        while !self.stop.is_asked() {
            let now_ns = monotonic_ns();
            if now_ns >= begins_ns {
                return;
            }
            sleep_until(begins_ns.min(now_ns + TICK.as_nanos() as u64));
        }
    }
}

/// Returns the result of a thread. Propagates its panic to this thread.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reports progress and forwards the user's interrupt until all lanes have disconnected.
pub(crate) fn watch(
    receiver: &Receiver<(usize, Interval)>,
    interrupt: &Stop,
    stop: &Stop,
    live: IntervalListener<'_>,
) {
    let start_ns = monotonic_ns();
    let (mut shown_ns, mut sum) = (start_ns, Interval::default());
    loop {
        match receiver.recv_timeout(TICK) {
            Ok((_, part)) => sum.merge(&part),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if interrupt.is_asked() {
            stop.ask();
        }
        let now_ns = monotonic_ns();
        if u128::from(now_ns - shown_ns) >= TICK.as_nanos() {
            live(now_ns - start_ns, std::mem::take(&mut sum), now_ns - shown_ns);
            shown_ns = now_ns;
        }
    }
}

fn no_threads() -> Error {
    ErrorKind::Usage.error(text!("a workload needs at least one thread", "スレッドは 1 以上が必要です"))
}

fn too_many_lanes(lane_count: u32) -> Error {
    ErrorKind::Unsupported.error(text!(
        "the threads engine would need {lane_count} threads (queue depth × threads), but supports at most \
         {MOST_LANES}",
        "threads エンジンでは {lane_count} 本のスレッド(キュー深さ × スレッド数)が必要ですが、上限は {MOST_LANES} 本です"
    ))
    .remedy(text!(
        "use {ENGINE} uring, or a smaller {IODEPTH} or {THREADS}",
        "{ENGINE} uring を使うか、{IODEPTH} や {THREADS} を小さくしてください"
    ))
}
