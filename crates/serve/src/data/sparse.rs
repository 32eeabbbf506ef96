//! Data in a sparse file, either named or in anonymous memory.
//!
//! It is read and written by system calls, never through a mapping: reading a mapped hole allocates
//! a page.

use crate::protocol::ExtentKind;
use rustix::buffer::spare_capacity;
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, MemfdFlags, SeekFrom};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of writes between two checks of the space used. No more than this is taken beyond the
/// limit, and the checks cost little.
const LOOK_BYTES: u64 = 64 << 20;
/// Unit of `st_blocks`.
const BLOCK_BYTES: u64 = 512;
static ZEROES: [u8; 64 << 10] = [0; 64 << 10];

#[derive(Debug)]
pub(super) struct Sparse {
    file: File,
    most_bytes: u64,
    written_bytes: AtomicU64,
    is_full: AtomicBool,
}

impl Sparse {
    /// Creates an anonymous file in memory.
    pub(super) fn in_memory(size_bytes: u64, most_bytes: u64) -> io::Result<Self> {
        let file = File::from(rustix::fs::memfd_create("kurabe-data", MemfdFlags::CLOEXEC)?);
        file.set_len(size_bytes)?;
        Ok(Self { most_bytes, ..Self::in_file(file) })
    }

    /// Uses a file that is open for reading and writing and already has its size.
    pub(super) fn in_file(file: File) -> Self {
        let (written_bytes, is_full) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { file, most_bytes: u64::MAX, written_bytes, is_full }
    }

    pub(super) fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset_bytes)
    }

    pub(super) fn read_new(&self, offset_bytes: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let offset_bytes = offset_bytes + bytes.len() as u64;
            match rustix::io::pread(&self.file, spare_capacity(&mut bytes), offset_bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The allocator may have provided more capacity, which was filled as well.
        bytes.truncate(length);
        Ok(bytes)
    }

    pub(super) fn send(
        &self,
        socket: &OwnedFd,
        offset_bytes: u64,
        length: usize,
    ) -> rustix::io::Result<usize> {
        let mut offset_bytes = offset_bytes;
        rustix::fs::sendfile(socket, &self.file, Some(&mut offset_bytes), length)
    }

    pub(super) fn write(&self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        self.take_room(bytes.len() as u64)?;
        self.file.write_all_at(bytes, offset_bytes)
    }

    pub(super) fn write_zeroes(&self, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
        let mut at = 0;
        while at < length_bytes {
            let piece = (length_bytes - at).min(ZEROES.len() as u64);
            self.write(offset_bytes + at, &ZEROES[..piece as usize])?;
            at += piece;
        }
        Ok(())
    }

    pub(super) fn punch(&self, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, how, offset_bytes, length_bytes) {
            Err(error) if error == rustix::io::Errno::OPNOTSUPP => {
                self.write_zeroes(offset_bytes, length_bytes)
            }
            punched => {
                self.is_full.store(false, Ordering::Relaxed);
                Ok(punched?)
            }
        }
    }

    /// Returns whether a range is a hole.
    ///
    /// The end of data is not searched for, because the operating system would scan it page by
    /// page.
    pub(super) fn is_hole(&self, from: u64, end: u64) -> bool {
        self.next_data(from) >= end
    }

    /// Returns the length and kind of the extent that begins here.
    pub(super) fn stretch(&self, from: u64, end: u64) -> (u64, ExtentKind) {
        let data = self.next_data(from);
        if data > from {
            return (data.min(end) - from, ExtentKind::Hole);
        }
        let hole = rustix::fs::seek(&self.file, SeekFrom::Hole(from)).unwrap_or(u64::MAX);
        (hole.clamp(from + 1, end) - from, ExtentKind::Data)
    }

    /// Returns the start of the next data. A file system without this information has data
    /// everywhere.
    fn next_data(&self, from: u64) -> u64 {
        match rustix::fs::seek(&self.file, SeekFrom::Data(from)) {
            Ok(data) => data,
            // No data follows.
            Err(rustix::io::Errno::NXIO) => u64::MAX,
            Err(_) => from,
        }
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub(super) fn room_bytes(&self) -> u64 {
        rustix::fs::fstat(&self.file).map_or(0, |facts| facts.st_blocks as u64 * BLOCK_BYTES)
    }

    /// Checks the limit on memory, because using it up could crash the machine.
    fn take_room(&self, bytes: u64) -> io::Result<()> {
        let before = self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.most_bytes != u64::MAX && before / LOOK_BYTES != (before + bytes) / LOOK_BYTES {
            self.is_full.store(self.room_bytes() >= self.most_bytes, Ordering::Relaxed);
        }
        if self.is_full.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}
