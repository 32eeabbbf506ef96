//! Files shared by several processes: one file in which each has a part, and other processes' files
//! that are read.
//!
//! The process that created a file passes on its path and inode number, and every process that
//! opens it checks both, so that another file that now has this name is not written. Only the
//! process that created the file removes it.

use crate::target::held::{HeldFile, Looked};
use crate::target::{Target, TargetOptions, cannot_open};
use kurabe_core::{ErrorKind, Result, shown, text};
use rustix::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that another process created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OthersFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Inode number of the file.
    pub inode: u64,
}

impl OthersFile {
    fn open(&self) -> Result<HeldFile> {
        let looked = Looked::at(&self.path).map_err(|error| cannot_open(&self.path, &error))?;
        let is_regular = FileType::from_raw_mode(looked.facts.st_mode) == FileType::RegularFile;
        if !is_regular || looked.facts.st_ino != self.inode {
            let path = shown::path(&self.path);
            return Err(ErrorKind::Refused.error(text!(
                "{path} is not the file that another rank created; check that all hosts see the same storage",
                "{path} は別のランクが作ったファイルではありません。すべてのホストから同じストレージが見えているか確認してください"
            )));
        }
        looked.open().map_err(|error| cannot_open(&self.path, &error))
    }
}

impl Target {
    /// Returns the test file that was created here, for other processes.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn for_others(&self) -> Result<Option<OthersFile>> {
        let Some(file) = self.test_file().filter(|_| self.held.is_some()) else { return Ok(None) };
        let status =
            rustix::fs::fstat(file.file()).map_err(|error| cannot_open(&self.path, &error.into()))?;
        Ok(Some(OthersFile { path: self.path.clone(), inode: status.st_ino }))
    }

    /// Redirects reads to another process's file. Writes still go to the own file.
    ///
    /// # Errors
    /// Fails if the file does not exist.
    pub fn read_from(&mut self, others: &OthersFile) -> Result<()> {
        self.read_instead = Some(Arc::new(others.open()?));
        Ok(())
    }

    /// Uses a part of a file that another process created in the target's folder.
    pub(crate) fn take_part(
        &mut self,
        folder: &Path,
        others: &OthersFile,
        options: &TargetOptions,
    ) -> Result<()> {
        if others.path.parent() != Some(folder) {
            let (path, folder) = (shown::path(&others.path), shown::path(folder));
            return Err(ErrorKind::Refused
                .error(text!("{path} is not in {folder}", "{path} は {folder} の中にありません"))
                .remedy(text!(
                    "name the same directory on all hosts",
                    "すべてのホストで同じディレクトリを指定してください"
                )));
        }
        let held = others.open()?.for_writing(false).map_err(|error| cannot_open(&others.path, &error))?;
        self.path.clone_from(&others.path);
        self.facts.path = shown::name(&others.path);
        self.facts.span_bytes = options.size_bytes;
        (self.held, self.takes_part) = (Some(Arc::new(held)), true);
        Ok(())
    }
}
