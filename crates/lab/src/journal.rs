//! Writes the events of a run to the store, then reports them.
//!
//! An event that adds to the record is reported only after it is durable in the store, so every
//! reported result survives a kill or a power cut. Events that only show progress (`Progress`,
//! `FillProgress`, `Pause`, `Preparing`, `RepetitionStarted`) are not stored. Events that follow
//! from stored repetitions (`RoundDone`, the standings of interleaved targets) are derived again.
//! Stored events occur between repetitions, so no transaction falls into a measured interval.

use crate::clock::now;
use crate::handle::RunHandle;
use crate::recover::is_gone;
use crate::served::ServedModel;
use crate::stream::{Stream, StreamEvent};
use crate::warmth::Warmth;
use kurabe_core::event::Event;
use kurabe_core::made::MadeFile;
use kurabe_core::mention::{DB, IMPORT};
use kurabe_core::record::{Cell, Notice, NoticeKind, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_engine::Remains;
use kurabe_host::own_identity;
use kurabe_store::Store;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Store, stream, handle and command line of runs.
#[derive(Clone, Copy)]
pub struct Lab<'a> {
    /// Store of the records.
    pub store: &'a dyn Store,
    /// Stream that receives the events.
    pub stream: &'a Stream,
    /// Handle that stops the runs.
    pub handle: &'a RunHandle,
    /// Command line to be recorded.
    pub command: &'a [String],
}

/// Stores the digest of a run that has ended. On failure it is computed when it is needed.
pub(crate) fn keep_digest(store: &dyn Store, id: &str) {
    let _ = store.keep_digest(id);
}

/// A run in the store, from its creation to its end.
pub(crate) struct Journal<'a> {
    pub(crate) lab: Lab<'a>,
    /// The record as it is stored, or would be if writing the store succeeded.
    pub(crate) record: RunRecord,
    /// Whether the store has failed. From then on only the record in memory is complete.
    lost: bool,
    /// The test file or work folder, until its removal is confirmed.
    made: Option<MadeFile>,
    /// Events of cells that are stored and reported together.
    waiting: Vec<Event>,
    warmth: Warmth,
}

/// A run on a model with more steps than this, such as a job file with thousands of jobs, stores its
/// cells in batches. Each write takes as long as the disk needs for a flush, and a modelled result can
/// be computed again.
const STEPS_SINGLY: usize = 256;
/// Number of cells in a batch.
const BATCH_CELLS: usize = 32;

impl<'a> Journal<'a> {
    /// Creates the run in the store with a new id.
    pub(crate) fn begin(lab: Lab<'a>, mut header: RunHeader) -> Result<Self> {
        lab.store.begin_run(&mut header, &own_identity())?;
        let record = RunRecord::begun(header);
        Ok(Self { lab, record, lost: false, made: None, waiting: Vec::new(), warmth: Warmth::default() })
    }

    pub(crate) fn id(&self) -> &str {
        &self.record.header.id
    }

    /// Records a file that is about to be created on a target, or its properties once it exists.
    pub(crate) fn note_made(&mut self, made: MadeFile) -> Result<()> {
        self.lab.store.note_made_file(self.id(), Some(&made))?;
        self.made = Some(made);
        Ok(())
    }

    /// Stores the header, once the target is known, and the user's labels.
    pub(crate) fn describe(&mut self, labels: &[(String, Option<String>)]) -> Result<()> {
        self.lab.store.update_header(&self.record.header)?;
        for (key, value) in labels {
            self.lab.store.label(self.id(), key, value.as_deref())?;
            match value {
                Some(value) => self.record.labels.insert(key.clone(), value.clone()),
                None => self.record.labels.remove(key),
            };
        }
        Ok(())
    }

    /// Reports files that closing the target could not remove. They stay listed in the store.
    /// Otherwise the entry is deleted.
    pub(crate) fn left(&mut self, remains: Vec<Remains>) -> Result<()> {
        let is_left = remains.iter().any(|remains| remains.is_in_place);
        for Remains { error, .. } in remains {
            let clauses = [error.what_and_why()].into_iter().chain(error.remedy_text().cloned());
            let text = Text::join(clauses, ["; "; 2]);
            self.tell(Event::Notice { notice: Notice::new(NoticeKind::Other, text) })?;
        }
        if self.made.is_some() && !is_left {
            let forgotten = self.lab.store.note_made_file(self.id(), None);
            self.noted(forgotten)?;
            self.made = None;
        }
        Ok(())
    }

