//! Laws of the whole drive, its mechanisms, and the published figures of the library's drives.

mod published;
mod scatter;
mod today;

use super::config::Config;
use super::layout::steady_share;
use super::store::FlashStore;
use crate::build::{Builder, Register};
use crate::fixture::{account, run_apart};
use crate::layer::Control;
use crate::library::read_device;
use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::model::TimeAccount;
use kurabe_core::random::Random;
use proptest::prelude::*;

/// A drive with MQSim's geometry but without its memory, with changes.
fn drive(changes: &[(&str, &str)]) -> DeviceSpec {
    let mut spec = read_device("drive.toml", include_str!("tests/drive.toml")).unwrap();
    for (key, value) in changes {
        spec.set(&format!("ssd.{key}"), value).unwrap();
    }
    spec
}

fn stack(changes: &[(&str, &str)]) -> Stack {
    Stack::new(&drive(changes), 1).unwrap()
}

/// A load without pauses.
#[derive(Clone, Copy)]
struct Load {
    kind: RequestKind,
    bytes: u32,
    random: bool,
    fua: bool,
    depth: u64,
    requests: u64,
    /// First position of a sequential load, in units of its request size.
    first: u64,
}

impl Load {
    fn reads(bytes: u32, depth: u64, requests: u64) -> Self {
        Self { kind: RequestKind::Read, bytes, random: true, fua: false, depth, requests, first: 0 }
    }

    fn writes(bytes: u32, depth: u64, requests: u64) -> Self {
        Self { kind: RequestKind::Write, ..Self::reads(bytes, depth, requests) }
    }

    fn in_order(self) -> Self {
        Self { random: false, ..self }
    }

    /// Runs the load. Returns bytes per second and the time account.
    fn run(self, stack: &mut Stack) -> (f64, TimeAccount) {
        let capacity_bytes = stack.capacity_bytes();
        self.run_within(stack, capacity_bytes)
    }

    /// Runs the load in the first `span_bytes` of the drive.
    fn run_within(self, stack: &mut Stack, span_bytes: u64) -> (f64, TimeAccount) {
        let places = span_bytes / u64::from(self.bytes);
        let start_ns = stack.now_ns();
        // Different random numbers for every run.
        let mut random = Random::new(5, start_ns);
        let (mut sent, mut done, mut now_ns) = (0, 0, start_ns);
        stack.take_account();
        while done < self.requests {
            while sent < self.requests && sent - done < self.depth {
                let place = if self.random { random.below(places) } else { (self.first + sent) % places };
                let offset_bytes = place * u64::from(self.bytes);
                let length_bytes = if self.kind == RequestKind::Flush { 0 } else { self.bytes };
                // As many threads as tools use, with at most 32 requests each.
                let thread = (sent % self.depth.div_ceil(32)) as u16;
                let request =
                    Request { thread, fua: self.fua, ..Request::new(self.kind, offset_bytes, length_bytes) };
                stack.submit(now_ns, request, sent);
                sent += 1;
            }
            stack.check_not_blocked().unwrap();
            if let Some(at_ns) = stack.next_wake_ns() {
                stack.advance(at_ns);
            }
            while let Some(completion) = stack.take_completion() {
                assert!(completion.outcome.is_ok());
                done += 1;
                now_ns = completion.at_ns;
            }
        }
        let took_s = (now_ns - start_ns).max(1) as f64 / 1e9;
        (self.requests as f64 * f64::from(self.bytes) / took_s, stack.take_account())
    }
}

fn count(account: &TimeAccount, counter: &str) -> f64 {
    account.counts.iter().find(|count| count.counter == counter).map_or(0.0, |count| count.count as f64)
}

fn share(account: &TimeAccount, cause: &str) -> f64 {
    let time_ns = account.shares.iter().find(|share| share.cause == cause).map_or(0, |share| share.time_ns);
    time_ns as f64 / account.latency_ns as f64
}

fn amplification(account: &TimeAccount) -> f64 {
    let written = count(account, "units-written");
    (written + count(account, "units-moved") + count(account, "units-folded")) / written
}

