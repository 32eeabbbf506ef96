//! The pages, one file each, and their common parts.

pub(crate) mod board;
pub(crate) mod catalogue;
pub(crate) mod compare;
pub(crate) mod drive;
mod drives;
pub(crate) mod frame;
mod head;
pub(crate) mod job;
mod kit;
pub(crate) mod measure;
pub(crate) mod models;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod served;
pub(crate) mod session;
pub(crate) mod studies;
mod tiles;
pub(crate) mod versus;

pub(crate) use board::left_words;

use crate::gate::{NOT_IN, OTHER_HOST, OTHER_KIND, OTHER_PAGE};
use crate::reader::Reader;
use crate::shared::aside;
use axum::extract::{FromRequest, FromRequestParts};
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use kit::*;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;

/// A request by a reader.
pub(crate) struct Visit {
    pub(crate) shared: App,
    pub(crate) reader: Reader,
    method: Method,
    /// Address of the page, to which the choices of language and theme return.
    uri: Uri,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, shared: &App) -> std::result::Result<Self, Infallible> {
        Ok(Self::of(parts, shared))
    }
}

/// Result of a handler.
pub(crate) enum Made {
    /// A page with its title.
    Page(Text, Markup),
    /// A page that has its own heading, and its title.
    Headed(Text, Markup),
    /// A fragment of a page.
    Piece(Markup),
    /// The result of an action.
    Data(Value),
    /// A file: content type, file name if it is to be downloaded, and content.
    File(&'static str, Option<String>, Vec<u8>),
    /// Any other response.
    Other(Response),
}

/// Marks a response that already explains its error in the reader's language. Any other failed
/// response still needs a text.
#[derive(Clone, Copy)]
pub(crate) struct InWords;

/// Creates a handler that runs `work` on a blocking thread with the reader's language and the
/// request's parameters.
pub(crate) fn made<E, M>(work: fn(&App, Lang, E) -> Result<Made>) -> impl Handler<(M, Visit, E), App>
where
    E: FromRequest<App, M> + Send + 'static,
    M: Send + 'static,
{
    move |visit: Visit, asked: E| async move {
        let visit = Arc::new(visit);
        let own = Arc::clone(&visit);
        let answer = aside(move || Ok(own.answer(work(&own.shared, own.reader.lang, asked)?))).await;
        answer.unwrap_or_else(|error| visit.failed(status_of(&error), &error))
    }
}

impl Visit {
    pub(crate) fn of(parts: &Parts, shared: &App) -> Self {
        let reader = Reader::of(&parts.headers, shared.lang);
        Self { shared: Arc::clone(shared), reader, method: parts.method.clone(), uri: parts.uri.clone() }
    }

    fn answer(&self, made: Made) -> Response {
        match made {
            Made::Page(title, content) => {
                let content = html! { h1 { (title.line(self.reader.lang)) } (content) };
                self.page(&title, &content).into_response()
            }
            Made::Headed(title, content) => self.page(&title, &content).into_response(),
            Made::Piece(markup) => frame::answer(markup).into_response(),
            Made::Data(value) => Json(value).into_response(),
            Made::File(kind, name, bytes) => {
                let kept = name.map(|name| format!("attachment; filename=\"{name}\""));
                let kept = kept.unwrap_or_else(|| "inline".to_owned());
                let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, kept)];
                (headers, bytes).into_response()
            }
            Made::Other(answer) => answer,
        }
    }

    /// Returns an error as a page for browsers, or as JSON for the script.
    pub(crate) fn failed(&self, status: StatusCode, error: &Error) -> Response {
        let (message, lang) = (Message::of(error), self.reader.lang);
        let body = if self.method == Method::POST {
            let line = |text: &Text| text.line(lang);
            let [cause, remedy] = [&message.cause, &message.remedy].map(|text| text.as_ref().map(line));
            Json(json!({ "error": { "what": line(&message.what), "cause": cause, "remedy": remedy } }))
                .into_response()
        } else {
            self.page(&message.what, &error_content(&message, lang)).into_response()
        };
        let mut answer = (status, body).into_response();
        answer.extensions_mut().insert(InWords);
        answer
    }
}

/// Returns the HTTP status for this kind of error.
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

fn error_content(message: &Message, lang: Lang) -> Markup {
    html! {
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
    }
}

/// Returns the error for a response without a text, either from the gate or from the HTTP library,
/// which has no translations.
pub(crate) fn unworded(status: StatusCode) -> Error {
    let what = match status {
        OTHER_HOST => text!(
            "this server answers only at its own address",
            "このサーバーは自分のアドレスにだけ応答します"
        ),
        OTHER_PAGE => text!("the request came from another page", "ほかのページからの要求です"),
        OTHER_KIND => text!("the request body must be JSON", "本文は JSON でなければなりません"),
        NOT_IN => text!("this browser has no access", "このブラウザーはまだ入室していません"),
        StatusCode::NOT_FOUND => text!("this page does not exist", "このページはありません"),
        StatusCode::METHOD_NOT_ALLOWED => {
            text!("this address does not support this request", "このアドレスはこの方法では使えません")
        }
        StatusCode::REQUEST_TIMEOUT => {
            text!("the request did not arrive in time", "送信が時間内に終わりませんでした")
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            text!(
                "the answer took too long and was cancelled",
                "時間がかかりすぎたため、応答を打ち切りました"
            )
        }
        StatusCode::PAYLOAD_TOO_LARGE => text!(
            "the request is larger than any form of this page",
            "送られた内容が、フォームの上限を超えています"
        ),
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => text!(
            "the request contains something that this page does not know",
            "要求の中に、このページが知らない内容があります"
        ),
        _ => text!("the request was refused ({status})", "要求は拒否されました({status})"),
    };
    let remedy = match status {
        OTHER_HOST | OTHER_PAGE | NOT_IN => text!(
            "open the address that was printed in the terminal",
            "端末に表示されたアドレスを開いてください"
        ),
        _ => text!("use the bar above to reach every page", "上のメニューからどのページにも行けます"),
    };
    usage(what, remedy)
}
