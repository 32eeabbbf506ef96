//! The table of traces that were done again: all operations together, and reads, writes and syncs apart.
//!
//! The model: a trace has block sizes and a share of reads of its own, so its rate alone says little. Operations per
//! second and latencies stand beside it, for each kind of operation that it holds.

use crate::doc::spark::course;
use crate::doc::{Column, Cut, Doc, Entry, Role, Table, TableRow};
use crate::run::figures::{Figures, side};
use crate::run::grid::GENERATOR_SIGN;
use crate::words;
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, LatencyRecord, OpsRecord};
use kurabe_core::workload::OpKind;
use kurabe_core::{Text, shown, text};
use kurabe_stats::{figure, percentile_ns};

const COURSE_LENGTH: usize = 8;

/// Whether a cell is a trace that was done again.
pub(crate) fn is_here(cell: &Cell) -> bool {
    cell.imported.is_none() && cell.workload.is_none() && cell.part == "replay"
}

/// The table; empty without such cells.
pub(crate) fn doc(cells: &[Cell], statistic: Statistic) -> Doc {
    let rows: Vec<TableRow> =
        cells.iter().filter(|cell| is_here(cell)).flat_map(|cell| rows(cell, statistic)).collect();
    let columns = [
        Column::untitled().cut(Cut::End),
        Column::right(text!("rate", "速度")),
        Column::left(Text::same("±")),
        Column::untitled().cut(Cut::Drop),
        Column::right(Text::same("IOPS")),
        Column::right(Text::same("p50")),
        Column::right(Text::same("p99.9")),
    ];
    let mut doc = Doc::new();
    if !rows.is_empty() {
        doc.push(Table::new(columns, rows));
    }
    doc
}

/// The row of a cell, and below it one for each kind of operation, if there are several.
fn rows(cell: &Cell, statistic: Statistic) -> Vec<TableRow> {
    let figures = Figures::of(cell, statistic);
    let kinds: Vec<OpKind> = [OpKind::Read, OpKind::Write, OpKind::Sync]
        .into_iter()
        .filter(|kind| cell.counted().any(|repetition| side(repetition, *kind).completed > 0))
        .collect();
    let several = kinds.len() > 1;
    let mut sign: Vec<String> = figures.interval().into_iter().collect();
    sign.extend(figures.generator_bound.then(|| GENERATOR_SIGN.to_owned()));
    let name = if several { shown::line(&cell.label).into() } else { words::cell(cell) };
    let mut rows: Vec<TableRow> = vec![
        [
            name.into(),
            Entry::figure(Role::Strong, figures.main.map(number::rate)),
            sign.join(" ").into(),
            Entry::course(course(cell), COURSE_LENGTH),
            figures.rate_iops.map_or(number::NONE.to_owned(), |rate| number::iops(rate).number).into(),
            percentile(&figures.latency, 0.5).into(),
            percentile(&figures.latency, 0.999).into(),
        ]
        .into(),
    ];
    rows.extend(kinds.into_iter().filter(|_| several).map(|kind| kind_row(cell, kind, statistic).into()));
    if figures.failed > 0 {
        let failed = number::count(figures.failed);
        rows.push([Entry::new(Role::Bad, text!("  failed: {failed}", "  失敗: {failed} 件"))].into());
    }
    rows
}

fn kind_row(cell: &Cell, kind: OpKind, statistic: Statistic) -> [Entry; 7] {
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
    [
        Entry::new(Role::Quiet, words::op_kind(kind).map(|kind| format!("  {kind}"))),
        rate.into(),
        Entry::default(),
        Entry::default(),
        number::iops(per_second(|side| side.completed)).number.into(),
        percentile(&latency, 0.5).into(),
        percentile(&latency, 0.999).into(),
    ]
}

fn percentile(latency: &LatencyRecord, fraction: f64) -> String {
    percentile_ns(latency, fraction).map_or(number::NONE.to_owned(), number::latency_ns)
}
