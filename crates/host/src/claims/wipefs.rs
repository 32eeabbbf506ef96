//! The signatures that libblkid knows, asked of the program `wipefs`, which erases nothing here.
//!
//! The model: `mkfs` programs ask libblkid before they write. Of the programs that ask it, `wipefs --no-act` names every
//! signature and not only the first, those with a wrong checksum too. What it names is added to what kurabe's own list
//! finds; where it is not installed, or answers in another form (util-linux before 2.33), the own list stands alone.

use crate::signature::{Class, Signature};
use std::borrow::Cow;
use std::time::Duration;

/// The program.
pub(crate) const PROGRAM: &str = "wipefs";

/// Its arguments before the device.
pub(crate) const WORDS: [&str; 4] = ["--no-act", "--json", "--output", "OFFSET,TYPE,USAGE"];

/// Time that it gets; it reads a few MiB.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// Names of libblkid for what kurabe's own list calls otherwise.
const NAMES: [(&str, &str); 46] = [
    ("adaptec_raid_member", "Adaptec RAID"),
    ("apfs", "APFS"),
    ("ceph_bluestore", "Ceph BlueStore"),
    ("crypto_LUKS", "LUKS"),
    ("ddf_raid_member", "DDF RAID"),
    ("DM_integrity", "dm-integrity"),
    ("DM_snapshot_cow", "dm snapshot"),
    ("DM_verity_hash", "dm-verity"),
    ("dos", "MBR"),
    ("drbd", "DRBD"),
    ("erofs", "EROFS"),
    ("exfat", "exFAT"),
    ("f2fs", "F2FS"),
    ("gfs", "GFS2"),
    ("gfs2", "GFS2"),
    ("gpt", "GPT"),
    ("PMBR", "GPT"),
    ("hfs", "HFS"),
    ("hfsplus", "HFS+"),
    ("hpt37x_raid_member", "HighPoint RAID"),
    ("hpt45x_raid_member", "HighPoint RAID"),
    ("iso9660", "ISO 9660"),
    ("isw_raid_member", "Intel RAID"),
    ("jfs", "JFS"),
    ("linux_raid_member", "Linux RAID (md)"),
    ("lsi_mega_raid_member", "LSI RAID"),
    ("LVM1_member", "LVM1"),
    ("LVM2_member", "LVM"),
    ("mac", "Apple partition map"),
    ("nilfs2", "NILFS2"),
    ("ntfs", "NTFS"),
    ("nvidia_raid_member", "NVIDIA RAID"),
    ("ocfs2", "OCFS2"),
    ("oracleasm", "Oracle ASM"),
    ("promise_fasttrack_raid_member", "Promise RAID"),
    ("reiserfs", "ReiserFS"),
    ("silicon_medley_raid_member", "Silicon Image RAID"),
    ("stratis", "Stratis"),
    ("swsuspend", "hibernation image"),
    ("ubi", "UBI"),
    ("vdo", "VDO"),
    ("udf", "UDF"),
    ("vfat", "FAT"),
    ("VMFS_volume_member", "VMFS"),
    ("xfs", "XFS"),
    ("zfs_member", "ZFS"),
];

/// The signatures of an answer; none if it has another form.
pub(crate) fn parse(answer: &[u8]) -> Vec<Signature> {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    let signatures = answer["signatures"].as_array().map(Vec::as_slice).unwrap_or_default();
    signatures.iter().filter_map(signature).collect()
}

fn signature(entry: &serde_json::Value) -> Option<Signature> {
    let offset = entry["offset"].as_str()?.strip_prefix("0x")?;
    let name = entry["type"].as_str()?;
    let own = NAMES.iter().find(|(theirs, _)| *theirs == name);
    let kind = own.map_or_else(|| Cow::Owned(name.to_owned()), |(_, own)| Cow::Borrowed(*own));
    let class = match entry["usage"].as_str()? {
        "filesystem" if !["GFS2", "OCFS2", "VMFS"].contains(&&*kind) => Class::FileSystem,
        "partition-table" => Class::Table,
        // A member of an array, encryption, swap, a journal of its own.
        _ => Class::Member,
    };
    Some(Signature { kind, class, offset_bytes: u64::from_str_radix(offset, 16).ok()? })
}

/// Adds what is of no family that is there already: a kind can be told at several places, and the generations of ext and of
/// HFS+ are told apart by each in its own way.
pub(crate) fn add_to(own: &mut Vec<Signature>, further: Vec<Signature>) {
    for signature in further {
        if !own.iter().any(|other| family(&other.kind) == family(&signature.kind)) {
            own.push(signature);
        }
    }
}

fn family(kind: &str) -> &str {
    match kind {
        "ext2" | "ext3" | "ext4" | "ext4dev" => "ext",
        "HFSX" => "HFS+",
        _ => kind,
    }
}

#[cfg(test)]
mod tests;
