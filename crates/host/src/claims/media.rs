//! What is asked of devices and paths themselves, behind a trait so that a test has devices of its own.

use super::wipefs;
use crate::command::{ProgramOutcome, Runner};
use crate::platform::{self, Object};
use crate::{block::BlockNode, roots::Roots, signature::Signature};
use kurabe_core::shown;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The bytes and the lock of devices, and what paths lead to.
pub(crate) trait Media {
    /// The bytes of a device at places within it, each with its offset.
    fn pieces(&self, block: &BlockNode, places: &[Range<u64>]) -> io::Result<Vec<(u64, Vec<u8>)>>;

    /// The signatures that libblkid names on a device, if it can be asked.
    fn named_by_libblkid(&self, block: &BlockNode) -> Vec<Signature>;

    /// Whether the kernel would let the device be opened exclusively.
    fn exclusive_is_free(&self, block: &BlockNode) -> io::Result<bool>;

    /// What a path leads to.
    fn object(&self, path: &Path) -> io::Result<Object>;

    /// What a loop device stands on; `None` if it stands on nothing any more.
    fn under_loop(&self, block: &BlockNode) -> io::Result<Option<Object>>;
}

/// The machine's devices.
pub(crate) struct RealMedia {
    pub roots: Roots,
    /// The device that was asked for, and a path that leads to it.
    pub asked: Option<(BlockNode, PathBuf)>,
}

impl RealMedia {
    /// The device's node, if it is one of this device.
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
            // Without its end, what is counted from there would be looked for in vain: the medium is smaller than sysfs
            // says.
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
        // A descriptor of this thread is another one of the program's.
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
        // Without its node, or without the right to open it, the name has to do, as far as it can be followed from here.
        match block.loop_backing() {
            Some(backing) => self.object(&self.roots.relocate(&backing)).map(Some),
            None => Ok(None),
        }
    }
}
