//! Text for forums in the layout of CrystalDiskMark 9, which names kurabe as the tool.
//!
//! The model: the heading names kurabe. Result lines, sections and footer have CrystalDiskMark's format
//! (hiyohiyo/CrystalDiskMark bf00fa6, `DiskMarkDlg.cpp`: `GetResultString`, `SaveText`), so that people
//! and tools that know one can read the other. As in CrystalDiskMark, IOPS are the rate divided by the
//! block size. A line `Statistic` is added, because only CrystalDiskMark always shows the best run.
//! Cells that do not fit a result line are named in the comment.

use super::facts::{of_model, one_line, printed, printed_mean_latency, single_block_bytes};
use kurabe_core::imported::{PrintedStatistic, Quantity};
use kurabe_core::quantity::{GIB, KIB, format_bytes};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::workload::{Data, Direction, Pattern, Workload};
use kurabe_core::{Lang, Text, text};
use kurabe_stats::{cell_figure, cell_mean_latency_ns};
use std::fmt::Write;

const RULE: &str = "------------------------------------------------------------------------------";

/// Writes the texts of the runs one after the other.
pub(super) fn write(records: &[RunRecord], lang: Lang) -> String {
    records.iter().map(|record| block(record, lang)).collect::<Vec<_>>().join("\n")
}

/// Figures of a result line.
struct ResultFigures {
    sequential: bool,
    block_kib: u64,
    iodepth: u32,
    threads: u32,
    rate_bytes_per_s: f64,
    /// Operations per second as printed by another tool. CrystalDiskMark computes them from the rate.
    printed_iops: Option<f64>,
    latency_ns: f64,
}

impl ResultFigures {
    /// Returns a cell as a result line. `None` if it does not fit one.
    fn of(record: &RunRecord, cell: &Cell) -> Option<Self> {
        let line = match (&cell.workload, &cell.imported) {
            (Some(workload), _) => Self::of_workload(record, cell, workload)?,
            (None, Some(imported)) => Self {
                sequential: imported.sequential?,
                block_kib: kib(imported.block_bytes?)?,
                iodepth: imported.iodepth?,
                threads: imported.threads?,
                rate_bytes_per_s: printed(imported, Quantity::Rate)?.value,
                printed_iops: printed(imported, Quantity::Iops).map(|figure| figure.value),
                latency_ns: printed_mean_latency(imported)?.value,
            },
            (None, None) => return None,
        };
        // CrystalDiskMark prints 0.000 for tests that were not run.
        (line.rate_bytes_per_s >= 500.0 && line.latency_ns.is_finite()).then_some(line)
    }

    fn of_workload(record: &RunRecord, cell: &Cell, workload: &Workload) -> Option<Self> {
        let closed = workload.open_loop.is_none()
            && workload.rewrite_every_reads.is_none()
            && workload.trims.is_none();
        let plain =
            closed && !matches!(workload.pattern, Pattern::Zipf { .. }) && cell.measure == Measure::Rate;
        let statistic = record.header.statistic();
        Some(Self {
            sequential: workload.pattern.is_sequential(),
            block_kib: kib(single_block_bytes(workload).filter(|_| plain)?)?,
            iodepth: workload.iodepth,
            threads: workload.threads,
            rate_bytes_per_s: cell_figure(cell, statistic)?,
            printed_iops: None,
            latency_ns: cell_mean_latency_ns(cell, statistic)?,
        })
    }

    fn print(&self) -> String {
        let word = if self.sequential { "SEQ" } else { "RND" };
        let whole_mib = self.block_kib.is_multiple_of(1024);
        let (number, unit) = if whole_mib { (self.block_kib / 1024, "MiB") } else { (self.block_kib, "KiB") };
        format!(
            "  {word} {number:4}{unit} (Q={:3}, T={:2}): {:9.3} MB/s [{:9.1} IOPS] <{:9.2} us>",
            self.iodepth,
            self.threads,
            self.rate_bytes_per_s / 1e6,
            self.printed_iops.unwrap_or(self.rate_bytes_per_s / (self.block_kib * KIB) as f64),
            self.latency_ns / 1e3
        )
    }
}

/// Returns a size in KiB, if it is a whole number.
fn kib(bytes: u64) -> Option<u64> {
    (bytes > 0 && bytes.is_multiple_of(KIB)).then_some(bytes / KIB)
}

fn block(record: &RunRecord, lang: Lang) -> String {
    let header = &record.header;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ =
        writeln!(out, "{RULE}\nkurabe {} (as CrystalDiskMark 9 prints it)", one_line(&header.kurabe_version));
    let whose = match (&header.origin, &header.model) {
        (Some(origin), _) => {
            let tool = origin.tool_name();
            text!("figures of {tool}, not of kurabe", "{tool} の値(kurabe の測定ではありません)")
        }
        (None, Some(_)) => text!(
            "figures of a model, not measured on a device",
            "モデルの計算値(実機の測定値ではありません)"
        ),
        (None, None) => text!(
            "figures of kurabe, not of CrystalDiskMark",
            "kurabe の測定値(CrystalDiskMark の値ではありません)"
        ),
    };
    let _ = writeln!(out, "{:>78}\n{RULE}", one_line(whose.get(lang)));
    out.push_str("* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n");
    out.push_str("* KB = 1000 bytes, KiB = 1024 bytes\n\n");
    let mut section = String::new();
    let mut left_out = Vec::new();
    for cell in in_order(record) {
        match (ResultFigures::of(record, cell), heading(cell)) {
            (Some(line), Some(heading)) => {
                if heading != section {
                    if !section.is_empty() {
                        out.push('\n');
                    }
                    let _ = writeln!(out, "{heading}");
                    section = heading;
                }
                let _ = writeln!(out, "{}", line.print());
            }
            _ => left_out.push(name(cell)),
        }
    }
    if !section.is_empty() {
        out.push('\n');
    }
    foot(&mut out, record, &left_out, lang);
    out
}

