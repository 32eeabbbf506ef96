//! ioping's results: the summary with or without its request lines, the raw form (`-p`, `-B`) and JSON (`-J`).
//!
//! The model: times of single requests one after another. The summary's `iops` and rate are of the time in service
//! (requests over the sum of their times), those after `generated` of the whole time, pauses included. The first
//! request is a warm-up that ioping leaves out, and so does the series. Units are binary for sizes (KiB; 0.x printed
//! `mb/s` for the same) and decimal for counts (`k iops`). Raw lines are ns, bytes per second and counts (1.0 and
//! later; the eight fields of 0.x are not read, their unit is microseconds). 0.6 prints the unit of its four times once and
//! the time of the whole test. Source: koct9i/ioping 09f474b
//! (`ioping.c`), ioping 1.3 as run here.

mod json;
mod raw;

use super::parts::{self, broken_line, cell, fact, number};
use super::split::LineMark;
use super::units::{self, figure};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{
    FigureOf, ImportedCell, Origin, PrintedFigure, PrintedSeries, PrintedStatistic, Quantity, SeriesAxis,
};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};

pub(super) const TEXT: Importer = Importer::of_lines(("ioping text", "ioping", &["ioping"]), line_mark, read);
pub(super) const JSON: Importer = Importer::of_files(("ioping JSON", "ioping", &["\"mdev\""]), json::read);
pub(super) const RAW: Importer = Importer::of_files(("ioping raw lines", "ioping", &[]), raw::read);

fn line_mark(line: &str) -> LineMark {
    let own = heading(line).is_some()
        || line.contains(": request=") && line.contains(" time=")
        || line.trim().starts_with(TIMES);
    if own { LineMark::Belongs } else { LineMark::None }
}

/// What the last line of a summary begins with.
const TIMES: &str = "min/avg/max/mdev = ";

fn read(input: &Input<'_>) -> ImportedRuns {
    if !input.lines().any(|(_, line)| heading(line).is_some()) {
        return parts::not_mine(text!(
            "no line such as `--- … ioping statistics ---`",
            "`--- … ioping statistics ---` のような行がありません"
        ));
    }
    Ok(read_mine(input)?)
}

/// What stands between `--- ` and ` ioping statistics ---`.
fn heading(line: &str) -> Option<&str> {
    line.trim().strip_prefix("--- ")?.strip_suffix(" ioping statistics ---")
}

fn run(origin: Origin, cells: Vec<Cell>) -> ImportedRun {
    ImportedRun { origin, cells, ..ImportedRun::default() }
}

/// A summary being read.
#[derive(Default)]
struct PingSummary<'a> {
    heading: &'a str,
    line: usize,
    direction: Option<Direction>,
    /// Figures of the requests in service, without their latencies.
    service: Vec<PrintedFigure>,
    load: Vec<PrintedFigure>,
    latencies: Vec<PrintedFigure>,
}

/// Requests that were printed before a summary.
#[derive(Default)]
struct Requests {
    block_bytes: Option<u64>,
    reads: bool,
    writes: bool,
    points: Vec<(f64, f64)>,
}

fn read_mine(input: &Input<'_>) -> Result<Vec<ImportedRun>> {
    let mut runs = Vec::new();
    let mut requests = Requests::default();
    let mut summary: Option<PingSummary<'_>> = None;
    for (number, line) in input.lines() {
        let damaged = || broken_line(input, number, text!("the line cannot be read", "この行を読めません"));
        let words = line.trim();
        if let Some(heading) = heading(line) {
            summary = Some(PingSummary { heading, line: number, ..PingSummary::default() });
        } else if words.contains(": request=") || words.contains("): request=") {
            requests.add(words).ok_or_else(damaged)?;
        } else if let Some(open) = &mut summary {
            if words.contains(" requests completed in ") || words.contains(" request completed in ") {
                open.service = open.totals(words, " completed in ").ok_or_else(damaged)?;
            } else if let Some(at) = words.find("generated ") {
                open.load = open.totals(&words[at..], " requests in ").ok_or_else(damaged)?;
            } else if let Some(times) = words.strip_prefix(TIMES) {
                open.latencies = latencies(times).ok_or_else(damaged)?;
                if !times.contains(" / ") {
                    open.time_is_of_all();
                }
                let done = summary.take().unwrap_or_default();
                runs.push(done.finish(input, std::mem::take(&mut requests))?);
            }
        }
    }
    match (summary, runs.is_empty()) {
        (Some(open), _) => {
            Err(broken_line(input, open.line, text!("the summary is cut off", "集計が途中で切れています")))
        }
        (None, true) => Err(broken_line(input, 1, text!("there is no summary", "集計がありません"))),
        (None, false) => Ok(runs),
    }
}

