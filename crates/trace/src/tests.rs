//! Tests of the recorder on the real kernel, if available (root, tracefs, loop devices), and of the
//! way in which devices are recorded.
#![allow(clippy::print_stderr)]

use super::*;
use crate::fake::Fake;
use kurabe_core::record::Repetition;
use kurabe_core::trace::TraceOp;
use kurabe_core::workload::OpKind;
use kurabe_testkit::needs::{LOOP_DEVICE, TRACEPOINTS, needs, skip};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_partition_is_watched_on_its_disk() {
    let fake = Fake::new();
    fake.disk("pci/sda", "8:0");
    fake.directory("sys/devices/pci/sda/mq");
    fake.partition("pci/sda/sda1", "8:1", 2048, 10_000);
    fake.disk("virtual/md0", "9:0");
    fake.partition("virtual/md0/md0p1", "259:1", 64, 100);
    let watched = |number| watch(&fake.roots, number).expect("watched");
    let expected = Watched {
        name: "sda1".to_owned(),
        numbers: vec![(8, 0)],
        requests: true,
        start_sector: 2048,
        end_sector: 12_048,
    };
    assert_eq!(watched((8, 1)), expected);
    let whole = watched((8, 0));
    assert_eq!((whole.start_sector, whole.end_sector, whole.requests), (0, u64::MAX, true));
    let whole = watched((9, 0));
    assert_eq!((whole.numbers, whole.requests), (vec![(9, 0), (259, 1)], false));
    assert_eq!(watch(&fake.roots, (1, 1)).expect_err("none").kind(), ErrorKind::Target);
}

#[test]
fn nothing_to_record_is_an_error() {
    assert_eq!(BlockTrace::start(&[]).expect_err("nothing").kind(), ErrorKind::Target);
}

/// Runs a program; `None` if it is not installed.
fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()
}

fn must(program: &str, arguments: &[&str]) {
    let output = run(program, arguments).expect("the program");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A loop device on a temporary file.
struct LoopDevice {
    node: PathBuf,
    directory: tempfile::TempDir,
}

impl LoopDevice {
    /// Creates a device, or returns `None` with a printed reason.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().expect("a directory");
        let image = directory.path().join("image");
        std::fs::File::create(&image).and_then(|file| file.set_len(16 << 20)).expect("an image");
        let output = run("losetup", &["-f", "--show", image.to_str().expect("a name")]);
        let Some(output) = output.filter(|output| output.status.success()) else {
            skip(LOOP_DEVICE);
            return None;
        };
        let node = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        Some(Self { node, directory })
    }

    fn node(&self) -> &str {
        self.node.to_str().expect("a name")
    }

    fn number(&self) -> Number {
        kurabe_host::block_number(&self.node).expect("a node").expect("a block device")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // A partition that was created manually outlives the file.
        let _ = run("delpart", &[self.node(), "1"]);
        let _ = run("losetup", &["-d", self.node()]);
    }
}

/// Records one device; `None` with a printed reason if that is not possible.
fn start(device: Number) -> Option<BlockTrace> {
    match BlockTrace::start(&[device]) {
        Ok(trace) => {
            eprintln!("tracefs mounted for this process alone: {}", trace.mounted_privately());
            Some(trace)
        }
        Err(error) => {
            assert!(error.remedy_text().is_some());
            skip(TRACEPOINTS);
            None
        }
    }
}

fn dd(arguments: &[&str]) {
    must("dd", arguments);
}

/// Does three writes, a flush and two reads, all with direct I/O.
fn known_io(node: &str) {
    let (of, input) = (format!("of={node}"), format!("if={node}"));
    dd(&["if=/dev/zero", &of, "bs=8k", "count=3", "seek=4", "oflag=direct", "conv=fsync,notrunc"]);
    dd(&[&input, "of=/dev/null", "bs=16k", "count=2", "skip=1", "iflag=direct"]);
}

use OpKind::{Read, Sync, Write};

const KNOWN: [(OpKind, u64, u32); 6] = [
    (Write, 32_768, 8192),
    (Write, 40_960, 8192),
    (Write, 49_152, 8192),
    (Sync, 0, 0),
    (Read, 16_384, 16_384),
    (Read, 32_768, 16_384),
];

