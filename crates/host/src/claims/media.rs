//! What is asked of devices and paths themselves, behind a trait so that a test has devices of its own.

use crate::block::Block;
use crate::platform::{self, Object};
use crate::roots::Roots;
use crate::signature::{HEAD_BYTES, TAIL_BYTES};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The bytes and the lock of devices, and what paths lead to.
pub(crate) trait Media {
    /// The first [`HEAD_BYTES`] and the last [`TAIL_BYTES`] of a device, less if it is smaller.
    fn ends(&self, block: &Block, size_bytes: u64) -> io::Result<(Vec<u8>, Vec<u8>)>;

    /// Whether the kernel would let the device be opened exclusively.
    fn exclusive_is_free(&self, block: &Block) -> io::Result<bool>;

    /// What a path leads to.
    fn object(&self, path: &Path) -> io::Result<Object>;

    /// What a loop device stands on; `None` if it stands on nothing any more.
    fn under_loop(&self, block: &Block) -> io::Result<Option<Object>>;
}

/// The machine's devices.
pub(crate) struct RealMedia {
    pub roots: Roots,
    /// The device that was asked for, and a path that leads to it.
    pub asked: Option<(Block, PathBuf)>,
}

impl RealMedia {
    /// The device's node, if it is one of this device.
    fn node(&self, block: &Block) -> io::Result<PathBuf> {
        let node = match &self.asked {
            Some((asked, node)) if asked.name == block.name => node.clone(),
            _ => self.roots.node(&block.name),
        };
        let number = block.number();
        if number.is_none() || platform::block_number(&node)? != number {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("{} is not the node of {}", node.display(), block.name),
            ));
        }
        Ok(node)
    }
}

impl Media for RealMedia {
    fn ends(&self, block: &Block, size_bytes: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut file = platform::open_read(&self.node(block)?)?;
        let mut read = |offset: u64, length: u64| -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(offset))?;
            file.by_ref().take(length).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let head = read(0, HEAD_BYTES.min(size_bytes))?;
        let tail_bytes = TAIL_BYTES.min(size_bytes);
        let tail = read(size_bytes - tail_bytes, tail_bytes)?;
        // A short read would shift the tail; the medium is then smaller than sysfs says.
        if tail.len() as u64 != tail_bytes {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok((head, tail))
    }

    fn exclusive_is_free(&self, block: &Block) -> io::Result<bool> {
        platform::exclusive_is_free(&self.node(block)?)
    }

    fn object(&self, path: &Path) -> io::Result<Object> {
        platform::object(path)
    }

    fn under_loop(&self, block: &Block) -> io::Result<Option<Object>> {
        let status = self.node(block).and_then(|node| platform::loop_status(&platform::open_read(&node)?));
        if let Ok((file_system, inode, device)) = status {
            return Ok(Some(device.map_or(Object::Inode(file_system, inode), Object::Device)));
        }
        // Without its node, or without the right to open it, the name has to do, as far as it can be followed from here.
        match block.loop_backing() {
            Some(backing) => self.object(&self.roots.relocate(&backing)).map(Some),
            None => Ok(None),
        }
    }
}
