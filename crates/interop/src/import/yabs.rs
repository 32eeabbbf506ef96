//! JSON and text of Yet-Another-Bench-Script (`yabs.sh -w`, `-j`).
//!
//! The model: an entry of `fio` is one mix of half reads and half writes with a block size, and each
//! direction is a cell. YABS runs fio's `randrw` with direct I/O, depth 64 and 2 jobs, which its JSON
//! does not contain. `KBps` are fio's KiB/s, and the text divides them by 1000 for MB/s and by 1000000
//! for GB/s. Later versions print true powers of 1000 under the same names. Operations times block size
//! show which it is; without an exact number of operations, the older meaning is assumed, and the note
//! says so. The text has a table with two block sizes per row. Results for network and CPU are ignored.
//! Source: yabs.sh of masonr/yet-another-bench-script, and published results of 2022 to 2026.

use super::json_tree::{Json, documents};
use super::kit::*;
use super::units::corrected;
use kurabe_core::environment::{Environment, Machine};
use kurabe_core::imported::Correction;

const KEYS: &[&str] = &["\"speed_rw\"", "\"iops_rw\""];
pub(super) const IMPORTER: Importer =
    Importer::of(("YABS JSON", "YABS", &["\"speed_rw\""]), Recognizer::Object(KEYS), read);

const TITLE: &str = "fio Disk Speed Tests (Mixed R/W 50/50){}";
const SIZES: &str = "Block Size | {}(IOPS) | {}(IOPS)";
/// Rows of the text's table.
const ROWS: [(Direction, &str); 2] = [(Direction::Read, "Read{}|{}|{}"), (Direction::Write, "Write{}|{}|{}")];
pub(super) const TEXT: Importer = Importer::of(
    ("YABS text", "YABS", &["Yet-Another-Bench-Script"]),
    Recognizer::Shapes(LineShapes { begins: &[TITLE], belongs: &[SIZES, ROWS[0].1, ROWS[1].1] }),
    read_text,
);

/// Directions with their keys.
const DIRECTIONS: [(Direction, &str, &str); 2] =
    [(Direction::Read, "speed_r", "iops_r"), (Direction::Write, "speed_w", "iops_w")];
const PROCEDURE: &str = "fio randrw, half reads, direct, iodepth=64, numjobs=2";

fn read(input: &Input<'_>) -> ImportedRuns {
    let text = parts::text_with(input, KEYS)?;
    let mut runs = Vec::new();
    for document in documents(text) {
        let document = document.map_err(|error| parts::damaged_json(input, "YABS", error))?;
        let mut origin = Origin {
            version: document.text_of("version").map(|version| version.trim_start_matches('v').to_owned()),
            measured_at: document.text_of("time").and_then(date),
            procedure: Some(PROCEDURE.to_owned()),
            ..input.origin("YABS", "yabs-json")
        };
        fact(&mut origin, "direct", "1");
        let mixes: Vec<PrintedMix<'_>> = document.items_of("fio").iter().flat_map(mixes).collect();
        let scale = RateScale::of(&mixes);
        runs.push(ImportedRun {
            origin,
            environment: environment(&document),
            cells: mixes.into_iter().filter_map(|mix| mix.cell(scale)).collect(),
            notices: vec![scale.notice("KiB/s", "KBps")],
            interrupted: false,
        });
    }
    Ok(runs)
}

/// Returns the mixes of an entry.
fn mixes(entry: &Json) -> Vec<PrintedMix<'_>> {
    let block_bytes = entry.text_of("bs").and_then(|size| kurabe_fio::size_bytes(size, 1024));
    let mix_of = |(direction, rate, iops): (Direction, &str, &str)| {
        let iops = entry.text_of(iops);
        let operations = iops.and_then(number).map(|value| (value, 1.0));
        let iops = units::IOPS.figure(Statistic::Mean, iops);
        let (rate, unit, thousands) = (entry.text_of(rate)?, "KBps", 1.0);
        Some(PrintedMix { block_bytes, direction, rate, unit, thousands, iops, operations })
    };
    let is_known = |entry: &Json| entry.text_of("speed_units").is_none_or(|unit| unit == "KBps");
    DIRECTIONS.into_iter().filter(|_| is_known(entry)).filter_map(mix_of).collect()
}

/// A direction of a mix as printed.
struct PrintedMix<'a> {
    block_bytes: Option<u64>,
    direction: Direction,
    rate: &'a str,
    unit: &'a str,
    /// Number of KB in the unit.
    thousands: f64,
    iops: Option<PrintedFigure>,
    /// Operations per second, and the step to which they are rounded down.
    operations: Option<(f64, f64)>,
}

/// Meaning of a KB in the printed rates.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RateScale {
    /// 1024 bytes.
    Binary,
    /// 1000 bytes.
    Decimal,
    /// No number of operations is exact enough. 1024 bytes are assumed.
    Unknown,
}

