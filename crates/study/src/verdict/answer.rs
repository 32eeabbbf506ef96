//! Answers, and what they are compared with.

use crate::axis::{Along, is_same_value};
use crate::question::{Becomes, Conclusion, Goes, QuestionHead};
use kurabe_compare::Out;
use kurabe_core::Text;
use kurabe_explain::{CellLimit, Limit};
use kurabe_stats::{Concordance, FittedLine};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Deref;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionResult {
    /// Id and words of the question.
    #[serde(flatten)]
    pub head: QuestionHead,
    /// Tables that the answer depends on.
    pub parts: BTreeSet<String>,
    /// Use that the choices are ranked for, if any: name and title.
    pub purpose: Option<(String, Text)>,
    /// The figures that decided, and reservations about them.
    #[serde(flatten)]
    pub grounds: Grounds,
    /// Largest relative difference that does not matter.
    pub margin: f64,
    /// The answer; `None` if the figures cannot decide.
    pub answer: Option<Answer>,
    /// Reason why they cannot.
    pub untold: Option<Text>,
    /// Answer according to the published figures, if the same ones are published.
    pub published: Option<OfPublished>,
    /// Conclusion of the article.
    pub article: Option<ArticleView>,
    /// Whether all figures were measured, on targets that were measured interleaved.
    #[serde(skip)]
    pub interleaved: bool,
}

impl Deref for QuestionResult {
    type Target = Grounds;

    fn deref(&self) -> &Grounds {
        &self.grounds
    }
}

/// The figures that decide a question, and reservations about them.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grounds {
    /// The choices.
    pub choices: Vec<Choice>,
    /// Figures that decide.
    pub figures: Vec<Deciding>,
    /// Whether the user changed one of the models, so that the article describes another device.
    pub changed: bool,
    /// Number of figures used, counted for each choice.
    pub count: usize,
    /// Number of them that are calibrated on published figures.
    pub calibrated: usize,
    /// Figures that the model does not reach.
    pub unreached: Vec<Caveat>,
    /// Figures that depend on an assumption made to match statements about them.
    pub assumed: Vec<Caveat>,
}

/// A reservation about some of the figures that decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caveat {
    /// Figures concerned: index of the choice, and name of the figure.
    pub of: Vec<(usize, Text)>,
    /// Text of the study about them.
    pub why: Text,
}

/// Answer according to the published figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfPublished {
    /// The answer.
    pub answer: Answer,
    /// Whether the article draws the same conclusion; `None` if it leaves the answer to the reader.
    pub agreement: Option<Agreement>,
}

/// One of the choices of a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Key of the choice in the study: a row's id, or a value of the axis.
    pub key: String,
    /// Name to show.
    pub name: Text,
    /// Whether it was measured on a real target.
    pub real: bool,
}

/// A figure that decided, with its value for each choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deciding {
    /// Name.
    pub name: Text,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// Number of decimal places.
    pub decimals: usize,
    /// Weight.
    pub weight: f64,
    /// Whether lower values are better.
    pub less_is_better: bool,
    /// Values, one for each choice.
    pub values: Vec<Option<f64>>,
    /// Published values, one for each choice.
    pub published: Vec<Option<f64>>,
}

/// An answer. Choices and figures are given as indices into the verdict's lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// One choice, or several that are a tie.
    Best(Best),
    /// Direction in which each figure changes.
    Change(Vec<Change>),
    /// How two figures are related.
    Order {
        /// Pairs that were counted.
        pairs: Concordance,
        /// Conclusion that the pairs support.
        goes: Goes,
    },
    /// How each figure runs over the axis.
    Line(Vec<AxisFit>),
    /// Which choices keep the limit.
    Keeps {
        /// Choices that keep it.
        keep: Vec<usize>,
        /// Choices that break it.
        break_it: Vec<usize>,
        /// Value of each choice that is closest to the limit or furthest beyond it.
        worst: Vec<Option<f64>>,
    },
    /// The bottleneck of a cell.
    Reason(Box<ReasonView>),
}

/// The bottleneck of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReasonView {
    /// Limit as inferred without the model's account.
    pub outside: CellLimit,
    /// The largest cause in the account; `None` on a real target.
    pub account: Option<Limit>,
}

/// The ranking of choices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Best {
    /// The best choice, and those that are worse by no more than the margin.
    pub best: Vec<usize>,
    /// All choices with figures, the best first; those that break a limit come last.
    pub standings: Vec<RankedChoice>,
    /// Figures without which the answer would differ, with that answer.
    pub rests_on: Vec<RestsOn>,
    /// Share of resamples in which the order of the first two holds, if repetitions were resampled.
    pub holds: Option<f64>,
}

/// A choice with its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedChoice {
    /// Index of the choice.
    pub choice: usize,
    /// Score relative to the best over all figures: 1 for the best itself.
    pub of_best: f64,
    /// Limit of the use that it breaks.
    pub out: Option<Out>,
}

/// A figure that the answer depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestsOn {
    /// Index of the figure.
    pub figure: usize,
    /// Choices that would be the best without it.
    pub instead: Vec<usize>,
}

/// Change of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Index of the figure.
    pub figure: usize,
    /// Value before the change.
    pub from: f64,
    /// Value after the change.
    pub to: f64,
    /// Direction of the change.
    pub becomes: Becomes,
}

/// How a figure runs over an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AxisFit {
    /// Index of the figure.
    pub figure: usize,
    /// Least-squares line over the axis in its base unit.
    pub line: FittedLine,
    /// Whether the figure follows the line.
    pub on_line: bool,
    /// Base unit of the axis.
    pub along: Along,
}

/// Conclusion of the article, compared with the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArticleView {
    /// The conclusion, in a few words.
    pub says: Text,
    /// The conclusion in the form of an answer, if it has one.
    pub conclusion: Option<Conclusion>,
    /// Whether the figures lead to the same conclusion; `None` if the article leaves it to the
    /// reader.
    pub agreement: Option<Agreement>,
    /// Reason why they do not, if known.
    pub why: Option<Text>,
}

/// Whether figures lead to the conclusion of an article.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// They do.
    Agrees,
    /// They do for some of the figures, or with other choices that are as good.
    Partly,
    /// They lead to another conclusion.
    Differs,
    /// The figures cannot decide.
    CannotBeTold,
    /// They do, but only because the model was given what the article says.
    WasGiven,
}

/// Finds a choice by its key, regardless of how a value is spelled.
pub(super) fn place_of(choices: &[Choice], key: &str) -> Option<usize> {
    choices.iter().position(|choice| is_same_value(&choice.key, key))
}
