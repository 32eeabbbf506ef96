//! ioping's results: the summary with or without its request lines, the raw format (`-p`, `-B`) and
//! JSON (`-J`).
//!
//! The model: times of single requests, one after the other. The summary's `iops` and rate cover the
//! service time (requests over the sum of their times). Those after `generated` cover the total time,
//! including pauses. The first request is a warm-up that ioping does not count, so the series does not
//! contain it. Units are binary for sizes (KiB; 0.x printed `mb/s` for the same) and decimal for counts
//! (`k iops`). Raw lines are in ns, bytes per second and counts (1.0 and later; the eight fields of 0.x
//! are not supported, because their unit is microseconds). Version 0.6 prints the unit of its four
//! times once, and the time of the whole test. Source: koct9i/ioping 09f474b (`ioping.c`), ioping 1.3
//! as run here.

mod json;
mod raw;

use super::kit::*;
use super::units::figure;

/// `4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=271.9 us`.
const REQUEST: &str = "{}: request={} time={}";
const HEADING: &str = "--- {} ioping statistics ---";
const TIMES: &str = "min/avg/max/mdev = {}";

pub(super) const TEXT: Importer = Importer::of(
    ("ioping text", "ioping", &["ioping"]),
    Recognizer::Shapes(LineShapes { begins: &[], belongs: &[HEADING, REQUEST, TIMES] }),
    read,
);
pub(super) const JSON: Importer =
    Importer::of(("ioping JSON", "ioping", &["\"mdev\""]), Recognizer::File, json::read);
pub(super) const RAW: Importer =
    Importer::of(("ioping raw lines", "ioping", &[]), Recognizer::File, raw::read);

fn run(origin: Origin, cells: Vec<Cell>) -> ImportedRun {
    ImportedRun { origin, cells, ..ImportedRun::default() }
}

/// A summary during parsing.
#[derive(Default)]
struct PingSummary<'a> {
    heading: &'a str,
    line: usize,
    direction: Option<Direction>,
    /// Figures of the requests in service, without their latencies.
    service: Vec<PrintedFigure>,
    load: Vec<PrintedFigure>,
}

/// Requests printed before a summary.
#[derive(Default)]
struct Requests {
    block_bytes: Option<u64>,
    reads: bool,
    writes: bool,
    points: Vec<(f64, f64)>,
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let (mut runs, mut requests) = (Vec::new(), Requests::default());
    let mut summary: Option<PingSummary<'_>> = None;
    for (number, line) in input.lines() {
        let damaged = || broken_line(input, number, text!("the line cannot be read", "この行を読めません"));
        if let Some([heading]) = holes(HEADING, line) {
            summary = Some(PingSummary { heading, line: number, ..PingSummary::default() });
        } else if let Some([target, count, time]) = holes(REQUEST, line) {
            requests.add(target, count, time).ok_or_else(damaged)?;
        } else if let Some(open) = &mut summary {
            if let Some([_, totals]) = holes("{} completed in {}", line) {
                open.service = open.totals(totals).ok_or_else(damaged)?;
            } else if let Some([_, _, totals]) = holes("{}generated {} requests in {}", line) {
                open.load = open.totals(totals).ok_or_else(damaged)?;
            } else if let Some([times]) = holes(TIMES, line) {
                let latencies = latencies(times).ok_or_else(damaged)?;
                // Up to 0.6, the time is that of the whole test including pauses. The other figures are
                // of the requests in service.
                if !times.contains(" / ") {
                    let durations =
                        open.service.iter_mut().filter(|figure| figure.quantity == Quantity::Duration);
                    durations.for_each(|figure| figure.of = Some(FigureOf::TestTime));
                }
                let done = summary.take().unwrap_or_default();
                runs.push(done.finish(input, latencies, std::mem::take(&mut requests))?);
            }
        }
    }
    match summary {
        Some(open) => {
            let what = text!("the summary is cut off", "集計が途中で切れています");
            parts::broken_at(input, open.line, what)
        }
        None if runs.is_empty() => without_line("--- … ioping statistics ---"),
        None => Ok(runs),
    }
}

impl Requests {
    fn add(&mut self, target: &str, count: &str, time: &str) -> Option<()> {
        let (time, remark) =
            time.split_once(" (").map_or((time, None), |(time, remark)| (time, Some(remark)));
        let (time, unit) = time.trim().split_once(' ')?;
        let time = number(time)? * time_factor(unit)?;
        for (arrow, read) in [(" <<< ", true), (" >>> ", false), (" from ", true), (" to ", false)] {
            if let Some((before, _)) = target.split_once(arrow) {
                *(if read { &mut self.reads } else { &mut self.writes }) = true;
                let (before, unit) = before.trim().rsplit_once(' ')?;
                let size = before.rsplit(' ').next().and_then(number)?;
                self.block_bytes = size_factor(unit).and_then(|factor| whole(size * factor));
                break;
            }
        }
        let count = number(count)?;
        if remark.is_none() {
            self.points.push((count - 1.0, time));
        }
        Some(())
    }
}

