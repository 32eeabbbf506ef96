//! Laws of promises, and the calls of programs with and without unsafe orders.

mod laws;
mod programs;

use crate::{BaseFile, CallBytes, FileAction, FileCall, FileNumber, NamePlace, hazards};
use std::ops::Range;

pub const ROOT: FileNumber = 2;

pub fn at(name: &str) -> NamePlace {
    NamePlace { folder: ROOT, name: name.to_owned() }
}

pub fn bytes(byte: u8, length: u64) -> CallBytes {
    CallBytes::Bytes(vec![byte; length as usize].into())
}

/// A call by a process with one thread that waits for each call.
pub fn call(index: usize, action: FileAction) -> FileCall {
    let name = match &action {
        FileAction::Create { .. } | FileAction::Read { .. } => "openat",
        FileAction::Write { .. } => "write",
        FileAction::Resize { .. } => "ftruncate",
        FileAction::Scramble { .. } => "mmap",
        FileAction::Sync { .. } => "fsync",
        FileAction::SyncAll => "sync",
        FileAction::Link { .. } => "link",
        FileAction::Rename { .. } => "rename",
        FileAction::Unlink { .. } => "unlink",
    };
    let began = 2 * index as u64;
    FileCall { began, ended: Some(began + 1), process: 7, thread: 7, name, action }
}

/// Calls one after the other.
pub fn calls(actions: impl IntoIterator<Item = FileAction>) -> Vec<FileCall> {
    actions.into_iter().enumerate().map(|(index, action)| call(index, action)).collect()
}

pub fn base(name: &str, file: FileNumber, size_bytes: u64) -> BaseFile {
    BaseFile { at: at(name), file, is_folder: false, size_bytes, content: bytes(b'o', size_bytes) }
}

pub fn create(name: &str, file: FileNumber) -> FileAction {
    FileAction::Create { at: at(name), file, is_folder: false }
}

pub fn read(file: FileNumber) -> FileAction {
    FileAction::Read { file }
}

pub fn write(file: FileNumber, range: Range<u64>) -> FileAction {
    let content = bytes(b'n', range.end - range.start);
    FileAction::Write { file, range, content, is_synced: false }
}

pub fn sync(file: FileNumber) -> FileAction {
    FileAction::Sync { file, is_ok: true }
}

pub fn resize(file: FileNumber, size_bytes: u64) -> FileAction {
    FileAction::Resize { file, size_bytes }
}

pub fn rename(from: &str, to: &str, file: FileNumber) -> FileAction {
    FileAction::Rename { from: at(from), to: at(to), file }
}

pub fn unlink(name: &str, file: FileNumber) -> FileAction {
    FileAction::Unlink { at: at(name), file }
}

/// Kinds and files of the unsafe orders.
pub fn unsafe_orders(base: &[BaseFile], calls: &[FileCall]) -> Vec<String> {
    let all = hazards(ROOT, base, calls);
    all.into_iter().map(|hazard| format!("{:?} {}", hazard.order.kind, hazard.order.file)).collect()
}
