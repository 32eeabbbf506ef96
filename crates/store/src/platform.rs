//! What is of the operating system, for the store: bytes of a path, private files and directories, which file a path
//! leads to.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The bytes of a path; it need not be UTF-8.
pub(crate) fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The path that has these bytes.
pub(crate) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// The user whom a file belongs to.
pub(crate) fn file_user(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|facts| facts.uid())
}

/// Makes a directory and its parents; those that are made are for their owner alone.
pub(crate) fn create_private_dirs(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A new file for its owner alone, open for writing.
pub(crate) fn create_private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)
}

/// Reading and writing for the owner alone.
const PRIVATE: u32 = 0o600;

/// Makes an empty file for its owner alone, if there is none, without opening it: to close it would drop the locks that
/// another thread may hold on it by then.
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    match mknodat(CWD, path, FileType::RegularFile, Mode::from_raw_mode(PRIVATE), 0) {
        // The mask of the process may have taken more away than it should.
        Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(PRIVATE)),
        Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The mode of a file that others than its owner may read or write.
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// What tells the file at a path from any other: file system and inode.
pub(crate) fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|file| (file.dev(), file.ino()))
}
