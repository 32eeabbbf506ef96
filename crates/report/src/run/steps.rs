//! Short descriptions of a profile's steps.

use crate::doc::{Field, Fields};
use crate::words::{self, present};
use kurabe_core::profile::{
    AccessOrder, AccessTimeStep, CommandStep, IoStep, MetadataStep, PositionalStep, ReplayStep, ReplayTiming,
    Step,
};
use kurabe_core::workload::{
    AccessZone, Arrival, BlocksInOrder, Direction, End, EndSync, Flow, Processors, SyncRule, Thinking,
    ThreadShare, TimeCheck, Trims,
};
use kurabe_core::{Text, number, quantity::format_bytes, text, words::Keyword};

/// Describes a step, with further facts. Empty for an `io` step.
pub(crate) fn describe(step: &Step) -> (Text, Vec<Text>) {
    match step {
        Step::Io(_) => (Text::default(), Vec::new()),
        Step::Positional(step) => positional(step),
        Step::AccessTime(step) => access_time(step),
        Step::Copy(step) => {
            let chunk = format_bytes(u64::from(step.chunk_bytes));
            (
                text!("ordinary copy", "通常のコピー"),
                vec![
                    text!("{chunk} at a time", "{chunk} ずつ"),
                    text!(
                        "memory alone, memory to target, target to memory, within the target",
                        "メモリーのみ、メモリー→対象、対象→メモリー、対象内の順",
                    ),
                    text!("fsync at the end, timed", "最後に fsync (計時に含む)"),
                ],
            )
        }
        Step::Command(step) => command(step),
        Step::Replay(step) => replay(step),
        Step::Metadata(step) => metadata(step),
    }
}

/// Returns the properties of an `io` step that its name doesn't contain.
pub(crate) fn io(step: &IoStep) -> Vec<Text> {
    let made = IoStep { label: None, ..step.clone() }.label();
    // A user-defined name may hide block size and queue depth. The order of offsets is always
    // shown.
    let size_and_depth = made.split_once(' ').map_or(made.as_str(), |(_, rest)| rest);
    let percent = step.read_percent;
    let mix = step.directions.contains(&Direction::Mix);
    let mut items = present([
        (!step.label().contains(size_and_depth)).then(|| Text::same(size_and_depth)),
        match step.rewrite_every_reads {
            Some(every) => Some(text!(
                "after every {every} reads the block is written back",
                "読み出し {every} 回ごとに同じ場所へ書き戻し"
            )),
            None => mix.then(|| text!("mix: {percent} % reads", "混合: 読み出し {percent} %")),
        },
        step.trims.map(|trims| match trims {
            Trims::Only => text!(
                "each block is discarded, after the span was written",
                "範囲に書き込んでから、各ブロックを破棄(TRIM)"
            ),
            Trims::BeforeWrites => text!(
                "each block is discarded before it is written",
                "各ブロックを破棄(TRIM)してから書き込み"
            ),
        }),
        step.open_loop.map(|open| {
            let rate = number::iops(open.rate_iops);
            let (en, ja) = match open.arrival {
                Arrival::Even => ("even", "等間隔"),
                Arrival::Poisson => ("Poisson", "ポアソン"),
            };
            text!("{rate} offered, {en} arrivals", "{rate} で投入、到着は{ja}")
        }),
        time_if(step.warm_up_ns).map(|time| text!("{time} of warm-up", "ウォームアップ {time}"; time)),
        match step.warm_up_passes {
            0 => None,
            1 => Some(text!("after a pass over its span", "範囲を 1 周してから")),
            passes => Some(text!("after {passes} passes over its span", "範囲を {passes} 周してから")),
        },
    ]);
    items.extend(places_and_pauses(step));
    items.extend(end(&step.end));
    items.extend(match step.thread_share {
        ThreadShare::Usual => None,
        ThreadShare::Parts => Some(text!("a part for each thread", "スレッドごとに別の範囲")),
        ThreadShare::Whole => Some(text!("all of it by each thread", "各スレッドが全範囲")),
    });
    items.extend(step.span_bytes.map(within));
    items.extend(syncs(&step.sync));
    items.extend(step.data.map(words::data));
    items
}

/// Returns a time, unless it is 0.
fn time_if(ns: u64) -> Option<Text> {
    (ns > 0).then(|| number::planned_time(ns))
}

