//! Other activity during a repetition.
//!
//! The noise is computed from the kernel's counters before and after. The bytes of other processes
//! are those counted for the disk but not for kurabe.
//!
//! That subtraction has limits. /proc/self/io counts a read or a direct write when it reaches the
//! block layer, but a buffered write when the page becomes dirty, long before it reaches the disk.
//! So the difference "disk minus kurabe" falls while kurabe fills the cache and rises again when
//! the kernel writes it out. A [`NoiseWatch`] therefore stores the highest difference seen so far,
//! and the bytes of other processes in a repetition are the increase of that maximum. Late writes
//! of kurabe's own data then don't count, but other processes' bytes are missed while the
//! difference is low. The subtraction is meaningless if a layer changes the amount of data (RAID,
//! compression, copy-on-write, a cache, memory) or if there is not exactly one disk. The result is
//! then `None`. The journal of a file system is written by the kernel, not by kurabe, and counts as
//! other activity.
//!
//! A suspend is detected by comparing the clock that continues during it (`CLOCK_BOOTTIME`) with
//! the one that stops (`CLOCK_MONOTONIC`), which times the repetitions.
//!
//! Sources: kernel Documentation/block/stat.rst, accounting/psi.rst; proc_pid_io(5), proc_stat(5),
//! proc_pid_stat(5), clock_gettime(2).

use crate::block::{BlockNode, SECTOR_BYTES};
use crate::identity::{fields_after_name, stat_field};
use crate::platform;
use crate::roots::{self, Roots};
use kurabe_core::environment::{Environment, Link};
use kurabe_core::{Text, number::long_time, quantity::format_bytes_decimal, record::Noise, text};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Bytes of other processes below which nothing is reported, whatever their share.
pub const OTHER_BYTES_FLOOR: u64 = 1_000_000;
/// Bytes of other processes, as a share of kurabe's own, below which nothing is reported.
pub const OTHER_BYTES_SHARE: f64 = 0.01;
/// Share of the CPU time stolen by the hypervisor above which it is reported.
pub const STEAL_SHARE: f64 = 0.02;
/// Number of CPUs busy with other work above which it is reported.
pub const OTHER_CPUS_BUSY: f64 = 0.5;
/// Share of the time in which tasks waited for a CPU or for memory above which it is reported.
pub const PRESSURE_SHARE: f64 = 0.10;
/// Suspended time in ns below which nothing is reported. Two clocks are read one after the other,
/// and the thread may lose its CPU in between. An actual suspend lasts longer.
pub const SUSPENDED_NS: u64 = 1_000_000;

/// Shortest time for which shares of CPU time are reported, because the kernel counts in ticks of
/// 10 ms.
const CPU_SPAN_MIN: Duration = Duration::from_millis(200);

/// File systems that write a different amount of data than they receive.
const TRANSFORMING: [&str; 7] = ["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2", "ecryptfs", "fuseblk"];

/// Bytes read and written, counted from an arbitrary start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub read: u64,
    pub written: u64,
}

/// CPU time in clock ticks since boot, over all CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// User, nice and system time. Interrupts are excluded, because they may serve kurabe's own
    /// I/O.
    pub busy: u64,
    /// Time stolen by the hypervisor.
    pub steal: u64,
    /// Total CPU time, including idle time.
    pub total: u64,
}

/// A reading of all counters.
#[derive(Clone, Debug)]
struct Counters {
    disk: Option<Bytes>,
    own: Option<Bytes>,
    cpu: Option<Ticks>,
    own_ticks: Option<u64>,
    /// Microseconds of waiting for I/O, CPU and memory.
    pressure_us: [Option<u64>; 3],
    /// Time in ns during which the machine was suspended since boot.
    suspended_ns: Option<u64>,
    at: Instant,
}

/// The counters at the start of a repetition.
#[derive(Clone, Debug)]
pub struct NoiseMark {
    counters: Counters,
    read_record: i64,
    write_record: i64,
}

