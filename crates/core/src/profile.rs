//! A profile: a named list of steps with the rules of a tool, read from TOML, and the cells that it expands to.
//!
//! The model: rules hold for the whole profile; a step may narrow what concerns it alone. `Profile::cells` is the
//! only place where rules, steps and directions become workloads, so the order of a tool is decided here.

use crate::data_file::{DataFile, Table, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::quantity::{format_bytes, parse_bytes, parse_duration_ns};
use crate::text;
use crate::text::Text;
use crate::workload::{
    Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern, SyncRule, Workload,
};
use serde::{Deserialize, Serialize};

/// How repetitions become the figure that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Median.
    Median,
    /// The best repetition: highest rate, lowest mean latency, each on its own.
    Best,
}

impl Statistic {
    /// The word used in profiles.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Best => "best",
        }
    }
}

/// The order of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// All reads, then all writes, then all mixes (CrystalDiskMark 7 and later).
    ByDirection,
    /// Each step's directions together (CrystalDiskMark 3, AmorphousDiskMark).
    ByStep,
}

/// What holds for the whole profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Size of the test file, in bytes; the span on a device or an existing file is at most this.
    pub size_bytes: u64,
    /// The smallest size that the time limit of the fill may cut the test file to; `None`: never cut.
    pub size_at_least_bytes: Option<u64>,
    /// Longest time for writing the test file, if it may be cut.
    pub fill_time_limit_ns: Option<u64>,
    /// Repetitions that count.
    pub runs: u32,
    /// Repetitions before them that do not count.
    pub discarded_runs: u32,
    /// Measured time of a repetition, unless a step says otherwise.
    pub time_ns: u64,
    /// Pause between cells.
    pub interval_ns: u64,
    /// Order of cells.
    pub order: Order,
    /// Whether I/O goes around the page cache.
    pub direct: bool,
    /// What the file holds and what is written.
    pub data: Data,
    /// Whether every repetition of a cell visits the same offsets.
    pub same_offsets: bool,
    /// First seed.
    pub seed: u64,
}

/// An `io` step: a workload in one or more directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoStep {
    /// Its name in the table; made from the pattern if absent.
    pub label: Option<String>,
    /// Directions, in order.
    pub directions: Vec<Direction>,
    /// Share of reads of the `mix` direction, in percent.
    pub read_percent: u8,
    /// Order of offsets.
    pub pattern: Pattern,
    /// Block sizes.
    pub block_sizes: Vec<BlockSize>,
    /// Operations in flight per thread.
    pub iodepth: u32,
    /// Threads.
    pub threads: u32,
    /// First byte of the span.
    pub offset_bytes: u64,
    /// Length of the span; the rest of the target if absent.
    pub span_bytes: Option<u64>,
    /// Open loop.
    pub open_loop: Option<OpenLoop>,
    /// Warm-up.
    pub warm_up_ns: u64,
    /// When a repetition ends; the profile's time if nothing is given.
    pub end: End,
    /// fsync and `O_SYNC`.
    pub sync: SyncRule,
    /// What is written, if not what the profile says.
    pub data: Option<Data>,
}

/// A step of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A workload.
    Io(IoStep),
}

/// A named list of steps with the rules of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub title: Text,
    /// Where the procedure comes from.
    pub source: Option<String>,
    /// Where kurabe differs from that tool, and why.
    pub differs: Option<Text>,
    /// How repetitions become the figure.
    pub statistic: Statistic,
    /// Rules for all steps.
    pub rules: Rules,
    /// Steps.
    pub steps: Vec<Step>,
}

/// One cell to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct CellPlan {
    /// The step's place in the profile, from 0.
    pub step_index: usize,
    /// The step's name.
    pub label: String,
    /// Direction.
    pub direction: Direction,
    /// What to run, for the span given to [`Profile::cells`].
    pub workload: Workload,
}

