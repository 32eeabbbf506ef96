//! Digests: what is asked across runs, kept beside them so that no record need be read for it.
//!
//! The model: a digest is a copy of the truth, made from a stored record by a function that the caller brings, because
//! what is worth asking is no business of a store. It cannot be stale: the tables themselves (triggers) drop it in the very
//! transaction that changes the header or a cell of its run, and what is missing, or was made by another version of that
//! function, is made when digests are next asked for. A run that is being measured has none yet. In a store that
//! cannot be written the missing ones are made and not kept.

use crate::open::{Store, is_read_only};
use crate::read::snapshot;
use crate::{json, schema};
use kurabe_core::Result;
use kurabe_core::digest::{DigestedRun, Digests, RunDigest, Summary};
use kurabe_core::record::RunRecord;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::collections::{HashMap, HashSet};

/// Runs whose digests are made in one transaction: few enough that another process does not wait long for its turn.
const BATCH: usize = 16;

/// Numbers of words beyond this are damage: words are numbered one by one, and the list of them is held in memory.
const MOST_WORDS: usize = 1 << 24;

/// A digest in its row: places of facts, and of each cell its place, mean, deviation and count.
type Row = (Vec<u32>, Vec<(u32, f64, f64, u32)>);

impl Store {
    /// Makes and keeps the digest of a run. Called when a run ends, this spares the first question across runs the
    /// reading of it.
    ///
    /// # Errors
    /// When the store cannot be written, or the run cannot be read.
    pub fn keep_digest(&self, id: &str, version: u32, make: impl Fn(&RunRecord) -> RunDigest) -> Result<()> {
        let mut outcome = Ok(());
        self.transaction(|transaction| {
            match self.load_in(transaction, id) {
                Ok(record) => keep(transaction, id, version, &make(&record))?,
                Err(error) => outcome = Err(error),
            }
            Ok(())
        })?;
        outcome
    }

    /// The digests of all runs that are not being measured. Those that are missing are made first; `progress` is told
    /// how many of how many are.
    ///
    /// # Errors
    /// When the store cannot be read or written. A record that cannot be read is named in the result instead.
    pub fn digests(
        &self,
        version: u32,
        make: impl Fn(&RunRecord) -> RunDigest,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Digests> {
        let kept = schema::keeps_digests(&self.connection).map_err(self.cannot_read())?;
        let writable = kept && !is_read_only(&self.connection);
        let mut digests = if kept { self.read(version)? } else { Digests::default() };
        let missing = self.missing(&digests)?;
        if missing.is_empty() {
            return Ok(digests);
        }
        if writable {
            for (batch, ids) in missing.chunks(BATCH).enumerate() {
                progress(batch * BATCH, missing.len());
                self.transaction(|transaction| {
                    for id in ids {
                        // One that is gone meanwhile, or cannot be read, is found missing below.
                        if let Ok(record) = self.load_in(transaction, id) {
                            keep(transaction, id, version, &make(&record))?;
                        }
                    }
                    Ok(())
                })?;
            }
            digests = self.read(version)?;
        }
        let rest = self.missing(&digests)?;
        let mut words = Words::new(&digests.words);
        for (done, id) in rest.iter().enumerate() {
            match self.load(id) {
                Ok(record) => {
                    if !writable {
                        progress(done, rest.len());
                    }
                    digests.runs.push(words.number(id, &make(&record)));
                }
                Err(_) => digests.unreadable.push(id.clone()),
            }
        }
        digests.words.append(&mut words.fresh);
        Ok(digests)
    }

    /// The runs that are not being measured and are not among these.
    fn missing(&self, digests: &Digests) -> Result<Vec<String>> {
        let known: HashSet<&str> = digests.runs.iter().map(|run| run.id.as_str()).collect();
        let read = || {
            let mut missing = Vec::new();
            let mut statement = self.connection.prepare("SELECT id FROM runs WHERE status <> 'running'")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let id = row.get_ref(0)?.as_str()?;
                if !known.contains(id) {
                    missing.push(id.to_owned());
                }
            }
            Ok(missing)
        };
        read().map_err(self.cannot_read())
    }

