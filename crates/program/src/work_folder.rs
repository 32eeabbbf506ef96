//! The folder on the target in which programs work.
//!
//! Below the container folder on the target, which is recorded in the store before it is created,
//! each step has its own folder with `work` and `origin.git`. It is removed when the value is
//! dropped. Programs receive paths that lead through the descriptor of the container, so that they
//! work below it even if its name is taken. Below it they may remove anything. Programs of another
//! user cannot use kurabe's descriptors: they use the names, with only their own privileges.

use crate::command_line::Placeholders;
use crate::folder::{FileIdentity, Folder};
use crate::worker::Worker;
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use rustix::fs::{FileType, OFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Most steps of one profile that have a folder at the same time.
const MOST_FOLDERS: u32 = 1000;
/// Name of the folder in which programs work; it does not exist at first.
const WORK: &str = "work";
/// Name of the repository.
const ORIGIN: &str = "origin.git";
const GIT_CONFIG: &str = "gitconfig";

/// A folder that is removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    container: Folder,
    name: OsString,
    /// Open folder.
    pub(crate) folder: Folder,
    /// Path that programs receive, which is their home.
    pub(crate) given_path: PathBuf,
    /// Configuration file of git.
    pub(crate) git_config: PathBuf,
    /// User as whom programs work in it.
    pub(crate) worker: Worker,
    removed: bool,
}

impl WorkFolder {
    /// Creates a folder in the container.
    ///
    /// # Errors
    /// If the file system refuses, or /proc is missing.
    pub(crate) fn create(container: &Folder, worker: Worker) -> Result<Self> {
        let shown = shown::path(container.path());
        let cannot = |error: &io::Error| {
            Error::os(text!("cannot create a folder in {shown}", "{shown} にフォルダーを作れません"), error)
        };
        worker.own(container).map_err(|error| cannot(&error))?;
        for number in 0..MOST_FOLDERS {
            let name = OsString::from(number.to_string());
            match container.make(&name) {
                Ok(folder) => {
                    return Self::filled(container, name, folder, worker).map_err(|error| cannot(&error));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot(&error)),
            }
        }
        Err(ErrorKind::Internal
            .error(text!("there are too many folders in {shown}", "{shown} のフォルダーが多すぎます")))
    }

    fn filled(container: &Folder, name: OsString, folder: Folder, worker: Worker) -> io::Result<Self> {
        worker.own(&folder)?;
        // The descriptor in the path must live as long as this value.
        let container = container.try_clone()?;
        let given_path = match worker.other {
            Some(_) => folder.path().to_owned(),
            None => container.held_path()?.join(&name),
        };
        let mut made = Self {
            container,
            name,
            folder,
            given_path,
            git_config: PathBuf::from("/dev/null"),
            worker,
            removed: false,
        };
        if rustix::fs::fstat(&made.folder)?.st_uid != worker.uid() {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            let file = made.folder.open_entry(OsStr::new(GIT_CONFIG), flags)?;
            File::from(file).write_all(made.git_settings()?.as_bytes())?;
            made.git_config = made.given_path.join(GIT_CONFIG);
        }
        Ok(made)
    }

    /// Returns a git configuration that trusts these repositories only.
    ///
    /// git does not trust files of another user, and on a file system without owners all files may
    /// appear to have another owner. The setting is in a file because the process that git starts
    /// for the remote side of a fetch reads nothing else.
    fn git_settings(&self) -> io::Result<String> {
        let mut settings = "[safe]\n".to_owned();
        for Placeholders { work, origin } in [self.given_places(), self.shown_places()] {
            for trusted in [work.join(".git"), work, origin] {
                let path = trusted.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
                let path = path.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
                settings.push_str(&format!("\tdirectory = \"{path}\"\n"));
            }
        }
        Ok(settings)
    }

    /// Returns the work folder and the repository as programs receive them.
    pub(crate) fn given_places(&self) -> Placeholders {
        places_in(&self.given_path)
    }

    /// Returns the work folder and the repository for display.
    pub(crate) fn shown_places(&self) -> Placeholders {
        places_in(self.folder.path())
    }

