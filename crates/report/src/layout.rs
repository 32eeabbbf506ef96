//! Text in columns of a terminal: widths, wrapping, rows.
//!
//! The model: a width is a number of terminal columns, two for a Japanese character. A row is filled from left to
//! right and pads only before the next piece, so no line ends in spaces. Ambiguous characters (·, ±, ▇) count as
//! one column, as terminals draw them.

use crate::style::{Role, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes in a terminal.
pub fn display_width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Spaces before the text up to a width.
pub(crate) fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Spaces behind the text up to a width.
pub(crate) fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// The text cut at its end to a width, with an ellipsis.
pub(crate) fn clip(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut kept = take(text.chars(), width.saturating_sub(1));
    kept.push('…');
    kept
}

/// The text cut at its start to a width: of a path the end tells more.
pub(crate) fn clip_front(text: &str, width: usize) -> String {
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

/// Text from outside on one line: control characters become spaces, so that nothing in a model name or a path
/// can move the cursor.
pub(crate) fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Whether a line may not begin with this character.
fn clings_to_the_left(c: char) -> bool {
    "、。，．・：；！？）」),.』】〉》ーぁぃぅぇぉっゃゅょァィゥェォッャュョ…".contains(c)
}

/// Whether a line may not end with this character.
fn clings_to_the_right(c: char) -> bool {
    "（「『【〈《(".contains(c)
}

/// Whether a word is a number that its unit must not leave.
fn is_number(word: &str) -> bool {
    word.ends_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || ".,±<×".contains(c))
}

/// A piece that stays whole, and whether a space stands before it.
struct Piece {
    text: String,
    spaced: bool,
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
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
                _ => pieces.push(Piece { text: c.to_string(), spaced }),
            }
            spaced = false;
            previous = Some(c);
        }
    }
    pieces
}

/// The last word of a piece.
fn tail(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or(text)
}

/// Breaks a text into lines of at most `width` columns. A number keeps its unit, ` · ` ends a line rather than
/// beginning one, and Japanese breaks between characters where it may.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for piece in pieces(&tame(text)) {
        let space = usize::from(piece.spaced && used > 0);
        let wide = display_width(&piece.text);
        if used > 0 && used + space + wide > width {
            lines.push(String::new());
            used = 0;
        }
        let space = usize::from(piece.spaced && used > 0);
        let mut rest = piece.text.as_str();
        while used + space + display_width(rest) > width && used == 0 {
            let head = take(rest.chars(), width);
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

fn push(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

/// Lays items behind each other with ` · ` between them; a line breaks between items if it can.
pub(crate) fn flow(items: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let items: Vec<&str> =
        items.iter().flat_map(|item| item.split(" · ")).filter(|item| !item.is_empty()).collect();
    for (index, item) in items.iter().enumerate() {
        let last = index + 1 == items.len();
        // Two columns stay free for the ` ·` that ends a line.
        let limit = if last { width } else { width.saturating_sub(2) };
        match lines.last_mut() {
            Some(line) if display_width(line) + 3 + display_width(item) <= limit => {
                line.push_str(" · ");
                line.push_str(&tame(item));
            }
            line => {
                if let Some(line) = line {
                    line.push_str(" ·");
                }
                lines.extend(wrap(item, limit));
            }
        }
    }
    lines
}

/// Lines with an indent before each.
pub(crate) fn indented(lines: Vec<String>, indent: usize) -> Vec<String> {
    lines.into_iter().map(|line| format!("{}{line}", " ".repeat(indent))).collect()
}

/// A paragraph: the first line stands at `first` columns, the others at `rest`.
pub(crate) fn hanging(lines: Vec<String>, first: usize, rest: usize) -> Vec<String> {
    lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| format!("{}{line}", " ".repeat(if index == 0 { first } else { rest })))
        .collect()
}

/// A line that is filled from left to right.
pub(crate) struct Row<'a> {
    style: &'a Style,
    text: String,
    width: usize,
}

impl<'a> Row<'a> {
    pub(crate) fn new(style: &'a Style) -> Self {
        Self { style, text: String::new(), width: 0 }
    }

    /// Puts a text at a column, or behind what is there already.
    pub(crate) fn at(&mut self, column: usize, role: Role, text: &str) -> &mut Self {
        if !text.is_empty() {
            let gap = column.saturating_sub(self.width);
            self.text.push_str(&" ".repeat(gap));
            // Leading blanks are no part of what is painted.
            let body = text.trim_start_matches(' ');
            self.text.push_str(&text[..text.len() - body.len()]);
            self.text.push_str(&self.style.paint(role, body));
            self.width += gap + display_width(text);
        }
        self
    }

    /// Puts a text so that it ends at a column.
    pub(crate) fn until(&mut self, column: usize, role: Role, text: &str) -> &mut Self {
        self.at(column.saturating_sub(display_width(text)), role, text)
    }

    pub(crate) fn finish(&mut self) -> String {
        std::mem::take(&mut self.text).trim_end().to_owned()
    }
}

/// Lines as one text that ends in a line end.
pub(crate) fn page(lines: &[String]) -> String {
    let mut page = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    page.push('\n');
    page
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
    fn a_number_keeps_its_unit_and_a_dot_ends_the_line() {
        assert_eq!(wrap("the rate was 6 911.3 MB/s then", 18), ["the rate was", "6 911.3 MB/s then"]);
        let items = ["default".to_owned(), "file 1 GiB".to_owned(), "direct".to_owned()];
        assert_eq!(flow(&items, 22), ["default · file 1 GiB ·", "direct"]);
    }

    #[test]
    fn japanese_breaks_between_characters_but_not_before_a_full_stop() {
        assert_eq!(wrap("測定は途中で止まりました。", 24), ["測定は途中で止まりまし", "た。"]);
        assert_eq!(wrap("測定は途中で止まりました。", 26), ["測定は途中で止まりました。"]);
    }

    proptest! {
        #[test]
        fn wrapping_keeps_the_width_and_never_panics(text in ".{0,120}", width in 8usize..60) {
            for line in wrap(&text, width).iter().chain(&flow(&[text.clone(), text.clone()], width)) {
                prop_assert!(display_width(line) <= width + 2, "{line:?}");
            }
        }
    }
}
