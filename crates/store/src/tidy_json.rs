//! Readable JSON: a field per line, but a histogram on one line, and one line per interval of a
//! series and per stall. Breaking those as well would make a file five times as long and no
//! clearer.
//!
//! The formatter tracks a depth. While it is above zero, the output is inside an array that stays
//! on one line.

use crate::json::{self, Unwritable};
use serde::Serialize;
use serde::ser::Error as _;
use serde_json::ser::{Formatter, PrettyFormatter};
use std::io::{Result, Write};

/// Keys of arrays that stay on one line.
const FLAT: [&str; 2] = ["buckets", "points"];
/// Keys of arrays whose elements each stay on one line.
const FLAT_ELEMENTS: [&str; 6] = ["intervals", "stalls", "samples", "parameters", "shares", "counts"];

/// Returns the JSON of a value, with a line break at the end.
pub(crate) fn to_tidy_text(value: &impl Serialize) -> std::result::Result<String, Unwritable> {
    let mut bytes = Vec::new();
    value
        .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Tidy::default()))
        .map_err(Unwritable)?;
    bytes.push(b'\n');
    let text = String::from_utf8(bytes).map_err(|error| Unwritable(serde_json::Error::custom(error)))?;
    Ok(json::shown(text))
}

#[derive(Default)]
struct Tidy {
    pretty: PrettyFormatter<'static>,
    flat_depth: usize,
    elements_are_flat: bool,
    key: String,
    in_key: bool,
}

impl Tidy {
    /// Enters a bracket that stays on one line, if it does.
    fn opens_flat(&mut self, starts: bool) -> bool {
        if starts || self.flat_depth > 0 {
            self.flat_depth += 1;
            return true;
        }
        false
    }

    fn closes_flat(&mut self) -> bool {
        let is_flat = self.flat_depth > 0;
        self.flat_depth = self.flat_depth.saturating_sub(1);
        is_flat
    }
}

fn separate<W: ?Sized + Write>(writer: &mut W, first: bool) -> Result<()> {
    if first { Ok(()) } else { writer.write_all(b", ") }
}

impl Formatter for Tidy {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if self.opens_flat(FLAT.contains(&self.key.as_str())) {
            return writer.write_all(b"[");
        }
        self.elements_are_flat = FLAT_ELEMENTS.contains(&self.key.as_str());
        self.pretty.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if self.closes_flat() {
            return writer.write_all(b"]");
        }
        self.elements_are_flat = false;
        self.pretty.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        if self.flat_depth > 0 {
            separate(writer, first)
        } else {
            self.pretty.begin_array_value(writer, first)
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if self.flat_depth > 0 { Ok(()) } else { self.pretty.end_array_value(writer) }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if self.opens_flat(self.elements_are_flat) {
            return writer.write_all(b"{ ");
        }
        self.pretty.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if self.closes_flat() { writer.write_all(b" }") } else { self.pretty.end_object(writer) }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.key.clear();
        self.in_key = true;
        if self.flat_depth > 0 {
            separate(writer, first)
        } else {
            self.pretty.begin_object_key(writer, first)
        }
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _writer: &mut W) -> Result<()> {
        self.in_key = false;
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if self.flat_depth > 0 { Ok(()) } else { self.pretty.end_object_value(writer) }
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> Result<()> {
        if self.in_key {
            self.key.push_str(fragment);
        }
        writer.write_all(fragment.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn histograms_and_intervals_stay_on_their_lines() {
        let value = json!({
            "a": { "buckets": [[1, 2], [3, 4]], "empty": [], "none": {} },
            "b": { "intervals": [{ "x": 1, "y": [2] }, { "x": 3, "y": [] }], "last": ["buckets", "}"] },
        });
        let tidy = r#"{
  "a": {
    "buckets": [[1, 2], [3, 4]],
    "empty": [],
    "none": {}
  },
  "b": {
    "intervals": [
      { "x": 1, "y": [2] },
      { "x": 3, "y": [] }
    ],
    "last": [
      "buckets",
      "}"
    ]
  }
}
"#;
        let words = to_tidy_text(&value).unwrap();
        assert_eq!(words, tidy);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&words).unwrap(), value);
    }
}
