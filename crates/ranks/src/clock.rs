//! Determines the offset between two clocks: the fastest of several round trips is used, and half
//! of it bounds the error, however its time is divided between the two directions.

/// Offset of another clock from this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// Value to add to this clock to get the other, in ns.
    pub offset_ns: i64,
    /// Upper bound of the error, in ns.
    pub bound_ns: u64,
}

impl ClockOffset {
    /// Computes the offset from one round trip: the times of sending and receiving here, and the
    /// time of the other clock in between.
    fn of_trip((sent_ns, other_ns, answered_ns): (u64, u64, u64)) -> Self {
        let trip_ns = answered_ns.saturating_sub(sent_ns);
        let here_ns = sent_ns.saturating_add(trip_ns / 2);
        Self { offset_ns: (other_ns as i64).wrapping_sub(here_ns as i64), bound_ns: trip_ns.div_ceil(2) }
    }

    /// Converts a time of this clock to the other.
    pub fn to_other(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.offset_ns)
    }

    /// Converts a time of the other clock to this one.
    pub fn to_own(self, other_ns: u64) -> u64 {
        other_ns.saturating_add_signed(self.offset_ns.saturating_neg())
    }
}

/// Returns the offset from the fastest round trip, or `None` without one.
pub fn fastest(trips: impl IntoIterator<Item = (u64, u64, u64)>) -> Option<ClockOffset> {
    trips.into_iter().map(ClockOffset::of_trip).min_by_key(|offset| offset.bound_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However the time of a trip is divided between the two directions, the true offset is
        /// within the bound.
        #[test]
        fn the_offset_is_within_its_bound(
            truth_ns in -1_000_000_000i64..1_000_000_000,
            trips in proptest::collection::vec((0u64..50_000, 0u64..50_000), 1..9),
        ) {
            let trips = trips.iter().enumerate().map(|(number, (there_ns, back_ns))| {
                let sent_ns = 5_000_000_000 + number as u64 * 200_000;
                (sent_ns, (sent_ns + there_ns).saturating_add_signed(truth_ns), sent_ns + there_ns + back_ns)
            });
            let clock = fastest(trips).unwrap();
            prop_assert!((clock.offset_ns - truth_ns).unsigned_abs() <= clock.bound_ns);
            prop_assert_eq!(clock.to_own(clock.to_other(7_000_000_000)), 7_000_000_000);
        }
    }
}
