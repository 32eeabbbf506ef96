//! The way of a browser into the page.

use kurabe_core::shown;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A file that leads a browser to the address. Words of a command line are seen by every user of the machine, and an address
/// lets in whoever comes first; the file is for this user alone.
pub struct Door(PathBuf);

impl Door {
    /// Starts a browser. Where there is none, the address that was printed has to do.
    pub(crate) fn open(address: &str) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("kurabe-ui-{}.html", std::process::id()));
        let mut file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        let door = Self(path);
        let address = shown::line(address);
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={address}\">\
             <a href=\"{address}\">kurabe</a>"
        )
        .ok()?;
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let null = Stdio::null;
        Command::new(opener).arg(&door.0).stdin(null()).stdout(null()).stderr(null()).spawn().ok()?;
        Some(door)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // It is in the folder of temporary files; what stays there goes with them.
        let _ = std::fs::remove_file(&self.0);
    }
}