/// One die with many blocks of 128 units, full and in steady state: 512 MiB and 7 %.
const WORN: &[(&str, &str)] = &[
    ("capacity", "512 MiB"),
    ("channels", "1"),
    ("dies", "1"),
    ("planes", "1"),
    ("pages_per_block", "64"),
    ("fill", "1"),
    ("age", "worn"),
    ("idle_after", "1000 s"),
];

fn build_store(spec: &DeviceSpec) -> (Config, FlashStore) {
    let mut register = Register { names: Vec::new(), causes: Vec::new(), counters: Vec::new() };
    let builder = Builder {
        name: "ssd",
        name_place: 0,
        settings: &spec.layers[0].settings,
        below: &[],
        register: &mut register,
        random: Random::new(1, 0),
    };
    let config = Config::new(&builder).unwrap();
    let store = FlashStore::new(&config, Random::new(1, 0));
    (config, store)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn queue_depth_never_lowers_the_rate(
        kind in prop::sample::select(vec![RequestKind::Read, RequestKind::Write]),
        channels in 1u32..6,
        dies in 1u32..5,
        planes in 1u32..3,
        worn in any::<bool>(),
        bytes in prop::sample::select(vec![4096u32, 16_384, 65_536]),
        depth in 1u64..24,
    ) {
        let (channels, dies, planes) = (channels.to_string(), dies.to_string(), planes.to_string());
        let age = if worn { "worn" } else { "new" };
        let changes = [
            ("capacity", "1 GiB"), ("channels", channels.as_str()), ("dies", dies.as_str()),
            ("planes", planes.as_str()), ("fill", "1"), ("age", age), ("pages_per_block", "64"),
            ("idle_after", "1000 s"),
        ];
        let load = Load { kind, ..Load::reads(bytes, depth, 400) };
        let (shallow, _) = load.run(&mut stack(&changes));
        let (deep, _) = Load { depth: depth * 2, ..load }.run(&mut stack(&changes));
        prop_assert!(deep >= shallow * 0.995, "{deep} at {}, {shallow} at {depth}", depth * 2);
    }

    #[test]
    fn no_drive_is_faster_than_its_wires_its_chips_or_its_controller(
        channels in 1u32..5,
        dies in 1u32..5,
        channel_mb in 20u32..400,
        controller_mb in 50u32..2000,
        is_read in any::<bool>(),
        bytes in prop::sample::select(vec![4096u32, 16_384, 131_072]),
        depth in 1u64..33,
    ) {
        let count = channels * dies;
        let (channel_rate, controller_rate) = (format!("{channel_mb} MB/s"), format!("{controller_mb} MB/s"));
        let (channels_word, dies_word) = (channels.to_string(), dies.to_string());
        let changes = [
            ("capacity", "1 GiB"), ("channels", channels_word.as_str()), ("dies", dies_word.as_str()),
            ("channel_rate", channel_rate.as_str()), ("controller_rate", controller_rate.as_str()),
            ("buffer", "256 KiB"), ("pages_per_block", "64"),
        ];
        let load = if is_read { Load::reads(bytes, depth, 500) } else { Load::writes(bytes, depth, 500) };
        let (rate, _) = load.run(&mut stack(&changes));
        let chip_s = if is_read { 75e-6 } else { 750e-6 };
        // Data still in the buffer at the end were not limited by the flash.
        let buffered = if is_read { 0.0 } else { 256.0 * 1024.0 + 16_384.0 };
        let moved = 500.0 * f64::from(bytes);
        let least_s = (moved / (f64::from(controller_mb) * 1e6))
            .max((moved - buffered) / (f64::from(channel_mb * channels) * 1e6))
            .max((moved - buffered) / 16_384.0 * chip_s / f64::from(count));
        prop_assert!(moved / rate >= least_s * 0.999_999, "{rate} B/s");
    }

    /// After any writes, trims and moves, there are as many valid locations as units.
    #[test]
    fn valid_places_are_as_many_as_units(
        fill in prop::sample::select(vec!["0", "0.3", "0.9", "1"]),
        age in prop::sample::select(vec!["new", "worn"]),
        gc in prop::sample::select(vec!["greedy", "cost-benefit"]),
        slc in prop::sample::select(vec!["0 B", "4 MiB"]),
        steps in prop::collection::vec((0u32..100, 0u32..4096, 1u32..400), 1..60),
    ) {
        let spec = drive(&[
            ("capacity", "16 MiB"), ("channels", "1"), ("dies", "2"), ("planes", "1"),
            ("pages_per_block", "16"), ("fill", fill), ("age", age), ("gc", gc), ("slc_dynamic", slc),
        ]);
        let (config, mut store) = build_store(&spec);
        let mut is_mapped: Vec<bool> = (0..4096).map(|unit| unit < config.filled_units).collect();
        for (kind, first, count) in steps {
            for unit in first..(first + count).min(4096) {
                is_mapped[unit as usize] = kind >= 20;
                if kind < 20 {
                    store.trim(unit);
                    continue;
                }
                let (place, _) = store.next_row(unit % 2).or_else(|| store.next_row(1 - unit % 2)).unwrap();
                store.put(unit, place);
            }
            store.background(kind % 2);
            prop_assert_eq!(store.count_valid(), is_mapped.iter().filter(|is_mapped| **is_mapped).count() as u64);
        }
        // Every unit has its own location.
        let mut places: Vec<u32> = (0..4096).filter_map(|unit| match store.find(unit) {
            super::store::UnitPlace::At(place) => Some(place),
            _ => None,
        }).collect();
        let count = places.len();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), count);
    }

    /// No value of a parameter causes a panic or a blocked stack.
    #[test]
    fn any_parameters_are_refused_or_work(
        bytes in prop::collection::vec(
            prop::sample::select(vec!["1 B", "512 B", "4 KiB", "12 KiB", "1 MiB", "64 MiB", "1 GiB", "1000 TiB"]), 8),
        times in prop::collection::vec(prop::sample::select(vec!["0 ns", "1 ns", "1 ms", "1 h"]), 8),
        counts in prop::collection::vec(prop::sample::select(vec!["1", "2", "3", "16"]), 5),
        numbers in prop::collection::vec(prop::sample::select(vec!["0", "0.07", "1", "50"]), 2),
        flags in prop::collection::vec(any::<bool>(), 8),
        seed in any::<u64>(),
    ) {
        let word = |at: usize, yes: &'static str, no: &'static str| if flags[at] { yes } else { no };
        let mut spec = drive(&[]);
        let byte_keys =
            ["capacity", "page", "mapping_unit", "buffer", "mapping_cache", "slc_static", "slc_dynamic", "read_ahead"];
        let time_keys = [
            "read_time",
            "program_time",
            "erase_time",
            "command_time",
            "command_latency",
            "suspend_time",
            "idle_after",
            "slc_program_time",
        ];
        let count_keys = ["channels", "dies", "planes", "pages_per_block", "gc_free_blocks"];
        let pairs = byte_keys.iter().zip(&bytes).chain(time_keys.iter().zip(&times));
        let pairs = pairs.chain(count_keys.iter().zip(&counts));
        for (key, value) in pairs.chain(["over_provisioning", "fill"].iter().zip(&numbers)) {
            // Some are out of the range of one of the keys.
            let _ = spec.set(&format!("ssd.{key}"), value);
        }
        for (key, value) in [
            ("cell", word(0, "tlc", "slc")), ("mapping", word(1, "cached", "full")),
            ("suspend", word(2, "program-and-erase", "none")), ("gc", word(3, "cost-benefit", "greedy")),
            ("age", word(4, "worn", "new")), ("slc_full", word(5, "fold", "direct")),
            ("flush_waits", word(6, "true", "false")), ("unwritten_as_data", word(7, "true", "false")),
        ] {
            spec.set(&format!("ssd.{key}"), value).unwrap();
        }
        let Ok(mut stack) = Stack::new(&spec, 1) else { return Ok(()) };
        let mut random = Random::new(seed, 0);
        for token in 0..60 {
            let bytes = [512u32, 4096, 9000][random.below(3) as usize].min(stack.capacity_bytes() as u32);
            let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Trim, RequestKind::Flush];
            let kind = kinds[random.below(4) as usize];
            let offset_bytes = random.below(stack.capacity_bytes() - u64::from(bytes) + 1);
            let request = Request::new(kind, offset_bytes, bytes);
            stack.submit(stack.now_ns(), request, token);
            while let Some(at_ns) = stack.next_wake_ns() {
                stack.advance(at_ns);
            }
            if let Err(error) = stack.check_not_blocked() {
                // Pages of 1000 TiB take days each.
                prop_assert!(error.what().en.contains("end of its time range"), "{error}");
                return Ok(());
            }
            prop_assert!(stack.take_completion().unwrap().outcome.is_ok());
        }
        let account = stack.take_account();
        // Without any latency, a share of it would be undefined.
        prop_assert!(account.shares.iter().all(|share| share.cause != "unexplained" || share.time_ns == 0));
        prop_assert_eq!(account.shares.iter().map(|share| share.time_ns).sum::<u64>(), account.latency_ns);
    }
}

