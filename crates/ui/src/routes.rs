//! Which address leads where, and what every answer carries.

use crate::assets::asset;
use crate::events::events;
use crate::gate::{Refusal, SESSION_PATH, admit};
use crate::pages::{self, InWords, frame};
use crate::shared::{App, Reader};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::time::Duration;

/// A form, or a job file that was pasted, is far smaller.
const MOST_BODY_BYTES: usize = 256 << 10;

/// What every answer says: nothing is loaded but from here, nothing runs that stands in the markup, nobody frames it.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: a form without script would come from the origin `null` then (Fetch, "append a request Origin header").
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// All addresses, each answered within a time.
pub(crate) fn router(shared: App, answer_time: Duration) -> Router {
    Router::new()
        .route("/", get(pages::measure::page))
        .route("/board", get(pages::measure::board))
        .route("/board/plot", get(pages::measure::plot))
        .route("/plan", post(pages::measure::plan))
        .route("/job", post(pages::job::read))
        .route("/measure", post(pages::measure::start))
        .route("/stop", post(pages::measure::stop))
        .route("/events", get(events))
        .route("/runs", get(pages::runs::page))
        .route("/runs/{id}", get(pages::run::page))
        .route("/runs/{id}/card.png", get(pages::run::card))
        .route("/runs/{id}/text", get(pages::run::text))
        .route("/runs/{id}/report.html", get(pages::run::saved))
        .route("/runs/{id}/record.json", get(pages::run::record))
        .route("/runs/{id}/label", post(pages::run::label))
        .route("/compare", get(pages::compare::page))
        .route("/matrix", get(pages::matrix::page))
        .route("/history", get(pages::history::page))
        .route("/drive", get(pages::drive::page))
        .route("/models", get(pages::model::list))
        .route("/models/{name}", get(pages::model::page))
        .route("/models/{name}/figures", post(pages::model::figures))
        .route("/models/{name}/device.toml", get(pages::model::device))
        .route("/studies", get(pages::studies::page))
        .route("/studies/{name}", get(pages::studies::study))
        .route("/catalogue", get(pages::catalogue::page))
        .route("/choose/{what}/{word}", get(pages::choose::choose))
        .route(SESSION_PATH, post(pages::session::enter))
        .route("/session/new", post(pages::session::another))
        .route("/assets/{name}", get(asset))
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .layer(from_fn_with_state((shared.clone(), answer_time), guard))
        .with_state(shared)
}

/// The gate before everything, and words and headers on everything.
async fn guard(
    State((shared, answer_time)): State<(App, Duration)>,
    request: Request,
    next: Next,
) -> Response {
    let reader = Reader::of(request.headers(), shared.lang);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let asked = (request.method(), request.uri(), request.headers());
    let mut answer = match admit(asked, &shared.names, &shared.cookie_name, &shared.sessions) {
        Ok(()) => match tokio::time::timeout(answer_time, next.run(request)).await {
            Ok(answer) => in_words(answer, reader, &method, &path),
            Err(_) => in_words(StatusCode::REQUEST_TIMEOUT.into_response(), reader, &method, &path),
        },
        // Who comes without a session is shown where to get one.
        Err(Refusal::Session) if method == Method::GET => {
            (StatusCode::UNAUTHORIZED, frame::answer(pages::session::door(reader.lang))).into_response()
        }
        Err(refusal) => {
            let (status, error) = refusal.answer();
            pages::failed(reader, &method, &path, status, &error)
        }
    };
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

/// Puts an answer that failed without words into the reader's.
fn in_words(answer: Response, reader: Reader, method: &Method, path: &str) -> Response {
    let status = answer.status();
    let has_failed = status.is_client_error() || status.is_server_error();
    if !has_failed || answer.extensions().get::<InWords>().is_some() {
        return answer;
    }
    let mut worded = pages::failed(reader, method, path, status, &pages::unworded(status));
    // What may be asked instead.
    if let Some(methods) = answer.headers().get(header::ALLOW) {
        worded.headers_mut().insert(header::ALLOW, methods.clone());
    }
    worded
}
