//! The kernel's NBD driver: `/dev/nbdN` as a client of the hub, over a socket pair.
//!
//! One thread takes a free device by giving it a socket, which the kernel accepts only from the
//! first thread that tries. The thread is the device's client until the device is disconnected. It
//! opens the device read-only, because an open for writing counts as use. The kernel shows the
//! thread in `/sys/block/nbdN/pid`, and the device is ours as long as that is unchanged. If the
//! process is killed, the kernel fails every request and frees the device when its last user closes
//! it. The settings of its queue remain, and are restored from the record.

use crate::disk::SECTOR_BYTES;
use crate::hub::give_room;
use crate::platform;
use crate::protocol::Export;
use kurabe_host::{block_number, roots};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

const BLOCK: &str = "/sys/block";
/// `NBD_MAJOR` of `linux/major.h`.
const MAJOR: u32 = 43;
/// Interval at which the appearance or removal of a device is polled.
const LOOK: Duration = Duration::from_millis(1);
/// Longest wait for the kernel to release a device.
const PATIENCE: Duration = Duration::from_secs(1);

/// A device that was taken, as recorded for other processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NbdRecord {
    /// Name, such as `nbd0`.
    pub(super) name: String,
    /// Thread that took it, by the number that the kernel shows in every PID namespace.
    client: String,
    /// Previous values of changed settings.
    before: Vec<SysfsAttribute>,
}

/// An attribute of a device in sysfs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SysfsAttribute {
    name: String,
    value: String,
}

/// Returns settings that kernels do not derive from the flags: whether the device is rotational
/// (before 6.12), and the largest request.
///
/// The driver's own limit of 128 KiB would split 1 MiB into eight requests; for disks the kernel
/// sends up to 1280 KiB.
fn settings(is_rotational: bool) -> [SysfsAttribute; 2] {
    let setting = |name: &str, value: &str| SysfsAttribute { name: name.to_owned(), value: value.to_owned() };
    [
        setting("queue/rotational", if is_rotational { "1" } else { "0" }),
        setting("queue/max_sectors_kb", "1280"),
    ]
}

/// Changes settings that differ, and returns their previous values. They are hints, and a kernel
/// may refuse one.
fn change(device: &Path, wishes: &[SysfsAttribute]) -> Vec<SysfsAttribute> {
    let changed = |wish: &SysfsAttribute| {
        let value = attribute(device, &wish.name).filter(|value| *value != wish.value)?;
        std::fs::write(device.join(&wish.name), &wish.value).ok()?;
        Some(SysfsAttribute { name: wish.name.clone(), value })
    };
    wishes.iter().filter_map(changed).collect()
}

/// An nbd device that this process serves.
#[derive(Debug)]
pub(super) struct NbdDevice {
    pub(super) record: NbdRecord,
    client: Option<JoinHandle<io::Result<()>>>,
}

fn attribute(device: &Path, name: &str) -> Option<String> {
    roots::text(&device.join(name))
}

/// Returns the free devices by number, or `None` if the kernel has no such driver.
fn free_in(block: &Path) -> Option<Vec<String>> {
    let number = |name: &str| name.strip_prefix("nbd")?.parse::<u32>().ok();
    let mut devices: Vec<(u32, String)> = std::fs::read_dir(block)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|name| Some((number(&name)?, name)))
        .collect();
    if devices.is_empty() {
        return None;
    }
    devices.sort();
    // Between two users, `pid` is absent for a moment while the size is still set.
    let is_free = |device: &Path| {
        attribute(device, "pid").is_none() && attribute(device, "size").as_deref() == Some("0")
    };
    Some(devices.into_iter().map(|(_, name)| name).filter(|name| is_free(&block.join(name))).collect())
}

/// Returns the number of free devices, or `None` if the kernel has no such driver.
pub(super) fn free_nbd_devices() -> Option<usize> {
    free_in(Path::new(BLOCK)).map(|names| names.len())
}

/// Returns the kernel's name of a device of this driver, or `None` for other devices.
pub(super) fn nbd_name(device: &Path) -> io::Result<Option<String>> {
    let Some((MAJOR, minor)) = block_number(device)? else { return Ok(None) };
    let link = std::fs::read_link(format!("/sys/dev/block/{MAJOR}:{minor}"))?;
    Ok(link.file_name().and_then(|name| name.to_str()).map(str::to_owned))
}

impl NbdRecord {
    pub(super) fn path(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Returns whether the recorded thread has the device: it is alive, or dead while the device is
    /// still in use.
    pub(super) fn is_held(&self) -> bool {
        self.is_held_in(Path::new(BLOCK))
    }

    fn is_held_in(&self, block: &Path) -> bool {
        attribute(&block.join(&self.name), "pid").is_some_and(|client| client == self.client)
    }

    /// Restores settings after a kill. Returns whether the device is free now, or will be when its
    /// last user closes it.
    pub(super) fn clean(&self) -> bool {
        self.clean_in(Path::new(BLOCK))
    }

    fn clean_in(&self, block: &Path) -> bool {
        let device = block.join(&self.name);
        let is_free = attribute(&device, "pid").is_none();
        if is_free {
            change(&device, &self.before);
        }
        is_free || self.is_held_in(block)
    }
}

impl NbdDevice {
    /// Takes a free device for an export; `serve` receives the socket for its requests.
    pub(super) fn over(
        export: &Export,
        serve: impl FnOnce(OwnedFd),
        ended: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (taken, was_taken) = channel();
        let (blocks, flags) = (export.size_bytes / SECTOR_BYTES, export.flags(false));
        let client = Builder::new().name("kurabe-nbd".to_owned()).spawn(move || {
            // A signal would disconnect the device.
            platform::hear_no_signals()?;
            let (name, node, socket) = take_free()?;
            platform::set_up_nbd(&node, SECTOR_BYTES, blocks, flags)?;
            let _ = taken.send((name, socket));
            let served = platform::run_nbd(&node);
            ended();
            served
        })?;
        let Ok((name, socket)) = was_taken.recv() else { return Err(why_ended(client)) };
        serve(socket);
        let device = Path::new(BLOCK).join(&name);
        let size = blocks.to_string();
        let thread = loop {
            if client.is_finished() {
                return Err(why_ended(client));
            }
            if let Some(thread) = attribute(&device, "pid")
                && attribute(&device, "size").as_ref() == Some(&size)
            {
                break thread;
            }
            std::thread::sleep(LOOK);
        };
        let before = change(&device, &settings(export.is_rotational));
        Ok(Self { record: NbdRecord { name, client: thread, before }, client: Some(client) })
    }

