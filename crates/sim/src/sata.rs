//! A drive's own cable: Serial ATA with or without command queueing, and the older parallel ATA.
//!
//! The model: a command waits for one of `depth` slots, takes its overhead, and goes to the drive,
//! which may complete several in its own order; their data share the wire. A flush is not a queued
//! command: it waits until nothing is in flight, and no other command starts while it runs. (libata
//! `ata_std_qc_defer`; ATA8-ACS, FLUSH CACHE EXT.)
//!
//! Simplification: both directions of a wire share one timeline, because only one data frame is in
//! transit at a time.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, LayerKind};
use crate::link::{CommandSlots, Discipline, LinkLayer, Wire};
use crate::settings::{Live, Setting};
use crate::vocabulary::page;
use crate::world::{JobId, RequestKind, World};
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// ATA cable: `sata` in device files.
pub const SATA: LayerKind = LayerKind::new(page!("sata"), "sata", Below::One, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "sata" {
        "generation" generation: Word(&["ata-33", "ata-66", "ata-100", "ata-133", "sata-1", "sata-2", "sata-3"]),
            needed;
        "efficiency" efficiency: Number(0.001, 1.0),
            usual("0.93", "derived: the fastest 6 Gb/s drives are sold with 560 MB/s, of 600 MB/s after 8b/10b coding");
        "depth" depth: Count(1, 32), usual("32", "Serial ATA 2.5: 32 tags; 1 where command queueing is off");
        "command" command_ns: Time, usual("10 us", "assumed").live();
        "piece" piece_bytes: SIZE, usual("8 KiB", "Serial ATA 2.5: a data frame holds at most 8192 bytes");
    }
}

/// Returns the bytes per second of a generation. SATA sends ten bits for eight.
pub(crate) fn rate_bytes_per_s(generation: &str) -> f64 {
    match generation {
        "ata-33" => 33.3e6,
        "ata-66" => 66.7e6,
        "ata-100" => 100e6,
        "ata-133" => 133.3e6,
        "sata-1" => 150e6,
        "sata-2" => 300e6,
        _ => 600e6,
    }
}

#[derive(Clone)]
struct Sata {
    slots: CommandSlots,
    /// Whether the drive is executing a flush.
    flushing: bool,
    values: Values,
    words: Words,
}

words! {
    struct Words from "sata" {
        busy: cause("cable-busy");
        transfer: cause("transfer");
        waiting: line("waiting");
        behind_flush: cause("behind-flush");
        command: cause("command");
        flushes: counter("flushes");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let (values, words) = (Values::new(builder), Words::new(builder));
    let rate = rate_bytes_per_s(values.generation) * values.efficiency;
    let wire = Wire::new(rate, values.piece_bytes, words.busy, words.transfer);
    let slots = CommandSlots::new(values.depth);
    let one_at_a_time = values.depth == 1;
    let link = LinkLayer::build(builder, wire, None, Sata { slots, flushing: false, values, words });
    Ok(link.in_turn_if(one_at_a_time))
}

impl Discipline for Sata {
    fn begin(&mut self, queue: &VecDeque<JobId>, first: JobId, world: &mut World) -> Option<u64> {
        let flush = world.request(first).kind == RequestKind::Flush && self.values.depth > 1;
        if self.flushing || (flush && !self.slots.all_returned()) {
            return None;
        }
        let drained_ns = self.slots.ended_ns();
        let free_ns = self.slots.take(world.now_ns())?;
        let start_ns = if flush { free_ns.max(drained_ns) } else { free_ns };
        if flush {
            self.flushing = true;
            world.count(self.words.flushes, 1);
            queue.iter().for_each(|waiting| world.charge(*waiting, self.words.waiting, start_ns));
        }
        let sent_ns = start_ns.saturating_add(self.values.command_ns);
        world.charge(first, self.words.waiting, start_ns);
        world.charge(first, self.words.command, sent_ns);
        Some(sent_ns)
    }

    fn end(&mut self, queue: &VecDeque<JobId>, job: JobId, data_ns: u64, world: &mut World) -> u64 {
        if self.flushing && world.request(job).kind == RequestKind::Flush {
            self.flushing = false;
            queue.iter().for_each(|waiting| world.charge(*waiting, self.words.behind_flush, data_ns));
        }
        self.slots.give(data_ns);
        data_ns
    }

    fn waits_for(&self) -> Text {
        text!("the drive to end a command", "ドライブがコマンドを終えるの")
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
