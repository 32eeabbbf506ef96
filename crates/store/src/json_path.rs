//! Names the field at a position in a JSON text.
//!
//! serde_json gives the line and column of an error, and not its field. A deserializer that tracks the
//! path would compile every type of a record a second time, a fiftieth of the program.

use std::fmt::Write;

/// An open object or array.
enum Frame {
    /// The key read last. The next string is a key if `expects_key`.
    Object { key: String, expects_key: bool },
    /// Index of the current element.
    Array(usize),
}

/// Returns the path of the innermost field that is open at a position, such as `cells[2].label`. Empty
/// at the root. Lines count from 1, and `column` is the number of bytes read of the line.
pub(crate) fn path_at(text: &[u8], line: usize, column: usize) -> String {
    let line_start: usize =
        text.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let read = &text[..text.len().min(line_start + column)];
    let mut open: Vec<Frame> = Vec::new();
    let mut at = 0;
    while let Some(byte) = read.get(at) {
        at += 1;
        match (byte, open.last_mut()) {
            (b'{', _) => open.push(Frame::Object { key: String::new(), expects_key: true }),
            (b'[', _) => open.push(Frame::Array(0)),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(Frame::Array(index))) => *index += 1,
            (b',', Some(Frame::Object { expects_key, .. })) => *expects_key = true,
            (b'"', frame) => {
                let string = &read[at..at + string_length(&read[at..])];
                at += string.len() + 1;
                if let Some(Frame::Object { key, expects_key: expects_key @ true }) = frame {
                    *key = String::from_utf8_lossy(string).into_owned();
                    *expects_key = false;
                }
            }
            _ => {}
        }
    }
    open.iter().fold(String::new(), |mut path, frame| {
        // Writing to a string does not fail.
        let _ = match frame {
            Frame::Array(index) => write!(path, "[{index}]"),
            Frame::Object { key, .. } if path.is_empty() || key.is_empty() => write!(path, "{key}"),
            Frame::Object { key, .. } => write!(path, ".{key}"),
        };
        path
    })
}

/// Returns the length in bytes of a string up to its closing quote, or to the end.
fn string_length(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let is_end = |byte: &u8| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    };
    text.iter().position(is_end).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::path_at;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only errors are looked at")]
    struct Part {
        name: String,
        count: u8,
        #[serde(default)]
        parts: Vec<Part>,
    }

    #[test]
    fn the_field_of_an_error_is_named() {
        for (text, path) in [
            (r#"{"name": "a", "count": 300}"#, "count"),
            (r#"{"name": 7, "count": 3}"#, "name"),
            (
                r#"{"name": "a \" b", "count": 1, "parts": [{"name": "b", "count": 1}, {"name": "c", "count": "x"}]}"#,
                "parts[1].count",
            ),
            ("{\"name\": \"a\",\n \"count\": 1,\n \"parts\": [\n  {\"name\": \"b\"}\n ]\n}", "parts[0]"),
            (r#"{"name": "a", "count": 1, "parts": 7}"#, "parts"),
            (r#"{"count": 1}"#, ""),
            ("7", ""),
        ] {
            let error = serde_json::from_str::<Part>(text).unwrap_err();
            assert_eq!(path_at(text.as_bytes(), error.line(), error.column()), path, "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_and_position_have_a_path(text in any::<Vec<u8>>(), line in 0usize..9, column in 0usize..99) {
            path_at(&text, line, column);
        }
    }
}
