//! What links have in common: a wire on which data stream while the medium works, and places for commands in flight.
//!
//! The model of the wire: a timeline at its rate. Data are passed on piece by piece, so a read is on the wire while the
//! medium is still at it, and ends one piece after the medium, or when the wire has moved all bytes, whichever is later.
//! A write is handed to the medium after its first piece, and ends no sooner than its last. So nothing is faster than
//! the slower of wire and medium, and large requests are as fast as the slower one.
//!
//! The model of the places: a command takes one from its start to its end. What frees a place is known when the medium
//! is done, so the next command may be given a start in the future, and no event is spent on waiting.
//!
//! Not modelled: errors on the wire and power saving.

use crate::account::Cause;
use crate::build::Builder;
use crate::timeline::{Timeline, transfer_ns};
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A wire that carries the data of several commands, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    timeline: Timeline,
    rate_bytes_per_s: f64,
    piece_bytes: u64,
    /// Waiting for the wire, and the part of moving the data that nothing else covers.
    busy: Cause,
    transfer: Cause,
}

impl Wire {
    /// A wire with a rate above 0, and what its time is charged to.
    pub(crate) fn new(rate_bytes_per_s: f64, piece_bytes: u64, busy: Cause, transfer: Cause) -> Self {
        Self { timeline: Timeline::default(), rate_bytes_per_s, piece_bytes, busy, transfer }
    }

    /// Sends a request below, not before `from_ns`, until when its time is charged; a write as soon as its first piece is
    /// across.
    pub(crate) fn send(
        &mut self,
        job: JobId,
        from_ns: u64,
        (below, unit): (LayerId, u16),
        world: &mut World,
    ) {
        let request = Request { unit, ..world.request(job) };
        // The tag tells when it was sent or, of a write, when its data are across: what `returned_ns` needs.
        if request.kind != RequestKind::Write {
            return world.send_at(from_ns, Some(job), below, request, from_ns);
        }
        let (start_ns, piece_ns, across_ns) = self.write(from_ns, u64::from(request.length_bytes));
        world.charge(job, self.busy, start_ns);
        world.charge(job, self.transfer, piece_ns);
        world.send_at(piece_ns, Some(job), below, request, across_ns);
    }

    /// When the data of a request are across that came back from below; its time is charged until then.
    pub(crate) fn returned_ns(&mut self, job: JobId, child: &Child, world: &mut World) -> u64 {
        let now_ns = world.now_ns();
        let end_ns = match child.request.kind {
            RequestKind::Read => {
                let (start_ns, end_ns) = self.read(child.tag, now_ns, u64::from(child.request.length_bytes));
                world.charge(job, self.busy, start_ns);
                end_ns
            }
            RequestKind::Write => child.tag.max(now_ns),
            RequestKind::Flush | RequestKind::Trim | RequestKind::WriteZeroes => now_ns,
        };
        world.charge(job, self.transfer, end_ns);
        end_ns
    }

    /// Moves data of a read that was sent to the medium at `sent_ns` and is there in full now: when the wire begins with
    /// it and when it ends.
    fn read(&mut self, sent_ns: u64, now_ns: u64, bytes: u64) -> (u64, u64) {
        let (whole_ns, piece_ns) = self.times_ns(bytes);
        let latest_ns = now_ns.saturating_add(piece_ns).saturating_sub(whole_ns);
        self.timeline.take(latest_ns.max(sent_ns), whole_ns)
    }

    /// Moves data of a write, not before `from_ns`: when it begins, when the first piece is there, and when all is.
    fn write(&mut self, from_ns: u64, bytes: u64) -> (u64, u64, u64) {
        let (whole_ns, piece_ns) = self.times_ns(bytes);
        let (start_ns, end_ns) = self.timeline.take(from_ns, whole_ns);
        (start_ns, start_ns.saturating_add(piece_ns), end_ns)
    }

    fn times_ns(&self, bytes: u64) -> (u64, u64) {
        let piece = bytes.min(self.piece_bytes);
        (transfer_ns(bytes, self.rate_bytes_per_s), transfer_ns(piece, self.rate_bytes_per_s))
    }
}

