//! The time of a small read, the rate of large ones, and whether several commands can be in flight.
//!
//! Small reads are re-reads, which a drive with a memory answers without its medium, so that the
//! command remains. Large reads are sequential, several at a time, at the start of the device, where
//! a disk is fastest. A link is at least as fast as they are.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::{Manner, Performed, elapsed_ns, latencies, random_place, read};
use crate::survey::Survey;
use kurabe_core::Result;
use kurabe_stats::mean;

/// Places of small reads, and reads of each place.
const PLACES: usize = 24;
const READS: usize = 3;
/// A larger re-read, which shows how much the bytes take.
const LARGER_BYTES: u64 = 256 << 10;
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

pub(crate) fn command(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Command;
    if survey.is_hidden_by_memory() {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::ReachMedium));
    }
    let sequential = sequential_rate(survey)?;
    let mut evidence = vec![EvidenceFigure::rate("sequential", sequential)];
    let block_bytes = survey.block_bytes();
    let (small_read_ns, scatter_ns) = same_place(survey, block_bytes)?;
    let (larger_ns, _) = same_place(survey, LARGER_BYTES.min(survey.facts.span_bytes / 64))?;
    evidence.push(EvidenceFigure::ns("small_reread", small_read_ns));
    evidence.push(EvidenceFigure::ns("larger_reread", larger_ns));
    if scatter_ns > LARGEST_SCATTER * small_read_ns {
        return Ok(PropertyFinding::unclear(PROPERTY, evidence, SettledBy::Again));
    }
    let faster_than = LINKS.iter().rev().find(|(_, most)| sequential > *most).map(|(name, _)| *name);
    let answer = PropertyAnswer::Command { small_read_ns, rate_bytes_per_s: sequential, faster_than };
    // Several drives behind one volume have several links, whose rates add up.
    Ok(match faster_than {
        Some(_) => PropertyFinding::likely(PROPERTY, answer, evidence, SettledBy::VolumeTool),
        None => PropertyFinding::certain(PROPERTY, answer, evidence),
    })
}

/// Returns the rate of large sequential reads at the start of the device.
fn sequential_rate(survey: &mut Survey<'_>) -> Result<f64> {
    const LONGEST_NS: f64 = 2e9;
    let span_bytes = survey.facts.span_bytes;
    let piece_bytes = (1u64 << 20).min(span_bytes / 64 / 4096 * 4096).max(survey.block_bytes());
    let reads: Vec<_> = (0..52).map(|piece| read(piece * piece_bytes, piece_bytes)).collect();
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

/// Judges whether several commands in flight are faster than one.
pub(crate) fn queue(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Queue;
    const DEPTHS: [usize; 3] = [1, 4, 32];
    if survey.is_hidden_by_memory() {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::ReachMedium));
    }
    if survey.facts.most_in_flight < DEPTHS[2] {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::Again));
    }
    let block_bytes = survey.block_bytes();
    let mut times = Vec::new();
    for (depth, count) in DEPTHS.into_iter().zip([128, 192, 448]) {
        let place =
            |survey: &mut Survey<'_>| random_place(&mut survey.random, survey.facts.span_bytes, block_bytes);
        let reads: Vec<_> = (0..count).map(|_| read(place(survey), block_bytes)).collect();
        let performed: Vec<Performed> = survey.perform(&reads, Manner::deep(depth))?;
        times.push(elapsed_ns(&performed) / f64::from(count));
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
        PropertyFinding::likely(PROPERTY, answer, evidence, SettledBy::NoScheduler)
    } else if gain >= least {
        PropertyFinding::certain(PROPERTY, PropertyAnswer::SeveralCommands { gain }, evidence)
    } else if gain <= most {
        PropertyFinding::certain(PROPERTY, PropertyAnswer::OneCommand, evidence)
    } else {
        PropertyFinding::unclear(PROPERTY, evidence, SettledBy::Again)
    })
}
