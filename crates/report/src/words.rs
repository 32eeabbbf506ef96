//! Texts for the values of a record, in both languages.

mod help;
pub(crate) mod stutter;

pub use help::help_in_japanese;

use kurabe_core::environment::{FileSystemJournal, Machine, Virtualisation};
use kurabe_core::event::Event;
use kurabe_core::profile::{CopyPart, Order, Profile, Statistic, Step};
use kurabe_core::record::{Cell, NoticeKind, RunHeader, RunStatus, TargetKind, TargetRecord};
use kurabe_core::workload::{Data, Direction, OpKind, Pattern};
use kurabe_core::{Text, imported::Origin, number, quantity::format_bytes, shown, text};
use kurabe_doc::Role;
use kurabe_stats::{CellFlush, FlushCall};

pub(crate) fn direction(direction: Direction) -> Text {
    match direction {
        Direction::Read => text!("read", "読み出し"),
        Direction::Write => text!("write", "書き込み"),
        Direction::Mix => text!("mix", "混合"),
    }
}

pub(crate) fn op_kind(kind: OpKind) -> Text {
    match kind {
        OpKind::Read => text!("read", "読み出し"),
        OpKind::Write => text!("write", "書き込み"),
        OpKind::Sync => text!("sync", "同期(fsync)"),
        OpKind::Trim => text!("trim", "破棄(TRIM)"),
    }
}

/// Returns the name of the call that flushes.
pub(crate) fn flush_call(call: FlushCall) -> Text {
    call.name().map_or_else(|| text!("flushes", "フラッシュ"), Text::same)
}

pub(crate) fn including_the_flush() -> Text {
    text!("including the flush", "フラッシュを含む")
}

pub(crate) fn writes_include_the_flush() -> Text {
    text!("writes include the flush", "書き込みはフラッシュを含む")
}

/// Describes the flushes of a cell in a few words, as in `fsync p99 7.5 ms, 90 % of the time`.
pub(crate) fn flush(flush: &CellFlush) -> Text {
    let CellFlush::Separate(figures) = flush else { return including_the_flush() };
    let (call, p99) = (flush_call(figures.call), number::latency(figures.p99_ns));
    match figures.share.map(number::percent) {
        Some(share) => {
            text!("{call} p99 {p99}, {share} of the time", "{call} p99 {p99}、時間の {share}"; call)
        }
        None => text!("{call} p99 {p99}", "{call} p99 {p99}"; call),
    }
}

pub(crate) fn status(status: RunStatus) -> (Role, Text) {
    match status {
        RunStatus::Running => (Role::Warn, text!("unfinished", "未完了")),
        RunStatus::Complete => (Role::Plain, text!("complete", "完了")),
        RunStatus::Interrupted => (Role::Warn, text!("interrupted", "中断")),
        RunStatus::Failed => (Role::Bad, text!("failed", "失敗")),
    }
}

/// Names a kind of notice.
pub fn notice(kind: NoticeKind) -> Text {
    match kind {
        NoticeKind::EngineFallback => text!("engine", "エンジン"),
        NoticeKind::CacheDrop => text!("page cache", "ページキャッシュ"),
        NoticeKind::SizeCut => text!("test file", "テストファイル"),
        NoticeKind::SpanCut => text!("span", "測定範囲"),
        NoticeKind::WarmUpCut => text!("warm-up", "事前の読み書き"),
        NoticeKind::WritesLeftOut => text!("writes", "書き込み"),
        NoticeKind::GeneratorBound => text!("limit", "上限"),
        NoticeKind::Noise => text!("noise", "ほかの処理の影響"),
        NoticeKind::ServedModel => text!("served model", "公開中のモデル"),
        NoticeKind::Other => text!("note", "備考"),
    }
}

/// Surrounds a name in Japanese text with spaces where it begins or ends in Latin letters or
/// digits.
pub(crate) fn spaced(name: &str) -> String {
    let latin = |c: char| c.is_ascii_alphanumeric();
    let (before, after) = (name.starts_with(latin), name.ends_with(latin));
    format!("{}{name}{}", if before { " " } else { "" }, if after { " " } else { "" })
}

