//! The limit of a cell that another tool measured.
//!
//! The model: a tool that prints in which stage its operations spent their time names the stage, and
//! no more: btt and `zpool iostat -l` separate the queue from the device, biosnoop times the device
//! alone, `iostat -x` shows whether the device had work at all, and fio separates the submission, the
//! completion and the flush of an operation. Which part of a device takes the time, such as the
//! medium or its controller, is not in these records. Only fractions that a tool counted are certain;
//! everything else is likely at most.

use super::evidence::Evidence;
use super::flush;
use super::limit::{CLEARLY, Limit, LimitKind, MOSTLY, Strength};
use super::words::{self, limit};
use crate::ceiling::Ceiling;
use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic as Statistic, Quantity};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Text, number, text, workload::Direction};
use kurabe_stats::{CellFlush, FlushCall, cell_flush};

/// A device with requests in flight for at least this share of the time is busy …
const BUSY: f64 = 0.9;
/// … and for at most this share, it mostly waited for the programs.
const IDLE: f64 = 0.5;
/// An operation faster than this was served from memory, in ns.
const MEMORY_NS: f64 = 8e3;
/// An operation with at least this latency was served by a device, in ns.
const DEVICE_NS: f64 = 25e3;
/// A write with its flush that takes at least this long waits for the medium, in ns. Drives with
/// power-loss protection are faster.
const FLUSHED_NS: f64 = 300e3;
/// Operations in flight up to which the kernel accepts each at once, so that submission does not wait
/// for the device.
const ACCEPTED: u32 = 64;
/// Latencies of random reads of a hard disk: the median is at least this, and 10 % and 90 % of the
/// reads are this far apart, a good part of a rotation. In ns.
const SEEK_NS: f64 = 4e6;
const SCATTER_NS: f64 = 3e6;
/// A queue with at least this share of the disk's time is named next to it, if the two are most of the
/// whole.
const TIE: f64 = 0.8;
/// A rate that differs by at most this share from the offered one is the offered one.
const OFFERED: f64 = 0.02;

/// Returns the limit of a cell of another tool.
pub(super) fn judge(record: &RunRecord, evidence: &Evidence<'_>, cell: &Cell) -> Limit {
    let format = record.header.origin.as_ref().map_or("", |origin| origin.format.as_str());
    let Some(imported) = &cell.imported else { return words::unknown_import() };
    let own = match format {
        "btt" => traced(record, cell),
        "biosnoop" => snooped(imported),
        "iostat-text" | "iostat-json" | "sar-d" => sampled(record, cell),
        "zpool-iostat-text" | "zpool-iostat-scripted" => waited(cell, imported),
        "fio-json" | "fio-text" => timed(record, cell, imported),
        _ => None,
    };
    let is_before_the_link = |limit: &Limit| matches!(limit.kind, LimitKind::HostMemory | LimitKind::Flush);
    let at_the_link = || at_the_link(evidence.storage.link.as_ref(), imported);
    match own {
        Some(limit) if is_before_the_link(&limit) => limit,
        own => at_the_link().or(own).unwrap_or_else(words::unknown_import),
    }
}

/// Returns a figure by its subject.
fn of<'c>(imported: &'c ImportedCell, subject: &FigureOf, statistic: Statistic) -> Option<&'c PrintedFigure> {
    let is_it =
        |figure: &&PrintedFigure| figure.of.as_ref() == Some(subject) && figure.statistic == statistic;
    imported.figures.iter().find(is_it)
}

fn named(name: &str) -> FigureOf {
    FigureOf::from(name.to_owned())
}

/// Returns the device as the limit.
fn the_device(strength: Strength, evidence: Text) -> Limit {
    limit(LimitKind::Cause, strength, text!("the device", "デバイス"), evidence)
}

/// Returns the limit for a rate that ends at the connection, which a health report of the drive named.
fn at_the_link(link: Option<&Ceiling>, imported: &ImportedCell) -> Option<Limit> {
    let rate = imported.figures.iter().find(|figure| figure.quantity == Quantity::Rate)?;
    let link = link.filter(|_| rate.statistic != Statistic::Lowest && !imported.cached)?;
    let at = link.ends(rate.value, None)?;
    Some(words::link(link, &at))
}

