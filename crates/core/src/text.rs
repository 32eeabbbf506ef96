//! Sentences that people read, in both languages side by side.
//!
//! The model: a `Text` is written in English and Japanese at the place where it arises (`text!`), so a missing
//! translation is a compile error and no catalogue of keys can drift. The edge picks the language.

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// English.
    pub en: String,
    /// Japanese.
    pub ja: String,
}

impl Text {
    /// The same words in both languages: a name, a figure, a message of the operating system.
    pub fn same(words: impl Into<String>) -> Self {
        let en = words.into();
        Self { ja: en.clone(), en }
    }

    /// The sentence in one language, taken out.
    pub fn take(self, lang: Lang) -> String {
        match lang {
            Lang::En => self.en,
            Lang::Ja => self.ja,
        }
    }

    /// The sentence in one language.
    pub fn get(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.ja)
    }
}

/// Builds a [`Text`](crate::Text) from an English and a Japanese format string and their common arguments.
#[macro_export]
macro_rules! text {
    ($en:literal, $ja:literal $(, $($args:tt)*)?) => {
        $crate::Text { en: format!($en $(, $($args)*)?), ja: format!($ja $(, $($args)*)?) }
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
    fn locales_choose_the_language() {
        assert_eq!(Lang::from_locale("ja_JP.UTF-8"), Lang::Ja);
        assert_eq!(Lang::from_locale("jam_JM"), Lang::En);
        assert_eq!(Lang::from_locale("C"), Lang::En);
    }
}
