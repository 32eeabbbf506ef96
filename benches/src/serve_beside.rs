//! nbdkit's memory as a server beside kurabe's, for as long as something is measured on it.

use crate::Result;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No server takes longer to open its socket.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether it is here.
pub fn has_nbdkit() -> bool {
    Command::new("nbdkit")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Ends with the value.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does something with its URI.
///
/// # Errors
/// When it does not start, or that fails.
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
