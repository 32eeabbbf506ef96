//! A real ext4 on a modelled disk whose power is cut, by nbdfuse and a loop device, and SQLite on it: what fsync and a commit
//! promised is there.

use crate::client::{Server, eventually, request};
use kurabe_serve::{ControlRequest, PowerRules, Serving, ask_server};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;

/// Bytes of each file.
const FILE_BYTES: usize = 8192;

fn run(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new("timeout").arg("60").arg(program).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Why it cannot be done here.
fn missing() -> Option<&'static str> {
    let programs = ["nbdfuse", "losetup", "mkfs.ext4", "e2fsck", "mount"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    programs.into_iter().find(|program| !folders.iter().any(|folder| folder.join(program).exists())).or_else(
        || {
            let is_root = std::fs::metadata("/proc/self")
                .is_ok_and(|facts| std::os::unix::fs::MetadataExt::uid(&facts) == 0);
            if !is_root {
                return Some("root");
            }
            File::options().read(true).write(true).open("/dev/fuse").is_err().then_some("/dev/fuse")
        },
    )
}

/// A served disk as a loop device; it goes with the value.
struct Attached {
    fuse: PathBuf,
    nbdfuse: Child,
    device: String,
}

impl Attached {
    fn new(server: &Server, name: &str) -> Option<Self> {
        let fuse = server.folder.path().join(name);
        std::fs::create_dir(&fuse).unwrap();
        let disk = fuse.join("disk");
        let mut nbdfuse = Command::new("nbdfuse");
        nbdfuse
            .arg(&disk)
            .arg(server.serving.facts().uri.as_deref().unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let nbdfuse = nbdfuse.spawn().ok()?;
        let mut attached = Self { fuse, nbdfuse, device: String::new() };
        eventually("the disk is there or cannot be", || {
            disk.exists() || attached.nbdfuse.try_wait().is_ok_and(|ended| ended.is_some())
        });
        attached.device = run("losetup", &["--show", "--find", disk.to_str().unwrap()])?;
        Some(attached)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if !self.device.is_empty() {
            run("losetup", &["--detach", &self.device]);
            // The last user lets go of it a moment later.
            eventually("the loop device is free", || run("losetup", &[&self.device]).is_none());
        }
        run("umount", &[self.fuse.to_str().unwrap()]);
        let _ = self.nbdfuse.wait();
    }
}

/// A mount that goes with the value.
struct Mounted<'p>(&'p Path);

impl<'p> Mounted<'p> {
    fn new(device: &str, at: &'p Path) -> Option<Self> {
        run("mount", &[device, at.to_str().unwrap()]).map(|_| Self(at))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        run("umount", &[self.0.to_str().unwrap()]);
    }
}

fn write_file(folder: &Path, number: usize) -> std::io::Result<()> {
    let mut file = File::create(folder.join(number.to_string()))?;
    file.write_all(&vec![number as u8 + 1; FILE_BYTES])?;
    file.sync_all()?;
    // The name as well.
    File::open(folder)?.sync_all()
}

fn is_whole(folder: &Path, number: usize) -> bool {
    std::fs::read(folder.join(number.to_string()))
        .is_ok_and(|bytes| bytes == vec![number as u8 + 1; FILE_BYTES])
}

/// What is promised one by one: how it is made to last, and whether it is there.
#[derive(Clone, Copy)]
struct Work {
    promise: fn(&Path, usize) -> std::io::Result<()>,
    is_kept: fn(&Path, usize) -> bool,
}

const FILES: Work = Work { promise: write_file, is_kept: is_whole };
const ROWS: Work = Work { promise: insert_row, is_kept: has_row };

fn sqlite(folder: &Path, words: &str) -> Option<String> {
    run("sqlite3", &["-batch", folder.join("db").to_str().unwrap(), words])
}

fn insert_row(folder: &Path, number: usize) -> std::io::Result<()> {
    let words = format!(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS rows (number); INSERT INTO rows VALUES ({number});"
    );
    sqlite(folder, &words).map(|_| ()).ok_or_else(|| std::io::ErrorKind::Other.into())
}

fn has_row(folder: &Path, number: usize) -> bool {
    let words = format!("PRAGMA integrity_check; SELECT count(*) FROM rows WHERE number = {number};");
    sqlite(folder, &words).as_deref() == Some("ok\n1")
}

/// Works until the power goes; how much of what was promised is not there afterwards, all if the file system
/// is not. Nothing if it cannot be tried here.
fn lost_after_cut(work: Work, seed: u64, lies: bool) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let mut request = request("hitachi-hds721616plat80", &socket);
    request.power = Some(PowerRules { seed, lies_about_flush: lies, ..PowerRules::default() });
    let server = Server { serving: Serving::start(&request).unwrap(), socket, folder };
    let at = server.folder.path().join("mnt");
    std::fs::create_dir(&at).unwrap();
    let files = 10 + seed as usize * 3;
    {
        let attached = Attached::new(&server, "before")?;
        run("mkfs.ext4", &["-q", "-E", "nodiscard", &attached.device, "64m"])?;
        let mounted = Mounted::new(&attached.device, &at)?;
        let (sender, synced) = channel();
        let writing = at.clone();
        let writer = std::thread::spawn(move || {
            (0..200).take_while(|number| (work.promise)(&writing, *number).is_ok()).for_each(|number| {
                let _ = sender.send(number);
            });
        });
        // The cut comes in the midst of the next file.
        (0..files).for_each(|number| assert_eq!(synced.recv().unwrap(), number));
        let control = PathBuf::from(format!("{}.control", server.socket.display()));
        ask_server(&control, &ControlRequest::Cut).unwrap();
        writer.join().unwrap();
        drop(mounted);
    }
    let attached = Attached::new(&server, "after")?;
    // It replays the journal; a second look must find nothing to mend.
    run("sh", &["-c", &format!("e2fsck -fy {}; [ $? -le 1 ]", attached.device)]);
    if run("e2fsck", &["-fn", &attached.device]).is_none() {
        return Some(files);
    }
    let Some(_mounted) = Mounted::new(&attached.device, &at) else { return Some(files) };
    Some((0..files).filter(|number| !(work.is_kept)(&at, *number)).count())
}

#[test]
fn what_fsync_promised_is_there_after_a_cut_and_not_if_the_disk_lies() {
    if let Some(what) = missing() {
        eprintln!("skipped: {what} is not there");
        return;
    }
    for seed in 0..3 {
        let Some(lost) = lost_after_cut(FILES, seed, false) else {
            eprintln!("skipped: FUSE, loop devices or mounts are not allowed here");
            return;
        };
        assert_eq!(lost, 0, "seed {seed}");
    }
    // The negative control: the same check finds loss where there is some.
    assert!((0..4).any(|seed| lost_after_cut(FILES, seed, true).unwrap() > 0));
}

#[test]
fn what_sqlite_committed_is_there_after_a_cut_and_not_if_the_disk_lies() {
    if let Some(what) = missing().or_else(|| run("sqlite3", &["--version"]).is_none().then_some("sqlite3")) {
        eprintln!("skipped: {what} is not there");
        return;
    }
    for seed in 0..2 {
        let Some(lost) = lost_after_cut(ROWS, seed, false) else {
            eprintln!("skipped: FUSE, loop devices or mounts are not allowed here");
            return;
        };
        assert_eq!(lost, 0, "seed {seed}");
    }
    assert!((0..4).any(|seed| lost_after_cut(ROWS, seed, true).unwrap() > 0));
}
