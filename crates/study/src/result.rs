//! What a study came to: tables with the published figure, kurabe's, the error, and what each figure is.

use crate::axis::Axis;
use crate::published::Published;
use crate::study::{Mark, MarkKind};
use crate::verdict::Verdict;
use kurabe_core::Text;
use serde::Serialize;

/// The version of the form of a result.
pub const RESULT_SCHEMA: u32 = 1;

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It repeats a source of the model's parameters.
    Source,
    /// A parameter was chosen so that it comes out.
    Calibrated,
    /// It follows from the model, and nobody fitted it.
    Predicted,
    /// It was measured on a real target.
    Measured,
}

/// A study with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyResult {
    /// Version of this form.
    pub schema: u32,
    /// The study's name.
    pub study: String,
    /// What it asks.
    pub title: Text,
    /// The article whose experiment it repeats.
    pub source: Option<String>,
    /// What to know.
    pub note: Option<Text>,
    /// The seed.
    pub seed: u64,
    /// Parameters that the user changed.
    pub sets: Vec<(String, String)>,
    /// Its tables.
    pub parts: Vec<PartResult>,
    /// The answers to what it asks of their figures.
    pub verdicts: Vec<Verdict>,
    /// Names of questions that need a table which was not run.
    pub unasked: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartResult {
    /// Its name within the study.
    pub id: String,
    /// What it shows.
    pub title: Text,
    /// What to know of its figures.
    pub note: Option<Text>,
    /// The profile.
    pub profile: String,
    /// The table of the catalogue beside it.
    pub catalogue: Option<String>,
    /// Parameters that every row goes through.
    pub axes: Vec<Axis>,
    /// Its columns.
    pub columns: Vec<ColumnResult>,
    /// Its rows.
    pub rows: Vec<RowResult>,
    /// Pairs of rows whose published order is not kept.
    pub swaps: Vec<Swap>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnResult {
    /// Its name within the part.
    pub key: String,
    /// What it tells.
    pub name: Text,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// Places behind the point.
    pub decimals: usize,
    /// Whether its curve over an axis is drawn.
    pub curve: bool,
    /// Whether less of it is better.
    pub less_is_better: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowResult {
    /// Its name within the part, if it has one.
    pub id: Option<String>,
    /// What it is called.
    pub label: Text,
    /// The model; `None` on a real target.
    pub model: Option<String>,
    /// Its changed parameters.
    pub sets: Vec<(String, String)>,
    /// The model below the line, if the figures are ratios.
    pub over: Option<String>,
    /// Whether the user changed the model, so that it is no longer what was published.
    pub changed: bool,
    /// Values on the axes.
    pub values: Vec<String>,
    /// The real target.
    pub path: Option<String>,
    /// The id of the stored run.
    pub run: Option<String>,
    /// Why it has no figures.
    pub error: Option<Text>,
    /// One place for each column.
    pub cells: Vec<CellResult>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellResult {
    /// kurabe's figure, in the column's unit.
    pub value: Option<f64>,
    /// The published one.
    pub published: Option<Published>,
    /// How far off it is, in percent of the published one.
    pub error_percent: Option<f64>,
    /// What it is.
    pub status: Status,
    /// On what it is calibrated, or from where it follows.
    pub reason: Option<Text>,
    /// Why the published figure cannot be what it says.
    pub anomaly: Option<Text>,
    /// Why the model does not reach it.
    pub unreachable: Option<Text>,
}

/// Two rows of a column that stand in another order than published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Swap {
    /// The column's place.
    pub column: usize,
    /// The row that is lower as published.
    pub lower: usize,
    /// The row that is higher as published.
    pub higher: usize,
}

/// What a figure was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// The model of what was published.
    Model,
    /// That model, changed by the user: nothing that the study says of its figures holds.
    Changed,
    /// A real target.
    Real,
}

impl CellResult {
    pub(crate) fn new(
        value: Option<f64>,
        published: Option<Published>,
        column: &str,
        marks: &[Mark],
        ground: Ground,
    ) -> Self {
        let reason = |kind: MarkKind| {
            let own = |mark: &&Mark| mark.kind == kind && mark.column == column && ground == Ground::Model;
            marks.iter().find(own).map(|mark| mark.reason.clone())
        };
        let (source, calibrated) = (reason(MarkKind::Source), reason(MarkKind::Calibrated));
        let status = match (&source, &calibrated) {
            _ if ground == Ground::Real => Status::Measured,
            (_, Some(_)) => Status::Calibrated,
            (Some(_), None) => Status::Source,
            (None, None) => Status::Predicted,
        };
        Self {
            value,
            published,
            error_percent: value
                .filter(|_| ground != Ground::Changed)
                .and_then(|value| published?.error_percent(value)),
            status,
            reason: calibrated.or(source),
            anomaly: reason(MarkKind::Anomaly),
            unreachable: reason(MarkKind::Unreachable),
        }
    }

    /// Whether its place in the order tells anything: not where the published figure cannot be right. A figure that the
    /// model does not reach counts, because a reader of the table wants to know what else follows from the miss.
    fn counts(&self) -> bool {
        self.anomaly.is_none()
    }
}

impl PartResult {
    /// Pairs of rows of models that stand in another order than published; anomalies do not count, and published
    /// figures within 1 % of each other are no order.
    pub(crate) fn find_swaps(&self) -> Vec<Swap> {
        let mut swaps = Vec::new();
        for column in 0..self.columns.len() {
            let rows: Vec<(usize, Published, f64)> = self
                .rows
                .iter()
                .enumerate()
                .filter_map(|(index, row)| {
                    let cell = row
                        .cells
                        .get(column)
                        .filter(|cell| cell.counts() && row.path.is_none() && !row.changed)?;
                    Some((index, cell.published?, cell.value?))
                })
                .collect();
            for (lower, published, value) in &rows {
                for (higher, above, other) in &rows {
                    if published.is_below(above) && value > other {
                        swaps.push(Swap { column, lower: *lower, higher: *higher });
                    }
                }
            }
        }
        swaps
    }

    /// Whether any figure is published.
    pub fn has_published(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.published.is_some())
    }
}

