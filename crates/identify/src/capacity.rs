//! Whether the capacity is real.
//!
//! Written blocks carry their own address. A long range at the end is written, and a block is read
//! in each range of that length before it. If addresses wrap around to the start, whatever the real
//! capacity is, one of these blocks is in the image of the range and carries a foreign address. The
//! distances are multiples of the real capacity. If the range does not hold its data, a grid of
//! blocks finds the end of what does. Blocks are read back after more data than a cache has.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::{FLUSH, Manner, Performed, random_place, read, write};
use crate::survey::Survey;
use kurabe_core::Result;

/// Bounds of the range at the end, and how many such ranges the device has at least.
const SHORTEST_BYTES: u64 = 64 << 20;
const MOST_RANGES: u64 = 8192;
const FEWEST_RANGES: u64 = 16;
const PIECE_BYTES: u64 = 1 << 20;
/// Blocks at random places, and of each grid.
const PLACES: usize = 128;
const GRID: u64 = 64;
/// Grids until the end is located.
const ROUNDS: usize = 5;

pub(crate) fn capacity(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Capacity;
    let span_bytes = survey.facts.span_bytes;
    let block_bytes = survey.block_bytes();
    if !survey.facts.is_device {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::WholeDevice));
    }
    let length_bytes = range_bytes(span_bytes);
    let end_bytes = span_bytes / PIECE_BYTES * PIECE_BYTES;
    let first_bytes = end_bytes - length_bytes;
    let places: Vec<u64> =
        (0..PLACES).map(|_| random_place(&mut survey.random, first_bytes, block_bytes)).collect();
    stamp(survey, &places, block_bytes)?;
    let pieces: Vec<u64> = (first_bytes..end_bytes).step_by(PIECE_BYTES as usize).collect();
    stamp(survey, &pieces, PIECE_BYTES)?;
    survey.forget()?;

    let shift = random_place(&mut survey.random, length_bytes, block_bytes);
    let samples: Vec<u64> = (shift..first_bytes).step_by(length_bytes as usize).collect();
    let images = stamps(survey, &samples)?;
    let foreign =
        samples.iter().zip(&images).filter_map(|(place, stamp)| stamp.map(|stamp| stamp.abs_diff(*place)));
    let distances: Vec<u64> = foreign.filter(|distance| *distance > 0).collect();
    let at_end: Vec<u64> = pieces.iter().copied().step_by((pieces.len() / 64).max(1)).collect();
    let lost_at_end =
        at_end.iter().zip(stamps(survey, &at_end)?).filter(|(place, stamp)| *stamp != Some(**place));
    let lost_at_end = lost_at_end.count();
    let lost =
        places.iter().zip(stamps(survey, &places)?).filter(|(place, stamp)| *stamp != Some(**place)).count();
    let mut evidence = vec![
        EvidenceFigure::count("blocks_read", samples.len() + at_end.len() + places.len()),
        EvidenceFigure::count("foreign_blocks", distances.len()),
        EvidenceFigure::count("lost_blocks", lost + lost_at_end),
    ];
    if !distances.is_empty() {
        let real_bytes = distances.iter().copied().fold(0, greatest_common_divisor);
        let answer =
            PropertyAnswer::FakeCapacity { low_bytes: real_bytes, high_bytes: real_bytes, wraps: true };
        evidence.push(EvidenceFigure::bytes("distance", real_bytes));
        return Ok(PropertyFinding::certain(PROPERTY, answer, evidence));
    }
    if lost + lost_at_end == 0 {
        return Ok(PropertyFinding::certain(PROPERTY, PropertyAnswer::RealCapacity, evidence));
    }
    Ok(match end_of_data(survey, end_bytes, length_bytes)? {
        Some((low_bytes, high_bytes)) => {
            let answer = PropertyAnswer::FakeCapacity { low_bytes, high_bytes, wraps: false };
            PropertyFinding::certain(PROPERTY, answer, evidence)
        }
        None => PropertyFinding::unclear(PROPERTY, evidence, SettledBy::Again),
    })
}

/// Returns the length of the range at the end.
fn range_bytes(span_bytes: u64) -> u64 {
    let length = SHORTEST_BYTES.max(span_bytes / MOST_RANGES).min(span_bytes / FEWEST_RANGES);
    (length / PIECE_BYTES).max(1) * PIECE_BYTES
}

/// Writes blocks that carry their address, and flushes.
fn stamp(survey: &mut Survey<'_>, places: &[u64], length_bytes: u64) -> Result<()> {
    let writes: Vec<_> = places.iter().map(|place| write(*place, length_bytes)).collect();
    for writes in writes.chunks(64) {
        survey.perform(writes, Manner::deep(4).stamped())?;
    }
    survey.perform(&[FLUSH], Manner::PLAIN).map(|_| ())
}

/// Reads blocks and returns the addresses that they carry.
fn stamps(survey: &mut Survey<'_>, places: &[u64]) -> Result<Vec<Option<u64>>> {
    let block_bytes = survey.block_bytes();
    let reads: Vec<_> = places.iter().map(|place| read(*place, block_bytes)).collect();
    let mut stamps = Vec::with_capacity(reads.len());
    for reads in reads.chunks(64) {
        let performed: Vec<Performed> = survey.perform(reads, Manner::deep(8).stamped())?;
        stamps.extend(performed.into_iter().map(|one| one.stamp_bytes));
    }
    Ok(stamps)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Returns the last place that holds data and the first one that does not.
fn end_of_data(survey: &mut Survey<'_>, end_bytes: u64, filler_bytes: u64) -> Result<Option<(u64, u64)>> {
    let block_bytes = survey.block_bytes();
    let (mut low, mut high) = (0, end_bytes);
    for _ in 0..ROUNDS {
        let step = ((high - low) / (GRID + 1) / block_bytes).max(1) * block_bytes;
        let grid: Vec<u64> =
            (1..=GRID).map(|number| low + number * step).filter(|place| *place < high).collect();
        if grid.is_empty() {
            break;
        }
        stamp(survey, &grid, block_bytes)?;
        // More than a cache holds, at the start, where the device surely has memory. The grid may
        // lie there as well, so its part is left out.
        let filler: Vec<u64> =
            (0..filler_bytes.min(low / PIECE_BYTES * PIECE_BYTES)).step_by(PIECE_BYTES as usize).collect();
        stamp(survey, &filler, PIECE_BYTES)?;
        survey.forget()?;
        let holds: Vec<bool> =
            grid.iter().zip(stamps(survey, &grid)?).map(|(place, stamp)| stamp == Some(*place)).collect();
        let first_lost = holds.iter().position(|holds| !holds).unwrap_or(grid.len());
        if holds[first_lost..].contains(&true) {
            return Ok(None);
        }
        high = grid.get(first_lost).copied().unwrap_or(high);
        low = first_lost.checked_sub(1).map_or(low, |last| grid[last]);
    }
    Ok(Some((low, high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_reveal_the_real_capacity() {
        let distances = [12u64 << 30, 8 << 30, 20 << 30];
        assert_eq!(distances.into_iter().fold(0, greatest_common_divisor), 4 << 30);
    }

    #[test]
    fn the_range_at_the_end_is_a_part_of_any_device() {
        for span in [64u64 << 20, 4 << 30, 256 << 30, 20 << 40] {
            let length = range_bytes(span);
            assert!(length <= span / FEWEST_RANGES && span / length <= 8 * MOST_RANGES, "{span}");
        }
    }
}
