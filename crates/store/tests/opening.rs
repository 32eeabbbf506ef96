//! Opening a store: a new one is created, files of other programs are left unchanged, and
//! concurrent processes do not conflict.

use crate::common::{DIGESTER, fresh_store, record};
use kurabe_core::{Error, ErrorKind};
use kurabe_store::{Runs, SqliteStore, Store};
use kurabe_testkit::needs::{BECOME_NOBODY, skip};
use kurabe_testkit::sample::sample_record;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the names and contents of all files of a directory.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
        })
        .collect()
}

/// Checks that both ways of opening refuse the file, name it, suggest a remedy, and leave
/// everything unchanged.
fn refused(path: &Path) -> Error {
    let directory = path.parent().unwrap();
    let before = files(directory);
    let existing = SqliteStore::open_existing(path, DIGESTER).expect_err("this must not be opened");
    let error = SqliteStore::open(path, DIGESTER).expect_err("this must not be opened");
    assert!(files(directory) == before, "the files were changed: {:?}", files(directory).keys());
    for error in [&existing, &error] {
        assert_eq!(error.kind(), ErrorKind::Store);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(error.what().en.contains(&name) && error.what().ja.contains(&name), "{error}");
        assert!(error.remedy_text().is_some(), "{error}");
    }
    error
}

#[test]
fn a_store_is_made_with_its_directories_for_the_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b/比べ #1?%20.db");
    let store = SqliteStore::open(&path, DIGESTER).unwrap();
    assert!(path.exists());
    assert_eq!(files(&directory.path().join("a/b")).keys().filter(|name| name.ends_with(".db")).count(), 1);
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(directory.path().join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    drop(store);
    assert!(SqliteStore::open_existing(&path, DIGESTER).unwrap().is_some());
}

/// Not a test by itself: the umask applies to the whole process.
#[test]
fn part_open_under_a_mask() {
    let Some(path) = std::env::var_os("KURABE_TEST_MASK") else { return };
    let mut left_open = Vec::new();
    for mask in [0o000, 0o022, 0o777] {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
        let path = Path::new(&path).join(format!("{mask}.db"));
        let store = SqliteStore::open(&path, DIGESTER).unwrap();
        record(&store, &sample_record()).unwrap();
        left_open.push(store);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_store_and_its_journal_are_their_owners_alone_whatever_the_mask() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "opening::part_open_under_a_mask"])
        .env("KURABE_TEST_MASK", directory.path())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let names = files(directory.path());
    assert_eq!(names.len(), 6, "three stores with their journals: {:?}", names.keys());
    for name in names.keys() {
        let mode = std::fs::metadata(directory.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    let store = SqliteStore::open(&directory.path().join("0.db"), DIGESTER).unwrap();
    assert!(store.check().unwrap().remarks.is_empty());
    std::fs::set_permissions(directory.path().join("0.db"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let remarks = store.check().unwrap().remarks;
    assert!(remarks.len() == 1 && remarks[0].en.contains("644"), "{remarks:?}");
}

#[test]
fn opening_for_reading_makes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    assert!(
        SqliteStore::open_existing(&directory.path().join("none/kurabe.db"), DIGESTER).unwrap().is_none()
    );
    assert!(files(directory.path()).is_empty());
    let empty = directory.path().join("empty.db");
    std::fs::write(&empty, b"").unwrap();
    assert!(SqliteStore::open_existing(&empty, DIGESTER).unwrap().is_none());
    assert_eq!(files(directory.path()).len(), 1);
    SqliteStore::open(&empty, DIGESTER).unwrap().salt().unwrap();
}

#[test]
fn the_salt_is_made_once_per_store() {
    let (directory, store) = fresh_store();
    let salt = store.salt().unwrap();
    assert_eq!(salt.len(), 16);
    drop(store);
    let path = directory.path().join("kurabe.db");
    assert_eq!(SqliteStore::open(&path, DIGESTER).unwrap().salt().unwrap(), salt);
    let (_other_directory, other) = fresh_store();
    assert_ne!(other.salt().unwrap(), salt);
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    std::fs::write(&path, "not a database at all\n".repeat(300)).unwrap();
    refused(&path);
    std::fs::write(&path, "x").unwrap();
    refused(&path);
}

#[test]
fn another_programs_database_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("places.sqlite");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE moz (x); INSERT INTO moz VALUES (1)").unwrap();
    drop(other);
    assert!(refused(&path).what().en.contains("another program"));

    // With a write-ahead log, opening it in the usual way would leave files behind.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA journal_mode = wal; PRAGMA application_id = 77").unwrap();
    drop(other);
    assert_eq!(files(directory.path()).len(), 1);
    assert!(refused(&path).what().en.contains("another program"));
}

#[test]
fn a_store_of_a_newer_kurabe_asks_for_an_update() {
    let (directory, store) = fresh_store();
    drop(store);
    let path = directory.path().join("kurabe.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = refused(&path);
    let remedy = error.remedy_text().unwrap();
    assert!(remedy.en.contains("update kurabe") && remedy.en.contains("--db"), "{remedy:?}");
}

#[test]
fn a_truncated_store_is_an_error_with_a_remedy() {
    let (directory, store) = fresh_store();
    record(&store, &sample_record()).unwrap();
    drop(store);
    let path = directory.path().join("kurabe.db");
    let whole = std::fs::read(&path).unwrap();
    assert!(whole.len() > 20_000, "{}", whole.len());
    for length in [whole.len() - 4096, whole.len() / 2, 5000, 4096, 512, 60] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let read = SqliteStore::open_existing(&path, DIGESTER).and_then(|store| {
            let store = store.unwrap();
            let id = store.resolve("last")?;
            store.load(&id)
        });
        let error = read.expect_err("half a store cannot be read");
        assert_eq!(error.kind(), ErrorKind::Store, "{error}");
        assert!(error.remedy_text().is_some(), "{error}");
    }
}

#[test]
fn a_place_that_takes_no_files_is_an_error_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, b"").unwrap();
    // A file is not a directory, and the kernel's sysfs does not accept directories, not even from
    // root.
    for path in [file.join("kurabe.db"), "/sys/kurabe/kurabe.db".into(), directory.path().to_path_buf()] {
        let error = SqliteStore::open(&path, DIGESTER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store, "{error}");
        assert!(error.remedy_text().unwrap().en.contains("--db"), "{error}");
    }
}

