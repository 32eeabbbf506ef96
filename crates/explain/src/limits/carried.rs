//! Sentences for data rates: the medium, the connection, several drives, a volume.

use super::limit::{Limit, LimitKind, Strength};
use super::words::limit;
use crate::ceiling::{AtCeiling, Ceiling};
use crate::cell::CellFacts;
use crate::figures::size;
use kurabe_core::number;
use kurabe_core::{Text, text};

/// Returns the limit for a device whose own data rate is the bottleneck, although the connection
/// has room.
pub(super) fn device_rate(facts: &CellFacts<'_>, link: &Ceiling, turns: bool) -> Limit {
    let (rate, usual) = (number::rate(facts.rate), number::rate(link.usual));
    let name = &link.name;
    let evidence = text!(
        "sequential I/O reaches {rate}, while {name} carries about {usual}",
        "順に読み書きして {rate} で、{name} なら約 {usual} まで運べます"; name
    );
    // A bridge that takes one command at a time costs the connection an unknown part of its rate.
    let is_sure = link.has_much_room(facts.rate) && !link.one_command;
    let strength = if is_sure { Strength::Strong } else { Strength::Likely };
    limit(LimitKind::DeviceRate, strength, own_rate(facts, turns), evidence)
}

/// Returns the limit for writes faster than any drive, which memory in front of the drives absorbs.
pub(super) fn memory_before_drives(facts: &CellFacts<'_>) -> Limit {
    let (rate, mean) = (number::rate(facts.rate), number::latency(facts.latency_ns));
    limit(
        LimitKind::WriteCache,
        Strength::Likely,
        text!(
            "memory in front of the drives, which accepts writes before the drives do",
            "ドライブの手前のメモリー(ドライブに書く前に書き込みを受け取る)"
        ),
        text!(
            "a write completes after {mean}, at {rate}, which is faster than any hard disk",
            "書き込みは {mean}、{rate} で終わります。どのディスクよりも速い値です"
        ),
    )
}

/// Returns the limit for several drives, none of which saturates its connection.
pub(super) fn drives_rate(facts: &CellFacts<'_>, each: f64, link: &Ceiling) -> Limit {
    let (each, usual) = (number::rate(each), number::rate(link.usual));
    let name = &link.name;
    let evidence = text!(
        "each drive transfers about {each}, while its {name} carries about {usual}, and concurrent \
         random reads show that the drives work in parallel",
        "ドライブ 1 台あたり約 {each} で、{name} なら約 {usual} まで運べます。複数箇所の読み出しから、ドライブが並行して動くことも分かります"; name
    );
    limit(LimitKind::DeviceRate, Strength::Likely, own_rate(facts, true), evidence)
}

/// Returns the limit for a rate that falls towards the end of the disk, where tracks are shorter.
pub(super) fn zones(facts: &CellFacts<'_>, [first, last]: [f64; 2]) -> Limit {
    let (first, last) = (number::rate(first), number::rate(last));
    let evidence = text!(
        "the rate falls from {first} at the start to {last} at the end, where tracks are shorter; a \
         connection has the same rate everywhere",
        "先頭の {first} から末尾の {last} へ、内周ほど遅くなります。接続が原因なら位置によらず同じ速さです"
    );
    // Writes go through a cache, which hides a part of the medium's speed.
    let strength = if facts.is_write() { Strength::Likely } else { Strength::Strong };
    limit(LimitKind::DeviceRate, strength, own_rate(facts, true), evidence)
}

/// Returns the limit for a rate that stays constant towards the end, which it would not if the
/// medium limited it.
pub(super) fn as_fast_everywhere(facts: &CellFacts<'_>) -> Limit {
    let rate = number::rate(facts.rate);
    let evidence = text!(
        "the rate is {rate} everywhere, although inner tracks are shorter than outer ones",
        "内周ほどトラックは短くなりますが、どの位置でも {rate} です"
    );
    limit(LimitKind::Link, Strength::Likely, connection_or_memory(facts.rate), evidence)
}

/// Returns the limit for a transfer that is slower than an immediate re-read of the same range. The
/// re-read does not involve the medium.
pub(super) fn medium(facts: &CellFacts<'_>, memory_rate: f64) -> Limit {
    let (rate, memory) = (number::rate(facts.rate), number::rate(memory_rate));
    let evidence = text!(
        "sequential reads reach {rate}; re-reads of the same range, from the drive's memory, reach {memory}",
        "順に読むと {rate} ですが、同じ場所の再読み出し(ドライブのメモリーから)は接続を {memory} で通ります"
    );
    limit(LimitKind::DeviceRate, Strength::Strong, own_rate(facts, true), evidence)
}

