//! Recorded data is read back unchanged, from the store and from a file.

use crate::common::{DIGESTER, fresh_store, record};
use base64::Engine;
use kurabe_core::Text;
use kurabe_core::record::{Interval, Notice, NoticeKind, RunStatus, RunSummary};
use kurabe_store::{
    Archive, Runs, SqliteStore, Store, export, export_bundle, export_packed_bundle, looks_bundled,
    parse_bundle, parse_export,
};
use kurabe_testkit::any_record;
use kurabe_testkit::sample::{sample_foreign, sample_kinds, sample_record, sample_rounds};
use proptest::prelude::*;
use std::io::Write;

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_recorded_run_is_read_unchanged(run in any_record()) {
        let (_directory, store) = fresh_store();
        let id = record(&store, &run).unwrap();
        let mut read = store.load(&id).unwrap();
        prop_assert_eq!(&read.header.id, &id);
        read.header.id.clone_from(&run.header.id);
        read.header.identity.clone_from(&run.header.identity);
        prop_assert_eq!(read, run);
    }

    #[test]
    fn an_exported_run_is_read_unchanged(run in any_record()) {
        prop_assert_eq!(parse_export(export(&run).unwrap().as_bytes()).unwrap(), run);
    }

    #[test]
    fn the_runs_of_a_report_are_read_unchanged(runs in proptest::collection::vec(any_record(), 1..4)) {
        let bundle = export_bundle(runs.clone()).unwrap();
        prop_assert!(looks_bundled(bundle.as_bytes()) && !bundle.contains('\n'));
        prop_assert_eq!(&parse_bundle(bundle.as_bytes()).unwrap(), &runs);
        let packed = export_packed_bundle(runs.clone()).unwrap();
        prop_assert!(looks_bundled(packed.as_bytes()));
        prop_assert_eq!(parse_bundle(packed.as_bytes()).unwrap(), runs);
    }

    #[test]
    fn an_imported_run_is_read_unchanged(run in any_record()) {
        let (_directory, store) = fresh_store();
        let id = store.import(run.clone()).unwrap();
        prop_assert_eq!(store.load(&id).unwrap(), run);
    }
}

