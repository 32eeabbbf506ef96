//! Writes: the write buffer, filling of rows, and flushes.
//!
//! The model: a write is done when all its data are in the buffer. The slots of the buffer are
//! rows. A row is assigned to a die with its first unit, programmed when it is full, and releases
//! its slot when it is programmed. If no slot is free, the write waits for the program that ends
//! first, and that one is committed: later reads do not delay it. A buffer of size 0 programs the
//! data of each write immediately, in rows that may be partly empty.
//!
//! Durable data (a flush, a write with FUA) are done when they are programmed and the mapping table
//! that locates them is saved after that. Flushes that arrive during a save share the next one. The
//! firmware may take longer to save after a write with FUA, which it handles as an exception. A
//! drive with power-loss protection needs neither.

use super::Ssd;
use super::config::{Config, FlashGeometry};
use super::die::Die;
use super::store::UnitPlace;
use crate::ranges::{Range, Ranges};
use crate::timeline::transfer_ns;
use crate::world::{JobId, Request, World};
use kurabe_core::device::ErrorNumber;
use std::collections::VecDeque;

/// A row that is filling up.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    pub(super) die: u32,
    place: u32,
    filled: u32,
}

/// The last writes into the buffer: as many as it may hold, with their rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    /// Row, and range with first byte, byte after the last, and number.
    entries: VecDeque<(u32, Range)>,
    most: usize,
    /// Total number of entries ever added; and at the end of each flush, how many of them were
    /// programmed.
    count: u64,
    programmed: VecDeque<(u64, u64)>,
}

/// Saves of the mapping table: always the whole table, one save after another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saving {
    /// Whether the table has changed since the last save.
    pub(super) is_due: bool,
    /// Start and end of the last save.
    begin_ns: u64,
    end_ns: u64,
}

impl Saving {
    /// Requests the table as of a time and returns when it is saved. A save includes all changes
    /// before its start.
    fn take(&mut self, from_ns: u64, length_ns: u64) -> u64 {
        if std::mem::take(&mut self.is_due) && from_ns >= self.begin_ns {
            self.begin_ns = self.end_ns.max(from_ns);
            self.end_ns = self.begin_ns.saturating_add(length_ns);
        }
        self.end_ns.max(from_ns)
    }
}

/// Row of trimmed bytes.
const TRIMMED_ROW: u32 = u32::MAX;

impl Latest {
    pub(super) fn new(config: &Config) -> Self {
        let FlashGeometry { dies, units_per_row, .. } = config.geometry;
        // Rows of the buffer, those that each die is programming, and the open one.
        let rows = config.buffer_rows + 2 * u64::from(dies) + 1;
        Self { most: (rows * u64::from(units_per_row)) as usize, ..Self::default() }
    }

    #[inline]
    fn add(&mut self, row: u32, range: Range) {
        match self.entries.back_mut() {
            Some((last, (_, end, number))) if (*last, *end, *number) == (row, range.0, range.2) => {
                *end = range.1;
            }
            _ => {
                self.entries.push_back((row, range));
                self.count += 1;
            }
        }
        if self.entries.len() > self.most {
            self.entries.pop_front();
        }
    }

    /// Records that these bytes were trimmed.
    pub(super) fn trim(&mut self, from: u64, to: u64) {
        self.add(TRIMMED_ROW, (from, to, 0));
    }

    /// Records that all current entries are programmed by a time.
    fn program_all(&mut self, now_ns: u64, end_ns: u64) {
        while self.programmed.get(1).is_some_and(|(next_ns, _)| *next_ns <= now_ns) {
            self.programmed.pop_front();
        }
        self.programmed.push_back((end_ns, self.count));
    }

    /// Returns the data in the last rows of each die since the last completed flush; `rows` is the
    /// number of rows that count.
    pub(super) fn in_rows(&self, now_ns: u64, rows: &[u32], rows_per_die: u32) -> Ranges {
        let over = self.programmed.iter().filter(|(end_ns, _)| *end_ns <= now_ns);
        let flushed = over.map(|(_, count)| *count).max().unwrap_or(0);
        let (mut ranges, mut trimmed) = (Ranges::default(), Ranges::default());
        let mut seen = vec![(TRIMMED_ROW, 0); rows.len()];
        let after = self.entries.iter().rev().take((self.count - flushed) as usize);
        for (row, (from, to, number)) in after.copied() {
            if row == TRIMMED_ROW {
                trimmed.add(from, to, 0);
                continue;
            }
            let die = (row / rows_per_die) as usize;
            if seen[die].0 != row {
                seen[die] = (row, seen[die].1 + 1);
            }
            if seen[die].1 <= rows[die] {
                let mut here = Ranges::from_iter([(from, to, number)]);
                trimmed.within(from, to).for_each(|(from, to, _)| drop(here.cut(from, to)));
                ranges.extend(here.iter());
            }
        }
        ranges
    }
}

