//! What differs between operating systems, for the store: bytes of a path, private directories, network file systems.

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

/// Whether a directory is on a file system on which two machines may meet, or which cannot share memory between
/// processes: there a write-ahead log is not safe.
#[cfg(target_os = "linux")]
pub(crate) fn is_on_network(directory: &Path) -> bool {
    const TYPES: [u32; 11] = [
        0x0000_6969, // NFS
        0xFF53_4D42, // CIFS
        0xFE53_4D42, // SMB2
        0x0000_517B, // SMB
        0x6573_5546, // FUSE: sshfs among others, and shared memory maps are often refused
        0x0102_1997, // 9p
        0x00C3_6400, // Ceph
        0x5346_414F, // AFS
        0x0BD0_0BD0, // Lustre
        0x0116_1970, // GFS2
        0x7461_636F, // OCFS2
    ];
    // The type is a signed word on some machines; only its low 32 bits carry the number.
    rustix::fs::statfs(directory).is_ok_and(|file_system| TYPES.contains(&(file_system.f_type as u32)))
}

/// Not known here: the database library decides alone.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_on_network(_directory: &Path) -> bool {
    false
}
