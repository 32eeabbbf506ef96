//! io_uring: one ring for each issuing thread.
//!
//! Buffers and file are registered once. If operations complete during submission (page cache),
//! `submit` only writes entries into the ring, and `reap` enters the kernel once for all of them.
//! Otherwise `submit` enters the kernel for each operation, because batches cost a virtual disk a
//! sixth of its throughput (probably because the kernel delays the first request until the last one
//! is prepared). `reap` waits for at least one completion. One clock reading covers all completions
//! that it finds.
//!
//! The ring is opened with every feature that lowers the cost of an operation. Features that the
//! kernel refuses are dropped one by one, and the list of refusals goes into the record.
#![allow(unsafe_code)]

use crate::clock::{monotonic_ns, sleep_until};
use crate::drive::buffer::{Arena, Lease, Pages};
use crate::drive::rest::{EXIT_PATIENCE_NS, PATIENCE_NS};
use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{CompletionQueue, IoUring, SubmissionQueue, Submitter, opcode, squeue};
use kurabe_core::device::{Buffer, Completion, Device, ErrorNumber, Submission, Wait};
pub use kurabe_core::issue::WaitMode;
use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{Error, ErrorKind, Result, mention::ENGINE, text};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// The properties of an open ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingFacts {
    /// Features in use.
    pub features: Vec<String>,
    /// Features that were refused, with the reason.
    pub fallbacks: Vec<String>,
    /// How completions are awaited.
    pub wait: WaitMode,
    /// Pages that back the buffers.
    pub pages: Pages,
    /// Number of kernel workers when the thread finished. If above zero, operations were passed
    /// through them.
    pub workers: usize,
}

/// A ring with a file and buffers, on which a device works.
pub struct Ring {
    /// Declared before the file and the arena so that it is dropped first. The kernel then uses
    /// neither of them any more.
    ring: IoUring,
    _file: File,
    /// Registered with the ring.
    arena: Arena,
    wait: WaitMode,
    aim: Aim,
}

/// The parts of a ring in use.
pub struct UringDevice<'r> {
    submitter: Submitter<'r>,
    submission: SubmissionQueue<'r>,
    completion: CompletionQueue<'r>,
    leases: Vec<Lease<'r>>,
    slots: Vec<Slot<'r>>,
    in_flight_count: usize,
    wait: WaitMode,
    aim: Aim,
    /// Since when the kernel has only requested retries.
    refused_since_ns: Option<u64>,
    /// How long it may do so, in ns.
    patience_ns: u64,
    /// Whether operations complete during submission, as in the page cache. If so, they are
    /// submitted in batches. Otherwise each is submitted immediately, so that the device receives
    /// it without waiting for the rest.
    in_line: bool,
}

/// A buffer's place in the ring.
struct Slot<'r> {
    /// The buffer, while its operation is in flight.
    lease: Option<Lease<'r>>,
    /// The entry of the last operation. The next one usually differs in its offset only, so that is
    /// all that is written again.
    entry: squeue::Entry,
    kind: OpKind,
    length_bytes: u32,
}

impl<'r> Slot<'r> {
    /// Creates the slot of a buffer, with an entry that does nothing, as for a discard.
    fn of(lease: &Lease<'r>) -> Self {
        let entry = opcode::Nop::new().build().user_data(lease.slot() as u64);
        Self { lease: None, entry, kind: OpKind::Trim, length_bytes: 0 }
    }

    /// Makes the entry that of an operation, and takes its buffer.
    #[inline(always)]
    fn take(&mut self, aim: &Aim, op: Op, lease: Lease<'r>) {
        if self.kind != op.kind || self.length_bytes != op.length_bytes {
            self.entry = aim.entry(op.kind, op.length_bytes, lease.address(), lease.slot());
            (self.kind, self.length_bytes) = (op.kind, op.length_bytes);
        }
        // The offset is the second word of the kernel's `struct io_uring_sqe`.
        let offset = std::ptr::from_mut(&mut self.entry).cast::<u64>().wrapping_add(1);
        // SAFETY: an entry is that structure (`repr(C)`, 64 bytes, any bytes are valid), and it is
        // borrowed mutably.
        unsafe { offset.write(op.offset_bytes) };
        self.lease = Some(lease);
    }
}

