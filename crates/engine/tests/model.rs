//! Profiles on a model: the same session, in virtual time.

use kurabe_core::event::Event;
use kurabe_core::listed::ListedOperation;
use kurabe_core::model::Model;
use kurabe_core::profile::{Profile, Step};
use kurabe_core::record::{Cell, FillRecord, Repetition};
use kurabe_core::workload::{Direction, OpKind};
use kurabe_core::{Error, ErrorKind, text};
use kurabe_engine::{Session, Stop};
use kurabe_profile::profile_named;
use kurabe_sim::{ModelTarget, device_named};

/// Returns a profile with a time limit of 10 ms for each workload.
fn quick(name: &str) -> Profile {
    let mut profile = profile_named(name).unwrap();
    profile.rules.time_ns = 10_000_000;
    for step in &mut profile.steps {
        if let Step::Io(step) = step {
            let end = &mut step.end;
            end.time_ns = end.time_ns.map(|_| 10_000_000);
        }
    }
    profile
}

/// Runs a profile on a medium with 1 µs and 5.2 GB/s behind a host without overhead.
fn measured(profile: &Profile) -> Vec<Cell> {
    let mut model = ModelTarget::new(&device_named("ideal-ram-disk").unwrap(), 1).unwrap();
    kurabe_virtual::measure(&mut model, profile, &vec![None; profile.steps.len()], &Stop::default())
        .unwrap()
        .0
}

fn only<'c>(cells: &'c [Cell], label: &str, direction: Direction) -> &'c Repetition {
    let cell = cells.iter().find(|cell| cell.label == label && cell.direction == Some(direction));
    let labels = || cells.iter().map(|cell| cell.label.clone()).collect::<Vec<_>>();
    let cell = cell.unwrap_or_else(|| panic!("{label} is none of {:?}", labels()));
    cell.counted().next().unwrap()
}

fn close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.001, "{value} is not {expected}");
}

#[test]
fn a_profile_of_workloads_runs_in_virtual_time() {
    let cells = measured(&quick("cdm-9"));
    // There is one server, so depth has no effect. 1 MiB takes 1 µs and 201.65 µs, 4 KiB takes 1 µs
    // and 0.788 µs.
    let rate = only(&cells, "SEQ 1 MiB Q8 T1", Direction::Read).rate_bytes_per_s(Direction::Read);
    close(rate, (1u64 << 20) as f64 / 202.65e-6);
    let rate = only(&cells, "RND 4 KiB Q32 T1", Direction::Write).rate_iops(Direction::Write);
    close(rate, 1e9 / 1788.0);
}

#[test]
fn a_short_repetition_on_a_slow_device_has_enough_operations() {
    // 10 ms on a disk with about 190 accesses per second, or 770 with a deep queue.
    let mut profile = quick("cdm-9");
    let mut model = ModelTarget::new(&device_named("hitachi-hua722020ala330").unwrap(), 1).unwrap();
    let traces = vec![None; profile.steps.len()];
    let mut reads = |profile: &Profile| {
        let (cells, _) = kurabe_virtual::measure(&mut model, profile, &traces, &Stop::default()).unwrap();
        let of = |label| only(&cells, label, Direction::Read).read.completed;
        (of("RND 4 KiB Q1 T1"), of("RND 4 KiB Q32 T1"))
    };
    let (alone, queued) = reads(&profile);
    assert!((32..64).contains(&alone) && (320..400).contains(&queued), "{alone}, {queued}");
    // Time limits of a second are kept.
    for step in &mut profile.steps {
        if let Step::Io(step) = step {
            let end = &mut step.end;
            end.time_ns = Some(1_000_000_000);
        }
    }
    let (alone, queued) = reads(&profile);
    assert!((150..250).contains(&alone) && (600..900).contains(&queued), "{alone}, {queued}");
}

