//! Failures of a database that many machines share.

use crate::common::{DIGESTER, digest, digests_made, fresh_store};
use kurabe_core::digest::{Digester, RunDigest};
use kurabe_core::{ErrorKind, Result, record::RunRecord};
use kurabe_store::{Archive, Runs, SharedAccess, SharedAddress, Store};
use kurabe_testkit::needs::skip;
use kurabe_testkit::postgres::{PASSWORD, PostgresServer};
use kurabe_testkit::sample::{sample_foreign, sample_record};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Barrier;

/// Starts a server, if possible.
pub fn server() -> Option<PostgresServer> {
    PostgresServer::start().map_err(skip).ok()
}

/// Opens the database at an address.
pub fn open_shared(address: &str, access: SharedAccess) -> Result<Box<dyn Archive>> {
    kurabe_store::open_shared(&SharedAddress::parse(address)?, access, DIGESTER, &|_| None)
}

/// Opens the database for writing, with another function that computes digests.
pub fn opened_with(server: &PostgresServer, digester: Digester) -> Result<Box<dyn Archive>> {
    let address = SharedAddress::parse(&server.address("owner", PASSWORD))?;
    kurabe_store::open_shared(&address, SharedAccess::Write, digester, &|_| None)
}

pub fn opened(server: &PostgresServer, access: SharedAccess) -> Result<Box<dyn Archive>> {
    open_shared(&server.address("owner", PASSWORD), access)
}

/// Returns runs of one machine.
fn runs(machine: u32, count: u32) -> Vec<RunRecord> {
    let run = |number| {
        let mut run = sample_record();
        run.header.identity = format!("0190a1b2-c3d4-7e5f-{:04x}-{number:012x}", 0x8000 + machine);
        run
    };
    (0..count).map(run).collect()
}

/// A call that is made once this thread has computed a number of digests.
struct AfterDigests {
    digests: usize,
    call: Box<dyn Fn()>,
}

thread_local! {
    static STOP: RefCell<Option<AfterDigests>> = const { RefCell::new(None) };
}

fn open_stopping(server: &PostgresServer) -> Result<Box<dyn Archive>> {
    fn stopping(run: &RunRecord) -> RunDigest {
        let digest = digest(run);
        STOP.with_borrow(|stop| {
            if let Some(stop) = stop.as_ref().filter(|stop| stop.digests == digests_made()) {
                (stop.call)();
            }
        });
        digest
    }
    opened_with(server, Digester { digest: stopping, ..DIGESTER })
}

#[test]
fn a_server_that_goes_away_leaves_whole_batches_and_the_rest_comes_next_time() {
    let Some(server) = server().map(Rc::new) else { return };
    for mode in ["fast", "immediate"] {
        server.sql("lab", "DROP SCHEMA IF EXISTS kurabe CASCADE").unwrap();
        let store = opened(&server, SharedAccess::Write).unwrap();
        let batches: Vec<Vec<RunRecord>> = runs(0, 60).chunks(20).map(<[_]>::to_vec).collect();
        store.take(batches[0].clone()).unwrap();
        // In the middle of the second batch: the digest of its tenth run is computed while the
        // transaction is open.
        let stopped = Rc::clone(&server);
        let call = Box::new(move || stopped.stop(mode));
        STOP.set(Some(AfterDigests { digests: digests_made() + 10, call }));
        let error = open_stopping(&server).unwrap().take(batches[1].clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store, "{error}");
        assert!(!format!("{error:?}").contains(PASSWORD), "{error:?}");
        server.go_on().unwrap();
        let store = opened(&server, SharedAccess::Write).unwrap();
        assert_eq!(store.list().unwrap().len(), 20, "{mode}: the first batch, and nothing of the second");
        for batch in batches {
            assert!(store.take(batch).unwrap().iter().all(Result::is_ok));
        }
        assert_eq!(store.list().unwrap().len(), 60);
    }
}

#[test]
fn two_at_once_bring_each_run_once() {
    let Some(server) = server() else { return };
    let start = Barrier::new(2);
    // Both create the tables, and add runs of their own with equal ids, and the same twenty runs.
    let bring = |machine: u32| {
        start.wait();
        let store = opened(&server, SharedAccess::Write).unwrap();
        for batch in [runs(machine, 30), runs(9, 20)] {
            assert!(store.take(batch).unwrap().iter().all(Result::is_ok));
        }
    };
    std::thread::scope(|scope| {
        [0, 1].map(|machine| scope.spawn(move || bring(machine))).map(|one| one.join().unwrap())
    });
    let store = opened(&server, SharedAccess::Read).unwrap();
    let mut ids: Vec<String> = store.list().unwrap().into_iter().map(|run| run.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 80);
}

