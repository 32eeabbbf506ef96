//! Forecast of an interleaved measurement: the smallest difference that it can find in its time, by
//! the scatter of its first blocks.
//!
//! The model: the logarithm of the ratio of a pair of blocks scatters about its mean with a standard
//! deviation that the pilot, the first [`PILOT_PAIRS`] pairs, estimates. The last analysis calls a
//! mean different if it is further from 0 than Student's quantile times its standard error. A
//! difference is found with probability [`POWER`] if it exceeds that by the normal quantile of the
//! power. Six pairs know a standard deviation to some tens of percent only, so its upper confidence
//! limit is used (Browne, "On the use of a pilot sample for sample size determination", 1995).

use crate::blocked::{allowed_error, pair_logs};
use crate::compare::Sides;
use crate::normal::{normal_quantile, student_quantile};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Pairs of blocks in the pilot.
pub const PILOT_PAIRS: usize = 6;
/// Probability that a difference of the forecast size is found.
const POWER: f64 = 0.9;
/// Confidence that the standard deviation is not above the one used.
const PILOT_CONFIDENCE: f64 = 0.8;
/// Largest difference of a forecast. A pilot with so much scatter does not show how large the scatter
/// is.
const LARGEST: f64 = 0.5;

/// Returns the smallest relative difference (0.03 is 3 %) that a measurement of `pairs` pairs of
/// blocks finds with probability 0.9. `comparisons` is the number of cells, times the targets
/// compared with the first one. `None` if there are not exactly as many pairs as in the pilot, if
/// they show no scatter or too much, or if `pairs` are too few for a verdict.
pub fn smallest_difference(sides: &Sides, pairs: usize, comparisons: usize) -> Option<f64> {
    let logs = pair_logs(sides).filter(|logs| logs.len() == PILOT_PAIRS)?;
    let (pairs, allowed) = allowed_error(pairs, comparisons)?;
    let freedom = (logs.len() - 1) as f64;
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let least = ChiSquared::new(freedom).ok()?.inverse_cdf(1.0 - PILOT_CONFIDENCE);
    let error = (squares / least / pairs as f64).sqrt();
    let critical = student_quantile(1.0 - allowed / 2.0, pairs as f64 - 1.0);
    let log = (critical + normal_quantile(POWER)) * error;
    Some(log.exp_m1()).filter(|difference| *difference > 0.0 && *difference <= LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocked::judge;
    use crate::compare::Verdict;
    use kurabe_core::random::Random;

    /// Returns pairs of blocks with this scatter of their logarithms, of which the other side is
    /// faster by `ratio`.
    fn measured(random: &mut Random, pairs: usize, ratio: f64, spread: f64) -> Sides {
        let mut normal =
            || (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos() * spread;
        let other = (0..pairs).flat_map(|_| [100.0 * ratio * normal().exp(); 2]).collect();
        Sides { baseline: vec![100.0; 2 * pairs], other, higher_is_better: true, computed: false }
    }

    #[test]
    fn what_is_foreseen_is_found_in_nine_of_ten_measurements() {
        for (pairs, spread) in [(40, 0.02), (112, 0.05)] {
            let (mut hits, mut foreseen) = (0, Vec::new());
            for trial in 0..200 {
                let mut random = Random::new(1, trial);
                let pilot = measured(&mut random, PILOT_PAIRS, 1.0, spread);
                let difference = smallest_difference(&pilot, pairs, 3).unwrap();
                foreseen.push(difference);
                let cells =
                    [1.0 + difference, 1.0, 1.0].map(|ratio| measured(&mut random, pairs, ratio, spread));
                // A margin that no interval fits into, so that equality is never concluded.
                let judged = judge(&cells, 1e-6, 1)[0].unwrap();
                hits += u32::from(judged.compared.verdict == Verdict::Faster);
            }
            // More than 180, because most pilots overstate the scatter.
            assert!((180..=200).contains(&hits), "{pairs} pairs: {hits} of 200");
            // Not by foreseeing far too much: the standard error times 5 is enough with certainty.
            foreseen.sort_by(f64::total_cmp);
            let enough = 5.0 * spread / (pairs as f64).sqrt();
            assert!(foreseen[100] < 1.5 * enough, "{} and {enough}", foreseen[100]);
        }
    }

    #[test]
    fn a_pilot_that_cannot_support_it_gives_no_forecast() {
        let pilot = measured(&mut Random::new(2, 0), PILOT_PAIRS, 1.0, 0.05);
        let of = |sides: &Sides, pairs| smallest_difference(sides, pairs, 6);
        assert!(of(&pilot, 10).unwrap() > of(&pilot, 400).unwrap());
        // Too little time for a verdict, an incomplete pilot, and no scatter.
        assert_eq!(of(&pilot, 9), None);
        assert_eq!(of(&pilot.first(2 * PILOT_PAIRS - 2), 40), None);
        assert_eq!(of(&measured(&mut Random::new(2, 0), PILOT_PAIRS, 1.0, 0.0), 40), None);
        let wild = measured(&mut Random::new(2, 0), PILOT_PAIRS, 1.0, 1.0);
        assert_eq!(of(&wild, 10), None);
        // The time beyond the last analysis brings nothing.
        assert_eq!(of(&pilot, 448), of(&pilot, 10_000));
    }
}
