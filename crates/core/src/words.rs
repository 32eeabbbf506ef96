//! Settings with a fixed set of keywords, in profiles, on command lines and in records.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A setting with a fixed set of keywords.
pub trait Keyword: Copy + PartialEq + 'static {
    /// The keywords with their values. If two keywords have the same value, the first one is
    /// written.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the value of a keyword.
    fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }

    /// Returns the keyword of a value. Empty if the value has none.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }
}

/// A keyword in a record. A word of another version of kurabe is kept as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedWord<T> {
    /// A keyword.
    Known(T),
    /// Any other word.
    Other(String),
}

impl<T: Keyword> RecordedWord<T> {
    /// Returns the keyword, or the word as it was recorded.
    pub fn word(&self) -> &str {
        match self {
            Self::Known(value) => value.word(),
            Self::Other(word) => word,
        }
    }
}

impl<T: PartialEq> PartialEq<T> for RecordedWord<T> {
    fn eq(&self, other: &T) -> bool {
        matches!(self, Self::Known(value) if value == other)
    }
}

impl<T: Keyword> From<&str> for RecordedWord<T> {
    fn from(word: &str) -> Self {
        T::of_word(word).map_or_else(|| Self::Other(word.to_owned()), Self::Known)
    }
}

impl<T: Keyword> Serialize for RecordedWord<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de, T: Keyword> Deserialize<'de> for RecordedWord<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Self::from(word.as_str()))
    }
}

#[cfg(feature = "schema")]
impl<T> schemars::JsonSchema for RecordedWord<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RecordedWord".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// Returns all keywords of a setting, in order.
pub fn all_words<T: Keyword>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(name, _)| *name).collect()
}
