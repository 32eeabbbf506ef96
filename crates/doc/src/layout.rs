//! Lines and paragraphs in a terminal. Widths and wrapping are implemented in kurabe-core.
//!
//! The model: a line is filled from left to right and padded only before the next piece, so that no
//! line ends in spaces.

use crate::{Role, Style};
pub use kurabe_core::display::display_width;
pub use kurabe_core::display::{clip, clip_front, pad_left, pad_right, wrap};
use kurabe_core::shown;

/// Joins items with ` · `. Lines break between items if possible.
pub fn flow(items: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let items: Vec<String> = items.iter().map(|item| shown::line(item)).collect();
    let items: Vec<&str> =
        items.iter().flat_map(|item| item.split(" · ")).filter(|item| !item.is_empty()).collect();
    for (index, item) in items.iter().enumerate() {
        let last = index + 1 == items.len();
        // Reserves two columns for the ` ·` that ends a line.
        let limit = if last { width } else { width.saturating_sub(2) };
        match lines.last_mut() {
            Some(line) if display_width(line) + 3 + display_width(item) <= limit => {
                line.push_str(" · ");
                line.push_str(item);
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

/// Indents a paragraph: the first line by `first` columns, the others by `rest`.
pub fn hanging(lines: Vec<String>, first: usize, rest: usize) -> Vec<String> {
    let indents = std::iter::once(first).chain(std::iter::repeat(rest));
    indents.zip(lines).map(|(indent, line)| format!("{}{line}", " ".repeat(indent))).collect()
}

/// A line that is filled from left to right.
pub struct StyledLine<'a> {
    style: &'a Style,
    text: String,
    width: usize,
}

impl<'a> StyledLine<'a> {
    pub fn new(style: &'a Style) -> Self {
        Self { style, text: String::new(), width: 0 }
    }

    /// Puts a text at a column, or directly behind the existing text if that is longer.
    pub fn at(&mut self, column: usize, role: Role, text: &str) -> &mut Self {
        if !text.is_empty() {
            let gap = column.saturating_sub(self.width);
            self.text.push_str(&" ".repeat(gap));
            // Leading spaces are not painted.
            let body = text.trim_start_matches(' ');
            self.text.push_str(&text[..text.len() - body.len()]);
            self.text.push_str(&self.style.paint(role, body));
            self.width += gap + display_width(text);
        }
        self
    }

    /// Puts a text so that it ends at a column.
    pub fn until(&mut self, column: usize, role: Role, text: &str) -> &mut Self {
        self.at(column.saturating_sub(display_width(text)), role, text)
    }

    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.text).trim_end().to_owned()
    }
}

/// Joins lines into a text that ends with a line break.
pub fn page(lines: &[String]) -> String {
    let mut page = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_dot_ends_the_line() {
        let items = ["default".to_owned(), "file 1 GiB".to_owned(), "direct".to_owned()];
        assert_eq!(flow(&items, 22), ["default · file 1 GiB ·", "direct"]);
    }

    proptest! {
        #[test]
        fn flowing_keeps_the_width_and_never_panics(text in ".{0,120}", width in 8usize..60) {
            for line in &flow(&[text.clone(), text.clone()], width) {
                prop_assert!(display_width(line) <= width + 2, "{line:?}");
            }
        }
    }
}
