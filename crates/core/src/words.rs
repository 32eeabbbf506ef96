//! Settings with a fixed set of keywords, in profiles, on command lines and in records.

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

/// Returns all keywords of a setting, in order.
pub fn all_words<T: Keyword>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(name, _)| *name).collect()
}
