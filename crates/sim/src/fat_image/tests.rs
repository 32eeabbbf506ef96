use crate::fixture::{account, count, device, run_apart, spent_ns};
use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::model::TimeAccount;
use proptest::prelude::*;

/// An image of 8 MiB in clusters of 4 KiB, with 16 FAT sectors, on a card that takes 1 ms per
/// command and 1 µs per kilobyte.
fn spec(extra: &str) -> DeviceSpec {
    let image = format!("fat-image image=8_MiB cluster=4_KiB {extra}");
    device(&[&image, "card capacity=64_MiB interface=1_GB/s access=1_ms read=1_GB/s write=1_GB/s"])
}

fn stack(extra: &str) -> Stack {
    Stack::new(&spec(extra), 1).unwrap()
}

/// Runs requests one at a time. Returns the duration of each, and the account of all.
fn times_ns(stack: &mut Stack, requests: &[Request]) -> (Vec<u64>, TimeAccount) {
    let times = run_apart(stack, requests);
    (times, account(stack))
}

fn read(offset_bytes: u64, length_bytes: u32) -> Request {
    Request::new(RequestKind::Read, offset_bytes, length_bytes)
}

fn write(offset_bytes: u64, length_bytes: u32, identical: bool) -> Request {
    Request { kind: RequestKind::Write, identical, ..read(offset_bytes, length_bytes) }
}

const FLUSH: Request = Request::new(RequestKind::Flush, 0, 0);

/// Cost of a FAT sector: a command and 512 bytes.
const SECTOR_NS: u64 = 1_000_512;

#[test]
fn the_way_to_a_place_is_charged_to_the_walk_and_counted() {
    let mut stack = stack("directory=1 restart=first");
    // The directory, eight FAT sectors (1024 entries that start in the middle of a sector: nine),
    // and the cluster.
    let (times, account) = times_ns(&mut stack, &[read(4 << 20, 4096)]);
    assert_eq!(times[0], 10 * SECTOR_NS + 1_004_096);
    assert_eq!(count(&account, "fat-sectors"), 9);
    assert_eq!(spent_ns(&account, "walking"), 9 * SECTOR_NS);
    assert_eq!(spent_ns(&account, "opening"), SECTOR_NS);
    // Back to the beginning: nothing to follow. From there on: the next entry, in a sector that is
    // not in the window.
    let (times, account) = times_ns(&mut stack, &[read(0, 4096), read(4096, 4096), read(8192, 4096)]);
    assert_eq!(times, [1_004_096, SECTOR_NS + 1_004_096, 1_004_096]);
    assert_eq!(count(&account, "restarts"), 1);
}

#[test]
fn forward_goes_on_from_where_the_file_stands() {
    let mut stack = stack("directory=0");
    let (_, account) = times_ns(&mut stack, &[read(2 << 20, 4096), read(4 << 20, 4096)]);
    assert_eq!(count(&account, "fat-sectors"), 9);
    assert_eq!(count(&account, "restarts"), 1);
    let (_, account) = times_ns(&mut stack, &[read(2 << 20, 4096)]);
    assert_eq!((count(&account, "fat-sectors"), count(&account, "restarts")), (5, 1));
    let mut stubborn = self::stack("directory=0 restart=first");
    let (_, account) = times_ns(&mut stubborn, &[read(2 << 20, 4096), read(4 << 20, 4096)]);
    assert_eq!((count(&account, "fat-sectors"), count(&account, "restarts")), (5 + 9, 2));
}

#[test]
fn a_file_opened_anew_walks_again() {
    let extra = "reopen=64_KiB directory=1";
    let (_, account) = times_ns(&mut stack(extra), &[read(4 << 20, 256 << 10)]);
    assert_eq!(count(&account, "restarts"), 4);
    assert_eq!(count(&account, "directory-sectors"), 4);
    assert_eq!(count(&account, "fat-sectors"), 4 * 9);
}

#[test]
fn the_remedies_leave_nothing_to_walk() {
    let far = [read(8 << 19, 64 << 10)];
    for remedy in ["link-map", "contiguous"] {
        let extra = format!("remedy={remedy} reopen=4_KiB");
        let (times, account) = times_ns(&mut stack(&extra), &far);
        assert_eq!(count(&account, "fat-sectors") + count(&account, "directory-sectors"), 0);
        assert_eq!(spent_ns(&account, "walking") + spent_ns(&account, "opening"), 0);
        // A contiguous image needs no stop at cluster boundaries either.
        let commands = if remedy == "contiguous" { 1 } else { 16 };
        assert_eq!(times[0], commands * 1_000_000 + 65_536);
    }
    // A fragmented image is not contiguous.
    let extra = "remedy=contiguous fragments=3";
    let (_, account) = times_ns(&mut stack(extra), &far);
    assert!(count(&account, "fat-sectors") > 0);
}

