//! The table of replayed traces: all operations together, then reads, writes and syncs separately.
//!
//! The model: a trace has its own block sizes and share of reads, so its rate alone says little.
//! Therefore the table also has operations per second and latencies for each kind of operation.

use crate::run::figures::Figures;
use crate::run::table::{RunTable, TableKind};
use crate::{run::grid::GENERATOR_SIGN, words};
use kurabe_core::record::{Cell, LatencyRecord, OpsRecord, Repetition};
use kurabe_core::{Text, number, profile::Statistic, shown, text, workload::OpKind};
use kurabe_doc::spark::course;
use kurabe_doc::{Column, Cut, Doc, Entry, Role, Table, TableRow};
use kurabe_stats::{figure, percentile_ns};

const COURSE_COLUMNS: (usize, usize) = (8, 8);

/// Returns the table. Empty if there are no such cells.
pub(crate) fn doc(table: &RunTable<'_>) -> Doc {
    let rows: Vec<TableRow> = table.of_kind(TableKind::Replay).into_iter().flat_map(rows).collect();
    let columns = [
        Column::untitled().cut(Cut::End),
        Column::right(text!("rate", "速度")),
        Column::left(Text::same("±")),
        Column::untitled().cut(Cut::Drop),
        Column::right(Text::same("IOPS")),
        Column::right(Text::same("p50")),
        Column::right(Text::same("p99.9")),
    ];
    Some(Table::new(columns, rows)).filter(|table| !table.rows.is_empty()).into_iter().collect()
}

/// Returns the row of a cell and, if there are several kinds of operations, a row for each kind.
fn rows(figures: &Figures<'_>) -> Vec<TableRow> {
    let cell = figures.cell;
    let has = |kind: &OpKind| cell.counted().any(|repetition| repetition.side(*kind).completed > 0);
    let kinds: Vec<OpKind> = OpKind::ALL.into_iter().filter(has).collect();
    let several = kinds.len() > 1;
    let mut sign: Vec<String> = figures.interval().into_iter().collect();
    sign.extend(figures.generator_bound.then(|| GENERATOR_SIGN.to_owned()));
    let name = if several { shown::line(&cell.label).into() } else { words::cell(cell) };
    let first = [
        name.into(),
        Entry::figure(Role::Strong, figures.main.map(number::rate)),
        sign.join(" ").into(),
        Entry::course(course(cell), COURSE_COLUMNS),
        figures.rate_iops.map_or(number::NONE.to_owned(), |rate| number::iops(rate).number).into(),
        Entry::latency(figures.percentile_ns(0.5)),
        Entry::latency(figures.percentile_ns(0.999)),
    ];
    let below = kinds.into_iter().filter(|_| several).map(|kind| kind_row(cell, kind, figures.statistic));
    let mut rows: Vec<TableRow> = std::iter::once(first).chain(below).map(TableRow::from).collect();
    if figures.failed > 0 {
        let failed = number::count(figures.failed);
        rows.push([Entry::new(Role::Bad, text!("  failed: {failed}", "  失敗: {failed} 件"))].into());
    }
    rows
}

fn kind_row(cell: &Cell, kind: OpKind, statistic: Statistic) -> [Entry; 7] {
    let per_second = |amount: fn(&OpsRecord) -> u64| {
        let value = |one: &Repetition| amount(one.side(kind)) as f64 * 1e9 / one.elapsed_ns.max(1) as f64;
        let values: Vec<f64> = cell.counted().map(value).collect();
        figure(statistic, &values, true).unwrap_or(0.0)
    };
    let latency = LatencyRecord::together(cell.counted().map(|repetition| &repetition.side(kind).latency));
    let rate = match kind {
        OpKind::Sync => String::new(),
        _ => number::rate(per_second(|side| side.bytes)).to_string(),
    };
    [
        Entry::new(Role::Quiet, words::op_kind(kind).map(|kind| format!("  {kind}"))),
        rate.into(),
        Entry::default(),
        Entry::default(),
        number::iops(per_second(|side| side.completed)).number.into(),
        Entry::latency(percentile_ns(&latency, 0.5)),
        Entry::latency(percentile_ns(&latency, 0.999)),
    ]
}
