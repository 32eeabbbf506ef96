//! The position of a sector: zone, cylinder, head, and angle on the track.
//!
//! The model: all tracks of a zone have the same number of sectors. Sectors are numbered along a
//! track, then over the heads of a cylinder, then over cylinders. Every track begins at its own
//! angle (skew), so that the sector after the last one of a track passes when the next head is
//! ready.
//!
//! Angles are integers in nanoseconds of a revolution, and the disk's angle at a time is that time
//! modulo the revolution. The border before sector k of n is at `k * turn / n`, rounded down. One
//! function computes it for the end of a transfer and for the start of the next. A transfer that
//! continues immediately therefore finds its sector at exactly that moment, and rounding never
//! costs a revolution.
//!
//! Not modelled: variations of spindle speed, and sectors remapped to a distant location.

/// Adjacent cylinders with the same number of sectors per track.
#[derive(Clone, Debug, Default)]
pub(super) struct Zone {
    /// First cylinder.
    pub(super) cylinder: u64,
    /// Sectors per track.
    pub(super) sectors: u64,
    /// Angles by which a track begins after the previous one: for a head switch and for a cylinder
    /// switch, in ns.
    pub(super) skew_ns: (u64, u64),
    /// Angle at which the first track begins, in ns.
    pub(super) offset_ns: u64,
    /// Sectors without data at the start and at the end.
    pub(super) unused: (u64, u64),
    /// Sectors skipped because they are bad or spare. Each entry has the data sector, counted
    /// within the zone, before which they are, and the cumulative number of skipped sectors up to
    /// there.
    pub(super) slips: Vec<(u64, u64)>,
    /// First data sector, and number of data sectors in the zone; set by [`DiskGeometry::new`].
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Zone {
    /// Skips sectors. Each row has the data sector of the zone before which they are, and their
    /// number.
    pub(super) fn leave_out(&mut self, mut rows: Vec<(u64, u64)>) {
        rows.sort_unstable();
        let gone = rows.iter().scan(0u64, |gone, (_, count)| {
            *gone = gone.saturating_add(*count);
            Some(*gone)
        });
        self.slips = rows.iter().map(|(before, _)| *before).zip(gone).collect();
    }

    /// Returns the number of sectors skipped before the data sector of the slip at `index`.
    fn left_out(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(0, |last| self.slips[last].1)
    }

    /// Converts a data sector of the zone to a physical one, which includes all skipped sectors.
    fn physical(&self, sector: u64) -> u64 {
        let slips = self.slips.partition_point(|(before, _)| *before <= sector);
        self.unused.0 + sector + self.left_out(slips)
    }

    /// Returns the number of data sectors before a physical sector of the zone.
    fn data_before(&self, physical: u64) -> u64 {
        let beyond = physical.saturating_sub(self.unused.0);
        // The n-th slip begins after its data sectors and the sectors that earlier slips skip.
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
        // The sector may be one of those that the last slip skips.
        low.checked_sub(1).map_or(data, |last| data.max(self.slips[last].0))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Track {
    pub(super) zone: usize,
    pub(super) cylinder: u64,
    /// Index within the cylinder, in address order.
    pub(super) head: u64,
}

/// Position of a sector.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectorPlace {
    pub(super) track: Track,
    /// Index on the track.
    pub(super) sector: u64,
    /// Angle at which the track begins, in ns.
    pub(super) start_ns: u64,
}

/// Whether every other cylinder is addressed from the last head to the first, so that the next
/// cylinder begins at the same head.
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
    /// Time of a revolution.
    pub(super) turn_ns: u64,
    /// Number of data sectors.
    pub(super) sectors: u64,
}

impl DiskGeometry {
    /// Creates a geometry from non-empty zones in order of cylinders; the last ends before
    /// `cylinders`.
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

    /// Returns the physical head of a track.
    #[inline]
    pub(super) fn head_of(&self, track: Track) -> u64 {
        let reversed = match self.serpentine {
            Serpentine::No => false,
            Serpentine::FromEachZone => (track.cylinder - self.zones[track.zone].cylinder) % 2 == 1,
            Serpentine::OverZones => track.cylinder % 2 == 1,
        };
        if reversed { self.heads - 1 - track.head } else { track.head }
    }

    /// Returns the zone of a data sector.
    #[inline]
    pub(super) fn zone_of(&self, sector: u64) -> usize {
        self.zones.partition_point(|zone| zone.first <= sector).saturating_sub(1)
    }

    /// Returns the position of a data sector.
    #[inline]
    pub(super) fn place(&self, sector: u64) -> SectorPlace {
        let zone = self.zone_of(sector);
        self.place_in(zone, self.zones[zone].physical(sector - self.zones[zone].first))
    }

    /// Returns the position of a physical sector of a zone.
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

    /// Returns the range of data sectors on the track of `sector`.
    pub(super) fn track_of(&self, sector: u64) -> (u64, u64) {
        let zone = &self.zones[self.zone_of(sector)];
        let physical = zone.physical(sector.saturating_sub(zone.first));
        let start = physical - physical % zone.sectors;
        let end = zone.data_before(start + zone.sectors).min(zone.count);
        (zone.first + zone.data_before(start), zone.first + end)
    }

