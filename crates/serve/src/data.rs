//! The data of a served device.
//!
//! The stack models the time, and the bytes are stored here, separately. A device of 2 TB occupies
//! only what was written to it: in anonymous memory, in a sparse file, or on top of an image that
//! is only read. `pattern` stores nothing and computes what is read.

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

/// Most extents in one answer: more than any client reads at a time, and one page.
const MOST_EXTENTS: usize = 512;

/// The data of one export.
#[derive(Debug)]
pub struct DiskData {
    size_bytes: u64,
    storage: DataStorage,
}

#[derive(Debug)]
enum DataStorage {
    Memory(Sparse),
    File(Sparse),
    Over(OverImage),
    Pattern,
}

impl DiskData {
    /// Creates data in memory, up to a limit.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn memory(size_bytes: u64, most_bytes: u64) -> io::Result<Self> {
        Ok(Self { size_bytes, storage: DataStorage::Memory(Sparse::in_memory(size_bytes, most_bytes)?) })
    }

    /// Returns whether the timekeeping thread may copy small pieces, because access never waits for
    /// a disk.
    pub fn is_quick(&self) -> bool {
        matches!(self.storage, DataStorage::Memory(_) | DataStorage::Pattern)
    }

    /// Returns whether data can be sent from where it is stored, without waiting for a disk.
    pub fn is_quick_to_send(&self) -> bool {
        matches!(self.storage, DataStorage::Memory(_))
    }

    /// Sends bytes to a socket without copying them, and returns how many it accepted.
    ///
    /// # Errors
    /// Those of the socket. Data that is not quick to send refuses.
    pub fn send(&self, socket: &OwnedFd, offset_bytes: u64, length: usize) -> rustix::io::Result<usize> {
        match &self.storage {
            DataStorage::Memory(sparse) => sparse.send(socket, offset_bytes, length),
            _ => Err(rustix::io::Errno::INVAL),
        }
    }

    /// Fills a buffer from an offset.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.storage {
            DataStorage::Memory(sparse) | DataStorage::File(sparse) => sparse.read(offset_bytes, buffer),
            DataStorage::Over(image) => image.read(offset_bytes, buffer),
            DataStorage::Pattern => {
                pattern::fill(offset_bytes, buffer);
                Ok(())
            }
        }
    }

    /// Reads bytes from an offset, into memory that need not be zeroed first.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn read_new(&self, offset_bytes: u64, length: usize) -> io::Result<Vec<u8>> {
        if let DataStorage::Memory(sparse) | DataStorage::File(sparse) = &self.storage {
            return sparse.read_new(offset_bytes, length);
        }
        let mut bytes = vec![0; length];
        self.read(offset_bytes, &mut bytes)?;
        Ok(bytes)
    }

    /// Stores bytes at an offset; a pattern discards them.
    ///
    /// # Errors
    /// Those of the operating system, such as a lack of space.
    pub fn write(&self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        match &self.storage {
            DataStorage::Memory(sparse) | DataStorage::File(sparse) => sparse.write(offset_bytes, bytes),
            DataStorage::Over(image) => image.write(offset_bytes, bytes),
            DataStorage::Pattern => Ok(()),
        }
    }

    /// Zeroes a range. With `keeps_room`, its space remains allocated for later writes.
    ///
    /// # Errors
    /// Those of the operating system, such as a lack of space.
    pub fn zero(&self, offset_bytes: u64, length_bytes: u64, keeps_room: bool) -> io::Result<()> {
        match &self.storage {
            DataStorage::Memory(sparse) | DataStorage::File(sparse) if keeps_room => {
                sparse.write_zeroes(offset_bytes, length_bytes)
            }
            DataStorage::Memory(sparse) | DataStorage::File(sparse) => {
                sparse.punch(offset_bytes, length_bytes)
            }
            DataStorage::Over(image) => image.zero(offset_bytes, length_bytes),
            DataStorage::Pattern => Ok(()),
        }
    }

    /// Returns whether a range is a hole, so that its zeroes need not be read.
    pub fn is_hole(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let end = offset_bytes + length_bytes;
        match &self.storage {
            DataStorage::Memory(sparse) | DataStorage::File(sparse) => sparse.is_hole(offset_bytes, end),
            DataStorage::Over(image) => image.stretch(offset_bytes, end) == (length_bytes, ExtentKind::Hole),
            DataStorage::Pattern => false,
        }
    }

    /// Returns the data and holes from an offset. The result may cover only part of the range, but
    /// never nothing.
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

    /// Returns the start of the next data or hole at or after an offset.
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

    /// Returns the length and kind of the extent that begins at `from`.
    fn stretch(&self, from: u64, end: u64) -> (u64, ExtentKind) {
        match &self.storage {
            DataStorage::Memory(sparse) | DataStorage::File(sparse) => sparse.stretch(from, end),
            DataStorage::Over(image) => image.stretch(from, end),
            DataStorage::Pattern => (end - from, ExtentKind::Data),
        }
    }

    /// Flushes the data to the underlying medium, if it is in a file.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        if let DataStorage::File(sparse) = &self.storage { sparse.sync() } else { Ok(()) }
    }

    /// Returns the size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the bytes that it occupies where it is stored.
    pub fn room_bytes(&self) -> u64 {
        match &self.storage {
            DataStorage::Memory(sparse) | DataStorage::File(sparse) => sparse.room_bytes(),
            DataStorage::Over(image) => image.room_bytes(),
            DataStorage::Pattern => 0,
        }
    }
}

#[cfg(test)]
mod tests;
