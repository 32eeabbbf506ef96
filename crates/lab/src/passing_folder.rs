//! A temporary folder.

use std::path::PathBuf;

/// Removes the folder and its contents on drop.
pub(crate) struct PassingFolder(pub(crate) PathBuf);

impl Drop for PassingFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
