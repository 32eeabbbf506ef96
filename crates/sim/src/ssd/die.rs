//! A flash die: one operation at a time, with priority for reads.
//!
//! The model: started work is committed, with an end. Programs of buffered rows wait in a backlog,
//! of which only the sum of times and the number of rows are stored; each row takes the average.
//! The part of the backlog that has started by a time is determined when the die is next used. A
//! read takes priority over the backlog: it waits for the operation in progress, or suspends it if
//! the chip supports that; the operation then ends later by as much.

/// Operation of a die at the end of its committed work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Busy {
    /// A read for a request.
    #[default]
    Reading,
    /// Programming of a row.
    Programming,
    /// Moving data out of a block that is to be erased.
    Collecting,
    /// Moving data out of SLC-mode cells.
    Folding,
    /// Erasing a block.
    Erasing,
    /// Rewriting data before they lose their charge.
    Refreshing,
}

/// How a die handles a read during another operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manners {
    pub(super) program_ns: u64,
    pub(super) erase_ns: u64,
    /// Time to suspend; `None` if the chip does not support it.
    pub(super) suspend_program_ns: Option<u64>,
    pub(super) suspend_erase_ns: Option<u64>,
}

/// Timeline of a die.
#[derive(Clone, Debug, Default)]
pub(super) struct Die {
    /// End of the committed work.
    pub(super) free_ns: u64,
    /// End of the last read.
    read_end_ns: u64,
    busy: Busy,
    /// Time of programs that have not started, including the data movement before them.
    pub(super) backlog_ns: u64,
    /// Rows in the backlog, each of which holds a slot of the write buffer.
    pub(super) rows: u32,
    /// Committed rows whose slots become free at `free_ns`.
    pub(super) held: u32,
    /// Time of erases that have not started.
    pub(super) erase_due_ns: u64,
    /// Data movement before each row of the backlog, and whether it is folding.
    pub(super) share_ns: u64,
    pub(super) share_folds: bool,
}

/// All dies, with their most frequently used figures in separate arrays.
#[derive(Clone)]
pub(super) struct Dies {
    list: Vec<Die>,
    /// By die: `Die::all_done_ns`.
    done_ns: Vec<u64>,
    /// By die: `Die::next_release_ns`, or `u64::MAX`.
    release_ns: Vec<u64>,
}

impl Dies {
    pub(super) fn new(count: u32) -> Self {
        let count = count as usize;
        Self { list: vec![Die::default(); count], done_ns: vec![0; count], release_ns: vec![u64::MAX; count] }
    }

    pub(super) fn get(&self, die: u32) -> &Die {
        &self.list[die as usize]
    }

    /// Changes a die and updates its figures.
    #[inline]
    pub(super) fn change<T>(&mut self, die: u32, how: impl FnOnce(&mut Die) -> T) -> T {
        let at = die as usize;
        let die = &mut self.list[at];
        let result = how(die);
        self.done_ns[at] = die.all_done_ns();
        self.release_ns[at] = die.next_release_ns().unwrap_or(u64::MAX);
        result
    }

    /// Returns the die that frees a slot of the write buffer first, if any holds one.
    pub(super) fn first_release(&self) -> Option<u32> {
        let least = self.release_ns.iter().copied().min().filter(|least| *least < u64::MAX)?;
        self.release_ns.iter().position(|release_ns| *release_ns == least).map(|at| at as u32)
    }

    /// Returns the die `turn` if it is idle, otherwise the one that is done first.
    pub(super) fn first_done(&self, turn: u32, now_ns: u64) -> u32 {
        if self.done_ns[turn as usize] <= now_ns {
            return turn;
        }
        let least = self.done_ns.iter().copied().min().unwrap_or(0);
        let (before, after) = self.done_ns.split_at(turn as usize);
        match after.iter().position(|done_ns| *done_ns == least) {
            Some(at) => turn + at as u32,
            None => before.iter().position(|done_ns| *done_ns == least).map_or(turn, |at| at as u32),
        }
    }
}

/// A started read, which occupies the die until `Die::end_read`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadStart {
    pub(super) start_ns: u64,
    /// Operation that it waited for.
    pub(super) behind: Busy,
    /// Remaining time of the suspended operation.
    rest_ns: u64,
}

