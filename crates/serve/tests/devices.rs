//! Served stacks as block devices of this machine: FUSE files, loop devices, and their complete
//! removal.

use crate::client::{eventually, quick, request};
use crate::machine::{Mounted, can_attach, run};
use kurabe_core::ErrorKind;
use kurabe_serve::{
    Address, AttachBy, ControlRequest, PowerRules, ServeRequest, Serving, ask_server, attachment_of,
    clean_attachments,
};
use kurabe_sim::load_device;
use kurabe_testkit::needs::{ATTACH, skip};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// An attached stack, with its state in its own folder.
struct Device {
    serving: Serving,
    folder: TempDir,
}

impl Device {
    /// Attaches a fast disk of 1 GiB, with a changed request. `None`, with a printed reason, if
    /// that is not possible.
    fn new(change: impl FnOnce(&mut ServeRequest)) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut request = ServeRequest {
            spec: quick(),
            address: Address::Devices { folder: folder.path().join("run"), by: AttachBy::Fuse },
            ..request("ideal-ram-disk", Path::new(""))
        };
        change(&mut request);
        match Serving::start(&request) {
            Ok(serving) => Some(Self { serving, folder }),
            Err(error) if can_attach() => panic!("{error}"),
            Err(_) => {
                skip(ATTACH);
                None
            }
        }
    }

    fn path(&self, place: usize) -> &Path {
        &self.serving.facts().devices[place]
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// Returns the file behind a loop device.
    fn file(&self, place: usize) -> PathBuf {
        let attachment = attachments(&self.state()).remove(0);
        attachment.join(format!("disks/disk{place}"))
    }

    /// Detaches it and checks that nothing remains.
    fn detach(mut self) {
        let devices = self.serving.facts().devices.clone();
        self.serving.detach(|device, users| panic!("{device:?} is used: {users:?}")).unwrap();
        self.serving.end();
        self.serving.wait().unwrap();
        assert_eq!(attachments(&self.state()), [] as [PathBuf; 0]);
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(self.folder.path().to_str().unwrap()), "{mounts}");
        devices.iter().for_each(|device| assert!(!is_on(device, &self.state()), "{device:?}"));
    }
}

fn attachments(state: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(state).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let entries: Vec<PathBuf> = entries.unwrap_or_default();
    entries.into_iter().filter(|path| path.is_dir()).collect()
}

/// Returns whether a loop device is on a file below a folder.
fn is_on(device: &Path, folder: &Path) -> bool {
    let name = device.file_name().unwrap();
    let file = std::fs::read_to_string(Path::new("/sys/block").join(name).join("loop/backing_file"));
    file.is_ok_and(|file| Path::new(&file).starts_with(folder))
}

fn open_direct(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(path).unwrap()
}

/// Reads past every cache.
fn read(path: &Path, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
    let mut memory = vec![0; length + 4096];
    let from = memory.as_ptr().align_offset(4096);
    open_direct(path).read_exact_at(&mut memory[from..from + length], offset)?;
    Ok(memory[from..from + length].to_vec())
}

#[test]
fn a_device_keeps_what_is_written_and_leaves_nothing() {
    let Some(device) = Device::new(|_| {}) else { return };
    let path = device.path(0).to_owned();
    let mut node = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    assert_eq!(node.seek(SeekFrom::End(0)).unwrap(), 1 << 30);
    // Larger than the kernel's largest request, and not aligned to its pages.
    let bytes: Vec<u8> = (0..3_000_000u32).map(|place| (place / 512) as u8).collect();
    node.seek(SeekFrom::Start(512)).unwrap();
    node.write_all(&bytes).unwrap();
    node.sync_all().unwrap();
    assert_eq!(read(&path, 512, 2_999_808).unwrap(), bytes[..2_999_808]);
    let figures = device.serving.figures().unwrap();
    assert!(figures.writes > 0 && figures.flushes > 0 && figures.written_bytes >= 3_000_000, "{figures:?}");
    // No request exceeds the kernel's limit.
    assert!(figures.reads * (1 << 20) >= figures.read_bytes, "{figures:?}");
    drop(node);
    device.detach();
}

#[test]
fn a_disk_without_trim_takes_no_discard() {
    let Some(device) = Device::new(|request| request.spec = load_device("hitachi-hds721616plat80").unwrap())
    else {
        return;
    };
    let path = device.path(0).to_str().unwrap().to_owned();
    assert_eq!(run("blkdiscard", &["--length", "1M", &path]), None);
    // The kernel has recorded that, and writes still work.
    run("dd", &["if=/dev/zero", &format!("of={path}"), "bs=64k", "count=1", "oflag=direct"]).unwrap();
    assert_eq!(run("blkdiscard", &["--length", "1M", &path]), None);
    assert_eq!(device.serving.figures().unwrap().trims, 0);
    device.detach();
}

