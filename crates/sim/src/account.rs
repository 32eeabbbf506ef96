//! Accounting of a request's time by cause.
//!
//! The model: a request's path is the time from its arrival at a layer to its return, divided into
//! segments with one cause each. A layer that sends requests below and waits adopts the segments of
//! those that return. Of requests that ran in parallel, the one that ended last determined the
//! wait: its segments count from its start, and the others cost nothing meanwhile. So a path has no
//! gaps and no overlaps, and the sum of its segments is exactly its length.

use kurabe_core::model::CauseClass;

/// Identifier of a cause within its stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause(pub(crate) u16);

/// Time that no layer accounted for. A layer that leaves any has a bug; tests check for it.
pub const UNEXPLAINED: Cause = Cause(0);

/// A short text in English and Japanese.
pub type Words = (&'static str, &'static str);

/// The texts of a cause. They are all static, so that naming a cause allocates nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CauseFacts {
    /// Layer name, as an index into the names of the stack.
    pub(crate) layer: u16,
    /// Stable key, unique within the layer.
    pub(crate) key: &'static str,
    /// Short name: `walking the FAT chain`.
    pub(crate) name: Words,
    /// One sentence of explanation for a reader who does not know the term.
    pub(crate) explanation: Words,
    /// Class by which a measurement without the model can recognise it.
    pub(crate) class: CauseClass,
}

/// Identifier of a counter within its stack, such as FAT sectors read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter(pub(crate) u16);

/// The texts of a counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterFacts {
    /// Layer name, as an index into the names of the stack.
    pub(crate) layer: u16,
    /// Stable key, unique within the layer.
    pub(crate) key: &'static str,
    /// Short name in the plural: `sectors of the FAT read`.
    pub(crate) name: Words,
}

/// Time of one request at one layer, by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    from_ns: u64,
    until_ns: u64,
    /// Ends of segments with their causes.
    segments: Vec<(u64, u16)>,
}

impl Path {
    /// Starts a new path at `now_ns`.
    #[inline]
    pub(crate) fn restart(&mut self, now_ns: u64) {
        (self.from_ns, self.until_ns) = (now_ns, now_ns);
        self.segments.clear();
    }

    /// Charges the time from the end of the path to `until_ns` to a cause.
    #[inline]
    pub(crate) fn charge(&mut self, cause: Cause, until_ns: u64) {
        if until_ns <= self.until_ns {
            return;
        }
        self.until_ns = until_ns;
        match self.segments.last_mut() {
            Some((end_ns, last)) if *last == cause.0 => *end_ns = until_ns,
            _ => self.segments.push((until_ns, cause.0)),
        }
    }

    /// Adopts the path of a request below. If it ended later than everything accounted for here, it
    /// determined the wait: other work since its start cost nothing.
    #[inline]
    pub(crate) fn follow(&mut self, below: &Self) {
        if below.until_ns <= self.until_ns {
            return;
        }
        self.rewind(below.from_ns);
        self.charge(UNEXPLAINED, below.from_ns);
        let segments = &below.segments;
        for (place, (end_ns, cause)) in segments.iter().enumerate() {
            if *end_ns > self.until_ns {
                self.charge(Cause(*cause), *end_ns);
                // The segments after it follow on, and no two adjoining ones have the same cause.
                segments[place + 1..].iter().for_each(|segment| self.segments.push(*segment));
                self.until_ns = below.until_ns;
                return;
            }
        }
    }

    /// Discards everything accounted for after a time.
    #[inline]
    fn rewind(&mut self, to_ns: u64) {
        if to_ns >= self.until_ns {
            return;
        }
        let to_ns = to_ns.max(self.from_ns);
        while self.segments.len() > 1 && self.segments[self.segments.len() - 2].0 >= to_ns {
            self.segments.pop();
        }
        if let Some((end_ns, _)) = self.segments.last_mut() {
            *end_ns = to_ns;
        }
        self.until_ns = to_ns;
    }

    /// Returns the time accounted for.
    pub(crate) fn length_ns(&self) -> u64 {
        self.until_ns - self.from_ns
    }

    /// Adds the segments to sums by cause.
    pub(crate) fn add_to(&self, sums_ns: &mut [u64]) {
        let mut from_ns = self.from_ns;
        for (end_ns, cause) in &self.segments {
            let sum_ns = &mut sums_ns[usize::from(*cause)];
            *sum_ns = sum_ns.saturating_add(end_ns - from_ns);
            from_ns = *end_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn segments_sum_to_the_length_of_the_path(
            own in prop::collection::vec((0u16..4, 0u64..1000), 0..10),
            below in prop::collection::vec((0u64..500, prop::collection::vec((0u16..4, 0u64..1000), 0..10)), 0..5),
        ) {
            let mut path = Path::default();
            path.restart(100);
            for (cause, end_ns) in own {
                path.charge(Cause(cause), end_ns);
            }
            for (from_ns, segments) in below {
                let mut child = Path::default();
                child.restart(from_ns);
                for (cause, end_ns) in segments {
                    child.charge(Cause(cause), end_ns);
                }
                path.follow(&child);
            }
            let mut sums_ns = [0; 4];
            path.add_to(&mut sums_ns);
            prop_assert_eq!(sums_ns.iter().sum::<u64>(), path.length_ns());
        }
    }

    #[test]
    fn what_ran_side_by_side_is_counted_once() {
        let (mut parent, mut first, mut second) = (Path::default(), Path::default(), Path::default());
        for path in [&mut parent, &mut first, &mut second] {
            path.restart(0);
        }
        first.charge(Cause(1), 10);
        second.charge(Cause(2), 4);
        second.charge(Cause(3), 15);
        parent.follow(&first);
        parent.follow(&second);
        let mut sums_ns = [0; 4];
        parent.add_to(&mut sums_ns);
        // The second request ended last, so it determined the wait; the first cost nothing.
        assert_eq!(sums_ns, [0, 0, 4, 11]);
        let mut other = Path::default();
        other.restart(0);
        other.follow(&second);
        other.follow(&first);
        let mut sums_ns = [0; 4];
        other.add_to(&mut sums_ns);
        assert_eq!(sums_ns, [0, 0, 4, 11], "whichever is taken over first");
    }
}
