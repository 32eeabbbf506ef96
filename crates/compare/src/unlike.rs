//! What keeps a cell from meeting the nearest that is left in another run.
//!
//! The model: work has a few conditions. Of the cells that met none, those of one direction and measure are held against each
//! other, and the one that differs in the fewest conditions is the nearest. Who differs in more than two is not meant.

use crate::digest::CellName;
use crate::key::{CellKey, Shape};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::Cell;
use serde::Serialize;

/// A condition of the work of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is explained in docs/statistics.md")]
pub enum Condition {
    Order,
    BlockSize,
    QueueDepth,
    Threads,
    ReadShare,
    Place,
    WarmUp,
    Time,
}

/// A condition in which two cells differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unlike {
    /// Which.
    pub condition: Condition,
    /// Of the cell, and of the nearest; of a place none is the whole, and else it is not told.
    pub values: [Option<String>; 2],
}

/// A cell that only one run has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// What it is.
    #[serde(flatten)]
    pub name: CellName,
    /// What keeps it from meeting the nearest cell of the other run that met none either; empty if there is none near.
    pub unlike: Vec<Unlike>,
}

/// Conditions in which the nearest may differ.
const NEAR: usize = 2;

/// Cells that met none, each with what keeps it from the nearest of the others.
pub(crate) fn alone(own: &[(&CellName, &Cell)], others: &[(&CellName, &Cell)]) -> Vec<Alone> {
    let others: Vec<_> = others.iter().map(|(name, cell)| (*name, conditions(name, cell))).collect();
    let of = |(name, cell): &(&CellName, &Cell)| {
        let conditions = conditions(name, cell);
        let near = others
            .iter()
            .filter(|(other, _)| (other.direction, other.measure) == (name.direction, name.measure));
        let nearest = near.map(|(_, other)| unlike(&conditions, other)).min_by_key(Vec::len);
        Alone {
            name: (*name).clone(),
            unlike: nearest.filter(|unlike| unlike.len() <= NEAR).unwrap_or_default(),
        }
    };
    own.iter().map(of).collect()
}

type Conditions = Vec<(Condition, Option<String>)>;

fn conditions(name: &CellName, cell: &Cell) -> Conditions {
    let shape = Shape::of(cell).unwrap_or_default();
    let order = shape.sequential.map(|sequential| if sequential { "SEQ" } else { "RND" }.to_owned());
    let (mut place, mut passes, mut times) = (None, 0, 1);
    if let CellKey::Io { within, warm_up_passes, times_as_long, .. } = &name.key {
        (passes, times) = (*warm_up_passes, *times_as_long);
        place = within.as_ref().map(|part| {
            let length = part.length_bytes.map(format_bytes).unwrap_or_default();
            format!("{} + {length}", format_bytes(part.offset_bytes)).trim_end().to_owned()
        });
    }
    vec![
        (Condition::Order, order),
        (Condition::BlockSize, shape.block_bytes.map(format_bytes)),
        (Condition::QueueDepth, shape.iodepth.map(|depth| depth.to_string())),
        (Condition::Threads, shape.threads.map(|threads| threads.to_string())),
        (Condition::ReadShare, shape.read_percent.map(|percent| format!("{percent:.0} %"))),
        (Condition::Place, place),
        (Condition::WarmUp, Some(passes.to_string())),
        (Condition::Time, Some(format!("× {times}"))),
    ]
}

fn unlike(one: &Conditions, other: &Conditions) -> Vec<Unlike> {
    let differing = one.iter().zip(other).filter(|(one, other)| one.1 != other.1);
    differing
        .map(|((condition, one), (_, other))| Unlike {
            condition: *condition,
            values: [one.clone(), other.clone()],
        })
        .collect()
}
