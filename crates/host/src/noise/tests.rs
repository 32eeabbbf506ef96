//! Tests of the noise on a fake disk and a fake machine.

use super::*;
use crate::fake::Fake;
use kurabe_core::environment::{BlockDevice, FileSystem};
use kurabe_testkit::needs::skip;

const DISK: &str = "pci0000:00/0000:00:02.0/virtio1/block/vda";

fn disk_counts(fake: &Fake, read_sectors: u64, written_sectors: u64) {
    fake.file(
        &format!("sys/devices/{DISK}/stat"),
        format!("1 2 {read_sectors} 4 5 6 {written_sectors} 8 9 10 11\n"),
    );
}

fn own_counts(fake: &Fake, read_bytes: u64, write_bytes: u64, cancelled: u64) {
    fake.file(
        "proc/self/io",
        format!("rchar: 1\nread_bytes: {read_bytes}\nwrite_bytes: {write_bytes}\ncancelled_write_bytes: {cancelled}\n"),
    );
}

fn machine() -> Fake {
    let fake = Fake::new();
    fake.disk(DISK, "254:0");
    fake.file(&format!("sys/devices/{DISK}/queue/iostats"), "1\n");
    disk_counts(&fake, 1000, 1000);
    own_counts(&fake, 0, 0, 0);
    fake
}

fn on_disk() -> Environment {
    Environment {
        file_system: Some(FileSystem { kind: Some("ext4".to_owned()), ..FileSystem::default() }),
        devices: vec![BlockDevice {
            name: "vda".to_owned(),
            link: Some(Link::Virtio),
            ..BlockDevice::default()
        }],
        ..Environment::default()
    }
}

fn watch(fake: &Fake) -> NoiseWatch {
    NoiseWatch::new_in(fake.roots.clone(), || Some(SUSPENDED.get()), &on_disk())
}

thread_local! {
    /// Difference of the clocks in a test, in ns.
    static SUSPENDED: std::cell::Cell<u64> = const { std::cell::Cell::new(7_000_000_000) };
}

#[test]
fn a_suspend_in_a_repetition_is_seen_and_what_was_before_is_not() {
    let fake = machine();
    let watch = watch(&fake);
    let mark = watch.start();
    assert_eq!(watch.finish(mark).suspended_ns, None, "it slept before");
    let mark = watch.start();
    SUSPENDED.set(SUSPENDED.get() + SUSPENDED_NS);
    assert_eq!(watch.finish(mark).suspended_ns, None, "clocks are read one after the other");
    let mark = watch.start();
    SUSPENDED.set(SUSPENDED.get() + 90_000_000_000);
    let noise = watch.finish(mark);
    assert_eq!(noise.suspended_ns, Some(90_000_000_000));
    let remarks = noise_remarks(&noise, 1, 1);
    assert!(remarks.iter().any(|remark| remark.en.contains("suspended for 1 min 30 s")), "{remarks:?}");
    // A decrease caused by another process that sets a clock back is not a suspend.
    let mark = watch.start();
    SUSPENDED.set(0);
    assert_eq!(watch.finish(mark).suspended_ns, None);
}

#[test]
fn the_clocks_of_this_machine_are_read() {
    let (before, after) = (platform::suspended_ns().unwrap(), platform::suspended_ns().unwrap());
    assert!(after >= before.saturating_sub(SUSPENDED_NS), "{before} {after}");
}

#[test]
fn the_bytes_of_others_are_the_disks_without_kurabes_own() {
    let fake = machine();
    let watch = watch(&fake);
    let mark = watch.start();
    disk_counts(&fake, 1000 + 200, 1000 + 100);
    own_counts(&fake, 150 * 512, 100 * 512, 0);
    let noise = watch.finish(mark);
    assert_eq!(noise.other_read_bytes, Some(50 * 512));
    assert_eq!(noise.other_write_bytes, Some(0));
}

