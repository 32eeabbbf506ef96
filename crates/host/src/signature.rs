//! What a device holds, from the magic numbers at its start and its end.
//!
//! The model: a pure function from the first and the last bytes of a device to a list of signatures, each with its
//! offset. A *member* belongs to something that can use the device without any mount of it (an array, a pool, a
//! volume group, encryption, swap), so its signature alone is a claim. *Content* is a file system or a partition
//! table: lost when overwritten, but in use only if it is mounted. An unknown layout gives nothing.
//!
//! Offsets: Linux `include/uapi/linux/raid/md_p.h`, `btrfs_tree.h`, `include/linux/swap.h`; LVM2 `lib/format_text/layout.h`;
//! LUKS on-disk format 1.2.3 and 2; the ZFS on-disk specification (labels of 256 KiB, uberblocks in their second
//! half); each file system's own description.

use std::ops::Range;

const KIB: u64 = 1 << 10;

/// Bytes from the start of a device that are looked at: two ZFS labels.
pub(crate) const HEAD_BYTES: u64 = 512 * KIB;

/// Bytes from the end of a device that are looked at: two ZFS labels aligned to 256 KiB.
pub(crate) const TAIL_BYTES: u64 = 768 * KIB;

/// A label of ZFS.
const ZFS_LABEL_BYTES: u64 = 256 * KIB;

/// What a signature means for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Part of something larger; a claim by itself.
    Member,
    /// A file system: content unless it is mounted.
    FileSystem,
    /// A partition table.
    Table,
}

/// A magic number that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// What it is, in words that are the same in every language.
    pub kind: &'static str,
    /// What it means.
    pub class: Class,
    /// Where it is, in bytes.
    pub offset_bytes: u64,
}

/// The bytes of a device that are looked at.
pub(crate) struct Ends<'a> {
    /// From offset 0.
    pub head: &'a [u8],
    /// Up to the end.
    pub tail: &'a [u8],
    /// Size of the device.
    pub size_bytes: u64,
}

impl Ends<'_> {
    /// Bytes at an offset, if they were read.
    fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let within = |bytes: &'_ [u8], base: u64| -> Option<Range<usize>> {
            let start = usize::try_from(offset.checked_sub(base)?).ok()?;
            let range = start..start.checked_add(length)?;
            (range.end <= bytes.len()).then_some(range)
        };
        if let Some(range) = within(self.head, 0) {
            return self.head.get(range);
        }
        let base = self.size_bytes.checked_sub(self.tail.len() as u64)?;
        self.tail.get(within(self.tail, base)?)
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

    /// An offset counted back from the end and then down to a multiple.
    fn before_end(&self, distance: u64, multiple: u64) -> Option<u64> {
        Some(self.size_bytes.checked_sub(distance)? / multiple * multiple)
    }
}

