//! The issue loop: one thread, one device, and as many operations in flight as the device has
//! buffers.
//!
//! The loop takes the next operation for every free buffer, submits it to the device, waits for at
//! least one completion, accounts for all completions, and refills. It never waits for a batch to
//! complete, so a slot is refilled as soon as its completion is seen. If operations complete during
//! submission, batches form automatically.
//!
//! Unfinished operations continue before new ones are issued. They remain the same operation.
//!
//! Latency is measured from the submission, or in an open loop from the due time.

use crate::drive::rest::{Continuation, EXIT_PATIENCE_NS, SYNC, Unfinished};
use crate::drive::source::{Next, Source};
use crate::{drive::content::Content, drive::recorder::Observer};
use kurabe_core::device::{Buffer, Completion, Device, ErrorNumber, Submission, Transfer, Wait};
use kurabe_core::workload::{EndSync, Op, OpKind, Workload};
use kurabe_core::{Error, ErrorKind, Result, Text, mention::SIZE, record::Repetition, text};
use kurabe_program::Stop;

/// How often a stop request is checked while no operation is due, in ns.
const LOOK_NS: u64 = 100_000_000;

/// The plan for one issuing thread.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Time before recording starts, in ns.
    pub warm_up_ns: u64,
    /// Bytes after which recording starts even if the time isn't over.
    pub warm_up_bytes: Option<u64>,
    /// Recorded time in ns after which no new operation is issued.
    pub time_ns: Option<u64>,
    /// Whether to end with an fsync.
    pub end_sync: bool,
}

impl Plan {
    /// The plan of one of so many loops that share a workload. A limit of bytes covers the warm-up,
    /// too: a target that is faster than expected would reach it before anything is recorded, so
    /// the warm-up gets only its part of the bytes.
    pub(crate) fn of(workload: &Workload, loops: u32) -> Self {
        let (warm_up_ns, time_ns) = (workload.warm_up_ns, workload.end.time_ns);
        let warm_up_bytes = workload.end.bytes.zip(time_ns).map(|(bytes, time_ns)| {
            let share = warm_up_ns as f64 / warm_up_ns.saturating_add(time_ns).max(1) as f64;
            (bytes as f64 * share) as u64 / u64::from(loops.max(1))
        });
        let end_sync = workload.writes() && workload.sync.at_end != EndSync::None;
        Self { warm_up_ns, warm_up_bytes, time_ns, end_sync }
    }

    /// A plan without a warm-up.
    pub(crate) const fn plain(time_ns: Option<u64>, end_sync: bool) -> Self {
        Self { warm_up_ns: 0, warm_up_bytes: None, time_ns, end_sync }
    }
}

/// The outcome of one issuing thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadOutcome {
    /// Last completion, in ns from the start of recording, excluding the final fsync.
    pub last_completion_ns: u64,
    /// Duration of the final fsync in ns.
    pub end_sync_ns: Option<u64>,
    /// Operations of an open loop that were due but not issued when the time was over.
    pub unserved: u64,
}

impl ThreadOutcome {
    /// Returns the times of this thread as its part of a repetition. With `timed_sync`, the final
    /// fsync is part of the measured time.
    pub(crate) fn part(&self, timed_sync: bool) -> Repetition {
        let sync_ns = self.end_sync_ns.filter(|_| timed_sync).unwrap_or(0);
        let elapsed_ns = self.last_completion_ns + sync_ns;
        Repetition {
            elapsed_ns,
            first_done_ns: Some(elapsed_ns),
            end_sync_ns: self.end_sync_ns,
            unserved_operations: self.unserved,
            ..Repetition::default()
        }
    }
}

/// An operation in flight.
#[derive(Clone, Copy)]
struct Flight {
    op: Op,
    started_ns: u64,
    recorded: bool,
}

/// Unfinished operations. They are rare, so this list is only searched when one occurs.
struct UnfinishedOperations<B> {
    /// Unfinished operations by the slot of their buffers. An entry whose operation has completed
    /// in the meantime stays until its slot is used again.
    begun: Vec<(usize, u64, Unfinished)>,
    /// Operations to submit again.
    again: Vec<Submission<B>>,
    /// Whether new operations are issued afterwards.
    issuing: bool,
}

