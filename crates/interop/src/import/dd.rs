//! What dd prints at its end: GNU in English and Japanese, BSD and macOS, and busybox.
//!
//! The model: a line of bytes, time and rate; one line is one cell. Lines that `status=progress` printed before it are
//! a series. A shell's line with the command above it, if it was kept, tells block size and direction. GNU's MB is
//! 10^6, BSD prints bytes, busybox prints MB for MiB (`dd.c`: `make_human_readable_str`), which is corrected. Sources:
//! GNU coreutils 9.1 as run here; Japanese lines as published with coreutils 8 (later translations print English);
//! mirror/busybox `coreutils/dd.c`; published lines of BSD and macOS.

use super::consumer::{MEGA, corrected_rate, figure};
use super::parts::{cell, number, numbered};
use super::{ImportedRun, Importer, Input, Outcome};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{
    Correction, ImportedCell, Origin, PrintedFigure, PrintedSeries, PrintedStatistic, Quantity, SeriesAxis,
};
use kurabe_core::quantity::{GIB, KIB, MIB, format_bytes};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;

pub(super) const IMPORTER: Importer = Importer { what: "dd output", read };

/// A line of bytes, time and rate.
struct Transfer<'a> {
    bytes: &'a str,
    seconds: &'a str,
    seconds_unit: &'a str,
    rate: &'a str,
    rate_unit: &'a str,
    /// busybox: units are powers of 1024.
    binary: bool,
}

/// A command line as far as it matters.
#[derive(Default)]
struct Command<'a> {
    line: Option<&'a str>,
    block_bytes: Option<u64>,
    direction: Option<Direction>,
    target: Option<&'a str>,
}

fn read(input: &Input<'_>) -> Outcome {
    let counted = input.lines().any(|(_, line)| is_records_out(line));
    let (mut cells, mut targets) = (Vec::new(), Vec::new());
    let (mut progress, mut command) = (Vec::new(), Command::default());
    let mut after_records = !counted;
    for (_, line) in input.lines() {
        if let Some(next) = Command::read(line) {
            (command, progress) = (next, Vec::new());
        } else if is_records_out(line) {
            after_records = true;
        } else if let Some(transfer) = Transfer::read(line) {
            if !after_records {
                progress.push(transfer);
                continue;
            }
            targets.push(command.target.map(str::to_owned));
            cells.extend(transfer.cell(&std::mem::take(&mut command), &std::mem::take(&mut progress)));
            after_records = !counted;
        }
    }
    if cells.is_empty() {
        return Outcome::NotMine(if counted {
            text!(
                "records are counted, but there is no line of bytes, time and rate",
                "レコード数の行はありますが、バイト数・時間・速度の行がありません"
            )
        } else {
            text!("no line such as `bytes copied`", "`bytes copied` のような行がありません")
        });
    }
    targets.dedup();
    let origin = Origin {
        tool: "dd".to_owned(),
        format: "dd".to_owned(),
        file: input.name.to_owned(),
        target: if let [Some(target)] = targets.as_slice() { Some(target.clone()) } else { None },
        ..Origin::default()
    };
    let environment = Environment::default();
    Outcome::Runs(vec![ImportedRun { origin, environment, cells: numbered(cells), notices: Vec::new() }])
}

/// `64+0 records out`, `64+0 レコード出力`.
fn is_records_out(line: &str) -> bool {
    let line = line.trim();
    let counts = line.split(' ').next().and_then(|word| word.split_once('+'));
    let is_number = |words: &str| !words.is_empty() && words.bytes().all(|byte| byte.is_ascii_digit());
    counts.is_some_and(|(whole, part)| is_number(whole) && is_number(part))
        && (line.ends_with(" records out")
            || line.ends_with(" record out")
            || line.ends_with(" レコード出力"))
}

