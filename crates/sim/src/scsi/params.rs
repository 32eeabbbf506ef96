//! The parameters of a parallel SCSI bus, and how one is built.

use super::{Causes, DataPhase, Scsi};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Built, LayerKind};
use crate::schema::{ParameterScale, Relation};
use crate::timeline::Timeline;
use crate::vocabulary::{entry, page};
use kurabe_core::Result;
use std::collections::VecDeque;

/// Largest piece: a request's length is a number of 32 bits.
const LARGEST_PIECE_BYTES: u64 = 1 << 31;

const OVERLAPS: &[&str] = &["none", "pipelined"];

/// The kind.
pub const SCSI: LayerKind = LayerKind::new(page!("scsi"), "scsi", Below::One, PARAMETERS, build)
    .of_host()
    .related(&[Relation::Needs("tags", "disconnect")]);

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS from "scsi" {
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
        bus: Timeline::default(),
        commands: vec![None; tags],
        sent: vec![VecDeque::new(); tags],
        queue: VecDeque::new(),
        causes: Causes::new(builder),
        values,
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
    let slower = values.initiator_synchronous_bytes_per_s.min(values.target_synchronous_bytes_per_s);
    let ns_per_byte = if synchronous { 1e9 / slower } else { shares };
    let buffers = if overlap == "pipelined" { values.buffers as usize } else { 1 };
    // Only an asynchronous bus hands over byte by byte.
    let texts = match (read, synchronous) {
        (true, false) => entry!("scsi", "cause", "data-in"),
        (true, true) => entry!("scsi", "cause", "data-in synchronous"),
        (false, false) => entry!("scsi", "cause", "data-out"),
        (false, true) => entry!("scsi", "cause", "data-out synchronous"),
    };
    let cause = builder.cause(if read { "data-in" } else { "data-out" }, texts);
    DataPhase { ns_per_byte, piece_bytes, buffers, cause }
}
