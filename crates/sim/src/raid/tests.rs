//! Laws of arrays, and the mechanisms of the card.

use crate::fixture::{self, account, count, request, settle, share, try_device};
use crate::layer::{Control, Volatile};
use crate::spec::{DeviceSpec, MemberSpec};
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::Result;
use kurabe_core::device::ErrorNumber;
use kurabe_core::random::Random;
use proptest::prelude::*;

/// A card with these parameters, one `key = value` per line, above media with constant times.
fn card(parameters: &str, members: u64, access: &str, rate: &str) -> Result<DeviceSpec> {
    let word = |words: &str| words.trim().replace(" = ", "=").replace('"', "").replace(' ', "_");
    let given = parameters.lines().map(word).collect::<Vec<_>>().join(" ");
    let medium = format!("constant capacity=64_MiB access={} rate={}", word(access), word(rate));
    try_device(&[&format!("raid members={members} {given}"), &medium])
}

fn build(parameters: &str, members: u64, access: &str, rate: &str) -> Stack {
    Stack::new(&card(parameters, members, access, rate).unwrap(), 1).unwrap()
}

/// Runs requests, `depth` at a time, and returns the total time.
pub(super) fn run(stack: &mut Stack, depth: usize, requests: &[Request]) -> u64 {
    let start_ns = stack.now_ns();
    fixture::run(stack, requests, depth).into_iter().max().map_or(0, |last_ns| last_ns - start_ns)
}

pub(super) fn sequence(kind: RequestKind, bytes: u32, count: u64) -> Vec<Request> {
    (0..count).map(|index| request(kind, index * u64::from(bytes), bytes)).collect()
}

pub(super) fn scattered(kind: RequestKind, bytes: u32, count: u64, places: u64) -> Vec<Request> {
    let mut random = Random::new(3, count);
    (0..count).map(|_| request(kind, random.below(places) * u64::from(bytes), bytes)).collect()
}

fn volatile(stack: &Stack) -> Volatile {
    stack.volatile().first().map_or(Volatile::default(), |(_, volatile)| *volatile)
}

/// 16 strips over n drives take as long as the drive with most of them.
#[test]
fn a_long_read_takes_as_long_as_the_drive_with_the_most_strips() {
    for members in 1..=8u64 {
        let mut stack = build("level = 0\nlatency = \"70 us\"", members, "0 ns", "65.536 MB/s");
        let took_ns = run(&mut stack, 1, &sequence(RequestKind::Read, 1 << 20, 1));
        assert_eq!(took_ns, 70_000 + 16u64.div_ceil(members) * 1_000_000, "{members} drives");
    }
}

/// An uneven distribution is only counted where an even one would be possible.
#[test]
fn a_request_of_fewer_strips_than_drives_has_no_remainder() {
    let shares = |bytes: u32| {
        let mut stack = build("level = 0", 3, "0 ns", "65.536 MB/s");
        run(&mut stack, 1, &sequence(RequestKind::Read, bytes, 1));
        let account = stack.take_account();
        (count(&account, "most-bytes"), count(&account, "even-bytes"))
    };
    assert_eq!(shares(4096), (0, 0));
    assert_eq!(shares(2 << 16), (0, 0));
    assert_eq!(shares(4 << 16), (2 << 16, (4u64 << 16).div_ceil(3)));
}

#[test]
fn each_strip_costs_the_processor_and_too_many_cost_it_twice() {
    let took_ns = |strip: &str| {
        let costs = "level = 0\nrequest_time = \"10 us\"\nstrip_time = \"1 us\"\nstrips_per_request = 42";
        let mut stack = build(&format!("{costs}\nstrip = \"{strip}\""), 1, "0 ns", "1 GB/s");
        run(&mut stack, 1, &sequence(RequestKind::Read, 1 << 20, 1)) - 1_048_576
    };
    assert_eq!(took_ns("64 KiB"), 10_000 + 16_000);
    assert_eq!(took_ns("8 KiB"), 4 * 10_000 + 128_000);
}

