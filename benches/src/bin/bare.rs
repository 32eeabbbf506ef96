//! The bare loop: cost of an operation of which only a timestamp and a histogram are kept.
//!
//! The reference with which `benches/overhead` compares kurabe and fio. Random reads of one block
//! size. With `uring`: one ring with everything registered, and one clock reading per reap. With
//! `sync`: pread, and one clock reading per operation. No series, no stalls, no distinction of
//! errors, no choice of pattern.
//!
//! `bare uring|sync TARGET DEPTH BLOCK_BYTES SPAN_BYTES SECONDS` prints one line of JSON.
//! `uring-without-FEATURE` leaves one feature of the ring out (`kurabe_benches::ring_features`).
#![allow(unsafe_code)]
#![allow(clippy::print_stdout)]

use io_uring::squeue::Entry;
use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, opcode};
use kurabe_benches::ring_features::RING_FEATURES;
use std::error::Error;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// log2 of the buckets per power of two.
const SUB_BITS: u32 = 7;
const PAGE_BYTES: usize = 4096;

/// Log-linear latency counts, as in kurabe and fio.
struct Histogram {
    counts: Vec<u64>,
}

impl Histogram {
    fn new() -> Self {
        Self { counts: vec![0; 64 << SUB_BITS] }
    }

    #[inline]
    fn record(&mut self, value: u64) {
        let shift = (value | 1).ilog2().saturating_sub(SUB_BITS);
        let index = ((shift as usize) << SUB_BITS) + (value >> shift) as usize;
        self.counts[index] += 1;
    }

    fn median(&self) -> u64 {
        let half = self.counts.iter().sum::<u64>().div_ceil(2);
        let mut seen = 0;
        let index = self.counts.iter().position(|count| {
            seen += count;
            seen >= half
        });
        let index = index.unwrap_or(0) as u64;
        let shift = (index >> SUB_BITS).saturating_sub(1);
        (index - (shift << SUB_BITS)) << shift
    }
}

/// xorshift64: the cheapest generator with sufficiently scattered values.
struct Offsets {
    state: u64,
    blocks: u64,
    block: u64,
}

impl Offsets {
    #[inline]
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((u128::from(self.state) * u128::from(self.blocks)) >> 64) as u64 * self.block
    }
}

struct Task {
    file: File,
    depth: usize,
    block: usize,
    offsets: Offsets,
    length_ns: u64,
}

struct Outcome {
    operations: u64,
    elapsed_ns: u64,
    latency: Histogram,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, target, depth, block, span, seconds] = &arguments[..] else {
        return Err(
            "usage: bare uring[-without-FEATURE]|sync TARGET DEPTH BLOCK_BYTES SPAN_BYTES SECONDS".into()
        );
    };
    let (block, span): (u64, u64) = (block.parse()?, span.parse()?);
    let mut task = Task {
        file: File::open(target)?,
        depth: depth.parse()?,
        block: usize::try_from(block)?,
        offsets: Offsets { state: 0x9e37_79b9_7f4a_7c15, blocks: (span / block).max(1), block },
        length_ns: (seconds.parse::<f64>()? * 1e9) as u64,
    };
    let outcome = match mode.as_str() {
        "uring" => uring(&mut task, None)?,
        "sync" => sync(&mut task)?,
        other => match other.strip_prefix("uring-without-") {
            Some(feature) if RING_FEATURES.contains(&feature) => uring(&mut task, Some(feature))?,
            _ => return Err(format!("no such mode: {other}").into()),
        },
    };
    println!(
        "{{\"operations\":{},\"elapsed_ns\":{},\"p50_ns\":{}}}",
        outcome.operations,
        outcome.elapsed_ns,
        outcome.latency.median()
    );
    Ok(())
}

/// One pread after another; the end of one is the start of the next.
fn sync(task: &mut Task) -> Result<Outcome, Box<dyn Error>> {
    let mut memory = vec![1; task.block + PAGE_BYTES];
    let start = memory.as_ptr().align_offset(PAGE_BYTES);
    let buffer = &mut memory[start..start + task.block];
    let mut latency = Histogram::new();
    let (clock, mut now, mut operations) = (Instant::now(), 0, 0);
    while now < task.length_ns {
        let length = task.file.read_at(buffer, task.offsets.next())?;
        let end = clock.elapsed().as_nanos() as u64;
        check(length == task.block)?;
        latency.record(end - now);
        operations += 1;
        now = end;
    }
    Ok(Outcome { operations, elapsed_ns: now, latency })
}

