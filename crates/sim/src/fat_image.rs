//! A disk image in a file on FAT32, served by the firmware of a disk emulator.
//!
//! The model: one request at a time. To read or write at an offset, the firmware needs the cluster
//! there, and FAT32 only stores the successor of each cluster. So it follows the chain from the
//! image's first cluster, or from its current one, through a window of one FAT sector; each sector
//! is a read of the card (ChaN FatFs R0.16: f_lseek, get_fat, move_window). It then transfers at
//! most one cluster at a time (f_read). Some firmware reopens the file every so many bytes, and an
//! opened file is at its first cluster. The remedies: a map of the clusters in memory, or a
//! contiguous image that is addressed directly. A cache of whole tracks may precede all of that.
//!
//! Of the sectors that one walk reads, only the first is a request to the card; each of the others
//! is assumed to take the same time. The card has nothing else to do at that time, and the cost of
//! a sector does not depend on its position.
//!
//! Not modelled: the second copy of the FAT, which is only written when a file grows, and the
//! directory's time stamp, which some firmware writes on a flush.

mod chain;
#[cfg(test)]
mod tests;
mod tracks;

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::ranges::{AtRisk, Range, Ranges};
use crate::schema::{ParameterScale, Relation};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use chain::{Chain, SECTOR_BYTES, Window};
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;
use tracks::{ImageRange, Tracks};

/// Upper bound of the size of a file on FAT32, whose length is a 32-bit number.
const FILE_LIMIT_BYTES: u64 = 1 << 32;
/// Largest track: more memory than any such board has.
const MOST_TRACK_BYTES: u64 = 16 << 20;

/// Disk image on FAT32: `fat-image` in device files.
pub const FAT_IMAGE: LayerKind =
    LayerKind::new(page!("fat-image"), "fat-image", Below::One, PARAMETERS, build)
        .related(&[Relation::Needs("drop_identical", "tracks")]);

parameters! {
    struct Values, PARAMETERS from "fat-image" {
        "image" image_bytes: Bytes(1, FILE_LIMIT_BYTES - 1), needed;
        "cluster" cluster_bytes: Bytes(512, 256 << 10), needed.scaled(ParameterScale::PowersOfTwo);
        "restart" restart: Word(&["first", "forward"]),
            usual("forward", "ChaN FatFs R0.16, source/ff.c, f_lseek: on from the current cluster if the \
                place lies ahead, else from the first");
        "reopen" reopen_bytes: SIZE, usual("0 B", "assumed: opened once");
        "directory" directory: Count(0, 1024),
            usual("1", "assumed: the file stands in the first sector of the root directory");
        "fragments" fragments: Count(1, 1_000_000), usual("1", "assumed: copied to an empty card");
        "remedy" remedy: Word(&["none", "link-map", "contiguous"]),
            usual("none", "ChaN FatFs R0.16: FF_USE_FASTSEEK is 0 as delivered");
        "tracks" tracks: Count(0, 4096), usual("0", "assumed: no cache");
        "track" track_bytes: Bytes(SECTOR_BYTES, MOST_TRACK_BYTES),
            usual("128 KiB", "PiSCSI, src/raspberrypi/disk.cpp: 256 sectors of 512 B");
        "drop_identical" drop_identical: Flag, usual("false", "assumed: every write is a write");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let image_bytes = values.image_bytes;
    let (card_bytes, cluster_bytes) = (builder.below_bytes(), values.cluster_bytes);
    let Some(chain) = Chain::new(card_bytes, image_bytes, cluster_bytes, values.fragments) else {
        let what = text!(
            "an image of {image_bytes} bytes with this fragmentation does not fit on a card of {card_bytes} bytes",
            "{image_bytes} バイトのイメージは、この断片数では {card_bytes} バイトのカードに収まりません"
        );
        return Err(builder.error("image", &what));
    };
    let reopen_bytes = values.reopen_bytes;
    if (1..SECTOR_BYTES).contains(&reopen_bytes) {
        let what = text!(
            "a file is not reopened for less than a sector of {SECTOR_BYTES} bytes; 0 means never",
            "{SECTOR_BYTES} バイトのセクターより短い区間でファイルを開き直すことはありません(0 は開き直さない)"
        );
        return Err(builder.error("reopen", &what));
    }
    let remedy = values.remedy;
    // Firmware falls back to the file if the image is fragmented (ZuluSCSI, ImageBackingStore).
    let direct = remedy == "contiguous" && chain.is_contiguous();
    let tracks = values.tracks as usize;
    let image = FatImage {
        below: builder.only_below(),
        image_bytes,
        file: File {
            chain,
            forward: values.restart == "forward",
            reopen_bytes,
            directory_sectors: values.directory,
            mapped: direct || remedy == "link-map",
            direct,
            ..File::default()
        },
        tracks: (tracks > 0).then(|| Tracks::new(tracks, values.track_bytes, image_bytes)),
        drops_identical: values.drop_identical,
        words: Words::new(builder),
        ..FatImage::default()
    };
    Ok(Built::new(image, image_bytes).in_turn_if(true))
}

/// Tags of requests to the card.
const FAT_READ: u64 = 0;
const DATA: u64 = 1;

/// Position of the opened file.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    offset_bytes: u64,
    cluster: u64,
    granule: u64,
}

