//! A parallel SCSI bus with its initiator (the computer's host adapter) and its target (the drive's electronics).
//!
//! The model: the bus is one timeline. A command takes selection and command phase, its data in
//! pieces through the target's buffer, and the status phase. An asynchronous transfer needs a
//! request and an acknowledgement for every byte, so the initiator's and the target's shares of a
//! byte's time add up. In a synchronous transfer, the slower of the two sets the rate; a target may
//! receive more slowly than it sends. Without overlap a piece is fetched from the medium, then
//! sent, and only then the next one is fetched.
//! Pipelined, there are several buffers, so that medium and bus work in parallel. A target that
//! disconnects leaves the bus to others while its medium works, and pays for the reconnection; one
//! that does not occupies it for the whole command.
//!
//! Not modelled: arbitration between several initiators, parity errors, and individual message
//! bytes.

#[cfg(test)]
mod tests;

use crate::account::Cause;
use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::schema::{HOUR_NS, ParameterScale, Relation};
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, whole_ns};
use crate::vocabulary::{entry, page};
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// Largest piece: the length of a request is a 32-bit number.
const LARGEST_PIECE_BYTES: u64 = 1 << 31;

const OVERLAPS: &[&str] = &["none", "pipelined"];

/// Parallel SCSI bus: `scsi` in device files.
pub const SCSI: LayerKind = LayerKind::new(page!("scsi"), "scsi", Below::One, PARAMETERS, build)
    .of_host()
    .related(&[Relation::Needs("tags", "disconnect")]);

