//! Flash devices with little memory: USB sticks and the SSDs of the first years, which map large units.
//!
//! The model: one command at a time; all dies work together (`coarse/media.rs`); writes in order fill mapping units, and
//! what a run leaves of a unit is copied (`coarse/run.rs`). With a log buffer scattered writes go into that first and are
//! merged later (`coarse/log.rs`). A write is acknowledged when it fits into memory (`coarse/buffer.rs`). Where the
//! firmware closes the open unit as soon as something is read, every turn from writing to reading and back costs the
//! copying of what is missing. The device is in use: every unit holds data.
//!
//! Not modelled: wear levelling, bad blocks, work in the background while nothing is asked, reads that pass programs on
//! other dies, and the slower reading of what was written scattered.

mod buffer;
mod kind;
mod log;
mod media;
mod run;

pub use kind::COARSE;

use crate::account::{Cause, Counter};
use crate::layer::Layer;
use crate::ranges::AtRisk;
use crate::world::{JobId, Kind, Request, World};
use buffer::WriteBuffer;
use log::{Log, Streams};
use media::Media;
use run::{Run, Work};

/// What the time goes to.
#[derive(Clone, Debug)]
struct Causes {
    waiting: Cause,
    command: Cause,
    access: Cause,
    read: Cause,
    program: Cause,
    erase: Cause,
    complete: Cause,
    turn: Cause,
    merge: Cause,
}

/// What is counted.
#[derive(Clone, Debug)]
struct Counters {
    completions: Counter,
    straddles: Counter,
    turns: Counter,
    merges: Counter,
}

/// What the flash does beyond what was asked, in turn with the reason.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Bytes of the host.
    Asked,
    /// A run began or ended within a unit.
    Complete,
    /// A read came between writes.
    Turn,
}

#[derive(Clone)]
struct Coarse {
    capacity_bytes: u64,
    unit_bytes: u64,
    /// Bytes that are erased together.
    erase_bytes: u64,
    erase_ns: u64,
    command_ns: u64,
    read_ahead: bool,
    read_closes: bool,
    trim: bool,
    /// When the command before is over.
    free_ns: u64,
    media: Media,
    buffer: WriteBuffer,
    run: Run,
    /// The run once more, in units that only a write elsewhere closes.
    superblocks: Option<Run>,
    log: Option<Log>,
    /// Writes that go on in order for so many bytes are a run, and leave the log.
    run_bytes: u64,
    streams: Streams,
    /// Bytes of the log that do not fill a stripe yet.
    log_pending_bytes: u64,
    /// The byte after the last one read, if nothing was written since.
    read_end_bytes: Option<u64>,
    /// Where a read closed the run.
    turned_at_bytes: Option<u64>,
    causes: Causes,
    counters: Counters,
}

impl Coarse {
    /// Has the flash do what a run needs.
    fn work(&mut self, from_ns: u64, work: Work, why: Why, world: &mut World) {
        let (program, erase, copy) = match why {
            Why::Asked => (self.causes.program, self.causes.erase, self.causes.complete),
            Why::Complete => (self.causes.complete, self.causes.complete, self.causes.complete),
            Why::Turn => (self.causes.turn, self.causes.turn, self.causes.turn),
        };
        if work.copied_bytes > 0 {
            world.count(self.counters.completions, 1);
            self.media.take(from_ns, self.media.copy_out_ns(work.copied_bytes), copy);
        }
        self.media.take(from_ns, self.erase_ns.saturating_mul(work.erased), erase);
        if work.programmed_bytes > 0 {
            self.media.take(from_ns, self.media.program_ns(work.programmed_bytes), program);
        }
    }

    /// Closes the open unit.
    fn close(&mut self, from_ns: u64, why: Why, world: &mut World) {
        let padded = self.run.close();
        self.work(from_ns, padded, why, world);
        if self.log_pending_bytes > 0 {
            let programmed_bytes = self.media.whole_stripes(self.log_pending_bytes);
            self.log_pending_bytes = 0;
            self.work(from_ns, Work { programmed_bytes, ..Work::default() }, why, world);
        }
    }

    /// Closes or opens the superblock of a run, whose bytes are programmed with those of the run.
    fn superblock(&mut self, from_ns: u64, work: Work, world: &mut World) {
        let programmed_bytes = self.media.whole_stripes(work.copied_bytes);
        self.work(from_ns, Work { programmed_bytes, ..work }, Why::Complete, world);
    }

    /// Begins a run at a byte at which none is open.
    fn open(&mut self, from_ns: u64, at_bytes: u64, world: &mut World) {
        let goes_on = self.superblocks.as_ref().is_some_and(|run| run.end_bytes() == Some(at_bytes));
        if !goes_on && let Some(mut blocks) = self.superblocks.take() {
            let closed = blocks.close();
            self.superblock(from_ns, closed, world);
            let opened = blocks.open(at_bytes);
            self.superblock(from_ns, opened, world);
            self.superblocks = Some(blocks);
        }
        let why = if self.turned_at_bytes == Some(at_bytes) { Why::Turn } else { Why::Complete };
        self.turned_at_bytes = None;
        self.close(from_ns, Why::Complete, world);
        let mut opened = self.run.open(at_bytes);
        if self.superblocks.is_some() {
            opened.erased = 0;
        }
        self.work(from_ns, opened, why, world);
    }

