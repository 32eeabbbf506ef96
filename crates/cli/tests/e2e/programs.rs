//! Programs in a profile: the user they run as, the permissions that other users must not have, how
//! they are shown, and that they end with kurabe.

use crate::lab::{Lab, Live, names, notices, text};
use crate::system::{AS_NOBODY, LoopDevice, Mount, NOBODY, can_be_nobody, system};
use kurabe_testkit::needs::{ROOT, needs, skip};
use rustix::process::Signal;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PULL: [&str; 6] = ["--profile", "git-pull", "--files", "50", "--runs", "1"];

/// Writes a profile with one step of programs.
fn profile(lab: &Lab, step: &str) -> PathBuf {
    lab.write(
        "programs.toml",
        format!(
            "schema = 1\nname = \"c\"\ntitle = {{ en = \"c\", ja = \"c\" }}\nstatistic = \"mean\"\n[rules]\n\
             size = \"1 MiB\"\nruns = 1\ntime = \"1 s\"\n[[step]]\nkind = \"command\"\n{step}\n"
        ),
    )
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(ROOT);
    }
    is_root
}

fn has_git() -> bool {
    needs("git")
}

/// Returns the path of a file for a program's notes, in a directory that every user may write to.
fn note(lab: &Lab) -> PathBuf {
    let notes = lab.beside("notes");
    std::fs::create_dir(&notes).expect("a directory");
    mode(&notes, 0o777);
    notes.join("note")
}

#[test]
fn a_hook_planted_in_the_repository_does_not_run() {
    if !needs("sh") || !has_git() {
        return;
    }
    let lab = Lab::new();
    let note = note(&lab);
    let plant = format!(
        "    [\"sh\", \"-c\", \"mkdir -p {{work}}/.git/hooks && printf '#!/bin/sh\\\\ntouch {}\\\\n' | \
         tee {{work}}/.git/hooks/post-merge > {{work}}/.git/hooks/post-checkout && \
         chmod +x {{work}}/.git/hooks/post-merge {{work}}/.git/hooks/post-checkout\"],\n]\ncommand =",
        note.display()
    );
    let planted = include_str!("../../../../profiles/git-pull.toml").replacen("]\ncommand =", &plant, 1);
    let planted = planted.replace("files = 2000, changed_files = 200", "files = 50, changed_files = 20");
    let planted = lab.write("planted.toml", planted.replace("\"git-pull\"", "\"planted\""));
    let ended = lab.run(&lab.target(), &["--profile", text(&planted), "--runs", "1"]).ok();
    assert!(ended.err.contains("hooks/post-merge"), "it was planted: {}", ended.err);
    assert!(!note.exists(), "a planted hook ran");
}

#[test]
fn in_a_directory_of_another_user_programs_run_as_that_user() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) || !has_git() {
        return;
    }
    mode(&lab.beside(""), 0o755);
    chown(lab.beside(""), Some(0), Some(0)).expect("an owner");
    chown(lab.target(), NOBODY, NOBODY).expect("an owner");
    let note = note(&lab);
    let step = format!(
        "command = [\"sh\", \"-c\", \"(id -u; id -g; id -G; stat -c %u:%a $HOME; cat /proc/1/environ) > \
         {} 2>/dev/null; true\"]",
        note.display()
    );
    let record = lab.measure(&lab.target(), &["--profile", text(&profile(&lab, &step))]);
    let noted = std::fs::read_to_string(&note).expect("a note");
    assert_eq!(noted.lines().collect::<Vec<_>>(), ["65534", "65534", "65534", "65534:700"]);
    let remarks = notices(&record, "other");
    assert!(remarks.iter().any(|remark| remark.contains("as that user")), "{remarks:?}");
    lab.measure(&lab.target(), &PULL);
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
}

#[test]
fn a_file_system_without_owners_is_worked_on_as_the_user_of_its_mount() {
    if !is_root() || !has_git() {
        return;
    }
    let lab = Lab::new();
    let Some(device) = LoopDevice::new(64 << 20) else { return };
    let Some(mount) = device.mount_fat("uid=65534,gid=65534,umask=077") else { return };
    mode(mount.point().parent().expect("a directory"), 0o755);
    let record = lab.measure(mount.point(), &PULL);
    assert!(notices(&record, "other").iter().any(|remark| remark.contains("user 65534")), "{record}");
    // The directory is writable by everyone, so another user could plant a program that root would
    // run.
    drop(mount);
    let Some(mount) = device.mount_fat("uid=0,gid=0,umask=000") else { return };
    let ended = lab.run(mount.point(), &PULL);
    ended.is_refusal(6, &["refusing to run programs as root", "mode 777", "umask=022"]);
    assert_eq!(names(mount.point()), [] as [&str; 0]);
    drop(mount);
    let Some(mount) = device.mount_fat("uid=0,gid=0,umask=022") else { return };
    lab.measure(mount.point(), &PULL);
}

