//! Questions that a study answers from its figures, with the article's conclusions.
//!
//! A question names its figures and how they decide it: which choice is best, what a change does,
//! whether two figures correlate, whether a figure follows a line, or which rows keep a limit. A
//! question for a reason names a cell instead. The choices are rows, by their ids, or the values of
//! an axis. The answer is computed from the figures (`verdict`) and is not stored here. The
//! article's conclusion is a fact in a few words of our own, together with a form that an answer
//! can be compared with.

mod read;

pub(crate) use read::read_questions;

use kurabe_compare::Use;
use kurabe_core::Text;
use kurabe_explain::LimitKind;
use serde::Serialize;
use std::ops::Deref;

/// Default margin: a smaller difference does not matter. It is the default of `kurabe compare`.
pub const USUAL_MARGIN: f64 = 0.05;
/// Default margin for ranking models.
///
/// It is small because computed figures do not scatter; published figures within 1 % of each other
/// have no order either.
pub const MODEL_MARGIN: f64 = 0.01;

/// A question of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Id and words.
    pub head: QuestionHead,
    /// How the figures decide it.
    pub ask: Ask,
    /// The choices.
    pub among: Among,
    /// Figures that decide it.
    pub figures: Vec<FigureSet>,
    /// Largest relative difference that does not matter; `None` for the default.
    pub margin: Option<f64>,
    /// Conclusion of the article.
    pub article: Option<Article>,
}

/// Id and words of a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionHead {
    /// Id of the question within the study.
    pub id: String,
    /// The question, in words.
    pub title: Text,
}

impl Deref for Question {
    type Target = QuestionHead;

    fn deref(&self) -> &QuestionHead {
        &self.head
    }
}

/// How figures decide a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Which choice is best over all figures, each with its weight.
    Best,
    /// Which row is best for a use, according to its measured cells.
    BestFor(Box<Use>),
    /// How the figures change from one choice to another.
    Change {
        /// Choice before the change.
        from: String,
        /// Choice after the change.
        to: String,
    },
    /// Whether the first figure puts the rows in the same order as the second.
    Order,
    /// Whether the figures follow a straight line over the axis.
    Line,
    /// Which rows keep a limit in every figure.
    Keeps {
        /// Upper limit, in the unit of the figures.
        at_most: Option<f64>,
        /// Lower limit, in the unit of the figures.
        at_least: Option<f64>,
    },
    /// The bottleneck of a cell of one row, as far as can be inferred without the model's account.
    Reason {
        /// Values of the row on the axes of its part.
        at: Vec<String>,
        /// Part and label of the cell.
        cell: String,
    },
    /// No figure can decide it, for the reason given.
    Untold(Text),
}

/// Choices of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Among {
    /// Rows, by their ids.
    Rows(Vec<String>),
    /// Values of an axis for these rows; for all rows if the list is empty.
    Axis {
        /// Parameter of the axis, as `layer.parameter`.
        parameter: String,
        /// Ids of rows.
        rows: Vec<String>,
    },
}

/// Columns of a table that enter an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSet {
    /// Id of the table.
    pub part: String,
    /// Keys of its columns.
    pub columns: Vec<String>,
    /// Weight of each figure.
    pub weight: f64,
}

/// Conclusion of an article.
#[derive(Clone, Debug, PartialEq)]
pub struct Article {
    /// The conclusion, in a few words of our own.
    pub says: Text,
    /// The conclusion in a form that an answer can be compared with.
    pub conclusion: Option<Conclusion>,
    /// Reason why the figures lead to another answer, if they do and it is known.
    pub why: Option<Text>,
}

/// Conclusion in the form of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// These choices are the best; several are a tie.
    Best(Vec<String>),
    /// Every choice in `first` is better than every choice in `last`.
    Groups {
        /// The better choices.
        first: Vec<String>,
        /// The worse choices.
        last: Vec<String>,
    },
    /// Every figure changes in this direction.
    Becomes(Becomes),
    /// No figure changes in this direction.
    Never(Becomes),
    /// The two figures are related in this way.
    Goes(Goes),
    /// Whether the figures follow a straight line.
    OnLine(bool),
    /// Which rows keep the limit and which do not; other rows are not mentioned.
    Keeps {
        /// Rows that keep it.
        keep: Vec<String>,
        /// Rows that break it.
        break_it: Vec<String>,
    },
    /// One of these limited the cell.
    Reason(Vec<LimitKind>),
}

/// Direction in which a figure changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Becomes {
    /// Faster, less delay, less data lost.
    Better,
    /// No difference that matters.
    Same,
    /// Slower, more delay, more data lost.
    Worse,
}

/// How two figures are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Goes {
    /// They put the rows in the same order.
    Together,
    /// They put the rows in opposite orders.
    Opposite,
    /// Neither order holds for enough pairs.
    Neither,
}

impl Question {
    /// Returns the ids of the tables that the question needs.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.figures.iter().map(|set| set.part.as_str())
    }
}
