//! A port multiplier: one SATA port for several drives.
//!
//! The model: with FIS-based switching every frame names its drive, so all drives may have
//! commands, each in its own queue; only the data share the port. With command-based switching the
//! host has commands outstanding at one drive at a time. A command for another drive waits until
//! the active drive has finished all of its commands, and the active drive gets no new ones before
//! the switch (libata `sata_pmp_qc_defer_cmd_switch`). Commands are served in order of arrival,
//! because a drive that waits claims the port.
//!
//! Not modelled: the host's limit of tags for all drives together, which differs between
//! controllers.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, LayerKind};
use crate::link::{Discipline, LinkLayer, Wire};
use crate::sata::rate_bytes_per_s;
use crate::settings::{Live, Setting};
use crate::vocabulary::page;
use crate::world::{JobId, World};
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// SATA port multiplier: `port-multiplier` in device files.
pub const PORT_MULTIPLIER: LayerKind =
    LayerKind::new(page!("port-multiplier"), "port-multiplier", Below::Members, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "port-multiplier" {
        "members": Count(1, 15), needed;
        "switching" switching: Word(&["fbs", "cbs"]), needed;
        "generation" generation: Word(&["sata-1", "sata-2", "sata-3"]), needed;
        "efficiency" efficiency: Number(0.001, 1.0),
            usual("0.93", "derived: the fastest 6 Gb/s drives are sold with 560 MB/s, of 600 MB/s after 8b/10b coding");
        "switch" switch_ns: Time,
            usual("20 us", "assumed: the host writes the port number and starts its engine again").live();
        "piece" piece_bytes: SIZE, usual("8 KiB", "Serial ATA 2.5: a data frame holds at most 8192 bytes");
    }
}

#[derive(Clone)]
struct PortMultiplier {
    one_drive: bool,
    /// With command-based switching: the drive that has the port, since when, and its number of
    /// commands.
    unit: u16,
    ready_ns: u64,
    outstanding: u64,
    /// End of the last command that returned.
    ended_ns: u64,
    values: Values,
    words: Words,
}

words! {
    struct Words from "port-multiplier" {
        busy: cause("port-busy");
        transfer: cause("transfer");
        other_drive: cause("other-drive");
        switching: cause("switch");
        switches: counter("switches");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let (values, words) = (Values::new(builder), Words::new(builder));
    let rate = rate_bytes_per_s(values.generation) * values.efficiency;
    let wire = Wire::new(rate, values.piece_bytes, words.busy, words.transfer);
    let one_drive = values.switching == "cbs";
    let port = PortMultiplier { one_drive, unit: 0, ready_ns: 0, outstanding: 0, ended_ns: 0, values, words };
    Ok(LinkLayer::build(builder, wire, None, port))
}

impl Discipline for PortMultiplier {
    fn begin(&mut self, _queue: &VecDeque<JobId>, first: JobId, world: &mut World) -> Option<u64> {
        let (now_ns, unit) = (world.now_ns(), world.request(first).unit);
        if self.one_drive && unit != self.unit {
            if self.outstanding > 0 {
                return None;
            }
            let drained_ns = now_ns.max(self.ended_ns);
            world.charge(first, self.words.other_drive, drained_ns);
            world.count(self.words.switches, 1);
            (self.unit, self.ready_ns) = (unit, drained_ns.saturating_add(self.values.switch_ns));
        }
        world.charge(first, self.words.other_drive, now_ns);
        let start_ns = now_ns.max(self.ready_ns);
        world.charge(first, self.words.switching, start_ns);
        self.outstanding += 1;
        Some(start_ns)
    }

    fn end(&mut self, _queue: &VecDeque<JobId>, _job: JobId, data_ns: u64, _world: &mut World) -> u64 {
        self.outstanding -= 1;
        self.ended_ns = self.ended_ns.max(data_ns);
        data_ns
    }

    fn waits_for(&self) -> Text {
        text!("another drive at the port to be done", "同じポートの別ドライブが終わるの")
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
