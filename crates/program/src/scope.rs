//! The processes of a command while it runs, to kill all of them without waiting for any.
//!
//! A process that was sent SIGKILL never runs its own code again, even if it waits in the kernel for
//! a device. It can start no process either, so the list of its descendants is complete once it has
//! no new entries.
//!
//! Only `stat` and `children` of a process are read. Other files of /proc may wait for the memory of
//! a process, and so for its device. No descriptor refers to a process, because the threads that use
//! this have different tables of descriptors.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;

/// A command and everything that it started.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The command, and the init process that adopts its descendants.
    roots: Vec<Root>,
    /// Children of kurabe that do not belong to the command, if kurabe adopts its descendants.
    spared: Option<Vec<u32>>,
}

#[derive(Debug)]
struct Root {
    pid: u32,
    /// Its start, by which a process that has the same number later is recognized.
    started: u64,
}

impl Scope {
    /// Describes the processes below these two, which the caller has not reaped, and those that
    /// kurabe adopts, except for `spared`.
    pub(crate) fn new(pids: &[u32], spared: Option<Vec<u32>>) -> Self {
        let root = |pid: &u32| Some(Root { pid: *pid, started: started(*pid)? });
        Self { roots: pids.iter().filter_map(root).collect(), spared }
    }

    /// Kills all of them, without waiting for their ends.
    pub(crate) fn kill(&self) {
        let mut killed = BTreeSet::new();
        loop {
            let mut family = Vec::new();
            for root in &self.roots {
                if started(root.pid) == Some(root.started) {
                    family.push(root.pid);
                }
            }
            if let Some(spared) = &self.spared {
                family.extend(children(std::process::id()).into_iter().filter(|pid| !spared.contains(pid)));
            }
            let mut next = 0;
            while let Some(parent) = family.get(next).copied() {
                family.extend(children(parent));
                next += 1;
            }
            let mut is_new = false;
            for pid in family {
                if killed.insert(pid) {
                    is_new = true;
                    // It may have ended just now.
                    let _ = Pid::from_raw(pid as i32).map(|pid| kill_process(pid, Signal::KILL));
                }
            }
            if !is_new {
                return;
            }
        }
    }
}

/// Returns the start of a process, in clock ticks since boot (proc_pid_stat(5), field 22).
fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the other fields may contain anything.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Returns the processes that a process started or adopted, including zombies.
pub(crate) fn children(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let numbers =
        |list: String| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>();
    lists.flat_map(numbers).collect()
}
