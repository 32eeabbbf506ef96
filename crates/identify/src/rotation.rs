//! Whether the medium rotates, and how fast.
//!
//! A sector of a disk passes the head once per revolution. So the times at which the reads of one
//! place end differ by whole revolutions, whatever happened in between, and with random pauses no
//! other device does that. The score of a speed is the mean of the cosine of these differences in
//! turns: 1 for the right one, and near 0 for others.
//!
//! The reverse: reads at random places of any rotating medium differ by up to a revolution, 4 ms at
//! 15,000 per minute. If they differ by much less, nothing rotates.

use crate::access::AccessSample;
use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::{Performed, median, quantile};
use crate::survey::Survey;
use std::f64::consts::TAU;

/// Speeds in revolutions per minute that are tried.
const SLOWEST_RPM: f64 = 2_000.0;
const FASTEST_RPM: f64 = 16_000.0;
/// Speeds of disks that were sold.
const USUAL_RPM: [u32; 14] =
    [2_941, 3_000, 3_600, 4_200, 4_500, 5_400, 5_700, 5_900, 6_300, 7_200, 10_000, 10_025, 10_033, 15_000];
/// A measured speed is a usual one if it differs by less than this share.
const SAME_SPEED: f64 = 0.004;
/// Least score of a rotation.
const LEAST_SCORE: f64 = 0.6;
/// A spread below this excludes a rotation, in ns: half a turn of the fastest disk.
const LEAST_SPREAD_NS: f64 = 2e6;
/// Fewest intervals between reads of the same place.
const FEWEST_INTERVALS: usize = 100;

pub(crate) fn judge(survey: &Survey<'_>, sample: &AccessSample) -> PropertyFinding {
    const PROPERTY: DeviceProperty = DeviceProperty::Medium;
    let first_ns = median(&sample.first);
    let spread_ns = quantile(&sample.first, 0.95) - quantile(&sample.first, 0.05);
    let mut evidence =
        vec![EvidenceFigure::ns("random_read", first_ns), EvidenceFigure::ns("spread", spread_ns)];
    let is_from_device = survey.answer(DeviceProperty::Memory) == Some(PropertyAnswer::FromDevice)
        || survey.answer(DeviceProperty::Memory) == Some(PropertyAnswer::RepeatsFromMemory);
    let intervals = intervals_s(sample);
    if intervals.len() >= FEWEST_INTERVALS
        && let Some((rpm, score)) = speed(&intervals)
    {
        evidence.push(EvidenceFigure::ratio("coherence", score));
        evidence.push(EvidenceFigure::count("intervals", intervals.len()));
        let usual_rpm = USUAL_RPM
            .into_iter()
            .min_by(|a, b| (f64::from(*a) - rpm).abs().total_cmp(&(f64::from(*b) - rpm).abs()))
            .filter(|usual| (f64::from(*usual) / rpm - 1.0).abs() < SAME_SPEED);
        return PropertyFinding::certain(PROPERTY, PropertyAnswer::Rotates { rpm, usual_rpm }, evidence);
    }
    if spread_ns < LEAST_SPREAD_NS && is_from_device {
        return PropertyFinding::certain(PROPERTY, PropertyAnswer::NoRotation, evidence);
    }
    let settling = if is_from_device { SettledBy::Again } else { SettledBy::ReachMedium };
    PropertyFinding::unclear(PROPERTY, evidence, settling)
}

/// Returns the times between consecutive reads of the same place that reached the medium, in s.
fn intervals_s(sample: &AccessSample) -> Vec<f64> {
    let least_ns = 0.25 * median(&sample.first);
    let is_real = |pair: &&[Performed]| pair.iter().all(|read| read.latency_ns() > least_ns);
    let of_place = |reads: &Vec<Performed>| {
        let pairs = reads.windows(2).filter(is_real);
        pairs.map(|pair| (pair[1].end_ns - pair[0].end_ns) as f64 / 1e9).collect::<Vec<_>>()
    };
    sample.by_place.iter().flat_map(of_place).collect()
}

/// Returns the speed of the rotation with its score, if there is one.
fn speed(intervals_s: &[f64]) -> Option<(f64, f64)> {
    let score = |rpm: f64| {
        let turns_per_s = rpm / 60.0;
        let sum: f64 = intervals_s.iter().map(|interval| (TAU * turns_per_s * interval).cos()).sum();
        sum / intervals_s.len() as f64
    };
    let longest_s = intervals_s.iter().copied().fold(0.0, f64::max);
    let step_rpm = 60.0 * 0.1 / longest_s.max(0.1);
    let steps = ((FASTEST_RPM - SLOWEST_RPM) / step_rpm) as usize;
    let scores: Vec<(f64, f64)> =
        (0..=steps).map(|step| SLOWEST_RPM + step as f64 * step_rpm).map(|rpm| (rpm, score(rpm))).collect();
    let best = scores.iter().map(|(_, score)| *score).fold(f64::MIN, f64::max);
    // Multiples of the speed score the same, so the lowest of the best ones is the speed.
    let (coarse, _) = scores.into_iter().find(|(_, score)| *score > 0.8 * best && *score > 0.4)?;
    let refined = (-60..=60)
        .map(|step| coarse + f64::from(step) * step_rpm / 30.0)
        .map(|rpm| (rpm, score(rpm)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (refined.1 > LEAST_SCORE).then_some(refined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::random::Random;

    fn intervals(turn_s: f64, jitter_s: f64) -> Vec<f64> {
        let mut random = Random::new(1, 0);
        let mut one = || {
            let turns = 60 + random.below(80);
            turns as f64 * turn_s + (random.unit() - 0.5) * jitter_s
        };
        (0..300).map(|_| one()).collect()
    }

    #[test]
    fn a_rotation_is_measured_through_jitter() {
        for rpm in [3600.0, 5400.0, 7200.0, 15000.0] {
            let (measured, _) = speed(&intervals(60.0 / rpm, 5e-4)).unwrap();
            assert!((measured / rpm - 1.0).abs() < 1e-3, "{measured} for {rpm}");
        }
    }

    #[test]
    fn random_times_have_no_speed() {
        assert_eq!(speed(&intervals(0.008, 0.1)), None);
    }
}
