//! A block device in sysfs: its directory, number and partitions, and the devices above and below
//! it.
//!
//! /sys/dev/block/M:m and /sys/class/block/NAME are links to the device's directory. A partition's
//! directory lies in that of its disk and contains a file `partition`. `holders/` lists the devices
//! built on this one, and `slaves/` lists those that it is built on.

use crate::roots::{self, Roots};
use crate::{mount::parse_number, platform::Number};
use kurabe_core::shown;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes per sector in sysfs, independent of the device's own sector size.
pub const SECTOR_BYTES: u64 = 512;

/// A disk, a partition or a virtual block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockNode {
    /// Kernel name, such as `sda1`.
    pub name: String,
    /// Directory in sysfs, with links resolved.
    pub directory: PathBuf,
}

impl BlockNode {
    fn at(directory: PathBuf) -> Self {
        Self { name: roots::base(&directory), directory }
    }

    /// Finds the device with a number.
    ///
    /// # Errors
    /// Fails if the device is not in sysfs or can't be read.
    pub fn by_number(roots: &Roots, number: Number) -> io::Result<Self> {
        let link = roots.sys.join(format!("dev/block/{}:{}", number.0, number.1));
        std::fs::canonicalize(link).map(Self::at)
    }

    /// Finds the device with a kernel name.
    pub(crate) fn by_name(roots: &Roots, name: &str) -> Option<Self> {
        roots.block_directory(name).map(Self::at)
    }

    /// Finds the device that a path such as `/dev/disk/by-id/…` in the kernel's own files refers
    /// to.
    pub(crate) fn by_path(roots: &Roots, path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(roots.relocate(path)).ok()?;
        if let Ok(Some(number)) = crate::platform::block_number(&path) {
            return Self::by_number(roots, number).ok();
        }
        // Without a device node (in a test's tree), the name below /dev is the kernel name.
        let dev = std::fs::canonicalize(&roots.dev).ok()?;
        let name = path.strip_prefix(dev).ok()?.to_string_lossy().replace('/', "!");
        if name.is_empty() { None } else { Self::by_name(roots, &name) }
    }

    /// Returns the device number.
    pub fn number(&self) -> Option<Number> {
        parse_number(&roots::text(&self.directory.join("dev"))?)
    }

    /// Returns the size in bytes.
    pub fn size_bytes(&self) -> Option<u64> {
        roots::number::<u64>(&self.directory.join("size"))?.checked_mul(SECTOR_BYTES)
    }

    /// Returns the start of a partition on its disk, in bytes.
    pub fn start_bytes(&self) -> Option<u64> {
        roots::number::<u64>(&self.directory.join("start"))?.checked_mul(SECTOR_BYTES)
    }

    /// Returns whether the device is a partition.
    pub(crate) fn is_partition(&self) -> bool {
        self.directory.join("partition").exists()
    }

    /// Returns the disk of a partition.
    pub fn disk(&self) -> Option<Self> {
        self.is_partition().then(|| self.directory.parent().map(|parent| Self::at(parent.to_owned())))?
    }

    /// Returns the partitions of a disk.
    ///
    /// # Errors
    /// Fails if the directory in sysfs can't be read.
    pub fn partitions(&self) -> io::Result<Vec<Self>> {
        Ok(roots::names_checked(&self.directory)?
            .into_iter()
            .map(|name| Self::at(self.directory.join(name)))
            .filter(Self::is_partition)
            .collect())
    }

    /// Returns the names of the devices on which this one is built.
    pub(crate) fn slaves(&self) -> Vec<String> {
        roots::names(&self.directory.join("slaves"))
    }

    /// Returns the file or device behind a loop device.
    pub(crate) fn loop_backing(&self) -> Option<PathBuf> {
        let mut bytes = roots::read_bytes(&self.directory.join("loop/backing_file")).ok()?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        (!bytes.is_empty()).then(|| crate::platform::path_of_bytes(bytes))
    }

    /// Returns a readable description of a virtual device: `crypt, luks-home`, `raid1, 2 devices`,
    /// `loop, /x.img`. `None` for a plain disk or partition.
    pub(crate) fn layer(&self) -> Option<String> {
        let dir = &self.directory;
        if dir.join("dm").is_dir() {
            return Some(device_mapper(dir));
        }
        if dir.join("md").is_dir() {
            return Some(md(dir));
        }
        if dir.join("bcache").is_dir() && self.name.starts_with("bcache") {
            let mode = roots::text(&dir.join("bcache/cache_mode")).and_then(|modes| roots::chosen(&modes));
            return Some(mode.map_or("bcache".to_owned(), |mode| format!("bcache, {mode}")));
        }
        if let Some(backing) = self.loop_backing() {
            let direct = match roots::flag(&dir.join("loop/dio")) {
                Some(true) => ", direct",
                Some(false) => ", buffered",
                None => "",
            };
            return Some(format!("loop, {}{direct}", shown::path(backing)));
        }
        if self.name.starts_with("zram") {
            let algorithm =
                roots::text(&dir.join("comp_algorithm")).and_then(|algorithms| roots::chosen(&algorithms));
            return Some(algorithm.map_or("zram".to_owned(), |algorithm| format!("zram, {algorithm}")));
        }
        None
    }

    /// Returns the device name with its description: `dm-0 (crypt, luks-home)`.
    pub(crate) fn described(&self) -> String {
        match self.layer() {
            Some(layer) => format!("{} ({layer})", self.name),
            None => self.name.clone(),
        }
    }
}

/// Returns the kind of device from the prefix of a device-mapper UUID (`CRYPT-LUKS2-…`, `LVM-…`,
/// `part1-mpath-…`).
fn device_mapper_kind(uuid: &str) -> String {
    let prefix = uuid.split('-').next().unwrap_or_default();
    match prefix {
        "" => "dm".to_owned(),
        part if part.starts_with("part") => "part".to_owned(),
        other => other.to_lowercase(),
    }
}

fn device_mapper(directory: &Path) -> String {
    let kind = device_mapper_kind(&roots::text(&directory.join("dm/uuid")).unwrap_or_default());
    match roots::words(&directory.join("dm/name")) {
        Some(name) => format!("{kind}, {name}"),
        None => kind,
    }
}

fn md(directory: &Path) -> String {
    let level = roots::words(&directory.join("md/level")).unwrap_or_else(|| "md".to_owned());
    let mut description = level;
    if let Some(count) = roots::number::<u32>(&directory.join("md/raid_disks")) {
        description.push_str(&format!(", {count} devices"));
    }
    if let Some(strip) = roots::number::<u64>(&directory.join("md/chunk_size")).filter(|&strip| strip > 0) {
        description.push_str(&format!(", strip {}", kurabe_core::quantity::format_bytes(strip)));
    }
    description
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_mapper_uuid_tells_the_kind() {
        for (uuid, kind) in [
            ("CRYPT-LUKS2-0123-luks-home", "crypt"),
            ("LVM-abcdef", "lvm"),
            ("mpath-3600", "mpath"),
            ("part1-mpath-3600", "part"),
            ("", "dm"),
        ] {
            assert_eq!(device_mapper_kind(uuid), kind, "{uuid}");
        }
    }
}
