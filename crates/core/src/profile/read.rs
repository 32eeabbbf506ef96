//! The reader of profiles.
//!
//! The model: a step is read by the reader of its kind, which knows its keys. Keys that begin with `each_` make several
//! steps of one: one for each value, the first key outermost.

use super::{
    AccessOrder, AccessTimeStep, CommandStep, CopyStep, Derived, Formula, GitMaterial, IoStep, Order,
    PositionalStep, PrintedUnit, Profile, ReplayStep, ReplayTiming, Rounds, Rules, Statistic, Step, Tracked,
    TrackedCell,
};
use crate::data_file::{DataFile, Table, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::quantity::{parse_bytes, parse_duration_ns};
use crate::text;
use crate::text::Text;
use crate::workload::{
    Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern, SyncRule, ThreadShare, TimeCheck,
};

/// Most operations in flight per thread.
pub const MOST_IODEPTH: u32 = 4096;
/// Most threads.
pub const MOST_THREADS: u32 = 1024;
/// Largest block.
pub const LARGEST_BLOCK_BYTES: u64 = 1 << 30;
/// Most samples, rounds and repetitions.
const MOST_REPETITIONS: u64 = 1_000_000;

impl Profile {
    /// Reads a profile from TOML; `file` is shown in errors.
    ///
    /// # Errors
    /// With the line, the reason and the nearest valid word.
    pub fn parse(file: &str, source: &str) -> Result<Self> {
        let data = DataFile::parse(file, source)?;
        let root = data.root(&[
            "schema",
            "name",
            "title",
            "source",
            "differs",
            "statistic",
            "as_printed",
            "rules",
            "rounds",
            "precondition",
            "step",
            "derived",
        ])?;
        let schema = root.require("schema")?;
        if schema.integer(0..=u64::MAX)? != 1 {
            return Err(schema.error(&text!(
                "this kurabe reads profiles of schema 1",
                "この kurabe が読めるプロファイルは schema 1 だけです"
            )));
        }
        let steps = read_all(&root, "step", read_step)?.concat();
        if steps.is_empty() {
            return Err(Error::new(
                ErrorKind::DataFile,
                text!("{file}: the profile has no steps", "{file}: ステップがひとつもありません"),
            )
            .remedy(text!("add at least one [[step]]", "[[step]] をひとつ以上書いてください")));
        }
        let commands = steps.iter().filter(|step| matches!(step, Step::Command(_))).count();
        if commands > 0 && commands < steps.len() {
            return Err(Error::new(
                ErrorKind::DataFile,
                text!(
                    "{file}: command steps stand beside steps of another kind, which need a test file",
                    "{file}: command ステップと、テストファイルを使うほかのステップが混ざっています"
                ),
            )
            .remedy(text!("make two profiles of it", "2 つのプロファイルに分けてください")));
        }
        let preconditions =
            read_all(&root, "precondition", |value| read_io(&value.table(IO_KEYS)?))?.concat();
        Ok(Self {
            name: root.require("name")?.string()?.to_owned(),
            title: root.require("title")?.text()?,
            source: owned(&root, "source")?,
            differs: root.get("differs").map(|value| value.text()).transpose()?,
            statistic: root.require("statistic")?.choice(&[
                ("mean", Statistic::Mean),
                ("median", Statistic::Median),
                ("best", Statistic::Best),
            ])?,
            as_printed: root.get("as_printed").map(|value| read_printed_unit(&value)).transpose()?,
            rules: read_rules(&root.require("rules")?)?,
            rounds: root.get("rounds").map(|value| read_rounds(&value, &steps)).transpose()?,
            derived: read_all(&root, "derived", |value| read_derived(value, &steps))?,
            preconditions,
            steps,
        })
    }
}

fn read_all<T>(root: &Table<'_>, key: &str, read: impl Fn(&Value<'_>) -> Result<T>) -> Result<Vec<T>> {
    root.get(key).map_or(Ok(Vec::new()), |list| list.elements().iter().map(read).collect())
}

fn owned(table: &Table<'_>, key: &str) -> Result<Option<String>> {
    table.get(key).map(|value| value.string().map(str::to_owned)).transpose()
}

fn flag(table: &Table<'_>, key: &str, default: bool) -> Result<bool> {
    table.get(key).map_or(Ok(default), |value| value.boolean())
}

fn duration(table: &Table<'_>, key: &str) -> Result<Option<u64>> {
    table.get(key).map(|value| value.parsed(parse_duration_ns)).transpose()
}

fn size(table: &Table<'_>, key: &str) -> Result<Option<u64>> {
    table.get(key).map(|value| positive_bytes(&value)).transpose()
}

