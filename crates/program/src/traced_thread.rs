//! Memory, descriptors and paths of a stopped thread, through /proc.

use kurabe_promise::{FileNumber, NamePlace};
use rustix::fs::{AtFlags, CWD, FileType, Stat};
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

/// Longest path, as the kernel has it.
const MOST_PATH_BYTES: usize = 4096;
/// Most buffers of one call, as the kernel has it.
const MOST_BUFFERS: u64 = 1024;

/// A thread that is stopped at one of its calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedThread {
    pub(crate) thread: u32,
    /// Number of the device whose files are followed.
    pub(crate) device: u64,
}

/// An open file or folder of the followed device.
#[derive(Clone, Debug)]
pub(crate) struct OpenFile {
    pub(crate) number: FileNumber,
    pub(crate) size_bytes: u64,
    pub(crate) is_regular: bool,
    /// Through which it can be opened again.
    pub(crate) path: PathBuf,
}

/// A path, and what it leads to.
#[derive(Clone, Debug)]
pub(crate) struct PathInFolder {
    pub(crate) at: NamePlace,
    /// The existing file or folder, without following a symbolic link.
    pub(crate) existing: Option<OpenFile>,
    /// Path for kurabe.
    pub(crate) path: PathBuf,
}

impl TracedThread {
    fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.thread))
    }

    /// Returns the process of the thread.
    pub(crate) fn process(&self) -> u32 {
        let status = std::fs::read_to_string(self.proc("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        line.and_then(|line| line.trim().parse().ok()).unwrap_or(self.thread)
    }

    /// Reads memory; less than asked for if a part is not accessible.
    pub(crate) fn memory(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let read = File::open(self.proc("mem")).and_then(|memory| memory.read_at(&mut bytes, address));
        bytes.truncate(read.unwrap_or(0));
        bytes
    }

    /// Reads a number of 64 bits.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        Some(u64::from_ne_bytes(self.memory(address, 8).try_into().ok()?))
    }

    /// Reads the contents of the buffers of `writev`, up to a number of bytes.
    pub(crate) fn buffers(&self, list: u64, count: u64, most_bytes: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let list = self.memory(list, 16 * count.min(MOST_BUFFERS) as usize);
        let word = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or_default();
        for entry in list.chunks_exact(16) {
            let length = (word(&entry[8..]) as usize).min(most_bytes - bytes.len());
            bytes.extend(self.memory(word(&entry[..8]), length));
        }
        bytes
    }

    /// Returns the sum of the lengths of the buffers of `writev`.
    pub(crate) fn buffers_length(&self, list: u64, count: u64) -> u64 {
        let list = self.memory(list, 16 * count.min(MOST_BUFFERS) as usize);
        let length = |entry: &[u8]| entry[8..].try_into().map(u64::from_ne_bytes).unwrap_or_default();
        list.chunks_exact(16).map(length).sum()
    }

    fn text(&self, address: u64) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        // Reads up to the end of each page, because the next one may not exist.
        while text.len() < MOST_PATH_BYTES {
            let from = address + text.len() as u64;
            let part = self.memory(from, (4096 - from % 4096) as usize);
            match part.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend(&part[..end]);
                    return Some(text);
                }
                None if part.is_empty() => return None,
                None => text.extend(part),
            }
        }
        None
    }

    /// Returns the file of a descriptor if it is on the followed device.
    pub(crate) fn open_file(&self, descriptor: u64) -> Option<OpenFile> {
        let path = self.proc(&format!("fd/{}", descriptor as u32 as i32));
        self.file_of(&path, &rustix::fs::stat(&path).ok()?)
    }

    /// Returns a file if it is on the followed device.
    pub(crate) fn file_of(&self, path: &Path, stat: &Stat) -> Option<OpenFile> {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let is_regular = kind == FileType::RegularFile;
        (stat.st_dev == self.device).then(|| OpenFile {
            number: stat.st_ino,
            size_bytes: if is_regular { stat.st_size as u64 } else { 0 },
            is_regular,
            path: path.to_owned(),
        })
    }

    /// Returns the flags of a descriptor, and its position.
    pub(crate) fn flags_and_position(&self, descriptor: u64) -> Option<(u64, u64)> {
        let facts =
            std::fs::read_to_string(self.proc(&format!("fdinfo/{}", descriptor as u32 as i32))).ok()?;
        let value = |name: &str| facts.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        Some((u64::from_str_radix(value("flags:")?, 8).ok()?, value("pos:")?.parse().ok()?))
    }

    /// Returns what a path in memory leads to, from an open folder or the current one. `None` if it
    /// is not on the followed device.
    pub(crate) fn path(&self, folder: Option<u64>, address: u64) -> Option<PathInFolder> {
        let words = PathBuf::from(std::ffi::OsString::from_vec(self.text(address)?));
        let Some(Component::Normal(name)) = words.components().next_back() else { return None };
        let above = words.parent().unwrap_or(Path::new(""));
        let start = match folder.map(|folder| folder as u32 as i32) {
            _ if words.is_absolute() => self.proc("root"),
            Some(folder) if folder != libc::AT_FDCWD => self.proc(&format!("fd/{folder}")),
            _ => self.proc("cwd"),
        };
        // A symbolic link that leads to an absolute path would lead elsewhere in another root.
        let above = start.join(above.strip_prefix("/").unwrap_or(above));
        let parent = self.file_of(&above, &rustix::fs::stat(&above).ok()?)?;
        let path = above.join(name);
        let existing = rustix::fs::statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW);
        let existing = existing.ok().and_then(|stat| self.file_of(&path, &stat));
        let at = NamePlace { folder: parent.number, name: name.to_string_lossy().into_owned() };
        Some(PathInFolder { at, existing, path })
    }
}
