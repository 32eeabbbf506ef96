//! The parameters of a parallel SCSI bus, and how one is built.

use super::{Causes, Direction, Scsi};
use crate::build::Builder;
use crate::layer::{Below, Layer, LayerKind};
use crate::schema::ParameterType::{Bytes, Count, Flag, Number, Rate, Time, Word};
use crate::schema::{Parameter, Relation, SIZE, Scale};
use crate::timeline::Timeline;
use kurabe_core::Result;
use std::collections::VecDeque;

/// Largest piece: a request's length is a number of 32 bits.
const LARGEST_PIECE_BYTES: u64 = 1 << 31;

const OVERLAPS: &[&str] = &["none", "pipelined"];

/// The kind.
pub const SCSI: LayerKind = LayerKind {
    word: "scsi",
    title: ("a parallel SCSI bus", "パラレル SCSI バス"),
    of_host: true,
    below: Below::One,
    parameters: &[
        Parameter::usual(
            "transfer",
            Word(&["asynchronous", "synchronous"]),
            "asynchronous",
            "SCSI-2 (X3.131-1994): the transfer without an agreement",
            ("how bytes are handed over", "データの転送方式(非同期・同期)"),
        ),
        Parameter::usual(
            "initiator_in",
            Number(0.0, 1e6),
            "100",
            "assumed: a host adapter of the nineties",
            (
                "asynchronous, ns that the computer adds to each byte that it reads",
                "非同期転送で、読み出し 1 バイトごとのコンピューター側の時間(ns)",
            ),
        )
        .scaled(Scale::Log),
        Parameter::usual(
            "initiator_out",
            Number(0.0, 1e6),
            "100",
            "assumed: a host adapter of the nineties",
            (
                "asynchronous, ns that the computer adds to each byte that it writes",
                "非同期転送で、書き込み 1 バイトごとのコンピューター側の時間(ns)",
            ),
        )
        .scaled(Scale::Log),
        Parameter::usual(
            "target_in",
            Number(0.0, 1e6),
            "100",
            "assumed: hardware of the nineties",
            (
                "asynchronous, ns that the drive adds to each byte that is read",
                "非同期転送で、読み出し 1 バイトごとのドライブ側の時間(ns)",
            ),
        )
        .scaled(Scale::Log),
        Parameter::usual(
            "target_out",
            Number(0.0, 1e6),
            "100",
            "assumed: hardware of the nineties",
            (
                "asynchronous, ns that the drive adds to each byte that is written",
                "非同期転送で、書き込み 1 バイトごとのドライブ側の時間(ns)",
            ),
        )
        .scaled(Scale::Log),
        Parameter::usual(
            "initiator_synchronous",
            Rate,
            "10 MB/s",
            "SCSI-2 (X3.131-1994): fast, 8 bits wide",
            ("fastest synchronous rate of the computer", "コンピューター側の同期転送の最大速度"),
        ),
        Parameter::usual(
            "target_synchronous",
            Rate,
            "10 MB/s",
            "SCSI-2 (X3.131-1994): fast, 8 bits wide",
            ("fastest synchronous rate of the drive", "ドライブ側の同期転送の最大速度"),
        ),
        Parameter::usual(
            "selection",
            Time,
            "5 us",
            "assumed: arbitration and selection take a few bus delays of 2.4 us and 400 ns",
            ("time of arbitration and selection", "調停とセレクションの時間"),
        )
        .live(),
        Parameter::usual(
            "command",
            Time,
            "100 us",
            "assumed: ten bytes and their decoding by a slow processor",
            ("time of the command phase and of decoding it", "コマンドフェーズと解釈の時間"),
        )
        .live(),
        Parameter::usual(
            "status",
            Time,
            "100 us",
            "assumed: status, message, and the interrupt of the computer",
            (
                "time of status and message until the computer goes on",
                "ステータスとメッセージから、コンピューターが先へ進むまでの時間",
            ),
        )
        .live(),
        Parameter::usual(
            "disconnect",
            Flag,
            "false",
            "assumed: emulators stay on the bus",
            (
                "whether the drive leaves the bus free while its medium works",
                "媒体の動作中にドライブがバスを明け渡すか(ディスコネクト)",
            ),
        ),
        Parameter::usual(
            "reconnect",
            Time,
            "20 us",
            "assumed: arbitration, reselection and an identify message",
            ("time of coming back after a disconnect", "ディスコネクト後の再接続の時間"),
        )
        .live(),
        Parameter::usual(
            "tags",
            Count(1, 256),
            "1",
            "assumed: no tagged queueing",
            (
                "commands that the drive takes at once (tagged queueing); more than one needs disconnect",
                "ドライブが同時に受け付けるコマンド数(タグ付きキューイング)。2 以上にはディスコネクトが必要です",
            ),
        ),
        Parameter::usual(
            "read_piece",
            Bytes(1, LARGEST_PIECE_BYTES),
            "64 KiB",
            "assumed: the buffer of a drive",
            (
                "bytes of a read that go through the drive's buffer at a time",
                "読み出しでドライブのバッファーを一度に通るデータ量",
            ),
        ),
        Parameter::usual(
            "write_piece",
            Bytes(1, LARGEST_PIECE_BYTES),
            "64 KiB",
            "assumed: the buffer of a drive",
            (
                "bytes of a write that go through the drive's buffer at a time",
                "書き込みでドライブのバッファーを一度に通るデータ量",
            ),
        ),
        Parameter::usual(
            "read_overlap",
            Word(OVERLAPS),
            "none",
            "assumed: one buffer",
            (
                "whether the next piece is fetched while one is on the bus",
                "バスで転送中に次のデータを媒体から読むか",
            ),
        ),
        Parameter::usual(
            "write_overlap",
            Word(OVERLAPS),
            "none",
            "assumed: one buffer",
            (
                "whether the next piece comes over the bus while one is written",
                "媒体に書き込み中に次のデータをバスから受け取るか",
            ),
        ),
        Parameter::usual(
            "buffers",
            Count(2, 4096),
            "2",
            "assumed: one is filled while the other is emptied",
            (
                "pieces that the drive's buffer holds where bus and medium overlap",
                "バスと媒体が並行して動く場合に、バッファーに入るデータの個数",
            ),
        ),
        Parameter::usual(
            "write_lead",
            SIZE,
            "0 B",
            "assumed: the whole piece",
            (
                "bytes of a piece that must be in before the medium begins to write it; 0 for all",
                "媒体への書き込みを始めるのに必要な受信済みの量(0 は全部)",
            ),
        )
        .derived_from(&["write_piece"]),
        Parameter::usual(
            "write_cache",
            Flag,
            "false",
            "assumed: the drive reports none",
            (
                "whether the drive reports a write cache, so that the computer has it flushed",
                "ドライブがライトキャッシュありと報告するか。ありならコンピューターがフラッシュを送ります",
            ),
        ),
    ],
    relations: &[Relation::Needs("tags", "disconnect")],
    build,
};

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let tags = builder.count("tags") as usize;
    Ok(Box::new(Scsi {
        below: builder.only_below(),
        capacity_bytes: builder.below_capacity_bytes(0),
        units: builder.below_units(0),
        selection_ns: builder.ns("selection"),
        command_ns: builder.ns("command"),
        status_ns: builder.ns("status"),
        disconnects: builder.flag("disconnect"),
        reconnect_ns: builder.ns("reconnect"),
        write_lead_bytes: builder.bytes("write_lead"),
        flushes: builder.flag("write_cache"),
        data_in: direction(builder, "in"),
        data_out: direction(builder, "out"),
        bus: Timeline::default(),
        commands: vec![None; tags],
        sent: vec![VecDeque::new(); tags],
        queue: VecDeque::new(),
        causes: Causes::new(builder),
    }))
}

