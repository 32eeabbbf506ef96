//! Reads the list, complete runs and digests.

use super::PostgresStore;
use super::fields::{RowFields, contradiction, fault, read, run_id, run_identity};
use super::session::{DatabaseAnswer, DatabaseSession, Parameters};
use crate::check::{check, check_summary};
use crate::sqlite::digest::{MOST_WORDS, complete, parse};
use crate::store::Runs;
use crate::{Filter, json};
use kurabe_core::digest::{DigestedRun, Digests, Summary};
use kurabe_core::record::{RECORD_SCHEMA, RunRecord, RunSummary};
use kurabe_core::{ErrorKind, Result, text};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use tokio_postgres::types::ToSql;

/// Returns the run with this id, if it exists.
pub(super) fn record(session: &DatabaseSession, id: &str) -> DatabaseAnswer<Option<RunRecord>> {
    let sql = "SELECT id, identity, schema, record, record_sha256 FROM kurabe.runs WHERE id = $1";
    let mut records = read(session, "runs", sql, &[&id], |row| record_of(row, id))?;
    Ok(records.pop())
}

fn record_of(row: &RowFields<'_>, asked: &str) -> Result<RunRecord> {
    let id = row.checked("id", |id: &String| id == asked, "not the id that was asked for")?;
    let schema: i32 = row.checked("schema", |schema| *schema > 0, "not a version")?;
    if schema > RECORD_SCHEMA as i32 {
        return Err(ErrorKind::Store
            .error(text!("the run `{id}` cannot be read", "測定 `{id}` を読めません"))
            .remedy(text!(
                "it was recorded by a newer version; update kurabe",
                "新しい kurabe の記録です。kurabe を更新してください"
            )));
    }
    let text: &str = row.get("record")?;
    if Sha256::digest(text).as_slice() != row.record_sha256()? {
        return Err(row.fault("record_sha256", format!("{id}: not the hash of its record")));
    }
    let mut run: RunRecord = json::from_slice(text.as_bytes())
        .map_err(|misfit| row.fault("record", format!("{id}: {}: {}", misfit.field, misfit.reason)))?;
    if run.header.identity != run_identity(row)? {
        return Err(row.fault("identity", format!("{id}: not the identity in its record")));
    }
    (run.header.id, run.header.schema) = (id, RECORD_SCHEMA);
    check(&run).map_err(|fault| contradiction(asked, "record", fault))?;
    Ok(run)
}

/// Reads an entry of the list from a row of `id, summary`.
fn summary(row: &RowFields<'_>) -> Result<RunSummary> {
    let id = run_id(row)?;
    let run: RunSummary = json::from_slice(row.get::<&str>("summary")?.as_bytes())
        .map_err(|misfit| row.fault("summary", format!("{id}: {}: {}", misfit.field, misfit.reason)))?;
    check_summary(&run).map_err(|fault| contradiction(&id, "summary", fault))?;
    Ok(RunSummary { id, ..run })
}

/// Returns the runs that match a filter.
///
/// The database preselects by device, and by number if that is the only condition; the filter makes
/// the final selection.
pub(super) fn narrowed(store: &PostgresStore, filter: &Filter) -> Result<Vec<RunSummary>> {
    let only_last = Filter { last: filter.last, ..Filter::default() } == *filter;
    let most = filter.last.filter(|_| only_last).map_or(i64::MAX, |last| last as i64);
    let device = filter.device.as_ref().map(|word| word.to_lowercase());
    let sql = match device {
        Some(_) => {
            "SELECT id, summary FROM kurabe.runs WHERE names_id = ANY (ARRAY (
                 SELECT names_id FROM kurabe.names WHERE position($2 IN names) > 0))
             ORDER BY started_unix_s DESC, arrival DESC LIMIT $1"
        }
        None => "SELECT id, summary FROM kurabe.runs ORDER BY started_unix_s DESC, arrival DESC LIMIT $1",
    };
    let parameters: Vec<&(dyn ToSql + Sync)> = match &device {
        Some(word) => vec![&most, word],
        None => vec![&most],
    };
    let mut runs = store.read("runs", sql, &parameters, summary)?;
    runs.reverse();
    Ok(filter.apply(runs))
}

