//! One task of a run with its repetitions and cells.
//!
//! Every kind of work returns one result per cell of the task for each repetition.

use crate::disturbance::NoiseSum;
use kurabe_core::profile::{Rounds, Task, TaskCell, TrackedCell};
use kurabe_core::record::{Cell, EngineRecord, Repetition};
use kurabe_core::{Error, ErrorKind, text, workload::Workload};

/// A task in progress.
pub(crate) struct Ongoing<P> {
    pub(crate) task: Task,
    pub(crate) prepared: P,
    /// Index of its first cell in the run.
    pub(crate) first_cell: u32,
    pub(crate) cells: Vec<Cell>,
    pub(crate) disturbance: NoiseSum,
}

/// One repetition to perform.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt {
    /// Index of its first cell in the run.
    pub(crate) cell_index: u32,
    /// Zero-based number of the repetition.
    pub(crate) number: u32,
    /// Whether it is excluded from the figure.
    pub(crate) discarded: bool,
    /// Seed of the repetition.
    pub(crate) seed: u64,
    /// Start in ns, from the start of the run.
    pub(crate) started_ns: u64,
    /// Position in the common order of several targets.
    pub(crate) turn: Option<u32>,
}

/// A completed repetition with its raw data.
pub struct Repeated {
    /// How operations reached the kernel, if kurabe issued them. One entry for all cells, or one
    /// per cell.
    pub(crate) engines: Vec<EngineRecord>,
    /// One result per cell of the task.
    pub(crate) repetitions: Vec<Repetition>,
}

impl Attempt {
    /// Returns the workloads with the seeds of this repetition. Concurrent workloads get different
    /// offsets.
    pub(crate) fn seeded(&self, workloads: &[Workload]) -> Vec<Workload> {
        let seeded = |(workload, place): (&Workload, u64)| Workload {
            seed: self.seed.wrapping_add(place),
            ..workload.clone()
        };
        workloads.iter().zip(0..).map(seeded).collect()
    }

    /// Returns the recorded data as this repetition.
    pub(crate) fn of(&self, recorded: Repetition) -> Repetition {
        Repetition {
            index: self.number,
            discarded: self.discarded,
            seed: self.seed,
            started_ns: self.started_ns,
            turn: self.turn,
            ..recorded
        }
    }
}

impl<P: Default> Ongoing<P> {
    /// Creates a task whose first cell has this index in the run.
    pub(crate) fn new(task: Task, first_cell: u32) -> Self {
        Self { task, prepared: P::default(), first_cell, cells: Vec::new(), disturbance: NoiseSum::default() }
    }

    /// Counts only the last `window` repetitions in the figures.
    pub(crate) fn count_last(&mut self, window: u32) {
        for cell in &mut self.cells {
            let before = cell.repetitions.len().saturating_sub(window as usize);
            for (index, repetition) in cell.repetitions.iter_mut().enumerate() {
                repetition.discarded = index < before;
            }
        }
    }

    /// Returns whether a tracked cell belongs to this task.
    pub(crate) fn has(&self, tracked: &TrackedCell) -> bool {
        let direction = Some(tracked.direction);
        self.task.cells.iter().any(|cell| cell.label == tracked.label && cell.direction == direction)
    }

    /// Returns the figures of all rounds of a tracked cell, if it belongs to this task.
    pub(crate) fn tracked(&self, tracked: &TrackedCell, rounds: &Rounds) -> Option<Vec<f64>> {
        let direction = tracked.direction;
        let cell = self
            .cells
            .iter()
            .find(|cell| cell.label == tracked.label && cell.direction == Some(direction))?;
        cell.repetitions.iter().map(|repetition| rounds.tracked_value(repetition, direction)).collect()
    }

    /// Returns the number of repetitions so far.
    pub(crate) fn repetitions(&self) -> u32 {
        self.cells.first().map_or(0, |cell| cell.repetitions.len() as u32)
    }

    /// Adds a repetition to the cells.
    pub(crate) fn add(&mut self, done: Repeated) {
        if self.cells.is_empty() {
            let (workloads, engines) = (self.task.workloads(), &done.engines);
            let cells = self.task.cells.iter().cloned().enumerate();
            let begun = cells.map(|(place, TaskCell { part, label, direction, measure })| Cell {
                index: self.first_cell + place as u32,
                // Concurrent steps follow each other in the profile, and each is one cell.
                step_index: (self.task.step_index + if workloads.is_empty() { 0 } else { place }) as u32,
                part,
                label,
                direction,
                measure,
                workload: workloads.get(place).cloned(),
                engine: engines.get(place).or(engines.first()).cloned(),
                ..Cell::default()
            });
            self.cells = begun.collect();
        }
        for (cell, repetition) in self.cells.iter_mut().zip(done.repetitions) {
            cell.repetitions.push(repetition);
        }
    }
}

pub(crate) fn unprepared() -> Error {
    ErrorKind::Internal
        .error(text!("a task was started before it was prepared", "準備していない項目を始めました"))
}
