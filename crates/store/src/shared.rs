//! The store that many machines share, a PostgreSQL database.
//!
//! Whether it can be opened depends on the features that the program was built with. Callers need
//! not check them.

use crate::{Archive, SharedAccess, SharedAddress};
#[cfg(not(feature = "postgres"))]
use kurabe_core::{Error, ErrorKind};
use kurabe_core::{Result, digest::Digester};
use std::ffi::OsString;

/// Opens a shared store; `env` returns libpq's environment variables. Errors do not contain
/// passwords.
///
/// # Errors
/// If the server does not answer in time, refuses, or does not speak PostgreSQL's protocol, if its
/// tables are missing or of another version, or if kurabe was built without the feature `postgres`.
pub fn open_shared(
    address: &SharedAddress,
    access: SharedAccess,
    digester: Digester,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Box<dyn Archive>> {
    #[cfg(feature = "postgres")]
    return Ok(Box::new(crate::postgres::PostgresStore::open(address, access, digester, env)?));
    #[cfg(not(feature = "postgres"))]
    {
        let _ = (address, access, digester, env);
        Err(Error::not_built(ErrorKind::Store, "PostgreSQL", "postgres"))
    }
}
