//! What the cells that are measured now have sampled so far: curves over the target that grow.
//!
//! The model: samples are told ten times a second while a repetition runs, and all of them again when it is over; a cell that is over
//! is in the record, and is forgotten here.

use kurabe_core::event::Event;
use kurabe_core::profile::Task;
use kurabe_core::record::{Cell, Repetition, Sample};
use std::collections::BTreeMap;

/// Samples of cells by their numbers in the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampling(BTreeMap<u32, Sampled>);

#[derive(Clone, Debug, Default)]
struct Sampled {
    /// Repetitions that are over.
    over: Vec<Repetition>,
    /// What is known of the one that runs.
    running: Vec<Sample>,
}

impl Sampling {
    /// Keeps what an event tells of samples.
    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Sampled { cell_index, samples } => {
                self.0.entry(*cell_index).or_default().running.extend_from_slice(samples);
            }
            Event::RepetitionDone { cell_index, repetition } if !repetition.samples.is_empty() => {
                let sampled = self.0.entry(*cell_index).or_default();
                let (samples, discarded) = (repetition.samples.clone(), repetition.discarded);
                sampled.over.push(Repetition { samples, discarded, ..Repetition::default() });
                sampled.running.clear();
            }
            Event::CellDone { cell } => drop(self.0.remove(&cell.index)),
            _ => {}
        }
    }

    /// The cells as far as they are sampled.
    pub(crate) fn cells(&self, tasks: &[Task]) -> Vec<Cell> {
        let planned = tasks.iter().flat_map(|task| task.cells.iter().map(move |cell| (task, cell)));
        let sampled =
            (0..).zip(planned).filter_map(|(index, planned)| Some((index, planned, self.0.get(&index)?)));
        sampled
            .map(|(index, (task, cell), sampled)| {
                let running = Repetition { samples: sampled.running.clone(), ..Repetition::default() };
                Cell {
                    index,
                    step_index: u32::try_from(task.step_index).unwrap_or(u32::MAX),
                    part: cell.part.clone(),
                    label: cell.label.clone(),
                    direction: cell.direction,
                    measure: cell.measure,
                    workload: None,
                    engine: None,
                    repetitions: sampled.over.iter().cloned().chain([running]).collect(),
                    imported: None,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::profile_library::profile_named;

    fn samples(count: u64) -> Vec<Sample> {
        (0..count).map(|place| Sample { offset_bytes: place << 20, bytes: 4096, elapsed_ns: 1000 }).collect()
    }

    fn counts(sampling: &Sampling, tasks: &[Task]) -> Vec<(u32, Vec<usize>)> {
        let lengths =
            |cell: &Cell| cell.repetitions.iter().map(|repetition| repetition.samples.len()).collect();
        sampling.cells(tasks).iter().map(|cell| (cell.index, lengths(cell))).collect()
    }

    #[test]
    fn a_repetition_that_is_over_replaces_what_was_told_of_it() {
        let tasks = profile_named("gnome-disks").unwrap().tasks(1 << 30);
        let mut sampling = Sampling::default();
        sampling.take(&Event::Sampled { cell_index: 1, samples: samples(3) });
        sampling.take(&Event::Sampled { cell_index: 1, samples: samples(2) });
        assert_eq!(counts(&sampling, &tasks), [(1, vec![5])]);
        let repetition = Box::new(Repetition { samples: samples(7), ..Repetition::default() });
        sampling.take(&Event::RepetitionDone { cell_index: 1, repetition });
        assert_eq!(counts(&sampling, &tasks), [(1, vec![7, 0])]);
        let cell = Box::new(sampling.cells(&tasks).remove(0));
        sampling.take(&Event::CellDone { cell });
        assert!(counts(&sampling, &tasks).is_empty());
    }
}
