//! Lines as the tool wrote them, without the additions of web pages, mails and comments.
//!
//! The model: marks of quotations (`>`), comments (`#`, `//`) and lists (`* `, `- `) precede the line,
//! one of them any number of times. HTML elements surround it, and a literal `<` is written `&lt;`
//! there. Leading spaces are kept, because they are significant for some tools.

use std::borrow::Cow;

/// HTML elements that pages put around the lines of a text.
const ELEMENTS: &str =
    "a b blockquote body br code div em font html i li p pre span strong table tbody td th tr tt";

/// Maximum length in bytes of a line in which elements are searched.
const LINE_LONGEST: usize = 1 << 20;

/// Characters by their names in HTML. The last one occurs in all of these names.
const SIGNS: [(&str, &str); 5] =
    [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&quot;", "\""), ("&amp;", "&")];

/// Returns the line, or several lines if a page split it with `<br>`.
pub(super) fn cleaned(line: &str) -> Vec<Cow<'_, str>> {
    // A line that is too long for a page is not searched for elements.
    if line.len() > LINE_LONGEST || !line.contains(['<', '&']) {
        return vec![Cow::Borrowed(unmarked(line))];
    }
    let text = SIGNS.iter().fold(without_elements(line), |text, (name, sign)| text.replace(name, sign));
    text.split('\n').map(|line| Cow::Owned(unmarked(line).to_owned())).collect()
}

/// Removes marks before the line.
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

/// Removes HTML elements. `<br>` and the ends of block elements become line ends.
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
        // Without a space, the fields of a row would merge.
        if matches!(name, "td" | "th") && text.ends_with(|c: char| !c.is_whitespace()) {
            text.push(' ');
        }
        rest = after;
    }
    text + rest
}

/// Returns the name of an element, whose `<` precedes the words, and the text after its `>`.
fn element(words: &str) -> Option<(&'static str, &str)> {
    // Elements in pages of results are short. Without a limit, a file of `<` would be scanned
    // repeatedly.
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
