//! The table of cells whose figure is a time, and of those that are neither reads nor writes: copies, programs.

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::figures::Figures;
use crate::style::{Role, Style};
use crate::{replay, sweep, words};
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::{Cell, CpuUse, Measure, Traffic};
use kurabe_core::text;
use kurabe_core::workload::Direction;
use kurabe_stats::rate_bytes_per_s;
use std::num::NonZeroU64;

/// Whether a cell belongs here.
pub(crate) fn is_here(cell: &Cell) -> bool {
    let is_time = cell.measure == Measure::Duration || cell.direction.is_none();
    cell.imported.is_none() && is_time && !replay::is_here(cell)
}

/// The tables: the times, and what reached the device meanwhile. Empty without such cells.
pub(crate) fn render(cells: &[Cell], statistic: Statistic, style: &Style) -> Vec<String> {
    let cells: Vec<&Cell> =
        cells.iter().filter(|cell| is_here(cell) && !sweep::is_here(cell, cells)).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let all_times = cells.iter().all(|cell| cell.measure == Measure::Duration);
    let heads = [
        Column::left("").cut(Cut::End),
        Column::right(if all_times { style.pick("time", "時間") } else { style.pick("figure", "値") }),
        Column::right(style.pick("mean", "平均")),
        Column::right("±"),
        Column::right(style.pick("user", "ユーザー")),
        Column::right(style.pick("system", "システム")),
        Column::right(style.pick("rate", "速度")).cut(Cut::Drop),
    ];
    let rows: Vec<Vec<Entry>> = cells.iter().map(|cell| row(cell, statistic, style)).collect();
    let mut lines = columns::render(&heads, &rows, 0, style);
    let traffic: Vec<Vec<Entry>> = cells.iter().filter_map(|cell| device(cell, style)).collect();
    if !traffic.is_empty() {
        let requests = style.pick("requests", "要求");
        let heads = [
            Column::left(style.pick("at the device", "デバイスでの入出力")).cut(Cut::End),
            Column::right(style.pick("read", "読み出し")),
            Column::right(requests).cut(Cut::DropFirst),
            Column::right(style.pick("written", "書き込み")),
            Column::right(requests).cut(Cut::DropFirst),
            Column::right(style.pick("at once", "同時に")).cut(Cut::Drop),
        ];
        lines.push(String::new());
        lines.extend(columns::render(&heads, &traffic, 0, style));
    }
    lines
}

fn row(cell: &Cell, statistic: Statistic, style: &Style) -> Vec<Entry> {
    let figures = Figures::of(cell, statistic);
    let figure = |value: Option<f64>| {
        value.map_or_else(|| number::NONE.to_owned(), |value| figures.value(value).to_string())
    };
    let several = figures.counted > 1;
    let mean = figures.mean.filter(|_| several && statistic != Statistic::Mean).map(|mean| mean.mean);
    let bytes = cell.counted().any(|repetition| repetition.bytes(Direction::Mix) > 0);
    let rate = (cell.measure == Measure::Duration && bytes).then(|| {
        let rates: Vec<f64> =
            cell.counted().map(|repetition| rate_bytes_per_s(repetition, cell.direction)).collect();
        number::rate(rates.iter().sum::<f64>() / rates.len().max(1) as f64).to_string()
    });
    let (user, system) = program_cpu(cell).unwrap_or_default();
    vec![
        plain(style.say(&words::label(cell))),
        (Role::Strong, figure(figures.main)),
        plain(mean.map(|mean| figure(Some(mean))).unwrap_or_default()),
        plain(figures.interval().filter(|_| several).unwrap_or_default()),
        plain(user),
        plain(system),
        plain(rate.unwrap_or_default()),
    ]
}

/// Whether a cell is a timed program.
pub(crate) fn is_program(cell: &Cell) -> bool {
    cell.engine.is_none() && cell.direction.is_none() && cell.measure == Measure::Duration
}

/// User and system time of a program, the mean of its repetitions.
fn program_cpu(cell: &Cell) -> Option<(String, String)> {
    let count = NonZeroU64::new(cell.counted().count() as u64).filter(|_| is_program(cell))?;
    let mean = |of: fn(&CpuUse) -> u64| {
        let sum = cell.counted().map(|repetition| of(&repetition.cpu)).fold(0, u64::saturating_add);
        number::latency_ns(sum / count)
    };
    Some((mean(|cpu| cpu.user_ns), mean(|cpu| cpu.system_ns)))
}

