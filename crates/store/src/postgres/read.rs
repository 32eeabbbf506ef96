//! Reading: the list, a run whole, digests.

use super::PostgresStore;
use crate::sqlite::digest::{MOST_WORDS, complete, parse};
use crate::store::Runs;
use crate::{Filter, json};
use kurabe_core::digest::{Digests, RunDigest, Summary};
use kurabe_core::record::{RECORD_SCHEMA, RunRecord, RunSummary};
use kurabe_core::{Error, ErrorKind, Result, text};
use postgres::Row;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

fn unreadable(id: &str) -> Error {
    ErrorKind::Store.error(text!("the run `{id}` cannot be read", "測定 `{id}` を読めません"))
}

/// A run of a row of `id, schema, record, record_sha256`.
pub(super) fn record(row: &Row) -> Result<RunRecord> {
    let (id, schema, text): (String, i32, &str) = (row.get(0), row.get(1), row.get(2));
    if schema > RECORD_SCHEMA as i32 {
        return Err(unreadable(&id).remedy(text!(
            "a newer kurabe recorded it: update this one",
            "新しい kurabe の記録です。kurabe を更新してください"
        )));
    }
    if Sha256::digest(text).as_slice() != row.get::<_, &[u8]>(3) {
        return Err(unreadable(&id).because("record_sha256"));
    }
    let mut run: RunRecord =
        json::from_slice(text.as_bytes()).map_err(|misfit| unreadable(&id).because(misfit.reason))?;
    (run.header.id, run.header.schema) = (id, RECORD_SCHEMA);
    Ok(run)
}

/// A line of the list of a row of `id, summary`.
fn summary(row: &Row) -> Result<RunSummary> {
    let (id, summary): (String, &str) = (row.get(0), row.get(1));
    let run =
        json::from_slice(summary.as_bytes()).map_err(|misfit| unreadable(&id).because(misfit.reason))?;
    Ok(RunSummary { id, ..run })
}

/// The runs that a filter means. The database leaves out what is of other devices, and what is not asked for of the newest if
/// nothing else is asked; the filter itself decides.
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
    let mut client = store.client.borrow_mut();
    let rows = client.query_raw(sql, parameters).map_err(store.failed())?;
    let mut runs = Vec::new();
    let mut rows = rows.map_err(store.failed());
    while let Some(row) = rows.next()? {
        runs.push(summary(&row)?);
    }
    runs.reverse();
    Ok(filter.apply(runs))
}

/// The digests of these runs, or of all.
pub(super) fn digests(
    store: &PostgresStore,
    ids: Option<&[&str]>,
    version: u32,
    make: &dyn Fn(&RunRecord) -> RunDigest,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Digests> {
    let version = version as i32;
    let mut digests = Digests::default();
    let mut missing: Vec<String> = Vec::new();
    let sql = match ids {
        Some(_) => {
            "SELECT id, CASE digest_version WHEN $1 THEN digest END FROM kurabe.runs WHERE id = ANY ($2)"
        }
        None => "SELECT id, CASE digest_version WHEN $1 THEN digest END FROM kurabe.runs",
    };
    let parameters: Vec<&(dyn ToSql + Sync)> = match &ids {
        Some(ids) => vec![&version, ids],
        None => vec![&version],
    };
    {
        let mut client = store.client.borrow_mut();
        let mut rows = client.query_raw(sql, parameters).map_err(store.failed())?.map_err(store.failed());
        while let Some(row) = rows.next()? {
            let (id, digest): (&str, Option<&str>) = (row.get(0), row.get(1));
            match digest.and_then(|digest| parse(id, digest.as_bytes())) {
                Some(run) => digests.runs.push(run),
                None => missing.push(id.to_owned()),
            }
        }
    }
    digests.words = words(store, &digests)?;
    complete(&mut digests, &missing, |done, id| {
        progress(done, missing.len());
        Ok(make(&store.load(id)?))
    });
    Ok(digests)
}

/// Runs that are alike as one of them with what all came to, in the order of the newest of each; none where a digest is of
/// another version. `day_chars`: so much of the day of measuring must be the same, too.
pub(super) fn pooled(
    store: &PostgresStore,
    day_chars: usize,
    version: u32,
) -> Result<Option<(Vec<RunSummary>, Digests)>> {
    let versions = store.rows("SELECT min(digest_version), max(digest_version) FROM kurabe.runs", &[])?;
    let is_current =
        |place| versions.iter().all(|row| row.get::<_, Option<i32>>(place) == Some(version as i32));
    if !(is_current(0) && is_current(1)) {
        return Ok(None);
    }
    let mut pools: Vec<Pool> = Vec::new();
    for row in store.rows("SELECT DISTINCT cardinality(means) FROM kurabe.figures", &[])? {
        let width: i32 = row.get(0);
        let of_cell = |cell| format!(", avg(means[{cell}]), coalesce(stddev_samp(means[{cell}]), 0)");
        let sums: String = (1..=width).map(of_cell).collect();
        let sql = format!(
            "SELECT max(started_unix_s), max(arrival), ARRAY[count(*){sums}]::float8[] FROM kurabe.figures
             WHERE cardinality(means) = {width} GROUP BY alike, left(measured_on, {day_chars})"
        );
        pools.extend(store.rows(&sql, &[])?.iter().map(|row| Pool(row.get(0), row.get(1), row.get(2))));
    }
    pools.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let places: HashMap<i64, usize> = pools.iter().enumerate().map(|(place, pool)| (pool.1, place)).collect();
    let arrivals: Vec<i64> = pools.iter().map(|pool| pool.1).collect();
    let sql = "SELECT id, summary, digest, arrival FROM kurabe.runs WHERE arrival = ANY ($1)";
    let mut runs = vec![RunSummary::default(); pools.len()];
    let mut digests = Digests::default();
    for row in store.rows(sql, &[&arrivals])? {
        let run = summary(&row)?;
        let Some(mut digest) = parse(&run.id, row.get::<_, &str>(2).as_bytes()) else { return Ok(None) };
        let place = places[&row.get::<_, i64>(3)];
        let (count, sums) = (pools[place].2[0] as u32, pools[place].2[1..].chunks_exact(2));
        if count > 1 {
            digest.among = sums.map(|sum| Summary { mean: sum[0], deviation: sum[1], count }).collect();
        }
        digests.runs.push(digest);
        runs[place] = run;
    }
    digests.words = words(store, &digests)?;
    Ok(Some((runs, digests)))
}

/// The newest start of runs that are alike, one of them by its arrival, and how many they are with mean and deviation of each cell.
struct Pool(f64, i64, Vec<f64>);

/// The words that digests name, each at the place of its number.
fn words(store: &PostgresStore, digests: &Digests) -> Result<Vec<String>> {
    let mut is_used: Vec<bool> = Vec::new();
    for run in &digests.runs {
        for number in run.facts.iter().chain(run.figures.iter().map(|(word, _)| word)) {
            let number = (*number as usize).min(MOST_WORDS);
            if is_used.len() <= number {
                is_used.resize(number + 1, false);
            }
            is_used[number] = true;
        }
    }
    let numbers: Vec<i32> =
        (0..).zip(&is_used).filter(|(_, is_used)| **is_used).map(|(number, _)| number).collect();
    let mut words = vec![String::new(); is_used.len()];
    for row in store.rows("SELECT word_id, word FROM kurabe.words WHERE word_id = ANY ($1)", &[&numbers])? {
        words[row.get::<_, i32>(0) as usize] = row.get(1);
    }
    Ok(words)
}
