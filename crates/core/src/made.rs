//! Files and folders that kurabe created on the user's storage and must remove. The stored facts
//! are sufficient to recognise them after a crash, when their name may belong to another file and
//! their file system may be mounted elsewhere.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A test file or work folder, as stored until its removal is confirmed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFile {
    /// The path at which it was created, without symbolic links.
    #[serde(skip)]
    pub path: PathBuf,
    /// The random token of its mark, 32 digits long. Empty if it was created by a version of kurabe
    /// without marks.
    pub word: String,
    /// The folder in which it was created.
    pub folder: Option<FolderFacts>,
    /// Facts known once it has been created; `None` before.
    pub made: Option<MadeFacts>,
    /// Why it still exists although its run has ended. Set once the user has been informed.
    pub told: Option<StillThere>,
}

/// Facts about a file or folder that was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFacts {
    /// Inode number. `None` if the file system assigns new numbers at each mount.
    pub inode: Option<u64>,
    /// User id of the owner.
    pub user: u32,
}

/// A folder, identified independently of where its file system is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderFacts {
    /// Inode number. `None` if the file system assigns new numbers at each mount.
    pub inode: Option<u64>,
    /// The file system that contains it.
    pub file_system: FileSystemFacts,
    /// Number of path components down to the mount point of its file system.
    pub mount_depth: usize,
    /// The folder of the file system that is mounted there.
    pub mount_root: PathBuf,
}

/// Facts that identify a file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystemFacts {
    /// Its type, such as `ext4`.
    pub kind: String,
    /// `st_dev` of its files. After a reboot, another device may have the same number.
    pub device: u64,
    /// Id of the boot during which the device has this number.
    pub boot_id: String,
    /// `f_fsid`, derived from the file system's own id or from the device number. 0 if there is
    /// none.
    pub fsid: u64,
    /// The file system's own id, if udev knows it.
    pub uuid: Option<String>,
}

/// Why something that a run created still exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StillThere {
    /// The file at that path has no mark, or a different one.
    OtherMark,
    /// The file at that path is a different one: its inode number differs, or it has a second hard
    /// link.
    OtherFile,
    /// The file at that path belongs to another user.
    OtherUser,
    /// The folder is not at its path. It was renamed, or its file system is not mounted.
    FolderAway,
}

impl FileSystemFacts {
    /// Returns whether both describe the same file system, as far as the known facts allow.
    pub fn is_same(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        if let (Some(own), Some(others)) = (&self.uuid, &other.uuid) {
            return own == others;
        }
        let same_boot = !self.boot_id.is_empty() && self.boot_id == other.boot_id;
        (self.fsid != 0 && self.fsid == other.fsid) || (same_boot && self.device == other.device)
    }
}

impl FolderFacts {
    /// Returns whether both describe the same folder, as far as the known facts allow.
    pub fn is_same(&self, other: &Self) -> bool {
        self.inode == other.inode && self.file_system.is_same(&other.file_system)
    }

    /// Returns the path of the folder within its file system, given that `path` was its absolute
    /// path.
    pub fn inside(&self, path: &Path) -> PathBuf {
        // The root directory also counts as a component.
        self.mount_root.join(path.components().skip(self.mount_depth + 1).collect::<PathBuf>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(device: u64, boot_id: &str, fsid: u64, uuid: Option<&str>) -> FileSystemFacts {
        let (boot_id, uuid) = (boot_id.to_owned(), uuid.map(str::to_owned));
        FileSystemFacts { kind: "ext4".to_owned(), device, boot_id, fsid, uuid }
    }

    #[test]
    fn a_file_system_is_known_by_its_own_id_first_and_by_the_device_during_one_boot() {
        let stick = facts(8, "b1", 77, Some("a-b"));
        assert!(stick.is_same(&facts(9, "b2", 78, Some("a-b"))));
        assert!(!stick.is_same(&facts(8, "b1", 77, Some("c-d"))), "another stick in the same port");
        assert!(stick.is_same(&facts(9, "b2", 77, None)));
        assert!(stick.is_same(&facts(8, "b1", 78, None)));
        assert!(!stick.is_same(&facts(8, "b2", 78, None)), "the number means nothing after a restart");
        assert!(!facts(8, "", 0, None).is_same(&facts(8, "", 0, None)), "nothing is known of either");
        assert!(!stick.is_same(&FileSystemFacts { kind: "xfs".to_owned(), ..stick.clone() }));
    }

    #[test]
    fn a_path_within_the_file_system_begins_where_that_is_mounted() {
        let folder = |depth, root: &str| FolderFacts {
            inode: Some(2),
            file_system: facts(8, "b", 1, None),
            mount_depth: depth,
            mount_root: root.into(),
        };
        let path = Path::new("/mnt/stick/tests");
        assert_eq!(folder(2, "/").inside(path), Path::new("/tests"));
        assert_eq!(folder(0, "/").inside(path), path);
        assert_eq!(folder(2, "/@home").inside(path), Path::new("/@home/tests"));
        assert_eq!(folder(3, "/").inside(path), Path::new("/"));
    }
}
