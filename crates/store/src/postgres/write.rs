//! Adds runs: a batch of them in one transaction.

use super::PostgresStore;
use super::fields::{fault, read, read_one, run_id, run_identity};
use super::read::{numbered_word, numbered_words, record as stored_record};
use super::schema::locked;
use super::session::{DatabaseAnswer, DatabaseSession, Failure};
use crate::export::as_read_back;
use crate::filter::names;
use crate::sqlite::digest::{DigestRow, MOST_WORDS};
use crate::store::{BroughtRun, no_such_run, record_text, supersedes};
use crate::{id, json};
use jiff::Timestamp;
use kurabe_core::digest::RunDigest;
use kurabe_core::record::{RECORD_SCHEMA, RunRecord, RunSummary};
use kurabe_core::{Error, Result, text};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::io;
use std::panic::resume_unwind;
use std::thread::Builder;

/// Decision about a run of the batch.
enum Fate {
    /// It is written, as a new row or in place of the one with its identity.
    Written(BroughtRun),
    /// It already exists, complete.
    Kept(BroughtRun),
    Refused(Error),
}

/// Stores a batch of runs.
pub(super) fn take(store: &PostgresStore, records: Vec<RunRecord>) -> Result<Vec<Result<BroughtRun>>> {
    let mut offered = entering_all(records)?;
    let (session, digester) = (&store.session, store.digester);
    let mut numbers = store.numbers.borrow().clone();
    let bring = || {
        let identified = offered.iter().flatten().map(|(record, _)| record);
        let mut batch = Batch::read(session, identified, digester.version)?;
        let mut rows = BatchRows { version: digester.version as i32, ..BatchRows::default() };
        let mut fates = Vec::new();
        for (record, text) in offered.iter_mut().flatten() {
            let fate = batch.fate(session, record, text)?;
            if matches!(fate, Fate::Written(_)) {
                rows.add(record, std::mem::take(text), (digester.digest)(record))?;
            }
            fates.push(fate);
        }
        rows.write(session, &mut numbers)?;
        Ok(fates)
    };
    let mut fates = locked(session, bring).map_err(store.failed())?.into_iter();
    *store.numbers.borrow_mut() = numbers;
    let arrival = |entered: Result<OfferedRun>| {
        entered?;
        match fates.next() {
            Some(Fate::Written(arrival) | Fate::Kept(arrival)) => Ok(arrival),
            Some(Fate::Refused(error)) => Err(error),
            None => unreachable!("each run that enters has its fate"),
        }
    };
    Ok(offered.into_iter().map(arrival).collect())
}

/// A run to add, with its record as text.
type OfferedRun = (RunRecord, String);

/// Prepares runs for storing, on several threads.
///
/// The conversion to the file format and back checks each run, ends it and removes NaN.
fn entering_all(records: Vec<RunRecord>) -> Result<Vec<Result<OfferedRun>>> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let size = records.len().div_ceil(threads).max(1);
    let mut records = records.into_iter();
    std::thread::scope(|scope| {
        let parts: Vec<Vec<RunRecord>> = std::iter::from_fn(|| {
            let part: Vec<RunRecord> = records.by_ref().take(size).collect();
            Some(part).filter(|part| !part.is_empty())
        })
        .collect();
        let work = |part: Vec<RunRecord>| part.into_iter().map(entering).collect::<Vec<_>>();
        let parts = parts.into_iter().map(|part| Builder::new().spawn_scoped(scope, move || work(part)));
        let parts: Vec<_> = parts.collect::<io::Result<_>>().map_err(|error| Error::no_thread(&error))?;
        let done = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(done.flatten().collect())
    })
}

fn entering(mut record: RunRecord) -> Result<OfferedRun> {
    if record.header.id.is_empty() {
        // Any valid id will do: if it is taken, a free one is drawn.
        record.header.id = "new".to_owned();
    }
    let record = as_read_back(record)?;
    let text = record_text(&record)?;
    Ok((record, text))
}

