//! A served folder without root: a FUSE file system in a namespace in which the user appears as
//! root.
//!
//! `unshare` creates a user and mount namespace, in which FUSE file systems can be mounted, but
//! neither block devices nor the kernel's own file systems. There the device is a file, and
//! fuse2fs, written by the authors of ext4, provides ext4. The device receives the requests of
//! fuse2fs: the kernel does not merge them, and there is no journal.

use crate::folder::system_tool::{POINT, cannot_fill, cannot_run};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_host::system_program;
use kurabe_program::die_with_starter;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Environment variable that is set inside such a namespace.
const ALONE: &str = "KURABE_WITHOUT_ROOT";
/// Name of the program.
const FUSE2FS: &str = "fuse2fs";
/// Time limit for its start, and for writing its caches at the end.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// Returns whether this process runs in a namespace in which the user appears as root.
pub fn is_without_root() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Returns a command that runs this command line again in such a namespace. Returns `None` for
/// root, and if this process already runs in one.
///
/// # Errors
/// When the user cannot create one, or a program is missing.
pub fn without_root() -> Result<Option<Command>> {
    if rustix::process::geteuid().is_root() || is_without_root() {
        return Ok(None);
    }
    let remedy = || {
        text!(
            "use sudo; without root, kurabe needs fuse2fs and unshare (Debian packages fuse2fs and \
             util-linux) and a kernel that allows unprivileged user namespaces",
            "sudo を使ってください。root なしで行うには、fuse2fs と unshare(Debian では fuse2fs と util-linux パッケージ)と、ユーザー名前空間を\
             許すカーネルが必要です"
        )
    };
    for (name, package) in [(FUSE2FS, FUSE2FS), ("unshare", "util-linux")] {
        system_program(name, &[]).map_err(|error| {
            cannot_run(name, package, &error).remedy(text!(
                "install it (Debian package {package}), or use sudo",
                "インストールする(Debian では {package} パッケージ)か、sudo を使ってください"
            ))
        })?;
    }
    // A user and a mount namespace in which the user appears as root.
    const SPACES: [&str; 5] = ["-U", "-r", "-m", "--", "sh"];
    // It gets its own empty /run.
    const BEGIN: &str = "mount -t tmpfs tmpfs /run && exec \"$@\"";
    let start =
        |rest: &[&str]| system_program("unshare", &[&SPACES[..], &["-c", BEGIN, "sh"], rest].concat());
    let can = start(&["true"]).and_then(|mut trial| trial.stderr(Stdio::null()).status());
    if !can.is_ok_and(|status| status.success()) {
        let message = text!("cannot create a user namespace", "ユーザー名前空間を作れません");
        return Err(ErrorKind::Refused.error(message).remedy(remedy()));
    }
    let own = std::env::current_exe().map_err(|error| cannot_run("kurabe", "kurabe", &error))?;
    let mut command = start(&[]).map_err(|error| cannot_run("unshare", "util-linux", &error))?;
    command.arg(own).args(std::env::args_os().skip(1)).env(ALONE, "1").stdin(Stdio::inherit());
    // System programs use the C locale, and kurabe the user's language.
    match std::env::var_os("LC_ALL") {
        Some(language) => command.env("LC_ALL", language),
        None => command.env_remove("LC_ALL"),
    };
    Ok(Some(command))
}

pub(crate) struct FileSystemProgram(Child);

impl FileSystemProgram {
    /// Mounts the file system on a device.
    pub(crate) fn mount(device: &Path) -> Result<Self> {
        std::fs::create_dir_all(POINT).map_err(|error| cannot_fill(Path::new(POINT), &error))?;
        let before = std::fs::metadata(POINT).map_err(|error| cannot_fill(Path::new(POINT), &error))?.dev();
        let begun =
            system_program(FUSE2FS, &["-f", &device.to_string_lossy(), POINT]).and_then(|mut command| {
                die_with_starter(&mut command);
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
            });
        let mut program = Self(begun.map_err(|error| cannot_run(FUSE2FS, FUSE2FS, &error))?);
        let is_mounted = || Ok(std::fs::metadata(POINT)?.dev() != before);
        let has_ended =
            program.wait_until(is_mounted).map_err(|error| cannot_fill(Path::new(POINT), &error))?;
        if has_ended {
            let message =
                text!("fuse2fs did not mount the disk", "fuse2fs がディスクをマウントできませんでした");
            return Err(ErrorKind::Io.error(message));
        }
        Ok(program)
    }

    /// Waits until a condition holds. Returns whether the program exited or the time limit passed
    /// before that.
    fn wait_until(&mut self, holds: impl Fn() -> io::Result<bool>) -> io::Result<bool> {
        let begun = Instant::now();
        while !holds()? {
            if self.0.try_wait()?.is_some() || begun.elapsed() > PATIENCE {
                return Ok(true);
            }
            std::thread::sleep(LOOK);
        }
        Ok(false)
    }

    /// Waits until everything is written, after the file system was unmounted.
    pub(crate) fn end(mut self) -> Result<()> {
        let ended = self.wait_until(|| Ok(false)).and_then(|_| self.0.try_wait());
        match ended {
            Ok(Some(status)) if status.success() => Ok(()),
            _ => {
                let message = text!(
                    "fuse2fs did not write all data to the disk",
                    "fuse2fs がディスクをすべて書き終えられませんでした"
                );
                Err(ErrorKind::Io.error(message))
            }
        }
    }
}

impl Drop for FileSystemProgram {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}
