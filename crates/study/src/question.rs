//! Questions: what a study asks of its own figures, and what the article says to that.
//!
//! The model: a question names the figures that decide it and how they decide: which choice is best, what a change does,
//! whether two figures go together, whether one lies on a line, which rows keep a limit. One that asks for a reason names a cell
//! instead. The choices are rows, by their
//! ids, or the values of an axis. The answer is worked out of the figures (`verdict`); nothing here holds one. What the
//! article concludes is a fact in a few words of ours, beside the form in which an answer can be held against it.

mod read;

pub(crate) use read::read_questions;

use kurabe_compare::Use;
use kurabe_core::Text;
use kurabe_explain::LimitKind;
use serde::Serialize;

/// A difference below this does not matter, unless a question says otherwise; as `kurabe compare` has it.
pub const USUAL_MARGIN: f64 = 0.05;
/// The best of several models is ahead of those that are worse by more than this: as published figures within 1 % of each
/// other have no order. Computed figures do not scatter, so there is no need of more.
pub const MODEL_MARGIN: f64 = 0.01;

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its name within the study.
    pub id: String,
    /// What it asks, to be read aloud.
    pub title: Text,
    /// How figures decide it.
    pub ask: Ask,
    /// What the choices are.
    pub among: Among,
    /// The figures that decide it.
    pub figures: Vec<FigureSet>,
    /// A difference below this share does not matter; `None` for what is usual.
    pub margin: Option<f64>,
    /// What the article concludes.
    pub article: Option<Article>,
}

/// How figures decide.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Which choice is best over all the figures, each with its weight.
    Best,
    /// Which row is best for a use, by what was measured of it.
    BestFor(Box<Use>),
    /// What becomes of the figures from one choice to another.
    Change {
        /// From this choice.
        from: String,
        /// To that.
        to: String,
    },
    /// Whether the first figure puts the rows in the same order as the second.
    Order,
    /// Whether the figures lie on a straight line over the axis.
    Line,
    /// Which rows keep a limit in every figure.
    Keeps {
        /// No more than this, in the unit of the figures.
        at_most: Option<f64>,
        /// No less than this.
        at_least: Option<f64>,
    },
    /// What bounded a cell of one row, as far as somebody can tell who does not see the account that a model gives.
    Reason {
        /// The row's values on the axes of its part.
        at: Vec<String>,
        /// The cell: part and label.
        cell: String,
    },
    /// No figure decides it, and why.
    Untold(Text),
}

/// What the choices are.
#[derive(Clone, Debug, PartialEq)]
pub enum Among {
    /// Rows, by their ids.
    Rows(Vec<String>),
    /// The values of an axis, for these rows; all rows, if none is named.
    Axis {
        /// `layer.parameter`
        parameter: String,
        /// Ids of rows.
        rows: Vec<String>,
    },
}

/// Columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSet {
    /// The table's id.
    pub part: String,
    /// Its columns' keys.
    pub columns: Vec<String>,
    /// Weight of each of the figures.
    pub weight: f64,
}

/// What the article concludes.
#[derive(Clone, Debug, PartialEq)]
pub struct Article {
    /// In a few words of ours.
    pub says: Text,
    /// The form in which an answer can be held against it.
    pub conclusion: Option<Conclusion>,
    /// Why the figures come to something else, where they do and it is known.
    pub why: Option<Text>,
}

/// A conclusion, in the form of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// These choices are the best; several are a tie.
    Best(Vec<String>),
    /// Each of the first is better than each of the last.
    Groups {
        /// The better ones.
        first: Vec<String>,
        /// The worse ones.
        last: Vec<String>,
    },
    /// Every figure becomes this.
    Becomes(Becomes),
    /// No figure becomes this.
    Never(Becomes),
    /// The two figures go together in this way.
    Goes(Goes),
    /// Whether the figures lie on a straight line.
    OnLine(bool),
    /// Which rows keep the limit, and which do not; nothing is said of others.
    Keeps {
        /// These do.
        keep: Vec<String>,
        /// These do not.
        break_it: Vec<String>,
    },
    /// One of these bounded the cell.
    Reason(Vec<LimitKind>),
}

/// What becomes of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Becomes {
    /// Faster, less delay, less lost.
    Better,
    /// Nothing that matters.
    Same,
    /// Slower, more delay, more lost.
    Worse,
}

/// How two figures go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Goes {
    /// They put the rows in the same order.
    Together,
    /// They put them in opposite orders.
    Opposite,
    /// Too many pairs stand in either order.
    Neither,
}

impl Question {
    /// The tables that it needs.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.figures.iter().map(|set| set.part.as_str())
    }
}
