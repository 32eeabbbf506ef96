//! Details behind the table: each cell with its engine, repetitions, latencies, stalls and
//! disturbances, then the test environment.

use crate::run::figures::longest;
use crate::run::{figures, imported, remarks, times};
use crate::words::{self, present};
use crate::{machine::environment, words::stutter::stutter_items};
use kurabe_core::issue::RecordedEngine;
use kurabe_core::quantity::{format_bytes, format_bytes_decimal};
use kurabe_core::record::{Cell, CpuUse, LatencyRecord, Measure, Noise, Repetition, RunRecord, fallback};
use kurabe_core::{Text, number, profile::Statistic, text, workload::OpKind};
use kurabe_doc::{Column, Cut, Doc, Entry, Field, Fields, Role, Style, Table, filled, spark};
use kurabe_stats::{
    cell_values, figure, percentile_ns, rate_bytes_per_s, rate_iops, repetition_latency, repetition_values,
    stutter,
};

/// Percentiles of the latency table.
const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];
/// Maximum number of seconds listed for a cell. The record has all of them.
const SECONDS_LISTED: usize = 60;
/// Maximum number of stalls listed for a cell. The record may have more.
const STALLS_LISTED: usize = 10;

/// Renders the details behind the figures of a run.
pub fn render_details(record: &RunRecord, style: &Style) -> String {
    let statistic = record.header.statistic();
    let mut doc = Doc::new();
    for cell in &record.cells {
        doc.append(of_cell(cell, statistic)).gap();
    }
    doc.append(remarks::all_noise(record)).append(environment::doc(record)).terminal(style)
}

fn of_cell(cell: &Cell, statistic: Statistic) -> Doc {
    // A table with one entry, because a title is cut instead of wrapped.
    let title = [Entry::new(Role::Strong, times::title(cell))];
    let mut doc = Doc::of(Table::new([Column::untitled().cut(Cut::End)], [title]));
    if let Some(imported) = &cell.imported {
        return doc.and(imported::details(imported));
    }
    let (engine, surroundings) = (engine(cell), surroundings(cell));
    let keys = |fields: &[Field]| fields.iter().map(|(key, _)| key.clone()).collect();
    let aligned = |fields, aligned_with| Fields { aligned_with, ..Fields::from(fields) };
    let (engine_keys, other_keys) = (keys(&engine), keys(&surroundings));
    doc.push(aligned(engine, other_keys)).push(repetitions(cell, statistic));
    doc.push(latencies(cell)).push(stalls(cell)).push(aligned(surroundings, engine_keys)).done()
}

fn engine(cell: &Cell) -> Vec<Field> {
    let Some(engine) = &cell.engine else { return Vec::new() };
    let name = text!("engine", "エンジン");
    if engine.name == RecordedEngine::Model {
        // A model has no kernel that could serve operations in different ways, so the reason is
        // sufficient.
        return vec![(name, vec![engine.reason.clone()])];
    }
    let asked = engine.asked.word();
    let how = vec![
        words::engine(engine.name.word()),
        engine.reason.clone(),
        text!("asked for: {asked}", "指定: {asked}"),
    ];
    let features = engine.features.iter().map(Text::same).collect();
    let refused = |phrase: &String| (text!("refused", "使用不可"), vec![fallback(phrase)]);
    let (wait, pages, threads) = (engine.wait.word(), engine.pages.word(), engine.issuing_threads);
    let plural = if threads == 1 { "" } else { "s" };
    let issuing = vec![
        text!("{threads} thread{plural}", "スレッド {threads} 本"),
        text!("completions: {wait}", "完了待ち: {wait}"),
        text!("pages: {pages}", "ページ: {pages}"),
    ];
    let mut fields = filled([(name, how), (text!("features", "機能"), features)]);
    fields.extend(engine.fallbacks.iter().map(refused));
    fields.push((text!("issuing", "I/O 発行"), issuing));
    fields
}

