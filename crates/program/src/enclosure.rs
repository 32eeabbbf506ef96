//! Contains the processes of a command, so that all of them end with it.
//!
//! The command and everything it starts run in a new PID namespace and a new mount namespace. The
//! init process is a program that waits for the end of a pipe. It adopts daemonized processes, and
//! the kernel reaps them. When it is killed, which the kernel also does if kurabe dies, the kernel
//! kills every process of the namespace. Their mounts disappear with the last of them. The command
//! itself is a child of kurabe, so its exit code, signals and terminal behave as usual.
//!
//! If the user may not create such namespaces, kurabe adopts daemonized processes and kills them
//! one by one.
//!
//! Not here: a control group. It would remove nothing that the PID namespace does not, and would
//! itself have to be removed.

use crate::platform::{be_init, die_with_starter, enter_mounts, unshare_processes};
use crate::scope::{Scope, children};
use kurabe_host::{Descendant, descendants, system_program};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for killed processes to end. A process that waits for a device in the kernel does
/// not end.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(1);

/// The processes of a command.
#[derive(Debug)]
pub struct Enclosure {
    hold: Hold,
}

#[derive(Debug)]
enum Hold {
    /// The init process of a PID namespace, which also holds the mounts. It ends when its standard
    /// input is closed.
    Namespace(Child),
    /// kurabe adopts the processes. These of its descendants do not belong to the command.
    Adoption(Vec<u32>),
}

impl Enclosure {
    /// Creates the namespaces. Only the calling thread can start a command in them, and it can
    /// start nothing else from then on.
    ///
    /// # Errors
    /// If this user may not create them, or the program for the init process is not installed.
    pub(crate) fn with_namespaces() -> io::Result<Self> {
        // It only has to wait, and must not change the handling of SIGCHLD.
        let mut init = system_program("cat", &[])?;
        init.env_clear().current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Signals from the terminal must not reach it.
        init.process_group(0);
        die_with_starter(&mut init);
        be_init(&mut init);
        unshare_processes()?;
        Ok(Self { hold: Hold::Namespace(init.spawn()?) })
    }

    /// Adopts the processes that the command leaves behind.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn by_adoption() -> io::Result<Self> {
        let own = std::process::id();
        set_child_subreaper(Pid::from_raw(own as i32))?;
        let before = descendants(own).iter().map(|below| below.process.pid).collect();
        Ok(Self { hold: Hold::Adoption(before) })
    }

    /// Makes a command start inside, in a folder.
    pub(crate) fn hold(&self, command: &mut Command, folder: Option<&Path>) -> io::Result<()> {
        let Hold::Namespace(init) = &self.hold else { return Ok(()) };
        let opened =
            |what: &str| Ok::<OwnedFd, io::Error>(File::open(format!("/proc/{}/{what}", init.id()))?.into());
        let folder = folder.map_or_else(std::env::current_dir, |folder| Ok(folder.to_owned()))?;
        let folder = CString::new(folder.into_os_string().into_vec())?;
        enter_mounts(command, opened("ns/mnt")?, opened("root")?, folder);
        Ok(())
    }

    /// Returns a process that sees the command's mounts, if they are in a separate namespace.
    pub fn witness(&self) -> Option<u32> {
        match &self.hold {
            Hold::Namespace(init) => Some(init.id()),
            Hold::Adoption(_) => None,
        }
    }

    /// Returns a path to the root directory of the command's mounts.
    pub fn root(&self) -> Option<PathBuf> {
        self.witness().map(|init| PathBuf::from(format!("/proc/{init}/root")))
    }

    /// Returns the processes of a command that runs inside, to kill them.
    pub(crate) fn scope(&self, command: u32) -> Scope {
        match &self.hold {
            Hold::Namespace(init) => Scope::new(&[command, init.id()], None),
            Hold::Adoption(before) => Scope::new(&[command], Some(before.clone())),
        }
    }

    /// Returns the processes that the ended command left behind.
    pub fn left(&self) -> Vec<Descendant> {
        match &self.hold {
            Hold::Namespace(init) => descendants(init.id()),
            Hold::Adoption(before) => {
                let mut all = descendants(std::process::id());
                all.retain(|below| !before.contains(&below.process.pid));
                all
            }
        }
    }

    /// Reaps adopted processes that have ended, except for the child `but`, which its owner reaps.
    pub(crate) fn reap(&self, but: Option<Pid>) {
        let Hold::Adoption(before) = &self.hold else { return };
        for pid in children(std::process::id()) {
            let pid = Pid::from_raw(pid as i32);
            if pid != but && pid.is_some_and(|pid| !before.contains(&(pid.as_raw_nonzero().get() as u32))) {
                let _ = waitpid(pid, WaitOptions::NOHANG);
            }
        }
    }

    /// Kills all remaining processes and waits until they have ended. `waits` is called repeatedly
    /// during the wait. Returns whether they have ended.
    pub fn end(&mut self, mut waits: impl FnMut(Duration)) -> bool {
        let begun = Instant::now();
        loop {
            let has_ended = match &mut self.hold {
                Hold::Namespace(init) => {
                    let _ = init.kill();
                    matches!(init.try_wait(), Ok(Some(_)))
                }
                Hold::Adoption(_) => {
                    let left = self.left();
                    for pid in left.iter().filter_map(|left| Pid::from_raw(left.process.pid as i32)) {
                        // It may have ended just now.
                        let _ = kill_process(pid, Signal::KILL);
                    }
                    self.reap(None);
                    left.is_empty()
                }
            };
            if has_ended || begun.elapsed() > PATIENCE {
                return has_ended;
            }
            waits(begun.elapsed());
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Enclosure {
    fn drop(&mut self) {
        if let Hold::Namespace(init) = &mut self.hold
            && matches!(init.try_wait(), Ok(None))
        {
            // Its end may have to wait for a device, so it is not waited for.
            let _ = init.kill();
        }
    }
}