parameters! {
    struct Values, PARAMETERS from "scsi" {
        "transfer" transfer: Word(&["asynchronous", "synchronous"]),
            usual("asynchronous", "SCSI-2 (X3.131-1994): the transfer without an agreement");
        "initiator_in" initiator_in: Number(0.0, 1e6),
            usual("100", "assumed: a host adapter of the nineties").scaled(ParameterScale::Log);
        "initiator_out" initiator_out: Number(0.0, 1e6),
            usual("100", "assumed: a host adapter of the nineties").scaled(ParameterScale::Log);
        "target_in" target_in: Number(0.0, 1e6),
            usual("100", "assumed: hardware of the nineties").scaled(ParameterScale::Log);
        "target_out" target_out: Number(0.0, 1e6),
            usual("100", "assumed: hardware of the nineties").scaled(ParameterScale::Log);
        "initiator_synchronous" initiator_synchronous_bytes_per_s: Rate,
            usual("10 MB/s", "SCSI-2 (X3.131-1994): fast, 8 bits wide");
        "target_synchronous" target_synchronous_bytes_per_s: Rate,
            usual("10 MB/s", "SCSI-2 (X3.131-1994): fast, 8 bits wide");
        "target_out_synchronous" target_out_synchronous_bytes_per_s: Rate,
            usual("1 GB/s", "assumed: writes are as fast as reads");
        "selection" selection_ns: Time,
            usual("5 us", "assumed: arbitration and selection take a few bus delays of 2.4 us and 400 ns").live();
        "command" command_ns: Time,
            usual("100 us", "assumed: ten bytes and their decoding by a slow processor").live();
        "status" status_ns: Time,
            usual("100 us", "assumed: status, message, and the interrupt of the computer").live();
        "disconnect" disconnect: Flag, usual("false", "assumed: emulators stay on the bus");
        "reconnect" reconnect_ns: Time,
            usual("20 us", "assumed: arbitration, reselection and an identify message").live();
        "tags" tags: Count(1, 256), usual("1", "assumed: no tagged queueing");
        "read_piece" read_piece_bytes: Bytes(1, LARGEST_PIECE_BYTES),
            usual("64 KiB", "assumed: the buffer of a drive");
        "write_piece" write_piece_bytes: Bytes(1, LARGEST_PIECE_BYTES),
            usual("64 KiB", "assumed: the buffer of a drive");
        "read_overlap" read_overlap: Word(OVERLAPS), usual("none", "assumed: one buffer");
        "write_overlap" write_overlap: Word(OVERLAPS), usual("none", "assumed: one buffer");
        "buffers" buffers: Count(2, 4096), usual("2", "assumed: one is filled while the other is emptied");
        "write_lead" write_lead_bytes: SIZE,
            usual("0 B", "assumed: the whole piece").derived_from(&["write_piece"]);
        "write_cache" write_cache: Flag, usual("false", "assumed: the drive reports none");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let tags = values.tags as usize;
    let scsi = Scsi {
        below: builder.only_below(),
        data_in: direction(builder, &values, true),
        data_out: direction(builder, &values, false),
        commands: vec![None; tags],
        sent: vec![VecDeque::new(); tags],
        causes: Causes::new(builder),
        values,
        ..Scsi::default()
    };
    let built = Built { units: builder.below[0].units, ..Built::new(scsi, builder.below_bytes()) };
    Ok(built.in_turn_if(tags == 1))
}

fn direction(builder: &mut Builder<'_>, values: &Values, read: bool) -> DataPhase {
    let synchronous = values.transfer == "synchronous";
    let (shares, piece_bytes, overlap) = if read {
        (values.initiator_in + values.target_in, values.read_piece_bytes, values.read_overlap)
    } else {
        (values.initiator_out + values.target_out, values.write_piece_bytes, values.write_overlap)
    };
    let both_ways = values.initiator_synchronous_bytes_per_s.min(values.target_synchronous_bytes_per_s);
    let slower = if read { both_ways } else { both_ways.min(values.target_out_synchronous_bytes_per_s) };
    let ns_per_byte = if synchronous { 1e9 / slower } else { shares };
    let buffers = if overlap == "pipelined" { values.buffers as usize } else { 1 };
    // Only an asynchronous bus transfers byte by byte.
    let texts = match (read, synchronous) {
        (true, false) => entry!("scsi", "cause", "data-in"),
        (true, true) => entry!("scsi", "cause", "data-in synchronous"),
        (false, false) => entry!("scsi", "cause", "data-out"),
        (false, true) => entry!("scsi", "cause", "data-out synchronous"),
    };
    let cause = builder.cause(if read { "data-in" } else { "data-out" }, texts);
    DataPhase { ns_per_byte, piece_bytes, buffers, cause }
}

/// How the target transfers data of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct DataPhase {
    /// Time per byte on the bus.
    ns_per_byte: f64,
    piece_bytes: u64,
    /// Pieces that may be in the target: 1 without overlap.
    buffers: usize,
    cause: Cause,
}

/// A command in progress.
#[derive(Clone, Copy, Debug)]
struct ActiveCommand {
    job: JobId,
    /// Range still to be requested from the medium (read) or to be sent over the bus (write).
    next_bytes: u64,
    end_bytes: u64,
    /// Pieces at the medium.
    out: u32,
    /// Time at which its latest piece, or the command itself, has passed the bus.
    sent_ns: u64,
}

#[derive(Clone, Default)]
struct Scsi {
    below: LayerId,
    data_in: DataPhase,
    data_out: DataPhase,
    bus: Timeline,
    /// Commands in progress, by slot; a single slot without tagged queueing.
    commands: Vec<Option<ActiveCommand>>,
    /// For reads: times at which the latest pieces in the buffers have passed the bus.
    sent: Vec<VecDeque<u64>>,
    queue: VecDeque<JobId>,
    causes: Causes,
    values: Values,
}

words! {
    struct Causes from "scsi" {
        waiting: line("waiting");
        selection: cause("selection");
        command: cause("command");
        status: cause("status");
        reconnect: cause("reconnect");
    }
}

impl DataPhase {
    /// Returns the end of the piece that begins at `from_bytes`.
    fn piece_end(&self, from_bytes: u64, end_bytes: u64) -> u64 {
        from_bytes.saturating_add(self.piece_bytes).min(end_bytes)
    }

    /// Returns the time of this many bytes on the bus.
    fn data_ns(&self, bytes: u64) -> u64 {
        whole_ns(bytes as f64 * self.ns_per_byte, HOUR_NS)
    }
}

