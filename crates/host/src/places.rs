//! Directories on this machine where storage can be measured: one on each file system that is on
//! storage.

use crate::mount::{self, Mount};
use crate::platform;
use crate::roots::Roots;
use std::path::{Path, PathBuf};

/// File systems that are part of the running system or contain no user data.
const NOT_STORAGE: [&str; 5] = ["squashfs", "iso9660", "erofs", "efivarfs", "fuse.portal"];
/// Network and other file systems whose source is not a device.
const WITHOUT_DEVICE: [&str; 9] =
    ["zfs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "fuse.exfat-fuse"];

/// A file system of this machine, found without accessing it, because it may not respond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageMount {
    /// Its mount points. The first one that is a directory is used.
    points: Vec<MountPoint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct MountPoint {
    path: PathBuf,
    /// The user's directories on it, in order of preference.
    own: Vec<PathBuf>,
}

/// The directory on a file system in which a user would measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateDirectory {
    /// The user's first writable directory, or the mount point.
    pub directory: PathBuf,
    /// Whether files can be created there.
    pub is_writable: bool,
}

/// Returns the file systems of this machine without duplicates. `own` contains the user's
/// directories in order of preference.
pub fn storage_mounts(own: &[PathBuf]) -> Vec<StorageMount> {
    storage_of(&mount::seen(&Roots::default()), own)
}

fn storage_of(mounts: &[Mount], own: &[PathBuf]) -> Vec<StorageMount> {
    let mut keys = Vec::new();
    let mut storage: Vec<StorageMount> = Vec::new();
    for mount in mounts.iter().filter(|mount| is_storage(mount)) {
        // A part of the file system that is mounted elsewhere, as in a container, is the same
        // storage.
        let key = (mount.number, &mount.source);
        let index = keys.iter().position(|other| *other == key).unwrap_or_else(|| {
            keys.push(key);
            storage.push(StorageMount { points: Vec::new() });
            storage.len() - 1
        });
        let is_on_it = |directory: &&PathBuf| mount::over(mounts, directory) == Some(mount);
        storage[index].points.push(MountPoint {
            path: mount.point.clone(),
            own: own.iter().filter(is_on_it).cloned().collect(),
        });
    }
    storage
}

impl StorageMount {
    /// Returns the first mount point.
    pub fn path(&self) -> &Path {
        &self.points[0].path
    }

    /// Returns the directory in which to measure. `None` if no directory is mounted. Accesses the
    /// file system.
    pub fn directory(&self) -> Option<CandidateDirectory> {
        self.directory_where(&platform::is_writable_directory)
    }

    fn directory_where(&self, is_writable: &dyn Fn(&Path) -> bool) -> Option<CandidateDirectory> {
        let MountPoint { path, own } = self.points.iter().find(|point| point.path.is_dir())?;
        let writable = own.iter().chain([path]).find(|directory| is_writable(directory));
        Some(CandidateDirectory {
            is_writable: writable.is_some(),
            directory: writable.unwrap_or(path).clone(),
        })
    }
}

fn is_storage(mount: &Mount) -> bool {
    let is_device = mount.source.starts_with("/dev/") && !NOT_STORAGE.contains(&mount.kind.as_str());
    is_device || WITHOUT_DEVICE.contains(&mount.kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_storage_is_named_once_with_a_directory_of_the_user() {
        let mountinfo = b"21 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            22 21 0:5 / /proc rw - proc proc rw\n\
            23 21 8:1 /var /usr rw - ext4 /dev/sda1 rw\n\
            24 21 7:0 / /tmp ro - squashfs /dev/loop0 ro\n\
            25 21 8:2 / /home rw - xfs /dev/sda2 rw\n";
        let mounts = mount::parse(mountinfo);
        let own = [PathBuf::from("/home/a/work"), PathBuf::from("/home/a"), PathBuf::from("/var/tmp")];
        let directories = |is_writable: &dyn Fn(&Path) -> bool| -> Vec<CandidateDirectory> {
            storage_of(&mounts, &own).iter().filter_map(|one| one.directory_where(is_writable)).collect()
        };
        let candidate =
            |directory: &str| CandidateDirectory { directory: directory.into(), is_writable: true };
        let but_two = directories(&|path| path != Path::new("/") && path != Path::new("/home/a/work"));
        assert_eq!(but_two, [candidate("/var/tmp"), candidate("/home/a")]);
        let none = directories(&|_| false);
        assert_eq!(none.iter().filter(|one| one.is_writable).count(), 0);
        assert_eq!(none[0].directory, Path::new("/"));
    }
}
