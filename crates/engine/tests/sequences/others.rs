//! Tools that sample, seek, or run in rounds: GNOME Disks, HD Tune, AS SSD's access times, ioping,
//! bonnie++, MacBench, the SNIA's tests, and kurabe's own two profiles.

use super::*;
use crate::steps::samples::{CellSamples, SampleSpan, Watch, sample_accesses, sample_positions};
use kurabe_core::glib_random::GlibRandom;
use kurabe_core::profile::Step;
use kurabe_core::workload::Data;

pub(super) const PLAYED: &[&str] = &[
    "default",
    "quick",
    "stutter",
    "probe",
    "uses",
    "gnome-disks",
    "gnome-disks-46",
    "hdtune",
    "macbench-5-1024k",
    "ioping",
    "ioping-r",
    "bonnie-seeks",
    "snia-pts-iops",
    "snia-pts-throughput",
    "snia-pts-throughput-1024k",
    "snia-pts-latency",
    "snia-wsat",
    "snia-iops-small",
    "snia-latency-small",
    "snia-wsat-small",
];

/// Plays a sampling step on a target of this size.
fn sample(step: &Step, span_bytes: u64) -> (Vec<Logged>, Vec<CellSamples>) {
    let mut device = NullDevice::new(1, taking(MS));
    let (stop, mut live) = (Stop::default(), |_| Ok(()));
    let watch = &mut Watch::new(&stop, &mut live, 0, 0);
    let place = SampleSpan { span_bytes, unit_bytes: 512 };
    let tracks = match step {
        Step::Positional(step) => sample_positions(&mut device, step, place, watch).unwrap(),
        Step::AccessTime(step) => {
            let mut content = Content::new(Data::Random, 1, 0);
            vec![sample_accesses(&mut device, step, place, &mut content, watch).unwrap()]
        }
        other => panic!("{other:?}"),
    };
    (device.log().to_vec(), tracks)
}

fn triple(one: &Logged) -> (OpKind, u64, u64) {
    (one.op.kind, one.op.offset_bytes, u64::from(one.op.length_bytes))
}

#[test]
fn gnome_disks_samples_100_places_and_1000_accesses() {
    use OpKind::{Read, Sync, Write};
    const DISK: u64 = 500_107_862_016;
    for (name, counted) in [("gnome-disks", 999), ("gnome-disks-46", 1000)] {
        let steps = profile(name).steps;
        let (log, tracks) = sample(&steps[0], DISK);
        let expected: Vec<(OpKind, u64, u64)> = (0..100)
            .map(|number| (number * DISK / 100) & !4095)
            .flat_map(|at| {
                let (page, whole) = ((Read, at, 4096), 10 * MIB);
                [page, (Read, at, whole), page, (Write, at, whole), (Sync, 0, 0)]
            })
            .collect();
        assert_eq!(log.iter().map(triple).collect::<Vec<_>>(), expected, "{name}");
        assert_eq!(tracks.iter().map(|track| track.samples.len()).collect::<Vec<_>>(), [100, 100]);

        let (log, tracks) = sample(&steps[1], DISK);
        let mut random = GlibRandom::new(42);
        let places: Vec<(OpKind, u64, u64)> =
            (0..1000).map(|_| (Read, random.below(DISK) & !4095, 4096)).collect();
        assert_eq!(log.iter().map(triple).collect::<Vec<_>>(), places, "{name}");
        assert_eq!(tracks[0].samples.len(), counted, "{name}");
        assert_eq!(tracks[0].samples[999 - (1000 - counted)].offset_bytes, places[999].1, "{name}");
    }
}

#[test]
fn hd_tune_reads_places_over_the_device_and_then_at_random() {
    const DISK: u64 = 64 << 30;
    let steps = profile("hdtune").steps;
    let (log, _) = sample(&steps[0], DISK);
    let expected: Vec<(OpKind, u64, u64)> =
        (0..200).map(|number| (OpKind::Read, (number * DISK / 200) & !4095, 2 * MIB)).collect();
    assert_eq!(log.iter().map(triple).collect::<Vec<_>>(), expected);
    let (log, _) = sample(&steps[1], DISK);
    assert_eq!(log.len(), 500);
    assert_all(&log, OpKind::Read, 4096);
    assert!(log.iter().any(|one| one.op.offset_bytes > DISK / 2));
    assert!(log.iter().any(|one| one.op.offset_bytes < DISK / 2));
}

#[test]
fn the_access_times_of_as_ssd_read_everywhere_and_write_512_bytes_in_a_gigabyte() {
    const DISK: u64 = 64 << 30;
    let steps = profile("as-ssd").steps;
    let (reads, _) = sample(&steps[3], DISK);
    assert_all(&reads, OpKind::Read, 4096);
    assert!(reads.iter().any(|one| one.op.offset_bytes > DISK / 2));
    let (writes, _) = sample(&steps[4], DISK);
    assert_all(&writes, OpKind::Write, 512);
    assert!(writes.iter().all(|one| one.op.offset_bytes < 1 << 30 && one.op.offset_bytes % 512 == 0));
    assert!(writes.iter().any(|one| one.op.offset_bytes % 4096 != 0), "sectors, not pages");
    assert_eq!((reads.len(), writes.len()), (1000, 1000));
}

