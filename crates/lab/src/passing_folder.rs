//! A folder that is removed when it is no longer needed.

use std::path::PathBuf;

/// Removes the folder and its contents when it is dropped.
pub(crate) struct PassingFolder(pub(crate) PathBuf);

impl Drop for PassingFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
