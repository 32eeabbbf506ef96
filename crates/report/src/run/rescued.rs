//! Where runs are that the store did not take.

use kurabe_core::{Text, mention::IMPORT, shown, text};
use std::path::Path;

/// The file that what the store did not take is in, and what to do with it.
pub(crate) fn rescued_in(file: &Path) -> Vec<Text> {
    let file = shown::path(file);
    let word = shown::shell_word(&file);
    vec![
        text!("saved in {file}", "{file} に保存"),
        text!("into a store: {IMPORT} {word}", "保存先への取り込み: {IMPORT} {word}"),
    ]
}
