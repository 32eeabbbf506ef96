//! Sentences of the rules, in both languages.

use super::evidence::{ChainWalk, Evidence, TimePart, WALKED_SURELY};
use super::limit::{Limit, LimitKind, MOSTLY, Strength};
use super::storage::Bus;
use crate::ceiling::{AtCeiling, Ceiling};
use crate::cell::{CellFacts, ContendedResource, OtherWork};
use crate::figures::{size, times};
use kurabe_core::mention::{DIRECT, PROBE, RUN, SWEEP, THREADS, TIME, TRACE, WAIT, WHY};
use kurabe_core::number;
use kurabe_core::{Text, text};

pub(super) fn limit(kind: LimitKind, strength: Strength, sentence: Text, evidence: Text) -> Limit {
    Limit { kind, strength, sentence, evidence, next: None }
}

impl Limit {
    pub(super) fn next(self, next: Text) -> Self {
        Self { next: Some(next), ..self }
    }

    /// Adds other work that was the same in all repetitions, so that its effect is unknown.
    pub(super) fn beside(mut self, other: &OtherWork) -> Self {
        let others = others_words(other);
        self.evidence.push(&match self.evidence == Text::default() {
            true => others,
            false => text!("; {others}", "。なお、{others}"; others),
        });
        Self { strength: self.strength.min(Strength::Likely), ..self }
    }

    /// Extends the limit of single operations to concurrent ones that are served one after the
    /// other.
    pub(super) fn one_after_the_other(
        mut self,
        single: &CellFacts<'_>,
        deeper: &CellFacts<'_>,
        evidence: &Evidence<'_>,
    ) -> Self {
        let (now, gain) = (depth(deeper), times(deeper.rate / single.rate));
        if evidence.storage.several {
            let turns = in_turns_words(single, deeper);
            self.evidence.push(&text!("; {turns}", "。{turns}"; turns));
            return self;
        }
        let one_command = evidence.storage.link.as_ref().is_some_and(|link| link.one_command);
        self.evidence.push(&if one_command {
            text!(
                "; the bridge accepts one command at a time (BOT): queue depth {now} is {gain} times as \
                 fast as depth 1",
                "。ブリッジは一度に 1 コマンドしか受けず(BOT)、同時 I/O 数 {now} でも 1 のときの {gain} 倍です"
            )
        } else {
            text!("; queue depth {now} is {gain} times as fast as depth 1", "。同時 I/O 数 {now} でも 1 のときの {gain} 倍です")
        });
        self
    }
}

/// Returns an unknown limit without evidence.
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
        "use more {THREADS} to reach the limit of the storage",
        "{THREADS} を増やすとストレージの限界が分かります"
    ))
}

/// Describes other work, as a clause.
fn others_words(other: &OtherWork) -> Text {
    let share = number::percent(other.share);
    match (other.resource, other.share) {
        (ContendedResource::Device, 2.0..) => {
            let times = times(other.share);
            text!(
                "other processes transferred {share} as many bytes on the device as this test",
                "この項目の転送量の約 {times} 倍の量を、ほかの処理が同じデバイスで転送しました"
            )
        }
        (ContendedResource::Device, _) => text!(
            "other processes transferred {share} as many bytes on the device as this test",
            "この項目の転送量の {share} にあたる量を、ほかの処理が同じデバイスで転送しました"
        ),
        (ContendedResource::Hypervisor, _) => text!(
            "the hypervisor gave {share} of the CPU time to other guests",
            "ハイパーバイザーが CPU 時間の {share} をほかに割り当てました"
        ),
        (ContendedResource::Processors, _) => text!(
            "other processes kept at least half of the CPUs busy, and tasks waited for a CPU {share} of the time",
            "CPU の半数以上がほかの処理で埋まり、時間の {share} で CPU の空き待ちがありました"
        ),
    }
}

