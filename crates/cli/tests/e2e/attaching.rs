//! `kurabe attach` and `kurabe detach`: a device that is attached, used, detached, and left by a
//! kill. No other device is touched.

use crate::lab::{ANOTHER_WISH, Ended, Lab, Live, list_of, names, notices, number, text};
use crate::system::{AS_NOBODY, LoopDevice, Mount, can_be_nobody, making_loop_devices, system};
use kurabe_testkit::needs::{ATTACH, needs, skip};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub const DISK: [&str; 3] = ["model:ideal-ram-disk", "--set", "memory.capacity=1GiB"];
/// Longer than anything that the tests wait for.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// An attached device. It is removed by force if it still exists on drop.
pub struct Device<'l> {
    lab: &'l Lab,
    paths: Vec<PathBuf>,
    process: Pid,
    err: String,
}

/// Returns whether this machine has everything that attaching needs; otherwise reports the skipped
/// test.
pub fn can_attach() -> bool {
    let opens = |path: &str| OpenOptions::new().read(true).write(true).open(path).is_ok();
    let can =
        opens("/dev/fuse") && opens("/dev/loop-control") && system("unshare", &["--mount", "true"]).is_some();
    if !can {
        skip(ATTACH);
    }
    can
}

impl<'l> Device<'l> {
    pub fn attach(lab: &'l Lab, words: &[&str]) -> Option<Self> {
        can_attach().then(|| Self::another(lab, words))
    }

    /// Attaches a second device while the first one exists.
    fn another(lab: &'l Lab, words: &[&str]) -> Self {
        // Uses FUSE and loop devices even if nbd devices are available.
        let making = making_loop_devices();
        let ended = lab.kurabe(&[&["--json", "attach", "--by", "fuse"][..], words].concat()).ok();
        drop(making);
        let attached = ended.json_lines().remove(0);
        assert_eq!(attached["event"], "attached");
        let name = |name: &Value| PathBuf::from(name.as_str().unwrap());
        let paths = attached["devices"].as_array().unwrap().iter().map(name).collect();
        let process = Pid::from_raw(attached["process"].as_i64().unwrap() as i32).unwrap();
        Self { lab, paths, process, err: ended.err }
    }

    pub fn path(&self) -> &Path {
        &self.paths[0]
    }

    pub fn detach(&self) -> Ended {
        self.lab.kurabe(&["detach", text(self.path())])
    }

    fn lives(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.as_raw_nonzero()));
        // The process that adopts an orphan may take a while to reap it.
        test_kill_process(self.process).is_ok() && stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    fn kill(&self) {
        kill_process(self.process, Signal::KILL).unwrap();
        eventually("it is dead", || !self.lives());
    }

    /// Creates an ext4 file system on the device and mounts it.
    fn mount(&self) -> Mount {
        system("mkfs.ext4", &["-q", text(self.path())]).expect("a file system");
        self.mount_again()
    }

    fn mount_again(&self) -> Mount {
        Mount::new("ext4", text(self.path()), "rw", &self.lab.beside("mnt")).expect("a mount")
    }

    /// Checks that the process, its mounts, loop devices and state are gone.
    fn is_gone(&self) {
        eventually("the process is gone", || !self.lives());
        assert_eq!(attachments(self.lab), [] as [String; 0]);
        assert!(!mounts().contains(text(&self.lab.beside("run"))), "{}", mounts());
        for path in &self.paths {
            let file = backing_file(path);
            assert!(!file.as_deref().is_some_and(|file| is_of(self.lab, file)), "{path:?}: {file:?}");
        }
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        if self.lives() {
            let _ = kill_process(self.process, Signal::KILL);
            eventually("it is dead", || !self.lives());
        }
        self.lab.kurabe(&["detach", text(self.path())]);
    }
}

pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIME_LIMIT, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn mounts() -> String {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap()
}

/// Returns the folders of attachments, without the lock, the log and the servers' notes next to
/// them.
pub fn attachments(lab: &Lab) -> Vec<String> {
    names(&lab.beside("run")).into_iter().filter(|name| name.len() == 16).collect()
}

