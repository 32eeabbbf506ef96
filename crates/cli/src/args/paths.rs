//! Path arguments by role, so that a path is never used for another purpose than the one it was
//! given for. Outputs are [`kurabe_core::output_path::OutputPath`].

use kurabe_core::target_name::TargetName;
use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};

macro_rules! roles {
    ($($(#[$doc:meta])+ $name:ident)+) => {
        $($(#[$doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(pub PathBuf);

        impl From<OsString> for $name {
            fn from(path: OsString) -> Self {
                Self(path.into())
            }
        }

        impl Deref for $name {
            type Target = Path;

            fn deref(&self) -> &Path {
                &self.0
            }
        })+

        #[cfg(test)]
        pub(super) fn roles() -> Vec<std::any::TypeId> {
            vec![$(std::any::TypeId::of::<$name>()),+]
        }
    };
}

roles! {
    /// Where I/O goes: a directory, a file, a block device, or a model.
    TargetPath
    /// A target, with or without a name for it: `NAME=TARGET`.
    NamedTarget
    /// A block device, named by its node.
    DevicePath
    /// A Unix socket.
    SocketPath
    /// A file that is only read.
    InputPath
}

impl TargetPath {
    /// Returns the target that it names.
    pub fn name(&self) -> TargetName {
        self.0.as_path().into()
    }
}