/// Describes what runs concurrently, start delay and pauses, and how positions and sizes are drawn.
fn places_and_pauses(step: &IoStep) -> Vec<Text> {
    present([
        step.beside.then(|| text!("at the same time as the step before", "前のステップと同時に")),
        time_if(step.start_delay_ns)
            .map(|time| text!("begins {time} after the start", "開始から {time} 後に始める"; time)),
        step.thinking.map(|Thinking { time_ns, every_operations }| {
            let pause = number::latency_ns(time_ns);
            match every_operations {
                1 => text!("pauses {pause} after each operation", "1 操作ごとに {pause} 休む"),
                _ => text!(
                    "pauses {pause} after {every_operations} operations",
                    "{every_operations} 操作ごとに {pause} 休む"
                ),
            }
        }),
        step.processors.as_ref().map(|Processors { numbers, one_each }| match one_each {
            true => {
                text!("each thread on one of the processors {numbers:?}", "CPU {numbers:?} の 1 つずつで")
            }
            false => text!("on processors {numbers:?}", "CPU {numbers:?} で"),
        }),
        (!step.write_block_sizes.is_empty()).then(|| {
            let sizes = step.write_block_sizes.iter().map(|block| format_bytes(u64::from(block.size_bytes)));
            let sizes = sizes.collect::<Vec<_>>().join("/");
            text!("writes of {sizes}", "書き込みは {sizes}")
        }),
        (!step.zones.is_empty()).then(|| {
            let zone = |zone: &AccessZone| format!("{}/{}", zone.access_percent, zone.span_percent);
            let zones = step.zones.iter().map(zone).collect::<Vec<_>>().join(":");
            text!("zones {zones} (% of operations / % of the span)", "領域 {zones}(操作の % / 範囲の %)")
        }),
        step.in_order.map(|in_order| match in_order {
            BlocksInOrder::Blocks(blocks) => {
                text!("{blocks} blocks in order from each place", "位置ごとに {blocks} ブロックを順に")
            }
            BlocksInOrder::Percent(percent) => {
                text!("{percent} % follow the block before", "{percent} % は前のブロックの続き")
            }
        }),
        step.flow.map(|Flow { weight, .. }| {
            text!("share {weight} of the operations at once", "同時に行う操作のうち {weight} の割合")
        }),
        step.latency_target.map(|target| {
            let (latency, percentile) = (number::latency_ns(target.latency_ns), target.percentile);
            text!(
                "the greatest depth up to that within {latency} for {percentile} %",
                "その深さまでで {percentile} % が {latency} に収まる最大の深さ"
            )
        }),
        step.ends_all.then(|| text!("all end with it", "これが終わればすべて終わる")),
        step.span_percent.map(|(start, length)| {
            let end = start.saturating_add(length).min(100);
            text!("from {start} to {end} % of the target", "対象の {start} % から {end} % まで")
        }),
        step.alignment_bytes.map(|bytes| {
            let unit = format_bytes(u64::from(bytes));
            text!("places are multiples of {unit}", "位置は {unit} の倍数")
        }),
    ])
}

fn within(span_bytes: u64) -> Text {
    let span = format_bytes(span_bytes);
    text!("within {span}", "範囲 {span}")
}

/// Describes the end of a repetition, if the step defines it.
fn end(end: &End) -> Vec<Text> {
    present([
        end.time_ns.map(number::planned_time).map(|time| match end.bytes.is_none() && end.passes.is_none() {
            true => text!("for {time}", "{time}間"; time),
            false => text!("at most {time}", "最長 {time}"; time),
        }),
        end.bytes.map(format_bytes).map(|bytes| text!("{bytes} per repetition", "1 回 {bytes}")),
        end.passes.map(|passes| {
            let plural = if passes == 1 { "" } else { "es" };
            text!("{passes} pass{plural}", "{passes} 周")
        }),
        match end.time_check {
            TimeCheck::Always => None,
            TimeCheck::Pass => Some(text!("time looked at after whole passes", "時間の確認は 1 周ごと")),
            TimeCheck::Operations(count) => {
                Some(text!("time looked at every {count} operations", "時間の確認は {count} 操作ごと"))
            }
        },
    ])
}

fn syncs(sync: &SyncRule) -> Vec<Text> {
    let (whole, flush) = if sync.data_only { ("O_DSYNC", "fdatasync") } else { ("O_SYNC", "fsync") };
    present([
        sync.o_sync.then(|| Text::same(whole)),
        sync.every_writes.map(|every| match every {
            1 => text!("{flush} after every write", "書き込みごとに {flush}"),
            _ => text!("{flush} every {every} writes", "書き込み {every} 回ごとに {flush}"),
        }),
        match sync.at_end {
            EndSync::None => None,
            EndSync::Timed => Some(text!("fsync at the end, timed", "最後に fsync (計時に含む)")),
            EndSync::Untimed => Some(text!("fsync at the end, not timed", "最後に fsync (計時に含まない)")),
        },
    ])
}

fn count(samples: u32) -> String {
    number::count(u64::from(samples))
}

