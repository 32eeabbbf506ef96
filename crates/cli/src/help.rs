//! Help in the user's language.

use crate::{lang::lang, output::style};
use kurabe_core::Lang;
use kurabe_report::help_in_japanese;

/// Returns the text of `--help` or `--version`, with escape codes only if the terminal accepts
/// them.
pub fn in_language(help: &clap::Error) -> String {
    let words = coloured(help, style().color);
    match lang() {
        Lang::En => words,
        Lang::Ja => help_in_japanese(&words, style().width),
    }
}

/// Renders a message of clap, with or without colours.
pub fn coloured(message: &clap::Error, is_coloured: bool) -> String {
    let words = message.render();
    if is_coloured { words.ansi().to_string() } else { words.to_string() }
}
