//! The `copy` step on real files: what is copied and recorded, and that nothing is left behind.

use crate::copy_common::run;
use kurabe_core::ErrorKind;
use kurabe_core::event::Event;
use kurabe_core::record::Measure;
use kurabe_engine::{TargetOptions, test_file_name};

const SIZE_BYTES: u64 = (3 << 20) + 4096;
const PROFILE: &str = r#"
schema = 1
name = "copy-test"
title = { en = "test", ja = "試験" }
statistic = "mean"
source = "test"

[rules]
size = "3 MiB"
runs = 2
time = "1 s"
direct = false

[[step]]
kind = "copy"
id = "copy"
chunk = "64 KiB"
"#;

fn options() -> TargetOptions {
    TargetOptions {
        size_bytes: SIZE_BYTES,
        test_file_name: test_file_name("copytest", 1),
        ..TargetOptions::default()
    }
}

#[test]
fn each_part_of_a_copy_in_a_directory_moves_every_byte_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run(dir.path(), &options(), PROFILE, &|_, _| {});
    ran.result.as_ref().unwrap();
    let all = SIZE_BYTES;
    let moved = [
        ("memory_read", all, 0, false),
        ("memory_write", 0, all, false),
        ("from_memory", 0, all, true),
        ("to_memory", all, 0, false),
        ("within", all, all, true),
    ];
    let cells = ran.cells();
    assert_eq!(cells.len(), moved.len());
    for (cell, (part, read, written, synced)) in cells.iter().zip(moved) {
        assert_eq!((cell.part.as_str(), cell.measure), (part, Measure::Duration));
        assert_eq!(cell.repetitions.len(), 2);
        for repetition in &cell.repetitions {
            assert_eq!((repetition.read.bytes, repetition.write.bytes), (read, written), "{part}");
            assert_eq!(repetition.end_sync_ns.is_some(), synced, "{part}");
            assert!(repetition.elapsed_ns >= repetition.end_sync_ns.unwrap_or(1));
            // Pieces of 64 KiB, and a final one of 4 KiB.
            let pieces = repetition.read.completed.max(repetition.write.completed);
            assert_eq!(pieces, 49, "{part}");
        }
    }
    let starts: Vec<u64> = cells.iter().map(|cell| cell.repetitions[0].started_ns).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "something is left");
}

#[test]
fn in_a_file_the_second_half_becomes_a_copy_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    std::fs::write(&path, vec![7; SIZE_BYTES as usize + 100]).unwrap();
    let ran = run(&path, &TargetOptions { write_existing: true, ..options() }, PROFILE, &|_, _| {});
    ran.result.as_ref().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let half = SIZE_BYTES as usize / 2 / 4096 * 4096;
    assert!(bytes[..half] == bytes[half..2 * half], "the halves differ");
    let sevens = bytes[..half].iter().filter(|byte| **byte == 7).count();
    assert!(sevens < half / 50, "the source was not written");
    assert!(bytes[2 * half..].iter().all(|byte| *byte == 7), "more was written than the two halves");
    assert_eq!(bytes.len(), SIZE_BYTES as usize + 100);
    assert_eq!(ran.cells()[4].repetitions[0].write.bytes, half as u64);
}

#[test]
fn a_stop_between_parts_ends_the_copy_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run(dir.path(), &options(), PROFILE, &|event, stop| {
        if matches!(event, Event::RepetitionDone { repetition, .. } if repetition.index == 0) {
            stop.ask();
        }
    });
    assert_eq!(ran.result.as_ref().unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(ran.cells().len(), 5, "the first repetition was whole");
    assert!(ran.cells().iter().all(|cell| cell.repetitions.len() == 1));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "something is left");
}
