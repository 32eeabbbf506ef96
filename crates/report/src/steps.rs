//! What the steps of a profile do, in a few words.

use crate::columns;
use crate::style::Style;
use crate::words;
use kurabe_core::number;
use kurabe_core::profile::{
    AccessOrder, AccessTimeStep, CommandStep, IoStep, PositionalStep, ReplayStep, ReplayTiming, Step,
};
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::text;
use kurabe_core::workload::{Arrival, Direction, End, EndSync, SyncRule, ThreadShare, TimeCheck};

/// What a step does, and what else there is to say of it. Nothing of an `io` step.
pub(crate) fn describe(step: &Step, style: &Style) -> (String, Vec<String>) {
    match step {
        Step::Io(_) => (String::new(), Vec::new()),
        Step::Positional(step) => positional(step, style),
        Step::AccessTime(step) => access_time(step, style),
        Step::Copy(step) => {
            let chunk = format_bytes(u64::from(step.chunk_bytes));
            (
                style.pick("ordinary copy", "通常のコピー").to_owned(),
                vec![
                    style.say(&text!("{chunk} at a time", "{chunk} ずつ")),
                    style
                        .pick(
                            "memory alone, memory to target, target to memory, within the target",
                            "メモリーのみ、メモリー→対象、対象→メモリー、対象内の順",
                        )
                        .to_owned(),
                    style.pick("fsync at the end, timed", "最後に fsync (計時に含む)").to_owned(),
                ],
            )
        }
        Step::Command(step) => command(step, style),
        Step::Replay(step) => replay(step, style),
    }
}

/// What sets an `io` step apart beyond its name.
pub(crate) fn io(step: &IoStep, style: &Style) -> Vec<String> {
    let mut items = Vec::new();
    let made = IoStep { label: None, ..step.clone() }.label();
    // A name of its own may hide block size and queue depth; the order of offsets is told in any case.
    let size_and_depth = made.split_once(' ').map_or(made.as_str(), |(_, rest)| rest);
    if !step.label().contains(size_and_depth) {
        items.push(size_and_depth.to_owned());
    }
    if let Some(every) = step.rewrite_every_reads {
        items.push(style.say(&text!(
            "after every {every} reads the block is written back",
            "読み出し {every} 回ごとに同じ場所へ書き戻し"
        )));
    } else if step.directions.contains(&Direction::Mix) {
        let percent = step.read_percent;
        items.push(style.say(&text!("mix: {percent} % reads", "混合: 読み出し {percent} %")));
    }
    if let Some(open) = step.open_loop {
        let rate = number::iops(open.rate_iops);
        let (en, ja) = match open.arrival {
            Arrival::Even => ("even", "等間隔"),
            Arrival::Poisson => ("Poisson", "ポアソン"),
        };
        items.push(style.say(&text!("{rate} offered, {en} arrivals", "{rate} で投入、到着は{ja}")));
    }
    if step.warm_up_ns > 0 {
        let time = format_time_setting(step.warm_up_ns);
        items.push(style.say(&text!("{time} of warm-up", "ウォームアップ {time}")));
    }
    if step.warm_up_passes > 0 {
        items.push(style.say(&match step.warm_up_passes {
            1 => text!("after a pass over its span", "範囲を 1 巡してから"),
            passes => text!("after {passes} passes over its span", "範囲を {passes} 巡してから"),
        }));
    }
    items.extend(end(&step.end, style));
    items.extend(match step.thread_share {
        ThreadShare::Usual => None,
        ThreadShare::Parts => Some(style.pick("a part for each thread", "スレッドごとに別の範囲").to_owned()),
        ThreadShare::Whole => Some(style.pick("all of it by each thread", "各スレッドが全範囲").to_owned()),
    });
    if let Some(span) = step.span_bytes {
        let span = format_bytes(span);
        items.push(style.say(&text!("within {span}", "範囲 {span}")));
    }
    items.extend(syncs(&step.sync, style));
    items.extend(step.data.map(|data| style.say(&words::data(data))));
    items
}

/// What ends a repetition, if the step says so itself.
fn end(end: &End, style: &Style) -> Vec<String> {
    let mut items = Vec::new();
    if let Some(time) = end.time_ns {
        let time = format_time_setting(time);
        items.push(style.say(&match end.bytes.is_none() && end.passes.is_none() {
            true => text!("for {time}", "{time} 間"),
            false => text!("at most {time}", "最長 {time}"),
        }));
    }
    if let Some(bytes) = end.bytes {
        let bytes = format_bytes(bytes);
        items.push(style.say(&text!("{bytes} per repetition", "1 回 {bytes}")));
    }
    if let Some(passes) = end.passes {
        let plural = if passes == 1 { "" } else { "es" };
        items.push(style.say(&text!("{passes} pass{plural}", "{passes} 周")));
    }
    match end.time_check {
        TimeCheck::Always => {}
        TimeCheck::Pass => {
            items.push(style.pick("time looked at after whole passes", "時間の確認は 1 周ごと").to_owned());
        }
        TimeCheck::Operations(count) => items.push(
            style.say(&text!("time looked at every {count} operations", "時間の確認は {count} 操作ごと")),
        ),
    }
    items
}

