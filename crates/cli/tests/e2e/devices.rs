//! Block devices: read without a flag, written only with consent for that particular device, and
//! never while in use.

use crate::lab::{Ended, Lab, SHORT, list_of, notices, number, text};
use crate::system::{LoopDevice, system};
use kurabe_testkit::needs::{SWAP, needs, skip};
use std::path::Path;
use std::time::Duration;

const SIZE: u64 = 32 << 20;

/// Runs with consent to destroy a device. `losetup -f` of another program on this machine opens the
/// device briefly, and kurabe then rightly refuses, so the run is repeated.
fn destroy(lab: &Lab, target: &Path, consent: &Path) -> Ended {
    let words = [&SHORT[..], &["--quiet", "--json", "--destroy-data-on", text(consent)]].concat();
    for _ in 0..10 {
        let ended = lab.run(target, &words);
        let passing = ["locked by", "open for writing in", "busy"].iter().any(|by| ended.err.contains(by));
        if ended.code() != Some(6) || !passing {
            return ended;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    lab.run(target, &words)
}

#[test]
fn without_a_flag_a_device_is_only_read() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let lab = Lab::new();
    let before = device.contents();
    let record = lab.measure(device.node(), &SHORT);
    assert!(device.contents() == before, "not a byte changes");
    let cells = list_of(&record["cells"]);
    assert_eq!(cells.len(), 3);
    assert!(cells.iter().all(|cell| cell["direction"] == "read"));
    assert_eq!(record["header"]["target"]["kind"], "block_device");
    assert_eq!(record["header"]["target"]["writable"], false);
    let left_out = notices(&record, "writes_left_out");
    assert!(left_out.len() == 1 && left_out[0].contains("--destroy-data-on"), "{left_out:?}");
    assert!(lab.kurabe(&["show"]).ok().out.contains("write tests are skipped"));
}

#[test]
fn with_consent_for_it_a_device_is_written() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let lab = Lab::new();
    let ended = destroy(&lab, device.node(), device.node()).ok();
    let record = &ended.json_lines().pop().expect("a line")["run"];
    assert_eq!(list_of(&record["cells"]).len(), 6);
    assert_eq!(record["header"]["target"]["writable"], true);
    assert!(notices(record, "writes_left_out").is_empty());
    let written = list_of(&record["cells"])
        .iter()
        .flat_map(|cell| list_of(&cell["repetitions"]))
        .map(|repetition| number(&repetition["write"]["bytes"]))
        .sum::<u64>();
    assert!(written > 0);
    assert!(device.contents().iter().any(|byte| *byte != 0), "it was zeros before");
}

#[test]
fn consent_through_a_link_to_the_same_device_counts() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let lab = Lab::new();
    let link = lab.beside("by-id");
    std::os::unix::fs::symlink(device.node(), &link).expect("a link");
    destroy(&lab, device.node(), &link).ok();
}

#[test]
fn consent_for_another_device_does_not_count() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let lab = Lab::new();
    let stacked = device.stacked();
    let others = [
        stacked.as_ref().map(|other| Path::new(other.node())),
        Some(device.image()),
        Some(Path::new("/dev/null")),
    ];
    for other in others.into_iter().flatten() {
        let ended = destroy(&lab, device.node(), other);
        ended.is_refusal(6, &["--destroy-data-on names", text(other), text(device.node())]);
    }
    assert!(lab.list().is_empty());
    assert!(device.contents().iter().all(|byte| *byte == 0), "not a byte is written");
}

#[test]
fn consent_does_not_count_where_the_target_is_no_device() {
    let lab = Lab::new();
    let file = lab.write("file", [0; 8192]);
    for target in [lab.target(), file] {
        for dry in [&[][..], &["--dry-run"]] {
            let consent = ["--destroy-data-on", text(&target)];
            let says = ["--destroy-data-on applies to block devices", text(&target)];
            lab.refuses(&target, &[&SHORT[..], &consent, dry].concat(), 6, &says);
        }
    }
}

#[test]
fn a_mounted_device_is_read_but_never_written() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let Some(mount) = device.mount_ext4() else { return };
    let lab = Lab::new();
    let ended = destroy(&lab, device.node(), device.node());
    ended.is_refusal(6, &["in use", text(mount.point()), "unmount"]);
    assert!(lab.list().is_empty());
    lab.run(device.node(), &SHORT).ok();
    drop(mount);
    destroy(&lab, device.node(), device.node()).ok();
}

#[test]
fn a_device_with_swap_in_use_is_never_written() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    if !needs("mkswap") {
        return;
    }
    let Some(swap) = device.swap() else {
        skip(SWAP);
        return;
    };
    let lab = Lab::new();
    destroy(&lab, device.node(), device.node()).is_refusal(6, &["swap"]);
    drop(swap);
    assert!(lab.list().is_empty());
}

#[test]
fn a_device_under_another_loop_device_is_never_written() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let Some(stacked) = device.stacked() else {
        skip("no loop device over a loop device");
        return;
    };
    let lab = Lab::new();
    let name = stacked.node().rsplit('/').next().expect("a name");
    destroy(&lab, device.node(), device.node()).is_refusal(6, &["in use", name]);
    assert!(lab.list().is_empty());
    assert!(device.contents().iter().all(|byte| *byte == 0), "not a byte is written");
}

#[test]
fn a_device_set_read_only_is_not_written_with_consent_either() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    system("blockdev", &["--setro", text(device.node())]).expect("set read-only");
    let lab = Lab::new();
    let ended = destroy(&lab, device.node(), device.node());
    ended.is_refusal(5, &[text(device.node())]);
    lab.run(device.node(), &SHORT).ok();
}

#[test]
fn a_size_above_the_device_is_refused() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    Lab::new().refuses(device.node(), &["--quiet", "--size", "33m"], 4, &["33 MiB", "32 MiB", "--size"]);
}
