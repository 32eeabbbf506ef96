use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use proptest::prelude::*;

/// A medium of 1 ms and 1 MB/s behind a bus; a byte takes 300 ns read and 500 ns written, phases 10, 20 and 30 µs.
fn spec(extra: &str) -> DeviceSpec {
    let source = format!(
        r#"
        schema = 1
        name = "test"
        title = {{ en = "test", ja = "test" }}
        [[layer]]
        kind = "scsi"
        initiator_in = {{ value = 100, source = "t" }}
        target_in = {{ value = 200, source = "t" }}
        initiator_out = {{ value = 100, source = "t" }}
        target_out = {{ value = 400, source = "t" }}
        selection = {{ value = "10 us", source = "t" }}
        command = {{ value = "20 us", source = "t" }}
        status = {{ value = "30 us", source = "t" }}
        {extra}
        [[layer]]
        kind = "constant"
        capacity = {{ value = "16 MiB", source = "t" }}
        access = {{ value = "1 ms", source = "t" }}
        rate = {{ value = "1 MB/s", source = "t" }}
        "#
    );
    DeviceSpec::parse("test", &source, &|_, _| unreachable!()).unwrap()
}

fn stack(extra: &str) -> Stack {
    Stack::new(&spec(extra), 1).unwrap()
}

fn set(key: &str, value: &str) -> String {
    format!("{key} = {{ value = {value}, source = \"t\" }}\n")
}

fn request(kind: RequestKind, offset_bytes: u64, length_bytes: u32) -> Request {
    Request::new(kind, offset_bytes, length_bytes)
}

/// When requests that come at once are done, in the order of their ends; every nanosecond is explained.
fn ends_ns(mut stack: Stack, requests: &[Request]) -> Vec<u64> {
    for (token, request) in requests.iter().enumerate() {
        stack.submit(0, *request, token as u64);
    }
    while let Some(at_ns) = stack.next_wake_ns() {
        stack.advance(at_ns);
    }
    stack.check_not_blocked().unwrap();
    let account = stack.take_account();
    assert_eq!(account.shares.iter().map(|share| share.time_ns).sum::<u64>(), account.latency_ns);
    assert!(account.shares.iter().all(|share| share.cause != "unexplained"), "{account:?}");
    std::iter::from_fn(|| stack.take_completion()).map(|done| done.at_ns).collect()
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
    assert_eq!(asks(&set("transfer", "\"synchronous\"")), (false, false));
}

#[test]
fn without_overlap_medium_and_bus_take_turns() {
    let pieces = set("read_piece", "\"1000 B\"") + &set("write_piece", "\"1000 B\"");
    assert_eq!(time_ns(&pieces, RequestKind::Read, 3000), PHASES_NS + 3 * (1_000_000 + 1_000_000 + 300_000));
    assert_eq!(time_ns(&pieces, RequestKind::Write, 3000), PHASES_NS + 3 * (1_000_000 + 1_000_000 + 500_000));
}

#[test]
fn pipelined_the_slower_side_sets_the_pace() {
    let extra = set("read_piece", "\"1000 B\"")
        + &set("write_piece", "\"1000 B\"")
        + &set("read_overlap", "\"pipelined\"")
        + &set("write_overlap", "\"pipelined\"");
    assert_eq!(time_ns(&extra, RequestKind::Read, 3000), PHASES_NS + 3 * 2_000_000 + 300_000);
    assert_eq!(time_ns(&extra, RequestKind::Write, 3000), PHASES_NS + 500_000 + 3 * 2_000_000);
}

#[test]
fn synchronously_the_slower_of_both_ends_sets_the_rate() {
    let extra = set("transfer", "\"synchronous\"")
        + &set("initiator_synchronous", "\"20 MB/s\"")
        + &set("target_synchronous", "\"5 MB/s\"");
    assert_eq!(time_ns(&extra, RequestKind::Read, 1000), PHASES_NS + 2_000_000 + 200_000);
}

#[test]
fn a_medium_may_begin_before_the_piece_is_whole() {
    let extra = set("write_lead", "\"100 B\"");
    // 100 bytes over the bus, then the medium: the rest arrives meanwhile.
    assert_eq!(time_ns(&extra, RequestKind::Write, 1000), PHASES_NS + 50_000 + 2_000_000);
    // The bus may be what is waited for.
    let slow = extra + &set("write_piece", "\"1000 B\"");
    assert_eq!(time_ns(&slow, RequestKind::Write, 100), PHASES_NS + 50_000 + 1_100_000);
}

#[test]
fn a_target_that_stays_on_the_bus_keeps_others_off_it() {
    let two = [request(RequestKind::Read, 0, 1000), request(RequestKind::Read, 4096, 1000)];
    let alone_ns = PHASES_NS + 2_000_000 + 300_000;
    assert_eq!(ends_ns(stack(""), &two), [alone_ns, 2 * alone_ns]);
    let extra = set("disconnect", "true") + &set("tags", "2") + &set("reconnect", "\"5 us\"");
    let ends = ends_ns(stack(&extra), &two);
    // The second command goes over while the medium works for the first, which comes back at a price.
    assert_eq!(ends[0], alone_ns + 5_000);
    assert_eq!(ends[1], 30_000 + 2 * 2_000_000 + 5_000 + 300_000 + 30_000);
}

/// Time of a request to a disk behind the bus, and how much of it the disk took for its command.
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
            // What went on beside it may be told in its place.
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
    assert_eq!(time_ns(&set("write_cache", "true"), RequestKind::Flush, 0), PHASES_NS + 1_000_000);
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
            set("read_piece", &format!("\"{piece} B\""))
                + &set("write_piece", &format!("\"{piece} B\""))
                + &set("read_overlap", overlap)
                + &set("write_overlap", overlap)
                + &set("buffers", &buffers.to_string())
                + &set("write_lead", &format!("\"{lead} B\""))
                + &set("tags", &tags.to_string())
                + &set("disconnect", if tags > 1 { "true" } else { "false" })
        };
        let last = |overlap: &str| ends_ns(stack(&both(overlap)), &requests).into_iter().max().unwrap();
        let (turns_ns, side_by_side_ns) = (last("\"none\""), last("\"pipelined\""));
        let bytes = u64::from(length) * count as u64;
        let bus_ns = bytes * if write { 500 } else { 300 };
        let medium_ns = bytes * 1000 + count as u64 * 1_000_000;
        prop_assert!(side_by_side_ns >= bus_ns.max(medium_ns));
        if tags == 1 {
            prop_assert!(side_by_side_ns <= turns_ns);
        }
    }
}
