//! Laws of coarsely mapped flash; the figures of the articles are in `tests/published.rs`.

mod published;

use crate::fixture::{self, request};
use crate::library::device_named;
use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::model::TimeAccount;
use kurabe_core::random::Random;
use proptest::prelude::*;

/// Runs requests on a stack and checks that every nanosecond is accounted for.
struct Driver {
    stack: Stack,
    account: TimeAccount,
}

impl Driver {
    fn new(spec: &DeviceSpec) -> Self {
        Self { stack: Stack::new(spec, 1).unwrap(), account: TimeAccount::default() }
    }

    /// Runs requests with `depth` in flight and `gap_ns` before each. Returns the total time.
    fn run(&mut self, depth: usize, gap_ns: u64, requests: impl IntoIterator<Item = Request>) -> u64 {
        let begin_ns = self.stack.now_ns();
        let (mut requests, mut flying) = (requests.into_iter(), 0);
        loop {
            while flying < depth
                && let Some(request) = requests.next()
            {
                self.stack.submit(self.stack.now_ns() + gap_ns, request, 0);
                flying += 1;
            }
            while let Some(done) = self.stack.take_completion() {
                assert!(done.outcome.is_ok());
                flying -= 1;
            }
            if flying == depth || (flying > 0 && requests.size_hint().1 == Some(0)) {
                self.stack.check_not_blocked().unwrap();
                let at_ns = self.stack.next_wake_ns().unwrap();
                self.stack.advance(at_ns);
            } else if requests.size_hint().1 == Some(0) {
                break;
            }
        }
        self.account = fixture::account(&mut self.stack);
        self.stack.now_ns() - begin_ns
    }

    /// Flushes the device, so that it programs everything.
    fn flush(&mut self) -> u64 {
        self.run(1, 0, [request(RequestKind::Flush, 0, 0)])
    }

    /// Returns the share of a cause in the last run.
    fn share(&self, cause: &str) -> f64 {
        fixture::share(&self.account, cause)
    }
}

fn in_order(kind: RequestKind, from: u64, bytes: u64, block: u32) -> impl Iterator<Item = Request> {
    (0..bytes / u64::from(block)).map(move |index| request(kind, from + index * u64::from(block), block))
}

/// Returns random requests below `span`.
fn scattered(kind: RequestKind, span: u64, block: u32, count: u64, random: &mut Random) -> Vec<Request> {
    let mut place = || random.below(span / u64::from(block)) * u64::from(block);
    (0..count).map(|_| request(kind, place(), block)).collect()
}

/// A bare device of 1 GiB: units of 256 KiB, stripes of 64 KiB, 200 and 100 MB/s, 100 µs; `set`
/// changes parameters.
fn bare(set: &[(&str, &str)]) -> DeviceSpec {
    let flash = "flash-coarse name=flash capacity=1_GiB unit=256_KiB stripe=64_KiB read_rate=200_MB/s \
                 program_rate=100_MB/s access=100_us command=0_ns buffer=64_KiB";
    let mut spec = fixture::device(&[flash]);
    for (key, value) in set {
        spec.set(&format!("flash.{key}"), value).unwrap();
    }
    spec
}

#[test]
fn a_read_between_writes_costs_the_copy_of_what_is_missing() {
    let mut driver = Driver::new(&bare(&[("erase", "1 ms")]));
    let write = |at: u64| request(RequestKind::Write, at << 10, 64 << 10);
    driver.run(1, 0, [write(0)]);
    // 192 KiB are read stripe by stripe and programmed; the program of the written stripe may still
    // be in progress.
    let turn_ns = 3 * 100_000 + (192 << 10) * 5 + (192 << 10) * 10;
    let read_ns = driver.run(1, 0, [request(RequestKind::Read, 512 << 20, 4096)]);
    assert_eq!(read_ns, 1_000_000 + (64 << 10) * 10 + turn_ns + 100_000 + 4096 * 5);
    assert!(driver.share("turn") > 0.5);
    // Without that rule the read waits only for the stripe.
    let mut driver = Driver::new(&bare(&[("read_closes", "false")]));
    driver.run(1, 0, [write(0)]);
    let read_ns = driver.run(1, 0, [request(RequestKind::Read, 512 << 20, 4096)]);
    assert_eq!(read_ns, (64 << 10) * 10 + 100_000 + 4096 * 5);
}

