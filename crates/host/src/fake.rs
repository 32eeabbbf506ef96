//! A fake tree of /sys, /proc and /dev for tests, in a temporary directory.

use crate::roots::Roots;
use std::fs;
use std::path::PathBuf;

pub(crate) struct Fake {
    directory: tempfile::TempDir,
    pub roots: Roots,
}

impl Fake {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let roots = Roots::under(&fs::canonicalize(directory.path()).expect("its path"));
        let fake = Self { directory, roots };
        for place in ["sys/block", "sys/class/block", "sys/dev/block", "proc/self", "dev"] {
            fake.directory(place);
        }
        fake
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn directory(&self, path: &str) {
        fs::create_dir_all(self.path(path)).expect("a directory");
    }

    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }

    pub(crate) fn files(&self, directory: &str, files: &[(&str, &str)]) {
        for (name, content) in files {
            self.file(&format!("{directory}/{name}"), format!("{content}\n"));
        }
    }

    /// Creates a symbolic link to a path in the tree.
    pub(crate) fn link(&self, link: &str, target: &str) {
        let link = self.path(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        std::os::unix::fs::symlink(self.path(target), link).expect("a link");
    }

    /// Creates a symbolic link with an arbitrary target.
    pub(crate) fn raw_link(&self, link: &str, target: &str) {
        let link = self.path(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        std::os::unix::fs::symlink(target, link).expect("a link");
    }

    /// Creates a block device at a path below sys/devices, with its links, a node and a size of 1
    /// GiB.
    pub(crate) fn block(&self, place: &str, number: &str) {
        let name = place.rsplit('/').next().expect("a name");
        let place = format!("sys/devices/{place}");
        self.files(&place, &[("dev", number), ("size", "2097152"), ("removable", "0")]);
        self.directory(&format!("{place}/holders"));
        self.directory(&format!("{place}/slaves"));
        self.link(&format!("sys/class/block/{name}"), &place);
        self.link(&format!("sys/dev/block/{number}"), &place);
        self.file(&format!("dev/{name}"), "");
    }

    /// Creates a whole disk, which is also listed in sys/block.
    pub(crate) fn disk(&self, place: &str, number: &str) {
        self.block(place, number);
        let name = place.rsplit('/').next().expect("a name");
        self.link(&format!("sys/block/{name}"), &format!("sys/devices/{place}"));
    }

    /// Creates a partition of a disk. Start and size are in sectors.
    pub(crate) fn partition(&self, place: &str, number: &str, start: u64, size: u64) {
        self.block(place, number);
        let place = format!("sys/devices/{place}");
        self.files(&place, &[("partition", "1"), ("start", &start.to_string()), ("size", &size.to_string())]);
    }

    /// Builds `upper` on `lower`. Both are paths below sys/devices.
    pub(crate) fn stack(&self, upper: &str, lower: &str) {
        let name = |place: &str| place.rsplit('/').next().expect("a name").to_owned();
        self.link(&format!("sys/devices/{lower}/holders/{}", name(upper)), &format!("sys/devices/{upper}"));
        self.link(&format!("sys/devices/{upper}/slaves/{}", name(lower)), &format!("sys/devices/{lower}"));
    }

    pub(crate) fn mounts(&self, lines: &str) {
        self.file("proc/self/mountinfo", lines);
    }
}
