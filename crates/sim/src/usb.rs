//! A USB enclosure or stick: a bridge with drives behind it, with the old protocol (BOT) or the new
//! one (UAS).
//!
//! The model of BOT (Bulk-Only Transport): a command block, its data, its status, and only then the
//! next command, for any drive of the enclosure. So the times of all commands add up, no drive ever
//! has two commands to reorder, and drives never work in parallel. The model of UAS: `depth`
//! commands in flight for the whole enclosure, whose data share the wire. In both, the data of a
//! command are transferred while its drive works, piece by piece.
//!
//! Not modelled: simultaneous transfers in both directions, which USB 3 permits; bridges differ in
//! whether they use it.

use crate::account::Cause;
use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, LayerKind};
use crate::link::{CommandSlots, Discipline, LinkLayer, Wire};
use crate::settings::{Live, Setting};
use crate::vocabulary::{entry, page};
use crate::world::{JobId, World};
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// Source of the overheads of BOT.
const BOT_SOURCE: &str = "derived: electronicdesign.com (2012): about 250 MB/s by BOT, 400 by UAS: 128 \
    KiB take 196 us more, here divided among command, status and gap";

/// USB bridge: `usb` in device files.
pub const USB: LayerKind = LayerKind::new(page!("usb"), "usb", Below::Members, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "usb" {
        "members": Count(1, 64), usual("1", "assumed: a stick or a box for one drive");
        "generation" generation: Word(&["usb-1", "usb-2", "usb-3", "usb-3.1"]), needed;
        "protocol" protocol: Word(&["bot", "uas"]), needed;
        "efficiency" efficiency: Number(0.001, 1.0),
            usual("0.8", "electronicdesign.com (2012): about 400 MB/s by UAS, of 500 MB/s after 8b/10b coding");
        "depth" depth: Count(1, 256), usual("32", "assumed: as many as SATA has tags");
        "command" command_ns: Time, usual("100 us", BOT_SOURCE).live();
        "status" status_ns: Time, usual("50 us", BOT_SOURCE).live();
        "gap" gap_ns: Time, usual("46 us", BOT_SOURCE).live();
        "piece" piece_bytes: SIZE, usual("16 KiB", "assumed: the bridge's buffer is passed on at this size");
    }
}

/// Returns the bytes per second of a generation after coding: 8b/10b at 5 Gb/s, 128b/132b at 10
/// Gb/s.
fn rate_bytes_per_s(generation: &str) -> f64 {
    match generation {
        "usb-1" => 1.5e6,
        "usb-2" => 60e6,
        "usb-3" => 500e6,
        _ => 1212e6,
    }
}

#[derive(Clone)]
struct Usb {
    slots: CommandSlots,
    /// Whether only one command may be in flight.
    bot: bool,
    /// The drive of the last command sent.
    last_unit: u16,
    waiting: Cause,
    values: Values,
    words: Words,
}

words! {
    struct Words from "usb" {
        busy: cause("cable-busy");
        transfer: cause("transfer");
        command: cause("command");
        status: cause("status");
        other_drive: counter("other-drive");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let rate = rate_bytes_per_s(values.generation) * values.efficiency;
    let bot = values.protocol == "bot";
    let waiting = if bot && !builder.below_in_turn() {
        builder.cause("one-command", entry!("usb", "cause", "one-command"))
    } else {
        builder.line("waiting", entry!("usb", "cause", "waiting"))
    };
    let words = Words::new(builder);
    let wire = Wire::new(rate, values.piece_bytes, words.busy, words.transfer);
    let slots = CommandSlots::new(if bot { 1 } else { values.depth });
    let link =
        LinkLayer::build(builder, wire, None, Usb { slots, bot, last_unit: 0, waiting, values, words });
    Ok(link.in_turn_if(bot))
}

impl Discipline for Usb {
    fn begin(&mut self, _queue: &VecDeque<JobId>, first: JobId, world: &mut World) -> Option<u64> {
        let start_ns = self.slots.take(world.now_ns())?;
        let unit = world.request(first).unit;
        if std::mem::replace(&mut self.last_unit, unit) != unit {
            world.count(self.words.other_drive, 1);
        }
        let sent_ns = start_ns.saturating_add(self.values.command_ns);
        world.charge(first, self.waiting, start_ns);
        world.charge(first, self.words.command, sent_ns);
        Some(sent_ns)
    }

    fn end(&mut self, _queue: &VecDeque<JobId>, job: JobId, data_ns: u64, world: &mut World) -> u64 {
        let end_ns = data_ns.saturating_add(self.values.status_ns);
        world.charge(job, self.words.status, end_ns);
        let gap_ns = if self.bot { self.values.gap_ns } else { 0 };
        self.slots.give(end_ns.saturating_add(gap_ns));
        end_ns
    }

    fn waits_for(&self) -> Text {
        text!("the bridge to end a command", "ブリッジがコマンドを終えるの")
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
