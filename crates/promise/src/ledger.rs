//! State of the files after some calls: what exists, and which of it is durable.

use crate::call::{BaseFile, CallBytes, FileAction, FileCall, FileNumber, NamePlace};
use crate::pieces::{Durability, FilePiece, FilePieces};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Position that no call began before.
const NEVER: u64 = u64::MAX;

/// State of a name.
#[derive(Clone, Debug)]
pub(crate) struct NameState {
    /// The file that it leads to; `None` if it was removed.
    pub(crate) target: Option<FileNumber>,
    /// Call that set or removed it; `None` for a name from before the program.
    pub(crate) call: Option<usize>,
    pub(crate) ended: u64,
    pub(crate) durability: Durability,
}

/// State of a file or folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileState {
    pub(crate) is_folder: bool,
    /// Whether it existed before the program.
    pub(crate) is_old: bool,
    /// Whether its number belonged to a file whose removal may be undone by a power cut.
    pub(crate) is_ambiguous: bool,
    /// Whether its content is unknown from now on.
    pub(crate) is_scrambled: bool,
    pub(crate) size_bytes: u64,
    pub(crate) size_ended: u64,
    /// Size that a power cut leaves, and the call that acknowledged it.
    pub(crate) durable_size: Option<(u64, Option<usize>)>,
    pub(crate) pieces: FilePieces,
    /// Every name that it has had.
    pub(crate) places: BTreeSet<NamePlace>,
    /// Process that created it, and the call.
    pub(crate) creator: Option<(u32, usize)>,
    /// Processes that opened it for reading, each with the first call.
    pub(crate) readers: BTreeMap<u32, usize>,
    /// Last acknowledged call that made it durable.
    pub(crate) synced: Option<usize>,
    /// Last call that wrote to it.
    pub(crate) written: Option<usize>,
}

impl FileState {
    fn set_size(&mut self, size_bytes: u64, ended: u64) {
        (self.size_bytes, self.size_ended, self.durable_size) = (size_bytes, ended, None);
    }

    /// Returns whether it holds bytes that may be lost.
    pub(crate) fn is_dirty(&self) -> bool {
        !self.is_folder && !self.is_scrambled && self.pieces.last_dirty_call().is_some()
    }

    /// Returns whether it was not empty when it was last durable.
    pub(crate) fn had_durable_bytes(&self) -> bool {
        self.durable_size.is_some_and(|(size, _)| size > 0)
    }
}

/// State of all files.
#[derive(Clone, Debug)]
pub struct PromiseLedger {
    root: FileNumber,
    pub(crate) files: HashMap<FileNumber, FileState>,
    pub(crate) names: BTreeMap<NamePlace, NameState>,
    /// Latest name of each folder.
    folders: HashMap<FileNumber, NamePlace>,
    /// Position of the end of the last failed fsync of each file and folder.
    failed: HashMap<FileNumber, u64>,
}

impl PromiseLedger {
    /// Creates the state before the program starts. `root` is the folder of all files.
    pub fn new(root: FileNumber, base: &[BaseFile]) -> Self {
        let (files, names) = (HashMap::new(), BTreeMap::new());
        let mut new = Self { root, files, names, folders: HashMap::new(), failed: HashMap::new() };
        for BaseFile { at, file, is_folder, size_bytes, content } in base {
            let state = new.files.entry(*file).or_default();
            (state.is_folder, state.is_old, state.size_bytes) = (*is_folder, true, *size_bytes);
            state.durable_size = Some((*size_bytes, None));
            state.places.insert(at.clone());
            state.pieces.write(0..*size_bytes, NEVER, FilePiece::of_base(*size_bytes, content.clone()));
            if *is_folder {
                new.folders.insert(*file, at.clone());
            }
            new.names.insert(
                at.clone(),
                NameState {
                    target: Some(*file),
                    call: None,
                    ended: 0,
                    durability: Durability::Durable(None),
                },
            );
        }
        new
    }

