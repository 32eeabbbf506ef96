//! The normal distribution and Student's t.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

/// Share of the degrees of freedom below which t² makes statrs (0.19) inexact. It computes
/// `freedom / (freedom + t²)`, which rounds to 1 for the smallest t; at this share it still has
/// twelve digits.
const SMALL_SHARE: f64 = 1e-4;

/// Returns the probability that a standard normal value is below `z`.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Returns the value that a standard normal value is below with probability `p`; infinite at 0 and
/// 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    match p {
        p if p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p => Normal::standard().inverse_cdf(p),
    }
}

/// Returns the quantile of Student's t with `freedom` degrees of freedom; NaN unless these are
/// above 0.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    if freedom == f64::INFINITY {
        // This is the normal distribution, for which the inverse of statrs (0.19) does not
        // terminate.
        return normal_quantile(p);
    }
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::NAN };
    let quantile = student.inverse_cdf(p);
    if !is_small(quantile, freedom) {
        return quantile;
    }
    // This close to the centre the distribution is a straight line, so one step of Newton's method
    // is enough.
    quantile + (student_tail(quantile, freedom) - (1.0 - p)) / student.pdf(quantile)
}

/// Returns the probability that a value of Student's t with `freedom` degrees of freedom is above
/// `t`; NaN unless these are above 0.
pub(crate) fn student_tail(t: f64, freedom: f64) -> f64 {
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::NAN };
    if !is_small(t, freedom) {
        return student.sf(t);
    }
    // Abramowitz and Stegun, 26.5.27 and 26.7.1, with the share that is exact for a small t.
    let between = beta_reg(0.5, freedom / 2.0, t * t / (freedom + t * t));
    0.5 - 0.5 * between.copysign(t)
}

/// Returns whether a value of Student's t is too close to 0 for statrs. With infinite freedom it
/// uses the normal distribution, which has no such limit.
fn is_small(t: f64, freedom: f64) -> bool {
    freedom.is_finite() && t * t < SMALL_SHARE * freedom
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOLDEN: [(f64, f64, f64); 7] = [
        (0.975, 1.0, 12.706_204_736_174_694),
        (0.975, 1.0037, 12.596_050_469_180_08),
        (0.975, 2.5, 3.574_654_842_003_681_7),
        (0.9995, 1.3, 153.265_892_773_516_01),
        (0.995, 4.433_233_159_188_535, 4.310_885_092_967_108),
        (0.75, 7.0, 0.711_141_778_081_786_6),
        (0.975, 29.9, 2.042_558_915_818_556_6),
    ];

    #[test]
    fn the_quantiles_are_those_of_scipy() {
        // scipy.stats.t.ppf(p, freedom) 1.17
        for (p, freedom, expected) in GOLDEN {
            let quantile = student_quantile(p, freedom);
            assert!((quantile / expected - 1.0).abs() < 1e-9, "{p}, {freedom}: {quantile} is not {expected}");
            assert_eq!(student_quantile(1.0 - p, freedom), -student_quantile(1.0 - (1.0 - p), freedom));
        }
        assert_eq!(student_quantile(0.5, 3.0), 0.0);
        assert_eq!(student_quantile(0.975, f64::INFINITY), normal_quantile(0.975));
        for t in [0.0, 1.0, 1.96] {
            assert!((student_tail(t, f64::INFINITY) - normal_cdf(-t)).abs() < 1e-12, "{t}");
        }
        assert!(student_quantile(0.975, f64::NAN).is_nan());
    }

    #[test]
    fn next_to_the_middle_a_quantile_is_as_far_from_it_as_the_density_says() {
        for freedom in [0.5, 1.0, 3.0, 300.0] {
            let density = StudentsT::new(0.0, 1.0, freedom).unwrap().pdf(0.0);
            for beyond in [1e-9, 2.647_043_8e-9, 1e-7] {
                let p = 0.5 + beyond;
                let (quantile, expected) = (student_quantile(p, freedom), (p - 0.5) / density);
                assert!(
                    (quantile / expected - 1.0).abs() < 1e-6,
                    "{p}, {freedom}: {quantile}, not {expected}"
                );
                assert!((student_tail(-quantile, freedom) - p).abs() < 1e-15, "{p}, {freedom}: {quantile}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_quantile_is_found_for_any_degrees_of_freedom(p in 0.5f64..0.99999, freedom in 0.5f64..300.0) {
            let quantile = student_quantile(p, freedom);
            prop_assert!((student_tail(quantile, freedom) - (1.0 - p)).abs() < 1e-10, "{quantile}");
        }
    }
}
