//! Real targets of a study: which are measured interleaved, and how far their figures scatter.
//!
//! Targets with the same profile share every disturbance if they are measured interleaved, so that
//! is the rule. A profile that cannot be interleaved is measured on one target after the other, and
//! the result says why.

use crate::figure::{FigureSource, Measured};
use crate::plan::{Point, PointTarget};
use crate::result::RowOrder;
use kurabe_compare::subject;
use kurabe_core::profile::{Profile, Step};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Result, Text, text};

/// Measurements of targets with the same profile.
pub struct RealAnswers {
    /// One for each target, in order.
    pub answers: Vec<Result<Measured>>,
    /// Why the targets could not be measured interleaved, if they were not.
    pub apart: Option<Text>,
}

/// Returns why a profile cannot be interleaved, or `None` if it can.
fn why_in_sequence(profile: &Profile) -> Option<Text> {
    if profile.rounds.is_some() {
        return Some(text!(
            "the profile repeats rounds until a device is steady",
            "定常状態になるまでラウンドを繰り返すプロファイルのため"
        ));
    }
    let by_hand = |step: &Step| matches!(step, Step::Stopwatch(_));
    profile.steps.iter().any(by_hand).then(|| {
        text!(
            "the stopwatch follows another computer or a person, who uses one device at a time",
            "ストップウォッチの対象(別のコンピューターや人の操作)は 1 台ずつしか扱えないため"
        )
    })
}

/// Returns the indices of the real targets among these points, those that are measured interleaved
/// together, with the reason for those that are not.
pub(crate) fn groups(points: &[Point], places: &[usize]) -> Vec<(Vec<usize>, Option<Text>)> {
    let mut groups: Vec<(Vec<usize>, Option<Text>)> = Vec::new();
    for &place in places {
        let point = &points[place];
        if !matches!(point.target, PointTarget::Path(_)) {
            continue;
        }
        let apart = why_in_sequence(&point.profile);
        let is_alike = |group: &&mut (Vec<usize>, Option<Text>)| {
            group.1.is_none() && points[group.0[0]].profile == point.profile
        };
        match groups.iter_mut().find(is_alike) {
            Some((group, _)) if apart.is_none() => group.push(place),
            _ => groups.push((vec![place], apart)),
        }
    }
    groups
}

/// Returns how the real targets among the rows of a table were measured: for each row the index of
/// its point, its measurement and why it was measured alone. Empty for fewer than two targets.
pub(crate) fn order<'m>(
    rows: impl Iterator<Item = (usize, usize, &'m Measured, Option<&'m Text>)>,
) -> Vec<RowOrder> {
    let rows: Vec<_> = rows.collect();
    let mut points: Vec<usize> = rows.iter().map(|(_, point, ..)| *point).collect();
    points.sort_unstable();
    points.dedup();
    if points.len() < 2 {
        return Vec::new();
    }
    let mut orders: Vec<(Option<&str>, RowOrder)> = Vec::new();
    for (row, _, measured, apart) in rows {
        let group = measured.header.versus.as_ref().map(|versus| versus.group.as_str());
        let blocks = measured.cells.iter().map(|cell| cell.counted().count() as u32).max().unwrap_or(0);
        let own_rules =
            || text!("their rules differ from those of the other rows", "測り方(rules)がほかの行と違うため");
        let why = apart.cloned().unwrap_or_else(own_rules);
        let same = orders.iter_mut().find(|(other, order)| match order {
            RowOrder::Interleaved { .. } => group.is_some() && *other == group,
            RowOrder::InSequence { why: other, .. } => group.is_none() && *other == why,
        });
        match (same, group) {
            (Some((_, RowOrder::Interleaved { rows, .. } | RowOrder::InSequence { rows, .. })), _) => {
                rows.push(row);
            }
            (None, Some(_)) => orders.push((group, RowOrder::Interleaved { rows: vec![row], blocks })),
            (None, None) => orders.push((None, RowOrder::InSequence { rows: vec![row], why })),
        }
    }
    orders.into_iter().map(|(_, order)| order).collect()
}

