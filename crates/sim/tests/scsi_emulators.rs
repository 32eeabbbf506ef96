//! The SCSI disk emulators compared with the published figures (SCSIハードディスクエミュレーター性能比較), and the
//! laws of their FAT images.
//!
//! A row that calibrates a parameter must be within 2 %; a predicted one within its own tolerance.
//! Figures from 1 MB/s up are published with one decimal place.

use crate::common::gnome_disks::{GnomeDisks, access_ms, gnome_disks};
use crate::common::macbench::{MacBench, macbench};
use crate::common::{OneByOne, device};
use kurabe_sim::{RequestKind, Stack};
use proptest::prelude::*;
use std::sync::LazyLock;

const CALIBRATED: f64 = 0.02;

fn assert_near(what: &str, value: f64, published: f64, tolerance: f64) {
    let error = value / published - 1.0;
    assert!(error.abs() <= tolerance, "{what}: {value:.2} for {published:.2}, {:+.2} %", error * 100.0);
}

/// The table of GNOME Disks, with image sizes; the devices in the order of their read rates.
static GNOME: LazyLock<Vec<(&str, &str, GnomeDisks)>> = LazyLock::new(|| {
    let rows = [
        ("scsi2sd-v6", ""),
        ("henkan-bancho", ""),
        ("scsi2sd-v5", ""),
        ("henkan-bancho-pro", "1GB"),
        ("rascsi", "1GB"),
        ("henkan-bancho-pro", "4GB"),
    ];
    rows.map(|(name, image)| {
        let changes = [("fat-image.image", image)];
        (name, image, gnome_disks(&device(name, if image.is_empty() { &[] } else { &changes })))
    })
    .to_vec()
});

fn gnome(name: &str, image: &str) -> GnomeDisks {
    GNOME.iter().find(|row| (row.0, row.1) == (name, image)).unwrap().2
}

fn assert_gnome(name: &str, image: &str, published: [f64; 3], tolerances: [f64; 3]) {
    let figures = gnome(name, image);
    let values = [figures.read_kb_per_s, figures.write_kb_per_s, figures.access_ms];
    for (index, what) in ["read", "write", "access"].iter().enumerate() {
        assert_near(&format!("{name} {image} {what}"), values[index], published[index], tolerances[index]);
    }
}

fn assert_macbench(name: &str, published: [f64; 4]) {
    let MacBench { sequential_read, random_read, sequential_write, random_write } =
        macbench(&device(name, &[]));
    let values = [sequential_read, random_read, sequential_write, random_write];
    for (value, published) in values.into_iter().zip(published) {
        assert_near(name, value, published, CALIBRATED);
    }
}

#[test]
fn raw_cards_come_out_as_published_on_the_pc() {
    assert_gnome("henkan-bancho", "", [2500.0, 2100.0, 2.20], [CALIBRATED; 3]);
    assert_gnome("scsi2sd-v5", "", [972.5, 943.1, 9.91], [CALIBRATED; 3]);
    // The read rate is a prediction: bus, card and access time are known.
    assert_gnome("scsi2sd-v6", "", [9100.0, 3900.0, 2.34], [CALIBRATED; 3]);
}

#[test]
fn the_rates_of_an_image_on_fat32_follow_from_its_access_times_and_from_macbench() {
    let predicted = [0.01, 0.04, CALIBRATED];
    assert_gnome("henkan-bancho-pro", "1GB", [845.9, 816.9, 67.98], predicted);
    assert_gnome("henkan-bancho-pro", "4GB", [572.0, 549.4, 256.56], predicted);
}

#[test]
fn rascsi_comes_out_as_published() {
    assert_gnome("rascsi", "1GB", [735.4, 481.3, 56.96], [CALIBRATED; 3]);
    let large_ms = access_ms(&device("rascsi", &[("fat-image.image", "2GB")]));
    assert_near("rascsi 2GB access", large_ms, 96.05, CALIBRATED);
}

