//! JSON that keeps numbers as they were printed.
//!
//! The model: an imported figure keeps its characters, so a number is stored as text until a figure is
//! built from it. A file can contain several documents one after the other, and other lines between
//! them: fio writes its warnings to the same stream, and elbencho appends.

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Maximum nesting depth. Results of tools are not nested deeper.
const DEPTH_MAX: u32 = 32;
/// Maximum number of values in a tree. A fio job with the bins of all its latencies has 30,000. A
/// longer list is read item by item (`items`).
const VALUES_MOST: usize = 100_000;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// As printed.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// In the order of the file.
    Object(Vec<(String, Json)>),
}

/// The reason and the one-based line of a JSON error.
#[derive(Debug, PartialEq)]
pub(super) struct JsonError {
    pub(super) line: usize,
    pub(super) cause: String,
}

impl Json {
    /// Returns a member of an object.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the members of an object; none for any other value.
    pub(super) fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    /// Returns the items of a list; none for any other value.
    pub(super) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Returns the items of a member.
    pub(super) fn items_of(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// Returns the text of a string, or the characters of a number.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(words) | Self::Number(words) => Some(words),
            _ => None,
        }
    }

    /// Returns the text of a member.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Returns a whole number of a member.
    pub(super) fn count_of(&self, key: &str) -> Option<u64> {
        self.text_of(key)?.trim().parse().ok()
    }
}

/// Returns all documents of a text, each parsed on demand.
pub(super) fn documents(text: &str) -> impl Iterator<Item = Result<Json, JsonError>> {
    raw_documents(text).map(|raw| {
        let (line, raw) = raw?;
        tree(raw).map_err(|cause| JsonError { line, cause })
    })
}

/// Returns the documents of a text that begin with `{` at the start of a line, except for spaces, each
/// with that line. Other lines between them are skipped, including shell lines that begin with `{`: no
/// key follows it. An error ends the iteration.
pub(super) fn raw_documents(text: &str) -> impl Iterator<Item = Result<(usize, &str), JsonError>> {
    let (mut rest, mut line) = (text, 1);
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let begun = line;
            let (raw, after) = match object(rest) {
                Some(Ok((raw, after))) => (Some(raw), after),
                Some(Err(error)) if !is_no_object(rest, &error) => {
                    rest = "";
                    let line = line + error.line().saturating_sub(1);
                    return Some(Err(JsonError { line, cause: error.to_string() }));
                }
                _ => (None, rest.split_once('\n').map_or("", |(_, next)| next)),
            };
            line += rest[..rest.len() - after.len()].matches('\n').count();
            rest = after;
            if let Some(raw) = raw {
                return Some(Ok((begun, raw)));
            }
        }
        None
    })
}

/// Iterates over the items of a list without parsing them. A value that is not a list has none. The
/// syntax of `raw` must have been checked.
pub(super) fn items(raw: &str) -> impl Iterator<Item = &str> + Clone {
    let mut rest = raw.trim_start().strip_prefix('[').unwrap_or("");
    std::iter::from_fn(move || {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let item = stream.next()?.ok()?;
        let after = rest[stream.byte_offset()..].trim_start();
        rest = after.strip_prefix(',').unwrap_or("");
        Some(item.get())
    })
}

/// Returns the members of an object with these keys unparsed, and the other members as a tree.
pub(super) fn parted<'a, const COUNT: usize>(
    raw: &'a str,
    keys: [&str; COUNT],
) -> Result<(Json, [Option<&'a str>; COUNT]), String> {
    let (mut values, mut parts) = (0, [None; COUNT]);
    let mut rest = Vec::new();
    each_member(raw, &mut |key, raw| {
        match keys.iter().position(|name| *name == key) {
            Some(place) => parts[place] = Some(raw),
            None => rest.push((key, node(raw, 1, &mut values)?)),
        }
        Ok(())
    })?;
    Ok((Json::Object(rest), parts))
}

/// Passes on the members of an object in their order, with unparsed values.
fn each_member<'a>(
    raw: &'a str,
    take: &mut dyn FnMut(String, &'a str) -> Result<(), String>,
) -> Result<(), String> {
    struct Members<'t, 'a>(&'t mut dyn FnMut(String, &'a str) -> Result<(), String>);
    impl<'a> Visitor<'a> for Members<'_, 'a> {
        type Value = ();

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                (self.0)(key, value.get()).map_err(A::Error::custom)?;
            }
            Ok(())
        }
    }
    let read = serde_json::Deserializer::from_str(raw).deserialize_map(Members(take));
    read.map_err(|error| error.to_string())
}

