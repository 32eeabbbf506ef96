//! The axes of the terminal's charts: those of the SVG, with columns and lines in the place of pixels.
//!
//! The model: a column counts as so many pixels as a digit is wide, so that the same rule keeps words apart here and there.

use crate::plot::Axis;
use crate::svg::span::{Ends, PixelSpan, shown};
use crate::svg::ticks::{Ticks, Way, ticks};

/// Width of a column; words at the ticks are drawn at 11.5 px, a digit of which is 0.55 em wide.
const COLUMN_PX: f64 = 6.5;
/// Height of a line: words at every second or third one at most.
const LINE_PX: f64 = 13.0;

/// An axis along columns or lines.
pub(super) struct TickedAxis {
    span: PixelSpan,
    length_px: f64,
    ticks: Ticks,
}

impl TickedAxis {
    /// An axis across so many columns that ends at its values.
    pub(super) fn across(axis: &Axis, values: impl Iterator<Item = f64>, columns: usize) -> Option<Self> {
        Self::of(axis, values, Ends::AtValues, columns as f64 * COLUMN_PX, Way::Across)
    }

    /// An axis up so many lines that ends at round numbers.
    pub(super) fn up(axis: &Axis, values: impl Iterator<Item = f64>, lines: usize) -> Option<Self> {
        Self::of(axis, values, Ends::Round, lines as f64 * LINE_PX, Way::Up)
    }

    /// `None` if there is nothing to show on it.
    fn of(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        ends: Ends,
        length_px: f64,
        way: Way,
    ) -> Option<Self> {
        let values: Vec<f64> = values.filter_map(shown).collect();
        if values.is_empty() {
            return None;
        }
        let span = PixelSpan::over(values.into_iter(), axis.scale, ends).between(0.0, length_px);
        let ticks = ticks(axis, &span, way);
        Some(Self { span, length_px, ticks })
    }

    /// Where a value lies, from 0 to 1; `None` if it is no number.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        Some(self.span.at(value)? / self.length_px)
    }

    /// Share of the axis and words of each place that is named, ascending.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.ticks.iter().filter_map(|tick| Some((self.share(tick.value)?, tick.words.as_str())))
    }

    /// What the axis is, with its unit.
    pub(super) fn label(&self) -> &str {
        &self.ticks.label
    }
}
