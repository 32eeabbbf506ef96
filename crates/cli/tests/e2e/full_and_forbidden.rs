//! Targets that are full, read-only or owned by another user.

use crate::lab::{Lab, Live, ONE_CELL, SHORT, names, text};
use crate::system::{AS_NOBODY, LoopDevice, Mount, NOBODY, can_be_nobody, system};
use kurabe_testkit::needs::{MOUNT, skip};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn a_directory_that_one_may_not_write_is_refused() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) {
        return;
    }
    for bits in [0o755, 0o700] {
        mode(&lab.target(), bits);
        let ended = Live::start(lab.wrapped(&AS_NOBODY, &["run", text(&lab.target()), "--size", "4m"])).end();
        ended.is_refusal(5, &[text(&lab.target()), "Permission denied", "owner and mode"]);
    }
    assert!(names(&lab.target()).is_empty());
    assert!(Live::start(lab.wrapped(&AS_NOBODY, &["list", "--json"])).end().ok().out.is_empty());
}

#[test]
fn a_file_or_device_that_one_may_not_read_is_refused() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) {
        return;
    }
    let file = lab.write("secret", vec![1; 1 << 20]);
    mode(&file, 0o600);
    let device = LoopDevice::new(16 << 20);
    let targets = [Some(file.as_path()), device.as_ref().map(LoopDevice::node)];
    for target in targets.into_iter().flatten() {
        let ended = Live::start(lab.wrapped(&AS_NOBODY, &["run", text(target), "--time", "100ms"])).end();
        ended.is_refusal(5, &[text(target), "Permission denied"]);
    }
}

#[test]
fn without_privilege_a_run_works_all_the_same() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) {
        return;
    }
    chown(lab.target(), NOBODY, NOBODY).expect("an owner");
    let target = lab.target();
    let words = [&["run", text(&target), "--buffered"], &SHORT[..]].concat();
    Live::start(lab.wrapped(&AS_NOBODY, &words)).end().ok();
    assert!(names(&lab.target()).is_empty());
}

#[test]
fn a_test_file_larger_than_the_free_space_is_refused_with_a_size_that_fits() {
    let Some(device) = LoopDevice::new(32 << 20) else { return };
    let Some(mount) = device.mount_ext4() else { return };
    let lab = Lab::new();
    let ended =
        lab.refuses(mount.point(), &["--size", "1g"], 7, &["needs 1 GiB", "has only", "free", "--size"]);
    assert_eq!(names(mount.point()), ["lost+found"]);
    let suggested = ended.err.rsplit("--size ").next().expect("a size").trim();
    lab.run(mount.point(), &["--rw", "read", "--time", "100ms", "--size", suggested]).ok();
}

#[test]
fn a_full_file_system_is_refused() {
    let Some(device) = LoopDevice::new(32 << 20) else { return };
    let Some(mount) = device.mount_ext4() else { return };
    // The write is expected to fail when the file system is full.
    let _ = std::fs::write(mount.point().join("ballast"), vec![1; 32 << 20]);
    let lab = Lab::new();
    lab.refuses(mount.point(), &["--size", "4m"], 7, &["needs 4 MiB", "has only", "free"]);
    // The default size may be reduced for slow storage, but never silently for full storage.
    lab.refuses(mount.point(), &[], 7, &["has only", "free"]);
    assert_eq!(names(mount.point()), ["ballast", "lost+found"]);
}

#[test]
fn a_read_only_file_system_takes_no_test_file_but_its_files_can_be_read() {
    let Some(device) = LoopDevice::new(32 << 20) else { return };
    let Some(mount) = device.mount_ext4() else { return };
    let file = mount.point().join("file");
    std::fs::write(&file, vec![1; 4 << 20]).expect("a file");
    mount.again("ro");
    let lab = Lab::new();
    lab.refuses(mount.point(), &["--size", "4m"], 5, &[text(mount.point()), "read-only"]);
    lab.refuses(&file, &["--write-existing", "--rw", "write", "--time", "100ms"], 5, &["read-only"]);
    lab.run(&file, &ONE_CELL).ok();
}

/// Fills the file system to the last block.
fn fill(directory: &Path) {
    for block in [1 << 20, 4096, 4096] {
        let ballast = OpenOptions::new().create(true).append(true).open(directory.join("ballast"));
        let mut ballast = ballast.expect("a file");
        while ballast.write_all(&vec![1; block]).is_ok() {}
        // Delayed allocation may need fewer or more blocks; syncing settles that.
        let _ = ballast.sync_all();
    }
}

#[test]
fn a_report_that_does_not_fit_leaves_nothing_behind() {
    let Some(device) = LoopDevice::new(32 << 20) else { return };
    let Some(mount) = device.mount_ext4() else { return };
    fill(mount.point());
    let lab = Lab::new();
    lab.kurabe(&["run", "model:ideal-ram-disk", "--profile", "quick", "--time", "5ms"]).ok();
    let before = names(mount.point());
    for words in [&["report"][..], &["card"], &["export"], &["report", "--force"]] {
        let file = mount.point().join(if words[0] == "card" { "a.svg" } else { "a.json" });
        let words = [words, &["last", "-o", text(&file)]].concat();
        lab.kurabe(&words).is_refusal(7, &["cannot write", "No space left", "name a file elsewhere"]);
        assert_eq!(names(mount.point()), before, "{words:?}");
    }
}

