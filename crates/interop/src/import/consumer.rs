//! What importers of consumer tools share: figures in units that the line names, and their corrections.

use super::parts::{figure_of_value, number};
use kurabe_core::Text;
use kurabe_core::imported::{Correction, FigureOf, PrintedFigure, PrintedStatistic, Quantity};

/// 10^6.
pub(super) const MEGA: f64 = 1e6;
/// 2^20.
pub(super) const MEBI: f64 = 1_048_576.0;

/// A figure; `factor` leads from the printed unit to the base unit.
pub(super) fn figure(
    quantity: Quantity,
    statistic: PrintedStatistic,
    printed: &str,
    unit: &str,
    factor: f64,
) -> Option<PrintedFigure> {
    figure_of_value(quantity, statistic, number(printed)? * factor, printed, unit)
}

/// A rate printed in MB/s that is none; the correction's factor is relative to 10^6 bytes.
pub(super) fn corrected_rate(
    statistic: PrintedStatistic,
    printed: &str,
    unit: &str,
    correction: &Correction,
) -> Option<PrintedFigure> {
    let mut figure = figure(Quantity::Rate, statistic, printed, unit, MEGA * correction.factor)?;
    figure.correction = Some(correction.clone());
    Some(figure)
}

/// The correction of tools that print MB and mean MiB.
pub(super) fn mebi_correction(reason: Text) -> Correction {
    Correction { factor: MEBI / MEGA, unit: "MiB/s".to_owned(), reason }
}

/// What is told of a figure beyond its quantity and statistic.
pub(super) fn of(mut figure: PrintedFigure, what: FigureOf) -> PrintedFigure {
    figure.of = Some(what);
    figure
}

/// A line of dashes that tools draw around a heading.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 10 && line.bytes().all(|byte| byte == b'-')
}

/// `Key: value` or `Key : value`, both trimmed.
pub(super) fn key_value(line: &str) -> Option<(&str, &str)> {
    line.split_once(':').map(|(key, value)| (key.trim(), value.trim()))
}

/// The number in `(x5)`.
pub(super) fn runs_in(words: &str) -> Option<u32> {
    words
        .match_indices("(x")
        .find_map(|(at, _)| words[at + 2..].split_once(')').and_then(|(digits, _)| digits.parse().ok()))
        .filter(|runs| *runs > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_from_their_brackets() {
        assert_eq!(runs_in("1 GiB (x5) [C: 87% (814/931GiB)]"), Some(5));
        assert_eq!(runs_in("1 GiB (x0)"), None);
        assert_eq!(runs_in("1 GiB (x5"), None);
    }
}
