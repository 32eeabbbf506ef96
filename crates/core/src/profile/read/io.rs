//! The reader of `io` steps. Preconditions use the same form.

use super::{
    flag, integer_or, keys, parse_block_size, positive_duration, read_data, read_directions, read_each,
    refuse_idle, refuse_shared_name, size,
};
use crate::data_file::{DataTable, Value};
use crate::profile::{IoStep, Overrides};
use crate::workload::{
    AccessZone, Arrival, BlockSize, BlocksInOrder, Direction, Flow, LatencyTarget, Pattern, Processors,
    Thinking, ThreadShare, TimeCheck, Trims,
};
use crate::{error::Result, quantity::parse_bytes, text, words::Keyword};

/// Keys of an `io` step.
const IO_KEYS: &str = "kind id label directions read_percent each_read_percent pattern exponent \
    thread_share block_size each_block_size iodepth threads offset span rewrite_every_reads rate_iops \
    arrival warm_up warm_up_passes time time_check time_check_operations bytes passes o_sync \
    sync_every_writes sync_at_end data zero_percent beside start_delay think_time think_operations \
    write_block_size alignment zones gap skew deviation_percent data_only run blocks_in_order \
    in_order_percent flow flow_group latency_target latency_percentile latency_window ends_all \
    span_percent offset_percent trims processors processor_each";

/// The largest processor number that Linux supports.
const MOST_PROCESSOR: u64 = 8191;

