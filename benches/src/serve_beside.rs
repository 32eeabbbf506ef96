//! nbdkit's memory plugin as a server for comparison, running while it is measured.

use crate::Result;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Limit of the time in which a server must open its socket.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns whether nbdkit is installed.
pub fn has_nbdkit() -> bool {
    Command::new("nbdkit")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Kills the process when it is dropped.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts nbdkit and calls `work` with its URI.
///
/// # Errors
/// Returns an error if nbdkit does not start, or `work` fails.
pub fn with_nbdkit<R>(folder: &Path, bytes: u64, work: impl FnOnce(&str) -> Result<R>) -> Result<R> {
    let socket = folder.join("nbdkit.sock");
    let mut command = Command::new("nbdkit");
    command.args(["--foreground", "--unix"]).arg(&socket).args(["memory", &bytes.to_string()]);
    let mut server = Ending(command.spawn()?);
    let begun = Instant::now();
    while !socket.exists() {
        if server.0.try_wait()?.is_some() || begun.elapsed() > PATIENCE {
            return Err("nbdkit does not serve".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    work(&format!("nbd+unix:///?socket={}", socket.display()))
}
