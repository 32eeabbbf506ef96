//! The words of the record in both languages.

use crate::layout::tame;
use crate::style::{Role, Style};
use kurabe_core::number;
use kurabe_core::profile::{CopyPart, Order, Profile, Statistic, Step};
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::record::{Cell, NoticeKind, RunStatus, TargetKind, TargetRecord};
use kurabe_core::text;
use kurabe_core::workload::{Data, Direction, OpKind, Pattern};

pub(crate) fn direction(style: &Style, direction: Direction) -> &'static str {
    match direction {
        Direction::Read => style.lang.pick("read", "読み出し"),
        Direction::Write => style.lang.pick("write", "書き込み"),
        Direction::Mix => style.lang.pick("mix", "混合"),
    }
}

pub(crate) fn op_kind(style: &Style, kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => style.lang.pick("read", "読み出し"),
        OpKind::Write => style.lang.pick("write", "書き込み"),
        OpKind::Sync => style.lang.pick("sync", "同期(fsync)"),
    }
}

pub(crate) fn status(style: &Style, status: RunStatus) -> (&'static str, Role) {
    match status {
        RunStatus::Running => (style.lang.pick("unfinished", "未完了"), Role::Warn),
        RunStatus::Complete => (style.lang.pick("complete", "完了"), Role::Plain),
        RunStatus::Interrupted => (style.lang.pick("interrupted", "中断"), Role::Warn),
        RunStatus::Failed => (style.lang.pick("failed", "失敗"), Role::Bad),
    }
}

pub(crate) fn notice(style: &Style, kind: NoticeKind) -> &'static str {
    let (en, ja) = match kind {
        NoticeKind::EngineFallback => ("engine", "エンジン"),
        NoticeKind::CacheDrop => ("page cache", "ページキャッシュ"),
        NoticeKind::SizeCut => ("test file", "テストファイル"),
        NoticeKind::SpanCut => ("span", "測定範囲"),
        NoticeKind::WarmUpCut => ("warm-up", "事前の読み書き"),
        NoticeKind::WritesLeftOut => ("writes", "書き込み"),
        NoticeKind::GeneratorBound => ("limit", "上限"),
        NoticeKind::Noise => ("noise", "外乱"),
        NoticeKind::Other => ("note", "備考"),
    };
    style.lang.pick(en, ja)
}

/// The engine as the kernel interface it uses.
pub(crate) fn engine<'a>(style: &Style, name: &'a str) -> &'a str {
    match name {
        "uring" => "io_uring",
        "threads" => "pread/pwrite",
        "null" => style.lang.pick("null device", "ヌルデバイス"),
        other => other,
    }
}

pub(crate) fn data(style: &Style, data: Data) -> String {
    style.say(&match data {
        Data::Random => text!("random data, every block its own", "データ: ランダム(ブロックごとに別)"),
        Data::Zero => text!("zeros", "データ: ゼロ"),
        Data::Repeat => text!("one random block, repeated", "データ: 同じランダムブロックの繰り返し"),
        Data::Compressible { percent } => {
            text!("random data, {percent} % of it zeros", "データ: ランダム({percent} % はゼロ)")
        }
    })
}

/// What the span lies on.
pub(crate) fn span(style: &Style, target: &TargetRecord) -> String {
    let size = format_bytes(target.span_bytes);
    style.say(&match target.kind {
        TargetKind::Directory => text!("test file {size}", "テストファイル {size}"),
        TargetKind::File => text!("{size} of the file", "ファイルの {size}"),
        TargetKind::BlockDevice | TargetKind::CharacterDevice => {
            text!("{size} of the device", "デバイスの {size}")
        }
        TargetKind::Model => text!("{size} of the model", "モデルの {size}"),
    })
}

pub(crate) fn access(style: &Style, direct: bool) -> &'static str {
    if direct {
        style.lang.pick("direct I/O", "ダイレクト I/O")
    } else {
        style.lang.pick("buffered I/O (page cache)", "バッファ I/O (ページキャッシュ経由)")
    }
}

/// `best of 3`; nothing for the mean.
pub(crate) fn statistic_of(style: &Style, statistic: Statistic, count: usize) -> Option<String> {
    match statistic {
        Statistic::Mean => None,
        Statistic::Median => Some(style.say(&text!("median of {count}", "{count} 回の中央値"))),
        Statistic::Best => Some(style.say(&text!("best of {count}", "{count} 回の最良値"))),
    }
}

