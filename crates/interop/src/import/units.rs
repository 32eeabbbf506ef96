//! Conversion of printed characters to figures and series.
//!
//! The model: a `ToolUnit` has a name, a quantity and a factor to the base unit. Together with printed
//! characters it results in a figure. Characters that are not a number yield no figure. For a negative
//! or infinite number, the `Importer` refuses the figure by its name. So a damaged file can lose
//! figures but never yields a wrong one. If a file does not name a unit, it comes from the tool's
//! manual.

use super::parts::notice;
use super::room;
use super::words::{decimal, number};
use kurabe_core::imported::{
    Correction, FigureOf, ImportedCell, PrintedFigure, PrintedSeries, PrintedStatistic as Statistic,
    Quantity, SeriesAxis,
};
use kurabe_core::{Text, record::Notice, text};

/// A unit in a tool's output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ToolUnit {
    /// Name as printed.
    pub(super) name: &'static str,
    /// Measured quantity.
    pub(super) quantity: Quantity,
    /// Factor to the base unit.
    base: f64,
    /// Suffixes of the digits.
    scale: SuffixScale,
}

/// Letters that a tool prints after the digits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SuffixScale {
    /// None.
    Plain,
    /// `K`, `M`, … are powers of 1024.
    Powers,
    /// `k`, `m`, … are powers of 1024. One of them must follow.
    SmallPowers,
    /// `ns`, `us`, `ms`, `s`; without a suffix, the unit is ns.
    Times,
    /// `k`, `M`, `G`, `T` are powers of 1024 bytes, regardless of the unit's base. The decimal
    /// separator can be a comma, and `%` can follow.
    ForPeople,
}

/// Returns a unit whose numbers are only digits.
pub(super) const fn unit(name: &'static str, quantity: Quantity, base: f64) -> ToolUnit {
    ToolUnit { name, quantity, base, scale: SuffixScale::Plain }
}

/// Returns a unit whose numbers can end in `K`, `M`, … for powers of 1024.
pub(super) const fn unit_of_powers(name: &'static str, quantity: Quantity) -> ToolUnit {
    ToolUnit { name, quantity, base: 1.0, scale: SuffixScale::Powers }
}

/// Returns a unit whose numbers end in `k`, `m`, … for powers of 1024.
pub(super) const fn unit_of_small_powers(name: &'static str, quantity: Quantity) -> ToolUnit {
    ToolUnit { name, quantity, base: 1.0, scale: SuffixScale::SmallPowers }
}

/// Returns a unit whose numbers can be human-readable: `1.5M`, `12,5`, `3.0%`.
pub(super) const fn unit_for_people(name: &'static str, quantity: Quantity, base: f64) -> ToolUnit {
    ToolUnit { name, quantity, base, scale: SuffixScale::ForPeople }
}

/// Latencies that end in `ns`, `us`, `ms` or `s`. The default is ns.
pub(super) const TIMES: ToolUnit =
    ToolUnit { name: "", quantity: Quantity::Latency, base: 1.0, scale: SuffixScale::Times };

pub(super) const BYTES_PER_S: ToolUnit = unit("B/s", Quantity::Rate, 1.0);
pub(super) const KIB_PER_S: ToolUnit = unit("KiB/s", Quantity::Rate, 1024.0);
pub(super) const MIB_PER_S: ToolUnit = unit("MiB/s", Quantity::Rate, 1_048_576.0);
pub(super) const IOPS: ToolUnit = unit("IOPS", Quantity::Iops, 1.0);
pub(super) const NANOSECONDS: ToolUnit = unit("ns", Quantity::Latency, 1.0);
pub(super) const MICROSECONDS: ToolUnit = unit("us", Quantity::Latency, 1e3);
pub(super) const MILLISECONDS: ToolUnit = unit("ms", Quantity::Latency, 1e6);
pub(super) const SECONDS: ToolUnit = unit("s", Quantity::Latency, 1e9);
pub(super) const RUN_MILLISECONDS: ToolUnit = unit("ms", Quantity::Duration, 1e6);
pub(super) const RUN_SECONDS: ToolUnit = unit("s", Quantity::Duration, 1e9);
pub(super) const BYTES: ToolUnit = unit("B", Quantity::Bytes, 1.0);
pub(super) const KIB: ToolUnit = unit("KiB", Quantity::Bytes, 1024.0);
pub(super) const MIB: ToolUnit = unit("MiB", Quantity::Bytes, 1_048_576.0);
pub(super) const COUNT: ToolUnit = unit("", Quantity::Count, 1.0);
pub(super) const PERCENT: ToolUnit = unit("%", Quantity::Share, 0.01);

