//! The sentences of the rules, in both languages.

use super::limit::{Limit, LimitKind, Strength};
use super::storage::StorageFacts;
use crate::ceiling::{AtCeiling, Ceiling};
use crate::cell::CellFacts;
use crate::figures::times;
use kurabe_core::mention::{DIRECT, IODEPTH, RUN, SWEEP, THREADS, TIME, TRACE, WAIT};
use kurabe_core::number;
use kurabe_core::{Text, text};

fn limit(kind: LimitKind, strength: Strength, sentence: Text, evidence: Text) -> Limit {
    Limit { kind, strength, sentence, evidence, next: None }
}

impl Limit {
    fn next(self, next: Text) -> Self {
        Self { next: Some(next), ..self }
    }
}

/// Nothing in the record tells.
fn nothing_tells() -> Limit {
    limit(LimitKind::Unknown, Strength::None, text!("unknown", "不明"), Text::default())
}

fn depth(facts: &CellFacts<'_>) -> u32 {
    facts.depth().unwrap_or(1)
}

pub(super) fn generator(share: f64) -> Limit {
    let share = number::percent(share);
    limit(
        LimitKind::Generator,
        Strength::Strong,
        text!("kurabe itself, not the storage", "ストレージではなく kurabe 自身"),
        text!(
            "its own code took {share} of the issuing threads' time",
            "kurabe のコードが発行スレッドの時間の {share} を使いました"
        ),
    )
    .next(text!(
        "more {THREADS} show what the storage can",
        "{THREADS} を増やすとストレージの限界が分かります"
    ))
}

pub(super) fn other_work(others: f64, steal: f64) -> Limit {
    let evidence = if others > steal {
        let share = number::percent(others);
        let amount = match others {
            2.0.. => Text::of(share, format!("約 {} 倍の量", times(others))),
            _ => text!("{share}", " {share} にあたる量"),
        };
        text!(
            "others moved {amount} as many bytes on the device as this cell did",
            "この項目の転送量の{amount}を、ほかの処理が同じデバイスで転送しました"; amount
        )
    } else {
        let steal = number::percent(steal);
        text!(
            "the hypervisor took away {steal} of the CPU time",
            "ハイパーバイザーが CPU 時間の {steal} をほかに割り当てました"
        )
    };
    disturbed(evidence)
}

fn disturbed(evidence: Text) -> Limit {
    let sentence = text!("other work at the same time", "同時に動いていたほかの処理");
    limit(LimitKind::OtherWork, Strength::Likely, sentence, evidence)
        .next(text!("measure again when it is quiet", "ほかの処理がないときに測り直してください"))
}

pub(super) fn crowded(share: f64) -> Limit {
    let share = number::percent(share);
    disturbed(text!(
        "it kept half of the CPUs busy or more, and tasks waited for a CPU {share} of the time",
        "CPU の半数以上がほかの処理で埋まり、時間の {share} で CPU の空き待ちがありました"
    ))
}

pub(super) fn host_memory(rate: f64, link: &Ceiling) -> Limit {
    let (rate, raw) = (number::rate(rate), number::rate(link.raw));
    let name = &link.name;
    limit(
        LimitKind::HostMemory,
        Strength::Strong,
        text!("the computer's memory, not the device", "デバイスではなく、コンピューターのメモリー"),
        text!(
            "{rate} through the page cache is more than {name} can carry ({raw})",
            "ページキャッシュ経由の {rate} は、{name} で運べる {raw} を超えています"; name
        ),
    )
    .next(around_the_cache())
}

/// A file system in the computer's memory.
pub(super) fn memory_file_system(kind: &str) -> Limit {
    limit(
        LimitKind::HostMemory,
        Strength::Strong,
        text!(
            "the computer's memory and its processor: {kind} has no device below it",
            "コンピューターのメモリーと CPU({kind} の下にデバイスはありません)"
        ),
        text!(
            "all of the file system {kind} lies in memory",
            "ファイルシステム {kind} は全体がメモリー上にあります"
        ),
    )
    .next(text!(
        "measure a directory on the device that is meant",
        "調べたいデバイス上のディレクトリを測ってください"
    ))
}

