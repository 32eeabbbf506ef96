//! Effect of a call on files: examined before it, and completed with its result.

use crate::call_log::{AtSync, CallLog};
use crate::call_table::{CallKind, call_of};
use crate::traced_thread::{OpenFile, PathInFolder, TracedThread};
use kurabe_promise::{CallBytes, FileAction, FileNumber, NamePlace};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Flags of `fallocate`, `renameat2`, `linkat` and `pwritev2`.
const KEEP_SIZE: u64 = 1;
const PUNCH_HOLE: u64 = 2;
const ZERO_RANGE: u64 = 0x10;
const EXCHANGE: u64 = 2;
const RWF_SYNCS: u64 = 2 | 4;

/// A call that began.
#[derive(Debug)]
pub(crate) struct BegunCall {
    pub(crate) name: &'static str,
    effect: Effect,
}

#[derive(Debug)]
enum Effect {
    /// These changes if it succeeds.
    Known(Vec<FileAction>),
    Open {
        path: PathInFolder,
        flags: u64,
    },
    Make {
        path: PathInFolder,
        is_folder: bool,
    },
    Write(WriteCall),
    Sync(FileNumber),
}

#[derive(Debug)]
struct WriteCall {
    file: OpenFile,
    descriptor: u64,
    /// Where it writes; at the position of the descriptor if `None`.
    offset: Option<u64>,
    /// Position before the call.
    position: u64,
    length: u64,
    is_synced: bool,
    is_appending: bool,
    source: WriteSource,
}

#[derive(Clone, Copy, Debug)]
enum WriteSource {
    Buffer(u64),
    Buffers(u64, u64),
    /// Another file.
    File,
}

impl BegunCall {
    /// Examines a call that is about to be made. Returns `None` if it concerns no followed file, or
    /// `Err` if it has to fail.
    pub(crate) fn examine(
        thread: TracedThread,
        (number, arguments): (i64, [u64; 6]),
        log: &CallLog,
    ) -> Result<Option<Self>, ()> {
        let Some((name, kind)) = call_of(number) else { return Ok(None) };
        if kind == CallKind::Unfollowed {
            log.set_unfollowed(name);
            return Ok(None);
        }
        if kind == CallKind::Sync
            && let Some(file) = thread.open_file(arguments[0])
        {
            let path = std::fs::read_link(&file.path).unwrap_or_default();
            let path = path.strip_prefix(&log.rules.folder).unwrap_or(&path).to_string_lossy();
            if log.at_sync(&path) == AtSync::Fail {
                return Err(());
            }
        }
        let effect = effect_of(thread, kind, arguments);
        Ok(effect.map(|effect| Self { name, effect }))
    }

