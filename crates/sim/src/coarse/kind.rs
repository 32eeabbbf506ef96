//! The kind of layer: parameters, their checks, and the words for what the time goes to.

use super::buffer::WriteBuffer;
use super::log::{Log, Streams};
use super::media::Media;
use super::run::Run;
use super::{Causes, Coarse, Counters};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Built, LayerKind};
use crate::schema::{MOST_BYTES, Relation};
use crate::vocabulary::page;
use kurabe_core::Result;

/// The kind.
pub const COARSE: LayerKind =
    LayerKind::new(page!("flash-coarse"), "flash-coarse", Below::Nothing, PARAMETERS, build)
        .related(&[Relation::NotBelow("superblock", "unit")]);

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS from "flash-coarse" {
        "capacity" capacity_bytes: SOME_SIZE, needed;
        "unit" unit_bytes: SOME_SIZE, needed;
        "superblock" superblock_bytes: SIZE, usual("0 B", "assumed: none").derived_from(&["unit"]);
        "stripe" stripe_bytes: SOME_SIZE, needed;
        "read_rate" read_bytes_per_s: Rate, needed.live();
        "program_rate" program_bytes_per_s: Rate, needed.live();
        "access" access_ns: Time, needed;
        "erase" erase_ns: Time, usual("0 ns", "assumed: done before it is needed").live();
        "command" command_ns: Time, needed.live();
        "buffer" buffer_bytes: SIZE, needed;
        "log" log_bytes: SIZE, usual("0 B", "assumed: none");
        "log_granule" log_granule_bytes: Bytes(512, MOST_BYTES),
            usual("4 KiB", "assumed: the page of a file system");
        "run" run_bytes: SIZE, usual("1 MiB", "assumed: more than a scattered write has").live();
        "read_ahead" read_ahead: Flag, usual("true", "assumed: usual").live();
        "read_closes" read_closes: Flag, usual("true", "assumed: the memory holds one open unit").live();
        "trim" trim: Flag, usual("false", "assumed: firmware of before 2010").live();
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let (unit_bytes, stripe_bytes) = (values.unit_bytes, values.stripe_bytes);
    let superblock_bytes = values.superblock_bytes;
    let (read_rate, program_rate) = (values.read_bytes_per_s, values.program_bytes_per_s);
    let has_superblocks = superblock_bytes > unit_bytes;
    let capacity_bytes = values.capacity_bytes;
    let coarse = Coarse {
        erase_bytes: superblock_bytes.max(unit_bytes),
        free_ns: 0,
        media: Media::new(read_rate, program_rate, stripe_bytes, values.access_ns),
        buffer: WriteBuffer::new(values.buffer_bytes, program_rate, stripe_bytes),
        run: Run::new(unit_bytes, stripe_bytes),
        superblocks: has_superblocks.then(|| Run::new(superblock_bytes, stripe_bytes)),
        log: Log::new(values.log_bytes, values.log_granule_bytes, unit_bytes),
        streams: Streams::default(),
        log_pending_bytes: 0,
        read_end_bytes: None,
        turned_at_bytes: None,
        causes: Causes::new(builder),
        counters: Counters::new(builder),
        values,
    };
    Ok(Built::new(coarse, capacity_bytes).in_turn_if(true))
}
