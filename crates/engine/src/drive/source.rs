//! Decides which operation comes next, and when it is due.
//!
//! A `Generator` belongs to one of the workload's threads and issues its share of offsets, in
//! order. It knows nothing about devices and reads no clock. If a thread's queue depth consists of
//! several operating-system threads, they share the generator behind a lock.

use crate::drive::fio_places::FioJobPlaces;
use crate::drive::permutation::Permutation;
use crate::drive::places::Places;
use crate::drive::rest::SYNC;
use kurabe_core::random::{Random, split_mix};
use kurabe_core::workload::{
    Arrival, BlockSize, BlocksInOrder, End, FioPlaces, Op, OpKind, OpenLoop, Pattern, ThreadShare, TimeCheck,
    Trims, Workload,
};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The next step of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this operation now. In an open loop, it has a due time.
    Op {
        /// The operation.
        op: Op,
        /// Due time in ns from the start. `None` in a closed loop.
        due_ns: Option<u64>,
    },
    /// No operation before this time, in ns from the start.
    NotBefore(u64),
    /// No more operations.
    End,
}

/// A source of operations.
pub trait Source {
    /// Whether the source must be notified of completions. If not, no lock is taken for them.
    const HEARS_ENDS: bool = false;

    /// Returns the next operation at a time in ns from the start.
    fn next(&mut self, now_ns: u64) -> Next;

    /// Notifies the source of a completed operation, at a time in ns from the start.
    #[inline(always)]
    fn ended(&mut self, _op: Op, _now_ns: u64) {}

    /// Returns whether the tool checks the time at this point, so that the repetition may end here.
    fn may_end(&mut self) -> bool {
        true
    }

    /// Returns a source of the same operations for which the driver compiles to a shorter loop, if
    /// only the offset differs between operations and no other thread uses this source.
    fn plain(&self) -> Option<PlainSource> {
        None
    }
}

impl Source for Generator {
    #[inline(always)]
    fn next(&mut self, now_ns: u64) -> Next {
        match &mut self.plain {
            Some(plain) => plain.next(now_ns),
            None => self.draw(now_ns),
        }
    }

    fn plain(&self) -> Option<PlainSource> {
        self.plain.clone()
    }

    fn may_end(&mut self) -> bool {
        self.check_every == 0 || self.drawn.is_multiple_of(self.check_every)
    }
}

impl<S: Source> Source for &Mutex<S> {
    // A separate function call would cost a tenth of an operation.
    #[inline(always)]
    fn next(&mut self, now_ns: u64) -> Next {
        self.lock().unwrap_or_else(PoisonError::into_inner).next(now_ns)
    }

    #[inline(always)]
    fn ended(&mut self, op: Op, now_ns: u64) {
        if S::HEARS_ENDS {
            self.lock().unwrap_or_else(PoisonError::into_inner).ended(op, now_ns);
        }
    }

    fn may_end(&mut self) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).may_end()
    }
}

/// The order of offsets of one thread.
#[derive(Clone, Debug)]
enum OffsetOrder {
    /// From `start` to `end`, repeatedly.
    Sequential { next: u64, start: u64, end: u64 },
    /// With a gap after each run of blocks, from one end to the other, repeatedly.
    Strided { next: i64, run: Option<u64>, run_left: u64, gap: i64, start: u64, end: u64 },
    /// The next block of the stream that all threads share.
    Interleaved { shared: Arc<AtomicU64> },
    /// Any of `positions`, one grain apart.
    Random { positions: u64 },
    /// Every `stride`-th element of a permutation of `positions`, starting with `next`. Then the
    /// next pass.
    Permutation {
        order: Permutation,
        positions: u64,
        next: u64,
        stride: u64,
        first: u64,
        pass: u64,
        seed: u64,
    },
    /// Drawn from a non-uniform distribution.
    Drawn(Places),
    /// Drawn as in a fio job.
    OfFio(Box<FioJobPlaces>),
}

