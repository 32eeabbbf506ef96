//! The data of one export, with the journal for power cuts.

use crate::data::DiskData;
use crate::power::Journal;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Unit that a disk addresses and writes atomically.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// Converts a range of whole sectors to the length of a request, limited to the longest possible.
pub(crate) fn sectors_length(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX - SECTOR_BYTES as u32 + 1)
}

/// Data, with a journal if power can be cut.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) data: DiskData,
    journal: Option<Mutex<Journal>>,
}

impl Disk {
    pub(crate) fn new(data: DiskData, has_journal: bool) -> Self {
        Self { data, journal: has_journal.then(Mutex::default) }
    }

    /// Stores the data of a write with this number.
    pub(crate) fn write(&self, number: u64, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(journal) = &self.journal else { return self.data.write(offset_bytes, bytes) };
        // Locked for both, so that the saved data is what is overwritten.
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

    /// Runs a function on the journal, if there is one.
    pub(crate) fn with_journal<R>(&self, work: impl FnOnce(&mut Journal, &DiskData) -> R) -> Option<R> {
        let journal = self.journal.as_ref()?;
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        Some(work(&mut journal, &self.data))
    }
}