    /// Applies a call. `index` is its number in the list of all calls, which are in the order of
    /// their ends.
    pub fn apply(&mut self, index: usize, call: &FileCall) {
        match &call.action {
            FileAction::Create { at, file, is_folder } => self.create(index, call, at, *file, *is_folder),
            FileAction::Read { file } => {
                self.files.entry(*file).or_default().readers.entry(call.process).or_insert(index);
            }
            FileAction::Write { file, range, content, is_synced } => {
                self.write(index, call, *file, range.clone(), content, *is_synced);
            }
            FileAction::Resize { file, size_bytes } => self.resize(index, call, *file, *size_bytes),
            FileAction::Scramble { file } => {
                let state = self.files.entry(*file).or_default();
                state.is_scrambled = true;
                state.written = Some(index);
            }
            FileAction::Sync { file, is_ok } => self.sync(index, call, *file, *is_ok),
            FileAction::SyncAll => {
                let all: Vec<FileNumber> = self.files.keys().copied().chain([self.root]).collect();
                all.into_iter().for_each(|file| self.sync(index, call, file, true));
            }
            FileAction::Link { at, file } => self.name(index, call, at, Some(*file)),
            FileAction::Rename { from, to, file } => {
                self.name(index, call, from, None);
                self.name(index, call, to, Some(*file));
            }
            FileAction::Unlink { at, .. } => self.name(index, call, at, None),
        }
    }

    fn create(&mut self, index: usize, call: &FileCall, at: &NamePlace, file: FileNumber, is_folder: bool) {
        // The number of a removed file may be used again. Its removal may be undone.
        let is_ambiguous = self.files.contains_key(&file);
        let creator = Some((call.process, index));
        let new = FileState { is_folder, is_ambiguous, creator, ..FileState::default() };
        self.files.insert(file, new);
        self.name(index, call, at, Some(file));
    }

    fn name(&mut self, index: usize, call: &FileCall, at: &NamePlace, target: Option<FileNumber>) {
        let is_raced = self.names.get(at).is_some_and(|old| old.ended > call.began);
        let is_certain = call.ended.is_some() && !is_raced && !self.has_failed(at.folder, call);
        let durability = if is_certain { Durability::Dirty } else { Durability::Uncertain };
        let ended = call.ended.unwrap_or(NEVER);
        self.names.insert(at.clone(), NameState { target, call: Some(index), ended, durability });
        if let Some(file) = target {
            let state = self.files.entry(file).or_default();
            state.places.insert(at.clone());
            if state.is_folder {
                self.folders.insert(file, at.clone());
            }
        }
    }

    fn write(
        &mut self,
        index: usize,
        call: &FileCall,
        file: FileNumber,
        range: Range<u64>,
        content: &CallBytes,
        is_synced: bool,
    ) {
        let (ended, is_acknowledged) = (call.ended.unwrap_or(NEVER), is_synced && call.ended.is_some());
        let durability = match call.ended {
            Some(_) if is_synced => Durability::Durable(Some(index)),
            Some(_) if !self.has_failed(file, call) => Durability::Dirty,
            _ => Durability::Uncertain,
        };
        let state = self.files.entry(file).or_default();
        let piece = FilePiece {
            end: range.end,
            content: content.clone(),
            skip: 0,
            call: Some(index),
            ended,
            durability,
        };
        state.pieces.write(range.clone(), call.began, piece);
        state.written = Some(index);
        if range.end > state.size_bytes {
            state.set_size(range.end, ended);
        }
        if is_acknowledged {
            state.synced = Some(index);
        }
    }

    /// Returns whether an fsync of the file failed during the call.
    fn has_failed(&self, file: FileNumber, call: &FileCall) -> bool {
        self.failed.get(&file).is_some_and(|ended| *ended > call.began)
    }

    fn resize(&mut self, index: usize, call: &FileCall, file: FileNumber, size_bytes: u64) {
        let is_certain = call.ended.is_some() && !self.has_failed(file, call);
        let state = self.files.entry(file).or_default();
        let old = state.size_bytes;
        let ended = call.ended.unwrap_or(NEVER);
        state.pieces.remove(size_bytes..u64::MAX);
        if size_bytes > old {
            let durability = if is_certain { Durability::Dirty } else { Durability::Uncertain };
            let content = CallBytes::Zeroes;
            let piece = FilePiece { end: size_bytes, content, skip: 0, call: Some(index), ended, durability };
            state.pieces.write(old..size_bytes, call.began, piece);
        }
        state.written = Some(index);
        state.set_size(size_bytes, ended);
    }