fn read_printed_unit(value: &Value<'_>) -> Result<PrintedUnit> {
    let table = value.table(&["unit", "bytes"])?;
    Ok(PrintedUnit {
        unit: table.require("unit")?.string()?.to_owned(),
        bytes: table.require("bytes")?.integer(1..=1 << 40)?,
    })
}

fn read_derived(value: &Value<'_>, steps: &[Step]) -> Result<Derived> {
    let table = value.table(&["label", "formula", "meaning"])?;
    let words = table.require("formula")?;
    let formula = words.parsed(Formula::parse)?;
    if let Some(name) =
        formula.names().iter().find(|name| !steps.iter().any(|step| step.id() == Some(name.step.as_str())))
    {
        let step = &name.step;
        return Err(words.error(&text!(
            "no step of this profile has the id `{step}`",
            "id が `{step}` のステップはこのプロファイルにありません"
        )));
    }
    Ok(Derived {
        label: table.require("label")?.text()?,
        formula,
        meaning: table.get("meaning").map(|value| value.text()).transpose()?,
    })
}

fn read_rounds(value: &Value<'_>, steps: &[Step]) -> Result<Rounds> {
    let table =
        value.table(&["most", "window", "excursion_percent", "slope_percent", "tracked", "tracked_cells"])?;
    let window = table.require("window")?;
    let rounds = Rounds {
        most: table.require("most")?.integer(2..=MOST_REPETITIONS)? as u32,
        window: window.integer(2..=1000)? as u32,
        excursion_percent: table.require("excursion_percent")?.positive()?,
        slope_percent: table.require("slope_percent")?.positive()?,
        tracked: table.require("tracked")?.choice(&[
            ("iops", Tracked::Iops),
            ("rate", Tracked::Rate),
            ("latency", Tracked::Latency),
        ])?,
        tracked_cells: table
            .require("tracked_cells")?
            .elements()
            .iter()
            .map(|value| read_tracked_cell(value, steps))
            .collect::<Result<Vec<_>>>()?,
    };
    if rounds.window > rounds.most {
        return Err(window.error(&text!(
            "the window is longer than all rounds",
            "window が全ラウンド数 most を超えています"
        )));
    }
    Ok(rounds)
}

fn read_tracked_cell(value: &Value<'_>, steps: &[Step]) -> Result<TrackedCell> {
    let table = value.table(&["label", "direction"])?;
    let label = table.require("label")?;
    let cell = TrackedCell {
        label: label.string()?.to_owned(),
        direction: read_direction(&table.require("direction")?)?,
    };
    if !steps.iter().any(|step| step.label() == cell.label && step.directions().contains(&cell.direction)) {
        let known: Vec<String> = steps.iter().map(Step::label).collect();
        return Err(label
            .error(&text!(
                "no step has this label and direction",
                "このラベルと方向を持つステップはありません"
            ))
            .remedy(crate::nearest(&cell.label, &known.iter().map(String::as_str).collect::<Vec<_>>())));
    }
    Ok(cell)
}

fn read_data(table: &Table<'_>) -> Result<Option<Data>> {
    let percent = integer_or(table, "zero_percent", 0..=100, 50)? as u8;
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
        "whole_device",
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
    Ok(Rules {
        size_bytes: positive_bytes(&table.require("size")?)?,
        whole_device: flag(&table, "whole_device", false)?,
        size_at_least_bytes: size(&table, "size_at_least")?,
        fill_time_limit_ns: duration(&table, "fill_time_limit")?,
        runs: table.require("runs")?.integer(1..=MOST_REPETITIONS)? as u32,
        discarded_runs: integer_or(&table, "discarded_runs", 0..=MOST_REPETITIONS, 0)? as u32,
        time_ns: positive_duration(&table.require("time")?)?,
        interval_ns: duration(&table, "interval")?.unwrap_or(0),
        order: table.get("order").map_or(Ok(Order::ByDirection), |value| {
            value.choice(&[("by-direction", Order::ByDirection), ("by-step", Order::ByStep)])
        })?,
        direct: flag(&table, "direct", true)?,
        data: read_data(&table)?.unwrap_or(Data::Random),
        same_offsets: flag(&table, "same_offsets", false)?,
        seed: integer_or(&table, "seed", 0..=i64::MAX as u64, 1)?,
    })
}

/// The kinds of steps, each with its keys and its reader.
#[derive(Clone, Copy)]
enum Kind {
    Io,
    Positional,
    AccessTime,
    Copy,
    Command,
    Replay,
}