    /// Returns the changes, in order, when the call returned; `None` if the program was killed in
    /// the middle of it.
    pub(crate) fn complete(
        self,
        thread: TracedThread,
        result: Option<i64>,
        log: &CallLog,
    ) -> Vec<FileAction> {
        let is_ok = result.is_none_or(|result| result >= 0);
        match self.effect {
            Effect::Known(actions) if is_ok => actions,
            Effect::Open { path, flags } if is_ok => {
                opened(thread, path, flags, result).into_iter().collect()
            }
            Effect::Make { path, is_folder } if is_ok => {
                let stat =
                    rustix::fs::statat(rustix::fs::CWD, &path.path, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
                let made = stat.ok().and_then(|stat| thread.file_of(&path.path, &stat));
                match (result, made) {
                    (Some(_), Some(made)) => {
                        vec![FileAction::Create { at: path.at, file: made.number, is_folder }]
                    }
                    _ => vec![FileAction::Unlink { at: path.at, file: 0 }],
                }
            }
            Effect::Write(write) if is_ok => write.complete(thread, result, log).into_iter().collect(),
            Effect::Sync(file) => vec![FileAction::Sync { file, is_ok }],
            _ => Vec::new(),
        }
    }
}

fn effect_of(thread: TracedThread, kind: CallKind, arguments: [u64; 6]) -> Option<Effect> {
    let [first, second, third, fourth, ..] = arguments;
    Some(match kind {
        CallKind::Open { has_folder: true } => open(thread, Some(first), second, third)?,
        CallKind::Open { has_folder: false } => open(thread, None, first, second)?,
        CallKind::OpenHow => open(thread, Some(first), second, thread.word(third)?)?,
        CallKind::Creat => {
            open(thread, None, first, (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64)?
        }
        CallKind::Write { .. } | CallKind::WriteMany { .. } | CallKind::Copy | CallKind::Sendfile => {
            Effect::Write(write_call(thread, kind, arguments)?)
        }
        CallKind::Truncate => {
            let file = thread.path(None, first)?.existing?;
            Effect::Known(vec![FileAction::Resize { file: file.number, size_bytes: second }])
        }
        CallKind::Ftruncate => {
            let file = thread.open_file(first)?;
            Effect::Known(vec![FileAction::Resize { file: file.number, size_bytes: second }])
        }
        CallKind::Fallocate => {
            allocation(&thread.open_file(first)?, second, third..third.checked_add(fourth)?)
        }
        CallKind::Sync => Effect::Sync(thread.open_file(first)?.number),
        CallKind::SyncAll => Effect::Known(vec![FileAction::SyncAll]),
        CallKind::SyncFs => thread.open_file(first).map(|_| Effect::Known(vec![FileAction::SyncAll]))?,
        CallKind::Rename { has_folders: true } => {
            rename(thread.path(Some(first), second)?, thread.path(Some(third), fourth)?, arguments[4])?
        }
        CallKind::Rename { has_folders: false } => {
            rename(thread.path(None, first)?, thread.path(None, second)?, 0)?
        }
        CallKind::Link { has_folders: true } => {
            let old = if arguments[4] & libc::AT_EMPTY_PATH as u64 != 0 {
                thread.open_file(first)?
            } else {
                linked(thread, &thread.path(Some(first), second), (first, second), arguments[4])?
            };
            link(&old, thread.path(Some(third), fourth)?)
        }
        CallKind::Link { has_folders: false } => {
            link(&thread.path(None, first)?.existing?, thread.path(None, second)?)
        }
        CallKind::Unlink { has_folder: true } => unlink(thread.path(Some(first), second)?)?,
        CallKind::Unlink { has_folder: false } | CallKind::Rmdir => unlink(thread.path(None, first)?)?,
        CallKind::Make { has_folder, is_folder } => {
            let path = if has_folder { thread.path(Some(first), second) } else { thread.path(None, first) };
            Effect::Make { path: path?, is_folder }
        }
        CallKind::Symlink { has_folder } => {
            let path = if has_folder { thread.path(Some(second), third) } else { thread.path(None, second) };
            Effect::Make { path: path?, is_folder: false }
        }
        CallKind::Mmap => {
            let file = thread.open_file(arguments[4])?;
            let (flags, _) = thread.flags_and_position(arguments[4])?;
            let is_writable = flags & libc::O_ACCMODE as u64 == libc::O_RDWR as u64;
            Effect::Known(
                is_writable.then_some(FileAction::Scramble { file: file.number }).into_iter().collect(),
            )
        }
        CallKind::Clone => {
            Effect::Known(vec![FileAction::Scramble { file: thread.open_file(first)?.number }])
        }
        CallKind::Unfollowed => return None,
    })
}

/// Most files that a program opens are elsewhere, and cost only one stop.
fn open(thread: TracedThread, folder: Option<u64>, path: u64, flags: u64) -> Option<Effect> {
    Some(Effect::Open { path: thread.path(folder, path)?, flags })
}

fn has(flags: u64, flag: i32) -> bool {
    flags & flag as u64 != 0
}

fn opened(thread: TracedThread, path: PathInFolder, flags: u64, result: Option<i64>) -> Option<FileAction> {
    let PathInFolder { at, existing, .. } = path;
    let is_unnamed = flags & libc::O_TMPFILE as u64 == libc::O_TMPFILE as u64;
    let is_new = existing.is_none() && has(flags, libc::O_CREAT) && !is_unnamed;
    let Some(descriptor) = result else {
        // A file that may have been created, or emptied.
        return match existing {
            Some(file) => {
                has(flags, libc::O_TRUNC).then_some(FileAction::Resize { file: file.number, size_bytes: 0 })
            }
            None => is_new.then_some(FileAction::Unlink { at, file: 0 }),
        };
    };
    let file = thread.open_file(descriptor as u64).filter(|file| file.is_regular)?.number;
    let is_read = flags & libc::O_ACCMODE as u64 != libc::O_WRONLY as u64;
    match is_new {
        true => Some(FileAction::Create { at, file, is_folder: false }),
        false if has(flags, libc::O_TRUNC) => Some(FileAction::Resize { file, size_bytes: 0 }),
        false => is_read.then_some(FileAction::Read { file }),
    }
}

fn write_call(thread: TracedThread, kind: CallKind, arguments: [u64; 6]) -> Option<WriteCall> {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    // A position in memory, if one is given.
    let position_at = |address: u64| (address != 0).then(|| thread.word(address)).flatten();
    let (descriptor, source, length, offset, call_flags) = match kind {
        CallKind::Write { is_at } => (first, WriteSource::Buffer(second), third, is_at.then_some(fourth), 0),
        CallKind::WriteMany { is_at, has_flags } => {
            let offset = Some(fourth).filter(|offset| is_at && *offset != u64::MAX);
            let length = thread.buffers_length(second, third);
            (first, WriteSource::Buffers(second, third), length, offset, if has_flags { sixth } else { 0 })
        }
        CallKind::Copy => (third, WriteSource::File, fifth, position_at(fourth), 0),
        _ => (first, WriteSource::File, fourth, None, 0),
    };
    let file = thread.open_file(descriptor).filter(|file| file.is_regular)?;
    let (flags, position) = thread.flags_and_position(descriptor)?;
    let is_appending = has(flags, libc::O_APPEND);
    Some(WriteCall {
        position: if is_appending { file.size_bytes } else { offset.unwrap_or(position) },
        file,
        descriptor,
        offset,
        length,
        is_synced: has(flags, libc::O_DSYNC) || call_flags & RWF_SYNCS != 0,
        is_appending,
        source,
    })
}

impl WriteCall {
    fn complete(self, thread: TracedThread, result: Option<i64>, log: &CallLog) -> Option<FileAction> {
        let Self { file, is_synced, .. } = &self;
        let Some(length) = result.map(|result| result as u64) else {
            let range = self.position..self.position.saturating_add(self.length);
            let content = CallBytes::Unknown;
            return Some(FileAction::Write { file: file.number, range, content, is_synced: false });
        };
        if length == 0 {
            return None;
        }
        let end = match self.offset {
            // Where a file is appended to, its size is the end.
            Some(_) if self.is_appending => thread.open_file(self.descriptor).map(|file| file.size_bytes),
            Some(offset) => Some(offset + length),
            None => thread.flags_and_position(self.descriptor).map(|(_, position)| position),
        };
        let Some(start) = end.and_then(|end| end.checked_sub(length)) else {
            return Some(FileAction::Scramble { file: file.number });
        };
        let range = start..start + length;
        let content = if log.has_room(length) { self.content(thread, &range) } else { None };
        let content = content.map_or(CallBytes::Unknown, |bytes| CallBytes::Bytes(bytes.into()));
        Some(FileAction::Write { file: file.number, range, content, is_synced: *is_synced })
    }

    fn content(&self, thread: TracedThread, range: &Range<u64>) -> Option<Vec<u8>> {
        let length = (range.end - range.start) as usize;
        let bytes = match self.source {
            WriteSource::Buffer(address) => thread.memory(address, length),
            WriteSource::Buffers(list, count) => thread.buffers(list, count, length),
            WriteSource::File => read_back(&self.file.path, range)?,
        };
        (bytes.len() == length).then_some(bytes)
    }
}

/// Reads what was just copied from another file.
fn read_back(path: &Path, range: &Range<u64>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    File::open(path).ok()?.read_exact_at(&mut bytes, range.start).ok()?;
    Some(bytes)
}

fn allocation(file: &OpenFile, mode: u64, range: Range<u64>) -> Effect {
    let size = file.size_bytes;
    let zeroes = |range: Range<u64>| FileAction::Write {
        file: file.number,
        range,
        content: CallBytes::Zeroes,
        is_synced: false,
    };
    Effect::Known(match mode {
        0 if range.end > size => vec![FileAction::Resize { file: file.number, size_bytes: range.end }],
        0 | KEEP_SIZE => Vec::new(),
        ZERO_RANGE => vec![zeroes(range)],
        _ if mode & (PUNCH_HOLE | ZERO_RANGE) != 0 => {
            vec![zeroes(range.start.min(size)..range.end.min(size))]
        }
        _ => vec![FileAction::Scramble { file: file.number }],
    })
}

fn rename(from: PathInFolder, to: PathInFolder, flags: u64) -> Option<Effect> {
    let file = from.existing?.number;
    // Two names of the same file stay as they are.
    if to.existing.as_ref().is_some_and(|to| to.number == file) {
        return None;
    }
    let back = FileAction::Link { at: from.at.clone(), file: to.existing.map_or(0, |to| to.number) };
    let mut actions = vec![FileAction::Rename { from: from.at, to: to.at, file }];
    if flags & EXCHANGE != 0 {
        actions.push(back);
    }
    Some(Effect::Known(actions))
}

/// Returns the file that `linkat` gives another name, which may be one without a name.
fn linked(
    thread: TracedThread,
    path: &Option<PathInFolder>,
    (_, address): (u64, u64),
    flags: u64,
) -> Option<OpenFile> {
    if let Some(path) = path {
        return path.existing.clone();
    }
    // `/proc/self/fd/N`, as open(2) teaches for O_TMPFILE.
    let is_followed = has(flags, libc::AT_SYMLINK_FOLLOW);
    let words = thread.memory(address, 64);
    let words = words.split(|byte| *byte == 0).next()?;
    let descriptor = std::str::from_utf8(words).ok()?.strip_prefix("/proc/self/fd/")?.parse().ok()?;
    if is_followed { thread.open_file(descriptor) } else { None }
}

fn link(old: &OpenFile, new: PathInFolder) -> Effect {
    Effect::Known(vec![FileAction::Link { at: new.at, file: old.number }])
}

fn unlink(path: PathInFolder) -> Option<Effect> {
    let at: NamePlace = path.at;
    Some(Effect::Known(vec![FileAction::Unlink { at, file: path.existing?.number }]))
}
