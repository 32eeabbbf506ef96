//! A file system that stops responding, so that its users hang in the kernel, and how kurabe deals
//! with it.
//!
//! A thread of the test serves a FUSE file system with files in its root folder. It discards
//! written bytes and reads zeros. When the file system hangs, requests are read but not answered,
//! so their callers cannot be killed until the file system is dropped. Request format:
//! linux/fuse.h, version 7.31.

use crate::lab::{ANOTHER_WISH, Lab, Live, names, text};
use crate::system::system;
use kurabe_testkit::needs::{ATTACH, MOUNT, skip};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::Signal;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Largest request: a write of 1 MiB with its header.
const REQUEST_BYTES: usize = (1 << 20) + 4096;
const IN_HEADER_BYTES: usize = 40;
/// The file system stops hanging after this time, so that the test fails rather than hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const FOLDER: u64 = 1;
const WRITE: u32 = 16;
/// Node number of the first file.
const FIRST: u64 = 2;

/// A FUSE file system that can stop responding.
struct Hung {
    point: PathBuf,
    hangs: Arc<AtomicBool>,
    most_written_bytes: Arc<AtomicU64>,
    let_go: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Hung {
    /// Mounts the file system. Returns `None` and prints the reason if that is not possible.
    fn mount_on(point: &Path, hangs_at_once: bool) -> Option<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(device) = rustix::fs::open("/dev/fuse", flags, Mode::empty()) else {
            skip(ATTACH);
            return None;
        };
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
        let options = CString::new(options).expect("no zero");
        if mount("hung", point, "fuse", MountFlags::empty(), options.as_c_str()).is_err() {
            skip(MOUNT);
            return None;
        }
        let (hangs, let_go) = (Arc::new(AtomicBool::new(hangs_at_once)), Arc::new(AtomicBool::new(false)));
        let (stopped, over) = (Arc::clone(&hangs), Arc::clone(&let_go));
        let most_written_bytes = Arc::new(AtomicU64::new(u64::MAX));
        let most = Arc::clone(&most_written_bytes);
        let server = std::thread::spawn(move || {
            serve(&device, &stopped, &most);
            let (hung, mut request) = (Instant::now(), vec![0; REQUEST_BYTES]);
            while !over.load(Ordering::SeqCst) && hung.elapsed() < PATIENCE {
                // There may be no request.
                let _ = rustix::io::read(&device, &mut request);
                std::thread::park_timeout(Duration::from_millis(1));
            }
            // Closing the device ends the requests.
            over.store(true, Ordering::SeqCst);
        });
        Some(Self { point: point.to_owned(), hangs, most_written_bytes, let_go, server: Some(server) })
    }

    /// Fails if pending requests have been released, which means that the storage no longer hangs.
    #[track_caller]
    fn still_hangs(&self) {
        assert!(!self.let_go.load(Ordering::SeqCst), "it waited for storage that hangs");
    }

    /// Stops responding once this many bytes were written in total.
    fn hang_after(&self, written_bytes: u64) {
        self.most_written_bytes.store(written_bytes, Ordering::SeqCst);
    }

    /// Stops responding from now on.
    fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.hang();
        self.let_go.store(true, Ordering::SeqCst);
        if let Some(server) = self.server.take() {
            server.join().expect("the server ends");
        }
        system("umount", &["-l", text(&self.point)]);
    }
}

