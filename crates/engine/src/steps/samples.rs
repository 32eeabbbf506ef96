//! Single operations, one after the other: samples spread over the target (GNOME Disks), and random
//! accesses.
//!
//! There is one operation at a time on one device, and each is timed separately. Work between the
//! timed parts (reading a page to position the head, generating data) belongs to no cell. A cell's
//! clock runs only during its own operations, so its series, stalls and elapsed time are those of
//! its operations laid end to end.
//!
//! Samples that are written back contain the bytes just read from the same place, so the content of
//! the target does not change.

use crate::context::{Context, Emitter};
use crate::drive::buffer::{Arena, Pages};
use crate::drive::device_threads::ThreadsDevice;
use crate::drive::device_uring::{RingFacts, WaitMode};
use crate::drive::driver::operation_error;
use crate::drive::measure::{CpuWatch, Engine};
use crate::drive::rest::{Continuation, SYNC, Unfinished};
use crate::real::{Real, Settings};
use crate::steps::choose::EngineChoice;
use crate::task::{Attempt, Repeated};
use crate::{drive::content::Content, drive::recorder::Recorder};
use kurabe_core::device::{Buffer, Completion, Device, ErrorNumber, Submission, Transfer, Wait};
use kurabe_core::event::{Event, MOST_SAMPLES_TOLD};
use kurabe_core::glib_random::GlibRandom;
use kurabe_core::profile::{AccessOrder, AccessTimeStep, PositionalStep};
use kurabe_core::record::{CpuUse, EngineRecord, Interval, Noise, Repetition, Sample, TargetRecord};
use kurabe_core::workload::{Direction, Op, OpKind, SyncRule};
use kurabe_core::{Error, ErrorKind, Result, Text, model::TimeSums, random::Random, text, words::Keyword};
use kurabe_program::{Stop, interrupted};

/// Interval of progress reports in ns.
const TICK_NS: u64 = 100_000_000;

/// The range in which samples lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleSpan {
    /// Length from the start of the target, in bytes.
    pub(crate) span_bytes: u64,
    /// Smallest unit of an operation, in bytes.
    pub(crate) unit_bytes: u32,
}

impl SampleSpan {
    pub(crate) fn of(target: &TargetRecord) -> Self {
        Self { span_bytes: target.span_bytes, unit_bytes: target.alignment_bytes }
    }

    /// Returns an operation of at most `length_bytes` at this offset, cut off at the end of the
    /// span in whole units. `None` if nothing remains.
    fn op(&self, kind: OpKind, offset_bytes: u64, length_bytes: u32) -> Option<Op> {
        let left_bytes = self.span_bytes.saturating_sub(offset_bytes);
        let left_bytes = left_bytes - left_bytes % u64::from(self.unit_bytes.max(1));
        let length_bytes = u64::from(length_bytes).min(left_bytes) as u32;
        (length_bytes > 0).then_some(Op { kind, offset_bytes, length_bytes })
    }
}

/// The samples of one cell.
pub(crate) struct CellSamples {
    pub(crate) samples: Vec<Sample>,
    pub(crate) elapsed_ns: u64,
    recorder: Recorder,
    /// Time breakdown, if the device reports it.
    pub(crate) sums: Option<TimeSums>,
}

impl CellSamples {
    fn new() -> Self {
        Self { samples: Vec::new(), elapsed_ns: 0, recorder: Recorder::new(None), sums: None }
    }

    /// Adds an operation and its sync, if there is one.
    fn add(&mut self, op: Op, done: &Timed, sync: Option<&Timed>) {
        let ended_ns = sync.map_or(done.ended_ns, |sync| sync.ended_ns);
        let at = |ns: u64| self.elapsed_ns + (ns - done.started_ns);
        self.recorder.submitted(op.kind);
        self.recorder.completed(op.kind, op.offset_bytes, done.bytes, at(done.started_ns), at(done.ended_ns));
        if let Some(sync) = sync {
            self.recorder.submitted(OpKind::Sync);
            self.recorder.completed(OpKind::Sync, 0, 0, at(sync.started_ns), at(sync.ended_ns));
        }
        for sums in [Some(done), sync].into_iter().flatten().filter_map(|timed| timed.sums.as_ref()) {
            self.sums.get_or_insert_default().add(sums);
        }
        let elapsed_ns = ended_ns - done.started_ns;
        self.elapsed_ns += elapsed_ns;
        self.samples.push(Sample { offset_bytes: op.offset_bytes, bytes: u64::from(done.bytes), elapsed_ns });
    }

