//! The store that many machines share: a database of PostgreSQL, named by an address (`postgres://USER@HOST/DATABASE`).
//!
//! The model: what a program was built with decides whether there is one; whoever asks needs not know.

use crate::Archive;
use kurabe_core::Result;
#[cfg(not(feature = "postgres"))]
use kurabe_core::{ErrorKind, text};
use std::borrow::Cow;
use std::ffi::OsString;

/// What a shared store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedAccess {
    /// To be read.
    Read,
    /// For runs that are brought to it: the tables are made, or made new, if that is needed.
    Write,
}

/// The beginnings of addresses.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Whether these words are the address of a shared store.
pub fn is_shared(words: &str) -> bool {
    SCHEMES.iter().any(|scheme| words.starts_with(scheme))
}

/// Opens a shared store; `env` gives what libpq takes of the environment. No password is in any error.
///
/// # Errors
/// When the address is none, nobody answers there or refuses, its tables are not there or of another kurabe, or this one was
/// built without.
pub fn open_shared(
    address: &str,
    access: SharedAccess,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Box<dyn Archive>> {
    #[cfg(feature = "postgres")]
    return Ok(Box::new(crate::postgres::PostgresStore::open(address, access, env)?));
    #[cfg(not(feature = "postgres"))]
    {
        let _ = (address, access, env);
        Err(ErrorKind::Store.error(text!(
            "this kurabe was built without PostgreSQL",
            "この kurabe は PostgreSQL なしでビルドされています"
        )))
    }
}

/// The words with every password in an address covered: of what somebody typed, whatever it was meant for.
pub fn without_passwords(words: &str) -> Cow<'_, str> {
    let mut rest = words;
    let mut out = String::new();
    while let Some(at) = rest.find("://") {
        let (before, address) = rest.split_at(at + "://".len());
        out += before;
        let end =
            address.find(|one: char| one.is_whitespace() || "\"'`".contains(one)).unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        out += &covered(address);
        rest = after;
    }
    if out.is_empty() { Cow::Borrowed(words) } else { Cow::Owned(out + rest) }
}

/// An address, from behind its scheme on, without what may be a password.
fn covered(address: &str) -> String {
    // A password may have any letter in it: it ends at the last `@` that may end it.
    let (account, place) =
        address.rsplit_once('@').map_or((None, address), |(account, place)| (Some(account), place));
    let mut out = String::new();
    if let Some(account) = account {
        out += account.split_once(':').map_or(account, |(user, _)| user);
        out += if account.contains(':') { ":…@" } else { "@" };
    }
    match place.find("password=") {
        Some(at) => out + &place[..at] + "password=…",
        None => out + place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_covered_wherever_an_address_stands() {
        for (typed, shown) in [
            ("no `postgres://aki:s3cret@db/lab` here", "no `postgres://aki:…@db/lab` here"),
            ("postgresql://aki:s3/c@ret?@db:1/lab", "postgresql://aki:…@db:1/lab"),
            ("postgres://db/lab?user=aki&password=s3cret&a=b", "postgres://db/lab?user=aki&password=…"),
            ("postgres://aki@db/lab and postgres://b:s3cret@c", "postgres://aki@db/lab and postgres://b:…@c"),
            ("postgre://aki:s3cret@db", "postgre://aki:…@db"),
            ("/mnt/a:b@c", "/mnt/a:b@c"),
        ] {
            assert_eq!(without_passwords(typed), shown);
        }
    }
}
