//! What is known of a run while it goes on: first in the store, then told.

use crate::clock::now;
use crate::handle::RunHandle;
use crate::recover::is_gone;
use crate::stream::Stream;
use kurabe_compare::{DIGEST_VERSION, digest};
use kurabe_core::event::Event;
use kurabe_core::made::MadeFile;
use kurabe_core::record::{Notice, NoticeKind, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, Text};
use kurabe_engine::Remains;
use kurabe_host::{ProcessIdentity, health, own_identity};
use kurabe_store::{Owner, Store};

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
    /// As it is stored.
    pub(crate) header: RunHeader,
    /// The test file or work folder, until it is known to be gone.
    made: Option<MadeFile>,
}

impl<'a> Journal<'a> {
    /// Takes an id.
    pub(crate) fn begin(lab: Lab<'a>, mut header: RunHeader) -> Result<Self> {
        let ProcessIdentity { pid, start_ticks, boot_id, pid_namespace, host_id } = own_identity();
        let owner = Owner { pid, start_ticks, boot_id, pid_namespace, host_id };
        lab.store.begin_run(&mut header, &owner)?;
        Ok(Self { lab, header, made: None })
    }

    /// Notes what is going to be made on a target, or what is known of it now that it is.
    pub(crate) fn note_made(&mut self, made: MadeFile) -> Result<()> {
        self.lab.store.note_made_file(&self.header.id, Some(&made))?;
        self.made = Some(made);
        Ok(())
    }

    /// Tells what the target left behind when it was closed. What is still in its place stays noted; all else is gone.
    pub(crate) fn left(&mut self, remains: Vec<Remains>) -> Result<()> {
        let is_left = remains.iter().any(|remains| remains.is_in_place);
        if self.made.is_some() && !is_left {
            self.lab.store.note_made_file(&self.header.id, None)?;
            self.made = None;
        }
        for Remains { error, .. } in remains {
            let text = Text { en: clauses(&error, |text| &text.en), ja: clauses(&error, |text| &text.ja) };
            self.tell(Event::Notice { notice: Notice { kind: NoticeKind::Other, text } })?;
        }
        Ok(())
    }

    /// Keeps an event, then tells it.
    pub(crate) fn tell(&mut self, event: Event) -> Result<()> {
        self.keep(&event)?;
        self.lab.stream.tell(&self.header.id, event)
    }

    /// What the store keeps of an event.
    pub(crate) fn keep(&mut self, event: &Event) -> Result<()> {
        let (id, store) = (&self.header.id, self.lab.store);
        match event {
            Event::Notice { notice } => store.append_notice(id, notice),
            Event::FillDone { fill } => {
                store.set_fill(id, fill)?;
                match &mut self.header.target {
                    // The time limit has cut the test file.
                    Some(target) if target.span_bytes != fill.written_bytes => {
                        target.span_bytes = fill.written_bytes;
                        store.update_header(&self.header)
                    }
                    _ => Ok(()),
                }
            }
            Event::StepsAdded { steps, .. } => {
                // The profile of the record holds what was measured, in the order in which it came about.
                if let Some(profile) = &mut self.header.profile {
                    profile.steps.extend_from_slice(steps);
                }
                store.update_header(&self.header)
            }
            Event::CellDone { cell } | Event::CellSoFar { cell } => store.put_cell(id, cell),
            _ => Ok(()),
        }
    }

    /// Ends the run, by an error if there was one. The target is closed before: a test file goes before anything else can
    /// fail.
    pub(crate) fn conclude(&mut self, error: Option<&Error>) -> Result<()> {
        let (id, store) = (&self.header.id, self.lab.store);
        let (status, error) = match error {
            None => (RunStatus::Complete, None),
            Some(error) if error.kind() == ErrorKind::Interrupted => (RunStatus::Interrupted, None),
            Some(error) => (RunStatus::Failed, Some(error.what().clone())),
        };
        let ended_at = now()?;
        let health_after = health(&self.header.environment.devices);
        store.finish_run(id, status, &ended_at, error.as_ref(), health_after.as_ref())?;
        keep_digest(store, id);
        self.lab.stream.tell(id, Event::RunDone { status, ended_at, error })
    }

    /// The run as it was stored; one of which nothing was measured is not kept.
    pub(crate) fn record(&self) -> Result<Option<RunRecord>> {
        let record = self.lab.store.load(&self.header.id)?;
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
            && is_gone(&self.header.id, made)
        {
            self.lab.store.note_made_file(&self.header.id, None)?;
        }
        self.lab.store.remove(&self.header.id, &|_| false)
    }
}

/// An error in one sentence: what, why, and what to do.
fn clauses(error: &Error, language: impl Fn(&Text) -> &String) -> String {
    let why = error.cause().map(|cause| format!(" ({cause})")).unwrap_or_default();
    let remedy = error.remedy_text().map(|remedy| format!("; {}", language(remedy))).unwrap_or_default();
    format!("{}{why}{remedy}", language(error.what()))
}
