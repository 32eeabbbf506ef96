//! Matches the cells of two runs.
//!
//! Cells match by their keys, or by their names if one of them has no workload. Variants of one
//! target differ in their work, so their cells match by position in the procedure. If two runs have
//! no cell in common, a cell matches the only one that differs from it in a single property (block
//! size, queue depth or threads). For example, a run with 4 KiB and one with 16 KiB were made to be
//! compared.

use crate::joined::Joined;
use crate::key::{CellKey, CellName};
use kurabe_core::record::{Cell, Measure};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};

/// Two cells that are compared.
pub(crate) struct Matched<'r> {
    /// Name of the first cell.
    pub(crate) name: &'r CellName,
    /// Name of the second cell, if it is not the same.
    pub(crate) counterpart: Option<&'r CellName>,
    pub(crate) cells: [&'r Cell; 2],
}

/// Cells further apart than this are not considered near.
const FAR: usize = 2;

/// A cell that only one run has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alone {
    /// Name of the cell.
    #[serde(flatten)]
    pub name: CellName,
    /// The nearest unmatched cell of the other run, if it is near enough.
    pub nearest: Option<CellName>,
}

/// Returns the matched cells of two runs in the order of the first, and the cells that only one
/// has. Each cell is used at most once, because cells of a run are distinct. With `by_place`, the
/// runs are variants of one target.
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
    add_called_alike(names, &mut places);
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
    let taken: HashSet<usize> = places.iter().flatten().copied().collect();
    let is_matched = |run: usize, place: usize| match run {
        0 => places[place].is_some(),
        _ => taken.contains(&place),
    };
    let [first, second] = [0, 1].map(|run| {
        let left = runs[run].entire().filter(|place| !is_matched(run, *place));
        left.map(|place| &names[run][place]).collect::<Vec<_>>()
    });
    let nearest = |name: &CellName, others: &[&CellName]| {
        let near = others.iter().filter_map(|other| Some((differing(name, other)?, *other)));
        near.min_by_key(|(count, _)| *count)
            .filter(|(count, _)| *count <= FAR)
            .map(|(_, other)| other.clone())
    };
    let alone = |own: &[&CellName], others: &[&CellName]| {
        own.iter().map(|name| Alone { name: (*name).clone(), nearest: nearest(name, others) }).collect()
    };
    (pairs.collect(), [alone(&first, &second), alone(&second, &first)])
}

/// Returns, for each cell of the first run, the index of the same cell in the second.
pub(crate) fn same(names: &[Vec<CellName>; 2]) -> Vec<Option<usize>> {
    let mut across: HashMap<(&CellKey, Measure), usize> =
        names[1].iter().enumerate().map(|(index, name)| ((&name.key, name.measure), index)).collect();
    names[0].iter().map(|name| across.remove(&(&name.key, name.measure))).collect()
}

/// Adds cells with equal names if one of them records too little for a workload key. For example,
/// IO500 prints neither the transfer size nor the number of processes.
fn add_called_alike(names: &[Vec<CellName>; 2], places: &mut [Option<usize>]) {
    let called = |name: &CellName| {
        let is_workload = matches!(name.key, CellKey::Io { .. });
        (is_workload, name.label.clone(), name.part.clone(), name.direction, name.measure)
    };
    let taken: HashSet<usize> = places.iter().flatten().copied().collect();
    let mut free: HashMap<_, VecDeque<usize>> = HashMap::new();
    for (place, name) in names[1].iter().enumerate().filter(|(place, _)| !taken.contains(place)) {
        free.entry(called(name)).or_default().push_back(place);
    }
    for (place, name) in places.iter_mut().zip(&names[0]).filter(|(place, _)| place.is_none()) {
        let (is_workload, label, part, direction, measure) = called(name);
        let alike = free.get_mut(&(!is_workload, label, part, direction, measure));
        *place = alike.and_then(VecDeque::pop_front);
    }
}

/// Returns, for each cell of the first run, the index of the only cell in the second that differs
/// in a single property, if the reverse also holds.
fn nearest(names: &[Vec<CellName>; 2]) -> Vec<Option<usize>> {
    let near = |one: &CellName, all: &[CellName]| -> Option<usize> {
        let mut places = (0..all.len()).filter(|index| differing(one, &all[*index]) == Some(1));
        places.next().filter(|_| places.next().is_none())
    };
    let there_and_back = |index: usize| {
        let across = near(&names[0][index], &names[1])?;
        (near(&names[1][across], &names[0]) == Some(index)).then_some(across)
    };
    (0..names[0].len()).map(there_and_back).collect()
}

/// Returns the distance of cells with the same direction and measure. Block size, queue depth and
/// threads count 1 each, and properties that make it different work count 2.
fn differing(one: &CellName, other: &CellName) -> Option<usize> {
    let ((own, own_rest), (others, other_rest)) = (conditions(&one.key)?, conditions(&other.key)?);
    let is_kindred =
        own_rest == other_rest && (one.direction, one.measure) == (other.direction, other.measure);
    let counts = own.iter().zip(&others).zip([1, 1, 1, 2, 2]);
    is_kindred.then(|| counts.filter(|((own, other), _)| own != other).map(|(_, count)| count).sum())
}

/// Returns the conditions of the work, and the remaining key.
fn conditions(key: &CellKey) -> Option<([String; 5], CellKey)> {
    let mut rest = key.clone();
    let CellKey::Io { sequential, block_bytes, iodepth, threads, direction, .. } = &mut rest else {
        return None;
    };
    let [block, depth, count] =
        [*block_bytes, u64::from(*iodepth), u64::from(*threads)].map(|of| of.to_string());
    let conditions = [block, depth, count, sequential.to_string(), std::mem::take(direction)];
    (*sequential, *block_bytes, *iodepth, *threads) = (false, 0, 0, 0);
    Some((conditions, rest))
}
