//! Where a sector lies: zone, cylinder, head, and its angle on the track.
//!
//! The model: tracks of a zone have equally many sectors. Sectors are numbered along a track, then over the heads of a
//! cylinder, then over cylinders. Every track begins at an angle of its own (skew), so that the sector after the last
//! one of a track comes by when the next head is ready.
//!
//! Angles are whole nanoseconds of a turn, and the disk's angle at a time is that time modulo the turn. The border
//! before sector k of n stands at `k * turn / n`, rounded down, by one function for the end of a transfer and for the
//! start of the next; so a transfer that goes on at once finds its sector at exactly that moment, and rounding can never
//! make it wait for a turn.
//!
//! Not modelled: spindle speed that varies, sectors that were replaced far away.

/// Neighbouring cylinders of equally many sectors.
#[derive(Clone, Debug, Default)]
pub(super) struct Zone {
    /// First cylinder.
    pub(super) cylinder: u64,
    /// Sectors of each track.
    pub(super) sectors: u64,
    /// Angles by which each track begins after the one before: next head, next cylinder.
    pub(super) skew_ns: (u64, u64),
    /// Angle at which its first track begins.
    pub(super) offset_ns: u64,
    /// Sectors at its start and at its end that hold no data.
    pub(super) unused: (u64, u64),
    /// Sectors left out because they are bad or spare: the data sector, counted within the zone, before which they lie,
    /// and how many are left out until there, these counted.
    pub(super) slips: Vec<(u64, u64)>,
    /// First sector of data, and how many follow in the zone; set by [`DiskGeometry::new`].
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Zone {
    /// Leaves sectors out: each row is the data sector of the zone before which they lie, and how many.
    pub(super) fn leave_out(&mut self, mut rows: Vec<(u64, u64)>) {
        rows.sort_unstable();
        let gone = rows.iter().scan(0u64, |gone, (_, count)| {
            *gone = gone.saturating_add(*count);
            Some(*gone)
        });
        self.slips = rows.iter().map(|(before, _)| *before).zip(gone).collect();
    }

    /// Sectors that are left out before the first `index` slips' data sectors.
    fn left_out(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(0, |last| self.slips[last].1)
    }

    /// The sector of the zone, counted with all that is left out, of a data sector of the zone.
    fn physical(&self, sector: u64) -> u64 {
        let slips = self.slips.partition_point(|(before, _)| *before <= sector);
        self.unused.0 + sector + self.left_out(slips)
    }

    /// How many data sectors lie before a sector of the zone that is counted with all that is left out.
    fn data_before(&self, physical: u64) -> u64 {
        let beyond = physical.saturating_sub(self.unused.0);
        // The n-th slip begins after its data sectors and all that the slips before it leave out.
        let (mut low, mut high) = (0, self.slips.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.slips[middle].0 + self.left_out(middle) < beyond {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let data = beyond.saturating_sub(self.left_out(low));
        // The sector may be among those that the last slip leaves out.
        low.checked_sub(1).map_or(data, |last| data.max(self.slips[last].0))
    }
}

/// A track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Track {
    pub(super) zone: usize,
    pub(super) cylinder: u64,
    /// Which of its cylinder's tracks it is, in the order of addresses.
    pub(super) head: u64,
}

/// A sector's place.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectorPlace {
    pub(super) track: Track,
    /// Sector of its track.
    pub(super) sector: u64,
    /// Angle at which the track begins.
    pub(super) start_ns: u64,
}

/// Whether every other cylinder is addressed from the last head to the first, so that the next cylinder begins at the same
/// head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serpentine {
    No,
    /// Counted from the first cylinder of each zone.
    FromEachZone,
    /// Counted from the first cylinder of the disk.
    OverZones,
}

/// The layout of a disk.
#[derive(Clone, Debug)]
pub(super) struct DiskGeometry {
    zones: Vec<Zone>,
    pub(super) heads: u64,
    serpentine: Serpentine,
    /// Time of a turn.
    pub(super) turn_ns: u64,
    /// Sectors of data.
    pub(super) sectors: u64,
}

impl DiskGeometry {
    /// Zones in order of cylinders, none empty; the last ends before `cylinders`.
    pub(super) fn new(
        mut zones: Vec<Zone>,
        heads: u64,
        cylinders: u64,
        turn_ns: u64,
        serpentine: Serpentine,
    ) -> Self {
        let mut sectors = 0u64;
        for index in 0..zones.len() {
            let end = zones.get(index + 1).map_or(cylinders, |next| next.cylinder);
            let zone = &mut zones[index];
            let all = (end - zone.cylinder) * heads * zone.sectors;
            let left_out = zone.left_out(zone.slips.len());
            zone.first = sectors;
            zone.count = all.saturating_sub(zone.unused.0 + zone.unused.1 + left_out);
            sectors += zone.count;
        }
        Self { zones, heads, serpentine, turn_ns, sectors }
    }

