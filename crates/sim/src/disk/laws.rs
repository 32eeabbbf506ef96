//! Laws of disks, and the costs of their mechanisms.

use crate::fixture::{self, account, request, try_device};
use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::random::Random;
use proptest::prelude::*;

/// A 7200 rpm disk with two zones; `more` has further parameters.
fn spec(more: &str) -> DeviceSpec {
    let layout = "rotation=7200 cylinders=20000 heads=4 zones=[[0,1000],[10000,600]] head_switch=0.8_ms";
    let seek = "seek_single=1_ms seek_average=8.5_ms seek_full=17_ms";
    let memory = "read_overhead=0.1_ms write_overhead=0.1_ms segments=8 segment=1_MiB";
    fixture::device(&[&format!("disk {layout} {seek} {memory} {more}")])
}

fn disk(more: &str) -> Stack {
    Stack::new(&spec(more), 1).unwrap()
}

const TURN_NS: u64 = 8_333_333;
/// Size of the first zone.
const ZONE_BYTES: u64 = 10_000 * 4 * 1000 * 512;

/// Keeps `depth` requests in flight, each sent `gap_ns` after the end of another. Returns the
/// latencies in order of the requests, and the end.
fn drive(stack: &mut Stack, requests: &[Request], depth: usize, gap_ns: u64) -> (Vec<u64>, u64) {
    let (mut starts, mut latencies) = (vec![0; requests.len()], vec![0; requests.len()]);
    let (mut sent, mut done) = (0, 0);
    let mut free = vec![stack.now_ns(); depth];
    while done < requests.len() {
        while let Some(at_ns) = (sent < requests.len()).then(|| free.iter().min().copied()).flatten() {
            if stack.next_wake_ns().is_some_and(|wake_ns| wake_ns < at_ns) {
                break;
            }
            let slot = free.iter().position(|free_ns| *free_ns == at_ns).unwrap();
            free.remove(slot);
            starts[sent] = at_ns;
            stack.submit(at_ns, requests[sent], sent as u64);
            sent += 1;
        }
        stack.check_not_blocked().unwrap();
        if let Some(at_ns) = stack.next_wake_ns() {
            stack.advance(at_ns);
        }
        while let Some(completion) = stack.take_completion() {
            let index = completion.token as usize;
            latencies[index] = completion.at_ns - starts[index];
            free.push(completion.at_ns + gap_ns);
            done += 1;
        }
    }
    (latencies, stack.now_ns())
}

fn random_reads(count: u64, span_bytes: u64, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed, 0);
    (0..count).map(|_| request(RequestKind::Read, random.below(span_bytes / 4096) * 4096, 4096)).collect()
}

fn in_order(kind: RequestKind, from_bytes: u64, count: u64, length_bytes: u32) -> Vec<Request> {
    let offset = |index| from_bytes + index * u64::from(length_bytes);
    (0..count).map(|index| request(kind, offset(index), length_bytes)).collect()
}

fn mean(latencies: &[u64]) -> f64 {
    latencies.iter().sum::<u64>() as f64 / latencies.len() as f64
}

/// Returns the bytes per second of a zone: a cylinder of four tracks takes four revolutions and the
/// switches that the skews allow for.
fn media_bytes_per_s(sectors: u64) -> f64 {
    (4 * sectors * 512) as f64 * 1e9 / (4 * TURN_NS + 3 * 800_000 + 1_000_000) as f64
}

#[test]
fn a_random_read_takes_a_seek_half_a_turn_and_its_bytes() {
    let mut stack = disk("");
    let span_bytes = stack.capacity_bytes();
    let (latencies, _) = drive(&mut stack, &random_reads(20_000, span_bytes, 3), 1, 0);
    let shares = stack.take_account().shares;
    let seek_ns = shares.iter().find(|share| share.cause == "seek").unwrap().time_ns as f64 / 20_000.0;
    let expected = 100_000.0 + seek_ns + TURN_NS as f64 / 2.0 + TURN_NS as f64 * 8.0 / 850.0;
    assert!((mean(&latencies) / expected - 1.0).abs() < 0.02, "{} {expected}", mean(&latencies));
    // The outer zone holds more, so seeks are shorter than an average over all cylinders.
    assert!((seek_ns / 8.5e6 - 1.0).abs() < 0.05, "{seek_ns}");
}

