//! Tests of the sampling steps: their order on a device in virtual time, and that they don't damage
//! a real file.

use super::*;
use crate::drive::device_null::{Logged, NullDevice, Script};
use crate::real::{CachePolicy, Settings};
use crate::session::Session;
use crate::target::{Target, TargetOptions};
use kurabe_core::environment::Environment;
use kurabe_core::record::Cell;
use kurabe_core::workload::Data;
use kurabe_host::NoiseWatch;
use std::path::Path;

const MS: u64 = 1_000_000;

fn positional(samples: u32, sample_bytes: u32, writes: bool) -> PositionalStep {
    let directions = if writes { vec![Direction::Read, Direction::Write] } else { vec![Direction::Read] };
    PositionalStep {
        id: None,
        label: None,
        samples,
        sample_bytes,
        pre_read_bytes: 4096,
        alignment_bytes: 4096,
        directions,
        sync: true,
    }
}

fn access(order: AccessOrder, samples: u32) -> AccessTimeStep {
    AccessTimeStep {
        id: None,
        label: None,
        samples,
        block_bytes: 4096,
        alignment_bytes: 4096,
        direction: Direction::Read,
        order,
        seed: 42,
        first_discarded: false,
        by_distance: false,
        span_bytes: None,
    }
}

fn place(span_bytes: u64) -> SampleSpan {
    SampleSpan { span_bytes, unit_bytes: 512 }
}

fn quiet() -> impl FnMut(Event) -> Result<()> {
    |_| Ok(())
}

fn positions(
    step: &PositionalStep,
    place: SampleSpan,
    script: Script,
) -> (Vec<Logged>, Result<Vec<CellSamples>>) {
    let mut device = NullDevice::new(1, script);
    let (stop, mut live) = (Stop::default(), quiet());
    let tracks = sample_positions(&mut device, step, place, &mut Watch::new(&stop, &mut live, 7, 0));
    (device.log().to_vec(), tracks)
}

fn accesses(step: &AccessTimeStep, place: SampleSpan) -> (Vec<Logged>, CellSamples) {
    let mut device = NullDevice::new(1, Script { latency_ns: 10, ..Script::default() });
    let (stop, mut live) = (Stop::default(), quiet());
    let mut content = Content::new(Data::Random, 1, 0);
    let watch = &mut Watch::new(&stop, &mut live, 7, 0);
    let track = sample_accesses(&mut device, step, place, &mut content, watch).unwrap();
    (device.log().to_vec(), track)
}

fn ops(log: &[Logged]) -> Vec<(OpKind, u64, u32)> {
    log.iter().map(|one| (one.op.kind, one.op.offset_bytes, one.op.length_bytes)).collect()
}

#[test]
fn reads_and_writes_alternate_each_after_a_page_that_is_not_timed() {
    use OpKind::{Read, Sync, Write};
    let script = Script {
        latency_ns: 10 * MS,
        write_latency_ns: Some(30 * MS),
        sync_latency_ns: Some(7 * MS),
        ..Script::default()
    };
    // A third of the span is not a multiple of 4 KiB: 1365333 and 2730666 bytes are rounded down.
    let (log, tracks) = positions(&positional(3, 1 << 20, true), place(4_096_000), script);
    let second = [(Read, 1_363_968, 4096), (Read, 1_363_968, 1 << 20)];
    assert_eq!(
        ops(&log),
        [
            &[(Read, 0, 4096), (Read, 0, 1 << 20), (Read, 0, 4096), (Write, 0, 1 << 20), (Sync, 0, 0)],
            &[second[0], second[1], second[0], (Write, 1_363_968, 1 << 20), (Sync, 0, 0)],
            &[
                (Read, 2_727_936, 4096),
                (Read, 2_727_936, 1 << 20),
                (Read, 2_727_936, 4096),
                (Write, 2_727_936, 1 << 20),
                (Sync, 0, 0)
            ][..],
        ]
        .concat()
    );
    let [read, written] = &tracks.unwrap()[..] else { panic!("two cells") };
    assert_eq!((read.elapsed_ns, written.elapsed_ns), (30 * MS, 111 * MS));
    let sample = |offset_bytes, elapsed_ns| Sample { offset_bytes, bytes: 1 << 20, elapsed_ns };
    assert_eq!(read.samples, [0, 1_363_968, 2_727_936].map(|at| sample(at, 10 * MS)));
    assert_eq!(written.samples, [0, 1_363_968, 2_727_936].map(|at| sample(at, 37 * MS)));
}

