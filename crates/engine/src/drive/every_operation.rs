//! Records every operation of a repetition on real storage until the repetition is over.
//!
//! Each issuing thread records completions in memory, in chunks, so that adding one never copies
//! the others. Nothing is written during the repetition, because the list may be on the storage
//! that is measured. All threads share a fixed capacity. If it is exhausted, the repetition ends
//! with an error. The driver is generic over the observer and monomorphised, so that a run without
//! a list has no overhead.

use crate::drive::recorder::{Observer, Recorder};
use kurabe_core::mention::{PER_REQUEST, TIME};
use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{Error, ErrorKind, listed::ListedOperation, text};
use kurabe_program::Stop;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Flatten;
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec::IntoIter;

/// Maximum number of operations: 400 MB of memory, and a list of about 700 MB.
pub(crate) const MOST_OPERATIONS: u64 = 10_000_000;
/// Operations per chunk. Small enough that the last chunks of 2048 threads need at most 84 MB.
const CHUNK: usize = 1024;

/// A completed operation. Times are relative to the start of recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) op: Op,
    pub(crate) issued_ns: u64,
    pub(crate) completed_ns: u64,
    pub(crate) latency_ns: u64,
}

impl Note {
    /// Converts it into an entry of the list.
    pub(crate) fn listed(self, cell_index: u32, repetition: u32) -> ListedOperation {
        let Self { op, issued_ns, completed_ns, latency_ns } = self;
        ListedOperation {
            cell_index,
            repetition,
            op,
            issued_ns,
            completed_ns,
            latency_ns,
            error: None,
            times_ns: Vec::new(),
        }
    }
}

/// The number of chunks that may still be allocated.
#[derive(Debug)]
pub(crate) struct Room(AtomicU64);

impl Room {
    /// Creates room for this many operations, in whole chunks.
    pub(crate) fn for_operations(operations: u64) -> Self {
        Self(AtomicU64::new(operations.div_ceil(CHUNK as u64)))
    }

    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

/// The completions of one issuing thread, in order.
pub(crate) type ThreadNotes = Vec<Vec<Note>>;

/// A thread's recorder that also stores every operation.
pub(crate) struct Noting<'a> {
    recorder: &'a mut Recorder,
    room: &'a Room,
    /// Requested when the room is exhausted.
    stop: &'a Stop,
    /// Submission times of the operations in flight, by slot.
    issued_ns: Vec<u64>,
    notes: ThreadNotes,
    is_full: bool,
}

impl<'a> Noting<'a> {
    /// Creates the recorder for `slots` operations in flight.
    pub(crate) fn new(recorder: &'a mut Recorder, room: &'a Room, slots: usize, stop: &'a Stop) -> Self {
        Self { recorder, room, stop, issued_ns: vec![0; slots], notes: Vec::new(), is_full: false }
    }

    /// Returns the recorded operations.
    ///
    /// # Errors
    /// Fails if the room was not sufficient.
    pub(crate) fn into_notes(self) -> kurabe_core::Result<ThreadNotes> {
        if self.is_full { Err(too_many_operations()) } else { Ok(self.notes) }
    }

    #[cold]
    fn begin_chunk(&mut self, first: Note) {
        if self.room.take() {
            let mut chunk = Vec::with_capacity(CHUNK);
            chunk.push(first);
            self.notes.push(chunk);
        } else {
            self.is_full = true;
            self.stop.ask();
        }
    }
}

impl Observer for Noting<'_> {
    fn submitted(&mut self, kind: OpKind, slot: usize, issued_ns: u64) {
        self.issued_ns[slot] = issued_ns;
        self.recorder.submitted(kind);
    }

    fn completed(&mut self, op: Op, slot: usize, started_ns: u64, completed_ns: u64) {
        Observer::completed(self.recorder, op, slot, started_ns, completed_ns);
        let latency_ns = completed_ns.saturating_sub(started_ns);
        let note = Note { op, issued_ns: self.issued_ns[slot], completed_ns, latency_ns };
        match self.notes.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => chunk.push(note),
            None => self.begin_chunk(note),
        }
    }

    fn failed(&mut self, kind: OpKind) {
        self.recorder.failed(kind);
    }
}

/// Iterates over the operations of all threads in completion order.
pub(crate) struct InOrder {
    threads: Vec<Flatten<IntoIter<Vec<Note>>>>,
    /// The next operation of each thread.
    next: Vec<Option<Note>>,
    /// Completion times of these operations, with their threads.
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

impl InOrder {
    pub(crate) fn of(threads: Vec<ThreadNotes>) -> Self {
        let threads = threads.into_iter().map(|notes| notes.into_iter().flatten()).collect::<Vec<_>>();
        let mut merged = Self { next: vec![None; threads.len()], order: BinaryHeap::new(), threads };
        (0..merged.threads.len()).for_each(|thread| merged.refill(thread));
        merged
    }

    fn refill(&mut self, thread: usize) {
        self.next[thread] = self.threads[thread].next();
        if let Some(note) = self.next[thread] {
            self.order.push(Reverse((note.completed_ns, thread)));
        }
    }
}

impl Iterator for InOrder {
    type Item = Note;