fn read_step(value: &Value<'_>) -> Result<Vec<Step>> {
    let kind = value.any_table()?.require("kind")?.choice(&[
        ("io", Kind::Io),
        ("positional", Kind::Positional),
        ("access-time", Kind::AccessTime),
        ("copy", Kind::Copy),
        ("command", Kind::Command),
        ("replay", Kind::Replay),
    ])?;
    match kind {
        Kind::Io => Ok(read_io(&value.table(IO_KEYS)?)?.into_iter().map(Step::Io).collect()),
        Kind::Positional => read_positional(value).map(|step| vec![Step::Positional(step)]),
        Kind::AccessTime => read_access_time(value).map(|step| vec![Step::AccessTime(step)]),
        Kind::Copy => read_copy(value),
        Kind::Command => read_command(value).map(|step| vec![Step::Command(step)]),
        Kind::Replay => read_replay(value).map(|step| vec![Step::Replay(step)]),
    }
}

const IO_KEYS: &[&str] = &[
    "kind",
    "id",
    "label",
    "directions",
    "read_percent",
    "each_read_percent",
    "pattern",
    "exponent",
    "thread_share",
    "block_size",
    "each_block_size",
    "iodepth",
    "threads",
    "offset",
    "span",
    "rewrite_every_reads",
    "rate_iops",
    "arrival",
    "warm_up",
    "time",
    "time_check",
    "time_check_operations",
    "bytes",
    "passes",
    "o_sync",
    "sync_every_writes",
    "sync_at_end",
    "data",
    "zero_percent",
];

fn read_io(table: &Table<'_>) -> Result<Vec<IoStep>> {
    let base = read_one_io(table)?;
    let read_block = |value: &Value<'_>| value.parsed(parse_block_size);
    let blocks = read_each(table, "each_block_size", read_block)?;
    let shares = read_each(table, "each_read_percent", |value| Ok(value.integer(0..=100)? as u8))?;
    if blocks.len() > 1 || shares.len() > 1 {
        for key in ["id", "label"] {
            refuse_shared_name(table.get(key))?;
        }
    }
    let mut steps = Vec::new();
    for block in &blocks {
        for share in &shares {
            let mut step = base.clone();
            if let Some(size_bytes) = block {
                step.block_sizes = vec![BlockSize { size_bytes: *size_bytes, weight: 1 }];
            }
            if let Some(share) = share {
                step.read_percent = *share;
                step.label = Some(format!("{} {share}/{}", step.label(), 100 - share));
            }
            steps.push(step);
        }
    }
    Ok(steps)
}

/// A name that several steps would share, if it is given.
fn refuse_shared_name(name: Option<Value<'_>>) -> Result<()> {
    match name {
        None => Ok(()),
        Some(value) => Err(value.error(&text!(
            "several steps are made here (`each_…`), which cannot all have this name",
            "`each_…` で複数のステップになるため、この名前は付けられません"
        ))),
    }
}

/// The values of an `each_` key; one `None` if it is not there.
fn read_each<T>(
    table: &Table<'_>,
    key: &str,
    read: impl Fn(&Value<'_>) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    match table.get(key) {
        None => Ok(vec![None]),
        Some(list) => {
            let values =
                list.elements().iter().map(|value| read(value).map(Some)).collect::<Result<Vec<_>>>()?;
            if values.is_empty() {
                return Err(list.error(&text!("at least one value is needed", "値がひとつ以上必要です")));
            }
            Ok(values)
        }
    }
}

