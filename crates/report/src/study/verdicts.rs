//! The verdicts of a study: the question, the answer, the decisive figures, the confidence, and the
//! article's conclusion.
//!
//! The model: a verdict becomes sentences, each with its role. The first is the answer, which
//! `--json` also has.

use super::{answers, names};
use kurabe_core::{Text, mention::VERSUS, text};
use kurabe_doc::{Doc, Paragraph, Role};
use kurabe_study::{Agreement, QuestionResult, StudyResult};

/// Returns the answer in a sentence, which `--json` also has.
pub fn verdict_answer(verdict: &QuestionResult) -> Text {
    let words = match (&verdict.answer, &verdict.untold) {
        (Some(answer), _) => answers::sentence(answer, verdict),
        (None, Some(why)) => {
            text!("The figures cannot decide this: {why}.", "数値からは判断できません: {why}。"; why)
        }
        (None, None) => text!("The figures cannot decide this.", "数値からは判断できません。"),
    };
    Text::of(words.en, names::closed_up(&words.ja))
}

/// Returns all sentences on a verdict.
fn sentences(verdict: &QuestionResult) -> Vec<(Role, Text)> {
    let plain = |words: Text| (Role::Plain, words);
    let mut sentences = Vec::new();
    if let Some(answer) = &verdict.answer {
        sentences.extend(answers::details(answer, verdict).into_iter().map(plain));
        sentences.extend(answers::firmness(answer, verdict).map(plain));
        sentences.extend(published(verdict).map(plain));
        if !verdict.interleaved && verdict.choices.iter().filter(|choice| choice.real).count() > 1 {
            sentences.push((
                Role::Warn,
                text!(
                    "Your devices were measured one after the other, so the difference includes other \
                     activity of the machine. `{VERSUS} TARGET TARGET` measures them interleaved.",
                    "実機は順番に測っているため、その間のほかの処理の影響も差に含まれ、確かに見えても注意が必要です。`{VERSUS} 対象 対象` なら交互に測れます。"
                ),
            ));
        }
        if verdict.changed {
            sentences.push((
                Role::Warn,
                text!(
                    "A model was changed for this run, so the article describes another device.",
                    "モデルを変更して計算したため、記事の機器とは条件が違います。"
                ),
            ));
        }
    }
    sentences.extend(caveats(verdict).into_iter().map(plain));
    let Some(article) = &verdict.article else { return sentences };
    let (role, judged) = article.agreement.map(agreement).unwrap_or_default();
    let says = &article.says;
    let words = text!("The article: {says}. {judged}", "記事: {says}。{judged}"; says, judged);
    sentences.push((role, words.map(|words| words.trim_end().to_owned())));
    sentences.extend(article.why.as_ref().map(|why| plain(text!("Why: {why}.", "理由: {why}。"; why))));
    sentences
}

/// Returns remarks on the figures used: how many were calibrated, which ones the model doesn't
/// reproduce, and which were assumed.
fn caveats(verdict: &QuestionResult) -> Vec<Text> {
    let mut lines = Vec::new();
    let (count, calibrated) = (verdict.count, verdict.calibrated);
    if verdict.answer.is_some() && calibrated > 0 {
        lines.push(match calibrated {
            all if all == count => text!(
                "All {count} values used are calibrated on published ones, so the model adds no \
                 evidence.",
                "判断に使った {count} 個の値はすべて公表値に合わせて較正したもので、モデルから新しく分かることはありません。"
            ),
            1 => text!(
                "Of the {count} values used, one is calibrated on a published one.",
                "判断に使った {count} 個の値のうち、1 個は公表値に合わせて較正したものです。"
            ),
            _ => text!(
                "Of the {count} values used, {calibrated} are calibrated on published ones.",
                "判断に使った {count} 個の値のうち、{calibrated} 個は公表値に合わせて較正したものです。"
            ),
        });
    }
    lines.extend(verdict.unreached.iter().map(|caveat| {
        let (of, why) = (names::cells(&caveat.of, verdict), &caveat.why);
        text!("Not reached by the model ({of}): {why}.", "モデルで再現できない値({of}): {why}。"; of, why)
    }));
    lines.extend(verdict.assumed.iter().map(|caveat| {
        let (of, why) = (names::cells(&caveat.of, verdict), &caveat.why);
        text!("Assumed, without a source ({of}): {why}.", "仮定した値({of}): {why}。"; of, why)
    }));
    lines
}