impl Die {
    /// Returns when all its work is done, if no other work arrives.
    #[inline]
    pub(super) fn all_done_ns(&self) -> u64 {
        self.free_ns.saturating_add(self.backlog_ns).saturating_add(self.erase_due_ns)
    }

    /// Starts all work that starts before `now_ns`. Returns the number of write-buffer slots that
    /// have become free.
    #[inline]
    pub(super) fn catch_up(&mut self, now_ns: u64, program_ns: u64) -> u32 {
        if self.free_ns > now_ns {
            return 0;
        }
        let mut released = std::mem::take(&mut self.held);
        if self.free_ns < now_ns && self.erase_due_ns > 0 {
            self.free_ns = self.free_ns.saturating_add(std::mem::take(&mut self.erase_due_ns));
            self.busy = Busy::Erasing;
        }
        if self.free_ns < now_ns && self.backlog_ns > 0 {
            let rows = u64::from(self.rows);
            let each_ns = self.backlog_ns.checked_div(rows).unwrap_or(program_ns).max(1);
            let begun = (now_ns - self.free_ns).div_ceil(each_ns);
            let (rows, length_ns) = if begun >= rows.max(self.backlog_ns.div_ceil(each_ns)) {
                (self.rows, self.backlog_ns)
            } else {
                (begun.min(rows) as u32, begun * each_ns)
            };
            self.commit(rows, length_ns.min(self.backlog_ns));
            if self.free_ns <= now_ns {
                released += rows;
            } else {
                released += rows.saturating_sub(1);
                self.held = rows.min(1);
            }
        }
        released
    }

    fn commit(&mut self, rows: u32, length_ns: u64) {
        self.free_ns = self.free_ns.saturating_add(length_ns);
        self.backlog_ns -= length_ns;
        self.rows -= rows;
        self.busy = Busy::Programming;
    }

    /// Adds a row to program, not before `from_ns`, or work without a row.
    #[inline]
    pub(super) fn add(&mut self, from_ns: u64, rows: u32, length_ns: u64) {
        if self.backlog_ns == 0 {
            self.free_ns = self.free_ns.max(from_ns);
        }
        self.backlog_ns = self.backlog_ns.saturating_add(length_ns);
        self.rows += rows;
    }

    /// Returns when the next slot of the write buffer becomes free, if the die holds any.
    #[inline]
    pub(super) fn next_release_ns(&self) -> Option<u64> {
        if self.held > 0 {
            return Some(self.free_ns);
        }
        let each_ns = self.backlog_ns.checked_div(u64::from(self.rows))?;
        Some(self.free_ns.saturating_add(self.erase_due_ns).saturating_add(each_ns))
    }

    /// Commits enough work to free the next slot, and takes that slot. Returns when it is free.
    pub(super) fn take_release(&mut self) -> u64 {
        if self.held > 0 {
            self.held -= 1;
        } else if let Some(each_ns) = self.backlog_ns.checked_div(u64::from(self.rows)) {
            self.free_ns = self.free_ns.saturating_add(std::mem::take(&mut self.erase_due_ns));
            let last = self.rows == 1;
            self.commit(1, if last { self.backlog_ns } else { each_ns });
        }
        self.free_ns
    }

    /// Commits everything and returns its end.
    pub(super) fn finish_all(&mut self) -> u64 {
        self.free_ns = self.free_ns.saturating_add(std::mem::take(&mut self.erase_due_ns));
        if self.backlog_ns > 0 {
            let rows = self.rows;
            self.commit(rows, self.backlog_ns);
            self.held += rows;
        }
        self.free_ns
    }

    /// Returns the number of rows that are not programmed at a time.
    pub(super) fn unsafe_rows(&self, now_ns: u64, program_ns: u64) -> u32 {
        let mut then = self.clone();
        then.catch_up(now_ns, program_ns);
        // The slot of the row being programmed may have been taken already.
        let given = then.held == 0 && then.busy == Busy::Programming && then.free_ns > now_ns;
        then.rows + then.held + u32::from(given)
    }

