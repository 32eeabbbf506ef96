//! Mapping of an array's bytes to its members.
//!
//! The model: the array is divided into strips; a row has one strip of every member. The data
//! strips of a row are in order of address, each on as many members as there are copies. RAID 5 and
//! 6 use one or two strips of every row for parity, which move by one member from row to row
//! (left-symmetric, the default of Linux md). Members of unequal size count as the smallest.

use super::failures::Failures;
use crate::ranges::AtRisk;
use kurabe_core::{Text, text};

/// Maximum number of members.
pub(crate) const MOST_MEMBERS: u64 = 256;

/// Block size of the card's memory; strips are multiples of it.
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// A range of bytes of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemberExtent {
    /// The member; for copies, the first of them.
    pub(crate) member: u16,
    /// First byte on the member.
    pub(crate) offset_bytes: u64,
    /// Length in bytes.
    pub(crate) length_bytes: u64,
}

impl MemberExtent {
    /// Returns the byte after the last one.
    pub(crate) fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }
}

/// The layout of an array.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RaidGeometry {
    /// Bytes per strip.
    pub(crate) strip_bytes: u64,
    /// Data strips per row.
    pub(crate) data: u64,
    /// Number of copies of each data strip.
    pub(crate) copies: u64,
    /// Parity strips per row.
    pub(crate) parities: u64,
    rows: u64,
}

impl RaidGeometry {
    /// Returns the layout of a RAID level over this many members, the smallest of `smallest_bytes`.
    /// An error names the parameter that is invalid.
    pub(crate) fn new(
        level: u64,
        members: u64,
        strip_bytes: u64,
        smallest_bytes: u64,
    ) -> Result<Self, (&'static str, Text)> {
        let enough = |least: u64| match members {
            members if members < least => Err((
                "members",
                text!(
                    "RAID {level} needs at least {least} members",
                    "RAID {level} には {least} 台以上のメンバーが必要です"
                ),
            )),
            members if members > MOST_MEMBERS => Err((
                "members",
                text!("more than {MOST_MEMBERS} members", "メンバーは {MOST_MEMBERS} 台までです"),
            )),
            _ => Ok(()),
        };
        let (least, data, copies, parities) = match level {
            0 => (1, members, 1, 0),
            1 => (2, 1, members, 0),
            5 => (3, members.saturating_sub(1), 1, 1),
            6 => (4, members.saturating_sub(2), 1, 2),
            _ => (4, members / 2, 2, 0),
        };
        enough(least)?;
        if level == 10 && !members.is_multiple_of(2) {
            return Err((
                "members",
                text!("RAID 10 needs an even number of members", "RAID 10 のメンバーは偶数台です"),
            ));
        }
        let rows = smallest_bytes / strip_bytes;
        if rows == 0 {
            return Err((
                "strip",
                text!("a member is smaller than a strip", "メンバーの容量がストリップより小さくなっています"),
            ));
        }
        if rows.checked_mul(data * strip_bytes).is_none() {
            return Err(("members", text!("the array is too large", "アレイが大きすぎます")));
        }
        Ok(Self { strip_bytes, data, copies, parities, rows })
    }