    /// Converts the samples into a repetition.
    pub(crate) fn into_repetition(self, attempt: &Attempt, shared: &Shared) -> Repetition {
        Repetition {
            elapsed_ns: self.elapsed_ns,
            cpu: shared.cpu,
            // kurabe's own code runs between the timed parts, so it is never the bottleneck.
            generator_share: shared.generator_share,
            generator_bound: false,
            noise: shared.noise,
            samples: self.samples,
            ..attempt.of(Recorder::merge(&[self.recorder]))
        }
    }
}

/// Data that all cells of a repetition share.
#[derive(Default)]
pub(crate) struct Shared {
    cpu: CpuUse,
    generator_share: f64,
    noise: Noise,
}

/// Checks the user's interrupt, and emits progress and samples.
pub(crate) struct Watch<'a> {
    interrupt: &'a Stop,
    emit: Emitter<'a>,
    first_cell: u32,
    started_ns: u64,
    told_ns: u64,
    sum: Interval,
    /// Samples not yet emitted, by cell. Reads and writes at one place belong to different cells.
    samples: Vec<(u32, Vec<Sample>)>,
}

impl<'a> Watch<'a> {
    /// Creates a watch. About ten times a second, `emit` receives the operations since the previous
    /// call.
    pub(crate) fn new(interrupt: &'a Stop, emit: Emitter<'a>, first_cell: u32, now_ns: u64) -> Self {
        let (sum, samples) = (Interval::default(), Vec::new());
        Self { interrupt, emit, first_cell, started_ns: now_ns, told_ns: now_ns, sum, samples }
    }

    /// Checks for an interrupt and reports progress. Called between two samples.
    fn look(&mut self, now_ns: u64) -> Result<()> {
        if self.interrupt.is_asked() {
            return Err(interrupted());
        }
        let interval_ns = now_ns.saturating_sub(self.told_ns);
        if interval_ns < TICK_NS {
            return Ok(());
        }
        self.told_ns = now_ns;
        let (elapsed_ns, interval) = (now_ns - self.started_ns, std::mem::take(&mut self.sum));
        (self.emit)(Event::Progress { elapsed_ns, interval, interval_ns })?;
        for (cell_index, samples) in std::mem::take(&mut self.samples) {
            (self.emit)(Event::Sampled { cell_index, samples })?;
        }
        Ok(())
    }

    /// Stores the newest sample of a cell until it is emitted.
    fn keep(&mut self, place: u32, track: &CellSamples) {
        let cell_index = self.first_cell + place;
        let Some(sample) = track.samples.last().copied() else { return };
        match self.samples.iter_mut().find(|(cell, _)| *cell == cell_index) {
            Some((_, samples)) if samples.len() == MOST_SAMPLES_TOLD => {}
            Some((_, samples)) => samples.push(sample),
            None => self.samples.push((cell_index, vec![sample])),
        }
    }

    fn add(&mut self, kind: OpKind, done: &Timed) {
        let side = (u64::from(done.bytes), 1, done.ended_ns - done.started_ns);
        let mut part = Interval::default();
        match kind {
            OpKind::Read => (part.read_bytes, part.read_operations, part.read_worst_ns) = side,
            OpKind::Write | OpKind::Sync | OpKind::Trim => {
                (part.write_bytes, part.write_operations, part.write_worst_ns) = side;
            }
        }
        self.sum.merge(&part);
    }
}

#[derive(Debug)]
struct Timed {
    bytes: u32,
    started_ns: u64,
    ended_ns: u64,
    /// Time breakdown, if the device reports it.
    sums: Option<TimeSums>,
}

