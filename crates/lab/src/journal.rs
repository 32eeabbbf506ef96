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
use crate::stream::Stream;
use kurabe_compare::{DIGEST_VERSION, digest};
use kurabe_core::event::Event;
use kurabe_core::made::MadeFile;
use kurabe_core::record::{Cell, Notice, NoticeKind, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_engine::Remains;
use kurabe_host::{health, own_identity};
use kurabe_store::Store;

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
            let text = Text { en: clauses(&error, |text| &text.en), ja: clauses(&error, |text| &text.ja) };
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
        self.lab.stream.tell(self.id(), event)
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

    /// Keeps what an event brings to the record.
    fn keep(&mut self, event: &Event) -> Result<()> {
        let store = self.lab.store;
        let RunRecord { header, fill: kept_fill, notices, cells, .. } = &mut self.record;
        match event {
            Event::Notice { notice } => {
                notices.push(notice.clone());
                store.append_notice(&header.id, notice)
            }
            Event::FillDone { fill } => {
                *kept_fill = Some(*fill);
                store.set_fill(&header.id, fill)?;
                match &mut header.target {
                    // The time limit has cut the test file.
                    Some(target) if target.span_bytes != fill.written_bytes => {
                        target.span_bytes = fill.written_bytes;
                        store.update_header(header)
                    }
                    _ => Ok(()),
                }
            }
            Event::StepsAdded { steps, .. } => {
                // The profile of the record holds what was measured, in the order in which it came about.
                if let Some(profile) = &mut header.profile {
                    profile.steps.extend_from_slice(steps);
                }
                store.update_header(header)
            }
            Event::CellBegun { cell } | Event::CellDone { cell } => {
                put(cells, cell);
                store.put_cell(&header.id, cell)
            }
            Event::RepetitionDone { cell_index, repetition } => {
                if let Some(cell) = cells.iter_mut().find(|cell| cell.index == *cell_index) {
                    cell.repetitions.push((**repetition).clone());
                }
                store.put_repetition(&header.id, *cell_index, repetition)
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
        let health_after = health(&self.record.header.environment.devices);
        let record = &mut self.record;
        (record.status, record.ended_at) = (status, Some(ended_at.clone()));
        (record.error, record.health_after) = (error.clone(), health_after.clone());
        let (store, id) = (self.lab.store, self.id());
        let finished = store.finish_run(id, status, &ended_at, error.as_ref(), health_after.as_ref());
        self.noted(finished)?;
        keep_digest(store, self.id());
        self.lab.stream.tell(self.id(), Event::RunDone { status, ended_at, error })
    }

    /// The run as it was stored; one of which nothing was measured is not kept.
    fn stored(&self) -> Result<Option<RunRecord>> {
        let record = self.lab.store.load(self.id())?;
        if record.cells.is_empty() {
            self.discard()?;
            return Ok(None);
        }
        Ok(Some(record))
    }

    /// Takes the run out of the store, because nothing was measured. The target is closed before; what it could not take
    /// away stays noted.
    pub(crate) fn discard(&self) -> Result<()> {
        if let Some(made) = &self.made
            && is_gone(self.id(), made)
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

/// What ended runs: where the store did not take one, they go into a file of their own, and that is what is said. `outcome`
/// is how the measuring ended.
pub(crate) fn rescued<T>(store: &dyn Store, closed: &mut [Closed], outcome: Result<T>) -> Result<T> {
    let lost: Vec<RunRecord> =
        closed.iter().filter(|run| run.lost).filter_map(|run| run.record.clone()).collect();
    let is_stores = |error: &Error| matches!(error.kind(), ErrorKind::Store | ErrorKind::NoSuchRun);
    let mut failures: Vec<Error> = Vec::new();
    for run in closed {
        failures.extend(std::mem::replace(&mut run.outcome, Ok(())).err());
    }
    if lost.is_empty() {
        let value = outcome?;
        return failures.into_iter().next().map_or(Ok(value), Err);
    }
    let measured = outcome.err().filter(is_stores);
    let failure = measured.into_iter().chain(failures.into_iter().filter(is_stores)).next();
    let (en, ja) = failure.as_ref().map_or_else(
        || ("the store did not take the run".to_owned(), "保存先に書けませんでした".to_owned()),
        |failure| (failure.what().en.clone(), failure.what().ja.clone()),
    );
    let error = match store.rescue(&lost) {
        Ok(path) => {
            let path = kurabe_core::shown::path(&path);
            Error::new(
                ErrorKind::Store,
                text!(
                    "{en}; what was measured is in {path} instead",
                    "{ja}。測定した結果は代わりに {path} に保存しました"
                ),
            )
            .remedy(text!(
                "`kurabe import {path}` takes it into a store; --db FILE names another one",
                "`kurabe import {path}` で保存先に取り込めます(--db FILE で別の保存先を指定できます)"
            ))
        }
        Err(error) => {
            let (also_en, also_ja) = (error.to_string(), &error.what().ja);
            Error::new(ErrorKind::Store, text!("{en}; {also_en}", "{ja}。{also_ja}"))
        }
    };
    Err(match failure.as_ref().and_then(Error::cause) {
        Some(cause) => error.because(cause),
        None => error,
    })
}

/// Puts a cell in its place, over the one that may be there.
fn put(cells: &mut Vec<Cell>, cell: &Cell) {
    match cells.iter_mut().find(|other| other.index == cell.index) {
        Some(kept) => *kept = cell.clone(),
        None => {
            cells.push(cell.clone());
            cells.sort_by_key(|cell| cell.index);
        }
    }
}

/// An error in one sentence: what, why, and what to do.
fn clauses(error: &Error, language: impl Fn(&Text) -> &String) -> String {
    let why = error.cause().map(|cause| format!(" ({cause})")).unwrap_or_default();
    let remedy = error.remedy_text().map(|remedy| format!("; {}", language(remedy))).unwrap_or_default();
    format!("{}{why}{remedy}", language(error.what()))
}
