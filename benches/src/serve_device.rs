//! A file on ext4 on an attached device, mounted while it is measured.

use crate::Result;
use crate::child;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Size of the file system: as close to the beginning of the device as the requests in virtual
/// time.
const FILE_SYSTEM: &str = "1g";
const PIECE_BYTES: usize = 1 << 20;

/// Returns a prerequisite that is missing, if any.
pub fn missing() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("root");
    }
    let opens = |path: &str| OpenOptions::new().read(true).write(true).open(path).is_ok();
    let has = |program: &str| Command::new(program).arg("-V").output().is_ok();
    ["/dev/fuse", "/dev/loop-control"]
        .into_iter()
        .find(|path| !opens(path))
        .or_else(|| ["mkfs.ext4", "mount"].into_iter().find(|program| !has(program)))
}

/// Writes a file on a device and calls `work` with it.
///
/// # Errors
/// Returns an error if the file cannot be created, or `work` fails.
pub fn with_file<R>(
    device: &Path,
    folder: &Path,
    bytes: u64,
    work: impl FnOnce(&Path) -> Result<R>,
) -> Result<R> {
    child::run(Command::new("mkfs.ext4").arg("-q").arg(device).arg(FILE_SYSTEM))?;
    let point = folder.join("mnt");
    std::fs::create_dir(&point)?;
    // Avoid background work of the file system.
    child::run(Command::new("mount").args(["-o", "noinit_itable,noatime"]).arg(device).arg(&point))?;
    let path = point.join("file");
    let done = write_file(&path, bytes).and_then(|()| work(&path));
    child::run(Command::new("umount").arg(&point))?;
    done
}

fn write_file(path: &Path, bytes: u64) -> Result<()> {
    let mut file = File::create(path)?;
    for place in 0..bytes / PIECE_BYTES as u64 {
        file.write_all(&vec![place as u8 + 1; PIECE_BYTES])?;
    }
    Ok(file.sync_all()?)
}