/// Returns a piece of a command's request. The drive processes the command with the first piece.
fn piece_of(request: Request, from_bytes: u64, end_bytes: u64) -> Request {
    let continues = from_bytes > request.offset_bytes;
    Request { continues, ..request.at(from_bytes, (end_bytes - from_bytes) as u32) }
}

impl Scsi {
    /// Returns the time at which the bus is free for a command, `from_ns` at the earliest.
    fn take_bus(&mut self, job: JobId, from_ns: u64, world: &mut World) -> u64 {
        let (start_ns, _) = self.bus.take(from_ns, 0);
        world.charge(job, self.causes.waiting, start_ns);
        start_ns
    }

    /// Starts commands while there are free slots.
    fn pump(&mut self, world: &mut World) {
        while let Some(job) = self.queue.front().copied() {
            let Some(slot) = self.commands.iter().position(Option::is_none) else { return };
            self.queue.pop_front();
            self.start(slot, job, world);
        }
    }

    fn start(&mut self, slot: usize, job: JobId, world: &mut World) {
        let request = world.request(job);
        let start_ns = self.take_bus(job, world.now_ns(), world);
        let selected_ns = start_ns.saturating_add(self.values.selection_ns);
        let told_ns = self.bus.take(start_ns, self.values.selection_ns + self.values.command_ns).1;
        world.charge(job, self.causes.selection, selected_ns);
        world.charge(job, self.causes.command, told_ns);
        let command = ActiveCommand {
            job,
            next_bytes: request.offset_bytes,
            end_bytes: request.end_bytes(),
            out: 0,
            sent_ns: told_ns,
        };
        self.commands[slot] = Some(command);
        self.sent[slot].clear();
        match request.kind {
            RequestKind::Read => self.fetch(slot, told_ns, world),
            RequestKind::Write | RequestKind::WriteZeroes => {
                for _ in 0..self.data_out.buffers {
                    self.take_in(slot, told_ns, world);
                }
            }
            RequestKind::Flush | RequestKind::Trim => self.pass_on(slot, told_ns, request, world),
        }
        // A request without bytes has nothing to wait for.
        self.end_if_done(slot, told_ns, world);
    }

    fn pass_on(&mut self, slot: usize, at_ns: u64, request: Request, world: &mut World) {
        let Some(command) = &mut self.commands[slot] else { return };
        command.out = 1;
        world.send_at(at_ns, Some(command.job), self.below, request, slot as u64);
    }

    /// Requests the next piece of a read from the medium.
    fn fetch(&mut self, slot: usize, from_ns: u64, world: &mut World) {
        let Some(mut command) = self.commands[slot] else { return };
        if command.next_bytes >= command.end_bytes {
            return;
        }
        let end = self.data_in.piece_end(command.next_bytes, command.end_bytes);
        let piece = piece_of(world.request(command.job), command.next_bytes, end);
        // A buffer is free when its previous piece has passed the bus.
        let sent = &self.sent[slot];
        let free_ns = if sent.len() < self.data_in.buffers { 0 } else { sent[0] };
        let at_ns = from_ns.max(free_ns);
        command.next_bytes = end;
        command.out += 1;
        self.commands[slot] = Some(command);
        world.send_at(at_ns, Some(command.job), self.below, piece, slot as u64);
    }

    /// Sends a piece that the medium delivered over the bus.
    fn give_out(&mut self, slot: usize, bytes: u32, world: &mut World) {
        let Some(mut command) = self.commands[slot] else { return };
        let now_ns = world.now_ns();
        let last = command.next_bytes >= command.end_bytes;
        let start_ns = self.on_bus(command, now_ns, world);
        let end_ns = self.bus.take(start_ns, self.data_in.data_ns(u64::from(bytes))).1;
        world.charge(command.job, self.data_in.cause, end_ns);
        command.sent_ns = end_ns;
        command.out -= 1;
        self.sent[slot].push_back(end_ns);
        if self.sent[slot].len() > self.data_in.buffers {
            self.sent[slot].pop_front();
        }
        self.commands[slot] = Some(command);
        if last {
            self.end_if_done(slot, end_ns, world);
        } else {
            self.fetch(slot, now_ns, world);
        }
    }

