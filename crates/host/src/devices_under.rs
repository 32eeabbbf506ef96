//! The numbers of all block devices that I/O to a path passes, from the top down.
//!
//! The model: the same chain as in [`crate::chain`], but as numbers, for recording: the device of the file system, its
//! disk, the devices that this one is built on, and under a loop device what its file lies on. Each number once.

use crate::block::BlockNode;
use crate::chain::{Look, btrfs_members, sources};
use crate::mount::{self, Mount};
use crate::platform::{self, Number};
use crate::roots::{self, Roots};
use crate::subject::{Subject, SubjectKind};
use std::path::{Path, PathBuf};

/// Deepest chain that is followed.
const DEEPEST: usize = 24;

/// The block devices under a path, by number (major, minor), from the top down; none where nothing is known (memory,
/// the network, another operating system).
pub fn devices_under(path: &Path) -> Vec<(u32, u32)> {
    devices_under_in(&Roots::default(), path, Depth::All, &|path| platform::subject(path).ok())
}

/// The block devices that a path's file system lies on, or the path itself is, without those beneath them: the members of a
/// stack, the disk of a partition and what holds the file of a loop device see the same operations once more.
pub fn devices_right_under(path: &Path) -> Vec<(u32, u32)> {
    devices_under_in(&Roots::default(), path, Depth::First, &|path| platform::subject(path).ok())
}

/// How far down devices are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    First,
    All,
}

fn devices_under_in(roots: &Roots, path: &Path, reach: Depth, look: Look<'_>) -> Vec<Number> {
    let mounts = mount::parse(&roots::read_bytes(&roots.proc.join("self/mountinfo")).unwrap_or_default());
    let mut walk = Walk { roots, mounts: &mounts, look, reach, numbers: Vec::new() };
    walk.path(path, 0);
    walk.numbers
}

struct Walk<'a> {
    roots: &'a Roots,
    mounts: &'a [Mount],
    look: Look<'a>,
    reach: Depth,
    numbers: Vec<Number>,
}

impl Walk<'_> {
    fn path(&mut self, path: &Path, depth: usize) {
        let Some(subject) = (self.look)(path).filter(|_| depth < DEEPEST) else { return };
        match subject.kind {
            SubjectKind::Block(number) => {
                if let Ok(block) = BlockNode::by_number(self.roots, number) {
                    self.block(&block, depth);
                }
            }
            SubjectKind::Stored => self.stored(&subject, depth),
            SubjectKind::Other => {}
        }
    }

    fn stored(&mut self, subject: &Subject, depth: usize) {
        let Some(mount) = mount::holding(self.mounts, &subject.path, subject.dev) else { return };
        // An anonymous number (major 0) is no device.
        let named = [subject.dev, mount.number].into_iter().find(|number| number.0 != 0);
        if let Some(block) = named.and_then(|number| BlockNode::by_number(self.roots, number).ok()) {
            return self.block(&block, depth);
        }
        if mount.kind == "overlay" {
            if let Some(upper) = mount.option("upperdir") {
                self.path(&PathBuf::from(mount::unescape_text(upper.as_bytes())), depth + 1);
            }
            return;
        }
        let mut blocks = sources(self.roots, &mount.source);
        if let Some(first) = blocks.first() {
            let members = btrfs_members(self.roots, &first.name);
            let is_source = |name: &String| blocks.iter().any(|block| block.name == *name);
            let others: Vec<BlockNode> = members
                .iter()
                .filter(|name| !is_source(name))
                .filter_map(|name| BlockNode::by_name(self.roots, name))
                .collect();
            blocks.extend(others);
        }
        for block in blocks {
            self.block(&block, depth);
        }
    }

    fn block(&mut self, block: &BlockNode, depth: usize) {
        let Some(number) = block.number().filter(|_| depth < DEEPEST) else { return };
        if self.numbers.contains(&number) {
            return;
        }
        self.numbers.push(number);
        if self.reach == Depth::First {
            return;
        }
        if let Some(disk) = block.disk() {
            return self.block(&disk, depth + 1);
        }
        for slave in block.slaves() {
            if let Some(slave) = BlockNode::by_name(self.roots, &slave) {
                self.block(&slave, depth + 1);
            }
        }
        if let Some(backing) = block.loop_backing() {
            self.path(&backing, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::subject::stored;

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
            "20 1 253:0 / / rw - ext4 /dev/dm-0 rw\n21 20 7:0 / /mnt rw - ext4 /dev/loop0 rw\n22 20 0:30 / /tmp rw - tmpfs tmpfs rw\n",
        );
        let look = |path: &Path| match path.to_str()? {
            "/mnt/file" => Some(stored(path, (7, 0))),
            "/images/disk.img" => Some(stored(path, (253, 0))),
            "/tmp/x" => Some(stored(path, (0, 30))),
            "/dev/sdb" => Some(Subject { kind: SubjectKind::Block((8, 16)), ..stored(path, (0, 5)) }),
            _ => None,
        };
        let reaching = |reach, path: &str| devices_under_in(&fake.roots, Path::new(path), reach, &look);
        let under = |path: &str| reaching(Depth::All, path);
        assert_eq!(under("/mnt/file"), [(7, 0), (253, 0), (8, 1), (8, 0), (8, 16)]);
        assert_eq!(under("/dev/sdb"), [(8, 16)]);
        assert_eq!(under("/tmp/x"), []);
        assert_eq!(under("/gone"), []);
        let right_under = |path: &str| reaching(Depth::First, path);
        assert_eq!(right_under("/mnt/file"), [(7, 0)]);
        assert_eq!(right_under("/images/disk.img"), [(253, 0)]);
        assert_eq!(right_under("/tmp/x"), []);
    }
}
