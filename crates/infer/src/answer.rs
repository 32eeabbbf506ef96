//! Statements about each parameter, from the samples, and the device file.
//!
//! A parameter is stated if the samples agree on it: one value of a choice with 95 %, or an interval
//! of at most `STATED`. Two times that the probes show only together, such as those of a command in
//! the bridge and in the flash, are stated as their sum.

use crate::family::FreeRange;
use crate::sampler::interval_of;
use crate::session::InferredDevice;
use kurabe_core::Result;
use kurabe_sim::{DeviceSpec, ParameterType, Setting};

/// Widest ratio of the ends of an interval of a parameter that is stated.
const STATED: f64 = 1.4;
/// Least share of the samples with a choice that is stated.
const AGREED: f64 = 0.95;
/// Smallest share that is shown.
const SHOWN: f64 = 0.02;

/// The value of a parameter, as far as it is determined.
#[derive(Clone, Debug, PartialEq)]
pub enum InferredValue {
    /// It is one of the choices.
    Chosen(String),
    /// It is one of several choices, each with its share of the samples.
    OneOf(Vec<(String, f64)>),
    /// It is this, within the interval.
    Stated(ValueInterval),
    /// It is somewhere in the interval, which is too wide for a statement.
    Between(ValueInterval),
}

/// A value with its 95 % interval, in the unit of the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueInterval {
    /// Lower end.
    pub low: f64,
    /// Middle.
    pub middle: f64,
    /// Upper end.
    pub high: f64,
}

impl ValueInterval {
    /// Returns the interval of samples: quantiles, or of few samples what their scatter gives.
    pub fn of(values: &[f64]) -> Self {
        let logs: Vec<f64> = values.iter().map(|value| value.max(f64::MIN_POSITIVE).ln()).collect();
        let (mean, half) = interval_of(&logs);
        Self { low: (mean - half).exp(), middle: mean.exp(), high: (mean + half).exp() }
    }

    fn is_narrow(&self) -> bool {
        self.high < STATED * self.low
    }
}

/// A parameter with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredParameter {
    /// Its path.
    pub path: String,
    /// Its type.
    pub kind: ParameterType,
    /// Its value.
    pub value: InferredValue,
}

/// A sum of two times that is determined better than each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredSum {
    /// Paths of the two.
    pub paths: [String; 2],
    /// The sum.
    pub interval: ValueInterval,
}

impl InferredDevice {
    /// Returns the parameters that the probes could show.
    pub fn parameters(&self) -> Vec<InferredParameter> {
        let shown = |index: &usize| self.did_write || !self.family.free[*index].needs_writes;
        (0..self.family.free.len()).filter(shown).map(|index| self.parameter(index)).collect()
    }

    fn parameter(&self, index: usize) -> InferredParameter {
        let one = &self.family.free[index];
        let value = match &one.range {
            FreeRange::Log(..) => {
                let mut interval = ValueInterval::of(&self.values(index));
                if let Some(Some((low, high))) = self.reaches.get(index) {
                    interval.low = interval.low.min(one.value_at(*low));
                    interval.high = interval.high.max(one.value_at(*high));
                }
                if interval.is_narrow() {
                    InferredValue::Stated(interval)
                } else {
                    InferredValue::Between(interval)
                }
            }
            FreeRange::Choice(list) => {
                let share = |choice: usize| {
                    let with = self.samples.iter().filter(|point| point[index] as usize == choice);
                    with.count() as f64 / self.samples.len().max(1) as f64
                };
                let shares = list.iter().enumerate().map(|(choice, word)| (word.clone(), share(choice)));
                let mut shares: Vec<(String, f64)> = shares.filter(|one| one.1 >= SHOWN).collect();
                shares.sort_by(|one, other| other.1.total_cmp(&one.1));
                match shares.first() {
                    Some((word, share)) if *share >= AGREED => InferredValue::Chosen(word.clone()),
                    _ => InferredValue::OneOf(shares),
                }
            }
        };
        InferredParameter { path: one.path.clone(), kind: one.kind, value }
    }