#[test]
fn a_small_write_with_parity_is_four_requests_and_a_whole_row_one_for_each_drive() {
    let operations = |level: u64, offset_bytes: u64, bytes: u32| {
        let mut stack = build(&format!("level = {level}"), 9, "1 ms", "100 MB/s");
        run(&mut stack, 1, &[request(RequestKind::Write, offset_bytes, bytes)]);
        let account = stack.take_account();
        (count(&account, "member-reads"), count(&account, "member-writes"))
    };
    assert_eq!(operations(5, 8192, 4096), (2, 2));
    assert_eq!(operations(6, 8192, 4096), (3, 3));
    assert_eq!(operations(5, 3 * 8 * 65_536, 8 * 65_536), (0, 9));
    assert_eq!(operations(6, 7 * 65_536, 2 * 7 * 65_536), (0, 18));
}

#[test]
fn writes_to_one_row_follow_one_another() {
    let mut stack = build("level = 5", 9, "1 ms", "1000 GB/s");
    let took_ns = run(
        &mut stack,
        2,
        &[request(RequestKind::Write, 0, 4096), request(RequestKind::Write, 65_536, 4096)],
    );
    assert!(took_ns >= 4_000_000, "two reads and two writes in turn, twice: {took_ns}");
    assert!(stack.take_account().shares.iter().any(|share| share.cause == "row-busy"));
}

#[test]
fn mirrored_reads_use_all_copies_and_writes_go_to_all() {
    let mut single = build("level = 0", 1, "1 ms", "100 MB/s");
    let mut mirror = build("level = 1", 2, "1 ms", "100 MB/s");
    for (kind, most, least) in [(RequestKind::Read, 2.0, 1.8), (RequestKind::Write, 1.0, 1.0)] {
        let requests = scattered(kind, 4096, 200, 1000);
        let gain = run(&mut single, 8, &requests) as f64 / run(&mut mirror, 8, &requests) as f64;
        assert!((least..=most + 1e-9).contains(&gain), "{kind:?} {gain}");
    }
    assert_eq!(count(&mirror.take_account(), "member-writes"), 400);
}

const CACHE: &str = "level = 0\ncache = \"7 MiB\"\nwrite_policy = \"always-back\"\nhigh_water = 0.5";

/// The cached part of a written file is its end, and direct reads do not evict it.
#[test]
fn direct_reads_of_a_file_that_was_written_hit_the_share_that_fits() {
    let hit_share = |parameters: &str, mebibytes: u64| {
        let mut stack = build(parameters, 4, "0 ns", "240 MB/s");
        run(&mut stack, 1, &sequence(RequestKind::Write, 1 << 20, mebibytes));
        stack.advance(stack.now_ns() + 20_000_000_000);
        stack.take_account();
        for _ in 0..3 {
            run(&mut stack, 1, &sequence(RequestKind::Read, 1 << 20, mebibytes));
        }
        count(&stack.take_account(), "hit-bytes") as f64 / (3 * (mebibytes << 20)) as f64
    };
    assert_eq!(hit_share(CACHE, 2), 1.0);
    assert_eq!(hit_share(CACHE, 20), 0.35);
    let cached = format!("{CACHE}\nio_policy = \"cached\"");
    assert_eq!(hit_share(&cached, 20), 0.0, "each read pushes out what would be read next");
    assert_eq!(
        hit_share(&CACHE.replace("always-back", "through"), 2),
        0.0,
        "without write-back nothing is ever kept"
    );
}

#[test]
fn cached_reads_are_slower_than_direct_ones() {
    let took_ns = |policy: &str| {
        let parameters = format!("level = 0\ncache = \"4 MiB\"\nio_policy = \"{policy}\"");
        run(&mut build(&parameters, 4, "0 ns", "240 MB/s"), 1, &sequence(RequestKind::Read, 1 << 20, 32))
    };
    assert!(took_ns("cached") > took_ns("direct"));
}

#[test]
fn reading_ahead_helps_runs_and_a_wrong_guess_costs() {
    let took_ns = |policy: &str, requests: &[Request]| {
        let parameters =
            format!("level = 0\ncache = \"8 MiB\"\nlatency = \"50 us\"\nread_policy = \"{policy}\"");
        run(&mut build(&parameters, 4, "100 us", "240 MB/s"), 1, requests)
    };
    let (run, random) =
        (sequence(RequestKind::Read, 65_536, 200), scattered(RequestKind::Read, 4096, 200, 60_000));
    assert!(took_ns("adaptive", &run) * 2 < took_ns("none", &run));
    assert!(took_ns("always", &random) > 2 * took_ns("none", &random));
    assert_eq!(took_ns("adaptive", &random), took_ns("none", &random));
}