    /// Returns the time from the start of a track to the border before a sector; `sector` may equal
    /// the number of sectors.
    #[inline]
    fn border_ns(&self, zone: usize, sector: u64) -> u64 {
        sector * self.turn_ns / self.zones[zone].sectors
    }

    /// Returns the time, at or after `from_ns`, at which the border before this sector passes the
    /// head.
    #[inline]
    pub(super) fn comes_by_ns(&self, place: &SectorPlace, from_ns: u64) -> u64 {
        let turn_ns = self.turn_ns;
        let angle_ns = place.start_ns + self.border_ns(place.track.zone, place.sector);
        from_ns + (angle_ns + turn_ns - from_ns % turn_ns) % turn_ns
    }

    /// Passes along sectors from `first`, which is at `place` and whose border is under the head at
    /// `from_ns`, until `end` (a data sector) or the last sector that is complete by `until_ns`.
    pub(super) fn pass(
        &self,
        place: SectorPlace,
        first: u64,
        end: u64,
        from_ns: u64,
        until_ns: u64,
        switch_ns: (u64, u64),
    ) -> Passed {
        let mut passed =
            Passed { sector: first, at_ns: from_ns, on_track: (from_ns, first), ..Passed::default() };
        let (mut first_place, mut last_track) = (Some(place), None);
        while passed.sector < end {
            let index = first_place.map_or_else(|| self.zone_of(passed.sector), |place| place.track.zone);
            let zone = &self.zones[index];
            let mut physical = zone.physical(passed.sector - zone.first);
            let end_here = zone.physical(end.min(zone.first + zone.count) - 1 - zone.first) + 1;
            while physical < end_here {
                let place = first_place.take().unwrap_or_else(|| self.place_in(index, physical));
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
                // Skipped sectors are passed if data sectors follow on the track, but not waited
                // for after its last one.
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
                // On a track whose last sectors are skipped, all data may have passed before the
                // time is up.
                if next < physical + take {
                    return passed;
                }
                physical = next;
                last_track = Some(place.track);
            }
        }
        passed
    }

    /// Returns the number of sectors that pass within a time from the start of a track, at most
    /// all.
    fn sectors_within(&self, zone: usize, ns: u64) -> u64 {
        let sectors = self.zones[zone].sectors;
        if ns >= self.turn_ns {
            return sectors;
        }
        // The largest k with floor(k * turn / n) <= ns.
        ((ns + 1) * sectors).div_ceil(self.turn_ns) - 1
    }
}

/// Returns the time to switch from a track to the next one in order.
fn if_next(from: Track, to: Track, (head_ns, cylinder_ns): (u64, u64)) -> u64 {
    if from.cylinder == to.cylinder { head_ns } else { cylinder_ns }
}

/// The extent of a pass along sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    /// The sector after the last complete one.
    pub(super) sector: u64,
    /// Time at which the last sector was complete.
    pub(super) at_ns: u64,
    /// Part of the time that was spent on switching heads and cylinders.
    pub(super) switch_ns: u64,
    /// Track where the head is.
    pub(super) track: Track,
    /// Time at which the first of these sectors on the last track began to pass, and its number.
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
        /// Passing in pieces takes exactly the time of a single pass. A pass with a time limit
        /// stops at the last sector that is complete by then.
        #[test]
        fn pieces_of_a_pass_make_the_whole(
            first in 0u64..20_000, counts in prop::collection::vec(1u64..400, 1..8), from_ns in 0u64..1 << 40,
            stop_ns in 0u64..200_000_000,
        ) {
            let geometry = geometry(vec![(50, 1), (51, 2), (280, 100), (700, 230)]);
            let switch_ns = (1_500_000, 2_500_000);
            let pass = |first: u64, end: u64, from_ns: u64, until_ns: u64| {
                geometry.pass(geometry.place(first), first, end, from_ns, until_ns, switch_ns)
            };
            let end = first + counts.iter().sum::<u64>();
            let from_ns = geometry.comes_by_ns(&geometry.place(first), from_ns);
            let whole = pass(first, end, from_ns, u64::MAX);
            prop_assert_eq!(whole.sector, end);
            let (mut sector, mut at_ns) = (first, from_ns);
            let mut track = geometry.place(first).track;
            for count in counts {
                // A new request finds the head on the track where the previous one left it.
                let place = geometry.place(sector);
                let switch_ns = if place.track == track { 0 } else { if_next(track, place.track, switch_ns) };
                let start_ns = geometry.comes_by_ns(&place, at_ns + switch_ns);
                let passed = pass(sector, sector + count, start_ns, u64::MAX);
                (sector, at_ns, track) = (passed.sector, passed.at_ns, passed.track);
            }
            prop_assert_eq!((sector, at_ns), (whole.sector, whole.at_ns));

            let stopped = pass(first, end, from_ns, from_ns + stop_ns);
            prop_assert!(stopped.at_ns <= from_ns + stop_ns || stopped.sector == first);
            if stopped.sector < end {
                let next = pass(first, stopped.sector + 1, from_ns, u64::MAX);
                prop_assert!(next.at_ns > from_ns + stop_ns);
            }
            if stopped.sector > first {
                let same = pass(first, stopped.sector, from_ns, u64::MAX);
                prop_assert_eq!(same.at_ns, stopped.at_ns);
            }
        }
    }
}
