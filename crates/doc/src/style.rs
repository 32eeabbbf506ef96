//! Appearance of a report: language, colour, width.
//!
//! The model: a piece of text has a role, and only this file knows how a role looks. Without
//! colour, every role is plain text, so no information may depend on colour alone.

use anstyle::{AnsiColor, Effects};
use kurabe_core::{Lang, Text, shown::Shown};

/// Language, colour and width of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Language of the output.
    pub lang: Lang,
    /// Whether escape codes for colour and weight are written.
    pub color: bool,
    /// Width of the terminal or of the page, in columns.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { lang: Lang::En, color: false, width: 80 }
    }
}

/// Role of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    /// The main figure, and headings.
    Strong,
    /// Secondary text.
    Quiet,
    /// Something in order.
    Good,
    /// Something to know.
    Warn,
    /// Something wrong.
    Bad,
    /// Values over time.
    Course,
}

impl Style {
    /// Returns the text in the style's language, as a single line.
    pub fn say(&self, text: &Text) -> String {
        text.line(self.lang)
    }

    /// Returns lines that are ready to be written, with colours if they are enabled.
    pub fn page(&self, lines: &str) -> Shown {
        if self.color { Shown::coloured(lines) } else { Shown::lines(lines) }
    }

    /// Picks one of two literals by language.
    pub fn pick<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        self.lang.pick(en, ja)
    }

    /// Formats a text for its role.
    pub fn paint(&self, role: Role, text: &str) -> String {
        let plain = anstyle::Style::new();
        let style = match role {
            _ if !self.color || text.is_empty() => return text.to_owned(),
            Role::Plain => return text.to_owned(),
            Role::Strong => plain.effects(Effects::BOLD),
            Role::Quiet => plain.effects(Effects::DIMMED),
            Role::Good => plain.fg_color(Some(AnsiColor::Green.into())),
            Role::Warn => plain.fg_color(Some(AnsiColor::Yellow.into())),
            Role::Bad => plain.fg_color(Some(AnsiColor::Red.into())),
            Role::Course => plain.fg_color(Some(AnsiColor::Cyan.into())),
        };
        format!("{style}{text}{style:#}")
    }
}
