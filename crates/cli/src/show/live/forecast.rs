//! Forecast of an interleaved measurement in words.

use kurabe_core::mention::MARGIN;
use kurabe_core::{Text, number, text};
use kurabe_lab::ForecastCell;

/// Describes which differences can be found in this time. Smaller differences than `margin` count as
/// none. `None` without any forecast.
pub(super) fn forecast_words(time_ns: u64, margin: f64, cells: &[ForecastCell]) -> Option<Text> {
    let differences = || cells.iter().map(|cell| cell.smallest_difference);
    let (least, most) = differences().reduce(f64::min).zip(differences().reduce(f64::max))?;
    let time = number::planned_time(time_ns);
    let [from, to] = [least, most].map(rounded_up);
    let words = match from == to {
        true => text!(
            "in {time} this can find differences of {to} or more",
            "{time}で、{to} 以上の差を見分けられる見込みです";
            time
        ),
        false => text!(
            "in {time} this can find differences of {to} or more in every test, of {from} in the steadiest",
            "{time}で、どの項目でも {to} 以上、最も安定した項目では {from} 以上の差を見分けられる見込みです";
            time
        ),
    };
    if least >= margin {
        return Some(words);
    }
    let margin = number::percent(margin);
    Some(text!(
        "{words}; those below {margin} count as none ({MARGIN})",
        "{words}({margin} 未満は差なしとします。{MARGIN} で変更)";
        words
    ))
}

/// Formats a share in percent with two digits, rounded up.
fn rounded_up(share: f64) -> String {
    let step = if share < 0.1 { 1e-3 } else { 1e-2 };
    // A whole number of steps stays the same in spite of rounding errors.
    number::percent((share / step - 1e-6).ceil() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(margin: f64, differences: &[f64]) -> Option<Text> {
        let cell = |difference: &f64| ForecastCell {
            label: "a".to_owned(),
            direction: None,
            other: "b".to_owned(),
            smallest_difference: *difference,
        };
        forecast_words(60_000_000_000, margin, &differences.iter().map(cell).collect::<Vec<_>>())
    }

    #[test]
    fn the_smallest_difference_is_rounded_up_and_compared_with_the_margin() {
        let one = words(0.01, &[0.0291, 0.0299]).unwrap();
        assert_eq!(one.en, "in 1 min this can find differences of 3.0 % or more");
        assert_eq!(one.ja, "1 分で、3.0 % 以上の差を見分けられる見込みです");
        let two = words(0.05, &[0.004, 0.122]).unwrap();
        assert_eq!(
            two.en,
            "in 1 min this can find differences of 13 % or more in every test, of 0.4 % in the steadiest; those below \
             5.0 % count as none (--margin)"
        );
        assert!(two.ja.contains("13 % 以上") && two.ja.contains("5.0 % 未満は差なし"), "{}", two.ja);
        assert_eq!(words(0.05, &[]), None);
    }
}
