//! Output for scripts about studies and the catalogue.

use super::verdict_answer;
use kurabe_core::Text;
use kurabe_study::catalogue::{CatalogueEntry, PublishedTable};
use kurabe_study::{Part, PartHead, Published, QuestionResult, Study, StudyHead, StudyResult, StudyRow};
use serde::Serialize;

/// A study.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyLine<'a> {
    #[serde(flatten)]
    head: &'a StudyHead,
    /// Its tables.
    parts: Vec<PartLine<'a>>,
}

/// A table of a study.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PartLine<'a> {
    #[serde(flatten)]
    head: &'a PartHead,
    /// The profile that is run.
    profile: &'a str,
    /// The measured models.
    rows: &'a [StudyRow],
    /// Keys of the figures.
    columns: Vec<&'a str>,
}

impl<'a> From<&'a Study> for StudyLine<'a> {
    fn from(study: &'a Study) -> Self {
        Self { head: &study.head, parts: study.parts.iter().map(PartLine::from).collect() }
    }
}

impl<'a> From<&'a Part> for PartLine<'a> {
    fn from(part: &'a Part) -> Self {
        Self {
            head: &part.head,
            profile: &part.profile.name,
            rows: &part.rows,
            columns: part.columns.iter().map(|column| column.head.key.as_str()).collect(),
        }
    }
}

/// A study's result, with each verdict as text.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenStudy<'a> {
    #[serde(flatten)]
    result: &'a StudyResult,
    /// Answers to the study's questions.
    verdicts: Vec<SpokenVerdict<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SpokenVerdict<'a> {
    #[serde(flatten)]
    verdict: &'a QuestionResult,
    /// The answer in a sentence.
    words: Text,
}

impl<'a> From<&'a StudyResult> for SpokenStudy<'a> {
    fn from(result: &'a StudyResult) -> Self {
        let spoken = |verdict| SpokenVerdict { verdict, words: verdict_answer(verdict) };
        Self { result, verdicts: result.verdicts.iter().map(spoken).collect() }
    }
}

/// A device of the catalogue.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryLine<'a> {
    /// `TABLE/DEVICE`.
    entry: String,
    /// The device.
    device: &'a Text,
    /// Article, document or address.
    source: &'a str,
    /// Year of publication.
    year: Option<u16>,
    /// The model of the device.
    model: Option<&'a str>,
    /// Remarks on the device.
    note: Option<&'a Text>,
    #[serde(flatten)]
    table: &'a PublishedTable,
    /// The figures.
    figures: Vec<PublishedFigure<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PublishedFigure<'a> {
    /// Key of the figure.
    key: &'a str,
    /// Meaning of the figure.
    name: &'a Text,
    /// Unit as printed.
    unit: &'a str,
    /// The figure.
    published: Published,
}

impl<'a> From<&'a CatalogueEntry<'a>> for EntryLine<'a> {
    fn from(entry: &'a CatalogueEntry<'a>) -> Self {
        let CatalogueEntry { table, row, .. } = *entry;
        let figures = entry.figures().map(|(column, published)| PublishedFigure {
            key: &column.key,
            name: &column.name,
            unit: &column.unit,
            published,
        });
        Self {
            entry: entry.id(),
            device: &row.device,
            source: entry.source(),
            year: entry.year(),
            model: row.model.as_deref(),
            note: row.note.as_ref(),
            table,
            figures: figures.collect(),
        }
    }
}