/// Returns the limit of the whole way of a request, by the share that was in the device (btt). Its stages
/// are parts of the same operations; the time between requests (Q2Q) is not.
fn traced(record: &RunRecord, cell: &Cell) -> Option<Limit> {
    let is_way = !cell.label.starts_with("Q2Q ");
    let device = record.cells.iter().find(|cell| cell.label.starts_with("D2C ")).filter(|_| is_way)?;
    let share = device.imported.as_ref()?.figures.iter().find(|figure| figure.quantity == Quantity::Share)?;
    Some(words::device_share(share.value))
}

/// Returns the limit of operations that biosnoop timed from their issue to their completion, and with
/// `-Q` in the kernel's queue before it.
fn snooped(imported: &ImportedCell) -> Option<Limit> {
    let median = |subject: Option<FigureOf>| {
        let mut figures = imported.figures.iter();
        figures.find(|figure| figure.of == subject && figure.statistic == Statistic::Median)
    };
    let device_ns = median(None)?.value;
    let device = number::latency(device_ns);
    match median(Some(named("QUE(ms)"))).map(|queue| queue.value) {
        Some(queue_ns) if queue_ns >= device_ns => {
            let queue = number::latency(queue_ns);
            let words = text!(
                "half of the operations waited at least {queue} in the kernel's queue, and took {device} in the device",
                "操作の半分はカーネルのキューで {queue} 以上待ち、デバイス内では {device} でした"
            );
            Some(limit(
                LimitKind::Saturated,
                Strength::Likely,
                text!("the kernel's queues", "カーネルのキュー待ち"),
                words,
            ))
        }
        _ => Some(the_device(
            Strength::Likely,
            text!(
                "biosnoop times an operation from its issue to its completion: {device} for half of them, all of \
                 it in the device",
                "biosnoop は発行から完了までの時間を測ります。中央値は {device} で、すべてデバイス内の時間です"
            ),
        )),
    }
}

/// Values of a device in its busiest interval.
struct BusiestInterval<'r> {
    cells: Vec<&'r Cell>,
    at: f64,
}

impl<'r> BusiestInterval<'r> {
    /// Returns the interval with the most operations of the device of a cell. `None` if the tool
    /// printed a single report, which can be the average since boot.
    fn of(record: &'r RunRecord, cell: &Cell) -> Option<Self> {
        let device = device_of(cell);
        let cells: Vec<&Cell> = record.cells.iter().filter(|other| device_of(other) == device).collect();
        let series = cells.iter().filter_map(|cell| cell.imported.as_ref()).flat_map(|cell| &cell.series);
        let mut totals: Vec<(f64, f64)> = Vec::new();
        for series in series.filter(|series| ["r/s", "w/s", "tps"].contains(&series.name.as_str())) {
            for (at, value) in &series.points {
                match totals.iter_mut().find(|(own, _)| own == at) {
                    Some((_, total)) => *total += value,
                    None => totals.push((*at, *value)),
                }
            }
        }
        let (at, total) = totals.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (total > 0.0).then_some(Self { cells, at })
    }

    /// Returns the value of a column.
    fn get(&self, names: &[&str]) -> Option<f64> {
        let mut series =
            self.cells.iter().filter_map(|cell| cell.imported.as_ref()).flat_map(|cell| &cell.series);
        let series = series.find(|series| names.contains(&series.name.as_str()))?;
        series.points.iter().find(|(at, _)| *at == self.at).map(|(_, value)| *value)
    }
}

/// Returns the device of a cell of iostat, whose label is that of the device and of its part.
fn device_of(cell: &Cell) -> &str {
    let parts = [" all", " discard", " flush", " write and discard"];
    parts.iter().find_map(|part| cell.label.strip_suffix(part)).unwrap_or(&cell.label)
}

