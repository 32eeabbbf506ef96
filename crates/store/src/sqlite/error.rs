//! Converts SQLite errors to errors with a remedy.

use crate::platform::write_refusal;
use kurabe_core::{Error, ErrorKind, Text, mention::DB, text};
use rusqlite::ErrorCode;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Creates the error of the store at a path, with the remedy for its code. If its directory cannot
/// be written, SQLite only reports a failure, and the directory is tested for the reason.
pub(super) fn store_error(message: Text, cause: &rusqlite::Error, path: &Path) -> Error {
    if is_of_place(cause)
        && let Some(refusal) = path.parent().and_then(refusal)
    {
        return ErrorKind::Store.error(message).because(&refusal).remedy(remedy_of_place(&refusal));
    }
    let error = ErrorKind::Store.error(message).because(cause);
    match remedy(cause) {
        Some(remedy) => error.remedy(remedy),
        None => error,
    }
}

/// Returns whether the directory rather than the file may be the reason. On a full disk the journal
/// cannot be created, which SQLite reports as an I/O error.
pub(super) fn is_of_place(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    matches!(
        error.sqlite_error_code(),
        Some(CannotOpen | DiskFull | PermissionDenied | ReadOnly | SystemIoFailure)
    )
}

/// Creates the error of a store that can only be read, with the reason from the file or its
/// directory.
pub(super) fn read_only_error(message: Text, path: &Path) -> Error {
    let error = ErrorKind::Store.error(message);
    match write_refusal(path).or_else(|| path.parent().and_then(refusal)) {
        Some(refusal) => error.because(&refusal).remedy(remedy_of_place(&refusal)),
        None => error.remedy(elsewhere()),
    }
}

/// Returns the remedy of specifying another store.
pub(super) fn elsewhere() -> Text {
    text!(
        "choose another location with {DB} FILE or the environment variable KURABE_DB",
        "{DB} FILE または環境変数 KURABE_DB で別の場所を指定してください"
    )
}

fn damaged() -> Text {
    text!(
        "the file is damaged: keep a copy of it, and use another store with {DB} FILE",
        "ファイルが壊れています。写しを残したうえで、{DB} FILE で別のファイルを使ってください"
    )
}

/// Returns why a directory does not accept another file of one SQLite page, or `None` if it does.
fn refusal(directory: &Path) -> Option<io::Error> {
    const PAGE_BYTES: usize = 64 << 10;
    let path = directory.join(format!(".kurabe-probe.{}", std::process::id()));
    let mut file = match File::create_new(&path) {
        Ok(file) => file,
        Err(error) => return Some(error),
    };
    let written = file.write_all(&[0; PAGE_BYTES]).and_then(|()| file.sync_all());
    drop(file);
    // If the file cannot be removed either, that is reported.
    let removed = std::fs::remove_file(&path);
    written.and(removed).err()
}

/// Returns the remedy for a place that cannot hold a writable store.
pub(super) fn remedy_of_place(error: &io::Error) -> Text {
    match error.kind() {
        io::ErrorKind::StorageFull => full(),
        io::ErrorKind::QuotaExceeded => text!(
            "the disk quota is used up: remove files of the user, have the quota raised, or choose \
             another location with {DB} FILE",
            "割り当て(クォータ)を使い切っています。そのユーザーのファイルを減らすか、割り当てを増やすか、{DB} FILE で別の場所を指定してください"
        ),
        io::ErrorKind::ReadOnlyFilesystem => text!(
            "the file system is read-only: choose another location with {DB} FILE or the environment \
             variable KURABE_DB",
            "ファイルシステムが読み取り専用です。{DB} FILE または環境変数 KURABE_DB で別の場所を指定してください"
        ),
        _ => elsewhere(),
    }
}

fn full() -> Text {
    text!(
        "free some space on the store's file system, or choose another location with {DB} FILE",
        "保存先のファイルシステムの空きを増やすか、{DB} FILE で別の場所を指定してください"
    )
}

fn remedy(cause: &rusqlite::Error) -> Option<Text> {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    // A value that kurabe does not write.
    if let FromSqlConversionFailure(..)
    | IntegralValueOutOfRange(..)
    | InvalidColumnType(..)
    | Utf8Error(..) = cause
    {
        return Some(damaged());
    }
    match cause.sqlite_error_code()? {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(text!(
            "another process uses the store: wait until it ends or stop it, then try again",
            "ほかのプロセスが保存先を使っています。終わるのを待つか終了させてから、もう一度実行してください"
        )),
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Some(elsewhere()),
        ErrorCode::DiskFull => Some(full()),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(damaged()),
        _ => None,
    }
}