impl<B: Buffer> UnfinishedOperations<B> {
    #[cold]
    fn take(&mut self, flight: &Flight, slot: usize, outcome: Transfer, now_ns: u64) -> Continuation {
        let is_same = |begun: &(usize, u64, Unfinished)| {
            (begun.0, begun.1, begun.2.op()) == (slot, flight.started_ns, flight.op)
        };
        let at = self.begun.iter().position(is_same).unwrap_or_else(|| {
            self.begun.retain(|begun| begun.0 != slot);
            self.begun.push((slot, flight.started_ns, Unfinished::new(flight.op, now_ns)));
            self.begun.len() - 1
        });
        self.begun[at].2.take(outcome, now_ns)
    }
}

/// Takes a device's buffers and fills them, so that this is not part of the measured time.
pub fn filled_buffers<D: Device>(device: &mut D, content: &mut Content) -> Vec<D::Buffer> {
    let mut buffers = device.take_buffers();
    for buffer in &mut buffers {
        content.fill(buffer.bytes_mut(usize::MAX));
    }
    buffers
}

/// Drives `device` with operations from `source` until the source ends, the time is over, or a stop
/// is requested. `free` contains the device's buffers, and there are as many operations in flight
/// as buffers.
///
/// # Errors
/// Fails if the device or one of its operations fails. All operations in flight have completed by
/// then, unless the device rejected an operation.
pub fn drive<D: Device, S: Source, O: Observer>(
    device: &mut D,
    mut free: Vec<D::Buffer>,
    source: &mut S,
    content: &mut Content,
    plan: &Plan,
    observer: &mut O,
    stop: &Stop,
) -> Result<ThreadOutcome> {
    let depth = free.len();
    let start_ns = device.now_ns();
    let deadline_after =
        |record_from_ns: u64| plan.time_ns.map_or(u64::MAX, |time_ns| record_from_ns.saturating_add(time_ns));
    let mut record_from_ns = start_ns + plan.warm_up_ns;
    let mut deadline_ns = deadline_after(record_from_ns);
    let mut flights = vec![Flight { op: SYNC, started_ns: 0, recorded: false }; depth];
    let mut rests = UnfinishedOperations { begun: Vec::new(), again: Vec::new(), issuing: false };
    let mut failure = None;
    let (mut issuing, mut time_is_over) = (true, false);
    let (mut recorded, mut has_due) = (plan.warm_up_ns == 0, false);
    let mut warm_up_left_bytes = plan.warm_up_bytes.unwrap_or(u64::MAX);
    let mut now_ns = start_ns;
    let mut last_completion_ns = record_from_ns;
    let mut asked_at_ns = None;

    loop {
        let mut wait = Wait::One;
        if issuing && !free.is_empty() {
            // One clock reading serves all operations that are submitted together.
            now_ns = device.now_ns();
        }
        if !recorded && now_ns >= record_from_ns && (has_due || free.len() == depth) {
            recorded = true;
            // A closed loop starts recording only when the device is idle, so that all of the
            // device's time belongs to recorded operations. Operations with due times don't wait
            // for that.
            if !has_due {
                record_from_ns = now_ns;
                (deadline_ns, last_completion_ns) = (deadline_after(now_ns), now_ns);
            }
        }
        while issuing && (recorded || has_due || now_ns < record_from_ns) {
            if time_is_over && source.may_end() {
                issuing = false;
                break;
            }
            let Some(mut buffer) = free.pop() else { break };
            match source.next(now_ns.saturating_sub(start_ns)) {
                Next::Op { op, due_ns } => {
                    has_due = due_ns.is_some();
                    if op.kind == OpKind::Write {
                        content.freshen(buffer.bytes_mut(op.length_bytes as usize));
                        // Generating data is not part of the storage's time.
                        now_ns = device.now_ns();
                    }
                    let started_ns = due_ns.map_or(now_ns, |due| start_ns + due);
                    flights[buffer.slot()] = Flight { op, started_ns, recorded };
                    if recorded {
                        let issued_ns = now_ns.saturating_sub(record_from_ns);
                        observer.submitted(op.kind, buffer.slot(), issued_ns);
                    } else if due_ns.is_none() {
                        warm_up_left_bytes = warm_up_left_bytes.saturating_sub(u64::from(op.length_bytes));
                        if warm_up_left_bytes == 0 {
                            record_from_ns = record_from_ns.min(now_ns);
                        }
                    }
                    now_ns = device.submit(Submission { op, buffer }, now_ns)?;
                }
                Next::NotBefore(due_ns) => {
                    free.push(buffer);
                    let look_ns = now_ns.saturating_add(LOOK_NS);
                    let until_ns = if time_is_over { look_ns } else { deadline_ns.min(look_ns) };
                    wait = Wait::Until(start_ns.saturating_add(due_ns).min(until_ns));
                    break;
                }
                Next::End => {
                    free.push(buffer);
                    issuing = false;
                }
            }
        }
        if !issuing {
            if free.len() == depth {
                break;
            }
            if !rests.again.is_empty() {
                for request in rests.again.drain(..) {
                    now_ns = device.submit(request, now_ns)?;
                }
                issuing = rests.issuing && !stop.is_asked();
            }
        }

        let mut reaped = false;
        device.reap(wait, &mut |completion: Completion<D::Buffer>| {
            reaped = true;
            let slot = completion.buffer.slot();
            let flight = &flights[slot];
            now_ns = completion.completed_at_ns;
            let length_bytes = flight.op.length_bytes;
            if completion.outcome != Ok(length_bytes) {
                match rests.take(flight, slot, completion.outcome, now_ns) {
                    Continuation::Whole => {}
                    Continuation::On(op) if !stop.is_asked() => {
                        // No new operations until these have been submitted again.
                        rests.issuing = if rests.again.is_empty() { issuing } else { rests.issuing };
                        issuing = false;
                        rests.again.push(Submission { op, buffer: completion.buffer });
                        return;
                    }
                    failed => {
                        if let Continuation::Over(outcome) = failed {
                            failure.get_or_insert_with(|| operation_error(flight.op, outcome));
                            stop.ask();
                        }
                        if flight.recorded {
                            observer.failed(flight.op.kind);
                        }
                        source.ended(flight.op, now_ns.saturating_sub(start_ns));
                        free.push(completion.buffer);
                        return;
                    }
                }
            }
            source.ended(flight.op, now_ns.saturating_sub(start_ns));
            free.push(completion.buffer);
            if flight.recorded {
                last_completion_ns = now_ns;
                observer.completed(
                    flight.op,
                    slot,
                    flight.started_ns.saturating_sub(record_from_ns),
                    now_ns.saturating_sub(record_from_ns),
                );
            }
        })?;
        if !reaped {
            now_ns = device.now_ns();
            if stop.is_asked() && now_ns.saturating_sub(*asked_at_ns.get_or_insert(now_ns)) > EXIT_PATIENCE_NS
            {
                break;
            }
        }
        time_is_over |= recorded && now_ns >= deadline_ns;
        if stop.is_asked() || (time_is_over && source.may_end()) {
            issuing = false;
        }
    }

    if let Some(error) = failure {
        return Err(error);
    }
    let mut outcome = ThreadOutcome {
        last_completion_ns: last_completion_ns - record_from_ns,
        end_sync_ns: None,
        unserved: count_unserved(source, deadline_ns.min(now_ns).saturating_sub(start_ns)),
    };
    if plan.end_sync && !stop.is_asked() {
        outcome.end_sync_ns = Some(sync(device, free, stop)?);
    }
    Ok(outcome)
}

