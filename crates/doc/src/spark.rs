//! A rate over time in a few characters: `▇▇▇▅▅▅▅▅`.
//!
//! The model: the scale begins at 0 and ends at the maximum, so a steady rate is a high flat line.
//! A character covers several intervals and shows their mean. However, if the rate is steady and a
//! few intervals fall almost to zero, these are stalls, and their character shows a dip.

use kurabe_core::record::{Cell, Interval, Repetition};
use kurabe_core::workload::Direction;

const LEVELS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];

/// Renders the values in at most `length` characters. Empty if there are no values. Values that are
/// not positive numbers count as 0.
pub fn sparkline(values: &[f64], length: usize) -> String {
    let values: Vec<f64> = values.iter().map(|v| if v.is_finite() && *v > 0.0 { *v } else { 0.0 }).collect();
    let length = length.min(values.len());
    if length == 0 {
        return String::new();
    }
    let stall = stall_level(&values);
    let points: Vec<f64> = (0..length)
        .map(|point| {
            let part = &values[point * values.len() / length..(point + 1) * values.len() / length];
            let lowest = part.iter().copied().fold(f64::INFINITY, f64::min);
            if lowest < stall { lowest } else { part.iter().map(|v| v / part.len() as f64).sum() }
        })
        .collect();
    let most = points.iter().copied().fold(0.0, f64::max);
    let level = |value: f64| {
        let share = if most > 0.0 { value / most } else { 0.0 };
        LEVELS[((share * LEVELS.len() as f64).ceil() as usize).clamp(1, LEVELS.len()) - 1]
    };
    points.into_iter().map(level).collect()
}

/// Returns the rate below which an interval is a stall: a tenth of the median. Returns 0 if more
/// than an eighth of the intervals are below that.
fn stall_level(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let level = sorted[sorted.len() / 2] / 10.0;
    let below = sorted.iter().take_while(|value| **value < level).count();
    if below * 8 <= sorted.len() { level } else { 0.0 }
}

/// Returns the rates of a cell's counted repetitions in sequence, in bytes per ns.
pub fn course(cell: &Cell) -> Vec<f64> {
    cell.counted().flat_map(|repetition| rates(repetition, cell.direction)).collect()
}

/// Returns the rate of each whole second of the last counted repetition, in bytes per second.
pub fn per_second(cell: &Cell) -> Vec<f64> {
    let Some(repetition) = cell.counted().last() else { return Vec::new() };
    let in_a_second = (1_000_000_000 / repetition.series.interval_ns.max(1)) as usize;
    let rates = rates(repetition, cell.direction);
    rates
        .chunks_exact(in_a_second.max(1))
        .map(|second| second.iter().sum::<f64>() * 1e9 / second.len() as f64)
        .collect()
}

/// Minimum number of intervals of a repetition to be drawn. With fewer, its start and end dominate.
const FEWEST_INTERVALS: usize = 5;

/// Returns the rate of each interval, in bytes per ns. Empty for a repetition with fewer than five
/// intervals.
///
/// The last interval may be shorter than the others. Its rate uses the time that it covers, and it
/// is omitted if that is less than half an interval.
pub fn rates(repetition: &Repetition, direction: Option<Direction>) -> Vec<f64> {
    let series = &repetition.series;
    let (full_ns, count) = (series.interval_ns.max(1), series.intervals.len());
    if count < FEWEST_INTERVALS {
        return Vec::new();
    }
    // The measured time can be less than the elapsed time (alternating reads and writes). In that
    // case, it is unknown how much time the last interval covers.
    let whole_ns = full_ns.saturating_mul(count as u64 - 1);
    let last_ns = repetition.elapsed_ns.saturating_sub(whole_ns).min(full_ns);
    let covered_ns = |index: usize| if index + 1 == count { last_ns } else { full_ns };
    let intervals = series.intervals.iter().enumerate();
    let counted = intervals.filter(|(index, _)| covered_ns(*index) >= full_ns.div_ceil(2));
    let rate = |(index, interval)| interval_bytes(interval, direction) as f64 / covered_ns(index) as f64;
    counted.map(rate).collect()
}

/// Returns the bytes that an interval transferred in a direction.
pub fn interval_bytes(interval: &Interval, direction: Option<Direction>) -> u64 {
    match direction {
        Some(Direction::Read) => interval.read_bytes,
        Some(Direction::Write) => interval.write_bytes,
        Some(Direction::Mix) | None => interval.bytes(),
    }
}

/// Draws a share as a bar, to an eighth of a column.
pub fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    // A share above zero is always visible.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{Interval, Series};
    use proptest::prelude::*;

    #[test]
    fn a_steady_rate_is_high_and_flat() {
        assert_eq!(sparkline(&[100.0; 50], 8), "▇▇▇▇▇▇▇▇");
        assert_eq!(sparkline(&[1.0, 1.0], 8), "▇▇");
        assert_eq!(sparkline(&[0.0; 20], 4), "▁▁▁▁");
        assert_eq!(sparkline(&[], 4), "");
    }

    #[test]
    fn one_stalled_interval_shows_as_a_dip() {
        let mut values = [100.0; 80];
        values[33] = 0.0;
        assert_eq!(sparkline(&values, 8), "▇▇▇▁▇▇▇▇");
    }

    #[test]
    fn a_device_too_slow_for_the_interval_does_not_look_stalled() {
        let values: Vec<f64> = (0..80).map(|i| if i % 2 == 0 { 1.0 } else { 0.0 }).collect();
        assert_eq!(sparkline(&values, 8), "▇▇▇▇▇▇▇▇");
    }

    #[test]
    fn a_cache_that_runs_full_shows_as_a_step() {
        let values: Vec<f64> = (0..80).map(|i| if i < 30 { 100.0 } else { 60.0 }).collect();
        assert_eq!(sparkline(&values, 8), "▇▇▇▅▅▅▅▅");
    }

    #[test]
    fn an_interval_counts_with_the_time_that_it_covers() {
        let interval = |read_bytes| Interval { read_bytes, read_operations: 1, ..Interval::default() };
        let of = |elapsed_ns, bytes: &[u64]| {
            let intervals = bytes.iter().map(|bytes| interval(*bytes)).collect();
            let series = Series { interval_ns: 100, intervals };
            rates(&Repetition { elapsed_ns, series, ..Repetition::default() }, None)
        };
        assert_eq!(of(470, &[100, 100, 100, 100, 70]), [1.0; 5], "the last one covers 70 ns of 100");
        assert_eq!(of(420, &[100, 100, 100, 100, 20]), [1.0; 4], "20 ns are too few");
        assert_eq!(of(21, &[66]), [0.0; 0], "one interval is no course");
        assert_eq!(
            of(260, &[100, 100, 100, 100, 100]),
            [1.0; 4],
            "the time of another direction lies between"
        );
    }

    proptest! {
        #[test]
        fn it_is_never_longer_than_asked(
            values in proptest::collection::vec(proptest::num::f64::ANY, 0..200),
            length in 0usize..20,
        ) {
            prop_assert_eq!(sparkline(&values, length).chars().count(), length.min(values.len()));
        }
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0, 10), "██████████");
        assert_eq!(bar(0.5, 10), "█████");
        assert_eq!(bar(0.06, 10), "▋");
        assert_eq!(bar(0.000_1, 10), "▏");
        assert_eq!(bar(0.0, 10), "");
    }
}