impl OffsetOrder {
    /// Returns the order of one thread of a workload. `own` is its range of bytes for sequential
    /// patterns.
    fn of(
        workload: &Workload,
        thread: u32,
        shared: &Arc<AtomicU64>,
        own: Range<u64>,
        positions: u64,
    ) -> Self {
        let index = u64::from(thread);
        if let Some(places) = FioJobPlaces::of(workload, thread, positions) {
            return Self::OfFio(Box::new(places));
        }
        match workload.pattern {
            Pattern::Sequential => {
                let next = if workload.moving_start { drawn_start(workload, &own) } else { own.start };
                Self::Sequential { next, start: own.start, end: own.end }
            }
            Pattern::Strided { run_bytes, gap_bytes } => Self::Strided {
                run: run_bytes,
                run_left: run_bytes.unwrap_or(0),
                next: if gap_bytes < 0 {
                    (own.end as i64).saturating_add(gap_bytes)
                } else {
                    own.start as i64
                },
                gap: gap_bytes,
                start: own.start,
                end: own.end,
            },
            Pattern::Interleaved => Self::Interleaved { shared: Arc::clone(shared) },
            Pattern::Random if workload.zones.is_empty() => Self::Random { positions },
            Pattern::Permutation => Self::Permutation {
                order: Permutation::new(positions, workload.seed),
                positions,
                next: index,
                stride: u64::from(workload.threads),
                first: index,
                pass: 0,
                seed: workload.seed,
            },
            Pattern::Random | Pattern::Zipf { .. } | Pattern::Pareto { .. } | Pattern::Normal { .. } => {
                Self::Drawn(Places::of(workload, positions))
            }
        }
    }
}

/// Returns the place at which ascending offsets begin, in whole blocks from the first byte of a thread's part.
fn drawn_start(workload: &Workload, own: &Range<u64>) -> u64 {
    let block_bytes = u64::from(workload.largest_block_bytes()).max(1);
    let blocks = own.end.saturating_sub(own.start) / block_bytes;
    own.start + split_mix(&mut workload.seed.clone()) % blocks.max(1) * block_bytes
}

/// The schedule of an open loop for one thread.
#[derive(Clone, Debug)]
struct Schedule {
    arrival: Arrival,
    mean_gap_ns: f64,
    due_ns: f64,
}

/// Generates the operations of one thread of a workload.
#[derive(Clone, Debug)]
pub struct Generator {
    random: Random,
    order: OffsetOrder,
    sizes: Sizes,
    /// Block sizes of writes, if different.
    write_sizes: Option<Sizes>,
    base: u64,
    span: u64,
    grain: u64,
    read_percent: u8,
    /// Bytes that may still be issued.
    budget: u64,
    schedule: Option<Schedule>,
    sync_every: Option<u32>,
    writes_since_sync: u32,
    rewrite_every: Option<u32>,
    trims: Option<Trims>,
    /// The write that follows its discard.
    write_due: Option<Op>,
    reads_since_rewrite: u32,
    /// The block read most recently.
    last_read: Op,
    /// Number of operations between two time checks. 0 means that the time is always checked.
    check_every: u64,
    /// Number of operations issued so far, if needed.
    drawn: u64,
    plain: Option<PlainSource>,
    /// Runs of consecutive blocks, and the end of the previous block.
    in_order: Option<(BlocksInOrder, u64)>,
    /// Remaining blocks of the current run.
    run_left: u32,
}

/// Draws a read or a write according to the percentage of reads.
#[inline]
fn kind(read_percent: u8, random: &mut Random) -> OpKind {
    match read_percent {
        100 => OpKind::Read,
        0 => OpKind::Write,
        percent if random.below(100) < u64::from(percent) => OpKind::Read,
        _ => OpKind::Write,
    }
}

/// Block sizes with cumulative weights. Usually there is one entry.
#[derive(Clone, Debug)]
struct Sizes(Vec<(u32, u32)>);

