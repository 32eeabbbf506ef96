//! What is observed: a path as the operating system sees it, and what to keep of what lies under it.

use crate::platform::Number;
use std::path::PathBuf;

/// What to keep of what is seen.
#[derive(Clone, Copy, Debug)]
pub struct ObserveOptions<'a> {
    /// Keep serial numbers themselves; otherwise a salted hash.
    pub with_serial: bool,
    /// Salt of the hash, one per store, so that hashes of different stores cannot be matched.
    pub salt: &'a [u8],
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubjectKind {
    /// A block device with its number.
    Block(Number),
    /// A file or directory in a file system.
    Stored,
    /// A character device, a pipe and so on: nothing lies under it.
    Other,
}

/// Room of a file system, from statvfs(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub block_size_bytes: u64,
    pub size_bytes: u64,
    pub free_bytes: u64,
}

/// A path, links resolved, with what the operating system says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub path: PathBuf,
    pub kind: SubjectKind,
    /// Device number of the file system that holds it.
    pub dev: Number,
    pub space: Option<Space>,
}

#[cfg(test)]
/// A file or directory in the file system with this device number.
pub(crate) fn stored(path: &std::path::Path, dev: (u32, u32)) -> Subject {
    Subject {
        path: path.to_owned(),
        kind: SubjectKind::Stored,
        dev,
        space: Some(Space { block_size_bytes: 4096, size_bytes: 1 << 30, free_bytes: 1 << 29 }),
    }
}