/// Returns the known operations, without those by which others (udev) read a device that was
/// written to.
fn known(recorded: &RecordedTrace) -> Vec<(OpKind, u64, u32)> {
    let place = |op: &TraceOp| (op.kind, op.offset_bytes, op.length_bytes);
    recorded.trace.operations.iter().map(place).filter(|op| KNOWN.contains(op)).collect()
}

#[test]
fn what_dd_does_to_a_loop_device_is_recorded_exactly() {
    let Some(device) = LoopDevice::new() else { return };
    let Some(trace) = start(device.number()) else { return };
    let before = kurabe_host::DeviceCounters::read(&roots::base(&device.node)).expect("counters");
    let began = Instant::now();
    known_io(device.node());
    let elapsed_ns = began.elapsed().as_nanos() as u64;
    let after = kurabe_host::DeviceCounters::read(&roots::base(&device.node)).expect("counters");
    let recorded = trace.stop().expect("recorded");
    assert_eq!(recorded.lost_events, 0);
    assert_eq!(recorded.trace.flaw(), None);
    assert_eq!(recorded.trace.units, [roots::base(&device.node)]);
    assert_eq!(known(&recorded), KNOWN);
    let summary = recorded.trace.summary();
    assert!(
        summary.duration_ns > 0 && summary.duration_ns < elapsed_ns,
        "{} {elapsed_ns}",
        summary.duration_ns
    );
    assert_eq!(recorded.latencies_ns.len(), recorded.trace.operations.len());
    for latency_ns in &recorded.latencies_ns {
        let latency_ns = latency_ns.expect("every completion was seen");
        assert!((1000..elapsed_ns).contains(&latency_ns), "{latency_ns}");
    }
    // The device's own counters must agree; a flush may be counted as an empty write.
    let traffic = after.since(&before);
    let read = (traffic.read_operations, traffic.read_bytes);
    assert_eq!(read, (summary.reads, summary.read_bytes));
    assert_eq!(traffic.write_bytes, summary.write_bytes);
    let writes = summary.writes..=summary.writes + summary.syncs;
    assert!(writes.contains(&traffic.write_operations), "{traffic:?} {summary:?}");
}

#[test]
fn fio_moved_as_many_bytes_as_were_recorded_under_load() {
    let Some(device) = LoopDevice::new() else { return };
    let filename = format!("--filename={}", device.node());
    let Some(trace) = start(device.number()) else { return };
    let arguments = [
        "--name=load",
        &filename,
        "--rw=randrw",
        "--bs=4k",
        "--direct=1",
        "--ioengine=libaio",
        "--iodepth=16",
        "--size=16m",
        "--io_size=96m",
        "--output-format=json",
    ];
    let output = run("fio", &arguments);
    let recorded = trace.stop().expect("recorded");
    let Some(output) = output else {
        skip("fio is not installed");
        return;
    };
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let job = &result["jobs"][0];
    let summary = recorded.trace.summary();
    assert_eq!(recorded.lost_events, 0);
    // Adjacent requests may have been merged, so bytes are compared. Reads by udev may be included.
    assert_eq!(Some(summary.write_bytes), job["write"]["io_bytes"].as_u64());
    let read_bytes = job["read"]["io_bytes"].as_u64().expect("bytes");
    assert!(
        (read_bytes..read_bytes + (1 << 20)).contains(&summary.read_bytes),
        "{} {read_bytes}",
        summary.read_bytes
    );
    assert!(recorded.latencies_ns.iter().all(Option::is_some));
}

/// A compressed disk in memory, which has no request queue.
struct Zram(u32);

impl Zram {
    /// Creates a device, or returns `None` with a printed reason.
    fn new() -> Option<Self> {
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add").ok();
        let Some(number) = number.and_then(|number| number.trim().parse().ok()) else {
            skip("no zram device (needs root and a kernel with zram)");
            return None;
        };
        let made = Self(number);
        std::fs::write(format!("/sys/block/zram{number}/disksize"), "16M").expect("a size");
        Some(made)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = std::fs::write("/sys/class/zram-control/hot_remove", self.0.to_string());
    }
}

