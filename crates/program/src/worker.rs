//! As whom programs work on a target.
//!
//! The model: root runs nobody else's code. In a directory of another user the programs run as that user, and so are the
//! folders made and removed in which they work: whatever that user puts there meanwhile then reaches no further than
//! they do. In a directory of root's own, nobody else may be able to exchange what lies on the way to it; where somebody
//! is, the work is refused. That holds for file systems without owners too: there the mount's uid and masks show as
//! owner and mode. Who is not root works as themselves everywhere.
//!
//! Credentials are a thread's in Linux, so work that is another user's is done in a thread that becomes them and ends.

use crate::platform;
use kurabe_core::{Error, ErrorKind, Result, text};
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
pub struct Owner {
    /// The user.
    pub uid: u32,
    /// The group, and the only one.
    pub gid: u32,
}

/// As whom programs work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worker {
    pub(crate) other: Option<Owner>,
}

impl Worker {
    /// Who works in a directory.
    ///
    /// # Errors
    /// As root, when others can exchange what lies on the way to it.
    pub(crate) fn of(directory: &Path) -> Result<Self> {
        if platform::user_id() != ROOT {
            return Ok(Self { other: None });
        }
        let facts = facts(directory)?;
        if facts.uid() != ROOT {
            return Ok(Self { other: Some(Owner { uid: facts.uid(), gid: facts.gid() }) });
        }
        let directory = directory.canonicalize().map_err(|error| cannot_look(directory, &error))?;
        for part in directory.ancestors() {
            refuse_if_exchanged(&directory, part, &self::facts(part)?)?;
        }
        Ok(Self { other: None })
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

    /// Does something as the worker.
    ///
    /// # Errors
    /// When kurabe may not become that user, or no thread can be had for it; and those of `work`.
    pub(crate) fn act<T: Send>(self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let Some(owner) = self.other else { return work() };
        std::thread::scope(|scope| {
            let acting = std::thread::Builder::new().spawn_scoped(scope, || {
                platform::become_user(owner.uid, owner.gid)?;
                work()
            })?;
            acting.join().unwrap_or_else(|_| Err(io::Error::other("the thread of another user failed")))
        })
    }
}

fn facts(path: &Path) -> Result<Metadata> {
    std::fs::metadata(path).map_err(|error| cannot_look(path, &error))
}

fn cannot_look(path: &Path, error: &io::Error) -> Error {
    let path = path.display();
    Error::os(text!("cannot see whose {path} is", "{path} の所有者がわかりません"), error)
}

/// Refuses a part of the way to a directory that somebody else may rename or fill.
fn refuse_if_exchanged(directory: &Path, part: &Path, facts: &Metadata) -> Result<()> {
    let (uid, mode) = (facts.uid(), facts.mode() & 0o7777);
    let (directory, part) = (directory.display(), part.display());
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
    Err(Error::new(
        ErrorKind::Refused,
        text!(
            "refusing to run programs as root in {directory}, where others could put theirs ({})",
            "{directory} では root でプログラムを実行しません。ほかのユーザーがすり替えられるためです({})",
            cause.en
        ),
    )
    .remedy(text!(
        "measure as the user whose directory it is, or in a directory that only root can write (chmod go-w; of a file system without owners: mount -o umask=022)",
        "そのディレクトリのユーザーとして測るか、root だけが書き込める場所を使ってください(chmod go-w。所有者のないファイルシステムなら mount -o umask=022)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown};

    #[expect(clippy::print_stderr, reason = "a test that skips says why")]
    fn is_root() -> bool {
        let is_root = platform::user_id() == ROOT;
        if !is_root {
            eprintln!("skipped: needs root");
        }
        is_root
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn root_works_as_the_owner_of_a_directory_and_as_itself_in_its_own() {
        if !is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Worker::of(dir.path()).unwrap(), Worker { other: None });
        chown(dir.path(), Some(65534), Some(1234)).unwrap();
        let worker = Worker::of(dir.path()).unwrap();
        assert_eq!(worker, Worker { other: Some(Owner { uid: 65534, gid: 1234 }) });
        let note = dir.path().join("note");
        worker.act(|| std::fs::write(&note, "")).unwrap();
        let facts = note.metadata().unwrap();
        assert_eq!((facts.uid(), facts.gid()), (65534, 1234));
        // This thread is still root, and the other had none of its powers.
        assert_eq!(platform::user_id(), ROOT);
        assert!(worker.act(|| std::fs::read("/proc/1/environ")).is_err());
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
            let worker = Worker::of(&below);
            assert_eq!(worker.is_err(), is_refused, "{mode:o}");
            if let Err(error) = worker {
                assert_eq!(error.kind(), ErrorKind::Refused);
                assert!(error.what().en.contains(&format!("mode {mode:o}")), "{}", error.what().en);
            }
        }
        chown(dir.path(), Some(65534), None).unwrap();
        let error = Worker::of(&below).unwrap_err();
        assert!(error.what().en.contains("belongs to user 65534"), "{}", error.what().en);
    }
}
