//! The table of cells whose figure is a time, and of cells that are neither reads nor writes:
//! copies, programs.

use crate::run::table::{RunTable, TableKind};
use crate::{run::figures::Figures, words};
use kurabe_core::record::{Cell, CpuUse, Measure, Traffic};
use kurabe_core::{Text, number, quantity::format_bytes_decimal, text, workload::Direction};
use kurabe_doc::{Column, Cut, Doc, Entry, Role, Table};
use kurabe_stats::rate_bytes_per_s;
use std::num::NonZeroU64;

/// Returns two tables: the times, and the device traffic during these cells. Empty if there are no
/// such cells.
pub(crate) fn doc(table: &RunTable<'_>) -> Doc {
    let cells = table.of_kind(TableKind::Times);
    let mut doc = Doc::new();
    if cells.is_empty() {
        return doc;
    }
    let all_times = cells.iter().all(|figures| figures.cell.measure == Measure::Duration);
    let figure = if all_times { text!("time", "時間") } else { text!("figure", "値") };
    let cpu = |figures: &Figures<'_>| program_cpu(figures.cell).unwrap_or_default();
    let table = Table::of(&cells)
        .cut(Cut::End, Text::default(), |figures| words::label(figures.cell))
        .right(figure, |figures| Entry::figure(Role::Strong, figures.main_figure()))
        .right(text!("mean", "平均"), |figures| {
            let mean = figures.mean.filter(|_| figures.chosen().is_some());
            mean.map(|mean| figures.value(mean.mean).to_string()).unwrap_or_default()
        })
        .right(Text::same("±"), |figures| {
            figures.interval().filter(|_| figures.counted > 1).unwrap_or_default()
        })
        .right(text!("user", "ユーザー"), |figures| cpu(figures).0)
        .right(text!("system", "システム"), |figures| cpu(figures).1)
        .column(Column::right(text!("rate", "速度")).cut(Cut::Drop), |figures| rate(figures.cell));
    doc.push(table.table());
    let traffic: Vec<_> = cells.iter().filter_map(|figures| device(figures.cell)).collect();
    if !traffic.is_empty() {
        let requests = text!("requests", "要求");
        let table = Table::of(&traffic)
            .cut(Cut::End, text!("at the device", "デバイスでの入出力"), |(cell, _)| {
                words::label(cell)
            })
            .right(text!("read", "読み出し"), |(_, at)| at.bytes(at.sum.read_bytes))
            .column(Column::right(requests.clone()).cut(Cut::DropFirst), |(_, at)| {
                at.requests(at.sum.read_operations)
            })
            .right(text!("written", "書き込み"), |(_, at)| at.bytes(at.sum.write_bytes))
            .column(Column::right(requests).cut(Cut::DropFirst), |(_, at)| {
                at.requests(at.sum.write_operations)
            })
            .column(Column::right(text!("at once", "同時に")).cut(Cut::Drop), |(cell, at)| {
                at.rates().filter(|_| cell.direction.is_some()).unwrap_or_default()
            });
        doc.gap().push(table.table());
    }
    doc
}

/// Returns the mean transfer rate of a copy. Empty if the rate is the figure itself.
fn rate(cell: &Cell) -> String {
    let bytes = cell.counted().any(|repetition| repetition.bytes(Direction::Mix) > 0);
    if cell.measure != Measure::Duration || !bytes {
        return String::new();
    }
    let rates: Vec<f64> =
        cell.counted().map(|repetition| rate_bytes_per_s(repetition, cell.direction)).collect();
    number::rate(rates.iter().sum::<f64>() / rates.len().max(1) as f64).to_string()
}

/// Checks whether a cell is a timed program.
pub(crate) fn is_program(cell: &Cell) -> bool {
    cell.engine.is_none() && cell.direction.is_none() && cell.measure == Measure::Duration
}

