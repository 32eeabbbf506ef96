//! An array that lacks members.
//!
//! The model: what a failed member held is computed from as many live strips of its row as a row has strips of data, data
//! before parity, and the parity computation is paid for. Strips that are read anyway are read once.

use super::card::Card;
use super::geometry::MemberExtent;

/// Members that failed.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    /// By member.
    failed: Vec<bool>,
    /// Any, but not so many that the array cannot give its data.
    pub(super) degraded: bool,
    /// So many that it cannot.
    pub(super) offline: bool,
}

impl Failures {
    pub(super) fn new(members: usize) -> Self {
        Self { failed: vec![false; members], degraded: false, offline: false }
    }

    /// Whether nothing is to be asked of a member. An array that has just gone offline ends what it began.
    #[inline]
    pub(super) fn has(&self, member: u16) -> bool {
        self.degraded && self.failed[usize::from(member)]
    }
}

impl Card {
    /// A member fails; whether there is such a member.
    pub(super) fn fail_member(&mut self, member: usize) -> bool {
        let Some(failed) = self.failures.failed.get_mut(member) else { return false };
        *failed = true;
        let failed = &self.failures.failed;
        self.failures.offline = match self.geometry.parities {
            0 => {
                failed.chunks(self.geometry.copies as usize).any(|copies| copies.iter().all(|failed| *failed))
            }
            parities => failed.iter().filter(|failed| **failed).count() as u64 > parities,
        };
        self.failures.degraded = !self.failures.offline;
        true
    }

    /// What is read instead of pieces with parity of which members failed, and how many bytes are computed from that.
    pub(super) fn read_around(&self, pieces: &[MemberExtent]) -> (Vec<MemberExtent>, u64) {
        let strip_bytes = self.geometry.strip_bytes;
        let (mut around, mut computed_bytes) = (Vec::new(), 0);
        for piece in pieces {
            if !self.failures.has(piece.member) {
                around.push(*piece);
                continue;
            }
            let (mut at, end) = (piece.offset_bytes, piece.offset_bytes + piece.length_bytes);
            while at < end {
                let row = at / strip_bytes;
                let length_bytes = end.min((row + 1) * strip_bytes) - at;
                let others = self.live_strips(row).take(self.geometry.data as usize);
                around.extend(others.map(|member| MemberExtent { member, offset_bytes: at, length_bytes }));
                computed_bytes += length_bytes * self.geometry.data;
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
    fn live_strips(&self, row: u64) -> impl Iterator<Item = u16> {
        let data = (0..self.geometry.data).map(move |index| self.geometry.data_member(row, index));
        let parity = (0..self.geometry.parities).map(move |index| self.geometry.parity_member(row, index));
        data.chain(parity).filter(|member| !self.failures.has(*member))
    }
}
