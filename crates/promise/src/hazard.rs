//! Orders of calls that lose data on some file systems, even if this one keeps it.
//!
//! Each rule has conditions that keep it silent where the program may have protected itself in a
//! way that calls do not show: a log that was made durable first, a file that it creates only for
//! itself, a program that never asked for durability.

use crate::call::{BaseFile, FileAction, FileCall, FileNumber, NamePlace};
use crate::ledger::{FileState, PromiseLedger};
use crate::pieces::Durability;
use crate::recovered::UnsafeOrder;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Largest write that is taken for a commit mark: a sector, which a device writes whole.
const MARK_BYTES: u64 = 512;

/// Kind of an unsafe order of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HazardKind {
    /// A new file gets its final name before its data are durable.
    RenameBeforeData,
    /// The data of a file are made durable, and its name is not.
    NameNotSynced,
    /// A file is emptied or overwritten as a whole, while nothing else holds its content.
    OldContentDestroyed,
    /// A file is removed before the file that was made from it is durable.
    SourceRemoved,
    /// Data and, after them, a mark that refers to them are made durable by one call, in any order.
    CommitBeforeData,
}

/// An unsafe order of calls, with what it puts at risk.
#[derive(Clone, Debug)]
pub struct Hazard {
    /// As it is reported.
    pub order: UnsafeOrder,
    pub(crate) file: FileNumber,
    /// The name that it gave to the file.
    pub(crate) at: Option<NamePlace>,
    /// The file that was removed.
    pub(crate) source: Option<FileNumber>,
}

impl Hazard {
    pub(crate) fn kind(&self) -> HazardKind {
        self.order.kind
    }
}

/// Returns the unsafe orders of calls, each kind and file once, in the order of the calls. After the
/// last call, the program has ended.
pub fn hazards(root: FileNumber, base: &[BaseFile], calls: &[FileCall]) -> Vec<Hazard> {
    let mut watch = OrderWatch::new(root, base, calls);
    for (index, call) in calls.iter().enumerate().filter(|(_, call)| call.ended.is_some()) {
        watch.before(index, call);
        watch.ledger.apply(index, call);
        watch.after(index, call);
    }
    watch.names_at_the_end();
    watch.hazards
}

/// Changes of a file since it was last made durable.
#[derive(Clone, Debug, Default)]
struct Window {
    /// Call with which it begins.
    from: usize,
    /// Size with which it begins; 0 if nothing was durable.
    durable_bytes: u64,
    /// First write behind the durable bytes, and its thread.
    append: Option<(usize, u32)>,
    /// Writes over durable bytes after an append.
    mark_after_append: Option<usize>,
    /// First write over durable bytes, its thread, and whether all writes are marks by it.
    only_marks: Option<(usize, u32, bool)>,
    /// Call that emptied it.
    emptied: Option<usize>,
}

struct OrderWatch<'c> {
    ledger: PromiseLedger,
    calls: &'c [FileCall],
    windows: HashMap<FileNumber, Window>,
    /// Files that the program makes durable at some time.
    ever_synced: BTreeSet<FileNumber>,
    /// Last call that made each file durable after a write.
    synced_after_write: BTreeMap<FileNumber, usize>,
    hazards: Vec<Hazard>,
}

impl<'c> OrderWatch<'c> {
    fn new(root: FileNumber, base: &[BaseFile], calls: &'c [FileCall]) -> Self {
        let window = |file: &BaseFile| Window { durable_bytes: file.size_bytes, ..Window::default() };
        let ever = calls.iter().filter_map(|call| match call.action {
            FileAction::Sync { file, is_ok: true } => Some(file),
            FileAction::Write { file, is_synced: true, .. } => Some(file),
            _ => None,
        });
        Self {
            ledger: PromiseLedger::new(root, base),
            calls,
            windows: base.iter().map(|file| (file.file, window(file))).collect(),
            ever_synced: ever.collect(),
            synced_after_write: BTreeMap::new(),
            hazards: Vec::new(),
        }
    }

