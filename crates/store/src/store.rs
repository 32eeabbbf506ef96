//! What is asked of a store of runs. Whoever lists or asks across runs takes `&dyn Runs`, whoever records takes a `&dyn Store`;
//! where the runs lie is the business of who opens it. What any store must keep of this is in `tests/conformance.rs`.

use crate::{filter::Filter, identity, json, without_paths::without_paths};
use kurabe_core::digest::{Digests, RunDigest};
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

/// The word that means the newest run.
pub const LAST: &str = "last";

/// How many of the runs that a prefix may mean are named.
const NAMED: usize = 8;

/// What a look at a whole store came to.
#[derive(Debug)]
pub struct StoreCheck {
    /// Runs that were read.
    pub runs: usize,
    /// What is damaged, with the run if it is one.
    pub damages: Vec<(Option<String>, Error)>,
    /// What is no damage and still worth a word: who may read the file.
    pub remarks: Vec<Text>,
}

/// A run of elsewhere that is in a store now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtRun {
    /// Its id there.
    pub id: String,
    /// Whether it was not there before.
    pub is_new: bool,
}

/// What a run is, in a few bytes: where two stores have the same of it, nobody need read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHash {
    /// Its id here.
    pub id: String,
    /// Its identity.
    pub identity: String,
    /// SHA-256 of its record, of which the id is no part.
    pub sha256: Vec<u8>,
}

impl RunHash {
    /// Whether it is of a run with one of these ids or identities, or of any if there are none.
    pub(crate) fn is_meant(&self, words: &[String]) -> bool {
        words.is_empty() || words.contains(&self.id) || words.contains(&self.identity)
    }

    /// Computes the hash of a record.
    ///
    /// # Errors
    /// When the record cannot be written as JSON, which is a defect of kurabe.
    pub fn of(record: &RunRecord) -> Result<Self> {
        let (id, identity) = (record.header.id.clone(), record.header.identity.clone());
        Ok(Self { id, identity, sha256: Sha256::digest(record_text(record)?).to_vec() })
    }
}

/// JSON of a record without its id.
pub(crate) fn record_text(record: &RunRecord) -> std::result::Result<String, json::Unwritable> {
    let mut record = record.clone();
    record.header.id.clear();
    json::to_text(&record)
}

/// Runs that are stored, for whoever only reads. A call fails with [`ErrorKind::Store`] when the store cannot be read, and with
/// [`ErrorKind::NoSuchRun`] when the run that it names is not there.
pub trait Runs {
    /// Sixteen random bytes, made once with the store: with them a serial number becomes a hash that tells devices
    /// apart here and nowhere else.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn salt(&self) -> Result<Vec<u8>>;

    /// The id of the run with this identity.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn identified(&self, identity: &str) -> Result<Option<String>>;

    /// All runs by their start, the newest last. No cell is read.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list(&self) -> Result<Vec<RunSummary>>;

    /// The runs of the list that a filter means.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn narrowed(&self, filter: &Filter) -> Result<Vec<RunSummary>> {
        Ok(filter.apply(self.list()?))
    }

    /// The ids that begin with this prefix, by the start of their runs, the newest last.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn ids(&self, prefix: &str) -> Result<Vec<String>>;

    /// The id of the newest run.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn newest(&self) -> Result<Option<String>>;

    /// The id that is meant: itself, or that of the run with this identity, or of the only run with a label of this value, or the only one that begins so, or the
    /// newest run for `last`. Of ids and identities, capitals are taken for small letters.
    ///
    /// # Errors
    /// When no run or more than one is meant.
    fn resolve(&self, prefix: &str) -> Result<String> {
        let word = prefix.to_ascii_lowercase();
        if word == LAST {
            return self.newest()?.ok_or_else(|| {
                ErrorKind::NoSuchRun
                    .error(text!("the store has no run yet", "測定がまだ 1 つもありません"))
                    .remedy(text!("measure something first: `{RUN}`", "まず `{RUN}` で測定してください"))
            });
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

    /// A run, whole.
    ///
    /// # Errors
    /// When the store cannot be read, has no such run, or what it has cannot be understood.
    fn load(&self, id: &str) -> Result<RunRecord>;

    /// Runs, whole, or why one cannot be read. Where hashes are kept, that of what is read is kept by the way.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    fn load_all(&self, ids: &[String]) -> Result<Vec<Result<RunRecord>>> {
        Ok(ids.iter().map(|id| self.load(id)).collect())
    }

    /// Those of [`hashes`](Self::hashes) for which no run need be read.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn kept_hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        self.hashes(words)
    }

    /// Hashes of the runs with these ids or identities, or of all; of those that are over and can be read.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    fn hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        let mut hashes = Vec::new();
        for run in self.list()?.iter().filter(|run| run.status != RunStatus::Running) {
            let hash = self.load(&run.id).and_then(|record| RunHash::of(&record));
            hashes.extend(hash.ok().filter(|hash| hash.is_meant(words)));
        }
        Ok(hashes)
    }

    /// The digests of all runs that are not being measured, each of its record as it is now. Those that are missing,
    /// or were made by another version of `make`, are made first; `progress` is given how many of how many are.
    ///
    /// # Errors
    /// When the store cannot be read or written. A record that cannot be read is named in the result instead.
    fn digests(
        &self,
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Digests>;

    /// [`digests`](Self::digests) of these runs at least, where asking for few is quicker than for all.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    fn digests_of(
        &self,
        _runs: &[RunSummary],
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Digests> {
        self.digests(version, make, progress)
    }

    /// [`list`](Self::list) and [`digests`](Self::digests), for who adds runs up. Where that is quicker, runs that have facts, cells,
    /// labels and target in common, and so many letters of the day of measuring, if that many decide, are one of them, with what is
    /// [`among`](kurabe_core::digest::DigestedRun::among) them.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    fn pooled(
        &self,
        _day_chars: Option<usize>,
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(Vec<RunSummary>, Digests)> {
        Ok((self.list()?, self.digests(version, make, progress)?))
    }
}

