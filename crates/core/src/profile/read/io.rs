//! The reader of `io` steps, which are also what a precondition is.

use super::{
    MOST_IODEPTH, MOST_RATE_IOPS, MOST_THREADS, duration, flag, integer_or, parse_block_size,
    positive_duration, read_data, read_directions, read_each, refuse_idle, refuse_shared_name, size,
};
use crate::data_file::{DataTable, Value};
use crate::error::Result;
use crate::profile::IoStep;
use crate::quantity::parse_bytes;
use crate::text;
use crate::workload::{
    Arrival, BlockSize, Direction, End, EndSync, OpenLoop, Pattern, SyncRule, ThreadShare, TimeCheck,
};

pub(super) const IO_KEYS: &[&str] = &[
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
    "warm_up_passes",
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

pub(super) fn read_io(table: &DataTable<'_>) -> Result<Vec<IoStep>> {
    let base = read_one_io(table)?;
    refuse_idle_keys(table, &base)?;
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

/// Keys of an `io` step that need another.
fn refuse_idle_keys(table: &DataTable<'_>, step: &IoStep) -> Result<()> {
    table.refuse_both("read_percent", "each_read_percent")?;
    let mixes = step.directions.contains(&Direction::Mix);
    for key in ["read_percent", "each_read_percent", "rewrite_every_reads"] {
        refuse_idle(table, key, mixes, "`directions = [\"mix\"]`")?;
    }
    refuse_idle(table, "exponent", matches!(step.pattern, Pattern::Zipf { .. }), "`pattern = \"zipf\"`")?;
    refuse_idle(table, "arrival", step.open_loop.is_some(), "`rate_iops`")?;
    let counted = matches!(step.end.time_check, TimeCheck::Operations(_));
    refuse_idle(table, "time_check_operations", counted, "`time_check = \"operations\"`")
}

fn read_one_io(table: &DataTable<'_>) -> Result<IoStep> {
    let exponent = table.read("exponent", Value::positive)?.unwrap_or(1.1);
    let pattern = table.require("pattern")?.choice(&[
        ("sequential", Pattern::Sequential),
        ("interleaved", Pattern::Interleaved),
        ("random", Pattern::Random),
        ("permutation", Pattern::Permutation),
        ("zipf", Pattern::Zipf { exponent }),
    ])?;
    let count =
        |key: &str| table.read(key, |value| value.integer(1..=u64::from(u32::MAX)).map(|count| count as u32));
    table.refuse_both("block_size", "each_block_size")?;
    let block_sizes = match table.get("each_block_size") {
        Some(_) => Vec::new(),
        None => read_block_sizes(&table.require("block_size")?)?,
    };
    Ok(IoStep {
        id: table.read("id", Value::words)?,
        label: table.read("label", Value::words)?,
        directions: read_directions(table)?,
        read_percent: integer_or(table, "read_percent", 0..=100, 70)? as u8,
        pattern,
        thread_share: table.choice(
            "thread_share",
            &[("usual", ThreadShare::Usual), ("parts", ThreadShare::Parts), ("whole", ThreadShare::Whole)],
        )?,
        block_sizes,
        iodepth: integer_or(table, "iodepth", 1..=u64::from(MOST_IODEPTH), 1)? as u32,
        threads: integer_or(table, "threads", 1..=u64::from(MOST_THREADS), 1)? as u32,
        offset_bytes: table.read("offset", |value| value.parsed(parse_bytes))?.unwrap_or(0),
        span_bytes: size(table, "span")?,
        rewrite_every_reads: count("rewrite_every_reads")?,
        open_loop: read_open_loop(table)?,
        warm_up_ns: duration(table, "warm_up")?.unwrap_or(0),
        warm_up_passes: integer_or(table, "warm_up_passes", 0..=1000, 0)? as u32,
        end: End {
            time_ns: table.read("time", positive_duration)?,
            bytes: size(table, "bytes")?,
            passes: count("passes")?,
            time_check: read_time_check(table)?,
        },
        sync: SyncRule {
            o_sync: flag(table, "o_sync", false)?,
            every_writes: count("sync_every_writes")?,
            at_end: table.choice(
                "sync_at_end",
                &[("none", EndSync::None), ("timed", EndSync::Timed), ("untimed", EndSync::Untimed)],
            )?,
        },
        data: read_data(table)?,
    })
}

fn read_time_check(table: &DataTable<'_>) -> Result<TimeCheck> {
    let operations = integer_or(table, "time_check_operations", 1..=u64::from(u32::MAX), 1)? as u32;
    table.choice(
        "time_check",
        &[
            ("always", TimeCheck::Always),
            ("pass", TimeCheck::Pass),
            ("operations", TimeCheck::Operations(operations)),
        ],
    )
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

fn read_open_loop(table: &DataTable<'_>) -> Result<Option<OpenLoop>> {
    let arrival = table.choice("arrival", &[("even", Arrival::Even), ("poisson", Arrival::Poisson)])?;
    let Some(value) = table.get("rate_iops") else { return Ok(None) };
    let rate_iops = value.positive()?;
    if rate_iops > MOST_RATE_IOPS {
        return Err(value.error(&text!(
            "a rate is at most {MOST_RATE_IOPS} operations per second",
            "頻度は毎秒 {MOST_RATE_IOPS} 回までです"
        )));
    }
    Ok(Some(OpenLoop { rate_iops, arrival }))
}