    /// Goes on with the open run.
    fn extend(&mut self, from_ns: u64, request: &Request, world: &mut World) {
        let bytes = u64::from(request.length_bytes);
        let mut work = self.run.extend(bytes);
        if let Some(blocks) = &mut self.superblocks {
            work.erased = blocks.extend(bytes).erased;
        }
        self.work(from_ns, work, Why::Asked, world);
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
            world.count(self.counters.merges, merged);
            let unit_ns = self
                .media
                .copy_out_ns(self.unit_bytes)
                .saturating_add(self.media.program_ns(self.unit_bytes));
            let erased = self.erase_ns as f64 * self.unit_bytes as f64 / self.erase_bytes as f64;
            let merge_ns = unit_ns.saturating_add(erased as u64).saturating_mul(merged);
            self.media.take(from_ns, merge_ns, self.causes.merge);
        }
        self.log_pending_bytes += bytes;
        let programmed_bytes = self.log_pending_bytes - self.log_pending_bytes % self.media.stripe_bytes;
        self.log_pending_bytes -= programmed_bytes;
        self.work(from_ns, Work { programmed_bytes, ..Work::default() }, Why::Asked, world);
    }

    fn write(&mut self, job: JobId, from_ns: u64, world: &mut World) -> u64 {
        let request = world.request(job);
        let at_bytes = request.offset_bytes;
        if at_bytes % self.unit_bytes + u64::from(request.length_bytes) > self.unit_bytes {
            world.count(self.counters.straddles, 1);
        }
        self.read_end_bytes = None;
        let in_run = self.run.end_bytes() == Some(at_bytes);
        let in_superblock = self.superblocks.as_ref().is_some_and(|run| run.end_bytes() == Some(at_bytes));
        let turned = self.turned_at_bytes == Some(at_bytes);
        let proved = self.log.is_none() || self.streams.length_bytes(at_bytes) >= self.run_bytes;
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
            self.close(from_ns, Why::Complete, world);
        }
        let end_ns = self.media.free_ns().max(from_ns);
        let fits_ns = self.buffer.add(from_ns, end_ns, u64::from(request.length_bytes));
        let fits_ns = if request.fua { end_ns } else { fits_ns };
        self.media.charge(job, fits_ns, world);
        fits_ns
    }

    fn read(&mut self, job: JobId, from_ns: u64, world: &mut World) -> u64 {
        let request = world.request(job);
        if self.read_closes {
            if let Some(end_bytes) = self.run.end_bytes() {
                self.turned_at_bytes = Some(end_bytes);
                world.count(self.counters.turns, 1);
            }
            self.close(from_ns, Why::Turn, world);
        }
        if !self.read_ahead || self.read_end_bytes != Some(request.offset_bytes) {
            self.media.take(from_ns, self.media.access_ns, self.causes.access);
        }
        self.read_end_bytes = Some(request.end_bytes());
        let read_ns = self.media.read_ns(u64::from(request.length_bytes));
        let end_ns = self.media.take(from_ns, read_ns, self.causes.read);
        self.media.charge(job, end_ns, world);
        end_ns
    }
}

impl Layer for Coarse {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn arrive(&mut self, job: JobId, world: &mut World) {
        let start_ns = self.free_ns.max(world.now_ns());
        let from_ns = start_ns.saturating_add(self.command_ns);
        world.charge(job, self.causes.waiting, start_ns);
        world.charge(job, self.causes.command, from_ns);
        self.media.forget(from_ns);
        let request = world.request(job);
        self.free_ns = match request.kind {
            Kind::Read => self.read(job, from_ns, world),
            Kind::Write | Kind::WriteZeroes => self.write(job, from_ns, world),
            Kind::Flush => {
                self.close(from_ns, Why::Complete, world);
                let end_ns = self.media.free_ns().max(from_ns);
                self.media.charge(job, end_ns, world);
                end_ns
            }
            Kind::Trim => {
                if let (true, Some(log)) = (self.trim, &mut self.log) {
                    log.forget(request.offset_bytes, u64::from(request.length_bytes));
                }
                from_ns
            }
        };
        world.finish_at(self.free_ns, job);
    }

    /// No more than this: what waits for the rest of a stripe may be counted with what the flash is at.
    fn at_risk(&self, now_ns: u64) -> AtRisk {
        let pending = self.run.pending_bytes().saturating_add(self.log_pending_bytes);
        AtRisk::all(self.buffer.latest(self.buffer.bytes(now_ns).saturating_add(pending)), false)
    }
}

#[cfg(test)]
mod tests;