/// Observes the disk and the machine during one run.
#[derive(Debug)]
pub struct NoiseWatch {
    roots: Roots,
    /// `stat` file of the disk, if the bytes of other processes can be determined.
    disk_stat: Option<PathBuf>,
    suspended_ns: fn() -> Option<u64>,
    /// Highest "disk minus kurabe" seen for reads.
    read_record: AtomicI64,
    /// Highest "disk minus kurabe" seen for writes.
    write_record: AtomicI64,
}

impl NoiseWatch {
    /// Creates a watch for a run with this environment. Must be created before the test file is
    /// written, so that its late writes count as kurabe's own.
    pub fn new(environment: &Environment) -> Self {
        Self::new_in(Roots::default(), platform::suspended_ns, environment)
    }

    fn new_in(roots: Roots, suspended_ns: fn() -> Option<u64>, environment: &Environment) -> Self {
        let disk_stat = countable_disk(environment)
            .and_then(|name| BlockNode::by_name(&roots, name))
            // A disk without statistics (`queue/iostats`) counts nothing.
            .filter(|disk| roots::flag(&disk.directory.join("queue/iostats")) == Some(true))
            .map(|disk| disk.directory.join("stat"));
        let watch = Self {
            roots,
            disk_stat,
            suspended_ns,
            read_record: AtomicI64::new(i64::MIN),
            write_record: AtomicI64::new(i64::MIN),
        };
        let counters = watch.counters();
        watch.record(&counters);
        watch
    }

    /// Reads the counters at the start of a repetition: at most seven small files.
    pub fn start(&self) -> NoiseMark {
        let counters = self.counters();
        let (read_record, write_record) = self.record(&counters);
        NoiseMark { counters, read_record, write_record }
    }

    /// Reads the counters at the end of the repetition and returns the differences.
    pub fn finish(&self, mark: NoiseMark) -> Noise {
        let now = self.counters();
        let (read_record, write_record) = self.record(&now);
        let before = mark.counters;
        let span = now.at.saturating_duration_since(before.at);
        let rise = |before: i64, now: i64| {
            (before > i64::MIN && now > i64::MIN).then(|| now.saturating_sub(before).max(0) as u64)
        };
        let (steal_share, other_cpus_busy) = cpu_noise(&before, &now, span);
        let pressure = |which: usize| {
            let (from, to) = before.pressure_us[which].zip(now.pressure_us[which])?;
            let span_us = span.as_micros() as f64;
            (span_us > 0.0).then(|| (to.saturating_sub(from) as f64 / span_us).min(1.0))
        };
        Noise {
            other_read_bytes: rise(mark.read_record, read_record),
            other_write_bytes: rise(mark.write_record, write_record),
            steal_share,
            io_pressure_share: pressure(0),
            cpu_pressure_share: pressure(1),
            memory_pressure_share: pressure(2),
            other_cpus_busy,
            suspended_ns: before
                .suspended_ns
                .zip(now.suspended_ns)
                .map(|(before, now)| now.saturating_sub(before))
                .filter(|suspended_ns| *suspended_ns > SUSPENDED_NS),
        }
    }

    fn counters(&self) -> Counters {
        let proc_text = |name: &str| roots::text(&self.roots.proc.join(name));
        let disk = self.disk_stat.as_ref().and_then(|stat| parse_disk_stat(&roots::text(stat)?));
        Counters {
            disk,
            own: disk.and_then(|_| parse_own_io(&proc_text("self/io")?)),
            cpu: proc_text("stat").and_then(|stat| parse_cpu(&stat)),
            own_ticks: proc_text("self/stat").and_then(|stat| parse_own_ticks(&stat)),
            pressure_us: ["io", "cpu", "memory"]
                .map(|name| parse_pressure_us(&proc_text(&format!("pressure/{name}"))?)),
            suspended_ns: (self.suspended_ns)(),
            at: Instant::now(),
        }
    }

