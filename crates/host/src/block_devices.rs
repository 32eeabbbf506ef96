//! Block devices of this machine.

use crate::roots::Roots;
use std::path::{Path, PathBuf};

/// The block devices in use by path, in the order of their names. None is opened.
pub fn block_devices() -> Vec<PathBuf> {
    let block = Roots::default().sys.join("block");
    let entries = std::fs::read_dir(&block).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    // A loop or zram device without a size is not in use.
    names.retain(|name| sectors(&block.join(name)).is_none_or(|sectors| sectors > 0));
    names.into_iter().map(|name| Path::new("/dev").join(name)).filter(|device| device.exists()).collect()
}

/// Size of a block device in sectors of 512 bytes, if the kernel tells.
fn sectors(block: &Path) -> Option<u64> {
    std::fs::read_to_string(block.join("size")).ok()?.trim().parse().ok()
}
