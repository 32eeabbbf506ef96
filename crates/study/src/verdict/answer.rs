//! An answer, and what it is held against.

use crate::axis::{Along, is_same_value};
use crate::question::{Becomes, Conclusion, Goes};
use kurabe_compare::Out;
use kurabe_core::Text;
use kurabe_explain::{CellLimit, Limit};
use kurabe_stats::{Concordance, FittedLine};
use serde::Serialize;
use std::collections::BTreeSet;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionResult {
    /// The question's name within the study.
    pub id: String,
    /// What was asked.
    pub title: Text,
    /// The tables that the answer rests on.
    pub parts: BTreeSet<String>,
    /// The use that choices are ranked for, if it is one: name and title.
    pub purpose: Option<(String, Text)>,
    /// What there was to choose from.
    pub choices: Vec<Choice>,
    /// The figures that decided.
    pub figures: Vec<Deciding>,
    /// A difference below this share does not matter.
    pub margin: f64,
    /// The answer; `None` if the figures cannot tell.
    pub answer: Option<Answer>,
    /// Why they cannot.
    pub untold: Option<Text>,
    /// The answer that the published figures give, where the same ones are published.
    pub published: Option<OfPublished>,
    /// What the article concludes.
    pub article: Option<ArticleView>,
    /// Whether the user changed a model among them, so that the article speaks of another device.
    pub changed: bool,
    /// How many figures went in, counted for each choice.
    pub count: usize,
    /// How many of them are calibrated on published ones.
    pub calibrated: usize,
    /// Those that the model does not reach.
    pub unreached: Vec<Caveat>,
    /// Those that rest on an assumption made in view of what is said of them.
    pub assumed: Vec<Caveat>,
}

/// What to know of some of the figures that decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caveat {
    /// Which: the place of the choice, and the figure's name.
    pub of: Vec<(usize, Text)>,
    /// What the study says of them.
    pub why: Text,
}

/// The answer that the published figures give.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfPublished {
    /// The answer.
    pub answer: Answer,
    /// Whether it is what the article concludes; `None` if the article leaves the answer to the reader.
    pub agreement: Option<Agreement>,
}

/// One of the choices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// The word for it in the study: a row's id, or a value of the axis.
    pub key: String,
    /// What it is called.
    pub name: Text,
    /// Whether it was measured on a real target.
    pub real: bool,
}

/// A figure that decided, with its value for each choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deciding {
    /// What it is.
    pub name: Text,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// Places behind the point.
    pub decimals: usize,
    /// Its weight.
    pub weight: f64,
    /// Whether less of it is better.
    pub less_is_better: bool,
    /// One for each choice.
    pub values: Vec<Option<f64>>,
    /// The published ones.
    pub published: Vec<Option<f64>>,
}

/// An answer. Numbers of choices and figures are places in the verdict's lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// One choice, or several that are a tie.
    Best(Best),
    /// What becomes of each figure.
    Change(Vec<Change>),
    /// How two figures go together.
    Order {
        /// The pairs counted.
        pairs: Concordance,
        /// What may be said.
        goes: Goes,
    },
    /// How each figure lies over the axis.
    Line(Vec<AxisFit>),
    /// Who keeps the limit.
    Keeps {
        /// These do.
        keep: Vec<usize>,
        /// These do not.
        break_it: Vec<usize>,
        /// The figure furthest towards or beyond the limit, of each choice.
        worst: Vec<Option<f64>>,
    },
    /// What bounded a cell.
    Reason(Box<ReasonView>),
}

/// What bounded a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReasonView {
    /// As far as somebody can tell who does not see the account.
    pub outside: CellLimit,
    /// The largest cause in the account; `None` on a real target.
    pub account: Option<Limit>,
}

/// The best choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Best {
    /// The best, and those that are not worse by more than the margin.
    pub best: Vec<usize>,
    /// All choices that have figures, the best first; those that are out come last.
    pub standings: Vec<RankedChoice>,
    /// Figures without which another answer would come out, and that answer.
    pub rests_on: Vec<RestsOn>,
    /// Share of the draws in which the order of the first two holds, where repetitions were drawn again.
    pub holds: Option<f64>,
}

/// A choice in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedChoice {
    /// The choice.
    pub choice: usize,
    /// How many times as good as the best, over all figures: 1 for the best itself.
    pub of_best: f64,
    /// A limit of the use that it breaks.
    pub out: Option<Out>,
}

/// A figure on which the answer rests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestsOn {
    /// The figure.
    pub figure: usize,
    /// Without it, these would be the best.
    pub instead: Vec<usize>,
}

/// What becomes of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The figure.
    pub figure: usize,
    /// Its value before.
    pub from: f64,
    /// Its value after.
    pub to: f64,
    /// What that is.
    pub becomes: Becomes,
}

/// How a figure lies over an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AxisFit {
    /// The figure.
    pub figure: usize,
    /// The line of least squares, over the axis in its base unit.
    pub line: FittedLine,
    /// Whether the figure follows it.
    pub on_line: bool,
    /// What the base unit of the axis is.
    pub along: Along,
}

/// What the article concludes, beside the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArticleView {
    /// In a few words.
    pub says: Text,
    /// The same in the form of an answer, if it has one.
    pub conclusion: Option<Conclusion>,
    /// Whether the figures come to the same; `None` if the article leaves the answer to the reader.
    pub agreement: Option<Agreement>,
    /// Why they do not, where it is known.
    pub why: Option<Text>,
}

/// Whether figures come to what an article concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// They do.
    Agrees,
    /// In some of the figures, or among others that are as good.
    Partly,
    /// They come to something else.
    Differs,
    /// The figures cannot tell.
    CannotBeTold,
    /// They do, but because the model was given what the article says.
    WasGiven,
}

/// The place of a choice, whatever way its value is written in.
pub(super) fn place_of(choices: &[Choice], key: &str) -> Option<usize> {
    choices.iter().position(|choice| is_same_value(&choice.key, key))
}