/// How entries refer to the file and the buffers.
#[derive(Clone, Copy)]
struct Aim {
    raw_file: RawFd,
    fixed_file: bool,
    fixed_buffers: bool,
    /// The kind of flush.
    flush: FsyncFlags,
}

impl Aim {
    /// Returns the ring entry for an operation at offset 0.
    #[inline(never)]
    fn entry(&self, kind: OpKind, length: u32, address: *mut u8, slot: usize) -> squeue::Entry {
        /// Uses the same expression for registered and ordinary files, which have different types.
        macro_rules! with_file {
            ($file:ident => $entry:expr) => {
                if self.fixed_file {
                    let $file = Fixed(0);
                    $entry
                } else {
                    let $file = Fd(self.raw_file);
                    $entry
                }
            };
        }
        let entry = match kind {
            OpKind::Read if self.fixed_buffers => {
                with_file!(file => opcode::ReadFixed::new(file, address, length, 0).build())
            }
            OpKind::Read => with_file!(file => opcode::Read::new(file, address, length).build()),
            OpKind::Write if self.fixed_buffers => {
                with_file!(file => opcode::WriteFixed::new(file, address, length, 0).build())
            }
            OpKind::Write => with_file!(file => opcode::Write::new(file, address, length).build()),
            OpKind::Sync => with_file!(file => opcode::Fsync::new(file).flags(self.flush).build()),
            // This engine doesn't support discards. The no-op transfers no bytes, which is reported
            // as an error.
            OpKind::Trim => opcode::Nop::new().build(),
        };
        entry.user_data(slot as u64)
    }
}

type Setup = (&'static str, fn(&mut io_uring::Builder) -> &mut io_uring::Builder);

/// Opens the ring with as many of the requested features as the kernel supports. The last one of
/// the list is dropped first.
/// Time for which a ring that gets no memory is tried again. The kernel counts the memory of rings as
/// locked, and releases that of a closed one some milliseconds later.
const MEMORY_PATIENCE: Duration = Duration::from_secs(1);
const MEMORY_INTERVAL: Duration = Duration::from_millis(5);

/// Checks whether this process can have as many rings at a time.
///
/// # Errors
/// Those of the kernel for the first ring that cannot be opened.
pub fn check_rings(count: usize, depth: usize) -> io::Result<()> {
    let mut facts = RingFacts::wished(WaitMode::Sleep, Pages::Small);
    let rings = (0..count).map(|_| open_ring(depth, WaitMode::Sleep, &mut facts));
    rings.collect::<io::Result<Vec<IoUring>>>().map(|_| ())
}

fn open_ring(depth: usize, wait: WaitMode, facts: &mut RingFacts) -> io::Result<IoUring> {
    let mut wishes: Vec<Setup> = match wait {
        WaitMode::Sleep => vec![
            ("single-issuer", io_uring::Builder::setup_single_issuer),
            ("deferred-task-work", io_uring::Builder::setup_defer_taskrun),
        ],
        // Completions must be visible without entering the kernel.
        WaitMode::Spin => vec![("single-issuer", io_uring::Builder::setup_single_issuer)],
        WaitMode::Poll => vec![("completion-polling", io_uring::Builder::setup_iopoll)],
    };
    let entries = u32::try_from(depth).unwrap_or(u32::MAX).next_power_of_two();
    let start = Instant::now();
    loop {
        let mut builder = IoUring::builder();
        builder.setup_clamp();
        for (_, apply) in &wishes {
            apply(&mut builder);
        }
        match builder.build(entries) {
            Ok(ring) => {
                facts.features.extend(wishes.iter().map(|(name, _)| (*name).to_owned()));
                return Ok(ring);
            }
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                let Some((name, _)) = wishes.pop() else { return Err(error) };
                facts.fallbacks.push(format!("{name}: {error}"));
            }
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory && start.elapsed() < MEMORY_PATIENCE => {
                std::thread::sleep(MEMORY_INTERVAL);
            }
            Err(error) => return Err(error),
        }
    }
}

