//! The sweep as a profile: the spans, block sizes and depths to measure, and further spans once
//! changes are seen.
//!
//! One axis varies at a time while all other parameters are fixed. A working set is random access
//! of 4 KiB, one at a time, over a span that was read or written before. Block sizes are measured
//! one operation at a time, in sequential and in random order. Depths are random access of 4 KiB
//! over the whole span. The long write takes as long as all points of a span together. The step's
//! `id` gives the axis, and its workload the position on it.

use super::axis::{SweepAxis, axis_of};
use super::curves;
use kurabe_core::profile::{FurtherSteps, IoStep, Profile, Rules, Step};
use kurabe_core::quantity::{GIB, KIB, MIB, NS_PER_S, format_bytes};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::text;
use kurabe_core::workload::{Direction, End, Pattern};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Block size of random access: the page size of most memories and file systems.
const BLOCK_BYTES: u32 = 4096;
/// Smallest working set.
const SMALLEST_SPAN_BYTES: u64 = 64 * KIB;
/// Smallest and largest block size.
const BLOCKS: (u32, u32) = (512, 8 << 20);
/// Largest queue depth.
const MOST_IODEPTH: u32 = 64;
/// The long write takes this many times as long as a point.
const LONG_WRITE_TIMES: u64 = 20;
/// Block of a long write in random order: large, so that a cache of many gigabytes is full after fewer than a
/// million of them.
const RANDOM_BLOCK_BYTES: u32 = 64 << 10;
/// Operations in flight of the long write, enough that the device never waits for the host.
const LONG_WRITE_IODEPTH: u32 = 8;
/// Maximum number of further spans, so that a rough curve comes to an end.
const MOST_FURTHER: usize = 12;
/// Time limit for filling the test file if no size was requested.
const FILL_LIMIT_NS: u64 = 20 * NS_PER_S;

/// A long write that goes past caches whose sizes are known, because the target is a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongWrite {
    /// Bytes, none of them written twice: a repetition would find the caches full.
    pub bytes: u64,
    /// Whether offsets are random: the media cache of a shingled disk takes in no others.
    pub random: bool,
}

/// Parameters of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// Axes to sweep.
    pub axes: Vec<SweepAxis>,
    /// Reads, writes or both.
    pub directions: Vec<Direction>,
    /// Largest span. If `None`, 1 GiB, or what can be filled in 20 s.
    pub max_bytes: Option<u64>,
    /// How the long write goes past the caches of a model; for 20 times the time of a repetition if absent.
    #[serde(default)]
    pub long_write: Option<LongWrite>,
    /// Duration of a repetition.
    pub time_ns: u64,
    /// Number of repetitions.
    pub runs: u32,
    /// Whether I/O bypasses the page cache.
    pub direct: bool,
    /// First seed.
    pub seed: u64,
}

impl SweepPlan {
    /// Returns the profile of the sweep.
    pub fn profile(&self) -> Profile {
        let size_bytes = self.max_bytes.unwrap_or(self.long_write.map_or(GIB, |write| write.bytes.max(GIB)));
        let fills_in_time = self.max_bytes.is_none();
        let rules = Rules {
            size_bytes,
            size_at_least_bytes: fills_in_time.then_some(64 * MIB),
            fill_time_limit_ns: fills_in_time.then_some(FILL_LIMIT_NS),
            runs: if self.long_write.is_some() { 1 } else { self.runs },
            time_ns: self.time_ns,
            direct: self.direct,
            seed: self.seed,
            ..Rules::once()
        };
        let title = text!(
            "working set, block size and queue depth, one at a time",
            "ワーキングセット、ブロックサイズ、キュー深さを 1 つずつ変える"
        );
        let steps = self
            .axes
            .iter()
            .flat_map(|axis| self.steps(*axis, size_bytes))
            .map(Box::new)
            .map(Step::Io)
            .collect();
        Profile { source: Some("kurabe".to_owned()), ..Profile::of_steps("sweep", title, rules, steps) }
    }

