//! Where the kernel's file systems are, and lenient reading from them.
//!
//! Every reader of this crate starts from a [`Roots`], so a test hands it a tree of its own. Files of sysfs and
//! procfs can vanish, refuse or hold anything; these readers then say `None`.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Longest file that is read whole; /proc/self/mountinfo of a busy host of containers stays far below.
const LONGEST_BYTES: u64 = 16 << 20;

/// The places that facts are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// The root directory: whatever lies outside the directories below.
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
    /// The usual places below a directory.
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

    /// Where an absolute path that the kernel or a file names lies below these roots.
    pub(crate) fn relocate(&self, path: &Path) -> PathBuf {
        let mut parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
        let rest: PathBuf = parts.clone().collect();
        match parts.next().and_then(|first| first.as_os_str().to_str()) {
            Some("dev") => self.dev.join(parts.collect::<PathBuf>()),
            _ => self.root.join(rest),
        }
    }

    /// The directory of a block device in sysfs, links resolved.
    pub(crate) fn block_directory(&self, name: &str) -> Option<PathBuf> {
        std::fs::canonicalize(self.sys.join("class/block").join(name)).ok()
    }

    /// The device node of a block device. The kernel writes `!` where the node has `/`.
    pub(crate) fn node(&self, name: &str) -> PathBuf {
        self.dev.join(name.replace('!', "/"))
    }
}

/// A file's bytes; a file longer than [`LONGEST_BYTES`] is cut.
///
/// # Errors
/// An I/O error of the operating system.
pub(crate) fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LONGEST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file's text without surrounding blanks; bytes that are no UTF-8 are replaced.
pub fn text(path: &Path) -> Option<String> {
    let bytes = read_bytes(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
}

/// A file's text, if there is any.
pub(crate) fn words(path: &Path) -> Option<String> {
    text(path).filter(|text| !text.is_empty())
}

/// A file's whole number.
pub(crate) fn number<T: std::str::FromStr>(path: &Path) -> Option<T> {
    text(path)?.parse().ok()
}

/// A file that says `0` or `1`.
pub(crate) fn flag(path: &Path) -> Option<bool> {
    match text(path)?.as_str() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The names in a directory, sorted; none if it cannot be read.
pub fn names(directory: &Path) -> Vec<String> {
    names_checked(directory).unwrap_or_default()
}

/// The names in a directory, sorted.
///
/// # Errors
/// What the operating system says.
pub(crate) fn names_checked(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The last component of what a link points to, such as a driver's name.
pub(crate) fn link_name(link: &Path) -> Option<String> {
    Some(std::fs::read_link(link).ok()?.file_name()?.to_string_lossy().into_owned())
}

/// The last component of a path as text.
pub fn base(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The word in brackets of a choice such as `none [mq-deadline] kyber`; a single word without brackets is itself.
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
