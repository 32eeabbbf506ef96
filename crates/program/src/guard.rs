//! Ends what a program started when kurabe is killed.
//!
//! The model: the kernel ends the program itself (`platform::die_with_starter`), but not what it started in turn. So a
//! shell of its own stands by for as long as a step has programs. It is told which process group runs; when it hears no
//! more, because kurabe is gone, it ends that group. It does nothing else, and sleeps while programs are timed.

use crate::worker::Worker;
use kurabe_host::system_program;
use std::io::{self, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};

/// A line is the group that runs now, or empty when none does.
const SCRIPT: &str = "trap '' HUP INT TERM; g=; while read -r line; do g=$line; done; [ -z \"$g\" ] || kill -s KILL -- \"-$g\"";

/// A shell that stands by.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Child,
    /// Closed to end it.
    lines: Option<Mutex<PipeWriter>>,
}

impl Guard {
    /// Starts it, with the powers of the worker.
    ///
    /// # Errors
    /// When there is no shell, or no process for it.
    pub(crate) fn start(worker: Worker) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut command = system_program("sh", &["-c", SCRIPT])?;
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        // Out of reach of the terminal's keys.
        command.process_group(0);
        worker.apply_to(&mut command);
        Ok(Self { shell: command.spawn()?, lines: Some(Mutex::new(writer)) })
    }

    /// A program runs; it leads this process group.
    pub(crate) fn watch(&self, group: u32) {
        self.say(&format!("{group}\n"));
    }

    /// It has ended.
    pub(crate) fn forget(&self) {
        self.say("\n");
    }

    fn say(&self, line: &str) {
        if let Some(lines) = &self.lines {
            // A shell that is gone guards nothing; the program itself still ends with kurabe.
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
