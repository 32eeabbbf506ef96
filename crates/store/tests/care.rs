//! Finding, labelling, removing runs.

use crate::common::{fresh_store, owner, record};
use kurabe_core::ErrorKind;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_store::Store;
use kurabe_testkit::sample::{sample_cell, sample_foreign, sample_header, sample_notice, sample_record};

/// A store that has runs with these ids, begun in this order.
fn store_with(ids: &[&str]) -> (tempfile::TempDir, Store) {
    let (directory, store) = fresh_store();
    for (minute, id) in ids.iter().enumerate() {
        let mut run = sample_record();
        run.header.id = (*id).to_owned();
        run.header.started_at = format!("2026-01-31T12:{minute:02}:00+09:00");
        assert_eq!(store.import(run).unwrap(), *id);
    }
    (directory, store)
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_id() {
    let (_directory, store) = store_with(&["abc", "abcd", "abx", "k7f"]);
    for (words, id) in [("k", "k7f"), ("K7F", "k7f"), ("abcd", "abcd"), ("abx", "abx"), ("last", "k7f")] {
        assert_eq!(store.resolve(words).unwrap(), id, "{words}");
    }
    assert_eq!(store.resolve("abc").unwrap(), "abc", "an exact id wins over a beginning");
}

#[test]
fn no_run_and_several_runs_are_errors_that_help() {
    let (_directory, store) = store_with(&["abc", "abcd", "abx", "k7f"]);
    for words in ["z", "", "k7f1", "%", "a_c", "比"] {
        let error = store.resolve(words).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchRun, "{words}");
        assert!(error.remedy_text().unwrap().en.contains("kurabe list"), "{words}");
    }
    let error = store.resolve("ab").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSuchRun);
    for words in [&error.what().en, &error.what().ja] {
        assert!(words.contains("abc, abcd, abx") && !words.contains("k7f"), "{words}");
    }
    let (_empty_directory, empty) = fresh_store();
    assert_eq!(empty.resolve("last").unwrap_err().kind(), ErrorKind::NoSuchRun);
    assert_eq!(empty.load("abc").unwrap_err().kind(), ErrorKind::NoSuchRun);
}

#[test]
fn the_list_is_in_the_order_of_starts_whatever_their_zones() {
    let (_directory, store) = fresh_store();
    let add = |id: &str, started_at: &str| {
        let mut run = sample_record();
        run.header.id = id.to_owned();
        run.header.started_at = started_at.to_owned();
        store.import(run).unwrap();
    };
    add("ccc", "2026-01-31T12:00:00.5Z");
    add("bbb", "2026-01-31T12:00:00.25Z");
    add("aaa", "2026-01-31T20:59:59+09:00");
    let ids: Vec<String> = store.list().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["aaa", "bbb", "ccc"]);
    assert_eq!(store.resolve("last").unwrap(), "ccc");
}

#[test]
fn the_list_tells_what_there_is_to_tell() {
    let (_directory, store) = fresh_store();
    let id = record(&store, &sample_record()).unwrap();
    let list = store.list().unwrap();
    let summary = &list[0];
    let run = sample_record();
    assert_eq!(list.len(), 1);
    assert_eq!((&summary.id, &summary.started_at), (&id, &run.header.started_at));
    let header = &run.header;
    assert_eq!(
        (&summary.target, &summary.profile),
        (&header.target.as_ref().unwrap().given, &header.profile.as_ref().unwrap().name)
    );
    assert_eq!((summary.imported, &summary.measured_at), (false, &None));
    assert_eq!(summary.device.as_deref(), Some("比べ SSD 1"));
    assert_eq!((summary.status, summary.cell_count, &summary.labels), (run.status, 5, &run.labels));
}

#[test]
fn the_list_tells_of_another_tools_run_what_that_tool_told() {
    let (_directory, store) = fresh_store();
    store.import(sample_foreign()).unwrap();
    let summary = store.list().unwrap().swap_remove(0);
    assert!(summary.imported);
    assert_eq!(summary.measured_at.as_deref(), Some("2026-01-30T21:04:05"));
    assert_eq!(summary.started_at, "2026-02-01T08:00:00Z");
    assert_eq!((summary.target.as_str(), summary.profile.as_str()), ("D: 12%", "CrystalDiskMark 8.0.5"));
    assert_eq!((summary.device.as_deref(), summary.cell_count), (None, 2));
}

