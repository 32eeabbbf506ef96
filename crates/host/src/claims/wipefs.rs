//! The signatures that libblkid knows, as reported by the program `wipefs`, which erases nothing
//! here.
//!
//! `mkfs` programs query libblkid before they write. Among the programs based on libblkid, `wipefs
//! --no-act` reports every signature instead of only the first, including those with a wrong
//! checksum. They are added to the results of kurabe's own list. If `wipefs` is not installed or
//! prints another format (util-linux before 2.33), only kurabe's own list is used.

use crate::signature::{Class, Signature};
use std::borrow::Cow;
use std::time::Duration;

pub(crate) const PROGRAM: &str = "wipefs";

/// Arguments before the device.
pub(crate) const WORDS: [&str; 4] = ["--no-act", "--json", "--output", "OFFSET,TYPE,USAGE"];

/// Time limit of the program, which reads a few MiB.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// kurabe's names for libblkid types with a different name.
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

/// Parses the signatures in a JSON answer. Returns an empty list for any other format.
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
        // A member of an array, encryption, swap, an external journal.
        _ => Class::Member,
    };
    Some(Signature { kind, class, offset_bytes: u64::from_str_radix(offset, 16).ok()? })
}

/// Adds the signatures of families that are not listed yet. A kind can be reported at several
/// offsets, and both lists distinguish the generations of ext and HFS+ differently.
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
