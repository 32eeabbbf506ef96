//! Mapping of values to positions on an axis.
//!
//! The model: a value is transformed by its scale (linear, its logarithm, or the logarithm of its
//! distance to 1), then linearly to pixels. A value outside the range is drawn at the edge; NaN has
//! no position. Zero on a logarithmic axis is at its lower edge: a rate of zero is a stall and must
//! be visible.

use crate::plot::{Scale, shown};

/// Maximum number of decades shown: values further below the highest one are at the edge.
const MOST_DECADES: f64 = 15.0;
/// Shares this close to 1 count as the maximum, which is at the right end of a tail.
const TAIL_END: f64 = 1.0 - 1e-9;

/// Whether the axis ends at its values or at round numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    AtValues,
    Round,
}

/// An axis between two pixel positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelSpan {
    pub scale: Scale,
    /// Ends of the range of values.
    pub low: f64,
    pub high: f64,
    /// Ends in pixels.
    pub from: f64,
    pub to: f64,
}

/// Rounds a positive number up to 1, 2 or 5 times a power of ten.
pub(super) fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= value * (1.0 - 1e-9)).unwrap_or(10.0);
    step * power
}

fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().find(|step| step * power <= value * (1.0 + 1e-9)).unwrap_or(1.0);
    step * power
}

impl PixelSpan {
    /// Returns an axis that contains all values.
    pub(crate) fn over(values: impl Iterator<Item = f64>, scale: Scale, ends: Ends) -> Self {
        let values = values.filter_map(shown);
        let (low, high) = match scale {
            Scale::Linear => linear(values, ends),
            Scale::Log => log(values.filter(|value| *value > 0.0), ends),
            Scale::Tail => tail(values),
        };
        Self { scale, low, high, from: 0.0, to: 1.0 }
    }

    /// Places the axis between two pixel positions; the second may be the smaller one.
    pub(crate) fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Returns the position of a value in pixels; at the edge if it is out of range.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        shown(value).map(|value| self.from + (self.to - self.from) * self.part(value))
    }

    /// Returns whether a value is within the range.
    pub(super) fn holds(&self, value: f64) -> bool {
        let slack = (self.high - self.low).abs() * 1e-9;
        shown(value).is_some_and(|value| value >= self.low - slack && value <= self.high + slack)
    }

    /// Returns the relative position along the axis, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        let place = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Tail => -(1.0 - value.clamp(0.0, TAIL_END)).log10(),
        };
        // The maximum is infinitely far away on a tail; half a decade is reserved for it.
        let end = if self.scale == Scale::Tail { 0.5 } else { 0.0 };
        let (low, high) = (place(self.low), place(self.high) + end);
        let value = if self.scale == Scale::Tail && value >= TAIL_END { high } else { place(value) };
        let part = (value - low) / (high - low);
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 }
    }
}

fn linear(values: impl Iterator<Item = f64>, ends: Ends) -> (f64, f64) {
    let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if low == high {
        return (0.0, 1.0);
    }
    if ends == Ends::AtValues {
        return (low, high);
    }
    let step = round_up((high - low) / 8.0);
    ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
}

fn log(values: impl Iterator<Item = f64>, ends: Ends) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if high == 0.0 {
        return (1.0, 10.0);
    }
    let high = high.max(1e-12);
    let low = low.max(high / 10f64.powf(MOST_DECADES));
    match ends {
        Ends::AtValues if high > low * 1.001 => (low, high),
        Ends::AtValues => (low / 2.0, high * 2.0),
        Ends::Round if round_up(high) > round_down(low) * 1.5 => (round_down(low), round_up(high)),
        Ends::Round => (round_down(low / 2.0), round_up(high * 2.0)),
    }
}

fn tail(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let below = values.filter(|value| (0.0..TAIL_END).contains(value));
    let (low, high) = below.fold((1.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if high < 0.9 { (low.min(0.5), 0.9) } else { (low.min(0.5), high) }
}
