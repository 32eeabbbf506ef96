//! The kind of layer: parameters, their checks, and how one is built.

use super::log::CacheLog;
use super::{Shingled, Words};
use crate::build::{Builder, parameters};
use crate::layer::{Below, Built, LayerKind};
use crate::schema::LONGEST_BYTES;
use crate::vocabulary::page;
use kurabe_core::{Result, text};
use std::collections::{BTreeMap, VecDeque};

/// The kind.
pub const SHINGLE: LayerKind = LayerKind::new(page!("shingle"), "shingle", Below::One, PARAMETERS, build);

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS from "shingle" {
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
            "cache and bands must fit on the disk: the bands hold {bytes} B",
            "キャッシュとバンドがディスクに収まりません。バンドの合計は {bytes} B です"
        );
        return Err(builder.error("capacity", &what));
    }
    let capacity_bytes = if values.capacity_bytes == 0 { bytes } else { values.capacity_bytes };
    let layer = Shingled {
        below: builder.only_below(),
        log: CacheLog::new(values.cache_bytes, values.map_entries as usize),
        written_bytes: BTreeMap::new(),
        waiting: VecDeque::new(),
        parts: BTreeMap::new(),
        cleaning: None,
        asked: 0,
        words: Words::new(builder),
        values,
    };
    Ok(Built::new(layer, capacity_bytes))
}
