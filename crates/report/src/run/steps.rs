//! What the steps of a profile do, in a few words.

use crate::doc::{Field, Fields};
use crate::words;
use kurabe_core::profile::{
    AccessOrder, AccessTimeStep, CommandStep, IoStep, PositionalStep, ReplayStep, ReplayTiming, Step,
};
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::workload::{Arrival, Direction, End, EndSync, SyncRule, ThreadShare, TimeCheck};
use kurabe_core::{Text, number, text};

/// What a step does, and what else there is to say of it. Nothing of an `io` step.
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
    }
}

/// What sets an `io` step apart beyond its name.
pub(crate) fn io(step: &IoStep) -> Vec<Text> {
    let mut items = Vec::new();
    let made = IoStep { label: None, ..step.clone() }.label();
    // A name of its own may hide block size and queue depth; the order of offsets is shown in any case.
    let size_and_depth = made.split_once(' ').map_or(made.as_str(), |(_, rest)| rest);
    if !step.label().contains(size_and_depth) {
        items.push(Text::same(size_and_depth));
    }
    if let Some(every) = step.rewrite_every_reads {
        items.push(text!(
            "after every {every} reads the block is written back",
            "読み出し {every} 回ごとに同じ場所へ書き戻し"
        ));
    } else if step.directions.contains(&Direction::Mix) {
        let percent = step.read_percent;
        items.push(text!("mix: {percent} % reads", "混合: 読み出し {percent} %"));
    }
    if let Some(open) = step.open_loop {
        let rate = number::iops(open.rate_iops);
        let (en, ja) = match open.arrival {
            Arrival::Even => ("even", "等間隔"),
            Arrival::Poisson => ("Poisson", "ポアソン"),
        };
        items.push(text!("{rate} offered, {en} arrivals", "{rate} で投入、到着は{ja}"));
    }
    if step.warm_up_ns > 0 {
        let time = format_time_setting(step.warm_up_ns);
        items.push(text!("{time} of warm-up", "ウォームアップ {time}"));
    }
    if step.warm_up_passes > 0 {
        items.push(match step.warm_up_passes {
            1 => text!("after a pass over its span", "範囲を 1 巡してから"),
            passes => text!("after {passes} passes over its span", "範囲を {passes} 巡してから"),
        });
    }
    items.extend(end(&step.end));
    items.extend(match step.thread_share {
        ThreadShare::Usual => None,
        ThreadShare::Parts => Some(text!("a part for each thread", "スレッドごとに別の範囲")),
        ThreadShare::Whole => Some(text!("all of it by each thread", "各スレッドが全範囲")),
    });
    if let Some(span) = step.span_bytes {
        let span = format_bytes(span);
        items.push(text!("within {span}", "範囲 {span}"));
    }
    items.extend(syncs(&step.sync));
    items.extend(step.data.map(words::data));
    items
}

/// What ends a repetition, if the step says so itself.
fn end(end: &End) -> Vec<Text> {
    let mut items = Vec::new();
    if let Some(time) = end.time_ns {
        let time = format_time_setting(time);
        items.push(match end.bytes.is_none() && end.passes.is_none() {
            true => text!("for {time}", "{time} 間"),
            false => text!("at most {time}", "最長 {time}"),
        });
    }
    if let Some(bytes) = end.bytes {
        let bytes = format_bytes(bytes);
        items.push(text!("{bytes} per repetition", "1 回 {bytes}"));
    }
    if let Some(passes) = end.passes {
        let plural = if passes == 1 { "" } else { "es" };
        items.push(text!("{passes} pass{plural}", "{passes} 周"));
    }
    match end.time_check {
        TimeCheck::Always => {}
        TimeCheck::Pass => {
            items.push(text!("time looked at after whole passes", "時間の確認は 1 周ごと"));
        }
        TimeCheck::Operations(count) => {
            items.push(text!("time looked at every {count} operations", "時間の確認は {count} 操作ごと"));
        }
    }
    items
}

fn syncs(sync: &SyncRule) -> Vec<Text> {
    let mut items = Vec::new();
    if sync.o_sync {
        items.push(Text::same("O_SYNC"));
    }
    if let Some(every) = sync.every_writes {
        items.push(match every {
            1 => text!("fsync after every write", "書き込みごとに fsync"),
            _ => text!("fsync every {every} writes", "書き込み {every} 回ごとに fsync"),
        });
    }
    items.extend(match sync.at_end {
        EndSync::None => None,
        EndSync::Timed => Some(text!("fsync at the end, timed", "最後に fsync (計時に含む)")),
        EndSync::Untimed => Some(text!("fsync at the end, not timed", "最後に fsync (計時に含まない)")),
    });
    items
}

fn count(samples: u32) -> String {
    number::count(u64::from(samples))
}

fn positional(step: &PositionalStep) -> (Text, Vec<Text>) {
    let (samples, size) = (count(step.samples), format_bytes(u64::from(step.sample_bytes)));
    let mut items = Vec::new();
    if step.pre_read_bytes > 0 {
        let bytes = format_bytes(u64::from(step.pre_read_bytes));
        items.push(text!("{bytes} read before each, untimed", "各回の前に {bytes} を計時せずに読む"));
    }
    if step.directions.contains(&Direction::Write) {
        items.push(text!("what was read is written back", "読んだ内容をそのまま書き戻す"));
    }
    if step.sync {
        items.push(text!("fsync after each write, timed", "書き込みごとに fsync (計時に含む)"));
    }
    (text!("{samples} places, {size} each", "{samples} か所 × {size}"), items)
}

fn access_time(step: &AccessTimeStep) -> (Text, Vec<Text>) {
    let (samples, size) = (count(step.samples), format_bytes(u64::from(step.block_bytes)));
    let seed = step.seed;
    let mut items = vec![match step.order {
        AccessOrder::Glib => {
            text!("places as GLib's GRand {seed} gives them", "GLib の GRand (シード {seed})の位置")
        }
        AccessOrder::Uniform => text!("random places", "ランダムな位置"),
    }];
    if step.first_discarded {
        items.push(text!("the first one does not count", "最初の 1 回は数えない"));
    }
    if let Some(span) = step.span_bytes {
        let span = format_bytes(span);
        items.push(text!("within {span}", "範囲 {span}"));
    }
    (text!("{samples} accesses of {size}", "{size} のアクセス {samples} 回"), items)
}

fn command(step: &CommandStep) -> (Text, Vec<Text>) {
    let mut items = Vec::new();
    if let Some(git) = step.git {
        let (files, changed) =
            (number::count(u64::from(git.files)), number::count(u64::from(git.changed_files)));
        items.push(text!(
            "a repository of {files} files, {changed} of them changed by what is pulled",
            "{files} ファイルのリポジトリ(取り込む変更は {changed} ファイル)"
        ));
    }
    if step.cold {
        items.push(text!("from a cold page cache", "ページキャッシュを破棄してから"));
    }
    if step.shell {
        items.push(text!("by the shell", "シェル経由"));
    }
    (text!("a program, timed", "プログラムを計時"), items)
}

/// The programs of a command step, each on lines of its own, in the order in which they run.
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
