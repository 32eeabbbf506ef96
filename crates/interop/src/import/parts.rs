//! What all importers make their runs of: numbers, cells, remarks.
//!
//! The model: a number is digits with an optional fraction and exponent; anything else is none, so a damaged file can
//! lose figures but never yields a wrong one.

use kurabe_core::Text;
use kurabe_core::imported::{ImportedCell, Quantity};
use kurabe_core::record::{Cell, Measure, Notice, NoticeKind};
use kurabe_core::workload::Direction;

/// A number as tools print it: `508.897`, `1.0E7`; spaces around it do not count. No sign, no separators of
/// thousands.
pub(super) fn number(words: &str) -> Option<f64> {
    let words = words.trim();
    let (mantissa, exponent) = match words.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (words, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let sound = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(mantissa),
    };
    if !sound
        || exponent.is_some_and(|exponent| !digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
    {
        return None;
    }
    words.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A cell that another tool measured. What it measures follows from its first figure.
pub(super) fn cell(label: impl Into<String>, direction: Option<Direction>, imported: ImportedCell) -> Cell {
    let measure = match imported.figures.first().map(|figure| figure.quantity) {
        Some(Quantity::Latency) => Measure::AccessTime,
        Some(Quantity::Duration) => Measure::Duration,
        _ => Measure::Rate,
    };
    Cell {
        index: 0,
        step_index: 0,
        label: label.into(),
        part: direction.map_or(String::new(), |direction| direction.word().to_owned()),
        direction,
        measure,
        workload: None,
        engine: None,
        repetitions: Vec::new(),
        imported: Some(imported),
    }
}

/// Numbers the cells in the order of the file; cells of one label are one step.
pub(super) fn numbered(mut cells: Vec<Cell>) -> Vec<Cell> {
    let mut steps: Vec<String> = Vec::new();
    for (index, cell) in (0_u32..).zip(&mut cells) {
        let step = steps.iter().position(|label| *label == cell.label).unwrap_or_else(|| {
            steps.push(cell.label.clone());
            steps.len() - 1
        });
        cell.index = index;
        cell.step_index = u32::try_from(step).unwrap_or(u32::MAX);
    }
    cells
}

/// A remark on the figures of a run.
pub(super) fn notice(text: Text) -> Notice {
    Notice { kind: NoticeKind::Other, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_strict() {
        assert_eq!(number("508.897"), Some(508.897));
        assert_eq!(number("1.0E7"), Some(1e7));
        assert_eq!(number("7.25e-05"), Some(7.25e-5));
        assert_eq!(number(" 1 "), Some(1.0));
        for words in
            ["", ".5", "5.", "-1", "+1", "1e", "1e999", "nan", "inf", "1,000", "1 0", "1_0", "1e5e5", "1e+-5"]
        {
            assert_eq!(number(words), None, "{words}");
        }
    }
}