impl Ssd {
    pub(super) fn write(&mut self, job: JobId, request: &Request, from_ns: u64, world: &mut World) {
        let unit_bytes = self.config.geometry.unit_bytes;
        let bytes = u64::from(request.length_bytes);
        let there_ns = self.take_data(bytes, from_ns, world.now_ns());
        self.ahead.written(request.offset_bytes, request.end_bytes());
        self.saving.is_due = true;
        let units = self.units(request);
        world.count(self.words.written, u64::from(units.end() - units.start()) + 1);
        let mut at_ns = from_ns;
        for unit in units {
            let start_bytes = u64::from(unit) * unit_bytes;
            let end_bytes = (start_bytes + unit_bytes).min(self.config.geometry.capacity_bytes);
            let whole = request.offset_bytes <= start_bytes && request.end_bytes() >= end_bytes;
            if let (false, UnitPlace::At(place)) = (whole, self.store.find(unit)) {
                at_ns = at_ns.max(self.read_row(place, end_bytes - start_bytes, true, at_ns, world).end_ns);
                world.charge(job, self.words.partial, at_ns);
            }
            let bytes = (request.offset_bytes.max(start_bytes), request.end_bytes().min(end_bytes));
            match self.put(unit, (bytes.0, bytes.1, request.number), at_ns, job, world) {
                Some(put_ns) => at_ns = put_ns,
                None => return world.fail(job, ErrorNumber::NO_SPACE),
            }
        }
        if request.fua && self.flush_programs() {
            at_ns = self.make_durable(job, at_ns, self.config.fua_save_ns(), world);
        } else if self.config.buffer_rows == 0 {
            at_ns = self.program_all(job, at_ns, world);
        }
        world.charge(job, self.words.data_path, there_ns);
        world.finish_at(at_ns.max(there_ns), job);
    }

    /// Transfers data through the controller and, if that is slower, page by page into the buffer.
    /// Returns when all have arrived.
    fn take_data(&mut self, bytes: u64, from_ns: u64, now_ns: u64) -> u64 {
        let values = &self.config.values;
        let (rate, inlet_rate) = (values.controller_bytes_per_s, values.write_bytes_per_s);
        let (start_ns, end_ns) = self.memory.book(now_ns, from_ns, transfer_ns(bytes, rate));
        if inlet_rate >= rate {
            return end_ns;
        }
        let page_ns = transfer_ns(bytes.min(values.page_bytes), rate);
        self.inlet.book(now_ns, start_ns + page_ns, transfer_ns(bytes, inlet_rate)).1.max(end_ns)
    }

    /// Puts a unit into the buffer and returns when it is there. `None` if no die has room, which
    /// over-provisioning prevents.
    #[inline]
    fn put(&mut self, unit: u32, bytes: Range, at_ns: u64, job: JobId, world: &mut World) -> Option<u64> {
        let units_per_row = self.config.geometry.units_per_row;
        let (mut row, at_ns) = match self.open_row {
            Some(row) => {
                if self.store.is_among(unit, row.place, row.filled) {
                    // It is still in the buffer and is overwritten there.
                    self.latest.add(row.place / units_per_row, bytes);
                    return Some(at_ns);
                }
                (row, at_ns)
            }
            None => {
                let at_ns = self.take_place(at_ns, job, world);
                (self.begin_row(at_ns, world)?, at_ns)
            }
        };
        self.latest.add(row.place / units_per_row, bytes);
        self.store.put(unit, row.place + row.filled);
        row.filled += 1;
        self.open_row = Some(row);
        if row.filled == units_per_row {
            self.program_row(at_ns);
        }
        Some(at_ns)
    }

