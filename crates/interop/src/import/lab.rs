//! Printed characters made into figures and cells: what the importers of laboratory tools have in common.
//!
//! The model: a `Unit` knows its name, its quantity and how many base units it is; together with printed characters
//! it makes a figure. Characters that are no number, or a negative or endless one, make none, so a damaged file can
//! lose figures but never yields a wrong one. Where a file names no unit, the tool's manual does.

use super::parts::{self, number};
use super::{Input, Outcome};
use kurabe_core::imported::{
    Correction, FigureOf, ImportedCell, PrintedFigure, PrintedSeries, PrintedStatistic,
    PrintedStatistic as Statistic, Quantity, SeriesAxis,
};
use kurabe_core::{Text, text};

/// A unit in which a tool prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    /// As printed.
    pub(super) name: &'static str,
    /// What it measures.
    pub(super) quantity: Quantity,
    /// Base units in one of it.
    base: f64,
    /// What may stand behind the digits.
    scale: Scale,
}

/// Letters that a tool puts behind the digits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// None.
    Plain,
    /// `K`, `M`, … are powers of 1024.
    Powers,
    /// `ns`, `us`, `ms`, `s`; none are nanoseconds.
    Times,
    /// `k`, `M`, `G`, `T` are powers of 1024 bytes, whatever the unit's own base; the point may be a comma, and `%` follows.
    ForPeople,
}

/// A unit whose numbers are digits alone.
pub(super) const fn unit(name: &'static str, quantity: Quantity, base: f64) -> Unit {
    Unit { name, quantity, base, scale: Scale::Plain }
}

/// A unit whose numbers may end in `K`, `M`, … for powers of 1024.
pub(super) const fn unit_of_powers(name: &'static str, quantity: Quantity) -> Unit {
    Unit { name, quantity, base: 1.0, scale: Scale::Powers }
}

/// A unit whose numbers may be printed for people: `1.5M`, `12,5`, `3.0%`.
pub(super) const fn unit_for_people(name: &'static str, quantity: Quantity, base: f64) -> Unit {
    Unit { name, quantity, base, scale: Scale::ForPeople }
}

/// Latencies that end in `ns`, `us`, `ms` or `s`, or are nanoseconds.
pub(super) const TIMES: Unit = Unit { name: "", quantity: Quantity::Latency, base: 1.0, scale: Scale::Times };

pub(super) const BYTES_PER_S: Unit = unit("B/s", Quantity::Rate, 1.0);
pub(super) const KIB_PER_S: Unit = unit("KiB/s", Quantity::Rate, 1024.0);
pub(super) const MIB_PER_S: Unit = unit("MiB/s", Quantity::Rate, 1_048_576.0);
pub(super) const IOPS: Unit = unit("IOPS", Quantity::Iops, 1.0);
pub(super) const NANOSECONDS: Unit = unit("ns", Quantity::Latency, 1.0);
pub(super) const MICROSECONDS: Unit = unit("us", Quantity::Latency, 1e3);
pub(super) const MILLISECONDS: Unit = unit("ms", Quantity::Latency, 1e6);
pub(super) const SECONDS: Unit = unit("s", Quantity::Latency, 1e9);
pub(super) const RUN_MILLISECONDS: Unit = unit("ms", Quantity::Duration, 1e6);
pub(super) const RUN_SECONDS: Unit = unit("s", Quantity::Duration, 1e9);
pub(super) const BYTES: Unit = unit("B", Quantity::Bytes, 1.0);
pub(super) const KIB: Unit = unit("KiB", Quantity::Bytes, 1024.0);
pub(super) const MIB: Unit = unit("MiB", Quantity::Bytes, 1_048_576.0);
pub(super) const COUNT: Unit = unit("", Quantity::Count, 1.0);
pub(super) const PERCENT: Unit = unit("%", Quantity::Share, 0.01);

