//! Events as server-sent events (HTML Living Standard, 9.2), which can be resumed by their number.
//!
//! The model: a window receives only the changes to make: text to show, figures to draw, or a
//! request to fetch a part of its page again. The latter also answers a request for a number that
//! is no longer stored.

use crate::board::message;
use crate::pages::Visit;
use axum::extract::Query;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, StreamExt, stream};
use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

/// Interval of comments that detect a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Handles `GET /events?from=NUMBER`.
pub(crate) async fn events(
    Visit { shared, reader, .. }: Visit,
    Query(asked): Query<HashMap<String, u64>>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let from = || asked.get("from").copied().unwrap_or_default();
    let first = last.map_or_else(from, |last| last.saturating_add(1));
    let (news, closing) = (shared.desk.news(), shared.closing.subscribe());
    let silent_changes = news.borrow().silent_changes;
    let steps = stream::unfold(
        (shared, news, closing, first, silent_changes, true),
        move |(shared, mut news, mut closing, next, seen_changes, at_once)| async move {
            if !at_once {
                tokio::select! {
                    changed = news.changed() => changed.ok()?,
                    _ = closing.wait_for(|closes| *closes) => return None,
                }
            }
            let silent_changes = news.borrow_and_update().silent_changes;
            let (envelopes, shown) = (shared.desk.stream.since(next), shared.desk.shown());
            let mut batch = Vec::new();
            // Something was missed, or changed without an envelope. An empty list means nothing:
            // the envelope may have been in the previous batch, which was read after the
            // notification.
            let has_gap = envelopes.first().is_some_and(|envelope| envelope.number != next);
            if has_gap || silent_changes != seen_changes {
                batch.push(Event::default().data(r#"{"t":"board"}"#));
            }
            let next = envelopes.last().map_or(next, |envelope| envelope.number + 1);
            batch.extend(envelopes.iter().filter_map(|envelope| {
                let data = message(&envelope.event, shown, reader.lang)?.to_string();
                Some(Event::default().id(envelope.number.to_string()).data(data))
            }));
            Some((
                stream::iter(batch.into_iter().map(Ok)),
                (shared, news, closing, next, silent_changes, false),
            ))
        },
    );
    Sse::new(steps.flatten()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}