/// A device with one of its buffers, which is absent while an operation is in flight.
struct OneByOne<'a, D: Device> {
    device: &'a mut D,
    buffer: Option<D::Buffer>,
}

impl<'a, D: Device> OneByOne<'a, D> {
    fn new(device: &'a mut D) -> Self {
        let buffer = device.take_buffers().pop();
        Self { device, buffer }
    }

    fn bytes_mut(&mut self, length_bytes: u32) -> &mut [u8] {
        self.buffer.as_mut().map_or(&mut [], |buffer| buffer.bytes_mut(length_bytes as usize))
    }

    /// Performs an operation and waits for it. A short completion is not an error.
    fn perform(&mut self, op: Op) -> Result<Timed> {
        self.perform_until(op, |_| true)
    }

    /// Performs an operation in full. Short completions are continued, and an incomplete result is
    /// an error.
    fn perform_whole(&mut self, op: Op) -> Result<Timed> {
        self.perform_until(op, |bytes| bytes == op.length_bytes)
    }

    fn perform_until(&mut self, op: Op, is_enough: impl Fn(u32) -> bool) -> Result<Timed> {
        let started_ns = self.device.now_ns();
        let (mut unfinished, mut next) = (Unfinished::new(op, started_ns), op);
        loop {
            let (outcome, ended_ns) = self.attempt(next)?;
            let bytes = match outcome {
                Ok(bytes) if is_enough(bytes) => bytes,
                outcome => match unfinished.take(outcome, ended_ns) {
                    Continuation::On(rest) => {
                        next = rest;
                        continue;
                    }
                    Continuation::Whole => op.length_bytes,
                    Continuation::Over(outcome) => return Err(operation_error(op, outcome)),
                },
            };
            return Ok(Timed { bytes, started_ns, ended_ns, sums: self.device.take_sums() });
        }
    }

    fn attempt(&mut self, op: Op) -> Result<(Transfer, u64)> {
        let Some(buffer) = self.buffer.take() else { return Err(no_buffer()) };
        let now_ns = self.device.now_ns();
        self.device.submit(Submission { op, buffer }, now_ns)?;
        let mut ended = None;
        while ended.is_none() {
            self.device.reap(Wait::One, &mut |completion: Completion<D::Buffer>| {
                ended = Some((completion.outcome, completion.completed_at_ns));
                self.buffer = Some(completion.buffer);
            })?;
        }
        Ok(ended.unwrap_or((Err(ErrorNumber(0)), now_ns)))
    }
}

/// Reads, and optionally writes back, at places spread evenly over the span. Returns the samples of
/// the reads' cell, then those of the writes' cell.
///
/// Follows GNOME Disks 51 (gdu-benchmark-dialog.c, benchmark_transfer_rate): one read of whatever
/// length it returns. Then, if requested, one write of the same bytes and an fsync, both included
/// in the write's time. Before each of them, a page is read without timing.
pub(crate) fn sample_positions<D: Device>(
    device: &mut D,
    step: &PositionalStep,
    place: SampleSpan,
    watch: &mut Watch<'_>,
) -> Result<Vec<CellSamples>> {
    let writes = step.directions.contains(&Direction::Write);
    let (mut read, mut written) = (CellSamples::new(), CellSamples::new());
    let mut on = OneByOne::new(device);
    for number in 0..step.samples {
        let offset_bytes = position(number, step, place.span_bytes);
        let Some(op) = place.op(OpKind::Read, offset_bytes, step.sample_bytes) else { continue };
        let pre_read = Op { length_bytes: step.pre_read_bytes.min(op.length_bytes), ..op };
        watch.look(on.device.now_ns())?;
        if pre_read.length_bytes > 0 {
            on.perform_whole(pre_read)?;
        }
        let done = on.perform(op)?;
        if done.bytes == 0 {
            return Err(operation_error(op, Ok(0)));
        }
        read.add(op, &done, None);
        watch.add(OpKind::Read, &done);
        watch.keep(0, &read);
        if !writes {
            continue;
        }
        watch.look(on.device.now_ns())?;
        if pre_read.length_bytes > 0 {
            // Read into the start of the buffer. These are the same bytes again.
            on.perform_whole(pre_read)?;
        }
        let op = Op { kind: OpKind::Write, length_bytes: done.bytes, ..op };
        let done = on.perform_whole(op)?;
        let synced = if step.sync { Some(on.perform(SYNC)?) } else { None };
        written.add(op, &done, synced.as_ref());
        watch.add(OpKind::Write, &done);
        watch.keep(1, &written);
    }
    Ok(if writes { vec![read, written] } else { vec![read] })
}