impl Requests {
    /// `4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=271.9 us`.
    fn add(&mut self, words: &str) -> Option<()> {
        let (target, rest) = words.rsplit_once(": request=")?;
        let (count, time) = rest.split_once(" time=")?;
        let (time, remark) = match time.split_once(" (") {
            Some((time, remark)) => (time, Some(remark)),
            None => (time, None),
        };
        let mut parts = time.split_whitespace();
        let (time, unit) = (number(parts.next()?)?, time_factor(parts.next()?)?);
        for (arrow, read) in [(" <<< ", true), (" >>> ", false), (" from ", true), (" to ", false)] {
            if let Some((before, _)) = target.split_once(arrow) {
                *(if read { &mut self.reads } else { &mut self.writes }) = true;
                let mut words = before.split_whitespace().rev();
                let (unit, size) = (words.next()?, words.next()?);
                self.block_bytes = size_factor(unit).and_then(|factor| whole(number(size)? * factor));
                break;
            }
        }
        let count = number(count)?;
        if remark.is_none() {
            self.points.push((count - 1.0, time * unit));
        }
        Some(())
    }

    fn direction(&self) -> Option<Direction> {
        match (self.reads, self.writes) {
            (true, false) => Some(Direction::Read),
            (false, true) => Some(Direction::Write),
            (true, true) => Some(Direction::Mix),
            (false, false) => None,
        }
    }
}

impl PingSummary<'_> {
    /// `3 requests completed in 789.9 us, 12 KiB read, 3.80 k iops, 14.8 MiB/s`.
    fn totals(&mut self, words: &str, time_word: &str) -> Option<Vec<PrintedFigure>> {
        let mean = PrintedStatistic::Mean;
        let mut figures = Vec::new();
        let mut parts = words.split(", ");
        let (_, time) = parts.next()?.split_once(time_word)?;
        let mut time_words = time.split_whitespace();
        let (time, unit) = (time_words.next()?, time_words.next()?);
        figures.push(figure(Quantity::Duration, PrintedStatistic::Sum, time, unit, time_factor(unit)?)?);
        let bytes = |size: &str, unit: &str| {
            figure(Quantity::Bytes, PrintedStatistic::Sum, size, unit, size_factor(unit)?)
        };
        for part in parts {
            let tokens: Vec<&str> = part.split_whitespace().collect();
            match tokens.as_slice() {
                [count, "iops"] => figures.insert(0, figure(Quantity::Iops, mean, count, "iops", 1.0)?),
                [count, suffix, "iops"] => {
                    let factor = count_factor(suffix)?;
                    figures
                        .insert(0, figure(Quantity::Iops, mean, count, &format!("{suffix} iops"), factor)?);
                }
                [rate, unit] if unit.ends_with("/s") => {
                    let factor = size_factor(unit.trim_end_matches("/s"))?;
                    figures.push(figure(Quantity::Rate, mean, rate, unit, factor)?);
                }
                [size, unit, word @ ("read" | "written")] => {
                    let direction = if *word == "read" { Direction::Read } else { Direction::Write };
                    self.direction = Some(direction);
                    figures.push(bytes(size, unit)?);
                }
                [size, unit] => figures.push(bytes(size, unit)?),
                _ => return None,
            }
        }
        Some(figures)
    }

    /// Up to 0.6 the time is that of the whole test, pauses included; the other figures are of the requests in service.
    fn time_is_of_all(&mut self) {
        for figure in self.service.iter_mut().filter(|figure| figure.quantity == Quantity::Duration) {
            figure.of = Some(FigureOf::TestTime);
        }
    }

    fn finish(self, input: &Input<'_>, requests: Requests) -> Result<ImportedRun> {
        let average = self.latencies.first().map_or(0.0, |figure| figure.value);
        if average <= 0.0 {
            let what = text!("no request was counted", "数えられた要求がありません");
            return Err(broken_line(input, self.line, what));
        }
        let mut origin = input.origin("ioping", "ioping");
        let (path, device) = match self.heading.rsplit_once(" (") {
            Some((path, device)) => (path, device.strip_suffix(')')),
            None => (self.heading, None),
        };
        origin.target = Some(path.trim().to_owned());
        if let Some(device) = device {
            fact(&mut origin, "Device", device.trim());
        }
        let direction = self.direction.or_else(|| requests.direction());
        let load = self.load.into_iter().map(|figure| units::of(figure, FigureOf::GeneratedLoad));
        let imported = ImportedCell {
            procedure: Some("one request after another".to_owned()),
            block_bytes: requests.block_bytes,
            figures: self.latencies.into_iter().chain(self.service).chain(load).collect(),
            series: series(SeriesAxis::Number, requests.points).into_iter().collect(),
            ..ImportedCell::default()
        };
        Ok(run(origin, vec![cell("requests", direction, imported)]))
    }
}