/// Returns the limit by the busiest interval: the flush, the programs, or the device.
fn sampled(record: &RunRecord, cell: &Cell) -> Option<Limit> {
    let busiest = BusiestInterval::of(record, cell)?;
    if let Some(flush) = sampled_flush(&busiest).filter(|_| cell.direction != Some(Direction::Read)) {
        return Some(flush);
    }
    let busy = busiest.get(&["%util", "util"])?;
    let share = number::percent(busy);
    if busy <= IDLE {
        let idle = number::percent(1.0 - busy);
        let sentence = text!(
            "the programs, which gave the device less work than it can do",
            "プログラム側(デバイスに与える要求が少ない)"
        );
        let evidence = text!(
            "even in its busiest interval, the device had no request in flight for {idle} of the time",
            "最も忙しい区間でも、時間の {idle} はデバイスに要求がありませんでした"
        );
        return Some(limit(LimitKind::Host, Strength::Likely, sentence, evidence));
    }
    (busy >= BUSY).then(|| {
        let mut evidence = text!(
            "in its busiest interval, the device had requests in flight for {share} of the time",
            "最も忙しい区間では、時間の {share} でデバイスに要求がありました"
        );
        if let Some(queue) = busiest.get(&["aqu-sz", "avgqu-sz"]) {
            let queue = format!("{queue:.1}");
            evidence.push(&text!(", {queue} at a time on average", "(平均 {queue} 件)"));
        }
        the_device(Strength::Likely, evidence)
    })
}

/// Returns the flush as the limit if it takes at least half of the time of all requests.
fn sampled_flush(busiest: &BusiestInterval<'_>) -> Option<Limit> {
    let spent = |rate: &[&str], wait: &[&str]| Some(busiest.get(rate)? * busiest.get(wait)?);
    let flushes_ns = spent(&["f/s"], &["f_await"]).filter(|spent| *spent > 0.0)?;
    let others = [spent(&["r/s"], &["r_await"]), spent(&["w/s"], &["w_await"])];
    let share = flushes_ns / (flushes_ns + others.into_iter().flatten().sum::<f64>());
    let (each, share_words) = (number::latency(busiest.get(&["f_await"])?), number::percent(share));
    (share >= MOSTLY).then(|| {
        limit(
            LimitKind::Flush,
            Strength::Likely,
            flush::the_flush(FlushCall::Other),
            text!(
                "in the busiest interval, a flush took {each}, and flushes {share_words} of the time of all requests",
                "最も忙しい区間ではフラッシュ 1 回に {each} かかり、全要求の時間の {share_words} をフラッシュが占めました"
            ),
        )
    })
}

/// Returns the limit by ZFS's waiting times: in the disk, or in one of its queues.
fn waited(cell: &Cell, imported: &ImportedCell) -> Option<Limit> {
    let word = match cell.direction? {
        Direction::Read => "read",
        Direction::Write => "write",
        Direction::Mix => return None,
    };
    let wait = |name: &str| {
        let subject = named(&format!("{name} {word}"));
        let figure = [Statistic::Mean, Statistic::Median]
            .into_iter()
            .find_map(|statistic| of(imported, &subject, statistic));
        figure.map(|figure| figure.value)
    };
    let (total_ns, disk_ns) = (wait("total_wait").filter(|total| *total > 0.0)?, wait("disk_wait")?);
    let share = (disk_ns / total_ns).min(1.0);
    let (total, disk) = (number::latency(total_ns), number::latency(disk_ns));
    let evidence = text!(
        "of {total} for an operation, {disk} were in the disk (disk_wait of total_wait)",
        "1 操作 {total} のうち {disk} がディスク内(total_wait のうち disk_wait)でした"
    );
    if share > MOSTLY {
        return Some(the_device(Strength::Likely, evidence));
    }
    let queues = [
        ("syncq_wait", text!("ZFS's queue of synchronous operations", "ZFS の同期 I/O キュー")),
        ("asyncq_wait", text!("ZFS's queue of asynchronous operations", "ZFS の非同期 I/O キュー")),
    ];
    let longest = queues.into_iter().filter_map(|(name, words)| Some((wait(name)?, words)));
    let (queue_ns, queue) = longest.max_by(|a, b| a.0.total_cmp(&b.0))?;
    if queue_ns > disk_ns {
        return Some(limit(LimitKind::Saturated, Strength::Likely, queue, evidence));
    }
    // An operation that was split or waited elsewhere has neither as a large part.
    let is_both = queue_ns >= disk_ns * TIE && queue_ns + disk_ns >= total_ns * CLEARLY;
    is_both.then(|| {
        let queue_words = number::latency(queue_ns);
        let sentence = text!(
            "the device ({disk}) and {queue} ({queue_words}) together",
            "デバイス({disk})と{queue}({queue_words})の両方"; queue
        );
        limit(LimitKind::Shared, Strength::Likely, sentence, evidence)
    })
}

