//! The axes of the terminal's charts: those of the SVG, with columns and lines in the place of pixels.
//!
//! The model: a column counts as so many pixels as a digit is wide, so that the same rule keeps words apart here and there.

use crate::plot::{Axis, shown};
use crate::svg::span::{Ends, PixelSpan};
use crate::svg::ticks::{Ticks, Way, ticks};

/// Width of a column; words at the ticks are drawn at 11.5 px, a digit of which is 0.55 em wide.
const COLUMN_PX: f64 = 6.5;
/// Height of a line: words at every second or third one at most.
const LINE_PX: f64 = 13.0;

/// An axis along columns or lines.
pub(super) struct TickedAxis {
    span: PixelSpan,
    length_px: f64,
    pub(super) ticks: Ticks,
}

impl TickedAxis {
    /// An axis across so many columns that ends at its values, or up so many lines that ends at round numbers; `None` if
    /// there is nothing to show on it.
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

    /// Where a value lies, from 0 to 1; `None` if it is no number.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        Some(self.span.at(value)? / self.length_px)
    }

    /// Share of the axis and words of each place that is named, ascending.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.ticks.iter().filter_map(|tick| Some((self.share(tick.value)?, tick.words.as_str())))
    }
}
