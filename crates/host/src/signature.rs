//! Detects what a device contains from magic numbers at its start and end.
//!
//! A pure function maps ranges of a device to a list of signatures, each with its offset. A
//! *member* belongs to something that can use the device without a mount on this machine (an array,
//! a pool, a volume group, encryption, swap, a cluster file system), so its signature alone is a
//! claim. *Content* is a file system or a partition table. It is lost when overwritten, but in use
//! only if mounted. An unknown layout gives no result. Two or four bytes alone are not sufficient
//! evidence, so an adjacent field must also be plausible.
//!
//! Location of each magic number: util-linux, `libblkid/src/superblocks/`, in the file given with
//! each kind below, in agreement with Linux `include/uapi/linux/raid/md_p.h`, `btrfs_tree.h`,
//! `gfs2_ondisk.h`, `nilfs2_ondisk.h`, `include/linux/swap.h`, `drivers/md/dm-snap-persistent.c`,
//! `dm-integrity.c`, `drivers/block/drbd/drbd_int.h`, `drivers/mtd/ubi/ubi-media.h`; LVM2
//! `lib/format_text/layout.h`; LUKS on-disk format 1.2.3 and 2; the ZFS on-disk specification
//! (labels of 256 KiB, uberblocks in their second half); each file system's own description.

mod firmware;
#[cfg(test)]
pub(crate) mod planted;

use std::borrow::Cow;
use std::ops::Range;

const KIB: u64 = 1 << 10;

const SECTOR_BYTES: u64 = 512;

/// Bytes read at the start of a device: two ZFS labels.
const HEAD_BYTES: u64 = 512 * KIB;

/// Bytes read at the end of a device: two ZFS labels aligned to 256 KiB.
const TAIL_BYTES: u64 = 768 * KIB;

/// Bytes read at each offset outside of these: the largest header searched for.
const PLACE_BYTES: u64 = 4 * KIB;

/// Possible offsets of a second LUKS2 header, by the size of the first (`luks.c`).
const LUKS2_BACKUPS: [u64; 9] =
    [16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB, 2048 * KIB, 4096 * KIB];

/// Size of a ZFS label.
const ZFS_LABEL_BYTES: u64 = 256 * KIB;

/// The meaning of a signature for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Part of something larger. A claim by itself.
    Member,
    /// A file system. Content, unless it is mounted.
    FileSystem,
    /// A partition table.
    Table,
}

/// A magic number that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Identified content, in language-independent words.
    pub kind: Cow<'static, str>,
    /// Its meaning for a write.
    pub class: Class,
    /// Its offset in bytes.
    pub offset_bytes: u64,
}

/// Returns the ranges of a device that are read, in order of importance. They may overlap.
pub(crate) fn places(size_bytes: u64) -> Vec<Range<u64>> {
    let tail = size_bytes.saturating_sub(TAIL_BYTES)..size_bytes;
    let mut places = vec![0..HEAD_BYTES.min(size_bytes), tail];
    let further = LUKS2_BACKUPS.into_iter().chain(FAR_MAGICS).filter(|place| *place >= HEAD_BYTES);
    let before_end = firmware::PROMISE_SECTORS
        .into_iter()
        .map(|sectors| sectors * SECTOR_BYTES)
        .chain([BCACHEFS_BEFORE_END])
        .filter_map(|distance| (size_bytes / SECTOR_BYTES * SECTOR_BYTES).checked_sub(distance));
    for start in further.chain(before_end) {
        let place = start..start.saturating_add(PLACE_BYTES).min(size_bytes);
        let is_read = |read: &Range<u64>| read.start <= place.start && place.end <= read.end;
        if place.start < place.end && !places.iter().any(is_read) {
            places.push(place);
        }
    }
    places
}

/// The ranges of a device that were read.
pub(crate) struct Extract<'a> {
    /// The data of each range, with its offset.
    pub pieces: &'a [(u64, Vec<u8>)],
    /// Size of the device in bytes.
    pub size_bytes: u64,
}