    fn values(&self, index: usize) -> Vec<f64> {
        self.samples.iter().map(|point| self.family.free[index].value_at(point[index])).collect()
    }

    /// Returns the sums that are determined although their parts are not.
    pub fn sums(&self) -> Vec<InferredSum> {
        let is_open = |index: &usize| {
            let one = &self.family.free[*index];
            one.kind == ParameterType::Time
                && (self.did_write || !one.needs_writes)
                && matches!(self.parameter(*index).value, InferredValue::Between(_))
        };
        let open: Vec<usize> = (0..self.family.free.len()).filter(is_open).collect();
        let mut sums = Vec::new();
        for (rank, one) in open.iter().enumerate() {
            for other in &open[rank + 1..] {
                let (first, second) = (self.values(*one), self.values(*other));
                let both: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
                let interval = ValueInterval::of(&both);
                if interval.is_narrow() {
                    let paths = [*one, *other].map(|index| self.family.free[index].path.clone());
                    sums.push(InferredSum { paths, interval });
                }
            }
        }
        sums
    }

    /// Returns the device with the best values of the parameters.
    ///
    /// # Errors
    /// Never, because the device was built before.
    pub fn device(&self, span_bytes: u64) -> Result<DeviceSpec> {
        self.family.device(&self.point, span_bytes)
    }

    /// Returns the text of a device file. `run` names the target in its sources.
    ///
    /// # Errors
    /// As [`Self::device`].
    pub fn device_file(&self, name: &str, run: &str, span_bytes: u64) -> Result<String> {
        let parameters = self.parameters();
        let source = |layer: &str, setting: &Setting| {
            let path = format!("{layer}.{}", setting.parameter.key);
            match parameters.iter().find(|one| one.path == path) {
                Some(one) => Some(format!("identified: {run}, {}", one.words())),
                None => setting
                    .changed
                    .then(|| format!("identified: {run}, from its size and its other parameters")),
            }
        };
        let (name, title) = (name.to_owned(), self.family.title.clone());
        let mut spec = DeviceSpec { name, title, year: None, note: None, ..self.device(span_bytes)? };
        spec.set_sources(&source);
        Ok(format!("# Identified by its times.\n{}", spec.to_toml()))
    }
}

impl InferredParameter {
    /// Returns its value as data: `95 % 203 us to 219 us`.
    pub fn words(&self) -> String {
        let interval = |one: &ValueInterval| {
            format!("95 % {} to {}", quantity(self.kind, one.low), quantity(self.kind, one.high))
        };
        match &self.value {
            InferredValue::Chosen(_) => "95 % this one of its choices".to_owned(),
            InferredValue::OneOf(list) => {
                let each = |(word, share): &(String, f64)| format!("{word} {:.0} %", share * 100.0);
                format!("unclear: {}", list.iter().map(each).collect::<Vec<_>>().join(", "))
            }
            InferredValue::Stated(one) => interval(one),
            InferredValue::Between(one) => format!("unclear: {}", interval(one)),
        }
    }
}

/// Returns a value with three digits and its unit, as device files take it.
pub fn quantity(kind: ParameterType, value: f64) -> String {
    let scaled = |units: &[(&str, f64)]| {
        let (unit, factor) =
            units.iter().rev().find(|one| value >= one.1).or(units.first()).copied().unwrap_or(("", 1.0));
        let value = value / factor;
        let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        format!("{value:.digits$} {unit}")
    };
    match kind {
        ParameterType::Time => scaled(&[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]),
        ParameterType::Rate => scaled(&[("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)]),
        ParameterType::Bytes(..) => {
            scaled(&[("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)])
        }
        _ => scaled(&[("", 1.0)]).trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits_and_a_unit() {
        assert_eq!(quantity(ParameterType::Time, 215_640.0), "216 us");
        assert_eq!(quantity(ParameterType::Time, 634.4), "634 ns");
        assert_eq!(quantity(ParameterType::Rate, 84_090_000.0), "84.1 MB/s");
        assert_eq!(quantity(ParameterType::Number(0.0, 1.0), 0.512), "0.51");
    }
}