/// Returns the digests of these runs, or of all.
pub(super) fn digests(
    store: &PostgresStore,
    ids: Option<&[&str]>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Digests> {
    let version = store.digester.version as i32;
    let sql = match ids {
        Some(_) => {
            "SELECT id, CASE digest_version WHEN $1 THEN digest END AS digest FROM kurabe.runs WHERE id = ANY ($2)"
        }
        None => "SELECT id, CASE digest_version WHEN $1 THEN digest END AS digest FROM kurabe.runs",
    };
    let parameters: Vec<&(dyn ToSql + Sync)> = match &ids {
        Some(ids) => vec![&version, ids],
        None => vec![&version],
    };
    let kept = store.read("runs", sql, &parameters, |row| {
        let id = run_id(row)?;
        let digest: Option<&str> = row.get("digest")?;
        Ok(digest.and_then(|digest| parse(&id, digest.as_bytes())).ok_or(id))
    })?;
    let (runs, mut missing) = (kept.iter().flatten(), Vec::new());
    let mut digests = Digests { words: words(store, runs)?, ..Digests::default() };
    // A digest that is not valid counts as missing, because it can be computed from the record.
    for run in kept {
        match run {
            Ok(run) if is_sound(&run, &digests.words) => digests.runs.push(run),
            Ok(DigestedRun { id, .. }) | Err(id) => missing.push(id),
        }
    }
    complete(&mut digests, &missing, |done, id| {
        progress(done, missing.len());
        Ok((store.digester.digest)(&store.load(id)?))
    });
    Ok(digests)
}

/// Returns whether the words of a digest exist and its figures are plausible.
fn is_sound(run: &DigestedRun, words: &[String]) -> bool {
    let is_word = |number: &u32| words.get(*number as usize).is_some_and(|word| !word.is_empty());
    run.facts.iter().all(is_word)
        && run.figures.iter().all(|(number, summary)| is_word(number) && is_possible(summary))
}

/// Returns whether figures can be aggregated: their squares and counts must fit their types.
fn is_possible(summary: &Summary) -> bool {
    const MOST: f64 = 1e30;
    const MOST_COUNT: u32 = 1 << 24;
    let Summary { mean, deviation, count } = summary;
    mean.abs() <= MOST && (0.0..=MOST).contains(deviation) && *count <= MOST_COUNT
}

/// Most cells of a digest that the server aggregates, because each is a column of the answer.
const MOST_CELLS: i32 = 1000;

/// Pools equal runs into one of them with the aggregated figures, in the order of the newest of
/// each.
///
/// Returns `None` if a digest has another version, or the figures for aggregation do not match the
/// digests. With `day_chars`, this many characters of the day of measurement must be equal as well.
pub(super) fn pooled(store: &PostgresStore, day_chars: usize) -> Result<Option<(Vec<RunSummary>, Digests)>> {
    let sql = "SELECT min(digest_version) AS digest_version, max(digest_version) AS newest FROM kurabe.runs";
    let versions = store.read("runs", sql, &[], |row| {
        Ok([row.get::<Option<i32>>("digest_version")?, row.get::<Option<i32>>("newest")?])
    })?;
    if versions != [[Some(store.digester.version as i32); 2]] {
        return Ok(None);
    }
    let Some(mut pools) = pools(store, day_chars)? else { return Ok(None) };
    pools.sort_by(|one, other| {
        one.start_unix_s.total_cmp(&other.start_unix_s).then(one.arrival.cmp(&other.arrival))
    });
    let places: HashMap<i64, usize> =
        pools.iter().enumerate().map(|(place, pool)| (pool.arrival, place)).collect();
    let arrivals: Vec<i64> = pools.iter().map(|pool| pool.arrival).collect();
    let sql = "SELECT id, summary, digest, arrival FROM kurabe.runs WHERE arrival = ANY ($1)";
    let rows = store.read("runs", sql, &[&arrivals], |row| {
        let run = summary(row)?;
        let digest = parse(&run.id, row.get::<&str>("digest")?.as_bytes());
        Ok((row.get::<i64>("arrival")?, run, digest))
    })?;
    let mut runs: Vec<Option<(RunSummary, DigestedRun)>> = vec![None; pools.len()];
    for (arrival, run, digest) in rows {
        let (Some(mut digest), Some(place)) = (digest, places.get(&arrival)) else { return Ok(None) };
        let Pool { among, count, .. } = &pools[*place];
        if *count > 1 {
            if among.len() != digest.figures.len() {
                return Ok(None);
            }
            digest.among.clone_from(among);
        }
        runs[*place] = Some((run, digest));
    }
    let Some(runs) = runs.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let (runs, digested): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    let words = words(store, digested.iter())?;
    let is_sound = digested.iter().all(|run| is_sound(run, &words));
    Ok(is_sound.then(|| (runs, Digests { words, runs: digested, ..Digests::default() })))
}

/// A pool of equal runs.
struct Pool {
    /// Start of the newest.
    start_unix_s: f64,
    /// Sequence number of one of them.
    arrival: i64,
    count: u32,
    /// Figures of each cell over all of them.
    among: Vec<Summary>,
}

/// Pools all runs. `None` if a figure is missing or not plausible.
fn pools(store: &PostgresStore, day_chars: usize) -> Result<Option<Vec<Pool>>> {
    let mut pools: Vec<Pool> = Vec::new();
    let sql = "SELECT DISTINCT cardinality(means) AS means FROM kurabe.figures";
    for width in store.read("figures", sql, &[], |row| row.get::<Option<i32>>("means"))? {
        let Some(width) = width.filter(|width| *width <= MOST_CELLS) else { return Ok(None) };
        let of_cell = |cell| format!(", avg(means[{cell}]), coalesce(stddev_samp(means[{cell}]), 0)");
        let sums: String = (1..=width).map(of_cell).collect();
        let sql = format!(
            "SELECT max(started_unix_s) AS started_unix_s, max(arrival) AS arrival, ARRAY[count(*){sums}]::float8[] AS means
             FROM kurabe.figures WHERE cardinality(means) = {width} GROUP BY alike, left(measured_on, {day_chars})"
        );
        let of_width = store.read("figures", &sql, &[], |row| {
            let sums: Vec<Option<f64>> = row.get("means")?;
            Ok(Pool::of(row.get("started_unix_s")?, row.get("arrival")?, &sums))
        })?;
        let Some(of_width) = of_width.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        pools.extend(of_width);
    }
    Ok(Some(pools))
}

impl Pool {
    fn of(start_unix_s: f64, arrival: i64, sums: &[Option<f64>]) -> Option<Self> {
        let sums = sums.iter().copied().collect::<Option<Vec<f64>>>()?;
        let (count, cells) = sums.split_first()?;
        let count = *count as u32;
        let among = cells.chunks_exact(2).map(|sum| Summary { mean: sum[0], deviation: sum[1], count });
        let among: Vec<Summary> = among.collect();
        (count > 0 && among.iter().all(is_possible)).then_some(Self { start_unix_s, arrival, count, among })
    }
}

/// Returns the words that digests use, each at the index of its number; unused ones are empty.
fn words<'d>(store: &PostgresStore, runs: impl Iterator<Item = &'d DigestedRun>) -> Result<Vec<String>> {
    let mut is_used: Vec<bool> = Vec::new();
    for run in runs {
        for number in run.facts.iter().chain(run.figures.iter().map(|(word, _)| word)) {
            let number = *number as usize;
            if number > MOST_WORDS {
                continue;
            }
            if is_used.len() <= number {
                is_used.resize(number + 1, false);
            }
            is_used[number] = true;
        }
    }
    let numbers: Vec<i32> =
        (0..).zip(&is_used).filter(|(_, is_used)| **is_used).map(|(number, _)| number).collect();
    let mut words = vec![String::new(); is_used.len()];
    for (number, word) in
        numbered_words(&store.session, "word_id = ANY ($1)", &[&numbers]).map_err(store.failed())?
    {
        let place = usize::try_from(number).ok().and_then(|number| words.get_mut(number));
        *place.ok_or_else(|| fault("words", "word_id", "not a number that was asked for"))? = word;
    }
    Ok(words)
}

/// Returns words with their numbers, except those that do not match their stored hash.
pub(super) fn numbered_words(
    session: &DatabaseSession,
    condition: &str,
    parameters: Parameters<'_>,
) -> DatabaseAnswer<Vec<(i32, String)>> {
    let sql = format!("SELECT word_id, word, hash FROM kurabe.words WHERE {condition}");
    let words = read(session, "words", &sql, parameters, numbered_word)?;
    Ok(words.into_iter().flatten().collect())
}

/// Reads a word from a row of `word_id, word, hash`.
pub(super) fn numbered_word(row: &RowFields<'_>) -> Result<Option<(i32, String)>> {
    let (number, word): (i32, String) = (row.get("word_id")?, row.get("word")?);
    let is_whole = Sha256::digest(&word).as_slice() == row.get::<&[u8]>("hash")?;
    Ok(is_whole.then_some((number, word)))
}
