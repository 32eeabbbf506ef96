//! Final lines of dd: GNU in any language, BSD and macOS, and busybox.
//!
//! The model: a line of bytes, time and rate is one cell. Lines that `status=progress` printed before
//! it are a series. If the text contains the shell's line with the command above it, the command
//! determines block size and direction. Data to a pipe is neither read from nor written to a target.
//! Only the words of the line differ between languages and systems, so they are ignored: an amount,
//! optional human-readable sizes in brackets, a time and a rate appear in this order. The unit of the
//! rate is a unit of bytes over a unit of time, which begins with the same letter as the unit of the
//! time. Time and rate must match the amount. The decimal separator is a point or a comma. GNU's MB is
//! 10^6, BSD prints bytes, and busybox prints MB for MiB (`dd.c`: `make_human_readable_str`), which is
//! corrected.
//!
//! The options of the command determine the meaning of the rate. With `oflag=dsync`, each write is
//! durable before the next one begins, so the figures are durable writes per second and the time of
//! each, computed from the printed time and number of blocks. With `conv=fsync`, the time includes one
//! flush. Without `direct` and without a flush, the rate may be that of the page cache. Sources: GNU
//! coreutils 9.1 as run here in every language that it has; published French, Chinese, Japanese and
//! Russian lines of earlier versions; mirror/busybox `coreutils/dd.c`; published lines of BSD and
//! macOS.

use super::kit::*;
use kurabe_core::imported::Correction;
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::NoticeKind;

pub(super) const IMPORTER: Importer =
    Importer::of(("dd output", "dd", &["dd if=", "records out"]), Recognizer::Lines(line_mark), read);

fn line_mark(line: &str) -> LineMark {
    let own = is_count(line) || TransferLine::read(line).is_some() || DdCommand::read(line).is_some();
    if own { LineMark::Belongs } else { LineMark::None }
}

/// A line with bytes, time and rate.
struct TransferLine {
    seconds: f64,
    /// `None` if the time was too short.
    rate: Option<PrintedFigure>,
    time: PrintedFigure,
    bytes: PrintedFigure,
}

/// The relevant parts of a command line.
#[derive(Default)]
struct DdCommand<'a> {
    line: Option<&'a str>,
    block_bytes: Option<u64>,
    direction: Option<Direction>,
    target: Option<&'a str>,
    /// When writes become durable.
    flush: Flush,
    /// Whether it bypasses the page cache.
    is_direct: bool,
    /// Whether a loop of the shell runs it several times.
    is_in_loop: bool,
}

/// Time at which dd waits until its writes are durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flush {
    #[default]
    Never,
    /// `oflag=dsync` or `oflag=sync`.
    EachWrite,
    /// `conv=fsync` or `conv=fdatasync`.
    AtEnd,
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let counted = input.lines().any(|(_, line)| is_count(line));
    let (mut cells, mut targets) = (Vec::new(), Vec::new());
    let (mut progress, mut command) = (Vec::new(), DdCommand::default());
    let (mut after_records, mut records) = (!counted, None);
    let mut remarks: Vec<Remark> = Vec::new();
    let mut add_remark = |remark| {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    };
    let mut cache = CacheState::before(input);
    for (_, line) in input.lines() {
        cache.read(line);
        if let Some(next) = DdCommand::read(line) {
            if records.take().is_some() {
                add_remark(Remark::WithoutRate);
            }
            (command, progress) = (next, Vec::new());
        } else if is_count(line) {
            // The number of written blocks is in the second of two lines.
            (after_records, records) = (true, count_at(line));
        } else if let Some(transfer) = TransferLine::read(line) {
            if !after_records {
                progress.push(transfer);
                continue;
            }
            targets.push(command.target.map(str::to_owned));
            let remark = command.remark();
            let is_settled = remark == Remark::CachedRead && cache.is_cold(command.target);
            if !is_settled {
                add_remark(remark);
            }
            cache.add(command.target);
            cells.push(transfer.cell(&command, &std::mem::take(&mut progress), records.take()));
            if !command.is_in_loop {
                command = DdCommand::default();
            }
            after_records = !counted;
        }
    }
    if records.is_some() {
        add_remark(Remark::WithoutRate);
    }
    if cells.is_empty() {
        return without_line("67108864 bytes (67 MB, 64 MiB) copied, 0.5 s, 134 MB/s");
    }
    targets.dedup();
    let origin = Origin {
        target: if let [Some(target)] = targets.as_slice() { Some(target.clone()) } else { None },
        ..input.origin("dd", "dd")
    };
    let notices = remarks.into_iter().filter_map(Remark::notice).collect();
    Ok(vec![ImportedRun { origin, cells, notices, ..ImportedRun::default() }])
}