#[test]
fn on_the_macintosh_all_but_one_come_out_as_published() {
    assert_macbench("henkan-bancho-mac", [4617.86, 4684.72, 4312.52, 1804.58]);
    assert_macbench("henkan-bancho-pro-mac", [1044.30, 1050.06, 1008.25, 1007.95]);
    assert_macbench("scsi2sd-v5-mac", [1079.17, 1085.70, 1202.50, 1198.98]);
    assert_macbench("rascsi-mac", [721.72, 717.52, 413.03, 409.69]);
    // Its writes suffer from a firmware bug that no mechanism here explains, so the model misses
    // them.
    let v6 = macbench(&device("scsi2sd-v6-mac", &[]));
    assert_near("scsi2sd-v6-mac", v6.sequential_read, 2266.58, CALIBRATED);
    assert_near("scsi2sd-v6-mac", v6.random_read, 2280.68, CALIBRATED);
    assert!(v6.sequential_write < v6.sequential_read);
}

#[test]
fn the_order_of_the_devices_in_the_published_table_is_kept() {
    let falls = |values: [f64; 6]| values.windows(2).all(|pair| pair[0] > pair[1]);
    let (v6, raw, v5) = (gnome("scsi2sd-v6", ""), gnome("henkan-bancho", ""), gnome("scsi2sd-v5", ""));
    let (small, large) = (gnome("henkan-bancho-pro", "1GB"), gnome("henkan-bancho-pro", "4GB"));
    let rascsi = gnome("rascsi", "1GB");
    assert!(falls([v6, raw, v5, small, rascsi, large].map(|row| row.read_kb_per_s)));
    assert!(falls([v6, raw, v5, small, large, rascsi].map(|row| row.write_kb_per_s)));
    assert!(falls([large, small, rascsi, v5, v6, raw].map(|row| row.access_ms)));
}

#[test]
fn access_time_grows_in_a_straight_line_with_the_image() {
    for name in ["henkan-bancho-pro", "rascsi"] {
        let access_ms = |image| access_ms(&device(name, &[("fat-image.image", image)]));
        let (one, two, three) = (access_ms("1GB"), access_ms("2GB"), access_ms("3GB"));
        assert_near(name, three - two, two - one, 0.02);
    }
}

#[test]
fn a_one_megabyte_test_does_not_show_the_size_of_the_image() {
    let rates = |image| macbench(&device("rascsi-mac", &[("fat-image.image", image)]));
    assert_near("rascsi-mac", rates("4GB").sequential_read, rates("1GB").sequential_read, 0.001);
}

#[test]
fn the_account_of_an_access_names_the_walk() {
    let mut on = OneByOne::new(&device("henkan-bancho-pro", &[]));
    on.read_ns(999_997_440, 512);
    let account = on.stack.take_account();
    let walking = account.shares.iter().find(|share| share.cause == "walking").unwrap();
    assert!(walking.time_ns * 10 > account.latency_ns * 9, "{account:?}");
    let sectors = account.counts.iter().find(|count| count.counter == "fat-sectors").unwrap();
    // 15 258 clusters of 64 KiB, 128 per FAT sector.
    assert_eq!(sectors.count, 120);
}