impl Extract<'_> {
    /// Returns bytes at an offset, if they were read.
    fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        self.pieces.iter().find_map(|(base, bytes)| {
            let start = usize::try_from(offset.checked_sub(*base)?).ok()?;
            bytes.get(start..start.checked_add(length)?)
        })
    }

    fn is(&self, offset: u64, magic: &[u8]) -> bool {
        self.at(offset, magic.len()) == Some(magic)
    }

    fn u16_le(&self, offset: u64) -> Option<u16> {
        Some(u16::from_le_bytes(self.at(offset, 2)?.try_into().ok()?))
    }

    fn u32_le(&self, offset: u64) -> Option<u32> {
        Some(u32::from_le_bytes(self.at(offset, 4)?.try_into().ok()?))
    }

    fn u32_be(&self, offset: u64) -> Option<u32> {
        Some(self.u32_le(offset)?.swap_bytes())
    }

    /// Returns an offset counted from the end and rounded down to a multiple.
    fn before_end(&self, distance: u64, multiple: u64) -> Option<u64> {
        Some(self.size_bytes.checked_sub(distance)? / multiple * multiple)
    }

    /// Returns the start of a sector counted from the end. The last sector is 1.
    fn sector_before_end(&self, sectors: u64) -> Option<u64> {
        (self.size_bytes / SECTOR_BYTES).checked_sub(sectors).map(|sector| sector * SECTOR_BYTES)
    }
}

/// Offsets of the magic numbers below that lie beyond the head.
const FAR_MAGICS: [u64; 2] = [1024 * KIB, 2048 * KIB];

/// Distance of the last copy of a bcachefs superblock from the end (`bcache.c`).
const BCACHEFS_BEFORE_END: u64 = 1024 * KIB;

const BCACHE: &[u8] = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
const BCACHEFS: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";
const STRATIS: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";

