//! Bars of the cells of runs, side by side, in one chart for each kind of figure.
//!
//! The model: runs with the same statistic are shown by it, as in their tables. A mean has its 95 %
//! interval, another statistic the range of the repetitions. Runs with different statistics are
//! shown by the mean, as `compare` uses it. A figure printed by another tool is shown as is.

use super::{Picture, View};
use crate::{compare::facts::note, run::figures::Figures};
use kurabe_chart::{Axis, Bar, BarGroup, Bars, Chart, Plot, Scale, Unit};
use kurabe_compare::{CellKey, values};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{imported::Quantity, profile::Statistic, text};
use kurabe_stats::cell_values;
use std::collections::{HashMap, HashSet};

/// Maximum number of groups in a chart. More are divided among several charts. Cells of a sweep
/// have their own pictures instead of bars.
const MOST_GROUPS: usize = 32;

/// The kind of a figure.
#[derive(Clone, Copy, PartialEq)]
enum FigureKind {
    Rate,
    Iops,
    AccessTime,
    Duration,
}

impl FigureKind {
    const ALL: [Self; 4] = [Self::Rate, Self::Iops, Self::AccessTime, Self::Duration];

    fn of(cell: &Cell) -> Self {
        let only_iops = || {
            let imported = cell.imported.as_ref()?;
            let has = |quantity| imported.figures.iter().any(|figure| figure.quantity == quantity);
            (values(cell).is_empty() && has(Quantity::Iops)).then_some(Self::Iops)
        };
        only_iops().unwrap_or(match cell.measure {
            Measure::Rate => Self::Rate,
            Measure::AccessTime => Self::AccessTime,
            Measure::Duration => Self::Duration,
            Measure::Operations => Self::Iops,
        })
    }

    /// Returns the name of its pictures, its title in both languages, its unit, and whether higher
    /// is faster.
    fn traits(self) -> (&'static str, [&'static str; 2], Unit, bool) {
        match self {
            Self::Rate => ("rates", ["Throughput", "速度"], Unit::Rate, true),
            Self::Iops => ("iops", ["Operations per second", "毎秒の I/O 数"], Unit::Iops, true),
            Self::AccessTime => ("access-times", ["Access time", "アクセス時間"], Unit::Latency, false),
            Self::Duration => ("durations", ["Time taken", "所要時間"], Unit::Latency, false),
        }
    }
}

/// Returns the bars of all kinds. `swept` says that sweeps or heat maps are drawn of the runs.
pub(super) fn pictures(view: &View<'_>, swept: bool) -> Vec<Picture> {
    FigureKind::ALL.into_iter().flat_map(|kind| of_kind(view, kind, swept)).collect()
}

fn of_kind(view: &View<'_>, kind: FigureKind, swept: bool) -> Vec<Picture> {
    let basis = basis(view.runs);
    let groups = groups(view, kind, basis.unwrap_or(Statistic::Mean));
    let charts = groups.len().div_ceil(MOST_GROUPS);
    if charts == 0 || (swept && charts > 1) {
        return Vec::new();
    }
    let (name, [en, ja], unit, more_is_faster) = kind.traits();
    let chart = |(index, groups): (usize, &[BarGroup])| {
        let (what, number) = (view.pick(en, ja), index + 1);
        let title = match charts {
            1 => what.clone(),
            _ => view.say(&text!("{what} ({number} of {charts})", "{what}({number}/{charts})")),
        };
        let with_interval =
            groups.iter().flat_map(|group| group.bars.iter().flatten()).any(|bar| bar.interval.is_some());
        let plot = Plot::Bars(Bars {
            series: view.runs.iter().map(|run| view.run_name(run)).collect(),
            groups: groups.to_vec(),
            axis: Axis::new(what, unit, Scale::Linear),
        });
        let chart = Chart {
            title: view.title(&title, view.runs),
            notes: notes(view, more_is_faster, basis, with_interval),
            plot,
        };
        Picture { name, chart }
    };
    groups.chunks(groups.len().div_ceil(charts)).enumerate().map(chart).collect()
}

