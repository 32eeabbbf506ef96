//! Traits of a store of runs.
//!
//! Code that lists runs or queries them takes `&dyn Runs`, and code that records takes `&dyn
//! Store`. Only the code that opens a store knows its kind. The requirements for every
//! implementation are in `tests/conformance.rs`.

use crate::{filter::Filter, identity, json, without_paths::without_paths};
use kurabe_core::digest::Digests;
use kurabe_core::environment::DeviceHealth;
use kurabe_core::mention::{CHECK, LIST, RM, RUN};
use kurabe_core::record::{
    Cell, FillRecord, Notice, Repetition, RunHeader, RunRecord, RunStatus, RunSummary,
};
use kurabe_core::{Error, ErrorKind, Result, Text, made::MadeFile, process::ProcessIdentity, text};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::PathBuf;

/// Name of the newest run.
pub const LAST: &str = "last";

/// Number of matching runs that an error for an ambiguous prefix lists.
const NAMED: usize = 8;

/// Result of checking a whole store.
#[derive(Debug)]
pub struct StoreCheck {
    /// Number of runs that were read.
    pub runs: usize,
    /// Damage, with the run that it concerns, if any.
    pub damages: Vec<(Option<String>, Error)>,
    /// Remarks that are not damage, such as who may read the file.
    pub remarks: Vec<Text>,
}

/// A run that was added to a store from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtRun {
    /// Id in this store.
    pub id: String,
    /// Whether it is new in this store.
    pub is_new: bool,
}

/// Hash of a run, by which two stores can compare it without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHash {
    /// Id in this store.
    pub id: String,
    /// Identity.
    pub identity: String,
    /// SHA-256 of the record without its id.
    pub sha256: Vec<u8>,
}

impl RunHash {
    /// Returns whether its run has one of these ids or identities. An empty list matches every run.
    pub(crate) fn is_meant(&self, words: &[String]) -> bool {
        words.is_empty() || words.contains(&self.id) || words.contains(&self.identity)
    }

    /// Computes the hash of a record.
    ///
    /// # Errors
    /// If the record cannot be written as JSON, which is a defect of kurabe.
    pub fn of(record: &RunRecord) -> Result<Self> {
        let (id, identity) = (record.header.id.clone(), record.header.identity.clone());
        Ok(Self { id, identity, sha256: Sha256::digest(record_text(record)?).to_vec() })
    }
}

/// Returns the JSON of a record without its id.
pub(crate) fn record_text(record: &RunRecord) -> std::result::Result<String, json::Unwritable> {
    let mut record = record.clone();
    record.header.id.clear();
    json::to_text(&record)
}

/// Read access to stored runs.
///
/// A call fails with [`ErrorKind::Store`] if the store cannot be read, and with
/// [`ErrorKind::NoSuchRun`] if the named run does not exist.
pub trait Runs {
    /// Returns sixteen random bytes that were created with the store.
    ///
    /// A serial number hashed with them identifies a device in this store only.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn salt(&self) -> Result<Vec<u8>>;

    /// Returns the id of the run with this identity.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn identified(&self, identity: &str) -> Result<Option<String>>;

    /// Returns all runs by their start, the newest last, without reading cells.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn list(&self) -> Result<Vec<RunSummary>>;

