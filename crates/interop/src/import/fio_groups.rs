//! The summary of fio's text output, which people paste without the results of the jobs, and the
//! command line above it.
//!
//! The model: `Run status group N` begins a group of jobs. Each line below it has the direction, the
//! rate of all its jobs together, the data that they moved, and their shortest and longest time. A
//! group whose number does not ascend belongs to another run. The command line above names the work if
//! it describes one job. Source: `show_group_stats` of fio 2.2 and 3.33.

use super::fio_job::JobResult;
use super::fio_text::{DIRECTIONS, value};
use super::kit::*;
use super::units::mark_binary_unit;

const GROUP: &str = "Run status group {} ({}):{}";
pub(super) const SINCE_3: &str = "{}: bw={} ({}), {} ({}), io={} ({}), run={}-{}msec";
pub(super) const BEFORE_3: &str = "{}: io={}, aggrb={}, minb={}, maxb={}, mint={}msec, maxt={}msec";

/// A line of a group: fio's word for the direction, and its figures.
pub(super) type GroupLine = (&'static str, Vec<PrintedFigure>);

/// Parses a line of a group.
pub(super) fn group_line(line: &str) -> Option<GroupLine> {
    let since_3 = || {
        holes(SINCE_3, line).map(|[word, rate, _, _, _, data, _, _, time]| (word, rate, data, time, 1000.0))
    };
    let before_3 =
        || holes(BEFORE_3, line).map(|[word, data, rate, _, _, _, time]| (word, rate, data, time, 1024.0));
    let (word, rate, data, time_ms, thousand) = since_3().or_else(before_3)?;
    let word = DIRECTIONS.into_iter().find(|direction| direction.eq_ignore_ascii_case(word))?;
    let sized = |quantity, statistic, words| {
        let (value, number, unit) = value(words, thousand)?;
        let mut figure = figure_of_value(quantity, statistic, value, number, unit)?;
        if thousand == 1024.0 {
            mark_binary_unit(&mut figure, "fio 2");
        }
        Some(figure)
    };
    let rate = sized(Quantity::Rate, Statistic::Mean, rate)?;
    let data = sized(Quantity::Bytes, Statistic::Sum, data)
        .map(|data| PrintedFigure { of: Some(FigureOf::DataMoved), ..data });
    let time = units::RUN_MILLISECONDS.figure_of(FigureOf::RunTime, Statistic::Sum, time_ms);
    Some((word, std::iter::once(rate).chain(data).chain(time).collect()))
}

/// The groups of a text.
#[derive(Default)]
pub(super) struct Groups {
    /// Number of each group, with its lines.
    groups: Vec<(u32, Vec<GroupLine>)>,
}

impl Groups {
    /// Reads a line. Returns whether it is one of a group.
    pub(super) fn read(&mut self, line: &str) -> bool {
        if let Some([number, _, _]) = holes(GROUP, line) {
            self.groups.push((number.parse().unwrap_or(0), Vec::new()));
            return true;
        }
        let Some(of_line) = group_line(line) else { return false };
        match self.groups.last_mut() {
            Some((_, lines)) if lines.iter().all(|(word, _)| *word != of_line.0) => lines.push(of_line),
            // A line without its group.
            _ => self.groups.push((0, vec![of_line])),
        }
        true
    }

    /// Returns the groups of each run as results of jobs.
    pub(super) fn runs(self) -> Vec<Vec<JobResult>> {
        let mut runs: Vec<Vec<JobResult>> = Vec::new();
        let mut last = None;
        for (number, directions) in self.groups.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            let entry = [format!("group {number}"), number.to_string(), String::new()];
            super::room::take(1024);
            let job = JobResult { entry, directions, ..JobResult::default() };
            match runs.last_mut() {
                Some(run) if last.is_some_and(|last| last < number) => run.push(job),
                _ => runs.push(vec![job]),
            }
            last = Some(number);
        }
        runs
    }
}

/// Options that describe the work of a job.
const OPTIONS: [&str; 25] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "iodepth",
    "numjobs",
    "direct",
    "ioengine",
    "size",
    "filename",
    "directory",
    "rwmixread",
    "rwmixwrite",
    "sync",
    "fsync",
    "fdatasync",
    "rate",
    "rate_iops",
    "buffered",
    "time_based",
    "runtime",
    "group_reporting",
    "end_fsync",
    "fsync_on_close",
    "offset",
];

/// Options of the command lines of a text.
#[derive(Default)]
pub(super) struct Commands<'a> {
    commands: Vec<Vec<&'a str>>,
    /// Whether the previous line ends in a backslash.
    goes_on: bool,
    /// Whether the previous line is part of a command, so that a line of options continues it.
    within: bool,
}