#[test]
fn labels_are_set_changed_and_removed() {
    let (_directory, store) = store_with(&["abc"]);
    store.label("abc", "firmware", Some("版 3")).unwrap();
    store.label("abc", "note", Some("")).unwrap();
    assert_eq!(store.load("abc").unwrap().labels["firmware"], "版 3");
    assert_eq!(store.list().unwrap()[0].labels["note"], "");
    store.label("abc", "firmware", None).unwrap();
    store.label("abc", "never-there", None).unwrap();
    assert_eq!(store.load("abc").unwrap().labels.len(), 1);
    assert_eq!(store.label("abc", "No Key", Some("x")).unwrap_err().kind(), ErrorKind::Usage);
    assert_eq!(store.label("zzz", "key", Some("x")).unwrap_err().kind(), ErrorKind::NoSuchRun);
}

#[test]
fn a_run_is_removed_with_all_that_belongs_to_it() {
    let (directory, store) = store_with(&["abc", "abd"]);
    store.remove("abc", |_| true).unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(store.remove("abc", |_| true).unwrap_err().kind(), ErrorKind::NoSuchRun);
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    for table in ["cells", "notices", "labels"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE run_id = 'abc'");
        assert_eq!(tables.query_row(&sql, [], |row| row.get::<_, u32>(0)).unwrap(), 0, "{table}");
    }
}

#[test]
fn a_run_that_is_being_measured_is_not_removed() {
    let (_directory, store) = fresh_store();
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    assert_eq!(store.remove(&id, |found| *found == owner()).unwrap_err().kind(), ErrorKind::Refused);
    assert!(store.abandoned(|found| *found == owner()).unwrap().is_empty());
    assert_eq!(store.abandoned(|_| false).unwrap()[0].id, id);
    store.remove(&id, |_| false).unwrap();
}

#[test]
fn an_ended_run_is_not_marked_interrupted() {
    let (_directory, store) = fresh_store();
    let id = record(&store, &RunRecord { status: RunStatus::Complete, ..sample_record() }).unwrap();
    store.mark_interrupted(&id, "2027-01-01T00:00:00Z").unwrap();
    assert_eq!(store.load(&id).unwrap().status, RunStatus::Complete);
    assert_eq!(store.load(&id).unwrap().ended_at, sample_record().ended_at);
}

#[test]
fn writing_to_a_run_that_is_not_there_is_an_error() {
    let (_directory, store) = fresh_store();
    let errors = [
        store.append_cell("zzz", &sample_cell(0)),
        store.put_cell("zzz", &sample_cell(0)),
        store.append_notice("zzz", &sample_notice(0)),
        store.set_fill("zzz", &sample_record().fill.unwrap()),
        store.set_test_file("zzz", None),
        store.finish_run("zzz", RunStatus::Complete, "", None, None),
        store.mark_interrupted("zzz", ""),
    ];
    for error in errors {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NoSuchRun);
    }
}

#[test]
fn a_cell_that_is_put_again_takes_the_place_of_the_old_one() {
    let (_directory, store) = fresh_store();
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    for index in [0, 1, 4] {
        store.put_cell(&id, &sample_cell(index)).unwrap();
    }
    let mut grown = sample_cell(1);
    grown.repetitions.push(grown.repetitions[1].clone());
    for _ in 0..2 {
        store.put_cell(&id, &grown).unwrap();
        assert_eq!(store.list().unwrap()[0].cell_count, 3);
    }
    assert_eq!(store.load(&id).unwrap().cells, [sample_cell(0), grown, sample_cell(4)]);
    // Of another run the cell with the same index stays.
    let other = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.put_cell(&other, &sample_cell(1)).unwrap();
    assert_eq!(store.load(&id).unwrap().cells.len(), 3);
    assert_eq!(store.load(&other).unwrap().cells, [sample_cell(1)]);
}

#[test]
fn the_same_cell_twice_is_an_error_and_counts_once() {
    let (_directory, store) = fresh_store();
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.append_cell(&id, &sample_cell(0)).unwrap();
    assert_eq!(store.append_cell(&id, &sample_cell(0)).unwrap_err().kind(), ErrorKind::Store);
    assert_eq!(store.list().unwrap()[0].cell_count, 1);
}

#[test]
fn a_record_of_a_newer_kurabe_in_the_store_asks_for_an_update() {
    let (directory, store) = store_with(&["abc", "abd"]);
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    tables.execute("UPDATE runs SET header = json_set(header, '$.schema', 9) WHERE id = 'abc'", []).unwrap();
    tables.execute("UPDATE cells SET cell = json_remove(cell, '$.label') WHERE cell_index = 3", []).unwrap();
    let error = store.load("abc").unwrap_err();
    assert_eq!((error.kind(), &*error.remedy_text().unwrap().en), (ErrorKind::Store, "update kurabe"));
    let error = store.load("abd").unwrap_err();
    assert!(error.what().en.contains("`cells[3]`") && error.cause().unwrap().contains("label"), "{error}");
    assert_eq!(store.list().unwrap().len(), 2, "the list needs no cell");
}
