//! What a study came to: tables with the published figure, kurabe's, the error, and what each figure is.

use crate::study::{FigureMark, MarkKind, WhyRun};
use crate::{axis::StudyAxis, published::Published, verdict::QuestionResult};
use kurabe_core::{Error, ErrorKind, Text, record::Notice, text};
use serde::Serialize;

/// The version of the form of a result.
pub const RESULT_SCHEMA: u32 = 1;

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It repeats a source of the model's parameters.
    Source,
    /// A parameter was chosen so that it comes out.
    Calibrated,
    /// A parameter without a source was chosen in view of what is said of it.
    Assumed,
    /// It follows from the model, and nobody fitted it.
    Predicted,
    /// It was measured on a real target.
    Measured,
}

/// A study with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The run whose account shows what it is about.
    pub why: Option<WhyRun>,
    /// Its tables.
    pub parts: Vec<PartResult>,
    /// The answers to what it asks of their figures; people read them in words.
    #[serde(skip)]
    pub verdicts: Vec<QuestionResult>,
    /// Names of questions that need a table which was not run.
    pub unasked: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub axes: Vec<StudyAxis>,
    /// Its columns.
    pub columns: Vec<ColumnResult>,
    /// Its rows.
    pub rows: Vec<RowResult>,
    /// Pairs of rows whose published order is not kept.
    pub swaps: Vec<Swap>,
    /// Pairs of rows that are published in an order, and that the model does not tell apart.
    pub ties: Vec<Swap>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// What was said while it was measured.
    pub notices: Vec<Notice>,
    /// Why it has no figures.
    pub error: Option<Text>,
    /// One place for each column.
    pub cells: Vec<CellResult>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellResult {
    /// kurabe's figure, in the column's unit.
    pub value: Option<f64>,
    /// The published one.
    pub published: Option<Published>,
    /// The least and the most that kurabe's can be by what nobody tells of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// How far off it is, in percent of the published one.
    pub error_percent: Option<f64>,
    /// What it is.
    pub status: Status,
    /// On what it is calibrated, what was assumed for it, or from where it follows.
    pub reason: Option<Text>,
    /// Why the published figure cannot be what it says.
    pub anomaly: Option<Text>,
    /// Why the model does not reach it.
    pub unreachable: Option<Text>,
}

/// Two rows of a column that do not stand in the order in which they are published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
pub(crate) enum MeasuredOn {
    /// The model of what was published.
    Model,
    /// That model, changed by the user, so that it is another device.
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

    /// Whether its place in the order tells anything: not where the published figure cannot be right. A figure that the
    /// model does not reach counts, because a reader of the table wants to know what else follows from the miss.
    fn counts(&self) -> bool {
        self.anomaly.is_none()
    }
}

impl PartResult {
    /// Pairs of rows of models that stand in another order than published, and pairs that are no longer in any; anomalies
    /// do not count, and published figures within 1 % of each other are no order, nor are the model's.
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

    /// Whether any figure is published.
    pub fn has_published(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.published.is_some())
    }
}

impl StudyResult {
    /// That rows could not be measured: how many, and what was wrong with the first.
    pub fn failure(&self) -> Option<Error> {
        let errors: Vec<_> =
            self.parts.iter().flat_map(|part| &part.rows).filter_map(|row| row.error.as_ref()).collect();
        let first = errors.first()?;
        let (name, rows) = (&self.study, errors.len());
        Some(ErrorKind::Target.error(text!(
            "{name}: rows that could not be measured: {rows}; the first: {first}",
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
            ties: Vec::new(),
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
        // What is published within 1 % is no order that could be lost.
        assert_eq!(table(&[(1.0, 1.0, &[]), (1.005, 1.0, &[])]).find_order(), (Vec::new(), Vec::new()));
    }
}
