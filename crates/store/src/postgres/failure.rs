//! Converts failed requests to errors with a remedy.

use super::address::DatabaseAddress;
use super::session::Failure;
use kurabe_core::{Error, ErrorKind, Text, shown, text};
use tokio_postgres::Error as DatabaseError;
use tokio_postgres::error::SqlState;

/// Creates the error for a failed request.
pub(super) fn failed(address: &DatabaseAddress, failure: Failure) -> Error {
    let database = &address.shown;
    let unusable = || ErrorKind::Store.error(text!("cannot use {database}", "{database} を使えません"));
    match failure {
        Failure::Value(error) => error,
        Failure::Database(cause) => answered(address, unusable(), &cause),
        Failure::Connection(cause) => unusable().because(cause).remedy(unreachable_server()),
        Failure::Limit(reason) => ErrorKind::Store
            .error(text!("cannot use {database}: {reason}", "{database} を使えません: {reason}"; reason))
            .remedy(text!(
                "check the address, and the state of the server; runs stored on this machine are unaffected",
                "サーバーが正しいか、何をしているかを確認してください。手元の測定はそのままです"
            )),
    }
}

fn unreachable_server() -> Text {
    text!(
        "check that the server is running, and the TLS settings of the address (sslmode, sslrootcert); \
         runs stored on this machine are unaffected",
        "サーバーの状態と、アドレスの TLS の指定(sslmode、sslrootcert)を確認してください。手元の測定はそのままです"
    )
}

/// Creates the error for a message of the server or the client library.
fn answered(address: &DatabaseAddress, error: Error, cause: &DatabaseError) -> Error {
    let reason = match (cause.as_db_error(), std::error::Error::source(cause)) {
        (Some(answer), _) => answer.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => cause.to_string(),
    };
    let error = error.because(shown::line(&address.without_password(&reason)));
    match cause.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::READ_ONLY_SQL_TRANSACTION) => {
            error.remedy(text!(
                "the role lacks a privilege: have the owner grant it, as described in docs/laboratory.md",
                "ロールに権限がありません。所有者に付けてもらってください(docs/laboratory.md 参照)"
            ))
        }
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            error.remedy(text!(
                "give the role in the address, and its password in ~/.pgpass or PGPASSWORD",
                "アドレスにロールを、~/.pgpass か PGPASSWORD にパスワードを書いてください"
            ))
        }
        Some(&SqlState::LOCK_NOT_AVAILABLE) => error.remedy(text!(
            "other machines are sending runs: try again later; runs stored on this machine are unaffected",
            "ほかのマシンが測定を送っています。あとでもう一度実行してください。手元の測定はそのままです"
        )),
        Some(_) => error,
        None => error.remedy(unreachable_server()),
    }
}
