//! Everything behind the table: each cell with its engine, repetitions, latencies, stalls and disturbances, then
//! what the run stood on.

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::environment;
use crate::figures::{completed, failed};
use crate::layout::page;
use crate::stutter::stutter_items;
use crate::style::{Role, Style};
use crate::{imported, remarks, spark, times, words};
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::quantity::{format_bytes, format_bytes_decimal};
use kurabe_core::record::{Cell, CpuUse, LatencyRecord, Measure, Noise, Repetition, RunRecord};
use kurabe_core::text;
use kurabe_core::workload::OpKind;
use kurabe_stats::{
    cell_values, figure, percentile_ns, rate_bytes_per_s, rate_iops, repetition_latency, repetition_values,
    stutter,
};

/// Percentiles of the latency table.
const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];
/// Seconds listed for a cell; the record has all.
const SECONDS_LISTED: usize = 60;
/// Stalls listed for a cell; the record may hold more.
const STALLS_LISTED: usize = 10;

/// What stands behind the figures of a run.
pub fn render_details(record: &RunRecord, style: &Style) -> String {
    let statistic = record.header.statistic();
    let mut lines = Vec::new();
    for cell in &record.cells {
        lines.extend(render_cell(cell, statistic, style));
        lines.push(String::new());
    }
    lines.extend(remarks::all_noise(record).lines(style));
    lines.extend(environment::doc(record).lines(style));
    page(&lines)
}

fn render_cell(cell: &Cell, statistic: Statistic, style: &Style) -> Vec<String> {
    let title = style.say(&times::title(cell));
    let mut lines = vec![style.paint(Role::Strong, &crate::layout::clip(&title, style.width))];
    if let Some(imported) = &cell.imported {
        lines.extend(imported::details(imported, style));
        return lines;
    }
    let (engine, surroundings) = (engine(cell, style), surroundings(cell, style));
    let key_width = columns::key_width(&engine).max(columns::key_width(&surroundings));
    lines.extend(columns::fields(&engine, 2, key_width, style));
    lines.extend(repetitions(cell, statistic, style));
    lines.extend(latencies(cell, style));
    lines.extend(stalls(cell, style));
    lines.extend(columns::fields(&surroundings, 2, key_width, style));
    lines
}

fn engine(cell: &Cell, style: &Style) -> Vec<(String, Vec<String>)> {
    let Some(engine) = &cell.engine else { return Vec::new() };
    if engine.name == "model" {
        // A model has no kernel to hand operations to: one sentence is all there is to say.
        let what = engine.reason.get(style.lang).to_owned();
        return vec![(style.pick("engine", "エンジン").to_owned(), vec![what])];
    }
    let mut how = vec![style.say(&words::engine(&engine.name)).to_owned()];
    if !engine.reason.get(style.lang).is_empty() {
        how.push(engine.reason.get(style.lang).to_owned());
    }
    let asked = &engine.asked;
    how.push(style.say(&text!("asked for: {asked}", "指定: {asked}")));
    let mut fields = vec![(style.pick("engine", "エンジン").to_owned(), how)];
    if !engine.features.is_empty() {
        fields.push((style.pick("features", "機能").to_owned(), engine.features.clone()));
    }
    for fallback in &engine.fallbacks {
        fields.push((style.pick("refused", "使用不可").to_owned(), vec![fallback.clone()]));
    }
    let (wait, pages, threads) = (&engine.wait, &engine.pages, engine.issuing_threads);
    let plural = if threads == 1 { "" } else { "s" };
    fields.push((
        style.pick("issuing", "I/O 発行").to_owned(),
        vec![
            style.say(&text!("{threads} thread{plural}", "スレッド {threads} 本")),
            style.say(&text!("completions: {wait}", "完了待ち: {wait}")),
            style.say(&text!("pages: {pages}", "ページ: {pages}")),
        ],
    ));
    fields
}

