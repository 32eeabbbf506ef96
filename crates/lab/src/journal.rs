//! What is known of a run while it goes on: first in the store, then told.
//!
//! The model: an event that brings something of the record is stored, and told when it is on the medium, so whatever was
//! heard of a run is there after a kill or a power cut. What only tells how it goes on (`Progress`, `FillProgress`, `Pause`,
//! `Preparing`, `RepetitionStarted`) is not stored, and what follows from stored repetitions (`RoundDone`, the standing of
//! targets in turns) is worked out from them again. Events that are stored come between repetitions: no transaction falls
//! into a measured time.

use crate::clock::now;
use crate::handle::RunHandle;
use crate::recover::is_gone;
use crate::served::ServedModel;
use crate::stream::{Happening, Stream};
use kurabe_compare::{DIGEST_VERSION, digest};
use kurabe_core::event::Event;
use kurabe_core::made::MadeFile;
use kurabe_core::mention::{DB, IMPORT};
use kurabe_core::record::{Notice, NoticeKind, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_engine::Remains;
use kurabe_host::{health, own_identity};
use kurabe_store::Store;
use std::path::PathBuf;

/// Where runs are kept, who hears of them, and what stops them.
#[derive(Clone, Copy)]
pub struct Lab<'a> {
    /// Where their records go.
    pub store: &'a dyn Store,
    /// Who hears of them.
    pub stream: &'a Stream,
    /// What stops them.
    pub handle: &'a RunHandle,
    /// The command line that their records keep.
    pub command: &'a [String],
}

/// Keeps the digest of a run that has ended. What cannot be kept now is made when it is asked for.
pub(crate) fn keep_digest(store: &dyn Store, id: &str) {
    let _ = store.keep_digest(id, DIGEST_VERSION, &digest);
}

/// A run in the store, from its id to its end.
pub(crate) struct Journal<'a> {
    pub(crate) lab: Lab<'a>,
    /// As it is stored, or would be if the store took it.
    pub(crate) record: RunRecord,
    /// Whether the store has failed: from then on the record is whole in memory only.
    lost: bool,
    /// The test file or work folder, until it is known to be gone.
    made: Option<MadeFile>,
}

impl<'a> Journal<'a> {
    /// Takes an id.
    pub(crate) fn begin(lab: Lab<'a>, mut header: RunHeader) -> Result<Self> {
        lab.store.begin_run(&mut header, &own_identity())?;
        let record = RunRecord::begun(header);
        Ok(Self { lab, record, lost: false, made: None })
    }

    pub(crate) fn id(&self) -> &str {
        &self.record.header.id
    }

    /// Notes what is going to be made on a target, or what is known of it now that it is.
    pub(crate) fn note_made(&mut self, made: MadeFile) -> Result<()> {
        self.lab.store.note_made_file(self.id(), Some(&made))?;
        self.made = Some(made);
        Ok(())
    }

    /// Notes the header, once the target is known, and the user's labels.
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

    /// Tells what the target left behind when it was closed. What is still in its place stays noted; all else is gone.
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

    /// Keeps an event, then tells it.
    pub(crate) fn tell(&mut self, event: Event) -> Result<()> {
        let kept = self.keep(&event);
        self.noted(kept)?;
        self.lab.stream.tell(self.id(), Happening::Run(event))
    }

    /// Keeps what there is to say of the served models under a target, now that it was measured.
    pub(crate) fn tell_served(&mut self, models: &[ServedModel]) -> Result<()> {
        models.iter().try_for_each(|model| self.tell(Event::Notice { notice: model.notice() }))
    }

    /// Notes whether the store failed.
    fn noted<T>(&mut self, stored: Result<T>) -> Result<T> {
        self.lost |= stored.is_err();
        stored
    }

    /// Keeps an event in the record, and in the store.
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

    /// Ends the run, by an error if there was one, and reads what is stored of it. The target is closed before: a test file
    /// goes before anything else can fail.
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
        self.record.health_after = health(&self.record.header.environment.devices);
        self.tell(Event::RunDone { status, ended_at, error })
    }

    /// The run as it is on the medium, which may have been overwritten unnoticed; one of which nothing was measured is not
    /// kept.
    fn stored(&self) -> Result<Option<RunRecord>> {
        if self.record.cells.is_empty() {
            self.discard()?;
            return Ok(None);
        }
        self.lab.store.verify(&self.record).map(Some)
    }

    /// Takes the run out of the store, because nothing was measured. The target is closed before; what it could not take
    /// away stays noted.
    pub(crate) fn discard(&self) -> Result<()> {
        // In a folder that this user may not search, no file was made, although none can be looked for.
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
    /// Its id.
    pub(crate) id: String,
    /// The run as it is stored; of one that the store did not take as it is in memory; `None` if nothing was measured.
    pub(crate) record: Option<RunRecord>,
    /// Whether the store did not take it.
    pub(crate) lost: bool,
    /// Whether it was closed as it should be.
    pub(crate) outcome: Result<()>,
}

/// What ended runs: where the store did not take one, they go into a file of their own, which is named. `outcome` is how the
/// measuring ended.
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
        || text!("the store did not take the run", "保存先に書けませんでした"),
        |failure| failure.what().clone(),
    );
    let (error, file) = match store.rescue(&lost) {
        Ok(file) => {
            let path = shown::path(&file);
            let word = shown::shell_word(&path);
            let error = ErrorKind::Store
                .error(text!(
                    "{what}; what was measured is in {path} instead",
                    "{what}。測定した結果は代わりに {path} に保存しました";
                    what
                ))
                .remedy(text!(
                    "`{IMPORT} {word}` takes it into a store; {DB} FILE names another one",
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
        /// A header, and events in an order in which they might come: repetitions are of cells that have begun.
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

    /// An event of a kind about one of these parts, if there is one.
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

        /// What follows a run live, what replays its stream, and what reads the store see the same run.
        #[test]
        fn a_run_is_the_same_live_replayed_and_stored((header, events) in any_run()) {
            let directory = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(&directory.path().join("kurabe.db")).unwrap();
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
