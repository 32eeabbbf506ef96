//! Reasons: what limited a cell as inferred without the model's account, next to the account
//! itself.

use super::answer::{Answer, ReasonView};
use super::gather::{ChoiceGrid, MeasuredRows, choices_only};
use crate::{axis::is_same_value, figure::Measured, question::Question, result::PartResult};
use kurabe_core::record::RunRecord;
use kurabe_explain::{LimitKind, Strength, limits, limits_from_outside, seen_by_linux};

/// Returns the reason for a cell of the question's row at these axis values. The answer is `None`
/// if the cell was not measured.
pub(super) fn reason(
    question: &Question,
    (at, cell): (&[String], &str),
    parts: &[PartResult],
    measured: &MeasuredRows<'_>,
) -> (ChoiceGrid, Option<Answer>) {
    let mut grid = choices_only(question, parts);
    let row = grid.choices.first().and_then(|choice| {
        let place = parts.iter().position(|part| question.parts().next() == Some(part.id.as_str()))?;
        let mut rows = parts[place].rows.iter().enumerate();
        let is_at = |values: &[String]| {
            values.len() == at.len() && values.iter().zip(at).all(|(one, other)| is_same_value(one, other))
        };
        let (index, row) =
            rows.find(|(_, row)| row.id.as_ref() == Some(&choice.key) && is_at(&row.values))?;
        Some((row, measured(place, index)?))
    });
    grid.changed = row.is_some_and(|(row, _)| row.changed);
    let answer = row.and_then(|(_, measured)| reason_of(measured, cell));
    (grid, answer.map(|view| Answer::Reason(Box::new(view))))
}

fn reason_of(measured: &Measured, cell: &str) -> Option<ReasonView> {
    let mut record = RunRecord::begun(measured.header.clone());
    record.cells = measured.cells.clone();
    let account = limits(&record);
    if let Some(model) = record.header.model.take() {
        record.header.environment = seen_by_linux(&model);
    }
    let outside = limits_from_outside(&record);
    let (outside, account) = outside
        .into_iter()
        .zip(account)
        .find(|(limit, _)| format!("{} {}", limit.part, limit.label) == cell)?;
    let account = Some(account.limit)
        .filter(|limit| limit.strength == Strength::Exact && limit.kind != LimitKind::HostMemory);
    Some(ReasonView { outside, account })
}
