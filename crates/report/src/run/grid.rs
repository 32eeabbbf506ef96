//! The grid of a run, with steps down and directions across, and the list of cells that another
//! tool printed.

use super::figures::Figures;
use super::imported;
use super::table::{RunTable, TableKind};
use crate::words;
use kurabe_core::number::{self, Figure};
use kurabe_core::profile::{PrintedUnit, Statistic};
use kurabe_core::record::{Cell, Measure};
use kurabe_core::{Text, shown, text, workload::Direction};
use kurabe_doc::grid::{Grid, GridCell, GridLine, GridRemark, GridRow};
use kurabe_doc::spark::course;
use kurabe_doc::{Doc, Role};
use std::collections::{BTreeSet, HashMap};

/// Sign of a generator-bound cell.
pub(crate) const GENERATOR_SIGN: &str = "*";
/// Percentiles of a cell.
const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// Returns the grid. Empty if it has no cells.
pub(crate) fn doc(table: &RunTable<'_>) -> Doc {
    let cells = table.of_kind(TableKind::Grid);
    let has = |direction: &Direction| cells.iter().any(|figures| figures.cell.direction == Some(*direction));
    let directions: Vec<Direction> = Direction::ALL.into_iter().filter(has).collect();
    let steps: BTreeSet<(u32, &str)> =
        cells.iter().map(|figures| (figures.cell.step_index, figures.cell.label.as_str())).collect();
    // If several cells have the same place, the last one is shown.
    let placed: HashMap<(u32, &str, Option<Direction>), &&Figures<'_>> = cells
        .iter()
        .map(|figures| {
            let Cell { step_index, label, direction, .. } = figures.cell;
            ((*step_index, label.as_str(), *direction), figures)
        })
        .collect();
    let row = |(step_index, label): (u32, &str)| {
        let of_direction = |direction: &Direction| {
            let figures = placed.get(&(step_index, label, Some(*direction)))?;
            Some(grid_cell(figures, table.as_printed))
        };
        GridRow { name: split_name(label), cells: directions.iter().map(of_direction).collect() }
    };
    let rows: Vec<GridRow> = steps.into_iter().map(row).collect();
    let headings = directions.iter().map(|direction| heading(&cells, *direction)).collect();
    grid(Grid { headings, rows })
}

/// Returns the list of imported cells. Empty if there are none.
pub(crate) fn list(table: &RunTable<'_>) -> Doc {
    let row = |figures: &Figures<'_>| GridRow {
        name: [imported::name(figures.cell), Text::default()],
        cells: vec![Some(grid_cell(figures, None))],
    };
    grid(Grid { headings: Vec::new(), rows: table.of_kind(TableKind::List).into_iter().map(row).collect() })
}

fn grid(grid: Grid) -> Doc {
    Some(grid).filter(|grid| !grid.rows.is_empty()).into_iter().collect()
}

