//! What dd prints at its end: GNU in any language, BSD and macOS, and busybox.
//!
//! The model: a line of bytes, time and rate; one line is one cell. Lines that `status=progress` printed before it are
//! a series. A shell's line with the command above it, if it was kept, tells block size and direction; what goes into a
//! pipe is neither read from nor written to a target. Of GNU's line only the words differ between languages: bytes, sizes in
//! brackets, time and rate have their places, so it is known by these; decimals have a point or a comma. GNU's MB is 10^6,
//! BSD prints bytes, busybox prints MB for MiB (`dd.c`: `make_human_readable_str`), which is corrected. Sources: GNU
//! coreutils 9.1 as run here in every language that it has; Japanese and Russian lines as published with coreutils 8;
//! mirror/busybox `coreutils/dd.c`; published lines of BSD and macOS.

use super::parts::{self, cell, decimal, digits};
use super::shapes::LineMark;
use super::shapes::holes;
use super::units::{self, figure_of_value, power};
use super::{ImportedRun, ImportedRuns, Importer, Input, Recognizer};
use kurabe_core::imported::{
    ImportedCell, Origin, PrintedFigure, PrintedSeries, PrintedStatistic as Statistic, Quantity, SeriesAxis,
};
use kurabe_core::quantity::{GIB, KIB, MIB, format_bytes};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;

pub(super) const IMPORTER: Importer =
    Importer::of(("dd output", "dd", &["dd if=", "records out"]), Recognizer::Lines(line_mark), read);

fn line_mark(line: &str) -> LineMark {
    let own = is_count(line) || TransferLine::read(line).is_some() || DdCommand::read(line).is_some();
    if own { LineMark::Belongs } else { LineMark::None }
}

/// A line of bytes, time and rate.
struct TransferLine {
    seconds: f64,
    /// None where the time was too short.
    rate: Option<PrintedFigure>,
    time: PrintedFigure,
    bytes: PrintedFigure,
}

/// A command line as far as it matters.
#[derive(Default)]
struct DdCommand<'a> {
    line: Option<&'a str>,
    block_bytes: Option<u64>,
    direction: Option<Direction>,
    target: Option<&'a str>,
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let counted = input.lines().any(|(_, line)| is_count(line));
    let (mut cells, mut targets) = (Vec::new(), Vec::new());
    let (mut progress, mut command) = (Vec::new(), DdCommand::default());
    let mut after_records = !counted;
    for (_, line) in input.lines() {
        if let Some(next) = DdCommand::read(line) {
            (command, progress) = (next, Vec::new());
        } else if is_count(line) {
            after_records = true;
        } else if let Some(transfer) = TransferLine::read(line) {
            if !after_records {
                progress.push(transfer);
                continue;
            }
            targets.push(command.target.map(str::to_owned));
            cells.push(transfer.cell(&std::mem::take(&mut command), &std::mem::take(&mut progress)));
            after_records = !counted;
        }
    }
    if cells.is_empty() {
        return parts::without_line("67108864 bytes (67 MB, 64 MiB) copied, 0.5 s, 134 MB/s");
    }
    targets.dedup();
    let origin = Origin {
        target: if let [Some(target)] = targets.as_slice() { Some(target.clone()) } else { None },
        ..input.origin("dd", "dd")
    };
    Ok(vec![ImportedRun { origin, cells, ..ImportedRun::default() }])
}

/// `64+0 records out`, `64+0 レコード出力`, `输出了 64+0 块记录`: whole and cut blocks, and two or three words.
fn is_count(line: &str) -> bool {
    if !line.contains('+') {
        return false;
    }
    let is_blocks =
        |word: &str| word.split_once('+').is_some_and(|(whole, cut)| digits(whole) && digits(cut));
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    let counts = words.iter().filter(|word| is_blocks(word)).count();
    let plain = words.iter().filter(|word| word.chars().all(char::is_alphabetic)).count();
    counts == 1 && (1..=3).contains(&plain) && counts + plain == words.len()
}

/// Beginnings of the words for "copied" where no size in brackets tells what the line is, and of BSD's.
const COPIED: [&str; 10] =
    ["copi", "kopi", "kopyala", "kopeeri", "скоп", "复制", "複製", "복사", "コピー", "transferred"];