/// Returns the limit for other work that slowed the repetitions with more of it.
pub(super) fn other_work(other: &OtherWork, slowed_to: f64) -> Limit {
    let slowed_to = number::percent(slowed_to);
    let mut evidence = others_words(other);
    evidence.push(&text!(
        "; the repetitions with more of this load reached {slowed_to} of the rate of the others",
        "。それが多かった回の速さは、ほかの回の {slowed_to} です"
    ));
    let sentence = text!("load from other processes", "同時に動いていたほかの処理");
    limit(LimitKind::OtherWork, Strength::Likely, sentence, evidence)
        .next(text!("measure again on an idle machine", "ほかの処理がないときに測り直してください"))
}

pub(super) fn host_memory(rate: f64, link: &Ceiling) -> Limit {
    let (rate, raw) = (number::rate(rate), number::rate(link.raw));
    let name = &link.name;
    limit(
        LimitKind::HostMemory,
        Strength::Strong,
        text!("the computer's memory, not the device", "デバイスではなく、コンピューターのメモリー"),
        text!(
            "{rate} through the page cache exceeds the capacity of {name} ({raw})",
            "ページキャッシュ経由の {rate} は、{name} で運べる {raw} を超えています"; name
        ),
    )
    .next(around_the_cache())
}

/// Returns the limit for a file system in the computer's memory.
pub(super) fn memory_file_system(kind: &str) -> Limit {
    limit(
        LimitKind::HostMemory,
        Strength::Strong,
        text!(
            "the computer's memory and CPU: {kind} has no device below it",
            "コンピューターのメモリーと CPU({kind} の下にデバイスはありません)"
        ),
        text!(
            "the file system {kind} is entirely in memory",
            "ファイルシステム {kind} は全体がメモリー上にあります"
        ),
    )
    .next(text!(
        "measure a directory on the device of interest",
        "調べたいデバイス上のディレクトリを測ってください"
    ))
}

/// Returns the limit for operations through the page cache. With `alone`, memory alone served most
/// of them.
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
            "the page cache, which accepts the writes before the device does",
            "ページキャッシュ(書き込みをメモリーで受け、デバイスへは後から書く)"
        ),
        (false, false) => text!(
            "the page cache: read-ahead and memory in front of the device",
            "ページキャッシュ(先読みとメモリーを経由)"
        ),
    };
    let evidence = if alone {
        text!(
            "I/O went through the page cache ({rate}), and half of the operations took {median} or \
             less, which only memory can do",
            "ページキャッシュ経由({rate})で、操作の半分は {median} 以内に終わっています。これはメモリーの速さです"
        )
    } else {
        text!(
            "I/O went through the page cache ({rate}, half of the operations in {median} or less), \
             which hides the device",
            "ページキャッシュ経由のため({rate}、操作の半分は {median} 以内)、デバイスの動きはここからは分かりません"
        )
    };
    let strength = if alone { Strength::Strong } else { Strength::Likely };
    limit(LimitKind::HostMemory, strength, sentence, evidence).next(around_the_cache())
}

fn around_the_cache() -> Text {
    text!("{DIRECT} bypasses the page cache", "{DIRECT} でページキャッシュを避けられます")
}

