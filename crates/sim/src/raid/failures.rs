//! Failed members of an array.
//!
//! The model: data of a failed member are computed from as many live strips of its row as a row has
//! data strips, data before parity. Strips that are read anyway are read once.

use super::geometry::{MemberExtent, RaidGeometry};

#[derive(Clone, Debug, Default)]
pub(crate) struct Failures {
    /// Whether each member has failed.
    failed: Vec<bool>,
    /// Whether some have failed, but the array can still serve its data.
    pub(crate) degraded: bool,
    /// Whether too many have failed to serve the data.
    pub(crate) offline: bool,
}

impl Failures {
    pub(crate) fn new(members: usize) -> Self {
        Self { failed: vec![false; members], ..Self::default() }
    }

    /// Returns whether a member must not be used. An array that has just gone offline completes its
    /// requests in progress.
    #[inline]
    pub(crate) fn has(&self, member: u16) -> bool {
        self.degraded && self.failed[usize::from(member)]
    }

    /// Marks a member as failed or restored. Returns whether the member exists.
    pub(crate) fn set(&mut self, member: usize, fails: bool, geometry: &RaidGeometry) -> bool {
        let Some(failed) = self.failed.get_mut(member) else { return false };
        *failed = fails;
        let failed = &self.failed;
        let count = failed.iter().filter(|failed| **failed).count() as u64;
        self.offline = match geometry.parities {
            0 => failed.chunks(geometry.copies as usize).any(|copies| copies.iter().all(|failed| *failed)),
            parities => count > parities,
        };
        self.degraded = !self.offline && count > 0;
        true
    }

    /// Returns the extents to read instead of pieces of which members are unreadable, and the bytes
    /// to compute from them.
    pub(crate) fn read_around(
        &self,
        geometry: &RaidGeometry,
        pieces: &[MemberExtent],
        unreadable: impl Fn(&MemberExtent) -> bool,
    ) -> (Vec<MemberExtent>, u64) {
        let strip_bytes = geometry.strip_bytes;
        let (mut around, mut computed_bytes) = (Vec::new(), 0);
        for piece in pieces {
            if !unreadable(piece) {
                around.push(*piece);
                continue;
            }
            let (mut at, end) = (piece.offset_bytes, piece.end_bytes());
            while at < end {
                let row = at / strip_bytes;
                let length_bytes = end.min((row + 1) * strip_bytes) - at;
                let others = self.live_strips(geometry, row).take(geometry.data as usize);
                around.extend(others.map(|member| MemberExtent { member, offset_bytes: at, length_bytes }));
                computed_bytes += length_bytes * geometry.data;
                at += length_bytes;
            }
        }
        around.sort_unstable_by_key(|piece| (piece.member, piece.offset_bytes));
        around.dedup_by(|next, piece| {
            let joins = next.member == piece.member && next.offset_bytes <= piece.end_bytes();
            if joins {
                piece.length_bytes = piece.end_bytes().max(next.end_bytes()) - piece.offset_bytes;
            }
            joins
        });
        (around, computed_bytes)
    }

    /// Returns the members of a row that have not failed: those with data, then those with parity.
    fn live_strips(&self, geometry: &RaidGeometry, row: u64) -> impl Iterator<Item = u16> {
        let data = (0..geometry.data).map(move |index| geometry.data_member(row, index));
        let parity = (0..geometry.parities).map(move |index| geometry.parity_member(row, index));
        data.chain(parity).filter(|member| !self.has(*member))
    }
}