fn positional(step: &PositionalStep) -> (Text, Vec<Text>) {
    let (samples, size) = (count(step.samples), format_bytes(u64::from(step.sample_bytes)));
    let pre_read = Some(u64::from(step.pre_read_bytes)).filter(|bytes| *bytes > 0).map(format_bytes);
    let items = present([
        pre_read
            .map(|bytes| text!("{bytes} read before each, untimed", "各回の前に {bytes} を計時せずに読む")),
        step.directions
            .contains(&Direction::Write)
            .then(|| text!("what was read is written back", "読んだ内容をそのまま書き戻す")),
        step.sync.then(|| text!("fsync after each write, timed", "書き込みごとに fsync (計時に含む)")),
    ]);
    (text!("{samples} places, {size} each", "{samples} か所 × {size}"), items)
}

fn access_time(step: &AccessTimeStep) -> (Text, Vec<Text>) {
    let (samples, size) = (count(step.samples), format_bytes(u64::from(step.block_bytes)));
    let seed = step.seed;
    let items = present([
        Some(match step.order {
            AccessOrder::Glib => {
                text!("places as GLib's GRand {seed} gives them", "GLib の GRand (シード {seed})の位置")
            }
            AccessOrder::Uniform => text!("random places", "ランダムな位置"),
        }),
        step.first_discarded.then(|| text!("the first one does not count", "最初の 1 回は数えない")),
        step.span_bytes.map(within),
    ]);
    (text!("{samples} accesses of {size}", "{size} のアクセス {samples} 回"), items)
}

fn command(step: &CommandStep) -> (Text, Vec<Text>) {
    let items = present([
        step.git.map(|git| {
            let (files, changed) = (count(git.files), count(git.changed_files));
            text!(
                "a repository of {files} files, {changed} of them changed by what is pulled",
                "{files} ファイルのリポジトリ(取り込む変更は {changed} ファイル)"
            )
        }),
        step.cold.then(|| text!("from a cold page cache", "ページキャッシュを破棄してから")),
        step.shell.then(|| text!("by the shell", "シェル経由")),
    ]);
    (text!("a program, timed", "プログラムを計時"), items)
}

/// Lists the programs of a command step on separate lines, in the order of execution.
pub(crate) fn programs(step: &CommandStep) -> Fields {
    let timed = std::slice::from_ref(&step.command);
    let groups = [
        (text!("before", "準備"), step.prepare.as_slice()),
        (text!("timed", "計時"), timed),
        (text!("between", "復元"), &step.restore),
        (text!("at the end", "後始末"), &step.cleanup),
    ];
    let named = |(key, programs): (Text, &[Vec<String>])| -> Vec<Field> {
        let keys = std::iter::once(key).chain(std::iter::repeat(Text::default()));
        keys.zip(programs).map(|(key, program)| (key, vec![program.join(" ").into()])).collect()
    };
    Fields::from(groups.into_iter().flat_map(named).collect::<Vec<Field>>())
}

fn metadata(step: &MetadataStep) -> (Text, Vec<Text>) {
    let (files, threads) = (count(step.files), count(step.threads));
    let size = format_bytes(u64::from(step.write_bytes));
    let parts: Vec<&str> = step.parts.iter().map(|part| part.word()).collect();
    let items = present([
        Some(Text::same(parts.join(", "))),
        Some(match step.shared {
            true => text!("all in one folder", "全スレッドが同じフォルダー"),
            false => text!("a folder for each thread", "スレッドごとに別のフォルダー"),
        }),
        step.neighbours.then(|| text!("each of what others made", "他のスレッドが作ったものを対象に")),
        Some(match step.write_bytes {
            0 => text!("empty", "中身は空"),
            _ => text!("{size} in each", "中身は {size} ずつ"),
        }),
        step.sync.then(|| text!("each synced when it is made", "作成ごとに fsync")),
        step.cold.then(|| text!("from a cold cache each time", "毎回キャッシュを破棄してから")),
    ]);
    let what = match step.threads {
        1 => text!("names of {files} files", "{files} ファイルの名前の操作"),
        _ => text!(
            "names of {files} files in each of {threads} threads",
            "{threads} スレッド、それぞれ {files} ファイルの名前の操作"
        ),
    };
    (what, items)
}

fn replay(step: &ReplayStep) -> (Text, Vec<Text>) {
    let depth = step.in_flight();
    let timing = match step.timing {
        ReplayTiming::Fast => text!("as fast as it goes", "可能な限り速く"),
        ReplayTiming::Think => {
            text!("with the trace's pauses after each operation", "操作が終わってから次までの間隔を保つ")
        }
        ReplayTiming::Readers => text!(
            "each unit of the trace as a reader that waits for its own operations",
            "トレースの各ファイルを、自分の操作の完了だけを待つ読み手とする"
        ),
        ReplayTiming::Closed => text!("with the trace's pauses", "トレースの待ち時間を保つ"),
        ReplayTiming::Timestamps { speed } => {
            text!("at the trace's times, {speed} times as fast", "トレースの時刻どおり({speed} 倍速)")
        }
    };
    let trace = &step.trace;
    (
        text!("trace {trace}", "トレース {trace}"),
        vec![timing, text!("at most {depth} in flight", "同時に最大 {depth} 操作")],
    )
}
