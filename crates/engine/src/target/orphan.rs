//! What a run that died left behind, taken away; and nothing else.
//!
//! The model: a store says what a run made and where. A store may be damaged, older than what it tells of, or another
//! user's, who would have somebody else remove files for him. So its word alone removes nothing: what has the name must
//! bear the run's mark, be the file with the number that was noted, have one name only, belong to who may have it removed, and
//! be held by no run that lives. No link is followed on the way. What fails in one of these stays, and is told.
//!
//! A folder that is not where it was is looked for where its file system is mounted now, and under other names beside its
//! old one.

use crate::target::mark::{INSIDE, Locked, Marked, RunMark, beside, lock, open_to_look};
use crate::target::test_file::{copy_beside, is_test_file_name};
use kurabe_core::made::{FolderFacts, MadeFile, StillThere};
use kurabe_core::{Error, Result, shown, text};
use kurabe_host::{folder_facts, mounted_elsewhere};
use kurabe_program::Folder;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Most names beside a folder's old one that are looked into.
const MOST_NEIGHBOURS: usize = 4096;

/// Whose word it is that something is kurabe's, and who would remove it.
#[derive(Clone, Copy, Debug)]
pub struct Mandate {
    /// The user who asks.
    pub own_user: u32,
    /// The user whom the store belongs to.
    pub store_user: u32,
    /// Whether the run's process is known to be gone; otherwise the lock decides.
    pub owner_is_dead: bool,
}

/// What became of something that a run made.
#[derive(Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is removed; this is where it was.
    Removed(PathBuf),
    /// It was not there any more.
    Gone,
    /// A run that lives uses it, or one of which it cannot be known.
    InUse,
    /// It is left where it is.
    Left(StillThere),
}

/// Why something is not removed now.
enum Refusal {
    InUse,
    Left(StillThere),
    Failed(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Takes away what a run made, if it is still there, and if it is that. `given_up` is asked before anything is removed.
///
/// # Errors
/// When it should be removed and cannot be.
pub fn take_away(run: &str, made: &MadeFile, mandate: Mandate, given_up: &dyn Fn() -> bool) -> Result<Fate> {
    let (Some(parent), Some(name)) = (made.path.parent(), made.path.file_name()) else {
        return Ok(Fate::Left(StillThere::OtherFile));
    };
    if !is_test_file_name(name, run) {
        return Ok(Fate::Left(StillThere::OtherFile));
    }
    let folder = match find(made.folder.as_ref(), parent) {
        Ok(Some(folder)) => folder,
        Ok(None) => return Ok(Fate::Left(StillThere::FolderAway)),
        Err(error) => return Err(cannot(&made.path, &error)),
    };
    let orphan = Orphan { folder: &folder, made, mark: RunMark::new(run, &made.word), mandate, given_up };
    match orphan.remove_all(name) {
        Ok(true) => Ok(Fate::Removed(folder.path().join(name))),
        Ok(false) => Ok(Fate::Gone),
        Err(Refusal::InUse) => Ok(Fate::InUse),
        Err(Refusal::Left(why)) => Ok(Fate::Left(why)),
        Err(Refusal::Failed(error)) => Err(cannot(&folder.path().join(name), &error)),
    }
}

/// The folder that something was made in, wherever it is now.
///
/// # Errors
/// When what is at its place cannot be looked at: then nobody knows where it is.
fn find(facts: Option<&FolderFacts>, path: &Path) -> io::Result<Option<Folder>> {
    let folder = match Folder::open(path) {
        Ok(folder) => Some(folder),
        Err(error) if is_elsewhere(&error) => None,
        Err(error) => return Err(error),
    };
    let Some(facts) = facts else { return Ok(folder) };
    if let Some(folder) = folder
        && facts.is_same(&folder_facts(&folder, path)?)
    {
        return Ok(Some(folder));
    }
    let elsewhere = mounted_elsewhere(facts, path);
    let mut places = [path.to_owned()].into_iter().chain(elsewhere.iter().cloned());
    Ok(elsewhere
        .iter()
        .filter_map(|place| Folder::open(place).ok())
        .find(|folder| is_same(facts, folder))
        .or_else(|| places.find_map(|place| renamed(facts, &place))))
}

/// Whether a path leads to no folder, or through a link.
fn is_elsewhere(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

fn is_same(facts: &FolderFacts, folder: &Folder) -> bool {
    folder_facts(folder, folder.path()).is_ok_and(|others| facts.is_same(&others))
}

/// The folder, if one of the names in its path was changed. Without a number of its own it would be any folder.
fn renamed(facts: &FolderFacts, path: &Path) -> Option<Folder> {
    facts.inode?;
    path.ancestors().skip(1).find_map(|ancestor| {
        let folder = Folder::open(ancestor).ok()?;
        let below = path.strip_prefix(ancestor).ok()?;
        let rest: PathBuf = below.components().skip(1).collect();
        folder.entries().ok()?.into_iter().take(MOST_NEIGHBOURS).find_map(|(name, kind)| {
            if kind != FileType::Directory {
                return None;
            }
            // Not into other file systems: they are asked where they are mounted, and one of them may hang.
            folder.below(&Path::new(&name).join(&rest)).ok().filter(|place| is_same(facts, place))
        })
    })
}

/// Something that a run made, in the folder where it was found.
struct Orphan<'a> {
    folder: &'a Folder,
    made: &'a MadeFile,
    mark: RunMark,
    mandate: Mandate,
    given_up: &'a dyn Fn() -> bool,
}

impl Orphan<'_> {
    /// Removes the test file with its copy and the mark beside them, or the work folder. `false` if nothing was there.
    fn remove_all(&self, name: &OsStr) -> Result<bool, Refusal> {
        let copied = self.remove_one(&copy_beside(name), false)?;
        let removed = self.remove_one(name, true)?;
        let marked = self.remove_mark(&beside(name))?;
        Ok(copied || removed || marked)
    }

    fn remove_one(&self, name: &OsStr, is_noted: bool) -> Result<bool, Refusal> {
        let Some(facts) = self.folder.facts(name)? else { return Ok(false) };
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::RegularFile => self.remove_file(name, &facts, is_noted),
            FileType::Directory if is_noted => self.remove_folder(name, &facts),
            _ => Err(Refusal::Left(StillThere::OtherFile)),
        }
    }

