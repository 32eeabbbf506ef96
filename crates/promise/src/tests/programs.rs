//! Calls of programs.
//!
//! The programs with defects are of the kinds in which C³ (Jiang et al., FSE 2016) found 14:
//! compressors, sorters and other filters with output in place, archivers, editors, build tools.
//! The paper names gzip, sort, Brackets and TeXstudio in its abstract; the calls of gzip, sort, sed,
//! zip and ed are those of today's versions.

use super::*;

type Program = (&'static str, Vec<BaseFile>, Vec<FileAction>, &'static str);

const OLD: FileNumber = 10;
const NEW: FileNumber = 11;
const LOG: FileNumber = 12;
/// Number of bytes of a file.
const SIZE: u64 = 6000;

fn defective() -> Vec<Program> {
    let old = || vec![base("a", OLD, SIZE)];
    let in_place = |name: &'static str| {
        (
            name,
            old(),
            vec![read(OLD), resize(OLD, 0), write(OLD, 0..4096), write(OLD, 4096..6100)],
            "OldContentDestroyed a",
        )
    };
    let by_rename = |name: &'static str| {
        let actions = vec![read(OLD), create("a.tmp", NEW), write(NEW, 0..6100), rename("a.tmp", "a", NEW)];
        (name, old(), actions, "RenameBeforeData a")
    };
    let compressed = |name: &'static str| {
        let actions = vec![read(OLD), create("a.gz", NEW), write(NEW, 0..3000), unlink("a", OLD)];
        (name, old(), actions, "SourceRemoved a.gz")
    };
    vec![
        compressed("gzip"),
        compressed("bzip2"),
        compressed("xz, without its fsync"),
        in_place("sort -o onto its input"),
        in_place("shuf, tac and other filters with output in place"),
        in_place("ed"),
        in_place("an editor that empties the file, as Brackets does"),
        in_place("an editor that empties the file, as TeXstudio does"),
        in_place("mogrify, which converts images in place"),
        by_rename("sed -i"),
        by_rename("zip, which replaces the archive"),
        by_rename("a preference file that is replaced"),
        (
            "a linker that overwrites its output without emptying it",
            old(),
            vec![write(OLD, 0..4096), write(OLD, 4096..SIZE)],
            "OldContentDestroyed a",
        ),
        (
            "a compiler whose output is renamed to its name, so that make takes it for complete",
            vec![base("a.c", OLD, SIZE)],
            vec![read(OLD), create("a.o.tmp", NEW), write(NEW, 0..900), rename("a.o.tmp", "a.o", NEW)],
            "RenameBeforeData a.o",
        ),
    ]
}

#[test]
fn defects_of_the_kinds_that_c3_describes_are_reported_with_both_calls() {
    for (name, base, actions, expected) in defective() {
        let calls = calls(actions);
        assert_eq!(unsafe_orders(&base, &calls), [expected], "{name}");
    }
    let (_, base, actions, _) = &defective()[0];
    let order = &hazards(ROOT, base, &calls(actions.clone()))[0].order;
    assert_eq!((&*order.first, &*order.second), ("write(a.gz, 0+3000)", "unlink(a)"));
}

/// Programs that protect what they change.
fn correct() -> Vec<Program> {
    [correct_files(), correct_databases()].concat()
}

fn old_file() -> Vec<BaseFile> {
    vec![base("a", OLD, SIZE)]
}

fn correct_files() -> Vec<Program> {
    let renamed =
        [create("a.tmp", NEW), write(NEW, 0..6100), sync(NEW), rename("a.tmp", "a", NEW), sync(ROOT)];
    let compressed =
        [read(OLD), create("a.gz", NEW), write(NEW, 0..3000), sync(NEW), sync(ROOT), unlink("a", OLD)];
    let swapped = [
        read(OLD),
        create(".a.swp", LOG),
        write(LOG, 0..8192),
        sync(LOG),
        resize(OLD, 0),
        write(OLD, 0..6100),
        sync(OLD),
        unlink(".a.swp", LOG),
    ];
    let rotated =
        [write(OLD, SIZE..SIZE + 80), rename("log", "log.1", OLD), create("log", NEW), write(NEW, 0..80)];
    let appended = [write(OLD, SIZE..6100), sync(OLD), write(OLD, 6100..6200), sync(OLD)];
    let passing = [create("t", NEW), write(NEW, 0..80), sync(NEW), unlink("t", NEW)];
    let output = [read(OLD), create("b", NEW), write(NEW, 0..6100)];
    vec![
        ("a new file with fsync, rename and fsync of the folder", old_file(), renamed.to_vec(), ""),
        ("gzip --synchronous", old_file(), compressed.to_vec(), ""),
        ("an editor whose swap file is durable before it empties the file", old_file(), swapped.to_vec(), ""),
        ("a new output without any fsync", old_file(), output.to_vec(), ""),
        ("a file that is only emptied", old_file(), vec![resize(OLD, 0)], ""),
        ("a log that is renamed by its rotation", vec![base("log", OLD, SIZE)], rotated.to_vec(), ""),
        ("a log of records that are only appended", vec![base("log", OLD, SIZE)], appended.to_vec(), ""),
        ("a temporary file that is removed", old_file(), passing.to_vec(), ""),
    ]
}

