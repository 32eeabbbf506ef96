//! Results of a study: tables with the published figure, kurabe's, the error, and the status of
//! each figure.

use crate::study::{FigureMark, MarkKind, PartHead, StudyHead};
use crate::{published::Published, verdict::QuestionResult};
use kurabe_core::{Error, ErrorKind, Text, record::Notice, text};
use serde::Serialize;
use std::ops::Deref;

/// Version of the result format.
pub const RESULT_SCHEMA: u32 = 1;

/// How a figure was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It repeats a source of the model's parameters.
    Source,
    /// A parameter was chosen so that the model reproduces it.
    Calibrated,
    /// It depends on a parameter without a source, which was chosen to match statements about this
    /// figure.
    Assumed,
    /// It follows from the model and was not fitted.
    Predicted,
    /// It was measured on a real target.
    Measured,
}

/// A study with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyResult {
    /// Version of this format ([`RESULT_SCHEMA`]).
    pub schema: u32,
    /// Name, question and source of the study.
    #[serde(flatten)]
    pub head: StudyHead,
    /// Seed of the models.
    pub seed: u64,
    /// Parameters that the user changed.
    pub sets: Vec<(String, String)>,
    /// Tables.
    pub parts: Vec<PartResult>,
    /// Answers to the study's questions. Reports show them as text, so they are not serialized.
    #[serde(skip)]
    pub verdicts: Vec<QuestionResult>,
    /// Names of questions that need a table which was not run.
    pub unasked: Vec<String>,
}

impl Deref for StudyResult {
    type Target = StudyHead;

    fn deref(&self) -> &StudyHead {
        &self.head
    }
}

/// How real targets of a table were measured in relation to each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// Interleaved: in each block every target once, and in the next block in reverse order.
    Interleaved {
        /// Indices of the rows.
        rows: Vec<usize>,
        /// Number of blocks.
        blocks: u32,
    },
    /// One after the other.
    InSequence {
        /// Indices of the rows.
        rows: Vec<usize>,
        /// Why they were not interleaved.
        why: Text,
    },
}

/// A table of a study's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartResult {
    /// Id, title and axes of the table.
    #[serde(flatten)]
    pub head: PartHead,
    /// Name of the profile.
    pub profile: String,
    /// Columns.
    pub columns: Vec<ColumnResult>,
    /// Rows.
    pub rows: Vec<RowResult>,
    /// Pairs of rows that the model puts in the opposite of the published order.
    pub swaps: Vec<Swap>,
    /// Pairs of rows with a published order whose modelled figures do not differ.
    pub ties: Vec<Swap>,
    /// How the real targets were measured in relation to each other; empty for fewer than two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<RowOrder>,
}

impl Deref for PartResult {
    type Target = PartHead;

    fn deref(&self) -> &PartHead {
        &self.head
    }
}

/// A column of a result table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnResult {
    /// Key within the part.
    pub key: String,
    /// Heading.
    pub name: Text,
    /// Unit; empty for a ratio.
    pub unit: String,
    /// Number of decimal places.
    pub decimals: usize,
    /// Whether a curve over an axis is drawn.
    pub curve: bool,
    /// Whether lower values are better.
    pub less_is_better: bool,
}

/// A row of a result table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowResult {
    /// Id within the part, if it has one.
    pub id: Option<String>,
    /// Label.
    pub label: Text,
    /// Name of the model; `None` on a real target.
    pub model: Option<String>,
    /// Changed parameters.
    pub sets: Vec<(String, String)>,
    /// Model in the denominator, if the figures are ratios.
    pub over: Option<String>,
    /// Whether the user changed the model, so that it no longer matches the published device.
    pub changed: bool,
    /// Values on the axes.
    pub values: Vec<String>,
    /// Path of the real target.
    pub path: Option<String>,
    /// Id of the stored run.
    pub run: Option<String>,
    /// Notices of the run.
    pub notices: Vec<Notice>,
    /// Reason why the row has no figures.
    pub error: Option<Text>,
    /// Figures, one for each column.
    pub cells: Vec<CellResult>,
}

