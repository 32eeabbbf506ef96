//! Identification of a folder, independent of where its file system is mounted.
//!
//! A folder is identified by its inode number and its file system. A file system is identified by
//! its own id if udev knows it, otherwise by what the kernel reports (`f_fsid`, and the device
//! number during one boot). If a file system assigns new inode numbers at each mount (FAT stores
//! none on the medium), they are meaningless and left out. Sources: statfs(2) `f_fsid`,
//! proc_pid_mountinfo(5); udev stores its information about block devices in /run/udev/data.

use crate::identity::boot_id;
use crate::mount;
use crate::platform::{self, Number};
use crate::roots::{self, Roots};
use kurabe_core::made::{FileSystemFacts, FolderFacts};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// File systems without persistent inode numbers.
const WITHOUT_INODES: [&str; 3] = ["vfat", "msdos", "exfat"];

/// Returns whether inode numbers on a file system of this type persist across mounts.
pub fn has_lasting_inodes(kind: &str) -> bool {
    // FUSE ("fuse.sshfs", "fuseblk"): the server may assign new numbers when a file is not in use.
    !WITHOUT_INODES.contains(&kind) && !kind.starts_with("fuse")
}

/// Returns the facts that identify an open folder. `path` is its path.
///
/// # Errors
/// Returns the errors of the file system.
pub fn folder_facts(folder: impl AsFd, path: &Path) -> io::Result<FolderFacts> {
    facts_in(&Roots::default(), &folder, path)
}

fn facts_in(roots: &Roots, folder: &impl AsFd, path: &Path) -> io::Result<FolderFacts> {
    let status = platform::file_status(folder)?;
    let mounts = mount::seen(roots);
    let mount = mount::holding(&mounts, path, status.number);
    // If /proc is not mounted, the device number must suffice.
    let (kind, depth, root) = mount.map_or_else(
        || (String::new(), 0, PathBuf::from("/")),
        |mount| (mount.kind.clone(), mount.point.components().count().saturating_sub(1), mount.root.clone()),
    );
    Ok(FolderFacts {
        inode: has_lasting_inodes(&kind).then_some(status.inode),
        file_system: FileSystemFacts {
            kind,
            device: status.device,
            boot_id: boot_id(roots),
            fsid: status.fsid,
            uuid: uuid(roots, status.number),
        },
        mount_depth: depth,
        mount_root: root,
    })
}

/// Returns other paths at which a folder may be, because its file system is mounted there. They are
/// only candidates that the caller must verify. Accesses every mounted file system of the folder's
/// type, and hangs if one of them does.
pub fn mounted_elsewhere(folder: &FolderFacts, path: &Path) -> Vec<PathBuf> {
    let roots = Roots::default();
    let inside = folder.inside(path);
    let mut places: Vec<PathBuf> = mount::seen(&roots)
        .into_iter()
        .filter(|mount| mount.kind == folder.file_system.kind)
        .filter_map(|mount| {
            let rest = inside.strip_prefix(&mount.root).ok()?;
            let point = platform::open_folder(&mount.point).ok()?;
            let others = facts_in(&roots, &point, &mount.point).ok()?;
            others.file_system.is_same(&folder.file_system).then(|| mount.point.join(rest))
        })
        .filter(|place| place != path)
        .collect();
    places.dedup();
    places
}

/// Returns the file system's own id on a block device, as read by udev.
fn uuid(roots: &Roots, (major, minor): Number) -> Option<String> {
    let properties = roots::text(&roots.run.join(format!("udev/data/b{major}:{minor}")))?;
    properties.lines().find_map(|line| line.strip_prefix("E:ID_FS_UUID=")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use std::fs::File;

    #[test]
    fn a_folder_is_its_number_and_its_file_system() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let facts = folder_facts(File::open(&path).unwrap(), &path).unwrap();
        assert!(facts.inode.is_some() && !facts.file_system.kind.is_empty());
        assert!(
            path.starts_with(
                path.ancestors().nth(path.components().count() - 1 - facts.mount_depth).unwrap()
            )
        );
        let other = folder_facts(File::open("/").unwrap(), Path::new("/")).unwrap();
        assert_ne!(facts.inode, other.inode);
        assert!(facts.file_system.is_same(&facts.file_system));
    }

    /// On these file systems, a test file is identified by its mark.
    #[test]
    fn numbers_that_a_program_gives_do_not_last() {
        assert!(["ext4", "btrfs", "nfs4", "tmpfs"].into_iter().all(has_lasting_inodes));
        assert!(
            !["exfat", "fuse", "fuseblk", "fuse.sshfs", "fuse.mergerfs"].into_iter().any(has_lasting_inodes)
        );
    }

    #[test]
    fn numbers_of_fat_are_left_out_and_udev_is_asked_for_the_id() {
        let fake = Fake::new();
        let (dir, status) =
            (tempfile::tempdir().unwrap(), platform::file_status(File::open("/").unwrap()).unwrap());
        let path = dir.path().canonicalize().unwrap();
        let folder = File::open(&path).unwrap();
        let (major, minor) = platform::file_status(&folder).unwrap().number;
        assert!(status.inode > 0);
        fake.file("proc/self/mountinfo", format!("30 1 {major}:{minor} / / rw - vfat /dev/sdb1 rw\n"));
        fake.file(
            &format!("run/udev/data/b{major}:{minor}"),
            "S:disk/by-uuid/1A2B-3C4D\nE:ID_FS_UUID=1A2B-3C4D\n",
        );
        let facts = facts_in(&fake.roots, &folder, &path).unwrap();
        assert_eq!((facts.inode, facts.file_system.uuid.as_deref()), (None, Some("1A2B-3C4D")));
        assert_eq!((facts.mount_depth, facts.inside(&path)), (0, path));
    }
}
