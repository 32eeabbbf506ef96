//! The kernel's own NBD driver: `/dev/nbdN` as a client of the hub, over a pair of sockets.
//!
//! The model: one thread takes a free device by giving it a socket, which the kernel refuses to all but the first, and is the
//! device's client until that is disconnected. The device is open for reading only, because who has it open for writing counts
//! as its user. The kernel notes the thread in `/sys/block/nbdN/pid`: the device is ours as long as that stands there. When the
//! process dies, the kernel fails every request at once and frees the device when its last user goes; what remains are settings of
//! its queue, and these are put back by the record.

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
/// How often it is looked whether a device is there, or gone.
const LOOK: Duration = Duration::from_millis(1);
/// How long it is waited for the kernel to let go of a device.
const PATIENCE: Duration = Duration::from_secs(1);

/// An nbd device that was taken, as others find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NbdRecord {
    /// `nbd0`.
    pub(super) name: String,
    /// The thread that took it, by the number that the kernel shows, whatever process name space looks.
    client: String,
    /// Settings that were changed, as they were before.
    before: Vec<SysfsAttribute>,
}

/// An attribute of a device in sysfs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SysfsAttribute {
    name: String,
    value: String,
}

/// What kernels do not take from the flags: what file systems are told about the head (before 6.12), and how much is asked for at
/// once. The driver's own 128 KiB would make eight requests of one of 1 MiB; of disks the kernel asks for up to 1280 KiB.
fn settings(is_rotational: bool) -> [SysfsAttribute; 2] {
    let setting = |name: &str, value: &str| SysfsAttribute { name: name.to_owned(), value: value.to_owned() };
    [
        setting("queue/rotational", if is_rotational { "1" } else { "0" }),
        setting("queue/max_sectors_kb", "1280"),
    ]
}

/// Changes settings where they are otherwise; those that were, as they were before. They are hints: a kernel may refuse one.
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

/// Those that nobody has, by number; none if the kernel has no such driver.
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
    // Between two users there is a moment in which nobody is named and the size is still there.
    let is_free = |device: &Path| {
        attribute(device, "pid").is_none() && attribute(device, "size").as_deref() == Some("0")
    };
    Some(devices.into_iter().map(|(_, name)| name).filter(|name| is_free(&block.join(name))).collect())
}

/// How many are free; none if the kernel has no such driver.
pub(super) fn free_nbd_devices() -> Option<usize> {
    free_in(Path::new(BLOCK)).map(|names| names.len())
}

/// The kernel's name of a device of this driver; none for other devices.
pub(super) fn nbd_name(device: &Path) -> io::Result<Option<String>> {
    let Some((MAJOR, minor)) = block_number(device)? else { return Ok(None) };
    let link = std::fs::read_link(format!("/sys/dev/block/{MAJOR}:{minor}"))?;
    Ok(link.file_name().and_then(|name| name.to_str()).map(str::to_owned))
}

impl NbdRecord {
    pub(super) fn path(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Whether the kernel says that the noted thread has it: alive, or dead while somebody uses the device still.
    pub(super) fn is_held(&self) -> bool {
        self.is_held_in(Path::new(BLOCK))
    }

    fn is_held_in(&self, block: &Path) -> bool {
        attribute(&block.join(&self.name), "pid").is_some_and(|client| client == self.client)
    }

    /// Puts back what a kill left; whether the device is free now, or will be when its last user goes.
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
    /// Takes a free one for an export, whose requests come over a socket that `serve` is given.
    pub(super) fn over(
        export: &Export,
        serve: impl FnOnce(OwnedFd),
        ended: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (taken, was_taken) = channel();
        let (blocks, flags) = (export.size_bytes / SECTOR_BYTES, export.flags(false));
        let client = Builder::new().name("kurabe-nbd".to_owned()).spawn(move || {
            // A signal would end the device.
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

    /// Has the kernel let go of it; who uses it gets errors from now on.
    pub(super) fn let_go(&mut self) -> io::Result<()> {
        let Some(client) = self.client.take() else { return Ok(()) };
        // Somebody may have taken it away, and others have it since.
        if self.record.is_held() && !client.is_finished() {
            // The next user of the device should not inherit them.
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

/// A free device, which is this thread's now, and the other end of its socket.
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

    /// A tree as of /sys/block: device, attribute, value.
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
        // An attribute that this kernel lacks.
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
        // Still used as it was left, and somebody else's.
        for (client, is_ours) in [("4711", true), ("5000", false)] {
            let used = tree(&[("nbd0", "pid", client), ("nbd0", "queue/rotational", "1")]);
            assert_eq!(record(Some("0")).clean_in(used.path()), is_ours);
            assert_eq!(record(Some("0")).is_held_in(used.path()), is_ours);
            assert_eq!(rotational(&used), "1");
        }
    }
}
