//! Location of the data: the mapping table, the blocks, and garbage collection.
//!
//! The model: the table maps each unit of the host to a location in flash. Every die has an open
//! block for the host's writes, one for moved data, and a list of free blocks. Before a block is
//! opened with too few free ones left, the die's cheapest blocks are collected: their valid data
//! are moved within the die, then they are erased. Validity is not stored: a location is valid if
//! the table points to it. A number of blocks of each die may be used in SLC mode; later their data
//! are folded into blocks with all bits.
//!
//! All state is in flat arrays in which 0 means nothing: a new drive is zeroed memory, which the
//! system provides without touching it. Data that were never written have no state (see `layout`
//! and `map`). The cost of moving data is reported as `Reclaimed`; the time at which it is done is
//! not known here.
//!
//! Not modelled: wear levelling and bad blocks.

use super::config::{Config, FlashGeometry, Reclaimed};
use super::layout::{Layout, Worn, in_order, in_order_counts};
use super::map::{Map, TRIMMED, UNCHANGED};
use kurabe_core::random::Random;
use std::collections::VecDeque;
use std::ops::Range;

const NONE: u32 = u32::MAX;

/// Flag on the number of valid units of a block that is neither free nor being written.
const CLOSED_MARK: u32 = 1 << 31;

/// Flag on the list index of a block in SLC mode.
const SLC_MARK: u32 = 1 << 31;

/// Location of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitPlace {
    At(u32),
    /// The unit was never written; this is its location if the drive had been filled sequentially.
    Unwritten(u32),
    Trimmed,
}

/// A block that is being written.
#[derive(Clone, Copy)]
struct OpenBlock {
    block: u32,
    /// Next location, and the one after the last.
    next: u32,
    end: u32,
}

const CLOSED: OpenBlock = OpenBlock { block: NONE, next: 0, end: 0 };

#[derive(Clone)]
struct Room {
    host: OpenBlock,
    /// A block with all bits that was set aside in favour of one in SLC mode.
    aside: OpenBlock,
    moved: OpenBlock,
    /// Free blocks, the next one last; then the blocks that were never used.
    free: Vec<u32>,
    unused: Range<u32>,
    /// Closed and open blocks in SLC mode, oldest first.
    folding: VecDeque<u32>,
    slc_used: u32,
    /// Whether there is no background work until the next write.
    settled: bool,
}

impl Room {
    fn free_blocks(&self) -> usize {
        self.free.len() + self.unused.len()
    }
}

/// The data of a drive.
#[derive(Clone)]
pub(super) struct FlashStore {
    geometry: FlashGeometry,
    filled: u32,
    layout: Layout,
    map: Map,
    /// By block: number of valid units, with `CLOSED_MARK`.
    valid: Vec<u32>,
    /// By block: when it was closed, as the number of blocks closed before it. Empty unless age
    /// counts.
    closed_at: Vec<u32>,
    closed: u32,
    /// By block: index from 1 of the list of units written to it, with `SLC_MARK`; 0 while it is as
    /// at the start. Empty while all are.
    owners: Vec<u32>,
    lists: Vec<Box<[u32]>>,
    rooms: Vec<Room>,
    /// Units that are being moved; a field, so that no collection allocates.
    moving: Vec<u32>,
    fold_when_full: bool,
    pub(super) work: Reclaimed,
}

impl FlashStore {
    pub(super) fn new(config: &Config, mut random: Random) -> Self {
        let geometry = config.geometry;
        let filled = config.filled_units;
        let (layout, mut valid) = if config.worn && filled > 0 {
            let (worn, counts) = Worn::new(&geometry, filled, geometry.least_free + 2, &mut random);
            (Layout::Worn(worn), counts)
        } else {
            (Layout::InOrder, in_order_counts(&geometry, filled))
        };
        let per_die = geometry.blocks_per_die;
        let rooms = (0..geometry.dies)
            .map(|die| {
                let blocks = die * per_die..(die + 1) * per_die;
                let mut in_use = valid[blocks.start as usize..blocks.end as usize].iter();
                // No block after the last one with data was ever used.
                let used = match config.worn {
                    true => in_use.rposition(|count| *count > 0).map_or(0, |last| last as u32 + 1),
                    false => in_use.take_while(|count| **count > 0).count() as u32,
                };
                let unused = blocks.start + used..blocks.end;
                // The lowest comes first.
                let blocks = (blocks.start..unused.start).rev();
                let free: Vec<u32> = blocks.filter(|block| valid[*block as usize] == 0).collect();
                for block in die * per_die..unused.start {
                    if valid[block as usize] > 0 {
                        valid[block as usize] |= CLOSED_MARK;
                    }
                }
                let folding = VecDeque::new();
                Room {
                    host: CLOSED,
                    aside: CLOSED,
                    moved: CLOSED,
                    free,
                    unused,
                    folding,
                    slc_used: 0,
                    settled: false,
                }
            })
            .collect();
        let closed_at = if config.by_age { vec![0; valid.len()] } else { Vec::new() };
        Self {
            geometry,
            filled,
            layout,
            map: Map::new(geometry.units),
            valid,
            closed_at,
            closed: 0,
            owners: Vec::new(),
            lists: Vec::new(),
            rooms,
            moving: Vec::new(),
            fold_when_full: config.fold_when_full,
            work: Reclaimed::default(),
        }
    }

