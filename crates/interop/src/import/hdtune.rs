//! HD Tune's text of its benchmark (`HD Tune: … Benchmark`, copied as text).
//!
//! The model: a heading with the drive, then `Name : value unit` lines; each heading begins a run. Confirmed only from
//! four texts published on one page; whether MB is 10^6 or 2^20 bytes is told nowhere: it is read as 10^6, and a
//! notice says so. The rates are of single samples over the drive.

use super::parts::{self, key_value, notice};
use super::shapes::{Detail, DetailLine, LineShapes, RunDetails, fits};
use super::units::{self, ToolUnit};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{ImportedCell, PrintedStatistic as Statistic, Quantity};
use kurabe_core::record::Cell;
use kurabe_core::text;
use kurabe_core::workload::Direction;

const HEADING: &str = "HD Tune{}:{} Benchmark";
const DETAILS: [DetailLine; 2] =
    [(HEADING, &[Detail::Nothing, Detail::Target]), ("CPU Usage", &[Detail::Fact("CPU Usage")])];
const RATE: ToolUnit = units::unit("MB/sec", Quantity::Rate, 1e6);
/// Name of the line, label of the cell, unit, statistic.
const FIGURES: [(&str, &str, ToolUnit, Statistic); 5] = [
    ("Transfer Rate Average", "transfer rate", RATE, Statistic::Mean),
    ("Transfer Rate Minimum", "transfer rate", RATE, Statistic::Lowest),
    ("Transfer Rate Maximum", "transfer rate", RATE, Statistic::Highest),
    ("Access Time", "access time", units::MILLISECONDS, Statistic::Mean),
    ("Burst Rate", "burst rate", RATE, Statistic::Unknown),
];

pub(super) const IMPORTER: Importer = Importer::of_lines(
    ("HD Tune text", "HD Tune", &["HD Tune"]),
    LineShapes { begins: &[HEADING], belongs: &[] },
    read,
);

fn read(input: &Input<'_>) -> ImportedRuns {
    if !input.lines().any(|(_, line)| fits(HEADING, line)) {
        return parts::without_line("HD Tune: … Benchmark");
    }
    let details = RunDetails::of(input, ("HD Tune", "hdtune-text"), &DETAILS, input.lines());
    let mut cells: Vec<Cell> = Vec::new();
    for (name, label, unit, statistic) in FIGURES {
        let named = |line| key_value(line).filter(|(key, _)| *key == name);
        let Some((number, value)) =
            input.lines().find_map(|(number, line)| named(line).map(|(_, value)| (number, value)))
        else {
            continue;
        };
        let printed = value.strip_suffix(unit.name);
        let figure = unit.figure(statistic, printed).ok_or_else(|| parts::unreadable(input, number))?;
        // An access time below half of the last digit is printed as 0.0: it is no figure.
        if unit == units::MILLISECONDS && figure.value == 0.0 {
            continue;
        }
        if let Some(cell) = cells.last_mut().filter(|cell| cell.label == label) {
            cell.imported.iter_mut().for_each(|cell| cell.figures.push(figure.clone()));
        } else {
            let imported = ImportedCell { figures: vec![figure], ..ImportedCell::default() };
            cells.push(parts::cell(label, Some(Direction::Read), imported));
        }
    }
    let notices = vec![notice(text!(
        "HD Tune does not say whether its MB is 10^6 or 2^20 bytes; it is read as 10^6, so rates may be 4.9 % higher",
        "HD Tune の MB が 10^6 か 2^20 バイトかは示されていません。10^6 として読みました。実際の速度は 4.9 % 高い可能性があります"
    ))];
    Ok(vec![ImportedRun { origin: details.origin, cells, notices, ..ImportedRun::default() }])
}