#[test]
fn reads_that_go_on_need_no_access_and_a_write_ends_that() {
    let mut driver = Driver::new(&bare(&[]));
    let read = |index: u64| request(RequestKind::Read, index * 4096, 4096);
    assert_eq!(driver.run(1, 0, [read(0)]), 100_000 + 4096 * 5);
    assert_eq!(driver.run(1, 0, [read(1)]), 4096 * 5);
    driver.run(1, 0, [request(RequestKind::Write, 512 << 20, 256 << 10)]);
    driver.flush();
    assert_eq!(driver.run(1, 0, [read(2)]), 100_000 + 4096 * 5);
}

#[test]
fn a_larger_log_is_never_slower_for_scattered_writes() {
    let mut last_ns = u64::MAX;
    for log in ["0 B", "1 MiB", "4 MiB", "16 MiB", "64 MiB"] {
        let mut driver = Driver::new(&bare(&[("log", log)]));
        let mut random = Random::new(7, 7);
        let now_ns = driver.run(1, 0, scattered(RequestKind::Write, 128 << 20, 4096, 6000, &mut random));
        assert!(now_ns <= last_ns, "{log}: {now_ns} after {last_ns}");
        last_ns = now_ns;
    }
}

#[test]
fn writes_in_order_leave_the_log_though_others_come_between() {
    let mut driver = Driver::new(&bare(&[("log", "4 MiB"), ("superblock", "4 MiB")]));
    let both = |at: u64| {
        [
            request(RequestKind::Write, at, 64 << 10),
            request(RequestKind::Write, (512 << 20) + at % 32_768, 4096),
        ]
    };
    driver.run(1, 0, (0..1024).flat_map(|index| both(index << 16)));
    // The first MiB and the scattered writes stay in the log, which therefore never fills.
    assert_eq!(driver.share("merge"), 0.0);
    // Without them all writes are sequential, and the only copied data are the head of the first
    // superblock.
    assert!(driver.share("complete-unit") < 0.05);
}

#[test]
fn trim_spares_merges_where_the_firmware_takes_it() {
    let merged_share = |trim: &str| {
        let mut driver = Driver::new(&bare(&[("log", "4 MiB"), ("trim", trim)]));
        let mut random = Random::new(7, 7);
        for _ in 0..4 {
            driver.run(1, 0, scattered(RequestKind::Write, 64 << 20, 4096, 900, &mut random));
            driver.run(1, 0, [request(RequestKind::Trim, 0, 64 << 20)]);
        }
        driver.run(1, 0, scattered(RequestKind::Write, 64 << 20, 4096, 900, &mut random));
        driver.share("merge")
    };
    assert!(merged_share("false") > 0.9);
    assert_eq!(merged_share("true"), 0.0);
}

#[test]
fn what_is_not_programmed_is_told() {
    let mut driver = Driver::new(&bare(&[]));
    driver.run(1, 0, [request(RequestKind::Write, 0, 4096)]);
    assert_eq!(driver.stack.volatile()[0].1.lost_bytes, 4096);
    driver.flush();
    assert!(driver.stack.volatile().is_empty());
    // Including the data that the flash was still programming when the flush arrived.
    driver.run(1, 0, [request(RequestKind::Write, 0, 1 << 20)]);
    assert!(driver.stack.volatile()[0].1.lost_bytes > 4096);
    driver.flush();
    assert!(driver.stack.volatile().is_empty(), "{:?}", driver.stack.volatile());
}

#[test]
fn parameters_that_do_not_fit_are_errors() {
    let error = Stack::new(&bare(&[("superblock", "128 KiB")]), 1).err().unwrap();
    assert!(error.what().en.contains("`superblock` is not below `unit`"), "{error}");
}