/// Answers requests until the file system hangs.
fn serve(device: &OwnedFd, hangs: &AtomicBool, most_written_bytes: &AtomicU64) {
    let (mut request, mut files, mut written_bytes) = (vec![0; REQUEST_BYTES], Vec::new(), 0);
    while !hangs.load(Ordering::SeqCst) {
        match rustix::io::read(device, &mut request) {
            Ok(length) => {
                if let Some(answer) = answer(&request[..length], &mut files) {
                    // The caller may have exited.
                    let _ = rustix::io::write(device, &answer);
                }
                if u32_at(&request, 4) == WRITE {
                    written_bytes += u64::from(u32_at(&request, 56));
                    if written_bytes >= most_written_bytes.load(Ordering::SeqCst) {
                        return;
                    }
                }
            }
            Err(Errno::AGAIN | Errno::INTR | Errno::NOENT) => std::thread::sleep(Duration::from_micros(200)),
            Err(_) => return,
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

fn name_at(bytes: &[u8], at: usize) -> Vec<u8> {
    bytes[at..].split(|byte| *byte == 0).next().expect("a name").to_vec()
}

/// A file: its name, which is empty once it is removed, and its size.
type SunkFile = (Vec<u8>, u64);

/// Handles a request and returns the reply. Some requests have no reply.
fn answer(request: &[u8], files: &mut Vec<SunkFile>) -> Option<Vec<u8>> {
    const BODY: usize = IN_HEADER_BYTES;
    let (unique, node) = (u64_at(request, 8), u64_at(request, 16));
    let place = |name: Vec<u8>, files: &[SunkFile]| files.iter().position(|(other, _)| *other == name);
    let file = node.checked_sub(FIRST).map(|place| place as usize);
    let mut none = (Vec::new(), 0);
    let (_, size) = file.and_then(|place| files.get_mut(place)).unwrap_or(&mut none);
    let body = match u32_at(request, 4) {
        // LOOKUP
        1 => match place(name_at(request, BODY), files) {
            Some(place) => Ok(entry(place, files[place].1)),
            None => Err(Errno::NOENT),
        },
        // FORGET, INTERRUPT, BATCH_FORGET
        2 | 36 | 42 => return None,
        // GETATTR
        3 => Ok(attributes(node, *size)),
        // SETATTR: bit 3 of the first word sets the size
        4 => {
            if u32_at(request, BODY) & 8 != 0 {
                *size = u64_at(request, BODY + 16);
            }
            Ok(attributes(node, *size))
        }
        // UNLINK
        10 => {
            if let Some(place) = place(name_at(request, BODY), files) {
                files[place].0.clear();
            }
            Ok(Vec::new())
        }
        // OPEN, OPENDIR
        14 | 27 => Ok(vec![0; 16]),
        // READ
        15 => {
            Ok(vec![0; size.saturating_sub(u64_at(request, 48)).min(u64::from(u32_at(request, 56))) as usize])
        }
        WRITE => {
            let (at, length) = (u64_at(request, 48), u32_at(request, 56));
            *size = (*size).max(at + u64::from(length));
            Ok([length.to_ne_bytes(), [0; 4]].concat())
        }
        // STATFS: 1 GiB, all of it free
        17 => {
            let mut facts = [1u64 << 18; 5].map(u64::to_ne_bytes).concat();
            facts.extend([4096u32, 255, 4096, 0].map(u32::to_ne_bytes).concat());
            Ok([facts, vec![0; 24]].concat())
        }
        // RELEASE, FSYNC, READDIR, RELEASEDIR
        18 | 20 | 28 | 29 => Ok(Vec::new()),
        // INIT: version 7.31, writes of 1 MiB
        26 => {
            let mut words = vec![7u32, 31, 0, 0, 0, 1 << 20, 1];
            words.resize(16, 0);
            Ok(words.into_iter().flat_map(u32::to_ne_bytes).collect())
        }
        // CREATE
        35 => {
            files.push((name_at(request, BODY + 16), 0));
            Ok([entry(files.len() - 1, 0), vec![0; 16]].concat())
        }
        // FLUSH among them: if it were supported, no process could exit before the reply.
        _ => Err(Errno::NOSYS),
    };
    let (error, body) = body.map_or_else(|error| (-error.raw_os_error(), Vec::new()), |body| (0, body));
    let length = 16 + body.len() as u32;
    Some([&length.to_ne_bytes()[..], &error.to_ne_bytes(), &unique.to_ne_bytes(), &body].concat())
}

/// Returns a `fuse_attr_out` that is never cached.
fn attributes(node: u64, size: u64) -> Vec<u8> {
    [vec![0; 16], facts_of(node, size)].concat()
}

/// Returns the `fuse_entry_out` of a file.
fn entry(place: usize, size: u64) -> Vec<u8> {
    let node = FIRST + place as u64;
    let mut answer = node.to_ne_bytes().to_vec();
    answer.resize(40, 0);
    [answer, facts_of(node, size)].concat()
}

fn facts_of(node: u64, size: u64) -> Vec<u8> {
    let (mode, links) = if node == FOLDER { (0o040_755u32, 2) } else { (0o100_600, 1) };
    let long = [node, size, size.div_ceil(512), 0, 0, 0].map(u64::to_ne_bytes).concat();
    let short = [0, 0, 0, mode, links, 0, 0, 0, 4096, 0].map(u32::to_ne_bytes).concat();
    [long, short].concat()
}

/// Runs on storage that stops responding during the measurement, and sends both signals to end the
/// run.
fn ends_although_storage_hangs(engine: &str, signals: [Signal; 2], code: i32) {
    let lab = Lab::new();
    let Some(storage) = Hung::mount_on(&lab.target(), false) else { return };
    let words = ["--rw", "randread", "--engine", engine, "--iodepth", "4", "--size", "4m", "--time", "50s"];
    let mut live = lab.start(&lab.target(), &words);
    live.wait_for_out("\"event\":\"progress\"");
    let pid = live.worker_pid().as_raw_nonzero();
    storage.hang();
    live.signal(signals[0]);
    live.wait_for_err("interrupt again to exit immediately");
    std::thread::sleep(ANOTHER_WISH);
    live.signal(signals[1]);
    let ended = live.end();
    storage.still_hangs();
    assert!(PathBuf::from(format!("/proc/{pid}")).exists(), "nothing hung");
    let process = format!("process {pid} remains until it does");
    assert!(ended.err.contains(&process), "{ended:#?}");
    assert_eq!(ended.code(), Some(code), "{ended:#?}");
    assert!(!ended.out.contains("\"event\":\"run_done\""), "{ended:#?}");
}

#[test]
#[ignore = "slow"]
fn a_second_signal_ends_threads_that_hang_in_the_kernel() {
    ends_although_storage_hangs("threads", [Signal::INT, Signal::INT], 130);
    ends_although_storage_hangs("threads", [Signal::INT, Signal::TERM], 143);
}

#[test]
fn a_second_signal_ends_a_ring_whose_operations_hang_in_the_kernel() {
    ends_although_storage_hangs("uring", [Signal::TERM, Signal::INT], 130);
}

#[test]
fn one_signal_ends_a_sync_that_hangs_in_the_kernel() {
    let lab = Lab::new();
    let Some(storage) = Hung::mount_on(&lab.target(), false) else { return };
    let file = lab.target().join("file");
    std::fs::File::create(&file).and_then(|file| file.set_len(4 << 20)).expect("a file");
    storage.hang_after(4 << 20);
    let words = ["--rw", "write", "--bs", "1m", "--passes", "1", "--size", "4m", "--runs", "1"];
    let more = ["--buffered", "--write-existing", "--engine", "threads", "--iodepth", "1"];
    let mut live = lab.start(&file, &[&words[..], &more].concat());
    live.wait_for_out("writing back");
    live.signal(Signal::INT);
    let ended = live.end();
    storage.still_hangs();
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    assert!(!ended.out.contains("\"event\":\"repetition_done\""), "{ended:#?}");
}

#[test]
fn a_second_signal_is_heard_although_nobody_reads_what_is_said() {
    use std::process::Stdio;
    let lab = Lab::new();
    let Some(storage) = Hung::mount_on(&lab.target(), false) else { return };
    let (reader, writer) = std::io::pipe().expect("a pipe");
    // The pipe is full, so every write to it blocks.
    rustix::io::ioctl_fionbio(&writer, true).expect("a pipe");
    while rustix::io::write(&writer, &[b'.'; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).expect("a pipe");
    let target = lab.target();
    let words = ["run", text(&target), "--quiet", "--rw", "randread", "--size", "4m", "--time", "50s"];
    let mut child = lab.command(&words).stderr(writer).stdout(Stdio::null()).spawn().expect("kurabe");
    let pid = rustix::process::Pid::from_child(&child);
    while !names_in_store(&lab) {
        std::thread::sleep(Duration::from_millis(20));
    }
    storage.hang();
    for signal in [Signal::INT, Signal::TERM] {
        rustix::process::kill_process(pid, signal).expect("a signal is sent");
        std::thread::sleep(ANOTHER_WISH);
    }
    let status = wait(&mut child);
    storage.still_hangs();
    assert_eq!(status.and_then(|status| status.code()), Some(143));
    drop(reader);
}

fn names_in_store(lab: &Lab) -> bool {
    let listed = lab.kurabe(&["list", "--json"]);
    listed.out.contains("\"status\":\"running\"") && listed.out.contains("\"target\":\"/")
}

/// Returns the exit status of a child that must exit without further signals.
fn wait(child: &mut std::process::Child) -> Option<std::process::ExitStatus> {
    for _ in 0..PATIENCE.as_millis() / 20 {
        if let Some(status) = child.try_wait().expect("a status") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    None
}

#[test]
#[ignore = "slow"]
fn what_a_killed_run_left_on_storage_that_hangs_keeps_no_command_waiting() {
    let lab = Lab::new();
    let words = ["--rw", "randread", "--size", "4m", "--time", "50s"];
    let mut live: Live = lab.start(&lab.target(), &words);
    live.wait_for_out("\"event\":\"progress\"");
    live.signal(Signal::KILL);
    live.end();
    let test_file = lab.target().join(names(&lab.target()).remove(0));
    {
        let Some(storage) = Hung::mount_on(&lab.target(), true) else { return };
        let listed = lab.kurabe(&["list"]).ok();
        let answer = format!("{} did not respond within 2 s", text(&test_file));
        assert!(listed.err.contains(&answer), "{listed:#?}");
        // Another command reports the same, and measures elsewhere.
        let elsewhere = lab.beside("elsewhere");
        std::fs::create_dir(&elsewhere).expect("a directory");
        let ran = lab.run(&elsewhere, &crate::lab::ONE_CELL).ok();
        assert!(ran.err.contains(&answer), "{ran:#?}");
        storage.still_hangs();
    }
    assert!(test_file.exists());
    let listed = lab.kurabe(&["list"]).ok();
    assert!(!test_file.exists() && listed.err.contains(text(&test_file)), "{listed:#?}");
}
