//! The bytes of one export, and what of them a power cut would take.

use crate::data::DiskData;
use crate::power::Journal;
use std::io;
use std::sync::{Mutex, PoisonError};

/// What a disk addresses, and writes whole or not at all.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A stretch of whole sectors as the length of a request: one beyond the longest is as long as that.
pub(crate) fn sectors_length(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX - SECTOR_BYTES as u32 + 1)
}

/// Data, and a journal if power can be cut.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) data: DiskData,
    journal: Option<Mutex<Journal>>,
}

impl Disk {
    pub(crate) fn new(data: DiskData, has_journal: bool) -> Self {
        Self { data, journal: has_journal.then(Mutex::default) }
    }

    /// Keeps what a write of this number brought.
    pub(crate) fn write(&self, number: u64, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(journal) = &self.journal else { return self.data.write(offset_bytes, bytes) };
        // Held over both, so that what is noted is what is overwritten.
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.note(&self.data, number, offset_bytes, bytes.len() as u64)?;
        self.data.write(offset_bytes, bytes)
    }

    pub(crate) fn zero(
        &self,
        number: u64,
        offset_bytes: u64,
        length_bytes: u64,
        keeps_room: bool,
    ) -> io::Result<()> {
        let Some(journal) = &self.journal else {
            return self.data.zero(offset_bytes, length_bytes, keeps_room);
        };
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.note(&self.data, number, offset_bytes, length_bytes)?;
        self.data.zero(offset_bytes, length_bytes, keeps_room)
    }

    /// Does something with the journal, if there is one.
    pub(crate) fn with_journal<R>(&self, work: impl FnOnce(&mut Journal, &DiskData) -> R) -> Option<R> {
        let journal = self.journal.as_ref()?;
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        Some(work(&mut journal, &self.data))
    }
}