/// Returns the offset of a sample.
fn position(number: u32, step: &PositionalStep, span_bytes: u64) -> u64 {
    let exact = u128::from(number) * u128::from(span_bytes) / u128::from(step.samples.max(1));
    down_to(exact as u64, step.alignment_bytes)
}

fn down_to(offset_bytes: u64, alignment_bytes: u32) -> u64 {
    offset_bytes - offset_bytes % u64::from(alignment_bytes.max(1))
}

/// Generates the offsets of accesses.
enum AccessPlaces {
    Glib { random: Box<GlibRandom>, span_bytes: u64, alignment_bytes: u32 },
    Uniform { random: Random, positions: u64, alignment_bytes: u32 },
}

impl AccessPlaces {
    fn new(step: &AccessTimeStep, span_bytes: u64) -> Self {
        let alignment_bytes = step.alignment_bytes.max(1);
        match step.order {
            AccessOrder::Glib => Self::Glib {
                random: Box::new(GlibRandom::new(step.seed as u32)),
                span_bytes,
                alignment_bytes,
            },
            AccessOrder::Uniform => Self::Uniform {
                random: Random::new(step.seed, 0),
                positions: span_bytes.saturating_sub(u64::from(step.block_bytes))
                    / u64::from(alignment_bytes)
                    + 1,
                alignment_bytes,
            },
        }
    }

    fn next(&mut self) -> u64 {
        match self {
            Self::Glib { random, span_bytes, alignment_bytes } => {
                down_to(random.below(*span_bytes), *alignment_bytes)
            }
            Self::Uniform { random, positions, alignment_bytes } => {
                random.below(*positions) * u64::from(*alignment_bytes)
            }
        }
    }
}

/// Performs single accesses at random offsets. A first access that does not count is performed but
/// not recorded.
///
/// Follows GNOME Disks (benchmark_access_time). An access at the very end may be short.
pub(crate) fn sample_accesses<D: Device>(
    device: &mut D,
    step: &AccessTimeStep,
    place: SampleSpan,
    content: &mut Content,
    watch: &mut Watch<'_>,
) -> Result<CellSamples> {
    let kind = if step.direction == Direction::Write { OpKind::Write } else { OpKind::Read };
    let span_bytes = step.span_bytes.map_or(place.span_bytes, |span| span.min(place.span_bytes));
    let place = SampleSpan { span_bytes, ..place };
    let mut places = AccessPlaces::new(step, span_bytes);
    let mut track = CellSamples::new();
    let mut on = OneByOne::new(device);
    if kind == OpKind::Write {
        content.fill(on.bytes_mut(step.block_bytes));
    }
    for number in 0..step.samples {
        let Some(op) = place.op(kind, places.next(), step.block_bytes) else { continue };
        watch.look(on.device.now_ns())?;
        if kind == OpKind::Write {
            content.freshen(on.bytes_mut(op.length_bytes));
        }
        let done = on.perform_whole(op)?;
        if number > 0 || !step.first_discarded {
            track.add(op, &done, None);
            watch.keep(0, &track);
        }
        watch.add(kind, &done);
    }
    Ok(track)
}

