//! The help in the language of the reader.

use crate::{lang::lang, output::style};
use kurabe_core::Lang;
use kurabe_report::help_in_japanese;

/// What clap prints for `--help` and `--version`, with escape codes only where they are welcome.
pub fn in_language(help: &clap::Error) -> String {
    let words = coloured(help, style().color);
    match lang() {
        Lang::En => words,
        Lang::Ja => help_in_japanese(&words, style().width),
    }
}

/// What clap prints, in its colours or without.
pub fn coloured(message: &clap::Error, is_coloured: bool) -> String {
    let words = message.render();
    if is_coloured { words.ansi().to_string() } else { words.to_string() }
}