pub(super) fn link(link: &Ceiling, at: &AtCeiling) -> Limit {
    let name = &link.name;
    let strength = if at.both_ways.is_some() { Strength::Strong } else { Strength::Likely };
    let sentence = text!("the connection: {name}", "接続({name})"; name);
    let limit = limit(LimitKind::Link, strength, sentence, link.evidence(at));
    match link.could.map(number::rate) {
        Some(could) => limit.next(text!(
            "on a faster port or cable, the device's connection carries {could}",
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
            "the sustained write speed of the device, after its cache has filled up",
            "キャッシュが埋まったあとの、持続的な書き込み速度"
        ),
        text!(
            "within one repetition the rate fell from {from} to {to} and did not recover",
            "1 回の測定の間に {from} から {to} へ下がり、戻りませんでした"
        ),
    )
    .next(text!(
        "a sweep over sizes shows the size of the cache ({SWEEP})",
        "どれだけ入るかはサイズを変えた測定で分かります({SWEEP})"
    ))
}

pub(super) fn behind_writes(beside_ns: f64, alone_ns: f64) -> Limit {
    let (beside, alone) = (number::latency(beside_ns), number::latency(alone_ns));
    limit(
        LimitKind::BehindWrites,
        Strength::Strong,
        text!("reads wait behind writes", "読み出しが書き込みの後ろで待たされること"),
        text!(
            "a read takes {beside} during writes, {alone} without them",
            "読み出し 1 回は、書き込みと並行すると {beside}、単独では {alone} です"
        ),
    )
}

pub(super) fn stalls(share: f64, median_ns: f64) -> Limit {
    let (share, median) = (number::percent(share), number::latency(median_ns));
    limit(
        LimitKind::Stalls,
        Strength::Strong,
        text!("pauses of the device", "デバイスの停滞"),
        text!(
            "operations stalled for {share} of the time, while half of them took {median} or less",
            "測定時間の {share} で停滞が起きていましたが、操作の半分は {median} 以内に終わっています"
        ),
    )
}

pub(super) fn host(rest_ns: f64, whole_ns: f64) -> Limit {
    let (rest, whole) = (number::latency(rest_ns), number::latency(whole_ns));
    limit(
        LimitKind::Host,
        Strength::Strong,
        text!("the computer's own I/O path, not the device", "デバイスではなく、コンピューター側の処理"),
        text!(
            "an operation takes {whole}, of which {rest} are outside the block layer: system call, interrupt, wake-up",
            "1 操作 {whole} のうち {rest} は、ブロック層の外(システムコール、割り込み、スレッドの起床)です"
        ),
    )
    .next(text!("{WAIT} spin avoids the wake-up", "{WAIT} spin で起床待ちを省けます"))
}

pub(super) fn queued(queue_ns: f64, whole_ns: f64) -> Limit {
    let (queue, whole) = (number::latency(queue_ns), number::latency(whole_ns));
    limit(
        LimitKind::Saturated,
        Strength::Strong,
        text!(
            "the kernel's queues: the device accepts no more operations at once",
            "カーネルのキュー待ち(デバイスが同時に受け付けられる数を超過)"
        ),
        text!(
            "an operation takes {whole}, of which it waits {queue} in queues before the device receives it",
            "1 操作 {whole} のうち {queue} は、デバイスに渡される前のキュー待ちです"
        ),
    )
}

pub(super) fn mechanics(each_ns: f64, facts: &CellFacts<'_>, seen: bool) -> Limit {
    let each = number::latency(each_ns);
    let [low, high] = facts.tenths_ns.map(number::latency);
    let evidence = if facts.is_alone() {
        text!(
            "an access takes {each} on average; 10 % take less than {low} and 10 % more than {high}, \
             depending on the offset",
            "1 回のアクセスに平均 {each}。位置しだいで、1 割は {low} 未満、1 割は {high} を超えます"
        )
    } else {
        text!(
            "the medium is rotational, and completes one access every {each}",
            "回転する媒体で、{each} に 1 回ずつアクセスを終えています"
        )
    };
    let strength = if seen { Strength::Strong } else { Strength::Likely };
    limit(LimitKind::Mechanics, strength, text!("seek and rotation", "シークと回転待ち"), evidence)
}

/// Returns the limit for time that grows with the offset. `share` is the walk's share of the cell's
/// time, or `None` if the walk was seen in reads of the same work.
pub(super) fn walk(walk: &ChainWalk, share: Option<f64>) -> Limit {
    let (first, last) = (number::latency(walk.first_ns), number::latency(walk.last_ns));
    let is_most = share.is_some_and(|share| share >= MOSTLY);
    let evidence = match share.map(number::percent) {
        Some(share) => text!(
            "an access takes {first} at the start and {last} at the end, in proportion to the offset; \
             walking the chain is {share} of the time on average",
            "先頭では {first}、末尾では {last} で、位置に比例して延びます。連鎖をたどる時間は平均で {share} を占めます"
        ),
        None => text!(
            "a read takes {first} at the start and {last} at the end, in proportion to the offset, and \
             writes find their offsets in the same way",
            "読み出しは先頭で {first}、末尾で {last} と、位置に比例して延びます。書き込みでも同じように場所を探します"
        ),
    };
    let strength =
        if is_most && walk.explained >= WALKED_SURELY { Strength::Strong } else { Strength::Likely };
    let sentence = text!(
        "each access walks a chain of clusters (as in a FAT)",
        "アクセスのたびにクラスターの連鎖(FAT など)をたどること"
    );
    limit(LimitKind::Walk, strength, sentence, evidence)
        .next(text!("larger clusters shorten the chain", "クラスターを大きくすると連鎖が短くなります"))
}

/// Returns the limit for writes that a drive's cache takes until it is full.
pub(super) fn write_cache_full(facts: &CellFacts<'_>, quick_ns: f64) -> Limit {
    let (quick, mean) = (number::latency(quick_ns), number::latency(facts.latency_ns));
    limit(
        LimitKind::WriteCache,
        Strength::Likely,
        text!(
            "the drive's write cache, which is full and empties at the speed of seek and rotation",
            "満杯になったドライブの書き込みキャッシュ(シークと回転待ちで書き出す)"
        ),
        text!(
            "fast writes take {quick}, less than a revolution, but a write takes {mean} on average \
             because it waits for space in the cache",
            "速い書き込みは {quick} で、媒体の 1 回転より短いのに、平均は {mean} です。キャッシュの空きを待っています"
        ),
    )
}

/// Returns the limit for writes that take longer than reads on a medium that is not rotational.
pub(super) fn small_writes(facts: &CellFacts<'_>, read: &CellFacts<'_>) -> Limit {
    let (write, read) = (number::latency(facts.latency_ns), number::latency(read.latency_ns));
    let size = size(facts.block_bytes());
    limit(
        LimitKind::SmallWrites,
        Strength::Likely,
        text!(
            "the work of a small write in flash: programming, or rewriting a larger unit",
            "小さな書き込みのためのフラッシュの処理(書き込み完了待ち、または大きな単位の書き直し)"
        ),
        text!(
            "writing {size} takes {write}, reading {size} takes {read}",
            "{size} の書き込みに {write}、読み出しに {read} かかります"
        ),
    )
    .next(text!(
        "a sweep over block sizes shows the unit ({SWEEP})",
        "単位の大きさはブロックサイズを変えた測定で分かります({SWEEP})"
    ))
}

/// Returns the limit for the device's maximum rate of commands.
pub(super) fn command_rate(facts: &CellFacts<'_>, single: &CellFacts<'_>) -> Limit {
    let (now, rate) = (depth(facts), number::iops(facts.iops));
    let (slow, fast) = (number::latency(facts.latency_ns), number::latency(single.latency_ns));
    limit(
        LimitKind::CommandRate,
        Strength::Strong,
        text!("the device's command rate: at most {rate}", "デバイスの処理能力({rate} が上限)"),
        text!(
            "at queue depth {now} an operation takes {slow}, at depth 1 {fast}: for the difference it \
             waits for others; its bytes alone would take less",
            "同時 I/O 数 {now} では 1 操作に {slow}、単独なら {fast} です。差は順番待ちで、データの転送だけならもっと速く済みます"
        ),
    )
}

/// Returns the limit for the fixed time of a command. `deeper` is the same work with more in
/// flight, and is faster.
pub(super) fn command(
    facts: &CellFacts<'_>,
    deeper: Option<&CellFacts<'_>>,
    machine: Option<&str>,
    evidence: &Evidence<'_>,
) -> Limit {
    let each = number::latency(facts.latency_ns);
    let mut words = match evidence.bytes_ns(facts).map(number::latency) {
        Some(bytes) => text!(
            "an operation takes {each}, of which the transfer of its bytes takes {bytes}",
            "1 操作に {each} かかり、そのうちデータの転送は {bytes} です"
        ),
        None => text!(
            "one operation is in flight, and its response takes {each}",
            "同時に進行する操作は 1 つで、応答まで {each} かかります"
        ),
    };
    if let Some(deeper) = deeper {
        let (now, gain) = (depth(deeper), times(deeper.rate / facts.rate));
        words.push(&text!(
            "; at queue depth {now} the same work is {gain} times as fast",
            "。同時 I/O 数を {now} にすると {gain} 倍の速さになります"
        ));
    }
    if let Some(machine) = machine {
        words.push(&text!(
            "; this includes the time of the virtual machine ({machine})",
            "。この時間には仮想マシン({machine})の処理も含まれます"
        ));
    }
    // In flash, the bytes of a small operation pass a single channel, which sequential work does
    // not show.
    let is_shown = facts.is_write() || evidence.has_sizes(facts);
    let strength = if deeper.is_some() && is_shown { Strength::Strong } else { Strength::Likely };
    let sentence =
        text!("the time of a command, regardless of its size", "大きさによらない 1 コマンドの時間");
    let limit = limit(LimitKind::Command, strength, sentence, words);
    if facts.split.is_some() {
        return limit;
    }
    limit.next(text!(
        "`{RUN} {TRACE}` splits it into time in the kernel and in the device",
        "{RUN} {TRACE} で、カーネル内とデバイス内の時間に分けられます"
    ))
}

/// Returns the limit for two parts of a single operation, with their shares.
pub(super) fn shared(facts: &CellFacts<'_>, parts: [(TimePart, f64); 2]) -> Limit {
    let whole = number::latency(facts.latency_ns);
    let [(first, first_share), (second, second_share)] =
        parts.map(|(part, share)| (part.words(), number::latency(facts.latency_ns * share)));
    limit(
        LimitKind::Shared,
        Strength::Likely,
        text!(
            "{first} ({first_share}) and {second} ({second_share}) together",
            "{first}({first_share})と{second}({second_share})の両方"; first, second
        ),
        text!(
            "an operation takes {whole}; the transfer time is that of sequential or larger operations, \
             and neither part is most of the time",
            "1 操作に {whole} かかります。転送の分はシーケンシャルか、より大きな読み出しの時間から求めたもので、どちらか一方が\
             大半を占めてはいません"
        ),
    )
}

/// Returns the limit for sequential work on several drives that are served one after the other.
pub(super) fn in_turns(single: &CellFacts<'_>, deeper: &CellFacts<'_>) -> Limit {
    limit(
        LimitKind::Link,
        Strength::Likely,
        text!(
            "the connection that the drives share, which serves one drive at a time",
            "ドライブが共有する接続(一度に 1 台ずつ)"
        ),
        in_turns_words(single, deeper),
    )
    .next(text!(
        "use a port for each drive, or one that switches by frame (FBS) or accepts several commands (UAS)",
        "ドライブごとのポートか、FBS や UAS に対応した接続にすると並行して動きます"
    ))
}

fn in_turns_words(single: &CellFacts<'_>, deeper: &CellFacts<'_>) -> Text {
    let (now, gain) = (depth(deeper), times(deeper.rate / single.rate));
    text!(
        "random reads at queue depth {now} are {gain} times as fast as at depth 1, although several \
         drives could serve them",
        "複数のドライブがあるのに、ランダムリードは同時 I/O 数 {now} でも 1 のときの {gain} 倍で、1 台ずつ順に動いています"
    )
}

pub(super) fn device_share(share: f64) -> Limit {
    let percent = format!("{:.2}", share * 100.0);
    let evidence = text!(
        "of the time from queue to completion, {percent} % was in the device (D2C of Q2C)",
        "キューに入ってから完了までの時間の {percent} % がデバイス内(Q2C のうち D2C)でした"
    );
    if share < 0.5 {
        let sentence = text!("the kernel's queues", "カーネルのキュー待ち");
        return limit(LimitKind::Saturated, Strength::Exact, sentence, evidence);
    }
    limit(LimitKind::Cause, Strength::Exact, text!("the device", "デバイス"), evidence)
}

pub(super) fn unknown_import() -> Limit {
    nothing_tells().next(text!(
        "the record of the other tool contains figures only; measure with `{RUN}`",
        "ほかのツールの結果で、印字された値しかありません。{RUN} で測ってください"
    ))
}

pub(super) fn unknown_same_place() -> Limit {
    nothing_tells().next(text!(
        "this test reads the same bytes repeatedly, for comparison with the other tests",
        "同じ場所を繰り返し読む項目です。ほかの項目の原因を切り分けるために使います"
    ))
}

pub(super) fn unknown_mixture() -> Limit {
    nothing_tells().next(text!(
        "this test mixes several kinds of operations; measure a single workload",
        "この項目は 1 種類の操作ではありません。単独のワークロードの項目なら、より多くのことが分かります"
    ))
}

/// Returns an unknown limit of a transfer.
fn open_transfer(turns: bool) -> Limit {
    let sentence = if turns {
        text!("unknown (the connection or the medium)", "不明(接続か媒体)")
    } else {
        text!("unknown (the connection or the device)", "不明(接続かデバイス)")
    };
    Limit { sentence, ..nothing_tells() }
}

/// Returns an unknown limit, with a suggestion for a measurement that would show it. `near` is a
/// connection that may end at the rate, if that of the device is unknown.
pub(super) fn unknown(evidence: &Evidence<'_>, facts: &CellFacts<'_>, near: Option<Ceiling>) -> Limit {
    let storage = &evidence.storage;
    // Concurrent sequential work waits for its transfer; which part of the transfer limits it is unknown.
    let is_transfer = evidence.is_in_order(facts) && !facts.is_alone() && !storage.several && !storage.cached;
    let limit = if is_transfer { open_transfer(evidence.turns()) } else { nothing_tells() };
    let other_depth = facts.deeper(evidence.cells).or_else(|| facts.shallower(evidence.cells));
    if storage.cached {
        return limit.next(text!(
            "I/O went through the page cache; measure the device alone with {DIRECT}",
            "ページキャッシュ経由の測定です。{DIRECT} で避ければデバイスだけを見られます"
        ));
    }
    limit.next(match (storage.several, &storage.link) {
        (true, _) => text!(
            "the target consists of several devices; measure one of them alone",
            "下に複数のデバイスがあります。1 台だけで測ると分かります"
        ),
        (false, _) if facts.is_random() && other_depth.is_none() => text!(
            "measure at another queue depth: profiles such as `default` have both",
            "同時 I/O 数を変えた測定が必要です。default などのプロファイルには両方あります"
        ),
        (false, None) if storage.is_hidden => text!(
            "a virtual disk hides the device; run `{WHY} {PROBE} TARGET` on the host",
            "仮想ディスクに見えるのは、ホストが通した分だけです。ホストで `{WHY} {PROBE} 対象` を実行すると、より多くのことが分かります"
        ),
        (false, None) if evidence.turns() && !evidence.has_same_place() => text!(
            "`{WHY} {PROBE} TARGET` re-reads the same range, which distinguishes the medium from the connection",
            "`{WHY} {PROBE} 対象` で同じ場所を読み直すと、媒体と接続を切り分けられます"
        ),
        (false, None) if storage.bus == Some(Bus::Card) => text!(
            "the kernel reports the rate of a card's bus to root only; measure as root",
            "カードの配線の速度は root にだけ知らされます。root で測ってください"
        ),
        (false, None) => match near {
            Some(end) => {
                let (rate, usual, name) = (number::rate(facts.rate), number::rate(end.usual), &end.name);
                text!(
                    "the rate of the connection is unknown, and {rate} is close to the {usual} that fast devices reach \
                     on {name}; measure the same device on another port to distinguish them",
                    "接続の速度が不明で、{rate} は {name} で優れたデバイスが届く {usual} に近いため、デバイスと接続のどちらが上限かを\
                     区別できません。別のポートで測ると分かります"; name
                )
            }
            None => text!(
                "the rate of the connection is unknown; measure the same device on another port to distinguish them",
                "接続の速度が不明なため、デバイスと接続のどちらが上限かを区別できません。別のポートで測ると分かります"
            ),
        },
        (false, Some(link)) if !link.has_room(facts.rate, false) => {
            let (rate, usual, name) = (number::rate(facts.rate), number::rate(link.usual), &link.name);
            text!(
                "{rate} is close to the {usual} that fast devices reach on {name}, so either the \
                 connection or the controller may be the limit; measure on another port",
                "{rate} は {name} で優れたデバイスが届く {usual} に近く、接続とコントローラーのどちらが上限かを区別できません。\
                 別のポートで測ると分かります"; name
            )
        }
        (false, Some(_)) => text!(
            "measure with `{RUN} {TRACE}`, and for longer ({TIME})",
            "{RUN} {TRACE} と、より長い測定({TIME})で調べてください"
        ),
    })
}
