//! What else differed between two runs, by weight.
//!
//! The model: a difference is a fact that both records tell and that is not the same, or that one of them cannot tell
//! where it decides. Its weight says what it can do to the figures: decisive ones can make them incomparable (another
//! statistic, a model beside a device, memory beside a disk), notable ones can explain a difference of their size, minor
//! ones are for completeness. The user may have asked for one of them; then it is the comparison's subject, not a doubt.

mod facts;

use crate::key::CellKey;
use facts::facts;
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_core::{Text, text};
use serde::Serialize;
use std::collections::HashMap;

/// The words of everything that can differ.
pub const KEYS: &[&str] = &[
    "tool",
    "statistic",
    "model",
    "parameters",
    "seed",
    "cache",
    "profile",
    "size",
    "data",
    "time",
    "target",
    "device",
    "firmware",
    "link",
    "filesystem",
    "mount",
    "fill",
    "write-cache",
    "queue-depth",
    "scheduler",
    "temperature",
    "layers",
    "machine",
    "kernel",
    "engine",
    "kurabe",
    "noise",
];

/// The way to the kernel.
const ENGINE: &str = "engine";

/// What a difference can do to the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It can make the figures incomparable.
    Decisive,
    /// It can explain a difference.
    Notable,
    /// It rarely matters.
    Minor,
}

/// Something that differed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Stable word, as `--by` takes it: `filesystem`, `kernel`.
    pub key: &'static str,
    /// What it is.
    pub name: Text,
    /// In the baseline.
    pub baseline: Text,
    /// In the other run.
    pub other: Text,
    /// What it can do.
    pub weight: Weight,
    /// What it does, where that is known.
    pub effect: Option<Text>,
}

/// A fact of a run, as it is compared.
struct Fact {
    key: &'static str,
    name: Text,
    weight: Weight,
    effect: Option<Text>,
    of: fn(&RunRecord) -> Option<Text>,
}

/// Everything that differed, the weightiest first.
pub fn differences(baseline: &RunRecord, other: &RunRecord) -> Vec<Difference> {
    let another_tool = baseline.header.origin.is_some() != other.header.origin.is_some();
    let both_models = baseline.header.model.is_some() && other.header.model.is_some();
    let mut found: Vec<Difference> = facts()
        .into_iter()
        // Two runs tell it cell by cell.
        .filter(|fact| fact.key != ENGINE)
        .filter_map(|fact| {
            let (one, two) = ((fact.of)(baseline), (fact.of)(other));
            let unknown = || text!("not told", "不明");
            let differs = match (&one, &two) {
                (Some(one), Some(two)) => one != two,
                (None, None) => false,
                // What one run does not tell is a doubt only where it decides, and where another tool ran: on which machine?
                _ => fact.weight == Weight::Decisive || (fact.key == "machine" && another_tool),
            };
            differs.then(|| Difference {
                key: fact.key,
                name: fact.name,
                baseline: one.unwrap_or_else(unknown),
                other: two.unwrap_or_else(unknown),
                weight: fact.weight,
                effect: fact.effect,
            })
        })
        .map(|difference| if both_models { between_models(difference) } else { difference })
        .collect();
    found.extend(engines(baseline, other));
    found.extend(noise(baseline, other));
    found.sort_by_key(|difference| difference.weight);
    found
}

/// Two models are computed alike, so that they are two is what is compared and no doubt.
fn between_models(difference: Difference) -> Difference {
    if difference.key != "model" {
        return difference;
    }
    Difference { name: text!("model", "モデル"), weight: Weight::Notable, effect: None, ..difference }
}

/// What a run tells of everything that can differ, by its key; what it does not tell is left out.
pub fn facts_of(run: &RunRecord) -> Vec<(&'static str, Text)> {
    let told = facts().into_iter().filter_map(|fact| Some((fact.key, (fact.of)(run)?)));
    let measured = run.header.origin.is_none() && run.header.model.is_none();
    let noise = measured.then(|| {
        let words =
            if is_noisy(disturbance(run)) { text!("disturbed", "あり") } else { text!("quiet", "なし") };
        ("noise", words)
    });
    told.chain(noise).collect()
}

/// What is known of a key beside its values.
pub(crate) struct About {
    pub key: &'static str,
    pub name: Text,
    pub weight: Weight,
    pub effect: Option<Text>,
}

/// All keys in the order of [`KEYS`].
pub(crate) fn about_all() -> Vec<About> {
    let noise =
        About { key: "noise", name: noise_name(), weight: Weight::Notable, effect: Some(noise_effect()) };
    facts()
        .into_iter()
        .map(|Fact { key, name, weight, effect, .. }| About { key, name, weight, effect })
        .chain([noise])
        .collect()
}