    fn remove_file(&self, name: &OsStr, facts: &Stat, is_noted: bool) -> Result<bool, Refusal> {
        self.check_file(facts, is_noted)?;
        let file = open_to_look(self.folder, name, FileType::RegularFile)?;
        self.check_lock(&file)?;
        let marked = self.mark.on(self.folder, name, &file)?;
        let is_ours = match marked {
            Marked::Inside | Marked::Beside => true,
            // Killed between its making and its marking: nothing is lost with an empty file.
            Marked::Not => {
                self.is_own_and_dead() && rustix::fs::fstat(&file).map_err(io::Error::from)?.st_size == 0
            }
            Marked::Otherwise => false,
        };
        if !is_ours || self.made.word.is_empty() {
            return Err(Refusal::Left(StillThere::OtherMark));
        }
        self.check_user(facts.st_uid, marked == Marked::Inside)?;
        self.remove_now(|| self.folder.remove_same(name, &file))
    }

    fn remove_folder(&self, name: &OsStr, facts: &Stat) -> Result<bool, Refusal> {
        if self.mandate.own_user != self.mandate.store_user && self.mandate.own_user == 0 {
            // Others may have put their files in a folder that this user could not remove himself.
            return Err(Refusal::Left(StillThere::OtherUser));
        }
        let inode = self.made.made.and_then(|made| made.inode);
        if inode.is_some_and(|inode| inode != facts.st_ino) {
            return Err(Refusal::Left(StillThere::OtherFile));
        }
        let folder = self.folder.folder(name)?;
        if folder.facts(OsStr::new(INSIDE))?.is_none() {
            if self.is_own_and_dead() && folder.entries()?.is_empty() {
                return self.remove_now(|| self.folder.remove(name, FileType::Directory));
            }
            return Err(Refusal::Left(StillThere::OtherMark));
        }
        let mark = open_to_look(&folder, OsStr::new(INSIDE), FileType::RegularFile)?;
        self.check_lock(&mark)?;
        let same_user = rustix::fs::fstat(&mark).map_err(io::Error::from)?.st_uid == facts.st_uid;
        if !same_user || !self.mark.is_in(&mark)? {
            return Err(Refusal::Left(StillThere::OtherMark));
        }
        self.check_user(facts.st_uid, true)?;
        self.remove_now(|| self.folder.remove_marked_tree(name, OsStr::new(INSIDE), || drop(mark)))
    }

    /// The mark beside a test file that is gone.
    fn remove_mark(&self, name: &OsStr) -> Result<bool, Refusal> {
        let Some(facts) = self.folder.facts(name)? else { return Ok(false) };
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile || facts.st_nlink > 1 {
            return Err(Refusal::Left(StillThere::OtherFile));
        }
        let mark = open_to_look(self.folder, name, FileType::RegularFile)?;
        self.check_lock(&mark)?;
        let is_empty = self.is_own_and_dead() && facts.st_size == 0;
        if !is_empty && !self.mark.is_in(&mark)? {
            return Err(Refusal::Left(StillThere::OtherMark));
        }
        self.check_user(facts.st_uid, false)?;
        self.remove_now(|| self.folder.remove_same(name, &mark))
    }