/// Prepares a name for use within text in both languages.
pub(crate) fn amid(name: &Text) -> Text {
    Text::of(name.en.clone(), spaced(&name.ja))
}

/// Turns text into a sentence with a capital letter and a full stop.
pub fn sentence(words: &Text) -> Text {
    let mut letters = words.en.chars();
    let capital = letters.next().into_iter().flat_map(char::to_uppercase);
    Text::of(capital.chain(letters).chain(['.']).collect::<String>(), format!("{}。", words.ja.trim_start()))
}

/// The date of a measurement, or that it is unknown.
pub(crate) fn or_unknown(date: String) -> Text {
    if date.is_empty() { text!("date unknown", "日時不明") } else { date.into() }
}

/// Date, minute and offset of a measurement.
pub(crate) fn measured_at(header: &RunHeader) -> Text {
    or_unknown(number::date_minute_with_offset(header.measured_at()))
}

/// Returns the name of the kernel interface that the engine uses.
pub(crate) fn engine(name: &str) -> Text {
    match name {
        "uring" => Text::same("io_uring"),
        "threads" => Text::same("pread/pwrite"),
        "null" => text!("null device", "ヌルデバイス"),
        other => Text::same(other),
    }
}

pub(crate) fn data(data: Data) -> Text {
    match data {
        Data::Random => text!("random data, different in each block", "データ: ランダム(ブロックごとに別)"),
        Data::Zero => text!("zeros", "データ: ゼロ"),
        Data::Repeat => text!("one random block, repeated", "データ: 同じランダムブロックの繰り返し"),
        Data::Compressible { percent } => {
            text!("random data, {percent} % of it zeros", "データ: ランダム({percent} % はゼロ)")
        }
    }
}

/// Describes what the span covers: a test file, a file or a device.
fn span(target: &TargetRecord) -> Text {
    let size = format_bytes(target.span_bytes);
    match target.kind {
        TargetKind::Directory => text!("test file {size}", "テストファイル {size}"),
        TargetKind::File => text!("{size} of the file", "ファイルの {size}"),
        TargetKind::BlockDevice | TargetKind::CharacterDevice => {
            text!("{size} of the device", "デバイスの {size}")
        }
        TargetKind::Model => text!("{size} of the model", "モデルの {size}"),
    }
}

pub(crate) fn access(direct: bool) -> Text {
    match direct {
        true => text!("direct I/O", "ダイレクト I/O"),
        false => text!("buffered I/O (page cache)", "バッファー I/O (ページキャッシュ経由)"),
    }
}

/// Describes the span of a run and how it is accessed, if its profile needs one.
pub(crate) fn size_and_data(header: &RunHeader) -> Vec<Text> {
    let (Some(profile), Some(target)) = (&header.profile, &header.target) else { return Vec::new() };
    match header.model {
        _ if !profile.needs_span() => Vec::new(),
        Some(_) => vec![span(target)],
        None => vec![span(target), access(target.direct), data(profile.rules.data)],
    }
}

/// Maximum number of procedure lines shown. The others are counted.
const PROCEDURES_SHOWN: usize = 3;

/// Describes another tool's procedure, one item for each of its jobs.
pub(crate) fn procedures(origin: &Origin) -> Vec<Text> {
    let more = origin.procedures().count().saturating_sub(PROCEDURES_SHOWN);
    let shown = origin.procedures().take(PROCEDURES_SHOWN).map(|words| Text::same(shown::line(words)));
    shown.chain((more > 0).then(|| text!("and {more} more jobs", "ほか {more} ジョブ"))).collect()
}

/// Returns the statistic with the number of values, as in `best of 3`. `None` for the mean.
pub(crate) fn statistic_of(statistic: Statistic, count: usize) -> Option<Text> {
    match statistic {
        Statistic::Mean => None,
        Statistic::Median => Some(text!("median of {count}", "{count} 回の中央値")),
        Statistic::Best => Some(text!("best of {count}", "{count} 回の最良値")),
    }
}

/// Returns the statistic of a sweep's curves.
pub(crate) fn geometric_mean() -> Text {
    text!("geometric mean of the repetitions", "繰り返しの幾何平均")
}

