//! CrystalDiskMark. Facts: DiskBench.cpp, SettingsDlg.cpp and DiskMarkDlg.cpp of the versions named
//! in the profiles. With DiskSpd's default for `-r`, offsets are multiples of the block size.

use super::*;

pub(super) const PLAYED: &[&str] = &[
    "cdm-9",
    "cdm-9-peak",
    "cdm-9-real",
    "cdm-9-demo",
    "cdm-9-nvme",
    "cdm-9-flash",
    "cdm-9-mix",
    "cdm-8",
    "cdm-8-nvme",
    "cdm-7",
    "cdm-6",
    "cdm-5",
    "cdm-3",
    "cdm-2",
];

/// A test with the parameters that CrystalDiskMark passes to DiskSpd.
#[derive(Clone, Copy)]
struct Test {
    random: bool,
    block_bytes: u64,
    queues: u32,
    threads: u32,
}

const fn seq(block_bytes: u64, queues: u32) -> Test {
    Test { random: false, block_bytes, queues, threads: 1 }
}

const fn rnd(queues: u32, threads: u32) -> Test {
    Test { random: true, block_bytes: 4 * KIB, queues, threads }
}

/// Checks a test with `-b -o -t -d -w [-r]` and without `-z`, so that the seed is always the same.
fn assert_diskspd(direction: Direction, workload: &Workload, test: Test, seconds: u64) {
    const SIZE: u64 = 16 * MIB;
    const LATENCY: u64 = 50 * MS;
    assert_eq!((workload.iodepth, workload.threads), (test.queues, test.threads));
    let played = play(workload, taking(LATENCY));
    assert_eq!(played.threads.len(), test.threads as usize);
    for log in &played.threads {
        // All queues run in batches until the time is over, without a flush. With -d5 and 50 ms per
        // batch there are 100.
        assert_eq!(log.len() as u64, seconds * S / LATENCY * u64::from(test.queues));
        assert_queue_full(log, u64::from(test.queues), LATENCY);
        if direction == Direction::Mix {
            assert_read_share(log, 70);
        } else {
            assert_all(log, kind_of(direction), test.block_bytes);
        }
        match test.random {
            true => assert_drawn(log, SIZE, test.block_bytes),
            false => assert_in_order(log, SIZE, test.block_bytes),
        }
    }
    if test.threads > 1 {
        assert_ne!(offsets(&played.threads[0]), offsets(&played.threads[1]), "each thread its own offsets");
    }
    assert_eq!(played.elapsed_ns, seconds * S);
}

#[test]
fn versions_with_diskspd_run_each_test_for_its_time() {
    let standard = [seq(MIB, 8), seq(MIB, 1), rnd(32, 1), rnd(1, 1)];
    let nvme = [seq(MIB, 8), seq(128 * KIB, 32), rnd(32, 16), rnd(1, 1)];
    for (name, tests, runs, seconds) in [
        ("cdm-9", &standard[..], 3, 5),
        ("cdm-9-peak", &[seq(MIB, 8), rnd(32, 1)], 3, 5),
        ("cdm-9-real", &[seq(MIB, 1), rnd(1, 1)], 3, 5),
        ("cdm-9-demo", &[seq(MIB, 8)], 3, 5),
        ("cdm-9-nvme", &nvme, 3, 5),
        ("cdm-9-flash", &standard, 3, 1),
        ("cdm-9-mix", &standard, 3, 5),
        ("cdm-8", &standard, 5, 5),
        ("cdm-8-nvme", &nvme, 5, 5),
        ("cdm-7", &[seq(MIB, 8), seq(MIB, 1), rnd(32, 16), rnd(1, 1)], 5, 5),
        ("cdm-6", &[seq(128 * KIB, 32), rnd(8, 8), rnd(32, 1), rnd(1, 1)], 5, 5),
        ("cdm-5", &[seq(128 * KIB, 32), rnd(32, 1), seq(MIB, 1), rnd(1, 1)], 5, 5),
    ] {
        let profile = profile(name);
        // One discarded run precedes those that count, and all use the same offsets.
        assert_eq!((profile.repetitions(), profile.rules.discarded_runs), (runs + 1, 1), "{name}");
        assert!(profile.rules.same_offsets, "{name}");
        let mut directions = vec![Direction::Read, Direction::Write];
        if name == "cdm-9-mix" {
            directions.push(Direction::Mix);
        }
        let expected =
            directions.iter().flat_map(|direction| tests.iter().map(move |test| (*direction, *test)));
        let played = workloads(name, 16 * MIB);
        assert_eq!(played.len(), directions.len() * tests.len(), "{name}");
        for ((direction, test), (played_direction, workload)) in expected.zip(&played) {
            assert_eq!(direction, *played_direction, "{name}");
            assert_diskspd(direction, workload, test, seconds);
        }
    }
}

