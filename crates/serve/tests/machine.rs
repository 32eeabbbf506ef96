//! Programs of this machine, and whether tests may use block devices and mounts.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::eventually;

/// Runs a program and returns its standard output, or `None` if it is not installed, fails, or
/// takes a minute.
pub fn run(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new("timeout").arg("60").arg(program).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns whether the tests run as root with the necessary devices; then none may be skipped.
pub fn can_attach() -> bool {
    let opens = |path: &str| OpenOptions::new().read(true).write(true).open(path).is_ok();
    let mounts = run("unshare", &["--mount", "true"]).is_some();
    mounts && opens("/dev/fuse") && opens("/dev/loop-control") && opens("/dev/loop0")
}

/// A mount that is removed when the value is dropped.
pub struct Mounted<'p> {
    device: PathBuf,
    at: &'p Path,
}

impl<'p> Mounted<'p> {
    pub fn new(device: &Path, kind: &str, at: &'p Path) -> std::io::Result<Self> {
        mount(device, at, kind, MountFlags::NOATIME, None)?;
        Ok(Self { device: device.to_owned(), at })
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // A program that was just stopped releases it a moment later.
        eventually("it is unmounted", || unmount(self.at, UnmountFlags::empty()).is_ok());
        // Until then the file system stays in memory, and mounting it again would return that
        // instance.
        eventually("no other mount name space has a copy of the mount", || {
            let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
            !matches!(rustix::fs::open(&self.device, flags, Mode::empty()), Err(Errno::BUSY))
        });
    }
}
