//! The user as whom programs work on a target.
//!
//! Root must not run code of other users. In a directory of another user the programs run as that
//! user, who also becomes the owner of the work folder. Whatever that user puts there then has only
//! the user's own privileges. In a directory of root, no other user may be able to replace a part
//! of its path. Otherwise the work is refused, because programs like git determine the path behind
//! a descriptor and use it. This also applies to file systems without owners, where the mount's uid
//! and masks appear as owner and mode. Users other than root always work as themselves.

use crate::{folder::Folder, platform};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use rustix::fs::AtFlags;
use rustix::process::{Gid, Uid};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const ROOT: u32 = 0;
/// Bits of a file mode.
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// A user other than the one who runs kurabe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherUser {
    /// User id.
    pub uid: u32,
    /// Group id, which is the only group.
    pub gid: u32,
}

/// The user as whom programs work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worker {
    pub(crate) other: Option<OtherUser>,
}

impl Worker {
    /// Determines the user for work in a directory.
    ///
    /// # Errors
    /// As root, if other users can replace a part of its path.
    pub(crate) fn of(directory: &Folder) -> Result<Self> {
        if platform::user_id() != ROOT {
            return Ok(Self { other: None });
        }
        let path = directory.path();
        let facts = rustix::fs::fstat(directory).map_err(|error| cannot_look(path, &error.into()))?;
        if facts.st_uid != ROOT {
            return Ok(Self { other: Some(OtherUser { uid: facts.st_uid, gid: facts.st_gid }) });
        }
        for part in path.ancestors() {
            let facts = std::fs::metadata(part).map_err(|error| cannot_look(part, &error))?;
            refuse_if_exchanged(path, part, &facts)?;
        }
        Ok(Self { other: None })
    }

    /// Makes the worker the owner of an open folder.
    ///
    /// # Errors
    /// If the file system does not change the owner.
    pub(crate) fn own(self, folder: &Folder) -> io::Result<()> {
        let Some(OtherUser { uid, gid }) = self.other else { return Ok(()) };
        if rustix::fs::fstat(folder)?.st_uid == uid {
            return Ok(());
        }
        let (user, group) = (Uid::from_raw(uid), Gid::from_raw(gid));
        Ok(rustix::fs::chownat(folder, c"", Some(user), Some(group), AtFlags::EMPTY_PATH)?)
    }

    /// Returns the user id.
    pub(crate) fn uid(self) -> u32 {
        self.other.map_or_else(platform::user_id, |owner| owner.uid)
    }

    /// Makes a program run as the worker.
    pub(crate) fn apply_to(self, command: &mut Command) {
        if let Some(owner) = self.other {
            // The standard library drops all other groups with the user.
            command.uid(owner.uid).gid(owner.gid);
        }
    }
}

fn cannot_look(path: &Path, error: &io::Error) -> Error {
    let path = shown::path(path);
    Error::os(text!("cannot determine the owner of {path}", "{path} の所有者が分かりません"), error)
}

/// Refuses a part of the path that another user may rename or write to.
fn refuse_if_exchanged(directory: &Path, part: &Path, facts: &Metadata) -> Result<()> {
    let (uid, mode) = (facts.uid(), facts.mode() & 0o7777);
    let (directory, part) = (shown::path(directory), shown::path(part));
    let cause = if uid != ROOT {
        text!("{part} belongs to user {uid}", "{part} の所有者はユーザー {uid}")
    } else if mode & OTHERS_WRITE != 0 && mode & STICKY == 0 {
        text!(
            "{part} has mode {mode:o}: other users can write there",
            "{part} のモードは {mode:o} で、ほかのユーザーも書き込めます"
        )
    } else {
        return Ok(());
    };
    Err(ErrorKind::Refused.error(text!(
        "refusing to run programs as root in {directory}, where other users could replace them ({})",
        "{directory} では root でプログラムを実行しません。ほかのユーザーがすり替えられるためです({})",
        cause.en
    ))
    .remedy(text!(
        "measure as the owner of the directory, or in a directory that only root can write to (chmod \
         go-w; on a file system without owners: mount -o umask=022)",
        "そのディレクトリのユーザーとして測るか、root だけが書き込める場所を使ってください(chmod go-w。所有者のないファイルシステムなら mount -o umask=022)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::{self, skip};
    use std::os::unix::fs::{PermissionsExt, chown};

    fn is_root() -> bool {
        let is_root = platform::user_id() == ROOT;
        if !is_root {
            skip(needs::ROOT);
        }
        is_root
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn worker_of(path: &Path) -> Result<Worker> {
        Worker::of(&Folder::open(&path.canonicalize().unwrap()).unwrap())
    }

    #[test]
    fn root_works_as_the_owner_of_a_directory_and_as_itself_in_its_own() {
        if !is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(worker_of(dir.path()).unwrap(), Worker { other: None });
        chown(dir.path(), Some(65534), Some(1234)).unwrap();
        let worker = worker_of(dir.path()).unwrap();
        assert_eq!(worker, Worker { other: Some(OtherUser { uid: 65534, gid: 1234 }) });
        let below = dir.path().join("below");
        std::fs::create_dir(&below).unwrap();
        worker.own(&Folder::open(&below.canonicalize().unwrap()).unwrap()).unwrap();
        let facts = below.metadata().unwrap();
        assert_eq!((facts.uid(), facts.gid()), (65534, 1234));
        let mut command = Command::new("id");
        worker.apply_to(command.arg("-G"));
        assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap().trim(), "1234");
    }

    #[test]
    fn root_refuses_where_others_can_exchange_what_lies_on_the_way() {
        if !is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("below");
        std::fs::create_dir(&below).unwrap();
        for (mode, is_refused) in
            [(0o777, true), (0o775, true), (0o757, true), (0o1777, false), (0o755, false)]
        {
            set_mode(dir.path(), mode);
            let worker = worker_of(&below);
            assert_eq!(worker.is_err(), is_refused, "{mode:o}");
            if let Err(error) = worker {
                assert_eq!(error.kind(), ErrorKind::Refused);
                assert!(error.what().en.contains(&format!("mode {mode:o}")), "{}", error.what().en);
            }
        }
        chown(dir.path(), Some(65534), None).unwrap();
        let error = worker_of(&below).unwrap_err();
        assert!(error.what().en.contains("belongs to user 65534"), "{}", error.what().en);
    }
}
