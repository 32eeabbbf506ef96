//! Continuing in the background.
//!
//! The background process is a second process with the same arguments. It shares the terminal until
//! the devices exist, or until it has reported an error. Then it notifies the first process over
//! the socket at its standard input, and writes further output to a log.

use kurabe_core::{Error, Result, mention::FOREGROUND, shown, text};
use kurabe_serve::attachments_folder;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set for the background process, whose standard input is a socket to the first process.
const IN_BACKGROUND: &str = "KURABE_ATTACHING";
const LOG: &str = "attach.log";
/// Name of the previous log, which replaces an older one when the log has become too large.
const LOG_BEFORE: &str = "attach.log.1";
/// Size limit of the log, enough for several hundred attachments.
const LOG_BYTES: u64 = 256 << 10;

/// Returns whether this process is the background process.
pub fn is_background() -> bool {
    std::env::var_os(IN_BACKGROUND).is_some()
}

/// Returns the path of the log of background processes.
///
/// # Errors
/// When its folder cannot be determined.
pub fn log_of_attachments() -> Result<PathBuf> {
    Ok(attachments_folder()?.join(LOG))
}

/// Runs this command line again in a second process, and waits until its devices exist. If that
/// fails, this process exits with the exit code of the second one.
///
/// # Errors
/// When the second process cannot be started.
pub fn start_in_background() -> Result<()> {
    start_again().map_err(|error| {
        let what = text!("cannot start in the background", "バックグラウンドで開始できません");
        Error::os(what, &error).remedy(text!("use {FOREGROUND}", "{FOREGROUND} を使ってください"))
    })
}

fn start_again() -> io::Result<()> {
    let (mut ready, its) = UnixStream::pair()?;
    let mut child = {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("kurabe").args(std::env::args_os().skip(1)).env(IN_BACKGROUND, "1");
        command.stdin(OwnedFd::from(its)).spawn()?
    };
    if matches!(ready.read(&mut [0; 1]), Ok(1)) {
        return Ok(());
    }
    let status = child.wait()?;
    // The second process has reported the error.
    std::process::exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}

/// Detaches this process from the terminal and from its working directory. Output then goes to the
/// log, starting with `first_words`. Afterwards the first process is told to exit, so the log is
/// complete when it does.
///
/// # Errors
/// When the log cannot be written, or the process cannot detach from the terminal.
pub fn leave_terminal(log: &Path, first_words: impl FnOnce() -> Result<()>) -> Result<()> {
    let failed = |error| {
        let shown = shown::path(log);
        Error::os(
            text!(
                "cannot continue in the background with the log {shown}",
                "ログ {shown} を使ってバックグラウンドに移れません"
            ),
            &error,
        )
    };
    let mut starter = leave_for(log).map_err(failed)?;
    first_words()?;
    starter.write_all(b"1").map_err(failed)
}

fn leave_for(log: &Path) -> io::Result<UnixStream> {
    let starter = UnixStream::from(rustix::io::dup(rustix::stdio::stdin())?);
    // Processes that still write to the old log continue in the renamed file.
    if log.metadata().is_ok_and(|facts| facts.len() > LOG_BYTES) {
        std::fs::rename(log, log.with_file_name(LOG_BEFORE))?;
    }
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(log)?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(&log)?;
    dup2_stderr(&log)?;
    rustix::process::setsid()?;
    std::env::set_current_dir("/")?;
    Ok(starter)
}
