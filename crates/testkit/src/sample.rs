//! Records with a value in every field: the runs of the store's fixtures.

use crate::any_record::identity;
use kurabe_core::record::{Cell, Notice, NoticeKind, RECORD_SCHEMA, RunHeader, RunRecord, VersusRecord};
use kurabe_core::{Text, workload::Direction};
use serde_json::Value;
use std::sync::LazyLock;

/// Reads an exported run once.
macro_rules! exported {
    ($name:literal) => {{
        static RUN: LazyLock<RunRecord> = LazyLock::new(|| {
            let file = include_str!(concat!("../../store/tests/fixtures/", $name));
            let mut file: Value = serde_json::from_str(file).expect("JSON");
            let mut run: RunRecord = serde_json::from_value(file["run"].take()).expect("a record");
            run.header.identity = identity(&run);
            run
        });
        RUN.clone()
    }};
}

/// Returns a complete run with five cells, as after a measurement.
pub fn sample_record() -> RunRecord {
    let mut run = exported!("export-v1.json");
    (run.header.schema, run.header.id) = (RECORD_SCHEMA, "k7f".to_owned());
    for cell in &mut run.cells {
        cell.part = cell.direction.map_or("", Direction::word).to_owned();
    }
    run
}

pub fn sample_header() -> RunHeader {
    sample_record().header
}

pub fn sample_cell(index: u32) -> Cell {
    Cell { index, ..sample_record().cells.swap_remove(index as usize % 5) }
}

pub fn sample_notice(number: u32) -> Notice {
    Notice::new(NoticeKind::Noise, Text::same(format!("remark {number} / 注意")))
}

/// Returns a run with a cell of every kind of step.
pub fn sample_kinds() -> RunRecord {
    exported!("export-v2.json")
}

/// Returns a run of six rounds, the first of which does not count.
pub fn sample_rounds() -> RunRecord {
    exported!("export-v2-rounds.json")
}

/// Returns an imported run.
pub fn sample_foreign() -> RunRecord {
    exported!("export-v2-imported.json")
}

/// Returns a run on a model with its time account, interleaved with another target.
pub fn sample_modelled() -> RunRecord {
    let mut run = exported!("export-v2-modelled.json");
    run.header.versus = Some(VersusRecord {
        group: "k2d".to_owned(),
        order_seed: u64::MAX - 3,
        targets: vec!["model:rascsi".to_owned(), "/mnt/比べ".to_owned()],
        place: 0,
        variants: Vec::new(),
    });
    run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions).for_each(|one| one.turn = Some(1));
    run
}
