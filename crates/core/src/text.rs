//! Sentences that people read, in both languages side by side.
//!
//! The model: a `Text` is written in English and Japanese at the place where it arises (`text!`), so a missing
//! translation is a compile error and no catalogue of keys can drift. The edge picks the language. What a text mentions of
//! the command line ([`Mention`](crate::mention::Mention)) stays with it, so that the edge can word that, too.

use crate::{mention, shown, system_words};
use serde::{Deserialize, Serialize};

/// A language that kurabe speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
}

impl Lang {
    /// The language that a locale name asks for (`ja_JP.UTF-8` is Japanese; everything else English).
    pub fn from_locale(locale: &str) -> Self {
        if locale == "ja" || locale.starts_with("ja_") || locale.starts_with("ja-") {
            Self::Ja
        } else {
            Self::En
        }
    }

    /// One of two literals.
    pub fn pick<'a>(self, en: &'a str, ja: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Ja => ja,
        }
    }
}

/// One sentence in both languages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// English.
    pub en: String,
    /// Japanese.
    pub ja: String,
    /// Both with marks around what they mention, if they mention anything.
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
    /// A sentence of its English and its Japanese words.
    pub fn of(en: impl Into<String>, ja: impl Into<String>) -> Self {
        let [en, ja] = [en.into(), system_words::in_japanese(ja.into())];
        if !mention::is_marked(&en) && !mention::is_marked(&ja) {
            return Self { en, ja, marked: None };
        }
        Self { en: mention::typed(&en), ja: mention::typed(&ja), marked: Some(Box::new([en, ja])) }
    }

    /// The same words in both languages: a name, a figure, a message of the operating system.
    pub fn same(words: impl Into<String>) -> Self {
        let en = words.into();
        Self::of(en.clone(), en)
    }

    /// The words of a language with marks around what they mention: to become a part of another text.
    pub fn marked(&self, lang: Lang) -> &str {
        match &self.marked {
            Some(marked) => lang.pick(&marked[0], &marked[1]),
            None => self.get(lang),
        }
    }

    /// Whether it mentions anything of the command line.
    pub fn mentions_any(&self) -> bool {
        self.marked.is_some()
    }

    /// Whether neither language has a word.
    pub fn is_empty(&self) -> bool {
        self.en.is_empty() && self.ja.is_empty()
    }

    /// The words of both languages changed in the same way.
    pub fn map(&self, change: impl Fn(&str) -> String) -> Self {
        Self::of(change(self.marked(Lang::En)), change(self.marked(Lang::Ja)))
    }

    /// Adds words of each language behind those that are there.
    pub fn push(&mut self, more: &Self) {
        let joined = |lang| [self.marked(lang), more.marked(lang)].concat();
        *self = Self::of(joined(Lang::En), joined(Lang::Ja));
    }

    /// Texts behind each other, with an English and a Japanese separator between them.
    pub fn join(texts: impl IntoIterator<Item = Self>, between: [&str; 2]) -> Self {
        let texts: Vec<Self> = texts.into_iter().collect();
        let join =
            |lang, between| texts.iter().map(|text| text.marked(lang)).collect::<Vec<_>>().join(between);
        Self::of(join(Lang::En, between[0]), join(Lang::Ja, between[1]))
    }

    /// Clauses of a sentence: `a; b`, `a。b`.
    pub fn clauses(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(texts, ["; ", "。"])
    }

    /// Texts as a list: `a, b`, `a、b`.
    pub fn list(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(texts, [", ", "、"])
    }

    /// Sentences behind each other; Japanese has no space between them.
    pub fn sentences(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(texts, [" ", ""])
    }

    /// The sentence in one language, taken out.
    pub fn take(self, lang: Lang) -> String {
        match lang {
            Lang::En => self.en,
            Lang::Ja => self.ja,
        }
    }

    /// The sentence in one language as part of a line, whatever stands in it.
    pub fn line(&self, lang: Lang) -> String {
        shown::line(self.get(lang))
    }

    /// The sentence in one language.
    pub fn get(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.ja)
    }
}

/// A name, a figure, a message of the operating system: the same words in both languages.
impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::same(words)
    }
}

/// Builds a [`Text`](crate::Text) from an English and a Japanese format string and their common arguments. Variables named
/// behind a semicolon are texts themselves: each format string gets their words in its own language.
#[macro_export]
macro_rules! text {
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