impl ToolUnit {
    /// Returns a figure. `None` without characters, or if they are not a number that can be a figure.
    pub(super) fn figure<'p>(
        &self,
        statistic: Statistic,
        printed: impl Into<Option<&'p str>>,
    ) -> Option<PrintedFigure> {
        let printed = printed.into()?.trim();
        let value = self.value(printed).or_else(|| impossible(printed))?;
        let without_letter = || &printed[..printed.len() - 1];
        let (printed, name) = match (self.scale, self.quantity, printed.chars().last()) {
            (SuffixScale::ForPeople, Quantity::Rate, Some('k')) => (without_letter(), "kB/s"),
            (SuffixScale::ForPeople, Quantity::Rate, Some('M')) => (without_letter(), "MB/s"),
            (SuffixScale::ForPeople, Quantity::Rate, Some('G')) => (without_letter(), "GB/s"),
            (SuffixScale::ForPeople, _, Some('%')) => (without_letter(), self.name),
            _ => (printed, self.name),
        };
        figure_of_value(self.quantity, statistic, value, printed, name)
    }

    /// Returns a figure for a span that quantity and statistic do not determine.
    pub(super) fn figure_of<'p>(
        &self,
        of: FigureOf,
        statistic: Statistic,
        printed: impl Into<Option<&'p str>>,
    ) -> Option<PrintedFigure> {
        Some(PrintedFigure { of: Some(of), ..self.figure(statistic, printed)? })
    }

    /// Returns the value in base units.
    pub(super) fn value(&self, printed: &str) -> Option<f64> {
        let printed = printed.trim();
        let (digits, letters) =
            printed.split_at(printed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(printed.len()));
        let value = match self.scale {
            SuffixScale::Plain => number(printed)? * self.base,
            SuffixScale::Powers => {
                number(digits)? * power(1024.0, &["", "K", "M", "G", "T", "P", "E"], letters)? * self.base
            }
            SuffixScale::SmallPowers => {
                let exponent = power(1024.0, &["", "k", "m", "g", "t"], letters).filter(|power| *power > 1.0);
                number(digits)? * exponent? * self.base
            }
            SuffixScale::Times => {
                let unit = if letters.is_empty() { "ns" } else { letters };
                number(digits)? * power(1000.0, &["ns", "us", "ms", "s"], unit)? * self.base
            }
            SuffixScale::ForPeople => {
                let of_bytes = matches!(self.quantity, Quantity::Rate | Quantity::Bytes);
                let (digits, letter) = printed.split_at(printed.char_indices().next_back()?.0);
                let base = match letter {
                    "%" if self.quantity == Quantity::Share => self.base,
                    letter if of_bytes && letter.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                        power(1024.0, &["B", "k", "M", "G", "T", "P"], letter)?
                    }
                    _ => return Some(decimal(printed)? * self.base).filter(|value| value.is_finite()),
                };
                decimal(digits)? * base
            }
        };
        Some(value).filter(|value| value.is_finite())
    }
}

/// Returns the value of an invalid number: a negative one, or one that is infinite in base units.
pub(super) fn impossible(printed: &str) -> Option<f64> {
    let digits = printed.strip_prefix('-').unwrap_or(printed);
    let value = digits.parse::<f64>().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))?;
    let is_negative = digits.len() < printed.len();
    match number(digits) {
        Some(_) if is_negative => Some(-value).filter(|value| *value < 0.0),
        None if value.is_finite() => None,
        _ => Some(f64::INFINITY),
    }
}

/// Returns the power of a base for a unit. `names` are the names of the powers from 0 on, each with one
/// word or several.
pub(super) fn power(base: f64, names: &[&str], name: &str) -> Option<f64> {
    let power = names.iter().position(|words| words.split(' ').any(|word| word == name))?;
    Some(base.powi(i32::try_from(power).ok()?))
}

/// Parses a latency with its unit: `7278us`, `123ms`, `101s`.
pub(super) fn time_with_unit(statistic: Statistic, words: &str) -> Option<PrintedFigure> {
    let digits = words.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let units = [NANOSECONDS, MICROSECONDS, MILLISECONDS, SECONDS];
    units.iter().find(|unit| unit.name == &words[digits.len()..])?.figure(statistic, digits)
}

/// Returns a figure with this value in base units. `None` if it is not a number.
pub(super) fn figure_of_value(
    quantity: Quantity,
    statistic: Statistic,
    value: f64,
    printed: &str,
    unit: &str,
) -> Option<PrintedFigure> {
    // Short texts also take 32 bytes each.
    let bytes = size_of::<PrintedFigure>() + 64 + printed.len();
    (!value.is_nan() && room::take_figure(bytes)).then(|| PrintedFigure {
        quantity,
        statistic,
        value,
        printed: printed.to_owned(),
        unit_printed: unit.to_owned(),
        correction: None,
        of: None,
    })
}