/// Returns the value of an option of the job: `fsync=1`.
fn option<'c>(imported: &'c ImportedCell, name: &str) -> Option<&'c str> {
    let words = imported.procedure.as_deref()?.split_whitespace();
    words.filter_map(|word| word.split_once('=')).find(|(own, _)| *own == name).map(|(_, value)| value)
}

fn latency(imported: &ImportedCell, subject: &FigureOf, statistic: Statistic) -> Option<f64> {
    of(imported, subject, statistic)
        .filter(|figure| figure.quantity == Quantity::Latency)
        .map(|figure| figure.value)
}

/// Returns the limit of operations that fio timed.
fn timed(record: &RunRecord, cell: &Cell, imported: &ImportedCell) -> Option<Limit> {
    if let Some(limit) = offered(imported) {
        return Some(limit);
    }
    let completion_ns = latency(imported, &FigureOf::CompletionLatency, Statistic::Mean);
    let total_ns = latency(imported, &FigureOf::TotalLatency, Statistic::Mean).or(completion_ns)?;
    let is_write = cell.direction == Some(Direction::Write);
    if let Some(limit) = separate_flush(record, cell, imported, total_ns).filter(|_| is_write) {
        return Some(limit);
    }
    let total = number::latency(total_ns);
    let is_direct = option(imported, "direct").is_some_and(|value| value != "0")
        || record.header.origin.as_ref()?.facts.get("direct").is_some_and(|direct| direct == "1");
    if !is_direct {
        let from_memory = total_ns < MEMORY_NS && imported.iodepth.unwrap_or(1) == 1;
        return from_memory.then(|| {
            let evidence = text!(
                "an operation takes {total} through the page cache, less than any device needs",
                "ページキャッシュ経由の 1 操作は {total} で、どのデバイスよりも短時間です"
            );
            limit(
                LimitKind::HostMemory,
                Strength::Likely,
                text!("the computer's memory", "コンピューターのメモリー"),
                evidence,
            )
        });
    }
    if let (Some(CellFlush::Included(call)), true) = (cell_flush(cell), total_ns >= FLUSHED_NS) {
        let evidence = text!(
            "a write takes {total} including its flush",
            "書き込み 1 回はフラッシュを含めて {total} です"
        );
        return Some(limit(LimitKind::Flush, Strength::Likely, flush::in_each_write(call), evidence));
    }
    let submission_ns = latency(imported, &FigureOf::SubmissionLatency, Statistic::Mean).unwrap_or(0.0);
    let in_flight = imported.iodepth.unwrap_or(1).saturating_mul(imported.threads.unwrap_or(1));
    let submission = number::latency(submission_ns);
    if submission_ns >= total_ns * MOSTLY {
        let evidence = text!(
            "of {total} for an operation, its submission takes {submission}",
            "1 操作 {total} のうち、発行に {submission} かかっています"
        );
        let sentence = text!("the computer's own I/O path", "コンピューター側の処理");
        return (in_flight <= ACCEPTED).then(|| limit(LimitKind::Host, Strength::Likely, sentence, evidence));
    }
    if total_ns < DEVICE_NS {
        return None;
    }
    seeks(cell, imported).or_else(|| {
        Some(the_device(
            Strength::Likely,
            match submission_ns > 0.0 {
                true => text!(
                    "an operation takes {total} with direct I/O, of which its submission takes {submission}",
                    "ダイレクト I/O の 1 操作は {total} で、うち発行は {submission} です"
                ),
                false => text!(
                    "an operation takes {total} with direct I/O",
                    "ダイレクト I/O の 1 操作は {total} です"
                ),
            },
        ))
    })
}

