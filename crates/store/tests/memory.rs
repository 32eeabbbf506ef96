//! A store in memory. It shows that the requirements are about the trait and not about SQLite.

use jiff::Timestamp;
use kurabe_core::digest::{DigestedRun, Digester, Digests, RunDigest};
use kurabe_core::environment::DeviceHealth;
use kurabe_core::made::MadeFile;
use kurabe_core::process::ProcessIdentity;
use kurabe_core::record::{
    Cell, FillRecord, Notice, Repetition, RunHeader, RunRecord, RunStatus, RunSummary,
};
use kurabe_core::{Result, Text};
use kurabe_store::{
    Archive, Runs, Store, StoreCheck, being_measured, check_label_key, export, no_such_run, parse_export,
    supersedes,
};
use serde_json::Value;
use std::cell::{Cell as Counter, RefCell, RefMut};
use std::collections::BTreeMap;
use std::path::PathBuf;

struct Stored {
    record: RunRecord,
    owner: Option<ProcessIdentity>,
    digest: Option<(u32, RunDigest)>,
}

/// Runs in the order of their start.
pub struct MemoryStore {
    digester: Digester,
    runs: RefCell<Vec<Stored>>,
    made_files: RefCell<BTreeMap<String, MadeFile>>,
    served: RefCell<Vec<Value>>,
    drawn: Counter<u32>,
}

impl MemoryStore {
    pub fn new(digester: Digester) -> Self {
        Self {
            digester,
            runs: RefCell::default(),
            made_files: RefCell::default(),
            served: RefCell::default(),
            drawn: Counter::default(),
        }
    }

    fn digest(&self, record: &RunRecord) -> (u32, RunDigest) {
        (self.digester.version, (self.digester.digest)(record))
    }

    fn run(&self, id: &str) -> Result<RefMut<'_, Stored>> {
        let run = |runs| {
            RefMut::filter_map(runs, |runs: &mut Vec<Stored>| {
                runs.iter_mut().find(|run| run.record.header.id == id)
            })
        };
        run(self.runs.borrow_mut()).map_err(|_| no_such_run(id))
    }

    fn draw_id(&self) -> String {
        self.drawn.set(self.drawn.get() + 1);
        format!("m{:03}", self.drawn.get())
    }

    fn insert(&self, record: RunRecord, owner: Option<ProcessIdentity>) -> String {
        let id = record.header.id.clone();
        let mut runs = self.runs.borrow_mut();
        runs.push(Stored { record, owner, digest: None });
        runs.sort_by_key(|run| run.record.header.started_at.parse::<Timestamp>().unwrap());
        id
    }
}

impl Runs for MemoryStore {
    fn salt(&self) -> Result<Vec<u8>> {
        Ok(vec![7; 16])
    }

    fn identified(&self, identity: &str) -> Result<Option<String>> {
        let runs = self.runs.borrow();
        let run = runs.iter().find(|run| run.record.header.identity == identity);
        Ok(run.map(|run| run.record.header.id.clone()))
    }

    fn list(&self) -> Result<Vec<RunSummary>> {
        Ok(self.runs.borrow().iter().map(|run| RunSummary::from(&run.record)).collect())
    }

    fn ids(&self, prefix: &str) -> Result<Vec<String>> {
        let runs = self.runs.borrow();
        let ids = runs.iter().map(|run| run.record.header.id.clone());
        Ok(ids.filter(|id| id.starts_with(prefix)).collect())
    }

    fn newest(&self) -> Result<Option<String>> {
        Ok(self.runs.borrow().last().map(|run| run.record.header.id.clone()))
    }

    fn load(&self, id: &str) -> Result<RunRecord> {
        Ok(self.run(id)?.record.clone())
    }

    fn digests(&self, _progress: &mut dyn FnMut(usize, usize)) -> Result<Digests> {
        let mut digests = Digests::default();
        let mut number = |word: &String| {
            let place = digests.words.iter().position(|other| other == word);
            place.unwrap_or_else(|| {
                digests.words.push(word.clone());
                digests.words.len() - 1
            }) as u32
        };
        for run in &mut *self.runs.borrow_mut() {
            if run.record.status == RunStatus::Running {
                continue;
            }
            if run.digest.as_ref().is_none_or(|(kept, _)| *kept != self.digester.version) {
                run.digest = Some(self.digest(&run.record));
            }
            let (_, digest) = run.digest.as_ref().unwrap();
            digests.runs.push(DigestedRun {
                id: run.record.header.id.clone(),
                facts: digest.facts.iter().map(&mut number).collect(),
                figures: digest.figures.iter().map(|(word, figure)| (number(word), *figure)).collect(),
                among: Vec::new(),
            });
        }
        Ok(digests)
    }
}

impl Archive for MemoryStore {
    fn import(&self, mut record: RunRecord) -> Result<String> {
        if record.header.id.is_empty() {
            record.header.id = self.draw_id();
        }
        let mut record = parse_export(export(&record).unwrap().as_bytes())?;
        for stored in &mut *self.runs.borrow_mut() {
            let (header, old) = (&stored.record.header, stored.record.labels.clone());
            if header.identity == record.header.identity {
                let (id, grown) = (header.id.clone(), supersedes(&record, &stored.record)?);
                let new = std::mem::take(&mut record.labels);
                if grown {
                    (stored.record, stored.digest) = (record, None);
                    stored.record.header.id.clone_from(&id);
                }
                stored.record.labels = new.into_iter().chain(old).collect();
                return Ok(id);
            }
        }
        if self.run(&record.header.id).is_ok() {
            record.header.id = self.draw_id();
        }
        Ok(self.insert(record, None))
    }