impl Ring {
    /// Opens a ring with `depth` buffers of `size` bytes for a file.
    ///
    /// # Errors
    /// Fails if io_uring is not available to this process, or if there is no memory.
    pub fn open(
        file: File,
        depth: usize,
        size: usize,
        pages: Pages,
        wait: WaitMode,
    ) -> Result<(Self, RingFacts)> {
        let mut facts = RingFacts::wished(wait, pages);
        let cannot = |error: &io::Error| {
            ErrorKind::Unsupported.error(text!("cannot open an io_uring", "io_uring を開けません"))
                .because(error)
                .remedy(text!(
                    "use {ENGINE} threads, or allow io_uring (sysctl kernel.io_uring_disabled, the \
                     container's seccomp profile, ulimit -l)",
                    "{ENGINE} threads を使うか、io_uring を許可してください(sysctl kernel.io_uring_disabled、コンテナーの \
                     seccomp、ulimit -l)"
                ))
        };
        let ring = open_ring(depth, wait, &mut facts).map_err(|error| cannot(&error))?;
        let (arena, pages) = Arena::new(depth, size, pages)?;
        facts.took_pages(pages);

        let (start, length) = arena.span();
        let whole = [libc::iovec { iov_base: start.cast(), iov_len: length }];
        // SAFETY: the buffer is the arena's mapping, which this value holds until the ring is
        // dropped.
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&whole) };
        let fixed_buffers = facts.note("registered-buffers", fixed_buffers);
        let fixed_file = ring.submitter().register_files(&[file.as_raw_fd()]);
        let fixed_file = facts.note("registered-file", fixed_file);
        let aim = Aim { raw_file: file.as_raw_fd(), fixed_file, fixed_buffers, flush: FsyncFlags::empty() };
        Ok((Self { ring, _file: file, arena, wait, aim }, facts))
    }

    /// Returns the ring with fdatasync or fsync as its flush.
    #[must_use]
    pub fn flushing(mut self, data_only: bool) -> Self {
        self.aim.flush = if data_only { FsyncFlags::DATASYNC } else { FsyncFlags::empty() };
        self
    }

    /// Returns the device that works on the ring, for the calling thread.
    pub fn device(&mut self, facts: &mut RingFacts) -> UringDevice<'_> {
        let (mut submitter, submission, completion) = self.ring.split();
        facts.note("registered-ring", submitter.register_ring_fd());
        let leases = self.arena.leases();
        UringDevice {
            submitter,
            submission,
            completion,
            slots: leases.iter().map(Slot::of).collect(),
            leases,
            in_flight_count: 0,
            wait: self.wait,
            aim: self.aim,
            refused_since_ns: None,
            patience_ns: PATIENCE_NS,
            in_line: true,
        }
    }
}

