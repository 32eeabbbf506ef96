use crate::fixture::{account, device, request, run};
use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use proptest::prelude::*;

/// A medium of 1 ms and 1 MB/s behind a bus. A byte takes 300 ns to read and 500 ns to write; the
/// phases take 10, 20 and 30 µs.
fn spec(extra: &str) -> DeviceSpec {
    let bytes = "initiator_in=100 target_in=200 initiator_out=100 target_out=400";
    let bus = format!("scsi {bytes} selection=10_us command=20_us status=30_us {extra}");
    device(&[&bus, "constant capacity=16_MiB access=1_ms rate=1_MB/s"])
}

fn stack(extra: &str) -> Stack {
    Stack::new(&spec(extra), 1).unwrap()
}

/// Returns the ends of concurrent requests, in ascending order.
fn ends_ns(mut stack: Stack, requests: &[Request]) -> Vec<u64> {
    let mut ends = run(&mut stack, requests, requests.len());
    account(&mut stack);
    ends.sort_unstable();
    ends
}

fn time_ns(extra: &str, kind: RequestKind, length_bytes: u32) -> u64 {
    ends_ns(stack(extra), &[request(kind, 0, length_bytes)])[0]
}

const PHASES_NS: u64 = 60_000;

#[test]
fn only_an_asynchronous_bus_is_said_to_ask_for_each_byte() {
    let asks = |extra: &str| {
        let record = stack(extra).record(&spec(extra));
        let mut causes = record.layers.iter().flat_map(|layer| &layer.causes);
        let cause = causes.find(|cause| cause.key == "data-in").unwrap();
        (
            cause.explanation.en.contains("a question and an answer"),
            cause.explanation.ja.contains("1 バイトごと"),
        )
    };
    assert_eq!(asks(""), (true, true));
    assert_eq!(asks("transfer=synchronous"), (false, false));
}

#[test]
fn without_overlap_medium_and_bus_take_turns() {
    let pieces = "read_piece=1000_B write_piece=1000_B";
    assert_eq!(time_ns(pieces, RequestKind::Read, 3000), PHASES_NS + 3 * (1_000_000 + 1_000_000 + 300_000));
    assert_eq!(time_ns(pieces, RequestKind::Write, 3000), PHASES_NS + 3 * (1_000_000 + 1_000_000 + 500_000));
}

#[test]
fn pipelined_the_slower_side_sets_the_pace() {
    let extra = "read_piece=1000_B write_piece=1000_B read_overlap=pipelined write_overlap=pipelined";
    assert_eq!(time_ns(extra, RequestKind::Read, 3000), PHASES_NS + 3 * 2_000_000 + 300_000);
    assert_eq!(time_ns(extra, RequestKind::Write, 3000), PHASES_NS + 500_000 + 3 * 2_000_000);
}

#[test]
fn synchronously_the_slower_of_both_ends_sets_the_rate() {
    let extra = "transfer=synchronous initiator_synchronous=20_MB/s target_synchronous=5_MB/s";
    assert_eq!(time_ns(extra, RequestKind::Read, 1000), PHASES_NS + 2_000_000 + 200_000);
    let slow_in = format!("{extra} target_out_synchronous=2_MB/s");
    assert_eq!(time_ns(&slow_in, RequestKind::Read, 1000), PHASES_NS + 2_000_000 + 200_000);
    assert_eq!(time_ns(&slow_in, RequestKind::Write, 1000), PHASES_NS + 2_000_000 + 500_000);
}

#[test]
fn a_medium_may_begin_before_the_piece_is_whole() {
    let extra = "write_lead=100_B";
    // 100 bytes over the bus, then the medium: the rest arrives during that.
    assert_eq!(time_ns(extra, RequestKind::Write, 1000), PHASES_NS + 50_000 + 2_000_000);
    // The bus may be the bottleneck.
    let slow = format!("{extra} write_piece=1000_B");
    assert_eq!(time_ns(&slow, RequestKind::Write, 100), PHASES_NS + 50_000 + 1_100_000);
}

#[test]
fn a_target_that_stays_on_the_bus_keeps_others_off_it() {
    let two = [request(RequestKind::Read, 0, 1000), request(RequestKind::Read, 4096, 1000)];
    let alone_ns = PHASES_NS + 2_000_000 + 300_000;
    assert_eq!(ends_ns(stack(""), &two), [alone_ns, 2 * alone_ns]);
    let extra = "disconnect=true tags=2 reconnect=5_us";
    let ends = ends_ns(stack(extra), &two);
    // The second command goes over the bus while the medium works for the first, which must
    // reconnect.
    assert_eq!(ends[0], alone_ns + 5_000);
    assert_eq!(ends[1], 30_000 + 2 * 2_000_000 + 5_000 + 300_000 + 30_000);
}