impl Unit {
    /// A figure; `None` if the characters are no number that can be a figure.
    pub(super) fn figure(&self, statistic: PrintedStatistic, printed: &str) -> Option<PrintedFigure> {
        let printed = printed.trim();
        let value = self.value(printed)?;
        let (printed, name) = match (self.scale, self.quantity, printed.chars().last()) {
            (Scale::ForPeople, Quantity::Rate, Some('k')) => (&printed[..printed.len() - 1], "kB/s"),
            (Scale::ForPeople, Quantity::Rate, Some('M')) => (&printed[..printed.len() - 1], "MB/s"),
            (Scale::ForPeople, Quantity::Rate, Some('G')) => (&printed[..printed.len() - 1], "GB/s"),
            (Scale::ForPeople, _, Some('%')) => (&printed[..printed.len() - 1], self.name),
            _ => (printed, self.name),
        };
        parts::figure_of_value(self.quantity, statistic, value, printed, name)
    }

    /// A figure of something that quantity and statistic do not tell.
    pub(super) fn figure_of(
        &self,
        of: FigureOf,
        statistic: PrintedStatistic,
        printed: &str,
    ) -> Option<PrintedFigure> {
        Some(PrintedFigure { of: Some(of), ..self.figure(statistic, printed)? })
    }

    /// The value in base units.
    pub(super) fn value(&self, printed: &str) -> Option<f64> {
        let printed = printed.trim();
        if self.scale == Scale::ForPeople {
            return self.value_for_people(printed);
        }
        let letters = printed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(printed.len());
        let (digits, letters) = printed.split_at(letters);
        let factor = match (self.scale, letters) {
            (Scale::Plain | Scale::ForPeople, _) => {
                return number(printed).map(|value| value * self.base).filter(|value| value.is_finite());
            }
            (Scale::Powers, letters) => {
                let power =
                    ["", "K", "M", "G", "T", "P", "E"].iter().position(|prefix| *prefix == letters)?;
                1024_f64.powi(i32::try_from(power).ok()?)
            }
            (Scale::Times, "" | "ns") => 1.0,
            (Scale::Times, "us") => 1e3,
            (Scale::Times, "ms") => 1e6,
            (Scale::Times, "s") => 1e9,
            (Scale::Times, _) => return None,
        };
        Some(number(digits)? * factor * self.base).filter(|value| value.is_finite())
    }
}

impl Unit {
    fn value_for_people(&self, printed: &str) -> Option<f64> {
        let of_bytes = matches!(self.quantity, Quantity::Rate | Quantity::Bytes);
        let (digits, base) = match printed.chars().last()? {
            '%' if self.quantity == Quantity::Share => (&printed[..printed.len() - 1], self.base),
            letter if of_bytes && letter.is_ascii_alphabetic() => {
                let power = ['B', 'k', 'M', 'G', 'T', 'P'].iter().position(|prefix| *prefix == letter)?;
                (&printed[..printed.len() - 1], 1024_f64.powi(i32::try_from(power).ok()?))
            }
            _ => (printed, self.base),
        };
        Some(parts::decimal(digits)? * base).filter(|value| value.is_finite())
    }
}

/// Marks a rate of a tool whose kB is 1024 bytes and whose MB is 1024 of those.
pub(super) fn mark_binary_unit(figure: &mut PrintedFigure, tool: &str) {
    let unit = figure.unit_printed.to_ascii_lowercase();
    if figure.quantity != Quantity::Rate {
        return;
    }
    figure.correction = match unit.get(..2) {
        Some("kb") => Some(Correction {
            factor: 1.024,
            unit: "KiB/s".to_owned(),
            reason: text!("{tool} counts 1024 bytes as a kB", "{tool} は 1024 バイトを 1 kB と数えます"),
        }),
        Some("mb") => Some(Correction {
            factor: 1.048_576,
            unit: "MiB/s".to_owned(),
            reason: text!(
                "{tool} counts 1048576 bytes as an MB",
                "{tool} は 1048576 バイトを 1 MB と数えます"
            ),
        }),
        Some("gb") => Some(Correction {
            factor: 1.073_741_824,
            unit: "GiB/s".to_owned(),
            reason: text!("{tool} counts 2^30 bytes as a GB", "{tool} は 2^30 バイトを 1 GB と数えます"),
        }),
        _ => None,
    };
}

/// A number that is more than nothing.
pub(super) fn positive(printed: &str) -> bool {
    number(printed).is_some_and(|value| value > 0.0)
}