    fn before(&mut self, index: usize, call: &FileCall) {
        match &call.action {
            FileAction::Rename { to, file, .. } => self.rename(index, to, *file),
            FileAction::Link { at, file } => self.rename(index, at, *file),
            FileAction::Unlink { file, .. } => self.unlink(index, call, *file),
            FileAction::Resize { file, size_bytes: 0 } => self.empty(index, *file),
            FileAction::Write { file, range, is_synced, .. } => {
                self.write(index, call, *file, range);
                if *is_synced {
                    self.sync(index, *file);
                }
            }
            FileAction::Sync { file, is_ok: true } => self.sync(index, *file),
            FileAction::Create { file, .. } => drop(self.windows.remove(file)),
            _ => {}
        }
    }

    fn after(&mut self, index: usize, call: &FileCall) {
        match &call.action {
            FileAction::Write { file, is_synced: false, .. } => self.overwritten(index, *file),
            FileAction::SyncAll => {
                let all: Vec<FileNumber> = self.ledger.files.keys().copied().collect();
                all.into_iter().for_each(|file| self.begin_window(index, file));
            }
            FileAction::Sync { file, is_ok: true } | FileAction::Write { file, is_synced: true, .. } => {
                self.begin_window(index, *file);
            }
            _ => {}
        }
    }

    fn begin_window(&mut self, index: usize, file: FileNumber) {
        let Some(state) = self.ledger.files.get(&file) else { return };
        let durable_bytes = state.size_bytes;
        if state.written.is_some() {
            self.synced_after_write.insert(file, index);
        }
        self.windows.insert(file, Window { from: index, durable_bytes, ..Window::default() });
    }

    /// A new file gets another name while its data may be lost.
    fn rename(&mut self, index: usize, to: &NamePlace, file: FileNumber) {
        let Some(state) = self.ledger.files.get(&file) else { return };
        let dirty = state.pieces.last_dirty_call();
        if let (true, true, Some(first)) = (state.is_dirty(), state.creator.is_some(), dirty) {
            let path = self.ledger.path(to);
            self.report(HazardKind::RenameBeforeData, (file, path), (first, index), Some(to.clone()), None);
        }
    }

    /// A file that existed before is removed after the process read it, while a file that the
    /// process created since then may be lost.
    fn unlink(&mut self, index: usize, call: &FileCall, source: FileNumber) {
        let Some(state) = self.ledger.files.get(&source).filter(|state| state.is_old) else { return };
        let Some(read) = state.readers.get(&call.process) else { return };
        let made = self.ledger.files.iter().filter_map(|(file, made)| {
            let is_own = made.creator.is_some_and(|(process, at)| process == call.process && at > *read);
            let has_name = made.places.iter().any(|at| self.ledger.leads_to(at, *file));
            let first = made.pieces.last_dirty_call()?;
            (is_own && has_name && made.is_dirty()).then_some((first, *file))
        });
        if let Some((first, file)) = made.min() {
            let path = self.ledger.path_of(file);
            self.report(HazardKind::SourceRemoved, (file, path), (first, index), None, Some(source));
        }
    }

    /// Returns whether another file was written and made durable since `from`, so that it may hold
    /// the old content.
    fn is_logged(&self, file: FileNumber, from: usize) -> bool {
        self.synced_after_write.iter().any(|(other, at)| *other != file && *at > from)
    }

    fn empty(&mut self, index: usize, file: FileNumber) {
        let from = self.windows.get(&file).map_or(0, |window| window.from);
        let has_content = self.ledger.files.get(&file).is_some_and(FileState::had_durable_bytes);
        if has_content && !self.is_logged(file, from) {
            self.windows.entry(file).or_default().emptied = Some(index);
        }
    }

    fn write(&mut self, index: usize, call: &FileCall, file: FileNumber, range: &Range<u64>) {
        let window = self.windows.entry(file).or_default();
        if let Some(first) = window.emptied.take() {
            let path = self.ledger.path_of(file);
            self.report(HazardKind::OldContentDestroyed, (file, path), (first, index), None, None);
            return;
        }
        let is_mark = range.end <= window.durable_bytes && range.end - range.start <= MARK_BYTES;
        if range.end > window.durable_bytes {
            window.append.get_or_insert((index, call.thread));
        } else if window.append.is_some() {
            window.mark_after_append.get_or_insert(index);
        }
        let marks = window.only_marks.get_or_insert((index, call.thread, true));
        marks.2 &= is_mark && marks.1 == call.thread;
    }