/// Counts the operations of an open loop that were due before the end but never issued.
fn count_unserved<S: Source>(source: &mut S, end_ns: u64) -> u64 {
    const ENOUGH: u64 = 10_000_000;
    let mut unserved = 0;
    while unserved < ENOUGH
        && matches!(source.next(end_ns), Next::Op { due_ns: Some(due), .. } if due < end_ns)
    {
        unserved += 1;
    }
    unserved
}

/// Performs one fsync and returns its duration in ns.
fn sync<D: Device>(device: &mut D, mut free: Vec<D::Buffer>, stop: &Stop) -> Result<u64> {
    let started_ns = device.now_ns();
    let mut unfinished = Unfinished::new(SYNC, started_ns);
    loop {
        let Some(buffer) = free.pop() else { return Ok(0) };
        let now_ns = device.now_ns();
        device.submit(Submission { op: SYNC, buffer }, now_ns)?;
        let mut ended = None;
        while ended.is_none() {
            device.reap(Wait::One, &mut |done: Completion<D::Buffer>| {
                ended = Some((done.outcome, done.completed_at_ns));
                free.push(done.buffer);
            })?;
            if ended.is_none() {
                stop.check()?;
            }
        }
        let (outcome, ended_ns) = ended.unwrap_or((Err(ErrorNumber(0)), now_ns));
        match unfinished.take(outcome, ended_ns) {
            Continuation::On(_) => stop.check()?,
            Continuation::Whole => return Ok(ended_ns - started_ns),
            Continuation::Over(outcome) => return Err(operation_error(SYNC, outcome)),
        }
    }
}

