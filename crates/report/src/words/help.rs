//! Help of the command line in Japanese.
//!
//! The model: the library that formats the help uses English text for headings and common options,
//! and breaks lines only at spaces. Its text is replaced afterwards, and lines are broken between
//! characters.

use kurabe_doc::layout::{display_width, wrap};

/// Texts of the library with their translations. A text that contains another one comes first.
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

/// Translates the library's text in the help to Japanese, and wraps lines to `width`.
pub fn help_in_japanese(help: &str, width: usize) -> String {
    let words = WORDS.iter().fold(help.to_owned(), |words, (en, ja)| replaced(&words, en, ja));
    let lines: Vec<String> = words.lines().flat_map(|line| narrowed(line, width)).collect();
    lines.join("\n") + "\n"
}

/// Wraps a line of the help to a width. Continuation lines are aligned with the text of the first.
fn narrowed(line: &str, width: usize) -> Vec<String> {
    if shown_width(line) <= width {
        return vec![line.to_owned()];
    }
    let inner = line.trim_start();
    let indent = line.len() - inner.len();
    // At least two spaces separate the name of an option or command from its description.
    let named = inner.find("  ").map(|at| at + inner[at..].len() - inner[at..].trim_start().len());
    let at = indent + named.filter(|at| shown_width(&inner[..*at]) <= width / 2).unwrap_or(0);
    let (head, words) = line.split_at(at);
    let hang = shown_width(head);
    let mut lines = wrap(words, width.saturating_sub(hang).max(MOST_NARROW));
    for (place, line) in lines.iter_mut().enumerate() {
        let before = if place == 0 { head.to_owned() } else { " ".repeat(hang) };
        line.insert_str(0, &before);
    }
    lines
}

/// Minimum width of the wrapped text.
const MOST_NARROW: usize = 20;

/// Returns the width on a terminal, where escape codes take no space.
fn shown_width(text: &str) -> usize {
    let codes: usize = text.split('\u{1b}').skip(1).filter_map(|rest| rest.find('m').map(|at| at + 1)).sum();
    display_width(&text.replace('\u{1b}', "")) - codes
}

/// Replaces a text, which may be broken over two lines. The line break is moved behind the
/// replacement.
fn replaced(text: &str, en: &str, ja: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((at, length, broken)) = find(rest, en) {
        out.push_str(&rest[..at]);
        out.push_str(ja);
        rest = &rest[at + length..];
        // Text that follows on the second line stays there. An empty line is not kept.
        if !broken.is_empty() && rest.starts_with(' ') {
            out.push_str(broken);
            rest = rest.trim_start_matches(' ');
        }
    }
    out + rest
}

/// Returns position and length of the text, and the white space of a line break within it, if there
/// is one.
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
        let text = "  --a  one [default: x] [possible\n       values: x, y]\n  --b  [possible values: z]\n\
                    \x20 -h   Print\n       help\n";
        let replaced = WORDS.iter().fold(text.to_owned(), |words, (en, ja)| replaced(&words, en, ja));
        assert_eq!(replaced, "  --a  one [既定: x] [値:\n       x, y]\n  --b  [値: z]\n  -h   ヘルプ\n");
    }

    #[test]
    fn a_long_line_goes_on_where_its_words_begin() {
        let long = "  -a, --all <NAME>  ここからは日本語の説明がとても長く続いていきます。まだ続きます";
        let lines = narrowed(long, 44);
        assert!(lines.len() > 1 && lines.iter().all(|line| shown_width(line) <= 44), "{lines:?}");
        assert!(lines[1].starts_with(&" ".repeat(20)) && !lines[1][20..].starts_with(' '), "{lines:?}");
        let joined: String = lines.iter().map(|line| line.trim_start()).collect();
        assert_eq!(joined, long.trim_start());
        assert_eq!(narrowed("  short", 44), ["  short"]);
        assert_eq!(shown_width("\u{1b}[1mab\u{1b}[0m 長"), 5);
    }
}
