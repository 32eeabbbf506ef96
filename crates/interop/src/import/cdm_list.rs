//! CrystalDiskMark results typed by a person: a list or a table with short names of tests, such as
//! `SEQ1M Q8T1  7000  6500`.
//!
//! The model: a line names a test by its order, its block and its queue, and has one or two numbers.
//! Words in the line, or in the line above, state the direction of a number. Without them, two numbers
//! are reads and writes, in the order of the program's window; a note says so. The unit is in the line
//! or anywhere above it, because the window can also show other units. A list without a unit is
//! refused. A comma before three digits may separate thousands or decimals, so such a number is
//! refused, unless a decimal point follows it.

use super::kit::*;

/// Example of a readable list.
const EXAMPLE: &str = "SEQ1M Q8T1  7000.12 MB/s  6500.34 MB/s";

pub(super) const IMPORTER: Importer = Importer::of(
    ("list of CrystalDiskMark results", "CrystalDiskMark", &["Q8T1", "Q32T1", "Q1T1"]),
    Recognizer::Lines(
        |line| if TypedLine::read(line).is_some() { LineMark::Belongs } else { LineMark::None },
    ),
    read,
);

const UNITS: [(&str, Quantity, f64); 8] = [
    ("MB/s", Quantity::Rate, 1e6),
    ("MiB/s", Quantity::Rate, 1_048_576.0),
    ("GB/s", Quantity::Rate, 1e9),
    ("GiB/s", Quantity::Rate, 1_073_741_824.0),
    ("KB/s", Quantity::Rate, 1e3),
    ("KiB/s", Quantity::Rate, 1024.0),
    ("IOPS", Quantity::Iops, 1.0),
    ("us", Quantity::Latency, 1e3),
];

type ListUnit = (&'static str, Quantity, f64);

/// A line that names a test.
struct TypedLine<'a> {
    setting: ImportedCell,
    /// Numbers, each with its direction and its unit if the line has them.
    numbers: Vec<(&'a str, Option<Direction>, Option<ListUnit>)>,
    /// Unit before the numbers, which applies to all of them: `SEQ1M Q8T1 IOPS 3352 3108`.
    unit: Option<ListUnit>,
}

fn direction(word: &str) -> Option<Direction> {
    match word.trim_matches(|c: char| !c.is_alphabetic()).to_ascii_lowercase().as_str() {
        "read" | "reads" | "r" => Some(Direction::Read),
        "write" | "writes" | "w" => Some(Direction::Write),
        _ => None,
    }
}

fn unit(word: &str) -> Option<ListUnit> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphabetic());
    UNITS.into_iter().find(|(name, ..)| name.eq_ignore_ascii_case(word))
}

/// Parses operations in flight and threads: `Q8T1`, `QD32`, `Q32`.
fn queue(word: &str) -> Option<(u32, Option<u32>)> {
    let rest = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_uppercase();
    let rest = rest.strip_prefix('Q')?;
    let rest = rest.strip_prefix('D').unwrap_or(rest);
    let count = |words: &str| words.parse::<u32>().ok().filter(|count| *count > 0 && digits(words));
    match rest.split_once('T') {
        Some((depth, threads)) => Some((count(depth)?, Some(count(threads)?))),
        None => Some((count(rest)?, None)),
    }
}

/// Parses a test: whether offsets ascend, and the block size, as in `SEQ1M`, `RND4K`, `Sequential`,
/// `4K`.
fn test(word: &str) -> Option<(Option<bool>, Option<u64>)> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_uppercase();
    let orders = [("SEQUENTIAL", true), ("SEQ", true), ("RANDOM", false), ("RND", false), ("RAND", false)];
    let order = orders.iter().find(|(name, _)| word.starts_with(name));
    let size = order.map_or(word.as_str(), |(name, _)| &word[name.len()..]);
    let order = order.map(|(_, sequential)| *sequential);
    if size.is_empty() {
        return order.map(|order| (Some(order), None));
    }
    let count = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let bytes = match &size[count.len()..] {
        "K" | "KB" | "KIB" => 1024,
        "M" | "MB" | "MIB" => 1 << 20,
        _ => return None,
    };
    let bytes = count.parse::<u64>().ok().filter(|count| (1..=4096).contains(count))? * bytes;
    Some((order, Some(bytes)))
}

