//! The `command` step with real programs: the order in which they run, what is shown and recorded,
//! and that nothing is left behind.

use crate::copy_common::{Ran, run};
use kurabe_core::ErrorKind;
use kurabe_core::event::Event;
use kurabe_core::profile::Step;
use kurabe_core::record::Measure;
use kurabe_engine::{Stop, TargetOptions, test_file_name};
use kurabe_testkit::needs::needs;
use std::path::Path;
use std::time::Instant;

fn profile(step: &str) -> String {
    format!(
        r#"
schema = 1
name = "command-test"
title = {{ en = "test", ja = "試験" }}
statistic = "mean"
source = "test"

[rules]
size = "1 MiB"
runs = 2
time = "1 s"

[[step]]
kind = "command"
{step}
"#
    )
}

fn run_step(dir: &Path, step: &str, hear: &dyn Fn(&Event, &Stop)) -> Ran {
    run_profile(dir, &profile(step), hear)
}

fn run_profile(dir: &Path, profile: &str, hear: &dyn Fn(&Event, &Stop)) -> Ran {
    let options = TargetOptions {
        size_bytes: 1 << 20,
        test_file_name: test_file_name("commandtest", 1),
        no_test_file: true,
        work_folder: true,
        ..TargetOptions::default()
    };
    run(dir, &options, profile, hear)
}

/// A target, and a file outside of it in which programs leave a note.
struct Workplace {
    _dir: tempfile::TempDir,
    target: std::path::PathBuf,
    note: std::path::PathBuf,
}

impl Workplace {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (target, note) = (dir.path().join("target"), dir.path().join("note"));
        std::fs::create_dir(&target).unwrap();
        std::fs::write(&note, "").unwrap();
        Self { _dir: dir, target, note }
    }

    fn noted(&self) -> String {
        std::fs::read_to_string(&self.note).unwrap().replace('\n', " ")
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.target).unwrap().count() == 0
    }
}

#[test]
fn programs_run_in_order_are_shown_and_leave_nothing() {
    if !needs("sh") {
        return;
    }
    let place = Workplace::new();
    let note = place.note.display();
    let step = format!(
        r#"
shell = true
prepare = [["mkdir {{work}} && echo prepare >> {note}"]]
command = ["sleep 0.2; dd if=/dev/zero", "of={{work}}/data bs=64k count=16 2>&1; echo command >> {note}"]
restore = [["rm {{work}}/data; echo restore >> {note}"]]
cleanup = [["echo cleanup >> {note}"]]
"#
    );
    let start = Instant::now();
    let ran = run_step(&place.target, &step, &|_, _| {});
    let around_ns = start.elapsed().as_nanos() as u64;
    ran.result.as_ref().unwrap();
    assert_eq!(place.noted(), "prepare command restore command restore cleanup ");
    assert!(place.is_empty(), "the folder is left");
    let mut shown = ran.shown();
    // Writing back is shown only if it takes long.
    shown.retain(|line| line.starts_with("running "));
    assert_eq!(shown.len(), 6, "{shown:?}");
    let at = |holds: &dyn Fn(&Event) -> bool| ran.events.iter().position(holds).unwrap();
    let listed = at(&|event| {
        matches!(event, Event::Programs { prepare, command, restore, cleanup }
            if prepare.len() == 1 && command.contains("dd if=/dev/zero") && restore.len() == 1 && cleanup.len() == 1)
    });
    assert!(listed < at(&|event| matches!(event, Event::Preparing { .. })), "listed before anything runs");
    assert!(shown[1].starts_with("running sh -c 'sleep 0.2; dd if=/dev/zero of="), "{}", shown[1]);
    let cells = ran.cells();
    assert_eq!((cells.len(), cells[0].part.as_str(), cells[0].measure), (1, "command", Measure::Duration));
    let sum_ns: u64 = cells[0].repetitions.iter().map(|repetition| repetition.elapsed_ns).sum();
    assert!(sum_ns <= around_ns, "{sum_ns} ns within {around_ns} ns");
    for repetition in &cells[0].repetitions {
        assert!(repetition.elapsed_ns >= 200_000_000);
        assert!(repetition.end_sync_ns.is_some());
        assert!(repetition.cpu.user_ns + repetition.cpu.system_ns < repetition.elapsed_ns);
        assert_eq!(repetition.read.bytes + repetition.write.bytes, 0);
        if let Some(traffic) = repetition.traffic {
            assert!(traffic.write_bytes >= 1 << 20, "{traffic:?}");
        }
    }
}

