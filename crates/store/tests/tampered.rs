//! Databases with values that kurabe never writes.

use crate::common::DIGESTER;
use crate::postgres::{opened, opened_with, server};
use kurabe_core::Result;
use kurabe_core::digest::Digester;
use kurabe_core::record::RunRecord;
use kurabe_store::{Archive, Filter, RunHash, SharedAccess};
use kurabe_testkit::postgres::PostgresServer;
use kurabe_testkit::sample::{sample_foreign, sample_record};

/// A manipulation of a column, and whether the error must name it. Data that is computed from the
/// records need not be named, because it is computed again.
struct Tampering {
    column: &'static str,
    sql: &'static str,
    is_named: bool,
}

const fn named(column: &'static str, sql: &'static str) -> Tampering {
    Tampering { column, sql, is_named: true }
}

const fn unnamed(column: &'static str, sql: &'static str) -> Tampering {
    Tampering { column, sql, is_named: false }
}

/// Updates the stored hashes to those of the records.
const SEAL: &str = "UPDATE kurabe.runs SET record_sha256 = sha256(convert_to(record, 'UTF8'))";

const TAMPERINGS: [Tampering; 59] = [
    named("runs.id", "ALTER TABLE kurabe.runs ALTER id TYPE bytea USING convert_to(id, 'UTF8')"),
    named("runs.id", "ALTER TABLE kurabe.runs ALTER id DROP NOT NULL; UPDATE kurabe.runs SET id = NULL"),
    named("runs.id", "UPDATE kurabe.runs SET id = '../' || id"),
    named("runs.id", "UPDATE kurabe.runs SET id = ''  WHERE arrival = 1"),
    named("runs.identity", "ALTER TABLE kurabe.runs ALTER identity TYPE uuid USING identity::uuid"),
    named("runs.identity", "UPDATE kurabe.runs SET identity = 'x' || identity"),
    named("runs.identity", "UPDATE kurabe.runs SET identity = gen_random_uuid()"),
    unnamed("runs.started_unix_s", "ALTER TABLE kurabe.runs ALTER started_unix_s TYPE text"),
    unnamed("runs.started_unix_s", "UPDATE kurabe.runs SET started_unix_s = 'NaN'"),
    named("runs.summary", "ALTER TABLE kurabe.runs ALTER summary TYPE jsonb USING summary::jsonb"),
    named(
        "runs.summary",
        "ALTER TABLE kurabe.runs ALTER summary TYPE bytea USING convert_to(summary, 'UTF8')",
    ),
    named(
        "runs.summary",
        "ALTER TABLE kurabe.runs ALTER summary DROP NOT NULL; UPDATE kurabe.runs SET summary = NULL",
    ),
    named("runs.summary", "UPDATE kurabe.runs SET summary = '{'"),
    named("runs.summary", "UPDATE kurabe.runs SET summary = repeat('[', 100000)"),
    named(
        "runs.summary",
        "UPDATE kurabe.runs SET summary = jsonb_set(summary::jsonb, '{started_at}', '\"soon\"')",
    ),
    named(
        "runs.summary",
        "UPDATE kurabe.runs SET summary = jsonb_set(summary::jsonb, '{labels}', '{\"A b\": \"c\"}')",
    ),
    named(
        "runs.summary",
        "UPDATE kurabe.runs SET summary = jsonb_set(summary::jsonb, '{cell_count}', '4000000000')",
    ),
    unnamed(
        "runs.summary",
        "CREATE TYPE kurabe.mood AS ENUM ('ok'); ALTER TABLE kurabe.runs ALTER summary TYPE kurabe.mood USING 'ok'",
    ),
    unnamed("runs.summary", "ALTER TABLE kurabe.runs DROP COLUMN summary"),
    named("runs.schema", "ALTER TABLE kurabe.runs ALTER schema TYPE text"),
    named("runs.schema", "ALTER TABLE kurabe.runs ALTER schema TYPE bigint"),
    named(
        "runs.schema",
        "ALTER TABLE kurabe.runs ALTER schema DROP NOT NULL; UPDATE kurabe.runs SET schema = NULL",
    ),
    named("runs.schema", "UPDATE kurabe.runs SET schema = -1"),
    named("runs.record", "ALTER TABLE kurabe.runs ALTER record TYPE bytea USING convert_to(record, 'UTF8')"),
    named(
        "runs.record",
        "ALTER TABLE kurabe.runs ALTER record DROP NOT NULL; UPDATE kurabe.runs SET record = NULL",
    ),
    named("runs.record", "UPDATE kurabe.runs SET record = '{}'; "),
    named(
        "runs.record",
        "UPDATE kurabe.runs SET record = replace(record, '\"step_index\":0', '\"step_index\":77'); ",
    ),
    named(
        "runs.record",
        "UPDATE kurabe.runs SET record = replace(record, '\"started_at\":\"20', '\"started_at\":\"x'); ",
    ),
    named(
        "runs.record_sha256",
        "ALTER TABLE kurabe.runs ALTER record_sha256 TYPE text USING encode(record_sha256, 'hex')",
    ),
    named(
        "runs.record_sha256",
        "ALTER TABLE kurabe.runs ALTER record_sha256 DROP NOT NULL; UPDATE kurabe.runs SET record_sha256 = NULL",
    ),
    named("runs.record_sha256", "UPDATE kurabe.runs SET record_sha256 = 'short'"),
    named("runs.record_sha256", "UPDATE kurabe.runs SET record_sha256 = sha256('')"),
    named("runs.digest_version", "ALTER TABLE kurabe.runs ALTER digest_version TYPE bigint"),
    unnamed("runs.digest_version", "ALTER TABLE kurabe.runs ALTER digest_version TYPE text"),
    named(
        "runs.digest_version",
        "ALTER TABLE kurabe.runs ALTER digest_version DROP NOT NULL; UPDATE kurabe.runs SET digest_version = NULL",
    ),
    named("runs.digest", "ALTER TABLE kurabe.runs ALTER digest TYPE bytea USING convert_to(digest, 'UTF8')"),
    unnamed(
        "runs.digest",
        "ALTER TABLE kurabe.runs ALTER digest DROP NOT NULL; UPDATE kurabe.runs SET digest = NULL WHERE arrival = 1",
    ),
    unnamed("runs.digest", "UPDATE kurabe.runs SET digest = 'x'"),
    unnamed("runs.digest", "UPDATE kurabe.runs SET digest = '[[4294967295],[[4294967295,1,1,1]]]'"),
    unnamed("runs.digest", "UPDATE kurabe.runs SET digest = '[[16777216],[[16777215,1,1,1]]]'"),
    unnamed("runs.digest", "UPDATE kurabe.runs SET digest = '[[1],[[1,1e300,-1,4294967295]]]'"),
    unnamed(
        "runs.arrival",
        "ALTER TABLE kurabe.figures DROP CONSTRAINT figures_arrival_fkey; UPDATE kurabe.figures SET \
         arrival = arrival + 77",
    ),
    named(
        "figures.means",
        "ALTER TABLE kurabe.figures ALTER means TYPE text USING means::text; CREATE FUNCTION \
         cardinality(text) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT 1::bigint'",
    ),
    unnamed("figures.means", "ALTER TABLE kurabe.figures ALTER means TYPE text USING means::text"),
    unnamed(
        "figures.means",
        "ALTER TABLE kurabe.figures ALTER means DROP NOT NULL; UPDATE kurabe.figures SET means = NULL",
    ),
    unnamed("figures.means", "UPDATE kurabe.figures SET means = '{NULL,1}'"),
    unnamed("figures.means", "UPDATE kurabe.figures SET means = '{NaN,Infinity}', alike = md5('')::uuid"),
    unnamed("figures.means", "UPDATE kurabe.figures SET means = '{{1,2},{3,4}}', alike = md5('')::uuid"),
    unnamed("figures.means", "UPDATE kurabe.figures SET means = array_fill(1, ARRAY[100000])"),
    unnamed("figures.means", "UPDATE kurabe.figures SET means = '{1}', alike = md5('')::uuid"),
    unnamed("words.word", "UPDATE kurabe.words SET word = 'x' || word"),
    unnamed(
        "words.word",
        "DELETE FROM kurabe.names; ALTER TABLE kurabe.runs DROP CONSTRAINT runs_names_id_fkey; DELETE \
         FROM kurabe.words",
    ),
    named("words.word", "ALTER TABLE kurabe.words ALTER word TYPE bytea USING convert_to(word, 'UTF8')"),
    named("words.hash", "ALTER TABLE kurabe.words ALTER hash TYPE text USING encode(hash, 'hex')"),
    named("meta.salt", "ALTER TABLE kurabe.meta ALTER salt TYPE text USING encode(salt, 'hex')"),
    named("meta.salt", "UPDATE kurabe.meta SET salt = 'short'"),
    named("meta.version", "ALTER TABLE kurabe.meta ALTER version TYPE text"),
    named("meta.version", "UPDATE kurabe.meta SET version = -1"),
    named("meta.*", "INSERT INTO kurabe.meta SELECT * FROM kurabe.meta"),
];