    /// Returns the capacity of the array in bytes.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.rows * self.row_bytes()
    }

    /// Returns the bytes of a member that the array uses.
    pub(crate) fn member_bytes(&self) -> u64 {
        self.rows * self.strip_bytes
    }

    /// Returns the bytes of data in a row.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.data * self.strip_bytes
    }

    /// Returns the number of strips that the bytes from `from` to `to` touch.
    pub(crate) fn strips(&self, from: u64, to: u64) -> u64 {
        if to <= from { 0 } else { (to - 1) / self.strip_bytes - from / self.strip_bytes + 1 }
    }

    /// Returns the member of a data strip of a row; for copies, the first of them.
    pub(crate) fn data_member(&self, row: u64, index: u64) -> u16 {
        if self.parities == 0 {
            return (index * self.copies) as u16;
        }
        let members = self.data + self.parities;
        ((self.first_parity(row) + self.parities + index) % members) as u16
    }

    /// Returns the member of a parity strip of a row.
    pub(crate) fn parity_member(&self, row: u64, index: u64) -> u16 {
        ((self.first_parity(row) + index) % (self.data + self.parities)) as u16
    }

    fn first_parity(&self, row: u64) -> u64 {
        let members = self.data + self.parities;
        members - 1 - row % members
    }

    /// Reports the ranges of the array that a range of a member holds; parity is not included.
    pub(crate) fn data_of(&self, member: u64, from: u64, to: u64, mut tell: impl FnMut(u64, u64)) {
        let (mut at, to) = (from, to.min(self.member_bytes()));
        while at < to {
            let row = at / self.strip_bytes;
            let end = to.min((row + 1) * self.strip_bytes);
            if let Some(index) = self.data_index(row, member) {
                let first = (row * self.data + index) * self.strip_bytes + at % self.strip_bytes;
                tell(first, first + (end - at));
            }
            at = end;
        }
    }

    /// Returns the data at risk in the array, for members whose data begin at an offset. Data lost
    /// on any copy count as lost, because nothing identifies the newer copy.
    pub(crate) fn lift(&self, below: &[AtRisk], failures: &Failures, data_offset_bytes: u64) -> AtRisk {
        let mut all = AtRisk::default();
        for (member, risk) in (0u16..).zip(below).filter(|(member, _)| !failures.has(*member)) {
            let risk = risk.moved(|(from, to, number), array| {
                let (from, to) = (from.max(data_offset_bytes), to.max(data_offset_bytes));
                let (from, to) = (from - data_offset_bytes, to - data_offset_bytes);
                self.data_of(u64::from(member), from, to, |from, to| {
                    array.add(from, to, number);
                });
            });
            all.lost.extend(risk.lost.iter());
            all.saved.extend(risk.saved.iter());
        }
        all
    }

    /// Returns the index of the data strip of a row that a member has; `None` if it has parity.
    pub(crate) fn data_index(&self, row: u64, member: u64) -> Option<u64> {
        if self.parities == 0 {
            return Some(member / self.copies);
        }
        let members = self.data + self.parities;
        ((member + members - self.first_parity(row)) % members).checked_sub(self.parities)
    }

    /// Divides a range of the array into pieces on the members. Consecutive strips of one member
    /// become one piece.
    pub(crate) fn split(&self, from: u64, to: u64, pieces: &mut Vec<MemberExtent>) {
        let before = pieces.len();
        let mut at = from;
        while at < to {
            let strip = at / self.strip_bytes;
            let (row, index) = (strip / self.data, strip % self.data);
            let within = at % self.strip_bytes;
            let end = to.min((strip + 1) * self.strip_bytes);
            let piece = MemberExtent {
                member: self.data_member(row, index),
                offset_bytes: row * self.strip_bytes + within,
                length_bytes: end - at,
            };
            let same = pieces[before..].iter_mut().rev().find(|last| last.member == piece.member);
            match same {
                Some(last) if last.offset_bytes + last.length_bytes == piece.offset_bytes => {
                    last.length_bytes += piece.length_bytes;
                }
                _ => pieces.push(piece),
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn capacity_is_that_of_the_members_without_copies_and_parity() {
        let capacity = |level, members| {
            RaidGeometry::new(level, members, 65_536, 1_000_000_000).unwrap().capacity_bytes()
        };
        let member = 1_000_000_000 / 65_536 * 65_536;
        assert_eq!(capacity(0, 5), 5 * member);
        assert_eq!(capacity(1, 3), member);
        assert_eq!(capacity(5, 9), 8 * member);
        assert_eq!(capacity(6, 9), 7 * member);
        assert_eq!(capacity(10, 6), 3 * member);
    }

    #[test]
    fn what_does_not_fit_is_an_error_that_names_the_parameter() {
        let wrong = |level, members, strip, smallest| {
            RaidGeometry::new(level, members, strip, smallest).unwrap_err().0
        };
        assert_eq!(wrong(5, 2, 65_536, 1 << 30), "members");
        assert_eq!(wrong(10, 5, 65_536, 1 << 30), "members");
        assert_eq!(wrong(0, 1000, 65_536, 1 << 30), "members");
        assert_eq!(wrong(0, 4, 65_536, 4096), "strip");
        assert_eq!(wrong(0, 256, 4096, u64::MAX), "members");
    }

    proptest! {
        /// Every byte of the array has its own location: pieces sum to the range, do not overlap,
        /// and stay within a member.
        #[test]
        fn pieces_hold_each_byte_once(
            level in prop::sample::select(vec![0u64, 1, 5, 6, 10]),
            half in 2u64..6,
            strip in 1u64..5,
            from in 0u64..500_000,
            length in 1u64..300_000,
        ) {
            let geometry = RaidGeometry::new(level, half * 2, strip * 4096, 1 << 20).unwrap();
            let to = (from + length).min(geometry.capacity_bytes());
            prop_assume!(from < to);
            let mut pieces = Vec::new();
            geometry.split(from, to, &mut pieces);
            prop_assert_eq!(pieces.iter().map(|piece| piece.length_bytes).sum::<u64>(), to - from);
            for (index, one) in pieces.iter().enumerate() {
                prop_assert!(one.offset_bytes + one.length_bytes <= 1 << 20);
                for other in &pieces[index + 1..] {
                    let apart = one.member != other.member
                        || one.offset_bytes + one.length_bytes <= other.offset_bytes
                        || other.offset_bytes + other.length_bytes <= one.offset_bytes;
                    prop_assert!(apart);
                }
            }
            let mut back = crate::ranges::Ranges::default();
            for piece in &pieces {
                let end = piece.offset_bytes + piece.length_bytes;
                geometry.data_of(u64::from(piece.member), piece.offset_bytes, end, |from, to| {
                    back.add(from, to, 1);
                });
            }
            prop_assert_eq!(back.iter().collect::<Vec<_>>(), vec![(from, to, 1)], "and the way back is the same");
            if geometry.parities == 0 {
                prop_assert!(pieces.len() as u64 <= geometry.data, "one request for each member");
            }
        }
    }
}
