//! Sessions: a browser that opens the address printed in the terminal gets access.
//!
//! The model: the address has a token in its fragment, which browsers don't send. The page's script
//! posts the token once and receives a cookie. After that, the token is invalid. Tokens are 256
//! random bits, as in Jupyter and other servers, and are compared in constant time.

use crate::shared::locked;
use kurabe_core::Result;
use kurabe_host::random_bytes;
use std::sync::Mutex;

/// Random bytes of a token.
const WORD_BYTES: usize = 32;
/// Maximum number of unused launch tokens. Beyond that, the oldest is dropped.
const MOST_LAUNCHES: usize = 8;
/// Maximum number of browsers with a cookie. Beyond that, the oldest has to sign in again.
const MOST_BROWSERS: usize = 32;

/// Returns 64 unpredictable hexadecimal digits.
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
    /// Creates a token that lets one browser in.
    pub(crate) fn launch(&self) -> Result<String> {
        let word = word()?;
        add(&mut locked(&self.0).launches, word.clone(), MOST_LAUNCHES);
        Ok(word)
    }

    /// Exchanges a launch token for a cookie and invalidates the token. `None` if the token is
    /// unknown.
    pub(crate) fn enter(&self, launch: &str) -> Result<Option<String>> {
        let cookie = word()?;
        let mut words = locked(&self.0);
        let Some(place) = words.launches.iter().position(|word| is_same(word, launch)) else {
            return Ok(None);
        };
        words.launches.remove(place);
        add(&mut words.browsers, cookie.clone(), MOST_BROWSERS);
        Ok(Some(cookie))
    }

    /// Checks whether a browser has a session with this cookie.
    pub(crate) fn is_in(&self, cookie: &str) -> bool {
        locked(&self.0).browsers.iter().any(|word| is_same(word, cookie))
    }
}

fn add(words: &mut Vec<String>, word: String, most: usize) {
    if words.len() == most {
        words.remove(0);
    }
    words.push(word);
}

/// Compares in constant time, so that the duration does not reveal how much matches.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
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
