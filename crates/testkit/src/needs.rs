//! The record of tests that cannot run on this machine.
//!
//! A test that lacks a program or a permission returns early, and libtest counts it as passed.
//! [`needs`] and [`skip`] make that visible: they print `skipped: <test>: <reason>` on standard
//! error, past the capture of libtest, and add the line to a file. `tools/skips` prints the sum of
//! all files by reason, so a reason that many tests share has a constant here.
//!
//! The file is `KURABE_SKIPS` if that is set, to which every process appends. Otherwise each test
//! executable has a file in the folder `skips` of the target folder, which the first skip of a
//! process rewrites.

use std::env;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Folders of system programs, which the `PATH` of an ordinary user may lack.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

pub const ROOT: &str = "needs root";
pub const MOUNT: &str = "needs the right to mount";
pub const LOOP_DEVICE: &str = "no loop device (needs root, losetup and a kernel with loop devices)";
/// For a served disk that is attached as a block device.
pub const ATTACH: &str = "needs root, /dev/fuse and loop devices";
pub const BECOME_NOBODY: &str = "cannot run the program as nobody (needs root, setpriv and a readable build)";
pub const TRACER: &str = "strace is not installed or may not trace";
pub const TRACEPOINTS: &str = "no block tracepoints (needs root and tracefs)";
pub const MEMORY_FOLDER: &str = "no /dev/shm";
pub const PID_NAMESPACES: &str = "no PID namespaces (needs root and unshare)";
pub const USER_NAMESPACES: &str = "no user namespaces for nobody";
pub const SWAP: &str = "swapon refuses to swap here";
pub const IO_URING: &str = "the kernel refuses io_uring";

/// Returns whether a program is installed. If it is not, the test that asks is recorded as skipped and has to return.
pub fn needs(program: &str) -> bool {
    let is_installed = has(program);
    if !is_installed {
        skip(format_args!("{program} is not installed"));
    }
    is_installed
}

/// Returns whether a program is installed. Nothing is recorded.
pub fn has(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.into_iter().any(|folder| is_program(&folder.join(program)))
}

/// Records the current test, which has to return, as skipped.
pub fn skip(reason: impl Display) {
    let thread = std::thread::current();
    let line = line(thread.name().unwrap_or("unnamed"), &reason.to_string());
    // The print macros would be captured. It is a single write, so that the lines of several
    // threads do not mix.
    let _ = io::stderr().write_all(line.as_bytes());
    if let Some(record) = record() {
        let _ = (&*record).write_all(line.as_bytes());
    }
}

fn line(test: &str, reason: &str) -> String {
    let joined = |text: &str, with: &str| text.split_whitespace().collect::<Vec<_>>().join(with);
    format!("skipped: {}: {}\n", joined(test, "-"), joined(reason, " "))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Returns the open file of this process, or `None` if it cannot be written.
fn record() -> Option<&'static File> {
    static RECORD: OnceLock<Option<File>> = OnceLock::new();
    let open = || {
        let path = env::var_os("KURABE_SKIPS").map(PathBuf::from);
        let opened = match &path {
            Some(path) => OpenOptions::new().create(true).append(true).open(path),
            None => fresh(&own_path()?),
        };
        let explain = |error: &io::Error| {
            let _ = writeln!(io::stderr(), "cannot record skipped tests: {error}");
        };
        opened.inspect_err(explain).ok()
    };
    RECORD.get_or_init(open).as_ref()
}

/// Opens an empty file for appending, so that another process of the same executable loses nothing.
fn fresh(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    File::create(path)?;
    OpenOptions::new().append(true).open(path)
}

fn own_path() -> Option<PathBuf> {
    let executable = env::current_exe().ok()?;
    path_of(&executable, env::var("CARGO_PKG_NAME").ok().as_deref())
}

/// The file of an executable, `<target>/<profile>/deps/<name>-<hash>`. The package, which cargo names at run time,
/// distinguishes tests of the same name.
fn path_of(executable: &Path, package: Option<&str>) -> Option<PathBuf> {
    let stem = executable.file_stem()?.to_str()?;
    let name = stem.rsplit_once('-').map_or(stem, |(name, _hash)| name);
    let name = package.map_or(name.to_owned(), |package| format!("{package}.{name}"));
    let target = executable.parent()?.parent()?.parent()?;
    Some(target.join("skips").join(name + ".txt"))
}
