//! Shapes of lines and their meaning: the descriptive part of an importer.
//!
//! The model: a shape is a line with the placeholder `{}` for each value, such as `Block size {}`.
//! Spaces around a placeholder are ignored. A shape without a placeholder is the name in a line `name:
//! value`. If a line occurs twice, the first one counts.

use super::Input;
use super::words::{digits, key_value, number, repeated, runs_in};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{ImportedCell, Origin};

/// Role of a line for an importer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineMark {
    /// An unknown line.
    None,
    /// The start of a result.
    Begins,
    /// A line of a result.
    Belongs,
}

/// Passes on the values in the placeholders of a shape. Returns false if the line, which must be
/// trimmed, does not have that shape.
fn fill<'a>(shape: &str, line: &'a str, mut hole: impl FnMut(&'a str)) -> bool {
    let mut parts = shape.split("{}").peekable();
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or("")) else { return false };
    while let Some(literal) = parts.next() {
        rest = rest.trim_start();
        let is_last = parts.peek().is_none();
        let next = if is_last {
            rest.strip_suffix(literal).map(|value| (value, ""))
        } else {
            rest.split_once(literal)
        };
        let Some((value, after)) = next else { return false };
        hole(value.trim_end());
        rest = after;
    }
    rest.is_empty()
}

/// Returns whether a line can have a shape or a name, according to its first letter. Most lines cannot.
fn may_be(shape: &str, line: &str) -> bool {
    let (first, letter) = (shape.as_bytes().first(), line.as_bytes().first());
    first == letter || first == Some(&b'{')
}

/// Returns whether a line has a shape.
pub(super) fn fits(shape: &str, line: &str) -> bool {
    let line = line.trim();
    may_be(shape, line) && fill(shape, line, |_| {})
}

/// Returns the values in the placeholders of a shape, if the line has the shape and as many values.
pub(super) fn holes<'a, const COUNT: usize>(shape: &str, line: &'a str) -> Option<[&'a str; COUNT]> {
    let (mut values, mut next) = ([""; COUNT], 0);
    let put = |value| {
        if let Some(place) = values.get_mut(next) {
            *place = value;
        }
        next += 1;
    };
    let line = line.trim();
    (may_be(shape, line) && fill(shape, line, put) && next == COUNT).then_some(values)
}

/// Shapes of the lines by which a text is recognized.
pub(crate) struct LineShapes {
    /// Lines at the start of a result.
    pub(crate) begins: &'static [&'static str],
    /// Other lines of a result.
    pub(crate) belongs: &'static [&'static str],
}

impl LineShapes {
    /// Returns the role of a line.
    pub(super) fn mark(&self, line: &str) -> LineMark {
        let is_one_of = |shapes: &[&str]| shapes.iter().any(|shape| fits(shape, line));
        match () {
            () if is_one_of(self.begins) => LineMark::Begins,
            () if is_one_of(self.belongs) => LineMark::Belongs,
            () => LineMark::None,
        }
    }
}

/// Meaning of a placeholder or a value for a run or its cells.
#[derive(Clone, Copy)]
pub(super) enum Detail {
    /// Ignored.
    Nothing,
    /// The first word, if it is a number.
    Version,
    Target,
    /// The procedure of the run, and of each of its cells.
    Procedure,
    /// Only the procedure of the cells.
    CellProcedure,
    /// The time of the run, in a date format.
    Date(fn(&str) -> Option<String>),
    Os,
    Cpu,
    /// Any other fact, under this name.
    Fact(&'static str),
    /// Any other fact, under the name of the line.
    OwnFact,
    /// The number of runs.
    Runs,
    /// The number of runs in `(x5)`.
    RunsInBrackets,
    Threads,
    IoDepth,
    /// The block size, in a size format.
    BlockBytes(fn(&str) -> Option<u64>),
    /// Whether offsets ascend, according to the words.
    Order(fn(&str) -> Option<bool>),
    /// The share of reads.
    ReadPercent,
}

/// Shapes, and the meaning of the placeholders of each. For a name, the meaning of its value.
pub(super) type DetailLine = (&'static [&'static str], &'static [Detail]);

/// Details of a text besides its figures.
#[derive(Clone, Default)]
pub(super) struct RunDetails {
    pub(super) origin: Origin,
    pub(super) environment: Environment,
    /// Properties that all cells share.
    pub(super) setting: ImportedCell,
}

impl RunDetails {
    /// Returns the details of a tool's text in one of its formats.
    pub(super) fn of<'l>(
        input: &Input<'_>,
        (tool, format): (&str, &str),
        shapes: &[DetailLine],
        lines: impl IntoIterator<Item = (usize, &'l str)>,
    ) -> Self {
        let mut details = Self { origin: input.origin(tool, format), ..Self::default() };
        for (_, line) in lines {
            details.read(shapes, line);
        }
        details
    }

