//! Who may use the page: who has the address that the terminal printed, and the browser that it was opened in.
//!
//! The model: the address carries a word in its fragment, which browsers send to nobody. The page's script posts it once and
//! gets a cookie for it; the word is worth nothing afterwards. Words are 256 random bits, as Jupyter and others have them, and are
//! compared in constant time.

use crate::shared::locked;
use kurabe_core::Result;
use kurabe_host::random_bytes;
use std::sync::Mutex;

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
        add(&mut locked(&self.0).launches, word.clone(), MOST_LAUNCHES);
        Ok(word)
    }

    /// The cookie for such a word, which is used up; `None` if it is none.
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

    /// Whether a browser was let in with this cookie.
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

/// Compares without telling by its time how much is right.
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
