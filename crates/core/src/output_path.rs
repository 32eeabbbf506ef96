//! The destination of an output, as the user names it: a file, or one of the two standard streams.
//!
//! It is a separate type so that no output name is used as a plain path. Whether an output may be
//! written is decided only where the output is claimed.

use crate::shown;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// Names of standard output. Most tools use `-`; the others are names that the kernel provides.
const STDOUT_NAMES: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
/// Names of standard error.
const STDERR_NAMES: [&str; 3] = ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];

/// The destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPath {
    /// Standard output: `-` or `/dev/stdout`.
    Stdout,
    /// Standard error: `/dev/stderr`.
    Stderr,
    /// A file or a pipe.
    File(PathBuf),
}

impl OutputPath {
    /// Returns the path, unless the destination is a standard stream.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Stdout | Self::Stderr => None,
            Self::File(path) => Some(path),
        }
    }

    /// Returns the name for scripts. Only bytes that are not valid UTF-8 are escaped.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => shown::name(path),
            stream => stream.to_string(),
        }
    }
}

impl From<&OsStr> for OutputPath {
    fn from(name: &OsStr) -> Self {
        let is_one_of = |names: &[&str]| names.iter().any(|other| name == *other);
        match name {
            _ if is_one_of(&STDOUT_NAMES) => Self::Stdout,
            _ if is_one_of(&STDERR_NAMES) => Self::Stderr,
            _ => Self::File(name.into()),
        }
    }
}

impl From<OsString> for OutputPath {
    fn from(name: OsString) -> Self {
        Self::from(name.as_os_str())
    }
}

impl From<&str> for OutputPath {
    fn from(name: &str) -> Self {
        Self::from(OsStr::new(name))
    }
}

impl fmt::Display for OutputPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("-"),
            Self::Stderr => f.write_str("/dev/stderr"),
            Self::File(path) => f.write_str(&shown::path(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_streams_are_recognized_by_each_of_their_names() {
        for name in STDOUT_NAMES {
            assert_eq!(OutputPath::from(name), OutputPath::Stdout, "{name}");
        }
        assert_eq!(OutputPath::from("/dev/stderr"), OutputPath::Stderr);
        assert_eq!(OutputPath::from("./-"), OutputPath::File("./-".into()));
        assert_eq!(OutputPath::from("a\nb").to_string(), r"a\nb");
    }
}
