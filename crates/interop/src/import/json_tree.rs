//! JSON with numbers as they were printed.
//!
//! The model: an imported figure keeps its characters, so a number stays text here until a figure is made of it.
//! A file may hold several documents one after another, and lines that are none between them: fio writes its warnings
//! into the same stream, and elbencho appends.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Objects and lists deeper than this are no result of any tool.
const DEPTH_MAX: u32 = 32;

/// A value.
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

/// Why and where a text is no JSON; the line counts from 1.
#[derive(Debug, PartialEq)]
pub(super) struct JsonError {
    pub(super) line: usize,
    pub(super) cause: String,
}

impl Json {
    /// A member of an object.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Members of an object; none of anything else.
    pub(super) fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    /// Items of a list; none of anything else.
    pub(super) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Items of a member.
    pub(super) fn items_of(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// Text of a string, or the characters of a number.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(words) | Self::Number(words) => Some(words),
            _ => None,
        }
    }

    /// Text of a member.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// A whole number of a member.
    pub(super) fn count_of(&self, key: &str) -> Option<u64> {
        self.text_of(key)?.trim().parse().ok()
    }
}

/// All documents of a text.
pub(super) fn documents(text: &str) -> Result<Vec<Json>, JsonError> {
    let failed = |line: usize| move |cause| JsonError { line, cause };
    let trees = raw_documents(text)?.into_iter().map(|(line, raw)| tree(raw, 0).map_err(failed(line)));
    trees.collect()
}

/// The documents of a text that begin with `{` at the start of a line, blanks apart, each with that line. Other lines between them
/// are passed over, also those of a shell that begin so: no key follows their `{`.
pub(super) fn raw_documents(text: &str) -> Result<Vec<(usize, &str)>, JsonError> {
    let mut raws = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let after = match object(rest) {
            Some(Ok((raw, after))) => {
                raws.push((line, raw));
                after
            }
            Some(Err(error)) if !is_no_object(rest, &error) => {
                let line = line + error.line().saturating_sub(1);
                return Err(JsonError { line, cause: error.to_string() });
            }
            _ => rest.split_once('\n').map_or("", |(_, next)| next),
        };
        line += rest[..rest.len() - after.len()].matches('\n').count();
        rest = after;
    }
    Ok(raws)
}

/// The members of an object in their order, their values unread.
pub(super) fn raw_members(raw: &str) -> Result<Vec<(String, &RawValue)>, String> {
    struct BlocksInOrder;
    impl<'de> Visitor<'de> for BlocksInOrder {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    let members = serde_json::Deserializer::from_str(raw).deserialize_map(BlocksInOrder);
    members.map_err(|error| error.to_string())
}

/// The object that a text begins with, blanks apart, and what follows it; `None` if it begins with none.
pub(super) fn object(text: &str) -> Option<serde_json::Result<(&str, &str)>> {
    let start = text.trim_start_matches([' ', '\t']);
    let mut stream = serde_json::Deserializer::from_str(start).into_iter::<&RawValue>();
    let object = if start.starts_with('{') { stream.next()? } else { return None };
    Some(object.map(|object| (object.get(), &start[stream.byte_offset()..])))
}

/// Whether what was read up to the error is no object that was damaged.
fn is_no_object(text: &str, error: &serde_json::Error) -> bool {
    let object = text.trim_start_matches([' ', '\t']);
    !error.is_eof() && error.line() == 1 && !object.chars().take(error.column()).any(|c| c == '"')
}

/// A value within so many others.
pub(super) fn tree(raw: &str, depth: u32) -> Result<Json, String> {
    if depth > DEPTH_MAX {
        return Err(format!("more than {DEPTH_MAX} values within each other"));
    }
    let failed = |error: serde_json::Error| error.to_string();
    let raw = raw.trim();
    Ok(match raw.as_bytes().first() {
        Some(b'{') => {
            let members =
                raw_members(raw)?.into_iter().map(|(key, raw)| Ok((key, tree(raw.get(), depth + 1)?)));
            Json::Object(members.collect::<Result<_, String>>()?)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).map_err(failed)?;
            Json::List(items.iter().map(|raw| tree(raw.get(), depth + 1)).collect::<Result<_, _>>()?)
        }
        Some(b'"') => Json::Text(serde_json::from_str(raw).map_err(failed)?),
        Some(b't' | b'f') => Json::Bool(raw == "true"),
        Some(b'n') | None => Json::Null,
        Some(_) => Json::Number(raw.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_characters_and_members_their_order() {
        let text =
            "warning: something\n{\"b\": 1.500, \"a\": [true, null, \"x\\u00e9\"]}\n{\"c\": 1e3} tail\nend";
        let trees = documents(text).unwrap();
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
        assert_eq!(documents("note\n{\"a\": 1,\n\"b\": }\n").unwrap_err().line, 3);
        assert_eq!(documents("{\"a\": 1}\n{\"a\":").unwrap_err().line, 2);
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(documents(&deep).unwrap_err().cause.contains("within each other"));
        assert_eq!(documents(""), Ok(Vec::new()));
        assert_eq!(documents("{ echo a; }\n{\"a\": 1}\n").map(|trees| trees.len()), Ok(1));
        assert_eq!(documents("{ \"a\"; }\n").unwrap_err().line, 1);
    }
}
