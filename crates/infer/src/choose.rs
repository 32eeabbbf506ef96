//! The choice of the next probes: those about which the samples disagree most per second of the device.

use crate::family::{DeviceFamily, FamilyPoint, FreeRange};
use crate::measure::Measurements;
use crate::probes::further_probes;
use crate::workload::ProbeWorkload;

/// Maximum number of samples that are evaluated for each family.
const EVALUATED: usize = 14;
/// Probes of a round.
const MOST: usize = 3;
/// Time of a probe in addition to its operations, in s.
const OVERHEAD_S: f64 = 0.1;
/// Operations of a probe in a plan.
const COUNT: usize = 24;
/// The same on a slow device, whose times may scatter.
const COUNT_OF_SLOW: usize = 96;
/// Change of the parameters that no probe shows, as a share of their ranges.
const JITTER: f64 = 2e-4;
/// Correlation above which a probe adds nothing to another.
const ALIKE: f64 = 0.9;

/// Returns the next probes; none if the samples agree within the error on every one.
pub(crate) fn next_probes(
    measured: &Measurements,
    samples: &[(&DeviceFamily, Vec<FamilyPoint>)],
    writes: bool,
    error: f64,
    time_ns: f64,
) -> Vec<ProbeWorkload> {
    let pool = further_probes(writes);
    let plan = measured.planned(&pool, if measured.is_slow { COUNT_OF_SLOW } else { COUNT });
    let (mut outcomes, mut chances): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for (family, points) in samples {
        let of = |point: &FamilyPoint| {
            let device = family.device(point, measured.span_bytes);
            device.and_then(|device| plan.on_model(&device, 1)).ok()
        };
        for point in points.iter().step_by(points.len() / EVALUATED + 1) {
            let Some(outcome) = of(point) else { continue };
            if family.is_mechanical() {
                // Changes that mean nothing show how much of a disagreement is chance.
                let other = of(&jittered(family, point)).unwrap_or_else(|| outcome.clone());
                chances.push(
                    outcome.iter().zip(&other).map(|(one, other)| (one - other).powi(2) / 2.0).collect(),
                );
            }
            outcomes.push(outcome);
        }
    }
    if outcomes.len() < 2 {
        return Vec::new();
    }
    let column = |probe: usize| outcomes.iter().map(move |outcome| outcome[probe]).collect::<Vec<f64>>();
    let mut scored: Vec<(f64, f64, usize)> = (0..pool.len())
        .filter_map(|probe| {
            let (mean, spread) = mean_and_spread(&column(probe));
            let seconds = (mean.exp() * 100.0 / 1e9).min(1.5) + OVERHEAD_S;
            let chance = chances.iter().map(|one| one[probe]).sum::<f64>() / chances.len().max(1) as f64;
            let explained = (spread * spread - chance) / (error * error + chance);
            let gain = (1.0 + explained.max(0.0)).ln() / seconds;
            (explained > 1.0).then_some((gain, seconds, probe))
        })
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (mut chosen, mut left_s): (Vec<usize>, f64) = (Vec::new(), time_ns / 1e9);
    for (_, seconds, probe) in scored {
        let is_alike = |other: &usize| correlation(&column(probe), &column(*other)).abs() > ALIKE;
        if chosen.len() < MOST && seconds < left_s && !chosen.iter().any(is_alike) {
            left_s -= seconds;
            chosen.push(probe);
        }
    }
    chosen.into_iter().map(|probe| pool[probe]).collect()
}

/// Returns a point whose device differs by less than any probe shows.
fn jittered(family: &DeviceFamily, point: &FamilyPoint) -> FamilyPoint {
    let is_ranged = |index: usize| matches!(family.free[index].range, FreeRange::Log(..));
    let moved = |(index, place): (usize, &f64)| match is_ranged(index) {
        true if *place < 0.5 => place + JITTER,
        true => place - JITTER,
        false => *place,
    };
    point.iter().enumerate().map(moved).collect()
}

fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / values.len() as f64).sqrt())
}

fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let ((a, spread_a), (b, spread_b)) = (mean_and_spread(one), mean_and_spread(other));
    let product: f64 = one.iter().zip(other).map(|(x, y)| (x - a) * (y - b)).sum();
    product / one.len() as f64 / (spread_a * spread_b).max(1e-12)
}
