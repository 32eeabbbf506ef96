//! AmorphousDiskMark's text (macOS).
//!
//! The model: CrystalDiskMark's form of version 5 with `QD` for the depth of the queue, which is made of that many
//! threads (`DiskMark.m`). Rate and IOPS are the median of the runs; MB is 10^6; there is no latency. Before version 3
//! the tests were `128KiB (QD= 32)` and `4KiB (QD= 32)` in the same form. The date is in UTC. Source:
//! hkatsura/AmorphousDiskMark 73a6972d (4.0.2), `AppDelegate.m` `scoreString`.

use super::consumer::{is_rule, key_value, runs_in};
use super::dates::from_year_first;
use super::parts::{notice, numbered};
use super::result_line::{Line, Rules, parse, read_all};
use super::{ImportedRun, Importer, Input, Outcome};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{FigureOf, Origin, PrintedStatistic};
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
    read_mine(input, heading).map(|run| vec![run]).into()
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
            Some(("Date", value)) => origin.measured_at = from_year_first(value),
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
    let rules =
        Rules { rate: median, latency: median, latency_of: FigureOf::Latency, correction: None, runs };
    let results = read_all(input, &input.lines().collect::<Vec<_>>(), &rules)?;
    let notices = std::iter::once(notice(text!(
        "AmorphousDiskMark shows the median of its runs",
        "AmorphousDiskMark は各回の中央値を表示します"
    )));
    let notices = notices.chain(results.notice()).collect();
    Ok(ImportedRun { origin, environment, cells: numbered(results.cells), notices })
}
