//! Devices of the kernel's nbd driver and arrays of its md driver, in a QEMU guest with Debian's
//! kernel, because few build machines have these drivers.
//!
//! The guest has no disk. Its memory holds a shell (busybox), this kurabe with its libraries, the
//! drivers' modules and a script. The script runs as the first program and prints on the serial
//! console what it has verified. A failed check ends it with the word `fails`.

use crate::lab::{Lab, Live, binary, text};
use crate::system::system;
use kurabe_testkit::needs::skip;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable that names a folder with a kernel and a static busybox, laid out as in
/// their packages. Without it, those of this machine are used.
const VARIABLE: &str = "KURABE_GUEST";
/// Lines that the guest prints at the end.
const HOLDS: [&str; 9] = [
    "without the driver nbd is refused",
    "a device is what the model says",
    "what is written is read, and a run knows the model",
    "a power cut",
    "nothing is left of a device that was detached",
    "what a kill left goes at the next start",
    "a kill under a mount",
    "a device that another tool took away",
    "three devices of one box",
];

/// Modules of md, in the order of their dependencies.
const MD_MODULES: [&str; 15] = [
    "fs/fuse/fuse",
    "lib/libcrc32c",
    "lib/raid6/raid6_pq",
    "crypto/xor",
    "crypto/async_tx/async_tx",
    "crypto/async_tx/async_memcpy",
    "crypto/async_tx/async_xor",
    "crypto/async_tx/async_pq",
    "crypto/async_tx/async_raid6_recov",
    "drivers/block/nbd",
    "drivers/md/md-mod",
    "drivers/md/raid0",
    "drivers/md/raid1",
    "drivers/md/raid10",
    "drivers/md/raid456",
];

/// Components of the guest.
struct Parts {
    kernel: PathBuf,
    /// Folder of its kernel modules.
    modules: PathBuf,
    busybox: PathBuf,
}

/// Requirements of a guest in addition to kurabe and a shell: modules below its kernel's folder,
/// programs of this machine, and other files.
struct Needs<'a> {
    init: &'a str,
    modules: &'a [&'a str],
    programs: &'a [&'a str],
    files: &'a [(&'a str, &'a str)],
}

impl Parts {
    fn under(root: &Path) -> Option<Self> {
        let busybox = root.join("bin/busybox");
        let entries = std::fs::read_dir(root.join("lib/modules")).ok()?;
        let kernels = entries.flatten().filter_map(|entry| {
            let modules = entry.path().join("kernel");
            let kernel = root.join("boot").join(format!("vmlinuz-{}", entry.file_name().to_str()?));
            kernel.exists().then_some((kernel, modules))
        });
        let (kernel, modules) = kernels.max()?;
        busybox.exists().then_some(Self { kernel, modules, busybox })
    }
}

/// An archive that the kernel unpacks into its initial file system (`newc`, see cpio(5)).
struct Archive {
    out: BufWriter<File>,
    /// Folders and libraries already in the archive.
    names: BTreeSet<PathBuf>,
    entries: u32,
}

impl Archive {
    const FOLDER: u32 = 0o040_755;
    const PROGRAM: u32 = 0o100_755;

    fn new(path: &Path) -> Self {
        let out = BufWriter::new(File::create(path).unwrap());
        Self { out, names: BTreeSet::new(), entries: 0 }
    }

    fn entry(&mut self, name: &str, mode: u32, bytes: &[u8]) {
        self.entries += 1;
        let (size, name_bytes) = (bytes.len() as u32, name.len() as u32 + 1);
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_bytes, 0];
        let head = fields.iter().fold("070701".to_owned(), |head, field| format!("{head}{field:08X}"));
        self.padded(format!("{head}{name}\0").as_bytes());
        self.padded(bytes);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.out.write_all(bytes).unwrap();
        self.out.write_all(&[0; 3][..bytes.len().wrapping_neg() % 4]).unwrap();
    }

    /// Adds a folder and its parents.
    fn folder(&mut self, path: &Path) {
        let above: Vec<&Path> = path.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
        for folder in above.into_iter().rev() {
            if self.names.insert(folder.to_owned()) {
                self.entry(text(folder), Self::FOLDER, &[]);
            }
        }
    }

    fn file(&mut self, name: &str, from: &Path) {
        self.folder(Path::new(name).parent().unwrap());
        self.entry(name, Self::PROGRAM, &std::fs::read(from).unwrap());
    }

    /// Adds the libraries of a program, at the paths where it looks for them.
    fn libraries(&mut self, program: &str) {
        // A static program has no libraries, and ldd fails.
        let libraries = system("ldd", &[program]).unwrap_or_default();
        for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
            if self.names.insert(library.into()) {
                self.file(&library[1..], Path::new(library));
            }
        }
    }

    fn end(mut self) {
        self.entry("TRAILER!!!", 0, &[]);
        self.out.flush().unwrap();
    }
}

