//! Random reads over the whole device, and again at the same places.
//!
//! The reads of a slow device come in rounds, in which each place is read once, in another order and
//! after another pause each time. So a place is read again after many others, which a drive's own
//! memory does not outlive, and the time between two reads of a place is random.

use crate::bench::{Manner, Performed, latencies, median, random_place, read};
use crate::survey::Survey;
use kurabe_core::Result;

/// A median below this is too fast for a medium that rotates, so that pauses show nothing.
const FAST_NS: f64 = 1.5e6;
/// Reads of a fast device.
const FAST_READS: usize = 512;
/// Places on a slow device, and how often each is read.
const PLACES: usize = 64;
const ROUNDS: usize = 8;
const FEWEST_ROUNDS: usize = 5;
/// Longest pause before a read: longer than a turn at 6000 revolutions per minute.
const LONGEST_PAUSE_NS: u64 = 10_000_000;
/// Time after which no further round begins.
const LONGEST_NS: f64 = 12e9;

/// Times of random reads.
pub(crate) struct AccessSample {
    /// Latencies of first reads, in ns.
    pub(crate) first: Vec<f64>,
    /// Latencies of the same reads again.
    pub(crate) again: Vec<f64>,
    /// For a slow device, the reads of each place.
    pub(crate) by_place: Vec<Vec<Performed>>,
}

impl AccessSample {
    pub(crate) fn take(survey: &mut Survey<'_>) -> Result<Self> {
        let block_bytes = survey.block_bytes();
        let span_bytes = survey.facts.span_bytes;
        let mut places = |count: usize| -> Vec<u64> {
            (0..count).map(|_| random_place(&mut survey.random, span_bytes, block_bytes)).collect()
        };
        let (slow, more) = (places(PLACES), places(FAST_READS - PLACES));
        let reads = |places: &[u64]| places.iter().map(|place| read(*place, block_bytes)).collect::<Vec<_>>();
        let begun = survey.perform(&reads(&slow), Manner::PLAIN)?;
        let mut first = latencies(&begun);
        if median(&first) >= FAST_NS {
            let by_place = rounds(survey, &slow, begun)?;
            let again = by_place.iter().filter_map(|reads| reads.get(1)).map(Performed::latency_ns).collect();
            return Ok(Self { first, again, by_place });
        }
        first.extend(latencies(&survey.perform(&reads(&more), Manner::PLAIN)?));
        let all = [slow, more].concat();
        let again = latencies(&survey.perform(&reads(&all), Manner::PLAIN)?);
        Ok(Self { first, again, by_place: Vec::new() })
    }
}

/// Reads each place again and again. Returns the reads by place, the given first ones among them.
fn rounds(survey: &mut Survey<'_>, places: &[u64], first: Vec<Performed>) -> Result<Vec<Vec<Performed>>> {
    let block_bytes = survey.block_bytes();
    let begun_ns = first.first().map_or(0, |one| one.start_ns);
    let mut by_place: Vec<Vec<Performed>> = first.into_iter().map(|one| vec![one]).collect();
    for round in 1..ROUNDS {
        let mut order: Vec<usize> = (0..places.len()).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, survey.random.below(place as u64 + 1) as usize);
        }
        let mut last_ns = begun_ns;
        for place in order {
            let pause_ns = survey.random.below(LONGEST_PAUSE_NS);
            survey.rest(pause_ns)?;
            let performed = survey.perform(&[read(places[place], block_bytes)], Manner::PLAIN)?;
            last_ns = performed.iter().map(|one| one.end_ns).max().unwrap_or(last_ns);
            by_place[place].extend(performed);
        }
        if round + 1 >= FEWEST_ROUNDS && last_ns.saturating_sub(begun_ns) as f64 > LONGEST_NS {
            break;
        }
    }
    Ok(by_place)
}