#[test]
fn a_probe_begins_with_reads_of_places_over_the_device() {
    const DISK: u64 = 64 << 30;
    let profile = profile("probe");
    let (log, tracks) = sample(&profile.steps[0], DISK);
    let places = (0..16).map(|number| (number * DISK / 16) & !4095);
    let expected: Vec<(OpKind, u64, u64)> =
        places.flat_map(|at| [(OpKind::Read, at, 4096), (OpKind::Read, at, MIB)]).collect();
    assert_eq!(log.iter().map(triple).collect::<Vec<_>>(), expected);
    assert_eq!(tracks[0].samples.len(), 16);
    assert!(workloads("probe", DISK).iter().all(|(direction, _)| *direction == Direction::Read));
}

#[test]
fn what_uses_ask_ends_with_writes_that_wait_for_a_flush() {
    let played = workloads("uses", 64 << 20);
    let flushed = |(_, workload): &&(Direction, Workload)| workload.sync.every_writes == Some(1);
    let blocks = |(_, workload): &(Direction, Workload)| workload.largest_block_bytes();
    assert_eq!(played.len(), 13);
    assert_eq!(played.iter().filter(flushed).map(blocks).collect::<Vec<_>>(), [4096, 16384, 4096]);
}

#[test]
fn ioping_reads_once_a_second_after_one_that_does_not_count() {
    let played = workloads("ioping", MIB);
    assert_eq!(played.len(), 1);
    let played = play(&played[0].1, taking(3 * MS));
    let log = played.only();
    assert_all(log, OpKind::Read, 4096);
    assert_drawn(log, MIB, 4096);
    let times: Vec<u64> = log.iter().map(|one| one.submitted_at_ns).collect();
    assert_eq!(times, (0..=10).map(|second| second * S).collect::<Vec<_>>());
    assert_eq!(played.recorded.read.completed, 10);
    assert_eq!(played.recorded.read.latency.max_ns, 3 * MS);
}

#[test]
fn ioping_r_reads_one_after_the_other_for_three_seconds() {
    let played = workloads("ioping-r", 64 * MIB);
    assert_eq!(played.len(), 1);
    let played = play(&played[0].1, taking(MS / 2));
    assert_all(played.only(), OpKind::Read, 4096);
    assert_drawn(played.only(), 64 * MIB, 4096);
    assert_queue_full(played.only(), 1, MS / 2);
    assert_eq!((played.only().len(), played.elapsed_ns), (6000, 3 * S));
}

#[test]
fn bonnie_makes_8192_seeks_with_five_seekers_who_write_every_tenth_block_back_and_sync_at_the_end() {
    const SIZE: u64 = 4 << 20;
    // The file has just been read.
    let profile = profile_named("bonnie-seeks").unwrap();
    assert!(profile.steps.iter().all(|step| matches!(step, Step::Io(step) if step.warm_up_passes == 1)));
    let played = workloads("bonnie-seeks", SIZE);
    assert_eq!(played.len(), 1);
    let played = play(&played[0].1, Script { sync_latency_ns: Some(S), ..taking(MS) });
    assert_eq!(played.threads.len(), 5);
    let mut reads = 0;
    // The seekers' end time is taken after the fsync with which each closes its file.
    assert_eq!(played.elapsed_ns, (1639 + 163) * MS + S);
    for log in &played.threads {
        let (log, synced) = split_sync(log);
        assert!(synced);
        let (mut since, mut last) = (0, None);
        for one in log {
            assert_eq!(u64::from(one.op.length_bytes), 8 * KIB);
            match one.op.kind {
                OpKind::Read => {
                    assert!(since < 10, "the tenth read is written back");
                    (since, last) = (since + 1, Some(one));
                    reads += 1;
                }
                OpKind::Write => {
                    // The block that was just read, once its read has completed.
                    let read = last.expect("a read before");
                    assert_eq!((since, one.op.offset_bytes), (10, read.op.offset_bytes));
                    assert!(one.submitted_at_ns >= read.completed_at_ns);
                    since = 0;
                }
                OpKind::Sync | OpKind::Trim => panic!("bonnie++ does not sync between seeks"),
            }
        }
        let reads: Vec<Logged> = log.iter().filter(|one| one.op.kind == OpKind::Read).copied().collect();
        assert_drawn(&reads, SIZE, 8 * KIB);
        assert!((1638..=1639).contains(&reads.len()), "{}", reads.len());
    }
    assert_eq!(reads, 8192);
}