    fn sync(&mut self, index: usize, call: &FileCall, file: FileNumber, is_ok: bool) {
        let Some(ended) = call.ended else { return };
        if !is_ok {
            self.failed.insert(file, ended);
        }
        let covers = |ended: u64| ended < call.began;
        let new = |durability: Durability, ended: u64| match (durability, is_ok) {
            (Durability::Dirty, true) if covers(ended) => Durability::Durable(Some(index)),
            // After an error, the kernel may drop the data, and report success the next time.
            (Durability::Dirty, false) => Durability::Uncertain,
            _ => durability,
        };
        if let Some(state) = self.files.get_mut(&file) {
            state.pieces.change_all(|piece| new(piece.durability, piece.ended));
            if is_ok && covers(state.size_ended) && state.durable_size.is_none() {
                state.durable_size = Some((state.size_bytes, Some(index)));
            }
            if is_ok {
                state.synced = Some(index);
            }
        }
        for name in self.names.iter_mut().filter(|(at, _)| at.folder == file).map(|(_, name)| name) {
            name.durability = new(name.durability, name.ended);
        }
    }

    /// Returns the current path of a name, from the folder of all files.
    pub fn path(&self, at: &NamePlace) -> String {
        let mut path = at.name.clone();
        let mut folder = at.folder;
        // A folder cannot be inside itself, but numbers may be used again.
        for _ in 0..64 {
            match self.folders.get(&folder) {
                Some(at) if folder != self.root => {
                    path = format!("{}/{path}", at.name);
                    folder = at.folder;
                }
                _ => break,
            }
        }
        path
    }

    /// Returns the path of a file by one of its current names, else by an earlier one.
    pub fn path_of(&self, file: FileNumber) -> String {
        if file == self.root {
            return ".".to_owned();
        }
        let Some(state) = self.files.get(&file) else { return String::new() };
        let mut places = state.places.iter();
        let place = places.find(|at| self.leads_to(at, file)).or_else(|| state.places.iter().next());
        place.map(|at| self.path(at)).unwrap_or_default()
    }

    /// Returns whether a name currently leads to a file.
    pub(crate) fn leads_to(&self, at: &NamePlace, file: FileNumber) -> bool {
        self.names.get(at).is_some_and(|name| name.target == Some(file))
    }

    /// Returns the call as a line, such as `fsync(log)` or `pwrite64(t.db, 4096+512)`.
    pub fn describe(&self, call: &FileCall) -> String {
        let words = match &call.action {
            FileAction::Create { at, .. } | FileAction::Unlink { at, .. } => self.path(at),
            FileAction::Link { at, file } => format!("{}, {}", self.path_of(*file), self.path(at)),
            FileAction::Rename { from, to, .. } => format!("{}, {}", self.path(from), self.path(to)),
            FileAction::Write { file, range, .. } => {
                format!("{}, {}+{}", self.path_of(*file), range.start, range.end - range.start)
            }
            FileAction::Resize { file, size_bytes } => format!("{}, {size_bytes}", self.path_of(*file)),
            FileAction::Read { file } | FileAction::Scramble { file } | FileAction::Sync { file, .. } => {
                self.path_of(*file)
            }
            FileAction::SyncAll => String::new(),
        };
        format!("{}({words})", call.name)
    }

    /// Returns whether a name, and those of all folders above it, are durable.
    pub(crate) fn is_name_durable(&self, at: &NamePlace) -> bool {
        let mut place = at.clone();
        for _ in 0..64 {
            let is_durable =
                self.names.get(&place).is_some_and(|name| matches!(name.durability, Durability::Durable(_)));
            if !is_durable {
                return false;
            }
            if place.folder == self.root {
                return true;
            }
            let Some(above) = self.folders.get(&place.folder) else { return false };
            place = above.clone();
        }
        false
    }

    /// Returns the first name that is not durable, from a name up to the folder of all files.
    pub(crate) fn first_dirty_name(&self, at: &NamePlace) -> Option<(NamePlace, &NameState)> {
        let mut place = at.clone();
        for _ in 0..64 {
            let name = self.names.get(&place)?;
            if name.durability == Durability::Dirty {
                return Some((place, name));
            }
            if place.folder == self.root {
                return None;
            }
            place = self.folders.get(&place.folder)?.clone();
        }
        None
    }
}
