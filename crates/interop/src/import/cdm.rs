//! CrystalDiskMark's text, versions 3 to 9, and texts in its form such as kurabe's own.
//!
//! The model: a heading between lines of dashes, result lines, and a foot of `Key: value` lines. Versions 3 to 6 print
//! the direction in each line; from 7 on lines stand under `[Read]`, `[Write]` and `[Mix]`. Every label is English in
//! every language of the program (`DiskMarkDlg.cpp`: `OnEditCopy` of 3.x and 6.0, `ResultText` of 7.0, `SaveText` of 8
//! and 9; the language files hold none of them); only the comment, the drive and the name of the system may hold other
//! letters. 9 saves UTF-8; what was pasted from the clipboard is in whatever the editor wrote.
//!
//! The figures: MB is 10^6. The rate is the highest of the runs and the latency the lowest mean latency of a run, each
//! on its own (`DiskBench.cpp`); IOPS are the rate divided by the block. A test that was not run is printed as 0.000:
//! it is left out. Sources: hiyohiyo/CrystalDiskMark b7e77c4 (6.0), 8dbfdeb (7.0), bf4e6d7 (8.0), bf00fa6 (9.0.1), a
//! copy of 3.0's sources, and published texts of 3.0.1 to 3.0.3, 5.1.0, 5.2.0, 6.0.0, 6.0.2 and 8.0.

use super::dates::from_year_first;
use super::parts::{self, is_rule, key_value, notice, runs_in};
use super::result_line::{FigureRules, LineClass, Results, parse, read_all};
use super::{ImportedRun, Input};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{FigureOf, Origin, PrintedStatistic};
use kurabe_core::workload::Direction;
use kurabe_core::{Result, Text, text};

const PRODUCT: &str = "CrystalDiskMark";
/// The tool of a text without a heading.
const UNKNOWN: &str = "unknown";

