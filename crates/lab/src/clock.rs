//! The time of day, and random words.

use kurabe_core::{Error, ErrorKind, Result, text};

/// The time of day, RFC 3339 with offset.
pub fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

pub(crate) fn random_word() -> Result<u64> {
    random_bytes().map(u64::from_ne_bytes)
}

/// The word of a mark: 32 digits.
pub(crate) fn mark_word() -> Result<String> {
    random_bytes().map(|bytes: [u8; 16]| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map_err(|error| {
        Error::new(ErrorKind::Internal, text!("no random numbers", "乱数を得られません")).because(error)
    })?;
    Ok(bytes)
}
