//! Reads of flash, and bringing dies up to date.

use super::Ssd;
use super::config::Reclaimed;
use super::die::Busy;
use crate::account::Cause;
use crate::timeline::transfer_ns;
use crate::world::World;

/// The times of a read of a row, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadPath {
    /// Operation that it waited for first.
    pub(super) behind: Busy,
    /// Start on the die.
    pub(super) start_ns: u64,
    /// The data are in the die's register.
    pub(super) sensed_ns: u64,
    /// The channel is free.
    pub(super) wire_ns: u64,
    /// The data are at the controller.
    pub(super) there_ns: u64,
    /// The data have passed the controller's memory.
    pub(super) end_ns: u64,
    /// The first data of this combined read are at the controller.
    pub(super) first_ns: u64,
}

impl Ssd {
    pub(super) fn cause_of(&self, busy: Busy) -> Cause {
        match busy {
            Busy::Reading => self.words.behind_reads,
            Busy::Programming => self.words.behind_programs,
            Busy::Collecting => self.words.collecting,
            Busy::Folding => self.words.folding,
            Busy::Erasing => self.words.behind_erase,
            Busy::Refreshing => self.words.refreshing,
        }
    }

    /// Brings a die up to date.
    #[inline]
    pub(super) fn touch(&mut self, die: u32, now_ns: u64, world: &mut World) {
        self.catch_up(die, now_ns);
        let idle_ns = self.dies.get(die).free_ns.saturating_add(self.config.values.idle_after_ns);
        if idle_ns < now_ns && self.store.has_background(die) {
            self.work_in_background(die, idle_ns, now_ns, world);
        }
        if self.refresh.is_some() {
            self.refresh_rows(die, now_ns, world);
        }
    }

    #[inline]
    fn catch_up(&mut self, die: u32, now_ns: u64) {
        if self.dies.get(die).free_ns <= now_ns {
            let program_ns = self.config.manners.program_ns;
            let released = self.dies.change(die, |die| die.catch_up(now_ns, program_ns));
            self.rows_used = self.rows_used.saturating_sub(u64::from(released));
        }
    }

    fn work_in_background(&mut self, die: u32, from_ns: u64, now_ns: u64, world: &mut World) {
        while self.store.background(die) {
            let (work, length_ns) = self.take_work(world);
            let busy = if work.folded > 0 { Busy::Folding } else { Busy::Collecting };
            let erase_ns = self.config.manners.erase_ns.saturating_mul(work.erases);
            self.dies.change(die, |die| die.work(from_ns, length_ns.saturating_add(erase_ns), busy));
            if self.dies.get(die).free_ns >= now_ns {
                break;
            }
        }
    }

    /// Lets an idle die rewrite the rows that are due.
    fn refresh_rows(&mut self, die: u32, now_ns: u64, world: &mut World) {
        let free_ns = self.dies.get(die).free_ns;
        if free_ns > now_ns {
            return;
        }
        let Some(refresh) = &mut self.refresh else { return };
        if let Some((rows, end_ns)) = refresh.take(die, free_ns, now_ns) {
            world.count(self.words.refreshed, rows);
            self.dies.change(die, |die| die.work(end_ns, 0, Busy::Refreshing));
        }
    }

    /// Returns and counts the store's work since the last call, and the time of moving the data.
    pub(super) fn take_work(&mut self, world: &mut World) -> (Reclaimed, u64) {
        let work = std::mem::take(&mut self.store.work);
        world.count(self.words.moved, work.moved);
        world.count(self.words.folded, work.folded);
        world.count(self.words.erases, work.erases);
        let length_ns = self.config.moving_ns(&work);
        (work, length_ns)
    }

    /// Reads bytes of the row at this place. Data for the host also pass the controller's memory.
    pub(super) fn read_row(
        &mut self,
        place: u32,
        bytes: u64,
        for_host: bool,
        from_ns: u64,
        world: &mut World,
    ) -> ReadPath {
        let geometry = &self.config.geometry;
        let die = place / (geometry.units_per_block * geometry.blocks_per_die);
        let row = place % geometry.units_per_block / geometry.units_per_row;
        let row_of_drive = place / geometry.units_per_row;
        let memory_ns =
            if for_host { transfer_ns(bytes, self.config.values.controller_bytes_per_s) } else { 0 };
        self.touch(die, from_ns, world);
        let open = self.open_row.as_ref().is_some_and(|open| open.die == die);
        let state = self.dies.get(die);
        let pending = state.rows + state.held + u32::from(open);
        if pending > 0 && self.store.is_recent(die, place, pending) {
            world.count(self.words.buffer_hits, 1);
            let (_, end_ns) = self.memory.book(world.now_ns(), from_ns, memory_ns);
            let behind = Busy::Reading;
            return ReadPath {
                behind,
                start_ns: from_ns,
                sensed_ns: from_ns,
                wire_ns: from_ns,
                there_ns: from_ns,
                end_ns,
                first_ns: from_ns,
            };
        }
        let read_ns = if self.store.is_slc(place) {
            self.config.slc_read_ns
        } else {
            self.config.read_ns[row as usize % self.config.read_ns.len()]
        };
        let read_ns = self.config.scatter.read_ns(row_of_drive, read_ns);
        let mut path = self.read_die(die, read_ns, bytes, from_ns, world.now_ns());
        path.end_ns = self.memory.book(world.now_ns(), path.there_ns, memory_ns).1;
        path
    }

    /// Reads for `read_ns` on a die that is up to date, and transfers the bytes to the controller.
    fn read_die(&mut self, die: u32, read_ns: u64, bytes: u64, from_ns: u64, now_ns: u64) -> ReadPath {
        let wire_ns = self.config.transfer_ns(bytes);
        let channel = &mut self.channels[(die % self.config.geometry.channels) as usize];
        let manners = &self.config.manners;
        let data_first = self.config.values.data_first;
        self.dies.change(die, |die| {
            let from_ns = if data_first { channel.free_from(die.free_ns.max(from_ns)) } else { from_ns };
            let start = die.begin_read(from_ns, manners);
            let sensed_ns = start.start_ns.saturating_add(read_ns);
            let (begin_ns, there_ns) = channel.book(now_ns, sensed_ns, wire_ns);
            die.end_read(start, there_ns);
            ReadPath {
                behind: start.behind,
                start_ns: start.start_ns,
                sensed_ns,
                wire_ns: begin_ns,
                there_ns,
                end_ns: there_ns,
                first_ns: there_ns,
            }
        })
    }

    /// Reads a page of the mapping table. Returns when it is available.
    pub(super) fn read_table_page(&mut self, page: u32, from_ns: u64, now_ns: u64) -> u64 {
        let die = self.die_of_table_page(page);
        self.catch_up(die, from_ns);
        let (read_ns, bytes) = (self.config.read_ns[0], self.config.values.page_bytes);
        self.read_die(die, read_ns, bytes, from_ns, now_ns).there_ns
    }

    /// Writes a page of the mapping table in the background.
    pub(super) fn write_table_page(&mut self, page: u32, from_ns: u64) {
        let length_ns = self
            .config
            .manners
            .program_ns
            .saturating_add(self.config.transfer_ns(self.config.values.page_bytes));
        let die = self.die_of_table_page(page);
        self.dies.change(die, |die| die.add(from_ns, 0, length_ns));
    }

    /// The pages of the table are distributed over the dies.
    fn die_of_table_page(&self, page: u32) -> u32 {
        page % self.config.geometry.dies
    }
}
