//! Capacity of a drive's write caches, and how much of it a run filled.
//!
//! For a model, its layers specify the sizes of the caches. A real drive does not report them, so
//! the known maximum for its kind is assumed.

use kurabe_core::model::{LayerRecord, ModelRecord};
use kurabe_core::quantity::parse_bytes;
use kurabe_core::record::RunRecord;
use kurabe_core::workload::Direction;

/// Bytes that a shingled hard disk may cache before its bands have to be rewritten: about 20 GB in
/// a Seagate Archive 8 TB (hardwareslave.com), up to 3 times as much in larger ones (assumed).
const OF_A_DISK_BYTES: u64 = 60_000_000_000;
/// Divisor of the capacity that flash may use with one bit per cell: all of an empty drive with
/// three bits per cell.
const OF_FLASH: u64 = 3;
/// Maximum for any known drive (assumed), and the value for an unknown capacity.
const MOST_OF_FLASH_BYTES: u64 = 500_000_000_000;
const UNKNOWN_BYTES: u64 = 100_000_000_000;

/// Write caches of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteCaches {
    /// Cache of a shingled disk for random writes, in bytes.
    pub media_bytes: u64,
    /// All others in bytes: flash with one bit per cell, and memory of drives, controllers and
    /// hosts.
    pub other_bytes: u64,
}

impl WriteCaches {
    /// Returns the caches of a model by its layers.
    pub fn of(model: &ModelRecord) -> Self {
        const OTHERS: [(&str, &str); 7] = [
            ("ssd", "slc_static"),
            ("ssd", "slc_dynamic"),
            ("ssd", "buffer"),
            ("flash-coarse", "buffer"),
            ("disk", "write_cache_size"),
            ("raid", "cache"),
            ("zfs", "dirty_max"),
        ];
        let size = |layer: &LayerRecord, key: &str| {
            let bytes = parameter_bytes(layer, key).unwrap_or(0);
            bytes.saturating_mul(u64::from(layer.instances.max(1)))
        };
        let all = |sizes: &[(&str, &str)]| {
            let of_layer = |layer: &LayerRecord| {
                let own = sizes.iter().filter(|(kind, _)| layer.kind == *kind);
                own.map(|(_, key)| size(layer, key)).fold(0, u64::saturating_add)
            };
            model.layers.iter().map(of_layer).fold(0, u64::saturating_add)
        };
        Self { media_bytes: all(&[("shingle", "cache")]), other_bytes: all(&OTHERS) }
    }

    /// Returns the total size in bytes.
    pub fn all_bytes(self) -> u64 {
        self.media_bytes.saturating_add(self.other_bytes)
    }
}

/// Returns the value of a parameter that is a size in bytes, or a rate in bytes per second.
pub fn parameter_bytes(layer: &LayerRecord, key: &str) -> Option<u64> {
    let size = layer.value(key)?;
    parse_bytes(size.strip_suffix("/s").unwrap_or(size)).ok()
}

/// Returns what a run on the model of a shingled disk wrote and how large the disk's media cache
/// is, both in bytes, if the cache took in all that was written: sustained writes are slower by
/// orders of magnitude.
pub fn within_media_cache(record: &RunRecord) -> Option<(u64, u64)> {
    let cache_bytes = WriteCaches::of(record.header.model.as_ref()?).media_bytes;
    let written_bytes = written_bytes(record);
    (0 < written_bytes && written_bytes < cache_bytes).then_some((written_bytes, cache_bytes))
}

/// Returns the bytes that the caches of a run's drive may take before it writes at the rate of its
/// medium.
pub fn cache_bytes(record: &RunRecord) -> u64 {
    if let Some(model) = &record.header.model {
        return WriteCaches::of(model).all_bytes();
    }
    match record.header.environment.devices.as_slice() {
        [device] if device.turns() == Some(true) => OF_A_DISK_BYTES,
        [device] => {
            device.size_bytes.map_or(UNKNOWN_BYTES, |bytes| (bytes / OF_FLASH).min(MOST_OF_FLASH_BYTES))
        }
        _ => UNKNOWN_BYTES,
    }
}

/// Returns the bytes that a run wrote, including the test file. Writes by preconditions are not
/// recorded.
pub fn written_bytes(record: &RunRecord) -> u64 {
    let filled = record.fill.map_or(0, |fill| fill.written_bytes);
    let repetitions = record.cells.iter().flat_map(|cell| &cell.repetitions);
    repetitions.map(|one| one.bytes(Direction::Write)).fold(filled, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caches_of_a_model_are_those_of_all_its_members() {
        let layer = |kind: &str, instances: u32, values: &[(&str, &str)]| {
            let parameter = |(key, value): &(&str, &str)| kurabe_testkit::parameter(key, value, "", false);
            LayerRecord {
                name: String::new(),
                kind: kind.to_owned(),
                instances,
                depth: 0,
                parameters: values.iter().map(parameter).collect(),
                causes: Vec::new(),
                counters: Vec::new(),
            }
        };
        let layers = vec![
            layer("raid", 1, &[("cache", "512 MB")]),
            layer("ssd", 4, &[("slc_static", "6 GB"), ("slc_dynamic", "36 GB"), ("buffer", "0 B")]),
            layer("shingle", 2, &[("cache", "20 GB")]),
        ];
        let model = ModelRecord { name: String::new(), title: kurabe_core::Text::default(), seed: 1, layers };
        let caches = WriteCaches::of(&model);
        assert_eq!(caches, WriteCaches { media_bytes: 40_000_000_000, other_bytes: 168_512_000_000 });
    }
}
