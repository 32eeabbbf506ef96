//! Scores and ratios that a profile's formulas derive from the figures of its cells.
//!
//! The model: a name in a formula consists of a step's `id`, a part of the step, and a unit. A
//! sweep has several steps with the same id; its formula is evaluated for each of them.

use crate::{cell_figure, cell_iops, figure::figure};
use kurabe_core::Text;
use kurabe_core::profile::{Derived, Formula, FormulaUnit, Profile, Statistic, Step};
use kurabe_core::record::{Cell, Measure, RunRecord};

/// A figure that a profile derives from its cells' figures.
pub struct DerivedFigure {
    /// Name; if there are several of the same formula, it includes the step.
    pub name: Text,
    /// Index of its (first) step.
    pub step: usize,
    /// Dimensionless value.
    pub value: f64,
    /// Explanation to print below the figure; `None` if one formula gives several figures.
    pub meaning: Option<Text>,
    /// Reason why the rules of the tool make it invalid.
    pub fault: Option<DerivedFault>,
}

/// Why a score is not valid. Each variant names the cell as step and part.
#[derive(Clone, Debug, PartialEq)]
pub enum DerivedFault {
    /// The cell was not measured.
    Missing(String),
    /// The cell took less time than required; both times are in ns.
    Short(String, u64, u64),
}

/// Suffix that IO500 appends to an invalid score.
const INVALID: &str = "[INVALID]";
/// Parts of steps that create the data for the others.
const MAKING: [&str; 2] = ["write", "create"];

/// Returns the scores and ratios of a run whose cells were measured; a formula that divides by zero
/// gives NaN.
pub fn derived_figures(record: &RunRecord) -> Vec<DerivedFigure> {
    let Some(profile) = &record.header.profile else { return Vec::new() };
    let mut figures = Vec::new();
    for derived in &profile.derived {
        let fault =
            derived.least_write_ns.and_then(|least_ns| fault(profile, derived, least_ns, &record.cells));
        let mut values = derived_values(profile, &derived.formula, &record.cells);
        if values.is_empty() && fault.is_some() {
            values.push((0, f64::NAN));
        }
        let several = values.len() > 1;
        figures.extend(values.into_iter().map(|(step, value)| {
            let name = match profile.steps.get(step).filter(|_| several).map(Step::label) {
                Some(step) => derived.label.map(|label| format!("{label} ({step})")),
                None if fault.is_some() => derived.label.map(|label| format!("{label} {INVALID}")),
                None => derived.label.clone(),
            };
            let meaning = derived.meaning.clone().filter(|_| !several);
            DerivedFigure { name, step, value, meaning, fault: fault.clone() }
        }));
    }
    figures
}

fn fault(profile: &Profile, derived: &Derived, least_ns: u64, cells: &[Cell]) -> Option<DerivedFault> {
    derived.formula.names().into_iter().find_map(|name| {
        let of_step = |cell: &&Cell| {
            profile.steps.get(cell.step_index as usize).is_some_and(|step| step.id() == Some(&name.step))
        };
        let label = format!("{} {}", name.step, name.part);
        let Some(cell) = cells.iter().filter(of_step).find(|cell| cell.part == name.part) else {
            return Some(DerivedFault::Missing(label));
        };
        let shortest_ns = cell.counted().map(|repetition| repetition.elapsed_ns).min()?;
        let is_short = MAKING.contains(&cell.part.as_str()) && shortest_ns < least_ns;
        is_short.then_some(DerivedFault::Short(label, shortest_ns, least_ns))
    })
}

/// Evaluates a formula. Returns one value, or one for each step if several steps have the same id,
/// with the index of the (first) step.
pub fn derived_values(profile: &Profile, formula: &Formula, cells: &[Cell]) -> Vec<(usize, f64)> {
    let names = formula.names();
    let Some(first) = names.first() else { return Vec::new() };
    let same_step = names.iter().all(|name| name.step == first.step);
    let places: Vec<usize> = profile
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.id() == Some(first.step.as_str()))
        .map(|(index, _)| index)
        .collect();
    let sweep = same_step && places.len() > 1;
    places
        .into_iter()
        .take(if sweep { usize::MAX } else { 1 })
        .filter_map(|index| {
            let value = formula.value(&|name| {
                let at = |step: usize| profile.steps[step].id() == Some(name.step.as_str());
                let step = if sweep { Some(index) } else { (0..profile.steps.len()).find(|step| at(*step)) }?;
                let cell =
                    cells.iter().find(|cell| cell.step_index as usize == step && cell.part == name.part)?;
                figure_in(cell, profile.statistic, name.unit)
            })?;
            Some((index, value))
        })
        .collect()
}

/// Returns a cell's figure in a unit; `None` if the cell has no figure of that kind.
pub fn figure_in(cell: &Cell, statistic: Statistic, unit: FormulaUnit) -> Option<f64> {
    // For a rate, the time is that of the whole repetition.
    let time_ns = || match cell.measure {
        Measure::AccessTime | Measure::Duration => cell_figure(cell, statistic),
        Measure::Rate | Measure::Operations => {
            let elapsed: Vec<f64> = cell.counted().map(|repetition| repetition.elapsed_ns as f64).collect();
            figure(statistic, &elapsed, false)
        }
    };
    let value = match unit {
        FormulaUnit::Iops => cell_iops(cell, statistic),
        FormulaUnit::Seconds | FormulaUnit::Milliseconds => time_ns(),
        _ if cell.measure == Measure::Rate => cell_figure(cell, statistic),
        _ => None,
    };
    value.map(|value| value / unit.size())
}
