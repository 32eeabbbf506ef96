//! A link between the host and what stores: commands go down one by one, several may be under way, and their data stream on
//! a wire while the medium works.
//!
//! The model of the link: commands wait in the order of arrival until its [`Discipline`] lets the first one go, which is all
//! in which a cable, a bridge, a port and a slot differ.
//!
//! The model of the wire: a timeline at its rate. Data are passed on piece by piece, so a read is on the wire while the
//! medium is still at it, once the medium has the first of its data (a medium that does not tell has them at once), and ends
//! one piece after the medium, or when the wire has moved all bytes, whichever is later.
//! A write is handed to the medium after its first piece, and ends no sooner than its last. So nothing is faster than
//! the slower of wire and medium, and large requests are as fast as the slower one.
//!
//! The model of the slots: a command takes one from its start to its end. What frees a slot is known when the medium
//! is done, so the next command may be given a start in the future, and no event is spent on waiting.
//!
//! Not modelled: errors on the wire and power saving.

use crate::account::Cause;
use crate::build::Builder;
use crate::layer::{Built, Layer};
use crate::settings::Setting;
use crate::timeline::{Timeline, transfer_ns};
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use kurabe_core::Text;
use kurabe_core::device::ErrorNumber;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// When commands go down a link, and when they are over.
pub(crate) trait Discipline: Clone + Send {
    /// The time from which the first of the commands that wait is below; `None` while it must wait. What it waited for is
    /// charged. `queue` has those that wait, the first one too unless it has just come.
    fn begin(&mut self, queue: &VecDeque<JobId>, first: JobId, world: &mut World) -> Option<u64>;

    /// When a command is over whose data are across at `data_ns`.
    fn end(&mut self, queue: &VecDeque<JobId>, job: JobId, data_ns: u64, world: &mut World) -> u64 {
        let _ = (queue, job, world);
        data_ns
    }

    /// What the first command of the queue waits for, if one can.
    fn waits_for(&self) -> Text {
        Text::default()
    }

    /// A live parameter has another value from now on.
    fn change(&mut self, setting: &Setting);
}

/// The layer of a link.
#[derive(Clone)]
pub(crate) struct LinkLayer<D> {
    targets: Vec<(LayerId, u16)>,
    /// The wire, on which data of both directions take turns unless there is another for those that come back.
    wire: Wire,
    wire_back: Option<Wire>,
    queue: VecDeque<JobId>,
    discipline: D,
}

impl<D: Discipline + 'static> LinkLayer<D> {
    /// A link above everything that can be addressed below.
    pub(crate) fn build(builder: &Builder<'_>, wire: Wire, wire_back: Option<Wire>, discipline: D) -> Built {
        let targets = builder.targets();
        let units = targets.len() as u16;
        let link = Self { targets, wire, wire_back, queue: VecDeque::new(), discipline };
        Built { units, ..Built::new(link, builder.below_bytes()) }
    }

    /// Sends the first command below; whether it may go.
    fn send(&mut self, first: JobId, world: &mut World) -> bool {
        let Some(sent_ns) = self.discipline.begin(&self.queue, first, world) else { return false };
        let target = self.targets[usize::from(world.request(first).unit)];
        self.wire.send(first, sent_ns, target, world);
        true
    }
}

impl<D: Discipline + 'static> Layer for LinkLayer<D> {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        if usize::from(world.request(job).unit) >= self.targets.len() {
            return world.fail(job, ErrorNumber::INVALID);
        }
        // Only a command that ends lets one go that waits.
        if !self.queue.is_empty() || !self.send(job, world) {
            self.queue.push_back(job);
        }
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(job) = child.parent else { return };
        let wire = self.wire_back.as_mut().unwrap_or(&mut self.wire);
        let data_ns = wire.returned_ns(job, &child, world);
        let end_ns = self.discipline.end(&self.queue, job, data_ns, world);
        world.finish_at(end_ns, job);
        while let Some(first) = self.queue.front().copied()
            && self.send(first, world)
        {
            self.queue.pop_front();
        }
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.queue.is_empty()).then(|| self.discipline.waits_for())
    }

    fn change(&mut self, setting: &Setting) {
        self.discipline.change(setting);
    }
}

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
                let (start_ns, end_ns) =
                    self.read(child.tag.max(child.data_ns), now_ns, u64::from(child.request.length_bytes));
                world.charge(job, self.busy, start_ns);
                end_ns
            }
            RequestKind::Write => child.tag.max(now_ns),
            RequestKind::Flush | RequestKind::Trim | RequestKind::WriteZeroes => now_ns,
        };
        world.charge(job, self.transfer, end_ns);
        end_ns
    }

    /// Moves data of a read of which the medium had the first at `first_ns` and has all now: when the wire begins with it
    /// and when it ends.
    fn read(&mut self, first_ns: u64, now_ns: u64, bytes: u64) -> (u64, u64) {
        let (whole_ns, piece_ns) = self.times_ns(bytes);
        let latest_ns = now_ns.saturating_add(piece_ns).saturating_sub(whole_ns);
        self.timeline.take(latest_ns.max(first_ns), whole_ns)
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

/// Slots for commands in flight.
#[derive(Clone, Debug)]
pub(crate) struct CommandSlots {
    /// When each slot that is not taken is free.
    free_ns: BinaryHeap<Reverse<u64>>,
    count: usize,
    /// When the last command ended of those that gave their slots back.
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

    /// When the last command ended of those that gave their slots back.
    pub(crate) fn ended_ns(&self) -> u64 {
        self.ended_ns
    }

    /// Takes the slot that is free first: from when it can be used, not before now. `None` if it is not known yet when
    /// one will be free.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<u64> {
        self.free_ns.pop().map(|Reverse(free_ns)| free_ns.max(now_ns))
    }

    /// Gives a slot back at a time.
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