impl Sizes {
    fn of(blocks: &[BlockSize]) -> Self {
        let mut weight_sum = 0;
        let sum = |block: &BlockSize| {
            weight_sum += block.weight;
            (block.size_bytes, weight_sum)
        };
        Self(blocks.iter().map(sum).collect())
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> u32 {
        if let [(size, _)] = self.0[..] {
            return size;
        }
        let weight_sum = self.0.last().map_or(1, |(_, sum)| *sum);
        let drawn = random.below(u64::from(weight_sum)) as u32;
        self.0.iter().find(|(_, until)| drawn < *until).map_or(0, |(size, _)| *size)
    }
}

/// The source for the most common case on a fast target, in which only a random offset is drawn:
/// one size, one direction, random order, closed loop, no limit and no syncs. It generates the same
/// operations as a [`Generator`].
#[derive(Clone, Debug)]
pub struct PlainSource {
    random: Random,
    kind: OpKind,
    length: u32,
    base: u64,
    positions: u64,
    grain: u64,
}

impl Source for PlainSource {
    #[inline(always)]
    fn next(&mut self, _now_ns: u64) -> Next {
        let offset_bytes = self.base + self.random.below(self.positions) * self.grain;
        Next::Op { op: Op { kind: self.kind, offset_bytes, length_bytes: self.length }, due_ns: None }
    }
}

impl PlainSource {
    /// Returns the source of a workload, if it qualifies. The workload's limits are not checked
    /// here.
    fn of(workload: &Workload, random: &Random, positions: u64) -> Option<Self> {
        let bare = workload.pattern == Pattern::Random
            && workload.zones.is_empty()
            && workload.in_order.is_none()
            && workload.fio_places.is_none()
            && workload.rewrite_every_reads.is_none()
            && workload.open_loop.is_none()
            && workload.sync.every_writes.is_none()
            && workload.trims != Some(Trims::BeforeWrites)
            && workload.write_block_sizes.is_empty();
        let kind = match workload.read_percent {
            0 if workload.trims.is_some() => OpKind::Trim,
            0 => OpKind::Write,
            100 => OpKind::Read,
            _ => return None,
        };
        match workload.block_sizes.as_slice() {
            [block] if bare => Some(Self {
                random: random.clone(),
                kind,
                length: block.size_bytes,
                base: workload.offset_bytes,
                positions,
                grain: u64::from(workload.grain_bytes()),
            }),
            _ => None,
        }
    }
}

impl Generator {
    /// Creates the generators of all threads of a workload. The span must contain at least one
    /// block.
    pub fn for_threads(workload: &Workload) -> Vec<Self> {
        let shared = Arc::new(AtomicU64::new(0));
        let random = |thread| Random::new(workload.seed, u64::from(thread));
        (0..workload.threads)
            .map(|thread| match for_itself(workload, thread) {
                None => Self::new(workload, thread, &shared, random(thread)),
                Some(alone) => Self::new(&alone, 0, &Arc::new(AtomicU64::new(0)), random(thread)),
            })
            .collect()
    }

    fn new(workload: &Workload, thread: u32, shared: &Arc<AtomicU64>, random: Random) -> Self {
        let largest = u64::from(workload.largest_block_bytes());
        let grain = u64::from(workload.grain_bytes());
        let (threads, index) = (u64::from(workload.threads), u64::from(thread));
        let span = workload.span_bytes;
        let positions = (span - largest) / grain + 1;
        let mut share = share_of(span / grain, threads, index);
        if (share.end - share.start) * grain < largest {
            share = 0..span / grain;
        }
        let mut budget = workload.end.bytes.map_or(u64::MAX, |bytes| bytes_of(bytes, grain, threads, index));
        if let Some(passes) = workload.end.passes {
            let covered = match workload.pattern {
                Pattern::Strided { run_bytes: Some(run), gap_bytes } => {
                    let (bytes, run) = ((share.end - share.start) * grain, run.max(1));
                    let zone = run.saturating_add(gap_bytes.unsigned_abs());
                    // Whole blocks of the remainder at the end.
                    bytes / zone * run + (bytes % zone).min(run) / grain * grain
                }
                Pattern::Sequential | Pattern::Strided { .. } => (share.end - share.start) * grain,
                _ => part_of(span / grain, threads, index) * grain,
            };
            budget = budget.min(covered.saturating_mul(u64::from(passes)));
        }
        let order =
            OffsetOrder::of(workload, thread, shared, share.start * grain..share.end * grain, positions);
        let check_every = match workload.end.time_check {
            TimeCheck::Always => 0,
            TimeCheck::Operations(count) => u64::from(count),
            TimeCheck::Pass => ((share.end - share.start) * grain / largest).max(1),
        };
        let endless = budget == u64::MAX && check_every == 0;
        Self {
            plain: PlainSource::of(workload, &random, positions).filter(|_| endless),
            random,
            order,
            sizes: Sizes::of(&workload.block_sizes),
            write_sizes: Some(Sizes::of(&workload.write_block_sizes)).filter(|sizes| !sizes.0.is_empty()),
            base: workload.offset_bytes,
            span,
            grain,
            read_percent: workload.read_percent,
            budget,
            schedule: workload.open_loop.map(|open| Schedule::new(open, threads, index)),
            sync_every: workload.sync.every_writes,
            writes_since_sync: 0,
            rewrite_every: workload.rewrite_every_reads,
            trims: workload.trims,
            write_due: None,
            reads_since_rewrite: 0,
            last_read: Op { kind: OpKind::Write, offset_bytes: 0, length_bytes: 0 },
            check_every,
            drawn: 0,
            in_order: workload.in_order.map(|in_order| (in_order, u64::MAX)),
            run_left: 0,
        }
    }

