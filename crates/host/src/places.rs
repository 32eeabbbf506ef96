//! Where on this machine something can be measured: a directory on each file system that stands on storage.

use crate::mount::{self, Mount};
use crate::platform;
use crate::roots::{self, Roots};
use std::path::{Path, PathBuf};

/// File systems that are a part of the running system or hold no data of a user.
const NOT_STORAGE: [&str; 5] = ["squashfs", "iso9660", "erofs", "efivarfs", "fuse.portal"];
/// File systems on other machines and in other places of storage, whose source is no device.
const WITHOUT_DEVICE: [&str; 9] =
    ["zfs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "fuse.exfat-fuse"];

/// A file system, and the directory on it that a user would measure in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateDirectory {
    /// The directory: where it is mounted, or the first of `own` that is on it if nothing can be written there.
    pub directory: PathBuf,
    /// Whether a file can be made there.
    pub is_writable: bool,
}

/// The file systems of this machine, each once. `own`: directories of the user, the best first.
pub fn places(own: &[PathBuf]) -> Vec<CandidateDirectory> {
    let mountinfo = roots::read_bytes(&Roots::default().proc.join("self/mountinfo")).unwrap_or_default();
    places_of(&mount::parse(&mountinfo), own, &platform::is_writable_directory)
}

fn places_of(
    mounts: &[Mount],
    own: &[PathBuf],
    is_writable: &dyn Fn(&Path) -> bool,
) -> Vec<CandidateDirectory> {
    let mut seen = Vec::new();
    let mut places = Vec::new();
    for mount in mounts.iter().filter(|mount| is_storage(mount)) {
        // A part that is mounted elsewhere, as in a container, is the same storage.
        if seen.contains(&(mount.number, &mount.source)) || !mount.point.is_dir() {
            continue;
        }
        seen.push((mount.number, &mount.source));
        let on_it = own.iter().filter(|directory| holder(mounts, directory) == Some(mount));
        let candidates = on_it.chain([&mount.point]);
        let directory = candidates.clone().find(|directory| is_writable(directory));
        places.push(CandidateDirectory {
            is_writable: directory.is_some(),
            directory: directory.unwrap_or(&mount.point).clone(),
        });
    }
    places
}

fn is_storage(mount: &Mount) -> bool {
    let is_device = mount.source.starts_with("/dev/") && !NOT_STORAGE.contains(&mount.kind.as_str());
    is_device || WITHOUT_DEVICE.contains(&mount.kind.as_str())
}

/// The mount that a path is on: the longest that holds it, of several the last one, which covers the others.
fn holder<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
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
        let places =
            places_of(&mounts, &own, &|path| path != Path::new("/") && path != Path::new("/home/a/work"));
        let place = |directory: &str| CandidateDirectory { directory: directory.into(), is_writable: true };
        assert_eq!(places, [place("/var/tmp"), place("/home/a")]);
        let none = places_of(&mounts, &[], &|_| false);
        assert_eq!(none.iter().filter(|place| place.is_writable).count(), 0);
        assert_eq!(none[0].directory, Path::new("/"));
    }
}
