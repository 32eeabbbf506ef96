//! The folder on the target in which programs work.
//!
//! The model: below the folder that the target holds for them, which is in the store before it exists, each step has one
//! of its own with `work` and `origin.git`. It is removed when this goes. Programs are given paths that lead through the
//! descriptor of that folder, so that they work in it even when something else has got its name.

use crate::folder::{FileIdentity, Folder};
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::fs::{FileType, OFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Steps of one profile that have a folder at the same time.
const MOST_FOLDERS: u32 = 1000;
/// What does not exist at first, and programs work in.
const WORK: &str = "work";
/// Where the material is.
const ORIGIN: &str = "origin.git";
const GIT_CONFIG: &str = "gitconfig";
/// The settings of git where the files of the target are another user's, as on file systems without owners.
const GIT_SETTINGS: &[u8] = b"[safe]\n\tdirectory = *\n";

/// A folder that is removed when this goes.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    container: Folder,
    name: OsString,
    folder: Folder,
    /// The path through the descriptor.
    held_path: PathBuf,
    git_config: PathBuf,
    removed: bool,
}

impl WorkFolder {
    /// Makes a folder in the container.
    ///
    /// # Errors
    /// When the file system does not take it, or /proc is missing.
    pub(crate) fn create(container: &Folder) -> Result<Self> {
        let shown = container.path().display();
        let cannot = |error: &io::Error| {
            Error::os(text!("cannot make a folder in {shown}", "{shown} にフォルダーを作れません"), error)
        };
        for number in 0..MOST_FOLDERS {
            let name = OsString::from(number.to_string());
            match container.make(&name) {
                Ok(folder) => return Self::filled(container, name, folder).map_err(|error| cannot(&error)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot(&error)),
            }
        }
        Err(Error::new(
            ErrorKind::Internal,
            text!("there are too many folders in {shown}", "{shown} のフォルダーが多すぎます"),
        ))
    }

    fn filled(container: &Folder, name: OsString, folder: Folder) -> io::Result<Self> {
        let held_path = folder.held_path()?;
        let mut made = Self {
            container: container.try_clone()?,
            name,
            folder,
            held_path,
            git_config: PathBuf::from("/dev/null"),
            removed: false,
        };
        if rustix::fs::fstat(&made.folder)?.st_uid != rustix::process::geteuid().as_raw() {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            File::from(made.folder.open_entry(OsStr::new(GIT_CONFIG), flags)?).write_all(GIT_SETTINGS)?;
            made.git_config = made.held_path.join(GIT_CONFIG);
        }
        Ok(made)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The work folder and the material, as programs are given them.
    pub(crate) fn held_places(&self) -> (PathBuf, PathBuf) {
        (self.held_path.join(WORK), self.held_path.join(ORIGIN))
    }

    /// The work folder and the material, as people read them.
    pub(crate) fn shown_places(&self) -> (PathBuf, PathBuf) {
        (self.folder.path().join(WORK), self.folder.path().join(ORIGIN))
    }

    /// git's settings.
    pub(crate) fn git_config(&self) -> &Path {
        &self.git_config
    }

    /// Refuses when somebody has put a link where programs work: they would work wherever it points.
    ///
    /// # Errors
    /// When that is so, or cannot be found out.
    pub(crate) fn refuse_links(&self) -> Result<()> {
        for name in [WORK, ORIGIN] {
            let shown = self.folder.path().join(name);
            let shown = shown.display();
            let facts = self.folder.facts(OsStr::new(name)).map_err(|error| {
                Error::os(text!("cannot look at {shown}", "{shown} を調べられません"), &error)
            })?;
            if facts.is_some_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::Symlink) {
                return Err(Error::new(
                    ErrorKind::Refused,
                    text!(
                        "{shown} became a link: programs would work on what it points to",
                        "{shown} がリンクに置き換わりました。このままではリンク先がプログラムの対象になります"
                    ),
                )
                .remedy(text!(
                    "leave the folder alone while it is measured, and do not make it a link in the profile",
                    "測定中はこのフォルダーに触らず、プロファイルでもリンクにしないでください"
                )));
            }
        }
        Ok(())
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub(crate) fn remove(mut self) -> Result<()> {
        self.remove_now().map_err(|error| {
            let path = self.folder.path().display();
            Error::os(text!("cannot remove {path}", "{path} を消せません"), &error)
        })
    }

    fn remove_now(&mut self) -> io::Result<()> {
        if self.removed {
            return Ok(());
        }
        // A program of the profile may have removed it.
        if let Some(facts) = self.container.facts(&self.name)? {
            if FileIdentity::from(&facts) != FileIdentity::of(&self.folder)? {
                return Err(io::Error::other("something else has its name"));
            }
            self.container.remove_tree(&self.name)?;
        }
        self.removed = true;
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Nothing better can be done here; the container goes after it, and is told of when it cannot.
        let _ = self.remove_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().canonicalize().unwrap()).unwrap();
        (dir, folder)
    }

    #[test]
    fn folders_stand_side_by_side_and_go_one_by_one() {
        let (_dir, container) = container();
        let first = WorkFolder::create(&container).unwrap();
        let second = WorkFolder::create(&container).unwrap();
        assert_ne!(first.folder().path(), second.folder().path());
        let (work, origin) = first.held_places();
        assert!(!work.exists() && !origin.exists());
        std::fs::create_dir_all(work.join("deep")).unwrap();
        assert!(first.shown_places().0.join("deep").exists());
        drop(first);
        assert_eq!(container.entries().unwrap().len(), 1);
        second.remove().unwrap();
        assert!(container.entries().unwrap().is_empty());
    }

    #[test]
    fn a_link_in_place_of_the_work_folder_is_refused() {
        let (dir, container) = container();
        let folder = WorkFolder::create(&container).unwrap();
        folder.refuse_links().unwrap();
        std::fs::create_dir(folder.held_places().0).unwrap();
        folder.refuse_links().unwrap();
        std::fs::remove_dir(folder.held_places().0).unwrap();
        std::os::unix::fs::symlink(dir.path(), folder.held_places().0).unwrap();
        assert_eq!(folder.refuse_links().unwrap_err().kind(), ErrorKind::Refused);
    }

    #[test]
    fn what_took_the_name_of_a_folder_stays() {
        let (dir, container) = container();
        let folder = WorkFolder::create(&container).unwrap();
        std::fs::rename(dir.path().join("0"), dir.path().join("moved")).unwrap();
        std::fs::create_dir_all(dir.path().join("0/victim")).unwrap();
        assert!(folder.remove().is_err());
        assert!(dir.path().join("0/victim").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let (dir, container) = container();
        std::fs::remove_dir(dir.path()).unwrap();
        assert_eq!(WorkFolder::create(&container).unwrap_err().kind(), ErrorKind::Target);
    }
}
