//! The verdicts of a study as people read them: the question, the answer, the figures that decide it, how firm it is, and
//! what the article says to it.
//!
//! The model: a verdict becomes lines, each with what it is for, so that the terminal, Markdown and JSON tell the same.

use super::paragraph;
use super::{answers, names};
use crate::layout::wrap;
use crate::style::{Role, Style};
use kurabe_core::{Lang, Text, text};
use kurabe_study::{Agreement, StudyResult, Verdict};

/// The lines of a verdict below its question.
struct Told {
    role: Role,
    words: Text,
}

fn told(role: Role, words: Text) -> Told {
    Told { role, words: Text { ja: names::closed_up(&words.ja), ..words } }
}

/// The answer in a sentence, as `--json` tells it, too.
pub fn verdict_answer(verdict: &Verdict) -> Text {
    let words = match (&verdict.answer, &verdict.untold) {
        (Some(answer), _) => answers::sentence(answer, verdict),
        (None, Some(why)) => {
            let (en, ja) = (&why.en, &why.ja);
            text!("The figures cannot tell: {en}.", "数値からは判断できません: {ja}。")
        }
        (None, None) => text!("The figures cannot tell.", "数値からは判断できません。"),
    };
    Text { ja: names::closed_up(&words.ja), ..words }
}

/// All that is told of a verdict.
fn lines_of(verdict: &Verdict) -> Vec<Told> {
    let mut lines = vec![told(Role::Plain, verdict_answer(verdict))];
    if let Some(answer) = &verdict.answer {
        lines.extend(answers::details(answer, verdict).into_iter().map(|words| told(Role::Plain, words)));
        if let Some(words) = answers::firmness(answer, verdict) {
            lines.push(told(Role::Plain, words));
        }
        lines.extend(published(verdict).map(|words| told(Role::Plain, words)));
        if verdict.choices.iter().filter(|choice| choice.real).count() > 1 {
            lines.push(told(
                Role::Warn,
                text!(
                    "Your devices were measured one after the other, so what else the machine did meanwhile is in the difference, however firm it looks; `kurabe versus` measures in turns.",
                    "実機は順番に測っているため、その間のほかの処理の影響も差に含まれ、確かに見えても注意が必要です。`kurabe versus` なら交互に測れます。"
                ),
            ));
        }
        if verdict.changed {
            lines.push(told(
                Role::Warn,
                text!(
                    "A model was changed for this run, so the article speaks of another device.",
                    "モデルを変更して計算したため、記事の機器とは条件が違います。"
                ),
            ));
        }
    }
    lines.extend(caveats(verdict));
    let Some(article) = &verdict.article else { return lines };
    let (role, judged) = article.agreement.map_or_else(|| (Role::Plain, Text::same("")), agreement);
    let (en, ja) = (&article.says.en, &article.says.ja);
    lines.push(told(
        role,
        Text {
            en: format!("The article: {en}. {}", judged.en).trim_end().to_owned(),
            ja: format!("記事: {ja}。{}", judged.ja),
        },
    ));
    if let Some(why) = &article.why {
        let (en, ja) = (&why.en, &why.ja);
        lines.push(told(Role::Plain, text!("Why: {en}.", "理由: {ja}。")));
    }
    lines
}

/// What to know of the figures that went in: how many were fitted, which the model does not reach, which were assumed.
fn caveats(verdict: &Verdict) -> Vec<Told> {
    let mut lines = Vec::new();
    let (count, calibrated) = (verdict.count, verdict.calibrated);
    if verdict.answer.is_some() && calibrated > 0 {
        lines.push(match calibrated {
            all if all == count => text!(
                "All {count} values that went in are calibrated on published ones, so the model adds nothing to them.",
                "判断に使った {count} 個の値はすべて公表値に合わせて較正したもので、モデルから新しく分かることはありません。"
            ),
            1 => text!(
                "Of the {count} values that went in, one is calibrated on a published one.",
                "判断に使った {count} 個の値のうち、1 個は公表値に合わせて較正したものです。"
            ),
            _ => text!(
                "Of the {count} values that went in, {calibrated} are calibrated on published ones.",
                "判断に使った {count} 個の値のうち、{calibrated} 個は公表値に合わせて較正したものです。"
            ),
        });
    }
    lines.extend(verdict.unreached.iter().map(|caveat| {
        let (of, why) = (names::cells(&caveat.of, verdict), &caveat.why);
        let (of_en, of_ja, en, ja) = (of.en, of.ja, &why.en, &why.ja);
        text!("Not reached by the model ({of_en}): {en}.", "モデルが到達しない値({of_ja}): {ja}。")
    }));
    lines.extend(verdict.assumed.iter().map(|caveat| {
        let (of, why) = (names::cells(&caveat.of, verdict), &caveat.why);
        let (of_en, of_ja, en, ja) = (of.en, of.ja, &why.en, &why.ja);
        text!("Assumed, not found ({of_en}): {en}.", "仮定した値({of_ja}): {ja}。")
    }));
    lines.into_iter().map(|words| told(Role::Plain, words)).collect()
}

