//! A PCI Express slot: lanes of a generation, and what is lost to the headers of its packets.
//!
//! The model: a wire for each direction at `generation` × `lanes` × payload / (payload + 24), because each packet of
//! `payload` bytes carries 24 bytes more; and a time for every request: the doorbell, fetching the command, the interrupt.
//! Any number of requests may be in flight.
//!
//! Not modelled: read requests and flow control, which take less than a hundredth of the other direction.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Layer, LayerKind};
use crate::link::Wire;
use crate::schema::ParameterScale;
use crate::settings::{Live, Setting};
use crate::world::{Child, JobId, LayerId, World};
use kurabe_core::Result;

/// The kind.
pub const PCIE: LayerKind = LayerKind {
    word: "pcie",
    title: ("a PCI Express slot", "PCI Express スロット"),
    of_host: false,
    below: Below::One,
    parameters: PARAMETERS,
    relations: &[],
    build,
};

parameters! {
    /// Values of its parameters.
    struct Values, PARAMETERS {
        "generation" generation: Count(1, 6), needed,
            ("generation of the slot or card, whichever is lower", "スロットとカードのうち低い方の世代");
        "lanes" lanes: Count(1, 16), needed, ("lanes in use", "使用するレーン数");
        "payload" payload: Count(64, 4096),
            usual("128", "assumed: the usual largest payload of chipsets").scaled(ParameterScale::PowersOfTwo),
            ("data bytes of a packet; 24 more are its headers",
             "パケットのデータ長。ほかに 24 バイトのヘッダーが付く");
        "latency" latency_ns: Time,
            usual("2 us", "assumed: doorbell, command fetch and interrupt, each a few crossings of half a microsecond")
                .live(),
            ("time of every request", "要求ごとの時間");
        "piece" piece_bytes: SIZE, usual("4 KiB", "assumed: a page, the unit of a scatter list"),
            ("data that are passed on at once", "一度に渡すデータの単位");
    }
}

/// Bytes per second of a lane after coding: 8b/10b in generations 1 and 2, then 128b/130b; generation 6 has its own.
fn lane_bytes_per_s(generation: u64) -> f64 {
    match generation {
        1 => 250e6,
        2 => 500e6,
        3 => 8e9 / 8.0 * 128.0 / 130.0,
        4 => 16e9 / 8.0 * 128.0 / 130.0,
        5 => 32e9 / 8.0 * 128.0 / 130.0,
        // 236 of 256 bytes of a flit.
        _ => 64e9 / 8.0 * 236.0 / 256.0,
    }
}

#[derive(Clone)]
struct Pcie {
    below: LayerId,
    capacity_bytes: u64,
    units: u16,
    to_host: Wire,
    to_device: Wire,
    values: Values,
    words: Words,
}

words! {
    struct Words {
        busy: cause("slot-busy",
            ("waiting for the slot", "スロットが空くのを待つ時間"),
            ("data of another request are crossing it", "別の要求のデータを転送中です"));
        transfer: cause("transfer",
            ("data through the slot", "スロットの転送"),
            ("the part of the transfer that does not happen while the device is still at work",
             "デバイスの動作と重ならない分の転送時間です"));
        latency: cause("latency",
            ("handing over the request", "要求の受け渡し"),
            ("the time that every request takes to cross the slot", "要求ごとにスロットを往復する時間です"));
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let (values, words) = (Values::new(builder), Words::new(builder));
    let (payload, lanes) = (values.payload as f64, values.lanes as f64);
    let rate = lane_bytes_per_s(values.generation) * lanes * payload / (payload + 24.0);
    let link = Wire::new(rate, values.piece_bytes, words.busy, words.transfer);
    Ok(Box::new(Pcie {
        below: builder.only_below(),
        capacity_bytes: builder.below_capacity_bytes(0),
        units: builder.below_units(0),
        to_host: link.clone(),
        to_device: link,
        values,
        words,
    }))
}

impl Layer for Pcie {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn units(&self) -> u16 {
        self.units
    }

    fn arrive(&mut self, job: JobId, world: &mut World) {
        let sent_ns = world.now_ns().saturating_add(self.values.latency_ns);
        world.charge(job, self.words.latency, sent_ns);
        self.to_device.send(job, sent_ns, (self.below, world.request(job).unit), world);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(job) = child.parent else { return };
        let end_ns = self.to_host.returned_ns(job, &child, world);
        world.finish_at(end_ns, job);
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