/// Checks a closed loop with a time limit, in which all threads behave alike.
fn assert_loop(
    direction: Direction,
    workload: &Workload,
    size_bytes: u64,
    block_bytes: u64,
    queue: (u32, u32),
) {
    let latency_ns = workload.end.time_ns.unwrap() / 40;
    let played = play(workload, taking(latency_ns));
    let (depth, threads) = queue;
    assert_eq!((workload.iodepth, played.threads.len()), (depth, threads as usize));
    for log in &played.threads {
        assert_eq!(log.len() as u64, 40 * u64::from(depth));
        assert_queue_full(log, u64::from(depth), latency_ns);
        match direction {
            Direction::Mix => assert_read_share(log, workload.read_percent),
            _ => assert_all(log, kind_of(direction), block_bytes),
        }
        match workload.pattern.is_sequential() {
            true if workload.moving_start => {
                assert_in_order_from(log[0].op.offset_bytes / block_bytes, log, size_bytes, block_bytes);
            }
            true => assert_in_order(log, size_bytes, block_bytes),
            false => assert_drawn(log, size_bytes, block_bytes),
        }
    }
}

#[test]
fn profiles_that_loop_for_a_time_do_what_their_cells_say() {
    const SIZE: u64 = 64 * MIB;
    // Sequential or not, block size, queue depth and threads of each test. Reads come first.
    let (deep, one) = ((true, MIB, (8, 1)), (true, MIB, (1, 1)));
    let (random_deep, random) = ((false, 4 * KIB, (32, 1)), (false, 4 * KIB, (1, 1)));
    let (by_four, by_four_in_order) = ((false, 4 * KIB, (4, 1)), (true, MIB, (4, 1)));
    let (read, write, mix) = (Direction::Read, Direction::Write, Direction::Mix);
    let by_direction = [read, read, read, read, write, write, write, write];
    for (name, directions, tests) in [
        ("default", &by_direction[..], &[deep, one, random_deep, random][..]),
        ("quick", &by_direction[1..7], &[deep, random_deep, random]),
        // By step: read and write of each.
        (
            "macbench-5-1024k",
            &[read, write, read, write],
            &[one, one, (false, MIB, (1, 1)), (false, MIB, (1, 1))],
        ),
        // By step: reads alone, then half of the operations are writes.
        ("stutter", &[read, mix, read, mix], &[by_four, by_four, by_four_in_order, by_four_in_order]),
        ("snia-pts-throughput", &[read, write], &[(true, 128 * KIB, (32, 1))]),
        ("snia-pts-throughput-1024k", &[read, write], &[(true, MIB, (32, 1))]),
        ("snia-wsat", &[write, write], &[(false, 4 * KIB, (32, 4))]),
        ("snia-wsat-small", &[write, write], &[random_deep]),
    ] {
        let played = workloads(name, SIZE);
        assert_eq!(played.len(), directions.len(), "{name}");
        for (number, (direction, workload)) in played.iter().enumerate() {
            assert_eq!(*direction, directions[number], "{name}");
            let (sequential, block_bytes, queue) = tests[number % tests.len()];
            assert_eq!(workload.pattern.is_sequential(), sequential, "{name}");
            assert_loop(*direction, workload, SIZE, block_bytes, queue);
        }
    }
}

#[test]
fn the_snia_rounds_have_all_mixes_of_all_sizes() {
    const SIZE: u64 = 64 * MIB;
    let all = [1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512];
    for (name, shares, sizes, queue) in [
        ("snia-pts-iops", &[100, 95, 65, 50, 35, 5, 0][..], &all[..], (32, 4)),
        ("snia-pts-latency", &[100, 65, 0], &[8 * KIB, 4 * KIB, 512], (1, 1)),
        ("snia-iops-small", &[100, 65, 0], &[64 * KIB, 4 * KIB], (32, 1)),
        ("snia-latency-small", &[100, 65, 0], &[4 * KIB], (1, 1)),
    ] {
        let expected = shares.iter().flat_map(|share| sizes.iter().map(move |size| (*share, *size)));
        let played = workloads(name, SIZE);
        assert_eq!(played.len(), shares.len() * sizes.len(), "{name}");
        for ((share, block_bytes), (direction, workload)) in expected.zip(&played) {
            assert_eq!(workload.read_percent, share, "{name}");
            assert_loop(*direction, workload, SIZE, block_bytes, queue);
        }
    }
}

#[test]
fn the_snia_preconditioning_writes_the_capacity_in_order_twice() {
    const SIZE: u64 = 8 * MIB;
    for (name, block_bytes, passes) in [
        ("snia-pts-iops", 128 * KIB, 2),
        ("snia-pts-latency", 128 * KIB, 2),
        ("snia-pts-throughput", 128 * KIB, 2),
        ("snia-pts-throughput-1024k", MIB, 2),
        // Creating the file was the first pass.
        ("snia-iops-small", 128 * KIB, 1),
        ("snia-latency-small", 128 * KIB, 1),
    ] {
        let profile = profile(name);
        let [step] = &profile.preconditions[..] else { panic!("{name}") };
        let played = play(&step.workload(&profile.rules, Direction::Write, SIZE), taking(10 * S));
        // This takes minutes on the slow device, so no time limit ends it.
        assert_eq!(played.only().len() as u64, passes * SIZE / block_bytes, "{name}");
        assert_all(played.only(), OpKind::Write, block_bytes);
        assert_in_order(played.only(), SIZE, block_bytes);
    }
}