#[test]
fn what_fails_is_restored_and_cleaned_up_and_told() {
    if !needs("sh") {
        return;
    }
    let place = Workplace::new();
    let note = place.note.display();
    let step = format!(
        r#"
shell = true
command = ["echo it is broken; exit 4"]
restore = [["echo restore >> {note}"]]
cleanup = [["exit 1"], ["echo cleanup >> {note}"]]
"#
    );
    let error = run_step(&place.target, &step, &|_, _| {}).result.unwrap_err();
    assert!(error.what().en.contains("exit code 4"), "{}", error.what().en);
    assert_eq!(error.cause(), Some("it is broken"));
    assert_eq!(place.noted(), "restore cleanup ");
    assert!(place.is_empty(), "the folder is left");
}

#[test]
fn a_prepare_that_fails_is_cleaned_up() {
    if !needs("sh") {
        return;
    }
    let place = Workplace::new();
    let note = place.note.display();
    let step = format!(
        r#"
prepare = [["mkdir", "{{work}}"], ["false"], ["touch", "{note}.never"]]
command = ["true"]
cleanup = [["sh", "-c", "test -d {{work}} && echo cleanup >> {note}"]]
"#
    );
    let error = run_step(&place.target, &step, &|_, _| {}).result.unwrap_err();
    assert!(error.what().en.starts_with("`false` failed"), "{}", error.what().en);
    assert_eq!(place.noted(), "cleanup ");
    assert!(place.is_empty(), "the folder is left");
    assert!(!place.note.with_extension("never").exists());
}

#[test]
fn an_unknown_name_in_any_program_is_told_before_anything_runs() {
    let place = Workplace::new();
    let note = place.note.display();
    let step = format!(
        r#"
prepare = [["sh", "-c", "echo prepare >> {note}"]]
command = ["true"]
cleanup = [["rm", "-rf", "{{folder}}"]]
"#
    );
    let error = run_step(&place.target, &step, &|_, _| {}).result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataFile);
    assert_eq!(place.noted(), "");
    assert!(place.is_empty(), "the folder is left");
}

#[test]
fn a_stop_ends_the_timed_program_and_restores_and_cleans_up() {
    if !needs("sh") {
        return;
    }
    let place = Workplace::new();
    let note = place.note.display();
    let step = format!(
        r#"
command = ["sh", "-c", "echo begun >> {note}; sleep 600; echo ended >> {note}"]
restore = [["sh", "-c", "echo restore >> {note}"]]
cleanup = [["sh", "-c", "echo cleanup >> {note}"]]
"#
    );
    let ran = run_step(&place.target, &step, &|event, stop| {
        if matches!(event, Event::Progress { .. }) && place.noted() == "begun " {
            stop.ask();
        }
    });
    assert_eq!(ran.result.as_ref().unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(place.noted(), "begun restore cleanup ");
    assert!(place.is_empty() && ran.cells().is_empty());
}

/// The profile of the repository, reduced in size, with a record of what each pull transferred.
#[test]
fn every_git_pull_transfers_the_same_objects() {
    if !needs("git") || !needs("sh") {
        return;
    }
    let place = Workplace::new();
    let note = place.note.display();
    let look = format!(
        r#"restore = [
    ["sh", "-c", "git -C {{work}} rev-parse HEAD >> {note}; git -C {{work}} cat-file --batch-all-objects --batch-check | sort | sha1sum >> {note}; git -C {{work}} status --short >> {note}; git -C {{work}} rev-list --count HEAD >> {note}; find {{work}}/.git/objects -newer {{work}}/.git/mark -type f | wc -l >> {note}"],"#
    );
    let text = include_str!("../../../profiles/git-pull.toml")
        .replace(
            "files = 2000, changed_files = 200, commits = 20",
            "files = 400, changed_files = 60, commits = 5",
        )
        .replace("restore = [", &look)
        // Files newer than the marker came with the pull.
        .replace("]\ncommand =", "    [\"touch\", \"{work}/.git/mark\"],\n]\ncommand =")
        .replace("]\ncold =", "    [\"touch\", \"{work}/.git/mark\"],\n]\ncold =");
    assert_eq!(text.matches("touch").count(), 2, "the profile has another form");
    let git =
        kurabe_profile::parse_profile("small", &text).unwrap().steps.into_iter().find_map(
            |step| match step {
                Step::Command(step) => step.git,
                _ => None,
            },
        );
    assert_eq!(git.map(|git| git.files), Some(400), "the profile was not made small");
    let ran = run_profile(&place.target, &text, &|_, _| {});
    ran.result.as_ref().unwrap();
    let noted = std::fs::read_to_string(&place.note).unwrap();
    let lines: Vec<&str> = noted.lines().collect();
    let runs = ran.cells()[0].repetitions.len();
    let each = lines.len() / runs;
    assert_eq!((lines.len() % runs, each), (0, 4), "the work tree was not clean: {noted}");
    for pull in lines.chunks(each) {
        assert_eq!(pull, &lines[..each], "{noted}");
        assert_eq!(pull[2], "6", "{noted}");
        assert!(pull[3].trim().parse::<u32>().unwrap() > 0, "nothing was fetched: {noted}");
    }
    assert!(place.is_empty(), "the folder is left");
}
