//! The sign-in page for browsers without a session, and how a session is obtained.

use super::frame::whole;
use super::kit::*;
use crate::reader::Reader;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect};
use serde_json::Value;

/// Renders the sign-in page. Its script takes the token from the address. Without JavaScript, the
/// user types it.
pub(crate) fn door(reader: Reader) -> Markup {
    let lang = reader.lang;
    let words = text!(
        "This page belongs to a kurabe process in a terminal. Open the address that it printed there; \
         each address admits one browser, once.",
        "このページは端末で動いている kurabe のものです。端末に表示されたアドレスを開いてください。1 つのアドレスで入れるのは、\
         1 つのブラウザーが 1 回だけです。"
    );
    let label = text!("or type the part after # in it", "または、アドレスの # より後ろを入力してください");
    let body = html! {
        body data-door="1" {
            main {
                h1 { "kurabe" }
                p #door { (words.get(lang)) }
                form method="post" action="/session" {
                    label for="word" { (label.get(lang)) }
                    input #word name="word" autocomplete="off" required maxlength="64";
                    button.main { (text!("open", "開く").get(lang)) }
                }
            }
        }
    };
    whole(reader, "kurabe", &body)
}

/// Handles `POST /session`: exchanges a token for a cookie. The body is JSON or the form of
/// [`door`].
pub(crate) fn enter(shared: &App, _: Lang, (headers, body): (HeaderMap, Bytes)) -> Result<Made> {
    let is_form = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www"));
    let body = String::from_utf8_lossy(&body);
    let word = match is_form {
        true => body.strip_prefix("word=").unwrap_or_default().trim().to_owned(),
        false => {
            let sent: Value = serde_json::from_str(&body).unwrap_or_default();
            sent["word"].as_str().unwrap_or_default().to_owned()
        }
    };
    let used = || {
        ErrorKind::Refused.error(text!(
            "this address was already used, or belongs to another kurabe process",
            "このアドレスは使用済みか、この kurabe のものではありません"
        ))
    };
    let cookie = shared.sessions.enter(&word)?.ok_or_else(used)?;
    let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", shared.cookie_name);
    let answer = match is_form {
        true => ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        false => (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response(),
    };
    Ok(Made::Other(answer))
}
