//! Claims on real loop devices.

use crate::host::system::{LoopDevice, SIZE_BYTES, claims_of, run};
use kurabe_host::{ObserveOptions, contents, observe};
use kurabe_testkit::needs::{needs, skip};
use std::fs::File;
use std::path::Path;
use std::process::Command;

#[test]
fn an_empty_loop_device_is_free_and_holds_nothing() {
    let Some(device) = LoopDevice::new() else { return };
    assert_eq!(device.holders(), [""; 0]);
    assert_eq!(contents(&device.node).expect("an answer"), None);
}

#[test]
fn a_mounted_file_system_is_a_claim_and_an_unmounted_one_is_content() {
    for (make, flags, kind) in
        [("mkfs.ext4", "-q", "ext4"), ("mkfs.btrfs", "-q", "btrfs"), ("mkfs.xfs", "-q", "XFS")]
    {
        let Some(device) = LoopDevice::new() else { return };
        if run(make, &[flags, device.node()]).is_none() {
            eprintln!("skipped {kind}: {make} is not there or refuses {SIZE_BYTES} bytes");
            continue;
        }
        assert_eq!(device.holders(), [""; 0], "{kind} unmounted");
        assert_eq!(contents(&device.node).expect("an answer").as_deref(), Some(kind));
        if !device.mount() {
            eprintln!("skipped {kind}: the kernel does not mount it");
            continue;
        }
        let held = device.holders();
        let point = device.point();
        assert!(held.contains(&format!("mounted on {}", point.display())), "{kind}: {held:?}");

        let link = device.directory.path().join("by-id");
        std::os::unix::fs::symlink(&device.node, &link).expect("a link");
        assert_eq!(device.holders_of(&link), held, "{kind}: through a link");

        let options = ObserveOptions { with_serial: false, salt: b"" };
        let seen = observe(&point, &options);
        let file_system = seen.file_system.clone().expect("a file system");
        assert_eq!(file_system.kind.as_deref(), Some(kind.to_lowercase().as_str()));
        assert_eq!(seen.devices.len(), 1, "{kind}: {seen:#?}");
        assert_eq!(seen.devices[0].name, device.name());

        device.unmount();
        assert_eq!(device.holders(), [""; 0], "{kind} unmounted again");
    }
}

#[test]
fn swap_is_a_claim_in_use_and_by_its_signature() {
    let Some(device) = LoopDevice::new() else { return };
    if !needs("mkswap") {
        return;
    }
    run("mkswap", &[device.node()]).expect("mkswap formats it");
    assert_eq!(device.holders(), ["carries a signature of swap"]);
    if run("swapon", &[device.node()]).is_some() {
        assert!(device.holders().contains(&"in use as swap".to_owned()));
        run("swapoff", &[device.node()]).expect("swapped off");
    }
    device.wipe();
    assert_eq!(device.holders(), [""; 0]);
}

#[test]
fn an_exclusive_opener_is_found_without_any_other_trace() {
    use std::os::unix::fs::OpenOptionsExt;
    let Some(device) = LoopDevice::new() else { return };
    let exclusive = i32::try_from(rustix::fs::OFlags::EXCL.bits()).expect("a flag");
    let holder = File::options().read(true).custom_flags(exclusive).open(&device.node).expect("opened");
    let held = device.holders();
    assert!(held.len() == 1 && held[0].starts_with("locked by"), "{held:?}");
    drop(holder);
    assert_eq!(device.holders(), [""; 0]);
}

#[test]
fn a_process_that_writes_to_it_is_found() {
    let Some(device) = LoopDevice::new() else { return };
    let mut writer = Command::new("sleep")
        .arg("60")
        .stdin(std::process::Stdio::from(
            File::options().read(true).write(true).open(&device.node).expect("opened"),
        ))
        .spawn()
        .expect("started");
    let held = device.holders();
    writer.kill().expect("killed");
    writer.wait().expect("waited");
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(
        held[0].starts_with("open for writing in ") && held[0].contains(&writer.id().to_string()),
        "{held:?}"
    );
    assert_eq!(device.holders(), [""; 0]);
}

#[test]
fn a_partition_in_use_holds_its_disk() {
    let Some(mut device) = LoopDevice::new() else { return };
    device.write_partition_table();
    device.attach_with_partitions();
    let node = device.node().to_owned();
    let (first, second) = (format!("{node}p1"), format!("{node}p2"));
    if !needs("mkfs.ext4") {
        return;
    }
    if !Path::new(&first).exists() {
        skip("no partitions on loop devices");
        return;
    }
    run("mkfs.ext4", &["-q", &first]).expect("mkfs.ext4 formats it");
    let name = device.name();
    assert_eq!(
        contents(&device.node).expect("an answer"),
        Some(format!("MBR ({name}p1: ext4, {name}p2: ?)"))
    );
    run("mount", &[&first, device.point().to_str().expect("a name")]).expect("mounted");
    let held: Vec<String> = claims_of(&device.node).into_iter().filter_map(|claim| claim.device).collect();
    assert_eq!(held, [format!("{name}p1")], "the disk is held by its partition");
    assert!(claims_of(Path::new(&second)).is_empty(), "the neighbour is free");
    device.unmount();
    assert!(claims_of(&device.node).is_empty());
}

#[test]
fn what_libblkid_alone_calls_a_member_is_a_claim() {
    let Some(device) = LoopDevice::new() else { return };
    if !needs("wipefs") || !needs("mke2fs") {
        return;
    }
    run("mke2fs", &["-q", "-F", "-O", "journal_dev", device.node()]).expect("mke2fs formats it");
    assert_eq!(device.holders(), ["carries a signature of jbd"], "the journal of a file system elsewhere");
    device.wipe();
    assert_eq!(device.holders(), [""; 0]);
}
