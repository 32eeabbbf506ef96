//! The time of a command and of its bytes, and whether several commands can be in flight.
//!
//! The time of a read of 4 KiB is that of a command and few bytes. The difference between larger
//! reads is that of their bytes, at the rate of what is slowest; between the two, commands and bytes
//! overlap. Reads of the same place come first, because a drive with a memory answers them without
//! its medium. Where the differences do not agree, sequential reads follow. A link is at least as
//! fast as the fastest rate.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, Settling};
use crate::bench::{Manner, Performed, elapsed_ns, latencies, mean, random_place, read};
use crate::survey::Survey;
use kurabe_core::Result;

/// Sizes of the reads, in units of 4 KiB. The last three show the rate.
const SIZES: [u64; 5] = [1, 8, 16, 32, 64];
/// Places of each size, and reads of each place.
const PLACES: usize = 24;
const READS: usize = 3;
/// Most by which the two differences may disagree, as a share; and for certainty.
const LARGEST_ERROR: f64 = 0.15;
const SMALL_ERROR: f64 = 0.08;
/// Largest error of a time from its scatter, as a share.
const LARGEST_SCATTER: f64 = 0.05;
/// Largest difference between the start of the device and the rest, as a share.
const LARGEST_DIFFERENCE: f64 = 0.25;
/// Links by the most bytes per second that they carry.
const LINKS: [(&str, f64); 8] = [
    ("12 Mb/s", 1.5e6),
    ("480 Mb/s", 60e6),
    ("1.5 Gb/s", 150e6),
    ("3 Gb/s", 300e6),
    ("5 Gb/s", 500e6),
    ("6 Gb/s", 600e6),
    ("10 Gb/s", 1.25e9),
    ("32 Gb/s", 4e9),
];

/// A way to read blocks of a size. Returns the time of one,
/// with the error that its scatter leaves.
type ReadTime = fn(&mut Survey<'_>, u64) -> Result<(f64, f64)>;

/// What times by size show.
struct SizeTimes {
    /// Time of the smallest read.
    small_ns: f64,
    /// Time of another byte of a large read.
    byte_ns: f64,
    /// How much the differences disagree.
    error: f64,
}

pub(crate) fn command(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Command;
    if survey.is_hidden_by_memory() {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), Settling::ReachMedium));
    }
    let sequential = sequential_rate(survey)?;
    let mut evidence = vec![EvidenceFigure::rate("sequential", sequential)];
    let patterns: [(_, _, ReadTime); 2] = [
        ("small_reread", "disagreement_of_rereads", same_place),
        ("small_sequential_read", "disagreement_of_sequential_reads", in_sequence),
    ];
    for (small, disagreement, pattern) in patterns {
        let unit_bytes = survey.block_bytes();
        let (mut points, mut scatter) = (Vec::new(), 0.0f64);
        for size in SIZES {
            let (time_ns, error_ns) = pattern(survey, size * unit_bytes)?;
            scatter = scatter.max(error_ns / time_ns.max(1.0));
            points.push(((size * unit_bytes) as f64, time_ns));
        }
        // Without a memory, the same place comes back after a whole turn.
        let is_mechanical = small == "small_reread" && points[2].1 > 0.5 * survey.turn_ns();
        let Some(times) = size_times(&points).filter(|_| scatter < LARGEST_SCATTER && !is_mechanical) else {
            continue;
        };
        evidence.push(EvidenceFigure::ns(small, times.small_ns));
        evidence.push(EvidenceFigure::ratio(disagreement, times.error));
        if times.error > LARGEST_ERROR {
            continue;
        }
        let answer = PropertyAnswer::Command {
            small_read_ns: times.small_ns,
            rate_bytes_per_s: 1e9 / times.byte_ns,
            faster_than: LINKS.iter().rev().find(|(_, most)| sequential > *most).map(|(name, _)| *name),
        };
        return Ok(if times.error > SMALL_ERROR {
            PropertyFinding::likely(PROPERTY, answer, evidence, Settling::Again)
        } else {
            PropertyFinding::certain(PROPERTY, answer, evidence)
        });
    }
    Ok(PropertyFinding::unclear(PROPERTY, evidence, Settling::Again))
}

/// Returns the rate of large sequential reads.
fn sequential_rate(survey: &mut Survey<'_>) -> Result<f64> {
    const LONGEST_NS: f64 = 2e9;
    let span_bytes = survey.facts.span_bytes;
    let piece_bytes = (1u64 << 20).min(span_bytes / 64 / 4096 * 4096).max(survey.block_bytes());
    let first = random_place(&mut survey.random, span_bytes / 2, piece_bytes);
    let reads: Vec<_> = (0..52).map(|piece| read(first + piece * piece_bytes, piece_bytes)).collect();
    let begin = survey.perform(&reads[..4], Manner::deep(4))?;
    let each_ns = elapsed_ns(&begin) / 4.0;
    let count = ((LONGEST_NS / each_ns) as usize).clamp(8, 48);
    let rest = survey.perform(&reads[4..4 + count], Manner::deep(8))?;
    Ok((count as u64 * piece_bytes) as f64 / elapsed_ns(&rest) * 1e9)
}