#[test]
fn the_records_of_a_cell_hold_the_timed_operations_and_nothing_else() {
    let script = Script { latency_ns: MS, sync_latency_ns: Some(2 * MS), ..Script::default() };
    let (_, tracks) = positions(&positional(5, 1 << 20, true), place(8 << 20), script);
    let attempt = Attempt { cell_index: 0, number: 0, discarded: false, seed: 1, started_ns: 0, turn: None };
    let shared = Shared { cpu: CpuUse::default(), generator_share: 0.0, noise: Noise::default() };
    let cells = tracks.unwrap().into_iter().map(|track| track.into_repetition(&attempt, &shared));
    let [read, written] = &cells.collect::<Vec<_>>()[..] else { panic!("two cells") };
    assert_eq!((read.read.completed, read.read.bytes, read.read.latency.max_ns), (5, 5 << 20, MS));
    assert_eq!((read.write.submitted, read.sync.submitted), (0, 0));
    assert_eq!((written.read.submitted, written.write.completed, written.write.bytes), (0, 5, 5 << 20));
    assert_eq!((written.sync.completed, written.sync.latency.sum_ns), (5, 10 * MS));
    assert_eq!(written.elapsed_ns, written.write.latency.sum_ns + written.sync.latency.sum_ns);
    let of_series: u64 = written.series.intervals.iter().map(|interval| interval.write_bytes).sum();
    assert_eq!(of_series, 5 << 20);
}

#[test]
fn the_last_sample_ends_with_the_span_in_whole_units() {
    let (log, tracks) = positions(&positional(4, 1 << 20, true), place((2 << 20) + 700), Script::default());
    // Three quarters of 2 MiB and 700 bytes, rounded down. The rest is 524 KiB and some bytes.
    let offset = 1_572_864;
    assert_eq!(ops(&log)[16..18], [(OpKind::Read, offset, 524_800), (OpKind::Read, offset, 4096)]);
    assert_eq!(ops(&log)[18], (OpKind::Write, offset, 524_800));
    assert_eq!(tracks.unwrap()[1].samples[3].bytes, 524_800);
}

#[test]
fn a_short_read_counts_with_what_it_gave_and_just_that_is_written() {
    let script = Script { latency_ns: MS, size_bytes: Some((3 << 20) + 8192), ..Script::default() };
    let (log, tracks) = positions(&positional(4, 1 << 20, true), place(4 << 20), script);
    assert_eq!(ops(&log)[18], (OpKind::Write, 3 << 20, 8192));
    assert_eq!(tracks.unwrap()[0].samples[3].bytes, 8192);
    // A page that can't be read in full is an error, before anything is written there.
    let script = Script { size_bytes: Some(3 << 20), ..script };
    let (log, tracks) = positions(&positional(4, 1 << 20, true), place(4 << 20), script);
    assert_eq!(tracks.err().unwrap().kind(), ErrorKind::Io);
    assert_eq!(ops(&log).last(), Some(&(OpKind::Read, 3 << 20, 4096)));
}

#[test]
fn without_writes_and_pages_only_the_samples_are_read() {
    let step = PositionalStep { pre_read_bytes: 0, ..positional(2, 4096, false) };
    let (log, tracks) = positions(&step, place(1 << 20), Script::default());
    assert_eq!(ops(&log), [(OpKind::Read, 0, 4096), (OpKind::Read, 1 << 19, 4096)]);
    assert_eq!(tracks.unwrap().len(), 1);
}

#[test]
fn a_failing_operation_ends_the_samples() {
    let script = Script { fail_at: Some(4), ..Script::default() };
    let (log, tracks) = positions(&positional(3, 1 << 20, true), place(8 << 20), script);
    let error = tracks.err().unwrap();
    assert_eq!((error.kind(), log.len()), (ErrorKind::Io, 5));
    assert!(error.what().en.contains("fsync"), "{error:?}");
}

