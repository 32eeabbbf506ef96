//! The mount table, and the mount that contains a path.
//!
//! /proc/self/mountinfo lists mounts in the order in which they were created. The mount of a path
//! is the one with the longest mount point above it, or the last of several on the same mount
//! point. Its device number must equal that of the path, except if the file system gives its files
//! different numbers (btrfs subvolumes, some overlays): if no mount above the path has the number,
//! the longest mount point decides. Format: proc_pid_mountinfo(5).

use crate::platform::{Number, path_of_bytes};
use crate::roots::{self, Roots};
use std::io;
use std::path::{Path, PathBuf};

/// A line of mountinfo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Device number of its files, as the kernel reports it. Major 0 is anonymous.
    pub number: Number,
    /// The directory of the file system that is mounted.
    pub root: PathBuf,
    /// The mount point.
    pub point: PathBuf,
    /// Options of this mount.
    pub options: String,
    /// Type of the file system.
    pub kind: String,
    /// The mounted source, such as `/dev/sda1`.
    pub source: String,
    /// Options of the file system.
    pub super_options: String,
}

impl Mount {
    /// Returns both lists of options combined, without duplicates.
    pub(crate) fn all_options(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for word in self.options.split(',').chain(self.super_options.split(',')) {
            if !word.is_empty() && !words.contains(&word) {
                words.push(word);
            }
        }
        words.join(",")
    }

    /// Returns the value of an option of the file system, such as `upperdir`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.super_options.split(',').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Returns the mounts of this process exactly at a mount point, given by its canonical path. A
/// later mount covers an earlier one. Does not access the file system, whose server may not
/// respond.
///
/// # Errors
/// Fails if the mount table can't be read.
pub fn mounts_at(point: &Path) -> io::Result<Vec<Mount>> {
    let table = std::fs::read(Roots::default().proc.join("self/mountinfo"))?;
    Ok(parse(&table).into_iter().filter(|mount| mount.point == point).collect())
}

/// Returns the mounts that a process sees.
///
/// # Errors
/// Fails if its mount table can't be read.
pub fn mounts_of(process: u32) -> io::Result<Vec<Mount>> {
    Ok(parse(&std::fs::read(Roots::default().proc.join(format!("{process}/mountinfo")))?))
}

/// Returns the mounts that this process sees. Empty if the kernel does not report them.
pub(crate) fn seen(roots: &Roots) -> Vec<Mount> {
    parse(&roots::read_bytes(&roots.proc.join("self/mountinfo")).unwrap_or_default())
}

/// Parses a number such as `8:1`.
pub(crate) fn parse_number(words: &str) -> Option<Number> {
    let (major, minor) = words.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Decodes the kernel's escapes: `\040` is a blank.
pub(crate) fn unescape(escaped: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] if first == b'\\' => {
                Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
            }
            _ => None,
        };
        bytes.push(octal.unwrap_or(first));
        rest = &tail[if octal.is_some() { 3 } else { 0 }..];
    }
    bytes
}

/// Decodes the kernel's escapes in a word for display.
pub(crate) fn unescape_text(escaped: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(escaped)).into_owned()
}

/// Parses a mountinfo file. Invalid lines are skipped.
pub(crate) fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let number = parse_number(std::str::from_utf8(fields.nth(2)?).ok()?)?;
    let root = path_of_bytes(unescape(fields.next()?));
    let point = path_of_bytes(unescape(fields.next()?));
    let options = unescape_text(fields.next()?);
    // Optional fields end at a single dash.
    fields.by_ref().find(|&field| field == b"-")?;
    let kind = unescape_text(fields.next()?);
    let source = unescape_text(fields.next()?);
    let super_options = fields.next().map(unescape_text).unwrap_or_default();
    Some(Mount { number, root, point, options, kind, source, super_options })
}

/// Returns the mount that contains a canonical path whose files have this device number.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &Path, number: Number) -> Option<&'a Mount> {
    over(mounts.iter().filter(|mount| mount.number == number), path).or_else(|| over(mounts, path))
}

/// Returns the mount of a path: the longest mount point that contains it. Of several mounts there,
/// the last one covers the others.
pub(crate) fn over<'a>(mounts: impl IntoIterator<Item = &'a Mount>, path: &Path) -> Option<&'a Mount> {
    let holders = mounts.into_iter().filter(|mount| path.starts_with(&mount.point));
    holders.max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
35 27 8:17 / /mnt/my\\040stick rw,nosuid shared:5 master:1 - vfat /dev/sdb1 rw,utf8
36 27 0:44 /@home /home rw,noatime - btrfs /dev/sda2 rw,compress=zstd:3,subvol=/@home
40 27 8:33 / /home/u/deep rw - xfs /dev/sdc1 rw
garbage
41 27 8:49 / /mnt/twice rw - ext4 /dev/sdd1 rw
42 27 8:65 / /mnt/twice rw - ext4 /dev/sde1 rw
";

    fn source_of(path: &str, number: Number) -> String {
        holding(&parse(TABLE), Path::new(path), number).expect("a mount").source.clone()
    }

    #[test]
    fn the_longest_mount_point_with_the_number_holds_the_path() {
        assert_eq!(source_of("/etc/passwd", (254, 0)), "/dev/vda");
        assert_eq!(source_of("/mnt/my stick/a", (8, 17)), "/dev/sdb1");
        assert_eq!(source_of("/home/u/deep/x", (8, 33)), "/dev/sdc1");
    }

    #[test]
    fn the_longest_mount_point_wins_wherever_it_stands_in_the_table() {
        let mounts = parse(
            b"40 27 8:1 /sub /srv/sub rw - ext4 /dev/deep rw\n41 27 8:1 / /srv rw - ext4 /dev/flat rw\n",
        );
        let mount = holding(&mounts, Path::new("/srv/sub/x"), (8, 1)).expect("a mount");
        assert_eq!(mount.source, "/dev/deep");
    }

    #[test]
    fn a_prefix_of_a_name_is_not_a_mount_point() {
        assert_eq!(source_of("/homework", (254, 0)), "/dev/vda");
    }

    #[test]
    fn an_anonymous_number_falls_back_to_the_longest_point() {
        assert_eq!(source_of("/home/u/file", (0, 99)), "/dev/sda2");
    }

    #[test]
    fn the_number_decides_between_mounts_on_one_point() {
        assert_eq!(source_of("/mnt/twice/x", (8, 49)), "/dev/sdd1");
        assert_eq!(source_of("/mnt/twice/x", (8, 65)), "/dev/sde1");
        assert_eq!(source_of("/mnt/twice/x", (1, 1)), "/dev/sde1", "the later one covers the earlier");
    }

    #[test]
    fn options_are_told_once() {
        let mounts = parse(TABLE);
        assert_eq!(mounts[0].all_options(), "rw,relatime,discard");
        assert_eq!(mounts[2].option("subvol"), Some("/@home"));
        assert_eq!(mounts[2].option("sub"), None);
        assert_eq!(mounts.len(), 6);
    }

    #[test]
    fn escapes_are_undone_and_broken_ones_kept() {
        assert_eq!(unescape(b"a\\040b\\134c"), b"a b\\c");
        assert_eq!(unescape(b"\\04"), b"\\04");
        assert_eq!(unescape(b"\\999"), b"\\999");
        assert_eq!(unescape(b"\\777"), b"\\777", "beyond a byte");
    }
}
