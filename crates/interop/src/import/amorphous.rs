//! AmorphousDiskMark's text (macOS).
//!
//! The model: CrystalDiskMark's form of version 5 with `QD` for the depth of the queue, which is made of that many
//! threads (`DiskMark.m`). Rate and IOPS are the median of the runs; MB is 10^6; there is no latency. Before version 3
//! the tests were `128KiB (QD= 32)` and `4KiB (QD= 32)` in the same form. The date is in UTC. Source:
//! hkatsura/AmorphousDiskMark 73a6972d (4.0.2), `AppDelegate.m` `scoreString`.

use super::dates::from_year_first;
use super::parts::{fact, key_value, notice, runs_in};
use super::result_line::{FigureRules, read_all};
use super::{ImportedRun, Input};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{FigureOf, Origin, PrintedStatistic};
use kurabe_core::{Result, text};

const PRODUCT: &str = "AmorphousDiskMark ";

/// The version, if the line is the heading.
pub(super) fn version(line: &str) -> Option<&str> {
    line.trim().strip_prefix(PRODUCT)?.split_whitespace().next()
}

/// Reads a text under its heading.
pub(super) fn run(
    input: &Input<'_>,
    lines: &[(usize, &str)],
    version: &str,
    column: usize,
) -> Result<ImportedRun> {
    let mut origin = Origin {
        version: Some(version.to_owned()),
        ..input.origin(PRODUCT.trim(), "amorphousdiskmark-text")
    };
    let mut environment = Environment::default();
    let mut runs = None;
    for (_, line) in lines {
        match key_value(line) {
            Some(("Date", value)) => origin.measured_at = from_year_first(value),
            Some(("OS", value)) => environment.machine.os = Some(value.to_owned()),
            Some(("CPU", value)) => environment.machine.cpu_model = Some(value.to_owned()),
            Some(("Device", value)) => origin.target = Some(value.to_owned()),
            Some(("Volume", value)) => fact(&mut origin, "Volume", value),
            Some(("Test", value)) => {
                runs = runs_in(value);
                origin.procedure = Some(value.to_owned());
                fact(&mut origin, "Test", value);
            }
            _ => {}
        }
    }
    let median = PrintedStatistic::Median;
    let rules = FigureRules {
        rate: median,
        latency: median,
        latency_of: FigureOf::Latency,
        correction: None,
        runs,
        mix_is_total: true,
        column,
    };
    let results = read_all(input, lines, &rules)?;
    let notices = std::iter::once(notice(text!(
        "AmorphousDiskMark shows the median of its runs",
        "AmorphousDiskMark は各回の中央値を表示します"
    )));
    let notices = notices.chain(results.notice()).collect();
    Ok(ImportedRun { origin, environment, cells: results.cells, notices })
}