/// Builds the guest's initial file system. Returns `None` if a component is missing.
fn initramfs(lab: &Lab, parts: &Parts, needs: &Needs<'_>) -> Option<PathBuf> {
    let path = lab.beside("initramfs");
    let mut archive = Archive::new(&path);
    ["proc", "sys", "dev", "tmp", "run", "mnt"].iter().for_each(|folder| archive.folder(Path::new(folder)));
    archive.file("init", &lab.write("init", needs.init));
    archive.file("bin/busybox", &parts.busybox);
    for module in needs.modules {
        let built = parts.modules.join(module).with_extension("ko");
        let name = built.file_name()?.to_str()?;
        built.exists().then(|| archive.file(&format!("lib/{name}"), &built))?;
    }
    // Debug information is most of the binary, and everything must fit into the guest's memory.
    let (built, stripped) = (binary(), lab.beside("kurabe"));
    let is_stripped = system("strip", &["-o", text(&stripped), built]).is_some();
    archive.file("bin/kurabe", if is_stripped { &stripped } else { Path::new(built) });
    archive.libraries(built);
    for program in needs.programs {
        let place = system("which", &[program])?;
        archive.file(&format!("bin/{program}"), Path::new(place.trim()));
        archive.libraries(place.trim());
    }
    for (name, contents) in needs.files {
        archive.file(name, &lab.write("file", contents));
    }
    archive.end();
    Some(path)
}

/// Runs a guest and returns its console output, or `None` if no guest can be started.
fn console(needs: &Needs<'_>) -> Option<String> {
    let root = std::env::var_os(VARIABLE).map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let has_qemu = Command::new("qemu-system-x86_64").arg("--version").output().is_ok();
    let parts = Parts::under(&root).filter(|_| has_qemu && cfg!(target_arch = "x86_64"));
    let lab = Lab::new();
    let Some((parts, initramfs)) = parts.and_then(|parts| {
        let initramfs = initramfs(&lab, &parts, needs)?;
        Some((parts, initramfs))
    }) else {
        let (programs, modules) = (needs.programs.join(", "), needs.modules.join(".ko, "));
        skip(format_args!(
            "needs qemu-system-x86_64, {programs}, and in {VARIABLE} busybox and a kernel with {modules}.ko"
        ));
        return None;
    };
    let mut command = Command::new("qemu-system-x86_64");
    command.args(["-accel", "tcg", "-m", "1G", "-smp", "2", "-nographic", "-no-reboot", "-nic", "none"]);
    command.args(["-kernel", text(&parts.kernel), "-initrd", text(&initramfs)]);
    command
        .args(["-append", "console=ttyS0 loglevel=1 panic=-1 mitigations=off"])
        .stdin(std::process::Stdio::null());
    Some(Live::start_patiently(command).end().ok().out)
}

#[test]
#[ignore = "slow"]
fn models_are_devices_of_the_kernels_own_driver() {
    let needs = Needs {
        init: include_str!("nbd_guest.sh"),
        modules: &["drivers/block/nbd"],
        programs: &["nbd-client"],
        files: &[],
    };
    let Some(console) = console(&needs) else { return };
    let holds: Vec<&str> = console
        .lines()
        .filter_map(|line| line.split_once("== holds: "))
        .map(|(_, what)| what.trim())
        .collect();
    assert_eq!(holds, HOLDS, "{console}");
    assert!(console.contains("== all done"), "{console}");
}

/// How close an emulated processor comes to the model is printed, not checked.
#[test]
#[ignore = "slow"]
fn the_kernels_md_runs_on_served_disks() {
    let names: Vec<&str> = MD_MODULES.iter().filter_map(|module| module.rsplit('/').next()).collect();
    let needs = Needs {
        init: &include_str!("md_guest.sh").replace("MODULES", &names.join(" ")),
        modules: &MD_MODULES,
        programs: &["mdadm"],
        files: &[
            ("recipes/lib.sh", include_str!("../../../../recipes/lib.sh")),
            ("recipes/md.sh", include_str!("../../../../recipes/md.sh")),
            ("recipes/raid-card.sh", include_str!("../../../../recipes/raid-card.sh")),
        ],
    };
    let Some(console) = console(&needs) else { return };
    let figures = console.lines().filter(|line| line.contains(" MB/s   model ")).count();
    assert!(figures == 24 && console.contains("== all done"), "{console}");
    eprintln!("{console}");
}
