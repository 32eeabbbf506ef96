//! Flash devices with little memory: USB sticks and first-generation SSDs, which map large units.
//!
//! The model: one command at a time; all dies work together (`coarse/media.rs`). Sequential writes
//! fill mapping units, and the part of a unit that a run does not write is copied
//! (`coarse/run.rs`). If there is a log buffer, scattered writes go there first and are merged
//! later (`coarse/log.rs`). A write is acknowledged when it fits into memory (`coarse/buffer.rs`).
//! If the firmware closes the open unit on every read, each switch from writing to reading and back
//! costs the copying of the missing part. The device is in use: every unit holds data.
//!
//! Not modelled: wear levelling, bad blocks, background work while the device is idle, reads that
//! bypass programs on other dies, and slower reads of data written in random order.

mod buffer;
mod log;
mod media;
mod run;

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::ranges::AtRisk;
use crate::schema::{MOST_BYTES, Relation};
use crate::settings::{Live, Setting};
use crate::timeline::transfer_ns;
use crate::vocabulary::page;
use crate::world::{JobId, Request, RequestKind, World};
use buffer::WriteBuffer;
use kurabe_core::Result;
use log::{Log, Streams};
use media::Media;
use run::{FlashWork, Run};

/// Coarsely mapped flash: `flash-coarse` in device files.
pub const COARSE: LayerKind =
    LayerKind::new(page!("flash-coarse"), "flash-coarse", Below::Nothing, PARAMETERS, build)
        .related(&[Relation::NotBelow("superblock", "unit")]);

parameters! {
    struct Values, PARAMETERS from "flash-coarse" {
        "capacity" capacity_bytes: SOME_SIZE, needed;
        "unit" unit_bytes: SOME_SIZE, needed;
        "superblock" superblock_bytes: SIZE, usual("0 B", "assumed: none").derived_from(&["unit"]);
        "stripe" stripe_bytes: SOME_SIZE, needed;
        "read_rate" read_bytes_per_s: Rate, needed.live();
        "program_rate" program_bytes_per_s: Rate, needed.live();
        "access" access_ns: Time, needed;
        "erase" erase_ns: Time, usual("0 ns", "assumed: done before it is needed").live();
        "command" command_ns: Time, needed.live();
        "buffer" buffer_bytes: SIZE, needed;
        "log" log_bytes: SIZE, usual("0 B", "assumed: none");
        "log_granule" log_granule_bytes: Bytes(512, MOST_BYTES),
            usual("4 KiB", "assumed: the page of a file system");
        "run" run_bytes: SIZE, usual("1 MiB", "assumed: more than a scattered write has").live();
        "read_ahead" read_ahead: Flag, usual("true", "assumed: usual").live();
        "read_closes" read_closes: Flag, usual("true", "assumed: the memory holds one open unit").live();
        "trim" trim: Flag, usual("false", "assumed: firmware of before 2010").live();
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let (unit_bytes, stripe_bytes) = (values.unit_bytes, values.stripe_bytes);
    let (superblock_bytes, capacity_bytes) = (values.superblock_bytes, values.capacity_bytes);
    let coarse = Coarse {
        erase_bytes: superblock_bytes.max(unit_bytes),
        buffer: WriteBuffer::new(values.buffer_bytes, stripe_bytes),
        run: Run::new(unit_bytes, stripe_bytes),
        superblocks: (superblock_bytes > unit_bytes).then(|| Run::new(superblock_bytes, stripe_bytes)),
        log: Log::new(values.log_bytes, values.log_granule_bytes, unit_bytes),
        words: Words::new(builder),
        values,
        ..Coarse::default()
    };
    Ok(Built::new(coarse, capacity_bytes).in_turn_if(true))
}

words! {
    struct Words from "flash-coarse" {
        waiting: line("waiting");
        command: cause("command");
        access: cause("access");
        read: cause("read");
        program: cause("program");
        erase: cause("erase");
        complete: cause("complete-unit");
        turn: cause("turn");
        merge: cause("merge");
        completions: counter("completions");
        straddles: counter("straddles");
        turns: counter("turns");
        merges: counter("merges");
    }
}

/// Reason for a flash operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// Data written by the host.
    Asked,
    /// A run began or ended within a unit.
    Complete,
    /// A read came between writes.
    Turn,
}

#[derive(Clone, Default)]
struct Coarse {
    /// Bytes erased together.
    erase_bytes: u64,
    /// End of the previous command.
    free_ns: u64,
    media: Media,
    buffer: WriteBuffer,
    run: Run,
    /// The run in superblocks, which only a write elsewhere closes.
    superblocks: Option<Run>,
    log: Option<Log>,
    streams: Streams,
    /// Bytes of the log that do not fill a stripe yet.
    log_pending_bytes: u64,
    /// End of the last read, if nothing was written since.
    read_end_bytes: Option<u64>,
    /// Position at which a read closed the run.
    turned_at_bytes: Option<u64>,
    words: Words,
    values: Values,
}

