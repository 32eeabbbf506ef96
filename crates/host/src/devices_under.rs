//! The numbers of all block devices that I/O to a path passes through, from the top down.
//!
//! This is the same chain as in [`crate::chain`], but as numbers, for tracing: the device of the
//! file system, its disk, the devices below, and under a loop device the devices of its file. Each
//! number occurs once.

use crate::chain::{PathInspector, Walk};
use crate::platform::{self, Number};
use crate::roots::Roots;
use kurabe_core::environment::Environment;
use std::path::Path;

/// Returns the block devices under a path by number (major, minor), from the top down. Empty if
/// none is known (memory, the network, another operating system).
pub fn devices_under(path: &Path) -> Vec<(u32, u32)> {
    devices_under_in(&Roots::default(), path, true, &|path| platform::subject(path).ok())
}

/// Returns the block devices directly below a path's file system, or the device at the path itself,
/// without the devices beneath them. Members of a stack, the disk of a partition, and the storage
/// of a loop device's file would see the same operations again.
pub fn devices_right_under(path: &Path) -> Vec<(u32, u32)> {
    devices_under_in(&Roots::default(), path, false, &|path| platform::subject(path).ok())
}

fn devices_under_in(roots: &Roots, path: &Path, to_the_bottom: bool, look: PathInspector<'_>) -> Vec<Number> {
    let mut walk = Walk::new(roots, look, None);
    walk.to_the_bottom = to_the_bottom;
    if let Some(subject) = look(path) {
        walk.walk_subject(&subject, 0, &mut Environment::default());
    }
    walk.numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::subject::{Subject, SubjectKind, stored};

    #[test]
    fn the_chain_goes_from_the_file_system_through_loop_and_stack_to_the_disks() {
        let fake = Fake::new();
        fake.disk("pci/sda", "8:0");
        fake.partition("pci/sda/sda1", "8:1", 2048, 10_000);
        fake.disk("pci/sdb", "8:16");
        fake.disk("virtual/dm-0", "253:0");
        fake.stack("virtual/dm-0", "pci/sda/sda1");
        fake.stack("virtual/dm-0", "pci/sdb");
        fake.disk("virtual/loop0", "7:0");
        fake.file("sys/devices/virtual/loop0/loop/backing_file", "/images/disk.img\n");
        fake.mounts(
            "20 1 253:0 / / rw - ext4 /dev/dm-0 rw\n21 20 7:0 / /mnt rw - ext4 /dev/loop0 rw\n\
             22 20 0:30 / /tmp rw - tmpfs tmpfs rw\n",
        );
        let look = |path: &Path| match path.to_str()? {
            "/mnt/file" => Some(stored(path, (7, 0))),
            "/images/disk.img" => Some(stored(path, (253, 0))),
            "/tmp/x" => Some(stored(path, (0, 30))),
            "/dev/sdb" => Some(Subject { kind: SubjectKind::Block((8, 16)), ..stored(path, (0, 5)) }),
            _ => None,
        };
        let reaching = |reach, path: &str| devices_under_in(&fake.roots, Path::new(path), reach, &look);
        let under = |path: &str| reaching(true, path);
        assert_eq!(under("/mnt/file"), [(7, 0), (253, 0), (8, 1), (8, 0), (8, 16)]);
        assert_eq!(under("/dev/sdb"), [(8, 16)]);
        assert_eq!(under("/tmp/x"), []);
        assert_eq!(under("/gone"), []);
        let right_under = |path: &str| reaching(false, path);
        assert_eq!(right_under("/mnt/file"), [(7, 0)]);
        assert_eq!(right_under("/images/disk.img"), [(253, 0)]);
        assert_eq!(right_under("/tmp/x"), []);
    }
}
