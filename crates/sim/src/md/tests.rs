//! Requests of md to its members, by its documented rules.

use crate::fixture::{account, device, request, run, run_apart, settle};
use crate::layer::Control;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use proptest::prelude::*;

const MEMBER: &str = "constant capacity=256_MiB access=1_ms rate=1000_TB/s parallel=1";
const CHUNK: u64 = 512 << 10;

fn array(level: u64, members: u64, extra: &str) -> Stack {
    let md = format!("md level={level} members={members} {extra}");
    Stack::new(&device(&[&md, MEMBER]), 1).unwrap()
}

fn count(stack: &mut Stack, keys: [&str; 2]) -> (u64, u64) {
    let account = account(stack);
    let [one, other] = keys
        .map(|key| account.counts.iter().find(|count| count.counter == key).map_or(0, |count| count.count));
    (one, other)
}

/// Returns the reads and writes of members that a write at an offset needs.
fn cost(stack: &mut Stack, offset_bytes: u64, bytes: u64) -> (u64, u64) {
    run(stack, &[request(RequestKind::Write, offset_bytes, bytes as u32)], 1);
    count(stack, ["member-reads", "member-writes"])
}

#[test]
fn parity_is_computed_from_whichever_is_fewer_blocks() {
    // A small write, a chunk, most of a row, and a whole row, each to its own row: RAID 5 with 3, 4
    // and 8 members and RAID 6 with 8.
    let rows = |level, members, data: u64| {
        let mut stack = array(level, members, "");
        let row = data * CHUNK;
        let at = |place: u64, bytes: u64, stack: &mut Stack| cost(stack, place * row, bytes);
        [
            at(0, 4096, &mut stack),
            at(1, CHUNK, &mut stack),
            at(2, (data - 1) * CHUNK, &mut stack),
            at(3, row, &mut stack),
        ]
    };
    assert_eq!(rows(5, 3, 2), [(1, 2), (1, 2), (1, 2), (0, 3)]);
    // If both need equally many, the data that stay are read (raid5.c: PARITY_ENABLE_RMW), so two
    // blocks either way.
    assert_eq!(rows(5, 4, 3), [(2, 2), (2, 2), (1, 3), (0, 4)]);
    assert_eq!(rows(5, 8, 7), [(2, 2), (2, 2), (1, 7), (0, 8)]);
    assert_eq!(rows(6, 8, 6), [(3, 3), (3, 3), (1, 7), (0, 8)]);
}

#[test]
fn the_stripe_cache_spares_reading_what_was_just_written() {
    let mut stack = array(5, 8, "stripe_cache=32");
    assert_eq!(cost(&mut stack, 0, 4096), (2, 2));
    assert_eq!(cost(&mut stack, 0, 4096), (0, 2));
    // 32 other heads evict it.
    assert_eq!(cost(&mut stack, 7 << 20, 128 << 10), (2, 2));
    assert_eq!(cost(&mut stack, 0, 4096), (2, 2));
}

#[test]
fn writes_to_a_row_that_is_being_written_are_written_together() {
    let mut stack = array(5, 4, "bitmap=false");
    let writes: Vec<Request> =
        (0..48).map(|index| request(RequestKind::Write, index * (32 << 10), 32 << 10)).collect();
    run(&mut stack, &writes, 48);
    // The first one reads two blocks; the 47 after it fill the rest of the row, and read nothing.
    assert_eq!(count(&mut stack, ["member-reads", "member-writes"]), (2, 2 + 4));
}

#[test]
fn writes_to_a_row_that_waits_for_the_cache_are_written_together() {
    // A row has 128 heads, so the cache has room for one of them. The first row reads the chunk
    // that its first write lacks, and then has that in the cache. All others are complete.
    let mut stack = array(5, 4, "bitmap=false stripe_cache=128");
    let writes: Vec<Request> =
        (0..24).map(|index| request(RequestKind::Write, index * (1 << 20), 1 << 20)).collect();
    run(&mut stack, &writes, 24);
    // The first row is written in two parts, its first two chunks and its third, each with parity.
    assert_eq!(count(&mut stack, ["member-reads", "member-writes"]), (1, 3 + 2 + 15 * 4));
}