#[test]
fn small_writes_in_a_row_become_whole_rows_in_the_memory() {
    let parameters = CACHE.replace("level = 0", "level = 5");
    let mut stack = build(&parameters, 5, "1 ms", "100 MB/s");
    run(&mut stack, 1, &sequence(RequestKind::Write, 4096, 256));
    stack.advance(stack.now_ns() + 20_000_000_000);
    let account = stack.take_account();
    assert_eq!((count(&account, "whole-rows"), count(&account, "partial-rows")), (4, 0));
}

#[test]
fn a_full_memory_is_told_as_such() {
    let mut stack = build(CACHE, 2, "1 ms", "10 MB/s");
    run(&mut stack, 1, &sequence(RequestKind::Write, 1 << 20, 20));
    let account = account(&mut stack);
    assert!(share(&account, "cache-full") > 0.9, "{:?}", account.shares);
    assert!(share(&account, "memory") < 0.1, "{:?}", account.shares);
}

/// A write that bypasses the memory locks the row of a block that waits to be written back.
#[test]
fn writing_back_goes_on_when_its_row_is_free() {
    let parameters = "level = 5\ncache = \"8 KiB\"\nwrite_policy = \"always-back\"\nbattery = false";
    let mut stack = build(parameters, 3, "1 ms", "100 MB/s");
    let past = request(RequestKind::Write, 0, 65_536);
    run(&mut stack, 3, &[past, request(RequestKind::Write, 4096, 4096), request(RequestKind::Flush, 0, 0)]);
    assert_eq!(volatile(&stack), Volatile::default());
}

#[test]
fn a_power_cut_takes_what_no_battery_saves() {
    let volatile_after = |policy: &str, battery: bool, end: &[Request]| {
        let parameters =
            format!("level = 0\ncache = \"8 MiB\"\nwrite_policy = \"{policy}\"\nbattery = {battery}");
        let mut stack = build(&parameters, 4, "1 ms", "100 MB/s");
        run(&mut stack, 1, &sequence(RequestKind::Write, 65_536, 16));
        run(&mut stack, 1, end);
        let volatile = volatile(&stack);
        (volatile.lost_bytes, volatile.saved_bytes)
    };
    let flush = [request(RequestKind::Flush, 0, 0)];
    assert_eq!(volatile_after("back", true, &[]), (0, 1 << 20));
    assert_eq!(volatile_after("always-back", false, &[]), (1 << 20, 0));
    assert_eq!(volatile_after("back", false, &[]), (0, 0), "without a battery it writes through");
    assert_eq!(volatile_after("through", true, &[]), (0, 0));
    assert_eq!(volatile_after("always-back", false, &flush), (0, 0), "a flush waits for the drives");
    assert_eq!(volatile_after("back", true, &flush), (0, 1 << 20), "with a battery there is no need to");
}

/// Reads of a failed member's data take no longer if the others respond in parallel, and cost a
/// read of each.
#[test]
fn an_array_goes_on_without_members_as_long_as_it_can() {
    for (level, members, failing) in
        [(5, 4, vec![1]), (6, 5, vec![0, 3]), (10, 4, vec![0, 3]), (1, 3, vec![0, 2])]
    {
        let mut stack = build(&format!("level = {level}"), members, "1 ms", "100 MB/s");
        let all = sequence(RequestKind::Read, 65_536, 24);
        let healthy_ns = run(&mut stack, 1, &all);
        let healthy = count(&stack.take_account(), "member-reads");
        for member in &failing {
            stack.control("raid", Control::FailMember(*member)).unwrap();
        }
        let degraded_ns = run(&mut stack, 1, &all);
        let degraded = count(&stack.take_account(), "member-reads");
        assert_eq!(healthy, 24, "level {level}");
        assert_eq!(degraded > healthy, level == 5 || level == 6, "level {level}");
        assert!(healthy_ns <= degraded_ns && degraded_ns < 2 * healthy_ns, "level {level}: {degraded_ns}");
        // Everything is written, with one request less for every missing member.
        run(&mut stack, 4, &scattered(RequestKind::Write, 4096, 40, 100));
        run(&mut stack, 4, &sequence(RequestKind::Write, 1 << 20, 4));
        account(&mut stack);
        let last = (0..members as usize).filter(|member| !failing.contains(member));
        for member in last.take(2) {
            stack.control("raid", Control::FailMember(member)).unwrap();
        }
        for kind in [RequestKind::Read, RequestKind::Write, RequestKind::Flush] {
            stack.submit(
                stack.now_ns(),
                request(kind, 0, if kind == RequestKind::Flush { 0 } else { 4096 }),
                0,
            );
            let done = stack.take_completion().map(|done| done.outcome);
            assert_eq!(done, Some(Err(ErrorNumber::IO)), "level {level}");
        }
    }
}