/// Fixed magic numbers: kind, class, offset, bytes. Only those long enough to rule out coincidence.
const FIXED: [(&str, Class, u64, &[u8]); 56] = [
    // luks.c, bitlocker.c, bluestore.c, ocfs.c
    ("LUKS", Class::Member, 0, b"LUKS\xba\xbe"),
    ("BitLocker", Class::FileSystem, 3, b"-FVE-FS-"),
    ("Ceph BlueStore", Class::Member, 0, b"bluestore block device"),
    ("Oracle ASM", Class::Member, 32, b"ORCLDISK"),
    // bcache.c
    ("bcache", Class::Member, 4 * KIB + 24, BCACHE),
    ("bcachefs", Class::FileSystem, 4 * KIB + 24, BCACHEFS),
    ("bcachefs", Class::FileSystem, 2048 * KIB + 24, BCACHEFS),
    // swap.c
    ("swap", Class::Member, 4 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 8 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 16 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 32 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 64 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 4 * KIB - 10, b"SWAP-SPACE"),
    ("hibernation image", Class::Member, 4 * KIB - 10, b"S1SUSPEND"),
    ("hibernation image", Class::Member, 4 * KIB - 10, b"S2SUSPEND"),
    ("hibernation image", Class::Member, 4 * KIB - 10, b"ULSUSPEND"),
    ("hibernation image", Class::Member, 4 * KIB - 10, b"LINHIB0001"),
    // stratis.c: after the checksum, in the second sector and in the tenth
    ("Stratis", Class::Member, 512 + 4, STRATIS),
    ("Stratis", Class::Member, 9 * 512 + 4, STRATIS),
    // vdo.c
    ("VDO", Class::Member, 0, b"dmvdo001"),
    // lvm.c: version 1 or 2 of LVM1; verity with its only version; integrity; a snapshot, valid or
    // not, of version 1
    ("LVM1", Class::Member, 0, b"HM\x01\0"),
    ("LVM1", Class::Member, 0, b"HM\x02\0"),
    ("dm-verity", Class::Member, 0, b"verity\0\0\x01\0\0\0"),
    ("dm-integrity", Class::Member, 0, b"integrt\0"),
    ("dm snapshot", Class::Member, 0, b"SnAp\0\0\0\0\x01\0\0\0"),
    ("dm snapshot", Class::Member, 0, b"SnAp\x01\0\0\0\x01\0\0\0"),
    // ubi.c: the only version of a header
    ("UBI", Class::Member, 0, b"UBI#\x01"),
    // gfs.c: the magic number and the type of a superblock, which GFS and GFS2 share
    ("GFS2", Class::Member, 64 * KIB, b"\x01\x16\x19\x70\0\0\0\x01"),
    // ocfs.c: the superblock is the third block, of 512 bytes to 4 KiB
    ("OCFS2", Class::Member, KIB, b"OCFSV2"),
    ("OCFS2", Class::Member, 2 * KIB, b"OCFSV2"),
    ("OCFS2", Class::Member, 4 * KIB, b"OCFSV2"),
    ("OCFS2", Class::Member, 8 * KIB, b"OCFSV2"),
    // vmfs.c: the volume, and the file system in it
    ("VMFS", Class::Member, 1024 * KIB, b"\x0d\xd0\x01\xc0"),
    ("VMFS", Class::Member, 2048 * KIB, b"\x5e\xf1\xab\x2f"),
    // btrfs.c, xfs.c, ntfs.c, exfat.c, vfat.c, iso9660.c, udf.c, f2fs.c, hfs.c, apfs.c
    ("btrfs", Class::FileSystem, 64 * KIB + 64, b"_BHRfS_M"),
    ("XFS", Class::FileSystem, 0, b"XFSB"),
    ("NTFS", Class::FileSystem, 3, b"NTFS    "),
    ("exFAT", Class::FileSystem, 3, b"EXFAT   "),
    ("FAT", Class::FileSystem, 54, b"FAT12   "),
    ("FAT", Class::FileSystem, 54, b"FAT16   "),
    ("FAT", Class::FileSystem, 54, b"FAT     "),
    ("FAT", Class::FileSystem, 82, b"FAT32   "),
    ("ISO 9660", Class::FileSystem, 32 * KIB + 1, b"CD001"),
    ("UDF", Class::FileSystem, 32 * KIB + 1, b"BEA01"),
    ("F2FS", Class::FileSystem, KIB, b"\x10\x20\xf5\xf2"),
    ("HFS+", Class::FileSystem, KIB, b"H+\0\x04"),
    ("HFSX", Class::FileSystem, KIB, b"HX\0\x05"),
    ("APFS", Class::FileSystem, 32, b"NXSB"),
    // squashfs.c, erofs.c, jfs.c, reiserfs.c
    ("squashfs", Class::FileSystem, 0, b"hsqs"),
    ("EROFS", Class::FileSystem, KIB, b"\xe2\xe1\xf5\xe0"),
    ("JFS", Class::FileSystem, 32 * KIB, b"JFS1"),
    ("ReiserFS", Class::FileSystem, 64 * KIB + 52, b"ReIsErFs"),
    ("ReiserFS", Class::FileSystem, 64 * KIB + 52, b"ReIsEr2Fs"),
    ("ReiserFS", Class::FileSystem, 64 * KIB + 52, b"ReIsEr3Fs"),
    // For both sector sizes.
    ("GPT", Class::Table, 512, b"EFI PART"),
    ("GPT", Class::Table, 4 * KIB, b"EFI PART"),
];

