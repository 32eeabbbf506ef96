//! The pages, a file each, and what they share.

pub(crate) mod board;
pub(crate) mod catalogue;
pub(crate) mod choose;
pub(crate) mod compare;
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

use crate::routes::nowhere_words;
use crate::shared::{App, Reader, Shared, aside};
use axum::Json;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use frame::Frame;
use kurabe_core::{Error, ErrorKind, Result, Text, shown};
use kurabe_report::Html;
use serde_json::{Value, json};

/// A page under this address, made aside.
pub(crate) async fn page(
    shared: App,
    reader: Reader,
    uri: Uri,
    work: impl FnOnce(&Shared) -> Result<(Text, Html)> + Send + 'static,
) -> Response {
    let address = uri.path_and_query().map_or("/", |address| address.as_str()).to_owned();
    let made = aside(move || {
        let (title, content) = work(&shared)?;
        Ok(Frame { reader, address: &address, title: &title }.around(&content))
    });
    match made.await {
        Ok(page) => frame::html(page).into_response(),
        Err(error) => {
            (status_of(&error), frame::html(error_page(reader, uri.path(), &error))).into_response()
        }
    }
}

/// A piece of a page, made aside.
pub(crate) async fn piece(
    shared: App,
    reader: Reader,
    work: impl FnOnce(&Shared) -> Result<Html> + Send + 'static,
) -> Response {
    match aside(move || work(&shared).map(Html::finish)).await {
        Ok(piece) => frame::html(piece).into_response(),
        Err(error) => refused(reader, &error),
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
        Err(error) => refused(reader, &error),
    }
}

fn refused(reader: Reader, error: &Error) -> Response {
    let words = |text: &Text| shown::line(text.get(reader.lang)).to_string();
    let body = json!({
        "what": words(error.what()),
        "cause": error.cause().map(|cause| shown::line(cause).to_string()),
        "remedy": error.remedy_text().map(words),
    });
    (status_of(error), Json(json!({ "error": body }))).into_response()
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

fn error_page(reader: Reader, address: &str, error: &Error) -> String {
    let mut html = Html::new();
    html.element("h1", &[], error.what().get(reader.lang));
    if let Some(cause) = error.cause() {
        html.element("p", &[], cause);
    }
    if let Some(remedy) = error.remedy_text() {
        html.element("p", &[("class", "notice")], remedy.get(reader.lang));
    }
    Frame { reader, address, title: error.what() }.around(&html)
}

/// Any address that leads nowhere.
pub(crate) async fn nowhere(reader: Reader, uri: Uri) -> Response {
    let words = nowhere_words();
    let mut html = Html::new();
    html.element("h1", &[], words.get(reader.lang));
    let page = Frame { reader, address: uri.path(), title: &words }.around(&html);
    (StatusCode::NOT_FOUND, frame::html(page)).into_response()
}
