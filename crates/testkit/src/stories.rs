//! Runs of models with the time accounts of the four explanations in the articles: traversal of a
//! FAT, requests that are not a multiple of the strip, a bridge that accepts one command, and
//! alternating reads and writes.

use crate::{kinds, ssd};
use kurabe_core::environment::Environment;
use kurabe_core::model::*;
use kurabe_core::record::*;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// Mean time of an operation: layer, cause, time.
type Share<'a> = (&'a str, &'a str, u64);
/// Number of times in a hundred operations.
type Count<'a> = (&'a str, &'a str, u64);

fn account(operations: u64, shares: &[Share<'_>], counts: &[Count<'_>]) -> TimeAccount {
    let share = |(layer, cause, each_ns): &Share<'_>| TimeShare {
        layer: (*layer).to_owned(),
        cause: (*cause).to_owned(),
        time_ns: each_ns * operations,
    };
    let count = |(layer, counter, hundredth): &Count<'_>| LayerCount {
        layer: (*layer).to_owned(),
        counter: (*counter).to_owned(),
        count: hundredth * operations / 100,
    };
    TimeAccount {
        operations,
        latency_ns: operations * shares.iter().map(|(.., each_ns)| each_ns).sum::<u64>(),
        shares: shares.iter().map(share).collect(),
        counts: counts.iter().map(count).collect(),
    }
}

/// Converts a run to one on a model.
fn on_model(mut record: RunRecord, model: &str) -> RunRecord {
    let model: ModelRecord = serde_json::from_str(model).expect("a model");
    let target = record.header.target.as_mut().unwrap();
    (target.given, target.path) = (format!("model:{}", model.name), format!("model:{}", model.name));
    target.kind = TargetKind::Model;
    record.header.environment = Environment::default();
    record.header.model = Some(model);
    (record.fill, record.health_after) = (None, None);
    record.notices.clear();
    for cell in &mut record.cells {
        cell.engine = None;
        for repetition in &mut cell.repetitions {
            repetition.generator_bound = false;
            repetition.noise = Noise::default();
            repetition.stalls.clear();
            repetition.stall_count = 0;
        }
    }
    record
}

/// Returns a run of GNOME Disks on an emulator whose image is a file on FAT, where access time is
/// spent in the cluster chain.
pub fn fat_walk() -> RunRecord {
    let mut record = on_model(kinds::run_samples(), include_str!("../records/model-fat-walk.json"));
    for cell in &mut record.cells {
        let access = cell.measure == Measure::AccessTime;
        for repetition in &mut cell.repetitions {
            let samples = repetition.samples.len() as u64;
            let (shares, counts) = if access {
                (
                    [
                        ("scsi", "command", 60 * US),
                        ("scsi", "transfer", 1300 * US),
                        ("image", "walk", 251 * MS),
                        ("card", "access", 900 * US),
                        ("card", "transfer", 400 * US),
                    ],
                    [("image", "fat-sectors", 25_890)],
                )
            } else {
                (
                    [
                        ("scsi", "command", 3 * MS),
                        ("scsi", "transfer", 2600 * MS),
                        ("image", "walk", 500 * MS),
                        ("card", "access", 20 * MS),
                        ("card", "transfer", 500 * MS),
                    ],
                    [("image", "fat-sectors", 51_200)],
                )
            };
            repetition.account = Some(account(samples, &shares, &counts));
        }
    }
    record
}

/// Returns large reads from striped members, one of which has more to do than the others.
pub fn strip_remainder() -> RunRecord {
    let mut record = on_model(ssd::run(), include_str!("../records/model-strip-remainder.json"));
    record.cells.truncate(2);
    for repetition in record.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        let shares = [("raid", "strips", 140 * US), ("raid", "last", 900 * US), ("x25m", "flash", 1000 * US)];
        let operations = repetition.elapsed_ns / (2040 * US);
        repetition.account = Some(account(
            operations,
            &shares,
            &[("raid", "most-bytes", 19_660_800), ("raid", "even-bytes", 17_476_300)],
        ));
    }
    record
}

/// Returns many concurrent requests to drives behind a bridge that accepts one command at a time.
pub fn one_command() -> RunRecord {
    let mut record = on_model(ssd::run(), include_str!("../records/model-one-command.json"));
    let random = record.cells[2].clone();
    record.cells = vec![random];
    for repetition in record.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        let shares = [
            ("usb", "turn", 390 * MS),
            ("usb", "transfer", 120 * US),
            ("disk", "seek", 8100 * US),
            ("disk", "rotation", 4200 * US),
            ("disk", "media", 30 * US),
        ];
        let operations = repetition.elapsed_ns * 32 / (402 * MS);
        repetition.account = Some(account(operations, &shares, &[]));
    }
    record
}

/// Returns the copy of a file within a disk, with alternating reads and writes.
pub fn turnaround() -> RunRecord {
    let mut record = on_model(kinds::run_copy(), include_str!("../records/model-turnaround.json"));
    for cell in &mut record.cells {
        let within = cell.part == "within";
        let in_memory = cell.part.starts_with("memory");
        for repetition in &mut cell.repetitions {
            let both = if within { repetition.elapsed_ns / 100 } else { 0 };
            let media = repetition.elapsed_ns / 100 * if within { 60 } else { 97 } / 65_536;
            let turn = both * 38 / 65_536;
            let counts: &[Count<'_>] = if within { &[("disk", "turns", 8)] } else { &[] };
            let account = account(65_536, &[("disk", "turn", turn), ("disk", "media", media)], counts);
            repetition.account = Some(if in_memory { TimeAccount::default() } else { account });
        }
    }
    record
}

/// Returns the stories by name.
pub fn all() -> [(&'static str, RunRecord); 4] {
    [
        ("fat_walk", fat_walk()),
        ("strip_remainder", strip_remainder()),
        ("one_command", one_command()),
        ("turnaround", turnaround()),
    ]
}