#[test]
fn a_stream_reaches_the_rate_of_its_zone() {
    for (from_bytes, sectors) in [(0, 1000), (ZONE_BYTES, 600)] {
        for (length_bytes, depth, gap_ns) in
            [(65_536, 1, 0), (1 << 20, 1, 0), (65_536, 4, 0), (131_072, 1, 500_000)]
        {
            let mut stack = disk("");
            let count = (200 << 20) / u64::from(length_bytes);
            let (_, end_ns) = drive(
                &mut stack,
                &in_order(RequestKind::Read, from_bytes, count, length_bytes),
                depth,
                gap_ns,
            );
            let rate = f64::from(200 << 20) * 1e9 / end_ns as f64;
            let ratio = rate / media_bytes_per_s(sectors);
            assert!((0.99..1.0001).contains(&ratio), "{length_bytes} at depth {depth}: {ratio}");
        }
    }
}

#[test]
fn a_write_that_comes_too_late_waits_for_a_turn() {
    let (_, close_ns) = drive(&mut disk(""), &in_order(RequestKind::Write, 0, 100, 65_536), 2, 0);
    let (_, late_ns) = drive(&mut disk(""), &in_order(RequestKind::Write, 0, 100, 65_536), 1, 0);
    let turns = (late_ns - close_ns) as f64 / TURN_NS as f64;
    // One revolution for each request but the first; a few are saved where a switch was due anyway.
    assert!((85.0..=99.0).contains(&turns), "{turns}");
}

#[test]
fn the_write_cache_streams_and_a_flush_empties_it() {
    let more = "write_cache=true write_cache_size=8_MiB";
    let mut stack = disk(more);
    let mut requests = in_order(RequestKind::Write, 0, 64, 65_536);
    let (latencies, _) = drive(&mut stack, &requests, 1, 0);
    assert!(latencies.iter().all(|latency| *latency < 300_000));
    assert!(stack.volatile()[0].1.lost_bytes > 2 << 20);
    drive(&mut stack, &[request(RequestKind::Flush, 0, 0)], 1, 0);
    assert!(stack.volatile().is_empty());
    let mut stack = disk(more);
    requests = in_order(RequestKind::Write, 0, 3200, 65_536);
    requests.push(request(RequestKind::Flush, 0, 0));
    let (_, end_ns) = drive(&mut stack, &requests, 1, 0);
    let ratio = f64::from(200 << 20) * 1e9 / end_ns as f64 / media_bytes_per_s(1000);
    assert!((0.98..1.001).contains(&ratio), "{ratio}");
    let shares = stack.take_account();
    assert_eq!(shares.shares.iter().map(|share| share.time_ns).sum::<u64>(), shares.latency_ns);
}

#[test]
fn a_read_that_waits_for_the_write_cache_tells_of_the_moves_there_and_back() {
    let more = "write_cache=true write_cache_size=8_MiB";
    let mut stack = disk(more);
    // Reads near the start alternate with writes far away.
    let turn = |index: u64| {
        let (kind, from_bytes) = if index.is_multiple_of(2) {
            (RequestKind::Read, 0)
        } else {
            (RequestKind::Write, ZONE_BYTES / 2)
        };
        request(kind, from_bytes + (index / 2) * 786_432, 786_432)
    };
    drive(&mut stack, &(0..200).map(turn).collect::<Vec<_>>(), 1, 0);
    let account = stack.take_account();
    let part_ms = |cause: &str| {
        let share = account.shares.iter().find(|share| share.cause == cause);
        share.map_or(0.0, |share| share.time_ns as f64 / 100.0 / 1e6)
    };
    // Each pair has two seeks over a quarter of the disk and two rotational latencies.
    assert!((10.0..16.0).contains(&part_ms("seek")), "{}", part_ms("seek"));
    assert!((2.0..14.0).contains(&part_ms("rotation")), "{}", part_ms("rotation"));
    assert!((10.0..14.0).contains(&part_ms("written-back")), "{}", part_ms("written-back"));
    assert!(part_ms("waiting") < 1.0, "{}", part_ms("waiting"));
}

