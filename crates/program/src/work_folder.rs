//! The folder on the target in which programs work.
//!
//! The model: below the folder that the target allows, which is in the store before it exists, each step has one of its
//! own with `work` and `origin.git`. It is removed when this goes; the folder above it goes with the last one.

use crate::platform;
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Steps of one profile that have a folder at the same time.
const MOST_FOLDERS: u32 = 1000;
/// The settings of git where the files of the target are another user's, as on file systems without owners.
const GIT_CONFIG: &str = "[safe]\n\tdirectory = *\n";

/// A folder that is removed when this goes.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    container: PathBuf,
    path: PathBuf,
    work: PathBuf,
    origin: PathBuf,
    git_config: PathBuf,
    removed: bool,
}

impl WorkFolder {
    /// Makes a folder below the container, and the container if need be.
    ///
    /// # Errors
    /// When the file system does not take it.
    pub(crate) fn create(container: &Path) -> Result<Self> {
        let cannot = |error: &io::Error| {
            let path = shown::path(container);
            Error::os(text!("cannot make the folder {path}", "フォルダー {path} を作れません"), error)
        };
        // A folder of that name that is not kurabe's would be full of somebody else's files.
        match std::fs::create_dir(container) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(cannot(&error)),
            _ => {}
        }
        for number in 0..MOST_FOLDERS {
            let path = container.join(number.to_string());
            match std::fs::create_dir(&path) {
                Ok(()) => return Self::filled(container, path).map_err(|error| cannot(&error)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot(&error)),
            }
        }
        let path = shown::path(container);
        Err(Error::new(
            ErrorKind::Internal,
            text!("there are too many folders in {path}", "{path} のフォルダーが多すぎます"),
        ))
    }

    fn filled(container: &Path, path: PathBuf) -> io::Result<Self> {
        let mut folder = Self {
            container: container.to_owned(),
            work: path.join("work"),
            origin: path.join("origin.git"),
            git_config: PathBuf::from("/dev/null"),
            removed: false,
            path,
        };
        if std::fs::metadata(&folder.path)?.uid() != rustix::process::geteuid().as_raw() {
            folder.git_config = folder.path.join("gitconfig");
            std::fs::write(&folder.git_config, GIT_CONFIG)?;
        }
        Ok(folder)
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What does not exist at first, and programs work in.
    pub(crate) fn work(&self) -> &Path {
        &self.work
    }

    /// Where the material is.
    pub(crate) fn origin(&self) -> &Path {
        &self.origin
    }

    /// git's settings.
    pub(crate) fn git_config(&self) -> &Path {
        &self.git_config
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub(crate) fn remove(mut self) -> Result<()> {
        self.remove_now().map_err(|error| {
            let path = shown::path(&self.path);
            Error::os(text!("cannot remove {path}", "{path} を消せません"), &error)
        })
    }

    fn remove_now(&mut self) -> io::Result<()> {
        if self.removed {
            return Ok(());
        }
        match remove_tree(&self.path) {
            // A program of the profile may have removed it.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.removed = true;
        // It stays as long as another step has its folder there.
        let _ = std::fs::remove_dir(&self.container);
        Ok(())
    }
}

/// Removes a folder with all that is in it, unless a file system is mounted there: what is on that is not kurabe's.
///
/// # Errors
/// When a file system is mounted in it, or something in it cannot be removed.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if platform::is_mount_root(&folder)? {
            return Err(io::Error::other(format!("a file system is mounted at {}", shown::path(folder))));
        }
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    std::fs::remove_dir_all(folder)
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Nothing better can be done here; the next start tries again, because the store still names the container.
        let _ = self.remove_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_side_by_side_and_the_last_takes_the_container_along() {
        let dir = tempfile::tempdir().unwrap();
        let container = dir.path().join("container");
        let first = WorkFolder::create(&container).unwrap();
        let second = WorkFolder::create(&container).unwrap();
        assert_ne!(first.path(), second.path());
        assert!(!first.work().exists() && !first.origin().exists());
        std::fs::create_dir_all(first.work().join("deep")).unwrap();
        drop(first);
        assert!(second.path().exists());
        second.remove().unwrap();
        assert!(!container.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        assert_eq!(WorkFolder::create(Path::new("/nonexistent/x")).unwrap_err().kind(), ErrorKind::Target);
    }
}
