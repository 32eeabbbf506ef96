//! Laws of all links and of the devices that share one.

use crate::fixture::{account, device, run, spent_ns};
use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::device::ErrorNumber;
use proptest::prelude::*;

pub(crate) fn request(kind: RequestKind, unit: u16, offset_bytes: u64, length_bytes: u32) -> Request {
    Request { unit, ..Request::new(kind, offset_bytes, length_bytes) }
}

/// Returns when each of the requests ended, with `depth` of them in flight.
pub(crate) fn ends_ns(spec: &DeviceSpec, depth: usize, requests: &[Request]) -> Vec<u64> {
    let mut stack = Stack::new(spec, 1).unwrap();
    let ends = run(&mut stack, requests, depth);
    account(&mut stack);
    ends
}

pub(crate) fn last_ns(spec: &DeviceSpec, depth: usize, requests: &[Request]) -> u64 {
    ends_ns(spec, depth, requests).into_iter().max().unwrap_or(0)
}

/// Returns the MB/s of sequential reads or writes.
fn sequential(spec: &DeviceSpec, kind: RequestKind, block: u32, depth: usize) -> f64 {
    let requests: Vec<Request> =
        (0..64).map(|index| request(kind, 0, index * u64::from(block), block)).collect();
    64.0 * f64::from(block) * 1e3 / last_ns(spec, depth, &requests) as f64
}

const DRIVE: &str = "constant capacity=1_GiB access=1_ms rate=100_MB/s";

const LINKS: [&str; 15] = [
    "sata generation=sata-2",
    "sata generation=sata-1 depth=1",
    "sata generation=ata-133 depth=1 command=0_ns",
    "usb generation=usb-3 protocol=bot",
    "usb generation=usb-2 protocol=bot",
    "usb generation=usb-2 protocol=uas",
    "usb generation=usb-3.1 protocol=uas depth=2",
    "usb generation=usb-1 protocol=bot members=2",
    "usb generation=usb-3 protocol=uas members=3",
    "port-multiplier generation=sata-2 switching=fbs members=2",
    "port-multiplier generation=sata-1 switching=cbs members=2",
    "pcie generation=1 lanes=1",
    "pcie generation=4 lanes=4",
    "mirror reads=1 writes=1",
    "zfs ahead=0_B",
];

