//! A solid-state drive with a page-mapped flash translation layer.
//!
//! The model: channels of dies, each a timeline; a mapping table from small units of the host to
//! locations in flash; a write buffer, whose rows of pages are programmed die by die while reads
//! take priority; garbage collection, SLC cache, mapping cache. All times of a request are computed
//! on its arrival. Pending work of a die is only brought up to date when the die is next used, so a
//! request costs one event regardless of its number of pages, and idle time costs nothing. Only a
//! miss of the mapping cache costs a second event.
//!
//! Background data movement is averaged over a block: the controller distributes a collection
//! evenly over the rows that the host writes next, as drives do to keep latency even.
//!
//! Not modelled: wear, errors and read retries, temperature, and coarse mapping (see `coarse.rs`).

mod ahead;
mod config;
mod die;
mod flash;
mod layout;
mod map;
mod mapping_cache;
mod refresh;
mod scatter;
mod schedule;
mod store;
#[cfg(test)]
mod tests;
mod write;

use crate::build::{Builder, words};
use crate::layer::{Below, Built, Control, Layer, LayerKind};
use crate::ranges::AtRisk;
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::vocabulary::page;
use crate::world::{JobId, Request, RequestKind, World};
use ahead::ReadAhead;
use config::{Config, FlashGeometry};
use die::{Dies, Manners};
use flash::ReadPath;
use kurabe_core::random::Random;
use kurabe_core::{Result, Text, text};
use mapping_cache::{Lookup, MappingCache};
use refresh::Refresh;
use schedule::Schedule;
use store::{FlashStore, UnitPlace};
use write::{Latest, OpenRow, Saving};

/// Solid-state drive: `ssd` in device files.
pub const SSD: LayerKind = LayerKind::new(page!("ssd"), "ssd", Below::Nothing, config::PARAMETERS, build);

words! {
    struct Words from "ssd" {
        behind_reads: cause("behind-reads");
        behind_programs: cause("behind-writes");
        behind_erase: cause("behind-erase");
        collecting: cause("garbage-collection");
        folding: cause("folding");
        refreshing: cause("refresh");
        buffer_full: cause("buffer-full");
        sense: cause("flash-read");
        channel_wait: cause("channel-wait");
        channel: cause("channel");
        program: cause("flash-write");
        saving: cause("saving");
        controller_wait: cause("controller-wait");
        controller: cause("controller");
        data_path: cause("data-path");
        mapping: cause("mapping");
        read_ahead: cause("read-ahead");
        partial: cause("partial-write");
        written: counter("units-written");
        moved: counter("units-moved");
        folded: counter("units-folded");
        erases: counter("erases");
        refreshed: counter("rows-refreshed");
        misses: counter("mapping-misses");
        buffer_hits: counter("buffer-hits");
    }
}

/// A read of several rows.
struct RowsRead {
    /// Times of the last row to arrive; `None` if none of the bytes is in flash.
    last: Option<ReadPath>,
    /// Bytes that were never written or are trimmed. The controller generates zeroes for them, which
    /// pass its memory as data do.
    absent_bytes: u64,
}

#[derive(Clone)]
struct Ssd {
    config: Config,
    /// Source of the layout of a drive in steady state.
    random: Random,
    store: FlashStore,
    dies: Dies,
    channels: Vec<Schedule>,
    /// The controller's memory, which all data pass.
    memory: Schedule,
    /// Path of written data into the buffer, where it is slower than the controller's memory.
    inlet: Schedule,
    processor: Timeline,
    /// Rows in the write buffer, as of the last update.
    rows_used: u64,
    open_row: Option<OpenRow>,
    latest: Latest,
    saving: Saving,
    /// Next die in round-robin order for a row.
    next_die: u32,
    mapping: Option<MappingCache>,
    ahead: ReadAhead,
    /// Periodic refresh of each die, if enabled.
    refresh: Option<Refresh>,
    /// Requests that wait for the mapping table, by the token of their wake-up.
    parked: Vec<JobId>,
    parked_free: Vec<u32>,
    words: Words,
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let config = Config::new(builder)?;
    let geometry = config.geometry;
    let units_per_page = (config.values.page_bytes / 4).clamp(1, 1 << 30) as u32;
    let ssd = Ssd {
        store: FlashStore::new(&config, builder.random()),
        random: builder.random(),
        dies: Dies::new(geometry.dies),
        channels: vec![Schedule::default(); geometry.channels as usize],
        memory: Schedule::default(),
        inlet: Schedule::default(),
        processor: Timeline::default(),
        rows_used: 0,
        open_row: None,
        latest: Latest::new(&config),
        saving: Saving::default(),
        next_die: 0,
        mapping: config.mapping_pages.map(|pages| MappingCache::new(geometry.units, units_per_page, pages)),
        ahead: ReadAhead::new(config.values.read_ahead_bytes),
        refresh: Refresh::new(builder, &config)?,
        parked: Vec::new(),
        parked_free: Vec::new(),
        words: Words::new(builder),
        config,
    };
    Ok(Built::new(ssd, geometry.capacity_bytes))
}

