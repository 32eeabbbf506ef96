//! A hard disk: a command queue, a read buffer and a write cache.
//!
//! The model: each command has an overhead, which overlaps with waiting for other commands.
//! Buffered data are served from the buffer, and writes that fit go into the write cache.
//! Everything else needs the arm, one command at a time. With a queue, the command whose first
//! sector can be reached soonest is next (shortest positioning time first), unless the oldest has
//! waited too long. Without a queue, commands run in order of arrival. When no command needs the
//! arm, the write cache is written back in ascending order. During a flush, no other command starts
//! until the write cache is empty.
//!
//! Not modelled: reading the rest of a track before the first requested sector, errors and retries,
//! and temperature.

use super::dirty::Dirty;
use super::geometry::SectorPlace;
use super::layout;
use super::mechanism::{Access, BufferedMechanism, Causes, Read};
use super::params::{DISK_PARAMETERS, Handling, Values};
use crate::build::{Builder, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::ranges::AtRisk;
use crate::schema::HOUR_NS;
use crate::settings::{Live, Setting};
use crate::timeline::transfer_ns;
use crate::vocabulary::page;
use crate::world::{JobId, RequestKind, World};
use kurabe_core::{Result, Text, text};

/// Hard disk: `disk` in device files.
pub const DISK: LayerKind = LayerKind::new(page!("disk"), "disk", Below::Nothing, DISK_PARAMETERS, build);

/// A command that has not started.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    job: JobId,
    arrived_ns: u64,
    write: bool,
    first: u64,
    end: u64,
    place: SectorPlace,
    /// For a write: whether it must reach the medium.
    fua: bool,
    /// Whether this is a further piece of a command that was already processed.
    continues: bool,
}

/// The resource that a command needs to start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Arm,
    Room,
}

/// Overheads of a command, by its kind and by whether it hits the cache.
#[derive(Clone, Copy, Debug)]
struct Overheads {
    read_hit_ns: u64,
    read_ns: u64,
    write_cached_ns: u64,
    write_ns: u64,
}

impl Overheads {
    fn measured(builder: &Builder<'_>, rows: &[Vec<f64>]) -> Result<Option<[Self; 2]>> {
        let ns = |ms: f64| ((ms * 1e6).round() as u64).min(HOUR_NS);
        let row = |row: &Vec<f64>| Self {
            read_hit_ns: ns(row[0]),
            read_ns: ns(row[1]),
            write_cached_ns: ns(row[2]),
            write_ns: ns(row[3]),
        };
        match rows {
            [] => Ok(None),
            [after_read, after_write] => Ok(Some([row(after_read), row(after_write)])),
            _ => Err(builder.error(
                "overheads",
                &text!(
                    "expected two rows: after a read and after a write",
                    "読み出しの直後と書き込みの直後の 2 行が必要です"
                ),
            )),
        }
    }
}

#[derive(Clone)]
struct Drive {
    reader: BufferedMechanism,
    sector_bytes: u64,
    /// Overheads of a measured drive, which replace the individual ones: after a read and after a
    /// write.
    measured: Option<[Overheads; 2]>,
    /// Whether the previous command was a write.
    after_write: bool,
    dirty: Dirty,
    queue: Vec<Waiting>,
    flushes: Vec<JobId>,
    /// Time at which the arm is free, and the sector where it then is.
    arm_free_ns: u64,
    arm_sector: u64,
    /// End of the previous command; without a queue, no command starts earlier.
    front_free_ns: u64,
    /// Number of sectors being written back.
    leaving: u64,
    /// Start of the last write-back, and its phases.
    back: (u64, Access),
    /// Time of the next wake-up; `u64::MAX` without one.
    woken_ns: u64,
    handling: Handling,
    values: Values,
    causes: Causes,
    counters: Counters,
}

words! {
    struct Counters from "disk" {
        hits: counter("hits");
        written_back: counter("written-back");
    }
}

/// Builds a hard disk.
fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let (reader, sector_bytes, capacity_bytes) = layout::reader(builder, values.segments)?;
    let cache = if values.write_cache { values.write_cache_size_bytes / sector_bytes } else { 0 };
    let drive = Drive {
        reader,
        sector_bytes,
        measured: Overheads::measured(builder, &values.overheads)?,
        after_write: false,
        dirty: Dirty::new(cache),
        queue: Vec::new(),
        flushes: Vec::new(),
        arm_free_ns: 0,
        arm_sector: 0,
        front_free_ns: 0,
        leaving: 0,
        back: (0, Access::default()),
        woken_ns: u64::MAX,
        handling: Handling::new(builder),
        values,
        causes: Causes::new(builder),
        counters: Counters::new(builder),
    };
    Ok(Built::new(drive, capacity_bytes))
}

