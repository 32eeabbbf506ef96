//! The part of YAML that Jackson writes: nested mappings and lists in block form, plain and quoted scalars.
//!
//! The model: a line is `key: scalar`, `key:`, `- ` before either, or goes on a quoted scalar that the line before
//! left open. Numbers stay text. Anchors, flow forms other than `[]` and `{}`, block scalars and comments are not
//! read: Jackson writes none of them here.

use super::json_tree::Json;

/// Deeper than this is no result.
const DEPTH_MAX: usize = 32;

/// Reads a document. The error is the line, from 1, that cannot be read.
pub(super) fn parse(text: &str) -> Result<Json, usize> {
    let lines = lines(text)?;
    let mut reader = YamlReader { lines, at: 0 };
    let indent = reader.lines.first().map_or(0, |line| line.indent);
    let value = reader.block(indent, 0)?;
    match reader.lines.get(reader.at) {
        Some(line) => Err(line.number),
        None => Ok(value),
    }
}

/// A line: where it stands, how far it is indented, what it says.
struct YamlLine {
    number: usize,
    indent: usize,
    words: String,
}

/// Lines that say something; a quoted scalar over several lines is made one.
fn lines(text: &str) -> Result<Vec<YamlLine>, usize> {
    let mut lines: Vec<YamlLine> = Vec::new();
    let mut scan = None;
    for (index, line) in text.lines().enumerate() {
        let words = line.trim();
        if let Some((from, escaped)) = scan {
            let Some(before) = lines.last_mut() else { return Err(index + 1) };
            // A backslash at the end joins without a space, and one at the beginning keeps the space after it.
            if escaped {
                before.words.truncate(from);
                before.words.push_str(words.strip_prefix('\\').unwrap_or(words));
            } else {
                before.words.push(' ');
                before.words.push_str(words);
            }
            scan = open_from(&before.words, from);
            continue;
        }
        if words.is_empty() || words == "---" {
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        scan = start_of_quoted(words).and_then(|start| open_from(words, start));
        lines.push(YamlLine { number: index + 1, indent, words: words.to_owned() });
    }
    match (scan, lines.last()) {
        (Some(_), Some(line)) => Err(line.number),
        _ => Ok(lines),
    }
}

/// Where the characters of a double-quoted scalar begin, if the line's value is one.
fn start_of_quoted(words: &str) -> Option<usize> {
    words.find(": \"").map(|at| at + 3).or(words.starts_with("- \"").then_some(3))
}

/// Looks for the end of a quoted scalar from a place on. If it is not there: where to look on once more words follow,
/// and whether a backslash that joins them stands there.
fn open_from(words: &str, from: usize) -> Option<(usize, bool)> {
    let mut backslash = None;
    for (at, c) in words.get(from..).unwrap_or("").char_indices() {
        backslash = match (backslash, c) {
            (None, '"') => return None,
            (None, '\\') => Some(from + at),
            _ => None,
        };
    }
    Some((backslash.unwrap_or(words.len()), backslash.is_some()))
}

struct YamlReader {
    lines: Vec<YamlLine>,
    at: usize,
}

impl YamlReader {
    /// The mapping or list at this indent.
    fn block(&mut self, indent: usize, depth: usize) -> Result<Json, usize> {
        let Some(line) = self.lines.get(self.at).filter(|line| line.indent == indent) else {
            return Ok(Json::Null);
        };
        if depth > DEPTH_MAX {
            return Err(line.number);
        }
        if line.words == "-" || line.words.starts_with("- ") {
            self.list(indent, depth)
        } else {
            self.mapping(indent, depth)
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Json, usize> {
        let mut items = Vec::new();
        while let Some(line) = self.lines.get_mut(self.at).filter(|line| line.indent == indent) {
            let Some(rest) = line.words.strip_prefix('-').map(|rest| rest.trim_start().to_owned()) else {
                break;
            };
            if split_key(&rest).is_some() {
                // `- key: value` begins a mapping that stands two further in.
                line.indent = indent + (line.words.len() - rest.len());
                let inner = line.indent;
                line.words = rest;
                items.push(self.block(inner, depth + 1)?);
            } else {
                let number = line.number;
                items.push(scalar(&rest).ok_or(number)?);
                self.at += 1;
            }
        }
        Ok(Json::List(items))
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Result<Json, usize> {
        let mut members = Vec::new();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent == indent) {
            if line.words.starts_with("- ") {
                break;
            }
            let number = line.number;
            let (key, rest) = split_key(&line.words).ok_or(number)?;
            let (key, rest) = (key.trim_matches('"').to_owned(), rest.to_owned());
            self.at += 1;
            let value =
                if rest.is_empty() { self.nested(indent, depth)? } else { scalar(&rest).ok_or(number)? };
            members.push((key, value));
        }
        Ok(Json::Object(members))
    }

    /// What follows `key:`: something further in, or a list at the same indent.
    fn nested(&mut self, indent: usize, depth: usize) -> Result<Json, usize> {
        match self.lines.get(self.at) {
            Some(next) if next.indent > indent => {
                let inner = next.indent;
                self.block(inner, depth + 1)
            }
            Some(next) if next.indent == indent && next.words.starts_with('-') => {
                self.list(indent, depth + 1)
            }
            _ => Ok(Json::Null),
        }
    }
}

/// `key: rest` or `key:`; none for a scalar.
fn split_key(words: &str) -> Option<(&str, &str)> {
    if words.starts_with('"') || words.starts_with('\'') {
        return None;
    }
    match words.split_once(": ") {
        Some((key, rest)) => Some((key, rest.trim())),
        None => words.strip_suffix(':').map(|key| (key, "")),
    }
}

fn scalar(words: &str) -> Option<Json> {
    if words.starts_with('"') {
        return serde_json::from_str::<String>(words).ok().map(Json::Text);
    }
    Some(match words {
        "null" | "~" => Json::Null,
        "true" | "false" => Json::Bool(words == "true"),
        "[]" => Json::List(Vec::new()),
        "{}" => Json::Object(Vec::new()),
        _ if words.starts_with(['[', '{', '&', '*', '|', '>', '\'']) => return None,
        _ if words.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) => {
            Json::Number(words.to_owned())
        }
        _ => Json::Text(words.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jacksons_form_is_read() {
        let text = "_id: null\nname: \"a \\\"b\\\": c\"\nconfig:\n  blockSize: 1048576\n  on: true\n  none: []\n\
                    operations:\n- ioMode: \"READ\"\n  samples:\n  - sn: 1\n    bw: 523.4567\n  - sn: 2\n    bw: 1.0E7\n\
                    - ioMode: \"WRITE\"\n  samples: []\ndir: \"/long/\\\n  \\ path\"\n";
        let tree = parse(text).unwrap();
        assert_eq!(tree.text_of("name"), Some("a \"b\": c"));
        assert_eq!(tree.text_of("dir"), Some("/long/ path"));
        assert_eq!(tree.get("config").unwrap().count_of("blockSize"), Some(1_048_576));
        let operations = tree.get("operations").unwrap().items();
        assert_eq!(operations.len(), 2);
        let samples = operations[0].get("samples").unwrap().items();
        assert_eq!(samples[1].text_of("bw"), Some("1.0E7"));
        assert_eq!(operations[1].text_of("ioMode"), Some("WRITE"));
    }

    #[test]
    fn what_is_not_read_names_its_line() {
        assert_eq!(parse("a: 1\nb: [1, 2]\n"), Err(2));
        assert_eq!(parse("a: 1\n  b: 2\n"), Err(2));
        assert_eq!(parse("a: \"open\nb: 2\n"), Err(1));
        let deep: String = (0..99).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert_eq!(parse(&deep), Err(34));
    }
}