#[test]
fn what_was_read_ahead_stays_when_something_else_comes() {
    let requests = [
        request(RequestKind::Read, 0, 65_536),
        request(RequestKind::Write, 1 << 30, 4096),
        request(RequestKind::Read, 65_536, 65_536),
        request(RequestKind::Read, 900 << 10, 65_536),
    ];
    let (latencies, _) = drive(&mut disk(""), &requests, 1, 5_000_000);
    assert!(latencies[2] < 1_000_000, "{latencies:?}");
    // 5 ms are enough for some 300 KiB, but not for more.
    assert!(latencies[3] > 1_000_000, "{latencies:?}");
}

#[test]
fn measured_overheads_depend_on_the_command_before() {
    let mut stack = disk("overheads=[[0.1,1,0,2],[0.3,3,0,4]]");
    let requests = [
        request(RequestKind::Read, 0, 4096),
        request(RequestKind::Read, 4096, 4096),
        request(RequestKind::Write, 1 << 30, 4096),
        request(RequestKind::Read, 8192, 4096),
        request(RequestKind::Read, 8 << 30, 4096),
    ];
    drive(&mut stack, &requests, 1, 20_000_000);
    let shares = stack.take_account().shares;
    let command_ns = shares.iter().find(|share| share.cause == "command").unwrap().time_ns;
    // A miss, a hit, a write, a hit after the write, a miss.
    assert_eq!(command_ns, 1_000_000 + 100_000 + 2_000_000 + 300_000 + 1_000_000);
}

/// Returns the disk with other parameters.
fn disk_with(parameters: &[(&str, &str)]) -> Stack {
    let mut spec = spec("");
    for (key, value) in parameters {
        spec.set(&format!("disk.{key}"), value).unwrap();
    }
    Stack::new(&spec, 1).unwrap()
}

#[test]
fn the_bus_takes_a_read_once_its_share_is_in_the_memory() {
    // A track of 512,000 bytes passes in a revolution, and is transferred in 5.12 ms.
    let latency_ns = |share: &str| {
        let mut stack = disk_with(&[("buffer_rate", "100 MB/s"), ("read_start", share)]);
        drive(&mut stack, &[request(RequestKind::Read, 0, 512_000)], 1, 0).0[0]
    };
    assert_eq!(latency_ns("0.25"), latency_ns("0"), "the medium ends later than the bus");
    // The bus takes the last sector's 5,120 ns once that sector is complete.
    assert_eq!(latency_ns("0.5") - latency_ns("0"), TURN_NS.div_ceil(2) + 5_120_000 - TURN_NS - 5_120);
    assert_eq!(latency_ns("1") - latency_ns("0"), 5_120_000 - 5_120);
}

#[test]
fn the_data_of_a_write_come_while_the_arm_moves() {
    // A track of 512,000 bytes arrives in 5.12 ms: less than a long seek, more than none.
    let latency_ns = |share: &str, most: &str, offset_bytes: u64| {
        let rate = [("buffer_rate", "100 MB/s"), ("write_start", share), ("write_start_most", most)];
        drive(&mut disk_with(&rate), &[request(RequestKind::Write, offset_bytes, 512_000)], 1, 0).0[0]
    };
    let (all, far_bytes) = ("1 MB", ZONE_BYTES + (8 << 30));
    assert_eq!(latency_ns("1", all, far_bytes), latency_ns("0", all, far_bytes));
    // 80 sectors are 2/3 ms. The command overhead is shorter, the data transfer is longer.
    assert_eq!(latency_ns("1", all, 80 * 512) - latency_ns("0", all, 80 * 512), TURN_NS);
    // Unless a single sector is enough to start.
    assert_eq!(latency_ns("1", all, 80 * 512) - latency_ns("1", "512 B", 80 * 512), TURN_NS);
}

/// Returns which of these reads, eight sectors each and 40 ms apart, are served from the buffer.
fn hits(parameters: &[(&str, &str)], firsts: &[u64]) -> Vec<bool> {
    let reads: Vec<Request> =
        firsts.iter().map(|first| request(RequestKind::Read, first * 512, 4096)).collect();
    let latencies = drive(&mut disk_with(parameters), &reads, 1, 40_000_000).0;
    latencies.into_iter().map(|ns| ns < 200_000).collect()
}

