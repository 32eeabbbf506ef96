//! The strip size of a volume, and its members.
//!
//! A read across the border of two strips waits for two drives, and so for the slower of two random
//! accesses. Reads across odd multiples of a size cross a border if the size is a strip or more, and
//! none if it is less: their time rises at the strip size. It needs no order of the drives.
//!
//! With the strip size, two reads at once at a distance of some strips are on the same drive, one
//! after the other, or on two at once. The distance also contains a multiple of all numbers of
//! drives up to 16, so that the two are far from each other on the same drive.
//!
//! A solid-state drive distributes its own pages in the same way, so only disks allow an answer.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::{Manner, elapsed_ns, latencies, read};
use crate::survey::Survey;
use kurabe_core::Result;
use kurabe_stats::mean;

/// Smallest and largest strip, as powers of two.
const SMALLEST_LOG: u32 = 13;
const LARGEST_LOG: u32 = 21;
/// Reads across the borders of each size.
const READS: usize = 180;
/// A step of the time is real if it exceeds its error by this factor.
const LEAST_SCORE: f64 = 5.0;
/// A step below this score is none. Between the two, more reads follow.
const NO_STEP: f64 = 2.2;
const MOST_ROUNDS: usize = 4;
/// A step by less than this ratio is none.
const LEAST_RATIO: f64 = 1.04;
/// Multiple of every number of drives up to 16.
const ALL_NUMBERS: u64 = 720_720;
const MOST_MEMBERS: u64 = 12;
/// Pairs of reads at each distance.
const PAIRS: usize = 24;

/// The best step between two levels of times by size.
struct TimeStep {
    /// Index of the first size after it.
    at: usize,
    /// Ratio of the levels.
    ratio: f64,
    /// Difference in units of its error; the sign is that of the difference.
    score: f64,
}

pub(crate) fn strip(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Strip;
    if survey.is_hidden_by_memory() {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::ReachMedium));
    }
    if !survey.facts.is_device {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::WholeDevice));
    }
    let sizes: Vec<u64> = (SMALLEST_LOG..=LARGEST_LOG)
        .map(|log| 1u64 << log)
        .filter(|size| size * 64 <= survey.facts.span_bytes && *size >= 2 * survey.block_bytes())
        .collect();
    let mut times = vec![Vec::new(); sizes.len()];
    for _ in 0..MOST_ROUNDS {
        read_across(survey, &sizes, &mut times)?;
        let is_open =
            |step: TimeStep| step.ratio > LEAST_RATIO && (NO_STEP..LEAST_SCORE).contains(&step.score);
        if !best_step(&times).is_some_and(is_open) {
            break;
        }
    }
    let Some(step) = best_step(&times) else {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::VolumeTool));
    };
    let mut evidence = vec![
        EvidenceFigure::ratio("time_across_a_border", step.ratio),
        EvidenceFigure::ratio("step_over_its_error", step.score),
        EvidenceFigure::count("reads", times.iter().map(Vec::len).sum()),
    ];
    if step.score < NO_STEP || step.ratio < LEAST_RATIO {
        let settling = SettledBy::VolumeTool;
        return Ok(PropertyFinding::likely(PROPERTY, PropertyAnswer::NoStrips, evidence, settling));
    }
    let strip_bytes = sizes[step.at];
    evidence.push(EvidenceFigure::bytes("step_at", strip_bytes));
    if !survey.rotates() || step.score < LEAST_SCORE || step.at == 0 {
        return Ok(PropertyFinding::unclear(PROPERTY, evidence, SettledBy::VolumeTool));
    }
    let members = members(survey, strip_bytes, &mut evidence)?;
    Ok(PropertyFinding::certain(PROPERTY, PropertyAnswer::Strips { strip_bytes, members }, evidence))
}

