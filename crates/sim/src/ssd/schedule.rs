//! A resource that is booked in advance: the channels to the flash chips, and the controller's
//! memory.
//!
//! The model: a list of booked intervals. A booking gets the first gap after its time that is long
//! enough, so a transfer that is known to be late does not delay one that is ready sooner. Touching
//! intervals are merged and past ones are removed, so the list is about as long as the number of
//! requests in flight.

/// Booked intervals of a resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// Starts and ends, in order; no two intervals touch.
    taken: Vec<(u64, u64)>,
}

impl Schedule {
    /// Books `length_ns`, not before `from_ns`, and returns start and end. Later calls must not ask
    /// for a time before `now_ns`.
    #[inline]
    pub(super) fn book(&mut self, now_ns: u64, from_ns: u64, length_ns: u64) -> (u64, u64) {
        if length_ns == 0 {
            return (from_ns, from_ns);
        }
        let past = self.taken.iter().take_while(|(_, end_ns)| *end_ns <= now_ns).count();
        if past > 0 {
            self.taken.drain(..past);
        }
        let mut start_ns = from_ns;
        let mut place = self.taken.len();
        for (index, (taken_ns, end_ns)) in self.taken.iter().enumerate() {
            if *end_ns <= start_ns {
                continue;
            }
            if start_ns.saturating_add(length_ns) <= *taken_ns {
                place = index;
                break;
            }
            start_ns = *end_ns;
        }
        let end_ns = start_ns.saturating_add(length_ns);
        self.insert(place, start_ns, end_ns);
        (start_ns, end_ns)
    }

    /// Returns the first free time at or after `from_ns`.
    pub(super) fn free_from(&self, from_ns: u64) -> u64 {
        let stretch = self.taken.iter().find(|(_, end_ns)| *end_ns > from_ns);
        stretch.filter(|(start_ns, _)| *start_ns <= from_ns).map_or(from_ns, |(_, end_ns)| *end_ns)
    }

    fn insert(&mut self, place: usize, start_ns: u64, end_ns: u64) {
        let joins_before = place > 0 && self.taken[place - 1].1 == start_ns;
        let joins_after = self.taken.get(place).is_some_and(|next| next.0 == end_ns);
        match (joins_before, joins_after) {
            (true, true) => {
                self.taken[place - 1].1 = self.taken[place].1;
                self.taken.remove(place);
            }
            (true, false) => self.taken[place - 1].1 = end_ns,
            (false, true) => self.taken[place].0 = start_ns,
            (false, false) => self.taken.insert(place, (start_ns, end_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_overlaps_and_nothing_begins_too_early(
            bookings in prop::collection::vec((0u64..50, 0u64..300, 0u64..40), 1..60),
        ) {
            let (mut schedule, mut given, mut now_ns) = (Schedule::default(), Vec::<(u64, u64)>::new(), 0);
            for (step_ns, ahead_ns, length_ns) in bookings {
                now_ns += step_ns;
                let (start_ns, end_ns) = schedule.book(now_ns, now_ns + ahead_ns, length_ns);
                prop_assert!(start_ns >= now_ns + ahead_ns && end_ns == start_ns + length_ns);
                let free = given.iter().all(|(from_ns, to_ns)| end_ns <= *from_ns || *to_ns <= start_ns);
                prop_assert!(free || length_ns == 0);
                if length_ns > 0 {
                    given.push((start_ns, end_ns));
                }
            }
        }
    }

    #[test]
    fn a_gap_before_a_later_booking_is_used() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.book(0, 100, 10), (100, 110));
        assert_eq!(schedule.book(0, 20, 10), (20, 30));
        assert_eq!(schedule.book(0, 95, 10), (110, 120));
    }
}
