//! Result lines of CrystalDiskMark and of tools with its format.
//!
//! The model: `label (queues and threads): rate MB/s [iops IOPS] <latency us>`. The label begins with
//! `Sequential`, `Random`, `SEQ` or `RND`; it can contain the direction and the block size. IOPS and
//! latency are optional. A line that begins like a result line but does not end like one is damaged,
//! and no figure is read from it. The figures of another run of the same test can follow, because pages
//! print two runs side by side.

use super::kit::*;
use kurabe_core::imported::Correction;

/// A result line with its known values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResultLine<'a> {
    /// Direction, if the label contains it.
    pub(super) direction: Option<Direction>,
    /// The label as printed, with order, block size (KB is 1024 bytes here), queue depth and threads if
    /// it contains them.
    setting: ImportedCell,
    /// Figures of each run that has a column in the line; at least one.
    pub(super) columns: Vec<TestFigures<'a>>,
}

/// Figures of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TestFigures<'a> {
    /// MB/s.
    rate: &'a str,
    /// IOPS.
    iops: Option<&'a str>,
    /// Microseconds.
    latency: Option<&'a str>,
}

/// Kind of a line.
pub(super) enum LineClass<'a> {
    /// Something else.
    Other,
    /// A result.
    Result(Box<ResultLine<'a>>),
    /// A result that cannot be read.
    Damaged,
}

/// Statistics of the figures in a tool's lines.
pub(super) struct FigureRules {
    /// Statistic of rate and IOPS.
    pub(super) rate: Statistic,
    /// Statistic of the latency over the runs.
    pub(super) latency: Statistic,
    /// Measured span of the latency.
    pub(super) latency_of: FigureOf,
    /// Correction of the rate.
    pub(super) correction: Option<Correction>,
    /// Whether the figures of a mix cover all transferred data, and so can be compared with others of
    /// that mix.
    pub(super) mix_is_total: bool,
}

pub(super) fn parse(line: &str) -> LineClass<'_> {
    let line = line.trim();
    let Some(first) = line.split([' ', ':']).next() else { return LineClass::Other };
    let sequential = match first {
        // AmorphousDiskMark's own spelling for some of its writes.
        "Sequential" | "Sequantial" | "SEQ" => true,
        "Random" | "RND" => false,
        _ => return LineClass::Other,
    };
    // `Sequential:` alone is a heading of other tools.
    if line.len() == first.len() + 1 && line.ends_with(':') {
        return LineClass::Other;
    }
    match read(line, first, sequential) {
        Some(result) => LineClass::Result(Box::new(result)),
        None if is_prose(line) => LineClass::Other,
        None => LineClass::Damaged,
    }
}

/// Returns whether the line's label contains a word that occurs in no label: `Random access is what
/// matters`. A prefix of a valid word is a truncated label.
fn is_prose(line: &str) -> bool {
    const WORDS: [&str; 13] =
        ["Sequential", "Random", "SEQ", "RND", "Read", "Write", "KiB", "MiB", "KB", "MB", "QD", "Q", "T"];
    let label = line.split(':').next().unwrap_or(line);
    let mut words = label.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    !label.contains('=') && words.any(|word| !WORDS.iter().any(|own| own.starts_with(word)))
}

fn read<'a>(line: &'a str, first: &str, sequential: bool) -> Option<ResultLine<'a>> {
    let (label, figures) = line.split_once(':')?;
    let label = label.trim();
    let (words, queues) = match label.split_once('(') {
        Some((words, queues)) => (words, Some(queues.trim_end().strip_suffix(')')?)),
        None => (label, None),
    };
    let mut rest = words.trim().strip_prefix(first)?.trim();
    let mut direction = None;
    for (word, meaning) in [("Read", Direction::Read), ("Write", Direction::Write)] {
        if let Some(after) = rest.strip_prefix(word) {
            (direction, rest) = (Some(meaning), after.trim());
        }
    }
    let block_bytes = if rest.is_empty() { None } else { Some(block(rest)?) };
    let (mut iodepth, mut threads) = (None, None);
    for pair in queues.into_iter().flat_map(|queues| queues.split(',')) {
        let (key, value) = pair.split_once('=')?;
        let value = value.trim().parse().ok().filter(|value| *value > 0)?;
        match key.trim() {
            "Q" | "QD" => iodepth = Some(value),
            "T" => threads = Some(value),
            _ => return None,
        }
    }
    let mut columns = Vec::new();
    let mut rest = figures;
    while columns.is_empty() || !rest.trim().is_empty() {
        let (rate, after) = quantity(rest, "MB/s")?;
        let (iops, after) = bracketed(after, '[', ']', "IOPS")?;
        let (latency, after) = bracketed(after, '<', '>', "us")?;
        columns.push(TestFigures { rate, iops, latency });
        rest = after;
    }
    let (procedure, sequential) = (Some(label.to_owned()), Some(sequential));
    let setting =
        ImportedCell { procedure, sequential, block_bytes, iodepth, threads, ..ImportedCell::default() };
    Some(ResultLine { direction, setting, columns })
}

