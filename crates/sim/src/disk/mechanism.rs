//! Seeks and rotation: the time of a media access, and reading ahead into a segmented buffer.
//!
//! The model: an access seeks, waits for its first sector, and passes along its sectors. After a
//! read the head reads on into the request's segment until that has reached its look-ahead limit,
//! or until another command needs the arm. The progress is computed on demand. A segment is a ring
//! that keeps the latest sectors.

use super::geometry::{DiskGeometry, SectorPlace, Track};
use super::seek::Seek;
use crate::build::words;
use crate::world::{JobId, World};

words! {
    /// Causes of a disk's time.
    pub(super) struct Causes from "disk" {
        memory: cause("memory");
        room: cause("room");
        back: cause("written-back");
        flush: cause("flush");
        waiting: line("waiting");
        command: cause("command");
        seek: cause("seek");
        rotation: cause("rotation");
        transfer: cause("transfer");
        switch: cause("switch");
    }
}

impl Causes {
    /// Charges the phases of an access.
    pub(super) fn charge(&self, world: &mut World, job: JobId, access: &Access) {
        world.charge(job, self.seek, access.sought_ns);
        world.charge(job, self.memory, access.data_ns);
        world.charge(job, self.rotation, access.turned_ns);
        world.charge(job, self.switch, access.turned_ns + access.switch_ns);
        world.charge(job, self.transfer, access.end_ns);
    }
}

/// The mechanism: geometry, seek curve and position.
#[derive(Clone, Debug)]
pub(super) struct Mechanism {
    pub(super) geometry: DiskGeometry,
    pub(super) seek: Seek,
    /// Times to switch to another head of the same cylinder, and to the next cylinder during a
    /// transfer.
    pub(super) switch_ns: (u64, u64),
    pub(super) settle: Settle,
    pub(super) track: Track,
}

/// Differences between seeks of writes and of reads; the seek times given are those of reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settle {
    /// Time that a write adds to every seek.
    pub(super) write_ns: u64,
    /// Part of every seek that only reads need.
    pub(super) read_ns: u64,
}

impl Settle {
    /// Returns the time of a seek that takes `move_ns` for a read.
    pub(super) fn of(self, move_ns: u64, write: bool) -> u64 {
        if write { move_ns.saturating_sub(self.read_ns) + self.write_ns } else { move_ns }
    }

    /// Returns the longer of the times for a read and a write.
    pub(super) fn longest(self, move_ns: u64) -> u64 {
        self.of(move_ns, true).max(move_ns)
    }
}

/// Ends of the phases of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    /// End of the seek.
    pub(super) sought_ns: u64,
    /// For a write: time at which the drive has enough data to begin. Never before the end of the
    /// seek.
    pub(super) data_ns: u64,
    /// Time at which the first sector passes.
    pub(super) turned_ns: u64,
    /// End of the access, and the time spent on switching heads and cylinders.
    pub(super) end_ns: u64,
    pub(super) switch_ns: u64,
    /// Time at which the first sector on the last track began to pass, and the number of sectors
    /// there.
    pub(super) on_track: (u64, u64),
}

impl Access {
    /// Returns the time at which the bus has transferred all sectors of a read. The bus starts once
    /// `begins_with` sectors are complete, and transfers no sector before it is complete.
    pub(super) fn taken_ns(&self, sectors: u64, begins_with: u64, late_ns: u64, bytes_ns: u64) -> u64 {
        let of =
            |ns: u64, share: u64, all: u64| (ns as f64 * share as f64 / all.max(1) as f64).round() as u64;
        let begins_ns = self.turned_ns + of(self.end_ns - self.turned_ns, begins_with, sectors);
        let (track_ns, on_track) = self.on_track;
        let on_track_ns =
            track_ns + of(self.end_ns - track_ns, 1, on_track) + of(bytes_ns, on_track, sectors);
        let last_ns = self.end_ns + of(bytes_ns, 1, sectors);
        (begins_ns + late_ns + bytes_ns).max(on_track_ns).max(last_ns)
    }
}

impl Mechanism {
    /// Returns the time of a seek to a track.
    #[inline]
    fn move_ns(&self, to: Track, write: bool) -> u64 {
        let from = self.track;
        if to.cylinder == from.cylinder && to.head == from.head {
            return 0;
        }
        if to.cylinder == from.cylinder + 1 && to.head == 0 && from.head + 1 == self.geometry.heads {
            return self.settle.of(self.switch_ns.1, write);
        }
        let same_head = self.geometry.head_of(to) == self.geometry.head_of(from);
        let head_ns = if same_head { 0 } else { self.switch_ns.0 };
        self.settle.of(self.seek.ns(to.cylinder.abs_diff(from.cylinder)).max(head_ns), write)
    }