#[test]
fn who_is_not_root_trusts_the_one_repository_on_a_file_system_without_owners() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) || !has_git() {
        return;
    }
    let Some(device) = LoopDevice::new(64 << 20) else { return };
    let Some(mount) = device.mount_fat("uid=0,gid=0,umask=000") else { return };
    mode(mount.point().parent().expect("a directory"), 0o755);
    let words = [&["run", text(mount.point())], &PULL[..]].concat();
    Live::start(lab.wrapped(&AS_NOBODY, &words)).end().ok();
    assert_eq!(names(mount.point()), [] as [&str; 0]);
}

#[test]
fn root_refuses_a_directory_that_others_can_fill() {
    if !is_root() {
        return;
    }
    let lab = Lab::new();
    let profile = profile(&lab, "command = [\"true\"]");
    mode(&lab.target(), 0o777);
    lab.refuses(&lab.target(), &["--profile", text(&profile)], 6, &["mode 777", "chmod go-w"]);
    // In a sticky directory, users cannot replace the files of others.
    mode(&lab.target(), 0o1777);
    lab.run(&lab.target(), &["--profile", text(&profile)]).ok();
}

#[test]
fn programs_are_shown_also_under_quiet_a_line_for_each_kind() {
    if !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let step = "prepare = [[\"mkdir\", \"{work}\"], [\"touch\", \"{work}/a\"]]\ncommand = [\"true\", \"timed\"]\n\
                restore = [[\"rm\", \"{work}/a\"]]\n";
    let ended = lab.run(&lab.target(), &["--profile", text(&profile(&lab, step)), "--quiet"]).ok();
    let lines: Vec<&str> = ended.err.lines().collect();
    assert_eq!(lines.len(), 3, "{ended:#?}");
    assert!(lines[0].starts_with("kurabe: programs that prepare: mkdir ") && lines[0].contains("; touch "));
    assert_eq!(lines[1], "kurabe: timed program: true timed");
    assert!(lines[2].contains("after each repetition: rm "), "{ended:#?}");
}

#[test]
fn a_program_and_what_it_started_end_with_kurabe_when_that_is_killed() {
    if !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let note = note(&lab);
    let step = format!(
        "command = [\"sh\", \"-c\", \"sh -c 'echo $$ >> {0}; exec sleep 600' & echo $$ >> {0}; wait\"]",
        note.display()
    );
    let live = lab.start(&lab.target(), &["--profile", text(&profile(&lab, &step))]);
    let numbers = || std::fs::read_to_string(&note).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(30);
    let until = |holds: &dyn Fn() -> bool, what: &str| {
        while !holds() {
            assert!(Instant::now() < deadline, "waiting until {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    until(&|| numbers().lines().count() == 2, "both run");
    live.signal(Signal::KILL);
    live.end();
    let numbers = numbers();
    let is_gone = |number: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // The init process may be slow to reap the processes.
        stat.is_empty() || stat.contains(") Z ")
    };
    until(&|| numbers.lines().all(is_gone), "both are gone");
    // The next start removes the folder.
    lab.kurabe(&["list"]).ok();
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
}

#[test]
fn the_folder_of_programs_is_for_the_worker_alone() {
    if !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let note = note(&lab);
    let step = format!(
        "command = [\"sh\", \"-c\", \"stat -L -c %a $HOME $HOME/.. > {}; (cd $HOME && pwd -P) >> {0}\"]",
        note.display()
    );
    lab.run(&lab.target(), &["--profile", text(&profile(&lab, &step))]).ok();
    let noted = std::fs::read_to_string(&note).expect("a note");
    let lines: Vec<&str> = noted.lines().collect();
    assert_eq!(lines[..2], ["700", "700"]);
    assert!(
        Path::new(lines[2]).starts_with(lab.target().canonicalize().expect("a path")),
        "its home is the folder: {noted}"
    );
    assert_eq!(lab.target().metadata().expect("facts").mode() & 0o777, 0o755);
}

/// On FUSE without `hard_remove`, removing an open file only renames it until it is closed.
#[test]
fn where_open_files_are_only_renamed_the_folder_of_programs_goes_as_well() {
    let Some(device) = LoopDevice::new(64 << 20) else { return };
    if !needs("mkfs.exfat") {
        return;
    }
    system("mkfs.exfat", &[text(device.node())]).expect("mkfs.exfat formats it");
    let lab = Lab::new();
    let point = lab.beside("stick");
    let Some(_mount) = Mount::new("exfat-fuse", text(device.node()), "umask=022", &point) else { return };
    let profile = profile(&lab, "command = [\"mkdir\", \"-p\", \"{work}/deep\"]");
    assert_eq!(lab.run(&point, &["--profile", text(&profile)]).ok().code(), Some(0));
    assert_eq!(names(&point), [] as [String; 0]);
    lab.run(&point, &crate::lab::ONE_CELL).ok();
    assert_eq!(names(&point), [] as [String; 0]);
}