/// Operations through the page cache; `alone` if memory alone answered most of them.
pub(super) fn page_cache(facts: &CellFacts<'_>, alone: bool) -> Limit {
    let (median, rate) = (number::latency(facts.median_ns), number::rate(facts.rate));
    let sentence = match (facts.is_write(), alone) {
        (_, true) => {
            text!(
                "the page cache: the computer's memory, not the device",
                "ページキャッシュ(デバイスではなくメモリー)"
            )
        }
        (true, false) => text!(
            "the page cache takes the writes, the device gets them later",
            "ページキャッシュ(書き込みをメモリーで受け、デバイスへは後から書く)"
        ),
        (false, false) => text!(
            "the page cache: reading ahead and memory stand before the device",
            "ページキャッシュ(先読みとメモリーを経由)"
        ),
    };
    let evidence = if alone {
        text!(
            "I/O went through the page cache ({rate}), and half of the operations took {median} or less, which is the time of \
             memory",
            "ページキャッシュ経由({rate})で、操作の半分は {median} 以内に終わっています。これはメモリーの速さです"
        )
    } else {
        text!(
            "I/O went through the page cache ({rate}, half of the operations in {median} or less), so what the device did \
             cannot be told from it",
            "ページキャッシュ経由のため({rate}、操作の半分は {median} 以内)、デバイスの動きはここからは分かりません"
        )
    };
    let strength = if alone { Strength::Strong } else { Strength::Likely };
    limit(LimitKind::HostMemory, strength, sentence, evidence).next(around_the_cache())
}

fn around_the_cache() -> Text {
    text!("{DIRECT} goes around the page cache", "{DIRECT} でページキャッシュを避けられます")
}

pub(super) fn link(link: &Ceiling, at: &AtCeiling) -> Limit {
    let name = &link.name;
    let strength = if at.both_ways.is_some() { Strength::Strong } else { Strength::Likely };
    let sentence = text!("the connection: {name}", "接続({name})"; name);
    let limit = limit(LimitKind::Link, strength, sentence, link.evidence(at));
    match link.could.map(number::rate) {
        Some(could) => limit.next(text!(
            "the device could carry {could} on a better port or cable",
            "ポートやケーブルを替えれば、このデバイスは {could} まで運べます"
        )),
        None => limit,
    }
}

pub(super) fn write_cache(head: f64, tail: f64) -> Limit {
    let (from, to) = (number::rate(head), number::rate(tail));
    limit(
        LimitKind::WriteCache,
        Strength::Likely,
        text!(
            "the sustained write speed of the device: the cache in front of it filled up",
            "キャッシュが埋まったあとの、持続的な書き込み速度"
        ),
        text!(
            "within one repetition the rate fell from {from} to {to} and did not return",
            "1 回の測定の間に {from} から {to} へ下がり、戻りませんでした"
        ),
    )
    .next(text!(
        "a sweep over sizes shows how much fits ({SWEEP})",
        "どれだけ入るかはサイズを変えた測定で分かります({SWEEP})"
    ))
}

pub(super) fn stalls(share: f64, median_ns: f64) -> Limit {
    let (share, median) = (number::percent(share), number::latency(median_ns));
    limit(
        LimitKind::Stalls,
        Strength::Strong,
        text!("pauses of the device", "デバイスの停滞"),
        text!(
            "something was stalled for {share} of the time, while half of the operations took {median} or less",
            "測定時間の {share} で停滞が起きていましたが、操作の半分は {median} 以内に終わっています"
        ),
    )
}

pub(super) fn host(rest_ns: f64, whole_ns: f64) -> Limit {
    let (rest, whole) = (number::latency(rest_ns), number::latency(whole_ns));
    limit(
        LimitKind::Host,
        Strength::Strong,
        text!("the way through the computer, not the device", "デバイスではなく、コンピューター側の処理"),
        text!(
            "an operation takes {whole}, and {rest} of it pass outside of the block layer: system call, interrupt, waking up",
            "1 操作 {whole} のうち {rest} は、ブロック層の外(システムコール、割り込み、スレッドの起床)です"
        ),
    )
    .next(text!("{WAIT} spin does without the waking up", "{WAIT} spin で起床待ちを省けます"))
}

