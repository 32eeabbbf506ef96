//! Comparisons for other programs: the types of `kurabe-compare` with their facts in words.

use crate::compare::answer;
use crate::compare::facts::{Spoken, name, value};
use kurabe_compare::{Difference, History, Pair, Recommendation};
use kurabe_core::Text;
use serde::Serialize;

/// A comparison with the other differences as text.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenPair<'a> {
    #[serde(flatten)]
    pair: &'a Pair,
    /// The other differences.
    differences: Vec<Spoken>,
}

impl<'a> From<&'a Pair> for SpokenPair<'a> {
    fn from(pair: &'a Pair) -> Self {
        Self { pair, differences: spoken(&pair.differences) }
    }
}

/// Comparisons of several runs with the first.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenPairs<'a> {
    /// The fastest run, in a sentence.
    pub fastest: Option<Text>,
    /// Each comparison in a sentence.
    pub answers: Vec<Text>,
    /// Each comparison cell by cell.
    pub comparisons: Vec<SpokenPair<'a>>,
}

impl<'a> SpokenPairs<'a> {
    /// Creates the comparisons. `fastest` is the sentence that names the fastest run.
    pub fn new(pairs: &'a [Pair], fastest: Option<Text>) -> Self {
        Self {
            fastest,
            answers: pairs.iter().map(answer).collect(),
            comparisons: pairs.iter().map(SpokenPair::from).collect(),
        }
    }
}

/// A ranking with its doubts as text.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenRecommendation<'a> {
    #[serde(flatten)]
    recommendation: &'a Recommendation,
    /// Differences that may make the figures of these runs incomparable.
    doubts: Vec<Spoken>,
}

impl<'a> From<&'a Recommendation> for SpokenRecommendation<'a> {
    fn from(recommendation: &'a Recommendation) -> Self {
        Self { recommendation, doubts: spoken(&recommendation.doubts) }
    }
}

/// A history with the other changes as text.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenHistory<'a> {
    #[serde(flatten)]
    history: &'a History,
    /// Comparison of the newest run with the oldest.
    change: SpokenPair<'a>,
}

impl<'a> From<&'a History> for SpokenHistory<'a> {
    fn from(history: &'a History) -> Self {
        Self { history, change: (&history.change).into() }
    }
}

fn spoken(differences: &[Difference]) -> Vec<Spoken> {
    differences.iter().map(Spoken::from).collect()
}

/// A fact that the user asked about, in two records.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedFact {
    /// Key of the fact.
    pub fact: &'static str,
    /// Display name of the fact.
    pub name: Text,
    /// Whether the fact differs.
    pub differs: bool,
    /// Value in the first run, if it is recorded.
    pub baseline: Option<Text>,
    /// Value in the other run, if it is recorded.
    pub other: Option<Text>,
}

/// Returns the facts of a comparison that the user asked about.
pub fn asked_facts(pair: &Pair, about: &[String]) -> Vec<AskedFact> {
    let asked = pair.facts.iter().filter(|fact| about.iter().any(|word| word == fact.fact.word()));
    let in_words = |asked: &Difference| AskedFact {
        fact: asked.fact.word(),
        name: name(asked.fact),
        differs: asked.differs(),
        baseline: asked.baseline.as_ref().map(|of_run| value(Some(of_run))),
        other: asked.other.as_ref().map(|of_run| value(Some(of_run))),
    };
    asked.map(in_words).collect()
}