/// The cells that both have and whose operations reached the kernel in different ways.
fn engines(baseline: &RunRecord, other: &RunRecord) -> Option<Difference> {
    let mut ways: Vec<(&str, &str, String)> = Vec::new();
    let across: HashMap<(CellKey, Measure), &Cell> = CellKey::of_run(other)
        .into_iter()
        .zip(&other.cells)
        .map(|(key, cell)| ((key, cell.measure), cell))
        .collect();
    for (key, cell) in CellKey::of_run(baseline).into_iter().zip(&baseline.cells) {
        let Some(across) = across.get(&(key, cell.measure)) else { continue };
        let (Some(one), Some(two)) = (engine_name(cell), engine_name(across)) else { continue };
        if one != two {
            let direction = cell.direction.map_or("", Direction::word);
            ways.push((one, two, [direction, &cell.label].join(" ").trim().to_owned()));
        }
    }
    let list = |side: fn(&(&str, &str, String)) -> String| {
        Text::same(ways.iter().map(|way| format!("{}: {}", way.2, side(way))).collect::<Vec<_>>().join(", "))
    };
    (!ways.is_empty()).then(|| Difference {
        key: ENGINE,
        name: text!("engine", "エンジン"),
        baseline: list(|way| way.0.to_owned()),
        other: list(|way| way.1.to_owned()),
        weight: Weight::Notable,
        effect: Some(engine_effect()),
    })
}

/// The way of a cell's operations to the kernel. A model has no kernel.
fn engine_name(cell: &Cell) -> Option<&str> {
    cell.engine.as_ref().map(|engine| engine.name.as_str()).filter(|name| *name != "model")
}

fn engine_effect() -> Text {
    text!(
        "the way to the kernel can cost more than the storage: --engine makes it the same",
        "カーネルまでの経路の差がストレージの差より大きいこともあります。--engine で揃えられます"
    )
}

/// Other work counts as a disturbance above this many CPUs, or this share of the time.
const BUSY_CPUS: f64 = 0.5;
const NOISY_SHARE: f64 = 0.05;

/// The most that other work took of a run: CPUs, and share of the time.
fn disturbance(run: &RunRecord) -> (f64, f64) {
    let noise = run.cells.iter().flat_map(Cell::counted).map(|repetition| &repetition.noise);
    noise.fold((0.0, 0.0), |(cpus, share), noise| {
        let taken = noise.steal_share.unwrap_or(0.0).max(noise.cpu_pressure_share.unwrap_or(0.0));
        (f64::max(cpus, noise.other_cpus_busy.unwrap_or(0.0)), f64::max(share, taken))
    })
}

fn is_noisy((cpus, share): (f64, f64)) -> bool {
    cpus > BUSY_CPUS || share > NOISY_SHARE
}

fn noise_name() -> Text {
    text!("noise", "外乱")
}

fn noise_effect() -> Text {
    text!(
        "a disturbed run is slower and less steady; measure again when the machine is quiet",
        "外乱があると遅く不安定になります。マシンが静かなときに測り直してください"
    )
}

/// Whether one run was disturbed and the other was not.
fn noise(baseline: &RunRecord, other: &RunRecord) -> Option<Difference> {
    // Another tool tells nothing of it, and around a model nothing goes on.
    let measured = |run: &RunRecord| run.header.origin.is_none() && run.header.model.is_none();
    if !measured(baseline) || !measured(other) {
        return None;
    }
    let (one, two) = (disturbance(baseline), disturbance(other));
    let words = |(cpus, share): (f64, f64)| {
        if !is_noisy((cpus, share)) {
            return text!("quiet", "ほぼなし");
        }
        let percent = share * 100.0;
        text!(
            "other work used up to {cpus:.1} CPUs; programs waited for a CPU up to {percent:.0} % of the time",
            "ほかの処理が最大で CPU {cpus:.1} 個分を使い、CPU の空き待ちが最大で時間の {percent:.0} %"
        )
    };
    (is_noisy(one) != is_noisy(two)).then(|| Difference {
        key: "noise",
        name: noise_name(),
        baseline: words(one),
        other: words(two),
        weight: Weight::Notable,
        effect: Some(noise_effect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_its_key_in_the_list() {
        // Facts are found by their place in it.
        let keys: Vec<&str> = about_all().iter().map(|about| about.key).collect();
        assert_eq!(keys, KEYS);
    }

    fn measured(engines: [&str; 2]) -> RunRecord {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/fixtures/export-v1.json");
        let file: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut run: RunRecord = serde_json::from_value(file["run"].clone()).unwrap();
        let mut cells = Vec::new();
        for (name, direction) in engines.into_iter().zip([Direction::Read, Direction::Write]) {
            let mut cell = run.cells[0].clone();
            cell.direction = Some(direction);
            cell.engine.as_mut().unwrap().name = name.to_owned();
            cells.push(cell);
        }
        run.cells = cells;
        run
    }

    #[test]
    fn the_way_to_the_kernel_is_told_once_and_by_cell() {
        let one = measured(["threads", "threads"]);
        let told =
            |run: &RunRecord| facts_of(run).into_iter().find(|(key, _)| *key == ENGINE).map(|fact| fact.1.en);
        assert_eq!(told(&one).as_deref(), Some("threads"));
        let two = measured(["threads", "io_uring"]);
        assert_eq!(told(&two).as_deref(), Some("io_uring, threads"));
        let found = differences(&one, &two);
        let ways: Vec<&Difference> = found.iter().filter(|difference| difference.key == ENGINE).collect();
        let [way] = ways.as_slice() else { panic!("{ways:?}") };
        assert!(way.other.en.starts_with("write ") && way.other.en.ends_with(": io_uring"), "{way:?}");
        let model = measured(["model", "model"]);
        assert_eq!(told(&model), None);
        assert!(differences(&one, &model).iter().all(|difference| difference.key != ENGINE));
    }
}
