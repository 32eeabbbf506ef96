//! Laws of every stack.

use super::*;
use crate::library::{DEVICES, device_named};
use crate::ranges::Ranges;
use crate::world::RequestKind;

/// A medium that never completes a request, and says what it waits for.
#[derive(Clone)]
struct Stuck;

impl Layer for Stuck {
    fn arrive(&mut self, _job: crate::JobId, _world: &mut World) {}

    fn waits_for(&self) -> Option<Text> {
        Some(text!("its cleaner", "掃除"))
    }
}

const STUCK: LayerKind = LayerKind {
    word: "stuck",
    title: ("stuck", "stuck"),
    of_host: false,
    below: crate::Below::Nothing,
    parameters: &[],
    relations: &[],
    build: |_| Ok(Built::new(Stuck, 1 << 20)),
};

/// Below a host and a cable, which do not hold the requests themselves.
#[test]
fn a_stack_that_is_blocked_names_the_layer_that_keeps_the_requests() {
    let mut spec = device_named("ocz-vertex").unwrap();
    let medium = spec.layers.last_mut().unwrap();
    (medium.kind, medium.name) = (&STUCK, "dies".to_owned());
    (medium.settings, medium.members) = (crate::LayerSettings::default(), Vec::new());
    let mut stack = Stack::new(&spec, 1).unwrap();
    for token in 0..3 {
        stack.submit(0, read(0, 4096), token);
    }
    while let Some(at_ns) = stack.next_wake_ns() {
        stack.check_not_blocked().unwrap();
        stack.advance(at_ns);
    }
    assert_eq!(stack.in_flight(), 3);
    let error = stack.check_not_blocked().unwrap_err();
    assert_eq!(error.what().en, "the model is blocked with 3 requests in flight: dies waits for its cleaner");
}

/// A medium with a bug: it panics on a request of an odd length.
#[derive(Clone)]
struct Odd;

impl Layer for Odd {
    fn arrive(&mut self, job: crate::JobId, world: &mut World) {
        assert!(world.request(job).length_bytes.is_multiple_of(2), "an odd length");
        world.finish_at(world.now_ns() + 10, job);
    }
}

const ODD: LayerKind =
    LayerKind { word: "odd", title: ("odd", "odd"), build: |_| Ok(Built::new(Odd, 1 << 20)), ..STUCK };

#[test]
fn a_layer_that_panics_ends_its_stack_and_no_other() {
    let mut spec = device_named("ideal-ram-disk").unwrap();
    spec.layers.remove(0);
    let medium = &mut spec.layers[0];
    (medium.kind, medium.settings) = (&ODD, crate::LayerSettings::default());
    let mut stack = Stack::new(&spec, 1).unwrap();
    stack.submit(0, read(0, 2), 1);
    let mut other = stack.clone();
    stack.submit(0, read(0, 3), 2);
    stack.submit(5, read(0, 2), 3);
    let ends: Vec<_> = std::iter::from_fn(|| stack.take_completion()).collect();
    let failed = |token| CompletedRequest { token, at_ns: 0, outcome: Err(ErrorNumber::IO) };
    assert_eq!(ends, [failed(1), failed(2), CompletedRequest { at_ns: 5, ..failed(3) }]);
    assert_eq!((stack.in_flight(), stack.next_wake_ns()), (0, None));
    let error = stack.check_not_blocked().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    let expected = "the model has a defect: its layer memory panicked: an odd length";
    assert_eq!(error.what().en, expected);
    other.advance(10);
    assert_eq!(other.take_completion().map(|done| done.outcome), Some(Ok(2)));
}

#[test]
fn times_beyond_all_sense_end_in_an_error_not_in_an_overflow() {
    let mut spec = device_named("ideal-ram-disk").unwrap();
    spec.set("memory.rate", "1 B/s").unwrap();
    spec.set("host.largest_command", "2 GiB").unwrap();
    let mut stack = Stack::new(&spec, 1).unwrap();
    for token in 0..20 {
        stack.submit(stack.now_ns(), read(0, 2 << 30), token);
    }
    while let Some(at_ns) = stack.next_wake_ns() {
        stack.advance(at_ns);
    }
    let error = stack.check_not_blocked().unwrap_err();
    assert!(error.what().en.contains("end of its time range"), "{error}");
    stack.advance(u64::MAX);
    let account = stack.take_account();
    assert_eq!(account.shares.iter().map(|share| share.time_ns).sum::<u64>(), account.latency_ns);
}

fn read(offset_bytes: u64, length_bytes: u32) -> Request {
    Request::new(RequestKind::Read, offset_bytes, length_bytes)
}

#[test]
fn a_medium_with_constant_times_serves_one_after_the_other() {
    let mut stack = Stack::new(&device_named("ideal-ram-disk").unwrap(), 1).unwrap();
    for token in 0..3 {
        stack.submit(0, read(0, 5632), token);
    }
    let mut ends = Vec::new();
    while let Some(at_ns) = stack.next_wake_ns() {
        stack.advance(at_ns);
        ends.extend(std::iter::from_fn(|| stack.take_completion()).map(|done| (done.token, done.at_ns)));
    }
    // 1 µs and 5632 bytes at 5.2 GB/s each.
    assert_eq!(ends, [(0, 2083), (1, 4166), (2, 6249)]);
    let account = stack.take_account();
    assert_eq!((account.operations, account.latency_ns), (3, 12_498));
    assert_eq!(account.shares.iter().map(|share| share.time_ns).sum::<u64>(), 12_498);
    assert_eq!(stack.in_flight(), 0);
}

