//! Effect of a power cut on the data.
//!
//! Before data is overwritten, its sectors are saved in a journal with the number of the write. On
//! a cut, the stack reports which writes its caches still hold. For each of these, and for each
//! unacknowledged write, a random draw decides whether it has reached the medium; all others have.
//! Then the sectors are restored to the last write that reached the medium. The draw is for a whole
//! write, or for each of its sectors if writes may be torn.

use crate::data::DiskData;
use crate::disk::{SECTOR_BYTES, sectors_length};
use crate::protocol::ExtentKind;
use kurabe_core::random::split_mix;
use kurabe_sim::Ranges;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io;

/// A journal entry of this size is split, so that holes in it cost nothing.
const NOTE_BYTES: u64 = 64 << 10;

/// Time and rules of power cuts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerRules {
    /// Cut after this number of acknowledged writes.
    pub after_writes: Option<u64>,
    /// Seed of the random draws.
    pub seed: u64,
    /// Whether a write may be present in part.
    pub torn: bool,
}

/// Damage of a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutReport {
    /// Writes acknowledged since serving began or since the previous cut.
    pub acknowledged_writes: u64,
    /// Writes that the caches held or that were not acknowledged yet.
    pub writes_at_stake: u64,
    /// Sectors of these writes.
    pub sectors_at_stake: u64,
    /// Sectors that were restored to their previous content.
    pub sectors_lost: u64,
}

#[derive(Debug)]
enum Old {
    Hole,
    Bytes(Vec<u8>),
}

#[derive(Debug)]
struct Note {
    number: u64,
    from: u64,
    to: u64,
    old: Old,
}

/// Data overwritten since the last flush, in the order of the writes.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    notes: Vec<Note>,
    noted_bytes: u64,
}

impl Journal {
    /// Saves the data that a write is about to overwrite.
    pub(crate) fn note(&mut self, data: &DiskData, number: u64, offset: u64, length: u64) -> io::Result<()> {
        let end = (offset + length).next_multiple_of(SECTOR_BYTES).min(data.size_bytes());
        let mut from = offset / SECTOR_BYTES * SECTOR_BYTES;
        while from < end {
            let most = sectors_length(end - from);
            for extent in data.extents(from, most) {
                let to = from + u64::from(extent.length_bytes);
                self.note_extent(data, number, (from, to), extent.kind)?;
                from = to;
            }
        }
        Ok(())
    }

    fn note_extent(
        &mut self,
        data: &DiskData,
        number: u64,
        range: (u64, u64),
        kind: ExtentKind,
    ) -> io::Result<()> {
        let (mut from, end) = range;
        if kind == ExtentKind::Hole {
            self.notes.push(Note { number, from, to: end, old: Old::Hole });
            return Ok(());
        }
        while from < end {
            let to = end.min(from + NOTE_BYTES);
            let mut bytes = vec![0; (to - from) as usize];
            data.read(from, &mut bytes)?;
            self.noted_bytes += to - from;
            self.notes.push(Note { number, from, to, old: Old::Bytes(bytes) });
            from = to;
        }
        Ok(())
    }

    /// Returns the bytes of memory that the journal holds.
    pub(crate) fn noted_bytes(&self) -> u64 {
        self.noted_bytes
    }

    /// Removes entries that a power cut can no longer affect.
    pub(crate) fn forget(&mut self, lost: &Ranges, in_flight: &HashSet<u64>) {
        self.notes.retain(|note| {
            in_flight.contains(&note.number)
                || lost.within(note.from, note.to).any(|(.., oldest)| oldest <= note.number)
        });
        let bytes = |note: &Note| if let Old::Bytes(bytes) = &note.old { bytes.len() as u64 } else { 0 };
        self.noted_bytes = self.notes.iter().map(bytes).sum();
    }

    /// Applies a power cut: restores sectors, and empties the journal.
    pub(crate) fn cut(
        &mut self,
        data: &DiskData,
        lost: &Ranges,
        in_flight: &HashSet<u64>,
        rules: &PowerRules,
    ) -> io::Result<CutReport> {
        let mut report = CutReport::default();
        let (mut settled, mut at_stake, mut writes) = (HashSet::new(), HashSet::new(), HashSet::new());
        for note in std::mem::take(&mut self.notes).iter().rev() {
            let mut from = note.from;
            while from < note.to {
                let to = note.to.min((from / SECTOR_BYTES + 1) * SECTOR_BYTES);
                let is_at_stake = in_flight.contains(&note.number)
                    || lost.within(from, to).any(|(.., oldest)| oldest <= note.number);
                if is_at_stake {
                    at_stake.insert(from);
                    writes.insert(note.number);
                }
                if !is_at_stake || reached(rules, note.number, from) {
                    settled.insert(from);
                } else if !settled.contains(&from) {
                    put_back(data, note, from, to)?;
                    report.sectors_lost += 1;
                }
                from = to;
            }
        }
        self.noted_bytes = 0;
        report.sectors_at_stake = at_stake.len() as u64;
        report.writes_at_stake = writes.len() as u64;
        Ok(report)
    }
}

