//! The table of traces that were done again: all operations together, and reads, writes and syncs apart.
//!
//! The model: a trace has block sizes and a share of reads of its own, so its rate alone says little. Operations per
//! second and latencies stand beside it, for each kind of operation that it holds.

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::figures::Figures;
use crate::grid::GENERATOR_SIGN;
use crate::layout::tame;
use crate::spark::{course, sparkline};
use crate::style::{Role, Style};
use crate::words;
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, LatencyRecord, OpsRecord, Repetition};
use kurabe_core::text;
use kurabe_core::workload::OpKind;
use kurabe_stats::{figure, percentile_ns};

const COURSE_LENGTH: usize = 8;

/// Whether a cell is a trace that was done again.
pub(crate) fn is_here(cell: &Cell) -> bool {
    cell.imported.is_none() && cell.workload.is_none() && cell.part == "replay"
}

/// The table; empty without such cells.
pub(crate) fn render(cells: &[Cell], statistic: Statistic, style: &Style) -> Vec<String> {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| is_here(cell)).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let heads = [
        Column::left("").cut(Cut::End),
        Column::right(style.pick("rate", "速度")),
        Column::left("±"),
        Column::left("").cut(Cut::Drop),
        Column::right("IOPS"),
        Column::right("p50"),
        Column::right("p99.9"),
    ];
    let rows: Vec<Vec<Entry>> = cells.iter().flat_map(|cell| rows(cell, statistic, style)).collect();
    columns::render(&heads, &rows, 0, style)
}

/// The line of a cell, and below it one for each kind of operation, if there are several.
fn rows(cell: &Cell, statistic: Statistic, style: &Style) -> Vec<Vec<Entry>> {
    let figures = Figures::of(cell, statistic);
    let kinds: Vec<OpKind> = [OpKind::Read, OpKind::Write, OpKind::Sync]
        .into_iter()
        .filter(|kind| cell.counted().any(|repetition| side(repetition, *kind).completed > 0))
        .collect();
    let several = kinds.len() > 1;
    let mut sign: Vec<String> = figures.interval().into_iter().collect();
    sign.extend(figures.generator_bound.then(|| GENERATOR_SIGN.to_owned()));
    let name = if several { tame(&cell.label) } else { style.say(&words::cell(cell)) };
    let mut rows = vec![vec![
        plain(name),
        (Role::Strong, figures.main.map_or(number::NONE.to_owned(), |rate| number::rate(rate).to_string())),
        plain(sign.join(" ")),
        (Role::Course, sparkline(&course(cell), COURSE_LENGTH)),
        plain(figures.rate_iops.map_or(number::NONE.to_owned(), |rate| number::iops(rate).number)),
        plain(percentile(&figures.latency, 0.5)),
        plain(percentile(&figures.latency, 0.999)),
    ]];
    rows.extend(kinds.into_iter().filter(|_| several).map(|kind| kind_row(cell, kind, statistic, style)));
    if figures.failed > 0 {
        let failed = number::count(figures.failed);
        let words = style.say(&text!("  failed: {failed}", "  失敗: {failed} 件"));
        rows.push(vec![(Role::Bad, words)]);
    }
    rows
}

fn kind_row(cell: &Cell, kind: OpKind, statistic: Statistic, style: &Style) -> Vec<Entry> {
    let per_second = |amount: fn(&OpsRecord) -> u64| {
        let values: Vec<f64> = cell
            .counted()
            .map(|repetition| {
                amount(side(repetition, kind)) as f64 * 1e9 / repetition.elapsed_ns.max(1) as f64
            })
            .collect();
        figure(statistic, &values, true).unwrap_or(0.0)
    };
    let latencies: Vec<&LatencyRecord> =
        cell.counted().map(|repetition| &side(repetition, kind).latency).collect();
    let latency = LatencyRecord::together(latencies);
    let rate = match kind {
        OpKind::Sync => String::new(),
        OpKind::Read | OpKind::Write => number::rate(per_second(|side| side.bytes)).to_string(),
    };
    vec![
        (Role::Quiet, format!("  {}", style.say(&words::op_kind(kind)))),
        plain(rate),
        plain(""),
        plain(""),
        plain(number::iops(per_second(|side| side.completed)).number),
        plain(percentile(&latency, 0.5)),
        plain(percentile(&latency, 0.999)),
    ]
}

fn side(repetition: &Repetition, kind: OpKind) -> &OpsRecord {
    match kind {
        OpKind::Read => &repetition.read,
        OpKind::Write => &repetition.write,
        OpKind::Sync => &repetition.sync,
    }
}

fn percentile(latency: &LatencyRecord, fraction: f64) -> String {
    percentile_ns(latency, fraction).map_or(number::NONE.to_owned(), number::latency_ns)
}
