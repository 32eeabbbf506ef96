//! Text below the table: how the run ended, stalls, engines, notices, footnotes.

use crate::run::figures::{Figures, worst_stall};
use crate::run::ranks::ranks;
use crate::words::stutter::{reads_beside, reads_beside_words, stutter_words};
use crate::{run::grid::GENERATOR_SIGN, run::table::RunTable, words};
use kurabe_compare::written_bytes;
use kurabe_core::issue::RecordedEngine;
use kurabe_core::mention::{DETAILS, SHOW};
use kurabe_core::profile::{PlannedWrites, Profile, Statistic};
use kurabe_core::quantity::{NS_PER_S, format_bytes, format_bytes_decimal};
use kurabe_core::record::{Cell, Noise, Notice, NoticeKind, Repetition, RunRecord, RunStatus};
use kurabe_core::{Text, number, shown, text};
use kurabe_doc::{Doc, Paragraph, Role};
use kurabe_stats::{ReadsBesideWrites, stutter};
use std::collections::BTreeSet;

/// Creates a remark in its role, with continuation lines indented.
fn remark(role: Role, words: Text) -> Paragraph {
    Paragraph::new(words).role(role).indent(0, 2)
}

/// Describes how the run ended, if it did not complete.
pub(crate) fn status(record: &RunRecord) -> Doc {
    let measured = record.cells.len();
    let planned = match (&record.header.profile, &record.header.target) {
        (Some(profile), Some(target)) => {
            profile.tasks(target.span_bytes).iter().map(|task| task.cells.len()).sum::<usize>().max(measured)
        }
        _ => measured,
    };
    let holds = match measured {
        0 => text!("nothing was measured", "まだ何も測定されていません"),
        _ => text!(
            "{measured} of {planned} tests were measured; their results are valid",
            "{planned} 項目中 {measured} 項目は測定済みで、その値は有効です"
        ),
    };
    let (role, word) = words::status(record.status);
    let (role, words) = match record.status {
        RunStatus::Complete if measured > 0 => return Doc::new(),
        RunStatus::Complete => (Role::Warn, holds.clone()),
        RunStatus::Running => (
            role,
            text!(
                "{word}: it still runs, or kurabe was killed; {holds}",
                "{word}: 測定中か、kurabe が強制終了されました。{holds}";
                word, holds
            ),
        ),
        RunStatus::Interrupted if record.header.origin.is_some() => {
            let words = text!(
                "{word}: the figures cover the time until then",
                "{word}: 数値は中断までのものです"; word
            );
            (role, words)
        }
        RunStatus::Interrupted => (role, text!("{word}: {holds}", "{word}: {holds}"; word, holds)),
        RunStatus::Failed => {
            let error =
                record.error.as_ref().map(|error| text!("{word}: {error}", "{word}: {error}"; word, error));
            (role, error.unwrap_or(word))
        }
    };
    let below = (record.status == RunStatus::Failed).then(|| Paragraph::aside(holds));
    Doc::of(remark(role, words)).push_all(below).done()
}

/// Maximum number of mixed cells with a sentence on the effect of writes on reads.
const BESIDE_TOLD: usize = 2;

/// Returns everything else below the table, most important first.
pub(crate) fn below(record: &RunRecord) -> Doc {
    let mut remarks = ranks(record);
    remarks.extend(worst(record));
    remarks.extend(beside(record));
    remarks.extend(fill(record));
    remarks.extend(written(record));
    let mut remarks: Vec<(Role, Text)> = remarks.into_iter().map(|words| (Role::Plain, words)).collect();
    let (noise, others): (Vec<_>, Vec<_>) =
        distinct(record).partition(|notice| notice.kind == NoticeKind::Noise);
    let line = |notice: &Notice| (notice_role(notice.kind), Remark::of(notice).words());
    remarks.extend(others.into_iter().map(line));
    remarks.extend(match noise.as_slice() {
        [] => None,
        [only] => Some(line(only)),
        several => Some((Role::Warn, noise_in_short(record, several))),
    });
    remarks.extend(labels(record).map(|labels| (Role::Plain, text!("labels: {labels}", "ラベル: {labels}"))));
    remarks.into_iter().map(|(role, words)| remark(role, words)).collect()
}

