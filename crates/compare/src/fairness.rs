//! What else differed between two runs, by weight.
//!
//! The model: a difference is a fact that both records tell and that is not the same, or that one of them cannot tell
//! where it decides. Its weight says what it can do to the figures: decisive ones can make them incomparable (another
//! statistic, a model beside a device, memory beside a disk), notable ones can explain a difference of their size, minor
//! ones are for completeness. The user may have asked for one of them; then it is the comparison's subject, not a doubt.
//! What a fact and its values are called is for the report to say.

mod facts;

pub use facts::{ABOUT_LATENCY, Fact, check_about};

use crate::{key::CellName, matched::same};
use kurabe_core::record::{Cell, RunRecord, TargetKind};
use kurabe_core::workload::{Data, Direction};
use kurabe_core::{environment::FileSystemJournal, imported::PrintedStatistic};
use serde::{Deserialize, Serialize};

/// What a difference can do to the figures.
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
    /// A name, or a figure with its unit: the same in every language.
    Name(String),
    /// A device, and no model.
    RealDevice,
    /// No parameter of the model was changed.
    Unchanged,
    /// Whether I/O went past the page cache.
    Direct(bool),
    /// What was written.
    Data(Data),
    /// The journal of the file system.
    Journal(FileSystemJournal),
    /// What kind of thing the target was.
    Target(TargetKind),
    /// Figures of all repetitions are in the record.
    EveryRepetition,
    /// Only this figure is in the record.
    Printed(PrintedStatistic),
    /// Whether other work disturbed the run.
    Disturbed(bool),
    /// The most that other work took of a run, if it disturbed it.
    Disturbance(Option<Disturbance>),
}

/// What other work took of a run at its worst repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// CPUs busy with other work.
    pub cpus: f64,
    /// Share of the time that a program waited for a CPU, or another guest had it; 0 to 1.
    pub waited_share: f64,
}

impl From<String> for FactValue {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// Something that differed, or that somebody asks about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// What it is.
    pub fact: Fact,
    /// In the baseline, if its record tells.
    pub baseline: Option<FactValue>,
    /// In the other run, if its record tells.
    pub other: Option<FactValue>,
    /// What it can do.
    pub weight: Weight,
}

impl Difference {
    fn new(fact: Fact, baseline: Option<FactValue>, other: Option<FactValue>) -> Self {
        Self { fact, baseline, other, weight: fact.weight() }
    }

    /// Whether the records do not tell the same.
    pub fn differs(&self) -> bool {
        self.baseline != self.other
    }
}

/// Every fact of two runs: what somebody asks about is answered from here, so that what one record alone tells is told.
pub(crate) fn facts_of_both(baseline: &RunRecord, other: &RunRecord) -> Vec<Difference> {
    Fact::all().map(|fact| Difference::new(fact, fact.of(baseline), fact.of(other))).collect()
}

/// Everything that differed, the weightiest first.
pub fn differences(baseline: &RunRecord, other: &RunRecord) -> Vec<Difference> {
    let another_tool = baseline.header.origin.is_some() != other.header.origin.is_some();
    let both_models = baseline.header.model.is_some() && other.header.model.is_some();
    let a_model = baseline.header.model.is_some() || other.header.model.is_some();
    let mut differences = facts_of_both(baseline, other);
    differences.retain(|one| match (one.fact, &one.baseline, &one.other) {
        // Two runs tell these cell by cell, and with the figures.
        (Fact::Engine | Fact::Noise, ..) => false,
        // That one of them is a model is told as such, by the same name.
        (Fact::Device, ..) if a_model => false,
        (_, Some(_), Some(_)) | (_, None, None) => one.differs(),
        // What one run does not tell is a doubt only where it decides, and where another tool ran: on which machine?
        (fact, ..) => one.weight == Weight::Decisive || (fact == Fact::Machine && another_tool),
    });
    // Two models are computed alike, so that they are two is what is compared and no doubt.
    if let Some(model) = differences.iter_mut().find(|one| one.fact == Fact::Model && both_models) {
        model.weight = Weight::Notable;
    }
    differences.extend(engines(baseline, other));
    differences.extend(noise(baseline, other));
    differences.sort_by_key(|difference| difference.weight);
    differences
}

/// What a run tells of everything that can differ; what it does not tell is left out.
pub fn facts_of(run: &RunRecord) -> Vec<(Fact, FactValue)> {
    Fact::all().filter_map(|fact| Some((fact, fact.of(run)?))).collect()
}

/// The cells that both have and whose operations reached the kernel in different ways.
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

/// The way of a cell's operations to the kernel. A model has no kernel.
fn engine_name(cell: &Cell) -> Option<&str> {
    cell.engine.as_ref().map(|engine| engine.name.as_str()).filter(|name| *name != "model")
}

/// Other work counts as a disturbance above this many CPUs, or this share of the time: half a core kept busy, or one
/// twentieth of the time without a CPU, is more than a resting system takes.
const BUSY_CPUS: f64 = 0.5;
const WAITED_SHARE: f64 = 0.05;

/// The most that other work took of a run. Another tool tells nothing of it, and around a model nothing goes on.
fn disturbance(run: &RunRecord) -> Option<Disturbance> {
    let measured = run.header.origin.is_none() && run.header.model.is_none();
    let noise = run.cells.iter().flat_map(Cell::counted).map(|repetition| &repetition.noise);
    measured.then(|| {
        noise.fold(Disturbance::default(), |worst, noise| {
            let waited = noise.steal_share.unwrap_or(0.0).max(noise.cpu_pressure_share.unwrap_or(0.0));
            // Asleep, nothing got a CPU.
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

/// Whether other work disturbed a run.
fn is_disturbed(run: &RunRecord) -> Option<bool> {
    Some(disturbance(run)?.matters())
}

/// Whether one run was disturbed and the other was not.
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
            cell.engine.as_mut().unwrap().name = name.to_owned();
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
