//! The parameters of a disk image on FAT32, and how one is built.

use super::chain::{Chain, Window};
use super::tracks::Tracks;
use super::{Causes, Counters, FatImage, File, Restart, Search};
use crate::build::Builder;
use crate::layer::{Below, Layer, LayerKind};
use crate::ranges::Ranges;
use crate::schema::Parameter;
use crate::schema::ParameterType::{Bytes, Count, Flag, Word};
use kurabe_core::{Result, text};
use std::collections::VecDeque;

/// The bytes that a file on FAT32 stays below: its length is a number of 32 bits.
const FILE_LIMIT_BYTES: u64 = 1 << 32;
const SMALLEST_CLUSTER_BYTES: u64 = 512;
const LARGEST_CLUSTER_BYTES: u64 = 256 << 10;
const SMALLEST_TRACK_BYTES: u64 = 512;

/// The kind.
pub const FAT_IMAGE: LayerKind = LayerKind {
    word: "fat-image",
    title: ("a disk image in a file on FAT32", "FAT32 上のディスクイメージファイル"),
    of_host: false,
    below: Below::One,
    parameters: &[
        Parameter::needed("image", Bytes, ("bytes of the image", "イメージの容量")),
        Parameter::needed("cluster", Bytes, ("bytes of a cluster", "クラスターサイズ")),
        Parameter::usual(
            "restart",
            Word(&["first", "forward"]),
            "forward",
            "ChaN FatFs R0.16, source/ff.c, f_lseek: on from the current cluster if the place lies ahead, else from the first",
            (
                "from where the chain is followed: always from the first cluster, or on from the current one where possible",
                "クラスターチェーンをどこからたどるか。常に先頭からか、可能なら現在位置からか",
            ),
        ),
        Parameter::usual(
            "reopen",
            Bytes,
            "0 B",
            "assumed: opened once",
            (
                "the file is opened anew for every stretch of so many bytes; 0 for never",
                "この長さの区間ごとにファイルを開き直す(0 は開き直さない)",
            ),
        ),
        Parameter::usual(
            "directory",
            Count(0, 1024),
            "1",
            "assumed: the file stands in the first sector of the root directory",
            (
                "sectors of the directory read to open the file; 0 where the firmware only goes back to the first cluster",
                "ファイルを開くために読むディレクトリのセクター数。先頭クラスターに戻るだけなら 0",
            ),
        ),
        Parameter::usual(
            "fragments",
            Count(1, 1_000_000),
            "1",
            "assumed: copied to an empty card",
            ("pieces in which the image lies on the card", "カード上でイメージが分かれている断片の数"),
        ),
        Parameter::usual(
            "remedy",
            Word(&["none", "link-map", "contiguous"]),
            "none",
            "ChaN FatFs R0.16: FF_USE_FASTSEEK is 0 as delivered",
            (
                "against the walk: the clusters in a table in memory; or an image in one piece, addressed directly",
                "チェーンをたどらない工夫。クラスターの対応表をメモリーに持つか、連続したイメージを直接読み書きするか",
            ),
        ),
        Parameter::usual(
            "tracks",
            Count(0, 4096),
            "0",
            "assumed: no cache",
            ("tracks in the cache; 0 for no cache", "キャッシュするトラック数(0 はキャッシュなし)"),
        ),
        Parameter::usual(
            "track",
            Bytes,
            "128 KiB",
            "PiSCSI, src/raspberrypi/disk.cpp: 256 sectors of 512 B",
            ("bytes of a track, which is loaded whole", "1 トラックの長さ。読み込みはトラック単位です"),
        ),
        Parameter::usual(
            "drop_identical",
            Flag,
            "false",
            "assumed: every write is a write",
            (
                "whether a write of what the cached track holds already changes nothing",
                "キャッシュ中の内容と同じデータの書き込みを捨てるか",
            ),
        ),
    ],
    build,
};

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let image_bytes = builder.bytes("image");
    check(builder, image_bytes)?;
    let (card_bytes, cluster_bytes) = (builder.below_capacity_bytes(0), builder.bytes("cluster"));
    let Some(chain) = Chain::new(card_bytes, image_bytes, cluster_bytes, builder.count("fragments")) else {
        let what = text!(
            "an image of {image_bytes} bytes in so many pieces has no room on a card of {card_bytes} bytes",
            "{image_bytes} バイトのイメージは、この断片数では {card_bytes} バイトのカードに収まりません"
        );
        return Err(builder.error("image", &what));
    };
    let remedy = builder.word("remedy");
    // Firmware that finds the image in several pieces goes back to the file (ZuluSCSI, ImageBackingStore).
    let direct = remedy == "contiguous" && chain.is_contiguous();
    let tracks = builder.count("tracks") as usize;
    let below: Vec<_> = builder.below().collect();
    Ok(Box::new(FatImage {
        below: below[0],
        image_bytes,
        file: File {
            chain,
            restart: if builder.word("restart") == "first" { Restart::First } else { Restart::Forward },
            reopen_bytes: builder.bytes("reopen"),
            directory_sectors: builder.count("directory"),
            mapped: direct || remedy == "link-map",
            direct,
            window: Window::default(),
            cursor: None,
            restarts: 0,
        },
        tracks: (tracks > 0).then(|| Tracks::new(tracks, builder.bytes("track"), image_bytes)),
        drops_identical: builder.flag("drop_identical"),
        active: None,
        operations: VecDeque::new(),
        moving: Ranges::default(),
        search: (Search::default(), 0),
        queue: VecDeque::new(),
        causes: Causes::new(builder),
        counters: Counters::new(builder),
    }))
}

fn check(builder: &Builder<'_>, image_bytes: u64) -> Result<()> {
    if image_bytes == 0 || image_bytes >= FILE_LIMIT_BYTES {
        let what = text!(
            "a file on FAT32 has less than 4 GiB, and an image at least one byte",
            "FAT32 のファイルは 4 GiB 未満で、イメージは 1 バイト以上必要です"
        );
        let remedy =
            text!("write 4 GB, which is less than 4 GiB", "4 GiB より小さい 4 GB などを指定してください");
        return Err(builder.error("image", &what).remedy(remedy));
    }
    let cluster_bytes = builder.bytes("cluster");
    let sizes = SMALLEST_CLUSTER_BYTES..=LARGEST_CLUSTER_BYTES;
    if !cluster_bytes.is_power_of_two() || !sizes.contains(&cluster_bytes) {
        let what = text!(
            "a cluster has 512 B to 256 KiB, a power of two",
            "クラスターは 512 B から 256 KiB までの 2 のべき乗です"
        );
        return Err(builder.error("cluster", &what));
    }
    if builder.bytes("track") < SMALLEST_TRACK_BYTES {
        let what = text!("a track has at least 512 B", "トラックは 512 B 以上です");
        return Err(builder.error("track", &what));
    }
    if builder.flag("drop_identical") && builder.count("tracks") == 0 {
        let what = text!(
            "only what is in the cache can be compared; set tracks",
            "比べられるのはキャッシュ中のデータだけです。tracks を指定してください"
        );
        return Err(builder.error("drop_identical", &what));
    }
    Ok(())
}