#[test]
fn late_writing_of_kurabes_own_data_is_not_others_work() {
    let fake = machine();
    let watch = watch(&fake);
    let first = watch.start();
    own_counts(&fake, 0, 1000 * 512, 0);
    assert_eq!(watch.finish(first).other_write_bytes, Some(0), "dirty, not written yet");
    let second = watch.start();
    disk_counts(&fake, 1000, 1000 + 1000);
    assert_eq!(watch.finish(second).other_write_bytes, Some(0), "kurabe's own data came late");
    let third = watch.start();
    disk_counts(&fake, 1000, 1000 + 1000 + 30);
    assert_eq!(watch.finish(third).other_write_bytes, Some(30 * 512), "somebody else's");
}

#[test]
fn bytes_that_were_never_written_are_not_kurabes() {
    let fake = machine();
    let watch = watch(&fake);
    let mark = watch.start();
    disk_counts(&fake, 1000, 1000 + 60);
    own_counts(&fake, 0, 100 * 512, 60 * 512);
    assert_eq!(watch.finish(mark).other_write_bytes, Some(20 * 512));
}

#[test]
fn a_disk_without_statistics_tells_nothing() {
    let fake = machine();
    fake.file(&format!("sys/devices/{DISK}/queue/iostats"), "0\n");
    let watch = watch(&fake);
    assert_eq!(watch.finish(watch.start()).other_write_bytes, None);
}

#[test]
fn a_counter_that_vanishes_tells_nothing() {
    let fake = machine();
    let watch = watch(&fake);
    let mark = watch.start();
    fake.file("proc/self/io", "nonsense\n");
    let noise = watch.finish(mark);
    assert_eq!((noise.other_read_bytes, noise.other_write_bytes), (None, None));
}

#[test]
fn layers_that_change_the_amount_make_the_subtraction_meaningless() {
    let plain = on_disk();
    assert_eq!(countable_disk(&plain), Some("vda"));
    let with_layers = |layers: &[&str]| {
        let layers = layers.iter().map(|&layer| layer.to_owned()).collect();
        countable_disk(&Environment { layers, ..plain.clone() }).is_some()
    };
    assert!(with_layers(&["dm-1 (lvm, vg-root)", "dm-0 (crypt, luks)"]));
    assert!(with_layers(&["overlay (upper /var/lib/x)"]));
    assert!(with_layers(&[
        "loop0 (loop, /x.img, direct)",
        "under loop0: ext4 on sda1",
        "under loop0: md0 (raid1)"
    ]));
    assert!(!with_layers(&["md0 (raid1, 2 devices)"]));
    assert!(!with_layers(&["dm-2 (lvm, vg-thin)", "dm-1 (lvm, vg-pool_tdata)"]));
    assert!(!with_layers(&["bcache0 (bcache, writeback)"]));
    assert!(!with_layers(&["zram0 (zram, lzo-rle)"]));
    assert!(!with_layers(&["zfs pool tank"]));
    let file_system = |kind: &str, options: &str| {
        let file_system = FileSystem {
            kind: Some(kind.to_owned()),
            options: Some(options.to_owned()),
            ..FileSystem::default()
        };
        countable_disk(&Environment { file_system: Some(file_system), ..plain.clone() }).is_some()
    };
    assert!(file_system("xfs", "rw"));
    assert!(!file_system("btrfs", "rw"));
    assert!(!file_system("ext4", "rw,compress=zstd"));
    let two =
        Environment { devices: [plain.devices.clone(), plain.devices.clone()].concat(), ..plain.clone() };
    assert_eq!(countable_disk(&two), None);
    let mut memory = plain.clone();
    memory.devices[0].link = Some(Link::Memory);
    assert_eq!(countable_disk(&memory), None);
}

fn counters(cpu: Ticks, own_ticks: u64) -> Counters {
    Counters {
        disk: None,
        own: None,
        cpu: Some(cpu),
        own_ticks: Some(own_ticks),
        pressure_us: [None; 3],
        suspended_ns: None,
        at: Instant::now(),
    }
}

#[test]
fn cpu_time_of_others_and_of_the_hypervisor_is_told() {
    let before = counters(Ticks { busy: 100, steal: 10, total: 1000 }, 50);
    let now = counters(Ticks { busy: 400, steal: 60, total: 2000 }, 150);
    let (steal, busy) = cpu_noise(&before, &now, Duration::from_secs(1));
    assert_eq!(steal, Some(0.05));
    assert_eq!(busy, Some(200.0 / platform::ticks_per_s() as f64));
    assert_eq!(cpu_noise(&before, &now, Duration::from_millis(100)), (None, None), "too few ticks");
}

