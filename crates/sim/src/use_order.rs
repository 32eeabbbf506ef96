//! The order of use of numbered slots, for LRU eviction: a list linked through an array.

const NONE: u32 = u32::MAX;
/// Neighbour of a slot that is not in the order.
const ABSENT: u32 = u32::MAX - 1;

/// The order of use.
#[derive(Clone, Debug)]
pub(crate) struct UseOrder {
    /// By slot: the one used before it, and the one used after it.
    links: Vec<(u32, u32)>,
    oldest: u32,
    newest: u32,
}

impl UseOrder {
    /// Creates an empty order for `places` slots.
    pub(crate) fn new(places: usize) -> Self {
        Self { links: vec![(ABSENT, ABSENT); places], oldest: NONE, newest: NONE }
    }

    /// Adds a slot, which is not in the order yet.
    pub(crate) fn add_place(&mut self) {
        self.links.push((ABSENT, ABSENT));
    }

    /// Returns whether a slot is in the order.
    pub(crate) fn has(&self, place: u32) -> bool {
        self.links[place as usize].0 != ABSENT
    }

    /// Returns the least recently used slot.
    pub(crate) fn oldest(&self) -> Option<u32> {
        Some(self.oldest).filter(|oldest| *oldest != NONE)
    }

    /// Makes a slot the most recently used one; adds it to the order if needed.
    pub(crate) fn use_now(&mut self, place: u32) {
        if self.newest == place {
            return;
        }
        self.remove(place);
        let before = std::mem::replace(&mut self.newest, place);
        self.links[place as usize] = (before, NONE);
        match before {
            NONE => self.oldest = place,
            before => self.links[before as usize].1 = place,
        }
    }

    /// Removes a slot from the order, if it is there.
    pub(crate) fn remove(&mut self, place: u32) {
        let (older, newer) = std::mem::replace(&mut self.links[place as usize], (ABSENT, ABSENT));
        match older {
            ABSENT => return,
            NONE => self.oldest = newer,
            older => self.links[older as usize].1 = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].0 = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_order_of_a_plain_list(steps in prop::collection::vec((0u32..8, any::<bool>()), 0..200)) {
            let (mut order, mut list) = (UseOrder::new(4), Vec::new());
            (0..4).for_each(|_| order.add_place());
            for (place, is_used) in steps {
                list.retain(|other| *other != place);
                if is_used {
                    order.use_now(place);
                    list.push(place);
                } else {
                    order.remove(place);
                }
                prop_assert_eq!(order.oldest(), list.first().copied());
                prop_assert!((0..8).all(|place| order.has(place) == list.contains(&place)));
            }
            while let Some(oldest) = order.oldest() {
                order.remove(oldest);
                prop_assert_eq!(oldest, list.remove(0));
            }
            prop_assert!(list.is_empty());
        }
    }
}
