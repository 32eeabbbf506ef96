//! Output for scripts about studies and the catalogue.

use super::verdict_answer;
use kurabe_core::{Text, shown};
use kurabe_study::catalogue::{CatalogueEntry, PublishedStatistic};
use kurabe_study::{Part, Published, QuestionResult, Study, StudyAxis, StudyResult, StudyRow};
use serde::Serialize;

/// A study.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyLine<'a> {
    /// Name of the study.
    study: &'a str,
    /// Title of the study.
    title: &'a Text,
    /// The article whose experiment it repeats.
    source: Option<&'a str>,
    /// Its tables.
    parts: Vec<PartLine<'a>>,
}

/// A table of a study.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PartLine<'a> {
    /// Id within the study.
    id: &'a str,
    /// Title of the table.
    title: &'a Text,
    /// The profile that is run.
    profile: &'a str,
    /// The published table it is compared with.
    catalogue: Option<&'a str>,
    /// The varied parameters.
    axes: &'a [StudyAxis],
    /// The measured models.
    rows: Vec<RowLine<'a>>,
    /// Keys of the figures.
    columns: Vec<&'a str>,
}

/// A row of a study's table.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RowLine<'a> {
    /// Label of the row. `null` if it is named after the device that is measured.
    label: Option<&'a Text>,
    /// The model. `null` if the row is measured on a device.
    model: Option<&'a str>,
    /// The device that is measured unless the user names another.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Its changed parameters.
    sets: &'a [(String, String)],
    /// The name by which the user can replace the model with a device.
    on: Option<&'a str>,
    /// The model that the figures are relative to.
    over: Option<&'a str>,
}

impl<'a> From<&'a Study> for StudyLine<'a> {
    fn from(study: &'a Study) -> Self {
        let parts = study.parts.iter().map(PartLine::from).collect();
        Self { study: &study.name, title: &study.title, source: study.source.as_deref(), parts }
    }
}

impl<'a> From<&'a Part> for PartLine<'a> {
    fn from(part: &'a Part) -> Self {
        let row = |row: &'a StudyRow| RowLine {
            label: row.label.as_ref(),
            model: row.model.as_deref(),
            target: row.target.as_deref().map(shown::name),
            sets: &row.sets,
            on: row.on.as_deref(),
            over: row.over.as_ref().map(|(model, _)| model.as_str()),
        };
        Self {
            id: &part.id,
            title: &part.title,
            profile: &part.profile.name,
            catalogue: part.catalogue.as_deref(),
            axes: &part.axes,
            rows: part.rows.iter().map(row).collect(),
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
    /// Title of the table.
    title: &'a Text,
    /// Article, document or address.
    source: &'a str,
    /// Year of publication.
    year: Option<u16>,
    /// The tool that measured the figures.
    tool: &'a str,
    /// The procedure.
    procedure: &'a Text,
    /// kurabe's profile that repeats the procedure.
    profile: Option<&'a str>,
    /// Size of the test file.
    size_bytes: Option<u64>,
    /// How repetitions became the figure.
    statistic: PublishedStatistic,
    /// The test environment.
    host: Option<&'a Text>,
    /// The model of the device.
    model: Option<&'a str>,
    /// Remarks on the table.
    table_note: Option<&'a Text>,
    /// Remarks on the device.
    note: Option<&'a Text>,
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
            title: &table.title,
            source: entry.source(),
            year: entry.year(),
            tool: &table.tool,
            procedure: &table.procedure,
            profile: table.profile.as_deref(),
            size_bytes: table.size_bytes,
            statistic: table.statistic,
            host: table.host.as_ref(),
            model: row.model.as_deref(),
            table_note: table.note.as_ref(),
            note: row.note.as_ref(),
            figures: figures.collect(),
        }
    }
}
