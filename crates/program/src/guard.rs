//! Kills the processes that a program started if kurabe is killed.
//!
//! The kernel kills the program itself (`platform::die_with_starter`), but not the processes it
//! started. Therefore a shell runs as long as a step has programs. It reads from a pipe which
//! process group is running. When the pipe is closed because kurabe has died, it kills that group.
//! It does nothing else, and sleeps while programs are timed.

use crate::worker::Worker;
use kurabe_host::system_program;
use std::io::{self, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};

/// Each line is the process group that runs now, or empty if none does.
const SCRIPT: &str = "trap '' HUP INT TERM; g=; while read -r line; do g=$line; done; [ -z \"$g\" ] || \
    kill -s KILL -- \"-$g\"";

/// Shell that kills a process group once its pipe is closed.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Child,
    /// Closed to end the shell.
    lines: Option<Mutex<PipeWriter>>,
}

impl Guard {
    /// Starts the shell, with the privileges of the worker.
    ///
    /// # Errors
    /// If no shell is installed, or it cannot be started.
    pub(crate) fn start(worker: Worker) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut command = system_program("sh", &["-c", SCRIPT])?;
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        // Signals from the terminal must not reach it.
        command.process_group(0);
        worker.apply_to(&mut command);
        Ok(Self { shell: command.spawn()?, lines: Some(Mutex::new(writer)) })
    }

    /// Reports that a program runs, which leads this process group.
    pub(crate) fn watch(&self, group: u32) {
        self.say(&format!("{group}\n"));
    }

    /// Reports that the program has ended.
    pub(crate) fn forget(&self) {
        self.say("\n");
    }

    fn say(&self, line: &str) {
        if let Some(lines) = &self.lines {
            // If the shell has died, there is no guard; the program itself still ends with kurabe.
            let _ = lines.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.lines = None;
        let _ = self.shell.wait();
    }
}