    /// Returns the time at which a sector would pass if the seek started at `from_ns`.
    #[inline]
    pub(super) fn reach_ns(&self, place: &SectorPlace, from_ns: u64, write: bool) -> u64 {
        self.geometry.comes_by_ns(place, from_ns + self.move_ns(place.track, write))
    }

    /// Reads sectors; the arm is free at `from_ns`.
    fn read(&mut self, from_ns: u64, first: u64, end: u64) -> Access {
        let (access, track) = self.planned(from_ns, first, end, None);
        self.track = track;
        access
    }

    /// Returns the phases that an access would have, and the track where it would end.
    fn planned(&self, from_ns: u64, first: u64, end: u64, data_ns: Option<u64>) -> (Access, Track) {
        let (place, write) = (self.geometry.place(first), data_ns.is_some());
        let sought_ns = from_ns + self.move_ns(place.track, write);
        let data_ns = data_ns.map_or(sought_ns, |data_ns| data_ns.max(sought_ns));
        let turned_ns = self.geometry.comes_by_ns(&place, data_ns);
        let switches_ns = self.switches_ns(write);
        let passed = self.geometry.pass(place, first, end, turned_ns, u64::MAX, switches_ns);
        let on_track = (passed.on_track.0, end - passed.on_track.1);
        let (end_ns, switch_ns) = (passed.at_ns, passed.switch_ns);
        (Access { sought_ns, data_ns, turned_ns, end_ns, switch_ns, on_track }, passed.track)
    }

    /// Returns the number of sectors that passed between the end of the seek and the first sector
    /// of an access.
    fn passed_before(&self, access: &Access, first: u64) -> u64 {
        let (track, end) = self.geometry.track_of(first);
        let passed = (access.turned_ns - access.sought_ns) * (end - track) / self.geometry.turn_ns;
        passed.min(first - track)
    }

    fn switches_ns(&self, write: bool) -> (u64, u64) {
        (self.settle.of(self.switch_ns.0, write), self.settle.of(self.switch_ns.1, write))
    }
}

/// A part of the buffer that holds sectors as they were read.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    first: u64,
    end: u64,
    used: u64,
}

/// Read-ahead after a request.
#[derive(Clone, Copy, Debug)]
struct LookAhead {
    segment: usize,
    /// Next sector, and the time at which the previous one was complete.
    sector: u64,
    at_ns: u64,
    /// Sector at which it stops.
    limit: u64,
    /// Time to which it is up to date; 0 after a change.
    advanced_ns: u64,
}

/// Read-ahead policy of a disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    /// Maximum number of sectors read ahead.
    pub(super) ahead_sectors: u64,
    pub(super) until: Until,
    /// Whether only reads that continue the previous one trigger read-ahead.
    pub(super) of_runs_only: bool,
    /// Whether a buffer hit resumes a read-ahead that had stopped.
    pub(super) on_hits: bool,
    /// Whether sectors that pass before the first one of a read are kept.
    pub(super) passing: bool,
}

/// Latest end of the read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The maximum number of sectors after the request.
    Sectors,
    /// Also the end of the track.
    Track,
    /// The end of the track, or of the next one if the segment reaches back before that track.
    NextTrack,
}

/// Source of the data of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// All of them are in the buffer.
    Hit,
    /// The missing ones are already being read; the time at which the last sector is in the buffer.
    Follows(u64),
    /// All of them need a media access.
    Access(Access),
    /// The beginning is in the buffer, and the rest needs a media access.
    Rest(Access),
}

/// The mechanism with a read buffer.
#[derive(Clone, Debug)]
pub(super) struct BufferedMechanism {
    pub(super) mechanism: Mechanism,
    segments: Vec<Segment>,
    segment_sectors: u64,
    habits: Habits,
    /// The sector after the last read.
    read_until: u64,
    stream: Option<LookAhead>,
    stamp: u64,
}