#[test]
fn tables_of_another_kurabe_are_made_new_or_refused() {
    let Some(server) = server() else { return };
    // As prepared by an administrator.
    server.sql("lab", "CREATE SCHEMA kurabe").unwrap();
    assert_eq!(opened(&server, SharedAccess::Read).err().unwrap().kind(), ErrorKind::NoSuchRun);
    let store = opened(&server, SharedAccess::Write).unwrap();
    store.import(sample_foreign()).unwrap();
    server.sql("lab", "UPDATE kurabe.meta SET version = version + 1").unwrap();
    for access in [SharedAccess::Read, SharedAccess::Write] {
        let error = opened(&server, access).err().unwrap();
        assert!(error.remedy_text().unwrap().en.contains("update"), "{error}");
    }
    server
        .sql("lab", "UPDATE kurabe.meta SET version = version - 1; UPDATE kurabe.runs SET schema = 9999")
        .unwrap();
    let store = opened(&server, SharedAccess::Read).unwrap();
    let id = store.newest().unwrap().unwrap();
    assert!(store.load(&id).unwrap_err().remedy_text().unwrap().en.contains("update"));
    server
        .sql("lab", "UPDATE kurabe.runs SET schema = 1, record = replace(record, 'D: 12%', 'D: 13%')")
        .unwrap();
    assert!(store.load(&id).is_err(), "a change by another program is reported");
}

#[test]
fn tables_of_version_1_are_made_new_by_who_brings_runs() {
    let Some(server) = server() else { return };
    let store = opened(&server, SharedAccess::Write).unwrap();
    assert!(store.take(runs(0, 20)).unwrap().iter().all(Result::is_ok));
    let before = store.list().unwrap();
    // Reverts the second step.
    server
        .sql(
            "lab",
            "DROP TABLE kurabe.names, kurabe.figures; ALTER TABLE kurabe.runs DROP CONSTRAINT runs_arrival_key;
             DROP INDEX kurabe.runs_by_digest_version; UPDATE kurabe.meta SET version = 1",
        )
        .unwrap();
    let error = opened(&server, SharedAccess::Read).err().unwrap();
    assert!(error.remedy_text().unwrap().en.contains("push"), "{error}");
    let store = opened(&server, SharedAccess::Write).unwrap();
    assert!(store.take(runs(1, 20)).unwrap().iter().all(Result::is_ok));
    let store = opened(&server, SharedAccess::Read).unwrap();
    let after = store.list().unwrap();
    assert!(after.len() == 40 && before.iter().all(|run| after.contains(run)));
    let (runs, digests) = store.pooled(Some(0), &mut |_, _| {}).unwrap();
    assert_eq!(runs.len(), 21, "those that the new tables know are one");
    let counts = digests.runs.iter().map(|run| run.among.first().map_or(1, |among| among.count));
    assert_eq!(counts.sum::<u32>(), 40);
}

