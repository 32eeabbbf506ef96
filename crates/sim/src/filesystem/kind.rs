//! The kind of layer: parameters, their checks, and the words for what the time goes to.

use super::{FileSystemLayer, NextPlace, OwnWrites, Words};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Built, LayerKind};
use crate::schema::LONGEST_BYTES;
use crate::timeline::Timeline;
use crate::vocabulary::page;
use kurabe_core::{Result, text};
use std::collections::VecDeque;

/// The kind.
pub const FILESYSTEM: LayerKind =
    LayerKind::new(page!("filesystem"), "filesystem", Below::One, PARAMETERS, build).of_host();

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS from "filesystem" {
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
    let every_bytes = values.metadata_every_bytes;
    let length_bytes = values.metadata_bytes;
    if every_bytes > 0 && length_bytes > start_bytes {
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
        start_bytes,
        own_writes: (every_bytes > 0).then_some(OwnWrites {
            every_bytes,
            length_bytes: length_bytes as u32,
            since_bytes: 0,
            next_bytes: 0,
        }),
        copy_on_write: values.copy_on_write.then_some(NextPlace {
            allocation_bytes: values.allocation_bytes,
            next_bytes: 0,
            latest: VecDeque::new(),
        }),
        processor: Timeline::default(),
        under_way: 0,
        waiting: VecDeque::new(),
        prepared: VecDeque::new(),
        ready: VecDeque::new(),
        commands: 0,
        riders: Vec::new(),
        free_tags: Vec::new(),
        device_in_turn: builder.below_in_turn(),
        latest: None,
        words: Words::new(builder),
        values,
    };
    Ok(Built::new(layer, capacity_bytes))
}