pub(super) fn queued(queue_ns: f64, whole_ns: f64) -> Limit {
    let (queue, whole) = (number::latency(queue_ns), number::latency(whole_ns));
    limit(
        LimitKind::Saturated,
        Strength::Strong,
        text!(
            "operations wait in the kernel's queues: the device takes no more at once",
            "カーネルのキュー待ち(デバイスが同時に受け付けられる数を超過)"
        ),
        text!(
            "an operation takes {whole}, and {queue} of it pass in queues before the device is handed anything",
            "1 操作 {whole} のうち {queue} は、デバイスに渡される前のキュー待ちです"
        ),
    )
}

pub(super) fn mechanics(each_ns: f64, facts: &CellFacts<'_>) -> Limit {
    let each = number::latency(each_ns);
    let evidence = if facts.is_alone() {
        text!(
            "the medium turns, and half of the accesses take {each} or longer: moving the arm and waiting for the sector",
            "媒体が回転し、アクセスの半分が {each} 以上かかっています。アームの移動と、セクターが回ってくるまでの時間です"
        )
    } else {
        text!(
            "the medium turns, and it ends one access every {each}: moving the arm and waiting for the sector",
            "媒体が回転し、{each} に 1 回ずつアクセスを終えています。アームの移動と、セクターが回ってくるまでの時間です"
        )
    };
    limit(LimitKind::Mechanics, Strength::Strong, text!("seek and rotation", "シークと回転待ち"), evidence)
}

pub(super) fn saturated(facts: &CellFacts<'_>, before: &CellFacts<'_>, waiting: f64) -> Limit {
    let (now, then) = (depth(facts), depth(before));
    let (slow, fast) = (number::latency(facts.latency_ns), number::latency(before.latency_ns));
    let gain = facts.rate / before.rate;
    let (share, gain_shown) = (number::percent(waiting), times(gain));
    let sentence = if gain >= 1.5 {
        text!(
            "the device is saturated: operations wait for each other",
            "デバイスの飽和(操作が順番待ちになる)"
        )
    } else if facts.is_random() {
        text!(
            "the device serves one operation at a time; the others wait",
            "デバイスの逐次処理(一度に 1 操作だけを処理し、ほかは待機)"
        )
    } else {
        text!(
            "device and connection are at their full rate; more operations only wait",
            "デバイスと接続の転送速度(すでに上限で、操作を増やしても待つだけ)"
        )
    };
    limit(
        LimitKind::Saturated,
        Strength::Strong,
        sentence,
        text!(
            "with {now} in flight instead of {then} the rate is {gain_shown} times as high, and an operation takes {slow} \
             instead of {fast}: {share} of it is waiting",
            "同時 I/O 数を {then} から {now} にしても速さは {gain_shown} 倍で、1 操作の時間は {fast} から {slow} に延びます。\
             その {share} は順番待ちです"
        ),
    )
}

