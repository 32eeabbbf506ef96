//! Compares the sequences with the tools themselves, traced with strace. Sizes, order, syncs and
//! coverage must match exactly where the tool determines them, and counts and shares approximately
//! where it draws random numbers. If a tool is missing, the test is skipped with a message.

use super::*;
use kurabe_testkit::needs::{LOOP_DEVICE, TRACER, needs, skip};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An access of a traced process to a file: kind, offset, bytes transferred.
type Did = (OpKind, u64, u64);

/// A completed system call.
struct Call {
    name: String,
    at_s: f64,
    /// The file of its first argument.
    path: String,
    arguments: String,
    result: i64,
}

impl Call {
    /// Parses a line of `strace -y -ttt`: `1.5 read(3</file>, ""..., 4096) = 4096`.
    fn parse(line: &str) -> Option<Self> {
        let (at, rest) = line.split_once(' ')?;
        let (name, rest) = rest.split_once('(')?;
        let (arguments, result) = rest.rsplit_once(" = ")?;
        let path = arguments.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
        Some(Self {
            name: name.to_owned(),
            at_s: at.parse().ok()?,
            path: path.map_or("", |(path, _)| path).to_owned(),
            arguments: arguments.trim_end_matches(')').to_owned(),
            result: result.split([' ', '<']).next()?.parse().ok()?,
        })
    }

    /// Returns the last number among the arguments.
    fn last_number(&self) -> u64 {
        self.arguments.rsplit(", ").next().and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// Returns the number after a name in the arguments, for each structure.
    fn numbers(&self, key: &str) -> Vec<u64> {
        let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        self.arguments.split(key).skip(1).filter_map(|rest| digits(rest).parse().ok()).collect()
    }
}

/// The traced calls of one process, in order.
type Process = Vec<Call>;

/// Runs a program under strace in a folder. Returns its output, and the calls of the first process
/// and of its children. Returns `None` with a printed reason if that is not possible.
fn trace(folder: &Path, calls: &str, program: &str, arguments: &[&str]) -> Option<(Output, Vec<Process>)> {
    let log = folder.join("strace");
    let traced = |program: &str, arguments: &[&str]| {
        Command::new("strace")
            .args(["-ff", "-y", "-ttt", "-v", "-s", "0", "-e", &format!("trace=execve,{calls}"), "-o"])
            .arg(&log)
            .arg(program)
            .args(arguments)
            .current_dir(folder)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .output()
            .ok()
    };
    let logs = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.file_stem().is_some_and(|stem| stem == "strace")).collect()
    };
    if !traced("true", &[]).is_some_and(|output| output.status.success()) {
        skip(TRACER);
        return None;
    }
    logs().iter().for_each(|log| std::fs::remove_file(log).unwrap());
    if !needs(program) {
        return None;
    }
    let Some(output) = traced(program, arguments).filter(|output| output.status.success()) else {
        skip(format_args!("{program} cannot run here"));
        return None;
    };
    let mut processes: Vec<(bool, Process)> = logs()
        .iter()
        .map(|log| {
            let text = std::fs::read_to_string(log).unwrap();
            (text.contains("execve("), text.lines().filter_map(Call::parse).collect())
        })
        .collect();
    // The initial process comes first.
    processes.sort_by_key(|(started, _)| !started);
    Some((output, processes.into_iter().map(|(_, process)| process).collect()))
}

/// Returns the accesses of a process to a file with read, write, pread64, pwrite64 and fsync. Reads
/// at the end of the file are omitted.
fn did(process: &Process, path: &str) -> Vec<Did> {
    let mut at: HashMap<&str, u64> = HashMap::new();
    let mut accesses = Vec::new();
    for call in process.iter().filter(|call| call.path == path && call.result >= 0) {
        // Each descriptor has its own file position.
        let place = at.entry(call.arguments.split('<').next().unwrap_or_default()).or_default();
        let moved = call.result as u64;
        match call.name.as_str() {
            "lseek" => *place = moved,
            "read" | "write" if moved > 0 => {
                let kind = if call.name == "read" { OpKind::Read } else { OpKind::Write };
                accesses.push((kind, *place, moved));
                *place += moved;
            }
            "pread64" => accesses.push((OpKind::Read, call.last_number(), moved)),
            "pwrite64" => accesses.push((OpKind::Write, call.last_number(), moved)),
            "fsync" => accesses.push((OpKind::Sync, 0, 0)),
            _ => {}
        }
    }
    accesses
}