    fn steps(&self, axis: SweepAxis, size_bytes: u64) -> Vec<IoStep> {
        let directions = || self.directions.clone();
        match axis {
            SweepAxis::WorkingSet => {
                let mut spans: Vec<u64> = doubling(SMALLEST_SPAN_BYTES, size_bytes).collect();
                if spans.last().is_some_and(|last| *last < size_bytes) {
                    spans.push(size_bytes - size_bytes % u64::from(BLOCK_BYTES));
                }
                spans.into_iter().map(|span| span_step(span, directions())).collect()
            }
            SweepAxis::BlockSize => {
                let largest = u64::from(BLOCKS.1).min(size_bytes);
                let step = |pattern: Pattern| {
                    move |bytes: u64| step(axis, pattern, bytes as u32, 1, self.directions.clone())
                };
                let blocks = || doubling(u64::from(BLOCKS.0), largest);
                blocks().map(step(Pattern::Sequential)).chain(blocks().map(step(Pattern::Random))).collect()
            }
            SweepAxis::QueueDepth => doubling(1, u64::from(MOST_IODEPTH))
                .map(|depth| step(axis, Pattern::Random, BLOCK_BYTES, depth as u32, directions()))
                .collect(),
            SweepAxis::BytesWritten if self.directions.contains(&Direction::Write) => {
                let is_random = self.long_write.is_some_and(|write| write.random);
                let (pattern, block_bytes) = if is_random {
                    (Pattern::Random, RANDOM_BLOCK_BYTES)
                } else {
                    (Pattern::Sequential, 1 << 20)
                };
                let long = step(axis, pattern, block_bytes, LONG_WRITE_IODEPTH, vec![Direction::Write]);
                let end = match self.long_write {
                    Some(LongWrite { bytes, .. }) => End { bytes: Some(bytes), ..End::default() },
                    None => {
                        End { time_ns: Some(self.time_ns.saturating_mul(LONG_WRITE_TIMES)), ..End::default() }
                    }
                };
                vec![long.with(|access| access.end = end)]
            }
            SweepAxis::BytesWritten => Vec::new(),
        }
    }
}

/// Returns further steps for a sweep whose cells show changes: spans between the two points around
/// a change of the working set, until they are less than a third apart. Returns none if nothing
/// remains to be measured.
pub fn further_steps(profile: &Profile, cells: &[Cell]) -> FurtherSteps {
    let measured =
        |cell: &&Cell| cell.workload.is_some() && axis_of(profile, cell) == Some(SweepAxis::WorkingSet);
    let mut spans: BTreeSet<u64> = cells
        .iter()
        .filter(measured)
        .filter_map(|cell| cell.workload.as_ref())
        .map(|w| w.span_bytes)
        .collect();
    let grid = doubling(SMALLEST_SPAN_BYTES, u64::MAX / 2);
    let further = spans.iter().filter(|span| !grid.clone().any(|point| point == **span)).count();
    let mut new_spans: Vec<(u64, Direction)> = Vec::new();
    // The position of a change does not depend on other work.
    for curve in curves::of_axis(profile, cells, SweepAxis::WorkingSet, 1) {
        let Some(cut) = curve.cut() else { continue };
        for change in cut.changes {
            let (left, right) = (cut.points[change.before].0, cut.points[change.before + 1].0);
            if right / left < 4.0 / 3.0 + 0.01 {
                continue;
            }
            let middle = (left * right).sqrt() as u64;
            // Half-way on the grid: 96 KiB between 64 and 128 KiB.
            let unit = 1u64 << (63 - middle.leading_zeros()).saturating_sub(1);
            let span = middle.next_multiple_of(unit.max(u64::from(BLOCK_BYTES)));
            if span as f64 > left && (span as f64) < right {
                new_spans.push((span, curve.direction));
            }
        }
    }
    new_spans.retain(|(span, _)| spans.insert(*span));
    let left = MOST_FURTHER.saturating_sub(further);
    let step = |(span, direction)| Step::Io(Box::new(span_step(span, vec![direction])));
    FurtherSteps { steps: new_spans.into_iter().take(left).map(step).collect(), why: None }
}

/// Returns the axis that a cell was measured for, or `None` for a run that `kurabe sweep` did not
/// make.
pub fn swept_axis(record: &RunRecord, cell: &Cell) -> Option<SweepAxis> {
    let profile = record.header.profile.as_ref().filter(|profile| profile.name == "sweep")?;
    axis_of(profile, cell)
}

fn doubling(from: u64, to: u64) -> impl Iterator<Item = u64> + Clone {
    std::iter::successors(Some(from), |bytes| bytes.checked_mul(2)).take_while(move |bytes| *bytes <= to)
}

fn span_step(span_bytes: u64, directions: Vec<Direction>) -> IoStep {
    let size = format_bytes(span_bytes);
    IoStep {
        id: Some(format!("{}_{span_bytes}", SweepAxis::WorkingSet.word())),
        label: Some(format!("RND 4 KiB Q1 in {size}")),
        span_bytes: Some(span_bytes),
        warm_up_passes: 1,
        ..step(SweepAxis::WorkingSet, Pattern::Random, BLOCK_BYTES, 1, directions)
    }
}

fn step(axis: SweepAxis, pattern: Pattern, block: u32, iodepth: u32, directions: Vec<Direction>) -> IoStep {
    let order = if pattern.is_sequential() { "seq" } else { "rnd" };
    IoStep {
        id: Some(format!("{}_{order}_{block}_{iodepth}", axis.word())),
        ..IoStep::plain(pattern, block, iodepth, directions)
    }
}