    /// Stores an event, then reports it.
    pub(crate) fn tell(&mut self, event: Event) -> Result<()> {
        let is_of_cell =
            matches!(event, Event::CellBegun { .. } | Event::RepetitionDone { .. } | Event::CellDone { .. });
        if is_of_cell && self.is_batched() {
            self.record.apply(&event);
            self.waiting.push(event);
            let done = self.waiting.iter().filter(|event| matches!(event, Event::CellDone { .. })).count();
            return if done >= BATCH_CELLS { self.tell_waiting() } else { Ok(()) };
        }
        self.tell_waiting()?;
        let kept = self.keep(&event);
        self.noted(kept)?;
        self.warmth.hear(&event);
        self.lab.stream.tell(self.id(), StreamEvent::Run(event))
    }

    fn is_batched(&self) -> bool {
        let header = &self.record.header;
        let steps = header.profile.as_ref().map_or(0, |profile| profile.steps.len());
        header.model.is_some() && steps > STEPS_SINGLY
    }

    /// Stores the cells of the waiting events, then reports the events.
    fn tell_waiting(&mut self) -> Result<()> {
        let events = std::mem::take(&mut self.waiting);
        let index = |event: &Event| match event {
            Event::CellBegun { cell } | Event::CellDone { cell } => Some(cell.index),
            Event::RepetitionDone { cell_index, .. } => Some(*cell_index),
            _ => None,
        };
        let indices: BTreeSet<u32> = events.iter().filter_map(index).collect();
        let cells = self.record.cells.iter().filter(|cell| indices.contains(&cell.index));
        let cells: Vec<Cell> = cells.cloned().collect();
        if !cells.is_empty() {
            let stored = self.lab.store.put_cells(self.id(), &cells);
            self.noted(stored)?;
        }
        events.into_iter().try_for_each(|event| self.lab.stream.tell(self.id(), StreamEvent::Run(event)))
    }

    /// Stores and reports a notice for each served model below a target, after the measurement.
    pub(crate) fn tell_served(&mut self, models: &[ServedModel]) -> Result<()> {
        models.iter().try_for_each(|model| self.tell(Event::Notice { notice: model.notice() }))
    }

    /// Remembers whether the store failed, and passes on the result.
    fn noted<T>(&mut self, stored: Result<T>) -> Result<T> {
        self.lost |= stored.is_err();
        stored
    }