fn backing_file(device: &Path) -> Option<String> {
    let place = Path::new("/sys/block").join(device.file_name().unwrap()).join("loop/backing_file");
    std::fs::read_to_string(place).ok().map(|file| file.trim().to_owned())
}

fn is_of(lab: &Lab, file: &str) -> bool {
    Path::new(file).starts_with(lab.beside("run")) || file.starts_with("/disk")
}

fn log(lab: &Lab) -> String {
    std::fs::read_to_string(lab.beside("run/attach.log")).unwrap_or_default()
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[test]
fn a_device_is_used_and_taken_away_with_all_that_is_its() {
    let lab = Lab::new();
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    let mount = device.mount();
    write_synced(&mount.point().join("file"), &[7; 100_000]).unwrap();
    let stats = lab.kurabe(&["control", text(device.path()), "stats"]).ok().out;
    assert!(stats.contains("writes") && !stats.contains(" 0 writes"), "{stats}");
    // A device in use stays attached and usable.
    device.detach().is_refusal(6, &["mounted on", "umount"]);
    assert_eq!(std::fs::read(mount.point().join("file")).unwrap(), [7; 100_000]);
    assert!(device.lives());
    drop(mount);
    let detached = device.detach().ok().out;
    assert!(detached.contains(text(device.path())) && detached.contains("in time"), "{detached}");
    device.is_gone();
    assert!(log(&lab).contains("\"event\":\"served\""), "{}", log(&lab));
    device.detach().is_refusal(6, &["kurabe attach"]);
}

#[test]
fn scripts_get_the_name_and_people_the_rest() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let making = making_loop_devices();
    let ended = lab.kurabe(&[&["attach", "--by", "fuse"][..], &DISK].concat()).ok();
    drop(making);
    let path = ended.out.trim().to_owned();
    assert!(path.starts_with("/dev/loop") && !path.contains('\n'), "{ended:?}");
    assert!(
        ended.err.contains(&format!("kurabe detach {path}")) && ended.err.contains("attach.log"),
        "{ended:?}"
    );
    assert!(log(&lab).contains(&path), "{}", log(&lab));
    lab.kurabe(&["detach", &path]).ok();
}

#[test]
fn a_log_that_has_become_long_is_put_aside() {
    let lab = Lab::new();
    let before = "an old line\n".repeat(30_000);
    std::fs::DirBuilder::new().mode(0o700).create(lab.beside("run")).unwrap();
    lab.write("run/attach.log", &before);
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    device.detach().ok();
    assert!(log(&lab).contains("served") && !log(&lab).contains("an old line"), "{}", log(&lab));
    assert_eq!(std::fs::read_to_string(lab.beside("run/attach.log.1")).unwrap(), before);
}

/// By the next attachment, by the next server, and by a detach.
#[test]
#[ignore = "slow"]
fn what_a_kill_left_is_removed_by_the_next_start_and_nothing_else_is() {
    let lab = Lab::new();
    let Some(other) = LoopDevice::new(1 << 20) else { return };
    for next in ["attach", "serve", "detach"] {
        if !can_attach() {
            return;
        }
        let device = Device::another(&lab, &DISK);
        let living = Device::another(&lab, &DISK);
        std::fs::write(device.path(), [3; 4096]).unwrap();
        device.kill();
        assert_eq!(attachments(&lab).len(), 2);
        assert!(backing_file(device.path()).is_some());
        match next {
            "attach" => {
                let again = Device::another(&lab, &DISK);
                again.detach().ok();
            }
            "serve" => {
                let words = [&["serve"][..], &DISK, &["--socket", "s.sock"]].concat();
                let mut live = Live::start(lab.command(&words));
                live.wait_for_out("Ctrl-C ends it");
                live.signal(Signal::INT);
                live.end().ok();
            }
            _ => {
                let out = device.detach().ok().out;
                assert!(out.contains("killed"), "{out}");
            }
        }
        // The attachment that is still running stays, and so does an unrelated device.
        assert_eq!(attachments(&lab).len(), 1, "{next}");
        assert!(living.lives());
        let living_file = backing_file(living.path());
        assert!(living_file.is_some_and(|file| is_of(&lab, &file)));
        std::fs::write(living.path(), [4; 4096]).unwrap();
        assert!(backing_file(other.node()).is_some());
        living.detach().ok();
        device.is_gone();
        living.is_gone();
    }
}