    fn next(&mut self) -> Option<Note> {
        let Reverse((_, thread)) = self.order.pop()?;
        let note = self.next[thread];
        self.refill(thread);
        note
    }
}

fn too_many_operations() -> Error {
    let most = kurabe_core::number::count(MOST_OPERATIONS);
    ErrorKind::Unsupported
        .error(text!(
            "a repetition has more than {most} operations, the limit for a list",
            "1 回の操作数が、一覧にできる上限の {most} を超えました"
        ))
        .remedy(text!(
            "shorten it ({TIME}), or remove {PER_REQUEST}",
            "{TIME} を短くするか、{PER_REQUEST} を外してください"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::content::Content;
    use crate::drive::device_null::{NullDevice, Script};
    use crate::drive::driver::{Plan, drive, filled_buffers};
    use crate::drive::source::Generator;
    use kurabe_core::record::Repetition;
    use kurabe_core::workload::{Arrival, Data, End, OpenLoop, Pattern, SyncRule, Workload};
    use proptest::prelude::*;

    /// Runs reads and writes on a device that leaves every third operation half done.
    fn noted(
        open_loop: Option<OpenLoop>,
        bytes: u64,
        room: &Room,
    ) -> (kurabe_core::Result<ThreadNotes>, Repetition) {
        let workload = Workload::plain(Pattern::Random, 4096, 1 << 20).with(|access| {
            access.read_percent = 60;
            access.iodepth = 4;
            access.open_loop = open_loop;
            access.warm_up_ns = 100_000;
            access.end = End { bytes: Some(bytes), ..End::default() };
            access.sync = SyncRule { every_writes: Some(7), ..SyncRule::default() };
        });
        let script = Script { latency_ns: 10_000, cut_every: Some(3), ..Script::default() };
        let (mut device, stop) = (NullDevice::new(4, script), Stop::default());
        let (mut recorder, mut content) = (Recorder::new(None), Content::new(Data::Zero, 1, 0));
        let buffers = filled_buffers(&mut device, &mut content);
        let plan = Plan { time_ns: None, ..Plan::of(&workload, 1) };
        let mut noting = Noting::new(&mut recorder, room, 4, &stop);
        let source = &mut Generator::for_threads(&workload)[0];
        drive(&mut device, buffers, source, &mut content, &plan, &mut noting, &stop).unwrap();
        (noting.into_notes(), Recorder::merge(&[recorder]))
    }

    #[test]
    fn notes_are_what_the_recorder_counts() {
        let late = OpenLoop { rate_iops: 1e6, arrival: Arrival::Even };
        for open_loop in [None, Some(late)] {
            let (notes, recorded) = noted(open_loop, 3000 * 4096, &Room::for_operations(5000));
            let notes: Vec<Note> = notes.unwrap().into_iter().flatten().collect();
            for kind in [OpKind::Read, OpKind::Write, OpKind::Sync] {
                let side = recorded.side(kind);
                let latencies = notes.iter().filter(|note| note.op.kind == kind).map(|note| note.latency_ns);
                assert_eq!(latencies.clone().count() as u64, side.completed, "{kind:?}");
                assert_eq!(latencies.sum::<u64>(), side.latency.sum_ns, "{kind:?}");
                assert!(side.completed > 0 && notes.iter().all(|note| note.op.length_bytes % 4096 == 0));
            }
            let is_late = notes.iter().any(|note| note.latency_ns > note.completed_ns - note.issued_ns);
            assert_eq!(is_late, open_loop.is_some());
            assert!(notes.is_sorted_by_key(|note| note.completed_ns));
        }
    }

    #[test]
    fn what_is_more_than_the_room_ends_the_repetition_with_an_error() {
        let room = Room::for_operations(CHUNK as u64);
        let (notes, recorded) = noted(None, 3000 * 4096, &room);
        assert_eq!(notes.unwrap_err().kind(), ErrorKind::Unsupported);
        let done = recorded.read.completed + recorded.write.completed + recorded.sync.completed;
        // The operations in flight when the room was exhausted have completed.
        assert!((CHUNK as u64..CHUNK as u64 + 8).contains(&done), "{done}");
    }

    proptest! {
        #[test]
        fn the_notes_of_all_threads_come_in_order(
            threads in prop::collection::vec(prop::collection::vec(0u64..1000, 0..40), 0..6),
        ) {
            let op = Op { kind: OpKind::Read, offset_bytes: 0, length_bytes: 512 };
            let note = |completed_ns| Note { op, issued_ns: 0, completed_ns, latency_ns: 1 };
            let notes = |times: &Vec<u64>| {
                let mut times = times.clone();
                times.sort_unstable();
                times.chunks(7).map(|chunk| chunk.iter().map(|ns| note(*ns)).collect()).collect()
            };
            let mut expected: Vec<u64> = threads.concat();
            expected.sort_unstable();
            let merged = InOrder::of(threads.iter().map(notes).collect());
            prop_assert_eq!(merged.map(|note| note.completed_ns).collect::<Vec<_>>(), expected);
        }
    }
}
