//! Block devices of this machine.

use crate::roots::{self, Roots};
use std::path::{Path, PathBuf};

/// Returns the paths of the block devices in use, ordered by name, without opening them.
pub fn block_devices() -> Vec<PathBuf> {
    let block = Roots::default().sys.join("block");
    let mut names = roots::names(&block);
    // A loop or zram device of size 0 is not in use.
    names.retain(|name| roots::number(&block.join(name).join("size")).is_none_or(|sectors: u64| sectors > 0));
    names.into_iter().map(|name| Path::new("/dev").join(name)).filter(|device| device.exists()).collect()
}
