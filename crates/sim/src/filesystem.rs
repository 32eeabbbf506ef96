//! A file system, as far as it determines the requests that a device receives.
//!
//! The model: the file system allows a limited number of requests in flight; each takes the
//! processor some time before it is ready. A limited number of the ready commands are with the
//! device driver. The others wait in its queue, where contiguous ones are merged into one command.
//! So a file system that allows a single request in flight gives the queue nothing to merge. Data
//! begin at an offset that may not be aligned to a unit of the device. Every so many written bytes
//! the file system writes its own metadata: a journal, a table, the nodes of its tree. With copy on
//! write no data are overwritten: new data go to the next free location, in order.
//!
//! Not modelled: a page cache, fragmentation of files, reads of metadata, and that data are read
//! from their new location after copy on write.

use crate::account::Cause;
use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::ranges::{AtRisk, Ranges};
use crate::schema::LONGEST_BYTES;
use crate::settings::{Live, Setting};
use crate::timeline::Timeline;
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// File system: `filesystem` in device files.
pub const FILESYSTEM: LayerKind =
    LayerKind::new(page!("filesystem"), "filesystem", Below::One, PARAMETERS, build).of_host();

parameters! {
    struct Values, PARAMETERS from "filesystem" {
        "in_flight" in_flight: Count(1, 65_536), usual("256", "assumed: the file system sets no limit").live();
        "start" start_bytes: SIZE, usual("1 MiB", "assumed: where partitions begin since about 2008");
        "commands" commands: Count(1, 65_536), usual("256", "assumed: more than any device here takes").live();
        "largest_command" largest_command_bytes: Bytes(0, LONGEST_BYTES),
            usual("1 MiB", "assumed: the usual limit").live();
        "gap" gap_ns: Time, usual("0 ns", "assumed: small beside the device").live();
        "metadata_every" metadata_every_bytes: SIZE, usual("0 B", "assumed: data are overwritten in place");
        "metadata" metadata_bytes: Bytes(1, LONGEST_BYTES), usual("4 KiB", "assumed: a page");
        "copy_on_write" copy_on_write: Flag, usual("false", "assumed: files are overwritten in place");
        "allocation" allocation_bytes: SOME_SIZE, usual("4 KiB", "assumed: the usual unit");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let start_bytes = values.start_bytes;
    let below_bytes = builder.below_bytes();
    if start_bytes >= below_bytes {
        let what = text!(
            "the data must begin before the end of the device",
            "データの開始位置がデバイスの終わりを超えています"
        );
        return Err(builder.error("start", &what));
    }
    if values.metadata_every_bytes > 0 && values.metadata_bytes > start_bytes {
        let what = text!(
            "what the file system writes of its own lies before the data: no more than `start`",
            "ファイルシステム自身の情報はデータの前に置かれるので、`start` 以下です"
        );
        return Err(builder.error("metadata", &what));
    }
    let capacity_bytes = below_bytes - start_bytes;
    let layer = FileSystemLayer {
        below: builder.only_below(),
        capacity_bytes,
        copy_on_write: values
            .copy_on_write
            .then(|| NextPlace { allocation_bytes: values.allocation_bytes, ..NextPlace::default() }),
        device_in_turn: builder.below_in_turn(),
        words: Words::new(builder),
        values,
        ..FileSystemLayer::default()
    };
    Ok(Built::new(layer, capacity_bytes))
}

words! {
    /// Causes and counters.
    struct Words from "filesystem" {
        one_by_one: cause("one-by-one");
        admission: line("admission");
        host: cause("host");
        queue: line("queue");
        riding: line("merged");
        merged: counter("merged");
        own_written: counter("own-writes");
    }
}

/// Allocation of locations for copy on write.
#[derive(Clone, Debug, Default)]
struct NextPlace {
    allocation_bytes: u64,
    next_bytes: u64,
    /// Latest allocations: offset in the file, offset on the device, length.
    latest: VecDeque<(u64, u64, u64)>,
}

/// Number of allocations recorded: more than any device below holds in its memory.
const MOST_LATEST: usize = 1 << 16;

impl NextPlace {
    /// Allocates the next location for bytes of the file and returns its offset.
    fn put(&mut self, file_bytes: u64, length_bytes: u64, capacity_bytes: u64) -> u64 {
        if self.next_bytes.saturating_add(length_bytes) > capacity_bytes {
            self.next_bytes = 0;
        }
        let place_bytes = self.next_bytes;
        match self.latest.back_mut() {
            Some((file, place, length))
                if (*file + *length, *place + *length) == (file_bytes, place_bytes) =>
            {
                *length += length_bytes;
            }
            _ => self.latest.push_back((file_bytes, place_bytes, length_bytes)),
        }
        if self.latest.len() > MOST_LATEST {
            self.latest.pop_front();
        }
        let end_bytes = place_bytes.saturating_add(length_bytes);
        self.next_bytes = end_bytes.div_ceil(self.allocation_bytes).saturating_mul(self.allocation_bytes);
        place_bytes
    }

    /// Returns the ranges at risk, limited to the latest version of each byte of the file.
    fn of_file(&self, places: &Ranges) -> Ranges {
        let (mut risk, mut newer) = (Ranges::default(), Ranges::default());
        for (file, place, length) in self.latest.iter().rev().copied() {
            let mut here: Ranges = (places.within(place, place + length))
                .map(|(from, to, number)| (from - place + file, to - place + file, number))
                .collect();
            newer.within(file, file + length).for_each(|(from, to, _)| drop(here.cut(from, to)));
            risk.extend(here.iter());
            newer.add(file, file + length, 0);
        }
        risk
    }
}

#[derive(Clone, Default)]
struct FileSystemLayer {
    below: LayerId,
    capacity_bytes: u64,
    /// Data bytes since the last metadata write, and the offset of the next one within the bytes
    /// before the data.
    since_bytes: u64,
    own_next_bytes: u64,
    copy_on_write: Option<NextPlace>,
    processor: Timeline,
    /// Requests in flight.
    under_way: u64,
    waiting: VecDeque<JobId>,
    /// Requests being processed, in order of the time at which they are ready.
    prepared: VecDeque<JobId>,
    ready: VecDeque<JobId>,
    commands: u64,
    /// Requests merged into a command in addition to its first, by the command's tag.
    riders: Vec<Vec<JobId>>,
    free_tags: Vec<usize>,
    /// Whether the device serves requests in order of arrival, so that it does not matter where
    /// they wait.
    device_in_turn: bool,
    /// The request admitted last.
    latest: Option<Request>,
    words: Words,
    values: Values,
}

impl FileSystemLayer {
    /// Admits requests, up to the limit in flight.
    fn admit(&mut self, world: &mut World) {
        while self.under_way < self.values.in_flight {
            let Some(job) = self.waiting.pop_front() else { return };
            self.under_way += 1;
            let admission = self.admission(world.request(job));
            let (start_ns, ready_ns) = self.processor.take(world.now_ns(), self.values.gap_ns);
            world.charge(job, admission, start_ns);
            world.charge(job, self.words.host, ready_ns);
            self.prepared.push_back(job);
            world.wake_at(ready_ns, 0);
        }
    }

    /// Returns the cause of a request's wait for admission. It is the file system's limit if the
    /// device would have accepted the request, or if the request would have been merged with the
    /// previous one; otherwise it is queueing for the device.
    fn admission(&mut self, request: Request) -> Cause {
        let before = self.latest.replace(request);
        let continues = before.is_some_and(|before| self.continues(&before, &request));
        if self.device_in_turn && !continues { self.words.admission } else { self.words.one_by_one }
    }

    /// Returns whether a request continues a command and fits into one command with it.
    fn continues(&self, command: &Request, next: &Request) -> bool {
        let length_bytes = u64::from(command.length_bytes) + u64::from(next.length_bytes);
        matches!(command.kind, RequestKind::Read | RequestKind::Write)
            && (next.kind, next.unit, next.offset_bytes, next.fua)
                == (command.kind, command.unit, command.end_bytes(), command.fua)
            && length_bytes <= self.values.largest_command_bytes
    }

    /// Passes commands to the driver, up to its limit.
    fn pump(&mut self, world: &mut World) {
        while self.commands < self.values.commands {
            let Some(first) = self.ready.pop_front() else { return };
            world.charge(first, self.words.queue, world.now_ns());
            let tag = self.free_tags.pop().unwrap_or(self.riders.len());
            if tag == self.riders.len() {
                self.riders.push(Vec::new());
            }
            let command = self.merge(tag, world.request(first), world);
            let command = self.place(command);
            self.commands += 1;
            world.send(first, self.below, command, tag as u64);
            if command.kind == RequestKind::Write {
                self.write_own(u64::from(command.length_bytes), world);
            }
        }
    }

    /// Returns the command that begins with a request, merged with the waiting requests that
    /// continue it.
    fn merge(&mut self, tag: usize, first: Request, world: &mut World) -> Request {
        let mut command = first;
        while let Some(next) = self.ready.front().copied() {
            let request = world.request(next);
            if !self.continues(&command, &request) {
                break;
            }
            command.length_bytes += request.length_bytes;
            command.identical &= request.identical;
            self.ready.pop_front();
            self.riders[tag].push(next);
            world.charge(next, self.words.queue, world.now_ns());
            world.count(self.words.merged, 1);
        }
        command
    }

    /// Returns the command with its offset on the device.
    fn place(&mut self, mut command: Request) -> Request {
        if let (RequestKind::Write, Some(place)) = (command.kind, &mut self.copy_on_write) {
            let length_bytes = u64::from(command.length_bytes);
            command.offset_bytes = place.put(command.offset_bytes, length_bytes, self.capacity_bytes);
            // At the new location, these are not the same bytes as before.
            command.identical = false;
        }
        if command.kind != RequestKind::Flush {
            command.offset_bytes += self.values.start_bytes;
        }
        command
    }

    /// Writes the metadata for this many more bytes; no request waits for it.
    fn write_own(&mut self, bytes: u64, world: &mut World) {
        let Values { metadata_every_bytes: every_bytes, metadata_bytes: length_bytes, .. } = self.values;
        self.since_bytes = self.since_bytes.saturating_add(bytes);
        if every_bytes == 0 || self.since_bytes < every_bytes {
            return;
        }
        self.since_bytes = 0;
        if self.own_next_bytes + length_bytes > self.values.start_bytes {
            self.own_next_bytes = 0;
        }
        let request = Request::new(RequestKind::Write, self.own_next_bytes, length_bytes as u32);
        self.own_next_bytes += length_bytes;
        world.count(self.words.own_written, 1);
        world.send_in_background(self.below, request, 0);
    }
}

impl Layer for FileSystemLayer {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        self.waiting.push_back(job);
        self.admit(world);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(first) = child.parent else { return };
        let tag = child.tag as usize;
        let mut riders = std::mem::take(&mut self.riders[tag]);
        self.under_way -= 1 + riders.len() as u64;
        self.commands -= 1;
        world.finish(first);
        for rider in riders.drain(..) {
            world.charge(rider, self.words.riding, world.now_ns());
            match child.error {
                Some(error) => world.fail(rider, error),
                None => world.finish(rider),
            }
        }
        // Reuse the memory.
        self.riders[tag] = riders;
        self.free_tags.push(tag);
        self.pump(world);
        self.admit(world);
    }

    fn wake(&mut self, _token: u64, world: &mut World) {
        self.ready.extend(self.prepared.pop_front());
        self.pump(world);
    }

    /// The file system's own writes are before the data and belong to no file.
    fn lift(&self, mut below: Vec<AtRisk>) -> Vec<AtRisk> {
        for risk in &mut below {
            *risk = risk.moved(|(from, to, number), data| {
                data.add(
                    from.max(self.values.start_bytes) - self.values.start_bytes,
                    to.saturating_sub(self.values.start_bytes),
                    number,
                );
            });
            if let Some(places) = &self.copy_on_write {
                *risk = AtRisk { lost: places.of_file(&risk.lost), saved: places.of_file(&risk.saved) };
            }
        }
        below
    }

    fn waits_for(&self) -> Option<Text> {
        (self.under_way > 0).then(|| text!("the device to end a command", "デバイスがコマンドを終えるの"))
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests;