/// Zeroes for the host pass the controller's memory and take 1 ns at least: time passes although
/// nothing else takes any.
#[test]
fn a_read_of_data_that_are_not_there_takes_the_time_of_zeroes() {
    for (rate, times_ns) in [("4 GB/s", [128, 1024, 262_144]), ("1000 TB/s", [1, 1, 1])] {
        let mut stack = stack(&[
            ("unwritten_as_data", "false"),
            ("controller_rate", rate),
            ("command_time", "0 ns"),
            ("command_latency", "0 ns"),
            ("read_ahead", "0 B"),
        ]);
        let reads = [512, 4096, 1 << 20].map(|bytes| Request::new(RequestKind::Read, 0, bytes));
        assert_eq!(run_apart(&mut stack, &reads), times_ns);
        let trimmed = [RequestKind::Write, RequestKind::Trim].map(|kind| Request::new(kind, 0, 4096));
        run_apart(&mut stack, &trimmed);
        assert_eq!(run_apart(&mut stack, &reads), times_ns, "trimmed");
        account(&mut stack);
    }
}

/// Uniform random writes with greedy collection: see `steady_share`.
#[test]
fn write_amplification_is_that_of_the_closed_form() {
    for over_provisioning in ["0.07", "0.15", "0.28"] {
        let changes = [WORN, &[("over_provisioning", over_provisioning)]].concat();
        let mut stack = stack(&changes);
        let (_, first) = Load::writes(4096, 16, 40_000).run(&mut stack);
        let (_, account) = Load::writes(4096, 16, 160_000).run(&mut stack);
        let blocks = (1024.0 * (1.0 + over_provisioning.parse::<f64>().unwrap())).ceil();
        // Two blocks are kept free, and two are open and half full on average.
        let spread = (blocks - 3.0) / 1024.0;
        let expected = 1.0 / (1.0 - steady_share(spread, 128));
        let factor = amplification(&account);
        assert!((factor / expected - 1.0).abs() < 0.05, "{over_provisioning}: {factor}, expected {expected}");
        // The drive was in steady state from the start, without any writes.
        let first = amplification(&first);
        assert!((first / expected - 1.0).abs() < 0.1, "{over_provisioning}: {first} at first, {expected}");
    }
}