/// Returns a table with the keys of an `io` step.
pub(super) fn io_table<'f>(value: &Value<'f>) -> Result<DataTable<'f>> {
    value.table(&keys(IO_KEYS))
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
    let mixes = step.directions.contains(&Direction::Mix);
    let is_counted = matches!(step.end.time_check, TimeCheck::Operations(_));
    for (key, works, with) in [
        ("read_percent", mixes, "`directions = [\"mix\"]`"),
        ("each_read_percent", mixes, "`directions = [\"mix\"]`"),
        ("rewrite_every_reads", mixes, "`directions = [\"mix\"]`"),
        ("exponent", matches!(step.pattern, Pattern::Zipf { .. }), "`pattern = \"zipf\"`"),
        ("skew", matches!(step.pattern, Pattern::Pareto { .. }), "`pattern = \"pareto\"`"),
        ("deviation_percent", matches!(step.pattern, Pattern::Normal { .. }), "`pattern = \"normal\"`"),
        ("gap", matches!(step.pattern, Pattern::Strided { .. }), "`pattern = \"strided\"`"),
        ("run", matches!(step.pattern, Pattern::Strided { .. }), "`pattern = \"strided\"`"),
        ("blocks_in_order", !step.pattern.is_sequential(), "`pattern = \"random\"`"),
        ("in_order_percent", !step.pattern.is_sequential(), "`pattern = \"random\"`"),
        ("flow_group", step.flow.is_some(), "`flow`"),
        ("latency_percentile", step.latency_target.is_some(), "`latency_target`"),
        ("latency_window", step.latency_target.is_some(), "`latency_target`"),
        ("latency_target", !step.beside, "a step of its own"),
        ("offset_percent", step.span_percent.is_some(), "`span_percent`"),
        ("zones", matches!(step.pattern, Pattern::Random), "`pattern = \"random\"`"),
        ("processor_each", step.processors.is_some(), "`processors`"),
        ("think_operations", step.thinking.is_some(), "`think_time`"),
        ("write_block_size", mixes, "`directions = [\"mix\"]`"),
        ("trims", step.directions == [Direction::Write], "`directions = [\"write\"]`"),
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
    let block_sizes = match table.get("each_block_size") {
        Some(_) => Vec::new(),
        None => read_block_sizes(&table.require("block_size")?)?,
    };
    let mut step = IoStep {
        read_percent: 70,
        thread_share: table.choice("thread_share", ThreadShare::WORDS)?,
        block_sizes,
        offset_bytes: table.read("offset", |value| value.parsed(parse_bytes))?.unwrap_or(0),
        span_bytes: size(table, "span")?,
        rewrite_every_reads: table
            .read("rewrite_every_reads", |value| value.integer(1..=u64::from(u32::MAX)))?
            .map(|count| count as u32),
        warm_up_passes: integer_or(table, "warm_up_passes", 0..=1000, 0)? as u32,
        data: read_data(table)?,
        beside: table.read("beside", Value::boolean)?.unwrap_or(false),
        start_delay_ns: table.read("start_delay", positive_duration)?.unwrap_or(0),
        thinking: read_thinking(table)?,
        write_block_sizes: table.read("write_block_size", read_block_sizes)?.unwrap_or_default(),
        alignment_bytes: table.read("alignment", |value| value.parsed(parse_block_size))?,
        zones: read_zones(table)?,
        in_order: read_in_order(table)?,
        flow: read_flow(table)?,
        latency_target: read_latency_target(table)?,
        ends_all: table.read("ends_all", Value::boolean)?.unwrap_or(false),
        span_percent: read_span_percent(table)?,
        processors: read_processors(table)?,
        trims: table.read("trims", |value| value.choice(Trims::WORDS))?,
        ..IoStep::plain(pattern, 4096, 1, read_directions(table)?)
    };
    Overrides::of_step(table)?.change_step(&mut step);
    let arrival = table.choice("arrival", Arrival::WORDS)?;
    if let Some(open_loop) = &mut step.open_loop {
        open_loop.arrival = arrival;
    }
    step.sync.data_only = table.read("data_only", Value::boolean)?.unwrap_or(false);
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

fn read_thinking(table: &DataTable<'_>) -> Result<Option<Thinking>> {
    let every_operations = integer_or(table, "think_operations", 1..=u64::from(u32::MAX), 1)? as u32;
    Ok(table.read("think_time", positive_duration)?.map(|time_ns| Thinking { time_ns, every_operations }))
}

fn read_in_order(table: &DataTable<'_>) -> Result<Option<BlocksInOrder>> {
    let blocks = table.read("blocks_in_order", |value| value.integer(2..=u64::from(u32::MAX)))?;
    let percent = table.read("in_order_percent", |value| value.integer(1..=99))?;
    let blocks = blocks.map(|blocks| BlocksInOrder::Blocks(blocks as u32));
    Ok(blocks.or(percent.map(|percent| BlocksInOrder::Percent(percent as u8))))
}

fn read_flow(table: &DataTable<'_>) -> Result<Option<Flow>> {
    let group = integer_or(table, "flow_group", 0..=u64::from(u32::MAX), 0)? as u32;
    let weight = table.read("flow", |value| value.integer(1..=1000))?;
    Ok(weight.map(|weight| Flow { weight: weight as u32, group }))
}

fn read_latency_target(table: &DataTable<'_>) -> Result<Option<LatencyTarget>> {
    let percentile = table.read("latency_percentile", Value::positive)?.unwrap_or(LatencyTarget::PERCENTILE);
    if percentile > 100.0 {
        let value = table.require("latency_percentile")?;
        return Err(value.error(&text!("a percentile is at most 100", "パーセンタイルは 100 までです")));
    }
    let window_ns = table.read("latency_window", positive_duration)?.unwrap_or(LatencyTarget::WINDOW_NS);
    let latency_ns = table.read("latency_target", positive_duration)?;
    Ok(latency_ns.map(|latency_ns| LatencyTarget { latency_ns, percentile, window_ns }))
}

fn read_processors(table: &DataTable<'_>) -> Result<Option<Processors>> {
    let numbers = table.each("processors", |value| Ok(value.integer(0..=MOST_PROCESSOR)? as u32))?;
    let one_each = flag(table, "processor_each", false)?;
    Ok(Some(Processors { numbers, one_each }).filter(|processors| !processors.numbers.is_empty()))
}

fn read_span_percent(table: &DataTable<'_>) -> Result<Option<(u8, u8)>> {
    let start = integer_or(table, "offset_percent", 0..=99, 0)? as u8;
    let length = table.read("span_percent", |value| value.integer(1..=100))?;
    Ok(length.map(|length| (start, length as u8)))
}

/// Reads the zones of the span, each as `[accesses, span]` in percent. Both must add up to 100.
fn read_zones(table: &DataTable<'_>) -> Result<Vec<AccessZone>> {
    let Some(list) = table.get("zones") else { return Ok(Vec::new()) };
    let zones = list.each(|zone| match zone.elements().as_slice() {
        [access, span] => Ok(AccessZone {
            access_percent: access.integer(0..=100)? as u8,
            span_percent: span.integer(1..=100)? as u8,
        }),
        _ => Err(zone.error(&text!(
            "a zone is [percent of the accesses, percent of the span]",
            "領域は [アクセスの割合, 範囲の割合](%)です"
        ))),
    })?;
    match AccessZone::are_whole(&zones) {
        true => Ok(zones),
        false => Err(list.error(&text!(
            "accesses and spans of all zones are 100 percent each",
            "アクセスと範囲の割合は、それぞれ合計 100 % にしてください"
        ))),
    }
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
            value.error(&text!("at least one block size is needed", "ブロックサイズが 1 つ以上必要です"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::OPTIONS;

    #[test]
    fn keys_of_options_are_keys_of_a_step() {
        for key in OPTIONS.iter().filter_map(|option| option.key) {
            assert!(IO_KEYS.split(' ').any(|known_key| known_key == key), "{key}");
        }
    }
}
