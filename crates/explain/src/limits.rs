//! Limits: the bottleneck of each cell of a run, with its evidence and the strength of that
//! evidence.
//!
//! A real device does not report where its time goes. Rules therefore examine the record: the
//! connection and its nominal rate, how the cells differ in size, offset, depth and direction, the
//! course of the rate, stalls, and other work. A rule names a limit only if its evidence excludes
//! every other known explanation. If no rule applies, the limit is unknown, and a measurement that
//! could determine it is suggested. For a modelled run, the account of its time gives the largest
//! cause exactly.
//!
//! Non-goals: judging whether a limit is good or bad, and diagnosing a device's internals. A
//! controller and the flash behind it cannot be distinguished from outside.

mod carried;
mod evidence;
mod flush;
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
        .map(|(cell, limit)| counted(record, cell, &limit).unwrap_or(limit))
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

/// Returns the largest cause in the account of a cell, if it has one. Requests in a queue wait for
/// the service of others, so if a queue is the largest cause, the largest one that is not a queue
/// is named.
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