/// Returns the error for an operation that failed or completed only in part.
pub(crate) fn operation_error(op: Op, outcome: Transfer) -> Error {
    let (offset, length) = (op.offset_bytes, op.length_bytes);
    match (op.kind, outcome) {
        (OpKind::Read, Ok(got)) => ErrorKind::Io.error(text!(
            "a read of {length} bytes at offset {offset} returned only {got}",
            "オフセット {offset} から {length} バイト読もうとしましたが、{got} バイトしか読めませんでした"
        ))
        .remedy(text!(
            "the target shrank, or ends before its reported size: check it, or choose a smaller {SIZE}",
            "対象が短くなったか、申告より手前で終わっています。対象を確かめるか、{SIZE} を小さくしてください"
        )),
        (OpKind::Write, Ok(got)) => ErrorKind::NoSpace.error(text!(
            "a write of {length} bytes at offset {offset} wrote only {got}",
            "オフセット {offset} に {length} バイト書こうとしましたが、{got} バイトしか書けませんでした"
        ))
        .remedy(text!(
            "the target became full or shrank during the run: free some space, or choose a smaller {SIZE}",
            "測定中に空きがなくなったか、対象が短くなりました。空きを増やすか、{SIZE} を小さくしてください"
        )),
        (kind, outcome) => {
            let cause = std::io::Error::from_raw_os_error(outcome.err().map_or(0, |error| error.0));
            let what = match kind {
                OpKind::Read => text!(
                    "the target failed a read of {length} bytes at offset {offset}",
                    "オフセット {offset} から {length} バイトの読み出しに失敗しました"
                ),
                OpKind::Write => text!(
                    "the target failed a write of {length} bytes at offset {offset}",
                    "オフセット {offset} への {length} バイトの書き込みに失敗しました"
                ),
                OpKind::Sync => text!("the target failed a fsync", "fsync に失敗しました"),
                OpKind::Trim => text!(
                    "the target failed to discard {length} bytes at offset {offset}",
                    "オフセット {offset} から {length} バイトの破棄(TRIM)に失敗しました"
                ),
            };
            target_error(what, &cause)
        }
    }
}

