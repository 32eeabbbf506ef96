//! What kurabe made on somebody's storage and must take away again: enough of it to know it once more after a kill, when
//! its name may be another's, and its file system may be mounted elsewhere.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A test file or a work folder, as the store keeps it until it is known to be gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFile {
    /// Where it was made, without links.
    #[serde(skip)]
    pub path: PathBuf,
    /// The random word of its mark, in 32 digits; empty where it was made by a kurabe that did not mark.
    pub word: String,
    /// The folder that it was made in.
    pub folder: Option<FolderFacts>,
    /// What is known since it is there; `None` before.
    pub made: Option<MadeFacts>,
    /// Why it is still there although its run has ended, once somebody was told.
    pub told: Option<StillThere>,
}

/// A file or folder that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFacts {
    /// Its number on its file system; `None` where the numbers are drawn anew at each mount.
    pub inode: Option<u64>,
    /// The user it belongs to.
    pub user: u32,
}

/// A folder, wherever its file system is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderFacts {
    /// Its number on its file system; `None` where the numbers are drawn anew at each mount.
    pub inode: Option<u64>,
    /// Its file system.
    pub file_system: FileSystemFacts,
    /// How many names of its path lead to where its file system is mounted.
    pub mount_depth: usize,
    /// Which folder of the file system is mounted there.
    pub mount_root: PathBuf,
}

/// A file system, as well as it can be known again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystemFacts {
    /// Its type, such as `ext4`.
    pub kind: String,
    /// `st_dev` of its files: another device may get this number after the next start of the machine.
    pub device: u64,
    /// The machine's start during which the device has this number.
    pub boot_id: String,
    /// `f_fsid`: made of the file system's own id, or of the device's number; 0 where there is none.
    pub fsid: u64,
    /// Its own id, where udev knows it.
    pub uuid: Option<String>,
}

/// Why something that a run made is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StillThere {
    /// What has the name bears no mark, or another one.
    OtherMark,
    /// What has the name is another file: its number differs, or it has a second name.
    OtherFile,
    /// What has the name belongs to another user.
    OtherUser,
    /// The folder is not where it was: renamed, or its file system is not mounted.
    FolderAway,
}

impl FileSystemFacts {
    /// Whether it is the same file system, as far as both tell.
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
    /// Whether it is the same folder, as far as both tell.
    pub fn is_same(&self, other: &Self) -> bool {
        self.inode == other.inode && self.file_system.is_same(&other.file_system)
    }

    /// The path of the folder within its file system, when this was its path.
    pub fn inside(&self, path: &Path) -> PathBuf {
        // The root is a component as well.
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
