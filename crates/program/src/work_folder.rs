//! The folder on the target in which programs work.
//!
//! The model: below the folder that the target allows, which is in the store before it exists, each step has one of its
//! own with `work` and `origin.git`. Both are made where nothing was, for the worker alone (mode 0700), and looked at
//! before they are used: a folder that somebody else planted, filled or may write is refused. It is removed when this
//! goes; the folder above it goes with the last one.

use crate::platform;
use crate::worker::Worker;
use kurabe_core::{Error, Result, text};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Steps of one profile that have a folder at the same time.
const MOST_FOLDERS: u32 = 1000;
/// For the worker alone.
const PRIVATE: u32 = 0o700;
/// In a mode: others may write. On a file system without owners, its masks.
const OTHERS_WRITE: u32 = 0o022;

/// A folder that is removed when this goes.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    container: PathBuf,
    path: PathBuf,
    work: PathBuf,
    origin: PathBuf,
    git_config: PathBuf,
    worker: Worker,
    removed: bool,
}

impl WorkFolder {
    /// Makes a folder below the container, and the container if need be.
    ///
    /// # Errors
    /// When the file system does not take it, or something of somebody else's is in its place.
    pub(crate) fn create(container: &Path, worker: Worker) -> Result<Self> {
        let path = worker.act(|| make_below(container, worker.uid())).map_err(|error| {
            let path = container.display();
            let made =
                Error::os(text!("cannot make the folder {path}", "フォルダー {path} を作れません"), &error);
            match worker.other {
                Some(owner) => {
                    let uid = owner.uid;
                    made.remedy(text!(
                        "in a directory of user {uid} programs work as that user, who needs a way to it and the right to write; or measure in a directory of root's",
                        "ユーザー {uid} のディレクトリではそのユーザーとしてプログラムを実行します。たどり着けて書き込める場所にするか、root のディレクトリを使ってください"
                    ))
                }
                None => made,
            }
        })?;
        let folder = Self {
            container: container.to_owned(),
            work: path.join("work"),
            origin: path.join("origin.git"),
            git_config: path.join("gitconfig"),
            worker,
            removed: false,
            path,
        };
        worker.act(|| folder.write_git_config()).map_err(|error| {
            let path = folder.git_config.display();
            Error::os(text!("cannot write {path}", "{path} に書けません"), &error)
        })?;
        Ok(folder)
    }

    /// git's only settings. It mistrusts files of another user, which all of a file system without owners may be; there it
    /// is to trust these and no others. What git starts for the other side of a fetch reads nothing but this file.
    fn write_git_config(&self) -> io::Result<()> {
        let mut settings = String::new();
        if std::fs::symlink_metadata(&self.path)?.uid() != self.worker.uid() {
            settings.push_str("[safe]\n");
            for trusted in [self.work.clone(), self.work.join(".git"), self.origin.clone()] {
                let path = trusted.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
                let path = path.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
                settings.push_str(&format!("\tdirectory = \"{path}\"\n"));
            }
        }
        std::fs::File::create_new(&self.git_config)?.write_all(settings.as_bytes())
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

    /// As whom programs work in it.
    pub(crate) fn worker(&self) -> Worker {
        self.worker
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub(crate) fn remove(mut self) -> Result<()> {
        self.remove_now().map_err(|error| {
            let path = self.path.display();
            Error::os(text!("cannot remove {path}", "{path} を消せません"), &error)
        })
    }

    fn remove_now(&mut self) -> io::Result<()> {
        if self.removed {
            return Ok(());
        }
        self.worker.act(|| {
            match remove_tree(&self.path) {
                // A program of the profile may have removed it.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // It stays as long as another step has its folder there.
            let _ = std::fs::remove_dir(&self.container);
            Ok(())
        })?;
        self.removed = true;
        Ok(())
    }
}

/// A new folder in the container.
fn make_below(container: &Path, uid: u32) -> io::Result<PathBuf> {
    match make_private(container) {
        Ok(()) => {}
        // The folder of another step of this run; a planted one would be somebody else's, or open to them.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let facts = std::fs::symlink_metadata(container)?;
            if !facts.is_dir() || facts.uid() != uid || facts.mode() & OTHERS_WRITE != 0 {
                return Err(error);
            }
        }
        Err(error) => return Err(error),
    }
    for number in 0..MOST_FOLDERS {
        let path = container.join(number.to_string());
        match make_private(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are too many folders in it"))
}

/// Makes a folder where nothing was, and makes sure that it is what is there now.
fn make_private(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(PRIVATE).create(path)?;
    let facts = std::fs::symlink_metadata(path)?;
    if !facts.is_dir() || std::fs::read_dir(path)?.next().is_some() {
        return Err(io::Error::other("something else took its place"));
    }
    Ok(())
}

/// Removes a folder with all that is in it, unless a file system is mounted there: what is on that is not kurabe's.
///
/// # Errors
/// When a file system is mounted in it, or something in it cannot be removed.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if platform::is_mount_root(&folder)? {
            return Err(io::Error::other(format!("a file system is mounted at {}", folder.display())));
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
    use kurabe_core::ErrorKind;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const SELF: Worker = Worker { other: None };

    #[test]
    fn folders_stand_side_by_side_and_the_last_takes_the_container_along() {
        let dir = tempfile::tempdir().unwrap();
        let container = dir.path().join("container");
        let first = WorkFolder::create(&container, SELF).unwrap();
        let second = WorkFolder::create(&container, SELF).unwrap();
        assert_ne!(first.path(), second.path());
        assert!(!first.work().exists() && !first.origin().exists());
        for folder in [&container, first.path()] {
            assert_eq!(folder.metadata().unwrap().mode() & 0o777, PRIVATE, "{}", folder.display());
        }
        assert_eq!(std::fs::read_to_string(first.git_config()).unwrap(), "", "its owner needs no trust");
        std::fs::create_dir_all(first.work().join("deep")).unwrap();
        drop(first);
        assert!(second.path().exists());
        second.remove().unwrap();
        assert!(!container.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let error = WorkFolder::create(Path::new("/nonexistent/x"), SELF).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Target);
    }

    #[test]
    fn what_was_planted_in_its_place_is_neither_used_nor_touched() {
        let dir = tempfile::tempdir().unwrap();
        let (container, elsewhere) = (dir.path().join("container"), dir.path().join("elsewhere"));
        std::fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, &container).unwrap();
        assert!(WorkFolder::create(&container, SELF).is_err());
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
        std::fs::remove_file(&container).unwrap();
        // A folder that others may write.
        std::fs::create_dir(&container).unwrap();
        std::fs::set_permissions(&container, std::fs::Permissions::from_mode(0o775)).unwrap();
        assert!(WorkFolder::create(&container, SELF).is_err());
        assert_eq!(std::fs::read_dir(&container).unwrap().count(), 0);
    }
}
