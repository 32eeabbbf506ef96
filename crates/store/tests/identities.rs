//! Requirements for every store on the identities of runs, used by `conformance.rs`.

use crate::common::{fresh_store, owner};
use kurabe_core::ErrorKind;
use kurabe_core::record::{Cell, RunHeader, RunRecord, RunStatus};
use kurabe_store::{Archive, RunHash, Runs, Store, export, parse_export, without_paths};
use kurabe_testkit::sample::{
    sample_cell, sample_foreign, sample_header, sample_kinds, sample_modelled, sample_notice, sample_record,
};

pub fn every_run_has_an_identity_of_its_own_by_which_it_is_found(store: &dyn Store) {
    let headers: Vec<RunHeader> = (0..2)
        .map(|_| {
            let mut header = sample_header();
            store.begin_run(&mut header, &owner()).unwrap();
            header
        })
        .collect();
    assert_ne!(headers[0].identity, headers[1].identity);
    for header in headers {
        assert_eq!(store.load(&header.id).unwrap().header.identity, header.identity);
        assert_eq!(store.identified(&header.identity).unwrap().as_ref(), Some(&header.id));
        assert_eq!(store.resolve(&header.identity.to_uppercase()).unwrap(), header.id);
        store.update_header(&header).unwrap();
        assert_eq!(store.resolve(&header.identity).unwrap(), header.id);
    }
    let strange = "0190a1b2-c3d4-7e5f-ffff-000000000000";
    assert_eq!(store.identified(strange).unwrap(), None);
    assert_eq!(store.resolve(strange).unwrap_err().kind(), ErrorKind::NoSuchRun);
}

pub fn runs_of_two_machines_with_one_id_stay_two(store: &dyn Archive) {
    let mut other = sample_record();
    other.header.identity = "0190a1b2-c3d4-7e5f-8000-00000000000b".to_owned();
    let (one, two) = (store.import(sample_record()).unwrap(), store.import(other.clone()).unwrap());
    assert_ne!(one, two, "even if all but the identity is equal");
    assert_eq!([store.import(sample_record()).unwrap(), store.import(other).unwrap()], [one, two]);
    assert_eq!(store.list().unwrap().len(), 2);
}

pub fn a_file_that_was_changed_is_refused_and_the_stored_run_stays(store: &dyn Archive) {
    let id = store.import(sample_record()).unwrap();
    let changes: [fn(&mut RunRecord); 4] = [
        |run| run.cells[4].repetitions[1].elapsed_ns += 1,
        |run| run.header.environment.devices.clear(),
        |run| drop(run.notices.pop()),
        |run| run.status = RunStatus::Complete,
    ];
    for change in changes {
        let mut run = sample_record();
        change(&mut run);
        run.header.id = "zzz".to_owned();
        run.labels.insert("note".to_owned(), "new".to_owned());
        let error = store.import(run).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.what().en.contains(&format!("`{id}`")) && error.what().ja.contains(&id), "{error}");
        assert_eq!(store.load(&id).unwrap(), sample_record());
        assert_eq!(store.list().unwrap().len(), 1);
    }
    let mut run = sample_record();
    run.header.identity = "7kq".to_owned();
    assert_eq!(store.import(run).unwrap_err().kind(), ErrorKind::Import, "that is not an identity");
}

pub fn a_run_without_its_paths_is_still_that_run(store: &dyn Archive) {
    let mut run = sample_record();
    run.header.target.as_mut().unwrap().path = "/home/aki/own".to_owned();
    let bare = without_paths(&run).unwrap();
    assert_ne!(bare, run);
    let id = store.import(run.clone()).unwrap();
    assert_eq!(store.import(bare).unwrap(), id);
    assert_eq!(store.load(&id).unwrap(), run);
}