#[test]
fn a_device_without_requests_is_recorded_where_operations_arrive() {
    let Some(zram) = Zram::new() else { return };
    let node = format!("/dev/zram{}", zram.0);
    let Ok(Some(number)) = kurabe_host::block_number(Path::new(&node)) else {
        skip("no zram device (needs root and a kernel with zram)");
        return;
    };
    assert!(!watch(&Roots::default(), number).expect("watched").requests);
    let Some(trace) = start(number) else { return };
    known_io(&node);
    let recorded = trace.stop().expect("recorded");
    assert_eq!(recorded.lost_events, 0);
    // Without a cache it receives no flushes.
    let moved = |op: &(OpKind, u64, u32)| op.0 != Sync;
    let recorded_here: Vec<_> = known(&recorded).into_iter().filter(moved).collect();
    assert_eq!(recorded_here, KNOWN.into_iter().filter(moved).collect::<Vec<_>>());
    assert!(recorded.latencies_ns.iter().all(Option::is_some));
}

#[test]
fn discards_are_counted_and_left_out() {
    let Some(device) = LoopDevice::new() else { return };
    let Some(trace) = start(device.number()) else { return };
    let discarded = run("blkdiscard", &["-f", "-o", "1MiB", "-l", "1MiB", device.node()]);
    let recorded = trace.stop().expect("recorded");
    if discarded.is_none_or(|output| !output.status.success()) {
        skip("this loop device takes no discards");
        return;
    }
    assert_eq!(recorded.discards, 1);
    assert_eq!(recorded.trace.left_out.first().map(|(count, _)| *count), Some(1));
}

#[test]
fn a_partition_of_a_loop_device_is_recorded_from_its_own_start() {
    let Some(device) = LoopDevice::new() else { return };
    let made = run("addpart", &[device.node(), "1", "2048", "8192"]);
    if made.is_none_or(|output| !output.status.success()) {
        skip("no partition on a loop device (needs addpart)");
        return;
    }
    let part = format!("{}p1", device.node());
    let Ok(Some(number)) = kurabe_host::block_number(Path::new(&part)) else {
        skip("no partition on a loop device (needs addpart)");
        return;
    };
    let Some(trace) = start(number) else { return };
    known_io(device.node());
    known_io(&part);
    let recorded = trace.stop().expect("recorded");
    // The flush of the whole device is also recorded for the partition.
    let without_flushes = |op: &(OpKind, u64, u32)| op.0 != Sync;
    let recorded_here: Vec<_> = known(&recorded).into_iter().filter(without_flushes).collect();
    assert_eq!(recorded_here, KNOWN.into_iter().filter(without_flushes).collect::<Vec<_>>());
    assert_eq!(recorded.trace.summary().syncs, 2);
}

#[test]
fn the_devices_under_a_loop_device_include_it_and_what_lies_under_its_file() {
    let Some(device) = LoopDevice::new() else { return };
    let numbers = kurabe_host::devices_under(&device.node);
    assert_eq!(numbers.first(), Some(&device.number()));
    let below = kurabe_host::devices_under(device.directory.path());
    assert_eq!(numbers[1..], below);
}

fn own_instances(tracefs: &Tracefs) -> Vec<String> {
    let own = tracefs.new_instance();
    let instances = own.parent().expect("a parent");
    let pid = format!("kurabe-{}-", std::process::id());
    roots::names(instances).into_iter().filter(|name| name.starts_with(&pid)).collect()
}

#[test]
fn an_instance_goes_with_its_value_and_those_of_dead_processes_at_a_start() {
    let Ok(tracefs) = Tracefs::find(&Roots::default()) else {
        skip(TRACEPOINTS);
        return;
    };
    let Some(device) = LoopDevice::new() else { return };
    let events = vec![(Tracepoint::Issued, vec![device.number()])];
    let tracefs_of_it = Tracefs::find(&Roots::default()).expect("tracefs");
    let instance = Instance::start(tracefs_of_it, &events, Arc::new(|_, _| false));
    let name = roots::base(instance.as_ref().expect("an instance").directory());
    assert!(own_instances(&tracefs).contains(&name));
    drop(instance);
    assert!(!own_instances(&tracefs).contains(&name));

    let mut child = Command::new("true").stdin(Stdio::null()).spawn().expect("a process");
    child.wait().expect("its end");
    let own = tracefs.new_instance();
    let orphan = own.with_file_name(format!("kurabe-{}-0", child.id()));
    std::fs::create_dir(&orphan).expect("an instance");
    remove_orphaned_traces();
    assert!(!orphan.exists());
}

