//! A flipped bit in the store's file is reported, or does not change anything that is read.

use crate::common::{DIGESTER, fresh_store, owner, record};
use kurabe_core::digest::Digests;
use kurabe_core::record::Cell;
use kurabe_core::{Error, ErrorKind};
use kurabe_store::{Archive, Runs, SqliteStore, Store, export};
use kurabe_testkit::sample::{
    sample_cell, sample_foreign, sample_header, sample_kinds, sample_modelled, sample_record, sample_rounds,
};
use kurabe_testkit::sampled;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

/// Number of bits that are flipped at scattered places, in addition to one bit of every byte of the
/// file's header.
const SCATTERED: u64 = 240;
const HEADER_BYTES: u64 = 100;

/// Returns the bytes of a store with all kinds of runs, one of which is in progress.
fn whole_store() -> Vec<u8> {
    let (directory, store) = fresh_store();
    record(&store, &sample_record()).unwrap();
    for run in [sample_kinds(), sample_rounds(), sample_foreign(), sample_modelled()] {
        let id = store.import(run).unwrap();
        store.label(&id, "slot", Some("右から 2 番目")).unwrap();
    }
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    let cell = sample_cell(0);
    store.put_cell(&id, &Cell { repetitions: Vec::new(), ..cell.clone() }).unwrap();
    cell.repetitions.iter().for_each(|repetition| store.put_repetition(&id, 0, repetition).unwrap());
    digests(&store).unwrap();
    store.keep_served(&serde_json::json!({ "model": { "name": "d" }, "without": ["filesystem"] })).unwrap();
    drop(store);
    std::fs::read(directory.path().join("kurabe.db")).unwrap()
}

fn digests(store: &SqliteStore) -> Result<Digests, Error> {
    store.digests(&mut |_, _| {})
}

/// Returns the digest of each run as text.
fn spelled(digests: &Digests) -> BTreeMap<String, String> {
    let word = |place: &u32| &digests.words[*place as usize];
    let of_run = |run: &kurabe_core::digest::DigestedRun| {
        let facts: Vec<_> = run.facts.iter().map(word).collect();
        let figures: Vec<_> = run.figures.iter().map(|(place, figure)| (word(place), figure)).collect();
        (run.id.clone(), format!("{facts:?} {figures:?}"))
    };
    digests.runs.iter().map(of_run).collect()
}

/// Returns the export of every run of a store, or the error of loading it.
fn exports(store: &SqliteStore, ids: &[String]) -> Vec<Result<String, Error>> {
    ids.iter().map(|id| store.load(id).map(|run| export(&run).unwrap())).collect()
}

/// Opens and reads a store with one changed bit, and returns whether an error was reported.
fn look(path: &Path, ids: &[String], originals: &[String], digested: &BTreeMap<String, String>) -> bool {
    let store = match SqliteStore::open_existing(path, DIGESTER) {
        Ok(store) => store.expect("it is not an empty file"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Store, "{error}");
            return true;
        }
    };
    let mut is_damaged = false;
    for (export, original) in exports(&store, ids).into_iter().zip(originals) {
        match export {
            Ok(export) => assert!(export == *original, "a figure is another one, and nothing is said"),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Store | ErrorKind::NoSuchRun), "{error}");
                assert!(error.remedy_text().is_some(), "{error}");
                is_damaged = true;
            }
        }
    }
    let check = store.check().unwrap();
    let is_told = !check.damages.is_empty();
    assert!(is_told || !is_damaged, "a check reports unreadable runs");
    if let Ok(digests) = digests(&store) {
        for (id, words) in spelled(&digests) {
            assert_eq!(digested.get(&id), Some(&words), "a digest is another one");
        }
    }
    is_told
}

#[test]
fn every_flip_of_a_single_bit_is_told_or_changes_nothing() {
    let whole = whole_store();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kurabe.db");
    std::fs::write(&path, &whole).unwrap();
    let store = SqliteStore::open_existing(&path, DIGESTER).unwrap().unwrap();
    let ids: Vec<String> = store.list().unwrap().into_iter().map(|run| run.id).collect();
    let originals: Vec<String> = exports(&store, &ids).into_iter().map(Result::unwrap).collect();
    let digested = spelled(&digests(&store).unwrap());
    let check = store.check().unwrap();
    assert_eq!((ids.len(), check.runs, check.damages.len()), (6, 6, 0), "{check:?}");
    drop(store);
    let bits = 8 * whole.len() as u64;
    let scattered =
        (1..=SCATTERED).map(|seed| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) % bits);
    let header = (0..HEADER_BYTES).map(|byte| 8 * byte + byte % 8);
    let (bits, mut count) = (sampled(scattered.chain(header), 80), 0);
    let most = bits.len();
    for bit in bits {
        let mut bytes = whole.clone();
        bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
        let _ = std::fs::remove_file(directory.path().join("kurabe.db-journal"));
        std::fs::write(&path, &bytes).unwrap();
        count += usize::from(look(&path, &ids, &originals, &digested));
    }
    // Part of the file is free, and part of the header is not used.
    assert!(count > most / 5, "{count} of {most} were reported");
}

/// Returns a store with one run, and a connection to its tables like another program's.
fn tables() -> (tempfile::TempDir, SqliteStore, String, Connection) {
    let (directory, store) = fresh_store();
    let id = record(&store, &sample_record()).unwrap();
    let tables = Connection::open(directory.path().join("kurabe.db")).unwrap();
    (directory, store, id, tables)
}

#[test]
fn what_is_damaged_is_named_and_the_other_runs_are_read() {
    let changes = [
        ("header", "UPDATE runs SET header = replace(header, '比べ', '較べ')"),
        ("status", "UPDATE runs SET status = 'complete'"),
        ("status", "UPDATE runs SET error = NULL"),
        ("fill", "UPDATE runs SET fill = NULL"),
        ("notices[0]", "UPDATE notices SET notice = replace(notice, 'e', 'f') WHERE notice_index = 0"),
        ("notices[1]", "DELETE FROM notices WHERE notice_index = 1"),
        ("cells[2]", "UPDATE cells SET cell = cell || ' ' WHERE cell_index = 2"),
        ("cells[4]", "DELETE FROM cells WHERE cell_index = 4"),
        ("cells[2]", "UPDATE checksums SET crc32 = crc32 + 1 WHERE field = 'cells[2]'"),
        ("labels.", "UPDATE labels SET value = value || 'x'"),
    ];
    for (field, sql) in changes {
        let (_directory, store, id, tables) = tables();
        tables.execute(sql, []).unwrap();
        let other = store.import(sample_modelled()).unwrap();
        let error = store.load(&id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store);
        let what = error.what();
        assert!(
            what.en.contains(field) && what.en.contains(&id) && what.ja.contains(field),
            "{sql}: {error}"
        );
        assert_eq!(store.load(&other).unwrap().header.model, sample_modelled().header.model);
        let damages = store.check().unwrap().damages;
        assert_eq!(damages.len(), 1, "{damages:?}");
        assert_eq!(damages[0].0.as_ref(), Some(&id));
    }
}

#[test]
fn a_digest_that_is_damaged_is_made_again() {
    let (_directory, store, id, tables) = tables();
    let before = spelled(&digests(&store).unwrap());
    for sql in
        ["UPDATE words SET word = word || 'x'", "UPDATE digests SET digest = replace(digest, '1', '2')"]
    {
        assert!(tables.execute(sql, []).unwrap() > 0);
        assert_eq!(spelled(&digests(&store).unwrap()), before, "{sql}");
    }
    assert!(before.contains_key(&id));
}
