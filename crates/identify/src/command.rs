//! The time of a command and of its bytes, and whether several commands can be in flight.
//!
//! The model: a read takes the time of a command plus its bytes at a rate. Reads of the same place
//! come first, because a drive with a memory answers them without its medium; where that does not
//! fit the model, sequential reads follow. A link is at least as fast as the fastest rate.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, Settling};
use crate::bench::{Manner, Performed, elapsed_ns, latencies, median, random_place, read};
use crate::survey::Survey;
use kurabe_core::Result;

/// Sizes of the reads, in units of 4 KiB.
const SIZES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Largest mean error of a fit, as a share.
const LARGEST_ERROR: f64 = 0.05;
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

/// A line through times by size.
struct CommandFit {
    command_ns: f64,
    byte_ns: f64,
    /// Root mean square of the relative errors.
    error: f64,
}

pub(crate) fn command(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Command;
    if survey.is_hidden_by_memory() {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), Settling::ReachMedium));
    }
    let sequential = sequential_rate(survey)?;
    let mut evidence = vec![EvidenceFigure::rate("sequential", sequential)];
    for (name, pattern) in [
        ("fit_error_same_place", same_place as fn(&mut Survey<'_>, u64) -> Result<f64>),
        ("fit_error_sequential", in_sequence),
    ] {
        let unit_bytes = survey.block_bytes();
        let mut points = Vec::new();
        for size in SIZES {
            let size_bytes = size * unit_bytes;
            if size_bytes * 16 <= survey.facts.span_bytes {
                points.push((size_bytes as f64, pattern(survey, size_bytes)?));
            }
        }
        if std::env::var("KDEBUG").is_ok() { eprintln!("POINTS {name} {:?}", points.iter().map(|p| (p.0 as u64 >> 10, p.1 as u64)).collect::<Vec<_>>()); }
        let Some(fit) = fit(&points) else { continue };
        evidence.push(EvidenceFigure::ratio(name, fit.error));
        if fit.error <= LARGEST_ERROR && fit.byte_ns > 0.0 && fit.command_ns > 0.0 {
            let rate_bytes_per_s = 1e9 / fit.byte_ns;
            let fastest = rate_bytes_per_s.min(1e12).max(sequential);
            let passed = LINKS.iter().rev().find(|(_, most)| sequential > *most);
            evidence.push(EvidenceFigure::rate("fastest", fastest));
            let faster_than = passed.map(|(name, _)| *name);
            let answer =
                PropertyAnswer::Command { command_ns: fit.command_ns, rate_bytes_per_s, faster_than };
            return Ok(PropertyFinding::certain(PROPERTY, answer, evidence));
        }
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

/// Returns the time of a read of the same place again.
fn same_place(survey: &mut Survey<'_>, size_bytes: u64) -> Result<f64> {
    let place = random_place(&mut survey.random, survey.facts.span_bytes, size_bytes);
    let reads = survey.perform(&[read(place, size_bytes); 8], Manner::PLAIN)?;
    Ok(median(&latencies(&reads[2..])))
}

/// Returns the time of a read that continues another one.
fn in_sequence(survey: &mut Survey<'_>, size_bytes: u64) -> Result<f64> {
    const COUNT: u64 = 40;
    const SKIPPED: usize = 8;
    let span_bytes = survey.facts.span_bytes;
    let most = (span_bytes / 2 / size_bytes).min(COUNT);
    let first = random_place(&mut survey.random, span_bytes / 2, size_bytes);
    let reads: Vec<_> = (0..most).map(|number| read(first + number * size_bytes, size_bytes)).collect();
    let performed = survey.perform(&reads, Manner::PLAIN)?;
    let counted = &performed[SKIPPED.min(performed.len() - 1)..];
    Ok(elapsed_ns(counted) / counted.len() as f64)
}

/// Fits a line by least squares of the relative errors.
fn fit(points: &[(f64, f64)]) -> Option<CommandFit> {
    if points.len() < 4 || points.iter().any(|(_, time)| *time <= 0.0) {
        return None;
    }
    let [mut aa, mut ab, mut bb, mut at, mut bt] = [0.0f64; 5];
    for (size, time) in points {
        let (one, bytes) = (1.0 / time, size / time);
        aa += one * one;
        ab += one * bytes;
        bb += bytes * bytes;
        at += one;
        bt += bytes;
    }
    let determinant = aa * bb - ab * ab;
    let command_ns = (at * bb - bt * ab) / determinant;
    let byte_ns = (bt * aa - at * ab) / determinant;
    let squares = points.iter().map(|(size, time)| ((command_ns + byte_ns * size) / time - 1.0).powi(2));
    let error = (squares.sum::<f64>() / points.len() as f64).sqrt();
    error.is_finite().then_some(CommandFit { command_ns, byte_ns, error })
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
        let place = |survey: &mut Survey<'_>| {
            random_place(&mut survey.random, survey.facts.span_bytes, block_bytes)
        };
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
    fn a_line_is_fitted_and_a_curve_is_seen() {
        let line = |size: f64| 50_000.0 + 2.0 * size;
        let sizes: Vec<f64> = SIZES.iter().map(|size| *size as f64 * 4096.0).collect();
        let points: Vec<_> = sizes.iter().map(|size| (*size, line(*size))).collect();
        let fitted = fit(&points).unwrap();
        assert!((fitted.command_ns - 50_000.0).abs() < 1.0 && (fitted.byte_ns - 2.0).abs() < 1e-6);
        let curve: Vec<_> = sizes.iter().map(|size| (*size, size.sqrt() * 1000.0)).collect();
        assert!(fit(&curve).unwrap().error > LARGEST_ERROR);
    }
}