/// Returns the labels of a run in a line, if it has any.
pub(crate) fn labels(record: &RunRecord) -> Option<String> {
    (!record.labels.is_empty()).then(|| words::pairs(&record.labels).join(", "))
}

/// A remark on a run.
pub(crate) struct Remark {
    /// Whether it is a warning.
    pub(crate) role: Role,
    /// Its subject, in a word.
    pub(crate) kind: Text,
    pub(crate) sentence: Text,
}

impl Remark {
    fn of(notice: &Notice) -> Self {
        Self {
            role: notice_role(notice.kind),
            kind: words::notice(notice.kind),
            sentence: notice.text.clone(),
        }
    }

    pub(crate) fn words(&self) -> Text {
        let Self { kind, sentence, .. } = self;
        text!("{kind}: {sentence}", "{kind}: {sentence}"; kind, sentence)
    }

    fn paragraph(self) -> Paragraph {
        remark(self.role, self.words())
    }
}

/// Returns the distinct notices of a run as remarks.
pub(crate) fn notices(record: &RunRecord) -> Vec<Remark> {
    distinct(record).map(Remark::of).collect()
}

/// Returns the notices of a run as a list for a page.
pub fn notices_doc(record: &RunRecord) -> Doc {
    distinct(record).map(|notice| Remark::of(notice).paragraph().listed()).collect()
}

/// Returns the distinct notices of a run.
fn distinct(record: &RunRecord) -> impl Iterator<Item = &Notice> {
    let mut seen = BTreeSet::new();
    record.notices.iter().filter(move |notice| seen.insert((&notice.text.en, &notice.text.ja)))
}

/// Summarizes other activity in a line: the repetition in which other processes transferred the
/// most data on the device, and the command that shows the rest.
fn noise_in_short(record: &RunRecord, noise: &[&Notice]) -> Text {
    let kind = words::notice(NoticeKind::Noise);
    let worst = worst_repetition(record).map(|(cell, repetition, bytes_per_s)| {
        let (place, number) = (words::cell(cell), repetition.index + 1);
        let rate = Text::from(number::rate(bytes_per_s));
        text!(
            "worst in {place}, repetition {number}: others read and wrote {rate} there",
            "最大は {place} の {number} 回目で、ほかの読み書きが {rate}";
            place, rate
        )
    });
    // If no other process used the device, the first notice represents the others.
    let worst = worst.unwrap_or_else(|| noise[0].text.clone());
    let (count, id) = (noise.len(), shown::line(&record.header.id));
    text!(
        "{kind}: {worst} ({count} remarks: {SHOW} {id} {DETAILS})",
        "{kind}: {worst}(全 {count} 件: {SHOW} {id} {DETAILS})";
        kind, worst
    )
}

/// Returns the repetition in which other processes had the highest transfer rate, with its cell and
/// that rate.
fn worst_repetition(record: &RunRecord) -> Option<(&Cell, &Repetition, f64)> {
    let rate = |repetition: &Repetition| {
        let Noise { other_read_bytes, other_write_bytes, .. } = &repetition.noise;
        let bytes = other_read_bytes.unwrap_or(0).saturating_add(other_write_bytes.unwrap_or(0));
        bytes as f64 * NS_PER_S as f64 / repetition.elapsed_ns.max(1) as f64
    };
    let repetitions = record.cells.iter().flat_map(|cell| cell.counted().map(move |one| (cell, one)));
    repetitions
        .map(|(cell, repetition)| (cell, repetition, rate(repetition)))
        .filter(|(.., bytes_per_s)| *bytes_per_s > 0.0)
        .max_by(|(.., one), (.., other)| one.total_cmp(other))
}