    /// Whether it is the file that was noted, under no other name: a second name is somebody's who wants to keep it.
    fn check_file(&self, facts: &Stat, is_noted: bool) -> Result<(), Refusal> {
        let inode = self.made.made.and_then(|made| made.inode).filter(|_| is_noted);
        if facts.st_nlink > 1 || inode.is_some_and(|inode| inode != facts.st_ino) {
            return Err(Refusal::Left(StillThere::OtherFile));
        }
        Ok(())
    }

    fn check_lock(&self, file: &File) -> Result<(), Refusal> {
        match lock(file) {
            Locked::Taken => Ok(()),
            Locked::Unknown if self.mandate.owner_is_dead => Ok(()),
            Locked::InUse | Locked::Unknown => Err(Refusal::InUse),
        }
    }

    /// Whether this user may have removed what belongs to `user`. In his own store he noted whose it is (root's may be
    /// another's over NFS, and FAT has one for all). By another user's store only what he made himself goes; and by a
    /// user's store root removes what is that user's, and what root made for him, which nobody else can have marked.
    fn check_user(&self, user: u32, is_marked_inside: bool) -> Result<(), Refusal> {
        let Mandate { own_user, store_user, .. } = self.mandate;
        let may = if own_user == store_user {
            self.made.made.is_none_or(|made| made.user == user)
        } else if own_user == 0 {
            user == store_user || (user == 0 && is_marked_inside)
        } else {
            user == own_user && is_marked_inside
        };
        if may { Ok(()) } else { Err(Refusal::Left(StillThere::OtherUser)) }
    }

    fn is_own_and_dead(&self) -> bool {
        self.mandate.own_user == self.mandate.store_user && self.mandate.owner_is_dead
    }

    fn remove_now(&self, remove: impl FnOnce() -> io::Result<()>) -> Result<bool, Refusal> {
        // Nobody waits any more: by now another run may be measuring.
        if (self.given_up)() {
            return Err(Refusal::InUse);
        }
        Ok(remove().map(|()| true)?)
    }
}

