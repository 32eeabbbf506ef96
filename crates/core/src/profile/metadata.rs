//! The `metadata` step, which operates on files rather than on their data.

use crate::words::Keyword;
use crate::workload::Direction;
use serde::{Deserialize, Serialize};

/// A `metadata` step: creates, stats, reads, renames and removes files, like mdtest. Each part is a
/// cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MetadataStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table.
    pub label: Option<String>,
    /// Number of files per thread.
    pub files: u32,
    /// Number of threads.
    pub threads: u32,
    /// Whether all threads work in one folder.
    pub shared: bool,
    /// Whether each thread stats, reads and removes files that other threads created: those of the
    /// next thread, of the second next, and of the third next.
    #[serde(default)]
    pub neighbours: bool,
    /// Bytes written into each file when it is created.
    pub write_bytes: u32,
    /// Whether each file is synced when it is created.
    pub sync: bool,
    /// Whether dirty pages are written back and the page cache is dropped before each part.
    pub cold: bool,
    /// The measured parts, in the order of [`MetadataPart`]. Files are always created.
    pub parts: Vec<MetadataPart>,
}

/// A part of a `metadata` step: one or a few system calls for each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MetadataPart {
    /// Create, write and close the file.
    Create,
    /// Walk through all files, each by one thread, and stat those whose names match (`*01*`), like
    /// IO500's `find`.
    Find,
    /// Stat the file.
    Stat,
    /// Open, read the whole file and close it.
    Read,
    /// Rename the file within its folder.
    Rename,
    /// Remove the file.
    Unlink,
}

/// The keywords used in profiles, formulas and records.
impl Keyword for MetadataPart {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("create", Self::Create),
        ("find", Self::Find),
        ("stat", Self::Stat),
        ("read", Self::Read),
        ("rename", Self::Rename),
        ("unlink", Self::Unlink),
    ];
}

impl MetadataPart {
    /// Returns the direction of the accesses to the target.
    pub fn direction(self) -> Direction {
        match self {
            Self::Find | Self::Stat | Self::Read => Direction::Read,
            Self::Create | Self::Rename | Self::Unlink => Direction::Write,
        }
    }
}

impl MetadataStep {
    /// Returns the distance, in threads, to the thread that created the files of a part. mdtest
    /// shifts its tasks in the same way.
    pub fn shift(&self, part: MetadataPart) -> u32 {
        match part {
            MetadataPart::Stat if self.neighbours => 1,
            MetadataPart::Read if self.neighbours => 2,
            MetadataPart::Unlink if self.neighbours => 3,
            _ => 0,
        }
    }

    /// Returns the number of files of all threads.
    pub fn all_files(&self) -> u64 {
        u64::from(self.files) * u64::from(self.threads)
    }
}
