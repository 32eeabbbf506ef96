//! Files that users ask for: never over another one unasked, and whole or not at all.
//!
//! The model: the bytes go into a file beside the one that is wanted, which takes its name when it is complete. Without
//! leave to replace, the name is taken by a link, which fails where something has it already. What is no file (a pipe,
//! `/dev/stdout`) has no name to take and is written to.

use kurabe_core::{Error, ErrorKind, Result, mention::FORCE, shown, text};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Whether a file that is there may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Never: the command has no flag for it.
    Kept,
    /// Not without `--force`, which was not given.
    NotForced,
    /// By `--force`.
    Replaced,
}

impl Existing {
    /// Of a command that has `--force`.
    pub fn unless(force: bool) -> Self {
        if force { Self::Replaced } else { Self::NotForced }
    }
}

/// Refuses a file that is there. Asked before the work, so that nobody waits for a refusal.
///
/// # Errors
/// When it is there and may not be replaced.
pub fn refuse_existing(path: &Path, existing: Existing) -> Result<()> {
    if existing == Existing::Replaced || path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(exists_already(path, existing))
}

/// Refuses a new file that could not be written later: asked before work of hours whose result it is.
///
/// # Errors
/// When it is there, or its folder cannot be written.
pub fn refuse_unwritable(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        let file = shown::path(path);
        let error = ErrorKind::Refused.error(text!("{file} exists already", "{file} はすでにあります"));
        return Err(named_otherwise(error));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|error| {
        cannot_write(path, &error.into()).remedy(text!(
            "name a file in a folder that exists and that you may write to",
            "書き込みできる既存のフォルダーの中のファイルを指定してください"
        ))
    })
}

fn named_otherwise(error: Error) -> Error {
    error.remedy(text!(
        "choose another name; nothing is overwritten",
        "別の名前を指定してください。上書きはしません"
    ))
}

fn exists_already(path: &Path, existing: Existing) -> Error {
    let file = shown::path(path);
    let error = ErrorKind::Refused
        .error(text!("cannot write {file}: it exists already", "{file} に書けません(すでに存在します)"));
    match existing {
        Existing::Kept => named_otherwise(error),
        _ => error.remedy(text!(
            "choose another name, or replace it with {FORCE}",
            "別の名前を指定するか、{FORCE} で置き換えてください"
        )),
    }
}

/// A folder that goes when nobody needs it any more.
pub(crate) struct PassingFolder(pub(crate) PathBuf);

impl Drop for PassingFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A new file that grows as a run goes on: it has its name from the start, and goes away if nothing of the run is kept.
pub struct Growing {
    path: PathBuf,
    out: BufWriter<File>,
    is_kept: bool,
}

impl Growing {
    /// Takes the name.
    ///
    /// # Errors
    /// When it is taken, or the file cannot be made.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create_new(path).map_err(|error| refused(path, Existing::Kept, error))?;
        Ok(Self { path: path.to_owned(), out: BufWriter::with_capacity(1 << 16, file), is_kept: false })
    }

    /// Writes what `lines` writes.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn write(&mut self, lines: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        lines(&mut self.out).map_err(|error| refused(&self.path, Existing::Kept, error))
    }

    /// Ends it; it stays.
    ///
    /// # Errors
    /// When the rest of it cannot be written.
    pub fn keep(mut self) -> Result<()> {
        self.is_kept = true;
        self.out.flush().map_err(|error| refused(&self.path, Existing::Kept, error))
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes the file.
///
/// # Errors
/// When it exists and may not be replaced, or cannot be written; then nothing of it is left.
pub fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<()> {
    let written = match path.metadata() {
        Ok(facts) if !facts.is_file() && existing == Existing::Replaced => std::fs::write(path, bytes),
        _ => write_whole(path, bytes, existing == Existing::Replaced),
    };
    written.map_err(|error| refused(path, existing, error))
}

/// Why a file cannot be written.
pub(crate) fn refused(path: &Path, existing: Existing, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists_already(path, existing).because(error),
        kind => helped(cannot_write(path, &error), kind),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    Error::os(text!("cannot write {}", "{} に書けません", shown::path(path)), error)
}

/// The error with what helps with a file; the usual remedies are those of a target.
fn helped(error: Error, kind: io::ErrorKind) -> Error {
    let remedy = match kind {
        io::ErrorKind::NotFound => text!("make the folder first", "先にフォルダーを作ってください"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            text!("free some room, or name a file elsewhere", "空きを増やすか、別の場所を指定してください")
        }
        io::ErrorKind::ReadOnlyFilesystem => text!(
            "the file system is mounted read-only: name a file elsewhere",
            "ファイルシステムが読み取り専用です。別の場所を指定してください"
        ),
        _ => return error,
    };
    error.remedy(remedy)
}

fn write_whole(path: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let named = write_new(&part, bytes).and_then(|()| {
        if replace { std::fs::rename(&part, path) } else { link_or_write(&part, path, bytes) }
    });
    // Renamed or not: nothing of it stays.
    let _ = std::fs::remove_file(&part);
    named
}

/// File systems without hard links (FAT) cannot hand over a name only if it is free; making the file anew can.
fn link_or_write(part: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::hard_link(part, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write_new(path, bytes),
        linked => linked,
    }
}

/// A new file, which goes again if it cannot be written whole.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_is_kept_or_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write(&path, b"one", Existing::Kept).unwrap();
        for existing in [Existing::Kept, Existing::NotForced] {
            let refused = write(&path, b"two", existing).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Refused);
            assert!(refuse_existing(&path, existing).is_err());
            assert_eq!(std::fs::read(&path).unwrap(), b"one");
        }
        write(&path, b"three", Existing::Replaced).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(names(folder.path()), ["report.html"]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_something_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("card.png");
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(refuse_existing(&path, Existing::NotForced).is_err());
        assert!(write(&path, b"one", Existing::NotForced).is_err());
        assert_eq!(names(folder.path()), ["card.png"]);
    }

    #[test]
    fn a_growing_file_takes_no_name_that_is_taken_and_goes_unless_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("operations.csv");
        let mut growing = Growing::create(&path).unwrap();
        assert_eq!(Growing::create(&path).err().unwrap().kind(), ErrorKind::Refused);
        growing.write(|out| write!(out, "one")).unwrap();
        drop(growing);
        assert_eq!(names(folder.path()), Vec::<String>::new());
        let mut growing = Growing::create(&path).unwrap();
        growing.write(|out| write!(out, "two")).unwrap();
        growing.keep().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
    }

    #[test]
    fn without_a_folder_the_remedy_is_to_make_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(&folder.path().join("no/report.md"), b"one", Existing::Kept).unwrap_err();
        assert_eq!(error.remedy_text().unwrap().en, "make the folder first");
    }
}