#[test]
fn an_interrupt_ends_between_two_samples_and_progress_is_told_ten_times_a_second() {
    let mut device = NullDevice::new(1, Script { latency_ns: 30 * MS, ..Script::default() });
    let stop = Stop::default();
    let mut ticks = Vec::new();
    let mut live = |event: Event| {
        let Event::Progress { elapsed_ns, interval, interval_ns } = event else { return Ok(()) };
        ticks.push((elapsed_ns / MS, interval.read_operations, interval.write_operations, interval_ns / MS));
        if ticks.len() == 3 {
            stop.ask();
        }
        Ok(())
    };
    let watch = &mut Watch::new(&stop, &mut live, 7, 0);
    let ended = sample_positions(&mut device, &positional(100, 1 << 20, true), place(1 << 30), watch);
    assert_eq!(ended.err().unwrap().kind(), ErrorKind::Interrupted);
    // Each sample with its write consists of five operations of 30 ms. Progress is checked before
    // each half.
    assert_eq!(ticks, [(150, 1, 1, 150), (300, 1, 1, 150), (450, 1, 1, 150)]);
    // The half in progress is completed: its write was followed by its sync, or it never wrote.
    let last = device.log().last().unwrap().op.kind;
    assert_eq!((last, device.log().len()), (OpKind::Read, 17));
}

#[test]
fn samples_are_told_as_they_are_kept_each_once_under_its_own_cell() {
    let mut device = NullDevice::new(1, Script { latency_ns: 30 * MS, ..Script::default() });
    let stop = Stop::default();
    let mut heard: [Vec<Sample>; 2] = Default::default();
    let mut live = |event: Event| {
        if let Event::Sampled { cell_index, samples } = event {
            heard[cell_index as usize - 7].extend(samples);
        }
        Ok(())
    };
    let watch = &mut Watch::new(&stop, &mut live, 7, 0);
    let tracks =
        sample_positions(&mut device, &positional(20, 1 << 20, true), place(1 << 30), watch).unwrap();
    // Samples after the last tick are only in the repetition.
    for (heard, track) in heard.iter().zip(&tracks) {
        assert!((18..=20).contains(&heard.len()), "{}", heard.len());
        assert_eq!(heard[..], track.samples[..heard.len()]);
    }
}

#[test]
fn an_event_of_samples_has_a_bound() {
    let mut device = NullDevice::new(1, Script { latency_ns: MS / 10, ..Script::default() });
    let (stop, mut counts) = (Stop::default(), Vec::new());
    let mut live = |event: Event| {
        if let Event::Sampled { samples, .. } = event {
            counts.push(samples.len());
        }
        Ok(())
    };
    let step = access(AccessOrder::Uniform, 1500);
    let mut content = Content::new(Data::Random, 1, 0);
    let watch = &mut Watch::new(&stop, &mut live, 7, 0);
    sample_accesses(&mut device, &step, place(1 << 30), &mut content, watch).unwrap();
    assert_eq!(counts, [MOST_SAMPLES_TOLD]);
}

#[test]
fn accesses_go_where_gnome_disks_goes() {
    let span_bytes = 1_000_204_886_016;
    let (log, track) = accesses(&access(AccessOrder::Glib, 4), place(span_bytes));
    // Output of GLib 2.74.6 for the seed 42, rounded down to pages.
    let pages = [796_706_184_806u64, 183_472_371_116, 779_850_745_394, 596_972_447_831].map(|at| at & !4095);
    assert_eq!(log.iter().map(|one| one.op.offset_bytes).collect::<Vec<_>>(), pages);
    assert_eq!((track.samples.len(), track.elapsed_ns), (4, 40));
    let step = AccessTimeStep { first_discarded: true, ..access(AccessOrder::Glib, 4) };
    let (log, track) = accesses(&step, place(span_bytes));
    assert_eq!((log.len(), track.samples.len(), track.elapsed_ns), (4, 3, 30));
    assert_eq!(track.samples[0].offset_bytes, pages[1]);
}

#[test]
fn uniform_accesses_stay_inside_the_span_and_repeat() {
    let step = AccessTimeStep {
        span_bytes: Some(10 * 4096 + 512),
        direction: Direction::Write,
        ..access(AccessOrder::Uniform, 2000)
    };
    let (log, _) = accesses(&step, place(1 << 30));
    let mut seen = [0u32; 10];
    for one in &log {
        assert_eq!((one.op.kind, one.op.offset_bytes % 4096, one.op.length_bytes), (OpKind::Write, 0, 4096));
        seen[(one.op.offset_bytes / 4096) as usize] += 1;
    }
    // 200 each are expected. Five standard deviations are 67.
    assert!(seen.iter().all(|count| (133..267).contains(count)), "{seen:?}");
    assert_eq!(log, accesses(&step, place(1 << 30)).0);
}

