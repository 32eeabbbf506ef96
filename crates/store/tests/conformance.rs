//! Requirements for every store, whatever its implementation. A new store needs a test of three
//! lines at the end.

use crate::common::{DIGESTER, ask, assert_true, fresh_store, owner, record};
use crate::identities::{
    a_file_that_was_changed_is_refused_and_the_stored_run_stays, a_hash_is_of_the_record_as_it_is,
    a_run_of_before_is_the_same_wherever_it_is_read,
    a_run_that_was_not_over_is_replaced_by_what_became_of_it, a_run_without_its_paths_is_still_that_run,
    copies_have_one_hash, every_run_has_an_identity_of_its_own_by_which_it_is_found,
    runs_of_two_machines_with_one_id_stay_two,
};
use crate::memory::MemoryStore;
#[cfg(feature = "postgres")]
use crate::postgres::{opened, server};
use kurabe_core::ErrorKind;
use kurabe_core::made::{FileSystemFacts, FolderFacts, MadeFacts, MadeFile, StillThere};
use kurabe_core::record::{Cell, RunHeader, RunRecord, RunStatus};
use kurabe_store::{Archive, Filter, Store};
use kurabe_testkit::sample::{
    sample_cell, sample_foreign, sample_header, sample_kinds, sample_modelled, sample_notice, sample_record,
    sample_rounds,
};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;

type Promise<S> = (&'static str, fn(&S));

macro_rules! promises {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), $name)),*] };
}

/// Requirements for every store to which runs are added.
const PROMISES: [Promise<dyn Archive>; 19] = promises![
    the_salt_is_made_once,
    a_run_is_found_by_the_beginning_of_its_id,
    no_run_and_several_runs_are_errors_that_help,
    the_list_is_in_the_order_of_starts_whatever_their_zones,
    the_list_tells_of_another_tools_run_what_that_tool_told,
    a_record_that_contradicts_itself_is_not_stored,
    an_imported_run_keeps_its_id_if_that_is_free,
    the_same_run_again_is_stored_once,
    the_file_of_another_tool_again_is_stored_once,
    runs_of_two_machines_with_one_id_stay_two,
    a_file_that_was_changed_is_refused_and_the_stored_run_stays,
    a_run_without_its_paths_is_still_that_run,
    a_run_that_was_not_over_is_replaced_by_what_became_of_it,
    a_run_of_before_is_the_same_wherever_it_is_read,
    a_running_run_is_imported_as_interrupted,
    a_run_that_was_kept_when_it_ended_needs_no_reading,
    what_is_brought_is_there_whole_with_its_digest,
    a_filter_narrows_as_it_does_itself,
    copies_have_one_hash,
];

/// Additional requirements for stores into which runs are measured.
const MEASURING: [Promise<dyn Store>; 20] = promises![
    a_hash_is_of_the_record_as_it_is,
    what_is_recorded_call_by_call_is_what_is_loaded,
    an_id_is_drawn_for_each_run_and_is_never_a_number,
    a_header_is_replaced_under_the_same_id,
    a_removed_run_is_gone,
    a_run_is_found_by_a_label_that_no_other_has,
    the_list_tells_what_there_is_to_tell,
    labels_are_set_changed_and_removed,
    a_run_that_is_being_measured_is_not_removed,
    an_ended_run_is_not_marked_interrupted,
    writing_to_a_run_that_is_not_there_is_an_error,
    a_cell_that_is_put_again_takes_the_place_of_the_old_one,
    repetitions_are_kept_one_by_one_until_their_cell_is_whole,
    a_run_taken_for_abandoned_still_keeps_what_is_measured,
    a_test_file_with_any_name_is_remembered,
    what_a_run_made_is_remembered_longer_than_the_run,
    every_run_has_an_identity_of_its_own_by_which_it_is_found,
    whatever_changes_the_record_drops_its_digest,
    a_run_that_is_being_measured_has_no_digest_yet,
    what_servers_said_is_kept_in_its_order_and_is_no_run,
];

/// Tests each requirement on an empty store.
#[expect(clippy::print_stdout, reason = "a failure is printed with the preceding promise")]
fn conformance<S: ?Sized>(promises: &[Promise<S>], on_fresh_store: impl Fn(fn(&S))) {
    for (name, promise) in promises {
        println!("{name}");
        on_fresh_store(*promise);
    }
}

