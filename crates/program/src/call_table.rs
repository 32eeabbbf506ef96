//! Numbers of the calls that concern files, and their names.

use crate::platform::StopRule;

/// Call that concerns files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Folder, path, and flags: `openat`; without the folder: `open`.
    Open {
        has_folder: bool,
    },
    /// `openat2`, whose flags are in memory.
    OpenHow,
    Creat,
    /// Descriptor, buffer, length, and the position if `is_at`.
    Write {
        is_at: bool,
    },
    /// The same with a list of buffers; `has_flags` as in `pwritev2`.
    WriteMany {
        is_at: bool,
        has_flags: bool,
    },
    /// From another file: `copy_file_range` and `splice`.
    Copy,
    Sendfile,
    Truncate,
    Ftruncate,
    Fallocate,
    Sync,
    SyncAll,
    SyncFs,
    Rename {
        has_folders: bool,
    },
    Link {
        has_folders: bool,
    },
    Unlink {
        has_folder: bool,
    },
    Rmdir,
    /// `mkdir`, `mknod`.
    Make {
        has_folder: bool,
        is_folder: bool,
    },
    Symlink {
        has_folder: bool,
    },
    Mmap,
    /// `ioctl` that shares the blocks of another file.
    Clone,
    /// Requests to files that are not followed.
    Unfollowed,
}

const MAP_SHARED: u32 = 1;
const FICLONE: u32 = 0x4004_9409;
const FICLONERANGE: u32 = 0x4020_940d;

/// Every call that is followed on all architectures.
const CALLS: &[(i64, &str, CallKind)] = &[
    (libc::SYS_openat, "openat", CallKind::Open { has_folder: true }),
    (libc::SYS_openat2, "openat2", CallKind::OpenHow),
    (libc::SYS_write, "write", CallKind::Write { is_at: false }),
    (libc::SYS_pwrite64, "pwrite64", CallKind::Write { is_at: true }),
    (libc::SYS_writev, "writev", CallKind::WriteMany { is_at: false, has_flags: false }),
    (libc::SYS_pwritev, "pwritev", CallKind::WriteMany { is_at: true, has_flags: false }),
    (libc::SYS_pwritev2, "pwritev2", CallKind::WriteMany { is_at: true, has_flags: true }),
    (libc::SYS_copy_file_range, "copy_file_range", CallKind::Copy),
    (libc::SYS_splice, "splice", CallKind::Copy),
    (libc::SYS_sendfile, "sendfile", CallKind::Sendfile),
    (libc::SYS_truncate, "truncate", CallKind::Truncate),
    (libc::SYS_ftruncate, "ftruncate", CallKind::Ftruncate),
    (libc::SYS_fallocate, "fallocate", CallKind::Fallocate),
    (libc::SYS_fsync, "fsync", CallKind::Sync),
    (libc::SYS_fdatasync, "fdatasync", CallKind::Sync),
    (libc::SYS_sync, "sync", CallKind::SyncAll),
    (libc::SYS_syncfs, "syncfs", CallKind::SyncFs),
    (libc::SYS_renameat2, "renameat2", CallKind::Rename { has_folders: true }),
    (libc::SYS_linkat, "linkat", CallKind::Link { has_folders: true }),
    (libc::SYS_unlinkat, "unlinkat", CallKind::Unlink { has_folder: true }),
    (libc::SYS_mkdirat, "mkdirat", CallKind::Make { has_folder: true, is_folder: true }),
    (libc::SYS_mknodat, "mknodat", CallKind::Make { has_folder: true, is_folder: false }),
    (libc::SYS_symlinkat, "symlinkat", CallKind::Symlink { has_folder: true }),
    (libc::SYS_mmap, "mmap", CallKind::Mmap),
    (libc::SYS_ioctl, "ioctl", CallKind::Clone),
    (libc::SYS_io_uring_setup, "io_uring_setup", CallKind::Unfollowed),
    (libc::SYS_io_submit, "io_submit", CallKind::Unfollowed),
];

/// Calls of older architectures, without a folder.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[(i64, &str, CallKind)] = &[
    (libc::SYS_open, "open", CallKind::Open { has_folder: false }),
    (libc::SYS_creat, "creat", CallKind::Creat),
    (libc::SYS_rename, "rename", CallKind::Rename { has_folders: false }),
    (libc::SYS_renameat, "renameat", CallKind::Rename { has_folders: true }),
    (libc::SYS_link, "link", CallKind::Link { has_folders: false }),
    (libc::SYS_unlink, "unlink", CallKind::Unlink { has_folder: false }),
    (libc::SYS_rmdir, "rmdir", CallKind::Rmdir),
    (libc::SYS_mkdir, "mkdir", CallKind::Make { has_folder: false, is_folder: true }),
    (libc::SYS_mknod, "mknod", CallKind::Make { has_folder: false, is_folder: false }),
    (libc::SYS_symlink, "symlink", CallKind::Symlink { has_folder: false }),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[(i64, &str, CallKind)] =
    &[(libc::SYS_renameat, "renameat", CallKind::Rename { has_folders: true })];

/// Returns the name and kind of a call.
pub(crate) fn call_of(number: i64) -> Option<(&'static str, CallKind)> {
    CALLS.iter().chain(OLD_CALLS).find(|(own, ..)| *own == number).map(|(_, name, kind)| (*name, *kind))
}

/// Returns the calls to stop at, to follow those that concern files.
pub(crate) fn followed() -> Vec<StopRule> {
    let rules = |(number, _, kind): &(i64, &str, CallKind)| match kind {
        CallKind::Mmap => vec![StopRule::Bits(*number, 3, MAP_SHARED)],
        CallKind::Clone => {
            vec![StopRule::Equals(*number, 1, FICLONE), StopRule::Equals(*number, 1, FICLONERANGE)]
        }
        _ => vec![StopRule::Always(*number)],
    };
    CALLS.iter().chain(OLD_CALLS).flat_map(rules).collect()
}