    #[inline(never)]
    fn draw(&mut self, now_ns: u64) -> Next {
        if self.sync_every.is_some_and(|every| self.writes_since_sync >= every) {
            self.writes_since_sync = 0;
            return Next::Op { op: SYNC, due_ns: None };
        }
        if self.trims.is_some()
            && let Some(op) = self.write_due.take()
        {
            self.writes_since_sync = self.writes_since_sync.saturating_add(1);
            return Next::Op { op, due_ns: None };
        }
        if self.rewrite_every.is_some_and(|every| self.reads_since_rewrite >= every) {
            self.reads_since_rewrite = 0;
            self.writes_since_sync = self.writes_since_sync.saturating_add(1);
            return Next::Op { op: Op { kind: OpKind::Write, ..self.last_read }, due_ns: None };
        }
        if self.budget == 0 {
            return Next::End;
        }
        let mut due_ns = None;
        if let Some(schedule) = &self.schedule {
            let due = schedule.due_ns as u64;
            if due > now_ns {
                return Next::NotBefore(due);
            }
            due_ns = Some(due);
        }
        let (length, kind) = match &self.write_sizes {
            None => {
                let length = self.sizes.draw(&mut self.random);
                (length, kind(self.read_percent, &mut self.random))
            }
            Some(of_writes) => {
                let kind = kind(self.read_percent, &mut self.random);
                let sizes = if kind == OpKind::Write { of_writes } else { &self.sizes };
                (sizes.draw(&mut self.random), kind)
            }
        };
        if u64::from(length) > self.budget {
            self.budget = 0;
            return Next::End;
        }
        let offset = self.following(u64::from(length)).unwrap_or_else(|| self.offset(u64::from(length)));
        if let Some((_, end)) = &mut self.in_order {
            *end = offset + u64::from(length).next_multiple_of(self.grain);
        }
        self.budget -= if self.budget == u64::MAX { 0 } else { u64::from(length) };
        if let Some(schedule) = &mut self.schedule {
            schedule.advance(&mut self.random);
        }
        let mut op = Op { kind, offset_bytes: self.base + offset, length_bytes: length };
        if self.trims.is_some() {
            op = self.discard(op);
        }
        match op.kind {
            OpKind::Write => self.writes_since_sync = self.writes_since_sync.saturating_add(1),
            _ => {
                self.last_read = op;
                self.reads_since_rewrite = self.reads_since_rewrite.saturating_add(1);
            }
        }
        self.drawn += 1;
        Next::Op { op, due_ns }
    }

    /// Returns the discard that replaces a write or precedes it.
    #[cold]
    fn discard(&mut self, op: Op) -> Op {
        self.write_due = Some(op).filter(|_| self.trims == Some(Trims::BeforeWrites));
        Op { kind: OpKind::Trim, ..op }
    }