/// A store that runs of elsewhere are brought to.
pub trait Archive: Runs {
    /// Stores a run of somewhere else and returns its id here: its own if it has one and that is free, else a new one.
    /// A run whose identity is here is not stored twice: labels that it lacks are added to it, and one that was not over is
    /// replaced by what [supersedes](crate::supersedes) it.
    ///
    /// # Errors
    /// When the record contradicts itself, when it differs from the run with its identity, or when the store cannot be written.
    fn import(&self, record: RunRecord) -> Result<String>;

    /// Makes and keeps the digest of a run. Called when a run ends, this spares the first question across runs the
    /// reading of it.
    ///
    /// # Errors
    /// When the store cannot be written, or the run cannot be read.
    fn keep_digest(&self, id: &str, version: u32, make: &dyn Fn(&RunRecord) -> RunDigest) -> Result<()>;

    /// Identities of those of these runs that are here as they are there, with a digest of this version where digests come with
    /// their runs.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    fn holds(&self, offered: &[RunHash], _version: u32) -> Result<HashSet<String>> {
        let identities: Vec<String> = offered.iter().map(|hash| hash.identity.clone()).collect();
        let here: HashSet<_> =
            self.hashes(&identities)?.into_iter().map(|hash| (hash.identity, hash.sha256)).collect();
        let is_here = |hash: &&RunHash| here.contains(&(hash.identity.clone(), hash.sha256.clone()));
        Ok(offered.iter().filter(is_here).map(|hash| hash.identity.clone()).collect())
    }

    /// Stores runs with their digests, each as [`import`](Self::import) does; tells of each where it is now, or why it is not.
    ///
    /// # Errors
    /// When the store cannot be written: then nobody knows which of them are there, and the same call may be made again.
    fn take(
        &self,
        records: Vec<RunRecord>,
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
    ) -> Result<Vec<Result<BroughtRun>>> {
        let mut arrivals = Vec::new();
        for record in records {
            let is_new = self.identified(&record.header.identity)?.is_none();
            arrivals.push(match self.import(record) {
                Ok(id) => self.keep_digest(&id, version, make).map(|()| BroughtRun { id, is_new }),
                Err(error) if error.kind() == ErrorKind::Store => return Err(error),
                Err(error) => Err(error),
            });
        }
        Ok(arrivals)
    }
}

/// A store that is measured into. Every call that changes something is whole and durable when it returns, and is one change for
/// others who read. A call fails with [`ErrorKind::Store`] when the store cannot be read or written, and with
/// [`ErrorKind::NoSuchRun`] when the run that it names is not there.
pub trait Store: Archive {
    /// Begins a run: draws its id and its identity, writes them into the header, and stores the run as running. Returns the id.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn begin_run(&self, header: &mut RunHeader, owner: &ProcessIdentity) -> Result<String>;

    /// Replaces the header of a run, once more is known of its target. The id stays.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    fn update_header(&self, header: &RunHeader) -> Result<()>;

    /// Notes the test file or work folder that the run made or is going to make, so that it can be removed if the run
    /// dies; `None` once it is gone. It stays noted when the run ends or is removed.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn note_made_file(&self, id: &str, file: Option<&MadeFile>) -> Result<()>;

    /// Appends a remark.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    fn append_notice(&self, id: &str, notice: &Notice) -> Result<()>;

    /// Notes how the test file was written.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    fn set_fill(&self, id: &str, fill: &FillRecord) -> Result<()>;

    /// Appends a cell, or replaces the one with its index, its repetitions included. When this returns, the cell is on
    /// the medium. The status of the run does not matter: what was measured is kept, even if somebody took the run for
    /// abandoned.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    fn put_cell(&self, id: &str, cell: &Cell) -> Result<()>;

    /// Appends a repetition to a cell that is stored, or replaces the one with its index. When this returns, the
    /// repetition is on the medium; what it costs does not grow with the cell.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run or cell.
    fn put_repetition(&self, id: &str, cell_index: u32, repetition: &Repetition) -> Result<()>;

