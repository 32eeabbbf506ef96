//! Requests that a model serves per second of CPU time.
//!
//! The model: each case builds its device, keeps a constant number of requests in flight in virtual
//! time, and counts the CPU time of this process. The first tenth of the requests is not counted,
//! so that maps and caches have reached their size. The figure is the median over the rounds. A new
//! case is a line in [`CASES`].
//!
//! A second table has the time to build the stack of each device of the library, without the data
//! of a record.

use crate::Result;
use crate::options::Flags;
use crate::statistics::{median, spread};
use crate::table::{figure, layout};
use kurabe_core::random::Random;
use kurabe_sim::{DEVICES, DeviceSpec, Request, RequestKind, Stack, load_device};
use rustix::time::{ClockId, clock_gettime};
use std::io::Write;
use std::time::Instant;

const HELP: &str = "flags: --requests N (2000000)  --rounds N (5)";

/// A model, its requests, and the promised speed.
pub struct Case {
    /// Name in the table.
    pub name: &'static str,
    /// A device of the library, or a file in `benches/devices`.
    pub device: &'static str,
    /// Parameters to change: `("ssd.over_provisioning", "0.07")`.
    pub set: &'static [(&'static str, &'static str)],
    /// Read or write.
    pub kind: RequestKind,
    /// Bytes per request.
    pub bytes: u32,
    /// Whether requests are random over the whole device, instead of sequential.
    pub random: bool,
    /// Requests in flight.
    pub depth: u64,
    /// Promised requests per second of CPU time.
    pub target_per_s: f64,
}

/// The measured cases.
pub const CASES: &[Case] = &[
    Case {
        name: "hard disk random 4 KiB read",
        device: "hard-disk.toml",
        set: &[],
        kind: RequestKind::Read,
        bytes: 4096,
        random: true,
        depth: 1,
        target_per_s: 1e6,
    },
    Case {
        name: "RAID 5 of nine disks, random 4 KiB write",
        device: "raid5-nine-disks.toml",
        set: &[],
        kind: RequestKind::Write,
        bytes: 4096,
        random: true,
        depth: 16,
        target_per_s: 2e5,
    },
    Case {
        name: "SSD random 4 KiB read",
        device: "mqsim-512g",
        set: &[],
        kind: RequestKind::Read,
        bytes: 4096,
        random: true,
        depth: 16,
        target_per_s: 1e6,
    },
    Case {
        name: "SSD random 4 KiB read, mapping cache misses",
        device: "mqsim-512g",
        set: &[("ssd.mapping", "cached")],
        kind: RequestKind::Read,
        bytes: 4096,
        random: true,
        depth: 16,
        target_per_s: 3e5,
    },
    // Full, and in steady state: every write incurs garbage collection.
    Case {
        name: "SSD random 4 KiB write, full, 7 % spare",
        device: "mqsim-512g",
        set: &[("ssd.fill", "1"), ("ssd.age", "worn")],
        kind: RequestKind::Write,
        bytes: 4096,
        random: true,
        depth: 16,
        target_per_s: 4e5,
    },
    Case {
        name: "SSD sequential 128 KiB read",
        device: "mqsim-512g",
        set: &[],
        kind: RequestKind::Read,
        bytes: 131_072,
        random: false,
        depth: 16,
        target_per_s: 3e5,
    },
    Case {
        name: "SSD sequential 128 KiB write",
        device: "mqsim-512g",
        set: &[],
        kind: RequestKind::Write,
        bytes: 131_072,
        random: false,
        depth: 16,
        target_per_s: 3e5,
    },
];

/// Promised times to build a stack: with a page-mapped SSD, which has tables of all its blocks, and
/// without.
const BUILD_US: (f64, f64) = (200.0, 50.0);

/// Options of the bench.
pub struct Options {
    /// Requests per round.
    pub requests: u64,
    /// Number of rounds; the median counts.
    pub rounds: u32,
}

/// Result of a round of a case.
struct Round {
    start_ms: f64,
    requests_per_s: f64,
}

/// Measures and prints everything.
///
/// # Errors
/// Returns an error if a device cannot be built, or its model fails.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<()> {
    let head = ["requests per CPU second", "median", "spread", "promised", "start ms"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for case in CASES {
        let rounds = (0..options.rounds.max(1))
            .map(|_| measure(case, options.requests))
            .collect::<Result<Vec<_>>>()?;
        let rates: Vec<f64> = rounds.iter().map(|round| round.requests_per_s).collect();
        let starts: Vec<f64> = rounds.iter().map(|round| round.start_ms).collect();
        rows.push(vec![
            case.name.to_owned(),
            figure(median(&rates), 0),
            format!("{} %", figure(spread(&rates) * 100.0, 0)),
            format!(
                "{:.0}{}",
                case.target_per_s,
                if median(&rates) < case.target_per_s { " MISSED" } else { "" }
            ),
            figure(median(&starts), 1),
        ]);
    }
    write!(out, "{}", layout(&rows))?;
    writeln!(out, "\n{}", layout(&builds(options.rounds)?))?;
    let most_mib = most_memory_kib()? / 1024;
    Ok(writeln!(
        out,
        "{} requests a round, {} rounds; most memory: {most_mib} MiB",
        options.requests, options.rounds
    )?)
}