    /// Returns the offset after the previous block, if this block is consecutive and fits.
    fn following(&mut self, length: u64) -> Option<u64> {
        let (in_order, end) = self.in_order?;
        let follows = match in_order {
            BlocksInOrder::Percent(percent) => self.random.below(100) < u64::from(percent),
            BlocksInOrder::Blocks(_) => self.run_left > 0,
        } && end.checked_add(length).is_some_and(|until| until <= self.span);
        self.run_left = match (in_order, follows) {
            (BlocksInOrder::Blocks(blocks), false) => blocks.saturating_sub(1),
            _ => self.run_left.saturating_sub(1),
        };
        follows.then_some(end)
    }

    #[inline(always)]
    fn offset(&mut self, length: u64) -> u64 {
        match &mut self.order {
            OffsetOrder::Random { positions } => self.random.below(*positions) * self.grain,
            OffsetOrder::Sequential { next, start, end } => {
                if *next + length > *end {
                    *next = *start;
                }
                let offset = *next;
                *next += length;
                offset
            }
            OffsetOrder::Interleaved { shared } => {
                let length = length.next_multiple_of(self.grain);
                let blocks = (self.span / length).max(1);
                (shared.fetch_add(1, Ordering::Relaxed) % blocks) * length
            }
            OffsetOrder::Permutation { order, positions, next, stride, first, pass, seed } => {
                if *next >= *positions {
                    *pass += 1;
                    *next = *first % *positions;
                    *order = Permutation::new(*positions, seed.wrapping_add(*pass << 20));
                }
                let at = order.at(*next);
                *next += *stride;
                at * self.grain
            }
            OffsetOrder::Strided { next, run, run_left, gap, start, end } => {
                let fits = |at: i64| at >= *start as i64 && at as u64 + length <= *end;
                if !fits(*next) {
                    *next = if *gap < 0 { (*end as i64).saturating_add(*gap) } else { *start as i64 };
                    *run_left = run.unwrap_or(0);
                }
                // A gap longer than the span has no effect.
                let offset = if fits(*next) { *next as u64 } else { *start };
                *run_left = run_left.saturating_sub(length);
                let hop = if *run_left < length { *gap } else { 0 };
                *run_left = if hop == 0 { *run_left } else { run.unwrap_or(0) };
                *next = (offset as i64 + length as i64).saturating_add(hop);
                offset
            }
            OffsetOrder::Drawn(places) => places.draw(&mut self.random) * self.grain,
            OffsetOrder::OfFio(places) => places.draw() * self.grain,
        }
    }
}

impl Schedule {
    fn new(open: OpenLoop, threads: u64, index: u64) -> Self {
        // Must be finite, because infinity times zero is not a number.
        let gap_ns = (1e9 / open.rate_iops).min(u64::MAX as f64);
        Self { arrival: open.arrival, mean_gap_ns: gap_ns * threads as f64, due_ns: gap_ns * index as f64 }
    }