/// Files that are not regular are refused without being opened, both as the store and as a file
/// next to it.
#[test]
fn only_regular_files_are_stores() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    rustix::fs::mknodat(rustix::fs::CWD, place("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place("socket")).unwrap();
    std::fs::create_dir(place("directory")).unwrap();
    for (name, target) in [("to-fifo", "fifo"), ("to-link", "to-fifo"), ("to-device", "/dev/zero")] {
        std::os::unix::fs::symlink(target, place(name)).unwrap();
    }
    let is_refused = |path: &Path, kind: &str| {
        let opened =
            [SqliteStore::open(path, DIGESTER).err(), SqliteStore::open_existing(path, DIGESTER).err()];
        for error in opened {
            let error = error.expect("it must not be opened");
            assert_eq!(error.kind(), ErrorKind::Store, "{error}");
            assert!(error.what().en.contains(kind) && error.remedy_text().is_some(), "{kind}: {error}");
        }
    };
    is_refused(&place("fifo"), "FIFO");
    is_refused(&place("to-fifo"), "FIFO");
    is_refused(&place("to-link"), "FIFO");
    is_refused(&place("socket"), "socket");
    is_refused(&place("directory"), "directory");
    is_refused(&place("to-device"), "device");
    is_refused(Path::new("/dev/null"), "device");
    std::os::unix::fs::symlink("kurabe.db", place("to-store")).unwrap();
    drop(SqliteStore::open(&place("to-store"), DIGESTER).unwrap());
    assert!(place("kurabe.db").is_file() && place("to-store").is_symlink());
    for companion in ["kurabe.db-journal", "kurabe.db-wal"] {
        let _ = std::fs::remove_file(place(companion));
        std::fs::rename(place("fifo"), place(companion)).unwrap();
        is_refused(&place("kurabe.db"), "FIFO");
        is_refused(&place("to-store"), "FIFO");
        std::fs::rename(place(companion), place("fifo")).unwrap();
    }
    assert!(SqliteStore::open_existing(&place("to-store"), DIGESTER).unwrap().is_some());
}

/// Not a test by itself: a process that is killed while it creates stores.
#[test]
fn part_create_until_killed() {
    let Some(path) = std::env::var_os("KURABE_TEST_CREATE") else { return };
    for number in 0.. {
        drop(SqliteStore::open(&Path::new(&path).join(format!("{number}.db")), DIGESTER).unwrap());
    }
}

#[test]
fn a_new_store_is_whole_when_it_appears_and_a_kill_leaves_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let path = directory.path().join(round.to_string());
        std::fs::create_dir(&path).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "opening::part_create_until_killed"])
            .env("KURABE_TEST_CREATE", &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while !path.join(format!("{}.db", 3 + round)).exists() {
            assert!(child.try_wait().unwrap().is_none(), "the process ended by itself");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for (name, bytes) in files(&path) {
            assert!(name.ends_with(".db") && bytes.len() > 10_000, "{name}: {} bytes", bytes.len());
            assert!(SqliteStore::open_existing(&path.join(name), DIGESTER).unwrap().is_some());
        }
    }
}

