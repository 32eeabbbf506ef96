//! Pivot of all runs: their differences form rows and columns, and each cell of their profiles
//! forms a group.
//!
//! Every run is evaluated by the keys. The last key gives the columns, the others give the rows. A
//! run that lacks a key has no place and is counted. At each place, a group has the mean of the
//! cell's figures over the runs, so the run is the unit. A single run has no spread among runs, so
//! the spread of its repetitions is used. Only equal cells are combined, and only if their figures
//! are comparable. Otherwise (a mean and a best value, a model and a device) they are shown
//! separately. All other differences are reported.
//!
//! With a baseline, every place is compared with the one where that key has the baseline's value
//! and all others are the same.

mod differ;
mod keys;
mod layout;
mod runs;
mod sums;

pub use differ::PivotDifference;
pub use keys::{KeySource, PivotKey, PivotWords};

use crate::key::CellName;
use keys::{is_meant, natural};
use kurabe_core::mention::{BY, LIST};
use kurabe_core::{Error, ErrorKind, Result, Text, closest, digest::Digests, record::RunSummary, text};
use kurabe_stats::Judged;
use layout::PivotLayout;
use runs::{DigestWords, RunFacts};
use serde::Serialize;

/// A request for a pivot.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PivotRequest {
    /// Keys. The last one gives the columns.
    pub by: Vec<String>,
    /// The baseline as `VALUE` or `KEY=VALUE`.
    pub baseline: Option<String>,
    /// Restricts the runs to this profile.
    pub profile: Option<String>,
    /// Restricts the cells to those whose name contains these words.
    pub cell: Option<String>,
    /// Restricts the runs to those with these values.
    pub filters: Vec<(String, String)>,
    /// A relative difference below this does not matter.
    pub margin: f64,
}

impl PivotRequest {
    /// Returns how many characters of the date determine the place of a run. Returns `None` if each
    /// run has a separate place.
    pub fn day_chars(&self) -> Option<usize> {
        let keys = self.by.iter().chain(self.filters.iter().map(|(key, _)| key));
        let chars = keys.map(|key| KeySource::day_chars(key));
        chars.into_iter().try_fold(0, |most, chars| Some(most.max(chars?)))
    }
}

/// Runs laid out in a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pivot {
    /// The keys. The last one gives the columns.
    pub keys: Vec<PivotKey>,
    /// The baseline of the comparison.
    pub baseline: Option<Baseline>,
    /// A relative difference below this does not matter.
    pub margin: f64,
    /// Number of runs with a place.
    pub run_count: usize,
    /// Values of the keys of each row. With a single key, there is one row without values.
    pub rows: Vec<Vec<Text>>,
    /// Values of the key of the columns.
    pub columns: Vec<Text>,
    /// Places with their runs.
    pub places: Vec<PivotPlace>,
    /// The cells.
    pub groups: Vec<Group>,
    /// Other differences, those with the largest weight first.
    pub differences: Vec<PivotDifference>,
    /// Keys that some runs lack, with the number of these runs.
    pub lacking: Vec<(PivotKey, usize)>,
    /// Ids of runs whose records cannot be read.
    pub unreadable: Vec<String>,
}

/// The baseline of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// Index of its key.
    pub key_index: usize,
    /// The value.
    pub value: Text,
}

/// Runs with the same values of all keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PivotPlace {
    /// Index of its row.
    pub row: usize,
    /// Index of its column.
    pub column: usize,
    /// Ids, newest first.
    pub runs: Vec<String>,
}

/// A cell at all places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// The cell, with its newest name.
    pub cell: CellName,
    /// Decisive facts that distinguish these runs from others with the same cell: key, name, value.
    pub apart: Vec<(&'static str, Text, Text)>,
    /// Figures by place.
    pub figures: Vec<PivotFigure>,
}

/// Figure of a cell at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PivotFigure {
    /// Index of its place.
    pub place: usize,
    /// Number of runs.
    pub run_count: u32,
    /// Mean over the runs, in bytes per second or ns.
    pub mean: f64,
    /// Standard deviation among the runs, or among the repetitions of a single run.
    pub deviation: f64,
    /// Half the width of the 95 % interval of the mean, if there are at least two values. `None` if
    /// all repetitions of a model are equal.
    pub half_width: Option<f64>,
    /// Number of repetitions of a single run.
    pub repetition_count: Option<u32>,
    /// Comparison with the baseline. `None` for the baseline itself, and if there is none to
    /// compare with.
    pub compared: Option<Judged>,
    #[serde(skip)]
    modelled: bool,
}

