//! Compares an image or a device with what a run wrote to it.

use super::list::{SectorRun, WriteList};
use super::stamp::{Reading, SECTOR_BYTES, Stamp};
use crate::{clock::monotonic_ns, drive::rest::PATIENCE_NS};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::{Notice, NoticeKind};
use kurabe_core::text;
use rustix::fs::{Advice, fadvise};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Maximum number of faults that are listed with their offsets. All are counted.
const MOST_PLACES: usize = 1000;

/// The kind of fault in a sector that the run wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The sector contains no data of the run.
    Lost,
    /// The sector contains a write that is older than the flushed one.
    Stale,
    /// The checksum of the stamp does not match: parts of two writes, or corrupt data.
    Damaged,
    /// The sector contains data that belongs to another sector.
    Misplaced,
    /// The sector contains a write that is not in the list, because the target was written after
    /// the list was saved.
    Newer,
}

/// Consecutive sectors with the same fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectorFault {
    /// The kind of fault.
    #[serde(rename = "fault")]
    pub kind: FaultKind,
    /// Offset of the first sector, in bytes.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u64,
    /// Number of the oldest write that may be there. 0 if none was promised.
    #[serde(rename = "promised_write")]
    pub promised: u32,
    /// Number of the write found there. For a misplaced sector, the offset in bytes to which its
    /// data belongs.
    pub present: Option<u64>,
}

/// The result of comparing an image with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImageCheck {
    /// Bytes that the run wrote at least once.
    pub written_bytes: u64,
    /// Bytes of these that were flushed.
    pub flushed_bytes: u64,
    /// Faulty bytes by kind of fault.
    pub fault_bytes: BTreeMap<FaultKind, u64>,
    /// The first faults, with their offsets.
    pub faults: Vec<SectorFault>,
    /// Bytes whose last write was not flushed.
    pub unflushed_bytes: u64,
    /// Bytes of these that contain their last write nevertheless.
    #[serde(rename = "arrived_unflushed_bytes")]
    pub arrived_bytes: u64,
    /// Number of unflushed writes that are present only in part, which is not a fault.
    #[serde(rename = "torn_unflushed_writes")]
    pub torn_writes: u64,
}

impl ImageCheck {
    /// Returns whether all promised data is present.
    pub fn is_sound(&self) -> bool {
        self.fault_bytes.is_empty()
    }

    /// Returns the notice about reading back the data at the end of a run.
    pub fn notice(&self) -> Notice {
        let written = format_bytes(self.written_bytes);
        let text = match self.is_sound() {
            true => text!(
                "{written} were read back, and all of them contain the written data",
                "{written} を読み戻し、すべて書いたとおりでした"
            ),
            false => {
                let faulty = format_bytes(self.fault_bytes.values().sum());
                text!(
                    "of {written} that were read back, {faulty} do not contain the written data",
                    "読み戻した {written} のうち {faulty} が、書いた内容と違います"
                )
            }
        };
        Notice::new(NoticeKind::Other, text)
    }
}

/// The writes found in the image.
#[derive(Default)]
struct Present {
    /// The number of the write found in each sector. Absent if the sector contains none.
    sectors: HashMap<u64, u32>,
    /// First sector and number of sectors of each write.
    writes: HashMap<u32, (u64, u32)>,
}

/// Compares an image with what a run wrote. `progress` receives the number of bytes compared.
///
/// # Errors
/// Returns the operating system's error if the image can't be read.
pub fn check_image(image: &File, list: &WriteList, progress: &mut dyn FnMut(u64)) -> io::Result<ImageCheck> {
    // The content of the page cache is not that of the storage. If the cache can't be dropped, the
    // image is read as it is.
    let _ = fadvise(image, 0, None, Advice::DontNeed);
    let mut check = ImageCheck::default();
    let mut present = Present::default();
    let mut buffer = vec![0; WriteList::PIECE_BYTES as usize];
    for stretch in &list.stretches {
        let bytes = stretch.sectors * SECTOR_BYTES;
        check.written_bytes += bytes;
        check.flushed_bytes += if stretch.flushed > 0 { bytes } else { 0 };
        let piece_sectors = WriteList::PIECE_BYTES / SECTOR_BYTES;
        let mut sector = stretch.first;
        while sector < stretch.first + stretch.sectors {
            let sectors = piece_sectors.min(stretch.first + stretch.sectors - sector);
            let piece = &mut buffer[..(sectors * SECTOR_BYTES) as usize];
            read_as_far_as_there_is(image, piece, sector * SECTOR_BYTES)?;
            for (bytes, sector) in piece.chunks_exact(SECTOR_BYTES as usize).zip(sector..) {
                check.sector(stretch, sector, Stamp::read(list.mark, bytes), &mut present);
            }
            sector += sectors;
            progress(sectors * SECTOR_BYTES);
        }
    }
    check.torn_writes = present.torn_writes(list);
    Ok(check)
}

