//! Texts as mail programs, containers and loggers change them: quoted-printable, a prefix before each
//! line, lines wrapped at words or at any width, output of several hosts in one text, output in a JSON
//! string, JSON that is cut off.
//!
//! The model: quoted-printable is decoded before anything is read, because its signs are unmistakable.
//! So are values of JSON that are not numbers, which JSON does not allow. Every other change is assumed
//! only after reading the text unchanged failed, or if undoing it results in more figures. So a text
//! that was not changed is never changed here.

use super::words::{digits, is_rule};
use kurabe_core::{Text, text};

/// A text with one change undone, and the note about it.
pub(super) struct Restored {
    /// The text, or the text of each host with its name.
    pub(super) parts: Vec<(Option<String>, String)>,
    pub(super) note: Text,
    /// Whether it is read only if the unchanged text cannot be read.
    pub(super) only_if_unread: bool,
}

/// Returns the texts that a changed text can have been, the most certain first.
pub(super) fn restored(text: &str) -> Vec<Restored> {
    let whole = |text| vec![(None, text)];
    let unquoted = without(text, after_quote);
    let text = unquoted.as_deref().unwrap_or(text);
    let of_hosts = hosts(text).map(|hosts| Restored {
        parts: hosts.into_iter().map(|(host, text)| (Some(host.to_owned()), text)).collect(),
        note: text!(
            "this file has the output of several hosts, whose names are before each line; each host is a run",
            "各行の先頭にホスト名がある、複数のホストの出力です。ホストごとに取り込みました"
        ),
        only_if_unread: true,
    });
    let escaped = unescaped(text).map(|text| Restored {
        parts: whole(text),
        note: text!(
            "the output was in a string of JSON or of a log, with `\\n` in place of line ends; it was decoded",
            "出力が JSON やログの文字列(改行が `\\n`)になっていたため、元に戻して読みました"
        ),
        only_if_unread: true,
    });
    let prefixed = without_prefixes(text).or_else(|| unquoted.clone()).map(|text| Restored {
        parts: whole(text),
        note: text!(
            "a log, a container or a mail put a prefix before each line of this file; it was removed",
            "各行の先頭に付いた、ログやコンテナー、引用の接頭辞を取り除いて読みました"
        ),
        only_if_unread: true,
    });
    let wrapped = joined_at_words(text).map(|text| Restored {
        parts: whole(text),
        note: text!(
            "the lines of this file were wrapped between words, as a mail program does; they were joined again",
            "メールソフトのように単語の間で折り返された行をつなぎ直して読みました"
        ),
        only_if_unread: false,
    });
    let cut = joined_at_most(text).map(|text| Restored {
        parts: whole(text),
        note: text!(
            "the longest lines of this file were wrapped at a fixed width; they were joined again",
            "一定の幅で折り返された行をつなぎ直して読みました"
        ),
        only_if_unread: true,
    });
    let closed = closed(text).map(|text| Restored {
        parts: whole(text),
        note: text!(
            "the JSON of this file is cut off: only the parts before the cut that are complete were read",
            "JSON が途中で切れているため、そこまでの完全な部分だけを読みました"
        ),
        only_if_unread: true,
    });
    let untabled = without_table(text).map(|text| Restored {
        parts: whole(text),
        note: text!(
            "the output was in a table of Markdown, whose bars were removed",
            "Markdown の表になっていたため、罫線を取り除いて読みました"
        ),
        only_if_unread: true,
    });
    [of_hosts, escaped, closed, untabled, prefixed, wrapped, cut].into_iter().flatten().collect()
}

/// Maximum number of hosts in a text.
const HOSTS_MOST: usize = 64;

