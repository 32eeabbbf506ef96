//! The keys by which runs are laid out: facts of the record, labels of the user, and what the list shows.

use super::Line;
use crate::fairness::{KEYS, about_all};
use kurabe_core::record::RunSummary;
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, text};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// What stands before the name of a label, and before a fact that has the name of a label.
const LABEL: &str = "label:";
const FACT: &str = "fact:";

/// Keys beside the facts: of these a run always has a value.
const OWN: [&str; 5] = ["target", "kind", "date", "month", "run"];

/// A key of a pivot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PivotKey {
    /// As it can be written: `filesystem`, `label:owner`.
    pub key: String,
    /// What it is.
    pub name: Text,
    #[serde(skip)]
    pub(super) source: Source,
}

/// Where the value of a key is found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    /// The fact of this place in `KEYS`.
    Fact(usize),
    Label(String),
    Target,
    /// So many letters of the time of measuring.
    Date(usize),
    Run,
}

impl PivotKey {
    /// Whether a word means this key.
    pub(super) fn is_called(&self, word: &str) -> bool {
        self.key == word || self.key.strip_prefix(LABEL) == Some(word)
    }

    /// The key that a word means.
    ///
    /// # Errors
    /// When it means none, or both a fact and a label.
    pub(super) fn read(word: &str, runs: &[RunSummary]) -> Result<Self> {
        let labels: BTreeSet<&str> =
            runs.iter().flat_map(|run| run.labels.keys()).map(String::as_str).collect();
        let of_label = |label: &str| Self {
            key: format!("{LABEL}{label}"),
            name: Text::same(label),
            source: Source::Label(label.to_owned()),
        };
        let as_label = word.strip_prefix(LABEL);
        if let Some(label) = as_label.filter(|label| labels.contains(label)) {
            return Ok(of_label(label));
        }
        let fact = fact(word.strip_prefix(FACT).unwrap_or(word));
        match (fact, labels.contains(word)) {
            (Some(_), true) => Err(both(word)),
            (Some(fact), false) => Ok(fact),
            (None, true) => Ok(of_label(word)),
            (None, false) => {
                let labels: Vec<String> = labels.iter().map(|label| format!("{LABEL}{label}")).collect();
                let own = OWN.iter().copied().chain(KEYS.iter().copied().filter(|key| !OWN.contains(key)));
                let known: Vec<&str> = own.chain(labels.iter().map(String::as_str)).collect();
                let what = text!(
                    "runs have no key `{word}` to be laid out by",
                    "`{word}` というキーでは測定を並べられません"
                );
                Err(Error::new(ErrorKind::Usage, what).remedy(nearest(word, &known)))
            }
        }
    }

    /// The value that a run has.
    pub(super) fn value(&self, line: &Line<'_>) -> Option<Text> {
        let run = line.run;
        let shown = |words: &str| (!words.is_empty()).then(|| Text::same(words));
        match &self.source {
            Source::Fact(place) => line.fact(*place).cloned(),
            Source::Label(label) => shown(run.labels.get(label)?),
            Source::Target => shown(&run.target),
            Source::Date(letters) => {
                shown(run.measured_at.as_ref().unwrap_or(&run.started_at).get(..*letters)?)
            }
            Source::Run => shown(&run.id),
        }
    }
}

fn both(word: &str) -> Error {
    Error::new(
        ErrorKind::Usage,
        text!(
            "`{word}` is both a label of yours and what the records tell",
            "`{word}` はラベルにも、記録された条件にもあります"
        ),
    )
    .remedy(text!("write label:{word} or fact:{word}", "label:{word} または fact:{word} と書いてください"))
}

/// A key that is no label.
fn fact(word: &str) -> Option<PivotKey> {
    let key = |name, source| Some(PivotKey { key: word.to_owned(), name, source });
    let of_fact = |wanted: &str| {
        about_all()
            .into_iter()
            .enumerate()
            .find_map(|(place, about)| (about.key == wanted).then_some((place, about.name)))
    };
    match word {
        "target" => key(text!("target", "対象"), Source::Target),
        "date" => key(text!("date", "日付"), Source::Date(10)),
        "month" => key(text!("month", "月"), Source::Date(7)),
        "run" => key(text!("run", "測定"), Source::Run),
        // What two runs are compared by under the name `target` is its kind; here the name means the target itself.
        "kind" => of_fact("target").and_then(|(place, name)| key(name, Source::Fact(place))),
        other => of_fact(other).and_then(|(place, name)| key(name, Source::Fact(place))),
    }
}

/// Whether a value is what the user wrote, in either language.
pub(super) fn is_meant(value: &Text, words: &str) -> bool {
    [&value.en, &value.ja].into_iter().any(|value| value.to_lowercase() == words.to_lowercase())
}

/// The order of values: numbers in them count as numbers, so that 6.10 comes behind 6.9.
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

/// The digits, or what is no digit, at the beginning; and the rest.
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
        for key in OWN.iter().chain(KEYS) {
            assert!(fact(key).is_some(), "{key}");
        }
        assert_eq!(fact("kind").unwrap().name.en, "kind of target");
    }
}