/// Adds runs with these ids, begun in this order.
fn add_runs(store: &dyn Archive, ids: &[&str]) {
    for (minute, id) in ids.iter().enumerate() {
        let mut run = sample_record();
        run.header.id = (*id).to_owned();
        run.header.started_at = format!("2026-01-31T12:{minute:02}:00+09:00");
        run.header.identity.clear();
        assert_eq!(store.import(run).unwrap(), *id);
    }
}

/// Gives a record the id and the identity of another.
fn named_as(run: &mut RunRecord, other: &RunRecord) {
    run.header.id.clone_from(&other.header.id);
    run.header.identity.clone_from(&other.header.identity);
}

#[test]
fn a_sqlite_file_is_a_store() {
    conformance(&PROMISES, |promise| promise(&fresh_store().1));
    conformance(&MEASURING, |promise| promise(&fresh_store().1));
}

#[test]
fn memory_is_a_store() {
    conformance(&PROMISES, |promise| promise(&MemoryStore::new(DIGESTER)));
    conformance(&MEASURING, |promise| promise(&MemoryStore::new(DIGESTER)));
}

#[cfg(feature = "postgres")]
#[test]
fn a_database_of_postgresql_is_a_store() {
    let Some(server) = server() else { return };
    conformance(&PROMISES, |promise| {
        server.sql("lab", "DROP SCHEMA IF EXISTS kurabe CASCADE").unwrap();
        promise(&*opened(&server, kurabe_store::SharedAccess::Write).unwrap());
    });
}

fn what_is_recorded_call_by_call_is_what_is_loaded(store: &dyn Store) {
    for run in [sample_record(), sample_kinds(), sample_rounds(), sample_modelled()] {
        let id = record(store, &run).unwrap();
        let mut loaded = store.load(&id).unwrap();
        named_as(&mut loaded, &run);
        assert_eq!(loaded, run);
    }
}

fn an_id_is_drawn_for_each_run_and_is_never_a_number(store: &dyn Store) {
    let mut ids: Vec<String> =
        (0..50).map(|_| store.begin_run(&mut sample_header(), &owner()).unwrap()).collect();
    assert!(ids.iter().all(|id| id.len() >= 3 && id.parse::<u32>().is_err()), "{ids:?}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 50);
}

fn a_header_is_replaced_under_the_same_id(store: &dyn Store) {
    // The target is known once it is open.
    let mut header = RunHeader { target: None, ..sample_header() };
    let id = store.begin_run(&mut header, &owner()).unwrap();
    assert_eq!(header.id, id);
    header.target = sample_header().target;
    header.environment.machine.kernel = Some("Linux 7.0".to_owned());
    store.update_header(&header).unwrap();
    assert_eq!(store.load(&id).unwrap().header, header);
    assert_eq!(store.list().unwrap()[0].target, header.target_name());
}

fn a_removed_run_is_gone(store: &dyn Store) {
    add_runs(store, &["abc", "abd"]);
    store.remove("abc", &|_| true).unwrap();
    assert_eq!(store.remove("abc", &|_| true).unwrap_err().kind(), ErrorKind::NoSuchRun);
    assert_eq!(store.load("abc").unwrap_err().kind(), ErrorKind::NoSuchRun);
    assert_eq!(store.list().unwrap().len(), 1);
}

fn the_salt_is_made_once(store: &dyn Archive) {
    let salt = store.salt().unwrap();
    assert_eq!((salt.len(), &salt), (16, &store.salt().unwrap()));
}

fn a_run_is_found_by_the_beginning_of_its_id(store: &dyn Archive) {
    add_runs(store, &["abc", "abcd", "abx", "k7f"]);
    for (words, id) in [("k", "k7f"), ("K7F", "k7f"), ("abcd", "abcd"), ("abx", "abx"), ("last", "k7f")] {
        assert_eq!(store.resolve(words).unwrap(), id, "{words}");
    }
    assert_eq!(store.resolve("abc").unwrap(), "abc", "an exact id wins over a beginning");
}

fn a_run_is_found_by_a_label_that_no_other_has(store: &dyn Store) {
    add_runs(store, &["abc", "abcd", "k7f"]);
    store.label("abcd", "name", Some("before")).unwrap();
    store.label("k7f", "state", Some("abc")).unwrap();
    assert_eq!(store.resolve("before").unwrap(), "abcd");
    assert_eq!(store.resolve("abc").unwrap(), "abc", "an id wins over a label");
    store.label("abc", "state", Some("before")).unwrap();
    let error = store.resolve("before").unwrap_err();
    assert!(error.what().en.contains("abc, abcd"), "{error}");
}

fn no_run_and_several_runs_are_errors_that_help(store: &dyn Archive) {
    assert_eq!(store.resolve("last").unwrap_err().kind(), ErrorKind::NoSuchRun);
    assert_eq!(store.load("abc").unwrap_err().kind(), ErrorKind::NoSuchRun);
    add_runs(store, &["abc", "abcd", "abx", "k7f"]);
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
}

fn the_list_is_in_the_order_of_starts_whatever_their_zones(store: &dyn Archive) {
    let add = |id: &str, started_at: &str| {
        let mut run = sample_record();
        run.header.id = id.to_owned();
        run.header.started_at = started_at.to_owned();
        run.header.identity.clear();
        store.import(run).unwrap();
    };
    add("ccc", "2026-01-31T12:00:00.5Z");
    add("bbb", "2026-01-31T12:00:00.25Z");
    add("aaa", "2026-01-31T20:59:59+09:00");
    let ids: Vec<String> = store.list().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["aaa", "bbb", "ccc"]);
    assert_eq!(store.resolve("last").unwrap(), "ccc");
    let named = ["last~0", "last~1", "last~2"].map(|name| store.resolve(name).unwrap());
    assert_eq!(named, ["ccc", "bbb", "aaa"]);
    assert_eq!(store.resolve("last~3").unwrap_err().kind(), ErrorKind::NoSuchRun);
}

