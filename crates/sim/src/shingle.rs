//! Shingled tracks behind a media cache (drive-managed SMR).
//!
//! The model: tracks overlap, so that a band of them can only be appended to. Sequential writes at
//! the end of a band go directly there. All others are appended to a log at the start of the disk,
//! and a map records what is in it. When the drive has been idle for a while, or when log or map
//! are full, bands are cleaned, first the one whose data have been in the log longest: its data in
//! the log and in the band are read, and the band is rewritten.
//!
//! Not modelled: bands that move, the journal of the map, tracks between bands, flash caches, and
//! the information of a trim.

mod log;

#[cfg(test)]
mod tests;

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::ranges::AtRisk;
use crate::schema::LONGEST_BYTES;
use crate::settings::{Live, Setting};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, OpenParts, Request, RequestKind, World, is_last_part};
use kurabe_core::{Result, Text, text};
use log::CacheLog;
use std::collections::{BTreeMap, VecDeque};

/// Drive-managed SMR: `shingle` in device files.
pub const SHINGLE: LayerKind = LayerKind::new(page!("shingle"), "shingle", Below::One, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "shingle" {
        "capacity" capacity_bytes: SIZE, usual("0 B", "derived: what the bands hold");
        "cache" cache_bytes: SOME_SIZE, needed;
        "map" map_entries: Count(1, 1 << 24), needed;
        "band" band_bytes: SOME_SIZE, needed;
        "cleaning" cleaning: Word(&["idle", "full"]), usual("idle", "assumed: while nothing is asked");
        "idle_after" idle_after_ns: Time, usual("1 s", "assumed").live();
        "piece" piece_bytes: Bytes(512, LONGEST_BYTES), usual("1 MiB", "assumed").live();
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let bands = builder.below_bytes().saturating_sub(values.cache_bytes) / values.band_bytes;
    let bytes = bands * values.band_bytes;
    if bytes == 0 || values.capacity_bytes > bytes {
        let what = text!(
            "cache and bands must fit on the disk: the bands have {bytes} B",
            "キャッシュとバンドがディスクに収まりません。バンドの合計は {bytes} B です"
        );
        return Err(builder.error("capacity", &what));
    }
    let capacity_bytes = if values.capacity_bytes == 0 { bytes } else { values.capacity_bytes };
    let layer = Shingled {
        below: builder.only_below(),
        log: CacheLog::new(values.cache_bytes, values.map_entries as usize),
        words: Words::new(builder),
        values,
        ..Shingled::default()
    };
    Ok(Built::new(layer, capacity_bytes))
}

words! {
    struct Words from "shingle" {
        room: cause("room");
        logged: counter("logged");
        cleaned: counter("cleaned");
    }
}

/// Pieces of a band in flight: the next one waits at the disk, so that no revolution is lost.
const PIECES_AT_ONCE: usize = 2;

/// A band that is being cleaned.
#[derive(Clone, Debug)]
struct Cleaning {
    band: u64,
    /// Position in the log; later data stay there.
    until: u64,
    /// Bytes of the band that are rewritten.
    length_bytes: u64,
    todo: VecDeque<Request>,
    under_way: usize,
    writes: bool,
}

#[derive(Clone, Default)]
struct Shingled {
    below: LayerId,
    log: CacheLog,
    /// Written bytes of each band; 0 if it has no entry.
    written_bytes: BTreeMap<u64, u64>,
    /// Writes that wait for room.
    waiting: VecDeque<JobId>,
    /// Requests that are below, with the number of their parts.
    parts: OpenParts,
    cleaning: Option<Cleaning>,
    /// Number of requests so far, so that a wake-up can detect a later one.
    asked: u64,
    words: Words,
    values: Values,
}

impl Shingled {
    /// Divides a range of addresses at band boundaries.
    fn in_bands(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let band_bytes = self.values.band_bytes;
        (from / band_bytes..to.div_ceil(band_bytes))
            .map(move |band| (band, from.max(band * band_bytes), to.min((band + 1) * band_bytes)))
    }

    /// Returns whether a write at `first` continues the data of a band.
    fn goes_on(&self, band: u64, first: u64) -> bool {
        let is_cleaned = self.cleaning.as_ref().is_some_and(|cleaning| cleaning.band == band);
        !is_cleaned && first == band * self.values.band_bytes + self.written_in(band)
    }

    fn written_in(&self, band: u64) -> u64 {
        self.written_bytes.get(&band).copied().unwrap_or(0)
    }

    /// Starts writes for which there is room.
    fn admit(&mut self, world: &mut World) {
        while let Some(job) = self.waiting.front().copied() {
            let request = world.request(job);
            let to_log = (self.in_bands(request.offset_bytes, request.end_bytes()))
                .filter(|(band, first, _)| !self.goes_on(*band, *first));
            let bytes: u64 = to_log.map(|(_, first, end)| end - first).sum();
            if bytes > 0 && !self.log.is_empty() && !self.log.has_room(bytes) {
                return self.clean(world);
            }
            self.waiting.pop_front();
            world.charge(job, self.words.room, world.now_ns());
            let mut places = Vec::new();
            for (band, first, end) in self.in_bands(request.offset_bytes, request.end_bytes()) {
                if self.goes_on(band, first) {
                    self.log.cut(first, end, u64::MAX);
                    *self.written_bytes.entry(band).or_default() += end - first;
                    places.push((self.values.cache_bytes + first, end - first));
                } else {
                    let at = self.log.append(first, end);
                    places.push((self.log.place(at), end - first));
                    world.count(self.words.logged, 1);
                }
            }
            self.send(job, places, world);
        }
    }

    /// Returns the positions of the bytes of a read.
    fn places_of(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let (mut at, mut places) = (from, Vec::new());
        for (first, end, place) in self.log.within(from, to) {
            places.extend((at < first).then_some((self.values.cache_bytes + at, first - at)));
            places.push((self.log.place(place), end - first));
            at = end;
        }
        places.extend((at < to).then_some((self.values.cache_bytes + at, to - at)));
        places
    }

    /// Sends a request to several positions, each with its length; touching ones are merged.
    fn send(&mut self, job: JobId, places: Vec<(u64, u64)>, world: &mut World) {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (place, length) in places {
            match joined.last_mut() {
                Some((first, before)) if *first + *before == place => *before += length,
                _ => joined.push((place, length)),
            }
        }
        self.parts.insert(job, joined.len() as u64);
        let request = world.request(job);
        for (place, length) in joined {
            world.send(job, self.below, request.at(place, length as u32), 0);
        }
    }

    /// Cleans the band whose data have been in the log longest, or continues with the current one.
    fn clean(&mut self, world: &mut World) {
        if self.cleaning.is_none() {
            let Some((oldest, _)) = self.log.oldest() else { return };
            self.cleaning = Some(self.begun(oldest / self.values.band_bytes));
        }
        let must = !self.waiting.is_empty();
        let Some(cleaning) = self.cleaning.as_mut().filter(|_| must || self.parts.is_empty()) else { return };
        while cleaning.under_way < PIECES_AT_ONCE {
            let Some(request) = cleaning.todo.pop_front() else { return };
            cleaning.under_way += 1;
            world.send_in_background(self.below, request, 0);
        }
    }

    /// Plans the reads of a band: first its data in the log, in order of position, then the data
    /// that only the band has.
    fn begun(&self, band: u64) -> Cleaning {
        let start = band * self.values.band_bytes;
        let logged = self.log.within(start, start + self.values.band_bytes);
        let written_bytes = self.written_in(band);
        let length_bytes = logged.last().map_or(0, |(_, end, _)| end - start).max(written_bytes);
        let mut places: Vec<(u64, u64)> =
            logged.iter().map(|(first, end, at)| (self.log.place(*at), end - first)).collect();
        places.sort_unstable();
        let in_band = self.places_of(start, start + written_bytes).into_iter();
        places.extend(in_band.filter(|(place, _)| *place >= self.values.cache_bytes));
        let todo = self.pieces(RequestKind::Read, places);
        Cleaning { band, until: self.log.head_bytes, length_bytes, todo, under_way: 0, writes: false }
    }

    fn pieces(&self, kind: RequestKind, places: Vec<(u64, u64)>) -> VecDeque<Request> {
        let piece_bytes = self.values.piece_bytes;
        let piece = |place: u64, end: u64| Request {
            fua: kind == RequestKind::Write,
            ..Request::new(kind, place, (end - place).min(piece_bytes) as u32)
        };
        let in_pieces = |(place, length): (u64, u64)| {
            (place..place + length).step_by(piece_bytes as usize).map(move |from| piece(from, place + length))
        };
        places.into_iter().flat_map(in_pieces).collect()
    }

    /// Handles the end of a piece of a band.
    fn cleaned(&mut self, world: &mut World) {
        let Some(mut cleaning) = self.cleaning.take() else { return };
        cleaning.under_way -= 1;
        let start = cleaning.band * self.values.band_bytes;
        if cleaning.under_way == 0 && cleaning.todo.is_empty() {
            if cleaning.writes {
                self.log.cut(start, start + self.values.band_bytes, cleaning.until);
                self.written_bytes.insert(cleaning.band, cleaning.length_bytes);
                world.count(self.words.cleaned, 1);
                self.admit(world);
                if self.is_idle() {
                    self.clean(world);
                }
                return;
            }
            cleaning.writes = true;
            let band = vec![(self.values.cache_bytes + start, cleaning.length_bytes)];
            cleaning.todo = self.pieces(RequestKind::Write, band);
        }
        self.cleaning = Some(cleaning);
        self.clean(world);
    }

    /// Returns whether the drive is idle and has something to clean.
    fn is_idle(&self) -> bool {
        self.values.cleaning == "idle" && self.parts.is_empty() && !self.log.is_empty()
    }
}

impl Layer for Shingled {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        self.asked += 1;
        let request = world.request(job);
        if request.length_bytes > 0 && request.kind.writes() {
            self.waiting.push_back(job);
            self.admit(world);
        } else if request.length_bytes > 0 && request.kind == RequestKind::Read {
            let places = self.places_of(request.offset_bytes, request.end_bytes());
            self.send(job, places, world);
        } else {
            self.send(job, vec![(request.offset_bytes, u64::from(request.length_bytes))], world);
        }
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(job) = child.parent else { return self.cleaned(world) };
        if is_last_part(&mut self.parts, job) {
            world.finish(job);
            if self.is_idle() {
                world.wake_at(world.now_ns() + self.values.idle_after_ns, self.asked);
            }
        }
    }

    fn wake(&mut self, token: u64, world: &mut World) {
        if token == self.asked && self.is_idle() {
            self.clean(world);
        }
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.waiting.is_empty()).then(|| text!("a band to be cleaned", "バンドの整理"))
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn lift(&self, mut below: Vec<AtRisk>) -> Vec<AtRisk> {
        let cache_bytes = self.values.cache_bytes;
        for risk in &mut below {
            *risk = risk.moved(|(from, to, number), all| {
                for (first, end) in self.log.addresses(from, to.min(cache_bytes)) {
                    all.add(first, end, number);
                }
                if to > cache_bytes {
                    all.add(from.max(cache_bytes) - cache_bytes, to - cache_bytes, number);
                }
            });
        }
        below
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
