//! Runs a tool as a process: its output and the CPU time it used.

use crate::Result;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wait4::Wait4;

/// Polling interval of a running child.
const TICK: Duration = Duration::from_millis(10);

/// A child that exited successfully.
#[derive(Debug)]
pub struct Ended {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// User CPU time of the child and its own children, including start-up and exit.
    pub user_ns: u64,
}

/// Returns the flag that SIGINT, SIGHUP and SIGTERM set.
pub fn interrupt() -> &'static Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            // Without a handler the signal would end the process immediately, and a test file might
            // remain.
            let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
        }
        flag
    })
}

/// Checks whether the user has requested an interrupt.
///
/// # Errors
/// Returns an error if so.
pub fn check_interrupt() -> Result<()> {
    if interrupt().load(Ordering::Relaxed) { Err("interrupted".into()) } else { Ok(()) }
}

/// Runs a command to completion.
///
/// # Errors
/// Returns an error if it cannot be started, fails, or is interrupted by the user.
pub fn run(command: &mut Command) -> Result<Ended> {
    check_interrupt()?;
    let shown = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {shown}: {error}"))?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(Pid::from_child(&child)), ended)?.is_none() {
        if check_interrupt().is_err() {
            let _ = child.kill();
        }
        std::thread::sleep(TICK);
    }
    let used = child.wait4()?;
    let (stdout, stderr) = (joined(stdout), joined(stderr));
    check_interrupt()?;
    if !used.status.success() {
        return Err(format!("{shown} failed ({}):\n{stderr}", used.status).into());
    }
    Ok(Ended { stdout, stderr, user_ns: used.rusage.utime.as_nanos() as u64 })
}

type Collector = std::thread::JoinHandle<String>;

/// Reads a pipe to its end in a separate thread, so that a child with much output does not block.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Collector {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn joined(collector: Collector) -> String {
    collector.join().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::needs;

    #[test]
    fn a_failing_child_says_what_it_said() {
        if !needs("sh") {
            return;
        }
        let error = run(Command::new("sh").args(["-c", "echo oh no >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("oh no"), "{error}");
    }

    #[test]
    fn output_larger_than_a_pipe_arrives_whole() {
        if !needs("sh") {
            return;
        }
        let ended = run(Command::new("sh").args(["-c", "head -c 300000 /dev/zero | tr '\\0' x"])).unwrap();
        assert_eq!(ended.stdout.len(), 300_000);
    }
}