impl TransferLine {
    fn read(line: &str) -> Option<Self> {
        let line = line.trim();
        // Russian and Ukrainian put the word for "copied" first.
        let before = line.strip_prefix("скопировано ").or(line.strip_prefix("скопійовано "));
        let (bytes, rest) = before.unwrap_or(line).split_once(' ').filter(|(bytes, _)| digits(bytes))?;
        if let Some([seconds, rate]) = holes("bytes transferred in {} secs ({} bytes/sec)", rest) {
            return Self::of(bytes, (seconds, "secs"), (rate, "bytes/sec"), false);
        }
        // Sizes for people stand in brackets, or nothing does.
        let (sizes, rest) = match (rest.find('('), rest.find(')')) {
            (Some(open), Some(close)) if open < close => {
                (Some(&rest[open + 1..close]), format!("{}{}", &rest[..open], &rest[close + 1..]))
            }
            _ => (None, rest.to_owned()),
        };
        let rest = rest.replace(['，', '、'], ", ");
        let parts: Vec<&str> = rest.split(", ").map(str::trim).collect();
        let (words, time, rate) = match parts[..] {
            [words, time, rate] => (words, time, rate),
            // toybox and BSD print no comma behind the word.
            [words, rate] => ("transferred", words.split_once("transferred ")?.1, rate),
            _ => return None,
        };
        let copied = || words.split(' ').any(|word| COPIED.iter().any(|copied| word.contains(copied)));
        let is_size = |sizes: &str| sizes.starts_with(|c: char| c.is_ascii_digit()) && sizes.ends_with('B');
        if words.is_empty()
            || words.contains(|c: char| c.is_ascii_digit())
            || !(before.is_some() || sizes.is_some_and(is_size) || copied())
        {
            return None;
        }
        let (seconds, unit) = split_unit(time).filter(|(_, unit)| is_second(unit))?;
        Self::of(bytes, (seconds, unit), split_unit(rate)?, unit == "seconds" && !rate.contains(' '))
    }

    /// `binary` is of busybox, whose units are powers of 1024.
    fn of(
        bytes: &str,
        (seconds, seconds_unit): (&str, &str),
        (rate, rate_unit): (&str, &str),
        binary: bool,
    ) -> Option<Self> {
        let figure = |quantity, statistic, printed, unit, factor| {
            figure_of_value(quantity, statistic, decimal(printed)? * factor, printed, unit)
        };
        let factor = units_of_rate(rate_unit, binary)?;
        let correction = (factor > units_of_rate(rate_unit, false)?).then(|| {
            let reason = text!(
                "busybox prints powers of 1024 with decimal names",
                "busybox は 1024 の累乗を 10 進の単位名で表示します"
            );
            units::binary(&rate_unit.replacen("B/s", "iB/s", 1), reason)
        });
        let rate = figure(Quantity::Rate, Statistic::Mean, rate, rate_unit, factor);
        Some(Self {
            seconds: decimal(seconds)?,
            rate: rate.map(|rate| PrintedFigure { correction, ..rate }),
            time: figure(Quantity::Duration, Statistic::Sum, seconds, seconds_unit, 1e9)?,
            bytes: figure(Quantity::Bytes, Statistic::Sum, bytes, "bytes", 1.0)?,
        })
    }

    fn cell(self, command: &DdCommand<'_>, progress: &[TransferLine]) -> Cell {
        let imported = ImportedCell {
            procedure: command.line.map(str::to_owned),
            block_bytes: command.block_bytes,
            series: series(progress).into_iter().collect(),
            figures: self.rate.into_iter().chain([self.time, self.bytes]).collect(),
            ..ImportedCell::default()
        };
        let label =
            command.block_bytes.map_or("dd".to_owned(), |bytes| format!("dd {}", format_bytes(bytes)));
        cell(label, command.direction, imported)
    }
}

/// What was printed while it ran: the mean rate since the start, over time.
fn series(progress: &[TransferLine]) -> Option<PrintedSeries> {
    let first = progress.first()?.seconds;
    let rates =
        || progress.iter().filter_map(|transfer| Some((transfer.seconds - first, transfer.rate.as_ref()?)));
    let (name, unit) = ("mean rate since the start", &rates().next()?.1.unit_printed);
    let points = rates().filter(|(seconds, _)| *seconds >= 0.0 && (*seconds * 1e9).is_finite());
    let points = points.map(|(seconds, rate)| (seconds * 1e9, rate.value)).collect();
    units::series(Quantity::Rate, name, unit, SeriesAxis::Time, points)
}

