//! Chance, from the operating system: for names that nobody guesses and for seeds that are not asked for.

use kurabe_core::{ErrorKind, Result, text};
use rustix::rand::{GetRandomFlags, getrandom};

/// Random bytes.
///
/// # Errors
/// When the operating system has none.
pub fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    getrandom(&mut bytes[..], GetRandomFlags::empty()).map_err(|error| {
        ErrorKind::Internal.error(text!("no random numbers", "乱数を得られません")).because(error)
    })?;
    Ok(bytes)
}