pub(crate) fn any_requests(units: u16) -> impl Strategy<Value = Vec<Request>> {
    let kind = prop_oneof![
        4 => Just(RequestKind::Read),
        4 => Just(RequestKind::Write),
        1 => Just(RequestKind::Flush),
        1 => Just(RequestKind::Trim),
    ];
    let one = (kind, 0..units, 0u64..1000, 1u32..40).prop_map(|(kind, unit, place, length)| {
        let length_bytes = if kind == RequestKind::Flush { 0 } else { length * 4096 };
        request(kind, unit, place * 4096, length_bytes)
    });
    prop::collection::vec(one, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A link only ever adds time, for any mix of requests, and all of it is accounted for.
    #[test]
    fn nothing_is_faster_behind_a_link(
        link in 0..LINKS.len(), depth in 1usize..8, requests in any_requests(1),
    ) {
        let bare = last_ns(&device(&[DRIVE]), depth, &requests);
        prop_assert!(last_ns(&device(&[LINKS[link], DRIVE]), depth, &requests) >= bare);
    }

    /// With BOT, an enclosure with three drives is exactly as slow as one drive that gets all
    /// commands.
    #[test]
    fn with_one_command_in_flight_the_times_of_all_drives_add_up(
        depth in 1usize..8, requests in any_requests(3),
    ) {
        let box_of_three = device(&["usb generation=usb-3 protocol=bot members=3", DRIVE]);
        let one = device(&["usb generation=usb-3 protocol=bot", DRIVE]);
        let for_one: Vec<Request> = requests.iter().map(|request| Request { unit: 0, ..*request }).collect();
        prop_assert_eq!(ends_ns(&box_of_three, depth, &requests), ends_ns(&one, depth, &for_one));
        // More commands in flight save only the gap between two calls of the host.
        let alone = last_ns(&one, 1, &for_one);
        let gaps = 46_000 * requests.len() as u64;
        prop_assert!(last_ns(&box_of_three, 8, &requests) + gaps >= alone);
    }

    /// Drives that may all have commands at once are never slower than drives that must alternate.
    #[test]
    fn fis_based_switching_is_never_slower_than_command_based(
        depth in 1usize..8, requests in any_requests(3),
    ) {
        let by = |switching: &str, requests: &[Request]| {
            let port = format!("port-multiplier generation=sata-2 switching={switching} members=3");
            last_ns(&device(&[&port, DRIVE]), depth, requests)
        };
        prop_assert!(by("fbs", &requests) <= by("cbs", &requests));
    }

    /// The new protocol is never slower than the old one on the same drives.
    #[test]
    fn uas_is_never_slower_than_bot(depth in 1usize..8, requests in any_requests(3)) {
        let by = |protocol: &str| {
            let usb = format!("usb generation=usb-3 protocol={protocol} members=3");
            last_ns(&device(&[&usb, DRIVE]), depth, &requests)
        };
        prop_assert!(by("uas") <= by("bot"));
    }
}

#[test]
fn large_requests_run_at_the_rate_of_the_narrowest() {
    let cases = [
        // The cable of 133.3 MB/s, of which 0.93 are data, with a faster drive.
        (
            "sata generation=ata-133 depth=1",
            "constant capacity=1_GiB access=0_ns rate=500_MB/s",
            133.3 * 0.93,
        ),
        ("sata generation=sata-1", "constant capacity=1_GiB access=0_ns rate=500_MB/s", 150.0 * 0.93),
        ("usb generation=usb-2 protocol=bot", "constant capacity=1_GiB access=0_ns rate=500_MB/s", 48.0),
        ("usb generation=usb-3 protocol=uas", "constant capacity=1_GiB access=0_ns rate=500_MB/s", 400.0),
        // Eight lanes of the first and second generation with payloads of 128 bytes.
        (
            "pcie generation=1 lanes=8",
            "constant capacity=1_GiB access=0_ns rate=9_GB/s",
            2000.0 * 128.0 / 152.0,
        ),
        (
            "pcie generation=2 lanes=8",
            "constant capacity=1_GiB access=0_ns rate=9_GB/s",
            4000.0 * 128.0 / 152.0,
        ),
        (
            "port-multiplier generation=sata-2 switching=fbs members=1",
            "constant capacity=1_GiB access=0_ns rate=500_MB/s",
            300.0 * 0.93,
        ),
        // The drive with a faster cable.
        ("sata generation=sata-3 depth=1", "constant capacity=1_GiB access=0_ns rate=100_MB/s", 100.0),
        ("usb generation=usb-3.1 protocol=uas", "constant capacity=1_GiB access=0_ns rate=100_MB/s", 100.0),
    ];
    for (link, drive, expected) in cases {
        for kind in [RequestKind::Read, RequestKind::Write] {
            let rate = sequential(&device(&[link, drive]), kind, 8 << 20, 2);
            assert!(
                rate < expected * 1.000_001 && rate > expected * 0.99,
                "{link}, {kind:?}: {rate} of {expected}"
            );
        }
    }
}

#[test]
fn bot_and_uas_reach_what_was_measured_of_them() {
    let drive = "constant capacity=1_GiB access=0_ns rate=2000_MB/s";
    let bot =
        sequential(&device(&["usb generation=usb-3 protocol=bot", drive]), RequestKind::Read, 128 << 10, 4);
    let uas =
        sequential(&device(&["usb generation=usb-3 protocol=uas", drive]), RequestKind::Read, 128 << 10, 4);
    assert!((230.0..260.0).contains(&bot), "{bot}");
    assert!((390.0..=400.0).contains(&uas), "{uas}");
}

#[test]
fn a_flush_blocks_reads_on_sata_and_waits_for_what_is_in_flight() {
    let drive = "constant capacity=1_GiB access=1_ms rate=1000_GB/s parallel=4";
    let requests = [
        request(RequestKind::Read, 0, 0, 512),
        request(RequestKind::Flush, 0, 0, 0),
        request(RequestKind::Read, 0, 0, 512),
        request(RequestKind::Read, 0, 512, 512),
    ];
    let queued = device(&["sata generation=sata-3 command=0_ns", drive]);
    let ends: Vec<u64> =
        ends_ns(&queued, 4, &requests).into_iter().map(|end_ns| end_ns / 1_000_000).collect();
    assert_eq!(ends, [1, 2, 3, 3]);
    let mut stack = Stack::new(&queued, 1).unwrap();
    for request in requests {
        stack.submit(0, request, 0);
    }
    stack.advance(u64::MAX / 2);
    assert_eq!(spent_ns(&account(&mut stack), "behind-flush") / 1_000_000, 2);
}

#[test]
fn more_commands_at_the_drive_only_with_command_queueing() {
    let drive = "constant capacity=1_GiB access=1_ms rate=1000_GB/s parallel=4";
    let requests = [request(RequestKind::Read, 0, 0, 512); 8];
    let last_ms = |link: &str| last_ns(&device(&[link, drive]), 8, &requests) / 1_000_000;
    assert_eq!(last_ms("sata generation=sata-3 command=0_ns depth=1"), 8);
    assert_eq!(last_ms("sata generation=sata-3 command=0_ns depth=2"), 4);
    assert_eq!(last_ms("sata generation=sata-3 command=0_ns"), 2);
}

#[test]
fn by_command_based_switching_drives_take_turns() {
    let drive = "constant capacity=1_GiB access=1_ms rate=1000_GB/s";
    let requests: Vec<Request> = (0..6).map(|index| request(RequestKind::Read, index % 3, 0, 512)).collect();
    let port = |switching: &str| {
        let port = format!("port-multiplier generation=sata-3 switching={switching} members=3 switch=100_us");
        last_ns(&device(&[&port, drive]), 6, &requests) / 100_000
    };
    assert_eq!((port("fbs"), port("cbs")), (20, 65));
}

#[test]
fn both_directions_of_a_slot_run_at_once() {
    let drive = "constant capacity=1_GiB access=0_ns rate=1000_GB/s parallel=4";
    let slot = device(&["pcie generation=1 lanes=1 latency=0_ns", drive]);
    let one = last_ns(&slot, 1, &[request(RequestKind::Read, 0, 0, 1 << 20)]);
    let both = last_ns(
        &slot,
        2,
        &[request(RequestKind::Read, 0, 0, 1 << 20), request(RequestKind::Write, 0, 0, 1 << 20)],
    );
    assert!(both < one + one / 50, "{both} {one}");
}

#[test]
fn a_drive_that_a_box_does_not_have_fails() {
    let spec = device(&["usb generation=usb-3 protocol=bot members=2", DRIVE]);
    let mut stack = Stack::new(&spec, 1).unwrap();
    stack.submit(0, request(RequestKind::Read, 2, 0, 512), 0);
    assert_eq!(stack.take_completion().unwrap().outcome, Err(ErrorNumber::INVALID));
}
