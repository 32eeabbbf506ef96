//! Keys that identify the same cell in different runs.
//!
//! A workload is identified by what it does, not by its name in a profile. A cell of `cdm-9`
//! therefore matches one printed by CrystalDiskMark if pattern, block size, queue depth, threads
//! and direction are equal. A profile that moves its steps over the target, warms one up or makes
//! it last longer (a sweep does all three) measures several cells of the same shape. The key
//! includes these properties, and for fio the place of a job. The test size is not part of a key:
//! as a condition of the whole run, it is listed among the differences. All other cells match by
//! label and part. If a run repeats the same work, its cells match in order.
//!
//! Non-goals: differences between steps that end by bytes or passes, or check the time rarely, and
//! steps that end by time. Printed results do not contain them, and the tools concerned have
//! matching profiles.

use kurabe_core::imported::ImportedCell;
use kurabe_core::profile::{IoStep, Profile, Rules, Step};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::workload::{Direction, Trims, Workload};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Identity of a cell, to find the same one in another run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CellKey {
    /// A workload with one block size.
    Io {
        /// Whether offsets are sequential.
        sequential: bool,
        /// Block size in bytes.
        block_bytes: u64,
        /// Operations in flight per thread.
        iodepth: u32,
        /// Threads.
        threads: u32,
        /// `read`, `write`, or `mix` with the share of reads in percent, which may have `read of`
        /// or `write of` before it.
        direction: String,
        /// Range on the target, if the steps of the profile use different ranges. `None` means the
        /// whole test size.
        within: Option<TargetPart>,
        /// Number of passes over its span before each repetition.
        warm_up_passes: u32,
        /// Duration of a repetition as a multiple of the profile's time; 1 unless the step has a
        /// longer time.
        times_as_long: u32,
        /// Shape of concurrent work; empty if it ran alone.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        beside: String,
        /// Index among the cells of the run with the same work, from 0.
        nth: u32,
    },
    /// Any other cell.
    Named {
        /// Name of the step.
        label: String,
        /// Name of the cell within its step.
        part: String,
        /// Direction, if it has one.
        direction: String,
        /// Index among the cells of the run with the same name, from 0.
        nth: u32,
    },
}

/// Identity and name of a cell, without its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellName {
    /// Identity of the cell.
    pub key: CellKey,
    /// Name of the step.
    pub label: String,
    /// Name of the cell within its step.
    pub part: String,
    /// Direction.
    pub direction: Option<Direction>,
    /// Quantity that its figure measures.
    pub measure: Measure,
}

/// A part of the target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetPart {
    /// Offset of its first byte.
    pub offset_bytes: u64,
    /// Length; `None` up to the test size.
    pub length_bytes: Option<u64>,
}

impl CellName {
    /// Returns the names of the cells of a run, in order.
    pub fn of_run(run: &RunRecord) -> Vec<Self> {
        Self::of_cells(run, &run.cells)
    }

    /// Returns the names of the given cells of a run.
    pub(crate) fn of_cells(run: &RunRecord, cells: &[Cell]) -> Vec<Self> {
        let keys = CellKey::of_cells(run.header.profile.as_ref(), cells);
        cells.iter().zip(keys).map(|(cell, key)| Self::new(cell, key)).collect()
    }

    pub(crate) fn new(cell: &Cell, key: CellKey) -> Self {
        Self {
            key,
            label: cell.label.clone(),
            part: cell.part.clone(),
            direction: cell.direction,
            measure: cell.measure,
        }
    }

    /// Returns whether both are the same cell, regardless of their names.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key == other.key && self.measure == other.measure
    }
}

impl TargetPart {
    /// Returns the part, or `None` for the whole.
    fn of(offset_bytes: u64, length_bytes: Option<u64>, whole_bytes: u64) -> Option<Self> {
        let reaches_end = |length: &u64| offset_bytes.saturating_add(*length) >= whole_bytes;
        let length_bytes = length_bytes.filter(|length| !reaches_end(length));
        (offset_bytes > 0 || length_bytes.is_some()).then_some(Self { offset_bytes, length_bytes })
    }
}

