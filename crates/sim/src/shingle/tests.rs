//! Costs of shingled tracks: the cache fills at the sequential rate, and cleaning takes the time to
//! read and write a band.

use crate::fixture::{account, count, request, run, settle, try_device};
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::Result;

/// Transfer time of a band of 32 MiB on the disk below, which has no other delays: 128 MiB/s.
const BAND_NS: u64 = 250_000_000;
const BAND: u64 = 32 << 20;

/// A cache of 64 MiB with `map` entries before 30 bands.
fn shingled(more: &str, map: u64, access: &str) -> Result<Stack> {
    let shingle = format!("shingle cache=64_MiB map={map} band=32_MiB {more}");
    let medium = format!("constant capacity=1_GiB access={access} rate=128_MiB/s");
    Stack::new(&try_device(&[&shingle, &medium])?, 1)
}

fn stack(more: &str) -> Stack {
    shingled(more, 1000, "0_ns").unwrap()
}

fn writes(offsets: impl IntoIterator<Item = u64>, length_bytes: u32) -> Vec<Request> {
    offsets.into_iter().map(|offset| request(RequestKind::Write, offset, length_bytes)).collect()
}

/// Writes a band from its start on.
fn fill(stack: &mut Stack, band: u64) {
    run(stack, &writes((0..32).map(|index| band * BAND + (index << 20)), 1 << 20), 1);
}

#[test]
fn what_goes_on_is_written_once_and_to_its_place() {
    let mut stack = stack("cleaning=full");
    fill(&mut stack, 0);
    fill(&mut stack, 1);
    assert_eq!(stack.now_ns(), 2 * BAND_NS);
    assert_eq!(count(&account(&mut stack), "logged"), 0);
}

#[test]
fn the_cache_fills_at_the_rate_of_a_stream_wherever_writes_go() {
    let mut stack = stack("cleaning=full");
    let scattered = (0..500).map(|index| (index * 7919 % 900) * 1_048_576 + 4096);
    let before_ns = stack.now_ns();
    run(&mut stack, &writes(scattered, 65_536), 1);
    let stream_ns = 500 * BAND_NS / 512;
    assert!((stack.now_ns() - before_ns).abs_diff(stream_ns) < 1000);
}

#[test]
fn a_full_cache_cleans_the_oldest_band_by_reading_and_writing_all_of_it() {
    let mut stack = stack("cleaning=full");
    fill(&mut stack, 3);
    // Writing the band again fills more than half of the cache, so that the next 32 MiB do not fit.
    fill(&mut stack, 3);
    account(&mut stack);
    let before_ns = stack.now_ns();
    run(&mut stack, &writes([BAND * 9 + 4096, BAND * 9 + (40 << 20)], 20 << 20), 1);
    let (took_ns, account) = (stack.now_ns() - before_ns, account(&mut stack));
    assert_eq!(count(&account, "cleaned"), 1);
    // All of it is in the log: it is read there and written to its band, and the two writes follow.
    assert_eq!(took_ns, 2 * BAND_NS + 2 * BAND_NS * 20 / 32);
    let shares = &account.shares;
    assert!(shares.iter().any(|share| share.cause == "room" && share.time_ns == 2 * BAND_NS), "{shares:?}");
}

#[test]
fn small_writes_to_as_many_bands_as_the_map_has_entries_cost_a_band_each() {
    let mut stack = shingled("cleaning=full", 20, "0_ns").unwrap();
    (0..30).for_each(|band| fill(&mut stack, band));
    let before_ns = stack.now_ns();
    run(&mut stack, &writes((0..30).map(|band| band * BAND + 65_536), 4096), 1);
    let took_ns = stack.now_ns() - before_ns;
    assert_eq!(count(&account(&mut stack), "cleaned"), 10);
    let bands = took_ns as f64 / (10 * 2 * BAND_NS) as f64;
    assert!((1.0..1.01).contains(&bands), "{bands}");
}

#[test]
fn an_idle_drive_empties_its_cache_and_one_that_is_asked_pauses() {
    let mut stack = stack("");
    (0..4).for_each(|band| fill(&mut stack, band));
    run(&mut stack, &writes((0..4).map(|band| band * BAND + 65_536), 4096), 1);
    let last_ns = stack.now_ns();
    // During the first band, a read waits for two pieces at most.
    stack.advance(last_ns + 1_000_000_000 + BAND_NS / 2);
    let (before_ns, read) = (stack.now_ns(), request(RequestKind::Read, 9 * BAND, 4096));
    let read_ns = run(&mut stack, &[read], 1)[0] - before_ns;
    assert!(read_ns <= 2 * BAND_NS / 32 + 100_000, "{read_ns}");
    settle(&mut stack);
    assert_eq!(count(&account(&mut stack), "cleaned"), 4);
    // One second after the read it continues, without further interruptions.
    let rest_ns = stack.now_ns() - before_ns - 1_000_000_000;
    assert!((7 * BAND_NS..8 * BAND_NS).contains(&rest_ns), "{rest_ns}");
}

#[test]
fn what_was_logged_is_read_from_the_cache_and_after_cleaning_from_its_band() {
    let mut stack = shingled("", 1000, "1_ms").unwrap();
    fill(&mut stack, 0);
    run(&mut stack, &writes([3 << 20, 1 << 20], 1 << 20), 1);
    let read_ns = |stack: &mut Stack| {
        let before_ns = stack.now_ns();
        run(stack, &[request(RequestKind::Read, 0, 5 << 20)], 1)[0] - before_ns
    };
    let scattered_ns = read_ns(&mut stack);
    settle(&mut stack);
    assert_eq!(scattered_ns - read_ns(&mut stack), 4 * 1_000_000);
}

#[test]
fn a_flush_and_what_asks_for_nothing_go_through() {
    let mut stack = stack("");
    let nothing = [RequestKind::Flush, RequestKind::Read, RequestKind::Write].map(|kind| request(kind, 0, 0));
    assert_eq!(run(&mut stack, &nothing, 1).len(), 3);
}

#[test]
fn what_does_not_fit_is_refused() {
    let error = shingled("capacity=961_MiB", 1000, "0_ns").err().unwrap();
    assert!(error.what().en.contains("bands have"), "{error}");
    assert_eq!(stack("").capacity_bytes(), 30 * BAND);
}