/// Fixed magic numbers: kind, class, offset, bytes. Only those that are long enough to be no accident.
const FIXED: [(&str, Class, u64, &[u8]); 36] = [
    ("LUKS", Class::Member, 0, b"LUKS\xba\xbe"),
    ("LUKS", Class::Member, 16 * KIB, b"SKUL\xba\xbe"),
    ("BitLocker", Class::FileSystem, 3, b"-FVE-FS-"),
    ("Ceph BlueStore", Class::Member, 0, b"bluestore block device"),
    ("Oracle ASM", Class::Member, 32, b"ORCLDISK"),
    (
        "bcache",
        Class::Member,
        4 * KIB + 24,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    (
        "bcachefs",
        Class::FileSystem,
        4 * KIB + 24,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    ("swap", Class::Member, 4 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 8 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 16 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 64 * KIB - 10, b"SWAPSPACE2"),
    ("swap", Class::Member, 4 * KIB - 10, b"SWAP-SPACE"),
    ("hibernation image", Class::Member, 4 * KIB - 10, b"S1SUSPEND"),
    ("hibernation image", Class::Member, 4 * KIB - 10, b"S2SUSPEND"),
    ("hibernation image", Class::Member, 4 * KIB - 10, b"LINHIB0001"),
    ("btrfs", Class::FileSystem, 64 * KIB + 64, b"_BHRfS_M"),
    ("XFS", Class::FileSystem, 0, b"XFSB"),
    ("NTFS", Class::FileSystem, 3, b"NTFS    "),
    ("exFAT", Class::FileSystem, 3, b"EXFAT   "),
    ("FAT", Class::FileSystem, 54, b"FAT12   "),
    ("FAT", Class::FileSystem, 54, b"FAT16   "),
    ("FAT", Class::FileSystem, 54, b"FAT     "),
    ("FAT", Class::FileSystem, 82, b"FAT32   "),
    ("ISO 9660", Class::FileSystem, 32 * KIB + 1, b"CD001"),
    ("F2FS", Class::FileSystem, KIB, b"\x10\x20\xf5\xf2"),
    ("HFS+", Class::FileSystem, KIB, b"H+\0\x04"),
    ("HFSX", Class::FileSystem, KIB, b"HX\0\x05"),
    ("APFS", Class::FileSystem, 32, b"NXSB"),
    ("squashfs", Class::FileSystem, 0, b"hsqs"),
    ("EROFS", Class::FileSystem, KIB, b"\xe2\xe1\xf5\xe0"),
    ("JFS", Class::FileSystem, 32 * KIB, b"JFS1"),
    ("ReiserFS", Class::FileSystem, 64 * KIB + 52, b"ReIsErFs"),
    ("ReiserFS", Class::FileSystem, 64 * KIB + 52, b"ReIsEr2Fs"),
    ("ReiserFS", Class::FileSystem, 64 * KIB + 52, b"ReIsEr3Fs"),
    ("GPT", Class::Table, 512, b"EFI PART"),
    ("GPT", Class::Table, 4 * KIB, b"EFI PART"),
];

/// Everything that is recognised, each kind once, members first.
pub(crate) fn signatures(ends: &Ends<'_>) -> Vec<Signature> {
    let mut signatures = Vec::new();
    let mut add = |kind, class, offset_bytes| {
        if !signatures
            .iter()
            .any(|other: &Signature| other.kind == kind && other.offset_bytes == offset_bytes)
        {
            signatures.push(Signature { kind, class, offset_bytes });
        }
    };
    for (kind, class, offset, magic) in FIXED {
        if ends.is(offset, magic) {
            add(kind, class, offset);
        }
    }
    for offset in md(ends) {
        add("Linux RAID (md)", Class::Member, offset);
    }
    for offset in zfs(ends) {
        add("ZFS", Class::Member, offset);
    }
    if let Some(offset) = (0..4).map(|sector| sector * 512).find(|&at| ends.is(at, b"LABELONE")) {
        add("LVM", Class::Member, offset);
    }
    for (kind, offset) in firmware_raid(ends) {
        add(kind, Class::Member, offset);
    }
    if let Some(kind) = ext(ends) {
        add(kind, Class::FileSystem, KIB);
    }
    if is_hfs(ends) {
        add("HFS", Class::FileSystem, KIB);
    }
    if ends.is(0, b"ER") && ends.is(512, b"PM") {
        add("Apple partition map", Class::Table, 512);
    }
    let has_table_or_boot_sector = signatures
        .iter()
        .any(|signature| matches!(signature.kind, "GPT" | "NTFS" | "exFAT" | "FAT" | "BitLocker"));
    if !has_table_or_boot_sector && is_mbr(ends) {
        signatures.push(Signature { kind: "MBR", class: Class::Table, offset_bytes: 0 });
    }
    signatures.sort_by_key(|signature| signature.class != Class::Member);
    signatures
}

/// Superblocks of Linux software RAID: 1.1 at the start, 1.2 at 4 KiB, 1.0 near the end, 0.90 at the last whole
/// 64 KiB. Version 0.90 is in the byte order of the machine that wrote it.
fn md(ends: &Ends<'_>) -> Vec<u64> {
    const MAGIC: u32 = 0xa92b_4efc;
    let version_1 = |offset: u64| ends.u32_le(offset) == Some(MAGIC) && ends.u32_le(offset + 4) == Some(1);
    let version_0 = |offset: u64| {
        let magic = ends.u32_le(offset);
        magic == Some(MAGIC) || magic == Some(MAGIC.swap_bytes())
    };
    let mut offsets: Vec<u64> = [Some(0), Some(4 * KIB), ends.before_end(8 * KIB, 4 * KIB)]
        .into_iter()
        .flatten()
        .filter(|&offset| version_1(offset))
        .collect();
    offsets.extend(ends.before_end(64 * KIB, 64 * KIB).filter(|&offset| version_0(offset)));
    offsets
}

/// ZFS labels that hold an uberblock, in either byte order. Uberblocks fill the label's second half at steps of at
/// least 1 KiB.
fn zfs(ends: &Ends<'_>) -> Vec<u64> {
    const MAGIC: u64 = 0x00ba_b10c;
    let (little, big) = (MAGIC.to_le_bytes(), MAGIC.to_be_bytes());
    let aligned = ends.size_bytes / ZFS_LABEL_BYTES * ZFS_LABEL_BYTES;
    let labels = [
        Some(0),
        Some(ZFS_LABEL_BYTES),
        aligned.checked_sub(2 * ZFS_LABEL_BYTES),
        aligned.checked_sub(ZFS_LABEL_BYTES),
    ];
    let has_uberblock = |label: &u64| {
        (0..128).any(|place| {
            let at = label + ZFS_LABEL_BYTES / 2 + place * KIB;
            ends.is(at, &little) || ends.is(at, &big)
        })
    };
    labels.into_iter().flatten().filter(has_uberblock).collect()
}

/// RAID of a mainboard's firmware: Intel's two sectors before the end, the DDF anchor in the last sector.
fn firmware_raid(ends: &Ends<'_>) -> Vec<(&'static str, u64)> {
    let mut arrays = Vec::new();
    if let Some(offset) = ends.before_end(1024, 512).filter(|&at| ends.is(at, b"Intel Raid ISM Cfg Sig. ")) {
        arrays.push(("Intel RAID", offset));
    }
    if let Some(offset) = ends.before_end(512, 512).filter(|&at| ends.is(at, b"\xde\x11\xde\x11")) {
        arrays.push(("DDF RAID", offset));
    }
    arrays
}

/// ext2, ext3 or ext4, from the superblock's magic and features. The magic has two bytes only, so the block size
/// must make sense too.
fn ext(ends: &Ends<'_>) -> Option<&'static str> {
    const JOURNAL: u32 = 0x4;
    /// Journal device, extents, 64 bit, flexible groups.
    const EXT4: u32 = 0x8 | 0x40 | 0x80 | 0x200;
    if ends.u16_le(KIB + 0x38)? != 0xef53 || ends.u32_le(KIB + 0x18)? > 6 {
        return None;
    }
    let (compatible, incompatible) = (ends.u32_le(KIB + 0x5c)?, ends.u32_le(KIB + 0x60)?);
    Some(match (incompatible & EXT4 != 0, compatible & JOURNAL != 0) {
        (true, _) => "ext4",
        (false, true) => "ext3",
        (false, false) => "ext2",
    })
}

/// Apple's HFS: `BD` and an allocation block that is a multiple of 512 (Inside Macintosh: Files, 2-60).
fn is_hfs(ends: &Ends<'_>) -> bool {
    let block = ends.at(KIB + 20, 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    ends.is(KIB, b"BD") && block.is_some_and(|block| block > 0 && block % 512 == 0)
}

/// A partition table of the PC: the mark at its end, sensible flags, and at least one partition.
fn is_mbr(ends: &Ends<'_>) -> bool {
    let Some(entries) = ends.at(446, 64) else { return false };
    let mut used = false;
    for entry in entries.chunks_exact(16) {
        if entry[0] & 0x7f != 0 {
            return false;
        }
        used |= entry[4] != 0;
    }
    used && ends.is(510, b"\x55\xaa")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 4 << 20;

    fn kinds_of(device: &[u8]) -> Vec<&'static str> {
        let size = device.len();
        let ends = Ends {
            head: &device[..size.min(HEAD_BYTES as usize)],
            tail: &device[size.saturating_sub(TAIL_BYTES as usize)..],
            size_bytes: size as u64,
        };
        let mut kinds: Vec<&str> = signatures(&ends).iter().map(|signature| signature.kind).collect();
        kinds.dedup();
        kinds
    }

    fn with(magics: &[(usize, &[u8])]) -> Vec<&'static str> {
        let mut device = vec![0_u8; SIZE];
        for (offset, magic) in magics {
            device[*offset..offset + magic.len()].copy_from_slice(magic);
        }
        kinds_of(&device)
    }

    #[test]
    fn an_empty_device_holds_nothing() {
        assert!(with(&[]).is_empty());
        assert!(kinds_of(&[]).is_empty());
        assert!(kinds_of(&[0; 100]).is_empty());
    }

    #[test]
    fn every_fixed_magic_number_within_reach_is_found() {
        for (kind, _, offset, magic) in FIXED.iter().filter(|fixed| fixed.2 < HEAD_BYTES) {
            assert_eq!(with(&[(*offset as usize, magic)]), [*kind], "{kind} at {offset}");
        }
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
    fn firmware_raid_is_found_at_the_end() {
        assert_eq!(with(&[(SIZE - 1024, b"Intel Raid ISM Cfg Sig. 1.1")]), ["Intel RAID"]);
        assert_eq!(with(&[(SIZE - 512, b"\xde\x11\xde\x11")]), ["DDF RAID"]);
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
