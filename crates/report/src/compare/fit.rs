//! Whether a storage device is fit for a use: one sentence, then each limit with the measured value
//! and its source.

use crate::compare::recommend::operations;
use crate::run::{host_memory_words, written_words};
use crate::words;
use kurabe_compare::{CacheDoubt, Fit, FitVerdict, HostMemory, JudgedLimit, MeasuredLimit};
use kurabe_core::mention::{COUNT, SIZE};
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::RunRecord;
use kurabe_core::workload::OpKind;
use kurabe_core::{ErrorKind, Result, Text, number, shown, text};
use kurabe_doc::{Doc, Paragraph, Role};

/// Renders the verdict on a run's fitness for a use.
pub fn fit_doc(fit: &Fit, record: &RunRecord) -> Doc {
    let mut doc = Doc::new();
    let role = match fit.verdict {
        FitVerdict::Fit => Role::Good,
        FitVerdict::Unfit => Role::Bad,
        FitVerdict::NotClear => Role::Warn,
    };
    doc.push(Paragraph::new(fit_answer(fit, record)).role(role)).gap();
    for limit in &fit.limits {
        doc.push(Paragraph::new(limit_line(limit)).indent(2, 4));
        if let Some(source) = &limit.source {
            doc.push(Paragraph::aside(source.clone()).indent(4, 6));
        }
    }
    let asides = counted(fit, record)
        .into_iter()
        .chain(assumptions(fit, record))
        .chain(what_a_flush_includes(fit, record));
    for aside in asides {
        doc.push(Paragraph::aside(aside).indent(2, 4));
    }
    let (run, written) = (&record.header.id, written_words(record));
    let measured =
        text!("measured in run {run}, which wrote {written}", "測定: {run}(書き込み量 {written})"; written);
    doc.push(Paragraph::aside(measured).indent(2, 4));
    doc
}

fn assumptions(fit: &Fit, record: &RunRecord) -> Option<Text> {
    let assumed = assumed_flush(record).filter(|_| fit.limits.iter().any(is_of_flushes))?;
    Some(text!(
        "this depends on assumptions of the model: {assumed}",
        "モデルの仮定による結果です: {assumed}"
    ))
}

/// Returns the assumed parameters of a model that determine the duration of a flush:
/// `disk.write_cache_kept = true`.
pub(crate) fn assumed_flush(record: &RunRecord) -> Option<String> {
    const DECIDE: [&str; 3] = ["write_cache", "write_cache_kept", "power_loss_protection"];
    let layers = record.header.model.iter().flat_map(|model| &model.layers);
    let assumed = layers.flat_map(|layer| {
        let decisive = layer.parameters.iter().filter(|one| DECIDE.contains(&one.key.as_str()));
        let assumed = decisive.filter(|one| one.source.starts_with("assumed"));
        assumed.map(|one| format!("{}.{} = {}", layer.name, one.key, one.value))
    });
    let assumed = assumed.collect::<Vec<_>>().join(", ");
    (!assumed.is_empty()).then_some(assumed)
}

/// Says how many instances of the use are served, or how to find out.
fn counted(fit: &Fit, record: &RunRecord) -> Option<Text> {
    match (fit.largest_count, fit.count, record.header.model.is_some()) {
        (Some(largest), ..) => Some(text!(
            "by the model, all limits are met for up to {largest} ({COUNT} {largest})",
            "モデルでは、{largest} まで条件を満たします({COUNT} {largest})"
        )),
        (None, Some(1), false) if fit.verdict == FitVerdict::Fit => Some(text!(
            "measured for one; {COUNT} 4 measures four",
            "1 つの場合の測定です。{COUNT} 4 なら 4 つの場合を測れます"
        )),
        _ => None,
    }
}