impl BufferedMechanism {
    /// Creates a buffer with `segments` segments of `segment_sectors` sectors.
    pub(super) fn new(mechanism: Mechanism, segments: usize, segment_sectors: u64, habits: Habits) -> Self {
        let segments = if segment_sectors == 0 { 0 } else { segments };
        Self {
            mechanism,
            segments: vec![Segment::default(); segments],
            segment_sectors,
            habits: Habits { ahead_sectors: habits.ahead_sectors.min(segment_sectors), ..habits },
            read_until: u64::MAX,
            stream: None,
            stamp: 0,
        }
    }

    /// Lets the head read on until a time.
    fn advance(&mut self, until_ns: u64) {
        let Some(mut stream) = self.stream.filter(|stream| stream.advanced_ns < until_ns) else { return };
        stream.advanced_ns = until_ns;
        if stream.sector < stream.limit && stream.at_ns < until_ns {
            let place = self.mechanism.geometry.place(stream.sector);
            let start_ns = stream.at_ns + self.mechanism.move_ns(place.track, false);
            let start_ns = self.mechanism.geometry.comes_by_ns(&place, start_ns);
            if start_ns <= until_ns {
                let (geometry, switch_ns) = (&self.mechanism.geometry, self.mechanism.switch_ns);
                let passed = geometry.pass(place, stream.sector, stream.limit, start_ns, until_ns, switch_ns);
                if passed.sector > stream.sector {
                    (stream.sector, stream.at_ns) = (passed.sector, passed.at_ns);
                    self.mechanism.track = passed.track;
                    self.keep(stream.segment, stream.sector);
                }
            }
        }
        self.stream = Some(stream);
    }

    /// Returns the time at which the read-ahead reaches its limit.
    pub(super) fn reads_until_ns(&mut self, at_ns: u64) -> u64 {
        self.advance(at_ns);
        let Some(stream) = self.stream.filter(|stream| stream.sector < stream.limit) else { return 0 };
        self.mechanism.planned(stream.at_ns, stream.sector, stream.limit, None).0.end_ns
    }

    /// Extends a segment to `end` and discards what exceeds its size.
    fn keep(&mut self, segment: usize, end: u64) {
        let segment = &mut self.segments[segment];
        segment.end = segment.end.max(end);
        segment.first = segment.first.max(segment.end.saturating_sub(self.segment_sectors));
    }

    /// Returns whether a segment holds all these sectors at a time.
    pub(super) fn holds(&mut self, at_ns: u64, first: u64, end: u64) -> bool {
        self.advance(at_ns);
        self.segments.iter().any(|segment| segment.first <= first && end <= segment.end)
    }

    /// Returns whether a read that begins at `first` needs no seek: a segment has its first sector,
    /// or the head is about to read it.
    pub(super) fn joins(&mut self, at_ns: u64, first: u64) -> bool {
        self.advance(at_ns);
        let follows = |stream: LookAhead| {
            let segment = self.segments[stream.segment];
            segment.first <= first && first <= segment.end
        };
        self.stream.is_some_and(follows)
            || self.segments.iter().any(|segment| segment.first <= first && first < segment.end)
    }

    /// Stops the read-ahead because the arm is needed from `at_ns` on.
    fn stop(&mut self, at_ns: u64) {
        self.advance(at_ns);
        self.stream = None;
    }

    /// Starts a read. Determines whether it needs the arm, which is available at `arm_ns`, or only
    /// waits for the read-ahead.
    pub(super) fn read(&mut self, at_ns: u64, arm_ns: u64, first: u64, end: u64) -> Read {
        self.advance(at_ns);
        let goes_on = std::mem::replace(&mut self.read_until, end) == first;
        if self.segments.is_empty() {
            return Read::Access(self.mechanism.read(arm_ns, first, end));
        }
        self.stamp += 1;
        let hit = self.segments.iter().position(|segment| segment.first <= first && end <= segment.end);
        if let Some(index) = hit {
            self.segments[index].used = self.stamp;
            let due_ns =
                self.stream.filter(|stream| stream.segment == index).map_or(0, |stream| stream.at_ns);
            self.read_on(at_ns, index, end);
            // The sectors of a read in progress are available when it ends.
            return if due_ns > at_ns { Read::Follows(due_ns) } else { Read::Hit };
        }
        if let Some(stream) = self.stream {
            let segment = self.segments[stream.segment];
            if segment.first <= first && first <= segment.end {
                return Read::Follows(self.follow(arm_ns, stream, end).end_ns);
            }
        }
        let part = self.segments.iter().position(|segment| segment.first <= first && first < segment.end);
        if let Some(segment) = part {
            // The rest is read after the buffered part.
            self.stop(arm_ns);
            let stream = LookAhead {
                segment,
                sector: self.segments[segment].end,
                at_ns: arm_ns,
                limit: end,
                advanced_ns: 0,
            };
            return Read::Rest(self.follow(arm_ns, stream, end));
        }
        self.stop(arm_ns);
        let access = self.mechanism.read(arm_ns, first, end);
        let oldest = (0..self.segments.len()).min_by_key(|index| self.segments[*index].used).unwrap_or(0);
        let passed = if self.habits.passing { self.mechanism.passed_before(&access, first) } else { 0 };
        self.segments[oldest] = Segment { first: first - passed, end, used: self.stamp };
        self.keep(oldest, end);
        if goes_on || !self.habits.of_runs_only {
            self.begin(oldest, end, access.end_ns);
        }
        Read::Access(access)
    }