    /// Refuses if the folder was replaced, or if a symbolic link is in it: programs would work
    /// wherever it points.
    ///
    /// # Errors
    /// If that is the case or cannot be checked.
    pub(crate) fn refuse_links(&self) -> Result<()> {
        let cannot = |path: &Path, error: &io::Error| {
            let path = shown::path(path);
            Error::os(text!("cannot examine {path}", "{path} を調べられません"), error)
        };
        if self.is_replaced().map_err(|error| cannot(self.folder.path(), &error))? {
            return Err(replaced(self.folder.path()));
        }
        for name in [WORK, ORIGIN] {
            let path = self.folder.path().join(name);
            let facts = self.folder.facts(OsStr::new(name)).map_err(|error| cannot(&path, &error))?;
            if facts.is_some_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::Symlink) {
                return Err(replaced(&path));
            }
        }
        Ok(())
    }

    /// Returns whether another file has the folder's name. A program of the profile may have
    /// removed the folder.
    fn is_replaced(&self) -> io::Result<bool> {
        let facts = self.container.facts(&self.name)?;
        let own = FileIdentity::of(&self.folder)?;
        Ok(facts.is_some_and(|facts| FileIdentity::from(&facts) != own))
    }

    /// Removes the folder with all of its contents.
    ///
    /// # Errors
    /// If part of it cannot be removed.
    pub(crate) fn remove(mut self) -> Result<()> {
        self.remove_now().map_err(|error| {
            let path = shown::path(self.folder.path());
            Error::os(text!("cannot remove {path}", "{path} を消せません"), &error)
        })
    }

    fn remove_now(&mut self) -> io::Result<()> {
        if self.removed {
            return Ok(());
        }
        if self.is_replaced()? {
            return Err(io::Error::other("another file has its name"));
        }
        match self.container.remove_tree(&self.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.removed = true;
        Ok(())
    }
}

fn places_in(folder: &Path) -> Placeholders {
    Placeholders { work: folder.join(WORK), origin: folder.join(ORIGIN) }
}

fn replaced(path: &Path) -> Error {
    let path = shown::path(path);
    ErrorKind::Refused.error(text!(
        "{path} was replaced by a link or another folder: programs would change other files",
        "{path} がリンクか別のフォルダーに置き換わりました。このままではほかのファイルがプログラムの対象になります"
    ))
    .remedy(text!(
        "do not touch the folder during the run, and do not make it a link in the profile",
        "測定中はこのフォルダーに触らず、プロファイルでもリンクにしないでください"
    ))
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Errors cannot be handled here. The container is removed afterwards, and reports a
        // failure.
        let _ = self.remove_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    const SELF: Worker = Worker { other: None };

    fn container() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().canonicalize().unwrap()).unwrap();
        (dir, folder)
    }

    #[test]
    fn folders_stand_side_by_side_and_go_one_by_one() {
        let (_dir, container) = container();
        let first = WorkFolder::create(&container, SELF).unwrap();
        let second = WorkFolder::create(&container, SELF).unwrap();
        assert_ne!(first.folder.path(), second.folder.path());
        let Placeholders { work, origin } = first.given_places();
        assert!(!work.exists() && !origin.exists());
        let mode = first.folder.path().metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(first.git_config, Path::new("/dev/null"), "its owner needs no trust");
        std::fs::create_dir_all(work.join("deep")).unwrap();
        assert!(first.shown_places().work.join("deep").exists());
        drop(first);
        assert_eq!(container.entries().unwrap().len(), 1);
        second.remove().unwrap();
        assert!(container.entries().unwrap().is_empty());
    }

    #[test]
    fn the_paths_that_programs_are_given_outlive_the_hold_that_they_were_made_with() {
        let (dir, container) = container();
        let folder = WorkFolder::create(&container.try_clone().unwrap(), SELF).unwrap();
        // A file that is opened next gets the number of a free descriptor.
        let _others = [(); 4].map(|()| Folder::open(Path::new("/")).unwrap());
        std::fs::write(folder.given_places().work, "x").unwrap();
        assert!(dir.path().join("0/work").is_file());
    }

    #[test]
    fn a_link_in_place_of_the_work_folder_is_refused() {
        let (dir, container) = container();
        let folder = WorkFolder::create(&container, SELF).unwrap();
        folder.refuse_links().unwrap();
        std::fs::create_dir(folder.given_places().work).unwrap();
        folder.refuse_links().unwrap();
        std::fs::remove_dir(folder.given_places().work).unwrap();
        std::os::unix::fs::symlink(dir.path(), folder.given_places().work).unwrap();
        assert_eq!(folder.refuse_links().unwrap_err().kind(), ErrorKind::Refused);
    }

    #[test]
    fn what_took_the_name_of_a_folder_stays() {
        let (dir, container) = container();
        let folder = WorkFolder::create(&container, SELF).unwrap();
        std::fs::rename(dir.path().join("0"), dir.path().join("moved")).unwrap();
        std::fs::create_dir_all(dir.path().join("0/victim")).unwrap();
        assert_eq!(folder.refuse_links().unwrap_err().kind(), ErrorKind::Refused);
        assert!(folder.remove().is_err());
        assert!(dir.path().join("0/victim").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let (dir, container) = container();
        std::fs::remove_dir(dir.path()).unwrap();
        assert_eq!(WorkFolder::create(&container, SELF).unwrap_err().kind(), ErrorKind::Target);
    }

    #[test]
    fn git_is_to_trust_the_two_repositories_and_no_others() {
        let (_dir, container) = container();
        let settings = WorkFolder::create(&container, SELF).unwrap().git_settings().unwrap();
        assert_eq!(settings.matches("directory = ").count(), 6, "{settings}");
        assert!(!settings.contains('*') && settings.contains("/0/origin.git\"\n"), "{settings}");
    }
}
