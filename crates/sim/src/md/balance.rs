//! Which copy a read goes to.
//!
//! The model: of RAID 1 (raid1.c, choose_best_rdev), who reads on from where its last read ended keeps its member. Else the
//! first member without a request takes it; if none is idle, the one whose head is nearest, or of members that do not turn
//! the one with the fewest requests. Of RAID 10 (raid10.c, read_balance), the first idle copy, else the nearest one; of
//! members that do not turn, the one with the fewest requests. While a member is filled, the first that has the data.

use super::Md;
use crate::raid::geometry::MemberExtent;

impl Md {
    /// The member for a read of a piece that several have; its offset is that of the member's data.
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
