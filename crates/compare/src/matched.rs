//! Which cell of one run stands against which of another.
//!
//! The model: the same against the same, by their keys. Configurations of one target differ in what they do, so their cells meet
//! by their place in the procedure. And where two runs have nothing in common at all, a cell stands against the one that differs
//! from it in one thing (its block size, its queue depth or its threads) if there is only one such: a run of 4 KiB and one of
//! 16 KiB were made to be compared.

use crate::joined::Joined;
use crate::key::CellKey;
use crate::key::CellName;
use kurabe_core::record::{Cell, Measure};
use serde::Serialize;
use std::collections::HashMap;

/// Two cells that are compared.
pub(crate) struct Matched<'r> {
    /// What the first is.
    pub(crate) name: &'r CellName,
    /// What the second is, where it is not the same.
    pub(crate) counterpart: Option<&'r CellName>,
    pub(crate) cells: [&'r Cell; 2],
}

/// A cell that only one run has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// What it is.
    #[serde(flatten)]
    pub name: CellName,
    /// The cell of the other run that met none either and differs in at most two conditions of the work.
    pub nearest: Option<CellName>,
}

/// The cells of two runs that are compared, in the order of the first, and those that only one has. No cell is taken twice:
/// within a run no two are the same. `by_place` tells that the runs are configurations of one target.
pub(crate) fn matched<'r>(
    runs: &'r [Joined<'r>; 2],
    names: &'r [Vec<CellName>; 2],
    by_place: bool,
) -> (Vec<Matched<'r>>, [Vec<Alone>; 2]) {
    let cells = runs.each_ref().map(|run| &*run.cells);
    let measures = |cells: &[Cell]| cells.iter().map(|cell| cell.measure).collect::<Vec<_>>();
    let mut places: Vec<Option<usize>> = if by_place && measures(cells[0]) == measures(cells[1]) {
        (0..cells[0].len()).map(Some).collect()
    } else {
        same(names)
    };
    if places.iter().all(Option::is_none) {
        places = nearest(names);
    }
    let pairs = places.iter().enumerate().filter_map(|(one, two)| {
        let (name, other) = (&names[0][one], &names[1][(*two)?]);
        let is_same = name.is_same(other) && name.direction == other.direction;
        Some(Matched {
            name,
            counterpart: (!is_same).then_some(other),
            cells: [&cells[0][one], &cells[1][(*two)?]],
        })
    });
    let is_matched = |run: usize, place: usize| match run {
        0 => places[place].is_some(),
        _ => places.contains(&Some(place)),
    };
    let [first, second] = [0, 1].map(|run| {
        let left =
            runs[run].told_apart(|place| is_matched(run, place)).filter(|place| !is_matched(run, *place));
        left.map(|place| &names[run][place]).collect::<Vec<_>>()
    });
    let nearest = |name: &CellName, others: &[&CellName]| {
        let near = others.iter().filter_map(|other| Some((differing(name, other)?, *other)));
        near.min_by_key(|(count, _)| *count).filter(|(count, _)| *count <= 2).map(|(_, other)| other.clone())
    };
    let alone = |own: &[&CellName], others: &[&CellName]| {
        own.iter().map(|name| Alone { name: (*name).clone(), nearest: nearest(name, others) }).collect()
    };
    (pairs.collect(), [alone(&first, &second), alone(&second, &first)])
}

/// For each cell of the first run the place of the same in the second.
pub(crate) fn same(names: &[Vec<CellName>; 2]) -> Vec<Option<usize>> {
    let mut across: HashMap<(&CellKey, Measure), usize> =
        names[1].iter().enumerate().map(|(index, name)| ((&name.key, name.measure), index)).collect();
    names[0].iter().map(|name| across.remove(&(&name.key, name.measure))).collect()
}

/// For each cell of the first run the place of the only one in the second that differs from it in one thing, if that has no other
/// such in the first.
fn nearest(names: &[Vec<CellName>; 2]) -> Vec<Option<usize>> {
    let near = |one: &CellName, all: &[CellName]| -> Option<usize> {
        let mut places = (0..all.len()).filter(|index| differ_in_one_thing(one, &all[*index]));
        places.next().filter(|_| places.next().is_none())
    };
    let there_and_back = |index: usize| {
        let across = near(&names[0][index], &names[1])?;
        (near(&names[1][across], &names[0]) == Some(index)).then_some(across)
    };
    (0..names[0].len()).map(there_and_back).collect()
}

/// In how many conditions of the work cells of one direction and measure differ.
fn differing(one: &CellName, other: &CellName) -> Option<usize> {
    let conditions = |name: &CellName| match &name.key {
        CellKey::Io { sequential, block_bytes, iodepth, threads, direction, .. } => {
            let [depth, threads] = [*iodepth, *threads].map(u64::from);
            Some(([u64::from(*sequential), *block_bytes, depth, threads], direction.clone()))
        }
        CellKey::Named { .. } => None,
    };
    let ((one_of, one_share), (other_of, other_share)) = (conditions(one)?, conditions(other)?);
    let count = one_of.iter().zip(other_of).filter(|(one, other)| **one != *other).count();
    ((one.direction, one.measure) == (other.direction, other.measure))
        .then_some(count + usize::from(one_share != other_share))
}

fn differ_in_one_thing(one: &CellName, other: &CellName) -> bool {
    let mut key = one.key.clone();
    if let (
        CellKey::Io { block_bytes, iodepth, threads, .. },
        CellKey::Io { block_bytes: other_bytes, iodepth: other_depth, threads: other_threads, .. },
    ) = (&mut key, &other.key)
    {
        (*block_bytes, *iodepth, *threads) = (*other_bytes, *other_depth, *other_threads);
    }
    differing(one, other) == Some(1) && key == other.key
}
