//! Checks that every request must pass before any other part of kurabe sees it.
//!
//! The model: a request is accepted only if it carries headers that a cross-origin page cannot
//! forge. `Host` excludes names that were rebound to this machine. `Origin` and `Sec-Fetch-Site`
//! exclude other pages. The content type excludes plain forms. The cookie excludes everyone else.
//! Jupyter, CUPS and others use the same rules: W3C Fetch Metadata, RFC 6454 (origin), RFC 9110 7.2
//! (host).

use crate::shared::Site;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

/// Where a browser gets its session. This is the only path whose body may be a form, for browsers
/// without JavaScript.
pub(crate) const SESSION_PATH: &str = "/session";
/// Style sheet and script, which require no session.
pub(crate) const ASSETS: &str = "/assets/";

/// Rejection: the request is for another host.
pub(crate) const OTHER_HOST: StatusCode = StatusCode::MISDIRECTED_REQUEST;
/// Rejection: another page sent the request.
pub(crate) const OTHER_PAGE: StatusCode = StatusCode::FORBIDDEN;
/// Rejection: the body has another content type.
pub(crate) const OTHER_KIND: StatusCode = StatusCode::UNSUPPORTED_MEDIA_TYPE;
/// Rejection: the browser has no session.
pub(crate) const NOT_IN: StatusCode = StatusCode::UNAUTHORIZED;

/// Accepts a request or returns the reason for its rejection. The result says whether the browser
/// has a session, because some paths don't require one.
pub(crate) fn admit(Parts { method, uri, headers, .. }: &Parts, shared: &Site) -> Result<bool, StatusCode> {
    let is_own = |host: &str| shared.names.iter().any(|name| name.eq_ignore_ascii_case(host));
    let host = only(headers, &header::HOST)?.filter(|host| is_own(host)).ok_or(OTHER_HOST)?;
    if uri.authority().is_some_and(|authority| !is_own(authority.as_str())) {
        return Err(OTHER_HOST);
    }
    let origin = only(headers, &header::ORIGIN)?;
    let own_origin =
        |origin: &str| origin.strip_prefix("http://").is_some_and(|name| name.eq_ignore_ascii_case(host));
    if origin.is_some_and(|origin| !own_origin(origin)) {
        return Err(OTHER_PAGE);
    }
    // For a request that the user typed, the header is `none`. A link from another page to the
    // first page leads to the sign-in page, whose script continues from there. All other cross-site
    // requests are rejected.
    let fetch = |name| only(headers, &HeaderName::from_static(name));
    if fetch("sec-fetch-site")?.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        let is_link =
            fetch("sec-fetch-mode")? == Some("navigate") && fetch("sec-fetch-dest")? == Some("document");
        let comes_in = is_link && *method == Method::GET && uri.path() == "/";
        return Err(if comes_in { NOT_IN } else { OTHER_PAGE });
    }
    let acts = match *method {
        Method::GET | Method::HEAD => false,
        Method::POST => true,
        _ => return Err(StatusCode::METHOD_NOT_ALLOWED),
    };
    if acts && origin.is_none() {
        return Err(OTHER_PAGE);
    }
    let path = uri.path();
    if acts && !is_kind(headers, "application/json") {
        let form = path == SESSION_PATH && is_kind(headers, "application/x-www-form-urlencoded");
        form.then_some(()).ok_or(OTHER_KIND)?;
    }
    let is_open = path.starts_with(ASSETS) || (acts && path == SESSION_PATH);
    let is_in =
        cookies(headers).any(|(name, value)| name == shared.cookie_name && shared.sessions.is_in(value));
    if is_open || is_in { Ok(is_in) } else { Err(NOT_IN) }
}

/// Returns the value of a header that must not appear twice, because two readers could then see
/// different requests.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, StatusCode> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match (values.next(), value.to_str()) {
        (None, Ok(value)) => Ok(Some(value)),
        _ if *name == header::HOST => Err(OTHER_HOST),
        _ => Err(OTHER_PAGE),
    }
}

fn is_kind(headers: &HeaderMap, kind: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|first| first.trim().eq_ignore_ascii_case(kind))
}

/// Returns the cookies of a request as names and values.
pub(crate) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
}