/// Sectors to read from the card before data can be transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Search {
    directory_sectors: u64,
    fat_sectors: u64,
}

/// The file as the firmware sees it.
#[derive(Clone, Debug, Default)]
struct File {
    chain: Chain,
    /// Whether it follows the chain from the current cluster for positions ahead, instead of from
    /// the first.
    forward: bool,
    /// Size of the sections of the file on whose entry it is reopened; 0 for never.
    reopen_bytes: u64,
    /// Sectors read to open it.
    directory_sectors: u64,
    /// Whether the clusters are known without the FAT.
    mapped: bool,
    /// Whether a transfer may cross cluster boundaries.
    direct: bool,
    window: Window,
    cursor: Option<Cursor>,
    restarts: u64,
}

impl File {
    /// Seeks to an offset from which data are transferred next, up to `end_bytes`. Returns the
    /// sectors to read, and the end of the first transfer.
    fn go_to(&mut self, from_bytes: u64, end_bytes: u64) -> (Search, u64) {
        let mut search = Search::default();
        let cluster_bytes = self.chain.cluster_bytes;
        let cluster = from_bytes / cluster_bytes;
        let granule = from_bytes.checked_div(self.reopen_bytes).unwrap_or(0);
        let (cluster_end, mut end_bytes) = ((cluster + 1).saturating_mul(cluster_bytes), end_bytes);
        if !self.direct {
            end_bytes = end_bytes.min(cluster_end);
        }
        if !self.mapped {
            if self.reopen_bytes > 0 {
                end_bytes = end_bytes.min((granule + 1).saturating_mul(self.reopen_bytes));
            }
            let open = self.cursor.filter(|cursor| cursor.granule == granule);
            if open.is_none() && self.directory_sectors > 0 {
                // The directory is read through the same window.
                (search.directory_sectors, self.window) = (self.directory_sectors, Window::default());
            }
            let goes_on = |cursor: &Cursor| cursor.offset_bytes == from_bytes;
            let ahead = |cursor: &Cursor| self.forward && cursor.cluster <= cluster;
            let start = open.filter(|cursor| goes_on(cursor) || ahead(cursor)).map(|cursor| cursor.cluster);
            self.restarts += u64::from(start.is_none());
            search.fat_sectors = self.chain.walk(start.unwrap_or(0), cluster, &mut self.window);
        }
        let last = if end_bytes <= cluster_end { cluster } else { (end_bytes - 1) / cluster_bytes };
        self.cursor = Some(Cursor { offset_bytes: end_bytes, cluster: last, granule });
        (search, end_bytes)
    }
}