/// Facts about the stored runs that a batch needs.
struct Batch {
    /// Stored runs with the identities of the batch: id, hash of the record, version of the digest.
    stored: HashMap<String, (String, Vec<u8>, i32)>,
    version: i32,
    /// Ids of the batch that are taken, by stored runs or by others of the batch.
    taken: HashSet<String>,
    /// Identities that occur more than once in the batch.
    repeated: HashSet<String>,
    /// Runs with repeated identities that were processed already.
    seen: HashMap<String, RunRecord>,
}

impl Batch {
    fn read<'r>(
        session: &DatabaseSession,
        records: impl Iterator<Item = &'r RunRecord>,
        version: u32,
    ) -> DatabaseAnswer<Self> {
        let (identities, ids): (Vec<&str>, Vec<&str>) =
            records.map(|run| (run.header.identity.as_str(), run.header.id.as_str())).unzip();
        let sql =
            "SELECT identity, id, record_sha256, digest_version FROM kurabe.runs WHERE identity = ANY ($1)";
        let stored = read(session, "runs", sql, &[&identities], |row| {
            Ok((run_identity(row)?, (run_id(row)?, row.record_sha256()?, row.get("digest_version")?)))
        })?;
        let stored = stored.into_iter().collect();
        let sql = "SELECT id FROM kurabe.runs WHERE id = ANY ($1)";
        let taken = read(session, "runs", sql, &[&ids], run_id)?.into_iter().collect();
        let mut first = HashSet::new();
        let repeated = identities.iter().filter(|identity| !first.insert(**identity));
        let repeated = repeated.map(|identity| (*identity).to_owned()).collect();
        Ok(Self { stored, version: version as i32, taken, repeated, seen: HashMap::new() })
    }

    /// Decides about a run, and sets the id and the labels that it has here; `text` is its record.
    fn fate(
        &mut self,
        session: &DatabaseSession,
        record: &mut RunRecord,
        text: &mut String,
    ) -> DatabaseAnswer<Fate> {
        if let Some(before) = self.seen.get(&record.header.identity) {
            let arrival = BroughtRun { id: before.header.id.clone(), is_new: false };
            return Ok(supersedes(record, before).map_or_else(Fate::Refused, |_| Fate::Kept(arrival)));
        }
        let stored = self.stored.remove(&record.header.identity);
        let fate = match stored {
            None => {
                record.header.id = self.draw(session, &record.header.id)?;
                Fate::Written(BroughtRun { id: record.header.id.clone(), is_new: true })
            }
            Some((id, hash, version)) if hash == sha256(text) => {
                record.header.id.clone_from(&id);
                let arrival = BroughtRun { id, is_new: false };
                if version == self.version { Fate::Kept(arrival) } else { Fate::Written(arrival) }
            }
            Some((id, ..)) => {
                let fate = merged(session, record, id)?;
                *text = record_text(record)?;
                fate
            }
        };
        if self.repeated.contains(&record.header.identity) {
            self.seen.insert(record.header.identity.clone(), record.clone());
        }
        Ok(fate)
    }

    /// Returns the id of a new run here: its own if that is free.
    fn draw(&mut self, session: &DatabaseSession, own: &str) -> DatabaseAnswer<String> {
        let mut id = own.to_owned();
        if self.taken.contains(own) {
            let random = |count| {
                let sql = "SELECT sha256(uuid_send(gen_random_uuid())) AS id";
                let bytes = read_one(session, "runs", sql, &[], |row| {
                    row.checked("id", |bytes: &Vec<u8>| bytes.len() >= count, "too few random bytes")
                })?;
                Ok(bytes[..count].to_vec())
            };
            let mut tries = 0;
            let is_taken = |id: &str| {
                tries += 1;
                if tries > MOST_DRAWS {
                    return Err(Failure::Value(fault("runs", "id", "every id is taken")));
                }
                let sql = "SELECT EXISTS (SELECT FROM kurabe.runs WHERE id = $1) AS id";
                let is_stored = read_one(session, "runs", sql, &[&id], |row| row.get::<bool>("id"))?;
                Ok(self.taken.contains(id) || is_stored)
            };
            id = id::draw(random, is_taken)?;
        }
        self.taken.insert(id.clone());
        Ok(id)
    }
}

/// Most attempts to draw an id. Once ids have become longer, at least one in four is free.
const MOST_DRAWS: u32 = 200;