fn syncs(sync: &SyncRule, style: &Style) -> Vec<String> {
    let mut items = Vec::new();
    if sync.o_sync {
        items.push("O_SYNC".to_owned());
    }
    if let Some(every) = sync.every_writes {
        items.push(style.say(&match every {
            1 => text!("fsync after every write", "書き込みごとに fsync"),
            _ => text!("fsync every {every} writes", "書き込み {every} 回ごとに fsync"),
        }));
    }
    items.extend(match sync.at_end {
        EndSync::None => None,
        EndSync::Timed => Some(style.pick("fsync at the end, timed", "最後に fsync (計時に含む)").to_owned()),
        EndSync::Untimed => {
            Some(style.pick("fsync at the end, not timed", "最後に fsync (計時に含まない)").to_owned())
        }
    });
    items
}

fn count(samples: u32) -> String {
    number::count(u64::from(samples))
}

fn positional(step: &PositionalStep, style: &Style) -> (String, Vec<String>) {
    let (samples, size) = (count(step.samples), format_bytes(u64::from(step.sample_bytes)));
    let mut items = Vec::new();
    if step.pre_read_bytes > 0 {
        let bytes = format_bytes(u64::from(step.pre_read_bytes));
        items.push(
            style.say(&text!("{bytes} read before each, untimed", "各回の前に {bytes} を計時せずに読む")),
        );
    }
    if step.directions.contains(&Direction::Write) {
        items.push(style.pick("what was read is written back", "読んだ内容をそのまま書き戻す").to_owned());
    }
    if step.sync {
        items.push(
            style.pick("fsync after each write, timed", "書き込みごとに fsync (計時に含む)").to_owned(),
        );
    }
    (style.say(&text!("{samples} places, {size} each", "{samples} か所 × {size}")), items)
}

fn access_time(step: &AccessTimeStep, style: &Style) -> (String, Vec<String>) {
    let (samples, size) = (count(step.samples), format_bytes(u64::from(step.block_bytes)));
    let seed = step.seed;
    let mut items = vec![match step.order {
        AccessOrder::Glib => style
            .say(&text!("places as GLib's GRand {seed} gives them", "GLib の GRand (シード {seed})の位置")),
        AccessOrder::Uniform => style.pick("random places", "ランダムな位置").to_owned(),
    }];
    if step.first_discarded {
        items.push(style.pick("the first one does not count", "最初の 1 回は数えない").to_owned());
    }
    if let Some(span) = step.span_bytes {
        let span = format_bytes(span);
        items.push(style.say(&text!("within {span}", "範囲 {span}")));
    }
    (style.say(&text!("{samples} accesses of {size}", "{size} のアクセス {samples} 回")), items)
}

fn command(step: &CommandStep, style: &Style) -> (String, Vec<String>) {
    let mut items = Vec::new();
    if let Some(git) = step.git {
        let (files, changed) =
            (number::count(u64::from(git.files)), number::count(u64::from(git.changed_files)));
        items.push(style.say(&text!(
            "a repository of {files} files, {changed} of them changed by what is pulled",
            "{files} ファイルのリポジトリ(取り込む変更は {changed} ファイル)"
        )));
    }
    if step.cold {
        items.push(style.pick("from a cold page cache", "ページキャッシュを破棄してから").to_owned());
    }
    if step.shell {
        items.push(style.pick("by the shell", "シェル経由").to_owned());
    }
    (style.pick("a program, timed", "プログラムを計時").to_owned(), items)
}

/// The programs of a command step, each on lines of its own, in the order in which they run.
pub(crate) fn programs(step: &CommandStep, style: &Style) -> Vec<String> {
    let timed = std::slice::from_ref(&step.command);
    let groups = [
        (style.pick("before", "準備"), step.prepare.as_slice()),
        (style.pick("timed", "計時"), timed),
        (style.pick("between", "復元"), &step.restore),
        (style.pick("at the end", "後始末"), &step.cleanup),
    ];
    let fields: Vec<columns::Field> = groups
        .into_iter()
        .flat_map(|(key, programs)| {
            programs.iter().enumerate().map(move |(index, program)| {
                (if index == 0 { key.to_owned() } else { String::new() }, vec![program.join(" ")])
            })
        })
        .collect();
    columns::fields(&fields, 2, columns::key_width(&fields), style)
}

fn replay(step: &ReplayStep, style: &Style) -> (String, Vec<String>) {
    let depth = step.iodepth;
    let timing = match step.timing {
        ReplayTiming::Fast => style.pick("as fast as it goes", "可能な限り速く").to_owned(),
        ReplayTiming::Closed => style.pick("with the trace's pauses", "トレースの待ち時間を保つ").to_owned(),
        ReplayTiming::Timestamps { speed } => style
            .say(&text!("at the trace's times, {speed} times as fast", "トレースの時刻どおり({speed} 倍速)")),
    };
    let trace = &step.trace;
    (
        style.say(&text!("trace {trace}", "トレース {trace}")),
        vec![timing, style.say(&text!("at most {depth} in flight", "同時に最大 {depth} 操作"))],
    )
}
