//! The table of cells whose figure is a time, and of those that are neither reads nor writes: copies, programs.

use crate::doc::{Column, Cut, Doc, Entry, Role, Table};
use crate::run::figures::Figures;
use crate::run::table::{RunTable, TableKind};
use crate::words;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::{Cell, CpuUse, Measure, Traffic};
use kurabe_core::workload::Direction;
use kurabe_core::{Text, number, text};
use kurabe_stats::rate_bytes_per_s;
use std::num::NonZeroU64;

/// The tables: the times, and what reached the device meanwhile. Empty without such cells.
pub(crate) fn doc(table: &RunTable<'_>) -> Doc {
    let cells = table.of_kind(TableKind::Times);
    let mut doc = Doc::new();
    if cells.is_empty() {
        return doc;
    }
    let all_times = cells.iter().all(|figures| figures.cell.measure == Measure::Duration);
    let columns = [
        Column::untitled().cut(Cut::End),
        Column::right(if all_times { text!("time", "時間") } else { text!("figure", "値") }),
        Column::right(text!("mean", "平均")),
        Column::right(Text::same("±")),
        Column::right(text!("user", "ユーザー")),
        Column::right(text!("system", "システム")),
        Column::right(text!("rate", "速度")).cut(Cut::Drop),
    ];
    doc.push(Table::new(columns, cells.iter().map(|figures| row(figures))));
    let traffic: Vec<_> = cells.iter().filter_map(|figures| device(figures.cell)).collect();
    if !traffic.is_empty() {
        let requests = text!("requests", "要求");
        let columns = [
            Column::left(text!("at the device", "デバイスでの入出力")).cut(Cut::End),
            Column::right(text!("read", "読み出し")),
            Column::right(requests.clone()).cut(Cut::DropFirst),
            Column::right(text!("written", "書き込み")),
            Column::right(requests).cut(Cut::DropFirst),
            Column::right(text!("at once", "同時に")).cut(Cut::Drop),
        ];
        doc.gap().push(Table::new(columns, traffic));
    }
    doc
}

fn row(figures: &Figures<'_>) -> [Entry; 7] {
    let (cell, several) = (figures.cell, figures.counted > 1);
    let mean = figures.mean.filter(|_| figures.chosen().is_some()).map(|mean| mean.mean);
    let bytes = cell.counted().any(|repetition| repetition.bytes(Direction::Mix) > 0);
    let rate = (cell.measure == Measure::Duration && bytes).then(|| {
        let rates: Vec<f64> =
            cell.counted().map(|repetition| rate_bytes_per_s(repetition, cell.direction)).collect();
        number::rate(rates.iter().sum::<f64>() / rates.len().max(1) as f64).to_string()
    });
    let (user, system) = program_cpu(cell).unwrap_or_default();
    [
        words::label(cell).into(),
        Entry::figure(Role::Strong, figures.main_figure()),
        mean.map(|mean| figures.value(mean).to_string()).unwrap_or_default().into(),
        figures.interval().filter(|_| several).unwrap_or_default().into(),
        user.into(),
        system.into(),
        rate.unwrap_or_default().into(),
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
fn device(cell: &Cell) -> Option<[Entry; 6]> {
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
    Some([
        words::label(cell).into(),
        bytes(at.sum.read_bytes).into(),
        requests(at.sum.read_operations).into(),
        bytes(at.sum.write_bytes).into(),
        requests(at.sum.write_operations).into(),
        rates.unwrap_or_default().into(),
    ])
}

/// What reached the device, in words for the details; empty if nothing did, or if it is not known.
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

/// The heading of a cell in details: `write · RND 4 KiB Q1 T1`.
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
