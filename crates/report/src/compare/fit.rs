//! Whether a storage is fit for a use: one sentence, and each limit with what was measured and where it is from.

use crate::compare::recommend::operations;
use crate::doc::{Doc, Paragraph, Role};
use crate::words;
use kurabe_compare::{Fit, FitVerdict, JudgedLimit, MeasuredLimit};
use kurabe_core::record::{RunRecord, TargetKind};
use kurabe_core::workload::OpKind;
use kurabe_core::{ErrorKind, Result, Text, number, shown, text};

/// Nobody is surer than this: what a measurement does not see has a share, too.
const SUREST: f64 = 0.999;

/// The page of a verdict that a run led to.
pub fn fit_doc(fit: &Fit, record: &RunRecord) -> Doc {
    let mut doc = Doc::new();
    let role = match fit.verdict {
        FitVerdict::Fit => Role::Good,
        FitVerdict::Unfit => Role::Bad,
        FitVerdict::NotClear => Role::Warn,
    };
    doc.push(Paragraph::new(fit_answer(fit)).role(role)).gap();
    for limit in &fit.limits {
        doc.push(Paragraph::new(limit_line(limit)).indent(2, 4));
        if let Some(source) = &limit.source {
            doc.push(Paragraph::aside(source.clone()).indent(4, 6));
        }
    }
    let run = &record.header.id;
    doc.push(Paragraph::aside(text!("measured in run {run}", "測定: {run}")).indent(2, 4));
    let is_flushed =
        |limit: &JudgedLimit| matches!(limit.measured, MeasuredLimit::Percentile { of: OpKind::Sync, .. });
    if fit.limits.iter().any(is_flushed)
        && record.header.target.as_ref().is_some_and(|target| target.kind == TargetKind::Model)
    {
        let bare = text!(
            "a model is the device alone, unless it has a layer for the file system: what that writes beside each flush takes longer still",
            "モデルは、ファイルシステムの層がない限り、機器だけを表します。実際には、ファイルシステムがフラッシュのたびに書く分だけ長くかかります"
        );
        doc.push(Paragraph::aside(bare).indent(2, 4));
    }
    doc
}

/// The answer in a sentence.
pub fn fit_answer(fit: &Fit) -> Text {
    let title = title(fit);
    let why = fit
        .decisive()
        .map(|limit| decisive_words(limit, fit.verdict))
        .unwrap_or_else(|| text!("it has no limit that could be judged", "判定できる条件がありません"));
    let words = match fit.verdict {
        FitVerdict::Fit => text!("fit for {title}: {why}", "{title}に使えます。{why}"; title, why),
        FitVerdict::Unfit => text!("not fit for {title}: {why}", "{title}には使えません。{why}"; title, why),
        FitVerdict::NotClear => text!(
            "whether it is fit for {title} is not clear: {why}",
            "{title}に使えるかどうかは、まだ判断できません。{why}"; title, why
        ),
    };
    words::sentence(&words)
}

/// What a script learns by the exit code.
///
/// # Errors
/// When the storage is not fit, or that is not clear.
pub fn accept_fit(fit: &Fit) -> Result<()> {
    let name = shown::line(&fit.name);
    match fit.verdict {
        FitVerdict::Fit => Ok(()),
        FitVerdict::Unfit => {
            Err(ErrorKind::Unfit.error(text!("not fit for {name}", "{name} には使えません")))
        }
        FitVerdict::NotClear => Err(ErrorKind::Unclear
            .error(text!("not clear whether it is fit for {name}", "{name} に使えるかどうか判断できません"))),
    }
}

/// The use, amid the words of both languages.
fn title(fit: &Fit) -> Text {
    let title = fit.title.map(shown::line);
    let counted = match fit.count {
        Some(count) => text!("{title} ({count})", "{title}({count})"; title),
        None => title,
    };
    words::amid(&counted)
}

/// What was measured beside what is asked, and how sure the answer is.
fn decisive_words(limit: &JudgedLimit, verdict: FitVerdict) -> Text {
    let facts = facts(limit);
    let Some([lowest, highest]) = limit.kept else { return facts };
    let sure = sure(if verdict == FitVerdict::Unfit { 1.0 - highest } else { lowest });
    match verdict {
        FitVerdict::Fit | FitVerdict::Unfit => {
            text!("{facts} (sure to {sure})", "{facts}(確かさ {sure})"; facts)
        }
        FitVerdict::NotClear => text!(
            "{facts}, and that this holds is sure to {sure} only",
            "{facts}。ただし、この条件を満たす確かさは {sure} にとどまります"; facts
        ),
    }
}

/// What was measured beside what is asked.
fn facts(limit: &JudgedLimit) -> Text {
    match &limit.measured {
        MeasuredLimit::Percentile { of, share, at_most_ns, value_ns, operations: count, .. } => {
            let (percent, kind) = (number::percentile(*share), operations(*of));
            let (limit, count) = (number::latency_ns(*at_most_ns), number::count(*count));
            match value_ns.map(number::latency_ns) {
                Some(value) => text!(
                    "{percent} % of {count} {kind} are done within {value}, {limit} is what it asks",
                    "{kind} {count} 回の {percent} % が {value} 以内に終わります。求められるのは {limit} 以内です"; kind
                ),
                None => text!(
                    "{percent} % of {kind} must be done within {limit}, and none was measured",
                    "{kind}の {percent} % が {limit} 以内に終わる必要がありますが、測れていません"; kind
                ),
            }
        }
        MeasuredLimit::Rate { cell, least_bytes_per_s, bytes_per_s } => {
            let (cell, least) = (shown::line(cell), number::rate(*least_bytes_per_s));
            match bytes_per_s.map(number::rate) {
                Some(rate) => text!(
                    "{cell} does {rate}, {least} is what it asks",
                    "{cell} は {rate} です。求められるのは {least} 以上です"
                ),
                None => text!(
                    "a part that must do {least} was not measured",
                    "{least} 以上が必要な項目を測れていません"
                ),
            }
        }
        MeasuredLimit::Stall { at_most_ns, worst_ns } => {
            let limit = number::latency_ns(*at_most_ns);
            match worst_ns.map(|worst_ns| (worst_ns, number::latency_ns(worst_ns))) {
                Some((0, _)) => text!(
                    "it never stood still, {limit} is what it bears",
                    "一度も止まりませんでした。許されるのは {limit} までです"
                ),
                Some((_, worst)) => text!(
                    "the longest standstill was {worst}, {limit} is what it bears",
                    "最も長く止まった時間は {worst} です。許されるのは {limit} までです"
                ),
                None => text!(
                    "it bears standstills of {limit} at most, and nothing tells of any",
                    "止まってよいのは {limit} までですが、止まったかどうか分かりません"
                ),
            }
        }
    }
}

/// A limit in a line: what was measured, and what breaking it would mean.
fn limit_line(limit: &JudgedLimit) -> Text {
    let (facts, reason) = (facts(limit), &limit.reason);
    match limit.verdict() {
        FitVerdict::Fit => text!("kept: {facts}", "適合: {facts}"; facts),
        FitVerdict::Unfit => text!("broken: {facts} ({reason})", "不適合: {facts}({reason})"; facts, reason),
        FitVerdict::NotClear if limit.is_open() => text!("open: {facts}", "未確定: {facts}"; facts),
        FitVerdict::NotClear => text!("so far: {facts}", "今のところ: {facts}"; facts),
    }
}

/// A probability in words that never says more than can be known.
fn sure(probability: f64) -> String {
    let share = (probability.min(SUREST) * 1000.0).floor() / 1000.0;
    format!("{} %", number::percentile(share))
}