#[test]
fn a_killed_device_that_is_mounted_goes_when_it_is_unmounted() {
    let lab = Lab::new();
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    let mount = device.mount();
    device.kill();
    // No process hangs; users of the device get errors.
    assert!(write_synced(&mount.point().join("late"), &[1; 4096]).is_err());
    device.detach().ok();
    assert_eq!(attachments(&lab), [] as [String; 0]);
    drop(mount);
    eventually("the loop device is free", || {
        !backing_file(device.path()).is_some_and(|file| is_of(&lab, &file))
    });
    device.is_gone();
}

#[test]
fn a_device_that_is_not_ours_is_refused_and_kept() {
    let lab = Lab::new();
    let Some(other) = LoopDevice::new(1 << 20) else { return };
    lab.kurabe(&["detach", text(other.node())]).is_refusal(6, &["kurabe attach", "losetup"]);
    lab.kurabe(&["control", text(other.node()), "stats"]).is_refusal(6, &["kurabe attach"]);
    assert!(backing_file(other.node()).is_some());
    lab.kurabe(&["detach", text(&lab.beside("nothing"))]).is_refusal(4, &["nothing"]);
}

/// Data flushed before is in the file, and the next device shows it again.
#[test]
fn a_signal_waits_for_the_file_system_and_loses_nothing() {
    let lab = Lab::new();
    let data = format!("file:{}", text(&lab.beside("disk.img")));
    let words = [&DISK[..], &["--data", &data]].concat();
    let Some(device) = Device::attach(&lab, &words) else { return };
    let mount = device.mount();
    kill_process(device.process, Signal::TERM).unwrap();
    eventually("it says what it waits for", || log(&lab).contains("mounted on"));
    // The file was not synced; unmounting writes it.
    std::fs::write(mount.point().join("file"), [9; 50_000]).unwrap();
    assert!(device.lives());
    drop(mount);
    device.is_gone();
    let again = Device::another(&lab, &words);
    let mount = again.mount_again();
    assert_eq!(std::fs::read(mount.point().join("file")).unwrap(), [9; 50_000]);
    drop(mount);
    again.detach().ok();
    again.is_gone();
}

#[test]
fn a_second_signal_ends_at_once_and_the_next_start_cleans_up() {
    let lab = Lab::new();
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    let mount = device.mount();
    kill_process(device.process, Signal::TERM).unwrap();
    eventually("it says what it waits for", || log(&lab).contains("mounted on"));
    // As `timeout` does: one signal to the process and one to its group.
    kill_process(device.process, Signal::TERM).unwrap();
    std::thread::sleep(ANOTHER_WISH);
    assert!(device.lives());
    kill_process(device.process, Signal::TERM).unwrap();
    eventually("it is dead", || !device.lives());
    assert!(write_synced(&mount.point().join("late"), &[1; 4096]).is_err());
    drop(mount);
    Device::another(&lab, &DISK).detach().ok();
    device.is_gone();
}

#[test]
#[ignore = "slow"]
fn several_disks_of_a_box_go_together() {
    let lab = Lab::new();
    let words = ["model:mirror3-usb", "--without", "zfs,mirror", "--exports", "3"];
    let Some(device) = Device::attach(&lab, &words) else { return };
    assert_eq!(device.paths.len(), 3);
    assert!(device.err.is_empty() && log(&lab).contains("3 disks of mirror3-usb, "), "{}", log(&lab));
    let mount = Device::mount(&device);
    let third = text(&device.paths[2]);
    lab.kurabe(&["detach", third]).is_refusal(6, &["mounted on"]);
    drop(mount);
    lab.kurabe(&["detach", third]).ok();
    device.is_gone();
}