fn cannot(path: &Path, error: &io::Error) -> Error {
    Error::os(
        text!(
            "cannot remove {}, which an earlier run left behind",
            "以前の測定が残した {} を消せません",
            shown::path(path)
        ),
        error,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::test_file::test_file_name;
    use kurabe_core::made::MadeFacts;
    use rustix::fs::OFlags;
    use std::os::unix::fs::MetadataExt;

    const WORD: &str = "0f0e";

    /// A folder in which the run `abc` has left a file.
    fn left(name: &str) -> (tempfile::TempDir, MadeFile, Mandate) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join(name);
        let folder = Folder::open(path.parent().unwrap()).unwrap();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = File::from(folder.open_entry(OsStr::new(name), flags).unwrap());
        RunMark::new("abc", WORD).put_on(&folder, OsStr::new(name), &file).unwrap();
        let facts = file.metadata().unwrap();
        file.set_len(1).unwrap();
        let made = MadeFile {
            folder: folder_facts(&folder, folder.path()).ok(),
            made: Some(MadeFacts { inode: Some(facts.ino()), user: facts.uid() }),
            word: WORD.to_owned(),
            path,
            told: None,
        };
        let user = rustix::process::geteuid().as_raw();
        (dir, made, Mandate { own_user: user, store_user: user, owner_is_dead: true })
    }

    fn name() -> String {
        test_file_name("abc", 1)
    }

    fn fate(made: &MadeFile, mandate: Mandate) -> Fate {
        take_away("abc", made, mandate, &|| false).unwrap()
    }

    #[test]
    fn what_a_run_made_goes_once() {
        let (_dir, made, mandate) = left(&name());
        assert_eq!(take_away("abc", &made, mandate, &|| true).unwrap(), Fate::InUse, "nobody waits any more");
        assert!(made.path.exists());
        assert_eq!(fate(&made, mandate), Fate::Removed(made.path.clone()));
        assert_eq!(fate(&made, mandate), Fate::Gone);
        assert_eq!(std::fs::read_dir(made.path.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_alone_a_word_alone_or_a_number_alone_is_not_enough() {
        let (_dir, made, mandate) = left(&name());
        let inode = made.made.map(|made| MadeFacts { inode: made.inode.map(|inode| inode + 1), ..made });
        let other_word = MadeFile { word: "0f0f".to_owned(), ..made.clone() };
        let old = MadeFile { word: String::new(), ..made.clone() };
        assert_eq!(
            fate(&MadeFile { made: inode, ..made.clone() }, mandate),
            Fate::Left(StillThere::OtherFile)
        );
        assert_eq!(fate(&other_word, mandate), Fate::Left(StillThere::OtherMark));
        assert_eq!(fate(&old, mandate), Fate::Left(StillThere::OtherMark), "of before marks");
        assert_eq!(take_away("abd", &made, mandate, &|| false).unwrap(), Fate::Left(StillThere::OtherFile));
        let (_dir, misnamed, mandate) = left(".kurabe-abc.test");
        assert_eq!(fate(&misnamed, mandate), Fate::Left(StillThere::OtherFile));
        assert!(made.path.exists() && misnamed.path.exists());
    }

    #[test]
    fn a_run_that_holds_the_lock_lives_whatever_is_known_of_its_process() {
        let (_dir, made, mandate) = left(&name());
        let held = File::open(&made.path).unwrap();
        held.lock().unwrap();
        assert_eq!(fate(&made, mandate), Fate::InUse);
        drop(held);
        let unseen = Mandate { owner_is_dead: false, ..mandate };
        assert_eq!(fate(&made, unseen), Fate::Removed(made.path.clone()), "nobody holds it");
    }

    #[test]
    fn by_another_users_store_only_what_one_made_goes() {
        let (_dir, made, mandate) = left(&name());
        let user = mandate.own_user;
        let orphan = |mandate, made: &MadeFile, of, inside| {
            let folder = Folder::open(made.path.parent().unwrap()).unwrap();
            let orphan =
                Orphan { folder: &folder, made, mark: RunMark::default(), mandate, given_up: &|| false };
            orphan.check_user(of, inside).is_ok()
        };
        let mandates = |own_user, store_user| Mandate { own_user, store_user, owner_is_dead: true };
        assert!(orphan(mandates(user, user), &made, user, false));
        assert!(!orphan(mandates(user, user), &made, user + 1, true), "not whose it was");
        assert!(orphan(mandates(1000, 1001), &made, 1000, true));
        assert!(!orphan(mandates(1000, 1001), &made, 1000, false), "a mark beside is in his folder");
        assert!(!orphan(mandates(1000, 1001), &made, 1001, true));
        assert!(orphan(mandates(0, 1001), &made, 1001, false));
        assert!(orphan(mandates(0, 1001), &made, 0, true));
        assert!(!orphan(mandates(0, 1001), &made, 0, false));
        assert!(!orphan(mandates(0, 1001), &made, 1002, true), "a third user's");
    }

    #[test]
    fn a_copy_goes_with_its_test_file_or_alone_and_stays_without_a_mark() {
        let (_dir, made, mandate) = left(&name());
        let copy = made.path.parent().unwrap().join(copy_beside(OsStr::new(&name())));
        std::fs::write(&copy, "mine").unwrap();
        assert_eq!(fate(&made, mandate), Fate::Left(StillThere::OtherMark));
        let folder = Folder::open(copy.parent().unwrap()).unwrap();
        let file = File::options().read(true).write(true).open(&copy).unwrap();
        RunMark::new("abc", WORD).put_on(&folder, copy.file_name().unwrap(), &file).unwrap();
        drop(file);
        std::fs::remove_file(&made.path).unwrap();
        assert_eq!(fate(&made, mandate), Fate::Removed(made.path.clone()));
        assert!(!copy.exists());
    }

    #[test]
    fn a_folder_that_is_away_is_found_under_another_name_and_else_told() {
        let (dir, mut made, mandate) = left(&name());
        let (here, name) = (dir.path().canonicalize().unwrap(), made.path.file_name().unwrap().to_owned());
        let deep = here.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::rename(&made.path, deep.join(&name)).unwrap();
        let folder = Folder::open(&deep).unwrap();
        (made.path, made.folder) = (deep.join(&name), folder_facts(&folder, &deep).ok());
        std::fs::rename(here.join("a"), here.join("c")).unwrap();
        std::os::unix::fs::symlink(here.join("c"), here.join("a")).unwrap();
        assert_eq!(fate(&made, mandate), Fate::Removed(here.join("c/b").join(&name)));
        assert_eq!(fate(&made, mandate), Fate::Gone, "found, and empty");
        std::fs::rename(here.join("c/b"), here.join("c/d")).unwrap();
        assert_eq!(fate(&made, mandate), Fate::Left(StillThere::FolderAway));
    }
}