impl CellKey {
    /// Returns the keys of all cells of a run, in order. Together with the measured quantity, each
    /// is unique within the run.
    pub fn of_run(run: &RunRecord) -> Vec<Self> {
        Self::of_cells(run.header.profile.as_ref(), &run.cells)
    }

    /// Returns the keys of cells of a profile. Without a profile the ranges of its steps are
    /// unknown, and cells of the same shape match by order.
    pub fn of_cells(profile: Option<&Profile>, cells: &[Cell]) -> Vec<Self> {
        let moves = profile.is_some_and(|profile| moves(places(profile)));
        let whole_bytes = whole_of_import(cells);
        let mut met: HashMap<(Self, Measure), u32> = HashMap::new();
        cells
            .iter()
            .map(|cell| {
                let mut key = key(cell);
                if let Some((profile, step)) =
                    profile.and_then(|profile| Some((profile, step_of(profile, cell)?)))
                {
                    key.apply(profile, step, moves);
                }
                if let (Some(imported), Some(whole_bytes)) = (&cell.imported, whole_bytes) {
                    key.apply_import(imported, whole_bytes);
                }
                let count = met.entry((key.clone(), cell.measure)).or_default();
                *key.nth_mut() = *count;
                *count += 1;
                key
            })
            .collect()
    }

    /// Adds the properties of a step that the shape of its workload does not include.
    fn apply(&mut self, profile: &Profile, step: &IoStep, moves: bool) {
        let Self::Io { within, warm_up_passes, times_as_long, beside, .. } = self else { return };
        *beside = run_beside(profile, step);
        *within = part_of(&profile.rules, step.offset_bytes, step.span_bytes).filter(|_| moves);
        *warm_up_passes = step.warm_up_passes;
        if let Some(own_ns) = step.end.time_ns {
            let times = own_ns as f64 / profile.rules.time_ns.max(1) as f64;
            *times_as_long = times.round().max(1.0) as u32;
        }
    }

    /// Adds the range of a job of another tool, if its jobs used different ranges. A range that
    /// reaches the end has no length.
    fn apply_import(&mut self, imported: &ImportedCell, whole_bytes: u64) {
        let Self::Io { within, .. } = self else { return };
        if imported.span_bytes.is_some() {
            *within = TargetPart::of(imported.offset_bytes.unwrap_or(0), imported.span_bytes, whole_bytes);
        }
    }

    fn nth_mut(&mut self) -> &mut u32 {
        match self {
            Self::Io { nth, .. } | Self::Named { nth, .. } => nth,
        }
    }
}

/// Returns the shapes and directions of the other steps that run concurrently with a step.
fn run_beside(profile: &Profile, step: &IoStep) -> String {
    let same = |other: &Step| matches!(other, Step::Io(other) if std::ptr::eq(&**other, step));
    let Some(place) = profile.steps.iter().position(same) else { return String::new() };
    let is_beside = |place: &usize| profile.steps.get(*place).is_some_and(Step::is_beside);
    let first = (1..=place).rev().take_while(is_beside).last().map_or(place, |second| second - 1);
    let last = (place + 1..profile.steps.len()).take_while(is_beside).last().unwrap_or(place);
    let others =
        (first..=last).filter(|other| *other != place).filter_map(|other| match &profile.steps[other] {
            Step::Io(other) => {
                let shape = IoStep { label: None, ..IoStep::clone(other) }.label();
                Some(format!("{shape} {}", other.directions.first().map_or("", |direction| direction.word())))
            }
            _ => None,
        });
    others.collect::<Vec<_>>().join(", ")
}

/// Returns the part of the target that a step covers.
pub(crate) fn part_of(rules: &Rules, offset_bytes: u64, span_bytes: Option<u64>) -> Option<TargetPart> {
    let whole_bytes = if rules.whole_device { u64::MAX } else { rules.size_bytes };
    TargetPart::of(offset_bytes, span_bytes, whole_bytes)
}

fn step_of<'p>(profile: &'p Profile, cell: &Cell) -> Option<&'p IoStep> {
    match profile.steps.get(cell.step_index as usize)? {
        Step::Io(step) => Some(step),
        _ => None,
    }
}

/// Returns whether the workloads of a profile use different ranges. A span common to all of them is
/// the test size under another name (AS SSD's 1 GiB).
fn moves<P: PartialEq>(mut places: impl Iterator<Item = P>) -> bool {
    let first = places.next();
    places.any(|place| Some(place) != first)
}