#[test]
fn a_role_does_what_its_rights_allow() {
    let Some(server) = server() else { return };
    opened(&server, SharedAccess::Write).unwrap().take(runs(0, 2)).unwrap();
    server
        .sql("lab", "CREATE ROLE reader LOGIN PASSWORD 'r'; CREATE ROLE stranger LOGIN PASSWORD 's'")
        .unwrap();
    server
        .sql(
            "lab",
            "GRANT USAGE ON SCHEMA kurabe TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA kurabe TO reader",
        )
        .unwrap();
    let open = |role: &str, password: &str, access| open_shared(&server.address(role, password), access);
    assert_eq!(open("reader", "r", SharedAccess::Read).unwrap().list().unwrap().len(), 2);
    // Without any rights, without the right to write, and with a wrong password.
    let brought = open("reader", "r", SharedAccess::Write).unwrap().take(runs(1, 1));
    let errors = [
        (open("stranger", "s", SharedAccess::Read).err().unwrap(), "privilege"),
        (brought.unwrap_err(), "privilege"),
        (open("owner", "wrong-s3cret", SharedAccess::Read).err().unwrap(), "pgpass"),
    ];
    for (error, remedy) in errors {
        assert_eq!(error.kind(), ErrorKind::Store);
        assert!(error.remedy_text().is_some_and(|text| text.en.contains(remedy)), "{error:?}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
    assert_eq!(opened(&server, SharedAccess::Read).unwrap().list().unwrap().len(), 2);
}

#[test]
fn a_certificate_is_asked_as_far_as_the_address_says() {
    let Some(server) = server() else { return };
    opened(&server, SharedAccess::Write).unwrap();
    server.sql("lab", "ALTER SYSTEM SET ssl_min_protocol_version = 'TLSv1.3'").unwrap();
    let roots = server.authority().display().to_string();
    let is_encrypted = |host: &str, options: &str| {
        let address = format!("postgres://owner:{PASSWORD}@{host}:{}/lab?{options}", server.port());
        let store = open_shared(&address, SharedAccess::Write)?;
        store.import(sample_foreign())?;
        let sql = "SELECT bool_or(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE \
            application_name = 'kurabe'";
        Ok::<_, kurabe_core::Error>(server.sql("lab", sql).unwrap() == "t")
    };
    assert!(!is_encrypted("127.0.0.1", "sslmode=disable").unwrap());
    assert!(is_encrypted("127.0.0.1", "sslmode=prefer").unwrap());
    assert!(is_encrypted("127.0.0.1", "sslmode=require").unwrap());
    assert!(is_encrypted("127.0.0.1", &format!("sslmode=verify-ca&sslrootcert={roots}")).unwrap());
    assert!(is_encrypted("localhost", &format!("sslmode=verify-full&sslrootcert={roots}")).unwrap());
    // With another name, and from an authority that is not trusted.
    let error = is_encrypted("127.0.0.1", &format!("sslmode=verify-full&sslrootcert={roots}")).unwrap_err();
    assert!(format!("{error:?}").contains("certificate not valid for name"), "{error:?}");
    for mode in ["verify-ca", "verify-full"] {
        let other = PostgresServer::start().unwrap();
        let error =
            is_encrypted("localhost", &format!("sslmode={mode}&sslrootcert={}", other.authority().display()));
        assert!(format!("{:?}", error.unwrap_err()).contains("certificate"), "{mode}");
    }
    let error = is_encrypted("localhost", "sslmode=verify-full").unwrap_err();
    assert!(error.remedy_text().unwrap().en.contains("sslrootcert"), "{error:?}");
}

#[test]
fn a_certificate_that_is_trusted_itself_needs_no_authority() {
    let Some(server) = server() else { return };
    let open = |host: &str, mode: &str, roots: &Path| {
        let (port, roots) = (server.port(), roots.display());
        let address =
            format!("postgres://owner:{PASSWORD}@{host}:{port}/lab?sslmode={mode}&sslrootcert={roots}");
        open_shared(&address, SharedAccess::Write).map(|_| ()).map_err(|error| format!("{error:?}"))
    };
    let kept = tempfile::tempdir().unwrap();
    let before = kept.path().join("before.crt");
    for (names, elsewhere) in [
        ("", "127.0.0.1"),
        ("-addext subjectAltName=DNS:localhost,DNS:db", "127.0.0.1"),
        ("-addext subjectAltName=IP:127.0.0.1", "localhost"),
    ] {
        let here = if elsewhere == "localhost" { "127.0.0.1" } else { "localhost" };
        let own = server.certify_itself(names, 9).unwrap();
        assert_eq!(open(here, "verify-full", &own), Ok(()), "{names}");
        assert_eq!(open(elsewhere, "verify-ca", &own), Ok(()), "{names}");
        let refused = open(elsewhere, "verify-full", &own).unwrap_err();
        assert!(refused.contains("certificate not valid for name"), "{names}: {refused}");
        // Another certificate of the same name, which the server had before.
        if before.exists() {
            for mode in ["verify-ca", "verify-full"] {
                assert!(open(here, mode, &before).unwrap_err().contains("certificate"), "{names}: {mode}");
            }
        }
        std::fs::copy(own, &before).unwrap();
    }
    let over = server.certify_itself("", -1).unwrap();
    let refused = open("localhost", "verify-full", &over).unwrap_err();
    assert!(refused.contains("certificate"), "its time is over: {refused}");
}

#[test]
fn what_is_brought_to_a_file_again_is_the_same() {
    let Some(server) = server() else { return };
    let shared = opened(&server, SharedAccess::Write).unwrap();
    let (_directory, file) = fresh_store();
    shared.take(runs(0, 3)).unwrap();
    for run in shared.list().unwrap() {
        file.import(shared.load(&run.id).unwrap()).unwrap();
    }
    assert_eq!(file.list().unwrap(), shared.list().unwrap());
    assert!(file.running().unwrap().is_empty());
}
