//! The bytes of a file, as pieces with the call that wrote each.

use crate::call::CallBytes;
use std::collections::BTreeMap;
use std::ops::Range;

/// Whether bytes survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// They do. The call that acknowledged it; `None` for bytes from before the program.
    Durable(Option<usize>),
    /// They may be lost.
    Dirty,
    /// It is unknown which bytes these are.
    Uncertain,
}

/// Bytes with the same origin.
#[derive(Clone, Debug)]
pub(crate) struct FilePiece {
    pub(crate) end: u64,
    pub(crate) content: CallBytes,
    /// Offset of the piece in its content.
    pub(crate) skip: u64,
    /// Index of the call that wrote it; `None` for bytes from before the program.
    pub(crate) call: Option<usize>,
    /// Position of the end of that call.
    pub(crate) ended: u64,
    pub(crate) durability: Durability,
}

impl FilePiece {
    /// Returns a whole file from before the program.
    pub(crate) fn of_base(size_bytes: u64, content: CallBytes) -> Self {
        Self {
            end: size_bytes,
            content,
            skip: 0,
            call: None,
            ended: 0,
            durability: Durability::Durable(None),
        }
    }
}

/// All bytes of a file. Bytes that no call wrote have no piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilePieces(BTreeMap<u64, FilePiece>);

impl FilePieces {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Range<u64>, &FilePiece)> {
        self.0.iter().map(|(from, piece)| (*from..piece.end, piece))
    }

    pub(crate) fn within(&self, range: &Range<u64>) -> impl Iterator<Item = (Range<u64>, &FilePiece)> {
        let range = range.clone();
        let before = self.0.range(..range.start).next_back().map_or(range.start, |(from, _)| *from);
        let inside = self.0.range(before..range.end.max(before));
        let inside = inside.map(|(from, piece)| (*from..piece.end, piece));
        inside.filter(move |(place, _)| place.start < range.end && range.start < place.end)
    }

    /// Returns the call of the last piece that may be lost.
    pub(crate) fn last_dirty_call(&self) -> Option<usize> {
        self.0
            .values()
            .filter(|piece| piece.durability == Durability::Dirty)
            .filter_map(|piece| piece.call)
            .max()
    }

    /// Writes a piece. Bytes that another call wrote concurrently become uncertain.
    pub(crate) fn write(&mut self, range: Range<u64>, began: u64, mut piece: FilePiece) {
        if range.is_empty() {
            return;
        }
        let overlaps: Vec<Range<u64>> = self
            .within(&range)
            .filter(|(_, old)| old.ended > began)
            .map(|(place, _)| place.start.max(range.start)..place.end.min(range.end))
            .collect();
        self.remove(range.clone());
        piece.end = range.end;
        self.0.insert(range.start, piece);
        overlaps.into_iter().for_each(|place| self.change(place, |_| Durability::Uncertain));
    }

    /// Removes the pieces in a range.
    pub(crate) fn remove(&mut self, range: Range<u64>) {
        self.split(range.start);
        self.split(range.end);
        let gone: Vec<u64> = self.0.range(range).map(|(from, _)| *from).collect();
        gone.iter().for_each(|from| drop(self.0.remove(from)));
    }

    /// Changes the durability of the pieces in a range.
    pub(crate) fn change(&mut self, range: Range<u64>, new: impl Fn(&FilePiece) -> Durability) {
        self.split(range.start);
        self.split(range.end);
        self.0.range_mut(range).for_each(|(_, piece)| piece.durability = new(piece));
    }

    /// Changes the durability of all pieces.
    pub(crate) fn change_all(&mut self, new: impl Fn(&FilePiece) -> Durability) {
        self.0.values_mut().for_each(|piece| piece.durability = new(piece));
    }

    fn split(&mut self, at: u64) {
        let Some((from, piece)) = self.0.range_mut(..at).next_back() else { return };
        if piece.end <= at {
            return;
        }
        let mut rest = piece.clone();
        rest.skip += at - from;
        piece.end = at;
        self.0.insert(at, rest);
    }
}
