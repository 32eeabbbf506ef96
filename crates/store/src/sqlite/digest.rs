//! Digests, stored so that queries over many runs need not read their records.
//!
//! A digest is a copy, computed from a stored record by a function of the caller, because the store
//! does not decide what is worth querying. It cannot be stale: triggers remove it in the
//! transaction that changes the header or a cell of its run. Missing digests, and those made by
//! another version of the function, are computed at the next query. A run in progress has none. In
//! a store that cannot be written, missing digests are computed and not stored.

use super::open::SqliteStore;
use super::read::snapshot;
use super::schema;
use crate::json;
use kurabe_core::Result;
use kurabe_core::digest::{DigestedRun, Digester, Digests, RunDigest, Summary};
use kurabe_core::record::RunRecord;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::collections::{HashMap, HashSet};

/// Runs whose digests are computed in one transaction: few enough that another process does not
/// wait long for the lock.
pub(super) const BATCH: usize = 16;

/// Largest number of a word. Words are numbered consecutively and held in memory as a list, so
/// larger numbers are damage.
pub(crate) const MOST_WORDS: usize = 1 << 24;

/// A digest in its row: numbers of the facts, and for each cell its number, mean, deviation and
/// count.
pub(crate) type DigestRow = (Vec<u32>, Vec<(u32, f64, f64, u32)>);

impl SqliteStore {
    /// Returns the runs that are not in progress and have no digest in this list.
    pub(super) fn undigested(&self, digests: &Digests) -> Result<Vec<String>> {
        let digested: HashSet<&str> = digests.runs.iter().map(|run| run.id.as_str()).collect();
        let mut ids = self.column("SELECT id FROM runs WHERE status <> 'running'", [])?;
        ids.retain(|id| !digested.contains(id.as_str()));
        Ok(ids)
    }

    /// Returns the stored digests of the current version.
    pub(super) fn kept_digests(&self) -> Result<Digests> {
        let read = || {
            let snapshot = snapshot(&self.connection)?;
            let mut digests = Digests::default();
            let mut statement = snapshot.prepare("SELECT word_id, word FROM words")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let number =
                    usize::try_from(row.get::<_, i64>(0)?).ok().filter(|number| *number <= MOST_WORDS);
                // kurabe numbers words consecutively, so a number beyond the limit was written by
                // another program.
                let Some(number) = number else { continue };
                if digests.words.len() <= number {
                    digests.words.resize(number + 1, String::new());
                }
                digests.words[number] = row.get(1)?;
            }
            let sealed = if schema::has(&snapshot, schema::CHECKSUMS)? { "crc32" } else { "NULL" };
            let sql = format!("SELECT run_id, digest, {sealed} FROM digests WHERE version = ?1");
            let mut statement = snapshot.prepare(&sql)?;
            let mut rows = statement.query([self.digester.version])?;
            while let Some(row) = rows.next()? {
                // A digest that cannot be parsed or has the wrong checksum counts as missing.
                let run = parse(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_bytes()?);
                let checksum: Option<u32> = row.get(2)?;
                let holds = |run: &DigestedRun| match checksum {
                    Some(checksum) => {
                        spelled(run, &digests.words).is_some_and(|words| crc32(&words) == checksum)
                    }
                    None => true,
                };
                digests.runs.extend(run.filter(holds));
            }
            Ok(digests)
        };
        read().map_err(self.cannot_read())
    }
}

/// A digest with its words, over which the checksum is computed. A number alone does not show
/// whether its word has changed.
type Spelled<'a> = (&'a str, Vec<&'a str>, Vec<(&'a str, Summary)>);

fn spelled<'a>(run: &'a DigestedRun, words: &'a [String]) -> Option<Spelled<'a>> {
    let word = |number: &u32| words.get(*number as usize).map(String::as_str);
    let facts = run.facts.iter().map(word).collect::<Option<_>>()?;
    let figures = run.figures.iter().map(|(number, summary)| Some((word(number)?, *summary)));
    Some((&run.id, facts, figures.collect::<Option<_>>()?))
}

