//! The help in the language of the reader.
//!
//! The model: clap lays the help out, with its own English words for headings and for what is the same in every
//! command. In Japanese these words are replaced afterwards; none but headings gets wider, so no line does.

use crate::lang::lang;
use crate::output::style;
use kurabe_core::Lang;

/// clap's words, longest first where one holds another.
const WORDS: [(&str, &str); 9] = [
    ("Usage:", "使い方:"),
    ("Commands:", "コマンド:"),
    ("Arguments:", "引数:"),
    ("Options:", "オプション:"),
    ("Print this message or the help of the given subcommand(s)", "各コマンドのヘルプを表示"),
    ("Print help", "ヘルプ"),
    ("Print version", "バージョン"),
    ("[default:", "[既定:"),
    ("[possible values:", "[値:"),
];

/// What clap prints for `--help` and `--version`, with escape codes only where they are welcome.
pub fn in_language(help: &clap::Error) -> String {
    let help = help.render();
    let words = if style().color { help.ansi().to_string() } else { help.to_string() };
    match lang() {
        Lang::En => words,
        Lang::Ja => WORDS.iter().fold(words, |words, (en, ja)| replaced(&words, en, ja)),
    }
}

/// The text with other words for some, which may be broken over two lines; the break then stands behind them.
fn replaced(text: &str, en: &str, ja: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((at, length, broken)) = find(rest, en) {
        out.push_str(&rest[..at]);
        out.push_str(ja);
        rest = &rest[at + length..];
        // What followed on the second line stays there; a line of nothing does not.
        if !broken.is_empty() && rest.starts_with(' ') {
            out.push_str(broken);
            rest = rest.trim_start_matches(' ');
        }
    }
    out + rest
}

/// Place and length of the words, and the white space of the line break in them, if there is one.
fn find<'a>(text: &'a str, words: &str) -> Option<(usize, usize, &'a str)> {
    let first = words.split(' ').next()?;
    text.match_indices(first).find_map(|(at, _)| {
        let mut end = at;
        let mut broken = "";
        for (index, word) in words.split(' ').enumerate() {
            if index > 0 {
                let after = text[end..].trim_start();
                let space = &text[end..text.len() - after.len()];
                if space.is_empty() {
                    return None;
                }
                if space.contains('\n') {
                    broken = space;
                }
                end += space.len();
            }
            end += text[end..].starts_with(word).then_some(word.len())?;
        }
        Some((at, end - at, broken))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_where_a_line_breaks_in_them_too() {
        let text = "  --a  one [default: x] [possible\n       values: x, y]\n  --b  [possible values: z]\n  -h   Print\n       help\n";
        let replaced = WORDS.iter().fold(text.to_owned(), |words, (en, ja)| replaced(&words, en, ja));
        assert_eq!(replaced, "  --a  one [既定: x] [値:\n       x, y]\n  --b  [値: z]\n  -h   ヘルプ\n");
    }

    #[test]
    fn no_word_gets_wider() {
        for (en, ja) in WORDS {
            assert!(kurabe_report::display_width(ja) <= en.len().max(11), "{ja}");
        }
    }
}
