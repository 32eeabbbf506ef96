//! The next steps of a probe.

use crate::explain::blind::{measured_on, model, profile, truth_of, without_account};
use kurabe_core::model::CauseClass;
use kurabe_core::workload::Direction;
use kurabe_explain::{CellLimit, LimitKind, PROBE, Strength, limits_from_outside};

/// Returns the labels of the steps that a probe added to its first ones.
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
        assert_eq!(asked(device), ["RND 8 KiB Q1 T1", "RND 64 KiB Q1 T1"], "{device}");
        let record = measured_on(model(device), &profile(PROBE, None));
        let cell = |label: &str| record.cells.iter().find(|cell| cell.label == label).expect("it was read");
        let latency_ns = |label: &str| cell(label).repetitions[0].read.latency.mean_ns().expect("a mean");
        let (small, middle, large) = ("RND 4 KiB Q1 T1", "RND 8 KiB Q1 T1", "RND 64 KiB Q1 T1");
        let byte_ns = (latency_ns(large) - latency_ns(middle)) / f64::from((64 - 8) << 10);
        let share = 4096.0 * byte_ns / latency_ns(small);
        let truth = truth_of(cell(small), record.header.model.as_ref().expect("an account"));
        let link = truth.iter().find(|(class, _)| *class == CauseClass::Link).expect("a link").1;
        assert!((share - link).abs() < 0.001, "{device}: {share} of {small} is bytes, in truth {link}");
        // Neither part has most of the time, and that is the result.
        let limits = limits_from_outside(&without_account(record.clone()));
        let answer = limits.iter().find(|limit| limit.label == small).expect("an answer");
        assert_eq!(answer.limit.kind, LimitKind::Shared, "{device}: {answer:?}");
    }
}

#[test]
fn sizes_show_the_bytes_that_pass_a_single_flash_channel() {
    // Sequential reads are spread over all channels, so they don't show it.
    let record = measured_on(model("samsung-mccoe64g5mpp"), &profile(PROBE, None));
    let small = |limits: Vec<CellLimit>| limits.into_iter().find(|limit| limit.label == "RND 4 KiB Q1 T1");
    let answer = small(limits_from_outside(&without_account(record.clone()))).expect("an answer");
    assert_eq!(answer.limit.kind, LimitKind::DeviceRate, "{answer:?}");
    // Without the larger reads, the command is the limit, but not without doubt.
    let mut first = without_account(record);
    first.cells.truncate(profile(PROBE, None).steps.len());
    let answer = small(limits_from_outside(&first)).expect("an answer");
    assert_eq!((answer.limit.kind, answer.limit.strength), (LimitKind::Command, Strength::Likely));
}

#[test]
fn nothing_is_asked_that_no_read_tells() {
    // The connection is known, and the medium falls along the device.
    assert_eq!(asked("hitachi-hua722020ala330"), [] as [&str; 0]);
}