    /// Continues the read-ahead with a read.
    fn follow(&mut self, at_ns: u64, stream: LookAhead, end: u64) -> Access {
        self.segments[stream.segment].used = self.stamp;
        let stopped = stream.sector >= stream.limit && stream.at_ns < at_ns;
        let from_ns = if stopped { at_ns } else { stream.at_ns };
        let access = self.mechanism.read(from_ns, stream.sector, end);
        self.keep(stream.segment, end);
        self.begin(stream.segment, end, access.end_ns);
        access
    }

    /// Returns the sector at which a read-ahead after `end` stops.
    fn limit(&self, segment: usize, end: u64) -> u64 {
        let geometry = &self.mechanism.geometry;
        let ahead = end.saturating_add(self.habits.ahead_sectors).min(geometry.sectors);
        if self.habits.until == Until::Sectors || end >= geometry.sectors {
            return ahead;
        }
        if self.habits.until == Until::Track {
            return ahead.min(geometry.track_of(end - 1).1).max(end);
        }
        let (first, last) = geometry.track_of(end);
        let goes_back = self.segments[segment].first < first && last < geometry.sectors;
        let track_end = if goes_back { geometry.track_of(last).1 } else { last };
        ahead.min(track_end)
    }

    /// Starts a read-ahead after `end`.
    fn begin(&mut self, segment: usize, end: u64, at_ns: u64) {
        let limit = self.limit(segment, end);
        self.stream = Some(LookAhead { segment, sector: end, at_ns, limit, advanced_ns: 0 });
    }

    /// Makes room in a segment after a part of it was read, and extends its read-ahead.
    fn read_on(&mut self, now_ns: u64, segment: usize, taken: u64) {
        let limit = self.limit(segment, taken);
        let on_hits = self.habits.on_hits;
        let Some(stream) = self.stream.as_mut().filter(|stream| stream.segment == segment) else { return };
        if limit <= stream.limit {
            return;
        }
        if stream.sector >= stream.limit {
            if !on_hits {
                return;
            }
            // It had stopped for lack of room: the head continues from here when the sector passes.
            stream.at_ns = stream.at_ns.max(now_ns);
        }
        (stream.limit, stream.advanced_ns) = (limit, 0);
    }

    /// Writes sectors. Enough of the data are available at `data_ns`, and all at `all_ns`. If the
    /// last sector would pass before its data are available, the first one waits for a later
    /// revolution.
    pub(super) fn write(&mut self, at_ns: u64, data_ns: u64, all_ns: u64, first: u64, end: u64) -> Access {
        self.stop(at_ns);
        self.forget(first, end);
        let (mut access, mut track) = self.mechanism.planned(at_ns, first, end, Some(data_ns));
        let lacks_ns = all_ns.saturating_sub(access.end_ns);
        if lacks_ns > 0 {
            (access, track) = self.mechanism.planned(at_ns, first, end, Some(access.turned_ns + lacks_ns));
        }
        self.mechanism.track = track;
        access
    }

    /// Gives the read buffer's memory to a write.
    pub(super) fn empty(&mut self, at_ns: u64) {
        self.stop(at_ns);
        self.segments.fill(Segment::default());
    }

    /// Invalidates the buffered copies of these sectors. A segment is dropped as a whole, as in
    /// measured drives.
    pub(super) fn forget(&mut self, first: u64, end: u64) {
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if segment.first < end && first < segment.end {
                *segment = Segment::default();
                self.stream = self.stream.filter(|stream| stream.segment != index);
            }
        }
    }
}
