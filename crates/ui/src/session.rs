//! Who may use the page: who has the address that the terminal printed, and the browser that it was opened in.
//!
//! The model: the address carries a word in its fragment, which browsers send to nobody. The page's script posts it once and
//! gets a cookie for it; the word is worth nothing afterwards. Words are 256 random bits, as Jupyter and others have them, and are compared in constant time.
//!
//! The door: what who has no session sees, and how one is got.

use crate::pages::Made;
use crate::pages::frame::head;
use crate::shared::App;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect};
use kurabe_core::{ErrorKind, Lang, Result, text};
use kurabe_host::random_bytes;
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Random bytes of a word.
const WORD_BYTES: usize = 32;
/// Words that were given out and not used; of more the oldest is forgotten.
const MOST_LAUNCHES: usize = 8;
/// Browsers with a cookie; of more the one that came first has to come again.
const MOST_BROWSERS: usize = 32;

/// 64 digits that nobody can guess.
fn word() -> Result<String> {
    Ok(random_bytes::<WORD_BYTES>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The sessions of a page.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<AccessWords>);

#[derive(Debug, Default)]
struct AccessWords {
    launches: Vec<String>,
    browsers: Vec<String>,
}

impl Sessions {
    /// A word that lets one browser in.
    pub(crate) fn launch(&self) -> Result<String> {
        let word = word()?;
        add(&mut self.words().launches, word.clone(), MOST_LAUNCHES);
        Ok(word)
    }

    /// The cookie for such a word, which is used up; `None` if it is none.
    pub(crate) fn enter(&self, launch: &str) -> Result<Option<String>> {
        let cookie = word()?;
        let mut words = self.words();
        let Some(place) = words.launches.iter().position(|word| is_same(word, launch)) else {
            return Ok(None);
        };
        words.launches.remove(place);
        add(&mut words.browsers, cookie.clone(), MOST_BROWSERS);
        Ok(Some(cookie))
    }

    /// Whether a browser was let in with this cookie.
    pub(crate) fn is_in(&self, cookie: &str) -> bool {
        self.words().browsers.iter().any(|word| is_same(word, cookie))
    }

    fn words(&self) -> MutexGuard<'_, AccessWords> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(words: &mut Vec<String>, word: String, most: usize) {
    if words.len() == most {
        words.remove(0);
    }
    words.push(word);
}

/// Compares without telling by its time how much is right.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// What a browser without a session is shown. Its script takes the word out of the address; without one it is typed.
pub(crate) fn door(lang: Lang) -> Markup {
    let words = text!(
        "This page belongs to a kurabe that runs in a terminal. Open the address that it printed there; an address lets one \
         browser in, once.",
        "このページは端末で動いている kurabe のものです。端末に表示されたアドレスを開いてください。1 つのアドレスで入れるのは、\
         1 つのブラウザーが 1 回だけです。"
    );
    let label =
        text!("or type what stands behind # in it", "または、アドレスの # より後ろを入力してください");
    html! {
        (DOCTYPE)
        html lang=(lang.pick("en", "ja")) {
            (head("kurabe"))
            body data-door="1" {
                main {
                    h1 { "kurabe" }
                    p #door { (words.get(lang)) }
                    form method="post" action="/session" {
                        label for="word" { (label.get(lang)) }
                        input #word name="word" autocomplete="off" required maxlength="64";
                        button.main { (text!("open", "開く").get(lang)) }
                    }
                }
            }
        }
    }
}

/// `POST /session`: a word for a cookie, as JSON or as the form of [`door`].
pub(crate) fn enter(shared: &App, _: Lang, (headers, body): (HeaderMap, Bytes)) -> Result<Made> {
    let is_form = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www"));
    let body = String::from_utf8_lossy(&body);
    let word = match is_form {
        true => body.strip_prefix("word=").unwrap_or_default().trim().to_owned(),
        false => {
            let sent: Value = serde_json::from_str(&body).unwrap_or_default();
            sent["word"].as_str().unwrap_or_default().to_owned()
        }
    };
    let used = || {
        ErrorKind::Refused.error(text!(
            "this address was used already, or is none of this kurabe",
            "このアドレスは使用済みか、この kurabe のものではありません"
        ))
    };
    let cookie = shared.sessions.enter(&word)?.ok_or_else(used)?;
    let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", shared.cookie_name);
    let answer = match is_form {
        true => ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        false => (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response(),
    };
    Ok(Made::Other(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lets_one_browser_in_once() {
        let sessions = Sessions::default();
        let launch = sessions.launch().unwrap();
        assert_eq!(launch.len(), 2 * WORD_BYTES);
        assert_eq!(sessions.enter("").unwrap(), None);
        assert_eq!(sessions.enter(&launch[1..]).unwrap(), None);
        let cookie = sessions.enter(&launch).unwrap().unwrap();
        assert!(sessions.is_in(&cookie) && !sessions.is_in(&launch) && !sessions.is_in(""));
        assert_eq!(sessions.enter(&launch).unwrap(), None);
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let sessions = Sessions::default();
        let first = sessions.launch().unwrap();
        let others: Vec<String> = (0..MOST_LAUNCHES).map(|_| sessions.launch().unwrap()).collect();
        assert_eq!(sessions.enter(&first).unwrap(), None);
        assert!(others.iter().all(|launch| sessions.enter(launch).unwrap().is_some()));
    }
}