    fn advance(&mut self, random: &mut Random) {
        self.due_ns += match self.arrival {
            Arrival::Even => self.mean_gap_ns,
            Arrival::Poisson => -random.unit().ln() * self.mean_gap_ns,
        };
    }
}

/// Returns the workload of a thread that shares nothing with the others. `None` if it shares the
/// span or stream with them.
fn for_itself(workload: &Workload, thread: u32) -> Option<Workload> {
    let grain = u64::from(workload.grain_bytes());
    let (threads, index) = (u64::from(workload.threads), u64::from(thread));
    let part = match workload.thread_share {
        ThreadShare::Whole if workload.pattern != Pattern::Interleaved => 0..workload.span_bytes / grain,
        ThreadShare::Parts if !workload.pattern.is_sequential() => {
            share_of(workload.span_bytes / grain, threads, index)
        }
        _ => return None,
    };
    let span_bytes = (part.end - part.start) * grain;
    if workload.threads == 1 || span_bytes < u64::from(workload.largest_block_bytes()) {
        return None;
    }
    Some(Workload {
        span_bytes,
        seed: workload.seed.wrapping_add(index << 32),
        ..workload.clone().with(|access| {
            access.threads = 1;
            access.offset_bytes = workload.offset_bytes + part.start * grain;
            access.fio_places = workload
                .fio_places
                .map(|places| FioPlaces { first_job: places.first_job.saturating_add(thread), ..places });
            access.open_loop = workload
                .open_loop
                .map(|open| OpenLoop { rate_iops: open.rate_iops / threads as f64, ..open });
            access.end = End {
                bytes: workload.end.bytes.map(|bytes| bytes_of(bytes, grain, threads, index)),
                ..workload.end
            };
        })
    })
}

/// Returns the `index`-th of `parts` nearly equal shares of `0..count`.
fn share_of(count: u64, parts: u64, index: u64) -> Range<u64> {
    let cut = |at: u64| (u128::from(count) * u128::from(at) / u128::from(parts)) as u64;
    cut(index)..cut(index + 1)
}

/// Returns the part of `bytes` for the `index`-th of `threads`, in whole blocks of `grain`, so that
/// no remainder is lost.
fn bytes_of(bytes: u64, grain: u64, threads: u64, index: u64) -> u64 {
    let odd = if index == 0 { bytes % grain } else { 0 };
    part_of(bytes / grain, threads, index) * grain + odd
}

/// Returns how many of `count` items belong to the `index`-th of `parts` in round-robin order.
fn part_of(count: u64, parts: u64, index: u64) -> u64 {
    count / parts + u64::from(index < count % parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::workload::{Data, End};
    use proptest::prelude::*;

    pub(crate) fn workload(pattern: Pattern, span_bytes: u64, block: u32, threads: u32) -> Workload {
        Workload {
            data: Data::Random,
            seed: 3,
            ..Workload::plain(pattern, block, span_bytes).with(|access| {
                access.threads = threads;
                access.end = End { passes: Some(1), ..End::default() };
            })
        }
    }

    /// Returns all operations, with threads alternating.
    fn ops(workload: &Workload) -> Vec<Op> {
        let mut generators = Generator::for_threads(workload);
        let mut operations = Vec::new();
        let mut open = vec![true; generators.len()];
        while open.contains(&true) {
            for (generator, open) in generators.iter_mut().zip(&mut open) {
                match generator.next(u64::MAX) {
                    Next::Op { op, .. } => operations.push(op),
                    _ => *open = false,
                }
            }
            assert!(operations.len() < 1_000_000);
        }
        operations
    }

    #[test]
    fn writes_of_a_mix_that_never_reads_have_their_own_block_size() {
        let plan = Workload::plain(Pattern::Random, 4096, 1 << 20).with(|access| {
            access.read_percent = 0;
            access.write_block_sizes = vec![BlockSize { size_bytes: 8192, weight: 1 }];
        });
        let Next::Op { op, .. } = Generator::for_threads(&plan)[0].next(0) else { panic!("a write") };
        assert_eq!(op.length_bytes, 8192);
    }

    #[test]
    fn a_moving_start_is_another_block_for_another_seed_and_all_blocks_follow() {
        let first = |seed: u64| {
            let plan = Workload {
                moving_start: true,
                seed,
                ..Workload::plain(Pattern::Sequential, 4096, 64 * 4096)
                    .with(|access| access.end = End { passes: Some(1), ..End::default() })
            };
            let offsets: Vec<u64> = ops(&plan).iter().map(|op| op.offset_bytes).collect();
            let mut sorted = offsets.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..64).map(|block| block * 4096).collect::<Vec<u64>>());
            offsets[0]
        };
        let firsts: std::collections::BTreeSet<u64> = (0..8).map(first).collect();
        assert!(firsts.len() > 4, "{firsts:?}");
    }

    #[test]
    fn a_sequential_thread_reads_its_share_in_order() {
        let offsets: Vec<u64> =
            ops(&workload(Pattern::Sequential, 4 * 4096, 4096, 2)).iter().map(|op| op.offset_bytes).collect();
        assert_eq!(offsets, [0, 2 * 4096, 4096, 3 * 4096]);
    }

    /// Returns the block numbers of one thread, in order.
    fn blocks(change: impl FnOnce(&mut Workload), pattern: Pattern, count: usize) -> Vec<u64> {
        let mut plan = workload(pattern, 4096 * 512, 512, 1);
        change(&mut plan);
        ops(&plan).iter().take(count).map(|op| op.offset_bytes / 512).collect()
    }

