//! A cache of whole tracks of the image, as in RaSCSI.
//!
//! The model: a fixed number of tracks. A track is loaded whole on the first access and replaces
//! the least recently used one. A write changes the cached track. Changed data go to the image when
//! the track is evicted, or on a flush (PiSCSI, src/raspberrypi/disk.cpp: DiskCache::Assign,
//! DiskTrack::Load, DiskTrack::Save). The changed part of a track is written as one range.

use crate::ranges::{Range, Ranges};

/// A range of the image: first byte, and the byte after the last one.
pub(super) type ImageRange = (u64, u64);

#[derive(Clone, Debug)]
struct CachedTrack {
    number: u64,
    used: u64,
    changed: Ranges,
}

impl CachedTrack {
    /// Returns the range to write to save the track, with the oldest write in it, and marks the
    /// track as unchanged.
    fn save(&mut self) -> Option<(ImageRange, u64)> {
        let changed = std::mem::take(&mut self.changed);
        let (first, last) = (changed.iter().next()?, changed.iter().last()?);
        let oldest = changed.iter().map(|(.., number)| number).min()?;
        Some(((first.0, last.1), oldest))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tracks {
    pub(super) track_bytes: u64,
    most: usize,
    image_bytes: u64,
    list: Vec<CachedTrack>,
    uses: u64,
}

/// Transfers needed to bring a track into the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    /// Range to write first, to make room.
    pub(super) save: Option<(ImageRange, u64)>,
    /// Range to read.
    pub(super) load: Option<ImageRange>,
}

impl Tracks {
    pub(super) fn new(most: usize, track_bytes: u64, image_bytes: u64) -> Self {
        Self { track_bytes, most, image_bytes, list: Vec::with_capacity(most), uses: 0 }
    }

    /// Brings a track into the cache and, for a write, records the changed range.
    pub(super) fn use_track(&mut self, number: u64, changed: Option<Range>) -> Admission {
        self.uses += 1;
        let mut admission = Admission { save: None, load: None };
        let cached = self.list.iter().position(|track| track.number == number);
        let place = cached.unwrap_or_else(|| {
            let start = number * self.track_bytes;
            admission.load = Some((start, (start + self.track_bytes).min(self.image_bytes)));
            let fresh = CachedTrack { number, used: 0, changed: Ranges::default() };
            if self.list.len() < self.most {
                self.list.push(fresh);
                return self.list.len() - 1;
            }
            let oldest = (0..self.list.len()).min_by_key(|place| self.list[*place].used).unwrap_or(0);
            admission.save = self.list[oldest].save();
            self.list[oldest] = fresh;
            oldest
        });
        let track = &mut self.list[place];
        track.used = self.uses;
        track.changed.extend(changed);
        admission
    }

    /// Returns the range to write to save a track.
    pub(super) fn save(&mut self, number: u64) -> Option<(ImageRange, u64)> {
        self.list.iter_mut().find(|track| track.number == number)?.save()
    }

    /// Returns all changed ranges in order of offset, and marks all tracks as unchanged.
    pub(super) fn take_changed(&mut self) -> Vec<(ImageRange, u64)> {
        let mut changed: Vec<_> = self.list.iter_mut().filter_map(CachedTrack::save).collect();
        changed.sort_unstable();
        changed
    }

    /// Returns the changed ranges that are not written yet.
    pub(super) fn changed(&self) -> impl Iterator<Item = Range> {
        self.list.iter().flat_map(|track| track.changed.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_track_used_longest_ago_makes_room_and_is_saved_if_changed() {
        let mut tracks = Tracks::new(2, 100, 250);
        let loaded = |from, to| Admission { save: None, load: Some((from, to)) };
        assert_eq!(tracks.use_track(0, Some((10, 20, 7))), loaded(0, 100));
        assert_eq!(tracks.use_track(0, Some((40, 50, 8))), Admission { save: None, load: None });
        assert_eq!(tracks.use_track(2, None), loaded(200, 250));
        assert_eq!(tracks.changed().collect::<Vec<_>>(), [(10, 20, 7), (40, 50, 8)]);
        assert_eq!(
            tracks.use_track(1, None),
            Admission { save: Some(((10, 50), 7)), load: Some((100, 200)) }
        );
        assert_eq!(tracks.take_changed(), []);
    }

    #[test]
    fn a_flush_takes_what_was_changed_once() {
        let mut tracks = Tracks::new(4, 100, 400);
        tracks.use_track(3, Some((300, 310, 1)));
        tracks.use_track(1, Some((100, 200, 2)));
        assert_eq!(tracks.take_changed(), [((100, 200), 2), ((300, 310), 1)]);
        assert_eq!(tracks.changed().count(), 0);
    }
}
