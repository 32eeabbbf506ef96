//! Comparison of what was promised with the files that a power cut left.

use crate::call::{BaseFile, CallBytes, FileCall, FileNumber, NamePlace};
use crate::hazard::{Hazard, HazardKind, hazards};
use crate::ledger::{FileState, PromiseLedger};
use crate::pieces::{Durability, FilePiece};
use serde::Serialize;
use std::ops::Range;

/// A file or folder that exists after the power cut.
#[derive(Clone, Debug)]
pub struct RecoveredFile {
    /// Its path, from the folder of all files.
    pub path: String,
    /// Its name.
    pub at: NamePlace,
    /// Its number.
    pub file: FileNumber,
    /// Its size.
    pub size_bytes: u64,
}

/// Reads a range of a file, by its name. `None` if the file does not exist.
pub type ReadBytes<'r> = dyn Fn(&str, Range<u64>) -> Option<Vec<u8>> + 'r;

/// All files after the power cut.
pub struct RecoveredTree<'r> {
    /// Every file and folder.
    pub files: Vec<RecoveredFile>,
    /// Whether the numbers of files are the same as before the power cut.
    pub has_stable_numbers: bool,
    /// Reads a range of a file; `None` if that fails.
    pub read: &'r ReadBytes<'r>,
}

/// Kind of a broken promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BrokenKind {
    /// A name does not exist.
    NameLost,
    /// A name that was removed exists.
    NameBack,
    /// A name leads to another file.
    OtherFile,
    /// Bytes differ from those that were written.
    BytesLost,
    /// The size differs.
    SizeLost,
}

/// Data or a name that an acknowledged call had made durable, and that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenPromise {
    /// Kind of the loss.
    pub kind: BrokenKind,
    /// The file.
    pub file: String,
    /// First byte that differs.
    pub offset_bytes: Option<u64>,
    /// Call that wrote the data or set the name; `None` if they existed before the program.
    pub operation: Option<String>,
    /// Call that acknowledged that they are durable; `None` if they existed before the program.
    pub acknowledged_by: Option<String>,
    /// Positions of both, for the order of promises.
    #[serde(skip)]
    pub order: usize,
}

/// An unsafe order of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnsafeOrder {
    /// Kind of the order.
    pub kind: HazardKind,
    /// The file whose data are at risk.
    pub file: String,
    /// The first call.
    pub first: String,
    /// The second call.
    pub second: String,
}

/// Returns the broken promises, the earliest first, and which of the unsafe orders of calls lost
/// data. `orders` are those of the program when it is not interrupted, because a call that follows
/// later may make up for what is missing at the power cut.
pub fn judge(
    root: FileNumber,
    base: &[BaseFile],
    calls: &[FileCall],
    orders: &[UnsafeOrder],
    tree: &RecoveredTree<'_>,
) -> (Vec<BrokenPromise>, Vec<UnsafeOrder>) {
    let mut ledger = PromiseLedger::new(root, base);
    calls.iter().enumerate().for_each(|(index, call)| ledger.apply(index, call));
    let mut broken = ledger.broken(calls, tree);
    broken.sort_by_key(|promise| promise.order);
    let is_of_program = |hazard: &Hazard| {
        orders.iter().any(|order| order.kind == hazard.order.kind && order.file == hazard.order.file)
    };
    let lost = hazards(root, base, calls)
        .into_iter()
        .filter(|hazard| is_of_program(hazard) && is_lost(hazard, &ledger, base, tree))
        .map(|hazard| hazard.order);
    (broken, lost.collect())
}

/// Returns whether the power cut lost what an unsafe order of calls put at risk.
fn is_lost(hazard: &Hazard, ledger: &PromiseLedger, base: &[BaseFile], tree: &RecoveredTree<'_>) -> bool {
    let Some(state) = ledger.files.get(&hazard.file) else { return false };
    if state.is_ambiguous || state.is_scrambled {
        return false;
    }
    let is_here = |file: &RecoveredFile| match tree.has_stable_numbers {
        true => file.file == hazard.file,
        false => state.places.contains(&file.at),
    };
    let left = tree.files.iter().find(|file| is_here(file));
    let is_whole = |file: &RecoveredFile| {
        let mut pieces = state.pieces.iter().filter(|(_, piece)| piece.durability != Durability::Uncertain);
        file.size_bytes == state.size_bytes
            && pieces.all(|(range, piece)| differs(tree, &file.path, &range, piece).is_none())
    };
    let is_as_before = |number: FileNumber| {
        let before = base.iter().find(|before| before.file == number);
        let left = tree.files.iter().find(|left| left.file == number);
        match (before, left) {
            (Some(before), Some(left)) => {
                let piece = FilePiece::of_base(before.size_bytes, before.content.clone());
                let range = 0..before.size_bytes;
                left.size_bytes == before.size_bytes && differs(tree, &left.path, &range, &piece).is_none()
            }
            _ => false,
        }
    };
    match hazard.kind() {
        HazardKind::NameNotSynced => left.is_none(),
        HazardKind::RenameBeforeData => {
            left.is_some_and(|left| Some(&left.at) == hazard.at.as_ref() && !is_whole(left))
        }
        HazardKind::OldContentDestroyed => !left.is_some_and(&is_whole) && !is_as_before(hazard.file),
        HazardKind::SourceRemoved => {
            let source = hazard.source.is_some_and(is_as_before);
            !source && !left.is_some_and(is_whole)
        }
        // Only the program knows whether it notices.
        HazardKind::CommitBeforeData => false,
    }
}