/// Runs `blktrace` on the same device during the work; `None` with a printed reason if it does not
/// work.
fn with_blktrace(device: &LoopDevice, work: &dyn Fn()) -> Option<String> {
    let base = device.directory.path().join("bt");
    let base = base.to_str().expect("a name");
    if !needs("blktrace") {
        return None;
    }
    let spawned = Command::new("blktrace")
        .args(["-d", device.node(), "-w", "3", "-o", base])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.expect("blktrace runs");
    std::thread::sleep(Duration::from_millis(1000));
    work();
    child.wait().expect("its end");
    let output = run("blkparse", &["-i", base, "-q", "-a", "issue", "-f", "%a %d %S %n\n"])?;
    let issued = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || issued.trim().is_empty() {
        skip("blktrace cannot trace here");
        return None;
    }
    Some(issued)
}

#[test]
fn blktrace_sees_the_same() {
    let Some(device) = LoopDevice::new() else { return };
    let Some(trace) = start(device.number()) else { return };
    let Some(issued) = with_blktrace(&device, &|| known_io(device.node())) else { return };
    let recorded = trace.stop().expect("recorded");
    let theirs: Vec<(u64, u64)> = issued
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, letters, sector, sectors] = words[..] else { return None };
            let moves = letters.starts_with(['R', 'W']);
            moves.then(|| Some((sector.parse().ok()?, sectors.parse().ok()?)))?
        })
        .collect();
    let ours: Vec<(u64, u64)> = recorded
        .trace
        .operations
        .iter()
        .filter(|op| op.kind != Sync)
        .map(|op| (op.offset_bytes / 512, u64::from(op.length_bytes) / 512))
        .collect();
    assert_eq!(ours, theirs);
}

#[test]
fn operations_of_this_process_are_followed_and_those_of_others_are_not() {
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    const BLOCK: usize = 8192;
    const READS: u64 = 50;
    let Some(device) = LoopDevice::new() else { return };
    let Ok(trace) = SplitTrace::start(&[device.number()]) else {
        skip(TRACEPOINTS);
        return;
    };
    // O_DIRECT; it has the same value on x86 and in the generic Linux ABI.
    let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(&device.node).expect("open");
    let mut bytes = vec![0; 2 * BLOCK];
    let start = bytes.as_ptr().align_offset(BLOCK);
    let begun = Instant::now();
    for number in 0..READS {
        file.read_exact_at(&mut bytes[start..start + BLOCK], number * 64 * 1024).expect("a read");
    }
    let elapsed_ns = begun.elapsed().as_nanos() as f64;
    must("dd", &["if=/dev/zero", &format!("of={}", device.node()), "bs=4k", "count=20", "oflag=direct"]);
    let mut repetitions = [Repetition::default()];
    trace.stop(Some(BLOCK as u64), &mut repetitions).expect("the split");
    let split = repetitions[0].kernel.as_ref().expect("what the kernel told");
    assert_eq!((split.operations, split.unfollowed_operations), (READS, 0), "{split:?}");
    assert_eq!((split.requests, split.merged_requests, split.lost_events), (READS, 0, 0), "{split:?}");
    assert!(split.other_requests >= 20, "{split:?}");
    assert_eq!(split.request_sizes.len(), 1);
    let account_ns = (split.queue.mean_ns + split.device.mean_ns) * READS as f64;
    // Each of them is a sum of times in whole µs.
    assert!(
        account_ns > 0.0 && account_ns <= elapsed_ns + READS as f64 * 2_000.0,
        "{account_ns} of {elapsed_ns}: {split:?}"
    );
}