#[test]
fn a_request_beyond_the_end_fails_and_is_counted() {
    let mut stack = Stack::new(&device_named("ideal-ram-disk").unwrap(), 1).unwrap();
    for (kind, error) in
        [(RequestKind::Read, ErrorNumber::INVALID), (RequestKind::WriteZeroes, ErrorNumber::NO_SPACE)]
    {
        stack.submit(5, Request::new(kind, u64::MAX - 3, 4096), 7);
        let done = stack.take_completion().unwrap();
        assert_eq!((done.token, done.outcome, stack.in_flight()), (7, Err(error), 0));
    }
    assert_eq!(stack.take_account().operations, 2);
}

/// A mix of all kinds of requests on a stack, with a constant number in flight.
#[derive(Clone)]
struct Mix {
    stack: Stack,
    random: Random,
    depth: u64,
    /// Lengths of its requests.
    lengths: [u32; 4],
    fua: bool,
    sent: u64,
    /// Writes by number, from 1.
    writes: Vec<Option<Request>>,
    ends: Vec<CompletedRequest>,
}

impl Mix {
    fn new(name: &str, depth: u64) -> Self {
        let stack = Stack::new(&device_named(name).unwrap(), 1).unwrap();
        let random = Random::new(9, depth);
        let lengths = [512, 4096, 65_536, 1 << 20];
        Self { stack, random, depth, lengths, fua: false, sent: 0, writes: vec![None], ends: Vec::new() }
    }

    fn next(&mut self) -> Request {
        let bytes = self.lengths[self.random.below(4) as usize];
        let places = self.stack.capacity_bytes() / u64::from(bytes);
        let kind = [RequestKind::Read, RequestKind::Write, RequestKind::Read, RequestKind::Flush]
            [self.random.below(4) as usize];
        let bytes = if kind == RequestKind::Flush { 0 } else { bytes };
        let request = Request::new(kind, self.random.below(places) * u64::from(bytes), bytes);
        Request { fua: self.fua, number: self.writes.len() as u64, ..request }
    }

    /// Returns the ranges of the acknowledged writes with this number or a higher one.
    fn acknowledged(&self, number: u64) -> Ranges {
        let ends = self.ends.iter().filter_map(|done| self.writes[done.token as usize + 1].as_ref());
        let writes = ends.filter(|write| write.number >= number);
        writes.map(|write| (write.offset_bytes, write.end_bytes(), number)).collect()
    }

    /// Sends requests until `until` were sent in total; if `to_end`, also waits until all have
    /// returned.
    fn run(&mut self, until: u64, to_end: bool) {
        while self.sent < until || (to_end && (self.ends.len() as u64) < self.sent) {
            while self.sent < until && self.sent - (self.ends.len() as u64) < self.depth {
                let request = self.next();
                self.writes.push((request.kind == RequestKind::Write).then_some(request));
                self.stack.submit(self.stack.now_ns(), request, self.sent);
                self.sent += 1;
            }
            self.stack.check_not_blocked().unwrap();
            if let Some(at_ns) = self.stack.next_wake_ns() {
                assert!(at_ns >= self.stack.now_ns(), "time went back");
                self.stack.advance(at_ns);
            }
            self.ends.extend(std::iter::from_fn(|| self.stack.take_completion()));
        }
    }
}

/// For every device of the library, every request completes, and every nanosecond is accounted for.
#[test]
fn every_device_conserves_requests_and_time() {
    for (name, _) in DEVICES {
        for depth in [1, 4] {
            let mut mix = Mix::new(name, depth);
            mix.run(300, true);
            assert!(mix.ends.iter().all(|done| done.outcome.is_ok()), "{name}");
            let account = mix.stack.take_account();
            assert_eq!(account.operations, 300, "{name}");
            let shares_ns: u64 = account.shares.iter().map(|share| share.time_ns).sum();
            assert_eq!(shares_ns, account.latency_ns, "{name}");
            let lost = account.shares.iter().find(|share| share.cause == "unexplained");
            assert_eq!(lost, None, "{name} at depth {depth}");
        }
    }
}

/// A snapshot is taken during a run, with requests in flight.
#[test]
fn a_clone_of_every_device_goes_on_as_the_original_and_apart_from_it() {
    for (name, _) in DEVICES {
        let mut original = Mix::new(name, 4);
        original.run(120, false);
        assert!(original.stack.in_flight() > 0, "{name}");
        let (mut clone, mut other) = (original.clone(), original.clone());
        // The other one gets different requests, which must not affect the two.
        other.random = Random::new(10, 0);
        other.run(200, true);
        original.run(240, true);
        clone.run(240, true);
        assert_eq!(original.ends, clone.ends, "{name}");
        assert_eq!(original.stack.take_account(), clone.stack.take_account(), "{name}");
        assert_eq!(original.stack.volatile(), clone.stack.volatile(), "{name}");
        assert_ne!(original.ends, other.ends, "{name}");
    }
}