/// Parses `1MiB`, `4 KiB`, `512KB`.
fn block(words: &str) -> Option<u64> {
    words::binary_bytes(words).filter(|bytes| *bytes > 0 && words.ends_with('B'))
}

/// Parses a number and its unit at the start of a text. Returns the rest as well.
fn quantity<'a>(words: &'a str, unit: &str) -> Option<(&'a str, &'a str)> {
    let words = words.trim_start();
    let end = words.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = words.split_at(end);
    words::number(number)?;
    Some((number, rest.trim_start().strip_prefix(unit)?))
}

/// Parses the same within brackets. `None` if the text does not begin with the bracket.
fn bracketed<'a>(words: &'a str, open: char, close: char, unit: &str) -> Option<(Option<&'a str>, &'a str)> {
    let words = words.trim_start();
    let Some(inner) = words.strip_prefix(open) else { return Some((None, words)) };
    let (inner, rest) = inner.split_once(close)?;
    let (number, after) = quantity(inner, unit)?;
    after.trim().is_empty().then_some((Some(number), rest))
}

/// Results of the result lines of a text.
#[derive(Default)]
pub(super) struct Results {
    /// A cell for each test that was run.
    pub(super) cells: Vec<Cell>,
    /// Labels of the tests in their order, including those that were not run, without writes and mixes.
    pub(super) tests: Vec<String>,
    /// Number of results that mark a test that was not run.
    left_out: usize,
}

/// Reads a column of all result lines, for figures over this number of runs. Sections `[Read]`,
/// `[Write]` and `[Mix]` determine the direction if they exist, otherwise the label does.
///
/// # Errors
/// If a result line is damaged, or no test was run.
pub(super) fn read_all(
    input: &Input<'_>,
    lines: &[(usize, &str)],
    column: usize,
    runs: Option<u32>,
    rules: &FigureRules,
) -> Result<Results> {
    let mut results = Results::default();
    let (mut section, mut first) = (None, None);
    for &(number, line) in lines {
        section = section_of(line).or(section);
        let damaged =
            || broken_line(input, number, text!("the result line cannot be read", "結果の行を読めません"));
        let result = match parse(line) {
            LineClass::Other => continue,
            LineClass::Damaged => return Err(damaged()),
            LineClass::Result(result) => *result,
        };
        let (direction, read_percent) = match section {
            Some((direction, percent)) => (Some(direction), percent),
            None => (result.direction, None),
        };
        first = first.or(Some(number));
        // A test that only one of two runs side by side has, has fewer columns.
        let Some(figures) = result.columns.get(column).copied() else { continue };
        if matches!(direction, None | Some(Direction::Read)) {
            results.tests.push(result.label());
        }
        // Printed for a test that was not run.
        if words::number(figures.rate) == Some(0.0) {
            results.left_out += 1;
        } else {
            let mut cell = result.cell(figures, direction, read_percent, rules).ok_or_else(damaged)?;
            cell.imported.iter_mut().for_each(|imported| imported.runs = runs);
            results.cells.push(cell);
        }
    }
    if results.cells.is_empty() {
        let line = first.or(lines.first().map(|(number, _)| *number)).unwrap_or(1);
        let what =
            text!("all results are 0, so no test was run", "0 以外の結果がありません。何も測られていません");
        return Err(broken_line(input, line, what));
    }
    Ok(results)
}

impl Results {
    /// Returns the run of these cells, with a notice on tests that were not run.
    pub(super) fn into_run(self, details: RunDetails, mut notices: Vec<Notice>) -> ImportedRun {
        let left_out = self.left_out;
        if left_out > 0 {
            notices.push(notice(text!(
                "{left_out} results were skipped, because they are printed as 0, which means that the test was not run",
                "{left_out} 件の結果は 0 です。実行されなかったテストを表すため、取り込んでいません"
            )));
        }
        let RunDetails { origin, environment, .. } = details;
        ImportedRun { origin, environment, cells: self.cells, notices, interrupted: false }
    }
}

/// Parses `[Mix] Read 70%/Write 30%` and similar lines: direction, and share of reads in percent.
pub(super) fn section_of(line: &str) -> Option<(Direction, Option<f64>)> {
    let line = line.trim();
    // Column titles can follow.
    for (word, direction) in [("[Read]", Direction::Read), ("[Write]", Direction::Write)] {
        if line.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) {
            return Some((direction, None));
        }
    }
    let percent = holes("[Mix] Read {}%{}", line).and_then(|[percent, _]| number(percent));
    line.starts_with("[Mix]").then(|| (Direction::Mix, percent.filter(|percent| *percent <= 100.0)))
}

