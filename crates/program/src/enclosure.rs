//! The processes of a command, held together so that all of them end with it.
//!
//! The model: the command and all that it starts are in a PID namespace and a mount namespace of their own. The init of the
//! first is a program that waits for the end of a pipe: it adopts what daemonizes, and the kernel reaps for it. When it is killed,
//! which the kernel also does when kurabe dies, the kernel kills every process of the namespace, and with the last of them go their
//! mounts. The command itself is a child of kurabe, so its exit code, signals and terminal are as they would be without.
//!
//! Where a user may have no such namespaces, kurabe adopts what daemonizes and kills it process by process.
//!
//! Not here: a control group. It would remove nothing that the PID namespace does not, and would itself have to be removed.

use crate::platform::{be_init, die_with_starter, enter_mounts, unshare_processes};
use kurabe_host::{Descendant, descendants, system_program};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it is waited for killed processes to end. One that waits for a device in the kernel does not end.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(1);

/// The processes of a command.
#[derive(Debug)]
pub struct Enclosure {
    hold: Hold,
}

#[derive(Debug)]
enum Hold {
    /// The init of a PID namespace, which also has the mounts; it ends when its standard input does.
    Namespace(Child),
    /// kurabe adopts; these of its processes are not the command's.
    Adoption(Vec<u32>),
}

impl Enclosure {
    /// Creates the namespaces. Only the calling thread can start a command in them, and nothing else from then on.
    ///
    /// # Errors
    /// Where this user may not create them, or the program is missing that is their init.
    pub(crate) fn with_namespaces() -> io::Result<Self> {
        // It only has to wait, and to leave SIGCHLD alone.
        let mut init = system_program("cat", &[])?;
        init.env_clear().current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Out of reach of the terminal's keys.
        init.process_group(0);
        die_with_starter(&mut init);
        be_init(&mut init);
        unshare_processes()?;
        Ok(Self { hold: Hold::Namespace(init.spawn()?) })
    }

    /// Adopts what the command leaves behind.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn by_adoption() -> io::Result<Self> {
        let own = std::process::id();
        set_child_subreaper(Pid::from_raw(own as i32))?;
        let before = descendants(own).iter().map(|below| below.process.pid).collect();
        Ok(Self { hold: Hold::Adoption(before) })
    }

    /// Has a command start in it, in a folder.
    pub(crate) fn hold(&self, command: &mut Command, folder: Option<&Path>) -> io::Result<()> {
        let Hold::Namespace(init) = &self.hold else { return Ok(()) };
        let mounts = File::open(format!("/proc/{}/ns/mnt", init.id()))?;
        let folder = folder.map_or_else(std::env::current_dir, |folder| Ok(folder.to_owned()))?;
        enter_mounts(command, mounts.into(), CString::new(folder.into_os_string().into_vec())?);
        Ok(())
    }

    /// A process that sees the mounts of the command, if those are its own.
    pub fn witness(&self) -> Option<u32> {
        match &self.hold {
            Hold::Namespace(init) => Some(init.id()),
            Hold::Adoption(_) => None,
        }
    }

    /// The root directory of the command's mounts, by which they can be reached.
    pub fn root(&self) -> Option<PathBuf> {
        self.witness().map(|init| PathBuf::from(format!("/proc/{init}/root")))
    }

    /// The processes in it that the command left behind, once that was waited for.
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

    /// Reaps what was adopted and has ended. The child with a number is left to its owner.
    pub(crate) fn reap(&self, but: Option<Pid>) {
        let Hold::Adoption(before) = &self.hold else { return };
        for pid in children(std::process::id()) {
            let pid = Pid::from_raw(pid as i32);
            if pid != but && pid.is_some_and(|pid| !before.contains(&(pid.as_raw_nonzero().get() as u32))) {
                let _ = waitpid(pid, WaitOptions::NOHANG);
            }
        }
    }

    /// Kills all that is left, and waits until it has ended: whether it has. `waits` is called again and again before that.
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
            // Its end may have to wait for a device; nothing here does.
            let _ = init.kill();
        }
    }
}

/// The processes that a process started or adopted, zombies included.
fn children(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let numbers =
        |list: String| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>();
    lists.flat_map(numbers).collect()
}
