//! Block devices of this machine, and whether they may be read.

use crate::roots::Roots;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The block devices in use by path, in the order of their names, and why each cannot be read, if so.
pub fn readable_devices() -> Vec<(PathBuf, Option<io::Error>)> {
    let block = Roots::default().sys.join("block");
    let mut names: Vec<_> = std::fs::read_dir(&block)
        .map(|all| all.flatten().map(|entry| entry.file_name()).collect())
        .unwrap_or_default();
    names.sort();
    // A loop or zram device without a size is not in use.
    names.retain(|name| sectors(&block.join(name)).is_none_or(|sectors| sectors > 0));
    let devices = names.into_iter().map(|name| Path::new("/dev").join(name)).filter(|device| device.exists());
    devices
        .map(|device| {
            let refusal = File::open(&device).err();
            (device, refusal)
        })
        .collect()
}

/// Size of a block device in sectors of 512 bytes, if the kernel tells.
fn sectors(block: &Path) -> Option<u64> {
    std::fs::read_to_string(block.join("size")).ok()?.trim().parse().ok()
}
