//! Access to devices and paths, behind a trait so that tests can provide their own devices.

use super::wipefs;
use crate::command::{ProgramOutcome, Runner};
use crate::platform::{self, Object};
use crate::{block::BlockNode, roots::Roots, signature::Signature};
use kurabe_core::shown;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Access to the bytes and the lock of devices, and to the objects of paths.
pub(crate) trait Media {
    /// Reads ranges of a device. Each result contains its offset.
    fn pieces(&self, block: &BlockNode, places: &[Range<u64>]) -> io::Result<Vec<(u64, Vec<u8>)>>;

    /// Returns the signatures that libblkid reports for a device. Empty if libblkid is not
    /// available.
    fn named_by_libblkid(&self, block: &BlockNode) -> Vec<Signature>;

    /// Returns whether the kernel would allow the device to be opened exclusively.
    fn exclusive_is_free(&self, block: &BlockNode) -> io::Result<bool>;

    /// Returns the object of a path.
    fn object(&self, path: &Path) -> io::Result<Object>;

    /// Returns the backing object of a loop device. `None` if it no longer has one.
    fn under_loop(&self, block: &BlockNode) -> io::Result<Option<Object>>;
}

/// The devices of this machine.
pub(crate) struct RealMedia {
    pub roots: Roots,
    /// The requested device, and a path to it.
    pub asked: Option<(BlockNode, PathBuf)>,
}

impl RealMedia {
    /// Returns the path of the device's node, after verifying that it belongs to this device.
    fn node(&self, block: &BlockNode) -> io::Result<PathBuf> {
        let node = match &self.asked {
            Some((asked, node)) if asked.name == block.name => node.clone(),
            _ => self.roots.node(&block.name),
        };
        let number = block.number();
        if number.is_none() || platform::block_number(&node)? != number {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("{} is not the node of {}", shown::path(node), block.name),
            ));
        }
        Ok(node)
    }
}

impl Media for RealMedia {
    fn pieces(&self, block: &BlockNode, places: &[Range<u64>]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let mut file = platform::open_read(&self.node(block)?)?;
        let mut pieces = Vec::new();
        for place in places {
            let length_bytes = place.end - place.start;
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(place.start))?;
            file.by_ref().take(length_bytes).read_to_end(&mut bytes)?;
            // The medium is smaller than sysfs reports. Without its end, signatures counted from
            // the end would not be found.
            if bytes.len() as u64 != length_bytes {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            pieces.push((place.start, bytes));
        }
        Ok(pieces)
    }

    fn named_by_libblkid(&self, block: &BlockNode) -> Vec<Signature> {
        let Ok(node) = self.node(block) else { return Vec::new() };
        let Ok(thread) = std::fs::read_link(self.roots.proc.join("thread-self")) else { return Vec::new() };
        // /proc/thread-self would refer to a thread of the other program, so the path must name
        // this thread.
        let own_name = format!("/proc/{}/", thread.display());
        let node = node.to_string_lossy().replace("/proc/thread-self/", &own_name);
        let arguments: Vec<&str> = wipefs::WORDS.into_iter().chain([node.as_str()]).collect();
        match Runner::System.run(wipefs::PROGRAM, &arguments, wipefs::LIMIT) {
            ProgramOutcome::Ended(answer) => wipefs::parse(&answer),
            ProgramOutcome::NotInstalled | ProgramOutcome::Failed(_) | ProgramOutcome::TimedOut => Vec::new(),
        }
    }

    fn exclusive_is_free(&self, block: &BlockNode) -> io::Result<bool> {
        platform::exclusive_is_free(&self.node(block)?)
    }

    fn object(&self, path: &Path) -> io::Result<Object> {
        platform::object(path)
    }

    fn under_loop(&self, block: &BlockNode) -> io::Result<Option<Object>> {
        let status = self.node(block).and_then(|node| platform::loop_status(&platform::open_read(&node)?));
        if let Ok((file_system, inode, device)) = status {
            return Ok(Some(device.map_or(Object::Inode(file_system, inode), Object::Device)));
        }
        // Without the device node, or without permission to open it, the path in sysfs must
        // suffice, as far as it can be resolved from here.
        match block.loop_backing() {
            Some(backing) => self.object(&self.roots.relocate(&backing)).map(Some),
            None => Ok(None),
        }
    }
}
