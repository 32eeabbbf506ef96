//! Storage in use is never written, under any name: exit code 6, the error names the holder, and no
//! byte changes.

use crate::lab::{Ended, Lab, Live, SHORT, names, text};
use crate::system::{AS_NOBODY, LoopDevice, Mount, NOBODY, Running, Stacked, can_be_nobody, system};
use kurabe_testkit::needs::needs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SIZE: u64 = 32 << 20;

/// Runs with consent to destroy a device. `losetup -f` of another program on this machine opens the
/// device briefly, and kurabe rightly names it, so the run is repeated.
fn destroy(lab: &Lab, target: &Path) -> Ended {
    let words = [&SHORT[..], &["--quiet", "--destroy-data-on", text(target)]].concat();
    for _ in 0..10 {
        let ended = lab.run(target, &words);
        if !ended.err.contains("in losetup (process") {
            return ended;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    lab.run(target, &words)
}

/// Runs with consent to overwrite a file.
fn overwrite(lab: &Lab, target: &Path) -> Ended {
    lab.run(target, &[&SHORT[..], &["--quiet", "--write-existing"]].concat())
}

/// Returns a device with a mounted file system, and a hard link to its backing file.
fn mounted() -> Option<(LoopDevice, Mount, PathBuf)> {
    let device = LoopDevice::new(SIZE)?;
    let mount = device.mount_ext4()?;
    let link = device.beside("link");
    std::fs::hard_link(device.image(), &link).expect("a hard link");
    Some((device, mount, link))
}

#[test]
fn a_device_that_is_open_for_writing_under_another_name_is_not_written() {
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let lab = Lab::new();
    let (node, link) = (device.other_node("node"), device.beside("link"));
    std::fs::hard_link(&node, &link).expect("a hard link");
    for name in [&node, &link] {
        let writer = Running::writer(name);
        destroy(&lab, device.node()).is_refusal(6, &["in use", "open for writing in", &writer.process()]);
        destroy(&lab, &node).is_refusal(6, &["in use", "open for writing in", &writer.process()]);
    }
    let writer = Running::writer(&link);
    std::fs::remove_file(&link).expect("deleted");
    destroy(&lab, device.node()).is_refusal(6, &["in use", "open for writing in", &writer.process()]);
    assert!(lab.list().is_empty());
    assert!(device.contents().iter().all(|byte| *byte == 0), "not a byte is written");
}

#[test]
fn a_device_mounted_in_another_mount_namespace_is_not_written() {
    let Some((device, mount, _)) = mounted() else { return };
    let lab = Lab::new();
    let point = mount.point().to_owned();
    drop(mount);
    let script = "mount \"$0\" \"$1\" && echo ready && exec sleep 60";
    let words =
        ["--mount", "--propagation", "private", "sh", "-c", script, text(device.node()), text(&point)];
    let Some(other) = Running::start("unshare", &words) else { return };
    let before = device.contents();
    destroy(&lab, device.node()).is_refusal(6, &["mounted on", text(&point), &other.process()]);
    assert!(device.contents() == before, "not a byte changes");
    drop(other);
}

#[test]
fn a_loop_device_that_shares_the_bytes_of_a_mounted_one_is_not_written() {
    let Some((device, mount, link)) = mounted() else { return };
    let lab = Lab::new();
    let elsewhere = lab.beside("bound");
    let Some(bound) = Mount::new("none", text(link.parent().expect("a directory")), "bind", &elsewhere)
    else {
        return;
    };
    let over_hard_link = Stacked::over(&link).expect("a loop device");
    let over_bind_mount = Stacked::over(&bound.point().join("image")).expect("a loop device");
    let second = device.stacked().expect("a loop device");
    let third = Stacked::over(Path::new(second.node())).expect("a loop device");
    let before = device.contents();
    for other in [&over_hard_link, &over_bind_mount, &third] {
        destroy(&lab, Path::new(other.node())).is_refusal(6, &["mounted on", text(mount.point())]);
    }
    assert!(lab.list().is_empty());
    assert!(device.contents() == before, "not a byte changes");
    drop((third, second, over_bind_mount, over_hard_link, bound));
}

#[test]
fn a_signature_of_what_may_be_in_use_is_named_and_the_device_not_written() {
    use std::os::unix::fs::FileExt;
    let Some(device) = LoopDevice::new(SIZE) else { return };
    let lab = Lab::new();
    // The file is closed immediately, because an image open for writing counts as a claim on the
    // device.
    let write = |offset: u64, bytes: &[u8]| {
        let image = std::fs::File::options().write(true).open(device.image()).expect("the image");
        image.write_all_at(bytes, offset).expect("written");
        // The loop device caches what it read.
        system("blockdev", &["--flushbufs", text(device.node())]).expect("forgotten");
    };
    let dmvdo: (u64, &[u8]) = (0, b"dmvdo001");
    let promise: (u64, &[u8]) = (SIZE - 3087 * 512, b"Promise Technology, Inc.");
    for ((offset, magic), kind) in [(dmvdo, "VDO"), (promise, "Promise RAID")] {
        write(offset, magic);
        let before = device.contents();
        let words = format!("carries a signature of {kind}");
        destroy(&lab, device.node()).is_refusal(6, &["in use", &words, "wipefs"]);
        assert!(device.contents() == before, "not a byte changes");
        write(offset, &vec![0; magic.len()]);
    }
    assert!(lab.list().is_empty());
}

#[test]
fn the_image_under_a_loop_device_is_not_written_under_any_name() {
    let Some((device, mount, link)) = mounted() else { return };
    let lab = Lab::new();
    let before = device.contents();
    for name in [device.image(), &link] {
        overwrite(&lab, name).is_refusal(6, &["mounted on", text(mount.point()), "stop the processes"]);
    }
    assert!(device.contents() == before, "not a byte changes");
    drop(mount);
    let before = device.contents();
    let stands = format!("used by loop device {}", device.node().file_name().expect("a name").display());
    overwrite(&lab, &link).is_refusal(6, &[&stands]);
    assert!(lab.list().is_empty());
    assert!(device.contents() == before, "not a byte changes");
}

#[test]
fn a_file_that_somebody_writes_to_or_has_locked_is_not_written() {
    if !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let contents = vec![7; 16 << 20];
    let file = lab.write("disk.img", &contents);
    let link = lab.beside("link");
    std::fs::hard_link(&file, &link).expect("a hard link");
    let writer = Running::writer(&link);
    overwrite(&lab, &file).is_refusal(6, &["in use", "open for writing in sleep", &writer.process()]);
    drop(writer);
    for take in ["fcntl.flock(file, fcntl.LOCK_EX)", "fcntl.lockf(file, fcntl.LOCK_SH)"] {
        let program = format!(
            "import fcntl, sys, time; file = open(sys.argv[1], 'rb'); {take}; print('ready', flush=True); \
             time.sleep(60)"
        );
        let Some(locker) = Running::start("python3", &["-c", &program, text(&link)]) else { return };
        overwrite(&lab, &file).is_refusal(6, &["in use", "locked by", &locker.process()]);
    }
    assert!(lab.list().is_empty());
    assert!(std::fs::read(&file).expect("the file") == contents, "not a byte changes");
    overwrite(&lab, &file).ok();
    assert!(std::fs::read(&file).expect("the file") != contents, "no process uses it any more");
}

#[test]
fn an_ordinary_user_does_not_write_to_a_file_that_a_hidden_process_writes_to() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) {
        return;
    }
    let contents = vec![7; 4 << 20];
    let file = lab.write("disk.img", &contents);
    std::os::unix::fs::chown(&file, NOBODY, NOBODY).expect("given away");
    let words = [
        "run",
        text(&file),
        "--quiet",
        "--rw",
        "write",
        "--bs",
        "64k",
        "--passes",
        "1",
        "--size",
        "1m",
        "--write-existing",
    ];
    let as_nobody = || Live::start(lab.wrapped(&AS_NOBODY, &words)).end();
    let writer = Running::writer(&file);
    as_nobody().is_refusal(
        6,
        &[
            "in use",
            "open for writing in the kernel or in a program that is not \
        visible from here",
        ],
    );
    assert!(std::fs::read(&file).expect("the file") == contents, "not a byte changes");
    drop(writer);
    as_nobody().ok();
    assert!(std::fs::read(&file).expect("the file") != contents, "no other process uses it any more");
}

