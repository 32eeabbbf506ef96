//! Files that the user asked for: reports, pictures, exports.
//!
//! A file is there whole or not at all: it is written under another name and takes its own when it is complete. What
//! was there stays as it was unless the user said that it may go.

use kurabe_core::{Error, ErrorKind, Result, Text, text};
use std::fs::{self, File};
use std::io::{self, ErrorKind as Os, Write};
use std::path::Path;

/// Writes a file. Without `force` none may be there yet.
///
/// # Errors
/// When the file is there already, or cannot be written.
pub fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<()> {
    // Something that is no file (a pipe, /dev/stdout) cannot be replaced, only written to.
    if force && path.metadata().is_ok_and(|found| !found.is_file()) {
        return fs::write(path, bytes).map_err(|error| failed(path, &error));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create_new(&part)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| if force { fs::rename(&part, path) } else { take_name(&part, path) });
    // Renamed or not: nothing of it stays.
    let _ = fs::remove_file(&part);
    match written {
        Err(error) if error.kind() == Os::AlreadyExists => Err(exists_already(path)),
        other => other.map_err(|error| failed(path, &error)),
    }
}

/// Gives a complete file its name, if that is free.
fn take_name(part: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(part, path) {
        // File systems without hard links (FAT, exFAT, many network shares).
        Err(error) if error.kind() != Os::AlreadyExists => match path.symlink_metadata() {
            Ok(_) => Err(Os::AlreadyExists.into()),
            Err(_) => fs::rename(part, path),
        },
        other => other,
    }
}

/// That a file would have to be replaced, if there is one and nobody allowed it.
///
/// # Errors
/// When the file is there already.
pub fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    if force || path.symlink_metadata().is_err() { Ok(()) } else { Err(exists_already(path)) }
}

fn exists_already(path: &Path) -> Error {
    let file = path.display();
    let what = text!("{file} is there already", "{file} はすでにあります");
    Error::new(ErrorKind::Refused, what).remedy(text!(
        "choose another name, or replace it with --force",
        "別の名前を指定するか、--force で置き換えてください"
    ))
}

fn failed(path: &Path, error: &io::Error) -> Error {
    let told = Error::os(text!("cannot write {}", "{} に書けません", path.display()), error);
    match remedy(error.kind()) {
        Some(remedy) => told.remedy(remedy),
        None => told,
    }
}

/// What helps with a file; the usual remedies are those of a target.
fn remedy(kind: Os) -> Option<Text> {
    Some(match kind {
        Os::NotFound => text!("make the folder first", "先にフォルダーを作ってください"),
        Os::StorageFull | Os::QuotaExceeded => {
            text!("free some room, or name a file elsewhere", "空きを増やすか、別の場所を指定してください")
        }
        Os::ReadOnlyFilesystem => text!(
            "the file system is mounted read-only: name a file elsewhere",
            "ファイルシステムが読み取り専用です。別の場所を指定してください"
        ),
        _ => return None,
    })
}