/// A range of the image that the firmware reads or writes.
#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: RequestKind,
    next_bytes: u64,
    end_bytes: u64,
    /// For cached bytes: the oldest write that changed them.
    number: Option<u64>,
}

/// The request being served.
#[derive(Clone, Copy, Debug)]
struct Active {
    job: JobId,
    flush: bool,
}

#[derive(Clone, Default)]
struct FatImage {
    below: LayerId,
    image_bytes: u64,
    file: File,
    tracks: Option<Tracks>,
    drops_identical: bool,
    active: Option<Active>,
    /// Remaining operations of the request.
    operations: VecDeque<Operation>,
    /// Ranges of a write of cached bytes to the card that is in progress.
    moving: Ranges,
    /// The search in progress: its sectors, its start, and the end of the chunk that is transferred
    /// after it.
    search: (Search, u64, u64),
    queue: VecDeque<JobId>,
    words: Words,
}

words! {
    struct Words from "fat-image" {
        waiting: line("waiting");
        opening: cause("opening");
        walking: cause("walking");
        fat_sectors: counter("fat-sectors");
        restarts: counter("restarts");
        directory: counter("directory-sectors");
        loaded: counter("loaded");
        saved: counter("saved");
        dropped: counter("dropped");
    }
}

impl FatImage {
    /// Starts the next request if none is in progress.
    fn pump(&mut self, world: &mut World) {
        while self.active.is_none() {
            let Some(job) = self.queue.pop_front() else { return };
            world.charge(job, self.words.waiting, world.now_ns());
            let request = world.request(job);
            self.active = Some(Active { job, flush: request.kind == RequestKind::Flush });
            self.plan(request, world);
            self.go_on(world);
        }
    }

    /// Plans the operations that the firmware performs for a request.
    fn plan(&mut self, request: Request, world: &mut World) {
        let Some(tracks) = &mut self.tracks else {
            if request.length_bytes > 0 {
                self.push(request.kind, (request.offset_bytes, request.end_bytes()), None);
            }
            return;
        };
        if request.kind == RequestKind::Flush {
            for (stretch, number) in tracks.take_changed() {
                world.count(self.words.saved, 1);
                self.push(RequestKind::Write, stretch, Some(number));
            }
            return;
        }
        let track_bytes = tracks.track_bytes;
        let dropped = self.drops_identical && request.identical;
        let changes = request.kind == RequestKind::Write && !dropped;
        let mut from = request.offset_bytes;
        while from < request.end_bytes() {
            let number = from / track_bytes;
            let end = (number + 1).saturating_mul(track_bytes).min(request.end_bytes());
            let Some(tracks) = &mut self.tracks else { return };
            let admission = tracks.use_track(number, changes.then_some((from, end, request.number)));
            if let Some((stretch, number)) = admission.save {
                world.count(self.words.saved, 1);
                self.push(RequestKind::Write, stretch, Some(number));
            }
            if let Some(stretch) = admission.load {
                world.count(self.words.loaded, 1);
                self.push(RequestKind::Read, stretch, None);
            }
            if request.fua && changes {
                let Some((stretch, changed)) = self.tracks.as_mut().and_then(|tracks| tracks.save(number))
                else {
                    return;
                };
                world.count(self.words.saved, 1);
                self.push(RequestKind::Write, stretch, Some(changed));
            }
            from = end;
        }
        if dropped && request.kind == RequestKind::Write {
            world.count(self.words.dropped, 1);
        }
    }

    fn push(&mut self, kind: RequestKind, (next_bytes, end_bytes): ImageRange, number: Option<u64>) {
        self.operations.push_back(Operation { kind, next_bytes, end_bytes, number });
    }