/// Decides about a run that differs from the stored one with its identity.
fn merged(session: &DatabaseSession, record: &mut RunRecord, id: String) -> DatabaseAnswer<Fate> {
    let stored = match stored_record(session, &id) {
        Ok(stored) => stored.ok_or_else(|| no_such_run(&id)),
        Err(Failure::Value(error)) => Err(error),
        Err(failure) => return Err(failure),
    };
    let grown = stored.and_then(|stored| Ok((supersedes(record, &stored)?, stored)));
    let (is_grown, mut stored) = match grown {
        Ok(grown) => grown,
        Err(error) => {
            return Ok(Fate::Refused(error.remedy(text!(
                "the stored run is kept; if it is the wrong one, have its owner remove it",
                "保存済みの方はそのまま残ります。誤りなら、所有者に取り除いてもらってください"
            ))));
        }
    };
    record.header.id.clone_from(&id);
    let (labels, old) = (std::mem::take(&mut record.labels), std::mem::take(&mut stored.labels));
    if !is_grown {
        *record = stored;
    }
    let count = old.len();
    record.labels = labels.into_iter().chain(old).collect();
    let arrival = BroughtRun { id, is_new: false };
    Ok(if is_grown || record.labels.len() > count { Fate::Written(arrival) } else { Fate::Kept(arrival) })
}

fn sha256(words: &str) -> Vec<u8> {
    Sha256::digest(words).to_vec()
}

/// Returns a text without zero bytes, which PostgreSQL does not support.
fn plain(words: &str) -> String {
    words.replace('\0', "\u{fffd}")
}

/// Columns of the rows that a batch writes.
#[derive(Default)]
struct BatchRows {
    identities: Vec<String>,
    ids: Vec<String>,
    starts_unix_s: Vec<f64>,
    summaries: Vec<String>,
    names: Vec<String>,
    records: Vec<String>,
    hashes: Vec<Vec<u8>>,
    digests: Vec<RunDigest>,
    days: Vec<String>,
    /// Properties that must be equal in pooled runs, in addition to the words of their digests.
    kinds: Vec<String>,
    version: i32,
}

impl BatchRows {
    fn add(&mut self, record: &RunRecord, text: String, digest: RunDigest) -> DatabaseAnswer<()> {
        let summary = RunSummary::from(record);
        let start = record.header.started_at.parse::<Timestamp>();
        let names: Vec<&str> = names(&summary).collect();
        self.names.push(plain(&names.join("\n").to_lowercase()));
        self.identities.push(record.header.identity.clone());
        self.ids.push(record.header.id.clone());
        self.starts_unix_s.push(start.map_or(0.0, |start| start.as_nanosecond() as f64 / 1e9));
        self.summaries.push(json::to_text(&summary)?);
        let measured_at = summary.measured_at();
        self.days.push(plain(measured_at.get(..10).unwrap_or(measured_at)));
        self.kinds.push(json::to_text(&(&summary.target, &summary.labels, summary.model.is_some()))?);
        self.hashes.push(sha256(&text));
        self.records.push(text);
        self.digests.push(digest);
        Ok(())
    }

    fn write(&self, session: &DatabaseSession, numbers: &mut HashMap<String, i32>) -> DatabaseAnswer<()> {
        let words = self.digests.iter().flat_map(|digest| {
            digest.facts.iter().chain(digest.figures.iter().map(|(word, _)| word)).map(|word| plain(word))
        });
        number(session, words.chain(self.names.iter().cloned()), numbers)?;
        let place = |word: &String| numbers[&plain(word)];
        let digest = |digest: &RunDigest| -> DigestRow {
            let figures = digest.figures.iter();
            (
                digest.facts.iter().map(|word| place(word) as u32).collect(),
                figures.map(|(word, own)| (place(word) as u32, own.mean, own.deviation, own.count)).collect(),
            )
        };
        let names: Vec<i32> = self.names.iter().map(place).collect();
        let digests: Vec<DigestRow> = self.digests.iter().map(digest).collect();
        let alike = digests.iter().zip(&self.kinds).map(|(digest, kind)| alike(digest, kind));
        let alike: Vec<String> = alike.collect::<DatabaseAnswer<_>>()?;
        let means = |(_, figures): &DigestRow| {
            let means: Vec<String> = figures.iter().map(|figure| figure.1.to_string()).collect();
            format!("{{{}}}", means.join(","))
        };
        let means: Vec<String> = digests.iter().map(means).collect();
        let digests: Vec<String> =
            digests.iter().map(json::to_text).collect::<std::result::Result<_, json::Unwritable>>()?;
        session.execute(
            "INSERT INTO kurabe.names SELECT word_id, word FROM kurabe.words WHERE word_id = ANY ($1)
             ON CONFLICT DO NOTHING",
            &[&names],
        )?;
        session.execute(
            BRING,
            &[
                &self.identities,
                &self.ids,
                &self.starts_unix_s,
                &self.summaries,
                &names,
                &self.records,
                &self.hashes,
                &digests,
                &(RECORD_SCHEMA as i32),
                &self.version,
                &self.days,
                &alike,
                &means,
            ],
        )
    }
}

