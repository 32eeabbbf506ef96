//! The one stream of events that a run emits. Progress, store and JSON lines are its consumers.
//! The stream itself is not stored: a run is shown from its record, a live one at its end, too.
//! [`RunRecord::apply`] is the only place where events become a record, so a record that is followed live, one that is
//! replayed from the stream, and the one in the store are the same.

use crate::record::{
    Cell, FillRecord, Interval, Notice, Repetition, RunHeader, RunRecord, RunStatus, Sample,
};
use crate::{profile::Step, text::Text, workload::Direction};
use serde::{Deserialize, Serialize};

/// Samples in one event: told ten times a second, they are more than a curve can show, and an event of them is some ten KiB.
pub const MOST_SAMPLES_TOLD: usize = 128;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run begins; all that is known before it.
    RunStarted {
        /// The header.
        header: Box<RunHeader>,
        /// Cells that will be measured.
        cell_count: u32,
        /// Bytes that will be written at most, cells that end by time apart; the fill included.
        planned_write_bytes: Option<u64>,
        /// Time for which besides as much is written as the target takes.
        planned_write_ns: Option<u64>,
        /// Time that the cells will take, if they are bounded by time.
        planned_ns: Option<u64>,
    },
    /// A remark.
    Notice {
        /// The remark.
        notice: Notice,
    },
    /// The test file grows.
    FillProgress {
        /// Bytes written.
        done_bytes: u64,
        /// Bytes to write.
        total_bytes: u64,
    },
    /// The test file is written.
    FillDone {
        /// How it went.
        fill: FillRecord,
    },
    /// What was measured so far calls for more; the profile has further steps from here on.
    StepsAdded {
        /// The steps, which stand after all others.
        steps: Vec<Step>,
        /// What they are for, if it is worth saying to somebody who waits.
        why: Option<Text>,
        /// Cells of the run in all.
        cell_count: u32,
        /// Time that the further cells will take, if they are bounded by time.
        planned_ns: Option<u64>,
    },
    /// Something that takes a while is done before the next cell: preconditioning, a repository.
    Preparing {
        /// What.
        what: Text,
    },
    /// All programs that a step runs, as one would type them, before the first of them runs.
    Programs {
        /// Those that run before the first repetition, in order.
        prepare: Vec<String>,
        /// The timed one.
        command: String,
        /// Those that run after each repetition.
        restore: Vec<String>,
        /// Those that run at the end, whatever happened.
        cleanup: Vec<String>,
    },
    /// A round over all cells is over; the run goes on until the device is steady.
    RoundDone {
        /// The round, from 0.
        round_index: u32,
        /// Rounds at most.
        round_count: u32,
        /// Whether the device is steady, so that this was the last one.
        steady: bool,
        /// Largest excursion of the tracked cells, in percent, once there are enough rounds.
        excursion_percent: Option<f64>,
        /// Largest slope of the tracked cells, in percent, once there are enough rounds.
        slope_percent: Option<f64>,
    },
    /// A cell has its first repetition: the cell without repetitions, which are told one by one from here on.
    CellBegun {
        /// The cell.
        cell: Box<Cell>,
    },
    /// A pause that the profile wants.
    Pause {
        /// Its length.
        length_ns: u64,
    },
    /// A repetition begins.
    RepetitionStarted {
        /// The cell, from 0.
        cell_index: u32,
        /// The cell's name.
        label: String,
        /// Its direction.
        direction: Option<Direction>,
        /// The repetition, from 0.
        repetition_index: u32,
        /// Repetitions of the cell.
        repetition_count: u32,
        /// Whether it will be left out of the figure.
        discarded: bool,
    },
    /// An interval of the running repetition passed (all threads together).
    Progress {
        /// Time since the repetition's start.
        elapsed_ns: u64,
        /// What was done in it.
        interval: Interval,
        /// Length of the interval.
        interval_ns: u64,
    },
    /// Single operations of the running repetition that were done since they were told last, in their order. At most
    /// [`MOST_SAMPLES_TOLD`] of them; all are in the repetition when it is over.
    Sampled {
        /// The cell, from 0.
        cell_index: u32,
        /// The operations.
        samples: Vec<Sample>,
    },
    /// A repetition is over.
    RepetitionDone {
        /// The cell, from 0.
        cell_index: u32,
        /// Its result.
        repetition: Box<Repetition>,
    },
    /// A cell is over, with all its repetitions.
    CellDone {
        /// The cell.
        cell: Box<Cell>,
    },
    /// The run is over.
    RunDone {
        /// How it ended.
        status: RunStatus,
        /// The end, RFC 3339.
        ended_at: String,
        /// The error that ended it.
        error: Option<Text>,
    },
}

impl RunRecord {
    /// Adds what an event of the run brings to the record, which [begins](Self::begun) with the header of `RunStarted`.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Notice { notice } => self.notices.push(notice.clone()),
            Event::FillDone { fill } => {
                self.fill = Some(*fill);
                // The time limit of the fill may have cut the test file.
                if let Some(target) = &mut self.header.target {
                    target.span_bytes = fill.written_bytes;
                }
            }
            Event::StepsAdded { steps, .. } => {
                // The profile of the record holds what was measured, in the order in which it came about.
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
            // These tell only how the run goes on.
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