    fn keep_digest(&self, id: &str) -> Result<()> {
        let mut run = self.run(id)?;
        run.digest = Some(self.digest(&run.record));
        Ok(())
    }
}

impl Store for MemoryStore {
    fn begin_run(&self, header: &mut RunHeader, owner: &ProcessIdentity) -> Result<String> {
        header.id = self.draw_id();
        header.identity = format!("0190a1b2-c3d4-7e5f-9000-{:012x}", self.drawn.get());
        let record = RunRecord::begun(header.clone());
        Ok(self.insert(record, Some(owner.clone())))
    }

    fn update_header(&self, header: &RunHeader) -> Result<()> {
        let mut run = self.run(&header.id)?;
        (run.record.header, run.digest) = (header.clone(), None);
        Ok(())
    }

    fn note_made_file(&self, id: &str, file: Option<&MadeFile>) -> Result<()> {
        let mut files = self.made_files.borrow_mut();
        match file {
            Some(file) => files.insert(id.to_owned(), file.clone()),
            None => files.remove(id),
        };
        Ok(())
    }

    fn append_notice(&self, id: &str, notice: &Notice) -> Result<()> {
        self.run(id)?.record.notices.push(notice.clone());
        Ok(())
    }

    fn set_fill(&self, id: &str, fill: &FillRecord) -> Result<()> {
        self.run(id)?.record.fill = Some(*fill);
        Ok(())
    }

    fn put_cell(&self, id: &str, cell: &Cell) -> Result<()> {
        let mut run = self.run(id)?;
        run.digest = None;
        run.record.put_cell(cell.clone());
        Ok(())
    }

    fn put_repetition(&self, id: &str, cell_index: u32, repetition: &Repetition) -> Result<()> {
        let mut run = self.run(id)?;
        run.digest = None;
        let no_cell = || no_such_run(id);
        let cell = run.record.cells.iter_mut().find(|cell| cell.index == cell_index).ok_or_else(no_cell)?;
        cell.put_repetition(repetition.clone());
        Ok(())
    }

    fn finish_run(
        &self,
        id: &str,
        status: RunStatus,
        ended_at: &str,
        error: Option<&Text>,
        health_after: Option<&DeviceHealth>,
    ) -> Result<()> {
        let record = &mut self.run(id)?.record;
        (record.status, record.ended_at) = (status, Some(ended_at.to_owned()));
        (record.error, record.health_after) = (error.cloned(), health_after.cloned());
        Ok(())
    }

    fn label(&self, id: &str, key: &str, value: Option<&str>) -> Result<()> {
        check_label_key(key)?;
        let labels = &mut self.run(id)?.record.labels;
        match value {
            Some(value) => labels.insert(key.to_owned(), value.to_owned()),
            None => labels.remove(key),
        };
        Ok(())
    }

    fn remove(&self, id: &str, alive: &dyn Fn(&ProcessIdentity) -> bool) -> Result<()> {
        let run = self.run(id)?;
        let is_running = run.record.status == RunStatus::Running;
        if let Some(owner) = run.owner.as_ref().filter(|owner| is_running && alive(owner)) {
            return Err(being_measured(id, owner));
        }
        drop(run);
        self.runs.borrow_mut().retain(|run| run.record.header.id != id);
        Ok(())
    }

    fn running(&self) -> Result<Vec<(String, Option<ProcessIdentity>)>> {
        let runs = self.runs.borrow();
        let running = runs.iter().filter(|run| run.record.status == RunStatus::Running);
        Ok(running.map(|run| (run.record.header.id.clone(), run.owner.clone())).collect())
    }

    fn made_files(&self) -> Result<Vec<(String, MadeFile)>> {
        Ok(self.made_files.borrow().iter().map(|(id, file)| (id.clone(), file.clone())).collect())
    }

    fn verify(&self, record: &RunRecord) -> Result<RunRecord> {
        self.load(&record.header.id)
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn user(&self) -> Option<u32> {
        None
    }

    fn mark_interrupted(&self, id: &str, ended_at: &str) -> Result<()> {
        let mut run = self.run(id)?;
        if run.record.status == RunStatus::Running {
            (run.record.status, run.record.ended_at) = (RunStatus::Interrupted, Some(ended_at.to_owned()));
        }
        Ok(())
    }

    fn rescue(&self, _records: &[RunRecord]) -> Result<PathBuf> {
        Err(no_such_run("memory has no file beside it"))
    }

    fn keep_served(&self, record: &Value) -> Result<()> {
        self.served.borrow_mut().push(record.clone());
        Ok(())
    }

    fn served(&self) -> Result<Vec<(String, Value)>> {
        Ok(self
            .served
            .borrow()
            .iter()
            .map(|record| ("2026-01-31T13:00:00Z".to_owned(), record.clone()))
            .collect())
    }

    fn check(&self) -> Result<StoreCheck> {
        Ok(StoreCheck { runs: self.runs.borrow().len(), damages: Vec::new(), remarks: Vec::new() })
    }
}