/// Returns a figure in a unit that the line names. `factor` converts it to the base unit.
pub(super) fn figure(
    quantity: Quantity,
    statistic: Statistic,
    printed: &str,
    unit: &str,
    factor: f64,
) -> Option<PrintedFigure> {
    figure_of_value(quantity, statistic, number(printed)? * factor, printed, unit)
}

/// Returns a figure whose unit differs from the printed one.
pub(super) fn corrected(figure: PrintedFigure, correction: Correction) -> PrintedFigure {
    PrintedFigure { correction: Some(Box::new(correction)), ..figure }
}

/// Returns the correction for a decimal byte unit that means a binary one, such as `MiB/s`.
pub(super) fn binary(unit: &str, reason: Text) -> Correction {
    let power = ["Ki", "Mi", "Gi", "Ti", "Pi"].iter().position(|prefix| unit.starts_with(prefix));
    let power = power.map_or(0, |place| place as i32 + 1);
    Correction { factor: 1024_f64.powi(power) / 1000_f64.powi(power), unit: unit.to_owned(), reason }
}

/// Returns the notice on a tool that prints MiB/s under another name.
pub(super) fn prints_mebibytes(tool: &str, unit: &str) -> Notice {
    notice(text!(
        "{tool} prints MiB/s as {unit}; its rates are multiplied by 1.048576",
        "{tool} は MiB/s を {unit} と表示します。速度は 1.048576 倍に補正しました"
    ))
}

/// Marks a rate or a size of a tool whose kB is 1024 bytes and whose MB is 1024 of those.
pub(super) fn mark_binary_unit(figure: &mut PrintedFigure, tool: &str) {
    let per = match figure.quantity {
        Quantity::Rate => "/s",
        Quantity::Bytes => "",
        _ => return,
    };
    let corrected = |unit: &str, bytes, article, name| {
        let reason = text!(
            "{tool} counts {bytes} bytes as {article} {name}",
            "{tool} は {bytes} バイトを 1 {name} と数えます"
        );
        Some(Box::new(binary(&format!("{unit}{per}"), reason)))
    };
    let unit = figure.unit_printed.to_ascii_lowercase();
    figure.correction = match unit.get(..2) {
        Some("kb") => corrected("KiB", "1024", "a", "kB"),
        Some("mb") => corrected("MiB", "1048576", "an", "MB"),
        Some("gb") => corrected("GiB", "2^30", "a", "GB"),
        _ => None,
    };
}

/// Returns whether a number is above zero.
pub(super) fn positive(printed: &str) -> bool {
    number(printed).is_some_and(|value| value > 0.0)
}

/// A figure by the name under which a tool prints it.
pub(super) type FigureName = (ToolUnit, Statistic, &'static str);

/// Returns the printed figures of a table of names.
pub(super) fn figures<'p>(
    table: &[FigureName],
    printed: impl Fn(&str) -> Option<&'p str>,
) -> Vec<PrintedFigure> {
    table.iter().filter_map(|(unit, statistic, name)| unit.figure(*statistic, printed(name))).collect()
}

/// A printed statistic: statistic and characters.
pub(super) type Named<'a> = (Statistic, Option<&'a str>);

/// Statistics in which tools print a spread.
pub(super) const SPREAD: [Statistic; 4] =
    [Statistic::Mean, Statistic::Lowest, Statistic::Highest, Statistic::StandardDeviation];

/// Returns the figures of one quantity in several statistics.
pub(super) fn figures_of<'a>(
    unit: ToolUnit,
    of: FigureOf,
    named: impl IntoIterator<Item = Named<'a>> + 'a,
) -> impl Iterator<Item = PrintedFigure> + 'a {
    named.into_iter().filter_map(move |(statistic, printed)| unit.figure_of(of.clone(), statistic, printed))
}

/// Returns a series. `None` without points.
pub(super) fn series(
    quantity: Quantity,
    name: &str,
    unit: &str,
    axis: SeriesAxis,
    points: Vec<(f64, f64)>,
) -> Option<PrintedSeries> {
    let (name, unit_printed) = (name.to_owned(), unit.to_owned());
    let has_room = room::take(size_of::<PrintedSeries>() + 64 + points.capacity() * size_of::<(f64, f64)>());
    (!points.is_empty() && has_room).then_some(PrintedSeries { quantity, name, unit_printed, axis, points })
}

/// Returns the description of the figures of `add_intervals`.
pub(super) fn of_intervals() -> Text {
    text!(
        "the tool prints one report per interval and no overall figure: the figures here are the median \
         (the lower of the two middle values for an even number), the highest and the lowest interval",
        "このツールは区間ごとに報告し、全体の値は出しません。ここの数値は区間の中央値(偶数個のときは中央の低い方)、最大、最小です"
    )
}