fn runs() -> [RunRecord; 2] {
    let mut runs = [sample_record(), sample_foreign()];
    for (place, run) in runs.iter_mut().enumerate() {
        run.header.identity = format!("0190a1b2-c3d4-7e5f-8000-00000000000{place}");
        run.header.id = format!("ab{place}");
    }
    runs
}

/// Returns the errors of all queries and writes.
fn errors(server: &PostgresServer) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    let mut note = |outcome: Result<()>| errors.extend(outcome.err().map(|error| format!("{error:?}")));
    match opened(server, SharedAccess::Read) {
        Err(error) => note(Err(error)),
        Ok(store) => asked(&*store, &mut note),
    }
    match opened(server, SharedAccess::Write) {
        Err(error) => note(Err(error)),
        Ok(store) => {
            let offered: Vec<RunHash> = runs().iter().map(|run| RunHash::of(run).unwrap()).collect();
            note(store.holds(&offered).map(|_| ()));
            let newer = Digester { version: DIGESTER.version + 1, ..DIGESTER };
            note(opened_with(server, newer).and_then(|store| store.keep_digest("ab0")));
            let mut brought = runs().to_vec();
            brought[0].labels.insert("firmware".to_owned(), "2".to_owned());
            brought.push(sample_record());
            match store.take(brought) {
                Ok(arrivals) => arrivals.into_iter().for_each(|arrival| note(arrival.map(|_| ()))),
                Err(error) => note(Err(error)),
            }
        }
    }
    errors
}

