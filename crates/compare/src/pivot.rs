//! All runs as a pivot: what they differ in becomes rows and columns, and each cell of their profiles a group.
//!
//! The model: the keys are asked of every run; the last one makes the columns, those before it the rows. A run that does not
//! tell one of them has no place and is counted. At a place a group holds the mean over its runs of what the cell came to in
//! each: the run is the unit. A single run has no spread among runs, so its repetitions stand in. Only cells that are the
//! same are put together, and none whose figures cannot be (a mean and a best value, a model and a device): those are shown
//! apart. Whatever else differed is said.
//!
//! With a baseline every place is held against the one where that key has the baseline's value and all others are the same.

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

/// What is asked of a pivot.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PivotRequest {
    /// Keys; the last makes the columns.
    pub by: Vec<String>,
    /// `VALUE` or `KEY=VALUE` that all others are held against.
    pub baseline: Option<String>,
    /// Only runs of this profile.
    pub profile: Option<String>,
    /// Only cells whose name has these words.
    pub cell: Option<String>,
    /// Only runs that have these values.
    pub filters: Vec<(String, String)>,
    /// A difference below this share does not matter.
    pub margin: f64,
}

impl PivotRequest {
    /// How many letters of the day of measuring decide about the place of a run; `None` where each run has a place of its own.
    pub fn day_chars(&self) -> Option<usize> {
        let keys = self.by.iter().chain(self.filters.iter().map(|(key, _)| key));
        let chars = keys.map(|key| KeySource::day_chars(key));
        chars.into_iter().try_fold(0, |most, chars| Some(most.max(chars?)))
    }
}

/// Runs laid out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pivot {
    /// The keys; the last makes the columns.
    pub keys: Vec<PivotKey>,
    /// What all others are held against.
    pub baseline: Option<Baseline>,
    /// A difference below this share does not matter.
    pub margin: f64,
    /// Runs that have a place.
    pub run_count: usize,
    /// Values of the keys that make the rows; a single row without values if one key is all.
    pub rows: Vec<Vec<Text>>,
    /// Values of the key that makes the columns.
    pub columns: Vec<Text>,
    /// Where runs stand, and which.
    pub places: Vec<PivotPlace>,
    /// The cells.
    pub groups: Vec<Group>,
    /// What else differed, the weightiest first.
    pub differences: Vec<PivotDifference>,
    /// Keys that some runs do not tell, and how many these are.
    pub lacking: Vec<(PivotKey, usize)>,
    /// Ids of runs whose records cannot be read.
    pub unreadable: Vec<String>,
}

/// A value that others are held against.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// Place of its key among the keys.
    pub key_index: usize,
    /// The value.
    pub value: Text,
}

/// Runs with the same values of all keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PivotPlace {
    /// Place of its row.
    pub row: usize,
    /// Place of its column.
    pub column: usize,
    /// Ids, the newest first.
    pub runs: Vec<String>,
}

/// A cell in all places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// The cell, by its newest name.
    pub cell: CellName,
    /// What these runs have in common that others with the same cell have not, and that decides: key, what it is, value.
    pub apart: Vec<(&'static str, Text, Text)>,
    /// Its figures, by place.
    pub figures: Vec<PivotFigure>,
}

/// What a cell came to at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PivotFigure {
    /// Number of its place.
    pub place: usize,
    /// Runs behind it.
    pub run_count: u32,
    /// Mean over the runs, in bytes per second or ns.
    pub mean: f64,
    /// Standard deviation among the runs; of a single run among its repetitions.
    pub deviation: f64,
    /// Half the width of the 95 % interval of the mean, if there are two values at least; none where all repetitions of a
    /// model come to the same.
    pub half_width: Option<f64>,
    /// Repetitions of a single run.
    pub repetition_count: Option<u32>,
    /// By how much it differs from the baseline; none of the baseline itself, and where there is none to compare with.
    pub compared: Option<Judged>,
    #[serde(skip)]
    modelled: bool,
}

/// Lays out runs, given as the list has them, the newest last; those without a digest are left out.
///
/// # Errors
/// When a key, a value, a profile or a cell is not known, or no run is left.
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
            .error(text!("{BY} names `{key}` twice", "{BY} に `{key}` が 2 回あります"))
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

/// The runs that the filters let through.
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

/// Values that are named in an error.
const NAMED: usize = 12;

fn unknown_value(message: Text, word: &str, values: &mut [String]) -> Error {
    values.sort_by(|a, b| natural(a, b));
    let error = ErrorKind::NoSuchRun.error(message);
    let names: Vec<&str> = values.iter().map(String::as_str).collect();
    if names.is_empty() {
        return error.remedy(text!("`{LIST}` shows all runs", "`{LIST}` ですべての測定を確認できます"));
    }
    let more = if names.len() > NAMED { ", …" } else { "" };
    let listed = names[..names.len().min(NAMED)].join(", ");
    error.remedy(match closest(word, &names) {
        Some(name) => text!(
            "did you mean `{name}`? (there are: {listed}{more})",
            "`{name}` ではありませんか(あるもの: {listed}{more})"
        ),
        None => text!("there are: {listed}{more}", "あるもの: {listed}{more}"),
    })
}

#[cfg(test)]
mod tests;
