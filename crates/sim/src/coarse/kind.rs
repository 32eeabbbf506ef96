//! The kind of layer: parameters, their checks, and the words for what the time goes to.

use super::buffer::WriteBuffer;
use super::log::{Log, Streams};
use super::media::Media;
use super::run::Run;
use super::{Causes, Coarse, Counters};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Layer, LayerKind};
use crate::schema::{MOST_BYTES, Relation};
use kurabe_core::Result;

/// The kind.
pub const COARSE: LayerKind = LayerKind {
    word: "flash-coarse",
    title: ("flash that maps large units", "大きな単位で管理するフラッシュメモリー"),
    of_host: false,
    below: Below::Nothing,
    parameters: PARAMETERS,
    relations: &[Relation::NotBelow("superblock", "unit")],
    build,
};

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS {
        "capacity" capacity_bytes: SOME_SIZE, needed, ("bytes of the device", "デバイスの容量");
        "unit" unit_bytes: SOME_SIZE, needed,
            ("mapping unit: what is left of one that is written in part is copied",
             "マッピング単位。一部だけ書くと残りがコピーされます");
        "superblock" superblock_bytes: SIZE, usual("0 B", "assumed: none").derived_from(&["unit"]),
            ("blocks of all dies that a run of writes replaces together; only a write elsewhere ends it; 0: the unit is all",
             "連続書き込みがまとめて置き換える全ダイのブロック。別の場所への書き込みでだけ閉じます。0 なら単位のみ");
        "stripe" stripe_bytes: SOME_SIZE, needed,
            ("pages of all dies that are programmed at once", "全ダイで同時に書き込むページの合計");
        "read_rate" read_bytes_per_s: Rate, needed.live(),
            ("rate at which all dies together are read", "全ダイ合計の読み出し速度");
        "program_rate" program_bytes_per_s: Rate, needed.live(),
            ("rate at which all dies together are programmed", "全ダイ合計の書き込み速度");
        "access" access_ns: Time, needed,
            ("time before the first byte of a read that does not go on from the last",
             "続きではない読み出しで最初のデータが出るまでの時間");
        "erase" erase_ns: Time, usual("0 ns", "assumed: done before it is needed").live(),
            ("erasing a unit or, if there is one, a superblock", "単位(あればスーパーブロック)の消去時間");
        "command" command_ns: Time, needed.live(),
            ("time of the firmware for each command", "コマンドごとのファームウェアの処理時間");
        "buffer" buffer_bytes: SIZE, needed,
            ("bytes that may wait for being programmed beside the stripe that is being filled",
             "埋めている途中のストライプのほかに、書き込み待ちにできる量");
        "log" log_bytes: SIZE, usual("0 B", "assumed: none"),
            ("log buffer for scattered writes; 0: none", "散らばった書き込みを受けるログ領域。0 ならなし");
        "log_granule" log_granule_bytes: Bytes(512, MOST_BYTES),
            usual("4 KiB", "assumed: the page of a file system"),
            ("what the log buffer maps", "ログ領域の管理単位");
        "run" run_bytes: SIZE, usual("1 MiB", "assumed: more than a scattered write has").live(),
            ("written bytes in order after which the log is passed by",
             "この量まで連続した書き込みは、以後ログを通りません");
        "read_ahead" read_ahead: Flag, usual("true", "assumed: usual").live(),
            ("reads that go on from the last one find their data without an access",
             "前回の続きの読み出しはアクセス時間なしで始まるか");
        "read_closes" read_closes: Flag, usual("true", "assumed: the memory holds one open unit").live(),
            ("a read closes the open unit", "読み出しが来ると書きかけの単位を閉じるか");
        "trim" trim: Flag, usual("false", "assumed: firmware of before 2010").live(),
            ("whether it takes TRIM", "TRIM に対応するか");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let values = Values::new(builder);
    let (unit_bytes, stripe_bytes) = (values.unit_bytes, values.stripe_bytes);
    let superblock_bytes = values.superblock_bytes;
    let (read_rate, program_rate) = (values.read_bytes_per_s, values.program_bytes_per_s);
    let has_superblocks = superblock_bytes > unit_bytes;
    Ok(Box::new(Coarse {
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
    }))
}