/// Not a test by itself: the part of the next test that runs as an ordinary user.
#[test]
fn part_read_only() {
    let Some(path) = std::env::var_os("KURABE_TEST_READ_ONLY") else { return };
    let path = Path::new(&path);
    for name in ["closed.db", "rollback.db", "old.db", "private-journal.db", "log.db"] {
        let path = path.join(name);
        let error = SqliteStore::open(&path, DIGESTER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store, "{error}");
        assert!(error.remedy_text().unwrap().en.contains("KURABE_DB"), "{error}");
        let store = SqliteStore::open_existing(&path, DIGESTER).unwrap().expect("it is there");
        assert_eq!(store.list().unwrap().len(), 1);
        let digests = store.digests(&mut |_, _| {}).unwrap();
        assert_eq!(digests.runs.len(), 1, "they are made and not kept");
        let id = store.resolve("last").unwrap();
        assert_eq!(store.load(&id).unwrap().cells.len(), 5, "what can be read is read");
        assert_eq!(store.label(&id, "k", Some("v")).unwrap_err().kind(), ErrorKind::Store);
    }
    assert_eq!(SqliteStore::open(&path.join("new.db"), DIGESTER).unwrap_err().kind(), ErrorKind::Store);
}

#[test]
fn a_store_that_cannot_be_written_is_read_and_not_written() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let (directory, store) = fresh_store();
    record(&store, &sample_record()).unwrap();
    drop(store);
    let (log, rollback) = (directory.path().join("closed.db"), directory.path().join("rollback.db"));
    std::fs::rename(directory.path().join("kurabe.db"), &log).unwrap();
    std::fs::copy(&log, &rollback).unwrap();
    Connection::open(&rollback)
        .unwrap()
        .query_row("PRAGMA journal_mode = delete", [], |row| row.get::<_, String>(0))
        .unwrap();
    let old = directory.path().join("old.db");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store-v1.db"), &old).unwrap();
    let set_mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let private = directory.path().join("private-journal.db");
    std::fs::copy(&log, &private).unwrap();
    std::fs::write(directory.path().join("private-journal.db-journal"), [0; 512]).unwrap();
    set_mode(&directory.path().join("private-journal.db-journal"), 0);
    set_mode(&private, 0o444);
    // The log of a killed process, without its shared index.
    let logged = directory.path().join("log.db");
    std::fs::copy(&log, &logged).unwrap();
    let connection = Connection::open(&logged).unwrap();
    connection.query_row("PRAGMA journal_mode = wal", [], |row| row.get::<_, String>(0)).unwrap();
    connection.execute_batch("UPDATE runs SET owner_pid = 1").unwrap();
    let log_bytes = std::fs::read(directory.path().join("log.db-wal")).unwrap();
    let bytes = std::fs::read(&logged).unwrap();
    drop(connection);
    std::fs::write(&logged, bytes).unwrap();
    std::fs::write(directory.path().join("log.db-wal"), log_bytes).unwrap();
    set_mode(&directory.path().join("log.db-wal"), 0o444);
    set_mode(&logged, 0o444);
    set_mode(&log, 0o444);
    set_mode(&rollback, 0o444);
    set_mode(&old, 0o444);
    set_mode(directory.path(), 0o555);
    let part = |command: &mut Command| {
        command
            .args(["--exact", "opening::part_read_only"])
            .env("KURABE_TEST_READ_ONLY", directory.path())
            .current_dir("/")
            .output()
    };
    // Root may write everywhere, so the part runs as the user `nobody`.
    let is_root = std::fs::File::create(directory.path().join("probe")).is_ok();
    let mut command = Command::new(std::env::current_exe().unwrap());
    if is_root {
        command.uid(65534).gid(65534);
    }
    let output = part(&mut command);
    set_mode(directory.path(), 0o755);
    match output {
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && words.contains("1 passed"), "{words}");
        }
        Err(_) => skip(BECOME_NOBODY),
    }
}

/// Not a test by itself: a process of the next test.
#[test]
fn part_open_at_once() {
    let Some(path) = std::env::var_os("KURABE_TEST_OPEN") else { return };
    let store = SqliteStore::open(Path::new(&path), DIGESTER).unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "\nsalt {:?}", store.salt().unwrap()).unwrap();
}

#[test]
fn processes_that_open_a_fresh_store_at_once_all_succeed() {
    for _ in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/kurabe.db");
        let children: Vec<_> = (0..6)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "opening::part_open_at_once", "--nocapture"])
                    .env("KURABE_TEST_OPEN", &path)
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut salts: Vec<String> = children
            .into_iter()
            .map(|child| {
                let output = child.wait_with_output().unwrap();
                let words = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success(), "{words}");
                words.lines().find(|line| line.starts_with("salt")).unwrap().to_owned()
            })
            .collect();
        salts.dedup();
        assert_eq!(salts.len(), 1, "all see the same store");
    }
}

#[test]
fn threads_that_open_a_fresh_store_at_once_all_succeed() {
    for _ in 0..50 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| SqliteStore::open(&path, DIGESTER).unwrap());
            }
        });
    }
}
