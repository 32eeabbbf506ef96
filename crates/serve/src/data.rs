//! Where the bytes of a served device are.
//!
//! The model: time is the stack's and bytes are kept here, beside it. A device of 2 TB takes the room of what was written
//! to it: in memory without a name, in a file with holes, or on top of an image that is only read. `pattern` keeps nothing
//! at all and computes what is read.

mod image;
mod open;
mod pattern;
mod sparse;

pub use open::DataPlace;

use crate::protocol::{ExtentKind, StatusExtent};
use image::OverImage;
use rustix::fd::OwnedFd;
use sparse::Sparse;
use std::io;

/// Extents in one answer: more than any client takes at once, and a page of them.
const MOST_EXTENTS: usize = 512;

/// The bytes of one export.
#[derive(Debug)]
pub struct DiskData {
    size_bytes: u64,
    keeper: Keeper,
}

#[derive(Debug)]
enum Keeper {
    Memory(Sparse),
    File(Sparse),
    Over(OverImage),
    Pattern,
}

impl DiskData {
    /// Memory alone, up to a limit.
    ///
    /// # Errors
    /// When the operating system gives none.
    pub fn memory(size_bytes: u64, most_bytes: u64) -> io::Result<Self> {
        Ok(Self { size_bytes, keeper: Keeper::Memory(Sparse::in_memory(size_bytes, most_bytes)?) })
    }

    /// Whether a small piece takes so little time that who keeps the time may move it.
    pub fn is_quick(&self) -> bool {
        matches!(self.keeper, Keeper::Memory(_) | Keeper::Pattern)
    }

    /// Whether it can be sent from where it is, and never waits for a disk.
    pub fn is_quick_to_send(&self) -> bool {
        matches!(self.keeper, Keeper::Memory(_))
    }

    /// Sends so many bytes from an offset on to a socket, without copying them; how many it took.
    ///
    /// # Errors
    /// The socket's; refused by data that is not quick to send.
    pub fn send(&self, socket: &OwnedFd, offset_bytes: u64, length: usize) -> rustix::io::Result<usize> {
        match &self.keeper {
            Keeper::Memory(sparse) => sparse.send(socket, offset_bytes, length),
            _ => Err(rustix::io::Errno::INVAL),
        }
    }

    /// Fills a buffer from an offset on.
    ///
    /// # Errors
    /// The operating system's.
    pub fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.keeper {
            Keeper::Memory(sparse) | Keeper::File(sparse) => sparse.read(offset_bytes, buffer),
            Keeper::Over(image) => image.read(offset_bytes, buffer),
            Keeper::Pattern => {
                pattern::fill(offset_bytes, buffer);
                Ok(())
            }
        }
    }

    /// So many bytes from an offset on, in memory that need not be cleared first.
    ///
    /// # Errors
    /// The operating system's.
    pub fn read_new(&self, offset_bytes: u64, length: usize) -> io::Result<Vec<u8>> {
        if let Keeper::Memory(sparse) | Keeper::File(sparse) = &self.keeper {
            return sparse.read_new(offset_bytes, length);
        }
        let mut bytes = vec![0; length];
        self.read(offset_bytes, &mut bytes)?;
        Ok(bytes)
    }

    /// Keeps bytes from an offset on; a pattern forgets them.
    ///
    /// # Errors
    /// The operating system's; no room.
    pub fn write(&self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        match &self.keeper {
            Keeper::Memory(sparse) | Keeper::File(sparse) => sparse.write(offset_bytes, bytes),
            Keeper::Over(image) => image.write(offset_bytes, bytes),
            Keeper::Pattern => Ok(()),
        }
    }

    /// Makes a stretch read as zeroes; `keeps_room`: so that a later write finds the room it has now.
    ///
    /// # Errors
    /// The operating system's; no room.
    pub fn zero(&self, offset_bytes: u64, length_bytes: u64, keeps_room: bool) -> io::Result<()> {
        match &self.keeper {
            Keeper::Memory(sparse) | Keeper::File(sparse) if keeps_room => {
                sparse.write_zeroes(offset_bytes, length_bytes)
            }
            Keeper::Memory(sparse) | Keeper::File(sparse) => sparse.punch(offset_bytes, length_bytes),
            Keeper::Over(image) => image.zero(offset_bytes, length_bytes),
            Keeper::Pattern => Ok(()),
        }
    }

    /// Whether nothing was written in a stretch, so that its zeroes need not be read.
    pub fn is_hole(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let end = offset_bytes + length_bytes;
        match &self.keeper {
            Keeper::Memory(sparse) | Keeper::File(sparse) => sparse.is_hole(offset_bytes, end),
            Keeper::Over(image) => image.stretch(offset_bytes, end) == (length_bytes, ExtentKind::Hole),
            Keeper::Pattern => false,
        }
    }

    /// What is data and what are holes, from an offset on; perhaps not all of it, but never nothing.
    pub fn extents(&self, offset_bytes: u64, length_bytes: u32) -> Vec<StatusExtent> {
        let end = offset_bytes + u64::from(length_bytes);
        let mut extents: Vec<StatusExtent> = Vec::new();
        let mut at = offset_bytes;
        while at < end && extents.len() < MOST_EXTENTS {
            let (length, kind) = self.stretch(at, end);
            at += length;
            match extents.last_mut() {
                Some(last) if last.kind == kind => last.length_bytes += length as u32,
                _ => extents.push(StatusExtent { length_bytes: length as u32, kind }),
            }
        }
        extents
    }

    /// Where the next data or the next hole begins, from an offset on.
    pub fn next_of(&self, offset_bytes: u64, kind: ExtentKind) -> Option<u64> {
        let mut at = offset_bytes;
        while at < self.size_bytes {
            let (length, at_hand) = self.stretch(at, self.size_bytes);
            if at_hand == kind {
                return Some(at);
            }
            at += length;
        }
        None
    }

    /// How far it goes on as it begins, and how that is.
    fn stretch(&self, from: u64, end: u64) -> (u64, ExtentKind) {
        match &self.keeper {
            Keeper::Memory(sparse) | Keeper::File(sparse) => sparse.stretch(from, end),
            Keeper::Over(image) => image.stretch(from, end),
            Keeper::Pattern => (end - from, ExtentKind::Data),
        }
    }

    /// Has what was written reach the medium under it, if it is in a file.
    ///
    /// # Errors
    /// The operating system's.
    pub fn sync(&self) -> io::Result<()> {
        if let Keeper::File(sparse) = &self.keeper { sparse.sync() } else { Ok(()) }
    }

    /// Its bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What it takes where it is kept.
    pub fn room_bytes(&self) -> u64 {
        match &self.keeper {
            Keeper::Memory(sparse) | Keeper::File(sparse) => sparse.room_bytes(),
            Keeper::Over(image) => image.room_bytes(),
            Keeper::Pattern => 0,
        }
    }
}

#[cfg(test)]
mod tests;
