//! Invalid store files: exit code 9, and the file stays unchanged.

use crate::lab::{Lab, Live, ONE_CELL, names, text};
use crate::system::{AS_NOBODY, can_be_nobody, system};
use kurabe_testkit::needs::needs;
use std::os::unix::fs::{FileExt, PermissionsExt};

/// Checks that neither reading nor recording works, and that nothing in the store's directory
/// changes.
fn is_refused(lab: &Lab, says: &[&str]) {
    let directory = lab.store().parent().expect("a directory").to_owned();
    let before = (std::fs::read(lab.store()).expect("a file"), names(&directory));
    lab.kurabe(&["list"]).is_refusal(9, says);
    lab.kurabe(&["show"]).is_refusal(9, says);
    lab.run(&lab.target(), &ONE_CELL).is_refusal(9, says);
    lab.kurabe(&["import", text(&lab.store())]).is_refusal(9, says);
    assert!((std::fs::read(lab.store()).expect("a file"), names(&directory)) == before, "it stays as it is");
    assert!(names(&lab.target()).is_empty());
}

fn with_store(contents: &[u8]) -> Lab {
    let lab = Lab::new();
    std::fs::create_dir(lab.store().parent().expect("a directory")).expect("a directory");
    std::fs::write(lab.store(), contents).expect("a file");
    lab
}

#[test]
fn a_store_of_a_newer_kurabe_is_left_alone() {
    let lab = Lab::new();
    lab.run(&lab.target(), &ONE_CELL).ok();
    // The version is the big-endian word at offset 60 of the header of an SQLite file.
    let file = std::fs::File::options().write(true).open(lab.store()).expect("the store");
    file.write_all_at(&99_u32.to_be_bytes(), 60).expect("written");
    is_refused(&lab, &["newer version of kurabe", "99", "--db"]);
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    is_refused(&with_store(b"Dear diary, today I measured nothing at all.\n"), &["kurabe.db", "--db"]);
    is_refused(&with_store(&[0x5a; 100_000]), &["kurabe.db", "--db"]);
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let lab = with_store(b"");
    if !needs("sqlite3") {
        return;
    }
    system("sqlite3", &[text(&lab.store()), "CREATE TABLE recipes (name TEXT);"]).expect("a database");
    is_refused(&lab, &["belongs to another program", "--db"]);
}

#[test]
fn a_directory_is_no_store() {
    let lab = Lab::new();
    let directory = lab.target();
    let ended = lab.kurabe(&["list", "--db", text(&directory)]);
    assert_eq!(ended.code(), Some(9), "{ended:#?}");
    assert!(names(&directory).is_empty());
}

#[test]
fn a_pipe_or_a_device_is_no_store_and_is_not_waited_for() {
    let lab = Lab::new();
    let (pipe, target) = (lab.beside("pipe"), lab.target());
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).expect("a pipe");
    for path in [text(&pipe), "/dev/null", "/dev/zero"] {
        lab.kurabe(&["list", "--db", path]).is_refusal(9, &[path]);
        let words = ["run", text(&target), "--db", path];
        lab.kurabe(&[&words[..], &ONE_CELL].concat()).is_refusal(9, &[path]);
    }
}

#[test]
fn a_store_that_may_only_be_read_is_listed() {
    let lab = Lab::new();
    lab.run(&lab.target(), &ONE_CELL).ok();
    if !can_be_nobody(&lab) {
        return;
    }
    let store = lab.store();
    let directory = store.parent().expect("a directory").to_owned();
    for (path, mode) in [(&directory, 0o755), (&store, 0o644)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
    }
    let ended = Live::start(lab.wrapped(&AS_NOBODY, &["list", "--db", text(&store)])).end().ok();
    assert!(ended.out.lines().count() >= 2, "{ended:#?}");
    let words = ["run", "model:ideal-ram-disk", "--runs", "1", "--db", text(&store)];
    let ended = Live::start(lab.wrapped(&AS_NOBODY, &words)).end();
    assert_eq!(ended.code(), Some(9), "{ended:#?}");
}

#[test]
fn reading_a_store_that_is_not_there_makes_none() {
    let lab = Lab::new();
    let ended = lab.kurabe(&["list"]).ok();
    assert!(ended.out.contains("kurabe run"), "it says how to begin: {ended:#?}");
    assert!(lab.list().is_empty());
    lab.kurabe(&["show"]).is_refusal(12, &["kurabe run"]);
    lab.kurabe(&["rm", "abc"]).is_refusal(12, &["kurabe run"]);
    lab.kurabe(&["export"]).is_refusal(12, &["kurabe run"]);
    assert_eq!(names(lab.store().parent().and_then(|store| store.parent()).expect("the home")), ["target"]);
}

#[test]
fn an_id_that_nobody_knows_is_told_apart() {
    let lab = Lab::new();
    lab.run(&lab.target(), &ONE_CELL).ok();
    let id = lab.list()[0]["id"].as_str().expect("an id").to_owned();
    let ended = lab.kurabe(&["rm", &id, "nobody"]);
    assert_eq!(ended.code(), Some(12), "{ended:#?}");
    assert!(ended.err.contains("nobody"), "{ended:#?}");
    assert_eq!(lab.list().len(), 1, "a mistyped id removes nothing");
}
