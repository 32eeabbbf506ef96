//! HD Tune's text of its benchmark (`HD Tune: … Benchmark`, copied as text).
//!
//! The model: a heading with the drive, then `Name : value unit` lines; each heading begins a run. Confirmed only from
//! four texts published on one page; whether MB is 10^6 or 2^20 bytes is told nowhere: it is read as 10^6, and a
//! notice says so. The rates are of single samples over the drive.

use super::parts::{broken_line, cell, fact, key_value, notice, runs_of_blocks};
use super::split::LineMark;
use super::units::{self, ToolUnit};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{ImportedCell, Origin, PrintedStatistic, Quantity};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};

pub(super) const IMPORTER: Importer =
    Importer::of_lines(("HD Tune text", "HD Tune", &["HD Tune"]), line_mark, read);

const RATE: ToolUnit = units::unit("MB/sec", Quantity::Rate, 1e6);

fn line_mark(line: &str) -> LineMark {
    if heading(line).is_some() { LineMark::Begins } else { LineMark::None }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let without =
        text!("no line such as `HD Tune: … Benchmark`", "`HD Tune: … Benchmark` のような行がありません");
    runs_of_blocks(input, |line, _| heading(line).is_some(), without, |block| run(input, block))
}

/// Version words, if any, and the drive.
fn heading(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("HD Tune")?;
    let (_, drive) = rest.split_once(':')?;
    drive.trim().strip_suffix(" Benchmark").map(str::trim)
}

fn run(input: &Input<'_>, lines: &[(usize, &str)]) -> Result<ImportedRun> {
    let drive = lines.first().and_then(|(_, line)| heading(line)).unwrap_or_default();
    let mut origin = Origin {
        target: (!drive.is_empty()).then(|| drive.to_owned()),
        ..input.origin("HD Tune", "hdtune-text")
    };
    let (mut rates, mut access, mut burst) = (Vec::new(), None, None);
    for &(number, line) in lines.iter().skip(1) {
        let Some((key, value)) = key_value(line) else { continue };
        let damaged = || broken_line(input, number, text!("the figure cannot be read", "値を読めません"));
        let figure = |unit: ToolUnit, statistic| {
            value.strip_suffix(unit.name).and_then(|words| unit.figure(statistic, words)).ok_or_else(damaged)
        };
        match key {
            "Transfer Rate Minimum" => rates.push(figure(RATE, PrintedStatistic::Lowest)?),
            "Transfer Rate Maximum" => rates.push(figure(RATE, PrintedStatistic::Highest)?),
            "Transfer Rate Average" => rates.insert(0, figure(RATE, PrintedStatistic::Mean)?),
            "Burst Rate" => burst = Some(figure(RATE, PrintedStatistic::Unknown)?),
            "Access Time" => access = Some(figure(units::MILLISECONDS, PrintedStatistic::Mean)?),
            "CPU Usage" => fact(&mut origin, key, value),
            _ => {}
        }
    }
    // An access time below half of the last digit is printed as 0.0: it is no figure.
    let access = access.filter(|figure| figure.value > 0.0);
    let cells: Vec<Cell> = [
        ("transfer rate", rates),
        ("access time", access.into_iter().collect()),
        ("burst rate", burst.into_iter().collect()),
    ]
    .into_iter()
    .filter(|(_, figures)| !figures.is_empty())
    .map(|(name, figures)| {
        cell(name, Some(Direction::Read), ImportedCell { figures, ..ImportedCell::default() })
    })
    .collect();
    let notices = vec![notice(text!(
        "HD Tune does not say whether its MB is 10^6 or 2^20 bytes; it is read as 10^6, so rates may be 4.9 % higher",
        "HD Tune の MB が 10^6 か 2^20 バイトかは示されていません。10^6 として読みました。実際の速度は 4.9 % 高い可能性があります"
    ))];
    Ok(ImportedRun { origin, cells, notices, ..ImportedRun::default() })
}