    /// Returns the runs of the list that match a filter.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn narrowed(&self, filter: &Filter) -> Result<Vec<RunSummary>> {
        Ok(filter.apply(self.list()?))
    }

    /// Returns the ids with this prefix by the start of their runs, the newest last.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn ids(&self, prefix: &str) -> Result<Vec<String>>;

    /// Returns the id of the newest run.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn newest(&self) -> Result<Option<String>>;

    /// Returns the id that a name refers to.
    ///
    /// The name can be an id or identity, the value of a label that only one run has, a unique
    /// prefix of an id, `last` for the newest run, or `last~N` for the run that is N runs older. Ids and
    /// identities ignore case.
    ///
    /// # Errors
    /// If the name matches no run or more than one.
    fn resolve(&self, prefix: &str) -> Result<String> {
        let word = prefix.to_ascii_lowercase();
        if word == LAST {
            return self.newest()?.ok_or_else(|| {
                ErrorKind::NoSuchRun
                    .error(text!("the store contains no runs yet", "測定がまだ 1 つもありません"))
                    .remedy(text!("measure something first: `{RUN}`", "まず `{RUN}` で測定してください"))
            });
        }
        if let Some(older) = runs_before_last(&word) {
            let mut newest_first = self.list()?.into_iter().rev().map(|run| run.id);
            return newest_first.nth(older).ok_or_else(|| no_such_run(prefix));
        }
        let ids = if word.is_empty() { Vec::new() } else { self.ids(&word)? };
        if ids.contains(&word) {
            return Ok(word);
        }
        if identity::is_well_formed(&word)
            && let Some(id) = self.identified(&word)?
        {
            return Ok(id);
        }
        let is_labelled =
            |run: &RunSummary| !prefix.is_empty() && run.labels.values().any(|value| value == prefix);
        let labelled: Vec<String> = self.list()?.into_iter().filter(is_labelled).map(|run| run.id).collect();
        match (labelled.as_slice(), ids.as_slice()) {
            ([], []) => Err(no_such_run(prefix)),
            ([only], _) | ([], [only]) => Ok(only.clone()),
            ([], several) | (several, _) => Err(ambiguous(prefix, several)),
        }
    }

    /// Loads a complete run.
    ///
    /// # Errors
    /// If the store cannot be read, has no such run, or holds one that cannot be parsed.
    fn load(&self, id: &str) -> Result<RunRecord>;

    /// Loads complete runs, or the reason why one cannot be read. A store that caches hashes adds
    /// those of the runs it reads.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    fn load_all(&self, ids: &[String]) -> Result<Vec<Result<RunRecord>>> {
        Ok(ids.iter().map(|id| self.load(id)).collect())
    }

    /// Returns those of [`hashes`](Self::hashes) that are available without reading runs.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn kept_hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        self.hashes(words)
    }

    /// Returns the hashes of the runs with these ids or identities, or of all if the list is empty.
    /// Runs in progress and unreadable ones are left out.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    fn hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        let mut hashes = Vec::new();
        for run in self.list()?.iter().filter(|run| run.status != RunStatus::Running) {
            let hash = self.load(&run.id).and_then(|record| RunHash::of(&record));
            hashes.extend(hash.ok().filter(|hash| hash.is_meant(words)));
        }
        Ok(hashes)
    }

    /// Returns the digests of all runs that are not in progress, each of the current record.
    ///
    /// Digests that are missing or of another version are computed first; `progress` receives how
    /// many of them are done and their total.
    ///
    /// # Errors
    /// If the store cannot be read or written. Records that cannot be read are named in the result
    /// instead.
    fn digests(&self, progress: &mut dyn FnMut(usize, usize)) -> Result<Digests>;

    /// Returns [`digests`](Self::digests) of at least these runs, if a few can be read faster than
    /// all.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    fn digests_of(&self, _runs: &[RunSummary], progress: &mut dyn FnMut(usize, usize)) -> Result<Digests> {
        self.digests(progress)
    }

    /// Returns [`list`](Self::list) and [`digests`](Self::digests) for aggregation.
    ///
    /// If that is faster, runs with equal facts, cells, labels and target are pooled into one,
    /// which lists them in [`among`](kurabe_core::digest::DigestedRun::among). With `day_chars`,
    /// this many characters of the day of measurement must be equal as well.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    fn pooled(
        &self,
        _day_chars: Option<usize>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(Vec<RunSummary>, Digests)> {
        Ok((self.list()?, self.digests(progress)?))
    }
}

