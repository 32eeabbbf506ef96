//! A PCI Express slot: lanes of a generation, and the overhead of packet headers.
//!
//! The model: a wire for each direction at `generation` × `lanes` × payload / (payload + 24),
//! because each packet of `payload` bytes carries 24 additional bytes; and a time for every
//! request: doorbell, command fetch and interrupt. The number of requests in flight is not limited.
//!
//! Not modelled: read requests and flow control, which take less than a hundredth of the opposite
//! direction.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, LayerKind};
use crate::link::{Discipline, LinkLayer, Wire};
use crate::schema::ParameterScale;
use crate::settings::{Live, Setting};
use crate::vocabulary::page;
use crate::world::{JobId, World};
use kurabe_core::Result;
use std::collections::VecDeque;

/// PCI Express slot: `pcie` in device files.
pub const PCIE: LayerKind = LayerKind::new(page!("pcie"), "pcie", Below::One, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "pcie" {
        "generation" generation: Count(1, 6), needed;
        "lanes" lanes: Count(1, 16), needed;
        "payload" payload: Count(64, 4096),
            usual("128", "assumed: the usual largest payload of chipsets").scaled(ParameterScale::PowersOfTwo);
        "latency" latency_ns: Time,
            usual("2 us", "assumed: doorbell, command fetch and interrupt, each a few crossings of half a \
                microsecond").live();
        "piece" piece_bytes: SIZE, usual("4 KiB", "assumed: a page, the unit of a scatter list");
    }
}

/// Returns the bytes per second of a lane after coding: 8b/10b in generations 1 and 2, then
/// 128b/130b, and FLIT mode in generation 6.
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
    values: Values,
    words: Words,
}

words! {
    struct Words from "pcie" {
        busy: cause("slot-busy");
        transfer: cause("transfer");
        latency: cause("latency");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let (values, words) = (Values::new(builder), Words::new(builder));
    let (payload, lanes) = (values.payload as f64, values.lanes as f64);
    let rate = lane_bytes_per_s(values.generation) * lanes * payload / (payload + 24.0);
    let wire = Wire::new(rate, values.piece_bytes, words.busy, words.transfer);
    Ok(LinkLayer::build(builder, wire.clone(), Some(wire), Pcie { values, words }))
}

impl Discipline for Pcie {
    fn begin(&mut self, _queue: &VecDeque<JobId>, first: JobId, world: &mut World) -> Option<u64> {
        let sent_ns = world.now_ns().saturating_add(self.values.latency_ns);
        world.charge(first, self.words.latency, sent_ns);
        Some(sent_ns)
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
