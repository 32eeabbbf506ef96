//! Axes of the terminal's charts: those of the SVG, with columns and lines instead of pixels.
//!
//! The model: a column counts as many pixels as the width of a digit, so that the same rule
//! prevents overlaps in both.

use crate::plot::{Axis, shown};
use crate::svg::span::{Ends, PixelSpan};
use crate::svg::ticks::{Ticks, Way, ticks};

/// Width of a column; numbers at the ticks are drawn at 11.5 px, and a digit is 0.55 em wide.
const COLUMN_PX: f64 = 6.5;
/// Height of a line: numbers at every second or third line at most.
const LINE_PX: f64 = 13.0;

/// An axis along columns or lines.
pub(super) struct TickedAxis {
    span: PixelSpan,
    length_px: f64,
    pub(super) ticks: Ticks,
}

impl TickedAxis {
    /// Returns an axis across `length` columns that ends at its values, or up `length` lines that
    /// ends at round numbers; `None` if there are no values.
    pub(super) fn of(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        way: Way,
        length: usize,
    ) -> Option<Self> {
        let mut values = values.filter_map(shown).peekable();
        values.peek()?;
        let (ends, step_px) = match way {
            Way::Across => (Ends::AtValues, COLUMN_PX),
            Way::Up => (Ends::Round, LINE_PX),
        };
        let length_px = length as f64 * step_px;
        let span = PixelSpan::over(values, axis.scale, ends).between(0.0, length_px);
        let ticks = ticks(axis, &span, way);
        Some(Self { span, length_px, ticks })
    }

    /// Returns the relative position of a value, from 0 to 1; `None` if it cannot be shown.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        Some(self.span.at(value)? / self.length_px)
    }

    /// Returns the relative position and text of each number, in ascending order.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.ticks.iter().filter_map(|tick| Some((self.share(tick.value)?, tick.words.as_str())))
    }
}