/// Plays one run of a test of version 3. Its time includes its flush.
fn old(name: &str, index: usize, size_bytes: u64, latency_ns: u64) -> (Direction, Played) {
    let (direction, workload) = workloads(name, size_bytes).swap_remove(index);
    let script = Script { sync_latency_ns: Some(S), ..taking(latency_ns) };
    (direction, play(&workload, script))
}

/// Checks that writes are flushed once, within the measured time, and that reads are not.
fn assert_flushed_once(direction: Direction, played: &Played, last_ns: u64) {
    let (operations, synced) = split_sync(played.only());
    assert_eq!(synced, direction == Direction::Write);
    assert!(operations.iter().all(|one| one.op.kind != OpKind::Sync));
    assert_eq!(played.elapsed_ns, last_ns + if synced { S } else { 0 });
}

#[test]
fn version_3_reads_and_writes_whole_passes_until_six_seconds_are_over() {
    for name in ["cdm-3", "cdm-2"] {
        for index in [0, 1] {
            // At 625 ms per operation, a pass of 8 MiB takes 5 s, so there are two passes. At 1 s,
            // a pass takes 8 s, so there is one.
            for (latency_ns, passes) in [(625 * MS, 2), (S, 1)] {
                let (direction, played) = old(name, index, 8 * MIB, latency_ns);
                let (operations, _) = split_sync(played.only());
                assert_eq!(operations.len(), 8 * passes, "{name}");
                assert_all(operations, kind_of(direction), MIB);
                assert_in_order(operations, 8 * MIB, MIB);
                assert_queue_full(operations, 1, latency_ns);
                assert_flushed_once(direction, &played, 8 * passes as u64 * latency_ns);
            }
        }
    }
}

#[test]
fn version_3_looks_at_the_time_after_20_or_160_random_operations() {
    for name in ["cdm-3", "cdm-2"] {
        for (index, block_bytes, batch) in [(2, 512 * KIB, 20), (4, 4 * KIB, 160)] {
            for index in [index, index + 1] {
                // 6 s are enough for one and a half batches, so there are two.
                let latency_ns = 6 * S / (batch * 3 / 2);
                let (direction, played) = old(name, index, 16 * MIB, latency_ns);
                let (operations, _) = split_sync(played.only());
                assert_eq!(operations.len() as u64, 2 * batch, "{name}");
                assert_all(operations, kind_of(direction), block_bytes);
                assert_drawn(operations, 16 * MIB, block_bytes);
                assert_flushed_once(direction, &played, 2 * batch * latency_ns);
            }
        }
    }
}

#[test]
fn version_3_looks_at_the_time_always_where_32_are_in_flight() {
    for index in [6, 7] {
        let (direction, played) = old("cdm-3", index, 16 * MIB, 70 * MS);
        let (operations, _) = split_sync(played.only());
        // 86 batches of 70 ms take 6.02 s.
        assert_eq!(operations.len(), 32 * 86);
        assert_all(operations, kind_of(direction), 4 * KIB);
        assert_queue_full(operations, 32, 70 * MS);
        assert_flushed_once(direction, &played, 86 * 70 * MS);
    }
    assert_eq!(workloads("cdm-2", 16 * MIB).len(), 6, "version 2 had no deep queue");
}

#[test]
fn version_3_discards_one_run_and_goes_test_by_test() {
    for (name, tests) in [("cdm-3", 4), ("cdm-2", 3)] {
        let profile = profile(name);
        assert_eq!((profile.repetitions(), profile.rules.discarded_runs), (6, 1), "{name}");
        let directions: Vec<Direction> =
            workloads(name, 16 * MIB).into_iter().map(|(direction, _)| direction).collect();
        assert_eq!(directions, [Direction::Read, Direction::Write].repeat(tests), "{name}");
    }
}