    /// Disconnects the device; its users get errors from now on.
    pub(super) fn let_go(&mut self) -> io::Result<()> {
        let Some(client) = self.client.take() else { return Ok(()) };
        // Another process may have disconnected it, and a third may have taken it since.
        if self.record.is_held() && !client.is_finished() {
            // The next user of the device should not inherit the settings.
            change(&Path::new(BLOCK).join(&self.record.name), &self.record.before);
            platform::disconnect_nbd(&File::open(self.record.path())?)?;
        }
        let begun = Instant::now();
        while !client.is_finished() && begun.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

fn why_ended(client: JoinHandle<io::Result<()>>) -> io::Error {
    match client.join() {
        Ok(Err(error)) => error,
        _ => io::ErrorKind::UnexpectedEof.into(),
    }
}

/// Takes a free device for this thread, and returns it with the other end of its socket.
fn take_free() -> io::Result<(String, File, OwnedFd)> {
    let (ours, kernels) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    give_room(&kernels);
    for name in free_in(Path::new(BLOCK)).ok_or(io::ErrorKind::NotFound)? {
        let path = Path::new("/dev").join(&name);
        let node = File::open(&path)?;
        if nbd_name(&path)?.as_ref() != Some(&name) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path:?}")));
        }
        match platform::take_nbd(&node, &kernels) {
            Ok(()) => return Ok((name, node, ours)),
            // Another process took the device first.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a tree like /sys/block: device, attribute, value.
    fn tree(files: &[(&str, &str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (device, name, value) in files {
            let path = tree.path().join(device).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{value}\n")).unwrap();
        }
        tree
    }

    fn record(rotational_before: Option<&str>) -> NbdRecord {
        let setting =
            |value: &str| SysfsAttribute { name: "queue/rotational".to_owned(), value: value.to_owned() };
        let before = rotational_before.map(setting).into_iter().collect();
        NbdRecord { name: "nbd0".to_owned(), client: "4711".to_owned(), before }
    }

    #[test]
    fn settings_that_are_as_they_should_be_are_not_changed_nor_noted() {
        let tree = tree(&[("nbd0", "queue/rotational", "0"), ("nbd0", "queue/max_sectors_kb", "128")]);
        let device = tree.path().join("nbd0");
        let before = change(&device, &settings(false));
        assert_eq!(
            before,
            [SysfsAttribute { name: "queue/max_sectors_kb".to_owned(), value: "128".to_owned() }]
        );
        assert_eq!(attribute(&device, "queue/max_sectors_kb").as_deref(), Some("1280"));
        // This kernel lacks one of the attributes.
        std::fs::remove_file(device.join("queue/max_sectors_kb")).unwrap();
        assert_eq!(change(&device, &settings(true)).len(), 1);
    }

    #[test]
    fn free_ones_are_those_that_nobody_has_by_number() {
        let tree = tree(&[
            ("nbd10", "size", "0"),
            ("nbd2", "size", "0"),
            ("nbd0", "size", "2048"),
            ("nbd0", "pid", "99"),
            ("nbd1", "size", "2048"),
            ("nbd3", "size", "0"),
            ("nbd3", "pid", "98"),
            ("nbdx", "size", "0"),
            ("loop0", "size", "0"),
        ]);
        assert_eq!(free_in(tree.path()).unwrap(), ["nbd2", "nbd10"]);
    }

    #[test]
    fn a_kernel_without_the_driver_has_none() {
        assert_eq!(free_in(tree(&[("loop0", "size", "0")]).path()), None);
        assert_eq!(free_in(Path::new("/nowhere")), None);
        assert_eq!(free_in(tree(&[("nbd0", "pid", "1")]).path()), Some(Vec::new()));
    }

    #[test]
    fn what_a_kill_left_is_put_back_unless_somebody_has_the_device() {
        let rotational =
            |tree: &tempfile::TempDir| attribute(&tree.path().join("nbd0"), "queue/rotational").unwrap();
        // The device is free again.
        let free = tree(&[("nbd0", "size", "0"), ("nbd0", "queue/rotational", "1")]);
        assert!(record(Some("0")).clean_in(free.path()));
        assert_eq!(rotational(&free), "0");
        // Unchanged settings are left alone.
        let unchanged = tree(&[("nbd0", "size", "0"), ("nbd0", "queue/rotational", "1")]);
        assert!(record(None).clean_in(unchanged.path()));
        assert_eq!(rotational(&unchanged), "1");
        // Still in use by the recorded thread, or taken by another.
        for (client, is_ours) in [("4711", true), ("5000", false)] {
            let used = tree(&[("nbd0", "pid", client), ("nbd0", "queue/rotational", "1")]);
            assert_eq!(record(Some("0")).clean_in(used.path()), is_ours);
            assert_eq!(record(Some("0")).is_held_in(used.path()), is_ours);
            assert_eq!(rotational(&used), "1");
        }
    }
}
