//! AmorphousDiskMark's text (macOS).
//!
//! The model: CrystalDiskMark's form of version 5 with `QD` for the depth of the queue, which is made of that many
//! threads (`DiskMark.m`). Rate and IOPS are the median of the runs; MB is 10^6; there is no latency. Before version 3
//! the tests were `128KiB (QD= 32)` and `4KiB (QD= 32)` in the same form. The date is in UTC. Source:
//! hkatsura/AmorphousDiskMark 73a6972d (4.0.2), `AppDelegate.m` `scoreString`.

use super::consumer::{broken_line, is_rule, iso_date_time, key_value, runs_in};
use super::parts::{notice, numbered};
use super::result_line::{Line, Rules, parse};
use super::{ImportedRun, Importer, Input, Outcome};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{Origin, PrintedStatistic};
use kurabe_core::{Result, text};

pub(super) const IMPORTER: Importer = Importer { what: "AmorphousDiskMark text", read };

const PRODUCT: &str = "AmorphousDiskMark ";

fn read(input: &Input<'_>) -> Outcome {
    let Some(heading) = input.lines().map(|(_, line)| line.trim()).find(|line| line.starts_with(PRODUCT))
    else {
        return Outcome::NotMine(text!(
            "no line begins with `AmorphousDiskMark`",
            "`AmorphousDiskMark` で始まる行がありません"
        ));
    };
    if !input.lines().any(|(_, line)| is_rule(line) || !matches!(parse(line), Line::Other)) {
        return Outcome::NotMine(text!(
            "`AmorphousDiskMark` is named, but there is no result line",
            "`AmorphousDiskMark` の名はありますが、結果の行がありません"
        ));
    }
    match read_mine(input, heading) {
        Ok(run) => Outcome::Runs(vec![run]),
        Err(error) => Outcome::Broken(error),
    }
}

fn read_mine(input: &Input<'_>, heading: &str) -> Result<ImportedRun> {
    let mut origin = Origin {
        tool: PRODUCT.trim().to_owned(),
        version: heading[PRODUCT.len()..].split_whitespace().next().map(str::to_owned),
        format: "amorphousdiskmark-text".to_owned(),
        file: input.name.to_owned(),
        ..Origin::default()
    };
    let mut environment = Environment::default();
    let mut runs = None;
    for (_, line) in input.lines() {
        match key_value(line) {
            Some(("Date", value)) => origin.measured_at = iso_date_time(value),
            Some(("OS", value)) => environment.machine.os = Some(value.to_owned()),
            Some(("CPU", value)) => environment.machine.cpu_model = Some(value.to_owned()),
            Some(("Device", value)) => origin.target = Some(value.to_owned()),
            Some(("Volume", value)) => {
                origin.facts.insert("Volume".to_owned(), value.to_owned());
            }
            Some(("Test", value)) => {
                runs = runs_in(value);
                origin.procedure = Some(value.to_owned());
                origin.facts.insert("Test".to_owned(), value.to_owned());
            }
            _ => {}
        }
    }
    let median = PrintedStatistic::Median;
    let rules = Rules { rate: median, latency: median, latency_of: "latency", correction: None, runs };
    let (mut cells, mut left_out) = (Vec::new(), 0);
    for (number, line) in input.lines() {
        let damaged =
            || broken_line(input, number, text!("the result line cannot be read", "結果の行を読めません"));
        match parse(line) {
            Line::Other => {}
            Line::Damaged => return Err(damaged()),
            Line::Result(result) if result.not_run() => left_out += 1,
            Line::Result(result) => {
                cells.push(result.cell(result.direction, None, &rules).ok_or_else(damaged)?);
            }
        }
    }
    if cells.is_empty() {
        return Err(broken_line(
            input,
            1,
            text!("there is no result other than 0.00", "0.00 以外の結果がありません"),
        ));
    }
    let mut notices = vec![notice(text!(
        "AmorphousDiskMark shows the median of its runs",
        "AmorphousDiskMark は各回の中央値を表示します"
    ))];
    if left_out > 0 {
        notices.push(notice(text!(
            "results left out: {left_out}, printed as 0.00, which stands for a test that was not run",
            "{left_out} 件の結果は 0.00 です。実行されなかったテストを表すため、取り込んでいません"
        )));
    }
    Ok(ImportedRun { origin, environment, cells: numbered(cells), notices })
}