/// A rollback journal: before each change of the database, its pages are durable in the journal.
fn journal(pages: Range<u64>) -> Vec<FileAction> {
    vec![
        create("db-journal", LOG),
        write(LOG, 0..512),
        write(LOG, 512..4608),
        sync(LOG),
        sync(ROOT),
        write(LOG, 0..12),
        sync(LOG),
        write(OLD, 0..4096),
        write(OLD, pages),
        sync(OLD),
        unlink("db-journal", LOG),
    ]
}

fn correct_databases() -> Vec<Program> {
    let database = || vec![base("db", OLD, 8192)];
    let two = [journal(4096..8192), journal(8192..12288)].concat();
    // A large transaction: pages reach the database, then the journal grows.
    let mut spilled = journal(8192..12288);
    let more = [write(LOG, 4608..9216), sync(LOG), write(LOG, 0..12), sync(LOG), write(OLD, 0..4096)];
    spilled.splice(9..9, more);
    let emptied = [
        journal(4096..8192)[..10].to_vec(),
        vec![resize(LOG, 0), write(LOG, 0..4608), sync(LOG), write(LOG, 0..12), sync(LOG)],
        vec![write(OLD, 0..4096), write(OLD, 4096..8192), sync(OLD), resize(LOG, 0)],
    ];
    let log = |from: u64| [write(LOG, from..from + 4120), sync(LOG)];
    let write_ahead = [
        vec![
            create("db-wal", LOG),
            create("db-shm", NEW),
            FileAction::Scramble { file: NEW },
            write(LOG, 0..32),
        ],
        log(32).to_vec(),
        vec![sync(ROOT)],
        log(4152).to_vec(),
        vec![
            write(OLD, 0..4096),
            write(OLD, 4096..8192),
            write(OLD, 8192..12288),
            sync(OLD),
            write(LOG, 0..32),
        ],
        log(32).to_vec(),
    ];
    let copied = [write(OLD, 8192..12288), sync(OLD), write(OLD, 0..256), sync(OLD)];
    vec![
        ("two transactions with a rollback journal", database(), two, ""),
        ("a large transaction with a rollback journal", database(), spilled, ""),
        ("a rollback journal that is emptied instead of removed", database(), emptied.concat(), ""),
        ("a write-ahead log with a checkpoint", database(), write_ahead.concat(), ""),
        ("pages that are copied before a meta page of a sector is changed", database(), copied.to_vec(), ""),
    ]
}

#[test]
fn programs_that_protect_their_data_are_not_reported() {
    for (name, base, actions, _) in correct() {
        assert_eq!(unsafe_orders(&base, &calls(actions)), [] as [&str; 0], "{name}");
    }
}

#[test]
fn names_and_marks_without_their_fsync_are_reported() {
    let record = || vec![base("db", OLD, 8192), base("index", NEW, 4096)];
    type Case = (&'static str, Vec<BaseFile>, Vec<FileAction>, &'static [&'static str]);
    let cases: Vec<Case> = vec![
        (
            "a new file whose folder is not synced",
            vec![],
            vec![create("a", NEW), write(NEW, 0..10), sync(NEW)],
            &["NameNotSynced a"],
        ),
        (
            "a replaced file whose folder is not synced",
            vec![base("a", OLD, SIZE)],
            vec![create("t", NEW), write(NEW, 0..10), sync(NEW), rename("t", "a", NEW)],
            &["NameNotSynced a"],
        ),
        (
            "a folder whose own name is not synced",
            vec![],
            vec![
                FileAction::Create { at: at("d"), file: 20, is_folder: true },
                FileAction::Create {
                    at: NamePlace { folder: 20, name: "a".to_owned() },
                    file: NEW,
                    is_folder: false,
                },
                write(NEW, 0..10),
                sync(NEW),
                sync(20),
            ],
            &["NameNotSynced d"],
        ),
        (
            "a record and the count of records, with one fsync",
            record(),
            vec![write(OLD, 8192..8292), write(OLD, 0..8), sync(OLD)],
            &["CommitBeforeData db"],
        ),
        (
            "a record, and its entry in an index that is durable first",
            record(),
            vec![write(OLD, 8192..8292), write(NEW, 64..72), sync(NEW), sync(OLD)],
            &["CommitBeforeData db"],
        ),
        (
            "the same with the fsync before the entry",
            record(),
            vec![write(OLD, 8192..8292), sync(OLD), write(NEW, 64..72), sync(NEW)],
            &[],
        ),
    ];
    for (name, base, actions, expected) in cases {
        assert_eq!(unsafe_orders(&base, &calls(actions)), expected, "{name}");
    }
}
