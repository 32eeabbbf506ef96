//! User-visible sentences in both languages.
//!
//! A `Text` is written in English and Japanese where it is created (`text!`), so a missing
//! translation is a compile error, and there is no catalogue of keys that could become outdated.
//! The front end selects the language. A text keeps its references to the command line
//! ([`Mention`](crate::mention::Mention)), so the front end can reword them as well.

use crate::{mention, shown, system_words};
use serde::{Deserialize, Serialize};

/// A language of texts for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
}

impl Lang {
    /// Returns the language of a locale name. `ja_JP.UTF-8` is Japanese; all others are English.
    pub fn from_locale(locale: &str) -> Self {
        if locale == "ja" || locale.starts_with("ja_") || locale.starts_with("ja-") {
            Self::Ja
        } else {
            Self::En
        }
    }

    /// Returns the literal for this language.
    pub fn pick<'a>(self, en: &'a str, ja: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Ja => ja,
        }
    }
}

/// A sentence in both languages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// English.
    pub en: String,
    /// Japanese.
    pub ja: String,
    /// Both languages with marks around their mentions, if there are any.
    #[serde(skip)]
    marked: Option<Box<[String; 2]>>,
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        (&self.en, &self.ja) == (&other.en, &other.ja)
    }
}

impl Eq for Text {}

impl Text {
    /// Creates a sentence from its English and Japanese text.
    pub fn of(en: impl Into<String>, ja: impl Into<String>) -> Self {
        let [en, ja] = [en.into(), system_words::in_japanese(ja.into())];
        if !mention::is_marked(&en) && !mention::is_marked(&ja) {
            return Self { en, ja, marked: None };
        }
        Self { en: mention::typed(&en), ja: mention::typed(&ja), marked: Some(Box::new([en, ja])) }
    }

    /// Creates a text that is the same in both languages: a name, a figure, a message of the
    /// operating system.
    pub fn same(words: impl Into<String>) -> Self {
        let en = words.into();
        Self::of(en.clone(), en)
    }

    /// Returns the text in one language with marks around its mentions, for use in another text.
    pub fn marked(&self, lang: Lang) -> &str {
        match &self.marked {
            Some(marked) => lang.pick(&marked[0], &marked[1]),
            None => self.get(lang),
        }
    }

    /// Returns whether the text mentions anything of the command line.
    pub fn mentions_any(&self) -> bool {
        self.marked.is_some()
    }

    /// Returns whether the text is empty in both languages.
    pub fn is_empty(&self) -> bool {
        self.en.is_empty() && self.ja.is_empty()
    }

    /// Applies the same change to both languages.
    pub fn map(&self, change: impl Fn(&str) -> String) -> Self {
        Self::of(change(self.marked(Lang::En)), change(self.marked(Lang::Ja)))
    }

    /// Appends a text in both languages.
    pub fn push(&mut self, more: &Self) {
        let joined = |lang| [self.marked(lang), more.marked(lang)].concat();
        *self = Self::of(joined(Lang::En), joined(Lang::Ja));
    }

    /// Joins texts with an English and a Japanese separator.
    pub fn join(texts: impl IntoIterator<Item = Self>, between: [&str; 2]) -> Self {
        let texts: Vec<Self> = texts.into_iter().collect();
        let join =
            |lang, between| texts.iter().map(|text| text.marked(lang)).collect::<Vec<_>>().join(between);
        Self::of(join(Lang::En, between[0]), join(Lang::Ja, between[1]))
    }

    /// Joins clauses of a sentence: `a; b`, `a。b`.
    pub fn clauses(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(texts, ["; ", "。"])
    }

    /// Joins texts as a list: `a, b`, `a、b`.
    pub fn list(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(texts, [", ", "、"])
    }

    /// Joins sentences. Japanese has no space between them.
    pub fn sentences(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(texts, [" ", ""])
    }

    /// Converts the text into an owned string in one language.
    pub fn take(self, lang: Lang) -> String {
        match lang {
            Lang::En => self.en,
            Lang::Ja => self.ja,
        }
    }

    /// Returns the sentence in one language, escaped as part of a line.
    pub fn line(&self, lang: Lang) -> String {
        shown::line(self.get(lang))
    }

    /// Returns the sentence in one language.
    pub fn get(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.ja)
    }
}

/// Converts a name, a figure or a message of the operating system into a text that is the same in
/// both languages.
impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::same(words)
    }
}

/// Builds a [`Text`](crate::Text) from an English and a Japanese format string and their common
/// arguments. Variables listed after a semicolon are texts themselves, and each format string
/// receives them in its own language.
///
/// An English format string alone is shown in both languages until it is translated. Its arguments
/// are in braces. A test counts these places, and a package is not built with any of them.
#[macro_export]
macro_rules! text {
    ($en:literal $(; $($part:ident),+ $(,)?)?) => {
        $crate::text!($en, $en $(; $($part),+)?)
    };
    ($en:literal, $ja:literal; $($part:ident),+ $(,)?) => {
        $crate::Text::of(
            { $(let $part = $part.marked($crate::Lang::En);)+ format!($en) },
            { $(let $part = $part.marked($crate::Lang::Ja);)+ format!($ja) },
        )
    };
    ($en:literal, $ja:literal $(, $($args:tt)*)?) => {
        $crate::Text::of(format!($en $(, $($args)*)?), format!($ja $(, $($args)*)?))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_reach_both_languages() {
        let path = "/x";
        let text = text!("no {path} in {}", "{} に {path} がありません", 3);
        assert_eq!(text.get(Lang::En), "no /x in 3");
        assert_eq!(text.get(Lang::Ja), "3 に /x がありません");
    }

    #[test]
    fn english_alone_is_shown_in_both_languages_until_it_is_translated() {
        let (path, place) = ("/x", text!("write", "書き込み"));
        assert_eq!(text!("no {path}"), Text::same("no /x"));
        let text = text!("stalled in {place}"; place);
        assert_eq!((text.get(Lang::En), text.get(Lang::Ja)), ("stalled in write", "stalled in 書き込み"));
    }

    #[test]
    fn texts_make_texts() {
        let (place, count) = (text!("write", "書き込み"), 3);
        let sentence = text!("{count} stalls in {place}", "{place}で停滞 {count} 回"; place);
        assert_eq!(sentence, text!("3 stalls in write", "書き込みで停滞 3 回"));
        let list = Text::list([place, Text::same("p99")]);
        assert_eq!((list.get(Lang::En), list.get(Lang::Ja)), ("write, p99", "書き込み、p99"));
        assert_eq!(
            Text::sentences([sentence.clone(), sentence]).ja,
            "書き込みで停滞 3 回書き込みで停滞 3 回"
        );
    }

    #[test]
    fn locales_choose_the_language() {
        assert_eq!(Lang::from_locale("ja_JP.UTF-8"), Lang::Ja);
        assert_eq!(Lang::from_locale("jam_JM"), Lang::En);
        assert_eq!(Lang::from_locale("C"), Lang::En);
    }
}