fn repetitions(cell: &Cell, statistic: Statistic) -> Table {
    type Row<'a> = (&'a Repetition, [String; 3]);
    let entry = |repetition: &Repetition, words: Text| {
        Entry::new(if repetition.discarded { Role::Quiet } else { Role::Plain }, words)
    };
    let main = |(one, figures): &Row<'_>, place: usize| entry(one, figures[place].clone().into());
    let ns = |one, ns| entry(one, number::latency_ns(ns).into());
    let cpu = |one, of| if times::is_program(cell) { ns(one, of) } else { Entry::default() };
    let rows = cell.repetitions.iter().map(|one| (one, main_figures(cell, one, statistic)));
    let table = Table::of(rows)
        .right(Text::same("#"), |(one, _)| entry(one, (u64::from(one.index) + 1).to_string().into()))
        .right(Text::same("MB/s"), |row| main(row, 0))
        .right(Text::same("IOPS"), |row| main(row, 1))
        .right(text!("mean", "平均"), |row| main(row, 2))
        .right(text!("start", "開始"), |(one, _)| {
            entry(one, number::time_words(&number::moment(one.started_ns)))
        })
        .right(text!("time", "時間"), |(one, _)| ns(one, one.elapsed_ns))
        .right(text!("user", "ユーザー"), |(one, _)| cpu(one, one.cpu.user_ns))
        .right(text!("system", "システム"), |(one, _)| cpu(one, one.cpu.system_ns))
        .right(text!("pauses", "停滞"), |(one, _)| match cell.measure {
            Measure::Duration => Entry::default(),
            _ => entry(one, number::count(one.stall_count).into()),
        })
        .cut(Cut::End, Text::default(), |(one, _)| note(one));
    table.table().indent(2)
}

/// Returns rate, operations per second and mean latency of a repetition. Values that don't exist
/// are empty.
fn main_figures(cell: &Cell, repetition: &Repetition, statistic: Statistic) -> [String; 3] {
    if repetition.completed() == 0 && cell.measure == Measure::Duration {
        return [const { String::new() }; 3];
    }
    let samples = &repetition.samples;
    let of_samples = |measure: Measure| {
        let values = repetition_values(cell, repetition);
        let is_measured = !samples.is_empty() && cell.measure == measure;
        figure(statistic, &values, measure == Measure::Rate).filter(|_| is_measured)
    };
    // The rate of a cell with samples is computed from the samples, not from the total bytes and
    // time.
    let rate = of_samples(Measure::Rate).unwrap_or_else(|| rate_bytes_per_s(repetition, cell.direction));
    let mean =
        of_samples(Measure::AccessTime).or_else(|| repetition_latency(repetition, cell.direction).mean_ns());
    let mean = match cell.measure {
        Measure::Duration => String::new(),
        _ => mean.map_or(number::NONE.to_owned(), |ns| number::latency(ns).to_string()),
    };
    [number::rate(rate).number, number::iops(rate_iops(repetition, cell.direction)).number, mean]
}

/// Returns the remarks on a repetition.
fn note(repetition: &Repetition) -> Entry {
    let (mut notes, mut role) = (Vec::new(), Role::Quiet);
    if repetition.kernel.is_some() {
        notes.push(text!("traced, does not count", "トレース付き、集計外"));
    } else if repetition.discarded {
        notes.push(text!("discarded", "集計外"));
    }
    if repetition.generator_bound {
        role = Role::Warn;
        notes.push(text!("limit: kurabe", "kurabe が上限"));
    }
    let failed = repetition.failed();
    if failed > 0 {
        role = Role::Bad;
        let failed = number::count(failed);
        notes.push(text!("{failed} failed", "{failed} 件失敗"));
    }
    notes.extend(repetition.end_sync_ns.map(|ns| format!("fsync {}", number::latency_ns(ns)).into()));
    Entry::new(role, Text::join(notes, [", "; 2]))
}