impl Ssd {
    /// Returns the units that a request touches.
    fn units(&self, request: &Request) -> std::ops::RangeInclusive<u32> {
        let unit_bytes = self.config.geometry.unit_bytes;
        let last = (request.end_bytes() - 1) / unit_bytes;
        (request.offset_bytes / unit_bytes) as u32..=last as u32
    }

    /// Returns the firmware's time for the units of a read before any of it is read.
    fn unit_latency_ns(&self, request: &Request) -> u64 {
        let units = u64::from(request.length_bytes).div_ceil(self.config.geometry.unit_bytes);
        units.saturating_mul(self.config.values.unit_latency_ns)
    }

    /// Returns the time at which the parts of the mapping table that a request needs are in memory.
    fn look_up(&mut self, request: &Request, from_ns: u64, world: &mut World) -> u64 {
        let Some(mut mapping) = self.mapping.take() else { return from_ns };
        let units = self.units(request);
        let mut ready_ns = from_ns;
        for page in mapping.page_of(*units.start())..=mapping.page_of(*units.end()) {
            if let Lookup::Miss { written_back } = mapping.look_up(page, request.kind != RequestKind::Read) {
                world.count(self.words.misses, 1);
                ready_ns = ready_ns.max(self.read_table_page(page, from_ns, world.now_ns()));
                if let Some(page) = written_back {
                    self.write_table_page(page, from_ns);
                }
            }
        }
        self.mapping = Some(mapping);
        ready_ns
    }

    /// Suspends a job until the mapping table is loaded.
    fn park(&mut self, job: JobId, until_ns: u64, world: &mut World) {
        let number = self.parked_free.pop().unwrap_or_else(|| {
            self.parked.push(job);
            self.parked.len() as u32 - 1
        });
        self.parked[number as usize] = job;
        world.wake_at(until_ns, u64::from(number));
    }

    fn serve(&mut self, job: JobId, from_ns: u64, world: &mut World) {
        let request = world.request(job);
        match request.kind {
            RequestKind::Read => self.read(job, &request, from_ns, world),
            RequestKind::Write => self.write(job, &request, from_ns, world),
            RequestKind::Trim | RequestKind::WriteZeroes => {
                self.trim(&request);
                world.finish_at(from_ns, job);
            }
            RequestKind::Flush => self.flush(job, from_ns, world),
        }
    }

