//! Published figures: a number, a range (`150 to 200`), a bound (`over 2000`), or an approximate
//! number.

use kurabe_core::{Result, Value, text};
use serde::Serialize;

/// A figure as its source prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// The figure, or the lower end of the range.
    pub low: f64,
    /// The figure again, or the upper end of the range; `None` if only a lower bound is given.
    pub high: Option<f64>,
    /// Whether the author says "about".
    pub about: bool,
}

impl Published {
    /// Creates an exact figure.
    pub fn exact(value: f64) -> Self {
        Self { low: value, high: Some(value), about: false }
    }

    /// Reads `845.9`, `[150, 200]`, `">2000"` or `"~900"`.
    ///
    /// # Errors
    /// If the value has another form, with its place.
    pub fn read(value: &Value<'_>) -> Result<Self> {
        if value.is_array() {
            let ends = value.elements();
            let [low, high] = ends.as_slice() else { return Err(misfit(value)) };
            let (low, high) = (low.number()?, high.number()?);
            if low > high {
                return Err(misfit(value));
            }
            return Ok(Self { low, high: Some(high), about: false });
        }
        let Ok(words) = value.string() else { return value.positive().map(Self::exact) };
        let number =
            |words: &str| words.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
        match (words.strip_prefix('>').map(number), words.strip_prefix('~').map(number)) {
            (Some(Some(low)), _) => Ok(Self { low, high: None, about: false }),
            (_, Some(Some(about))) => Ok(Self { about: true, ..Self::exact(about) }),
            _ => Err(misfit(value)),
        }
    }

    /// Returns the deviation of a value in percent of the published figure; 0 within a range or
    /// above a bound.
    pub fn error_percent(&self, value: f64) -> Option<f64> {
        let off = |bound: f64| Some((value - bound) / bound * 100.0).filter(|percent| percent.is_finite());
        match self.high {
            _ if value < self.low => off(self.low),
            Some(high) if value > high => off(high),
            _ => Some(0.0),
        }
    }

    /// Returns whether this figure is lower than another by more than repetitions scatter (1 %).
    pub fn is_below(&self, other: &Self) -> bool {
        self.high.is_some_and(|high| high * 1.01 < other.low)
    }
}

fn misfit(value: &Value<'_>) -> kurabe_core::Error {
    value.error(&text!("this is not a published figure", "公表値として読めません")).remedy(text!(
        "write a number above zero, a span [150, 200], a bound \">2000\", or \"~900\" for about 900",
        "0 より大きい数、範囲 [150, 200]、下限 \">2000\"、約 900 を表す \"~900\" のどれかを書いてください"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::DataFile;
    use proptest::prelude::*;

    fn read(words: &str) -> Result<Published> {
        let source = format!("x = {words}");
        let file = DataFile::parse("x.toml", &source)?;
        Published::read(&file.root(&["x"])?.require("x")?)
    }

    #[test]
    fn numbers_spans_and_bounds_are_read() {
        assert_eq!(read("845.9").unwrap(), Published::exact(845.9));
        assert_eq!(read("[150, 200]").unwrap(), Published { low: 150.0, high: Some(200.0), about: false });
        assert_eq!(read("\">2000\"").unwrap(), Published { low: 2000.0, high: None, about: false });
        assert!(read("\"~900\"").unwrap().about);
        for bad in ["0", "[2, 1]", "[1]", "\"fast\"", "\">\"", "true", "\"~-1\""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn within_a_span_there_is_no_error() {
        let span = read("[150, 200]").unwrap();
        assert_eq!(span.error_percent(170.0), Some(0.0));
        assert_eq!(span.error_percent(75.0), Some(-50.0));
        assert_eq!(span.error_percent(220.0).unwrap().round(), 10.0);
        assert_eq!(read("\">2000\"").unwrap().error_percent(9000.0), Some(0.0));
    }

    proptest! {
        #[test]
        fn the_error_gives_the_value_back(published in 0.1..1e6, value in 0.0..1e6) {
            let error = Published::exact(published).error_percent(value).unwrap();
            prop_assert!((published * (1.0 + error / 100.0) - value).abs() < 1e-6 * (1.0 + value));
        }
    }
}