/// Returns the fill of a run, the length of the pauses before its first repetition, and its reads
/// per second.
fn filled(profile: &Profile, fills: bool) -> (Option<FillRecord>, u64, f64) {
    let mut model = ModelTarget::new(&device_named("crucial-p1").unwrap(), 1).unwrap();
    let (mut fill, mut paused_ns, mut iops) = (None, 0, None);
    let stop = Stop::default();
    let mut emit = |event: Event| {
        match event {
            Event::FillDone { fill: done } => fill = Some(done),
            Event::Pause { length_ns } if iops.is_none() => paused_ns += length_ns,
            Event::Progress { .. } => assert!(fill.is_some() == fills, "the fill is not a repetition"),
            Event::CellDone { cell } => {
                iops.get_or_insert_with(|| cell.repetitions[0].rate_iops(Direction::Read));
            }
            _ => {}
        }
        Ok(())
    };
    let session = Session::on_model(&mut model, "crucial-p1", profile, &stop, &mut emit).with_fill(fills);
    kurabe_virtual::run(session).unwrap();
    (fill, paused_ns, iops.unwrap())
}

#[test]
fn a_test_file_is_written_to_a_model_before_it_is_read() {
    let mut profile = quick("cdm-9");
    profile.steps.truncate(3);
    profile.steps.drain(..2);
    profile.rules.size_bytes = (1 << 30) + 4096;
    let (fill, paused_ns, fresh_iops) = filled(&profile, true);
    let fill = fill.expect("a fill");
    assert_eq!((fill.asked_bytes, fill.written_bytes), ((1 << 30) + 4096, (1 << 30) + 4096));
    // At the rate of cells used with one bit.
    assert!((0.6e9..0.8e9).contains(&(fill.elapsed_ns as f64)), "{fill:?}");
    assert_eq!(paused_ns, profile.rules.interval_ns, "the pause comes after the fill, too");
    let (none, _, old_iops) = filled(&profile, false);
    assert_eq!(none, None);
    assert!(
        fresh_iops > 2.0 * old_iops,
        "{fresh_iops} of what was just written, {old_iops} of data of long ago"
    );
}

#[test]
fn who_works_on_whole_devices_or_copies_gets_no_file_before() {
    for (name, writes) in
        [("cdm-9", true), ("gnome-disks", false), ("delay-ratio", false), ("hdparm-t", false)]
    {
        assert_eq!(profile_named(name).unwrap().writes_file_first(), writes, "{name}");
    }
}

#[test]
fn accounts_sum_to_the_latencies_of_the_timed_operations_alone() {
    let cells = measured(&profile_named("gnome-disks").unwrap());
    assert_eq!(cells.len(), 3);
    for cell in &cells {
        let repetition = cell.counted().next().unwrap();
        let account = repetition.account.as_ref().unwrap();
        let shares: u64 = account.shares.iter().map(|share| share.time_ns).sum();
        assert_eq!(
            (shares, account.latency_ns),
            (repetition.elapsed_ns, repetition.elapsed_ns),
            "{}",
            cell.label
        );
    }
}

#[test]
fn a_copy_takes_the_time_of_its_pieces_and_of_the_memory() {
    let profile = profile_named("delay-ratio").unwrap();
    let cells = measured(&profile);
    let seconds = |part: &str| {
        let cell = cells.iter().find(|cell| cell.part == part).unwrap();
        cell.counted().next().unwrap().elapsed_ns as f64 / 1e9
    };
    close(seconds("memory_read"), 0.82);
    close(seconds("memory_write"), 1.36);
    let pieces = (1u64 << 32) as f64 / 65_536.0 * (1e-6 + 65_536.0 / 5.2e9);
    close(seconds("from_memory"), pieces + 0.82);
    close(seconds("to_memory"), pieces + 1.36);
    close(seconds("within"), 2.0 * pieces);
    // Without any disturbance the ratio is 1.
    let ratio = kurabe_stats::derived_values(&profile, &profile.derived[0].formula, &cells);
    close(ratio[0].1, 1.0);
}

