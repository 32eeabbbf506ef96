//! Loop devices and mounts, taken back whatever happens. They need root; a test that cannot have one says so and
//! is skipped.

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

/// `PATH` with the folders of system programs, which that of an ordinary user may lack.
fn path_with_system_programs() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    std::env::join_paths(folders).unwrap_or(path)
}

/// Runs a program; its standard output, or `None` if it is not there or fails.
pub fn system(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).env("PATH", path_with_system_programs()).stdin(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs as nobody.
pub const AS_NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
/// The user and the group of that name.
pub const NOBODY: Option<u32> = Some(65534);

/// Whether kurabe can be run as nobody here; says so if not. The laboratory's home is nobody's then.
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

/// One loop device is made at a time: who looks for a free one opens it, and if another test has taken it meanwhile, that test
/// sees its device opened by others.
static MAKING: Mutex<()> = Mutex::new(());

/// Nobody else makes a loop device as long as this lives.
pub fn making_loop_devices() -> MutexGuard<'static, ()> {
    MAKING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn losetup(file: &Path) -> Option<String> {
    let _making = making_loop_devices();
    system("losetup", &["-f", "--show", text(file)])
}

/// Makes another node of a device.
pub fn other_node(device: &Path, node: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt;
    let number = device.metadata().expect("the device").rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    system("mknod", &[text(node), "b", &major.to_string(), &minor.to_string()]).expect("a node");
    node.to_owned()
}

/// A mounted file system; unmounted when this goes.
pub struct Mount {
    point: PathBuf,
}

impl Mount {
    /// Mounts something on a new directory. `None`, with a printed reason, where that cannot be.
    pub fn new(kind: &str, source: &str, options: &str, point: &Path) -> Option<Self> {
        std::fs::create_dir_all(point).expect("a mount point");
        if system("mount", &["-t", kind, "-o", options, source, text(point)]).is_none() {
            skip(MOUNT);
            return None;
        }
        Some(Self { point: point.to_owned() })
    }

    /// What is mounted at a place already.
    pub fn over(point: &Path) -> Self {
        Self { point: point.to_owned() }
    }

    /// Where it is.
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// Mounts it anew with other options. A child that another test starts has, until it is a program of its own, a copy of
    /// every file that this test had open for writing, and until then the kernel says "busy" to `ro`.
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
        // A command of another test with a table of mounts of its own has a copy for as long as it runs.
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

/// The block device that is mounted at a place.
fn device_under(point: &Path) -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let at_point = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some(text(point)))?;
    at_point.split(' ').next().filter(|source| source.starts_with("/dev/")).map(PathBuf::from)
}

/// A loop device over a file of its own; detached when this goes.
pub struct LoopDevice {
    node: PathBuf,
    image: PathBuf,
    directory: tempfile::TempDir,
}

impl LoopDevice {
    /// A device of zeros. `None`, with a printed reason, where there can be none.
    pub fn new(size_bytes: u64) -> Option<Self> {
        let directory = tempfile::tempdir().expect("a directory");
        let image = directory.path().join("image");
        Self::over(image, size_bytes, directory)
    }

    /// A device whose image is made at a place of the caller's.
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

    /// Such as /dev/loop0.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// The file under it.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// The file's contents, everything written back.
    pub fn contents(&self) -> Vec<u8> {
        File::open(&self.node).and_then(|device| device.sync_all()).expect("written back");
        std::fs::read(&self.image).expect("the image")
    }

    /// Waits until no file system has it: an unmounted one lives on while a mount name space of another test has a copy.
    pub fn wait_until_free(&self) {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        let end = Instant::now() + Duration::from_secs(60);
        while let Err(error) = rustix::fs::open(&self.node, flags, Mode::empty()) {
            assert!(error == Errno::BUSY && Instant::now() < end, "{}: {error}", text(&self.node));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes ext4 on it and mounts it.
    pub fn mount_ext4(&self) -> Option<Mount> {
        if !needs("mkfs.ext4") {
            return None;
        }
        system("mkfs.ext4", &["-q", "-m", "0", text(&self.node)]).expect("mkfs.ext4 formats it");
        Mount::new("ext4", text(&self.node), "defaults", &self.directory.path().join("mnt"))
    }

    /// Makes FAT on it, which keeps no owners, and mounts it.
    pub fn mount_fat(&self, options: &str) -> Option<Mount> {
        if !needs("mkfs.vfat") {
            return None;
        }
        system("mkfs.vfat", &[text(&self.node)]).expect("mkfs.vfat formats it");
        Mount::new("vfat", text(&self.node), options, &self.directory.path().join("mnt"))
    }

    /// A path beside the file under it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Another loop device over this one.
    pub fn stacked(&self) -> Option<Stacked> {
        Stacked::over(&self.node)
    }

    /// Another node of it, outside /dev.
    pub fn other_node(&self, name: &str) -> PathBuf {
        other_node(&self.node, &self.beside(name))
    }

    /// Uses it as swap until the answer goes.
    pub fn swap(&self) -> Option<Swap> {
        system("mkswap", &[text(&self.node)])?;
        system("swapon", &[text(&self.node)])?;
        Some(Swap { node: self.node.clone() })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // The kernel keeps this on the node for its next user.
        system("blockdev", &["--setrw", text(&self.node)]);
        system("losetup", &["-d", text(&self.node)]);
    }
}

/// A loop device over another, or over a file that has one already.
pub struct Stacked {
    node: String,
}

impl Stacked {
    /// Over a path.
    pub fn over(path: &Path) -> Option<Self> {
        losetup(path).map(|node| Self { node })
    }

    /// Such as /dev/loop1.
    pub fn node(&self) -> &str {
        &self.node
    }
}

impl Drop for Stacked {
    fn drop(&mut self) {
        system("losetup", &["-d", &self.node]);
    }
}

/// A swap in use.
pub struct Swap {
    node: PathBuf,
}

impl Drop for Swap {
    fn drop(&mut self) {
        system("swapoff", &[text(&self.node)]);
    }
}

/// A program that goes on until the test ends it.
pub struct Running {
    child: Child,
}

impl Running {
    /// Starts a program, and waits until it says `ready`. `None`, with a printed reason, where it cannot.
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

    /// A shell that opens a path for writing.
    pub fn writer(path: &Path) -> Self {
        let script = "exec 9<>\"$0\"; echo ready; exec sleep 60";
        Self::start("sh", &["-c", script, text(path)]).expect("a shell")
    }

    /// Such as `(process 77)`.
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

/// Python with these packages of PyPI, in a folder under target/; says so, if that cannot be had.
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