/// A store to which runs from elsewhere are added.
pub trait Archive: Runs {
    /// Stores a run from elsewhere and returns its id here: its own if it has one that is free,
    /// otherwise a new one.
    ///
    /// A run whose identity is already stored is not stored twice. Labels that the stored run lacks
    /// are added to it, and a stored run that was incomplete is replaced by one that
    /// [supersedes](crate::supersedes) it.
    ///
    /// # Errors
    /// If the record is inconsistent, if it differs from the stored run with its identity, or if
    /// the store cannot be written.
    fn import(&self, record: RunRecord) -> Result<String>;

    /// Computes and stores the digest of a run.
    ///
    /// If it is called when a run ends, the first query over many runs need not read this one.
    ///
    /// # Errors
    /// If the store cannot be written, or the run cannot be read.
    fn keep_digest(&self, id: &str) -> Result<()>;

    /// Returns the identities of the runs that are stored here with the same hash. If digests are
    /// stored together with runs, they must have the current version.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    fn holds(&self, offered: &[RunHash]) -> Result<HashSet<String>> {
        let identities: Vec<String> = offered.iter().map(|hash| hash.identity.clone()).collect();
        let here: HashSet<_> =
            self.hashes(&identities)?.into_iter().map(|hash| (hash.identity, hash.sha256)).collect();
        let is_here = |hash: &&RunHash| here.contains(&(hash.identity.clone(), hash.sha256.clone()));
        Ok(offered.iter().filter(is_here).map(|hash| hash.identity.clone()).collect())
    }

    /// Stores runs with their digests, each as by [`import`](Self::import). Returns for each run
    /// its id here, or the reason why it was not stored.
    ///
    /// # Errors
    /// If the store cannot be written. It is then unknown which runs are stored, and the call can
    /// be repeated.
    fn take(&self, records: Vec<RunRecord>) -> Result<Vec<Result<BroughtRun>>> {
        let mut arrivals = Vec::new();
        for record in records {
            let is_new = self.identified(&record.header.identity)?.is_none();
            arrivals.push(match self.import(record) {
                Ok(id) => self.keep_digest(&id).map(|()| BroughtRun { id, is_new }),
                Err(error) if error.kind() == ErrorKind::Store => return Err(error),
                Err(error) => Err(error),
            });
        }
        Ok(arrivals)
    }
}

/// A store into which runs are measured.
///
/// Every call that changes something is complete and durable when it returns, and appears to
/// readers as one change. A call fails with [`ErrorKind::Store`] if the store cannot be read or
/// written, and with [`ErrorKind::NoSuchRun`] if the named run does not exist.
pub trait Store: Archive {
    /// Begins a run: draws its id and identity, writes them to the header, and stores the run as
    /// running. Returns the id.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn begin_run(&self, header: &mut RunHeader, owner: &ProcessIdentity) -> Result<String>;

    /// Replaces the header of a run, once more is known about its target. The id stays the same.
    ///
    /// # Errors
    /// If the store cannot be written or has no such run.
    fn update_header(&self, header: &RunHeader) -> Result<()>;

    /// Records the test file or work folder that the run created or is about to create, so that it
    /// can be removed if the run dies; `None` once it is removed. It stays recorded when the run
    /// ends or is removed.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn note_made_file(&self, id: &str, file: Option<&MadeFile>) -> Result<()>;

    /// Appends a notice.
    ///
    /// # Errors
    /// If the store cannot be written or has no such run.
    fn append_notice(&self, id: &str, notice: &Notice) -> Result<()>;

    /// Records how the test file was written.
    ///
    /// # Errors
    /// If the store cannot be written or has no such run.
    fn set_fill(&self, id: &str, fill: &FillRecord) -> Result<()>;

    /// Appends a cell with its repetitions, or replaces the one with its index.
    ///
    /// When this returns, the cell is on the medium. The status of the run does not matter: results
    /// are stored even if another process considered the run abandoned.
    ///
    /// # Errors
    /// If the store cannot be written or has no such run.
    fn put_cell(&self, id: &str, cell: &Cell) -> Result<()>;

