//! After any fault of the store's file, at any time, the store opens, is intact, and contains
//! everything it has acknowledged.
//!
//! This follows the fault tests of SQLite and redb: short scenarios are run repeatedly, and each
//! time the next change of a file fails, until one run completes without a fault.

use crate::common::{DIGESTER, owner};
use crate::faulty_files::{Fault, end_of_plan, install, plan};
use kurabe_core::Result;
use kurabe_core::record::{Cell, Repetition, RunRecord, RunStatus};
use kurabe_store::{Archive, Runs, SqliteStore, Store};
use kurabe_testkit::all_is_tested;
use kurabe_testkit::sample::{sample_cell, sample_foreign, sample_header, sample_notice};
use rusqlite::ffi::{SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_IOERR_WRITE};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// An acknowledgement of the store.
enum Told {
    Begun(String),
    Repetition(String, u32, Box<Repetition>),
    Cell(String, Box<Cell>),
    Ended(String, RunStatus),
    Stored(Box<RunRecord>),
    Removed(String),
}

type Story = fn(&Path, &mut Vec<Told>) -> Result<()>;

const STORIES: [(&str, Story); 6] = [
    ("a store is made", make),
    ("a store is made of an empty file", fill),
    ("a run", run),
    ("targets in turns", turns),
    ("an import", import),
    ("a run is removed", remove),
];

fn make(path: &Path, heard: &mut Vec<Told>) -> Result<()> {
    std::fs::remove_file(path).expect("the store of before");
    let store = SqliteStore::open(path, DIGESTER)?;
    heard.push(Told::Begun(store.begin_run(&mut sample_header(), &owner())?));
    Ok(())
}

/// As on a file system on which a store cannot appear atomically.
fn fill(path: &Path, heard: &mut Vec<Told>) -> Result<()> {
    std::fs::write(path, b"").expect("the store of before");
    let store = SqliteStore::open(path, DIGESTER)?;
    heard.push(Told::Begun(store.begin_run(&mut sample_header(), &owner())?));
    Ok(())
}

fn begin(store: &SqliteStore, heard: &mut Vec<Told>, cells: &[u32]) -> Result<String> {
    let id = store.begin_run(&mut sample_header(), &owner())?;
    heard.push(Told::Begun(id.clone()));
    for index in cells {
        store.put_cell(&id, &Cell { repetitions: Vec::new(), ..sample_cell(*index) })?;
    }
    Ok(id)
}

fn repeat(store: &SqliteStore, heard: &mut Vec<Told>, id: &str, index: u32, number: u32) -> Result<()> {
    let repetition = Repetition { index: number, ..sample_cell(index).repetitions[0].clone() };
    store.put_repetition(id, index, &repetition)?;
    heard.push(Told::Repetition(id.to_owned(), index, Box::new(repetition)));
    Ok(())
}

fn end(store: &SqliteStore, heard: &mut Vec<Told>, id: &str) -> Result<()> {
    store.finish_run(id, RunStatus::Complete, "2026-01-31T13:00:00Z", None, None)?;
    heard.push(Told::Ended(id.to_owned(), RunStatus::Complete));
    Ok(())
}

fn run(path: &Path, heard: &mut Vec<Told>) -> Result<()> {
    let store = SqliteStore::open(path, DIGESTER)?;
    let id = begin(&store, heard, &[0])?;
    store.append_notice(&id, &sample_notice(0))?;
    for number in 0..2 {
        repeat(&store, heard, &id, 0, number)?;
    }
    let mut whole = sample_cell(0);
    whole.repetitions = (0..2).map(|index| Repetition { index, ..whole.repetitions[0].clone() }).collect();
    store.put_cell(&id, &whole)?;
    heard.push(Told::Cell(id.clone(), Box::new(whole)));
    end(&store, heard, &id)
}

fn turns(path: &Path, heard: &mut Vec<Told>) -> Result<()> {
    let store = SqliteStore::open(path, DIGESTER)?;
    let ids = [begin(&store, heard, &[0])?, begin(&store, heard, &[0])?];
    for (number, place) in [(0, 0), (0, 1), (1, 1)] {
        repeat(&store, heard, &ids[place], 0, number)?;
    }
    ids.iter().try_for_each(|id| end(&store, heard, id))
}

