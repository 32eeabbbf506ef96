//! The kind of layer: parameters, their checks, and the words for what the time goes to.

use super::{Causes, FileSystem, NextPlace, OwnWrites};
use crate::build::Builder;
use crate::layer::{Below, Layer, LayerKind};
use crate::schema::ParameterType::{Bytes, Count, Flag, Time};
use crate::schema::{LONGEST_BYTES, Parameter, SIZE, SOME_SIZE};
use crate::timeline::Timeline;
use kurabe_core::{Result, text};
use std::collections::VecDeque;

/// The kind.
pub const FILESYSTEM: LayerKind = LayerKind {
    word: "filesystem",
    title: ("a file system", "ファイルシステム"),
    of_host: true,
    below: Below::One,
    parameters: PARAMETERS,
    relations: &[],
    build,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::usual(
        "in_flight",
        Count(1, 65_536),
        "256",
        "assumed: the file system sets no limit",
        ("most requests that it lets be under way", "同時に進行させる要求の上限"),
    )
    .live(),
    Parameter::usual(
        "start",
        SIZE,
        "1 MiB",
        "assumed: where partitions begin since about 2008",
        ("where the data begin on the device", "デバイス上でデータが始まる位置"),
    ),
    Parameter::usual(
        "commands",
        Count(1, 65_536),
        "256",
        "assumed: more than any device here takes",
        (
            "most commands with the driver of the device; others wait and may be merged",
            "ドライバーに渡すコマンドの上限。残りは待ち行列で結合され得ます",
        ),
    )
    .live(),
    Parameter::usual(
        "largest_command",
        Bytes(0, LONGEST_BYTES),
        "1 MiB",
        "assumed: the usual limit",
        (
            "up to this length requests that continue one another are merged in the queue; 0: never",
            "待ち行列内の連続した要求を結合する最大長。0 なら結合しません",
        ),
    )
    .live(),
    Parameter::usual(
        "gap",
        Time,
        "0 ns",
        "assumed: small beside the device",
        ("time of the processor for each request", "要求ごとのプロセッサー時間"),
    )
    .live(),
    Parameter::usual(
        "metadata_every",
        SIZE,
        "0 B",
        "assumed: data are overwritten in place",
        (
            "written bytes after which the file system writes some of its own; 0: never",
            "この量を書くごとに、ファイルシステム自身の情報も書きます。0 なら書きません",
        ),
    ),
    Parameter::usual(
        "metadata",
        Bytes(1, LONGEST_BYTES),
        "4 KiB",
        "assumed: a page",
        ("bytes of such a write", "その書き込みの長さ"),
    ),
    Parameter::usual(
        "copy_on_write",
        Flag,
        "false",
        "assumed: files are overwritten in place",
        ("written data go to the next free place, in order", "書き込みを毎回、順に新しい場所へ置くか"),
    ),
    Parameter::usual(
        "allocation",
        SOME_SIZE,
        "4 KiB",
        "assumed: the usual unit",
        (
            "allocation unit: the places of copy on write begin at its multiples",
            "割り当て単位。copy_on_write の新しい場所はこの倍数から始まります",
        ),
    ),
];

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let start_bytes = builder.bytes("start");
    let below_bytes = builder.below_capacity_bytes(0);
    if start_bytes >= below_bytes {
        let what = text!(
            "the data must begin before the end of the device",
            "データの開始位置がデバイスの終わりを超えています"
        );
        return Err(builder.error("start", &what));
    }
    let every_bytes = builder.bytes("metadata_every");
    let length_bytes = builder.bytes("metadata");
    if every_bytes > 0 && length_bytes > start_bytes {
        let what = text!(
            "what the file system writes of its own lies before the data: no more than `start`",
            "ファイルシステム自身の情報はデータの前に置かれるので、`start` 以下です"
        );
        return Err(builder.error("metadata", &what));
    }
    Ok(Box::new(FileSystem {
        below: builder.only_below(),
        capacity_bytes: below_bytes - start_bytes,
        start_bytes,
        most: builder.count("in_flight"),
        most_commands: builder.count("commands"),
        largest_bytes: builder.bytes("largest_command"),
        gap_ns: builder.ns("gap"),
        own_writes: (every_bytes > 0).then_some(OwnWrites {
            every_bytes,
            length_bytes: length_bytes as u32,
            since_bytes: 0,
            next_bytes: 0,
        }),
        copy_on_write: builder.flag("copy_on_write").then_some(NextPlace {
            allocation_bytes: builder.bytes("allocation"),
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
        causes: Causes::new(builder),
        merged: builder
            .counter("merged", ("requests merged into another's command", "ほかのコマンドに結合された要求")),
        own_written: builder
            .counter("own-writes", ("writes of the file system's own", "ファイルシステム自身の書き込み")),
    }))
}