    /// Adds background work from `from_ns`.
    pub(super) fn work(&mut self, from_ns: u64, length_ns: u64, busy: Busy) {
        self.free_ns = self.free_ns.max(from_ns).saturating_add(length_ns);
        self.busy = busy;
    }

    /// Starts a read at `now_ns`; the die is up to date.
    #[inline]
    pub(super) fn begin_read(&mut self, now_ns: u64, manners: &Manners) -> ReadStart {
        let rest_ns = self.free_ns.saturating_sub(now_ns);
        if rest_ns == 0 || self.busy == Busy::Reading {
            let start_ns = self.free_ns.max(now_ns);
            self.busy = Busy::Reading;
            return ReadStart { start_ns, behind: Busy::Reading, rest_ns: 0 };
        }
        if self.read_end_ns > now_ns {
            // Another read has already suspended the operation: this one follows it.
            let rest_ns = self.free_ns.saturating_sub(self.read_end_ns);
            return ReadStart { start_ns: self.read_end_ns, behind: Busy::Reading, rest_ns };
        }
        let (unit_ns, suspend_ns) = match self.busy {
            Busy::Erasing => (manners.erase_ns, manners.suspend_erase_ns),
            _ => (manners.program_ns, manners.suspend_program_ns),
        };
        let behind = match self.busy {
            Busy::Programming if rest_ns > unit_ns && self.share_ns > 0 => {
                if self.share_folds {
                    Busy::Folding
                } else {
                    Busy::Collecting
                }
            }
            busy => busy,
        };
        // A sequence of several operations can be interrupted between two of them.
        let wait_ns = (rest_ns - 1) % unit_ns + 1;
        let wait_ns = suspend_ns.map_or(wait_ns, |suspend_ns| suspend_ns.min(wait_ns));
        let done_ns = if suspend_ns.is_some_and(|suspend_ns| suspend_ns <= wait_ns) { 0 } else { wait_ns };
        let rest_ns = rest_ns - done_ns;
        if rest_ns == 0 {
            self.busy = Busy::Reading;
        }
        ReadStart { start_ns: now_ns.saturating_add(wait_ns), behind, rest_ns }
    }

    #[inline]
    pub(super) fn end_read(&mut self, start: ReadStart, end_ns: u64) {
        self.read_end_ns = end_ns;
        self.free_ns = end_ns.saturating_add(start.rest_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Manners =
        Manners { program_ns: 100, erase_ns: 1000, suspend_program_ns: None, suspend_erase_ns: None };

    #[test]
    fn a_read_goes_ahead_of_programs_that_have_not_begun() {
        let mut die = Die::default();
        for _ in 0..3 {
            die.add(0, 1, 100);
        }
        assert_eq!(die.catch_up(150, 100), 1);
        let read = die.begin_read(150, &PLAIN);
        assert_eq!((read.start_ns, read.behind), (200, Busy::Programming));
        die.end_read(read, 230);
        assert_eq!((die.free_ns, die.rows, die.all_done_ns()), (230, 1, 330));
        assert_eq!(die.catch_up(330, 100), 2);
    }

    #[test]
    fn a_read_interrupts_where_the_chip_can_and_the_program_ends_later() {
        let mut die = Die::default();
        die.add(0, 1, 100);
        die.catch_up(50, 100);
        let manners = Manners { suspend_program_ns: Some(10), ..PLAIN };
        let read = die.begin_read(50, &manners);
        assert_eq!(read.start_ns, 60);
        die.end_read(read, 90);
        assert_eq!(die.free_ns, 140);
        let second = die.begin_read(70, &manners);
        assert_eq!((second.start_ns, second.behind), (90, Busy::Reading));
        die.end_read(second, 120);
        assert_eq!(die.free_ns, 170);
    }

    #[test]
    fn an_erase_goes_first_and_is_waited_for() {
        let mut die = Die { erase_due_ns: 1000, ..Die::default() };
        die.add(0, 1, 100);
        die.catch_up(1, 100);
        assert_eq!(die.begin_read(1, &PLAIN).behind, Busy::Erasing);
        assert_eq!(die.next_release_ns(), Some(1100));
        assert_eq!(die.take_release(), 1100);
        assert_eq!(die.finish_all(), 1100);
    }
}
