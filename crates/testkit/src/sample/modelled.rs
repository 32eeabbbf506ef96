//! A run on a modelled stack.

use super::{sample_header, sample_kinds};
use crate::{cause, counter, parameter};
use kurabe_core::environment::Environment;
use kurabe_core::model::{LayerCount, LayerRecord, ModelRecord, TimeAccount, TimeShare};
use kurabe_core::record::{RunHeader, RunRecord, TargetKind, TargetRecord, VersusRecord};
use kurabe_core::text;

fn model() -> ModelRecord {
    let image = LayerRecord {
        name: "image".to_owned(),
        kind: "fat-image".to_owned(),
        instances: 1,
        depth: 0,
        parameters: vec![
            parameter("cluster", "64 KiB", "https://example.org/fat, page 3", false),
            parameter("image", "4 GiB", "set for this run", true),
        ],
        causes: vec![cause(
            "chain",
            text!("walking the cluster chain", "クラスターチェーンをたどる時間"),
            text!("the file is found piece by piece", "ファイルの位置を先頭から順に探す時間です"),
        )],
        counters: vec![counter("fat-sectors", text!("sectors of the FAT read", "読んだ FAT のセクター"))],
    };
    let card = LayerRecord {
        name: "card".to_owned(),
        kind: "sd-card".to_owned(),
        instances: 2,
        depth: 1,
        parameters: vec![parameter("rate", "9.7 MB/s", "calibrated: on its own row", false)],
        causes: Vec::new(),
        counters: Vec::new(),
    };
    ModelRecord {
        name: "rascsi".to_owned(),
        title: text!("RaSCSI on a Raspberry Pi", "RaSCSI (Raspberry Pi)"),
        seed: u64::MAX - 2,
        layers: vec![image, card],
    }
}

fn account() -> TimeAccount {
    let share = |layer: &str, cause: &str, time_ns| TimeShare {
        layer: layer.to_owned(),
        cause: cause.to_owned(),
        time_ns,
    };
    TimeAccount {
        operations: 8,
        latency_ns: 70_600,
        shares: vec![share("image", "chain", 70_000), share("card", "transfer", 600)],
        counts: vec![LayerCount {
            layer: "image".to_owned(),
            counter: "fat-sectors".to_owned(),
            count: u64::MAX,
        }],
    }
}

/// A run on a model, with where its time went.
pub fn sample_modelled() -> RunRecord {
    let mut run = sample_kinds();
    run.header = RunHeader {
        id: "k2d".to_owned(),
        target: Some(TargetRecord {
            given: "model:rascsi".to_owned(),
            path: "model:rascsi".to_owned(),
            kind: TargetKind::Model,
            span_bytes: 4 << 30,
            direct: true,
            alignment_bytes: 512,
            writable: true,
        }),
        profile: run.header.profile,
        environment: Environment::default(),
        model: Some(model()),
        versus: Some(VersusRecord {
            variants: Vec::new(),
            group: "k2d".to_owned(),
            order_seed: u64::MAX - 3,
            targets: vec!["model:rascsi".to_owned(), "/mnt/比べ".to_owned()],
            place: 0,
        }),
        ..sample_header()
    };
    run.cells.truncate(2);
    for repetition in run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        repetition.account = Some(account());
        repetition.turn = Some(1);
    }
    run
}
