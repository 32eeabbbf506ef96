//! Queue of future events, in order of time; events at the same time are in order of insertion.
//!
//! The model: a heap with its earliest entry stored separately. Most stacks wait for one or two
//! events at a time, and then the heap is not touched.

use crate::world::Message;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Time, sequence number among equal times, and the event.
type ScheduledMessage = (u64, u64, Message);

/// Events that are due later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    /// `None` only if `others` is empty.
    soonest: Option<ScheduledMessage>,
    others: BinaryHeap<Reverse<ScheduledMessage>>,
    added: u64,
}

impl Agenda {
    #[inline]
    pub(crate) fn add(&mut self, at_ns: u64, message: Message) {
        self.added += 1;
        let entry = (at_ns, self.added, message);
        match &mut self.soonest {
            // Of equal times, the earlier insertion comes first.
            Some(soonest) if at_ns < soonest.0 => {
                let other = std::mem::replace(soonest, entry);
                self.others.push(Reverse(other));
            }
            Some(_) => self.others.push(Reverse(entry)),
            None => self.soonest = Some(entry),
        }
    }

    /// Returns the time of the next event.
    #[inline]
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.soonest.as_ref().map(|(at_ns, ..)| *at_ns)
    }

    /// Removes and returns the next event.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Message> {
        let (_, _, message) = self.soonest.take()?;
        if !self.others.is_empty() {
            self.soonest = self.others.pop().map(|Reverse(entry)| entry);
        }
        Some(message)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.soonest.is_none()
    }

    pub(crate) fn clear(&mut self) {
        self.soonest = None;
        self.others.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::LayerId;
    use proptest::prelude::*;

    proptest! {
        /// Compares it with a list sorted by time with a stable sort.
        #[test]
        fn it_is_in_order_of_time_and_then_of_saying(steps in prop::collection::vec(prop::option::of(0u64..8), 0..60)) {
            let (mut agenda, mut list) = (Agenda::default(), Vec::new());
            for (number, step) in steps.into_iter().enumerate() {
                if let Some(at_ns) = step {
                    agenda.add(at_ns, Message::Wake(LayerId(0), number as u64));
                    list.push((at_ns, Message::Wake(LayerId(0), number as u64)));
                    list.sort_by_key(|(at_ns, _)| *at_ns);
                } else {
                    let first = (!list.is_empty()).then(|| list.remove(0).1);
                    prop_assert_eq!(agenda.take(), first);
                }
                prop_assert_eq!(agenda.next_ns(), list.first().map(|(at_ns, _)| *at_ns));
                prop_assert_eq!(agenda.is_empty(), list.is_empty());
            }
        }
    }
}