impl ResultLine<'_> {
    /// Returns kurabe's name for such a step, without unprinted values: `SEQ 1 MiB Q8 T1`.
    pub(super) fn label(&self) -> String {
        let ImportedCell { sequential, block_bytes, iodepth, threads, .. } = self.setting;
        parts::shape(sequential, "", block_bytes, iodepth, threads)
    }

    /// Returns the line as a cell with the figures of a column.
    fn cell(
        &self,
        figures: TestFigures<'_>,
        direction: Option<Direction>,
        read_percent: Option<f64>,
        rules: &FigureRules,
    ) -> Option<Cell> {
        let factor = 1e6 * rules.correction.as_ref().map_or(1.0, |correction| correction.factor);
        let rate = units::figure(Quantity::Rate, rules.rate, figures.rate, "MB/s", factor)?;
        let rate = PrintedFigure { correction: rules.correction.clone().map(Box::new), ..rate };
        let iops = units::IOPS.figure(rules.rate, figures.iops);
        let latency = units::MICROSECONDS
            .figure_of(rules.latency_of.clone(), rules.latency, figures.latency)
            // A latency that was not measured is printed as zero.
            .filter(|latency: &PrintedFigure| latency.value > 0.0);
        let mut imported = ImportedCell {
            read_percent: read_percent.filter(|_| rules.mix_is_total),
            figures: std::iter::once(rate).chain(iops).chain(latency).collect(),
            ..self.setting.clone()
        };
        let percent = read_percent.filter(|_| direction == Some(Direction::Mix) && !rules.mix_is_total);
        if let (Some(procedure), Some(percent)) = (&mut imported.procedure, percent) {
            procedure.push_str(&format!(", {percent} % read"));
        }
        Some(cell(self.label(), direction, imported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(line: &str) -> ResultLine<'_> {
        match parse(line) {
            LineClass::Result(result) => *result,
            LineClass::Other => panic!("other: {line}"),
            LineClass::Damaged => panic!("damaged: {line}"),
        }
    }

    #[test]
    fn every_generation_of_line_is_read() {
        let three = result("           Sequential Read :   505.825 MB/s");
        assert_eq!(
            (three.label().as_str(), three.direction, three.columns[0].rate),
            ("SEQ", Some(Direction::Read), "505.825")
        );
        let three = result("        Random Write 512KB :   190.461 MB/s");
        assert_eq!((three.label().as_str(), three.columns[0].iops), ("RND 512 KiB", None));
        let three = result("  Random Write 4KB (QD=32) :   174.695 MB/s [ 42650.1 IOPS]");
        assert_eq!((three.label().as_str(), three.columns[0].iops), ("RND 4 KiB Q32", Some("42650.1")));
        let six = result("  Random Read 4KiB (Q=  8,T= 8) :     7.892 MB/s [   1926.8 IOPS]");
        assert_eq!((six.label().as_str(), six.columns[0].latency), ("RND 4 KiB Q8 T8", None));
        let nine = result("  SEQ    1MiB (Q=  8, T= 1):  3479.812 MB/s [   3318.6 IOPS] <  2407.67 us>");
        assert_eq!((nine.label().as_str(), nine.columns[0].latency), ("SEQ 1 MiB Q8 T1", Some("2407.67")));
        let kde = result("    Random   4 KiB (Q= 32, T= 1):   354.657 MB/s [  88664.6 IOPS] <   352.37 us>");
        assert_eq!(kde.label(), "RND 4 KiB Q32 T1");
    }

    #[test]
    fn a_cut_line_is_damaged_not_shortened() {
        let whole = "SEQ 1MiB (Q=  8, T= 1):  3479.812 MB/s [   3318.6 IOPS] <  2407.67 us>";
        for end in 0..whole.len() {
            match parse(&whole[..end]) {
                LineClass::Other => assert!(end < 4, "{end}"),
                // A line cut between two figures keeps the complete ones.
                LineClass::Result(result) => {
                    let cut = whole[..end].trim_end();
                    assert!(
                        result.columns[0].latency.is_none() && (cut.ends_with("/s") || cut.ends_with(']')),
                        "{end}"
                    );
                }
                LineClass::Damaged => {}
            }
        }
        for line in
            ["RND 4KiB (Q=0, T=1): 1.0 MB/s", "SEQ: 1.0", "SEQ 1MiB (X=1): 1 MB/s", "SEQ 1MiB (Q=1: 1 MB/s"]
        {
            assert!(matches!(parse(line), LineClass::Damaged), "{line}");
        }
        for prose in ["Randomness is not a result", "Random access is what matters", "Sequential reads: slow"]
        {
            assert!(matches!(parse(prose), LineClass::Other), "{prose}");
        }
    }

    #[test]
    fn two_runs_side_by_side_are_two_columns() {
        let line =
            "Sequential 1MiB (Q=  8, T= 1):   120.497 MB/s [    114.9 IOPS]   233.983 MB/s [    223.1 IOPS]";
        let rates: Vec<_> = result(line).columns.iter().map(|column| (column.rate, column.iops)).collect();
        assert_eq!(rates, [("120.497", Some("114.9")), ("233.983", Some("223.1"))]);
        assert!(matches!(parse(&line[..line.len() - 8]), LineClass::Damaged), "half of a column");
        assert_eq!(section_of("[Read]       *Single*     *Mirror*"), Some((Direction::Read, None)));
        assert_eq!(section_of("[Reading]"), None);
    }
}
