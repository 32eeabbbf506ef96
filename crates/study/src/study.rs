//! Studies: the targets to measure, the questions to answer, and the layout of the results.
//!
//! A study has parts, each of which is a table. A part measures with one profile. Its rows are
//! targets, multiplied by the values of its axes; its columns are figures taken from each run. A
//! row may be divided by another target, which makes every figure a ratio. Published figures come
//! from the catalogue. The status of a figure (source, calibrated, predicted), and why one cannot
//! be reached, is written next to the row in the study's file.
//!
//! # To add a study
//!
//! - Add the published figures first: a table in `catalogue/` as printed, named in `CATALOGUE`
//!   (`catalogue.rs`).
//! - Write `studies/NAME.toml` (docs/studies.md) and add its name to `STUDIES`. Mark a fitted value
//!   `calibrated`, one chosen because of the article's statements `assumed`, and a figure that the
//!   model does not reach `unreachable`.
//! - Each `[[question]]` names the figures that decide it and the article's conclusion; use
//!   `ask = "untold"` if no figure can decide it.
//! - A new way to decide is a variant of `Ask`: read it in `question/read.rs`, decide it in
//!   `verdict/decide.rs`, compare it with the article in `verdict/agree.rs`, and word it in
//!   `report/study/answers.rs`.

mod read;

pub(crate) use read::read_unique;

use crate::published::Published;
use crate::result::ColumnResult;
use crate::{axis::StudyAxis, catalogue::Catalogue, figure::FigureSource, question::Question};
use kurabe_core::library::{is_path, names, text_named};
use kurabe_core::outside::text_of_file;
use kurabe_core::profile::Profile;
use kurabe_core::{ErrorKind, Result, Text, library, nearest, shown, text};
use kurabe_profile::profile_named;
use serde::{Serialize, Serializer};
use std::ops::Deref;
use std::path::PathBuf;

/// Name and text of every study, in the order in which they are listed.
pub const STUDIES: &[(&str, &str)] = library!["studies", ".toml":
    "scsi-emulators",
    "scsi-emulators-today",
    "raid-card",
    "raid-strip",
    "usb-exfat-apfs",
    "sata-usb",
    "toshiba-ssd",
    "crystaldiskmark",
    "arrays",
    "hard-disks-today",
];

/// Profiles that only studies use.
const STUDY_PROFILES: &[(&str, &str)] = library!["studies/profiles", ".toml":
    "unfinished-write", "pull-replay", "sequential-file", "beside-writes", "side-by-side",
    "sync-8k", "array-write", "rewriting", "disk-start", "durable-8k",
];

/// Traces that these profiles replay.
pub const TRACES: &[(&str, &str)] = library!["studies/traces", "": "git-pull.iolog"];

/// A study, as read from its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name, question and source, which the result repeats.
    pub head: StudyHead,
    /// Tables.
    pub parts: Vec<Part>,
    /// Questions about the figures.
    pub questions: Vec<Question>,
}

/// Name, question and source of a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyHead {
    /// Name of the study.
    #[serde(rename = "study")]
    pub name: String,
    /// Question that the study answers.
    pub title: Text,
    /// The article whose experiment it repeats.
    pub source: Option<String>,
    /// Remarks.
    pub note: Option<Text>,
    /// Run whose account explains the result.
    pub why: Option<WhyRun>,
}

impl Deref for Study {
    type Target = StudyHead;

    fn deref(&self) -> &StudyHead {
        &self.head
    }
}

/// A run of a model whose account, layer by layer, explains the result of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyRun {
    /// Name of the model.
    pub model: String,
    /// Changed parameters: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// Name of the profile.
    pub profile: String,
    /// Cell to show, by its number or part of its name.
    pub cell: Option<String>,
}

/// A table of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its id, title and axes, which the result repeats.
    pub head: PartHead,
    /// Profile to run, with the study's own changes; every step has a name.
    pub profile: Profile,
    /// Columns.
    pub columns: Vec<StudyColumn>,
    /// Rows.
    pub rows: Vec<StudyRow>,
}

/// Id, title and axes of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartHead {
    /// Id within the study.
    pub id: String,
    /// Title.
    pub title: Text,
    /// Remarks on its figures.
    pub note: Option<Text>,
    /// Catalogue table that it is compared with.
    pub catalogue: Option<String>,
    /// Parameters that vary in every row.
    pub axes: Vec<StudyAxis>,
    /// Whether the devices are the columns of the table, rather than its rows.
    #[serde(skip)]
    pub devices_across: bool,
}