impl Drive {
    /// Returns the resource that a command needs at this moment.
    fn needs(&mut self, command: &Waiting, now_ns: u64) -> Needs {
        let sectors = command.end - command.first;
        if command.write {
            return match () {
                () if self.goes_through(command) => Needs::Arm,
                () if self.dirty.has_room(sectors) => Needs::Nothing,
                () => Needs::Room,
            };
        }
        let here = self.dirty.holds(command.first, command.end)
            || self.reader.holds(now_ns, command.first, command.end);
        if here { Needs::Nothing } else { Needs::Arm }
    }

    /// Returns whether a write bypasses the write cache.
    fn goes_through(&self, command: &Waiting) -> bool {
        let must_leave = command.fua && !self.values.write_cache_kept;
        must_leave || command.end - command.first > self.dirty.capacity()
    }

    /// Returns the index of the command that can start now.
    fn choose(&mut self, now_ns: u64) -> Option<usize> {
        let arm_is_free = self.arm_free_ns <= now_ns;
        // With one command there is nothing to choose.
        let in_order = self.values.queue_depth == 1;
        if in_order || self.queue.len() < 2 {
            let may_start = !in_order || self.front_free_ns <= now_ns;
            let command = *self.queue.first().filter(|_| may_start)?;
            let needs = self.needs(&command, now_ns);
            return (needs == Needs::Nothing || (needs == Needs::Arm && arm_is_free)).then_some(0);
        }
        // The queue is in order of arrival. Once its first command has waited too long, no other one may take
        // the arm or the room before it: commands that follow in the buffer move the arm without end.
        let oldest = self.queue.first().copied();
        if let Some(oldest) = oldest.filter(|one| now_ns - one.arrived_ns >= self.values.age_limit_ns) {
            match self.needs(&oldest, now_ns) {
                Needs::Nothing => return Some(0),
                Needs::Arm => return arm_is_free.then_some(0),
                Needs::Room if !self.dirty.is_empty() => return None,
                Needs::Room => {}
            }
        }
        let mut best: Option<(u64, usize)> = None;
        for index in 0..self.queue.len().min(self.values.queue_depth as usize) {
            let command = self.queue[index];
            match self.needs(&command, now_ns) {
                Needs::Nothing => return Some(index),
                Needs::Arm if arm_is_free => {}
                Needs::Arm | Needs::Room => continue,
            }
            let goes_on = !command.write && self.reader.joins(now_ns, command.first);
            let mechanism = &self.reader.mechanism;
            let reach_ns =
                if goes_on { now_ns } else { mechanism.reach_ns(&command.place, now_ns, command.write) };
            if best.is_none_or(|(best_ns, _)| reach_ns < best_ns) {
                best = Some((reach_ns, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// Starts every command that can start.
    fn pump(&mut self, world: &mut World) {
        let now_ns = world.now_ns();
        if self.leaving > 0 && self.arm_free_ns <= now_ns {
            self.dirty.arrived();
            self.leaving = 0;
        }
        loop {
            if !self.flushes.is_empty() && self.dirty.sectors() == 0 {
                self.end_flushes(world);
                continue;
            }
            let chosen = if self.flushes.is_empty() { self.choose(now_ns) } else { None };
            if let Some(index) = chosen {
                let command = self.queue.remove(index);
                self.start(command, world);
            } else if self.arm_free_ns <= now_ns && self.back_from_ns(now_ns) <= now_ns {
                self.write_back(world);
            } else {
                break;
            }
        }
        let idle = self.queue.is_empty() && self.flushes.is_empty() && self.dirty.sectors() == 0;
        if !idle {
            let next = [self.arm_free_ns, self.front_free_ns, self.back_from_ns(now_ns)];
            let next = next.into_iter().filter(|at_ns| *at_ns > now_ns).min();
            if let Some(at_ns) = next.filter(|at_ns| *at_ns < self.woken_ns) {
                self.woken_ns = at_ns;
                world.wake_at(at_ns, at_ns);
            }
        }
    }

    /// Returns the time at which the write cache may use the arm. After a read the head reads on
    /// first, unless a command waits: otherwise a sequential read would lose the arm in every pause
    /// between two requests.
    fn back_from_ns(&mut self, now_ns: u64) -> u64 {
        if self.dirty.is_empty() {
            return u64::MAX;
        }
        if self.after_write {
            return now_ns;
        }
        let nobody_waits = self.queue.is_empty() && self.flushes.is_empty();
        let reads_until_ns = if nobody_waits { self.reader.reads_until_ns(now_ns) } else { 0 };
        self.front_free_ns.max(reads_until_ns)
    }

    fn end_flushes(&mut self, world: &mut World) {
        let end_ns = world.now_ns() + self.overheads().write_ns;
        for job in std::mem::take(&mut self.flushes) {
            world.charge(job, self.causes.flush, world.now_ns());
            world.charge(job, self.causes.command, end_ns);
            world.finish_at(end_ns, job);
        }
    }

    fn write_back(&mut self, world: &mut World) {
        let now_ns = world.now_ns();
        let most_sectors = (self.values.write_back_bytes / self.sector_bytes).max(1);
        let Some((first, end)) = self.dirty.leave(self.arm_sector, most_sectors) else { return };
        let access = self.reader.write(now_ns, now_ns, now_ns, first, end);
        (self.arm_free_ns, self.arm_sector, self.leaving) = (access.end_ns, end, end - first);
        self.back = (now_ns, access);
        world.count(self.counters.written_back, 1);
    }

    fn start(&mut self, command: Waiting, world: &mut World) {
        let Waiting { job, arrived_ns, write, first, end, continues, .. } = command;
        let now_ns = world.now_ns();
        let bytes_ns = transfer_ns((end - first) * self.sector_bytes, self.handling.buffer_bytes_per_s);
        let room = write && !self.goes_through(&command);
        self.charge_waiting(job, room, world);
        let end_ns = if write {
            let overhead_ns = match continues {
                true => 0,
                false if room => self.overheads().write_cached_ns,
                false => self.overheads().write_ns,
            };
            let ready_ns = now_ns.max(arrived_ns + overhead_ns);
            world.charge(job, self.causes.command, ready_ns);
            let there_ns = if room {
                if self.dirty.is_empty() {
                    self.arm_free_ns = self.arm_free_ns.max(ready_ns);
                }
                self.dirty.add(first, end, world.request(job).number);
                self.reader.forget(first, end);
                if self.values.writes_empty_segments {
                    self.reader.empty(now_ns);
                }
                world.charge(job, self.causes.memory, ready_ns + bytes_ns);
                ready_ns + bytes_ns
            } else {
                self.dirty.remove(first, end);
                let sectors = (end - first).max(1) as f64;
                let most = self.values.write_start_most_bytes as f64 / self.sector_bytes as f64;
                let share = self.values.write_start.min(most / sectors);
                let data_ns = ready_ns + (bytes_ns as f64 * share).round() as u64;
                let access = self.reader.write(ready_ns, data_ns, ready_ns + bytes_ns, first, end);
                self.use_arm(job, &access, end, world);
                access.end_ns
            };
            let done_ns = there_ns + self.values.write_end_ns;
            world.charge(job, self.causes.command, done_ns);
            done_ns
        } else {
            self.start_read(&command, bytes_ns, world)
        };
        (self.front_free_ns, self.after_write) = (end_ns, write);
        world.finish_at(end_ns, job);
    }

    fn overheads(&self) -> Overheads {
        let Handling { read_overhead_ns, write_overhead_ns, .. } = self.handling;
        let single = Overheads {
            read_hit_ns: self.values.read_hit_overhead_ns,
            read_ns: read_overhead_ns,
            write_cached_ns: write_overhead_ns,
            write_ns: write_overhead_ns,
        };
        self.measured.map_or(single, |rows| rows[usize::from(self.after_write)])
    }

    /// Charges the time until now: first to other commands, then to the arm's last write-back.
    fn charge_waiting(&self, job: JobId, room: bool, world: &mut World) {
        let now_ns = world.now_ns();
        let (began_ns, access) = self.back;
        if room {
            world.charge(job, self.causes.room, now_ns);
        } else if access.end_ns == now_ns {
            world.charge(job, self.causes.waiting, began_ns);
            world.charge(job, self.causes.seek, access.sought_ns);
            world.charge(job, self.causes.rotation, access.turned_ns);
            world.charge(job, self.causes.back, now_ns);
        }
        world.charge(job, self.causes.waiting, now_ns);
    }

    /// Starts a read and returns its end.
    fn start_read(&mut self, command: &Waiting, bytes_ns: u64, world: &mut World) -> u64 {
        let Waiting { job, arrived_ns, first, end, continues, .. } = *command;
        let (now_ns, sectors) = (world.now_ns(), (end - first).max(1));
        let written = self.dirty.holds(first, end);
        let near = written || self.reader.joins(now_ns, first);
        let overhead_ns = match continues {
            true => 0,
            false if near => self.overheads().read_hit_ns,
            false => self.overheads().read_ns,
        };
        let ready_ns = now_ns.max(arrived_ns + overhead_ns);
        world.charge(job, self.causes.command, ready_ns);
        let arm_ns = if continues { now_ns } else { now_ns.max(arrived_ns + self.overheads().read_ns) };
        let moved_ns = ready_ns + bytes_ns;
        let read = if written { Read::Hit } else { self.reader.read(ready_ns, arm_ns, first, end) };
        let end_ns = match read {
            Read::Hit => {
                world.count(self.counters.hits, 1);
                moved_ns
            }
            Read::Follows(there_ns) => {
                (self.arm_free_ns, self.arm_sector) = (self.arm_free_ns.max(there_ns), end);
                let passed_ns = there_ns + bytes_ns / sectors;
                // Sectors that pass the head while the buffer still transfers earlier ones cost no
                // extra time.
                if passed_ns > moved_ns {
                    world.charge(job, self.causes.transfer, there_ns);
                }
                moved_ns.max(passed_ns)
            }
            Read::Rest(access) => {
                self.use_arm(job, &access, end, world);
                moved_ns.max(access.end_ns + bytes_ns / sectors)
            }
            Read::Access(access) => {
                self.use_arm(job, &access, end, world);
                let begins_with = ((sectors as f64 * self.values.read_start) as u64).max(1);
                access.taken_ns(sectors, begins_with, self.values.reconnect_ns, bytes_ns)
            }
        };
        world.charge(job, self.causes.memory, end_ns);
        let done_ns = end_ns + self.values.read_end_ns;
        world.charge(job, self.causes.command, done_ns);
        done_ns
    }

    fn use_arm(&mut self, job: JobId, access: &Access, end: u64, world: &mut World) {
        self.causes.charge(world, job, access);
        (self.arm_free_ns, self.arm_sector) = (access.end_ns, end);
    }
}

impl Layer for Drive {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let (request, now_ns) = (world.request(job), world.now_ns());
        let nothing = request.length_bytes == 0 || request.kind == RequestKind::Trim;
        if request.kind == RequestKind::Flush && !self.values.write_cache_kept {
            self.flushes.push(job);
        } else if nothing {
            let end_ns = now_ns + self.overheads().write_ns;
            world.charge(job, self.causes.command, end_ns);
            return world.finish_at(end_ns, job);
        } else {
            let first = request.offset_bytes / self.sector_bytes;
            self.queue.push(Waiting {
                job,
                arrived_ns: now_ns,
                write: request.kind.writes(),
                first,
                end: request.end_bytes().div_ceil(self.sector_bytes),
                place: self.reader.mechanism.geometry.place(first),
                fua: request.fua,
                continues: request.continues,
            });
        }
        self.pump(world);
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn wake(&mut self, at_ns: u64, world: &mut World) {
        if at_ns == self.woken_ns {
            self.woken_ns = u64::MAX;
        }
        self.pump(world);
    }

    fn waits_for(&self) -> Option<Text> {
        let waits = !self.queue.is_empty() || !self.flushes.is_empty();
        waits.then(|| text!("its arm", "アームの空き"))
    }

    fn at_risk(&self, _now_ns: u64) -> AtRisk {
        let sectors = AtRisk::all(self.dirty.at_risk(), self.values.write_cache_kept);
        let bytes = |sector: u64| sector * self.sector_bytes;
        sectors.moved(|(first, end, number), all| {
            all.add(bytes(first), bytes(end), number);
        })
    }

    fn change(&mut self, setting: &Setting) {
        match setting.parameter.key {
            "read_overhead" | "write_overhead" | "buffer_rate" => self.handling.change(setting),
            _ => self.values.change(setting),
        }
    }
}
