//! Routes, and the headers of every response.
//!
//! # To add a page
//!
//! - Write a file in `pages` (`use super::kit::*`) whose function returns a title and markup around documents
//!   of `report`. Add its address here, and a link in `ways` (`frame.rs`) if every page should link to it.
//! - A `GET` must not change anything. An action is a `POST`, which `gate.rs` guards.
//! - The page must work without JavaScript and at a width of 360 px. Add it to `tests/accessible.rs`,
//!   `tests/pictures.rs` and docs/page.md.

use crate::assets::asset;
use crate::events::events;
use crate::gate::{NOT_IN, SESSION_PATH, admit};
use crate::pages::{self, InWords, Visit, frame, made};
use crate::seats::{Guest, GuestState};
use crate::server::Patience;
use crate::shared::App;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::Arc;
use std::time::Instant;
use tokio::time::timeout;

/// Maximum size of a body. A form or a pasted job file is much smaller.
const MOST_BODY_BYTES: usize = 256 << 10;
/// Maximum size of a body without a session: a token of 64 digits and what surrounds it.
const MOST_WORD_BYTES: usize = 1 << 10;

/// Headers of every response: resources are loaded only from this server, inline scripts don't run,
/// and no page can embed it in a frame.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: with it, a form without JavaScript would have the origin `null` (Fetch,
    // "append a request Origin header").
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Returns the router of all addresses. Each response has a time limit.
pub(crate) fn router(shared: App, patience: Patience) -> Router {
    Router::new()
        .route("/", get(made(pages::measure::page)))
        .route("/board", get(made(pages::measure::board)))
        .route("/board/plot", get(made(pages::measure::plot)))
        .route("/plan", post(made(pages::measure::plan)))
        .route("/job", post(made(pages::job::read)))
        .route("/measure", post(made(pages::measure::start)))
        .route("/stop", post(made(pages::measure::stop)))
        .route("/events", get(events))
        .route("/runs", get(made(pages::runs::page)))
        .route("/runs/{id}", get(made(pages::run::page)))
        .route("/runs/{id}/{file}", get(made(pages::run::file)))
        .route("/runs/{id}/label", post(made(pages::run::label)))
        .route("/compare", get(made(pages::compare::page)))
        .route("/compare/{file}", get(made(pages::compare::file)))
        .route("/matrix", get(made(pages::runs::matrix)))
        .route("/history", get(made(pages::runs::history)))
        .route("/drive", get(made(pages::drive::page)))
        .route("/models", get(made(pages::models::page)))
        .route("/models/compare", get(made(pages::compare::models)))
        .route("/models/{name}", get(made(pages::models::model)))
        .route("/models/{name}/movers", get(made(pages::models::movers)))
        .route("/models/{name}/figures", post(made(pages::models::figures)))
        .route("/models/{name}/device.toml", get(made(pages::models::device)))
        .route("/served", get(made(pages::served::page)))
        .route("/served/{id}", post(made(pages::served::control)))
        .route("/studies", get(made(pages::studies::page)))
        .route("/studies/{name}", get(made(pages::studies::study)))
        .route("/studies/{name}/{file}", get(made(pages::studies::file)))
        .route("/catalogue", get(made(pages::catalogue::page)))
        .route("/catalogue/{*entry}", get(made(pages::catalogue::entry)))
        .route("/choose/{what}/{word}", get(frame::choose))
        .route(SESSION_PATH, post(made(pages::session::enter)))
        .route("/assets/{name}", get(asset))
        .layer(from_fn_with_state((shared.clone(), patience), guard))
        .with_state(shared)
}

/// Applies the gate to every request, and adds error texts and headers to every response.
async fn guard(State((shared, patience)): State<(App, Patience)>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let visit = Visit::of(&parts, &shared);
    let mut answer = match admit(&parts, &shared) {
        Ok(is_in) => in_words(answered((parts, body), next, patience, is_in).await, &visit),
        // A browser without a session gets the sign-in page.
        Err(NOT_IN) if parts.method == Method::GET => {
            (NOT_IN, frame::answer(pages::session::door(visit.reader))).into_response()
        }
        Err(status) => visit.failed(status, &pages::unworded(status)),
    };
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

/// Answers an accepted request after receiving its whole body, so that a slow client blocks only
/// its own connection.
async fn answered((head, body): (Parts, Body), next: Next, patience: Patience, is_in: bool) -> Response {
    let guest = head.extensions.get::<Arc<Guest>>().cloned();
    let tell = |state| guest.iter().for_each(|guest| guest.change(state));
    if is_in {
        tell(GuestState::Resident);
    }
    let most_bytes = if head.uri.path() == SESSION_PATH { MOST_WORD_BYTES } else { MOST_BODY_BYTES };
    let mut request = Request::from_parts(head.clone(), body);
    DefaultBodyLimit::max(most_bytes).apply(&mut request);
    let body = match timeout(patience.body, Bytes::from_request(request, &())).await {
        Ok(Ok(body)) => body,
        Ok(Err(refusal)) => return refusal.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    tell(GuestState::Answered);
    let answer = timeout(patience.answer, next.run(Request::from_parts(head, body.into()))).await;
    tell(GuestState::WaitedFor(Instant::now()));
    answer.unwrap_or_else(|_| StatusCode::SERVICE_UNAVAILABLE.into_response())
}

/// Gives a failed response without a text one in the reader's language.
fn in_words(answer: Response, visit: &Visit) -> Response {
    let status = answer.status();
    let has_failed = status.is_client_error() || status.is_server_error();
    if !has_failed || answer.extensions().get::<InWords>().is_some() {
        return answer;
    }
    let mut worded = visit.failed(status, &pages::unworded(status));
    // The allowed methods.
    if let Some(methods) = answer.headers().get(header::ALLOW) {
        worded.headers_mut().insert(header::ALLOW, methods.clone());
    }
    worded
}