impl<'a> Transfer<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let line = line.trim();
        let (bytes, rest) = line.split_once(' ')?;
        if bytes.is_empty() || !bytes.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let rest = ["bytes", "byte", "バイト"].iter().find_map(|word| rest.strip_prefix(word))?.trim_start();
        // Sizes for people stand in brackets, or nothing does.
        let rest = match rest.strip_prefix('(') {
            Some(inner) => inner.split_once(')')?.1.trim_start(),
            None => rest,
        };
        if let Some(rest) = rest.strip_prefix("transferred in ") {
            let (seconds, rest) = rest.split_once(" secs (")?;
            let rate = rest.strip_suffix(" bytes/sec)")?;
            number(seconds)?;
            let (seconds_unit, rate_unit) = ("secs", "bytes/sec");
            return Some(Self { bytes, seconds, seconds_unit, rate, rate_unit, binary: false });
        }
        let (rest, comma) = [("copied, ", ','), ("コピーされました、", '、'), ("transferred ", ',')]
            .iter()
            .find_map(|(word, comma)| rest.strip_prefix(word).map(|rest| (rest, *comma)))?;
        let (time, rate) = rest.trim().split_once(comma)?;
        let (seconds, seconds_unit) = split_unit(time)?;
        let (rate_number, rate_unit) = split_unit(rate)?;
        number(seconds)?;
        let binary = seconds_unit == "seconds" && !rate.trim().contains(' ');
        let is_summary =
            matches!(seconds_unit, "s" | "seconds" | "秒") && factor(rate_unit, binary).is_some();
        is_summary.then_some(Self { bytes, seconds, seconds_unit, rate: rate_number, rate_unit, binary })
    }

    fn rate_figure(&self) -> Option<PrintedFigure> {
        let mean = PrintedStatistic::Mean;
        let (decimal, true_factor) = (factor(self.rate_unit, false)?, factor(self.rate_unit, self.binary)?);
        if !self.binary || true_factor <= decimal {
            return figure(Quantity::Rate, mean, self.rate, self.rate_unit, true_factor);
        }
        let correction = Correction {
            factor: true_factor / decimal,
            unit: self.rate_unit.replacen("B/s", "iB/s", 1),
            reason: text!(
                "busybox prints powers of 1024 with decimal names",
                "busybox は 1024 の累乗を 10 進の単位名で表示します"
            ),
        };
        let mut figure = corrected_rate(mean, self.rate, self.rate_unit, &correction)?;
        figure.value *= decimal / MEGA;
        figure.value.is_finite().then_some(figure)
    }

    fn cell(&self, command: &Command<'_>, progress: &[Transfer<'_>]) -> Option<Cell> {
        let mut figures: Vec<PrintedFigure> = self.rate_figure().into_iter().collect();
        figures.extend(figure(
            Quantity::Duration,
            PrintedStatistic::Sum,
            self.seconds,
            self.seconds_unit,
            1e9,
        ));
        figures.extend(figure(Quantity::Bytes, PrintedStatistic::Sum, self.bytes, "bytes", 1.0));
        let imported = ImportedCell {
            procedure: command.line.map(str::to_owned),
            block_bytes: command.block_bytes,
            series: series(progress).into_iter().collect(),
            figures,
            ..ImportedCell::default()
        };
        let label =
            command.block_bytes.map_or("dd".to_owned(), |bytes| format!("dd {}", format_bytes(bytes)));
        (!imported.figures.is_empty()).then(|| cell(label, command.direction, imported))
    }
}

