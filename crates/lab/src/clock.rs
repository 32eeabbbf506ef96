//! The time of day, and random words.

use kurabe_core::{Error, ErrorKind, Result, text};

/// The time of day, RFC 3339 with offset.
pub fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

pub(crate) fn random_word() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map_err(|error| {
        Error::new(ErrorKind::Internal, text!("no random numbers", "乱数を得られません")).because(error)
    })?;
    Ok(u64::from_ne_bytes(bytes))
}
