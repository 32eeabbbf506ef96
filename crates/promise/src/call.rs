//! Calls of a program that concern its files.

use std::ops::Range;
use std::sync::Arc;

/// Number that identifies a file or folder: its inode number.
pub type FileNumber = u64;

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamePlace {
    /// The folder.
    pub folder: FileNumber,
    /// The name in it.
    pub name: String,
}

/// Bytes that a call wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallBytes {
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// Zeroes.
    Zeroes,
    /// Bytes that were not recorded.
    Unknown,
}

/// Effect of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Creates a file or folder.
    Create {
        /// Its name.
        at: NamePlace,
        /// Its number.
        file: FileNumber,
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// Opens an existing file for reading.
    Read {
        /// The file.
        file: FileNumber,
    },
    /// Writes bytes.
    Write {
        /// The file.
        file: FileNumber,
        /// The range that was written.
        range: Range<u64>,
        /// Bytes that were written.
        content: CallBytes,
        /// Whether the call returns only when the bytes are durable (`O_SYNC`, `O_DSYNC`).
        is_synced: bool,
    },
    /// Sets the size.
    Resize {
        /// The file.
        file: FileNumber,
        /// The new size.
        size_bytes: u64,
    },
    /// Changes a file in a way that is not followed, such as a writable shared mapping.
    Scramble {
        /// The file.
        file: FileNumber,
    },
    /// Makes a file or folder durable (`fsync`, `fdatasync`).
    Sync {
        /// The file or folder.
        file: FileNumber,
        /// Whether the call succeeded.
        is_ok: bool,
    },
    /// Makes everything durable (`sync`, `syncfs`).
    SyncAll,
    /// Adds a name to an existing file.
    Link {
        /// The new name.
        at: NamePlace,
        /// The file.
        file: FileNumber,
    },
    /// Moves a name, and replaces the file that had the new name.
    Rename {
        /// The old name.
        from: NamePlace,
        /// The new name.
        to: NamePlace,
        /// The file or folder.
        file: FileNumber,
    },
    /// Removes a name.
    Unlink {
        /// The name.
        at: NamePlace,
        /// The file that it led to.
        file: FileNumber,
    },
}

/// A call of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCall {
    /// Position of its start among the starts and ends of all calls.
    pub began: u64,
    /// Position of its end; `None` if the power was cut before it returned.
    pub ended: Option<u64>,
    /// Process that made it.
    pub process: u32,
    /// Thread that made it.
    pub thread: u32,
    /// Its name, such as `pwrite64`.
    pub name: &'static str,
    /// Its effect.
    pub action: FileAction,
}

/// A file or folder that existed before the program started, and is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseFile {
    /// Its name.
    pub at: NamePlace,
    /// Its number.
    pub file: FileNumber,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its size.
    pub size_bytes: u64,
    /// Its bytes.
    pub content: CallBytes,
}
