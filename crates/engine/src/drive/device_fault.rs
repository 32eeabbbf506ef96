//! A device in virtual time that produces every possible fault, and the properties that the driver
//! must keep nevertheless.
//!
//! A seed decides whether an operation completes in full, in part, with no bytes, or with any error
//! number. Occasionally the device itself fails. It imitates one of the engines: threads, where one
//! operation at a time is performed while the caller waits, or a ring, where many operations are in
//! flight, complete in any order and several at once, and where a wait may return nothing. It logs
//! what it accepted and returned, and the tests compare this log with the invariants.

use crate::drive::content::Content;
use crate::drive::device_idle::NoBuffer;
use crate::drive::driver::{Plan, ThreadOutcome, drive, filled_buffers};
use crate::drive::recorder::Recorder;
use crate::drive::source::Generator;
use kurabe_core::device::{Buffer, Completion, Device, ErrorNumber, Submission, Transfer, Wait};
use kurabe_core::record::{OpsRecord, Repetition};
use kurabe_core::workload::{End, Op, OpKind, Pattern, SyncRule, Workload};
use kurabe_core::{ErrorKind, Result, random::Random, text};
use kurabe_program::Stop;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The highest error number of Linux (EHWPOISON).
const LAST_ERROR: u64 = 133;
const BLOCK_BYTES: u32 = 4096;
/// More calls than any case needs. A run that makes this many does not end.
const MOST_CALLS: u64 = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EngineShape {
    Threads,
    Ring,
}

/// Rates of the faults, in 1/1000.
#[derive(Clone, Copy, Debug)]
struct Rates {
    error: u64,
    part: u64,
    nothing: u64,
    device: u64,
}

struct FaultDevice {
    shape: EngineShape,
    depth: usize,
    rates: Rates,
    random: Random,
    now_ns: u64,
    calls: u64,
    in_flight: Vec<(Op, Completion<NoBuffer>)>,
    /// Completions in order.
    log: Vec<(Op, Transfer)>,
    submitted: u64,
    /// The slots of unfinished completions. The next submission in such a slot is the rest of the
    /// operation.
    unfinished: BTreeSet<usize>,
    /// Number of new operations submitted after the first completion that must end the run.
    new_after_end: u64,
    has_failed: bool,
}

impl FaultDevice {
    fn new(shape: EngineShape, depth: usize, rates: Rates, seed: u64) -> Self {
        Self {
            shape,
            depth,
            rates,
            random: Random::new(seed, 0),
            now_ns: 0,
            calls: 0,
            in_flight: Vec::new(),
            log: Vec::new(),
            submitted: 0,
            unfinished: BTreeSet::new(),
            new_after_end: 0,
            has_failed: false,
        }
    }

    fn outcome(&mut self, op: Op) -> Transfer {
        let draw = self.random.below(1000);
        let Rates { error, part, nothing, .. } = self.rates;
        if draw < error {
            return Err(ErrorNumber(1 + self.random.below(LAST_ERROR) as i32));
        }
        if op.length_bytes > 0 && draw < error + part {
            return Ok(self.random.below(u64::from(op.length_bytes)) as u32);
        }
        if draw < error + part + nothing { Ok(0) } else { Ok(op.length_bytes) }
    }

    /// Counts a call, and fails at random.
    fn call(&mut self) -> Result<()> {
        self.calls += 1;
        assert!(self.calls < MOST_CALLS, "the run does not end");
        // The rate is in parts per million.
        if self.random.below(1_000_000) < self.rates.device {
            self.has_failed = true;
            return Err(ErrorKind::Io.error(text!("the device failed", "デバイスの失敗")));
        }
        Ok(())
    }

    fn give_back(&mut self, at: usize, done: &mut impl FnMut(Completion<NoBuffer>)) {
        let (op, completion) = self.in_flight.swap_remove(at);
        self.log.push((op, completion.outcome));
        if !ends(op, completion.outcome) && completion.outcome != Ok(op.length_bytes) {
            self.unfinished.insert(completion.buffer.slot());
        }
        done(Completion { completed_at_ns: self.now_ns, ..completion });
    }

    /// Returns the completion that ended the run: the first that was neither complete nor to be
    /// retried.
    fn first_end(&self) -> Option<(Op, Transfer)> {
        self.log.iter().copied().find(|(op, outcome)| ends(*op, *outcome))
    }
}