    /// Updates the maxima with the current difference and returns them. `i64::MIN` means unknown.
    fn record(&self, counters: &Counters) -> (i64, i64) {
        let Some((disk, own)) = counters.disk.zip(counters.own) else { return (i64::MIN, i64::MIN) };
        let raise = |record: &AtomicI64, disk: u64, own: u64| {
            // Counters above 2^63 bytes do not occur. Wrapping arithmetic keeps differences correct
            // even then.
            let difference = disk.wrapping_sub(own) as i64;
            record.fetch_max(difference, Ordering::Relaxed).max(difference)
        };
        (raise(&self.read_record, disk.read, own.read), raise(&self.write_record, disk.written, own.written))
    }
}

/// Returns the disk whose counters can be compared with kurabe's own, if there is one.
fn countable_disk(environment: &Environment) -> Option<&str> {
    let [device] = environment.devices.as_slice() else { return None };
    if device.link == Some(Link::Memory) {
        return None;
    }
    if let Some(file_system) = &environment.file_system {
        let kind = file_system.kind.as_deref().unwrap_or_default();
        let options = file_system.options.as_deref().unwrap_or_default();
        if TRANSFORMING.contains(&kind) || kind.starts_with("fuse") || options.contains("compress") {
            return None;
        }
    }
    let layers = environment.layers.iter().filter(|layer| !layer.starts_with("under "));
    // LVM in a single layer is a plain volume. Thin, cached and RAID volumes have further layers
    // below.
    let mut volumes = 0;
    for layer in layers {
        let kind = layer.split_once('(').map(|(_, kind)| kind.split([',', ')']).next().unwrap_or_default());
        match kind {
            Some("crypt" | "part" | "mpath" | "loop") => {}
            Some("lvm") => volumes += 1,
            Some(kind) if kind.starts_with("upper ") => {}
            _ => return None,
        }
    }
    (volumes <= 1).then_some(device.name.as_str())
}

fn cpu_noise(before: &Counters, now: &Counters, span: Duration) -> (Option<f64>, Option<f64>) {
    let Some((from, to)) = before.cpu.zip(now.cpu).filter(|_| span >= CPU_SPAN_MIN) else {
        return (None, None);
    };
    let total = to.total.saturating_sub(from.total);
    let steal = (total > 0).then(|| (to.steal.saturating_sub(from.steal) as f64 / total as f64).min(1.0));
    let busy = before.own_ticks.zip(now.own_ticks).map(|(own_from, own_to)| {
        let busy = to.busy.saturating_sub(from.busy);
        let others = busy.saturating_sub(own_to.saturating_sub(own_from));
        others as f64 / platform::ticks_per_s() as f64 / span.as_secs_f64()
    });
    (steal, busy)
}

/// Parses the bytes in a disk's `stat`: field 3 is sectors read, field 7 sectors written, of 512
/// bytes each.
pub(crate) fn parse_disk_stat(stat: &str) -> Option<Bytes> {
    let mut fields = stat.split_whitespace();
    let read: u64 = fields.nth(2)?.parse().ok()?;
    let written: u64 = fields.nth(3)?.parse().ok()?;
    Some(Bytes { read: read.checked_mul(SECTOR_BYTES)?, written: written.checked_mul(SECTOR_BYTES)? })
}

/// Parses kurabe's own bytes in /proc/self/io, for all threads, without data that was dirtied but
/// never written.
pub(crate) fn parse_own_io(io: &str) -> Option<Bytes> {
    let field = |name: &str| -> Option<u64> {
        io.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    };
    let written = field("write_bytes")?.saturating_sub(field("cancelled_write_bytes").unwrap_or(0));
    Some(Bytes { read: field("read_bytes")?, written })
}

/// Parses the first line of /proc/stat. `guest` is included in `user` and not counted again.
pub(crate) fn parse_cpu(stat: &str) -> Option<Ticks> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let numbers: Vec<u64> = line.split_whitespace().map_while(|number| number.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = numbers[..] else { return None };
    let sum = |numbers: &[u64]| numbers.iter().try_fold(0_u64, |sum, &number| sum.checked_add(number));
    Some(Ticks {
        busy: sum(&[user, nice, system])?,
        steal,
        total: sum(&[user, nice, system, idle, iowait, irq, softirq, steal])?,
    })
}