pub(crate) enum Sampling<'a> {
    /// Samples spread over the target.
    Positions(&'a PositionalStep),
    /// Accesses at random offsets.
    Accesses(&'a AccessTimeStep),
}

impl Sampling<'_> {
    /// Returns whether the target is opened for writing, and whether writes are synchronous.
    fn opening(&self) -> (bool, SyncRule) {
        match self {
            Self::Positions(step) => {
                let writes = step.directions.contains(&Direction::Write);
                // UDisks opens the device with O_SYNC here, so a write is durable before its fsync.
                (writes, SyncRule { o_sync: writes, ..SyncRule::default() })
            }
            Self::Accesses(step) => (step.direction == Direction::Write, SyncRule::default()),
        }
    }

    fn largest_bytes(&self) -> u32 {
        match self {
            Self::Positions(step) => step.sample_bytes.max(step.pre_read_bytes),
            Self::Accesses(step) => step.block_bytes,
        }
    }

    /// Returns why pread and pwrite issue its operations.
    fn reason(&self) -> Text {
        match self {
            Self::Positions(_) => text!(
                "one operation at a time, each passed to the kernel in one call: pread/pwrite",
                "1 操作ずつ、ひとまとめでカーネルに渡すため pread/pwrite を使います"
            ),
            Self::Accesses(_) => text!(
                "one operation at a time: pread/pwrite has the least overhead",
                "1 操作ずつなら pread/pwrite のオーバーヘッドが最小です"
            ),
        }
    }

    /// Takes all samples once, and returns those of each cell.
    pub(crate) fn run<D: Device>(
        &self,
        device: &mut D,
        place: SampleSpan,
        content: &mut Content,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<CellSamples>> {
        match self {
            Self::Positions(step) => sample_positions(device, step, place, watch),
            Self::Accesses(step) => Ok(vec![sample_accesses(device, step, place, content, watch)?]),
        }
    }
}

impl Real<'_> {
    /// Performs a sampling step once.
    pub(crate) fn sampled(
        &self,
        context: &mut Context<'_>,
        sampling: &Sampling<'_>,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let (writes, sync) = sampling.opening();
        let opened = self.target.open_lane(writes, sync)?;
        let (mut arena, pages) = Arena::new(1, sampling.largest_bytes() as usize, self.settings.pages)?;
        let mut device = ThreadsDevice::new(opened, &mut arena);
        let engine = self.samples_engine(sampling.reason(), pages);
        let mut content = context.content(attempt.seed, 0);
        let mark = self.noise.start();
        let (cpu, started_ns) = (CpuWatch::start(), device.now_ns());
        let mut watch = Watch::new(context.interrupt, &mut *context.emit, attempt.cell_index, started_ns);
        let place = SampleSpan::of(self.target.facts());
        let tracks = sampling.run(&mut device, place, &mut content, &mut watch)?;
        let (cpu, ended_ns) = (cpu.used(), device.now_ns());
        let noise = self.noise.finish(mark);
        let generator_share = (cpu.user_ns as f64 / (ended_ns - started_ns).max(1) as f64).min(1.0);
        let mut shared = Shared { cpu, generator_share, noise };
        let mut repetitions = Vec::with_capacity(tracks.len());
        for track in tracks {
            repetitions.push(track.into_repetition(attempt, &shared));
            // Traffic of other processes is attributed to the first cell, because both cells ran
            // during the same time.
            shared.noise = Noise { other_read_bytes: None, other_write_bytes: None, ..noise };
        }
        Ok(Repeated { engines: vec![engine], repetitions })
    }

    fn samples_engine(&self, reason: Text, pages: Pages) -> EngineRecord {
        let Settings { engine, wait, pages: asked, .. } = self.settings;
        let mut refused = Vec::new();
        if matches!(engine, EngineChoice::Fixed(Engine::Uring | Engine::Mmap)) {
            refused.push("engine uring: samples are taken with pread and pwrite".to_owned());
        }
        if wait != WaitMode::Sleep {
            refused.push(format!("wait {}: pread and pwrite always sleep", wait.word()));
        }
        let mut facts = RingFacts::of_threads(asked, pages);
        facts.fallbacks.splice(..0, refused);
        facts.record(Engine::Threads, engine, reason, 1)
    }
}

fn no_buffer() -> Error {
    ErrorKind::Internal.error(text!("a device has no buffer", "デバイスにバッファーがありません"))
}

#[cfg(test)]
#[path = "samples_tests.rs"]
mod tests;