/// Returns the cells in order: reads, then writes, then mixes with the same share together.
fn in_order(record: &RunRecord) -> Vec<&Cell> {
    let mut cells: Vec<&Cell> = record.cells.iter().collect();
    cells.sort_by_key(|cell| {
        let place = Direction::ALL.iter().position(|direction| Some(*direction) == cell.direction);
        (place.unwrap_or(Direction::ALL.len()), std::cmp::Reverse(read_percent(cell)))
    });
    cells
}

fn read_percent(cell: &Cell) -> Option<u8> {
    let printed = || Some(cell.imported.as_ref()?.read_percent?.round().clamp(0.0, 100.0) as u8);
    cell.workload.as_ref().map(|workload| workload.read_percent).or_else(printed)
}

fn heading(cell: &Cell) -> Option<String> {
    Some(match cell.direction? {
        Direction::Read => "[Read]".to_owned(),
        Direction::Write => "[Write]".to_owned(),
        Direction::Mix => {
            let reads = read_percent(cell)?.min(100);
            format!("[Mix] Read {reads}%/Write {}%", 100 - reads)
        }
    })
}

fn name(cell: &Cell) -> String {
    match cell.direction {
        Some(direction) => one_line(&format!("{} {}", cell.label, direction.word())),
        None => one_line(&cell.label),
    }
}

fn foot(out: &mut String, record: &RunRecord, left_out: &[String], lang: Lang) {
    let header = &record.header;
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(out, "{key:>7}: {value}");
    };
    line("Profile", &one_line(&header.profile_name()));
    let place = capacity(record).map(|capacity| format!(" [{capacity}]")).unwrap_or_default();
    if let (Some(profile), Some(target)) = (&header.profile, &header.target) {
        let rules = &profile.rules;
        line("Test", &format!("{} (x{}){place}", format_bytes(target.span_bytes), rules.runs));
        line("Mode", if rules.data == Data::Zero { "<0Fill>" } else { "" });
        line(
            "Time",
            &format!("Measure {} / Interval {} ", seconds(rules.time_ns), seconds(rules.interval_ns)),
        );
    } else if let Some(procedure) = header.origin.as_ref().and_then(|origin| origin.procedure.as_deref()) {
        line("Test", &one_line(procedure));
    }
    if let Some(date) = date(header.measured_at()) {
        line("Date", &date);
    }
    if let Some(model) = of_model(record) {
        line("Model", &one_line(model.get(lang)));
    } else if let Some(os) = &header.environment.machine.os {
        let kernel = header.environment.machine.kernel.as_ref().map(|kernel| format!(" [{kernel}]"));
        line("OS", &one_line(&format!("{os}{}", kernel.unwrap_or_default())));
    }
    if let Some(word) = statistic_of(record) {
        line("Statistic", word);
    }
    if !left_out.is_empty() {
        let left: Text = text!("left out: {}", "省いたセル: {}", left_out.join(", "));
        line("Comment", left.get(lang));
    }
}

/// Returns the statistic, if all figures use the same one.
fn statistic_of(record: &RunRecord) -> Option<&'static str> {
    if record.header.origin.is_none() {
        return Some(record.header.statistic().word());
    }
    let mut words = record.cells.iter().filter_map(|cell| {
        Some(match cell.imported.as_ref()?.figures.first()?.statistic {
            PrintedStatistic::Highest => "best",
            PrintedStatistic::Mean => "mean",
            PrintedStatistic::Median => "median",
            _ => "",
        })
    });
    let first = words.next().filter(|word| !word.is_empty())?;
    words.all(|word| word == first).then_some(first)
}

/// Returns `C: 87% (814/931GiB)`, with the target instead of the drive.
fn capacity(record: &RunRecord) -> Option<String> {
    let name: String = one_line(record.header.target_name()).replace(['[', ']'], "");
    let name = Some(name).filter(|name| !name.is_empty())?;
    let file_system = record.header.environment.file_system.as_ref();
    let sizes = file_system.and_then(|file_system| Some((file_system.size_bytes?, file_system.free_bytes?)));
    Some(match sizes {
        Some((size, free)) if size >= free && size > 0 => {
            let used = size - free;
            let percent = (used as f64 * 100.0 / size as f64).round();
            format!("{name}: {percent}% ({}/{}GiB)", used / GIB, size / GIB)
        }
        _ => format!("{name}:"),
    })
}

/// Formats a time, as in `5 sec` and `0.5 sec`.
fn seconds(ns: u64) -> String {
    format!("{} sec", ns as f64 / 1e9)
}

/// `2021/02/05 11:16:10` from an ISO 8601 time, in its own offset.
fn date(iso: &str) -> Option<String> {
    let (day, time) = (iso.get(..10)?, iso.get(11..19)?);
    let digits = |words: &str| words.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | ':'));
    // CrystalDiskMark does not fill the hour with a zero.
    let time = time.strip_prefix('0').unwrap_or(time);
    (digits(day) && digits(time)).then(|| format!("{} {time}", day.replace('-', "/")))
}