impl UringDevice<'_> {
    /// Enters the kernel: submits new entries and waits for a completion, until `until_ns` at most.
    fn enter(&mut self, until_ns: Option<u64>) -> io::Result<()> {
        let entered = match until_ns {
            None => self.submitter.submit_and_wait(1),
            Some(until_ns) => {
                let left = until_ns.saturating_sub(monotonic_ns());
                let time = Timespec::new().sec(left / 1_000_000_000).nsec((left % 1_000_000_000) as u32);
                self.submitter.submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        self.entered(entered)
    }

    /// Checks the result of entering the kernel.
    #[inline]
    fn entered(&mut self, entered: io::Result<usize>) -> io::Result<()> {
        match entered {
            Ok(_) => {
                self.refused_since_ns = None;
                Ok(())
            }
            Err(error) => self.refused(error),
        }
    }

    /// Tolerates requests to retry, but only for a limited time.
    #[cold]
    fn refused(&mut self, error: io::Error) -> io::Result<()> {
        let is = |number: Errno| error.raw_os_error() == Some(number.raw_os_error());
        if is(Errno::TIME) {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        let refused_ns = now_ns.saturating_sub(*self.refused_since_ns.get_or_insert(now_ns));
        let is_passing = [Errno::INTR, Errno::AGAIN, Errno::BUSY].into_iter().any(is);
        if is_passing && refused_ns <= self.patience_ns { Ok(()) } else { Err(error) }
    }

    /// Submits new entries to the kernel without waiting.
    #[cold]
    fn hand_over(&mut self) -> Result<u64> {
        self.submission.sync();
        let submitted = self.submitter.submit();
        // Entries that the kernel could not accept now are submitted with the next one.
        self.entered(submitted).map_err(|error| ring_failed(&error))?;
        self.submission.sync();
        Ok(monotonic_ns())
    }

    /// Polls the completion queue without sleeping until a completion appears or the time is over.
    fn spin(&mut self, until_ns: Option<u64>) -> io::Result<()> {
        self.submission.sync();
        if !self.submission.is_empty() {
            let submitted = self.submitter.submit();
            self.entered(submitted)?;
            // If the kernel accepted nothing and has nothing in flight, no completion can appear.
            if self.refused_since_ns.is_some() && self.in_flight_count == self.submission.len() {
                return Ok(());
            }
        }
        loop {
            self.completion.sync();
            if !self.completion.is_empty() {
                break;
            }
            if until_ns.is_some_and(|until| monotonic_ns() >= until) {
                break;
            }
            std::hint::spin_loop();
        }
        Ok(())
    }
}

impl<'r> Device for UringDevice<'r> {
    type Buffer = Lease<'r>;

    fn take_buffers(&mut self) -> Vec<Lease<'r>> {
        std::mem::take(&mut self.leases)
    }

    #[inline]
    fn now_ns(&mut self) -> u64 {
        monotonic_ns()
    }

    #[inline(always)]
    fn submit(&mut self, request: Submission<Lease<'r>>, now_ns: u64) -> Result<u64> {
        let Submission { op, buffer } = request;
        let slot = &mut self.slots[buffer.slot()];
        slot.take(&self.aim, op, buffer);
        // SAFETY: the address lies in the arena, which outlives the ring. The slot holds the lease
        // until the completion is seen, so no other code accesses the bytes.
        if unsafe { self.submission.push(&slot.entry) }.is_err() {
            return Err(queue_is_full());
        }
        self.in_flight_count += 1;
        if self.in_line { Ok(now_ns) } else { self.hand_over() }
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<Lease<'r>>)) -> Result<()> {
        let until_ns = match wait {
            Wait::One => None,
            Wait::Until(until) => Some(until),
        };
        if self.in_flight_count == 0 {
            if let Some(until) = until_ns {
                sleep_until(until);
            }
            return Ok(());
        }
        // Makes the pushed entries visible to the kernel …
        self.submission.sync();
        let entered = if self.wait == WaitMode::Spin { self.spin(until_ns) } else { self.enter(until_ns) };
        entered.map_err(|error| ring_failed(&error))?;
        let completed_at_ns = monotonic_ns();
        // … and makes the space freed by the kernel visible here.
        self.submission.sync();
        self.completion.sync();
        self.in_flight_count = self.in_flight_count.saturating_sub(self.completion.len());
        for entry in self.completion.by_ref() {
            let Some(buffer) = self.slots[entry.user_data() as usize].lease.take() else { continue };
            let result = entry.result();
            let outcome = u32::try_from(result).map_err(|_| ErrorNumber(-result));
            done(Completion { buffer, outcome, completed_at_ns });
        }
        self.completion.sync();
        self.in_line = self.in_flight_count == 0;
        Ok(())
    }
}

#[cold]
fn ring_failed(error: &io::Error) -> Error {
    Error::os(text!("io_uring failed", "io_uring が失敗しました"), error).remedy(text!(
        "use {ENGINE} threads, or allow io_uring_enter (the container's seccomp profile)",
        "{ENGINE} threads を使うか、io_uring_enter を許可してください(コンテナーの seccomp)"
    ))
}

#[cold]
fn queue_is_full() -> Error {
    ErrorKind::Internal.error(text!("the submission queue is full", "送信キューがあふれました"))
}

impl Drop for UringDevice<'_> {
    /// Waits until the kernel no longer uses the buffers. After an error, some operations may still
    /// be in flight. A registered ring would be kept, with its memory, until the thread ends.
    fn drop(&mut self) {
        (self.refused_since_ns, self.patience_ns) = (None, EXIT_PATIENCE_NS);
        while self.in_flight_count > 0 && self.reap(Wait::One, &mut |_| {}).is_ok() {}
        let _ = self.submitter.unregister_ring_fd();
    }
}

