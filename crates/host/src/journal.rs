//! The journal of a file system.
//!
//! For ext3 and ext4, sysfs shows whether a journal is active, and procfs shows where it is
//! (`DISK-INODE` if it is an internal file) and how data is handled. XFS always has a log, on
//! another device if a mount option names one. FAT and memory file systems have none. For other
//! file systems nothing is reported, because copy-on-write is neither a journal nor equivalent to
//! its absence.

use crate::mount::Mount;
use crate::roots::{self, Roots};
use kurabe_core::environment::FileSystemJournal;

/// File systems without a journal.
const WITHOUT: [&str; 7] = ["ext2", "vfat", "msdos", "exfat", "tmpfs", "ramfs", "devtmpfs"];

/// Returns the journal of a mount on the device with this kernel name.
pub(crate) fn journal(roots: &Roots, mount: &Mount, device: Option<&str>) -> Option<FileSystemJournal> {
    match mount.kind.as_str() {
        kind if WITHOUT.contains(&kind) => Some(FileSystemJournal::Absent),
        "xfs" => Some(match mount.option("logdev") {
            Some(_) => FileSystemJournal::External { data: None },
            None => FileSystemJournal::Internal { data: None },
        }),
        "ext3" | "ext4" => ext(roots, device?),
        _ => None,
    }
}

fn ext(roots: &Roots, device: &str) -> Option<FileSystemJournal> {
    let task = roots::read_bytes(&roots.sys.join("fs/ext4").join(device).join("journal_task")).ok()?;
    if !task.iter().any(u8::is_ascii_digit) {
        return Some(FileSystemJournal::Absent);
    }
    let options = roots::read_bytes(&roots.proc.join("fs/ext4").join(device).join("options"));
    let options = String::from_utf8_lossy(&options.unwrap_or_default()).into_owned();
    let data = options.lines().find_map(|line| line.strip_prefix("data=")).map(str::to_owned);
    let own = format!("{device}-");
    let is_file = roots::names(&roots.proc.join("fs/jbd2")).iter().any(|name| {
        name.strip_prefix(&own).is_some_and(|inode| inode.bytes().all(|digit| digit.is_ascii_digit()))
    });
    Some(if is_file { FileSystemJournal::Internal { data } } else { FileSystemJournal::External { data } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::mount;

    fn told(fake: &Fake, kind: &str, options: &str) -> Option<FileSystemJournal> {
        let line = format!("20 1 8:1 / / rw - {kind} /dev/sda1 {options}\n");
        journal(&fake.roots, &mount::parse(line.as_bytes())[0], Some("sda1"))
    }

    #[test]
    fn a_journal_is_told_as_the_kernel_tells_it() {
        let fake = Fake::new();
        assert_eq!(told(&fake, "ext4", "rw"), None, "nobody tells");
        fake.file("sys/fs/ext4/sda1/journal_task", "<none>\n");
        assert_eq!(told(&fake, "ext4", "rw"), Some(FileSystemJournal::Absent));
        fake.file("sys/fs/ext4/sda1/journal_task", "312\n");
        fake.file("proc/fs/ext4/sda1/options", "rw\ndelalloc\ndata=ordered\ncommit=5\n");
        let data = Some("ordered".to_owned());
        assert_eq!(told(&fake, "ext4", "rw"), Some(FileSystemJournal::External { data: data.clone() }));
        fake.file("proc/fs/jbd2/sda1-8/info", "");
        assert_eq!(told(&fake, "ext3", "rw"), Some(FileSystemJournal::Internal { data }));
        assert_eq!(
            told(&fake, "xfs", "rw,logdev=/dev/sdb1"),
            Some(FileSystemJournal::External { data: None })
        );
        assert_eq!(told(&fake, "xfs", "rw,noquota"), Some(FileSystemJournal::Internal { data: None }));
        assert_eq!(told(&fake, "vfat", "rw"), Some(FileSystemJournal::Absent));
        assert_eq!(told(&fake, "btrfs", "rw"), None);
    }
}
