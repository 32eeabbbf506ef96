//! What the card calls the things that time goes to, and what it counts.

use crate::account::{Cause, Counter, Words as Pair};
use crate::build::Builder;

/// Key, name and explanation, in the order in which `Words::new` takes them.
const CAUSES: [(&str, Pair, Pair); 13] = [
    (
        "processor-busy",
        ("waiting for the card's processor", "カードのプロセッサー待ち"),
        (
            "the card's processor is still busy with other requests",
            "カードのプロセッサーが別の要求を処理しています",
        ),
    ),
    (
        "request",
        ("the card's work per request", "要求ごとのカードの処理"),
        (
            "the card's processor accepts the request and hands it to the drives; this takes the same time however \
                 short the request is",
            "カードのプロセッサーが要求を受け取ってドライブへ振り分ける時間です。要求の長さによらずかかります",
        ),
    ),
    (
        "strips",
        ("the card's work per strip", "ストリップごとのカードの処理"),
        (
            "the request is cut at every strip boundary, and each strip costs the processor the same: small strips \
                 cost more",
            "要求はストリップの境目ごとに分割され、1 個ごとに一定の処理時間がかかります。ストリップが小さいほど増えます",
        ),
    ),
    (
        "latency",
        ("the way through driver and card", "ドライバーとカードの往復"),
        (
            "the driver, the card's queue and the interrupt at the end take their time for every request",
            "ドライバー、カードの待ち行列、完了の割り込みに要求ごとにかかる時間です",
        ),
    ),
    (
        "memory-busy",
        ("waiting for the card's memory", "カードのメモリー待ち"),
        (
            "other data are on their way through the card's memory",
            "カードのメモリーが別のデータの転送に使われています",
        ),
    ),
    (
        "memory",
        ("moving bytes to or from the card's memory", "カードのメモリーとの転送"),
        (
            "data move between the host and the card's own memory",
            "ホストとカード上のメモリーの間でデータを移す時間です",
        ),
    ),
    (
        "copy",
        ("the additional copy of cached I/O", "Cached I/O による余分なコピー"),
        (
            "under cached I/O, data from the drives are put into the card's memory first and copied from there",
            "Cached I/O では、ドライブから読んだデータをいったんカードのメモリーに入れてから渡します",
        ),
    ),
    (
        "cache-full",
        ("waiting for room in the cache", "キャッシュが空くのを待つ時間"),
        (
            "the card's memory is full of data that the drives have not written yet",
            "カードのメモリーが、まだドライブに書かれていないデータで一杯です",
        ),
    ),
    (
        "draining",
        ("emptying the cache", "キャッシュの書き出し"),
        (
            "without a battery, a flush waits until the drives have everything that is in the card's memory",
            "バッテリーがないので、メモリー上のデータがすべてドライブに書かれるまでフラッシュが終わりません",
        ),
    ),
    (
        "read-ahead",
        ("waiting for data being read ahead", "先読み中のデータを待つ時間"),
        ("the card is reading these data already", "カードがすでに読み始めているデータの到着を待っています"),
    ),
    (
        "row-busy",
        ("waiting for another write to the same stripe", "同じストライプへの書き込み待ち"),
        (
            "two writes to one stripe would spoil its parity, so one follows the other",
            "同じストライプへの書き込みはパリティーが壊れないよう 1 件ずつ行われます",
        ),
    ),
    (
        "parity-busy",
        ("waiting for the parity computation", "パリティー計算待ち"),
        ("parity of other requests is being computed", "別の要求のパリティーを計算しています"),
    ),
    (
        "parity",
        ("computing parity", "パリティーの計算"),
        (
            "from the data, the card computes what makes up for a drive that fails",
            "ドライブの故障に備えるためのデータを計算する時間です",
        ),
    ),
];

/// Key and name, in the order in which `Words::new` takes them.
const COUNTERS: [(&str, Pair); 10] = [
    (
        "most-bytes",
        ("bytes of the drive with the most of a request", "要求を最も多く受け持つドライブのバイト数"),
    ),
    ("even-bytes", ("bytes of each drive, if all had the same", "均等に分けた場合の 1 台あたりのバイト数")),
    ("member-reads", ("reads from drives", "ドライブからの読み出し回数")),
    ("member-writes", ("writes to drives", "ドライブへの書き込み回数")),
    ("hit-bytes", ("bytes read from the cache", "キャッシュから読めたバイト数")),
    ("missed-bytes", ("bytes not found in the cache", "キャッシュになかったバイト数")),
    ("ahead-bytes", ("bytes read ahead", "先読みしたバイト数")),
    ("destaged-bytes", ("bytes written back from the cache", "キャッシュから書き戻したバイト数")),
    ("whole-rows", ("stripes written without reading first", "読み出しなしで書けたストライプ数")),
    (
        "partial-rows",
        (
            "stripes that had to be read first to compute parity",
            "パリティー計算のため先に読み出したストライプ数",
        ),
    ),
];

/// Causes and counters.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pub(super) processor_busy: Cause,
    pub(super) request: Cause,
    pub(super) strips: Cause,
    pub(super) latency: Cause,
    pub(super) memory_busy: Cause,
    pub(super) memory: Cause,
    pub(super) copy: Cause,
    pub(super) full: Cause,
    pub(super) draining: Cause,
    pub(super) ahead: Cause,
    pub(super) row_busy: Cause,
    pub(super) parity_busy: Cause,
    pub(super) parity: Cause,
    pub(super) most_bytes: Counter,
    pub(super) even_bytes: Counter,
    pub(super) member_reads: Counter,
    pub(super) member_writes: Counter,
    pub(super) hit_bytes: Counter,
    pub(super) missed_bytes: Counter,
    pub(super) ahead_bytes: Counter,
    pub(super) destaged_bytes: Counter,
    pub(super) whole_rows: Counter,
    pub(super) partial_rows: Counter,
}

impl Words {
    pub(super) fn new(builder: &mut Builder<'_>) -> Self {
        let [
            processor_busy,
            request,
            strips,
            latency,
            memory_busy,
            memory,
            copy,
            full,
            draining,
            ahead,
            row_busy,
            parity_busy,
            parity,
        ] = CAUSES.map(|(key, name, explanation)| builder.cause(key, name, explanation));
        let [
            most_bytes,
            even_bytes,
            member_reads,
            member_writes,
            hit_bytes,
            missed_bytes,
            ahead_bytes,
            destaged_bytes,
            whole_rows,
            partial_rows,
        ] = COUNTERS.map(|(key, name)| builder.counter(key, name));
        Self {
            processor_busy,
            request,
            strips,
            latency,
            memory_busy,
            memory,
            copy,
            full,
            draining,
            ahead,
            row_busy,
            parity_busy,
            parity,
            most_bytes,
            even_bytes,
            member_reads,
            member_writes,
            hit_bytes,
            missed_bytes,
            ahead_bytes,
            destaged_bytes,
            whole_rows,
            partial_rows,
        }
    }
}
