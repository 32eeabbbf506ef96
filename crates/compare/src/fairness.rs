//! Other differences between two runs, by weight.
//!
//! A difference is a fact whose values in the two records differ, or a decisive fact that one of
//! them does not record. Its weight is its possible effect on the figures. Decisive differences can
//! make figures incomparable (another statistic, a model compared with a device, memory compared
//! with a disk). Notable ones can explain a difference in the figures. Minor ones are listed for
//! completeness. If the user asked about a fact, its difference is the subject of the comparison
//! rather than a doubt. The names of facts and values belong to the report.

mod facts;

pub use facts::{ABOUT_LATENCY, Fact, check_about};

use crate::{key::CellName, matched::same};
use kurabe_core::issue::RecordedEngine;
use kurabe_core::record::{Cell, RunRecord, TargetKind};
use kurabe_core::workload::{Data, Direction};
use kurabe_core::{environment::FileSystemJournal, imported::PrintedStatistic};
use serde::{Deserialize, Serialize};

/// Possible effect of a difference on the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It can make the figures incomparable.
    Decisive,
    /// It can explain a difference.
    Notable,
    /// It rarely matters.
    Minor,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FactValue {
    /// A name, or a figure with its unit, the same in every language.
    Name(String),
    /// A real device, not a model.
    RealDevice,
    /// No parameter of the model was changed.
    Unchanged,
    /// Whether I/O bypassed the page cache.
    Direct(bool),
    /// Kind of the written data.
    Data(Data),
    /// The journal of the file system.
    Journal(FileSystemJournal),
    /// Kind of the target.
    Target(TargetKind),
    /// The record has the figures of all repetitions.
    EveryRepetition,
    /// The record has only this figure.
    Printed(PrintedStatistic),
    /// Whether other work disturbed the run.
    Disturbed(bool),
    /// The largest disturbance by other work, if it disturbed the run.
    Disturbance(Option<Disturbance>),
}

/// Resources that other work used in the worst repetition of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// CPUs busy with other work.
    pub cpus: f64,
    /// Share of the time that a program waited for a CPU, or that another guest used it; 0 to 1.
    pub waited_share: f64,
}

impl From<String> for FactValue {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// A difference, or a fact that the user asked about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The fact.
    pub fact: Fact,
    /// Value in the baseline, if recorded.
    pub baseline: Option<FactValue>,
    /// Value in the other run, if recorded.
    pub other: Option<FactValue>,
    /// Possible effect on the figures.
    pub weight: Weight,
}

impl Difference {
    fn new(fact: Fact, baseline: Option<FactValue>, other: Option<FactValue>) -> Self {
        Self { fact, baseline, other, weight: fact.weight() }
    }

    /// Returns whether the recorded values differ.
    pub fn differs(&self) -> bool {
        self.baseline != self.other
    }
}

/// Returns every fact of two runs. It answers questions about a fact, including values that only
/// one of the records has.
pub(crate) fn facts_of_both(baseline: &RunRecord, other: &RunRecord) -> Vec<Difference> {
    Fact::all().map(|fact| Difference::new(fact, fact.of(baseline), fact.of(other))).collect()
}

/// Returns all differences, those with the largest weight first.
pub fn differences(baseline: &RunRecord, other: &RunRecord) -> Vec<Difference> {
    let another_tool = baseline.header.origin.is_some() != other.header.origin.is_some();
    let both_models = baseline.header.model.is_some() && other.header.model.is_some();
    let a_model = baseline.header.model.is_some() || other.header.model.is_some();
    let mut differences = facts_of_both(baseline, other);
    differences.retain(|one| match (one.fact, &one.baseline, &one.other) {
        // Between two runs, these are compared per cell and together with the figures.
        (Fact::Engine | Fact::Noise, ..) => false,
        // That one of them is a model is a separate difference, with the same name.
        (Fact::Device, ..) if a_model => false,
        (_, Some(_), Some(_)) | (_, None, None) => one.differs(),
        // A value missing from one record is a doubt only if the fact is decisive, or for the
        // machine if another tool measured.
        (fact, ..) => one.weight == Weight::Decisive || (fact == Fact::Machine && another_tool),
    });
    // Two models are computed in the same way, so a difference between the models is the subject
    // and no doubt.
    if let Some(model) = differences.iter_mut().find(|one| one.fact == Fact::Model && both_models) {
        model.weight = Weight::Notable;
    }
    differences.extend(engines(baseline, other));
    differences.extend(noise(baseline, other));
    differences.sort_by_key(|difference| difference.weight);
    differences
}

/// Returns the recorded values of all facts.
pub fn facts_of(run: &RunRecord) -> Vec<(Fact, FactValue)> {
    Fact::all().filter_map(|fact| Some((fact, fact.of(run)?))).collect()
}