/// Returns the direction of requests, some of which read or write.
fn direction(reads: bool, writes: bool) -> Option<Direction> {
    match (reads, writes) {
        (true, false) => Some(Direction::Read),
        (false, true) => Some(Direction::Write),
        (true, true) => Some(Direction::Mix),
        (false, false) => None,
    }
}

impl PingSummary<'_> {
    /// Parses `789.9 us, 12 KiB read, 3.80 k iops, 14.8 MiB/s`.
    fn totals(&mut self, words: &str) -> Option<Vec<PrintedFigure>> {
        let mut figures = Vec::new();
        for part in words.split(", ") {
            let (printed, unit) = part.trim().split_once(' ')?;
            let directions = [(" read", Direction::Read), (" written", Direction::Write)];
            let moved = directions.iter().find(|(word, _)| unit.ends_with(word));
            self.direction = moved.map(|(_, direction)| *direction).or(self.direction);
            let unit = moved.map_or(unit, |(word, _)| unit.trim_end_matches(word)).trim();
            let (quantity, statistic, factor) = if let Some(count) = unit.strip_suffix("iops") {
                (Quantity::Iops, Statistic::Mean, power(1000.0, &["", "k", "M", "G", "T"], count.trim())?)
            } else if let Some(size) = unit.strip_suffix("/s") {
                (Quantity::Rate, Statistic::Mean, size_factor(size)?)
            } else if figures.is_empty() {
                (Quantity::Duration, Statistic::Sum, time_factor(unit)?)
            } else {
                (Quantity::Bytes, Statistic::Sum, size_factor(unit)?)
            };
            let place = if quantity == Quantity::Iops { 0 } else { figures.len() };
            figures.insert(place, figure(quantity, statistic, printed, unit, factor)?);
        }
        Some(figures)
    }

    fn finish(
        self,
        input: &Input<'_>,
        latencies: Vec<PrintedFigure>,
        requests: Requests,
    ) -> Result<ImportedRun> {
        if latencies[0].value <= 0.0 {
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
        let direction = self.direction.or_else(|| direction(requests.reads, requests.writes));
        let load =
            self.load.into_iter().map(|figure| PrintedFigure { of: Some(FigureOf::GeneratedLoad), ..figure });
        let imported = ImportedCell {
            procedure: Some("one request after another".to_owned()),
            block_bytes: requests.block_bytes,
            figures: latencies.into_iter().chain(self.service).chain(load).collect(),
            series: series(SeriesAxis::Number, requests.points).into_iter().collect(),
            ..ImportedCell::default()
        };
        Ok(run(origin, vec![cell("requests", direction, imported)]))
    }
}

/// Parses `257.4 us / 263.3 us / 271.9 us / 6.19 us`, up to 0.6 `2.0/3.4/28.9/2.0 ms`: minimum, mean,
/// maximum, deviation. The mean comes first.
fn latencies(words: &str) -> Option<Vec<PrintedFigure>> {
    let (_, shared) = words.rsplit_once(' ')?;
    let times = words.split('/').map(|time| time.trim().split_once(' ').unwrap_or((time.trim(), shared)));
    let [lowest, mean, highest, deviation] = times.collect::<Vec<_>>()[..] else { return None };
    let figure = |(statistic, (time, unit)): (_, (&str, &str))| {
        figure(Quantity::Latency, statistic, time, unit, time_factor(unit)?)
    };
    SPREAD.into_iter().zip([mean, lowest, highest, deviation]).map(figure).collect()
}

/// Returns the times of requests as a series.
fn series(axis: SeriesAxis, points: Vec<(f64, f64)>) -> Option<PrintedSeries> {
    let sound =
        points.iter().all(|(at, value)| at.is_finite() && *at >= 0.0 && value.is_finite() && *value >= 0.0);
    units::series(Quantity::Latency, "time", "", axis, points).filter(|_| sound)
}

fn time_factor(unit: &str) -> Option<f64> {
    match unit {
        "min" => Some(60e9),
        "hour" => Some(3600e9),
        _ => power(1000.0, &["ns nsec", "us usec", "ms msec", "s sec"], unit),
    }
}

fn size_factor(unit: &str) -> Option<f64> {
    power(1024.0, &["B b bytes", "KiB kb", "MiB mb", "GiB gb", "TiB tb", "PiB pb"], unit)
}

/// Returns a number of bytes, if it is a whole number.
fn whole(bytes: f64) -> Option<u64> {
    (bytes.fract() == 0.0 && bytes > 0.0 && bytes < 9e15).then_some(bytes as u64)
}