/// Returns the cells of a kind, with the bars of all runs.
fn groups(view: &View<'_>, kind: FigureKind, statistic: Statistic) -> Vec<BarGroup> {
    let mut keys: Vec<(CellKey, String)> = Vec::new();
    let mut places: Vec<HashMap<CellKey, &Cell>> = Vec::new();
    let mut seen = HashSet::new();
    for run in view.runs {
        let mut of_run = HashMap::new();
        for (key, cell) in CellKey::of_run(run).into_iter().zip(&run.cells) {
            if FigureKind::of(cell) != kind {
                continue;
            }
            if seen.insert(key.clone()) {
                keys.push((key.clone(), view.cell(cell) + &view.say(&note(&key, &cell.label))));
            }
            of_run.entry(key).or_insert(cell);
        }
        places.push(of_run);
    }
    let group = |(key, label): (CellKey, String)| {
        let bars = places.iter().map(|cells| bar(cells.get(&key)?, statistic)).collect();
        BarGroup { label, bars }
    };
    keys.into_iter().map(group).filter(|group| group.bars.iter().any(Option::is_some)).collect()
}

/// Returns the statistic by which all runs are shown. `None` if their profiles differ, in which
/// case the mean is shown.
fn basis(runs: &[&RunRecord]) -> Option<Statistic> {
    let is_measured = |run: &&&RunRecord| run.header.origin.is_none();
    let mut measured = runs.iter().filter(is_measured).map(|run| run.header.statistic());
    let Some(first) = measured.next() else { return Some(Statistic::Mean) };
    (runs.iter().all(|run| is_measured(&run)) && measured.all(|other| other == first)).then_some(first)
}

fn bar(cell: &Cell, statistic: Statistic) -> Option<Bar> {
    if let Some(imported) = &cell.imported {
        let iops = || imported.figures.iter().find(|figure| figure.quantity == Quantity::Iops);
        let value = values(cell).first().copied().or_else(|| Some(iops()?.value))?;
        return Some(Bar { value, interval: None });
    }
    let figures = Figures::of(cell, statistic);
    if statistic == Statistic::Mean {
        let mean = figures.mean?;
        let interval = mean.half_width.map(|half| (mean.mean - half, mean.mean + half));
        return Some(Bar { value: mean.mean, interval });
    }
    let all = cell_values(cell);
    let (low, high) = (all.iter().copied().reduce(f64::min), all.iter().copied().reduce(f64::max));
    Some(Bar { value: figures.main?, interval: low.zip(high).filter(|_| all.len() > 1) })
}

fn notes(
    view: &View<'_>,
    more_is_faster: bool,
    basis: Option<Statistic>,
    with_interval: bool,
) -> Vec<String> {
    let measured = view.runs.iter().any(|run| run.header.origin.is_none());
    let statistic = basis.unwrap_or(Statistic::Mean);
    let mut how = match statistic {
        _ if !measured => String::new(),
        Statistic::Mean => view.pick("mean", "平均"),
        Statistic::Best => view.pick("best repetition", "最良の回"),
        Statistic::Median => view.pick("median of the repetitions", "繰り返しの中央値"),
    };
    if with_interval {
        how.push_str(&match statistic {
            Statistic::Mean => view.pick(", with its 95 % interval", "(ひげは 95 % 信頼区間)"),
            _ => view.pick(", with the range of the repetitions", "(ひげは全繰り返しの範囲)"),
        });
    }
    let better = match more_is_faster {
        true => view.pick("longer is faster", "長いほど速い"),
        false => view.pick("shorter is faster", "短いほど速い"),
    };
    let mut notes = vec![if how.is_empty() { better } else { format!("{how} · {better}") }];
    notes.extend(view.provenance(view.runs));
    if basis.is_none() {
        notes.push(view.pick(
            "the runs have different statistics, so the measured ones are shown by their mean",
            "統計量が測定によって違うため、測定値は平均で示しています",
        ));
    }
    notes
}