/// Lays out runs, given in the order of the list, newest last. Runs without a digest are omitted.
///
/// # Errors
/// When a key, a value, a profile or a cell is unknown, or no run remains.
pub fn pivot(
    runs: &[RunSummary],
    digests: &Digests,
    request: &PivotRequest,
    spoken: &PivotWords,
) -> Result<Pivot> {
    let words = DigestWords::read(digests, spoken.value);
    let by_id = digests.by_id();
    let lines: Vec<RunFacts<'_>> = runs
        .iter()
        .rev()
        .filter_map(|run| Some(words.line(run, by_id.get(run.id.as_str()).copied()?)))
        .collect();
    let keys =
        request.by.iter().map(|word| PivotKey::read(word, runs, spoken)).collect::<Result<Vec<_>>>()?;
    if let Some(place) = (1..keys.len()).find(|place| keys[..*place].contains(&keys[*place])) {
        let key = &keys[place].key;
        return Err(ErrorKind::Usage
            .error(text!("{BY} contains `{key}` twice", "{BY} に `{key}` が 2 回あります"))
            .remedy(text!("name each key once", "キーは 1 回ずつ書いてください")));
    }
    let lines = select(lines, runs, request, spoken)?;
    let mut layout = PivotLayout::new(&keys, lines, words.facts.len(), *spoken)?;
    layout.sort(&keys);
    let baseline = request.baseline.as_ref().map(|words| layout.baseline(&keys, words)).transpose()?;
    let apart = layout.watch.apart();
    let mut groups = layout.groups(&words, &apart, request.cell.as_deref())?;
    if let Some(baseline) = &baseline {
        layout.compare(&mut groups, baseline, request.margin);
    }
    let differences = layout.watch.differences(&apart, |word| words.facts.get(word).cloned().flatten());
    Ok(Pivot {
        baseline,
        margin: request.margin,
        run_count: layout.placed.iter().map(|(_, line)| line.run_count()).sum(),
        rows: layout.rows,
        columns: layout.columns,
        places: layout.places,
        groups,
        differences,
        lacking: keys.iter().cloned().zip(layout.lacking).filter(|(_, count)| *count > 0).collect(),
        unreadable: digests.unreadable.clone(),
        keys,
    })
}

/// Returns the runs that pass the filters.
fn select<'a>(
    mut lines: Vec<RunFacts<'a>>,
    runs: &[RunSummary],
    request: &PivotRequest,
    spoken: &PivotWords,
) -> Result<Vec<RunFacts<'a>>> {
    let profile = request.profile.iter().map(|name| ("profile".to_owned(), name.clone()));
    for (word, value) in profile.chain(request.filters.iter().cloned()) {
        let key = PivotKey::read(&word, runs, spoken)?;
        let mut values: Vec<String> = Vec::new();
        lines.retain(|line| {
            let Some(own) = key.value(line) else { return false };
            let fits = is_meant(&own, &value);
            if !fits && !values.contains(&own.en) {
                values.push(own.en);
            }
            fits
        });
        if lines.is_empty() {
            let key = &key.key;
            return Err(unknown_value(
                text!("no run has {key} = {value}", "{key} = {value} の測定はありません"),
                &value,
                &mut values,
            ));
        }
    }
    Ok(lines)
}

/// Maximum number of values listed in an error.
const NAMED: usize = 12;

fn unknown_value(message: Text, word: &str, values: &mut [String]) -> Error {
    values.sort_by(|a, b| natural(a, b));
    let error = ErrorKind::NoSuchRun.error(message);
    let names: Vec<&str> = values.iter().map(String::as_str).collect();
    if names.is_empty() {
        return error
            .remedy(text!("check the stored runs in `{LIST}`", "`{LIST}` ですべての測定を確認できます"));
    }
    let more = if names.len() > NAMED { ", …" } else { "" };
    let listed = names[..names.len().min(NAMED)].join(", ");
    error.remedy(match closest(word, &names) {
        Some(name) => text!(
            "did you mean `{name}`? (available: {listed}{more})",
            "`{name}` ではありませんか(あるもの: {listed}{more})"
        ),
        None => text!("available: {listed}{more}", "あるもの: {listed}{more}"),
    })
}

#[cfg(test)]
mod tests;