impl RateScale {
    /// Returns the scale at which rates and operations of most mixes agree.
    fn of(mixes: &[PrintedMix<'_>]) -> Self {
        let votes: Vec<Self> = mixes.iter().filter_map(PrintedMix::scale).collect();
        let count = |scale| votes.iter().filter(|vote| **vote == scale).count();
        match count(Self::Binary).cmp(&count(Self::Decimal)) {
            std::cmp::Ordering::Greater => Self::Binary,
            std::cmp::Ordering::Less => Self::Decimal,
            std::cmp::Ordering::Equal => Self::Unknown,
        }
    }

    /// Returns the note on the unit. `actual` is printed as `name`.
    fn notice(self, actual: &str, name: &str) -> Notice {
        notice(match self {
            Self::Binary => text!(
                "YABS prints {actual} as {name}; its rates are multiplied by 1.024",
                "YABS は {actual} を {name} と表示します。速度は 1.024 倍に補正しました"
            ),
            Self::Decimal => text!(
                "the rates are powers of 1000, as their numbers of operations show",
                "速度は 1000 の累乗の単位です(操作数から確認しました)"
            ),
            Self::Unknown => text!(
                "older versions of YABS print {actual} as {name}, so the rates are multiplied by 1.024; of a \
                 newer version, they are 2.4 % too high",
                "YABS の古い版は {actual} を {name} と表示するため、速度を 1.024 倍に補正しました。新しい版の結果なら 2.4 % 高すぎます"
            ),
        })
    }
}

impl PrintedMix<'_> {
    /// Returns the scale at which rate and operations agree, if they are exact enough.
    fn scale(&self) -> Option<RateScale> {
        /// Rounding of the rate, and of fio's own mean over time.
        const TOLERANCE: f64 = 0.004;
        let (operations, step) = self.operations?;
        let rate = number(self.rate)? * self.thousands * 1000.0;
        let block = Some(self.block_bytes? as f64).filter(|_| rate > 0.0)?;
        let least = operations * block / rate * (1.0 - TOLERANCE);
        let most = (operations + step) * block / rate * (1.0 + TOLERANCE);
        let is_within = |factor: f64| (least..=most).contains(&factor);
        match (is_within(1.024), is_within(1.0)) {
            (true, false) => Some(RateScale::Binary),
            (false, true) => Some(RateScale::Decimal),
            _ => None,
        }
    }

    /// Returns the cell with its rate at a scale.
    fn cell(self, scale: RateScale) -> Option<Cell> {
        let thousands = self.thousands;
        let kilobyte = if scale == RateScale::Decimal { 1000.0 } else { 1024.0 };
        let rate =
            units::figure(Quantity::Rate, Statistic::Mean, self.rate, self.unit, kilobyte * thousands)?;
        let actual = if thousands > 1.0 { format!("KiB/s × {thousands}") } else { "KiB/s".to_owned() };
        let reason = if thousands > 1.0 {
            text!("fio's KiB/s are divided by {thousands}", "fio の KiB/s を {thousands} で割った値です")
        } else {
            text!("fio's KiB/s are printed as KBps", "fio の KiB/s が KBps と表示されます")
        };
        let rate = match scale {
            RateScale::Decimal => rate,
            _ => corrected(rate, Correction { factor: 1.024, unit: actual, reason }),
        };
        let imported = ImportedCell {
            procedure: Some(PROCEDURE.to_owned()),
            block_bytes: self.block_bytes,
            iodepth: Some(64),
            threads: Some(2),
            sequential: Some(false),
            read_percent: Some(50.0),
            figures: std::iter::once(rate).chain(self.iops).collect(),
            ..ImportedCell::default()
        };
        let label = parts::shape(Some(false), "", self.block_bytes, Some(64), Some(2));
        Some(cell(format!("{label} 50 % read"), Some(self.direction), imported))
    }
}

fn read_text(input: &Input<'_>) -> ImportedRuns {
    let mut origin = Origin { procedure: Some(PROCEDURE.to_owned()), ..input.origin("YABS", "yabs-text") };
    fact(&mut origin, "direct", "1");
    let (mut sizes, mut mixes) = ([None, None], Vec::new());
    for (number, line) in input.lines() {
        if let Some(words) = sizes_of(line) {
            sizes = words.map(|size: &str| kurabe_fio::size_bytes(size, 1024));
        } else if let Some([words]) = holes(TITLE, line) {
            origin.target = holes("(Partition {}):", words).map(|[partition]| partition.to_owned());
        } else if let Some((direction, columns)) = row(line) {
            for (block_bytes, words) in sizes.into_iter().zip(columns) {
                let Some(mix) = text_mix(words, direction, block_bytes) else {
                    return Err(parts::unreadable(input, number).into());
                };
                mixes.extend(block_bytes.map(|_| mix));
            }
        } else if mixes.is_empty() {
            origin.version = origin.version.or_else(|| version(line));
            origin.measured_at = origin.measured_at.or_else(|| dates::from_ctime(line.trim()));
        }
    }
    let scale = RateScale::of(&mixes);
    let cells: Vec<Cell> = mixes.into_iter().filter_map(|mix| mix.cell(scale)).collect();
    if cells.is_empty() {
        return without_line("Read       | 388.78 MB/s  (97.1k) | 1.23 GB/s    (19.2k)");
    }
    let notices = vec![scale.notice("1000 KiB/s", "MB/s")];
    Ok(vec![ImportedRun { origin, cells, notices, ..ImportedRun::default() }])
}

