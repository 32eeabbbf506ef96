//! Members that an array lacks.
//!
//! The model: what a failed member held is computed from as many live strips of its row as a row has strips of data, data
//! before parity. Strips that are read anyway are read once.

use super::geometry::{MemberExtent, RaidGeometry};

/// Members that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures {
    /// By member.
    failed: Vec<bool>,
    /// Any, but not so many that the array cannot give its data.
    pub(crate) degraded: bool,
    /// So many that it cannot.
    pub(crate) offline: bool,
}

impl Failures {
    pub(crate) fn new(members: usize) -> Self {
        Self { failed: vec![false; members], ..Self::default() }
    }

    /// Whether nothing is to be asked of a member. An array that has just gone offline ends what it began.
    #[inline]
    pub(crate) fn has(&self, member: u16) -> bool {
        self.degraded && self.failed[usize::from(member)]
    }

    /// A member fails, or is as good as the others again; whether there is such a member.
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

    /// What is read instead of pieces with parity of which members cannot be read, and how many bytes are computed from
    /// that.
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

    /// Members of a row that did not fail: those with data, then those with parity.
    fn live_strips(&self, geometry: &RaidGeometry, row: u64) -> impl Iterator<Item = u16> {
        let data = (0..geometry.data).map(move |index| geometry.data_member(row, index));
        let parity = (0..geometry.parities).map(move |index| geometry.parity_member(row, index));
        data.chain(parity).filter(|member| !self.has(*member))
    }
}
