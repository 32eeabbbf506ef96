//! Which address leads where, and what every answer carries.

use crate::assets::asset;
use crate::events::events;
use crate::gate::{Refusal, SESSION_PATH, admit};
use crate::pages::{self, InWords, frame};
use crate::seats::Guest;
use crate::server::Patience;
use crate::shared::{App, Reader};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::Arc;
use tokio::time::timeout;

/// A form, or a job file that was pasted, is far smaller.
const MOST_BODY_BYTES: usize = 256 << 10;
/// Of who is not in yet: a word of 64 digits, and what stands around it.
const MOST_WORD_BYTES: usize = 1 << 10;

/// What every answer says: nothing is loaded but from here, nothing runs that stands in the markup, nobody frames it.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
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
pub(crate) fn router(shared: App, patience: Patience) -> Router {
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
        .route("/models", get(pages::models::page))
        .route("/models/compare", get(pages::compare::models))
        .route("/models/{name}", get(pages::model::page))
        .route("/models/{name}/movers", get(pages::model::movers))
        .route("/models/{name}/figures", post(pages::model::figures))
        .route("/models/{name}/device.toml", get(pages::model::device))
        .route("/served", get(pages::served::page))
        .route("/served/{id}", post(pages::served::control))
        .route("/studies", get(pages::studies::page))
        .route("/studies/{name}", get(pages::studies::study))
        .route("/catalogue", get(pages::catalogue::page))
        .route("/catalogue/{*entry}", get(pages::catalogue::entry))
        .route("/choose/{what}/{word}", get(pages::choose::choose))
        .route(SESSION_PATH, post(pages::session::enter))
        .route("/session/new", post(pages::session::another))
        .route("/assets/{name}", get(asset))
        .layer(from_fn_with_state((shared.clone(), patience), guard))
        .with_state(shared)
}

/// The gate before everything, and words and headers on everything.
async fn guard(State((shared, patience)): State<(App, Patience)>, request: Request, next: Next) -> Response {
    let reader = Reader::of(request.headers(), shared.lang);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let asked = (request.method(), request.uri(), request.headers());
    let mut answer = match admit(asked, &shared.names, &shared.cookie_name, &shared.sessions) {
        Ok(is_in) => in_words(answered(request, next, patience, is_in).await, reader, &method, &path),
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

/// What an admitted request is answered by, once all of it is there: nothing waits for a slow client but his own connection.
async fn answered(mut request: Request, next: Next, patience: Patience, is_in: bool) -> Response {
    let guest = request.extensions().get::<Arc<Guest>>().cloned();
    let tell = |change: fn(&Guest)| guest.iter().for_each(|guest| change(guest));
    if is_in {
        tell(Guest::is_resident);
    }
    let most_bytes = if request.uri().path() == SESSION_PATH { MOST_WORD_BYTES } else { MOST_BODY_BYTES };
    DefaultBodyLimit::max(most_bytes).apply(&mut request);
    let (head, body) = request.into_parts();
    let whole = Bytes::from_request(Request::from_parts(head.clone(), body), &());
    let body = match timeout(patience.body, whole).await {
        Ok(Ok(body)) => body,
        Ok(Err(refusal)) => return refusal.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    tell(Guest::is_answered);
    let answer = timeout(patience.answer, next.run(Request::from_parts(head, body.into()))).await;
    tell(Guest::is_waited_for);
    answer.unwrap_or_else(|_| StatusCode::SERVICE_UNAVAILABLE.into_response())
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