    /// Reads a line, if it has one of the shapes.
    pub(super) fn read(&mut self, shapes: &[DetailLine], line: &str) {
        let line = line.trim();
        let all =
            shapes.iter().flat_map(|(shapes, details)| shapes.iter().map(move |shape| (*shape, details)));
        for (shape, details) in all.filter(|(shape, _)| may_be(shape, line)) {
            let mut values = Vec::new();
            if shape.contains("{}") {
                if !fill(shape, line, |value| values.push(value)) {
                    continue;
                }
            } else if let Some((_, value)) = key_value(line).filter(|(name, _)| *name == shape) {
                values.resize(details.len(), value);
            }
            details.iter().zip(values).for_each(|(detail, value)| self.keep(*detail, shape, value));
        }
    }

    fn keep(&mut self, detail: Detail, name: &'static str, value: &str) {
        let Self { origin, environment, setting } = self;
        let words = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match detail {
            Detail::Nothing => {}
            Detail::Version => {
                let word = value.split_whitespace().next().map(|word| word.trim_end_matches(':'));
                let version = word.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
                first(&mut origin.version, || version.map(str::to_owned));
            }
            Detail::Target => first(&mut origin.target, words),
            Detail::Procedure => {
                first(&mut origin.procedure, words);
                self.keep(Detail::CellProcedure, name, value);
            }
            Detail::CellProcedure => first(&mut setting.procedure, || words().map(|words| repeated(&words))),
            Detail::Date(read) => first(&mut origin.measured_at, || read(value)),
            Detail::Os => first(&mut environment.machine.os, words),
            Detail::Cpu => first(&mut environment.machine.cpu_model, words),
            Detail::OwnFact => self.keep(Detail::Fact(name), name, value),
            Detail::Fact(name) => {
                if let Some(words) = words() {
                    origin.facts.entry(name.to_owned()).or_insert(words);
                }
            }
            Detail::Runs => first(&mut setting.runs, || count(value).filter(|runs| *runs > 0)),
            Detail::RunsInBrackets => first(&mut setting.runs, || runs_in(value)),
            Detail::Threads => first(&mut setting.threads, || count(value)),
            Detail::IoDepth => first(&mut setting.iodepth, || count(value)),
            Detail::BlockBytes(read) => first(&mut setting.block_bytes, || read(value)),
            Detail::Order(read) => first(&mut setting.sequential, || read(value)),
            Detail::ReadPercent => {
                first(&mut setting.read_percent, || {
                    number(value).filter(|share| (0.0..=100.0).contains(share))
                });
            }
        }
    }
}

/// Keeps the first value.
fn first<T>(kept: &mut Option<T>, value: impl FnOnce() -> Option<T>) {
    if kept.is_none() {
        *kept = value();
    }
}

/// Parses a whole number that consists only of digits.
pub(super) fn count(words: &str) -> Option<u32> {
    words.parse().ok().filter(|_| digits(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_take_what_stands_between_the_words() {
        assert_eq!(
            holes(
                "Timing {}: {} MB in {} seconds = {} {}",
                " Timing a b:  204 MB in  3.0 seconds =  67.9 MB/sec"
            ),
            Some(["a b", "204", "3.0", "67.9", "MB/sec"])
        );
        assert_eq!(
            holes("--- {} statistics ---", "--- . (statistics) statistics ---"),
            Some([". (statistics)"])
        );
        assert_eq!(holes("Block size {}", "Block size 16KiB\n"), Some(["16KiB"]));
        assert_eq!(holes::<1>("{} and {}", "a and b"), None, "two holes");
        assert!(fits("Totals:", "  Totals:") && fits("path:{}", "path: ") && !fits("Totals:", "Totals: 5"));
        for line in ["", "Block size", "the Block size 4", "Timing"] {
            assert!(!fits("Block size {}", line), "{line}");
        }
    }
}
