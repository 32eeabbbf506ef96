//! Use of a block device by others: its users, and opening it exclusively.

use crate::apart::apart;
use kurabe_core::{ErrorKind, Result, Text, shown, text};
use kurabe_host::claims;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the users of a device, as clauses. Empty if it is not in use, or if that cannot be
/// determined.
pub(crate) fn users_of(device: &Path) -> Vec<Text> {
    let claims = apart(|| claims(&File::open(device)?, device).map_err(|_| io::ErrorKind::Other.into()));
    let claims = claims.unwrap_or_default().into_iter().filter(|claim| !claim.is_signature);
    claims.map(|claim| claim.by).collect()
}

/// Refuses if one of the devices is in use.
///
/// # Errors
/// Names the users of the device.
pub fn refuse_used(devices: &[PathBuf]) -> Result<()> {
    let used = devices.iter().map(|device| (device, users_of(device))).find(|(_, users)| !users.is_empty());
    let Some((device, users)) = used else { return Ok(()) };
    let (shown, users) = (shown::path(device), Text::list(users));
    Err(ErrorKind::Refused
        .error(text!("{shown} is in use: {users}", "{shown} は使用中です: {users}"; users))
        .remedy(text!(
            "unmount it (`umount {shown}`) or stop the processes that use it, then try again",
            "`umount {shown}` するか、使っているものを終了してから、もう一度実行してください"
        )))
}

/// Opens a device exclusively, so that it cannot be mounted. `None` if another process has it open
/// exclusively.
pub(super) fn open_alone(device: &Path) -> io::Result<Option<File>> {
    match rustix::fs::open(device, OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()) {
        Ok(node) => Ok(Some(node.into())),
        Err(Errno::BUSY) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes the kernel write its cache of a device. After a power cut or a fault, errors are expected
/// and ignored.
pub(super) fn flush(node: &File, has_failed: bool) -> io::Result<()> {
    node.sync_all().or_else(|error| if has_failed { Ok(()) } else { Err(error) })
}