impl RingFacts {
    fn wished(wait: WaitMode, pages: Pages) -> Self {
        Self { features: Vec::new(), fallbacks: Vec::new(), wait, pages, workers: 0 }
    }

    /// Records the kind of pages that back the buffers.
    pub fn took_pages(&mut self, pages: Pages) {
        if self.pages != pages {
            self.fallbacks.push("pages huge: the kernel gave ordinary pages".to_owned());
        }
        self.pages = pages;
    }

    /// Records whether a feature is available.
    fn note(&mut self, feature: &str, result: io::Result<impl Sized>) -> bool {
        match result {
            Ok(_) => self.features.push(feature.to_owned()),
            Err(error) => {
                self.fallbacks.push(format!("{feature}: {error}"));
                return false;
            }
        }
        true
    }
}

/// Checks whether this kernel provides a working ring to this process, and returns its features.
/// Performs one operation, because a system-call filter (seccomp) may allow a ring to be created
/// but not to be entered.
///
/// # Errors
/// Fails if there is no working ring.
pub fn probe_ring() -> Result<RingFacts> {
    let zero = File::open("/dev/zero")
        .map_err(|error| Error::os(text!("cannot open /dev/zero", "/dev/zero を開けません"), &error))?;
    let (mut ring, mut facts) = Ring::open(zero, 4, 4096, Pages::Small, WaitMode::Sleep)?;
    let mut device = ring.device(&mut facts);
    let op = Op { kind: OpKind::Read, offset_bytes: 0, length_bytes: 4096 };
    let mut read = None;
    if let Some(buffer) = device.take_buffers().pop() {
        let now_ns = device.now_ns();
        device.submit(Submission { op, buffer }, now_ns)?;
        while read.is_none() {
            device.reap(Wait::One, &mut |done| read = Some(done.outcome))?;
        }
    }
    drop(device);
    match read {
        Some(Err(ErrorNumber(number))) => Err(ring_failed(&io::Error::from_raw_os_error(number))),
        _ => Ok(facts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::skip;
    use std::os::unix::fs::FileExt;

    const BLOCK: u32 = 4096;

    /// Performs an operation, and returns the first byte of its buffer.
    fn first_byte<'r>(device: &mut UringDevice<'r>, free: &mut Vec<Lease<'r>>, op: Op) -> u8 {
        let buffer = free.pop().unwrap();
        device.submit(Submission { op, buffer }, 0).unwrap();
        while free.is_empty() {
            device
                .reap(Wait::One, &mut |done| {
                    assert_eq!(done.outcome, Ok(op.length_bytes));
                    free.push(done.buffer);
                })
                .unwrap();
        }
        free[0].bytes_mut(1)[0]
    }

    #[test]
    fn a_slot_performs_each_operation_whatever_the_one_before_it_was() {
        let file = tempfile::tempfile().unwrap();
        for number in 0..4u8 {
            file.write_all_at(&[number; BLOCK as usize], u64::from(number) * u64::from(BLOCK)).unwrap();
        }
        let opened = Ring::open(file, 1, BLOCK as usize, Pages::Small, WaitMode::Sleep);
        let Ok((mut ring, mut facts)) = opened else { return skip("no io_uring") };
        let mut device = ring.device(&mut facts);
        let mut free = device.take_buffers();
        let mut perform = |kind: OpKind, block: u64, length_bytes: u32| {
            let op = Op { kind, offset_bytes: block * u64::from(BLOCK), length_bytes };
            first_byte(&mut device, &mut free, op)
        };
        assert_eq!(perform(OpKind::Read, 1, BLOCK), 1);
        assert_eq!(perform(OpKind::Read, 3, BLOCK), 3);
        assert_eq!(perform(OpKind::Read, 2, 512), 2);
        // Block 0 now begins with the bytes of block 2.
        perform(OpKind::Write, 0, BLOCK);
        perform(OpKind::Sync, 0, 0);
        assert_eq!(perform(OpKind::Read, 1, BLOCK), 1);
        assert_eq!(perform(OpKind::Read, 0, BLOCK), 2);
    }
}
