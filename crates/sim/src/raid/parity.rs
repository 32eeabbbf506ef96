//! Requests to the members that a write to a row with parity needs.
//!
//! The model: a row that is written completely is only written. Otherwise the new parity is
//! computed either from the old data and the old parity (read-modify-write) or from the data that
//! are not written (reconstruct write), whichever takes fewer requests, then fewer bytes. Parity is
//! handled over one range: the hull of the ranges written in the strips.

use super::geometry::{MemberExtent, RaidGeometry};

/// The reads and writes of an update of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct ParityUpdate {
    /// Extents to read before parity can be computed.
    pub(super) reads: Vec<MemberExtent>,
    /// Extents of data and parity to write.
    pub(super) writes: Vec<MemberExtent>,
    /// Bytes that the parity computation processes.
    pub(super) computed_bytes: u64,
    /// Parts written, by strip, and the gaps between them; the lists are reused.
    parts: Vec<StripPart>,
    gaps: Vec<StripPart>,
}

/// A part of a strip: index of the strip in the row, and the range from the start of the strip.
type StripPart = (u64, u64, u64);

impl ParityUpdate {
    /// Plans the write of sorted, disjoint ranges of the array that are in one row. Failed members
    /// are not written, and their data are only read if there is no alternative.
    pub(super) fn fill(
        &mut self,
        geometry: &RaidGeometry,
        row: u64,
        stretches: &[(u64, u64)],
        failed: impl Fn(u16) -> bool,
    ) {
        self.reads.clear();
        self.writes.clear();
        let (strip_bytes, row_from) = (geometry.strip_bytes, row * geometry.row_bytes());
        let (mut parts, mut gaps) = (std::mem::take(&mut self.parts), std::mem::take(&mut self.gaps));
        parts.clear();
        gaps.clear();
        for &(from, to) in stretches {
            let mut at = from - row_from;
            while at < to - row_from {
                let index = at / strip_bytes;
                let end = (to - row_from).min((index + 1) * strip_bytes);
                parts.push((index, at % strip_bytes, end - index * strip_bytes));
                at = end;
            }
        }
        let lowest = parts.iter().map(|part| part.1).min().unwrap_or(0);
        let highest = parts.iter().map(|part| part.2).max().unwrap_or(0);
        find_gaps(geometry, &parts, lowest, highest, &mut gaps);
        let length = |parts: &[StripPart]| parts.iter().map(|(_, from, to)| to - from).sum::<u64>();
        let (written_bytes, hull_bytes) = (length(&parts), highest - lowest);
        let modify = (parts.len() as u64 + geometry.parities, written_bytes + geometry.parities * hull_bytes);
        let piece = |member: u16, from: u64, to: u64| MemberExtent {
            member,
            offset_bytes: row * strip_bytes + from,
            length_bytes: to - from,
        };
        let data = |part: &StripPart| piece(geometry.data_member(row, part.0), part.1, part.2);
        let parity =
            (0..geometry.parities).map(|index| piece(geometry.parity_member(row, index), lowest, highest));
        let parity = parity.filter(|piece| !failed(piece.member));
        let fails = |parts: &[StripPart]| parts.iter().any(|part| failed(geometry.data_member(row, part.0)));
        let has_parity = parity.clone().next().is_some();
        if !has_parity {
            // There is no parity to compute, so there is nothing to read.
        } else if fails(&parts) || (!fails(&gaps) && (gaps.len() as u64, length(&gaps)) < modify) {
            self.reads.extend(gaps.iter().map(data));
        } else {
            self.reads.extend(parts.iter().map(data));
            self.reads.extend(parity.clone());
        }
        self.writes.extend(parts.iter().map(data).filter(|piece| !failed(piece.member)));
        self.writes.extend(parity);
        let read_bytes: u64 = self.reads.iter().map(|piece| piece.length_bytes).sum();
        self.computed_bytes = if has_parity { (read_bytes + written_bytes) * geometry.parities } else { 0 };
        (self.parts, self.gaps) = (parts, gaps);
    }
}

/// Finds the gaps between the parts, from `lowest` to `highest` of every data strip.
fn find_gaps(
    geometry: &RaidGeometry,
    parts: &[StripPart],
    lowest: u64,
    highest: u64,
    gaps: &mut Vec<StripPart>,
) {
    let mut parts = parts.iter().peekable();
    for index in 0..geometry.data {
        let mut at = lowest;
        while let Some(part) = parts.next_if(|part| part.0 == index) {
            if part.1 > at {
                gaps.push((index, at, part.1));
            }
            at = part.2;
        }
        if at < highest {
            gaps.push((index, at, highest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(level: u64, members: u64, stretches: &[(u64, u64)]) -> (usize, usize, u64) {
        let geometry = RaidGeometry::new(level, members, 65_536, 1 << 30).unwrap();
        let mut plan = ParityUpdate::default();
        plan.fill(&geometry, 0, stretches, |_| false);
        (plan.reads.len(), plan.writes.len(), plan.computed_bytes)
    }

    #[test]
    fn a_small_write_reads_two_and_writes_two() {
        assert_eq!(plan(5, 9, &[(0, 4096)]), (2, 2, 3 * 4096));
        assert_eq!(plan(6, 9, &[(0, 4096)]), (3, 3, 4 * 2 * 4096));
    }

    /// RAID 5 with nine members: in row 0 the last member has the parity, and member 0 the first
    /// strip.
    #[test]
    fn a_failed_member_is_left_out_and_worked_around() {
        let geometry = RaidGeometry::new(5, 9, 65_536, 1 << 30).unwrap();
        let plan = |failed: u16, to: u64| {
            let mut plan = ParityUpdate::default();
            plan.fill(&geometry, 0, &[(0, to)], |member| member == failed);
            (plan.reads.len(), plan.writes.len())
        };
        assert_eq!(plan(8, 4096), (0, 1), "without its parity a row is just written");
        assert_eq!(plan(0, 4096), (7, 1), "what cannot be written is in the parity, from all others");
        assert_eq!(plan(5, 4096), (2, 2), "another member's data are not needed");
        assert_eq!(plan(5, 5 * 65_536), (6, 6), "or cannot be read, so old data and parity are");
    }

    #[test]
    fn a_whole_row_needs_no_reading() {
        assert_eq!(plan(5, 9, &[(0, 8 * 65_536)]), (0, 9, 8 * 65_536));
        assert_eq!(plan(6, 9, &[(0, 7 * 65_536)]), (0, 9, 2 * 7 * 65_536));
    }

    #[test]
    fn most_of_a_row_reads_what_is_missing() {
        assert_eq!(plan(5, 9, &[(0, 7 * 65_536)]).0, 1);
        assert_eq!(plan(5, 3, &[(0, 4096)]).0, 1, "with two strips of data, the other one is the cheaper");
    }

    #[test]
    fn the_same_part_of_every_strip_needs_no_reading() {
        let stretches: Vec<(u64, u64)> =
            (0..8).map(|index| (index * 65_536, index * 65_536 + 4096)).collect();
        assert_eq!(plan(5, 9, &stretches), (0, 9, 8 * 4096));
    }
}