/// Returns the block sizes in the heading of the table. An editor can have put bars around it.
fn sizes_of(line: &str) -> Option<[&str; 2]> {
    holes(SIZES, line.trim().trim_matches('|'))
}

/// Returns the direction and the columns of a row of the table.
fn row(line: &str) -> Option<(Direction, [&str; 2])> {
    ROWS.into_iter().find_map(|(direction, shape)| {
        let [rest, first, second] = holes(shape, line)?;
        rest.is_empty().then_some((direction, [first, second]))
    })
}

/// Parses `388.78 MB/s  (97.1k)`. YABS cuts the operations after a tenth of thousands.
fn text_mix(words: &str, direction: Direction, block_bytes: Option<u64>) -> Option<PrintedMix<'_>> {
    let (rate, rest) = words.trim().split_once(' ')?;
    let (unit, iops) = rest.trim().split_once('(')?;
    let unit = unit.trim();
    let thousands = power(1000.0, &["KB/s", "MB/s", "GB/s"], unit)?;
    number(rate)?;
    let iops = iops.trim_end().strip_suffix(')')?;
    let (count, letter) = iops.split_at(iops.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(iops.len()));
    let factor = power(1000.0, &["", "k", "m M"], letter)?;
    let value = number(count)? * factor;
    let places = count.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let step = factor * 10_f64.powi(-(places as i32));
    let iops = figure_of_value(Quantity::Iops, Statistic::Mean, value, iops, "IOPS");
    Some(PrintedMix { block_bytes, direction, rate, unit, thousands, iops, operations: Some((value, step)) })
}

/// Parses the version in the heading: `#   v2023-04-23   #`.
fn version(line: &str) -> Option<String> {
    let version = line.trim_matches(|c: char| c == '#' || c.is_whitespace()).strip_prefix('v')?;
    let is_date = version.len() == 10 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_date.then(|| version.to_owned())
}

/// Converts `20230423-134114` to ISO 8601.
fn date(words: &str) -> Option<String> {
    let (date, time) = words.split_once('-').filter(|(date, time)| digits(date) && digits(time))?;
    let part = |words: &str, from: usize, to: usize| words.get(from..to).map(str::to_owned);
    let (year, month, day) = (part(date, 0, 4)?, part(date, 4, 6)?, part(date, 6, 8)?);
    let (hour, minute, second) = (part(time, 0, 2)?, part(time, 2, 4)?, part(time, 4, 6)?);
    dates::from_year_first(&format!("{year}-{month}-{day} {hour}:{minute}:{second}"))
}

fn environment(document: &Json) -> Environment {
    let within = |object: &str, key: &str| document.get(object)?.text_of(key).map(str::to_owned);
    let machine = Machine {
        os: within("os", "distro"),
        kernel: within("os", "kernel"),
        cpu_model: within("cpu", "model"),
        ..Machine::default()
    };
    Environment { machine, ..Environment::default() }
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;

    #[test]
    fn the_table_of_the_text_is_read() {
        let text = "#                     v2023-04-23                    #\n\nTue Sep  5 10:11:12 UTC 2023\n\n\
                    CPU cores  : 1 @ 2794.748 MHz\n\
                    fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda3):\n---------------------------------\n\
                    Block Size | 4k            (IOPS) | 64k           (IOPS)\n\
                    \x20 ------   | ---            ----  | ----           ---- \n\
                    Read       | 388.78 MB/s  (97.1k) | 1.23 GB/s    (19.2k)\n\
                    Write      | 389.81 MB/s  (97.4k) | 1.23 GB/s    (19.3k)\n\
                    Total      | 778.59 MB/s (194.6k) | 2.46 GB/s    (38.5k)\n";
        let run = &import("a.txt", text.as_bytes()).unwrap()[0];
        assert_eq!(run.origin.tool_name(), "YABS 2023-04-23");
        assert_eq!(run.origin.measured_at.as_deref(), Some("2023-09-05T10:11:12Z"));
        assert_eq!((run.origin.target.as_deref(), run.cells.len()), (Some("/dev/vda3"), 4));
        let read = of(find(run, "RND 4 KiB Q64 T2 50 % read read"));
        assert_figure(&read.figures[0], "388.78", "MB/s", 388.78 * 1.024e6);
        assert_figure(&read.figures[1], "97.1k", "IOPS", 97_100.0);
        // Rate and operations agree.
        assert!((read.figures[0].value / 4096.0 / read.figures[1].value - 1.0).abs() < 0.01);
        let write = of(find(run, "RND 64 KiB Q64 T2 50 % read write"));
        assert_figure(&write.figures[0], "1.23", "GB/s", 1.23 * 1.024e9);
        let damaged = text.replace("97.4k", "97.4");
        assert!(import("a.txt", damaged.replace("(97.4)", "").as_bytes()).is_err());
    }
}
