//! A line as its tool wrote it, without what pages, mails and comments put around it.
//!
//! The model: marks of quotation (`>`), of comments (`#`, `//`) and of lists (`* `, `- `) stand before the line, one of them
//! any number of times; elements of HTML stand around it, and its own `<` is written `&lt;` there. Blanks before the line stay:
//! some tools tell by them.

use std::borrow::Cow;

/// Elements that pages put around the lines of a text.
const ELEMENTS: &str =
    "a b blockquote body br code div em font html i li p pre span strong table tbody td th tr tt";

/// Bytes of a line in which elements are looked for.
const LINE_LONGEST: usize = 1 << 20;

/// Signs by their names in HTML; the last is in all of these names.
const SIGNS: [(&str, &str); 5] =
    [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&quot;", "\""), ("&amp;", "&")];

/// The line, or the lines where a page broke it by `<br>`.
pub(super) fn cleaned(line: &str) -> Vec<Cow<'_, str>> {
    // Elements of a line that is longer than any of a page are not taken apart.
    if line.len() > LINE_LONGEST || !line.contains(['<', '&']) {
        return vec![Cow::Borrowed(unmarked(line))];
    }
    let text = SIGNS.iter().fold(without_elements(line), |text, (name, sign)| text.replace(name, sign));
    text.split('\n').map(|line| Cow::Owned(unmarked(line).to_owned())).collect()
}

/// Without marks before it.
fn unmarked(line: &str) -> &str {
    let mut rest = line;
    loop {
        let start = rest.trim_start();
        let after = if let Some(after) = start.strip_prefix("//") {
            after
        } else if let Some(after) = start.strip_prefix(['>', '#']) {
            after
        } else if let Some(after) = start.strip_prefix("* ").or_else(|| start.strip_prefix("- ")) {
            return after;
        } else {
            return rest;
        };
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
}

/// Without elements of HTML; `<br>` and the ends of blocks are ends of lines.
fn without_elements(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        text += &rest[..at];
        let Some((name, after)) = element(&rest[at + 1..]) else {
            text.push('<');
            rest = &rest[at + 1..];
            continue;
        };
        if matches!(name, "br" | "p" | "div" | "li" | "tr") && !after.trim().is_empty() {
            text.push('\n');
        }
        // Fields of a row would run into each other.
        if matches!(name, "td" | "th") && text.ends_with(|c: char| !c.is_whitespace()) {
            text.push(' ');
        }
        rest = after;
    }
    text + rest
}

/// The name of an element whose `<` was before the words, and what follows its `>`.
fn element(words: &str) -> Option<(&'static str, &str)> {
    // No element of a page of results is longer; a file of `<` would be looked through again and again.
    const LONGEST: usize = 200;
    let end = words.bytes().take(LONGEST).position(|byte| byte == b'>')?;
    let name = words[..end].strip_prefix('/').unwrap_or(&words[..end]);
    let name = name.split([' ', '/']).next()?;
    let name = ELEMENTS.split(' ').find(|element| name.eq_ignore_ascii_case(element))?;
    Some((name, &words[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_elements_go_and_the_line_stays() {
        for (line, expected) in [
            ("> > Sequential Read : 5 MB/s", "Sequential Read : 5 MB/s"),
            (">>  Timing", " Timing"),
            ("//    Sequential Read", "   Sequential Read"),
            ("# dd if=/dev/zero", "dd if=/dev/zero"),
            ("* SEQ 1MiB", "SEQ 1MiB"),
            ("- SEQ 1MiB", "SEQ 1MiB"),
            ("--- . (ext4) ioping statistics ---", "--- . (ext4) ioping statistics ---"),
            ("-----------", "-----------"),
            ("    indented", "    indented"),
            ("<blockquote>Sequential Read : 5 MB/s</blockquote>", "Sequential Read : 5 MB/s"),
            ("5 MB/s [ 2 IOPS] <  3.00 us>", "5 MB/s [ 2 IOPS] <  3.00 us>"),
            ("5 MB/s &lt;  3.00 us&gt;", "5 MB/s <  3.00 us>"),
            ("4 KiB <<< . (ext4 /dev/vda): request=1", "4 KiB <<< . (ext4 /dev/vda): request=1"),
        ] {
            assert_eq!(cleaned(line), [expected], "{line}");
        }
        assert_eq!(cleaned("<td class=\"x\">a<br/>b<br>"), ["a", "b"]);
        assert_eq!(cleaned("<td>64</td><td>4</td><td>98</td>"), ["64 4 98 "]);
    }
}