fn crc32((id, facts, figures): &Spelled<'_>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    let mut add = |words: &str| {
        hasher.update(words.as_bytes());
        hasher.update(&[0]);
    };
    add(id);
    facts.iter().for_each(|fact| add(fact));
    for (word, Summary { mean, deviation, count }) in figures {
        add(word);
        // In hexadecimal, so that no byte is mistaken for a separator.
        add(&format!("{:x} {:x} {count}", mean.to_bits(), deviation.to_bits()));
    }
    hasher.finalize()
}

pub(crate) fn parse(id: &str, digest: &[u8]) -> Option<DigestedRun> {
    let (facts, figures) = serde_json::from_slice::<DigestRow>(digest).ok()?;
    let figures = figures
        .into_iter()
        .map(|(word, mean, deviation, count)| (word, Summary { mean, deviation, count }))
        .collect();
    Some(DigestedRun { id: id.to_owned(), facts, figures, among: Vec::new() })
}

/// Computes and writes the digest of a record, replacing an existing one.
pub(super) fn keep(
    transaction: &Transaction<'_>,
    id: &str,
    digester: Digester,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let digest = (digester.digest)(record);
    let facts = digest.facts.iter().map(|word| number(transaction, word)).collect::<rusqlite::Result<_>>()?;
    let figures = digest
        .figures
        .iter()
        .map(|(word, summary)| {
            Ok((number(transaction, word)?, summary.mean, summary.deviation, summary.count))
        })
        .collect::<rusqlite::Result<_>>()?;
    let row: DigestRow = (facts, figures);
    let facts = digest.facts.iter().map(String::as_str).collect();
    let figures = digest.figures.iter().map(|(word, summary)| (word.as_str(), *summary)).collect();
    transaction
        .execute(
            "INSERT OR REPLACE INTO digests (run_id, version, digest, crc32) VALUES (?1, ?2, ?3, ?4)",
            params![id, digester.version, json::to_text(&row)?, crc32(&(id, facts, figures))],
        )
        .map(|_| ())
}

/// Returns the number of a word, and adds the word if it is new.
fn number(connection: &Connection, word: &str) -> rusqlite::Result<u32> {
    let number = connection
        .prepare_cached("SELECT word_id FROM words WHERE word = ?1")?
        .query_row([word], |row| row.get(0))
        .optional()?;
    match number {
        Some(number) => Ok(number),
        None => connection
            .prepare_cached("INSERT INTO words (word) VALUES (?1) RETURNING word_id")?
            .query_row([word], |row| row.get(0)),
    }
}

/// Adds the digests of runs without a stored one; `made` computes them by index and id.
pub(crate) fn complete(
    digests: &mut Digests,
    missing: &[String],
    mut made: impl FnMut(usize, &str) -> Result<RunDigest>,
) {
    let mut words = Vocabulary::new(&digests.words);
    for (place, id) in missing.iter().enumerate() {
        match made(place, id) {
            Ok(digest) => digests.runs.push(words.number(id, &digest)),
            Err(_) => digests.unreadable.push(id.clone()),
        }
    }
    digests.words.append(&mut words.fresh);
}

/// Words in memory, for digests that are not stored.
struct Vocabulary {
    places: HashMap<String, u32>,
    kept_count: usize,
    /// Words that are not stored, with the numbers after the stored ones.
    fresh: Vec<String>,
}

impl Vocabulary {
    fn new(kept: &[String]) -> Self {
        let places = kept.iter().enumerate().map(|(number, word)| (word.clone(), number as u32)).collect();
        Self { places, kept_count: kept.len(), fresh: Vec::new() }
    }

    fn place(&mut self, word: &str) -> u32 {
        if let Some(number) = self.places.get(word) {
            return *number;
        }
        let number = (self.kept_count + self.fresh.len()) as u32;
        self.places.insert(word.to_owned(), number);
        self.fresh.push(word.to_owned());
        number
    }

    fn number(&mut self, id: &str, digest: &RunDigest) -> DigestedRun {
        DigestedRun {
            id: id.to_owned(),
            facts: digest.facts.iter().map(|word| self.place(word)).collect(),
            figures: digest.figures.iter().map(|(word, summary)| (self.place(word), *summary)).collect(),
            among: Vec::new(),
        }
    }
}
