//! Promises of a command's calls about the files in its folder.

use crate::folder::served_folder::ServedFolder;
use kurabe_core::{Error, Result, text};
use kurabe_program::{BeforeSync, CallLog, CallRules, SyncOfFile};
use kurabe_promise::{
    BaseFile, BrokenPromise, CallBytes, FileCall, FileNumber, NamePlace, RecoveredFile, RecoveredTree,
    UnsafeOrder, hazards, judge,
};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

/// Most bytes of the files from before the command that are kept for a comparison.
const MOST_BASE_BYTES: u64 = 64 << 20;

/// Recording of a command.
pub(crate) struct Promised {
    root: FileNumber,
    base: Vec<BaseFile>,
    log: Arc<CallLog>,
}

impl Promised {
    /// Reads the folder before the command starts.
    pub(crate) fn start(
        folder: &ServedFolder,
        failing: &[SyncOfFile],
        before: Option<BeforeSync>,
    ) -> Result<Self> {
        let (root, base) = folder.look_at_folder(base_files)?.map_err(|error| {
            Error::os(text!("cannot read the command's folder", "コマンドのフォルダーを読めません"), &error)
        })?;
        let rules =
            CallRules { folder: folder.folder(), failing: failing.to_vec(), before, counts_all: false };
        Ok(Self { root, base, log: Arc::new(CallLog::new(rules)) })
    }

    pub(crate) fn log(&self) -> Arc<CallLog> {
        Arc::clone(&self.log)
    }

    /// Compares the promises with the files that exist now, after a power cut.
    pub(crate) fn judge(
        self,
        folder: &ServedFolder,
        orders: Vec<UnsafeOrder>,
        has_stable_numbers: bool,
    ) -> Result<(Vec<BrokenPromise>, Vec<UnsafeOrder>)> {
        let recorded = self.log.take();
        folder.look_at_folder(move |work| {
            let mut files = Vec::new();
            // A folder that cannot be read is missing with everything in it.
            let _ = recovered_files(work, Path::new(""), &mut files);
            let read = |path: &str, range: Range<u64>| {
                let mut bytes = vec![0; (range.end - range.start) as usize];
                let file = File::open(work.join(path)).ok()?;
                let mut length = 0;
                while length < bytes.len() {
                    match file.read_at(&mut bytes[length..], range.start + length as u64).ok()? {
                        0 => break,
                        read => length += read,
                    }
                }
                bytes.truncate(length);
                Some(bytes)
            };
            let tree = RecoveredTree { files, has_stable_numbers, read: &read };
            judge(self.root, &self.base, &recorded.calls, &orders, &tree)
        })
    }
}

/// Returns the unsafe orders of calls of a command that was not interrupted.
pub(crate) fn unsafe_orders(promised: &Promised, calls: &[FileCall]) -> Vec<UnsafeOrder> {
    let all = hazards(promised.root, &promised.base, calls);
    all.into_iter().map(|hazard| hazard.order).collect()
}

fn recovered_files(work: &Path, below: &Path, files: &mut Vec<RecoveredFile>) -> std::io::Result<()> {
    let folder = work.join(below).symlink_metadata()?.ino();
    let mut entries: Vec<_> = work.join(below).read_dir()?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let facts = entry.metadata()?;
        let name = entry.file_name();
        let path = below.join(&name);
        let at = NamePlace { folder, name: name.to_string_lossy().into_owned() };
        let size_bytes = if facts.is_file() { facts.len() } else { 0 };
        let shown = path.to_string_lossy().into_owned();
        files.push(RecoveredFile { path: shown, at, file: facts.ino(), size_bytes });
        if facts.is_dir() {
            recovered_files(work, &path, files)?;
        }
    }
    Ok(())
}

fn base_files(work: &Path) -> std::io::Result<(FileNumber, Vec<BaseFile>)> {
    let mut files = Vec::new();
    recovered_files(work, Path::new(""), &mut files)?;
    let mut room = MOST_BASE_BYTES;
    let base = files.into_iter().map(|RecoveredFile { path, at, file, size_bytes }| {
        let path = work.join(path);
        let facts = path.symlink_metadata()?;
        let content = match facts.is_file() && size_bytes <= room {
            true => {
                room -= size_bytes;
                CallBytes::Bytes(std::fs::read(&path)?.into())
            }
            false => CallBytes::Unknown,
        };
        Ok(BaseFile { at, file, is_folder: facts.is_dir(), size_bytes, content })
    });
    let base = base.collect::<std::io::Result<_>>()?;
    Ok((work.metadata()?.ino(), base))
}