/// Returns the end of the range that the jobs of another tool covered, if they used different
/// ranges.
fn whole_of_import(cells: &[Cell]) -> Option<u64> {
    let jobs = cells.iter().filter_map(|cell| cell.imported.as_ref());
    let places = jobs.filter_map(|job| Some((job.offset_bytes.unwrap_or(0), job.span_bytes?)));
    let end = places.clone().map(|(offset, length)| offset.saturating_add(length)).max();
    end.filter(|_| moves(places))
}

/// Returns the span common to all workloads of a profile, if it is specified.
pub(crate) fn shared_span_bytes(profile: &Profile) -> Option<u64> {
    let (_, span_bytes) = places(profile).next()?;
    span_bytes.filter(|_| !moves(places(profile)))
}

fn places(profile: &Profile) -> impl Iterator<Item = (u64, Option<u64>)> + '_ {
    profile.steps.iter().filter_map(|step| match step {
        Step::Io(step) => Some((step.offset_bytes, step.span_bytes)),
        _ => None,
    })
}

/// Returns the key of a cell as far as the cell itself determines it.
fn key(cell: &Cell) -> CellKey {
    // The name of a job of another tool follows its work and is ignored.
    let work = cell.imported.as_ref().and_then(|_| cell.label.split_once(" · ")).map(|(work, _)| work);
    // One tool uses threads for what another does with processes.
    let ranks = cell
        .repetitions
        .first()
        .and_then(|one| one.ranks.as_ref())
        .map_or(1, |ranks| ranks.shares.len() as u32);
    let from_workload =
        cell.workload.as_ref().and_then(|workload| of_workload(workload, ranks, cell.direction));
    let discards = cell.direction.is_none() && work.unwrap_or(&cell.label).ends_with(" trim");
    let from_import =
        || cell.imported.as_ref().and_then(|imported| of_import(imported, cell.direction, discards));
    from_workload.or_else(from_import).unwrap_or_else(|| CellKey::Named {
        label: work.unwrap_or(&cell.label).to_owned(),
        part: cell.part.clone(),
        direction: cell.direction.map_or("", Direction::word).to_owned(),
        nth: 0,
    })
}

fn of_workload(workload: &Workload, ranks: u32, direction: Option<Direction>) -> Option<CellKey> {
    let discards = workload.trims == Some(Trims::Only);
    let trims = workload.trims.filter(|_| !discards);
    let (sequential, block_bytes) = workload.clone().with(|access| access.trims = trims).plain_order()?;
    let direction = direction_word(direction, discards, Some(f64::from(workload.read_percent)))?;
    Some(io(sequential, block_bytes, [workload.iodepth, workload.threads.saturating_mul(ranks)], direction))
}

fn of_import(imported: &ImportedCell, direction: Option<Direction>, discards: bool) -> Option<CellKey> {
    let direction = direction_word(direction, discards, imported.read_percent)?;
    Some(io(imported.sequential?, imported.block_bytes?, [imported.iodepth?, imported.threads?], direction))
}

fn io(sequential: bool, block_bytes: u64, [iodepth, threads]: [u32; 2], direction: String) -> CellKey {
    let (within, warm_up_passes, times_as_long, nth) = (None, 0, 1, 0);
    CellKey::Io {
        sequential,
        block_bytes,
        iodepth,
        threads,
        direction,
        within,
        warm_up_passes,
        times_as_long,
        beside: String::new(),
        nth,
    }
}

/// Returns the word for a direction. A cell that only discards has none.
fn direction_word(direction: Option<Direction>, discards: bool, read_percent: Option<f64>) -> Option<String> {
    let Some(direction) = direction else { return discards.then(|| "trim".to_owned()) };
    Some(match (direction, read_percent) {
        (Direction::Mix, Some(percent)) => format!("mix {percent:.0}"),
        // The reads of a mix share the device with its writes, so they are not equivalent to reads
        // alone.
        (half, Some(percent)) if percent > 0.0 && percent < 100.0 => {
            format!("{} of mix {percent:.0}", half.word())
        }
        (direction, _) => direction.word().to_owned(),
    })
}