    /// Appends several cells, or replaces those with their indices. A store that can do so writes them
    /// at once.
    ///
    /// # Errors
    /// If the store cannot be written or has no such run.
    fn put_cells(&self, id: &str, cells: &[Cell]) -> Result<()> {
        cells.iter().try_for_each(|cell| self.put_cell(id, cell))
    }

    /// Appends a repetition to a stored cell, or replaces the one with its index.
    ///
    /// When this returns, the repetition is on the medium. The cost does not grow with the cell.
    ///
    /// # Errors
    /// If the store cannot be written or has no such run or cell.
    fn put_repetition(&self, id: &str, cell_index: u32, repetition: &Repetition) -> Result<()>;

    /// Closes the run.
    ///
    /// # Errors
    /// If the store cannot be written or has no such run.
    fn finish_run(
        &self,
        id: &str,
        status: RunStatus,
        ended_at: &str,
        error: Option<&Text>,
        health_after: Option<&DeviceHealth>,
    ) -> Result<()>;

    /// Stores the final record of a model's server, which does not belong to a run.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn keep_served(&self, record: &Value) -> Result<()>;

    /// Returns the records of servers with the time at which each was stored, the oldest first.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    fn served(&self) -> Result<Vec<(String, Value)>>;

    /// Sets a label of a run, or removes it if `value` is `None`. Removing a label that does not
    /// exist succeeds.
    ///
    /// # Errors
    /// If the key is not valid, if the run does not exist, or if the store cannot be written.
    fn label(&self, id: &str, key: &str, value: Option<&str>) -> Result<()>;

    /// Removes a run from the store.
    ///
    /// # Errors
    /// If a live process is measuring it ([`ErrorKind::Refused`]), if it does not exist, or if the
    /// store cannot be written.
    fn remove(&self, id: &str, alive: &dyn Fn(&ProcessIdentity) -> bool) -> Result<()>;

    /// Returns the runs marked as running with the processes that measure them, in order of their
    /// start.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn running(&self) -> Result<Vec<(String, Option<ProcessIdentity>)>>;

    /// Returns the files that runs created and that may still exist, by the ids of the runs.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn made_files(&self) -> Result<Vec<(String, MadeFile)>>;

    /// Reads a run that has ended from its storage, bypassing caches, and compares it with the one
    /// in memory, except for the labels. Returns the stored run.
    ///
    /// # Errors
    /// If the store cannot be read, or holds something else.
    fn verify(&self, record: &RunRecord) -> Result<RunRecord>;

    /// Returns whether this process cannot write to the store.
    fn is_read_only(&self) -> bool;

    /// Returns the user who owns the store, if known. File paths in it are only as trustworthy as
    /// this user.
    fn user(&self) -> Option<u32>;

    /// Marks an abandoned run as interrupted. A run that has ended otherwise stays unchanged.
    ///
    /// # Errors
    /// If the run does not exist or the store cannot be written.
    fn mark_interrupted(&self, id: &str, ended_at: &str) -> Result<()>;

    /// Writes runs that the store no longer accepts to a new file that `kurabe import` reads. The
    /// file is named after the first run. Returns its path.
    ///
    /// # Errors
    /// If no directory accepts the file.
    fn rescue(&self, records: &[RunRecord]) -> Result<PathBuf>;

    /// Reads everything that is stored, and checks its integrity.
    ///
    /// # Errors
    /// If nothing can be read.
    fn check(&self) -> Result<StoreCheck>;
}

/// Returns N of a name `last~N`, the number of newer runs.
fn runs_before_last(word: &str) -> Option<usize> {
    word.strip_prefix(LAST)?.strip_prefix('~')?.parse().ok()
}

/// Creates the error for a run that does not exist.
pub fn no_such_run(id: &str) -> Error {
    ErrorKind::NoSuchRun
        .error(text!("the run `{id}` does not exist", "`{id}` という測定はありません"))
        .remedy(text!("choose a run from `{LIST}`", "`{LIST}` で一覧を見られます"))
}

