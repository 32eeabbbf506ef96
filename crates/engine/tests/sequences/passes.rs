//! Tools that cover a file or device once: AmorphousDiskMark, KDiskMark, AS SSD, ATTO, dd, hdparm.
//! The facts are from their source code if available, otherwise from the descriptions named in the
//! profiles.

use super::*;
use kurabe_core::workload::Op;

pub(super) const PLAYED: &[&str] = &[
    "adm-4",
    "adm-1",
    "kdiskmark-3",
    "kdiskmark-3-peak",
    "kdiskmark-3-real",
    "kdiskmark-3-nvme",
    "as-ssd",
    "atto",
    "dd",
    "hdparm-t",
    "ior-easy",
    "ior-hard",
    "io500",
];

/// A test: whether it is sequential or shuffled, block size, and operations in flight.
type Test = (bool, u64, u32);

/// Checks one pass over the file, in order or shuffled, with a timed fsync after writes. The time
/// limit may end it early.
fn assert_one_pass(direction: Direction, workload: &Workload, (sequential, block_bytes, depth): Test) {
    const SIZE: u64 = 64 * MIB;
    let blocks = SIZE / block_bytes;
    let script = |latency_ns| Script { sync_latency_ns: Some(S), ..taking(latency_ns) };
    assert_eq!(workload.iodepth, depth);
    let played = play(workload, script(1000));
    let (operations, synced) = split_sync(played.only());
    assert_eq!((operations.len() as u64, synced), (blocks, direction == Direction::Write));
    assert_all(operations, kind_of(direction), block_bytes);
    assert_queue_full(operations, u64::from(depth), 1000);
    match sequential {
        true => assert_in_order(operations, SIZE, block_bytes),
        false => assert_covers_once_at_random(operations, 0, SIZE, block_bytes),
    }
    let batches = blocks.div_ceil(u64::from(depth));
    assert_eq!(played.elapsed_ns, batches * 1000 + if synced { S } else { 0 });

    // On a slow device the limit of 5 s ends the pass. Operations in flight are still completed.
    let latency_ns = 1900 * MS;
    let played = play(workload, script(latency_ns));
    let (operations, _) = split_sync(played.only());
    assert_eq!(operations.len() as u64, (3 * u64::from(depth)).min(blocks));
}

#[test]
fn amorphousdiskmark_shuffles_once_and_ends_with_the_file_or_after_five_seconds() {
    let newer: [Test; 4] = [(true, MIB, 8), (true, MIB, 1), (false, 4 * KIB, 64), (false, 4 * KIB, 1)];
    let older: [Test; 4] = [(true, 128 * KIB, 32), (false, 4 * KIB, 32), (true, MIB, 1), (false, 4 * KIB, 1)];
    for (name, tests, runs) in [("adm-4", newer, 5), ("adm-1", older, 1)] {
        assert_eq!(profile(name).repetitions(), runs, "{name}");
        // Reads, then writes, of each test.
        let expected = tests
            .iter()
            .flat_map(|test| [Direction::Read, Direction::Write].map(|direction| (direction, *test)));
        let played = workloads(name, 64 * MIB);
        assert_eq!(played.len(), 8, "{name}");
        for ((direction, test), (played_direction, workload)) in expected.zip(&played) {
            assert_eq!(direction, *played_direction, "{name}");
            assert_one_pass(direction, workload, test);
        }
    }
}

#[test]
fn kdiskmark_has_fio_cover_the_file_once() {
    let standard: [Test; 4] = [(true, MIB, 8), (true, MIB, 1), (false, 4 * KIB, 32), (false, 4 * KIB, 1)];
    let nvme: [Test; 4] = [(true, MIB, 8), (true, 128 * KIB, 32), (false, 4 * KIB, 32), (false, 4 * KIB, 1)];
    for (name, tests) in [
        ("kdiskmark-3", &standard[..]),
        ("kdiskmark-3-peak", &[standard[0], standard[2]]),
        ("kdiskmark-3-real", &[standard[1], standard[3]]),
        ("kdiskmark-3-nvme", &nvme),
    ] {
        assert_eq!(profile(name).repetitions(), 5, "{name}");
        // All reads, then all writes.
        let expected = [Direction::Read, Direction::Write]
            .into_iter()
            .flat_map(|direction| tests.iter().map(move |test| (direction, *test)));
        let played = workloads(name, 64 * MIB);
        assert_eq!(played.len(), 2 * tests.len(), "{name}");
        for (number, ((direction, test), (played_direction, workload))) in expected.zip(&played).enumerate() {
            assert_eq!(direction, *played_direction, "{name}");
            if name == "kdiskmark-3-nvme" && number % 4 == 2 {
                assert_jobs_cover_the_file_each(direction, workload);
            } else {
                assert_one_pass(direction, workload, test);
            }
        }
    }
}

/// Checks fio's numjobs=16 on one file: each job covers the whole file in its own order, with its
/// own fsync.
fn assert_jobs_cover_the_file_each(direction: Direction, workload: &Workload) {
    let played = play(workload, taking(1000));
    assert_eq!((played.threads.len(), workload.iodepth), (16, 32));
    let mut orders = std::collections::HashSet::new();
    for log in &played.threads {
        let (operations, synced) = split_sync(log);
        assert_eq!(synced, direction == Direction::Write);
        assert_all(operations, kind_of(direction), 4 * KIB);
        assert_covers_once_at_random(operations, 0, 64 * MIB, 4 * KIB);
        assert!(orders.insert(offsets(operations)), "two jobs have one order");
    }
}

