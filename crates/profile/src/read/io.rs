//! The reader of `io` steps. Preconditions use the same form.

use super::kit::{
    integer_or, keys, positive_duration, read_data, read_directions, read_each, refuse_idle,
    refuse_shared_name, size,
};
use kurabe_core::profile::IoStep;
use kurabe_core::profile::{OPTIONS, Overrides, block_sizes, parse_block_size};
use kurabe_core::workload::{Arrival, BlockSize, Direction, Pattern, TimeCheck};
use kurabe_core::{DataTable, Value};
use kurabe_core::{Result, quantity::parse_bytes, text, words::Keyword};

/// Keys of an `io` step besides those of options.
const IO_KEYS: &str = "kind id label directions each_read_percent pattern exponent block_size each_block_size \
    offset span arrival warm_up_passes time time_check time_check_operations data zero_percent beside gap skew \
    deviation_percent run span_percent offset_percent";

/// Returns a table with the keys of an `io` step.
pub(super) fn io_table<'f>(value: &Value<'f>) -> Result<DataTable<'f>> {
    let of_options = OPTIONS.iter().filter_map(|option| option.key);
    value.table(&keys(IO_KEYS).into_iter().chain(of_options).collect::<Vec<_>>())
}

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

/// Checks the keys of an `io` step that require or exclude another key.
fn refuse_idle_keys(table: &DataTable<'_>, step: &IoStep) -> Result<()> {
    for (one, other) in [
        ("read_percent", "each_read_percent"),
        ("blocks_in_order", "in_order_percent"),
        ("span", "span_percent"),
        ("offset", "span_percent"),
    ] {
        table.refuse_both(one, other)?;
    }
    for option in OPTIONS {
        if let (Some(key), Some((works, with))) = (option.key, option.needs) {
            refuse_idle(table, key, works(step), with)?;
        }
    }
    let mixes = step.directions.contains(&Direction::Mix);
    let is_counted = matches!(step.end.time_check, TimeCheck::Operations(_));
    for (key, works, with) in [
        ("each_read_percent", mixes, "`directions = [\"mix\"]`"),
        ("exponent", matches!(step.pattern, Pattern::Zipf { .. }), "`pattern = \"zipf\"`"),
        ("skew", matches!(step.pattern, Pattern::Pareto { .. }), "`pattern = \"pareto\"`"),
        ("deviation_percent", matches!(step.pattern, Pattern::Normal { .. }), "`pattern = \"normal\"`"),
        ("gap", matches!(step.pattern, Pattern::Strided { .. }), "`pattern = \"strided\"`"),
        ("run", matches!(step.pattern, Pattern::Strided { .. }), "`pattern = \"strided\"`"),
        ("offset_percent", step.span_percent.is_some(), "`span_percent`"),
        ("arrival", step.open_loop.is_some(), "`rate_iops`"),
        ("time_check_operations", is_counted, "`time_check = \"operations\"`"),
    ] {
        refuse_idle(table, key, works, with)?;
    }
    Ok(())
}

fn read_one_io(table: &DataTable<'_>) -> Result<IoStep> {
    let exponent = table.read("exponent", Value::positive)?.unwrap_or(1.1);
    let skew = table.read("skew", Value::positive)?.unwrap_or(0.2);
    if skew >= 1.0 {
        let value = table.require("skew")?;
        return Err(value.error(&text!("a share is below 1", "割合は 1 より小さい値です")));
    }
    let deviation_percent = table.read("deviation_percent", Value::positive)?.unwrap_or(10.0);
    let gap_bytes = table.read("gap", read_gap)?.unwrap_or(0);
    let run_bytes = size(table, "run")?;
    let pattern = table.require("pattern")?.choice(&[
        ("sequential", Pattern::Sequential),
        ("interleaved", Pattern::Interleaved),
        ("random", Pattern::Random),
        ("permutation", Pattern::Permutation),
        ("zipf", Pattern::Zipf { exponent }),
        ("pareto", Pattern::Pareto { skew }),
        ("normal", Pattern::Normal { deviation_percent }),
        ("strided", Pattern::Strided { run_bytes, gap_bytes }),
    ])?;
    table.refuse_both("block_size", "each_block_size")?;
    let sizes = match table.get("each_block_size") {
        Some(_) => Vec::new(),
        None => block_sizes(&table.require("block_size")?)?,
    };
    let offset_bytes = table.read("offset", |value| value.parsed(parse_bytes))?.unwrap_or(0);
    let mut step = IoStep {
        span_bytes: size(table, "span")?,
        span_percent: read_span_percent(table)?,
        warm_up_passes: integer_or(table, "warm_up_passes", 0..=1000, 0)? as u32,
        data: read_data(table)?,
        beside: table.read("beside", Value::boolean)?.unwrap_or(false),
        ..IoStep::plain(pattern, 4096, 1, read_directions(table)?)
    };
    (step.read_percent, step.block_sizes, step.offset_bytes) = (70, sizes, offset_bytes);
    Overrides::of_step(table)?.change_step(&mut step);
    let arrival = table.choice("arrival", Arrival::WORDS)?;
    if let Some(open_loop) = &mut step.open_loop {
        open_loop.arrival = arrival;
    }
    step.end.time_ns = table.read("time", positive_duration)?;
    step.end.time_check = read_time_check(table)?;
    step.id = table.read("id", Value::words)?;
    step.label = table.read("label", Value::words)?;
    Ok(step)
}

/// Reads the distance in bytes between two blocks. A negative distance counts back from the end of
/// the previous block.
fn read_gap(value: &Value<'_>) -> Result<i64> {
    let words = value.words()?;
    let (sign, size) = words.strip_prefix('-').map_or((1, words.as_str()), |size| (-1, size));
    value.parsed(|_| Ok(sign * parse_block_size(size).map(i64::from)?))
}

fn read_span_percent(table: &DataTable<'_>) -> Result<Option<(u8, u8)>> {
    let start = integer_or(table, "offset_percent", 0..=99, 0)? as u8;
    let length = table.read("span_percent", |value| value.integer(1..=100))?;
    Ok(length.map(|length| (start, length as u8)))
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
