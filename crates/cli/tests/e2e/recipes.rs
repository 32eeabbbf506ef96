//! The recipes of `recipes/`: real file systems on served models, at small sizes. Each must end
//! with its table, leave nothing behind, and agree with virtual time where a ratio is far from 1.

use crate::attaching::can_attach;
use crate::lab::{Ended, Lab, Live, binary, names, text};
use crate::system::system;
use kurabe_testkit::needs::{needs, skip};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

const RECIPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes");

/// Start of the last line if replies of a model were late, because other tests occupied the
/// processor.
const NOT_JUDGED: &str = "Not judged: only ";

/// Serializes the recipes, because each compares real time with virtual time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the programs that every recipe needs, and these, are installed; otherwise
/// reports the skipped test.
fn have(programs: &[&str]) -> bool {
    let common = ["unshare", "losetup", "mkfs.ext4", "awk"];
    let has_all = common.iter().chain(programs).all(|program| needs(program));
    has_all && can_attach()
}

fn command(lab: &Lab, name: &str, sizes: &[(&str, &str)]) -> Command {
    let mut command = lab.wrapped(&["sh", text(&Path::new(RECIPES).join(name))], &[]);
    let temporary = lab.beside("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    command.env("KURABE", binary()).env("TMPDIR", temporary);
    command.envs(sizes.iter().copied());
    command
}

/// Checks that no folder, mount, device or process remains.
fn is_gone(lab: &Lab) {
    assert_eq!(names(&lab.beside("tmp")), [] as [String; 0]);
    let attached: Vec<String> =
        names(&lab.beside("run")).into_iter().filter(|name| name.len() == 16).collect();
    assert_eq!(attached, [] as [String; 0]);
    let loops = system("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]).unwrap();
    assert!(!loops.contains(text(&lab.beside(""))), "{loops}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(text(&lab.beside(""))), "{mounts}");
    assert!(!lab.store().exists());
}

/// Runs a recipe and returns its output.
fn cook(name: &str, sizes: &[(&str, &str)]) -> String {
    let (lab, alone) = (Lab::new(), alone());
    let out = Live::start_patiently(command(&lab, name, sizes)).end().ok().out;
    is_gone(&lab);
    drop(alone);
    let ended = ["in real time.", NOT_JUDGED].iter().any(|words| out.contains(words));
    assert!(out.contains("served  virtual") && ended, "{out}");
    out
}

/// Checks that the line about `what` ends as expected, unless the machine was so busy that nothing
/// is judged.
#[track_caller]
fn ends(out: &str, what: &str, expected: &str) {
    let end = direction(out, what);
    assert!(end == expected || (end == "not judged" && out.contains(NOT_JUDGED)), "{what}: {end}\n{out}");
}

/// Returns the end of the line that begins with `what`.
fn direction<'t>(out: &'t str, what: &str) -> &'t str {
    let line = out.lines().find(|line| line.starts_with(what)).unwrap_or_else(|| panic!("{what}: {out}"));
    line.rsplit("   ").next().unwrap_or(line)
}

#[test]
#[ignore = "slow"]
fn exfat_is_slow_where_its_data_lie_across_the_units_of_the_stick() {
    let has_exfat = std::fs::read_to_string("/proc/filesystems").unwrap().contains("exfat");
    if have(&["mkfs.exfat"]) && (has_exfat || have(&["mount.exfat-fuse"])) {
        let out = cook("exfat-ext4.sh", &[("TIME", "5s")]);
        assert_eq!(direction(&out, "rewrites:"), "the same direction", "{out}");
        assert_eq!(direction(&out, "large file:"), "no direction in virtual time", "{out}");
    }
}

#[test]
#[ignore = "slow"]
fn a_mirror_in_a_box_reads_as_its_link_lets_it() {
    let is_running = system("pidof", &["zfs-fuse"]).is_some();
    if is_running {
        skip("zfs-fuse runs already");
    } else if have(&["zfs-fuse", "zpool", "git"]) {
        let out = cook("zfs-mirror.sh", &[("MIB", "32"), ("FILES", "100"), ("ROUNDS", "1")]);
        // A small effect may look like 1 while other programs run, but must not reverse.
        for what in ["SATA: one disk reads", "three disks: USB reads"] {
            assert_ne!(direction(&out, what), "THE OTHER DIRECTION", "{out}");
        }
        assert!(system("pidof", &["zfs-fuse"]).is_none());
    }
}

#[test]
#[ignore = "slow"]
fn a_copy_within_an_ssd_of_2009_shows_which_one_stutters() {
    if have(&[]) {
        let out = cook("copy-hg2.sh", &[("MIB", "32")]);
        for what in ["DelayRatio of the OCZ Core V2", "the one over the other"] {
            ends(&out, what, "the same direction");
        }
    }
}

#[test]
#[ignore = "slow"]
fn programs_start_from_emulators_as_virtual_time_has_it() {
    if have(&["mcopy", "hcopy", "mkfs.vfat"]) {
        let out = cook("scsi-emulators.sh", &[("FILES", "3")]);
        for what in ["SCSI2SD V6 over the RaSCSI: FAT, read", "the IBM disk over the RaSCSI: HFS, read"] {
            ends(&out, what, "the same direction");
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_recipe_that_is_interrupted_takes_all_of_it_away() {
    if !have(&[]) {
        return;
    }
    let (lab, alone) = (Lab::new(), alone());
    let mut live = Live::start_patiently(command(&lab, "copy-hg2.sh", &[("MIB", "32")]));
    live.wait_for_out("in virtual time");
    live.signal(Signal::TERM);
    let ended: Ended = live.end();
    assert_eq!(ended.code(), Some(143), "{ended:#?}");
    is_gone(&lab);
    drop(alone);
}

#[test]
fn a_recipe_says_what_is_missing() {
    let lab = Lab::new();
    if !have(&[]) {
        return;
    }
    let mut command = command(&lab, "copy-hg2.sh", &[]);
    command.env("KURABE", "/nowhere/kurabe");
    let ended = Live::start(command).end();
    assert_eq!(ended.code(), Some(2), "{ended:#?}");
    assert!(ended.err.contains("KURABE="), "{ended:#?}");
}