#[test]
fn a_deeper_queue_never_slows_sequential_writes_down() {
    for level in [5, 6] {
        let rate = |depth: usize| {
            let mut stack = array(level, 5, "bitmap=false");
            let writes: Vec<Request> =
                (0..192).map(|index| request(RequestKind::Write, index * (1 << 20), 1 << 20)).collect();
            192e9 / *run(&mut stack, &writes, depth).iter().max().unwrap() as f64
        };
        let rates = [1, 2, 4, 8, 16, 32].map(rate);
        // 2 %: the last writes have no others in flight.
        assert!(rates.windows(2).all(|pair| pair[1] >= 0.98 * pair[0]), "RAID {level}: {rates:?}");
    }
}

#[test]
fn a_failed_member_is_computed_and_worked_around() {
    let mut stack = array(5, 4, "bitmap=false");
    let reads = |stack: &mut Stack| {
        run(stack, &[request(RequestKind::Read, 0, 4096), request(RequestKind::Read, CHUNK, 4096)], 1);
        count(stack, ["member-reads", "member-writes"]).0
    };
    assert_eq!(reads(&mut stack), 2);
    // In row 0 the last member has the parity.
    stack.control("md", Control::FailMember(0)).unwrap();
    assert_eq!(reads(&mut stack), 3 + 1);
    assert_eq!(cost(&mut stack, 0, 4096), (2, 1), "what cannot be written is in the parity");
    assert_eq!(cost(&mut stack, CHUNK + 8192, 4096), (2, 2), "others need no data of it");
    stack.control("md", Control::FailMember(1)).unwrap();
    stack.submit(stack.now_ns(), request(RequestKind::Read, 0, 4096), 0);
    settle(&mut stack);
    assert!(stack.take_completion().unwrap().outcome.is_err());
}

#[test]
fn a_clean_part_is_marked_before_it_is_written_and_cleared_after_two_looks() {
    let mut stack = array(1, 2, "bitmap_chunk=64_MiB");
    let mut write_ns = |offset_bytes| {
        let from_ns = stack.now_ns();
        run(&mut stack, &[request(RequestKind::Write, offset_bytes, 4096)], 1)[0] - from_ns
    };
    // A flush, the page, and the write itself; then the write alone, and again all three for
    // another part.
    assert_eq!([write_ns(0), write_ns(4096), write_ns(64 << 20)], [3_000_000, 1_000_000, 3_000_000]);
    settle(&mut stack);
    assert_eq!(stack.now_ns() / 1_000_000_000, 10, "two looks, five seconds apart");
    assert_eq!(count(&mut stack, ["bitmap-writes", "member-reads"]).0, 2);
    let again = run_apart(&mut stack, &[request(RequestKind::Write, 0, 4096)]);
    assert_eq!(again, [3_000_000]);
    let mut without = array(1, 2, "bitmap=false");
    assert_eq!(run_apart(&mut without, &[request(RequestKind::Write, 0, 4096)]), [1_000_000]);
}

#[test]
fn of_copies_the_idle_or_the_nearest_is_read() {
    let reads = |places: &[u64], depth: usize, extra: &str| {
        let mut stack = array(1, 2, extra);
        let places: Vec<Request> =
            places.iter().map(|at| request(RequestKind::Read, at << 20, 4096)).collect();
        run(&mut stack, &places, depth).last().copied().unwrap()
    };
    assert_eq!(reads(&[1, 50, 2, 51], 1, ""), 4_000_000, "one reader has one of them at a time");
    assert_eq!(reads(&[1, 50, 2, 51], 2, ""), 2_000_000, "two readers have both");
    // Both are busy: rotational members are selected by position, others by the number of their
    // requests.
    assert_eq!(
        reads(&[1, 50, 2, 3, 4, 5], 6, ""),
        6_000_000 - 1_000_000,
        "five near one head, one near the other"
    );
    assert_eq!(reads(&[1, 50, 2, 3, 4, 5], 6, "rotational=false"), 3_000_000);
}

#[test]
fn who_reads_on_keeps_the_member() {
    let mut stack = array(1, 2, "");
    let turns: Vec<Request> = (0..40)
        .map(|turn| request(RequestKind::Read, (turn % 2) * (64 << 20) + turn / 2 * 65_536, 65_536))
        .collect();
    // Each of two readers has its own member, so both take half the time of a single member.
    let last_ns = *run(&mut stack, &turns, 2).last().unwrap();
    assert_eq!(last_ns, 20_000_000);
}