fn read_one_io(table: &Table<'_>) -> Result<IoStep> {
    let exponent = table.get("exponent").map_or(Ok(1.1), |value| value.positive())?;
    let pattern = table.require("pattern")?.choice(&[
        ("sequential", Pattern::Sequential),
        ("interleaved", Pattern::Interleaved),
        ("random", Pattern::Random),
        ("permutation", Pattern::Permutation),
        ("zipf", Pattern::Zipf { exponent }),
    ])?;
    let count = |key: &str| {
        table
            .get(key)
            .map(|value| value.integer(1..=u64::from(u32::MAX)).map(|count| count as u32))
            .transpose()
    };
    let block_sizes = match (table.get("block_size"), table.get("each_block_size")) {
        (None, Some(_)) => Vec::new(),
        (Some(value), Some(_)) => {
            return Err(value.error(&text!(
                "give either `block_size` or `each_block_size`",
                "`block_size` と `each_block_size` はどちらか一方だけ指定できます"
            )));
        }
        _ => read_block_sizes(&table.require("block_size")?)?,
    };
    Ok(IoStep {
        id: owned(table, "id")?,
        label: owned(table, "label")?,
        directions: read_directions(table)?,
        read_percent: integer_or(table, "read_percent", 0..=100, 70)? as u8,
        pattern,
        thread_share: table.get("thread_share").map_or(Ok(ThreadShare::Usual), |value| {
            value.choice(&[
                ("usual", ThreadShare::Usual),
                ("parts", ThreadShare::Parts),
                ("whole", ThreadShare::Whole),
            ])
        })?,
        block_sizes,
        iodepth: integer_or(table, "iodepth", 1..=u64::from(MOST_IODEPTH), 1)? as u32,
        threads: integer_or(table, "threads", 1..=u64::from(MOST_THREADS), 1)? as u32,
        offset_bytes: table.get("offset").map_or(Ok(0), |value| value.parsed(parse_bytes))?,
        span_bytes: size(table, "span")?,
        rewrite_every_reads: count("rewrite_every_reads")?,
        open_loop: read_open_loop(table)?,
        warm_up_ns: duration(table, "warm_up")?.unwrap_or(0),
        end: End {
            time_ns: table.get("time").map(|value| positive_duration(&value)).transpose()?,
            bytes: size(table, "bytes")?,
            passes: count("passes")?,
            time_check: read_time_check(table)?,
        },
        sync: SyncRule {
            o_sync: flag(table, "o_sync", false)?,
            every_writes: count("sync_every_writes")?,
            at_end: table.get("sync_at_end").map_or(Ok(EndSync::None), |value| {
                value.choice(&[
                    ("none", EndSync::None),
                    ("timed", EndSync::Timed),
                    ("untimed", EndSync::Untimed),
                ])
            })?,
        },
        data: read_data(table)?,
    })
}

fn read_time_check(table: &Table<'_>) -> Result<TimeCheck> {
    let operations = integer_or(table, "time_check_operations", 1..=u64::from(u32::MAX), 1)? as u32;
    table.get("time_check").map_or(Ok(TimeCheck::Always), |value| {
        value.choice(&[
            ("always", TimeCheck::Always),
            ("pass", TimeCheck::Pass),
            ("operations", TimeCheck::Operations(operations)),
        ])
    })
}

fn read_directions(table: &Table<'_>) -> Result<Vec<Direction>> {
    match table.get("directions") {
        Some(value) => value.elements().iter().map(read_direction).collect(),
        None => Ok(vec![Direction::Read, Direction::Write]),
    }
}

fn read_positional(value: &Value<'_>) -> Result<PositionalStep> {
    let table = value.table(&[
        "kind",
        "id",
        "label",
        "samples",
        "sample_size",
        "pre_read",
        "alignment",
        "directions",
        "sync",
    ])?;
    let directions = read_directions(&table)?;
    if directions.first() != Some(&Direction::Read)
        || directions.get(1).is_some_and(|second| *second != Direction::Write)
        || directions.len() > 2
    {
        let at = table.get("directions").unwrap_or_else(|| value.clone());
        return Err(at.error(&text!(
            "samples are read, or read and written back: [\"read\"] or [\"read\", \"write\"]",
            "ここには [\"read\"] か [\"read\", \"write\"] を書きます(書き込むのは読んだ内容です)"
        )));
    }
    Ok(PositionalStep {
        id: owned(&table, "id")?,
        label: owned(&table, "label")?,
        samples: table.require("samples")?.integer(1..=MOST_REPETITIONS)? as u32,
        sample_bytes: table.require("sample_size")?.parsed(parse_block_size)?,
        pre_read_bytes: table.get("pre_read").map_or(Ok(0), |value| value.parsed(parse_block_size))?,
        alignment_bytes: table.get("alignment").map_or(Ok(4096), |value| value.parsed(parse_block_size))?,
        directions,
        sync: flag(&table, "sync", false)?,
    })
}

fn read_access_time(value: &Value<'_>) -> Result<AccessTimeStep> {
    let table = value.table(&[
        "kind",
        "id",
        "label",
        "samples",
        "block_size",
        "alignment",
        "direction",
        "order",
        "seed",
        "first_discarded",
        "by_distance",
        "span",
    ])?;
    let block_bytes = table.require("block_size")?.parsed(parse_block_size)?;
    Ok(AccessTimeStep {
        id: owned(&table, "id")?,
        label: owned(&table, "label")?,
        samples: table.require("samples")?.integer(1..=MOST_REPETITIONS)? as u32,
        block_bytes,
        alignment_bytes: table
            .get("alignment")
            .map_or(Ok(block_bytes), |value| value.parsed(parse_block_size))?,
        direction: table.get("direction").map_or(Ok(Direction::Read), |value| {
            value.choice(&[("read", Direction::Read), ("write", Direction::Write)])
        })?,
        order: table.get("order").map_or(Ok(AccessOrder::Uniform), |value| {
            value.choice(&[("uniform", AccessOrder::Uniform), ("glib", AccessOrder::Glib)])
        })?,
        seed: integer_or(&table, "seed", 0..=u64::from(u32::MAX), 1)?,
        first_discarded: flag(&table, "first_discarded", false)?,
        by_distance: flag(&table, "by_distance", false)?,
        span_bytes: size(&table, "span")?,
    })
}

