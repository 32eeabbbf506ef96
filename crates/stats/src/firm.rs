//! Uncertainty of the mean of a few values, for the confidence in a ranking of several things.
//!
//! The model: the true mean is distributed about the measured one as Student's t, scaled by the
//! standard error of the values (the fiducial distribution of Fisher, "The fiducial argument in
//! statistical inference", 1935; for the difference of two means it is that of Behrens and Fisher,
//! which errs on the conservative side). Resampling would not show the uncertainty of three values,
//! because no resample lies beyond them.

use kurabe_core::random::Random;

/// Above this many degrees of freedom, Student's t is approximated by the normal distribution.
const MOST_FREEDOM: usize = 100;

/// Draws the logarithm of a plausible true mean of these values. A single value has no known
/// spread, so its own logarithm is returned. Not a number without values.
pub fn draw_log_mean(values: &[f64], random: &mut Random) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return mean.ln();
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    mean.ln() + student(values.len() - 1, random) * variance.sqrt() / (count.sqrt() * mean)
}

/// Draws a value from Student's t.
fn student(freedom: usize, random: &mut Random) -> f64 {
    let value = normal(random);
    if freedom > MOST_FREEDOM {
        return value;
    }
    let squares: f64 = (0..freedom).map(|_| normal(random).powi(2)).sum();
    value / (squares / freedom as f64).sqrt()
}

/// Draws a standard normal value (Box and Muller, "A note on the generation of random normal
/// deviates", 1958).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_drawn_as_student_has_it() {
        // scipy.stats.t.ppf([0.025, 0.1, 0.9, 0.975], 2) times the standard error of 98, 100, 102 over their mean.
        let error = 2.0 / 3f64.sqrt() / 100.0;
        let mut random = Random::new(1, 0);
        let mut drawn: Vec<f64> =
            (0..40_000).map(|_| draw_log_mean(&[98.0, 100.0, 102.0], &mut random) - 100f64.ln()).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        for (share, expected) in
            [(0.025, -4.302_652_7), (0.1, -1.885_618_1), (0.9, 1.885_618_1), (0.975, 4.302_652_7)]
        {
            let quantile = drawn[(share * 40_000.0) as usize] / error;
            assert!((quantile / expected - 1.0).abs() < 0.05, "{share}: {quantile} is not {expected}");
        }
    }

    #[test]
    fn what_has_no_spread_stays_where_it_is() {
        let mut random = Random::new(1, 0);
        assert_eq!(draw_log_mean(&[7.0], &mut random), 7f64.ln());
        assert_eq!(draw_log_mean(&[7.0, 7.0, 7.0], &mut random), 7f64.ln());
    }
}