impl PromiseLedger {
    /// Returns the promises that the files after the power cut break.
    pub fn broken(&self, calls: &[FileCall], tree: &RecoveredTree<'_>) -> Vec<BrokenPromise> {
        let mut broken = Vec::new();
        for (at, name) in &self.names {
            let Durability::Durable(synced) = name.durability else { continue };
            if !self.is_name_durable(at) {
                continue;
            }
            let path = self.path(at);
            let left = tree.files.iter().find(|left| left.path == path);
            let promise = |kind| self.promise(calls, (kind, path.clone(), None), name.call, synced);
            match (name.target, left) {
                (Some(_), None) => broken.push(promise(BrokenKind::NameLost)),
                (None, Some(_)) => broken.push(promise(BrokenKind::NameBack)),
                (Some(target), Some(left)) if tree.has_stable_numbers && left.file != target => {
                    broken.push(promise(BrokenKind::OtherFile));
                }
                (Some(target), Some(left)) => broken.extend(self.broken_content(calls, target, left, tree)),
                (None, None) => {}
            }
        }
        if tree.has_stable_numbers {
            for (number, state) in &self.files {
                let is_durable = |at: &NamePlace| self.leads_to(at, *number) && self.is_name_durable(at);
                if state.is_ambiguous || state.places.iter().any(is_durable) {
                    continue;
                }
                let left =
                    tree.files.iter().find(|left| left.file == *number && state.places.contains(&left.at));
                broken.extend(left.and_then(|left| self.broken_content(calls, *number, left, tree)));
            }
        }
        broken
    }

    fn broken_content(
        &self,
        calls: &[FileCall],
        number: FileNumber,
        left: &RecoveredFile,
        tree: &RecoveredTree<'_>,
    ) -> Option<BrokenPromise> {
        let state: &FileState = self.files.get(&number)?;
        if state.is_scrambled || state.is_folder {
            return None;
        }
        for (range, piece) in state.pieces.iter() {
            let Durability::Durable(synced) = piece.durability else { continue };
            if let Some(offset) = differs(tree, &left.path, &range, piece) {
                let what = (BrokenKind::BytesLost, left.path.clone(), Some(offset));
                return Some(self.promise(calls, what, piece.call, synced));
            }
        }
        let (size, synced) = state.durable_size?;
        (size != left.size_bytes).then(|| {
            let what = (BrokenKind::SizeLost, left.path.clone(), Some(size.min(left.size_bytes)));
            self.promise(calls, what, state.written, synced)
        })
    }

    fn promise(
        &self,
        calls: &[FileCall],
        (kind, file, offset_bytes): (BrokenKind, String, Option<u64>),
        call: Option<usize>,
        synced: Option<usize>,
    ) -> BrokenPromise {
        let words =
            |index: Option<usize>| index.and_then(|index| calls.get(index)).map(|call| self.describe(call));
        let order = synced.map_or(0, |index| index + 1);
        BrokenPromise {
            kind,
            file,
            offset_bytes,
            operation: words(call),
            acknowledged_by: words(synced),
            order,
        }
    }
}

/// Returns the first offset at which a file differs from a piece.
fn differs(tree: &RecoveredTree<'_>, path: &str, range: &Range<u64>, piece: &FilePiece) -> Option<u64> {
    if matches!(piece.content, CallBytes::Unknown) {
        return None;
    }
    let bytes = (tree.read)(path, range.clone())?;
    let length = (range.end - range.start) as usize;
    let first = match &piece.content {
        CallBytes::Bytes(all) => {
            let from = (piece.skip as usize).min(all.len());
            let expected = &all[from..(from + length).min(all.len())];
            expected.iter().zip(&bytes).position(|(one, other)| one != other)
        }
        CallBytes::Zeroes => bytes.iter().position(|byte| *byte != 0),
        CallBytes::Unknown => None,
    };
    first.or_else(|| (bytes.len() < length).then_some(bytes.len())).map(|at| range.start + at as u64)
}