impl StudyResult {
    /// The first error of a row.
    pub fn first_error(&self) -> Option<&Text> {
        self.parts.iter().flat_map(|part| &part.rows).find_map(|row| row.error.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::text;

    fn mark(kind: MarkKind) -> Mark {
        Mark { column: "read".to_owned(), kind, reason: text!("because", "理由") }
    }

    #[test]
    fn what_nobody_marked_is_predicted_and_what_is_real_is_measured() {
        let status = |marks: &[Mark], ground| CellResult::new(Some(1.0), None, "read", marks, ground).status;
        let both = [mark(MarkKind::Source), mark(MarkKind::Calibrated)];
        assert_eq!(status(&[], Ground::Model), Status::Predicted);
        assert_eq!(status(&both[..1], Ground::Model), Status::Source);
        assert_eq!(status(&both, Ground::Model), Status::Calibrated);
        assert_eq!(status(&[mark(MarkKind::Anomaly)], Ground::Model), Status::Predicted);
        assert_eq!(status(&both, Ground::Real), Status::Measured);
        assert_eq!(status(&both, Ground::Changed), Status::Predicted);
        let other = CellResult::new(Some(1.0), None, "write", &both, Ground::Model);
        assert_eq!((other.status, other.reason), (Status::Predicted, None));
    }

    fn table(cells: &[(f64, f64, &[Mark])]) -> PartResult {
        let rows = cells.iter().map(|(published, value, marks)| RowResult {
            id: None,
            label: Text::same("a"),
            model: Some("a".to_owned()),
            sets: Vec::new(),
            over: None,
            changed: false,
            values: Vec::new(),
            path: None,
            run: None,
            error: None,
            cells: vec![CellResult::new(
                Some(*value),
                Some(Published::exact(*published)),
                "read",
                marks,
                Ground::Model,
            )],
        });
        PartResult {
            id: "t".to_owned(),
            title: Text::same("t"),
            note: None,
            profile: "p".to_owned(),
            catalogue: None,
            axes: Vec::new(),
            columns: vec![ColumnResult {
                key: "read".to_owned(),
                name: Text::same("read"),
                unit: "kB/s".to_owned(),
                decimals: 1,
                curve: false,
                less_is_better: false,
            }],
            rows: rows.collect(),
            swaps: Vec::new(),
        }
    }

    #[test]
    fn rows_in_another_order_than_published_are_found() {
        assert!(table(&[(1.0, 1.1, &[]), (2.0, 1.9, &[]), (2.0, 1.2, &[])]).find_swaps().is_empty());
        let swapped = table(&[(1.0, 3.0, &[]), (2.0, 2.0, &[])]).find_swaps();
        assert_eq!(swapped, [Swap { column: 0, lower: 0, higher: 1 }]);
        let anomaly = [mark(MarkKind::Anomaly)];
        assert!(table(&[(1.0, 3.0, &anomaly), (2.0, 2.0, &[])]).find_swaps().is_empty());
        let unreachable = [mark(MarkKind::Unreachable)];
        assert_eq!(table(&[(1.0, 3.0, &unreachable), (2.0, 2.0, &[])]).find_swaps(), swapped);
    }
}