/// Number of lines before a part in which a dropped page cache is searched.
const LINES_BEFORE: usize = 100;

/// State of the page cache according to the text: whether it was dropped, and the targets that were read or
/// written since.
#[derive(Default)]
struct CacheState<'a> {
    was_dropped: bool,
    targets: Vec<Option<&'a str>>,
}

impl<'a> CacheState<'a> {
    /// Returns the state after the text before a part.
    fn before(input: &Input<'_>) -> Self {
        let lines = input.before().lines().rev().take(LINES_BEFORE);
        let own = lines.take_while(|line| TransferLine::read(line).is_none());
        let was_dropped = own.into_iter().any(is_drop);
        Self { was_dropped, ..Self::default() }
    }

    fn read(&mut self, line: &str) {
        if is_drop(line) {
            *self = Self { was_dropped: true, targets: Vec::new() };
        }
    }

    fn add(&mut self, target: Option<&'a str>) {
        self.targets.push(target);
    }

    /// Returns whether the cache cannot contain a target.
    fn is_cold(&self, target: Option<&str>) -> bool {
        let may_be = |other: &Option<&str>| other.is_none() || *other == target;
        self.was_dropped && !self.targets.iter().any(may_be)
    }
}

/// Returns whether a line drops the page cache.
fn is_drop(line: &str) -> bool {
    line.contains("drop_caches")
}

/// Properties of the figures that follow from the options of the command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remark {
    Nothing,
    UnknownCommand,
    Durable,
    FlushAtEnd,
    CachedWrite,
    CachedRead,
    WithoutRate,
}

impl Remark {
    fn notice(self) -> Option<Notice> {
        let (kind, text) = match self {
            Self::Nothing => return None,
            Self::UnknownCommand => (
                NoticeKind::Other,
                text!(
                    "dd's command line is not in the text: whether the speed is that of the page cache is unknown",
                    "dd のコマンドラインが本文にないため、ページキャッシュの速度かどうかは不明です"
                ),
            ),
            Self::Durable => (
                NoticeKind::Other,
                text!(
                    "each write of dd waited until it was durable (`oflag=dsync`): the meaningful figures \
                     are writes per second and time per write, not MB/s",
                    "dd は書き込みごとに永続化を待っています(`oflag=dsync`)。意味があるのは毎秒の回数と 1 回の時間で、MB/s ではありません"
                ),
            ),
            Self::FlushAtEnd => (
                NoticeKind::Other,
                text!(
                    "dd's time includes one flush at the end (`conv=fsync` or `conv=fdatasync`)",
                    "dd の時間には、最後に 1 回のフラッシュが含まれます(`conv=fsync` または `conv=fdatasync`)"
                ),
            ),
            Self::WithoutRate => (
                NoticeKind::Other,
                text!(
                    "a dd in this text printed only its numbers of blocks: without a time, its rate is unknown",
                    "ブロック数だけを表示した dd があります。時間がないため、結果として取り込んでいません"
                ),
            ),
            Self::CachedWrite => (
                NoticeKind::CacheDrop,
                text!(
                    "dd wrote without direct I/O (`oflag=direct`) and without a flush: the data may be \
                     only in the page cache",
                    "dd はダイレクト I/O(`oflag=direct`)もフラッシュも使っていません。ページキャッシュに書いた速度かもしれません"
                ),
            ),
            Self::CachedRead => (
                NoticeKind::CacheDrop,
                text!(
                    "dd read without direct I/O (`iflag=direct`): the data may come from the page cache",
                    "dd はダイレクト I/O(`iflag=direct`)を使っていません。ページキャッシュから読んだ速度かもしれません"
                ),
            ),
        };
        Some(Notice::new(kind, text))
    }
}

