//! Runs as tidy tables: their names and columns.
//!
//! The model: a line is a place in a record (a run, a cell, a repetition, …), and a column is a
//! function of lines with a name that ends in its unit. Columns are described only here, and in words
//! in `columns.txt`. CSV and Parquet are ways to write lines, and docs/scale.md lists the columns.
//! Unknown values are absent, never 0. Tables are joined by `run`, which is globally unique, and by the
//! indices under it.
//!
//! # To add a column
//!
//! - Add its line here, with its unit in its name, and its meaning in `columns.txt` in both languages.
//!   A test writes docs/scale.md.
//! - CSV contains it only if its name is in `csv.rs`.

use super::facts::{device, printed_mean_latency, shape, source, tool};
use super::lines::{
    Line, cell_lines, cell_statistic, interval_lines, operation_lines, percentile_lines, repetition_lines,
    repetition_statistic, run_lines, value,
};
use ColumnOf::{Flag, Number, Whole, Words};
use kurabe_core::imported::Quantity;
use kurabe_core::record::{Measure, RunRecord};
use kurabe_core::{Text, workload::Direction};
use kurabe_stats::{CellFlush, FlushFigures, cell_flush, cell_iops, cell_mean_latency_ns, rate_iops};

/// Type of a column, with the function that returns its value for a line.
pub(super) enum ColumnOf {
    Words(fn(&Line<'_>) -> Option<String>),
    Whole(fn(&Line<'_>) -> Option<u64>),
    /// Finite, or `None`.
    Number(fn(&Line<'_>) -> Option<f64>),
    Flag(fn(&Line<'_>) -> Option<bool>),
}

/// A column of a table: its name, which ends in its unit, and its values.
pub struct TableColumn(pub &'static str, pub(super) ColumnOf);

/// A table of the export, with one kind of line.
pub struct ExportTable {
    /// Name of the table, and of its file without the extension.
    pub name: &'static str,
    /// Columns in the order of the file.
    pub columns: &'static [TableColumn],
    /// Passes on the lines of the table for a run.
    #[cfg_attr(not(feature = "tables"), allow(dead_code, reason = "CSV has one table of its own"))]
    pub(super) lines: fn(&RunRecord, EachLine<'_>),
}

type EachLine<'e> = &'e mut dyn FnMut(&Line<'_>);

/// All tables of the export, from runs down to intervals.
pub const EXPORT_TABLES: [ExportTable; 6] = [
    ExportTable { name: "runs", columns: &RUNS, lines: run_lines },
    ExportTable { name: "cells", columns: &CELLS, lines: cell_lines },
    ExportTable { name: "repetitions", columns: &REPETITIONS, lines: repetition_lines },
    ExportTable { name: "percentiles", columns: &PERCENTILES, lines: percentile_lines },
    ExportTable { name: "series", columns: &SERIES, lines: interval_lines },
    ExportTable { name: "operations", columns: &OPERATIONS, lines: operation_lines },
];

const RUN: TableColumn = TableColumn("run", Words(|line| known(&line.run.header.identity)));
const CELL_INDEX: TableColumn = TableColumn("cell_index", Whole(|line| Some(line.cell?.index.into())));
const REPETITION_INDEX: TableColumn =
    TableColumn("repetition_index", Whole(|line| Some(line.repetition?.index.into())));

const RUNS: [TableColumn; 13] = [
    RUN,
    TableColumn("run_id", Words(|line| known(&line.run.header.id))),
    TableColumn("started_at", Words(|line| known(line.run.header.measured_at()))),
    TableColumn("ended_at", Words(|line| line.run.ended_at.clone())),
    TableColumn("status", Words(|line| known(serde_json::to_value(line.run.status).ok()?.as_str()?))),
    TableColumn("source", Words(|line| known(source(line.run, line.cell)))),
    TableColumn("tool", Words(|line| known(&tool(line.run)))),
    TableColumn("profile", Words(|line| known(&line.run.header.profile.as_ref()?.name))),
    TableColumn("target", Words(|line| known(line.run.header.target_name()))),
    TableColumn("device", Words(|line| known(&device(line.run)))),
    TableColumn("file_system", Words(|line| line.run.header.environment.file_system.as_ref()?.kind.clone())),
    TableColumn("kernel", Words(|line| line.run.header.environment.machine.kernel.clone())),
    TableColumn("labels", Words(|line| serde_json::to_string(&line.run.labels).ok())),
];

const CELLS: [TableColumn; 28] = [
    RUN,
    CELL_INDEX,
    TableColumn("step", Words(|line| known(line.named()?))),
    TableColumn("part", Words(|line| known(&line.cell?.part))),
    TableColumn("direction", Words(|line| known(line.cell?.direction.map(Direction::word)?))),
    TableColumn("block_bytes", Whole(|line| shape(line.run, line.cell?).block_bytes)),
    TableColumn("iodepth", Whole(|line| shape(line.run, line.cell?).iodepth.map(u64::from))),
    TableColumn("threads", Whole(|line| shape(line.run, line.cell?).threads.map(u64::from))),
    TableColumn("engine", Words(|line| known(line.cell?.engine.as_ref()?.name.word()))),
    TableColumn("repetitions_counted", Whole(|line| Some(line.cell?.counted().count() as u64))),
    TableColumn("measure", Words(|line| known(line.measure()?))),
    TableColumn("statistic", Words(cell_statistic)),
    TableColumn("rate_bytes_per_s", Number(|line| line.cell_figure(Measure::Rate, Quantity::Rate))),
    TableColumn("iops", Number(cell_iops_of)),
    TableColumn("access_time_ns", Number(|line| line.cell_figure(Measure::AccessTime, Quantity::Latency))),
    TableColumn("elapsed_ns", Number(|line| line.cell_figure(Measure::Duration, Quantity::Duration))),
    TableColumn("latency_ns_mean", Number(cell_latency_of)),
    TableColumn("latency_ns_p50", Number(|line| line.percentile(50.0))),
    TableColumn("latency_ns_p99", Number(|line| line.percentile(99.0))),
    TableColumn("latency_ns_p999", Number(|line| line.percentile(99.9))),
    TableColumn("latency_ns_max", Number(|line| line.percentile(100.0))),
    TableColumn("flush_call", Words(|line| known(call_word(flush(line)?)))),
    TableColumn("flush_included", Flag(|line| Some(matches!(flush(line)?, CellFlush::Included(_))))),
    TableColumn("flush_ns_mean", Number(|line| Some(separate_flush(line)?.mean_ns))),
    TableColumn("flush_ns_p50", Number(|line| Some(separate_flush(line)?.p50_ns))),
    TableColumn("flush_ns_p99", Number(|line| Some(separate_flush(line)?.p99_ns))),
    TableColumn("flush_share", Number(|line| separate_flush(line)?.share)),
    TableColumn("derived", Number(|line| Some(line.score?.value))),
];

const REPETITIONS: [TableColumn; 22] = [
    RUN,
    CELL_INDEX,
    REPETITION_INDEX,
    TableColumn("discarded", Flag(|line| Some(line.repetition?.discarded))),
    TableColumn("started_ns", Whole(|line| Some(line.repetition?.started_ns))),
    TableColumn("statistic", Words(repetition_statistic)),
    TableColumn("rate_bytes_per_s", Number(|line| line.repetition_figure(Measure::Rate))),
    TableColumn(
        "iops",
        Number(|line| line.moved().and(Some(rate_iops(line.repetition?, line.cell?.direction)))),
    ),
    TableColumn("access_time_ns", Number(|line| line.repetition_figure(Measure::AccessTime))),
    TableColumn("elapsed_ns", Number(|line| Some(line.repetition?.elapsed_ns as f64))),
    TableColumn("latency_ns_mean", Number(|line| line.latency.mean_ns())),
    TableColumn("latency_ns_p50", Number(|line| line.percentile(50.0))),
    TableColumn("latency_ns_p99", Number(|line| line.percentile(99.0))),
    TableColumn("latency_ns_p999", Number(|line| line.percentile(99.9))),
    TableColumn("latency_ns_max", Number(|line| line.percentile(100.0))),
    TableColumn("bytes", Whole(|line| Some(line.moved()?.0))),
    TableColumn("operations", Whole(|line| Some(line.moved()?.1))),
    TableColumn("failed", Whole(|line| Some(line.repetition?.failed()))),
    TableColumn("stalls", Whole(|line| Some(line.repetition?.stall_count))),
    TableColumn("cpu_user_ns", Whole(|line| Some(line.repetition?.cpu.user_ns))),
    TableColumn("cpu_system_ns", Whole(|line| Some(line.repetition?.cpu.system_ns))),
    TableColumn("generator_bound", Flag(|line| Some(line.repetition?.generator_bound))),
];

const PERCENTILES: [TableColumn; 7] = [
    RUN,
    CELL_INDEX,
    REPETITION_INDEX,
    TableColumn("op", Words(|line| known(line.percentile?.0))),
    TableColumn("percentile", Number(|line| Some(line.percentile?.1))),
    TableColumn("latency_ns", Number(|line| line.percentile(line.percentile?.1))),
    TableColumn("count", Whole(|line| Some(line.latency.count))),
];

const SERIES: [TableColumn; 11] = [
    RUN,
    CELL_INDEX,
    REPETITION_INDEX,
    TableColumn("interval_index", Whole(|line| Some(line.interval?.index))),
    TableColumn("at_ns", Whole(|line| Some(line.interval?.at_ns))),
    TableColumn("read_bytes", Whole(|line| Some(line.interval?.seen.read_bytes))),
    TableColumn("read_operations", Whole(|line| Some(line.interval?.seen.read_operations.into()))),
    TableColumn("read_worst_ns", Whole(|line| Some(line.interval?.seen.read_worst_ns))),
    TableColumn("write_bytes", Whole(|line| Some(line.interval?.seen.write_bytes))),
    TableColumn("write_operations", Whole(|line| Some(line.interval?.seen.write_operations.into()))),
    TableColumn("write_worst_ns", Whole(|line| Some(line.interval?.seen.write_worst_ns))),
];

const OPERATIONS: [TableColumn; 8] = [
    RUN,
    CELL_INDEX,
    REPETITION_INDEX,
    TableColumn("operation_index", Whole(|line| Some(line.operation?.0 as u64))),
    TableColumn("kind", Words(|line| known(line.operation?.1))),
    TableColumn("offset_bytes", Whole(|line| Some(line.operation?.2.offset_bytes))),
    TableColumn("length_bytes", Whole(|line| Some(line.operation?.2.bytes))),
    TableColumn("operation_ns", Whole(|line| Some(line.operation?.2.elapsed_ns))),
];

/// Returns the description of a column, or of the lines of a table for `table NAME`. Empty if it is
/// missing.
pub fn described(name: &str) -> Text {
    let entry = |line: &str| {
        line.split_once(": ")
            .filter(|(own, _)| *own == name)?
            .1
            .split_once(" | ")
            .map(|(en, ja)| Text::of(en, ja))
    };
    include_str!("columns.txt").lines().find_map(entry).unwrap_or_default()
}

impl TableColumn {
    /// Returns the type of the values, as DuckDB names it.
    pub fn kind(&self) -> &'static str {
        match self.1 {
            Words(_) => "VARCHAR",
            Whole(_) => "UBIGINT",
            Number(_) => "DOUBLE",
            Flag(_) => "BOOLEAN",
        }
    }

    /// Returns the unit of the values, according to the column name.
    pub fn unit(&self) -> Option<&'static str> {
        const UNITS: [(&str, &str); 5] = [
            ("bytes_per_s", "bytes/s"),
            ("iops", "1/s"),
            ("_ns", "ns"),
            ("bytes", "bytes"),
            ("percentile", "%"),
        ];
        UNITS.iter().find(|(word, _)| self.0.contains(word)).map(|(_, unit)| *unit)
    }
}

fn known(words: &(impl AsRef<str> + ?Sized)) -> Option<String> {
    Some(words.as_ref().to_owned()).filter(|words| !words.is_empty())
}

/// Returns how the writes of a cell become durable. The flushes of single repetitions are not listed.
fn flush(line: &Line<'_>) -> Option<CellFlush> {
    cell_flush(line.cell.filter(|_| line.score.is_none() && line.repetition.is_none())?)
}

fn separate_flush(line: &Line<'_>) -> Option<FlushFigures> {
    match flush(line)? {
        CellFlush::Separate(figures) => Some(figures),
        CellFlush::Included(_) => None,
    }
}

fn call_word(flush: CellFlush) -> &'static str {
    let call = match flush {
        CellFlush::Separate(figures) => figures.call,
        CellFlush::Included(call) => call,
    };
    call.name().unwrap_or("other")
}

fn cell_iops_of(line: &Line<'_>) -> Option<f64> {
    match line.imported() {
        Some(imported) => value(imported, Quantity::Iops),
        None => cell_iops(line.cell?, line.run.header.statistic()),
    }
}

fn cell_latency_of(line: &Line<'_>) -> Option<f64> {
    match line.imported() {
        Some(imported) => Some(printed_mean_latency(imported)?.value),
        None => cell_mean_latency_ns(line.cell?, line.run.header.statistic()),
    }
}