fn repetitions(cell: &Cell, statistic: Statistic, style: &Style) -> Vec<String> {
    let heads = [
        Column::right("#"),
        Column::right("MB/s"),
        Column::right("IOPS"),
        Column::right(style.pick("mean", "平均")),
        Column::right(style.pick("start", "開始")),
        Column::right(style.pick("time", "時間")),
        Column::right(style.pick("user", "ユーザー")),
        Column::right(style.pick("system", "システム")),
        Column::right(style.pick("stalls", "停滞")),
        Column::left("").cut(Cut::End),
    ];
    let rows: Vec<Vec<Entry>> = cell
        .repetitions
        .iter()
        .map(|repetition| {
            let role = if repetition.discarded { Role::Quiet } else { Role::Plain };
            let [rate, operations, mean] = figures(cell, repetition, statistic);
            let program = times::is_program(cell);
            let cpu = |ns: u64| if program { number::latency_ns(ns) } else { String::new() };
            let stalls = match cell.measure {
                Measure::Duration => String::new(),
                _ => number::count(repetition.stall_count),
            };
            vec![
                (role, (u64::from(repetition.index) + 1).to_string()),
                (role, rate),
                (role, operations),
                (role, mean),
                (role, style.say(&words::time(&number::moment(repetition.started_ns)))),
                (role, number::latency_ns(repetition.elapsed_ns)),
                (role, cpu(repetition.cpu.user_ns)),
                (role, cpu(repetition.cpu.system_ns)),
                (role, stalls),
                note(repetition, style),
            ]
        })
        .collect();
    columns::render(&heads, &rows, 2, style)
}

/// Rate, operations per second and mean latency of a repetition; empty where it has none.
fn figures(cell: &Cell, repetition: &Repetition, statistic: Statistic) -> [String; 3] {
    if completed(repetition) == 0 && cell.measure == Measure::Duration {
        return [const { String::new() }; 3];
    }
    let samples = &repetition.samples;
    let of_samples = |measure: Measure| {
        let values = repetition_values(cell, repetition);
        let wanted = !samples.is_empty() && cell.measure == measure;
        figure(statistic, &values, measure == Measure::Rate).filter(|_| wanted)
    };
    // The rate of a cell with samples is made of theirs, not of all bytes over all time.
    let rate = of_samples(Measure::Rate).unwrap_or_else(|| rate_bytes_per_s(repetition, cell.direction));
    let mean =
        of_samples(Measure::AccessTime).or_else(|| repetition_latency(repetition, cell.direction).mean_ns());
    let mean = match cell.measure {
        Measure::Duration => String::new(),
        _ => mean.map_or(number::NONE.to_owned(), |ns| number::latency(ns).to_string()),
    };
    [number::rate(rate).number, number::iops(rate_iops(repetition, cell.direction)).number, mean]
}

/// What is to be said of a repetition.
fn note(repetition: &Repetition, style: &Style) -> Entry {
    let mut notes = Vec::new();
    let mut role = Role::Quiet;
    if repetition.kernel.is_some() {
        notes.push(style.pick("traced, does not count", "トレースつき、集計外").to_owned());
    } else if repetition.discarded {
        notes.push(style.pick("discarded", "集計外").to_owned());
    }
    if repetition.generator_bound {
        role = Role::Warn;
        notes.push(style.pick("limit: kurabe", "kurabe が上限").to_owned());
    }
    let failed = failed(repetition);
    if failed > 0 {
        role = Role::Bad;
        let failed = number::count(failed);
        notes.push(style.say(&text!("{failed} failed", "{failed} 件失敗")));
    }
    if let Some(ns) = repetition.end_sync_ns {
        let time = number::latency_ns(ns);
        notes.push(style.say(&text!("fsync {time}", "fsync {time}")));
    }
    (role, notes.join(", "))
}

fn latencies(cell: &Cell, style: &Style) -> Vec<String> {
    let kinds = [OpKind::Read, OpKind::Write, OpKind::Sync];
    let side = |repetition: &Repetition, kind: OpKind| match kind {
        OpKind::Read => repetition.read.latency.clone(),
        OpKind::Write => repetition.write.latency.clone(),
        OpKind::Sync => repetition.sync.latency.clone(),
    };
    let mut heads = vec![
        Column::left(style.pick("latency", "レイテンシ")),
        Column::right(style.pick("min", "最小")).cut(Cut::Drop),
    ];
    heads.extend(PERCENTILES.iter().map(|(name, fraction)| match *fraction {
        // Where there is no room for all, these are missed least.
        0.9 | 0.9999 => Column::right(name).cut(Cut::DropFirst),
        _ => Column::right(name),
    }));
    heads.push(Column::right(style.pick("max", "最大")));
    let rows: Vec<Vec<Entry>> = kinds
        .into_iter()
        .filter_map(|kind| {
            let all: Vec<LatencyRecord> = cell.counted().map(|repetition| side(repetition, kind)).collect();
            let all = LatencyRecord::together(&all);
            (all.count > 0).then(|| {
                let mut row =
                    vec![plain(style.say(&words::op_kind(kind))), plain(number::latency_ns(all.min_ns))];
                row.extend(PERCENTILES.iter().map(|(_, fraction)| {
                    plain(percentile_ns(&all, *fraction).map_or(number::NONE.to_owned(), number::latency_ns))
                }));
                row.push(plain(number::latency_ns(all.max_ns)));
                row
            })
        })
        .collect();
    if rows.is_empty() { Vec::new() } else { columns::render(&heads, &rows, 2, style) }
}