pub fn a_run_that_was_not_over_is_replaced_by_what_became_of_it(store: &dyn Archive) {
    let mut whole = RunRecord { status: RunStatus::Complete, ..sample_record() };
    let mut earlier = RunRecord { status: RunStatus::Interrupted, ended_at: None, ..whole.clone() };
    let steps = &mut whole.header.profile.as_mut().unwrap().steps;
    steps.push(steps[0].clone());
    earlier.cells.truncate(2);
    earlier.cells[1].repetitions.truncate(1);
    earlier.labels.insert("firmware".to_owned(), "mine".to_owned());
    let id = store.import(earlier.clone()).unwrap();
    assert_eq!(store.import(whole.clone()).unwrap(), id);
    let mut stored = store.load(&id).unwrap();
    assert_eq!(stored.labels.insert("firmware".to_owned(), "mine".to_owned()).unwrap(), "mine");
    stored.labels = whole.labels.clone();
    assert_eq!(stored, whole);
    assert_eq!(store.import(earlier.clone()).unwrap(), id, "an earlier state is nothing new");
    assert_eq!(store.load(&id).unwrap().cells, whole.cells);

    // A run with other results is not an earlier state.
    earlier.cells[1].repetitions[0].elapsed_ns += 1;
    assert_eq!(store.import(earlier).unwrap_err().kind(), ErrorKind::Refused);
}

pub fn a_run_of_before_is_the_same_wherever_it_is_read(store: &dyn Archive) {
    for mut run in [sample_record(), sample_kinds(), sample_foreign(), sample_modelled()] {
        run.header.identity.clear();
        let read = parse_export(export(&run).unwrap().as_bytes()).unwrap();
        let id = store.import(run).unwrap();
        assert_eq!(store.load(&id).unwrap().header.identity, read.header.identity);
        assert_eq!(store.import(read).unwrap(), id);
    }
    assert_eq!(store.list().unwrap().len(), 4);
}

pub fn copies_have_one_hash(store: &dyn Archive) {
    assert_eq!(store.hashes(&[]).unwrap(), []);
    let (_directory, other) = fresh_store();
    let mut here = Vec::new();
    for (place, mut run) in
        [sample_record(), sample_foreign(), sample_kinds(), sample_modelled()].into_iter().enumerate()
    {
        run.header.identity = format!("0190a1b2-c3d4-7e5f-8000-00000000000{place}");
        here.extend(store.take(vec![run.clone()]).unwrap().into_iter().map(|run| run.unwrap().id));
        other.import(run).unwrap();
    }
    let others = other.hashes(&[]).unwrap();
    let of = |words: &[String]| {
        let mut hashes: Vec<_> =
            store.hashes(words).unwrap().into_iter().map(|hash| (hash.identity, hash.sha256)).collect();
        hashes.sort();
        hashes
    };
    let mut all: Vec<_> = others.iter().map(|hash| (hash.identity.clone(), hash.sha256.clone())).collect();
    all.sort();
    assert_eq!(of(&[]), all);
    assert_eq!(of(&[here[1].clone(), all[2].0.clone()]), all[1..3]);
    assert_eq!(store.holds(&others).unwrap().len(), 4);
    // With another label it is another record.
    let mut labelled = store.load(&here[0]).unwrap();
    labelled.labels.insert("note".to_owned(), "夜".to_owned());
    store.take(vec![labelled]).unwrap();
    assert!(!store.holds(&others).unwrap().contains(&all[0].0));
    assert_eq!(store.holds(&store.hashes(&[]).unwrap()).unwrap().len(), 4);
}

pub fn a_hash_is_of_the_record_as_it_is(store: &dyn Store) {
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    assert_eq!(store.hashes(&[]).unwrap(), [], "one that is being measured has none");
    store.mark_interrupted(&id, "2026-01-31T13:00:00Z").unwrap();
    let mut header = store.load(&id).unwrap().header;
    header.environment.machine.kernel = Some("Linux 7.0".to_owned());
    let end = sample_record().ended_at.unwrap();
    let changes: [&dyn Fn(); 8] = [
        &|| store.update_header(&header).unwrap(),
        &|| store.append_notice(&id, &sample_notice(0)).unwrap(),
        &|| store.put_cell(&id, &sample_cell(0)).unwrap(),
        &|| store.put_cell(&id, &Cell { repetitions: Vec::new(), ..sample_cell(0) }).unwrap(),
        &|| store.set_fill(&id, &sample_record().fill.unwrap()).unwrap(),
        &|| store.label(&id, "note", Some("夜")).unwrap(),
        &|| store.label(&id, "note", None).unwrap(),
        &|| store.finish_run(&id, RunStatus::Complete, &end, None, None).unwrap(),
    ];
    let mut before = store.hashes(&[]).unwrap();
    for change in changes {
        change();
        let hashes = store.hashes(&[]).unwrap();
        assert_eq!(hashes, [RunHash::of(&store.load(&id).unwrap()).unwrap()]);
        assert_ne!(hashes, before);
        before = hashes;
    }
}
