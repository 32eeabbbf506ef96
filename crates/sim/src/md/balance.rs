//! Selection of the copy that a read goes to.
//!
//! The model: with RAID 1 (raid1.c, choose_best_rdev), a read that continues where the last one
//! ended stays on its member. Otherwise the first idle member takes it. If none is idle, it goes to
//! the one whose head is nearest or, for non-rotational members, to the one with the fewest
//! requests. With RAID 10 (raid10.c, read_balance), it goes to the first idle copy, otherwise to
//! the nearest one or, for non-rotational members, to the one with the fewest requests. During a
//! rebuild, it goes to the first member that has the data.

use super::Md;
use crate::raid::geometry::MemberExtent;

impl Md {
    /// Returns the member to read a piece from, of which there are several copies; its offset is
    /// within the member's data.
    pub(super) fn reader(&self, piece: &MemberExtent) -> u16 {
        let has = |member: &u16| !self.is_unreadable(&MemberExtent { member: *member, ..*piece });
        let mut copies = (piece.member..piece.member + self.geometry.copies as u16).filter(has);
        if self.rebuild.is_some() {
            return copies.next().unwrap_or(piece.member);
        }
        let at_bytes = piece.offset_bytes + self.values.data_offset_bytes;
        let cost = |member: &u16| {
            let state = &self.members[usize::from(*member)];
            let reads_on =
                self.values.level == 1 && [state.head_bytes, state.sent_to_bytes].contains(&at_bytes);
            match state.pending {
                _ if reads_on => (0, 0),
                0 => (1, 0),
                pending if !self.values.rotational => (2, u64::from(pending)),
                _ => (2, state.head_bytes.abs_diff(at_bytes)),
            }
        };
        copies.min_by_key(cost).unwrap_or(piece.member)
    }
}