impl Coarse {
    /// Rounds bytes up to whole stripes, the unit of programming: all dies program their pages
    /// together, and a partly filled page takes as long as a full one.
    fn whole_stripes(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.values.stripe_bytes).saturating_mul(self.values.stripe_bytes)
    }

    /// Returns the time to program this many bytes, rounded up to whole stripes.
    fn program_ns(&self, bytes: u64) -> u64 {
        transfer_ns(self.whole_stripes(bytes), self.values.program_bytes_per_s)
    }

    /// Returns the time to read old bytes that are copied. They are read stripe by stripe, each
    /// with an access, because the buffer holds no more.
    fn copy_out_ns(&self, bytes: u64) -> u64 {
        let accesses = self.values.access_ns.saturating_mul(bytes.div_ceil(self.values.stripe_bytes));
        accesses.saturating_add(transfer_ns(bytes, self.values.read_bytes_per_s))
    }

    /// Performs the flash work of a run.
    fn work(&mut self, from_ns: u64, work: FlashWork, why: Reason, world: &mut World) {
        let (program, erase, copy) = match why {
            Reason::Asked => (self.words.program, self.words.erase, self.words.complete),
            Reason::Complete => (self.words.complete, self.words.complete, self.words.complete),
            Reason::Turn => (self.words.turn, self.words.turn, self.words.turn),
        };
        if work.copied_bytes > 0 {
            world.count(self.words.completions, 1);
            self.media.take(from_ns, self.copy_out_ns(work.copied_bytes), copy);
        }
        self.media.take(from_ns, self.values.erase_ns.saturating_mul(work.erased), erase);
        if work.programmed_bytes > 0 {
            self.media.take(from_ns, self.program_ns(work.programmed_bytes), program);
        }
    }

    /// Closes the open unit.
    fn close(&mut self, from_ns: u64, why: Reason, world: &mut World) {
        let padded = self.run.close();
        self.work(from_ns, padded, why, world);
        if self.log_pending_bytes > 0 {
            let programmed_bytes = self.whole_stripes(self.log_pending_bytes);
            self.log_pending_bytes = 0;
            self.work(from_ns, FlashWork { programmed_bytes, ..FlashWork::default() }, why, world);
        }
    }

    /// Closes or opens the superblock of a run; its bytes are programmed with those of the run.
    fn superblock(&mut self, from_ns: u64, work: FlashWork, world: &mut World) {
        let programmed_bytes = self.whole_stripes(work.copied_bytes);
        self.work(from_ns, FlashWork { programmed_bytes, ..work }, Reason::Complete, world);
    }

    /// Starts a run at a position where none is open.
    fn open(&mut self, from_ns: u64, at_bytes: u64, world: &mut World) {
        let goes_on = self.superblocks.as_ref().is_some_and(|run| run.end_bytes() == Some(at_bytes));
        if !goes_on && let Some(mut blocks) = self.superblocks.take() {
            let closed = blocks.close();
            self.superblock(from_ns, closed, world);
            let opened = blocks.open(at_bytes);
            self.superblock(from_ns, opened, world);
            self.superblocks = Some(blocks);
        }
        let why = if self.turned_at_bytes == Some(at_bytes) { Reason::Turn } else { Reason::Complete };
        self.turned_at_bytes = None;
        self.close(from_ns, Reason::Complete, world);
        let mut opened = self.run.open(at_bytes);
        if self.superblocks.is_some() {
            opened.erased = 0;
        }
        self.work(from_ns, opened, why, world);
    }

    /// Continues the open run.
    fn extend(&mut self, from_ns: u64, request: &Request, world: &mut World) {
        let bytes = u64::from(request.length_bytes);
        let mut work = self.run.extend(bytes);
        if let Some(blocks) = &mut self.superblocks {
            work.erased = blocks.extend(bytes).erased;
        }
        self.work(from_ns, work, Reason::Asked, world);
        if let Some(log) = &mut self.log {
            log.forget(request.offset_bytes, bytes);
        }
    }

    /// Writes into the log.
    fn append(&mut self, from_ns: u64, request: &Request, world: &mut World) {
        let bytes = u64::from(request.length_bytes);
        let Some(log) = &mut self.log else { return };
        let merged = log.append(request.offset_bytes, bytes);
        self.streams.add(request.offset_bytes, request.end_bytes());
        if merged > 0 {
            world.count(self.words.merges, merged);
            let unit_bytes = self.values.unit_bytes;
            let unit_ns = self.copy_out_ns(unit_bytes).saturating_add(self.program_ns(unit_bytes));
            let erased = self.values.erase_ns as f64 * unit_bytes as f64 / self.erase_bytes as f64;
            let merge_ns = unit_ns.saturating_add(erased as u64).saturating_mul(merged);
            self.media.take(from_ns, merge_ns, self.words.merge);
        }
        self.log_pending_bytes += bytes;
        let programmed_bytes = self.log_pending_bytes - self.log_pending_bytes % self.values.stripe_bytes;
        self.log_pending_bytes -= programmed_bytes;
        self.work(from_ns, FlashWork { programmed_bytes, ..FlashWork::default() }, Reason::Asked, world);
    }

    fn write(&mut self, job: JobId, from_ns: u64, world: &mut World) -> u64 {
        let request = world.request(job);
        let at_bytes = request.offset_bytes;
        if at_bytes % self.values.unit_bytes + u64::from(request.length_bytes) > self.values.unit_bytes {
            world.count(self.words.straddles, 1);
        }
        self.read_end_bytes = None;
        let in_run = self.run.end_bytes() == Some(at_bytes);
        let in_superblock = self.superblocks.as_ref().is_some_and(|run| run.end_bytes() == Some(at_bytes));
        let turned = self.turned_at_bytes == Some(at_bytes);
        let proved = self.log.is_none() || self.streams.length_bytes(at_bytes) >= self.values.run_bytes;
        if in_run || in_superblock || turned || proved {
            if !in_run {
                self.open(from_ns, at_bytes, world);
            }
            self.extend(from_ns, &request, world);
        } else {
            self.append(from_ns, &request, world);
        }
        self.buffer.note((at_bytes, request.end_bytes(), request.number));
        if request.fua {
            self.close(from_ns, Reason::Complete, world);
        }
        let end_ns = self.media.free_ns().max(from_ns);
        let bytes = u64::from(request.length_bytes);
        let fits_ns = self.buffer.add(from_ns, end_ns, bytes, self.values.program_bytes_per_s);
        let fits_ns = if request.fua { end_ns } else { fits_ns };
        self.media.charge(job, fits_ns, world);
        fits_ns
    }

    fn read(&mut self, job: JobId, from_ns: u64, world: &mut World) -> u64 {
        let request = world.request(job);
        if self.values.read_closes {
            if let Some(end_bytes) = self.run.end_bytes() {
                self.turned_at_bytes = Some(end_bytes);
                world.count(self.words.turns, 1);
            }
            self.close(from_ns, Reason::Turn, world);
        }
        if !self.values.read_ahead || self.read_end_bytes != Some(request.offset_bytes) {
            self.media.take(from_ns, self.values.access_ns, self.words.access);
        }
        self.read_end_bytes = Some(request.end_bytes());
        let read_ns = transfer_ns(u64::from(request.length_bytes), self.values.read_bytes_per_s);
        let end_ns = self.media.take(from_ns, read_ns, self.words.read);
        self.media.charge(job, end_ns, world);
        end_ns
    }
}

