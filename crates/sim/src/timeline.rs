//! A resource that does one thing at a time, in order of request: a bus, a die, a processor.

/// The time at which a resource is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    free_ns: u64,
}

impl Timeline {
    /// Takes the resource for `length_ns`, not before `from_ns`. Returns start and end.
    #[inline]
    pub fn take(&mut self, from_ns: u64, length_ns: u64) -> (u64, u64) {
        let start_ns = self.free_ns.max(from_ns);
        self.free_ns = start_ns.saturating_add(length_ns);
        (start_ns, self.free_ns)
    }

    /// Returns the time at which it is free.
    #[inline]
    pub fn free_ns(&self) -> u64 {
        self.free_ns
    }
}

/// Upper limit of a single duration, two years: absurd parameters are clamped to it, so that sums
/// of a few stay in range.
pub(crate) const LONGEST_NS: u64 = 1 << 56;

/// Returns the time of `bytes` at a rate; two years at most.
#[inline]
pub fn transfer_ns(bytes: u64, bytes_per_s: f64) -> u64 {
    whole_ns(bytes as f64 * 1e9 / bytes_per_s, LONGEST_NS)
}

/// Computes `ns.round() as u64`, limited to `most_ns`, without the function call that `round` is on
/// some processors: this runs for every piece of every request.
#[inline]
pub(crate) fn whole_ns(ns: f64, most_ns: u64) -> u64 {
    let floor_ns = (ns as u64).min(most_ns);
    floor_ns.saturating_add(u64::from(ns - floor_ns as f64 >= 0.5)).min(most_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whole_ns_are_those_of_round(
            ns in prop_oneof![any::<f64>(), 0.0..1e4f64, (0u64..1 << 54).prop_map(|halves| halves as f64 / 2.0)],
        ) {
            for most_ns in [3_600_000_000_000, LONGEST_NS] {
                prop_assert_eq!(whole_ns(ns, most_ns), (ns.round() as u64).min(most_ns));
            }
        }
    }
}
