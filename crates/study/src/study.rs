//! Studies: what is asked of which targets, and how the answers are laid out.
//!
//! The model: a study has parts, each a table. A part measures with one profile; its rows are targets, times the values
//! of its axes; its columns are figures taken out of each run. A row may be put over another target, which makes every
//! figure a ratio. Published figures come from the catalogue; what a figure is (source, calibrated, predicted) and why
//! one cannot be reached stands in the file, beside the row.
//!
//! # To add a study
//!
//! - Add the published figures first: a table in `catalogue/` as printed, named in `CATALOGUE` (`catalogue.rs`).
//! - Write `studies/NAME.toml` (docs/studies.md) and add its name to `STUDIES`. A fitted value is marked `calibrated`, one
//!   chosen because of the article's words `assumed`, and a figure that the model doesn't reach `unreachable`.
//! - Each `[[question]]` says what decides it and what the article concludes; `ask = "untold"` if no figure can.
//! - A new way to decide is a variant of `Ask`: read it in `question/read.rs`, decide it in `verdict/decide.rs`, compare it
//!   with the article in `verdict/agree.rs`, and word it in `report/study/answers.rs`.

mod read;

pub(crate) use read::read_unique;

use crate::published::Published;
use crate::result::ColumnResult;
use crate::{axis::StudyAxis, catalogue::Catalogue, figure::FigureSource, question::Question};
use kurabe_core::library::{is_path, names, text_named};
use kurabe_core::outside::text_of_file;
use kurabe_core::profile::Profile;
use kurabe_core::profile_library::profile_named;
use kurabe_core::{ErrorKind, Result, Text, library, nearest, text};
use serde::Serialize;

/// Name and text of every study, in the order in which they are listed.
pub const STUDIES: &[(&str, &str)] = library!["studies", ".toml":
    "scsi-emulators",
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

/// A study as its file tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub title: Text,
    /// The article whose experiment it repeats.
    pub source: Option<String>,
    /// What to know.
    pub note: Option<Text>,
    /// Its tables.
    pub parts: Vec<Part>,
    /// What it asks of their figures.
    pub questions: Vec<Question>,
    /// The run whose account shows what it is about.
    pub why: Option<WhyRun>,
}

/// A run of a model whose account, layer by layer, shows what a study is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyRun {
    /// The model.
    pub model: String,
    /// Changed parameters: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// The profile.
    pub profile: String,
    /// The cell to look at, by its number or by words of its name.
    pub cell: Option<String>,
}

/// A table of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name within the study.
    pub id: String,
    /// What it shows.
    pub title: Text,
    /// What to know of its figures.
    pub note: Option<Text>,
    /// What is measured, changes of the study's own included; every step has a name.
    pub profile: Profile,
    /// The table of the catalogue that stands beside.
    pub catalogue: Option<String>,
    /// Its columns.
    pub columns: Vec<StudyColumn>,
    /// Parameters that every row goes through.
    pub axes: Vec<StudyAxis>,
    /// Its rows.
    pub rows: Vec<StudyRow>,
}

/// A figure of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyColumn {
    /// What it tells, as the result has it.
    pub head: ColumnResult,
    /// Where it is found in a run.
    pub figure: FigureSource,
}

/// A row: a target with changed parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// Its name within the part, if questions speak of it.
    pub id: Option<String>,
    /// What it is called.
    pub label: Text,
    /// The model.
    pub model: String,
    /// Changed parameters: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// The model below the line, if the figures are ratios, with its changed parameters.
    pub over: Option<(String, Vec<(String, String)>)>,
    /// What `{step}` in a figure stands for.
    pub step: Option<String>,
    /// The name by which a real target can take the model's place.
    pub on: Option<String>,
    /// The part's profile, if this row changes its rules.
    pub profile: Option<Profile>,
    /// Parameters that nobody tells, each with the ends of what it may be.
    pub unknown: Vec<StudyAxis>,
    /// Published figures, one place for each column.
    pub published: Vec<Option<Published>>,
    /// What single figures of the row are.
    pub marks: Vec<FigureMark>,
}

/// What a figure is, where it is no plain prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureMark {
    /// The column's key.
    pub column: String,
    /// What it is.
    pub kind: MarkKind,
    /// On what it is calibrated, from where it follows, or why it cannot be reached.
    pub reason: Text,
}

/// Kinds of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// It follows from the parameters' sources alone, and repeats one of them.
    Source,
    /// A parameter of the model was chosen so that this figure comes out.
    Calibrated,
    /// It rests on a parameter for which there is no source, and which was chosen in view of what is said of this figure.
    Assumed,
    /// The published figure cannot be what it says.
    Anomaly,
    /// The model does not reach it, and why.
    Unreachable,
}

/// A study that comes with kurabe.
///
/// # Errors
/// When there is none of this name; the nearest is named.
pub fn study_named(name: &str, catalogue: &Catalogue) -> Result<Study> {
    match text_named(STUDIES, name) {
        Some(source) => Study::parse(&format!("studies/{name}.toml"), source, catalogue),
        None => Err(ErrorKind::Usage
            .error(text!("there is no study named `{name}`", "`{name}` というスタディはありません"))
            .remedy(nearest(name, &names(STUDIES)))),
    }
}

/// A study by name, or from a file of the user's own if `name` looks like a path.
///
/// # Errors
/// When there is none, or its file is wrong.
pub fn load_study(name: &str, catalogue: &Catalogue) -> Result<Study> {
    if !is_path(name) {
        return study_named(name, catalogue);
    }
    Study::parse(name, &read_file(name)?, catalogue)
}

/// The text of a trace that comes with kurabe, if it has one of this name.
pub fn embedded_trace(name: &str) -> Option<&'static str> {
    text_named(TRACES, name)
}

/// The text of a profile that only studies use, if there is one of this name.
pub fn embedded_profile(name: &str) -> Option<&'static str> {
    text_named(STUDY_PROFILES, name)
}

/// A profile by name, or from a file.
pub(crate) fn load_profile(name: &str) -> Result<Profile> {
    if is_path(name) { Profile::parse(name, &read_file(name)?) } else { own_or_named_profile(name) }
}

/// A profile that comes with kurabe: one of a study's own, or one of the library.
///
/// # Errors
/// When there is none of this name; the nearest is named.
pub fn own_or_named_profile(name: &str) -> Result<Profile> {
    match embedded_profile(name) {
        Some(source) => Profile::parse(&format!("studies/profiles/{name}.toml"), source),
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

    /// Rows of drives that no model is of; the note of the part names them, so that nobody takes them for passed over.
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
                let Text { en, ja, .. } = &row.label;
                let english = ["image", "drive", "mirror", "without"].iter().any(|word| ja.contains(word));
                assert!(!english && *en != row.model, "{name}: {en} | {ja}");
            }
        }
    }
}