/// A printed statistic of several: word and characters.
pub(super) type Named<'a> = (PrintedStatistic, Option<&'a str>);

/// The figures of one thing in several statistics.
pub(super) fn figures_of<'a>(
    unit: Unit,
    of: FigureOf,
    named: impl IntoIterator<Item = Named<'a>> + 'a,
) -> impl Iterator<Item = PrintedFigure> + 'a {
    named.into_iter().filter_map(move |(statistic, printed)| unit.figure_of(of.clone(), statistic, printed?))
}

/// What the figures of `add_intervals` are.
pub(super) fn of_intervals() -> Text {
    text!(
        "the tool prints one report per interval and no figure of the whole: the figures here are the median (of an even \
         number the lower middle one), the highest and the lowest interval",
        "このツールは区間ごとに報告し、全体の値は出しません。ここの数値は区間の中央値(偶数個のときは中央の低い方)、最大、最小です"
    )
}

/// Adds what a tool printed again and again: a series, whose axis begins at 0, and its median, highest and lowest
/// point as figures. Characters that are no number are a gap.
pub(super) fn add_intervals(
    imported: &mut ImportedCell,
    unit: Unit,
    name: &str,
    axis: SeriesAxis,
    printed: &[(f64, String)],
) {
    let mut values: Vec<(f64, f64, &str)> =
        printed.iter().filter_map(|(at, words)| Some((*at, unit.value(words)?, words.as_str()))).collect();
    let start = printed.first().map_or(0.0, |(at, _)| *at);
    let points = values.iter().map(|(at, value, _)| (at - start, *value)).collect();
    values.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(lowest), Some(highest)) = (values.first(), values.last()) else { return };
    let median = &values[(values.len() - 1) / 2];
    let named = [(Statistic::Median, median), (Statistic::Highest, highest), (Statistic::Lowest, lowest)];
    imported.figures.extend(
        named.iter().filter_map(|(statistic, (_, _, words))| {
            unit.figure_of(name.to_owned().into(), *statistic, words)
        }),
    );
    imported.series.push(PrintedSeries {
        quantity: unit.quantity,
        name: name.to_owned(),
        unit_printed: unit.name.to_owned(),
        axis,
        points,
    });
}

/// The file is of the tool, but damaged at a line (from 1).
pub(super) fn broken(input: &Input<'_>, line: usize, what: Text) -> Outcome {
    Outcome::Broken(parts::broken_line(input, line, what))
}

/// A file of the tool without a single figure.
pub(super) fn nothing_measured(input: &Input<'_>, tool: &str) -> Outcome {
    let last = input.lines().last().map_or(1, |(number, _)| number);
    broken(
        input,
        last,
        text!("{tool} measured nothing in this file", "このファイルには {tool} の測定値がありません"),
    )
}

#[cfg(test)]
pub(super) mod test {
    use super::super::{ImportedRun, import};
    use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
    use kurabe_core::record::Cell;