    /// Returns the location of a unit.
    #[inline]
    pub(super) fn find(&self, unit: u32) -> UnitPlace {
        match self.map.get(unit) {
            UNCHANGED if unit < self.filled => UnitPlace::At(self.layout.place(&self.geometry, unit)),
            UNCHANGED => UnitPlace::Unwritten(in_order(&self.geometry, unit)),
            TRIMMED => UnitPlace::Trimmed,
            place => UnitPlace::At(place),
        }
    }

    /// Returns whether a location is in a block in SLC mode.
    #[inline]
    pub(super) fn is_slc(&self, place: u32) -> bool {
        self.is_slc_block(place / self.geometry.units_per_block)
    }

    /// Returns whether the die's next rows go to cells in SLC mode.
    pub(super) fn host_writes_slc(&self, die: u32) -> bool {
        let block = self.rooms[die as usize].host.block;
        block != NONE && self.is_slc_block(block)
    }

    #[inline]
    fn is_slc_block(&self, block: u32) -> bool {
        self.owners.get(block as usize).is_some_and(|owner| owner & SLC_MARK != 0)
    }

    /// Returns the index of a block's list, if it has one.
    #[inline]
    fn list_of(&self, block: usize) -> Option<usize> {
        Some((self.owners.get(block)? & !SLC_MARK).checked_sub(1)? as usize)
    }

    /// Returns whether a location is among the last `rows` rows that the host wrote to its die's
    /// open block.
    #[inline]
    pub(super) fn is_recent(&self, die: u32, place: u32, rows: u32) -> bool {
        let host = &self.rooms[die as usize].host;
        let reach = rows.saturating_mul(self.geometry.units_per_row);
        place < host.next && host.next - place <= reach && place / self.geometry.units_per_block == host.block
    }

    /// Returns whether a unit was written to one of `count` locations from `place` on.
    #[inline]
    pub(super) fn is_among(&self, unit: u32, place: u32, count: u32) -> bool {
        self.map.get(unit).wrapping_sub(place) < count
    }

    /// Returns the next row of a die for the host's data: its first location, and the number of
    /// rows of its block if it is the first of them. `None` if the die has no room. Work done to
    /// make room is added to `work`.
    pub(super) fn next_row(&mut self, die: u32) -> Option<(u32, Option<u32>)> {
        let mut opened = None;
        if self.rooms[die as usize].host.next == self.rooms[die as usize].host.end {
            opened = Some(self.open_for_host(die)?);
        }
        let host = &mut self.rooms[die as usize].host;
        let place = host.next;
        host.next += self.geometry.units_per_row;
        Some((place, opened))
    }

    fn open_for_host(&mut self, die: u32) -> Option<u32> {
        let at = die as usize;
        let host = std::mem::replace(&mut self.rooms[at].host, CLOSED);
        self.close(host.block);
        self.rooms[at].settled = false;
        let may_slc = self.geometry.slc_blocks > 0;
        if may_slc && self.fold_when_full && self.rooms[at].slc_used >= self.geometry.slc_blocks {
            self.fold(die);
        }
        self.make_room(die, self.geometry.least_free, self.geometry.units_per_block);
        let room = &self.rooms[at];
        if room.free_blocks() < 2 {
            return None;
        }
        let slc = may_slc
            && room.slc_used < self.geometry.slc_blocks
            && room.free_blocks() > self.geometry.least_free as usize + 1;
        if !slc && self.rooms[at].aside.block != NONE {
            let room = &mut self.rooms[at];
            room.host = std::mem::replace(&mut room.aside, CLOSED);
            return Some((room.host.end - room.host.next) / self.geometry.units_per_row);
        }
        let block = self.open(die, slc)?;
        let rows = if slc {
            self.rooms[at].folding.push_back(block);
            self.rooms[at].slc_used += 1;
            self.geometry.rows_per_block / self.geometry.bits
        } else {
            self.geometry.rows_per_block
        };
        let start = block * self.geometry.units_per_block;
        self.rooms[at].host =
            OpenBlock { block, next: start, end: start + rows * self.geometry.units_per_row };
        Some(rows)
    }

