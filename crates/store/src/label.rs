//! Keys of labels.

use kurabe_core::{ErrorKind, Result, text};

const LONGEST_KEY: usize = 64;

/// Checks the key of a label.
///
/// # Errors
/// If it is not a valid key.
pub fn check_label_key(key: &str) -> Result<()> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
    if (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(allowed) {
        return Ok(());
    }
    Err(ErrorKind::Usage.error(text!(
        "`{key}` cannot be the key of a label: a key has 1 to 64 characters from a-z 0-9 _ . -",
        "`{key}` はラベルのキーに使えません: キーは a-z 0-9 _ . - からなる 1〜64 文字です"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let long = "k".repeat(64);
        for key in ["a", "firmware.v-2_1", "0", &long] {
            assert!(check_label_key(key).is_ok(), "{key}");
        }
        let too_long = "k".repeat(65);
        for key in ["", "A", "a b", "鍵", "a=b", &too_long] {
            assert!(check_label_key(key).is_err(), "{key}");
        }
    }
}