/// Everything below that can be addressed, in order: layers with several units stand for each of them.
pub(crate) fn targets(builder: &Builder<'_>) -> Vec<(LayerId, u16)> {
    let below = builder.below().enumerate();
    below.flat_map(|(index, layer)| (0..builder.below_units(index)).map(move |unit| (layer, unit))).collect()
}

/// Bytes that every one of the layers below has.
pub(crate) fn common_capacity_bytes(builder: &Builder<'_>) -> u64 {
    let capacities = (0..builder.below().len()).map(|index| builder.below_capacity_bytes(index));
    capacities.min().unwrap_or(0)
}

/// Places for commands in flight.
#[derive(Clone, Debug)]
pub(crate) struct CommandSlots {
    /// When each place that is not taken is free.
    free_ns: BinaryHeap<Reverse<u64>>,
    count: usize,
    /// When the last command ended of those that gave their places back.
    ended_ns: u64,
}

impl CommandSlots {
    /// So many, all free.
    pub(crate) fn new(count: u64) -> Self {
        let count = count as usize;
        Self { free_ns: std::iter::repeat_n(Reverse(0), count).collect(), count, ended_ns: 0 }
    }

    /// Whether no command is in flight, as far as is known when it ends.
    pub(crate) fn all_returned(&self) -> bool {
        self.free_ns.len() == self.count
    }

    /// When the last command ended of those that gave their places back.
    pub(crate) fn ended_ns(&self) -> u64 {
        self.ended_ns
    }

    /// Takes the place that is free first: from when it can be used, not before now. `None` if it is not known yet when
    /// one will be free.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<u64> {
        self.free_ns.pop().map(|Reverse(free_ns)| free_ns.max(now_ns))
    }

    /// Gives a place back at a time.
    pub(crate) fn give(&mut self, at_ns: u64) {
        self.free_ns.push(Reverse(at_ns));
        self.ended_ns = self.ended_ns.max(at_ns);
    }
}

#[cfg(test)]
pub(crate) mod laws;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::UNEXPLAINED;
    use proptest::prelude::*;

    proptest! {
        /// However reads and writes are mixed, the wire moves no more than its rate allows.
        #[test]
        fn the_wire_is_never_faster_than_its_rate(
            piece in 1u64..20_000,
            moves in prop::collection::vec((any::<bool>(), 0u64..1000, 1u64..100_000, 0u64..50_000), 1..50),
        ) {
            let mut link = Wire::new(1e9, piece, UNEXPLAINED, UNEXPLAINED);
            let (mut now_ns, mut last_ns, mut sum) = (0, 0, 0);
            for (is_read, gap_ns, bytes, medium_ns) in moves {
                now_ns += gap_ns;
                let end_ns = if is_read {
                    let (start_ns, end_ns) = link.read(now_ns, now_ns + medium_ns, bytes);
                    prop_assert!(start_ns >= now_ns && end_ns >= now_ns + medium_ns + bytes.min(piece));
                    end_ns
                } else {
                    let (start_ns, piece_ns, end_ns) = link.write(now_ns, bytes);
                    prop_assert!(now_ns <= start_ns && start_ns < piece_ns && piece_ns <= end_ns);
                    end_ns
                };
                sum += bytes;
                last_ns = end_ns.max(last_ns);
            }
            prop_assert!(last_ns >= sum);
        }
    }

    #[test]
    fn a_slow_medium_hides_the_wire_but_for_a_piece() {
        let mut link = Wire::new(1e9, 8192, UNEXPLAINED, UNEXPLAINED);
        assert_eq!(link.read(0, 10_000_000, 1 << 20), (10_000_000 + 8192 - (1 << 20), 10_008_192));
    }

    #[test]
    fn places_are_taken_in_the_order_in_which_they_get_free() {
        let mut places = CommandSlots::new(2);
        assert_eq!((places.take(5), places.take(6), places.take(7)), (Some(5), Some(6), None));
        places.give(30);
        places.give(20);
        assert!(places.all_returned());
        assert_eq!((places.ended_ns(), places.take(7), places.take(7)), (30, Some(20), Some(30)));
    }
}
