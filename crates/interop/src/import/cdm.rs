//! Text of CrystalDiskMark, versions 3 to 9, and texts in its format such as kurabe's own.
//!
//! The model: a heading between lines of dashes, result lines, and a footer of `Key: value` lines.
//! Versions 3 to 6 print the direction in each line. Since version 7, lines are below `[Read]`,
//! `[Write]` and `[Mix]`. Every label is English in every language of the program (`DiskMarkDlg.cpp`:
//! `OnEditCopy` of 3.x and 6.0, `ResultText` of 7.0, `SaveText` of 8 and 9; the language files contain
//! none of them). Only the comment, the drive and the name of the system can contain other characters.
//! Version 9 saves UTF-8. Text pasted from the clipboard has the encoding of the editor.
//!
//! The figures: MB is 10^6. The rate is the highest of the runs and the latency the lowest mean latency
//! of a run, each separately (`DiskBench.cpp`). IOPS are the rate divided by the block size. A test
//! that was not run is printed as 0.000 and skipped. Sources: hiyohiyo/CrystalDiskMark b7e77c4 (6.0),
//! 8dbfdeb (7.0), bf4e6d7 (8.0), bf00fa6 (9.0.1), a copy of 3.0's sources, and published texts of 3.0.1
//! to 3.0.3, 5.1.0, 5.2.0, 6.0.0, 6.0.2 and 8.0.

use super::dates::from_year_first;
use super::kit::*;
use super::mark_tool::procedure;
use super::result_line::{FigureRules, LineClass, Results, parse, read_all};
use kurabe_core::profile::Step;
use kurabe_profile::PROFILES;
use std::sync::LazyLock;

const PRODUCT: &str = "CrystalDiskMark";
/// Tool of a text without a heading.
const UNKNOWN: &str = "unknown";
/// Lines below the results.
const FOOT: [DetailLine; 4] = [
    (&["Date"], &[Detail::Date(from_year_first)]),
    (&["OS"], &[Detail::Os]),
    (&["Test"], &[Detail::RunsInBrackets, Detail::Fact("Test")]),
    (&["Profile", "Mode", "Time", "Comment", "Statistic", "Model"], &[Detail::OwnFact]),
];