/// Reads into a buffer. Bytes after the end of the image are zeros.
fn read_as_far_as_there_is(image: &File, bytes: &mut [u8], offset_bytes: u64) -> io::Result<()> {
    let (mut done, mut moved_at_ns) = (0, monotonic_ns());
    while done < bytes.len() {
        match image.read_at(&mut bytes[done..], offset_bytes + done as u64) {
            Ok(0) => break,
            Ok(count) => (done, moved_at_ns) = (done + count, monotonic_ns()),
            Err(error)
                if error.kind() == io::ErrorKind::Interrupted
                    && monotonic_ns() - moved_at_ns <= PATIENCE_NS => {}
            Err(error) => return Err(error),
        }
    }
    bytes[done..].fill(0);
    Ok(())
}

impl ImageCheck {
    fn sector(&mut self, stretch: &SectorRun, sector: u64, reading: Reading, present: &mut Present) {
        let here = match reading {
            Reading::Stamped(stamp) if stamp.sector == sector => {
                present.sectors.insert(sector, stamp.generation);
                present.writes.insert(stamp.generation, (stamp.first_sector, stamp.sectors));
                Some(stamp.generation)
            }
            _ => None,
        };
        if stretch.last > stretch.flushed {
            self.unflushed_bytes += SECTOR_BYTES;
            self.arrived_bytes += if here == Some(stretch.last) { SECTOR_BYTES } else { 0 };
        }
        let fault = match (reading, here) {
            (_, Some(write)) if write > stretch.last => Some((FaultKind::Newer, Some(u64::from(write)))),
            (_, Some(write)) if write >= stretch.flushed => None,
            (_, Some(write)) => Some((FaultKind::Stale, Some(u64::from(write)))),
            (Reading::Stamped(stamp), None) => {
                Some((FaultKind::Misplaced, stamp.sector.checked_mul(SECTOR_BYTES)))
            }
            (Reading::Damaged, _) => Some((FaultKind::Damaged, None)),
            (Reading::Other, _) => (stretch.flushed > 0).then_some((FaultKind::Lost, None)),
        };
        if let Some((kind, evidence)) = fault {
            *self.fault_bytes.entry(kind).or_default() += SECTOR_BYTES;
            let offset_bytes = sector * SECTOR_BYTES;
            let promised = stretch.flushed;
            self.place(SectorFault {
                kind,
                offset_bytes,
                length_bytes: SECTOR_BYTES,
                promised,
                present: evidence,
            });
        }
    }

    /// Merges a fault with the previous one, or adds it to the list.
    fn place(&mut self, fault: SectorFault) {
        let has_room = self.faults.len() < MOST_PLACES;
        match self.faults.last_mut() {
            Some(before)
                if before.offset_bytes + before.length_bytes == fault.offset_bytes
                    && (before.kind, before.promised) == (fault.kind, fault.promised)
                    && (before.present == fault.present || fault.kind == FaultKind::Misplaced) =>
            {
                before.length_bytes += fault.length_bytes;
            }
            _ if has_room => self.faults.push(fault),
            _ => {}
        }
    }
}