/// A read, a write, a flush or a trim within 64 MiB.
fn any_request() -> impl Strategy<Value = Request> {
    (0u8..8, 0u64..1000, 1u32..80).prop_map(|(kind, place, length)| match kind {
        0 => request(RequestKind::Flush, 0, 0),
        1 => request(RequestKind::Trim, place << 16, length * 4096),
        2..4 => request(RequestKind::Read, place << 16, length * 4096),
        _ => request(RequestKind::Write, place << 16, length * 4096),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// With any parameters, no request is faster than the flash, and every nanosecond is accounted
    /// for.
    #[test]
    fn nothing_is_faster_than_the_flash(
        requests in prop::collection::vec(any_request(), 1..60), depth in 1usize..5,
        unit in 1u64..2_000_000, stripe in 1u64..300_000, superblock in 0u64..3, log in 0u64..8_000_000,
        buffer in 0u64..2_000_000, read_closes: bool, read_ahead: bool,
    ) {
        let words = [unit, stripe, superblock * 2 * unit, log, buffer].map(|bytes| format!("{bytes} B"));
        let keys = ["unit", "stripe", "superblock", "log", "buffer"];
        let flags = [read_closes.to_string(), read_ahead.to_string()];
        let mut set: Vec<(&str, &str)> = keys.into_iter().zip(words.iter().map(String::as_str)).collect();
        set.extend([("read_closes", flags[0].as_str()), ("read_ahead", flags[1].as_str()), ("trim", "true")]);
        let mut driver = Driver::new(&bare(&set));
        let bytes = |kind: RequestKind| {
            let of_kind = requests.iter().filter(|request| request.kind == kind);
            of_kind.map(|request| u64::from(request.length_bytes)).sum::<u64>()
        };
        let least_ns = bytes(RequestKind::Read) * 5 + bytes(RequestKind::Write) * 10;
        let now_ns = driver.run(depth, 0, requests.iter().copied()) + driver.flush();
        prop_assert!(now_ns + 100 >= least_ns, "{now_ns} {least_ns}");
    }

    /// Writes that straddle units are never faster than writes that fit them.
    #[test]
    fn straddling_is_never_faster(
        places in prop::collection::vec(0u64..500, 1..60), shift in 1u64..256, stripe in 1u64..10,
        superblock in 0u64..3, depth in 1usize..4,
    ) {
        let set = [("stripe", format!("{} KiB", stripe * 32)), ("superblock", format!("{} KiB", superblock * 1024))];
        let time = |shift: u64| {
            let mut driver = Driver::new(&bare(&set.each_ref().map(|(key, value)| (*key, value.as_str()))));
            let write = |place: &u64| request(RequestKind::Write, (place << 18) + (shift << 10), 256 << 10);
            driver.run(depth, 0, places.iter().map(write).collect::<Vec<_>>()) + driver.flush()
        };
        prop_assert!(time(0) <= time(shift));
    }

    /// Absurd parameters give absurd times or an error, but neither a panic nor an endless loop.
    #[test]
    fn absurd_parameters_are_survived(
        picks in prop::collection::vec(0usize..4, 8), times in prop::collection::vec(0usize..3, 3),
        requests in prop::collection::vec(any_request(), 1..6),
    ) {
        let sizes = ["0 B", "1 B", "3 MiB", "15 EiB"];
        let lengths = ["0 ns", "1 ms", "100000 h"];
        let keys = ["unit", "superblock", "stripe", "buffer", "log", "log_granule", "run"];
        let mut spec = bare(&[("read_rate", "1 B/s"), ("program_rate", "1 B/s")]);
        for (key, pick) in keys.into_iter().zip(&picks) {
            let _ = spec.set(&format!("flash.{key}"), sizes[*pick]);
        }
        for (key, pick) in ["access", "erase", "command"].into_iter().zip(&times) {
            let _ = spec.set(&format!("flash.{key}"), lengths[*pick]);
        }
        if let Ok(mut stack) = Stack::new(&spec, 1) {
            for request in &requests {
                stack.submit(0, *request, 0);
            }
            while let Some(at_ns) = stack.next_wake_ns() {
                stack.advance(at_ns);
            }
            // A request that would end after the end of time is reported as blocked.
            let blocked = stack.check_not_blocked().map_err(|error| error.what().en.clone());
            prop_assert!(
                stack.in_flight() == 0 || blocked.is_err_and(|what| what.contains("end of its time range")),
            );
        }
    }

    /// The same seed and requests give the same times.
    #[test]
    fn the_same_twice(requests in prop::collection::vec(any_request(), 1..40)) {
        let time = || {
            let mut driver = Driver::new(&device_named("toshiba-hg3").unwrap());
            driver.run(2, 0, requests.iter().copied())
        };
        prop_assert_eq!(time(), time());
    }
}
