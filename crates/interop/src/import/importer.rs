//! An importer, and what it makes of an input.

use super::input::Input;
use super::parts::{self, NotImported};
use super::split::Recognizer;
use kurabe_core::imported::{ImportedCell, Origin, Quantity};
use kurabe_core::record::{Cell, Notice, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Result, Text, environment::Environment, text, workload::Direction};

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
    /// Whether the tool was ended before it was done.
    pub interrupted: bool,
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
            status: if self.interrupted { RunStatus::Interrupted } else { RunStatus::Complete },
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
        let mut refused = Vec::new();
        for run in &mut runs {
            let of_run = impossible(&mut run.cells);
            run.notices.extend((!of_run.is_empty()).then(|| parts::notice(no_device_does(&of_run))));
            refused.extend(of_run);
            run.cells.retain(|cell| cell.imported.as_ref().is_some_and(|cell| !cell.figures.is_empty()));
            parts::number_cells(&mut run.cells);
            run.notices.extend(true_shares(&mut run.cells));
        }
        runs.retain(|run| !run.cells.is_empty());
        match (runs.is_empty(), refused.is_empty()) {
            (false, _) => Ok(runs),
            (true, true) => Err(parts::nothing_measured(input, self.tool).into()),
            (true, false) => Err(parts::broken(no_device_does(&refused)).into()),
        }
    }
}

/// Gives mixes whose directions stand apart the share of reads that these come to, where what was asked for or a name says another.
fn true_shares(cells: &mut [Cell]) -> Vec<Notice> {
    let mut notices = Vec::new();
    for at in 1..cells.len() {
        // Directions of a step follow one another.
        let [.., reads, writes] = &mut cells[..=at] else { continue };
        let directions = [reads.direction, writes.direction];
        if reads.step_index != writes.step_index
            || directions != [Some(Direction::Read), Some(Direction::Write)]
        {
            continue;
        }
        let shares = reads.imported.as_ref().zip(writes.imported.as_ref());
        let Some((asked, share)) = shares.and_then(|(reads, writes)| other_share(reads, writes)) else {
            continue;
        };
        let words = |share: f64| format!("{share:.0} % read");
        for cell in [reads, writes] {
            cell.label = cell.label.replace(&words(asked), &words(share));
            cell.imported.iter_mut().for_each(|imported| imported.read_percent = Some(share));
        }
        let (label, share) = (&cells[at].label, format!("{share:.0}"));
        notices.push(parts::notice(text!(
            "{label}: {share} % of the operations were reads, where {asked:.0} % was asked for",
            "{label}: 操作のうち読み出しは {share} % でした(指定は {asked:.0} %)"
        )));
    }
    notices
}

/// The shares of reads in percent that the directions of a mix bear and come to, if these are not the same.
fn other_share(reads: &ImportedCell, writes: &ImportedCell) -> Option<(f64, f64)> {
    let asked = reads.read_percent?;
    let of = |cell: &ImportedCell, quantity: Quantity| {
        cell.figures.iter().find(|figure| figure.quantity == quantity).map(|figure| figure.value)
    };
    let both = |quantity| of(reads, quantity).zip(of(writes, quantity));
    let (read, written) = both(Quantity::Count).or_else(|| both(Quantity::Iops))?;
    let (all, probability) = (read + written, asked / 100.0);
    let share = Some(100.0 * read / all).filter(|_| all > 0.0)?;
    // Which operation is a read is drawn each time.
    let scatter = 300.0 * (probability * (1.0 - probability) / all).sqrt();
    ((share - asked).abs() > 1.0 + scatter).then_some((asked, share))
}

/// Takes out what cannot have been measured, and names it.
fn impossible(cells: &mut [Cell]) -> Vec<String> {
    let mut names = Vec::new();
    for cell in cells {
        let Some(imported) = &mut cell.imported else { continue };
        let name = format!("{} {}", cell.label, cell.part);
        let mut keep = |is_possible: bool, what: &str| {
            names.extend((!is_possible).then(|| format!("{}: {what}", name.trim_end())));
            is_possible
        };
        imported.figures.retain(|figure| {
            let what = format!("{} {}", figure.printed, figure.unit_printed);
            keep(figure.quantity.is_possible(figure.value), &what)
        });
        imported.series.retain(|series| {
            keep(series.points.iter().all(|(_, value)| series.quantity.is_possible(*value)), &series.name)
        });
    }
    names
}

/// Figures that a remark names; more are counted.
const NAMED: usize = 8;

fn no_device_does(names: &[String]) -> Text {
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => text!(
            "left out, as no device comes to it: {named}",
            "どのデバイスでもありえない値のため、取り込んでいません: {named}"
        ),
        more => text!(
            "left out, as no device comes to it: {named}, and {more} more",
            "どのデバイスでもありえない値のため、取り込んでいません: {named}、ほか {more} 件"
        ),
    }
}
