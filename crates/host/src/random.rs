//! Random bytes from the operating system, for unguessable names and for default seeds.

use kurabe_core::{ErrorKind, Result, text};
use rustix::rand::{GetRandomFlags, getrandom};

/// Returns random bytes.
///
/// # Errors
/// Fails if the operating system provides none.
pub fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    getrandom(&mut bytes[..], GetRandomFlags::empty()).map_err(|error| {
        ErrorKind::Internal.error(text!("cannot obtain random numbers", "乱数を得られません")).because(error)
    })?;
    Ok(bytes)
}
