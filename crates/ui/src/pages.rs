//! The pages, a file each, and what they share.

pub(crate) mod board;
pub(crate) mod catalogue;
pub(crate) mod choose;
pub(crate) mod compare;
pub(crate) mod drive;
pub(crate) mod frame;
pub(crate) mod history;
pub(crate) mod job;
pub(crate) mod matrix;
pub(crate) mod measure;
pub(crate) mod model;
pub(crate) mod models;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod served;
pub(crate) mod session;
pub(crate) mod studies;
mod tiles;
pub(crate) mod turns;

use crate::message::Message;
use crate::shared::{App, Reader, Site, aside};
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use frame::Frame;
use kurabe_core::{Error, ErrorKind, Lang, Result, Text, text};
use maud::{Markup, html};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;

/// A request of a reader, before it is known what is asked.
pub(crate) struct Visit {
    pub(crate) shared: App,
    pub(crate) reader: Reader,
    uri: Uri,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, shared: &App) -> std::result::Result<Self, Infallible> {
        let reader = Reader::of(&parts.headers, shared.lang);
        Ok(Self { shared: Arc::clone(shared), reader, uri: parts.uri.clone() })
    }
}

/// A page under its address, made aside in the reader's language: its title, which stands above it, and what it shows.
pub(crate) async fn titled(
    visit: Visit,
    work: impl FnOnce(&Site, Lang) -> Result<(Text, Markup)> + Send + 'static,
) -> Response {
    framed(visit, |shared, lang| {
        let (title, content) = work(shared, lang)?;
        let content = html! { h1 { (title.line(lang)) } (content) };
        Ok((title, content))
    })
    .await
}

/// A page that has a heading of its own.
pub(crate) async fn framed(
    visit: Visit,
    work: impl FnOnce(&Site, Lang) -> Result<(Text, Markup)> + Send + 'static,
) -> Response {
    let Visit { shared, reader, uri } = visit;
    let address = uri.path_and_query().map_or("/", |address| address.as_str()).to_owned();
    let made = aside(move || {
        let (title, content) = work(&shared, reader.lang)?;
        Ok(Frame { reader, address: &address, title: &title }.around(&content))
    });
    match made.await {
        Ok(page) => frame::answer(page).into_response(),
        Err(error) => failed(reader, &Method::GET, uri.path(), status_of(&error), &error),
    }
}

/// A piece of a page.
pub(crate) async fn piece(
    visit: Visit,
    work: impl FnOnce(&App, Lang) -> Result<Markup> + Send + 'static,
) -> Response {
    answer(visit, work, frame::answer).await
}

/// What an action came to, as JSON.
pub(crate) async fn action(
    visit: Visit,
    work: impl FnOnce(&App, Lang) -> Result<Value> + Send + 'static,
) -> Response {
    answer(visit, work, Json).await
}

async fn answer<T: Send + 'static, R: IntoResponse>(
    visit: Visit,
    work: impl FnOnce(&App, Lang) -> Result<T> + Send + 'static,
    body: impl FnOnce(T) -> R,
) -> Response {
    let Visit { shared, reader, .. } = visit;
    match aside(move || work(&shared, reader.lang)).await {
        Ok(made) => body(made).into_response(),
        Err(error) => failed(reader, &Method::POST, "/", status_of(&error), &error),
    }
}

/// A file of this kind, to be kept under a name if it has one.
pub(crate) async fn file(
    visit: Visit,
    kind: &'static str,
    name: Option<String>,
    work: impl FnOnce(&Site, Lang) -> Result<Vec<u8>> + Send + 'static,
) -> Response {
    let Visit { shared, reader, .. } = visit;
    match aside(move || work(&shared, reader.lang)).await {
        Ok(bytes) => {
            let kept = name.map(|name| format!("attachment; filename=\"{name}\""));
            let kept = kept.unwrap_or_else(|| "inline".to_owned());
            let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, kept)];
            (StatusCode::OK, headers, bytes).into_response()
        }
        Err(error) => failed(reader, &Method::GET, "/runs", StatusCode::NOT_FOUND, &error),
    }
}

/// Marks an answer that says in the reader's language what went wrong; any other that failed has yet to be put into words.
#[derive(Clone, Copy)]
pub(crate) struct InWords;

/// What went wrong: as a page for who looks at an address, as JSON for the script.
pub(crate) fn failed(
    reader: Reader,
    method: &Method,
    address: &str,
    status: StatusCode,
    error: &Error,
) -> Response {
    let message = Message::of(error);
    let mut answer = if *method == Method::POST {
        let body = json!({
            "what": message.what.line(reader.lang),
            "cause": message.cause.map(|cause| cause.line(reader.lang)),
            "remedy": message.remedy.map(|remedy| remedy.line(reader.lang)),
        });
        (status, Json(json!({ "error": body }))).into_response()
    } else {
        (status, frame::answer(error_page(reader, address, &message))).into_response()
    };
    answer.extensions_mut().insert(InWords);
    answer
}

/// What HTTP calls this kind of error.
fn status_of(error: &Error) -> StatusCode {
    match error.kind() {
        ErrorKind::NoSuchRun => StatusCode::NOT_FOUND,
        ErrorKind::Refused | ErrorKind::Permission => StatusCode::CONFLICT,
        ErrorKind::Usage
        | ErrorKind::DataFile
        | ErrorKind::Target
        | ErrorKind::Unsupported
        | ErrorKind::Import => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn error_page(reader: Reader, address: &str, message: &Message) -> Markup {
    let lang = reader.lang;
    let content = html! {
        h1 { (message.what.line(lang)) }
        @if let Some(cause) = &message.cause { p { (cause.line(lang)) } }
        @if let Some(remedy) = &message.remedy {
            p.notice {
                (remedy.line(lang))
                @if let Some(link) = message.link {
                    " " a href=(link) { (text!("Go there", "開く").get(lang)) }
                }
            }
        }
    };
    Frame { reader, address, title: &message.what }.around(&content)
}

/// The words for an answer that has none: that of a part that takes requests apart, and knows no languages.
pub(crate) fn unworded(status: StatusCode) -> Error {
    let what = match status {
        StatusCode::NOT_FOUND => text!("there is no such page", "このページはありません"),
        StatusCode::METHOD_NOT_ALLOWED => {
            text!("this address is not used in this way", "このアドレスはこの方法では使えません")
        }
        StatusCode::REQUEST_TIMEOUT => {
            text!("what was sent did not arrive in time", "送信が時間内に終わりませんでした")
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            text!("the answer took too long and was given up", "時間がかかりすぎたため、応答を打ち切りました")
        }
        StatusCode::PAYLOAD_TOO_LARGE => {
            text!(
                "more was sent than any form of this page holds",
                "送られた内容が、フォームの上限を超えています"
            )
        }
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => text!(
            "what was asked for holds something that this page does not know",
            "要求の中に、このページが知らない内容があります"
        ),
        _ => text!("the request was refused ({status})", "要求は拒否されました({status})"),
    };
    ErrorKind::Usage
        .error(what)
        .remedy(text!("the bar above leads to every page", "上のメニューからどのページにも行けます"))
}