impl IoStep {
    /// Its name in a table: `SEQ 1 MiB Q8 T1`, `RND 4 KiB Q32 T1`.
    pub fn label(&self) -> String {
        if let Some(label) = &self.label {
            return label.clone();
        }
        let pattern = match self.pattern {
            Pattern::Sequential | Pattern::Interleaved => "SEQ",
            Pattern::Random => "RND",
            Pattern::Permutation => "PERM",
            Pattern::Zipf { .. } => "ZIPF",
        };
        let sizes: Vec<String> =
            self.block_sizes.iter().map(|block| format_bytes(u64::from(block.size_bytes))).collect();
        format!("{pattern} {} Q{} T{}", sizes.join("/"), self.iodepth, self.threads)
    }

    fn workload(&self, rules: &Rules, direction: Direction, span_bytes: u64) -> Workload {
        let read_percent = match direction {
            Direction::Read => 100,
            Direction::Write => 0,
            Direction::Mix => self.read_percent,
        };
        let rest = span_bytes.saturating_sub(self.offset_bytes);
        let mut end = self.end;
        if end == End::default() {
            end.time_ns = Some(rules.time_ns);
        }
        Workload {
            pattern: self.pattern,
            block_sizes: self.block_sizes.clone(),
            read_percent,
            iodepth: self.iodepth,
            threads: self.threads,
            offset_bytes: self.offset_bytes,
            span_bytes: self.span_bytes.map_or(rest, |span| span.min(rest)),
            open_loop: self.open_loop,
            warm_up_ns: self.warm_up_ns,
            end,
            sync: self.sync,
            data: self.data.unwrap_or(rules.data),
            seed: rules.seed,
        }
    }
}

impl Profile {
    /// The cells in the order in which they are measured, on a target with this many usable bytes.
    pub fn cells(&self, span_bytes: u64) -> Vec<CellPlan> {
        let plan = |step_index: usize, direction: Direction| {
            let Step::Io(step) = &self.steps[step_index];
            step.directions.contains(&direction).then(|| CellPlan {
                step_index,
                label: step.label(),
                direction,
                workload: step.workload(&self.rules, direction, span_bytes),
            })
        };
        let steps = 0..self.steps.len();
        match self.rules.order {
            Order::ByDirection => Direction::ALL
                .iter()
                .flat_map(|direction| steps.clone().filter_map(|step| plan(step, *direction)))
                .collect(),
            Order::ByStep => steps
                .flat_map(|step| Direction::ALL.iter().filter_map(move |direction| plan(step, *direction)))
                .collect(),
        }
    }

    /// Reads a profile from TOML; `file` is shown in errors.
    ///
    /// # Errors
    /// With the line, the reason and the nearest valid word.
    pub fn parse(file: &str, source: &str) -> Result<Self> {
        let data = DataFile::parse(file, source)?;
        let root =
            data.root(&["schema", "name", "title", "source", "differs", "statistic", "rules", "step"])?;
        let schema = root.require("schema")?;
        if schema.integer(0..=u64::MAX)? != 1 {
            return Err(schema.error(&text!(
                "this kurabe reads profiles of schema 1",
                "この kurabe が読めるプロファイルは schema 1 だけです"
            )));
        }
        let steps = match root.get("step") {
            Some(steps) => steps.elements().iter().map(read_step).collect::<Result<Vec<_>>>()?,
            None => Vec::new(),
        };
        if steps.is_empty() {
            return Err(Error::new(
                ErrorKind::DataFile,
                text!("{file}: the profile has no steps", "{file}: ステップがひとつもありません"),
            )
            .remedy(text!("add at least one [[step]]", "[[step]] をひとつ以上書いてください")));
        }
        let optional_string = |key: &str| root.get(key).map(|value| value.string()).transpose();
        Ok(Self {
            name: root.require("name")?.string()?.to_owned(),
            title: root.require("title")?.text()?,
            source: optional_string("source")?.map(str::to_owned),
            differs: root.get("differs").map(|value| value.text()).transpose()?,
            statistic: root.require("statistic")?.choice(&[
                ("mean", Statistic::Mean),
                ("median", Statistic::Median),
                ("best", Statistic::Best),
            ])?,
            rules: read_rules(&root.require("rules")?)?,
            steps,
        })
    }
}

