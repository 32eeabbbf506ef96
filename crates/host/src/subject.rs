//! The observed path as the operating system sees it, and the options of the observation.

use crate::platform::Number;
use std::path::PathBuf;

/// Options that determine which facts are recorded.
#[derive(Clone, Copy, Debug)]
pub struct ObserveOptions<'a> {
    /// Record serial numbers in plain form instead of as salted hashes.
    pub with_serial: bool,
    /// Salt of the hash, different for each store, so that hashes of different stores can't be
    /// matched.
    pub salt: &'a [u8],
}

/// The kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubjectKind {
    /// A block device with its number.
    Block(Number),
    /// A file or directory in a file system.
    Stored,
    /// A character device, a pipe or similar, which is not on storage.
    Other,
}

/// Capacity of a file system, from statvfs(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub block_size_bytes: u64,
    pub size_bytes: u64,
    pub free_bytes: u64,
}

/// A path with its links resolved, and its facts from the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub path: PathBuf,
    pub kind: SubjectKind,
    /// Device number of the file system that contains it.
    pub dev: Number,
    pub space: Option<Space>,
}

#[cfg(test)]
/// Returns a file or directory in the file system with this device number.
pub(crate) fn stored(path: &std::path::Path, dev: (u32, u32)) -> Subject {
    Subject {
        path: path.to_owned(),
        kind: SubjectKind::Stored,
        dev,
        space: Some(Space { block_size_bytes: 4096, size_bytes: 1 << 30, free_bytes: 1 << 29 }),
    }
}
