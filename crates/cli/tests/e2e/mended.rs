//! File systems that become read-only, are shut down or are unmounted during a run, and work again
//! later: one error, the measured cells are stored, and no test file remains.

use crate::lab::{Ended, Lab, Live, list_of, names, notices, text};
use crate::system::{LoopDevice, Mount, system};
use kurabe_testkit::needs::{needs, skip};
use std::path::{Path, PathBuf};

const SIZE: u64 = 64 << 20;
/// A short cell, a pause in which the test breaks the file system, and a cell that meets the
/// failure.
const PROFILE: &str = "\
schema = 1
name = \"two-cells\"
title = { en = \"two cells\", ja = \"two cells\" }
statistic = \"mean\"
[rules]
size = \"4 MiB\"
runs = 1
time = \"100 ms\"
interval = \"2s\"
order = \"by-step\"
[[step]]
kind = \"io\"
label = \"first\"
pattern = \"sequential\"
block_size = \"64 KiB\"
directions = [\"write\"]
passes = 1
[[step]]
kind = \"io\"
label = \"second\"
pattern = \"sequential\"
block_size = \"64 KiB\"
directions = [\"write\"]
passes = 1
";

/// Starts a run and returns in the pause between its cells.
fn in_the_pause(lab: &Lab, target: &Path) -> Live {
    let profile = lab.write("two-cells.toml", PROFILE);
    let mut live = lab.start(target, &["--profile", text(&profile), "--engine", "threads"]);
    live.wait_for_out("\"event\":\"pause\"");
    live
}

/// Checks that the run ended with one error, not about leftover files, and that its record has the
/// first cell and a notice about its test file.
fn is_kept_with_its_leftover(lab: &Lab, ended: &Ended, test_file: &Path, says: &str) {
    assert!(matches!(ended.code(), Some(4 | 5 | 8)), "{ended:#?}");
    let errors = ended.err.lines().filter(|line| line.starts_with("kurabe: ")).count();
    assert!(errors == 1 && ended.err.contains(says), "{ended:#?}");
    let record = ended.json_lines().into_iter().find(|line| line["event"] == "record").expect("a record");
    let record = &record["run"];
    assert_eq!(
        (&record["status"], &list_of(&record["cells"])[0]["label"]),
        (&"failed".into(), &"first".into())
    );
    let remarks = notices(record, "other");
    assert!(remarks.iter().any(|text| text.contains(test_file.to_str().expect("UTF-8"))), "{remarks:?}");
    let listed = lab.kurabe(&["list"]).ok();
    assert!(listed.out.contains("failed"), "{listed:#?}");
    assert!(listed.err.contains("cannot remove"), "it is tried at every start: {listed:#?}");
}

/// Checks that the next start removes the test file once the file system works, and that the run
/// stays as it was.
fn goes_when_that_works(lab: &Lab, test_file: &Path) {
    assert!(test_file.exists(), "it was left behind");
    let listed = lab.kurabe(&["list"]).ok();
    assert!(!test_file.exists() && listed.err.contains(text(test_file)), "{listed:#?}");
    assert!(listed.out.contains("failed"), "{listed:#?}");
    assert!(lab.kurabe(&["list"]).ok().err.is_empty(), "it says so once");
    assert_eq!(list_of(&lab.record("last")["cells"]).len(), 1);
}

fn only_file(folder: &Path) -> PathBuf {
    let mut names = names(folder);
    names.retain(|name| name != "lost+found");
    assert_eq!(names.len(), 1, "{names:?}");
    folder.join(names.remove(0))
}

/// Returns a loop device with a mounted file system.
fn made(kind: &str, options: &str) -> Option<(LoopDevice, Mount)> {
    let device = LoopDevice::new(if kind == "xfs" { 400 << 20 } else { SIZE })?;
    let mkfs = format!("mkfs.{kind}");
    if !needs(&mkfs) {
        return None;
    }
    system(&mkfs, &["-q", text(device.node())]).expect("it formats");
    let point = device.image().with_file_name("mnt");
    let mount = Mount::new(kind, text(device.node()), options, &point)?;
    Some((device, mount))
}

#[test]
fn a_file_system_that_turns_read_only_keeps_the_cells_and_gives_the_test_file_up_later() {
    let Some((device, mount)) = made("ext4", "errors=remount-ro") else { return };
    let lab = Lab::new();
    let live = in_the_pause(&lab, mount.point());
    let test_file = only_file(mount.point());
    let name = device.node().file_name().and_then(|name| name.to_str()).expect("a name");
    let trigger = format!("/sys/fs/ext4/{name}/trigger_fs_error");
    if std::fs::write(&trigger, "1").is_err() {
        skip("ext4 has no trigger_fs_error");
        return;
    }
    let ended = live.end();
    is_kept_with_its_leftover(&lab, &ended, &test_file, "Read-only file system");
    drop(mount);
    device.wait_until_free();
    system("e2fsck", &["-fy", text(device.node())]);
    let Some(mount) =
        Mount::new("ext4", text(device.node()), "defaults", &device.image().with_file_name("mnt"))
    else {
        return;
    };
    goes_when_that_works(&lab, &mount.point().join(test_file.file_name().expect("a name")));
}

#[test]
#[ignore = "slow"]
fn a_file_system_that_is_shut_down_keeps_the_cells_and_gives_the_test_file_up_later() {
    for kind in ["ext4", "xfs"] {
        let Some((device, mount)) = made(kind, "defaults") else { continue };
        let lab = Lab::new();
        let live = in_the_pause(&lab, mount.point());
        let test_file = only_file(mount.point());
        // The log is flushed, so that the file exists afterwards.
        if !needs("xfs_io") {
            return;
        }
        if system("xfs_io", &["-x", "-c", "shutdown -f", text(mount.point())]).is_none() {
            skip(format_args!("no shutdown of {kind}"));
            continue;
        }
        let ended = live.end();
        is_kept_with_its_leftover(&lab, &ended, &test_file, "error");
        drop(mount);
        device.wait_until_free();
        let point = device.image().with_file_name("mnt");
        let Some(mount) = Mount::new(kind, text(device.node()), "defaults", &point) else { continue };
        goes_when_that_works(&lab, &mount.point().join(test_file.file_name().expect("a name")));
    }
}

#[test]
fn a_file_system_that_is_unmounted_meanwhile_is_measured_to_the_end_and_left_clean() {
    let Some((device, mount)) = made("ext4", "defaults") else { return };
    let lab = Lab::new();
    let live = in_the_pause(&lab, mount.point());
    system("umount", &["-l", text(mount.point())]).expect("unmounted as soon as no process uses it");
    assert!(names(mount.point()).is_empty(), "its name is that of an empty folder now");
    live.end().ok();
    assert!(names(mount.point()).is_empty(), "nothing was made there");
    drop(mount);
    device.wait_until_free();
    let point = device.image().with_file_name("mnt");
    let Some(mount) = Mount::new("ext4", text(device.node()), "defaults", &point) else { return };
    assert_eq!(names(mount.point()), ["lost+found"]);
}