/// `257.4 us / 263.3 us / 271.9 us / 6.19 us`, up to 0.6 `2.0/3.4/28.9/2.0 ms`: least, mean, most, deviation. The mean
/// comes first.
fn latencies(words: &str) -> Option<Vec<PrintedFigure>> {
    let (separator, shared) = match words.contains(" / ") {
        true => (" / ", None),
        false => ("/", Some(words.trim().rsplit_once(' ')?.1)),
    };
    let mut times = words.split(separator).map(|time| {
        let (time, unit) = match (time.trim().split_once(' '), shared) {
            (Some(pair), _) => pair,
            (None, shared) => (time.trim(), shared?),
        };
        time_factor(unit).map(|factor| (time, unit, factor))
    });
    let mut next = |statistic| {
        let (time, unit, factor) = times.next()??;
        figure(Quantity::Latency, statistic, time, unit, factor)
    };
    let lowest = next(PrintedStatistic::Lowest)?;
    let mean = next(PrintedStatistic::Mean)?;
    let highest = next(PrintedStatistic::Highest)?;
    let deviation = next(PrintedStatistic::StandardDeviation)?;
    times.next().is_none().then(|| vec![mean, lowest, highest, deviation])
}

/// Times of requests.
fn series(axis: SeriesAxis, points: Vec<(f64, f64)>) -> Option<PrintedSeries> {
    let sound =
        points.iter().all(|(at, value)| at.is_finite() && *at >= 0.0 && value.is_finite() && *value >= 0.0);
    units::series(Quantity::Latency, "time", "", axis, points).filter(|_| sound)
}

fn time_factor(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nsec" => 1.0,
        "us" | "usec" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" => 1e9,
        "min" => 60e9,
        "hour" => 3600e9,
        _ => return None,
    })
}

fn size_factor(unit: &str) -> Option<f64> {
    let power = match unit {
        "B" | "b" | "bytes" => 0,
        "KiB" | "kb" => 1,
        "MiB" | "mb" => 2,
        "GiB" | "gb" => 3,
        "TiB" | "tb" => 4,
        "PiB" | "pb" => 5,
        _ => return None,
    };
    Some(1024_f64.powi(power))
}

fn count_factor(suffix: &str) -> Option<f64> {
    Some(match suffix {
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return None,
    })
}

/// A number of bytes, if it is a whole one.
fn whole(bytes: f64) -> Option<u64> {
    (bytes.fract() == 0.0 && bytes > 0.0 && bytes < 9e15).then_some(bytes as u64)
}