/// A figure of a result table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellResult {
    /// kurabe's figure, in the column's unit.
    pub value: Option<f64>,
    /// Half width of the 95 % interval of the mean of the repetitions, if it was repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plus_minus: Option<f64>,
    /// The figure in each repetition on a real target.
    #[serde(skip)]
    pub repeated: Vec<f64>,
    /// Published figure.
    pub published: Option<Published>,
    /// Lowest and highest value of kurabe's figure over the possible values of unknown parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Difference from the published figure, in percent of it.
    pub error_percent: Option<f64>,
    /// How the figure was obtained.
    pub status: Status,
    /// Figure that it is calibrated on, assumption that was made, or source that it follows from.
    pub reason: Option<Text>,
    /// Reason why the published figure cannot be right.
    pub anomaly: Option<Text>,
    /// Reason why the model does not reach the published figure.
    pub unreachable: Option<Text>,
}

/// Two rows of a column whose order differs from the published one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Swap {
    /// Index of the column.
    pub column: usize,
    /// Row with the lower published figure.
    pub lower: usize,
    /// Row with the higher published figure.
    pub higher: usize,
}

/// Target of a measured figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasuredOn {
    /// Model of the published device.
    Model,
    /// That model with changes by the user, so that it is another device.
    Changed,
    /// A real target.
    Real,
}

impl CellResult {
    pub(crate) fn new(
        value: Option<f64>,
        published: Option<Published>,
        column: &str,
        marks: &[FigureMark],
        ground: MeasuredOn,
    ) -> Self {
        let reason = |kind: MarkKind| {
            let own =
                |mark: &&FigureMark| mark.kind == kind && mark.column == column && ground != MeasuredOn::Real;
            marks.iter().find(own).map(|mark| mark.reason.clone())
        };
        let kinds = [
            (MarkKind::Calibrated, Status::Calibrated),
            (MarkKind::Assumed, Status::Assumed),
            (MarkKind::Source, Status::Source),
        ];
        let marked = kinds.into_iter().find_map(|(kind, status)| Some((status, reason(kind)?)));
        let (status, why) = match marked {
            _ if ground == MeasuredOn::Real => (Status::Measured, None),
            Some((status, why)) => (status, Some(why)),
            None => (Status::Predicted, None),
        };
        Self {
            value,
            plus_minus: None,
            repeated: Vec::new(),
            published,
            range: None,
            error_percent: value
                .filter(|_| ground != MeasuredOn::Changed)
                .and_then(|value| published?.error_percent(value)),
            status,
            reason: why,
            anomaly: reason(MarkKind::Anomaly),
            unreachable: reason(MarkKind::Unreachable),
        }
    }

    /// Returns whether the figure is used to compare orders.
    ///
    /// Figures with an anomaly are not. A figure that the model does not reach is used, because a
    /// reader wants to see the other consequences of the miss.
    fn counts(&self) -> bool {
        self.anomaly.is_none()
    }
}

impl PartResult {
    /// Returns pairs of rows whose modelled order is the opposite of the published one, and pairs
    /// that the model does not separate.
    ///
    /// Anomalies do not count. Figures within 1 % of each other have no order, whether published or
    /// modelled.
    pub(crate) fn find_order(&self) -> (Vec<Swap>, Vec<Swap>) {
        let (mut swaps, mut ties) = (Vec::new(), Vec::new());
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
                for (higher, _, other) in rows.iter().filter(|(_, above, _)| published.is_below(above)) {
                    let pair = Swap { column, lower: *lower, higher: *higher };
                    if value > other {
                        swaps.push(pair);
                    } else if !Published::exact(*value).is_below(&Published::exact(*other)) {
                        ties.push(pair);
                    }
                }
            }
        }
        (swaps, ties)
    }

    /// Returns whether any figure was repeated on a real target, so that it has a ±.
    pub fn has_plus_minus(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.plus_minus.is_some())
    }

    /// Returns whether any figure is published.
    pub fn has_published(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.published.is_some())
    }
}

impl StudyResult {
    /// Returns whether every row was measured on a real target.
    pub fn is_measured(&self) -> bool {
        let mut rows = self.parts.iter().flat_map(|part| &part.rows).peekable();
        rows.peek().is_some() && rows.all(|row| row.path.is_some())
    }

