//! Claims on real loop devices: needs root and free loop devices; says why it skips otherwise.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

use kurabe_host::{ObserveOptions, claims, contents, observe};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SIZE_BYTES: u64 = 320 << 20;

/// Runs a program; `None` if it is not there or fails.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// One test at a time: `losetup -f` opens the devices of others for a moment, and that is a claim.
static ALONE: Mutex<()> = Mutex::new(());

/// A loop device over a file of its own, detached and unmounted whatever happens.
struct LoopDevice {
    node: PathBuf,
    directory: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl LoopDevice {
    /// `None` with a printed reason where there can be none.
    fn new() -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().expect("a directory");
        let image = directory.path().join("image");
        File::create(&image).and_then(|file| file.set_len(SIZE_BYTES)).expect("an image");
        std::fs::create_dir(directory.path().join("mnt")).expect("a mount point");
        let Some(node) = run("losetup", &["-f", "--show", image.to_str().expect("a name")]) else {
            eprintln!("skipped: no loop device (needs root, losetup and a kernel with loop devices)");
            return None;
        };
        Some(Self { node: PathBuf::from(node), directory, _alone: alone })
    }

    /// Attaches the same file anew, with the partitions that it has now.
    fn attach_with_partitions(&mut self) {
        let image = self.directory.path().join("image");
        run("losetup", &["-d", self.node()]).expect("detached");
        let node = run("losetup", &["-f", "-P", "--show", image.to_str().expect("a name")]);
        self.node = PathBuf::from(node.expect("attached"));
        // A kernel that reads no partition tables can still be told.
        for (number, start) in [("1", "2048"), ("2", "34816")] {
            if !Path::new(&format!("{}p{number}", self.node())).exists() {
                run("addpart", &[self.node(), number, start, "32768"]);
            }
        }
    }

    fn node(&self) -> &str {
        self.node.to_str().expect("a name")
    }

    fn name(&self) -> String {
        self.node.file_name().expect("a name").to_string_lossy().into_owned()
    }

    fn point(&self) -> PathBuf {
        self.directory.path().join("mnt")
    }

    fn mount(&self) -> bool {
        run("mount", &[self.node(), self.point().to_str().expect("a name")]).is_some()
    }

    fn unmount(&self) {
        run("umount", &[self.point().to_str().expect("a name")]).expect("unmounted");
    }

    fn holders(&self) -> Vec<String> {
        self.holders_of(&self.node)
    }

    fn holders_of(&self, path: &Path) -> Vec<String> {
        claims(path).expect("an answer").into_iter().map(|claim| claim.by.en).collect()
    }

    /// A table of the PC with two partitions of 16 MiB: type, first sector, sectors.
    fn write_partition_table(&self) {
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

    fn wipe(&self) {
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

#[test]
fn an_empty_loop_device_is_free_and_holds_nothing() {
    let Some(device) = LoopDevice::new() else { return };
    assert_eq!(device.holders(), [""; 0]);
    assert_eq!(contents(&device.node).expect("an answer"), None);
}

#[test]
fn a_mounted_file_system_is_a_claim_and_an_unmounted_one_is_content() {
    for (make, flags, kind) in
        [("mkfs.ext4", "-q", "ext4"), ("mkfs.btrfs", "-q", "btrfs"), ("mkfs.xfs", "-q", "XFS")]
    {
        let Some(device) = LoopDevice::new() else { return };
        if run(make, &[flags, device.node()]).is_none() {
            eprintln!("skipped {kind}: {make} is not there or refuses {SIZE_BYTES} bytes");
            continue;
        }
        assert_eq!(device.holders(), [""; 0], "{kind} unmounted");
        assert_eq!(contents(&device.node).expect("an answer").as_deref(), Some(kind));
        if !device.mount() {
            eprintln!("skipped {kind}: the kernel does not mount it");
            continue;
        }
        let held = device.holders();
        let point = device.point();
        assert!(held.contains(&format!("mounted on {}", point.display())), "{kind}: {held:?}");

        let link = device.directory.path().join("by-id");
        std::os::unix::fs::symlink(&device.node, &link).expect("a link");
        assert_eq!(device.holders_of(&link), held, "{kind}: through a link");

        let options = ObserveOptions { with_serial: false, salt: b"" };
        let seen = observe(&point, &options);
        let file_system = seen.file_system.clone().expect("a file system");
        assert_eq!(file_system.kind.as_deref(), Some(kind.to_lowercase().as_str()));
        assert_eq!(seen.devices.len(), 1, "{kind}: {seen:#?}");
        assert_eq!(seen.devices[0].name, device.name());

        device.unmount();
        assert_eq!(device.holders(), [""; 0], "{kind} unmounted again");
    }
}

#[test]
fn swap_is_a_claim_in_use_and_by_its_signature() {
    let Some(device) = LoopDevice::new() else { return };
    if run("mkswap", &[device.node()]).is_none() {
        eprintln!("skipped: no mkswap");
        return;
    }
    assert_eq!(device.holders(), ["carries a signature of swap"]);
    if run("swapon", &[device.node()]).is_some() {
        assert!(device.holders().contains(&"in use as swap".to_owned()));
        run("swapoff", &[device.node()]).expect("swapped off");
    }
    device.wipe();
    assert_eq!(device.holders(), [""; 0]);
}

#[test]
fn an_exclusive_opener_is_found_without_any_other_trace() {
    use std::os::unix::fs::OpenOptionsExt;
    let Some(device) = LoopDevice::new() else { return };
    let exclusive = i32::try_from(rustix::fs::OFlags::EXCL.bits()).expect("a flag");
    let holder = File::options().read(true).custom_flags(exclusive).open(&device.node).expect("opened");
    let held = device.holders();
    assert!(held.len() == 1 && held[0].starts_with("locked by"), "{held:?}");
    drop(holder);
    assert_eq!(device.holders(), [""; 0]);
}

#[test]
fn a_process_that_writes_to_it_is_found() {
    let Some(device) = LoopDevice::new() else { return };
    let mut writer = Command::new("sleep")
        .arg("60")
        .stdin(std::process::Stdio::from(
            File::options().read(true).write(true).open(&device.node).expect("opened"),
        ))
        .spawn()
        .expect("started");
    let held = device.holders();
    writer.kill().expect("killed");
    writer.wait().expect("waited");
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(
        held[0].starts_with("open for writing in ") && held[0].contains(&writer.id().to_string()),
        "{held:?}"
    );
    assert_eq!(device.holders(), [""; 0]);
}

#[test]
fn a_partition_in_use_holds_its_disk() {
    let Some(mut device) = LoopDevice::new() else { return };
    device.write_partition_table();
    device.attach_with_partitions();
    let node = device.node().to_owned();
    let (first, second) = (format!("{node}p1"), format!("{node}p2"));
    if !Path::new(&first).exists() || run("mkfs.ext4", &["-q", &first]).is_none() {
        eprintln!("skipped: no partitions on loop devices, or no mkfs.ext4");
        return;
    }
    let name = device.name();
    assert_eq!(
        contents(&device.node).expect("an answer"),
        Some(format!("MBR ({name}p1: ext4, {name}p2: ?)"))
    );
    run("mount", &[&first, device.point().to_str().expect("a name")]).expect("mounted");
    let held: Vec<String> =
        claims(&device.node).expect("an answer").into_iter().map(|claim| claim.device).collect();
    assert_eq!(held, [format!("{name}p1")], "the disk is held by its partition");
    assert!(claims(Path::new(&second)).expect("an answer").is_empty(), "the neighbour is free");
    device.unmount();
    assert!(claims(&device.node).expect("an answer").is_empty());
}