/// What a sweep's curves are made of.
pub(crate) fn geometric_mean(style: &Style) -> &'static str {
    style.lang.pick("geometric mean of the repetitions", "繰り返しの幾何平均")
}

pub(crate) fn statistic(style: &Style, statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Mean => style.lang.pick("mean of the repetitions", "繰り返しの平均"),
        Statistic::Median => style.lang.pick("median of the repetitions", "繰り返しの中央値"),
        Statistic::Best => style.lang.pick("best repetition", "繰り返しのうち最良の値"),
    }
}

pub(crate) fn order(style: &Style, order: Order) -> &'static str {
    match order {
        Order::ByDirection => {
            style.lang.pick("all reads, then all writes, then all mixes", "読み出し、書き込み、混合の順")
        }
        Order::ByStep => style.lang.pick("step by step", "ステップごと"),
    }
}

/// The direction of a cell, if it has one.
pub(crate) fn of_direction(style: &Style, given: Option<Direction>) -> &'static str {
    given.map_or("", |given| direction(style, given))
}

/// `write RND 4 KiB Q1 T1`: a cell's direction and name; once if they are the same.
pub(crate) fn cell(style: &Style, cell: &Cell) -> String {
    let label = label(style, cell);
    match cell.direction {
        Some(given) if cell.label == given.word() => direction(style, given).to_owned(),
        // The parts of a copy tell their direction themselves.
        Some(_) if copy_part(style, cell).is_some() => label,
        Some(given) => format!("{} {label}", direction(style, given)),
        None => label,
    }
}

/// The name of a cell; of a part of a copy with what the part does, instead of the word that formulas use.
pub(crate) fn label(style: &Style, cell: &Cell) -> String {
    let name = cell.label.strip_suffix(cell.part.as_str()).filter(|_| !cell.part.is_empty());
    match name.zip(copy_part(style, cell)) {
        Some((step, part)) => format!("{}: {part}", tame(step).trim_end()),
        None => tame(&cell.label),
    }
}

fn copy_part(style: &Style, cell: &Cell) -> Option<&'static str> {
    let part = CopyPart::ALL.into_iter().find(|part| part.word() == cell.part)?;
    let (en, ja) = match part {
        CopyPart::MemoryRead => ("read from memory", "メモリーから読む"),
        CopyPart::MemoryWrite => ("write to memory", "メモリーに書く"),
        CopyPart::ToMemory => ("target → memory", "対象 → メモリー"),
        CopyPart::FromMemory => ("memory → target", "メモリー → 対象"),
        CopyPart::Within => ("within the target", "対象内"),
    };
    Some(style.lang.pick(en, ja))
}

/// `3 × 5 s per cell`, with the discarded repetitions if there are any.
pub(crate) fn repetitions(style: &Style, profile: &Profile) -> String {
    let runs = profile.rules.runs;
    if let Some(rounds) = &profile.rounds {
        let most = rounds.most;
        return style
            .say(&text!("rounds until steady, at most {most}", "定常状態になるまで最大 {most} ラウンド"));
    }
    let time = style.time(&format_time_setting(profile.rules.time_ns));
    let by_time = profile.steps.iter().all(|step| matches!(step, Step::Io(step) if !step.end.is_given()));
    let mut words = style.say(&if by_time {
        text!("{runs} × {time} per cell", "1 項目 {time} × {runs} 回")
    } else {
        let plural = if runs == 1 { "" } else { "s" };
        text!("{runs} repetition{plural} per cell", "1 項目 {runs} 回")
    });
    if profile.rules.discarded_runs > 0 {
        let discarded = profile.rules.discarded_runs;
        words.push_str(
            &style.say(&text!(" after {discarded} discarded", "(ほかに集計しない {discarded} 回)")),
        );
    }
    words
}

/// `12 operations`, with its plural.
pub(crate) fn operations(style: &Style, count: u64) -> String {
    let number = number::count(count);
    let plural = if count == 1 { "" } else { "s" };
    style.say(&text!("{number} operation{plural}", "{number} 操作"))
}

pub(crate) fn pattern(style: &Style, pattern: Pattern) -> String {
    style.say(&match pattern {
        Pattern::Sequential => text!("sequential", "シーケンシャル"),
        Pattern::Interleaved => text!("sequential, shared by threads", "シーケンシャル(スレッド間で共有)"),
        Pattern::Random => text!("random", "ランダム"),
        Pattern::Permutation => text!("random, each block once", "ランダム(各ブロック 1 回)"),
        Pattern::Zipf { exponent } => text!("Zipf {exponent}", "Zipf {exponent}"),
    })
}
