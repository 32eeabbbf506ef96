//! What every request has to pass before anything of kurabe hears of it.
//!
//! The model: a request is admitted by what browsers cannot be made to say wrongly by a foreign page. `Host` keeps out names that
//! were rebound to this machine, `Origin` and `Sec-Fetch-Site` keep out other pages, the kind of a body keeps out plain forms,
//! and the cookie keeps out everybody else. The rules are those that Jupyter, CUPS and others arrived at:
//! W3C Fetch Metadata, RFC 6454 (origin), RFC 9110 7.2 (host).

use crate::session::Sessions;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use kurabe_core::{Error, ErrorKind, text};

/// Where a browser gets its session: the one place whose body may be a form, for browsers without JavaScript.
pub(crate) const SESSION_PATH: &str = "/session";
/// Style and script, which everybody may have.
pub(crate) const ASSETS: &str = "/assets/";

/// Names under which this server is asked for, each with its port: `127.0.0.1:4321`.
#[derive(Clone, Debug)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// Those of a port on this machine.
    pub(crate) fn loopback(port: u16) -> Self {
        Self(["127.0.0.1", "localhost", "[::1]"].iter().map(|name| format!("{name}:{port}")).collect())
    }

    /// With one more.
    pub(crate) fn and(mut self, name: String) -> Self {
        self.0.push(name);
        self
    }

    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

/// Why a request goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is for another host.
    Host,
    /// Another page sent it.
    Origin,
    /// Nothing here is asked for in this way.
    Method,
    /// Its body is of another kind.
    Kind,
    /// Its browser was not let in.
    Session,
}

impl Refusal {
    /// What is answered to who looks with a tool; a browser shows it only where somebody tried something.
    pub(crate) fn answer(self) -> (StatusCode, Error) {
        let printed = text!(
            "open the address that was printed in the terminal",
            "端末に表示されたアドレスを開いてください"
        );
        let (status, what, remedy) = match self {
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                text!(
                    "this server answers to its own address only",
                    "このサーバーは自分のアドレスにだけ応答します"
                ),
                printed,
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                text!("the request came from another page", "ほかのページからの要求です"),
                text!("open the address by itself", "アドレスを直接開いてください"),
            ),
            Self::Method => (
                StatusCode::METHOD_NOT_ALLOWED,
                text!("only GET and POST are taken", "使えるのは GET と POST だけです"),
                text!("ask with one of them", "どちらかを使ってください"),
            ),
            Self::Kind => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                text!("the body has to be JSON", "本文は JSON でなければなりません"),
                text!("send it as application/json", "application/json として送ってください"),
            ),
            Self::Session => (
                StatusCode::UNAUTHORIZED,
                text!("this browser was not let in", "このブラウザーはまだ入室していません"),
                printed,
            ),
        };
        (status, ErrorKind::Refused.error(what).remedy(remedy))
    }
}

/// Admits a request or tells why not. Whether its browser was let in: some things everybody may have.
pub(crate) fn admit(
    (method, uri, headers): (&Method, &Uri, &HeaderMap),
    names: &Names,
    cookie_name: &str,
    sessions: &Sessions,
) -> Result<bool, Refusal> {
    let host = only(headers, &header::HOST)?.filter(|host| names.has(host)).ok_or(Refusal::Host)?;
    if uri.authority().is_some_and(|authority| !names.has(authority.as_str())) {
        return Err(Refusal::Host);
    }
    let origin = only(headers, &header::ORIGIN)?;
    let own_origin =
        |origin: &str| origin.strip_prefix("http://").is_some_and(|name| name.eq_ignore_ascii_case(host));
    if origin.is_some_and(|origin| !own_origin(origin)) {
        return Err(Refusal::Origin);
    }
    // A request that the reader made by hand is `none`. Who comes to the first page by a link of another one gets the door,
    // whose script goes on from there; whatever else another page asks for is refused.
    let fetch = |name| only(headers, &HeaderName::from_static(name));
    if fetch("sec-fetch-site")?.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        let is_link =
            fetch("sec-fetch-mode")? == Some("navigate") && fetch("sec-fetch-dest")? == Some("document");
        let comes_in = is_link && *method == Method::GET && uri.path() == "/";
        return Err(if comes_in { Refusal::Session } else { Refusal::Origin });
    }
    let acts = match *method {
        Method::GET | Method::HEAD => false,
        Method::POST => true,
        _ => return Err(Refusal::Method),
    };
    if acts && origin.is_none() {
        return Err(Refusal::Origin);
    }
    let path = uri.path();
    if acts && !is_kind(headers, "application/json") {
        let form = path == SESSION_PATH && is_kind(headers, "application/x-www-form-urlencoded");
        form.then_some(()).ok_or(Refusal::Kind)?;
    }
    let is_open = path.starts_with(ASSETS) || (acts && path == SESSION_PATH);
    let is_in = cookies(headers).any(|(name, value)| name == cookie_name && sessions.is_in(value));
    if is_open || is_in { Ok(is_in) } else { Err(Refusal::Session) }
}

/// The value of a header that must not be there twice: who reads the other one reads another request.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match (values.next(), value.to_str()) {
        (None, Ok(value)) => Ok(Some(value)),
        _ if *name == header::HOST => Err(Refusal::Host),
        _ => Err(Refusal::Origin),
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