/// What the published figures alone would say, and whether that is what the article says.
fn published(verdict: &Verdict) -> Option<Text> {
    let found = verdict.published.as_ref()?;
    let same = verdict.answer.as_ref().is_some_and(|ours| answers::is_same(ours, &found.answer));
    let ours = verdict.article.as_ref().and_then(|article| article.agreement);
    if same && found.agreement == ours {
        return Some(text!(
            "The published figures, decided in the same way, give the same answer.",
            "公表値だけで同じように判断しても、同じ答えになります。"
        ));
    }
    let Text { en, ja } = answers::in_short(&found.answer, verdict);
    let judged = match found.agreement {
        Some(Agreement::Agrees) => text!(" They agree with the article.", "これは記事と同じです。"),
        Some(Agreement::Partly) => {
            text!(" They agree with the article in part.", "これは記事と一部だけ同じです。")
        }
        Some(Agreement::Differs) => {
            text!(" They come to something else than the article.", "これは記事とも違います。")
        }
        Some(Agreement::CannotBeTold | Agreement::WasGiven) | None => Text::same(""),
    };
    let (judged_en, judged_ja) = (judged.en, judged.ja);
    Some(text!(
        "The published figures, decided in the same way: {en}{judged_en}",
        "公表値だけで同じように判断すると: {ja}{judged_ja}"
    ))
}

fn agreement(agreement: Agreement) -> (Role, Text) {
    match agreement {
        Agreement::Agrees => (Role::Good, text!("The figures agree.", "数値の答えも同じです。")),
        Agreement::Partly => {
            (Role::Warn, text!("The figures agree in part.", "数値の答えは一部だけ同じです。"))
        }
        Agreement::Differs => {
            (Role::Bad, text!("The figures come to something else.", "数値の答えは違います。"))
        }
        Agreement::WasGiven => (
            Role::Warn,
            text!(
                "The figures agree, but only because the model was given this, so they confirm nothing.",
                "数値の答えも同じですが、モデルに前提として与えたものなので裏付けにはなりません。"
            ),
        ),
        Agreement::CannotBeTold => {
            (Role::Quiet, text!("The figures cannot tell.", "数値からは判断できません。"))
        }
    }
}

/// How often the figures come to what the article concludes.
fn summary(result: &StudyResult) -> Option<Text> {
    let said: Vec<Agreement> =
        result.verdicts.iter().filter_map(|verdict| verdict.article.as_ref()?.agreement).collect();
    let count = |wanted: Agreement| said.iter().filter(|one| **one == wanted).count();
    let all = said.len();
    let parts = [
        (count(Agreement::Agrees), text!("agree in", "一致")),
        (count(Agreement::Partly), text!("agree in part in", "一部一致")),
        (count(Agreement::Differs), text!("differ in", "不一致")),
        (count(Agreement::CannotBeTold), text!("cannot tell", "判断できない")),
        (count(Agreement::WasGiven), text!("were given", "前提として与えたもの")),
    ];
    let told: Vec<&(usize, Text)> = parts.iter().filter(|(count, _)| *count > 0).collect();
    let join = |pick: fn(&Text) -> &str, with: &str| {
        told.iter().map(|(count, words)| format!("{} {count}", pick(words))).collect::<Vec<_>>().join(with)
    };
    let (en, ja) = (join(|words| &words.en, ", "), join(|words| &words.ja, "、"));
    (all > 0).then(|| match all {
        1 => text!("Of the article's one conclusion: the figures {en}.", "記事の結論 1 件: {ja}。"),
        _ => {
            text!("Of the article's {all} conclusions the figures {en}.", "記事の結論 {all} 件のうち: {ja}。")
        }
    })
}

/// Questions that were left out.
fn unasked(result: &StudyResult) -> Option<Text> {
    let ids = result.unasked.join(", ");
    (!result.unasked.is_empty()).then(|| {
        text!(
            "Not asked, because a table that they need was not run: {ids}.",
            "必要な表を実行していないため省いた問い: {ids}。"
        )
    })
}

/// The verdicts for a terminal; nothing if the study asks nothing.
pub(super) fn verdict_lines(result: &StudyResult, style: &Style) -> Vec<String> {
    if result.verdicts.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), style.paint(Role::Strong, style.pick("Verdicts", "判定"))];
    for verdict in &result.verdicts {
        lines.push(String::new());
        let question = wrap(verdict.title.get(style.lang), style.width);
        lines.extend(question.iter().map(|line| style.paint(Role::Strong, line)));
        for Told { role, words } in lines_of(verdict) {
            lines.extend(paragraph(&style.say(&words), style).iter().map(|line| style.paint(role, line)));
        }
    }
    let ends: Vec<Text> = summary(result).into_iter().chain(unasked(result)).collect();
    if !ends.is_empty() {
        lines.push(String::new());
        lines.extend(ends.iter().flat_map(|words| wrap(&style.say(words), style.width)));
    }
    lines
}

/// The same as Markdown: the question, and what is told of it as a list.
pub(super) fn verdict_markdown(result: &StudyResult, lang: Lang) -> String {
    if result.verdicts.is_empty() {
        return String::new();
    }
    let mut out = format!("\n## {}\n", lang.pick("Verdicts", "判定"));
    for verdict in &result.verdicts {
        out.push_str(&format!("\n### {}\n\n", super::markdown_words(verdict.title.get(lang))));
        for (place, Told { words, .. }) in lines_of(verdict).into_iter().enumerate() {
            let words = super::markdown_words(words.get(lang));
            out.push_str(&if place == 0 { format!("**{words}**\n\n") } else { format!("- {words}\n") });
        }
    }
    for words in summary(result).into_iter().chain(unasked(result)) {
        out.push_str(&format!("\n{}\n", super::markdown_words(words.get(lang))));
    }
    out
}