    fn read(&mut self, job: JobId, request: &Request, from_ns: u64, world: &mut World) {
        let Request { offset_bytes, .. } = *request;
        let limit_bytes = self.config.geometry.capacity_bytes;
        let (ready, further) = self.ahead.read(offset_bytes, request.end_bytes(), limit_bytes);
        let mut start_bytes = offset_bytes;
        let mut found_ns = from_ns;
        if let Some(ready) = ready {
            start_bytes = ready.end_bytes;
            let memory_ns =
                transfer_ns(start_bytes - offset_bytes, self.config.values.controller_bytes_per_s);
            let ready_ns = ready.ready_ns.max(from_ns);
            found_ns = self.memory.book(world.now_ns(), ready_ns, memory_ns).1;
            if start_bytes == request.end_bytes() {
                world.charge(job, self.words.read_ahead, ready_ns);
                world.charge(job, self.words.data_path, found_ns);
            }
        }
        let mut end_ns = found_ns;
        let rows = self.read_rows(start_bytes, request.end_bytes(), true, from_ns, world);
        if let Some(path) = rows.last {
            end_ns = end_ns.max(self.charge_read(job, &path, world));
            if start_bytes == offset_bytes {
                world.data_from(path.first_ns, job);
            }
        }
        if rows.absent_bytes > 0 {
            let zeroes_ns = transfer_ns(rows.absent_bytes, self.config.values.controller_bytes_per_s).max(1);
            end_ns = end_ns.max(self.memory.book(world.now_ns(), from_ns, zeroes_ns).1);
        }
        world.charge(job, self.words.data_path, end_ns);
        if let Some((start_bytes, end_bytes)) = further {
            let last = self.read_rows(start_bytes, end_bytes, false, from_ns, world).last;
            self.ahead.add(end_bytes, last.map_or(from_ns, |path| path.there_ns));
        }
        world.finish_at(end_ns, job);
    }

    /// Reads bytes from flash. Data for the host also pass the controller's memory.
    fn read_rows(
        &mut self,
        from_bytes: u64,
        to_bytes: u64,
        for_host: bool,
        from_ns: u64,
        world: &mut World,
    ) -> RowsRead {
        let geometry = self.config.geometry;
        let (mut last, mut absent_bytes) = (None, 0);
        // Units of one row are read together: the row's number, a position in it, and the bytes.
        let mut row: Option<(u32, u32, u64)> = None;
        let mut at_bytes = from_bytes;
        while at_bytes < to_bytes {
            let unit = at_bytes / geometry.unit_bytes;
            let next_bytes = ((unit + 1) * geometry.unit_bytes).min(to_bytes);
            let bytes = next_bytes - at_bytes;
            at_bytes = next_bytes;
            let place = match self.store.find(unit as u32) {
                UnitPlace::At(place) => place,
                UnitPlace::Unwritten(place) if self.config.values.unwritten_as_data => place,
                UnitPlace::Unwritten(_) | UnitPlace::Trimmed => {
                    absent_bytes += bytes;
                    continue;
                }
            };
            let number = place / geometry.units_per_row;
            match &mut row {
                Some((reading, _, sum)) if *reading == number => *sum += bytes,
                _ => {
                    if let Some((_, place, bytes)) = row.replace((number, place, bytes)) {
                        last = later(last, self.read_row(place, bytes, for_host, from_ns, world));
                    }
                }
            }
        }
        if let Some((_, place, bytes)) = row {
            last = later(last, self.read_row(place, bytes, for_host, from_ns, world));
        }
        RowsRead { last, absent_bytes }
    }

    fn charge_read(&self, job: JobId, path: &ReadPath, world: &mut World) -> u64 {
        world.charge(job, self.cause_of(path.behind), path.start_ns);
        world.charge(job, self.words.sense, path.sensed_ns);
        world.charge(job, self.words.channel_wait, path.wire_ns);
        world.charge(job, self.words.channel, path.there_ns);
        world.charge(job, self.words.data_path, path.end_ns);
        path.end_ns
    }

    /// Returns whether a request covers whole units.
    fn is_whole(&self, request: &Request) -> bool {
        let FlashGeometry { unit_bytes, capacity_bytes, .. } = self.config.geometry;
        let end_bytes = request.end_bytes();
        request.offset_bytes.is_multiple_of(unit_bytes)
            && (end_bytes.is_multiple_of(unit_bytes) || end_bytes == capacity_bytes)
    }

    fn trim(&mut self, request: &Request) {
        let unit_bytes = self.config.geometry.unit_bytes;
        let first = request.offset_bytes.div_ceil(unit_bytes);
        self.ahead.written(request.offset_bytes, request.end_bytes());
        self.saving.is_due = true;
        // The last unit of the drive may be incomplete.
        let whole = if request.end_bytes() == self.config.geometry.capacity_bytes {
            u64::from(self.config.geometry.units)
        } else {
            request.end_bytes() / unit_bytes
        };
        self.latest.trim(first * unit_bytes, (whole * unit_bytes).max(first * unit_bytes));
        for unit in first..whole {
            self.store.trim(unit as u32);
        }
    }
}