    /// The head that a track is under.
    #[inline]
    pub(super) fn head_of(&self, track: Track) -> u64 {
        let reversed = match self.serpentine {
            Serpentine::No => false,
            Serpentine::FromEachZone => (track.cylinder - self.zones[track.zone].cylinder) % 2 == 1,
            Serpentine::OverZones => track.cylinder % 2 == 1,
        };
        if reversed { self.heads - 1 - track.head } else { track.head }
    }

    /// The zone of a sector of data.
    #[inline]
    pub(super) fn zone_of(&self, sector: u64) -> usize {
        self.zones.partition_point(|zone| zone.first <= sector).saturating_sub(1)
    }

    /// The place of a sector of data.
    #[inline]
    pub(super) fn place(&self, sector: u64) -> SectorPlace {
        let zone = self.zone_of(sector);
        self.place_in(zone, self.zones[zone].physical(sector - self.zones[zone].first))
    }

    /// The place of a sector of a zone, all counted.
    #[inline]
    fn place_in(&self, index: usize, physical: u64) -> SectorPlace {
        let zone = &self.zones[index];
        let (track, sector) = (physical / zone.sectors, physical % zone.sectors);
        let (cylinder, head) = (track / self.heads, track % self.heads);
        let per_cylinder_ns = (self.heads - 1) * zone.skew_ns.0 + zone.skew_ns.1;
        let start_ns = zone.offset_ns + cylinder * per_cylinder_ns + head * zone.skew_ns.0;
        let track = Track { zone: index, cylinder: zone.cylinder + cylinder, head };
        SectorPlace { track, sector, start_ns: start_ns % self.turn_ns }
    }

    /// The data sectors of the track that holds one.
    pub(super) fn track_of(&self, sector: u64) -> (u64, u64) {
        let zone = &self.zones[self.zone_of(sector)];
        let physical = zone.physical(sector.saturating_sub(zone.first));
        let start = physical - physical % zone.sectors;
        let end = zone.data_before(start + zone.sectors).min(zone.count);
        (zone.first + zone.data_before(start), zone.first + end)
    }

    /// Time from the start of a track of a zone to the border before a sector; `sector` may be the number of sectors.
    #[inline]
    fn border_ns(&self, zone: usize, sector: u64) -> u64 {
        sector * self.turn_ns / self.zones[zone].sectors
    }

    /// When the border before a place's sector comes by, at `from_ns` or next.
    #[inline]
    pub(super) fn comes_by_ns(&self, place: &SectorPlace, from_ns: u64) -> u64 {
        let turn_ns = self.turn_ns;
        let angle_ns = place.start_ns + self.border_ns(place.track.zone, place.sector);
        from_ns + (angle_ns + turn_ns - from_ns % turn_ns) % turn_ns
    }

    /// Goes along sectors from `first` on, whose border stands under the head at `from_ns`, until `end` (a sector of data)
    /// or the last that is complete by `until_ns`.
    pub(super) fn pass(
        &self,
        first: u64,
        end: u64,
        from_ns: u64,
        until_ns: u64,
        switch_ns: (u64, u64),
    ) -> Passed {
        let mut passed =
            Passed { sector: first, at_ns: from_ns, on_track: (from_ns, first), ..Passed::default() };
        let mut last_track = None;
        while passed.sector < end {
            let index = self.zone_of(passed.sector);
            let zone = &self.zones[index];
            let mut physical = zone.physical(passed.sector - zone.first);
            let end_here = zone.physical(end.min(zone.first + zone.count) - 1 - zone.first) + 1;
            while physical < end_here {
                let place = self.place_in(index, physical);
                let start_ns = match last_track {
                    None => passed.at_ns,
                    Some(track) => {
                        let ready_ns = passed.at_ns + if_next(track, place.track, switch_ns);
                        self.comes_by_ns(&place, ready_ns)
                    }
                };
                if start_ns > until_ns {
                    return passed;
                }
                passed.track = place.track;
                let base_ns = self.border_ns(index, place.sector);
                let fits =
                    self.sectors_within(index, base_ns.saturating_add(until_ns - start_ns)) - place.sector;
                let take = (zone.sectors - place.sector).min(end_here - physical);
                // Sectors that are left out are passed between others, and not waited for after the track's last one.
                let data = zone.data_before(physical + fits.min(take));
                let Some(last) =
                    data.checked_sub(1).map(|last| zone.physical(last)).filter(|last| *last >= physical)
                else {
                    return passed;
                };
                passed.switch_ns += start_ns - passed.at_ns;
                passed.on_track = (start_ns, passed.sector);
                passed.at_ns = start_ns + self.border_ns(index, place.sector + last + 1 - physical) - base_ns;
                passed.sector = zone.first + data;
                let next = zone.physical(data);
                // Of a track whose last sectors are left out, all the data may be passed before the time is up.
                if next < physical + take {
                    return passed;
                }
                physical = next;
                last_track = Some(place.track);
            }
        }
        passed
    }

