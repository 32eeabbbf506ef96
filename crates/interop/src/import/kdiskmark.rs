//! KDiskMark's text.
//!
//! The model: CrystalDiskMark's form of version 7 with another heading and foot (`mainwindow.cpp`). The rate is fio's
//! `bw`, which is in KiB/s, divided by 1000 and printed as MB/s (`benchmark.cpp`), so it is 2.34 % too low; before 1.5
//! it was divided by 1024 and is MiB/s. Both are corrected. In the Default profile the figures are means of the runs,
//! in the others the best of them; the latency is fio's mean completion latency. A mix is not what was moved in all, but
//! the means of reads and writes weighted by their shares (`(totalRead * p + totalWrite * (100 - p)) / 100`). Source: JonMagon/KDiskMark e78d3c75
//! (3.3.0), 2c6f285 (the change of 1.5), and the text in its README.

use super::dates::from_year_first;
use super::parts::{fact, key_value, notice, runs_in};
use super::result_line::{FigureRules, read_all};
use super::units::binary;
use super::{ImportedRun, Input};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{Correction, FigureOf, Origin, PrintedStatistic};
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};

/// The version, if the line is the heading.
pub(super) fn version(line: &str) -> Option<&str> {
    version_after(line, "KDiskMark (")
}

fn version_after<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    line.trim().strip_prefix(prefix)?.split_once(')').map(|(version, _)| version)
}

/// Reads a text under its heading.
pub(super) fn run(
    input: &Input<'_>,
    lines: &[(usize, &str)],
    version: &str,
    column: usize,
) -> Result<ImportedRun> {
    let mut origin =
        Origin { version: Some(version.to_owned()), ..input.origin("KDiskMark", "kdiskmark-text") };
    let mut environment = Environment::default();
    for (_, line) in lines {
        if let Some(fio) = version_after(line, "Flexible I/O Tester (") {
            fact(&mut origin, "Flexible I/O Tester", fio);
        }
        match key_value(line) {
            Some(("Date", value)) => origin.measured_at = from_year_first(value),
            Some(("OS", value)) => environment.machine.os = Some(value.to_owned()),
            Some(("Target", value)) => origin.target = Some(value.to_owned()),
            Some((key @ ("Profile" | "Test"), value)) => fact(&mut origin, key, value),
            _ => {}
        }
    }
    let correction = correction(version);
    let rules = FigureRules { column, ..rules(&origin, correction.clone()) };
    let results = read_all(input, lines, &rules)?;
    origin.procedure = match (origin.facts.get("Profile"), origin.facts.get("Test")) {
        (Some(profile), Some(test)) => Some(format!("{profile}; {test}")),
        (one, other) => one.or(other).cloned(),
    };
    let notices = std::iter::once(notice(text!(
        "KDiskMark {version} prints {} as MB/s; its rates are multiplied by {}",
        "KDiskMark {version} は {} を MB/s と表示します。速度は {} 倍に補正しました",
        correction.unit,
        correction.factor
    )));
    let has_mix = results.cells.iter().any(|cell| cell.direction == Some(Direction::Mix));
    let mix = has_mix.then(|| {
        notice(text!(
            "KDiskMark's figures of a mix are the rates of the reads and of the writes, each times its share (70 % and \
             30 %), added up: 39 to 42 % below what was moved in all; they are compared with no other tool's",
            "KDiskMark の混在の値は、読み取りと書き込みの速度にそれぞれの割合(70 % と 30 %)を掛けて足したもので、実際の合計より \
             39~42 % 低くなります。ほかのツールの値とは比較しません"
        ))
    });
    let notices = notices.chain(mix).chain(results.notice()).collect();
    Ok(ImportedRun { origin, environment, cells: results.cells, notices })
}

/// The correction of a version's rates.
fn correction(version: &str) -> Correction {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < (1, 5) {
        let reason = text!(
            "fio's KiB/s divided by 1024 is MiB/s, printed as MB/s",
            "fio の KiB/s を 1024 で割った値は MiB/s ですが、MB/s と表示されます"
        );
        return binary("MiB/s", reason);
    }
    Correction {
        factor: 1.024,
        unit: "KiB/s / 1000".to_owned(),
        reason: text!(
            "fio's KiB/s is divided by 1000 and printed as MB/s",
            "fio の KiB/s を 1000 で割った値が MB/s と表示されます"
        ),
    }
}

/// How the figures of a profile are made.
fn rules(origin: &Origin, correction: Correction) -> FigureRules {
    let profile = origin.facts.get("Profile").map(|profile| profile.trim_end_matches(" [+Mix]"));
    let (rate, latency) = match profile {
        Some("Default") => (PrintedStatistic::Mean, PrintedStatistic::Mean),
        Some("Peak Performance" | "Real World Performance" | "Demo") => {
            (PrintedStatistic::Highest, PrintedStatistic::Lowest)
        }
        _ => (PrintedStatistic::Unknown, PrintedStatistic::Unknown),
    };
    let runs = origin.facts.get("Test").and_then(|test| runs_in(test));
    let latency_of = FigureOf::RunMeanCompletionLatency;
    FigureRules {
        rate,
        latency,
        latency_of,
        correction: Some(correction),
        runs,
        mix_is_total: false,
        column: 0,
    }
}
