//! The requests of fio to a served model, read from its log, and the same requests in virtual time;
//! and the lateness of a bare loop.
//!
//! The model: fio's log (`write_iolog`) has every request in the order of submission. A virtual run
//! sends the same requests with the same number in flight, from several angles of the disk, because
//! that of the served disk is unknown.

use crate::Result;
use crate::serve_client::BLOCK_BYTES;
use kurabe_serve::{USUAL_SPIN_NS, WaitFor, wait_for};
use kurabe_sim::{CompletedRequest, DeviceSpec, Request, RequestKind, Stack};
use std::path::Path;
use std::time::{Duration, Instant};

/// Virtual runs per case, each from a different angle: the random error of their mean is a quarter
/// of that of one.
const TURNS: u64 = 16;
/// Time between the start angles: not a divisor of a usual revolution (8.3, 11.1 and 16.7 ms), so
/// that they are spread over it.
const BETWEEN_TURNS_NS: u64 = 1_300_003;

/// Requests in the order in which fio sent them.
pub(crate) struct Asked(Vec<Request>);

impl Asked {
    /// Returns random reads of a bare client.
    pub(crate) fn reads(places: Vec<u64>) -> Self {
        let read = |place| Request::new(RequestKind::Read, place, BLOCK_BYTES);
        Self(places.into_iter().map(read).collect())
    }

    /// Parses fio's log, version 3: time, file, action, and for requests offset and length.
    pub(crate) fn read(list: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(list)?;
        let mut requests = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [_, _, kind @ ("read" | "write"), offset, length] = words[..] else { continue };
            let kind = if kind == "read" { RequestKind::Read } else { RequestKind::Write };
            requests.push(Request::new(kind, offset.parse()?, length.parse()?));
        }
        if requests.is_empty() { Err("fio's list has no request".into()) } else { Ok(Self(requests)) }
    }
}

/// Returns the rate of the same requests in virtual time, with the same number in flight: the mean
/// over several start angles.
pub(crate) fn in_virtual_time(spec: &DeviceSpec, asked: &Asked, depth: u32) -> Result<f64> {
    let mut took_ns = 0;
    for turn in 0..TURNS {
        let mut stack = Stack::new(spec, 1).map_err(|error| error.to_string())?;
        let begun_ns = turn * BETWEEN_TURNS_NS;
        let mut ended_ns = begun_ns;
        let mut requests = asked.0.iter();
        requests.by_ref().take(depth as usize).for_each(|&request| stack.submit(0, request, begun_ns));
        while let Some(wake_ns) = stack.next_wake_ns() {
            stack.advance(wake_ns);
            while let Some(CompletedRequest { at_ns, .. }) = stack.take_completion() {
                ended_ns = at_ns;
                requests.next().into_iter().for_each(|&request| stack.submit(0, request, at_ns));
            }
        }
        took_ns += ended_ns - begun_ns;
    }
    Ok((TURNS * asked.0.len() as u64) as f64 * 1e9 / took_ns.max(1) as f64)
}

/// Measures the lateness of an ordinary thread that sleeps and spins like the server, with events
/// at this interval. If it is suspended for a while, all events of that time are late, as in a
/// server.
pub(crate) fn bare_lateness_ns(seconds: f64, every: Duration) -> Vec<f64> {
    let start = Instant::now();
    let now_ns = || start.elapsed().as_nanos() as u64;
    let end_ns = (seconds * 1e9) as u64;
    let every_ns = every.as_nanos().max(1) as u64;
    let mut late = Vec::new();
    let mut due_ns = every_ns;
    while due_ns < end_ns {
        loop {
            match wait_for(Some(due_ns), now_ns(), USUAL_SPIN_NS, u64::MAX) {
                WaitFor::Asleep(ns) => std::thread::sleep(Duration::from_nanos(ns)),
                WaitFor::Awake => std::hint::spin_loop(),
                WaitFor::Not => break,
            }
        }
        late.push((now_ns() - due_ns) as f64);
        due_ns += every_ns;
    }
    late
}
