//! State of the current run, and the messages about it to browser windows.
//!
//! The model: the board is what a newly opened window sees. A window that is already open updates
//! its board by [`message`]s. Changes to the structure of the board (a cell completed, a notice)
//! are sent as "fetch it again", because its markup is created in one place. Values that change
//! many times a second are sent as text and numbers.
//!
//! Samples, from which curves over the target are drawn, are sent ten times a second during a
//! repetition, and again in full when it ends. A completed cell is in the record and is removed
//! from the samples.

use crate::pages::left_words;
use kurabe_core::event::Event;
use kurabe_core::profile::{Statistic, Task, Work};
use kurabe_core::record::{Cell, Repetition, RunHeader, RunRecord, RunStatus};
use kurabe_core::workload::Direction;
use kurabe_core::{Error, Lang, Text, number, shown, text};
use kurabe_lab::{StreamEvent, VersusEvent, plan_tasks};
use kurabe_report::Tile;
use kurabe_report::words::{directed, pause, program_lines, repetition};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// State of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    /// The record so far.
    pub(crate) record: RunRecord,
    /// The planned cells, without figures.
    pub(crate) planned: Vec<Cell>,
    /// Whether the run samples positions of the target, so that a curve is shown.
    pub(crate) samples: bool,
    /// The cell being measured.
    pub(crate) now: Option<u32>,
    /// Other work that is in progress.
    pub(crate) phase: Option<Text>,
    /// The remaining time, without subtracting the progress of the running repetition.
    pub(crate) left_ns: Option<u64>,
    /// The programs of the run. Each is reported before its first execution.
    pub(crate) programs: Vec<Text>,
    /// The cells being measured, with their samples. The last repetition of each is the running
    /// one.
    sampling: BTreeMap<u32, Cell>,
    /// Ids of the runs that are interleaved with this one.
    pub(crate) others: Vec<String>,
    /// The error that ended the run.
    pub(crate) error: Option<Arc<Error>>,
}

impl Board {
    /// Updates the board with an event.
    pub(crate) fn follow(board: &mut Option<Self>, run: &str, event: &Event) {
        if let Event::RunStarted { header, planned_ns, .. } = event {
            // Of interleaved runs, the first is shown, and the others are listed.
            if let Some(first) = board.as_mut().filter(|board| board.goes_on()) {
                first.others.push(header.id.clone());
                return;
            }
            let plan = header.profile.as_ref().zip(header.target.as_ref());
            let tasks =
                plan.and_then(|(profile, target)| plan_tasks(profile, target).ok()).unwrap_or_default();
            let samples = |task: &Task| matches!(task.work, Work::Positional(_) | Work::AccessTime(_));
            *board = Some(Self {
                record: RunRecord::begun((**header).clone()),
                planned: planned(&tasks),
                samples: tasks.iter().any(samples),
                left_ns: *planned_ns,
                ..Self::default()
            });
        }
        if let Some(board) = board.as_mut().filter(|board| board.record.header.id == run) {
            board.take(event);
        }
    }

    fn take(&mut self, event: &Event) {
        // Until a cell is complete, its place and its samples are shown, but no figure.
        if !matches!(event, Event::CellBegun { .. }) {
            self.record.apply(event);
        }
        if let Some(words) = phase(event) {
            (self.now, self.phase) = (None, Some(words));
        }
        match event {
            Event::FillDone { .. } => self.phase = None,
            Event::StepsAdded { planned_ns, .. } => {
                self.left_ns = self.left_ns.zip(*planned_ns).map(|(left, more)| left.saturating_add(more));
            }
            Event::RepetitionStarted { cell_index, .. } => (self.now, self.phase) = (Some(*cell_index), None),
            Event::Sampled { cell_index, samples } => {
                let running = self.sampled_in(*cell_index).last_mut();
                running.into_iter().for_each(|running| running.samples.extend_from_slice(samples));
            }
            Event::RepetitionDone { cell_index, repetition } => {
                self.left_ns = self.left_ns.map(|left| left.saturating_sub(repetition.elapsed_ns));
                if !repetition.samples.is_empty() {
                    let (samples, discarded) = (repetition.samples.clone(), repetition.discarded);
                    let over = Repetition { samples, discarded, ..Repetition::default() };
                    let repetitions = self.sampled_in(*cell_index);
                    repetitions.pop();
                    repetitions.extend([over, Repetition::default()]);
                }
            }
            Event::CellDone { cell } => {
                self.now = None;
                self.sampling.remove(&cell.index);
            }
            Event::RunDone { .. } => (self.now, self.phase, self.left_ns) = (None, None, None),
            Event::Programs { .. } => self.programs.extend(program_lines(event)),
            _ => {}
        }
    }

    /// Returns the repetitions of a sampling cell. There is at least one.
    fn sampled_in(&mut self, index: u32) -> &mut Vec<Repetition> {
        let planned = || self.planned.get(index as usize).cloned().unwrap_or_default();
        let new = || Cell { repetitions: vec![Repetition::default()], ..planned() };
        &mut self.sampling.entry(index).or_insert_with(new).repetitions
    }