/// Adds the times of reads across odd multiples of each size, which alternate.
fn read_across(survey: &mut Survey<'_>, sizes: &[u64], times: &mut [Vec<f64>]) -> Result<()> {
    let block_bytes = survey.block_bytes();
    for _ in 0..READS {
        let reads: Vec<_> = sizes
            .iter()
            .map(|size| {
                let border = (2 * survey.random.below(survey.facts.span_bytes / size / 2) + 1) * size;
                read(border - block_bytes, 2 * block_bytes)
            })
            .collect();
        for (times, latency) in times.iter_mut().zip(latencies(&survey.perform(&reads, Manner::PLAIN)?)) {
            times.push(latency);
        }
    }
    Ok(())
}

/// Returns the division of the sizes into a first and a last group that explains most.
fn best_step(times: &[Vec<f64>]) -> Option<TimeStep> {
    let step = |at: usize| {
        let (low, high) = (times[..at].concat(), times[at..].concat());
        let variance = |values: &[f64]| {
            let middle = mean(values);
            mean(&values.iter().map(|value| (value - middle).powi(2)).collect::<Vec<_>>())
        };
        let difference = mean(&high) - mean(&low);
        let error = (variance(&low) / low.len() as f64 + variance(&high) / high.len() as f64).sqrt().max(1.0);
        // Of two groups of one variance, this is what the division explains.
        let weight = (low.len() * high.len()) as f64 / (low.len() + high.len()) as f64;
        let step = TimeStep { at, ratio: mean(&high) / mean(&low).max(1.0), score: difference / error };
        (difference.powi(2) * weight * difference.signum(), step)
    };
    (1..times.len()).map(step).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, step)| step)
}

/// Returns the number of drives over which consecutive strips are distributed, if it shows.
fn members(
    survey: &mut Survey<'_>,
    strip_bytes: u64,
    evidence: &mut Vec<EvidenceFigure>,
) -> Result<Option<u32>> {
    let period = ALL_NUMBERS * strip_bytes;
    let span_bytes = survey.facts.span_bytes;
    if span_bytes < 2 * period || survey.facts.most_in_flight < 2 {
        return Ok(None);
    }
    let mut times = Vec::new();
    for distance in 1..=MOST_MEMBERS {
        let mut pairs = Vec::new();
        for _ in 0..PAIRS {
            let most = (span_bytes - (MOST_MEMBERS + 1) * strip_bytes) / period;
            let far = (1 + survey.random.below(most)) * period + distance * strip_bytes;
            let first = survey.random.below((span_bytes - far) / strip_bytes) * strip_bytes;
            let block_bytes = survey.block_bytes();
            let pair = [read(first, block_bytes), read(first + far, block_bytes)];
            pairs.push(elapsed_ns(&survey.perform(&pair, Manner::deep(2))?));
        }
        times.push(mean(&pairs));
    }
    let (fast, slow) =
        (times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max));
    evidence.push(EvidenceFigure::ratio("pair_on_one_drive", slow / fast));
    if slow < 1.25 * fast {
        return Ok(None);
    }
    let limit = (fast * slow).sqrt();
    let Some(first) = times.iter().position(|time| *time > limit) else { return Ok(None) };
    let count = first + 1;
    // Multiples of the number are on one drive, all other distances are not.
    let is_consistent =
        times.iter().enumerate().all(|(index, time)| ((index + 1) % count == 0) == (*time > limit));
    Ok((is_consistent && count > 1).then_some(count as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_where_the_level_changes() {
        let level = |base: f64| (0..50).map(|number| base + f64::from(number % 7)).collect::<Vec<_>>();
        let times = [level(100.0), level(100.0), level(130.0), level(130.0), level(130.0)];
        let step = best_step(&times).unwrap();
        assert!(step.at == 2 && step.score > LEAST_SCORE && (step.ratio - 1.29).abs() < 0.02);
        let flat = best_step(&[level(100.0), level(100.0), level(100.0)]).unwrap();
        assert!(flat.score < NO_STEP);
    }
}