pub(crate) fn statistic(statistic: Statistic) -> Text {
    match statistic {
        Statistic::Mean => text!("mean of the repetitions", "繰り返しの平均"),
        Statistic::Median => text!("median of the repetitions", "繰り返しの中央値"),
        Statistic::Best => text!("best repetition", "繰り返しのうち最良の値"),
    }
}

pub(crate) fn order(order: Order) -> Text {
    match order {
        Order::ByDirection => {
            text!("all reads, then all writes, then all mixes", "読み出し、書き込み、混合の順")
        }
        Order::ByStep => text!("step by step", "ステップごと"),
    }
}

/// Returns the name of a cell's direction, if it has one.
pub(crate) fn of_direction(given: Option<Direction>) -> Text {
    given.map_or_else(Text::default, direction)
}

/// Puts a direction, if there is one, before a name.
pub fn directed(given: Option<Direction>, name: &Text) -> Text {
    let direction = of_direction(given);
    text!("{direction} {name}", "{direction} {name}"; direction, name).map(|words| words.trim().to_owned())
}

/// Describes a running repetition, as in `write RND 4 KiB Q1 T1 · 2/3`. `index` counts from 0.
pub fn repetition(given: Option<Direction>, label: &str, index: u32, count: u32, discarded: bool) -> Text {
    let name = directed(given, &shown::line(label).into());
    let number = u64::from(index) + 1;
    let apart = if discarded { text!(" (discarded)", "(集計外)") } else { Text::default() };
    text!("{name} · {number}/{count}{apart}", "{name} · {number}/{count}{apart}"; name, apart)
}

/// Describes a pause before a measurement.
pub fn pause(length_ns: u64) -> Text {
    let time = number::clock(length_ns);
    text!("pause of {time}", "{time} 休止中")
}

/// Returns a cell's direction and label, as in `write RND 4 KiB Q1 T1`, or only the direction if
/// both are the same.
pub(crate) fn cell(cell: &Cell) -> Text {
    let label = label(cell);
    match cell.direction {
        Some(given) if cell.label == given.word() => direction(given),
        // The labels of copy parts contain the direction.
        Some(_) if copy_part(cell).is_none() => directed(cell.direction, &label),
        _ => label,
    }
}

/// Returns the label of a cell. For a part of a copy, it describes the part instead of using the
/// word from formulas.
pub(crate) fn label(cell: &Cell) -> Text {
    let name = cell.label.strip_suffix(cell.part.as_str()).filter(|_| !cell.part.is_empty());
    match name.zip(copy_part(cell)) {
        Some((step, part)) => part.map(|part| format!("{}: {part}", shown::line(step).trim_end())),
        None => shown::line(&cell.label).into(),
    }
}

fn copy_part(cell: &Cell) -> Option<Text> {
    let part = CopyPart::ALL.into_iter().find(|part| part.word() == cell.part)?;
    Some(match part {
        CopyPart::MemoryRead => text!("read from memory", "メモリーから読む"),
        CopyPart::MemoryWrite => text!("write to memory", "メモリーに書く"),
        CopyPart::ToMemory => text!("target → memory", "対象 → メモリー"),
        CopyPart::FromMemory => text!("memory → target", "メモリー → 対象"),
        CopyPart::Within => text!("within the target", "対象内"),
    })
}

/// Describes the repetitions, as in `3 × 5 s per cell`, including discarded ones.
pub(crate) fn repetitions(profile: &Profile) -> Text {
    let runs = profile.rules.runs;
    if let Some(rounds) = &profile.rounds {
        let most = rounds.most;
        return text!("rounds until steady, at most {most}", "定常状態になるまで最大 {most} ラウンド");
    }
    let time = number::planned_time(profile.rules.time_ns);
    let by_time = profile.steps.iter().all(|step| matches!(step, Step::Io(step) if !step.end.is_given()));
    let words = if by_time {
        text!("{runs} × {time} per test", "1 項目 {time} × {runs} 回"; time)
    } else {
        let plural = if runs == 1 { "" } else { "s" };
        text!("{runs} repetition{plural} per test", "1 項目 {runs} 回")
    };
    if profile.rules.discarded_runs > 0 {
        let discarded = profile.rules.discarded_runs;
        return text!(
            "{words} after {discarded} discarded",
            "{words}(ほかに集計しない {discarded} 回)";
            words
        );
    }
    words
}

