//! The fingerprint of the page's script, as its policy names it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// SHA-256 in Base64, as in `script-src 'sha256-…'`.
pub(super) fn sha256_base64(words: &str) -> String {
    STANDARD.encode(Sha256::digest(words.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_that_of_the_standard() {
        // FIPS 180-4, the message "abc".
        assert_eq!(sha256_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }
}