/// Lists all notices on other activity, if [`below`] only summarizes them.
pub(crate) fn all_noise(record: &RunRecord) -> Doc {
    let noise: Vec<&Notice> = distinct(record).filter(|notice| notice.kind == NoticeKind::Noise).collect();
    if noise.len() < 2 {
        return Doc::new();
    }
    noise.into_iter().map(|notice| Remark::of(notice).paragraph()).collect::<Doc>().with_gap()
}

/// Returns the role of a notice.
pub(crate) fn notice_role(kind: NoticeKind) -> Role {
    match kind {
        NoticeKind::CacheDrop | NoticeKind::Other | NoticeKind::EngineFallback => Role::Plain,
        _ => Role::Warn,
    }
}

/// Describes the worst stall, and the number of stalls.
fn worst(record: &RunRecord) -> Vec<Text> {
    let Some((cell, stall, at_ns)) = worst_stall(&record.cells) else { return Vec::new() };
    let length = Text::same(number::latency_ns(stall.length_ns));
    let (at, place) = (number::time_words(&number::moment(at_ns)), words::cell(cell));
    let counts = record.cells.iter().flat_map(Cell::counted).map(|repetition| repetition.stall_count);
    let others = match counts.fold(0, u64::saturating_add).max(1) {
        1 => text!(" (the only one)", "停滞はこの 1 回のみ"),
        count => {
            let all = number::count(count);
            text!(" ({all} pauses in total)", "停滞は全部で {all} 回")
        }
    };
    let mut remarks = vec![text!(
        "longest pause: {length} at {at} in {place}{others}",
        "最長の停滞: {length} ({place}、開始から {at})。{others}";
        length, at, place, others
    )];
    let felt = stutter(cell).filter(|stutter| stutter.stalls > 1).and_then(|stutter| stutter_words(&stutter));
    remarks.extend(felt.map(|felt| text!("in {place} it {felt}", "{place}では{felt}"; place, felt)));
    remarks
}

/// Describes the effect of writes on reads, if the run also measured the reads alone.
fn beside(record: &RunRecord) -> Vec<Text> {
    let sentence = |(cell, beside): &(&Cell, ReadsBesideWrites)| {
        let (words, place) = (reads_beside_words(beside), words::label(cell));
        text!("{place}: {words}", "{place}: {words}"; place, words)
    };
    reads_beside(record).iter().take(BESIDE_TOLD).map(sentence).collect()
}

/// Describes the writing of the test file.
fn fill(record: &RunRecord) -> Option<Text> {
    let fill = record.fill.filter(|fill| fill.written_bytes > 0)?;
    let written = Text::same(format_bytes(fill.written_bytes));
    let time = number::time_words(&number::moment(fill.elapsed_ns));
    let rate = Text::from(match fill.elapsed_ns {
        0 => number::rate(0.0),
        ns => number::rate(fill.written_bytes as f64 * 1e9 / ns as f64),
    });
    let cut = if fill.written_bytes < fill.asked_bytes {
        let asked = format_bytes(fill.asked_bytes);
        text!(" (the profile asks for {asked})", "(プロファイルの指定は {asked})")
    } else {
        Text::default()
    };
    Some(text!(
        "test file: {written} written in {time}, {rate}{cut}",
        "テストファイル: {written} を {time} で書き込み、{rate}{cut}";
        written, time, rate, cut
    ))
}

/// Returns the total amount that a run wrote on a real device, which causes wear.
fn written(record: &RunRecord) -> Option<Text> {
    let is_real = record.header.model.is_none() && record.header.origin.is_none();
    let written = Some(written_words(record)).filter(|_| is_real && written_bytes(record) > 0)?;
    Some(text!("written in total: {written}", "書き込み量: {written}"; written))
}

/// Returns the amount that a run wrote. It is a lower bound if the run had preconditioning, whose
/// amount is not recorded.
pub(crate) fn written_words(record: &RunRecord) -> Text {
    let written = format_bytes_decimal(written_bytes(record));
    match record.header.profile.as_ref().is_some_and(|profile| !profile.preconditions.is_empty()) {
        true => text!("at least {written}", "少なくとも {written}"),
        false => Text::same(written),
    }
}