fn read_copy(value: &Value<'_>) -> Result<Vec<Step>> {
    let table = value.table(&["kind", "id", "label", "chunk", "each_chunk"])?;
    let read_chunk = |value: &Value<'_>| value.parsed(parse_block_size);
    let one = table.get("chunk").map(|value| read_chunk(&value)).transpose()?;
    if let (Some(chunk), Some(_)) = (table.get("chunk"), table.get("each_chunk")) {
        return Err(chunk.error(&text!(
            "give either `chunk` or `each_chunk`",
            "`chunk` と `each_chunk` はどちらか一方だけ指定できます"
        )));
    }
    let chunks = read_each(&table, "each_chunk", read_chunk)?;
    if chunks.len() > 1 {
        for key in ["id", "label"] {
            refuse_shared_name(table.get(key))?;
        }
    }
    let (id, label) = (owned(&table, "id")?, owned(&table, "label")?);
    chunks
        .iter()
        .map(|chunk| match chunk.or(one) {
            Some(chunk_bytes) => {
                Ok(Step::Copy(CopyStep { id: id.clone(), label: label.clone(), chunk_bytes }))
            }
            None => Err(value.error(&text!(
                "a copy needs `chunk` or `each_chunk`",
                "copy には `chunk` か `each_chunk` が必要です"
            ))),
        })
        .collect()
}

fn read_command(value: &Value<'_>) -> Result<CommandStep> {
    let table = value.table(&[
        "kind", "id", "label", "git", "prepare", "command", "restore", "cleanup", "shell", "cold",
    ])?;
    let words = |value: &Value<'_>| -> Result<Vec<String>> {
        let words = value
            .elements()
            .iter()
            .map(|word| word.string().map(str::to_owned))
            .collect::<Result<Vec<_>>>()?;
        match words.first().is_none_or(String::is_empty) {
            true => {
                Err(value.error(&text!("a program is expected here", "ここには実行するプログラムを書きます")))
            }
            false => Ok(words),
        }
    };
    let list = |key: &str| -> Result<Vec<Vec<String>>> {
        table.get(key).map_or(Ok(Vec::new()), |list| list.elements().iter().map(&words).collect())
    };
    Ok(CommandStep {
        id: owned(&table, "id")?,
        label: owned(&table, "label")?,
        git: table.get("git").map(|value| read_git(&value)).transpose()?,
        prepare: list("prepare")?,
        command: words(&table.require("command")?)?,
        restore: list("restore")?,
        cleanup: list("cleanup")?,
        shell: flag(&table, "shell", false)?,
        cold: flag(&table, "cold", true)?,
    })
}

fn read_git(value: &Value<'_>) -> Result<GitMaterial> {
    let table = value.table(&["files", "changed_files", "commits"])?;
    let files = table.require("files")?.integer(1..=10_000_000)?;
    Ok(GitMaterial {
        files: files as u32,
        changed_files: table.require("changed_files")?.integer(1..=files)? as u32,
        commits: integer_or(&table, "commits", 1..=100_000, 1)? as u32,
    })
}

fn read_replay(value: &Value<'_>) -> Result<ReplayStep> {
    let table = value.table(&["kind", "id", "label", "trace", "format", "timing", "speed", "iodepth"])?;
    let speed = table.get("speed").map_or(Ok(1.0), |value| value.positive())?;
    Ok(ReplayStep {
        id: owned(&table, "id")?,
        label: owned(&table, "label")?,
        trace: table.require("trace")?.string()?.to_owned(),
        format: owned(&table, "format")?,
        timing: table.get("timing").map_or(Ok(ReplayTiming::Fast), |value| {
            value.choice(&[
                ("fast", ReplayTiming::Fast),
                ("timestamps", ReplayTiming::Timestamps { speed }),
                ("closed", ReplayTiming::Closed),
            ])
        })?,
        iodepth: integer_or(&table, "iodepth", 1..=u64::from(MOST_IODEPTH), 1)? as u32,
    })
}

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
