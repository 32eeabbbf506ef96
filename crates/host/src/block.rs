//! A block device in sysfs: its directory, its number, its partitions, what lies above and below it.
//!
//! The model is sysfs's own: /sys/dev/block/M:m and /sys/class/block/NAME are links to the device's directory; a
//! partition's directory lies in its disk's and has a file `partition`; `holders/` names what is built on it,
//! `slaves/` what it is built on.

use crate::roots::{self, Roots};
use crate::{mount::parse_number, platform::Number};
use kurabe_core::shown;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a sector in sysfs, whatever the device's own sector is.
pub const SECTOR_BYTES: u64 = 512;

/// A disk, a partition or a virtual block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockNode {
    /// Kernel name, such as `sda1`.
    pub name: String,
    /// Directory in sysfs, links resolved.
    pub directory: PathBuf,
}

impl BlockNode {
    fn at(directory: PathBuf) -> Self {
        Self { name: roots::base(&directory), directory }
    }

    /// The device with a number.
    ///
    /// # Errors
    /// sysfs does not have it or does not let it be read.
    pub fn by_number(roots: &Roots, number: Number) -> io::Result<Self> {
        let link = roots.sys.join(format!("dev/block/{}:{}", number.0, number.1));
        std::fs::canonicalize(link).map(Self::at)
    }

    /// The device with a kernel name.
    pub(crate) fn by_name(roots: &Roots, name: &str) -> Option<Self> {
        roots.block_directory(name).map(Self::at)
    }

    /// The device that a path such as `/dev/disk/by-id/…` of the kernel's own files names.
    pub(crate) fn by_path(roots: &Roots, path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(roots.relocate(path)).ok()?;
        if let Ok(Some(number)) = crate::platform::block_number(&path) {
            return Self::by_number(roots, number).ok();
        }
        // Without a node of the right type (a tree in a test), the name below /dev is the kernel's.
        let dev = std::fs::canonicalize(&roots.dev).ok()?;
        let name = path.strip_prefix(dev).ok()?.to_string_lossy().replace('/', "!");
        if name.is_empty() { None } else { Self::by_name(roots, &name) }
    }

    /// Its number.
    pub fn number(&self) -> Option<Number> {
        parse_number(&roots::text(&self.directory.join("dev"))?)
    }

    /// Its size in bytes.
    pub fn size_bytes(&self) -> Option<u64> {
        roots::number::<u64>(&self.directory.join("size"))?.checked_mul(SECTOR_BYTES)
    }

    /// Where a partition starts on its disk, in bytes.
    pub fn start_bytes(&self) -> Option<u64> {
        roots::number::<u64>(&self.directory.join("start"))?.checked_mul(SECTOR_BYTES)
    }

    /// Whether it is a partition.
    pub(crate) fn is_partition(&self) -> bool {
        self.directory.join("partition").exists()
    }

    /// The disk of a partition.
    pub fn disk(&self) -> Option<Self> {
        self.is_partition().then(|| self.directory.parent().map(|parent| Self::at(parent.to_owned())))?
    }

    /// The partitions of a disk.
    ///
    /// # Errors
    /// sysfs does not let the directory be read.
    pub fn partitions(&self) -> io::Result<Vec<Self>> {
        Ok(roots::names_checked(&self.directory)?
            .into_iter()
            .map(|name| Self::at(self.directory.join(name)))
            .filter(Self::is_partition)
            .collect())
    }

    /// Names of the devices that this one is built on.
    pub(crate) fn slaves(&self) -> Vec<String> {
        roots::names(&self.directory.join("slaves"))
    }

    /// The file or device behind a loop device.
    pub(crate) fn loop_backing(&self) -> Option<PathBuf> {
        let mut bytes = roots::read_bytes(&self.directory.join("loop/backing_file")).ok()?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        (!bytes.is_empty()).then(|| crate::platform::path_of_bytes(bytes))
    }

    /// What kind of virtual device it is, for people: `crypt, luks-home`, `raid1, 2 devices`, `loop, /x.img`.
    /// `None` for a plain disk or partition.
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

    /// The device with its kind: `dm-0 (crypt, luks-home)`.
    pub(crate) fn described(&self) -> String {
        match self.layer() {
            Some(layer) => format!("{} ({layer})", self.name),
            None => self.name.clone(),
        }
    }
}

/// The kind that the prefix of a device-mapper UUID tells (`CRYPT-LUKS2-…`, `LVM-…`, `part1-mpath-…`).
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