/// Adds periodically printed values: a series, whose axis begins at 0, and its median, maximum and
/// minimum as figures. Characters that are not a number are a gap.
pub(super) fn add_intervals(
    imported: &mut ImportedCell,
    unit: ToolUnit,
    name: &str,
    axis: SeriesAxis,
    printed: &[(f64, &str)],
) {
    let mut values: Vec<(f64, f64, &str)> =
        printed.iter().filter_map(|(at, words)| Some((*at, unit.value(words)?, *words))).collect();
    let start = printed.first().map_or(0.0, |(at, _)| *at);
    let points = values.iter().map(|(at, value, _)| (at - start, *value)).collect();
    values.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(lowest), Some(highest)) = (values.first(), values.last()) else { return };
    let median = &values[(values.len() - 1) / 2];
    let named = [(Statistic::Median, median), (Statistic::Highest, highest), (Statistic::Lowest, lowest)];
    imported.figures.extend(figures_of(
        unit,
        name.to_owned().into(),
        named.map(|(statistic, (_, _, words))| (statistic, Some(*words))),
    ));
    imported.series.extend(series(unit.quantity, name, unit.name, axis, points));
}

#[cfg(test)]
pub(super) mod test {
    use super::super::{ImportedRun, import};
    use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
    use kurabe_core::record::Cell;

    /// Returns a fixture's bytes.
    pub(crate) fn fixture(name: &str) -> Vec<u8> {
        let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Imports a fixture. Every printed number must occur in the file, and every cell must have a
    /// figure.
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

    /// Returns the printed part of a cell.
    pub(crate) fn of(cell: &Cell) -> &ImportedCell {
        cell.imported.as_ref().expect("an imported cell")
    }

    /// Returns label and direction word of a cell.
    pub(crate) fn name(cell: &Cell) -> String {
        format!("{} {}", cell.label, cell.part).trim().to_owned()
    }

    /// Returns the cell of a label, or of a label and a direction word: `vda read`.
    pub(crate) fn find<'a>(run: &'a ImportedRun, label: &str) -> &'a Cell {
        run.cells
            .iter()
            .find(|cell| cell.label == label || name(cell) == label)
            .unwrap_or_else(|| panic!("no {label} in {:?}", run.cells.iter().map(name).collect::<Vec<_>>()))
    }

    /// Returns the figure of a kind, as printed, with its value.
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

    /// Asserts printed characters, unit and value. The value can differ by the rounding of one
    /// multiplication.
    pub(crate) fn assert_figure(figure: &PrintedFigure, printed: &str, unit: &str, value: f64) {
        assert_eq!((figure.printed.as_str(), figure.unit_printed.as_str()), (printed, unit));
        assert!((figure.value - value).abs() <= value * 4.0 * f64::EPSILON, "{figure:?} is not {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_words_upset_the_parsers(
            words in "\\PC{0,40}",
            digits in "[0-9TZ:/+. -]{0,30}",
            json in "[{}\\[\\]\",:0-9a\\\\ \n-]{0,60}",
        ) {
            use super::super::{dates, json_tree};
            for text in [&words, &digits] {
                for unit in [MIB_PER_S, TIMES, unit_of_powers("B", Quantity::Bytes)] {
                    proptest::prop_assert!(unit.value(text).is_none_or(|value| value.is_finite() && value >= 0.0));
                }
                for read in [dates::from_ctime, dates::from_iso, dates::from_numeric, dates::from_year_first] {
                    if let Some(iso) = read(text) {
                        proptest::prop_assert!(iso.len() >= 10 || iso.len() == 4, "{iso}");
                        let _ = dates::seconds_of_iso(&iso);
                    }
                }
                let _ = (dates::seconds_of_iso(text), kurabe_fio::size_bytes(text, 1024));
            }
            let _ = json_tree::documents(&format!("{{{json}")).count();
        }
    }

    #[test]
    fn only_finite_numbers_that_are_not_negative_become_values() {
        assert_eq!(number("12.5"), Some(12.5));
        assert_eq!(number(" 0.5e1 "), Some(5.0));
        for words in ["", "-1", "inf", "NaN", "+++++", "1e999", "1,5", "0x10"] {
            assert_eq!(number(words), None, "{words}");
        }
        assert_eq!(MIB_PER_S.figure(Statistic::Mean, "2").map(|f| f.value), Some(2_097_152.0));
        let value = |words| MIB_PER_S.figure(Statistic::Mean, words).map(|figure| figure.value);
        let endless = Some(f64::INFINITY);
        assert_eq!(["1e308", "1e999", "-1.5"].map(value), [endless, endless, Some(-1.5)]);
        assert_eq!(["-0", "5.", "-nan", "inf", "-"].map(value), [None; 5]);
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