/// Returns the name of a direction. For a mix, includes the share of reads if it is the same in
/// every cell.
fn heading(cells: &[&Figures<'_>], direction: Direction) -> Text {
    let name = words::direction(direction);
    let of_direction = cells.iter().filter(|figures| figures.cell.direction == Some(direction));
    let mut shares = of_direction.map(|figures| read_percent(figures.cell));
    match shares.next() {
        Some(Some(share)) if direction == Direction::Mix && shares.all(|other| other == Some(share)) => {
            text!("{name} ({share} % reads)", "{name}(読み出し {share} %)"; name)
        }
        _ => name,
    }
}

/// Returns the share of reads of a mix, if it is known. A mix that writes back the blocks that it
/// read has no drawn share.
fn read_percent(cell: &Cell) -> Option<f64> {
    let drawn = cell.workload.as_ref().filter(|workload| workload.rewrite_every_reads.is_none());
    let measured = drawn.map(|workload| f64::from(workload.read_percent));
    measured.or_else(|| cell.imported.as_ref()?.read_percent)
}

/// Splits a name such as `RND 4 KiB Q32 T1` before the queue depth.
fn split_name(label: &str) -> [Text; 2] {
    let label = shown::line(label);
    let at = label
        .rmatch_indices(" Q")
        .map(|(at, _)| at)
        .find(|at| label[at + 2..].starts_with(|c: char| c.is_ascii_digit()));
    match at {
        Some(at) => [&label[..at], &label[at + 1..]].map(Text::same),
        None => [Text::same(label), Text::default()],
    }
}

fn grid_cell(figures: &Figures<'_>, as_printed: Option<&PrintedUnit>) -> GridCell {
    let cell = figures.cell;
    if let Some(imported) = &cell.imported {
        return GridCell {
            lines: imported::lines(imported).into_iter().chain(flush(figures)).collect(),
            course: None,
        };
    }
    let (quiet, no_words) =
        (|figure, words: Text| GridLine::new(Role::Quiet, figure, words), Text::default());
    let failed = failed(figures.failed);
    let Some(main) = figures.main else {
        let nothing = quiet(Figure { number: number::NONE.to_owned(), unit: "" }, no_words);
        return GridCell { lines: std::iter::once(nothing).chain(failed).collect(), course: None };
    };
    let chosen = figures.chosen();
    let remark = chosen.clone().or_else(|| figures.interval().map(Text::from));
    let sign = figures.generator_bound.then(|| Text::same(GENERATOR_SIGN));
    let remark = Text::join(remark.into_iter().chain(sign), [" "; 2]);
    let mut lines = vec![GridLine::new(Role::Strong, figures.value(main), remark)];
    if let (Some(printed), Measure::Rate) = (as_printed, cell.measure) {
        // These tools print two decimals.
        let number = format!("{:.2}", main / printed.bytes as f64);
        let unit = text!("tool's {}", "ツールの {}", shown::line(&printed.unit));
        lines.push(quiet(Figure { number, unit: "" }, unit));
    }
    if let (Some(_), Some(mean)) = (&chosen, figures.mean) {
        let interval = figures.interval().unwrap_or_default();
        let words = text!("mean {interval}", "平均 {interval}").map(|words| words.trim_end().to_owned());
        lines.push(quiet(figures.value(mean.mean), words));
    }
    let beside = match cell.measure {
        Measure::Operations => figures.mean_latency_ns.map(number::latency),
        _ if figures.small_blocks => Some(number::iops(figures.rate_iops.unwrap_or(0.0))),
        _ => None,
    };
    if let Some(figure) = beside {
        let latency = |(name, fraction)| Some((name, number::latency_ns(figures.percentile_ns(fraction)?)));
        lines.push(GridLine {
            role: Role::Quiet,
            figure,
            remark: GridRemark::Percentiles(PERCENTILES.into_iter().filter_map(latency).collect()),
        });
    }
    if let (Statistic::Best, Measure::Rate, Some(ns)) =
        (figures.statistic, cell.measure, figures.mean_latency_ns)
    {
        let words = match &chosen {
            Some(_) => text!("mean latency, best", "平均レイテンシの最良値"),
            None => text!("mean latency", "平均レイテンシ"),
        };
        lines.push(quiet(number::latency(ns), words));
    }
    lines.extend(flush(figures));
    lines.extend(failed);
    GridCell { lines, course: Some(course(cell)) }
}

/// Returns the flushes of a cell: their share of the time and their latencies, or the remark that
/// the writes include them.
fn flush(figures: &Figures<'_>) -> Vec<GridLine> {
    let nothing = Figure { number: String::new(), unit: "" };
    if let Some(words) = figures.includes_flush() {
        return vec![GridLine::new(Role::Quiet, nothing, words)];
    }
    // Another tool's flushes are a cell of their own.
    let separate = figures.separate_flush().filter(|_| figures.cell.imported.is_none());
    let Some(flush) = separate else { return Vec::new() };
    let call = words::flush_call(flush.call);
    let latency = |ns: f64| number::latency(ns).to_string();
    let share = flush.share.map(|share| {
        let percent = number::percent(share);
        let number = percent.trim_end_matches(" %").to_owned();
        let words = text!("of the time in {call}", "{call} の時間"; call);
        GridLine::new(Role::Quiet, Figure { number, unit: "%" }, words)
    });
    let times = GridLine {
        role: Role::Quiet,
        figure: number::latency(flush.mean_ns),
        remark: GridRemark::Percentiles(vec![("p50", latency(flush.p50_ns)), ("p99", latency(flush.p99_ns))]),
    };
    share.into_iter().chain([times]).collect()
}

fn failed(count: u64) -> Option<GridLine> {
    let words = match count {
        0 => return None,
        1 => text!("operation failed", "件の I/O が失敗"),
        _ => text!("operations failed", "件の I/O が失敗"),
    };
    Some(GridLine::new(Role::Bad, Figure { number: number::count(count), unit: "" }, words))
}
