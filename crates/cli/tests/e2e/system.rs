//! Loop devices and mounts, released however a test ends. They need root; tests that cannot get one
//! report why they are skipped.

use crate::lab::{Lab, binary, text};
use kurabe_testkit::needs::{BECOME_NOBODY, LOOP_DEVICE, MOUNT, needs, skip};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Returns `PATH` with the folders of system programs, which an ordinary user's may lack.
fn path_with_system_programs() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    std::env::join_paths(folders).unwrap_or(path)
}

/// Runs a program and returns its standard output, or `None` if it is missing or fails.
pub fn system(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).env("PATH", path_with_system_programs()).stdin(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the path of Python itself. A shim in front of it may be a long script, whose calls would all
/// be followed.
pub fn python() -> String {
    let path = system("python3", &["-c", "import sys; print(sys.executable)"]);
    path.unwrap_or_else(|| "python3".to_owned())
}

/// Command prefix that runs a program as the user `nobody`.
pub const AS_NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
/// Id of the user and the group `nobody`.
pub const NOBODY: Option<u32> = Some(65534);

/// Returns whether kurabe can run as `nobody` here; otherwise reports the skipped test. The home of
/// the environment then belongs to `nobody`.
pub fn can_be_nobody(lab: &Lab) -> bool {
    let home = lab.beside("");
    let can = chown(&home, NOBODY, NOBODY).is_ok()
        && Command::new(AS_NOBODY[0])
            .args(&AS_NOBODY[1..])
            .args([binary(), "--version"])
            .output()
            .is_ok_and(|ended| ended.status.success());
    if !can {
        skip(BECOME_NOBODY);
    }
    can
}

/// Serializes the creation of loop devices. `losetup` opens the free device that it finds. If
/// another test has claimed that device first, it would see it opened by another process.
static MAKING: Mutex<()> = Mutex::new(());

/// Keeps other tests from creating loop devices until the guard is dropped.
pub fn making_loop_devices() -> MutexGuard<'static, ()> {
    MAKING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn losetup(file: &Path) -> Option<String> {
    let _making = making_loop_devices();
    system("losetup", &["-f", "--show", text(file)])
}

/// Creates another node of a device.
pub fn other_node(device: &Path, node: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt;
    let number = device.metadata().expect("the device").rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    system("mknod", &[text(node), "b", &major.to_string(), &minor.to_string()]).expect("a node");
    node.to_owned()
}

/// A mounted file system, unmounted on drop.
pub struct Mount {
    point: PathBuf,
}

impl Mount {
    /// Mounts a source on a new directory. Returns `None` and prints the reason if that is not
    /// possible.
    pub fn new(kind: &str, source: &str, options: &str, point: &Path) -> Option<Self> {
        std::fs::create_dir_all(point).expect("a mount point");
        if system("mount", &["-t", kind, "-o", options, source, text(point)]).is_none() {
            skip(MOUNT);
            return None;
        }
        Some(Self { point: point.to_owned() })
    }

    /// Takes over a file system that is mounted already.
    pub fn over(point: &Path) -> Self {
        Self { point: point.to_owned() }
    }

    /// Returns the mount point.
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// Remounts with other options. Between fork and exec, a child that another test starts has a
    /// copy of every file that this test had open for writing. Until then the kernel returns "busy"
    /// for `ro`.
    pub fn again(&self, options: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        while system("mount", &["-o", &format!("remount,{options}"), text(&self.point)]).is_none() {
            assert!(Instant::now() < end, "{} is not mounted again with {options}", text(&self.point));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let device = device_under(&self.point);
        if system("umount", &[text(&self.point)]).is_none() {
            system("umount", &["-l", text(&self.point)]);
        }
        // A command of another test with its own mount table has a copy for as long as it runs.
        let begun = Instant::now();
        let is_held = |device: &PathBuf| {
            let exclusively = rustix::fs::open(device, OFlags::RDONLY | OFlags::EXCL, Mode::empty());
            exclusively.is_err_and(|error| error == Errno::BUSY)
        };
        while device.as_ref().is_some_and(is_held) && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns the block device mounted at a path.
fn device_under(point: &Path) -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let at_point = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some(text(point)))?;
    at_point.split(' ').next().filter(|source| source.starts_with("/dev/")).map(PathBuf::from)
}

/// A loop device over its own file, detached on drop.
pub struct LoopDevice {
    node: PathBuf,
    image: PathBuf,
    directory: tempfile::TempDir,
}

impl LoopDevice {
    /// Creates a device of zeros. Returns `None` and prints the reason if that is not possible.
    pub fn new(size_bytes: u64) -> Option<Self> {
        let directory = tempfile::tempdir().expect("a directory");
        let image = directory.path().join("image");
        Self::over(image, size_bytes, directory)
    }

    /// Creates a device whose image is at a given path.
    pub fn at(image: &Path, size_bytes: u64) -> Option<Self> {
        Self::over(image.to_owned(), size_bytes, tempfile::tempdir().expect("a directory"))
    }

    fn over(image: PathBuf, size_bytes: u64, directory: tempfile::TempDir) -> Option<Self> {
        File::create(&image).and_then(|file| file.set_len(size_bytes)).expect("an image");
        let Some(node) = losetup(&image) else {
            skip(LOOP_DEVICE);
            return None;
        };
        Some(Self { node: node.into(), image, directory })
    }

    /// Returns the device node, such as /dev/loop0.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// Returns the backing file.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// Returns the contents of the backing file after flushing all writes.
    pub fn contents(&self) -> Vec<u8> {
        File::open(&self.node).and_then(|device| device.sync_all()).expect("written back");
        std::fs::read(&self.image).expect("the image")
    }

    /// Waits until no file system uses the device. An unmounted one stays in use while a mount
    /// namespace of another test has a copy.
    pub fn wait_until_free(&self) {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        let end = Instant::now() + Duration::from_secs(60);
        while let Err(error) = rustix::fs::open(&self.node, flags, Mode::empty()) {
            assert!(error == Errno::BUSY && Instant::now() < end, "{}: {error}", text(&self.node));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Creates ext4 on the device and mounts it.
    pub fn mount_ext4(&self) -> Option<Mount> {
        if !needs("mkfs.ext4") {
            return None;
        }
        system("mkfs.ext4", &["-q", "-m", "0", text(&self.node)]).expect("mkfs.ext4 formats it");
        Mount::new("ext4", text(&self.node), "defaults", &self.directory.path().join("mnt"))
    }

    /// Creates FAT, which stores no owners, on the device and mounts it.
    pub fn mount_fat(&self, options: &str) -> Option<Mount> {
        if !needs("mkfs.vfat") {
            return None;
        }
        system("mkfs.vfat", &[text(&self.node)]).expect("mkfs.vfat formats it");
        Mount::new("vfat", text(&self.node), options, &self.directory.path().join("mnt"))
    }

    /// Returns a path next to the backing file.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Creates another loop device over this one.
    pub fn stacked(&self) -> Option<Stacked> {
        Stacked::over(&self.node)
    }

    /// Creates another node of the device, outside /dev.
    pub fn other_node(&self, name: &str) -> PathBuf {
        other_node(&self.node, &self.beside(name))
    }

    /// Uses the device as swap until the result is dropped.
    pub fn swap(&self) -> Option<Swap> {
        system("mkswap", &[text(&self.node)])?;
        system("swapon", &[text(&self.node)])?;
        Some(Swap { node: self.node.clone() })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // The kernel would keep this flag for the next user of the node.
        system("blockdev", &["--setrw", text(&self.node)]);
        system("losetup", &["-d", text(&self.node)]);
    }
}

/// A loop device over another one, or over a file that already has one.
pub struct Stacked {
    node: String,
}

impl Stacked {
    /// Creates a loop device over a path.
    pub fn over(path: &Path) -> Option<Self> {
        losetup(path).map(|node| Self { node })
    }

    /// Returns the device node, such as /dev/loop1.
    pub fn node(&self) -> &str {
        &self.node
    }
}

impl Drop for Stacked {
    fn drop(&mut self) {
        system("losetup", &["-d", &self.node]);
    }
}

/// An active swap device, turned off on drop.
pub struct Swap {
    node: PathBuf,
}

impl Drop for Swap {
    fn drop(&mut self) {
        system("swapoff", &[text(&self.node)]);
    }
}

/// A program that runs until the test ends it.
pub struct Running {
    child: Child,
}

impl Running {
    /// Starts a program, and waits until it prints `ready`. Returns `None` and prints the reason if
    /// it cannot run.
    pub fn start(program: &str, arguments: &[&str]) -> Option<Self> {
        let mut command = Command::new(program);
        let started = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let Ok(child) = started else {
            skip(format_args!("{program} is not installed"));
            return None;
        };
        let mut running = Self { child };
        let mut line = String::new();
        let output = running.child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        if line.trim() != "ready" {
            skip(format_args!("{program} cannot do it here"));
            return None;
        }
        Some(running)
    }

    /// Starts a shell that holds a path open for writing.
    pub fn writer(path: &Path) -> Self {
        let script = "exec 9<>\"$0\"; echo ready; exec sleep 60";
        Self::start("sh", &["-c", script, text(path)]).expect("a shell")
    }

    /// Returns text such as `(process 77)`.
    pub fn process(&self) -> String {
        format!("(process {})", self.child.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns a Python with these PyPI packages, installed in a folder under target/. If that fails,
/// it reports the skipped test.
pub fn python_with(packages: &[&str]) -> Option<PathBuf> {
    static MAKING_PYTHON: Mutex<()> = Mutex::new(());
    let _alone = MAKING_PYTHON.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python").join(packages.join("-"));
    let python = folder.join("bin/python");
    let pip = |words: &[&str]| system(text(&python), &[&["-m", "pip"], words, packages].concat()).is_some();
    let has_all = pip(&["show", "--quiet"])
        || system("python3", &["-m", "venv", text(&folder)]).is_some() && pip(&["install", "--quiet"]);
    if !has_all {
        skip(format_args!("no Python packages {} (needs python3 with venv, and PyPI)", packages.join(", ")));
    }
    has_all.then_some(python)
}