/// What reached the device in the counted repetitions, summed up.
struct AtDevice {
    repetitions: NonZeroU64,
    elapsed_ns: u64,
    sum: Traffic,
}

impl AtDevice {
    fn of(cell: &Cell) -> Option<Self> {
        let traffic: Vec<(&Traffic, u64)> = cell
            .counted()
            .filter_map(|repetition| Some((repetition.traffic.as_ref()?, repetition.elapsed_ns)))
            .collect();
        let sum = |of: fn(&Traffic) -> u64| {
            traffic.iter().map(|(traffic, _)| of(traffic)).fold(0, u64::saturating_add)
        };
        Some(Self {
            repetitions: NonZeroU64::new(traffic.len() as u64)?,
            elapsed_ns: traffic.iter().map(|(_, elapsed_ns)| *elapsed_ns).fold(0, u64::saturating_add),
            sum: Traffic {
                read_operations: sum(|traffic| traffic.read_operations),
                read_bytes: sum(|traffic| traffic.read_bytes),
                write_operations: sum(|traffic| traffic.write_operations),
                write_bytes: sum(|traffic| traffic.write_bytes),
            },
        })
    }

    /// The mean of a sum over the repetitions.
    fn mean(&self, sum: u64) -> u64 {
        (sum as f64 / self.repetitions.get() as f64).round() as u64
    }

    /// The rates of reads and writes, if there were both.
    fn rates(&self) -> Option<String> {
        let rate = |bytes: u64| number::rate(bytes as f64 * 1e9 / self.elapsed_ns as f64);
        let (read, written) = (self.sum.read_bytes, self.sum.write_bytes);
        (read > 0 && written > 0 && self.elapsed_ns > 0)
            .then(|| format!("{} + {}", rate(read).number, rate(written)))
    }
}

/// `393.2 + 391.8 MB/s`: the rates of reads and writes at the device, if there were both.
pub(crate) fn rates_at_device(cell: &Cell) -> Option<String> {
    AtDevice::of(cell)?.rates()
}

/// What reached the device, on average, and at which rates if it was both read and written; nothing of copies that
/// did not reach it.
fn device(cell: &Cell, style: &Style) -> Option<Vec<Entry>> {
    let at = AtDevice::of(cell)?;
    if at.sum.read_bytes == 0 && at.sum.write_bytes == 0 && !is_program(cell) {
        return None;
    }
    let bytes = |sum: u64| match sum {
        0 => number::NONE.to_owned(),
        sum => format_bytes_decimal(at.mean(sum)),
    };
    let requests = |sum: u64| match sum {
        0 => String::new(),
        sum => number::count(at.mean(sum)),
    };
    let rates = at.rates().filter(|_| cell.direction.is_some());
    Some(vec![
        plain(style.say(&words::label(cell))),
        plain(bytes(at.sum.read_bytes)),
        plain(requests(at.sum.read_operations)),
        plain(bytes(at.sum.write_bytes)),
        plain(requests(at.sum.write_operations)),
        plain(rates.unwrap_or_default()),
    ])
}

/// What reached the device, in words for the details; empty if nothing did, or if it is not known.
pub(crate) fn device_words(cell: &Cell, style: &Style) -> Vec<String> {
    let Some(at) = AtDevice::of(cell) else { return Vec::new() };
    let sides = [
        (style.pick("read", "読み出し"), at.sum.read_bytes, at.sum.read_operations),
        (style.pick("written", "書き込み"), at.sum.write_bytes, at.sum.write_operations),
    ];
    sides
        .into_iter()
        .filter(|(_, bytes, _)| *bytes > 0)
        .map(|(side, bytes, operations)| {
            let (bytes, requests) =
                (format_bytes_decimal(at.mean(bytes)), number::count(at.mean(operations)));
            style.say(&text!("{side} {bytes} in {requests} requests", "{side} {bytes} (要求 {requests} 件)"))
        })
        .collect()
}

/// The heading of a cell in details: `write · RND 4 KiB Q1 T1`.
pub(crate) fn title(cell: &Cell, style: &Style) -> String {
    let (name, label) = (style.say(&words::cell(cell)), style.say(&words::label(cell)));
    match cell.direction {
        Some(direction) if name != label && cell.label != direction.word() => {
            format!("{} · {label}", style.say(&words::direction(direction)))
        }
        _ => name,
    }
}
