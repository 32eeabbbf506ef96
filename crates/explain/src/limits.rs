//! Limits: what bounded each cell of a run, with the evidence for it and how strong that is.
//!
//! The model: a real device does not tell where its time goes, so rules look at what the record holds besides: the
//! connection and its nominal rate, what all cells together tell of bytes, places, depth and directions, the course of the
//! rate, stalls, other work. A rule names a limit only where its evidence leaves no other reading that it knows of; where
//! none does, the limit is unknown, and it is told what would show it. Of a modelled run the account of its time names the
//! largest cause exactly.
//!
//! Non-goals: an opinion on whether a limit is good or bad, and a diagnosis of a device's insides: a controller and the
//! flash behind it cannot be told apart from outside.

mod carried;
mod evidence;
mod limit;
mod rules;
mod storage;
mod words;

pub(crate) use evidence::Evidence;
pub use limit::{Limit, LimitKind, Strength};
pub use rules::falling_writes;

use crate::cell::CellFacts;
use kurabe_core::model::TimeShare;
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Text, number, text};
use kurabe_stats::{cell_account, is_from_memory};
use serde::Serialize;

/// The limit of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellLimit {
    /// Place of the cell in the run, from 1.
    pub number: usize,
    /// Name of its step.
    pub label: String,
    /// Name of the cell within its step.
    pub part: String,
    /// What bounded it.
    pub limit: Limit,
}

/// Whether words name a cell: each of them occurs in its name, in whatever case.
pub fn names_cell(words: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = words.split_whitespace().map(str::to_lowercase).peekable();
    words.peek().is_some() && words.all(|word| name.contains(&word))
}

/// The limit of every cell of a run: of a modelled one by its accounts, of a real one by the rules.
pub fn limits(record: &RunRecord) -> Vec<CellLimit> {
    let outside = limits_from_outside(record);
    record
        .cells
        .iter()
        .zip(outside)
        .map(|(cell, limit)| counted(record, cell, &limit).unwrap_or(limit))
        .collect()
}

/// The limit of every cell as far as somebody can tell who sees no account: what the rules say of a real device.
pub fn limits_from_outside(record: &RunRecord) -> Vec<CellLimit> {
    let cells: Vec<CellFacts<'_>> = record.cells.iter().map(CellFacts::of).collect();
    judged(record, &Evidence::of(record, &cells))
}

/// The same by evidence that is there already.
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

/// The largest cause in the accounts of a cell, if it has any. Who stands in line is bound by what the others are served
/// with, so where a line is the largest, the largest beside lines is named.
fn counted(record: &RunRecord, cell: &Cell, place: &CellLimit) -> Option<CellLimit> {
    let model = record.header.model.as_ref()?;
    let account = cell_account(cell)?.account;
    let in_line = |share: &TimeShare| model.cause(share).is_some_and(|cause| cause.in_line);
    let largest = |lines: bool| {
        account.shares.iter().filter(|share| lines || !in_line(share)).max_by_key(|share| share.time_ns)
    };
    let first = largest(true)?;
    let named = largest(false).unwrap_or(first);
    let words = |share: &TimeShare| {
        let name = model.cause(share).map_or_else(|| Text::same(&share.cause), |cause| cause.name.clone());
        let layer = &share.layer;
        text!("\"{name}\" ({layer})", "「{name}」({layer})"; name)
    };
    let share = |part_ns: u64, whole_ns: u64| number::percent(part_ns as f64 / whole_ns as f64);
    let evidence = if first == named {
        let share = share(named.time_ns, account.latency_ns);
        text!(
            "it takes {share} of the time, counted by the model",
            "モデルの集計では、時間の {share} を占めます"
        )
    } else {
        let in_lines = account.shares.iter().filter(|share| in_line(share)).map(|share| share.time_ns);
        let lines_ns = in_lines.fold(0, u64::saturating_add);
        let waited = share(first.time_ns, account.latency_ns);
        let rest = share(named.time_ns, account.latency_ns.saturating_sub(lines_ns));
        let line = words(first);
        text!(
            "an operation stands in line for {waited} of its time, in {line}, while others are served; where it is served, \
             this takes {rest}, counted by the model",
            "1 操作の時間の {waited} は順番待ち({line})です。それを除いた時間の {rest} を、このボトルネックが占めます\
             (モデルによる集計)"; line
        )
    };
    let from_memory = is_from_memory(cell, Some(model));
    let limit = Limit {
        kind: if from_memory { LimitKind::HostMemory } else { LimitKind::Cause },
        strength: Strength::Exact,
        sentence: words(named),
        evidence,
        next: None,
    };
    Some(CellLimit { limit, ..place.clone() })
}