#[test]
fn without_copies_a_failed_member_is_the_end() {
    let mut stack = build("level = 0", 4, "1 ms", "100 MB/s");
    assert!(stack.control("raid", Control::FailMember(4)).unwrap_err().what().en.contains("members 0 to 3"));
    assert!(stack.control("constant", Control::FailMember(0)).unwrap_err().what().en.contains("no members"));
    assert!(stack.control("ride", Control::Wear).is_err());
    stack.control("raid", Control::FailMember(3)).unwrap();
    stack.submit(0, request(RequestKind::Read, 0, 4096), 0);
    assert_eq!(stack.take_completion().map(|done| done.outcome), Some(Err(ErrorNumber::IO)));
}

#[test]
fn unequal_members_count_as_the_smallest() {
    let mut spec = card("level = 5", 3, "1 ms", "100 MB/s").unwrap();
    spec.layers[0].settings.list.retain(|setting| setting.parameter.key != "members");
    let medium = spec.layers.pop().unwrap();
    spec.layers[0].members = vec![MemberSpec { count: 2, layers: vec![medium] }; 2];
    spec.layers[0].members[1].layers[0].name = "smaller".to_owned();
    spec.set("smaller.capacity", "32 MiB").unwrap();
    let stack = Stack::new(&spec, 1).unwrap();
    assert_eq!(stack.capacity_bytes(), 3 * (32 << 20));
}