#[test]
fn a_rebuild_reads_all_others_fills_the_member_and_ends() {
    for (level, members, reads) in [(1, 2, 1), (10, 4, 1), (5, 4, 3), (6, 6, 5)] {
        let mut stack = array(level, members, "");
        stack.control("md", Control::RebuildMember(1, 0)).unwrap();
        settle(&mut stack);
        let bytes = (256 - 129) << 20;
        let blocks = bytes / (64 << 10);
        let account = stack.take_account();
        let of = |key: &str| account.counts.iter().find(|count| count.counter == key).unwrap().count;
        assert_eq!((of("rebuilt-bytes"), of("member-reads")), (bytes, reads * blocks), "level {level}");
        assert_eq!(of("member-writes"), blocks);
        // It is restored now, so either of the others may fail.
        stack.control("md", Control::FailMember(0)).unwrap();
        assert!(run(&mut stack, &[request(RequestKind::Read, 0, 4096)], 1)[0] > 0);
    }
}

#[test]
fn a_rebuild_keeps_to_its_limit_and_shares_with_others() {
    let rebuilding = |extra: &str| {
        let mut stack = array(1, 2, extra);
        stack.control("md", Control::RebuildMember(1, 0)).unwrap();
        stack
    };
    let rate = |extra: &str| {
        let mut stack = rebuilding(extra);
        while let Some(at_ns) = stack.next_wake_ns().filter(|at_ns| *at_ns < 4_000_000_000) {
            stack.advance(at_ns);
        }
        let seconds = stack.now_ns() as f64 / 1e9;
        count(&mut stack, ["rebuilt-bytes", "member-reads"]).0 as f64 / seconds
    };
    // One block of the new member per millisecond; then 4 MB/s, and more at first because the speed
    // is averaged over whole seconds.
    let (free, limited) = (rate(""), rate("speed_max=4_MB/s"));
    assert!((62e6..65.6e6).contains(&free), "{free}");
    assert!((3.9e6..6e6).contains(&limited), "{limited}");
    // Each read of the 16 concurrent readers shares the member with 32 rebuild blocks: the rebuild
    // waits until those are done, and then starts as many again. That is the rule of the source;
    // what it leaves to others depends on how the member orders its requests.
    let reads: Vec<Request> =
        (0..160).map(|index| request(RequestKind::Read, (index % 7) << 20, 65_536)).collect();
    let read_ns = run(&mut rebuilding(""), &reads, 16).last().unwrap() / 160;
    assert!((2_700_000..3_100_000).contains(&read_ns), "{read_ns}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// For any array in any state, requests end, and their time is accounted for.
    #[test]
    fn nothing_is_lost_whatever_the_array_is(
        (level, members) in prop::sample::select(
            vec![(0u64, 1u64), (0, 3), (1, 2), (1, 3), (5, 3), (5, 5), (6, 4), (6, 7), (10, 4)]),
        state in prop::sample::select(vec!["clean", "degraded", "rebuilding"]),
        chunk in prop::sample::select(vec!["4_KiB", "64_KiB", "512_KiB"]),
        heads in 17u64..300,
        depth in 1usize..9,
        seed in prop::collection::vec((0u64..4000, 1u64..200, 0u64..16), 60),
    ) {
        let state = if level == 0 { "clean" } else { state };
        let mut stack = array(level, members, &format!("state={state} chunk={chunk} stripe_cache={heads}"));
        let requests: Vec<Request> = seed.iter().map(|(place, sectors, kind)| match kind {
            0 => request(RequestKind::Flush, 0, 0),
            1 => request(RequestKind::Trim, place * 4096, 4096),
            2..9 => request(RequestKind::Read, place * 4096, *sectors as u32 * 4096),
            9 => Request { fua: true, ..request(RequestKind::Write, place * 4096 + 512, *sectors as u32 * 512) },
            _ => request(RequestKind::Write, place * 4096, *sectors as u32 * 4096),
        }).collect();
        run(&mut stack, &requests, depth);
        prop_assert_eq!(account(&mut stack).operations, 60);
        settle(&mut stack);
    }
}
