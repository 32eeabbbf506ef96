//! What a probe asks next.

use crate::blind::{measured_on, model, profile};
use kurabe_core::workload::Direction;
use kurabe_explain::PROBE;

/// Labels of the steps that a probe asked beside its first ones.
fn asked(device: &str) -> Vec<String> {
    let first = profile(PROBE, None).steps.len();
    let record = measured_on(model(device), &profile(PROBE, None));
    let is_read = |direction: Option<Direction>| direction == Some(Direction::Read);
    assert!(record.cells.iter().all(|cell| is_read(cell.direction)), "{device}: a probe only reads");
    record
        .cells
        .iter()
        .filter(|cell| cell.step_index as usize >= first)
        .map(|cell| cell.label.clone())
        .collect()
}

#[test]
fn the_same_place_tells_the_medium_from_the_connection_of_what_turns() {
    for device in ["quantum-lps-250", "hp-c2247a"] {
        assert_eq!(asked(device), ["same 4 KiB", "same 16 KiB"], "{device}");
    }
}

#[test]
fn larger_reads_tell_the_command_from_its_bytes() {
    for device in ["scsi2sd-v5", "samsung-evo-plus-sd"] {
        assert_eq!(asked(device), ["RND 16 KiB Q1 T1", "RND 64 KiB Q1 T1"], "{device}");
    }
}

#[test]
fn nothing_is_asked_that_no_read_tells() {
    // The connection is told and has room, and where it has none no read tells a controller from it.
    for device in ["samsung-870-evo", "samsung-980"] {
        assert_eq!(asked(device), [] as [&str; 0], "{device}");
    }
}
