//! Removes what a killed run left behind, and nothing else.
//!
//! A store records what a run created and where. A store may be damaged or out of date, or belong
//! to another user who wants others to remove files for them. Its information alone is therefore
//! not sufficient. The file at the recorded path must carry the run's mark, have the recorded inode
//! number and only one name, belong to an owner whose files may be removed, and be locked by no
//! live run. No symbolic link is followed on the way. A file that fails any of these checks stays
//! and is reported.
//!
//! A folder that is not at its recorded path is searched for where its file system is now mounted,
//! and under other names in its parent folders.

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

/// Maximum number of entries next to a folder's old name that are examined.
const MOST_NEIGHBOURS: usize = 4096;

/// On whose authority something is removed.
#[derive(Clone, Copy, Debug)]
pub struct Mandate {
    /// The current user.
    pub own_user: u32,
    /// The owner of the store.
    pub store_user: u32,
    /// Whether the run's process is known to have ended. Otherwise the lock decides.
    pub owner_is_dead: bool,
}

/// The outcome for something that a run created.
#[derive(Debug, PartialEq, Eq)]
pub enum Fate {
    /// Removed. Contains its path.
    Removed(PathBuf),
    /// It no longer existed.
    Gone,
    /// It is, or may be, in use by a live run.
    InUse,
    /// It was not removed.
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

/// Removes what a run created, if it still exists and can be identified. `given_up` is checked
/// before anything is removed.
///
/// # Errors
/// Fails if it should be removed but can't be.
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

/// Finds the folder in which something was created, wherever it is now.
///
/// # Errors
/// Fails if the recorded path can't be examined. Then the location of the folder is unknown.
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

/// Returns whether a path does not lead to a folder, or contains a symbolic link.
fn is_elsewhere(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

fn is_same(facts: &FolderFacts, folder: &Folder) -> bool {
    folder_facts(folder, folder.path()).is_ok_and(|others| facts.is_same(&others))
}

/// Finds the folder if one of the names in its path was changed. Without an inode number, any
/// folder would match.
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
            // Other file systems are not searched: their mount points are checked separately, and
            // one of them may hang.
            folder.below(&Path::new(&name).join(&rest)).ok().filter(|place| is_same(facts, place))
        })
    })
}

/// Something that a run created, in the folder where it was found.
struct Orphan<'a> {
    folder: &'a Folder,
    made: &'a MadeFile,
    mark: RunMark,
    mandate: Mandate,
    given_up: &'a dyn Fn() -> bool,
}

impl Orphan<'_> {
    /// Removes the test file with its copy and the mark next to them, or the work folder. Returns
    /// `false` if nothing existed.
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
            // The run was killed between creating and marking the file. Removing an empty file
            // loses no data.
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
            // Other users may have put files into the folder that this user could not remove.
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

    /// Removes the mark next to a test file that has been removed.
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

    /// Checks that this is the recorded file and that it has no other name. A second hard link
    /// means that another user still needs the file.
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

    /// Checks whether files owned by `user` may be removed. With the user's own store, the owner
    /// must be the recorded one (root's files may have another owner over NFS, and FAT has one
    /// owner for all). With another user's store, only the current user's own files are removed.
    /// Root, with a user's store, removes the files of that user, and files that root created for
    /// that user, whose mark no one else can have set.
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
        // The caller no longer waits, and another run may be measuring by now.
        if (self.given_up)() {
            return Err(Refusal::InUse);
        }
        Ok(remove().map(|()| true)?)
    }
}

fn cannot(path: &Path, error: &io::Error) -> Error {
    Error::os(
        text!(
            "cannot remove {}, left behind by an earlier run",
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

    /// Creates a folder in which the run `abc` left a file.
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
