//! An importer, and what it makes of an input.

use super::input::Input;
use super::parts::{self, NotImported};
use super::split::Recognizer;
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

impl Importer {
    /// By what it reads, its tool and the words that are in a text of it; by how it knows its own; and by how it reads.
    pub(super) const fn of(
        (what, tool, names): (&'static str, &'static str, &'static [&'static str]),
        claim: Recognizer,
        read: fn(&Input<'_>) -> ImportedRuns,
    ) -> Self {
        Self { what, tool, read, claim, names }
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
