//! A curve in the terminal, drawn with block characters. Each point's value holds until the next
//! point.
//!
//! The model: the points are distributed over as many columns as fit. The height of a column is the
//! mean of its points, on a scale that begins at zero, so that a steady curve looks steady. A
//! column without points repeats the previous value.

use crate::layout::{display_width, pad_left};
use crate::{Role, Style};
use kurabe_core::number;

/// Maximum number of columns per point.
const HOLDING_COLUMNS: usize = 6;
/// Height of the curve in lines.
const HEIGHT: usize = 4;
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A curve to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnCurve {
    /// Place and value of each point, neither of them negative.
    pub points: Vec<(f64, f64)>,
    /// The place at the right edge.
    pub until: f64,
    pub values: CurveValues,
    /// Labels of the places at both edges.
    pub edges: [String; 2],
}

/// Unit of a curve's values.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveValues {
    /// Bytes per second.
    Rate,
    /// Values in the given unit, with this number of decimals.
    Fixed(usize, String),
}

impl CurveValues {
    fn words(&self, value: f64) -> String {
        match self {
            Self::Rate => number::rate(value).to_string(),
            Self::Fixed(decimals, unit) => {
                format!("{} {unit}", number::fixed(value, *decimals)).trim_end().to_owned()
            }
        }
    }
}

impl DrawnCurve {
    /// Checks whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        !self.drawable().any(|(_, value)| value > 0.0)
    }

    fn drawable(&self) -> impl Iterator<Item = (f64, f64)> {
        let is_drawable = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && *x >= 0.0 && *y >= 0.0;
        self.points.iter().copied().filter(is_drawable)
    }

    /// Renders the lines. Empty without points.
    pub fn render(&self, style: &Style) -> Vec<String> {
        let points: Vec<(f64, f64)> = self.drawable().collect();
        let until = points.iter().map(|point| point.0).fold(self.until, f64::max);
        if points.is_empty() || until <= 0.0 {
            return Vec::new();
        }
        // No label of the scale is wider than that of the highest point.
        let highest_point = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let labels = [highest_point, highest_point / 2.0, 0.0].map(|value| self.values.words(value));
        let scale = labels.iter().map(|words| display_width(words)).max().unwrap_or(0);
        let most = (points.len() * HOLDING_COLUMNS).max(10);
        let width = style.width.saturating_sub(scale + 4).clamp(10, 72).min(most);
        let mut last = None;
        let mut columns = binned(&points, until, width);
        for column in &mut columns {
            *column = column.or(last);
            last = *column;
        }
        let highest = columns.iter().flatten().copied().fold(0.0, f64::max);
        if highest <= 0.0 {
            return Vec::new();
        }
        let filled = |mean: &Option<f64>| {
            let share = mean.map_or(0.0, |mean| mean / highest);
            ((share * (HEIGHT * 8) as f64).round() as usize).max(usize::from(mean.is_some()))
        };
        let eighths: Vec<usize> = columns.iter().map(filled).collect();
        // Each label belongs to the upper edge of its line, except for 0, which belongs to the
        // lower edge.
        let labels = [Some(highest), None, Some(highest / 2.0), Some(0.0)];
        let line = |(line, label): (usize, Option<f64>)| {
            let below = (HEIGHT - 1 - line) * 8;
            let body: String =
                eighths.iter().map(|filled| LEVELS[filled.saturating_sub(below).min(8)]).collect();
            let label = label.map(|value| self.values.words(value)).unwrap_or_default();
            format!("  {} {}", pad_left(&label, scale), style.paint(Role::Course, body.trim_end()))
        };
        let mut lines: Vec<String> = labels.into_iter().enumerate().map(line).collect();
        let [first, last] = &self.edges;
        let gap = width.saturating_sub(display_width(first) + display_width(last)).max(1);
        lines.push(format!("  {} {first}{}{last}", " ".repeat(scale), " ".repeat(gap)));
        lines
    }
}

/// Returns the mean of each column's points.
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
        let curve = DrawnCurve {
            points: points.to_vec(),
            until: 10.0,
            values: CurveValues::Fixed(0, "MB/s".to_owned()),
            edges: ["0 GB", "10 GB"].map(str::to_owned),
        };
        curve.render(&Style { lang: Lang::En, color: false, width: 40 })
    }

    #[test]
    fn a_value_holds_until_the_next_point() {
        assert_eq!(
            drawn(&[(0.0, 100.0), (5.0, 50.0)]),
            [
                "  100 MB/s ██████",
                "           ██████",
                "   50 MB/s ████████████",
                "    0 MB/s ████████████",
                "           0 GB   10 GB"
            ]
        );
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