impl<'a> TypedLine<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let is_between = |c: char| c.is_whitespace() || "|:=→;".contains(c);
        let words: Vec<&str> =
            line.split(is_between).filter(|word| !word.trim_matches('.').is_empty()).collect();
        let (at, (order, mut block_bytes)) =
            words.iter().enumerate().take(2).find_map(|(at, word)| Some((at, test(word)?)))?;
        let mut line = Self { setting: ImportedCell::default(), numbers: Vec::new(), unit: None };
        let (mut of, mut is_queued) = (None, false);
        for word in &words[at + 1..] {
            let (digits, rest) = number_at(word);
            if let Some((depth, threads)) = queue(word).filter(|_| !is_queued) {
                (line.setting.iodepth, line.setting.threads, is_queued) = (Some(depth), threads, true);
            } else if let Some((None, Some(bytes))) = test(word).filter(|_| !is_queued) {
                block_bytes = Some(bytes);
            } else if let Some(direction) = direction(word) {
                of = Some(direction);
            } else if let (true, Some(unit)) = (digits.is_empty(), unit(word)) {
                match line.numbers.last_mut() {
                    Some((_, _, own)) => *own = own.or(Some(unit)),
                    None => line.unit = Some(unit),
                }
            } else if is_queued && digits.starts_with(|c: char| c.is_ascii_digit()) {
                line.numbers.push((digits, of.take(), unit(rest)));
            }
        }
        // `4K` alone means random offsets.
        line.setting.sequential = Some(order.unwrap_or(false));
        line.setting.block_bytes = block_bytes;
        (is_queued && !line.numbers.is_empty()).then_some(line)
    }
}

/// Parses a number of a list: `7034.55`, `7034,55`, `7,034.55`. A comma before the last three digits is
/// ambiguous.
fn value(words: &str) -> Option<f64> {
    let Some((whole, decimals)) = words.split_once('.').filter(|(whole, _)| whole.contains(',')) else {
        let is_ambiguous =
            words.split_once(',').is_some_and(|(_, rest)| rest.len() == 3 || rest.contains(','));
        return decimal(words).filter(|_| !is_ambiguous);
    };
    let mut groups = whole.split(',');
    let is_grouped = groups.next().is_some_and(|first| digits(first) && first.len() <= 3)
        && groups.all(|group| digits(group) && group.len() == 3);
    number(&format!("{}.{decimals}", whole.replace(',', ""))).filter(|_| is_grouped)
}

/// Returns the number at the start of a word, and the rest.
fn number_at(word: &str) -> (&str, &str) {
    let word = word.trim_start_matches(['.', '~', '(', '/']);
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(word.len());
    let (digits, rest) = word.split_at(end);
    (digits.trim_end_matches([',', '.']), rest)
}

/// Maximum number of words in a title line above numbers. A longer line is prose.
const TITLE_WORDS: usize = 8;

/// Properties of a row's numbers according to the lines above it.
#[derive(Default)]
struct Titles {
    unit: Option<ListUnit>,
    directions: Vec<Direction>,
}

impl Titles {
    fn read(&mut self, line: &str) {
        let words = || {
            line.split(|c: char| c.is_whitespace() || "|:[]()#*".contains(c)).filter(|word| !word.is_empty())
        };
        self.unit = words().find_map(unit).or(self.unit);
        let directions: Vec<Direction> = words().filter_map(direction).collect();
        if !directions.is_empty() && words().count() <= TITLE_WORDS {
            self.directions = directions;
        }
    }