fn latencies(cell: &Cell) -> Table {
    let of = |kind: OpKind| {
        let all = LatencyRecord::together(cell.counted().map(|repetition| &repetition.side(kind).latency));
        (all.count > 0).then_some((kind, all))
    };
    let min = Column::right(text!("min", "最小")).cut(Cut::Drop);
    let mut table = Table::of(OpKind::ALL.into_iter().filter_map(of))
        .left(text!("latency", "レイテンシ"), |(kind, _)| words::op_kind(*kind))
        .column(min, |(_, all)| Entry::latency(Some(all.min_ns)));
    for (name, fraction) in PERCENTILES {
        // These columns are the least important if there isn't room for all of them.
        let cut = if matches!(fraction, 0.9 | 0.9999) { Cut::DropFirst } else { Cut::Never };
        let column = Column::right(Text::same(name)).cut(cut);
        table = table.column(column, |(_, all)| Entry::latency(percentile_ns(all, fraction)));
    }
    let max = text!("max", "最大");
    table.right(max, |(_, all)| Entry::latency(Some(all.max_ns))).table().indent(2)
}

/// Returns the worst stalls of the counted repetitions, in chronological order.
fn stalls(cell: &Cell) -> Table {
    let table = Table::of(longest(figures::stalls(cell), STALLS_LISTED))
        .left(text!("pause at", "停滞の時刻"), |(at_ns, _)| number::time_words(&number::moment(*at_ns)))
        .right(text!("length", "長さ"), |(_, stall)| number::latency_ns(stall.length_ns))
        .left(text!("of a", "操作"), |(_, stall)| words::op_kind(stall.kind))
        .right(text!("at offset", "オフセット"), |(_, stall)| format_bytes(stall.offset_bytes))
        .right(text!("held up", "影響"), |(_, stall)| words::operations(stall.operations));
    table.table().indent(2)
}

fn surroundings(cell: &Cell) -> Vec<Field> {
    filled([
        (text!("pauses", "停滞"), stall_limits(cell).into_iter().collect()),
        (
            text!("stutter", "引っかかり"),
            stutter(cell).map(|stutter| stutter_items(&stutter)).unwrap_or_default(),
        ),
        (text!("MB/s by second", "毎秒 MB/s"), seconds(cell)),
        (text!("samples", "サンプル"), samples(cell)),
        (text!("at the device", "デバイスで"), times::device_words(cell)),
        (text!("others", "ほかの処理の影響"), noise(cell)),
        (text!("kurabe's CPU", "kurabe の CPU"), cpu(cell)),
    ])
}

/// Returns the duration from which operations counted as stalls, if it is the same for all stalls.
fn stall_limits(cell: &Cell) -> Option<Text> {
    let mut limits: Vec<String> =
        cell.counted().map(|repetition| number::latency_ns(repetition.stall_threshold_ns)).collect();
    limits.dedup();
    // Each kind of operation has its own threshold, but the record has only one of them.
    let holds = |repetition: &Repetition| {
        repetition.stalls.iter().all(|stall| stall.length_ns >= repetition.stall_threshold_ns)
    };
    let has_stalls = cell.counted().any(|repetition| repetition.stall_count > 0);
    let limits = Some(limits.join(", ")).filter(|_| has_stalls && cell.counted().all(holds))?;
    Some(text!("counted from {limits} up", "{limits} 以上を停滞と数える"))
}

/// Returns the rate of each second of the last repetition.
fn seconds(cell: &Cell) -> Vec<Text> {
    let seconds = spark::per_second(cell);
    if seconds.len() < 2 {
        return Vec::new();
    }
    let mut rates: Vec<Text> =
        seconds.iter().take(SECONDS_LISTED).map(|rate| number::rate(*rate).number.into()).collect();
    let rest = seconds.len().saturating_sub(SECONDS_LISTED);
    rates.extend((rest > 0).then(|| text!("and {rest} more", "ほか {rest} 個")));
    let mut items = vec![Text::join(rates, [", "; 2])];
    items.extend((cell.counted().count() > 1).then(|| text!("the last repetition", "最後の回")));
    items
}