#[test]
fn link_map_and_contiguous_image_remove_the_walk() {
    for remedy in ["link-map", "contiguous"] {
        let time_of = |image| {
            let changes = [("fat-image.remedy", remedy), ("fat-image.image", image)];
            let spec = device("henkan-bancho-pro", &changes);
            let mut on = OneByOne::new(&spec);
            let at = on.stack.capacity_bytes() / 2 / 4096 * 4096;
            (access_ms(&spec), on.read_ns(at, 10 << 20))
        };
        let (small, large) = (time_of("1GB"), time_of("4GB"));
        assert!(small.0 < gnome("henkan-bancho-pro", "1GB").access_ms / 10.0);
        assert_near(remedy, large.0, small.0, 0.001);
        assert_near(remedy, large.1 as f64, small.1 as f64, 0.001);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn larger_clusters_never_raise_an_access(
        log in 12u32..16, at in 0.0f64..1.0, name in prop::sample::select(vec!["rascsi", "henkan-bancho-pro"]),
    ) {
        let access_ns = |log: u32| {
            let cluster = format!("{} B", 1u32 << log);
            let mut on = OneByOne::new(&device(name, &[("fat-image.cluster", &cluster)]));
            let place = (at * on.stack.capacity_bytes() as f64) as u64 / 4096 * 4096;
            on.read_ns(place.min(on.stack.capacity_bytes() - 4096), 4096)
        };
        prop_assert!(access_ns(log + 1) <= access_ns(log));
    }

    #[test]
    fn no_byte_is_faster_than_the_bus(
        name in prop::sample::select(vec!["scsi2sd-v6", "scsi2sd-v6-mac", "henkan-bancho-mac", "rascsi"]),
        pages in 1u32..600, page in 0u64..10_000, write: bool,
    ) {
        let mut on = OneByOne::new(&device(name, &[]));
        let kind = if write { RequestKind::Write } else { RequestKind::Read };
        let length = pages * 4096;
        let time_ns = on.time_ns(kind, page * 4096, length, false);
        // 10 MB/s synchronous, at most 5 MB/s on the Macintosh.
        let ns_per_byte = if name.ends_with("-mac") { 200 } else { 100 };
        prop_assert!(time_ns >= u64::from(length) * ns_per_byte);
    }
}

const PARAMETERS: [&str; 38] = [
    "scsi.initiator_in",
    "scsi.target_out",
    "scsi.selection",
    "scsi.command",
    "scsi.status",
    "scsi.read_piece",
    "scsi.write_piece",
    "scsi.write_lead",
    "scsi.buffers",
    "scsi.tags",
    "scsi.disconnect",
    "scsi.reconnect",
    "scsi.read_overlap",
    "scsi.write_overlap",
    "scsi.transfer",
    "scsi.target_synchronous",
    "scsi.write_cache",
    "fat-image.image",
    "fat-image.cluster",
    "fat-image.reopen",
    "fat-image.directory",
    "fat-image.fragments",
    "fat-image.remedy",
    "fat-image.restart",
    "fat-image.tracks",
    "fat-image.track",
    "fat-image.drop_identical",
    "card.capacity",
    "card.interface",
    "card.command",
    "card.access",
    "card.read",
    "card.write",
    "card.program",
    "card.longest_transfer",
    "card.write_unit",
    "card.copy",
    "card.class",
];
/// Values at the limits of the types, and some in between.
const VALUES: [&str; 29] = [
    "0",
    "1",
    "3",
    "4096",
    "1e300",
    "0 B",
    "1 B",
    "512 B",
    "64 KiB",
    "3 GB",
    "15 EiB",
    "0 ns",
    "1 ms",
    "500 h",
    "5000000 h",
    "1 B/s",
    "1 GB/s",
    "15 EiB/s",
    "true",
    "false",
    "none",
    "pipelined",
    "synchronous",
    "link-map",
    "contiguous",
    "forward",
    "first",
    "a1",
    "a2",
];

fn any_parameter() -> impl Strategy<Value = (&'static str, &'static str)> {
    (prop::sample::select(PARAMETERS.to_vec()), prop::sample::select(VALUES.to_vec()))
}

proptest! {
    #[test]
    fn any_parameters_give_an_error_or_a_model_that_answers(
        changes in prop::collection::vec(any_parameter(), 1..12), at in 0u64..1000, pages in 1u32..40,
    ) {
        let mut spec = device("rascsi", &[]);
        for (path, value) in changes {
            // Values of another type are refused here.
            let _ = spec.set(path, value);
        }
        let Ok(stack) = Stack::new(&spec, 1) else { return Ok(()) };
        let capacity = stack.capacity_bytes();
        let mut on = OneByOne::new(&spec);
        for kind in [RequestKind::Read, RequestKind::Write, RequestKind::Write, RequestKind::Flush, RequestKind::Trim] {
            let at = (at * 4096).min(capacity - 1);
            let length = u64::from(pages * 4096).min(capacity - at) as u32;
            on.time_ns(kind, at, if kind == RequestKind::Flush { 0 } else { length }, false);
        }
    }
}