#[test]
fn a_device_of_another_mount_name_space_is_taken_away_as_well() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let words = [&["attach", "--by", "fuse"][..], &DISK].concat();
    let making = making_loop_devices();
    let path = Live::start(lab.wrapped(&["unshare", "--mount"], &words)).end().ok().out.trim().to_owned();
    drop(making);
    assert!(!mounts().contains(text(&lab.beside("run"))), "{}", mounts());
    let detached = lab.kurabe(&["detach", &path]).ok().out;
    assert!(detached.contains("in time") || detached.contains("served"), "{detached}");
    assert_eq!(attachments(&lab), [] as [String; 0]);
}

#[test]
fn in_the_foreground_it_ends_with_a_signal() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    for signal in [Signal::INT, Signal::HUP] {
        let record = lab.beside(&format!("{}.json", signal.as_raw()));
        let words = [&["attach", "--foreground", "--record", text(&record)][..], &DISK].concat();
        let making = making_loop_devices();
        let mut live = Live::start(lab.command(&words));
        live.wait_for_err("Ctrl-C also ends it");
        drop(making);
        assert_eq!(attachments(&lab).len(), 1);
        live.signal(signal);
        assert!(live.end().ok().out.contains("served"));
        assert_eq!(attachments(&lab), [] as [String; 0]);
        let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        assert_eq!(record["model"]["name"], "ideal-ram-disk");
    }
}

#[test]
fn a_start_that_fails_is_told_by_who_was_asked() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    lab.kurabe(&["attach", "model:nothing"]).is_refusal(2, &["nothing"]);
    lab.kurabe(&["attach", "here"]).is_refusal(2, &["model:NAME"]);
    let precious = lab.write("precious", "precious");
    let file = format!("file:{}", text(&precious));
    lab.kurabe(&[&["attach"][..], &DISK, &["--data", &file]].concat()).is_refusal(6, &["precious"]);
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
    assert_eq!(attachments(&lab), [] as [String; 0]);
    // Another user could create files in such a folder.
    std::fs::create_dir(lab.beside("open")).unwrap();
    rustix::fs::chmod(lab.beside("open"), rustix::fs::Mode::from_raw_mode(0o777)).unwrap();
    let mut command = lab.command(&[&["attach"][..], &DISK].concat());
    command.env("KURABE_RUNTIME_DIR", lab.beside("open"));
    Live::start(command).end().is_refusal(6, &["chmod 700"]);
    if can_be_nobody(&lab) {
        let words = [&["attach"][..], &DISK].concat();
        Live::start(lab.wrapped(&AS_NOBODY, &words)).end().is_refusal(5, &["sudo"]);
    }
}

/// Writes without room fail, and nothing else does.
#[test]
fn a_full_disk_under_the_data_is_an_error_of_the_device() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let Some(small) = Mount::new("tmpfs", "none", "size=8m", &lab.beside("small")) else { return };
    let data = format!("file:{}", text(&small.point().join("disk.img")));
    let Some(device) = Device::attach(&lab, &[&DISK[..], &["--data", &data]].concat()) else { return };
    let write = |count: &str| {
        let to = format!("of={}", text(device.path()));
        system("dd", &["if=/dev/urandom", &to, "bs=1M", count, "oflag=direct", "conv=fsync"]).is_some()
    };
    assert!(write("count=4"));
    assert!(!write("count=16"));
    let stats = lab.kurabe(&["control", text(device.path()), "stats"]).ok().out;
    assert!(stats.contains("requests refused"), "{stats}");
    device.detach().ok();
    device.is_gone();
}

#[test]
fn fio_finds_every_byte_that_it_wrote() {
    let lab = Lab::new();
    if !needs("fio") {
        return;
    }
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    let file = format!("--filename={}", text(device.path()));
    let verify = [
        "--verify=crc32c",
        "--verify_fatal=1",
        "--verify_state_save=0",
        "--ioengine=libaio",
        "--iodepth=16",
        "--direct=1",
    ];
    let mix = ["--name=a", "--rw=randwrite", "--bsrange=512-256k", "--size=64m", "--randseed=5", &file];
    let words = [&verify[..], &mix].concat();
    assert!(system("fio", &words).is_some(), "fio {words:?}");
    assert!(device.err.is_empty(), "{}", device.err);
    device.detach().ok();
    device.is_gone();
}

