//! Language and theme, as links that work without JavaScript. They choose what the reader sees and nothing else.

use crate::shared::{LANG_COOKIE, THEME_COOKIE};
use axum::extract::{Path, Query};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use kurabe_chart::Theme;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct WayBack {
    #[serde(default)]
    back: String,
}

/// `GET /choose/WHAT/WORD`
pub(crate) async fn choose(
    Path((what, word)): Path<(String, String)>,
    Query(WayBack { back }): Query<WayBack>,
) -> Response {
    let choice = match (what.as_str(), word.as_str()) {
        ("lang", "ja" | "en") => Some((LANG_COOKIE, word.as_str())),
        ("theme", word) => Theme::named(word).map(|theme| (THEME_COOKIE, theme.word())),
        _ => None,
    };
    let Some((name, word)) = choice else { return StatusCode::NOT_FOUND.into_response() };
    let cookie = format!("{name}={word}; Path=/; Max-Age=31536000; SameSite=Strict");
    ([(header::SET_COOKIE, cookie)], Redirect::to(own_page(&back))).into_response()
}

/// The page to come back to: one of this server, or the first.
fn own_page(back: &str) -> &str {
    let is_path = back.starts_with('/') && !back.starts_with("//");
    let is_plain = back.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_path && is_plain { back } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_back_stays_on_this_server() {
        assert_eq!(own_page("/runs?q=a%20b"), "/runs?q=a%20b");
        for foreign in
            ["", "//evil.example/", "https://evil.example", "/\\evil.example", "/a\r\nSet-Cookie: b", "evil"]
        {
            assert_eq!(own_page(foreign), "/", "{foreign:?}");
        }
    }
}
