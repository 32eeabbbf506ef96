//! Location of runs that the store could not take.

use kurabe_core::{Text, mention::IMPORT, shown, text};
use std::path::Path;

/// Names the file that contains the run, and the command that imports it.
pub(crate) fn rescued_in(file: &Path) -> Vec<Text> {
    let file = shown::path(file);
    let word = shown::shell_word(&file);
    vec![
        text!("saved in {file}", "{file} に保存"),
        text!("into a store: {IMPORT} {word}", "保存先への取り込み: {IMPORT} {word}"),
    ]
}