/// Returns the user and system time of a program, as means over its repetitions.
fn program_cpu(cell: &Cell) -> Option<(String, String)> {
    let count = NonZeroU64::new(cell.counted().count() as u64).filter(|_| is_program(cell))?;
    let mean = |of: fn(&CpuUse) -> u64| {
        let sum = cell.counted().map(|repetition| of(&repetition.cpu)).fold(0, u64::saturating_add);
        number::latency_ns(sum / count)
    };
    Some((mean(|cpu| cpu.user_ns), mean(|cpu| cpu.system_ns)))
}

/// Device traffic during the counted repetitions, as a sum.
struct AtDevice {
    repetitions: NonZeroU64,
    elapsed_ns: u64,
    sum: Traffic,
}

impl AtDevice {
    fn of(cell: &Cell) -> Option<Self> {
        let traffic = cell.counted().filter_map(|one| Some((one.traffic?, one.elapsed_ns)));
        let traffic: Vec<(Traffic, u64)> = traffic.collect();
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

    /// Returns the mean of a sum over the repetitions.
    fn mean(&self, sum: u64) -> u64 {
        (sum as f64 / self.repetitions.get() as f64).round() as u64
    }

    /// Formats the mean number of bytes, or the placeholder if there are none.
    fn bytes(&self, sum: u64) -> String {
        if sum == 0 { number::NONE.to_owned() } else { format_bytes_decimal(self.mean(sum)) }
    }

    fn requests(&self, sum: u64) -> String {
        if sum == 0 { String::new() } else { number::count(self.mean(sum)) }
    }

    fn rates(&self) -> Option<String> {
        let rate = |bytes: u64| number::rate(bytes as f64 * 1e9 / self.elapsed_ns as f64);
        let (read, written) = (self.sum.read_bytes, self.sum.write_bytes);
        (read > 0 && written > 0 && self.elapsed_ns > 0)
            .then(|| format!("{} + {}", rate(read).number, rate(written)))
    }
}

/// Returns the rates of reads and writes at the device, as in `393.2 + 391.8 MB/s`, if there were
/// both.
pub(crate) fn rates_at_device(cell: &Cell) -> Option<String> {
    AtDevice::of(cell)?.rates()
}

/// Returns the mean device traffic of a cell, with rates if there were both reads and writes.
/// `None` for copies that did not reach the device.
fn device(cell: &Cell) -> Option<(&Cell, AtDevice)> {
    let at = AtDevice::of(cell)?;
    let moved = at.sum.read_bytes > 0 || at.sum.write_bytes > 0 || is_program(cell);
    moved.then_some((cell, at))
}

/// Describes the device traffic for the details. Empty if there was none, or if it is unknown.
pub(crate) fn device_words(cell: &Cell) -> Vec<Text> {
    let Some(at) = AtDevice::of(cell) else { return Vec::new() };
    let sides = [
        (text!("read", "読み出し"), at.sum.read_bytes, at.sum.read_operations),
        (text!("written", "書き込み"), at.sum.write_bytes, at.sum.write_operations),
    ];
    let sides = sides.into_iter().filter(|(_, bytes, _)| *bytes > 0);
    let words = sides.map(|(side, bytes, operations)| {
        let (bytes, requests) = (format_bytes_decimal(at.mean(bytes)), number::count(at.mean(operations)));
        text!("{side} {bytes} in {requests} requests", "{side} {bytes} (要求 {requests} 件)"; side)
    });
    words.collect()
}

/// Returns the heading of a cell in the details, as in `write · RND 4 KiB Q1 T1`.
pub(crate) fn title(cell: &Cell) -> Text {
    let (name, label) = (words::cell(cell), words::label(cell));
    match cell.direction {
        Some(direction) if name != label && cell.label != direction.word() => {
            let direction = words::direction(direction);
            text!("{direction} · {label}", "{direction} · {label}"; direction, label)
        }
        _ => name,
    }
}