/// A ring that is always full. `without` names a feature that is left out.
fn uring(task: &mut Task, without: Option<&str>) -> Result<Outcome, Box<dyn Error>> {
    let has = |feature: &str| without != Some(feature);
    let (depth, block) = (task.depth, task.block);
    let mut memory = vec![1u8; depth * block + PAGE_BYTES];
    let skip = memory.as_ptr().align_offset(PAGE_BYTES);
    let buffers = memory[skip..].as_mut_ptr();
    let mut builder = IoUring::builder();
    if has("single-issuer") {
        builder.setup_single_issuer();
        // The kernel refuses it without a single issuer.
        if has("deferred-task-work") {
            builder.setup_defer_taskrun();
        }
    }
    if has("no-submission-array") {
        builder.setup_no_sqarray();
    }
    let ring: IoUring = builder.build(u32::try_from(depth)?.next_power_of_two())?;
    let file = task.file.as_raw_fd();
    ring.submitter().register_files(&[file])?;
    let whole = [libc::iovec { iov_base: buffers.cast(), iov_len: depth * block }];
    // SAFETY: `memory` outlives the ring's last operation: `fill` returns only after all of them
    // have completed, except on an error, which ends the process.
    unsafe { ring.submitter().register_buffers(&whole) }?;
    let length = block as u32;
    let address = |slot: usize| buffers.wrapping_add(slot * block);
    // The loop is compiled for each kind of entry, so that the choice costs nothing.
    match without {
        Some("registered-file") => fill(task, ring, without, |slot, offset| {
            opcode::ReadFixed::new(Fd(file), address(slot), length, 0).offset(offset).build()
        }),
        Some("registered-buffers") => fill(task, ring, without, |slot, offset| {
            opcode::Read::new(Fixed(0), address(slot), length).offset(offset).build()
        }),
        _ => fill(task, ring, without, |slot, offset| {
            opcode::ReadFixed::new(Fixed(0), address(slot), length, 0).offset(offset).build()
        }),
    }
}

/// Keeps a ring full: every completion is recorded and its slot refilled immediately. One system call
/// submits the new operations and waits. `entry` makes that of a slot and an offset.
fn fill(
    task: &mut Task,
    mut ring: IoUring,
    without: Option<&str>,
    entry: impl Fn(usize, u64) -> Entry,
) -> Result<Outcome, Box<dyn Error>> {
    let (depth, block) = (task.depth, task.block);
    let entry = |slot: usize, offset: u64| entry(slot, offset).user_data(slot as u64);
    let submits_each = without == Some("batched-submission");
    let mut latency = Histogram::new();
    let mut started = vec![0u64; depth];
    let (mut submitter, mut submission, mut completion) = ring.split();
    if without != Some("registered-ring") {
        submitter.register_ring_fd()?;
    }
    let clock = Instant::now();
    for slot in 0..depth {
        // SAFETY: the slot's buffer is registered memory, and no other operation uses it.
        unsafe { submission.push(&entry(slot, task.offsets.next())) }?;
    }
    let (mut operations, mut in_flight, mut now) = (0, depth, 0);
    while in_flight > 0 {
        submission.sync();
        submitter.submit_and_wait(1)?;
        now = clock.elapsed().as_nanos() as u64;
        completion.sync();
        // The kernel has consumed the submitted entries, so there is room again.
        submission.sync();
        for done in completion.by_ref() {
            check(done.result() == block as i32)?;
            let slot = done.user_data() as usize;
            latency.record(now - started[slot]);
            operations += 1;
            if now >= task.length_ns {
                in_flight -= 1;
                continue;
            }
            started[slot] = now;
            // SAFETY: the operation that used the slot's buffer has just completed.
            unsafe { submission.push(&entry(slot, task.offsets.next())) }?;
            if submits_each {
                submission.sync();
                submitter.submit()?;
                submission.sync();
            }
        }
        completion.sync();
    }
    Ok(Outcome { operations, elapsed_ns: now, latency })
}

#[inline]
fn check(whole: bool) -> Result<(), Box<dyn Error>> {
    if whole { Ok(()) } else { Err("a read failed or was short".into()) }
}