/// Draws whether a write, or its sector, reached the medium.
fn reached(rules: &PowerRules, number: u64, from: u64) -> bool {
    let mut state = rules.seed ^ number.rotate_left(32) ^ if rules.torn { from.rotate_left(17) } else { 0 };
    split_mix(&mut state) >> 63 == 1
}

fn put_back(data: &DiskData, note: &Note, from: u64, to: u64) -> io::Result<()> {
    match &note.old {
        Old::Hole => data.zero(from, to - from, false),
        Old::Bytes(bytes) => data.write(from, &bytes[(from - note.from) as usize..(to - note.from) as usize]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECTORS: usize = 40;

    fn sectors(data: &DiskData) -> Vec<u8> {
        let mut bytes = vec![0; SECTORS * 512];
        data.read(0, &mut bytes).unwrap();
        bytes.chunks(512).map(|sector| sector[0]).collect()
    }

    proptest! {
        /// After a cut, every sector holds the content of one of its writes, none older than the
        /// last one that was not at stake.
        #[test]
        fn a_cut_takes_only_what_is_at_stake(
            writes in prop::collection::vec((0..SECTORS, 1usize..12), 1..30),
            oldest in prop::collection::vec(1u64..32, SECTORS),
            seed in any::<u64>(),
            torn in any::<bool>(),
        ) {
            let data = DiskData::memory(SECTORS as u64 * 512, u64::MAX).unwrap();
            let mut journal = Journal::default();
            // By sector: the number of each write to it; 0 is the initial content.
            let mut versions = vec![vec![0u8]; SECTORS];
            for (index, (from, count)) in writes.iter().enumerate() {
                let (number, end) = (index as u64 + 1, (from + count).min(SECTORS));
                let length = (end - from) * 512;
                journal.note(&data, number, *from as u64 * 512, length as u64).unwrap();
                data.write(*from as u64 * 512, &vec![number as u8; length]).unwrap();
                (*from..end).for_each(|sector| versions[sector].push(number as u8));
            }
            let lost: Ranges = oldest.iter().enumerate()
                .map(|(sector, oldest)| (sector as u64 * 512, sector as u64 * 512 + 512, *oldest)).collect();
            let rules = PowerRules { seed, torn, ..PowerRules::default() };
            // The oldest entries, which are removed first, were not at stake.
            let none = HashSet::new();
            journal.forget(&lost, &none);
            journal.cut(&data, &lost, &none, &rules).unwrap();
            for (sector, left) in sectors(&data).into_iter().enumerate() {
                let safe = versions[sector].iter().filter(|number| u64::from(**number) < oldest[sector]).max().unwrap();
                prop_assert!(versions[sector].contains(&left) && left >= *safe, "{sector}: {left}, {safe} is safe");
                let latest = *versions[sector].last().unwrap();
                if latest == *safe {
                    prop_assert_eq!(left, latest);
                }
            }
        }
    }

    /// One write of many sectors is present or not; if torn, it is present in part.
    #[test]
    fn a_write_is_torn_only_if_writes_may_be() {
        let left = |torn: bool, seed: u64| {
            let data = DiskData::memory(SECTORS as u64 * 512, u64::MAX).unwrap();
            let mut journal = Journal::default();
            journal.note(&data, 1, 0, SECTORS as u64 * 512).unwrap();
            data.write(0, &[1; SECTORS * 512]).unwrap();
            let lost = Ranges::from_iter([(0, SECTORS as u64 * 512, 1)]);
            let rules = PowerRules { seed, torn, ..PowerRules::default() };
            journal.cut(&data, &lost, &HashSet::new(), &rules).unwrap();
            sectors(&data).iter().filter(|sector| **sector == 1).count()
        };
        let whole: Vec<usize> = (0..16).map(|seed| left(false, seed)).collect();
        assert!(whole.contains(&0) && whole.contains(&SECTORS), "{whole:?}");
        assert!(whole.iter().all(|count| [0, SECTORS].contains(count)), "{whole:?}");
        assert!((0..16).all(|seed| (1..SECTORS).contains(&left(true, seed))));
    }

    #[test]
    fn what_was_not_acknowledged_is_at_stake_and_the_same_seed_cuts_alike() {
        let cut = |seed: u64| {
            let data = DiskData::memory(SECTORS as u64 * 512, u64::MAX).unwrap();
            let mut journal = Journal::default();
            for number in 1..=20 {
                journal.note(&data, number, number * 512, 512).unwrap();
                data.write(number * 512, &[number as u8; 512]).unwrap();
            }
            let in_flight: HashSet<u64> = (1..=20).collect();
            let rules = PowerRules { seed, ..PowerRules::default() };
            let report = journal.cut(&data, &Ranges::default(), &in_flight, &rules).unwrap();
            assert_eq!((report.writes_at_stake, report.sectors_at_stake), (20, 20));
            (report.sectors_lost, sectors(&data))
        };
        assert!((1..20).contains(&cut(1).0));
        assert_eq!(cut(1), cut(1));
        assert_ne!(cut(1), cut(2));
    }
}