    /// Returns the cells of a row, and whether the order of its numbers was assumed.
    fn cells(
        &self,
        input: &Input<'_>,
        at: usize,
        line: &str,
        row: &TypedLine<'_>,
    ) -> Result<(Vec<Cell>, bool)> {
        let unreadable = || {
            broken_line(
                input,
                at,
                text!(
                    "this line cannot be read; the format is `{EXAMPLE}`, with reads before writes",
                    "この行を読めません。`{EXAMPLE}` の形(読み出し、書き込みの順)で書いてください"
                ),
            )
        };
        let unit_of_line = row.unit.or(row.numbers.iter().find_map(|(.., unit)| *unit)).or(self.unit);
        let titled = Some(&self.directions).filter(|directions| directions.len() == row.numbers.len());
        let (mut cells, mut is_guessed) = (Vec::new(), false);
        for (place, (printed, own, unit)) in row.numbers.iter().enumerate() {
            let Some((name, quantity, factor)) = unit.or(unit_of_line) else {
                return Err(broken_line(
                    input,
                    at,
                    text!(
                        "the unit is missing: add it, as in `{EXAMPLE}`",
                        "単位がありません。`{EXAMPLE}` のように単位を付けてください"
                    ),
                ));
            };
            let of_number = own.or_else(|| titled?.get(place).copied());
            let guess = [Direction::Read, Direction::Write].get(place).filter(|_| row.numbers.len() == 2);
            is_guessed |= of_number.is_none();
            let direction = of_number.or(guess.copied()).ok_or_else(unreadable)?;
            let value = value(printed).ok_or_else(|| ambiguous(input, at))? * factor;
            let figure =
                figure_of_value(quantity, Statistic::Unknown, value, printed, name).ok_or_else(unreadable)?;
            let procedure = Some(line.trim().trim_matches('|').to_owned());
            let imported = ImportedCell { procedure, figures: vec![figure], ..row.setting.clone() };
            let ImportedCell { sequential, block_bytes, iodepth, threads, .. } = imported;
            let label = parts::shape(sequential, "", block_bytes, iodepth, threads);
            cells.push(cell(label, Some(direction), imported));
        }
        Ok((cells, is_guessed))
    }
}

