//! Where a value stands on an axis.
//!
//! The model: a value goes through its scale (as it is; its logarithm; the logarithm of what is left to 1), then linearly to
//! pixels. What lies outside stands at the edge; what is no number stands nowhere. Zero on a logarithmic axis stands at its
//! lower edge: a rate of zero is a stall and must be seen.

use crate::plot::{Scale, shown};

/// More decades than this are not shown: below the highest value by so much stands at the edge.
const MOST_DECADES: f64 = 15.0;
/// Shares so near to 1 are the maximum: they stand at the right end of a tail.
const TAIL_END: f64 = 1.0 - 1e-9;

/// Whether the axis ends at its values or at round numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    AtValues,
    Round,
}

/// An axis from pixel to pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelSpan {
    pub scale: Scale,
    /// Ends in values.
    pub low: f64,
    pub high: f64,
    /// Ends in pixels.
    pub from: f64,
    pub to: f64,
}

/// Steps of 1, 2 and 5 at or above a positive number.
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
    /// An axis on which all values find a place.
    pub(crate) fn over(values: impl Iterator<Item = f64>, scale: Scale, ends: Ends) -> Self {
        let values = values.filter_map(shown);
        let (low, high) = match scale {
            Scale::Linear => linear(values, ends),
            Scale::Log => log(values.filter(|value| *value > 0.0), ends),
            Scale::Tail => tail(values),
        };
        Self { scale, low, high, from: 0.0, to: 1.0 }
    }

    /// The same between two pixels; the second may be the smaller one.
    pub(crate) fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Where a value stands in pixels; at the edge if it is outside.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        shown(value).map(|value| self.from + (self.to - self.from) * self.part(value))
    }

    /// Whether a value lies on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        let slack = (self.high - self.low).abs() * 1e-9;
        shown(value).is_some_and(|value| value >= self.low - slack && value <= self.high + slack)
    }

    /// From 0 to 1 along the axis.
    fn part(&self, value: f64) -> f64 {
        let place = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Tail => -(1.0 - value.clamp(0.0, TAIL_END)).log10(),
        };
        // The maximum has no place on a tail; half a decade is left for it.
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