fn direction(builder: &mut Builder<'_>, way: &str) -> Direction {
    let synchronous = builder.word("transfer") == "synchronous";
    let ns_per_byte = if synchronous {
        1e9 / builder.rate("initiator_synchronous").min(builder.rate("target_synchronous"))
    } else {
        let share = |side: &str| builder.number(&format!("{side}_{way}"));
        share("initiator") + share("target")
    };
    let (piece, overlap) =
        if way == "in" { ("read_piece", "read_overlap") } else { ("write_piece", "write_overlap") };
    let piece_bytes = builder.bytes(piece);
    let buffers = if builder.word(overlap) == "pipelined" { builder.count("buffers") as usize } else { 1 };
    let explanation = if synchronous {
        (
            "the bytes go over the SCSI bus, at the synchronous rate that both sides agreed on",
            "データが SCSI バスを通る時間です。双方が取り決めた同期転送の速度で流れます",
        )
    } else {
        (
            "the bytes go over the SCSI bus; without a synchronous agreement each byte needs a question and an answer",
            "データが SCSI バスを通る時間です。非同期転送では 1 バイトごとに要求と応答のやり取りがあります",
        )
    };
    let cause = if way == "in" {
        builder.cause("data-in", ("data from the drive over the bus", "バス転送(読み出し)"), explanation)
    } else {
        builder.cause("data-out", ("data to the drive over the bus", "バス転送(書き込み)"), explanation)
    };
    Direction { ns_per_byte, piece_bytes, buffers, cause }
}