/// Imports all runs of a store into another, through files.
fn merge(from: &SqliteStore, into: &SqliteStore) -> Vec<String> {
    let file = |run: RunSummary| export(&from.load(&run.id).unwrap()).unwrap();
    let files = from.list().unwrap().into_iter().map(file);
    files.map(|file| into.import(parse_export(file.as_bytes()).unwrap()).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stores_and_their_copies_merge_without_doubles_or_losses(
        runs in proptest::collection::vec(any_record(), 1..5),
        label in "[a-z]{1,4}",
    ) {
        let ((directory, one), (_other, two)) = (fresh_store(), fresh_store());
        let ids: Vec<String> = runs.iter().map(|run| record(&one, run).unwrap()).collect();
        // The same work on another machine: other runs, any of which may have an id that is taken
        // here.
        runs.iter().for_each(|run| drop(record(&two, run).unwrap()));
        let path = directory.path().join("copy.db");
        std::fs::copy(directory.path().join("kurabe.db"), &path).unwrap();
        let copy = SqliteStore::open(&path, DIGESTER).unwrap();
        copy.label(&ids[0], "copied", Some(&label)).unwrap();
        let mut merged = merge(&copy, &one);
        merged.sort_by_key(|id| ids.iter().position(|own| own == id));
        prop_assert_eq!(&merged, &ids);
        prop_assert_eq!(&one.load(&ids[0]).unwrap().labels["copied"], &label);
        for _ in 0..2 {
            merge(&one, &two);
            merge(&two, &one);
            prop_assert_eq!(one.list().unwrap().len(), runs.len() * 2);
            prop_assert_eq!(two.list().unwrap().len(), runs.len() * 2);
        }
    }
}

#[test]
fn a_run_that_goes_on_is_exported_and_comes_back_interrupted() {
    let mut run = sample_record();
    run.status = RunStatus::Running;
    run.ended_at = None;
    let read = parse_export(export(&run).unwrap().as_bytes()).unwrap();
    run.status = RunStatus::Interrupted;
    assert_eq!(read, run);
}

#[test]
fn a_cell_is_not_lost_to_a_share_that_is_no_number() {
    let (_directory, store) = fresh_store();
    let mut run = sample_record();
    run.header.instrument.as_mut().unwrap().clock_cost_ns = f64::NAN;
    run.cells[0].repetitions[0].generator_share = f64::NAN;
    run.cells[0].repetitions[0].noise.steal_share = Some(f64::INFINITY);
    let read = store.load(&record(&store, &run).unwrap()).unwrap();
    assert_eq!(read.cells[0].repetitions[0].generator_share, 0.0);
    assert_eq!(read.cells[0].repetitions[0].noise.steal_share, None);
    assert_eq!(read.cells[1], run.cells[1]);
}

#[test]
fn a_run_is_not_lost_to_a_cost_of_the_clock_that_is_no_number() {
    let (_directory, store) = fresh_store();
    let id = record(&store, &sample_record()).unwrap();
    let mut header = store.load(&id).unwrap().header;
    header.instrument.as_mut().unwrap().clock_cost_ns = f64::NAN;
    store.update_header(&header).unwrap();
    assert_eq!(store.load(&id).unwrap().header.instrument.unwrap().clock_cost_ns, 0.0);
}

#[test]
fn an_export_is_readable_text() {
    let words = export(&sample_record()).unwrap();
    assert!(words.starts_with("{\n  \"kurabe_record\": 1,\n  \"run\": {\n"), "{words}");
    assert!(words.ends_with("\n}\n"));
    assert!(words.contains("比べ SSD 1"), "Japanese is not escaped");
}

#[test]
fn every_kind_of_run_is_read_unchanged() {
    for run in [sample_kinds(), sample_rounds(), sample_foreign()] {
        assert_eq!(parse_export(export(&run).unwrap().as_bytes()).unwrap(), run);
        let (_directory, store) = fresh_store();
        let id = store.import(run.clone()).unwrap();
        assert_eq!(store.load(&id).unwrap(), run);
    }
}

#[test]
fn a_report_that_cannot_be_read_says_why() {
    let refusal = |words: &str| parse_bundle(words.as_bytes()).unwrap_err().what().en.clone();
    let bundle = export_bundle(vec![sample_record()]).unwrap();
    assert!(refusal(&bundle[..bundle.len() / 2]).contains("cannot be read"));
    assert!(refusal(&bundle.replacen("\"kurabe_report\":1", "\"kurabe_report\":2", 1)).contains("reads 1"));
    assert!(refusal(&export_bundle(Vec::new()).unwrap()).contains("contains no records"));
    assert!(
        refusal(&bundle.replacen("\"kurabe_record\":1", "\"kurabe_record\":9", 1)).contains("kurabe_record")
    );
    let packed = export_packed_bundle(vec![sample_record()]).unwrap();
    assert!(packed.len() < bundle.len());
    assert!(refusal(&packed.replacen("H4sI", "AAAA", 1)).contains("cannot be read"));
    assert!(!looks_bundled(export(&sample_record()).unwrap().as_bytes()));
}

#[test]
fn a_report_that_unpacks_to_much_more_than_a_page_can_hold_is_refused() {
    // Half a gibibyte of spaces in half a megabyte.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..512).for_each(|_| packed.write_all(&[b' '; 1 << 20]).unwrap());
    let packed = base64::engine::general_purpose::STANDARD.encode(packed.finish().unwrap());
    let report = format!("{{\"kurabe_report\":1,\"packed\":\"{packed}\"}}");
    assert!(report.len() < 1 << 20);
    let error = parse_bundle(report.as_bytes()).unwrap_err();
    assert!(error.what().en.contains("unpack to more than 48 MiB"), "{error}");
}

#[test]
fn runs_that_could_not_be_unpacked_are_not_packed() {
    let mut run = sample_record();
    let interval = Interval { read_bytes: 1 << 40, read_worst_ns: 1 << 40, ..Interval::default() };
    run.cells[0].repetitions[0].series.intervals = vec![interval; 400_000];
    let bundle = export_packed_bundle(vec![run.clone()]).unwrap();
    assert!(bundle.len() > 48 << 20, "{}", bundle.len());
    assert_eq!(parse_bundle(bundle.as_bytes()).unwrap(), [run]);
}

#[test]
fn a_run_with_more_notices_than_can_be_shown_is_refused() {
    let mut run = sample_record();
    let notice = Notice::new(NoticeKind::Other, Text::same("x"));
    run.notices = vec![notice; 10_001];
    let error = parse_export(export(&run).unwrap().as_bytes()).unwrap_err();
    assert!(error.what().en.contains("run.notices") && error.what().en.contains("10001"), "{error}");
    run.notices.pop();
    assert_eq!(parse_export(export(&run).unwrap().as_bytes()).unwrap(), run);
}
