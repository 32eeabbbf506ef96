//! The raw format: lines with only ten whole numbers. These are requests, their time, IOPS, bytes per
//! second, minimum, mean, maximum, deviation, and requests and time of the whole load. Times are in ns.
//! A line is a period, or the total.
//!
//! Ten numbers do not identify a tool, so they must be consistent: IOPS and mean follow from requests
//! and time.

use super::super::kit::*;
use super::super::parts::field;
use super::json::{RATES, TIMES};
use super::run;

pub(super) fn read(input: &Input<'_>) -> ImportedRuns {
    let lines = input.lines().map(|(_, line)| line.trim()).filter(|line| !line.is_empty());
    let cells: Option<Vec<Cell>> = lines.map(line_cell).collect();
    match cells {
        Some(cells) if !cells.is_empty() => Ok(vec![run(input.origin("ioping", "ioping"), cells)]),
        _ => not_mine(text!(
            "its lines are not ten whole numbers that agree with each other",
            "各行が、互いに矛盾しない 10 個の整数ではありません"
        )),
    }
}

/// Names of the first fields in the JSON format.
const NAMES: [&str; 8] = ["requests", "time", "iops", "bps", "min", "avg", "max", "mdev"];
const REQUESTS: FigureName = (units::unit("requests", Quantity::Count, 1.0), Statistic::Sum, "requests");

fn line_cell(line: &str) -> Option<Cell> {
    let fields: Vec<&str> = line.split(' ').collect();
    let values = fields.iter().map(|field| number(field).filter(|_| digits(field)));
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    let &[requests, time, iops, rate, least, mean, most, _, all, whole] = values.as_slice() else {
        return None;
    };
    let near = |seen: f64, due: f64| (seen - due).abs() <= 1.0;
    let agree = requests > 0.0
        && time > 0.0
        && near(iops, requests * 1e9 / time)
        && near(mean, time / requests)
        && least <= mean + 1.0
        && mean <= most + 1.0
        && requests <= all
        && time <= whole
        && rate >= iops;
    if !agree {
        return None;
    }
    let names = [&TIMES[..], &RATES, &[REQUESTS]].concat();
    let figures = units::figures(&names, |name| field(&NAMES, &fields, name));
    Some(cell("requests", None, ImportedCell { figures, ..ImportedCell::default() }))
}
