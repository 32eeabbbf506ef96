//! Time account of a cell as numbers: the sum of its counted repetitions, with the texts of the
//! model's layers.

use kurabe_core::Text;
use kurabe_core::model::{CONNECTIONS, ModelRecord, TimeAccount};
use kurabe_core::record::{Cell, Measure};
use kurabe_stats::{CellAccount, cell_account};
use serde::Serialize;

/// The unit that times and counts refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// One operation.
    Operation,
    /// One sample, including an fsync that belongs to it.
    Sample,
    /// One repetition of the whole cell.
    Repetition,
}

/// The time of one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseTime {
    /// Name of the layer.
    pub layer: String,
    /// Key of the cause.
    pub cause: String,
    /// Short name.
    pub name: Text,
    /// Explanation in one sentence.
    pub explanation: Text,
    /// The time, per unit given by [`CellTime::per`].
    pub each_ns: f64,
    /// Share of the total time, 0 to 1.
    pub share: f64,
    /// Whether other work overlaps with this cause, so that the other causes don't add up to the
    /// time that would remain without it. For example, other requests are served in the meantime,
    /// or a connection transfers data that the medium is still reading.
    pub overlaps: bool,
}

impl CauseTime {
    /// Checks whether it is the same cause of the same layer.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.layer, &self.cause) == (&other.layer, &other.cause)
    }
}

/// Counter of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountOf {
    /// Name of the layer.
    pub layer: String,
    /// Key of the counter.
    pub counter: String,
    /// Short name.
    pub name: Text,
    /// Total count.
    pub count: u64,
    /// Count per unit given by [`CellTime::per`].
    pub each: f64,
}

/// Time account of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellTime {
    /// Number of the cell in the run, from 1.
    pub number: usize,
    /// The unit that times and counts refer to.
    pub per: Per,
    /// Number of these units.
    pub count: u64,
    /// Mean time of one unit.
    pub each_ns: f64,
    /// Mean number of operations in flight. `None` if operations are timed one by one.
    pub in_flight: Option<f64>,
    /// Time of a repetition in which no operation was in flight, if known.
    pub between_ns: Option<f64>,
    /// The causes by layer from the host down. The causes of a layer are sorted by time.
    pub causes: Vec<CauseTime>,
    /// The counters of the layers.
    pub counts: Vec<CountOf>,
}

impl CellTime {
    /// Returns the time account of a cell on a model. `None` if its repetitions have no account.
    pub(super) fn of(number: usize, cell: &Cell, model: &ModelRecord) -> Option<Self> {
        let CellAccount { account: all, repetitions, samples, elapsed_ns } = cell_account(cell)?;
        let elapsed_ns = elapsed_ns as f64;
        let (per, count) = match cell.measure {
            _ if samples > 0 => (Per::Sample, samples),
            Measure::Duration => (Per::Repetition, repetitions),
            _ => (Per::Operation, all.operations),
        };
        if count == 0 {
            return None;
        }
        let (whole_ns, divisor) = (all.latency_ns as f64, count as f64);
        let in_flight = (samples == 0 && elapsed_ns > 0.0).then(|| whole_ns / elapsed_ns);
        let idle_ns = in_flight.map(|_| (elapsed_ns - whole_ns).max(0.0) / repetitions as f64);
        Some(Self {
            number,
            per,
            count,
            each_ns: whole_ns / divisor,
            in_flight,
            between_ns: idle_ns.filter(|ns| *ns > 0.0),
            causes: causes(&all, model, divisor),
            counts: counts(&all, model, divisor),
        })
    }

    /// Returns the causes, largest first.
    pub(super) fn by_weight(&self) -> Vec<&CauseTime> {
        let mut causes: Vec<&CauseTime> = self.causes.iter().collect();
        causes.sort_by(|a, b| b.each_ns.total_cmp(&a.each_ns));
        causes
    }
}

fn causes(all: &TimeAccount, model: &ModelRecord, divisor: f64) -> Vec<CauseTime> {
    let carries =
        |name: &str| model.layer(name).is_some_and(|layer| CONNECTIONS.contains(&layer.kind.as_str()));
    let shares = all.shares.iter().filter(|share| share.time_ns > 0);
    let causes = shares.map(|share| {
        let cause = model.cause(share);
        CauseTime {
            layer: share.layer.clone(),
            cause: share.cause.clone(),
            name: cause.map_or_else(|| Text::same(share.cause.clone()), |cause| cause.name.clone()),
            explanation: cause.map_or_else(|| Text::same(""), |cause| cause.explanation.clone()),
            each_ns: share.time_ns as f64 / divisor,
            share: share.time_ns as f64 / all.latency_ns as f64,
            overlaps: cause.is_some_and(|cause| cause.in_line) || carries(&share.layer),
        }
    });
    let mut causes: Vec<CauseTime> = causes.collect();
    let depth = |name: &str| model.layers.iter().position(|layer| layer.name == name).unwrap_or(usize::MAX);
    causes.sort_by(|a, b| depth(&a.layer).cmp(&depth(&b.layer)).then(b.each_ns.total_cmp(&a.each_ns)));
    causes
}

fn counts(all: &TimeAccount, model: &ModelRecord, divisor: f64) -> Vec<CountOf> {
    let name = |layer: &str, key: &str| {
        let counter = model.layer(layer)?.counters.iter().find(|counter| counter.key == key)?;
        Some(counter.name.clone())
    };
    let counts = all.counts.iter().map(|count| CountOf {
        layer: count.layer.clone(),
        counter: count.counter.clone(),
        name: name(&count.layer, &count.counter).unwrap_or_else(|| Text::same(count.counter.clone())),
        count: count.count,
        each: count.count as f64 / divisor,
    });
    counts.collect()
}
