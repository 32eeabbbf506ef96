//! The bits of the write-intent bitmap, and the writes that wait for them. `bitmap` has the model.

use crate::world::JobId;
use std::collections::BTreeMap;
use std::ops::Range;

/// Token of the daemon; others belong to the rebuild.
pub(super) const DAEMON: u64 = 1;

/// A part of the array that was written.
#[derive(Clone, Debug, Default)]
struct PartMark {
    /// Writes to it in progress.
    writes: u32,
    /// Scans of the daemon since the last write ended.
    looks: u32,
    on_members: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Bitmap {
    marks: BTreeMap<u64, PartMark>,
    /// Writes that wait for the round in progress, and for the next one.
    round: Vec<JobId>,
    next: Vec<JobId>,
    pub(super) daemon_runs: bool,
}

impl Bitmap {
    /// Counts a write that begins. Returns whether its bits are on the members.
    pub(super) fn begin_write(&mut self, bits: Range<u64>) -> bool {
        let mut is_marked = true;
        for bit in bits {
            let mark = self.marks.entry(bit).or_default();
            (mark.writes, mark.looks) = (mark.writes + 1, 0);
            is_marked &= mark.on_members;
        }
        is_marked
    }

    /// Counts the end of a write.
    pub(super) fn end_write(&mut self, bits: Range<u64>) {
        for bit in bits {
            if let Some(mark) = self.marks.get_mut(&bit) {
                (mark.writes, mark.looks) = (mark.writes.saturating_sub(1), 0);
            }
        }
    }

    /// Adds a write to the next round.
    pub(super) fn wait(&mut self, job: JobId) {
        self.next.push(job);
    }

    /// Begins a round for the waiting writes and returns them. Returns none if a round is in
    /// progress.
    pub(super) fn begin_round(&mut self) -> &[JobId] {
        if !self.round.is_empty() {
            return &[];
        }
        self.round = std::mem::take(&mut self.next);
        &self.round
    }

    /// Ends a round and returns its writes.
    pub(super) fn end_round(&mut self) -> Vec<JobId> {
        std::mem::take(&mut self.round)
    }

    /// Records that bits are on the members.
    pub(super) fn set_on_members(&mut self, bits: Range<u64>) {
        for bit in bits {
            if let Some(mark) = self.marks.get_mut(&bit) {
                mark.on_members = true;
            }
        }
    }

    /// Scans the bits and clears those of idle parts. Returns whether any was cleared.
    pub(super) fn clear_idle(&mut self) -> bool {
        let before = self.marks.len();
        self.marks.retain(|_, mark| {
            mark.looks += u32::from(mark.writes == 0);
            mark.looks < 2
        });
        self.marks.len() < before
    }

    /// Returns whether no part is marked.
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }
}
