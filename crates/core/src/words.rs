//! Settings that are one of a few words, in profiles, on command lines and in records.

/// A setting that is one of a few words.
pub trait Keyword: Copy + PartialEq + 'static {
    /// The words, each with what it stands for. Where two mean the same, the first is written.
    const WORDS: &'static [(&'static str, Self)];

    /// What a word stands for.
    fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }

    /// Its word; empty for a value that has none.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }
}

/// All words of a setting, in their order.
pub fn all_words<T: Keyword>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(name, _)| *name).collect()
}