#[test]
fn amplification_is_at_least_one_and_less_with_trim_and_with_more_spare() {
    let run = |spare: &str, trimmed: bool| {
        let mut stack = stack(&[WORN, &[("over_provisioning", spare)]].concat());
        if trimmed {
            for part in 0..8 {
                let offset_bytes = part * (32 << 20);
                let request = Request::new(RequestKind::Trim, offset_bytes, 8 << 20);
                stack.submit(stack.now_ns(), request, 0);
                while let Some(at_ns) = stack.next_wake_ns() {
                    stack.advance(at_ns);
                }
                stack.take_completion();
            }
        }
        amplification(&Load::writes(4096, 16, 20_000).run(&mut stack).1)
    };
    let (plain, trimmed, spare) = (run("0.07", false), run("0.07", true), run("0.28", false));
    assert!(1.0 <= trimmed && trimmed < plain * 0.8, "{trimmed} trimmed, {plain} not");
    assert!(1.0 <= spare && spare < plain * 0.5, "{spare} with more spare, {plain} with little");
}

#[test]
fn age_counts_where_a_part_is_written_more_often() {
    let run = |gc: &str| {
        let mut stack = stack(&[WORN, &[("gc", gc), ("over_provisioning", "0.15")]].concat());
        let (mut random, mut now_ns) = (Random::new(1, 1), 0);
        for _ in 0..150_000 {
            let hot = random.below(10) > 0;
            let place = if hot { random.below(13_107) } else { 13_107 + random.below(117_964) };
            let offset_bytes = place * 4096;
            let request = Request::new(RequestKind::Write, offset_bytes, 4096);
            stack.submit(now_ns, request, 0);
            while let Some(at_ns) = stack.next_wake_ns() {
                stack.advance(at_ns);
            }
            now_ns = stack.take_completion().unwrap().at_ns;
        }
        amplification(&stack.take_account())
    };
    let (greedy, by_age) = (run("greedy"), run("cost-benefit"));
    assert!(by_age < greedy, "{by_age} by age, {greedy} greedily");
}

