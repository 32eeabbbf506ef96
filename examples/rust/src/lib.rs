//! A journal: an entry is on the medium when `append` returns.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

pub struct EntryLog(File);

impl EntryLog {
    pub fn open(path: &Path) -> io::Result<Self> {
        File::options().create(true).append(true).open(path).map(Self)
    }

    pub fn append(&mut self, entry: &str) -> io::Result<()> {
        writeln!(self.0, "{entry}")?;
        self.0.sync_data()
    }
}