    /// Records that the run failed.
    pub(crate) fn failed(&mut self, error: Error) {
        if self.record.status == RunStatus::Running {
            self.record.status = RunStatus::Failed;
        }
        self.error = Some(Arc::new(error));
    }

    /// Returns the run with the samples so far.
    pub(crate) fn sampled(&self) -> RunRecord {
        let mut record = self.record.clone();
        record.cells.extend(self.sampling.values().cloned());
        record
    }

    /// Checks whether the run is in progress.
    pub(crate) fn goes_on(&self) -> bool {
        self.record.status == RunStatus::Running
    }
}

/// Returns the cells of tasks, without figures.
fn planned(tasks: &[Task]) -> Vec<Cell> {
    let cells = tasks.iter().flat_map(|task| {
        // Concurrent steps have different labels. Otherwise all cells of a step have its label.
        let are_steps = task.workloads().len() > 1;
        task.cells.iter().enumerate().map(move |(place, cell)| Cell {
            step_index: (task.step_index + if are_steps { place } else { 0 }) as u32,
            part: cell.part.clone(),
            label: if are_steps { &cell.label } else { &task.label }.clone(),
            direction: cell.direction,
            measure: cell.measure,
            ..Cell::default()
        })
    });
    (0..).zip(cells).map(|(index, cell)| Cell { index, ..cell }).collect()
}

/// Returns the text for work other than measuring cells, if the event reports any.
fn phase(event: &Event) -> Option<Text> {
    match event {
        Event::FillProgress { done_bytes, total_bytes } => {
            let share = number::percent(*done_bytes as f64 / (*total_bytes).max(1) as f64);
            Some(text!("writing the test file: {share}", "テストファイルを書き込み中: {share}"))
        }
        Event::Preparing { what } => Some(what.clone()),
        Event::Pause { length_ns } => Some(pause(*length_ns)),
        _ => None,
    }
}

/// Facts about the run that a window needs besides its events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowView {
    /// The statistic of the tiles.
    pub(crate) statistic: Statistic,
    /// Planned time of a repetition.
    pub(crate) repetition_ns: u64,
    /// The time left when the running repetition began.
    pub(crate) left_ns: Option<u64>,
}

impl WindowView {
    pub(crate) fn of(board: Option<&Board>) -> Self {
        let header = board.map(|board| &board.record.header);
        let profile = header.and_then(|header| header.profile.as_ref());
        Self {
            statistic: header.map_or(Statistic::Mean, RunHeader::statistic),
            repetition_ns: profile.map_or(0, |profile| profile.rules.time_ns),
            left_ns: board.and_then(|board| board.left_ns),
        }
    }
}

/// Returns the message for a window about an event of a run. `None` if nothing changes there.
pub(crate) fn message(event: &StreamEvent, shown: WindowView, lang: Lang) -> Option<Value> {
    match event {
        StreamEvent::Run(event) => of_run(event, shown, lang),
        StreamEvent::Versus(VersusEvent::VersusBlocks { blocks, settled, comparisons }) => {
            let words = text!(
                "{blocks} blocks, {settled} of {comparisons} comparisons decided",
                "{blocks} ブロック、比較 {comparisons} 件中 {settled} 件が確定"
            );
            Some(phase_message(&words, lang))
        }
        StreamEvent::Versus(VersusEvent::VersusSettled { .. }) => Some(json!({ "t": "board" })),
        StreamEvent::Versus(VersusEvent::VersusForecast { .. }) | StreamEvent::Point(_) => None,
    }
}

fn of_run(event: &Event, shown: WindowView, lang: Lang) -> Option<Value> {
    if let Some(words) = phase(event) {
        return Some(phase_message(&words, lang));
    }
    Some(match event {
        Event::RunStarted { .. }
        | Event::Notice { .. }
        | Event::FillDone { .. }
        | Event::StepsAdded { .. }
        | Event::Programs { .. } => json!({ "t": "board" }),
        Event::CellDone { cell } => json!({ "t": "board", "say": spoken(cell, shown.statistic, lang) }),
        Event::RunDone { status, .. } => {
            let words = match status {
                RunStatus::Complete => text!("the run is complete", "測定が完了しました"),
                _ => text!("the run has ended", "測定が終了しました"),
            };
            json!({ "t": "board", "say": words.get(lang), "over": true })
        }
        Event::RepetitionStarted {
            cell_index,
            label,
            direction,
            repetition_index,
            repetition_count,
            discarded,
        } => {
            let words = repetition(*direction, label, *repetition_index, *repetition_count, *discarded);
            let share = |index: u32| f64::from(index) / f64::from((*repetition_count).max(1));
            json!({
                "t": "begin",
                "cell": cell_index,
                "words": words.get(lang),
                "from": share(*repetition_index),
                "to": share(repetition_index.saturating_add(1)),
                "seconds": shown.repetition_ns as f64 / 1e9,
            })
        }
        Event::Progress { elapsed_ns, interval, interval_ns } => {
            let seconds = (*interval_ns).max(1) as f64 / 1e9;
            let rate = interval.bytes() as f64 / seconds;
            let rate_words = number::rate(rate);
            let left = shown.left_ns.map(|left| left_words(left.saturating_sub(*elapsed_ns)));
            json!({
                "t": "now",
                "at": *elapsed_ns as f64 / 1e9,
                "rate": rate / 1e6,
                "number": rate_words.number,
                "unit": rate_words.unit,
                "iops": number::iops(interval.operations() as f64 / seconds).number,
                "worst": number::latency(interval.worst_ns() as f64).to_string(),
                "left": left.map(|words| words.take(lang)),
            })
        }
        Event::Sampled { .. } => json!({ "t": "plot" }),
        _ => return None,
    })
}

