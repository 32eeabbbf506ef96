//! The parameters of a parallel SCSI bus, and how one is built.

use super::{Causes, DataPhase, Scsi};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Layer, LayerKind};
use crate::schema::{ParameterScale, Relation};
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
    parameters: PARAMETERS,
    relations: &[Relation::Needs("tags", "disconnect")],
    build,
};

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS {
        "transfer" transfer: Word(&["asynchronous", "synchronous"]),
            usual("asynchronous", "SCSI-2 (X3.131-1994): the transfer without an agreement"),
            ("how bytes are handed over", "データの転送方式(非同期・同期)");
        "initiator_in" initiator_in: Number(0.0, 1e6),
            usual("100", "assumed: a host adapter of the nineties").scaled(ParameterScale::Log),
            ("asynchronous, ns that the computer adds to each byte that it reads",
             "非同期転送で、読み出し 1 バイトごとのコンピューター側の時間(ns)");
        "initiator_out" initiator_out: Number(0.0, 1e6),
            usual("100", "assumed: a host adapter of the nineties").scaled(ParameterScale::Log),
            ("asynchronous, ns that the computer adds to each byte that it writes",
             "非同期転送で、書き込み 1 バイトごとのコンピューター側の時間(ns)");
        "target_in" target_in: Number(0.0, 1e6),
            usual("100", "assumed: hardware of the nineties").scaled(ParameterScale::Log),
            ("asynchronous, ns that the drive adds to each byte that is read",
             "非同期転送で、読み出し 1 バイトごとのドライブ側の時間(ns)");
        "target_out" target_out: Number(0.0, 1e6),
            usual("100", "assumed: hardware of the nineties").scaled(ParameterScale::Log),
            ("asynchronous, ns that the drive adds to each byte that is written",
             "非同期転送で、書き込み 1 バイトごとのドライブ側の時間(ns)");
        "initiator_synchronous" initiator_synchronous_bytes_per_s: Rate,
            usual("10 MB/s", "SCSI-2 (X3.131-1994): fast, 8 bits wide"),
            ("fastest synchronous rate of the computer", "コンピューター側の同期転送の最大速度");
        "target_synchronous" target_synchronous_bytes_per_s: Rate,
            usual("10 MB/s", "SCSI-2 (X3.131-1994): fast, 8 bits wide"),
            ("fastest synchronous rate of the drive", "ドライブ側の同期転送の最大速度");
        "selection" selection_ns: Time,
            usual("5 us", "assumed: arbitration and selection take a few bus delays of 2.4 us and 400 ns")
                .live(),
            ("time of arbitration and selection", "調停とセレクションの時間");
        "command" command_ns: Time,
            usual("100 us", "assumed: ten bytes and their decoding by a slow processor").live(),
            ("time of the command phase and of decoding it", "コマンドフェーズと解釈の時間");
        "status" status_ns: Time,
            usual("100 us", "assumed: status, message, and the interrupt of the computer").live(),
            ("time of status and message until the computer goes on",
             "ステータスとメッセージから、コンピューターが先へ進むまでの時間");
        "disconnect" disconnect: Flag, usual("false", "assumed: emulators stay on the bus"),
            ("whether the drive leaves the bus free while its medium works",
             "媒体の動作中にドライブがバスを明け渡すか(ディスコネクト)");
        "reconnect" reconnect_ns: Time,
            usual("20 us", "assumed: arbitration, reselection and an identify message").live(),
            ("time of coming back after a disconnect", "ディスコネクト後の再接続の時間");
        "tags" tags: Count(1, 256), usual("1", "assumed: no tagged queueing"),
            ("commands that the drive takes at once (tagged queueing); more than one needs disconnect",
             "ドライブが同時に受け付けるコマンド数(タグ付きキューイング)。2 以上にはディスコネクトが必要です");
        "read_piece" read_piece_bytes: Bytes(1, LARGEST_PIECE_BYTES),
            usual("64 KiB", "assumed: the buffer of a drive"),
            ("bytes of a read that go through the drive's buffer at a time",
             "読み出しでドライブのバッファーを一度に通るデータ量");
        "write_piece" write_piece_bytes: Bytes(1, LARGEST_PIECE_BYTES),
            usual("64 KiB", "assumed: the buffer of a drive"),
            ("bytes of a write that go through the drive's buffer at a time",
             "書き込みでドライブのバッファーを一度に通るデータ量");
        "read_overlap" read_overlap: Word(OVERLAPS), usual("none", "assumed: one buffer"),
            ("whether the next piece is fetched while one is on the bus",
             "バスで転送中に次のデータを媒体から読むか");
        "write_overlap" write_overlap: Word(OVERLAPS), usual("none", "assumed: one buffer"),
            ("whether the next piece comes over the bus while one is written",
             "媒体に書き込み中に次のデータをバスから受け取るか");
        "buffers" buffers: Count(2, 4096), usual("2", "assumed: one is filled while the other is emptied"),
            ("pieces that the drive's buffer holds where bus and medium overlap",
             "バスと媒体が並行して動く場合に、バッファーに入るデータの個数");
        "write_lead" write_lead_bytes: SIZE,
            usual("0 B", "assumed: the whole piece").derived_from(&["write_piece"]),
            ("bytes of a piece that must be in before the medium begins to write it; 0 for all",
             "媒体への書き込みを始めるのに必要な受信済みの量(0 は全部)");
        "write_cache" write_cache: Flag, usual("false", "assumed: the drive reports none"),
            ("whether the drive reports a write cache, so that the computer has it flushed",
             "ドライブがライトキャッシュありと報告するか。ありならコンピューターがフラッシュを送ります");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let values = Values::new(builder);
    let tags = values.tags as usize;
    Ok(Box::new(Scsi {
        below: builder.only_below(),
        capacity_bytes: builder.below_capacity_bytes(0),
        units: builder.below_units(0),
        data_in: direction(builder, &values, true),
        data_out: direction(builder, &values, false),
        bus: Timeline::default(),
        commands: vec![None; tags],
        sent: vec![VecDeque::new(); tags],
        queue: VecDeque::new(),
        causes: Causes::new(builder),
        values,
    }))
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
    let cause = if read {
        builder.cause("data-in", ("data from the drive over the bus", "バス転送(読み出し)"), explanation)
    } else {
        builder.cause("data-out", ("data to the drive over the bus", "バス転送(書き込み)"), explanation)
    };
    DataPhase { ns_per_byte, piece_bytes, buffers, cause }
}
