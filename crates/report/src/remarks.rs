//! What stands below the table: how the run ended, stalls, engines, notices, footnotes.

use crate::figures::{Figures, stall_count, worst_stall};
use crate::grid::GENERATOR_SIGN;
use crate::layout::{hanging, indented, tame, wrap};
use crate::stutter::{reads_beside, reads_beside_words, stutter_words};
use crate::style::{Role, Style};
use crate::words;
use kurabe_core::number;
use kurabe_core::profile::{Profile, Statistic};
use kurabe_core::quantity::{format_bytes, format_bytes_decimal};
use kurabe_core::record::{Cell, NoticeKind, RunRecord, RunStatus};
use kurabe_core::{Text, text};
use kurabe_stats::stutter;
use std::collections::BTreeSet;

/// A remark of one or more lines, in its tone, continued under its own text.
fn remark(style: &Style, role: Role, text: &str) -> Vec<String> {
    hanging(wrap(text, style.width.saturating_sub(2)), 0, 2)
        .into_iter()
        .map(|line| {
            let body = line.trim_start();
            format!("{}{}", &line[..line.len() - body.len()], style.paint(role, body))
        })
        .collect()
}

/// How the run ended, if not at its end.
pub(crate) fn status(record: &RunRecord, style: &Style) -> Vec<String> {
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
            "{measured} of {planned} cells were measured, and these hold",
            "{planned} 項目中 {measured} 項目は測定済みで、その値は有効です"
        ),
    };
    let (en, ja) = (holds.en, holds.ja);
    let (word, role) = words::status(record.status);
    let word = style.say(&word);
    let sentence = match record.status {
        RunStatus::Complete if measured > 0 => return Vec::new(),
        RunStatus::Complete => return remark(style, Role::Warn, style.pick(&en, &ja)),
        RunStatus::Running => style.say(&text!(
            "{word}: it still runs, or kurabe was killed; {en}",
            "{word}: 測定中か、kurabe が強制終了されました。{ja}"
        )),
        RunStatus::Interrupted => style.say(&text!("{word}: {en}", "{word}: {ja}")),
        RunStatus::Failed => {
            let error = record.error.as_ref().map_or("", |error| error.get(style.lang));
            let mut lines = remark(style, role, format!("{word}: {error}").trim_end_matches(": "));
            lines.extend(indented(wrap(style.pick(&en, &ja), style.width.saturating_sub(2)), 2));
            return lines;
        }
    };
    remark(style, role, &sentence)
}

/// Mixed cells of which it is told what reads suffer beside writes.
const BESIDE_TOLD: usize = 2;

/// Everything else below the table, in the order of weight.
pub(crate) fn below(record: &RunRecord, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(worst(record, style));
    lines.extend(beside(record, style));
    lines.extend(fill(record, style));
    let mut told = BTreeSet::new();
    for notice in &record.notices {
        let text = notice.text.get(style.lang);
        if told.insert(text) {
            let words = format!("{}: {text}", style.say(&words::notice(notice.kind)));
            lines.extend(remark(style, notice_role(notice.kind), &words));
        }
    }
    if !record.labels.is_empty() {
        let labels: Vec<String> = record.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let labels = labels.join(", ");
        lines.extend(remark(style, Role::Plain, &style.say(&text!("labels: {labels}", "ラベル: {labels}"))));
    }
    lines
}

/// Whether a notice warns.
pub(crate) fn notice_role(kind: NoticeKind) -> Role {
    match kind {
        NoticeKind::CacheDrop | NoticeKind::Other | NoticeKind::EngineFallback => Role::Plain,
        _ => Role::Warn,
    }
}

/// The worst stall and how many there were.
fn worst(record: &RunRecord, style: &Style) -> Vec<String> {
    let Some((cell, stall, at_ns)) = worst_stall(&record.cells) else { return Vec::new() };
    let length = number::latency_ns(stall.length_ns);
    let at = style.say(&words::time(&number::moment(at_ns)));
    let place = style.say(&words::cell(cell));
    let count = stall_count(&record.cells).max(1);
    let others = match count {
        1 => text!(" (the only one)", "停滞はこの 1 回のみ"),
        _ => {
            let all = number::count(count);
            text!(" ({all} stalls in all)", "停滞は全部で {all} 回")
        }
    };
    let (en, ja) = (others.en, others.ja);
    let sentence = text!(
        "worst stall: {length} at {at} in {place}{en}",
        "最長の停滞: {length} ({place}、開始から {at})。{ja}"
    );
    let mut lines = remark(style, Role::Plain, &style.say(&sentence));
    let felt = stutter(cell).filter(|stutter| stutter.stalls > 1).and_then(|stutter| stutter_words(&stutter));
    if let Some(Text { en, ja }) = felt {
        let place = style.say(&words::cell(cell));
        let felt = Text { en: format!("in {place} it {en}"), ja: format!("{place}では{ja}") };
        lines.extend(remark(style, Role::Plain, &style.say(&felt)));
    }
    lines
}

/// What reads suffer beside writes, where the run has them alone as well.
fn beside(record: &RunRecord, style: &Style) -> Vec<String> {
    let found = reads_beside(record);
    let told = found.iter().take(BESIDE_TOLD).map(|(cell, beside)| {
        let (words, place) = (reads_beside_words(beside), style.say(&words::label(cell)));
        let (en, ja) = (words.en, words.ja);
        style.say(&text!("{place}: {en}", "{place}: {ja}"))
    });
    told.flat_map(|sentence| remark(style, Role::Plain, &sentence)).collect()
}