    /// All durable bytes of a file from before the program are overwritten.
    fn overwritten(&mut self, index: usize, file: FileNumber) {
        let Some(state) = self.ledger.files.get(&file).filter(|state| state.is_old && !state.is_scrambled)
        else {
            return;
        };
        let window = self.windows.entry(file).or_default();
        let (old, from) = (window.durable_bytes, window.from);
        let is_left = state.pieces.within(&(0..old)).any(|(_, piece)| piece.durability != Durability::Dirty);
        let first = state.pieces.within(&(0..old)).filter_map(|(_, piece)| piece.call).min();
        let Some(first) = first.filter(|_| old > MARK_BYTES && !is_left && state.size_bytes >= old) else {
            return;
        };
        if !self.is_logged(file, from) {
            let path = self.ledger.path_of(file);
            self.report(HazardKind::OldContentDestroyed, (file, path), (first, index), None, None);
        }
    }

    /// A mark is made durable together with the data that were written before it.
    fn sync(&mut self, index: usize, file: FileNumber) {
        let Some(window) = self.windows.get(&file).filter(|window| window.durable_bytes > 0) else { return };
        if let (Some((first, _)), Some(mark)) = (window.append, window.mark_after_append)
            && !self.is_logged(file, window.from)
        {
            let path = self.ledger.path_of(file);
            self.report(HazardKind::CommitBeforeData, (file, path), (first, mark), None, None);
            return;
        }
        let Some((mark, thread, true)) = window.only_marks else { return };
        if self.calls[index].thread != thread {
            return;
        }
        let folder_of = |number: FileNumber| {
            let state = self.ledger.files.get(&number)?;
            state.places.iter().next().map(|at| at.folder)
        };
        let data = self.windows.iter().filter_map(|(other, data)| {
            let (append, by) = data.append?;
            let is_data = *other != file
                && by == thread
                && append < mark
                && data.durable_bytes > 0
                && self.ever_synced.contains(other)
                && folder_of(*other) == folder_of(file)
                && self.ledger.files.get(other).is_some_and(FileState::is_dirty);
            // A log of the changes is written before them.
            let is_logged = self.synced_after_write.get(&file).is_some_and(|at| *at > data.from);
            (is_data && !is_logged).then_some((append, *other))
        });
        if let Some((append, other)) = data.min() {
            let path = self.ledger.path_of(other);
            self.report(HazardKind::CommitBeforeData, (other, path), (append, mark), None, None);
        }
    }

    /// The data of a file were made durable, but its name was not, by the end.
    fn names_at_the_end(&mut self) {
        let mut all = Vec::new();
        for (file, state) in self.ledger.files.iter().filter(|(_, state)| !state.is_folder) {
            let Some(synced) = state.synced else { continue };
            let current: Vec<&NamePlace> =
                state.places.iter().filter(|at| self.ledger.leads_to(at, *file)).collect();
            if current.iter().any(|at| self.ledger.is_name_durable(at)) {
                continue;
            }
            let dirty = current.first().and_then(|at| self.ledger.first_dirty_name(at));
            if let Some((at, call)) = dirty.and_then(|(at, name)| Some((at, name.call?))) {
                let is_of_file = current.contains(&&at);
                let path = self.ledger.path(&at);
                let (first, second) = (call.min(synced), call.max(synced));
                all.push(((first, second), *file, path, is_of_file.then_some(at)));
            }
        }
        all.sort_by_key(|(calls, ..)| *calls);
        for ((first, second), file, path, at) in all {
            self.report(HazardKind::NameNotSynced, (file, path), (first, second), at, None);
        }
    }

    fn report(
        &mut self,
        kind: HazardKind,
        (file, path): (FileNumber, String),
        (first, second): (usize, usize),
        at: Option<NamePlace>,
        source: Option<FileNumber>,
    ) {
        if self.hazards.iter().any(|other| other.order.kind == kind && other.order.file == path) {
            return;
        }
        let words = |index: usize| self.ledger.describe(&self.calls[index]);
        let order = UnsafeOrder { kind, file: path, first: words(first), second: words(second) };
        self.hazards.push(Hazard { order, file, at, source });
    }
}