impl<'a> Commands<'a> {
    /// Reads a line that may hold a command of fio.
    pub(super) fn read(&mut self, line: &'a str) {
        let is_fio = |word: &&str| *word == "fio" || word.ends_with("/fio");
        let mut words = line.split_whitespace();
        let begins =
            !self.goes_on && words.find(is_fio).is_some() && words.clone().any(|word| word.starts_with('-'));
        let continues = self.goes_on || self.within && line.trim_start().starts_with("--");
        self.within = begins || continues;
        if begins {
            self.commands.push(Vec::new());
        } else if !continues {
            return;
        } else {
            words = line.split_whitespace();
        }
        self.goes_on = line.trim_end().ends_with('\\');
        if let Some(command) = self.commands.last_mut() {
            command.extend(words.filter(|word| word.starts_with('-')));
        }
    }

    /// Returns whether the text has one command, which describes one job without a job file.
    pub(super) fn is_of_one_job(&self) -> bool {
        let [command] = self.commands.as_slice() else { return false };
        jobs(command) == 1
    }

    /// Returns the number of commands.
    pub(super) fn count(&self) -> usize {
        self.commands.len()
    }

    /// Returns the options of the only job of the only command.
    pub(super) fn options(&self) -> Vec<(&'static str, &'a str)> {
        if self.commands.len() == 1 { self.options_of(0) } else { Vec::new() }
    }

    /// Returns the options of the only job of a command.
    pub(super) fn options_of(&self, place: usize) -> Vec<(&'static str, &'a str)> {
        let Some(command) = self.commands.get(place) else { return Vec::new() };
        let of = |word: &'a str| {
            let word = word.trim_start_matches('-');
            let (name, value) = word.split_once('=').unwrap_or((word, "1"));
            Some((*OPTIONS.iter().find(|own| **own == name)?, value.trim_matches(['"', '\''])))
        };
        if jobs(command) > 1 { Vec::new() } else { command.iter().filter_map(|word| of(word)).collect() }
    }
}

/// Returns the number of jobs that a command describes.
fn jobs(command: &[&str]) -> usize {
    command.iter().filter(|word| word.trim_start_matches('-').starts_with("name=")).count()
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn a_summary_alone_is_read_with_its_command() {
        let text = "# fio -name=a -filename=/opt/foo -direct=1 \\\n  -rw=randrw -bs=4k -numjobs=16\n\
            // 4.4.0:\nRun status group 0 (all jobs):\n\
            \x20  READ: bw=54.5MiB/s (57.1MB/s), 54.5MiB/s-54.5MiB/s (57.1MB/s-57.1MB/s), io=6537MiB (6854MB), \
            run=119000-120002msec\n\
            \x20 WRITE: bw=54.6MiB/s (57.2MB/s), 54.5MiB/s-54.5MiB/s (57.2MB/s-57.2MB/s), io=6544MiB (6862MB), \
            run=120002-120002msec\n\
            // 5.4.0:\nRun status group 0 (all jobs):\n\
            \x20  READ: bw=23.5MiB/s (24.7MB/s), 23.5MiB/s-23.5MiB/s (24.7MB/s-24.7MB/s), io=2821MiB (2959MB), \
            run=120002-120002msec\n";
        let runs = import("a.txt", text.as_bytes()).unwrap();
        assert_eq!(runs.len(), 2, "the number does not ascend");
        assert_eq!(runs[0].origin.facts.get("direct").map(String::as_str), Some("1"));
        let read = &of(&runs[0].cells[0]);
        assert_eq!((read.block_bytes, read.threads, read.sequential), (Some(4096), Some(16), Some(false)));
        assert_figure(&read.figures[0], "54.5", "MiB/s", 54.5 * 1_048_576.0);
        assert_figure(
            figure(&runs[0].cells[0], Quantity::Duration, Statistic::Sum, Some("run time")),
            "120002",
            "ms",
            120_002e6,
        );
        assert_eq!(of(&runs[1].cells[0]).figures[0].printed, "23.5");
        let old = "Run status group 0 (all jobs):\n\
                   \x20 WRITE: io=3200.0MB, aggrb=13095KB/s, minb=3273KB/s, maxb=3284KB/s, \
                   mint=249447msec, maxt=250214msec\nRun status group 1 (all jobs):\n   READ: io=3200.0MB, \
                   aggrb=28992KB/s, minb=7248KB/s, maxb=7273KB/s, mint=112623msec, maxt=113021msec\n";
        let runs = import("a.txt", old.as_bytes()).unwrap();
        assert_eq!((runs.len(), runs[0].cells.len()), (1, 2));
        let write = &of(&runs[0].cells[0]).figures[0];
        assert_figure(write, "13095", "KB/s", 13_095.0 * 1024.0);
        assert!(write.correction.is_some());
    }
}
