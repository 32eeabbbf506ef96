//! The stamp that identifies a written sector.

use crc32fast::Hasher;

/// Size of a stamped sector. Disks guarantee that this many bytes are written entirely or not at
/// all.
pub const SECTOR_BYTES: u64 = 512;

const MAGIC: [u8; 8] = *b"kurabe\xf7\x01";
/// Offset of the checksum in a sector. The stamp ends with it, and the rest of the sector is the
/// workload's data.
const CHECKSUM_AT: usize = 44;

/// The stamp of one sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The run, as a random number.
    pub(crate) mark: u64,
    /// The sector's own number.
    pub(crate) sector: u64,
    /// One-based number of the write in the run.
    pub(crate) generation: u32,
    /// First sector and number of sectors of the write.
    pub(crate) first_sector: u64,
    pub(crate) sectors: u32,
}

/// The content found in a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// No stamp of this run.
    Other,
    /// A stamp whose checksum does not match: parts of two writes, or corrupt data.
    Damaged,
    Stamped(Stamp),
}

impl Stamp {
    /// Stamps the bytes of a sector.
    pub(crate) fn put(&self, sector: &mut [u8]) {
        sector[..8].copy_from_slice(&MAGIC);
        sector[8..16].copy_from_slice(&self.mark.to_le_bytes());
        sector[16..24].copy_from_slice(&self.sector.to_le_bytes());
        sector[24..32].copy_from_slice(&self.first_sector.to_le_bytes());
        sector[32..36].copy_from_slice(&self.sectors.to_le_bytes());
        sector[36..40].copy_from_slice(&self.generation.to_le_bytes());
        sector[40..CHECKSUM_AT].fill(0);
        let checksum = checksum(sector);
        sector[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Reads the stamp of a sector for a run.
    pub(crate) fn read(mark: u64, sector: &[u8]) -> Reading {
        let u64_at = |at: usize| u64::from_le_bytes(array(sector, at));
        let u32_at = |at: usize| u32::from_le_bytes(array(sector, at));
        if sector.len() as u64 != SECTOR_BYTES || sector[..8] != MAGIC || u64_at(8) != mark {
            return Reading::Other;
        }
        if u32_at(CHECKSUM_AT) != checksum(sector) {
            return Reading::Damaged;
        }
        Reading::Stamped(Self {
            mark,
            sector: u64_at(16),
            first_sector: u64_at(24),
            sectors: u32_at(32),
            generation: u32_at(36),
        })
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes.get(at + index).copied().unwrap_or(0))
}

/// Computes the checksum over all bytes except its own.
fn checksum(sector: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&sector[..CHECKSUM_AT]);
    hasher.update(&sector[CHECKSUM_AT + 4..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { mark: 7, sector: 90, generation: 3, first_sector: 88, sectors: 8 };

    fn stamped() -> Vec<u8> {
        let mut sector = vec![0xa5; SECTOR_BYTES as usize];
        STAMP.put(&mut sector);
        sector
    }

    #[test]
    fn a_stamp_is_read_as_it_was_put_and_leaves_the_data() {
        let sector = stamped();
        assert_eq!(Stamp::read(7, &sector), Reading::Stamped(STAMP));
        assert!(sector[CHECKSUM_AT + 4..].iter().all(|byte| *byte == 0xa5));
        assert_eq!(Stamp::read(8, &sector), Reading::Other, "another run's");
        assert_eq!(Stamp::read(7, &[0; SECTOR_BYTES as usize]), Reading::Other);
        assert_eq!(Stamp::read(7, &sector[..100]), Reading::Other);
    }

    #[test]
    fn any_changed_bit_behind_the_mark_is_seen() {
        for bit in 16 * 8..SECTOR_BYTES as usize * 8 {
            let mut sector = stamped();
            sector[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Stamp::read(7, &sector), Reading::Damaged, "bit {bit}");
        }
    }
}