/// Returns the object at the start of a text, except for spaces, and the rest. `None` if the text does
/// not begin with an object.
pub(super) fn object(text: &str) -> Option<serde_json::Result<(&str, &str)>> {
    let start = text.trim_start_matches([' ', '\t']);
    let mut stream = serde_json::Deserializer::from_str(start).into_iter::<&RawValue>();
    let object = if start.starts_with('{') { stream.next()? } else { return None };
    Some(object.map(|object| (object.get(), &start[stream.byte_offset()..])))
}

/// Returns whether the text up to the error is not a damaged object.
fn is_no_object(text: &str, error: &serde_json::Error) -> bool {
    let object = text.trim_start_matches([' ', '\t']);
    !error.is_eof() && error.line() == 1 && !object.chars().take(error.column()).any(|c| c == '"')
}

/// Parses a value completely.
pub(super) fn tree(raw: &str) -> Result<Json, String> {
    node(raw, 0, &mut 0)
}

/// Parses a value at a depth of nesting. `values` counts the values of the whole tree.
fn node(raw: &str, depth: u32, values: &mut usize) -> Result<Json, String> {
    if depth > DEPTH_MAX {
        return Err(format!("more than {DEPTH_MAX} values within each other"));
    }
    *values += 1;
    if *values > VALUES_MOST {
        return Err(format!("more than {VALUES_MOST} values in one object"));
    }
    let raw = raw.trim();
    Ok(match raw.as_bytes().first() {
        Some(b'{') => {
            let mut members = Vec::new();
            each_member(raw, &mut |key, raw| {
                members.push((key, node(raw, depth + 1, values)?));
                Ok(())
            })?;
            Json::Object(members)
        }
        Some(b'[') => {
            let items = items(raw).map(|raw| node(raw, depth + 1, values));
            Json::List(items.collect::<Result<_, _>>()?)
        }
        Some(b'"') => Json::Text(serde_json::from_str(raw).map_err(|error| error.to_string())?),
        Some(b't' | b'f') => Json::Bool(raw == "true"),
        Some(b'n') | None => Json::Null,
        Some(_) => Json::Number(raw.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<Json>, JsonError> {
        documents(text).collect()
    }

    #[test]
    fn items_come_one_by_one() {
        let list = "[ {\"a\": [1, 2]} , 3,\"x,]\", null]";
        assert_eq!(items(list).collect::<Vec<_>>(), ["{\"a\": [1, 2]}", "3", "\"x,]\"", "null"]);
        for none in ["[]", "{}", "", "3"] {
            assert_eq!(items(none).count(), 0, "{none}");
        }
        let (head, [jobs, other]) = parted("{\"a\": 1, \"jobs\": [1, 2]}", ["jobs", "other"]).unwrap();
        assert_eq!((head.text_of("a"), jobs, other), (Some("1"), Some("[1, 2]"), None));
        let many = format!("{{\"a\":[{}0]}}", "0,".repeat(VALUES_MOST));
        assert!(all(&many).unwrap_err().cause.contains("values in one object"));
    }

    #[test]
    fn numbers_keep_their_characters_and_members_their_order() {
        let text =
            "warning: something\n{\"b\": 1.500, \"a\": [true, null, \"x\\u00e9\"]}\n{\"c\": 1e3} tail\nend";
        let trees = all(text).unwrap();
        let expected = Json::List(vec![Json::Bool(true), Json::Null, Json::Text("xé".to_owned())]);
        assert_eq!(
            trees[0].members(),
            [("b".to_owned(), Json::Number("1.500".to_owned())), ("a".to_owned(), expected)]
        );
        assert_eq!(trees[1].text_of("c"), Some("1e3"));
        assert_eq!(trees.len(), 2);
    }

    #[test]
    fn a_fault_tells_its_line() {
        assert_eq!(all("note\n{\"a\": 1,\n\"b\": }\n").unwrap_err().line, 3);
        assert_eq!(all("{\"a\": 1}\n{\"a\":").unwrap_err().line, 2);
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(all(&deep).unwrap_err().cause.contains("within each other"));
        assert_eq!(all(""), Ok(Vec::new()));
        assert_eq!(all("{ echo a; }\n{\"a\": 1}\n").map(|trees| trees.len()), Ok(1));
        assert_eq!(all("{ \"a\"; }\n").unwrap_err().line, 1);
    }
}
