//! A ZFS pool on a served device.
//!
//! If the kernel has ZFS (OpenZFS), its tools are sufficient. Otherwise zfs-fuse is started for
//! this pool alone. Its settings, socket and mounts are in the visitor's mount namespace, so it
//! does not see the machine's pools, other processes do not see this pool, and it disappears with
//! the visitor however this process ends. A pool of a kernel survives that; the next run removes
//! it.
//!
//! The visitor does all of this except ending zfs-fuse, which any thread may do.

use crate::folder::system_tool::{POINT, cannot_fill, cannot_run, cannot_unmount, program};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_host::{process_exists, system_program};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::fd::IntoRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Folders of the settings, the socket and the lock that makes zfs-fuse a single instance. Each is
/// private to this pool.
const FOLDERS: [&str; 3] = ["/etc/zfs", "/run/zfs", "/var/lock/zfs"];
/// Folder in which a pool is searched. It contains only its device.
const NODES: &str = "/run/zfs/nodes";
/// File with the process id of zfs-fuse.
const NUMBER: &str = "/run/zfs/pid";
/// Control device of the kernel's ZFS.
const KERNELS: &str = "/dev/zfs";
/// Prefix of the names of kurabe's pools. The process id follows.
const NAME: &str = "kurabe-";
const PACKAGE: &str = "zfs-fuse";
/// Runs a program that ends when the pipe to this shell closes. zfs-fuse discards the parent-death
/// signal that would otherwise end it.
const GUARDED: &str = "\"$0\" \"$@\" & read -r _; kill -s KILL $!";
/// Time limit for a daemon's reply.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// A pool, with its daemon unless the kernel provides ZFS.
#[derive(Debug)]
pub(crate) struct ZfsPool {
    name: String,
    daemon: Mutex<Option<Child>>,
    is_killed: AtomicBool,
}

impl ZfsPool {
    /// Creates a pool on a device, without mounting it.
    ///
    /// # Errors
    /// When ZFS is not available, or creating the pool fails.
    pub(crate) fn make(device: &Path) -> Result<Self> {
        for folder in FOLDERS {
            let path = Path::new(folder);
            let made = std::fs::create_dir_all(path)
                .and_then(|()| Ok(mount("tmpfs", path, "tmpfs", MountFlags::empty(), None)?));
            made.map_err(|error| cannot_fill(path, &error))?;
        }
        let (nodes, name) = (Path::new(NODES), device.file_name().unwrap_or_default());
        let linked =
            std::fs::create_dir(nodes).and_then(|()| std::os::unix::fs::symlink(device, nodes.join(name)));
        linked.map_err(|error| cannot_fill(nodes, &error))?;
        let pool = Self {
            name: format!("{NAME}{}", std::process::id()),
            daemon: Mutex::default(),
            is_killed: AtomicBool::default(),
        };
        pool.start()?;
        // Writes to a failed device return an error. Otherwise they would wait forever.
        let options = ["-o", "cachefile=none", "-o", "failmode=continue", "-O", "atime=off"];
        let device = device.to_string_lossy();
        let create = [&["create", "-f", "-m", POINT][..], &options, &[&pool.name, &device]].concat();
        program("zpool", &create, PACKAGE)?;
        pool.export()?;
        Ok(pool)
    }

    /// Starts zfs-fuse if the kernel has no ZFS, and waits until it responds.
    fn start(&self) -> Result<()> {
        if Path::new(KERNELS).exists() {
            return export_left();
        }
        // A killed daemon leaves its file, which would prevent another one from starting.
        let _ = std::fs::remove_file(NUMBER);
        let words = ["--no-daemon", "--no-kstat-mount", "--disable-block-cache", "--pidfile", NUMBER];
        let started = system_program("zfs-fuse", &[]).and_then(|daemon| {
            let mut guard = system_program("sh", &["-c", GUARDED])?;
            // In a separate process group, so that the terminal's keys do not reach it, and the
            // shell and the daemon can be killed together.
            guard.arg(daemon.get_program()).args(words).process_group(0);
            guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        });
        let mut started = started.map_err(|error| cannot_run("zfs-fuse", PACKAGE, &error))?;
        // The pipe belongs to the visitor's descriptor table, which other threads cannot change,
        // and is closed with it.
        let _ = started.stdin.take().map(IntoRawFd::into_raw_fd);
        *self.daemon.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
        let begun = Instant::now();
        while let Err(error) = program("zpool", &["list"], PACKAGE) {
            if begun.elapsed() > PATIENCE {
                return Err(error);
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Mounts the pool.
    ///
    /// # Errors
    /// When it cannot be imported.
    pub(crate) fn import(&self) -> Result<()> {
        let options = ["-o", "cachefile=none", "-o", "failmode=continue"];
        program("zpool", &[&["import", "-f", "-d", NODES][..], &options, &[&self.name]].concat(), PACKAGE)
    }

    /// Unmounts the pool after writing its caches.
    ///
    /// # Errors
    /// When it is in use.
    pub(crate) fn export(&self) -> Result<()> {
        if self.is_killed() {
            return unmount(POINT, UnmountFlags::DETACH).map_err(|error| cannot_unmount(&error.into()));
        }
        program("zpool", &["export", &self.name], PACKAGE).or_else(|_| {
            // Resumes I/O that a fault suspended.
            let _ = program("zpool", &["clear", &self.name], PACKAGE);
            program("zpool", &["export", &self.name], PACKAGE)
        })
    }

    /// Abandons the pool that was mounted before a power cut.
    ///
    /// # Errors
    /// When it cannot be unmounted.
    pub(crate) fn crash(&self) -> Result<()> {
        self.kill();
        if !self.is_killed.swap(false, Ordering::AcqRel) {
            return program("zpool", &["export", "-f", &self.name], PACKAGE);
        }
        let _ = unmount(POINT, UnmountFlags::DETACH);
        self.start()
    }

    /// Returns whether its zfs-fuse was killed, and its cached data lost.
    pub(crate) fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::Acquire)
    }

    /// Kills zfs-fuse, if it is used. Processes that wait for it get an error.
    pub(crate) fn kill(&self) {
        if let Some(mut daemon) = self.daemon.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.is_killed.store(true, Ordering::Release);
            let _ = kill_process_group(Pid::from_child(&daemon), Signal::KILL);
            let _ = daemon.wait();
        }
    }
}

impl Drop for ZfsPool {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Exports pools that a killed process left in the kernel.
fn export_left() -> Result<()> {
    let list =
        system_program("zpool", &["list", "-H", "-o", "name"]).and_then(|mut command| command.output());
    let list = list.map_err(|error| cannot_run("zpool", "zfsutils-linux", &error))?;
    let is_left = |name: &&str| {
        let process = name.strip_prefix(NAME).and_then(|number| number.parse().ok());
        process.is_some_and(|process| !process_exists(process))
    };
    for name in String::from_utf8_lossy(&list.stdout).lines().filter(is_left) {
        program("zpool", &["export", "-f", name], PACKAGE).map_err(|error| {
            let message = text!(
                "the pool {name} remains and cannot be removed",
                "残ったプール {name} を削除できません"
            );
            ErrorKind::Io.error(message).because(error)
        })?;
    }
    Ok(())
}