/// Formats a number of operations, as in `12 operations`.
pub(crate) fn operations(count: u64) -> Text {
    let number = number::count(count);
    let plural = if count == 1 { "" } else { "s" };
    text!("{number} operation{plural}", "{number} 操作")
}

pub(crate) fn pattern(pattern: Pattern) -> Text {
    match pattern {
        Pattern::Sequential => text!("sequential", "シーケンシャル"),
        Pattern::Interleaved => text!("sequential, shared by threads", "シーケンシャル(スレッド間で共有)"),
        Pattern::Random => text!("random", "ランダム"),
        Pattern::Permutation => text!("random, each block once", "ランダム(各ブロック 1 回)"),
        Pattern::Zipf { exponent } => text!("Zipf {exponent}", "Zipf {exponent}"),
        Pattern::Pareto { skew } => text!("Pareto {skew}", "パレート {skew}"),
        Pattern::Normal { deviation_percent } => {
            text!("normal, deviation {deviation_percent} %", "正規分布(標準偏差 {deviation_percent} %)")
        }
        Pattern::Strided { run_bytes: Some(run_bytes), gap_bytes } => {
            let [run, gap] = [run_bytes, gap_bytes.unsigned_abs()].map(format_bytes);
            text!("{run}, then {gap} left out", "{run} ごとに {gap} 飛ばして順に")
        }
        Pattern::Strided { run_bytes: None, gap_bytes } => {
            let gap = format_bytes(gap_bytes.unsigned_abs());
            match gap_bytes < 0 {
                true => text!(
                    "backwards, {gap} from the end of a block to the next",
                    "逆順(ブロックの終わりから {gap} 戻る)"
                ),
                false => text!("{gap} between blocks", "ブロックの間を {gap} 空けて順に"),
            }
        }
    }
}

/// Describes the journal of a file system.
pub(crate) fn journal(journal: &FileSystemJournal) -> Text {
    let (place, data) = match journal {
        FileSystemJournal::Absent => return text!("none", "なし"),
        FileSystemJournal::Internal { data } => (text!("internal", "内部"), data),
        FileSystemJournal::External { data } => (text!("on another device", "別のデバイス"), data),
    };
    match data {
        Some(data) => text!("{place}, data={data}", "{place}、data={data}"; place),
        None => place,
    }
}

/// Returns the kinds of virtual machine and container that kurabe runs in.
pub(crate) fn virtualisation(machine: &Machine) -> Vec<Text> {
    let Virtualisation { machine, container } = &machine.virtualisation;
    present([
        machine.as_ref().map(|name| text!("virtual machine ({name})", "仮想マシン({name})")),
        container.as_ref().map(|name| text!("container ({name})", "コンテナー({name})")),
    ])
}

/// Formats labels or settings as `key=value`.
pub(crate) fn pairs<'a>(pairs: impl IntoIterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    pairs.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// Returns the facts that are present.
pub fn present(facts: impl IntoIterator<Item = Option<Text>>) -> Vec<Text> {
    facts.into_iter().flatten().collect()
}

/// Lists the programs that a step is about to run, a line for each kind. Empty for other events.
pub fn program_lines(event: &Event) -> Vec<Text> {
    let Event::Programs { prepare, command, restore, cleanup } = event else { return Vec::new() };
    let line = |programs: &[String], kind: Text| {
        let programs = shown::line(&programs.join("; "));
        let words = text!("{kind}: {programs}", "{kind}: {programs}"; kind);
        (!programs.is_empty()).then_some(words)
    };
    present([
        line(prepare, text!("programs that prepare", "準備のプログラム")),
        line(std::slice::from_ref(command), text!("timed program", "計時するプログラム")),
        line(restore, text!("programs after each repetition", "毎回のあとのプログラム")),
        line(cleanup, text!("programs at the end", "最後のプログラム")),
    ])
}