#[test]
#[ignore = "slow"]
fn a_run_on_a_served_model_says_so_and_how_well_it_kept_its_time() {
    let lab = Lab::new();
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    let words = ["--rw", "randread", "--time", "100ms", "--runs", "1", "--size", "64m"];
    let record = lab.measure(device.path(), &words);
    let remarks = notices(&record, "served_model");
    let says = |words: &str| remarks.len() == 1 && remarks[0].contains(words);
    assert!(
        says("the model ideal-ram-disk (memory.capacity = 1GiB)") && says(" answers were on time"),
        "{remarks:?}"
    );
    let served = &served_notice(&record)["served"];
    assert_eq!(served["model"]["name"], "ideal-ram-disk", "{served}");
    let counted: u64 = list_of(&served["late"]["buckets"]).iter().map(|bucket| number(&bucket[1])).sum();
    assert!(counted > 0 && counted == number(&served["late"]["count"]), "{served}");
    assert!(served["in_time_share"].is_f64() && served["busy_share"].as_f64() > Some(0.0), "{served}");
    let times = format!("took {:.2} × as long as the model computes", served["slowdown"].as_f64().unwrap());
    assert!(served["slowdown"].as_f64() >= Some(1.0) && says(&times), "{times}: {remarks:?}");
    // A file system on the device is still recognized as a model.
    let mount = device.mount();
    let words = ["--rw", "randread", "--time", "100ms", "--runs", "1", "--size", "8m"];
    let record = lab.measure(mount.point(), &words);
    assert!(notices(&record, "served_model")[0].contains("ideal-ram-disk"), "{record:#}");
    for (lang, says) in [("en", "a model, ideal-ram-disk"), ("ja", "kurabe が公開中のモデル ideal-ram-disk")]
    {
        let page = lab.run(mount.point(), &[&words[..], &["--lang", lang]].concat()).ok().out;
        let heading: Vec<&str> = page.lines().take(2).collect();
        assert!(heading.concat().contains(says), "{page}");
    }
    drop(mount);
    device.detach().ok();
}

fn served_notice(record: &Value) -> &Value {
    let is_one = |notice: &&Value| notice["kind"] == "served_model";
    list_of(&record["notices"]).iter().find(is_one).expect("a notice")
}

#[test]
#[ignore = "slow"]
fn a_served_model_that_takes_turns_is_told_of_and_only_that() {
    let lab = Lab::new();
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    let path = text(device.path());
    let target = lab.target();
    let words = ["versus", path, text(&target), "--repetition", "2ms", "--size", "16m", "--time", "2s"];
    let page = lab.kurabe(&words).ok().out;
    let side = |role: &str| page.lines().find(|line| line.contains(role)).expect("a side").to_owned();
    assert!(side("baseline: ").contains("a model, ideal-ram-disk"), "{page}");
    assert!(!side("other: ").contains("a model"), "{page}");
    let records: Vec<Value> =
        lab.list().iter().map(|run| lab.record(run["id"].as_str().expect("an id"))).collect();
    let [on_model, on_disk] = &records[..] else { panic!("two runs: {records:?}") };
    assert!(number(&served_notice(on_model)["served"]["late"]["count"]) > 0, "{on_model:#}");
    assert_eq!(notices(on_disk, "served_model"), [] as [&str; 0]);
    device.detach().ok();
    // There is a store now, so it holds the record of the server, whose process has changed to
    // another folder.
    let page = lab.kurabe(&["list", "--served"]).ok().out;
    assert!(
        page.contains("ideal-ram-disk (memory.capacity = 1GiB)") && page.contains(" answers, "),
        "{page}"
    );
}

