//! A device in use under another name, as its holder or as its target: the object is what counts,
//! not the name.

use crate::host::system::{Above, Bound, LoopDevice, Running, claims_of, open_to_write, text};
use kurabe_testkit::needs::{needs, skip};
use std::path::Path;
use std::process::Command;

/// Asserts that a process is reported as a writer of the target.
fn assert_written_by(target: &Path, writer: &Running) {
    let words = words_on(target);
    let process = format!("(process {})", writer.pid());
    assert!(
        words.iter().any(|by| by.starts_with("open for writing in ") && by.ends_with(&process)),
        "{} is not held by {process}: {words:?}",
        target.display()
    );
}

fn words_on(target: &Path) -> Vec<String> {
    claims_of(target).into_iter().map(|claim| claim.by.en).collect()
}

/// Asserts that a target is claimed by a mount on a point.
fn assert_mounted(target: &Path, point: &Path) {
    let words = words_on(target);
    assert!(words.contains(&format!("mounted on {}", point.display())), "{words:?}");
}

#[test]
fn a_writer_through_a_node_outside_dev_is_found() {
    let Some(device) = LoopDevice::new() else { return };
    let node = device.other_node("node");
    let writer = Running::with_input(open_to_write(&node));
    assert_written_by(&device.node, &writer);
    assert_written_by(&node, &writer);
}

#[test]
fn a_writer_through_a_hard_link_of_a_node_is_found() {
    let Some(device) = LoopDevice::new() else { return };
    let (node, link) = (device.other_node("node"), device.beside("link"));
    std::fs::hard_link(&node, &link).expect("a hard link");
    let writer = Running::with_input(open_to_write(&link));
    assert_written_by(&device.node, &writer);
    assert_written_by(&node, &writer);
}

#[test]
fn a_writer_through_a_node_that_was_deleted_is_found() {
    let Some(device) = LoopDevice::new() else { return };
    let node = device.other_node("node");
    let writer = Running::with_input(open_to_write(&node));
    std::fs::remove_file(&node).expect("deleted");
    assert_written_by(&device.node, &writer);
}

#[test]
fn a_target_through_a_node_outside_dev_is_looked_at_as_the_device_it_is() {
    let Some(device) = LoopDevice::new() else { return };
    let node = device.other_node("node");
    if device.mount_ext4() {
        assert_mounted(&node, &device.point());
    }
}

#[test]
fn a_mapping_whose_descriptor_is_closed_is_found() {
    if !needs("python3") {
        return;
    }
    let Some(device) = LoopDevice::new() else { return };
    let program = "import mmap, os, sys, time\n\
        fd = os.open(sys.argv[1], os.O_RDWR)\n\
        kept = mmap.mmap(fd, 4096)\n\
        os.close(fd)\n\
        for other in os.listdir('/proc/self/fd'):\n    \
            if os.path.realpath('/proc/self/fd/' + other).startswith(sys.argv[1]): os.close(int(other))\n\
        print('ready', flush=True)\n\
        time.sleep(60)\n";
    let Some(mapper) = Running::start(Command::new("python3").args(["-c", program, text(&device.node)]))
    else {
        skip("python3 cannot hold a file here");
        return;
    };
    let words = words_on(&device.node);
    let process = format!("(process {})", mapper.pid());
    assert!(
        words.iter().any(|by| by.starts_with("mapped for writing in ") && by.ends_with(&process)),
        "{words:?}"
    );
}

#[test]
fn a_mount_in_another_mount_namespace_is_named_with_who_sees_it() {
    let Some(device) = LoopDevice::new() else { return };
    if !device.mount_ext4() {
        return;
    }
    device.unmount();
    let script = format!("mount {} {} && echo ready && exec sleep 60", device.node(), text(&device.point()));
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
    let Some(other) = Running::start(&mut command) else {
        skip("no mount namespace (needs root and unshare)");
        return;
    };
    // The process is still `sh` when it reports that it is ready, and `sleep` an instant later.
    let (mounted, seen) = (
        format!("mounted on {} as ", device.point().display()),
        format!(" (process {}) sees it", other.pid()),
    );
    let words = words_on(&device.node);
    assert!(words.iter().any(|word| word.starts_with(&mounted) && word.ends_with(&seen)), "{words:?}");
}

#[test]
fn a_loop_device_over_a_hard_link_of_a_mounted_image_is_held() {
    let Some(device) = LoopDevice::new() else { return };
    if !device.mount_ext4() {
        return;
    }
    let link = device.beside("link");
    std::fs::hard_link(device.image(), &link).expect("a hard link");
    let other = Above::over(&link);
    assert_mounted(&other.node, &device.point());
}

#[test]
fn a_loop_device_over_an_image_whose_first_name_was_deleted_is_held() {
    let Some(device) = LoopDevice::new() else { return };
    if !device.mount_ext4() {
        return;
    }
    let link = device.beside("link");
    std::fs::hard_link(device.image(), &link).expect("a hard link");
    std::fs::remove_file(device.image()).expect("deleted");
    let other = Above::over(&link);
    assert_mounted(&other.node, &device.point());
}

#[test]
fn a_loop_device_over_a_bind_mount_of_a_mounted_image_is_held() {
    let Some(device) = LoopDevice::new() else { return };
    if !device.mount_ext4() {
        return;
    }
    let Some(bound) = Bound::new(device.directory.path(), device.beside("bound")) else { return };
    let other = Above::over(&bound.point().join("image"));
    assert_mounted(&other.node, &device.point());
}

#[test]
fn three_loop_devices_on_one_another_are_one_device() {
    let Some(device) = LoopDevice::new() else { return };
    let second = Above::over(&device.node);
    let third = Above::over(&second.node);
    assert!(words_on(&third.node).is_empty(), "no process uses any of them");
    if !device.mount_ext4() {
        return;
    }
    assert_mounted(&third.node, &device.point());
    let link = device.beside("link");
    std::fs::hard_link(device.image(), &link).expect("a hard link");
    let beside = Above::over(&link);
    let further = Above::over(&beside.node);
    assert_mounted(&further.node, &device.point());
    drop((further, beside, third, second));
}

#[test]
fn a_writer_to_the_image_under_a_loop_device_is_found() {
    let Some(device) = LoopDevice::new() else { return };
    let link = device.beside("link");
    std::fs::hard_link(device.image(), &link).expect("a hard link");
    let writer = Running::with_input(open_to_write(&link));
    assert_written_by(&device.node, &writer);
}