/// `CrystalDiskMark 8.0.1 x64 (C) 2007-2021 hiyohiyo`, `kurabe 0.1.0 (as CrystalDiskMark 9 prints it)`.
pub(super) fn is_heading(line: &str) -> bool {
    [PRODUCT, "kurabe"].iter().any(|product| {
        let rest = line.trim().strip_prefix(product).and_then(|rest| rest.strip_prefix(' '));
        rest.is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Reads a text in this form, with its heading if it has one.
pub(super) fn run(input: &Input<'_>, lines: &[(usize, &str)], column: usize) -> Result<ImportedRun> {
    let mut block = TextFacts::default();
    block.heading(lines);
    if block.origin.tool == UNKNOWN && lines.iter().any(|(_, line)| is_kdiskmarks(line)) {
        let line = lines.iter().find(|(_, line)| is_kdiskmarks(line)).map_or(1, |(number, _)| *number);
        return Err(parts::broken_line(
            input,
            line,
            text!(
                "this is KDiskMark's form without its heading, and what its MB/s are depends on the version there",
                "KDiskMark の形式ですが、見出しがありません。MB/s の意味は見出しのバージョンによって異なります"
            ),
        ));
    }
    let last = lines.iter().rposition(|(_, line)| matches!(parse(line), LineClass::Result(_))).unwrap_or(0);
    let foot = lines[last..].iter().position(|(_, line)| is_foot(line));
    let end = foot.map_or(lines.len(), |foot| last + foot);
    for (_, line) in &lines[end..] {
        block.foot(line);
    }
    let (rate, latency) = block.statistics();
    let runs = block.runs;
    let latency_of = FigureOf::RunMeanLatency;
    let rules = FigureRules { rate, latency, latency_of, correction: None, runs, mix_is_total: true, column };
    let results = read_all(input, &lines[..end], &rules)?;
    block.origin.profile = block.profile(&results);
    block.origin.format = "cdm-text".to_owned();
    block.origin.file = input.name.to_owned();
    block.origin.procedure = block.procedure();
    Ok(block.into_run(results))
}

/// KDiskMark puts a blank between the number and the unit of a block, which CrystalDiskMark does not.
fn is_kdiskmarks(line: &str) -> bool {
    matches!(parse(line), LineClass::Result(_))
        && line.contains("Q=")
        && (line.contains(" KiB (") || line.contains(" MiB ("))
}

/// What a text holds besides its results.
#[derive(Default)]
struct TextFacts {
    origin: Origin,
    os: Option<String>,
    runs: Option<u32>,
}

impl TextFacts {
    fn heading(&mut self, lines: &[(usize, &str)]) {
        let after_rule = || {
            let rule = lines.iter().position(|(_, line)| is_rule(line))?;
            lines.get(rule + 1).map(|(_, line)| *line)
        };
        let named = lines.iter().map(|(_, line)| *line).find(|line| is_heading(line));
        let line = named.or_else(after_rule).unwrap_or_default().trim();
        let is_version = |word: &str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
        let mut at = 0;
        for word in line.split(' ') {
            if at > 0 && is_version(word) {
                self.origin.tool = line[..at].trim().to_owned();
                self.origin.version = Some(word.to_owned());
                let edition = line[at + word.len()..].split("(C)").next().unwrap_or_default().trim();
                if self.origin.tool == PRODUCT {
                    self.fact("Edition", edition);
                }
                return;
            }
            at += word.len() + 1;
        }
        // Nobody signed it.
        UNKNOWN.clone_into(&mut self.origin.tool);
    }

    fn foot(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || is_rule(line) {
            return;
        }
        match key_value(line) {
            Some(("Date", value)) => {
                self.origin.measured_at = from_year_first(value);
                if self.origin.measured_at.is_none() {
                    self.fact("Date", value);
                }
            }
            Some(("OS", value)) => self.os = Some(value.to_owned()),
            Some(("Test", value)) => {
                self.runs = runs_in(value);
                if let Some(drive) = drive(value) {
                    self.fact("Drive", drive);
                    // A letter keeps its colon; the path that kurabe prints in its place has none.
                    self.origin.target = drive.split_once(": ").or(drive.split_once(':')).map(|(name, _)| {
                        if name.chars().count() == 1 { format!("{name}:") } else { name.to_owned() }
                    });
                }
                self.fact("Test", value);
            }
            Some((key @ ("Profile" | "Mode" | "Time" | "Comment" | "Statistic" | "Model"), value)) => {
                self.fact(key, value);
            }
            // Versions 3 to 6 print the comment alone, after the system.
            _ if self.os.is_some()
                && !self.origin.facts.contains_key("Comment")
                && self.major() < Some(7) =>
            {
                self.fact("Comment", line);
            }
            _ => {}
        }
    }

    fn fact(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            parts::fact(&mut self.origin, key, value);
        }
    }

    fn setting(&self, key: &str) -> Option<&str> {
        self.origin.facts.get(key).map(String::as_str)
    }

    /// The major version, if the tool is CrystalDiskMark itself.
    fn major(&self) -> Option<u32> {
        let version = self.origin.version.as_deref().filter(|_| self.origin.tool == PRODUCT)?;
        version.split('.').next()?.parse().ok()
    }

    /// The statistics: CrystalDiskMark's own, or what another tool says of itself.
    fn statistics(&self) -> (PrintedStatistic, PrintedStatistic) {
        match self.setting("Statistic") {
            _ if self.origin.tool == PRODUCT => (PrintedStatistic::Highest, PrintedStatistic::Lowest),
            Some("best") => (PrintedStatistic::Highest, PrintedStatistic::Lowest),
            Some("mean") => (PrintedStatistic::Mean, PrintedStatistic::Mean),
            Some("median") => (PrintedStatistic::Median, PrintedStatistic::Median),
            _ => (PrintedStatistic::Unknown, PrintedStatistic::Unknown),
        }
    }

    fn into_run(self, results: Results) -> ImportedRun {
        let mut notices = Vec::new();
        if self.origin.tool == PRODUCT {
            notices.push(notice(text!(
                "CrystalDiskMark shows the best of its runs: the highest rate and the lowest mean latency, each on its \
                 own; a mean of the same runs would be lower",
                "CrystalDiskMark は各回のうち最良の値(最高の速度と、平均レイテンシの最小値。それぞれ別の回のこともある)を\
                 表示します。同じ測定の平均なら、これより低くなります"
            )));
        }
        if self.origin.tool == UNKNOWN {
            notices.push(notice(text!(
                "no heading names the tool; the form is CrystalDiskMark's, which shows the best of its runs",
                "ツール名の見出しがありません。CrystalDiskMark の形式で、CrystalDiskMark なら各回のうち最良の値です"
            )));
        }
        if let Some(model) = self.setting("Model") {
            // kurabe says so of what it computed.
            notices.push(notice(Text::same(model)));
        }
        notices.extend(results.notice());
        let mut environment = Environment::default();
        environment.machine.os = self.os;
        ImportedRun { origin: self.origin, environment, cells: results.cells, notices }
    }

    /// Profile, test, mode and times as printed.
    fn procedure(&self) -> Option<String> {
        let drive = self.setting("Drive").map(|drive| format!(" [{drive}]"));
        let test = self.setting("Test").map(|test| match &drive {
            Some(drive) => test.replacen(drive.as_str(), "", 1),
            None => test.to_owned(),
        });
        let parts: Vec<String> = [self.setting("Profile").map(str::to_owned), test]
            .into_iter()
            .chain([self.setting("Mode").map(str::to_owned), self.setting("Time").map(str::to_owned)])
            .flatten()
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// kurabe's profile, if version and tests name it without doubt.
    fn profile(&self, results: &Results) -> Option<String> {
        let major = self.major()?;
        let tests: Vec<&str> = results.tests.iter().map(String::as_str).collect();
        let older = match (major, tests.as_slice()) {
            (3, ["SEQ", "RND 512 KiB", "RND 4 KiB Q1", "RND 4 KiB Q32"]) => Some("cdm-3"),
            (4 | 5, ["SEQ Q32 T1", "RND 4 KiB Q32 T1", "SEQ T1", "RND 4 KiB Q1 T1"]) => Some("cdm-5"),
            (6, ["SEQ Q32 T1", "RND 4 KiB Q8 T8", "RND 4 KiB Q32 T1", "RND 4 KiB Q1 T1"]) => Some("cdm-6"),
            _ => None,
        };
        if older.is_some() || !(7..=9).contains(&major) {
            return older.map(str::to_owned);
        }
        let preset = preset(major, self.setting("Profile")?, &tests, self.setting("Time"))?;
        let mix =
            if results.cells.iter().any(|cell| cell.direction == Some(Direction::Mix)) { "-mix" } else { "" };
        Some(format!("cdm-{major}{preset}{mix}"))
    }
}

/// The preset of versions 7 to 9 as the end of a profile's name; none for the tests that the version installs with.
fn preset(major: u32, profile: &str, tests: &[&str], time: Option<&str>) -> Option<&'static str> {
    const SEQ_Q8: &str = "SEQ 1 MiB Q8 T1";
    const SEQ_Q1: &str = "SEQ 1 MiB Q1 T1";
    const RND_Q1: &str = "RND 4 KiB Q1 T1";
    let many = if major == 7 { "RND 4 KiB Q32 T16" } else { "RND 4 KiB Q32 T1" };
    match (profile, tests) {
        ("Default", [SEQ_Q8, SEQ_Q1, random, RND_Q1]) if *random == many => {
            let flash = time.is_some_and(|time| time.trim() == "Measure 1 sec / Interval 30 sec");
            Some(if flash { "-flash" } else { "" })
        }
        ("Default", [SEQ_Q8, "SEQ 128 KiB Q32 T1", "RND 4 KiB Q32 T16", RND_Q1]) if major > 7 => {
            Some("-nvme")
        }
        ("Peak", [SEQ_Q8, random]) if *random == many => Some("-peak"),
        ("Real", [SEQ_Q1, RND_Q1]) => Some("-real"),
        ("Demo", [SEQ_Q8]) => Some("-demo"),
        _ => None,
    }
}

fn is_foot(line: &str) -> bool {
    key_value(line)
        .is_some_and(|(key, _)| matches!(key, "Profile" | "Test" | "Mode" | "Time" | "Date" | "OS"))
}

/// What stands in the brackets of the drive: `C: 87% (814/931GiB)`.
fn drive(test: &str) -> Option<&str> {
    test.split('[').skip(1).find_map(|group| {
        let inner = group.split(']').next()?;
        (inner.contains(':') && !inner.starts_with("Interval")).then_some(inner)
    })
}