fn asked(store: &dyn Archive, note: &mut dyn FnMut(Result<()>)) {
    let of_device = Filter { device: Some("samsung".to_owned()), ..Filter::default() };
    let newest = Filter { last: Some(1), ..Filter::default() };
    for filter in [of_device, newest, Filter::default()] {
        note(store.narrowed(&filter).map(|_| ()));
    }
    note(store.salt().map(|_| ()));
    note(store.newest().map(|_| ()));
    note(store.ids("a").map(|_| ()));
    note(store.hashes(&[]).map(|_| ()));
    for word in ["ab0", "ab1", "last", "ab", &runs()[0].header.identity, "a label"] {
        note(store.resolve(word).map(|_| ()));
    }
    for id in ["ab0", "ab1"] {
        note(store.load(id).map(|_| ()));
    }
    let runs = store.list().unwrap_or_default();
    let digests = [
        store.digests(&mut |_, _| {}),
        store.digests_of(&runs, &mut |_, _| {}),
        store.pooled(Some(7), &mut |_, _| {}).map(|(_, digests)| digests),
    ];
    for digests in digests {
        // Readers use each number as the index of a word.
        for digests in digests.iter() {
            for run in &digests.runs {
                let numbers = run.facts.iter().chain(run.figures.iter().map(|(number, _)| number));
                assert!(numbers.into_iter().all(|number| (*number as usize) < digests.words.len()));
                assert!(run.among.is_empty() || run.among.len() == run.figures.len());
            }
        }
        note(digests.map(|_| ()));
    }
}

#[test]
fn a_value_that_does_not_fit_is_named_and_ends_nothing_else() {
    let Some(server) = server() else { return };
    let sound = errors_after(&server, "SELECT 1");
    for Tampering { column, sql, is_named } in TAMPERINGS {
        let seal = if sql.ends_with("; ") { SEAL } else { "" };
        let errors = errors_after(&server, &format!("{sql};{seal}"));
        let new: Vec<&String> = errors.iter().filter(|error| !sound.contains(error)).collect();
        let name = format!("`kurabe.{column}`");
        assert!(!is_named || new.iter().any(|error| error.contains(&name)), "{sql}\n{new:#?}");
    }
}

/// Returns the errors of a database with two runs after this manipulation.
fn errors_after(server: &PostgresServer, sql: &str) -> Vec<String> {
    let clear = "DROP SCHEMA IF EXISTS kurabe CASCADE; DROP FUNCTION IF EXISTS cardinality(text)";
    server.sql("lab", clear).unwrap();
    opened(server, SharedAccess::Write).unwrap().take(runs().to_vec()).unwrap();
    server.sql("lab", sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    errors(server)
}
