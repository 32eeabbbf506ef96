//! The locations of the kernel's file systems, and lenient reading from them.
//!
//! Every reader of this crate starts from a [`Roots`], so tests can provide their own tree. Files
//! in sysfs and procfs can disappear, refuse access or contain anything. These readers then return
//! `None`.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Maximum number of bytes read from a file. /proc/self/mountinfo of a busy container host is far
/// smaller.
const LONGEST_BYTES: u64 = 16 << 20;

/// The directories from which facts are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// The root directory, for everything outside the directories below.
    pub root: PathBuf,
    /// sysfs, normally `/sys`.
    pub sys: PathBuf,
    /// procfs, normally `/proc`.
    pub proc: PathBuf,
    /// Device nodes, normally `/dev`.
    pub dev: PathBuf,
    /// Configuration, normally `/etc`.
    pub etc: PathBuf,
    /// State since boot, normally `/run`.
    pub run: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self::under(Path::new("/"))
    }
}

impl Roots {
    /// Returns the usual locations below a directory.
    pub fn under(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            sys: root.join("sys"),
            proc: root.join("proc"),
            dev: root.join("dev"),
            etc: root.join("etc"),
            run: root.join("run"),
        }
    }

    /// Maps an absolute path from the kernel or a file to a path below these roots.
    pub(crate) fn relocate(&self, path: &Path) -> PathBuf {
        let mut parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
        let rest: PathBuf = parts.clone().collect();
        match parts.next().and_then(|first| first.as_os_str().to_str()) {
            Some("dev") => self.dev.join(parts.collect::<PathBuf>()),
            _ => self.root.join(rest),
        }
    }

    /// Returns the directory of a block device in sysfs, with links resolved.
    pub(crate) fn block_directory(&self, name: &str) -> Option<PathBuf> {
        std::fs::canonicalize(self.sys.join("class/block").join(name)).ok()
    }

    /// Returns the device node of a block device. The kernel name contains `!` where the node has
    /// `/`.
    pub(crate) fn node(&self, name: &str) -> PathBuf {
        self.dev.join(name.replace('!', "/"))
    }
}

/// Reads a file's bytes. A file longer than [`LONGEST_BYTES`] is truncated.
///
/// # Errors
/// Returns the operating system's error.
pub(crate) fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LONGEST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file's text without surrounding blanks. Invalid UTF-8 is replaced.
pub fn text(path: &Path) -> Option<String> {
    let bytes = read_bytes(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
}

/// Reads a file's text, unless it is empty.
pub(crate) fn words(path: &Path) -> Option<String> {
    text(path).filter(|text| !text.is_empty())
}

/// Reads a file that contains a number.
pub(crate) fn number<T: std::str::FromStr>(path: &Path) -> Option<T> {
    text(path)?.parse().ok()
}

/// Reads a file that contains `0` or `1`.
pub(crate) fn flag(path: &Path) -> Option<bool> {
    match text(path)?.as_str() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Returns the names in a directory, sorted. Empty if it can't be read.
pub fn names(directory: &Path) -> Vec<String> {
    names_checked(directory).unwrap_or_default()
}

/// Returns the names in a directory, sorted.
///
/// # Errors
/// Returns the operating system's error.
pub(crate) fn names_checked(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Returns the last component of a link's target, such as a driver's name.
pub(crate) fn link_name(link: &Path) -> Option<String> {
    Some(std::fs::read_link(link).ok()?.file_name()?.to_string_lossy().into_owned())
}

/// Returns the last component of a path as text.
pub fn base(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the bracketed word in a list such as `none [mq-deadline] kyber`. A single word without
/// brackets is returned as it is.
pub(crate) fn chosen(choice: &str) -> Option<String> {
    if let Some((_, rest)) = choice.split_once('[') {
        return rest.split_once(']').map(|(word, _)| word.to_owned());
    }
    let mut words = choice.split_whitespace();
    match (words.next(), words.next()) {
        (Some(word), None) => Some(word.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_word_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen("a b"), None);
        assert_eq!(chosen(""), None);
        assert_eq!(chosen("[broken"), None);
    }

    #[test]
    fn absolute_paths_are_found_below_the_roots() {
        let mut roots = Roots::under(Path::new("/t"));
        assert_eq!(roots.relocate(Path::new("/srv/x.img")), Path::new("/t/srv/x.img"));
        assert_eq!(roots.relocate(Path::new("/dev/disk/by-id/a")), Path::new("/t/dev/disk/by-id/a"));
        roots.dev = PathBuf::from("/d");
        assert_eq!(roots.relocate(Path::new("/dev/sda")), Path::new("/d/sda"));
        assert_eq!(Roots::default().relocate(Path::new("/dev/sda")), Path::new("/dev/sda"));
    }

    #[test]
    fn a_node_has_a_slash_where_the_kernel_has_a_mark() {
        assert_eq!(Roots::default().node("cciss!c0d0"), Path::new("/dev/cciss/c0d0"));
    }
}