#[test]
fn a_write_is_done_in_the_buffer_and_a_flush_waits_for_the_flash() {
    let mut stack = stack(&[("buffer", "1 MiB")]);
    let (_, account) = Load::writes(4096, 1, 16).run(&mut stack);
    assert!(account.latency_ns / 16 < 10_000, "{} ns", account.latency_ns / 16);
    assert!(stack.volatile()[0].1.lost_bytes >= 16 * 4096);
    let (_, account) = Load { kind: RequestKind::Flush, ..Load::writes(4096, 1, 1) }.run(&mut stack);
    assert!(stack.volatile().is_empty(), "{:?}", stack.volatile());
    // The data, then the table that locates them.
    assert!(account.latency_ns > 2 * 750_000, "{account:?}");
    assert!(share(&account, "flash-write") > 0.45 && share(&account, "saving") > 0.45, "{account:?}");
    let (_, account) = Load { kind: RequestKind::Flush, ..Load::writes(4096, 1, 1) }.run(&mut stack);
    assert!(account.latency_ns < 10_000, "nothing was written since: {account:?}");
    let mut stack = self::stack(&[("buffer", "0 B")]);
    let (_, account) = Load::writes(4096, 1, 16).run(&mut stack);
    assert!((750_000..1_500_000).contains(&(account.latency_ns / 16)));
}

#[test]
fn durable_writes_wait_for_flash_and_table_unless_capacitors_keep_both() {
    let requests_per_s = |changes: &[(&str, &str)], depth| {
        let mut stack = stack(changes);
        let load = Load { fua: true, ..Load::writes(4096, depth, 64) };
        load.run(&mut stack).0 / 4096.0
    };
    let consumer = requests_per_s(&[("buffer", "1 MiB")], 1);
    assert!(consumer < 1e9 / (2.0 * 750_000.0), "{consumer}");
    // Flushes that arrive during a save share the next one.
    assert!(requests_per_s(&[("buffer", "1 MiB")], 8) > 3.0 * consumer);
    assert!(requests_per_s(&[("buffer", "1 MiB"), ("save_time", "3 ms")], 1) < 0.5 * consumer);
    // The save after a write with FUA has a time of its own.
    assert!(requests_per_s(&[("buffer", "1 MiB"), ("fua_save_time", "3 ms")], 1) < 0.5 * consumer);
    let both = [("buffer", "1 MiB"), ("save_time", "3 ms"), ("fua_save_time", "750 us")];
    assert!((requests_per_s(&both, 1) / consumer - 1.0).abs() < 0.01);
    assert!(requests_per_s(&[("buffer", "1 MiB"), ("power_loss_protection", "true")], 1) > 50.0 * consumer);
}

#[test]
fn a_read_waits_for_a_program_unless_it_can_interrupt_it() {
    let run = |suspend: &str| {
        let changes = [
            ("channels", "1"),
            ("dies", "1"),
            ("suspend", suspend),
            ("capacity", "1 GiB"),
            ("read_ahead", "0 B"),
        ];
        let mut stack = stack(&changes);
        Load::writes(65_536, 1, 4).in_order().run(&mut stack);
        Load::reads(4096, 1, 1).run(&mut stack).1.latency_ns
    };
    let (waiting, suspending) = (run("none"), run("program"));
    assert!(suspending < 150_000, "{suspending} ns");
    assert!(waiting > suspending + 100_000, "{waiting} ns, {suspending} ns");
}

#[test]
fn what_is_still_in_the_buffer_is_read_from_there() {
    let mut stack = stack(&[("read_ahead", "0 B")]);
    Load::writes(4096, 1, 2).in_order().run(&mut stack);
    let (_, account) = Load::reads(4096, 1, 2).in_order().run(&mut stack);
    assert_eq!(count(&account, "buffer-hits"), 2.0);
    assert!(account.latency_ns / 2 < 20_000);
}