impl Layer for Coarse {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let start_ns = self.free_ns.max(world.now_ns());
        let from_ns = start_ns.saturating_add(self.values.command_ns);
        world.charge(job, self.words.waiting, start_ns);
        world.charge(job, self.words.command, from_ns);
        self.media.forget(from_ns);
        let request = world.request(job);
        self.free_ns = match request.kind {
            RequestKind::Read => self.read(job, from_ns, world),
            RequestKind::Write | RequestKind::WriteZeroes => self.write(job, from_ns, world),
            RequestKind::Flush => {
                self.close(from_ns, Reason::Complete, world);
                let end_ns = self.media.free_ns().max(from_ns);
                self.media.charge(job, end_ns, world);
                end_ns
            }
            RequestKind::Trim => {
                if let (true, Some(log)) = (self.values.trim, &mut self.log) {
                    log.forget(request.offset_bytes, u64::from(request.length_bytes));
                }
                from_ns
            }
        };
        world.finish_at(self.free_ns, job);
    }

    fn knows(&self, kind: RequestKind) -> bool {
        match kind {
            RequestKind::Trim => self.values.trim,
            kind => kind != RequestKind::WriteZeroes,
        }
    }

    /// Upper limit: bytes that wait for the rest of a stripe may also be counted as in progress.
    fn at_risk(&self, now_ns: u64) -> AtRisk {
        let pending = self.run.pending_bytes().saturating_add(self.log_pending_bytes);
        AtRisk::all(self.buffer.latest(self.buffer.bytes(now_ns).saturating_add(pending)), false)
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests;
