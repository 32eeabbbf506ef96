//! Ids of runs: short, easy to say, and never mistaken for a number.
//!
//! They consist of letters and digits without `i`, `l`, `o`, `u` (32 characters, so that a random
//! byte gives one without bias). They have three characters at first, and one more when several
//! draws in a row are taken. The draw and the insertion are in one transaction, so two processes
//! cannot draw the same id.

/// Characters of an id.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SHORTEST: usize = 3;
/// Longest id that is accepted from a file.
const LONGEST: usize = 16;
/// Draws of one length before ids become longer. With a quarter of all ids taken, four draws in a
/// row are taken in one case of 256.
const DRAWS: usize = 4;

/// Draws a free id. `random` returns random bytes, and `taken` whether an id is in use.
pub(crate) fn draw<E>(
    mut random: impl FnMut(usize) -> Result<Vec<u8>, E>,
    mut taken: impl FnMut(&str) -> Result<bool, E>,
) -> Result<String, E> {
    let mut length = SHORTEST;
    let mut draws_left = DRAWS;
    loop {
        let id: String =
            random(length)?.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect();
        if !is_number(&id) && !taken(&id)? {
            return Ok(id);
        }
        draws_left -= 1;
        if draws_left == 0 && length < LONGEST {
            length += 1;
        }
        if draws_left == 0 {
            draws_left = DRAWS;
        }
    }
}

/// Returns whether the text can be the id of a run.
pub(crate) fn is_well_formed(id: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&id.len())
        && id.bytes().all(|byte| ALPHABET.contains(&byte))
        && !is_number(id)
}

fn is_number(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn drawn(bytes: &[u8], taken: impl Fn(&str) -> bool) -> String {
        let mut tape = bytes.iter().copied();
        let random = |count: usize| Ok::<_, Infallible>((0..count).map(|_| tape.next().unwrap()).collect());
        draw(random, |id| Ok(taken(id))).unwrap()
    }

    #[test]
    fn an_id_has_three_characters_at_first() {
        assert_eq!(drawn(&[10, 11, 31], |_| false), "abz");
        assert_eq!(drawn(&[42, 43, 63], |_| false), "abz", "every byte gives a character");
    }

    #[test]
    fn an_id_is_never_a_number() {
        assert_eq!(drawn(&[1, 2, 3, 1, 2, 10], |_| false), "12a");
    }

    #[test]
    fn after_several_collisions_an_id_is_one_longer() {
        let bytes = [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11, 11, 11, 11];
        assert_eq!(drawn(&bytes, |id| id == "aaa"), "bbbb");
        assert_eq!(drawn(&bytes[6..], |id| id == "aaa"), "bbb", "after a few, it is not");
    }

    #[test]
    fn well_formed_ids() {
        for id in ["abc", "12a", "0123456789abcdez"] {
            assert!(is_well_formed(id), "{id}");
        }
        for id in ["", "ab", "123", "abi", "ABC", "ab c", "last", "あいう", "0123456789abcdefg"] {
            assert!(!is_well_formed(id), "{id}");
        }
    }
}
