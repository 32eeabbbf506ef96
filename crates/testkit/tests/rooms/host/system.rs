//! Loop devices, mounts and processes, which are removed in any case. They need root; a test that
//! cannot create one reports that and is skipped.

use kurabe_host::{Claim, claims};
use kurabe_testkit::needs::{LOOP_DEVICE, MOUNT, needs, skip};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub const SIZE_BYTES: u64 = 320 << 20;

/// Returns the claims on the file that a path leads to.
pub fn claims_of(path: &Path) -> Vec<Claim> {
    let file = File::open(path).expect("a descriptor");
    claims(&file, path).expect("an answer")
}

/// Returns `PATH` with the folders of system programs, which the one of an ordinary user may lack.
fn path_with_system_programs() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    std::env::join_paths(folders).unwrap_or(path)
}

/// Runs a program; `None` if it is not installed or fails.
pub fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(arguments).env("PATH", path_with_system_programs()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Serializes the tests: `losetup -f` opens other devices for a moment, which counts as a claim.
static ALONE: Mutex<()> = Mutex::new(());

/// A loop device on a temporary file, which is detached and unmounted in any case.
pub struct LoopDevice {
    pub node: PathBuf,
    pub directory: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl LoopDevice {
    /// Creates a device, or returns `None` with a printed reason.
    pub fn new() -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().expect("a directory");
        let image = directory.path().join("image");
        File::create(&image).and_then(|file| file.set_len(SIZE_BYTES)).expect("an image");
        std::fs::create_dir(directory.path().join("mnt")).expect("a mount point");
        let Some(node) = run("losetup", &["-f", "--show", image.to_str().expect("a name")]) else {
            skip(LOOP_DEVICE);
            return None;
        };
        Some(Self { node: PathBuf::from(node), directory, _alone: alone })
    }

    /// Attaches the same file again, with its current partitions.
    pub fn attach_with_partitions(&mut self) {
        let image = self.directory.path().join("image");
        run("losetup", &["-d", self.node()]).expect("detached");
        let node = run("losetup", &["-f", "-P", "--show", image.to_str().expect("a name")]);
        self.node = PathBuf::from(node.expect("attached"));
        // A kernel that does not read partition tables can be informed of the partitions.
        for (number, start) in [("1", "2048"), ("2", "34816")] {
            if !Path::new(&format!("{}p{number}", self.node())).exists() {
                run("addpart", &[self.node(), number, start, "32768"]);
            }
        }
    }

    pub fn node(&self) -> &str {
        self.node.to_str().expect("a name")
    }

    pub fn name(&self) -> String {
        self.node.file_name().expect("a name").to_string_lossy().into_owned()
    }

    pub fn point(&self) -> PathBuf {
        self.directory.path().join("mnt")
    }

    pub fn mount(&self) -> bool {
        run("mount", &[self.node(), self.point().to_str().expect("a name")]).is_some()
    }

    pub fn unmount(&self) {
        run("umount", &[self.point().to_str().expect("a name")]).expect("unmounted");
    }

    pub fn holders(&self) -> Vec<String> {
        self.holders_of(&self.node)
    }

    pub fn holders_of(&self, path: &Path) -> Vec<String> {
        claims_of(path).into_iter().map(|claim| claim.by.en).collect()
    }

    /// Writes an MBR partition table with two partitions of 16 MiB: type, first sector, sectors.
    pub fn write_partition_table(&self) {
        use std::os::unix::fs::FileExt;
        let mut sector = [0_u8; 512];
        for (place, start) in [(446, 2048_u32), (462, 34816)] {
            sector[place + 4] = 0x83;
            sector[place + 8..place + 12].copy_from_slice(&start.to_le_bytes());
            sector[place + 12..place + 16].copy_from_slice(&32768_u32.to_le_bytes());
        }
        sector[510..].copy_from_slice(&[0x55, 0xaa]);
        let file = File::options().write(true).open(&self.node).expect("the device");
        file.write_all_at(&sector, 0).and_then(|()| file.sync_all()).expect("a table");
    }

    pub fn wipe(&self) {
        let file = File::options().write(true).open(&self.node).expect("the device");
        use std::os::unix::fs::FileExt;
        for offset in [0, SIZE_BYTES - (1 << 20)] {
            file.write_all_at(&vec![0; 1 << 20], offset).expect("wiped");
        }
        file.sync_all().expect("wiped");
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        run("swapoff", &[self.node()]);
        run("umount", &[self.point().to_str().unwrap_or_default()]);
        run("losetup", &["-d", self.node()]);
    }
}

impl LoopDevice {
    /// Returns a path next to the image.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the image file.
    pub fn image(&self) -> PathBuf {
        self.beside("image")
    }

    /// Creates another device node for it, outside /dev.
    pub fn other_node(&self, name: &str) -> PathBuf {
        use std::os::unix::fs::MetadataExt;
        let number = self.node.metadata().expect("the device").rdev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let node = self.beside(name);
        run("mknod", &[text(&node), "b", &major.to_string(), &minor.to_string()]).expect("a node");
        node
    }

    /// Creates ext4 on it and mounts it. Returns `false`, with a printed reason, if that is not
    /// possible.
    pub fn mount_ext4(&self) -> bool {
        if !needs("mkfs.ext4") {
            return false;
        }
        run("mkfs.ext4", &["-q", self.node()]).expect("mkfs.ext4 formats it");
        let mounted = self.mount();
        if !mounted {
            skip(MOUNT);
        }
        mounted
    }
}

/// A second loop device, which is detached before the device below it.
pub struct Above {
    pub node: PathBuf,
}

impl Above {
    /// Creates a loop device on a file or a device.
    pub fn over(path: &Path) -> Self {
        let node =
            run("losetup", &["-f", "--show", text(path)]).expect("a loop device: there was one before");
        Self { node: node.into() }
    }
}

impl Drop for Above {
    fn drop(&mut self) {
        run("losetup", &["-d", text(&self.node)]);
    }
}

/// A bind mount, which is unmounted when dropped.
pub struct Bound {
    point: PathBuf,
}

impl Bound {
    /// Mounts a directory at a second place. `None`, with a printed reason, if that is not
    /// possible.
    pub fn new(directory: &Path, point: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&point).expect("a directory");
        if run("mount", &["--bind", text(directory), text(&point)]).is_none() {
            skip(MOUNT);
            return None;
        }
        Some(Self { point })
    }

    pub fn point(&self) -> &Path {
        &self.point
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        run("umount", &[text(&self.point)]);
    }
}

/// A program that runs until the test ends it.
pub struct Running {
    child: Child,
}

impl Running {
    /// Starts a program, and waits until it reports that it is ready. `None` if it ends without any
    /// output.
    pub fn start(command: &mut Command) -> Option<Self> {
        let child = command.stdout(Stdio::piped()).spawn().expect("started");
        let mut running = Self { child };
        let mut line = String::new();
        let output = running.child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        (line.trim() == "ready").then_some(running)
    }

    /// Starts a shell that has a file as its standard input and becomes `sleep`.
    pub fn with_input(file: File) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "echo ready; exec sleep 60"]).stdin(Stdio::from(file));
        Self::start(&mut command).expect("a shell")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns a path as a command-line argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path of the tests is UTF-8")
}

/// Opens a file for reading and writing.
pub fn open_to_write(path: &Path) -> File {
    File::options().read(true).write(true).open(path).expect("opened")
}
