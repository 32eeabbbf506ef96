//! Digests: what is asked across runs, kept beside them so that no record need be read for it.
//!
//! The model: a digest is a copy of the truth, made from a stored record by a function that the caller brings, because
//! what is worth asking is no business of a store. It cannot be stale: the tables themselves (triggers) drop it in the very
//! transaction that changes the header or a cell of its run, and what is missing, or was made by another version of that
//! function, is made when digests are next asked for. A run that is being measured has none yet. In a store that
//! cannot be written the missing ones are made and not kept.

use super::open::SqliteStore;
use super::read::snapshot;
use super::schema;
use crate::json;
use kurabe_core::Result;
use kurabe_core::digest::{DigestedRun, Digests, RunDigest, Summary};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::collections::{HashMap, HashSet};

/// Runs whose digests are made in one transaction: few enough that another process does not wait long for its turn.
pub(super) const BATCH: usize = 16;

/// Numbers of words beyond this are damage: words are numbered one by one, and the list of them is held in memory.
pub(crate) const MOST_WORDS: usize = 1 << 24;

/// A digest in its row: places of facts, and of each cell its place, mean, deviation and count.
pub(crate) type DigestRow = (Vec<u32>, Vec<(u32, f64, f64, u32)>);

impl SqliteStore {
    /// The runs that are not being measured and are not among these.
    pub(super) fn undigested(&self, digests: &Digests) -> Result<Vec<String>> {
        let digested: HashSet<&str> = digests.runs.iter().map(|run| run.id.as_str()).collect();
        let mut ids = self.column("SELECT id FROM runs WHERE status <> 'running'", [])?;
        ids.retain(|id| !digested.contains(id.as_str()));
        Ok(ids)
    }

    /// The digests that are kept.
    pub(super) fn kept_digests(&self, version: u32) -> Result<Digests> {
        let read = || {
            let snapshot = snapshot(&self.connection)?;
            let mut digests = Digests::default();
            let mut statement = snapshot.prepare("SELECT word_id, word FROM words")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let number =
                    usize::try_from(row.get::<_, i64>(0)?).ok().filter(|number| *number <= MOST_WORDS);
                // Kurabe numbers words one by one: a word with a number beyond the limit was put there by somebody else.
                let Some(number) = number else { continue };
                if digests.words.len() <= number {
                    digests.words.resize(number + 1, String::new());
                }
                digests.words[number] = row.get(1)?;
            }
            let sealed = if schema::has(&snapshot, schema::CHECKSUMS)? { "crc32" } else { "NULL" };
            let sql = format!("SELECT run_id, digest, {sealed} FROM digests WHERE version = ?1");
            let mut statement = snapshot.prepare(&sql)?;
            let mut rows = statement.query([version])?;
            while let Some(row) = rows.next()? {
                // One that is not understood, or is not what was written, counts as missing.
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

/// A digest in words, which its checksum is of: a number alone does not tell whether its word is still the same.
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
        // In hexadecimal, so that no byte of theirs is taken for an end.
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

/// Writes a digest, in place of the one that may be there.
pub(super) fn keep(
    transaction: &Transaction<'_>,
    id: &str,
    version: u32,
    digest: &RunDigest,
) -> rusqlite::Result<()> {
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
            params![id, version, json::to_text(&row)?, crc32(&(id, facts, figures))],
        )
        .map(|_| ())
}

/// The number of a word, a new one if it has none.
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

/// Adds the digests of runs of which none is kept; `made` makes that of a run by its place and id.
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

/// Words in memory, for digests that are not kept.
struct Vocabulary {
    places: HashMap<String, u32>,
    kept_count: usize,
    /// Words that the kept ones lack, numbered on from them.
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