/// Returns all recognised signatures without duplicates, members first.
pub(crate) fn signatures(extract: &Extract<'_>) -> Vec<Signature> {
    let mut signatures = Vec::new();
    let mut add = |kind: &'static str, class, offset_bytes| {
        if !signatures
            .iter()
            .any(|other: &Signature| other.kind == kind && other.offset_bytes == offset_bytes)
        {
            signatures.push(Signature { kind: Cow::Borrowed(kind), class, offset_bytes });
        }
    };
    for (kind, class, offset, magic) in FIXED {
        if extract.is(offset, magic) {
            add(kind, class, offset);
        }
    }
    for offset in md(extract) {
        add("Linux RAID (md)", Class::Member, offset);
    }
    for offset in zfs(extract) {
        add("ZFS", Class::Member, offset);
    }
    if let Some(offset) = (0..4).map(|sector| sector * 512).find(|&at| extract.is(at, b"LABELONE")) {
        add("LVM", Class::Member, offset);
    }
    for (kind, offset) in firmware::arrays(extract) {
        add(kind, Class::Member, offset);
    }
    for offset in LUKS2_BACKUPS.into_iter().filter(|&at| extract.is(at, b"SKUL\xba\xbe")) {
        add("LUKS", Class::Member, offset);
    }
    if let Some(offset) = drbd(extract) {
        add("DRBD", Class::Member, offset);
    }
    let last_copy = extract.before_end(BCACHEFS_BEFORE_END, SECTOR_BYTES);
    if let Some(offset) = last_copy.filter(|&at| extract.is(at + 24, BCACHEFS)) {
        add("bcachefs", Class::FileSystem, offset);
    }
    if let Some(offset) = nilfs(extract) {
        add("NILFS2", Class::FileSystem, offset);
    }
    if let Some(kind) = ext(extract) {
        add(kind, Class::FileSystem, KIB);
    }
    if is_hfs(extract) {
        add("HFS", Class::FileSystem, KIB);
    }
    if extract.is(0, b"ER") && extract.is(512, b"PM") {
        add("Apple partition map", Class::Table, 512);
    }
    let has_table_or_boot_sector = signatures
        .iter()
        .any(|signature| matches!(&*signature.kind, "GPT" | "NTFS" | "exFAT" | "FAT" | "BitLocker"));
    if !has_table_or_boot_sector && is_mbr(extract) {
        signatures.push(Signature { kind: Cow::Borrowed("MBR"), class: Class::Table, offset_bytes: 0 });
    }
    signatures.sort_by_key(|signature| signature.class != Class::Member);
    signatures
}

/// Finds superblocks of Linux software RAID: 1.1 at the start, 1.2 at 4 KiB, 1.0 near the end, 0.90
/// at the last whole 64 KiB. Version 0.90 has the byte order of the machine that wrote it.
fn md(extract: &Extract<'_>) -> Vec<u64> {
    const MAGIC: u32 = 0xa92b_4efc;
    let version_1 =
        |offset: u64| extract.u32_le(offset) == Some(MAGIC) && extract.u32_le(offset + 4) == Some(1);
    let version_0 = |offset: u64| {
        let magic = extract.u32_le(offset);
        magic == Some(MAGIC) || magic == Some(MAGIC.swap_bytes())
    };
    let mut offsets: Vec<u64> = [Some(0), Some(4 * KIB), extract.before_end(8 * KIB, 4 * KIB)]
        .into_iter()
        .flatten()
        .filter(|&offset| version_1(offset))
        .collect();
    offsets.extend(extract.before_end(64 * KIB, 64 * KIB).filter(|&offset| version_0(offset)));
    offsets
}

/// Finds ZFS labels with an uberblock, in either byte order. Uberblocks fill the label's second
/// half in steps of at least 1 KiB.
fn zfs(extract: &Extract<'_>) -> Vec<u64> {
    const MAGIC: u64 = 0x00ba_b10c;
    let (little, big) = (MAGIC.to_le_bytes(), MAGIC.to_be_bytes());
    let aligned = extract.size_bytes / ZFS_LABEL_BYTES * ZFS_LABEL_BYTES;
    let labels = [
        Some(0),
        Some(ZFS_LABEL_BYTES),
        aligned.checked_sub(2 * ZFS_LABEL_BYTES),
        aligned.checked_sub(ZFS_LABEL_BYTES),
    ];
    let has_uberblock = |label: &u64| {
        (0..128).any(|place| {
            let at = label + ZFS_LABEL_BYTES / 2 + place * KIB;
            extract.is(at, &little) || extract.is(at, &big)
        })
    };
    labels.into_iter().flatten().filter(has_uberblock).collect()
}

/// Finds metadata of DRBD in the last 4 KiB (`drbd.c`): the magic number of a version and the block
/// size of its bitmap, both big endian.
fn drbd(extract: &Extract<'_>) -> Option<u64> {
    const MAGICS: [u32; 3] = [0x8374_026b, 0x8374_026c, 0x8374_026d];
    let places = [extract.before_end(4 * KIB, 4 * KIB), extract.before_end(4 * KIB, SECTOR_BYTES)];
    places.into_iter().flatten().find(|offset| {
        let magic = extract.u32_be(offset + 60);
        magic.is_some_and(|magic| MAGICS.contains(&magic)) && extract.u32_be(offset + 80) == Some(4096)
    })
}