/// Explains the signs in the table.
pub(crate) fn footnotes(record: &RunRecord, table: &RunTable<'_>) -> Doc {
    let Some(profile) = &record.header.profile else { return Doc::new() };
    let figures: Vec<&Figures<'_>> = table.all().collect();
    let mut notes = Vec::new();
    notes.extend(record.header.model.as_ref().map(|model| (Role::Warn, crate::model::footnote(model))));
    if figures.iter().any(|figures| figures.generator_bound) {
        notes.push((
            Role::Warn,
            text!(
                "{GENERATOR_SIGN} kurabe was the limit here, not the storage: the storage may be faster",
                "{GENERATOR_SIGN} ここではストレージではなく kurabe 自身が上限でした。実際の性能はこれより高い可能性があります"
            ),
        ));
    }
    let depths = figures.iter().filter_map(|figures| found_depth(figures.cell));
    let quiet = depths.chain(interval_notes(&figures)).chain(tool_notes(profile, &figures));
    notes.extend(quiet.map(|note| (Role::Quiet, note)));
    notes.into_iter().map(|(role, note)| remark(role, note)).collect()
}

/// Describes the greatest queue depth within the latency target of a cell.
fn found_depth(cell: &Cell) -> Option<Text> {
    let target = cell.workload.as_ref()?.latency_target?;
    let depths: Vec<u32> = cell.counted().filter_map(|repetition| repetition.iodepth).collect();
    let (least, most) = (*depths.iter().min()?, *depths.iter().max()?);
    let depth = if least == most { least.to_string() } else { format!("{least}–{most}") };
    let (latency, percentile) = (number::latency_ns(target.latency_ns), target.percentile);
    let label = words::label(cell);
    Some(text!(
        "{label}: queue depth {depth} is the greatest that keeps {percentile} % of the operations within {latency}",
        "{label}: 操作の {percentile} % が {latency} に収まる最大のキュー深さは {depth}";
        label
    ))
}

