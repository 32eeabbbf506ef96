//! Runs system programs, never through a shell. Helper programs have a time limit and an output
//! limit.
//!
//! For root, a program must be an executable file in the system's own directories, because PATH may
//! contain folders of other users. For an ordinary user, it is searched in the directories of PATH
//! and in the usual directories of system programs that PATH may lack. A helper is killed at its
//! time limit. Tests replace helpers by prepared answers. Callers that need no time limit, for
//! example to create a file system, run the program themselves.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Maximum output in bytes. The rest is discarded.
const OUTPUT_BYTES: u64 = 4 << 20;

/// Interval between two checks of a running program.
const POLL: Duration = Duration::from_millis(5);

/// How long to wait for a killed program to exit before it is abandoned.
const AFTER_KILL: Duration = Duration::from_millis(500);

/// The outcome of running a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgramOutcome {
    /// The program does not exist.
    NotInstalled,
    /// The program could not be started.
    Failed(String),
    /// The program exceeded its time limit and was killed.
    TimedOut,
    /// The program exited. Contains the standard output, regardless of the exit status.
    Ended(Vec<u8>),
}

/// Prepared answers of a test: maps the program name and arguments to an outcome.
pub(crate) type PreparedAnswers<'a> = &'a dyn Fn(&str, &[&str]) -> ProgramOutcome;

/// Runs programs, or returns prepared answers.
#[derive(Clone, Copy)]
pub(crate) enum Runner<'a> {
    /// The operating system.
    System,
    /// Prepared answers of a test.
    #[cfg_attr(not(test), expect(dead_code))]
    Prepared(PreparedAnswers<'a>),
}

impl Runner<'_> {
    /// Runs a program until it exits or reaches its time limit.
    pub(crate) fn run(&self, name: &str, arguments: &[&str], limit: Duration) -> ProgramOutcome {
        match self {
            Self::Prepared(answer) => answer(name, arguments),
            Self::System => match find_program(name) {
                Some(program) => run(&program, arguments, limit),
                None => ProgramOutcome::NotInstalled,
            },
        }
    }
}

/// Directories of root's programs, in search order.
const SYSTEM_DIRECTORIES: [&str; 5] =
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/current-system/sw/bin"];
/// Directories of system programs that an ordinary user's PATH may lack.
const SBIN_DIRECTORIES: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// Finds the executable file of a program that kurabe itself runs. Not used for programs named by
/// the user or a profile.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(&directories(rustix::process::geteuid().is_root(), &path), name)
}

/// Returns the directories to search, for root or for an ordinary user with a search path.
fn directories(is_root: bool, path: &OsStr) -> Vec<PathBuf> {
    if is_root {
        return SYSTEM_DIRECTORIES.map(PathBuf::from).to_vec();
    }
    let named = std::env::split_paths(path).chain(SBIN_DIRECTORIES.map(PathBuf::from));
    named.filter(|directory| directory.is_absolute()).collect()
}

fn find_in(directories: &[PathBuf], name: &str) -> Option<PathBuf> {
    directories.iter().map(|directory| directory.join(name)).find(|file| is_executable(file))
}

/// Creates the command for a system program, without standard input and with the locale that the
/// parsers expect.
///
/// # Errors
/// Fails if the program does not exist ([`NotFound`](std::io::ErrorKind::NotFound)).
pub fn system_program(name: &str, arguments: &[&str]) -> std::io::Result<Command> {
    let missing = || std::io::Error::new(std::io::ErrorKind::NotFound, format!("{name}: not installed"));
    let program = find_program(name).ok_or_else(missing)?;
    Ok(command(&program, arguments))
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C").stdin(Stdio::null());
    command
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|status| status.is_file() && status.permissions().mode() & 0o111 != 0)
}

fn run(program: &Path, arguments: &[&str], limit: Duration) -> ProgramOutcome {
    let started = command(program, arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return ProgramOutcome::Failed(error.to_string()),
    };
    let output = match collect(&mut child) {
        Ok(output) => output,
        Err(error) => {
            child.kill().ok();
            wait_until(&mut child, Instant::now() + AFTER_KILL);
            return ProgramOutcome::Failed(error.to_string());
        }
    };
    let deadline = Instant::now() + limit;
    if !wait_until(&mut child, deadline) {
        // A process that hangs in the kernel survives even this. It is then abandoned.
        child.kill().ok();
        wait_until(&mut child, Instant::now() + AFTER_KILL);
        return ProgramOutcome::TimedOut;
    }
    let left = deadline.saturating_duration_since(Instant::now()).max(POLL);
    match output.recv_timeout(left) {
        Ok(bytes) => ProgramOutcome::Ended(bytes),
        Err(_) => ProgramOutcome::TimedOut,
    }
}

/// Reads the output in a separate thread, so that a full pipe does not block the program.
fn collect(child: &mut Child) -> std::io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = channel();
    if let Some(pipe) = child.stdout.take() {
        std::thread::Builder::new().spawn(move || {
            let mut bytes = Vec::new();
            // Data read before an error is still a valid answer.
            pipe.take(OUTPUT_BYTES).read_to_end(&mut bytes).ok();
            sender.send(bytes).ok();
        })?;
    }
    Ok(receiver)
}

/// Waits for the program, and returns whether it exited before the deadline.
fn wait_until(child: &mut Child, deadline: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(Some(_)) | Err(_) => return true,
            Ok(None) if Instant::now() >= deadline => return false,
            Ok(None) => std::thread::sleep(POLL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::needs;

    #[test]
    fn a_program_answers() {
        if !needs("echo") {
            return;
        }
        let outcome = Runner::System.run("echo", &["a b", "$HOME"], Duration::from_secs(5));
        assert_eq!(outcome, ProgramOutcome::Ended(b"a b $HOME\n".to_vec()), "arguments pass no shell");
    }

    #[test]
    fn root_finds_programs_in_the_directories_of_the_system_alone() {
        let folder = tempfile::tempdir().expect("a directory");
        let planted = folder.path().join("mount");
        std::fs::write(&planted, "").expect("a file");
        std::fs::set_permissions(&planted, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let path =
            std::env::join_paths([folder.path(), Path::new("."), Path::new("/usr/bin")]).expect("a path");
        let program = |is_root| find_in(&directories(is_root, &path), "mount");
        assert_eq!(program(false), Some(planted));
        assert!(program(true).is_none_or(|file| SYSTEM_DIRECTORIES.iter().any(|own| file.starts_with(own))));
        assert!(!directories(false, &path).contains(&PathBuf::from(".")), "no relative directory");
    }

    #[test]
    fn a_program_that_hangs_is_killed() {
        if !needs("sh") {
            return;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let note = directory.path().join("pid");
        let script = format!("echo $$ > {}; exec sleep 60", note.display());
        // A slow machine may need longer to start it.
        let pid = [300, 3000, 30_000].into_iter().find_map(|limit_ms| {
            let limit = Duration::from_millis(limit_ms);
            assert_eq!(Runner::System.run("sh", &["-c", &script], limit), ProgramOutcome::TimedOut);
            std::fs::read_to_string(&note).ok().filter(|pid| pid.ends_with('\n'))
        });
        let pid = pid.expect("it started");
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "it lives on");
    }

    #[test]
    fn a_program_that_is_not_there_is_said_so() {
        assert_eq!(
            Runner::System.run("kurabe-no-such-program", &[], Duration::from_secs(1)),
            ProgramOutcome::NotInstalled
        );
    }
}