/// Runs a profile on its own file of random bytes. Returns the cells, and the bytes before and
/// after.
fn run_on_file(source: &str, size_bytes: usize, direct: bool) -> (Vec<Cell>, Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("target");
    let mut before = vec![0; size_bytes];
    Content::new(Data::Random, 9, 0).fill(&mut before);
    std::fs::write(&path, &before).unwrap();
    let cells = run(source, &path, direct);
    let after = std::fs::read(&path).unwrap();
    (cells, before, after)
}

fn run(source: &str, path: &Path, direct: bool) -> Vec<Cell> {
    let profile = kurabe_profile::parse_profile("samples", source).unwrap();
    let options = TargetOptions {
        direct,
        write_existing: true,
        size_bytes: profile.rules.size_bytes,
        ..TargetOptions::default()
    };
    let mut target = Target::open(path, &options).unwrap();
    let settings = Settings {
        engine: EngineChoice::Fixed(Engine::Uring),
        wait: WaitMode::Sleep,
        pages: Pages::Small,
        cache: CachePolicy::Keep,
    };
    let noise = NoiseWatch::new(&Environment::default());
    let (stop, mut cells) = (Stop::default(), Vec::new());
    let mut emit = |event| {
        if let Event::CellDone { cell } = event {
            cells.push(*cell);
        }
        Ok(())
    };
    Session::new(&mut target, &profile, settings, &noise, &stop, &mut emit).run().unwrap();
    cells
}

const SAMPLES: &str = r#"
schema = 1
name = "samples"
title = { en = "samples", ja = "samples" }
statistic = "mean"

[rules]
size = "8 MiB"
runs = 2
time = "1 s"
order = "by-step"

[[step]]
kind = "positional"
samples = 7
sample_size = "1 MiB"
pre_read = "4 KiB"
alignment = "4 KiB"
directions = ["read", "write"]
sync = true
"#;

#[test]
fn a_file_that_is_sampled_and_written_back_holds_the_same_as_before() {
    for direct in [true, false] {
        // The last sample ends with the file, or with direct I/O before its last byte.
        let (cells, before, after) = run_on_file(SAMPLES, (6 << 20) + 1234, direct);
        assert!(before == after, "the file was changed");
        let [read, written] = &cells[..] else { panic!("two cells") };
        assert_eq!((read.direction, written.direction), (Some(Direction::Read), Some(Direction::Write)));
        for cell in [read, written] {
            assert_eq!(cell.repetitions.len(), 2);
            let engine = cell.engine.as_ref().unwrap();
            assert_eq!((engine.name.word(), engine.issuing_threads), ("threads", 1));
            assert_eq!(
                (engine.features.as_slice(), engine.fallbacks.len()),
                (&["pread-pwrite".to_owned()][..], 1)
            );
            for repetition in &cell.repetitions {
                assert_eq!(repetition.samples.len(), 7);
                let summed: u64 = repetition.samples.iter().map(|sample| sample.elapsed_ns).sum();
                assert_eq!(summed, repetition.elapsed_ns);
                let last = repetition.samples[6];
                let end = last.offset_bytes + last.bytes;
                assert!(end <= before.len() as u64 && end + 4096 > before.len() as u64, "{last:?}");
            }
        }
        assert_eq!(read.repetitions[0].read.completed, 7);
        assert_eq!(written.repetitions[0].sync.completed, 7);
    }
}

#[test]
fn accesses_that_write_change_only_the_blocks_they_name() {
    let step =
        "[[step]]\nkind = \"access-time\"\nsamples = 50\nblock_size = \"4 KiB\"\ndirection = \"write\"\n";
    let source = SAMPLES.split("[[step]]").next().unwrap().replace("runs = 2", "runs = 1") + step;
    let (cells, before, after) = run_on_file(&source, 4 << 20, true);
    let samples = &cells[0].repetitions[0].samples;
    assert_eq!((samples.len(), cells[0].repetitions[0].write.completed), (50, 50));
    let mut written: Vec<u64> = samples.iter().map(|sample| sample.offset_bytes).collect();
    written.sort_unstable();
    written.dedup();
    let blocks = before.chunks(4096).zip(after.chunks(4096)).enumerate();
    let changed: Vec<u64> =
        blocks.filter(|(_, (old, new))| old != new).map(|(at, _)| at as u64 * 4096).collect();
    assert_eq!(changed, written);
    let unlike: std::collections::HashSet<&[u8]> =
        written.iter().map(|at| &after[*at as usize..*at as usize + 4096]).collect();
    assert_eq!(unlike.len(), written.len(), "every block is a new one");
}