/// Returns the accesses that kurabe issues.
fn planned(log: &[Logged]) -> Vec<Did> {
    log.iter().map(|one| (one.op.kind, one.op.offset_bytes, u64::from(one.op.length_bytes))).collect()
}

/// Creates a folder with a file of this size in it.
fn folder_with(name: &str, size_bytes: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join(name);
    let mut bytes = vec![0; size_bytes as usize];
    Content::new(kurabe_core::workload::Data::Random, 1, 0).fill(&mut bytes);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn dd_does_just_the_same() {
    const SIZE: u64 = 48 * MIB;
    let played = workloads("dd", SIZE);
    let (folder, path) = folder_with("file", SIZE);
    let path = path.to_str().unwrap();
    let (write, read) = ([&format!("of={path}"), "if=/dev/zero"], [&format!("if={path}"), "of=/dev/null"]);
    let commands = [[write[0], write[1], "conv=fsync,notrunc"], [read[0], read[1], "conv=notrunc"]];
    for (command, (_, workload)) in commands.iter().zip(&played) {
        let arguments = [&command[..], &["bs=16M", "count=3"]].concat();
        let Some((_, processes)) = trace(folder.path(), "read,write,fsync,lseek", "dd", &arguments) else {
            return;
        };
        // dd duplicates its files to the descriptors 0 and 1, whose paths strace also prints.
        assert_eq!(did(&processes[0], path), planned(play(workload, taking(MS)).only()));
    }
}

/// A loop device over a file, which is detached on drop.
struct LoopDevice(String);

impl LoopDevice {
    fn over(path: &Path) -> Option<Self> {
        let output = Command::new("losetup").args(["-f", "--show"]).arg(path).output().ok()?;
        let node = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && node.starts_with("/dev/")).then_some(Self(node))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

#[test]
fn hdparm_reads_just_the_same_until_the_device_ends() {
    const SIZE: u64 = 64 * MIB;
    let (folder, path) = folder_with("image", SIZE);
    let Some(device) = LoopDevice::over(&path) else {
        skip(LOOP_DEVICE);
        return;
    };
    let calls = "read,pread64,lseek";
    let Some((_, processes)) = trace(folder.path(), calls, "hdparm", &["-t", &device.0]) else { return };
    let (_, buffered) = &workloads("hdparm-t", SIZE)[1];
    assert_eq!(did(&processes[0], &device.0), planned(play(buffered, taking(MS)).only()));
}

/// Checks that single blocks of 4 KiB are read, each at a random offset in the file.
fn assert_single_reads(reads: &[Did], size_bytes: u64) {
    for (kind, offset_bytes, length_bytes) in reads {
        assert_eq!((*kind, offset_bytes % 4096, *length_bytes), (OpKind::Read, 0, 4096));
        assert!(offset_bytes + 4096 <= size_bytes);
    }
    let mut places: Vec<u64> = reads.iter().map(|(_, offset, _)| *offset).collect();
    assert!(!places.is_sorted());
    places.dedup();
    assert!(places.len() > reads.len() / 2);
}

#[test]
fn ioping_reads_as_often_and_discards_the_first() {
    let (folder, path) = folder_with("file", MIB);
    let path = path.to_str().unwrap();
    // Ten times as often as by default, to save time. The first of the eleven requests is a
    // warm-up.
    let arguments = ["-c", "11", "-i", "100ms", path];
    let Some((output, processes)) = trace(folder.path(), "pread64", "ioping", &arguments) else { return };
    let theirs = did(&processes[0], path);
    let (_, workload) = &workloads("ioping", MIB)[0];
    let played = play(workload, taking(MS));
    let ours = planned(played.only());
    assert_eq!(theirs.len(), ours.len());
    assert_single_reads(&theirs, MIB);
    assert_single_reads(&ours, MIB);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains(&format!("{} requests completed", played.recorded.read.completed)), "{printed}");
    // Each request is due one interval after the previous one was due, so the interval does not
    // grow with the latency.
    let times: Vec<f64> =
        processes[0].iter().filter(|call| call.path == path).map(|call| call.at_s).collect();
    let mean_s = (times[10] - times[0]) / 10.0;
    assert!(mean_s > 0.099, "{mean_s}");
}

/// Returns the number of reads and writes of a seeker. Checks that each write goes to the block
/// read just before, and that an fsync ends the sequence. bonnie++ takes the time after it.
fn seeks(did: &[Did], size_bytes: u64) -> (usize, usize) {
    let mut last = None;
    let (mut reads, mut writes) = (0, 0);
    let Some(((OpKind::Sync, _, _), did)) = did.split_last() else { panic!("no fsync at the end") };
    for (kind, offset_bytes, length_bytes) in did {
        assert_eq!((offset_bytes % 8192, *length_bytes), (0, 8192));
        assert!(offset_bytes + 8192 <= size_bytes);
        match kind {
            OpKind::Read => (reads, last) = (reads + 1, Some(*offset_bytes)),
            OpKind::Write => {
                assert_eq!(last.take(), Some(*offset_bytes), "the block just read, and once");
                writes += 1;
            }
            OpKind::Sync | OpKind::Trim => panic!("a sync between seeks"),
        }
    }
    (reads, writes)
}

#[test]
fn bonnie_seeks_as_often_with_as_many_seekers_and_writes_as_much_back() {
    const SIZE: u64 = 16 * MIB;
    let (folder, _) = folder_with("file", 1);
    let arguments = ["-d", ".", "-s", "16M:8k", "-r", "8", "-n", "0", "-f", "-m", "x", "-q", "-u", "root"];
    let Some((_, processes)) = trace(folder.path(), "read,write,lseek,fsync", "bonnie++", &arguments) else {
        return;
    };
    let sums = |all: Vec<(usize, usize)>| all.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let theirs: Vec<(usize, usize)> = processes[1..]
        .iter()
        .map(|process| {
            let seek = process.iter().find(|call| call.name == "lseek").expect("a seeker");
            seeks(&did(process, &seek.path), SIZE)
        })
        .collect();
    let (_, workload) = &workloads("bonnie-seeks", SIZE)[0];
    assert_eq!(workload.sync.at_end, EndSync::Timed);
    let ours: Vec<(usize, usize)> =
        play(workload, taking(MS)).threads.iter().map(|log| seeks(&planned(log), SIZE)).collect();
    assert_eq!(theirs.len(), ours.len());
    let ((reads, writes), (our_reads, our_writes)) = (sums(theirs), sums(ours));
    assert_eq!(reads, our_reads);
    // bonnie++ writes each read back with a probability of one in ten. The tolerance is five
    // standard deviations.
    let tolerance = 5.0 * (reads as f64 * 0.1 * 0.9).sqrt();
    assert!((writes as f64 - our_writes as f64).abs() < tolerance, "{writes} {our_writes}");
}

/// Returns what a fio job with libaio submitted and synced, and its maximum number of operations in
/// flight.
fn submitted(process: &Process) -> (Vec<Did>, u64) {
    let (mut accesses, mut in_flight, mut most) = (Vec::new(), 0, 0);
    for call in process.iter().filter(|call| call.result >= 0) {
        match call.name.as_str() {
            "io_submit" => {
                let kind =
                    if call.arguments.contains("IOCB_CMD_PWRITE") { OpKind::Write } else { OpKind::Read };
                let offsets = call.numbers("aio_offset=");
                assert_eq!(offsets.len() as i64, call.result);
                let lengths = call.numbers("aio_nbytes=");
                accesses.extend(offsets.iter().zip(lengths).map(|(offset, length)| (kind, *offset, length)));
                in_flight += call.result;
                most = most.max(in_flight);
            }
            "io_getevents" => in_flight -= call.result,
            "fsync" => accesses.push((OpKind::Sync, 0, 0)),
            _ => {}
        }
    }
    (accesses, most as u64)
}

/// Runs the jobs of the fio command that KDiskMark 3 uses (its src/helper.cpp), on a file of 4 MiB.
fn kdiskmark(rw: &str, block: &str, depth: u32, jobs: u32) -> Option<Vec<(Vec<Did>, u64)>> {
    let (folder, path) = folder_with("file", 4 * MIB);
    let arguments = [
        "--output-format=json",
        "--ioengine=libaio",
        "--randrepeat=0",
        "--refill_buffers=0",
        "--end_fsync=1",
        "--direct=1",
        "--rwmixread=70",
        &format!("--filename={}", path.display()),
        &format!("--name={rw}"),
        "--size=4m",
        "--zero_buffers=0",
        &format!("--bs={block}"),
        "--runtime=5",
        &format!("--rw={rw}"),
        &format!("--iodepth={depth}"),
        &format!("--numjobs={jobs}"),
        "--group_reporting",
    ];
    let (_, processes) = trace(folder.path(), "io_submit,io_getevents,fsync", "fio", &arguments)?;
    let accesses: Vec<_> =
        processes.iter().map(submitted).filter(|(did, _)| did.iter().any(|one| one.2 > 0)).collect();
    assert_eq!(accesses.len() as u32, jobs);
    Some(accesses)
}

#[test]
fn fio_as_kdiskmark_runs_it_goes_over_the_file_in_the_same_order() {
    let sequential = workloads("kdiskmark-3", 4 * MIB);
    for (rw, index) in [("read", 0), ("write", 4)] {
        let Some(jobs) = kdiskmark(rw, "1m", 8, 1) else { return };
        let (theirs, most) = &jobs[0];
        let played = play(&sequential[index].1, taking(MS));
        assert_eq!(*theirs, planned(played.only()), "{rw}");
        // The file has four blocks, so the queue of eight is never full.
        assert_eq!((*most, sequential[index].1.iodepth), (4, 8));
    }
}

#[test]
fn fio_as_kdiskmark_runs_it_covers_the_file_once_with_each_job() {
    for (rw, index) in [("randread", 2), ("randwrite", 6)] {
        let Some(jobs) = kdiskmark(rw, "4k", 32, 2) else { return };
        let (_, workload) = workloads("kdiskmark-3-nvme", 4 * MIB).swap_remove(index);
        let ours = play(&workload.clone().with(|access| access.threads = 2), taking(MS));
        let ours: Vec<Vec<Did>> = ours.threads.iter().map(|log| planned(log)).collect();
        let theirs: Vec<Vec<Did>> = jobs.iter().map(|(did, _)| did.clone()).collect();
        for both in [&theirs, &ours] {
            assert_ne!(both[0], both[1], "each has its own order");
        }
        let mut whole: Vec<Did> = ours[0].clone();
        whole.sort_unstable_by_key(|one| (one.0 == OpKind::Sync, one.1));
        for did in theirs.iter().chain(&ours) {
            // The fsync is the last operation, or absent.
            assert_eq!(did.last().map(|one| one.0 == OpKind::Sync), Some(rw == "randwrite"));
            let mut sorted = did.clone();
            assert!(!did.is_sorted_by_key(|one| one.1));
            sorted.sort_unstable_by_key(|one| (one.0 == OpKind::Sync, one.1));
            assert_eq!(sorted, whole, "{rw}");
        }
        assert!(jobs.iter().all(|(_, most)| *most == u64::from(workload.iodepth)));
    }
}