/// Parses kurabe's own user and system time in ticks, for all threads: fields 14 and 15.
pub(crate) fn parse_own_ticks(stat: &str) -> Option<u64> {
    let fields = fields_after_name(stat)?;
    let ticks = |number| stat_field(&fields, number)?.parse::<u64>().ok();
    ticks(14)?.checked_add(ticks(15)?)
}

/// Parses the microseconds since boot in which some task waited.
pub(crate) fn parse_pressure_us(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
}

/// Returns remarks about a repetition's noise that exceeds the thresholds.
///
/// `own_bytes` is the number of bytes that kurabe read and wrote, and `elapsed_ns` the duration.
/// The thresholds are the constants of this module. Waiting for I/O is not reported, because most
/// of it is kurabe's own.
pub fn noise_remarks(noise: &Noise, own_bytes: u64, elapsed_ns: u64) -> Vec<Text> {
    let mut remarks = Vec::new();
    if let Some(time) = noise.suspended_ns.map(long_time) {
        remarks.push(text!(
            "the machine was suspended for {time}, so the result is not that of the storage alone \
             (prevent it with systemd-inhibit)",
            "マシンが {time} サスペンドしていたため、ストレージだけの結果ではありません(systemd-inhibit で防げます)"
        ));
    }
    let worth_telling =
        |bytes: &u64| *bytes > OTHER_BYTES_FLOOR && *bytes as f64 > OTHER_BYTES_SHARE * own_bytes as f64;
    let rate = |bytes: u64| {
        let per_s = if elapsed_ns == 0 { 0.0 } else { bytes as f64 * 1e9 / elapsed_ns as f64 };
        format_bytes_decimal(per_s as u64)
    };
    if let Some(bytes) = noise.other_read_bytes.filter(worth_telling) {
        let (amount, rate) = (format_bytes_decimal(bytes), rate(bytes));
        remarks.push(text!(
            "other programs read {amount} from this device ({rate}/s)",
            "ほかのプログラムがこのデバイスから {amount} を読み出しました({rate}/s)"
        ));
    }
    if let Some(bytes) = noise.other_write_bytes.filter(worth_telling) {
        let (amount, rate) = (format_bytes_decimal(bytes), rate(bytes));
        remarks.push(text!(
            "other programs, or the file system's own journal, wrote {amount} to this device ({rate}/s)",
            "ほかのプログラムまたはファイルシステムのジャーナルがこのデバイスに {amount} を書き込みました({rate}/s)"
        ));
    }
    if let Some(percent) = noise.steal_share.filter(|&share| share > STEAL_SHARE).map(|share| share * 100.0) {
        remarks.push(text!(
            "the hypervisor took {percent:.0} % of the CPU time",
            "CPU スチール: ハイパーバイザーが CPU 時間の {percent:.0} % を取りました"
        ));
    }
    if let Some(cpus) = noise.other_cpus_busy.filter(|&cpus| cpus > OTHER_CPUS_BUSY) {
        remarks.push(text!(
            "{cpus:.1} CPUs were busy with other work",
            "CPU {cpus:.1} 個分がほかの処理に使われていました"
        ));
    }
    let pressed =
        |share: Option<f64>| share.filter(|&share| share > PRESSURE_SHARE).map(|share| share * 100.0);
    if let Some(percent) = pressed(noise.cpu_pressure_share) {
        remarks.push(text!(
            "tasks waited for a CPU {percent:.0} % of the time",
            "時間の {percent:.0} % で、CPU の空きを待つ処理がありました"
        ));
    }
    if let Some(percent) = pressed(noise.memory_pressure_share) {
        remarks.push(text!(
            "tasks waited for memory {percent:.0} % of the time",
            "時間の {percent:.0} % で、メモリーの空きを待つ処理がありました"
        ));
    }
    remarks
}

#[cfg(test)]
mod tests;