impl Deref for Part {
    type Target = PartHead;

    fn deref(&self) -> &PartHead {
        &self.head
    }
}

/// A column: one figure of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyColumn {
    /// Heading, as in the result.
    pub head: ColumnResult,
    /// Where the figure is found in a run.
    pub figure: FigureSource,
}

/// A row: a target with changed parameters.
///
/// It serializes what `kurabe study show` prints of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyRow {
    /// Id within the part, if questions refer to it.
    #[serde(skip)]
    pub id: Option<String>,
    /// Label; `null` if the row is named after the device that is measured.
    pub label: Option<Text>,
    /// Name of the model; `null` if the row is measured on a real target only.
    pub model: Option<String>,
    /// Real target that is measured unless the user names another. Models have none.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shown_target")]
    pub target: Option<PathBuf>,
    /// Changed parameters: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// Name by which the user can set the real target.
    pub on: Option<String>,
    /// Model in the denominator, if the figures are ratios, with its changed parameters.
    #[serde(serialize_with = "model_of_pair")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub over: Option<(String, Vec<(String, String)>)>,
    /// Step that replaces `{step}` in figures.
    #[serde(skip)]
    pub step: Option<String>,
    /// Profile of the row, if it changes the rules of the part's.
    #[serde(skip)]
    pub profile: Option<Profile>,
    /// Parameters of unknown value, each with the lowest and highest plausible value.
    #[serde(skip)]
    pub unknown: Vec<StudyAxis>,
    /// Published figures, one place for each column.
    #[serde(skip)]
    pub published: Vec<Option<Published>>,
    /// Marks of single figures.
    #[serde(skip)]
    pub marks: Vec<FigureMark>,
}

fn shown_target<S: Serializer>(target: &Option<PathBuf>, to: S) -> std::result::Result<S::Ok, S::Error> {
    target.as_deref().map(shown::name).serialize(to)
}

fn model_of_pair<S: Serializer>(
    over: &Option<(String, Vec<(String, String)>)>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    over.as_ref().map(|(model, _)| model).serialize(to)
}

/// Status of a figure that is not a plain prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureMark {
    /// Key of the column.
    pub column: String,
    /// Kind of mark.
    pub kind: MarkKind,
    /// Figure that it is calibrated on, source that it follows from, or reason why it cannot be
    /// reached.
    pub reason: Text,
}

/// Status that a mark gives to a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// It repeats one of the sources of the model's parameters.
    Source,
    /// A parameter of the model was chosen so that the model reproduces this figure.
    Calibrated,
    /// It depends on a parameter without a source, which was chosen to match statements about this
    /// figure.
    Assumed,
    /// The published figure cannot be right.
    Anomaly,
    /// The model does not reach it, for the reason given.
    Unreachable,
}

/// Loads a built-in study.
///
/// # Errors
/// If no study has this name; the error suggests the nearest.
pub fn study_named(name: &str, catalogue: &Catalogue) -> Result<Study> {
    match text_named(STUDIES, name) {
        Some(source) => Study::parse(&format!("studies/{name}.toml"), source, catalogue),
        None => Err(ErrorKind::Usage
            .error(text!("there is no study named `{name}`", "`{name}` というスタディはありません"))
            .remedy(nearest(name, &names(STUDIES)))),
    }
}

/// Loads a study by name, or from the user's file if `name` looks like a path.
///
/// # Errors
/// If the study does not exist or its file is not valid.
pub fn load_study(name: &str, catalogue: &Catalogue) -> Result<Study> {
    if !is_path(name) {
        return study_named(name, catalogue);
    }
    Study::parse(name, &read_file(name)?, catalogue)
}

/// Returns the text of a built-in trace, or `None` if no trace has this name.
pub fn embedded_trace(name: &str) -> Option<&'static str> {
    text_named(TRACES, name)
}

/// Returns the text of a profile that only studies use, or `None` if no profile has this name.
pub fn embedded_profile(name: &str) -> Option<&'static str> {
    text_named(STUDY_PROFILES, name)
}

/// Loads a profile by name, or from a file.
pub(crate) fn load_profile(name: &str) -> Result<Profile> {
    if is_path(name) {
        kurabe_profile::parse_profile(name, &read_file(name)?)
    } else {
        own_or_named_profile(name)
    }
}