pub(super) fn one_at_a_time(
    facts: &CellFacts<'_>,
    deeper: Option<(&CellFacts<'_>, f64)>,
    machine: Option<&str>,
) -> Limit {
    let each = number::latency(facts.latency_ns);
    let mut evidence = text!(
        "one operation is in flight, and its answer takes {each}",
        "同時に進行する操作は 1 つで、応答まで {each} かかります"
    );
    let strength = match deeper {
        Some((deeper, gain)) => {
            let (now, gain) = (depth(deeper), times(gain));
            evidence.push(&text!(
                "; with {now} in flight the same work is {gain} times as fast",
                "。同時 I/O 数を {now} にすると {gain} 倍の速さになります"
            ));
            Strength::Strong
        }
        None => Strength::Likely,
    };
    if let Some(machine) = machine {
        evidence.push(&text!(
            "; the time of the virtual machine ({machine}) is part of it",
            "。この時間には仮想マシン({machine})の処理も含まれます"
        ));
    }
    let limit = limit(
        LimitKind::OneAtATime,
        strength,
        text!("the response time of a single operation", "1 操作の応答時間"),
        evidence,
    );
    match (facts.split, deeper) {
        (None, _) => limit.next(text!(
            "`{RUN} {TRACE}` splits it into time in the kernel and in the device",
            "{RUN} {TRACE} で、カーネル内とデバイス内の時間に分けられます"
        )),
        (Some(_), None) => limit.next(text!(
            "a larger {IODEPTH} shows what more in flight bring",
            "{IODEPTH} を増やすと、並行に処理できるかどうかが分かります"
        )),
        (Some(_), Some(_)) => limit,
    }
}

pub(super) fn serves_one(facts: &CellFacts<'_>, deeper: &CellFacts<'_>) -> Limit {
    let (more, each) = (depth(deeper), number::latency(facts.latency_ns));
    let gain = times(deeper.rate / facts.rate);
    limit(
        LimitKind::ServesOne,
        Strength::Strong,
        text!(
            "device and connection, which a single operation keeps busy",
            "デバイスと接続(1 操作ずつでも上限に達している)"
        ),
        text!(
            "an operation takes {each}, and {more} in flight are only {gain} times as fast",
            "1 操作に {each} かかり、同時 I/O 数を {more} にしても {gain} 倍にしかなりません"
        ),
    )
}

pub(super) fn scales(facts: &CellFacts<'_>, before: &CellFacts<'_>, gain: f64) -> Limit {
    let (now, then, gain) = (depth(facts), depth(before), times(gain));
    let each = number::latency(facts.latency_ns);
    limit(
        LimitKind::OneAtATime,
        Strength::Strong,
        text!(
            "the response time of the operations: even more in flight would be served",
            "操作の応答時間(同時 I/O 数をさらに増やす余地あり)"
        ),
        text!(
            "with {now} in flight instead of {then} the rate is {gain} times as high, and each still takes {each}",
            "同時 I/O 数を {then} から {now} にすると速さは {gain} 倍になり、1 操作の時間は {each} にとどまります"
        ),
    )
    .next(text!("a larger {IODEPTH}", "{IODEPTH} をさらに増やしてください"))
}

pub(super) fn device_rate(facts: &CellFacts<'_>, sibling: &CellFacts<'_>, link: &Ceiling) -> Limit {
    let (rate, usual) = (number::rate(facts.rate), number::rate(link.usual));
    let (now, other) = (depth(facts), depth(sibling));
    let name = &link.name;
    limit(
        LimitKind::DeviceRate,
        Strength::Likely,
        text!(
            "the device's own data rate (medium or controller)",
            "デバイス自身の転送速度(媒体かコントローラー)"
        ),
        text!(
            "{rate} with {now} in flight as with {other}, while {name} leaves room up to about {usual}",
            "同時 I/O 数が {now} でも {other} でも {rate} で、{name} には約 {usual} までの余裕があります"; name
        ),
    )
}

pub(super) fn unknown_import() -> Limit {
    nothing_tells().next(text!(
        "another tool measured it and printed figures only; measure it with `{RUN}`",
        "ほかのツールの結果で、印字された値しかありません。{RUN} で測ってください"
    ))
}

pub(super) fn unknown_mixture() -> Limit {
    nothing_tells().next(text!(
        "this cell is not one kind of operation; cells of a single workload tell more",
        "この項目は 1 種類の操作ではありません。単独のワークロードの項目なら、より多くのことが分かります"
    ))
}

/// Nothing holds: what would tell.
pub(super) fn unknown(ground: &StorageFacts, cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Limit {
    let limit = nothing_tells();
    let other_depth = facts.deeper(cells).or_else(|| facts.shallower(cells));
    if ground.cached {
        return limit.next(text!(
            "I/O went through the page cache; {DIRECT} goes around it and shows the device alone",
            "ページキャッシュ経由の測定です。{DIRECT} で避ければデバイスだけを見られます"
        ));
    }
    limit.next(match (ground.several, &ground.link) {
        (true, _) => text!(
            "several devices are below; measure one of them alone",
            "下に複数のデバイスがあります。1 台だけで測ると分かります"
        ),
        (false, None) => text!(
            "the rate of the connection is not known, so device and connection cannot be told apart; the same device on \
             another port would tell",
            "接続の速度が不明なため、デバイスと接続のどちらが上限かを区別できません。別のポートで測ると分かります"
        ),
        (false, Some(_)) if other_depth.is_none() => text!(
            "the same with another number of operations in flight: profiles such as `default` have both",
            "同時 I/O 数を変えた測定が必要です。default などのプロファイルには両方あります"
        ),
        (false, Some(_)) => text!(
            "`{RUN} {TRACE}`, and a longer measurement ({TIME})",
            "{RUN} {TRACE} と、より長い測定({TIME})で調べてください"
        ),
    })
}