/// Returns the offered rate as the limit, if the job kept up with it.
fn offered(imported: &ImportedCell) -> Option<Limit> {
    let offered: f64 = option(imported, "rate_iops")?.split(',').next()?.parse().ok()?;
    let jobs = f64::from(imported.threads.unwrap_or(1));
    let iops = imported.figures.iter().find(|figure| figure.quantity == Quantity::Iops)?.value;
    let is_offered = (iops / (offered * jobs) - 1.0).abs() <= OFFERED;
    let (done, asked) = (number::count(iops.round() as u64), number::count((offered * jobs).round() as u64));
    is_offered.then(|| {
        limit(
            LimitKind::Cause,
            Strength::Strong,
            text!("the rate at which the job was to issue", "ジョブに指定された発行頻度"),
            text!(
                "{done} operations per second were done, and {asked} were requested (`rate_iops`)",
                "毎秒 {asked} 件の指定(`rate_iops`)に対し、{done} 件を処理しました"
            ),
        )
    })
}

/// Returns the flush as the limit, if one follows each write and takes at least half of the time.
fn separate_flush(record: &RunRecord, cell: &Cell, imported: &ImportedCell, write_ns: f64) -> Option<Limit> {
    let (call, _) = [(FlushCall::Fsync, "fsync"), (FlushCall::Fdatasync, "fdatasync")]
        .into_iter()
        .find(|(_, name)| option(imported, name) == Some("1"))?;
    // The syncs of a job are a cell next to it.
    let is_sync = |other: &&Cell| {
        other.imported.as_ref().is_some_and(|other| {
            other.procedure == imported.procedure
                && latency(other, &FigureOf::SyncLatency, Statistic::Mean).is_some()
        })
    };
    let syncs = record.cells.iter().filter(|other| other.index != cell.index).find(is_sync)?;
    let flush_ns = latency(syncs.imported.as_ref()?, &FigureOf::SyncLatency, Statistic::Mean)?;
    let share = flush_ns / (flush_ns + write_ns);
    let (each, write, share_words) =
        (number::latency(flush_ns), number::latency(write_ns), number::percent(share));
    (share >= MOSTLY).then(|| {
        limit(
            LimitKind::Flush,
            Strength::Strong,
            flush::the_flush(call),
            text!(
                "a flush follows each write and takes {each}, the write {write}: flushes take {share_words} of \
                 the time",
                "書き込みごとにフラッシュがあり、1 回 {each}(書き込みは {write})です。時間の {share_words} をフラッシュが占めます"
            ),
        )
    })
}

/// Returns seek and rotation as the limit of single random reads whose latencies scatter over a good
/// part of a rotation.
fn seeks(cell: &Cell, imported: &ImportedCell) -> Option<Limit> {
    let at = |rank: f64| latency(imported, &FigureOf::CompletionLatency, Statistic::Percentile(rank));
    let (low_ns, median_ns, high_ns) = (at(10.0)?, at(50.0)?, at(90.0)?);
    let is_single = imported.iodepth == Some(1) && imported.threads.is_none_or(|threads| threads == 1);
    let is_read = cell.direction == Some(Direction::Read) && imported.read_percent.is_none();
    let is_random = imported.sequential == Some(false) && is_read;
    let is_disk = median_ns >= SEEK_NS && high_ns - low_ns >= SCATTER_NS && high_ns < 10.0 * median_ns;
    let (low, high) = (number::latency(low_ns), number::latency(high_ns));
    (is_random && is_single && is_disk).then(|| {
        limit(
            LimitKind::Mechanics,
            Strength::Likely,
            text!("seek and rotation", "シークと回転待ち"),
            text!(
                "single random reads take between {low} and {high} (10 % and 90 %), as on a hard disk",
                "単独のランダムリードが {low} 〜 {high}(10 % 点と 90 % 点)かかっており、ハードディスクの値です"
            ),
        )
    })
}