/// Returns whether such a completion ends the run.
fn ends(op: Op, outcome: Transfer) -> bool {
    match outcome {
        Ok(length) => length == 0 && op.length_bytes > 0,
        // EINTR and EAGAIN require a retry.
        Err(error) => ![4, 11].contains(&error.0),
    }
}

impl Device for FaultDevice {
    type Buffer = NoBuffer;

    fn take_buffers(&mut self) -> Vec<NoBuffer> {
        NoBuffer::count(self.depth)
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns += 1;
        self.now_ns
    }

    fn submit(&mut self, Submission { op, buffer }: Submission<NoBuffer>, now_ns: u64) -> Result<u64> {
        self.call()?;
        assert!(
            self.in_flight.iter().all(|(_, other)| other.buffer.slot() != buffer.slot()),
            "two in a slot"
        );
        assert!(self.in_flight.len() < self.depth, "more in flight than there are buffers");
        self.submitted += 1;
        let is_rest = self.unfinished.remove(&buffer.slot());
        self.new_after_end += u64::from(!is_rest && self.first_end().is_some());
        let outcome = self.outcome(op);
        self.in_flight.push((op, Completion { buffer, outcome, completed_at_ns: 0 }));
        Ok(now_ns)
    }

    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<NoBuffer>)) -> Result<()> {
        self.call()?;
        self.now_ns += 1 + self.random.below(100_000);
        if let (Wait::Until(until_ns), true) = (wait, self.in_flight.is_empty()) {
            self.now_ns = self.now_ns.max(until_ns);
        }
        // A signal may wake a ring before anything has completed.
        let most = match self.shape {
            EngineShape::Threads => 1,
            EngineShape::Ring => self.random.below(self.depth as u64 + 1) as usize,
        };
        for _ in 0..most.min(self.in_flight.len()) {
            let at = self.random.below(self.in_flight.len() as u64) as usize;
            self.give_back(at, done);
        }
        Ok(())
    }
}

/// A test case: the workload and the device.
#[derive(Clone, Debug)]
struct Case {
    shape: EngineShape,
    iodepth: u32,
    read_percent: u8,
    every_writes: Option<u32>,
    blocks: u64,
    end_sync: bool,
    rates: Rates,
    seed: u64,
}

struct CaseRun {
    outcome: Result<ThreadOutcome>,
    recorded: Repetition,
    device: FaultDevice,
    stop_is_asked: bool,
}

fn run(case: &Case) -> CaseRun {
    let workload = Workload {
        seed: case.seed,
        ..Workload::plain(Pattern::Random, BLOCK_BYTES, 1 << 20).with(|access| {
            access.read_percent = case.read_percent;
            access.iodepth = case.iodepth;
            access.end = End { bytes: Some(case.blocks * u64::from(BLOCK_BYTES)), ..End::default() };
            access.sync = SyncRule { every_writes: case.every_writes, ..SyncRule::default() };
        })
    };
    let depth = if case.shape == EngineShape::Threads { 1 } else { case.iodepth as usize };
    let mut device = FaultDevice::new(case.shape, depth, case.rates, case.seed);
    let (mut recorder, stop) = (Recorder::new(None), Stop::default());
    let mut content = Content::new(workload.data, 1, 0);
    let buffers = filled_buffers(&mut device, &mut content);
    let outcome = drive(
        &mut device,
        buffers,
        &mut Generator::for_threads(&workload)[0],
        &mut content,
        &Plan::plain(None, case.end_sync),
        &mut recorder,
        &stop,
    );
    CaseRun { outcome, recorded: Recorder::merge(&[recorder]), device, stop_is_asked: stop.is_asked() }
}

fn all_ops(recorded: &Repetition) -> [&OpsRecord; 3] {
    [&recorded.read, &recorded.write, &recorded.sync]
}

fn any_case() -> impl Strategy<Value = Case> {
    // From a device that fails once per run to one that almost always fails.
    let rate = prop_oneof![Just(0u64), 1u64..20, 20u64..330];
    let rates = (rate.clone(), rate.clone(), rate, prop_oneof![3 => Just(0u64), 1 => 1u64..10_000])
        .prop_map(|(error, part, nothing, device)| Rates { error, part, nothing, device });
    (
        prop_oneof![Just(EngineShape::Threads), Just(EngineShape::Ring)],
        1u32..33,
        0u8..=100,
        prop::option::of(1u32..6),
        1u64..200,
        any::<bool>(),
        rates,
        any::<u64>(),
    )
        .prop_map(|(shape, iodepth, read_percent, every_writes, blocks, end_sync, rates, seed)| Case {
            shape,
            iodepth,
            read_percent,
            every_writes,
            blocks,
            end_sync,
            rates,
            seed,
        })
}