    /// Takes a slot of the buffer and returns when it is free.
    fn take_place(&mut self, at_ns: u64, job: JobId, world: &mut World) -> u64 {
        if self.config.buffer_rows == 0 {
            return at_ns;
        }
        if self.rows_used < self.config.buffer_rows {
            self.rows_used += 1;
            return at_ns;
        }
        let Some(die) = self.dies.first_release() else { return at_ns };
        let free_ns = self.dies.change(die, Die::take_release).max(at_ns);
        let die = self.dies.get(die);
        // Part of the wait is due to the data moved before each row.
        let row_ns = self.config.manners.program_ns;
        let wait_ns = u128::from(free_ns - at_ns) * u128::from(die.share_ns);
        let moving_ns = (wait_ns / (u128::from(die.share_ns) + u128::from(row_ns))) as u64;
        let moving = if die.share_folds { self.words.folding } else { self.words.collecting };
        if moving_ns > 0 {
            world.charge(job, moving, at_ns + moving_ns);
        }
        world.charge(job, self.words.buffer_full, free_ns);
        free_ns
    }

    /// Finds a die for the next row: the next in round-robin order if it is idle, otherwise the one
    /// that is done first.
    fn begin_row(&mut self, at_ns: u64, world: &mut World) -> Option<OpenRow> {
        let dies = self.config.geometry.dies;
        let mut die = self.dies.first_done(self.next_die, at_ns);
        for _ in 0..dies {
            self.touch(die, at_ns, world);
            if let Some((place, opened)) = self.store.next_row(die) {
                if let Some(rows) = opened {
                    self.spread_work(die, rows, world);
                }
                self.next_die = (die + 1) % dies;
                return Some(OpenRow { die, place, filled: 0 });
            }
            die = (die + 1) % dies;
        }
        None
    }

    /// Distributes the work done to make room for a block over the rows of that block.
    fn spread_work(&mut self, die: u32, rows: u32, world: &mut World) {
        let (work, length_ns) = self.take_work(world);
        let erase_ns = self.config.manners.erase_ns;
        let others_ns = erase_ns.saturating_mul(work.erases.saturating_sub(1));
        self.dies.change(die, |die| {
            if work.erases > 0 {
                die.erase_due_ns = die.erase_due_ns.saturating_add(erase_ns);
            }
            die.share_ns = length_ns.saturating_add(others_ns) / u64::from(rows.max(1));
            die.share_folds = work.folded > work.moved;
        });
    }

    /// Queues the open row for programming, full or not.
    pub(super) fn program_row(&mut self, at_ns: u64) {
        if let Some(row) = self.open_row.take() {
            let number = row.place / self.config.geometry.units_per_row;
            let row_ns = self.config.row_ns(number, self.store.host_writes_slc(row.die));
            self.dies.change(row.die, |die| die.add(at_ns, 1, die.share_ns.saturating_add(row_ns)));
        }
    }

    /// Programs everything in the buffer and returns when that is done.
    fn program_all(&mut self, job: JobId, from_ns: u64, world: &mut World) -> u64 {
        self.program_row(from_ns);
        let mut end_ns = from_ns;
        for die in 0..self.config.geometry.dies {
            self.touch(die, from_ns, world);
            let state = self.dies.get(die);
            if state.rows > 0 || state.held > 0 {
                end_ns = end_ns.max(self.dies.change(die, Die::finish_all));
            }
        }
        self.latest.program_all(world.now_ns(), end_ns);
        world.charge(job, self.words.program, end_ns);
        end_ns
    }

    /// Programs everything in the buffer, then saves the mapping table that locates it, which takes
    /// `save_ns`. Returns when that is done.
    fn make_durable(&mut self, job: JobId, from_ns: u64, save_ns: u64, world: &mut World) -> u64 {
        let programmed_ns = self.program_all(job, from_ns, world);
        let saved_ns = self.saving.take(programmed_ns, save_ns);
        world.charge(job, self.words.saving, saved_ns);
        saved_ns
    }

    /// Returns whether the firmware programs data on a flush; with power-loss protection they are
    /// already safe.
    fn flush_programs(&self) -> bool {
        self.config.values.flush_waits && !self.config.values.power_loss_protection
    }

    pub(super) fn flush(&mut self, job: JobId, from_ns: u64, world: &mut World) {
        let end_ns = if self.flush_programs() {
            self.make_durable(job, from_ns, self.config.save_ns(), world)
        } else {
            from_ns
        };
        world.finish_at(end_ns, job);
    }
}