#[test]
fn reading_ahead_ends_with_the_track_where_a_disk_has_it_so() {
    // With tracks of 1000 sectors: the second and third track, after a read within the first track
    // and after one that continues into the second.
    for (until, within, across) in [
        ("sectors", [true, true, false], [true, true]),
        ("track", [true, false, false], [true, false]),
        ("next-track", [true, false, false], [true, true]),
    ] {
        let of = |firsts: &[u64]| hits(&[("look_ahead_until", until)], firsts)[1..].to_vec();
        assert_eq!([of(&[0, 900]), of(&[0, 1500]), of(&[0, 2500])].concat(), within, "{until}");
        assert_eq!([of(&[996, 1900]), of(&[996, 2500])].concat(), across, "{until}");
    }
}

#[test]
fn a_hit_may_leave_the_head_where_it_stopped() {
    let of =
        |on_hits: &str| hits(&[("look_ahead", "64 KiB"), ("look_ahead_on_hits", on_hits)], &[0, 64, 180]);
    assert_eq!((of("true")[1..].to_vec(), of("false")[1..].to_vec()), (vec![true, true], vec![true, false]));
}

#[test]
fn what_passes_before_a_read_may_be_kept() {
    let of = |keeps: &str| hits(&[("look_ahead", "64 KiB"), ("keeps_passing", keeps)], &[500, 300]);
    assert_eq!((of("true")[1], of("false")[1]), (true, false));
}

#[test]
fn spares_are_slips_in_equal_steps() {
    let requests = random_reads(200, ZONE_BYTES, 3);
    let run = |key: &str, rows: &str| drive(&mut disk_with(&[(key, rows)]), &requests, 1, 0).0;
    let steps = run("spares", "[[0, 1000, 200, 50, 3]]");
    assert_eq!(steps, run("slips", "[[0, 1000, 200], [0, 1050, 200], [0, 1100, 200]]"));
    assert_ne!(steps, run("slips", "[[0, 1000, 200], [0, 1050, 200]]"));
    let mut spec = spec("");
    spec.set("disk.spares", "[[0, 0, 1, 1, 1048577]]").unwrap();
    assert!(Stack::new(&spec, 1).is_err());
}

#[test]
fn what_comes_after_the_data_and_a_late_bus_take_their_time() {
    let latency_ns = |kind: RequestKind, key: &str, time: &str| {
        let mut stack = disk_with(&[("buffer_rate", "10 MB/s"), (key, time)]);
        drive(&mut stack, &[request(kind, 0, 8192)], 1, 0).0[0]
    };
    let added_ns =
        |kind: RequestKind, key: &str| latency_ns(kind, key, "0.3 ms") - latency_ns(kind, key, "0 ms");
    for key in ["read_end", "reconnect", "write_end"] {
        let is_of_writes = u64::from(key == "write_end");
        assert_eq!(added_ns(RequestKind::Write, key), is_of_writes * 300_000, "{key}");
        assert_eq!(added_ns(RequestKind::Read, key), (1 - is_of_writes) * 300_000, "{key}");
    }
}

#[test]
fn only_runs_are_read_ahead_of_where_a_disk_has_it_so() {
    let run: Vec<Request> = (0..3).map(|place| request(RequestKind::Read, place << 16, 1 << 16)).collect();
    let latencies_ns =
        |only: &str| drive(&mut disk_with(&[("look_ahead_of_runs_only", only)]), &run, 1, 5_000_000).0;
    let (any, only) = (latencies_ns("false"), latencies_ns("true"));
    assert!(any[1] < 200_000 && any[2] < 200_000, "{any:?}");
    assert!(only[1] > 200_000 && only[2] < 200_000, "{only:?}");
}

#[test]
fn a_cached_write_may_take_the_memory_of_what_was_read() {
    let requests = [
        request(RequestKind::Read, 0, 65_536),
        request(RequestKind::Write, 1 << 30, 4096),
        request(RequestKind::Read, 65_536, 65_536),
    ];
    let cache = [("write_cache", "true"), ("write_cache_size", "1 MiB")];
    let latency_ns = |empties: &str| {
        let mut stack = disk_with(&[cache[0], cache[1], ("writes_empty_segments", empties)]);
        drive(&mut stack, &requests, 1, 20_000_000).0[2]
    };
    assert!(latency_ns("false") < 200_000 && latency_ns("true") > 1_000_000);
}

