//! HD Tune's text of its benchmark (`HD Tune: … Benchmark`, copied as text).
//!
//! The model: a heading with the drive, then `Name : value unit` lines; each heading begins a run. Confirmed only from
//! four texts published on one page; whether MB is 10^6 or 2^20 bytes is told nowhere: it is read as 10^6, and a
//! notice says so. The rates are of single samples over the drive.

use super::consumer::{MEGA, figure, key_value};
use super::parts::{blocks, broken_line, cell, no_figure, notice, numbered};
use super::split::{Claim, Mark};
use super::{ImportedRun, Importer, Input, Outcome};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};

pub(super) const IMPORTER: Importer =
    Importer { what: "HD Tune text", read, claim: Claim::Lines(line_mark), names: &["HD Tune"] };

fn line_mark(line: &str) -> Mark {
    if heading(line).is_some() { Mark::Begins } else { Mark::None }
}

fn read(input: &Input<'_>) -> Outcome {
    let lines: Vec<(usize, &str)> = input.lines().collect();
    let blocks = blocks(&lines, |at| heading(lines[at].1).is_some());
    if blocks.is_empty() {
        return Outcome::NotMine(text!(
            "no line such as `HD Tune: … Benchmark`",
            "`HD Tune: … Benchmark` のような行がありません"
        ));
    }
    let runs = blocks.into_iter().map(|block| run(input, block));
    runs.collect::<Result<Vec<_>>>().into()
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
        let rate = |statistic| value_of(value, "MB/sec", Quantity::Rate, statistic, MEGA).ok_or_else(damaged);
        match key {
            "Transfer Rate Minimum" => rates.push(rate(PrintedStatistic::Lowest)?),
            "Transfer Rate Maximum" => rates.push(rate(PrintedStatistic::Highest)?),
            "Transfer Rate Average" => rates.insert(0, rate(PrintedStatistic::Mean)?),
            "Burst Rate" => burst = Some(rate(PrintedStatistic::Unknown)?),
            "Access Time" => {
                let figure = value_of(value, "ms", Quantity::Latency, PrintedStatistic::Mean, 1e6);
                access = Some(figure.ok_or_else(damaged)?);
            }
            "CPU Usage" => {
                origin.facts.insert(key.to_owned(), value.to_owned());
            }
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
    if cells.is_empty() {
        let line = lines.first().map_or(1, |(number, _)| *number);
        return Err(no_figure(input, line));
    }
    let notices = vec![notice(text!(
        "HD Tune does not say whether its MB is 10^6 or 2^20 bytes; it is read as 10^6, so rates may be 4.9 % higher",
        "HD Tune の MB が 10^6 か 2^20 バイトかは示されていません。10^6 として読みました。実際の速度は 4.9 % 高い可能性があります"
    ))];
    Ok(ImportedRun { origin, environment: Environment::default(), cells: numbered(cells), notices })
}

fn value_of(
    words: &str,
    unit: &str,
    quantity: Quantity,
    statistic: PrintedStatistic,
    factor: f64,
) -> Option<PrintedFigure> {
    figure(quantity, statistic, words.strip_suffix(unit)?.trim(), unit, factor)
}