    /// How many sectors of a track have passed after a time from its start, at most all.
    fn sectors_within(&self, zone: usize, ns: u64) -> u64 {
        let sectors = self.zones[zone].sectors;
        if ns >= self.turn_ns {
            return sectors;
        }
        // The largest k with floor(k * turn / n) <= ns.
        ((ns + 1) * sectors).div_ceil(self.turn_ns) - 1
    }
}

/// The time to get from a track to the next one in order.
fn if_next(from: Track, to: Track, (head_ns, cylinder_ns): (u64, u64)) -> u64 {
    if from.cylinder == to.cylinder { head_ns } else { cylinder_ns }
}

/// How far a pass along sectors got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    /// The sector after the last one that is complete.
    pub(super) sector: u64,
    /// When that was complete.
    pub(super) at_ns: u64,
    /// Of the time: what went to switching heads and cylinders.
    pub(super) switch_ns: u64,
    /// The track where the head is.
    pub(super) track: Track,
    /// When its first sector of these began to pass, and which that is.
    pub(super) on_track: (u64, u64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn geometry(slips: Vec<(u64, u64)>) -> DiskGeometry {
        let mut outer =
            Zone { sectors: 100, unused: (3, 5), skew_ns: (2_000_000, 3_000_000), ..Zone::default() };
        outer.leave_out(slips);
        outer.offset_ns = 77;
        let inner = Zone { cylinder: 40, sectors: 61, skew_ns: (2_100_000, 3_100_000), ..Zone::default() };
        DiskGeometry::new(vec![outer, inner], 3, 100, 11_111_111, Serpentine::No)
    }

    #[test]
    fn sectors_are_laid_out_track_by_track() {
        let geometry = geometry(vec![(200, 1), (10, 2)]);
        assert_eq!(geometry.sectors, 40 * 3 * 100 - 3 - 5 - 3 + 60 * 3 * 61);
        let place = |sector| {
            let place = geometry.place(sector);
            (place.track.cylinder, place.track.head, place.sector)
        };
        assert_eq!(place(0), (0, 0, 3));
        assert_eq!(place(9), (0, 0, 12));
        assert_eq!(place(10), (0, 0, 15));
        assert_eq!(place(94), (0, 0, 99));
        assert_eq!(place(95), (0, 1, 0));
        assert_eq!(place(40 * 3 * 100 - 11), (40, 0, 0));
        assert_eq!(place(geometry.sectors - 1), (99, 2, 60));
    }

    proptest! {
        /// Passing in pieces is passing at once, to the nanosecond; and stopping at a time stops at the last sector
        /// that is complete by then.
        #[test]
        fn pieces_of_a_pass_make_the_whole(
            first in 0u64..20_000, counts in prop::collection::vec(1u64..400, 1..8), from_ns in 0u64..1 << 40,
            stop_ns in 0u64..200_000_000,
        ) {
            let geometry = geometry(vec![(50, 1), (51, 2), (280, 100), (700, 230)]);
            let switch_ns = (1_500_000, 2_500_000);
            let end = first + counts.iter().sum::<u64>();
            let from_ns = geometry.comes_by_ns(&geometry.place(first), from_ns);
            let whole = geometry.pass(first, end, from_ns, u64::MAX, switch_ns);
            prop_assert_eq!(whole.sector, end);
            let (mut sector, mut at_ns) = (first, from_ns);
            let mut track = geometry.place(first).track;
            for count in counts {
                // A new request finds the head on the track where the last one left it.
                let place = geometry.place(sector);
                let switch_ns = if place.track == track { 0 } else { if_next(track, place.track, switch_ns) };
                let start_ns = geometry.comes_by_ns(&place, at_ns + switch_ns);
                let passed = geometry.pass(sector, sector + count, start_ns, u64::MAX, (1_500_000, 2_500_000));
                (sector, at_ns, track) = (passed.sector, passed.at_ns, passed.track);
            }
            prop_assert_eq!((sector, at_ns), (whole.sector, whole.at_ns));

            let stopped = geometry.pass(first, end, from_ns, from_ns + stop_ns, switch_ns);
            prop_assert!(stopped.at_ns <= from_ns + stop_ns || stopped.sector == first);
            if stopped.sector < end {
                let next = geometry.pass(first, stopped.sector + 1, from_ns, u64::MAX, switch_ns);
                prop_assert!(next.at_ns > from_ns + stop_ns);
            }
            if stopped.sector > first {
                let same = geometry.pass(first, stopped.sector, from_ns, u64::MAX, switch_ns);
                prop_assert_eq!(same.at_ns, stopped.at_ns);
            }
        }
    }
}