#[test]
fn reads_in_a_row_keep_the_arm_from_the_write_cache_that_is_written_once_they_end() {
    let more = "write_cache=true write_cache_size=8_MiB";
    let reads = in_order(RequestKind::Read, 0, 200, 131_072);
    let (_, alone_ns) = drive(&mut disk(more), &reads, 1, 50_000);
    let mut stack = disk(more);
    let writes: Vec<Request> =
        (0..100).map(|place| request(RequestKind::Write, ZONE_BYTES + (place << 20), 65_536)).collect();
    let (_, written_ns) = drive(&mut stack, &writes, 1, 0);
    let (_, end_ns) = drive(&mut stack, &reads, 1, 50_000);
    // The first read waits for the write-back in progress, and the arm comes from far away.
    let longer_ns = end_ns - written_ns - alone_ns;
    assert!(longer_ns < 4 * TURN_NS, "{longer_ns} {alone_ns}");
    assert!(stack.volatile()[0].1.lost_bytes > 4 << 20);
    // No further requests.
    while let Some(wake_ns) = stack.next_wake_ns() {
        stack.advance(wake_ns);
    }
    assert!(stack.volatile().is_empty());
}

#[test]
fn a_write_cache_that_outlasts_a_power_cut_lets_flushes_and_forced_writes_go_at_once() {
    let latencies = |kept: &str| {
        let cache = [("write_cache", "true"), ("write_cache_size", "8 MiB"), ("write_cache_kept", kept)];
        let mut stack = disk_with(&cache);
        let forced = Request { fua: true, ..request(RequestKind::Write, 1 << 30, 4096) };
        let requests = [request(RequestKind::Write, 0, 4096), request(RequestKind::Flush, 0, 0), forced];
        let latencies = drive(&mut stack, &requests, 1, 0).0;
        (latencies, stack.volatile().first().map(|(_, volatile)| *volatile).unwrap_or_default())
    };
    let (kept, lost) = (latencies("true"), latencies("false"));
    assert!(
        kept.0.iter().all(|ns| *ns <= 105_000) && kept.1.lost_bytes == 0 && kept.1.saved_bytes > 0,
        "{kept:?}"
    );
    assert!(lost.0[1] > 1_000_000 && lost.0[2] > 1_000_000 && lost.1.saved_bytes == 0, "{lost:?}");
}

#[test]
fn commands_that_the_write_cache_takes_do_not_hold_up_the_arm() {
    let mut random = Random::new(5, 0);
    let writes: Vec<Request> =
        (0..8000).map(|_| request(RequestKind::Write, random.below(32_768) * 4096, 4096)).collect();
    let end_ns = |overhead: &str| {
        let cache = [("write_cache", "true"), ("write_cache_size", "8 MiB"), ("write_overhead", overhead)];
        let mut stack = disk_with(&cache);
        drive(&mut stack, &writes, 1, 0).1
    };
    let (none_ns, some_ns) = (end_ns("0 ms"), end_ns("0.1 ms"));
    assert!((some_ns as f64 / none_ns as f64 - 1.0).abs() < 0.05, "{some_ns} {none_ns}");
}

#[test]
fn the_medium_takes_no_data_before_the_bus_brought_them() {
    // The medium could take 61 MB/s.
    let mut stack =
        disk_with(&[("buffer_rate", "30 MB/s"), ("write_start", "1"), ("write_start_most", "4096 B")]);
    let writes = in_order(RequestKind::Write, 0, 100, 1 << 20);
    let (_, end_ns) = drive(&mut stack, &writes, 1, 0);
    let rate = f64::from(100 << 20) * 1e9 / end_ns as f64;
    assert!((20e6..30e6).contains(&rate), "{rate}");
}

#[test]
fn a_serpentine_stays_under_one_head_from_cylinder_to_cylinder() {
    // From the first track of a cylinder to the last track of the next.
    let track_bytes = 1000 * 512;
    let requests = [request(RequestKind::Read, 0, 512), request(RequestKind::Read, 7 * track_bytes, 512)];
    let seek_ns = |serpentine: &str| {
        let mut stack = disk_with(&[("head_switch", "5 ms"), ("serpentine", serpentine), ("segments", "0")]);
        drive(&mut stack, &requests, 1, 0);
        stack.take_account().shares.iter().find(|share| share.cause == "seek").map(|share| share.time_ns)
    };
    assert_eq!((seek_ns("true"), seek_ns("false")), (Some(1_000_000), Some(5_000_000)));
}