fn mix(seed: u64, capacity_bytes: u64, count: u64) -> Vec<Request> {
    let mut random = Random::new(seed, 0);
    (0..count)
        .map(|_| {
            let bytes = [512, 4096, 65_536, 300_000][random.below(4) as usize];
            let offset_bytes = random.below((capacity_bytes - bytes) / 512) * 512;
            match random.below(16) {
                0 => request(RequestKind::Flush, 0, 0),
                1 => request(RequestKind::Trim, offset_bytes, bytes as u32),
                2..9 => request(RequestKind::Read, offset_bytes, bytes as u32),
                _ => request(RequestKind::Write, offset_bytes, bytes as u32),
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Striping over n equal drives is never slower than one of them, and never more than n times
    /// as fast.
    #[test]
    fn striping_gains_no_more_than_the_number_of_drives(
        members in 2u64..9,
        depth in 1usize..17,
        bytes in prop::sample::select(vec![4096u32, 65_536, 1 << 20]),
        strip in prop::sample::select(vec![8u64, 64, 1024]),
        scatter: bool,
        kind in prop::sample::select(vec![RequestKind::Read, RequestKind::Write]),
    ) {
        let costs = "latency = \"30 us\"\nrequest_time = \"10 us\"\nstrip_time = \"2 us\"";
        let parameters = format!("level = 0\nstrip = \"{strip} KiB\"\n{costs}");
        let places = (64 << 20) / u64::from(bytes);
        let requests =
            if scatter { scattered(kind, bytes, 64, places) } else { sequence(kind, bytes, 64) };
        let one_ns = run(&mut build(&parameters, 1, "100 us", "250 MB/s"), depth, &requests);
        let all_ns = run(&mut build(&parameters, members, "100 us", "250 MB/s"), depth, &requests);
        prop_assert!(all_ns <= one_ns, "{all_ns} with {members}, {one_ns} with one");
        // Each of 16 transfer times per request may be rounded by half a nanosecond.
        prop_assert!(all_ns * members + 64 * 128 >= one_ns, "{all_ns} with {members}, {one_ns} with one");
    }

    /// Every request completes, every nanosecond has a cause, and written data reach the drives.
    #[test]
    fn nothing_is_lost_whatever_the_card_is(
        (level, members) in prop::sample::select(
            vec![(0u64, 1u64), (0, 4), (1, 2), (1, 3), (5, 3), (5, 9), (6, 4), (6, 7), (10, 6)]),
        strip in prop::sample::select(vec![4u64, 20, 64, 1024]),
        cache in prop::sample::select(vec![0u64, 8, 512, 4096]),
        write in prop::sample::select(vec!["through", "back", "always-back"]),
        io in prop::sample::select(vec!["direct", "cached"]),
        read in prop::sample::select(vec!["none", "always", "adaptive"]),
        memory in prop::sample::select(vec!["2 GB/s", "20 MB/s"]),
        battery: bool,
        depth in 1usize..9,
        seed: u64,
    ) {
        let parameters = format!(
            "level = {level}\nstrip = \"{strip} KiB\"\ncache = \"{cache} KiB\"\nwrite_policy = \"{write}\"\n\
             io_policy = \"{io}\"\nread_policy = \"{read}\"\nbattery = {battery}\nlatency = \"9 us\"\n\
             request_time = \"3 us\"\nstrip_time = \"1 us\"\nmemory_read_rate = \"{memory}\"\n\
             destages = {depth}\nflush_interval = \"30 ms\"",
        );
        let mut stack = build(&parameters, members, "80 us", "200 MB/s");
        let requests = mix(seed, stack.capacity_bytes(), 150);
        run(&mut stack, depth, &requests);
        prop_assert_eq!(account(&mut stack).operations, 150);
        settle(&mut stack);
        prop_assert_eq!(volatile(&stack), Volatile::default());
    }

    /// Data written once are written back once.
    #[test]
    fn what_is_dirty_reaches_the_drives(level in prop::sample::select(vec![0u64, 1, 5, 6, 10]), blocks in 1u64..300) {
        let parameters = CACHE.replace("level = 0", &format!("level = {level}"));
        let mut stack = build(&parameters, 6, "50 us", "200 MB/s");
        run(&mut stack, 4, &sequence(RequestKind::Write, 4096, blocks));
        settle(&mut stack);
        prop_assert_eq!(count(&stack.take_account(), "destaged-bytes"), blocks * 4096);
    }

    /// For any parameters, a card is built or an error says what is wrong.
    #[test]
    fn no_parameters_make_it_panic(
        level in prop::sample::select(vec![0u64, 1, 5, 6, 10, 3]),
        members in prop::sample::select(vec![1u64, 2, 3, 4, 6, 9, 256]),
        strip in prop::sample::select(vec!["0", "4096", "65536", "64 MiB", "15 EiB"]),
        cache in prop::sample::select(vec!["0", "1", "4096", "1 MiB", "15 EiB"]),
        ahead in prop::sample::select(vec!["0", "1", "65536", "64 MiB", "15 EiB"]),
        time in prop::sample::select(vec!["0 ns", "1 ns", "1 s", "100000 h"]),
        rate in prop::sample::select(vec!["1 B/s", "1 GB/s", "15 EB/s"]),
        high_water in prop::sample::select(vec!["0", "0.5", "1", "7"]),
        (count, back) in (prop::sample::select(vec![1u64, 4096]), any::<bool>()),
    ) {
        let write = if back { "always-back" } else { "through" };
        let parameters = format!(
            "level = {level}\nstrip = \"{strip}\"\ncache = \"{cache}\"\nread_ahead = \"{ahead}\"\n\
             read_policy = \"always\"\n\
             latency = \"{time}\"\nrequest_time = \"{time}\"\nstrip_time = \"{time}\"\nparity_rate = \"{rate}\"\n\
             memory_read_rate = \"{rate}\"\nmemory_write_rate = \"{rate}\"\nhigh_water = {high_water}\n\
             strips_per_request = {count}\ndestages = {count}\nflush_interval = \"{time}\"\n\
             write_policy = \"{write}\"\nbattery = false",
        );
        let spec = card(&parameters, members, "1 us", "1 GB/s");
        if let Ok(mut stack) = spec.and_then(|spec| Stack::new(&spec, 1)) {
            let requests = mix(1, stack.capacity_bytes(), 12);
            run(&mut stack, 3, &requests);
        }
    }
}