/// Returns the lines of each host, if nearly every line begins with the name of one of several hosts and a
/// colon, as pdsh prints them.
fn hosts(text: &str) -> Option<Vec<(&str, String)>> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let split = |line: &'_ str| -> Option<(usize, usize)> {
        let end = line.find(':').filter(|end| *end > 0 && line[..*end].chars().all(is_of_name))?;
        let rest = &line[end + 1..];
        (rest.is_empty() || rest.starts_with([' ', '\t']))
            .then_some((end, usize::from(rest.starts_with(' '))))
    };
    let (mut own, mut all) = (0, 0);
    let mut hosts: Vec<(&str, String, usize)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        all += 1;
        let Some((end, blanks)) = split(line) else { continue };
        own += 1;
        let at = hosts.iter().position(|(host, ..)| *host == &line[..end]).unwrap_or(hosts.len());
        if at == hosts.len() {
            hosts.push((&line[..end], String::new(), 0));
        }
        let (_, lines, count) = &mut hosts[at];
        *lines += &line[end + 1 + blanks..];
        lines.push('\n');
        *count += 1;
        if hosts.len() > HOSTS_MOST {
            return None;
        }
    }
    let is_host = |(_, _, count): &(&str, String, usize)| *count >= LINES_LEAST;
    let is_of_hosts = hosts.len() >= 2 && hosts.iter().all(is_host) && are_nearly_all(own, all);
    is_of_hosts.then(|| hosts.into_iter().map(|(host, lines, _)| (host, lines)).collect())
}

/// Returns the text in strings with escaped line ends, decoded. `None` if there are none.
fn unescaped(text: &str) -> Option<String> {
    /// A string can be within another one.
    const LEVELS: usize = 2;
    let mut decoded = decoded_strings(text)?;
    for _ in 1..LEVELS {
        decoded = decoded_strings(&decoded).unwrap_or(decoded);
    }
    Some(decoded)
}