    /// Applies an event to the record and writes it to the store.
    fn keep(&mut self, event: &Event) -> Result<()> {
        self.record.apply(event);
        let (store, header) = (self.lab.store, &self.record.header);
        match event {
            Event::Notice { notice } => store.append_notice(&header.id, notice),
            Event::FillDone { fill } => {
                store.set_fill(&header.id, fill)?;
                store.update_header(header)
            }
            Event::StepsAdded { .. } => store.update_header(header),
            Event::CellBegun { cell } | Event::CellDone { cell } => store.put_cell(&header.id, cell),
            Event::RepetitionDone { cell_index, repetition } => {
                store.put_repetition(&header.id, *cell_index, repetition)
            }
            Event::RunDone { status, ended_at, error } => {
                let health = self.record.health_after.as_ref();
                store.finish_run(&header.id, *status, ended_at, error.as_ref(), health)?;
                keep_digest(store, &header.id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends the run, with its error if any, and reads it back from the store. The target is closed
    /// before, so that the test file is removed before anything else can fail.
    pub(crate) fn close(mut self, error: Option<&Error>) -> Closed {
        let id = self.id().to_owned();
        let concluded = self.conclude(error);
        let stored = self.stored();
        let stored = self.noted(stored);
        if self.lost {
            let outcome = concluded.and(stored.map(|_| ()));
            let record = Some(self.record).filter(|record| !record.cells.is_empty());
            return Closed { id, lost: record.is_some(), record, outcome };
        }
        match stored {
            Ok(record) => Closed { id, lost: false, record, outcome: concluded },
            Err(error) => Closed { id, lost: false, record: None, outcome: concluded.and(Err(error)) },
        }
    }

    fn conclude(&mut self, error: Option<&Error>) -> Result<()> {
        let (status, error) = match error {
            None => (RunStatus::Complete, None),
            Some(error) if error.kind() == ErrorKind::Interrupted => (RunStatus::Interrupted, None),
            Some(error) => (RunStatus::Failed, Some(error.what().clone())),
        };
        let ended_at = now()?;
        self.record.health_after = self.warmth.end(&self.record.header);
        self.tell(Event::RunDone { status, ended_at, error })
    }

    /// Returns the run as it is stored, because stored data may have been overwritten. A run
    /// without cells is deleted.
    fn stored(&self) -> Result<Option<RunRecord>> {
        if self.record.cells.is_empty() {
            self.discard()?;
            return Ok(None);
        }
        self.lab.store.verify(&self.record).map(Some)
    }

    /// Deletes the run from the store, because it has no results. The target is closed before.
    /// Files that could not be removed stay listed.
    pub(crate) fn discard(&self) -> Result<()> {
        // If the user may not search the folder, no file was created there, although this cannot be
        // checked.
        let was_never_made = |made: &MadeFile| made.made.is_none() && made.path.symlink_metadata().is_err();
        if let Some(made) = &self.made
            && (was_never_made(made) || is_gone(self.id(), made))
        {
            self.lab.store.note_made_file(self.id(), None)?;
        }
        self.lab.store.remove(self.id(), &|_| false)
    }
}

/// A run that was closed.
pub(crate) struct Closed {
    pub(crate) id: String,
    /// The run as stored, or as in memory if the store failed. `None` if there are no cells.
    pub(crate) record: Option<RunRecord>,
    /// Whether writing the run to the store failed.
    pub(crate) lost: bool,
    /// Whether closing succeeded.
    pub(crate) outcome: Result<()>,
}

/// Merges the results of runs that have ended. Runs that the store did not take are written to a
/// separate file, which is returned. `outcome` is the result of the measurement.
pub(crate) fn rescued<T>(
    store: &dyn Store,
    closed: &mut [Closed],
    outcome: Result<T>,
) -> (Result<T>, Option<PathBuf>) {
    let lost: Vec<RunRecord> =
        closed.iter().filter(|run| run.lost).filter_map(|run| run.record.clone()).collect();
    let is_stores = |error: &Error| matches!(error.kind(), ErrorKind::Store | ErrorKind::NoSuchRun);
    let mut failures: Vec<Error> = Vec::new();
    for run in closed {
        failures.extend(std::mem::replace(&mut run.outcome, Ok(())).err());
    }
    if lost.is_empty() {
        let failure = failures.into_iter().next();
        return (outcome.and_then(|value| failure.map_or(Ok(value), Err)), None);
    }
    let measured = outcome.err().filter(is_stores);
    let failure = measured.into_iter().chain(failures.into_iter().filter(is_stores)).next();
    let what = failure.as_ref().map_or_else(
        || text!("the run could not be saved to the store", "保存先に書けませんでした"),
        |failure| failure.what().clone(),
    );
    let (error, file) = match store.rescue(&lost) {
        Ok(file) => {
            let path = shown::path(&file);
            let word = shown::shell_word(&path);
            let error = ErrorKind::Store
                .error(text!(
                    "{what}; the results were saved to {path} instead",
                    "{what}。測定した結果は代わりに {path} に保存しました";
                    what
                ))
                .remedy(text!(
                    "import the file with `{IMPORT} {word}`; select another store with {DB} FILE",
                    "`{IMPORT} {word}` で保存先に取り込めます({DB} FILE で別の保存先を指定できます)"
                ));
            (error, Some(file))
        }
        Err(error) => {
            let also = Text::of(error.to_string(), error.what().ja.as_str());
            (ErrorKind::Store.error(Text::clauses([what, also])), None)
        }
    };
    let error = match failure.as_ref().and_then(Error::cause) {
        Some(cause) => error.because(cause),
        None => error,
    };
    (Err(error), file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{Cell, FillRecord};
    use kurabe_store::{Runs, SqliteStore};
    use kurabe_testkit::any_record;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::sync::{Arc, Mutex};

    prop_compose! {
        /// Returns a header with events in a possible order: repetitions belong to cells that have
        /// begun.
        fn any_run()(
            record in any_record(),
            picks in vec((0u8..8, any::<usize>()), 0..24),
        ) -> (RunHeader, Vec<Event>) {
            let RunRecord { header, notices, cells, status, ended_at, error, .. } = record;
            let started = Event::RunStarted {
                header: Box::new(header.clone()),
                cell_count: 0,
                planned_write_bytes: None,
                planned_write_ns: None,
                planned_ns: None,
            };
            let mut begun: Vec<u32> = Vec::new();
            let mut events = vec![started];
            for (kind, place) in picks {
                events.extend(any_event(kind, place, &header, &notices, &cells).filter(|event| match event {
                    Event::CellBegun { cell } | Event::CellDone { cell } => {
                        begun.push(cell.index);
                        true
                    }
                    Event::RepetitionDone { cell_index, .. } => begun.contains(cell_index),
                    _ => true,
                }));
            }
            events.push(Event::RunDone { status, ended_at: ended_at.unwrap_or_default(), error });
            (header, events)
        }
    }

    /// Returns an event of this kind about one of the parts, if there is one.
    fn any_event(
        kind: u8,
        place: usize,
        header: &RunHeader,
        notices: &[Notice],
        cells: &[Cell],
    ) -> Option<Event> {
        fn pick<T: Clone>(parts: &[T], place: usize) -> Option<T> {
            parts.get(place % parts.len().max(1)).cloned()
        }
        let cell = pick(cells, place).map(|mut cell| {
            cell.repetitions.sort_by_key(|repetition| repetition.index);
            cell.repetitions.dedup_by_key(|repetition| repetition.index);
            cell
        });
        let (bytes, elapsed_ns) = (place as u64 >> 1, place as u64);
        Some(match kind {
            0 => Event::Notice { notice: pick(notices, place)? },
            1 => Event::FillDone {
                fill: FillRecord { asked_bytes: bytes, written_bytes: bytes / 3, elapsed_ns },
            },
            2 => {
                let steps = vec![pick(&header.profile.as_ref()?.steps, place)?];
                Event::StepsAdded { steps, why: None, cell_count: 1, planned_ns: None }
            }
            3 => Event::CellBegun { cell: Box::new(Cell { repetitions: Vec::new(), ..cell? }) },
            4 | 5 => {
                let cell = cell?;
                let repetition = Box::new(pick(&cell.repetitions, place / 7)?);
                Event::RepetitionDone { cell_index: cell.index, repetition }
            }
            6 => Event::CellDone { cell: Box::new(cell?) },
            _ => Event::Pause { length_ns: elapsed_ns },
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        /// The live record, the replayed stream and the stored record are identical.
        #[test]
        fn a_run_is_the_same_live_replayed_and_stored((header, events) in any_run()) {
            let directory = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(&directory.path().join("kurabe.db"), kurabe_compare::DIGESTER).unwrap();
            let (stream, handle) = (Stream::default(), RunHandle::default());
            let lines = Arc::new(Mutex::new(Vec::new()));
            let kept = Arc::clone(&lines);
            stream.listen(Box::new(move |envelope| {
                kept.lock().unwrap().push(serde_json::to_string(envelope).unwrap());
                Ok(())
            }));
            let lab = Lab { store: &store, stream: &stream, handle: &handle, command: &[] };
            let mut journal = Journal::begin(lab, header).unwrap();
            let header = journal.record.header.clone();
            for event in events {
                journal.tell(event).unwrap();
            }
            let mut replayed = RunRecord::begun(header);
            for line in lines.lock().unwrap().iter() {
                replayed.apply(&serde_json::from_str(line).unwrap());
            }
            prop_assert_eq!(&replayed, &journal.record);
            prop_assert_eq!(&store.load(journal.id()).unwrap(), &journal.record);
        }
    }
}