/// No operation is lost or counted twice.
fn operations_are_conserved(case: &Case, ran: &CaseRun) -> std::result::Result<(), TestCaseError> {
    let CaseRun { outcome, recorded, device, .. } = ran;
    let sum = |of: fn(&OpsRecord) -> u64| all_ops(recorded).map(of).iter().sum::<u64>();
    let lost = sum(|ops| ops.submitted) - sum(|ops| ops.completed) - sum(|ops| ops.failed);
    if device.has_failed {
        // Operations still in the device, rejected by it, or waiting for a retry.
        prop_assert!(lost <= device.depth as u64, "{} lost", lost);
    } else {
        prop_assert_eq!(lost, 0);
        prop_assert_eq!(device.in_flight.len(), 0, "everything has come back");
    }
    for ops in all_ops(recorded) {
        prop_assert!(ops.submitted >= ops.completed + ops.failed);
        prop_assert_eq!(ops.latency.buckets.iter().map(|(_, count)| count).sum::<u64>(), ops.completed);
    }
    for ops in [&recorded.read, &recorded.write] {
        prop_assert_eq!(ops.bytes, ops.completed * u64::from(BLOCK_BYTES));
    }
    let blocks = recorded.read.completed + recorded.write.completed;
    prop_assert!(blocks <= case.blocks);
    prop_assert_eq!(outcome.is_ok(), device.first_end().is_none() && !device.has_failed);
    if outcome.is_ok() {
        prop_assert_eq!(blocks, case.blocks);
        prop_assert_eq!(sum(|ops| ops.failed), 0);
    }
    Ok(())
}

/// The reported error is the first one that occurred, with its number, and no new operation is
/// issued after it.
fn the_first_error_is_told(ran: &CaseRun) -> std::result::Result<(), TestCaseError> {
    let CaseRun { outcome, device, stop_is_asked, .. } = ran;
    let (Err(error), false) = (outcome, device.has_failed) else { return Ok(()) };
    let (op, first) = device.first_end().expect("something ended the run");
    match first {
        Err(number) => {
            let by_number =
                error.cause().is_some_and(|cause| cause.ends_with(&format!("(os error {})", number.0)));
            // Direct I/O rejects a rest that is not a multiple of the sector size. Then the number
            // of completed bytes is reported.
            let is_rest =
                number == ErrorNumber::INVALID && op.length_bytes < BLOCK_BYTES && op.kind != OpKind::Sync;
            prop_assert!(by_number || is_rest, "{:?} told as {}", first, error);
        }
        Ok(_) => prop_assert!(error.what().en.contains("only"), "{:?} told as {}", first, error),
    }
    prop_assert!(error.remedy_text().is_some() || first.is_err(), "{}", error);
    prop_assert_eq!(device.new_after_end, 0, "nothing new goes out after it");
    let is_end_sync = op.kind == OpKind::Sync && device.log.last() == Some(&(op, first));
    prop_assert!(*stop_is_asked || is_end_sync, "other threads are stopped");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]
    #[test]
    fn whatever_a_device_does_nothing_is_lost_and_the_first_error_is_told(case in any_case()) {
        let ran = run(&case);
        operations_are_conserved(&case, &ran)?;
        the_first_error_is_told(&ran)?;
    }
}

#[test]
fn every_error_number_at_every_kind_of_operation_ends_the_run_with_that_number() {
    for shape in [EngineShape::Threads, EngineShape::Ring] {
        for (read_percent, every_writes, end_sync) in
            [(100, None, false), (0, None, false), (0, Some(1), true)]
        {
            let mut numbers = BTreeSet::new();
            for seed in 0..3000 {
                let rates = Rates { error: 100, part: 0, nothing: 0, device: 0 };
                let case =
                    Case { shape, iodepth: 4, read_percent, every_writes, blocks: 50, end_sync, rates, seed };
                let ran = run(&case);
                operations_are_conserved(&case, &ran).unwrap();
                the_first_error_is_told(&ran).unwrap();
                if let (Err(_), Some((_, Err(number)))) = (&ran.outcome, ran.device.first_end()) {
                    numbers.insert(number.0);
                }
            }
            let missing: Vec<i32> =
                (1..=LAST_ERROR as i32).filter(|number| !numbers.contains(number)).collect();
            assert_eq!(missing, [4, 11], "all but those that are tried again");
        }
    }
}