    /// Stores a unit at a location obtained for the host's data.
    #[inline]
    pub(super) fn put(&mut self, unit: u32, place: u32) {
        self.leave(unit);
        self.point(unit, place);
    }

    /// Discards a unit's data.
    pub(super) fn trim(&mut self, unit: u32) {
        self.leave(unit);
        self.map.set(unit, TRIMMED);
    }

    #[inline]
    fn leave(&mut self, unit: u32) {
        if let UnitPlace::At(place) = self.find(unit) {
            self.valid[(place / self.geometry.units_per_block) as usize] -= 1;
        }
    }

    #[inline]
    fn point(&mut self, unit: u32, place: u32) {
        let per_block = self.geometry.units_per_block;
        let block = (place / per_block) as usize;
        self.map.set(unit, place);
        self.valid[block] += 1;
        if let Some(list) = self.list_of(block) {
            self.lists[list][(place % per_block) as usize] = unit;
        }
    }

    fn open(&mut self, die: u32, slc: bool) -> Option<u32> {
        let room = &mut self.rooms[die as usize];
        let block = room.free.pop().or_else(|| room.unused.next())?;
        self.valid[block as usize] = 0;
        if self.owners.is_empty() {
            self.owners = vec![0; self.valid.len()];
        }
        let list = self.list_of(block as usize).unwrap_or_else(|| {
            let size = self.geometry.units_per_block as usize;
            self.lists.push(vec![NONE; size].into_boxed_slice());
            self.lists.len() - 1
        });
        self.owners[block as usize] = (list as u32 + 1) | if slc { SLC_MARK } else { 0 };
        Some(block)
    }

    fn close(&mut self, block: u32) {
        if block == NONE {
            return;
        }
        self.valid[block as usize] |= CLOSED_MARK;
        self.closed = self.closed.wrapping_add(1);
        if let Some(closed_at) = self.closed_at.get_mut(block as usize) {
            *closed_at = self.closed;
        }
    }

    /// Collects blocks with fewer than `below` valid units until more than `free` are free.
    fn make_room(&mut self, die: u32, free: u32, below: u32) {
        while self.rooms[die as usize].free_blocks() <= free as usize {
            match self.cheapest(die) {
                Some(victim) if self.valid[victim as usize] ^ CLOSED_MARK < below => {
                    self.collect(die, victim);
                }
                _ => return,
            }
        }
    }