    /// Closes the run.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    fn finish_run(
        &self,
        id: &str,
        status: RunStatus,
        ended_at: &str,
        error: Option<&Text>,
        health_after: Option<&DeviceHealth>,
    ) -> Result<()>;

    /// Keeps what the server of a model said at its end; it belongs to no run.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn keep_served(&self, record: &Value) -> Result<()>;

    /// When each server's record was kept, and what it says, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read, or one of them is not what was written.
    fn served(&self) -> Result<Vec<(String, Value)>>;

    /// Sets a label of a run, or removes it (`None`); removing one that is not there is no error.
    ///
    /// # Errors
    /// When the key cannot be one, when there is no such run, or when the store cannot be written.
    fn label(&self, id: &str, key: &str, value: Option<&str>) -> Result<()>;

    /// Takes a run out of the store.
    ///
    /// # Errors
    /// When it is being measured by a process that lives ([`ErrorKind::Refused`]), when there is no such run, or when
    /// the store cannot be written.
    fn remove(&self, id: &str, alive: &dyn Fn(&ProcessIdentity) -> bool) -> Result<()>;

    /// The runs marked running and who measures them, in the order of their start.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn running(&self) -> Result<Vec<(String, Option<ProcessIdentity>)>>;

    /// What runs made and is not known to be gone, by the ids of the runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn made_files(&self) -> Result<Vec<(String, MadeFile)>>;

    /// Reads a run that has ended from where it is stored, whatever this store remembers of it, and compares it with the one in
    /// memory, except for the labels. Returns it as it is stored.
    ///
    /// # Errors
    /// When the store cannot be read, or holds something else.
    fn verify(&self, record: &RunRecord) -> Result<RunRecord>;

    /// Whether nothing can be written to it from here.
    fn is_read_only(&self) -> bool;

    /// The user whom it belongs to, where that can be known: what it says of files is that user's word.
    fn user(&self) -> Option<u32>;

    /// Marks an abandoned run as interrupted. A run that has ended otherwise meanwhile stays as it is.
    ///
    /// # Errors
    /// When there is no such run or the store cannot be written.
    fn mark_interrupted(&self, id: &str, ended_at: &str) -> Result<()>;

    /// Writes runs, which the store does not take any more, into a new file that `kurabe import` reads; the first gives it
    /// its name. Returns where it is.
    ///
    /// # Errors
    /// When no place takes it.
    fn rescue(&self, records: &[RunRecord]) -> Result<PathBuf>;

    /// Reads all that is stored, and looks whether it is whole.
    ///
    /// # Errors
    /// When there is nothing that can be read.
    fn check(&self) -> Result<StoreCheck>;
}

/// The error for a run that is not there.
pub fn no_such_run(id: &str) -> Error {
    ErrorKind::NoSuchRun
        .error(text!("there is no run `{id}`", "`{id}` という測定はありません"))
        .remedy(text!("`{LIST}` shows all runs", "`{LIST}` で一覧を見られます"))
}

/// The error for a run that must not be removed.
pub fn being_measured(id: &str, owner: &ProcessIdentity) -> Error {
    let pid = owner.pid;
    ErrorKind::Refused
        .error(text!(
            "the run `{id}` is being measured now (process {pid})",
            "測定 `{id}` は実行中です(プロセス {pid})"
        ))
        .remedy(text!(
            "wait for its end, or stop it with Ctrl+C where it runs",
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
            "`{prefix}` may be any of {count} runs: {names}",
            "`{prefix}` に当てはまる測定が {count} 件あります: {names}"
        ))
        .remedy(text!("write one of the ids", "ID を書いてください"))
}

/// Whether a run takes the place of the stored one that has its identity: that was not over when it was stored, and everything
/// measured of it is in this one. Otherwise the stored one stays: this is the same run, with or without its paths, or an
/// earlier state of it.
///
/// # Errors
/// When they are different in what was measured, or in what is told of it ([`ErrorKind::Refused`]).
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
            "the run to import has the identity of the stored run `{id}`, but not its content: one of them was changed",
            "取り込む測定は保存済みの測定 `{id}` と識別子が同じですが、内容が違います。どちらかが書き換えられています"
        ))
        .remedy(text!(
            "`{RM} {id}` takes the stored one out, if the other is the true one; `{CHECK}` tells damage",
            "取り込む方が正しければ `{RM} {id}` で保存済みの測定を取り除いてください。破損は `{CHECK}` で分かります"
        )))
}

/// A run in what copies of it have in common: all but id and labels; of another tool's run also all but how and when it was
/// imported. The id is that of the stored one.
fn comparable(run: &RunRecord, stored: &RunRecord) -> RunRecord {
    let mut run = run.clone();
    run.labels.clear();
    let (header, other) = (&mut run.header, &stored.header);
    header.id.clone_from(&other.id);
    if header.origin.is_some() {
        header.started_at.clone_from(&other.started_at);
        header.command.clone_from(&other.command);
        header.kurabe_version.clone_from(&other.kurabe_version);
    }
    run
}

/// Whether a run is another one before that was over.
fn is_earlier(run: &RunRecord, other: &RunRecord) -> bool {
    // From the first cell on only the profile grows.
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