/// The worst stalls of the counted repetitions, in order of time.
fn stalls(cell: &Cell, style: &Style) -> Vec<String> {
    let mut stalls: Vec<_> = cell
        .counted()
        .flat_map(|repetition| {
            let started_ns = repetition.started_ns;
            repetition.stalls.iter().map(move |stall| (started_ns.saturating_add(stall.at_ns), *stall))
        })
        .collect();
    stalls.sort_by_key(|(_, stall)| std::cmp::Reverse(stall.length_ns));
    stalls.truncate(STALLS_LISTED);
    stalls.sort_by_key(|(at_ns, _)| *at_ns);
    if stalls.is_empty() {
        return Vec::new();
    }
    let heads = [
        Column::left(style.pick("stall at", "停滞の時刻")),
        Column::right(style.pick("length", "長さ")),
        Column::left(style.pick("of a", "操作")),
        Column::right(style.pick("at offset", "オフセット")),
        Column::right(style.pick("held up", "影響")),
    ];
    let rows: Vec<Vec<Entry>> = stalls
        .iter()
        .map(|(at_ns, stall)| {
            vec![
                plain(style.say(&words::time(&number::moment(*at_ns)))),
                plain(number::latency_ns(stall.length_ns)),
                plain(style.say(&words::op_kind(stall.kind))),
                plain(format_bytes(stall.offset_bytes)),
                plain(style.say(&words::operations(stall.operations))),
            ]
        })
        .collect();
    columns::render(&heads, &rows, 2, style)
}

fn surroundings(cell: &Cell, style: &Style) -> Vec<(String, Vec<String>)> {
    let mut fields = Vec::new();
    let mut threshold: Vec<String> =
        cell.counted().map(|repetition| number::latency_ns(repetition.stall_threshold_ns)).collect();
    threshold.dedup();
    // Each kind of operation has its own threshold, and the record keeps one of them.
    let holds = |repetition: &Repetition| {
        repetition.stalls.iter().all(|stall| stall.length_ns >= repetition.stall_threshold_ns)
    };
    let some = cell.counted().any(|repetition| repetition.stall_count > 0);
    if some && cell.counted().all(holds) && !threshold.is_empty() {
        let limits = threshold.join(", ");
        fields.push((
            style.pick("stalls", "停滞").to_owned(),
            vec![style.say(&text!("counted from {limits} up", "{limits} 以上を停滞と数える"))],
        ));
    }
    let stutters = stutter(cell).map(|stutter| stutter_items(&stutter)).unwrap_or_default();
    let stutters: Vec<String> = stutters.iter().map(|item| style.say(item)).collect();
    if !stutters.is_empty() {
        fields.push((style.pick("stutter", "引っかかり").to_owned(), stutters));
    }
    let seconds = spark::per_second(cell);
    if seconds.len() > 1 {
        let rest = seconds.len().saturating_sub(SECONDS_LISTED);
        let mut items: Vec<String> =
            seconds.iter().take(SECONDS_LISTED).map(|rate| number::rate(*rate).number).collect();
        if rest > 0 {
            items.push(style.say(&text!("and {rest} more", "ほか {rest} 個")));
        }
        let mut words = vec![items.join(", ")];
        if cell.counted().count() > 1 {
            words.push(style.pick("the last repetition", "最後の回").to_owned());
        }
        fields.push((style.pick("MB/s by second", "毎秒 MB/s").to_owned(), words));
    }
    let samples = samples(cell, style);
    if !samples.is_empty() {
        fields.push((style.pick("samples", "サンプル").to_owned(), samples));
    }
    let device: Vec<String> = times::device_words(cell).iter().map(|item| style.say(item)).collect();
    if !device.is_empty() {
        fields.push((style.pick("at the device", "デバイスで").to_owned(), device));
    }
    let others = noise(cell, style);
    if !others.is_empty() {
        fields.push((style.pick("others", "ほかの処理の影響").to_owned(), others));
    }
    let cpu = cpu(cell, style);
    if !cpu.is_empty() {
        fields.push((style.pick("kurabe's CPU", "kurabe の CPU").to_owned(), cpu));
    }
    fields
}

