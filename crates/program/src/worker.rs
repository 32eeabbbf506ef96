//! As whom programs work on a target.
//!
//! The model: root runs nobody else's code. In a directory of another user the programs run as that user, and the folder
//! in which they work becomes theirs: whatever that user puts there meanwhile then reaches no further than they do. In a
//! directory of root's own, nobody else may be able to exchange what lies on the way to it; where somebody is, the work is
//! refused, because programs like git find out the path behind a descriptor and go by that. That holds for file systems
//! without owners too: there the mount's uid and masks show as owner and mode. Who is not root works as themselves
//! everywhere.

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
/// Bits of a mode.
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Who works, if not who runs kurabe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherUser {
    /// The user.
    pub uid: u32,
    /// The group, and the only one.
    pub gid: u32,
}

/// As whom programs work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worker {
    pub(crate) other: Option<OtherUser>,
}

impl Worker {
    /// Who works in a directory.
    ///
    /// # Errors
    /// As root, when others can exchange what lies on the way to it.
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

    /// Makes a folder that is held the worker's.
    ///
    /// # Errors
    /// When the file system keeps it another's.
    pub(crate) fn own(self, folder: &Folder) -> io::Result<()> {
        let Some(OtherUser { uid, gid }) = self.other else { return Ok(()) };
        if rustix::fs::fstat(folder)?.st_uid == uid {
            return Ok(());
        }
        let (user, group) = (Uid::from_raw(uid), Gid::from_raw(gid));
        Ok(rustix::fs::chownat(folder, c"", Some(user), Some(group), AtFlags::EMPTY_PATH)?)
    }

    /// The user's number.
    pub(crate) fn uid(self) -> u32 {
        self.other.map_or_else(platform::user_id, |owner| owner.uid)
    }

    /// Has a program run as the worker.
    pub(crate) fn apply_to(self, command: &mut Command) {
        if let Some(owner) = self.other {
            // The standard library drops all other groups with the user.
            command.uid(owner.uid).gid(owner.gid);
        }
    }
}

fn cannot_look(path: &Path, error: &io::Error) -> Error {
    let path = shown::path(path);
    Error::os(text!("cannot see whose {path} is", "{path} の所有者が分かりません"), error)
}

/// Refuses a part of the way to a directory that somebody else may rename or fill.
fn refuse_if_exchanged(directory: &Path, part: &Path, facts: &Metadata) -> Result<()> {
    let (uid, mode) = (facts.uid(), facts.mode() & 0o7777);
    let (directory, part) = (shown::path(directory), shown::path(part));
    let cause = if uid != ROOT {
        text!("{part} belongs to user {uid}", "{part} の所有者はユーザー {uid}")
    } else if mode & OTHERS_WRITE != 0 && mode & STICKY == 0 {
        text!(
            "{part} has mode {mode:o}: others can write there",
            "{part} のモードは {mode:o} で、ほかのユーザーも書き込めます"
        )
    } else {
        return Ok(());
    };
    Err(ErrorKind::Refused.error(text!(
        "refusing to run programs as root in {directory}, where others could put theirs ({})",
        "{directory} では root でプログラムを実行しません。ほかのユーザーがすり替えられるためです({})",
        cause.en
    ))
    .remedy(text!(
        "measure as the user whose directory it is, or in a directory that only root can write (chmod go-w; of a file system without owners: mount -o umask=022)",
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