#[test]
fn as_ssd_covers_its_gigabyte_whole_and_in_64_parts() {
    // Scaled down: 64 MiB instead of 1 GiB, so 1 MiB for each of 64 threads instead of 16 MiB.
    let played = workloads("as-ssd", 64 * MIB);
    assert_eq!(played.len(), 6);
    for (number, (direction, workload)) in played.iter().enumerate() {
        assert_eq!(*direction, [Direction::Read, Direction::Write][number % 2]);
        assert_eq!(workload.iodepth, 1);
        let played = play(workload, taking(1000));
        match number / 2 {
            0 => {
                assert_all(played.only(), kind_of(*direction), 16 * MIB);
                assert_eq!(offsets(played.only()), [0, 16, 32, 48].map(|at| at * MIB));
            }
            1 => {
                assert_all(played.only(), kind_of(*direction), 4 * KIB);
                assert_covers_once_at_random(played.only(), 0, 64 * MIB, 4 * KIB);
            }
            _ => {
                assert_eq!(played.threads.len(), 64);
                for (thread, log) in played.threads.iter().enumerate() {
                    assert_all(log, kind_of(*direction), 4 * KIB);
                    assert_covers_once_at_random(log, thread as u64 * MIB, MIB, 4 * KIB);
                }
            }
        }
    }
    // The actual spans.
    for (_, workload) in workloads("as-ssd", 8 << 30) {
        assert_eq!(workload.span_bytes, 1 << 30);
    }
}

#[test]
fn atto_writes_and_reads_the_file_once_at_each_size() {
    const SIZE: u64 = 64 * MIB;
    let played = workloads("atto", SIZE);
    let sizes: Vec<u64> = (9..=26).map(|power| 1u64 << power).collect();
    assert_eq!((sizes[0], sizes[17], played.len()), (512, 64 * MIB, 36));
    for (number, (direction, workload)) in played.iter().enumerate() {
        assert_eq!(*direction, [Direction::Write, Direction::Read][number % 2], "writes come first");
        let block_bytes = sizes[number / 2];
        let played = play(workload, taking(1000));
        let log = played.only();
        assert_eq!(log.len() as u64 * block_bytes, SIZE);
        assert_all(log, kind_of(*direction), block_bytes);
        assert_in_order(log, SIZE, block_bytes);
        assert_queue_full(log, 4, 1000);
    }
    assert_eq!(profile("atto").rules.size_bytes, 256 * MIB);
}

#[test]
fn dd_writes_the_file_with_one_fsync_and_reads_it() {
    let played = workloads("dd", 128 * MIB);
    let [(Direction::Write, write), (Direction::Read, read)] = &played[..] else { panic!("{played:?}") };
    for (workload, kind, syncs) in [(write, OpKind::Write, true), (read, OpKind::Read, false)] {
        let played = play(workload, Script { sync_latency_ns: Some(S), ..taking(10 * MS) });
        let (operations, synced) = split_sync(played.only());
        assert_eq!((operations.len(), synced), (8, syncs));
        assert_all(operations, kind, 16 * MIB);
        assert_in_order(operations, 128 * MIB, 16 * MIB);
        assert_queue_full(operations, 1, 10 * MS);
        // conv=fsync: dd's time includes the fsync.
        assert_eq!(played.elapsed_ns, 80 * MS + if syncs { S } else { 0 });
    }
}

#[test]
fn hdparm_reads_two_mebibytes_again_and_again_and_then_on_from_the_start() {
    let played = workloads("hdparm-t", 64 * MIB);
    let [(Direction::Read, cached), (Direction::Read, buffered)] = &played[..] else { panic!("{played:?}") };
    let first = Op { kind: OpKind::Read, offset_bytes: 0, length_bytes: 2 << 20 };
    let again = play(cached, taking(MS));
    assert_eq!((again.only().len(), again.elapsed_ns), (2000, 2 * S));
    assert!(again.only().iter().all(|one| one.op == first));
    // Until 3 s have passed …
    let slow = play(buffered, taking(130 * MS));
    assert_eq!((slow.only().len(), slow.elapsed_ns), (24, 24 * 130 * MS));
    // … or the end of the device is reached.
    let fast = play(buffered, taking(MS));
    assert_eq!(fast.only().len(), 32);
    for played in [slow, fast] {
        assert_all(played.only(), OpKind::Read, 2 * MIB);
        assert_in_order(played.only(), 64 * MIB, 2 * MIB);
        assert!(played.only().windows(2).all(|pair| pair[0].completed_at_ns == pair[1].submitted_at_ns));
    }
}

/// Checks `-t 2m` and `-t 47008`, in order, written with `-e` and read.
#[test]
fn ior_writes_its_file_in_order_with_one_fsync_and_reads_it() {
    for (name, place, block_bytes) in
        [("ior-easy", 0, 2 * MIB), ("ior-hard", 0, 47_008), ("io500", 0, 2 * MIB), ("io500", 2, 47_008)]
    {
        let size_bytes = 32 * block_bytes;
        let played: Vec<_> = workloads(name, size_bytes).into_iter().skip(place).take(2).collect();
        let directions: Vec<Direction> = played.iter().map(|(direction, _)| *direction).collect();
        assert_eq!(directions, [Direction::Write, Direction::Read], "{name}");
        for (direction, workload) in &played {
            let script = Script { sync_latency_ns: Some(S), ..taking(1000) };
            let once = play(workload, script);
            let (operations, synced) = split_sync(once.only());
            assert_eq!((operations.len(), synced), (32, *direction == Direction::Write));
            assert_all(operations, kind_of(*direction), block_bytes);
            assert_in_order(operations, size_bytes, block_bytes);
            assert_eq!(once.elapsed_ns, 32 * 1000 + if synced { S } else { 0 });
        }
    }
}
