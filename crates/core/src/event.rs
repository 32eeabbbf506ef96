//! The stream of events that a run emits, for the progress display, the store and JSON lines.
//!
//! The stream itself is not stored. Every view of a run, even of one that has just finished, shows
//! its record. [`RunRecord::apply`] is the only place where events become a record, so a record
//! built live, one replayed from the stream, and the stored one are identical.

use crate::record::{
    Cell, FillRecord, Interval, Notice, Repetition, RunHeader, RunRecord, RunStatus, Sample,
};
use crate::{profile::Step, text::Text, workload::Direction};
use serde::{Deserialize, Serialize};

/// Maximum number of samples in one event. At ten events per second, this is more than a curve can
/// show. An event of this size has some ten KiB.
pub const MOST_SAMPLES_TOLD: usize = 128;

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run starts. Contains everything known beforehand.
    RunStarted {
        /// The run's header.
        header: Box<RunHeader>,
        /// Number of cells to measure.
        cell_count: u32,
        /// Upper limit of the bytes to write, including the fill but excluding cells that end by
        /// time.
        planned_write_bytes: Option<u64>,
        /// Additional time in ns during which the target writes as fast as it can.
        planned_write_ns: Option<u64>,
        /// Duration of the cells in ns, if they are limited by time.
        planned_ns: Option<u64>,
    },
    /// A remark about the run.
    Notice {
        /// The remark.
        notice: Notice,
    },
    /// Progress of writing the test file.
    FillProgress {
        /// Bytes written so far.
        done_bytes: u64,
        /// Total bytes to write.
        total_bytes: u64,
    },
    /// The test file is complete.
    FillDone {
        /// Size and duration of the fill.
        fill: FillRecord,
    },
    /// The results so far require further steps. The profile contains them from now on.
    StepsAdded {
        /// The new steps, which follow all others.
        steps: Vec<Step>,
        /// Why they are needed, if that is worth showing to a waiting user.
        why: Option<Text>,
        /// New total number of cells.
        cell_count: u32,
        /// Duration of the new cells in ns, if they are limited by time.
        planned_ns: Option<u64>,
    },
    /// Work that takes a while before the next cell, such as preconditioning or creating a
    /// repository.
    Preparing {
        /// Description of the work.
        what: Text,
    },
    /// All programs that a step runs, as shell commands, sent before the first of them runs.
    Programs {
        /// Programs that run before the first repetition, in order.
        prepare: Vec<String>,
        /// The timed program.
        command: String,
        /// Programs that run after each repetition.
        restore: Vec<String>,
        /// Programs that run at the end, even after a failure.
        cleanup: Vec<String>,
    },
    /// A round over all cells is complete. The run continues until the device is steady.
    RoundDone {
        /// Zero-based index of the round.
        round_index: u32,
        /// Maximum number of rounds.
        round_count: u32,
        /// Whether the device is steady, which makes this the last round.
        steady: bool,
        /// Largest excursion of the tracked cells, in percent. `None` until there are enough
        /// rounds.
        excursion_percent: Option<f64>,
        /// Largest slope of the tracked cells, in percent. `None` until there are enough rounds.
        slope_percent: Option<f64>,
    },
    /// A cell starts its first repetition. The cell is sent without repetitions; they follow one by
    /// one.
    CellBegun {
        /// The cell.
        cell: Box<Cell>,
    },
    /// A pause that the profile requires.
    Pause {
        /// Length of the pause in ns.
        length_ns: u64,
    },
    /// A repetition starts.
    RepetitionStarted {
        /// Zero-based index of the cell.
        cell_index: u32,
        /// The cell's label.
        label: String,
        /// The cell's direction.
        direction: Option<Direction>,
        /// Zero-based index of the repetition.
        repetition_index: u32,
        /// Number of repetitions of the cell.
        repetition_count: u32,
        /// Whether the repetition is excluded from the figure.
        discarded: bool,
    },
    /// The running repetition completed an interval. Sums over all threads.
    Progress {
        /// Time since the start of the repetition, in ns.
        elapsed_ns: u64,
        /// The operations of the interval.
        interval: Interval,
        /// Length of the interval in ns.
        interval_ns: u64,
    },
    /// Single operations of the running repetition that completed since the last such event, in
    /// order. At most [`MOST_SAMPLES_TOLD`] of them. The finished repetition contains all.
    Sampled {
        /// Zero-based index of the cell.
        cell_index: u32,
        /// The operations.
        samples: Vec<Sample>,
    },
    /// A repetition is complete.
    RepetitionDone {
        /// Zero-based index of the cell.
        cell_index: u32,
        /// Its result.
        repetition: Box<Repetition>,
    },
    /// A cell is complete, with all its repetitions.
    CellDone {
        /// The cell.
        cell: Box<Cell>,
    },
    /// The run has ended.
    RunDone {
        /// The final status.
        status: RunStatus,
        /// End time, RFC 3339.
        ended_at: String,
        /// The error that ended the run, if any.
        error: Option<Text>,
    },
}

impl RunRecord {
    /// Applies an event of the run to the record, which [begins](Self::begun) with the header from
    /// `RunStarted`.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Notice { notice } => self.notices.push(notice.clone()),
            Event::FillDone { fill } => {
                self.fill = Some(*fill);
                // The fill time limit may have reduced the test file.
                if let Some(target) = &mut self.header.target {
                    target.span_bytes = fill.written_bytes;
                }
            }
            Event::StepsAdded { steps, .. } => {
                // The profile in the record lists the steps measured, in the order in which they
                // were added.
                if let Some(profile) = &mut self.header.profile {
                    profile.steps.extend_from_slice(steps);
                }
            }
            Event::CellBegun { cell } | Event::CellDone { cell } => self.put_cell((**cell).clone()),
            Event::RepetitionDone { cell_index, repetition } => {
                if let Some(cell) = self.cells.iter_mut().find(|cell| cell.index == *cell_index) {
                    cell.put_repetition((**repetition).clone());
                }
            }
            Event::RunDone { status, ended_at, error } => {
                self.status = *status;
                self.ended_at = Some(ended_at.clone());
                self.error.clone_from(error);
            }
            // These events only report progress.
            Event::RunStarted { .. }
            | Event::FillProgress { .. }
            | Event::Preparing { .. }
            | Event::Programs { .. }
            | Event::RoundDone { .. }
            | Event::Pause { .. }
            | Event::RepetitionStarted { .. }
            | Event::Progress { .. }
            | Event::Sampled { .. } => {}
        }
    }
}