/// Explains what ± refers to, and why it is missing.
fn interval_notes(figures: &[&Figures<'_>]) -> Vec<Text> {
    let with_interval: Vec<_> = figures.iter().filter(|figures| figures.interval().is_some()).collect();
    let samples = with_interval.iter().filter(|figures| figures.cell.has_samples()).count();
    let interval = match samples {
        _ if with_interval.is_empty() => None,
        0 => Some(text!(
            "± is the 95 % interval of the mean over the repetitions",
            "± は繰り返しの平均の 95 % 信頼区間です"
        )),
        _ if samples == with_interval.len() => Some(text!(
            "± is the 95 % interval of the mean over the samples",
            "± はサンプルの平均の 95 % 信頼区間です"
        )),
        _ => Some(text!(
            "± is the 95 % interval of the mean over the repetitions, or over the samples where there are samples",
            "± は平均の 95 % 信頼区間です(サンプルのある項目ではサンプル間、ほかは繰り返し間)"
        )),
    };
    let alone = figures.iter().filter(|figures| figures.counted == 1).count();
    let missing = match alone {
        0 => None,
        _ if alone == figures.len() => Some(text!(
            "one repetition each, so there is no interval (±)",
            "繰り返しが 1 回だけなので、信頼区間(±)は出せません"
        )),
        _ => Some(text!(
            "no ± means one repetition, which has no interval",
            "± のない項目は繰り返しが 1 回だけで、信頼区間を出せません"
        )),
    };
    interval.into_iter().chain(missing).collect()
}

/// Describes how the profile's tool computes its figures: its statistic, unit and rounds.
fn tool_notes(profile: &Profile, figures: &[&Figures<'_>]) -> Vec<Text> {
    let mut notes = Vec::new();
    if profile.statistic != Statistic::Mean && figures.iter().any(|figures| figures.counted > 1) {
        let name = shown::line(&profile.name);
        notes.push(match profile.statistic {
            Statistic::Best => text!(
                "the best repetition is the figure of `{name}`; kurabe's own is the mean below it",
                "`{name}` の値は繰り返しのうち最良のもの。kurabe 自身の値はその下の平均です"
            ),
            _ => text!(
                "the median is the figure of `{name}`; kurabe's own is the mean below it",
                "`{name}` の値は中央値。kurabe 自身の値はその下の平均です"
            ),
        });
    }
    if let Some(printed) = &profile.as_printed {
        let (unit, bytes) = (shown::line(&printed.unit), number::count(printed.bytes));
        notes.push(text!(
            "the tool's {unit} is the same rate as the tool prints it: 1 {unit} there is {bytes} bytes/s",
            "「ツールの {unit}」は同じ速度を元のツールの表記で示した値です(1 {unit} = {bytes} バイト/秒)"
        ));
    }
    if let Some(rounds) = &profile.rounds {
        let window = rounds.window;
        notes.push(text!(
            "the figures are those of the last {window} rounds",
            "値は最後の {window} ラウンドのものです"
        ));
    }
    notes
}

/// Lists the engines of the cells without duplicates, as in
/// `io_uring; queue depth 1: pread/pwrite`.
pub(crate) fn engines(cells: &[Cell]) -> Option<Text> {
    let used = cells.iter().filter_map(|cell| {
        let shallow = cell.workload.as_ref().is_none_or(|workload| workload.iodepth == 1);
        // For a model, the header already says so.
        let engine = cell.engine.as_ref().filter(|engine| engine.name != RecordedEngine::Model)?;
        Some((engine.name.word(), shallow))
    });
    let used: Vec<(&str, bool)> = used.collect();
    let count = |name: &str| used.iter().filter(|(other, _)| *other == name).count();
    let first = |name: &str| used.iter().position(|(other, _)| *other == name);
    let mut names: Vec<&str> = used.iter().map(|(name, _)| *name).collect();
    names.sort_by_key(|name| (std::cmp::Reverse(count(name)), first(name)));
    names.dedup();
    // An engine that serves exactly the cells with queue depth 1 is not the main one, however many
    // there are.
    let shallow = |name: &str| used.iter().all(|(other, shallow)| (*other == name) == *shallow);
    if names.len() == 2 && shallow(names[0]) {
        names.swap(0, 1);
    }
    let (main, others) = names.split_first()?;
    let mut words = vec![words::engine(main)];
    for name in others {
        let engine = words::engine(name);
        words.push(match count(name) {
            _ if shallow(name) => text!("queue depth 1: {engine}", "キュー深さ 1 は {engine}"; engine),
            1 => text!("1 test: {engine}", "1 項目は {engine}"; engine),
            n => text!("{n} tests: {engine}", "{n} 項目は {engine}"; engine),
        });
    }
    Some(Text::join(words, ["; ", "、"]))
}

/// Returns the amount that a run will write. For writes limited by time, it gives the amounts for a
/// slow and a fast drive, because no single figure would fit all drives.
pub fn planned_writes(writes: PlannedWrites) -> Option<Text> {
    if writes.time_ns == 0 {
        let amount = format_bytes_decimal(writes.bytes);
        return (writes.bytes > 0)
            .then(|| text!("writes at most {amount}", "書き込み量は最大 {amount} です"));
    }
    let at = |bytes_per_s: u64| {
        let timed = u128::from(writes.time_ns) * u128::from(bytes_per_s) / u128::from(NS_PER_S);
        let timed = u64::try_from(timed).unwrap_or(u64::MAX);
        format_bytes_decimal(timed.saturating_add(writes.bytes))
    };
    let (slow, fast) = (at(SLOW_BYTES_PER_S), at(FAST_BYTES_PER_S));
    Some(text!(
        "writes {slow} at 500 MB/s, up to {fast} on a fast drive",
        "書き込み量は 500 MB/s なら {slow}、高速なドライブでは最大 {fast} です"
    ))
}

/// A SATA drive and a mid-range NVMe drive. Most drives write at rates between these.
const SLOW_BYTES_PER_S: u64 = 500_000_000;
const FAST_BYTES_PER_S: u64 = 3_000_000_000;
