//! The kind of layer: parameters, their checks, and the words for what the time goes to.

use super::{FileSystemLayer, NextPlace, OwnWrites, Words};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Layer, LayerKind};
use crate::schema::LONGEST_BYTES;
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

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS {
        "in_flight" in_flight: Count(1, 65_536),
            usual("256", "assumed: the file system sets no limit").live(),
            ("most requests that it lets be under way", "同時に進行させる要求の上限");
        "start" start_bytes: SIZE, usual("1 MiB", "assumed: where partitions begin since about 2008"),
            ("where the data begin on the device", "デバイス上でデータが始まる位置");
        "commands" commands: Count(1, 65_536),
            usual("256", "assumed: more than any device here takes").live(),
            ("most commands with the driver of the device; others wait and may be merged",
             "ドライバーに渡すコマンドの上限。残りは待ち行列で結合され得ます");
        "largest_command" largest_command_bytes: Bytes(0, LONGEST_BYTES),
            usual("1 MiB", "assumed: the usual limit").live(),
            ("up to this length requests that continue one another are merged in the queue; 0: never",
             "待ち行列内の連続した要求を結合する最大長。0 なら結合しません");
        "gap" gap_ns: Time, usual("0 ns", "assumed: small beside the device").live(),
            ("time of the processor for each request", "要求ごとのプロセッサー時間");
        "metadata_every" metadata_every_bytes: SIZE, usual("0 B", "assumed: data are overwritten in place"),
            ("written bytes after which the file system writes some of its own; 0: never",
             "この量を書くごとに、ファイルシステム自身の情報も書きます。0 なら書きません");
        "metadata" metadata_bytes: Bytes(1, LONGEST_BYTES), usual("4 KiB", "assumed: a page"),
            ("bytes of such a write", "その書き込みの長さ");
        "copy_on_write" copy_on_write: Flag, usual("false", "assumed: files are overwritten in place"),
            ("written data go to the next free place, in order", "書き込みを毎回、順に新しい場所へ置くか");
        "allocation" allocation_bytes: SOME_SIZE, usual("4 KiB", "assumed: the usual unit"),
            ("allocation unit: the places of copy on write begin at its multiples",
             "割り当て単位。copy_on_write の新しい場所はこの倍数から始まります");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let values = Values::new(builder);
    let start_bytes = values.start_bytes;
    let below_bytes = builder.below_capacity_bytes(0);
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
    Ok(Box::new(FileSystemLayer {
        below: builder.only_below(),
        capacity_bytes: below_bytes - start_bytes,
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
        words: Words::new(builder),
        values,
    }))
}