/// Decodes the strings with escaped line ends, and leaves the rest out.
fn decoded_strings(text: &str) -> Option<String> {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let mut is_escaped = false;
        let end = rest[start + 1..].find(|c| {
            let is_end = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        let Some(end) = end.map(|end| start + 1 + end) else { break };
        let string = &rest[start..=end];
        if string.contains("\\n")
            && let Ok(lines) = serde_json::from_str::<String>(&string.replace('\t', "\\t"))
        {
            decoded += &lines;
            decoded.push_str("\n\n");
        }
        rest = &rest[end + 1..];
    }
    (!decoded.is_empty()).then_some(decoded)
}

/// Returns the JSON of a text that ends within an object, up to the last complete object in the outermost
/// list that has one, with the ends that are missing. `None` if nothing is missing or complete.
fn closed(text: &str) -> Option<String> {
    let begins = |line: &&str| line.trim_start().starts_with('{');
    let offset = text.split_inclusive('\n').take_while(|line| !begins(line)).map(str::len).sum::<usize>();
    // The open brackets, each with the end of the last complete object in it.
    let mut open: Vec<(u8, Option<usize>)> = Vec::new();
    let (mut is_string, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate().skip(offset) {
        let ends_string = byte == b'"' && !is_escaped;
        is_escaped = is_string && byte == b'\\' && !is_escaped;
        match byte {
            _ if is_string => is_string = !ends_string,
            b'"' => is_string = true,
            b'{' | b'[' if open.len() < LEVELS_MOST => open.push((byte, None)),
            b'{' | b'[' => return None,
            b'}' | b']' => {
                open.pop()?;
                if let Some((b'[', end)) = open.last_mut().filter(|_| byte == b'}') {
                    *end = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    let (level, end) = open.iter().enumerate().find_map(|(level, (_, end))| Some((level, (*end)?)))?;
    let mut closed = text[..end].to_owned();
    closed.extend(open[..=level].iter().rev().map(|(byte, _)| if *byte == b'{' { '}' } else { ']' }));
    closed.push('\n');
    Some(closed)
}

/// Removes the bars of tables in Markdown, which have a row of dashes below the heading. `None` without one.
fn without_table(text: &str) -> Option<String> {
    // The bars that a forum puts before each line are already removed.
    let cells = |line: &'_ str| -> Option<Vec<String>> {
        let cells = line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        line.contains('|').then(|| cells.collect())
    };
    let is_of_dashes = |cell: &String| cell.contains("--") && cell.bytes().all(|byte| b"-: ".contains(&byte));
    let is_rule = |line: &str| cells(line).is_some_and(|cells| cells.iter().all(is_of_dashes));
    if !text.lines().any(is_rule) {
        return None;
    }
    let rows = text.lines().filter(|line| !is_rule(line));
    let plain = rows.map(|line| cells(line).map_or(line.to_owned(), |cells| cells.join("  ")) + "\n");
    Some(plain.collect())
}

/// Maximum number of values within each other. Results of tools have fewer.
const LEVELS_MOST: usize = 32;

/// Values that programs print in JSON although it does not have them.
const NO_NUMBERS: [&str; 8] = ["-nan", "nan", "NaN", "-NaN", "inf", "-inf", "Infinity", "-Infinity"];

/// Replaces the values of JSON that are not numbers by `null`, which stands for an unknown value there.
/// `None` if there are none.
pub(super) fn without_nan(text: &str) -> Option<String> {
    if !["nan", "NaN", "inf", "Inf"].iter().any(|part| text.contains(part)) {
        return None;
    }
    let (mut plain, mut from) = (String::new(), 0);
    for (at, _) in text.match_indices(':').filter(|(at, _)| text[..*at].trim_end().ends_with('"')) {
        let value = text[at + 1..].trim_start();
        let ends = |after: &str| after.trim_start().starts_with([',', '}']);
        let own = NO_NUMBERS.iter().find(|name| value.strip_prefix(**name).is_some_and(ends));
        if let Some(name) = own {
            let start = text.len() - value.len();
            plain += &text[from..start];
            plain += "null";
            from = start + name.len();
        }
    }
    (from > 0).then(|| plain + &text[from..])
}

/// Number of signs by which quoted-printable is recognized.
const SIGNS_LEAST: usize = 2;

/// Decodes quoted-printable (RFC 2045): `=3D` is `=`, and `=` at the end of a line continues it.
/// `None` if the text is not encoded.
pub(super) fn quoted_printable(text: &str) -> Option<String> {
    let is_soft =
        |line: &str| line.ends_with('=') && !line.ends_with("==") && (70..=76).contains(&line.len());
    let is_encoded = text.matches("=3D").take(SIGNS_LEAST).count() >= SIGNS_LEAST
        || text.contains('=')
            && text.lines().filter(|line| is_soft(line)).take(SIGNS_LEAST).count() >= SIGNS_LEAST;
    if !is_encoded {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let hex = |byte: &u8| (*byte as char).to_digit(16).filter(|_| !byte.is_ascii_lowercase());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'=', [b'\n', after @ ..]) => rest = after,
            (b'=', [high, low, after @ ..]) if hex(high).is_some() && hex(low).is_some() => {
                let value = hex(high).zip(hex(low)).map(|(high, low)| high * 16 + low);
                bytes.extend(value.and_then(|value| u8::try_from(value).ok()));
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

/// A kind of prefix: returns the line after it.
type Prefix = fn(&str) -> Option<&str>;

/// Number of lines that must have the prefix, and their share in percent. Messages of other programs
/// can have none.
const LINES_LEAST: usize = 3;
const SHARE_LEAST: usize = 90;

/// Removes the prefix of nearly every line. `None` if they have none.
fn without_prefixes(text: &str) -> Option<String> {
    let prefixes: [Prefix; 2] = [after_time, after_logger];
    if let Some(plain) = prefixes.into_iter().find_map(|prefix| without(text, prefix)) {
        return Some(plain);
    }
    if let Some(length) = common_prefix(text) {
        return Some(removed(text, |line| after_chars(line, length)));
    }
    // The name of a host or a container is the same on each line.
    let first = text.split_whitespace().next()?;
    without(text, |line| {
        let rest = line.trim_start().strip_prefix(first)?;
        let rest = if first.ends_with(':') { rest } else { rest.trim_start().strip_prefix('|')? };
        Some(rest.strip_prefix(' ').unwrap_or(rest))
    })
}

/// Returns whether lines are many, and nearly all.
fn are_nearly_all(own: usize, all: usize) -> bool {
    own >= LINES_LEAST && own * 100 >= all * SHARE_LEAST
}

/// Removes a prefix, if nearly every line has it.
fn without(text: &str, after: impl Fn(&str) -> Option<&str>) -> Option<String> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let (own, all) = (lines().filter_map(&after).count(), lines().count());
    are_nearly_all(own, all).then(|| removed(text, after))
}

/// Removes a prefix from the lines that have it.
fn removed(text: &str, after: impl Fn(&str) -> Option<&str>) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        plain += after(line).unwrap_or(line);
        plain.push('\n');
    }
    plain
}

/// Returns the line after the mark of a quotation.
fn after_quote(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// Minimum length of a prefix of a logger that is recognized by its form: a time has eight characters.
const PREFIX_LEAST: usize = 8;

/// Number of lines in which a prefix is looked for, before all of them are checked for it.
const SAMPLE_LINES: usize = 64;

/// Returns the number of characters of a prefix that nearly every line has, apart from its digits, such as
/// `20:16:21 DEBUG| [stdout] `. It contains a time, and ends with a space.
fn common_prefix(text: &str) -> Option<usize> {
    let lines = || text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let sample: Vec<&str> = lines().take(SAMPLE_LINES).collect();
    let form: Vec<char> = sample.get(sample.len() / 2)?.chars().map(without_digit).collect();
    // Spaces after the first one belong to the line.
    let ends = (PREFIX_LEAST..form.len()).filter(|at| form[*at] == ' ' && form[*at - 1] != ' ');
    let of_sample = |length: &usize| is_common(sample.iter().copied(), &form[..*length]);
    let length = ends.map(|at| at + 1).take_while(of_sample).last()?;
    let prefix: String = form[..length].iter().collect();
    // A time alone can be a column, as of `sar`.
    let ends_in_mark = prefix.trim_end().ends_with(['|', ']', ':', '-', '>']);
    (prefix.contains("00:00") && ends_in_mark && is_common(lines(), &form[..length])).then_some(length)
}

fn without_digit(c: char) -> char {
    if c.is_ascii_digit() { '0' } else { c }
}

/// Returns whether nearly all lines begin with a prefix, apart from its digits. A line that is empty
/// after it has lost the last space.
fn is_common<'l>(lines: impl Iterator<Item = &'l str>, prefix: &[char]) -> bool {
    let begins = |line: &str| {
        let mut own = line.chars().map(without_digit);
        let is_last = |at: usize| at + 1 == prefix.len();
        prefix.iter().enumerate().all(|(at, c)| own.next().map_or(is_last(at), |own| own == *c))
    };
    let (mut own, mut all) = (0, 0);
    for line in lines {
        all += 1;
        own += usize::from(begins(line));
    }
    are_nearly_all(own, all)
}

/// Returns the line after a number of characters.
fn after_chars(line: &str, count: usize) -> Option<&str> {
    let at = line.char_indices().nth(count).map(|(at, _)| at);
    at.map(|at| &line[at..]).or((line.chars().count() + 1 >= count).then_some(""))
}

/// Returns the line after a time with a fraction in UTC, as CI services write:
/// `2023-10-05T12:34:56.7890123Z read`.
fn after_time(line: &str) -> Option<&str> {
    let (time, rest) = line.split_once('Z')?;
    let shape = "0000-00-00T00:00:00.0";
    let is_time = time.len() >= shape.len()
        && shape.bytes().zip(time.bytes()).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            sign => byte == sign,
        })
        && time[shape.len()..].bytes().all(|byte| byte.is_ascii_digit());
    is_time.then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// Returns the line after the prefix of syslog and journalctl: `Mar 05 10:00:00 host fio[123]: read`.
fn after_logger(line: &str) -> Option<&str> {
    let (prefix, rest) = line.split_once("]:")?;
    let words: Vec<&str> = prefix.split_whitespace().collect();
    let [month, day, time, _host, process] = words[..] else { return None };
    let is_time = time.len() == 8 && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let is_month = month.len() == 3 && month.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_prefix = is_month && digits(day) && is_time && process.contains('[');
    is_prefix.then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// Widths at which mail programs wrap.
const MAIL_WIDTHS: std::ops::RangeInclusive<usize> = 60..=80;

/// Joins lines that were wrapped between words: the first word of the next line did not fit, and that
/// line is not indented. `None` if there are no such lines.
fn joined_at_words(text: &str) -> Option<String> {
    let width = |line: &str| line.chars().count();
    let most = text.lines().map(width).max().filter(|most| MAIL_WIDTHS.contains(most))?;
    let mut joined = String::with_capacity(text.len());
    let (mut before, mut joins) = (0, 0);
    for line in text.lines() {
        let plain = line.trim_start_matches(['>', ' ']);
        let is_indented =
            line.trim_start_matches('>').strip_prefix(' ').is_some_and(|line| line.starts_with(' '));
        let word = plain.split_whitespace().next().map_or(0, width);
        if before > 0 && word > 0 && !is_indented && before + 1 + word > most {
            while joined.ends_with([' ', '\n']) {
                joined.pop();
            }
            joined.push(' ');
            joined += plain;
            joins += 1;
        } else {
            joined += line;
        }
        joined.push('\n');
        before = if plain.trim().is_empty() { 0 } else { width(line.trim_end()) };
    }
    (joins > 0).then_some(joined)
}

/// Joins each line of the greatest width with the next one, if there are several such lines.
fn joined_at_most(text: &str) -> Option<String> {
    const WIDTH_LEAST: usize = 60;
    let width = |line: &str| line.chars().count();
    let most = text.lines().map(width).max().filter(|most| *most >= WIDTH_LEAST)?;
    let is_cut = |line: &str| width(line) == most && !is_rule(line);
    if text.lines().filter(|line| is_cut(line)).count() < 2 {
        return None;
    }
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        joined += line;
        if !is_cut(line) {
            joined.push('\n');
        }
    }
    Some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_printable_is_decoded_only_where_it_is() {
        let encoded = "  cpu : usr=3D1.06%, minf=3D90=\n30\n caf=C3=A9\n";
        assert_eq!(quoted_printable(encoded).as_deref(), Some("  cpu : usr=1.06%, minf=9030\n café\n"));
        for plain in ["bw=54.5MiB/s, io=6537MiB, run=3D\n", "=====\n=====\n", "a=1\nb=2=\n"] {
            assert_eq!(quoted_printable(plain), None, "{plain}");
        }
    }

    #[test]
    fn prefixes_of_each_line_are_removed() {
        for prefix in
            ["2023-10-05T12:34:56.7890123Z ", "Mar 05 10:00:00 nas fio[123]: ", "fio-1  | ", "node1: "]
        {
            let text = format!("{prefix}a b\n\n{prefix}  c\n{prefix}d: e\n");
            assert_eq!(without_prefixes(&text).as_deref(), Some("a b\n\n  c\nd: e\n"), "{prefix}");
        }
        let logged = "20:16:20 DEBUG| [stdout] a\n20:16:21 DEBUG| [stdout]   b\n20:16:21 DEBUG| [stdout] c: 5\n\
                      20:16:22 DEBUG| [stdout]\n";
        assert_eq!(without_prefixes(logged).as_deref(), Some("a\n  b\nc: 5\n\n"));
        let python = "2023-01-02 10:00:00,123 - INFO - a 1\n2023-01-02 10:00:00,124 - INFO -  b\n2023-01-02 \
                      10:00:01,003 - INFO - c\n";
        assert_eq!(without_prefixes(python).as_deref(), Some("a 1\n b\nc\n"));
        assert_eq!(without_prefixes("sda 1\nsda 2\nsda 3\n"), None);
        assert_eq!(without_prefixes("a: 1\nb: 2\nc: 3\n"), None);
    }

    #[test]
    fn lines_wrapped_between_words_are_joined() {
        let line = "> Device r/s w/s rkB/s wkB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await";
        let text = format!("{line}\n> aqu-sz %util\n> sda 1 2\n");
        assert_eq!(joined_at_words(&text), Some(format!("{line} aqu-sz %util\n> sda 1 2\n")));
        assert_eq!(joined_at_words("short\nlines\n"), None);
    }

    #[test]
    fn values_that_json_does_not_have_are_unknown() {
        let text = "{\"a\": nan, \"b\" :-nan,\n\"c\": Infinity}";
        assert_eq!(without_nan(text).as_deref(), Some("{\"a\": null, \"b\" :null,\n\"c\": null}"));
        for plain in ["{\"a\": \"nan\"}", "sda nan 1: nan, 2\n", "{\"a\": info}"] {
            assert_eq!(without_nan(plain), None, "{plain}");
        }
    }

    #[test]
    fn json_that_is_cut_off_ends_after_its_last_complete_part() {
        let text = "$ x {1..3}\n{\"a\": [{\"b\": [{\"c\": \"]}\"}]}, {\"b\": [{\"c\": 2}, {\"c\"";
        let expected = "$ x {1..3}\n{\"a\": [{\"b\": [{\"c\": \"]}\"}]}]}\n";
        assert_eq!(closed(text).as_deref(), Some(expected));
        let first = "{\"a\": {\"b\": [{\"c\": 1}, {\"c\": 2";
        assert_eq!(closed(first).as_deref(), Some("{\"a\": {\"b\": [{\"c\": 1}]}}\n"));
        for other in ["{\"a\": [{}]}\n", "{\"a\": [{\"b\": 1", "text\n", "{}}"] {
            assert_eq!(closed(other), None, "{other}");
        }
    }

    #[test]
    fn tables_of_markdown_lose_their_bars() {
        let table = "x\n| a | r/s |\n|---|:---:|\n| b c | 1.0 |\n\nend\n";
        assert_eq!(without_table(table).as_deref(), Some("x\na  r/s\nb c  1.0\n\nend\n"));
        // A forum's bars were removed before.
        let rest = "a | r/s |\n---|---|\nb | 1.0 |\n";
        assert_eq!(without_table(rest).as_deref(), Some("a  r/s\nb  1.0\n"));
        for other in ["a | b\nc | d\n", "-----\n a\n", "     | 1.00th=[ 90]\n"] {
            assert_eq!(without_table(other), None, "{other}");
        }
    }

    #[test]
    fn the_lines_of_each_host_belong_together() {
        let text = "n1: a\nn2:  b\nn1: c 1\n\nn2: \td\nn1:\nn2: e\n";
        let expected = [("n1", "a\nc 1\n\n"), ("n2", " b\n\td\ne\n")];
        assert_eq!(hosts(text), Some(expected.map(|(host, lines)| (host, lines.to_owned())).to_vec()));
        for other in ["n1: a\nn1: b\nn1: c\n", "a: 1\nb: 2\na: 3\nb: 4\n", "x 1\ny 2\n"] {
            assert_eq!(hosts(other), None, "{other}");
        }
    }

    #[test]
    fn strings_with_line_ends_are_decoded() {
        let text = "{\"cmd\": \"x\", \"out\": \"a \\\"b\\\"\\n\\tc\\n\"}\n";
        assert_eq!(unescaped(text).as_deref(), Some("a \"b\"\n\tc\n\n\n"));
        let twice = serde_json::to_string(&text).unwrap();
        assert_eq!(unescaped(&twice).as_deref(), Some("a \"b\"\n\tc\n\n\n"));
        assert_eq!(unescaped("\"a\" \"b\\\" c"), None);
    }
}
