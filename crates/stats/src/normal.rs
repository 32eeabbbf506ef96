//! The normal distribution and Student's t, as the other files need them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Probability that a standard normal value lies below `z`.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The value below which a standard normal one lies with probability `p`; infinite at 0 and 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    match p {
        p if p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p => Normal::standard().inverse_cdf(p),
    }
}

/// The same for Student's t with so many degrees of freedom, more than 0; not a number for others.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    if freedom == f64::INFINITY {
        // It is the normal distribution then, and statrs' inverse (0.19) does not come to an end.
        return normal_quantile(p);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(p))
}

/// Probability that a value of Student's t with so many degrees of freedom, more than 0, lies above `t`.
pub(crate) fn student_tail(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |distribution| distribution.sf(t))
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
        for (p, freedom, wanted) in GOLDEN {
            let found = student_quantile(p, freedom);
            assert!((found / wanted - 1.0).abs() < 1e-9, "{p}, {freedom}: {found} is not {wanted}");
            assert_eq!(student_quantile(1.0 - p, freedom), -student_quantile(1.0 - (1.0 - p), freedom));
        }
        assert_eq!(student_quantile(0.5, 3.0), 0.0);
        assert_eq!(student_quantile(0.975, f64::INFINITY), normal_quantile(0.975));
        assert!(student_quantile(0.975, f64::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn a_quantile_is_found_for_any_degrees_of_freedom(p in 0.5f64..0.99999, freedom in 0.5f64..300.0) {
            let found = student_quantile(p, freedom);
            prop_assert!((student_tail(found, freedom) - (1.0 - p)).abs() < 1e-10, "{found}");
        }
    }
}