/// Returns the complete and partial blocks of a line such as `64+0 records out`.
fn count_at(line: &str) -> Option<&str> {
    let plus = line.find('+')?;
    let start = line[..plus].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let end = line[plus + 1..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |end| plus + 1 + end);
    Some(&line[start..end])
}

/// Returns whether a line is a count of complete and partial blocks, with a few words: `64+0 records
/// out`, `64+0 レコード出力`, `记录了64+0 的读入`.
fn is_count(line: &str) -> bool {
    let Some((before, after)) = line.split_once('+') else { return false };
    let digit = |c: char| c.is_ascii_digit();
    let around = [before.trim_end_matches(digit), after.trim_start_matches(digit)];
    let words = || around.iter().flat_map(|words| words.split_whitespace());
    let is_counted = around[0].len() < before.len() && around[1].len() < after.len();
    is_counted
        && (1..=3).contains(&words().count())
        && words().all(|word| word.chars().all(char::is_alphabetic))
}

/// Returns the numbers of a line, each with the word after it as its unit. Returns none if a number is
/// part of a word.
fn numbers(line: &str) -> Vec<(&str, &str)> {
    let (mut numbers, mut at) = (Vec::new(), 0);
    while let Some(start) = line[at..].find(|c: char| c.is_ascii_digit()).map(|start| at + start) {
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || "+-./:=_".contains(c);
        if line[..start].ends_with(is_of_word) {
            return Vec::new();
        }
        let number = number_at(&line[start..]);
        at = start + number.len();
        let ends_word = |c: char| c.is_whitespace() || ",;()，、（）".contains(c);
        numbers.push((number, line[at..].trim_start().split(ends_word).next().unwrap_or("")));
    }
    numbers
}

