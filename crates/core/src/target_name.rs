//! Names of targets, as users type them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// Prefix of the name of a model, on command lines and in records.
pub const MODEL_PREFIX: &str = "model:";

/// A target: a path, or `model:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PathBuf", into = "PathBuf")]
pub enum TargetName {
    /// A directory, a file or a block device.
    Path(PathBuf),
    /// A model, by its name.
    Model(String),
}

impl TargetName {
    /// Returns the name of the model.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Model(name) => Some(name),
            Self::Path(_) => None,
        }
    }

    /// Returns it as its user types it.
    pub fn typed(&self) -> PathBuf {
        self.clone().into()
    }

    /// Returns the path, unless it names a model.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Model(_) => None,
            Self::Path(path) => Some(path),
        }
    }
}

impl From<PathBuf> for TargetName {
    fn from(word: PathBuf) -> Self {
        match word.to_str().and_then(|word| word.strip_prefix(MODEL_PREFIX)) {
            Some(name) => Self::Model(name.to_owned()),
            None => Self::Path(word),
        }
    }
}

impl From<&Path> for TargetName {
    fn from(word: &Path) -> Self {
        Self::from(word.to_owned())
    }
}

impl From<&str> for TargetName {
    fn from(word: &str) -> Self {
        Self::from(PathBuf::from(word))
    }
}

impl From<TargetName> for PathBuf {
    fn from(name: TargetName) -> Self {
        match name {
            TargetName::Path(path) => path,
            TargetName::Model(_) => Self::from(name.to_string()),
        }
    }
}

impl fmt::Display for TargetName {
    /// Writes the name as its user types it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Model(name) => write!(f, "{MODEL_PREFIX}{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_model_is_named_by_its_prefix_and_everything_else_is_a_path() {
        let model = TargetName::from("model:hdd-nas");
        assert_eq!((model.model(), model.path()), (Some("hdd-nas"), None));
        assert_eq!(PathBuf::from(model), Path::new("model:hdd-nas"));
        for path in ["./model:hdd-nas", "/dev/sda", ".", ""] {
            assert_eq!(TargetName::from(path).path(), Some(Path::new(path)));
        }
        // A name that isn't UTF-8 is a path like any other.
        let odd = Path::new(OsStr::from_bytes(b"model:\xff"));
        assert_eq!(TargetName::from(odd).path(), Some(odd));
    }
}