/// Returns the number, the range and the median of the samples.
fn samples(cell: &Cell) -> Vec<Text> {
    if !cell.has_samples() {
        return Vec::new();
    }
    let values = cell_values(cell);
    let value = |value: f64| number::measured(cell.measure, value).to_string();
    let lowest = value(values.iter().copied().fold(f64::INFINITY, f64::min));
    let highest = value(values.iter().copied().fold(0.0, f64::max));
    let median = value(figure(Statistic::Median, &values, true).unwrap_or(0.0));
    let count = number::count(values.len() as u64);
    vec![
        text!("{count} in all", "全 {count} 個"),
        text!("{lowest} to {highest}", "{lowest} 〜 {highest}"),
        text!("median {median}", "中央値 {median}"),
    ]
}

/// Returns other activity during the cell: bytes as sums, shares as maximums.
fn noise(cell: &Cell) -> Vec<Text> {
    let sum = |value: fn(&Noise) -> Option<u64>| {
        cell.counted().filter_map(|repetition| value(&repetition.noise)).reduce(u64::saturating_add)
    };
    let worst = |value: fn(&Noise) -> Option<f64>| {
        cell.counted().filter_map(|repetition| value(&repetition.noise)).reduce(f64::max)
    };
    let bytes = |value: fn(&Noise) -> Option<u64>| sum(value).map(format_bytes_decimal);
    let share = |value: fn(&Noise) -> Option<f64>| worst(value).map(number::percent);
    let suspended = sum(|noise| noise.suspended_ns).map(|ns| number::time_words(&number::long_time(ns)));
    present([
        bytes(|noise| noise.other_read_bytes).map(|bytes| text!("read {bytes}", "読み出し {bytes}")),
        bytes(|noise| noise.other_write_bytes).map(|bytes| text!("wrote {bytes}", "書き込み {bytes}")),
        suspended.map(|time| text!("suspended for {time}", "サスペンド {time}"; time)),
        worst(|noise| noise.other_cpus_busy)
            .map(|cpus| text!("{cpus:.1} CPUs busy", "CPU {cpus:.1} 個分を使用")),
        share(|noise| noise.steal_share).map(|share| text!("CPU stolen {share}", "CPU スチール {share}")),
        share(|noise| noise.io_pressure_share)
            .map(|share| text!("waiting for I/O {share}", "I/O 待ち {share}")),
        share(|noise| noise.cpu_pressure_share).map(|share| text!("for a CPU {share}", "CPU 待ち {share}")),
        share(|noise| noise.memory_pressure_share)
            .map(|share| text!("for memory {share}", "メモリー待ち {share}")),
    ])
}

/// Returns kurabe's own CPU time per operation, and as a share of its threads' time.
fn cpu(cell: &Cell) -> Vec<Text> {
    let sum = |value: &dyn Fn(&Repetition) -> f64| cell.counted().map(value).sum::<f64>();
    let operations = sum(&|repetition| repetition.completed() as f64);
    let is_known = cell.counted().any(|repetition| repetition.cpu != CpuUse::default());
    if operations == 0.0 || !is_known {
        return Vec::new();
    }
    let user = number::latency(sum(&|repetition| repetition.cpu.user_ns as f64) / operations);
    let system = number::latency(sum(&|repetition| repetition.cpu.system_ns as f64) / operations);
    let share = number::percent(cell.counted().map(|one| one.generator_share).fold(0.0, f64::max));
    vec![
        text!(
            "per operation {user} user, {system} system",
            "1 操作あたり ユーザー {user}、システム {system}"
        ),
        text!("own code {share} of its threads' time", "kurabe 自身の処理はスレッド時間の {share}"),
    ]
}