/// At any moment, on every device: the data that a power cut would lose or spare were acknowledged,
/// with a number not above that of the latest write to them, and at the addresses of that write. A
/// stack that was flushed has nothing left to lose.
#[test]
fn a_power_cut_takes_nothing_but_acknowledged_writes() {
    let mut keeps = Vec::new();
    for (name, _) in DEVICES {
        let mut mix = Mix::new(name, 4);
        mix.lengths = [4096, 4096, 65_536, 262_144];
        for sent in 1..=60 {
            mix.run(4 * sent, sent == 60);
            let AtRisk { lost, saved } = mix.stack.at_risk();
            for (from, to, number) in lost.iter().chain(saved.iter()) {
                let acknowledged = Ranges::from_iter(mix.acknowledged(number).within(from, to));
                assert_eq!(acknowledged.bytes(), to - from, "{name}: {from} to {to} since {number}");
            }
            let by_layer: u64 = mix.stack.volatile().iter().map(|(_, sums)| sums.lost_bytes).sum();
            assert!(lost.bytes() <= by_layer, "{name}");
        }
        mix.stack.submit(mix.stack.now_ns(), Request::new(RequestKind::Flush, 0, 0), 1000);
        while mix.stack.take_completion().is_none() {
            mix.stack.advance(mix.stack.next_wake_ns().unwrap());
        }
        if !mix.stack.at_risk().lost.is_empty() {
            keeps.push(*name);
        }
    }
    assert_eq!(keeps, FLUSH_IS_IGNORED);
}

/// Data written with FUA are on the medium when the write is done.
#[test]
fn writes_with_fua_are_never_at_risk() {
    let mut keeps = Vec::new();
    for (name, _) in DEVICES {
        let mut mix = Mix::new(name, 4);
        (mix.lengths, mix.fua) = ([4096, 4096, 65_536, 262_144], true);
        let mut loses = false;
        for sent in 1..=30 {
            mix.run(4 * sent, sent == 30);
            loses |= !mix.stack.at_risk().lost.is_empty();
        }
        if loses {
            keeps.push(*name);
        }
    }
    assert_eq!(keeps, [""; 0]);
}

/// Devices with a bus that does not forward a flush, in front of a cache.
const FLUSH_IS_IGNORED: [&str; 2] = ["rascsi", "rascsi-mac"];

/// Running to a completion is equivalent to advancing step by step through all events up to the
/// time of that completion.
#[test]
fn going_on_to_a_completion_is_advancing_step_by_step() {
    for (name, _) in DEVICES {
        let spec = device_named(name).unwrap();
        let (mut by_steps, mut at_once) = (Stack::new(&spec, 1).unwrap(), Stack::new(&spec, 1).unwrap());
        let places = by_steps.capacity_bytes() / 65_536;
        for token in 0..24 {
            let kind = if token % 3 == 0 { RequestKind::Write } else { RequestKind::Read };
            let request = Request::new(kind, token * 7_919 % places * 65_536, 65_536);
            by_steps.submit(by_steps.now_ns(), request, token);
            at_once.submit(at_once.now_ns(), request, token);
        }
        while by_steps.in_flight() > 0 {
            while let Some(at_ns) = by_steps.next_wake_ns().filter(|_| by_steps.world.completions.is_empty())
            {
                by_steps.advance(at_ns);
            }
            at_once.advance_to_completion(u64::MAX);
            while let Some(completion) = by_steps.take_completion() {
                assert_eq!(at_once.take_completion(), Some(completion), "{name}");
            }
            assert_eq!(at_once.take_completion(), None, "{name}");
            assert_eq!(
                (at_once.now_ns(), at_once.next_wake_ns()),
                (by_steps.now_ns(), by_steps.next_wake_ns()),
                "{name}"
            );
        }
        assert_eq!(at_once.take_sums(), by_steps.take_sums(), "{name}");
    }
}

#[test]
fn trims_and_quick_zeroes_are_where_the_medium_has_a_command_for_them() {
    for (name, trim, zeroes) in [
        ("hitachi-hds721616plat80", false, false),
        ("samsung-fit-plus-exfat", false, false),
        ("samsung-evo-plus-sd", false, false),
        ("iomega-zip100", false, false),
        ("rascsi", false, false),
        ("raid-9260", false, false),
        ("mirror3-usb", false, false),
        ("toshiba-hg2-agta0104", false, false),
        ("toshiba-hg3", true, false),
        ("samsung-870-evo", true, true),
        ("ideal-ram-disk", true, true),
    ] {
        let stack = Stack::new(&crate::load_device(name).unwrap(), 1).unwrap();
        let knows = [RequestKind::Trim, RequestKind::WriteZeroes].map(|kind| stack.knows(kind));
        assert_eq!(knows, [trim, zeroes], "{name}");
    }
}
