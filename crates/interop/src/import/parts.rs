//! What all importers make their runs of: numbers, figures, cells, remarks, errors.
//!
//! The model: a number is digits with an optional fraction and exponent; anything else is none, so a damaged file can
//! lose figures but never yields a wrong one.

use super::Input;
use super::json_tree::{Json, documents};
use kurabe_core::imported::{ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, Measure, Notice, NoticeKind};
use kurabe_core::workload::Direction;
use kurabe_core::{Error, ErrorKind, Place, Result, Text, text};
use std::collections::HashMap;

/// The longest line that an error shows, and the longest words that each cell of a run repeats, in characters. No
/// tool's own are longer; a damaged or hostile file would fill the memory with copies.
const WORDS_LONGEST: usize = 4096;

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

/// The same, where the point may be a comma, as some languages print it.
pub(super) fn decimal(words: &str) -> Option<f64> {
    number(words).or_else(|| if words.contains('.') { None } else { number(&words.replacen(',', ".", 1)) })
}

/// A figure of this value in base units; `None` unless it is finite and not negative.
pub(super) fn figure_of_value(
    quantity: Quantity,
    statistic: PrintedStatistic,
    value: f64,
    printed: &str,
    unit: &str,
) -> Option<PrintedFigure> {
    (value.is_finite() && value >= 0.0).then(|| PrintedFigure {
        quantity,
        statistic,
        value,
        printed: printed.to_owned(),
        unit_printed: unit.to_owned(),
        correction: None,
        of: None,
    })
}

/// Words that every cell of a run repeats, such as a command line.
pub(super) fn repeated(words: &str) -> String {
    words.chars().take(WORDS_LONGEST).collect()
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

/// Numbers the cells in the order of the file. The directions of one label are one step; a direction that comes again,
/// as of a second job of the same name, belongs to the next step of that label.
pub(super) fn numbered(mut cells: Vec<Cell>) -> Vec<Cell> {
    let mut seen: HashMap<(String, String), u32> = HashMap::new();
    let mut steps: HashMap<(String, u32), u32> = HashMap::new();
    for (index, cell) in (0_u32..).zip(&mut cells) {
        let times = seen.entry((cell.label.clone(), cell.part.clone())).or_insert(0);
        let next = u32::try_from(steps.len()).unwrap_or(u32::MAX);
        cell.step_index = *steps.entry((cell.label.clone(), *times)).or_insert(next);
        cell.index = index;
        *times += 1;
    }
    cells
}

/// A remark on the figures of a run.
pub(super) fn notice(text: Text) -> Notice {
    Notice::new(NoticeKind::Other, text)
}

/// The error of a file that is known but damaged, with its line (from 1).
pub(super) fn broken_line(input: &Input<'_>, line: usize, what: Text) -> Error {
    let text = input.as_written(line);
    let shown: String = text.chars().take(WORDS_LONGEST).collect();
    let indent = shown.chars().take_while(|c| c.is_whitespace()).count();
    broken(what).at(Place {
        file: input.name.to_owned(),
        line,
        column: indent + 1,
        width: shown.trim().chars().count().max(1),
        text: shown,
    })
}

/// The error of a file that is known but damaged, where there is no line to show.
pub(super) fn broken(what: Text) -> Error {
    Error::new(ErrorKind::Import, what).remedy(text!(
        "give the file as the tool wrote it, complete and unedited",
        "ツールが書いたままの、欠けのないファイルを指定してください"
    ))
}

/// The JSON documents of a file that a tool wrote.
pub(super) fn documents_of(input: &Input<'_>, text: &str, tool: &str) -> Result<Vec<Json>> {
    documents(text).map_err(|error| {
        let what =
            text!("the JSON of {tool} ends or breaks here", "{tool} の JSON がここで途切れるか壊れています");
        broken_line(input, input.number(error.line), what).because(error.cause)
    })
}

/// The error of a file, or a part of it that begins at a line, without a single figure.
pub(super) fn no_figure(input: &Input<'_>, line: usize) -> Error {
    broken_line(input, line, text!("no figure follows this line", "この行の後に値がありません"))
}

/// Lines with their numbers, each block from its first line to before that of the next; what stands before the
/// first is passed over.
pub(super) fn blocks<'a, 'b>(
    lines: &'b [(usize, &'a str)],
    is_start: impl Fn(usize) -> bool,
) -> Vec<&'b [(usize, &'a str)]> {
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_start(*at)).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(start, end)| &lines[*start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_share_a_step_and_namesakes_do_not() {
        let made = |label: &str, direction| cell(label, Some(direction), ImportedCell::default());
        let (read, write) = (Direction::Read, Direction::Write);
        let cells = numbered(vec![
            made("a", read),
            made("a", write),
            made("b", read),
            made("a", read),
            made("a", write),
        ]);
        let steps: Vec<u32> = cells.iter().map(|cell| cell.step_index).collect();
        assert_eq!(steps, [0, 0, 1, 2, 2]);
    }

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