    /// The digests that are kept.
    fn read(&self, version: u32) -> Result<Digests> {
        let read = || {
            let snapshot = snapshot(&self.connection)?;
            let mut digests = Digests::default();
            let mut statement = snapshot.prepare("SELECT word_id, word FROM words")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let place = usize::try_from(row.get::<_, i64>(0)?).ok().filter(|place| *place <= MOST_WORDS);
                // One of another number is not of kurabe's making.
                let Some(place) = place else { continue };
                if digests.words.len() <= place {
                    digests.words.resize(place + 1, String::new());
                }
                digests.words[place] = row.get(1)?;
            }
            let mut statement = snapshot.prepare("SELECT run_id, digest FROM digests WHERE version = ?1")?;
            let mut rows = statement.query([version])?;
            while let Some(row) = rows.next()? {
                // One that is not understood counts as missing.
                if let Some(run) = parse(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_bytes()?) {
                    digests.runs.push(run);
                }
            }
            Ok(digests)
        };
        read().map_err(self.cannot_read())
    }
}

fn parse(id: &str, digest: &[u8]) -> Option<DigestedRun> {
    let (facts, figures) = serde_json::from_slice::<Row>(digest).ok()?;
    let figures = figures
        .into_iter()
        .map(|(word, mean, deviation, count)| (word, Summary { mean, deviation, count }))
        .collect();
    Some(DigestedRun { id: id.to_owned(), facts, figures })
}

/// Writes a digest, in place of the one that may be there.
fn keep(transaction: &Transaction<'_>, id: &str, version: u32, digest: &RunDigest) -> rusqlite::Result<()> {
    let facts = digest.facts.iter().map(|word| number(transaction, word)).collect::<rusqlite::Result<_>>()?;
    let figures = digest
        .figures
        .iter()
        .map(|(word, summary)| {
            Ok((number(transaction, word)?, summary.mean, summary.deviation, summary.count))
        })
        .collect::<rusqlite::Result<_>>()?;
    let row: Row = (facts, figures);
    transaction
        .execute(
            "INSERT OR REPLACE INTO digests (run_id, version, digest) VALUES (?1, ?2, ?3)",
            params![id, version, json::to_text(&row)],
        )
        .map(|_| ())
}

/// The number of a word, a new one if it has none.
fn number(connection: &Connection, word: &str) -> rusqlite::Result<u32> {
    let found = connection
        .prepare_cached("SELECT word_id FROM words WHERE word = ?1")?
        .query_row([word], |row| row.get(0))
        .optional()?;
    match found {
        Some(number) => Ok(number),
        None => connection
            .prepare_cached("INSERT INTO words (word) VALUES (?1) RETURNING word_id")?
            .query_row([word], |row| row.get(0)),
    }
}

/// Words in memory, for digests that are not kept.
struct Words {
    places: HashMap<String, u32>,
    known: usize,
    fresh: Vec<String>,
}

impl Words {
    fn new(known: &[String]) -> Self {
        let places = known.iter().enumerate().map(|(place, word)| (word.clone(), place as u32)).collect();
        Self { places, known: known.len(), fresh: Vec::new() }
    }

    fn place(&mut self, word: &str) -> u32 {
        if let Some(place) = self.places.get(word) {
            return *place;
        }
        let place = (self.known + self.fresh.len()) as u32;
        self.places.insert(word.to_owned(), place);
        self.fresh.push(word.to_owned());
        place
    }

    fn number(&mut self, id: &str, digest: &RunDigest) -> DigestedRun {
        DigestedRun {
            id: id.to_owned(),
            facts: digest.facts.iter().map(|word| self.place(word)).collect(),
            figures: digest.figures.iter().map(|(word, summary)| (self.place(word), *summary)).collect(),
        }
    }
}