fn read_data(table: &Table<'_>) -> Result<Option<Data>> {
    let percent = table
        .get("zero_percent")
        .map(|value| value.integer(0..=100))
        .transpose()?
        .map_or(50, |percent| percent as u8);
    table
        .get("data")
        .map(|value| {
            value.choice(&[
                ("random", Data::Random),
                ("zero", Data::Zero),
                ("repeat", Data::Repeat),
                ("compressible", Data::Compressible { percent }),
            ])
        })
        .transpose()
}

fn read_rules(value: &Value<'_>) -> Result<Rules> {
    let table = value.table(&[
        "size",
        "size_at_least",
        "fill_time_limit",
        "runs",
        "discarded_runs",
        "time",
        "interval",
        "order",
        "direct",
        "data",
        "zero_percent",
        "same_offsets",
        "seed",
    ])?;
    let duration = |key: &str| table.get(key).map(|value| value.parsed(parse_duration_ns)).transpose();
    Ok(Rules {
        size_bytes: positive_bytes(&table.require("size")?)?,
        size_at_least_bytes: table.get("size_at_least").map(|value| positive_bytes(&value)).transpose()?,
        fill_time_limit_ns: duration("fill_time_limit")?,
        runs: table.require("runs")?.integer(1..=1_000_000)? as u32,
        discarded_runs: integer_or(&table, "discarded_runs", 0..=1_000_000, 0)? as u32,
        time_ns: positive_duration(&table.require("time")?)?,
        interval_ns: duration("interval")?.unwrap_or(0),
        order: table.get("order").map_or(Ok(Order::ByDirection), |value| {
            value.choice(&[("by-direction", Order::ByDirection), ("by-step", Order::ByStep)])
        })?,
        direct: table.get("direct").map_or(Ok(true), |value| value.boolean())?,
        data: read_data(&table)?.unwrap_or(Data::Random),
        same_offsets: table.get("same_offsets").map_or(Ok(false), |value| value.boolean())?,
        seed: integer_or(&table, "seed", 0..=i64::MAX as u64, 1)?,
    })
}

fn read_step(value: &Value<'_>) -> Result<Step> {
    let table = value.table(&[
        "kind",
        "label",
        "directions",
        "read_percent",
        "pattern",
        "exponent",
        "block_size",
        "iodepth",
        "threads",
        "offset",
        "span",
        "rate_iops",
        "arrival",
        "warm_up",
        "time",
        "bytes",
        "passes",
        "o_sync",
        "sync_every_writes",
        "sync_at_end",
        "data",
        "zero_percent",
    ])?;
    table.require("kind")?.choice(&[("io", ())])?;
    let exponent = table.get("exponent").map_or(Ok(1.1), |value| value.positive())?;
    let pattern = table.require("pattern")?.choice(&[
        ("sequential", Pattern::Sequential),
        ("interleaved", Pattern::Interleaved),
        ("random", Pattern::Random),
        ("permutation", Pattern::Permutation),
        ("zipf", Pattern::Zipf { exponent }),
    ])?;
    let directions = match table.get("directions") {
        Some(value) => value.elements().iter().map(read_direction).collect::<Result<Vec<_>>>()?,
        None => vec![Direction::Read, Direction::Write],
    };
    let duration = |key: &str| table.get(key).map(|value| value.parsed(parse_duration_ns)).transpose();
    let bytes = |key: &str| table.get(key).map(|value| positive_bytes(&value)).transpose();
    Ok(Step::Io(IoStep {
        label: table.get("label").map(|value| value.string()).transpose()?.map(str::to_owned),
        directions,
        read_percent: integer_or(&table, "read_percent", 0..=100, 70)? as u8,
        pattern,
        block_sizes: read_block_sizes(&table.require("block_size")?)?,
        iodepth: integer_or(&table, "iodepth", 1..=u64::from(MOST_IODEPTH), 1)? as u32,
        threads: integer_or(&table, "threads", 1..=u64::from(MOST_THREADS), 1)? as u32,
        offset_bytes: table.get("offset").map_or(Ok(0), |value| value.parsed(parse_bytes))?,
        span_bytes: bytes("span")?,
        open_loop: read_open_loop(&table)?,
        warm_up_ns: duration("warm_up")?.unwrap_or(0),
        end: End {
            time_ns: table.get("time").map(|value| positive_duration(&value)).transpose()?,
            bytes: bytes("bytes")?,
            passes: table
                .get("passes")
                .map(|value| value.integer(1..=u64::from(u32::MAX)))
                .transpose()?
                .map(|passes| passes as u32),
        },
        sync: SyncRule {
            o_sync: table.get("o_sync").map_or(Ok(false), |value| value.boolean())?,
            every_writes: table
                .get("sync_every_writes")
                .map(|value| value.integer(1..=u64::from(u32::MAX)))
                .transpose()?
                .map(|every| every as u32),
            at_end: table.get("sync_at_end").map_or(Ok(EndSync::None), |value| {
                value.choice(&[
                    ("none", EndSync::None),
                    ("timed", EndSync::Timed),
                    ("untimed", EndSync::Untimed),
                ])
            })?,
        },
        data: read_data(&table)?,
    }))
}

