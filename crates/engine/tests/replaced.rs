//! Files whose names are taken over during a run: no byte of another file may be written or
//! removed.

use crate::copy_common::{Ran, run};
use kurabe_core::ErrorKind;
use kurabe_core::event::Event;
use kurabe_engine::{Stop, TargetOptions, test_file_name};
use kurabe_testkit::needs::needs;
use std::cell::Cell;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const SIZE_BYTES: u64 = 1 << 20;
const RULES: &str = r#"
schema = 1
name = "replaced"
title = { en = "test", ja = "試験" }
statistic = "mean"
source = "test"

[rules]
size = "1 MiB"
runs = 3
time = "1 s"
direct = false
"#;
const WRITES: &str = r#"
[[step]]
kind = "io"
label = "writes"
pattern = "random"
block_size = "4 KiB"
directions = ["write"]
passes = 1
"#;
const COPY: &str = r#"
[[step]]
kind = "copy"
id = "copy"
chunk = "64 KiB"
"#;
const SAMPLES: &str = r#"
[[step]]
kind = "access-time"
label = "access"
block_size = "4 KiB"
samples = 20
direction = "write"
"#;

/// A target that is measured, and a victim that must not change.
struct Workplace {
    _dir: tempfile::TempDir,
    target: PathBuf,
    moved: PathBuf,
    victim: PathBuf,
}

impl Workplace {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let (target, moved, victim) = (path.join("target"), path.join("moved"), path.join("victim"));
        std::fs::create_dir(&target).unwrap();
        std::fs::create_dir(&victim).unwrap();
        Self { _dir: dir, target, moved, victim }
    }

    /// Creates a file of the victim with content that no run writes.
    fn precious(&self, name: &str) -> PathBuf {
        let path = self.victim.join(name);
        std::fs::write(&path, content()).unwrap();
        path
    }

    fn test_file(&self) -> PathBuf {
        self.target.join(options().test_file_name)
    }

    fn copy(&self) -> PathBuf {
        self.test_file().with_extension("copy.test")
    }

    /// Checks that all of the victim's files exist and are unchanged.
    fn is_unharmed(&self, names: &[&str]) {
        for name in names {
            let path = self.victim.join(name);
            assert!(std::fs::read(&path).unwrap() == content(), "{} was changed", path.display());
        }
        let mut left: Vec<_> =
            std::fs::read_dir(&self.victim).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let mut names: Vec<_> = names.to_vec();
        names.sort_unstable();
        assert_eq!(left, names);
    }
}

fn content() -> Vec<u8> {
    (0..SIZE_BYTES).map(|at| (at / 512 * 7 + at) as u8).collect()
}

fn options() -> TargetOptions {
    TargetOptions {
        size_bytes: SIZE_BYTES,
        test_file_name: test_file_name("replaced", 1),
        ..TargetOptions::default()
    }
}

/// Runs steps, and calls `act` once after the first repetition.
fn run_and(given: &Path, options: &TargetOptions, steps: &str, act: impl Fn()) -> Ran {
    let done = Cell::new(false);
    run(given, options, &format!("{RULES}{steps}"), &|event: &Event, _: &Stop| {
        if matches!(event, Event::RepetitionDone { .. }) && !done.replace(true) {
            act();
        }
    })
}

/// Checks that the run ended because its target no longer exists.
fn ended_as_gone(ran: &Ran) {
    let error = ran.result.as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Target);
    assert!(error.what().en.contains("removed or replaced"), "{}", error.what().en);
}

type Replace = fn(&Path, &Path);

/// Ways to replace a file by something else.
const WAYS: [(&str, Replace); 3] = [
    ("symlink", |file, victim| {
        std::fs::remove_file(file).unwrap();
        symlink(victim, file).unwrap();
    }),
    ("hard link", |file, victim| {
        std::fs::remove_file(file).unwrap();
        std::fs::hard_link(victim, file).unwrap();
    }),
    ("rename over", |file, victim| {
        let second = victim.with_extension("second");
        std::fs::hard_link(victim, &second).unwrap();
        std::fs::rename(second, file).unwrap();
    }),
];

#[test]
fn what_takes_the_name_of_a_test_file_is_neither_written_nor_removed() {
    for steps in [WRITES, SAMPLES, COPY] {
        for (way, replace) in WAYS {
            let place = Workplace::new();
            let victim = place.precious("thesis");
            let ran = run_and(&place.target, &options(), steps, || replace(&place.test_file(), &victim));
            place.is_unharmed(&["thesis"]);
            ended_as_gone(&ran);
            assert!(std::fs::symlink_metadata(place.test_file()).is_ok(), "{way}: it is somebody's");
        }
    }
}

#[test]
fn a_test_file_that_was_deleted_is_not_made_again() {
    let place = Workplace::new();
    let ran = run_and(&place.target, &options(), WRITES, || {
        std::fs::remove_file(place.test_file()).unwrap();
    });
    ended_as_gone(&ran);
    assert_eq!(std::fs::read_dir(&place.target).unwrap().count(), 0);
}