    #[test]
    fn runs_of_blocks_lie_in_order_with_a_gap_behind_each() {
        let pattern = Pattern::Strided { run_bytes: Some(1024), gap_bytes: 1536 };
        assert_eq!(blocks(|_| {}, pattern, 6), [0, 1, 5, 6, 10, 11]);
        // The next pass starts with a whole run.
        let twice = |plan: &mut Workload| (plan.span_bytes, plan.end.passes) = (12 * 512, Some(2));
        assert_eq!(blocks(twice, pattern, 99), [0, 1, 5, 6, 10, 11, 0, 1, 5, 6, 10, 11]);
    }

    #[test]
    fn blocks_of_a_random_order_follow_the_one_before() {
        let follows = |in_order| {
            let drawn = blocks(|plan| plan.in_order = Some(in_order), Pattern::Random, 4096);
            drawn.windows(2).map(|pair| pair[1] == pair[0] + 1).collect::<Vec<bool>>()
        };
        let runs = follows(BlocksInOrder::Blocks(4));
        // Runs that happen to be adjacent appear longer, and those that reach the end of the span
        // are shorter.
        let whole = runs.split(|follows| !follows).filter(|run| run.len() == 3).count();
        assert!((1010..=1024).contains(&whole), "{whole}");
        let share = follows(BlocksInOrder::Percent(70)).iter().filter(|follows| **follows).count();
        assert!((share as f64 / 4095.0 - 0.7).abs() < 0.03, "{share}");
    }

    #[test]
    fn interleaved_threads_make_one_stream() {
        let offsets: Vec<u64> =
            ops(&workload(Pattern::Interleaved, 5 * 512, 512, 2)).iter().map(|op| op.offset_bytes).collect();
        assert_eq!(offsets, [0, 512, 1024, 1536, 2048]);
    }

    #[test]
    fn interleaved_blocks_that_are_no_multiples_stay_inside_a_short_span() {
        let mut plan = workload(Pattern::Interleaved, 6000, 4096, 1);
        plan.block_sizes.push(BlockSize { size_bytes: 6000, weight: 50 });
        plan.end = End { bytes: Some(1 << 20), ..End::default() };
        assert!(ops(&plan).iter().all(|op| op.offset_bytes + u64::from(op.length_bytes) <= 6000));
    }

    #[test]
    fn an_open_loop_says_when_operations_were_due() {
        let mut plan = workload(Pattern::Random, 1 << 20, 4096, 1);
        plan.open_loop = Some(OpenLoop { rate_iops: 1000.0, arrival: Arrival::Even });
        let generator = &mut Generator::for_threads(&plan)[0];
        assert!(matches!(generator.next(0), Next::Op { due_ns: Some(0), .. }));
        assert_eq!(generator.next(10), Next::NotBefore(1_000_000));
        assert!(matches!(generator.next(5_000_000), Next::Op { due_ns: Some(1_000_000), .. }));
        assert!(matches!(generator.next(5_000_000), Next::Op { due_ns: Some(2_000_000), .. }));
    }

    #[test]
    fn a_sync_follows_every_n_writes() {
        let mut plan = workload(Pattern::Sequential, 5 * 512, 512, 1);
        plan.read_percent = 0;
        plan.sync.every_writes = Some(2);
        let kinds: Vec<OpKind> = ops(&plan).iter().map(|op| op.kind).collect();
        use OpKind::{Sync, Write};
        assert_eq!(kinds, [Write, Write, Sync, Write, Write, Sync, Write]);
    }

