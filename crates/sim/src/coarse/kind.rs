//! The kind of layer: parameters, their checks, and the words for what the time goes to.

use super::buffer::WriteBuffer;
use super::log::{Log, Streams};
use super::media::Media;
use super::run::Run;
use super::{Causes, Coarse, Counters};
use crate::build::Builder;
use crate::layer::{Below, Layer, LayerKind};
use crate::schema::ParameterType::{Bytes, Flag, Rate, Time};
use crate::schema::{MOST_BYTES, Parameter, Relation, SIZE, SOME_SIZE};
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

const PARAMETERS: &[Parameter] = &[
    Parameter::needed("capacity", SOME_SIZE, ("bytes of the device", "デバイスの容量")),
    Parameter::needed(
        "unit",
        SOME_SIZE,
        (
            "mapping unit: what is left of one that is written in part is copied",
            "マッピング単位。一部だけ書くと残りがコピーされます",
        ),
    ),
    Parameter::usual(
        "superblock",
        SIZE,
        "0 B",
        "assumed: none",
        (
            "blocks of all dies that a run of writes replaces together; only a write elsewhere ends it; 0: the unit is all",
            "連続書き込みがまとめて置き換える全ダイのブロック。別の場所への書き込みでだけ閉じます。0 なら単位のみ",
        ),
    ).derived_from(&["unit"]),
    Parameter::needed(
        "stripe",
        SOME_SIZE,
        ("pages of all dies that are programmed at once", "全ダイで同時に書き込むページの合計"),
    ),
    Parameter::needed(
        "read_rate",
        Rate,
        ("rate at which all dies together are read", "全ダイ合計の読み出し速度"),
    ).live(),
    Parameter::needed(
        "program_rate",
        Rate,
        ("rate at which all dies together are programmed", "全ダイ合計の書き込み速度"),
    ).live(),
    Parameter::needed(
        "access",
        Time,
        (
            "time before the first byte of a read that does not go on from the last",
            "続きではない読み出しで最初のデータが出るまでの時間",
        ),
    ),
    Parameter::usual(
        "erase",
        Time,
        "0 ns",
        "assumed: done before it is needed",
        ("erasing a unit or, if there is one, a superblock", "単位(あればスーパーブロック)の消去時間"),
    ).live(),
    Parameter::needed(
        "command",
        Time,
        ("time of the firmware for each command", "コマンドごとのファームウェアの処理時間"),
    ).live(),
    Parameter::needed(
        "buffer",
        SIZE,
        (
            "bytes that may wait for being programmed beside the stripe that is being filled",
            "埋めている途中のストライプのほかに、書き込み待ちにできる量",
        ),
    ),
    Parameter::usual(
        "log",
        SIZE,
        "0 B",
        "assumed: none",
        ("log buffer for scattered writes; 0: none", "散らばった書き込みを受けるログ領域。0 ならなし"),
    ),
    Parameter::usual(
        "log_granule",
        Bytes(512, MOST_BYTES),
        "4 KiB",
        "assumed: the page of a file system",
        ("what the log buffer maps", "ログ領域の管理単位"),
    ),
    Parameter::usual(
        "run",
        SIZE,
        "1 MiB",
        "assumed: more than a scattered write has",
        (
            "written bytes in order after which the log is passed by",
            "この量まで連続した書き込みは、以後ログを通りません",
        ),
    ).live(),
    Parameter::usual(
        "read_ahead",
        Flag,
        "true",
        "assumed: usual",
        (
            "reads that go on from the last one find their data without an access",
            "前回の続きの読み出しはアクセス時間なしで始まるか",
        ),
    ).live(),
    Parameter::usual(
        "read_closes",
        Flag,
        "true",
        "assumed: the memory holds one open unit",
        ("a read closes the open unit", "読み出しが来ると書きかけの単位を閉じるか"),
    ).live(),
    Parameter::usual(
        "trim",
        Flag,
        "false",
        "assumed: firmware of before 2010",
        ("whether it takes TRIM", "TRIM に対応するか"),
    ).live(),
];

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let (unit_bytes, stripe_bytes) = (builder.bytes("unit"), builder.bytes("stripe"));
    let superblock_bytes = builder.bytes("superblock");
    let (read_rate, program_rate) = (builder.rate("read_rate"), builder.rate("program_rate"));
    let has_superblocks = superblock_bytes > unit_bytes;
    let (causes, counters) = (Causes::new(builder), Counters::new(builder));
    Ok(Box::new(Coarse {
        capacity_bytes: builder.bytes("capacity"),
        unit_bytes,
        erase_bytes: superblock_bytes.max(unit_bytes),
        erase_ns: builder.ns("erase"),
        command_ns: builder.ns("command"),
        read_ahead: builder.flag("read_ahead"),
        read_closes: builder.flag("read_closes"),
        trim: builder.flag("trim"),
        free_ns: 0,
        media: Media::new(read_rate, program_rate, stripe_bytes, builder.ns("access")),
        buffer: WriteBuffer::new(builder.bytes("buffer"), program_rate, stripe_bytes),
        run: Run::new(unit_bytes, stripe_bytes),
        superblocks: has_superblocks.then(|| Run::new(superblock_bytes, stripe_bytes)),
        log: Log::new(builder.bytes("log"), builder.bytes("log_granule"), unit_bytes),
        run_bytes: builder.bytes("run"),
        streams: Streams::default(),
        log_pending_bytes: 0,
        read_end_bytes: None,
        turned_at_bytes: None,
        causes,
        counters,
    }))
}
