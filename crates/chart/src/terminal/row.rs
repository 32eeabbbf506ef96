//! A line of the terminal made of coloured pieces, and the styles of the colours.

use kurabe_core::display::{clip, display_width};
use kurabe_core::shown;

/// Style of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    /// Headings.
    Strong,
    /// Secondary text.
    Quiet,
    /// Good news: faster.
    Good,
    /// A caution.
    Warn,
    /// Bad news: slower.
    Bad,
    /// The colour of a series.
    Series(usize),
}

impl Ink {
    /// Returns the parameters of the escape sequence "select graphic rendition" (ECMA-48, 8.3.117).
    fn code(self) -> &'static str {
        // Consecutive colours also differ in brightness, for readers who cannot distinguish the
        // hues.
        const SERIES: [&str; 6] = ["36", "33", "35", "32", "34", "31"];
        match self {
            Ink::Plain => "",
            Ink::Strong => "1",
            Ink::Quiet => "2",
            Ink::Good => "32",
            Ink::Warn => "33",
            Ink::Bad => "31",
            Ink::Series(index) => SERIES[index % SERIES.len()],
        }
    }
}

/// A line of the terminal.
#[derive(Clone, Debug, Default)]
pub(super) struct InkedLine {
    pieces: Vec<(Ink, String)>,
    /// Width so far, in columns.
    pub(super) width: usize,
}

impl InkedLine {
    pub(super) fn of(ink: Ink, text: &str) -> Self {
        Self::default().and(ink, text)
    }

    /// Creates a line of a plot, indented by two columns.
    pub(super) fn indented(ink: Ink, text: &str) -> Self {
        Self::of(Ink::Plain, "  ").and(ink, text)
    }

    /// Creates a line that explains the sign of a series.
    pub(super) fn key(series: usize, sign: &str, name: &str) -> Self {
        Self::indented(Ink::Series(series), sign).and(Ink::Plain, name)
    }

    /// Returns the line with more text appended.
    pub(super) fn and(mut self, ink: Ink, text: &str) -> Self {
        self.put(ink, text);
        self
    }

    pub(super) fn put(&mut self, ink: Ink, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = shown::line(text);
        self.width += display_width(&text);
        match self.pieces.last_mut() {
            Some((last, piece)) if *last == ink => piece.push_str(&text),
            _ => self.pieces.push((ink, text)),
        }
    }

    /// Pads the line with spaces up to a column.
    pub(super) fn pad_to(&mut self, column: usize) {
        self.put(Ink::Plain, &" ".repeat(column.saturating_sub(self.width)));
    }

    /// Returns the line truncated to a width, without trailing spaces.
    pub(super) fn finish(&self, width: usize, colour: bool) -> String {
        let mut left = width;
        let mut line = String::new();
        let last = self.pieces.iter().rposition(|(_, piece)| !piece.trim_end().is_empty());
        for (index, (ink, piece)) in self.pieces.iter().enumerate() {
            if left == 0 || last.is_none_or(|last| index > last) {
                break;
            }
            let piece = if Some(index) == last { piece.trim_end() } else { piece };
            let piece = clip(piece, left);
            left -= display_width(&piece).min(left);
            match (colour, ink.code()) {
                (true, code) if !code.is_empty() => line.push_str(&format!("\x1b[{code}m{piece}\x1b[0m")),
                _ => line.push_str(&piece),
            }
        }
        line.trim_end().to_owned()
    }
}

/// Returns the width of the widest text in columns.
pub(super) fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|text| display_width(text)).max().unwrap_or(0)
}

/// Returns the letter of a series: `A`, `B`, …, starting again after 26.
pub(super) fn letter(index: usize) -> char {
    char::from(b'A' + (index % 26) as u8)
}