#[test]
fn a_discard_is_a_trim_and_leaves_a_hole() {
    let Some(device) = Device::new(|_| {}) else { return };
    let path = device.path(0).to_str().unwrap().to_owned();
    open_direct(device.path(0)).sync_all().unwrap();
    run("dd", &["if=/dev/urandom", &format!("of={path}"), "bs=1M", "count=4", "oflag=direct"]).unwrap();
    run("blkdiscard", &["--offset", "1M", "--length", "2M", &path]).unwrap();
    let figures = device.serving.figures().unwrap();
    assert!(figures.trims > 0, "{figures:?}");
    let bytes = read(device.path(0), 0, 4 << 20).unwrap();
    assert!(bytes[1 << 20..3 << 20].iter().all(|byte| *byte == 0));
    assert!(bytes[..1 << 20].iter().any(|byte| *byte != 0) && bytes[3 << 20..].iter().any(|byte| *byte != 0));
    // The file of the device distinguishes data from holes.
    let file = File::open(device.file(0)).unwrap();
    let seek = |from| rustix::fs::seek(&file, from).unwrap();
    assert_eq!(seek(rustix::fs::SeekFrom::Hole(0)), 1 << 20);
    assert_eq!(seek(rustix::fs::SeekFrom::Data(1 << 20)), 3 << 20);
    assert_eq!(seek(rustix::fs::SeekFrom::Hole(3 << 20)), 4 << 20);
    assert!(rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(4 << 20)).is_err());
    drop(file);
    device.detach();
}

#[test]
fn several_devices_of_one_stack_keep_their_own_bytes() {
    let box_of_disks = |request: &mut ServeRequest| {
        request.spec = load_device("mirror3-usb").unwrap();
        ["zfs", "mirror"].iter().for_each(|layer| request.spec.remove_layer(layer).unwrap());
        request.settings.exports = 3;
    };
    let Some(device) = Device::new(box_of_disks) else { return };
    let paths = device.serving.facts().devices.clone();
    assert_eq!(paths.len(), 3);
    for (place, path) in paths.iter().enumerate() {
        let node = OpenOptions::new().write(true).open(path).unwrap();
        node.write_all_at(&[place as u8 + 1; 4096], 0).unwrap();
        node.sync_all().unwrap();
    }
    for (place, path) in paths.iter().enumerate() {
        assert_eq!(read(path, 0, 4096).unwrap(), [place as u8 + 1; 4096]);
    }
    // Each of them belongs to the same attachment.
    for path in &paths {
        let attached = attachment_of(&device.state(), path).unwrap().unwrap();
        assert_eq!(attached.devices, paths);
        assert_eq!(attached.process.pid, std::process::id());
    }
    device.detach();
}

#[test]
fn what_lives_is_not_cleaned_up_and_what_is_not_ours_is_not_called_ours() {
    let Some(device) = Device::new(|_| {}) else { return };
    clean_attachments(&device.state()).unwrap();
    assert!(is_on(device.path(0), &device.state()));
    read(device.path(0), 0, 4096).unwrap();
    // Another folder, and another device.
    let other = tempfile::tempdir().unwrap();
    assert!(attachment_of(other.path(), device.path(0)).unwrap().is_none());
    let image = other.path().join("image");
    File::create(&image).unwrap().set_len(1 << 20).unwrap();
    if let Some(node) = run("losetup", &["-f", "--show", image.to_str().unwrap()]) {
        let attached = attachment_of(&device.state(), Path::new(&node));
        run("losetup", &["-d", &node]);
        assert!(attached.unwrap().is_none());
    }
    device.detach();
}