#[test]
fn a_test_file_that_got_a_second_name_is_written_no_more() {
    let place = Workplace::new();
    let second = place.victim.join("second");
    let kept = Cell::new(Vec::new());
    let ran = run_and(&place.target, &options(), WRITES, || {
        std::fs::hard_link(place.test_file(), &second).unwrap();
        kept.set(std::fs::read(&second).unwrap());
    });
    let error = ran.result.unwrap_err();
    assert!(error.what().en.contains("hard link"), "{}", error.what().en);
    assert!(std::fs::read(&second).unwrap() == kept.take(), "it is somebody's as well");
    assert!(!place.test_file().exists());
}

#[test]
fn a_folder_that_is_moved_takes_the_run_along_and_what_gets_its_name_stays() {
    for steps in [WRITES, SAMPLES, COPY] {
        for linked in [false, true] {
            let place = Workplace::new();
            let names = [place.test_file(), place.copy()];
            let names = names.each_ref().map(|path| path.file_name().unwrap().to_str().unwrap());
            names.iter().for_each(|name| drop(place.precious(name)));
            let ran = run_and(&place.target, &options(), steps, || {
                std::fs::rename(&place.target, &place.moved).unwrap();
                if linked {
                    symlink(&place.victim, &place.target).unwrap();
                } else {
                    std::fs::rename(&place.victim, &place.target).unwrap();
                }
            });
            if !linked {
                std::fs::rename(&place.target, &place.victim).unwrap();
            }
            place.is_unharmed(&names);
            ran.result.unwrap();
            assert_eq!(std::fs::read_dir(&place.moved).unwrap().count(), 0, "something is left");
        }
    }
}

#[test]
fn what_takes_the_name_of_a_users_file_is_not_written() {
    let options = TargetOptions { write_existing: true, ..options() };
    for steps in [WRITES, SAMPLES, COPY] {
        for (_, replace) in WAYS {
            let place = Workplace::new();
            let (victim, file) = (place.precious("thesis"), place.target.join("scratch"));
            std::fs::write(&file, content()).unwrap();
            let ran = run_and(&file, &options, steps, || replace(&file, &victim));
            place.is_unharmed(&["thesis"]);
            ended_as_gone(&ran);
        }
    }
}

#[test]
fn a_users_file_that_is_moved_is_still_the_one_that_is_written() {
    let place = Workplace::new();
    let (victim, file) = (place.precious("thesis"), place.target.join("scratch"));
    std::fs::write(&file, content()).unwrap();
    let options = TargetOptions { write_existing: true, ..options() };
    let ran = run_and(&file, &options, WRITES, || {
        std::fs::rename(&file, &place.moved).unwrap();
        symlink(&victim, &file).unwrap();
    });
    place.is_unharmed(&["thesis"]);
    ran.result.unwrap();
    assert!(std::fs::read(&place.moved).unwrap() != content());
}

const PROGRAMS: &str = r#"
[[step]]
kind = "command"
label = "programs"
shell = true
prepare = [["mkdir {work}; touch {work}/mine"]]
command = ["rm -rf {work}/thesis; echo x > {work}/new"]
restore = [["rm {work}/new; rm -rf {work}/thesis"]]
cleanup = [["rm -rf {work}/thesis"]]
"#;

/// Runs programs that remove and write below a work folder, a component of whose path is replaced
/// by a symbolic link after the first run.
fn programs_with(part: &str) -> (Workplace, Ran) {
    let place = Workplace::new();
    let options = TargetOptions { no_test_file: true, work_folder: true, ..options() };
    let (container, work) = (place.test_file(), place.victim.join("0/work"));
    std::fs::create_dir_all(&work).unwrap();
    std::fs::write(work.join("thesis"), content()).unwrap();
    let swapped = container.join(part);
    let swapped = if part.is_empty() { container } else { swapped };
    let ran = run_and(&place.target, &options, PROGRAMS, || {
        std::fs::rename(&swapped, place.target.join("away")).unwrap();
        symlink(place.victim.join(part), &swapped).unwrap();
    });
    assert!(std::fs::read(work.join("thesis")).unwrap() == content(), "{part} led to the victim");
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 1);
    (place, ran)
}

#[test]
fn programs_work_in_their_folder_whatever_takes_the_names_above_it() {
    if !needs("sh") {
        return;
    }
    let (place, ran) = programs_with("");
    ran.result.unwrap();
    // The folder was moved, so its owner is unknown. It is reported and not removed.
    assert_eq!(std::fs::read_dir(place.target.join("away")).unwrap().count(), 0);
}

#[test]
fn something_else_in_the_place_of_the_work_folder_ends_the_programs() {
    if !needs("sh") {
        return;
    }
    for part in ["0", "0/work"] {
        let (_place, ran) = programs_with(part);
        let error = ran.result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.what().en.contains("was replaced by a link"), "{}", error.what().en);
    }
}
