//! The door: what who has no session sees, and how one is got.

use crate::assets::links;
use crate::pages::{Visit, action, piece};
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kurabe_core::{ErrorKind, Lang, text};
use maud::{DOCTYPE, Markup, html};
use serde_json::{Value, json};

/// What a browser without a session is shown. Its script takes the word out of the address; without one it is typed.
pub(crate) fn door(lang: Lang) -> Markup {
    let words = text!(
        "This page belongs to a kurabe that runs in a terminal. Open the address that it printed there; an address lets one \
         browser in, once.",
        "このページは端末で動いている kurabe のものです。端末に表示されたアドレスを開いてください。1 つのアドレスで入れるのは、\
         1 つのブラウザーが 1 回だけです。"
    );
    let label =
        text!("or type what stands behind # in it", "または、アドレスの # より後ろを入力してください");
    html! {
        (DOCTYPE)
        html lang=(lang.pick("en", "ja")) {
            head {
                meta charset="utf-8";
                title { "kurabe" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                (links())
            }
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
        }
    }
}

/// `POST /session`: a word for a cookie, as JSON or as the form of [`door`].
pub(crate) async fn enter(visit: Visit, headers: HeaderMap, body: Bytes) -> Response {
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
    let cookie = match visit.shared.sessions.enter(&word) {
        Ok(Some(cookie)) => cookie,
        Ok(None) => {
            let error = ErrorKind::Refused.error(text!(
                "this address was used already, or is none of this kurabe",
                "このアドレスは使用済みか、この kurabe のものではありません"
            ));
            return piece(visit, move |_, _| Err(error)).await;
        }
        Err(error) => return piece(visit, move |_, _| Err(error)).await,
    };
    let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", visit.shared.cookie_name);
    if is_form {
        let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())];
        return (StatusCode::SEE_OTHER, headers).into_response();
    }
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}

/// `POST /session/new`: an address for another browser.
pub(crate) async fn another(visit: Visit) -> Response {
    action(visit, |shared, _| Ok(json!({ "address": shared.launch_address()? }))).await
}