/// `148 MB/s`, `1.7GB/s`, `1.001s` as number and unit.
fn split_unit(words: &str) -> Option<(&str, &str)> {
    let words = words.trim();
    // GNU prints times below 0.1 ms as `7.2538e-05 s`.
    let at = words.find(' ').or_else(|| words.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ','))?;
    let (number, unit) = words.split_at(at);
    (!number.is_empty() && !unit.trim().is_empty()).then(|| (number, unit.trim()))
}

/// Whether a unit is a second.
fn is_second(unit: &str) -> bool {
    matches!(unit, "s" | "seconds" | "秒" | "с" | "c" | "сек")
}

/// Bytes per second of a unit.
fn units_of_rate(unit: &str, binary: bool) -> Option<f64> {
    let (unit, _) = unit.split_once('/').filter(|(_, time)| is_second(time) || *time == "sec")?;
    let base = if binary { 1024.0 } else { 1000.0 };
    power(base, &["B bytes Б", "kB KB кБ", "MB МБ", "GB ГБ", "TB ТБ", "PB ПБ"], unit)
}

impl<'a> DdCommand<'a> {
    /// A line of a shell that holds `dd if=…`.
    fn read(line: &'a str) -> Option<Self> {
        let starts = |at: usize| line[..at].chars().next_back().is_none_or(|c| " \t/`$#|;(\"'".contains(c));
        let at = line.match_indices("dd ").map(|(at, _)| at).find(|at| starts(*at))?;
        let words = line[at..].trim_end();
        // What follows is another command's, or a file that the shell opens.
        let own = words.split(['|', ';', '&', '<', '>']).next().unwrap_or(words);
        let value = |key: &str| own.split_whitespace().find_map(|word| word.strip_prefix(key));
        let (from, to) = (value("if="), value("of=").filter(|path| *path != "/dev/stdout"));
        if from.is_none() && to.is_none() {
            return None;
        }
        let source = from.is_some_and(|path| matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random"));
        let (direction, target) = match (source, to) {
            // Into memory, or a pipe, whose other end tells the rate.
            (true, Some("/dev/null") | None) => (None, None),
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
        TransferLine::read(line)?.rate.map(|figure| figure.value)
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
    fn every_language_of_coreutils_is_read() {
        for (line, seconds, expected) in [
            ("268435456 Bytes (268 MB, 256 MiB) kopiert, 0.585084 s, 459 MB/s", 0.585_084, 459e6),
            ("268435456 Bytes (268 MB, 256 MiB) kopiert, 0,585084 s, 1,4 GB/s", 0.585_084, 1.4e9),
            ("8 Bytes kopiert, 0,00010094 s, 79,3 kB/s", 0.000_100_94, 79.3e3),
            ("268435456 octets (268 MB, 256 MiB) copiés, 2,13335 s, 126 MB/s", 2.133_35, 126e6),
            ("999 octets copiés, 0,000647691 s, 1,5 MB/s", 0.000_647_691, 1.5e6),
            ("268435456 bytes (268 MB, 256 MiB) copied, 0,676277 s, 397 MB/s", 0.676_277, 397e6),
            ("268435456 bytes (268 MB, 256 MiB) gekopieerd, 0,0174834 s, 15,4 GB/s", 0.017_483_4, 15.4e9),
            ("268435456 bytes (268 MB, 256 MiB) copiati, 0,488796 s, 549 MB/s", 0.488_796, 549e6),
            ("268435456 bytes (268 MB, 256 MiB) copiados, 0,699784 s, 384 MB/s", 0.699_784, 384e6),
            ("268435456 bajtów (268 MB, 256 MiB) skopiowane, 0,5 s, 537 MB/s", 0.5, 537e6),
            ("268435456 byte (268 MB, 256 MiB) kopierade, 0,873927 s, 307 MB/s", 0.873_927, 307e6),
            ("268435456 bayt (268 MB, 256 MiB) kopyalandı, 0.0239609 s, 11.2 GB/s", 0.023_960_9, 11.2e9),
            ("8 bayt kopyalandı, 8.5417e-05 s, 93.7 kB/s", 8.5417e-5, 93.7e3),
            ("268435456 바이트 (268 MB, 256 MiB) 복사함, 0.702015 s, 382 MB/s", 0.702_015, 382e6),
            ("8 바이트 복사함, 9.5792e-05 s, 83.5 kB/s", 9.5792e-5, 83.5e3),
            ("268435456 字节 (268 MB, 256 MiB) 已复制，0.526899 s，509 MB/s", 0.526_899, 509e6),
            ("8 字节已复制，9.7675e-05 s，81.9 kB/s", 9.7675e-5, 81.9e3),
            ("268435456 байт (268 MB, 256 MiB) скопирован, 14,6916 c, 18,3 MB/c", 14.6916, 18.3e6),
            ("скопировано 268435456 байт (268 MB), 4,17328 с, 64,3 MB/c", 4.173_28, 64.3e6),
            ("512 байт скопировано, 0,0202791 s, 25,2 kB/s", 0.020_279_1, 25.2e3),
            ("скопійовано 8 байтів, 9.455e-05 s, 84.6 kB/s", 9.455e-5, 84.6e3),
            ("268435456 baiti (268 MB, 256 MiB) kopeeritud, 0.0272828 s, 9.8 GB/s", 0.027_282_8, 9.8e9),
            ("268435456 bajtova (268 MB, 256 MiB) je kopirano, 0.00250855 s, 107 GB/s", 0.002_508_55, 107e9),
        ] {
            let transfer = TransferLine::read(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(transfer.rate.map(|figure| figure.value), Some(expected), "{line}");
            assert_eq!(transfer.seconds, seconds, "{line}");
        }
        for line in [
            "64+0 Datensätze aus",
            "64+0 enregistrements écrits",
            "输出了 64+0 块记录",
            "64+0 записей отправлено",
        ] {
            assert!(is_count(line), "{line}");
        }
        for line in ["1+1", "a 1+1 b 2", "1+1 is two, they say", "64+x records out"] {
            assert!(!is_count(line), "{line}");
        }
        for line in [
            "12 files (3 new) moved, 5 s, 2 MB/s",
            "5 apples, 1 s, 2 MB/s",
            "7 bytes (x) copied, 3 h, 2 MB/s",
        ] {
            assert_eq!(rate(line), None, "{line}");
        }
    }

    #[test]
    fn what_goes_into_a_pipe_is_not_written() {
        let direction = |line: &str| DdCommand::read(line).map(|command| command.direction);
        assert_eq!(direction("# dd if=/dev/zero bs=1M count=1024 | md5sum"), Some(None));
        assert_eq!(direction("$ dd if=/dev/zero bs=1M count=1024 | dd of=/srv/t bs=1M"), Some(None));
        assert_eq!(direction("dd if=/dev/zero of=/dev/stdout bs=1M | cat"), Some(None));
        assert_eq!(direction("$sudo dd if=/dev/zero of=/srv/t bs=1M; sync"), Some(Some(Direction::Write)));
        assert_eq!(direction("dd if=/srv/t of=/dev/null 2>&1 | tail -1"), Some(Some(Direction::Read)));
    }

    #[test]
    fn a_time_too_short_for_a_rate_has_none() {
        let transfer = TransferLine::read("1024 bytes (1.0 kB, 1.0 KiB) copied, 0 s, Infinity B/s").unwrap();
        assert_eq!(transfer.rate, None);
        let cell = transfer.cell(&DdCommand::default(), &[]);
        assert_eq!(cell.imported.unwrap().figures[0].quantity, Quantity::Duration);
    }

    #[test]
    fn the_command_tells_block_and_direction() {
        let command =
            DdCommand::read("user@host:~$ sudo dd if=/dev/zero of=/srv/t bs=1M count=64 oflag=direct")
                .unwrap();
        assert_eq!(
            (command.block_bytes, command.direction, command.target),
            (Some(MIB), Some(Direction::Write), Some("/srv/t"))
        );
        let command = DdCommand::read("$ dd if=/dev/sdb of=/dev/null bs=64k").unwrap();
        assert_eq!(
            (command.block_bytes, command.direction, command.target),
            (Some(65536), Some(Direction::Read), Some("/dev/sdb"))
        );
        assert!(DdCommand::read("add if=x").is_none());
        assert!(DdCommand::read("dd: error writing 'x': No space left on device").is_none());
    }
}
