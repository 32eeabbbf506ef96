//! The open run of writes: the units that are being written sequentially.
//!
//! The model: a mapping unit can only be written whole, from its beginning, into erased flash. A
//! run that begins within a unit first copies the part before it (the head). One that ends within a
//! unit copies the part after it (the tail) when it is closed. A unit that a run fills completely
//! is simply exchanged for the old one. Bytes are programmed as soon as they fill a stripe. The
//! rest of a stripe waits for more; it is padded when the run is closed, or at the end of a unit
//! that was partly copied.

/// Flash work for a piece of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlashWork {
    /// Number of units erased for writing.
    pub(super) erased: u64,
    /// Bytes of old data that are read and written again.
    pub(super) copied_bytes: u64,
    /// Bytes programmed: a whole number of stripes.
    pub(super) programmed_bytes: u64,
}

/// Position of the sequential writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    unit_bytes: u64,
    stripe_bytes: u64,
    /// End of the last write; `None` if no run is open.
    end_bytes: Option<u64>,
    /// Bytes not programmed yet.
    pending_bytes: u64,
    /// Bytes written since the run was opened.
    written_bytes: u64,
    /// Whether part of the last unit was copied.
    copied: bool,
}

impl Run {
    pub(super) fn new(unit_bytes: u64, stripe_bytes: u64) -> Self {
        Self { unit_bytes, stripe_bytes, ..Self::default() }
    }

    /// Returns the position where the open run would continue.
    pub(super) fn end_bytes(&self) -> Option<u64> {
        self.end_bytes
    }

    /// Returns the written bytes that are in memory only.
    pub(super) fn pending_bytes(&self) -> u64 {
        self.pending_bytes.min(self.written_bytes)
    }

    /// Opens a run; any previous one must be closed first.
    pub(super) fn open(&mut self, at_bytes: u64) -> FlashWork {
        let head = at_bytes % self.unit_bytes;
        (self.end_bytes, self.written_bytes) = (Some(at_bytes), 0);
        (self.pending_bytes, self.copied) = (head, head > 0);
        FlashWork { erased: u64::from(head > 0), copied_bytes: head, programmed_bytes: self.program_full() }
    }

    /// Continues the run with this many bytes.
    pub(super) fn extend(&mut self, bytes: u64) -> FlashWork {
        let Some(end) = self.end_bytes else { return FlashWork::default() };
        let (mut work, mut left) = (FlashWork::default(), bytes);
        let within = end % self.unit_bytes;
        if within > 0 {
            // First the rest of the open unit.
            let first = left.min(self.unit_bytes - within);
            self.pending_bytes += first;
            left -= first;
            work.programmed_bytes += self.program_full();
            if within + first == self.unit_bytes && self.copied {
                work.programmed_bytes = work.programmed_bytes.saturating_add(self.program_rest());
                self.copied = false;
            }
        }
        work.erased += left.div_ceil(self.unit_bytes);
        self.pending_bytes += left;
        work.programmed_bytes = work.programmed_bytes.saturating_add(self.program_full());
        self.end_bytes = Some(end + bytes);
        self.written_bytes += bytes;
        work
    }

    /// Closes the run: copies the rest of its last unit and programs the bytes in memory.
    pub(super) fn close(&mut self) -> FlashWork {
        let Some(end) = self.end_bytes.take() else { return FlashWork::default() };
        let within = end % self.unit_bytes;
        let tail = if within == 0 { 0 } else { self.unit_bytes - within };
        let mut programmed_bytes = 0;
        if tail > 0 && self.pending_bytes > within {
            // The whole units before this one were smaller than a stripe.
            let before = self.pending_bytes - within;
            programmed_bytes = before.div_ceil(self.stripe_bytes).saturating_mul(self.stripe_bytes);
            self.pending_bytes = within;
        }
        self.pending_bytes += tail;
        programmed_bytes = u64::saturating_add(programmed_bytes, self.program_rest());
        self.copied = false;
        FlashWork { erased: 0, copied_bytes: tail, programmed_bytes }
    }

    /// Programs the full stripes.
    fn program_full(&mut self) -> u64 {
        let full = self.pending_bytes - self.pending_bytes % self.stripe_bytes;
        self.pending_bytes -= full;
        full
    }

    /// Programs everything and pads the last stripe.
    fn program_rest(&mut self) -> u64 {
        let bytes = self.pending_bytes.div_ceil(self.stripe_bytes).saturating_mul(self.stripe_bytes);
        self.pending_bytes = 0;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_run_of_whole_units_copies_nothing() {
        let mut run = Run::new(1 << 20, 1 << 16);
        assert_eq!(run.open(3 << 20), FlashWork::default());
        let work = run.extend(2 << 20);
        assert_eq!((work.erased, work.copied_bytes, work.programmed_bytes), (2, 0, 2 << 20));
        assert_eq!(run.close(), FlashWork::default());
    }

    #[test]
    fn a_run_within_a_unit_copies_the_rest_of_it() {
        let mut run = Run::new(1 << 20, 1 << 16);
        let (head, middle) = (run.open(300 << 10), run.extend(100 << 10));
        let tail = run.close();
        assert_eq!(head.copied_bytes + tail.copied_bytes, (1024 - 100) << 10);
        let programmed = head.programmed_bytes + middle.programmed_bytes + tail.programmed_bytes;
        assert_eq!((head.erased + middle.erased + tail.erased, programmed), (1, 1 << 20));
    }

    #[test]
    fn small_units_that_are_straddled_are_programmed_one_by_one() {
        let (unit, stripe) = (4096, 32 << 10);
        let cost = |at: u64| {
            let mut run = Run::new(unit, stripe);
            let works = [run.open(at), run.extend(4096), run.close()];
            (
                works.iter().map(|work| work.copied_bytes).sum::<u64>(),
                works.iter().map(|work| work.programmed_bytes).sum::<u64>(),
            )
        };
        assert_eq!(cost(8192), (0, stripe));
        assert_eq!(cost(8192 + 512), (4096, 2 * stripe));
    }

    proptest! {
        /// Everything written or copied is programmed, and units are written whole.
        #[test]
        fn what_is_programmed_covers_what_is_written(
            unit in 1u64..5000, stripe in 1u64..5000, at in 0u64..100_000,
            pieces in prop::collection::vec(1u64..20_000, 1..20),
        ) {
            let mut run = Run::new(unit, stripe);
            let mut works = vec![run.open(at)];
            works.extend(pieces.iter().map(|bytes| run.extend(*bytes)));
            works.push(run.close());
            let sum = |part: fn(&FlashWork) -> u64| works.iter().map(part).sum::<u64>();
            let written: u64 = pieces.iter().sum();
            let units = (at + written).div_ceil(unit) - at / unit;
            prop_assert_eq!(sum(|work| work.copied_bytes) + written, units * unit);
            prop_assert_eq!(sum(|work| work.erased), units);
            prop_assert_eq!(sum(|work| work.programmed_bytes) % stripe, 0);
            prop_assert!(sum(|work| work.programmed_bytes) >= units * unit);
            prop_assert!(sum(|work| work.programmed_bytes) < units * unit + 3 * stripe);
            prop_assert_eq!(run.pending_bytes(), 0);
        }
    }
}