/// Most operations in flight per thread.
pub const MOST_IODEPTH: u32 = 4096;
/// Most threads.
pub const MOST_THREADS: u32 = 1024;
/// Largest block.
pub const LARGEST_BLOCK_BYTES: u64 = 1 << 30;

/// Parses a block size: a size from 1 byte to 1 GiB.
///
/// # Errors
/// Says what a block size is.
pub fn parse_block_size(words: &str) -> std::result::Result<u32, Text> {
    match parse_bytes(words)? {
        0 => Err(text!("a block has at least one byte", "ブロックは 1 バイト以上です")),
        size if size > LARGEST_BLOCK_BYTES => {
            Err(text!("a block has at most 1 GiB", "ブロックは 1 GiB までです"))
        }
        size => Ok(size as u32),
    }
}

fn read_direction(value: &Value<'_>) -> Result<Direction> {
    value.choice(&Direction::ALL.map(|direction| (direction.word(), direction)))
}

fn read_block_sizes(value: &Value<'_>) -> Result<Vec<BlockSize>> {
    let elements = value.elements();
    if elements.is_empty() {
        return Err(
            value.error(&text!("at least one block size is needed", "ブロックの大きさがひとつ以上必要です"))
        );
    }
    elements
        .iter()
        .map(|element| {
            if !element.is_table() {
                return Ok(BlockSize { size_bytes: element.parsed(parse_block_size)?, weight: 1 });
            }
            let table = element.table(&["size", "weight"])?;
            Ok(BlockSize {
                size_bytes: table.require("size")?.parsed(parse_block_size)?,
                weight: integer_or(&table, "weight", 1..=1_000_000, 1)? as u32,
            })
        })
        .collect()
}

fn read_open_loop(table: &Table<'_>) -> Result<Option<OpenLoop>> {
    let arrival = table.get("arrival").map_or(Ok(Arrival::Even), |value| {
        value.choice(&[("even", Arrival::Even), ("poisson", Arrival::Poisson)])
    })?;
    let rate = table.get("rate_iops").map(|value| value.positive()).transpose()?;
    Ok(rate.map(|rate_iops| OpenLoop { rate_iops, arrival }))
}

fn integer_or(
    table: &Table<'_>,
    key: &str,
    limits: std::ops::RangeInclusive<u64>,
    default: u64,
) -> Result<u64> {
    table.get(key).map_or(Ok(default), |value| value.integer(limits))
}

