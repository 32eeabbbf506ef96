//! The store that many machines share: a database of PostgreSQL.
//!
//! The model: the features that a program was built with decide whether it can open one. Callers need not know.

use crate::{Archive, SharedAddress};
use kurabe_core::Result;
#[cfg(not(feature = "postgres"))]
use kurabe_core::{Error, ErrorKind};
use std::ffi::OsString;

/// What a shared store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedAccess {
    /// To be read.
    Read,
    /// For runs that are brought to it: the tables are made, or made new, if that is needed.
    Write,
}

/// Opens a shared store; `env` gives what libpq takes of the environment. No password is in any error.
///
/// # Errors
/// When the server does not answer in time, refuses or does not speak PostgreSQL's protocol, when its tables are missing or of another
/// kurabe, or when this one was built without the feature `postgres`.
pub fn open_shared(
    address: &SharedAddress,
    access: SharedAccess,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Box<dyn Archive>> {
    #[cfg(feature = "postgres")]
    return Ok(Box::new(crate::postgres::PostgresStore::open(address, access, env)?));
    #[cfg(not(feature = "postgres"))]
    {
        let _ = (address, access, env);
        Err(Error::not_built(ErrorKind::Store, "PostgreSQL", "postgres"))
    }
}