#[test]
fn on_a_full_disk_runs_are_listed_and_what_is_new_is_refused_with_the_reason() {
    let lab = Lab::new();
    let Some(mount) = Mount::new("tmpfs", "none", "size=2m", &lab.beside("mnt")) else { return };
    let store = mount.point().join("kurabe.db");
    let run = ["run", "model:ideal-ram-disk", "--profile", "quick", "--time", "5ms", "--db", text(&store)];
    lab.kurabe(&run).ok();
    fill(mount.point());
    let listed = lab.kurabe(&["list", "--json", "--db", text(&store)]).ok();
    assert_eq!(listed.json_lines().len(), 1, "{listed:#?}");
    lab.kurabe(&["show", "--db", text(&store)]).ok();
    lab.kurabe(&run).is_refusal(9, &[text(&store), "No space left on device", "free some space"]);
    let new = mount.point().join("new/kurabe.db");
    // If `--db` does not name the store, its folder is created.
    for words in [&["import", "/dev/null"][..], &run[..6]] {
        let mut kurabe = lab.command(words);
        kurabe.env("KURABE_DB", &new);
        Live::start(kurabe).end().is_refusal(9, &["No space left on device", "free some space"]);
    }
    // The store can be read even if there is no room for a journal.
    assert_eq!(lab.kurabe(&["list", "--json", "--db", text(&store)]).ok().json_lines().len(), 1);
    assert!(!names(mount.point()).iter().any(|name| name.contains("probe")), "{:?}", names(mount.point()));
}

#[test]
fn a_quota_that_is_used_up_is_told_apart_from_a_full_disk() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) {
        return;
    }
    let options = "usrquota,usrquota_block_hardlimit=1m,mode=0777";
    let Some(mount) = Mount::new("tmpfs", "none", options, &lab.beside("mnt")) else { return };
    let target = mount.point().join("target");
    std::fs::create_dir(&target).and_then(|()| chown(&target, NOBODY, NOBODY)).expect("a directory");
    let words = ["run", text(&target), "--rw", "read", "--time", "100ms", "--size", "8m", "--buffered"];
    let ended = Live::start(lab.wrapped(&AS_NOBODY, &words)).end();
    ended.is_refusal(7, &["quota", "the disk quota is used up"]);
    assert!(names(&target).is_empty(), "{:?}", names(&target));
    let ballast = "head -c 2m /dev/zero > \"$0\"; true";
    let mut filling = std::process::Command::new(AS_NOBODY[0]);
    filling.args(&AS_NOBODY[1..]).args(["sh", "-c", ballast, text(&target.join("ballast"))]);
    Live::start(filling).end();
    let store = target.join("kurabe.db");
    let run = ["run", "model:ideal-ram-disk", "--profile", "quick", "--time", "5ms", "--db", text(&store)];
    let ended = Live::start(lab.wrapped(&AS_NOBODY, &run)).end();
    ended.is_refusal(9, &["quota", "the disk quota is used up", "--db"]);
}

/// Mounts a read-only file system that contains a store and a directory: squashfs, or a read-only
/// bind mount if squashfs is not available.
fn read_only(lab: &Lab, from: &Path) -> Option<Mount> {
    let (image, point) = (lab.beside("image"), lab.beside("mnt"));
    if system("mksquashfs", &[text(from), text(&image), "-quiet", "-no-progress"]).is_some()
        && let Some(mount) = Mount::new("squashfs", text(&image), "loop,ro", &point)
    {
        return Some(mount);
    }
    eprintln!("no squashfs here: a read-only bind mount stands for it");
    std::fs::create_dir_all(&point).expect("a directory");
    if system("mount", &["--bind", text(from), text(&point)]).is_none() {
        skip(MOUNT);
        return None;
    }
    let mount = Mount::over(&point);
    mount.again("bind,ro");
    Some(mount)
}

#[test]
fn a_read_only_folder_says_that_it_is_as_a_target_and_as_the_place_of_the_store() {
    let lab = Lab::new();
    let from = lab.beside("from");
    std::fs::create_dir(&from).expect("a directory");
    let run = ["run", "model:ideal-ram-disk", "--profile", "quick", "--time", "5ms", "--db"];
    lab.kurabe(&[&run[..], &[text(&from.join("kurabe.db"))]].concat()).ok();
    let Some(mount) = read_only(&lab, &from) else { return };
    lab.refuses(mount.point(), &["--size", "4m"], 5, &["Read-only file system", "squashfs"]);
    let store = mount.point().join("kurabe.db");
    assert_eq!(lab.kurabe(&["list", "--json", "--db", text(&store)]).ok().json_lines().len(), 1);
    let says = ["Read-only file system", "choose another location with --db"];
    for place in [store, mount.point().join("new.db")] {
        lab.kurabe(&[&run[..], &[text(&place)]].concat()).is_refusal(9, &says);
    }
    let mut kurabe = lab.command(&run[..run.len() - 1]);
    kurabe.env("KURABE_DB", mount.point().join("new/kurabe.db"));
    Live::start(kurabe).end().is_refusal(9, &says);
}