/// Loads a built-in profile: one of the studies' own, or one of the library.
///
/// # Errors
/// If no profile has this name; the error suggests the nearest.
pub fn own_or_named_profile(name: &str) -> Result<Profile> {
    match embedded_profile(name) {
        Some(source) => kurabe_profile::parse_profile(&format!("studies/profiles/{name}.toml"), source),
        None => profile_named(name),
    }
}

fn read_file(name: &str) -> Result<String> {
    text_of_file(name, &text!("cannot read {name}", "{name} を読めません"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_valid_and_named_as_its_file() {
        let catalogue = Catalogue::load().unwrap();
        for (name, _) in STUDIES {
            let study = study_named(name, &catalogue)
                .unwrap_or_else(|error| panic!("{}", error.render(Default::default())));
            assert_eq!(study.name, *name);
            for part in &study.parts {
                assert!(!part.rows.is_empty() && !part.columns.is_empty(), "{name} {}", part.id);
            }
        }
    }

    #[test]
    fn every_file_of_the_folders_is_listed() {
        let listed = |list: &[(&str, &str)]| -> Vec<String> {
            let mut names: Vec<String> = list.iter().map(|(name, _)| (*name).to_owned()).collect();
            names.sort();
            names
        };
        let files = |folder: &str| -> Vec<String> {
            let folder = format!("{}/../../studies/{folder}", env!("CARGO_MANIFEST_DIR"));
            let mut names: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap())
                .filter(|entry| entry.file_type().unwrap().is_file())
                .map(|entry| entry.file_name().into_string().unwrap().replace(".toml", ""))
                .filter(|name| !name.ends_with(".md"))
                .collect();
            names.sort();
            names
        };
        assert_eq!(listed(STUDIES), files(""));
        assert_eq!(listed(STUDY_PROFILES), files("profiles"));
        assert_eq!(listed(TRACES), files("traces"));
    }

    #[test]
    fn every_replay_of_a_study_finds_its_trace() {
        use kurabe_core::profile::Step;
        for (name, _) in STUDY_PROFILES {
            for step in load_profile(name).unwrap().steps {
                if let Step::Replay(step) = step {
                    assert!(embedded_trace(&step.trace).is_some(), "{name}: {}", step.trace);
                }
            }
        }
    }

    /// Rows of drives without a model. The note of the part names them, so that readers do not
    /// think they were overlooked.
    const WITHOUT_A_MODEL: [&str; 2] = ["kioxia-xg6-512gb", "raid10-wd1001fals"];

    #[test]
    fn every_row_of_a_table_that_a_study_stands_beside_is_in_the_study() {
        let catalogue = Catalogue::load().unwrap();
        let studies: Vec<Study> =
            STUDIES.iter().map(|(name, _)| study_named(name, &catalogue).unwrap()).collect();
        for table in &catalogue.tables {
            let beside = |part: &&Part| part.catalogue.as_deref() == Some(&table.id);
            let parts: Vec<&Part> = studies.iter().flat_map(|study| &study.parts).filter(beside).collect();
            let shown: Vec<Published> = parts
                .iter()
                .flat_map(|part| &part.rows)
                .flat_map(|row| row.published.iter().flatten().copied())
                .collect();
            for row in table.rows.iter().filter(|_| !parts.is_empty()) {
                let (table, id) = (&table.id, &row.id);
                let mut figures = row.figures.iter().flatten().peekable();
                let is_empty = figures.peek().is_none() || WITHOUT_A_MODEL.contains(&id.as_str());
                assert!(is_empty || figures.any(|figure| shown.contains(figure)), "{table}/{id}");
            }
        }
    }

    #[test]
    fn no_label_is_left_in_english_or_is_a_bare_model_name() {
        let catalogue = Catalogue::load().unwrap();
        for (name, _) in STUDIES {
            let study = study_named(name, &catalogue).unwrap();
            for row in study.parts.iter().flat_map(|part| &part.rows) {
                let Text { en, ja, .. } = row.label.as_ref().unwrap();
                let english = ["image", "drive", "mirror", "without"].iter().any(|word| ja.contains(word));
                assert!(!english && Some(en) != row.model.as_ref(), "{name}: {en} | {ja}");
            }
        }
    }
}