    /// Starts the next chunk, or ends the request.
    fn go_on(&mut self, world: &mut World) {
        let Some(Active { job, flush }) = self.active else { return };
        let Some(operation) = self.operations.front().copied() else {
            if flush {
                self.active = Some(Active { job, flush: false });
                let request = world.request(job);
                return world.send(job, self.below, request, DATA);
            }
            world.finish(job);
            self.active = None;
            return;
        };
        let (search, end) = self.file.go_to(operation.next_bytes, operation.end_bytes);
        world.count(self.words.restarts, std::mem::take(&mut self.file.restarts));
        if search == Search::default() {
            return self.move_data(world.now_ns(), end, world);
        }
        self.search = (search, world.now_ns(), end);
        world.count(self.words.fat_sectors, search.fat_sectors);
        world.count(self.words.directory, search.directory_sectors);
        let at = self.file.chain.fat_offset_bytes(self.file.window);
        let read = Request { kind: RequestKind::Read, identical: false, ..world.request(job) };
        world.send_in_background(self.below, read.at(at, SECTOR_BYTES as u32), FAT_READ);
    }

    /// Handles the first sector of a search: the others take the same time.
    fn found(&mut self, world: &mut World) {
        let Some(Active { job, .. }) = self.active else { return };
        let (search, began_ns, end) = self.search;
        let sector_ns = world.now_ns() - began_ns;
        let opened_ns = began_ns.saturating_add(search.directory_sectors.saturating_mul(sector_ns));
        let found_ns = opened_ns.saturating_add(search.fat_sectors.saturating_mul(sector_ns));
        world.charge(job, self.words.opening, opened_ns);
        world.charge(job, self.words.walking, found_ns);
        self.move_data(found_ns, end, world);
    }

    fn move_data(&mut self, at_ns: u64, end: u64, world: &mut World) {
        let (Some(active), Some(operation)) = (self.active, self.operations.front_mut()) else { return };
        let length_bytes = (end - operation.next_bytes) as u32;
        let at = self.file.chain.card_offset_bytes(operation.next_bytes);
        let data = Request { kind: operation.kind, ..world.request(active.job) }.at(at, length_bytes);
        self.moving.extend(operation.number.map(|number| (operation.next_bytes, end, number)));
        operation.next_bytes = end;
        if operation.next_bytes >= operation.end_bytes {
            self.operations.pop_front();
        }
        world.send_at(at_ns, Some(active.job), self.below, data, DATA);
    }
}

impl Layer for FatImage {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        // A trim of the image is not passed on to the card.
        if world.request(job).kind == RequestKind::Trim {
            return world.finish(job);
        }
        world.write_as_data(job);
        self.queue.push_back(job);
        self.pump(world);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        if child.tag == FAT_READ {
            self.found(world);
        } else {
            if !self.moving.is_empty() {
                self.moving.clear();
            }
            self.go_on(world);
        }
        if self.active.is_none() {
            self.pump(world);
        }
    }

    fn waits_for(&self) -> Option<Text> {
        self.active.is_some().then(|| text!("the card", "カード"))
    }

    /// Without a track cache, data on the way to the card are not acknowledged yet.
    fn at_risk(&self, _now_ns: u64) -> AtRisk {
        let Some(tracks) = &self.tracks else { return AtRisk::default() };
        let mut lost = self.moving.clone();
        lost.extend(tracks.changed());
        for operation in &self.operations {
            lost.extend(operation.number.map(|number| (operation.next_bytes, operation.end_bytes, number)));
        }
        AtRisk::all(lost, false)
    }

    fn lift(&self, below: Vec<AtRisk>) -> Vec<AtRisk> {
        let of_image = |(from, to, number): Range, image: &mut Ranges| {
            let stretches = self.file.chain.image_stretches(from, to);
            image.extend(stretches.map(|(from, to)| (from, to.min(self.image_bytes), number)));
        };
        below.iter().map(|risk| risk.moved(of_image)).collect()
    }
}