/// Says what a flush on a model includes.
fn what_a_flush_includes(fit: &Fit, record: &RunRecord) -> Option<Text> {
    let model = record.header.model.as_ref().filter(|_| fit.limits.iter().any(is_of_flushes))?;
    Some(if model.layers.iter().any(|layer| layer.kind == "journal") {
        text!(
            "a flush includes the writes from the page cache and, if required, a commit of ext4's \
             journal",
            "フラッシュには、ページキャッシュの書き出しと、必要な場合は ext4 のジャーナルのコミットを含みます"
        )
    } else {
        text!(
            "the model is the device alone: with a file system, each flush also writes its journal and takes longer",
            "モデルは機器だけを表します。ファイルシステムがあると、フラッシュのたびにジャーナルも書くため、さらに長くかかります"
        )
    })
}

fn is_of_flushes(limit: &JudgedLimit) -> bool {
    matches!(limit.measured, MeasuredLimit::Percentile { of: OpKind::Sync, .. })
}

/// Summarizes the verdict in a sentence.
pub fn fit_answer(fit: &Fit, record: &RunRecord) -> Text {
    let title = title(fit);
    let by = match record.header.model {
        Some(_) => text!(", by the model", "(モデルによる)"),
        None => Text::default(),
    };
    let why = match (fit.host_memory, &fit.cache_doubt) {
        (Some(memory), _) => memory_words(memory, record),
        (None, Some(doubt)) => cache_words(doubt),
        (None, None) => {
            fit.decisive().map(|limit| decisive_words(limit, fit.verdict, record)).unwrap_or_else(|| {
                text!("this use has no limit that a measurement can check", "判定できる条件がありません")
            })
        }
    };
    let words = match fit.verdict {
        FitVerdict::Fit => {
            text!("fit for {title}{by}: {why}", "{title}に使えます{by}。{why}"; title, by, why)
        }
        FitVerdict::Unfit => {
            text!("not fit for {title}{by}: {why}", "{title}には使えません{by}。{why}"; title, by, why)
        }
        FitVerdict::NotClear => text!(
            "unclear whether it is fit for {title}{by}: {why}",
            "{title}に使えるかどうかは判断できません{by}。{why}"; title, by, why
        ),
    };
    words::sentence(&words)
}

/// Says that the computer's memory was measured, and not a drive.
fn memory_words(memory: HostMemory, record: &RunRecord) -> Text {
    let name = host_memory_words(memory, record);
    match memory {
        HostMemory::Memory => text!(
            "this is {name}, not a drive: nothing survives a restart",
            "これはドライブではなく{name}で、再起動すると内容は失われます"; name
        ),
        HostMemory::PageCache => text!(
            "this is {name}, not a drive: attached with direct I/O, it would show the drive below",
            "これはドライブではなく{name}です。ダイレクト I/O で接続すれば、その下のドライブを測れます"; name
        ),
    }
}

/// Warns that a cache may have absorbed all writes, and says how much to write to find out.
fn cache_words(doubt: &CacheDoubt) -> Text {
    let written = format_bytes_decimal(doubt.written_bytes);
    let needed = format!("{:.0}GB", (doubt.needed_bytes as f64 / 1e9).ceil());
    let long = match doubt.needed_ns {
        Some(needed_ns) => {
            let time = number::long_time(needed_ns);
            text!(" (about {time})", "(約 {time})")
        }
        None => Text::default(),
    };
    text!(
        "a cache of the drive may have taken the {written} that were written; {SIZE} {needed} would tell{long}",
        "書き込んだ {written} はドライブのキャッシュに収まった可能性があります。{SIZE} {needed} で測れば分かります{long}";
        long
    )
}

/// Turns the verdict into the exit code of a script.
///
/// # Errors
///
/// [`ErrorKind::Unfit`] if the storage is not fit, and [`ErrorKind::Unclear`] if that is not clear.
pub fn accept_fit(fit: &Fit) -> Result<()> {
    let name = shown::line(&fit.name);
    match fit.verdict {
        FitVerdict::Fit => Ok(()),
        FitVerdict::Unfit => {
            Err(ErrorKind::Unfit.error(text!("not fit for {name}", "{name} には使えません")))
        }
        FitVerdict::NotClear => Err(ErrorKind::Unclear
            .error(text!("unclear whether it is fit for {name}", "{name} に使えるかどうか判断できません"))),
    }
}

