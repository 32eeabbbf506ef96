//! Which cell of one run stands against which of another.
//!
//! The model: the same against the same, by their keys, or by their names where one tells no workload. Configurations of
//! one target differ in what they do, so their cells meet by their place in the procedure. And where two runs have nothing
//! in common at all, a cell stands against the one that differs from it in one thing (its block size, its queue depth or
//! its threads) if there is only one such: a run of 4 KiB and one of 16 KiB were made to be compared.

use crate::joined::Joined;
use crate::key::{CellKey, CellName};
use kurabe_core::record::{Cell, Measure};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};

/// Two cells that are compared.
pub(crate) struct Matched<'r> {
    /// What the first is.
    pub(crate) name: &'r CellName,
    /// What the second is, where it is not the same.
    pub(crate) counterpart: Option<&'r CellName>,
    pub(crate) cells: [&'r Cell; 2],
}

/// What lies further off is not meant.
const FAR: usize = 2;

/// A cell that only one run has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alone {
    /// What it is.
    #[serde(flatten)]
    pub name: CellName,
    /// The cell of the other run that met none either and is not far from it.
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

/// For each cell of the first run the place of the same in the second.
pub(crate) fn same(names: &[Vec<CellName>; 2]) -> Vec<Option<usize>> {
    let mut across: HashMap<(&CellKey, Measure), usize> =
        names[1].iter().enumerate().map(|(index, name)| ((&name.key, name.measure), index)).collect();
    names[0].iter().map(|name| across.remove(&(&name.key, name.measure))).collect()
}

/// Adds those that are called the same where one of both tells less of its work than makes a workload: IO500 prints neither the size
/// of a transfer nor the number of processes.
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

/// For each cell of the first run the place of the only one in the second that differs from it in one thing, if that has no other
/// such in the first.
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

/// How far cells of one direction and measure are from each other: a block size, a queue depth or threads count once each, and twice
/// what makes it other work.
fn differing(one: &CellName, other: &CellName) -> Option<usize> {
    let ((own, own_rest), (others, other_rest)) = (conditions(&one.key)?, conditions(&other.key)?);
    let is_kindred =
        own_rest == other_rest && (one.direction, one.measure) == (other.direction, other.measure);
    let counts = own.iter().zip(&others).zip([1, 1, 1, 2, 2]);
    is_kindred.then(|| counts.filter(|((own, other), _)| own != other).map(|(_, count)| count).sum())
}

/// The conditions of the work, and what else there is of the key.
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