/// Returns the limit for a rate slightly below that of an immediate re-read.
pub(super) fn medium_and_connection(facts: &CellFacts<'_>, memory_rate: f64) -> Limit {
    let (rate, memory) = (number::rate(facts.rate), number::rate(memory_rate));
    let sentence = text!(
        "the transfer of its bytes on medium and connection alike: {rate}",
        "データの転送(媒体と接続の両方、{rate})"
    );
    let evidence = text!(
        "sequential reads reach {rate}, and re-reads of the same range, from the drive's memory, \
         {memory}, which is almost the same",
        "順に読むと {rate}、同じ場所の再読み出し(ドライブのメモリーから)は接続を {memory} で通り、大差がありません"
    );
    limit(LimitKind::Shared, Strength::Likely, sentence, evidence)
}

/// Returns the limit for a rate no lower than that of an immediate re-read.
pub(super) fn connection(facts: &CellFacts<'_>, memory_rate: f64, link: Option<&Ceiling>) -> Limit {
    let (rate, memory) = (number::rate(facts.rate), number::rate(memory_rate));
    let sentence = match link.map(|link| &link.name) {
        Some(name) => text!("the connection: {name}", "接続({name})"; name),
        None => connection_or_memory(memory_rate),
    };
    let evidence = text!(
        "sequential reads reach {rate}, and re-reads of the same range, from the drive's memory, only {memory}",
        "順に読むと {rate}、同じ場所の再読み出し(ドライブのメモリーから)でも {memory} です"
    );
    // If sectors pass the head at that same rate, the difference is not visible.
    limit(LimitKind::Link, Strength::Likely, sentence, evidence)
}

fn connection_or_memory(rate: f64) -> Text {
    let rate = number::rate(rate);
    text!(
        "the connection, or the drive's memory behind it: {rate}",
        "接続、またはその先のドライブのメモリー({rate} が上限)"
    )
}

fn own_rate(facts: &CellFacts<'_>, turns: bool) -> Text {
    let rate = number::rate(facts.rate);
    if turns {
        text!("the medium's data rate: {rate}", "媒体の転送速度({rate})")
    } else {
        text!(
            "the device's own data rate (medium or controller)",
            "デバイス自身の転送速度(媒体かコントローラー)"
        )
    }
}

/// Returns the limit for a rate below that of the other direction on the same connection.
pub(super) fn slower_way(facts: &CellFacts<'_>, other: &CellFacts<'_>) -> Limit {
    let (rate, faster) = (number::rate(facts.rate), number::rate(other.rate));
    let evidence = text!(
        "sequential I/O reaches {rate}, and {faster} in the other direction on the same connection",
        "順に読み書きして {rate} ですが、同じ接続の逆方向は {faster} です"
    );
    limit(LimitKind::DeviceRate, Strength::Likely, own_rate(facts, false), evidence)
}

/// Returns the limit for transfers that are slower than one operation, whose bytes passed the same
/// connection.
pub(super) fn faster_once(
    facts: &CellFacts<'_>,
    shown: &CellFacts<'_>,
    shown_rate: f64,
    turns: bool,
) -> Limit {
    if shown_rate <= shown.rate {
        return slower_way(facts, shown);
    }
    let (rate, shown_rate) = (number::rate(facts.rate), number::rate(shown_rate));
    let (quickest, size) = (number::latency(shown.quickest_ns), size(shown.block_bytes()));
    let operation = match shown.is_write() {
        false => text!("a read", "読み出し"),
        true => text!("a write", "書き込み"),
    };
    let evidence = text!(
        "sequential I/O reaches {rate}, but {operation} of {size} took only {quickest}, so the connection carries at \
         least {shown_rate}",
        "順に読み書きして {rate} ですが、{size} の{operation}が {quickest} で終わったこともあり、接続は {shown_rate} 以上を運べます";
        operation
    );
    limit(LimitKind::DeviceRate, Strength::Likely, own_rate(facts, turns), evidence)
}

