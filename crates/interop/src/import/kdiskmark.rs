//! KDiskMark's text.
//!
//! The model: CrystalDiskMark's form of version 7 with another heading and foot (`mainwindow.cpp`). The rate is fio's
//! `bw`, which is in KiB/s, divided by 1000 and printed as MB/s (`benchmark.cpp`), so it is 2.34 % too low; before 1.5
//! it was divided by 1024 and is MiB/s. Both are corrected. In the Default profile the figures are means of the runs,
//! in the others the best of them; the latency is fio's mean completion latency. Source: JonMagon/KDiskMark e78d3c75
//! (3.3.0), 2c6f285 (the change of 1.5), and the text in its README.

use super::consumer::{broken_line, iso_date_time, key_value, mebi_correction, runs_in};
use super::parts::{notice, numbered};
use super::result_line::{Line, Rules, parse};
use super::{ImportedRun, Importer, Input, Outcome};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{Correction, Origin, PrintedStatistic};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};

pub(super) const IMPORTER: Importer = Importer { what: "KDiskMark text", read };

fn read(input: &Input<'_>) -> Outcome {
    let Some(version) = input.lines().find_map(|(_, line)| version_after(line, "KDiskMark (")) else {
        return Outcome::NotMine(text!(
            "no line begins with `KDiskMark (`",
            "`KDiskMark (` で始まる行がありません"
        ));
    };
    match read_mine(input, version) {
        Ok(run) => Outcome::Runs(vec![run]),
        Err(error) => Outcome::Broken(error),
    }
}

fn version_after<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    line.trim().strip_prefix(prefix)?.split_once(')').map(|(version, _)| version)
}

fn read_mine(input: &Input<'_>, version: &str) -> Result<ImportedRun> {
    let mut origin = Origin {
        tool: "KDiskMark".to_owned(),
        version: Some(version.to_owned()),
        format: "kdiskmark-text".to_owned(),
        file: input.name.to_owned(),
        ..Origin::default()
    };
    let mut environment = Environment::default();
    for (_, line) in input.lines() {
        if let Some(fio) = version_after(line, "Flexible I/O Tester (") {
            origin.facts.insert("Flexible I/O Tester".to_owned(), fio.to_owned());
        }
        match key_value(line) {
            Some(("Date", value)) => origin.measured_at = iso_date_time(value),
            Some(("OS", value)) => environment.machine.os = Some(value.to_owned()),
            Some(("Target", value)) => origin.target = Some(value.to_owned()),
            Some((key @ ("Profile" | "Test"), value)) => {
                origin.facts.insert(key.to_owned(), value.to_owned());
            }
            _ => {}
        }
    }
    let (cells, left_out) = cells(input, &origin, version)?;
    origin.procedure = match (origin.facts.get("Profile"), origin.facts.get("Test")) {
        (Some(profile), Some(test)) => Some(format!("{profile}; {test}")),
        (one, other) => one.or(other).cloned(),
    };
    let correction = correction(version);
    let mut notices = vec![notice(text!(
        "KDiskMark {version} prints {} as MB/s; its rates are multiplied by {}",
        "KDiskMark {version} は {} を MB/s と表示します。速度は {} 倍に補正しました",
        correction.unit,
        correction.factor
    ))];
    if left_out > 0 {
        notices.push(notice(text!(
            "results left out: {left_out}, printed as 0.000, which stands for a test that was not run",
            "{left_out} 件の結果は 0.000 です。実行されなかったテストを表すため、取り込んでいません"
        )));
    }
    Ok(ImportedRun { origin, environment, cells: numbered(cells), notices })
}

/// The correction of a version's rates.
fn correction(version: &str) -> Correction {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < (1, 5) {
        return mebi_correction(text!(
            "fio's KiB/s divided by 1024 is MiB/s, printed as MB/s",
            "fio の KiB/s を 1024 で割った値は MiB/s ですが、MB/s と表示されます"
        ));
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

fn cells(input: &Input<'_>, origin: &Origin, version: &str) -> Result<(Vec<Cell>, usize)> {
    let profile = origin.facts.get("Profile").map(|profile| profile.trim_end_matches(" [+Mix]"));
    let (rate, latency) = match profile {
        Some("Default") => (PrintedStatistic::Mean, PrintedStatistic::Mean),
        Some("Peak Performance" | "Real World Performance" | "Demo") => {
            (PrintedStatistic::Highest, PrintedStatistic::Lowest)
        }
        _ => (PrintedStatistic::Unknown, PrintedStatistic::Unknown),
    };
    let runs = origin.facts.get("Test").and_then(|test| runs_in(test));
    let latency_of = "mean completion latency of a run";
    let rules = Rules { rate, latency, latency_of, correction: Some(correction(version)), runs };
    let (mut direction, mut read_percent, mut left_out) = (None, None, 0);
    let mut cells = Vec::new();
    for (number, line) in input.lines() {
        let trimmed = line.trim();
        match trimmed {
            "[Read]" => direction = Some(Direction::Read),
            "[Write]" => direction = Some(Direction::Write),
            _ if trimmed.starts_with("[Mix]") => {
                direction = Some(Direction::Mix);
                read_percent = trimmed
                    .strip_prefix("[Mix] Read ")
                    .and_then(|rest| rest.split_once('%'))
                    .and_then(|(digits, _)| super::parts::number(digits))
                    .filter(|percent| *percent <= 100.0);
            }
            _ => {}
        }
        let damaged =
            || broken_line(input, number, text!("the result line cannot be read", "結果の行を読めません"));
        match parse(line) {
            Line::Other => {}
            Line::Damaged => return Err(damaged()),
            Line::Result(result) if result.not_run() => left_out += 1,
            Line::Result(result) => {
                let percent = read_percent.filter(|_| direction == Some(Direction::Mix));
                cells.push(result.cell(direction, percent, &rules).ok_or_else(damaged)?);
            }
        }
    }
    if cells.is_empty() {
        return Err(broken_line(
            input,
            1,
            text!("there is no result other than 0.000", "0.000 以外の結果がありません"),
        ));
    }
    Ok((cells, left_out))
}