#[test]
fn pressure_is_the_share_of_the_time() {
    let fake = machine();
    fake.file("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull total=5\n");
    fake.file("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
    let watch = watch(&fake);
    let mark = watch.start();
    std::thread::sleep(Duration::from_millis(20));
    fake.file("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3000\nfull total=5\n");
    let noise = watch.finish(mark);
    let share = noise.io_pressure_share.expect("a share");
    assert!(share > 0.0 && share <= 0.1, "2 of at least 20 ms: {share}");
    assert_eq!(noise.cpu_pressure_share, Some(0.0));
    assert_eq!(noise.memory_pressure_share, None, "the kernel has no such file");
}

#[test]
fn the_kernels_counters_are_read() {
    let stat = "   50129     8115  5296146    38319    10545    12294  1443432     3373        0    16640";
    assert_eq!(parse_disk_stat(stat), Some(Bytes { read: 5_296_146 * 512, written: 1_443_432 * 512 }));
    assert_eq!(
        parse_cpu("cpu  10512 1 2414 237099 1451 2 57 183 5 0\ncpu0 1 1 1\n"),
        Some(Ticks {
            busy: 10512 + 1 + 2414,
            steal: 183,
            total: 10512 + 1 + 2414 + 237_099 + 1451 + 2 + 57 + 183
        })
    );
    assert_eq!(parse_cpu("cpu  1 2 3\n"), None);
    assert_eq!(parse_own_ticks("7 (a b) R 1 1 1 0 -1 0 0 0 0 0 11 22 0 0"), Some(33));
    assert_eq!(parse_pressure_us("full total=1\nsome avg10=0.1 total=42\n"), Some(42));
}

#[test]
fn only_what_is_worth_telling_is_told() {
    const SECOND: u64 = 1_000_000_000;
    let quiet = Noise {
        other_read_bytes: Some(OTHER_BYTES_FLOOR),
        other_write_bytes: Some(5_000_000),
        steal_share: Some(STEAL_SHARE),
        io_pressure_share: Some(1.0),
        cpu_pressure_share: Some(PRESSURE_SHARE),
        memory_pressure_share: None,
        suspended_ns: None,
        other_cpus_busy: Some(OTHER_CPUS_BUSY),
    };
    assert!(noise_remarks(&quiet, 1_000_000_000, SECOND).is_empty(), "5 MB are below 1 % of 1 GB");
    let loud = Noise {
        other_read_bytes: Some(2_000_000),
        other_write_bytes: Some(12_000_000),
        steal_share: Some(0.08),
        cpu_pressure_share: Some(0.25),
        memory_pressure_share: Some(0.2),
        other_cpus_busy: Some(1.26),
        ..quiet
    };
    let remarks = noise_remarks(&loud, 100_000_000, 2 * SECOND);
    let english: Vec<&str> = remarks.iter().map(|remark| remark.en.as_str()).collect();
    assert_eq!(
        english,
        [
            "other programs read 2.0 MB from this device (1.0 MB/s)",
            "other programs, or the file system's own journal, wrote 12.0 MB to this device (6.0 MB/s)",
            "the hypervisor took 8 % of the CPU time",
            "1.3 CPUs were busy with other work",
            "tasks waited for a CPU 25 % of the time",
            "tasks waited for memory 20 % of the time",
        ]
    );
}

#[test]
fn this_machine_is_watched_cheaply() {
    let environment =
        crate::observe(std::path::Path::new("/"), &crate::ObserveOptions { with_serial: false, salt: b"" });
    let watch = NoiseWatch::new(&environment);
    let Some(before) = reads_of_thread() else {
        return skip("the kernel does not count the reads of a thread");
    };
    watch.finish(watch.start());
    let reads = reads_of_thread().expect("as before") - before;
    // Two readings of a few files, not of every process.
    assert!((2..=100).contains(&reads), "{reads} calls that read");
}

/// Returns the number of read calls of this thread, `syscr` of proc_pid_io(5).
fn reads_of_thread() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("syscr: ")?.parse().ok())
}
