//! What SQLite reports, as an error with a remedy.

use kurabe_core::{Error, ErrorKind, Text, text};
use rusqlite::ErrorCode;

/// An error of the store, with the remedy that its code calls for.
pub(super) fn store_error(what: Text, cause: &rusqlite::Error) -> Error {
    let error = Error::new(ErrorKind::Store, what).because(cause);
    match remedy(cause) {
        Some(remedy) => error.remedy(remedy),
        None => error,
    }
}

/// The remedy for a place that cannot be written, or for wanting another store.
pub(super) fn elsewhere() -> Text {
    text!(
        "name another place with --db FILE or the variable KURABE_DB",
        "--db FILE または環境変数 KURABE_DB で別の場所を指定してください"
    )
}

fn damaged() -> Text {
    text!(
        "the file is damaged: keep a copy of it, and use another one with --db FILE",
        "ファイルが壊れています。写しを残したうえで、--db FILE で別のファイルを使ってください"
    )
}

fn remedy(cause: &rusqlite::Error) -> Option<Text> {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    // A value that no kurabe wrote.
    if let FromSqlConversionFailure(..)
    | IntegralValueOutOfRange(..)
    | InvalidColumnType(..)
    | Utf8Error(..) = cause
    {
        return Some(damaged());
    }
    match cause.sqlite_error_code()? {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(text!(
            "another process holds the store: wait for it or end it, then try again",
            "ほかのプロセスが保存先を使っています。終わるのを待つか終了させてから、もう一度実行してください"
        )),
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Some(elsewhere()),
        ErrorCode::DiskFull => Some(text!(
            "free some room on the store's file system, or name another place with --db FILE",
            "保存先のファイルシステムの空きを増やすか、--db FILE で別の場所を指定してください"
        )),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(damaged()),
        _ => None,
    }
}
