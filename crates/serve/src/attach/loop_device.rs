//! Loop devices on the files of a served stack.
//!
//! Opening the file or the device, or querying it, may wait for the server, which can be this very
//! process. Therefore all of that is done in a separate thread ([`apart`]).

use super::use_of_device::{flush, open_alone};
use crate::apart::apart;
use crate::disk::SECTOR_BYTES;
use crate::platform;
use crate::protocol::Export;
use kurabe_host::{Number, block_number, loop_status, roots};
use rustix::fs::FallocateFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Attempts to take a free device; another process may take it first.
const MOST_TRIES: usize = 32;
/// `LOOP_MAJOR` of `linux/major.h`.
const MAJOR: u32 = 7;

/// A loop device on a file of a served stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoopDevice {
    pub(super) path: PathBuf,
}

impl LoopDevice {
    /// Attaches a free device to a file, with sectors of 512 bytes and bypassing the page cache of
    /// the file.
    pub(super) fn over(file: &Path, export: &Export) -> io::Result<Self> {
        apart(|| Self::set_up(file, export))
    }

    fn set_up(file: &Path, export: &Export) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(file)?;
        let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
        for _ in 0..MOST_TRIES {
            let number = platform::free_loop(&control)?;
            let device = Self { path: PathBuf::from(format!("/dev/loop{number}")) };
            let node = OpenOptions::new().read(true).write(true).open(&device.path)?;
            if block_number(&device.path)? != Some((MAJOR, number)) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{device:?}")));
            }
            match platform::configure_loop(&node, &file, SECTOR_BYTES as u32) {
                Ok(()) => {
                    if roots::text(&device.sysfs("loop/dio")).as_deref() != Some("1") {
                        platform::clear_loop(&node)?;
                        return Err(io::ErrorKind::Unsupported.into());
                    }
                    // A hint for file systems; the next user of the device sets its own.
                    let _ = std::fs::write(
                        device.sysfs("queue/rotational"),
                        if export.is_rotational { "1" } else { "0" },
                    );
                    if !export.has_trim {
                        // The file refuses it, which tells the kernel that discards are not
                        // supported.
                        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                        let _ = rustix::fs::fallocate(&node, how, 0, SECTOR_BYTES);
                    }
                    return Ok(device);
                }
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    fn sysfs(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(self.path.file_name().unwrap_or_default()).join(name)
    }

    /// Detaches the device from its file once it is no longer in use, if the file is still on the
    /// file system with this number.
    pub(super) fn let_go(&self, number: Number) -> io::Result<()> {
        apart(|| {
            let node = File::open(&self.path)?;
            if is_on(&node, number) { platform::clear_loop(&node) } else { Ok(()) }
        })
    }

    /// Writes its cache and detaches it from its file, unless another process has it open
    /// exclusively. Returns whether it was detached.
    pub(super) fn flush_and_let_go(&self, number: Number, has_failed: bool) -> io::Result<bool> {
        apart(|| {
            let Some(node) = open_alone(&self.path)? else { return Ok(false) };
            if is_on(&node, number) {
                flush(&node, has_failed)?;
                platform::clear_loop(&node)?;
            }
            Ok(true)
        })
    }

    /// Returns whether the device is still on the file system with this number.
    ///
    /// Sysfs is checked first, so that most devices need not be opened.
    pub(super) fn is_on(&self, number: Number) -> bool {
        roots::text(&self.sysfs("loop/backing_file")).is_some()
            && apart(|| Ok(is_on(&open_quietly(&self.path)?, number))).unwrap_or(false)
    }
}

/// Opens a device for queries without waiting for it.
fn open_quietly(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// The kernel answers from its own data about the file, so this works even if the server has
/// exited.
fn is_on(node: &File, number: Number) -> bool {
    loop_status(node).is_ok_and(|(file_system, _, _)| file_system == number)
}

/// Returns the loop devices on a file system, by export.
///
/// Only devices whose file is below the mount point are opened, so that those of other users are
/// left alone. The device number of the file system proves that they are ours.
pub(super) fn loops_on(point: &Path, number: Number) -> io::Result<Vec<LoopDevice>> {
    let mut devices = Vec::new();
    for entry in std::fs::read_dir("/sys/block")? {
        let device = LoopDevice { path: Path::new("/dev").join(entry?.file_name()) };
        let file = roots::text(&device.sysfs("loop/backing_file"));
        if let Some(file) = file.filter(|file| Path::new(file).starts_with(point))
            && device.is_on(number)
        {
            devices.push((file.len(), file, device));
        }
    }
    // By export: disk2 comes before disk10.
    devices.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    Ok(devices.into_iter().map(|(_, _, device)| device).collect())
}

/// Returns the number of the file system that a loop device is on, or `None` for other devices.
pub(super) fn file_system_of(device: &Path) -> io::Result<Option<Number>> {
    match block_number(device)? {
        Some((MAJOR, _)) => match loop_status(&open_quietly(device)?) {
            Ok((number, _, _)) => Ok(Some(number)),
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
            Err(error) => Err(error),
        },
        _ => Ok(None),
    }
}
