//! A chart in the terminal: columns of block characters over a place, a number or an amount.
//!
//! The model: points are put into as many columns as there is room for; a column is as high as the mean of its points,
//! against a scale that begins at zero, so that a steady curve looks steady. A column without points stays empty, or
//! holds the value before it.

use crate::layout::{display_width, pad_left};
use crate::style::{Role, Style};

/// Columns of a point that holds, at most.
const HOLDING_COLUMNS: usize = 6;
/// Between words of the axis, at least.
const AXIS_GAP: usize = 4;
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What is drawn.
pub(crate) struct Chart<'a> {
    /// Place and value of each point; none of it negative.
    pub(crate) points: &'a [(f64, f64)],
    /// Whether a value holds until the next point, as that of a round does.
    pub(crate) holds: bool,
    /// The place at the right edge.
    pub(crate) until: f64,
    /// Lines of the columns.
    pub(crate) height: usize,
    /// A value in words, for the scale.
    pub(crate) value: &'a dyn Fn(f64) -> String,
    /// A place in words, for the axis.
    pub(crate) place: &'a dyn Fn(f64) -> String,
}

impl Chart<'_> {
    /// The lines; none without points.
    pub(crate) fn render(&self, style: &Style) -> Vec<String> {
        let points: Vec<(f64, f64)> = self
            .points
            .iter()
            .copied()
            .filter(|(x, y)| x.is_finite() && y.is_finite() && *x >= 0.0 && *y >= 0.0)
            .collect();
        let until = points.iter().map(|point| point.0).fold(self.until, f64::max);
        if points.is_empty() || until <= 0.0 {
            return Vec::new();
        }
        // No scale is wider than that of the highest point.
        let highest_point = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let bottom = (self.value)(0.0);
        let half_point = (self.value)(highest_point / 2.0);
        let widths = [&(self.value)(highest_point), &half_point, &bottom].map(|words| display_width(words));
        let scale = widths.into_iter().max().unwrap_or(0);
        let wanted = points.len() * if self.holds { HOLDING_COLUMNS } else { 1 };
        let width = style.width.saturating_sub(scale + 4).clamp(10, 72).min(wanted.max(10));
        let mut columns = binned(&points, until, width);
        if self.holds {
            let mut last = None;
            for column in &mut columns {
                last = column.or(last);
                *column = last;
            }
        }
        let highest = columns.iter().flatten().copied().fold(0.0, f64::max);
        if highest <= 0.0 {
            return Vec::new();
        }
        let (top, half) = ((self.value)(highest), (self.value)(highest / 2.0));
        let eighths: Vec<usize> = columns
            .iter()
            .map(|mean| {
                let share = mean.map_or(0.0, |mean| mean / highest);
                let filled = (share * (self.height * 8) as f64).round() as usize;
                filled.max(usize::from(mean.is_some()))
            })
            .collect();
        let mut lines: Vec<String> = (0..self.height)
            .map(|line| {
                let below = (self.height - 1 - line) * 8;
                let body: String =
                    eighths.iter().map(|filled| LEVELS[filled.saturating_sub(below).min(8)]).collect();
                // A label stands at the upper edge of its line, but 0 at the lower one.
                let label = match line {
                    0 => &top,
                    _ if line + 1 == self.height => &bottom,
                    _ if line * 2 == self.height => &half,
                    _ => "",
                };
                format!("  {} {}", pad_left(label, scale), style.paint(Role::Course, body.trim_end()))
            })
            .collect();
        lines.push(format!("  {} {}", " ".repeat(scale), self.axis(until, width)));
        lines
    }
}

impl Chart<'_> {
    /// The words below the columns: the first and the last place, and between them the middle, if there is room.
    fn axis(&self, until: f64, width: usize) -> String {
        let [first, middle, last] = [0.0, until / 2.0, until].map(|place| (self.place)(place));
        let (before, after) = (display_width(&first), display_width(&last));
        let half = display_width(&middle);
        let middle_at = (width / 2).saturating_sub(half / 2);
        let last_at = width.saturating_sub(after);
        let room = !self.holds && middle_at >= before + AXIS_GAP && middle_at + half + AXIS_GAP <= last_at;
        let mut axis = first;
        if room {
            axis.push_str(&" ".repeat(middle_at - before));
            axis.push_str(&middle);
        }
        let used = display_width(&axis);
        format!("{axis}{}{last}", " ".repeat(last_at.saturating_sub(used).max(1)))
    }
}

/// The mean of each column's points.
fn binned(points: &[(f64, f64)], until: f64, width: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0_u32); width];
    for (x, y) in points {
        let column = ((x / until * width as f64) as usize).min(width - 1);
        sums[column].0 += y;
        sums[column].1 += 1;
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::Lang;
    use proptest::prelude::*;

    fn drawn(points: &[(f64, f64)]) -> Vec<String> {
        let chart = Chart {
            points,
            holds: false,
            until: 10.0,
            height: 2,
            value: &|value| format!("{value:.0} MB/s"),
            place: &|place| format!("{place:.0} GB"),
        };
        chart.render(&Style { lang: Lang::En, color: false, width: 40 })
    }

    #[test]
    fn a_falling_curve_falls() {
        let points: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 100.0 - 5.0 * f64::from(x))).collect();
        assert_eq!(
            drawn(&points),
            ["  100 MB/s █▇▆▆▅▄▃▂▂▁", "    0 MB/s ██████████", "           0 GB 10 GB"]
        );
    }

    #[test]
    fn a_value_that_holds_is_a_step() {
        let points = [(0.0, 4.0), (1.0, 2.0)];
        let value = |value: f64| format!("{value:.0}");
        let chart =
            Chart { points: &points, holds: true, until: 2.0, height: 1, value: &value, place: &value };
        let lines = chart.render(&Style { lang: Lang::En, color: false, width: 40 });
        assert_eq!(lines, ["  4 ██████▄▄▄▄▄▄", "    0          2"]);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(drawn(&[]).is_empty());
        assert!(drawn(&[(1.0, 0.0)]).is_empty());
        assert!(drawn(&[(f64::NAN, 1.0)]).is_empty());
    }

    proptest! {
        #[test]
        fn any_points_can_be_drawn(points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..50)) {
            drawn(&points);
        }

        #[test]
        fn plausible_points_keep_to_the_width(points in prop::collection::vec((0.0..1e6, 0.0..1e6), 0..50)) {
            for line in drawn(&points) {
                prop_assert!(display_width(&line) <= 40, "{line}");
            }
        }
    }
}
