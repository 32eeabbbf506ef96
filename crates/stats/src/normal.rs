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

/// The same for Student's t with so many degrees of freedom, more than 0.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(p))
}

/// Probability that a value of Student's t with so many degrees of freedom, more than 0, lies above `t`.
pub(crate) fn student_tail(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |distribution| distribution.sf(t))
}
