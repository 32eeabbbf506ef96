//! A link between the host and the storage: commands go down one by one, several may be in flight,
//! and their data stream over a wire while the medium works.
//!
//! The model of the link: commands wait in order of arrival until its [`Discipline`] lets the first
//! one go. A cable, a bridge, a port and a slot differ only in that.
//!
//! The model of the wire: a timeline at its rate. Data are passed on piece by piece. So a read is
//! on the wire while the medium is still working, from the time at which the medium has its first
//! data (a medium that does not report this has them immediately). It ends one piece after the
//! medium, or when the wire has moved all bytes, whichever is later. A write is passed to the
//! medium after its first piece, and ends no sooner than its last. So no request is faster than the
//! slower of wire and medium, and large requests reach its speed.
//!
//! The model of the slots: a command occupies one from its start to its end. The release of a slot
//! is known when the medium is done, so the next command may get a start in the future, and waiting
//! needs no event.
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

/// Determines when commands go down a link, and when they end.
pub(crate) trait Discipline: Clone + Send {
    /// Returns the time from which the first waiting command is below; `None` while it must wait.
    /// Charges its waiting time. `queue` has the waiting commands, including the first one unless
    /// it has just arrived.
    fn begin(&mut self, queue: &VecDeque<JobId>, first: JobId, world: &mut World) -> Option<u64>;

    /// Returns the end of a command whose data have been transferred at `data_ns`.
    fn end(&mut self, queue: &VecDeque<JobId>, job: JobId, data_ns: u64, world: &mut World) -> u64 {
        let _ = (queue, job, world);
        data_ns
    }

    /// Returns what the first command of the queue waits for, if it can wait.
    fn waits_for(&self) -> Text {
        Text::default()
    }

    /// Changes a live parameter from now on.
    fn change(&mut self, setting: &Setting);
}

/// The layer of a link.
#[derive(Clone)]
pub(crate) struct LinkLayer<D> {
    targets: Vec<(LayerId, u16)>,
    /// The wire, shared by both directions unless there is a separate one for returning data.
    wire: Wire,
    wire_back: Option<Wire>,
    queue: VecDeque<JobId>,
    discipline: D,
}

impl<D: Discipline + 'static> LinkLayer<D> {
    /// Builds a link above everything that can be addressed below.
    pub(crate) fn build(builder: &Builder<'_>, wire: Wire, wire_back: Option<Wire>, discipline: D) -> Built {
        let targets = builder.targets();
        let units = targets.len() as u16;
        let link = Self { targets, wire, wire_back, queue: VecDeque::new(), discipline };
        Built { units, ..Built::new(link, builder.below_bytes()) }
    }

    /// Sends the first command below. Returns whether it could go.
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
        // Only the end of a command releases a waiting one.
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

/// A wire that carries the data of several commands, one after another.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    timeline: Timeline,
    rate_bytes_per_s: f64,
    piece_bytes: u64,
    /// Causes for waiting for the wire, and for the part of the transfer that overlaps with nothing
    /// else.
    busy: Cause,
    transfer: Cause,
}

impl Wire {
    /// Creates a wire with a rate above 0 and its causes.
    pub(crate) fn new(rate_bytes_per_s: f64, piece_bytes: u64, busy: Cause, transfer: Cause) -> Self {
        Self { timeline: Timeline::default(), rate_bytes_per_s, piece_bytes, busy, transfer }
    }

    /// Sends a request below, not before `from_ns`, until when its time has been charged; a write
    /// after its first piece has been transferred.
    pub(crate) fn send(
        &mut self,
        job: JobId,
        from_ns: u64,
        (below, unit): (LayerId, u16),
        world: &mut World,
    ) {
        let request = Request { unit, ..world.request(job) };
        // The tag is the time of sending or, for a write, the end of its data transfer;
        // `returned_ns` needs it.
        if request.kind != RequestKind::Write {
            return world.send_at(from_ns, Some(job), below, request, from_ns);
        }
        let (start_ns, piece_ns, across_ns) = self.write(from_ns, u64::from(request.length_bytes));
        world.charge(job, self.busy, start_ns);
        world.charge(job, self.transfer, piece_ns);
        world.send_at(piece_ns, Some(job), below, request, across_ns);
    }

    /// Returns the time at which the data of a request that returned from below have been
    /// transferred; its time is charged until then.
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

    /// Transfers data of a read of which the medium had the first at `first_ns` and has all now.
    /// Returns the start and end on the wire.
    fn read(&mut self, first_ns: u64, now_ns: u64, bytes: u64) -> (u64, u64) {
        let (whole_ns, piece_ns) = self.times_ns(bytes);
        let latest_ns = now_ns.saturating_add(piece_ns).saturating_sub(whole_ns);
        self.timeline.take(latest_ns.max(first_ns), whole_ns)
    }

    /// Transfers data of a write, not before `from_ns`. Returns the start, the end of the first
    /// piece, and the end.
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
    /// Time at which each slot that is not taken becomes free.
    free_ns: BinaryHeap<Reverse<u64>>,
    count: usize,
    /// End of the last command that released its slot.
    ended_ns: u64,
}

impl CommandSlots {
    /// Creates `count` free slots.
    pub(crate) fn new(count: u64) -> Self {
        let count = count as usize;
        Self { free_ns: std::iter::repeat_n(Reverse(0), count).collect(), count, ended_ns: 0 }
    }

    /// Returns whether every command in flight has a known end.
    pub(crate) fn all_returned(&self) -> bool {
        self.free_ns.len() == self.count
    }

    /// Returns the end of the last command that released its slot.
    pub(crate) fn ended_ns(&self) -> u64 {
        self.ended_ns
    }

    /// Takes the slot that is free first and returns the time from which it can be used, not before
    /// now. `None` if that time is not known yet.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<u64> {
        self.free_ns.pop().map(|Reverse(free_ns)| free_ns.max(now_ns))
    }

    /// Releases a slot at a time.
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
        /// For any mix of reads and writes, the wire moves no more than its rate allows.
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
