//! The reader's preferences in each request.

use crate::gate::cookies;
use axum::http::HeaderMap;
use kurabe_chart::Theme;
use kurabe_core::{Lang, words::Keyword};

/// The reader's language and theme, from the browser's cookies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) lang: Lang,
    pub(crate) theme: Theme,
}

/// Cookies with the reader's preferences. They grant no rights.
pub(crate) const LANG_COOKIE: &str = "kurabe-lang";
pub(crate) const THEME_COOKIE: &str = "kurabe-theme";

impl Reader {
    pub(crate) fn of(headers: &HeaderMap, usual: Lang) -> Self {
        let value = |name| cookies(headers).find(|(cookie, _)| *cookie == name).map(|(_, value)| value);
        Self {
            lang: value(LANG_COOKIE).map_or(usual, Lang::from_locale),
            theme: value(THEME_COOKIE).and_then(Theme::of_word).unwrap_or_default(),
        }
    }
}