/// Returns the title of the use with its count, for a sentence.
fn title(fit: &Fit) -> Text {
    let title = fit.title.map(shown::line);
    let counted = match fit.count {
        Some(count) => text!("{title} ({count})", "{title}({count})"; title),
        None => title,
    };
    words::amid(&counted)
}

/// Returns the measured value next to the limit. The probability from the repetitions is added only
/// if the answer is open: a high probability would reflect only the scatter of the repetitions.
fn decisive_words(limit: &JudgedLimit, verdict: FitVerdict, record: &RunRecord) -> Text {
    let facts = facts(limit);
    let is_measured = record.header.model.is_none();
    match limit.kept {
        Some([lowest, _]) if verdict == FitVerdict::NotClear && is_measured => {
            let probability = number::percent(lowest);
            text!(
                "{facts}; the probability that it is met is only {probability}",
                "{facts}。満たしている確率は {probability} にとどまります"; facts
            )
        }
        _ => facts,
    }
}

/// Returns the measured value next to the limit.
fn facts(limit: &JudgedLimit) -> Text {
    match &limit.measured {
        MeasuredLimit::Percentile { of, share, at_most_ns, value_ns, operations: count, .. } => {
            let (percent, kind) = (number::percentile(*share), operations(*of));
            let (limit, count) = (number::latency_ns(*at_most_ns), number::count(*count));
            match value_ns.map(number::latency_ns) {
                Some(value) => text!(
                    "{percent} % of {count} {kind} finish within {value}; the limit is {limit}",
                    "{kind} {count} 回の {percent} % が {value} 以内に終わります(上限 {limit})"; kind
                ),
                None => text!(
                    "{percent} % of {kind} must finish within {limit}, but none was measured",
                    "{kind}の {percent} % が {limit} 以内に終わる必要がありますが、測れていません"; kind
                ),
            }
        }
        MeasuredLimit::Rate { cell, least_bytes_per_s, bytes_per_s } => {
            let (cell, least) = (shown::line(cell), number::rate(*least_bytes_per_s));
            match bytes_per_s.map(number::rate) {
                Some(rate) => text!(
                    "{cell} reaches {rate}; the limit is {least}",
                    "{cell} は {rate} です(下限 {least})"
                ),
                None => text!(
                    "a part that must reach {least} was not measured",
                    "{least} 以上が必要な項目を測れていません"
                ),
            }
        }
        MeasuredLimit::Stall { at_most_ns, worst_ns } => {
            let limit = number::latency_ns(*at_most_ns);
            match worst_ns.map(|worst_ns| (worst_ns, number::latency_ns(worst_ns))) {
                Some((0, _)) => {
                    text!("no pause was seen; the limit is {limit}", "停止はありませんでした(上限 {limit})")
                }
                Some((_, worst)) => text!(
                    "the longest pause was {worst}; the limit is {limit}",
                    "最長 {worst} の停止がありました(上限 {limit})"
                ),
                None => text!(
                    "pauses of up to {limit} are tolerated, but none was measured",
                    "許される停止は {limit} までですが、停止を測れていません"
                ),
            }
        }
    }
}

/// Describes a limit in a line: the measured value, and the consequence if the limit is exceeded.
fn limit_line(limit: &JudgedLimit) -> Text {
    let (facts, reason) = (facts(limit), &limit.reason);
    match limit.verdict() {
        FitVerdict::Fit => text!("met: {facts}", "適合: {facts}"; facts),
        FitVerdict::Unfit => text!("broken: {facts} ({reason})", "不適合: {facts}。{reason}"; facts, reason),
        FitVerdict::NotClear if limit.is_open() => text!("open: {facts}", "未確定: {facts}"; facts),
        FitVerdict::NotClear => text!("so far: {facts}", "今のところ: {facts}"; facts),
    }
}