#[test]
fn a_serpentine_over_zones_counts_cylinders_from_the_first_of_the_disk() {
    // From the second track of a cylinder to the third of the next, which is odd and begins a zone.
    let track_bytes = 1000 * 512;
    let first_of_zone = 9999 * 4 * track_bytes;
    let requests = [
        request(RequestKind::Read, first_of_zone - 3 * track_bytes, 512),
        request(RequestKind::Read, first_of_zone + 2 * 600 * 512, 512),
    ];
    let seek_ns = |over_zones: &str| {
        let words = [
            ("zones", "[[0, 1000], [9999, 600]]"),
            ("head_switch", "5 ms"),
            ("serpentine", "true"),
            ("serpentine_over_zones", over_zones),
            ("segments", "0"),
        ];
        let mut stack = disk_with(&words);
        drive(&mut stack, &requests[..1], 1, 0);
        stack.take_account();
        drive(&mut stack, &requests[1..], 1, 0);
        stack.take_account().shares.iter().find(|share| share.cause == "seek").map(|share| share.time_ns)
    };
    assert_eq!((seek_ns("true"), seek_ns("false")), (Some(1_000_000), Some(5_000_000)));
}

#[test]
fn what_only_reads_need_of_a_move_is_no_part_of_a_write() {
    let seek_ns = |kind: RequestKind, read_settle: &str| {
        let mut stack = disk_with(&[("read_settle", read_settle), ("write_settle", "0.1 ms")]);
        drive(&mut stack, &[request(kind, 5 << 30, 512)], 1, 0);
        let seek = stack.take_account().shares.into_iter().find(|share| share.cause == "seek");
        seek.map_or(0, |share| share.time_ns)
    };
    assert_eq!(seek_ns(RequestKind::Read, "0.3 ms"), seek_ns(RequestKind::Read, "0 ms"));
    assert_eq!(seek_ns(RequestKind::Write, "0.3 ms"), seek_ns(RequestKind::Read, "0 ms") - 300_000 + 100_000);
    // No write arrives before it starts.
    assert_eq!(seek_ns(RequestKind::Write, "1 s"), 100_000);
}

#[test]
fn nothing_begins_while_a_flush_waits() {
    let more = "write_cache=true write_cache_size=8_MiB queue_depth=8";
    let mut stack = disk(more);
    let mut requests = random_reads(32, 10 << 30, 7);
    for request in &mut requests {
        request.kind = RequestKind::Write;
    }
    drive(&mut stack, &requests, 1, 0);
    let (latencies, _) =
        drive(&mut stack, &[request(RequestKind::Flush, 0, 0), request(RequestKind::Read, 0, 4096)], 2, 0);
    assert!(latencies[0] > 50_000_000 && latencies[1] > latencies[0], "{latencies:?}");
}

#[test]
fn sectors_that_are_being_read_are_not_there_yet() {
    let twice = [request(RequestKind::Read, 1 << 30, 65_536); 2];
    let (latencies, _) = drive(&mut disk("queue_depth=2"), &twice, 2, 0);
    assert!(latencies[1] >= latencies[0], "{latencies:?}");
}

#[test]
fn the_age_limit_bounds_the_wait() {
    // Everything is near the start, except one read far away that is never the nearest.
    let mut requests = random_reads(2000, 50 << 20, 5);
    requests[10] = request(RequestKind::Read, ZONE_BYTES + (4 << 30), 4096);
    let longest = |more: &str| {
        let (latencies, _) = drive(&mut disk(more), &requests, 8, 0);
        latencies[10]
    };
    let depth = "queue_depth=8";
    let free_ns = longest(&format!("{depth} age_limit=1_h"));
    let bound_ns = longest(&format!("{depth} age_limit=100_ms"));
    assert!(free_ns > 1_000_000_000 && bound_ns < 150_000_000, "{free_ns} {bound_ns}");
}

#[test]
fn a_stream_that_the_buffer_follows_does_not_starve_another_read() {
    // The stream is read ahead, so each of its reads is reached sooner than the one far away.
    let mut requests: Vec<Request> =
        (0..20_000).map(|index| request(RequestKind::Read, index * 65_536, 65_536)).collect();
    requests[10] = request(RequestKind::Read, ZONE_BYTES + (4 << 30), 4096);
    let longest = |more: &str| drive(&mut disk(more), &requests, 8, 0).0[10];
    let free_ns = longest("queue_depth=8 age_limit=1_h");
    let bound_ns = longest("queue_depth=8 age_limit=100_ms");
    assert!(free_ns > 1_000_000_000 && bound_ns < 150_000_000, "{free_ns} {bound_ns}");
}