/// Cuts power during a verified run, and returns what `check` reports.
fn checked_after_a_cut(lab: &Lab, lies: &[&str]) -> Option<Ended> {
    let words = ["model:hitachi-hds721616plat80", "--power-cuts", "--seed", "3"];
    let device = Device::attach(lab, &[&words[..], lies].concat())?;
    let (path, list) = (text(device.path()), lab.beside("writes.txt"));
    let control =
        |words: &[&str]| lab.kurabe(&[&["--json", "control", path][..], words].concat()).ok().json_lines();
    let words = ["--verify", text(&list), "--destroy-data-on", path, "--rw", "randwrite", "--fsync", "16"];
    let more = ["--iodepth", "4", "--runs", "1", "--time", "60s", "--size", "16m"];
    let run = lab.start(device.path(), &[&words[..], &more].concat());
    eventually("many writes", || control(&["stats"])[0]["answer"]["flushes"].as_u64() > Some(20));
    control(&["cut"]);
    let ended = run.end();
    assert_eq!(ended.code(), Some(8), "{ended:#?}");
    control(&["power-on"]);
    let checked = lab.kurabe(&["--json", "check", path, "--verify", text(&list)]);
    device.detach().ok();
    Some(checked)
}

#[test]
#[ignore = "slow"]
fn after_a_power_cut_all_that_was_flushed_is_there_unless_the_disk_lies() {
    let lab = Lab::new();
    let Some(honest) = checked_after_a_cut(&lab, &[]) else { return };
    let report = &honest.ok().json_lines()[0];
    assert!(number(&report["flushed_bytes"]) > 0 && report["sound"] == true, "{report}");
    let lab = Lab::new();
    let liar = checked_after_a_cut(&lab, &["--fault", "lie-about-flush"]).expect("as before");
    assert_eq!(liar.code(), Some(8), "{liar:#?}");
    let lost = &liar.json_lines()[0]["fault_bytes"];
    assert!(lost["lost"].as_u64() > Some(0) || lost["stale"].as_u64() > Some(0), "{liar:#?}");
}

/// The kernel reports every fault of a device as an I/O error, and writing to bad sectors repairs
/// them.
#[test]
fn a_device_with_faults_errs_where_it_is_asked_to_and_is_taken_away_all_the_same() {
    let lab = Lab::new();
    let faults = ["--fault", "error:read@1MiB+4k", "--fault", "read-only@after-12k"];
    let Some(device) = Device::attach(&lab, &[&DISK[..], &faults].concat()) else { return };
    let open = OpenOptions::new().read(true).write(true).open(device.path()).unwrap();
    let direct = |how: &str, offset: &str| {
        let (path, place) = (text(device.path()), format!("seek={offset}"));
        let ends = match how {
            "read" => {
                [format!("if={path}"), "of=/dev/null".into(), format!("skip={offset}"), "iflag=direct".into()]
            }
            _ => ["if=/dev/zero".into(), format!("of={path}"), place, "oflag=direct".into()],
        };
        let words = [&["bs=4k", "count=1", "conv=notrunc"].map(str::to_owned)[..], &ends].concat();
        let done = std::process::Command::new("dd").args(words).env("LC_ALL", "C").output().unwrap();
        match (done.status.success(), String::from_utf8_lossy(&done.stderr).contains("Input/output error")) {
            (true, _) => "done",
            (false, true) => "an I/O error",
            _ => "another error",
        }
    };
    assert_eq!(direct("read", "0"), "done");
    assert_eq!(direct("read", "256"), "an I/O error");
    assert_eq!([direct("write", "256"), direct("read", "256")], ["done"; 2]);
    assert_eq!(["0", "1", "2"].map(|place| direct("write", place)), ["done", "done", "an I/O error"]);
    drop(open);
    let stats = lab.kurabe(&["control", text(device.path()), "stats"]).ok().out;
    assert!(stats.contains("error:read@1MiB+4k: met ") && !stats.contains("met 0 requests"), "{stats}");
    device.detach().ok();
    device.is_gone();
}