/// Power is cut while a file system is in use and comes back: synced data is present.
#[test]
fn a_device_without_power_fails_and_has_what_was_flushed_when_it_is_back() {
    let cuts = |request: &mut ServeRequest| {
        request.settings.power = Some(PowerRules { seed: 3, ..PowerRules::default() });
    };
    let Some(device) = Device::new(cuts) else { return };
    let (path, at) = (device.path(0).to_str().unwrap().to_owned(), device.folder.path().join("mnt"));
    std::fs::create_dir(&at).unwrap();
    run("mkfs.ext4", &["-q", &path]).unwrap();
    let mounted = Mounted::new(Path::new(&path), "ext4", &at).unwrap();
    let mut file = File::create(at.join("file")).unwrap();
    file.write_all(b"promised").unwrap();
    file.sync_all().unwrap();
    File::open(&at).unwrap().sync_all().unwrap();
    drop(file);
    let control = device.serving.facts().control.clone().unwrap();
    ask_server(&control, &ControlRequest::Cut).unwrap();
    assert!(File::create(at.join("late")).and_then(|file| file.sync_all()).is_err());
    // The file system would write its cache over the remaining data.
    let refused = ask_server(&control, &ControlRequest::PowerOn).unwrap_err();
    assert!(refused.kind() == ErrorKind::Refused && refused.what().en.contains("mounted on"), "{refused:?}");
    assert!(File::create(at.join("late")).and_then(|file| file.sync_all()).is_err());
    drop(mounted);
    assert!(read(Path::new(&path), 0, 4096).is_err());
    ask_server(&control, &ControlRequest::PowerOn).unwrap();
    run("sh", &["-c", &format!("e2fsck -fy {path}; [ $? -le 1 ]")]).unwrap();
    let mounted = Mounted::new(Path::new(&path), "ext4", &at).unwrap();
    assert_eq!(std::fs::read(at.join("file")).unwrap(), b"promised");
    // Detaching works without power, even before the failed writes are reported.
    std::fs::write(at.join("late"), b"late").unwrap();
    ask_server(&control, &ControlRequest::Cut).unwrap();
    drop(mounted);
    device.detach();
}

/// Large concurrent writes reach the model in order of arrival: this model copies a superblock of
/// 16 MiB if they do not.
#[test]
fn writes_in_flight_keep_their_order() {
    let ordered = |request: &mut ServeRequest| {
        request.spec = load_device("toshiba-hg2-agta0104").unwrap();
        ["host", "filesystem"].iter().for_each(|layer| request.spec.remove_layer(layer).unwrap());
    };
    let Some(device) = Device::new(ordered) else { return };
    let to = format!("of={}", device.path(0).to_str().unwrap());
    run("dd", &["if=/dev/zero", &to, "bs=32M", "count=2", "oflag=direct"]).unwrap();
    let figures = device.serving.figures().unwrap();
    assert!(figures.writes > 60, "{figures:?}");
    // 32 MiB at 180 MB/s take 186 ms. A piece waits for half of that, and later ones for less. Out
    // of order they took 488 ms.
    assert!(figures.lateness.mean_service_ns < 150e6, "{figures:?}");
    device.detach();
}

/// Not a test: a server that is killed while it waits for its own answer.
#[test]
fn part_wait_for_oneself() {
    let Some(folder) = std::env::var_os("KURABE_TEST_FOLDER") else { return };
    let mut spec = quick();
    spec.set("memory.access", "60s").unwrap();
    let address = Address::Devices { folder: folder.into(), by: AttachBy::Fuse };
    let serving =
        Serving::start(&ServeRequest { spec, address, ..request("ideal-ram-disk", Path::new("")) }).unwrap();
    std::io::stdout().write_all(b"\nserved\n").unwrap();
    let _ = read(&serving.facts().devices[0], 0, 4096);
}

/// The kernel does not end a process that waits for a file system as long as the process itself
/// serves it.
#[test]
fn a_killed_server_that_waits_for_itself_is_let_go_by_the_next_start() {
    if !can_attach() {
        skip(ATTACH);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("run");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "devices::part_wait_for_oneself", "--nocapture"])
        .env("KURABE_TEST_FOLDER", &state)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_deref().unwrap() == "served").unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    child.kill().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let waits = child.try_wait().unwrap().is_none();
    let cleaned = clean_attachments(&state);
    let left = attachments(&state);
    // Whatever happens, it must not remain.
    left.iter().for_each(|left| drop(run("umount", &["-f", "-l", left.join("disks").to_str().unwrap()])));
    eventually("the process has ended", || child.try_wait().unwrap().is_some());
    assert!(waits, "it waits for itself");
    assert_eq!(cleaned.unwrap().len(), 1);
    assert_eq!(left, [] as [PathBuf; 0]);
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(folder.path().to_str().unwrap()), "{mounts}");
}

/// A server that exits without detaching leaves nothing behind: users get errors.
#[test]
fn a_server_that_goes_takes_its_devices_with_it() {
    let Some(device) = Device::new(|_| {}) else { return };
    let (path, state) = (device.path(0).to_owned(), device.state());
    let node = File::open(&path).unwrap();
    let Device { serving, folder } = device;
    drop(serving);
    assert_eq!(attachments(&state), [] as [PathBuf; 0]);
    assert!(node.read_exact_at(&mut [0; 4096], 1 << 20).is_err());
    drop(node);
    eventually("the loop device is free", || !is_on(&path, &state));
    drop(folder);
}
