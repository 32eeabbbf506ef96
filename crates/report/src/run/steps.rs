//! Short descriptions of a profile's steps.

use crate::words::{self, present};
use kurabe_core::profile::{
    AccessOrder, AccessTimeStep, CommandStep, IoStep, MetadataStep, OPTIONS, PositionalStep, ReplayStep,
    ReplayTiming, Step, StopwatchStep, TimeMark,
};
use kurabe_core::workload::{Direction, End, TimeCheck};
use kurabe_core::{Text, number, quantity::format_bytes, text, words::Keyword};
use kurabe_doc::{Field, Fields};

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
        Step::Stopwatch(step) => stopwatch(step),
    }
}

/// Returns the properties of an `io` step that its name doesn't contain.
pub(crate) fn io(step: &IoStep) -> Vec<Text> {
    let made = IoStep { label: None, ..step.clone() }.label();
    // A user-defined name may hide block size and queue depth. The order of offsets is always
    // shown.
    let size_and_depth = made.split_once(' ').map_or(made.as_str(), |(_, rest)| rest);
    let mut items = present([(!step.label().contains(size_and_depth)).then(|| Text::same(size_and_depth))]);
    items.extend(OPTIONS.iter().filter_map(|option| option.describe(step)));
    items.extend(present([
        match step.warm_up_passes {
            0 => None,
            1 => Some(text!("after a pass over its span", "範囲を 1 周してから")),
            passes => Some(text!("after {passes} passes over its span", "範囲を {passes} 周してから")),
        },
        step.beside.then(|| text!("at the same time as the step before", "前のステップと同時に")),
        step.span_percent.map(|(start, length)| {
            let end = start.saturating_add(length).min(100);
            text!("from {start} to {end} % of the target", "対象の {start} % から {end} % まで")
        }),
    ]));
    items.extend(end(&step.end));
    items.extend(step.span_bytes.map(within));
    items.extend(step.data.map(words::data));
    items
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
            TimeCheck::Pass => Some(text!("time checked after whole passes", "時間の確認は 1 周ごと")),
            TimeCheck::Operations(count) => {
                Some(text!("time checked every {count} operations", "時間の確認は {count} 操作ごと"))
            }
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
            .then(|| text!("the data read are written back", "読んだ内容をそのまま書き戻す")),
        step.sync.then(|| text!("fsync after each write, timed", "書き込みごとに fsync (計時に含む)")),
    ]);
    (text!("{samples} offsets, {size} each", "{samples} か所 × {size}"), items)
}

fn access_time(step: &AccessTimeStep) -> (Text, Vec<Text>) {
    let (samples, size) = (count(step.samples), format_bytes(u64::from(step.block_bytes)));
    let seed = step.seed;
    let items = present([
        Some(match step.order {
            AccessOrder::Glib => {
                text!("offsets drawn by GLib's GRand {seed}", "GLib の GRand (シード {seed})の位置")
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
        step.neighbours
            .then(|| text!("each file that other threads created", "他のスレッドが作ったものを対象に")),
        Some(match step.write_bytes {
            0 => text!("empty", "中身は空"),
            _ => text!("{size} in each", "中身は {size} ずつ"),
        }),
        step.sync.then(|| text!("each synced after its creation", "作成ごとに fsync")),
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

fn stopwatch(step: &StopwatchStep) -> (Text, Vec<Text>) {
    let limit = number::planned_time(step.limit_ns);
    let items = vec![
        Text::join([text!("from", "開始"), time_mark(&step.start)], [": "; 2]),
        Text::join([text!("to", "終了"), time_mark(&step.stop)], [": "; 2]),
        text!("at most {limit}", "最長 {limit}"; limit),
    ];
    (text!("a stopwatch", "ストップウォッチ"), items)
}

fn time_mark(mark: &TimeMark) -> Text {
    match mark {
        TimeMark::Key { what } => text!("Enter ({what})", "Enter キー({what})"; what),
        TimeMark::Line { text: words, from } => {
            text!("\"{words}\" from {from}", "{from} から「{words}」")
        }
        TimeMark::File { path } => text!("the file {path} appears", "ファイル {path} が現れる"),
        TimeMark::Program { command } => {
            let command = command.join(" ");
            text!("`{command}` is started", "`{command}` の実行")
        }
    }
}

fn replay(step: &ReplayStep) -> (Text, Vec<Text>) {
    let depth = step.in_flight();
    let timing = match step.timing {
        ReplayTiming::Fast => text!("as fast as possible", "可能な限り速く"),
        ReplayTiming::Think => {
            text!("with the trace's pauses after each operation", "操作が終わってから次までの間隔を保つ")
        }
        ReplayTiming::Readers => text!(
            "each file or disk of the trace as a reader that waits for its own operations",
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