#[test]
fn the_host_pauses_before_what_it_reads_and_before_what_it_writes() {
    let mut profile = profile_named("delay-ratio").unwrap();
    profile.rules.size_bytes = 1 << 30;
    let seconds = |read_gap: &str, write_gap: &str| {
        let mut spec = device_named("ideal-ram-disk").unwrap();
        spec.set("host.copy_read_gap", read_gap).unwrap();
        spec.set("host.copy_write_gap", write_gap).unwrap();
        let mut model = ModelTarget::new(&spec, 1).unwrap();
        let cells = kurabe_virtual::measure(&mut model, &profile, &[None], &Stop::default()).unwrap().0;
        ["to_memory", "from_memory", "within"].map(|part| {
            let cell = cells.iter().find(|cell| cell.part == part).unwrap();
            cell.counted().next().unwrap().elapsed_ns as f64 / 1e9
        })
    };
    let pieces = f64::from(1 << 30 >> 16);
    let (plain, read, write) = (seconds("0 ns", "0 ns"), seconds("31 us", "0 ns"), seconds("0 ns", "7 us"));
    for (part, [reads, writes]) in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].into_iter().enumerate() {
        assert!((read[part] - plain[part] - reads * pieces * 31e-6).abs() < 1e-9, "{read:?} {plain:?}");
        assert!((write[part] - plain[part] - writes * pieces * 7e-6).abs() < 1e-9, "{write:?} {plain:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_cells() {
    let profile = quick("cdm-9-mix");
    assert_eq!(measured(&profile), measured(&profile));
}

#[test]
fn a_list_of_operations_says_what_the_recorder_counts_and_their_times_sum_to_it() {
    // Two servers of 1 µs and 0.788 µs receive 1.5 times their capacity, so operations are
    // increasingly late.
    let source = "schema = 1\nname = \"late\"\ntitle = { en = \"t\", ja = \"t\" }\nstatistic = \"mean\"\n\
         [rules]\nsize = \"4 MiB\"\nruns = 2\ntime = \"1 ms\"\norder = \"by-step\"\n\
         [[step]]\nkind = \"io\"\npattern = \"random\"\nblock_size = \"4 KiB\"\ndirections = [\"read\", \"write\"]\n\
         iodepth = 4\nwarm_up = \"1 ms\"\nrate_iops = 1600000.0\n";
    let profile = kurabe_profile::parse_profile("late.toml", source).unwrap();
    let mut spec = device_named("ideal-ram-disk").unwrap();
    spec.set("memory.parallel", "2").unwrap();
    let mut model = ModelTarget::new(&spec, 1).unwrap();
    let causes = model.record().cause_names();
    let (mut cells, mut listed) = (Vec::new(), Vec::new());
    let mut emit = |event: Event| {
        if let Event::CellDone { cell } = event {
            cells.push(*cell);
        }
        Ok(())
    };
    let mut tell = |operation: &ListedOperation| {
        listed.push(operation.clone());
        Ok(())
    };
    let stop = Stop::default();
    let session = Session::on_model(&mut model, "m", &profile, &stop, &mut emit);
    kurabe_virtual::run(session.with_operation_list(Some(&mut tell))).unwrap();
    for cell in &cells {
        for repetition in &cell.repetitions {
            let of_repetition = |operation: &&ListedOperation| {
                (operation.cell_index, operation.repetition) == (cell.index, repetition.index)
            };
            let operations: Vec<_> = listed.iter().filter(of_repetition).collect();
            let (direction, side) = match cell.direction {
                Some(Direction::Read) => (OpKind::Read, &repetition.read),
                _ => (OpKind::Write, &repetition.write),
            };
            let of_kind: Vec<_> =
                operations.iter().filter(|operation| operation.op.kind == direction).collect();
            assert_eq!(of_kind.len() as u64, side.completed, "{}", cell.label);
            let sum_ns =
                |value: fn(&ListedOperation) -> u64| of_kind.iter().map(|one| value(one)).sum::<u64>();
            assert_eq!(u128::from(sum_ns(|one| one.latency_ns)), u128::from(side.latency.sum_ns));
            assert!(
                sum_ns(|one| one.latency_ns) > sum_ns(|one| one.completed_ns - one.issued_ns),
                "nothing is late"
            );
            for one in operations {
                assert_eq!(one.times_ns.len(), causes.len());
                assert_eq!(one.times_ns.iter().sum::<u64>(), one.completed_ns - one.issued_ns, "{one:?}");
            }
        }
    }
    assert_eq!(listed.iter().map(|one| (one.cell_index, one.repetition)).max(), Some((1, 1)));
}

#[test]
fn a_list_that_cannot_be_written_ends_the_run() {
    let profile = quick("cdm-9-mix");
    let mut model = ModelTarget::new(&device_named("ideal-ram-disk").unwrap(), 1).unwrap();
    let mut tell = |_: &ListedOperation| Err(Error::new(ErrorKind::NoSpace, text!("full", "満杯")));
    let (stop, mut emit) = (Stop::default(), |_| Ok(()));
    let session = Session::on_model(&mut model, "m", &profile, &stop, &mut emit);
    let error = kurabe_virtual::run(session.with_operation_list(Some(&mut tell))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSpace);
}