/// Returns the limit for single operations during which the connection is idle, because concurrent
/// ones are faster.
pub(super) fn deeper_is_faster(facts: &CellFacts<'_>, deeper: &CellFacts<'_>, turns: bool) -> Limit {
    let (rate, faster) = (number::rate(facts.rate), number::rate(deeper.rate));
    let evidence = text!(
        "one operation at a time transfers {rate}, and several at a time {faster}, so the connection carries more",
        "1 つずつでは {rate} ですが、同時に複数なら {faster} で、接続にはまだ余裕があります"
    );
    limit(LimitKind::DeviceRate, Strength::Likely, own_rate(facts, turns), evidence)
}

/// Returns the limit for reads whose rate depends on where a repetition began.
pub(super) fn differs_by_place(facts: &CellFacts<'_>, slowest: f64, quickest: f64) -> Limit {
    let (slowest, quickest) = (number::rate(slowest), number::rate(quickest));
    let evidence = text!(
        "each repetition began at another place, and reached between {slowest} and {quickest}; a connection has the \
         same rate everywhere",
        "開始位置の異なる各回の速さは {slowest} 〜 {quickest} です。接続が原因なら位置によらず同じ速さです"
    );
    limit(LimitKind::DeviceRate, Strength::Likely, own_rate(facts, true), evidence)
}

/// Returns the limit for a rate at which a connection ends, if that of the device is unknown.
pub(super) fn by_line(end: &Ceiling, at: &AtCeiling) -> Limit {
    let name = &end.name;
    let sentence = text!("the connection, by its rate: {name}", "接続(速さからみて {name})"; name);
    limit(LimitKind::Link, Strength::Likely, sentence, end.evidence(at))
}

/// Returns the limit for a rate at which no connection ends.
pub(super) fn no_line_ends_there(facts: &CellFacts<'_>, ends: &[Ceiling], turns: bool) -> Limit {
    let below = ends.iter().filter(|end| end.raw < facts.rate).max_by(|a, b| a.usual.total_cmp(&b.usual));
    let above = ends.iter().filter(|end| end.raw >= facts.rate).min_by(|a, b| a.usual.total_cmp(&b.usual));
    let words = |end: &Ceiling| {
        let (name, usual) = (&end.name, number::rate(end.usual));
        text!("{name} carries about {usual}", "{name} は約 {usual}"; name)
    };
    let ends = Text::list([below, above].into_iter().flatten().map(words));
    let rate = number::rate(facts.rate);
    let evidence = text!(
        "sequential I/O reaches {rate}, where no common connection ends: {ends}",
        "順に読み書きして {rate} で、この速さが上限になる接続はまずありません({ends})"; ends
    );
    limit(LimitKind::DeviceRate, Strength::Likely, own_rate(facts, turns), evidence)
}

/// Returns the limit for a rate below that of any medium of this kind.
pub(super) fn bus(facts: &CellFacts<'_>) -> Limit {
    let rate = number::rate(facts.rate);
    limit(
        LimitKind::Link,
        Strength::Likely,
        text!("the bus: {rate}, regardless of the size", "バス(大きさによらず {rate})"),
        text!(
            "the medium is not rotational, operations are served one at a time, and even the slowest \
             cards are faster than {rate}",
            "回転する媒体ではなく、一度に 1 操作ずつの処理で、最も遅いカードでも {rate} よりは速いはずです"
        ),
    )
}

/// Returns the limit of a volume with provisioned bytes per second.
pub(super) fn sold_bytes(provider: &str, facts: &CellFacts<'_>, strength: Strength) -> Limit {
    let rate = number::rate(facts.rate);
    let sentence = text!("the volume's throughput limit: {rate}", "ボリュームのスループット上限({rate})");
    sold(provider, sentence, strength)
}

/// Returns the limit of a volume with provisioned operations per second.
pub(super) fn sold_operations(provider: &str, facts: &CellFacts<'_>, strength: Strength) -> Limit {
    let rate = number::iops(facts.iops);
    let sentence = text!("the volume's IOPS limit: {rate}", "ボリュームの IOPS 上限({rate})");
    sold(provider, sentence, strength)
}

fn sold(provider: &str, sentence: Text, strength: Strength) -> Limit {
    let evidence = text!(
        "at a higher queue depth operations wait longer without a higher rate, and {provider} volumes have such limits",
        "同時 I/O 数を増やしても待ち時間が延びるだけです。{provider} のボリュームにはこのような上限があります"
    );
    let next = text!("use a volume with a higher limit", "上限の高いボリュームにすると速くなります");
    limit(LimitKind::Volume, strength, sentence, evidence).next(next)
}