    /// Receives the next piece of a write over the bus and passes it to the medium.
    fn take_in(&mut self, slot: usize, from_ns: u64, world: &mut World) {
        let Some(mut command) = self.commands[slot] else { return };
        if command.next_bytes >= command.end_bytes {
            return;
        }
        let end = self.data_out.piece_end(command.next_bytes, command.end_bytes);
        let bytes = end - command.next_bytes;
        let piece = piece_of(world.request(command.job), command.next_bytes, end);
        // A piece that starts before the previous one was complete may also end before it.
        world.charge(command.job, self.data_out.cause, command.sent_ns);
        let start_ns = self.on_bus(command, from_ns.max(command.sent_ns), world);
        let end_ns = self.bus.take(start_ns, self.data_out.data_ns(bytes)).1;
        let lead_bytes =
            if self.values.write_lead_bytes == 0 { bytes } else { self.values.write_lead_bytes.min(bytes) };
        let begin_ns = start_ns.saturating_add(self.data_out.data_ns(lead_bytes));
        world.charge(command.job, self.data_out.cause, begin_ns);
        command.sent_ns = end_ns;
        command.next_bytes = end;
        command.out += 1;
        self.commands[slot] = Some(command);
        world.send_at(begin_ns, Some(command.job), self.below, piece, slot as u64);
    }

    /// Returns the time at which a command gets the bus for data that are ready at `from_ns`. A
    /// target that had nothing to do on the bus until then, and disconnects, reconnects first.
    fn on_bus(&mut self, command: ActiveCommand, from_ns: u64, world: &mut World) -> u64 {
        let start_ns = self.take_bus(command.job, from_ns, world);
        if !self.values.disconnect || from_ns <= command.sent_ns {
            return start_ns;
        }
        let back_ns = self.bus.take(start_ns, self.values.reconnect_ns).1;
        world.charge(command.job, self.causes.reconnect, back_ns);
        back_ns
    }

    /// Ends a command with its status if nothing of it remains after `done_ns`.
    fn end_if_done(&mut self, slot: usize, done_ns: u64, world: &mut World) {
        let Some(command) = self.commands[slot] else { return };
        if command.out > 0 || command.next_bytes < command.end_bytes {
            return;
        }
        let from_ns = done_ns.max(command.sent_ns);
        world.charge(command.job, self.data_out.cause, command.sent_ns);
        let start_ns = self.on_bus(command, from_ns, world);
        let end_ns = self.bus.take(start_ns, self.values.status_ns).1;
        world.charge(command.job, self.causes.status, end_ns);
        world.finish_at(end_ns, command.job);
        self.commands[slot] = None;
    }
}

impl Layer for Scsi {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        match world.request(job).kind {
            // SCSI of that time has no trim, and a target without a write cache gets no SYNCHRONIZE
            // CACHE.
            RequestKind::Trim => return world.finish(job),
            RequestKind::Flush if !self.values.write_cache => return world.finish(job),
            _ => world.write_as_data(job),
        }
        self.queue.push_back(job);
        self.pump(world);
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let slot = child.tag as usize;
        let now_ns = world.now_ns();
        if child.request.kind == RequestKind::Read {
            self.give_out(slot, child.request.length_bytes, world);
        } else {
            if let Some(command) = &mut self.commands[slot] {
                command.out -= 1;
            }
            if child.request.kind == RequestKind::Write {
                self.take_in(slot, now_ns, world);
            }
            self.end_if_done(slot, now_ns, world);
        }
        self.pump(world);
    }

    fn waits_for(&self) -> Option<Text> {
        let waits = self.commands.iter().any(Option::is_some) || !self.queue.is_empty();
        waits.then(|| text!("the target below the bus", "バスの先のターゲット"))
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
