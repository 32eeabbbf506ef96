//! Compares a run with a published entry: the figures that both have, and the differences between
//! the two procedures.
//!
//! A figure of the entry is found in the run by the name of its step and its direction, not by its
//! position, so a run of another profile still gives the figures in common. In an imported run, or
//! for a sheet that no profile repeats, it is found by the work of the cells; of several matching
//! cells the fastest is taken. The statistic is the run's own, and a difference from the entry's
//! statistic is reported.

use super::CatalogueEntry;
use super::imported::printed_figure;
use super::table::{PublishedColumn, PublishedStatistic};
use super::work::{RateWork, bytes_per_s, rate_of, task_of, unit_of};
use crate::published::Published;
use kurabe_core::mention::{PROFILE, RUN};
use kurabe_core::profile::{Name, Profile, Statistic, Task};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{Text, imported::PrintedStatistic, quantity::format_bytes, text};
use kurabe_profile::profile_named;
use kurabe_stats::figure_in;
use serde::Serialize;

/// A published figure with the run's figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BesideFigure {
    /// Name.
    pub name: Text,
    /// Its unit.
    pub unit: String,
    /// Number of decimal places.
    pub decimals: usize,
    /// Published figure.
    pub published: Published,
    /// The run's figure, if it has such a cell.
    pub value: Option<f64>,
    /// The difference in percent of the published figure.
    pub difference_percent: Option<f64>,
}

/// A run compared with a published entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// Id of the entry.
    pub entry: String,
    /// Whether procedure and statistic are the same, as far as known.
    pub same_procedure: bool,
    /// The figures.
    pub figures: Vec<BesideFigure>,
    /// Other differences, as sentences.
    pub differences: Vec<Text>,
}

/// Compares a run with an entry.
pub fn beside(record: &RunRecord, entry: &CatalogueEntry<'_>) -> Beside {
    let procedure = procedure_differences(record, entry);
    let same_procedure = procedure.is_empty();
    let figures = entry.figures().map(|(column, published)| {
        let value = value(record, entry, column);
        BesideFigure {
            name: column.name.clone(),
            unit: column.unit.clone(),
            decimals: column.decimals,
            published,
            value,
            difference_percent: value.and_then(|value| published.error_percent(value)),
        }
    });
    let figures: Vec<BesideFigure> = figures.collect();
    let mut differences = procedure;
    differences.extend(nothing_in_common(&figures, entry));
    differences.extend(other_differences(record, entry));
    Beside { entry: entry.id(), same_procedure, figures, differences }
}

/// Returns what to do if the run has none of the figures.
fn nothing_in_common(figures: &[BesideFigure], entry: &CatalogueEntry<'_>) -> Option<Text> {
    if figures.iter().any(|figure| figure.value.is_some()) {
        return None;
    }
    let profile = entry.table.profile.as_deref()?;
    Some(text!(
        "the run has none of these figures; measure them with: {RUN} {PROFILE} {profile}",
        "この測定にはどの値もありません。同じ値を測るには: {RUN} {PROFILE} {profile}"
    ))
}

/// Returns the differences in the procedure and in the statistic.
fn procedure_differences(record: &RunRecord, entry: &CatalogueEntry<'_>) -> Vec<Text> {
    let table = entry.table;
    let (tool, run) = (&table.tool, record.header.profile_name());
    let mut differences = Vec::new();
    let Some(profile) = &record.header.profile else {
        differences.push(text!(
            "the run was made with {run}, the entry with {tool}; an imported run does not record its \
             complete procedure",
            "測定は {run}、公表値は {tool} によるものです。取り込んだ測定からは手順のすべては分かりません"
        ));
        differences.extend(statistic_difference(printed_statistic(record), table.statistic));
        return differences;
    };
    match &table.profile {
        None => differences.push(text!(
            "kurabe has no profile with the procedure of {tool}; the run used `{run}`",
            "{tool} の手順を再現するプロファイルはありません。この測定は `{run}` です"
        )),
        Some(same) if *same != run => differences.push(text!(
            "different procedures: the entry is from {tool} (profile `{same}`), the run used `{run}`",
            "手順が違います。公表値は {tool} (プロファイル `{same}`)、この測定は `{run}` です"
        )),
        Some(same) => differences.extend(changed_rules(profile, same, table.size_bytes)),
    }
    let own = match profile.statistic {
        Statistic::Mean => PublishedStatistic::Mean,
        Statistic::Median => PublishedStatistic::Median,
        Statistic::Best => PublishedStatistic::Best,
    };
    differences.extend(statistic_difference(own, table.statistic));
    differences
}

