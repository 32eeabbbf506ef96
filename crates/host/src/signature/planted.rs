//! Images with planted magic numbers, for tests.

use super::{BCACHEFS, Extract, FIXED, KIB, LUKS2_BACKUPS, firmware, places, signatures};
use std::ops::Range;

/// The kind of a signature, and its bytes with their offsets.
pub(crate) type Planted = (&'static str, Vec<(usize, Vec<u8>)>);

/// Returns the kinds recognised in a device.
pub(crate) fn kinds_of(device: &[u8]) -> Vec<String> {
    let size_bytes = device.len() as u64;
    let piece = |place: Range<u64>| (place.start, device[place.start as usize..place.end as usize].to_vec());
    let pieces: Vec<(u64, Vec<u8>)> = places(size_bytes).into_iter().map(piece).collect();
    let signatures = signatures(&Extract { pieces: &pieces, size_bytes });
    let mut kinds: Vec<String> =
        signatures.into_iter().map(|signature| signature.kind.into_owned()).collect();
    kinds.dedup();
    kinds
}

/// Returns the kinds recognised in a device of zeros with these bytes.
pub(crate) fn with(size: usize, magics: &[(usize, &[u8])]) -> Vec<String> {
    let mut device = vec![0_u8; size];
    for (offset, magic) in magics {
        device[*offset..offset + magic.len()].copy_from_slice(magic);
    }
    kinds_of(&device)
}

/// Returns every known signature, at each of its offsets in a device of this size.
pub(crate) fn planted(size: usize) -> Vec<Planted> {
    let one = |kind, offset: usize, magic: &[u8]| (kind, vec![(offset, magic.to_vec())]);
    let mut images: Vec<Planted> =
        FIXED.iter().map(|(kind, _, offset, magic)| one(*kind, *offset as usize, magic)).collect();
    for (kind, magics) in &mut images {
        let start = magics[0].0;
        match *kind {
            // Fields that libblkid checks in addition to the magic number: versions, offsets,
            // sizes.
            "swap" => magics.push((KIB as usize, [1_u32.to_le_bytes(), 99_u32.to_le_bytes()].concat())),
            "bcache" => magics.push((start - 16, (start / 512).to_le_bytes().to_vec())),
            "bcachefs" => {
                magics.push((start + 80, (start / 512).to_le_bytes().to_vec()));
                magics.extend([(start + 99, vec![1]), (start + 233, vec![3])]);
            }
            "dm-integrity" => magics.push((start + 8, vec![1])),
            "GFS2" => magics.push((start + 24, [1801_u32.to_be_bytes(), 1900_u32.to_be_bytes()].concat())),
            "Stratis" => {
                let mut sector = [0; 512];
                sector[4..4 + magics[0].1.len()].copy_from_slice(&magics[0].1);
                magics.push((start - 4, (!checksum(0x82f6_3b78, !0, &sector[4..])).to_le_bytes().into()));
            }
            _ => {}
        }
    }
    images.extend(LUKS2_BACKUPS.iter().map(|offset| one("LUKS", *offset as usize, b"SKUL\xba\xbe")));
    images.extend((0..4_usize).map(|sector| {
        let at = |offset, bytes: &[u8]| (sector * 512 + offset, bytes.to_vec());
        ("LVM", vec![at(0, b"LABELONE"), at(8, &sector.to_le_bytes()), at(24, b"LVM2 001")])
    }));
    for sectors in firmware::PROMISE_SECTORS {
        images.push(one("Promise RAID", size - sectors as usize * 512, b"Promise Technology, Inc."));
    }
    let magic = 0xa92b_4efc_u32.to_le_bytes();
    let version_1 = [&magic[..], &[1, 0, 0, 0]].concat();
    images.extend([0, 4096, size - 8192].map(|offset| {
        let sector = (offset / 512).to_le_bytes().to_vec();
        ("Linux RAID (md)", vec![(offset, version_1.clone()), (offset + 144, sector)])
    }));
    images.push(one("Linux RAID (md)", size - 65536, &magic));
    let checksum = 0x2f00_u16.wrapping_neg().to_le_bytes();
    let map = (size - 4096 + 80, vec![0, 0, 16, 0]);
    images.extend([
        one("Intel RAID", size - 1024, b"Intel Raid ISM Cfg Sig. 1.1.00"),
        one("DDF RAID", size - 512, b"\xde\x11\xde\x11"),
        one("LSI RAID", size - 512, b"$XIDE$"),
        one("NVIDIA RAID", size - 1024, b"NVIDIA  "),
        one("HighPoint RAID", 9 * 512 + 32, b"\xf0\x16\x78\x5a"),
        one("HighPoint RAID", size - 11 * 512, b"\xf3\x16\x78\x5a"),
        (
            "Silicon Image RAID",
            vec![(size - 512 + 0x60, b"\0\0\0\x2f".to_vec()), (size - 512 + 0x13e, checksum.to_vec())],
        ),
        ("DRBD", vec![(size - 4096 + 60, vec![0x83, 0x74, 2, 0x6b]), map.clone()]),
        ("DRBD", vec![(size - 4096 + 60, vec![0x83, 0x74, 2, 0x6d]), map]),
        nilfs(1024, size),
        nilfs(size - 8 * 512, size),
        one("bcachefs", size - (1 << 20) + 24, BCACHEFS),
        one("ZFS", (128 << 10) + 1024, &0x00ba_b10c_u64.to_le_bytes()),
        one("ext2", 1024 + 0x38, &[0x53, 0xef]),
        (
            "MBR",
            vec![(446, vec![0, 0, 2, 0, 0x83, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0]), (510, vec![0x55, 0xaa])],
        ),
    ]);
    images
}

/// Returns a superblock of NILFS2 with its checksum.
fn nilfs(offset: usize, size: usize) -> Planted {
    const LENGTH: usize = 280;
    let mut superblock = vec![0; LENGTH];
    superblock[..10].copy_from_slice(&[
        2,
        0,
        0,
        0,
        0,
        0,
        0x34,
        0x34,
        (LENGTH & 0xff) as u8,
        (LENGTH >> 8) as u8,
    ]);
    superblock[32..40].copy_from_slice(&(size as u64).to_le_bytes());
    let sum = checksum(0xedb8_8320, 0, &superblock);
    superblock[16..20].copy_from_slice(&sum.to_le_bytes());
    ("NILFS2", vec![(offset, superblock)])
}

/// Computes a 32-bit CRC with a reversed polynomial and a start value, without a final inversion.
fn checksum(polynomial: u32, start: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(start, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (polynomial & (sum & 1).wrapping_neg()))
    })
}

#[test]
fn whatever_is_planted_is_recognised() {
    const SIZE: usize = 8 << 20;
    for (kind, magics) in planted(SIZE) {
        let magics: Vec<(usize, &[u8])> =
            magics.iter().map(|(offset, magic)| (*offset, &magic[..])).collect();
        assert_eq!(with(SIZE, &magics), [kind], "{kind} at {}", magics[0].0);
    }
}