/// Creates the error for a number whose comma can separate thousands or decimals.
fn ambiguous(input: &Input<'_>, at: usize) -> Error {
    let what = text!(
        "a number of this line can be read in two ways, or not at all; the format is `{EXAMPLE}`, without \
         separators of thousands",
        "この行の数値は 2 通りに読めるか、読めません。`{EXAMPLE}` のように、桁区切りなしで書いてください"
    );
    broken_line(input, at, what)
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let lines: Vec<(usize, &str)> = input.lines().collect();
    if lines.iter().filter(|(_, line)| TypedLine::read(line).is_some()).count() < 2 {
        return without_line(EXAMPLE);
    }
    let (mut titles, mut cells, mut is_guessed) = (Titles::default(), Vec::new(), false);
    for (at, line) in lines {
        match TypedLine::read(line) {
            Some(row) => {
                let (mut of_row, guessed) = titles.cells(input, at, line, &row)?;
                cells.append(&mut of_row);
                is_guessed |= guessed;
            }
            None => titles.read(line),
        }
    }
    let mut notices = vec![notice(text!(
        "this list was typed by hand: the tool, its version and its procedure are unknown",
        "手で書かれた一覧です。ツールとバージョン、値の求め方は不明です"
    ))];
    if is_guessed {
        notices.push(notice(text!(
            "the list does not say which numbers are reads: the order of CrystalDiskMark's window is \
             assumed, reads before writes",
            "読み出しと書き込みの区別がないため、CrystalDiskMark の画面の順(読み出し、書き込み)として読みました"
        )));
    }
    Ok(vec![ImportedRun {
        origin: input.origin("unknown", "cdm-list"),
        cells,
        notices,
        ..ImportedRun::default()
    }])
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn lists_and_tables_are_read() {
        let table = "#### MB/s\n||Read|Write|\n|:----|:----|:----|\n|SEQ1M Q8T1|1141.20|2032.80|\n\
            |RND4K Q32T16|47.43|78.44|\n";
        let list =
            "CrystalDiskMark:\nSEQ1M Q8T1: 1141.20 MB/s / 2032.80 MB/s\nRND4K Q32T16: 47.43 / 78.44 MB/s\n";
        let words = "SEQ1M Q8T1 -> Read 1141.20MB/s, write 2032.80MB/s\n\
            RND4K Q32T16 -> Read 47.43MB/s, write 78.44MB/s\n";
        for text in [table, list, words] {
            let run =
                import("a.txt", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}")).remove(0);
            let rate = |name: &str| of(find(&run, name)).figures[0].value;
            assert_eq!(rate("SEQ 1 MiB Q8 T1 read"), 1141.2e6, "{text}");
            assert_eq!(rate("RND 4 KiB Q32 T16 write"), 78.44e6, "{text}");
            assert_eq!(run.notices.len(), 1 + usize::from(text == list), "{text}");
        }
        let iops = table.replace("MB/s", "IOPS");
        let run = import("a.txt", iops.as_bytes()).unwrap().remove(0);
        assert_eq!(of(&run.cells[0]).figures[0].quantity, Quantity::Iops);
    }

    #[test]
    fn separators_of_thousands_and_rows_of_operations_are_read() {
        let text = "Read\nSEQ1M Q8T1: 7,034.55 MB/s\nRND4K Q1T1: 83.92 MB/s\n\nWrite\nSEQ1M Q8T1: 5112,03 MB/s\n\
                    | Storage SEQ1M Q8T1 IOPS | 4488.06 |\n";
        let run = import("a.txt", text.as_bytes()).unwrap_or_else(|error| panic!("{error}")).remove(0);
        let figure = |at: usize| &of(&run.cells[at]).figures[0];
        assert_eq!((figure(0).value, figure(0).printed.as_str()), (7034.55e6, "7,034.55"));
        assert_eq!((figure(2).value, run.cells[2].direction), (5112.03e6, Some(Direction::Write)));
        assert_eq!((figure(3).quantity, figure(3).value), (Quantity::Iops, 4488.06));
        for (words, expected) in
            [("1,234,567.8", Some(1_234_567.8)), ("1,23,456.7", None), ("1,234", None), ("12,5", Some(12.5))]
        {
            assert_eq!(value(words), expected, "{words}");
        }
    }

    #[test]
    fn a_list_without_its_unit_shows_the_form() {
        let text = "CrystalDiskMark\nSEQ1M Q8T1 1141.20 2032.80\nRND4K Q1T1 47.43 78.44\n";
        let error = import("a.txt", text.as_bytes()).unwrap_err();
        assert!(error.what().en.contains("SEQ1M Q8T1  7000.12 MB/s"), "{error}");
        // One number under two titles can belong to either.
        let one = "Read Write MB/s\nSEQ1M Q8T1 1141.20\nRND4K Q1T1 47.43\n";
        assert!(import("a.txt", one.as_bytes()).is_err());
        let thousands = "SEQ1M Q8T1 7,108 MB/s 6,605 MB/s\nRND4K Q1T1 47.43 MB/s 78.44 MB/s\n";
        assert!(import("a.txt", thousands.as_bytes()).is_err());
        let error = import("a.txt", thousands.as_bytes()).unwrap_err();
        assert!(error.what().en.contains("two ways"), "{error}");
        let unread = import("a.txt", b"SEQ1M Q8T1 is fast, see the picture\n").unwrap_err();
        assert!(unread.what().en.contains("SEQ1M Q8T1  7000.12 MB/s"), "{unread}");
    }
}