/// Creates the error for a run that is being measured and cannot be removed.
pub fn being_measured(id: &str, owner: &ProcessIdentity) -> Error {
    let pid = owner.pid;
    ErrorKind::Refused
        .error(text!(
            "the run `{id}` is being measured now (process {pid})",
            "測定 `{id}` は実行中です(プロセス {pid})"
        ))
        .remedy(text!(
            "wait until it ends, or press Ctrl+C in its terminal",
            "終わるのを待つか、実行している端末で Ctrl+C を押して止めてください"
        ))
}

fn ambiguous(prefix: &str, ids: &[String]) -> Error {
    let mut names = ids[..ids.len().min(NAMED)].join(", ");
    if ids.len() > NAMED {
        names.push_str(", …");
    }
    let count = ids.len();
    ErrorKind::NoSuchRun
        .error(text!(
            "`{prefix}` matches {count} runs: {names}",
            "`{prefix}` に当てはまる測定が {count} 件あります: {names}"
        ))
        .remedy(text!("use one of the ids", "ID を書いてください"))
}

/// Returns whether a run replaces the stored one with its identity.
///
/// It does if the stored one was incomplete and all of its results are in the new one. Otherwise
/// the stored one is kept: the new one is the same run, with or without its paths, or an earlier
/// state of it.
///
/// # Errors
/// If they differ in their results or in their metadata ([`ErrorKind::Refused`]).
pub fn supersedes(run: &RunRecord, stored: &RunRecord) -> Result<bool> {
    let (run, stored) = (&comparable(run, stored), &comparable(stored, stored));
    let same_without_paths = || Ok::<_, Error>(without_paths(run)? == without_paths(stored)?);
    if run == stored || is_earlier(run, stored) || same_without_paths()? {
        return Ok(false);
    }
    if stored.status != RunStatus::Running && is_earlier(stored, run) {
        return Ok(true);
    }
    let id = &stored.header.id;
    Err(ErrorKind::Refused
        .error(text!(
            "the run to import has the identity of the stored run `{id}`, but different content: one of \
             them was changed",
            "取り込む測定は保存済みの測定 `{id}` と識別子が同じですが、内容が違います。どちらかが書き換えられています"
        ))
        .remedy(text!(
            "if the run to import is the correct one, remove the stored one with `{RM} {id}`; check for \
             damage with `{CHECK}`",
            "取り込む方が正しければ `{RM} {id}` で保存済みの測定を取り除いてください。破損は `{CHECK}` で分かります"
        )))
}

/// Returns the part of a run that all copies have in common: everything except the id, the labels and
/// health data, which can be attached later. For a run of another tool, the details of the import and
/// the environment, which the health data completes, are excluded as well. The id is that of the
/// stored run.
fn comparable(run: &RunRecord, stored: &RunRecord) -> RunRecord {
    let mut run = run.clone();
    run.labels.clear();
    run.health_after = None;
    for device in &mut run.header.environment.devices {
        device.health = None;
    }
    let (header, other) = (&mut run.header, &stored.header);
    header.id.clone_from(&other.id);
    if header.origin.is_some() {
        header.started_at.clone_from(&other.started_at);
        header.command.clone_from(&other.command);
        header.kurabe_version.clone_from(&other.kurabe_version);
        header.environment.devices.clear();
    }
    run
}

/// Returns whether a run is an earlier, incomplete state of another.
fn is_earlier(run: &RunRecord, other: &RunRecord) -> bool {
    // From the first cell on, only the profile grows.
    let header = RunHeader { profile: other.header.profile.clone(), ..run.header.clone() };
    let is_in = |cell: &Cell, other: &Cell| {
        (cell.index, &cell.label) == (other.index, &other.label)
            && cell.repetitions.iter().all(|repetition| other.repetitions.contains(repetition))
    };
    run.status == RunStatus::Interrupted
        && run.header.origin.is_none()
        && (header == other.header || run.cells.is_empty())
        && run.cells.iter().all(|cell| other.cells.iter().any(|other| is_in(cell, other)))
}
