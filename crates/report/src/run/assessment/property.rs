//! The second clause: a special property of the device, from its known mechanism or from the run.

use kurabe_compare::{parameter_bytes, written_bytes};
use kurabe_core::model::{LayerRecord, ModelRecord};
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Text, number, text, workload::Direction};
use kurabe_explain::falling_writes;
use kurabe_stats::cell_figure;
use kurabe_study::catalogue::DeviceClass;
use kurabe_study::known_class;

/// Share of the sequential write rate below which random writes are unusually slow for flash.
const HARDLY: f64 = 0.01;

/// Returns the clause if the device has such a property.
pub(super) fn clause(record: &RunRecord) -> Option<Text> {
    fall(record)
        .or_else(|| of_model(record, record.header.model.as_ref()?))
        .or_else(|| slow_random_writes(record))
}

/// Describes writes that slow down. Only long repetitions count, because in a short one the first
/// requests may only fill a buffer.
fn fall(record: &RunRecord) -> Option<Text> {
    let is_long = |cell: &&Cell| cell.counted().all(|one| one.elapsed_ns >= NS_PER_S);
    let cells = record.cells.iter().filter(is_long);
    let falls = cells.filter_map(|cell| Some((cell, falling_writes(cell)?)));
    let (cell, (head, tail)) = falls.min_by(|(_, a), (_, b)| (a.1 / a.0).total_cmp(&(b.1 / b.0)))?;
    let is_sequential = cell.workload.as_ref().is_some_and(|one| one.pattern.is_sequential());
    let (head, tail) = (number::rate(head), number::rate(tail));
    Some(match is_sequential {
        true => text!(
            "sequential writes fall from {head} to {tail}",
            "シーケンシャル書き込みは {head} から {tail} に低下"
        ),
        false => {
            text!("random writes fall from {head} to {tail}", "ランダム書き込みは {head} から {tail} に低下")
        }
    })
}

fn of_model(record: &RunRecord, model: &ModelRecord) -> Option<Text> {
    let layer = |kind: &str| model.layers.iter().find(|layer| layer.kind == kind);
    if let Some(limiter) = layer("limiter") {
        return limits(limiter);
    }
    if let Some(shingle) = layer("shingle") {
        let cache = shingle.value("cache")?;
        let is_within = written_bytes(record) < parameter_bytes(shingle, "cache")?;
        return Some(match is_within {
            true => text!(
                "measured within its {cache} media cache, beyond which writes are much slower",
                "{cache} のメディアキャッシュ内での測定値で、超えると書き込みは大幅に遅くなる"
            ),
            false => text!(
                "writes are much slower once its {cache} media cache is full",
                "{cache} のメディアキャッシュが埋まると書き込みは大幅に遅くなる"
            ),
        });
    }
    let flash = layer("ssd")?;
    if flash.value("cell") == Some("qlc") {
        let sizes = ["slc_static", "slc_dynamic"].map(|key| parameter_bytes(flash, key).unwrap_or(0));
        let gigabytes = number::whole(sizes[0].saturating_add(sizes[1]) as f64 / 1e9);
        return Some(text!(
            "QLC: writes slow down after at most {gigabytes} GB",
            "QLC のため、書き込みは多くても {gigabytes} GB で遅くなる"
        ));
    }
    (flash.value("mapping") == Some("cached")).then(|| {
        text!(
            "without DRAM: random I/O over the whole drive is slower",
            "DRAM なしのため、全域へのランダムアクセスは遅くなる"
        )
    })
}

/// Returns the limits of a volume. With burst credits, those that apply after the credits are used
/// up.
fn limits(limiter: &LayerRecord) -> Option<Text> {
    let rate = number::rate(parameter_bytes(limiter, "rate")? as f64);
    let operations = number::iops(limiter.value("operations")?.parse().ok()?);
    let bursts = ["operation_credits", "rate_credits"]
        .iter()
        .any(|key| limiter.value(key).is_some_and(|credits| !credits.starts_with('0')));
    Some(match bursts {
        true => text!(
            "once its burst credits are spent, {operations} and {rate} remain",
            "バーストクレジットを使い切ると {operations}、{rate} まで下がる"
        ),
        false => text!("limited to {operations} and {rate}", "上限は {operations}、{rate}"),
    })
}

/// Describes random writes of flash that are far slower than sequential ones, as on USB sticks and
/// memory cards, which rewrite flash in large units.
fn slow_random_writes(record: &RunRecord) -> Option<Text> {
    if matches!(known_class(record)?, DeviceClass::HardDisk | DeviceClass::SmrDisk) {
        return None;
    }
    let statistic = record.header.statistic();
    let fastest = |sequential: bool| {
        let is_meant = |cell: &&Cell| {
            cell.direction == Some(Direction::Write)
                && cell.workload.as_ref().is_some_and(|one| {
                    one.pattern.is_sequential() == sequential && !one.sync.waits_for_medium()
                })
        };
        record.cells.iter().filter(is_meant).filter_map(|cell| cell_figure(cell, statistic)).reduce(f64::max)
    };
    let (random, sequential) = (fastest(false)?, fastest(true)?);
    (random < sequential * HARDLY).then(|| {
        let rate = number::rate(random);
        text!("random writes only {rate}", "ランダム書き込みは {rate} しか出ない")
    })
}
