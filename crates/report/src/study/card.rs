//! The card of a study: its answers in one picture for posting, as SVG.

use super::{study_answer, verdict_answer, verdict_badge};
use crate::publish::card::{HEIGHT, MARGIN, Paper, Tone, Type, WIDTH, heading, sentence};
use kurabe_chart::{Theme, has_glyph, text_width, wrap};
use kurabe_core::{Lang, Text, text};
use kurabe_study::StudyResult;

/// Maximum number of answers. The others are counted.
const MOST: usize = 7;
/// Width of the badges at the left.
const BADGES: f64 = 128.0;

/// Draws the answers of a study.
pub fn study_card(result: &StudyResult, theme: Theme, lang: Lang) -> String {
    let title = result.title.line(lang);
    let mut paper = Paper::new(WIDTH, HEIGHT, theme, &title);
    heading(&mut paper, &title, None, lang);
    let summary = study_answer(result).map(|summary| drawable(&summary.line(lang))).unwrap_or_default();
    let top = sentence(&mut paper, &summary, 104.0) + 18.0;
    let shown = &result.verdicts[..result.verdicts.len().min(MOST)];
    let height = ((HEIGHT - 62.0 - top) / shown.len().max(1) as f64).min(92.0);
    let room = WIDTH - 2.0 * MARGIN - BADGES;
    for (line, verdict) in shown.iter().enumerate() {
        let y = top + line as f64 * height;
        let badge = verdict_badge(verdict).map(|(_, words)| drawable(&words.line(lang))).unwrap_or_default();
        paper.text(MARGIN, y + 22.0, Type::of(17.0).within(BADGES - 12.0), Tone::Plain, &badge);
        let x = MARGIN + BADGES;
        paper.text(x, y + 18.0, Type::of(15.0).within(room), Tone::Quiet, &verdict.head.title.line(lang));
        let most = if height >= 66.0 { 2 } else { 1 };
        let answer = wrap(&verdict_answer(verdict).line(lang), 18.0, false, room, most);
        for (row, words) in answer.iter().enumerate() {
            let y = y + 42.0 + row as f64 * 23.0;
            paper.text(x, y, Type::of(18.0).within(room), Tone::Plain, words);
        }
    }
    paper.rule(MARGIN, WIDTH - MARGIN, HEIGHT - 46.0);
    let more = result.verdicts.len() - shown.len();
    let measured = result.parts.iter().flat_map(|part| &part.rows).any(|row| row.path.is_some());
    let models = match measured {
        true => text!("partly measured, partly computed by models", "実測値とモデルの計算値"),
        false => text!("computed by models, not measured", "モデルの計算値(実測ではありません)"),
    };
    let more = (more > 0).then(|| text!("answers not shown: {more}", "ほか {more} 件の答え"));
    let left = Text::join([models].into_iter().chain(more), [" · "; 2]).line(lang);
    paper.text(MARGIN, HEIGHT - 22.0, Type::of(14.0), Tone::Quiet, &left);
    let version = concat!("kurabe ", env!("CARGO_PKG_VERSION"));
    let x = WIDTH - MARGIN - text_width(version, 14.0, false);
    paper.text(x, HEIGHT - 22.0, Type::of(14.0), Tone::Quiet, version);
    paper.finish()
}

/// Leaves out the signs that the font of cards does not have. Their words say the same.
fn drawable(words: &str) -> String {
    let is_missing = |word: &&str| word.trim().chars().count() == 1 && !word.trim().chars().all(has_glyph);
    words.split_inclusive(' ').filter(|word| !is_missing(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_without_a_glyph_is_left_out_and_its_word_stays() {
        assert_eq!(drawable("✓ agrees 3, ✗ differs 1"), "✓ agrees 3, differs 1");
    }
}
