//! Limits: the bottleneck of each cell of a run, with its evidence and the strength of that
//! evidence.
//!
//! A real device does not report where its time goes. Rules therefore examine the record: the
//! connection and its nominal rate, how the cells differ in size, offset, depth and direction, the
//! course of the rate, stalls, and other work. A rule names a limit only if its evidence excludes
//! every other known explanation. If no rule applies, the limit is unknown, and a measurement that
//! could determine it is suggested. For a modelled run, the account of its time gives the cause
//! exactly.
//!
//! Non-goals: judging whether a limit is good or bad, and diagnosing a device's internals. A
//! controller and the flash behind it cannot be distinguished from outside.

mod carried;
mod counted;
mod evidence;
mod flush;
mod imported;
mod limit;
mod rules;
mod storage;
mod unlinked;
mod words;

pub use counted::{CountedCauses, counted_causes};
pub(crate) use evidence::Evidence;
pub use limit::{Limit, LimitKind, Strength};
pub use rules::falling_writes;

use crate::cell::CellFacts;
use kurabe_core::record::RunRecord;
use serde::Serialize;

/// The limit of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellLimit {
    /// Position of the cell in the run, from 1.
    pub number: usize,
    /// Name of its step.
    pub label: String,
    /// Name of the cell within its step.
    pub part: String,
    /// Its bottleneck.
    pub limit: Limit,
}

/// Returns whether each of the words occurs in the name of a cell, ignoring case.
pub fn names_cell(words: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = words.split_whitespace().map(str::to_lowercase).peekable();
    words.peek().is_some() && words.all(|word| name.contains(&word))
}

/// Returns the limit of every cell of a run: from the accounts of a modelled run, and by the rules
/// for a real one.
pub fn limits(record: &RunRecord) -> Vec<CellLimit> {
    let outside = limits_from_outside(record);
    record
        .cells
        .iter()
        .zip(outside)
        .map(|(cell, limit)| counted::counted(record, cell, &limit).unwrap_or(limit))
        .collect()
}

/// Returns the limit of every cell by the rules for real devices, without looking at accounts.
pub fn limits_from_outside(record: &RunRecord) -> Vec<CellLimit> {
    let cells: Vec<CellFacts<'_>> = record.cells.iter().map(CellFacts::of).collect();
    judged(record, &Evidence::of(record, &cells))
}

/// Applies the rules to existing evidence.
pub(crate) fn judged(record: &RunRecord, evidence: &Evidence<'_>) -> Vec<CellLimit> {
    evidence
        .cells
        .iter()
        .enumerate()
        .map(|(index, facts)| CellLimit {
            number: index + 1,
            label: facts.cell.label.clone(),
            part: facts.cell.part.clone(),
            limit: rules::judge(record, evidence, facts),
        })
        .collect()
}