/// Returns how the user changed the rules of a profile, if it is the entry's.
fn changed_rules(profile: &Profile, name: &str, size_bytes: Option<u64>) -> Option<Text> {
    let (own, usual) = (&profile.rules, profile_named(name).ok()?.rules);
    let size = size_bytes.unwrap_or(usual.size_bytes);
    let mut changed = Vec::new();
    if own.size_bytes != size && !(own.whole_device && usual.whole_device) {
        let (own, usual) = (format_bytes(own.size_bytes), format_bytes(size));
        changed.push(text!("size {own} instead of {usual}", "サイズ {own} (公表値は {usual})"));
    }
    for (en, ja, own, usual) in [
        ("runs", "回数", own.runs, usual.runs),
        ("discarded runs", "捨てる回数", own.discarded_runs, usual.discarded_runs),
    ] {
        if own != usual {
            changed.push(text!("{en} {own} instead of {usual}", "{ja} {own}(元は {usual})",));
        }
    }
    let others = [
        (own.time_ns != usual.time_ns, text!("a different time per repetition", "1 回の時間")),
        (own.direct != usual.direct, text!("the page cache used differently", "ページキャッシュの使い方")),
        (own.data != usual.data, text!("other data written", "書き込むデータ")),
    ];
    changed.extend(others.into_iter().filter(|(differs, _)| *differs).map(|(_, words)| words));
    let changed = Some(Text::list(changed)).filter(|changed| !changed.is_empty())?;
    Some(text!(
        "the profile was changed for this run: {changed}",
        "この測定ではプロファイルが変更されています: {changed}";
        changed
    ))
}

/// Returns the statistic of an imported run's main figures; the first figure is taken as
/// representative.
fn printed_statistic(record: &RunRecord) -> PublishedStatistic {
    let figures = record.cells.iter().filter_map(|cell| cell.imported.as_ref()?.figures.first());
    match figures.map(|figure| figure.statistic).next() {
        Some(PrintedStatistic::Mean) => PublishedStatistic::Mean,
        Some(PrintedStatistic::Median) => PublishedStatistic::Median,
        Some(PrintedStatistic::Highest | PrintedStatistic::Lowest) => PublishedStatistic::Best,
        _ => PublishedStatistic::Unknown,
    }
}

fn statistic_difference(own: PublishedStatistic, printed: PublishedStatistic) -> Option<Text> {
    if own == printed {
        return None;
    }
    let (own, printed) = (own.name(), printed.name());
    Some(text!(
        "different statistics: the entry is {printed}, the run's figure is its {own}",
        "統計量が違います。公表値は{printed}、この測定の値は{own}です";
        printed, own
    ))
}

/// Returns other remarks on the comparison.
fn other_differences(record: &RunRecord, entry: &CatalogueEntry<'_>) -> Vec<Text> {
    let mut differences = Vec::new();
    let same_profile = entry.table.profile.as_deref() == Some(&record.header.profile_name());
    let differs = record.header.profile.as_ref().and_then(|profile| profile.differs.as_ref());
    if let (true, Some(differs)) = (same_profile, differs) {
        differences.push(text!(
            "kurabe's profile and the tool: {differs}",
            "kurabe のプロファイルと元のツールの違い: {differs}";
            differs
        ));
    }
    if let Some(host) = &entry.table.host {
        differences.push(text!("the entry was measured on: {host}", "公表値の測定環境: {host}"; host));
    }
    if let Some(model) = &record.header.model {
        let name = &model.name;
        differences.push(text!(
            "the run was computed by the model `{name}`; it is not a measurement",
            "この測定はモデル `{name}` の計算です"
        ));
    }
    for note in [entry.table.note.as_ref(), entry.row.note.as_ref()].into_iter().flatten() {
        differences.push(note.clone());
    }
    differences
}

/// Returns the run's figure for a column.
fn value(record: &RunRecord, entry: &CatalogueEntry<'_>, column: &PublishedColumn) -> Option<f64> {
    by_formula(record, entry, column).or_else(|| by_work(record, column))
}

/// Returns the best figure among the run's cells that did the work of the column.
fn by_work(record: &RunRecord, column: &PublishedColumn) -> Option<f64> {
    let (work, unit) = (column.work?, unit_of(&column.unit)?);
    let statistic = record.header.statistic();
    let values = record.cells.iter().filter_map(|cell| {
        let done = RateWork::of(cell).filter(|done| work.is_done_by(done))?;
        let rate = rate_of(cell, statistic)?;
        let one = bytes_per_s(1.0, unit, work.block_bytes.or(done.block_bytes))?;
        Some(rate / one)
    });
    values.reduce(f64::max)
}

/// Returns the run's figure for a column whose table has a profile.
fn by_formula(record: &RunRecord, entry: &CatalogueEntry<'_>, column: &PublishedColumn) -> Option<f64> {
    let (formula, profile) = (column.figure.as_ref()?, entry.table.profile()?);
    let tasks = profile.tasks(profile.rules.size_bytes);
    let task = |name: &Name| task_of(&tasks, &profile, name);
    let Some(own) = &record.header.profile else {
        return formula.value(&|name| {
            let printed = printed_figure(&record.cells, &task(name)?.work, &name.part, name.unit)?;
            Some(printed.value / name.unit.size())
        });
    };
    formula.value(&|name| figure_in(same_cell(&record.cells, task(name)?, name)?, own.statistic, name.unit))
}

/// Finds the run's cell that measures the same as a cell of the entry's profile.
fn same_cell<'r>(cells: &'r [Cell], task: &Task, name: &Name) -> Option<&'r Cell> {
    let planned = task.cells.iter().find(|cell| cell.part == name.part)?;
    let measure = |cell: &Cell| cell.measure == planned.measure || planned.measure == Measure::Rate;
    cells.iter().find(|cell| cell.label == planned.label && cell.part == planned.part && measure(cell))
}
