//! For repeated reads, larger caches never have more misses.

use super::{device, drive, scattered, with_layer};
use kurabe_core::random::Random;
use kurabe_sim::{Request, RequestKind};

/// Returns reads of which four of five go to a fifth of the positions.
fn again(count: u64, length_bytes: u32, places: u64) -> Vec<Request> {
    let mut random = Random::new(14, 0);
    let place = |_| {
        let hot = random.below(5) > 0;
        let place = if hot { random.below(places / 5) } else { random.below(places) };
        Request::new(RequestKind::Read, place * u64::from(length_bytes), length_bytes)
    };
    (0..count).map(place).collect()
}

/// Exact: the least recently used segment is evicted, and such a cache contains everything that a
/// smaller one does.
#[test]
fn of_the_segments_of_a_disk() {
    for (name, layer) in with_layer("disk") {
        let hits = |count: &str| {
            let (segments, ahead) = (format!("{layer}.segments"), format!("{layer}.look_ahead"));
            let mut stack = device(name, &[(&segments, count), (&ahead, "0 B")]);
            drive(&mut stack, &again(1500, 4096, 100), 1).count("hits")
        };
        let counts = ["1", "2", "4", "8", "16", "32"].map(hits);
        assert!(counts.is_sorted() && counts[5] > counts[0], "{name}: {counts:?}");
    }
}

/// Exact, as above.
#[test]
fn of_the_memory_of_a_controller() {
    for (name, _) in with_layer("raid") {
        let missed = |size: &str| {
            let mut stack = device(
                name,
                &[("raid.io_policy", "cached"), ("raid.cache", size), ("raid.read_policy", "none")],
            );
            drive(&mut stack, &again(3000, 65_536, 2000), 1).count("missed-bytes")
        };
        let missed = ["4 MiB", "8 MiB", "16 MiB", "32 MiB", "64 MiB", "256 MiB"].map(missed);
        assert!(missed.iter().rev().is_sorted() && missed[5] < missed[0], "{name}: {missed:?}");
    }
}

/// Exact, as above.
#[test]
fn of_the_mapping_table_of_a_drive_of_flash() {
    for (name, layer) in with_layer("ssd") {
        let missed = |size: &str| {
            let (mapping, cache) = (format!("{layer}.mapping"), format!("{layer}.mapping_cache"));
            let mut stack = device(name, &[(&mapping, "cached"), (&cache, size)]);
            drive(&mut stack, &scattered(RequestKind::Read, 2000, 4096, 4 << 30, 15), 1)
                .count("mapping-misses")
        };
        let missed = ["64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB"].map(missed);
        assert!(missed.iter().rev().is_sorted() && missed[4] < missed[0], "{name}: {missed:?}");
    }
}