/// How many samples there are, and how far apart.
fn samples(cell: &Cell, style: &Style) -> Vec<String> {
    if !cell.counted().any(|repetition| !repetition.samples.is_empty()) {
        return Vec::new();
    }
    let values = cell_values(cell);
    let value = |value: f64| number::measured(cell.measure, value).to_string();
    let lowest = value(values.iter().copied().fold(f64::INFINITY, f64::min));
    let highest = value(values.iter().copied().fold(0.0, f64::max));
    let median = value(figure(Statistic::Median, &values, true).unwrap_or(0.0));
    let count = number::count(values.len() as u64);
    vec![
        style.say(&text!("{count} in all", "全 {count} 個")),
        style.say(&text!("{lowest} to {highest}", "{lowest} 〜 {highest}")),
        style.say(&text!("median {median}", "中央値 {median}")),
    ]
}

/// What else went on: bytes summed up, shares at their worst.
fn noise(cell: &Cell, style: &Style) -> Vec<String> {
    let sum = |value: fn(&Noise) -> Option<u64>| {
        cell.counted().filter_map(|repetition| value(&repetition.noise)).reduce(u64::saturating_add)
    };
    let worst = |value: fn(&Noise) -> Option<f64>| {
        cell.counted().filter_map(|repetition| value(&repetition.noise)).reduce(f64::max)
    };
    let mut items = Vec::new();
    let mut put = |text: Option<kurabe_core::Text>| items.extend(text.map(|text| style.say(&text)));
    put(sum(|noise| noise.other_read_bytes)
        .map(format_bytes_decimal)
        .map(|bytes| text!("read {bytes}", "読み出し {bytes}")));
    put(sum(|noise| noise.other_write_bytes)
        .map(format_bytes_decimal)
        .map(|bytes| text!("wrote {bytes}", "書き込み {bytes}")));
    put(sum(|noise| noise.suspended_ns).map(|ns| words::time(&number::long_time(ns))).map(|time| {
        kurabe_core::Text {
            en: format!("suspended for {}", time.en), ja: format!("サスペンド {}", time.ja)
        }
    }));
    put(worst(|noise| noise.other_cpus_busy)
        .map(|cpus| text!("{cpus:.1} CPUs busy", "CPU {cpus:.1} 個分を使用")));
    put(worst(|noise| noise.steal_share)
        .map(number::percent)
        .map(|share| text!("CPU stolen {share}", "CPU スチール {share}")));
    let waits = [
        (worst(|noise| noise.io_pressure_share), text!("waiting for I/O", "I/O 待ち")),
        (worst(|noise| noise.cpu_pressure_share), text!("for a CPU", "CPU 待ち")),
        (worst(|noise| noise.memory_pressure_share), text!("for memory", "メモリー待ち")),
    ];
    for (share, what) in waits {
        let (en, ja) = (what.en, what.ja);
        put(share.map(number::percent).map(|share| text!("{en} {share}", "{ja} {share}")));
    }
    items
}

/// kurabe's own time: per operation, and as a share of its threads' time.
fn cpu(cell: &Cell, style: &Style) -> Vec<String> {
    let sum = |value: &dyn Fn(&Repetition) -> f64| cell.counted().map(value).sum::<f64>();
    let operations = sum(&|repetition| completed(repetition) as f64);
    let known = cell.counted().any(|repetition| repetition.cpu != CpuUse::default());
    if operations == 0.0 || !known {
        return Vec::new();
    }
    let user = number::latency(sum(&|repetition| repetition.cpu.user_ns as f64) / operations);
    let system = number::latency(sum(&|repetition| repetition.cpu.system_ns as f64) / operations);
    let share = cell.counted().map(|repetition| repetition.generator_share).fold(0.0, f64::max);
    let share = number::percent(share);
    vec![
        style.say(&text!(
            "per operation {user} user, {system} system",
            "1 操作あたり ユーザー {user}、システム {system}"
        )),
        style.say(&text!(
            "own code {share} of its threads' time",
            "kurabe 自身の処理はスレッド時間の {share}"
        )),
    ]
}
