//! Repeated power cuts of a modelled disk with a real ext4, and a real SQLite on it: promised data
//! is present after each cut, and is lost if the disk lies about flushes.
//!
//! `KURABE_CUTS=1000` turns it into a campaign. A life begins with the file system that the
//! previous one left. Promises are made until power is cut during the next one, the kernel replays
//! its journal, every promise is checked, and e2fsck must find nothing to repair.

mod files;
mod rows;

use crate::client::request;
use crate::machine::{Mounted, can_attach, run};
use files::Files;
use kurabe_core::random::Random;
use kurabe_serve::{
    Address, AttachBy, ControlRequest, CutReport, DeviceFault, PowerRules, ServeRequest, Serving, ask_server,
    read_answer,
};
use kurabe_testkit::needs::{ATTACH, needs, skip};
use rows::Rows;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Cuts in a normal test run.
const USUAL_CUTS: u64 = 4;
/// Cuts after which a disk that lies must have been detected. A cut loses a random half of what is
/// at stake, so fewer are enough.
const MOST_LIES: u64 = 20;
/// Most promises of a life, and the longest time from the last of them to the cut.
const MOST_PROMISES: u64 = 12;
const MOST_DELAY_US: u64 = 30_000;
/// Writes without a promise: their size, and the number of places in their file.
const UNFLUSHED_BYTES: usize = 16 << 10;
const UNFLUSHED_PLACES: u64 = 256;
/// Pause between them, because a flush has to write what came since the last one.
const UNFLUSHED_PAUSE: Duration = Duration::from_millis(5);

/// Makes promises on a file system, and checks them.
trait Work: Send {
    /// Makes promises until that fails, and calls `promised` after each. Returns why it failed.
    fn promise(&mut self, folder: &Path, promised: &mut dyn FnMut()) -> String;
    /// Returns the first promise that is broken.
    fn broken(&mut self, folder: &Path) -> Option<String>;
}

/// An attached disk whose power can be cut.
struct Disk {
    serving: Serving,
    folder: TempDir,
}

impl Disk {
    fn attach(rules: PowerRules, faults: Vec<DeviceFault>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mnt")).unwrap();
        let mut request = ServeRequest {
            address: Address::Devices { folder: folder.path().join("run"), by: AttachBy::Fuse },
            ..request("hitachi-hds721616plat80", Path::new(""))
        };
        (request.settings.power, request.settings.faults) = (Some(rules), faults);
        let disk = Self { serving: Serving::start(&request).unwrap(), folder };
        disk.make_file_system();
        disk
    }

    fn device(&self) -> &Path {
        &self.serving.facts().devices[0]
    }

    fn point(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }

    fn make_file_system(&self) {
        let words = ["-q", "-F", "-E", "nodiscard", self.device().to_str().unwrap(), "64m"];
        run("mkfs.ext4", &words).expect("a file system");
    }

    fn ask(&self, request: &ControlRequest) -> serde_json::Value {
        ask_server(self.serving.facts().control.as_deref().unwrap(), request).unwrap()
    }

    /// Makes promises, and cuts power after some of them.
    fn live(&self, work: &mut dyn Work, random: &mut Random) -> CutReport {
        let (promises, delay_us) = (1 + random.below(MOST_PROMISES), random.below(MOST_DELAY_US));
        let point = self.point();
        let mounted = Mounted::new(self.device(), "ext4", &point).unwrap();
        let (sender, promised) = channel();
        let cut = std::thread::scope(|scope| {
            scope.spawn(|| {
                let sender = sender;
                let why = work.promise(&point, &mut || {
                    let _ = sender.send(Ok(()));
                });
                // Nothing may fail before the cut.
                let _ = sender.send(Err(why));
            });
            let noise = Random::new(random.bits(), 0);
            scope.spawn(|| write_unflushed(&point, noise));
            for _ in 0..promises {
                promised.recv_timeout(Duration::from_secs(60)).expect("a promise in time").unwrap();
            }
            std::thread::sleep(Duration::from_micros(delay_us));
            self.ask(&ControlRequest::Cut)
        });
        drop(mounted);
        read_answer(cut).unwrap()
    }

