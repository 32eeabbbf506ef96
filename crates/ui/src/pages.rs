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
pub(crate) mod session;
pub(crate) mod studies;
pub(crate) mod turns;

use crate::shared::{App, Reader, Site, aside};
use crate::told::Told;
use axum::Json;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use frame::Frame;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_report::Html;
use serde_json::{Value, json};

/// A page under this address, made aside.
pub(crate) async fn page(
    shared: App,
    reader: Reader,
    uri: Uri,
    work: impl FnOnce(&Site) -> Result<(Text, Html)> + Send + 'static,
) -> Response {
    let address = uri.path_and_query().map_or("/", |address| address.as_str()).to_owned();
    let made = aside(move || {
        let (title, content) = work(&shared)?;
        Ok(Frame { reader, address: &address, title: &title }.around(&content))
    });
    match made.await {
        Ok(page) => frame::html(page).into_response(),
        Err(error) => failed(reader, &Method::GET, uri.path(), status_of(&error), &error),
    }
}

/// A piece of a page, made aside.
pub(crate) async fn piece(
    shared: App,
    reader: Reader,
    work: impl FnOnce(&Site) -> Result<Html> + Send + 'static,
) -> Response {
    match aside(move || work(&shared).map(Html::finish)).await {
        Ok(piece) => frame::html(piece).into_response(),
        Err(error) => failed(reader, &Method::POST, "/", status_of(&error), &error),
    }
}

/// What an action came to, as JSON.
pub(crate) async fn action(
    shared: App,
    reader: Reader,
    work: impl FnOnce(&App) -> Result<Value> + Send + 'static,
) -> Response {
    match aside(move || work(&shared)).await {
        Ok(value) => Json(value).into_response(),
        Err(error) => failed(reader, &Method::POST, "/", status_of(&error), &error),
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
    let message = Told::of(error);
    let mut answer = if *method == Method::POST {
        let words = |text: &Text| shown::line(text.get(reader.lang)).to_string();
        let body = json!({
            "what": words(&message.what),
            "cause": message.cause.as_deref().map(|cause| shown::line(cause).to_string()),
            "remedy": message.remedy.as_ref().map(words),
        });
        (status, Json(json!({ "error": body }))).into_response()
    } else {
        (status, frame::html(error_page(reader, address, &message))).into_response()
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

fn error_page(reader: Reader, address: &str, message: &Told) -> String {
    let mut html = Html::new();
    html.element("h1", &[], message.what.get(reader.lang));
    if let Some(cause) = &message.cause {
        html.element("p", &[], cause);
    }
    if let Some(remedy) = &message.remedy {
        html.open("p", &[("class", "notice")]).words(remedy.get(reader.lang));
        if let Some(way) = message.way {
            html.raw(" ").element("a", &[("href", way)], text!("Go there", "開く").get(reader.lang));
        }
        html.close("p");
    }
    Frame { reader, address, title: &message.what }.around(&html)
}

/// The words for an answer that has none: that of a part that takes requests apart, and knows no languages.
pub(crate) fn unworded(status: StatusCode) -> Error {
    let what = match status {
        StatusCode::NOT_FOUND => text!("there is no such page", "このページはありません"),
        StatusCode::METHOD_NOT_ALLOWED => {
            text!("this address is not used in this way", "このアドレスはこの方法では使えません")
        }
        StatusCode::REQUEST_TIMEOUT => {
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
    Error::new(ErrorKind::Usage, what)
        .remedy(text!("the bar above leads to every page", "上のメニューからどのページにも行けます"))
}
