//! How much a cell stuttered: what a person in front of the machine feels, in a few numbers.
//!
//! The model: a stall is what the recorder counted as one (an operation far beyond the median of its kind; those held up
//! together are one). Time stalled is the union of the stalls that were kept in detail. A silence is a stretch of the
//! time series in which nothing was completed.

use kurabe_core::record::{Cell, Repetition, Series, Stall};
use serde::Serialize;

/// The stutter of a cell over all of its counted repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stutter {
    /// Time measured.
    pub measured_ns: u64,
    /// Stalls.
    pub stalls: u64,
    /// Stalls per minute of measuring.
    pub stalls_per_minute: f64,
    /// The median length of the stalls that were kept in detail; 0 if there is none.
    pub typical_ns: u64,
    /// The longest.
    pub worst_ns: u64,
    /// Share of the time in which something was stalled, 0 to 1; at least this much, if not all stalls were kept.
    pub stalled_share: f64,
    /// Whether every stall was kept in detail.
    pub all_kept: bool,
    /// The longest time without any completion, in whole intervals of the series.
    pub longest_silence_ns: u64,
}

/// The stutter of a cell; `None` if no time was measured.
pub fn stutter(cell: &Cell) -> Option<Stutter> {
    let repetitions: Vec<&Repetition> = cell.counted().collect();
    let sum = |of: fn(&Repetition) -> u64| repetitions.iter().map(|one| of(one)).fold(0, u64::saturating_add);
    let measured_ns = sum(|one| one.elapsed_ns);
    if measured_ns == 0 {
        return None;
    }
    let stalls = sum(|one| one.stall_count);
    let mut lengths_ns: Vec<u64> =
        repetitions.iter().flat_map(|one| one.stalls.iter().map(|stall| stall.length_ns)).collect();
    lengths_ns.sort_unstable();
    let stalled_ns = sum(|one| union_ns(&one.stalls).min(one.elapsed_ns));
    Some(Stutter {
        measured_ns,
        stalls,
        stalls_per_minute: stalls as f64 * 60e9 / measured_ns as f64,
        typical_ns: lengths_ns.get(lengths_ns.len() / 2).copied().unwrap_or(0),
        worst_ns: lengths_ns.last().copied().unwrap_or(0),
        stalled_share: stalled_ns as f64 / measured_ns as f64,
        all_kept: stalls == lengths_ns.len() as u64,
        longest_silence_ns: repetitions.iter().map(|one| longest_silence_ns(&one.series)).max().unwrap_or(0),
    })
}

/// The time covered by stalls, overlaps once.
fn union_ns(stalls: &[Stall]) -> u64 {
    let mut spans: Vec<(u64, u64)> =
        stalls.iter().map(|stall| (stall.at_ns, stall.at_ns.saturating_add(stall.length_ns))).collect();
    spans.sort_unstable();
    let (mut covered, mut until) = (0u64, 0u64);
    for (from, to) in spans {
        let from = from.max(until);
        covered = covered.saturating_add(to.saturating_sub(from));
        until = until.max(to);
    }
    covered
}

/// The longest run of intervals between two completions in which nothing was completed.
fn longest_silence_ns(series: &Series) -> u64 {
    let busy = |index: usize| {
        let interval = &series.intervals[index];
        interval.read_operations > 0 || interval.write_operations > 0
    };
    let (mut longest, mut run) = (0u64, 0u64);
    for index in 0..series.intervals.len() {
        run = if busy(index) { 0 } else { run + 1 };
        longest = longest.max(run);
    }
    longest.saturating_mul(series.interval_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{Interval, Measure};
    use kurabe_core::workload::{Direction, OpKind};

    fn stall(at_ns: u64, length_ns: u64) -> Stall {
        Stall { at_ns, length_ns, kind: OpKind::Write, offset_bytes: 0, operations: 1 }
    }

    fn cell(repetitions: Vec<Repetition>) -> Cell {
        Cell {
            index: 0,
            step_index: 0,
            part: String::new(),
            label: String::new(),
            direction: Some(Direction::Write),
            measure: Measure::Rate,
            workload: None,
            engine: None,
            repetitions,
            imported: None,
        }
    }

    #[test]
    fn stalls_are_counted_per_minute_and_overlaps_once() {
        let busy = Interval { write_operations: 1, ..Interval::default() };
        let one = Repetition {
            elapsed_ns: 30_000_000_000,
            stalls: vec![
                stall(1_000_000_000, 800_000_000),
                stall(1_500_000_000, 800_000_000),
                stall(9_000_000_000, 200_000_000),
            ],
            stall_count: 4,
            series: Series {
                interval_ns: 100_000_000,
                intervals: vec![busy, Interval::default(), Interval::default(), busy],
            },
            ..Repetition::default()
        };
        let discarded =
            Repetition { discarded: true, elapsed_ns: 1, stall_count: 99, ..Repetition::default() };
        let found = stutter(&cell(vec![discarded, one])).unwrap();
        assert_eq!((found.stalls, found.stalls_per_minute), (4, 8.0));
        assert_eq!((found.typical_ns, found.worst_ns), (800_000_000, 800_000_000));
        // 1.0 to 2.3 s and 9.0 to 9.2 s of 30 s.
        assert!((found.stalled_share - 1.5 / 30.0).abs() < 1e-12);
        assert_eq!((found.all_kept, found.longest_silence_ns), (false, 200_000_000));
    }

    #[test]
    fn nothing_measured_has_no_stutter() {
        assert_eq!(stutter(&cell(Vec::new())), None);
    }
}