/// Returns the time of a read of the same place again, over several places.
fn same_place(survey: &mut Survey<'_>, size_bytes: u64) -> Result<(f64, f64)> {
    let mut times = Vec::new();
    for number in 0..PLACES {
        let place = match number {
            0 => 0,
            _ => random_place(&mut survey.random, survey.facts.span_bytes, size_bytes),
        };
        let reads = survey.perform(&[read(place, size_bytes); READS], Manner::PLAIN)?;
        times.extend(latencies(&reads[1..]));
    }
    let (start_ns, (rest_ns, error_ns)) = (times[0], mean_and_error(&times[READS - 1..]));
    let is_alike = (start_ns / rest_ns - 1.0).abs() < LARGEST_DIFFERENCE;
    Ok((rest_ns, if is_alike { error_ns } else { f64::INFINITY }))
}

/// Returns the mean, and the error of the mean.
fn mean_and_error(times: &[f64]) -> (f64, f64) {
    let middle = mean(times);
    let variance = mean(&times.iter().map(|time| (time - middle).powi(2)).collect::<Vec<_>>());
    (middle, (variance / times.len() as f64).sqrt())
}

/// Returns the time of a read that continues another one.
fn in_sequence(survey: &mut Survey<'_>, size_bytes: u64) -> Result<(f64, f64)> {
    const COUNT: u64 = 40;
    const SKIPPED: usize = 8;
    let span_bytes = survey.facts.span_bytes;
    let most = (span_bytes / 2 / size_bytes).min(COUNT);
    let first = random_place(&mut survey.random, span_bytes / 2, size_bytes);
    let reads: Vec<_> = (0..most).map(|number| read(first + number * size_bytes, size_bytes)).collect();
    let performed = survey.perform(&reads, Manner::PLAIN)?;
    let counted = &performed[SKIPPED.min(performed.len() - 1)..];
    // A disk reads ahead in bursts, so the mean of several reads is what scatters.
    let groups: Vec<f64> = counted.chunks(8).map(|group| elapsed_ns(group) / group.len() as f64).collect();
    Ok(mean_and_error(&groups))
}

/// Returns what times by size show, unless they fall.
fn size_times(points: &[(f64, f64)]) -> Option<SizeTimes> {
    let [.., (first, first_ns), (second, second_ns), (third, third_ns)] = *points else { return None };
    let (lower, upper) =
        ((second_ns - first_ns) / (second - first), (third_ns - second_ns) / (third - second));
    let byte_ns = (third_ns - first_ns) / (third - first);
    let error = (lower - upper).abs() / byte_ns;
    let small_ns = points.first()?.1;
    (lower > 0.0 && upper > 0.0 && small_ns > 0.0).then_some(SizeTimes { small_ns, byte_ns, error })
}

/// Judges whether several commands in flight are faster than one.
pub(crate) fn queue(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Queue;
    const DEPTHS: [usize; 3] = [1, 4, 32];
    if survey.is_hidden_by_memory() {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), Settling::ReachMedium));
    }
    if survey.facts.most_in_flight < DEPTHS[2] {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), Settling::Again));
    }
    let block_bytes = survey.block_bytes();
    let mut times = Vec::new();
    for (depth, count) in DEPTHS.into_iter().zip([128, 192, 448]) {
        let place =
            |survey: &mut Survey<'_>| random_place(&mut survey.random, survey.facts.span_bytes, block_bytes);
        let reads: Vec<_> = (0..count).map(|_| read(place(survey), block_bytes)).collect();
        let performed: Vec<Performed> = survey.perform(&reads, Manner::deep(depth))?;
        times.push(elapsed_ns(&performed) / count as f64);
    }
    let (gain_4, gain) = (times[0] / times[1], times[0] / times[2]);
    let evidence = vec![
        EvidenceFigure::ns("time_at_depth_1", times[0]),
        EvidenceFigure::ratio("gain_at_depth_4", gain_4),
        EvidenceFigure::ratio("gain_at_depth_32", gain),
    ];
    let (least, most) = if survey.rotates() { (1.3, 1.12) } else { (1.6, 1.2) };
    Ok(if gain >= least && survey.facts.may_reorder && survey.rotates() {
        let answer = PropertyAnswer::SeveralCommands { gain };
        PropertyFinding::likely(PROPERTY, answer, evidence, Settling::NoScheduler)
    } else if gain >= least {
        PropertyFinding::certain(PROPERTY, PropertyAnswer::SeveralCommands { gain }, evidence)
    } else if gain <= most {
        PropertyFinding::certain(PROPERTY, PropertyAnswer::OneCommand, evidence)
    } else {
        PropertyFinding::unclear(PROPERTY, evidence, Settling::Again)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_large_reads_and_a_curve_is_seen() {
        let sizes = SIZES.map(|size| size as f64 * 4096.0);
        let overlapped = |size: f64| f64::max(70_000.0 + size, 10_000.0 + 2.0 * size);
        let times = size_times(&sizes.map(|size| (size, overlapped(size)))).unwrap();
        assert!((times.byte_ns - 2.0).abs() < 0.01 && times.error < SMALL_ERROR);
        assert!((times.small_ns - 74_096.0).abs() < 1.0);
        let curve = size_times(&sizes.map(|size| (size, size.powf(1.7)))).unwrap();
        assert!(curve.error > LARGEST_ERROR);
    }
}