#[test]
fn tracks_are_loaded_whole_changed_in_memory_and_saved_later() {
    let extra = "tracks=2 track=16_KiB remedy=contiguous drop_identical=true";
    let mut stack = stack(extra);
    let load_ns = 1_000_000 + 16_384;
    let reads = [read(0, 4096), read(8192, 8192), read(16_384 - 512, 1024)];
    assert_eq!(times_ns(&mut stack, &reads).0, [load_ns, 0, load_ns]);
    // Identical bytes change nothing; others stay in memory, where a power cut would lose them.
    let (times, account) = times_ns(&mut stack, &[write(0, 4096, true), FLUSH]);
    assert_eq!((times[0], count(&account, "dropped"), count(&account, "saved")), (0, 1, 0));
    times_ns(&mut stack, &[write(0, 4096, false), write(4096, 512, false)]);
    assert_eq!(stack.volatile()[0].1.lost_bytes, 4608);
    // Data that are being saved are not safe yet.
    let mut saving = self::stack(extra);
    times_ns(&mut saving, &[write(0, 4096, false), write(4096, 512, false)]);
    saving.submit(saving.now_ns(), FLUSH, 0);
    assert_eq!(saving.volatile()[0].1.lost_bytes, 4608);
    let (times, account) = times_ns(&mut stack, &[FLUSH, FLUSH]);
    assert_eq!((times[0], times[1], count(&account, "saved")), (4608, 0, 1));
    assert!(stack.volatile().is_empty());
    // A third track makes room by writing the changed data.
    let (times, _) = times_ns(&mut stack, &[write(0, 4096, false), read(32_768, 512), read(65_536, 512)]);
    assert_eq!(times, [0, load_ns, load_ns + 4096]);
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    for (key, value, says) in [
        ("image", "4 GiB", "--set fat-image.image=4 GiB: `4 GiB` is outside"),
        ("cluster", "96 KiB", "--set fat-image.cluster=96 KiB: `96 KiB` is outside"),
        ("tracks", "0", "fat-image.tracks=0: `drop_identical` needs `tracks`"),
        // One request would be divided into a huge number of ranges.
        ("track", "3 GiB", "--set fat-image.track=3 GiB: `3 GiB` is outside"),
        ("reopen", "511 B", "fat-image.reopen=511 B: a file is not reopened"),
    ] {
        let mut spec = crate::library::device_named("rascsi").unwrap();
        let set = spec.set(&format!("fat-image.{key}"), value);
        let Err(error) = set.and_then(|()| Stack::new(&spec, 1)) else { panic!("{key} = {value} was taken") };
        assert!(error.what().en.starts_with(says), "{}", error.what().en);
    }
    let mut spec = crate::library::device_named("rascsi").unwrap();
    spec.set("card.capacity", "1 GB").unwrap();
    assert!(Stack::new(&spec, 1).is_err());
}

fn any_request() -> impl Strategy<Value = Request> {
    (0u64..2048, 1u32..80, 0u8..5, any::<bool>()).prop_map(|(at, pages, kind, identical)| {
        let offset_bytes = at * 4096;
        let length_bytes = (pages * 1024).min((8 << 20) - offset_bytes as u32);
        match kind {
            0 | 1 => read(offset_bytes, length_bytes),
            2 | 3 => write(offset_bytes, length_bytes, identical),
            _ => FLUSH,
        }
    })
}

proptest! {
    /// For the whole device and any requests: fewer entries to follow, and fewer stops.
    #[test]
    fn larger_clusters_never_make_it_slower(
        requests in prop::collection::vec(any_request(), 1..20), forward in any::<bool>(), log in 0u32..4,
    ) {
        let spent = |log: u32| {
            let restart = if forward { "forward" } else { "first" };
            let mut spec = spec(&format!("restart={restart} directory=0"));
            spec.set("fat-image.cluster", &format!("{} B", 4096 << log)).unwrap();
            let (times, account) = times_ns(&mut Stack::new(&spec, 1).unwrap(), &requests);
            (count(&account, "fat-sectors"), times.iter().sum::<u64>())
        };
        let (small, large) = (spent(log), spent(log + 1));
        prop_assert!(large.0 <= small.0 && large.1 <= small.1, "{large:?} > {small:?}");
    }

    #[test]
    fn going_forward_walks_no_further_than_starting_over_and_the_map_not_at_all(
        requests in prop::collection::vec(any_request(), 1..20), fragments in 1u32..40, tracks in 0u32..4,
    ) {
        let walked = |extra: &str| {
            let extra = format!("{extra} fragments={fragments} tracks={tracks}");
            count(&times_ns(&mut stack(&extra), &requests).1, "fat-sectors")
        };
        let (forward, first) = (walked("restart=forward"), walked("restart=first"));
        prop_assert!(forward <= first, "{} > {}", forward, first);
        prop_assert!(walked("remedy=link-map") == 0);
    }
}