    /// A fixture's bytes.
    pub(crate) fn fixture(name: &str) -> Vec<u8> {
        let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A fixture, imported. Every printed number must occur in the file, every cell must have a figure.
    pub(crate) fn imported(name: &str) -> Vec<ImportedRun> {
        let bytes = fixture(name);
        let runs = import(name, &bytes).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let text = String::from_utf8_lossy(&bytes);
        for cell in runs.iter().flat_map(|run| &run.cells) {
            let cell = of(cell);
            assert!(!cell.figures.is_empty(), "{name}");
            for figure in &cell.figures {
                assert!(text.contains(&figure.printed), "{name}: {figure:?}");
                assert!(figure.value.is_finite() && figure.value >= 0.0, "{name}: {figure:?}");
            }
        }
        runs
    }

    /// What was printed of a cell.
    pub(crate) fn of(cell: &Cell) -> &ImportedCell {
        cell.imported.as_ref().expect("an imported cell")
    }

    /// Label and direction word of a cell.
    pub(crate) fn name(cell: &Cell) -> String {
        format!("{} {}", cell.label, cell.part).trim().to_owned()
    }

    /// The cell of a label alone, or of a label and a direction word: `vda read`.
    pub(crate) fn find<'a>(run: &'a ImportedRun, label: &str) -> &'a Cell {
        run.cells
            .iter()
            .find(|cell| cell.label == label || name(cell) == label)
            .unwrap_or_else(|| panic!("no {label} in {:?}", run.cells.iter().map(name).collect::<Vec<_>>()))
    }

    /// The figure of a kind, as printed, with its value.
    pub(crate) fn figure<'a>(
        cell: &'a Cell,
        quantity: Quantity,
        statistic: PrintedStatistic,
        of_what: Option<&str>,
    ) -> &'a PrintedFigure {
        let of_what = of_what.map(|word| FigureOf::from(word.to_owned()));
        of(cell)
            .figures
            .iter()
            .find(|f| f.quantity == quantity && f.statistic == statistic && f.of == of_what)
            .unwrap_or_else(|| panic!("no {quantity:?} {statistic:?} {of_what:?} in {:#?}", of(cell).figures))
    }

    /// Asserts printed characters, unit and value; the value may differ by the rounding of one multiplication.
    pub(crate) fn assert_figure(figure: &PrintedFigure, printed: &str, unit: &str, value: f64) {
        assert_eq!((figure.printed.as_str(), figure.unit_printed.as_str()), (printed, unit));
        assert!((figure.value - value).abs() <= value * 4.0 * f64::EPSILON, "{figure:?} is not {value}");
    }

    /// Cuts and changes a fixture at many places: importing may fail but never panic.
    pub(crate) fn assert_survives_damage(name: &str) {
        let bytes = fixture(name);
        let step = (bytes.len() / 60).max(1);
        for at in (0..bytes.len()).step_by(step) {
            drop(import(name, &bytes[..at]));
            for byte in [b'9', b'-', b' ', b'"', b'\n', 0xff] {
                let mut changed = bytes.clone();
                changed[at] = byte;
                drop(import(name, &changed));
            }
            let mut without = bytes.clone();
            without.drain(at..(at + step).min(bytes.len()));
            drop(import(name, &without));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_words_upset_the_parsers(words in "\\PC{0,40}", digits in "[0-9TZ:/+. -]{0,30}", json in "[{}\\[\\]\",:0-9a\\\\ \n-]{0,60}") {
            use super::super::{dates, fio_options, json_tree};
            for text in [&words, &digits] {
                for unit in [MIB_PER_S, TIMES, unit_of_powers("B", Quantity::Bytes)] {
                    proptest::prop_assert!(unit.value(text).is_none_or(|value| value.is_finite() && value >= 0.0));
                }
                for read in [dates::from_ctime, dates::from_iso, dates::from_numeric, dates::from_year_first] {
                    if let Some(iso) = read(text) {
                        proptest::prop_assert!(iso.len() >= 10, "{iso}");
                        let _ = dates::seconds_of_iso(&iso);
                    }
                }
                let _ = (dates::seconds_of_iso(text), fio_options::size_bytes(text, 1024));
            }
            let _ = json_tree::documents(&format!("{{{json}"));
        }
    }

    #[test]
    fn only_finite_numbers_that_are_not_negative_become_figures() {
        assert_eq!(number("12.5"), Some(12.5));
        assert_eq!(number(" 0.5e1 "), Some(5.0));
        for words in ["", "-1", "inf", "NaN", "+++++", "1e999", "1,5", "0x10"] {
            assert_eq!(number(words), None, "{words}");
        }
        assert_eq!(MIB_PER_S.figure(PrintedStatistic::Mean, "2").map(|f| f.value), Some(2_097_152.0));
        assert_eq!(MIB_PER_S.figure(PrintedStatistic::Mean, "1e308").map(|f| f.value), None);
        let powers = unit_of_powers("B", Quantity::Bytes);
        assert_eq!(
            [powers.value("1.5K"), powers.value("2"), powers.value("2k")],
            [Some(1536.0), Some(2.0), None]
        );
        assert_eq!(
            [TIMES.value("51us"), TIMES.value("7"), TIMES.value("-")],
            [Some(51_000.0), Some(7.0), None]
        );
    }
}
