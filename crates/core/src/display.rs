//! Terminal text layout: width, clipping, padding and wrapping, and the positions where text may
//! break.
//!
//! A width is a number of terminal columns. A Japanese character takes two. Ambiguous characters
//! (·, ±, ▇) count as one column, as terminals draw them. Pictures use other widths, but break at
//! the same positions.

use crate::shown;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of terminal columns that a text takes.
pub fn display_width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Pads a text with spaces on the left to a width in columns.
pub fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Pads a text with spaces on the right to a width in columns.
pub fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Clips a text at its end to a width, with an ellipsis.
pub fn clip(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut kept = take(text.chars(), width.saturating_sub(1));
    kept.push('…');
    kept
}

/// Clips a text at its start to a width. Suitable for paths, whose ends are more informative.
pub fn clip_front(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let kept = take(text.chars().rev(), width.saturating_sub(1));
    std::iter::once('…').chain(kept.chars().rev()).collect()
}

fn take(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    chars
        .take_while(|c| {
            let fits = c.width().unwrap_or(0) <= left;
            left = left.saturating_sub(c.width().unwrap_or(0));
            fits
        })
        .collect()
}

/// Returns whether a line may not begin with this character.
fn clings_to_the_left(c: char) -> bool {
    "、。，．・：；！？）」),.』】〉》ーぁぃぅぇぉっゃゅょァィゥェォッャュョ…".contains(c)
}

/// Returns whether a line may not end with this character.
fn clings_to_the_right(c: char) -> bool {
    "（「『【〈《(".contains(c)
}

/// Returns whether a word is a number that must stay with its unit.
fn is_number(word: &str) -> bool {
    // Japanese text has no space before a bracket, so the number may follow one directly.
    let word = word.trim_start_matches(['(', '（', '+', '-', '−']);
    word.ends_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || ".,±<×–".contains(c))
}

/// A piece of text that is never split across lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece {
    /// The piece's text.
    pub text: String,
    /// Whether a space precedes it.
    pub spaced: bool,
}

/// Splits a text into pieces between which a line may break. A number stays with its unit and its
/// thousands groups, ` · ` stays at the end of a line, and Japanese breaks between characters where
/// that is allowed.
pub fn pieces(text: &str) -> Vec<TextPiece> {
    let mut pieces: Vec<TextPiece> = Vec::new();
    for word in text.split_whitespace() {
        let mut spaced = true;
        let glued = pieces.last().is_some_and(|last| word == "·" || is_number(tail(&last.text)));
        let mut previous: Option<char> = None;
        for c in word.chars() {
            let joins = match previous {
                None => glued,
                Some(before) => {
                    let wide = c.width() == Some(2) || before.width() == Some(2);
                    !wide || clings_to_the_left(c) || clings_to_the_right(before)
                }
            };
            match pieces.last_mut() {
                Some(last) if joins => {
                    if previous.is_none() {
                        last.text.push(' ');
                    }
                    last.text.push(c);
                }
                _ => pieces.push(TextPiece { text: c.to_string(), spaced }),
            }
            spaced = false;
            previous = Some(c);
        }
    }
    pieces
}

/// Returns the last word of a piece.
fn tail(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or(text)
}

/// Wraps a text into lines of at most `width` columns, between its [`pieces`].
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for piece in pieces(&shown::line(text)) {
        let space = usize::from(piece.spaced && used > 0);
        let wide = display_width(&piece.text);
        if used > 0 && used + space + wide > width {
            lines.push(String::new());
            used = 0;
        }
        let space = usize::from(piece.spaced && used > 0);
        let mut rest = piece.text.as_str();
        while used + space + display_width(rest) > width && used == 0 {
            let head = head_of(rest, width);
            rest = &rest[head.len()..];
            push(&mut lines, &head);
            lines.push(String::new());
        }
        if space == 1 {
            push(&mut lines, " ");
        }
        push(&mut lines, rest);
        used += space + display_width(rest);
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Returns the longest prefix of a word that fits into a width. The next line does not begin with a
/// comma, unless that is unavoidable.
fn head_of(word: &str, width: usize) -> String {
    let whole = take(word.chars(), width);
    let breaks = whole.char_indices().map(|(at, _)| at).skip(1).chain([whole.len()]);
    let fitting = breaks.filter(|at| !word[*at..].starts_with(clings_to_the_left)).last();
    fitting.map_or(whole.clone(), |at| word[..at].to_owned())
}

fn push(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn japanese_counts_double() {
        assert_eq!(display_width("書き込み 4 KiB"), 14);
        assert_eq!(clip("書き込み", 5), "書き…");
        assert_eq!(clip_front("/mnt/long/path", 6), "…/path");
    }

    #[test]
    fn a_number_keeps_its_unit() {
        assert_eq!(wrap("the rate was 6,911.3 MB/s then", 18), ["the rate was", "6,911.3 MB/s then"]);
        assert_eq!(wrap("3.4 倍です(17,171 IOPS)", 16), ["3.4 倍です", "(17,171 IOPS)"]);
        assert_eq!(wrap("512 KiB -28 %; 1 MiB -39 %", 12), ["512 KiB", "-28 %; 1 MiB", "-39 %"]);
        assert_eq!(wrap("from +28 MB/s", 9), ["from", "+28 MB/s"]);
    }

    #[test]
    fn a_word_that_is_cut_leaves_no_comma_behind() {
        assert_eq!(wrap("HUA722020ALA330, SATA", 15), ["HUA722020ALA33", "0, SATA"]);
        assert_eq!(wrap(",,,,,,,,,,", 8), [",,,,,,,,", ",,"]);
    }

    #[test]
    fn japanese_breaks_between_characters_but_not_before_a_full_stop() {
        assert_eq!(wrap("測定は途中で止まりました。", 24), ["測定は途中で止まりまし", "た。"]);
        assert_eq!(wrap("測定は途中で止まりました。", 26), ["測定は途中で止まりました。"]);
    }

    #[test]
    fn a_range_keeps_its_unit_and_a_dot_stays_behind() {
        let words = |text: &str| pieces(text).into_iter().map(|piece| piece.text).collect::<Vec<_>>();
        assert_eq!(words("about 3–5 ms · quick"), ["about", "3–5 ms ·", "quick"]);
        assert_eq!(words("（速い）。"), ["（速", "い）。"]);
    }

    proptest! {
        #[test]
        fn wrapping_keeps_the_width_and_never_panics(text in ".{0,120}", width in 8usize..60) {
            for line in wrap(&text, width) {
                prop_assert!(display_width(&line) <= width, "{line:?}");
            }
        }
    }
}
