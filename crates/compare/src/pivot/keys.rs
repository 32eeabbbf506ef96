//! Keys that lay out runs: facts of the record, labels of the user, and columns of the list.

use super::runs::RunFacts;
use crate::fairness::{Fact, FactValue};
use crate::key::CellName;
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, record::RunSummary, text};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Text of a pivot, passed in by the caller because users refer to values and cells by it.
#[derive(Clone, Copy)]
pub struct PivotWords {
    /// Name of a key.
    pub key: fn(&KeySource) -> Text,
    /// Text of a fact's value, or of a missing value.
    pub value: fn(Option<&FactValue>) -> Text,
    /// Effect of a difference in a fact on the figures.
    pub effect: fn(Fact) -> Option<Text>,
    /// Name of a cell with its direction: `read RND 4 KiB Q1 T1`.
    pub cell: fn(&CellName) -> Text,
}

/// Prefix of a label, and of a fact with the same name as a label.
const LABEL: &str = "label:";
const FACT: &str = "fact:";

/// Keys other than facts. Every run has a value for them.
const OWN: [&str; 5] = ["target", "kind", "date", "month", "run"];

/// A key of a pivot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PivotKey {
    /// The key as an argument: `filesystem`, `label:owner`.
    pub key: String,
    /// Name for display.
    pub name: Text,
    /// Source of its value.
    #[serde(skip)]
    pub source: KeySource,
}

/// Source of a key's value.
#[derive(Clone, Debug, PartialEq)]
pub enum KeySource {
    /// A fact of the record.
    Fact(Fact),
    /// A label of the user.
    Label(String),
    /// The target itself.
    Target,
    /// Day of the measurement.
    Date,
    /// Month of the measurement.
    Month,
    /// The run's id.
    Run,
}

impl KeySource {
    /// Returns how many characters of the date a key needs. Returns `None` if it distinguishes all
    /// runs.
    pub(super) fn day_chars(key: &str) -> Option<usize> {
        match unlabelled(key.strip_prefix(FACT).unwrap_or(key)) {
            Some(Self::Run) => None,
            Some(Self::Date) => Some(10),
            Some(Self::Month) => Some(7),
            _ => Some(0),
        }
    }
}

impl PivotKey {
    /// Returns whether a word refers to this key.
    pub(super) fn is_called(&self, word: &str) -> bool {
        self.key == word || self.key.strip_prefix(LABEL) == Some(word)
    }

    /// Returns the key that a word refers to.
    ///
    /// # Errors
    /// When it refers to none, or to both a fact and a label.
    pub(super) fn read(word: &str, runs: &[RunSummary], words: &PivotWords) -> Result<Self> {
        let labels: BTreeSet<&str> =
            runs.iter().flat_map(|run| run.labels.keys()).map(String::as_str).collect();
        let of =
            |key: &str, source: KeySource| Self { key: key.to_owned(), name: (words.key)(&source), source };
        let of_label = |label: &str| of(&format!("{LABEL}{label}"), KeySource::Label(label.to_owned()));
        let as_label = word.strip_prefix(LABEL);
        if let Some(label) = as_label.filter(|label| labels.contains(label)) {
            return Ok(of_label(label));
        }
        let plain = word.strip_prefix(FACT).unwrap_or(word);
        let fact = unlabelled(plain).map(|source| of(plain, source));
        match (fact, labels.contains(word)) {
            (Some(_), true) => Err(both(word)),
            (Some(fact), false) => Ok(fact),
            (None, true) => Ok(of_label(word)),
            (None, false) => {
                let labels: Vec<String> = labels.iter().map(|label| format!("{LABEL}{label}")).collect();
                let facts = Fact::all().map(Fact::word).filter(|key| !OWN.contains(key));
                let own = OWN.iter().copied().chain(facts);
                let mut keys: Vec<&str> = own.collect();
                keys.extend(labels.iter().map(String::as_str));
                let message = text!(
                    "runs have no key `{word}` for a table",
                    "`{word}` というキーでは測定を並べられません"
                );
                Err(ErrorKind::Usage.error(message).remedy(nearest(word, &keys)))
            }
        }
    }

    /// Returns the value for a run.
    pub(super) fn value(&self, line: &RunFacts<'_>) -> Option<Text> {
        let run = line.run;
        let measured_at = run.measured_at();
        let shown = |words: &str| (!words.is_empty()).then(|| Text::same(words));
        match &self.source {
            KeySource::Fact(fact) => line.fact(*fact).cloned(),
            KeySource::Label(label) => shown(run.labels.get(label)?),
            KeySource::Target => shown(&run.target),
            KeySource::Date => shown(measured_at.get(..10)?),
            KeySource::Month => shown(measured_at.get(..7)?),
            KeySource::Run => shown(&run.id),
        }
    }
}

fn both(word: &str) -> Error {
    ErrorKind::Usage
        .error(text!(
            "`{word}` is both a label and a recorded property",
            "`{word}` はラベルにも、記録された条件にもあります"
        ))
        .remedy(text!(
            "write label:{word} or fact:{word}",
            "label:{word} または fact:{word} と書いてください"
        ))
}

/// Returns the source of a key that is not a label.
fn unlabelled(key: &str) -> Option<KeySource> {
    match key {
        "target" => Some(KeySource::Target),
        "date" => Some(KeySource::Date),
        "month" => Some(KeySource::Month),
        "run" => Some(KeySource::Run),
        // In a comparison of two runs, `target` is the kind of target. Here the name refers to the
        // target itself.
        "kind" => Some(KeySource::Fact(Fact::Target)),
        key => Fact::from_word(key).map(KeySource::Fact),
    }
}

/// Returns whether the user's input matches a value in either language.
pub(super) fn is_meant(value: &Text, words: &str) -> bool {
    [&value.en, &value.ja].into_iter().any(|value| value.to_lowercase() == words.to_lowercase())
}

/// Compares values with embedded numbers numerically, so that 6.10 follows 6.9.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let ((one, rest_a), (two, rest_b)) = (piece(a), piece(b));
        let order = match (one.parse::<u64>(), two.parse::<u64>()) {
            (Ok(one), Ok(two)) => one.cmp(&two),
            _ => one.cmp(two),
        };
        if order != Ordering::Equal || (one.is_empty() && two.is_empty()) {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
}

/// Splits off the leading digits or non-digits.
fn piece(words: &str) -> (&str, &str) {
    let digits = words.starts_with(|c: char| c.is_ascii_digit());
    let end = words.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(words.len());
    words.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_values_count_as_numbers() {
        let mut values = ["6.10", "6.9", "ext4", "6.9-rc1", "", "99999999999999999999999", "1"];
        values.sort_by(|a, b| natural(a, b));
        assert_eq!(values, ["", "1", "6.9", "6.9-rc1", "6.10", "99999999999999999999999", "ext4"]);
    }

    #[test]
    fn every_key_that_is_offered_is_one() {
        for key in OWN.into_iter().chain(Fact::all().map(Fact::word)) {
            assert!(unlabelled(key).is_some(), "{key}");
        }
    }
}