/// Finds a superblock of NILFS2 at 1 KiB, or its copy eight sectors before the end (`nilfs.c`): a
/// two-byte magic number after the revision, which is 2, and a valid block size.
fn nilfs(extract: &Extract<'_>) -> Option<u64> {
    let is_superblock = |offset: &u64| {
        extract.u32_le(*offset) == Some(2)
            && extract.u16_le(offset + 6) == Some(0x3434)
            && extract.u32_le(offset + 20).is_some_and(|log_block| log_block <= 6)
    };
    [Some(KIB), extract.sector_before_end(8)].into_iter().flatten().find(is_superblock)
}

/// Recognises ext2, ext3 or ext4 from the superblock's magic number and features. The magic number
/// has only two bytes, so the block size must also be plausible.
fn ext(extract: &Extract<'_>) -> Option<&'static str> {
    const JOURNAL: u32 = 0x4;
    /// Journal device, extents, 64 bit, flexible block groups.
    const EXT4: u32 = 0x8 | 0x40 | 0x80 | 0x200;
    if extract.u16_le(KIB + 0x38)? != 0xef53 || extract.u32_le(KIB + 0x18)? > 6 {
        return None;
    }
    let (compatible, incompatible) = (extract.u32_le(KIB + 0x5c)?, extract.u32_le(KIB + 0x60)?);
    Some(match (incompatible & EXT4 != 0, compatible & JOURNAL != 0) {
        (true, _) => "ext4",
        (false, true) => "ext3",
        (false, false) => "ext2",
    })
}

/// Recognises Apple's HFS: `BD` and an allocation block size that is a multiple of 512 (Inside
/// Macintosh: Files, 2-60).
fn is_hfs(extract: &Extract<'_>) -> bool {
    let block = extract.at(KIB + 20, 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    extract.is(KIB, b"BD") && block.is_some_and(|block| block > 0 && block % 512 == 0)
}

/// Recognises a PC partition table: the mark at its end, valid flags, and at least one partition.
fn is_mbr(extract: &Extract<'_>) -> bool {
    let Some(entries) = extract.at(446, 64) else { return false };
    let mut used = false;
    for entry in entries.chunks_exact(16) {
        if entry[0] & 0x7f != 0 {
            return false;
        }
        used |= entry[4] != 0;
    }
    used && extract.is(510, b"\x55\xaa")
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::planted::{kinds_of, with as planted_with};

    const SIZE: usize = 8 << 20;

    fn with(magics: &[(usize, &[u8])]) -> Vec<String> {
        planted_with(SIZE, magics)
    }

    #[test]
    fn an_empty_device_holds_nothing() {
        assert!(with(&[]).is_empty());
        assert!(kinds_of(&[]).is_empty());
        assert!(kinds_of(&[0; 100]).is_empty());
    }

    #[test]
    fn md_is_found_at_each_of_its_places() {
        let version_1 = [0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0];
        for offset in [0, 4096, SIZE - 8192] {
            assert_eq!(with(&[(offset, &version_1)]), ["Linux RAID (md)"], "{offset}");
        }
        assert_eq!(with(&[(SIZE - 65536, &[0xfc, 0x4e, 0x2b, 0xa9])]), ["Linux RAID (md)"]);
        assert_eq!(with(&[(SIZE - 65536, &[0xa9, 0x2b, 0x4e, 0xfc])]), ["Linux RAID (md)"]);
        assert!(with(&[(4096, &[0xfc, 0x4e, 0x2b, 0xa9, 7, 0, 0, 0])]).is_empty());
    }

    #[test]
    fn zfs_is_found_by_an_uberblock_of_any_label() {
        let magic = 0x00ba_b10c_u64;
        for label in [0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)] {
            let at = label + (128 << 10) + 5 * 1024;
            assert_eq!(with(&[(at, &magic.to_le_bytes())]), ["ZFS"], "{label}");
            assert_eq!(with(&[(at, &magic.to_be_bytes())]), ["ZFS"], "{label}");
            assert!(with(&[(at + 8, &magic.to_le_bytes())]).is_empty(), "not at a step of 1 KiB");
        }
    }

    #[test]
    fn lvm_is_found_in_each_of_its_sectors() {
        for sector in 0..4 {
            assert_eq!(with(&[(sector * 512, b"LABELONE")]), ["LVM"]);
        }
        assert!(with(&[(4 * 512, b"LABELONE")]).is_empty());
    }

    #[test]
    fn silicon_image_is_found_with_its_checksum_alone() {
        let magic: (usize, &[u8]) = (SIZE - 512 + 0x60, b"\0\0\0\x2f");
        let checksum = 0x2f00_u16.wrapping_neg().to_le_bytes();
        assert_eq!(with(&[magic, (SIZE - 512 + 0x13e, &checksum)]), ["Silicon Image RAID"]);
        assert!(with(&[magic]).is_empty());
        assert!(with(&[magic, (SIZE - 512 + 0x116, &[8]), (SIZE - 512 + 0x13e, &checksum)]).is_empty());
    }

    #[test]
    fn drbd_is_found_at_the_end_with_its_map() {
        let bit: (usize, &[u8]) = (SIZE - 4096 + 80, &[0, 0, 16, 0]);
        for last in [0x6b, 0x6c, 0x6d] {
            let magic = [0x83, 0x74, 2, last];
            assert_eq!(with(&[(SIZE - 4096 + 60, &magic), bit]), ["DRBD"]);
            assert!(with(&[(SIZE - 4096 + 60, &magic)]).is_empty(), "no size of a bit");
        }
    }

    #[test]
    fn nilfs_is_found_at_both_of_its_places() {
        for offset in [1024, SIZE - 8 * 512] {
            let superblock = [2, 0, 0, 0, 0, 0, 0x34, 0x34];
            assert_eq!(with(&[(offset, &superblock)]), ["NILFS2"], "{offset}");
            assert!(with(&[(offset, &superblock), (offset + 20, &[7])]).is_empty(), "no such block size");
            assert!(with(&[(offset + 4, &superblock[4..])]).is_empty(), "no such revision");
        }
    }

    #[test]
    fn the_places_of_a_small_device_lie_within_it() {
        for size_bytes in [0, 1, 511, 512, 4096, 512 << 10, 1 << 20, 1_580_544, 4 << 20, (4 << 20) + 1] {
            let places = places(size_bytes);
            assert!(
                places.iter().all(|place| place.start <= place.end && place.end <= size_bytes),
                "{size_bytes}"
            );
        }
    }

    #[test]
    fn the_generations_of_ext_are_told_apart() {
        let magic: (usize, &[u8]) = (1024 + 0x38, &[0x53, 0xef]);
        assert_eq!(with(&[magic]), ["ext2"]);
        assert_eq!(with(&[magic, (1024 + 0x5c, &[4])]), ["ext3"]);
        assert_eq!(with(&[magic, (1024 + 0x5c, &[4]), (1024 + 0x60, &[0x42])]), ["ext4"]);
        assert!(with(&[magic, (1024 + 0x18, &[9])]).is_empty(), "no such block size");
    }

    #[test]
    fn old_and_new_partition_tables_are_found() {
        let entry: (usize, &[u8]) = (446 + 4, &[0x83]);
        assert_eq!(with(&[entry, (510, &[0x55, 0xaa])]), ["MBR"]);
        assert!(with(&[(510, &[0x55, 0xaa])]).is_empty(), "no partition in it");
        assert_eq!(
            with(&[entry, (510, &[0x55, 0xaa]), (512, b"EFI PART")]),
            ["GPT"],
            "the MBR only protects it"
        );
        assert_eq!(with(&[(0, b"ER"), (512, b"PM")]), ["Apple partition map"]);
        assert_eq!(with(&[(1024, b"BD"), (1024 + 20, &[0, 0, 2, 0])]), ["HFS"]);
        assert!(with(&[(1024, b"BD")]).is_empty());
    }

    #[test]
    fn members_come_before_contents() {
        let mut device = vec![0_u8; SIZE];
        device[..4].copy_from_slice(b"XFSB");
        device[SIZE - 8192..SIZE - 8184].copy_from_slice(&[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]);
        assert_eq!(kinds_of(&device), ["Linux RAID (md)", "XFS"]);
    }
}