/// What was printed while it ran: the mean rate since the start, over time.
fn series(progress: &[Transfer<'_>]) -> Option<PrintedSeries> {
    let first = progress.first().and_then(|transfer| number(transfer.seconds))?;
    let points: Vec<(f64, f64)> = progress
        .iter()
        .filter_map(|transfer| Some((number(transfer.seconds)? - first, transfer.rate_figure()?.value)))
        .filter(|(seconds, _)| *seconds >= 0.0 && (*seconds * 1e9).is_finite())
        .map(|(seconds, rate)| (seconds * 1e9, rate))
        .collect();
    (!points.is_empty()).then(|| PrintedSeries {
        quantity: Quantity::Rate,
        name: "mean rate since the start".to_owned(),
        unit_printed: progress.first().map(|transfer| transfer.rate_unit.to_owned()).unwrap_or_default(),
        axis: SeriesAxis::Time,
        points,
    })
}

/// `148 MB/s`, `1.7GB/s`, `1.001s` as number and unit.
fn split_unit(words: &str) -> Option<(&str, &str)> {
    let words = words.trim();
    // GNU prints times below 0.1 ms as `7.2538e-05 s`.
    let at = words.find(' ').or_else(|| words.find(|c: char| !c.is_ascii_digit() && c != '.'))?;
    let (number, unit) = words.split_at(at);
    (!number.is_empty() && !unit.trim().is_empty()).then(|| (number, unit.trim()))
}

/// Bytes per second of a unit.
fn factor(unit: &str, binary: bool) -> Option<f64> {
    let unit =
        unit.strip_suffix("/s").or_else(|| unit.strip_suffix("/秒")).or_else(|| unit.strip_suffix("/sec"))?;
    let power = match unit {
        "B" | "bytes" => 0,
        "kB" | "KB" => 1,
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        "PB" => 5,
        _ => return None,
    };
    Some(if binary { 1024_f64 } else { 1000_f64 }.powi(power))
}

impl<'a> Command<'a> {
    /// A line of a shell that holds `dd if=…`.
    fn read(line: &'a str) -> Option<Self> {
        let starts =
            |at: usize| line[..at].chars().next_back().is_none_or(|c| c == ' ' || c == '/' || c == '`');
        let at = line.match_indices("dd ").map(|(at, _)| at).find(|at| starts(*at))?;
        let words = line[at..].trim_end();
        let value = |key: &str| words.split_whitespace().find_map(|word| word.strip_prefix(key));
        let (from, to) = (value("if="), value("of="));
        if from.is_none() && to.is_none() {
            return None;
        }
        let source = from.is_some_and(|path| matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random"));
        let (direction, target) = match (source, to) {
            (true, Some("/dev/null")) => (None, None),
            (true, to) => (Some(Direction::Write), to),
            (false, Some("/dev/null")) => (Some(Direction::Read), from),
            (false, to) => (None, to),
        };
        Some(Self { line: Some(words), block_bytes: value("bs=").and_then(block_bytes), direction, target })
    }
}

/// `1M`, `64k`, `1MB`, `512`.
fn block_bytes(words: &str) -> Option<u64> {
    let end = words.find(|c: char| !c.is_ascii_digit()).unwrap_or(words.len());
    let number: u64 = words[..end].parse().ok()?;
    let unit = match &words[end..] {
        "" | "c" => 1,
        "b" => 512,
        "k" | "K" | "KiB" => KIB,
        "kB" | "KB" => 1_000,
        "m" | "M" | "MiB" => MIB,
        "MB" => 1_000_000,
        "g" | "G" | "GiB" => GIB,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(line: &str) -> Option<f64> {
        Transfer::read(line)?.rate_figure().map(|figure| figure.value)
    }

    #[test]
    fn every_dialect_is_read() {
        let gnu = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 7.26574 s, 148 MB/s";
        assert_eq!(rate(gnu), Some(148e6));
        assert_eq!(rate("100 bytes copied, 7.2538e-05 s, 1.4 MB/s"), Some(1.4e6));
        assert_eq!(rate("1 byte copied, 0.5 s, 2 B/s"), Some(2.0));
        assert_eq!(rate("536870912 バイト (537 MB) コピーされました、 7.35077 秒、 73.0 MB/秒"), Some(73e6));
        assert_eq!(
            rate("20971520 bytes transferred in 1.967966 secs (10656444 bytes/sec)"),
            Some(10_656_444.0)
        );
        assert_eq!(rate("1234 bytes (1234 B, 1.2 KiB) transferred 1.001s, 1233 kB/s"), Some(1.233e6));
        let busybox = rate("4194304 bytes (4.0MB) copied, 0.003766 seconds, 1.0GB/s").unwrap();
        assert!((busybox - 1024_f64.powi(3)).abs() < 1.0, "{busybox}");
        assert_eq!(rate("12 bytes (12B) copied, 1.000000 seconds, 12B/s"), Some(12.0));
        for line in [
            "5 bytes copied",
            "x bytes copied, 1 s, 2 MB/s",
            "5 bytes copied, 1 s, 2 XB/s",
            "-5 bytes copied, 1 s, 2 B/s",
        ] {
            assert_eq!(rate(line), None, "{line}");
        }
    }

    #[test]
    fn a_time_too_short_for_a_rate_has_none() {
        let transfer = Transfer::read("1024 bytes (1.0 kB, 1.0 KiB) copied, 0 s, Infinity B/s").unwrap();
        assert_eq!(transfer.rate_figure(), None);
        let cell = transfer.cell(&Command::default(), &[]).unwrap();
        assert_eq!(cell.imported.unwrap().figures[0].quantity, Quantity::Duration);
    }

    #[test]
    fn the_command_tells_block_and_direction() {
        let command =
            Command::read("user@host:~$ sudo dd if=/dev/zero of=/srv/t bs=1M count=64 oflag=direct").unwrap();
        assert_eq!(
            (command.block_bytes, command.direction, command.target),
            (Some(MIB), Some(Direction::Write), Some("/srv/t"))
        );
        let command = Command::read("$ dd if=/dev/sdb of=/dev/null bs=64k").unwrap();
        assert_eq!(
            (command.block_bytes, command.direction, command.target),
            (Some(65536), Some(Direction::Read), Some("/dev/sdb"))
        );
        assert!(Command::read("add if=x").is_none());
        assert!(Command::read("dd: error writing 'x': No space left on device").is_none());
    }
}
