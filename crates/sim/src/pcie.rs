//! A PCI Express slot: lanes of a generation, and what is lost to the headers of its packets.
//!
//! The model: a wire for each direction at `generation` × `lanes` × payload / (payload + 24), because each packet of
//! `payload` bytes carries 24 bytes more; and a time for every request: the doorbell, fetching the command, the interrupt.
//! Any number of requests may be in flight.
//!
//! Not modelled: read requests and flow control, which take less than a hundredth of the other direction.

use crate::account::Cause;
use crate::build::Builder;
use crate::layer::{Below, Layer, LayerKind};
use crate::link::Link;
use crate::schema::{Parameter, ParameterType, SIZE, Scale};
use crate::settings::Setting;
use crate::world::{Child, JobId, LayerId, World};
use kurabe_core::Result;

/// The kind.
pub const PCIE: LayerKind = LayerKind {
    word: "pcie",
    title: ("a PCI Express slot", "PCI Express スロット"),
    of_host: false,
    below: Below::One,
    parameters: &[
        Parameter::needed(
            "generation",
            ParameterType::Count(1, 6),
            ("generation of the slot or card, whichever is lower", "スロットとカードのうち低い方の世代"),
        ),
        Parameter::needed("lanes", ParameterType::Count(1, 16), ("lanes in use", "使用するレーン数")),
        Parameter::usual(
            "payload",
            ParameterType::Count(64, 4096),
            "128",
            "assumed: the usual largest payload of chipsets",
            (
                "data bytes of a packet; 24 more are its headers",
                "パケットのデータ長。ほかに 24 バイトのヘッダーが付く",
            ),
        )
        .scaled(Scale::PowersOfTwo),
        Parameter::usual(
            "latency",
            ParameterType::Time,
            "2 us",
            "assumed: doorbell, command fetch and interrupt, each a few crossings of half a microsecond",
            ("time of every request", "要求ごとの時間"),
        )
        .live(),
        Parameter::usual(
            "piece",
            SIZE,
            "4 KiB",
            "assumed: a page, the unit of a scatter list",
            ("data that are passed on at once", "一度に渡すデータの単位"),
        ),
    ],
    relations: &[],
    build,
};

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
    to_host: Link,
    to_device: Link,
    latency_ns: u64,
    latency: Cause,
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let payload = builder.count("payload") as f64;
    let lanes = builder.count("lanes") as f64;
    let rate = lane_bytes_per_s(builder.count("generation")) * lanes * payload / (payload + 24.0);
    let busy = builder.cause(
        "slot-busy",
        ("waiting for the slot", "スロットが空くのを待つ時間"),
        ("data of another request are crossing it", "別の要求のデータを転送中です"),
    );
    let transfer = builder.cause(
        "transfer",
        ("data through the slot", "スロットの転送"),
        (
            "the part of the transfer that does not happen while the device is still at work",
            "デバイスの動作と重ならない分の転送時間です",
        ),
    );
    let link = Link::new(rate, builder.bytes("piece"), busy, transfer);
    Ok(Box::new(Pcie {
        below: builder.only_below(),
        capacity_bytes: builder.below_capacity_bytes(0),
        units: builder.below_units(0),
        to_host: link.clone(),
        to_device: link,
        latency_ns: builder.ns("latency"),
        latency: builder.cause(
            "latency",
            ("handing over the request", "要求の受け渡し"),
            ("the time that every request takes to cross the slot", "要求ごとにスロットを往復する時間です"),
        ),
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
        let sent_ns = world.now_ns().saturating_add(self.latency_ns);
        world.charge(job, self.latency, sent_ns);
        self.to_device.send(job, sent_ns, (self.below, world.request(job).unit), world);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(job) = child.parent else { return };
        let end_ns = self.to_host.returned_ns(job, &child, world);
        world.finish_at(end_ns, job);
    }

    fn change(&mut self, setting: &Setting) {
        match setting.parameter.key {
            "latency" => self.latency_ns = setting.whole(),
            _ => setting.refused(),
        }
    }
}