/// The writing of the test file.
fn fill(record: &RunRecord, style: &Style) -> Vec<String> {
    let Some(fill) = record.fill.filter(|fill| fill.written_bytes > 0) else { return Vec::new() };
    let written = format_bytes(fill.written_bytes);
    let time = style.say(&words::time(&number::moment(fill.elapsed_ns)));
    let rate = match fill.elapsed_ns {
        0 => number::rate(0.0),
        ns => number::rate(fill.written_bytes as f64 * 1e9 / ns as f64),
    };
    let cut = if fill.written_bytes < fill.asked_bytes {
        let asked = format_bytes(fill.asked_bytes);
        text!(" (the profile asks for {asked})", "(プロファイルの指定は {asked})")
    } else {
        text!("", "")
    };
    let (en, ja) = (cut.en, cut.ja);
    remark(
        style,
        Role::Plain,
        &style.say(&text!(
            "test file: {written} written in {time}, {rate}{en}",
            "テストファイル: {written} を {time} で書き込み、{rate}{ja}"
        )),
    )
}

/// What the signs in the table mean.
pub(crate) fn footnotes(record: &RunRecord, style: &Style) -> Vec<String> {
    let Some(profile) = &record.header.profile else { return Vec::new() };
    let figures: Vec<Figures> =
        record.cells.iter().map(|cell| Figures::of(cell, profile.statistic)).collect();
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
    let quiet = interval_notes(record, &figures).into_iter().chain(tool_notes(profile, &figures));
    notes.extend(quiet.map(|note| (Role::Quiet, note)));
    notes.into_iter().flat_map(|(role, note)| remark(style, role, &style.say(&note))).collect()
}

/// What ± is of, and why it is missing.
fn interval_notes(record: &RunRecord, figures: &[Figures]) -> Vec<Text> {
    let of_samples = |cell: &Cell| cell.counted().any(|repetition| !repetition.samples.is_empty());
    let with_interval: Vec<bool> = record
        .cells
        .iter()
        .zip(figures)
        .filter(|(_, figures)| figures.interval().is_some())
        .map(|(cell, _)| of_samples(cell))
        .collect();
    let mut notes = Vec::new();
    if !with_interval.is_empty() {
        let samples = with_interval.iter().filter(|of_samples| **of_samples).count();
        notes.push(match samples {
            0 => text!(
                "± is the 95 % interval of the mean over the repetitions",
                "± は繰り返しの平均の 95 % 信頼区間です"
            ),
            _ if samples == with_interval.len() => text!(
                "± is the 95 % interval of the mean over the samples",
                "± はサンプルの平均の 95 % 信頼区間です"
            ),
            _ => text!(
                "± is the 95 % interval of the mean over the repetitions, or over the samples where there are samples",
                "± は平均の 95 % 信頼区間です(サンプルのある項目ではサンプル間、ほかは繰り返し間)"
            ),
        });
    }
    if figures.iter().any(|figures| figures.counted == 1) {
        notes.push(match figures.iter().any(|figures| figures.counted != 1) {
            false => text!(
                "one repetition each, so no interval (±) can be told",
                "繰り返しが 1 回だけなので、信頼区間(±)は出せません"
            ),
            true => text!(
                "where no ± stands, there was one repetition and no interval can be told",
                "± のない項目は繰り返しが 1 回だけで、信頼区間を出せません"
            ),
        });
    }
    notes
}

/// How the tool of the profile comes to its figures: its statistic, its unit, its rounds.
fn tool_notes(profile: &Profile, figures: &[Figures]) -> Vec<Text> {
    let mut notes = Vec::new();
    if profile.statistic != Statistic::Mean && figures.iter().any(|figures| figures.counted > 1) {
        let name = tame(&profile.name);
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
        let (unit, bytes) = (tame(&printed.unit), number::count(printed.bytes));
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

/// The engines of the cells, told once: `io_uring; queue depth 1: pread/pwrite`.
pub(crate) fn engines(cells: &[Cell], style: &Style) -> Option<String> {
    let used: Vec<(&str, bool)> = cells
        .iter()
        .filter_map(|cell| {
            let shallow = cell.workload.as_ref().is_none_or(|workload| workload.iodepth == 1);
            // Of a model the header says so.
            let engine = cell.engine.as_ref().filter(|engine| engine.name != "model")?;
            Some((engine.name.as_str(), shallow))
        })
        .collect();
    let count = |name: &str| used.iter().filter(|(other, _)| *other == name).count();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &used {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| std::cmp::Reverse(count(name)));
    // An engine that serves exactly the cells of queue depth 1 is never the main one, however many they are.
    let shallow = |name: &str| used.iter().all(|(other, shallow)| (*other == name) == *shallow);
    if names.len() == 2 && shallow(names[0]) {
        names.swap(0, 1);
    }
    let (main, others) = names.split_first()?;
    let mut words = vec![style.say(&words::engine(main)).to_owned()];
    for name in others {
        let engine = style.say(&words::engine(name));
        words.push(style.say(&if shallow(name) {
            text!("queue depth 1: {engine}", "キュー深さ 1 は {engine}")
        } else {
            match count(name) {
                1 => text!("1 cell: {engine}", "1 項目は {engine}"),
                n => text!("{n} cells: {engine}", "{n} 項目は {engine}"),
            }
        }));
    }
    Some(words.join(style.pick("; ", "、")))
}

/// The bytes that will be written, said before they are.
pub(crate) fn planned_writes(bytes: u64, style: &Style) -> String {
    let amount = format_bytes_decimal(bytes);
    style.say(&text!("at least {amount} will be written", "少なくとも {amount} を書き込みます"))
}