    /// Returns an error if rows could not be measured: how many, and the reason for the first.
    pub fn failure(&self) -> Option<Error> {
        let errors: Vec<_> =
            self.parts.iter().flat_map(|part| &part.rows).filter_map(|row| row.error.as_ref()).collect();
        let first = errors.first()?;
        let (name, rows) = (&self.name, errors.len());
        Some(ErrorKind::Target.error(text!(
            "{name}: {rows} of the rows could not be measured; the first: {first}",
            "{name}: 測定できない行が {rows} 件あります。最初のもの: {first}"; first
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(kind: MarkKind) -> FigureMark {
        FigureMark { column: "read".to_owned(), kind, reason: text!("because", "理由") }
    }

    #[test]
    fn what_nobody_marked_is_predicted_and_what_is_real_is_measured() {
        let status =
            |marks: &[FigureMark], ground| CellResult::new(Some(1.0), None, "read", marks, ground).status;
        let both = [mark(MarkKind::Source), mark(MarkKind::Calibrated)];
        assert_eq!(status(&[], MeasuredOn::Model), Status::Predicted);
        assert_eq!(status(&both[..1], MeasuredOn::Model), Status::Source);
        assert_eq!(status(&both, MeasuredOn::Model), Status::Calibrated);
        assert_eq!(status(&[mark(MarkKind::Anomaly)], MeasuredOn::Model), Status::Predicted);
        assert_eq!(status(&both, MeasuredOn::Real), Status::Measured);
        let assumed = [mark(MarkKind::Assumed)];
        assert_eq!(status(&assumed, MeasuredOn::Model), Status::Assumed);
        let other = CellResult::new(Some(1.0), None, "write", &both, MeasuredOn::Model);
        assert_eq!((other.status, other.reason), (Status::Predicted, None));
    }

    fn table(cells: &[(f64, f64, &[FigureMark])]) -> PartResult {
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
            notices: Vec::new(),
            error: None,
            cells: vec![CellResult::new(
                Some(*value),
                Some(Published::exact(*published)),
                "read",
                marks,
                MeasuredOn::Model,
            )],
        });
        PartResult {
            head: PartHead {
                id: "t".to_owned(),
                title: Text::same("t"),
                note: None,
                catalogue: None,
                axes: Vec::new(),
                devices_across: false,
            },
            profile: "p".to_owned(),
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
            ties: Vec::new(),
            order: Vec::new(),
        }
    }

    #[test]
    fn rows_in_another_order_than_published_are_found() {
        let swaps = |cells: &[(f64, f64, &[FigureMark])]| table(cells).find_order().0;
        assert!(swaps(&[(1.0, 1.1, &[]), (2.0, 1.9, &[]), (2.0, 1.2, &[])]).is_empty());
        let swapped = swaps(&[(1.0, 3.0, &[]), (2.0, 2.0, &[])]);
        assert_eq!(swapped, [Swap { column: 0, lower: 0, higher: 1 }]);
        let anomaly = [mark(MarkKind::Anomaly)];
        assert!(swaps(&[(1.0, 3.0, &anomaly), (2.0, 2.0, &[])]).is_empty());
        let unreachable = [mark(MarkKind::Unreachable)];
        assert_eq!(swaps(&[(1.0, 3.0, &unreachable), (2.0, 2.0, &[])]), swapped);
    }

    #[test]
    fn a_published_difference_that_the_model_does_not_show_is_no_order_kept() {
        let order = |low: f64, high: f64| table(&[(1.0, low, &[]), (2.0, high, &[])]).find_order();
        let pair = vec![Swap { column: 0, lower: 0, higher: 1 }];
        assert_eq!(order(100.0, 100.0), (Vec::new(), pair.clone()));
        assert_eq!(order(100.0, 100.9), (Vec::new(), pair.clone()));
        assert_eq!(order(100.0, 101.1), (Vec::new(), Vec::new()));
        assert_eq!(order(100.1, 100.0), (pair, Vec::new()));
        // Published figures within 1 % have no order that could be lost.
        assert_eq!(table(&[(1.0, 1.0, &[]), (1.005, 1.0, &[])]).find_order(), (Vec::new(), Vec::new()));
    }
}
