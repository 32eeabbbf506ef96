//! What every request has to pass before anything of kurabe hears of it.
//!
//! The model: a request is admitted by what browsers cannot be made to say wrongly by a foreign page. `Host` keeps out names that
//! were rebound to this machine, `Origin` and `Sec-Fetch-Site` keep out other pages, the kind of a body keeps out plain forms,
//! and the cookie keeps out everybody else. The rules are those that Jupyter, CUPS and others arrived at:
//! W3C Fetch Metadata, RFC 6454 (origin), RFC 9110 7.2 (host).

use crate::shared::Site;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

/// Where a browser gets its session: the one place whose body may be a form, for browsers without JavaScript.
pub(crate) const SESSION_PATH: &str = "/session";
/// Style and script, which everybody may have.
pub(crate) const ASSETS: &str = "/assets/";

/// Why a request goes no further: it is for another host.
pub(crate) const OTHER_HOST: StatusCode = StatusCode::MISDIRECTED_REQUEST;
/// Another page sent it.
pub(crate) const OTHER_PAGE: StatusCode = StatusCode::FORBIDDEN;
/// Its body is of another kind.
pub(crate) const OTHER_KIND: StatusCode = StatusCode::UNSUPPORTED_MEDIA_TYPE;
/// Its browser was not let in.
pub(crate) const NOT_IN: StatusCode = StatusCode::UNAUTHORIZED;

/// Admits a request or tells why not. Whether its browser was let in: some things everybody may have.
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
    // A request that the reader made by hand is `none`. Who comes to the first page by a link of another one gets the door,
    // whose script goes on from there; whatever else another page asks for is refused.
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

/// The value of a header that must not be there twice: who reads the other one reads another request.
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

/// The cookies of a request: names and values.
pub(crate) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
}
