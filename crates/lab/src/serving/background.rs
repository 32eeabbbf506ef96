//! Going on in the background.
//!
//! The model: who stays in the background is a second process of the same words, which shares the terminal until the devices
//! are there, or until it has said why they cannot be. Then it tells the first one through the socket that is its standard
//! input, and what it says from then on goes to a log.

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

/// Set for the process in the background, whose standard input is the way to the first one.
const IN_BACKGROUND: &str = "KURABE_ATTACHING";
const LOG: &str = "attach.log";
/// Where the log goes when it has become long: the one before it is forgotten.
const LOG_BEFORE: &str = "attach.log.1";
/// Some hundred attachments.
const LOG_BYTES: u64 = 256 << 10;

/// Whether this process was started to stay in the background.
pub fn is_background() -> bool {
    std::env::var_os(IN_BACKGROUND).is_some()
}

/// Where processes in the background say what they have to say.
///
/// # Errors
/// When there is no folder for it.
pub fn log_of_attachments() -> Result<PathBuf> {
    Ok(attachments_folder()?.join(LOG))
}

/// Starts the words of this process again, and waits until its devices are there or cannot be: then its exit code is this
/// one's.
///
/// # Errors
/// When no second process can be started.
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
    // It has said why.
    std::process::exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}

/// Lets go of the terminal and of the folder it was started in. What is said then goes to the log, `first_words` before all
/// else; then the first process is told that it may go, so that whoever saw it end finds them there.
///
/// # Errors
/// When the log cannot be written, or the terminal not be left.
pub fn leave_terminal(log: &Path, first_words: impl FnOnce() -> Result<()>) -> Result<()> {
    let failed = |error| {
        let shown = shown::path(log);
        Error::os(
            text!(
                "cannot go on in the background with the log {shown}",
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
    // Who writes to it still goes on with the one that is put aside.
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