/// Returns the common cells whose operations reached the kernel in different ways.
fn engines(baseline: &RunRecord, other: &RunRecord) -> Option<Difference> {
    let mut ways: Vec<(&str, &str, String)> = Vec::new();
    let across = same(&[baseline, other].map(CellName::of_run));
    for (cell, across) in
        baseline.cells.iter().zip(across).filter_map(|(cell, place)| Some((cell, &other.cells[place?])))
    {
        let (Some(one), Some(two)) = (engine_name(cell), engine_name(across)) else { continue };
        if one != two {
            let direction = cell.direction.map_or("", Direction::word);
            ways.push((one, two, [direction, &cell.label].join(" ").trim().to_owned()));
        }
    }
    let list = |side: fn(&(&str, &str, String)) -> String| {
        let cells = ways.iter().map(|way| format!("{}: {}", way.2, side(way)));
        Some(cells.collect::<Vec<_>>().join(", ").into())
    };
    (!ways.is_empty())
        .then(|| Difference::new(Fact::Engine, list(|way| way.0.to_owned()), list(|way| way.1.to_owned())))
}

/// Returns the engine of a cell's operations. A model has no kernel.
fn engine_name(cell: &Cell) -> Option<&str> {
    cell.engine
        .as_ref()
        .filter(|engine| engine.name != RecordedEngine::Model)
        .map(|engine| engine.name.word())
}

/// Other work counts as a disturbance above this number of busy CPUs, or this share of the time
/// without a CPU. Half a core or one twentieth of the time is more than an idle system uses.
const BUSY_CPUS: f64 = 0.5;
const WAITED_SHARE: f64 = 0.05;

/// Returns the largest disturbance of a run by other work. Other tools do not record it, and models
/// are not affected.
fn disturbance(run: &RunRecord) -> Option<Disturbance> {
    let measured = run.header.origin.is_none() && run.header.model.is_none();
    let noise = run.cells.iter().flat_map(Cell::counted).map(|repetition| &repetition.noise);
    measured.then(|| {
        noise.fold(Disturbance::default(), |worst, noise| {
            let waited = noise.steal_share.unwrap_or(0.0).max(noise.cpu_pressure_share.unwrap_or(0.0));
            // During suspend, no program got a CPU.
            let waited = if noise.suspended_ns.is_some() { 1.0 } else { waited };
            Disturbance {
                cpus: worst.cpus.max(noise.other_cpus_busy.unwrap_or(0.0)),
                waited_share: worst.waited_share.max(waited),
            }
        })
    })
}

impl Disturbance {
    fn matters(&self) -> bool {
        self.cpus > BUSY_CPUS || self.waited_share > WAITED_SHARE
    }
}

/// Returns whether other work disturbed a run.
fn is_disturbed(run: &RunRecord) -> Option<bool> {
    Some(disturbance(run)?.matters())
}

/// Returns a difference if one run was disturbed and the other was not.
fn noise(baseline: &RunRecord, other: &RunRecord) -> Option<Difference> {
    let (one, two) = (disturbance(baseline)?, disturbance(other)?);
    let value = |noise: Disturbance| Some(FactValue::Disturbance(noise.matters().then_some(noise)));
    (one.matters() != two.matters()).then(|| Difference::new(Fact::Noise, value(one), value(two)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(engines: [&str; 2]) -> RunRecord {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/fixtures/export-v1.json");
        let file: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut run: RunRecord = serde_json::from_value(file["run"].clone()).unwrap();
        let mut cells = Vec::new();
        for (name, direction) in engines.into_iter().zip([Direction::Read, Direction::Write]) {
            let mut cell = run.cells[0].clone();
            cell.direction = Some(direction);
            cell.engine.as_mut().unwrap().name = name.into();
            cells.push(cell);
        }
        run.cells = cells;
        run
    }

    #[test]
    fn the_way_to_the_kernel_is_a_fact_once_and_a_difference_by_cell() {
        let name = |words: &str| Some(FactValue::Name(words.to_owned()));
        let one = measured(["threads", "threads"]);
        assert_eq!(Fact::Engine.of(&one), name("threads"));
        let two = measured(["threads", "io_uring"]);
        assert_eq!(Fact::Engine.of(&two), name("io_uring, threads"));
        let all = differences(&one, &two);
        let ways: Vec<&Difference> = all.iter().filter(|way| way.fact == Fact::Engine).collect();
        let [Difference { other: Some(FactValue::Name(way)), .. }] = ways.as_slice() else {
            panic!("{ways:?}")
        };
        assert!(way.starts_with("write ") && way.ends_with(": io_uring"), "{way:?}");
        let model = measured(["model", "model"]);
        assert_eq!(Fact::Engine.of(&model), None);
        assert!(differences(&one, &model).iter().all(|difference| difference.fact != Fact::Engine));
    }
}
