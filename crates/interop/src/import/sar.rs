//! sysstat's `sar -d`: intervals of the block devices, from its daily files.
//!
//! The model: each line begins with the end time of its interval, on a clock of 24 or 12 hours or in
//! Chinese or Japanese, and has a device first or last. The columns are those of iostat, under nearly
//! the same names. Lines of averages are not intervals; they are read if the text contains nothing
//! else. A restart of the system ends a series, and the lines after it form a separate run. The date is
//! in the line about the system. Source: sar(1), and sysstat's own tests.

use super::iostat;
use super::kit::*;
use super::reports::{self, DeviceReport, First, ReportColumn, ReportRules};

/// A line with the names of the columns.
#[derive(Clone, Debug, PartialEq)]
struct SarHeader<'a> {
    /// Number of words before the columns: the time, and the half of the day.
    time_words: usize,
    names: Vec<&'a str>,
    device_last: bool,
}

impl<'a> SarHeader<'a> {
    fn read(line: &'a str) -> Option<Self> {
        if !line.contains("DEV") || !line.contains("tps") {
            return None;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let time_words = time_words(&words).or_else(|| average_words(&words))?;
        let mut names = words[time_words..].to_vec();
        let device_last = names.last() == Some(&"DEV");
        let is_own = names.contains(&"tps") && (device_last || names.first() == Some(&"DEV"));
        names.retain(|name| *name != "DEV");
        is_own.then_some(Self { time_words, names, device_last })
    }

    /// Returns device and fields of a row. `None` if it is incomplete.
    fn row<'l>(&self, words: &[&'l str]) -> Option<(&'l str, Vec<&'l str>)> {
        let mut fields = words.get(self.time_words..)?.to_vec();
        if fields.len() != self.names.len() + 1 {
            return None;
        }
        let device = if self.device_last { fields.pop()? } else { fields.remove(0) };
        fields.iter().all(|field| is_field(field)).then_some((device, fields))
    }
}

/// Returns whether a word is a number, with a letter or `%` after it in human-readable output.
fn is_field(word: &str) -> bool {
    decimal(word.strip_suffix(['k', 'M', 'G', 'T', 'B', '%']).unwrap_or(word)).is_some()
}

/// Returns the number of words of the time at the start of a line: `13:20:09`, `01:20:09 PM`.
fn time_words(words: &[&str]) -> Option<usize> {
    let [time, half, ..] = words else { return None };
    is_time(time).then_some(if matches!(*half, "AM" | "PM") { 2 } else { 1 })
}

/// Returns whether a word is a time of day: `13:20:09`, `11時40分02秒`, also with the Chinese character
/// of the hour.
fn is_time(word: &str) -> bool {
    let parts: Vec<&str> = word.split([':', '时', '時', '分', '秒']).collect();
    matches!(parts[..], [hour, minute, second] | [hour, minute, second, ""]
        if [hour, minute, second].iter().all(|part| part.len() == 2 && digits(part)))
}

/// Returns a time of day with colons.
fn with_colons(time: &str) -> String {
    time.replace(['时', '時', '分'], ":").replace('秒', "")
}

/// Returns whether a line is of averages, which have a word in place of a time: `Average:`, `Moyenne :`,
/// and those of other languages.
fn is_average(words: &[&str]) -> bool {
    average_words(words).is_some()
}

/// Returns the number of words in place of a time at the start of a line of averages.
fn average_words(words: &[&str]) -> Option<usize> {
    let is_last =
        |word: &&str| word.ends_with([':', '：']) && !word.starts_with(|c: char| c.is_ascii_digit());
    words.iter().take(2).position(is_last).map(|at| at + 1)
}

/// Returns whether a line names the columns of `sar -d`.
pub(super) fn is_header(line: &str) -> bool {
    SarHeader::read(line).is_some()
}

/// The intervals between two restarts.
#[derive(Default)]
struct SarCourse<'a> {
    header: Option<SarHeader<'a>>,
    columns: (Vec<usize>, Vec<ReportColumn>),
    reports: Vec<DeviceReport>,
    /// The time at which the last interval ended.
    time: Vec<&'a str>,
}

/// The averages at the end of the output.
#[derive(Default)]
struct SarAverages<'a> {
    header: Option<SarHeader<'a>>,
    columns: (Vec<usize>, Vec<ReportColumn>),
    reports: Vec<DeviceReport>,
}

impl<'a> SarAverages<'a> {
    /// Reads a line of averages, or an empty one. Only the first table counts.
    fn read(&mut self, line: &'a str, words: &[&str]) {
        if let Some(header) = SarHeader::read(line).filter(|_| self.reports.is_empty()) {
            self.columns = iostat::columns(header.names.iter().copied());
            self.header = Some(header);
            reports::add_report(&mut self.reports, None);
        } else if let Some((device, fields)) = self.header.as_ref().and_then(|header| header.row(words)) {
            let fields = self.columns.0.iter().map(|at| fields[*at]);
            reports::add_row(&mut self.reports, device, fields);
        } else {
            self.header = None;
        }
    }
}

/// Reads the output of `sar -d`. `date` is that of the line of the system.
pub(super) fn read(input: &Input<'_>, date: Option<String>) -> ImportedRuns {
    let mut courses: Vec<SarCourse<'_>> = vec![SarCourse::default()];
    let mut averages = SarAverages::default();
    for (number, line) in input.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains("LINUX RESTART") {
            courses.push(SarCourse::default());
            continue;
        }
        let Some(course) = courses.last_mut() else { continue };
        if words.is_empty() || is_average(&words) {
            course.header = None; // What follows may be of another subject (`sar -A`).
            averages.read(line, &words);
            continue;
        }
        if let Some(header) = SarHeader::read(line) {
            let columns = iostat::columns(header.names.iter().copied());
            if !course.reports.is_empty() && course.columns != columns {
                courses.push(SarCourse::default());
            }
            if let Some(course) = courses.last_mut() {
                (course.columns, course.header) = (columns, Some(header));
            }
            continue;
        }
        let (Some(header), Some(_)) = (&course.header, time_words(&words)) else { continue };
        let Some((device, fields)) = header.row(&words) else {
            return Err(parts::miscounted(input, number).into());
        };
        let time = words[..header.time_words].to_vec();
        if course.time != time {
            let at = date.as_deref().filter(|date| date.len() == 10);
            let at =
                at.and_then(|date| dates::from_numeric(&format!("{date} {}", with_colons(&time.join(" ")))));
            reports::add_report(&mut course.reports, at);
            course.time = time;
        }
        let fields = course.columns.0.iter().map(|at| fields[*at]);
        reports::add_row(&mut course.reports, device, fields);
    }
    let rules = ReportRules { first: First::Interval, may_omit_idle: true };
    let origin = Origin { measured_at: date, ..input.origin("sar", "sar-d") };
    let whole = courses.into_iter().filter(|course| !course.reports.is_empty());
    let mut runs: Vec<ImportedRun> =
        whole.map(|course| iostat::run(origin.clone(), &course.columns.1, course.reports, rules)).collect();
    if runs.is_empty() && !averages.reports.is_empty() {
        let mut run = iostat::run(origin, &averages.columns.1, averages.reports, rules);
        run.notices.push(notice(text!(
            "the file contains only the averages of sar, without its intervals: peaks are unknown",
            "sar の平均の行だけで、区間ごとの行がありません。最大値は不明です"
        )));
        runs.push(run);
    }
    Ok(runs)
}