fn positive_bytes(value: &Value<'_>) -> Result<u64> {
    value.parsed(|words| match parse_bytes(words)? {
        0 => Err(text!("a size above zero is expected here", "ここには 0 より大きい値を書きます")),
        bytes => Ok(bytes),
    })
}

fn positive_duration(value: &Value<'_>) -> Result<u64> {
    value.parsed(|words| match parse_duration_ns(words)? {
        0 => Err(text!("a time above zero is expected here", "ここには 0 より長い時間を書きます")),
        ns => Ok(ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: &str = r#"
schema = 1
name = "small"
title = { en = "small", ja = "small" }
statistic = "best"

[rules]
size = "64 MiB"
runs = 2
time = "1 s"

[[step]]
kind = "io"
pattern = "sequential"
block_size = "1 MiB"
iodepth = 8

[[step]]
kind = "io"
pattern = "random"
block_size = ["4 KiB", { size = "64 KiB", weight = 3 }]
directions = ["read", "mix"]
"#;

    fn kinds(profile: &Profile) -> Vec<(String, Direction)> {
        profile.cells(1 << 30).into_iter().map(|cell| (cell.label, cell.direction)).collect()
    }

    #[test]
    fn reads_come_first_unless_the_profile_goes_step_by_step() {
        let mut profile = Profile::parse("small", SMALL).unwrap();
        let sequential = "SEQ 1 MiB Q8 T1".to_owned();
        let random = "RND 4 KiB/64 KiB Q1 T1".to_owned();
        assert_eq!(
            kinds(&profile),
            [
                (sequential.clone(), Direction::Read),
                (random.clone(), Direction::Read),
                (sequential.clone(), Direction::Write),
                (random.clone(), Direction::Mix),
            ]
        );
        profile.rules.order = Order::ByStep;
        assert_eq!(
            kinds(&profile),
            [
                (sequential.clone(), Direction::Read),
                (sequential, Direction::Write),
                (random.clone(), Direction::Read),
                (random, Direction::Mix),
            ]
        );
    }

    #[test]
    fn a_step_without_an_end_takes_the_time_of_the_rules() {
        let cells = Profile::parse("small", SMALL).unwrap().cells(1 << 20);
        assert_eq!(cells[0].workload.end.time_ns, Some(1_000_000_000));
        assert_eq!(cells[0].workload.span_bytes, 1 << 20);
        assert_eq!(cells[3].workload.read_percent, 70);
    }

    #[test]
    fn a_mistake_shows_its_line_and_the_nearest_word() {
        let cases = [
            ("iodepth = 8", "iodept = 8", "iodepth", "iodept = 8"),
            ("\"sequential\"", "\"sequentail\"", "sequential", "pattern = \"sequentail\""),
            ("\"read\", \"mix\"", "\"reed\"", "read", "directions = [\"reed\"]"),
        ];
        for (good, bad, nearest, line) in cases {
            let error = Profile::parse("my.toml", &SMALL.replace(good, bad)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DataFile);
            assert_eq!(error.place().unwrap().text, line);
            assert!(error.remedy_text().unwrap().en.contains(&format!("`{nearest}`")), "{error:?}");
        }
        let error = Profile::parse("my.toml", &SMALL.replace("runs = 2", "runs = 0")).unwrap_err();
        assert!(error.what().en.contains("from 1 to"), "{error:?}");
    }

    #[test]
    fn a_profile_survives_its_record() {
        let profile = Profile::parse("small", SMALL).unwrap();
        let json = serde_json::to_string(&profile).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), profile);
    }

    proptest! {
        #[test]
        fn reading_never_panics(source in ".*") {
            let _ = Profile::parse("any", &source);
        }

        #[test]
        fn reading_a_damaged_profile_never_panics(at in 0usize..SMALL.len(), with in "[ -~\n]{0,3}") {
            let mut source = SMALL.to_owned();
            source.replace_range(at..at + 1, &with);
            let _ = Profile::parse("any", &source);
        }
    }
}
