//! Recovery removes exactly the files that a killed run left. It does not remove files that only
//! have such a name, files that another user's store names, or files of a run that is still alive
//! but not visible from here.

use crate::lab::{Ended, Lab, Live, binary, names, text};
use crate::system::{LoopDevice, Mount, system};
use kurabe_core::made::{MadeFacts, MadeFile};
use kurabe_store::{SqliteStore, Store};
use kurabe_testkit::needs::{BECOME_NOBODY, MOUNT, PID_NAMESPACES, ROOT, needs, skip};
use rustix::process::Signal;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
const NOBODY: u32 = 65534;
const SLOW: [&str; 6] = ["--rw", "randread", "--size", "4m", "--time", "50s"];
const SLOW_PROGRAM: &str = "\
schema = 1
name = \"slow-program\"
title = { en = \"slow program\", ja = \"slow program\" }
statistic = \"mean\"
[rules]
size = \"1 MiB\"
runs = 1
time = \"1 s\"
[[step]]
kind = \"command\"
label = \"sleep\"
prepare = [[\"mkdir\", \"{work}\"], [\"touch\", \"{work}/file\"]]
command = [\"sleep\", \"50\"]
";

/// Kills a run while it measures in a folder, and returns the path of the file that it left.
fn killed_in(lab: &Lab, folder: &Path, words: &[&str]) -> PathBuf {
    let mut live = lab.start(folder, words);
    live.wait_for_out("\"event\":\"progress\"");
    kill(live);
    let left = names(folder);
    let test_file = left.iter().find(|name| name.ends_with(".test")).expect("it is left behind");
    folder.join(test_file)
}

fn kill(live: Live) {
    live.signal(Signal::KILL);
    assert_eq!(live.end().code(), None);
}

/// Runs the next command.
#[track_caller]
fn next(lab: &Lab) -> Ended {
    lab.kurabe(&["list"]).ok()
}

/// Checks that the next command leaves the file and prints a message with these words, that the one
/// after it prints nothing, and that the doctor reports it again.
#[track_caller]
fn is_left(lab: &Lab, path: &Path, says: &str) {
    let first = next(lab);
    assert!(path.symlink_metadata().is_ok(), "it stays: {first:#?}");
    assert!(first.err.contains(says) && first.err.contains("remedy:"), "`{says}` is said: {first:#?}");
    assert_eq!(next(lab).err, "", "and said once");
    let doctor = lab.kurabe(&["doctor", text(&lab.target())]).ok();
    let words = doctor.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Leftovers of earlier runs") && words.contains(says), "{doctor:#?}");
    assert!(path.symlink_metadata().is_ok());
}

/// Checks that the next command removes the file and reports it.
#[track_caller]
fn is_removed(lab: &Lab, path: &Path) {
    let ended = next(lab);
    assert!(
        ended.err.contains(&format!("removed the test file of a run that was killed: {}", text(path))),
        "{ended:#?}"
    );
    assert!(path.symlink_metadata().is_err(), "{ended:#?}");
    assert_eq!(next(lab).err, "");
}

fn store(lab: &Lab) -> SqliteStore {
    SqliteStore::open(&lab.store(), kurabe_compare::DIGESTER).expect("a store")
}

/// Records in the store that a run created this file.
fn plant(lab: &Lab, run: &str, path: &Path) {
    let facts = path.symlink_metadata().expect("it is there");
    let made = Some(MadeFacts { inode: Some(facts.ino()), user: facts.uid() });
    let file = MadeFile { path: path.to_owned(), word: "0f".repeat(16), made, ..MadeFile::default() };
    store(lab).note_made_file(run, Some(&file)).expect("noted");
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(ROOT);
    }
    is_root
}

#[test]
#[ignore = "slow"]
fn what_only_has_a_name_that_the_store_tells_stays() {
    for (run, name, says) in [
        ("notes", ".kurabe-notes.test", "is not the file"),
        ("thesis", ".kurabe-thesis-0123456789abcdef.test", "does not contain the mark"),
    ] {
        for is_folder in [false, true] {
            let lab = Lab::new();
            let path = lab.target().join(name);
            if is_folder {
                std::fs::create_dir_all(path.join("chapter")).expect("a folder");
            } else {
                std::fs::write(&path, "mine").expect("a file");
            }
            plant(&lab, run, &path);
            is_left(&lab, &path, says);
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_test_file_with_another_mark_or_another_number_or_a_second_name_stays() {
    let mark = |path: &Path, value: &str| {
        rustix::fs::setxattr(path, "user.kurabe", value.as_bytes(), rustix::fs::XattrFlags::REPLACE).is_ok()
    };
    let lab = Lab::new();
    let path = killed_in(&lab, &lab.target(), &SLOW);
    if mark(&path, "kurabe abc 00\n") {
        is_left(&lab, &path, "does not contain the mark");
    } else {
        skip("no extended attributes on the temporary directory");
    }

    let lab = Lab::new();
    let path = killed_in(&lab, &lab.target(), &SLOW);
    std::fs::hard_link(&path, lab.target().join("kept")).expect("a hard link");
    is_left(&lab, &path, "second hard link");

    // The user keeps the test file under another name, and now has a different file under this
    // name, even one with its mark.
    let lab = Lab::new();
    let path = killed_in(&lab, &lab.target(), &SLOW);
    std::fs::rename(&path, lab.target().join("kept")).expect("renamed");
    assert!(system("cp", &["-a", text(&lab.target().join("kept")), text(&path)]).is_some());
    is_left(&lab, &path, "is not the file");
    std::fs::remove_file(&path).expect("removed by hand");
    assert_eq!(next(&lab).err, "", "then there is nothing left to tell");
    assert!(store(&lab).made_files().expect("a list").is_empty());
}

#[test]
fn no_link_is_followed_to_what_a_run_left() {
    // A symbolic link instead of its folder, to a folder with a file of the same name.
    let lab = Lab::new();
    let folder = lab.beside("folder");
    std::fs::create_dir(&folder).expect("a folder");
    let path = killed_in(&lab, &folder, &SLOW);
    let (moved, victim) = (lab.beside("far/away/moved"), lab.beside("victim"));
    std::fs::create_dir_all(lab.beside("far/away")).expect("a folder");
    std::fs::create_dir(&victim).expect("a folder");
    std::fs::rename(&folder, &moved).expect("moved");
    std::fs::write(victim.join(path.file_name().expect("a name")), "mine").expect("a file");
    symlink(&victim, &folder).expect("a link");
    is_left(&lab, &victim.join(path.file_name().expect("a name")), "were not found");

    // A symbolic link instead of the file.
    let lab = Lab::new();
    let path = killed_in(&lab, &lab.target(), &SLOW);
    std::fs::remove_file(&path).expect("removed");
    symlink(lab.write("thesis", "mine"), &path).expect("a link");
    is_left(&lab, &path, "is not the file");
    assert!(lab.beside("thesis").exists());
}

#[test]
fn a_work_folder_goes_with_its_mark_and_stays_without() {
    if !needs("sh") {
        return;
    }
    for has_mark in [true, false] {
        let lab = Lab::new();
        let profile = lab.write("slow-program.toml", SLOW_PROGRAM);
        let mut live = lab.start(&lab.target(), &["--profile", text(&profile)]);
        live.wait_for_out("\"event\":\"repetition_started\"");
        kill(live);
        let folder = lab.target().join(&names(&lab.target())[0]);
        assert!(folder.join("0").join("work").join("file").exists());
        if has_mark {
            is_removed(&lab, &folder);
        } else {
            std::fs::write(folder.join(".kurabe-mark"), "kurabe abc 00\n").expect("another mark");
            is_left(&lab, &folder, "does not contain the mark");
            assert!(folder.join("0").join("work").join("file").exists());
        }
    }
}

#[test]
fn root_removes_nothing_of_others_by_a_users_store() {
    if !is_root() {
        return;
    }
    let lab = Lab::new();
    let killed = killed_in(&lab, &lab.target(), &SLOW);
    let (_, mut made) = store(&lab).made_files().expect("a list").remove(0);
    // The user's store names a file of another user, with a mark that the user knows.
    let victim = lab.target().join(".kurabe-abc-0123456789abcdef.test");
    std::fs::write(&victim, "").expect("a file");
    chown(&victim, Some(1234), None).expect("another user's");
    made.path.clone_from(&victim);
    made.made = None;
    store(&lab).note_made_file("abc", Some(&made)).expect("noted");
    chown(lab.store(), Some(NOBODY), None).expect("the user's store");
    is_left(&lab, &victim, "does not contain the mark");
    let mark = format!("kurabe abc {}\n", made.word);
    let flags = rustix::fs::XattrFlags::CREATE;
    if rustix::fs::setxattr(&victim, "user.kurabe", mark.as_bytes(), flags).is_ok() {
        is_left(&lab, &victim, "may not remove files");
        // A file that belongs to the user is removed.
        chown(&victim, Some(NOBODY), None).expect("the user's");
        is_removed(&lab, &victim);
    }
    assert!(killed.symlink_metadata().is_err(), "what root made for the user is gone since the first look");
}

#[test]
fn another_users_store_that_can_only_be_read_removes_nothing() {
    if !is_root() || !needs("setpriv") {
        return;
    }
    let lab = Lab::new();
    let path = killed_in(&lab, &lab.target(), &SLOW);
    // Only the ownership of the store keeps the user `nobody` from removing the file.
    for path in [&lab.target(), &path] {
        chown(path, Some(NOBODY), None).expect("nobody's");
    }
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let folder = lab.beside("store");
    system("sqlite3", &[text(&lab.store()), "PRAGMA journal_mode = delete"]);
    open(&lab.beside(""), 0o755);
    open(&folder, 0o755);
    names(&folder).iter().for_each(|name| open(&folder.join(name), 0o644));
    let as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let probe = lab.wrapped(&as_nobody, &["--version"]).output().map(|output| output.status.success());
    if !matches!(probe, Ok(true)) {
        skip(BECOME_NOBODY);
        return;
    }
    let listed = Live::start(lab.wrapped(&as_nobody, &["list"])).end().ok();
    assert!(listed.err.is_empty() && listed.out.contains("unfinished"), "{listed:#?}");
    assert!(path.exists(), "{listed:#?}");
}

const IN_A_NAMESPACE: [&str; 5] = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

fn has_namespaces() -> bool {
    let has = system("unshare", &["--pid", "--fork", "--mount-proc", "--kill-child", "true"]).is_some();
    if !has {
        skip(PID_NAMESPACES);
    }
    has
}

#[test]
fn a_run_in_another_pid_namespace_is_left_alone_while_it_lives_and_cleaned_when_it_is_dead() {
    if !has_namespaces() {
        return;
    }
    let lab = Lab::new();
    let target = lab.target();
    let words = [&["run", text(&target), "--json", "--quiet"], &SLOW[..]].concat();
    let mut live = Live::start(lab.wrapped(&IN_A_NAMESPACE, &words));
    live.wait_for_out("\"event\":\"progress\"");
    let path = target.join(&names(&target)[0]);
    let listed = next(&lab);
    assert!(listed.err.is_empty() && listed.out.contains("unfinished") && path.exists(), "{listed:#?}");
    let id = lab.list()[0]["id"].as_str().expect("an id").to_owned();
    lab.kurabe(&["rm", &id]).is_refusal(6, &["being measured", "kurabe rm --force"]);
    kill(live);
    is_removed(&lab, &path);
    assert_eq!(lab.list()[0]["status"], "interrupted");
}

#[test]
fn a_run_that_another_pid_namespace_looks_at_is_left_alone() {
    if !has_namespaces() {
        return;
    }
    let lab = Lab::new();
    let mut live = lab.start(&lab.target(), &SLOW);
    live.wait_for_out("\"event\":\"progress\"");
    let listed = Live::start(lab.wrapped(&IN_A_NAMESPACE, &["list"])).end().ok();
    assert!(listed.err.is_empty() && listed.out.contains("unfinished"), "{listed:#?}");
    assert_eq!(names(&lab.target()).len(), 1, "{listed:#?}");
    live.signal(Signal::INT);
    assert_eq!(live.end().code(), Some(130));
}

#[test]
fn a_run_that_is_looked_at_from_a_chroot_without_proc_is_left_alone() {
    if !is_root() {
        return;
    }
    let lab = Lab::new();
    // The root file system alone, without the file systems mounted on it.
    let root = lab.beside("root");
    std::fs::create_dir(&root).expect("a folder");
    if system("mount", &["--bind", "/", text(&root)]).is_none() {
        skip(MOUNT);
        return;
    }
    let _mounted = Unmount(root.clone());
    let below = |path: &Path| root.join(path.strip_prefix("/").expect("an absolute path"));
    if !below(&lab.target()).exists() || !below(Path::new(binary())).exists() {
        skip("the temporary directory or the build is on a file system of its own");
        return;
    }
    let mut live = lab.start(&lab.target(), &SLOW);
    live.wait_for_out("\"event\":\"progress\"");
    let listed = Live::start(lab.wrapped(&["chroot", text(&root)], &["list"])).end().ok();
    assert!(listed.err.is_empty() && listed.out.contains("unfinished"), "{listed:#?}");
    assert_eq!(names(&lab.target()).len(), 1, "{listed:#?}");
    live.signal(Signal::INT);
    assert_eq!(live.end().code(), Some(130));
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        system("umount", &["-l", text(&self.0)]);
    }
}

#[test]
fn a_folder_that_was_renamed_is_found_and_cleaned() {
    let lab = Lab::new();
    let folder = lab.beside("a/b/c");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = killed_in(&lab, &folder, &SLOW);
    std::fs::rename(lab.beside("a/b"), lab.beside("a/renamed")).expect("renamed");
    // Another folder has its name now, without any file of kurabe.
    std::fs::create_dir_all(&folder).expect("a folder");
    is_removed(&lab, &lab.beside("a/renamed/c").join(path.file_name().expect("a name")));
}

#[test]
fn a_file_system_that_comes_back_elsewhere_is_cleaned_then() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    let lab = Lab::new();
    let Some(mount) = device.mount_ext4() else { return };
    let point = mount.point().to_owned();
    std::fs::create_dir(point.join("tests")).expect("a folder");
    let path = killed_in(&lab, &point.join("tests"), &SLOW);
    drop(mount);
    let first = next(&lab);
    assert!(first.err.contains("were not found") && first.err.contains(text(&path)), "{first:#?}");
    assert_eq!(next(&lab).err, "", "it is said once");
    let doctor = lab.kurabe(&["doctor", text(&lab.target())]).ok();
    assert!(doctor.out.contains("Leftovers of earlier runs"), "{doctor:#?}");
    // Removing the run from the store changes nothing.
    lab.kurabe(&["rm", "last", "--yes"]).ok();
    let elsewhere = lab.beside("elsewhere");
    let Some(_mount) = Mount::new("ext4", text(device.node()), "defaults", &elsewhere) else { return };
    is_removed(&lab, &elsewhere.join("tests").join(path.file_name().expect("a name")));
    assert_eq!(names(&elsewhere.join("tests")), [] as [String; 0]);
}

#[test]
fn where_files_take_no_attributes_a_mark_beside_them_says_whose_they_are() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    if !needs("mkfs.vfat") {
        return;
    }
    system("mkfs.vfat", &[text(device.node())]).expect("mkfs.vfat formats it");
    for is_ours in [true, false] {
        let lab = Lab::new();
        let point = lab.beside("stick");
        let Some(mount) = Mount::new("vfat", text(device.node()), "uid=1234", &point) else { return };
        assert_eq!(lab.run(&point, &crate::lab::ONE_CELL).code(), Some(0));
        assert_eq!(names(&point), [] as [String; 0], "a run that ends leaves neither");
        let path = killed_in(&lab, &point, &SLOW);
        let mark = path.with_extension("mark");
        assert!(mark.exists());
        if !is_ours {
            std::fs::write(&mark, "kurabe abc 00\n").expect("another mark");
        }
        // Files on it get different inode numbers.
        drop(mount);
        let Some(_mount) = Mount::new("vfat", text(device.node()), "uid=1234", &point) else { return };
        if is_ours {
            is_removed(&lab, &path);
            assert_eq!(names(&point), [] as [String; 0]);
        } else {
            is_left(&lab, &path, "does not contain the mark");
        }
    }
}

#[test]
fn a_file_that_was_just_made_is_removed_only_while_it_is_empty() {
    for (content, stays) in [("", false), ("mine", true)] {
        let lab = Lab::new();
        let killed = killed_in(&lab, &lab.target(), &SLOW);
        let (run, made) = store(&lab).made_files().expect("a list").remove(0);
        // As if the run had been killed immediately after creating the file.
        std::fs::remove_file(&killed).expect("removed");
        std::fs::write(&killed, content).expect("a file");
        store(&lab).note_made_file(&run, Some(&MadeFile { made: None, ..made })).expect("noted");
        if stays { is_left(&lab, &killed, "does not contain the mark") } else { is_removed(&lab, &killed) }
    }
}