    /// Reboots, and returns the first broken promise.
    fn broken(&self, work: &mut dyn Work) -> Option<String> {
        self.ask(&ControlRequest::PowerOn);
        let point = self.point();
        let mounted = match Mounted::new(self.device(), "ext4", &point) {
            Err(error) => return Some(format!("it cannot be mounted: {error}")),
            Ok(mounted) => mounted,
        };
        let broken = work.broken(&point);
        drop(mounted);
        let look = Command::new("e2fsck").arg("-fn").arg(self.device()).output().unwrap();
        broken
            .or_else(|| (!look.status.success()).then(|| String::from_utf8_lossy(&look.stdout).into_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let detached = self.serving.detach(|_, _| {});
        self.serving.end();
        let ended = self.serving.wait();
        if !std::thread::panicking() {
            detached.and(ended.map(|_| ())).unwrap();
        }
    }
}

/// Writes past the page cache without promises, so that the disk's cache has more to lose.
fn write_unflushed(folder: &Path, mut random: Random) {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).custom_flags(libc::O_DIRECT);
    let Ok(file) = file.open(folder.join("unflushed")) else { return };
    let memory = vec![random.bits() as u8; 2 * UNFLUSHED_BYTES];
    let from = memory.as_ptr().align_offset(UNFLUSHED_BYTES);
    let place = |random: &mut Random| random.below(UNFLUSHED_PLACES) * UNFLUSHED_BYTES as u64;
    while file.write_all_at(&memory[from..from + UNFLUSHED_BYTES], place(&mut random)).is_ok() {
        std::thread::sleep(UNFLUSHED_PAUSE);
    }
}

/// Result of a campaign.
#[derive(Debug, Default)]
struct Campaign {
    cuts: u64,
    /// Cuts that lost data.
    harmful: u64,
    sectors_at_stake: u64,
    sectors_lost: u64,
    /// Cuts that broke a promise.
    breaches: u64,
}

impl Campaign {
    fn add(&mut self, cut: &CutReport, broken: bool) {
        self.cuts += 1;
        self.harmful += u64::from(cut.sectors_lost > 0);
        self.sectors_at_stake += cut.sectors_at_stake;
        self.sectors_lost += cut.sectors_lost;
        self.breaches += u64::from(broken);
    }
}

/// Runs a campaign; half of the cuts may tear writes.
fn campaign<W: Work>(name: &str, begin: fn(Random) -> W, cuts: u64) {
    let started = Instant::now();
    let mut honest = Campaign::default();
    for (torn, cuts) in [(false, cuts - cuts / 2), (true, cuts / 2)] {
        let seed = 1 + u64::from(torn);
        let disk = Disk::attach(PowerRules { seed, torn, ..PowerRules::default() }, Vec::new());
        let (mut random, mut work) = (Random::new(seed, 1), begin(Random::new(seed, 2)));
        for number in 0..cuts {
            let cut = disk.live(&mut work, &mut random);
            let broken = disk.broken(&mut work);
            assert_eq!(broken, None, "{name}: cut {number}, torn: {torn}: {cut:?}");
            honest.add(&cut, false);
        }
    }
    eprintln!("{name}: {honest:?}, {:.0} s", started.elapsed().as_secs_f64());
    assert!(honest.sectors_lost > 0, "no cut took anything");
}

/// The negative control. A broken file system is not used any further.
fn lies<W: Work>(name: &str, begin: fn(Random) -> W, cuts: u64) {
    let rules = PowerRules { seed: 3, ..PowerRules::default() };
    let disk = Disk::attach(rules, vec![DeviceFault::parse("lie-about-flush").unwrap()]);
    let mut random = Random::new(3, 1);
    let mut lying = Campaign::default();
    for number in 0..MOST_LIES.max(cuts / 10) {
        disk.make_file_system();
        let mut work = begin(Random::new(3, 2 + number));
        let cut = disk.live(&mut work, &mut random);
        lying.add(&cut, disk.broken(&mut work).is_some());
        if cuts <= USUAL_CUTS && lying.breaches > 0 {
            break;
        }
    }
    eprintln!("{name}, on a disk that lies: {lying:?}");
    assert!(lying.breaches > 0, "{lying:?}");
}

/// Returns the number of cuts, or `None` with a printed reason if the test cannot run.
fn cuts(programs: &[&str]) -> Option<u64> {
    if !programs.iter().all(|program| needs(program)) {
        return None;
    }
    if !can_attach() {
        skip(ATTACH);
        return None;
    }
    Some(std::env::var("KURABE_CUTS").map_or(USUAL_CUTS, |cuts| cuts.parse().expect("a number of cuts")))
}

#[test]
fn what_fsync_promised_is_there_after_a_cut_and_not_if_the_disk_lies() {
    let Some(cuts) = cuts(&["mkfs.ext4", "e2fsck"]) else { return };
    campaign("ext4", Files::new, cuts);
    lies("ext4", Files::new, cuts);
}

#[test]
fn what_sqlite_committed_is_there_after_a_cut_and_not_if_the_disk_lies() {
    let Some(cuts) = cuts(&["mkfs.ext4", "e2fsck", "sqlite3"]) else { return };
    campaign("SQLite", Rows::new, cuts);
    lies("SQLite", Rows::new, cuts);
}