fn phase_message(words: &Text, lang: Lang) -> Value {
    json!({ "t": "phase", "words": shown::line(words.get(lang)).to_string() })
}

/// Returns the sentence about a cell for a screen reader, with the figure of its tile.
fn spoken(cell: &Cell, statistic: Statistic, lang: Lang) -> String {
    let name = directed(cell.direction, &Text::same(shown::line(&cell.label).to_string()));
    let figure = Tile::of(cell, statistic).main;
    let figure = figure.map_or_else(|| number::NONE.to_owned(), |figure| figure.to_string());
    text!("{name}: {figure}", "{name}: {figure}"; name).take(lang)
}

/// Returns the column for tiles of this direction.
pub(crate) fn column(direction: Option<Direction>) -> usize {
    match direction {
        Some(Direction::Read) => 0,
        Some(Direction::Write) => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::Sample;
    use kurabe_profile::profile_named;

    fn samples(count: u64) -> Vec<Sample> {
        (0..count).map(|place| Sample { offset_bytes: place << 20, bytes: 4096, elapsed_ns: 1000 }).collect()
    }

    fn counts(board: &Board) -> Vec<(u32, Vec<usize>)> {
        let lengths =
            |cell: &Cell| cell.repetitions.iter().map(|repetition| repetition.samples.len()).collect();
        board.sampling.values().map(|cell| (cell.index, lengths(cell))).collect()
    }

    #[test]
    fn a_screen_reader_gets_the_figure_of_the_tile() {
        let mut cell = kurabe_testkit::ssd::run().cells.remove(0);
        cell.repetitions[1].elapsed_ns *= 2;
        let says = |statistic| {
            let figure = Tile::of(&cell, statistic).main.unwrap().to_string();
            let event = StreamEvent::Run(Event::CellDone { cell: Box::new(cell.clone()) });
            let shown = WindowView { statistic, ..WindowView::of(None) };
            let message = message(&event, shown, Lang::En).unwrap();
            assert!(message["say"].as_str().unwrap().ends_with(&figure), "{message} {figure}");
            figure
        };
        assert_ne!(says(Statistic::Mean), says(Statistic::Best));
    }

    #[test]
    fn a_window_hears_how_much_of_a_test_is_done_and_how_long_the_run_takes() {
        let shown = WindowView {
            statistic: Statistic::Mean,
            repetition_ns: 600_000_000,
            left_ns: Some(41_000_000_000),
        };
        let begun = Event::RepetitionStarted {
            cell_index: 3,
            label: "SEQ".to_owned(),
            direction: None,
            repetition_index: 2,
            repetition_count: 10,
            discarded: false,
        };
        let begun = message(&StreamEvent::Run(begun), shown, Lang::En).unwrap();
        assert_eq!(
            [&begun["from"], &begun["to"], &begun["seconds"]],
            [&json!(0.2), &json!(0.3), &json!(0.6)]
        );
        let event = |elapsed_ns| Event::Progress { elapsed_ns, interval: Default::default(), interval_ns: 1 };
        let left = |elapsed_ns, lang| {
            message(&StreamEvent::Run(event(elapsed_ns)), shown, lang).unwrap()["left"].clone()
        };
        assert_eq!(left(1_000_000_000, Lang::En), "about 40 s left");
        assert_eq!(left(90_000_000_000, Lang::En), "about 0 s left");
        assert_eq!(left(0, Lang::Ja), "残り約 41 秒");
    }

    #[test]
    fn a_repetition_that_is_over_replaces_what_was_told_of_it() {
        let tasks = profile_named("gnome-disks").unwrap().tasks(1 << 30);
        let mut board = Board { planned: planned(&tasks), ..Board::default() };
        board.take(&Event::Sampled { cell_index: 1, samples: samples(3) });
        board.take(&Event::Sampled { cell_index: 1, samples: samples(2) });
        assert_eq!(counts(&board), [(1, vec![5])]);
        let repetition = Box::new(Repetition { samples: samples(7), ..Repetition::default() });
        board.take(&Event::RepetitionDone { cell_index: 1, repetition });
        assert_eq!(counts(&board), [(1, vec![7, 0])]);
        let cell = Box::new(board.sampled().cells.remove(0));
        assert_eq!(cell.label, tasks[0].label);
        board.take(&Event::CellDone { cell });
        assert!(counts(&board).is_empty());
    }
}
