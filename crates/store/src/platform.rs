//! What differs between operating systems, for the store: bytes of a path, private files and directories, which file a
//! path leads to.

use std::path::{Path, PathBuf};

/// The bytes of a path; it need not be UTF-8.
#[cfg(unix)]
pub(crate) fn path_to_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// The path that has these bytes.
#[cfg(unix)]
pub(crate) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

/// The bytes of a path, as UTF-8.
#[cfg(not(unix))]
pub(crate) fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// The path that has these bytes.
#[cfg(not(unix))]
pub(crate) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// The user whom a file belongs to.
#[cfg(unix)]
pub(crate) fn file_user(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|facts| std::os::unix::fs::MetadataExt::uid(&facts))
}

/// Not known here.
#[cfg(not(unix))]
pub(crate) fn file_user(_path: &Path) -> Option<u32> {
    None
}

/// Makes a directory and its parents; those that are made are for their owner alone.
pub(crate) fn create_private_dirs(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A new file for its owner alone, open for writing.
pub(crate) fn create_private_file(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, PRIVATE);
    options.open(path)
}

/// Reading and writing for the owner alone.
#[cfg(unix)]
const PRIVATE: u32 = 0o600;

/// Makes an empty file for its owner alone, if there is none, without opening it: to close it would drop the locks that
/// another thread may hold on it by then.
#[cfg(target_os = "linux")]
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::PermissionsExt;
    match mknodat(CWD, path, FileType::RegularFile, Mode::from_raw_mode(PRIVATE), 0) {
        // The mask of the process may have taken more away than it should.
        Ok(()) => std::fs::set_permissions(path, std::fs::Permissions::from_mode(PRIVATE)),
        Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Left to the database library and the mask of the process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn make_private(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// The mode of a file that others than its owner may read or write.
#[cfg(unix)]
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Not known here.
#[cfg(not(unix))]
pub(crate) fn open_to_others(_path: &Path) -> Option<u32> {
    None
}

/// What tells the file at a path from any other: file system and inode.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map(|file| (file.dev(), file.ino()))
}

/// All files are the same here: only that it is there can be told.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|_| (0, 0))
}
