//! An importer, and what it makes of an input.

use super::input::Input;
use super::parts::{self, NotImported};
use super::shapes::LineShapes;
use super::split::{LineMark, Recognizer};
use kurabe_core::Result;
use kurabe_core::environment::Environment;
use kurabe_core::imported::Origin;
use kurabe_core::record::{Cell, Notice, RunHeader, RunRecord, RunStatus};

/// A run that another tool measured.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ImportedRun {
    /// The tool and the file.
    pub origin: Origin,
    /// What the tool told of what it stood on.
    pub environment: Environment,
    /// Cells in the order of the file; at least one.
    pub cells: Vec<Cell>,
    /// What a reader of the figures must know: corrected units, statistics that are no means.
    pub notices: Vec<Notice>,
}

impl ImportedRun {
    /// As a record. The store gives the id; `imported_at` is RFC 3339.
    pub fn into_record(self, kurabe_version: &str, imported_at: &str, command: &[String]) -> RunRecord {
        let header = RunHeader {
            kurabe_version: kurabe_version.to_owned(),
            started_at: imported_at.to_owned(),
            command: command.to_vec(),
            environment: self.environment,
            origin: Some(self.origin),
            ..RunHeader::default()
        };
        RunRecord {
            status: RunStatus::Complete,
            notices: self.notices,
            cells: self.cells,
            ..RunRecord::begun(header)
        }
    }
}

/// What an importer makes of an input.
pub(super) type ImportedRuns = Result<Vec<ImportedRun>, NotImported>;

/// An importer.
pub(crate) struct Importer {
    /// What it reads, for people: `fio JSON`.
    pub(crate) what: &'static str,
    /// Whose results these are: `fio`.
    pub(super) tool: &'static str,
    /// Looks at an input. Cells without figures are dropped behind it, and the others numbered.
    read: fn(&Input<'_>) -> ImportedRuns,
    /// How it knows its parts of a text; one whose tool writes files of its own sees them whole.
    pub(crate) claim: Recognizer,
    /// Words that are in a text of its tool, and in few others.
    pub(crate) names: &'static [&'static str],
}

/// Words of an importer: what it reads, its tool, and those that are in a text of it.
type ImporterWords = (&'static str, &'static str, &'static [&'static str]);

impl Importer {
    /// One of files that are its tool's as a whole.
    pub(super) const fn of_files(
        (what, tool, names): ImporterWords,
        read: fn(&Input<'_>) -> ImportedRuns,
    ) -> Self {
        Self { what, tool, read, claim: Recognizer::File, names }
    }

    /// One of texts that are known by the shapes of their lines.
    pub(super) const fn of_lines(
        (what, tool, names): ImporterWords,
        shapes: LineShapes,
        read: fn(&Input<'_>) -> ImportedRuns,
    ) -> Self {
        Self { what, tool, read, claim: Recognizer::Shapes(shapes), names }
    }

    /// One of texts, with what a line is to it, where shapes cannot say so.
    pub(super) const fn of_marked_lines(
        (what, tool, names): ImporterWords,
        mark: fn(&str) -> LineMark,
        read: fn(&Input<'_>) -> ImportedRuns,
    ) -> Self {
        Self { what, tool, read, claim: Recognizer::Lines(mark), names }
    }

    /// One of objects of JSON that have all of these keys.
    pub(super) const fn of_objects(
        (what, tool, names): ImporterWords,
        keys: &'static [&'static str],
        read: fn(&Input<'_>) -> ImportedRuns,
    ) -> Self {
        Self { what, tool, read, claim: Recognizer::Object(keys), names }
    }

    /// The runs of an input, at least one, and each with a cell.
    pub(super) fn runs(&self, input: &Input<'_>) -> ImportedRuns {
        let mut runs = (self.read)(input)?;
        for run in &mut runs {
            run.cells.retain(|cell| cell.imported.as_ref().is_some_and(|cell| !cell.figures.is_empty()));
            parts::number_cells(&mut run.cells);
        }
        runs.retain(|run| !run.cells.is_empty());
        if runs.is_empty() { Err(parts::nothing_measured(input, self.tool).into()) } else { Ok(runs) }
    }
}