fn the_list_tells_what_there_is_to_tell(store: &dyn Store) {
    let id = record(store, &sample_record()).unwrap();
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

fn the_list_tells_of_another_tools_run_what_that_tool_told(store: &dyn Archive) {
    store.import(sample_foreign()).unwrap();
    let summary = store.list().unwrap().swap_remove(0);
    assert!(summary.imported);
    assert_eq!(summary.measured_at.as_deref(), Some("2026-01-30T21:04:05"));
    assert_eq!(summary.started_at, "2026-02-01T08:00:00Z");
    assert_eq!((summary.target.as_str(), summary.profile.as_str()), ("D: 12%", "CrystalDiskMark 8.0.5"));
    assert_eq!((summary.device.as_deref(), summary.cell_count), (None, 2));
}

fn labels_are_set_changed_and_removed(store: &dyn Store) {
    add_runs(store, &["abc"]);
    store.label("abc", "firmware", Some("版 3")).unwrap();
    store.label("abc", "note", Some("")).unwrap();
    assert_eq!(store.load("abc").unwrap().labels["firmware"], "版 3");
    assert_eq!(store.list().unwrap()[0].labels["note"], "");
    store.label("abc", "firmware", None).unwrap();
    store.label("abc", "never-there", None).unwrap();
    assert_eq!(store.load("abc").unwrap().labels.len(), 1);
    assert_eq!(store.label("abc", "No Key", Some("x")).unwrap_err().kind(), ErrorKind::Usage);
}

fn a_run_that_is_being_measured_is_not_removed(store: &dyn Store) {
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    assert_eq!(store.remove(&id, &|who| *who == owner()).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(store.running().unwrap(), [(id.clone(), Some(owner()))], "all is kept of who measures it");
    store.remove(&id, &|_| false).unwrap();
}

fn an_ended_run_is_not_marked_interrupted(store: &dyn Store) {
    let id = record(store, &RunRecord { status: RunStatus::Complete, ..sample_record() }).unwrap();
    store.mark_interrupted(&id, "2027-01-01T00:00:00Z").unwrap();
    assert_eq!(store.load(&id).unwrap().status, RunStatus::Complete);
    assert_eq!(store.load(&id).unwrap().ended_at, sample_record().ended_at);
}

fn writing_to_a_run_that_is_not_there_is_an_error(store: &dyn Store) {
    let errors = [
        store.put_cell("zzz", &sample_cell(0)),
        store.put_repetition("zzz", 0, &sample_cell(0).repetitions[0]),
        store.append_notice("zzz", &sample_notice(0)),
        store.set_fill("zzz", &sample_record().fill.unwrap()),
        store.finish_run("zzz", RunStatus::Complete, "", None, None),
        store.mark_interrupted("zzz", ""),
        store.label("zzz", "key", Some("x")),
        store.remove("zzz", &|_| false),
        store.keep_digest("zzz"),
    ];
    for error in errors {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NoSuchRun);
    }
}

fn a_cell_that_is_put_again_takes_the_place_of_the_old_one(store: &dyn Store) {
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
    // The cell of another run with the same index is unchanged.
    let other = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.put_cell(&other, &sample_cell(1)).unwrap();
    assert_eq!(store.load(&id).unwrap().cells.len(), 3);
    assert_eq!(store.load(&other).unwrap().cells, [sample_cell(1)]);
}

fn repetitions_are_kept_one_by_one_until_their_cell_is_whole(store: &dyn Store) {
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    let whole = sample_cell(1);
    let begun = Cell { repetitions: Vec::new(), ..whole.clone() };
    assert!(store.put_repetition(&id, 1, &whole.repetitions[0]).is_err(), "its cell is not there");
    store.put_cell(&id, &sample_cell(0)).unwrap();
    store.put_cell(&id, &begun).unwrap();
    for (count, repetition) in (1..).zip(&whole.repetitions) {
        store.put_repetition(&id, 1, repetition).unwrap();
        let cells = store.load(&id).unwrap().cells;
        assert_eq!((cells.len(), &cells[0]), (2, &sample_cell(0)));
        assert_eq!(cells[1], Cell { repetitions: whole.repetitions[..count].to_vec(), ..whole.clone() });
    }
    assert_eq!(store.list().unwrap()[0].cell_count, 2);
    // The complete cell replaces all repetitions that were stored.
    let shorter = Cell { repetitions: whole.repetitions[..1].to_vec(), ..whole };
    store.put_cell(&id, &shorter).unwrap();
    assert_eq!(store.load(&id).unwrap().cells[1], shorter);
    store.remove(&id, &|_| false).unwrap();
    assert!(store.load(&id).is_err());
}

fn a_run_taken_for_abandoned_still_keeps_what_is_measured(store: &dyn Store) {
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.mark_interrupted(&id, "2026-01-31T13:00:00Z").unwrap();
    store.put_cell(&id, &sample_cell(0)).unwrap();
    let end = sample_record().ended_at.unwrap();
    store.finish_run(&id, RunStatus::Complete, &end, None, None).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!((run.status, run.ended_at, run.cells.len()), (RunStatus::Complete, Some(end), 1));
}

fn a_test_file_with_any_name_is_remembered(store: &dyn Store) {
    use std::os::unix::ffi::OsStrExt;
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    let path = Path::new(OsStr::from_bytes(b"/mnt/\xff\xfe/kurabe \xe6.tmp"));
    let file = MadeFile { path: path.to_owned(), word: "0f".repeat(16), ..MadeFile::default() };
    store.note_made_file(&id, Some(&file)).unwrap();
    assert_eq!(store.made_files().unwrap(), [(id.clone(), file)]);
    store.note_made_file(&id, None).unwrap();
    assert_eq!(store.made_files().unwrap(), []);
}

fn what_a_run_made_is_remembered_longer_than_the_run(store: &dyn Store) {
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    let file_system = FileSystemFacts {
        kind: "ext4".to_owned(),
        device: u64::MAX,
        boot_id: "b".to_owned(),
        fsid: u64::MAX,
        uuid: Some("u".to_owned()),
    };
    let folder =
        FolderFacts { inode: Some(u64::MAX), file_system, mount_depth: 2, mount_root: "/@home".into() };
    let mut file = MadeFile {
        path: "/mnt/x".into(),
        word: "0f".repeat(16),
        folder: Some(folder),
        made: None,
        told: None,
    };
    store.note_made_file(&id, Some(&file)).unwrap();
    store.mark_interrupted(&id, "2026-01-31T13:00:00Z").unwrap();
    assert_eq!(store.made_files().unwrap(), [(id.clone(), file.clone())]);
    store.remove(&id, &|_| false).unwrap();
    file.made = Some(MadeFacts { inode: Some(7), user: 1000 });
    file.told = Some(StillThere::FolderAway);
    store.note_made_file(&id, Some(&file)).unwrap();
    assert_eq!(store.made_files().unwrap(), [(id.clone(), file)]);
    store.note_made_file(&id, None).unwrap();
    store.note_made_file(&id, None).unwrap();
    assert_eq!(store.made_files().unwrap(), []);
}

fn a_record_that_contradicts_itself_is_not_stored(store: &dyn Archive) {
    let mut run = sample_record();
    run.cells[0].repetitions[0].read.latency.count = 1;
    assert_eq!(store.import(run).unwrap_err().kind(), ErrorKind::Import);
    assert!(store.list().unwrap().is_empty());
}

fn an_imported_run_keeps_its_id_if_that_is_free(store: &dyn Archive) {
    assert_eq!(store.import(sample_record()).unwrap(), "k7f");
    let mut other = sample_record();
    other.header.started_at = "2026-03-01T00:00:00Z".to_owned();
    other.header.identity = "0190a1b2-c3d4-7e5f-8000-00000000000a".to_owned();
    let id = store.import(other.clone()).unwrap();
    assert_ne!(id, "k7f");
    other.header.id.clone_from(&id);
    assert_eq!(store.load(&id).unwrap(), other);
    assert_eq!(store.load("k7f").unwrap(), sample_record());
}

fn the_same_run_again_is_stored_once(store: &dyn Archive) {
    let recorded = store.import(sample_record()).unwrap();
    let again = store.load(&recorded).unwrap();
    assert_eq!(store.import(again.clone()).unwrap(), recorded);

    // With another id and another label it is still the same run.
    let mut renamed = again;
    renamed.header.id = "zzz".to_owned();
    renamed.labels.insert("note".to_owned(), "夜".to_owned());
    assert_eq!(store.import(renamed.clone()).unwrap(), recorded);
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(store.load(&recorded).unwrap().labels, renamed.labels);

    // If one figure of a record without an identity differs, it is another run.
    renamed.cells[4].repetitions[1].elapsed_ns += 1;
    renamed.header.identity.clear();
    assert_eq!(store.import(renamed).unwrap(), "zzz");
    assert_eq!(store.list().unwrap().len(), 2);
}

fn the_file_of_another_tool_again_is_stored_once(store: &dyn Archive) {
    let mut first = sample_foreign();
    first.header.identity.clear();
    let id = store.import(first).unwrap();
    let mut again = sample_foreign();
    (again.header.id, again.header.identity) = (String::new(), String::new());
    again.header.started_at = "2026-09-09T09:09:09Z".to_owned();
    again.header.command.push("--again".to_owned());
    again.header.kurabe_version = "9.9.9".to_owned();
    again.labels.insert("note".to_owned(), "朝".to_owned());
    assert_eq!(store.import(again.clone()).unwrap(), id);
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(store.load(&id).unwrap().labels["note"], "朝");
    assert_eq!(store.load(&id).unwrap().header.started_at, sample_foreign().header.started_at);

    // Another figure, or the same figures from another file, is another run.
    let mut other = again.clone();
    other.cells[0].imported.as_mut().unwrap().figures[0].value += 1.0;
    assert_ne!(store.import(other).unwrap(), id);
    again.header.origin.as_mut().unwrap().file = "other.txt".to_owned();
    assert_ne!(store.import(again).unwrap(), id);
    assert_eq!(store.list().unwrap().len(), 3);
}

fn a_running_run_is_imported_as_interrupted(store: &dyn Archive) {
    let mut run = sample_record();
    run.status = RunStatus::Running;
    let id = store.import(run).unwrap();
    assert_eq!(store.load(&id).unwrap().status, RunStatus::Interrupted);
    assert_eq!(store.list().unwrap()[0].status, RunStatus::Interrupted);
}

fn a_run_that_was_kept_when_it_ended_needs_no_reading(store: &dyn Archive) {
    let id = store.import(sample_record()).unwrap();
    store.keep_digest(&id).unwrap();
    assert_eq!(ask(store).1, 0);
    assert_true(store);
}

fn what_is_brought_is_there_whole_with_its_digest(store: &dyn Archive) {
    let mut damaged = sample_record();
    damaged.header.identity = "0190a1b2-c3d4-7e5f-8000-0000000000dd".to_owned();
    damaged.cells[0].repetitions[0].read.latency.count = 1;
    let mut runs = vec![sample_record(), sample_foreign(), damaged, sample_kinds(), sample_modelled()];
    for (place, run) in runs.iter_mut().enumerate() {
        run.header.identity = format!("0190a1b2-c3d4-7e5f-8000-00000000000{place}");
    }
    for is_new in [true, false] {
        let arrivals = store.take(runs.clone()).unwrap();
        for (run, arrival) in runs.iter_mut().zip(arrivals) {
            let Ok(arrival) = arrival else { continue };
            assert_eq!(arrival.is_new, is_new);
            run.header.id.clone_from(&arrival.id);
            assert_eq!(&store.load(&arrival.id).unwrap(), run);
        }
        assert_eq!((store.list().unwrap().len(), ask(store).1), (4, 0), "the damaged one is left out alone");
        assert_true(store);
    }
}

fn a_filter_narrows_as_it_does_itself(store: &dyn Archive) {
    add_runs(store, &["abc", "abd", "k7f"]);
    store.import(sample_modelled()).unwrap();
    let of_device = |word: &str| Filter { device: Some(word.to_owned()), ..Filter::default() };
    let last = |last| Filter { last: Some(last), ..Filter::default() };
    let filters = [
        of_device("比べ ssd"),
        of_device("モデル"),
        of_device("%"),
        last(2),
        Filter { last: Some(1), ..of_device("s") },
    ];
    for filter in filters.into_iter().chain([Filter::default()]) {
        let runs = store.narrowed(&filter).unwrap();
        assert_eq!(runs, filter.apply(store.list().unwrap()), "{filter:?}");
        let digests = store.digests_of(&runs, &mut |_, _| {}).unwrap();
        assert!(runs.iter().all(|run| digests.by_id().contains_key(run.id.as_str())), "{filter:?}");
    }
}

fn whatever_changes_the_record_drops_its_digest(store: &dyn Store) {
    let id = record(store, &sample_record()).unwrap();
    let other = record(store, &sample_record()).unwrap();
    let mut header = store.load(&id).unwrap().header;
    header.environment.machine.kernel = Some("Linux 7.0".to_owned());
    let changes: [&dyn Fn(); 3] = [
        &|| store.update_header(&header).unwrap(),
        &|| store.put_cell(&id, &sample_cell(17)).unwrap(),
        &|| store.put_cell(&id, &sample_cell(2)).unwrap(),
    ];
    for change in changes {
        ask(store);
        change();
        assert_eq!(ask(store).1, 1, "only the changed run is read again");
        assert_true(store);
    }
    store.label(&id, "firmware", Some("2")).unwrap();
    assert_eq!(ask(store).1, 0, "a label is not part of the record");
    store.remove(&other, &|_| true).unwrap();
    assert_eq!(ask(store).0.runs.len(), 1);
}

fn a_run_that_is_being_measured_has_no_digest_yet(store: &dyn Store) {
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.put_cell(&id, &sample_cell(0)).unwrap();
    assert!(ask(store).0.runs.is_empty());
    store.mark_interrupted(&id, "2026-01-31T13:00:00Z").unwrap();
    assert_eq!(ask(store).0.runs.len(), 1);
}

fn what_servers_said_is_kept_in_its_order_and_is_no_run(store: &dyn Store) {
    assert_eq!(store.served().unwrap(), []);
    let records: Vec<Value> =
        (0..3).map(|place| json!({ "model": { "name": "d\u{202e}" }, "place": place })).collect();
    records.iter().for_each(|record| store.keep_served(record).unwrap());
    let kept = store.served().unwrap();
    assert!(kept.iter().all(|(kept_at, _)| kept_at.parse::<jiff::Timestamp>().is_ok()), "{kept:?}");
    assert_eq!(kept.into_iter().map(|(_, record)| record).collect::<Vec<_>>(), records);
    assert!(store.list().unwrap().is_empty() && store.check().unwrap().damages.is_empty());
}