#[test]
fn the_store_in_use_is_neither_written_nor_read_under_any_name() {
    let lab = Lab::new();
    let run = lab.model_run("1ms");
    let store = lab.store();
    let (hard, soft) = (lab.beside("hard"), lab.beside("soft"));
    std::fs::hard_link(&store, &hard).expect("a hard link");
    std::os::unix::fs::symlink(&store, &soft).expect("a link");
    // While another kurabe measures, the journal exists next to the store.
    let target = lab.target();
    let mut other = lab.start(&target, &["--rw", "randread", "--size", "4m", "--time", "20s"]);
    other.wait_for_out("\"event\":\"repetition_started\"");
    let beside = |end: &str| PathBuf::from(format!("{}{end}", store.display()));
    for name in [store.clone(), hard, soft, beside("-journal")] {
        let write = ["--quiet", "--size", "4k", "--bs", "512", "--rw", "write", "--write-existing"];
        let read = ["--quiet", "--size", "4k", "--bs", "512", "--rw", "read"];
        for words in [&write[..], &read] {
            let ended = lab.run(&name, words);
            ended.is_refusal(6, &["kurabe itself uses it", "another file"]);
        }
    }
    other.signal(rustix::process::Signal::INT);
    other.end();
    assert!(names(&target).is_empty());
    assert_eq!(lab.record(&run)["header"]["id"], run.as_str(), "the store is whole");
    assert_eq!(system("sqlite3", &[text(&store), "pragma integrity_check"]).unwrap_or("ok".to_owned()), "ok");
}