/// Returns the name of the device that was measured, or of the target if the device is unknown.
pub(crate) fn device_name(measured: &Measured) -> Text {
    subject(&RunRecord::begun(measured.header.clone()))
}

/// Returns a figure once for each repetition, as if it were the only one. A formula over several
/// cells combines their repetitions of the same number.
pub(crate) fn repeated(
    figure: &FigureSource,
    step: Option<&str>,
    profile: &Profile,
    measured: &Measured,
) -> Vec<f64> {
    let alone = |cell: &Cell, number: usize| {
        let repetition = cell.counted().nth(number)?.clone();
        Some(Cell { repetitions: vec![repetition], ..without_repetitions(cell) })
    };
    let most = measured.cells.iter().map(|cell| cell.counted().count()).max().unwrap_or(0);
    let value = |number: usize| {
        let cells = measured.cells.iter().filter_map(|cell| alone(cell, number)).collect();
        figure.value(step, profile, &Measured { cells, ..Measured::default() })
    };
    (0..most).map_while(value).filter(|value| value.is_finite()).collect()
}

/// Copies a cell without its repetitions, whose histograms are large.
fn without_repetitions(cell: &Cell) -> Cell {
    Cell {
        index: cell.index,
        step_index: cell.step_index,
        part: cell.part.clone(),
        label: cell.label.clone(),
        direction: cell.direction,
        measure: cell.measure,
        workload: cell.workload.clone(),
        ..Cell::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{OpsRecord, Repetition};
    use kurabe_core::workload::Direction;
    use kurabe_profile::profile_named;

    fn measured(group: Option<&str>, bytes: &[u64]) -> Measured {
        let repetition = |(index, bytes): (usize, &u64)| Repetition {
            index: index as u32,
            elapsed_ns: 1_000_000_000,
            read: OpsRecord { bytes: *bytes, completed: 1, ..OpsRecord::default() },
            ..Repetition::default()
        };
        let cell = Cell {
            part: "read".to_owned(),
            direction: Some(Direction::Read),
            repetitions: bytes.iter().enumerate().map(repetition).collect(),
            ..Cell::default()
        };
        let mut measured = Measured { cells: vec![cell], ..Measured::default() };
        measured.header.versus = group.map(|group| kurabe_core::record::VersusRecord {
            group: group.to_owned(),
            order_seed: 1,
            targets: Vec::new(),
            place: 0,
            variants: Vec::new(),
        });
        measured
    }

    #[test]
    fn a_figure_has_a_value_for_each_repetition() {
        let profile = profile_named("cdm-2").unwrap().with_step_names();
        let figure = FigureSource::Formula("step1.read.MB_per_s".to_owned());
        let values = repeated(&figure, None, &profile, &measured(None, &[90_000_000, 110_000_000]));
        assert_eq!(values, [90.0, 110.0]);
        let ratio = FigureSource::Formula("step1.read.MB_per_s / step1.read.MB_per_s".to_owned());
        assert_eq!(repeated(&ratio, None, &profile, &measured(None, &[90, 110])), [1.0, 1.0]);
    }

    #[test]
    fn rows_of_one_group_are_interleaved_and_others_say_why_they_are_not() {
        let (a, b, c) = (measured(Some("g"), &[1, 1]), measured(Some("g"), &[1, 1]), measured(None, &[1]));
        let why = text!("worn out", "故障");
        let order = order([(0, 0, &a, None), (1, 1, &b, None), (2, 2, &c, Some(&why))].into_iter());
        let together = RowOrder::Interleaved { rows: vec![0, 1], blocks: 2 };
        assert_eq!(order, [together, RowOrder::InSequence { rows: vec![2], why }]);
    }

    #[test]
    fn a_single_target_has_no_order() {
        let own = measured(None, &[1]);
        assert!(order([(0, 4, &own, None), (1, 4, &own, None)].into_iter()).is_empty());
    }
}