#[test]
fn a_mapping_cache_that_misses_costs_a_read_of_flash() {
    let changes = [("mapping", "cached"), ("read_ahead", "0 B")];
    let (_, account) = Load::reads(4096, 1, 300).run(&mut stack(&changes));
    assert!(count(&account, "mapping-misses") > 290.0);
    assert!(share(&account, "mapping") > 0.4);
    let (_, ideal) = Load::reads(4096, 1, 300).run(&mut stack(&[("read_ahead", "0 B")]));
    assert!(account.latency_ns > ideal.latency_ns + 300 * 75_000);
}

#[test]
fn an_slc_cache_is_fast_until_it_is_full_and_recovers_in_idle_time() {
    let changes = [
        ("capacity", "1 GiB"),
        ("cell", "tlc"),
        ("pages_per_block", "48"),
        ("program_time", "900 us"),
        ("slc_program_time", "100 us"),
        ("slc_dynamic", "128 MiB"),
        ("buffer", "1 MiB"),
        ("idle_after", "1 ms"),
    ];
    for full in ["direct", "fold"] {
        let mut stack = stack(&[&changes[..], &[("slc_full", full)]].concat());
        let load = Load::writes(131_072, 4, 800).in_order();
        let (fast, _) = load.run(&mut stack);
        Load { first: 800, requests: 1200, ..load }.run(&mut stack);
        let (slow, account) = Load { first: 2000, ..load }.run(&mut stack);
        assert!(slow < fast / 2.0, "{full}: {slow} B/s full, {fast} B/s empty");
        assert_eq!(count(&account, "units-folded") > 0.0, full == "fold");
        let rested_ns = stack.now_ns() + 60_000_000_000;
        stack.advance(rested_ns);
        let (again, account) = Load { first: 2800, ..load }.run(&mut stack);
        assert!(again > fast * 0.8, "{full}: {again} B/s after a rest, {fast} B/s at first");
        assert!(count(&account, "units-folded") > 0.0);
    }
}

#[test]
fn a_run_of_reads_is_read_ahead() {
    let rate = |read_ahead: &str| {
        let changes = [("fill", "0.01"), ("read_ahead", read_ahead)];
        Load::reads(16_384, 1, 200).in_order().run(&mut stack(&changes)).0
    };
    assert!(rate("256 KiB") > 2.0 * rate("0 B"));
}

#[test]
fn kinds_of_pages_have_read_times_of_their_own() {
    let mut stack = stack(&[("page_read_times", "[[40], [65]]"), ("read_ahead", "0 B")]);
    let (_, account) = Load::reads(4096, 1, 1000).run(&mut stack);
    let mean_us = share(&account, "flash-read") * account.latency_ns as f64 / 1e6;
    assert!((50.0..55.0).contains(&mean_us), "{mean_us} us");
}

#[test]
fn the_same_seed_gives_the_same_account() {
    let run = || Load::writes(4096, 8, 3000).run(&mut stack(WORN)).1;
    assert_eq!(run(), run());
}

/// Without any writes, the next ones incur as many collections as on a drive that was built in
/// steady state.
#[test]
fn wear_is_what_a_worn_drive_is_built_with() {
    let (built, mut fresh) = (drive(WORN), drive(WORN));
    fresh.set("ssd.age", "new").unwrap();
    let moved = |spec: &DeviceSpec, wear: bool| {
        let mut stack = Stack::new(spec, 1).unwrap();
        if wear {
            stack.control("ssd", Control::Wear).unwrap();
        }
        let mut random = Random::new(5, 5);
        for token in 0..3000 {
            let offset_bytes = random.below(1 << 14) * 16_384;
            stack.submit(stack.now_ns(), Request::new(RequestKind::Write, offset_bytes, 16_384), token);
            while stack.take_completion().is_none() {
                stack.advance(stack.next_wake_ns().unwrap());
            }
        }
        let account = stack.take_account();
        account.counts.iter().find(|count| count.counter == "units-moved").map_or(0, |count| count.count)
    };
    assert_eq!(moved(&fresh, true), moved(&built, false));
    assert!(moved(&fresh, false) < moved(&built, false));
}
