//! A ZFS pool on a served device.
//!
//! The model: where the kernel has ZFS (OpenZFS), its tools are all that it takes. Elsewhere zfs-fuse is started for this pool
//! alone: its settings, its socket and its mounts are in the mounts of the visitor, so it knows no pool of the machine, nobody else
//! sees this one, and it goes with the visitor, whatever ends this process. A pool of a kernel outlives that; the next one takes it
//! away.
//!
//! All of it is done by the visitor, but the end of zfs-fuse, which anybody may bring about.

use crate::system_tool::{POINT, cannot_fill, cannot_run, cannot_unmount, program};
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

/// Folders of its settings, of its socket and of the lock by which zfs-fuse is alone: they are its own.
const FOLDERS: [&str; 3] = ["/etc/zfs", "/run/zfs", "/var/lock/zfs"];
/// Where a pool is looked for: its device alone is there.
const NODES: &str = "/run/zfs/nodes";
/// Where zfs-fuse notes its process.
const NUMBER: &str = "/run/zfs/pid";
/// What the kernel's ZFS is controlled by.
const KERNELS: &str = "/dev/zfs";
/// Names of pools of kurabe's begin with this; the number of the process follows.
const NAME: &str = "kurabe-";
const PACKAGE: &str = "zfs-fuse";
/// Runs a program that ends with the pipe to this shell: zfs-fuse gives up what the kernel would end it by with its starter.
const GUARDED: &str = "\"$0\" \"$@\" & read -r _; kill -s KILL $!";
/// How long a daemon may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// A pool, and the program that is its file system, if the kernel is not.
#[derive(Debug)]
pub(crate) struct ZfsPool {
    name: String,
    daemon: Mutex<Option<Child>>,
    is_killed: AtomicBool,
}

impl ZfsPool {
    /// Makes a pool on a device, which is not mounted yet.
    ///
    /// # Errors
    /// When there is no ZFS, or it refuses.
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
        // Whoever writes to a device that fails is told; else it would wait for ever.
        let options = ["-o", "cachefile=none", "-o", "failmode=continue", "-O", "atime=off"];
        let device = device.to_string_lossy();
        let create = [&["create", "-f", "-m", POINT][..], &options, &[&pool.name, &device]].concat();
        program("zpool", &create, PACKAGE)?;
        pool.export()?;
        Ok(pool)
    }

    /// Starts zfs-fuse, where the kernel has no ZFS, and waits until it answers.
    fn start(&self) -> Result<()> {
        if Path::new(KERNELS).exists() {
            return export_left();
        }
        // One that was killed left its own, beside which none starts.
        let _ = std::fs::remove_file(NUMBER);
        let words = ["--no-daemon", "--no-kstat-mount", "--disable-block-cache", "--pidfile", NUMBER];
        let started = system_program("zfs-fuse", &[]).and_then(|daemon| {
            let mut guard = system_program("sh", &["-c", GUARDED])?;
            // Out of reach of the terminal's keys, and ended as one.
            guard.arg(daemon.get_program()).args(words).process_group(0);
            guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        });
        let mut started = started.map_err(|error| cannot_run("zfs-fuse", PACKAGE, &error))?;
        // The pipe is the visitor's, whose descriptors others cannot close, and is closed with these.
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

    /// Mounts it.
    ///
    /// # Errors
    /// When it cannot be had.
    pub(crate) fn import(&self) -> Result<()> {
        let options = ["-o", "cachefile=none", "-o", "failmode=continue"];
        program("zpool", &[&["import", "-f", "-d", NODES][..], &options, &[&self.name]].concat(), PACKAGE)
    }

    /// Unmounts it, with all that is still to be written.
    ///
    /// # Errors
    /// When somebody uses it.
    pub(crate) fn export(&self) -> Result<()> {
        if self.is_killed() {
            return unmount(POINT, UnmountFlags::DETACH).map_err(|error| cannot_unmount(&error.into()));
        }
        program("zpool", &["export", &self.name], PACKAGE).or_else(|_| {
            // What a fault stopped goes on.
            let _ = program("zpool", &["clear", &self.name], PACKAGE);
            program("zpool", &["export", &self.name], PACKAGE)
        })
    }

    /// Gives up what was mounted before the power went.
    ///
    /// # Errors
    /// When it does not go.
    pub(crate) fn crash(&self) -> Result<()> {
        self.kill();
        if !self.is_killed.swap(false, Ordering::AcqRel) {
            return program("zpool", &["export", "-f", &self.name], PACKAGE);
        }
        let _ = unmount(POINT, UnmountFlags::DETACH);
        self.start()
    }

    /// Whether its zfs-fuse was ended, and with it what was in memory.
    pub(crate) fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::Acquire)
    }

    /// Ends zfs-fuse at once, if that is what it is: whoever waits for it gets an error.
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

/// Takes pools away that a kill left in the kernel.
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
            let message =
                text!("the pool {name} was left and does not go", "残ったプール {name} を片付けられません");
            ErrorKind::Io.error(message).because(error)
        })?;
    }
    Ok(())
}