/// Returns the time of a request to a disk behind the bus, and the part charged to the disk's
/// command overhead.
fn of_disk_ns(device: &str, extra: &[(&str, &str)], kind: RequestKind, length_bytes: u32) -> (u64, u64) {
    let mut spec = crate::library::device_named(device).unwrap();
    for (parameter, value) in extra {
        spec.set(parameter, value).unwrap();
    }
    let mut stack = Stack::new(&spec, 1).unwrap();
    let end_ns = {
        stack.submit(0, request(kind, 1 << 20, length_bytes), 0);
        while let Some(at_ns) = stack.next_wake_ns().filter(|_| stack.in_flight() > 0) {
            stack.advance(at_ns);
        }
        stack.take_completion().unwrap().at_ns
    };
    let of_command =
        |share: &&kurabe_core::model::TimeShare| share.layer != "scsi" && share.cause == "command";
    (end_ns, stack.take_account().shares.iter().filter(of_command).map(|share| share.time_ns).sum())
}

#[test]
fn the_drive_takes_its_command_once_however_many_pieces_it_has() {
    for device in ["ibm-dcas-34330", "iomega-zip100"] {
        for (kind, overlap, piece, overhead) in [
            (RequestKind::Read, "scsi.read_overlap", "scsi.read_piece", "read_overhead"),
            (RequestKind::Write, "scsi.write_overlap", "scsi.write_piece", "write_overhead"),
        ] {
            let layer = if device == "ibm-dcas-34330" { "disk" } else { "removable" };
            let overhead = format!("{layer}.{overhead}");
            let hit = [("disk.read_hit_overhead", "3 ms"), ("disk.write_cache", "false")];
            let of_pieces = |bytes: &str| {
                let usual = [(overlap, "pipelined"), (piece, bytes), (overhead.as_str(), "3 ms")];
                let extra = [&usual[..], if layer == "disk" { &hit[..] } else { &[] }].concat();
                of_disk_ns(device, &extra, kind, 8192)
            };
            let (whole, pieces) = (of_pieces("8 KiB"), of_pieces("2 KiB"));
            // Concurrent work may be charged instead of it.
            assert!(
                whole.1 == 3_000_000 && pieces.1 <= 3_000_000,
                "{device}, {kind:?}: {whole:?} {pieces:?}"
            );
            let turns = if kind == RequestKind::Read { 0 } else { 1 };
            assert!(pieces.0 <= whole.0 + turns * 22_000_000, "{device}, {kind:?}: {whole:?} {pieces:?}");
        }
    }
}

#[test]
fn a_flush_goes_down_only_to_a_reported_write_cache() {
    assert_eq!(time_ns("", RequestKind::Flush, 0), 0);
    assert_eq!(time_ns("write_cache=true", RequestKind::Flush, 0), PHASES_NS + 1_000_000);
    assert_eq!(time_ns("", RequestKind::Trim, 4096), 0);
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    for (key, value, says) in [
        ("read_piece", "\"0 B\"", "--set scsi.read_piece=0 B: `0 B` is outside"),
        ("write_piece", "\"3 GiB\"", "--set scsi.write_piece=3 GiB: `3 GiB` is outside"),
        ("tags", "4", "scsi.tags=4: `tags` needs `disconnect`"),
    ] {
        let mut spec = crate::library::device_named("rascsi").unwrap();
        let set = spec.set(&format!("scsi.{key}"), value.trim_matches('"'));
        let Err(error) = set.and_then(|()| Stack::new(&spec, 1)) else { panic!("{key} was taken") };
        assert!(error.what().en.starts_with(says), "{}", error.what().en);
    }
}

proptest! {
    #[test]
    fn never_faster_than_bus_or_medium_and_overlap_never_hurts(
        piece in 1u32..5000, length in 1u32..20_000, buffers in 2u32..6, lead in 0u32..6000,
        tags in 1u32..4, write: bool, count in 1usize..5,
    ) {
        let kind = if write { RequestKind::Write } else { RequestKind::Read };
        let requests: Vec<Request> =
            (0..count).map(|number| request(kind, number as u64 * 65_536, length)).collect();
        let both = |overlap: &str| {
            format!(
                "read_piece={piece}_B write_piece={piece}_B read_overlap={overlap} write_overlap={overlap} \
                 buffers={buffers} write_lead={lead}_B tags={tags} disconnect={}",
                tags > 1
            )
        };
        let last = |overlap: &str| ends_ns(stack(&both(overlap)), &requests).into_iter().max().unwrap();
        let (turns_ns, side_by_side_ns) = (last("none"), last("pipelined"));
        let bytes = u64::from(length) * count as u64;
        let bus_ns = bytes * if write { 500 } else { 300 };
        let medium_ns = bytes * 1000 + count as u64 * 1_000_000;
        prop_assert!(side_by_side_ns >= bus_ns.max(medium_ns));
        if tags == 1 {
            prop_assert!(side_by_side_ns <= turns_ns);
        }
    }
}