fn import(path: &Path, heard: &mut Vec<Told>) -> Result<()> {
    let store = SqliteStore::open(path, DIGESTER)?;
    let id = store.import(sample_foreign())?;
    let mut record = sample_foreign();
    record.header.id = id;
    heard.push(Told::Stored(Box::new(record)));
    Ok(())
}

fn remove(path: &Path, heard: &mut Vec<Told>) -> Result<()> {
    let store = SqliteStore::open(path, DIGESTER)?;
    let id = store.resolve("last")?;
    store.remove(&id, &|_| false)?;
    heard.push(Told::Removed(id));
    Ok(())
}

/// Returns whether the acknowledged state, or a later one, is in the store.
fn holds(runs: &BTreeMap<String, RunRecord>, heard: &Told) -> bool {
    let cell = |id: &String, index: u32| runs.get(id)?.cells.iter().find(|cell| cell.index == index);
    match heard {
        Told::Begun(id) => runs.contains_key(id),
        Told::Repetition(id, index, repetition) => {
            cell(id, *index).is_some_and(|cell| cell.repetitions.contains(repetition))
        }
        Told::Cell(id, whole) => cell(id, whole.index).is_some_and(|cell| *cell == **whole),
        Told::Ended(id, status) => runs.get(id).is_some_and(|run| run.status == *status),
        Told::Stored(record) => runs.get(&record.header.id) == Some(record),
        Told::Removed(id) => !runs.contains_key(id),
    }
}

/// Runs a scenario with one fault, and returns whether the fault occurred.
fn tell(story: Story, template: &[u8], change: u64, fault: Fault, place: &str) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kurabe.db");
    std::fs::write(&path, template).unwrap();
    let mut heard = Vec::new();
    plan(change, fault);
    let outcome = story(&path, &mut heard);
    let is_struck = end_of_plan();
    assert!(is_struck || outcome.is_ok(), "{place}: {}", outcome.unwrap_err());
    let store = SqliteStore::open(&path, DIGESTER).unwrap_or_else(|error| panic!("{place}: {error}"));
    let check = store.check().unwrap();
    assert!(check.damages.is_empty(), "{place}: {:?}", check.damages);
    let ids = store.ids("").unwrap();
    let runs: BTreeMap<String, RunRecord> =
        ids.into_iter().map(|id| (id.clone(), store.load(&id).unwrap())).collect();
    for (number, one) in heard.iter().enumerate() {
        assert!(holds(&runs, one), "{place}: what was told as number {number} is lost");
    }
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.put_cell(&id, &sample_cell(0)).unwrap_or_else(|error| panic!("{place}: {error}"));
    is_struck
}

/// Not a test by itself: the file layer applies to the whole process.
#[test]
fn part_faults() {
    if std::env::var_os("KURABE_TEST_FAULTS").is_none() {
        return;
    }
    install();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kurabe.db");
    let store = SqliteStore::open(&path, DIGESTER).unwrap();
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.put_cell(&id, &sample_cell(0)).unwrap();
    drop(store);
    let template = std::fs::read(&path).unwrap();
    for (name, story) in STORIES {
        let (mut struck, mut missed) = (0, 0);
        for change in 1.. {
            let faults = [
                Fault::Fails([SQLITE_IOERR_WRITE, SQLITE_FULL, SQLITE_IOERR_FSYNC][change as usize % 3]),
                Fault::Torn,
                Fault::PowerCut(change),
            ];
            let place = |fault| format!("{name}, change {change}, {fault:?}");
            // By default the faults alternate.
            let one = change as usize % faults.len();
            let faults = if all_is_tested() { &faults[..] } else { &faults[one..=one] };
            for &fault in faults {
                let is_struck = tell(story, &template, change, fault, &place(fault));
                (struck, missed) = if is_struck { (struck + 1, 0) } else { (struck, missed + 1) };
            }
            // After the last change there is nothing to fail.
            if missed >= 3 {
                break;
            }
        }
        assert!(struck > 6, "{name}: {struck}");
    }
}

#[test]
fn after_a_fault_at_any_change_of_a_file_the_store_is_whole_and_has_all_that_was_told() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "faults::part_faults", "--nocapture"])
        .env("KURABE_TEST_FAULTS", "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
}