/// Says what the published figures alone would imply, and whether it agrees with the article.
fn published(verdict: &QuestionResult) -> Option<Text> {
    let from_published = verdict.published.as_ref()?;
    let same = verdict.answer.as_ref().is_some_and(|ours| answers::is_same(ours, &from_published.answer));
    let ours = verdict.article.as_ref().and_then(|article| article.agreement);
    if same && from_published.agreement == ours {
        return Some(text!(
            "The published figures, decided in the same way, give the same answer.",
            "公表値だけで同じように判断しても、同じ答えになります。"
        ));
    }
    let answer = answers::in_short(&from_published.answer, verdict);
    let judged = match from_published.agreement {
        Some(Agreement::Agrees) => text!(" They agree with the article.", "これは記事と同じです。"),
        Some(Agreement::Partly) => {
            text!(" They agree with the article in part.", "これは記事と一部だけ同じです。")
        }
        Some(Agreement::Differs) => {
            text!(" They disagree with the article.", "これは記事とも違います。")
        }
        Some(Agreement::CannotBeTold | Agreement::WasGiven) | None => Text::same(""),
    };
    Some(text!(
        "The published figures, decided in the same way: {answer}{judged}",
        "公表値だけで同じように判断すると: {answer}{judged}";
        answer, judged
    ))
}

fn agreement(agreement: Agreement) -> (Role, Text) {
    match agreement {
        Agreement::Agrees => (Role::Good, text!("The figures agree.", "数値から出した結論も同じです。")),
        Agreement::Partly => {
            (Role::Warn, text!("The figures agree in part.", "数値から出した結論は一部だけ同じです。"))
        }
        Agreement::Differs => (Role::Bad, text!("The figures disagree.", "数値から出した結論は違います。")),
        Agreement::WasGiven => (
            Role::Warn,
            text!(
                "The figures agree, but this was given to the model, so they confirm nothing.",
                "数値から出した結論も同じですが、モデルに前提として与えたものなので裏付けにはなりません。"
            ),
        ),
        Agreement::CannotBeTold => {
            (Role::Quiet, text!("The figures cannot decide this.", "数値からは判断できません。"))
        }
    }
}

/// Signs with a word for each agreement, and the CSS class that marks it on a page.
const BADGES: [(Agreement, &str, [&str; 2]); 5] = [
    (Agreement::Agrees, "good", ["✓ agrees", "○ 一致"]),
    (Agreement::Partly, "open", ["≈ in part", "△ 一部一致"]),
    (Agreement::Differs, "bad", ["✗ differs", "× 不一致"]),
    (Agreement::CannotBeTold, "none", ["? cannot tell", "? 判断できない"]),
    (Agreement::WasGiven, "none", ["= was given", "＝ 前提どおり"]),
];

/// Returns the CSS class, and the sign with a word, by which a page marks a verdict.
pub fn verdict_badge(verdict: &QuestionResult) -> Option<(&'static str, Text)> {
    let agreement = verdict.article.as_ref()?.agreement?;
    let (_, class, [en, ja]) = BADGES.into_iter().find(|(of, ..)| *of == agreement)?;
    Some((class, Text::of(en, ja)))
}

/// Counts how often the figures agree with the article's conclusions.
pub fn study_summary(result: &StudyResult) -> Option<Text> {
    let agreement = |verdict: &QuestionResult| verdict.article.as_ref()?.agreement;
    let agreements: Vec<Agreement> = result.verdicts.iter().filter_map(agreement).collect();
    let all = agreements.len();
    let parts = BADGES.into_iter().filter_map(|(of, _, [en, ja])| {
        let count = agreements.iter().filter(|one| **one == of).count();
        (count > 0).then(|| text!("{en} {count}", "{ja} {count}"))
    });
    let parts = Text::list(parts);
    let words =
        text!("Of the article's conclusions ({all}): {parts}.", "記事の結論 {all} 件: {parts}。"; parts);
    (all > 0).then_some(words)
}

/// Returns the answer of a study in a sentence: how often the figures agree with the article, or
/// the first answer if there is no article.
pub fn study_answer(result: &StudyResult) -> Option<Text> {
    study_summary(result).or_else(|| {
        let first = result.verdicts.iter().find(|verdict| verdict.answer.is_some());
        first.map(verdict_answer)
    })
}

/// Lists the questions that were skipped.
fn unasked(result: &StudyResult) -> Option<Text> {
    let ids = result.unasked.join(", ");
    (!result.unasked.is_empty()).then_some(text!(
        "Not answered, because a table that they need was not run: {ids}.",
        "必要な表を実行していないため省いた問い: {ids}。"
    ))
}

/// Returns the details behind an answer.
pub fn verdict_doc(verdict: &QuestionResult) -> Doc {
    let closed_up = |words: Text| Text::of(words.en, names::closed_up(&words.ja));
    let paragraph = |(role, words)| Paragraph::new(closed_up(words)).listed().indent(2, 2).role(role);
    sentences(verdict).into_iter().map(paragraph).collect()
}

/// Returns the verdicts. Empty if the study asks no questions.
pub(super) fn doc(result: &StudyResult) -> Doc {
    let mut doc = Doc::new();
    if result.verdicts.is_empty() {
        return doc;
    }
    doc.gap().heading(2, text!("Verdicts", "判定"));
    for verdict in &result.verdicts {
        doc.gap().heading(3, verdict.head.title.clone()).aside(verdict_answer(verdict));
        doc.append(verdict_doc(verdict));
    }
    let ends: Vec<Text> = study_summary(result).into_iter().chain(unasked(result)).collect();
    if !ends.is_empty() {
        doc.gap();
    }
    doc.say_all(ends).done()
}
