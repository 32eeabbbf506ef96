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
    ),
    Parameter::needed(
        "program_rate",
        Rate,
        ("rate at which all dies together are programmed", "全ダイ合計の書き込み速度"),
    ),
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
    let (causes, counters) = (causes(builder), counters(builder));
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

fn causes(builder: &mut Builder<'_>) -> Causes {
    Causes {
        waiting: builder.line(
            "waiting",
            ("waiting for the command before", "前のコマンドの完了待ち"),
            ("this device works on one command at a time", "このデバイスは一度に 1 コマンドしか処理しません"),
        ),
        command: builder.cause(
            "command",
            ("the firmware's work", "ファームウェアの処理"),
            ("every command takes the controller a while, however short it is", "長さによらず、コマンドごとにコントローラーが使う時間です"),
        ),
        access: builder.cause(
            "access",
            ("finding the data in the flash", "フラッシュ内のデータへのアクセス"),
            (
                "the controller looks up where the data are, and the first page is fetched",
                "データの場所を調べ、最初のページを取り出すまでの時間です"
            ),
        ),
        read: builder.cause(
            "read",
            ("reading the flash", "フラッシュの読み出し"),
            ("bytes at the rate of all flash chips together", "全フラッシュチップ合計の速度でデータを読む時間です"),
        ),
        program: builder.cause(
            "program",
            ("writing the flash", "フラッシュへの書き込み"),
            (
                "the memory is full, so the write waits until the flash has taken earlier bytes",
                "メモリーが一杯なので、先のデータがフラッシュに書き込まれるのを待ちます"
            ),
        ),
        erase: builder.cause(
            "erase",
            ("erasing", "消去"),
            ("flash must be erased, in large blocks, before it is written again", "フラッシュは、書き直す前に大きなブロック単位で消去が必要です"),
        ),
        complete: builder.cause(
            "complete-unit",
            ("rewriting the rest of a unit", "単位の残りの書き直し"),
            (
                "only whole units can be written, so the rest of one that was written in part is read and written again",
                "書き込みは単位まるごとでしかできないため、一部だけ書くと残りも読んで書き直します"
            ),
        ),
        turn: builder.cause(
            "turn",
            ("turning between writing and reading", "書きと読みの切り替え"),
            (
                "a read came between writes, so the unit that was half written had to be completed first and begun anew afterwards",
                "書き込みの間に読み出しが来たため、書きかけの単位をいったん完成させ、後でまた書き始めます"
            ),
        ),
        merge: builder.cause(
            "merge",
            ("emptying the log of small writes", "小さな書き込みを溜めたログの整理"),
            (
                "small writes are put aside in a log; when it is full, whole units are rewritten to make room",
                "小さな書き込みはログに溜められ、一杯になると単位ごとの書き直しで空きを作ります"
            ),
        ),
    }
}

fn counters(builder: &mut Builder<'_>) -> Counters {
    Counters {
        completions: builder.counter("completions", ("copies of the rest of a unit", "単位の残りのコピー")),
        straddles: builder.counter(
            "straddles",
            ("writes across the border of two units", "2 つの単位にまたがった書き込み"),
        ),
        turns: builder
            .counter("turns", ("reads that closed a half-written unit", "書きかけの単位を閉じた読み出し")),
        merges: builder.counter("merges", ("units merged to empty the log", "ログの整理で書き直した単位")),
    }
}