/// Returns whether a line is a heading: `CrystalDiskMark 8.0.1 x64 (C) 2007-2021 hiyohiyo`, `kurabe
/// 0.1.0 (as CrystalDiskMark 9 prints it)`.
pub(super) fn is_heading(line: &str) -> bool {
    [PRODUCT, "kurabe"].iter().any(|product| {
        let rest = line.trim().strip_prefix(product).and_then(|rest| rest.strip_prefix(' '));
        rest.is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Reads a text in this format, with its heading if it has one.
pub(super) fn run(input: &Input<'_>, lines: &[(usize, &str)], column: usize) -> Result<ImportedRun> {
    let mut text = CdmText(RunDetails { origin: input.origin(UNKNOWN, "cdm-text"), ..RunDetails::default() });
    text.heading(lines);
    let of_kdiskmark = lines.iter().find(|(_, line)| is_kdiskmarks(line));
    if let (true, Some((line, _))) = (text.is_of(UNKNOWN), of_kdiskmark) {
        let what = text!(
            "this is the format of KDiskMark without its heading, and the meaning of its MB/s depends on \
             the version in the heading",
            "KDiskMark の形式ですが、見出しがありません。MB/s の意味は見出しのバージョンによって異なります"
        );
        return Err(broken_line(input, *line, what));
    }
    let last = lines.iter().rposition(|(_, line)| matches!(parse(line), LineClass::Result(_))).unwrap_or(0);
    let foot = lines[last..].iter().position(|(_, line)| is_foot(line));
    let end = foot.map_or(lines.len(), |foot| last + foot);
    text.foot(&lines[end..]);
    let (rate, latency) = text.statistics();
    let latency_of = FigureOf::RunMeanLatency;
    let rules = FigureRules { rate, latency, latency_of, correction: None, mix_is_total: true };
    let results = read_all(input, &lines[..end], column, text.0.setting.runs, &rules)?;
    text.0.origin.profile = text.profile(&results);
    Ok(text.into_run(results))
}

/// Returns whether a line is KDiskMark's, which has a space between the number and the unit of a block.
fn is_kdiskmarks(line: &str) -> bool {
    matches!(parse(line), LineClass::Result(_))
        && line.contains("Q=")
        && (line.contains(" KiB (") || line.contains(" MiB ("))
}

/// Contents of a text other than its results.
struct CdmText(RunDetails);

impl CdmText {
    fn is_of(&self, tool: &str) -> bool {
        self.0.origin.tool == tool
    }

    fn heading(&mut self, lines: &[(usize, &str)]) {
        let after_rule = || {
            let rule = lines.iter().position(|(_, line)| is_rule(line))?;
            lines.get(rule + 1).map(|(_, line)| *line)
        };
        let named = lines.iter().map(|(_, line)| *line).find(|line| is_heading(line));
        let line = named.or_else(after_rule).unwrap_or_default().trim();
        let is_version = |word: &str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
        let blanks = line.match_indices(' ').map(|(at, _)| at);
        // Without a version, the line does not name a tool.
        let Some((tool, rest)) =
            blanks.map(|at| (&line[..at], &line[at + 1..])).find(|(_, rest)| is_version(rest))
        else {
            return;
        };
        let (version, edition) = rest.split_once(' ').unwrap_or((rest, ""));
        self.0.origin.tool = tool.trim().to_owned();
        self.0.origin.version = Some(version.to_owned());
        if self.is_of(PRODUCT) {
            self.fact("Edition", edition.split("(C)").next().unwrap_or_default().trim());
        }
    }

    fn foot(&mut self, lines: &[(usize, &str)]) {
        for (_, line) in lines {
            let (line, before) = (line.trim(), self.0.environment.machine.os.is_some());
            self.0.read(&FOOT, line);
            match key_value(line) {
                Some(("Date", value)) if self.0.origin.measured_at.is_none() => self.fact("Date", value),
                Some((key, _)) if FOOT.iter().any(|(names, _)| names.contains(&key)) => {}
                // Versions 3 to 6 print the comment without a key, after the system.
                _ if before
                    && !is_rule(line)
                    && self.setting("Comment").is_none()
                    && self.major() < Some(7) =>
                {
                    self.fact("Comment", line);
                }
                _ => {}
            }
        }
        if let Some(drive) = self.setting("Test").and_then(drive).map(str::to_owned) {
            self.fact("Drive", &drive);
            // A drive letter keeps its colon. The path that kurabe prints instead has none.
            self.0.origin.target = drive.split_once(": ").or(drive.split_once(':')).map(|(name, _)| {
                if name.chars().count() == 1 { format!("{name}:") } else { name.to_owned() }
            });
        }
        let origin = &mut self.0.origin;
        origin.procedure = procedure(origin, &["Profile", "Test", "Mode", "Time"]);
        if let (Some(words), Some(drive)) = (&mut origin.procedure, origin.facts.get("Drive")) {
            *words = words.replacen(&format!(" [{drive}]"), "", 1);
        }
    }

    fn fact(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            fact(&mut self.0.origin, key, value);
        }
    }

    fn setting(&self, key: &str) -> Option<&str> {
        self.0.origin.facts.get(key).map(String::as_str)
    }

    /// Returns the major version, if the tool is CrystalDiskMark itself.
    fn major(&self) -> Option<u32> {
        let version = self.0.origin.version.as_deref().filter(|_| self.is_of(PRODUCT))?;
        version.split('.').next()?.parse().ok()
    }

    /// Returns the statistics: CrystalDiskMark's own, or those that another tool states.
    fn statistics(&self) -> (Statistic, Statistic) {
        match self.setting("Statistic") {
            _ if self.is_of(PRODUCT) => (Statistic::Highest, Statistic::Lowest),
            Some("best") => (Statistic::Highest, Statistic::Lowest),
            Some("mean") => (Statistic::Mean, Statistic::Mean),
            Some("median") => (Statistic::Median, Statistic::Median),
            _ => (Statistic::Unknown, Statistic::Unknown),
        }
    }

    fn into_run(self, results: Results) -> ImportedRun {
        let mut notices = Vec::new();
        if self.is_of(PRODUCT) {
            notices.push(notice(text!(
                "CrystalDiskMark shows the best of its runs: the highest rate and the lowest mean latency, each on its \
                 own; a mean of the same runs would be lower",
                "CrystalDiskMark は各回のうち最良の値(最高の速度と、平均レイテンシの最小値。それぞれ別の回のこともある)を\
                 表示します。同じ測定の平均なら、これより低くなります"
            )));
        }
        if self.is_of(UNKNOWN) {
            notices.push(notice(text!(
                "the heading with the tool's name is missing; the format is that of CrystalDiskMark, \
                 which shows the best of its runs",
                "ツール名の見出しがありません。CrystalDiskMark の形式で、CrystalDiskMark なら各回のうち最良の値です"
            )));
        }
        if let Some(model) = self.setting("Model") {
            // kurabe marks the figures that it computed.
            notices.push(notice(Text::same(model)));
        }
        results.into_run(self.0, notices)
    }

    /// Returns kurabe's profile, if version and tests identify it.
    fn profile(&self, results: &Results) -> Option<String> {
        // Versions 4 and 5 print the same tests.
        let major = self
            .major()
            .filter(|major| (3..=9).contains(major))
            .map(|major| major + u32::from(major == 4))?;
        let is_of = |preset: &&str| are(&results.tests, &tests(major, preset));
        if major < 7 {
            return Some(format!("cdm-{major}")).filter(|_| is_of(&""));
        }
        let (printed, time) = (self.setting("Profile")?, self.setting("Time").map(str::trim));
        let is_flash = time == Some("Measure 1 sec / Interval 30 sec");
        let presets = PRESETS.iter().filter(|(profile, _)| *profile == printed).map(|(_, preset)| *preset);
        // Version 8 introduced the preset for NVMe drives.
        let can_be = |preset: &&str| match *preset {
            "-flash" => is_flash,
            "-nvme" => major > 7,
            _ => true,
        };
        let preset = presets.filter(can_be).find(is_of)?;
        let is_mix = results.cells.iter().any(|cell| cell.direction == Some(Direction::Mix));
        Some(format!("cdm-{major}{preset}{}", if is_mix { "-mix" } else { "" }))
    }
}

/// Names of presets as printed since version 7, and the endings of the names of their profiles.
const PRESETS: [(&str, &str); 6] = [
    ("Default", "-flash"),
    ("Default", ""),
    ("Default", "-nvme"),
    ("Peak", "-peak"),
    ("Real", "-real"),
    ("Demo", "-demo"),
];

/// Labels of the tests of each of kurabe's profiles.
static PROFILE_TESTS: LazyLock<Vec<(&str, Vec<String>)>> = LazyLock::new(|| {
    let own = PROFILES.iter().filter(|(name, _)| name.starts_with("cdm-"));
    let tests = |(name, source): &(&'static str, &str)| {
        Some((
            *name,
            kurabe_profile::parse_profile(name, source).ok()?.steps.iter().map(Step::label).collect(),
        ))
    };
    own.filter_map(tests).collect()
});

/// Returns the tests of a version's preset: those of version 9, except those that differ in the
/// version.
fn tests(major: u32, preset: &str) -> Vec<String> {
    let of = |version: u32, preset: &str| {
        let name = format!("cdm-{version}{preset}");
        PROFILE_TESTS.iter().find(|(own, _)| *own == name).map_or(&[][..], |(_, tests)| tests)
    };
    let (own, newest) = (of(major, ""), of(9, ""));
    let of_version = |test: &String| {
        let place = newest.iter().position(|one| one == test);
        place.and_then(|place| own.get(place)).unwrap_or(test).clone()
    };
    of(9, preset).iter().map(of_version).collect()
}

/// Returns whether the printed tests match those of a profile. Versions before 7 do not print every
/// parameter.
fn are(printed: &[String], tests: &[String]) -> bool {
    let is = |(printed, test): (&String, &String)| {
        printed.split(' ').all(|word| test.split(' ').any(|own| own == word))
    };
    !tests.is_empty() && printed.len() == tests.len() && printed.iter().zip(tests).all(is)
}

fn is_foot(line: &str) -> bool {
    key_value(line)
        .is_some_and(|(key, _)| matches!(key, "Profile" | "Test" | "Mode" | "Time" | "Date" | "OS"))
}

/// Returns the drive from the brackets: `C: 87% (814/931GiB)`.
fn drive(test: &str) -> Option<&str> {
    test.split('[').skip(1).find_map(|group| {
        let inner = group.split(']').next()?;
        (inner.contains(':') && !inner.starts_with("Interval")).then_some(inner)
    })
}