const BRING: &str = "
WITH brought AS (
    INSERT INTO kurabe.runs (identity, id, started_unix_s, summary, names_id, schema, record, record_sha256,
        digest_version, digest)
    SELECT identity, id, started_unix_s, summary, names_id, $9, record, record_sha256, $10, digest
    FROM unnest($1::text[], $2::text[], $3::float8[], $4::text[], $5::int[], $6::text[], $7::bytea[], $8::text[])
        AS new (identity, id, started_unix_s, summary, names_id, record, record_sha256, digest)
    ON CONFLICT (identity) DO UPDATE SET summary = excluded.summary, names_id = excluded.names_id,
        schema = excluded.schema, record = excluded.record, record_sha256 = excluded.record_sha256,
        digest_version = excluded.digest_version, digest = excluded.digest
    RETURNING identity, arrival, started_unix_s
)
INSERT INTO kurabe.figures
SELECT arrival, started_unix_s, measured_on, alike::uuid, means::float8[]
FROM brought JOIN unnest($1::text[], $11::text[], $12::text[], $13::text[])
    AS own (identity, measured_on, alike, means) USING (identity)
ON CONFLICT (arrival) DO UPDATE SET measured_on = excluded.measured_on, alike = excluded.alike, means = excluded.means";

/// Returns the properties that pooled runs have in common: a hash of facts, cells, target and
/// labels, in hexadecimal.
fn alike((facts, figures): &DigestRow, kind: &str) -> DatabaseAnswer<String> {
    let cells: Vec<u32> = figures.iter().map(|(cell, ..)| *cell).collect();
    let hash = sha256(&json::to_text(&(facts, cells, kind))?);
    Ok(hash[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Adds words that have no numbers yet, and fetches the numbers.
fn number(
    session: &DatabaseSession,
    words: impl Iterator<Item = String>,
    numbers: &mut HashMap<String, i32>,
) -> DatabaseAnswer<()> {
    let mut fresh: Vec<String> = words.filter(|word| !numbers.contains_key(word)).collect();
    fresh.sort_unstable();
    fresh.dedup();
    let hashes = |words: &[String]| words.iter().map(|word| sha256(word)).collect::<Vec<_>>();
    let learn = |rows: Vec<(i32, String)>, numbers: &mut HashMap<String, i32>| {
        numbers.extend(rows.into_iter().map(|(number, word)| (word, number)));
    };
    learn(numbered_words(session, "hash = ANY ($1)", &[&hashes(&fresh)])?, numbers);
    fresh.retain(|word| !numbers.contains_key(word));
    let new = "INSERT INTO kurabe.words (hash, word) SELECT * FROM unnest($1::bytea[], $2::text[])
         RETURNING word_id, word, hash";
    let made = read(session, "words", new, &[&hashes(&fresh), &fresh], numbered_word)?;
    learn(made.into_iter().flatten().collect(), numbers);
    let is_number = |number: &i32| usize::try_from(*number).is_ok_and(|number| number <= MOST_WORDS);
    match fresh.iter().all(|word| numbers.contains_key(word)) && numbers.values().all(is_number) {
        true => Ok(()),
        false => Err(fault("words", "word_id", "a word that was just written has no number").into()),
    }
}