    /// Returns the best block of a die to collect.
    fn cheapest(&self, die: u32) -> Option<u32> {
        let first = die * self.geometry.blocks_per_die;
        let range = first as usize..(first + self.geometry.blocks_per_die) as usize;
        let counts = &self.valid[range.clone()];
        if self.closed_at.is_empty() {
            let least =
                counts.iter().map(|count| count ^ CLOSED_MARK).min().filter(|least| *least < CLOSED_MARK)?;
            return counts
                .iter()
                .position(|count| count ^ CLOSED_MARK == least)
                .map(|index| first + index as u32);
        }
        // Rosenblum and Ousterhout: age x (1 - u) / 2u.
        let worth = |count: u32, closed_at: u32| {
            let age = f64::from(self.closed.wrapping_sub(closed_at)) + 1.0;
            age * f64::from(self.geometry.units_per_block - count) / (2.0 * f64::from(count) + 1e-3)
        };
        let candidates = counts.iter().zip(&self.closed_at[range]).enumerate();
        candidates
            .map(|(index, (count, closed_at))| (index, count ^ CLOSED_MARK, closed_at))
            .filter(|(_, count, _)| *count < CLOSED_MARK)
            .map(|(index, count, closed_at)| (worth(count, *closed_at), index))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, index)| first + index as u32)
    }

    /// Moves the valid data of a block to another block of its die, and frees it.
    fn collect(&mut self, die: u32, victim: u32) {
        let FlashGeometry { units_per_block, units_per_row, bits, .. } = self.geometry;
        let slc = self.is_slc_block(victim);
        if slc {
            self.owners[victim as usize] &= !SLC_MARK;
        }
        self.valid[victim as usize] = 0;
        let list = self.list_of(victim as usize);
        let owners = list.map(|list| std::mem::take(&mut self.lists[list]));
        let end = if slc { self.geometry.rows_per_block / bits * units_per_row } else { units_per_block };
        let rows_read = self.list_valid(victim, owners.as_deref(), end / units_per_row);
        self.move_listed(die);
        if let Some((list, owners)) = list.zip(owners) {
            self.lists[list] = owners;
        }
        let room = &mut self.rooms[die as usize];
        room.free.push(victim);
        self.work.erases += 1;
        let moved = self.moving.len() as u64;
        if slc {
            room.slc_used -= 1;
            room.folding.retain(|block| *block != victim);
            self.work.folded += moved;
            self.work.slc_rows_read += rows_read;
        } else {
            self.work.moved += moved;
            self.work.rows_read += rows_read;
        }
    }

    /// Lists the valid units of a block in order of location. Returns the number of rows that have
    /// any. `owners` are the units written to it; without them it is as at the start.
    fn list_valid(&mut self, block: u32, owners: Option<&[u32]>, rows: u32) -> u64 {
        let per_row = self.geometry.units_per_row as usize;
        let start = block * self.geometry.units_per_block;
        self.moving.clear();
        let mut rows_read = 0;
        let mut at_start = self.layout.owners(&self.geometry, block, self.filled);
        for row in 0..rows as usize {
            let before = self.moving.len();
            for offset in row * per_row..(row + 1) * per_row {
                let (unit, entry) = match owners {
                    Some(owners) => (owners[offset], start + offset as u32),
                    None => (at_start.next().unwrap_or(NONE), UNCHANGED),
                };
                if unit != NONE && self.map.get(unit) == entry {
                    self.moving.push(unit);
                }
            }
            rows_read += u64::from(self.moving.len() > before);
        }
        rows_read
    }

    /// Moves the listed units to the die's block for moved data, and to further ones when that is
    /// full. There is always one: a collection begins with a free block available and needs at most
    /// one.
    fn move_listed(&mut self, die: u32) {
        let moving = std::mem::take(&mut self.moving);
        let mut left = &moving[..];
        while !left.is_empty() {
            let OpenBlock { block, next, end } = self.rooms[die as usize].moved;
            if next == end {
                self.close(block);
                self.rooms[die as usize].moved = CLOSED;
                let Some(block) = self.open(die, false) else { break };
                let next = block * self.geometry.units_per_block;
                self.rooms[die as usize].moved =
                    OpenBlock { block, next, end: next + self.geometry.units_per_block };
                continue;
            }
            let (here, others) = left.split_at(left.len().min((end - next) as usize));
            left = others;
            self.rooms[die as usize].moved.next += here.len() as u32;
            self.valid[block as usize] += here.len() as u32;
            for (unit, place) in here.iter().zip(next..) {
                self.map.set(*unit, place);
            }
            if let Some(list) = self.list_of(block as usize) {
                let first = (next % self.geometry.units_per_block) as usize;
                self.lists[list][first..first + here.len()].copy_from_slice(here);
            }
        }
        self.moving = moving;
    }

    /// Folds the oldest block in SLC mode. Returns whether there was one.
    fn fold(&mut self, die: u32) -> bool {
        let host = self.rooms[die as usize].host.block;
        match self.rooms[die as usize].folding.front().copied() {
            Some(block) if block != host => {
                self.collect(die, block);
                true
            }
            _ => false,
        }
    }

    /// Returns whether a die has background work.
    #[inline]
    pub(super) fn has_background(&self, die: u32) -> bool {
        let room = &self.rooms[die as usize];
        !room.settled
            && (room.slc_used > self.geometry.slc_kept
                || room.free_blocks() <= self.geometry.wanted_free as usize)
    }

    /// Does one piece of background work and adds it to `work`. Returns whether there was any.
    pub(super) fn background(&mut self, die: u32) -> bool {
        if self.rooms[die as usize].slc_used > self.geometry.slc_kept && self.fold(die) {
            self.set_aside(die);
            return true;
        }
        let free = self.rooms[die as usize].free_blocks();
        if free <= self.geometry.wanted_free as usize {
            // Moving more than three quarters of a block to free the rest causes much wear for
            // little space.
            self.make_room(die, free as u32, self.geometry.units_per_block / 4 * 3);
            if self.rooms[die as usize].free_blocks() > free {
                return true;
            }
        }
        self.rooms[die as usize].settled = true;
        false
    }

    /// Called when the SLC cache has room again: the next writes go there, and the host's block
    /// with all bits is set aside.
    fn set_aside(&mut self, die: u32) {
        let is_slc = self.host_writes_slc(die);
        let room = &mut self.rooms[die as usize];
        let unfinished = room.host.block != NONE && room.host.next < room.host.end;
        if unfinished && !is_slc && room.slc_used < self.geometry.slc_blocks {
            room.aside = std::mem::replace(&mut room.host, CLOSED);
        }
    }

    /// Counts the valid units block by block.
    #[cfg(test)]
    pub(super) fn count_valid(&self) -> u64 {
        self.valid.iter().map(|count| u64::from(count & !CLOSED_MARK)).sum()
    }
}
