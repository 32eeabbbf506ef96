//! The parameters of a disk image on FAT32, and how one is built.

use super::chain::{Chain, SECTOR_BYTES, Window};
use super::tracks::Tracks;
use super::{Causes, Counters, FatImage, File, Restart, Search};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Built, LayerKind};
use crate::ranges::Ranges;
use crate::schema::{ParameterScale, Relation};
use crate::vocabulary::page;
use kurabe_core::{Result, text};
use std::collections::VecDeque;

/// The bytes that a file on FAT32 stays below: its length is a number of 32 bits.
const FILE_LIMIT_BYTES: u64 = 1 << 32;
/// What a track has at most: more than any such board has memory for.
const MOST_TRACK_BYTES: u64 = 16 << 20;

/// The kind.
pub const FAT_IMAGE: LayerKind =
    LayerKind::new(page!("fat-image"), "fat-image", Below::One, PARAMETERS, build)
        .related(&[Relation::Needs("drop_identical", "tracks")]);

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS from "fat-image" {
        "image" image_bytes: Bytes(1, FILE_LIMIT_BYTES - 1), needed;
        "cluster" cluster_bytes: Bytes(512, 256 << 10), needed.scaled(ParameterScale::PowersOfTwo);
        "restart" restart: Word(&["first", "forward"]),
            usual("forward", "ChaN FatFs R0.16, source/ff.c, f_lseek: on from the current cluster if the place lies ahead, else from the first");
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
            "an image of {image_bytes} bytes in so many pieces has no room on a card of {card_bytes} bytes",
            "{image_bytes} バイトのイメージは、この断片数では {card_bytes} バイトのカードに収まりません"
        );
        return Err(builder.error("image", &what));
    };
    let reopen_bytes = values.reopen_bytes;
    if (1..SECTOR_BYTES).contains(&reopen_bytes) {
        let what = text!(
            "a file is not opened anew for less than a sector of {SECTOR_BYTES} bytes; 0 is never",
            "{SECTOR_BYTES} バイトのセクターより短い区間でファイルを開き直すことはありません(0 は開き直さない)"
        );
        return Err(builder.error("reopen", &what));
    }
    let remedy = values.remedy;
    // Firmware that finds the image in several pieces goes back to the file (ZuluSCSI, ImageBackingStore).
    let direct = remedy == "contiguous" && chain.is_contiguous();
    let tracks = values.tracks as usize;
    let image = FatImage {
        below: builder.only_below(),
        image_bytes,
        file: File {
            chain,
            restart: if values.restart == "first" { Restart::First } else { Restart::Forward },
            reopen_bytes,
            directory_sectors: values.directory,
            mapped: direct || remedy == "link-map",
            direct,
            window: Window::default(),
            cursor: None,
            restarts: 0,
        },
        tracks: (tracks > 0).then(|| Tracks::new(tracks, values.track_bytes, image_bytes)),
        drops_identical: values.drop_identical,
        active: None,
        operations: VecDeque::new(),
        moving: Ranges::default(),
        search: (Search::default(), 0, 0),
        queue: VecDeque::new(),
        causes: Causes::new(builder),
        counters: Counters::new(builder),
    };
    Ok(Built::new(image, image_bytes).in_turn_if(true))
}