/// Measures the time to build each stack: the median of ten builds per round.
fn builds(rounds: u32) -> Result<Vec<Vec<String>>> {
    let mut rows = vec![["built", "us", "promised"].map(str::to_owned).to_vec()];
    for (name, _) in DEVICES {
        let spec = load_device(name).map_err(|error| error.what().en.clone())?;
        let times = (0..rounds.max(1) * 10).map(|_| {
            let started = Instant::now();
            let stack = Stack::new(&spec, 1).map_err(|error| error.what().en.clone())?;
            let took = started.elapsed();
            drop(stack);
            Ok(took.as_secs_f64() * 1e6)
        });
        let us = median(&times.collect::<Result<Vec<f64>>>()?);
        let has_ssd = spec.all_layers().iter().any(|layer| layer.kind.word == "ssd");
        let promised = if has_ssd { BUILD_US.0 } else { BUILD_US.1 };
        let missed = if us > promised { " MISSED" } else { "" };
        rows.push(vec![(*name).to_owned(), figure(us, 1), format!("{promised:.0}{missed}")]);
    }
    Ok(rows)
}

fn measure(case: &Case, requests: u64) -> Result<Round> {
    let before_ns = cpu_ns();
    let mut stack = Stack::new(&spec(case)?, 1).map_err(|error| error.what().en.clone())?;
    let start_ms = (cpu_ns() - before_ns) as f64 / 1e6;
    let mut load = Load {
        case,
        places: stack.capacity_bytes() / u64::from(case.bytes),
        random: Random::new(1, 0),
        sent: 0,
    };
    let warm_up = requests / 10;
    load.run(&mut stack, warm_up)?;
    let before_ns = cpu_ns();
    load.run(&mut stack, requests)?;
    let took_ns = (cpu_ns() - before_ns).max(1);
    Ok(Round { start_ms, requests_per_s: requests as f64 * 1e9 / took_ns as f64 })
}

/// Returns the requests per second of virtual time.
///
/// # Errors
/// Returns an error if the device cannot be built, or its model fails.
pub fn requests_per_s(case: &Case, requests: u64) -> Result<f64> {
    let mut stack = Stack::new(&spec(case)?, 1).map_err(|error| error.what().en.clone())?;
    let places = stack.capacity_bytes() / u64::from(case.bytes);
    Load { case, places, random: Random::new(1, 0), sent: 0 }.run(&mut stack, requests)?;
    Ok(requests as f64 * 1e9 / stack.now_ns().max(1) as f64)
}

fn spec(case: &Case) -> Result<DeviceSpec> {
    let own = format!("{}/devices/{}", env!("CARGO_MANIFEST_DIR"), case.device);
    let name = if case.device.ends_with(".toml") { own.as_str() } else { case.device };
    let mut spec = load_device(name).map_err(|error| error.what().en.clone())?;
    for (path, value) in case.set {
        spec.set(path, value).map_err(|error| error.what().en.clone())?;
    }
    Ok(spec)
}

/// Generator of the requests of a case.
struct Load<'a> {
    case: &'a Case,
    places: u64,
    random: Random,
    sent: u64,
}

impl Load<'_> {
    fn next(&mut self) -> Request {
        let place = if self.case.random { self.random.below(self.places) } else { self.sent % self.places };
        self.sent += 1;
        Request::new(self.case.kind, place * u64::from(self.case.bytes), self.case.bytes)
    }

    /// Sends this many requests and waits for all of them.
    fn run(&mut self, stack: &mut Stack, requests: u64) -> Result<()> {
        let (mut to_send, mut to_end) = (requests, requests);
        while to_send > 0 && requests - to_send < self.case.depth {
            to_send -= 1;
            stack.submit(stack.now_ns(), self.next(), 0);
        }
        while to_end > 0 {
            while let Some(done) = stack.take_completion() {
                if done.outcome.is_err() {
                    return Err(format!("{}: a request failed", self.case.name).into());
                }
                to_end -= 1;
                if to_send > 0 {
                    to_send -= 1;
                    stack.submit(done.at_ns, self.next(), 0);
                }
            }
            match stack.next_wake_ns() {
                Some(at_ns) if to_end > 0 => stack.advance(at_ns),
                Some(_) => {}
                None => stack.check_not_blocked().map_err(|error| error.what().en.clone())?,
            }
        }
        Ok(())
    }
}

/// Returns the peak memory of this process. That of getrusage would include the memory of the
/// parent process.
fn most_memory_kib() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("/proc/self/status lacks VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// Returns the CPU time of this process, user and system.
fn cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns the errors of [`run`], and an error for invalid flags.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["requests", "rounds"], &[], HELP)?;
    let mut options = Options { requests: 2_000_000, rounds: 5 };
    flags.set("requests", &mut options.requests)?;
    flags.set("rounds", &mut options.rounds)?;
    run(&options, out)
}
