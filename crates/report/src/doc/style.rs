//! How a report looks: language, colour, width.
//!
//! The model: a piece of text has a role, and only this file knows what a role looks like. Without colour every
//! role is plain text, so nothing may be expressed by colour alone.

use anstyle::{AnsiColor, Effects};
use kurabe_core::{Lang, Text, shown::Shown};

/// Language, colour and width of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The language.
    pub lang: Lang,
    /// Whether escape codes for colour and weight are written.
    pub color: bool,
    /// Columns of the terminal, or of the page.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { lang: Lang::En, color: false, width: 80 }
    }
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Plain,
    /// The figure that the eye looks for, and headings.
    Strong,
    /// What stands beside it.
    Quiet,
    /// Something well.
    Good,
    /// Something to know.
    Warn,
    /// Something wrong.
    Bad,
    /// The course over time.
    Course,
}

impl Style {
    /// The sentence in the style's language, as it may stand in a line.
    pub(crate) fn say(&self, text: &Text) -> String {
        text.line(self.lang)
    }

    /// Lines that are ready to be written, in colours where these are welcome.
    pub fn page(&self, lines: &str) -> Shown {
        if self.color { Shown::coloured(lines) } else { Shown::lines(lines) }
    }

    /// One of two literals.
    pub(crate) fn pick<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        self.lang.pick(en, ja)
    }

    /// The text as its role looks.
    pub(crate) fn paint(&self, role: Role, text: &str) -> String {
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
