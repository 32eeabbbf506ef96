//! A step that works on the names of files rather than on their data.

use crate::words::Keyword;
use crate::workload::Direction;
use serde::{Deserialize, Serialize};

/// A `metadata` step: files that are made, looked at, read, renamed and removed, as mdtest does it. Each part is a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MetadataStep {
    /// Its name in formulas.
    pub id: Option<String>,
    /// Its name in the table.
    pub label: Option<String>,
    /// Files of each thread.
    pub files: u32,
    /// Threads.
    pub threads: u32,
    /// Whether all threads work in one folder.
    pub shared: bool,
    /// Whether each thread looks at, reads and removes what others made: those of the next thread, of the one behind it, and of the
    /// third.
    #[serde(default)]
    pub neighbours: bool,
    /// Bytes that are written into each file when it is made.
    pub write_bytes: u32,
    /// Whether each file is synced when it is made.
    pub sync: bool,
    /// Whether everything is written back and the page cache dropped before each part.
    pub cold: bool,
    /// What is done, in the order of [`MetadataPart`]; files are made in any case.
    pub parts: Vec<MetadataPart>,
}

/// A part of a `metadata` step: one call, or a few, for each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MetadataPart {
    /// Made, written, closed.
    Create,
    /// All files are walked through, each by one thread, and those looked at whose names fit (`*01*`), as IO500's `find` does it.
    Find,
    /// Its facts are asked for.
    Stat,
    /// Opened, read whole, closed.
    Read,
    /// Given another name in its folder.
    Rename,
    /// Removed.
    Unlink,
}

/// The words used in profiles, formulas and records.
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
    /// What it does to the target.
    pub fn direction(self) -> Direction {
        match self {
            Self::Find | Self::Stat | Self::Read => Direction::Read,
            Self::Create | Self::Rename | Self::Unlink => Direction::Write,
        }
    }
}

impl MetadataStep {
    /// How many threads further those stand who made the files of a part, as mdtest shifts its tasks.
    pub fn shift(&self, part: MetadataPart) -> u32 {
        match part {
            MetadataPart::Stat if self.neighbours => 1,
            MetadataPart::Read if self.neighbours => 2,
            MetadataPart::Unlink if self.neighbours => 3,
            _ => 0,
        }
    }

    /// Files of all threads.
    pub fn all_files(&self) -> u64 {
        u64::from(self.files) * u64::from(self.threads)
    }
}