/// Returns the number at the start of the words: `5`, `2,13335`, `7.2538e-05`.
fn number_at(words: &str) -> &str {
    let digits = |from: usize| words[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    for marks in [[".", ","], ["e-", "e+"]] {
        let mark = marks.iter().find(|mark| words[end..].starts_with(**mark)).map_or(0, |mark| mark.len());
        if mark > 0 && digits(end + mark) > 0 {
            end += mark + digits(end + mark);
        }
    }
    &words[..end]
}

/// Returns the range of values that are rounded to the printed number, with a small margin: the rate
/// was computed from a time with more digits.
fn range(printed: &str) -> Option<(f64, f64)> {
    let value = decimal(printed)?;
    let places = printed.split(['.', ',']).nth(1).map_or(0, str::len);
    let slack = 0.5 * 10_f64.powi(-(places as i32)) + 0.05 * value;
    Some(((value - slack).max(0.0), value + slack))
}

impl TransferLine {
    fn read(line: &str) -> Option<Self> {
        // Every such line ends with a rate. Few other lines contain this character.
        let (_, end) = line.rsplit_once('/')?;
        // sysbench prints a line of the same form about the files that it prepares.
        if line.contains(" bytes written in ") {
            return None;
        }
        let numbers = numbers(line);
        let (rest, rate) = match numbers.split_last()? {
            (rate, rest) if rate.1.contains('/') => (rest, Some(*rate)),
            // Infinite, in the words of the language.
            ((seconds, _), _) if decimal(seconds) == Some(0.0) => (numbers.as_slice(), None),
            _ => return None,
        };
        let &[(bytes, byte_word), ref sizes @ .., (seconds, time_unit)] = rest else { return None };
        let initial = |unit: &str| match unit.chars().next()? {
            // Russian and Ukrainian lines use either letter for either unit.
            'с' | 'c' => Some('s'),
            letter => Some(letter),
        };
        let is_time = !time_unit.is_empty() && initial(time_unit) == initial(end);
        let has_sizes = sizes.len() <= 2 && sizes.iter().all(|(_, unit)| bytes_in(unit, 1000.0).is_some());
        if !is_time || !has_sizes || byte_word.is_empty() || !digits(bytes) {
            return None;
        }
        let Some((rate, rate_unit)) = rate else { return Self::of(bytes, (seconds, time_unit), None) };
        let is_busybox = time_unit == "seconds" && line.contains(&[rate, rate_unit].concat());
        let (unit, _) = rate_unit.split_once('/')?;
        // The word for bytes is the same as in the amount. A unit such as MB is never that word.
        let factor = |thousand| bytes_in(unit, thousand).or((unit == byte_word).then_some(1.0));
        let (decimal_factor, factor) = (factor(1000.0)?, factor(if is_busybox { 1024.0 } else { 1000.0 })?);
        let ((least_s, most_s), (least, most)) = (range(seconds)?, range(rate)?);
        let moved = decimal(bytes)? / factor;
        if moved < least_s * least || moved > most_s * most {
            return None;
        }
        let correction = (factor > decimal_factor).then(|| {
            let reason = text!(
                "busybox prints powers of 1024 with decimal names",
                "busybox は 1024 の累乗を 10 進の単位名で表示します"
            );
            units::binary(&rate_unit.replacen("B/s", "iB/s", 1), reason)
        });
        let rate =
            figure_of_value(Quantity::Rate, Statistic::Mean, decimal(rate)? * factor, rate, rate_unit)?;
        Self::of(
            bytes,
            (seconds, time_unit),
            Some(PrintedFigure { correction: correction.map(Box::new), ..rate }),
        )
    }

    fn of(bytes: &str, (seconds, time_unit): (&str, &str), rate: Option<PrintedFigure>) -> Option<Self> {
        let sum = |quantity, printed, unit, factor| {
            figure_of_value(quantity, Statistic::Sum, decimal(printed)? * factor, printed, unit)
        };
        Some(Self {
            seconds: decimal(seconds)?,
            rate,
            time: sum(Quantity::Duration, seconds, time_unit, 1e9)?,
            bytes: sum(Quantity::Bytes, bytes, "bytes", 1.0)?,
        })
    }

    /// Computes durable writes per second and the time of each, from the time of all writes and their
    /// number (`10+0`).
    fn durable(&self, records: &str) -> Option<[PrintedFigure; 2]> {
        let (whole, cut) = records.split_once('+')?;
        let count = number(whole)? + number(cut)?;
        let seconds = Some(self.seconds).filter(|seconds| *seconds > 0.0 && count > 0.0)?;
        let printed = if cut.trim_start_matches('0').is_empty() { whole } else { records };
        let reason = || {
            let time = &self.time.printed;
            text!(
                "computed from dd's time of {time} s and its number of blocks, {records}",
                "dd の時間 {time} 秒とブロック数 {records} からの計算値です"
            )
        };
        let iops = figure_of_value(Quantity::Iops, Statistic::Mean, count / seconds, printed, "records out")?;
        let time = PrintedFigure {
            quantity: Quantity::Latency,
            statistic: Statistic::Mean,
            value: seconds * 1e9 / count,
            of: Some(FigureOf::SyncLatency),
            ..self.time.clone()
        };
        let correction = |factor, unit: &str| Correction { factor, unit: unit.to_owned(), reason: reason() };
        Some([
            units::corrected(iops, correction(1.0 / seconds, "1/s")),
            units::corrected(time, correction(1.0 / count, "s per write")),
        ])
    }

    fn cell(self, command: &DdCommand<'_>, progress: &[TransferLine], records: Option<&str>) -> Cell {
        let durable = records.filter(|_| command.flush == Flush::EachWrite);
        let durable = durable.and_then(|records| self.durable(records));
        // The first figure is the main one. For durable writes, MB/s is not meaningful.
        let (first, last) = if durable.is_none() { (self.rate, None) } else { (None, self.rate) };
        let imported = ImportedCell {
            procedure: command.line.map(str::to_owned),
            block_bytes: command.block_bytes,
            series: series(progress).into_iter().collect(),
            figures: durable
                .into_iter()
                .flatten()
                .chain(first)
                .chain([self.time, self.bytes])
                .chain(last)
                .collect(),
            ..ImportedCell::default()
        };
        let label =
            command.block_bytes.map_or("dd".to_owned(), |bytes| format!("dd {}", format_bytes(bytes)));
        cell(label, command.direction, imported)
    }
}

/// Returns the mean rate since the start over time, as printed during the run.
fn series(progress: &[TransferLine]) -> Option<PrintedSeries> {
    let first = progress.first()?.seconds;
    let rates =
        || progress.iter().filter_map(|transfer| Some((transfer.seconds - first, transfer.rate.as_ref()?)));
    let (name, unit) = ("mean rate since the start", &rates().next()?.1.unit_printed);
    let points = rates().filter(|(seconds, _)| *seconds >= 0.0 && (*seconds * 1e9).is_finite());
    let points = points.map(|(seconds, rate)| (seconds * 1e9, rate.value)).collect();
    units::series(Quantity::Rate, name, unit, SeriesAxis::Time, points)
}

/// Returns the number of bytes in a unit: a letter for bytes, preceded by one for a power of a
/// thousand, Latin or Cyrillic. `i` selects powers of 1024.
fn bytes_in(unit: &str, thousand: f64) -> Option<f64> {
    let prefix = unit.strip_suffix(['B', 'o', 'Б'])?;
    let (prefix, base) = prefix.strip_suffix('i').map_or((prefix, thousand), |prefix| (prefix, 1024.0));
    power(base, &["", "k K к К", "M М", "G Г", "T Т", "P П"], prefix)
}

impl<'a> DdCommand<'a> {
    /// Parses a shell line that contains `dd if=…`.
    fn read(line: &'a str) -> Option<Self> {
        let starts = |at: usize| line[..at].chars().next_back().is_none_or(|c| " \t/`$#|;(\"'".contains(c));
        let at = line.match_indices("dd ").map(|(at, _)| at).find(|at| starts(*at))?;
        let words = line[at..].trim_end();
        // The rest belongs to another command, or to a file that the shell opens.
        let own = words.split(['|', ';', '&', '<', '>']).next().unwrap_or(words);
        let value = |key: &str| own.split_whitespace().find_map(|word| word.strip_prefix(key));
        let (from, to) = (value("if="), value("of=").filter(|path| *path != "/dev/stdout"));
        if from.is_none() && to.is_none() {
            return None;
        }
        let source = from.is_some_and(|path| matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random"));
        let (direction, target) = match (source, to) {
            // Into memory, or into a pipe, whose other end determines the rate.
            (true, Some("/dev/null") | None) => (None, None),
            (true, to) => (Some(Direction::Write), to),
            (false, Some("/dev/null")) => (Some(Direction::Read), from),
            (false, to) => (None, to),
        };
        let has = |key: &str, flags: &[&str]| {
            let given = own.split_whitespace().filter_map(|word| word.strip_prefix(key));
            given.flat_map(|words| words.split(',')).any(|flag| flags.contains(&flag))
        };
        let flush = match () {
            () if has("oflag=", &["dsync", "sync"]) => Flush::EachWrite,
            () if has("conv=", &["fsync", "fdatasync"]) => Flush::AtEnd,
            () => Flush::Never,
        };
        let key = if direction == Some(Direction::Read) { "iflag=" } else { "oflag=" };
        // A raw device of BSD or macOS.
        let is_raw = target.is_some_and(|path| path.starts_with("/dev/r"));
        let block_bytes = value("bs=").and_then(block_bytes);
        let is_direct = has(key, &["direct"]) || is_raw;
        let is_in_loop = line[..at].split_whitespace().any(|word| matches!(word, "for" | "while" | "do"));
        Some(Self { line: Some(words), block_bytes, direction, target, flush, is_direct, is_in_loop })
    }

    /// Returns the properties of the figures that follow from the options.
    fn remark(&self) -> Remark {
        match (self.direction, self.flush) {
            _ if self.line.is_none() => Remark::UnknownCommand,
            (Some(Direction::Write), Flush::EachWrite) => Remark::Durable,
            (Some(Direction::Write), Flush::AtEnd) => Remark::FlushAtEnd,
            (Some(Direction::Write), Flush::Never) if !self.is_direct => Remark::CachedWrite,
            (Some(Direction::Read), _) if !self.is_direct => Remark::CachedRead,
            _ => Remark::Nothing,
        }
    }
}

/// Parses `1M`, `64k`, `1MB`, `512`, `8b` (512 bytes each).
fn block_bytes(words: &str) -> Option<u64> {
    let bytes = match words.strip_suffix('b') {
        Some(blocks) => blocks.parse::<u64>().ok()?.checked_mul(512),
        None => words::bytes(words.strip_suffix('c').unwrap_or(words)),
    };
    bytes.filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::quantity::MIB;

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
        assert_eq!(rate("1234 bytes (1234 B, 1.2 KiB) transferred 1.001s, 1233 B/s"), Some(1233.0));
        let busybox = rate("4194304 bytes (4.0MB) copied, 0.003766 seconds, 1.0GB/s").unwrap();
        assert!((busybox - 1024_f64.powi(3)).abs() < 1.0, "{busybox}");
        assert_eq!(rate("12 bytes (12B) copied, 1.000000 seconds, 12B/s"), Some(12.0));
        for line in [
            "5 bytes copied",
            "x bytes copied, 1 s, 2 MB/s",
            "5 bytes copied, 1 s, 2 XB/s",
            "537 MB copied, 3.6 s, 149 MB/s",
            "-5 bytes copied, 1 s, 2 B/s",
        ] {
            assert_eq!(rate(line), None, "{line}");
        }
    }

    #[test]
    fn every_language_of_coreutils_is_read() {
        for (line, seconds, expected) in [
            ("268435456 Bytes (268 MB, 256 MiB) kopiert, 0.585084 s, 459 MB/s", 0.585_084, 459e6),
            ("268435456 Bytes (268 MB, 256 MiB) kopiert, 0,195084 s, 1,4 GB/s", 0.195_084, 1.4e9),
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
            // French with non-breaking spaces and its own word for bytes.
            ("1073741824 octets (1,1\u{a0}Go, 1,0\u{a0}Gio) copiés, 5,2\u{a0}s, 206\u{a0}Mo/s", 5.2, 206e6),
            (
                "1073741824\u{202f}octets (1,1\u{202f}Go) copiés, 0,716\u{202f}s, 1,5\u{202f}Go/s",
                0.716,
                1.5e9,
            ),
            // Chinese without spaces, and with its own word for a second.
            ("268435456字节(268 MB)已复制，0.526899 秒，509 MB/秒", 0.526_899, 509e6),
            ("268435456位元組（268 MB）已複製，0.526899 s，509 MB/s", 0.526_899, 509e6),
            // From 2004, before rates were human-readable, and from 2005.
            ("268435456 bytes transferred in 2.134 secs (125789810 bytes/sec)", 2.134, 125_789_810.0),
            ("268435456 bytes transferred in 2.134 seconds (125789810 bytes/sec)", 2.134, 125_789_810.0),
            ("268435456 bytes (268 MB) copied, 2.134 seconds, 126 MB/s", 2.134, 126e6),
            ("268435456 bytes (268 MB) copied, 2.134 secs, 126 MB/s", 2.134, 126e6),
            // A language that the parser does not know.
            ("268435456 bait (268 MB, 256 MiB) telah disalin, 2,134 detik, 126 MB/detik", 2.134, 126e6),
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
            "记录了64+0 的读入",
            "64+0\u{a0}enregistrements lus",
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
            "7 bytes copied, 3 s, 2 MB/s",
            "268435456 bytes (268 MB) copied, 2.134 m, 126 MB/s",
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
        let cell = transfer.cell(&DdCommand::default(), &[], None);
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