/// Returns the later of two reads, with the earlier start of data.
fn later(last: Option<ReadPath>, path: ReadPath) -> Option<ReadPath> {
    let first_ns = last.map_or(path.first_ns, |last| last.first_ns.min(path.first_ns));
    let later = last.filter(|last| last.end_ns >= path.end_ns).unwrap_or(path);
    Some(ReadPath { first_ns, ..later })
}

impl Layer for Ssd {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        // Whole units of zeroes are removed from the mapping table; partial units are written.
        if !self.is_whole(&world.request(job)) {
            world.write_as_data(job);
        }
        let request = world.request(job);
        let hit =
            request.kind == RequestKind::Read && self.ahead.holds(request.offset_bytes, request.end_bytes());
        let command_ns = match request.kind {
            RequestKind::Write => self.config.write_command_ns.unwrap_or(self.config.values.command_ns),
            _ if hit => self.config.values.hit_ns,
            _ => self.config.values.command_ns,
        };
        let (start_ns, end_ns) = self.processor.take(world.now_ns(), command_ns);
        world.charge(job, self.words.controller_wait, start_ns);
        let write_ns =
            if request.kind == RequestKind::Write { self.config.values.write_latency_ns } else { 0 };
        let units_ns =
            if request.kind == RequestKind::Read && !hit { self.unit_latency_ns(&request) } else { 0 };
        let latency_ns = self.config.values.command_latency_ns.saturating_add(write_ns);
        let from_ns = end_ns.saturating_add(latency_ns).saturating_add(units_ns);
        world.charge(job, self.words.controller, from_ns);
        if request.length_bytes == 0 && request.kind != RequestKind::Flush {
            return world.finish_at(from_ns, job);
        }
        if self.mapping.is_some() && request.kind != RequestKind::Flush {
            let ready_ns = self.look_up(&request, from_ns, world);
            if ready_ns > from_ns {
                world.charge(job, self.words.mapping, ready_ns);
                return self.park(job, ready_ns, world);
            }
        }
        self.serve(job, from_ns, world);
    }

    fn wake(&mut self, token: u64, world: &mut World) {
        let job = self.parked[token as usize];
        self.parked_free.push(token as u32);
        self.serve(job, world.now_ns(), world);
    }

    fn control(&mut self, control: Control, world: &mut World) -> Result<(), Text> {
        if control != Control::Wear {
            return Err(text!("it has no members", "メンバーを持たない層です"));
        }
        // The open row would refer to blocks of the old layout.
        self.program_row(world.now_ns());
        self.config.worn = true;
        self.store = FlashStore::new(&self.config, self.random.clone());
        Ok(())
    }

    /// A row is at risk until it is programmed. Without a buffer, a write is acknowledged when it
    /// is in flash.
    fn at_risk(&self, now_ns: u64) -> AtRisk {
        let FlashGeometry { dies, blocks_per_die, rows_per_block, .. } = self.config.geometry;
        let open = |die| u32::from(self.open_row.is_some_and(|row| row.die == die));
        let rows: Vec<u32> = (0..dies)
            .map(|die| self.dies.get(die).unsafe_rows(now_ns, self.config.manners.program_ns) + open(die))
            .collect();
        if self.config.buffer_rows == 0 {
            return AtRisk::default();
        }
        AtRisk::all(
            self.latest.in_rows(now_ns, &rows, blocks_per_die * rows_per_block),
            self.config.values.power_loss_protection,
        )
    }

    fn change(&mut self, setting: &Setting) {
        self.config.values.change(setting);
        let Manners { suspend_program_ns, suspend_erase_ns, .. } = &mut self.config.manners;
        let times = [suspend_program_ns, suspend_erase_ns].into_iter().flatten();
        times.for_each(|time_ns| *time_ns = self.config.values.suspend_ns);
    }
}