#[test]
fn parameters_that_do_not_fit_are_told() {
    let refuse = |line: &str, word: &str| {
        let usual = "heads=1 read_overhead=0_ns write_overhead=0_ns write_piece=0_B cylinders=10";
        let spec = try_device(&[&format!("removable {usual} {line}")]);
        let error = spec.and_then(|spec| Stack::new(&spec, 1)).err();
        let error = error.map(|error| error.what().en.clone()).unwrap_or_default();
        assert!(error.contains(word), "{line}: {error}");
    };
    let line = |rotation: &str, zones: &str, more: &str| format!("rotation={rotation} zones={zones} {more}");
    refuse(&line("0", "[[0,1]]", ""), "rotation");
    refuse(&line("3000", "[]", ""), "zones");
    refuse(&line("3000", "[[0,0]]", ""), "zones");
    refuse(&line("3000", "[[0,5],[10,4]]", ""), "zones");
    refuse(&line("3000", "[[0,5]]", "capacity=1_GiB"), "capacity");
    refuse(&line("3000", "[[0,5]]", "sector=0_B"), "sector");
    refuse(&line("3000", "[[0,5]]", "slips=[[1,0,1]]"), "slips");
    refuse(&line("3000", "[[0,5]]", "zone_skews=[[0,0,0,50,0]]"), "zones");
    refuse(&line("3000", "[[0,5]]", "seek_average=5_ms"), "seek_average");
    refuse(&line("3000", "[[0,5]]", "seek_table=[[0,5]]"), "seek_table");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_faster_than_the_medium(
        seed in any::<u64>(),
        kibibytes in 1u32..600,
        depth in 1usize..6,
        gap_ns in 0u64..3_000_000,
        near in any::<bool>(),
    ) {
        let mut stack = disk("queue_depth=4");
        let mut random = Random::new(seed, 1);
        let length_bytes = kibibytes * 1024;
        let requests: Vec<Request> = (0..100u64)
            .map(|index| {
                let place = if near { index } else { random.below(10_000) };
                let kind = if random.below(4) == 0 { RequestKind::Write } else { RequestKind::Read };
                request(kind, place * u64::from(length_bytes), length_bytes)
            })
            .collect();
        let (_, end_ns) = drive(&mut stack, &requests, depth, gap_ns);
        let track_bytes_per_s = 1000.0 * 512.0 * 1e9 / TURN_NS as f64;
        let rate = 100.0 * f64::from(length_bytes) * 1e9 / end_ns as f64;
        prop_assert!(near || rate <= track_bytes_per_s, "{rate}");
        prop_assert!(!near || rate <= track_bytes_per_s * 1.001, "{rate}");
    }

    #[test]
    fn choosing_is_never_worse_than_the_order_of_arrival(seed in any::<u64>(), depth in 2usize..33) {
        let requests = random_reads(600, 10 << 30, seed);
        let one = drive(&mut disk(""), &requests, depth, 0);
        let many = drive(&mut disk("queue_depth=32"), &requests, depth, 0);
        prop_assert!(mean(&many.0) <= mean(&one.0) * 1.02, "{} {}", mean(&many.0), mean(&one.0));
    }

    /// All requests end and all of their time is accounted for, with any cache and queue.
    #[test]
    fn all_time_is_accounted_for(
        seed in any::<u64>(), depth in 1usize..9, queue in 1u32..9, cached in any::<bool>(), segments in 0u32..4,
    ) {
        let more = format!(
            "queue_depth={queue} write_cache={cached} write_cache_size=512_KiB look_ahead={segments}_KiB"
        );
        let mut stack = disk(&more);
        let mut random = Random::new(seed, 2);
        let requests: Vec<Request> = (0..200)
            .map(|_| {
                use RequestKind::{Flush, Read, Trim, Write};
                let kind = [Read, Write, Read, Write, Flush, Trim][random.below(6) as usize];
                let length_bytes = match kind {
                    Flush => 0,
                    _ => [512, 4096, 65_536, 1 << 20][random.below(4) as usize],
                };
                request(kind, random.below(4000) * 4096, length_bytes)
            })
            .collect();
        drive(&mut stack, &requests, depth, 1000);
        prop_assert_eq!(account(&mut stack).operations, 200);
    }
}