    #[test]
    fn blocks_are_discarded_alone_or_before_they_are_written() {
        use OpKind::{Sync, Trim, Write};
        let drawn = |trims, pattern| {
            let mut plan = workload(pattern, 3 * 512, 512, 1);
            (plan.read_percent, plan.trims, plan.sync.every_writes) = (0, Some(trims), Some(2));
            let all = ops(&plan).into_iter().filter(|op| op.kind != Sync || trims == Trims::BeforeWrites);
            all.map(|op| (op.kind, op.offset_bytes / 512)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(Trims::Only, Pattern::Sequential), [(Trim, 0), (Trim, 1), (Trim, 2)]);
        let pairs = drawn(Trims::BeforeWrites, Pattern::Sequential);
        assert_eq!(pairs, [(Trim, 0), (Write, 0), (Trim, 1), (Write, 1), (Sync, 0), (Trim, 2), (Write, 2)]);
        // The fast path also discards.
        let mut plan = workload(Pattern::Random, 1 << 20, 4096, 1);
        (plan.read_percent, plan.trims, plan.end) = (0, Some(Trims::Only), End::default());
        let generator = &mut Generator::for_threads(&plan)[0];
        assert!(matches!(generator.next(0), Next::Op { op: Op { kind: Trim, .. }, .. }));
    }

    #[test]
    fn the_short_way_gives_what_the_long_way_gives() {
        let mut plan = workload(Pattern::Random, 1 << 20, 4096, 1);
        plan.end = End::default();
        let short = &mut Generator::for_threads(&plan)[0];
        assert!(short.plain.is_some());
        plan.end.bytes = Some(1000 * 4096);
        let long = &mut Generator::for_threads(&plan)[0];
        assert!(long.plain.is_none());
        for _ in 0..1000 {
            assert_eq!(short.next(0), long.next(0));
        }
    }

    #[test]
    fn sizes_are_drawn_by_weight() {
        let mut plan = workload(Pattern::Random, 1 << 20, 4096, 1);
        plan.block_sizes =
            vec![BlockSize { size_bytes: 4096, weight: 3 }, BlockSize { size_bytes: 8192, weight: 1 }];
        plan.end = End { bytes: Some(64 << 20), ..End::default() };
        let all = ops(&plan);
        let small = all.iter().filter(|op| op.length_bytes == 4096).count() as f64 / all.len() as f64;
        assert!((small - 0.75).abs() < 0.02, "{small}");
    }

    proptest! {
        #[test]
        fn a_pass_of_a_permutation_covers_every_block_once(blocks in 1u64..500, threads in 1u32..5) {
            let mut offsets: Vec<u64> =
                ops(&workload(Pattern::Permutation, blocks * 4096, 4096, threads))
                    .iter()
                    .map(|op| op.offset_bytes)
                    .collect();
            offsets.sort_unstable();
            prop_assert!(offsets.into_iter().eq((0..blocks).map(|block| block * 4096)));
        }

        #[test]
        fn a_sequential_pass_covers_every_block_once(blocks in 8u64..500, threads in 1u32..5) {
            for pattern in [Pattern::Sequential, Pattern::Interleaved] {
                let mut offsets: Vec<u64> =
                    ops(&workload(pattern, blocks * 512, 512, threads)).iter().map(|op| op.offset_bytes).collect();
                offsets.sort_unstable();
                prop_assert!(offsets.into_iter().eq((0..blocks).map(|block| block * 512)));
            }
        }

        #[test]
        fn every_offset_stays_inside_the_span(
            which in 0usize..5,
            base in 0u64..100,
            span_blocks in 1u64..200,
            largest in 1u32..8,
            threads in 1u32..4,
            read_percent in 0u8..=100,
        ) {
            let pattern = [Pattern::Sequential, Pattern::Interleaved, Pattern::Random, Pattern::Permutation,
                Pattern::Zipf { exponent: 1.1 }][which];
            let mut plan = workload(pattern, span_blocks.max(u64::from(largest)) * 512, 512, threads);
            plan.block_sizes.push(BlockSize { size_bytes: 512 * largest, weight: 2 });
            plan.offset_bytes = base * 512;
            plan.read_percent = read_percent;
            plan.end = End { bytes: Some(1 << 20), ..End::default() };
            for op in ops(&plan) {
                prop_assert!(op.offset_bytes >= plan.offset_bytes);
                prop_assert!(op.offset_bytes + u64::from(op.length_bytes) <= plan.offset_bytes + plan.span_bytes);
                prop_assert_eq!(op.offset_bytes % 512, 0);
            }
        }
    }
}