/// Creates an error of the target. If the device reported it, the remedy is to check the device.
pub(crate) fn target_error(what: Text, cause: &std::io::Error) -> Error {
    let error = Error::os(what, cause);
    if error.kind() == ErrorKind::Io {
        return error.remedy(text!(
            "check the kernel log (dmesg) and the health of the device before you store data on it",
            "大切なデータを置く前に、カーネルログ(dmesg)とデバイスの状態を確認してください"
        ));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::device_null::{NullDevice, Script};
    use crate::drive::recorder::Recorder;
    use crate::drive::source::Generator;
    use kurabe_core::workload::{Arrival, End, OpenLoop, Pattern, Workload};
    use proptest::prelude::*;

    fn workload() -> Workload {
        Workload::plain(Pattern::Random, 4096, 1 << 20).with(|access| access.iodepth = 4)
    }

    fn run(workload: &Workload, script: Script) -> (Result<ThreadOutcome>, Repetition) {
        run_until(workload, script, &Stop::default())
    }

    fn run_until(workload: &Workload, script: Script, stop: &Stop) -> (Result<ThreadOutcome>, Repetition) {
        let mut device = NullDevice::new(workload.iodepth as usize, script);
        let mut recorder = Recorder::new(None);
        let plan = Plan::of(workload, 1);
        let mut content = Content::new(workload.data, 1, 0);
        let buffers = filled_buffers(&mut device, &mut content);
        let outcome = drive(
            &mut device,
            buffers,
            &mut Generator::for_threads(workload)[0],
            &mut content,
            &plan,
            &mut recorder,
            stop,
        );
        (outcome, Recorder::merge(&[recorder]))
    }

    #[test]
    fn a_closed_loop_keeps_the_queue_full() {
        let mut plan = workload();
        plan.end.time_ns = Some(1_000_000);
        let (outcome, recorded) = run(&plan, Script { latency_ns: 10_000, ..Script::default() });
        // Four at a time, 10 µs each, for 1 ms. The last batch is issued before the deadline.
        assert_eq!(recorded.read.completed, 400);
        assert_eq!(outcome.unwrap().last_completion_ns, 1_000_000);
        assert_eq!(recorded.read.latency.max_ns, 10_000);
    }

    #[test]
    fn an_open_loop_counts_latency_from_when_an_operation_was_due() {
        let mut plan = workload();
        plan.iodepth = 1;
        plan.end.time_ns = Some(100_000_000);
        plan.open_loop = Some(OpenLoop { rate_iops: 1000.0, arrival: Arrival::Even });
        // One operation in the middle takes 20 ms, so the 20 that are due during that time also
        // wait.
        let script = Script { latency_ns: 1000, slow: Some((30, 20_000_000)), ..Script::default() };
        let (_, recorded) = run(&plan, script);
        let waited: u64 = recorded
            .read
            .latency
            .buckets
            .iter()
            .filter(|(ns, _)| *ns > 500_000)
            .map(|(_, count)| count)
            .sum();
        assert!((19..=21).contains(&waited), "{waited}");
        assert_eq!(recorded.read.completed, 100);
    }

    #[test]
    fn an_operation_that_is_never_due_does_not_keep_a_run_from_its_end() {
        let mut plan = workload();
        plan.end.time_ns = Some(1_000_000);
        plan.open_loop = Some(OpenLoop { rate_iops: 1e-300, arrival: Arrival::Even });
        let (outcome, recorded) = run(&plan, Script { latency_ns: 1000, ..Script::default() });
        assert!(outcome.is_ok());
        assert_eq!(recorded.read.completed, 1);
    }

    #[test]
    fn an_overloaded_open_loop_tells_what_it_did_not_serve() {
        let mut plan = workload();
        plan.iodepth = 1;
        plan.end.time_ns = Some(10_000_000);
        plan.open_loop = Some(OpenLoop { rate_iops: 10_000.0, arrival: Arrival::Even });
        let (outcome, recorded) = run(&plan, Script { latency_ns: 1_000_000, ..Script::default() });
        assert_eq!(recorded.read.completed, 10);
        assert_eq!(outcome.unwrap().unserved, 90);
    }

    #[test]
    fn a_warm_up_is_not_recorded() {
        let mut plan = workload();
        plan.iodepth = 1;
        plan.warm_up_ns = 500_000;
        plan.end.time_ns = Some(1_000_000);
        let (outcome, recorded) = run(&plan, Script { latency_ns: 10_000, ..Script::default() });
        assert_eq!(recorded.read.completed, 100);
        assert_eq!(outcome.unwrap().last_completion_ns, 1_000_000);
    }

    #[test]
    fn a_limit_of_bytes_leaves_the_measured_time_its_part() {
        let mut plan = workload();
        plan.iodepth = 1;
        (plan.warm_up_ns, plan.end.time_ns) = (1_000_000, Some(1_000_000));
        // 200 operations would fit into the time, and 100 into the bytes: all of those into the warm-up.
        plan.end.bytes = Some(100 * 4096);
        let (outcome, recorded) = run(&plan, Script { latency_ns: 10_000, ..Script::default() });
        assert_eq!(recorded.read.completed, 50);
        assert_eq!(outcome.unwrap().last_completion_ns, 500_000);
    }

    #[test]
    fn what_is_recorded_begins_when_the_warm_up_has_come_back() {
        let mut plan = workload();
        (plan.iodepth, plan.warm_up_ns) = (4, 500_000);
        // Shorter than the operations in flight when the warm-up ends.
        plan.end.time_ns = Some(10_000);
        let (outcome, recorded) = run(&plan, Script { latency_ns: 300_000, ..Script::default() });
        assert_eq!((recorded.read.submitted, recorded.read.completed), (4, 4));
        assert_eq!(outcome.unwrap().last_completion_ns, 300_000);
    }

    #[test]
    fn a_failing_operation_ends_the_run_with_its_offset() {
        let mut plan = workload();
        plan.end.passes = Some(1);
        let (outcome, recorded) =
            run(&plan, Script { latency_ns: 10, fail_at: Some(7), ..Script::default() });
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.what().en.contains("read of 4096 bytes at offset"), "{error}");
        assert_eq!(recorded.read.submitted, recorded.read.completed + recorded.read.failed);
        assert_eq!(recorded.read.failed, 1);
    }

    #[test]
    fn an_operation_that_is_cut_short_goes_on_and_counts_once_with_its_whole_time() {
        let mut plan = workload();
        (plan.iodepth, plan.read_percent) = (1, 0);
        plan.end = End { bytes: Some(8 * 4096), ..End::default() };
        let script = Script { latency_ns: 1000, cut_every: Some(3), ..Script::default() };
        let (outcome, recorded) = run(&plan, script);
        outcome.unwrap();
        assert_eq!(
            (recorded.write.submitted, recorded.write.completed, recorded.write.bytes),
            (8, 8, 8 * 4096)
        );
        // The third submission completes half of the third operation, the sixth half of the fifth,
        // and so on. The rest follows.
        let times: Vec<_> = recorded.write.latency.buckets.iter().map(|(_, count)| *count).collect();
        assert_eq!((times, recorded.write.latency.max_ns), (vec![5, 3], 2000));
    }

    #[test]
    fn what_is_never_done_is_an_error_in_the_end_and_none_for_who_has_stopped_the_run() {
        let mut plan = workload();
        plan.end = End { bytes: Some(100 * 4096), ..End::default() };
        let script = Script { latency_ns: 1_000_000, again_from: Some(20), ..Script::default() };
        let (outcome, recorded) = run(&plan, script);
        let error = outcome.unwrap_err();
        assert!(error.what().en.contains("failed a read of 4096 bytes"), "{error}");
        assert_eq!(recorded.read.submitted, recorded.read.completed + recorded.read.failed);
        let stop = Stop::default();
        stop.ask();
        let (outcome, _) = run_until(&plan, Script { again_from: Some(0), ..script }, &stop);
        outcome.unwrap();
    }

    #[test]
    fn the_end_of_the_device_is_no_short_read() {
        let mut plan = workload();
        plan.end.passes = Some(1);
        let (outcome, _) = run(&plan, Script { latency_ns: 10, size_bytes: Some(6000), ..Script::default() });
        let error = outcome.unwrap_err();
        assert!(error.what().en.contains("returned only"), "{error}");
    }

    proptest! {
        #[test]
        fn operations_and_bytes_are_conserved(
            iodepth in 1u32..64,
            read_percent in 0u8..=100,
            blocks in 1u64..300,
            every in prop::option::of(1u32..10),
            latency_ns in 1u64..100_000,
            cut_every in prop::option::of(2u64..20),
        ) {
            let mut plan = workload();
            (plan.iodepth, plan.read_percent) = (iodepth, read_percent);
            plan.sync.every_writes = every;
            plan.end = End { bytes: Some(blocks * 4096), ..End::default() };
            let (outcome, recorded) = run(&plan, Script { latency_ns, cut_every, ..Script::default() });
            prop_assert!(outcome.is_ok());
            prop_assert_eq!(recorded.read.bytes + recorded.write.bytes, blocks * 4096);
            prop_assert_eq!(recorded.read.completed + recorded.write.completed, blocks);
            for ops in [&recorded.read, &recorded.write, &recorded.sync] {
                prop_assert_eq!(ops.submitted, ops.completed + ops.failed);
                prop_assert_eq!(ops.latency.buckets.iter().map(|(_, count)| count).sum::<u64>(), ops.completed);
            }
            if let Some(every) = every {
                prop_assert_eq!(recorded.sync.completed, recorded.write.completed / u64::from(every));
            }
        }
    }
}