impl Present {
    /// Counts the writes of which one sector is present and another is missing, although that
    /// sector was neither overwritten by a newer write nor promised.
    fn torn_writes(&self, list: &WriteList) -> u64 {
        let promised = |sector: u64| {
            let behind = list.stretches.partition_point(|stretch| stretch.first <= sector);
            let stretch = behind.checked_sub(1).map(|at| list.stretches[at]);
            stretch
                .filter(|stretch| sector < stretch.first + stretch.sectors)
                .map_or(0, |stretch| stretch.flushed)
        };
        let is_missing = |generation: u32, sector: u64| {
            self.sectors.get(&sector).is_none_or(|here| *here < generation) && promised(sector) < generation
        };
        let is_torn = |(generation, (first, sectors)): (&u32, &(u64, u32))| {
            (*first..first.saturating_add(u64::from(*sectors))).any(|sector| is_missing(*generation, sector))
        };
        self.writes.iter().filter(|write| is_torn((write.0, write.1))).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{Ledger, Stamping};
    use kurabe_core::workload::{Op, OpKind};
    use std::sync::Arc;

    /// A disk of 64 sectors with the ledger of its writes.
    struct Disk {
        file: File,
        stamping: Stamping,
    }

    impl Disk {
        fn new() -> Self {
            let file = tempfile::tempfile().unwrap();
            file.set_len(64 * SECTOR_BYTES).unwrap();
            Self { file, stamping: Stamping { ledger: Arc::new(Ledger::new(7)), o_sync: false } }
        }

        /// Performs an acknowledged write. `reaches` maps each sector to the one that reaches the
        /// medium, if any.
        fn write(&self, first: u64, sectors: u64, reaches: impl Fn(u64) -> Option<u64>) {
            let mut bytes = vec![0; (sectors * SECTOR_BYTES) as usize];
            let op = Op {
                kind: OpKind::Write,
                offset_bytes: first * SECTOR_BYTES,
                length_bytes: (sectors * SECTOR_BYTES) as u32,
            };
            let perform = |bytes: &[u8]| {
                for (sector, at) in bytes.chunks(SECTOR_BYTES as usize).zip(first..) {
                    if let Some(place) = reaches(at) {
                        self.file.write_all_at(sector, place * SECTOR_BYTES).unwrap();
                    }
                }
                Ok::<_, ()>(bytes.len())
            };
            self.stamping.write(op, &mut bytes, perform).unwrap();
        }

        fn flush(&self) {
            self.stamping.flush(|| Ok::<_, ()>(())).unwrap();
        }

        fn check(&self) -> ImageCheck {
            check_image(&self.file, &self.stamping.ledger.list(), &mut |_| {}).unwrap()
        }

        /// Returns the number of faulty sectors by kind of fault.
        fn faults(&self) -> Vec<(FaultKind, u64)> {
            self.check().fault_bytes.into_iter().map(|(kind, bytes)| (kind, bytes / SECTOR_BYTES)).collect()
        }
    }

    #[test]
    fn a_disk_that_keeps_what_it_promised_is_sound_whatever_became_of_the_rest() {
        let disk = Disk::new();
        disk.write(0, 8, Some);
        disk.write(8, 8, Some);
        disk.flush();
        // Three unflushed writes: one arrived in full, one in part, one not at all.
        disk.write(0, 4, Some);
        disk.write(8, 4, |sector| (sector < 10).then_some(sector));
        disk.write(20, 4, |_| None);
        let check = disk.check();
        assert!(check.is_sound(), "{check:?}");
        let sectors = |bytes: u64| bytes / SECTOR_BYTES;
        assert_eq!((sectors(check.written_bytes), sectors(check.flushed_bytes)), (20, 16));
        assert_eq!(
            (sectors(check.unflushed_bytes), sectors(check.arrived_bytes), check.torn_writes),
            (12, 6, 1)
        );
    }

    #[test]
    fn each_fault_is_told_by_its_name_and_place() {
        let disk = Disk::new();
        disk.write(0, 4, Some);
        disk.flush();
        // A false flush: the second write over the first is missing, and so is one to an unused
        // place.
        disk.write(0, 2, |_| None);
        disk.write(8, 3, |_| None);
        disk.flush();
        assert_eq!(disk.faults(), [(FaultKind::Lost, 3), (FaultKind::Stale, 2)]);
        let faults = disk.check().faults;
        assert_eq!(
            faults[0],
            SectorFault {
                kind: FaultKind::Stale,
                offset_bytes: 0,
                length_bytes: 2 * SECTOR_BYTES,
                promised: 2,
                present: Some(1),
            }
        );
        assert_eq!(
            (faults[1].kind, faults[1].offset_bytes, faults[1].present),
            (FaultKind::Lost, 4096, None)
        );

        let disk = Disk::new();
        disk.write(0, 2, |sector| Some(sector + 2));
        disk.write(2, 2, |_| None);
        disk.flush();
        assert_eq!(disk.faults(), [(FaultKind::Lost, 2), (FaultKind::Misplaced, 2)]);

        let disk = Disk::new();
        disk.write(5, 1, Some);
        disk.flush();
        disk.file.write_all_at(b"rotten", 5 * SECTOR_BYTES + 300).unwrap();
        assert_eq!(disk.faults(), [(FaultKind::Damaged, 1)]);
    }

    #[test]
    fn an_image_that_ends_too_early_has_lost_the_rest_and_one_written_later_is_told() {
        let disk = Disk::new();
        disk.write(0, 8, Some);
        disk.flush();
        let list = disk.stamping.ledger.list();
        disk.write(0, 1, Some);
        let check = check_image(&disk.file, &list, &mut |_| {}).unwrap();
        assert_eq!(check.fault_bytes, BTreeMap::from([(FaultKind::Newer, SECTOR_BYTES)]));
        disk.file.set_len(4 * SECTOR_BYTES + 40).unwrap();
        // The fifth sector is cut off within its stamp.
        assert_eq!(disk.faults(), [(FaultKind::Lost, 3), (FaultKind::Damaged, 1)]);
    }
}
